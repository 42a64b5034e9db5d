/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Findings, and checks that compare: pairs of switches with pairs of the same direction,
 * switches with their level.
 */
#include "fabric/check_add.h"

#include "base/order.h"
#include "base/text.h"
#include "fabric/label.h"
#include "fabric/ranks.h"
#include "fabric/shape.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Findings with their keys, which do not depend on the order of the input. */

enum { GUID_BYTES = 19 }; /* "0x", 16 digits, a blank or the end */

static int by_node_guid(const void *x, const void *y, void *fabric)
{
	const struct fab_fabric *f = fabric;
	uint64_t a = f->node_guid[*(const uint32_t *)x];
	uint64_t b = f->node_guid[*(const uint32_t *)y];

	return (a > b) - (a < b);
}

char *fab_check_key_nodes(struct fab_checker *c, uint32_t *nodes, size_t n)
{
	char *key = fab_arena_alloc(&c->check->arena, n * GUID_BYTES + 1, 1), *at = key;

	qsort_r(nodes, n, sizeof(*nodes), by_node_guid, (void *)(uintptr_t)c->f);
	for (size_t i = 0; i < n; i++)
		at += snprintf(at, GUID_BYTES + 1, "%s0x%016llx", i ? " " : "",
			       (unsigned long long)c->f->node_guid[nodes[i]]);
	return key;
}

/* The text of a finding in quotes, safe for a terminal. */
static char *key_text(struct fab_checker *c, const char *message)
{
	size_t size = 4 * strlen(message) + 1, n = 0;
	FAB_AUTOFREE char *safe = fab_text_safe(message, fab_alloc(size, 1), size);
	char *key = fab_arena_alloc(&c->check->arena, 2 * size + 2, 1);

	key[n++] = '"';
	for (const char *p = safe; *p; p++) {
		if (*p == '"' || *p == '\\')
			key[n++] = '\\';
		key[n++] = *p;
	}
	key[n++] = '"';
	key[n] = '\0';
	return key;
}

void fab_checker_add(struct fab_checker *c, enum fab_severity severity, const char *code,
		     struct fab_finding at, const char *format, ...)
{
	char text[1024];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	at.code = code;
	at.severity = severity;
	at.message = fab_arena_strdup(&c->check->arena, text);
	if (at.cable != FAB_NONE) {
		at.peer_port = c->f->cable_b[at.cable];
		at.peer_node = c->f->port_node[at.peer_port];
	}
	if (!at.key)
		at.key = at.cable != FAB_NONE
				 ? fab_ports_key(c->f, &c->check->arena,
						 c->f->cable_a[at.cable], at.peer_port)
			 : at.port != FAB_NONE ? fab_ports_key(c->f, &c->check->arena,
							       at.port, FAB_NONE)
			 : at.node != FAB_NONE ? fab_check_key_nodes(c, &at.node, 1)
					       : key_text(c, at.message);
	FAB_PUSH(&c->found, at);
}

/* Levels. */

/*
 * Switches by levels and, where the shape has such, by directions: what should be alike.
 */
struct levels {
	struct fab_shape *shape;
	uint32_t *level;     /* [n_switches] rank, FAB_NONE: no host in its part */
	uint32_t *n_missing; /* [n_switches] cables up that check_pairs() found missing */
};

/*
 * Pairs of switches joined by fewer cables than their peers. The peers of a pair are the
 * other pairs of either switch in the same direction: to the same level, or along the
 * same dimension of a grid, or within or out of a group of a dragonfly. A pair is short
 * when more than half of the pairs of one of its switches have more cables, and not more
 * than half of those of the other switch have as few.
 */

enum { LEAST_PEERS = 3 }; /* of a switch in a direction */

/* A neighbour of a switch, with the number of cables to it. */
struct bundle {
	uint64_t direction;
	uint32_t n, peer;
	uint32_t usual; /* what more than half of its direction have, 0: no such number */
	uint32_t n_pairs; /* in its direction */
};

