/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables analysed by walking every pair's path, one after the other. */
#include "unicast/analysis.h"

#include "support/plain.h"
#include "support/test.h"
#include "support/unicast_check.h"

enum { LANES = PLAIN_LANES };

/* Does a column's path explain why pairs are listed: a turn there, or an end? */
static bool explains(const struct plain *x, const struct fab_pairs *v, uint32_t column,
		     bool is_valley)
{
	struct plain_path p = plain_walk(x, v->from, column, 0);

	for (uint32_t k = 1; is_valley && p.arrives && k < p.n; k++)
		if (p.at[k] == v->at && plain_has_valley(x, &p) &&
		    x->rank[p.at[k + 1]] > x->rank[p.at[k]])
			return true;
	if (is_valley)
		return false;
	/* where it arrives, there is no service level */
	return p.arrives ? x->r->sl && v->at == v->from
			 : p.n == PLAIN_MAX_PATH || p.at[p.n] == v->at;
}

/* Pairs are named in order, with turns and ends of real paths, and add up. */
static void check_pairs(const struct plain *x, const struct fab_pair_list *list,
			uint64_t all, bool is_valley)
{
	uint64_t n = 0;

	for (size_t i = 0; i < list->n; i++) {
		const struct fab_pairs *v = &list->v[i], *before = v - 1;
		bool is_found = false, has_column = false;

		n += v->pairs;
		cr_expect(!i || before->to < v->to ||
			  (before->to == v->to && before->from < v->from));
		for (uint32_t c = 0; c < x->r->n_columns; c++)
			if (x->r->column_switch[c] == v->to) {
				has_column = true;
				is_found |= explains(x, v, c, is_valley);
			}
		cr_expect(is_found || (!is_valley && v->at == FAB_NONE &&
				       (x->r->column_lid || !has_column)));
	}
	cr_expect_leq(list->n, FAB_PAIRS_MAX - is_valley);
	if (list->n < FAB_PAIRS_MAX)
		cr_expect_eq(n, all);
}

/* Analyse in both manners. Returns whether there were cycles. */
static bool check(const struct fab_routes *r, enum fab_ends ends)
{
	struct fab_analysis_options options = {
		.ends = ends, .with_load = true, .n_threads = 2};
	OWN(fab_analysis) j;
	FAB_AUTO(plain_fini) struct plain x;
	uint64_t n_named[FAB_GAP_KINDS] = {0};
	bool has_gaps = false;

	plain_init(&x, r, ends);
	plain_analysis(&x);
	MUST(fab_analyse(r, &options, &j, ERR));
	MUST(fab_unicast_verify(r, ends, &j, ERR));
	test_same_figures(&j, &x.got);
	cr_expect_eq(j.unreachable, x.got.pairs - x.got.connected);
	cr_expect_eq(j.vls, (unsigned)__builtin_popcount(x.vls));
	cr_expect_eq(j.sls, (unsigned)__builtin_popcount(x.sls));
	for (int kind = FAB_GAP_SL; kind <= FAB_GAP_LANE; kind++) {
		has_gaps |= x.got.gaps.n[kind] > 0;
		cr_expect_eq(j.gaps.n[kind], r->files ? x.got.gaps.n[kind] : 0);
	}
	for (size_t i = 0; i < j.gaps.first.n; i++)
		n_named[j.gaps.first.v[i].kind]++;
	for (int kind = 0; kind < FAB_GAP_KINDS; kind++) /* the first of each kind */
		cr_expect_eq(n_named[kind], j.gaps.n[kind] < FAB_GAPS_NAMED
						    ? j.gaps.n[kind]
						    : FAB_GAPS_NAMED);
	cr_expect_eq(j.is_unknown, has_gaps && !x.got.cycle_channels);
	cr_expect_eq(j.deadlock_free, !has_gaps && !x.got.cycle_channels);
	for (uint32_t a = 0; a < x.n_arcs; a++)
		cr_expect_eq(j.load[a], x.load[a]);
	/* Channels of the cycle follow each other by dependencies. */
	for (size_t i = 0; i < j.cycle.n; i++) {
		const struct fab_channel *c = &j.cycle.v[i];
		const struct fab_channel *d = &j.cycle.v[(i + 1) % j.cycle.n];
		uint32_t from = (x.r->f->arc_first[c->sw] + c->arc) * LANES + c->vl;
		uint32_t to = (x.r->f->arc_first[d->sw] + d->arc) * LANES + d->vl;

		cr_expect_eq(x.reach[(size_t)from * x.n_channels + to], 1);
	}
	check_pairs(&x, &j.valleys, j.valley_pairs, true);
	check_pairs(&x, &j.unreached, j.unreachable, false);
	for (uint32_t s = 0; s < r->f->n_switches; s++)
		for (uint32_t a = r->f->arc_first[s]; a < r->f->arc_first[s + 1]; a++) {
			uint32_t n = 0;

			for (uint32_t c = 0; c < r->n_columns; c++)
				n += fab_routes_next(r, c)[s] == a - r->f->arc_first[s];
			cr_expect_eq(j.destinations[a], n);
		}
	return x.got.cycle_channels;
}

