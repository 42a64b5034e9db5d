/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts that the verbs share: constants, the job on its fabric, timed fences. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/units.h"
#include "fabric/kfat.h"
#include "fabric/resolver.h"
#include "fabric/shape.h"
#include "launch.h"
#include "source/unpack.h"
#include "unicast/engine.h"
#include "unicast/lfts.h"

/* The name of an input in sentences. */
static const char *input_name(const char *path)
{
	return strcmp(path, "-") ? path : "<stdin>";
}

int launch_read_constants(struct launch_params *p, struct fab_err *err)
{
	static const char *const letters[] = {
		[LAUNCH_STAGES] = "s",	 [LAUNCH_FENCE] = "f",
		[LAUNCH_MODEX] = "m",	 [LAUNCH_SIZE] = "",
		[LAUNCH_STORE] = "l",	 [LAUNCH_FAULTS] = "d",
		[LAUNCH_ADVISE] = "a",	 [LAUNCH_MECHANISMS] = "sld",
		[LAUNCH_CALIBRATE] = "s"};
	FAB_AUTO(fab_input_fini) struct fab_input in = {0};
	int rc = 0;

	fab_launch_params_init(&p->constants);
	if (p->params_path) {
		rc = fab_input_read(p->params_path, &in, err);
		if (!rc)
			rc = fab_launch_params_read(&p->constants,
						    input_name(p->params_path), in.bytes,
						    in.n, err);
	}
	for (size_t i = 0; i < FAB_N_LAUNCH_CONSTANTS && !rc; i++)
		if (p->is_given[i])
			rc = fab_launch_params_set(&p->constants, i, p->given[i], err);
	for (size_t i = 0; i < FAB_N_LAUNCH_CONSTANTS; i++)
		for (const char *verb = letters[p->verb]; *verb; verb++)
			p->uses[i] |= fab_launch_constant_is_of(i, *verb);
	return rc;
}

void launch_answer_range(struct fab_report *r, const struct launch_params *p,
			 const char *subject, const struct fab_launch_range *range)
{
	char low[FAB_HUMAN_BYTES], high[FAB_HUMAN_BYTES];
	const struct fab_launch_value *v;
	double limits[2];
	const char *unit;

	if (range->by == FAB_N_LAUNCH_CONSTANTS)
		return;
	v = &p->constants.of[range->by];
	(void)fab_launch_limits(v, limits);
	unit = fab_launch_constant_unit(range->by);
	if (!strcmp(unit, "1") || !strcmp(unit, "1/s"))
		unit = "";
	fab_report_answer(r, FAB_TONE_PLAIN,
			  "%s is %s to %s by %s (%s, %.7g to %.7g%s%s; assumed %.7g).",
			  subject, fab_human_seconds(range->low, low),
			  fab_human_seconds(range->high, high),
			  fab_launch_constants.at(range->by).form, v->source, limits[0],
			  limits[1], *unit ? " " : "", unit, v->value);
}

void launch_store_begin(struct fab_draft *d, const struct fab_work *w, const char *asked,
			const char *text)
{
	const struct launch_params *p = w->params;
	const struct fab_verb *verb = &p->verbs[p->verb];

	fab_draft_table(d, verb->task->columns, *verb->task->n_columns);
	fab_draft_asked(d, "verb", fab_strdup(verb->name));
	if (text)
		fab_draft_asked(d, asked, fab_strdup(text));
}

void launch_report_range(struct fab_report *r, const struct fab_launch_range *range)
{
	bool has_range = range->by != FAB_N_LAUNCH_CONSTANTS;

	fab_report_real(r, "total_low_s", FAB_COL_SECONDS, range->low);
	fab_report_real(r, "total_high_s", FAB_COL_SECONDS, range->high);
	fab_report_text(r, "range_by",
			has_range ? fab_launch_constants.at(range->by).form : NULL);
}

struct constant_row {
	const char *constant, *unit, *origin, *of, *source;
	double value, spread, low, high;
};

