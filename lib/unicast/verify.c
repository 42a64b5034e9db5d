/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/verify.h"

#include "base/map.h"
#include "unicast/live.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 16 };

/* Where packets come from: a column's switch, or a host's port. */
struct source {
	uint32_t sw;
	uint32_t port; /* FAB_NONE: the switch itself */
	uint32_t row;  /* of service levels, FAB_NONE: level 0 */
};

struct walker {
	const struct fab_routes *r;
	enum fab_ends ends;
	struct fab_live live;
	FAB_VEC(struct source) sources;
	uint32_t *n_hosts; /* [n_switches] live host ports */
	struct fab_map64 *known;
	FAB_VEC(uint32_t) from, to; /* channels: arc * LANES + lane */
	FAB_VEC(uint32_t) way;	    /* channels of the pair at hand */
	uint64_t pairs, connected, minimal;
	uint32_t vls, sls; /* a bit each */
};

static bool is_live_host(const struct walker *w, uint32_t port)
{
	const struct fab_fabric *f = w->r->f;
	uint32_t sw;

	if (f->node_kind[f->port_node[port]] != FAB_ADAPTER)
		return false;
	sw = fab_port_switch(f, port);
	return sw != FAB_NONE &&
	       (!w->r->faults || (!w->r->faults->switch_is_dead[sw] &&
				  !w->r->faults->cable_is_dead[f->port_cable[port]]));
}

static void find_sources(struct walker *w)
{
	const struct fab_routes *r = w->r;
	const struct fab_fabric *f = r->f;
	uint32_t *row = FAB_NEW(f->n_nodes + 1, uint32_t);

	memset(row, 0xff, f->n_nodes * sizeof(*row));
	for (uint32_t i = 0; r->sl && i < r->n_sl_sources; i++)
		row[r->sl_source[i]] = i;
	w->n_hosts = FAB_NEW0(f->n_switches + 1, uint32_t);
	for (uint32_t i = 0; i < r->n_columns && w->ends == FAB_ENDS_LEAVES; i++) {
		uint32_t sw = r->column_switch[i];

		FAB_PUSH(&w->sources, ((struct source){sw, FAB_NONE, row[sw]}));
	}
	for (uint32_t p = 0; p < f->n_ports && w->ends == FAB_ENDS_HOSTS; p++) {
		uint32_t sw, by;

		if (!is_live_host(w, p))
			continue;
		sw = fab_port_switch(f, p);
		by = row[f->port_node[p]] != FAB_NONE ? f->port_node[p] : sw;
		w->n_hosts[sw]++;
		FAB_PUSH(&w->sources, ((struct source){sw, p, row[by]}));
	}
	free(row);
}

/* How many targets a column stands for, seen from a source. */
static uint64_t count_targets(const struct walker *w, const struct source *s,
			      uint32_t column)
{
	const struct fab_routes *r = w->r;

	if (w->ends == FAB_ENDS_LEAVES)
		return s->sw != r->column_switch[column];
	if (r->column_port)
		return is_live_host(w, r->column_port[column]) &&
		       r->column_port[column] != s->port;
	return w->n_hosts[r->column_switch[column]] - (s->sw == r->column_switch[column]);
}

/* Hops of a pair, FAB_NONE: does not arrive. */
static uint32_t walk(struct walker *w, uint32_t source, uint32_t column, uint8_t sl)
{
	const struct fab_routes *r = w->r;
	const struct fab_fabric *f = r->f;
	const uint16_t *next = r->next + (size_t)column * f->n_switches;
	uint32_t sw = source, in = f->arc_first[sw + 1] - f->arc_first[sw];

	w->way.n = 0;
	while (sl < LANES && next[sw] < FAB_ARC_BROKEN && w->way.n <= f->n_switches) {
		uint32_t arc = f->arc_first[sw] + next[sw];

		if (!w->live.arc_is_live[arc])
			return FAB_NONE;
		FAB_PUSH(&w->way, arc * LANES + fab_routes_vl(r, sw, in, next[sw], sl));
		in = w->live.back[arc];
		sw = f->arc_peer[arc];
	}
	if (sl >= LANES || next[sw] != FAB_ARC_HERE || sw != r->column_switch[column])
		return FAB_NONE;
	return (uint32_t)w->way.n;
}

static void keep(struct walker *w, uint8_t sl)
{
	for (size_t i = 0; i < w->way.n; i++) {
		uint32_t n = (uint32_t)w->from.n, to = w->way.v[i];

		w->vls |= 1u << to % LANES;
		if (i && fab_map64_put(w->known, (uint64_t)w->way.v[i - 1] << 32 | to,
				       n) == n) {
			FAB_PUSH(&w->from, w->way.v[i - 1]);
			FAB_PUSH(&w->to, to);
		}
	}
	w->sls |= 1u << sl;
}

