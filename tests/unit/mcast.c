/* SPDX-License-Identifier: BSD-2-Clause */
/* Roots, engines, loads and verification against plain definitions. */
#include "mcast/engine/state.h"
#include "mcast/route.h"
#include "support/routed.h"
#include "support/sssp_heap.h"
#include "support/test.h"

enum { N_SEEDS = 16 / TEST_SHARE };

static void setting_init(struct routed *s, uint64_t seed)
{
	static const char *const patterns[] = {"random:groups=60,size=1-14", "grid:6x10",
					       NULL};
	uint32_t n = (uint32_t)seed;

	routed_init_patterns(s, test_random_fabric(20 + 17 * n, 30 + 25 * n, 3, seed),
			     patterns, seed);
}

/* As published, by a priority queue over the whole fabric. */
Test(mcast, both_forms_of_sssp_give_the_same_trees)
{
	static const struct fab_mcast_engine *const forms[][2] = {
		{&fab_mcast_sssp, &sssp_heap}, {&fab_mcast_sssp_new, &sssp_heap_new}};

	for (uint64_t i = 0; i < 2 * N_SEEDS; i++) {
		OWN(fab_mcast_result) a, b;
		FAB_AUTO(routed_fini) struct routed s;
		uint64_t n;

		setting_init(&s, i / 2);
		a = routed_by(&s.problem, forms[i % 2][0], NULL);
		b = routed_by(&s.problem, forms[i % 2][1], NULL);
		n = a.forest.first[s.groups->n];
		cr_assert_eq(b.forest.first[s.groups->n], n);
		cr_assert_arr_eq(b.forest.cable, a.forest.cable, n * sizeof(uint32_t));
		cr_assert_arr_eq(b.load, a.load, s.f->n_switch_links * sizeof(uint32_t));
	}
}

/* The cable to the parent of every switch in the tree of a group, or FAB_NONE. */
static uint32_t *parents(const struct routed *s, const struct fab_forest *t,
			 uint32_t group)
{
	uint32_t *cable = fab_none_new(s->f->n_switches);

	for (uint64_t e = t->first[group]; e < t->first[group + 1]; e++)
		cable[t->sw[e]] = t->cable[e];
	return cable;
}

/* The recursive definition: members leave a switch together by the lowest port. Returns
 * the number of cables. */
static uint32_t hand_out(const struct routed *s, uint32_t at, const uint32_t *member,
			 uint32_t n, const uint32_t *cable)
{
	const struct fab_fabric *f = s->f;
	uint32_t n_left = 0, n_cables = 0;
	FAB_AUTOFREE uint32_t *left = FAB_NEW(n, uint32_t), *part = FAB_NEW(n, uint32_t);

	for (uint32_t i = 0; i < n; i++)
		if (member[i] != at)
			left[n_left++] = member[i];
	FAB_EACH_ARC(f, at, a) {
		uint32_t peer = f->arc_peer[a], n_part = 0, kept = 0;

		for (uint32_t i = 0; i < n_left; i++) {
			const uint8_t *row = fab_dist_row(s->dist, left[i]);

			if (row[peer] < row[at])
				part[n_part++] = left[i];
			else
				left[kept++] = left[i];
		}
		n_left = kept;
		if (!n_part)
			continue;
		cr_assert_eq(cable[peer], f->arc_cable[a]);
		n_cables += 1 + hand_out(s, peer, part, n_part, cable);
	}
	return n_cables;
}

Test(mcast, minihop_is_the_recursive_definition)
{
	for (uint64_t seed = 0; seed < N_SEEDS; seed++) {
		OWN(fab_mcast_result) r;
		FAB_AUTO(routed_fini) struct routed s;

		setting_init(&s, seed);
		r = routed_by(&s.problem, &fab_mcast_minihop, NULL);
		for (uint32_t g = 0; g < s.groups->n; g++) {
			FAB_AUTOFREE uint32_t *cable = parents(&s, &r.forest, g);
			uint32_t n = hand_out(&s, r.forest.root[g],
					      s.groups->sw + s.groups->sw_first[g],
					      fab_group_n_switches(s.groups, g), cable);

			cr_assert_eq(n, fab_forest_size(&r.forest, g));
		}
	}
}

/* What an engine without cleverness would know: loads and uses counted from the trees. */
struct plain {
	uint32_t *load, *use;
};

static uint64_t root_key(const struct routed *s, const struct plain *p,
			 enum fab_root_rule rule, enum fab_root_ties ties, uint32_t group,
			 uint32_t sw)
{
	uint64_t value = 0, tie = sw;
	uint64_t far =
		routed_farthest(s->dist, sw, s->groups->sw + s->groups->sw_first[group],
				fab_group_n_switches(s->groups, group));

	if (rule != FAB_ROOT_FIRST && ties == FAB_TIES_SPREAD)
		tie = (uint32_t)(sw * 2654435769u);
	if (rule == FAB_ROOT_LEAST_USED)
		value = p->use[sw];
	if (rule == FAB_ROOT_LEAST_ADJACENT)
		FAB_EACH_ARC(s->f, sw, a)
			value += p->load[s->f->arc_cable[a]];
	return far << 56 | value << 32 | tie;
}

