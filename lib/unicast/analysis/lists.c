/* SPDX-License-Identifier: BSD-2-Clause */
/* Pairs without a path, paths that turn up again, and gaps of tables, by name. */
#include "unicast/analysis/impl.h"

#include "unicast/analysis.h"
#include "unicast/path.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Pairs towards one switch: how many, and where, for each switch that they come from. */
struct towards {
	uint64_t *pairs, left; /* how many of all are still to be found */
	uint32_t *at;
	struct fab_pair_list *list;
};

static void towards_init(struct towards *t, const struct fab_analyser *j,
			 struct fab_arena *arena, uint64_t n, struct fab_pair_list *list)
{
	t->pairs = FAB_ARENA_NEW0(arena, (size_t)j->n_switches + 1, uint64_t);
	t->at = FAB_ARENA_NEW0(arena, (size_t)j->n_switches + 1, uint32_t);
	t->left = n;
	t->list = list;
}

static bool is_done(const struct towards *t)
{
	return !t->left || t->list->n == FAB_PAIRS_MAX;
}

static void add_pairs(struct towards *t, uint32_t from, uint32_t at, uint64_t pairs)
{
	if (!t->pairs[from])
		t->at[from] = at;
	t->pairs[from] += pairs;
	t->left -= pairs;
}

static void keep(struct towards *t, const struct fab_analyser *j, uint32_t root)
{
	for (uint32_t u = 0; u < j->n_switches; u++) {
		struct fab_pairs pairs = {t->at[u], u, root, t->pairs[u]};

		if (t->pairs[u] && t->list->n < FAB_PAIRS_MAX)
			FAB_PUSH(t->list, pairs);
		t->pairs[u] = 0;
	}
}

/* Where the path from a switch turns up again. */
static uint32_t turn_of(const struct fab_analyser *j, const struct fab_target *target,
			uint32_t u)
{
	struct fab_path path = fab_path_from(j->r, u, target->column);
	bool goes_down = false;

	for (; fab_path_step(&path); u = path.at) {
		if (goes_down && j->direction[path.arc] == 1)
			break;
		goes_down |= j->direction[path.arc] == 2;
	}
	return u;
}

/* Where packets from a switch end that do not arrive: dropped, or back again. */
static uint32_t end_of(const struct fab_analyser *j, const struct fab_target *target,
		       uint32_t u, uint32_t *seen_by)
{
	struct fab_path path = fab_path_from(j->r, u, target->column);

	do {
		if (seen_by[path.at] == u)
			break;
		seen_by[path.at] = u;
	} while (fab_path_step(&path));
	return path.at;
}

/* Ends of a switch that send to a target: those with a service level for it; sl: one for
 * each group. */
static uint32_t senders_of(const struct fab_analyser *j, const uint8_t *sl, uint32_t u)
{
	uint32_t n = j->weight[u];

	for (uint32_t g = j->group_first[u]; j->has_none && g < j->group_first[u + 1];
	     g++)
		if (sl[g] == FAB_SL_NONE)
			n -= j->group_size[g];
	return n;
}

static void add_valleys(struct towards *t, const struct fab_analyser *j,
			const struct fab_target *target, struct fab_analysis_work *w)
{
	if (target->column == FAB_NONE)
		return;
	for (uint32_t i = 1; i < w->walk.n_order; i++) {
		uint32_t u = w->walk.order[i];
		uint64_t pairs = (uint64_t)senders_of(j, w->sl, u) * target->weight;

		if (w->walk.turns[u] & 2 && pairs)
			add_pairs(t, u, turn_of(j, target, u), pairs);
	}
}

/* Those that are not led to the root, or have no service level; path: room for marks. */
static void add_unreachable(struct towards *t, const struct fab_analyser *j,
			    const struct fab_target *target, struct fab_analysis_work *w)
{
	memset(w->walk.path, 0xff, j->n_switches * sizeof(*w->walk.path));
	for (uint32_t u = 0; u < j->n_switches; u++) {
		bool is_led = w->hops[u] < FAB_HOPS_NEVER;
		uint64_t pairs = (uint64_t)j->weight[u] * target->weight;
		uint32_t at = u;

		if (fab_planes_are_parallel(j->planes, j->planes->of_switch[u],
					    j->planes->of_switch[target->root]))
			continue;
		if (u == target->root && (is_led || pairs))
			pairs -= is_led ? pairs : target->weight;
		else if (is_led)
			pairs -= (uint64_t)senders_of(j, w->sl, u) * target->weight;
		if (!pairs)
			continue;
		if (target->column == FAB_NONE)
			at = FAB_NONE;
		else if (!is_led)
			at = end_of(j, target, u, w->walk.path);
		add_pairs(t, u, at, pairs);
	}
}

