/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Batches booted by mappings: shares and times of each batch by each mapping and model,
 * now and before servers failed, came or nodes went.
 */
#pragma once

#include "base/arena.h"
#include "boot/images.h"
#include "boot/mapping.h"
#include "boot/share.h"
#include "boot/transfer.h"
#include "event/sweep.h"

enum { FAB_PLAN_CHOICES_MAX = 32 };

enum fab_plan_model { FAB_PLAN_EQUAL_SHARE, FAB_PLAN_MAX_MIN, FAB_PLAN_BOTH };

/* Servers that fail or are new, nodes that are gone. */
struct fab_plan_change {
	bool is_any;
	struct fab_machine *now;
	struct fab_machine before; /* borrows from the machine that was made first */
	struct fab_machine *old;   /* that one, if nodes are gone; else NULL */
	bool *was_down;		   /* [n_servers] */
	bool *is_gone;		   /* [nodes before]; NULL */
	uint32_t *old_node;	   /* [nodes now] the node before; NULL: itself */
};

/* Take nodes away: is_gone[n_nodes] of `now`; the arrays come from the arena. EINVAL: no
 * node is left. O(vertices). */
int fab_plan_take_nodes(struct fab_plan_change *c, const bool *is_gone,
			struct fab_arena *a, struct fab_err *err) FAB_MUST_CHECK;
/* Set the limits of both machines, which are complete then. O(vertices). */
void fab_plan_limit(struct fab_plan_change *c, const struct fab_limits *limits,
		    double efficiency);
/*
 * Images of the nodes: image_of[] of the machine with all nodes, which becomes that of
 * the nodes now; `bytes` of one in no group. Where those that boot in any batch differ
 * both machines get their parts from the arena. Returns the largest, *least. O(nodes of
 * all batches).
 */
uint64_t fab_plan_images(struct fab_plan_change *c, const struct fab_image *images,
			 uint32_t *image_of, uint64_t bytes,
			 const struct fab_batch *batches, uint32_t n_batches,
			 struct fab_arena *a, uint64_t *least);
/* A mapping of the nodes before as one of those now, on the heap. O(nodes). */
uint32_t *fab_plan_mapping_now(const struct fab_plan_change *c, const uint32_t *before);
/* Free the machines. */
void fab_plan_change_fini(struct fab_plan_change *c);

struct fab_plan {
	struct fab_plan_change change;
	const struct fab_batch *batches; /* those to be planned, the largest one last */
	uint32_t n_batches;
	const struct fab_mapping_choice *choices;
	size_t n_choices;
	enum fab_plan_model model;
	enum fab_mapping_purpose purpose;
	const struct fab_transfer_options *transfer;
	const uint32_t *loaded, *loaded_before; /* by the nodes now, and before; NULL */
	uint64_t seed;
	bool verifies;
};

/* One batch booted by one mapping. */
struct fab_plan_result {
	const char *algorithm;
	const struct fab_batch *batch;
	uint32_t n_servers;  /* that serve a node of the batch */
	uint32_t n_unserved; /* nodes without a server: then nothing is measured */
	struct fab_share share;
	bool is_max_min;
	/* of the model; the shares are always the equal ones */
	double bandwidth_mbps, boot_seconds;
	double median_seconds; /* by max-min; else NaN */
	uint32_t slowest_node; /* the first of them, or the first node without a server */
	/* with a time-out, by max-min; of other results 0 */
	uint64_t n_retries;
	uint32_t n_failed;
	/* with a change, else NULL */
	const struct fab_failover *failover;
	double seconds_before; /* by the mapping and model before; NaN without a change */
	bool is_sound;	       /* when verified */
};

/* Results batch by batch, in each the mappings in the order of the choices, by both
 * models. */
struct fab_plan_results {
	FAB_VEC(struct fab_plan_result) of;
	FAB_VEC(struct fab_failover *) failovers; /* results share them */
	FAB_VEC(char *) doubts;			  /* sentences for warnings */
	bool is_broken;				  /* verification found something */
};
void fab_plan_results_fini(struct fab_plan_results *results);

/*
 * Plan the batches of a shard, one a thread: `sweep` has the shard, the threads and the
 * progress. EINVAL as the mappings. The caller frees *out. O(batches * mappings *
 * (mapping + transfers)).
 */
int fab_plan_run(const struct fab_plan *plan, struct fab_sweep sweep,
		 struct fab_plan_results *out, struct fab_err *err) FAB_MUST_CHECK;

/* Mappings of the largest batch: interface_of[choice] of all nodes, on the heap, NULL at
 * first. */
int fab_plan_map_largest(const struct fab_plan *plan,
			 uint32_t *interface_of[FAB_PLAN_CHOICES_MAX],
			 struct fab_err *err) FAB_MUST_CHECK;

/* The problem of `balanced` for the largest batch, for advice. O(1). */
struct fab_mapping_problem fab_plan_problem(const struct fab_plan *plan);

/* Is any node of the batch without a server? O(batch). */
bool fab_plan_is_incomplete(const struct fab_batch *batch, const uint32_t *interface_of);

/* The quickest result of the largest batch; of equal ones the first. There is one. By
 * max-min where transfers through time decide. */
const struct fab_plan_result *fab_plan_best(const struct fab_plan *plan,
					    const struct fab_plan_results *results);
