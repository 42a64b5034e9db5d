/* SPDX-License-Identifier: BSD-2-Clause */
/* Roots, engines, loads, bounds and verification against plain definitions. */
#include "mcast/bounds.h"
#include "mcast/engine/state.h"
#include "mcast/route.h"
#include "support/routed.h"
#include "support/sssp_heap.h"
#include "support/test.h"

enum { N_SEEDS = 16 / TEST_SHARE, MAX_ENGINES = 16 };

static void setting_init(struct routed *s, uint64_t seed)
{
	static const char *const patterns[] = {"random:groups=60,size=1-14", "grid:6x10",
					       NULL};
	uint32_t n = (uint32_t)seed;

	routed_init_patterns(s, test_random_fabric(20 + 17 * n, 30 + 25 * n, 3, seed),
			     patterns, seed);
}

static void route(const struct routed *s, const struct fab_mcast_options *options,
		  const struct fab_mcast_engine *const *engines, size_t n,
		  struct fab_mcast_result *results)
{
	double seconds;

	MUST(fab_mcast_route(&s->problem, engines, n, options, results, &seconds, ERR));
}

/* Largest distance from a switch to the switches of a group. */
static uint8_t eccentricity(const struct routed *s, uint32_t group, uint32_t sw)
{
	uint8_t max = 0;

	for (uint64_t i = s->groups->sw_first[group]; i < s->groups->sw_first[group + 1];
	     i++) {
		uint8_t hops = fab_dist_row(s->dist, s->groups->sw[i])[sw];

		max = hops > max ? hops : max;
	}
	return max;
}

static uint8_t radius(const struct routed *s, uint32_t group)
{
	uint8_t min = UINT8_MAX;

	for (uint32_t sw = 0; sw < s->f->n_switches; sw++) {
		uint8_t e = eccentricity(s, group, sw);

		min = e < min ? e : min;
	}
	return min;
}

Test(mcast, the_number_of_threads_changes_nothing)
{
	struct fab_mcast_result one[MAX_ENGINES], many[MAX_ENGINES];
	struct fab_mcast_options options = {.n_threads = 1};
	FAB_AUTO(routed_fini) struct routed s;

	setting_init(&s, 5);
	route(&s, &options, fab_mcast_engines, fab_mcast_n_engines, one);
	options.n_threads = 7;
	route(&s, &options, fab_mcast_engines, fab_mcast_n_engines, many);
	for (size_t i = 0; i < fab_mcast_n_engines; i++) {
		uint64_t n = one[i].forest.first[s.groups->n];

		cr_assert_arr_eq(one[i].forest.first, many[i].forest.first,
				 (s.groups->n + 1) * sizeof(uint64_t));
		cr_assert_arr_eq(one[i].forest.sw, many[i].forest.sw,
				 n * sizeof(uint32_t));
		cr_assert_arr_eq(one[i].forest.cable, many[i].forest.cable,
				 n * sizeof(uint32_t));
	}
	routed_end(one);
	routed_end(many);
}

/* As published, by a priority queue over the whole fabric. */
Test(mcast, both_forms_of_sssp_give_the_same_trees)
{
	const struct fab_mcast_engine *const engines[] = {
		&fab_mcast_sssp, &sssp_heap, &fab_mcast_sssp_new, &sssp_heap_new};

	for (uint64_t seed = 0; seed < N_SEEDS; seed++) {
		struct fab_mcast_options options = {.n_threads = 1};
		struct fab_mcast_result r[4];
		FAB_AUTO(routed_fini) struct routed s;

		setting_init(&s, seed);
		route(&s, &options, engines, 4, r);
		for (size_t i = 0; i < 4; i += 2) {
			uint64_t n = r[i].forest.first[s.groups->n];

			cr_assert_eq(r[i + 1].forest.first[s.groups->n], n);
			cr_assert_arr_eq(r[i + 1].forest.cable, r[i].forest.cable,
					 n * sizeof(uint32_t));
			cr_assert_arr_eq(r[i + 1].load, r[i].load,
					 s.f->n_switch_links * sizeof(uint32_t));
		}
		for (size_t i = 0; i < 4; i++)
			fab_mcast_result_fini(&r[i]);
	}
}

