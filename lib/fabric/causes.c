/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Findings put together by cause, for people: a line for each, with both ends of a cable
 * and what to look at. The findings of one code come in one run; each code has a function
 * that makes lines of its run, two of them with all details, then one of all others.
 */
#include "fabric/check.h"

#include "base/order.h"
#include "base/rng.h"
#include "fabric/label.h"
#include "fabric/ranks.h"
#include "fabric/shape.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	OWN_LINES = 2, /* with all details, of a code */
	NAMES_SHOWN = 3,
	GAP_LINES = 2,	 /* of missing cables */
	LOOKED_AT = 256, /* switches whose missing cables are searched for */
	COMMON = 3,	 /* of them that lack a cable to the same switch */
};

struct causer {
	const struct fab_fabric *f;
	const struct fab_finding *findings;
	struct fab_arena *arena;
	struct fab_arena scratch;
	struct fab_ranks ranks; /* rank NULL: not asked for yet */
	FAB_VEC(struct fab_cause) out;
};

/* A line about the n findings from `first` on. */
FAB_PRINTF(4, 5)
static void say(struct causer *c, uint32_t first, uint32_t n, const char *format, ...)
{
	const struct fab_finding *x = &c->findings[first];
	char text[2048];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	FAB_PUSH(&c->out, ((struct fab_cause){.code = x->code,
					      .severity = x->severity,
					      .first = first,
					      .n = n,
					      .text = fab_arena_strdup(c->arena, text)}));
}

/* The first names of n nodes, or hosts, and the number of the others: "a", "b", "c" and 5
 * more. */
static const char *names_of(struct causer *c, const uint32_t *ids, uint32_t n,
			    bool of_hosts)
{
	char *text = NULL;

	for (uint32_t i = 0; i < n && i < NAMES_SHOWN; i++) {
		FAB_AUTOFREE char *own = of_hosts ? NULL : fab_node_text(c->f, ids[i]);
		const char *name = of_hosts ? fab_host_name(c->f, ids[i])
					    : fab_node_name(c->f, ids[i]);

		fab_append(&text, ", ", "\"%.64s\"%s", name,
			   own ? own + strlen(name) : "");
	}
	fab_append_rest(&text, n, NAMES_SHOWN);
	fab_arena_own(&c->scratch, free, text);
	return text ? text : "";
}

/* The nodes of the n findings from `first` on, each once, *n_nodes of them. */
static uint32_t *nodes_of(struct causer *c, uint32_t first, uint32_t n, uint32_t *n_nodes)
{
	uint32_t *nodes = FAB_ARENA_NEW(&c->scratch, n, uint32_t), kept = 0;
	bool *is_taken = FAB_ARENA_NEW0(&c->scratch, c->f->n_nodes, bool);

	for (uint32_t i = first; i < first + n; i++) {
		uint32_t node = c->findings[i].node;

		if (node == FAB_NONE || is_taken[node])
			continue;
		is_taken[node] = true;
		nodes[kept++] = node;
	}
	*n_nodes = kept;
	return nodes;
}

static const char *plural(uint32_t n)
{
	return n == 1 ? "" : "s";
}

/* "port 31 free", "ports 31, 33 free", "7 ports free", "no port free". */
static const char *free_ports(struct causer *c, uint32_t node)
{
	const struct fab_fabric *f = c->f;
	char *text;
	FAB_AUTOFREE char *list = NULL;
	uint32_t n = 0;

	for (unsigned num = 1; num <= f->node_n_ports[node]; num++) {
		if (!fab_port_is_free(f, node, num))
			continue;
		if (n++ < NAMES_SHOWN)
			fab_append(&list, ", ", "%u", num);
	}
	text = !n		 ? fab_strdup("no port free")
	       : n > NAMES_SHOWN ? fab_format("%u ports free", n)
				 : fab_format("port%s %s free", plural(n), list);
	fab_arena_own(&c->scratch, free, text);
	return text;
}

