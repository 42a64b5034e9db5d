/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Plans: each batch by each mapping and model. With a change (servers fail or come, nodes
 * go) the mapping before is made of the machine before, and compared.
 */
#include "boot/plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- changes ---- */

int fab_plan_take_nodes(struct fab_plan_change *c, const bool *is_gone,
			struct fab_arena *a, struct fab_err *err)
{
	struct fab_machine *m = c->now;
	bool *gone = FAB_ARENA_NEW(a, (size_t)m->n_nodes + 1, bool);

	memcpy(gone, is_gone, m->n_nodes * sizeof(*gone));
	c->is_gone = gone;
	c->old_node = FAB_ARENA_NEW(a, (size_t)m->n_nodes + 1, uint32_t);
	c->old = m;
	return fab_machine_without(m, gone, c->old_node, &c->now, err);
}

void fab_plan_limit(struct fab_plan_change *c, const struct fab_limits *limits,
		    double efficiency)
{
	fab_limits_apply(c->now, limits, efficiency);
	if (c->old)
		fab_limits_apply(c->old, limits, efficiency);
	c->before = c->old ? *c->old : *c->now;
	c->before.server_is_down = c->was_down;
}

/* Images by nodes of a machine as parts of the largest one. */
static const double *parts_of(const struct fab_machine *m, const struct fab_image *images,
			      const uint32_t *image_of, uint64_t bytes, uint64_t largest,
			      struct fab_arena *a)
{
	double *part = FAB_ARENA_NEW(a, (size_t)m->n_nodes + 1, double);

	for (uint32_t i = 0; i < m->n_nodes; i++)
		part[i] = (double)fab_image_bytes(images, image_of[i], bytes) /
			  (double)largest;
	return part;
}

uint64_t fab_plan_images(struct fab_plan_change *c, const struct fab_image *images,
			 uint32_t *image_of, uint64_t bytes,
			 const struct fab_batch *batches, uint32_t n_batches,
			 struct fab_arena *a, uint64_t *least)
{
	uint32_t *before = FAB_ARENA_NEW(
		a, (size_t)(c->old ? c->old : c->now)->n_nodes + 1, uint32_t);
	uint64_t largest = 0;

	if (c->old)
		memcpy(before, image_of, c->old->n_nodes * sizeof(*before));
	for (uint32_t i = 0; i < c->now->n_nodes && c->old; i++)
		image_of[i] = before[c->old_node[i]];
	*least = UINT64_MAX;
	for (uint32_t b = 0; b < n_batches; b++)
		for (uint32_t i = 0; i < batches[b].n; i++) {
			uint64_t own = fab_image_bytes(
				images, image_of[batches[b].node[i]], bytes);

			largest = own > largest ? own : largest;
			*least = own < *least ? own : *least;
		}
	if (largest <= *least)
		return largest;
	c->now->image_part = parts_of(c->now, images, image_of, bytes, largest, a);
	c->before.image_part = c->now->image_part;
	if (c->old)
		c->before.image_part = c->old->image_part =
			parts_of(c->old, images, before, bytes, largest, a);
	return largest;
}

uint32_t *fab_plan_mapping_now(const struct fab_plan_change *c, const uint32_t *before)
{
	uint32_t *of = FAB_NEW((size_t)c->now->n_nodes + 1, uint32_t);

	for (uint32_t i = 0; i < c->now->n_nodes; i++)
		of[i] = before[c->old_node ? c->old_node[i] : i];
	return of;
}

void fab_plan_change_fini(struct fab_plan_change *c)
{
	if (c->now != c->old)
		fab_machine_free(c->now);
	fab_machine_free(c->old);
}

/* The nodes of a batch before, with those that are gone now. fab_batch_fini(). */
static void batch_before(const struct fab_plan_change *c, const struct fab_batch *batch,
			 struct fab_batch *out)
{
	FAB_AUTOFREE struct fab_ids ids = {0};

	if (!c->old_node) {
		*out = *batch;
		out->is_borrowed = true;
		out->text = fab_strdup(batch->text);
		out->matches = (struct fab_matches){0};
		return;
	}
	FAB_EACH_NODE(batch, node)
		FAB_PUSH(&ids.of, c->old_node[node]);
	for (uint32_t i = 0; i < c->old->n_nodes; i++)
		if (c->is_gone[i])
			FAB_PUSH(&ids.of, i);
	fab_batch_of(ids.of.v, (uint32_t)ids.of.n, batch->text, out);
}

