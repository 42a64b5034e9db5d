/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Remedies of a credit loop: the least that can be changed so that the channel dependency
 * graph of an algorithm's tables has no cycle (unicast/analysis.h). Each one was tried:
 * the changed fabric was routed again and analysed; no pair loses its path unless the
 * remedy says so.
 */
#pragma once

#include "base/progress.h"
#include "unicast/analysis.h"
#include "unicast/engine.h"

/* In the order in which they are ranked, among those of equally many cables; but first
 * come those of cables that no tree has, then those that leave no path that turns up
 * again: they do not depend on ties. */
enum fab_cure_kind {
	FAB_CURE_MOVE,	 /* cables are plugged in elsewhere */
	FAB_CURE_REMOVE, /* cables are left out, some may be moved */
	FAB_CURE_PAIRS,	 /* pairs of hosts must not talk */
	FAB_CURE_ROOTS,	 /* updn, with roots that it is given */
	FAB_CURE_ENGINE, /* another algorithm */
};

struct fab_cure {
	enum fab_cure_kind kind;
	uint32_t n_cables; /* moved and left out */
	uint32_t n_proper; /* of these: between two ranks that follow each other */
	char *edit;	   /* as fabric/edit.h reads it; NULL: no cable is touched */
	const struct fab_unicast_engine *engine; /* with which there is no loop */
	uint64_t n_pairs;	 /* ordered pairs of ends that must not talk */
	struct fab_pairs *pairs; /* [n_switch_pairs] switches of these; pairs that turn */
	size_t n_switch_pairs;
	/* table entries (switch, LID) with another port; UINT64_MAX: not comparable */
	uint64_t entries;
	uint32_t max_hops;
	uint64_t valley_pairs; /* whose path still goes up again after it went down */
	unsigned vls;	       /* lanes that the tables use */
	double load;	       /* fab_uniform_load() */
};

struct fab_cures {
	struct fab_arena arena;	     /* of all texts and lists */
	FAB_VEC(struct fab_cure) of; /* the least change first */
	uint32_t n_tried;	     /* sets of cables */
	uint32_t n_searched;	     /* sets of up to that many cables were looked for */
	bool has_given_up;	     /* there were more sets than may be tried */
};

struct fab_cure_options {
	bool has_ends; /* else leaf switches for engines on a kfat, or hosts */
	enum fab_ends ends;
	double cpu_seconds; /* about what the search may take of a core */
	/* One thread at a time calls it; not 0: stop. NULL: none. */
	fab_progress_fn progress;
	void *progress_context;
};

/*
 * Search remedies of a loop that the engine's tables of problem->f have; `loop` is the
 * analysis of these, without faults. Sets of cables are built up along the paths that
 * close a shortest cycle: every cable of such paths alone, then the best of them with one
 * more, so that a smaller set of other cables can exist. The search is bounded by a
 * number of sets that follows from cpu_seconds and the size of the fabric: equal inputs
 * give equal results. *out is freed by fab_cures_fini(), also after an error. ECANCELED:
 * progress said stop; errors of engines. O(sets * (routing + analysis)).
 */
int fab_cures_find(const struct fab_unicast_problem *problem,
		   const struct fab_unicast_engine *engine,
		   const struct fab_analysis *loop,
		   const struct fab_cure_options *options, struct fab_cures *out,
		   struct fab_err *err) FAB_MUST_CHECK;
void fab_cures_fini(struct fab_cures *cures);
