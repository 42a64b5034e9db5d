/* SPDX-License-Identifier: BSD-2-Clause */
/* Ends of planned cables, as ends in the fabric; then cables by their ends. */
#include "fabric/diff_plan.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/text.h"
#include "fabric/label.h"
#include "fabric/resolver.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* An end of a cable in terms of the fabric: node and port. A node that only the plan has
 * is numbered behind those of the fabric. */
typedef uint64_t end_key;

struct ends {
	end_key a, b;
};

/* Cables of the plan, or of the fabric. */
struct side {
	struct ends *ends;    /* [cables] a 0: not compared */
	struct fab_map64 *at; /* end: cable */
	uint32_t *twin;	      /* [cables] the same one of the other side, FAB_NONE */
};

struct matcher {
	const struct fab_fabric *plan, *found;
	struct fab_plan_diff *diff;
	struct fab_resolver *names;
	uint32_t *plan_of; /* [nodes found] node of the plan, FAB_NONE */
	bool *is_by_port;  /* [nodes planned] a host, whose ports are those of adapters */
	struct side planned, real;
	FAB_VEC(struct fab_wiring_change) changes;
	struct fab_arena arena;
};

bool fab_fabric_is_plan(const struct fab_fabric *f)
{
	return !strncmp(f->format, "plan", 4);
}

/* Nodes */

static int join(struct matcher *m, uint32_t planned, uint32_t found, struct fab_err *err)
{
	uint32_t other = m->plan_of[found];

	if (other != FAB_NONE && other != planned)
		return fab_fail(
			err, EINVAL,
			"%s: \"%s\" and \"%s\" are both \"%s\" in %s, expected one name for a device",
			m->plan->source, fab_node_name(m->plan, other),
			fab_node_name(m->plan, planned), fab_node_name(m->found, found),
			m->found->source);
	m->plan_of[found] = planned;
	m->diff->node_of[planned] = found;
	return 0;
}

static bool is_single(const struct matcher *m, uint32_t planned)
{
	return m->diff->node_of[planned] == FAB_NONE && !m->is_by_port[planned];
}

fab_node_id fab_plan_find_node(const struct fab_fabric *f,
			       const struct fab_resolver *names, const char *name)
{
	char label[FAB_LABEL_SIZE];
	size_t len = strlen(name);
	uint32_t id, node, host;
	uint64_t guid;

	if (!len)
		return FAB_NONE;
	if (!fab_resolve_text(names, FAB_WANT_SWITCH, name, len, &id, NULL))
		return id;
	if (fab_resolve_text(names, FAB_WANT_ADAPTER, name, len, &id, NULL))
		return FAB_NONE;
	node = f->port_node[id];
	host = f->node_host[node];
	if (fab_parse_guid(name, len, &guid))
		return guid && guid == f->node_guid[node] ? node : FAB_NONE;
	if (!strcasecmp(fab_label_short(fab_node_name(f, node), label, sizeof(label)),
			name))
		return node;
	if (host == FAB_NONE)
		return FAB_NONE;
	/* its host, not one of its ports */
	return !strcasecmp(fab_host_name(f, host), name) &&
			       f->host_first_adapter[host + 1] -
					       f->host_first_adapter[host] ==
				       1
		       ? node
		       : FAB_NONE;
}

/* "node1.cluster HCA-1": a domain begins with a letter. Returns the length of the key,
 * which is the name without it in lower case. */
static size_t stripped(const char *name, char key[FAB_LABEL_SIZE], bool *has_domain)
{
	char label[FAB_LABEL_SIZE];
	size_t n = 0, first;
	const char *rest, *domain;

	fab_label_short(name, label, sizeof(label));
	first = strcspn(label, " \t");
	domain = memchr(label, '.', first);
	*has_domain = domain && isalpha((unsigned char)domain[1]);
	rest = label + first;
	for (const char *p = label; *p; p++)
		if (!*has_domain || p < domain || p >= rest)
			key[n++] = (char)tolower((unsigned char)*p);
	key[n] = '\0';
	return n;
}

