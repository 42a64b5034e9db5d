/* SPDX-License-Identifier: BSD-2-Clause */
/* The tasks of fabric-faults: sets of faults by several algorithms, and --reliability. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/human.h"
#include "export/fabrics.h"
#include "export/tables.h"
#include "faults.h"
#include "store/store.h"
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
		int k = 0;

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
			k = fab_fail(
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
		rc = k;
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

static int solve_results(struct fab_work *w, struct fab_err *err)
{
	struct faults_params *p = w->params;
	struct faults_outcome *o = w->outcome;
	int rc = faults_set_up(p, w->f, o, err);

	if (!rc && p->questions.explain)
		rc = faults_find_pair(p, o, err);
	if (!rc)
		rc = faults_sweep(p, o, err);
	if (!rc && o->sweep.is_one_set)
		fab_lost_ports(o->faults, &o->lost);
	if (!rc)
		rc = faults_flow(p, o, err);
	if (!rc && p->questions.has_criticality && o->n)
		rc = faults_rank_parts(p, o, err);
	if (!rc && (p->questions.reroute || p->questions.reroute_lists))
		rc = faults_local_reroute(p, o, err);
	for (size_t i = 0; i < o->n && !rc; i++) {
		const struct fab_faults_result *r = &o->results[i];
		FAB_AUTOFREE char *why =
			p->check ? fab_analysis_why_unknown(&r->sum) : NULL;

		if (why)
			fab_cli_warn(&p->run, "%s: freedom of deadlock is not known: %s",
				     r->algorithm, why);
		if (!r->is_sound ||
		    (p->check && (r->sum.unreachable || !r->sum.deadlock_free)))
			return FAB_EXIT_FOUND;
	}
	return rc;
}

static int solve_reliability(struct fab_work *w, struct fab_err *err)
{
	int rc = faults_set_up(w->params, w->f, w->outcome, err);

	return rc ? rc : faults_try_reliability(w->params, w->outcome, err);
}

/* Tables of the last result, and what is left of the fabric. */
static int write_files(struct fab_cli_results *results, const struct fab_work *w,
		       struct fab_err *err)
{
	const struct faults_params *p = w->params;
	const struct faults_outcome *o = w->outcome;
	const struct fab_routes *routes = o->n ? o->results[o->n - 1].routes : NULL;
	const struct {
		const char *path;
		int (*write)(FILE *, const struct fab_routes *, struct fab_err *);
	} files[] = {{p->files.lfts_out, fab_export_lfts},
		     {p->files.fdbs_out, fab_export_fdbs},
		     {p->files.path_sl_out, fab_export_path_sl},
		     {p->files.sl2vl_out, fab_export_sl2vl}};
	FAB_AUTO(fab_fabric_free_at) struct fab_fabric *left = NULL;
	int rc = 0;

	for (size_t i = 0; i < FAB_COUNT(files) && !rc; i++)
		if (files[i].path)
			rc = files[i].write(fab_cli_open_result(results, files[i].path),
					    routes, err);
	if (rc || !p->files.subnet_out)
		return rc;
	rc = fab_fabric_without(o->f, o->faults, &left, err);
	if (rc)
		return rc;
	rc = fab_export_subnet_lst(fab_cli_open_result(results, p->files.subnet_out),
				   left, err);
	return rc;
}

/* Of a result, and of one of its sets of faults. */
#define AT(member) FAB_AT(struct fab_faults_set, member)
static const struct fab_column set_columns[] = {
	{"pairs", FAB_UINT, "", 0, AT(pairs), FAB_METRIC_PLAIN},
	{"unreachable", FAB_UINT, "", 0, AT(unreachable), FAB_METRIC_LESS},
	{"max_hops", FAB_UINT, "", 0, AT(max_hops), FAB_METRIC_LESS},
	{"cycle_channels", FAB_UINT, "", 0, AT(cycle_channels), FAB_METRIC_LESS},
};
#undef AT

/* Of a part whose loss was tried. */
#define AT(member) FAB_AT(struct faults_critical, l.member)
static const struct fab_column part_columns[] = {
	{"pairs", FAB_UINT, "", 0, AT(pairs), FAB_METRIC_PLAIN},
	{"interrupted", FAB_UINT,
	 "pairs of other hosts that the loss of a part interrupts until rerouted", 0,
	 AT(interrupted), FAB_METRIC_LESS},
	{"unreachable", FAB_UINT, "", 0, AT(unreachable), FAB_METRIC_LESS},
	{"unreachable_rerouted", FAB_UINT,
	 "pairs of other hosts without a path after rerouting around a lost part", 0,
	 AT(unreachable_rerouted), FAB_METRIC_LESS},
	{"longer", FAB_UINT, "hops more of all pairs together around a lost part", 0,
	 AT(longer), FAB_METRIC_LESS},
	{"load", FAB_REAL, "", 0, AT(load), FAB_METRIC_LESS},
};
#undef AT

