/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fences that collect data: after one, every node has the block of every node (an
 * allgather). Plans of the algorithms, their time by formula and on a fabric, and tables
 * of algorithm by size by nodes.
 *
 * A plan lists senders, receivers and blocks, step by step: a node sends its messages of
 * a step in order, as soon as it has received all messages of its earlier steps. The
 * model of time is LogGP (Alexandrov, Ionescu, Schauser, Scheiman 1995): the processor of
 * a node takes o for each message that it sends, and o + bytes * C for each that it
 * receives; a cable takes bytes * G; between them lies L.
 */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/choice.h"
#include "event/sweep.h"
#include "launch/nodes.h"
#include "launch/params.h"

struct fab_launch_costs {
	double o_us; /* processor, for each message sent or received */
	double L_us; /* latency between the end of sending and the receiver */
	double G_ns; /* a byte on a cable; of the job's fastest adapter cable */
	double C_ns; /* a byte copied by the receiver */
};

enum {
	FAB_FENCE_NODES_MAX = 1 << 22,
	FAB_FENCE_WIDTH_MAX = 65533, /* of a tree; the limit of Slurm's TreeWidth */
	FAB_FENCE_TREE_WIDTH = 16,   /* Slurm's TreeWidth unless configured */
	FAB_FENCE_PIECES_MAX = 64,
};
/* Of a node's block: 1 TiB. */
#define FAB_FENCE_BYTES_MAX ((uint64_t)1 << 40)

/* The nodes, data and costs of a fence. All is borrowed. */
struct fab_fence_job {
	uint32_t n_nodes;     /* 1 .. FAB_FENCE_NODES_MAX */
	uint64_t bytes;	      /* of a block, given by one node; 0: an empty fence */
	const uint32_t *leaf; /* [n_nodes] any number for the switch of a node; NULL: all
				 on one */
	uint32_t tree_width;  /* of slurm-auto's tree; 0: FAB_FENCE_TREE_WIDTH */
	struct fab_launch_costs costs;
};
/* With costs and width of the constants; the second with those of daemons (daemon_us),
 * which make the fences of starts. O(1). */
struct fab_fence_job fab_fence_job_of(const struct fab_launch_params *params,
				      uint32_t n_nodes, const uint32_t *leaf,
				      uint64_t bytes);
struct fab_fence_job fab_fence_daemon_job_of(const struct fab_launch_params *params,
					     uint32_t n_nodes, const uint32_t *leaf,
					     uint64_t bytes);
/* EINVAL: no node, too many, too many bytes, bad costs. O(1). */
int fab_fence_job_check(const struct fab_fence_job *job,
			struct fab_err *err) FAB_MUST_CHECK;

/* An algorithm has its row in fence.c. */
enum fab_fence_algorithm {
	FAB_FENCE_RING,
	FAB_FENCE_TREE,
	FAB_FENCE_BRUCK,
	FAB_FENCE_BRUCK_EVEN,
	FAB_FENCE_RECDBL,
	FAB_FENCE_LEAF,
	FAB_FENCE_SLURM_AUTO, /* ring or tree */
	FAB_FENCE_AUTO,	      /* the fastest of fab_fence_candidates */
};
extern const struct fab_choices fab_fence_choices;

/* An algorithm and its K. */
struct fab_fence_chosen {
	enum fab_fence_algorithm algorithm;
	uint32_t width; /* 0: it takes none */
};
static inline bool fab_fence_equal(struct fab_fence_chosen a, struct fab_fence_chosen b)
{
	return a.algorithm == b.algorithm && a.width == b.width;
}
/* The algorithms that `auto` tries, in this order. */
enum { FAB_N_FENCE_CANDIDATES = 7 };
extern const struct fab_fence_chosen fab_fence_candidates[FAB_N_FENCE_CANDIDATES];

/* "bruck", "tree:16". EINVAL: an unknown name, a K that is missing, 0, too large, or not
 * expected. O(rows). */
int fab_fence_parse(const char *text, size_t len, struct fab_fence_chosen *out,
		    struct fab_err *err) FAB_MUST_CHECK;