/* FULB's walk from one switch, choosing by (load, port). */
static void plain_walk(const struct routed *s, const struct plain *p, uint32_t root,
		       uint32_t at, uint32_t *cable)
{
	const struct fab_fabric *f = s->f;
	const uint8_t *row = fab_dist_row(s->dist, root);

	while (at != root && cable[at] == FAB_NONE) {
		uint32_t best = FAB_NONE;

		FAB_EACH_ARC(f, at, a)
			if (row[f->arc_peer[a]] < row[at] &&
			    (best == FAB_NONE ||
			     p->load[f->arc_cable[a]] < p->load[f->arc_cable[best]]))
				best = a;
		cable[at] = f->arc_cable[best];
		at = f->arc_peer[best];
	}
}

/* Roots by the rule and, for fulb, links by the rule, group after group. */
static void check_rules(const struct routed *s, const struct fab_mcast_result *r,
			enum fab_root_ties ties)
{
	uint32_t n = s->f->n_switches;
	FAB_AUTOFREE uint32_t *load = FAB_NEW0(s->f->n_switch_links, uint32_t);
	FAB_AUTOFREE uint32_t *use = FAB_NEW0(n, uint32_t);
	const struct plain p = {load, use};

	for (uint32_t g = 0; g < s->groups->n; g++) {
		uint64_t best = UINT64_MAX, key;
		uint32_t root = FAB_NONE;
		FAB_AUTOFREE uint32_t *got = parents(s, &r->forest, g);
		FAB_AUTOFREE uint32_t *want = fab_none_new(n);

		for (uint32_t sw = 0; sw < n; sw++) {
			key = root_key(s, &p, r->engine->root_rule, ties, g, sw);
			root = key < best ? sw : root;
			best = key < best ? key : best;
		}
		cr_assert_eq(r->forest.root[g], root, "%s group %u", r->engine->name, g);
		if (!strncmp(r->engine->name, "fulb", 4)) {
			for (uint64_t i = s->groups->sw_first[g];
			     i < s->groups->sw_first[g + 1]; i++)
				plain_walk(s, &p, root, s->groups->sw[i], want);
			cr_assert_arr_eq(got, want, n * sizeof(*got));
		}
		use[root]++;
		for (uint64_t e = r->forest.first[g]; e < r->forest.first[g + 1]; e++)
			load[r->forest.cable[e]]++;
	}
}

/* On any number of threads. */
Test(mcast, roots_and_links_follow_the_rules)
{
	for (uint64_t seed = 0; seed < 6 / TEST_SHARE + 1; seed++)
		for (int ties = FAB_TIES_SPREAD; ties <= FAB_TIES_LOWEST; ties++) {
			const struct fab_mcast_options options = {
				.n_threads = seed == 5 ? 7 : 1,
				.root_ties = (enum fab_root_ties)ties};
			FAB_AUTO(routed_fini) struct routed s;

			setting_init(&s, seed);
			for (size_t i = 0; i < fab_mcast_n_engines; i++) {
				const struct fab_mcast_engine *e = fab_mcast_engines[i];
				OWN(fab_mcast_result) r = {0};

				if (e->choose_root)
					continue;
				r = routed_by(&s.problem, e, &options);
				check_rules(&s, &r, options.root_ties);
			}
		}
}