/* Names that differ in a domain which one side does not write. */
static int match_domains(struct matcher *m, struct fab_err *err)
{
	const struct fab_fabric *f = m->found;
	FAB_AUTO(fab_strmap_free_at)
	struct fab_strmap *by_name = fab_strmap_new(f->n_nodes);
	char key[FAB_LABEL_SIZE];
	bool domain, other;
	int rc = 0;

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		size_t n = stripped(fab_node_name(f, i), key, &domain);

		if (m->plan_of[i] == FAB_NONE && fab_strmap_put(by_name, key, n, i) != i)
			fab_strmap_set(by_name, key, n, FAB_SHARED);
	}
	for (uint32_t i = 0; i < m->plan->n_nodes && !rc; i++) {
		size_t n;
		uint32_t k;

		if (!is_single(m, i))
			continue;
		n = stripped(fab_node_name(m->plan, i), key, &domain);
		k = fab_strmap_get(by_name, key, n);
		if (!n || k >= FAB_SHARED || m->plan_of[k] != FAB_NONE)
			continue;
		(void)stripped(fab_node_name(f, k), key, &other);
		if (domain != other)
			rc = join(m, i, k, err);
	}
	return rc;
}

static int by_name(const void *x, const void *y, void *f)
{
	return fab_text_natural_cmp(fab_node_name(f, *(const uint32_t *)x),
				    fab_node_name(f, *(const uint32_t *)y));
}

/* Adapters of a host without a counterpart, in natural order. Returns how many. */
static uint32_t rest_of(struct matcher *m, bool of_plan, uint32_t host, uint32_t **out)
{
	const struct fab_fabric *f = of_plan ? m->plan : m->found;
	uint32_t first = f->host_first_adapter[host], n = 0;

	*out = FAB_ARENA_NEW(&m->arena, f->host_first_adapter[host + 1] - first,
			     uint32_t);
	for (uint32_t i = first; i < f->host_first_adapter[host + 1]; i++) {
		uint32_t node = f->host_adapter[i];

		if (of_plan ? is_single(m, node) : m->plan_of[node] == FAB_NONE)
			(*out)[n++] = node;
	}
	qsort_r(*out, n, sizeof(**out), by_name, (void *)(uintptr_t)f);
	return n;
}

/* Connected port number `num` of a host, its adapters in natural order; FAB_NONE. */
static uint32_t port_of_host(struct matcher *m, uint32_t host, uint32_t num)
{
	const struct fab_fabric *f = m->found;
	uint32_t first = f->host_first_adapter[host];
	uint32_t n = f->host_first_adapter[host + 1] - first;
	uint32_t *adapters = FAB_ARENA_NEW(&m->arena, n, uint32_t);

	memcpy(adapters, f->host_adapter + first, n * sizeof(*adapters));
	qsort_r(adapters, n, sizeof(*adapters), by_name, (void *)(uintptr_t)f);
	for (uint32_t i = 0; i < n; i++)
		FAB_EACH_PORT(f, adapters[i], p)
			if (fab_port_peer(f, p) != FAB_NONE && !--num)
				return p;
	return FAB_NONE;
}

/* The ends of the fabric that ports are: by node, or port K of a host by K. */
static void set_ends(struct matcher *m)
{
	const struct fab_fabric *plan = m->plan, *f = m->found;

	for (uint32_t p = 0; p < plan->n_ports; p++) {
		uint32_t node = plan->port_node[p], host, id;
		const char *name = fab_node_name(plan, node);

		m->diff->end_node[p] = m->diff->node_of[node];
		m->diff->end_port[p] = plan->port_num[p];
		if (m->diff->end_node[p] != FAB_NONE || !plan->port_num[p] ||
		    fab_resolve_text(m->names, FAB_WANT_HOST, name, strlen(name), &host,
				     NULL) ||
		    strcasecmp(fab_host_name(f, host), name) != 0)
			continue;
		id = port_of_host(m, host, plan->port_num[p]);
		if (id == FAB_NONE)
			continue;
		m->is_by_port[node] = true;
		m->diff->end_node[p] = f->port_node[id];
		m->diff->end_port[p] = f->port_num[id];
	}
}