/* Switches in a random graph, some of them parallel cables; adapters and aggregation
 * nodes, some with two ports. */
static struct fab_fabric *random_fabric(struct fab_rng *rng)
{
	uint32_t n = 4 | test_below(rng, 4);
	uint32_t extra = 2 + test_below(rng, 6);
	struct plan plan = {{0}};

	plan_switches(&plan, n, "sw", 40);
	for (uint32_t s = 0; s < n + extra; s++) {
		uint32_t a = test_below(rng, n), b = a + 1 < n ? a + 1 : 0;

		if (s && s < n) { /* first a tree */
			b = test_below(rng, s);
			a = s;
		}
		plan_join(&plan, a, b);
	}
	for (uint32_t i = 0; i < 2 * n; i++) {
		uint32_t node = plan_adapter(&plan, "h HCA-1");
		unsigned n_cables = 1 + (fab_rng_below(rng, 4) == 0);

		if (!fab_rng_below(rng, 4))
			plan.nodes.v[node].kind = FAB_AGGREGATION;
		plan.nodes.v[node].n_ports = 2;
		while (n_cables--)
			plan_join(&plan, node, test_below(rng, n / 2 + 1));
	}
	return plan_end(&plan);
}

static void random_lanes(struct fab_rng *rng, struct fab_routes *r)
{
	const struct fab_fabric *f = r->f;
	bool by_node = fab_rng_below(rng, 2), has_none = fab_rng_below(rng, 2);

	r->lanes = (enum fab_lanes)fab_rng_below(rng, 3);
	if (fab_rng_below(rng, 4)) {
		r->sl_source = FAB_NEW(f->n_nodes, uint32_t);
		for (uint32_t i = 0; i < (by_node ? f->n_nodes : f->n_switches); i++)
			if (fab_rng_below(rng, 3))
				r->sl_source[r->n_sl_sources++] = i;
		r->sl = FAB_NEW((size_t)r->n_sl_sources * r->n_columns + 1, uint8_t);
		for (size_t i = 0; i < (size_t)r->n_sl_sources * r->n_columns; i++)
			r->sl[i] = (uint8_t)(has_none && !fab_rng_below(rng, 9)
						     ? FAB_SL_NONE
						     : fab_rng_below(rng, LANES));
	}
	if (r->lanes != FAB_LANES_TABLE)
		return;
	test_lane_tables(r);
	for (uint64_t i = 0; i < r->vl_first[f->n_switches]; i++)
		r->sl2vl[i] = (uint8_t)fab_rng_below(rng, LANES);
}

/* Some columns take the row of another one to the same switch. */
static void share_rows(struct fab_rng *rng, struct fab_routes *r)
{
	r->column_row = FAB_NEW(r->n_columns + 1, uint32_t);
	for (uint32_t c = 0; c < r->n_columns; c++) {
		r->column_row[c] = c;
		for (uint32_t b = 0; b < c; b++)
			if (r->column_switch[b] == r->column_switch[c] &&
			    fab_rng_below(rng, 2))
				r->column_row[c] = r->column_row[b];
	}
}

/* Lanes from some ports that no line tells: known where another port of the kind has one.
 */
