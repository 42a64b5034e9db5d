/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-faults does once its options are read. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "faults.h"

/* What is used when nothing is said: what fits the shape. Tables are written of one. */
static void add_default_engines(struct faults_params *p, const struct faults_outcome *o)
{
	if (p->has_algorithm || p->files.in.lfts)
		return;
	if (o->kfat || p->questions.reliability) {
		p->engines[p->n_engines++] = &fab_unicast_vtftr_ib;
		return;
	}
	p->engines[p->n_engines++] = &fab_unicast_minhop;
	if (!faults_writes_tables(p))
		p->engines[p->n_engines++] = &fab_unicast_updn;
}

/* Algorithms that cannot route the fabric: those of `all` are left out. */
static void choose_engines(struct faults_params *p, const struct faults_outcome *o)
{
	size_t n = 0;

	add_default_engines(p, o);
	for (size_t i = 0; i < p->n_engines; i++) {
		struct fab_err err, why;

		if (!fab_unicast_fits(p->engines[i], o->kfat, &why))
			p->engines[n++] = p->engines[i];
		else if (p->is_optional[i])
			fab_cli_warn(&p->run, "left out: algorithm %s", why.text);
		else if (fab_unicast_refuse(p->input.fabric, o->kfat, &o->kfat_error,
					    &why, &err))
			fab_cli_die(&err);
	}
	p->n_engines = n;
}

struct keeping {
	struct faults_params *p;
	const struct faults_outcome *o;
};

static void keep(void *context)
{
	const struct keeping *k = context;

	if (k->p->questions.reliability)
		faults_store_reliability(k->p, k->o);
	else
		faults_store(k->p, k->o);
}

/* The last result: with it all of them are committed. */
static void print_report(struct faults_params *p, const struct faults_outcome *o,
			 struct fab_cli_results *results)
{
	struct keeping keeping = {p, o};
	struct fab_report_options report;
	struct fab_err err;
	FILE *file;

	results->keep = keep;
	results->context = &keeping;
	file = fab_cli_open_result(results, p->output.path);
	report = fab_cli_report_options(&p->output, &results->sinks[results->n - 1]);
	if (faults_report(file, &report, p, o, &err))
		fab_cli_die(&err);
	fab_cli_commit_results(results);
}

/* 1 when something was found that was asked for. */
static int status_of(const struct faults_params *p, const struct faults_outcome *o)
{
	for (size_t i = 0; i < o->n; i++) {
		const struct faults_result *r = &o->results[i];

		if (p->check)
			faults_warn_unknown(p, r);
		if (!r->is_sound ||
		    (p->check && (r->sum.unreachable || !r->sum.deadlock_free)))
			return FAB_EXIT_FOUND;
	}
	return FAB_EXIT_DONE;
}

/* What is dead in every set, by whatever names. */
static void note_input(struct faults_params *p, const struct faults_outcome *o)
{
	for (size_t i = 0; i < o->faults->named.n; i++) {
		const struct fab_fault *fault = &o->faults->named.v[i];

		p->shard.input = fab_mix64(p->shard.input ^
					   ((uint64_t)fault->id << 1 | fault->is_cable));
	}
	p->store.shard = &p->shard;
}

static int answer(struct faults_params *p, struct faults_outcome *o)
{
	struct fab_cli_results results = {.n = 0};

	if (p->questions.reliability) {
		faults_try_reliability(p, o);
		print_report(p, o, &results);
		return FAB_EXIT_DONE;
	}
	if (p->questions.explain)
		faults_find_pair(p, o);
	faults_solve(p, o);
	faults_flow(p, o);
	if (p->questions.has_criticality && o->n)
		faults_rank_parts(p, o);
	if (p->questions.reroute)
		faults_local_reroute(p, o);
	faults_write_tables(p, o, &results);
	print_report(p, o, &results);
	return status_of(p, o);
}

static void free_outcome(struct faults_outcome *o)
{
	for (size_t i = 0; i < o->n; i++) {
		fab_analysis_fini(&o->results[i].sum);
		fab_routes_free(o->results[i].routes);
		for (size_t k = 0; k < o->results[i].each.n; k++)
			free(o->results[i].each.v[k].dead);
		free(o->results[i].each.v);
		free(o->results[i].note);
		free(o->results[i].worst);
	}
	for (size_t i = 0; i < o->critical.n; i++)
		free(o->critical.v[i].name);
	free(o->flows.v);
	free(o->reliability.v);
	free(o->critical.v);
	free(o->rerouted.v);
	free(o->reliability_text);
	fab_faults_free(o->faults);
	fab_kfat_free(o->kfat);
}

int faults_run(void *params, const struct fab_fabric *f, struct fab_err *err)
{
	struct faults_params *p = params;
	struct faults_outcome o = {.f = f};
	int status;

	if (fab_kfat_recognize(f, &o.kfat, &o.kfat_error))
		o.kfat = NULL;
	if (fab_cli_name_faults(&p->wish.dead, &p->run, f, &o.faults, err)) {
		fab_kfat_free(o.kfat);
		return -EINVAL;
	}
	choose_engines(p, &o);
	note_input(p, &o);
	status = answer(p, &o);
	free_outcome(&o);
	return status;
}