/* Groups of switches and adapters, some of one member: as counted cable by cable. */
Test(mcast, efi_counts_every_cable)
{
	struct fab_fabric *f = test_random_fabric(40, 60, 3, 3);
	struct fab_groups_builder *b = fab_groups_builder_new(f);
	struct fab_rng rng = test_rng(3);
	OWN(fab_mcast_result) r;
	FAB_AUTO(routed_fini) struct routed s;
	struct fab_efi efi;
	uint32_t out[7], most = 0, height = 0;
	FAB_AUTOFREE uint32_t *count = NULL, *few = NULL;
	FAB_AUTOFREE uint32_t *groups = FAB_NEW0(f->n_ports, uint32_t);

	for (uint32_t g = 0; g < 60; g++) {
		fab_groups_builder_begin(b, "g", 1);
		/* a first adapter that most groups have */
		for (uint32_t n = 1 + test_below(&rng, 9), k = 0; k < n; k++) {
			uint32_t node = g % 4 && !k ? f->n_switches
						    : test_below(&rng, f->n_nodes);

			fab_groups_builder_add(
				b, fab_port_find(f, node, node >= f->n_switches));
		}
	}
	routed_init_builder(&s, f, b);
	r = routed_by(&s.problem, fab_mcast_engines[0], NULL);
	efi = routed_efi(&s.problem, &r);
	count = fab_efi_histogram(f, r.load, efi.max);
	cr_assert_eq(count[efi.max], efi.n_at_max);
	for (uint32_t c = 0; c < f->n_switch_links; c++)
		count[r.load[c]]--;
	for (uint32_t e = 0; e <= efi.max; e++)
		cr_assert_eq(count[e], 0);
	cr_assert_eq(efi.tree_links, r.forest.first[s.groups->n]);
	cr_assert_float_eq(efi.mean, (double)efi.tree_links / f->n_switch_links, 1e-9);
	cr_assert_eq(fab_efi_fullest(f, r.load, NULL, 7, out), 7);
	cr_assert_eq(r.load[out[0]], efi.max);
	for (uint32_t i = 1; i < 7; i++)
		cr_assert(r.load[out[i - 1]] > r.load[out[i]] ||
			  (r.load[out[i - 1]] == r.load[out[i]] && out[i - 1] < out[i]));
	for (uint32_t g = 0; g < s.groups->n; g++) {
		uint32_t far = routed_farthest(s.dist, r.forest.root[g],
					       s.groups->sw + s.groups->sw_first[g],
					       fab_group_n_switches(s.groups, g));

		height = far > height ? far : height;
		for (uint64_t m = s.groups->first[g]; m < s.groups->first[g + 1]; m++)
			groups[s.groups->member[m]] += fab_group_size(s.groups, g) > 1;
	}
	for (uint32_t p = f->node_first_port[f->n_switches]; p < f->n_ports; p++)
		most = groups[p] > most ? groups[p] : most;
	cr_assert(test_reaches(most > efi.max));
	cr_assert_eq(efi.max_all, most > efi.max ? most : efi.max);
	cr_assert_eq(efi.max_height, height);
	/* of three cables in use none, one and all */
	few = FAB_NEW0(f->n_switch_links, uint32_t);
	few[1] = few[3] = 2;
	few[2] = 5;
	cr_assert_eq(fab_efi_fullest(f, few, NULL, 0, out), 0);
	cr_assert_eq(fab_efi_fullest(f, few, NULL, 1, out), 1);
	cr_assert_eq(out[0], 2);
	cr_assert_eq(fab_efi_fullest(f, few, NULL, 4, out), 3);
	cr_assert(out[0] == 2 && out[1] == 1 && out[2] == 3);
}

Test(mcast, verification_finds_planted_faults)
{
	FAB_AUTO(routed_fini) struct routed s;
	OWN(fab_mcast_result) r;
	struct fab_forest *t = &r.forest;
	uint32_t g = 0, *sw, *cable;

	setting_init(&s, 6);
	r = routed_by(&s.problem, fab_mcast_engines[0], NULL);
	while (fab_forest_size(t, g) < 4)
		g++;
	sw = t->sw + t->first[g];
	cable = t->cable + t->first[g];
	const struct {
		uint32_t *at, to;
		const char *what;
	} faults[] = {
		{cable, s.f->n_switch_links, "no cable between switches"},
		{cable, cable[2], ""},
		{sw, sw[1], "not at its switch"},
		{r.load, r.load[0] + 1, "stated"},
		{&t->root[g], !t->root[g], ""},
	};

	for (size_t i = 0; i < FAB_COUNT(faults); i++) {
		uint32_t was = *faults[i].at;

		*faults[i].at = faults[i].to;
		FAILS(fab_mcast_verify(&s.problem, &r, ERR), -EPROTO, faults[i].what);
		*faults[i].at = was;
	}
	t->height[g]++;
	FAILS(fab_mcast_verify(&s.problem, &r, ERR), -EPROTO, "is not as high as stated");
	t->height[g]--;
	/* the first group's last edge now belongs to the next group */
	t->first[g + 1]--;
	FAILS(fab_mcast_verify(&s.problem, &r, ERR), -EPROTO, "");
	t->first[g + 1]++;
	MUST(fab_mcast_verify(&s.problem, &r, ERR));
	sw[0] = sw[1];
	cable[0] = cable[1];
	FAILS(fab_mcast_verify(&s.problem, &r, ERR), -EPROTO, "has a loop");
}

static int stop_at_once(void *context, uint64_t done, uint64_t total)
{
	*(uint64_t *)context = done * 1000000 + total;
	return 1;
}

Test(mcast, progress_can_stop_it)
{
	uint64_t seen = 0;
	const struct fab_mcast_options options = {
		.n_threads = 1, .progress = stop_at_once, .progress_context = &seen};
	struct fab_mcast_result r[ROUTED_MAX_ENGINES];
	FAB_AUTO(routed_fini) struct routed s;
	double seconds;

	setting_init(&s, 1);
	cr_assert_eq(fab_mcast_route(&s.problem, fab_mcast_engines, fab_mcast_n_engines,
				     &options, r, &seconds, NULL),
		     -ECANCELED);
	cr_assert_eq(seen, s.groups->n * 1000001ull);
}
