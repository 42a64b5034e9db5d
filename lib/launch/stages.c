/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/stages.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "launch/exchange.h"

static struct fab_choice interface_at(size_t i)
{
	static const struct fab_choice rows[] = {
		[FAB_PMI1] =
			{"pmi1", "PMI-1: strings, one request at a time",
			 "PMI-1 as in MPICH: a flat store of strings, one request of a "
			 "connection at a time, all over a barrier; each process "
			 "keeps what it needs.",
			 true},
		[FAB_PMI2] =
			{"pmi2", "PMI-2: the same, faster, with respawn",
			 "PMI-2: keys of the node or of all, threads, processes that "
			 "replace failed ones.",
			 true},
		[FAB_PMIX] = {"pmix", "PMIx: typed values, all wire-ups",
			      "PMIx: typed values, fences that need not block, Gets on "
			      "demand, data before the start.",
			      true},
	};

	return rows[i];
}

const struct fab_choices fab_launch_interfaces = {
	.what = "interface", .n = FAB_PMIX + 1, .at = interface_at};

static struct fab_choice wireup_at(size_t i)
{
	static const struct fab_choice rows[] = {
		[FAB_WIREUP_FULL] = {"full", "a fence brings all to all, then a barrier",
				     NULL, true},
		[FAB_WIREUP_BACKGROUND] =
			{"background", "the fence runs while adapters are opened",
			 "The fence runs while adapters are opened; the first Get waits "
			 "for it, and there is no barrier.",
			 true},
		[FAB_WIREUP_DIRECT] = {"direct", "each asks for what it needs",
				       "Each process asks for the data of those that it "
				       "talks to (direct modex, DBCX).",
				       true},
		[FAB_WIREUP_DIRECT_BARRIER] = {"direct+barrier",
					       "the same, then a barrier", NULL, true},
		[FAB_WIREUP_INSTANT] =
			{"instant", "all is known before: nothing is exchanged",
			 "The ideal of PMIx: files come while the previous job ends, "
			 "addresses are known before, nothing is exchanged, there is no "
			 "barrier. No manager has all of it.",
			 true},
	};

	return rows[i];
}

const struct fab_choices fab_launch_wireups = {
	.what = "wire-up", .n = FAB_WIREUP_INSTANT + 1, .at = wireup_at};

static struct fab_choice stage_in_at(size_t i)
{
	static const struct fab_choice rows[] = {
		[FAB_STAGE_STORM] = {"storm", "every process opens, every node reads",
				     NULL, true},
		[FAB_STAGE_CACHE] = {"cache", "a node opens and reads once for all", NULL,
				     true},
		[FAB_STAGE_TREE] = {"tree", "one node reads, a tree spreads (sbcast)",
				    NULL, true},
	};

	return rows[i];
}

const struct fab_choices fab_stage_ins = {
	.what = "stage-in", .n = FAB_STAGE_NONE, .at = stage_in_at};

const char *fab_phase_name(enum fab_phase phase)
{
	static const char *const names[] = {
		"submit",    "allocate", "daemons",  "stage-in", "register", "fork",
		"endpoints", "put",	 "exchange", "channels", "barrier"};

	return names[phase];
}

bool fab_launch_knows(enum fab_launch_interface interface, enum fab_launch_wireup wireup)
{
	return interface == FAB_PMIX || wireup == FAB_WIREUP_FULL;
}

/* What is the same on all nodes: how long each phase takes, and when it may begin. */
struct costs {
	double s[FAB_N_PHASES];
	bool is_there[FAB_N_PHASES];
	bool is_together[FAB_N_PHASES]; /* begins when all nodes have come */
	double meanwhile_s; /* background: of the channels, before data is needed */
	double previous_s;  /* instant: files come so long before */
};

static double degree_of(const struct fab_launch_start *s)
{
	double all = (double)s->n_nodes * s->ppn - 1;
	double degree = isnan(s->degree) ? FAB_PARAM(s->params, peers) : s->degree;

	return degree < all ? degree : all;
}