/* As it is written in options. O(1). */
char *fab_fence_text(struct fab_arena *memory, struct fab_fence_chosen chosen)
	__attribute__((returns_nonnull));
/* The algorithm that runs: itself, or the one that slurm-auto chooses. O(1). */
struct fab_fence_chosen fab_fence_stands_for(struct fab_fence_chosen chosen,
					     const struct fab_fence_job *job);

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
	/* The messages are sent this many times, each time in new steps, `first` one
	 * lower each time (around): of a ring N - 1. */
	uint32_t n_repeats;
	uint32_t *node_at; /* [n_nodes]; NULL: node i at position i */
};
/* The plan of an algorithm that is not `auto`, in `memory`. Errors: those of
 * fab_fence_job_check(). O(messages + nodes log nodes). */
int fab_fence_plan_make(struct fab_arena *memory, struct fab_fence_chosen chosen,
			const struct fab_fence_job *job, struct fab_fence_plan *out,
			struct fab_err *err) FAB_MUST_CHECK;
/* Microseconds without contention by a closed form: of ring (N - 1)(2 o + L + b (G + C)),
 * of bruck ceil(log2 N)(2 o + L) + (N - 1) b (G + C); NaN: none is known. O(1). */
double fab_fence_formula_us(struct fab_fence_chosen chosen,
			    const struct fab_fence_job *job);

/* Cables that messages take, in each direction: the adapters' own ones first (node i
 * sends on i, receives on N + i), then those between switches that any message takes. */
struct fab_fence_paths {
	uint32_t n_nodes, n_cables;
	uint64_t *first; /* [messages + 1] into cable */
	uint32_t *cable; /* of a message, from its sender on */
	uint32_t *port;	 /* [n_cables] sending port of the fabric; FAB_NONE: no fabric */
	/* [n_cables] time of a byte, as a multiple of G: 1 for the fastest adapter cable
	 * of the job and for unknown rates. */
	double *slowness;
};

/* A step, if all its messages were sent at the same time. */
struct fab_fence_step {
	uint64_t load;	       /* messages on the fullest direction of a cable */
	uint64_t load_between; /* of cables between switches */
	uint32_t cable;	       /* the fullest one: of struct fab_fence_paths */
	uint64_t n_blocks;     /* the most that a node sends in it */
	uint32_t most_sent, most_received; /* messages of a node */
	/* Blocks * slowness of the cable that takes longest; blocks that a node copies.
	 */
	double wire_blocks, copied_blocks;
};
struct fab_fence_load {
	uint32_t n_steps;	     /* of the messages: of a ring 1, which is repeated */
	struct fab_fence_step *step; /* [n_steps] */
	uint64_t max, max_between;   /* loads of the fullest step */
	double factor; /* wire time with contention over that without; 1: no contention,
			  NaN: nothing is sent */
};

/* Microseconds as a line over the size of a block. */
struct fab_fence_line {
	double fixed_us, byte_us;
};
static inline double fab_fence_line_us(struct fab_fence_line line, uint64_t bytes)
{
	return line.fixed_us + line.byte_us * (double)bytes;
}

/* A fence with everything that is independent of the size of a block. */
struct fab_fence_setup {
	struct fab_fence_chosen is; /* slurm-auto is resolved */
	struct fab_fence_job job;   /* borrows leaf */
	struct fab_fence_plan plan;
	struct fab_fence_paths paths;
	struct fab_fence_load load;
	/* Each step waits for its fullest cable: of ring and bruck the steps' (2 o + L)
	 * and (N - 1) b (F G + C). */
	struct fab_fence_line contended;
	double n_o; /* times that o is in it */
	/* Messages by the next rail of the nodes, which carries an equal share of each
	 * message: G of `job` is divided by the rails, and `contended` is that of the
	 * slowest rail in each step. NULL: none. Loads and cables are of the first. */
	struct fab_fence_setup *next;
	struct fab_arena memory;
};
/*
 * Prepare a fence that is not `auto`; job->bytes decides what slurm-auto chooses. The
 * caller frees it, and keeps job->leaf. nodes NULL: no fabric; each node has a cable to
 * all others. Hosts on one switch meet there. Errors: those of fab_fence_plan_make();
 * EHOSTUNREACH: tables without a path between two nodes, which are named; EINVAL: nodes
 * and plan differ in number. O(columns + messages * hops).
 */
