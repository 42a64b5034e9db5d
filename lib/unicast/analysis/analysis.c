/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/analysis/impl.h"

#include "base/progress.h"
#include "base/threads.h"
#include "fabric/ranks.h"
#include "unicast/analysis.h"
#include "unicast/routes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const ends_names[] = {[FAB_ENDS_LEAVES] = "leaves",
					 [FAB_ENDS_HOSTS] = "hosts",
					 [FAB_ENDS_ADAPTERS] = "adapters",
					 [FAB_ENDS_ALL] = "all"};
const struct fab_choices fab_ends_choices = {
	.what = "kind of ends", .n = FAB_COUNT(ends_names), .names = ends_names};

/* Does each arc lead up or down? */
static void look_at_arcs(struct fab_analyser *j)
{
	const struct fab_fabric *f = j->r->f;
	FAB_AUTO(fab_shape_free_at) struct fab_shape *shape = fab_shape_recognize(f);
	FAB_AUTO(fab_ranks_fini) struct fab_ranks ranks;

	fab_ranks_init(&ranks, f, shape);
	j->direction = FAB_ARENA_NEW(&j->arena, (size_t)j->n_arcs + 1, uint8_t);
	for (uint32_t s = 0; s < f->n_switches; s++)
		FAB_EACH_ARC(f, s, a) {
			uint32_t from = ranks.rank[s], to = ranks.rank[f->arc_peer[a]];

			j->direction[a] = to > from ? 1 : to < from ? 2 : 0;
		}
}

/* Which service levels pairs have, and whether some have none. */
static int scan_levels(struct fab_analyser *j, struct fab_err *err)
{
	const struct fab_routes *r = j->r;
	size_t n = r->sl ? (size_t)r->n_sl_sources * r->n_columns : 0;
	bool has[256] = {!r->sl};

	for (size_t i = 0; i < n; i++)
		has[r->sl[i]] = true;
	j->n_sls = 1;
	for (uint32_t sl = 0; sl < FAB_SL_UNKNOWN; sl++) {
		if (!has[sl])
			continue;
		if (sl >= FAB_ANALYSIS_SLS)
			return fab_fail(
				err, EINVAL,
				"%s: a service level is more than 15: no such tables",
				r->f->source);
		j->n_sls = sl + 1;
		j->levels |= 1u << sl;
	}
	if (r->sl && fab_analysis_is_level(r->sl_default))
		j->levels |= 1u << r->sl_default;
	j->has_none = has[FAB_SL_NONE];
	j->has_unknown =
		has[FAB_SL_UNKNOWN] || (r->sl && r->sl_default == FAB_SL_UNKNOWN);
	return 0;
}

/* Keep the lanes of these levels. Returns how many lanes there are, that for dropping not
 * counted. */
static uint32_t take_lanes(struct fab_analyser *j)
{
	const struct fab_routes *r = j->r;
	size_t n = r->lanes == FAB_LANES_TABLE ? r->vl_first[j->n_switches] : 0;
	uint8_t most = 0;

	n /= FAB_ANALYSIS_SLS;
	if (r->lanes == FAB_LANES_SL)
		return j->n_sls < FAB_ANALYSIS_DROP ? j->n_sls : FAB_ANALYSIS_DROP;
	j->lane = FAB_ARENA_NEW(&j->arena, n * j->n_sls + 1, uint8_t);
	if (n && r->files && r->files->has_lanes)
		j->is_missed = FAB_ARENA_NEW0(
			&j->arena, r->files->lane_first[j->n_switches] * j->n_sls + 1,
			uint8_t);
	for (size_t i = 0; i < n; i++)
		for (uint32_t sl = 0; sl < j->n_sls; sl++) {
			uint8_t vl = r->sl2vl[i * FAB_ANALYSIS_SLS + sl];

			j->lane[i * j->n_sls + sl] = vl;
			most = vl > most && vl < FAB_ANALYSIS_DROP ? vl : most;
		}
	return most + 1U;
}

static void work_init(struct fab_analysis_work *w, const struct fab_analyser *j)
{
	size_t n = (size_t)j->n_switches + 1;

	*w = (struct fab_analysis_work){.root = FAB_NONE,
					.block = SIZE_MAX,
					.valley_target = SIZE_MAX,
					.unreachable_target = SIZE_MAX};
	fab_walk_init(&w->walk, j->r->f, j->r->faults);
	w->hops = w->walk.hops;
	w->walk.direction = j->options->only_load ? NULL : j->direction;
	w->dist = FAB_ARENA_NEW(&w->arena, n, uint32_t);
	w->senders = FAB_ARENA_NEW(&w->arena, n, uint32_t);
	memcpy(w->senders, j->weight, j->n_switches * sizeof(*w->senders));
	w->block_sl = FAB_ARENA_NEW(
		&w->arena, ((size_t)j->n_groups + 1) * FAB_ANALYSIS_BLOCK, uint8_t);
	w->mask = FAB_ARENA_NEW0(&w->arena, n, uint32_t);
	w->lanes = FAB_ARENA_NEW0(&w->arena, n * FAB_ANALYSIS_SLS, uint16_t);
	if (j->options->with_load || j->options->only_load) {
		w->load = FAB_NEW0((size_t)j->n_arcs + 1, uint64_t);
		w->flow = FAB_ARENA_NEW(&w->arena, n, uint64_t);
	}
}

