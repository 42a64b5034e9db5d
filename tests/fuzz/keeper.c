/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The keeper of the plug-in: the input is a list of events of a small subnet. Cables come
 * and go, groups change, plans are made, solved and taken over late. After each event
 * every tree is one of its members over cables that exist, and loads are those of the
 * trees.
 */
#include "opensm/keeper.h"
#include "mcast/engine/state.h"
#include "small.h"

#include <errno.h>

enum { SWITCHES = 6, ADAPTERS = 12, GROUPS = 5, MEMBERS = 6, STEPS = 60 };

struct subnet {
	struct fab_keeper *k;
	struct fab_plan *plan; /* made some events ago; NULL */
	uint32_t n_members[GROUPS];
	uint64_t member[GROUPS][MEMBERS];
};

/* Two switches, or an adapter and its switch, have a cable unless its bit is 1. */
static struct fab_fabric *fabric_of(uint32_t pulled)
{
	struct fab_builder *b = fab_builder_new();
	struct fab_fabric *f = NULL;
	uint32_t bit = 0;

	for (uint32_t i = 0; i < SWITCHES; i++)
		fuzz_add(b, FAB_SWITCH, 0x10 + i, 36, "x");
	for (uint16_t i = 0; i < SWITCHES; i++)
		for (uint16_t k = (uint16_t)(i + 1); k < SWITCHES; k++)
			if (!(pulled >> bit++ & 1))
				fab_builder_add_cable(b, i, (uint16_t)(k + 1), k,
						      (uint16_t)(i + 1), 4, FAB_HDR);
	for (uint16_t i = 0; i < ADAPTERS; i++) {
		uint32_t a = fuzz_add(b, FAB_ADAPTER, 0x80 + i, 1, "x");

		fab_builder_set_port(b, a, 1, 0x100 + i, (uint16_t)(i + 1), 0);
		if (!(pulled >> bit++ & 1))
			fab_builder_add_cable(b, a, 1, i / 2u, (uint16_t)(20 + i % 2), 4,
					      FAB_HDR);
	}
	OK(fab_builder_finish(b, "fuzz", "generated", NULL, &f, ERR));
	return f;
}

/* Number of the first member of the group with this GUID; their count: there is none. */
static uint32_t find(const struct subnet *s, uint32_t g, uint64_t guid)
{
	uint32_t i = 0;

	while (i < s->n_members[g] && s->member[g][i] != guid)
		i++;
	return i;
}

static uint32_t count_different(const struct subnet *s, uint32_t g)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_members[g]; i++)
		n += find(s, g, s->member[g][i]) == i;
	return n;
}

/* A tree has its members, no others, and joins them without a circle. */
static void check_tree(const struct subnet *s, uint32_t g, uint32_t *load)
{
	const struct fab_fabric *f = fab_keeper_fabric(s->k);
	const struct fab_live_tree t = fab_keeper_tree(s->k, g);
	bool is_met[SWITCHES] = {false};
	uint32_t n_met = 1;

	is_met[t.root] = true;
	for (bool is_more = true; is_more;) {
		is_more = false;
		for (uint32_t e = 0; e < t.n_edges; e++) {
			uint32_t a = f->port_node[f->cable_a[t.cable[e]]];
			uint32_t b = f->port_node[f->cable_b[t.cable[e]]];

			if (is_met[a] == is_met[b])
				continue;
			is_met[a] = is_met[b] = is_more = true;
			n_met++;
		}
	}
	NEVER(n_met != t.n_edges + 1 || t.n_members != count_different(s, g));
	for (uint32_t m = 0; m < t.n_members; m++)
		NEVER(find(s, g, f->port_guid[t.member[m]]) == s->n_members[g] ||
		      !is_met[fab_port_switch(f, t.member[m])]);
	for (uint32_t e = 0; e < t.n_edges; e++)
		load[t.cable[e]]++;
}

static void check(const struct subnet *s)
{
	const struct fab_fabric *f = fab_keeper_fabric(s->k);
	uint32_t load[SWITCHES * SWITCHES] = {0}, most = 0;

	for (uint32_t g = 0; g < GROUPS; g++)
		if (fab_keeper_tree(s->k, g).root != FAB_NONE) {
			NEVER(!f);
			check_tree(s, g, load);
		}
	for (uint32_t c = 0; f && c < f->n_switch_links; c++)
		most = load[c] > most ? load[c] : most;
	NEVER(fab_keeper_max_efi(s->k) != most);
}