/* ", ports 7, 9 free here" */
static const char *free_here(struct causer *c, uint32_t node)
{
	return fab_arena_format(&c->scratch, ", %s here", free_ports(c, node));
}

/* Messages of the first, then one line of all others. */
static void say_messages(struct causer *c, uint32_t first, uint32_t n)
{
	uint32_t own = n <= OWN_LINES ? n : 1;

	for (uint32_t i = first; i < first + own; i++)
		say(c, i, i + 1 < first + own ? 1 : first + n - i,
		    n > own ? "%s (and %u more like it)" : "%s", c->findings[i].message,
		    n - own);
}

/* Cables: the same said of them. */

/* Part of a message about a cable behind the names, which end in a quotation mark. */
static const char *tail_of(const char *message)
{
	const char *tail = message, *at = message;

	while ((at = strstr(at, "\": ")))
		tail = at += 3;
	return tail;
}

static int by_tail(const void *x, const void *y, void *findings)
{
	const struct fab_finding *of = findings;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	int order = strcmp(tail_of(of[a].message), tail_of(of[b].message));

	return order ? order : (a > b) - (a < b);
}

/* More than two cables index[n] of which the same is said. */
static void say_alike(struct causer *c, const uint32_t *index, uint32_t n)
{
	const struct fab_fabric *f = c->f;
	const struct fab_finding *x = &c->findings[index[0]];
	uint32_t *of_switch = FAB_ARENA_NEW0(&c->scratch, f->n_switches, uint32_t);
	uint32_t *all = FAB_ARENA_NEW0(&c->scratch, f->n_switches, uint32_t);
	uint32_t *sw = FAB_ARENA_NEW(&c->scratch, f->n_switches, uint32_t), n_sw = 0;
	uint32_t a = f->cable_a[x->cable], b = f->cable_b[x->cable];
	uint32_t n_whole = 0; /* switches of which it is said of all hosts */
	bool are_hosts = true;

	fab_ranks_count_hosts(f, all);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t cable = c->findings[index[i]].cable;
		uint32_t s = f->port_node[f->cable_a[cable]];

		are_hosts &= fab_cable_class(f, cable) == FAB_CABLE_HOST;
		if (fab_node_is_switch(f, s) && !of_switch[s]++)
			sw[n_sw++] = s;
	}
	for (uint32_t i = 0; i < n_sw; i++)
		if (of_switch[sw[i]] == all[sw[i]]) {
			uint32_t s = sw[i];

			sw[i] = sw[n_whole];
			sw[n_whole++] = s;
		}
	if (are_hosts && n_whole)
		say(c, index[0], n,
		    "%u host cables: %s: all hosts of %u switch%s (%s)%s: by design?", n,
		    tail_of(x->message), n_whole, n_whole == 1 ? "" : "es",
		    names_of(c, sw, n_whole, false),
		    n_whole == n_sw
			    ? ""
			    : fab_arena_format(&c->scratch, ", some of %u other%s",
					       n_sw - n_whole, plural(n_sw - n_whole)));
	else
		say(c, index[0], n,
		    "%u cables of %u switch%s: %s; the first: \"%.64s\":%u - \"%.64s\":%u",
		    n, n_sw, n_sw == 1 ? "" : "es", tail_of(x->message),
		    fab_node_name(f, f->port_node[a]), f->port_num[a],
		    fab_node_name(f, f->port_node[b]), f->port_num[b]);
}

static void say_cables(struct causer *c, uint32_t first, uint32_t n)
{
	uint32_t *index = FAB_ARENA_NEW(&c->scratch, n, uint32_t);
	bool is_width = strstr(c->findings[first].code, "width") ||
			strstr(c->findings[first].code, "narrow");

	for (uint32_t i = 0; i < n; i++)
		index[i] = first + i;
	qsort_r(index, n, sizeof(*index), by_tail, (void *)(uintptr_t)c->findings);
	for (uint32_t i = 0, end; i < n; i = end) {
		const char *tail = tail_of(c->findings[index[i]].message);

		for (end = i;
		     end < n && !strcmp(tail, tail_of(c->findings[index[end]].message));)
			end++;
		if (end - i > OWN_LINES)
			say_alike(c, index + i, end - i);
		else
			for (uint32_t k = i; k < end; k++)
				say(c, index[k], 1, "%s: %s",
				    c->findings[index[k]].message,
				    is_width ? "reseat or replace the cable"
					     : "check the cable and both ports");
	}
}

