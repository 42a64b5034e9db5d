/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Findings put together by cause, for people: a line for each, with both ends of a cable
 * and what to look at. The findings of one code come in one run; each code has a function
 * that makes lines of its run, two of them with all details, then one of all others.
 */
#include "fabric/check.h"

#include "base/order.h"
#include "fabric/ranks.h"
#include "fabric/shape.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	OWN_LINES = 2, /* with all details, of a code */
	NAMES_SHOWN = 3,
	LOOKED_AT = 32, /* switches whose missing cables are searched for */
	COMMON = 3,	/* of them that lack a cable to the same switch */
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
static void say(struct causer *c, uint32_t first, uint32_t n, const char *format, ...)
	FAB_PRINTF(4, 5);
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

	for (uint32_t i = 0; i < n && i < NAMES_SHOWN; i++)
		fab_append(&text, ", ", "\"%.64s\"",
			   of_hosts ? fab_host_name(c->f, ids[i])
				    : fab_node_name(c->f, ids[i]));
	if (n > NAMES_SHOWN)
		fab_append(&text, " ", "and %u more", n - NAMES_SHOWN);
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
	char *list = NULL, *text;
	uint32_t n = 0;

	for (unsigned num = 1; num <= f->node_n_ports[node]; num++) {
		uint32_t port = fab_port_find(f, node, num);

		if (port != FAB_NONE && f->port_cable[port] != FAB_NONE)
			continue;
		if (n++ < NAMES_SHOWN)
			fab_append(&list, ", ", "%u", num);
	}
	text = !n		 ? fab_strdup("no port free")
	       : n > NAMES_SHOWN ? fab_format("%u ports free", n)
				 : fab_format("port%s %s free", plural(n), list);
	free(list);
	fab_arena_own(&c->scratch, free, text);
	return text;
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
	bool are_hosts = true, are_all = true;

	fab_ranks_count_hosts(f, all);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t cable = c->findings[index[i]].cable;
		uint32_t s = f->port_node[f->cable_a[cable]];

		are_hosts &= fab_cable_class(f, cable) == FAB_CABLE_HOST;
		if (fab_node_is_switch(f, s) && !of_switch[s]++)
			sw[n_sw++] = s;
	}
	for (uint32_t i = 0; i < n_sw; i++)
		are_all &= of_switch[sw[i]] == all[sw[i]];
	if (are_hosts && are_all)
		say(c, index[0], n,
		    "%u host cables: %s: all hosts of %u switch%s (%s): by design?", n,
		    tail_of(x->message), n_sw, n_sw == 1 ? "" : "es",
		    names_of(c, sw, n_sw, false));
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

/* Switches with too few cables: which are missing, by the switches with the same peers.
 */

/* Cables that a switch lacks: to which switches, how many; of n_usual n_up are there. */
struct missing {
	uint32_t n_up, n_usual, n;
	uint32_t *to, *cables; /* [n] */
};

static struct missing missing_of(struct causer *c, uint32_t s)
{
	const struct fab_fabric *f = c->f;
	uint32_t n = f->n_switches, n_peers = 0, n_siblings = 0;
	uint32_t *own = FAB_ARENA_NEW0(&c->scratch, n, uint32_t);
	uint32_t *shared = FAB_ARENA_NEW0(&c->scratch, n, uint32_t);
	uint32_t *joined = FAB_ARENA_NEW0(&c->scratch, n, uint32_t);
	uint32_t *cables = FAB_ARENA_NEW0(&c->scratch, n, uint32_t);
	struct missing out = {.to = FAB_ARENA_NEW(&c->scratch, n, uint32_t),
			      .cables = FAB_ARENA_NEW(&c->scratch, n, uint32_t)};
	const uint32_t *rank;

