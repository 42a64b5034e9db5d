/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-launch fence: algorithm by size by nodes, in numbers and on the tables. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "event/sweep.h"
#include "launch/fence_ranges.h"
#include "verb_fence.h"

/* "1,2,4,8"; of many steps the first ones. */
static char *loads_text(const struct fab_fence_load *load)
{
	char *text = NULL;
	uint32_t n = load->n_steps < 64 ? load->n_steps : 64;

	for (uint32_t i = 0; i < n; i++)
		fab_append(&text, ",", "%" PRIu64, load->step[i].load);
	if (n < load->n_steps)
		fab_append(&text, ",", "...");
	return text;
}

static uint32_t port_of(const struct fab_fence_paths *paths, uint32_t cable)
{
	return cable == FAB_NONE ? FAB_NONE : paths->port[cable];
}

/* What is kept of a fence that was prepared; ends it. */
static void take_setup(struct fence_item *x, struct fab_fence_setup *s)
{
	fab_fence_load_fini(&x->load);
	free(x->port);
	x->load = s->load;
	x->line = s->contended;
	x->port = FAB_NEW(x->load.n_steps + 1, uint32_t);
	for (uint32_t i = 0; i < x->load.n_steps; i++)
		x->port[i] = port_of(&s->paths, x->load.step[i].cable);
	s->load = (struct fab_fence_load){0};
	fab_fence_setup_fini(s);
	*s = (struct fab_fence_setup){0};
}

static int add_row(const struct fence_outcome *o, const struct fence_group *g,
		   struct fence_item *x, const struct fab_fence_setup *s, uint64_t bytes,
		   struct fab_err *err)
{
	struct fab_fence_sim_options options = {.n_pieces = o->p->pieces};
	struct fab_fence_time t;
	struct launch_fence_row row = {
		.algorithm = x->name,
		.stands_for = x->is_alias ? x->stands_for[bytes != 0] : NULL,
		.order = g->order,
		.nodes = g->nodes.n,
		.bytes = bytes,
		.steps = s->plan.n_steps,
		.factor = s->load.factor,
		.max_link_load = s->load.max,
		.max_between = s->load.max_between,
		.by_symmetry = FAB_UNKNOWN,
		.shard = fab_cli_shard_text(&o->p->shard),
	};
	int rc = fab_fence_setup_time(s, bytes, o->p->model_only ? NULL : &options, &t,
				      err);

	if (rc)
		return rc;
	row.model_us = t.model_us;
	row.contended_us = t.contended_us;
	row.simulated_us = t.simulated_us;
	row.loads = loads_text(&s->load);
	if (!o->p->model_only)
		row.by_symmetry = t.sim.by_symmetry;
	FAB_PUSH(&x->rows, row);
	return 0;
}

static int work_on_item(void *context, void *memory, uint64_t number, void *result,
			struct fab_err *err)
{
	struct fence_outcome *o = context;
	const struct fence_group *g = fence_group_of(o, number);
	struct fab_fence_chosen chosen = o->fences.v[number % o->fences.n];
	struct fab_fence_setup setup = {0};
	struct fence_item *x = result;
	int rc = 0;

	(void)memory;
	x->name = fab_fence_text(chosen);
	for (size_t i = 0; i < o->p->bytes.n && !rc; i++) {
		struct fab_fence_job job = launch_fence_job(
			&o->p->constants, g->nodes.n, g->nodes.sw, o->p->bytes.v[i]);
		struct fab_fence_chosen is = fab_fence_stands_for(chosen, &job);

		x->is_alias = is.algorithm != chosen.algorithm;
		if (x->is_alias && !x->stands_for[job.bytes != 0])
			x->stands_for[job.bytes != 0] = fab_fence_text(is);
		if (is.algorithm != setup.is.algorithm || is.width != setup.is.width) {
			fab_fence_setup_fini(&setup);
			setup = (struct fab_fence_setup){0};
			rc = fab_fence_setup_init(&setup, chosen, &job, &g->nodes,
						  o->job.routes, err);
		}
		if (!rc)
			rc = add_row(o, g, x, &setup, job.bytes, err);
	}
	x->is_there = !rc;
	take_setup(x, &setup);
	return rc;
}