static void work_fini(struct fab_analysis_work *w)
{
	fab_walk_fini(&w->walk);
	free(w->load);
	fab_arena_free(&w->arena);
}

/* Counts of pairs and the longest path. */
static void add_counts(struct fab_analysis *sum, const struct fab_analysis *j)
{
	sum->pairs += j->pairs;
	sum->pairs_across_planes += j->pairs_across_planes;
	sum->connected += j->connected;
	sum->unreachable += j->unreachable;
	sum->connected_in_graph += j->connected_in_graph;
	sum->minimal += j->minimal;
	sum->valley_pairs += j->valley_pairs;
	sum->pairs_on_cycles += j->pairs_on_cycles;
	for (size_t i = 0; i < FAB_COUNT(sum->hops); i++)
		sum->hops[i] += j->hops[i];
	if (j->max_hops > sum->max_hops)
		sum->max_hops = j->max_hops;
}

/* Add up what threads found; sums do not ask who found what. */
static void merge(const struct fab_analyser *j, struct fab_analysis_work *into,
		  const struct fab_analysis_work *w)
{
	add_counts(&into->sum, &w->sum);
	into->without_sl += w->without_sl;
	into->vls |= w->vls;
	into->sls |= w->sls;
	into->drops |= w->drops;
	for (uint32_t a = 0; w->load && a < j->n_arcs; a++)
		into->load[a] += w->load[a];
	if (w->valley_target < into->valley_target)
		into->valley_target = w->valley_target;
	if (w->unreachable_target < into->unreachable_target)
		into->unreachable_target = w->unreachable_target;
}

/* All targets: counts, or pairs on cycles. */
static void work_on_all(struct fab_analyser *j, bool on_cycles, uint32_t sls,
			struct fab_analysis_work *sum)
{
	size_t n = j->targets.n;
	int n_threads = fab_threads_for(j->options->n_threads,
					(uint64_t)n * (j->n_switches + j->n_arcs));

	work_init(sum, j);
#pragma omp parallel num_threads(n_threads) if (n_threads > 1)
	{
		FAB_AUTO(work_fini) struct fab_analysis_work w;

		work_init(&w, j);
		w.sls = sls;
#pragma omp for schedule(dynamic, FAB_ANALYSIS_BLOCK)
		for (size_t i = 0; i < n; i++) {
			fab_progress_report(on_cycles ? "credit loops" : "analysing",
					    "destinations", i, n);
			if (on_cycles)
				fab_analysis_find_on_cycles(j, i, &w);
			else
				fab_analysis_work_on(j, i, &w);
		}
#pragma omp critical
		merge(j, sum, &w);
	}
	fab_threads_rest(n_threads);
}

/* Pairs on cycles, once cycles were found. */
static uint64_t count_on_cycles(struct fab_analyser *j, uint32_t sls)
{
	FAB_AUTO(work_fini) struct fab_analysis_work w;
	size_t n_words = 0;
	uint64_t n;

	if (j->has_followers) {
		uint32_t n_leaves = 0;

		j->leaf_number =
			FAB_ARENA_NEW(&j->arena, (size_t)j->n_switches + 1, uint32_t);
		for (size_t i = 0; i < j->targets.n; i++)
			if (!i || j->targets.v[i].root != j->targets.v[i - 1].root)
				j->leaf_number[j->targets.v[i].root] = n_leaves++;
		n_words = (size_t)((uint64_t)n_leaves * j->n_switches / 64 + 1);
		j->on_cycle = FAB_ARENA_NEW0(&j->arena, n_words, uint64_t);
	}
	work_on_all(j, true, sls, &w);
	n = w.sum.pairs_on_cycles;
	for (size_t i = 0; i < n_words; i++)
		n += (uint64_t)__builtin_popcountll(j->on_cycle[i]);
	return n;
}

/*
 * Is the verdict certain? Cycles by assumed lanes, and their absence, are not. Where
 * levels or lanes alone were given, the lanes are assumed: if one lane for all has no
 * cycle, no assignment of lanes has.
 */
