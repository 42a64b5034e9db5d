/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-faults does with a fabric: faults by chance, every engine, tables. */
#include "engines.h"
#include "export/fabrics.h"
#include "export/tables.h"
#include "source/source.h"
#include "unicast/analysis.h"
#include "unicast/criticality.h"
#include "unicast/engine.h"
#include "unicast/faults.h"
#include "unicast/lfts.h"
#include "unicast/reliability.h"

enum { FAULTS_MAX = 5, STEPS_MAX = 20000 };

static struct fab_faults *draw_faults(const struct fab_fabric *f, struct fuzz_draw *d)
{
	struct fab_faults *faults = fab_faults_new(f);
	uint32_t n = fuzz_below(d, FAULTS_MAX + 1);

	for (uint32_t i = 0; i < n; i++) {
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

static void check_analysis(const struct fab_analysis *j)
{
	uint64_t hops = 0;

	for (size_t i = 0; i < FAB_COUNT(j->hops); i++)
		hops += j->hops[i];
	MUST(j->connected + j->unreachable == j->pairs);
	MUST(j->connected <= j->connected_in_graph);
	MUST(j->connected_in_graph <= j->pairs);
	MUST(j->minimal <= j->connected);
	MUST(hops == j->connected);
	MUST(j->deadlock_free == !j->cycle.n);
	MUST(j->deadlock_free == !j->cycle_channels);
	MUST(j->pairs_on_cycles <= j->connected);
}

/* By all kinds of ends, and a second time. */
static void analyse(const struct fab_routes *r)
{
	for (int ends = FAB_ENDS_LEAVES; ends <= FAB_ENDS_ALL; ends++) {
		const struct fab_analysis_options options = {
			.ends = (enum fab_ends)ends, .with_load = true, .n_threads = 1};
		FAB_AUTO(fab_analysis_fini) struct fab_analysis j = {0};

		OK(fab_analyse(r, &options, &j, ERR));
		check_analysis(&j);
		OK(fab_unicast_verify(r, (enum fab_ends)ends, &j, ERR));
	}
}

typedef int write_fn(FILE *out, const struct fab_routes *r, struct fab_err *err);

/* As a file in memory; NULL: refused. */
static char *written(write_fn *write, const struct fab_routes *r)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	int rc = write(out, r, ERR);

	fclose(out);
	if (!is_refused(rc))
		return text;
	free(text);
	return NULL;
}

static struct fab_analysis analyse_hosts(const struct fab_routes *r)
{
	const struct fab_analysis_options options = {.ends = FAB_ENDS_HOSTS,
						     .n_threads = 1};
	struct fab_analysis j;

	OK(fab_analyse(r, &options, &j, ERR));
	return j;
}

/* Tables that were read back, of `f` with `faults`, come to the same. */
static void compare(const struct fab_routes *ours, const struct fab_fabric *f,
		    const struct fab_faults *faults, const char *tables, const char *sls,
		    const char *lanes)
{
	FAB_AUTO(fab_analysis_fini) struct fab_analysis want = analyse_hosts(ours), got;
	FAB_AUTO(fab_routes_free_at) struct fab_routes *r = NULL;

	OK(fab_routes_from_lfts(f, faults, "tables", tables, strlen(tables), &r, ERR));
	OK(fab_routes_add_path_sl(r, "sls", sls, strlen(sls), ERR));
	OK(fab_routes_add_sl2vl(r, "lanes", lanes, strlen(lanes), ERR));
	got = analyse_hosts(r);
	MUST(got.connected == want.connected);
	MUST(got.deadlock_free == want.deadlock_free);
	MUST(got.max_hops == want.max_hops);
}

/* What is left of the fabric, as a file and read again; NULL: nothing. */
static struct fab_fabric *left_over(const struct fab_routes *r)
{
	struct fab_fabric *again = NULL;
	FAB_AUTO(fab_fabric_free_at) struct fab_fabric *left = NULL;
	FAB_AUTOFREE char *text = NULL;
	size_t n;
	FILE *out;

	if (is_refused(fab_fabric_without(r->f, r->faults, &left, ERR)))
		return NULL;
	out = open_memstream(&text, &n);
	if (is_refused(fab_export_subnet_lst(out, left, ERR))) {
		fclose(out);
		return NULL;
	}
	fclose(out);
	OK(fab_source_parse("left", text, n, NULL, &again, ERR));
	return again;
}

static void write_and_read(const struct fab_routes *r)
{
	FAB_AUTOFREE char *lfts = written(fab_export_lfts, r);
	FAB_AUTOFREE char *fdbs = written(fab_export_fdbs, r);
	FAB_AUTOFREE char *sls = written(fab_export_path_sl, r);
	FAB_AUTOFREE char *lanes = written(fab_export_sl2vl, r);
	FAB_AUTO(fab_fabric_free_at) struct fab_fabric *left = left_over(r);

	MUST(!lfts == !fdbs);
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

static void route(const struct fab_unicast_problem *problem,
		  const struct fab_unicast_engine *engine, bool is_asked, bool anew)
{
	FAB_AUTO(fab_routes_free_at) struct fab_routes *r = NULL;

	fuzz_who = engine->name;
	if (is_refused(fab_unicast_fits(engine, problem, ERR)) ||
	    is_refused(fab_unicast_route(engine, problem, &r, ERR)))
		return;
	analyse(r);
	if (is_asked) {
		write_and_read(r);
		ask(problem, engine, r, anew);
	}
}

/* Without faults, as fabric-topo asks it. */
static void trace(const struct fab_unicast_problem *problem,
		  const struct fab_unicast_engine *engine)
{
	const struct fab_unicast_problem whole = {
		.f = problem->f, .kfat = problem->kfat, .max_vls = 2, .n_threads = 1};
	FAB_AUTO(fab_routes_free_at) struct fab_routes *r = NULL;

	if (is_refused(fab_unicast_fits(engine, &whole, ERR)) ||
	    is_refused(fab_unicast_route(engine, &whole, &r, ERR)))
		return;
	fuzz_trace(r);
}

void fuzz_unicast(const struct fab_fabric *f, struct fuzz_draw *d)
{
	FAB_AUTO(fab_faults_free_at) struct fab_faults *faults = draw_faults(f, d);
	struct fab_unicast_problem problem = {.f = f, .faults = faults, .n_threads = 1};
	FAB_AUTO(fab_kfat_free_at) struct fab_kfat *k = NULL;
	uint32_t asked = fuzz_below(d, (uint32_t)fab_unicast_n_engines);

	if (!is_refused(fab_kfat_recognize(f, &k, ERR)))
		problem.kfat = k;
	problem.max_vls = 1 + fuzz_below(d, 4);
	for (size_t i = 0; i < fab_unicast_n_engines; i++)
		route(&problem, fab_unicast_engines[i], i == asked, problem.max_vls & 1);
	trace(&problem, fab_unicast_engines[asked]);
}
