/* SPDX-License-Identifier: BSD-2-Clause */
/* What is said about names that stand for nothing, or for too much. */
#include "fabric/resolver_impl.h"

#include "base/num.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { SHOWN = 64, CANDIDATES_SHOWN = 3, CANDIDATE_SHOWN = 36 };

static const char *const wanted[FAB_N_WANTS] = {
	[FAB_WANT_SWITCH] = "switch",
	[FAB_WANT_HOST] = "host",
	[FAB_WANT_ENDPOINT] = "switch, host or adapter",
	[FAB_WANT_ADAPTER] = "host or adapter",
	[FAB_WANT_CABLE] = "switch or host",
	[FAB_WANT_MEMBER] = "switch, host or adapter",
};

static const char *const kinds[] = {
	[FAB_THING_SWITCH] = "switch",
	[FAB_THING_ADAPTER] = "adapter",
	[FAB_THING_HOST] = "host",
	[FAB_THING_PORT] = "port",
};

static int shown(const struct fab_item *name)
{
	return name->len > SHOWN ? SHOWN : (int)name->len;
}

static const char *name_of(const struct fab_fabric *f, const struct fab_thing *t)
{
	if (t->kind == FAB_THING_HOST)
		return fab_host_name(f, t->id);
	return fab_node_name(f, t->kind == FAB_THING_PORT ? f->port_node[t->id] : t->id);
}

static uint64_t guid_of(const struct fab_fabric *f, const struct fab_thing *t)
{
	if (t->kind == FAB_THING_HOST)
		return fab_host_guid(f, t->id);
	return f->node_guid[t->kind == FAB_THING_PORT ? f->port_node[t->id] : t->id];
}

/* Article and kind: "an adapter". */
static const char *kind_of(const struct fab_fabric *f, const struct fab_thing *t,
			   char out[48])
{
	const char *kind = kinds[t->kind];

	if (t->kind == FAB_THING_ADAPTER && f->node_kind[t->id] == FAB_AGGREGATION)
		kind = "aggregation node";
	else if (t->kind == FAB_THING_ADAPTER && f->node_kind[t->id] == FAB_ROUTER)
		kind = "router";
	else if (t->kind == FAB_THING_PORT && !fab_node_is_switch(f, f->port_node[t->id]))
		kind = "adapter's port";
	else if (t->kind == FAB_THING_PORT)
		kind = "switch's port";
	snprintf(out, 48, "%s %s", *kind == 'a' ? "an" : "a", kind);
	return out;
}

/* `, did you mean 'X'?` or nothing. */
static void nearest(const struct fab_resolver *r, unsigned of_kinds, const char *text,
		    size_t len, char out[SHOWN + 40])
{
	struct fab_near near = {0};

	for (int kind = 0; kind < FAB_N_NAMED; kind++)
		if (of_kinds >> kind & 1)
			fab_directory_nearest(r->names[kind], text, len, &near);
	*out = '\0';
	if (near.name)
		snprintf(out, SHOWN + 40, "; did you mean '%.*s'?", SHOWN, near.name);
}

/* The part of SWITCH:PORT that names the switch, 0: there is no port. */
static size_t owner_len(const struct fab_item *name, uint64_t *number)
{
	size_t len = 0;

	for (size_t i = 0; i < FAB_COUNT(fab_port_separators) && !len; i++)
		len = fab_port_suffix(name->text, name->len, fab_port_separators[i],
				      number);
	return len;
}

static int say_no_cable(const struct fab_resolver *r, const struct fab_item *name,
			struct fab_err *err)
{
	uint64_t number = 0;
	struct fab_item owner = {name->text, owner_len(name, &number), name->is_quoted};
	unsigned of_kinds = fab_want_kinds(FAB_WANT_CABLE);
	struct fab_readings readings;
	char near[SHOWN + 40];

	if (!owner.len)
		return fab_fail(err, EINVAL,
				"'%.*s': expected a link as SWITCH:PORT, PORT from 1 to "
				"255",
				shown(name), name->text);
	fab_readings_of(r, of_kinds, &owner, &readings);
	if (readings.n)
		return fab_fail(err, ENOENT, "'%.*s': no cable at port %" PRIu64,
				shown(name), name->text, number);
	nearest(r, of_kinds, owner.text, owner.len, near);
	return fab_fail(err, ENOENT, "'%.*s': no switch or host is called '%.*s'%s",
			shown(name), name->text, shown(&owner), owner.text, near);
}