void fab_analysis_name_pairs(const struct fab_analyser *j, struct fab_analysis_work *w,
			     struct fab_analysis *out)
{
	size_t first = w->unreachable_target < w->valley_target ? w->unreachable_target
								: w->valley_target;
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	struct towards valleys, unreachable;

	towards_init(&valleys, j, &arena, out->valley_pairs, &out->valleys);
	towards_init(&unreachable, j, &arena, out->unreachable, &out->unreached);
	for (size_t i = first; i < j->targets.n; i++) {
		const struct fab_target *target = &j->targets.v[i];

		fab_analysis_follow(j, target, w);
		if (j->has_none)
			fab_analysis_gather_sls(j, i, w);
		if (!is_done(&valleys))
			add_valleys(&valleys, j, target, w);
		if (!is_done(&unreachable))
			add_unreachable(&unreachable, j, target, w);
		if (i + 1 < j->targets.n && j->targets.v[i + 1].root == target->root)
			continue;
		keep(&valleys, j, target->root);
		keep(&unreachable, j, target->root);
		if (is_done(&valleys) && is_done(&unreachable))
			break;
	}
}

/* Gaps of tables that were read. */

/* Count one of a kind, the first by name. */
static void add_gap(struct fab_gaps *gaps, struct fab_gap gap)
{
	if (gaps->n[gap.kind]++ < FAB_GAPS_NAMED)
		FAB_PUSH(&gaps->first, gap);
}

/* Service level by which a port sends to a column. */
static uint8_t level_of(const struct fab_routes *r, const uint32_t *rows, uint32_t port,
			uint32_t sw, uint32_t column)
{
	uint32_t row = rows[r->f->port_node[port]];

	return fab_routes_level(r, row != FAB_NONE ? row : rows[sw], column);
}

/* Name the sources of a target whose service level is not known. False: enough. */
static bool name_sources(const struct fab_analyser *j, const struct fab_target *target,
			 const uint32_t *rows, const uint16_t *hops,
			 struct fab_gaps *gaps, size_t *n)
{
	const struct fab_routes *r = j->r;
	uint32_t to = r->column_port[target->column];

	for (uint32_t p = 0; p < r->f->n_ports && *n < FAB_GAPS_NAMED; p++) {
		uint32_t sw = j->end[p];
		struct fab_gap gap = {.kind = FAB_GAP_SL,
				      .from = r->f->port_node[p],
				      .port = r->f->port_num[p],
				      .to = r->f->port_node[to],
				      .lid = r->column_lid[target->column]};

		if (sw == FAB_NONE || p == to || hops[sw] >= FAB_HOPS_NEVER ||
		    level_of(r, rows, p, sw, target->column) != FAB_SL_UNKNOWN)
			continue;
		FAB_PUSH(&gaps->first, gap);
		++*n;
	}
	return *n < FAB_GAPS_NAMED;
}

/* Lanes that are missing by which packets of ends leave their switches. */
static void find_departures(const struct fab_analyser *j, const uint32_t *rows,
			    struct fab_analysis_work *w)
{
	const struct fab_routes *r = j->r;
	const struct fab_fabric *f = r->f;

	for (size_t i = 0; i < j->targets.n; i++) {
		const struct fab_target *target = &j->targets.v[i];

		if (!fab_analysis_follow(j, target, w))
			continue;
		for (uint32_t p = 0; p < f->n_ports; p++) {
			uint32_t sw = j->end[p], out;
			bool is_own = f->port_node[p] == sw;
			uint64_t at;
			uint8_t sl;

			if (sw == FAB_NONE || sw == target->root ||
			    w->hops[sw] >= FAB_HOPS_NEVER)
				continue;
			sl = level_of(r, rows, p, sw, target->column);
			if (!fab_analysis_is_level(sl))
				continue;
			out = fab_analysis_next(j, target)[sw];
			at = fab_lane_at(r, sw, is_own ? p : fab_port_peer(f, p), out);
			/* port 0 takes the lanes of adapters where it has none of its own
			 */
			if (is_own ? fab_analysis_vl(j, sw, fab_degree(f, sw), out, sl) ==
					     FAB_VL_UNKNOWN
				   : !r->files->has_lane[at])
				j->is_missed[at * j->n_sls + sl] = 1;
		}
	}
}

