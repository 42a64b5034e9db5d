/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-bootplan does once its options are read. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "boot/limits.h"
#include "bootplan.h"

static struct fab_machine *make_machine(const struct bootplan_params *p,
					const struct fab_fabric *f)
{
	struct fab_machine *m =
		f ? bootplan_machine_of_fabric(&p->run, f, p->servers.v, p->servers.n,
					       p->default_mbps, p->is_signalling)
		  : bootplan_machine_of_text(p->machine);
	struct fab_matches matches = {.with_names = p->run.verbose};
	struct fab_err err;

	for (uint32_t i = 0; i < m->n_warnings; i++)
		fab_cli_warn(&p->run, "%s", m->warnings[i]);
	for (size_t i = 0; i < p->failed.n; i++) {
		if (fab_machine_fail_server(m, p->failed.v[i], &matches, &err)) {
			fab_err_prefix(&err, "--fail-server");
			fab_cli_die(&err);
		}
		fab_cli_tell_matches(&p->run, "--fail-server", &matches);
	}
	return m;
}

static void make_batches(const struct bootplan_params *p, struct bootplan_outcome *o)
{
	const char *boot = p->boot ? p->boot : "all";
	bool is_file = bootplan_is_file(boot);
	struct fab_err err;
	int rc;

	if (p->is_sweep) {
		if (fab_batch_sweep(o->m, p->sweep, p->run.seed, &o->batches,
				    &o->n_batches, &err))
			fab_cli_exit(FAB_EXIT_ERROR, "--sweep: %s", err.text);
		return;
	}
	o->batches = FAB_NEW0(1, struct fab_batch);
	o->n_batches = 1;
	if (is_file) {
		struct fab_input in;

		bootplan_read(boot, &in);
		rc = fab_batch_read(o->m, bootplan_label(boot), in.bytes, in.n,
				    o->batches, &err);
		fab_input_fini(&in);
	} else {
		rc = fab_batch_parse(o->m, boot, o->batches, &err);
		if (rc)
			fab_err_prefix(&err, "--boot");
	}
	if (rc)
		fab_cli_die(&err);
	fab_cli_tell_matches(&p->run, is_file ? bootplan_label(boot) : "--boot",
			     &o->batches->matches);
}

/* What is kept between the batches of a sweep. */
struct work {
	uint32_t *interface_of[BOOTPLAN_MAX_CHOICES]; /* [n_nodes] each */
	uint32_t *before[BOOTPLAN_MAX_CHOICES];	      /* if all servers were up */
	struct fab_machine whole;		      /* in which they are */
	uint32_t *loaded;
	bool *is_used; /* [n_servers] */
	struct fab_share_workspace *share;
};

static void read_loaded(const struct bootplan_params *p, const struct fab_machine *m,
			struct work *w)
{
	struct fab_input in;
	struct fab_err err;

	bootplan_read(p->loaded, &in);
	w->loaded = FAB_NEW(m->n_nodes, uint32_t);
	if (fab_mapping_read(m, bootplan_label(p->loaded), in.bytes, in.n, w->loaded,
			     &err))
		fab_cli_die(&err);
	fab_input_fini(&in);
}

static uint32_t count_servers(const struct fab_machine *m, const struct fab_batch *batch,
			      const uint32_t *interface_of, bool *is_used)
{
	uint32_t n = 0;

	memset(is_used, 0, m->n_servers * sizeof(*is_used));
	for (uint32_t i = 0; i < batch->n; i++) {
		uint32_t server = m->interface_server[interface_of[batch->node[i]]];

		n += !is_used[server];
		is_used[server] = true;
	}
	return n;
}

/* By a second path: servers that are up, and the slowest node by brute force. */
static bool verify(const struct bootplan_params *p, const struct bootplan_outcome *o,
		   const struct bootplan_result *r, const uint32_t *interface_of)
{
	double slowest, ours = r->cables_mbps;
	struct fab_err err;

	if (fab_mapping_verify(o->m, r->batch, interface_of, &err)) {
		fab_cli_warn(&p->run, "%s: %s", r->algorithm, err.text);
		return false;
	}
	slowest = fab_share_slowest_brute(o->m, r->batch, interface_of);
	if (slowest == ours || fabs(slowest - ours) <= 1e-9 * ours)
		return true;
	fab_cli_warn(&p->run, "%s: the slowest node gets %g Mb/s, not %g", r->algorithm,
		     slowest, ours);
	return false;
}