/* ---- mappings ---- */

/* Memory of a thread, kept between batches. */
struct work {
	uint32_t *interface_of[FAB_PLAN_CHOICES_MAX]; /* [n_nodes] each */
	uint32_t *before[FAB_PLAN_CHOICES_MAX]; /* with the nodes before the change */
};

/* Do transfers through time decide between mappings? They do where they can end later
 * than by equal shares. */
static bool is_timed(const struct fab_plan *p)
{
	return p->model != FAB_PLAN_EQUAL_SHARE &&
	       fab_transfer_is_timed(p->change.now, p->transfer);
}

static struct fab_mapping_problem
problem_of(const struct fab_plan *p, const struct fab_batch *batch, bool is_max_min)
{
	return (struct fab_mapping_problem){
		.m = p->change.now,
		.batch = batch,
		.loaded = p->loaded,
		.was_down = p->change.was_down,
		.purpose = p->purpose,
		.timed = is_max_min && is_timed(p) ? p->transfer : NULL,
		.seed = p->seed};
}

struct fab_mapping_problem fab_plan_problem(const struct fab_plan *p)
{
	return problem_of(p, &p->batches[p->n_batches - 1],
			  p->model != FAB_PLAN_EQUAL_SHARE);
}

/* The mapping of a batch into *interface_of, NULL at first: one that is independent of
 * the batch is made once. */
static int map_batch(const struct fab_plan *p, struct fab_mapping_problem *problem,
		     size_t choice, uint32_t **interface_of, struct fab_err *err)
{
	const struct fab_mapping_choice *c = &p->choices[choice];
	bool is_new =
		!*interface_of || c->engine->keeps ||
		(c->engine->is_for_batch && (p->purpose == FAB_FOR_BATCH || is_timed(p)));

	if (!*interface_of)
		*interface_of = FAB_NEW(problem->m->n_nodes, uint32_t);
	problem->argument = c->argument;
	return is_new ? c->engine->map(problem, *interface_of, err) : 0;
}

/* The mapping of a batch, and of the nodes now that before the change: *before, on the
 * heap, NULL without a change. */
static int plan_mapping(const struct fab_plan *p, struct work *w,
			const struct fab_batch *batch, size_t choice, bool is_max_min,
			uint32_t **before, struct fab_err *err)
{
	struct fab_mapping_problem problem = problem_of(p, batch, is_max_min);
	struct fab_batch then;
	int rc = 0;

	*before = NULL;
	if (p->change.is_any) {
		struct fab_mapping_problem old = problem;

		batch_before(&p->change, batch, &then);
		old.m = &p->change.before;
		old.batch = &then;
		old.loaded = p->loaded_before;
		rc = map_batch(p, &old, choice, &w->before[choice], err);
		fab_batch_fini(&then);
		if (rc)
			return rc;
		*before = fab_plan_mapping_now(&p->change, w->before[choice]);
	}
	if (*before && p->choices[choice].engine->keeps)
		problem.loaded = *before;
	return map_batch(p, &problem, choice, &w->interface_of[choice], err);
}

bool fab_plan_is_incomplete(const struct fab_batch *batch, const uint32_t *interface_of)
{
	bool is_missing = false;

	FAB_EACH_NODE(batch, node)
		is_missing |= interface_of[node] == FAB_NONE;
	return is_missing;
}

int fab_plan_map_largest(const struct fab_plan *p,
			 uint32_t *interface_of[FAB_PLAN_CHOICES_MAX],
			 struct fab_err *err)
{
	struct work w = {0};
	int rc = 0;

	for (size_t i = 0; i < p->n_choices && !rc; i++) {
		uint32_t *before;

		rc = plan_mapping(p, &w, &p->batches[p->n_batches - 1], i,
				  p->model != FAB_PLAN_EQUAL_SHARE, &before, err);
		if (!rc)
			free(before);
		free(w.before[i]);
		interface_of[i] = w.interface_of[i];
	}
	return rc;
}

/* ---- measures ---- */

/* Shares and end of a mapping by a model. */
static int measure(const struct fab_plan *p, const struct fab_machine *m,
		   const uint32_t *interface_of, struct fab_plan_result *r,
		   struct fab_err *err)
{
	FAB_AUTO(fab_transfer_fini) struct fab_transfer t = {0};
	int rc = fab_share_of(m, r->batch, interface_of, &r->share, err);