/*
 * Switches with too few cables to the level above: which are missing. A switch lacks what
 * more than half of its siblings have: switches of its level that share more than half of
 * the switches above it. Three switches that lack the same quarter, and those without a
 * free port, can be built so; a switch above that three others lack cables to is the
 * cause; else each is one.
 */

/* Cables to one switch above; ports of a single one by the pattern of the others, where
 * both are free, else 0. */
struct missing {
	uint32_t to, n, own_port, peer_port;
};

/* A switch, and the findings about it. */
struct lower {
	uint32_t sw, first, n_findings;
	uint32_t n_up, n_missing; /* cables */
	struct missing *v;	  /* [n] */
	uint32_t n;
	uint64_t digest; /* of what is missing */
};

/* Cables of a sibling to a switch above. */
struct tie {
	uint32_t to, n;
};

FAB_ORDER(by_tie, struct tie, to, n)

static bool is_above(const struct causer *c, uint32_t t, uint32_t s)
{
	return c->ranks.rank[t] != FAB_NONE && c->ranks.rank[t] > c->ranks.rank[s];
}

/* A port of the node that is free, and of which v[0 .. n - 1] has the number more than
 * `least` times; 0: none. Sorts them. */
static uint32_t usual_port(struct causer *c, uint32_t node, uint32_t *v, uint32_t n,
			   uint32_t least)
{
	if (n)
		qsort(v, n, sizeof(*v), fab_cmp_u32);
	for (uint32_t i = 0; i + least < n; i++)
		if (v[i] == v[i + least] && fab_port_is_free(c->f, node, v[i]))
			return v[i];
	return 0;
}

/* The ports that most siblings use to the switch above, and that s uses at most switches
 * above. */
static void find_ports(struct causer *c, uint32_t s, struct missing *m,
		       const uint32_t *sibling, uint32_t n_siblings)
{
	const struct fab_fabric *f = c->f;
	uint32_t *num = FAB_ARENA_NEW(&c->scratch, f->n_ports, uint32_t), n = 0;

	for (uint32_t i = 0; i < n_siblings; i++)
		FAB_EACH_ARC(f, sibling[i], e)
			if (f->arc_peer[e] == m->to)
				num[n++] = f->port_num[fab_arc_port(f, sibling[i], e)];
	m->own_port = usual_port(c, s, num, n, n_siblings / 2);
	n = 0;
	FAB_EACH_ARC(f, s, e)
		if (is_above(c, f->arc_peer[e], s))
			num[n++] = f->port_num[fab_port_peer(f, fab_arc_port(f, s, e))];
	m->peer_port = n < COMMON ? 0 : usual_port(c, m->to, num, n, n / 2);
	if (!m->own_port || !m->peer_port)
		m->own_port = m->peer_port = 0;
}

/* The siblings of a switch into sibling[n_switches]; returns how many. own[n_switches]:
 * its cables to each switch above. */
static uint32_t find_siblings(struct causer *c, struct lower *l, uint32_t *own,
			      uint32_t *sibling)
{
	const struct fab_fabric *f = c->f;
	uint32_t s = l->sw, n_peers = 0, n = 0;
	uint32_t *shared = FAB_ARENA_NEW0(&c->scratch, f->n_switches, uint32_t);

	FAB_EACH_ARC(f, s, e) {
		uint32_t t = f->arc_peer[e];

		if (!is_above(c, t, s))
			continue;
		l->n_up++;
		if (own[t]++)
			continue;
		n_peers++;
		FAB_EACH_PEER(f, t, k)
			shared[f->peer[k]] +=
				c->ranks.rank[f->peer[k]] == c->ranks.rank[s];
	}
	for (uint32_t u = 0; u < f->n_switches; u++)
		if (u != s && 2 * shared[u] > n_peers)
			sibling[n++] = u;
	return n;
}

