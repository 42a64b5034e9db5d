/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fences that collect data: after one, every node has the block of every node (an
 * allgather). One table of algorithms, one file each.
 *
 * A plan is who sends which blocks to whom, step by step: a node sends its messages of a
 * step, one after the other, as soon as it has received all that it is sent in the steps
 * before. The model of time is LogGP (Alexandrov, Ionescu, Schauser, Scheiman 1995): the
 * processor of a node takes o for each message that it sends, and o + bytes * C for each
 * that it receives; a cable takes bytes * G; between them lies L.
 */
#pragma once

#include <stdbool.h>

#include "base/choice.h"
#include "base/mem.h"

struct fab_launch_costs {
	double o_us; /* processor, for each message sent or received */
	double L_us; /* latency between the end of sending and the receiver */
	double G_ns; /* a byte on a cable; of the job's fastest adapter cable */
	double C_ns; /* a byte copied by the receiver */
};

/* o = 1 us, L = 1.5 us, G = C = 0.1 ns a byte. O(1). */
struct fab_launch_costs fab_launch_costs_default(void);
/* EINVAL: one of them is negative, no number, or above 1e9. O(1). */
int fab_launch_costs_check(const struct fab_launch_costs *costs,
			   struct fab_err *err) FAB_MUST_CHECK;

enum {
	FAB_FENCE_NODES_MAX = 1 << 22,
	FAB_FENCE_WIDTH_MAX = 65533, /* of a tree; what Slurm takes as TreeWidth */
	FAB_FENCE_TREE_WIDTH = 16,   /* Slurm's TreeWidth unless configured */
};
/* Of a node's block: 1 TiB. */
#define FAB_FENCE_BYTES_MAX ((uint64_t)1 << 40)

/* What a fence is for. All is borrowed. */
struct fab_fence_job {
	uint32_t n_nodes;     /* 1 .. FAB_FENCE_NODES_MAX */
	uint64_t bytes;	      /* a block: what one node gives */
	const uint32_t *leaf; /* [n_nodes] any number for the switch that a node hangs on;
				 NULL: all on one */
	bool is_collecting;   /* data is asked for (slurm-auto) */
	uint32_t tree_width;  /* of slurm-auto's tree; 0: FAB_FENCE_TREE_WIDTH */
	struct fab_launch_costs costs;
};

/* Blocks are numbered by position: node_at[i] is whose block number i is. */
struct fab_fence_message {
	uint32_t step, from, to;  /* from, to: nodes of the job */
	uint32_t first, n_blocks; /* positions, around */
};

struct fab_fence_plan {
	uint32_t n_nodes;
	uint32_t n_steps; /* in all: n_repeats times those of the messages */
	/* By step, sender, and the order in which it sends. */
	FAB_VEC(struct fab_fence_message) messages;
	/* The messages are sent so often, each time in new steps, `first` one lower each
	 * time (around): of a ring N - 1. */
	uint32_t n_repeats;
	uint32_t *node_at; /* [n_nodes]; NULL: node i at position i */
};

/* Zeroed is allowed. O(size). */
void fab_fence_plan_fini(struct fab_fence_plan *plan);
/* Whose block a position is. O(1). */
static inline uint32_t fab_fence_node_at(const struct fab_fence_plan *plan, uint32_t i)
{
	return plan->node_at ? plan->node_at[i] : i;
}

struct fab_fence_algorithm {
	const char *form;    /* "tree:K" */
	const char *summary; /* one line */
	const char *manual;  /* as struct fab_choice has it */
	bool is_in_all;
	uint64_t width_max; /* of K, from 1 on; 0: it takes none */
	/* Which algorithm it stands for here, and with which K; NULL: itself. */
	const struct fab_fence_algorithm *(*stands_for)(const struct fab_fence_job *job,
							uint32_t *width);
	/* NULL: it has none itself. O(messages). */
	void (*plan)(const struct fab_fence_job *job, uint32_t width,
		     struct fab_fence_plan *out);
	/* Microseconds without contention, by a formula; NULL: by the plan. */
	double (*model_us)(const struct fab_fence_job *job);
};