/* The same shares, and what max-min fairness makes of them. */
static void add_max_min(const struct bootplan_params *p, struct bootplan_outcome *o,
			const struct bootplan_result *equal, const uint32_t *interface_of)
{
	struct bootplan_result r = *equal;
	struct fab_transfer t;
	struct fab_err err;

	if (fab_transfer_run(o->m, r.batch, interface_of, &p->transfer, &t, &err))
		fab_cli_die(&err);
	r.model = "max-min";
	r.bandwidth_mbps = t.first_rate_mbps;
	r.boot_seconds = t.last_s;
	r.median_seconds = t.median_s;
	r.slowest_node = t.slowest_node;
	r.n_retries = t.n_retries;
	r.n_failed = t.n_failed;
	if (r.n_failed && r.batch == &o->batches[o->n_batches - 1])
		fab_cli_warn(&p->run,
			     "%s: %" PRIu32 " of %" PRIu32 " nodes never boot: "
			     "no image within --timeout, nor in %" PRIu32 " retries",
			     r.algorithm, r.n_failed, r.batch->n, p->transfer.retries);
	fab_transfer_fini(&t);
	FAB_PUSH(&o->results, r);
}

/* With --fail-server: what moved, beside the mapping when all servers are up. */
static const struct fab_failover *fail_over(const struct bootplan_params *p,
					    struct bootplan_outcome *o, struct work *w,
					    const struct fab_batch *batch, size_t choice)
{
	const struct fab_mapping_choice *c = &p->choices[choice];
	const struct fab_mapping_problem problem = {
		.m = &w->whole, .batch = batch, .loaded = w->loaded, .seed = p->run.seed};
	bool is_first = !w->before[choice];
	struct fab_failover *f;
	struct fab_err err;

	if (!p->failed.n)
		return NULL;
	if (is_first)
		w->before[choice] = FAB_NEW(o->m->n_nodes, uint32_t);
	if ((is_first || c->engine->is_for_batch) &&
	    c->engine->map(&problem, c->argument, w->before[choice], &err))
		fab_cli_die(&err);
	f = FAB_NEW(1, struct fab_failover);
	fab_failover_of(o->m, batch, w->before[choice], w->interface_of[choice], f);
	FAB_PUSH(&o->failovers, f);
	return f;
}

/* One batch by one algorithm; is the result sound? */
static bool plan_one(const struct bootplan_params *p, struct bootplan_outcome *o,
		     struct work *w, const struct fab_batch *batch, size_t choice)
{
	const struct fab_mapping_choice *c = &p->choices[choice];
	const struct fab_mapping_problem problem = {
		.m = o->m, .batch = batch, .loaded = w->loaded, .seed = p->run.seed};
	struct bootplan_result r = {.algorithm = c->name, .batch = batch};
	uint32_t *interface_of = w->interface_of[choice];
	bool is_first = !interface_of;
	struct fab_err err;

	if (is_first)
		interface_of = w->interface_of[choice] = FAB_NEW(o->m->n_nodes, uint32_t);
	if ((is_first || c->engine->is_for_batch) &&
	    c->engine->map(&problem, c->argument, interface_of, &err))
		fab_cli_die(&err);
	if (fab_share_of(o->m, batch, interface_of, false, w->share, &r.share, &err))
		fab_cli_die(&err);
	r.cables_mbps = r.share.bandwidth_mbps;
	fab_limits_share(o->m, batch, interface_of, &p->transfer, &r.share);
	r.n_servers = count_servers(o->m, batch, interface_of, w->is_used);
	r.boot_seconds = fab_transfer_equal_share_seconds(o->m, batch, interface_of,
							  &r.share, &p->transfer);
	r.median_seconds = NAN;
	r.model = "equal-share";
	r.bandwidth_mbps = r.share.bandwidth_mbps;
	r.slowest_node = r.share.slowest_node;
	r.failover = fail_over(p, o, w, batch, choice);
	if (p->run.verify)
		r.is_sound = verify(p, o, &r, interface_of);
	if (p->is_equal_share)
		FAB_PUSH(&o->results, r);
	if (p->is_max_min)
		add_max_min(p, o, &r, interface_of);
	return !p->run.verify || r.is_sound;
}

/* Of the largest batch, which was the last one. */
static const uint32_t *best_mapping(const struct bootplan_params *p,
				    const struct bootplan_outcome *o,
				    const struct work *w)
{
	const struct bootplan_result *best = bootplan_best(o);
	size_t i = 0;

	while (p->choices[i].name != best->algorithm)
		i++;
	return w->interface_of[i];
}

