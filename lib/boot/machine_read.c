/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptions of machines: a preset or a list of levels on the command line; a
 * file with levels or with vertices by name.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/num.h"
#include "base/text.h"
#include "base/units.h"
#include "boot/impl.h"

/* A machine whose levels are regular. */
struct spec {
	uint32_t count[FAB_MACHINE_LEVELS_MAX]; /* in each of the level before */
	double capacity_mbps[FAB_MACHINE_LEVELS_MAX];
};

/* ---- the command line ---- */

static const char taihulight[] =
	"cabinets=40,supernodes=4@20G:N3,boards=32@1G:N2,cpus=8@1G:N1/cascades=8@20G:N4,servers=20@1G:N5";

/* A level behind those there are. EINVAL: no name, there already, too many. */
static int add_level(struct fab_machine_builder *b, struct spec *spec, const char *unit,
		     size_t unit_len, uint32_t count, double capacity_mbps,
		     bool is_server, struct fab_err *err)
{
	uint32_t before = b->m->n_levels, level;

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
	if (b->m->n_levels == before)
		return fab_fail(err, EINVAL, "level '%.*s' is there twice", (int)unit_len,
				unit);
	spec->count[level] = count;
	spec->capacity_mbps[level] = capacity_mbps;
	return 0;
}

/* Make the vertices. EINVAL: too many, no nodes, no servers. */
static int grow(struct fab_machine_builder *b, const struct spec *spec,
		struct fab_err *err)
{
	for (int side = 0; side < 2; side++) {
		size_t from = 0, to = 1, start;
		uint32_t last = 0;

		for (uint32_t i = 1; i < b->m->n_levels; i++)
			if (b->m->level[i].is_server == (side == 1))
				last = i;
		if (!last)
			return fab_fail(err, EINVAL, "there is no level of %s",
					side ? "servers (behind a slash, or servers=N)"
					     : "nodes");
		for (uint32_t i = 1; i <= last; i++) {
			enum fab_vertex_kind kind = i < last ? FAB_VERTEX_SWITCH
						    : side   ? FAB_VERTEX_INTERFACE
							     : FAB_VERTEX_NODE;
			if (b->m->level[i].is_server != (side == 1))
				continue;
			start = b->raw.n;
			if ((uint64_t)spec->count[i] * (to - from) + start >
			    FAB_MACHINE_VERTICES_MAX)
				return fab_fail(err, EINVAL,
						"more than %d of everything together",
						FAB_MACHINE_VERTICES_MAX);
			FAB_RESERVE(&b->raw, spec->count[i] * (to - from));
			for (size_t p = from; p < to; p++)
				for (uint32_t k = 0; k < spec->count[i]; k++)
					FAB_PUSH(&b->raw,
						 fab_raw_vertex((uint32_t)p,
								spec->capacity_mbps[i], i,
								kind));
			from = start;
			to = b->raw.n;
		}
	}
	return 0;
}

/* LEVEL=N[@RATE[:SEGMENT]] */
static int parse_level(struct fab_machine_builder *b, struct spec *spec, const char *text,
		       size_t len, bool is_server, struct fab_err *err)
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
	rc = add_level(b, spec, text, (size_t)(equal - text), (uint32_t)count, capacity,
		       is_server, err);
	if (!rc && colon && colon + 1 < end)
		b->m->level[b->m->n_levels - 1].segment = fab_arena_format(
			&b->m->arena, "%.*s", (int)(end - colon - 1), colon + 1);
	return rc;
}

static int parse_levels(struct fab_machine_builder *b, const char *text,
			struct fab_err *err)
{
	struct spec spec = {0};
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
			return fab_fail(
				err, EINVAL,
				"a second slash: expected one, in front of the levels of servers");
		is_server |= *at == '/';
	}
	return grow(b, &spec, err);
}