static end_key key_of(const struct matcher *m, uint32_t port)
{
	uint64_t node = m->diff->end_node[port];

	if (node == FAB_NONE)
		node = (uint64_t)m->found->n_nodes + m->plan->port_node[port];
	return node << 16 | m->diff->end_port[port];
}

/* The node at the far end of the cable where a port of the plan should lead, FAB_NONE. */
static uint32_t node_at_place(const struct matcher *m, uint32_t planned)
{
	const struct fab_fabric *f = m->found;
	uint32_t peer = fab_port_peer(m->plan, planned), at;

	if (peer == FAB_NONE || m->diff->end_node[peer] == FAB_NONE)
		return FAB_NONE;
	at = fab_port_find(f, m->diff->end_node[peer], m->diff->end_port[peer]);
	at = at == FAB_NONE ? FAB_NONE : fab_port_peer(f, at);
	return at == FAB_NONE ? FAB_NONE : f->port_node[at];
}

static bool is_free_adapter(const struct matcher *m, uint32_t node, bool is_unnamed)
{
	const struct fab_fabric *f = m->found;

	return node != FAB_NONE && f->node_kind[node] == FAB_ADAPTER &&
	       m->plan_of[node] == FAB_NONE &&
	       fab_host_is_unnamed(f, f->node_host[node]) == is_unnamed;
}

static void join_by_host(struct matcher *m, uint32_t planned, uint32_t found)
{
	struct fab_err err;

	if (join(m, planned, found, &err))
		return;
	if (!m->diff->n_by_host++)
		m->diff->first_by_host = planned;
}

/* Adapters of a planned host that are not found by name: by place, then by order. */
static void match_host(struct matcher *m, uint32_t planned_host, uint32_t host)
{
	const struct fab_fabric *plan = m->plan, *f = m->found;
	uint32_t *a, *b, n, n_found;

	n = rest_of(m, true, planned_host, &a);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t p = plan->node_first_port[a[i]];
		     p < plan->node_first_port[a[i] + 1] && is_single(m, a[i]); p++) {
			uint32_t node = node_at_place(m, p);

			if (is_free_adapter(m, node, false) && f->node_host[node] == host)
				join_by_host(m, a[i], node);
		}
	n = rest_of(m, true, planned_host, &a);
	n_found = rest_of(m, false, host, &b);
	for (uint32_t i = 0; i < n && n == n_found; i++)
		join_by_host(m, a[i], b[i]);
}

/* The host of the fabric with the name of one of the plan, FAB_NONE. */
static uint32_t find_host(const struct matcher *m, const struct fab_strmap *hosts,
			  const char *name)
{
	const struct fab_fabric *f = m->found;
	char key[FAB_LABEL_SIZE];
	bool domain, other;
	uint32_t id;
	size_t n;

	if (!fab_resolve_text(m->names, FAB_WANT_HOST, name, strlen(name), &id, NULL))
		return strcasecmp(fab_host_name(f, id), name) ? FAB_NONE : id;
	n = stripped(name, key, &domain);
	id = fab_strmap_get(hosts, key, n);
	if (id >= FAB_SHARED)
		return FAB_NONE;
	(void)stripped(fab_host_name(f, id), key, &other);
	return domain != other ? id : FAB_NONE;
}