static void find_missing(struct causer *c, struct lower *l)
{
	const struct fab_fabric *f = c->f;
	uint32_t *own = FAB_ARENA_NEW0(&c->scratch, f->n_switches, uint32_t);
	uint32_t *n_to = FAB_ARENA_NEW0(&c->scratch, f->n_switches, uint32_t);
	uint32_t *sibling = FAB_ARENA_NEW(&c->scratch, f->n_switches, uint32_t);
	uint32_t n_siblings = find_siblings(c, l, own, sibling), half = n_siblings / 2;
	FAB_AUTOFREE FAB_VEC(struct tie) ties = {0};

	for (uint32_t i = 0; i < n_siblings; i++) {
		uint32_t u = sibling[i];

		FAB_EACH_ARC(f, u, e)
			n_to[f->arc_peer[e]]++;
		FAB_EACH_PEER(f, u, k) {
			uint32_t t = f->peer[k];

			if (is_above(c, t, u))
				FAB_PUSH(&ties, ((struct tie){t, n_to[t]}));
			n_to[t] = 0;
		}
	}
	FAB_SORT(&ties, by_tie);
	l->v = FAB_ARENA_NEW(&c->scratch, ties.n, struct missing);
	for (size_t i = 0; i + half < ties.n; i++) {
		const struct tie *x = &ties.v[i], *last = &ties.v[i + half];
		struct missing *m = &l->v[l->n];

		if (x->to != last->to || x->n != last->n || x->n <= own[x->to])
			continue;
		*m = (struct missing){.to = x->to, .n = x->n - own[x->to]};
		if (m->n == 1)
			find_ports(c, l->sw, m, sibling, n_siblings);
		l->n++;
		l->n_missing += m->n;
		l->digest += fab_mix64((uint64_t)m->to << 32 | m->n);
		own[x->to] = UINT32_MAX; /* once */
	}
}

/* Lines about missing cables, the most of them first. */
struct gap {
	char *text;
	uint32_t first, n_findings, n_cables, sw;
};

FAB_ORDER_MIXED(by_cables, struct gap, FAB_DOWN(n_cables) FAB_UP(first))

/* "1 to "spine2" (port 3 free there)", or port by port: "3 - "spine2":3". */
static void append_missing(struct causer *c, char **text, const struct missing *m,
			   const char *here)
{
	const char *name = fab_node_name(c->f, m->to);

	if (m->own_port)
		fab_append(text, ", ", "port %u - \"%.64s\":%u", m->own_port, name,
			   m->peer_port);
	else
		fab_append(text, ", ", "%u to \"%.64s\" (%s there%s)", m->n, name,
			   free_ports(c, m->to), here);
}

/* Three switches or more that lack the same quarter of their uplinks. */
static bool is_alike(const struct lower *a, const struct lower *b)
{
	return a->n_missing && b->n_missing && a->digest == b->digest &&
	       a->n_up == b->n_up && a->n > 1 &&
	       4 * a->n_missing >= a->n_up + a->n_missing;
}

static struct gap gap_of_design(struct causer *c, struct lower *l, uint32_t n,
				uint32_t at)
{
	struct gap gap = {.first = l[at].first, .sw = l[at].sw};
	uint32_t *nodes = FAB_ARENA_NEW(&c->scratch, n, uint32_t), n_nodes = 0;
	uint32_t n_up = l[at].n_up, usual = n_up + l[at].n_missing;
	const struct lower like = l[at];

	for (uint32_t i = at; i < n; i++) {
		if (!is_alike(&like, &l[i]))
			continue;
		nodes[n_nodes++] = l[i].sw;
		gap.n_cables += l[i].n_missing;
		gap.n_findings += l[i].n_findings;
		l[i].n = l[i].n_findings = l[i].n_missing = 0;
	}
	gap.text = fab_format(
		"%u switches have %u uplinks each, where others have %u (%s): by design?",
		n_nodes, n_up, usual, names_of(c, nodes, n_nodes, false));
	return gap;
}