int fab_fence_setup_init(struct fab_fence_setup *setup, struct fab_fence_chosen chosen,
			 const struct fab_fence_job *job,
			 const struct fab_launch_nodes *nodes,
			 const struct fab_routes *routes,
			 struct fab_err *err) FAB_MUST_CHECK;
void fab_fence_setup_fini(struct fab_fence_setup *setup);

struct fab_fence_sim_options {
	/* Pieces that a message is cut into, 1 .. FAB_FENCE_PIECES_MAX; 0: 1. */
	uint32_t n_pieces;
	/* Messages entering cables, at most; 0: 2^26. Of a ring that would have more only
	 * the first 64 rounds are followed, to see whether it is symmetric. */
	uint64_t max_events;
	/* Follow all repeats of a plan even if they take the same time to the tick. */
	bool without_symmetry;
};
struct fab_fence_sim {
	double us; /* until the last node has all; NaN: unknown (is_cut) */
	uint64_t events;
	uint32_t n_followed; /* repeats of the plan that were followed */
	/* The last repeats took the same time on every node, to the tick; so will all
	 * later ones. */
	bool by_symmetry;
	bool is_cut; /* there were more events than max_events */
};
/* Follow a fence message by message with blocks of `bytes`; the model is described in
 * fence_sim.c. ERANGE: it takes longer than can be counted. O(messages * hops * log
 * messages). */
int fab_fence_simulate(const struct fab_fence_setup *setup, uint64_t bytes,
		       const struct fab_fence_sim_options *options,
		       struct fab_fence_sim *out, struct fab_err *err) FAB_MUST_CHECK;

struct fab_fence_time {
	double model_us;     /* without contention */
	double contended_us; /* of the line over bytes */
	double simulated_us; /* NaN: too many events, or not requested */
	struct fab_fence_sim sim;
};
/* Time with blocks of `bytes`; options NULL: not simulated. Errors: those of
 * fab_fence_simulate(). Several threads may call it for one setup. */
int fab_fence_setup_time(const struct fab_fence_setup *setup, uint64_t bytes,
			 const struct fab_fence_sim_options *options,
			 struct fab_fence_time *out, struct fab_err *err) FAB_MUST_CHECK;
/* Microseconds of an algorithm that is not `auto`, without a fabric: the closed form, or
 * its plan followed without contention. 0 of one node. Errors: those of
 * fab_fence_plan_make(). O(messages log messages). */
int fab_fence_plain_us(struct fab_fence_chosen chosen, const struct fab_fence_job *job,
		       double *us, struct fab_err *err) FAB_MUST_CHECK;

/* A range of sizes and the number of the line that is the lowest in it, up to where the
 * next range begins. */
struct fab_fence_range {
	size_t line;
	double from_bytes;
};
/* The lowest of `n` lines from 0 to `most` bytes: ranges, ascending, into out[n]; returns
 * their number. Of equal lines the first. O(n^2). */
size_t fab_fence_ranges(const struct fab_fence_line *lines, size_t n, double most,
			struct fab_fence_range *out);

/* Times of fences of one job, on its fabric or by formula; each is computed once. */
struct fab_fence_clock {
	const struct fab_launch_params *params; /* borrowed; may change between calls */
	uint32_t n_nodes;
	const struct fab_launch_nodes *nodes; /* borrowed; NULL: no fabric */
	const struct fab_routes *routes;
	bool model_only;	  /* nothing is simulated: contended times */
	uint32_t n_cut;		  /* times that would take too long to simulate */
	struct fab_arena *memory; /* of the caller: holds all that follows */
	struct fab_fence_timed *timed;
};
/* Microseconds of a fence, simulated, contended if that is unknown; a negative errno.
 * `clock` is a struct fab_fence_clock: a function of struct fab_launch_timer.
 * O(simulation). */