static bool has_cycle(const struct walker *w)
{
	uint32_t n = w->r->f->arc_first[w->r->f->n_switches] * LANES;
	uint32_t *first = FAB_NEW0(n + 2, uint32_t), *n_in = FAB_NEW0(n + 1, uint32_t);
	uint32_t *to = FAB_NEW(w->from.n + 1, uint32_t);
	uint32_t *queue = FAB_NEW(n + 1, uint32_t), tail = 0;
	uint32_t *at = FAB_NEW(n + 1, uint32_t);

	for (size_t i = 0; i < w->from.n; i++) {
		first[w->from.v[i] + 1]++;
		n_in[w->to.v[i]]++;
	}
	for (uint32_t c = 0; c < n; c++)
		first[c + 1] += first[c];
	memcpy(at, first, n * sizeof(*at));
	for (size_t i = 0; i < w->from.n; i++)
		to[at[w->from.v[i]]++] = w->to.v[i];
	for (uint32_t c = 0; c < n; c++)
		if (!n_in[c])
			queue[tail++] = c;
	for (uint32_t head = 0; head < tail; head++)
		for (uint32_t i = first[queue[head]]; i < first[queue[head] + 1]; i++)
			if (!--n_in[to[i]])
				queue[tail++] = to[i];
	free(first);
	free(n_in);
	free(to);
	free(queue);
	free(at);
	return tail < n;
}

static void walk_to(struct walker *w, uint32_t column, const uint32_t *dist)
{
	for (size_t i = 0; i < w->sources.n; i++) {
		const struct source *s = &w->sources.v[i];
		uint64_t n = count_targets(w, s, column);
		uint8_t sl =
			!w->r->sl || s->row == FAB_NONE
				? 0
				: w->r->sl[(size_t)s->row * w->r->n_columns + column];
		uint32_t hops;

		if (!n)
			continue;
		w->pairs += n;
		hops = walk(w, s->sw, column, sl);
		if (hops == FAB_NONE)
			continue;
		w->connected += n;
		w->minimal += hops == dist[s->sw] ? n : 0;
		keep(w, sl);
	}
}

/* Hosts to which no column leads: nothing arrives there. */
static void count_without_column(struct walker *w)
{
	const struct fab_routes *r = w->r;
	bool *has_column = FAB_NEW0((size_t)r->f->n_ports + 1, bool);

	for (uint32_t i = 0; i < r->n_columns; i++)
		has_column[r->column_port[i]] = true;
	for (size_t i = 0; i < w->sources.n; i++)
		if (!has_column[w->sources.v[i].port])
			w->pairs += w->sources.n - 1;
	free(has_column);
}

static void walk_all(struct walker *w)
{
	const struct fab_routes *r = w->r;
	const struct fab_fabric *f = r->f;
	uint32_t *dist = FAB_NEW(f->n_switches + 1, uint32_t);
	uint32_t *order = FAB_NEW(f->n_switches + 1, uint32_t);

	find_sources(w);
	for (uint32_t i = 0; i < r->n_columns; i++) {
		fab_live_search(&w->live, r->column_switch[i], dist, order);
		walk_to(w, i, dist);
	}
	if (r->column_port && w->ends == FAB_ENDS_HOSTS)
		count_without_column(w);
	free(dist);
	free(order);
}

static int compare(const struct walker *w, const struct fab_judgement *j,
		   struct fab_err *err)
{
	const struct {
		const char *what;
		uint64_t judged, walked;
	} figures[] = {
		{"pairs", j->pairs, w->pairs},
		{"connected pairs", j->connected, w->connected},
		{"shortest ways", j->minimal, w->minimal},
		{"lanes", j->vls, (uint64_t)__builtin_popcount(w->vls)},
		{"service levels", j->sls, (uint64_t)__builtin_popcount(w->sls)},
		{"tables free of deadlock", j->deadlock_free, !has_cycle(w)},
	};

	for (size_t i = 0; i < FAB_COUNT(figures); i++)
		if (figures[i].judged != figures[i].walked)
			return fab_fail(err, EINVAL,
					"%s: %" PRIu64 " were judged, walking every pair "
					"finds %" PRIu64,
					figures[i].what, figures[i].judged,
					figures[i].walked);
	return 0;
}

int fab_unicast_verify(const struct fab_routes *r, enum fab_ends ends,
		       const struct fab_judgement *j, struct fab_err *err)
{
	struct walker w = {.r = r, .ends = ends, .known = fab_map64_new(1024)};
	int rc;

	fab_live_init(&w.live, r->f, r->faults);
	walk_all(&w);
	rc = compare(&w, j, err);
	fab_live_fini(&w.live);
	fab_map64_free(w.known);
	free(w.n_hosts);
	free(w.sources.v);
	free(w.from.v);
	free(w.to.v);
	free(w.way.v);
	return rc;
}
