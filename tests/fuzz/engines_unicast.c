/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-faults does with a fabric: faults by chance, every engine, tables. */
#include "engines.h"
#include "export/tables.h"
#include "unicast/criticality.h"
#include "unicast/lfts.h"
#include "unicast/reliability.h"

enum { FAULTS_MAX = 5, STEPS_MAX = 20000 };

static struct fab_faults *draw_faults(const struct fab_fabric *f, struct fuzz_draw *d)
{
	struct fab_faults *faults = fab_faults_new(f);

	for (uint32_t n = fuzz_below(d, FAULTS_MAX + 1); n; n--) {
		uint32_t kind = fuzz_below(d, 4);

		if (!kind)
			fab_faults_kill_switch(faults, fuzz_below(d, f->n_switches));
		else if (kind == 1)
			fab_faults_kill_cable(faults, fuzz_below(d, f->n_cables));
		else if (f->n_switch_links)
			fab_faults_kill_cable(faults, fuzz_below(d, f->n_switch_links));
	}
	return faults;
}

/* By all kinds of ends, and a second time. */
static void analyse(const struct fab_routes *r)
{
	for (int ends = FAB_ENDS_LEAVES; ends <= FAB_ENDS_ALL; ends++) {
		const struct fab_analysis_options options = {
			.ends = (enum fab_ends)ends, .with_load = true, .n_threads = 1};
		FAB_AUTO(fab_analysis_fini) struct fab_analysis j = {0};
		uint64_t hops = 0;

		OK(fab_analyse(r, &options, &j, ERR));
		for (size_t i = 0; i < FAB_COUNT(j.hops); i++)
			hops += j.hops[i];
		MUST(j.connected + j.unreachable == j.pairs && hops == j.connected);
		MUST(j.connected <= j.connected_in_graph &&
		     j.connected_in_graph <= j.pairs);
		MUST(j.minimal <= j.connected && j.pairs_on_cycles <= j.connected);
		MUST(j.deadlock_free == !j.cycle.n &&
		     j.deadlock_free == !j.cycle_channels);
		OK(fab_unicast_verify(r, (enum fab_ends)ends, &j, ERR));
	}
}

/* As a file in memory; NULL: refused. */
static char *written(int (*write)(FILE *out, const struct fab_routes *r,
				  struct fab_err *err),
		     const struct fab_routes *r)
{
	struct fuzz_file file = {0};

	if (!is_refused(fuzz_close(&file, write(fuzz_open(&file), r, ERR))))
		return file.text;
	free(file.text);
	return NULL;
}

/* Tables that were read back, of `f` with `faults`, come to the same. */
static void compare(const struct fab_routes *ours, const struct fab_fabric *f,
		    const struct fab_faults *faults, const char *tables, const char *sls,
		    const char *lanes)
{
	FAB_AUTO(fab_analysis_fini) struct fab_analysis want = {0}, got = {0};
	FAB_AUTO(fab_routes_free_at) struct fab_routes *r = NULL;

	OK(fuzz_analyse_hosts(ours, &want));
	OK(fab_routes_from_lfts(f, faults, "tables", tables, strlen(tables), &r, ERR));
	OK(fab_routes_add_path_sl(r, "sls", sls, strlen(sls), ERR));
	OK(fab_routes_add_sl2vl(r, "lanes", lanes, strlen(lanes), ERR));
	OK(fuzz_analyse_hosts(r, &got));
	MUST(got.connected == want.connected && got.max_hops == want.max_hops &&
	     got.deadlock_free == want.deadlock_free);
}

static void write_and_read(const struct fab_routes *r)
{
	FAB_AUTOFREE char *lfts = written(fab_export_lfts, r);
	FAB_AUTOFREE char *fdbs = written(fab_export_fdbs, r);
	FAB_AUTOFREE char *sls = written(fab_export_path_sl, r);
	FAB_AUTOFREE char *lanes = written(fab_export_sl2vl, r);
	FAB_AUTO(fab_fabric_free_at) struct fab_fabric *rest = NULL, *left = NULL;
	FAB_AUTOFREE char *text = NULL;
	size_t n;

	MUST(!lfts == !fdbs);
	/* what is left of the fabric, as a file and read again */
	if (!is_refused(fab_fabric_without(r->f, r->faults, &rest, ERR)))
		text = fuzz_export(fab_export_subnet_lst, rest, &n);
	if (text)
		OK(fab_source_parse("left", text, n, NULL, &left, ERR));
	/* without a live cable there is no table */
	if (left && lfts && sls && lanes) {
		compare(r, r->f, r->faults, lfts, sls, lanes);
		compare(r, left, NULL, fdbs, sls, lanes);
	}
}

