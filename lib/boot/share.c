/* SPDX-License-Identifier: BSD-2-Clause */
/* The capacity model: limits of transfers and equal shares of both. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/units.h"
#include "boot/impl.h"
#include "boot/share.h"

/* ---- limits ---- */

static const char *const names[FAB_N_LIMITS] = {"disk", "transfer", "connections"};

const char *fab_limit_name(enum fab_limit limit)
{
	return names[limit];
}

bool fab_limit_is_given(const struct fab_machine *m, enum fab_limit limit)
{
	const struct fab_limits *l = &m->limits;
	const bool is_given[FAB_N_LIMITS] = {l->disk_mbps > 0, l->flow_mbps > 0,
					     l->connections > 0};

	return is_given[limit];
}

void fab_limits_apply(struct fab_machine *m, const struct fab_limits *limits,
		      double efficiency)
{
	m->limits = *limits;
	for (uint32_t v = 0; v < m->n_vertices; v++) {
		uint32_t l = m->level_of[v];

		m->capacity_mbps[v] *= 1 - limits->reserved[l];
		m->capacity_mbps[v] -= limits->reserved_mbps[l];
		m->capacity_mbps[v] *= efficiency;
	}
}

uint32_t fab_limits_level(const struct fab_machine *m, const char *name, size_t len)
{
	for (uint32_t l = 1; l < m->n_levels; l++)
		if (strlen(m->level[l].segment) == len &&
		    !memcmp(m->level[l].segment, name, len))
			return l;
	return fab_machine_find_level(m, name, len);
}

/* LEVEL:VALUE */
static int read_limit(const struct fab_machine *m, const struct fab_item *item,
		      bool is_links, struct fab_limits *out, struct fab_err *err)
{
	const char *colon = memchr(item->text, ':', item->len), *value;
	size_t len = colon ? (size_t)(colon - item->text) : item->len, n;
	uint32_t l = fab_limits_level(m, item->text, len);
	uint64_t links;

	if (!colon || l == FAB_NONE || !l)
		return fab_fail(err, EINVAL,
				"'%.*s': expected LEVEL:VALUE, a level of the machine",
				item->len > 60 ? 60 : (int)item->len, item->text);
	value = colon + 1;
	n = item->len - len - 1;
	if (!is_links) {
		if (fab_parse_real(value, n, 0, 0.999999, &out->reserved[l]) ||
		    !fab_parse_rate_mbps(value, n, &out->reserved_mbps[l], NULL))
			return 0;
		return fab_fail(err, EINVAL,
				"'%.*s': expected a part from 0 to below 1, or a rate",
				n > 60 ? 60 : (int)n, value);
	}
	if (!fab_parse_u64(value, n, 2, FAB_LINKS_MAX, &links))
		return fab_fail(err, EINVAL, "'%.*s': expected links from 2 to %d",
				n > 60 ? 60 : (int)n, value, FAB_LINKS_MAX);
	out->links[l] = (uint32_t)links;
	if (links > out->most_links)
		out->most_links = (uint32_t)links;
	return 0;
}

static int read_list(const struct fab_machine *m, const char *list, bool is_links,
		     struct fab_limits *out, struct fab_err *err)
{
	const char *at = list;
	struct fab_item item;
	int rc = 0, found;

	while (list && !rc &&
	       (found = fab_list_next(&at, list + strlen(list), &item, err)) != 0)
		rc = found < 0 ? found : read_limit(m, &item, is_links, out, err);
	return rc;
}

int fab_limits_parse(const struct fab_machine *m, const char *links, const char *reserved,
		     struct fab_limits *out, struct fab_err *err)
{
	char name[FAB_MACHINE_NAME_BYTES];
	int rc = read_list(m, links, true, out, err);

	if (rc) {
		fab_err_prefix(err, "--set hashed");
		return rc;
	}
	rc = read_list(m, reserved, false, out, err);
	for (uint32_t v = 1; v < m->n_vertices && !rc; v++)
		if (out->reserved_mbps[m->level_of[v]] >=
		    m->capacity_mbps[v] * (1 - out->reserved[m->level_of[v]]))
			rc = fab_fail(err, EINVAL, "nothing of '%s' would be left",
				      fab_machine_vertex_name(m, v, name));
	if (rc)
		fab_err_prefix(err, "--set reserved");
	return rc;
}