static void match_hosts(struct matcher *m)
{
	const struct fab_fabric *plan = m->plan, *f = m->found;
	FAB_AUTO(fab_strmap_free_at)
	struct fab_strmap *hosts = fab_strmap_new(f->n_hosts);
	char key[FAB_LABEL_SIZE];
	bool domain;

	for (uint32_t h = 0; h < f->n_hosts; h++) {
		size_t n = stripped(fab_host_name(f, h), key, &domain);

		if (fab_strmap_put(hosts, key, n, h) != h)
			fab_strmap_set(hosts, key, n, FAB_SHARED);
	}
	for (uint32_t h = 0; h < plan->n_hosts; h++) {
		bool is_named = false;
		uint32_t host;

		/* One adapter by its name: then the plan has the names of the fabric. */
		FAB_EACH_ADAPTER(plan, h, i)
			is_named |= !is_single(m, plan->host_adapter[i]);
		host = is_named ? FAB_NONE : find_host(m, hosts, fab_host_name(plan, h));
		if (host != FAB_NONE)
			match_host(m, h, host);
	}
}

static void match_unnamed(struct matcher *m)
{
	const struct fab_fabric *plan = m->plan;

	for (uint32_t i = plan->n_switches; i < plan->n_nodes; i++)
		for (uint32_t p = plan->node_first_port[i];
		     p < plan->node_first_port[i + 1] && is_single(m, i); p++) {
			uint32_t node = node_at_place(m, p);
			struct fab_err err;

			if (is_free_adapter(m, node, true) && !join(m, i, node, &err))
				m->diff->n_unnamed++;
		}
}

static int match_nodes(struct matcher *m, struct fab_err *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < m->plan->n_nodes && !rc; i++) {
		uint32_t node =
			fab_plan_find_node(m->found, m->names, fab_node_name(m->plan, i));

		if (node != FAB_NONE)
			rc = join(m, i, node, err);
	}
	if (!rc)
		rc = match_domains(m, err);
	if (rc)
		return rc;
	set_ends(m);
	match_hosts(m);
	match_unnamed(m);
	set_ends(m);
	return 0;
}

/* Cables */

/* The name of the director that a node is a module of, "core" of "core/L16/U2"; 0: none.
 */
static size_t director(const char *name, char label[FAB_LABEL_SIZE])
{
	const char *chip, *board;

	fab_label_short(name, label, FAB_LABEL_SIZE);
	chip = strrchr(label, '/');
	if (!chip || chip[1] != 'U' || !isdigit((unsigned char)chip[2]))
		return 0;
	board = memrchr(label, '/', (size_t)(chip - label));
	if (!board || (board[1] != 'L' && board[1] != 'S') ||
	    !isdigit((unsigned char)board[2]))
		return 0;
	return (size_t)(board - label);
}

bool fab_cable_is_inside(const struct fab_fabric *f, fab_cable_id cable)
{
	char a[FAB_LABEL_SIZE], b[FAB_LABEL_SIZE];
	size_t n = director(fab_node_name(f, f->port_node[f->cable_a[cable]]), a);

	return n && n == director(fab_node_name(f, f->port_node[f->cable_b[cable]]), b) &&
	       !strncasecmp(a, b, n);
}

static bool has_aggregation(const struct fab_fabric *f, uint32_t cable)
{
	return f->node_kind[f->port_node[f->cable_a[cable]]] == FAB_AGGREGATION ||
	       f->node_kind[f->port_node[f->cable_b[cable]]] == FAB_AGGREGATION;
}

bool fab_cable_is_planned(const struct fab_fabric *f, fab_cable_id cable)
{
	return !has_aggregation(f, cable) && !fab_cable_is_inside(f, cable);
}

static struct side side_new(struct fab_arena *arena, uint32_t n_cables)
{
	return (struct side){.ends = FAB_ARENA_NEW0(arena, n_cables, struct ends),
			     .at = fab_map64_new((size_t)n_cables * 2),
			     .twin = fab_arena_none(arena, n_cables)};
}