	if (!c->ranks.rank) {
		struct fab_shape *shape = fab_shape_recognize(f);

		fab_ranks_init(&c->ranks, f, shape);
		fab_shape_free(shape);
	}
	rank = c->ranks.rank;
	for (uint32_t e = f->arc_first[s]; e < f->arc_first[s + 1]; e++) {
		uint32_t t = f->arc_peer[e];

		if (rank[t] == FAB_NONE || rank[t] <= rank[s])
			continue;
		out.n_up++;
		if (own[t]++)
			continue;
		n_peers++;
		for (uint32_t k = f->peer_first[t]; k < f->peer_first[t + 1]; k++)
			shared[f->peer[k]] += rank[f->peer[k]] == rank[s];
	}
	/* Siblings share more than half of the switches above. */
	for (uint32_t u = 0; u < n; u++) {
		if (u == s || 2 * shared[u] <= n_peers)
			continue;
		n_siblings++;
		for (uint32_t e = f->arc_first[u]; e < f->arc_first[u + 1]; e++)
			cables[f->arc_peer[e]]++;
		for (uint32_t k = f->peer_first[u]; k < f->peer_first[u + 1]; k++)
			joined[f->peer[k]]++;
	}
	out.n_usual = out.n_up;
	for (uint32_t t = 0; t < n; t++) {
		uint32_t usual = joined[t] ? cables[t] / joined[t] : 0;

		if (rank[t] == FAB_NONE || rank[t] <= rank[s] ||
		    2 * joined[t] <= n_siblings || usual <= own[t])
			continue;
		out.n_usual += usual - own[t];
		out.to[out.n] = t;
		out.cables[out.n++] = usual - own[t];
	}
	return out;
}

/* Where many lack a cable to one switch, that switch is the cause. */
static void say_uplinks(struct causer *c, uint32_t first, uint32_t n)
{
	uint32_t *lack = FAB_ARENA_NEW0(&c->scratch, c->f->n_switches, uint32_t);
	uint32_t *other = FAB_ARENA_NEW(&c->scratch, n, uint32_t), n_other = 0, most = 0;
	uint32_t *nodes = FAB_ARENA_NEW(&c->scratch, n, uint32_t), n_nodes = 0, own;
	struct missing *of = FAB_ARENA_NEW0(&c->scratch, n, struct missing);

	for (uint32_t i = 0; i < n && i < LOOKED_AT; i++) {
		of[i] = missing_of(c, c->findings[first + i].node);
		for (uint32_t k = 0; k < of[i].n; k++)
			if (++lack[of[i].to[k]] > lack[most])
				most = of[i].to[k];
	}
	for (uint32_t i = 0; i < n; i++) {
		bool lacks_it = false;

		for (uint32_t k = 0; k < of[i].n; k++)
			lacks_it |= of[i].to[k] == most;
		if (lacks_it && lack[most] >= COMMON)
			nodes[n_nodes++] = c->findings[first + i].node;
		else
			other[n_other++] = i;
	}
	if (n_nodes)
		say(c, first, n_nodes,
		    "\"%.64s\" (%s) lacks cables to %u switches with too few uplinks: %s",
		    fab_node_name(c->f, most), free_ports(c, most), n_nodes,
		    names_of(c, nodes, n_nodes, false));
	own = n_other <= OWN_LINES + 1 ? n_other : OWN_LINES;
	for (uint32_t i = 0; i < own; i++) {
		const struct missing *m = &of[other[i]];
		const struct fab_finding *x = &c->findings[first + other[i]];
		char *text = NULL;

		for (uint32_t k = 0; k < m->n && k < OWN_LINES; k++)
			fab_append(&text, ", ", "%u to \"%.64s\" (%s there)",
				   m->cables[k], fab_node_name(c->f, m->to[k]),
				   free_ports(c, m->to[k]));
		if (m->n > OWN_LINES)
			fab_append(&text, " and ", "%u more", m->n - OWN_LINES);
		if (text)
			say(c, first + other[i], 1,
			    "\"%.64s\" has %u of %u uplinks; missing: %s",
			    fab_node_name(c->f, x->node), m->n_up, m->n_usual, text);
		else
			say(c, first + other[i], 1, "%s", x->message);
		free(text);
	}
	for (uint32_t i = own; i < n_other; i++)
		nodes[i - own] = c->findings[first + other[i]].node;
	if (n_other > own)
		say(c, first + other[own], n_other - own,
		    "%u more switches with fewer uplinks than their level: %s",
		    n_other - own, names_of(c, nodes, n_other - own, false));
}