void fab_limits_raise(const struct fab_machine *m, uint32_t doubled,
		      struct fab_machine *out)
{
	*out = *m;
	out->capacity_mbps = FAB_NEW(m->n_vertices, double);
	for (uint32_t v = 0; v < m->n_vertices; v++)
		out->capacity_mbps[v] =
			m->capacity_mbps[v] * (doubled >> m->level_of[v] & 1 ? 2 : 1);
	if (doubled & fab_limit_bit(FAB_LIMIT_DISK))
		out->limits.disk_mbps *= 2;
	if (doubled & fab_limit_bit(FAB_LIMIT_TRANSFER))
		out->limits.flow_mbps *= 2;
	if (doubled & fab_limit_bit(FAB_LIMIT_CONNECTIONS))
		out->limits.connections *= 2;
}

double fab_limits_transfer_mbps(const struct fab_machine *m,
				const struct fab_batch *batch)
{
	double most = 0;

	FAB_EACH_NODE(batch, node)
		most = fmax(most, fab_link_mbps(m, m->node_vertex[node]));
	return m->limits.flow_mbps > 0 ? fmin(most, m->limits.flow_mbps) : most;
}

uint64_t fab_limits_server_quota(const struct fab_machine *m, double transfer_mbps,
				 double bandwidth_mbps)
{
	const uint64_t most = UINT64_C(1000000000000000);
	uint64_t disk = most, served = most, k = m->limits.connections;

	if (m->limits.disk_mbps > 0)
		disk = fab_limits_quota(m->limits.disk_mbps, bandwidth_mbps);
	if (k) {
		uint64_t rounds = fab_limits_quota(transfer_mbps, bandwidth_mbps);

		served = rounds < most / k ? rounds * k : most;
	}
	return disk < served ? disk : served;
}

double fab_limits_connections_share(const struct fab_machine *m, double transfer_mbps,
				    uint32_t n)
{
	uint32_t k = m->limits.connections;

	return k ? transfer_mbps / ((n - 1) / k + 1) : (double)INFINITY;
}

double *fab_limits_interfaces(const struct fab_machine *m)
{
	double *rate = FAB_NEW((size_t)m->n_interfaces + 1, double);
	FAB_AUTOFREE uint32_t *n = FAB_NEW0((size_t)m->n_servers + 1, uint32_t);

	for (uint32_t i = 0; i < m->n_interfaces; i++)
		n[m->interface_server[i]]++;
	for (uint32_t i = 0; i < m->n_interfaces; i++) {
		uint32_t s = m->interface_server[i];

		rate[i] = m->capacity_mbps[m->interface_vertex[i]];
		if (m->limits.disk_mbps > 0)
			rate[i] = fmin(rate[i], m->limits.disk_mbps / n[s]);
		if (m->limits.connections && m->limits.flow_mbps > 0)
			rate[i] = fmin(rate[i], m->limits.connections *
							m->limits.flow_mbps / n[s]);
		if (m->server_is_down[s])
			rate[i] = 0;
	}
	return rate;
}

/* ---- shares ---- */

char *fab_share_segment_name(const struct fab_machine *m,
			     const struct fab_share_segment *segment, char *out,
			     size_t size)
{
	bool is_usual = segment->level == FAB_NONE ||
			segment->is_up == m->level[segment->level].is_server;

	snprintf(out, size, "%s%s", segment->name,
		 is_usual	  ? ""
		 : segment->is_up ? "-up"
				  : "-down");
	return out;
}

static void add_segments(const struct fab_machine *m, struct fab_share *out, bool is_up,
			 const uint32_t *sharers, const double *parts)
{
	struct fab_share_segment of_level[FAB_MACHINE_LEVELS_MAX];
	uint32_t most = fab_links_most(m);

	for (uint32_t l = 0; l < m->n_levels; l++)
		of_level[l] = (struct fab_share_segment){.level = l,
							 .is_up = is_up,
							 .part = 1,
							 .name = m->level[l].segment,
							 .vertex = FAB_NONE};
	for (uint32_t k = most; k < m->n_vertices * most; k++) {
		uint32_t v = most > 1 ? k / most : k, n = sharers[k];
		struct fab_share_segment *s = &of_level[m->level_of[v]];
		double share, part = parts ? parts[k] : 1;

		if (!n)
			continue;
		share = fab_link_mbps(m, v) / n;
		if (n > s->max_sharers)
			s->max_sharers = n;
		if (s->vertex == FAB_NONE || share * s->part < s->share_mbps * part) {
			s->vertex = v;
			s->part = part;
			s->capacity_mbps = fab_link_mbps(m, v);
			s->share_mbps = share;
		}
	}
	for (uint32_t k = 1; k < m->n_levels; k++) {
		uint32_t l = is_up ? k : m->n_levels - k;

		if (of_level[l].vertex != FAB_NONE && isfinite(of_level[l].share_mbps))
			out->segment[out->n_segments++] = of_level[l];
	}
}