/* The parent of every switch in the tree of a group: cable, or FAB_NONE. */
static void parents(const struct routed *s, const struct fab_forest *t, uint32_t group,
		    uint32_t *cable)
{
	memset(cable, 0xff, s->f->n_switches * sizeof(*cable));
	for (uint64_t e = t->first[group]; e < t->first[group + 1]; e++)
		cable[t->sw[e]] = t->cable[e];
}

/* The recursive definition: members leave a switch together by the lowest port. */
static void hand_out(const struct routed *s, uint32_t at, const uint32_t *member,
		     uint32_t n, uint32_t *cable)
{
	const struct fab_fabric *f = s->f;
	uint32_t n_left = 0;
	FAB_AUTOFREE uint32_t *left = FAB_NEW(n, uint32_t), *part = FAB_NEW(n, uint32_t);

	for (uint32_t i = 0; i < n; i++)
		if (member[i] != at)
			left[n_left++] = member[i];
	for (uint32_t a = f->arc_first[at]; a < f->arc_first[at + 1]; a++) {
		uint32_t peer = f->arc_peer[a], n_part = 0, kept = 0;

		for (uint32_t i = 0; i < n_left; i++) {
			const uint8_t *row = fab_dist_row(s->dist, left[i]);

			if (row[peer] + 1 == row[at])
				part[n_part++] = left[i];
			else
				left[kept++] = left[i];
		}
		n_left = kept;
		if (!n_part)
			continue;
		cr_assert_eq(cable[peer], FAB_NONE, "minihop met a switch twice");
		cable[peer] = f->arc_cable[a];
		hand_out(s, peer, part, n_part, cable);
	}
}

Test(mcast, minihop_is_the_recursive_definition)
{
	for (uint64_t seed = 0; seed < N_SEEDS; seed++) {
		FAB_AUTO(fab_mcast_result_fini) struct fab_mcast_result r;
		FAB_AUTO(routed_fini) struct routed s;
		FAB_AUTOFREE uint32_t *got = NULL, *want = NULL;

		setting_init(&s, seed);
		got = FAB_NEW(s.f->n_switches, uint32_t);
		want = FAB_NEW(s.f->n_switches, uint32_t);
		r = routed_by(&s.problem, &fab_mcast_minihop, NULL);
		for (uint32_t g = 0; g < s.groups->n; g++) {
			parents(&s, &r.forest, g, got);
			memset(want, 0xff, s.f->n_switches * sizeof(*want));
			hand_out(&s, r.forest.root[g],
				 s.groups->sw + s.groups->sw_first[g],
				 fab_group_n_switches(s.groups, g), want);
			cr_assert_arr_eq(got, want, s.f->n_switches * sizeof(*want));
		}
	}
}

/* What an engine without cleverness would do: loads and uses counted from the trees. */
struct plain {
	uint32_t *load, *use, *cable;
};

static uint64_t root_key(const struct routed *s, const struct plain *p,
			 const struct fab_mcast_engine *engine, uint32_t sw,
			 enum fab_root_ties ties)
{
	uint64_t value = 0,
		 tie = ties == FAB_TIES_LOWEST ? sw : (uint32_t)(sw * 2654435769u);

	if (engine->root_rule == FAB_ROOT_FIRST)
		return sw;
	if (engine->root_rule == FAB_ROOT_LEAST_USED)
		value = p->use[sw];
	else
		for (uint32_t a = s->f->arc_first[sw]; a < s->f->arc_first[sw + 1]; a++)
			value += p->load[s->f->arc_cable[a]];
	return value << 32 | tie;
}

static uint32_t plain_root(const struct routed *s, const struct plain *p,
			   const struct fab_mcast_engine *engine, uint32_t group,
			   enum fab_root_ties ties)
{
	uint8_t least = radius(s, group);
	uint64_t best = UINT64_MAX;
	uint32_t root = FAB_NONE;

	for (uint32_t sw = 0; sw < s->f->n_switches; sw++)
		if (eccentricity(s, group, sw) == least &&
		    root_key(s, p, engine, sw, ties) < best) {
			best = root_key(s, p, engine, sw, ties);
			root = sw;
		}
	return root;
}