static void say_pairs(struct causer *c, uint32_t first, uint32_t n)
{
	const struct fab_fabric *f = c->f;
	uint32_t own = n <= OWN_LINES + 1 ? n : OWN_LINES, n_nodes, *nodes;

	for (uint32_t i = first; i < first + own; i++) {
		const struct fab_finding *x = &c->findings[i];
		uint32_t n_cables = 0;
		const char *usual = x->message, *at = usual;

		while ((at = strstr(at, " have ")))
			usual = at += 6;
		for (uint32_t e = f->arc_first[x->node]; e < f->arc_first[x->node + 1];
		     e++)
			n_cables += f->arc_peer[e] == x->peer_node;
		say(c, i, 1,
		    "\"%.64s\" and \"%.64s\" are joined by %u of %u cables (%s there, %s here)",
		    fab_node_name(f, x->node), fab_node_name(f, x->peer_node), n_cables,
		    (unsigned)strtoul(usual, NULL, 10), free_ports(c, x->peer_node),
		    free_ports(c, x->node));
	}
	nodes = nodes_of(c, first + own, n - own, &n_nodes);
	if (n > own)
		say(c, first + own, n - own,
		    "%u more pairs of switches with fewer cables than others, of %s",
		    n - own, names_of(c, nodes, n_nodes, false));
}

/* Ports without a LID: whole hosts, or single ports. */
static void say_lids(struct causer *c, uint32_t first, uint32_t n)
{
	const struct fab_fabric *f = c->f;
	uint32_t *missing = FAB_ARENA_NEW0(&c->scratch, f->n_hosts, uint32_t);
	uint32_t *whole = FAB_ARENA_NEW(&c->scratch, f->n_hosts, uint32_t), n_whole = 0;
	uint32_t n_hosts = 0, n_switches = 0;

	if (n <= OWN_LINES) {
		say_messages(c, first, n);
		return;
	}
	for (uint32_t i = first; i < first + n; i++) {
		uint32_t host = f->node_host[c->findings[i].node];

		n_switches += fab_node_is_switch(f, c->findings[i].node);
		if (host != FAB_NONE)
			n_hosts += !missing[host]++;
	}
	for (uint32_t h = 0; h < f->n_hosts; h++) {
		uint32_t n_cabled = 0;

		for (uint32_t i = f->host_first_adapter[h];
		     missing[h] && i < f->host_first_adapter[h + 1]; i++) {
			const uint32_t *port = &f->node_first_port[f->host_adapter[i]];

			for (uint32_t p = port[0]; p < port[1]; p++)
				n_cabled += f->port_cable[p] != FAB_NONE;
		}
		if (!missing[h] || missing[h] != n_cabled)
			continue;
		whole[n_whole++] = h;
	}
	say(c, first, n,
	    n_whole == n_hosts && n_hosts
		    ? "%u ports have no LID: all of %u host%s (%s)%s: down, or in another subnet?"
		    : "%u ports have no LID, on %u host%s (all of %s)%s: links down?",
	    n, n_hosts, plural(n_hosts),
	    n_whole ? names_of(c, whole, n_whole, true) : "none",
	    n_switches ? ", and switches" : "");
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
	{"few-uplinks", say_uplinks},
	{"few-cables", say_pairs},
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

/* Problems before notes, the most urgent first. */
static int by_urgency(const void *x, const void *y)
{
	const struct fab_cause *a = x, *b = y;
	size_t ka = kind_of(a->code), kb = kind_of(b->code);

	if (a->severity != b->severity)
		return a->severity == FAB_PROBLEM ? -1 : 1;
	return ka != kb ? (ka < kb ? -1 : 1)
			: (a->first > b->first) - (a->first < b->first);
}

struct fab_cause *fab_causes(const struct fab_fabric *f,
			     const struct fab_finding *findings, uint32_t n,
			     struct fab_arena *arena, uint32_t *n_causes)
{
	struct causer c = {.f = f, .findings = findings, .arena = arena};

	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i; end < n && !strcmp(findings[i].code, findings[end].code) &&
			      findings[i].severity == findings[end].severity;)
			end++;
		kinds[kind_of(findings[i].code)].say(&c, i, end - i);
		fab_arena_free(&c.scratch);
	}
	if (c.out.n)
		qsort(c.out.v, c.out.n, sizeof(*c.out.v), by_urgency);
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