static void add_limit(struct fab_share *share, enum fab_limit limit, uint32_t vertex,
		      uint32_t first_node, const struct fab_share_segment *s)
{
	struct fab_share_segment *own = &share->segment[share->n_segments];
	double own_pace = s->share_mbps / s->part, pace = fab_share_pace(share);

	if (!isfinite(s->share_mbps))
		return;
	*own = *s;
	own->level = FAB_NONE;
	own->name = fab_limit_name(limit);
	own->vertex = vertex;
	if (own_pace < pace)
		share->slowest_node = first_node;
	if (own_pace <= pace) {
		share->bandwidth_mbps = own->share_mbps;
		share->part = own->part;
		share->bottleneck = share->n_segments;
	}
	share->n_segments++;
}

/* Nodes of a server, and the largest of their images. */
struct served {
	uint32_t n;
	double part;
};

/* A limit of servers at the one that it holds back most, of equal ones where most nodes
 * are. */
static void add_server_limit(const struct fab_machine *m, const struct fab_batch *batch,
			     const uint32_t *interface_of, const struct served *served,
			     enum fab_limit limit, double flow, struct fab_share *share)
{
	struct fab_share_segment s = {.is_up = true, .share_mbps = INFINITY, .part = 1};
	uint32_t first = batch->node[0];

	s.capacity_mbps = limit == FAB_LIMIT_DISK ? m->limits.disk_mbps
						  : m->limits.connections * flow;
	FAB_EACH_NODE(batch, node) {
		const struct served *x = &served[m->interface_server[interface_of[node]]];
		double own = limit == FAB_LIMIT_DISK
				     ? m->limits.disk_mbps / x->n
				     : fab_limits_connections_share(m, flow, x->n);
		double here = own * s.part, before = s.share_mbps * x->part;

		if (fab_machine_part(m, node) < x->part || here > before ||
		    (here >= before && x->n <= s.max_sharers))
			continue;
		first = node;
		s.max_sharers = x->n;
		s.share_mbps = own;
		s.part = x->part;
	}
	add_limit(share, limit, m->interface_vertex[interface_of[first]], first, &s);
}

/* The limits as segments without a level behind those of the path. */
static void add_limits(const struct fab_machine *m, const struct fab_batch *batch,
		       const uint32_t *interface_of, struct fab_share *share)
{
	FAB_AUTOFREE struct served *served = NULL;
	double flow;
	uint32_t largest = batch->n ? batch->node[0] : 0;
	bool has_limit = false;

	for (enum fab_limit l = 0; l < FAB_N_LIMITS; l++)
		has_limit |= fab_limit_is_given(m, l);
	if (!batch->n || !has_limit)
		return;
	flow = fab_limits_transfer_mbps(m, batch);
	served = FAB_NEW0(m->n_servers, struct served);
	FAB_EACH_NODE(batch, node) {
		struct served *s = &served[m->interface_server[interface_of[node]]];

		s->n++;
		s->part = fmax(s->part, fab_machine_part(m, node));
		if (fab_machine_part(m, node) > fab_machine_part(m, largest))
			largest = node;
	}
	if (m->limits.flow_mbps > 0)
		add_limit(share, FAB_LIMIT_TRANSFER, m->node_vertex[largest], largest,
			  &(struct fab_share_segment){
				  .capacity_mbps = m->limits.flow_mbps,
				  .max_sharers = 1,
				  .share_mbps = m->limits.flow_mbps,
				  .part = fab_machine_part(m, largest)});
	for (enum fab_limit l = 0; l < FAB_N_LIMITS; l++)
		if (l != FAB_LIMIT_TRANSFER && fab_limit_is_given(m, l))
			add_server_limit(m, batch, interface_of, served, l, flow, share);
}

/* The largest image that crosses each link, where images differ; [links] down and up. */
static void find_parts(const struct fab_machine *m, const struct fab_batch *batch,
		       const uint32_t *interface_of, double *down, double *up)
{
	FAB_EACH_NODE(batch, node) {
		uint32_t to = m->node_vertex[node];
		uint32_t from = m->interface_vertex[interface_of[node]];

		for (struct fab_climb c = {to, from}; fab_climb_next(&c, m);) {
			double *part =
				&(c.is_up ? up : down)[fab_link_of(m, c.at, to, from)];

			*part = fmax(*part, fab_machine_part(m, node));
		}
	}
}