/* Used paths through a switch without a lane. */
static void add_lanes(const struct fab_analyser *j, uint32_t sw, struct fab_gaps *gaps)
{
	const struct fab_fabric *f = j->r->f;

	FAB_EACH_PORT(f, sw, p)
		for (uint32_t out = 0; out < fab_degree(f, sw); out++) {
			uint64_t at = fab_lane_at(j->r, sw, p, out) * j->n_sls;

			for (uint32_t sl = 0; sl < j->n_sls; sl++) {
				struct fab_gap gap = {.kind = FAB_GAP_LANE,
						      .from = sw,
						      .port = f->port_num[p],
						      .to = FAB_NONE,
						      .sl = (uint8_t)sl};

				if (!j->is_missed[at + sl])
					continue;
				gap.out = f->port_num[fab_arc_port(
					f, sw, f->arc_first[sw] + out)];
				add_gap(gaps, gap);
			}
		}
}

void fab_analysis_find_gaps(const struct fab_analyser *j, struct fab_analysis_work *w,
			    struct fab_analysis *out)
{
	struct fab_gaps *gaps = &out->gaps;
	FAB_AUTOFREE uint32_t *rows = NULL;
	const struct fab_routes *r = j->r;
	uint32_t *n_columns;

	if (!j->r->files)
		return;
	rows = fab_routes_sl_rows(j->r);
	n_columns = FAB_NEW0((size_t)r->f->n_ports + 1, uint32_t);
	for (uint32_t c = 0; c < r->n_columns; c++)
		n_columns[r->column_port[c]]++;
	for (uint32_t p = 0; p < r->f->n_ports; p++) {
		uint32_t n = fab_port_n_lids(r->f, p);

		if (j->end[p] != FAB_NONE && n_columns[p] < n) {
			uint32_t i = n - n_columns[p], lid = r->f->port_lid[p];
			struct fab_gap gap = {.kind = FAB_GAP_LID,
					      .from = r->f->port_node[p],
					      .port = r->f->port_num[p],
					      .to = FAB_NONE};

			/* LIDs of a port that is an end, of which `i` are missing. Where
			 * the port has other LIDs in the tables than in the fabric, none
			 * is its own that is missing. */
			for (uint32_t end = lid + n; i && lid && lid < end; lid++) {
				uint32_t c = 0;

				while (c < r->n_columns && (r->column_port[c] != p ||
							    r->column_lid[c] != lid))
					c++;
				if (c < r->n_columns)
					continue;
				gap.lid = (uint16_t)lid;
				add_gap(gaps, gap);
				i--;
			}
			gap.lid = 0;
			while (i--)
				add_gap(gaps, gap);
		}
	}
	free(n_columns);
	for (uint32_t s = 0; s < j->n_switches; s++)
		if (!j->r->files->has_table[s] && fab_switch_is_live(j->r->faults, s) &&
		    (j->weight[s] || j->live_first[s] < j->live_first[s + 1]))
			add_gap(gaps, (struct fab_gap){.kind = FAB_GAP_TABLE,
						       .from = s,
						       .to = FAB_NONE});
	gaps->n[FAB_GAP_SL] = w->without_sl;
	if (w->without_sl) {
		size_t n = 0;

		for (size_t i = 0; i < j->targets.n; i++)
			if (fab_analysis_follow(j, &j->targets.v[i], w) &&
			    !name_sources(j, &j->targets.v[i], rows, w->hops, gaps, &n))
				break;
	}
	if (j->is_missed) {
		find_departures(j, rows, w);
		for (uint32_t s = 0; s < j->n_switches; s++)
			add_lanes(j, s, gaps);
	}
	for (size_t i = 0; i < j->r->files->strange_lids.n; i++)
		add_gap(gaps, (struct fab_gap){.kind = FAB_GAP_STRANGE_LID,
					       .from = FAB_NONE,
					       .to = FAB_NONE,
					       .lid = j->r->files->strange_lids.v[i]});
	for (size_t i = 0; i < j->r->files->strange_switches.n; i++)
		add_gap(gaps,
			(struct fab_gap){.kind = FAB_GAP_STRANGE_SWITCH,
					 .from = FAB_NONE,
					 .to = FAB_NONE,
					 .guid = j->r->files->strange_switches.v[i]});
}