	if (rc)
		return rc;
	r->boot_seconds = fab_transfer_equal_share_seconds(&r->share, p->transfer);
	r->bandwidth_mbps = r->share.bandwidth_mbps;
	r->slowest_node = r->share.slowest_node;
	if (!r->is_max_min)
		return 0;
	rc = fab_transfer_run(m, r->batch, interface_of, p->transfer, &t, err);
	if (rc)
		return rc;
	r->bandwidth_mbps = t.first_rate_mbps;
	r->boot_seconds = t.last_s;
	r->median_seconds = t.median_s;
	r->slowest_node = t.slowest_node;
	r->n_retries = t.n_retries;
	r->n_failed = t.n_failed;
	return 0;
}

/* Servers that serve nodes of the batch, and nodes without one. */
static void count_servers(const struct fab_plan *p, const uint32_t *interface_of,
			  struct fab_plan_result *r)
{
	const struct fab_machine *m = p->change.now;
	FAB_AUTOFREE bool *is_used = FAB_NEW0(m->n_servers, bool);

	FAB_EACH_NODE(r->batch, node) {
		uint32_t interface = interface_of[node], server;

		if (interface == FAB_NONE) {
			if (!r->n_unserved++)
				r->slowest_node = node;
			continue;
		}
		server = m->interface_server[interface];
		r->n_servers += !is_used[server];
		is_used[server] = true;
	}
}

/* By a second path: servers that are up, and the slowest node by brute force. A mapping
 * that leaves nodes out is found to do so. */
static void verify(const struct fab_plan *p, struct fab_plan_result *r,
		   const uint32_t *interface_of, struct fab_plan_results *out)
{
	const struct fab_machine *m = p->change.now;
	double slowest = fab_share_pace(&r->share), ours = slowest;
	struct fab_err err = {""};

	r->is_sound =
		!fab_mapping_verify(m, r->batch, interface_of, &err) == !r->n_unserved;
	if (r->is_sound && !r->n_unserved) {
		slowest = fab_share_slowest_brute(m, r->batch, interface_of);
		r->is_sound = slowest == ours || fabs(slowest - ours) <= 1e-9 * ours;
	}
	if (r->is_sound)
		return;
	FAB_PUSH(&out->doubts,
		 *err.text ? fab_format("%s: %s", r->algorithm, err.text)
			   : fab_format("%s: the slowest node gets %g Mb/s, not %g",
					r->algorithm, slowest, ours));
	out->is_broken = true;
}

/* One batch by one mapping and one model; a mapping that the model before it has made is
 * taken over when transfers through time do not decide. */
static int plan_one(const struct fab_plan *p, struct work *w,
		    const struct fab_batch *batch, size_t choice, bool is_max_min,
		    const struct fab_failover **failover, struct fab_plan_results *out,
		    struct fab_err *err)
{
	struct fab_plan_result r = {.algorithm = p->choices[choice].name,
				    .batch = batch,
				    .is_max_min = is_max_min,
				    .bandwidth_mbps = NAN,
				    .boot_seconds = INFINITY,
				    .median_seconds = NAN,
				    .seconds_before = NAN,
				    .share.bottleneck = FAB_NONE};
	bool is_first = !is_max_min || p->model == FAB_PLAN_MAX_MIN;
	int rc = 0;

	if (is_first || is_timed(p)) {
		FAB_AUTOFREE uint32_t *before = NULL;

		rc = plan_mapping(p, w, batch, choice, is_max_min, &before, err);
		*failover = NULL;
		if (!rc && before) {
			struct fab_failover *f = FAB_NEW(1, struct fab_failover);

			fab_failover_of(p->change.now, batch, before,
					w->interface_of[choice], f);
			FAB_PUSH(&out->failovers, f);
			*failover = f;
		}
	}
	r.failover = *failover;
	if (rc)
		return rc;
	if (p->change.is_any) { /* INFINITY: nodes had no server */
		struct fab_plan_result old = {.is_max_min = is_max_min,
					      .boot_seconds = INFINITY};
		struct fab_batch then;

		batch_before(&p->change, batch, &then);
		old.batch = &then;
		if (!fab_plan_is_incomplete(&then, w->before[choice]))
			rc = measure(p, &p->change.before, w->before[choice], &old, err);
		r.seconds_before = old.boot_seconds;
		fab_batch_fini(&then);
		if (rc)
			return rc;
	}
	count_servers(p, w->interface_of[choice], &r);
	if (!r.n_unserved)
		rc = measure(p, p->change.now, w->interface_of[choice], &r, err);
	if (rc)
		return rc;
	if (r.n_failed && batch == &p->batches[p->n_batches - 1])
		FAB_PUSH(
			&out->doubts,
			fab_format(
				"%s: %" PRIu32 " of %" PRIu32
				" nodes never boot: no image within --set timeout (attempts: %" PRIu32
				")",
				r.algorithm, r.n_failed, batch->n,
				p->transfer->retries + 1));
	if (p->verifies)
		verify(p, &r, w->interface_of[choice], out);
	FAB_PUSH(&out->of, r);
	return 0;
}