static void random_lane_gaps(struct fab_rng *rng, struct fab_routes *r)
{
	const struct fab_fabric *f = r->f;
	struct fab_table_files *files = r->files;

	files->lane_first = FAB_NEW0(f->n_switches + 1, uint64_t);
	for (uint32_t s = 0; s < f->n_switches; s++)
		files->lane_first[s + 1] =
			files->lane_first[s] +
			(uint64_t)(f->node_first_port[s + 1] - f->node_first_port[s]) *
				(fab_degree(f, s) + 1);
	files->has_lane = FAB_NEW0(files->lane_first[f->n_switches] + 1, bool);
	for (uint32_t s = 0; s < f->n_switches; s++)
		for (uint32_t d = fab_degree(f, s) + 1, i = 0; i < d * d; i++) {
			bool is_any = false;

			for (uint32_t p = f->node_first_port[s];
			     p < f->node_first_port[s + 1]; p++) {
				bool is_given = fab_rng_below(rng, 15) > 0;

				if (plain_arc_of(f, s, p) != i / d)
					continue;
				files->has_lane[fab_lane_at(r, s, p, i % d)] = is_given;
				is_any |= is_given;
			}
			if (!is_any)
				memset(r->sl2vl + r->vl_first[s] + i * 16, FAB_VL_UNKNOWN,
				       16);
		}
}

/* Service levels and lanes that no file contains. */
static void random_gaps(struct fab_rng *rng, struct fab_routes *r)
{
	const struct fab_fabric *f = r->f;

	r->files = FAB_NEW0(1, struct fab_table_files);
	r->files->has_table = FAB_NEW(f->n_switches + 1, bool);
	memset(r->files->has_table, 1, f->n_switches);
	r->files->has_sls = r->files->has_lanes = true;
	if (r->sl && fab_rng_below(rng, 2))
		r->sl_default = FAB_SL_UNKNOWN;
	for (size_t i = 0; i < (size_t)r->n_sl_sources * r->n_columns; i++)
		if (!fab_rng_below(rng, 20))
			r->sl[i] = FAB_SL_UNKNOWN;
	if (r->sl2vl)
		random_lane_gaps(rng, r);
}

/* An in-tree to a switch, over any cables; unless it is sound some entries are spoiled.
 */
static void random_row(struct fab_rng *rng, const struct fab_routes *r, uint32_t sw,
		       bool is_sound, uint16_t *next)
{
	static const uint16_t spoiled[] = {
		FAB_ARC_NONE, FAB_ARC_BROKEN, 0, 1, FAB_ARC_HERE, 999};
	const struct fab_fabric *f = r->f;

	for (uint32_t s = 0; s < f->n_switches; s++)
		next[s] = s == sw ? FAB_ARC_HERE : FAB_ARC_NONE;
	for (uint32_t tries = 40 * f->n_switches; tries--;) {
		uint32_t s = test_below(rng, f->n_switches), a;

		if (next[s] != FAB_ARC_NONE || !fab_degree(f, s))
			continue;
		a = test_below(rng, fab_degree(f, s));
		if (next[f->arc_peer[f->arc_first[s] + a]] != FAB_ARC_NONE &&
		    plain_arc_is_live(r, s, f->arc_first[s] + a))
			next[s] = (uint16_t)a;
	}
	for (uint32_t s = 0; !is_sound && s < f->n_switches; s++)
		if (!fab_rng_below(rng, 3 * (uint64_t)f->n_switches))
			next[s] = spoiled[fab_rng_below(rng, FAB_COUNT(spoiled))];
}