static void free_item(struct fence_item *x)
{
	for (size_t i = 0; i < x->rows.n; i++)
		free((char *)(uintptr_t)x->rows.v[i].loads);
	free(x->rows.v);
	free(x->name);
	free(x->stands_for[0]);
	free(x->stands_for[1]);
	free(x->port);
	fab_fence_load_fini(&x->load);
}

static void take_item(void *context, uint64_t number, void *result)
{
	struct fence_outcome *o = context;

	o->items.v[number] = *(struct fence_item *)result;
}

static void drop_item(void *context, void *result)
{
	(void)context;
	free_item(result);
}

static int simulate(struct fence_outcome *o, struct fab_err *err)
{
	struct fab_sweep sweep = {.what = "fence",
				  .n_items = o->groups.n * o->fences.n,
				  .shard = o->p->shard.part,
				  .n_threads = o->p->run.threads,
				  .result_bytes = sizeof(struct fence_item),
				  .context = o,
				  .work = work_on_item,
				  .take = take_item,
				  .drop = drop_item,
				  .progress = fab_cli_progress_tick};
	int rc = fab_cli_count_shard(&o->p->shard, sweep.n_items, "fences", err);

	if (rc)
		return rc;
	FAB_RESERVE(&o->items, sweep.n_items + 1);
	o->items.n = sweep.n_items;
	memset(o->items.v, 0, sweep.n_items * sizeof(*o->items.v));
	sweep.progress_context = fab_cli_progress_new(&o->p->run, "following", "fences");
	rc = fab_sweep_run(&sweep, err);
	fab_cli_progress_free(sweep.progress_context);
	return rc;
}

/* Every order by every number of nodes. */
static int make_groups(struct fence_outcome *o, struct fab_err *err)
{
	const struct launch_params *p = o->p;
	size_t n = p->nodes.of.n ? p->nodes.of.n : 1;
	int rc = 0;

	for (size_t i = 0; i < p->orders.n && !rc; i++)
		for (size_t k = 0; k < n && !rc; k++) {
			struct fence_group g = {.order = p->orders.v[i]};

			rc = launch_job_nodes(&o->job,
					      p->nodes.of.n ? p->nodes.of.v[k] : 0,
					      g.order, &g.nodes, err);
			if (!rc)
				FAB_PUSH(&o->groups, g);
		}
	return rc;
}

static bool is_chosen(const struct fence_outcome *o, struct fab_fence_chosen chosen)
{
	for (size_t i = 0; i < o->fences.n; i++)
		if (o->fences.v[i].algorithm == chosen.algorithm &&
		    o->fences.v[i].width == chosen.width)
			return true;
	return false;
}

/* What auto chooses from, behind those that were asked for. */
static void add_candidates(struct fence_outcome *o)
{
	for (size_t i = 0; i < fab_n_fence_candidates; i++)
		if (!is_chosen(o, fab_fence_candidates[i]))
			FAB_PUSH(&o->fences, fab_fence_candidates[i]);
}

static int choose_fences(struct fence_outcome *o, struct fab_err *err)
{
	const struct launch_params *p = o->p;
	int rc = 0;

	for (size_t i = 0; i < p->fences.of.n && !rc; i++) {
		const struct fab_chosen *c = &p->fences.of.v[i];
		struct fab_fence_chosen chosen;

		rc = fab_fence_parse(c->text, c->len, &chosen, err);
		if (rc)
			return rc;
		if (chosen.algorithm != &fab_fence_auto)
			FAB_PUSH(&o->fences, chosen);
		else if (!p->shard.part.count)
			o->has_auto = true;
		else if (!c->by_all)
			return fab_fail(err, EINVAL,
					"--fence=auto does not go with --shard: it needs "
					"all the others");
	}
	o->n_shown = o->fences.n;
	if (o->has_auto)
		add_candidates(o);
	return rc;
}