/* What a node contributes: PMI-1 and PMI-2 keep strings. */
static uint64_t bytes_of(const struct fab_launch_start *s)
{
	uint64_t text = 0;

	if (s->interface == FAB_PMIX)
		return fab_size_node(s->keys, &s->layout, 0, s->ppn);
	for (size_t i = 0; i < s->keys->of.n; i++) {
		const struct fab_put *put = &s->keys->of.v[i];

		text += put->count * (put->chars + 2 +
				      (uint64_t)(FAB_PARAM(s->params, hex_factor) *
						 (double)put->bytes));
	}
	return text * s->ppn;
}

static struct fab_fence_job fence_job(const struct fab_launch_start *s, uint64_t bytes)
{
	const struct fab_launch_params *p = s->params;

	return (struct fab_fence_job){
		.n_nodes = s->is_respawn && !bytes ? s->all_nodes : s->n_nodes,
		.bytes = bytes,
		.is_collecting = bytes != 0,
		.tree_width = (uint32_t)FAB_PARAM(p, tree_width),
		.costs = {FAB_PARAM(p, o_us), FAB_PARAM(p, latency_us),
			  FAB_PARAM(p, gap_ns_per_B), FAB_PARAM(p, copy_ns_per_B)}};
}

/* PMI-1 and PMI-2 of Slurm and MPICH collect up and down a tree. */
static struct fab_fence_chosen fence_of(const struct fab_launch_start *s)
{
	if (s->interface == FAB_PMIX)
		return s->fence;
	return (struct fab_fence_chosen){&fab_fence_tree,
					 (uint32_t)FAB_PARAM(s->params, tree_width)};
}

static int time_fence(const struct fab_launch_start *s, uint64_t bytes, double *us,
		      struct fab_err *err)
{
	struct fab_fence_job job = fence_job(s, bytes);

	*us = 0;
	if (job.n_nodes == 1)
		return 0;
	if (!s->timer.us || job.n_nodes != s->n_nodes)
		return fab_fence_plain_us(fence_of(s), &job, us, err);
	*us = s->timer.us(s->timer.context, fence_of(s), bytes, err);
	return *us < 0 ? (int)*us : 0;
}

/* Does each ask the servers of others for what it needs? */
static bool is_direct(const struct fab_launch_start *s)
{
	return s->wireup == FAB_WIREUP_DIRECT || s->wireup == FAB_WIREUP_DIRECT_BARRIER;
}

static struct fab_exchange_costs exchange_costs(const struct fab_launch_params *p)
{
	double serve = FAB_PARAM(p, serve_us), remote = FAB_PARAM(p, get_remote_us);

	return (struct fab_exchange_costs){.get_us = FAB_PARAM(p, get_us),
					   .local_us = FAB_PARAM(p, get_first_us),
					   .remote_us = remote > serve ? remote : serve,
					   .serve_us = serve,
					   .unpack_ns = FAB_PARAM(p, unpack_ns_per_B)};
}

/* Gets of a process, with the others of its node. */
static double gets_us(const struct fab_launch_start *s)
{
	const struct fab_launch_params *p = s->params;
	double n = degree_of(s) * FAB_PARAM(p, inline_keys);
	struct fab_exchange_costs costs = exchange_costs(p);

	if (s->interface == FAB_PMI1)
		return n * s->ppn * FAB_PARAM(p, pmi1_us);
	if (s->interface == FAB_PMI2 || s->has_socket_store)
		return n * s->ppn * FAB_PARAM(p, pmi2_us);
	if (is_direct(s)) {
		struct fab_exchange x =
			fab_exchange_model(s->n_nodes, s->ppn, degree_of(s), &costs);

		return x.total_us +
		       degree_of(s) * (FAB_PARAM(p, inline_keys) - 1) * costs.get_us;
	}
	return n * costs.get_us;
}