/* All that switches lack to the switch t. */
static struct gap gap_above(struct causer *c, struct lower *l, uint32_t n, uint32_t t)
{
	struct gap gap = {.first = FAB_NONE, .sw = t};
	uint32_t *nodes = FAB_ARENA_NEW(&c->scratch, n, uint32_t), n_nodes = 0;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < l[i].n; k++) {
			if (l[i].v[k].to != t)
				continue;
			nodes[n_nodes++] = l[i].sw;
			gap.n_cables += l[i].v[k].n;
			gap.n_findings += l[i].n_findings;
			gap.first = gap.first == FAB_NONE ? l[i].first : gap.first;
			l[i].n_findings = 0;
			l[i].v[k--] = l[i].v[--l[i].n];
		}
	gap.text = fab_format(
		"\"%.64s\" lacks %u cables to %u switches of the level below: %s (%s there)",
		fab_node_name(c->f, t), gap.n_cables, n_nodes,
		names_of(c, nodes, n_nodes, false), free_ports(c, t));
	return gap;
}

/* The gap of one switch that lacks cables to switches above. */
static struct gap gap_below(struct causer *c, const struct lower *l)
{
	struct gap gap = {.first = l->first, .n_findings = l->n_findings, .sw = l->sw};
	uint32_t n_free = 0;
	FAB_AUTOFREE char *text = NULL;

	for (unsigned num = 1; num <= c->f->node_n_ports[l->sw]; num++)
		n_free += fab_port_is_free(c->f, l->sw, num);
	for (uint32_t k = 0; k < l->n; k++) {
		gap.n_cables += l->v[k].n;
		if (k < OWN_LINES)
			append_missing(c, &text, &l->v[k],
				       l->n == 1 ? free_here(c, l->sw) : "");
	}
	if (!l->n)
		gap.text = fab_strdup(c->findings[l->first].message);
	else
		gap.text = fab_format(
			"\"%.64s\" has %u of %u uplinks; %s: %s%s",
			fab_node_name(c->f, l->sw), l->n_up, l->n_up + l->n_missing,
			n_free < gap.n_cables
				? "by design, as its ports are in use? Others have"
				: "missing",
			text, l->n > OWN_LINES ? " and others" : "");
	return gap;
}

/* The switches that findings are about, each once, with what they lack. */
static struct lower *find_lowers(struct causer *c, uint32_t first, uint32_t n,
				 bool *is_of_pair, uint32_t *n_lowers)
{
	struct lower *v = FAB_ARENA_NEW(&c->scratch, n, struct lower);
	uint32_t *place = fab_arena_none(&c->scratch, c->f->n_switches);
	uint32_t n_kept = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct fab_finding *x = &c->findings[first + i];
		uint32_t t = x->peer_node, *at = &place[x->node];
		bool is_known = false;

		if (*at == FAB_NONE) {
			*at = n_kept;
			v[n_kept] = (struct lower){.sw = x->node, .first = first + i};
			if (n_kept < LOOKED_AT && c->ranks.rank[x->node] != FAB_NONE)
				find_missing(c, &v[n_kept]);
			n_kept++;
		}
		for (uint32_t k = 0; k < v[*at].n; k++)
			is_known |= v[*at].v[k].to == t;
		/* a pair that is no case of missing cables to the level above */
		is_of_pair[i] = t != FAB_NONE && !is_known;
		v[*at].n_findings += !is_of_pair[i];
	}
	*n_lowers = n_kept;
	return v;
}