double fab_fence_clock_us(void *clock, struct fab_fence_chosen fence, uint64_t bytes,
			  struct fab_err *err);
/* The fastest of fab_fence_candidates. */
int fab_fence_fastest(struct fab_fence_clock *clock, uint64_t bytes,
		      struct fab_fence_chosen *out, struct fab_err *err) FAB_MUST_CHECK;

/* A fence of one algorithm by size, order and number of nodes. */
struct fab_fence_row {
	const char *algorithm;
	const char *stands_for; /* NULL: itself */
	const char *why;	/* of auto: the reason for that one */
	const char *order;
	const char *loads; /* "1,2,4": load of each step */
	const char *shard;
	uint32_t nodes;
	uint64_t bytes, steps, max_link_load, max_between;
	double model_us, contended_us, simulated_us, factor;
	double daemons_us;    /* contended_us with daemon_us in place of o_us */
	uint64_t by_symmetry; /* UINT64_MAX: not simulated */
};
/* The algorithm that is the fastest in a range of sizes, by the contended lines. */
struct fab_fence_best_range {
	const char *order, *algorithm;
	uint32_t nodes;
	double from_bytes, to_bytes;
};
/* Nodes in one order. */
struct fab_fence_group {
	struct fab_launch_nodes nodes;
	const char *order;
};
/* One algorithm with the nodes of a group: a row for each size. */
struct fab_fence_item {
	struct fab_arena memory;
	struct fab_fence_row *rows; /* [n_bytes]; NULL: in another shard */
	struct fab_fence_line line;
	const char *name;
	bool is_alias; /* slurm-auto, which may depend on the size */
	struct fab_fence_load load;
	uint32_t *port; /* [load.n_steps] sender of the fullest cable of a step */
};
/* A table of fences. The caller sets all up to `context`, and keeps it. */
struct fab_fence_table {
	const struct fab_launch_params *params;
	const bool *uses; /* constants of the range, as fab_launch_range_find() */
	const struct fab_routes *routes;
	FAB_VEC(struct fab_fence_group)
	groups; /* orders, each with all numbers of nodes */
	FAB_VEC(struct fab_fence_chosen) fences; /* without auto; candidates are added */
	bool has_auto;
	const uint64_t *bytes; /* [n_bytes] */
	size_t n_bytes;
	bool model_only;
	uint32_t n_pieces; /* of a simulated message */
	const char *shard_text;
	struct fab_shard shard;
	int n_threads;
	fab_progress_fn progress;
	void *progress_context;
	/* Results. */
	size_t n_shown;			      /* of fences; the rest was added for auto */
	FAB_VEC(struct fab_fence_item) items; /* by group, then fence */
	FAB_VEC(struct fab_fence_row) autos;
	FAB_VEC(struct fab_fence_best_range) ranges;
	/* Seconds of the fastest fence of the first group at the largest size. */
	struct fab_launch_range seconds;
	struct fab_arena *memory; /* holds the results */
};
/* An empty table that `memory` ends; it must live as long. O(1). */
void fab_fence_table_begin(struct fab_fence_table *t, struct fab_arena *memory);
/* Candidates of auto are added to the fences; returns the number of items of the sweep.
 * Before fab_fence_table_run(). O(fences). */
size_t fab_fence_table_plan(struct fab_fence_table *t);
/* Errors: those of fab_fence_setup_init() and fab_fence_simulate(). */
int fab_fence_table_run(struct fab_fence_table *t, struct fab_err *err) FAB_MUST_CHECK;
/* Microseconds of a row: simulated if that is known, else contended. O(1). */
double fab_fence_row_us(const struct fab_fence_row *row);
/* The fastest of a group at size number `i`, by fab_fence_row_us() or by daemons_us;
 * NULL: none in this shard. O(fences). */
const struct fab_fence_item *fab_fence_best(const struct fab_fence_table *t, size_t group,
					    size_t i, bool by_daemons);