void launch_report_constants(struct fab_report *r, const struct launch_params *p)
{
#define AT(member) FAB_AT(struct constant_row, member)
	static const struct fab_column columns[] = {
		{"constant", FAB_TEXT, "name", 0, AT(constant)},
		{"value", FAB_REAL, "value", 0, AT(value)},
		{"unit", FAB_TEXT, "unit, 1: a number", 0, AT(unit)},
		{"spread", FAB_REAL, "half the observed range; null: not known", 0,
		 AT(spread)},
		{"low", FAB_REAL, "least possible value; null: not known", FAB_COL_EXTRA,
		 AT(low)},
		{"high", FAB_REAL, "greatest possible value", FAB_COL_EXTRA, AT(high)},
		{"origin", FAB_TEXT, "measured, survey, assumed or given", 0, AT(origin)},
		{"of", FAB_TEXT, "default, the host of --params, or command line", 0,
		 AT(of)},
		{"source", FAB_TEXT, "source", 0, AT(source)},
	};
#undef AT
	const struct fab_launch_params *c = &p->constants;

	fab_report_table_begin(r, "constants", "Constants", columns, FAB_COUNT(columns));
	for (size_t i = 0; i < FAB_N_LAUNCH_CONSTANTS; i++) {
		const struct fab_launch_value *v = &c->of[i];
		bool has_limits = v->low < v->high;
		struct constant_row row = {.constant = fab_launch_constants.at(i).form,
					   .unit = fab_launch_constant_unit(i),
					   .origin = fab_origin_name(v->origin),
					   .of = v->is_default		  ? "default"
						 : v->origin == FAB_GIVEN ? "command line"
						 : *c->host		  ? c->host
									  : "--params",
					   .source = v->source,
					   .value = v->value,
					   .spread = v->spread,
					   .low = has_limits ? v->low : (double)NAN,
					   .high = has_limits ? v->high : (double)NAN};

		if (p->uses[i])
			fab_report_record(r, &row);
	}
	fab_report_table_end(r);
}

/* Hosts of --node-list and --node-file, each once, in the order of the fabric: --set
 * order says how they are numbered. */
static int find_hosts(const struct launch_params *p, struct launch_job *job,
		      struct fab_err *err)
{
	FAB_AUTO(fab_matches_fini)
	struct fab_matches matches = {.with_names = p->run.verbose};
	const char *where = p->node_list ? "--node-list" : input_name(p->node_file);
	FAB_AUTO(fab_resolver_free_at)
	struct fab_resolver *resolver = fab_resolver_new(job->f);
	struct fab_lookup lookup = fab_resolver_lookup(resolver, FAB_WANT_HOST);
	struct fab_ids *hosts = &job->hosts;
	FAB_AUTO(fab_input_fini) struct fab_input in = {0};
	size_t n = 0;
	int rc;

	if (p->node_list) {
		rc = fab_lookup_list(&lookup, p->node_list, strlen(p->node_list), hosts,
				     &matches, err);
		if (rc)
			fab_err_prefix(err, "--node-list");
	} else {
		rc = fab_input_read(p->node_file, &in, err);
		if (!rc)
			rc = fab_lookup_lines(&lookup, where, in.bytes, in.n, hosts,
					      &matches, err);
	}
	if (!rc) {
		fab_cli_tell_matches(&p->run, where, &matches);
		qsort(hosts->of.v, hosts->of.n, sizeof(*hosts->of.v), fab_cmp_u32);
		for (size_t i = 0; i < hosts->of.n; i++)
			if (!n || hosts->of.v[n - 1] != hosts->of.v[i])
				hosts->of.v[n++] = hosts->of.v[i];
		hosts->of.n = n;
	}
	return rc;
}

static void end_job(void *of)
{
	struct launch_job *job = of;

	fab_routes_free(job->routes);
	fab_faults_free(job->faults);
	free(job->hosts.of.v);
}

