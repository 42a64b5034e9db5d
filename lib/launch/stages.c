/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A start: the tables of interfaces, wire-ups and stage-ins; files on their way to the
 * nodes; the cost of each phase; phases on each node, and the critical path.
 */
#include "launch/stages.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "boot/transfer.h"
#include "launch/exchange.h"

enum { MBPS_A_MB = 8 };
static const double MAX_MBPS = 1e9; /* limit of fab_machine_parse() */

static const struct fab_choice interfaces[] = {
	[FAB_PMI1] =
		{"pmi1", "PMI-1: strings, one request at a time",
		 "As in MPICH: a flat store of strings, one request of a connection at a time, all over a barrier; each process keeps what it needs.",
		 true},
	[FAB_PMI2] =
		{"pmi2", "PMI-2: as PMI-1, faster, with respawn",
		 "Keys of the node or of all, threads, processes that replace failed ones.",
		 true},
	[FAB_PMIX] =
		{"pmix", "PMIx: typed values, all wire-ups",
		 "Typed values, fences that need not block, Gets on demand, data before the start.",
		 true},
};
FAB_CHOICES(fab_launch_interfaces, "interface", interfaces);

static const struct fab_choice wireups[] = {
	[FAB_WIREUP_FULL] = {"full", "a fence brings all to all, then a barrier", NULL,
			     true},
	[FAB_WIREUP_BACKGROUND] =
		{"background", "the fence runs while adapters are opened",
		 "The fence runs while adapters are opened; the first Get waits for it; no barrier.",
		 true},
	[FAB_WIREUP_DIRECT] =
		{"direct", "each requests the data it needs",
		 "Each process requests the data of its peers (direct modex, DBCX).",
		 true},
	[FAB_WIREUP_DIRECT_BARRIER] = {"direct+barrier", "as direct, then a barrier",
				       NULL, true},
	[FAB_WIREUP_INSTANT] =
		{"instant", "all is known before: nothing is exchanged",
		 "The aim of PMIx, which no manager has entirely: files by a tree while the previous job ends (`previous_end_s`), a blob of `blob_B` a node, addresses known before; no put, exchange or barrier.",
		 true},
};
FAB_CHOICES(fab_launch_wireups, "wire-up", wireups);

static const struct fab_choice stage_ins[] = {
	[FAB_STAGE_STORM] = {"storm", "every process opens, every node reads", NULL,
			     true},
	[FAB_STAGE_CACHE] =
		{"cache", "a node opens and reads once for all",
		 "A cache on each node (such as Spindle), a step of its own that is submitted, allocated and started before, opens and reads once for all its processes.",
		 true},
	[FAB_STAGE_TREE] = {"tree", "one node reads, a tree spreads (sbcast)", NULL,
			    true},
};
FAB_CHOICES(fab_stage_ins, "stage-in", stage_ins);

const char *fab_phase_name(enum fab_phase phase)
{
	static const char *const names[] = {
		"submit",   "allocate",	 "daemons", "stage-in", "register", "fork",
		"hardware", "endpoints", "put",	    "exchange", "channels", "barrier"};

	return names[phase];
}

bool fab_launch_knows(enum fab_launch_interface interface, enum fab_launch_wireup wireup)
{
	return interface == FAB_PMIX || wireup == FAB_WIREUP_FULL;
}

/* Files. */

uint32_t fab_launch_depth(uint32_t i, uint32_t width)
{
	uint32_t depth = width == 1 ? i : 0;

	for (; i && width > 1; depth++)
		i = (i - 1) / width;
	return depth;
}

/* Seconds of `n` clients that read the same bytes from all servers at the same time. */
static int read_all(uint32_t n, double client_MBps, double all_MBps, double request_s,
		    uint64_t bytes, double *out, struct fab_err *err)
{
	FAB_AUTOFREE char *spec = fab_format("node=%u@%.9gMbps/server=1@%.9gMbps", n,
					     fmin(client_MBps * MBPS_A_MB, MAX_MBPS),
					     fmin(all_MBps * MBPS_A_MB, MAX_MBPS));
	struct fab_transfer_options options = {
		.image_bytes = bytes, .n_files = 1, .request_seconds = request_s};
	FAB_AUTO(fab_machine_free_at) struct fab_machine *m = NULL;
	struct fab_transfer t;
	FAB_AUTO(fab_batch_fini) struct fab_batch batch = {0};
	FAB_AUTOFREE uint32_t *interface_of = NULL;
	int rc = fab_machine_parse(spec, &m, err);

	if (rc)
		return rc;
	interface_of = FAB_NEW(n, uint32_t);
	for (uint32_t i = 0; i < n; i++)
		interface_of[i] = 0;
	batch = fab_batch_all(m);
	rc = fab_transfer_run(m, &batch, interface_of, &options, &t, err);
	for (uint32_t i = 0; i < n && !rc; i++)
		out[i] = t.finish_s[i];
	if (!rc)
		fab_transfer_fini(&t);
	return rc;
}