static int check_freedom(const struct fab_analyser *j, struct fab_analysis *out,
			 struct fab_err *err)
{
	const struct fab_table_files *files = j->r->files;
	struct fab_analysis_options options = *j->options;
	struct fab_routes one = *j->r;
	const uint64_t *n = out->gaps.n;
	struct fab_analysis on_one;
	int rc = 0;

	if (out->cycle_channels) {
		out->is_unknown = out->assumes_sls || out->assumes_lanes;
		return 0;
	}
	out->is_unknown = n[FAB_GAP_TABLE] || n[FAB_GAP_SL] || n[FAB_GAP_LANE];
	if (!out->is_unknown && files && files->has_sls != files->has_lanes) {
		one.lanes = FAB_LANES_ONE;
		one.sl = NULL;
		one.files = NULL;
		options.with_load = false;
		rc = fab_analyse(&one, &options, &on_one, err);
		if (rc)
			return rc;
		out->is_unknown = !on_one.deadlock_free;
		fab_analysis_fini(&on_one);
	}
	out->deadlock_free = !out->is_unknown;
	return rc;
}

/* A shortest cycle of channels, in order. */
static void name_cycle(const struct fab_analyser *j, struct fab_analysis *out)
{
	const struct fab_fabric *f = j->r->f;
	uint32_t n;
	FAB_AUTOFREE uint32_t *cycle = fab_cdg_shortest_cycle(&j->cdg, &n);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t arc = cycle[i] / j->cdg.n_vls;
		uint32_t sw = f->arc_peer[fab_arc_back(f, arc)];

		FAB_PUSH(&out->cycle,
			 ((struct fab_channel){sw, arc - f->arc_first[sw],
					       (uint8_t)(cycle[i] % j->cdg.n_vls)}));
	}
}

static int analyse(struct fab_analyser *j, struct fab_analysis *out, struct fab_err *err)
{
	const struct fab_fabric *f = j->r->f;
	FAB_AUTO(work_fini) struct fab_analysis_work w;
	int rc = 0;

	work_on_all(j, false, 0, &w);
	if (w.drops)
		rc = fab_fail(
			err, EINVAL,
			"%s: the tables send packets on lane 15, on which switches drop data: expected lanes 0 to 14",
			j->r->f->source);
	if (!rc) {
		/* Pairs, and their number on each cable. */
		for (size_t i = 0; i < j->targets.n; i++) {
			const struct fab_target *t = &j->targets.v[i];
			uint64_t beside = fab_analysis_ends_beside(j, t->root);

			out->pairs += t->weight * (j->n_ends - 1 - beside);
			out->pairs_across_planes += t->weight * beside;
		}
		out->ends = j->n_ends;
		out->between = j->options->ends;
		out->load = w.load;
		w.load = NULL;
		for (uint32_t a = 0; out->load && a < j->n_arcs; a++)
			if (out->load[a] > out->max_load)
				out->max_load = out->load[a];
	}
	if (!rc && !j->options->only_load) {
		add_counts(out, &w.sum);
		out->unreachable = out->pairs - out->connected;
		out->vls = (unsigned)__builtin_popcount(w.vls);
		out->sls = (unsigned)__builtin_popcount(w.sls);
		if (out->valley_pairs || out->unreachable)
			fab_analysis_name_pairs(j, &w, out);
		if (j->options->with_load) {
			uint32_t *n = FAB_NEW0((size_t)j->n_arcs + 1, uint32_t);

			/* How many columns each switch sends by each arc. */
			for (uint32_t c = 0; c < j->r->n_columns; c++) {
				const uint16_t *next = fab_routes_next(j->r, c);

				for (uint32_t s = 0; s < j->n_switches; s++)
					if (next[s] < fab_degree(f, s))
						n[f->arc_first[s] + next[s]]++;
			}
			out->destinations = n;
		}
		fab_cdg_find_parts(&j->cdg);
		fab_analysis_find_gaps(j, &w, out);
		out->cycle_channels = j->cdg.n_in_parts;
		out->assumes_sls = j->r->files && !j->r->files->has_sls;
		out->assumes_lanes = j->r->files && !j->r->files->has_lanes;
		rc = check_freedom(j, out, err);
	}
	if (!rc && out->cycle_channels) {
		name_cycle(j, out);
		out->pairs_on_cycles = count_on_cycles(j, w.sls);
	}
	return rc;
}

int fab_analyse(const struct fab_routes *r, const struct fab_analysis_options *options,
		struct fab_analysis *out, struct fab_err *err)
{
	FAB_AUTO(fab_analyser_fini) struct fab_analyser j = {.r = r, .options = options};
	const struct fab_fabric *f = r->f;
	uint32_t *seen_by, n = 0;
	int rc = scan_levels(&j, err);