static struct fab_routes *random_routes(struct fab_rng *rng, const struct fab_fabric *f,
					const struct fab_faults *faults, bool by_lid)
{
	uint32_t n = by_lid ? f->n_ports : f->n_switches, c = 0;
	struct fab_routes *r = fab_routes_new(f, faults, n);
	bool is_sound = fab_rng_below(rng, 2);

	if (by_lid) {
		r->column_port = FAB_NEW(n, uint32_t);
		r->column_lid = FAB_NEW(n, uint16_t);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t sw = by_lid ? fab_port_switch(f, i) : i;

		if ((by_lid && fab_node_is_switch(f, f->port_node[i]) &&
		     f->port_num[i]) ||
		    sw == FAB_NONE || (!is_sound && !fab_rng_below(rng, 6)))
			continue;
		if (by_lid) {
			r->column_port[c] = i;
			r->column_lid[c] = (uint16_t)(c + 1);
		}
		r->column_switch[c] = sw;
		random_row(rng, r, sw, is_sound, r->next + (size_t)c++ * f->n_switches);
	}
	r->n_columns = c;
	if (by_lid && fab_rng_below(rng, 2))
		share_rows(rng, r);
	random_lanes(rng, r);
	if (by_lid && r->lanes != FAB_LANES_ONE && fab_rng_below(rng, 2))
		random_gaps(rng, r);
	return r;
}

Test(analysis, as_walking_every_path)
{
	unsigned n_cycles = 0, n_sound = 0;

	for (uint64_t seed = 0; seed < 2000; seed++) {
		struct fab_rng rng = test_rng(seed);
		OWN(fab_fabric) *f = random_fabric(&rng);
		OWN(fab_faults) *faults = fab_faults_new(f);
		OWN(fab_routes) *r = NULL;

		if (!fab_rng_below(&rng, 3))
			fab_faults_kill_switch(faults, test_below(&rng, f->n_switches));
		if (!fab_rng_below(&rng, 2))
			fab_faults_kill_cable(faults, test_below(&rng, f->n_cables));
		r = random_routes(&rng, f, faults, seed % 2);
		if (check(r, (enum fab_ends)(seed / 2 % 4)))
			n_cycles++;
		else
			n_sound++;
	}
	cr_expect_gt(n_cycles, 50, "%u", n_cycles);
	cr_expect_gt(n_sound, 50);
}

Test(analysis, lane_for_management_is_refused)
{
	struct fab_analysis_options options = {.ends = FAB_ENDS_LEAVES, .n_threads = 1};
	OWN(fab_analysis) j;
	OWN(fab_fabric) *f = test_gen("mesh:dims=4");
	OWN(fab_routes) *r = test_tables(f, NULL, "dor", 1);

	cr_assert(r->n_columns == 4 && !r->column_switch[0] && !r->sl);
	r->lanes = FAB_LANES_SL;
	r->n_sl_sources = 1;
	r->sl_source = FAB_NEW0(1, uint32_t);
	r->sl = FAB_NEW0(4, uint8_t);
	r->sl[0] = 15; /* from a switch to itself: no lane */
	MUST(fab_analyse(r, &options, &j, ERR));
	fab_analysis_fini(&j);
	r->sl[2] = 15;
	FAILS(fab_analyse(r, &options, &j, ERR), 0, "lane 15");
	fab_analysis_fini(&j);
	r->sl[2] = 16;
	FAILS(fab_analyse(r, &options, &j, ERR), 0, "service level");
}

/* Hops are counted one by one up to 254; what is longer is counted together. Large enough
 * for threads to be started, which change nothing. */
Test(analysis, hundreds_of_hops_on_any_threads)
{
	enum { N = 258, LONG = 255 };
	OWN(fab_fabric) *f = test_gen_raw("mesh:dims=258,hosts=1");
	OWN(fab_routes) *r = test_tables(f, NULL, "minhop", 1);
	OWN(fab_analysis) j = test_analysis(r, FAB_ENDS_HOSTS), b;
	const struct fab_analysis_options options = {
		.ends = FAB_ENDS_HOSTS, .with_load = true, .n_threads = 5};

	cr_expect(j.connected == N * (N - 1) && j.max_hops == N - 1);
	for (uint32_t h = 1; h < LONG; h++)
		cr_expect_eq(j.hops[h], 2 * (N - h), "%u hops", h);
	cr_expect_eq(j.hops[LONG],
		     2 * (N - LONG) + 2 * (N - LONG - 1) + 2 * (N - LONG - 2));
	MUST(fab_analyse(r, &options, &b, ERR));
	test_same_analysis(&j, &b);
	cr_expect_arr_eq(j.load, b.load, f->arc_first[f->n_switches] * sizeof(*j.load));
}