static void store_results(struct fab_draft *d, const struct fab_work *w)
{
	const struct faults_params *p = w->params;
	const struct faults_outcome *o = w->outcome;
	const char *kind = fab_fault_kind_choices.names[p->wish.dead.of];
	char *sets = NULL;

	fab_draft_fact(d, "faults", (double)o->faults->named.n);
	fab_draft_fact(d, "sets", (double)o->sweep.n_sets);
	if (o->faults->named.n)
		fab_draft_asked(d, "failed", fab_faults_text(o->faults, ","));
	if (p->wish.dead.random)
		sets = fab_format("%" PRIu64 " times %u of %s, seed %" PRIu64,
				  p->wish.count, p->wish.dead.random, kind, p->run.seed);
	else if (p->wish.exhaustive)
		sets = fab_format("all %u of %s", p->wish.exhaustive, kind);
	fab_draft_asked(d, "sets_of_faults", sets);
	if (p->files.in.lfts)
		fab_draft_asked(d, "tables", fab_strdup(p->files.in.lfts));
	if (p->has_ends)
		fab_draft_asked(d, "endpoints",
				fab_strdup(fab_ends_choices.names[p->ends]));
	for (size_t i = 0; i < o->n; i++) {
		const struct fab_faults_result *r = &o->results[i];
		const struct faults_row row = faults_row_of(w, r);

		fab_draft_result(d, r->algorithm, faults_columns, faults_n_columns, &row);
		for (size_t k = 0; k < r->each.n; k++)
			fab_draft_part(d, r->each.v[k].number, r->each.v[k].dead,
				       set_columns, FAB_COUNT(set_columns),
				       &r->each.v[k]);
		for (size_t k = 0; r == o->ranked && k < o->losses.of.n; k++) {
			const struct faults_critical c =
				faults_critical_of(w, &o->losses.of.v[k]);

			/* 0 is the set of faults itself */
			if (c.l.is_tried && (c.l.number < FAULTS_PARTS_STORED ||
					     k < p->questions.criticality))
				fab_draft_part(d, c.l.number + 1, c.name, part_columns,
					       FAB_COUNT(part_columns), &c);
		}
	}
}

/* Of each algorithm the row of most faults, and each row as a part. */
static void store_reliability(struct fab_draft *d, const struct fab_work *w)
{
	const struct faults_params *p = w->params;
	const struct faults_outcome *o = w->outcome;
	const struct faults_reliability_row *rows = o->reliability.v;

	fab_draft_asked(d, "trials",
			fab_format("%" PRIu64 ", seed %" PRIu64, p->questions.trials,
				   p->run.seed));
	/* the mean time follows from these */
	fab_draft_fact(d, "leaves", o->kfat->n_leaves);
	if (p->questions.mtbf_seconds > 0)
		fab_draft_fact(d, "mtbf_seconds", p->questions.mtbf_seconds);
	for (size_t i = 0, last; i < o->reliability.n; i = last + 1) {
		for (last = i; last + 1 < o->reliability.n &&
			       !strcmp(rows[last + 1].algorithm, rows[i].algorithm);)
			last++;
		fab_draft_result(d, rows[i].algorithm, faults_reliability_columns,
				 faults_reliability_n_columns, &rows[last]);
		for (size_t k = i; k <= last; k++)
			fab_draft_part(d, k,
				       fab_arena_format(w->arena, "faults=%u",
							rows[k].r.n_faults),
				       faults_reliability_columns,
				       faults_reliability_n_columns, &rows[k]);
	}
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

static const struct fab_task_file files[] = {{.write_all = write_files}, {0}};

const struct fab_task faults_results_task = {
	.primary = "results",
	.columns = faults_columns,
	.n_columns = &faults_n_columns,
	.outcome_bytes = sizeof(struct faults_outcome),
	.solve = solve_results,
	.files = files,
	.report = faults_report,
	.store = store_results,
	.fini = faults_fini,
};

const struct fab_task faults_reliability_task = {
	.primary = "reliability",
	.columns = faults_reliability_columns,
	.n_columns = &faults_reliability_n_columns,
	.outcome_bytes = sizeof(struct faults_outcome),
	.solve = solve_reliability,
	.files = files,
	.report = faults_report,
	.store = store_reliability,
	.fini = faults_fini,
};
