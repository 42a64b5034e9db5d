/* SPDX-License-Identifier: BSD-2-Clause */
/* Planted loops and their remedies, each checked by a second computation. */
#include "unicast/cure.h"

#include "support/test.h"
#include "support/unicast_check.h"
#include "unicast/effect.h"

static struct fab_unicast_problem problem_of(const struct fab_fabric *f)
{
	return (struct fab_unicast_problem){.f = f, .max_vls = 2, .n_threads = 1};
}

/* What minhop makes of a fabric. */
struct looped {
	struct fab_fabric *f;
	struct fab_routes *r;
	struct fab_analysis loop;
	struct fab_cures cures;
};

/* Takes the fabric. */
static struct looped looped_of(struct fab_fabric *f)
{
	struct looped x = {.f = f, .r = test_tables(f, NULL, "minhop", 2)};

	x.loop = test_analysis(x.r, FAB_ENDS_HOSTS);
	return x;
}

static int find_cures(struct looped *x, fab_progress_fn progress)
{
	const struct fab_unicast_problem problem = problem_of(x->f);
	const struct fab_cure_options options = {.cpu_seconds = 5, .progress = progress};

	return fab_cures_find(&problem, &fab_unicast_minhop, &x->loop, &options,
			      &x->cures, ERR);
}

static void looped_fini(struct looped *x)
{
	fab_cures_fini(&x->cures);
	fab_analysis_fini(&x->loop);
	fab_routes_free(x->r);
	fab_fabric_free(x->f);
}

OWN_VALUE(looped, looped_fini)

static bool is_forbidden(const struct fab_cure *c, uint32_t from, uint32_t to)
{
	for (size_t i = 0; i < c->n_switch_pairs; i++)
		if (c->pairs[i].from == from && c->pairs[i].to == to)
			return true;
	return false;
}

/* Dependencies of arcs by every path between hosts that the cure does not forbid, on one
 * lane; then arcs that nothing leads to are taken away until nothing changes. */
static bool has_loop(const struct fab_routes *r, const struct fab_cure *c)
{
	const struct fab_fabric *f = r->f;
	uint32_t n = f->arc_first[f->n_switches];
	OWN_HEAP bool *follows = FAB_NEW0((size_t)n * n + 1, bool);
	OWN_HEAP bool *is_left = FAB_NEW0(n + 1, bool);
	bool changed = true;

	for (uint32_t column = 0; column < r->n_columns; column++)
		for (uint32_t s = 0; s < f->n_switches; s++) {
			struct fab_path p = fab_path_from(r, s, column);
			uint32_t before = FAB_NONE;

			if (!test_n_hosts_on(f, s) ||
			    is_forbidden(c, s, r->column_switch[column]) ||
			    fab_node_is_switch(f, f->port_node[r->column_port[column]]))
				continue;
			while (fab_path_step(&p)) {
				if (before != FAB_NONE)
					follows[(size_t)before * n + p.arc] = true;
				before = p.arc;
			}
		}
	memset(is_left, true, n);
	while (changed) {
		changed = false;
		for (uint32_t a = 0; a < n; a++) {
			bool leads = false;

			for (uint32_t b = 0; b < n && is_left[a] && !leads; b++)
				leads = is_left[b] && follows[(size_t)a * n + b];
			changed |= is_left[a] && !leads;
			is_left[a] = leads;
		}
	}
	return memchr(is_left, true, n);
}

/* Route and analyse what the cure leaves, and look at every path. */
static void expect_cured(const struct looped *x, const struct fab_cure *c)
{
	OWN(fab_fabric) *left = c->edit ? test_edited(x->f, c->edit) : NULL;
	struct fab_unicast_problem problem = problem_of(left ? left : x->f);
	OWN(fab_routes) *r = NULL;
	OWN(fab_analysis) j;

	problem.fills_roots = c->kind == FAB_CURE_ROOTS;
	r = test_route(&problem, c->engine->name);
	j = test_verified(r, FAB_ENDS_HOSTS);
	cr_assert_eq(j.unreachable, x->loop.unreachable);
	if (c->kind != FAB_CURE_PAIRS) {
		cr_assert_eq(c->n_pairs, 0);
		cr_assert(j.deadlock_free);
	} else {
		cr_assert(c->n_pairs > 0 && c->n_pairs < j.pairs);
	}
	if (r->lanes == FAB_LANES_ONE && r->column_lid)
		cr_assert_not(has_loop(r, c), "%s", c->edit ? c->edit : "pairs");
	cr_assert_eq(j.max_hops, c->kind == FAB_CURE_PAIRS ? j.max_hops : c->max_hops);
}

enum { TREES = 100, PARTS = 10 };

/* A random fat tree with free ports at its leaves. */
static struct fab_fabric *draw_tree(struct fab_rng *rng)
{
	uint32_t k = 2 + test_below(rng, 2); /* leaves of a pod */
	uint32_t pods = 3 + test_below(rng, 3), w = 2 + test_below(rng, 2);
	bool is_pgft = test_below(rng, 2);
	uint32_t more = 1 + test_below(rng, 2);
	OWN_HEAP char *spec =
		is_pgft ? fab_format("pgft:m=1/%u/%u,w=1/%u/%u,p=1/1/%u", k, pods, w, w,
				     more)
			: fab_format("fattree:radix=%u,levels=3,hosts=1", 2 + 2 * more);