/* The fastest of a group at size number `i`; NULL: none of the shard. */
const struct fence_item *fence_best(const struct fence_outcome *o, size_t group, size_t i)
{
	const struct fence_item *best = NULL;

	for (size_t k = 0; k < o->fences.n; k++) {
		const struct fence_item *x = &o->items.v[group * o->fences.n + k];

		if (x->is_there && !x->is_alias &&
		    (!best || fence_us(&x->rows.v[i]) < fence_us(&best->rows.v[i])))
			best = x;
	}
	return best;
}

/* Why the best is the best; on the heap. */
static char *why_text(const struct fence_outcome *o, size_t group, size_t i,
		      const struct fence_item *best)
{
	const struct fence_item *next = NULL;
	double us = fence_us(&best->rows.v[i]);
	char a[FAB_HUMAN_BYTES], b[FAB_HUMAN_BYTES];

	for (size_t k = 0; k < o->fences.n; k++) {
		const struct fence_item *x = &o->items.v[group * o->fences.n + k];

		if (x != best && x->is_there && fence_us(&x->rows.v[i]) > us &&
		    (!next || fence_us(&x->rows.v[i]) < fence_us(&next->rows.v[i])))
			next = x;
	}
	if (!next)
		return fab_strdup("none takes longer");
	fab_human_seconds(us / 1e6, a);
	fab_human_seconds(fence_us(&next->rows.v[i]) / 1e6, b);
	if (best->load.max < 2)
		return fab_format(
			"%s, %s the next with %s; no two messages share a cable", a,
			next->name, b);
	return fab_format("%s, %s the next with %s; up to %" PRIu64
			  " messages share a cable",
			  a, next->name, b, best->load.max);
}

static void choose_autos(struct fence_outcome *o)
{
	for (size_t g = 0; o->has_auto && g < o->groups.n; g++)
		for (size_t i = 0; i < o->p->bytes.n; i++) {
			const struct fence_item *best = fence_best(o, g, i);
			struct launch_fence_row row;

			if (!best)
				continue;
			row = best->rows.v[i];
			row.algorithm = "auto";
			row.stands_for = best->name;
			row.why = why_text(o, g, i, best);
			FAB_PUSH(&o->autos, row);
		}
}

/* Where two fences of a group cross by simulation; NaN: nowhere below 64 times the size
 * of the closed form, or not known. */
static int simulate_crossing(const struct fence_outcome *o, size_t group,
			     const struct fence_item *a, const struct fence_item *b,
			     double near, double *bytes, struct fab_err *err)
{
	const struct fence_group *g = &o->groups.v[group];
	const struct fence_item *items = &o->items.v[group * o->fences.n];
	struct fab_fence_job job = launch_fence_job(&o->p->constants, g->nodes.n,
						    g->nodes.sw, (uint64_t)near + 1);
	struct fab_fence_sim_options options = {.n_pieces = o->p->pieces};
	struct fab_fence_setup x = {0}, y = {0};
	double most = near * 64 + 1024;
	int rc;

	*bytes = (double)NAN;
	if (o->p->model_only || g->nodes.n > FENCE_MAX_CROSSED)
		return 0;
	rc = fab_fence_setup_init(&x, o->fences.v[a - items], &job, &g->nodes,
				  o->job.routes, err);
	if (!rc)
		rc = fab_fence_setup_init(&y, o->fences.v[b - items], &job, &g->nodes,
					  o->job.routes, err);
	if (!rc)
		rc = fab_fence_crossing_simulated(&x, &y,
						  most < (double)FAB_FENCE_BYTES_MAX
							  ? (uint64_t)most
							  : FAB_FENCE_BYTES_MAX,
						  &options, bytes, err);
	if (rc == -EOVERFLOW)
		rc = 0;
	if (!isfinite(*bytes))
		*bytes = (double)NAN;
	fab_fence_setup_fini(&x);
	fab_fence_setup_fini(&y);
	return rc;
}

