/* SPDX-License-Identifier: BSD-2-Clause */
/* Data shared by the parts of the search of remedies. */
#pragma once

#include "fabric/ranks.h"
#include "fabric/resolver.h"
#include "unicast/cure.h"

enum {
	FAB_CURE_DEPTH = 4,	  /* cables of a set, moved or left out */
	FAB_CURE_CANDIDATES = 32, /* cables that are tried on top of a set */
};

/* Tables of a problem and what is in them. */
struct fab_cure_tables {
	struct fab_routes *routes; /* as the engine made them */
	struct fab_analysis j;
};

struct fab_cure_set {
	uint32_t cables[FAB_CURE_DEPTH]; /* ascending */
	size_t n;
	size_t n_proper;		    /* of the cables: as a tree has them */
	bool is_done, is_cured;		    /* the others are known */
	uint64_t channels, pairs, turns;    /* on cycles; pairs that turn up again */
	uint32_t more[FAB_CURE_CANDIDATES]; /* cables to try on top, best first */
	size_t n_more;
	int rc;
	struct fab_err err;
};

struct fab_cure_sets {
	FAB_VEC(struct fab_cure_set) of;
};

struct fab_cure_search {
	struct fab_unicast_problem problem;
	const struct fab_unicast_engine *engine;
	const struct fab_cure_options *options;
	const struct fab_analysis *loop;
	const struct fab_fabric *f;
	struct fab_resolver *resolver;
	struct fab_ranks ranks;
	uint32_t *n_hosts;	    /* [n_switches] */
	struct fab_cure_tables now; /* the tables with the loop */
	uint32_t sets_left;
	uint32_t most_cables; /* a cure by moves has that many; FAB_CURE_DEPTH: none is
				 known */
	struct fab_cures *out;
};

/* Tables by an engine, analysed; after an error nothing is left of them. */
int fab_cure_judge(const struct fab_cure_search *s, const struct fab_unicast_problem *p,
		   const struct fab_unicast_engine *engine, struct fab_cure_tables *x,
		   struct fab_err *err) FAB_MUST_CHECK;
void fab_cure_tables_fini(struct fab_cure_tables *x);
/* Analyse x->routes, completed where ends need more columns than there are. */
int fab_cure_analyse(const struct fab_cure_search *s, const struct fab_unicast_problem *p,
		     struct fab_cure_tables *x, struct fab_err *err) FAB_MUST_CHECK;
/* No loop, for certain, and every pair but `n_pairs` that had a path has one. O(1). */
bool fab_cure_works(const struct fab_cure_search *s, const struct fab_analysis *j,
		    uint64_t n_pairs);
/* Does a cable join two ranks that follow each other, as in a tree? O(1). */
bool fab_cure_is_proper(const struct fab_cure_search *s, uint32_t cable);
/* Add a remedy that works to the result, with figures of its tables. */
int fab_cure_keep(struct fab_cure_search *s, const struct fab_cure *cure,
		  const struct fab_cure_tables *x, struct fab_err *err) FAB_MUST_CHECK;
/* Tell the caller of the progress; true: it wants to stop. */
bool fab_cure_is_stopped(const struct fab_cure_search *s, uint64_t done, uint64_t total);

/* moves.c: cures by the fewest moves that give all pairs a path up, then down. */
int fab_cure_search_moves(struct fab_cure_search *s, struct fab_err *err) FAB_MUST_CHECK;
/* A set of cables left out, verified as an edit; `moves`: instead, as many of them as
 * possible moved. */
int fab_cure_keep_set(struct fab_cure_search *s, const struct fab_cure_set *set,
		      bool moves, struct fab_err *err) FAB_MUST_CHECK;