	return test_gen_raw(spec);
}

/* Does the edit take out the cable between two switches, and only that? */
static bool is_without(const struct fab_fabric *f, const char *edit, uint32_t a,
		       uint32_t b)
{
	OWN(fab_fabric) *left = test_edited(f, edit);

	for (uint32_t x = left->arc_first[a]; x < left->arc_first[a + 1]; x++)
		if (left->arc_peer[x] == b)
			return false;
	return left->n_cables + 1 == f->n_cables;
}

/* In each of 100 random trees a cable between two leaves closes a loop of minhop: it is
 * found, alone, and first among the cables to leave out. */
TEST_EACH(part, PARTS, cure, planted)
{
	struct fab_rng rng = test_rng(7 + (uint64_t)*part);

	for (int found = 0, tried = 0; found < TREES / PARTS / TEST_SHARE; tried++) {
		OWN(fab_fabric) *tree = draw_tree(&rng);
		uint32_t a = test_below(&rng, tree->n_switches);
		uint32_t b = test_below(&rng, tree->n_switches);
		const struct fab_cure *first = NULL; /* that leaves out */
		OWN(looped) x = {.f = NULL};

		cr_assert_lt(tried, 4000);
		if (a == b || !test_n_hosts_on(tree, a) || !test_n_hosts_on(tree, b))
			continue;
		x = looped_of(test_with_cable(tree, a, b));
		if (x.loop.deadlock_free)
			continue;
		found++;
		MUST(find_cures(&x, NULL));
		for (size_t i = 0; i < x.cures.of.n; i++) {
			const struct fab_cure *c = &x.cures.of.v[i];

			expect_cured(&x, c);
			cr_assert(!i || c->n_cables >= c[-1].n_cables || !c->n_cables);
			if (c->kind == FAB_CURE_REMOVE && !first)
				first = c;
		}
		cr_assert_not_null(first, "%s and %s", fab_node_name(x.f, a),
				   fab_node_name(x.f, b));
		cr_assert_eq(first->n_cables, 1);
		cr_assert(is_without(x.f, first->edit, a, b), "%s and %s: %s",
			  fab_node_name(x.f, a), fab_node_name(x.f, b), first->edit);
	}
}

/* Fabrics of no shape, with cables whose loss cuts hosts off: no cure does that. */
Test(cure, shapeless)
{
	int n_loops = 0, n_cured = 0;

	for (uint64_t seed = 1; seed <= 40; seed++) {
		OWN(looped) x = looped_of(test_random_fabric(14, 8, 1, seed));

		if (x.loop.deadlock_free)
			continue;
		n_loops++;
		MUST(find_cures(&x, NULL));
		for (size_t i = 0; i < x.cures.of.n; i++) {
			expect_cured(&x, &x.cures.of.v[i]);
			n_cured += x.cures.of.v[i].edit != NULL;
		}
	}
	cr_assert_gt(n_loops, 5);
	cr_assert_gt(n_cured, 5);
}

static int stop(void *context, uint64_t done, uint64_t total)
{
	(void)context;
	(void)total;
	return done >= 1;
}

Test(cure, stopped)
{
	OWN(fab_fabric) *tree = test_gen_raw("fattree:radix=6,levels=3,hosts=1");
	int n = 0;

	for (uint32_t b = 1; b < tree->n_switches && test_n_hosts_on(tree, b); b++) {
		OWN(looped) x = looped_of(test_with_cable(tree, 0, b));

		if (x.loop.deadlock_free)
			continue;
		n++;
		cr_assert_eq(find_cures(&x, stop), -ECANCELED);
	}
	cr_assert_gt(n, 0);
}

/* Hosts of a leaf that is drained reach few of the others: they are lost, the others not;
 * a fabric that falls into halves loses none by this rule. */
Test(cure, lost_ports)
{
	static const struct {
		const char *spec, *edits, *sw; /* of the ports, NULL: of several */
		uint32_t lost, hosts;
	} cases[] = {{"fattree:radix=8,levels=2,hosts=2",
		      "remove leaf-1; remove h0/1; move leaf-2:1 leaf-0:8", NULL, 3, 3},
		     {"fattree:radix=8,levels=2,hosts=2", "drain leaf-1", "leaf-1", 2, 0},
		     {"torus:dims=2,hosts=3", "drain sw-0", NULL, 0, 0}};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		OWN(fab_fabric) *f = test_gen_raw(cases[i].spec);
		OWN(fab_fabric) *after = test_edited(f, cases[i].edits);
		struct fab_lost_ports lost;

		fab_effect_lost_ports(f, after, NULL, &lost);
		cr_assert_eq(lost.of.n, cases[i].lost);
		cr_assert_eq(fab_effect_count_hosts(after, NULL).hosts,
			     f->n_hosts - cases[i].hosts);
		for (size_t k = 0; k < lost.of.n && cases[i].sw; k++)
			cr_assert_eq(fab_port_switch(f, lost.of.v[k].port),
				     test_switch(f, cases[i].sw));
		free(lost.of.v);
	}
}