FAB_ORDER(by_direction, struct bundle, direction, n, peer)

/* Direction of a pair, equal from either side. */
static uint64_t direction_of(const struct levels *l, uint32_t a, uint32_t b)
{
	const struct fab_shape *shape = l->shape;
	uint32_t la = l->level[a], lb = l->level[b], low = la < lb ? la : lb;
	uint32_t rise = (la < lb ? lb : la) - low, within = 0;

	if (!rise && shape->group) {
		within = 1 + (shape->group[a] == shape->group[b]);
	} else if (!rise && shape->coords) {
		const uint32_t *ca = shape->coords + (size_t)a * shape->n_dims;
		const uint32_t *cb = shape->coords + (size_t)b * shape->n_dims;

		/* behind the first dimension in which they differ */
		while (within < shape->n_dims && ca[within] == cb[within])
			within++;
		within++;
	}
	return (uint64_t)low << 32 | (uint64_t)(rise < 1 << 24 ? rise : 1 << 24) << 7 |
	       within;
}

/* The neighbours of a switch into v; returns how many. `peer` is sorted. */
static uint32_t collect_of(const struct levels *l, uint32_t sw, uint32_t *peer,
			   uint32_t n_arcs, struct bundle *v)
{
	uint32_t n = 0;

	qsort(peer, n_arcs, sizeof(*peer), fab_cmp_u32);
	for (uint32_t k = 0; k < n_arcs; k++) {
		if (!k || peer[k - 1] != peer[k])
			v[n++] =
				(struct bundle){.direction = direction_of(l, sw, peer[k]),
						.peer = peer[k]};
		v[n - 1].n++;
	}
	qsort(v, n, sizeof(*v), by_direction);
	/* Number that more than half of each direction have: the middle one when sorted,
	 * or none. */
	for (uint32_t i = 0, end; i < n; i = end) {
		uint32_t usual, count = 0;

		for (end = i; end < n && v[end].direction == v[i].direction;)
			end++;
		usual = v[i + (end - i) / 2].n;
		for (uint32_t j = i; j < end; j++)
			count += v[j].n == usual;
		if (end - i < LEAST_PEERS || 2 * count <= end - i)
			usual = 0;
		for (uint32_t j = i; j < end; j++) {
			v[j].usual = usual;
			v[j].n_pairs = end - i;
		}
	}
	return n;
}

/* Switch `observer`, an end of the pair, has more cables to most of its neighbours. */
static void report_pair(struct fab_checker *c, const struct levels *l, uint32_t observer,
			uint32_t other, const struct bundle *x)
{
	const struct fab_fabric *f = c->f;
	uint32_t pair[2] = {observer, other}, a = l->level[observer], b = l->level[other];
	struct fab_finding at = AT_NODE(b < a ? other : observer);
	const char *where = a == b ? "beside" : a < b ? "above" : "below";

	at.key = fab_check_key_nodes(c, pair, 2);
	at.peer_node = at.node == observer ? other : observer;
	if (a != b)
		l->n_missing[at.node] += x->usual - x->n;
	fab_checker_add(
		c, FAB_PROBLEM, "few-cables", at,
		"%u cable%s \"%s\" and \"%s\"; most of the %u switches %s \"%s\" have %u to it",
		x->n, x->n == 1 ? " joins" : "s join", fab_node_name(f, at.node),
		fab_node_name(f, at.node == observer ? other : observer), x->n_pairs,
		where, fab_node_name(f, observer), x->usual);
}