int fab_machine_parse(const char *spec, struct fab_machine **out, struct fab_err *err)
{
	struct fab_machine_builder b;
	const char *levels = spec;
	int rc;

	if (!strncmp(spec, "preset:", 7)) {
		if (strcmp(spec + 7, "taihulight") != 0)
			return fab_fail(
				err, EINVAL,
				"there is no machine '%.80s'; there is: preset:taihulight",
				spec);
		levels = taihulight;
	}
	fab_machine_builder_init(&b, spec);
	rc = parse_levels(&b, levels, err);
	if (rc)
		fab_err_prefix(err, "machine");
	return fab_machine_builder_finish(&b, rc, out, err);
}

/* ---- files ---- */

enum { WORDS_MAX = 6 };

struct file_reader {
	const char *file;
	uint64_t line;
	struct fab_machine_builder b;
	struct spec spec;
	struct fab_strmap *by_name;	      /* raw index */
	FAB_VEC(struct fab_raw_vertex) given; /* parent: index, FAB_NONE not given yet */
	bool has_levels, in_servers;
	const char *word[WORDS_MAX];
	size_t len[WORDS_MAX], n_words;
};

static int bad_line(const struct file_reader *r, struct fab_err *err, const char *what,
		    size_t word)
{
	return fab_fail_line(err, r->file, r->line, "%s: '%.*s'", what,
			     r->len[word] > 60 ? 60 : (int)r->len[word], r->word[word]);
}

static int where(const struct file_reader *r, int rc, struct fab_err *err)
{
	char prefix[300];

	if (rc && err) {
		snprintf(prefix, sizeof(prefix), "%.250s:%llu", r->file,
			 (unsigned long long)r->line);
		fab_err_prefix(err, prefix);
	}
	return rc;
}

/* The text is not closed by a NUL. */
static bool is_segment(const struct file_reader *r, size_t i)
{
	return i < r->n_words && r->len[i] >= 8 && !memcmp(r->word[i], "segment=", 8);
}

static bool is_word(const struct file_reader *r, size_t i, const char *text)
{
	return i < r->n_words && r->len[i] == strlen(text) &&
	       !strncmp(r->word[i], text, r->len[i]);
}

/* A capacity: Mb/s, the unit of the column, or a rate with a unit of its own. */
static int read_capacity(struct file_reader *r, size_t word, double *mbps,
			 struct fab_err *err)
{
	if (fab_parse_real(r->word[word], r->len[word], 1e-9, 1e9, mbps))
		return 0;
	return where(r, fab_parse_rate_mbps(r->word[word], r->len[word], mbps, err), err);
}

/* level NAME COUNT [RATE] [segment=NAME] */
static int read_level(struct file_reader *r, struct fab_err *err)
{
	double capacity = INFINITY;
	uint64_t count;
	size_t next = 3;
	int rc;

	if (r->n_words < 3)
		return bad_line(r, err, "expected level NAME COUNT [RATE] [segment=NAME]",
				0);
	if (!fab_parse_u64(r->word[2], r->len[2], 1, 1 << 24, &count))
		return bad_line(r, err, "expected a number from 1 to 16777216", 2);
	if (next < r->n_words && !is_segment(r, next)) {
		rc = read_capacity(r, next, &capacity, err);
		if (rc)
			return rc;
		next++;
	}
	rc = add_level(&r->b, &r->spec, r->word[1], r->len[1], (uint32_t)count, capacity,
		       r->in_servers, err);
	if (rc)
		return where(r, rc, err);
	if (is_segment(r, next) && r->len[next] > 8) {
		r->b.m->level[r->b.m->n_levels - 1].segment = fab_arena_format(
			&r->b.m->arena, "%.*s", (int)r->len[next] - 8, r->word[next] + 8);
		next++;
	}
	if (next < r->n_words)
		return bad_line(r, err, "too many words", next);
	r->has_levels = true;
	return 0;
}

static uint32_t vertex_named(struct file_reader *r, size_t word)
{
	uint32_t n = (uint32_t)r->given.n;
	uint32_t at = fab_strmap_put(r->by_name, r->word[word], r->len[word], n);

	if (at == n) {
		FAB_PUSH(&r->given, fab_raw_vertex(FAB_NONE, 0, 0, FAB_VERTEX_SWITCH));
		r->given.v[n].name = fab_arena_format(&r->b.m->arena, "%.*s",
						      (int)r->len[word], r->word[word]);
	}
	return at;
}