/* Which algorithm is fastest from which size on, in a group. */
static int find_ranges_of(struct fence_outcome *o, size_t group, struct fab_err *err)
{
	const struct fence_item *items = &o->items.v[group * o->fences.n];
	struct fab_fence_line *lines = FAB_NEW(o->fences.n + 1, struct fab_fence_line);
	struct fab_fence_range *of = FAB_NEW(o->fences.n + 1, struct fab_fence_range);
	const struct fence_item **item =
		FAB_NEW(o->fences.n + 1, const struct fence_item *);
	size_t n = 0, n_ranges;
	int rc = 0;

	for (size_t i = 0; i < o->fences.n; i++)
		if (items[i].is_there && !items[i].is_alias) {
			item[n] = &items[i];
			lines[n++] = items[i].line;
		}
	n_ranges = fab_fence_ranges(lines, n, (double)FAB_FENCE_BYTES_MAX, of);
	for (size_t i = 0; i < n_ranges && !rc; i++) {
		bool is_last = i + 1 == n_ranges;
		struct fence_range row = {.order = o->groups.v[group].order,
					  .nodes = o->groups.v[group].nodes.n,
					  .algorithm = item[of[i].line]->name,
					  .from_bytes = of[i].from_bytes,
					  .to_bytes = (double)NAN,
					  .simulated_to_bytes = (double)NAN};

		if (!is_last) {
			row.to_bytes = of[i + 1].from_bytes;
			rc = simulate_crossing(o, group, item[of[i].line],
					       item[of[i + 1].line], row.to_bytes,
					       &row.simulated_to_bytes, err);
		}
		FAB_PUSH(&o->ranges, row);
	}
	free(item);
	free(of);
	free(lines);
	return rc;
}

static int find_ranges(struct fence_outcome *o, struct fab_err *err)
{
	int rc = 0;

	for (size_t g = 0; g < o->groups.n && !rc; g++)
		rc = find_ranges_of(o, g, err);
	return rc;
}

/* A result, whose parts are sizes; one of another shard has none. */
static void keep_item(struct fab_draft *d, const struct fence_outcome *o, size_t i)
{
	const struct fence_item *x = &o->items.v[i];
	const struct fence_group *g = fence_group_of(o, i);
	char *fence = fab_fence_text(o->fences.v[i % o->fences.n]);
	char *name = fab_format("%s/%s/%u", fence, g->order, g->nodes.n);
	size_t n = x->rows.n;

	fab_draft_result(d, name, launch_fence_columns, n ? launch_fence_n_columns : 0,
			 n ? &x->rows.v[n - 1] : NULL);
	for (size_t k = 0; k < n; k++) {
		char *part = fab_format("bytes=%" PRIu64, x->rows.v[k].bytes);

		fab_draft_part(d, k, part, launch_fence_columns, launch_fence_n_columns,
			       &x->rows.v[k]);
		free(part);
	}
	free(name);
	free(fence);
}

static void keep(struct fab_draft *d, const struct launch_params *p, const void *of)
{
	const struct fence_outcome *o = of;

	fab_draft_table(d, launch_fence_columns, launch_fence_n_columns);
	fab_draft_asked(d, "verb", fab_strdup("fence"));
	fab_draft_asked(d, "tables", fab_strdup(o->job.algorithm));
	for (size_t i = 0; i < o->items.n; i++)
		if (fence_is_shown(o, i))
			keep_item(d, o, i);
	(void)p;
}