static void check_pairs(struct fab_checker *c, struct levels *l)
{
	const struct fab_fabric *f = c->f;
	uint32_t n_arcs = f->arc_first[f->n_switches], n = 0;
	uint32_t *other = FAB_ARENA_NEW(&c->scratch, n_arcs, uint32_t);
	/* Neighbours of each switch, by direction, then number of cables. */
	uint32_t *first = FAB_ARENA_NEW(&c->scratch, f->n_switches + 1, uint32_t);
	struct bundle *v = FAB_ARENA_NEW(&c->scratch, n_arcs, struct bundle);

	memcpy(other, f->arc_peer, n_arcs * sizeof(*other));
	for (uint32_t j = 0; j < f->n_switches; j++) {
		uint32_t at = f->arc_first[j];

		first[j] = n;
		n += collect_of(l, j, other + at, f->arc_first[j + 1] - at, v + n);
	}
	first[f->n_switches] = n;
	for (uint32_t s = 0; s < f->n_switches; s++)
		for (uint32_t i = first[s]; i < first[s + 1]; i++) {
			const struct bundle *own = &v[i], *peer;
			/* the pair as seen from its other switch */
			const struct bundle key = {
				.direction = own->direction, .n = own->n, .peer = s};
			uint32_t from = first[own->peer];

			if (own->peer < s)
				continue;
			peer = bsearch(&key, v + from, first[own->peer + 1] - from,
				       sizeof(key), by_direction);
			if ((own->usual && own->usual <= own->n) ||
			    (peer->usual && peer->usual <= own->n) ||
			    (!own->usual && !peer->usual))
				continue;
			if (own->usual >= peer->usual)
				report_pair(c, l, s, own->peer, own);
			else
				report_pair(c, l, own->peer, s, peer);
		}
}

/*
 * Switches with fewer cables to the level above than most switches of their level, among
 * those that cables between switches join; leaves without hosts do not count. What
 * is missing of single pairs was reported before. A switch with less
 * than half of the usual below it, too, is a smaller one on purpose: a note.
 */

enum { LEAST_SWITCHES = 3 }; /* switches of a level */

/* Of each switch. */
struct links {
	uint32_t up, down; /* down: to lower levels and hosts */
	uint32_t sw, part, level;
};

FAB_ORDER(by_part, struct links, part, level, sw)

/* The middle one of n numbers; sorts them. */
static uint32_t median(uint32_t *v, uint32_t n)
{
	qsort(v, n, sizeof(*v), fab_cmp_u32);
	return v[n / 2];
}

/* n switches of one level of one part. */
static void check_level(struct fab_checker *c, const struct levels *l,
			const struct links *links, uint32_t n, uint32_t *scratch)
{
	struct links usual;
	uint32_t n_usual = 0;

	if (n < LEAST_SWITCHES)
		return;
	for (uint32_t i = 0; i < n; i++)
		scratch[i] = links[i].down;
	usual.down = median(scratch, n);
	for (uint32_t i = 0; i < n; i++)
		scratch[i] = links[i].up;
	usual.up = median(scratch, n); /* more than half of them, or nothing is usual */
	for (uint32_t i = 0; i < n; i++)
		n_usual += links[i].up == usual.up;
	if (2 * n_usual <= n)
		return;
	for (uint32_t i = 0; i < n; i++)
		if (links[i].up + l->n_missing[links[i].sw] < usual.up) {
			const struct links *x = &links[i];
			bool is_small = 2 * x->down < usual.down;
			const char *what =
				x->level ? "switches of its level" : "leaf switches";

			fab_checker_add(
				c, is_small ? FAB_NOTE : FAB_PROBLEM,
				is_small ? "small-switch" : "few-uplinks", AT_NODE(x->sw),
				"\"%s\" has %u cable%s up, where %u of %u %s have %u%s",
				fab_node_name(c->f, x->sw), x->up, x->up == 1 ? "" : "s",
				n_usual, n, what, usual.up,
				is_small ? "; it has less than half as much below it, too"
					 : "");
		}
}

/*
 * Cables between switches of one level of a tree, where at most one of SIDE_SHARE cables
 * of its switches is such a one: trees are routed up, then down, and engines for them do
 * not take the fabric, or make loops of it.
 */

enum { SIDE_SHARE = 16 };

