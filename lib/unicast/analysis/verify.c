/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A second opinion on tables: every pair of the ends of the analysis is walked hop by
 * hop, the dependencies of channels are collected one by one.
 */
#include "unicast/analysis/impl.h"

#include "base/map.h"
#include "base/progress.h"
#include "fabric/graph.h"
#include "unicast/faults.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { LANES = 16 };

struct walker {
	const struct fab_routes *r;
	struct fab_map64 *known;
	FAB_VEC(uint32_t) from, to; /* dependencies of channels: arc * LANES + lane */
	FAB_VEC(uint32_t) path; /* channels of the pair at hand, FAB_NONE: lane unknown */
	uint64_t pairs, connected, minimal, without_sl;
	uint64_t n_split;  /* pairs of which some alternatives do not arrive */
	uint32_t vls, sls; /* a bit each */
};

/* Hops of a pair, FAB_NONE: does not arrive. */
static uint32_t walk(struct walker *w, uint32_t source, uint32_t column, uint8_t sl)
{
	const struct fab_routes *r = w->r;
	struct fab_path path = fab_path_from(r, source, column);
	struct fab_hop hop;

	w->path.n = 0;
	/* packets within a switch need no level */
	if (sl == FAB_SL_NONE && source != r->column_switch[column])
		return FAB_NONE;
	while (fab_path_hop(&path, &hop)) {
		unsigned vl = FAB_VL_UNKNOWN;
		uint32_t channel = FAB_NONE;

		if (sl < LANES || r->lanes == FAB_LANES_ONE)
			vl = fab_routes_vl(r, hop.sw, hop.in, hop.out, sl);
		if (vl < LANES)
			channel = (r->f->arc_first[hop.sw] + hop.out) * LANES + vl;
		FAB_PUSH(&w->path, channel);
	}
	return fab_path_end(&path) == FAB_PATH_ARRIVES ? path.n_hops : FAB_NONE;
}

static void add_dependencies(struct walker *w)
{
	for (size_t k = 0; k < w->path.n; k++) {
		uint32_t from = k ? w->path.v[k - 1] : FAB_NONE, to = w->path.v[k];
		uint32_t n = (uint32_t)w->from.n;

		if (to == FAB_NONE)
			continue;
		w->vls |= 1u << to % LANES;
		if (from == FAB_NONE ||
		    fab_map64_put(w->known, (uint64_t)from << 32 | to, n) != n)
			continue;
		FAB_PUSH(&w->from, from);
		FAB_PUSH(&w->to, to);
	}
}

static int compare(const struct walker *w, const struct fab_analysis *j,
		   struct fab_err *err)
{
	struct fab_graph g;
	bool has_cycle;

	fab_graph_init(&g, w->r->f->arc_first[w->r->f->n_switches] * LANES, w->from.n,
		       w->from.v, w->to.v);
	has_cycle = fab_graph_has_cycle(&g);
	fab_graph_fini(&g);
	const struct {
		const char *what;
		uint64_t analysed, walked;
	} figures[] = {
		{"pairs", j->pairs, w->pairs},
		{"connected pairs", j->connected, w->connected},
		{"shortest paths", j->minimal, w->minimal},
		{"lanes", j->vls, (uint64_t)__builtin_popcount(w->vls)},
		{"service levels", j->sls, (uint64_t)__builtin_popcount(w->sls)},
		{"pairs of unknown service level", j->gaps.n[FAB_GAP_SL], w->without_sl},
		{"pairs that some alternatives do not connect", 0, w->n_split},
		{"tables free of deadlock",
		 j->deadlock_free || (j->is_unknown && !j->cycle_channels), !has_cycle},
	};

	for (size_t i = 0; i < FAB_COUNT(figures); i++)
		if (figures[i].analysed != figures[i].walked)
			return fab_fail(
				err, EINVAL,
				"%s: %" PRIu64
				" were counted by the analysis, walking every pair finds %" PRIu64,
				figures[i].what, figures[i].analysed, figures[i].walked);
	return 0;
}

int fab_unicast_verify(const struct fab_routes *r, enum fab_ends ends,
		       const struct fab_analysis *j, struct fab_err *err)
{
	const struct fab_fabric *f = r->f;
	const struct fab_analysis_options options = {.ends = ends};
	FAB_AUTO(fab_analyser_fini)
	struct fab_analyser a = {
		.r = r, .options = &options, .n_switches = f->n_switches};
	struct walker w = {.r = r, .known = fab_map64_new(1024)};
	uint32_t *dist, *order, at = FAB_NONE;
	bool *arrives; /* [groups] at the last target with a weight */
	int rc;

	fab_analysis_find_targets(&a);
	dist = FAB_ARENA_NEW(&a.arena, (size_t)f->n_switches + 1, uint32_t);
	order = FAB_ARENA_NEW(&a.arena, (size_t)f->n_switches + 1, uint32_t);
	arrives = FAB_ARENA_NEW0(&a.arena, (size_t)a.n_groups + 1, bool);
	for (size_t i = 0; i < a.targets.n; i++) {
		const struct fab_target *t = &a.targets.v[i];

		fab_progress_report("verifying", "destinations", i, a.targets.n);
		if (t->root != at)
			fab_faults_search(f, r->faults, t->root, dist, order);
		at = t->root;
		for (uint32_t g = 0; g < a.n_groups; g++) {
			uint32_t sw = a.group_switch[g], hops;
			bool has_target = t->alone != FAB_NONE
						  ? g == t->alone
						  : sw == at && g == a.group_first[sw];
			uint64_t n = (uint64_t)(a.group_size[g] - has_target) * t->weight;
			uint8_t sl;

			if (fab_planes_are_parallel(a.planes, a.planes->of_switch[sw],
						    a.planes->of_switch[at]))
				continue;
			w.pairs += n;
			/* the only end of its group, or of its switch, is the target */
			if (t->column == FAB_NONE || g == t->alone ||
			    (sw == at && a.weight[at] < 2))
				continue;
			sl = fab_routes_level(r, a.group_row[g], t->column);
			hops = walk(&w, sw, t->column, sl);
			w.n_split += r->n_alternatives && !t->weight &&
				     arrives[g] != (hops != FAB_NONE);
			if (t->weight)
				arrives[g] = hops != FAB_NONE;
			if (hops == FAB_NONE)
				continue;
			w.connected += n;
			w.minimal += hops == dist[sw] ? n : 0;
			w.without_sl += sl == FAB_SL_UNKNOWN ? n : 0;
			w.sls |= sl < LANES ? 1u << sl : 0;
			add_dependencies(&w);
		}
	}
	rc = compare(&w, j, err);
	fab_map64_free(w.known);
	FAB_FREE_ALL(w.from.v, w.to.v, w.path.v);
	return rc;
}