static inline void count(const struct fab_machine *m, bool has_one, uint32_t *down,
			 uint32_t *up, uint32_t to, uint32_t from, uint32_t more)
{
	for (struct fab_climb c = {to, from}; fab_climb_next(&c, m);) {
		uint32_t link = has_one ? c.at : fab_link_of(m, c.at, to, from);

		if (c.is_up)
			up[link] += more;
		else
			down[link] += more;
	}
}

void fab_share_count(const struct fab_machine *m, uint32_t *down, uint32_t *up,
		     uint32_t to, uint32_t from, uint32_t more)
{
	count(m, fab_links_most(m) == 1, down, up, to, from, more);
}

double fab_share_least(const struct fab_machine *m, const uint32_t *down,
		       const uint32_t *up, uint32_t to, uint32_t from)
{
	double least = INFINITY;

	for (struct fab_climb c = {to, from}; fab_climb_next(&c, m);) {
		double share = fab_link_mbps(m, c.at) /
			       (c.is_up ? up : down)[fab_link_of(m, c.at, to, from)];

		least = share < least ? share : least;
	}
	return least;
}

int fab_share_of(const struct fab_machine *m, const struct fab_batch *batch,
		 const uint32_t *interface_of, struct fab_share *out, struct fab_err *err)
{
	size_t n_links = (size_t)m->n_vertices * fab_links_most(m);
	FAB_AUTOFREE uint32_t *down = FAB_NEW0(n_links, uint32_t);
	FAB_AUTOFREE uint32_t *up = FAB_NEW0(n_links, uint32_t);
	FAB_AUTOFREE double *parts = m->image_part ? FAB_NEW0(2 * n_links, double) : NULL;
	bool has_one = fab_links_most(m) == 1;
	char name[FAB_MACHINE_NAME_BYTES];

	FAB_EACH_NODE(batch, node) {
		if (interface_of[node] >= m->n_interfaces)
			return fab_fail(err, EINVAL, "node '%s' has no server",
					fab_machine_node_name(m, node, name));
		count(m, has_one, down, up, m->node_vertex[node],
		      m->interface_vertex[interface_of[node]], 1);
	}
	*out = (struct fab_share){
		.bottleneck = FAB_NONE, .bandwidth_mbps = INFINITY, .part = 1};
	if (parts)
		find_parts(m, batch, interface_of, parts, parts + n_links);
	add_segments(m, out, false, down, parts);
	add_segments(m, out, true, up, parts ? parts + n_links : NULL);
	for (uint32_t i = 0; i < out->n_segments; i++) {
		const struct fab_share_segment *s = &out->segment[i];

		if (s->share_mbps * out->part <= out->bandwidth_mbps * s->part) {
			out->bandwidth_mbps = s->share_mbps;
			out->part = s->part;
			out->bottleneck = i;
		}
	}
	out->slowest_node = batch->n ? batch->node[0] : FAB_NONE;
	FAB_EACH_NODE(batch, node) {
		if (fab_share_least(m, down, up, m->node_vertex[node],
				    m->interface_vertex[interface_of[node]]) *
			    out->part <=
		    out->bandwidth_mbps * fab_machine_part(m, node)) {
			out->slowest_node = node;
			break;
		}
	}
	add_limits(m, batch, interface_of, out);
	return 0;
}

/* The least pace by limits: node by node, server by server. */
static double limits_brute(const struct fab_machine *m, const struct fab_batch *batch,
			   const uint32_t *interface_of)
{
	const struct fab_limits *l = &m->limits;
	double window = l->flow_mbps > 0 ? l->flow_mbps : (double)INFINITY;
	double flow = 0, least = INFINITY;

	FAB_EACH_NODE(batch, node) {
		double own = fab_link_mbps(m, m->node_vertex[node]);

		flow = fmax(flow, fmin(own, window));
		least = fmin(least, window / fab_machine_part(m, node));
	}
	for (uint32_t s = 0; s < m->n_servers && (l->disk_mbps > 0 || l->connections);
	     s++) {
		uint32_t n = 0, rounds = 0;
		double part = 0;

		FAB_EACH_NODE(batch, node) {
			if (m->interface_server[interface_of[node]] != s)
				continue;
			n++;
			part = fmax(part, fab_machine_part(m, node));
		}
		if (n && l->disk_mbps > 0)
			least = fmin(least, l->disk_mbps / n / part);
		for (uint32_t left = n; left && l->connections;
		     left -= left < l->connections ? left : l->connections)
			rounds++;
		if (rounds)
			least = fmin(least, flow / rounds / part);
	}
	return least;
}