static void add_cable(struct side *s, uint32_t cable, end_key a, end_key b)
{
	s->ends[cable] = (struct ends){a, b};
	fab_map64_set(s->at, a, cable);
	fab_map64_set(s->at, b, cable);
}

/* Cables by both ends, those that are compared. */
static int list_cables(struct matcher *m, struct fab_err *err)
{
	const struct fab_fabric *plan = m->plan, *f = m->found;
	bool has_ports =
		!fab_fabric_is_plan(f) && strcmp(f->format, "ibnetdiscover-ports");

	for (uint32_t i = 0; i < plan->n_cables; i++) {
		const uint32_t ends[2] = {plan->cable_a[i], plan->cable_b[i]};

		if (!fab_cable_is_planned(plan, i))
			continue;
		for (int k = 0; k < 2; k++) {
			uint32_t node = m->diff->end_node[ends[k]];
			uint32_t port = m->diff->end_port[ends[k]];

			if (node == FAB_NONE)
				m->diff->is_unknown[plan->port_node[ends[k]]] = true;
			if (has_ports && node < f->n_switches &&
			    port > f->node_n_ports[node])
				return fab_fail(
					err, EINVAL,
					"%s: port %u of \"%s\", for port %u of \"%s\", is beyond the %u ports that the switch has in %s",
					plan->source, port,
					fab_node_name(plan, plan->port_node[ends[k]]),
					plan->port_num[ends[!k]],
					fab_node_name(plan, plan->port_node[ends[!k]]),
					f->node_n_ports[node], f->source);
		}
		add_cable(&m->planned, i, key_of(m, ends[0]), key_of(m, ends[1]));
		m->diff->n_planned++;
	}
	for (uint32_t i = 0; i < f->n_cables; i++) {
		uint32_t a = f->cable_a[i], b = f->cable_b[i];

		if (has_aggregation(f, i))
			continue;
		if (fab_cable_is_inside(f, i)) {
			m->diff->n_inside++;
			continue;
		}
		add_cable(&m->real, i, (uint64_t)f->port_node[a] << 16 | f->port_num[a],
			  (uint64_t)f->port_node[b] << 16 | f->port_num[b]);
	}
	return 0;
}

/* Devices that are not in the fabric: if none is, it is another fabric's plan. */
static int count_unknown(struct matcher *m, struct fab_err *err)
{
	uint32_t n_known = 0, first = 0;

	for (uint32_t i = m->plan->n_nodes; i-- > 0;)
		if (m->diff->is_unknown[i]) {
			m->diff->n_unknown++;
			first = i;
		}
	for (uint32_t p = 0; p < m->plan->n_ports; p++)
		n_known += m->diff->end_node[p] != FAB_NONE;
	if (n_known || !m->diff->n_unknown)
		return 0;
	return fab_fail(
		err, EINVAL,
		"%s: no device of the plan is in %s (the first: \"%s\"), expected the plan of this fabric",
		m->plan->source, m->found->source, fab_node_name(m->plan, first));
}

/* Is a cable compared, and has no counterpart yet? */
static bool is_open(const struct side *s, uint32_t cable)
{
	return s->ends[cable].a && s->twin[cable] == FAB_NONE;
}

/* Such a cable at this end; FAB_NONE. */
static uint32_t open_at(const struct side *s, end_key at)
{
	uint32_t i = fab_map64_get(s->at, at);

	return i != FAB_NONE && s->twin[i] == FAB_NONE ? i : FAB_NONE;
}

static end_key far_end(struct ends e, end_key near)
{
	return e.a == near ? e.b : e.a;
}

static void pair(struct matcher *m, uint32_t planned, uint32_t found)
{
	m->planned.twin[planned] = found;
	m->real.twin[found] = planned;
}