int launch_job_hosts(struct fab_work *w, struct launch_job *job, struct fab_err *err)
{
	const struct launch_params *p = w->params;
	int rc;

	*job = (struct launch_job){.f = w->f};
	fab_arena_own(w->arena, end_job, job);
	rc = fab_cli_draw_faults(&p->faults, &p->run, w->f, &job->faults, err);
	return rc || (!p->node_list && !p->node_file) ? rc : find_hosts(p, job, err);
}

/* Default: vtftr-ib on a kfat, dimension order on a grid, else minhop. */
int launch_job_init(struct fab_work *w, struct launch_job *job, struct fab_err *err)
{
	const struct launch_params *p = w->params;
	struct fab_unicast_problem problem = {.f = w->f,
					      .max_vls = 2,
					      .opensm = &p->opensm.outside,
					      .n_threads = p->run.threads};
	const struct fab_unicast_engine *e;
	struct fab_kfat *kfat = NULL;
	struct fab_err kfat_error = {""};
	struct fab_shape *shape;
	bool is_grid;
	int rc = launch_job_hosts(w, job, err);

	if (rc)
		return rc;
	problem.faults = job->faults;
	if (p->tables.lfts) {
		job->algorithm = "loaded";
		return fab_routes_read(job->f, job->faults, p->tables.lfts,
				       p->tables.path_sl, p->tables.sl2vl, &job->routes,
				       err);
	}
	if (fab_kfat_recognize(job->f, &kfat, &kfat_error))
		kfat = NULL;
	problem.kfat = kfat;
	shape = fab_shape_recognize(job->f);
	is_grid = shape->kind == FAB_SHAPE_TORUS || shape->kind == FAB_SHAPE_MESH;
	fab_shape_free(shape);
	if (p->has_algorithm)
		e = fab_unicast_engines[p->algorithm];
	else if (kfat && !fab_unicast_fits(&fab_unicast_vtftr_ib, &problem, NULL))
		e = &fab_unicast_vtftr_ib;
	else if (is_grid && !fab_unicast_fits(&fab_unicast_dor, &problem, NULL))
		e = &fab_unicast_dor;
	else
		e = &fab_unicast_minhop;
	job->algorithm = e->name;
	if (fab_unicast_fits(e, &problem, NULL))
		rc = fab_unicast_refuse(p->input.fabric, e, &problem, &kfat_error, err);
	else
		rc = fab_unicast_route(e, &problem, &job->routes, err);
	if (!rc)
		fab_cli_tell_tables(&p->run, e->name, job->routes);
	fab_kfat_free(kfat);
	return rc;
}

int launch_job_nodes(const struct launch_params *p, const struct launch_job *job,
		     uint32_t n_nodes, const char *order, struct fab_arena *memory,
		     struct fab_launch_nodes *out, struct fab_err *err)
{
	struct fab_launch_choice choice = {.host = job->hosts.of.n ? job->hosts.of.v
								   : NULL,
					   .n_hosts = (uint32_t)job->hosts.of.n,
					   .n_nodes = n_nodes,
					   .n_rails = p->rails};
	int rc = fab_node_order_parse(order, p->run.seed, &choice.order, err);

	return rc ? rc
		  : fab_launch_nodes_make(memory, job->f, job->faults, &choice, out, err);
}

char *launch_job_text(struct fab_arena *memory, uint32_t n_nodes, uint32_t ppn,
		      const char *verb)
{
	bool is_one = n_nodes == 1;

	return fab_arena_format(memory, "%u node%s of %u process%s%s%s%s", n_nodes,
				is_one ? "" : "s", ppn, ppn == 1 ? "" : "es",
				*verb ? " " : "", verb, *verb && is_one ? "s" : "");
}

void launch_draw_fence(struct fab_drawing *d, const struct fab_work *w,
		       const struct launch_job *job, const struct fab_launch_nodes *nodes,
		       struct fab_fence_chosen fence, uint64_t bytes)
{
	const struct launch_params *p = w->params;
	const struct fab_fence_job of =
		fab_fence_job_of(&p->constants, nodes->n, nodes->sw, bytes);
	double *sent = FAB_ARENA_NEW0(w->arena, (size_t)w->f->n_ports + 1, double);
	struct fab_fence_setup *s = FAB_ARENA_NEW0(w->arena, 1, struct fab_fence_setup);
	bool is_small = (double)bytes * nodes->n < 1e6;
	struct fab_err ignored;

