/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/mechanisms.h"

#include <math.h>
#include <string.h>

#include "base/units.h"
#include "launch/locks.h"

enum { LINE_BYTES = 64, ORTE_RADIX = 64, ROWS_MAX = 64 };

/* A start, with its bytes and memory. */
static int add_start(struct fab_mechanisms *out, struct fab_mechanism row,
		     const struct fab_launch_start *start, struct fab_err *err)
{
	FAB_AUTO(fab_arena_free) struct fab_arena memory = FAB_ARENA_INIT;
	struct fab_launch_start s = *start;
	struct fab_stages stages;
	int rc;

	s.timer.us = NULL;
	rc = fab_stages_run(&memory, &s, &stages, err);
	row.seconds = stages.total_s;
	row.saved_s = out->base_s - stages.total_s;
	row.bytes = (double)stages.bytes;
	row.memory_bytes = stages.memory_bytes;
	if (!rc)
		out->rows.v[out->rows.n++] = row;
	return rc;
}

/* Interfaces, then each improvement of the exchange alone. */
static int add_exchange(const struct fab_launch_start *base, struct fab_mechanisms *out,
			struct fab_err *err)
{
	static const char *const left_out[] = {
		"stage-in-cache", "stage-in-tree", "topology",	   "pmi2",
		"pmix",		  "sizes",	   "shared-store", "fence"};
	struct fab_improvement all[FAB_N_IMPROVEMENTS];
	int rc = fab_launch_improve(base, base->fence, all, err);

	for (enum fab_launch_interface i = FAB_PMI1; i <= FAB_PMIX && !rc; i++) {
		struct fab_launch_start s = *base;

		s.interface = i;
		rc = add_start(out,
			       (struct fab_mechanism){
				       .topic = "exchange",
				       .name = fab_launch_interfaces.at(i).form,
				       .what = fab_launch_interfaces.at(i).summary},
			       &s, err);
	}
	for (size_t i = 0; i < FAB_N_IMPROVEMENTS && !rc; i++) {
		bool is_shown = true;

		for (size_t k = 0; k < FAB_COUNT(left_out); k++)
			is_shown &= strcmp(all[i].name, left_out[k]) != 0;
		if (is_shown)
			out->rows.v[out->rows.n++] = (struct fab_mechanism){
				.topic = "exchange",
				.name = all[i].name,
				.what = all[i].what,
				.seconds = all[i].total_s,
				.saved_s = all[i].saved_s,
				.bytes = (double)all[i].bytes,
				.memory_bytes = all[i].memory_bytes};
	}
	return rc;
}

/* A manager by the tree of its daemons, of this width; 0: a ring. */
static int add_manager(struct fab_arena *memory, const struct fab_launch_start *base,
		       const char *name, uint32_t width, struct fab_mechanisms *out,
		       struct fab_err *err)
{
	struct fab_launch_params params = *base->params;
	struct fab_launch_start s = *base;
	uint32_t n = base->n_nodes;
	struct fab_mechanism row = {.topic = "manager", .name = name};

	params.of[FAB_CONST_tree_width].value = width ? width : 1;
	s.params = &params;
	s.fence = width ? (struct fab_fence_chosen){FAB_FENCE_TREE, width}
			: (struct fab_fence_chosen){FAB_FENCE_RING, 0};
	if (!width) {
		row.what = "a ring of daemons without repair";
		row.risk = n > 3 ? fab_arena_format(memory,
						    "two failures cut off up to %u nodes",
						    n / 2 - 1)
				 : NULL;
	} else {
		/* the first subtree below the root is complete */
		uint64_t size = 0, complete = 1;

		for (; complete < n; complete = complete * width + 1)
			size = complete;
		size = size < n - 1 ? size : n - 1;
		row.what = fab_arena_format(memory, "a tree of %u children each", width);
		row.risk =
			size > 1 ? fab_arena_format(memory,
						    "a failure cuts off up to %llu nodes",
						    (unsigned long long)size - 1)
			: n > 1	 ? "its root sends to every node itself"
				 : NULL;
	}
	return add_start(out, row, &s, err);
}

/* The store of a node, by each kind of lock. */
static void add_stores(struct fab_arena *memory, const struct fab_launch_start *base,
		       struct fab_mechanisms *out)
{
	char text[FAB_HUMAN_BYTES];