int fab_stage_in_times(const struct fab_launch_start *s, double *out, struct fab_err *err)
{
	const struct fab_launch_params *p = s->params;
	uint64_t bytes = (uint64_t)(FAB_PARAM(p, image_MB) * 1e6);
	double readers = s->stage_in == FAB_STAGE_STORM	  ? (double)s->n_nodes * s->ppn
			 : s->stage_in == FAB_STAGE_CACHE ? s->n_nodes
							  : 1;
	/* a process opens one file after the other, and looks for each in vain first */
	double opens = FAB_PARAM(p, files) * (1 + FAB_PARAM(p, lookups));
	double open_s = fmax(readers * opens / FAB_PARAM(p, fs_ops),
			     opens * FAB_PARAM(p, open_us) / 1e6);

	/* one node reads, then each node sends to `fanout` others, level by level */
	if (s->stage_in == FAB_STAGE_TREE && bytes) {
		uint32_t width = (uint32_t)FAB_PARAM(p, fanout);
		uint32_t n_first = s->n_nodes - 1 < width ? s->n_nodes - 1 : width;
		double read_s;
		FAB_AUTOFREE double *level = FAB_NEW0((size_t)n_first + 1, double);
		int rc = read_all(1, FAB_PARAM(p, node_MBps), FAB_PARAM(p, fs_MBps),
				  open_s, bytes, &read_s, err);

		if (!rc && n_first)
			rc = read_all(n_first, FAB_PARAM(p, node_MBps),
				      FAB_PARAM(p, node_MBps), 0, bytes, level, err);
		for (uint32_t i = 0; i < s->n_nodes && !rc; i++)
			out[i] = read_s + level[0] * fab_launch_depth(i, width);
		return rc;
	}
	if (s->stage_in != FAB_STAGE_NONE && bytes)
		return read_all(s->n_nodes, FAB_PARAM(p, node_MBps),
				FAB_PARAM(p, fs_MBps), open_s, bytes, out, err);
	for (uint32_t i = 0; i < s->n_nodes; i++)
		out[i] = s->stage_in == FAB_STAGE_NONE ? 0 : open_s;
	return 0;
}

/* Costs that are equal on all nodes: the length of each phase, and when it may begin. */
struct costs {
	double s[FAB_N_PHASES];
	bool is_there[FAB_N_PHASES];
	bool is_together[FAB_N_PHASES]; /* begins when all nodes are ready */
	double meanwhile_s; /* background: of the channels, before data is needed */
	double previous_s;  /* instant: files are transferred this long before */
};

static bool is_address(const struct fab_put *put)
{
	return put->bytes == FAB_SIZE_OLD_ADDRESS || put->bytes == FAB_SIZE_NEW_ADDRESS;
}

/* True if the improvements of a start leave the key to be put. */
static bool is_put(const struct fab_launch_start *s, const struct fab_put *put)
{
	return !(s->does &
		 (is_address(put) ? FAB_DOES_STATIC_PORTS
				  : FAB_DOES_MANAGER_DATA | FAB_DOES_PREDEFINED));
}

uint64_t fab_launch_bytes(const struct fab_launch_start *s)
{
	struct fab_puts out = {0};
	uint64_t bytes = 0;

	for (size_t i = 0; i < s->keys->of.n; i++) {
		const struct fab_put *put = &s->keys->of.v[i];
		double text = FAB_PARAM(s->params, hex_factor) * (double)put->bytes;

		if (!fab_put_is_exchanged(put) || !is_put(s, put) ||
		    (s->does & FAB_DOES_SCOPES && !is_address(put)))
			continue;
		FAB_PUSH(&out.of, *put);
		/* PMI-1 and PMI-2 keep strings */
		bytes += put->count * (put->chars + 2 + (uint64_t)text) * s->ppn;
	}
	if (s->interface == FAB_PMIX)
		bytes = fab_size_node(&out, &s->layout, 0, s->ppn);
	free(out.of.v);
	return bytes;
}

