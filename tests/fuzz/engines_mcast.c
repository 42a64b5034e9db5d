/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-mcroute does with a fabric: groups by chance, every engine, tables. */
#include "engines.h"
#include "export/tables.h"
#include "mcast/bounds.h"
#include "mcast/engine/state.h"
#include "mcast/tables.h"

#include <math.h>

enum { GROUPS_MAX = 6, MEMBERS_MAX = 7, ENGINES_MAX = 16 };

static const char *const patterns[] = {
	"random:groups=6,size=2-4",
	"tree:fanout=2",
	"grid:2x2",
	"random:groups=3,size=3,ppn=2",
	"tree:fanout=3,per=host",
	"grid:2x2x2,order=lid",
	"random:groups=40,size=2",
	"random:groups=9,size=1-3,per=host,order=name",
};

/* Ports that a member may have, on the piece of the fabric `in`, or anywhere. */
static uint32_t list_endpoints(const struct fab_fabric *f, const uint32_t *piece,
			       uint32_t in, uint32_t *out)
{
	uint32_t n = 0;

	for (uint32_t p = 0; p < f->n_ports; p++) {
		bool is_switch = fab_node_is_switch(f, f->port_node[p]);
		uint32_t sw = fab_port_switch(f, p);

		if ((!is_switch || !f->port_num[p]) &&
		    (in == FAB_NONE || (sw != FAB_NONE && piece[sw] == in)))
			out[n++] = p;
	}
	return n;
}

static void add_groups(const struct fab_fabric *f, struct fuzz_draw *d,
		       struct fab_groups_builder *b, const uint32_t *piece)
{
	FAB_AUTOFREE uint32_t *end = FAB_NEW((size_t)f->n_ports + 1, uint32_t);
	uint32_t n_groups = 1 + fuzz_below(d, GROUPS_MAX);

	for (uint32_t g = 0; g < n_groups; g++) {
		uint32_t at = fuzz_byte(d), size = 1 + fuzz_below(d, MEMBERS_MAX);
		uint32_t n = list_endpoints(
			f, piece, at >= 250 ? FAB_NONE : piece[at % f->n_switches], end);

		fab_groups_builder_begin(b, (char[]){'g', (char)('0' + g)}, 2);
		for (uint32_t i = 0; i < size && n; i++)
			fab_groups_builder_add(b, end[fuzz_below(d, n)]);
	}
}

/* Members of a group hang on one piece, whatever was asked for. NULL: there are none. */
static struct fab_groups *draw_groups(const struct fab_fabric *f, struct fuzz_draw *d)
{
	struct fab_groups_builder *b = fab_groups_builder_new(f);
	uint32_t how = fuzz_byte(d);
	FAB_AUTOFREE uint32_t *piece = fuzz_pieces(f);
	struct fab_groups *g = NULL;

	if (how < 128 || is_refused(fab_groups_add_pattern(
				 b, patterns[how % FAB_COUNT(patterns)], 1, ERR)))
		add_groups(f, d, b, piece);
	if (is_refused(fab_groups_builder_finish(b, how & 1, &g, ERR)))
		return NULL;
	for (uint32_t i = 0; i < g->n; i++)
		for (uint64_t m = g->first[i]; m < g->first[i + 1]; m++)
			MUST(piece[fab_port_switch(f, g->member[m])] ==
			     piece[g->sw[g->sw_first[i]]]);
	return g;
}

