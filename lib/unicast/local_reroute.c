/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/local_reroute.h"

#include "base/progress.h"
#include "base/threads.h"
#include "unicast/path.h"
#include "unicast/segments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LAST_PHASE = 3, LEGS_MAX = 4 };

/* A packet in flight. Phase 0 and 2 are rows, 1 and 3 columns, on lanes 0 and 1. */
struct packet {
	const struct fab_segments *segments;
	uint32_t to;
	uint32_t dead[FAB_LOCAL_REROUTE_BURST_MAX], n_dead; /* unknown to the tables */
	uint32_t met[FAB_LOCAL_REROUTE_BURST_MAX], n_met;
};

static bool is_in(const uint32_t *set, uint32_t n, uint32_t leaf)
{
	for (uint32_t i = 0; i < n; i++)
		if (set[i] == leaf)
			return true;
	return false;
}

static int next_phase(int phase, int dim)
{
	int next = phase + 1;

	return (next & 1) == dim ? next : next + 1;
}

static uint32_t coord(const struct fab_kfat *k, uint32_t leaf, uint32_t d)
{
	return k->coord[(size_t)leaf * 2 + d];
}

/* Can the packet at a leaf, come by `phase`, arrive in so many segments, as far as is
 * known?
 */
static bool can_go(const struct packet *p, uint32_t leaf, int phase, unsigned n_segments)
{
	const struct fab_kfat *k = p->segments->k;

	if (leaf == p->to)
		return true;
	for (int dim = 0; dim < 2 && n_segments; dim++) {
		int next = next_phase(phase, dim);
		uint32_t line = k->line_of[(size_t)leaf * 2 + (uint32_t)dim];

		if (next > LAST_PHASE || line == FAB_NONE)
			continue;
		if (coord(k, leaf, (uint32_t)!dim) == coord(k, p->to, (uint32_t)!dim) &&
		    fab_segments_has(p->segments, line, leaf, p->to))
			return true;
		for (uint32_t c = 0; c < k->dims[dim] && n_segments > 1; c++) {
			uint32_t by = fab_segments_leaf(p->segments, line, c);

			if (by != FAB_NONE && by != leaf &&
			    !is_in(p->met, p->n_met, by) &&
			    fab_segments_has(p->segments, line, leaf, by) &&
			    can_go(p, by, next, n_segments - 1))
				return true;
		}
	}
	return false;
}

/*
 * The packet is in a line, come from leaf `from` by `phase`: the leaf to go on by, with
 * the fewest segments; FAB_NONE: stuck.
 */
static uint32_t leave_line(const struct packet *p, uint32_t line, uint32_t from,
			   int phase)
{
	const struct fab_kfat *k = p->segments->k;

	for (unsigned n_segments = 0; n_segments < LEGS_MAX; n_segments++)
		for (uint32_t c = 0; c < k->dims[phase & 1]; c++) {
			uint32_t by = fab_segments_leaf(p->segments, line, c);

			if (by != FAB_NONE && by != from &&
			    !is_in(p->met, p->n_met, by) &&
			    fab_segments_has(p->segments, line, from, by) &&
			    can_go(p, by, phase, n_segments))
				return by;
		}
	return FAB_NONE;
}

/* The line and phase that the packet at a leaf takes next, with the fewest segments. */
static bool choose_line(const struct packet *p, uint32_t leaf, int phase, uint32_t *line,
			int *next)
{
	const struct fab_kfat *k = p->segments->k;

	for (unsigned n_segments = 0; n_segments < LEGS_MAX; n_segments++)
		for (int dim = 0; dim < 2; dim++) {
			*line = k->line_of[(size_t)leaf * 2 + (uint32_t)dim];
			*next = next_phase(phase, dim);
			if (*line == FAB_NONE || *next > LAST_PHASE)
				continue;
			for (uint32_t c = 0; c < k->dims[dim]; c++) {
				uint32_t by = fab_segments_leaf(p->segments, *line, c);

				if (by != FAB_NONE && by != leaf &&
				    !is_in(p->met, p->n_met, by) &&
				    fab_segments_has(p->segments, *line, leaf, by) &&
				    can_go(p, by, *next, n_segments))
					return true;
			}
		}
	return false;
}

/* From the first dead leaf it meets to the end: segments, FAB_NONE when it gets stuck. */
static uint32_t reroute(struct packet *p, uint32_t line, uint32_t from, uint32_t meets,
			int phase)
{
	uint32_t n_segments = 0, by;

	p->n_met = 0;
	p->met[p->n_met++] = meets;
	for (;;) {
		by = leave_line(p, line, from, phase);
		while (by != FAB_NONE && is_in(p->dead, p->n_dead, by)) {
			p->met[p->n_met++] = by;
			by = leave_line(p, line, from, phase);
		}
		if (by == FAB_NONE)
			return FAB_NONE;
		n_segments++;
		if (by == p->to)
			return n_segments;
		from = by;
		if (!choose_line(p, from, phase, &line, &phase))
			return FAB_NONE;
	}
}