static void add(struct matcher *m, enum fab_wiring kind, uint32_t planned, uint32_t found)
{
	struct fab_wiring_change c = {
		.kind = kind,
		.planned = {planned, FAB_NONE},
		.found = {found, FAB_NONE},
		.kept_planned = {FAB_NONE, FAB_NONE},
		.kept_found = {FAB_NONE, FAB_NONE},
	};

	FAB_PUSH(&m->changes, c);
	m->diff->n_of[kind]++;
}

/* A planned cable, and the one that keeps the end `at` of it. */
static void set_kept(struct matcher *m, int k, uint32_t planned, uint32_t found,
		     end_key at)
{
	struct fab_wiring_change *c = &m->changes.v[m->changes.n - 1];

	c->planned[k] = planned;
	c->found[k] = found;
	c->kept_planned[k] = m->planned.ends[planned].a == at ? m->plan->cable_a[planned]
							      : m->plan->cable_b[planned];
	c->kept_found[k] = m->real.ends[found].a == at ? m->found->cable_a[found]
						       : m->found->cable_b[found];
}

/* Planned a-b, c-d, found a-d, c-b. */
static void find_swap(struct matcher *m, uint32_t p0)
{
	end_key a = m->planned.ends[p0].a, b = m->planned.ends[p0].b, c, d;
	uint32_t f0 = open_at(&m->real, a), p1, f1;

	if (f0 == FAB_NONE)
		return;
	d = far_end(m->real.ends[f0], a);
	p1 = open_at(&m->planned, d);
	if (p1 == FAB_NONE)
		return;
	c = far_end(m->planned.ends[p1], d);
	f1 = open_at(&m->real, c);
	if (f1 == FAB_NONE || far_end(m->real.ends[f1], c) != b)
		return;
	pair(m, p0, f0);
	pair(m, p1, f1);
	add(m, FAB_WIRING_MISWIRED, p0, f0);
	m->changes.v[m->changes.n - 1].is_swap = true;
	set_kept(m, 0, p0, f0, a);
	set_kept(m, 1, p1, f1, c);
}

/* The cable at one end of a planned one, instead of it. */
static void find_moved(struct matcher *m, uint32_t planned, end_key at)
{
	uint32_t found = is_open(&m->planned, planned) ? open_at(&m->real, at) : FAB_NONE;

	if (found == FAB_NONE)
		return;
	pair(m, planned, found);
	add(m, FAB_WIRING_MISWIRED, planned, found);
	set_kept(m, 0, planned, found, at);
}

static bool is_adapter(const struct matcher *m, end_key end)
{
	return end >> 16 >= m->found->n_switches && end >> 16 < m->found->n_nodes;
}

/* Both nodes, in ascending order, or that of the adapter; UINT64_MAX: none. */
static uint64_t nodes_of(const struct matcher *m, struct ends e, bool of_adapter)
{
	uint64_t a = e.a >> 16, b = e.b >> 16;

	if (!of_adapter)
		return a < b ? a << 32 | b : b << 32 | a;
	return is_adapter(m, e.a) ? a : is_adapter(m, e.b) ? b : UINT64_MAX;
}

/* Cables with no end where it was planned, but between the same nodes, or of the same
 * adapter. */
static void find_by_nodes(struct matcher *m, bool of_adapter)
{
	struct fab_map64 *first = fab_map64_new(0); /* nodes: first gained cable */
	uint32_t n = m->found->n_cables;
	uint32_t *next = FAB_ARENA_NEW(&m->arena, n, uint32_t);

	for (uint32_t i = n; i-- > 0;) {
		uint64_t key = nodes_of(m, m->real.ends[i], of_adapter);

		if (!is_open(&m->real, i) || key == UINT64_MAX)
			continue;
		next[i] = fab_map64_get(first, key);
		fab_map64_set(first, key, i);
	}
	for (uint32_t i = 0; i < m->plan->n_cables; i++) {
		uint64_t key = nodes_of(m, m->planned.ends[i], of_adapter);
		uint32_t found = fab_map64_get(first, key);

		if (!is_open(&m->planned, i) || key == UINT64_MAX || found == FAB_NONE)
			continue;
		pair(m, i, found);
		add(m, FAB_WIRING_MISWIRED, i, found);
		fab_map64_set(first, key, next[found]);
	}
	fab_map64_free(first);
}