/* Written tables are trees that reach every member, with the loads that were stated. */
static void write_and_read(const struct fab_mcast_problem *problem,
			   const struct fab_mcast_result *r)
{
	FAB_AUTOFREE uint16_t *mlid = FAB_NEW(problem->groups->n, uint16_t);
	FAB_AUTO(fuzz_file_fini) struct fuzz_file tables = {0}, trees = {0};
	struct fab_loaded loaded;
	struct fab_mft *mft;

	OK(fab_groups_give_mlids(problem->groups, mlid, ERR));
	if (!is_refused(fuzz_close(&tables, fab_export_mcfdbs(fuzz_open(&tables), problem,
							      r, mlid, ERR))) &&
	    tables.n) {
		OK(fab_mcfdbs_read(problem->f, "t", tables.text, tables.n, false, &mft,
				   ERR));
		fab_loaded_of(problem->f, problem->groups, mlid, mft, NULL, &loaded);
		MUST(!loaded.n_broken);
		MUST(!memcmp(loaded.load, r->load,
			     problem->f->n_switch_links * sizeof(*r->load)));
		fab_loaded_fini(&loaded);
		fab_mft_free(mft);
	}
	OK(fuzz_close(&trees, fab_export_trees(fuzz_open(&trees), problem, r, ERR)));
}

static void route_all(const struct fab_mcast_problem *problem,
		      const struct fab_mcast_options *options, bool writes)
{
	struct fab_mcast_result results[ENGINES_MAX];
	const struct fab_mcast_options work = {.n_threads = 1};
	uint32_t bound = fab_mcast_lower_bound(problem);
	FAB_AUTO(fab_bound_fini) struct fab_bound dual;
	double seconds;

	fab_mcast_dual_bound(problem, &work, 1000000, &dual);
	OK(fab_mcast_route(problem, fab_mcast_engines, fab_mcast_n_engines, options,
			   results, &seconds, ERR));
	for (size_t i = 0; i < fab_mcast_n_engines; i++) {
		struct fab_efi efi;

		fuzz_who = results[i].engine->name;
		OK(fab_mcast_verify(problem, &results[i], ERR));
		fab_efi_of(problem, &results[i], &efi);
		MUST(bound <= efi.max && dual.value <= efi.max);
		if (writes)
			write_and_read(problem, &results[i]);
		fab_mcast_result_fini(&results[i]);
	}
}

static uint64_t route_live(void *live, uint32_t group, const fab_port_id *member,
			   uint32_t n)
{
	return fab_live_route(live, group, member, n);
}

void fuzz_replay(const struct fab_fabric *f, const struct fab_dist *dist,
		 const struct fab_events *e, const struct fab_mcast_engine *engine,
		 const struct fab_lifecycle_options *options)
{
	struct fab_live *live =
		fab_live_new(f, dist, e->groups->n, engine, FAB_TIES_SPREAD);
	const struct fab_lifecycle_router router = {.route = route_live, .context = live};
	struct fab_lifecycle_outcome out;
	FAB_AUTO(fab_mcast_result_fini) struct fab_mcast_result result;
	FAB_AUTO(fab_groups_free_at) struct fab_groups *alive = NULL;

	fab_lifecycle_replay(e, options, &router, &out);
	OK(fab_live_result(live, e->groups, &alive, &result, ERR));
	MUST(out.alive == (alive ? alive->n : 0));
	MUST(out.lost + out.repeated + out.refused <= e->n);
	if (alive)
		OK(fab_mcast_verify(&(struct fab_mcast_problem){f, dist, alive}, &result,
				    ERR));
	fab_live_free(live);
}

/* Groups that come and go, by one engine and all behaviours. */
static void replay(const struct fab_mcast_problem *problem, struct fuzz_draw *d)
{
	static const char spec[] = "random:groups=8,size=2-3,gap=1us,skew=2us,hold=4us,"
				   "loss=0.2,retry=1us";
	const struct fab_mcast_engine *engine =
		fab_mcast_engines[fuzz_below(d, (uint32_t)fab_mcast_n_engines)];
	struct fab_events *events = NULL;

	if (is_refused(fab_events_generate(problem->f, spec, fuzz_byte(d), &events, ERR)))
		return;
	for (int how = FAB_LIFECYCLE_BATCHED; how < FAB_LIFECYCLE_N_BEHAVIOURS; how++)
		fuzz_replay(problem->f, problem->dist, events, engine,
			    &(struct fab_lifecycle_options){
				    .behaviour = (enum fab_lifecycle_behaviour)how,
				    .compute_ns = 1000,
				    .timeout_ns = 20000});
	fab_events_free(events);
}