static double degree_of(const struct fab_launch_start *s)
{
	double all = (double)s->n_nodes * s->ppn - 1;
	double degree = isnan(s->degree) ? FAB_PARAM(s->params, peers) : s->degree;

	return degree < all ? degree : all;
}

/* PMI-1 and PMI-2 of Slurm and MPICH collect up and down a tree. */
static int time_fence(const struct fab_launch_start *s, uint64_t bytes, double *us,
		      struct fab_err *err)
{
	struct fab_fence_job job = fab_fence_daemon_job_of(
		s->params, s->is_respawn && !bytes ? s->all_nodes : s->n_nodes, NULL,
		bytes);
	struct fab_fence_chosen fence = {FAB_FENCE_TREE, job.tree_width};

	if (s->interface == FAB_PMIX)
		fence = s->fence;
	*us = 0;
	if (job.n_nodes == 1)
		return 0;
	if (!s->timer.us || job.n_nodes != s->n_nodes)
		return fab_fence_plain_us(fence, &job, us, err);
	*us = s->timer.us(s->timer.context, fence, bytes, err);
	return *us < 0 ? (int)*us : 0;
}

/* True if each process requests the data that it needs from the servers of others. */
static bool is_direct(const struct fab_launch_start *s)
{
	return s->wireup == FAB_WIREUP_DIRECT || s->wireup == FAB_WIREUP_DIRECT_BARRIER;
}

/* Gets of a process, with the others of its node. */
static double gets_us(const struct fab_launch_start *s)
{
	const struct fab_launch_params *p = s->params;
	double more = fmax(FAB_PARAM(p, inline_keys) - 1, 0); /* besides the address */
	double others = s->does & FAB_DOES_PREDEFINED ? more : degree_of(s) * more;
	double n = degree_of(s) * fmin(FAB_PARAM(p, inline_keys), 1) + others;
	struct fab_exchange_costs costs = fab_exchange_costs_of(p, false);

	if (s->interface == FAB_PMI1)
		return n * s->ppn * FAB_PARAM(p, pmi1_us);
	if (s->interface == FAB_PMI2 || s->has_socket_store)
		return n * s->ppn * FAB_PARAM(p, pmi2_us);
	if (is_direct(s) && !(s->does & FAB_DOES_STATIC_PORTS)) {
		struct fab_exchange x;

		costs.remote_us = fmax(costs.remote_us, costs.serve_us);
		x = fab_exchange_model(s->n_nodes, s->ppn, degree_of(s), &costs);
		/* all at once only the busiest server counts */
		if (s->does & FAB_DOES_NONBLOCKING)
			x.total_us = x.most_served ? (double)(x.most_served - 1) *
								     costs.serve_us +
							     costs.remote_us
						   : costs.local_us;
		return x.total_us + others * costs.get_us;
	}
	return n * costs.get_us;
}

