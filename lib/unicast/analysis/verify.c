/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/analysis.h"

#include "base/map.h"
#include "base/progress.h"
#include "fabric/graph.h"
#include "fabric/planes.h"
#include "unicast/faults.h"
#include "unicast/path.h"
#include "unicast/routes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 16 };

/* Where packets come from: a leaf switch, or an end port. */
struct source {
	uint32_t sw;
	uint32_t port; /* FAB_NONE: the switch itself */
	uint32_t row;  /* of service levels, FAB_NONE: none */
};

/* A target: the meaning of a column, or an end without a column. */
struct target {
	uint32_t sw, port; /* FAB_NONE: all ends on the switch */
	uint32_t column;   /* FAB_NONE */
	uint32_t weight;   /* pairs that it counts for each source; 0: only walked, and
			      arrived where the one before it with a weight does */
};

struct walker {
	const struct fab_routes *r;
	enum fab_ends ends;
	struct fab_planes *planes;
	FAB_VEC(struct source) sources;
	FAB_VEC(struct target) targets;
	uint32_t *n_lids; /* [n_switches] of the ends there */
	struct fab_map64 *known;
	FAB_VEC(uint32_t) from, to; /* channels: arc * LANES + lane */
	FAB_VEC(uint32_t) path; /* channels of the pair at hand, FAB_NONE: lane unknown */
	uint64_t pairs, connected, minimal, without_sl;
	bool *arrives;	   /* [sources] at the last target with a weight */
	uint64_t n_split;  /* pairs of which some alternatives do not arrive */
	uint32_t vls, sls; /* a bit each */
};

/* The switch on which an end port hangs that takes part, FAB_NONE: it does not. */
static uint32_t end_switch(const struct walker *w, uint32_t port, enum fab_ends ends)
{
	const struct fab_fabric *f = w->r->f;
	uint32_t node = f->port_node[port], sw = fab_port_switch(f, port);
	bool is_switch = fab_node_is_switch(f, node);

	if (sw == FAB_NONE || !fab_switch_is_live(w->r->faults, sw))
		return FAB_NONE;
	if (is_switch)
		return ends == FAB_ENDS_ALL && !f->port_num[port] ? sw : FAB_NONE;
	if (f->node_kind[node] != FAB_ADAPTER && ends == FAB_ENDS_HOSTS)
		return FAB_NONE;
	if (w->r->faults && w->r->faults->cable_is_dead[f->port_cable[port]])
		return FAB_NONE;
	return sw;
}

/* Leaf switches: as the tables say, else the switches with hosts, or those of columns. */
static bool *find_leaves(const struct walker *w)
{
	const struct fab_routes *r = w->r;
	bool *is_leaf = FAB_NEW0((size_t)r->f->n_switches + 1, bool);

	for (uint32_t i = 0; r->leaf && i < r->n_leaves; i++)
		is_leaf[r->leaf[i]] = true;
	for (uint32_t i = 0; !r->leaf && !r->column_lid && i < r->n_columns; i++)
		is_leaf[r->column_switch[i]] = true;
	for (uint32_t p = 0; !r->leaf && r->column_lid && p < r->f->n_ports; p++) {
		uint32_t sw = end_switch(w, p, FAB_ENDS_HOSTS);

		if (sw != FAB_NONE)
			is_leaf[sw] = true;
	}
	return is_leaf;
}

static void add_source(struct walker *w, uint32_t sw, uint32_t port, const uint32_t *row)
{
	uint32_t by = port == FAB_NONE ? sw : w->r->f->port_node[port];

	if (row[by] == FAB_NONE)
		by = sw;
	w->n_lids[sw] += port == FAB_NONE ? 1 : fab_port_n_lids(w->r->f, port);
	FAB_PUSH(&w->sources, ((struct source){sw, port, row[by]}));
}

static void add_target(struct walker *w, uint32_t sw, uint32_t port, uint32_t column,
		       uint32_t weight)
{
	FAB_PUSH(&w->targets, ((struct target){sw, port, column, weight}));
}