	for (enum fab_lock i = 0; i < FAB_N_LOCKS; i++) {
		struct fab_lock_cost cost = fab_lock_model(i, base->ppn, base->params);
		double n_lines = i == FAB_LOCK_N	    ? base->ppn
				 : i == FAB_LOCK_2N	    ? 2.0 * base->ppn
				 : i == FAB_LOCK_MUTEX_FLAG ? base->ppn + 1.0
							    : 1;

		out->rows.v[out->rows.n++] = (struct fab_mechanism){
			.topic = "store",
			.name = cost.lock,
			.what = fab_locks.at(i).summary,
			.seconds = cost.get_us / 1e6,
			.saved_s = (double)NAN,
			.bytes = (double)NAN,
			.memory_bytes = n_lines * LINE_BYTES,
			.risk = isnan(cost.wait_us)
					? "a writer starves"
					: fab_arena_format(
						  memory, "a writer waits %s",
						  fab_human_seconds(cost.wait_us / 1e6,
								    text))};
	}
}

/* The encodings: without optimisations, with each alone, with all. */
static int add_encodings(const struct fab_launch_start *base, struct fab_mechanisms *out,
			 struct fab_err *err)
{
	struct fab_launch_start s = *base;
	int rc = 0;

	for (size_t i = 0; i <= FAB_SIZE_N_OPTS + 1 && !rc; i++) {
		bool is_one = i && i <= FAB_SIZE_N_OPTS;
		struct fab_mechanism row = {
			.topic = "encoding",
			.name = !i	 ? "none"
				: is_one ? fab_size_opts.at(i - 1).form
					 : "all",
			.what = !i	 ? "the layout of PMIx 2.1"
				: is_one ? fab_size_opts.at(i - 1).summary
					 : "all optimisations together"};

		s.layout.opts = !i ? 0 : is_one ? 1u << (i - 1) : FAB_SIZE_ALL;
		rc = add_start(out, row, &s, err);
	}
	return rc;
}

/* Rings of observers by period and timeout. */
static int add_detectors(struct fab_arena *memory, const struct fab_launch_params *p,
			 const struct fab_detector *d, struct fab_mechanisms *out,
			 struct fab_err *err)
{
	struct fab_risk_row risks[FAB_N_RISKS];
	char text[FAB_HUMAN_BYTES];
	int rc = fab_detector_risks(d, FAB_PARAM(p, beat_delay_ms) * 1e3,
				    FAB_PARAM(p, beat_loss), risks, err);
	for (size_t i = 0; i < FAB_N_RISKS && !rc; i++) {
		const struct fab_risk_row *x = &risks[i];
		bool is_never = !isfinite(x->false_every_s);

		out->rows.v[out->rows.n++] = (struct fab_mechanism){
			.topic = "detection",
			.name = fab_arena_format(memory, "%.3g s / %.3g s",
						 x->heartbeat_s, x->timeout_s),
			.what = "a ring of observers: period / timeout",
			.seconds = x->detected_s,
			.saved_s = (double)NAN,
			.bytes = (double)NAN,
			.memory_bytes = (double)NAN,
			.risk = is_never
					? NULL
					: fab_arena_format(
						  memory,
						  "a live node is considered dead once in %s",
						  fab_human_seconds(x->false_every_s,
								    text))};
	}
	return rc;
}

int fab_launch_mechanisms(struct fab_arena *memory, const struct fab_launch_start *base,
			  const struct fab_detector *d, struct fab_mechanisms *out,
			  struct fab_err *err)
{
	const struct fab_launch_params *p = base->params;
	struct fab_launch_start s = *base;
	uint32_t flat = base->n_nodes > 2 ? base->n_nodes - 1 : 1;
	const struct {
		const char *name;
		uint32_t width;
	} managers[] = {
		{"slurm", (uint32_t)FAB_PARAM(p, tree_width)},
		{"orte", ORTE_RADIX},
		{"hydra", flat < FAB_FENCE_WIDTH_MAX ? flat : FAB_FENCE_WIDTH_MAX},
		{"mpd", 0}};
	struct fab_mechanism gforker = {
		.topic = "manager", .name = "gforker", .what = "forks all on one node"};
	int rc;

	out->rows.v = FAB_ARENA_NEW(memory, ROWS_MAX, struct fab_mechanism);
	rc = fab_launch_total_of(&s, p, &out->base_s, err);
	if (!rc)
		rc = add_exchange(base, out, err);
	if (!rc)
		rc = add_encodings(base, out, err);
	if (!rc)
		add_stores(memory, base, out);
	if (!rc)
		rc = add_detectors(memory, p, d, out, err);
	for (size_t i = 0; i < FAB_COUNT(managers) && !rc; i++)
		rc = add_manager(memory, base, managers[i].name, managers[i].width, out,
				 err);
	if (rc || base->n_nodes == 1)
		return rc ? rc : add_start(out, gforker, base, err);
	gforker.seconds = gforker.saved_s = gforker.bytes = gforker.memory_bytes = NAN;
	gforker.risk = "it has no other nodes";
	out->rows.v[out->rows.n++] = gforker;
	return 0;
}
