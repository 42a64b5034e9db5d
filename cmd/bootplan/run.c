/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-bootplan does once its options are read. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "bootplan.h"
#include "event/sweep.h"

/* Of the tree and its rates: for a machine what the fingerprint is for a fabric. */
static uint64_t fingerprint(const struct fab_machine *m)
{
	uint64_t hash = fab_hash_bytes(m->parent, m->n_vertices * sizeof(*m->parent), 1);

	hash = fab_hash_bytes(m->capacity_mbps, m->n_vertices * sizeof(*m->capacity_mbps),
			      hash);
	return fab_hash_bytes(m->interface_vertex,
			      m->n_interfaces * sizeof(*m->interface_vertex), hash);
}

/* As it is now; servers that are new are servers. */
static int make_machine(const struct bootplan_params *p, const struct fab_fabric *f,
			struct bootplan_change *change, struct fab_machine **out,
			struct fab_err *err)
{
	FAB_VEC(const char *) servers = {0};
	struct fab_machine *m;
	int rc;

	for (size_t i = 0; i < p->servers.n; i++)
		FAB_PUSH(&servers, p->servers.v[i]);
	for (size_t i = 0; i < p->with.n; i++)
		FAB_PUSH(&servers, p->with.v[i]);
	rc = f ? bootplan_machine_of_fabric(p, f, servers.v, servers.n, &m, err)
	       : bootplan_machine_of_text(p->machine, &m, err);
	free(servers.v);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < m->n_warnings; i++)
		fab_cli_warn(&p->run, "%s", m->warnings[i]);
	return bootplan_change_init(change, p, m, out, err);
}

/* What is kept between the batches of a sweep; each thread has its own. */
struct work {
	uint32_t *interface_of[BOOTPLAN_MAX_CHOICES]; /* [n_nodes] each */
	/* before something changed, with the nodes of then */
	uint32_t *before[BOOTPLAN_MAX_CHOICES];
	struct fab_share_workspace *share_before;
	bool *is_used; /* [n_servers] */
	struct fab_share_workspace *share;
	const uint32_t *loaded; /* that of the sweep */
};

/* What all threads read. */
struct sweep {
	const struct bootplan_params *p;
	struct bootplan_outcome *o;
	struct bootplan_change change;
	uint32_t *loaded, *loaded_before; /* by the nodes now, and before */
	bool is_sound;
};

/* What comes of one batch. */
struct planned {
	FAB_VEC(struct bootplan_result) results;
	FAB_VEC(struct fab_failover *) failovers;
	FAB_VEC(char *) doubts; /* for warnings, on the heap */
	bool is_broken;		/* --verify found something */
};

static int read_loaded(const struct bootplan_params *p, struct fab_machine *m,
		       struct sweep *s, struct fab_err *err)
{
	struct fab_machine *then = s->change.old ? s->change.old : m;
	struct fab_input in;
	int rc = p->loaded ? fab_input_read(p->loaded, &in, err) : 0;

	if (rc || !p->loaded)
		return rc;
	then->resolver = m->resolver;
	s->loaded_before = FAB_NEW(then->n_nodes, uint32_t);
	rc = fab_mapping_read(then, bootplan_label(p->loaded), in.bytes, in.n,
			      s->loaded_before, err);
	fab_input_fini(&in);
	if (then != m)
		then->resolver = NULL;
	if (!rc)
		s->loaded = bootplan_mapping_now(&s->change, m, s->loaded_before);
	return rc;
}

/* Servers that serve nodes of the batch; *n_unserved: nodes without one. */
static uint32_t count_servers(const struct fab_machine *m, const struct fab_batch *batch,
			      const uint32_t *interface_of, bool *is_used,
			      uint32_t *n_unserved)
{
	uint32_t n = 0;

	memset(is_used, 0, m->n_servers * sizeof(*is_used));
	*n_unserved = 0;
	for (uint32_t i = 0; i < batch->n; i++) {
		uint32_t interface = interface_of[batch->node[i]], server;

		if (interface == FAB_NONE) {
			++*n_unserved;
			continue;
		}
		server = m->interface_server[interface];
		n += !is_used[server];
		is_used[server] = true;
	}
	return n;
}

/* By a second path: servers that are up, and the slowest node by brute force. A mapping
 * that leaves nodes out is found to do so. */
