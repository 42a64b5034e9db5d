/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The phases of a job start on each node, in sequence, and the critical path of the last
 * node. Phases and orders are those of Zhang K. et al., "Survey on process management
 * interfaces for exascale systems" (2020): the traditional start of six phases, and that
 * of PMIx in which nothing is exchanged (`instant`). Constants come from launch/params.h.
 */
#pragma once

#include "launch/fence.h"
#include "launch/params.h"
#include "launch/size.h"

enum fab_launch_interface { FAB_PMI1, FAB_PMI2, FAB_PMIX };
extern const struct fab_choices fab_launch_interfaces;

/* Ways in which processes obtain the addresses of others. */
enum fab_launch_wireup {
	FAB_WIREUP_FULL,       /* a fence brings all data to all, a barrier at the end */
	FAB_WIREUP_BACKGROUND, /* the fence runs while adapters are opened; no barrier */
	FAB_WIREUP_DIRECT,     /* a process requests what it needs, as soon as the nodes
				  before and after its own have put their keys */
	FAB_WIREUP_DIRECT_BARRIER,
	FAB_WIREUP_INSTANT, /* all is known before: files and data come in advance */
};
extern const struct fab_choices fab_launch_wireups;

/* Ways in which program and libraries reach the nodes. */
enum fab_stage_in {
	FAB_STAGE_STORM, /* every process opens its files, every node reads them */
	FAB_STAGE_CACHE, /* a node opens and reads them once for its processes */
	FAB_STAGE_TREE,	 /* one node reads them, a tree spreads them */
	FAB_STAGE_NONE,	 /* they are present already */
};
extern const struct fab_choices fab_stage_ins; /* without FAB_STAGE_NONE */

enum fab_phase {
	FAB_PHASE_SUBMIT,
	FAB_PHASE_ALLOCATE,
	FAB_PHASE_DAEMONS,   /* the tree of daemons reaches the node */
	FAB_PHASE_STAGE_IN,  /* files */
	FAB_PHASE_REGISTER,  /* job and processes at the node's server */
	FAB_PHASE_FORK,	     /* processes start sequentially */
	FAB_PHASE_HARDWARE,  /* they find the processors and adapters of the node */
	FAB_PHASE_ENDPOINTS, /* they join their agent (Init) */
	FAB_PHASE_PUT,	     /* they publish their keys */
	FAB_PHASE_EXCHANGE,  /* between nodes */
	FAB_PHASE_CHANNELS,  /* Gets, adapters, connections */
	FAB_PHASE_BARRIER,
	FAB_N_PHASES,
};
/* "submit", "allocate" ... O(1). */
const char *fab_phase_name(enum fab_phase phase);

/* Microseconds of a fence with blocks of `bytes` (0: a barrier); negative: an errno, with
 * its sentence. fab_fence_clock_us() is one. */
struct fab_launch_timer {
	double (*us)(void *context, struct fab_fence_chosen fence, uint64_t bytes,
		     struct fab_err *err);
	void *context;
};

/* Improvements that are part of a start. Values of 51 and 21 bytes are addresses, all
 * other keys are data that the manager knows. */
enum {
	FAB_DOES_MANAGER_DATA = 1, /* those keys are not put, not exchanged */
	FAB_DOES_PREDEFINED = 2,   /* and a process gets each once, not from each peer */
	FAB_DOES_SCOPES = 4,	   /* those keys have the scope of the node */
	FAB_DOES_STATIC_PORTS = 8, /* addresses are not put, not exchanged */
	FAB_DOES_NONBLOCKING = 16, /* all Gets at once, while the adapter is opened */
	FAB_DOES_TOPOLOGY = 32,	   /* one process finds the hardware for all of a node */
};

/* A job to start; all is borrowed. */
struct fab_launch_start {
	uint32_t n_nodes, ppn; /* 1 ..; processes below 2^32 */
	enum fab_launch_interface interface;
	enum fab_launch_wireup wireup;
	enum fab_stage_in stage_in;
	const struct fab_puts *keys;
	struct fab_size_layout layout;
	struct fab_fence_chosen fence; /* of PMIx; PMI-1 and PMI-2 have a tree */
	double degree;	       /* peers of a process; NaN: that of the constants */
	unsigned does;	       /* FAB_DOES_... */
	bool has_socket_store; /* PMIx asks its server for each Get, no shared memory */
	bool is_respawn; /* the processes replace others of a running job of all_nodes */
	uint32_t all_nodes;
	const struct fab_launch_params *params;
	struct fab_launch_timer timer; /* .us NULL: the closed form, no fabric */
	uint64_t seed;		       /* of the skew */
};

/* True if an interface has a wire-up: PMI-1 and PMI-2 only `full`. O(1). */
bool fab_launch_knows(enum fab_launch_interface interface, enum fab_launch_wireup wireup);

struct fab_stage {
	bool is_there;		 /* the start has this phase */
	double *start_s, *end_s; /* [n_nodes] */
	double first_start_s, last_end_s;
	uint32_t last_node; /* that ends last */
};