static void renew(struct subnet *s, struct fuzz_input *in)
{
	uint64_t first[GROUPS + 1] = {0}, guid[GROUPS * MEMBERS];
	const struct fab_membership m = {.n = GROUPS, .first = first, .guid = guid};
	struct fab_keeper_counts counts;
	uint32_t pulled = fuzz_next(in), n = 0;

	pulled |= (uint32_t)fuzz_next(in) << 8 | (uint32_t)fuzz_next(in) << 16;
	for (uint32_t g = 0; g < GROUPS; g++) {
		first[g + 1] = first[g] + s->n_members[g];
		memcpy(&guid[first[g]], s->member[g], s->n_members[g] * sizeof(*guid));
	}
	OK(fab_keeper_renew(s->k, fabric_of(pulled), &m, &counts, ERR));
	for (uint32_t g = 0; g < GROUPS; g++)
		n += fab_keeper_tree(s->k, g).root != FAB_NONE;
	NEVER(counts.kept + counts.routed != n);
}

/* A group gets other members, some of them twice, some of them unknown. */
static void change(struct subnet *s, struct fuzz_input *in)
{
	uint32_t g = fuzz_next(in) % GROUPS;
	bool has_tree;
	int rc;

	s->n_members[g] = fuzz_next(in) % (MEMBERS + 1);
	for (uint32_t i = 0; i < s->n_members[g]; i++)
		s->member[g][i] = 0x100u + fuzz_next(in) % (ADAPTERS + 1);
	rc = fab_keeper_route(s->k, g, s->member[g], s->n_members[g], false, ERR);
	has_tree = fab_keeper_tree(s->k, g).root != FAB_NONE;
	NEVER(rc < 0 ? (rc != -ENOENT && rc != -EHOSTUNREACH && rc != -ENXIO) ||
			       !*fuzz_err.text || has_tree
		     : has_tree != (count_different(s, g) > 1));
	NEVER(rc >= 0 &&
	      fab_keeper_route(s->k, g, s->member[g], s->n_members[g], false, NULL) != 0);
}

/* Solve the plan that was made, which may be outdated, and take it over. */
static void take(struct subnet *s, struct fuzz_input *in)
{
	const struct fab_mcast_engine *engine =
		fab_mcast_engines[fuzz_next(in) % fab_mcast_n_engines];
	bool is_move = fuzz_next(in) % 4;
	const struct fab_plan_options options = {
		.engine = is_move ? NULL : engine,
		.max_moved = is_move ? fuzz_next(in) % GROUPS : UINT32_MAX,
		.time_limit_ms = 1000};
	struct fab_plan_result r;
	uint32_t moved[GROUPS], n;

	if (!s->plan)
		return;
	NEVER(fab_plan_solve(s->plan, &options, &r, NULL) || r.n_moved > GROUPS ||
	      r.n_moved > options.max_moved || r.after > r.before ||
	      (r.after < r.bound && r.after < r.before));
	n = fab_keeper_take(s->k, s->plan, moved);
	NEVER(n > r.n_moved);
	while (n)
		NEVER(moved[--n] >= GROUPS);
	fab_plan_free(s->plan);
	s->plan = NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct fuzz_input in = {bytes, n};
	struct subnet s = {.k = fab_keeper_new(GROUPS)};

	for (int i = 0; i < STEPS && in.n; i++) {
		uint8_t kind = fuzz_next(&in) % 6;

		if (kind == 1) {
			fab_plan_free(s.plan);
			s.plan = fab_keeper_plan(s.k);
		} else if (kind == 3 && fuzz_next(&in) % 8 == 0) {
			fab_keeper_clear(s.k);
		} else if (kind != 3) {
			(kind == 0 ? renew : kind == 2 ? take : change)(&s, &in);
		}
		check(&s);
	}
	fab_plan_free(s.plan);
	fab_keeper_free(s.k);
	return 0;
}