	fab_cli_mark_faults(d, w->f, job->faults);
	if (fab_fence_setup_init(s, fence, &of, nodes, job->routes, &ignored))
		return;
	for (const struct fab_fence_setup *rail = s; rail; rail = rail->next)
		for (size_t i = 0; i < rail->plan.messages.n; i++) {
			const struct fab_fence_paths *paths = &rail->paths;
			double part = bytes ? (double)bytes / (is_small ? 1e3 : 1e6) /
						      nodes->n_rails *
						      rail->plan.messages.v[i].n_blocks
					    : 1;

			for (uint64_t k = paths->first[i]; k < paths->first[i + 1]; k++)
				sent[paths->port[paths->cable[k]]] +=
					part * rail->plan.n_repeats;
		}
	fab_cli_draw_sent(
		d, w->f, sent,
		!bytes	   ? "messages"
		: is_small ? "kB"
			   : "MB",
		fab_arena_format(
			w->arena,
			"What a cable carries, in its fuller direction, in a fence by %s of %u nodes",
			fab_fence_text(w->arena, fence), nodes->n));
	fab_fence_setup_fini(s);
}

int launch_timing_init(struct fab_work *w, struct launch_timing *t, struct fab_err *err)
{
	const struct launch_params *p = w->params;
	uint32_t n = launch_n_nodes(p);
	int rc;

	t->clock = (struct fab_fence_clock){.params = &p->constants,
					    .n_nodes = n,
					    .model_only = p->model_only,
					    .memory = w->arena};
	if (!w->f)
		return 0;
	rc = launch_job_init(w, &t->job, err);
	if (!rc)
		rc = launch_job_nodes(p, &t->job, n, p->orders.v[0], w->arena, &t->nodes,
				      err);
	if (rc)
		return rc;
	n = t->clock.n_nodes = t->nodes.n;
	t->clock.nodes = &t->nodes;
	t->clock.routes = t->job.routes;
	if ((uint64_t)n * p->ppn > UINT32_MAX)
		return fab_fail(err, EINVAL,
				"%u nodes of %u are more than 2^32 processes", n, p->ppn);
	return 0;
}

void launch_answer_cut(struct fab_report *r, const struct launch_timing *t)
{
	if (t->clock.n_cut)
		fab_report_answer(
			r, FAB_TONE_WARN,
			"%u fence%s would take too long to simulate: each step was taken to wait for its fullest cable.",
			t->clock.n_cut, t->clock.n_cut == 1 ? "" : "s");
}

int launch_choose_fence(const struct launch_params *p, struct launch_timing *t,
			uint64_t bytes, struct fab_fence_chosen *out, struct fab_err *err)
{
	const struct fab_chosen *chosen = &p->fences.of.v[0];
	int rc = fab_fence_parse(chosen->text, chosen->len, out, err);

	if (!rc && out->algorithm == FAB_FENCE_AUTO)
		rc = fab_fence_fastest(&t->clock, bytes, out, err);
	return rc;
}

struct fab_launch_start launch_start(const struct launch_params *p,
				     struct launch_timing *t)
{
	return (struct fab_launch_start){
		.n_nodes = t->clock.n_nodes,
		.ppn = p->ppn,
		.interface = FAB_PMIX,
		.stage_in = p->stage_in,
		.keys = &p->keys,
		.layout = {FAB_SIZE_LIBRARY, p->namespace_chars},
		.degree = (double)NAN,
		.has_socket_store = p->socket_store,
		.params = &p->constants,
		.timer = {t->clock.nodes ? fab_fence_clock_us : NULL, &t->clock},
		.seed = p->run.seed,
	};
}