/* Seconds of serial requests of all processes of a node; with PMIx those of one. */
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
	bool is_pmix = s->interface == FAB_PMIX;
	double keys = 0, open_s = FAB_PARAM(p, nic_init_ms) / 1e3;
	double gets_s = gets_us(s) / 1e6;

	for (size_t i = 0; i < s->keys->of.n; i++) {
		const struct fab_put *put = &s->keys->of.v[i];
		bool is_once = put->scope == FAB_SCOPE_NODE_LEVEL && !is_pmix;

		if (is_put(s, put))
			keys += (double)put->count / (is_once ? s->ppn : 1);
	}

	c->s[FAB_PHASE_SUBMIT] = FAB_PARAM(p, submit_ms) / 1e3;
	c->s[FAB_PHASE_ALLOCATE] = FAB_PARAM(p, allocate_ms) / 1e3;
	c->s[FAB_PHASE_DAEMONS] = FAB_PARAM(p, daemon_ms) / 1e3;
	c->s[FAB_PHASE_REGISTER] =
		is_pmix ? FAB_PARAM(p, register_ms) / 1e3 +
				  FAB_PARAM(p, register_us) * s->ppn / 1e6
			: 0;
	c->s[FAB_PHASE_FORK] = s->ppn * FAB_PARAM(p, fork_ms) / 1e3;
	/* the kernel answers one process at a time; with instant all is known before */
	c->s[FAB_PHASE_HARDWARE] =
		(s->does & FAB_DOES_TOPOLOGY || s->wireup == FAB_WIREUP_INSTANT
			 ? 1
			 : s->ppn) *
		FAB_PARAM(p, discover_ms) / 1e3;
	/* PMI-1: the version, the name of the store, the rank */
	c->s[FAB_PHASE_ENDPOINTS] = requests_s(s, s->interface == FAB_PMI1 ? 3 : 1,
					       FAB_PARAM(p, init_ms) * 1e3);
	c->s[FAB_PHASE_PUT] = requests_s(
		s, keys, keys * FAB_PARAM(p, put_us) + FAB_PARAM(p, commit_us));
	c->s[FAB_PHASE_CHANNELS] = (s->does & FAB_DOES_NONBLOCKING ? fmax(open_s, gets_s)
								   : open_s + gets_s) +
				   degree_of(s) * FAB_PARAM(p, channel_us) / 1e6;
	for (size_t i = 0; i < FAB_N_PHASES; i++)
		c->is_there[i] = true;
	c->is_there[FAB_PHASE_REGISTER] = is_pmix;
	c->is_there[FAB_PHASE_STAGE_IN] = s->stage_in != FAB_STAGE_NONE;
}

/* Phases that a wire-up leaves out, and the times of its fences. */
static int cost_wireup(const struct fab_launch_start *s, struct costs *c,
		       struct fab_stages *out, struct fab_err *err)
{
	const struct fab_launch_params *p = s->params;
	bool is_full = s->wireup == FAB_WIREUP_FULL;
	bool exchanges = (is_full || s->wireup == FAB_WIREUP_BACKGROUND) && out->bytes;
	bool is_instant = s->wireup == FAB_WIREUP_INSTANT;
	/* a message of each process to its daemon, and its release */
	double local_s = requests_s(s, 1, s->ppn * FAB_PARAM(p, fence_us));
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
	if (s->wireup == FAB_WIREUP_BACKGROUND && exchanges)
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

/* One phase after the one before it (NULL: none). Direct requests need that the
 * neighbours have put their keys; in the background the exchange runs while adapters are
 * opened: no data is used before both have ended. */
static void run_phase(const struct fab_launch_start *s, const struct costs *c,
		      const double *files_s, enum fab_phase phase,
		      const struct fab_stage *before, struct fab_arena *memory,
		      struct fab_stage *out)
{
	bool asks = phase == FAB_PHASE_CHANNELS && is_direct(s);
	uint32_t n = s->n_nodes, width = (uint32_t)FAB_PARAM(s->params, tree_width);
	double skew_s = FAB_PARAM(s->params, skew_ms) / 1e3;