/* One stretch of the critical path, in the order of time. */
struct fab_critical {
	enum fab_phase phase;
	uint32_t node; /* FAB_NONE: all of them together */
	double start_s, end_s;
};

struct fab_stages {
	uint32_t n_nodes;
	struct fab_stage phase[FAB_N_PHASES];
	double total_s;
	size_t n_critical;
	struct fab_critical critical[FAB_N_PHASES];
	uint64_t bytes;	 /* contribution of a node; 0: nothing is exchanged */
	double fence_us; /* between nodes; NaN: no fence */
	double barrier_us;
	double memory_bytes; /* of a node for all contributions; PMI-1: of each process */
};

/* The phases of a start, in `memory`. EINVAL: no nodes or processes, an interface without
 * the wire-up, errors of the timer or of the files. O(nodes + files). */
int fab_stages_run(struct fab_arena *memory, const struct fab_launch_start *start,
		   struct fab_stages *out, struct fab_err *err) FAB_MUST_CHECK;
/* Contribution of a node to the exchange; 0: nothing is exchanged. O(keys). */
uint64_t fab_launch_bytes(const struct fab_launch_start *start);
/* The end only. Errors and complexity of fab_stages_run(). */
int fab_stages_total_s(const struct fab_launch_start *start, double *out,
		       struct fab_err *err) FAB_MUST_CHECK;
/* A figure for ranges: seconds of the start `context`, its fences by formula. */
fab_launch_figure_fn fab_launch_total_of;

/*
 * Seconds from the beginning until each node has its files, out[n_nodes], by the max-min
 * model of boot/transfer.h: all share the servers' rate, a node gets no more than its
 * cable; a tree works level by level. Files are opened first, each after `lookups` in
 * vain: the file system does fs_ops a second, a process one open at a time. Errors: those
 * of fab_machine_parse() and fab_transfer_run(). O(nodes log nodes).
 */
int fab_stage_in_times(const struct fab_launch_start *start, double *out,
		       struct fab_err *err) FAB_MUST_CHECK;
/* Levels of a tree of `width` above node number i. O(log i). */
uint32_t fab_launch_depth(uint32_t i, uint32_t width);

/* The value of one improvement: it alone, on top of `start`. */
struct fab_improvement {
	const char *name;
	const char *what; /* one line */
	bool applies;	  /* it changes this start */
	double total_s, saved_s, memory_bytes;
	uint64_t bytes; /* as in struct fab_stages */
};
enum { FAB_N_IMPROVEMENTS = 16 };
/* All of them, in the order of a table; `fastest`: the fence to take in place of that of
 * `start`. O(improvements * stages). */
int fab_launch_improve(const struct fab_launch_start *start,
		       struct fab_fence_chosen fastest,
		       struct fab_improvement out[FAB_N_IMPROVEMENTS],
		       struct fab_err *err) FAB_MUST_CHECK;

/* Requirements on the file system of a start within `goal_s`. */
struct fab_launch_goal {
	bool is_met;	/* at present */
	double fs_MBps; /* least rate, other things equal; NaN: no rate is enough */
	double fs_ops;	/* least operations a second at that rate, or at an endless one;
			   NaN: no number is enough */
	double least_s; /* with an endless file system */
};
/* EINVAL: as fab_stages_run(), which each step of at most three bisections takes. */
int fab_launch_goal_find(const struct fab_launch_start *start, double goal_s,
			 struct fab_launch_goal *out, struct fab_err *err) FAB_MUST_CHECK;

/* Starts by several interfaces and wire-ups. */
struct fab_launch_case {
	struct fab_launch_start start;
	struct fab_stages stages;
	struct fab_launch_goal goal;
};
struct fab_launch_comparison {
	/* Set by the caller: the goal, and memory for the results. */
	double goal_s;
	struct fab_arena *memory;
	struct {
		struct fab_launch_case *v;
		size_t n;
	} cases;
	size_t base; /* the case that the improvements are on top of */
	struct fab_improvement improvements[FAB_N_IMPROVEMENTS];
	struct fab_launch_range total; /* of the first case */
};
/*
 * Every interface by every wire-up that it has; `instant` has files by a tree. The range
 * covers the constants that `uses` has. Errors: those of fab_stages_run(); EINVAL: no
 * case is left. O(cases * 200 stages).
 */
int fab_launch_compare(struct fab_launch_comparison *c,
		       const struct fab_launch_start *base,
		       struct fab_fence_chosen fastest,
		       const struct fab_chosen_list *interfaces,
		       const struct fab_chosen_list *wireups, const bool *uses,
		       struct fab_err *err) FAB_MUST_CHECK;
/* `n` processes of the running job `base` are replaced by PMI-2. */
int fab_launch_respawn(struct fab_arena *memory, const struct fab_launch_start *base,
		       uint32_t n, struct fab_stages *out,
		       struct fab_err *err) FAB_MUST_CHECK;