/* Serial requests of all processes of a node, or what PMIx takes for one. */
static double requests_s(const struct fab_launch_start *s, double n, double pmix_us)
{
	const struct fab_launch_params *p = s->params;

	if (s->interface == FAB_PMI1)
		return n * s->ppn * FAB_PARAM(p, pmi1_us) / 1e6;
	if (s->interface == FAB_PMI2)
		return n * s->ppn * FAB_PARAM(p, pmi2_us) / 1e6;
	return pmix_us / 1e6;
}

static void cost_phases(const struct fab_launch_start *s, struct costs *c)
{
	const struct fab_launch_params *p = s->params;
	double keys = (double)fab_puts_keys(s->keys);
	bool is_pmix = s->interface == FAB_PMIX;

	c->s[FAB_PHASE_SUBMIT] = FAB_PARAM(p, submit_ms) / 1e3;
	c->s[FAB_PHASE_ALLOCATE] = FAB_PARAM(p, allocate_ms) / 1e3;
	c->s[FAB_PHASE_DAEMONS] = FAB_PARAM(p, daemon_ms) / 1e3;
	c->s[FAB_PHASE_REGISTER] =
		is_pmix ? FAB_PARAM(p, register_ms) / 1e3 +
				  FAB_PARAM(p, register_us) * s->ppn / 1e6
			: 0;
	c->s[FAB_PHASE_FORK] = s->ppn * FAB_PARAM(p, fork_ms) / 1e3;
	/* PMI-1: the version, the name of the store, the rank */
	c->s[FAB_PHASE_ENDPOINTS] = requests_s(s, s->interface == FAB_PMI1 ? 3 : 1,
					       FAB_PARAM(p, init_ms) * 1e3);
	c->s[FAB_PHASE_PUT] = requests_s(
		s, keys, keys * FAB_PARAM(p, put_us) + FAB_PARAM(p, commit_us));
	c->s[FAB_PHASE_CHANNELS] =
		FAB_PARAM(p, nic_init_ms) / 1e3 +
		(gets_us(s) + degree_of(s) * FAB_PARAM(p, channel_us)) / 1e6;
	for (size_t i = 0; i < FAB_N_PHASES; i++)
		c->is_there[i] = true;
	c->is_there[FAB_PHASE_REGISTER] = is_pmix;
	c->is_there[FAB_PHASE_STAGE_IN] = s->stage_in != FAB_STAGE_NONE;
}

/* What a wire-up leaves out, and the times of its fences. */
static int cost_wireup(const struct fab_launch_start *s, struct costs *c,
		       struct fab_stages *out, struct fab_err *err)
{
	const struct fab_launch_params *p = s->params;
	bool is_full = s->wireup == FAB_WIREUP_FULL;
	bool exchanges = is_full || s->wireup == FAB_WIREUP_BACKGROUND;
	bool is_instant = s->wireup == FAB_WIREUP_INSTANT;
	/* processes and their server, before and after the servers' fence */
	double local_s =
		s->interface == FAB_PMIX ? s->ppn * FAB_PARAM(p, fence_us) / 1e6 : 0;
	int rc = 0;

