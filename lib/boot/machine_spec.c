/* SPDX-License-Identifier: BSD-2-Clause */
/* Machines from the command line: a preset or a list of levels. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "boot/machine_impl.h"
#include "boot/machine_spec.h"
#include "base/units.h"

static const char taihulight[] = "cabinets=40,supernodes=4@20G:N3,boards=32@1G:N2,"
				 "cpus=8@1G:N1/cascades=8@20G:N4,servers=20@1G:N5";

int fab_machine_spec_add(struct fab_machine_builder *b, struct fab_machine_spec *spec,
			 const char *unit, size_t unit_len, uint32_t count,
			 double capacity_mbps, bool is_server, struct fab_err *err)
{
	uint32_t before = b->n_levels, level;

	if (unit_len == 0 || unit_len > 32 ||
	    strspn(unit, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-") <
		    unit_len)
		return fab_fail(err, EINVAL,
				"'%.*s' is no name of a level: expected letters",
				unit_len > 32 ? 32 : (int)unit_len, unit);
	level = fab_machine_builder_level(b, unit, unit_len, is_server);
	if (level == FAB_NONE)
		return fab_fail(err, EINVAL, "more than %d levels",
				FAB_MACHINE_LEVELS_MAX - 1);
	if (b->n_levels == before)
		return fab_fail(err, EINVAL, "level '%.*s' is there twice", (int)unit_len,
				unit);
	spec->count[level] = count;
	spec->capacity_mbps[level] = capacity_mbps;
	return 0;
}

/* Hang `count` vertices of a level below each of those in from .. to-1. */
static int grow_level(struct fab_machine_builder *b, const struct fab_machine_spec *spec,
		      uint32_t level, enum fab_vertex_kind kind, size_t *from, size_t *to,
		      struct fab_err *err)
{
	uint64_t n = (uint64_t)spec->count[level] * (*to - *from);
	size_t start = b->raw.n;

	if (n + b->raw.n > FAB_MACHINE_VERTICES_MAX)
		return fab_fail(err, EINVAL, "more than %d of everything together",
				FAB_MACHINE_VERTICES_MAX);
	FAB_RESERVE(&b->raw, n);
	for (size_t p = *from; p < *to; p++)
		for (uint32_t i = 0; i < spec->count[level]; i++)
			FAB_PUSH(&b->raw,
				 ((struct fab_raw_vertex){
					 .parent = (uint32_t)p,
					 .capacity_mbps = spec->capacity_mbps[level],
					 .owner = FAB_NONE,
					 .port = FAB_NONE,
					 .level = (uint8_t)level,
					 .kind = (uint8_t)kind}));
	*from = start;
	*to = b->raw.n;
	return 0;
}

int fab_machine_spec_grow(struct fab_machine_builder *b,
			  const struct fab_machine_spec *spec, struct fab_err *err)
{
	for (int side = 0; side < 2; side++) {
		size_t from = 0, to = 1;
		uint32_t last = 0;

		for (uint32_t i = 1; i < b->n_levels; i++)
			if (b->level[i].is_server == (side == 1))
				last = i;
		if (!last)
			return fab_fail(err, EINVAL, "there is no level of %s",
					side ? "servers (behind a slash, or servers=N)"
					     : "nodes");
		for (uint32_t i = 1; i <= last; i++) {
			enum fab_vertex_kind kind = i < last ? FAB_VERTEX_SWITCH
						    : side   ? FAB_VERTEX_INTERFACE
							     : FAB_VERTEX_NODE;
			int rc;

			if (b->level[i].is_server != (side == 1))
				continue;
			rc = grow_level(b, spec, i, kind, &from, &to, err);
			if (rc)
				return rc;
		}
	}
	return 0;
}

/* LEVEL=N[@RATE[:SEGMENT]] */
static int parse_level(struct fab_machine_builder *b, struct fab_machine_spec *spec,
		       const char *text, size_t len, bool is_server, struct fab_err *err)
{
	const char *equal = memchr(text, '=', len), *at, *colon, *end = text + len;
	double capacity = INFINITY;
	uint64_t count;
	int rc;

	if (!equal)
		return fab_fail(err, EINVAL,
				"'%.*s' is no level: expected LEVEL=N[@RATE]",
				len > 60 ? 60 : (int)len, text);
	at = memchr(equal, '@', (size_t)(end - equal));
	colon = at ? memchr(at, ':', (size_t)(end - at)) : NULL;
	if (!fab_parse_u64(equal + 1, (size_t)((at ? at : end) - equal - 1), 1, 1 << 24,
			   &count))
		return fab_fail(err, EINVAL,
				"'%.*s': the number is not from 1 to 16777216",
				len > 60 ? 60 : (int)len, text);
	if (at) {
		rc = fab_parse_rate_mbps(at + 1, (size_t)((colon ? colon : end) - at - 1),
					 &capacity, err);
		if (rc)
			return rc;
	}
	if ((size_t)(equal - text) == strlen("servers") && !strncmp(text, "servers", 7))
		is_server = true;
	rc = fab_machine_spec_add(b, spec, text, (size_t)(equal - text), (uint32_t)count,
				  capacity, is_server, err);
	if (!rc && colon && colon + 1 < end) {
		struct fab_machine_level *level = &b->level[b->n_levels - 1];

		free(level->segment);
		level->segment = fab_strndup(colon + 1, (size_t)(end - colon - 1));
	}
	return rc;
}

static int parse_levels(struct fab_machine_builder *b, const char *text,
			struct fab_err *err)
{
	struct fab_machine_spec spec = {0};
	bool is_server = false;

	for (const char *at = text;; at++) {
		size_t len = strcspn(at, ",/");
		int rc;

		/* rates may have a slash of their own: 20Gb/s */
		if (at[len] == '/' && !strncmp(at + len, "/s", 2) &&
		    (at[len + 2] == ',' || at[len + 2] == '/' || !at[len + 2]))
			len += 2 + strcspn(at + len + 2, ",/");
		rc = parse_level(b, &spec, at, len, is_server, err);
		if (rc)
			return rc;
		at += len;
		if (!*at)
			break;
		if (*at == '/' && is_server)
			return fab_fail(err, EINVAL,
					"a second slash: expected one, in "
					"front of the levels of servers");
		is_server |= *at == '/';
	}
	return fab_machine_spec_grow(b, &spec, err);
}

int fab_machine_parse(const char *spec, struct fab_machine **out, struct fab_err *err)
{
	struct fab_machine_builder b;
	const char *levels = spec;
	int rc;

	if (!strncmp(spec, "preset:", 7)) {
		if (strcmp(spec + 7, "taihulight") != 0)
			return fab_fail(err, EINVAL,
					"there is no machine '%.80s'; there is: "
					"preset:taihulight",
					spec);
		levels = taihulight;
	}
	fab_machine_builder_init(&b);
	rc = parse_levels(&b, levels, err);
	if (rc) {
		fab_err_prefix(err, "machine");
		fab_machine_builder_fini(&b);
		return rc;
	}
	return fab_machine_builder_finish(&b, spec, out, err);
}