static void find_leaf_ends(struct walker *w, const uint32_t *row)
{
	const struct fab_routes *r = w->r;
	bool *is_leaf = find_leaves(w);

	for (uint32_t sw = 0; sw < r->f->n_switches; sw++)
		if (is_leaf[sw])
			add_source(w, sw, FAB_NONE, row);
	for (uint32_t c = 0; !r->column_lid && c < r->n_columns; c++) {
		uint32_t sw = r->column_switch[c];

		/* the first of several alternatives is what counts */
		if (is_leaf[sw])
			add_target(w, sw, FAB_NONE, c,
				   !c || r->column_switch[c - 1] != sw);
	}
	if (r->column_lid) {
		uint32_t *n_met = FAB_NEW0((size_t)r->f->n_switches + 1, uint32_t);

		/* A column for each LID: of leaf switches the hosts behind them, of which
		 * the first counts; of tables that were read the switches' own. */
		for (int of_hosts = r->leaf != NULL; of_hosts >= 0; of_hosts--)
			for (uint32_t c = 0; c < r->n_columns; c++) {
				uint32_t port = r->column_port[c],
					 sw = r->column_switch[c];
				enum fab_ends ends =
					of_hosts ? FAB_ENDS_HOSTS : FAB_ENDS_ALL;

				if (!is_leaf[sw] ||
				    end_switch(w, port, ends) == FAB_NONE ||
				    (!of_hosts && (r->f->port_node[port] != sw ||
						   (r->leaf && n_met[sw]))))
					continue;
				add_target(w, sw, FAB_NONE, c, !r->leaf || !n_met[sw]);
				if (of_hosts || !r->leaf)
					n_met[sw]++;
			}
		for (uint32_t sw = 0; !r->leaf && sw < r->f->n_switches; sw++) {
			uint32_t n = fab_port_n_lids(r->f, r->f->node_first_port[sw]);

			if (is_leaf[sw] && n_met[sw] < n)
				add_target(w, sw, FAB_NONE, FAB_NONE, n - n_met[sw]);
		}
		free(n_met);
	}
	free(is_leaf);
}

static void find_port_ends(struct walker *w, const uint32_t *row)
{
	const struct fab_routes *r = w->r;
	uint32_t n = r->column_lid ? r->f->n_ports : r->f->n_switches;
	uint32_t *n_columns = FAB_NEW0((size_t)n + 1, uint32_t);

	for (uint32_t p = 0; p < r->f->n_ports; p++) {
		uint32_t sw = end_switch(w, p, w->ends);

		if (sw != FAB_NONE)
			add_source(w, sw, p, row);
	}
	if (r->n_alternatives) {
		uint32_t *first = FAB_NEW((size_t)r->f->n_switches + 1, uint32_t);

		/* Alternatives: each LID of an end is a target, and has its turn. */
		for (uint32_t c = r->n_columns; c-- > 0;)
			first[r->column_switch[c]] = c;
		for (size_t i = 0; i < w->sources.n; i++) {
			const struct source *s = &w->sources.v[i];
			uint32_t k = r->n_alternatives[s->sw];

			for (uint32_t lid = 0; lid < fab_port_n_lids(r->f, s->port);
			     lid++)
				add_target(w, s->sw, s->port,
					   k ? first[s->sw] + (r->turn[s->port] + lid) % k
					     : FAB_NONE,
					   1);
		}
		free(first);
		free(n_columns);
		return;
	}
	for (uint32_t c = 0; c < r->n_columns; c++) {
		uint32_t sw = r->column_switch[c];
		uint32_t port = r->column_lid ? r->column_port[c] : FAB_NONE;

		n_columns[r->column_lid ? port : sw]++;
		if (r->column_lid ? end_switch(w, port, w->ends) != FAB_NONE
				  : w->n_lids[sw] > 0)
			add_target(w, sw, port, c, r->column_lid ? 1 : w->n_lids[sw]);
	}
	for (size_t i = 0; i < w->sources.n; i++) {
		const struct source *s = &w->sources.v[i];

		uint32_t has = n_columns[r->column_lid ? s->port : s->sw];
		uint32_t n_lids = fab_port_n_lids(r->f, s->port);

		if (r->column_lid ? has < n_lids : !has)
			add_target(w, s->sw, s->port, FAB_NONE, n_lids - has);
	}
	free(n_columns);
}

/* Is the target the source itself, or one of its ends the source? */
static bool is_own(const struct source *s, const struct target *t)
{
	return t->port == FAB_NONE ? s->sw == t->sw : s->port == t->port;
}

/* How much of a target's weight is the source itself. */
static uint32_t own_of(const struct fab_fabric *f, const struct source *s,
		       const struct target *t)
{
	if (!is_own(s, t) || !t->weight)
		return 0;
	return t->port == FAB_NONE && s->port != FAB_NONE ? fab_port_n_lids(f, s->port)
							  : t->weight;
}

/* The channel of a hop. */
static uint32_t channel_of(const struct fab_routes *r, const struct fab_hop *hop,
			   uint8_t sl)
{
	unsigned vl = FAB_VL_UNKNOWN;

	if (sl < LANES || r->lanes == FAB_LANES_ONE)
		vl = fab_routes_vl(r, hop->sw, hop->in, hop->out, sl);
	return vl < LANES ? (r->f->arc_first[hop->sw] + hop->out) * LANES + vl : FAB_NONE;
}