static void send(const struct fab_routes *r, const struct fab_kfat *k)
{
	static const char *const specs[] = {"shift:1", "reverse", "random", "transpose"};
	FAB_AUTO(fab_flow_ends_fini) struct fab_flow_ends ends;
	const struct fab_permutation_problem problem = {r->f, k, &ends, 1};
	struct fab_flow_load load;
	uint32_t *to = NULL;

	fab_flow_ends_init(&ends, r->f, r->faults ? r->faults->switch_is_dead : NULL,
			   r->faults ? r->faults->cable_is_dead : NULL);
	for (size_t i = 0; i < FAB_COUNT(specs); i++) {
		if (is_refused(fab_permutation_make(specs[i], &problem, &to, ERR)))
			continue;
		fab_permutation_load(r, &ends, to, &load);
		MUST(load.lost <= load.flows && load.max <= load.flows);
		free(to);
	}
}

/* What its parts are worth, and what may happen to it. */
static void ask(const struct fab_unicast_problem *problem,
		const struct fab_unicast_engine *engine, const struct fab_routes *r,
		bool routes_anew)
{
	const struct fab_trials trials = {.kfat = problem->kfat,
					  .engine = engine,
					  .max_vls = problem->max_vls,
					  .seed = 1,
					  .n_trials = 2,
					  .n_threads = 1};
	const struct fab_losses_options options = {.steps = STEPS_MAX};
	struct fab_losses losses = {.of = {.n = 0}};
	struct fab_reliability reliability;
	struct fab_local_reroute reroute;

	if (!is_refused(fab_losses_rank(problem, routes_anew ? engine : NULL, r, &options,
					&losses, ERR)))
		free(losses.of.v);
	send(r, problem->kfat);
	if (!problem->kfat)
		return;
	is_refused(fab_local_reroute_all(problem->kfat, problem->faults,
					 FAB_REROUTE_LISTS, 1, 1, &reroute, ERR));
	if (!problem->faults->named.n)
		is_refused(fab_reliability_try(&trials, 1, &reliability, ERR));
}

struct fab_routes *fuzz_tables(const struct fab_unicast_problem *problem,
			       const struct fab_unicast_engine *engine)
{
	struct fab_routes *r;

	fuzz_who = engine->name;
	if (is_refused(fab_unicast_fits(engine, problem, ERR)) ||
	    is_refused(fab_unicast_route(engine, problem, &r, ERR)))
		return NULL;
	return r;
}

void fuzz_unicast(const struct fab_fabric *f, struct fuzz_draw *d)
{
	FAB_AUTO(fab_faults_free_at) struct fab_faults *faults = draw_faults(f, d);
	struct fab_unicast_problem problem = {.f = f, .faults = faults, .n_threads = 1};
	FAB_AUTO(fab_kfat_free_at) struct fab_kfat *k = NULL;
	FAB_AUTO(fab_routes_free_at) struct fab_routes *whole = NULL;
	uint32_t asked = fuzz_below(d, (uint32_t)fab_unicast_n_engines);

	if (!is_refused(fab_kfat_recognize(f, &k, ERR)))
		problem.kfat = k;
	problem.max_vls = 1 + fuzz_below(d, 4);
	for (size_t i = 0; i < fab_unicast_n_engines; i++) {
		const struct fab_unicast_engine *engine = fab_unicast_engines[i];
		FAB_AUTO(fab_routes_free_at)
		struct fab_routes *r = fuzz_tables(&problem, engine);

		if (r)
			analyse(r);
		if (r && i == asked) {
			write_and_read(r);
			ask(&problem, engine, r, problem.max_vls & 1);
		}
	}
	/* without faults, as fabric-topo asks it */
	problem.faults = NULL;
	problem.max_vls = 2;
	whole = fuzz_tables(&problem, fab_unicast_engines[asked]);
	if (whole)
		fuzz_trace(whole);
}