static void say_pair(struct causer *c, uint32_t i)
{
	const struct fab_fabric *f = c->f;
	const struct fab_finding *x = &c->findings[i];
	const char *usual = x->message, *at = usual;
	uint32_t n_cables = 0;

	while ((at = strstr(at, " have ")))
		usual = at += 6;
	FAB_EACH_ARC(f, x->node, e)
		n_cables += f->arc_peer[e] == x->peer_node;
	say(c, i, 1,
	    "\"%.64s\" and \"%.64s\" are joined by %u of %u cables (%s there, %s here)",
	    fab_node_name(f, x->node), fab_node_name(f, x->peer_node), n_cables,
	    (unsigned)strtoul(usual, NULL, 10), free_ports(c, x->peer_node),
	    free_ports(c, x->node));
}

/* Pairs that are no case of missing uplinks, those of which is_of_pair is set. */
static void say_pairs(struct causer *c, uint32_t first, uint32_t n,
		      const bool *is_of_pair)
{
	bool *is_taken = FAB_ARENA_NEW0(&c->scratch, c->f->n_nodes, bool);
	uint32_t *nodes = FAB_ARENA_NEW(&c->scratch, n, uint32_t), n_nodes = 0;
	uint32_t n_pairs = 0, own, said = 0, other = FAB_NONE;

	for (uint32_t i = 0; i < n; i++)
		n_pairs += is_of_pair[i];
	own = n_pairs <= OWN_LINES + 1 ? n_pairs : OWN_LINES;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t node = c->findings[first + i].node;

		if (!is_of_pair[i])
			continue;
		if (said < own) {
			say_pair(c, first + i);
			said++;
			continue;
		}
		other = other == FAB_NONE ? first + i : other;
		if (!is_taken[node])
			nodes[n_nodes++] = node;
		is_taken[node] = true;
	}
	if (n_pairs > own)
		say(c, other, n_pairs - own,
		    "%u more pairs of switches with fewer cables than others, of %s",
		    n_pairs - own, names_of(c, nodes, n_nodes, false));
}

static void say_missing(struct causer *c, uint32_t first, uint32_t n)
{
	bool *is_of_pair = FAB_ARENA_NEW(&c->scratch, n, bool);
	uint32_t *lack = FAB_ARENA_NEW(&c->scratch, c->f->n_switches, uint32_t);
	uint32_t n_lowers, n_alike, *nodes, n_findings = 0, n_cables = 0;
	struct lower *l;
	FAB_AUTOFREE FAB_VEC(struct gap) gaps = {0};

	if (!c->ranks.rank) {
		FAB_AUTO(fab_shape_free_at)
		struct fab_shape *shape = fab_shape_recognize(c->f);

		fab_ranks_init(&c->ranks, c->f, shape);
	}
	l = find_lowers(c, first, n, is_of_pair, &n_lowers);
	for (uint32_t i = 0; i < n_lowers; i++) {
		n_alike = 0;
		for (uint32_t k = i; k < n_lowers; k++)
			n_alike += is_alike(&l[i], &l[k]);
		if (n_alike >= COMMON)
			FAB_PUSH(&gaps, gap_of_design(c, l, n_lowers, i));
	}
	for (uint32_t most = COMMON; most >= COMMON;) {
		uint32_t t = 0;

		memset(lack, 0, c->f->n_switches * sizeof(*lack));
		for (uint32_t i = 0; i < n_lowers; i++)
			for (uint32_t k = 0; k < l[i].n; k++)
				t = ++lack[l[i].v[k].to] > lack[t] ? l[i].v[k].to : t;
		most = c->f->n_switches ? lack[t] : 0;
		if (most >= COMMON)
			FAB_PUSH(&gaps, gap_above(c, l, n_lowers, t));
	}
	for (uint32_t i = 0; i < n_lowers; i++)
		if (l[i].n || l[i].n_findings)
			FAB_PUSH(&gaps, gap_below(c, &l[i]));
	FAB_SORT(&gaps, by_cables);
	nodes = FAB_ARENA_NEW(&c->scratch, gaps.n, uint32_t);
	for (size_t i = 0; i < gaps.n; i++) {
		const struct gap *gap = &gaps.v[i];
		bool is_own = gaps.n <= GAP_LINES + 1 || i < GAP_LINES;

		if (is_own)
			say(c, gap->first, gap->n_findings, "%s", gap->text);
		else
			nodes[i - GAP_LINES] = gap->sw;
		n_findings += is_own ? 0 : gap->n_findings;
		n_cables += is_own ? 0 : gap->n_cables;
		free(gap->text);
	}
	if (gaps.n > GAP_LINES + 1)
		say(c, gaps.v[GAP_LINES].first, n_findings,
		    "%zu more switches lack %u cables: %s", gaps.n - GAP_LINES, n_cables,
		    names_of(c, nodes, (uint32_t)gaps.n - GAP_LINES, false));
	say_pairs(c, first, n, is_of_pair);
}

