/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/unicast_check.h"

#include "support/test.h"

struct fab_routes *test_route(const struct fab_unicast_problem *problem,
			      const char *engine)
{
	const struct fab_unicast_engine *e =
		fab_unicast_engine_find(engine, strlen(engine));
	struct fab_routes *r = NULL;

	cr_assert_not_null(e, "%s", engine);
	MUST(fab_unicast_fits(e, problem, ERR));
	MUST(fab_unicast_route(e, problem, &r, ERR));
	return r;
}

struct fab_analysis test_analysis(const struct fab_routes *routes, enum fab_ends ends)
{
	const struct fab_analysis_options options = {
		.ends = ends, .with_load = true, .n_threads = 1};
	struct fab_analysis j;

	MUST(fab_analyse(routes, &options, &j, ERR));
	return j;
}

struct kfat_net kfat_net_of(struct fab_fabric *f)
{
	struct kfat_net n = {.f = f, .faults = fab_faults_new(f)};

	MUST(fab_kfat_recognize(f, &n.k, ERR));
	return n;
}

struct kfat_net kfat_net(const char *spec, const char *dead)
{
	struct kfat_net n = kfat_net_of(test_gen_raw(spec));

	if (dead)
		MUST(fab_faults_add_switches(n.faults, dead, ERR));
	return n;
}

void kfat_net_fini(struct kfat_net *n)
{
	fab_faults_free(n->faults);
	fab_kfat_free(n->k);
	fab_fabric_free(n->f);
}

struct fab_flow_load test_load(const struct kfat_net *n, const struct fab_routes *r,
			       const char *permutation)
{
	OWN(fab_flow_ends) ends;
	const struct fab_permutation_problem problem = {n->f, n->k, &ends, 1};
	struct fab_flow_load load;
	OWN_HEAP uint32_t *to = NULL;

	fab_flow_ends_init(&ends, n->f, n->faults->switch_is_dead,
			   n->faults->cable_is_dead);
	MUST(fab_permutation_make(permutation, &problem, &to, ERR));
	fab_permutation_load(r, &ends, to, &load);
	return load;
}

struct fab_faults *test_faults(const struct fab_fabric *f, const char *switches)
{
	struct fab_faults *faults = fab_faults_new(f);

	MUST(fab_faults_add_switches(faults, switches, ERR));
	return faults;
}

void test_lane_tables(struct fab_routes *routes)
{
	const struct fab_fabric *f = routes->f;

	free(routes->vl_first);
	free(routes->sl2vl);
	routes->vl_first = FAB_NEW0((size_t)f->n_switches + 1, uint64_t);
	for (uint32_t s = 0; s < f->n_switches; s++) {
		uint64_t d = f->arc_first[s + 1] - f->arc_first[s] + 1;

		routes->vl_first[s + 1] = routes->vl_first[s] + d * d * 16;
	}
	routes->sl2vl = FAB_NEW(routes->vl_first[f->n_switches], uint8_t);
	routes->lanes = FAB_LANES_TABLE;
}

void test_draw_faults(struct fab_faults *faults, enum fab_fault_kind kind, size_t n,
		      struct fab_stream *stream)
{
	struct fab_fault_list list = {{0}};

	fab_faults_clear(faults);
	fab_faults_candidates(faults->f, kind, NULL, &list);
	fab_faults_draw(faults, &list, n, stream);
	free(list.of.v);
}

struct fab_routes *test_tables(const struct fab_fabric *f,
			       const struct fab_faults *faults, const char *engine,
			       unsigned max_vls)
{
	struct fab_unicast_problem problem = {
		.f = f, .faults = faults, .max_vls = max_vls, .n_threads = 1};
	OWN(fab_kfat) *kfat = NULL;

	if (fab_unicast_engine_find(engine, strlen(engine))->needs_kfat)
		MUST(fab_kfat_recognize(f, &kfat, ERR));
	problem.kfat = kfat;
	return test_route(&problem, engine);
}

struct fab_analysis test_verified(const struct fab_routes *routes, enum fab_ends ends)
{
	struct fab_analysis j = test_analysis(routes, ends);

	MUST(fab_unicast_verify(routes, ends, &j, ERR));
	return j;
}

static void expect_same_pairs(const struct fab_pair_list *a,
			      const struct fab_pair_list *b)
{
	cr_assert_eq(a->n, b->n);
	for (size_t i = 0; i < a->n; i++) {
		const struct fab_pairs *x = &a->v[i], *y = &b->v[i];

		cr_expect(x->at == y->at && x->from == y->from && x->to == y->to &&
			  x->pairs == y->pairs);
	}
}

void test_same_figures(const struct fab_analysis *a, const struct fab_analysis *b)
{
	cr_expect(a->pairs == b->pairs && a->connected == b->connected);
	cr_expect_eq(a->connected_in_graph, b->connected_in_graph);
	cr_expect_arr_eq(a->hops, b->hops, sizeof(a->hops));
	cr_expect(a->max_hops == b->max_hops && a->minimal == b->minimal);
	cr_expect_eq(a->cycle_channels, b->cycle_channels);
	cr_expect_eq(a->pairs_on_cycles, b->pairs_on_cycles);
	cr_expect_eq(a->valley_pairs, b->valley_pairs);
	cr_assert_eq(a->cycle.n, b->cycle.n);
}

void test_same_analysis(const struct fab_analysis *a, const struct fab_analysis *b)
{
	test_same_figures(a, b);
	cr_expect(a->vls == b->vls && a->sls == b->sls);
	for (size_t i = 0; i < a->cycle.n; i++) {
		const struct fab_channel *x = &a->cycle.v[i], *y = &b->cycle.v[i];

		cr_expect(x->sw == y->sw && x->arc == y->arc && x->vl == y->vl);
	}
	expect_same_pairs(&a->valleys, &b->valleys);
	expect_same_pairs(&a->unreached, &b->unreached);
}