/* NAME PARENT RATE|- [node|server] */
static int read_vertex(struct file_reader *r, struct fab_err *err)
{
	enum fab_vertex_kind kind = FAB_VERTEX_SWITCH;
	double capacity = INFINITY;
	uint32_t v, parent;
	struct fab_raw_vertex *t;

	if (r->n_words < 3 || r->n_words > 4)
		return bad_line(r, err, "expected NAME PARENT RATE [node|server]", 0);
	if (!is_word(r, 2, "-")) {
		int rc = read_capacity(r, 2, &capacity, err);

		if (rc)
			return rc;
	}
	if (is_word(r, 3, "node"))
		kind = FAB_VERTEX_NODE;
	else if (is_word(r, 3, "server"))
		kind = FAB_VERTEX_INTERFACE;
	else if (r->n_words == 4)
		return bad_line(r, err, "expected node or server", 3);
	if (r->given.n + 2 > FAB_MACHINE_VERTICES_MAX)
		return bad_line(r, err, "too many vertices", 0);
	v = vertex_named(r, 0);
	parent = is_word(r, 1, "-") ? 0 : vertex_named(r, 1);
	t = &r->given.v[v];
	if (v == 0 || v == parent)
		return bad_line(r, err, "a vertex below itself", 0);
	if (t->parent != FAB_NONE &&
	    (t->parent != parent || t->capacity_mbps < capacity ||
	     t->capacity_mbps > capacity))
		return bad_line(
			r, err,
			"a second path, or one of another capacity: a hierarchy has one way up",
			0);
	t->parent = parent;
	t->capacity_mbps = capacity;
	t->kind = (uint8_t)kind;
	return 0;
}

static int read_line(struct file_reader *r, const char *line, size_t len,
		     struct fab_err *err)
{
	const char *hash = memchr(line, '#', len), *end = hash ? hash : line + len;

	r->n_words = 0;
	if (memchr(line, 0, (size_t)(end - line)))
		return fab_fail_line(err, r->file, r->line, "the line has a NUL byte");
	for (const char *at = line; at < end;) {
		size_t blank = 0, n = 0;

		while (at + blank < end && strchr(" \t\r", at[blank]))
			blank++;
		at += blank;
		while (at + n < end && !strchr(" \t\r", at[n]))
			n++;
		if (!n)
			break;
		if (r->n_words == WORDS_MAX)
			return bad_line(r, err, "too many words in the line", 0);
		r->word[r->n_words] = at;
		r->len[r->n_words++] = n;
		at += n;
	}
	if (!r->n_words)
		return 0;
	if (is_word(r, 0, "servers") && r->n_words == 1) {
		r->in_servers = true;
		return 0;
	}
	if (is_word(r, 0, "level") && !r->given.n)
		return read_level(r, err);
	if (r->has_levels)
		return bad_line(r, err, "expected level or servers", 0);
	if (!r->given.n) {
		r->word[WORDS_MAX - 1] = "-";
		r->len[WORDS_MAX - 1] = 1;
		vertex_named(r, WORDS_MAX - 1);
	}
	return read_vertex(r, err);
}

static int by_name(const void *a, const void *b, void *given)
{
	const struct fab_raw_vertex *t = given;

	return fab_text_natural_cmp(t[*(const uint32_t *)a].name,
				    t[*(const uint32_t *)b].name);
}

/*
 * Vertices by name: each has a parent, only switches have children. Levels tier1, tier2
 * ... by depth, then nodes, then servers, whatever line is first. They go to the builder
 * in the order of their names, so that the order of lines does not matter.
 */
static int add_named(struct file_reader *r, uint32_t *order, uint32_t *place,
		     struct fab_err *err)
{
	uint32_t n = (uint32_t)r->given.n, n_ranks = 0, n_of[3] = {0};
	uint32_t level[FAB_MACHINE_LEVELS_MAX + 4];