static void compare_cables(struct matcher *m)
{
	uint32_t n = m->plan->n_cables, n_found = m->found->n_cables;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = m->planned.ends[i].a
				     ? open_at(&m->real, m->planned.ends[i].a)
				     : FAB_NONE;

		if (k == FAB_NONE || far_end(m->real.ends[k], m->planned.ends[i].a) !=
					     m->planned.ends[i].b)
			continue;
		pair(m, i, k);
		m->diff->n_as_planned++;
	}
	for (uint32_t i = 0; i < n; i++)
		if (is_open(&m->planned, i))
			find_swap(m, i);
	/* An adapter says more than the port of a switch. */
	for (int of_any = 0; of_any < 2; of_any++)
		for (uint32_t i = 0; i < n; i++) {
			if (is_open(&m->planned, i) &&
			    (of_any || is_adapter(m, m->planned.ends[i].b)))
				find_moved(m, i, m->planned.ends[i].b);
			if (is_open(&m->planned, i) &&
			    (of_any || is_adapter(m, m->planned.ends[i].a)))
				find_moved(m, i, m->planned.ends[i].a);
		}
	find_by_nodes(m, false);
	find_by_nodes(m, true);
	for (uint32_t i = 0; i < n; i++)
		if (is_open(&m->planned, i))
			add(m, FAB_WIRING_MISSING, i, FAB_NONE);
	for (uint32_t i = 0; i < n_found; i++)
		if (is_open(&m->real, i))
			add(m, FAB_WIRING_EXTRA, FAB_NONE, i);
}

FAB_ORDER(by_kind, struct fab_wiring_change, kind, planned[0], found[0])

int fab_plan_diff_new(const struct fab_fabric *plan, const struct fab_fabric *found,
		      struct fab_plan_diff **out, struct fab_err *err)
{
	struct fab_plan_diff *d = FAB_NEW0(1, struct fab_plan_diff);
	struct matcher m = {.plan = plan, .found = found, .diff = d};
	int rc;

	d->node_of = fab_arena_none(&d->arena, plan->n_nodes);
	d->first_by_host = FAB_NONE;
	d->end_node = fab_arena_none(&d->arena, plan->n_ports);
	d->end_port = FAB_ARENA_NEW0(&d->arena, plan->n_ports, uint16_t);
	d->is_unknown = FAB_ARENA_NEW0(&d->arena, plan->n_nodes, bool);
	m.plan_of = fab_arena_none(&m.arena, found->n_nodes);
	m.is_by_port = FAB_ARENA_NEW0(&m.arena, plan->n_nodes, bool);
	m.planned = side_new(&m.arena, plan->n_cables);
	m.real = side_new(&m.arena, found->n_cables);
	m.names = fab_resolver_new(found);
	rc = match_nodes(&m, err);
	if (!rc)
		rc = list_cables(&m, err);
	if (!rc)
		rc = count_unknown(&m, err);
	if (!rc) {
		compare_cables(&m);
		FAB_SORT(&m.changes, by_kind);
	}
	d->changes = m.changes.v;
	d->n_changes = (uint32_t)m.changes.n;
	fab_resolver_free(m.names);
	fab_map64_free(m.planned.at);
	fab_map64_free(m.real.at);
	fab_arena_free(&m.arena);
	if (rc)
		fab_plan_diff_free(d);
	else
		*out = d;
	return rc;
}

void fab_plan_diff_free(struct fab_plan_diff *diff)
{
	if (!diff)
		return;
	free(diff->changes);
	fab_arena_free(&diff->arena);
	free(diff);
}