/* FULB's walk from one switch, choosing by (load, port). */
static void plain_walk(const struct routed *s, struct plain *p, uint32_t root,
		       uint32_t at)
{
	const struct fab_fabric *f = s->f;
	const uint8_t *row = fab_dist_row(s->dist, root);

	while (at != root && p->cable[at] == FAB_NONE) {
		uint32_t best = FAB_NONE;

		for (uint32_t a = f->arc_first[at]; a < f->arc_first[at + 1]; a++)
			if (row[f->arc_peer[a]] + 1 == row[at] &&
			    (best == FAB_NONE ||
			     p->load[f->arc_cable[a]] < p->load[f->arc_cable[best]]))
				best = a;
		p->cable[at] = f->arc_cable[best];
		at = f->arc_peer[best];
	}
}

/* Roots by the rule and, for fulb, links by the rule, group after group. */
static void check_rules(const struct routed *s, const struct fab_mcast_result *r,
			enum fab_root_ties ties)
{
	struct plain p = {.load = FAB_NEW0(s->f->n_switch_links, uint32_t),
			  .use = FAB_NEW0(s->f->n_switches, uint32_t),
			  .cable = FAB_NEW(s->f->n_switches, uint32_t)};
	FAB_AUTOFREE uint32_t *got = FAB_NEW(s->f->n_switches, uint32_t);

	for (uint32_t g = 0; g < s->groups->n; g++) {
		uint32_t root = r->forest.root[g];

		cr_assert_eq(root, plain_root(s, &p, r->engine, g, ties), "%s group %u",
			     r->engine->name, g);
		parents(s, &r->forest, g, got);
		if (!strncmp(r->engine->name, "fulb", 4)) {
			memset(p.cable, 0xff, s->f->n_switches * sizeof(*p.cable));
			for (uint64_t i = s->groups->sw_first[g];
			     i < s->groups->sw_first[g + 1]; i++)
				plain_walk(s, &p, root, s->groups->sw[i]);
			cr_assert_arr_eq(got, p.cable, s->f->n_switches * sizeof(*got));
		}
		p.use[root]++;
		for (uint32_t sw = 0; sw < s->f->n_switches; sw++)
			if (got[sw] != FAB_NONE)
				p.load[got[sw]]++;
	}
	free(p.load);
	free(p.use);
	free(p.cable);
}

Test(mcast, roots_and_links_follow_the_rules)
{
	const struct fab_mcast_engine *engines[MAX_ENGINES];
	size_t n = 0;

	for (size_t i = 0; i < fab_mcast_n_engines; i++)
		if (!fab_mcast_engines[i]->choose_root)
			engines[n++] = fab_mcast_engines[i];
	for (uint64_t seed = 0; seed < 6 / TEST_SHARE + 1; seed++)
		for (int ties = FAB_TIES_SPREAD; ties <= FAB_TIES_LOWEST; ties++) {
			struct fab_mcast_options options = {
				.n_threads = 1, .root_ties = (enum fab_root_ties)ties};
			struct fab_mcast_result r[MAX_ENGINES];
			FAB_AUTO(routed_fini) struct routed s;

			setting_init(&s, seed);
			route(&s, &options, engines, n, r);
			for (size_t i = 0; i < n; i++) {
				check_rules(&s, &r[i], options.root_ties);
				fab_mcast_result_fini(&r[i]);
			}
		}
}