static void check_sides(struct fab_checker *c, const struct fab_ranks *ranks)
{
	const struct fab_fabric *f = c->f;
	uint32_t *n_all = FAB_ARENA_NEW0(&c->scratch, ranks->n_ranks + 1, uint32_t);
	uint32_t *n_side = FAB_ARENA_NEW0(&c->scratch, ranks->n_ranks + 1, uint32_t);

	for (int is_count = 1; is_count >= 0; is_count--)
		for (uint32_t k = 0; k < f->n_cables; k++) {
			uint32_t a = f->port_node[f->cable_a[k]];
			uint32_t b = f->port_node[f->cable_b[k]];
			struct fab_finding at = AT_PORT(a, f->cable_a[k]);

			if (fab_cable_class(f, k) != FAB_CABLE_SWITCH || a == b ||
			    ranks->rank[a] == FAB_NONE)
				continue;
			if (is_count) {
				n_all[ranks->rank[a]]++;
				n_all[ranks->rank[b]] += ranks->rank[a] != ranks->rank[b];
				n_side[ranks->rank[a]] +=
					ranks->rank[a] == ranks->rank[b];
				continue;
			}
			if (ranks->rank[a] != ranks->rank[b] ||
			    n_side[ranks->rank[a]] * SIDE_SHARE > n_all[ranks->rank[a]])
				continue;
			at.cable = k;
			fab_checker_add(
				c, FAB_NOTE, "side-cable", at,
				"cable from port %u of \"%s\" to port %u of \"%s\" joins two %s; the other %u cables of their level lead up or down",
				f->port_num[at.port], fab_node_name(f, a),
				f->port_num[f->cable_b[k]], fab_node_name(f, b),
				ranks->rank[a] ? "switches of one level"
					       : "leaf switches",
				n_all[ranks->rank[a]] - n_side[ranks->rank[a]]);
		}
}

void fab_check_levels(struct fab_checker *c)
{
	const struct fab_fabric *f = c->f;
	uint32_t n = f->n_switches;
	struct levels levels = {.shape = fab_shape_recognize(f),
				.n_missing = FAB_ARENA_NEW0(&c->scratch, n, uint32_t)};
	uint32_t *n_hosts = FAB_ARENA_NEW(&c->scratch, n, uint32_t);
	uint32_t *part = FAB_ARENA_NEW(&c->scratch, n, uint32_t);
	struct links *links = FAB_ARENA_NEW(&c->scratch, n, struct links);
	FAB_AUTO(fab_ranks_fini) struct fab_ranks ranks;

	fab_ranks_init(&ranks, f, levels.shape);
	levels.level = ranks.rank;
	/* Leaves of trees that have no host cabled to them, powered off or not. */
	fab_ranks_count_all_hosts(f, n_hosts);
	for (uint32_t s = 0; s < n; s++)
		if (!ranks.rank[s] && !n_hosts[s])
			fab_checker_add(
				c, FAB_NOTE, "leaf-without-hosts", AT_NODE(s),
				"\"%s\" has cables like a leaf switch, but no host",
				fab_node_name(f, s));
	check_pairs(c, &levels);
	check_sides(c, &ranks);
	fab_fabric_components(f, part);
	for (uint32_t s = 0; s < n; s++) {
		uint32_t level = ranks.rank[s];

		links[s] =
			(struct links){.down = n_hosts[s],
				       .sw = s,
				       .part = part[s],
				       .level = level || n_hosts[s] ? level : FAB_NONE};
		FAB_EACH_ARC(f, s, k) {
			uint32_t to = ranks.rank[f->arc_peer[k]];

			if (to == FAB_NONE || level == FAB_NONE)
				continue;
			links[s].up += to > level;
			links[s].down += to < level;
		}
	}
	qsort(links, n, sizeof(*links), by_part);
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && links[end].part == links[i].part &&
				  links[end].level == links[i].level;)
			end++;
		if (links[i].level != FAB_NONE)
			check_level(c, &levels, links + i, end - i, part);
	}
	fab_shape_free(levels.shape);
}