/* The leaves on the path of the tables, source first; returns the number of segments. */
static uint32_t read_segments(const struct fab_kfat *k, const struct fab_routes *r,
			      uint32_t source, uint32_t column, uint32_t *leaf)
{
	struct fab_path path = fab_path_from(r, source, column);
	uint32_t n = 0;

	leaf[0] = k->leaf_of[source];
	while (fab_path_step(&path))
		if (k->leaf_of[path.at] != FAB_NONE && n < LEGS_MAX)
			leaf[++n] = k->leaf_of[path.at];
	return fab_path_end(&path) == FAB_PATH_ARRIVES ? n : 0;
}

/* The pair of leaf[0] and leaf[n], whose path turns at leaf[i], dead with the others. */
static void meet(const struct fab_kfat *k, struct packet *p, const uint32_t *leaf,
		 uint32_t n, uint32_t i, struct fab_local_reroute *sum)
{
	int phase = -1;
	uint32_t line = FAB_NONE, segments;

	for (uint32_t segment = 0; segment < i; segment++) {
		int dim = coord(k, leaf[segment], 0) == coord(k, leaf[segment + 1], 0);

		phase = next_phase(phase, dim);
		line = k->line_of[(size_t)leaf[segment] * 2 + (uint32_t)dim];
	}
	p->to = leaf[n];
	sum->cases++;
	segments = reroute(p, line, leaf[i - 1], leaf[i], phase);
	if (segments == FAB_NONE)
		sum->stuck++;
	else
		sum->segments_more += segments + i - 1 > n ? segments + i - 1 - n : 0;
}

/* All bursts that the path of a pair meets. */
static void meet_all(const struct fab_kfat *k, struct packet *p,
		     const struct fab_faults *faults, const uint32_t *leaf, uint32_t n,
		     unsigned burst, struct fab_local_reroute *sum)
{
	for (uint32_t i = 1; i < n; i++) {
		p->dead[0] = leaf[i];
		p->n_dead = 1;
		if (burst == 1) {
			meet(k, p, leaf, n, i, sum);
			continue;
		}
		p->n_dead = 2;
		for (uint32_t other = 0; other < k->n_leaves; other++) {
			uint32_t at = 1;

			if (!fab_switch_is_live(faults, k->leaf[other]) ||
			    other == leaf[i] || other == leaf[0] || other == leaf[n])
				continue;
			while (at < i && leaf[at] != other)
				at++;
			if (at < i)
				continue; /* it is met there, and counted there */
			p->dead[1] = other;
			meet(k, p, leaf, n, i, sum);
		}
	}
}

static uint64_t count_bursts(uint64_t n, unsigned burst)
{
	return burst == 1 ? n : n * (n - 1) / 2;
}

static void run(const struct fab_kfat *k, const struct fab_faults *faults,
		const struct fab_segments *segments, const struct fab_routes *r,
		unsigned burst, int n_threads, struct fab_local_reroute *out)
{
	uint64_t cases = 0, stuck = 0, more = 0;
	/* alternatives go through the same leaves */
	uint32_t *column, n = fab_routes_leaf_columns(r, &column);

	n_threads = fab_threads_for(n_threads, (uint64_t)n * n * 32);
#pragma omp parallel for num_threads(n_threads) schedule(dynamic, 8)        \
	reduction(+ : cases, stuck, more)
	for (uint32_t i = 0; i < n; i++) {
		struct packet p = {.segments = segments};
		struct fab_local_reroute sum = {0};
		uint32_t leaf[LEGS_MAX + 1];

		fab_progress_report("local reroute", "destinations", i, n);
		for (uint32_t s = 0; s < n; s++) {
			uint32_t n_segments = read_segments(
				k, r, r->column_switch[column[s]], column[i], leaf);

			meet_all(k, &p, faults, leaf, n_segments, burst, &sum);
		}
		cases += sum.cases;
		stuck += sum.stuck;
		more += sum.segments_more;
	}
	free(column);
	fab_threads_rest(n_threads);
	*out = (struct fab_local_reroute){count_bursts(n, burst), cases, stuck, more};
}

int fab_local_reroute_all(const struct fab_kfat *k, const struct fab_faults *known,
			  unsigned burst, int n_threads, struct fab_local_reroute *out,
			  struct fab_err *err)
{
	const struct fab_unicast_problem problem = {.f = k->f,
						    .faults = known,
						    .kfat = k,
						    .max_vls = 2,
						    .n_threads = n_threads};
	struct fab_segments segments;
	struct fab_routes *r;
	int rc = fab_unicast_vtftr.route(&problem, &r, err);

	if (rc)
		return rc;
	fab_segments_init(&segments, k, known);
	run(k, known, &segments, r, burst, n_threads, out);
	fab_segments_fini(&segments);
	fab_routes_free(r);
	return 0;
}