	out->is_there = true;
	out->start_s = FAB_ARENA_NEW(memory, 2 * (size_t)n, double);
	out->end_s = out->start_s + n;
	for (uint32_t i = 0; i < n; i++) {
		double start = before ? before->end_s[i] : 0, length = c->s[phase];

		if (phase == FAB_PHASE_DAEMONS)
			length = length * (fab_launch_depth(i, width) + 1) +
				 skew_s * fab_unit(fab_mix64(s->seed ^ fab_mix64(i + 1)));
		/* a cache is started on the nodes as a step of its own */
		if (phase == FAB_PHASE_STAGE_IN)
			length = fmax(0, files_s[i] - c->previous_s) +
				 (s->stage_in == FAB_STAGE_CACHE
					  ? c->s[FAB_PHASE_SUBMIT] +
						    c->s[FAB_PHASE_ALLOCATE] +
						    c->s[FAB_PHASE_DAEMONS] *
							    (fab_launch_depth(i, width) +
							     1)
					  : 0);
		if (before && c->is_together[phase])
			start = before->last_end_s;
		if (before && asks)
			start = fmax(start, fmax(before->end_s[(i + 1) % n],
						 before->end_s[(i + n - 1) % n]));
		out->start_s[i] = start;
		out->end_s[i] = start + length;
		if (phase == FAB_PHASE_CHANNELS)
			out->end_s[i] -= c->meanwhile_s;
		if (phase == FAB_PHASE_EXCHANGE && c->meanwhile_s > 0)
			out->end_s[i] =
				fmax(out->end_s[i], before->end_s[i] + c->meanwhile_s);
	}
	out->first_start_s = INFINITY;
	out->last_end_s = -1;
	for (uint32_t i = 0; i < n; i++) {
		out->first_start_s = fmin(out->first_start_s, out->start_s[i]);
		if (out->end_s[i] > out->last_end_s) {
			out->last_end_s = out->end_s[i];
			out->last_node = i;
		}
	}
}

/* The critical path, backwards from the node that ends last. */
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
			node = FAB_NONE; /* the last one that was ready */
		} else if (i == FAB_PHASE_CHANNELS && is_direct(s)) {
			/* the node, or the neighbour that it waits for */
			const double *end = out->phase[FAB_PHASE_PUT].end_s;
			uint32_t n = out->n_nodes;
			uint32_t next = (node + 1) % n, before = (node + n - 1) % n;

			if (end[next] > end[node] && end[next] >= end[before])
				node = next;
			else if (end[before] > end[node])
				node = before;
		}
		out->n_critical++;
	}
	for (size_t i = 0; i < out->n_critical / 2; i++) {
		struct fab_critical x = out->critical[i];

		out->critical[i] = out->critical[out->n_critical - 1 - i];
		out->critical[out->n_critical - 1 - i] = x;
	}
}

int fab_stages_run(struct fab_arena *memory, const struct fab_launch_start *s,
		   struct fab_stages *out, struct fab_err *err)
{
	struct costs c = {{0}};
	const struct fab_stage *before = NULL;
	double *files_s;
	int rc;

	*out = (struct fab_stages){.n_nodes = s->n_nodes};
	if (!s->n_nodes || !s->ppn)
		return fab_fail(err, EINVAL, "no %s: expected at least 1",
				s->n_nodes ? "processes a node" : "nodes");
	if (!fab_launch_knows(s->interface, s->wireup))
		return fab_fail(err, EINVAL, "%s does not know the wire-up %s, only full",
				interfaces[s->interface].form, wireups[s->wireup].form);
	out->bytes = fab_launch_bytes(s);
	cost_phases(s, &c);
	rc = cost_wireup(s, &c, out, err);
	files_s = FAB_ARENA_NEW(memory, s->n_nodes, double);
	if (!rc)
		rc = fab_stage_in_times(s, files_s, err);
	if (rc)
		return rc;
	for (enum fab_phase i = 0; i < FAB_N_PHASES; i++) {
		if (!c.is_there[i])
			continue;
		run_phase(s, &c, files_s, i, before, memory, &out->phase[i]);
		before = &out->phase[i];
	}
	out->total_s = before->last_end_s;
	out->memory_bytes =
		(double)out->bytes * s->n_nodes * (s->interface == FAB_PMI1 ? s->ppn : 1);
	if (is_direct(s)) { /* its own, and those that were requested */
		struct fab_exchange_costs costs = fab_exchange_costs_of(s->params, false);
		struct fab_exchange x =
			fab_exchange_model(s->n_nodes, s->ppn, degree_of(s), &costs);

		out->memory_bytes =
			fab_exchange_memory(s->n_nodes, s->ppn, out->bytes, &x).direct;
	}
	if (isnan(out->fence_us)) /* the data is not exchanged, or asked for directly */
		out->bytes = 0;
	find_critical(s, &c, out);
	return 0;
}

int fab_stages_total_s(const struct fab_launch_start *s, double *out, struct fab_err *err)
{
	FAB_AUTO(fab_arena_free) struct fab_arena memory = FAB_ARENA_INIT;
	struct fab_stages stages;
	int rc = fab_stages_run(&memory, s, &stages, err);

	*out = stages.total_s;
	return rc;
}

int fab_launch_total_of(void *context, const struct fab_launch_params *params,
			double *out, struct fab_err *err)
{
	struct fab_launch_start start = *(const struct fab_launch_start *)context;

	start.params = params;
	start.timer.us = NULL;
	return fab_stages_total_s(&start, out, err);
}