static void write_mapping(const struct bootplan_params *p,
			  const struct bootplan_outcome *o, const struct work *w,
			  struct fab_cli_results *results)
{
	const struct fab_batch *batch = &o->batches[o->n_batches - 1];
	FILE *file = fab_cli_open_result(results, p->mapping_out);
	struct fab_err err;

	for (size_t i = 0; i < p->n_choices; i++)
		if (bootplan_write_mapping(file, o->m, batch, p->choices[i].name,
					   w->interface_of[i], &err))
			fab_cli_die(&err);
}

struct keeping {
	struct bootplan_params *p;
	const struct bootplan_outcome *o;
};

static void keep(void *context)
{
	const struct keeping *k = context;

	bootplan_store(k->p, k->o);
}

/* The last result: with it all of them are committed. */
static void print_report(struct bootplan_params *p, const struct bootplan_outcome *o,
			 struct fab_cli_results *results)
{
	struct keeping keeping = {p, o};
	struct fab_report_options report;
	FILE *file;
	struct fab_err err;

	results->keep = keep;
	results->context = &keeping;
	file = fab_cli_open_result(results, p->output.path);
	report = fab_cli_report_options(&p->output, &results->sinks[results->n - 1]);
	if (bootplan_report(file, &report, o, &err))
		fab_cli_die(&err);
	fab_cli_commit_results(results);
}

static void free_work(struct work *w)
{
	for (size_t i = 0; i < BOOTPLAN_MAX_CHOICES; i++) {
		free(w->interface_of[i]);
		free(w->before[i]);
	}
	free(w->whole.server_is_down);
	free(w->loaded);
	free(w->is_used);
	fab_share_workspace_free(w->share);
}

static void free_outcome(struct bootplan_outcome *o)
{
	for (size_t i = 0; i < o->results.n; i++)
		fab_share_fini(&o->results.v[i].share);
	free(o->results.v);
	free(o->ways.v);
	for (size_t i = 0; i < o->failovers.n; i++) {
		fab_failover_fini(o->failovers.v[i]);
		free(o->failovers.v[i]);
	}
	free(o->failovers.v);
	for (uint32_t i = 0; i < o->n_batches; i++)
		fab_batch_fini(&o->batches[i]);
	free(o->batches);
	fab_machine_free(o->m);
}

int bootplan_run(struct bootplan_params *p, const struct fab_fabric *f)
{
	struct bootplan_outcome o = {.image_bytes = p->transfer.image_bytes,
				     .target_seconds = p->target_seconds,
				     .transfer = &p->transfer,
				     .is_signalling = p->is_signalling,
				     .was_verified = p->run.verify,
				     .has_timeout = p->transfer.timeout_seconds > 0};
	struct fab_cli_results results = {.n = 0};
	struct fab_cli_progress *progress;
	struct work w = {0};
	bool is_sound = true;

	fab_cli_open_store(&p->store);
	o.m = make_machine(p, f);
	make_batches(p, &o);
	if (p->loaded)
		read_loaded(p, o.m, &w);
	w.share = fab_share_workspace_new(o.m);
	w.is_used = FAB_NEW(o.m->n_servers, bool);
	w.whole = *o.m;
	w.whole.server_is_down = FAB_NEW0(o.m->n_servers, bool);
	progress = fab_cli_progress_new(&p->run, "planning", "batches");
	for (uint32_t b = 0; b < o.n_batches; b++) {
		for (size_t i = 0; i < p->n_choices; i++)
			is_sound &= plan_one(p, &o, &w, &o.batches[b], i);
		fab_cli_progress_tick(progress, b + 1, o.n_batches);
	}
	fab_cli_progress_free(progress);
	bootplan_add_ways(p, &o, best_mapping(p, &o, &w));
	is_sound &= !o.has_broken_tree;
	if (p->mapping_out)
		write_mapping(p, &o, &w, &results);
	if (p->export.path)
		bootplan_export(&p->export, o.m, &o.batches[o.n_batches - 1],
				w.interface_of[0], &results);
	if (p->plot)
		bootplan_plot(p->plot, p->terminal, &o, &results);
	print_report(p, &o, &results);
	if (p->check && bootplan_best(&o)->boot_seconds > p->target_seconds)
		is_sound = false;
	free_work(&w);
	free_outcome(&o);
	return is_sound ? FAB_EXIT_DONE : FAB_EXIT_FOUND;
}
