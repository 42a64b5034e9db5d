/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How likely it is that k dead leaf switches cost a pair of sound ones: exact where there
 * is a closed form, by trials otherwise.
 */
#pragma once

#include "event/sweep.h"
#include "unicast/engine.h"

/*
 * Probability that k different points of a grid of n x m, all sets as likely, touch every
 * row and every column: the case for which Liu et al. 2022 promise nothing (claim 3). A
 * walk over (rows touched, columns touched) whose terms are all positive, so that small
 * probabilities keep their digits; by inclusion and exclusion,
 * sum (-1)^(i+j) C(n,i) C(m,j) C((n-i)(m-j), k) / C(nm, k), is the same number.
 * out[0 .. k_max]. O(n * m * k_max).
 */
void fab_touch_all(uint32_t n, uint32_t m, uint32_t k_max, double *out);
/*
 * The figure of Liu et al. 2022 for an n x n grid, C(n^2 - n, k - n) / C(n^2, k): it
 * takes the faults that touch everything to stand on one given diagonal, though there are
 * n! orderings of it and other sets that touch everything. 0 for k < n. O(k).
 */
double fab_touch_all_as_published(uint32_t n, uint32_t k);
/*
 * Faults that vtftr-ib surely survives: sum of (size - 1) over the dimensions, less one.
 * That many leaf-disjoint paths join two sound leaves within two rounds of dimension
 * order (after Liu et al. 2022, for destination tables). O(dimensions).
 */
uint32_t fab_faults_survived(const struct fab_kfat *k);
/*
 * At most so likely is it that k dead leaves of a whole grid of n x m leave some pair of
 * sound ones without a path of three segments or fewer, hence that they cut one off: the
 * sum over the pairs of the probability that both turns are dead, and one of the two
 * leaves of every other row and column that could take a detour. O(n + m).
 */
double fab_cut_bound(uint32_t n, uint32_t m, uint32_t k);

struct fab_reliability {
	uint32_t n_faults;
	uint64_t trials, hits; /* hits: some pair of sound leaves was unreachable */
	uint64_t unreachable;  /* pairs, of all trials together */
	uint64_t pairs;	       /* of a trial */
	double probability, low, high; /* 95 % interval of Wilson */
	double share;		       /* mean share of pairs that were unreachable */
	uint64_t with_note; /* trials in which the engine had something to say */
};

/* Probability, interval and share from the counts before them, trials > 0: also of the
 * sums of several. O(1). */
void fab_reliability_sum_up(struct fab_reliability *r);

/*
 * Trials: in each, n_faults leaves die at random, the engine routes, and its tables are
 * walked. Which leaves die follows from the seed and the number of the trial
 * (unicast/faults.h); a shard makes its trials of n_trials. Equal for any number of
 * threads. `progress` may be NULL. EINVAL: fewer sound leaves than faults + 2; what an
 * engine refuses, with the number of the trial. O(trials * routing).
 */
struct fab_trials {
	const struct fab_kfat *kfat;
	const struct fab_unicast_engine *engine;
	unsigned max_vls, max_sls; /* as in struct fab_unicast_problem */
	uint64_t seed, n_trials;
	struct fab_shard shard;
	int n_threads;
	fab_progress_fn progress;
	void *progress_context;
};
int fab_reliability_try(const struct fab_trials *trials, uint32_t n_faults,
			struct fab_reliability *out, struct fab_err *err) FAB_MUST_CHECK;

/*
 * Mean time until a pair is unreachable, leaves dying independently with the mean time
 * `mtbf` each and never repaired: sum over k of (1 - p[k]) * mtbf / (n - k), p made to
 * ascend. p[0 .. k_max]; *is_whole: p reaches 1, else the sum is a lower bound. Same unit
 * as mtbf. O(k_max).
 */
double fab_time_to_unreachable(const double *p, uint32_t k_max, uint32_t n_leaves,
			       double mtbf, bool *is_whole);

/*
 * Leaf switches that die independently, and are repaired after `mttr` (same unit as
 * mtbf): the probability that one of the n_leaves - 1 others dies before a dead one is
 * repaired, 1 - exp(-(n_leaves - 1) * mttr / mtbf). O(1).
 */
double fab_next_before_repair(uint32_t n_leaves, double mtbf, double mttr);
/*
 * Share of time in which some pair is unreachable: the number of dead leaf switches at a
 * time is binomial with mttr / (mtbf + mttr), whatever the distribution of repair times;
 * p[0 .. k_max] as for fab_time_to_unreachable(), 1 for more faults than k_max. O(n).
 */
