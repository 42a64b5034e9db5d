/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Set-up that the tasks of fabric-faults share: names of dead parts, algorithms and
 * roots, the problem that engines solve, and all sets of faults by all algorithms.
 */
#include <errno.h>

#include "base/progress.h"
#include "base/units.h"
#include "faults.h"
#include "unicast/lfts.h"

/* Sets of faults that go into the database one by one. */
enum { SETS_STORED_MAX = 100000 };
/* Of a core: tables that take longer are announced. */
static const double LONG_SECONDS = 20;

bool faults_writes_tables(const struct faults_params *p)
{
	return p->files.lfts_out || p->files.fdbs_out || p->files.path_sl_out ||
	       p->files.sl2vl_out;
}

struct fab_unicast_problem faults_problem(const struct faults_params *p,
					  const struct faults_outcome *o,
					  const struct fab_faults *faults)
{
	return (struct fab_unicast_problem){.f = o->f,
					    .faults = faults,
					    .kfat = o->kfat,
					    .max_vls = p->max_vls,
					    .max_sls = p->max_sls,
					    .roots = o->roots.of.v,
					    .n_roots = (uint32_t)o->roots.of.n,
					    .fills_roots =
						    fab_cli_fills_roots(p->root_guids),
					    .opensm = &p->opensm.outside,
					    .n_threads = p->run.threads};
}

/* Algorithms that route the fabric: those of `all` that cannot are left out; without
 * --algorithm those that fit the shape. Tables are written of one. */
static int choose_engines(struct faults_params *p, const struct faults_outcome *o,
			  struct fab_err *err)
{
	const struct fab_unicast_problem problem = faults_problem(p, o, o->faults);
	size_t n = 0;

	if (!p->has_algorithm && !p->files.in.lfts) {
		bool is_kfat = o->kfat || p->questions.reliability;

		p->engines[p->n_engines++] =
			is_kfat ? &fab_unicast_vtftr_ib : &fab_unicast_minhop;
		if (!is_kfat && !faults_writes_tables(p))
			p->engines[p->n_engines++] = &fab_unicast_updn;
	}
	for (size_t i = 0; i < p->n_engines; i++) {
		struct fab_err why;

		if (!fab_unicast_fits(p->engines[i], &problem, &why))
			p->engines[n++] = p->engines[i];
		else if (p->is_optional[i])
			fab_cli_warn(&p->run, "left out: algorithm %s", why.text);
		else
			return fab_unicast_refuse(p->input.fabric, p->engines[i],
						  &problem, &o->kfat_error, err);
		if (p->engines[i]->is_outside &&
		    (p->questions.has_criticality || p->questions.reliability))
			return fab_fail(
				err, EINVAL,
				"--%s routes once for each of many parts: too often for %s; take minhop or updn",
				p->questions.reliability ? "reliability" : "criticality",
				p->engines[i]->name);
	}
	p->n_engines = n;
	return 0;
}

/* Names of dead parts, algorithms and roots. */
int faults_set_up(struct faults_params *p, const struct fab_fabric *f,
		  struct faults_outcome *o, struct fab_err *err)
{
	bool has_updn = false;
	int rc;