	c->is_there[FAB_PHASE_EXCHANGE] = exchanges;
	c->is_there[FAB_PHASE_PUT] = !is_instant;
	c->is_there[FAB_PHASE_BARRIER] =
		is_full || s->wireup == FAB_WIREUP_DIRECT_BARRIER;
	c->is_together[FAB_PHASE_EXCHANGE] = c->is_together[FAB_PHASE_BARRIER] = true;
	out->fence_us = out->barrier_us = (double)NAN;
	if (exchanges)
		rc = time_fence(s, out->bytes, &out->fence_us, err);
	if (!rc && c->is_there[FAB_PHASE_BARRIER])
		rc = time_fence(s, 0, &out->barrier_us, err);
	if (rc)
		return rc;
	if (exchanges)
		c->s[FAB_PHASE_EXCHANGE] = local_s + out->fence_us / 1e6 +
					   (double)out->bytes * s->n_nodes *
						   FAB_PARAM(p, unpack_ns_per_B) / 1e9;
	if (c->is_there[FAB_PHASE_BARRIER])
		c->s[FAB_PHASE_BARRIER] = local_s + out->barrier_us / 1e6;
	if (s->wireup == FAB_WIREUP_BACKGROUND)
		c->meanwhile_s = FAB_PARAM(p, nic_init_ms) / 1e3;
	if (is_instant) {
		c->previous_s = FAB_PARAM(p, previous_end_s);
		c->s[FAB_PHASE_ALLOCATE] += s->n_nodes * FAB_PARAM(p, blob_B) *
					    FAB_PARAM(p, gap_ns_per_B) / 1e9;
	}
	if (s->is_respawn)
		c->is_there[FAB_PHASE_SUBMIT] = c->is_there[FAB_PHASE_ALLOCATE] =
			c->is_there[FAB_PHASE_DAEMONS] = false;
	return 0;
}

static double skew_s(const struct fab_launch_start *s, uint32_t node)
{
	return FAB_PARAM(s->params, skew_ms) / 1e3 *
	       fab_unit(fab_mix64(s->seed ^ fab_mix64(node + 1)));
}

/* How long a phase takes on a node. */
static double length_s(const struct fab_launch_start *s, const struct costs *c,
		       const double *files_s, enum fab_phase phase, uint32_t node)
{
	uint32_t width = (uint32_t)FAB_PARAM(s->params, tree_width);

	switch (phase) {
	case FAB_PHASE_DAEMONS:
		return c->s[phase] * (fab_launch_depth(node, width) + 1) +
		       skew_s(s, node);
	case FAB_PHASE_STAGE_IN:
		return fmax(0, files_s[node] - c->previous_s);
	default:
		return c->s[phase];
	}
}

static void settle(struct fab_stage *stage, uint32_t n)
{
	stage->first_start_s = INFINITY;
	stage->last_end_s = -1;
	for (uint32_t i = 0; i < n; i++) {
		stage->first_start_s = fmin(stage->first_start_s, stage->start_s[i]);
		if (stage->end_s[i] > stage->last_end_s) {
			stage->last_end_s = stage->end_s[i];
			stage->last_node = i;
		}
	}
}

/* One phase behind that before it (NULL: none). Asking others directly needs that the
 * neighbours have put their keys; of background the wait for data is overlapped. */
static void run_phase(const struct fab_launch_start *s, const struct costs *c,
		      const double *files_s, enum fab_phase phase,
		      const struct fab_stage *before, struct fab_stage *out)
{
	bool asks = phase == FAB_PHASE_CHANNELS && is_direct(s);
	uint32_t n = s->n_nodes;

	out->is_there = true;
	out->start_s = FAB_NEW(2 * (size_t)n, double);
	out->end_s = out->start_s + n;
	for (uint32_t i = 0; i < n; i++) {
		double start = before ? before->end_s[i] : 0;

		if (before && c->is_together[phase])
			start = before->last_end_s;
		if (before && asks)
			start = fmax(start, fmax(before->end_s[(i + 1) % n],
						 before->end_s[(i + n - 1) % n]));
		out->start_s[i] = start;
		out->end_s[i] = start + length_s(s, c, files_s, phase, i);
		if (phase == FAB_PHASE_CHANNELS)
			out->end_s[i] -= c->meanwhile_s;
	}
	settle(out, n);
}

/* The exchange runs while adapters are opened: nobody has its data before both are over.
 */
static void overlap(const struct costs *c, const struct fab_stage *put,
		    struct fab_stage *exchange, uint32_t n)
{
	for (uint32_t i = 0; i < n && c->meanwhile_s > 0; i++)
		exchange->end_s[i] =
			fmax(exchange->end_s[i], put->end_s[i] + c->meanwhile_s);
	settle(exchange, n);
}