static void fini(struct fence_outcome *o)
{
	for (size_t i = 0; i < o->items.n; i++)
		free_item(&o->items.v[i]);
	free(o->items.v);
	for (size_t i = 0; i < o->groups.n; i++)
		fab_launch_nodes_fini(&o->groups.v[i].nodes);
	free(o->groups.v);
	for (size_t i = 0; i < o->autos.n; i++)
		free((char *)(uintptr_t)o->autos.v[i].why);
	free(o->autos.v);
	free(o->ranges.v);
	free(o->fences.v);
	launch_job_fini(&o->job);
}

/* A fence by formula. */
struct fence_figure {
	struct fab_fence_chosen fence;
	const struct fab_launch_nodes *nodes;
	uint64_t bytes;
};

static int seconds_of(void *context, const struct fab_launch_params *params, double *out,
		      struct fab_err *err)
{
	const struct fence_figure *x = context;
	struct fab_fence_job job =
		launch_fence_job(params, x->nodes->n, x->nodes->sw, x->bytes);
	double us;
	int rc = fab_fence_plain_us(fab_fence_stands_for(x->fence, &job), &job, &us, err);

	*out = us / 1e6;
	return rc;
}

/* Of the fastest at the largest size, over the assumed constants. */
static int find_seconds(struct fence_outcome *o, struct fab_err *err)
{
	const struct launch_params *p = o->p;
	size_t last = p->bytes.n - 1;
	const struct fence_item *best = fence_best(o, 0, last);
	struct fence_figure figure;

	o->seconds = (struct fab_launch_range){
		.low = (double)NAN, .high = (double)NAN, .by = FAB_N_LAUNCH_CONSTANTS};
	if (!best)
		return 0;
	figure = (struct fence_figure){
		.fence = o->fences.v[(size_t)(best - o->items.v) % o->fences.n],
		.nodes = &o->groups.v[0].nodes,
		.bytes = p->bytes.v[last]};
	return fab_launch_range_find(&p->constants, p->uses,
				     fence_us(&best->rows.v[last]) / 1e6, seconds_of,
				     &figure, &o->seconds, err);
}

/* What files named in the arguments have said: parts with other faults, nodes or
 * constants are none of this whole. */
static void note_input(struct launch_params *p, const struct launch_job *job)
{
	fab_cli_note_faults(&p->shard, job->faults);
	if (job->hosts.of.n)
		fab_cli_note_bytes(&p->shard, job->hosts.of.v,
				   job->hosts.of.n * sizeof(*job->hosts.of.v));
	for (size_t i = 0; i < FAB_N_LAUNCH_CONSTANTS; i++)
		if (p->uses[i])
			fab_cli_note_bytes(&p->shard, &p->constants.of[i].value,
					   sizeof(p->constants.of[i].value));
}

static int run(struct launch_params *p, const struct fab_fabric *f, struct fab_err *err)
{
	struct fence_outcome o = {.p = p};
	struct launch_result result = {"results", fence_print, keep, &o};
	static const enum fab_launch_constant constants[] = {
		FAB_CONST_o_us, FAB_CONST_latency_us, FAB_CONST_gap_ns_per_B,
		FAB_CONST_copy_ns_per_B, FAB_CONST_tree_width};
	int rc = choose_fences(&o, err);

	launch_use_constants(p, constants, FAB_COUNT(constants));
	if (!rc)
		rc = launch_job_init(p, f, &o.job, err);
	if (!rc) {
		note_input(p, &o.job);
		rc = make_groups(&o, err);
	}
	if (!rc)
		rc = simulate(&o, err);
	if (!rc)
		rc = find_ranges(&o, err);
	if (!rc)
		rc = find_seconds(&o, err);
	if (!rc)
		choose_autos(&o);
	if (!rc)
		rc = launch_finish(p, f, &result, NULL, err);
	fini(&o);
	return rc;
}

const struct launch_work launch_fence = {launch_fence_columns, &launch_fence_n_columns,
					 run};
