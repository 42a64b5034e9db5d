/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-faults does once its options are read. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "base/mem.h"
#include "faults.h"
#include "unicast/engine.h"

/* Of a core: tables that take longer are announced. */
static const double LONG_SECONDS = 20;

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

static int read_roots(const struct faults_params *p, struct faults_outcome *o,
		      struct fab_err *err)
{
	bool has_updn = false;

	for (size_t i = 0; i < p->n_engines; i++)
		has_updn |= p->engines[i] == &fab_unicast_updn;
	return fab_cli_read_roots(p->root_guids, has_updn, o->f, &o->roots, err);
}

/* Algorithms that cannot route the fabric: those of `all` are left out. */
static int choose_engines(struct faults_params *p, const struct faults_outcome *o,
			  struct fab_err *err)
{
	const struct fab_unicast_problem problem = faults_problem(p, o, o->faults);
	size_t n = 0;

	add_default_engines(p, o);
	for (size_t i = 0; i < p->n_engines; i++) {
		struct fab_err why;

		if (!fab_unicast_fits(p->engines[i], &problem, &why))
			p->engines[n++] = p->engines[i];
		else if (p->is_optional[i])
			fab_cli_warn(&p->run, "left out: algorithm %s", why.text);
		else
			return fab_unicast_refuse(p->input.fabric, p->engines[i],
						  &problem, &o->kfat_error, err);
	}
	p->n_engines = n;
	return 0;
}

/* Refuse tables that memory cannot hold; say what those that take long will take. */
static int check_effort(const struct faults_params *p, const struct faults_outcome *o,
			struct fab_err *err)
{
	const struct fab_unicast_problem problem = faults_problem(p, o, o->faults);
	bool has_faults = o->faults->named.n || p->wish.dead.random || p->wish.exhaustive;
	uint64_t bytes = 0, destinations = 0;
	char size[FAB_HUMAN_BYTES], all[FAB_HUMAN_BYTES], n[FAB_HUMAN_BYTES];
	char switches[FAB_HUMAN_BYTES], seconds[FAB_HUMAN_BYTES], *names = NULL;
	double cpu_seconds = 0;
	int rc = 0;

	for (size_t i = 0; i < p->n_engines; i++) {
		struct fab_effort e = fab_unicast_effort(p->engines[i], &problem);

		bytes += e.table_bytes * (1 + has_faults);
		cpu_seconds += e.cpu_seconds * (1 + has_faults);
		if (e.destinations > destinations)
			destinations = e.destinations;
		fab_append(&names, ", ", "%s", p->engines[i]->name);
	}
	fab_human_bytes(bytes, size);
	fab_human_count(destinations, n);
	fab_human_count(o->f->n_switches, switches);
	fab_human_seconds(cpu_seconds, seconds);
	if (bytes > fab_memory_bytes())
		rc = fab_fail(err, ENOMEM,
			      "%s: tables by %s, %s destinations on %s switches, take up "
			      "to %s and some %s; there are %s of memory",
			      p->input.fabric, names, n, switches, size, seconds,
			      fab_human_bytes(fab_memory_bytes(), all));
	else if (cpu_seconds > LONG_SECONDS)
		fab_cli_note(&p->run,
			     "tables by %s, %s destinations on %s switches, take up to "
			     "%s and some %s of a core%s",
			     names, n, switches, size, seconds,
			     o->is_one_set ? "" : ", for each set of faults");
	free(names);
	return rc;
}

struct keeping {
	struct faults_params *p;
	const struct faults_outcome *o;
};

static int keep(void *context, struct fab_err *err)
{
	const struct keeping *k = context;

	return k->p->questions.reliability ? faults_store_reliability(k->p, k->o, err)
					   : faults_store(k->p, k->o, err);
}

/* All files and the report. */
static int write_results(struct faults_params *p, const struct faults_outcome *o,
			 struct fab_err *err)
{
	struct keeping keeping = {p, o};
	struct fab_cli_results results = {.keep = keep, .context = &keeping};
	struct fab_report_options report;
	FILE *file;
	int rc = faults_write_tables(p, o, &results, err);

	if (rc)
		return rc;
	file = fab_cli_open_report(&results, &p->output, &report);
	rc = faults_report(file, &report, p, o, err);
	return rc ? rc : fab_cli_commit_results(&results, err);
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

static int answer(struct faults_params *p, struct faults_outcome *o, struct fab_err *err)
{
	int rc = 0;

	if (p->questions.reliability) {
		rc = faults_try_reliability(p, o, err);
		return rc ? rc : write_results(p, o, err);
	}
	if (p->questions.explain)
		rc = faults_find_pair(p, o, err);
	if (!rc)
		rc = faults_solve(p, o, err);
	if (!rc && o->is_one_set)
		fab_lost_ports(o->faults, &o->lost);
	if (!rc)
		rc = faults_flow(p, o, err);
	if (!rc && p->questions.has_criticality && o->n)
		rc = faults_rank_parts(p, o, err);
	if (!rc && p->questions.reroute)
		rc = faults_local_reroute(p, o, err);
	if (!rc)
		rc = write_results(p, o, err);
	return rc ? rc : status_of(p, o);
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
	for (size_t k = 0; k < FAULTS_N_KINDS; k++) {
		for (size_t i = 0; i < o->worst[k].n; i++)
			free(o->worst[k].v[i].name);
		free(o->worst[k].v);
	}
	free(o->lost.of.v);
	free(o->flows.v);
	free(o->roots.of.v);
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
	int rc;

	o.is_one_set =
		!p->wish.exhaustive && (!p->wish.dead.random || p->wish.count == 1);
	if (fab_kfat_recognize(f, &o.kfat, &o.kfat_error))
		o.kfat = NULL;
	rc = fab_cli_name_faults(&p->wish.dead, &p->run, f, &o.faults, err);
	if (!rc)
		rc = choose_engines(p, &o, err);
	if (!rc)
		rc = read_roots(p, &o, err);
	if (!rc && !p->questions.reliability)
		rc = check_effort(p, &o, err);
	if (rc)
		return rc;
	fab_cli_note_faults(&p->shard, o.faults);
	p->store.shard = &p->shard;
	rc = answer(p, &o, err);
	if (rc >= 0)
		free_outcome(&o);
	return rc;
}