double fab_share_slowest_brute(const struct fab_machine *m, const struct fab_batch *batch,
			       const uint32_t *interface_of)
{
	FAB_AUTO(fab_arena_free) struct fab_arena a = FAB_ARENA_INIT;
	uint32_t nv = m->n_vertices, most = fab_links_most(m), deepest = 0;
	uint32_t *depth = FAB_ARENA_NEW0(&a, nv, uint32_t);
	uint32_t *of_node = FAB_ARENA_NEW(&a, m->n_nodes, uint32_t);
	uint32_t *of_interface = FAB_ARENA_NEW(&a, m->n_interfaces, uint32_t);
	uint32_t *const sharers[] = {FAB_ARENA_NEW0(&a, (size_t)nv * most + 1, uint32_t),
				     FAB_ARENA_NEW0(&a, (size_t)nv * most + 1, uint32_t)};
	double least = limits_brute(m, batch, interface_of);

	for (uint32_t v = 1; v < nv; v++) {
		depth[v] = depth[m->parent[v]] + 1;
		deepest = depth[v] > deepest ? depth[v] : deepest;
	}
	/* count all nodes on all links, then look at those of each node */
	for (uint32_t k = 0; k < 2 * deepest; k++) {
		uint32_t d = k % deepest + 1;

		/* vertices of this depth that nodes and interfaces lie below, by range */
		memset(of_node, 0xff, m->n_nodes * sizeof(*of_node));
		memset(of_interface, 0xff, m->n_interfaces * sizeof(*of_interface));
		for (uint32_t v = 1; v < nv; v++) {
			for (uint32_t n = m->first_node[v];
			     n < m->end_node[v] && depth[v] == d; n++)
				of_node[n] = v;
			for (uint32_t i = m->first_interface[v];
			     i < m->end_interface[v] && depth[v] == d; i++)
				of_interface[i] = v;
		}
		FAB_EACH_NODE(batch, node) {
			uint32_t interface = interface_of[node];
			uint32_t x = of_node[node], y = of_interface[interface];
			uint32_t to = m->node_vertex[node];
			uint32_t from = m->interface_vertex[interface];

			const uint32_t at[] = {x == y || x == FAB_NONE ? 0 : x,
					       x == y || y == FAB_NONE ? 0 : y};

			for (int up = 0; up < 2; up++) {
				uint32_t *n =
					&sharers[up][fab_link_of(m, at[up], to, from)];

				*n += k < deepest;
				if (at[up] && k >= deepest)
					least = fmin(least,
						     fab_link_mbps(m, at[up]) / *n /
							     fab_machine_part(m, node));
			}
		}
	}
	return least;
}

/* ---- changes ---- */

static int cmp_growth(const void *a, const void *b)
{
	const struct fab_failover_server *x = a, *y = b;
	uint32_t gx = x->nodes - x->nodes_before, gy = y->nodes - y->nodes_before;

	if (gx != gy)
		return gx > gy ? -1 : 1;
	return x->server < y->server ? -1 : x->server > y->server;
}

static void failover_count(const struct fab_machine *m, const struct fab_batch *batch,
			   const uint32_t *interface_of, uint32_t *of_server)
{
	FAB_EACH_NODE(batch, node) {
		uint32_t interface = interface_of[node];

		if (interface < m->n_interfaces)
			of_server[m->interface_server[interface]]++;
	}
}

void fab_failover_of(const struct fab_machine *m, const struct fab_batch *batch,
		     const uint32_t *before, const uint32_t *after,
		     struct fab_failover *out)
{
	FAB_AUTOFREE uint32_t *old = FAB_NEW0(m->n_servers, uint32_t);
	FAB_AUTOFREE uint32_t *new = FAB_NEW0(m->n_servers, uint32_t);

	*out = (struct fab_failover){
		.grown = FAB_NEW(m->n_servers, struct fab_failover_server)};
	FAB_EACH_NODE(batch, node)
		out->n_moved +=
			after[node] < m->n_interfaces && before[node] != after[node];
	failover_count(m, batch, before, old);
	failover_count(m, batch, after, new);
	for (uint32_t s = 0; s < m->n_servers; s++)
		if (new[s] > old[s] && !m->server_is_down[s])
			out->grown[out->n++] =
				(struct fab_failover_server){s, old[s], new[s]};
	qsort(out->grown, out->n, sizeof(*out->grown), cmp_growth);
}

void fab_failover_fini(struct fab_failover *failover)
{
	free(failover->grown);
	*failover = (struct fab_failover){0};
}