double fab_unavailability(const double *p, uint32_t k_max, uint32_t n_leaves, double mtbf,
			  double mttr);

/*
 * Faults that the tables do not know yet, rerouted locally as Liu et al. 2022 have it
 * (section 1): the switch of a row or column that finds a leaf dead hands the packet to
 * another leaf of its line, and it goes on by column - row, row - column - row, column -
 * row - column or row - column - row - column. A packet keeps to ascending channels, row
 * and column on lane 0, then on lane 1, so that it has four segments at most; a packet
 * that needs more is stuck. In plain InfiniBand the service level is fixed at the source,
 * so that this can be simulated only.
 *
 * Lists are those of the paper (figure 4): each entry of a line's switch has the other
 * leaves of the line whose crossing line has no known fault. A search, which is not in
 * the paper, carries the dead leaves that were met in the packet and takes any way on.
 */
enum fab_reroute_method { FAB_REROUTE_LISTS, FAB_REROUTE_SEARCH, FAB_REROUTE_METHODS };
/* Their names, "lists", "search", and "both". */
extern const struct fab_choices fab_reroute_choices;

enum { FAB_LOCAL_REROUTE_BURST_MAX = 2 };

struct fab_local_reroute {
	uint64_t bursts; /* sets of unknown faults */
	uint64_t cases;	 /* pairs and bursts that meet: the path leads to a dead leaf */
	uint64_t stuck;
	/* of all cases that are not stuck, against the tables' path */
	uint64_t segments_more;
};

/*
 * For every set of `burst` sound leaves that die unknown (1 or 2) and every pair of other
 * sound leaves whose path by engine vtftr under the known faults leads through one of
 * them: reroute locally. EINVAL: more than two dimensions. O(pairs * leaves^(burst - 1) *
 * n^2).
 */
int fab_local_reroute_all(const struct fab_kfat *kfat, const struct fab_faults *known,
			  enum fab_reroute_method method, unsigned burst, int n_threads,
			  struct fab_local_reroute *out,
			  struct fab_err *err) FAB_MUST_CHECK;

/* The list of a line's entry towards the leaf at a coordinate along it, of a kfat of two
 * dimensions: numbers of leaves, ascending. Returns how many. O(leaves). */
uint32_t fab_local_reroute_list(const struct fab_kfat *kfat,
				const struct fab_faults *known, uint32_t line,
				uint32_t coord, uint32_t *leaf);

/*
 * The steps of one packet, for simulators: one that meets a dead leaf switch, or has met
 * some. Phases 0 and 2 are rows, 1 and 3 columns, on lanes 0 and 1; -1: at its source.
 */
struct fab_local_steps;
/* NULL: not a kfat of two dimensions whose lines have one level of switches. kfat and
 * faults are borrowed; the caller frees. O(lines * leaves of a line). */
struct fab_local_steps *fab_local_steps_new(const struct fab_kfat *kfat,
					    const struct fab_faults *known,
					    enum fab_reroute_method method);
void fab_local_steps_free(struct fab_local_steps *steps);
/* Of a packet that has met met[n_met <= FAB_LOCAL_REROUTE_BURST_MAX] dead leaves. */
struct fab_local_packet {
	uint32_t to; /* leaf */
	const uint32_t *met;
	uint32_t n_met;
};
/* In a line, come from leaf `from` by `phase`, of a packet whose entry leads to a dead
 * leaf or that has met one before: the leaf to which the line's switch hands it;
 * FAB_NONE: none. O(leaves of a line^2). */
uint32_t fab_local_steps_line(const struct fab_local_steps *steps,
			      const struct fab_local_packet *packet, uint32_t line,
			      uint32_t from, int phase);
/* At a leaf, come by `phase`, after it has met a dead one: the line by which it goes on;
 * FAB_NONE: none. O(leaves of a line^2). */
uint32_t fab_local_steps_leaf(const struct fab_local_steps *steps,
			      const struct fab_local_packet *packet, uint32_t leaf,
			      int phase);
/* The phase after `phase` along dimension `dim`; above FAB_LOCAL_PHASE_LAST: none. O(1).
 */
enum { FAB_LOCAL_PHASE_LAST = 3 };
static inline int fab_local_phase(int phase, int dim)
{
	int next = phase + 1;

	return (next & 1) == dim ? next : next + 1;
}