static void verify(const struct bootplan_outcome *o, struct bootplan_result *r,
		   const uint32_t *interface_of, struct planned *out)
{
	double slowest = r->share.bandwidth_mbps, ours = slowest;
	struct fab_err err = {""};

	r->is_sound =
		!fab_mapping_verify(o->m, r->batch, interface_of, &err) == !r->n_unserved;
	if (r->is_sound && !r->n_unserved) {
		slowest = fab_share_slowest_brute(o->m, r->batch, interface_of);
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

/* Rates and times of the mapping by max-min fairness. */
static int measure_max_min(const struct bootplan_params *p,
			   const struct bootplan_outcome *o, struct bootplan_result *r,
			   const uint32_t *interface_of, struct planned *out,
			   struct fab_err *err)
{
	struct fab_transfer t;
	int rc = fab_transfer_run(o->m, r->batch, interface_of, &p->transfer, &t, err);

	if (rc)
		return rc;
	r->bandwidth_mbps = t.first_rate_mbps;
	r->boot_seconds = t.last_s;
	r->median_seconds = t.median_s;
	r->slowest_node = t.slowest_node;
	r->n_retries = t.n_retries;
	r->n_failed = t.n_failed;
	if (r->n_failed && r->batch == &o->batches[o->n_batches - 1])
		FAB_PUSH(&out->doubts,
			 fab_format("%s: %" PRIu32 " of %" PRIu32 " nodes never boot: "
				    "no image within --timeout, nor in %" PRIu32
				    " retries",
				    r->algorithm, r->n_failed, r->batch->n,
				    p->transfer.retries));
	fab_transfer_fini(&t);
	return 0;
}

/* Transfers through time decide between mappings where they end later than by equal
 * shares. */
static bool is_timed(const struct sweep *s)
{
	return s->p->model != BOOTPLAN_EQUAL_SHARE &&
	       fab_transfer_is_timed(s->o->m, &s->p->transfer);
}

/* The mapping of a batch by an algorithm into *interface_of, NULL at first: one that does
 * not depend on the batch is made once. */
static int map_batch(const struct sweep *s, const struct fab_mapping_problem *problem,
		     size_t choice, uint32_t **interface_of, struct fab_err *err)
{
	const struct fab_mapping_choice *c = &s->p->choices[choice];
	bool is_first = !*interface_of;

	if (is_first)
		*interface_of = FAB_NEW(problem->m->n_nodes, uint32_t);
	return is_first || c->engine->keeps ||
			       (c->engine->is_for_batch &&
				(s->p->purpose == FAB_FOR_BATCH || is_timed(s)))
		       ? c->engine->map(problem, c->argument, *interface_of, err)
		       : 0;
}

static struct fab_mapping_problem
problem_of(const struct sweep *s, const struct fab_batch *batch, bool is_max_min)
{
	return (struct fab_mapping_problem){
		.m = s->o->m,
		.batch = batch,
		.loaded = s->loaded,
		.was_down = s->change.was_down,
		.purpose = s->p->purpose,
		.timed = is_max_min && is_timed(s) ? &s->p->transfer : NULL,
		.seed = s->p->run.seed};
}

/* Is any node of the batch without a server? */
static bool is_incomplete(const struct fab_batch *batch, const uint32_t *interface_of)
{
	bool is_missing = false;

	for (uint32_t i = 0; i < batch->n; i++)
		is_missing |= interface_of[batch->node[i]] == FAB_NONE;
	return is_missing;
}

/* How long it took before a change; NaN: nothing changes, INFINITY: nodes had no server.
 */
static int time_before(const struct sweep *s, struct work *w,
		       const struct fab_batch *batch, size_t choice, bool is_max_min,
		       double *seconds, struct fab_err *err)
{
	const struct fab_machine *m = &s->change.before;
	const struct fab_transfer_options *o = &s->p->transfer;
	const uint32_t *of = w->before[choice];
	struct fab_transfer t;
	struct fab_share share;
	struct fab_batch then;
	int rc = 0;

	*seconds = NAN;
	if (!s->change.is_any)
		return 0;
	bootplan_batch_before(&s->change, batch, &then);
	if (is_incomplete(&then, of)) {
		*seconds = INFINITY;
	} else if (is_max_min) {
		rc = fab_transfer_run(m, &then, of, o, &t, err);
		if (!rc) {
			*seconds = t.last_s;
			fab_transfer_fini(&t);
		}
	} else {
		rc = fab_share_of(m, &then, of, false, w->share_before, &share, err);
		if (!rc) {
			*seconds = fab_transfer_equal_share_seconds(&share, o);
			fab_share_fini(&share);
		}
	}
	fab_batch_fini(&then);
	return rc;
}

/* The mapping of a batch, and of the nodes now what it was before a change: *before, on
 * the heap, NULL without a change. */
static int plan_mapping(const struct sweep *s, struct work *w,
			const struct fab_batch *batch, size_t choice, bool is_max_min,
			uint32_t **before, struct fab_err *err)
{
	struct fab_mapping_problem problem = problem_of(s, batch, is_max_min);
	struct fab_batch then;
	int rc = 0;

	*before = NULL;
	if (s->change.is_any) {
		struct fab_mapping_problem old = problem;

		bootplan_batch_before(&s->change, batch, &then);
		old.m = &s->change.before;
		old.batch = &then;
		old.loaded = s->loaded_before;
		rc = map_batch(s, &old, choice, &w->before[choice], err);
		fab_batch_fini(&then);
		if (rc)
			return rc;
		*before = bootplan_mapping_now(&s->change, s->o->m, w->before[choice]);
	}
	if (*before && s->p->choices[choice].engine->keeps)
		problem.loaded = *before;
	return map_batch(s, &problem, choice, &w->interface_of[choice], err);
}

static const struct fab_failover *fail_over(const struct sweep *s, struct work *w,
					    const struct fab_batch *batch, size_t choice,
					    uint32_t *before, struct planned *out)
{
	struct fab_failover *f;

	if (!before)
		return NULL;
	f = FAB_NEW(1, struct fab_failover);
	fab_failover_of(s->o->m, batch, before, w->interface_of[choice], f);
	FAB_PUSH(&out->failovers, f);
	return f;
}

/* Shares and times of a mapping by a model. */
static int measure(const struct sweep *s, struct work *w, size_t choice, bool is_max_min,
		   struct bootplan_result *r, struct planned *out, struct fab_err *err)
{
	const uint32_t *interface_of = w->interface_of[choice];
	int rc;

	r->n_servers = count_servers(s->o->m, r->batch, interface_of, w->is_used,
				     &r->n_unserved);
	r->model = is_max_min ? "max-min" : "equal-share";
	r->median_seconds = NAN;
	if (r->n_unserved) {
		r->share.bottleneck = FAB_NONE;
		r->bandwidth_mbps = NAN;
		r->boot_seconds = INFINITY;
		for (uint32_t i = r->batch->n; i-- > 0;)
			if (interface_of[r->batch->node[i]] == FAB_NONE)
				r->slowest_node = r->batch->node[i];
		return 0;
	}
	rc = fab_share_of(s->o->m, r->batch, interface_of, false, w->share, &r->share,
			  err);
	if (rc)
		return rc;
	r->boot_seconds = fab_transfer_equal_share_seconds(&r->share, &s->p->transfer);
	r->bandwidth_mbps = r->share.bandwidth_mbps;
	r->slowest_node = r->share.slowest_node;
	return is_max_min ? measure_max_min(s->p, s->o, r, interface_of, out, err) : 0;
}

/* One batch by one algorithm and one model; a mapping that the model before it has made
 * is taken over when transfers through time do not decide. */
static int plan_one(const struct sweep *s, struct work *w, const struct fab_batch *batch,
		    size_t choice, bool is_max_min, const struct fab_failover **failover,
		    struct planned *out, struct fab_err *err)
{
	const struct bootplan_params *p = s->p;
	struct bootplan_result r = {.algorithm = p->choices[choice].name,
				    .batch = batch,
				    .shard = fab_cli_shard_text(&p->shard)};
	uint32_t *before = NULL;
	bool is_first = !is_max_min || p->model == BOOTPLAN_MAX_MIN;
	int rc = 0;

	if (is_first || is_timed(s)) {
		rc = plan_mapping(s, w, batch, choice, is_max_min, &before, err);
		*failover = rc ? NULL : fail_over(s, w, batch, choice, before, out);
	}
	free(before);
	r.failover = *failover;
	if (!rc)
		rc = time_before(s, w, batch, choice, is_max_min, &r.seconds_before, err);
	if (!rc)
		rc = measure(s, w, choice, is_max_min, &r, out, err);
	if (rc)
		return rc;
	if (p->run.verify)
		verify(s->o, &r, w->interface_of[choice], out);
	FAB_PUSH(&out->results, r);
	return 0;
}

static void *open_work(void *context)
{
	const struct sweep *s = context;
	struct work *w = FAB_NEW0(1, struct work);

	w->share = fab_share_workspace_new(s->o->m);
	w->share_before = fab_share_workspace_new(&s->change.before);
	w->is_used = FAB_NEW(s->o->m->n_servers, bool);
	w->loaded = s->loaded;
	return w;
}

static void close_work(void *context, void *memory)
{
	struct work *w = memory;

	(void)context;
	for (size_t i = 0; i < BOOTPLAN_MAX_CHOICES; i++) {
		free(w->interface_of[i]);
		free(w->before[i]);
	}
	free(w->is_used);
	fab_share_workspace_free(w->share);
	fab_share_workspace_free(w->share_before);
	free(w);
}

static void drop_planned(void *context, void *result)
{
	struct planned *a = result;

	(void)context;
	for (size_t i = 0; i < a->failovers.n; i++) {
		fab_failover_fini(a->failovers.v[i]);
		free(a->failovers.v[i]);
	}
	for (size_t i = 0; i < a->doubts.n; i++)
		free(a->doubts.v[i]);
	free(a->results.v);
	free(a->failovers.v);
	free(a->doubts.v);
}

/* The batches of the shard are all that o->batches holds. */
static const struct fab_batch *batch_of(const struct sweep *s, uint64_t number)
{
	uint64_t count = s->p->shard.part.count;

	return &s->o->batches[count ? number / count : number];
}

static int plan_batch(void *context, void *memory, uint64_t number, void *result,
		      struct fab_err *err)
{
	const struct sweep *s = context;
	int rc = 0;

	for (size_t i = 0; i < s->p->n_choices && !rc; i++) {
		const struct fab_batch *batch = batch_of(s, number);
		const struct fab_failover *failover = NULL;

		if (s->p->model != BOOTPLAN_MAX_MIN)
			rc = plan_one(s, memory, batch, i, false, &failover, result, err);
		if (!rc && s->p->model != BOOTPLAN_EQUAL_SHARE)
			rc = plan_one(s, memory, batch, i, true, &failover, result, err);
	}
	if (rc)
		drop_planned(context, result);
	return rc;
}

static void take_planned(void *context, uint64_t number, void *result)
{
	struct sweep *s = context;
	struct planned *a = result;

	(void)number;
	for (size_t i = 0; i < a->results.n; i++)
		FAB_PUSH(&s->o->results, a->results.v[i]);
	for (size_t i = 0; i < a->failovers.n; i++)
		FAB_PUSH(&s->o->failovers, a->failovers.v[i]);
	for (size_t i = 0; i < a->doubts.n; i++)
		fab_cli_warn(&s->p->run, "%s", a->doubts.v[i]);
	s->is_sound = s->is_sound && !a->is_broken;
	a->failovers.n = 0; /* they belong to the outcome now */
	drop_planned(context, a);
}

/* All batches of the shard, one a thread. */
static int plan_all(struct sweep *s, struct fab_err *err)
{
	struct fab_sweep sweep = {.what = "batch",
				  .n_items = s->p->shard.all,
				  .shard = s->p->shard.part,
				  .n_threads = s->p->run.threads,
				  .result_bytes = sizeof(struct planned),
				  .context = s,
				  .open = open_work,
				  .close = close_work,
				  .work = plan_batch,
				  .take = take_planned,
				  .drop = drop_planned,
				  .progress = fab_cli_progress_tick};
	int rc;

	sweep.progress_context = fab_cli_progress_new(&s->p->run, "planning", "batches");
	rc = fab_sweep_run(&sweep, err);
	fab_cli_progress_free(sweep.progress_context);
	return rc;
}

/* The mappings of the largest batch, for files and other methods. */
static int map_largest(struct sweep *s, struct work *w, struct fab_err *err)
{
	uint32_t *before;
	int rc = 0;

	for (size_t i = 0; i < s->p->n_choices && !rc; i++) {
		rc = plan_mapping(s, w, &s->o->batches[s->o->n_batches - 1], i,
				  s->p->model != BOOTPLAN_EQUAL_SHARE, &before, err);
		if (!rc)
			free(before);
	}
	return rc;
}

/* Keep only the batches of the shard; what all shards say of the sweep stays. */
static int take_shard(struct bootplan_params *p, struct bootplan_outcome *o,
		      struct fab_err *err)
{
	const struct fab_batch *largest = &o->batches[o->n_batches - 1];
	uint32_t n = 0;
	int rc = fab_cli_count_shard(&p->shard, o->n_batches, "batches", err);

	o->largest_nodes = largest->n;
	o->largest_text = fab_strdup(largest->text);
	if (rc || !p->shard.part.count)
		return rc;
	for (uint32_t i = 0; i < o->n_batches; i++) {
		struct fab_batch *b = &o->batches[i];

		if (n < p->shard.items && i == fab_shard_item(&p->shard.part, n)) {
			o->batches[n++] = *b;
		} else if (b == largest && n && o->batches[n - 1].is_borrowed) {
			/* its nodes are theirs */
			o->batches[n - 1].is_borrowed = false;
			b->is_borrowed = true;
			fab_batch_fini(b);
		} else {
			fab_batch_fini(b);
		}
	}
	o->n_batches = n;
	return 0;
}

/* Of the largest batch, which was the last one; NULL: it leaves nodes without a server.
 */
static const uint32_t *best_mapping(const struct bootplan_params *p,
				    const struct bootplan_outcome *o,
				    const struct work *w)
{
	const struct bootplan_result *best = bootplan_best(o);
	size_t i = 0;

	if (best->n_unserved)
		return NULL;
	while (p->choices[i].name != best->algorithm)
		i++;
	return w->interface_of[i];
}

/* Mappings that leave nodes without a server are left out, and reported. */
static int write_mapping(const struct bootplan_params *p,
			 const struct bootplan_outcome *o, const struct work *w,
			 struct fab_cli_results *results, struct fab_err *err)
{
	const struct fab_batch *batch = &o->batches[o->n_batches - 1];
	FILE *file = NULL;
	int rc = 0;

	for (size_t i = 0; i < p->n_choices && !rc; i++) {
		if (is_incomplete(batch, w->interface_of[i])) {
			fab_cli_warn(
				&p->run,
				"--mapping-out: %s leaves nodes without a server and "
				"is not written",
				p->choices[i].name);
			continue;
		}
		file = file ? file : fab_cli_open_result(results, p->mapping_out);
		rc = bootplan_write_mapping(file, o->m, batch, p->choices[i].name,
					    w->interface_of[i], err);
	}
	return rc || file ? rc
			  : fab_fail(err, EINVAL,
				     "--mapping-out: no mapping has a server for every "
				     "node");
}

/* The mapping of the one algorithm that --algorithm names, which comes first. */
static int export_mapping(const struct bootplan_params *p, struct bootplan_outcome *o,
			  const struct work *w, struct fab_cli_results *results,
			  struct fab_err *err)
{
	const struct fab_batch *batch = &o->batches[o->n_batches - 1];
	char node[BOOTPLAN_NAME_BYTES], server[BOOTPLAN_NAME_BYTES] = "";
	uint32_t n_unserved, first = 0, was;

	count_servers(o->m, batch, w->interface_of[0], w->is_used, &n_unserved);
	if (!n_unserved)
		return bootplan_export(&p->export, &p->run, o->m, batch,
				       w->interface_of[0], results, &o->exported, err);
	while (w->interface_of[0][batch->node[first]] != FAB_NONE)
		first++;
	first = batch->node[first];
	was = w->loaded ? w->loaded[first] : FAB_NONE;
	if (was != FAB_NONE)
		fab_machine_server_name(o->m, o->m->interface_server[was], server,
					sizeof(server));
	return fab_fail(err, EINVAL,
			"--to: %s leaves %u of %u nodes without a server, such as "
			"'%.80s': %s%.80s%s (--algorithm=keep gives them one)",
			p->choices[0].name, n_unserved, batch->n,
			fab_machine_node_name(o->m, first, node, sizeof(node)),
			*server ? "'" : "--loaded names none", server,
			*server ? "' is down" : "");
}

struct keeping {
	struct bootplan_params *p;
	const struct bootplan_outcome *o;
};

static int keep(void *context, struct fab_err *err)
{
	const struct keeping *k = context;

	return bootplan_store(k->p, k->o, err);
}

/* The last result: with it all of them are committed. */
static int print_report(struct bootplan_params *p, const struct bootplan_outcome *o,
			struct fab_cli_results *results, struct fab_err *err)
{
	struct keeping keeping = {p, o};
	struct fab_report_options report;
	FILE *file = fab_cli_open_report(results, &p->output, &report);
	int rc = bootplan_report(file, &report, o, err);

	return fab_cli_finish_results(results, rc, keep, &keeping, err);
}

static void free_outcome(struct bootplan_outcome *o)
{
	for (size_t i = 0; i < o->results.n; i++)
		fab_share_fini(&o->results.v[i].share);
	free(o->results.v);
	free(o->methods.v);
	for (size_t i = 0; i < o->failovers.n; i++) {
		fab_failover_fini(o->failovers.v[i]);
		free(o->failovers.v[i]);
	}
	free(o->failovers.v);
	bootplan_exported_fini(&o->exported);
	for (uint32_t i = 0; i < o->n_batches; i++)
		fab_batch_fini(&o->batches[i]);
	free(o->batches);
	free(o->largest_text);
	fab_machine_free(o->m);
}

/* What files and names stood for: servers that are down, a mapping that was read. */
static void note_input(struct bootplan_params *p, const struct bootplan_outcome *o,
		       const struct sweep *s)
{
	const struct fab_machine *m = o->m;

	fab_cli_note_bytes(&p->shard, m->server_is_down,
			   m->n_servers * sizeof(*m->server_is_down));
	if (p->with.n)
		fab_cli_note_bytes(&p->shard, s->change.was_down,
				   m->n_servers * sizeof(bool));
	if (s->change.is_gone)
		fab_cli_note_bytes(&p->shard, s->change.is_gone,
				   s->change.old->n_nodes * sizeof(*s->change.is_gone));
	if (s->loaded)
		fab_cli_note_bytes(&p->shard, s->loaded, m->n_nodes * sizeof(*s->loaded));
	p->store.shard = &p->shard;
}

/* All files and the report. */
static int write_results(struct bootplan_params *p, struct bootplan_outcome *o,
			 const struct work *w, struct fab_err *err)
{
	struct fab_cli_results results = {.n = 0};
	int rc = 0;

	if (p->mapping_out)
		rc = write_mapping(p, o, w, &results, err);
	if (!rc && (p->export.path || p->export.folder))
		rc = export_mapping(p, o, w, &results, err);
	if (!rc && p->plot.path)
		bootplan_plot(&p->plot, o, &results);
	return rc ? rc : print_report(p, o, &results, err);
}

static int plan(struct sweep *s, struct bootplan_params *p, const struct fab_fabric *f,
		struct work **w, struct fab_err *err)
{
	struct bootplan_outcome *o = s->o;
	int rc = make_machine(p, f, &s->change, &o->m, err);

	if (!rc) {
		o->fingerprint = fingerprint(o->m);
		bootplan_change_limit(&s->change, p, o->m);
		rc = bootplan_make_batches(p, o, err);
	}
	if (!rc)
		rc = read_loaded(p, o->m, s, err);
	if (!rc)
		rc = take_shard(p, o, err);
	if (rc)
		return rc;
	note_input(p, o, s);
	rc = plan_all(s, err);
	*w = open_work(s);
	if (!rc)
		rc = map_largest(s, *w, err);
	o->problem = problem_of(s, &o->batches[o->n_batches - 1],
				p->model != BOOTPLAN_EQUAL_SHARE);
	if (!rc)
		rc = bootplan_add_methods(p, o, best_mapping(p, o, *w), err);
	if (!rc)
		rc = fab_advice_raise(&o->problem, &p->transfer, o->advice, &o->n_advice,
				      err);
	return rc ? rc : write_results(p, o, *w, err);
}

int bootplan_run(void *params, const struct fab_fabric *f, struct fab_err *err)
{
	struct bootplan_params *p = params;
	struct bootplan_outcome o = {.image_bytes = p->transfer.image_bytes,
				     .target_seconds = p->target_seconds,
				     .transfer = &p->transfer,
				     .is_signalling = p->rate,
				     .was_verified = p->run.verify,
				     .sharding = &p->shard,
				     .has_timeout = p->transfer.timeout_seconds > 0};
	struct sweep s = {.p = p, .o = &o, .is_sound = true};
	struct work *w;
	int rc = plan(&s, p, f, &w, err);

	if (rc)
		return rc;
	if (o.has_broken_tree ||
	    (p->check && bootplan_best(&o)->boot_seconds > p->target_seconds))
		s.is_sound = false;
	close_work(&s, w);
	free(s.loaded);
	free(s.loaded_before);
	free_outcome(&o);
	bootplan_change_fini(&s.change);
	return s.is_sound ? FAB_EXIT_DONE : FAB_EXIT_FOUND;
}
