/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which scheme to take, as a statement that holds for other seeds, too.
 *
 * A scheme may be taken if at 95 % confidence no other one that ends all transfers has a
 * mean completion time more than 2 % below its own. Schemes are compared in pairs of runs
 * that have the same seed. Runs are added, twice as many at each look, until that is
 * known, or a bound on runs or events is reached.
 *
 * Confidence. The mean of d = own - 1.02 * other over n runs is below 0 if
 *
 *     mean(d) + sqrt(2 V ln(2/D) / n) + 7 R ln(2/D) / (3 (n - 1)) <= 0,
 *
 * the empirical Bernstein bound (Maurer, Pontil: Empirical Bernstein Bounds and Sample
 * Variance Penalization, COLT 2009, theorem 4), V the sample variance. Student's interval
 * does not hold here: a timeout in one run of a thousand can be several per cent of a
 * mean. R is the range of d: the one that was seen, or what one more timeout costs the
 * mean of a run where that is more, so that the bound holds before any was seen. D is
 * 0.05 divided by the number of looks, by the number of comparisons in which the truly
 * fastest scheme takes part, and by the number of choices made together (Bonferroni):
 * neither repeated looks nor many schemes make errors more frequent.
 *
 * Schemes that are known to be more than 2 % slower than the fastest get no more runs.
 */
#pragma once

#include "rdma/compare.h"

/* Means that differ by less are the same to an administrator. */
#define FAB_RDMA_AS_FAST 1.02

enum {
	FAB_RDMA_LOOKS = 16, /* at 1, 2, 4 ... runs */
	FAB_RDMA_RUNS_MAX = 1 << (FAB_RDMA_LOOKS - 1),
	FAB_RDMA_FEW = 30, /* packets lost, or held up: with fewer nothing is decided */
};

enum fab_rdma_verdict {
	FAB_RDMA_TAKE,	    /* `best` may be taken */
	FAB_RDMA_ALONE,	    /* one scheme: nothing to compare it with */
	FAB_RDMA_UNDECIDED, /* see `reason` */
	FAB_RDMA_UNTOUCHED, /* no packet was lost or late: nothing to choose by */
	FAB_RDMA_NO_END,    /* under no scheme did all transfers come to their end */
};
/* Names in JSON: take, alone, undecided, untouched, no_end. */
extern const char *const fab_rdma_verdict_name[];

/* Why it is undecided. */
enum fab_rdma_reason {
	FAB_RDMA_TOO_CLOSE,   /* more runs would decide between those that are open */
	FAB_RDMA_FEW_LOST,    /* fewer than FAB_RDMA_FEW packets were lost */
	FAB_RDMA_FEW_DELAYED, /* ... held up */
};

/* A case beside the others. */
enum fab_rdma_standing {
	FAB_RDMA_REFERENCE, /* cannot be built: the oracle */
	FAB_RDMA_UNSOUND,   /* transfers did not end, or were wrong */
	FAB_RDMA_SLOWER, /* more than 2 % slower than the fastest, at 95 % confidence */
	FAB_RDMA_OPEN,	 /* neither is known */
	FAB_RDMA_FAST,	 /* none is more than 2 % faster, at 95 % confidence */
};
/* Names in JSON: reference, unsound, slower, open, fast. */
extern const char *const fab_rdma_standing_name[];

enum { FAB_RDMA_CASES_MAX = 32 };

struct fab_rdma_choice {
	enum fab_rdma_verdict verdict;
	enum fab_rdma_reason reason;
	/* The case to take, of several that may be taken the one with the least context;
	 * if there is none, or nothing to choose, that of the least mean. FAB_NONE: under
	 * no scheme did all transfers come to their end. */
	uint32_t best;
	uint32_t fastest; /* least mean; FAB_NONE */
	uint32_t n_runs;  /* of the cases that were not left out earlier */
	/* Packets of the best that were lost, of all kinds, and held up. */
	uint64_t n_lost, n_delayed;
	enum fab_rdma_standing standing[FAB_RDMA_CASES_MAX];
};

struct fab_rdma_choice_question {
	/* Cases of one network and one set of parameters, at most FAB_RDMA_CASES_MAX;
	 * n_runs: that many, 0: as many as are needed. */
	struct fab_rdma_runs runs;
	const uint64_t *context_bits; /* [n_cases] */
	uint64_t max_events; /* no further runs if these would come to more events */
	uint32_t
		n_claims; /* choices made together, which share the 5 % of errors; >= 1 */
};

/*
 * Run and choose. out[n_cases] zeroed; the caller ends each, also after an error.
 * ECANCELED: *choice is made of the runs that were finished. Other errors: those of
 * fab_rdma_compare(). O(all runs).
 */
int fab_rdma_choose(const struct fab_rdma_choice_question *q,
		    struct fab_rdma_summary *out, struct fab_rdma_choice *choice,
		    struct fab_err *err) FAB_MUST_CHECK;
/*
 * Choose by the runs that out[n_cases] holds, which were looked at n_looks times.
 * O(cases^2
 * * runs).
 */
void fab_rdma_judge(const struct fab_rdma_choice_question *q,
		    const struct fab_rdma_summary *out, uint32_t n_looks,
		    struct fab_rdma_choice *choice);