/* Hops of a pair, FAB_NONE: does not arrive. */
static uint32_t walk(struct walker *w, uint32_t source, uint32_t column, uint8_t sl)
{
	struct fab_path path = fab_path_from(w->r, source, column);
	struct fab_hop hop;

	w->path.n = 0;
	if (sl == FAB_SL_NONE)
		return FAB_NONE;
	while (fab_path_hop(&path, &hop))
		FAB_PUSH(&w->path, channel_of(w->r, &hop, sl));
	return fab_path_end(&path) == FAB_PATH_ARRIVES ? path.n_hops : FAB_NONE;
}

static bool has_cycle(const struct walker *w)
{
	uint32_t n = w->r->f->arc_first[w->r->f->n_switches] * LANES;
	struct fab_graph g;
	bool has;

	fab_graph_init(&g, n, w->from.n, w->from.v, w->to.v);
	has = fab_graph_has_cycle(&g);
	fab_graph_fini(&g);
	return has;
}

static int compare(const struct walker *w, const struct fab_analysis *j,
		   struct fab_err *err)
{
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
		 j->deadlock_free || (j->is_unknown && !j->cycle_channels),
		 !has_cycle(w)},
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
	struct walker w = {.r = r, .ends = ends, .known = fab_map64_new(1024)};
	int rc;
	const struct fab_fabric *f = w.r->f;
	uint32_t *dist = FAB_NEW((size_t)f->n_switches + 1, uint32_t);
	uint32_t *order = FAB_NEW((size_t)f->n_switches + 1, uint32_t), at = FAB_NONE;
	uint32_t *row = FAB_NEW((size_t)r->f->n_nodes + 1, uint32_t);

	memset(row, 0xff, r->f->n_nodes * sizeof(*row));
	for (uint32_t i = 0; r->sl && i < r->n_sl_sources; i++)
		row[r->sl_source[i]] = i;
	w.n_lids = FAB_NEW0((size_t)r->f->n_switches + 1, uint32_t);
	if (w.ends == FAB_ENDS_LEAVES)
		find_leaf_ends(&w, row);
	else
		find_port_ends(&w, row);
	free(row);
	w.arrives = FAB_NEW0(w.sources.n + 1, bool);
	w.planes = fab_planes_new(f);
	for (size_t i = 0; i < w.targets.n; i++) {
		const struct target *t = &w.targets.v[i];

		fab_progress_report("verifying", "destinations", i, w.targets.n);
		if (t->sw != at)
			fab_faults_search(w.r->f, w.r->faults, t->sw, dist, order);
		at = t->sw;
		for (size_t e = 0; e < w.sources.n; e++) {
			const struct source *s = &w.sources.v[e];
			uint64_t n = t->weight - own_of(w.r->f, s, t);
			uint8_t sl = r->sl ? r->sl_default : 0;
			uint32_t hops;

			if (fab_planes_are_parallel(w.planes, w.planes->of_switch[s->sw],
						    w.planes->of_switch[t->sw]))
				continue;
			w.pairs += n;
			if (t->column == FAB_NONE || (is_own(s, t) && !n))
				continue;
			if (r->sl && s->row != FAB_NONE)
				sl = r->sl[(size_t)s->row * r->n_columns + t->column];
			hops = walk(&w, s->sw, t->column, sl);
			w.n_split += r->n_alternatives && !t->weight &&
				     w.arrives[e] != (hops != FAB_NONE);
			if (t->weight)
				w.arrives[e] = hops != FAB_NONE;
			if (hops == FAB_NONE)
				continue;
			w.connected += n;
			w.minimal += hops == dist[s->sw] ? n : 0;
			w.without_sl += sl == FAB_SL_UNKNOWN ? n : 0;
			for (size_t k = 0; k < w.path.n; k++) {
				uint32_t m = (uint32_t)w.from.n, to = w.path.v[k];

				if (to == FAB_NONE)
					continue;
				w.vls |= 1u << to % LANES;
				if (k && w.path.v[k - 1] != FAB_NONE &&
				    fab_map64_put(w.known,
						  (uint64_t)w.path.v[k - 1] << 32 | to,
						  m) == m) {
					FAB_PUSH(&w.from, w.path.v[k - 1]);
					FAB_PUSH(&w.to, to);
				}
			}
			if (sl < LANES)
				w.sls |= 1u << sl;
		}
	}
	free(dist);
	free(order);
	rc = compare(&w, j, err);
	fab_map64_free(w.known);
	free(w.n_lids);
	free(w.arrives);
	fab_planes_free(w.planes);
	free(w.targets.v);
	free(w.sources.v);
	free(w.from.v);
	free(w.to.v);
	free(w.path.v);
	return rc;
}