	o->f = f;
	o->sweep.is_one_set =
		!p->wish.exhaustive && (!p->wish.dead.random || p->wish.count == 1);
	if (fab_kfat_recognize(f, &o->kfat, &o->kfat_error))
		o->kfat = NULL;
	rc = fab_cli_name_faults(&p->wish.dead, &p->run, f, &o->faults, err);
	if (!rc)
		rc = choose_engines(p, o, err);
	for (size_t i = 0; i < p->n_engines; i++)
		has_updn |=
			p->engines[i] == &fab_unicast_updn || p->engines[i]->is_outside;
	if (!rc)
		rc = fab_cli_read_roots(p->root_guids, has_updn, f, &o->roots, err);
	if (!rc && !p->questions.reliability) {
		const struct fab_unicast_problem problem =
			faults_problem(p, o, o->faults);
		bool has_faults =
			o->faults->named.n || p->wish.dead.random || p->wish.exhaustive;
		uint64_t bytes = 0, destinations = 0;
		char size[FAB_HUMAN_BYTES], all[FAB_HUMAN_BYTES], n[FAB_HUMAN_BYTES];
		char switches[FAB_HUMAN_BYTES], seconds[FAB_HUMAN_BYTES];
		FAB_AUTOFREE char *names = NULL;
		double cpu_seconds = 0;

		/* Refuse tables that memory cannot hold; announce those that take long.
		 */
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
			rc = fab_fail(
				err, ENOMEM,
				"%s: tables by %s, %s destinations on %s switches, take up to %s and some %s; there are %s of memory",
				p->input.fabric, names, n, switches, size, seconds,
				fab_human_bytes(fab_memory_bytes(), all));
		else if (cpu_seconds > LONG_SECONDS)
			fab_cli_note(
				&p->run,
				"tables by %s, %s destinations on %s switches, take up to %s and some %s of a core%s",
				names, n, switches, size, seconds,
				o->sweep.is_one_set ? "" : ", for each set of faults");
	}
	if (!rc)
		fab_cli_note_faults(&p->shard, o->faults);
	return rc;
}

static void warn_trouble(void *context, const char *algorithm, const char *text)
{
	fab_cli_warn(context, "%s: %s", algorithm, text);
}

/* Tables of --lfts, then all sets by all algorithms. */
int faults_sweep(struct faults_params *p, struct faults_outcome *o, struct fab_err *err)
{
	size_t first = p->files.in.lfts != NULL;
	struct fab_faults_sweep *s = &o->sweep;
	struct fab_cli_progress *bar = NULL;
	double start = fab_now();
	struct fab_routes *loaded;
	int rc = 0;

	*s = (struct fab_faults_sweep){.problem = faults_problem(p, o, o->faults),
				       .faults = o->faults,
				       .engines = p->engines,
				       .n_engines = p->n_engines,
				       .of = p->wish.dead.of,
				       .random = p->wish.dead.random,
				       .exhaustive = p->wish.exhaustive,
				       .count = p->wish.count,
				       .seed = p->run.seed,
				       .has_ends = p->has_ends,
				       .ends = p->ends,
				       .needs_tables = faults_writes_tables(p) ||
						       p->questions.explain ||
						       p->questions.has_criticality ||
						       p->questions.permutations.n,
				       .verify = p->run.verify,
				       .n_kept = p->store.path ? SETS_STORED_MAX : 0,
				       .shard = p->shard.part,
				       .progress = fab_cli_progress_tick,
				       .on_trouble = warn_trouble,
				       .trouble_context = &p->run};
	rc = fab_faults_sweep_init(s, err);
	if (rc)
		fab_err_prefix(err, p->input.fabric);
	if (!rc && first)
		rc = fab_routes_read(o->f, o->faults, p->files.in.lfts,
				     p->files.in.path_sl, p->files.in.sl2vl, &loaded,
				     err);
	if (!rc && first)
		rc = fab_faults_add_loaded(s, loaded, fab_now() - start, &o->results[0],
					   err);
	if (!rc && !s->is_one_set)
		rc = fab_cli_count_shard(&p->shard, s->n_sets, "sets of faults", err);
	if (rc)
		return rc;
	if (!s->is_one_set)
		bar = fab_cli_progress_new(&p->run, "routing", "sets");
	s->progress_context = bar;
	o->n = p->n_engines + first;
	rc = fab_faults_sweep_run(s, o->results + first, err);
	fab_cli_progress_free(bar);
	return rc;
}

void faults_fini(void *outcome)
{
	struct faults_outcome *o = outcome;

	for (size_t i = 0; i < FAULTS_MAX_ENGINES; i++)
		fab_faults_result_fini(&o->results[i]);
	fab_faults_sweep_fini(&o->sweep);
	FAB_FREE_ALL(o->losses.of.v, o->hosts, o->lost.of.v, o->flows.v, o->roots.of.v,
		     o->reliability.v, o->reliability_text, o->rerouted.v);
	fab_faults_free(o->faults);
	fab_kfat_free(o->kfat);
}