enum { SHOWN = 3 };

static const struct {
	const char *name, *one, *more;
} kinds[FAB_GAP_KINDS] = {
	[FAB_GAP_LID] = {"lid", "LID of the fabric is not in the tables",
			 "LIDs of the fabric are not in the tables"},
	[FAB_GAP_TABLE] = {"table", "switch has no table, or only part of one",
			   "switches have no table, or only part of one"},
	[FAB_GAP_SL] = {"service-level", "pair has no service level",
			"pairs have no service level"},
	[FAB_GAP_LANE] = {"lane", "passage through a switch has no lane",
			  "passages through switches have no lane"},
	[FAB_GAP_STRANGE_LID] = {"strange-lid",
				 "LID of the tables is of no port of the fabric",
				 "LIDs of the tables are of no port of the fabric"},
	[FAB_GAP_STRANGE_SWITCH] = {"strange-switch",
				    "table is of a switch that the fabric lacks",
				    "tables are of switches that the fabric lacks"},
};

const char *fab_gap_kind_name(enum fab_gap_kind kind)
{
	return kinds[kind].name;
}

/* "h2 HCA-1 port 1 (LID 9)". On the heap. */
static char *name_of(const struct fab_fabric *f, const struct fab_gap *gap)
{
	const char *from = gap->from == FAB_NONE ? "" : fab_node_name(f, gap->from);

	switch (gap->kind) {
	case FAB_GAP_LID:
		return gap->lid ? fab_format("%s port %u (LID %u)", from, gap->port,
					     gap->lid)
				: fab_format("%s port %u", from, gap->port);
	case FAB_GAP_SL:
		return fab_format("%s to %s (LID %u)", from, fab_node_name(f, gap->to),
				  gap->lid);
	case FAB_GAP_LANE:
		return fab_format("%s port %u to port %u with service level %u", from,
				  gap->port, gap->out, gap->sl);
	case FAB_GAP_STRANGE_LID:
		return fab_format("%u", gap->lid);
	case FAB_GAP_STRANGE_SWITCH:
		return fab_format("0x%016" PRIx64, gap->guid);
	default:
		return fab_strdup(from);
	}
}

/* Append their number. */
static void append_count(char **text, const struct fab_gaps *gaps, enum fab_gap_kind kind)
{
	fab_append(text, "; ", "%" PRIu64 " %s", gaps->n[kind],
		   gaps->n[kind] == 1 ? kinds[kind].one : kinds[kind].more);
}

char *fab_gaps_text(const struct fab_fabric *f, const struct fab_gaps *gaps,
		    enum fab_gap_kind kind)
{
	char *text = NULL;
	unsigned n = 0;

	if (!gaps->n[kind])
		return NULL;
	append_count(&text, gaps, kind);
	for (size_t i = 0; i < gaps->first.n && n < SHOWN; i++)
		if (gaps->first.v[i].kind == kind) {
			FAB_AUTOFREE char *name = name_of(f, &gaps->first.v[i]);

			fab_append(&text, n++ ? ", " : ": ", "%s", name);
		}
	if (gaps->n[kind] > n)
		fab_append(&text, ", ", "...");
	return text;
}

char *fab_analysis_why_unknown(const struct fab_analysis *j)
{
	static const enum fab_gap_kind reasons[] = {FAB_GAP_TABLE, FAB_GAP_SL,
						    FAB_GAP_LANE};
	char *text = NULL;

	if (!j->is_unknown)
		return NULL;
	if (j->cycle_channels)
		return fab_strdup(
			!j->assumes_sls
				? "a loop if each lane is its service level; these tables came without lanes"
			: j->assumes_lanes
				? "a loop if all is on one lane; these tables came without lanes"
				: "a loop if all has service level 0; these tables came without service levels");
	for (size_t i = 0; i < FAB_COUNT(reasons); i++)
		if (j->gaps.n[reasons[i]])
			append_count(&text, &j->gaps, reasons[i]);
	return text ? text
		    : fab_strdup(
			      "no cycle with the lanes that are assumed, but one when all is on one lane");
}