static int say_other(const struct fab_resolver *r, enum fab_want want,
		     const struct fab_item *name, const struct fab_thing *t,
		     struct fab_err *err)
{
	bool is_kind = t->kind == FAB_THING_PORT
			       ? (fab_want_kinds(want) & 1U << FAB_THING_ADAPTER) != 0
			       : fab_want_kinds(want) >> t->kind & 1;
	char kind[48];

	if (want == FAB_WANT_HOST && is_kind)
		is_kind = false; /* of no host */
	if (is_kind && !(t->kind == FAB_THING_PORT &&
			 fab_node_is_switch(r->f, r->f->port_node[t->id])))
		return fab_fail(err, ENOENT, "'%.*s' has no cable", shown(name),
				name->text);
	return fab_fail(err, EINVAL, "'%.*s' is %s: expected a %s", shown(name),
			name->text, kind_of(r->f, t, kind), wanted[want]);
}

int fab_resolver_say_none(const struct fab_resolver *r, enum fab_want want,
			  const struct fab_item *name, struct fab_err *err)
{
	unsigned all = fab_want_kinds(FAB_WANT_ENDPOINT);
	struct fab_readings readings;
	char near[SHOWN + 40];
	uint64_t lid;

	if (!err && want == FAB_WANT_CABLE)
		return -ENOENT;
	if (want == FAB_WANT_CABLE)
		return say_no_cable(r, name, err);
	fab_readings_of(r, all, name, &readings);
	if (readings.n)
		return say_other(r, want, name, &readings.of[0], err);
	if (!err)
		return -ENOENT;
	if (!name->is_quoted && name->len > 4 && !strncasecmp(name->text, "lid:", 4)) {
		if (!fab_parse_u64(name->text + 4, name->len - 4, 1, FAB_LIDS - 1, &lid))
			return fab_fail(err, ENOENT,
					"'%.*s': expected lid:N, N from 1 to 49151",
					shown(name), name->text);
		return fab_fail(err, ENOENT, "no port has LID %" PRIu64, lid);
	}
	if (!name->is_quoted && name->len > 2 && !strncasecmp(name->text, "0x", 2))
		return fab_fail(err, ENOENT, "no %s has the GUID or name '%.*s'",
				wanted[want], shown(name), name->text);
	nearest(r, fab_want_kinds(want), name->text, name->len, near);
	return fab_fail(err, ENOENT, "no %s is called '%.*s'%s", wanted[want],
			shown(name), name->text, near);
}

int fab_resolver_say_several(const struct fab_resolver *r, enum fab_want want,
			     const struct fab_item *name,
			     const struct fab_readings *readings, struct fab_err *err)
{
	char list[CANDIDATES_SHOWN * (CANDIDATE_SHOWN + 48)] = "", more[40] = "";
	uint64_t n = 0;
	size_t at = 0;

	if (!err)
		return -EINVAL;
	for (uint32_t i = 0; i < readings->n; i++) {
		const struct fab_thing *t = &readings->of[i];

		if (fab_thing_as(r->f, t, want) == FAB_NONE || n++ >= CANDIDATES_SHOWN)
			continue;
		at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%.*s",
				       at ? ", " : "", CANDIDATE_SHOWN, name_of(r->f, t));
		if (t->kind == FAB_THING_PORT)
			at += (size_t)snprintf(list + at, sizeof(list) - at, "/%u",
					       r->f->port_num[t->id]);
		at += (size_t)snprintf(list + at, sizeof(list) - at,
				       " (0x%016" PRIx64 ")", guid_of(r->f, t));
	}
	n += readings->n_all - readings->n;
	if (n > CANDIDATES_SHOWN)
		snprintf(more, sizeof(more), " and %" PRIu64 " more",
			 n - CANDIDATES_SHOWN);
	return fab_fail(err, EINVAL,
			"'%.*s' can be each of %" PRIu64
			": %s%s; expected one, by its GUID",
			shown(name), name->text, n, list, more);
}