	*out = (struct fab_analysis){.deadlock_free = false};
	if (!rc && f->n_switches > FAB_HOPS_NEVER)
		rc = fab_fail(err, ERANGE,
			      "%s: %u switches, expected at most %d to analyse tables",
			      f->source, f->n_switches, FAB_HOPS_NEVER);
	if (rc)
		return rc;
	j.n_switches = f->n_switches;
	j.n_arcs = f->arc_first[j.n_switches];
	look_at_arcs(&j);
	seen_by = fab_arena_none(&j.arena, (size_t)f->n_switches + 1);
	j.live_first = FAB_ARENA_NEW(&j.arena, (size_t)f->n_switches + 1, uint32_t);
	j.live_peer = FAB_ARENA_NEW(&j.arena, (size_t)j.n_arcs + 1, uint32_t);
	j.live_pair =
		fab_arena_alloc(&j.arena, (size_t)j.n_arcs / 2 + 1, sizeof(*j.live_pair));
	for (uint32_t s = 0; s < f->n_switches; s++) {
		j.live_first[s] = n;
		FAB_EACH_ARC(f, s, a)
			if (fab_arc_is_live(r->faults, a) &&
			    seen_by[f->arc_peer[a]] != s) {
				seen_by[f->arc_peer[a]] = s;
				j.live_peer[n++] = f->arc_peer[a];
				if (s < f->arc_peer[a]) {
					j.live_pair[j.n_live_pairs][0] = s;
					j.live_pair[j.n_live_pairs++][1] = f->arc_peer[a];
				}
			}
	}
	j.live_first[f->n_switches] = n;
	fab_analysis_find_targets(&j);
	fab_cdg_init(&j.cdg, f, take_lanes(&j));
	rc = analyse(&j, out, err);
	fab_cdg_fini(&j.cdg);
	return rc;
}

void fab_analysis_fini(struct fab_analysis *j)
{
	FAB_FREE_ALL(j->gaps.first.v, j->cycle.v, j->valleys.v, j->unreached.v, j->load,
		     j->destinations);
	*j = (struct fab_analysis){.deadlock_free = false};
}

void fab_analysis_add(struct fab_analysis *sum, struct fab_analysis *j, bool is_first)
{
	bool is_certain;

	if (is_first) {
		/* Lists of the first set are those of the sum. */
		sum->deadlock_free = true;
		sum->gaps = j->gaps;
		sum->valleys = j->valleys;
		sum->unreached = j->unreached;
		memset(&j->gaps, 0, sizeof(j->gaps));
		memset(&j->valleys, 0, sizeof(j->valleys));
		memset(&j->unreached, 0, sizeof(j->unreached));
	}
	add_counts(sum, j);
	/* Checks of many sets of faults as one. */
	if (j->vls > sum->vls)
		sum->vls = j->vls;
	if (j->sls > sum->sls)
		sum->sls = j->sls;
	is_certain = (sum->cycle_channels && !sum->is_unknown) ||
		     (j->cycle_channels && !j->is_unknown);
	if (!sum->cycle_channels && j->cycle_channels) {
		sum->cycle.v = j->cycle.v;
		sum->cycle.n = j->cycle.n;
		memset(&j->cycle, 0, sizeof(j->cycle));
	}
	sum->deadlock_free = sum->deadlock_free && j->deadlock_free;
	sum->cycle_channels += j->cycle_channels;
	sum->is_unknown = (sum->is_unknown || j->is_unknown) && !is_certain;
	sum->assumes_sls |= j->assumes_sls;
	sum->assumes_lanes |= j->assumes_lanes;
}

/* Load of all hosts together on a cable. */

double fab_load_per_host(uint64_t load, uint64_t pairs, uint64_t ends)
{
	return pairs ? (double)load / ((double)pairs / (double)ends) : (double)NAN;
}

int fab_uniform_load(const struct fab_routes *r, int n_threads, double *out,
		     struct fab_err *err)
{
	const struct fab_analysis_options options = {
		.ends = FAB_ENDS_HOSTS, .only_load = true, .n_threads = n_threads};
	const struct fab_analyser j = {.r = r, .options = &options};
	FAB_AUTO(fab_routes_free_at) struct fab_routes *whole = NULL;
	FAB_AUTO(fab_columns_fini) struct fab_columns columns = {0};
	FAB_AUTO(fab_analysis_fini) struct fab_analysis all = {0};
	int rc;

	fab_columns_init(&columns, r);
	for (uint32_t p = 0; p < r->f->n_ports && !r->column_lid && !whole; p++) {
		uint32_t sw = fab_analysis_end_switch(&j, p);

		if (sw != FAB_NONE && columns.first[sw] == FAB_NONE)
			whole = fab_routes_complete(r);
	}
	rc = fab_analyse(whole ? whole : r, &options, &all, err);
	if (rc)
		return rc;
	*out = fab_load_per_host(all.max_load, all.pairs, all.ends);
	return 0;
}