/* Ports without a LID: whole hosts, or single ports. */
static void say_lids(struct causer *c, uint32_t first, uint32_t n)
{
	const struct fab_fabric *f = c->f;
	uint32_t *missing = FAB_ARENA_NEW0(&c->scratch, f->n_hosts, uint32_t);
	uint32_t *whole = FAB_ARENA_NEW(&c->scratch, f->n_hosts, uint32_t), n_whole = 0;
	uint32_t *sw = FAB_ARENA_NEW(&c->scratch, n, uint32_t), n_switches = 0;
	uint32_t n_hosts = 0;
	const char *switches = "";

	if (n <= OWN_LINES) {
		say_messages(c, first, n);
		return;
	}
	for (uint32_t i = first; i < first + n; i++) {
		uint32_t host = f->node_host[c->findings[i].node];

		if (fab_node_is_switch(f, c->findings[i].node))
			sw[n_switches++] = c->findings[i].node;
		if (host != FAB_NONE)
			n_hosts += !missing[host]++;
	}
	for (uint32_t h = 0; h < f->n_hosts; h++) {
		uint32_t n_cabled = 0;

		FAB_EACH_ADAPTER(f, h, i)
			FAB_EACH_PORT(f, f->host_adapter[i], p)
				n_cabled += f->port_cable[p] != FAB_NONE;
		if (missing[h] && missing[h] == n_cabled)
			whole[n_whole++] = h;
	}
	if (n_switches)
		switches = fab_arena_format(&c->scratch, " and of %u switch%s (%s)",
					    n_switches, n_switches == 1 ? "" : "es",
					    names_of(c, sw, n_switches, false));
	if (n_whole && n_whole == n_hosts)
		say(c, first, n,
		    "%u ports have no LID: all of %u host%s (%s)%s: down, or in another subnet?",
		    n, n_hosts, plural(n_hosts), names_of(c, whole, n_whole, true),
		    switches);
	else
		say(c, first, n,
		    "%u ports have no LID, of %u host%s (all of %s)%s: links down?", n,
		    n_hosts, plural(n_hosts),
		    n_whole ? names_of(c, whole, n_whole, true) : "none", switches);
}

static int by_description(const void *x, const void *y, void *fabric)
{
	const struct fab_fabric *f = fabric;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	int order = strcmp(fab_node_name(f, a), fab_node_name(f, b));

	return order ? order : (a > b) - (a < b);
}

/* Adapters with the name of their maker. */
static void say_unnamed(struct causer *c, uint32_t first, uint32_t n)
{
	uint32_t n_nodes, n_names = 0, *nodes = nodes_of(c, first, n, &n_nodes);

	qsort_r(nodes, n_nodes, sizeof(*nodes), by_description, (void *)(uintptr_t)c->f);
	for (uint32_t i = 0; i < n_nodes; i++)
		n_names += !i || strcmp(fab_node_name(c->f, nodes[i - 1]),
					fab_node_name(c->f, nodes[i])) != 0;
	say(c, first, n,
	    "%u adapter%s without the name of a host (\"%.64s\"%s): set node descriptions (rdma-ndd) or --node-name-map",
	    n, n == 1 ? " is" : "s are", fab_node_name(c->f, nodes[0]),
	    n_names > 1 ? " and others" : "");
}