/* A file adds its row here; in the order in which they are documented. */
#define FAB_FENCE_ALGORITHMS(ROW)                                                        \
	ROW(ring)                                                                        \
	ROW(tree)                                                                        \
	ROW(bruck)                                                                       \
	ROW(bruck_even)                                                                  \
	ROW(recdbl)                                                                      \
	ROW(leaf)                                                                        \
	ROW(slurm_auto)                                                                  \
	ROW(auto)

#define FAB_DECLARE(row) extern const struct fab_fence_algorithm fab_fence_##row;
FAB_FENCE_ALGORITHMS(FAB_DECLARE)
#undef FAB_DECLARE

extern const struct fab_fence_algorithm *const fab_fence_algorithms[];
extern const size_t fab_n_fence_algorithms;
extern const struct fab_choices fab_fence_choices;

/* An algorithm and its K. */
struct fab_fence_chosen {
	const struct fab_fence_algorithm *algorithm;
	uint32_t width; /* 0: it takes none */
};

/* "bruck", "tree:16". EINVAL: an unknown name, a K that is missing, 0, too large, or not
 * asked for. O(rows). */
int fab_fence_parse(const char *text, size_t len, struct fab_fence_chosen *out,
		    struct fab_err *err) FAB_MUST_CHECK;
/* As people write it, on the heap. O(1). */
char *fab_fence_text(struct fab_fence_chosen chosen) __attribute__((returns_nonnull));
/* What is run: itself, or what it stands for. `auto` stays as it is. O(1). */
struct fab_fence_chosen fab_fence_stands_for(struct fab_fence_chosen chosen,
					     const struct fab_fence_job *job);

/* EINVAL: no node, too many, too many bytes, bad costs. O(1). */
int fab_fence_job_check(const struct fab_fence_job *job,
			struct fab_err *err) FAB_MUST_CHECK;
/*
 * The plan of an algorithm that is not `auto`. The caller ends it. Errors: those of
 * fab_fence_job_check(). O(messages + nodes log nodes).
 */
int fab_fence_plan_make(struct fab_fence_chosen chosen, const struct fab_fence_job *job,
			struct fab_fence_plan *out, struct fab_err *err) FAB_MUST_CHECK;

/*
 * Microseconds without contention until the last node has all blocks: the closed form,
 * of ring (N - 1)(2 o + L + b (G + C)), of bruck ceil(log2 N)(2 o + L) + (N - 1) b (G +
 * C); of the others by going through the plan step by step, a node's processor and its
 * cable each doing one thing at a time. O(1), O(messages log messages).
 */
double fab_fence_model_us(struct fab_fence_chosen chosen, const struct fab_fence_job *job,
			  const struct fab_fence_plan *plan);

/*
 * The same of an algorithm that is not `auto`, plan and all: the fence without a fabric.
 * 0 of one node. Errors: those of fab_fence_plan_make(). O(messages log messages).
 */
int fab_fence_plain_us(struct fab_fence_chosen chosen, const struct fab_fence_job *job,
		       double *us, struct fab_err *err) FAB_MUST_CHECK;

/* The same by going through the plan, of any algorithm. O(messages log messages). */
double fab_fence_model_of_plan(const struct fab_fence_plan *plan,
			       const struct fab_fence_job *job);

/* Bytes that a node sends and receives in all, of the one that does most, and that all
 * send together, with blocks of `bytes`; below 2^64, which the caller sees to.
 * O(messages). */
struct fab_fence_volume {
	uint64_t most_sent, most_received, sum;
};
struct fab_fence_volume fab_fence_volume_of(const struct fab_fence_plan *plan,
					    uint64_t bytes);