/* The node, or the neighbour that it waits for. */
static uint32_t waited_for(const struct fab_stages *x, uint32_t node)
{
	const double *end = x->phase[FAB_PHASE_PUT].end_s;
	uint32_t n = x->n_nodes, next = (node + 1) % n, before = (node + n - 1) % n;

	if (end[next] > end[node] && end[next] >= end[before])
		return next;
	return end[before] > end[node] ? before : node;
}

/* Back from the node that ends last. */
static void find_critical(const struct fab_launch_start *s, const struct costs *c,
			  struct fab_stages *out)
{
	uint32_t node = FAB_NONE;

	for (int i = FAB_N_PHASES - 1; i >= 0; i--) {
		const struct fab_stage *stage = &out->phase[i];
		struct fab_critical *x = &out->critical[out->n_critical];

		if (!stage->is_there)
			continue;
		if (node == FAB_NONE)
			node = stage->last_node;
		*x = (struct fab_critical){.phase = (enum fab_phase)i,
					   .node = node,
					   .start_s = stage->start_s[node],
					   .end_s = stage->end_s[node]};
		if (c->is_together[i]) {
			x->node = FAB_NONE;
			node = FAB_NONE; /* the last one that came */
		} else if (i == FAB_PHASE_CHANNELS && is_direct(s)) {
			node = waited_for(out, node);
		}
		out->n_critical++;
	}
	for (size_t i = 0; i < out->n_critical / 2; i++) {
		struct fab_critical x = out->critical[i];

		out->critical[i] = out->critical[out->n_critical - 1 - i];
		out->critical[out->n_critical - 1 - i] = x;
	}
}

static int check(const struct fab_launch_start *s, struct fab_err *err)
{
	if (!s->n_nodes || !s->ppn)
		return fab_fail(err, EINVAL, "no %s: expected at least 1",
				s->n_nodes ? "processes a node" : "nodes");
	if (!fab_launch_knows(s->interface, s->wireup))
		return fab_fail(err, EINVAL, "%s does not know the wire-up %s, only full",
				interface_at(s->interface).form,
				wireup_at(s->wireup).form);
	return 0;
}

int fab_stages_run(const struct fab_launch_start *s, struct fab_stages *out,
		   struct fab_err *err)
{
	struct costs c = {{0}};
	const struct fab_stage *before = NULL;
	double *files_s = NULL;
	int rc = check(s, err);

	*out = (struct fab_stages){.n_nodes = s->n_nodes};
	if (rc)
		return rc;
	out->bytes = bytes_of(s);
	cost_phases(s, &c);
	rc = cost_wireup(s, &c, out, err);
	if (!rc)
		rc = fab_stage_in_times(s, &files_s, err);
	for (enum fab_phase i = 0; i < FAB_N_PHASES && !rc; i++) {
		if (!c.is_there[i])
			continue;
		run_phase(s, &c, files_s, i, before, &out->phase[i]);
		if (i == FAB_PHASE_EXCHANGE)
			overlap(&c, before, &out->phase[i], s->n_nodes);
		before = &out->phase[i];
	}
	free(files_s);
	if (rc)
		return rc;
	out->total_s = before->last_end_s;
	out->memory_bytes =
		(double)out->bytes * s->n_nodes * (s->interface == FAB_PMI1 ? s->ppn : 1);
	find_critical(s, &c, out);
	return 0;
}

void fab_stages_fini(struct fab_stages *stages)
{
	for (size_t i = 0; i < FAB_N_PHASES; i++)
		free(stages->phase[i].start_s);
	*stages = (struct fab_stages){0};
}

int fab_stages_total_s(const struct fab_launch_start *s, double *out, struct fab_err *err)
{
	struct fab_stages stages;
	int rc = fab_stages_run(s, &stages, err);

	*out = stages.total_s;
	fab_stages_fini(&stages);
	return rc;
}