static void say_idle(struct causer *c, uint32_t first, uint32_t n)
{
	uint32_t n_nodes, *nodes = nodes_of(c, first, n, &n_nodes);

	say(c, first, n, "%u leaf switch%s no host (%s): all powered off, or spare?", n,
	    n == 1 ? " has" : "es have", names_of(c, nodes, n_nodes, false));
}

/* Codes by urgency, the most urgent first; those unknown here stand at NULL. */
static const struct {
	const char *code;
	void (*say)(struct causer *c, uint32_t first, uint32_t n);
} kinds[] = {
	{"unknown-peer", say_messages},
	{"unconnected-part", say_messages},
	{"adapter-without-switch", say_messages},
	{"conflicting-cable", say_messages},
	{"one-sided-cable", say_messages},
	{"duplicate-lid", say_messages},
	{"duplicate-guid", say_messages},
	{"duplicate-port-guid", say_messages},
	{"missing-lid", say_lids},
	{"few-cables", say_missing}, /* and the run of few-uplinks behind it */
	{"few-uplinks", say_missing},
	{"mixed-rails", say_messages},
	{NULL, say_messages},
	{"width-mismatch", say_cables},
	{"speed-mismatch", say_cables},
	{"narrow-link", say_cables},
	{"slow-link", say_cables},
	{"duplicate-name", say_messages},
	{"leaf-without-hosts", say_idle},
	{"unnamed-adapter", say_unnamed},
};

static size_t kind_of(const char *code)
{
	size_t unknown = 0;

	for (size_t i = 0; i < FAB_COUNT(kinds); i++)
		if (!kinds[i].code)
			unknown = i;
		else if (!strcmp(code, kinds[i].code))
			return i;
	return unknown;
}

/* Findings of one code, and those of missing cables, have their lines in common. */
static bool is_of_run(const struct fab_finding *a, const struct fab_finding *b)
{
	size_t ka = kind_of(a->code), kb = kind_of(b->code);

	return a->severity == b->severity &&
	       (!strcmp(a->code, b->code) ||
		(kinds[ka].say == say_missing && kinds[kb].say == say_missing));
}

struct fab_cause *fab_causes(const struct fab_fabric *f,
			     const struct fab_finding *findings, uint32_t n,
			     struct fab_arena *arena, uint32_t *n_causes)
{
	struct causer c = {.f = f, .findings = findings, .arena = arena};

	for (size_t k = 0; k < 2 * FAB_COUNT(kinds); k++) {
		enum fab_severity severity =
			k < FAB_COUNT(kinds) ? FAB_PROBLEM : FAB_NOTE;

		for (uint32_t i = 0, end; i < n; i = end) {
			for (end = i; end < n && is_of_run(&findings[i], &findings[end]);)
				end++;
			if (findings[i].severity != severity ||
			    kind_of(findings[i].code) != k % FAB_COUNT(kinds))
				continue;
			kinds[kind_of(findings[i].code)].say(&c, i, end - i);
			fab_arena_free(&c.scratch);
		}
	}
	fab_arena_own(arena, free, c.out.v);
	fab_ranks_fini(&c.ranks);
	*n_causes = (uint32_t)c.out.n;
	return c.out.v;
}

const struct fab_finding *fab_check_worst(const struct fab_check *check)
{
	const struct fab_finding *worst = NULL;

	for (uint32_t i = 0; i < check->n_findings; i++) {
		const struct fab_finding *x = &check->findings[i];

		if (x->severity == FAB_PROBLEM &&
		    (!worst || kind_of(x->code) < kind_of(worst->code)))
			worst = x;
	}
	return worst;
}