	for (uint32_t i = 1; i < n; i++) {
		struct fab_raw_vertex *t = &r->given.v[i];

		if (t->parent == FAB_NONE)
			return fab_fail(
				err, EINVAL,
				"%s: '%.60s' is named as a parent, but no line says what is above it",
				r->file, t->name);
		if (r->given.v[t->parent].kind != FAB_VERTEX_SWITCH)
			return fab_fail(
				err, EINVAL,
				"%s: '%.60s' is a node or server and has '%.60s' below it",
				r->file, r->given.v[t->parent].name, t->name);
	}
	for (uint32_t i = 1; i < n; i++) {
		struct fab_raw_vertex *t = &r->given.v[i];

		n_of[t->kind]++;
		for (uint32_t v = t->parent; v; v = r->given.v[v].parent)
			if (++t->level > FAB_MACHINE_LEVELS_MAX)
				return fab_fail(
					err, EINVAL,
					"%s: the hierarchy above '%.60s' has a cycle or more than %d levels",
					r->file, t->name, FAB_MACHINE_LEVELS_MAX - 3);
		if (t->kind == FAB_VERTEX_SWITCH && t->level >= n_ranks)
			n_ranks = t->level + 1U;
	}
	for (uint32_t i = 0; i < n_ranks + 2; i++) {
		char unit[16];

		snprintf(unit, sizeof(unit),
			 i < n_ranks	? "tier%u"
			 : i == n_ranks ? "node"
					: "server",
			 i + 1);
		level[i] = fab_machine_builder_level(&r->b, unit, strlen(unit),
						     i == n_ranks + 1);
		if (level[i] == FAB_NONE)
			return fab_fail(err, EINVAL, "%s: more than %d levels", r->file,
					FAB_MACHINE_LEVELS_MAX - 3);
	}
	if (!n_of[FAB_VERTEX_NODE] || !n_of[FAB_VERTEX_INTERFACE])
		return fab_fail(err, EINVAL, "%s: no line names a %s", r->file,
				n_of[FAB_VERTEX_NODE] ? "server" : "node");
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order + 1, n - 1, sizeof(*order), by_name, r->given.v);
	for (uint32_t i = 0; i < n; i++)
		place[order[i]] = i;
	for (uint32_t i = 1; i < n; i++) {
		struct fab_raw_vertex t = r->given.v[order[i]];

		t.parent = place[t.parent];
		t.level = (uint8_t)level[t.kind == FAB_VERTEX_NODE	  ? n_ranks
					 : t.kind == FAB_VERTEX_INTERFACE ? n_ranks + 1
									  : t.level];
		FAB_PUSH(&r->b.raw, t);
	}
	return 0;
}

int fab_machine_read(const char *file, const char *text, size_t len,
		     struct fab_machine **out, struct fab_err *err)
{
	struct file_reader r = {.file = file, .by_name = fab_strmap_new(64)};
	int rc = 0;

	fab_machine_builder_init(&r.b, file);
	for (const char *at = text, *end = text + len; at < end && !rc;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		r.line++;
		if (!stop)
			stop = end;
		rc = read_line(&r, at, (size_t)(stop - at), err);
		at = stop + 1;
	}
	if (!rc && r.has_levels) {
		rc = grow(&r.b, &r.spec, err);
		if (rc)
			fab_err_prefix(err, file);
	} else if (!rc && !r.given.n) {
		rc = fab_fail(err, EINVAL, "%s: there is no machine in it", file);
	} else if (!rc) {
		FAB_AUTOFREE uint32_t *order = FAB_NEW(r.given.n, uint32_t);
		FAB_AUTOFREE uint32_t *place = FAB_NEW(r.given.n, uint32_t);

		rc = add_named(&r, order, place, err);
	}
	rc = fab_machine_builder_finish(&r.b, rc, out, err);
	free(r.given.v);
	fab_strmap_free(r.by_name);
	return rc;
}