Test(mcast, efi_counts_every_cable)
{
	FAB_AUTO(fab_mcast_result_fini) struct fab_mcast_result r;
	FAB_AUTO(routed_fini) struct routed s;
	struct fab_efi efi;
	uint32_t fullest[7], n, max_host = 0, total = 0;
	FAB_AUTOFREE uint32_t *count = NULL, *groups = NULL;

	setting_init(&s, 3);
	r = routed_by(&s.problem, fab_mcast_engines[0], NULL);
	fab_efi_of(&s.problem, &r, &efi);
	count = fab_efi_histogram(s.f, r.load, efi.max);
	for (uint32_t e = 0; e <= efi.max; e++) {
		uint32_t with = 0;

		for (uint32_t c = 0; c < s.f->n_switch_links; c++)
			with += r.load[c] == e;
		cr_assert_eq(count[e], with);
		total += with;
	}
	cr_assert_eq(total, s.f->n_switch_links);
	cr_assert_eq(count[efi.max], efi.n_at_max);
	cr_assert_eq(efi.tree_links, r.forest.first[s.groups->n]);
	cr_assert_float_eq(efi.mean, (double)efi.tree_links / s.f->n_switch_links, 1e-9);
	n = fab_efi_fullest(s.f, r.load, NULL, 7, fullest);
	cr_assert_eq(n, 7);
	cr_assert_eq(r.load[fullest[0]], efi.max);
	for (uint32_t i = 1; i < n; i++)
		cr_assert(r.load[fullest[i - 1]] > r.load[fullest[i]] ||
			  (r.load[fullest[i - 1]] == r.load[fullest[i]] &&
			   fullest[i - 1] < fullest[i]));
	groups = FAB_NEW0(s.f->n_ports, uint32_t);
	for (uint32_t g = 0; g < s.groups->n; g++)
		for (uint64_t m = s.groups->first[g]; m < s.groups->first[g + 1]; m++)
			groups[s.groups->member[m]] += fab_group_size(s.groups, g) > 1;
	for (uint32_t p = 0; p < s.f->n_ports; p++)
		max_host = groups[p] > max_host ? groups[p] : max_host;
	cr_assert_eq(efi.max_all, max_host > efi.max ? max_host : efi.max);
}

/* What verification says after one thing in a sound result was changed. */
static void expect_wrong(const struct routed *s, const struct fab_mcast_result *r,
			 const char *what)
{
	FAILS(fab_mcast_verify(&s->problem, r, ERR), -EPROTO, what);
}

Test(mcast, verification_finds_planted_faults)
{
	FAB_AUTO(routed_fini) struct routed s;
	FAB_AUTO(fab_mcast_result_fini) struct fab_mcast_result of_first;
	struct fab_mcast_result *r = &of_first;
	uint32_t g = 0, old, cable;
	uint64_t e;

	setting_init(&s, 6);
	of_first = routed_by(&s.problem, fab_mcast_engines[0], NULL);
	while (fab_forest_size(&r->forest, g) < 4)
		g++;
	e = r->forest.first[g];

	cable = r->forest.cable[e];
	r->forest.cable[e] = s.f->n_switch_links;
	expect_wrong(&s, r, "no cable between switches");
	r->forest.cable[e] = r->forest.cable[e + 2];
	expect_wrong(&s, r, "");
	r->forest.cable[e] = cable;

	old = r->forest.sw[e];
	r->forest.sw[e] = r->forest.sw[e + 1];
	expect_wrong(&s, r, "not at its switch");
	r->forest.cable[e] = r->forest.cable[e + 1];
	expect_wrong(&s, r, "has a loop");
	r->forest.sw[e] = old;
	r->forest.cable[e] = cable;

	r->forest.height[g]++;
	expect_wrong(&s, r, "is not as high as stated");
	r->forest.height[g]--;

	r->load[0]++;
	expect_wrong(&s, r, "stated");
	r->load[0]--;

	/* the first group's last edge now belongs to the next group */
	r->forest.first[g + 1]--;
	expect_wrong(&s, r, "");
	r->forest.first[g + 1]++;

	old = r->forest.root[g];
	r->forest.root[g] = old ? 0 : 1;
	expect_wrong(&s, r, "");
	r->forest.root[g] = old;
	MUST(fab_mcast_verify(&s.problem, r, ERR));
}

static int stop_at_once(void *context, uint64_t done, uint64_t total)
{
	*(uint64_t *)context = done * 1000000 + total;
	return 1;
}

Test(mcast, progress_can_stop_it)
{
	uint64_t seen = 0;
	struct fab_mcast_options options = {
		.n_threads = 1, .progress = stop_at_once, .progress_context = &seen};
	struct fab_mcast_result r[MAX_ENGINES];
	FAB_AUTO(routed_fini) struct routed s;
	double seconds;

	setting_init(&s, 1);
	cr_assert_eq(fab_mcast_route(&s.problem, fab_mcast_engines, fab_mcast_n_engines,
				     &options, r, &seconds, NULL),
		     -ECANCELED);
	cr_assert_eq(seen, s.groups->n * 1000001ull);
}