/* ---- the sweep ---- */

struct context {
	const struct fab_plan *plan;
	uint64_t count; /* parts of the sweep; 0: it is whole */
	struct fab_plan_results *out;
};

static void *open_work(void *context)
{
	(void)context;
	return FAB_NEW0(1, struct work);
}

static void close_work(void *context, void *memory)
{
	struct work *w = memory;

	(void)context;
	for (size_t i = 0; i < FAB_PLAN_CHOICES_MAX; i++) {
		free(w->interface_of[i]);
		free(w->before[i]);
	}
	free(w);
}

void fab_plan_results_fini(struct fab_plan_results *r)
{
	for (size_t i = 0; i < r->failovers.n; i++) {
		fab_failover_fini(r->failovers.v[i]);
		free(r->failovers.v[i]);
	}
	for (size_t i = 0; i < r->doubts.n; i++)
		free(r->doubts.v[i]);
	FAB_FREE_ALL(r->of.v, r->failovers.v, r->doubts.v);
	*r = (struct fab_plan_results){0};
}

static void drop(void *context, void *result)
{
	(void)context;
	fab_plan_results_fini(result);
}

/* The batches of the shard are all there are. */
static int plan_batch(void *context, void *memory, uint64_t number, void *result,
		      struct fab_err *err)
{
	const struct context *x = context;
	const struct fab_plan *p = x->plan;
	const struct fab_batch *batch =
		&p->batches[x->count ? number / x->count : number];
	int rc = 0;

	for (size_t i = 0; i < p->n_choices && !rc; i++) {
		const struct fab_failover *failover = NULL;

		if (p->model != FAB_PLAN_MAX_MIN)
			rc = plan_one(p, memory, batch, i, false, &failover, result, err);
		if (!rc && p->model != FAB_PLAN_EQUAL_SHARE)
			rc = plan_one(p, memory, batch, i, true, &failover, result, err);
	}
	if (rc)
		fab_plan_results_fini(result);
	return rc;
}

static void take(void *context, uint64_t number, void *result)
{
	struct fab_plan_results *out = ((struct context *)context)->out, *r = result;

	(void)number;
	for (size_t i = 0; i < r->of.n; i++)
		FAB_PUSH(&out->of, r->of.v[i]);
	for (size_t i = 0; i < r->failovers.n; i++)
		FAB_PUSH(&out->failovers, r->failovers.v[i]);
	for (size_t i = 0; i < r->doubts.n; i++)
		FAB_PUSH(&out->doubts, r->doubts.v[i]);
	out->is_broken |= r->is_broken;
	r->failovers.n = r->doubts.n = 0; /* they belong to *out now */
	fab_plan_results_fini(r);
}

int fab_plan_run(const struct fab_plan *plan, struct fab_sweep sweep,
		 struct fab_plan_results *out, struct fab_err *err)
{
	struct context context = {plan, sweep.shard.count, out};

	sweep.what = "batch";
	sweep.result_bytes = sizeof(*out);
	sweep.context = &context;
	sweep.open = open_work;
	sweep.close = close_work;
	sweep.work = plan_batch;
	sweep.take = take;
	sweep.drop = drop;
	return fab_sweep_run(&sweep, err);
}

const struct fab_plan_result *fab_plan_best(const struct fab_plan *p,
					    const struct fab_plan_results *results)
{
	const struct fab_plan_result *best = &results->of.v[results->of.n - 1];

	/* the last one is by max-min, where that was asked for */
	for (const struct fab_plan_result *r = best; r >= results->of.v; r--)
		if (r->batch == best->batch && r->boot_seconds <= best->boot_seconds &&
		    (!is_timed(p) || r->is_max_min == best->is_max_min))
			best = r;
	return best;
}