/* A demand: none, of few digits or many, or one that is far above the others. */
static double draw_demand(struct fuzz_draw *d, uint32_t kind, uint32_t group)
{
	static const double some[] = {0, 0.5, 1, 1, 7.25, 1e-9, 948, FAB_DEMAND_MAX};

	if (kind < 3)
		return (double[]){0, 0.1, group ? 1 : FAB_DEMAND_MAX}[kind];
	return kind == 3 ? FAB_DEMAND_MAX / (1 + fuzz_byte(d) * 257.0)
			 : some[fuzz_below(d, FAB_COUNT(some))];
}

/* Both engines that heed demands: optimal is not above balanced, height slack makes none
 * worse, and no load is below the bound. */
static void weigh(const struct fab_mcast_problem *problem, struct fuzz_draw *d)
{
	const struct fab_mcast_engine *const engines[] = {&fab_mcast_balanced,
							  &fab_mcast_optimal};
	struct fab_mcast_problem weighted = *problem;
	struct fab_mcast_options options = {.n_threads = 1};
	uint32_t kind = fuzz_below(d, 6);
	FAB_AUTOFREE double *demand = FAB_NEW((size_t)problem->groups->n + 1, double);
	double last[] = {HUGE_VAL, HUGE_VAL};
	struct fab_weights *weights;

	for (uint32_t g = 0; g < problem->groups->n; g++)
		demand[g] = draw_demand(d, kind, g);
	OK(fab_weights_new(problem->f, problem->groups, demand, false, &weights, ERR));
	weighted.weights = kind == 5 ? NULL : weights; /* and without demands */
	if (weighted.weights)
		options.load_bound = fab_mcast_load_bound(&weighted);
	for (; options.height_slack < 2; options.height_slack++) {
		struct fab_mcast_result results[2];
		double seconds, level[2];

		OK(fab_mcast_route(&weighted, engines, 2, &options, results, &seconds,
				   ERR));
		for (int i = 0; i < 2; i++) {
			struct fab_efi efi;

			fuzz_who = engines[i]->name;
			OK(fab_mcast_verify(&weighted, &results[i], ERR));
			fab_efi_of(&weighted, &results[i], &efi);
			level[i] = weighted.weights ? efi.max_load : efi.max;
			MUST(options.load_bound <= level[i] * (1 + 1e-9) &&
			     level[i] <= last[i] * (1 + 1e-9));
			last[i] = level[i];
			fab_mcast_result_fini(&results[i]);
		}
		MUST(level[1] <= level[0] * (1 + 1e-9));
	}
	fab_weights_free(weights);
}

void fuzz_mcast(const struct fab_fabric *f, struct fuzz_draw *d)
{
	struct fab_mcast_options options = {.n_threads = 1};
	/* sharing: few multicast LIDs */
	FAB_AUTO(fab_groups_free_at) struct fab_groups *groups = draw_groups(f, d);
	FAB_AUTO(fab_groups_free_at) struct fab_groups *sharing = NULL;
	struct fab_mcast_problem problem = {.f = f, .groups = groups};
	FAB_AUTO(fab_dist_free_at) struct fab_dist *dist = NULL;

	OK(fab_dist_new(f, 1, &dist, ERR));
	problem.dist = dist;
	options.root_ties = (enum fab_root_ties)fuzz_below(d, 2);
	if (groups) {
		route_all(&problem, &options, true);
		if (!is_refused(fab_groups_share(f, groups, 1 + fuzz_below(d, 3),
						 &sharing, ERR)))
			route_all(&(struct fab_mcast_problem){f, dist, sharing}, &options,
				  false);
		replay(&problem, d);
		weigh(&problem, d);
	}
}
