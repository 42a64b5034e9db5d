/* SPDX-License-Identifier: BSD-2-Clause */
/* The hierarchy of a fabric: ranks of switches above its hosts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/sets.h"
#include "base/text.h"
#include "boot/impl.h"
#include "fabric/fabric.h"
#include "fabric/label.h"
#include "fabric/planes.h"
#include "fabric/ranks.h"
#include "fabric/resolver.h"
#include "fabric/shape.h"

struct fabric_reader {
	const struct fab_fabric *f;
	const struct fab_machine_servers *servers;
	struct fab_machine_builder b;
	struct fab_ranks ranks;
	uint32_t *above;     /* [n_switches] raw vertex above a leaf's vertex */
	uint32_t *leaf;	     /* [n_switches] raw vertex of a switch with hosts */
	uint32_t *server_of; /* [n_hosts] number of the server, FAB_NONE */
	struct fab_planes *planes;
	uint32_t part; /* the plane that all boot over */
};

static int choose_servers(struct fabric_reader *r, struct fab_err *err)
{
	const struct fab_lookup hosts =
		fab_resolver_lookup(r->b.m->resolver, FAB_WANT_HOST);
	struct fab_machine *m = r->b.m;
	FAB_AUTOFREE struct fab_ids ids = {0};
	int rc = 0;

	for (size_t i = 0; i < r->servers->n && !rc; i++)
		rc = fab_lookup_list(&hosts, r->servers->patterns[i],
				     strlen(r->servers->patterns[i]), &ids, NULL, err);
	if (rc)
		fab_err_prefix(err, "servers");
	for (size_t i = 0; i < ids.of.n; i++)
		r->server_of[ids.of.v[i]] = 0;
	for (size_t i = 0; i < r->servers->n_hosts; i++)
		r->server_of[r->servers->hosts[i]] = 0;
	m->server_host = FAB_ARENA_NEW(&m->arena, (size_t)r->f->n_hosts + 1, uint32_t);
	for (uint32_t h = 0; h < r->f->n_hosts; h++)
		if (r->server_of[h] != FAB_NONE) {
			m->server_host[m->n_servers] = h;
			r->server_of[h] = m->n_servers++;
		}
	return rc || m->n_servers ? rc : fab_fail(err, EINVAL, "no server is named");
}

static int cable_mbps(const struct fabric_reader *r, uint32_t cable, double *mbps,
		      struct fab_err *err)
{
	const struct fab_fabric *f = r->f;

	*mbps = (r->servers->is_signalling ? fab_cable_gbps(f, cable)
					   : fab_cable_data_gbps(f, cable)) *
		1000;
	if (!(*mbps > 0))
		*mbps = r->servers->default_mbps;
	if (*mbps > 0)
		return 0;
	return fab_fail(
		err, EINVAL,
		"the speed of the cable at port %u of '%.80s' is not known; --set default-rate=RATE gives one",
		f->port_num[f->cable_a[cable]],
		fab_node_name(f, f->port_node[f->cable_a[cable]]));
}

/* Cables of a part (all its switches) to switches outside of it that are higher up. */
static int sum_up(struct fabric_reader *r, uint32_t *part, uint32_t rank,
		  const uint32_t *vertex, struct fab_err *err)
{
	const struct fab_fabric *f = r->f;
	FAB_AUTOFREE double *least = FAB_NEW0(f->n_switches, double);
	FAB_AUTOFREE double *most = FAB_NEW0(f->n_switches, double);
	int rc = 0;

	for (uint32_t s = 0; s < f->n_switches && !rc; s++) {
		uint32_t own = fab_sets_root(part, s);

		if (vertex[own] == FAB_NONE || (rank && r->ranks.rank[s] > rank))
			continue;
		for (uint32_t a = f->arc_first[s]; a < f->arc_first[s + 1] && !rc; a++) {
			double mbps = 0;

			if (fab_sets_root(part, f->arc_peer[a]) == own)
				continue;
			rc = cable_mbps(r, f->arc_cable[a], &mbps, err);
			r->b.raw.v[vertex[own]].capacity_mbps += mbps;
			/* in the end those of the lowest rank */
			r->b.m->port_vertex[fab_arc_port(f, s, a)] = vertex[own];
			least[own] =
				least[own] > 0 && least[own] < mbps ? least[own] : mbps;
			most[own] = most[own] > mbps ? most[own] : mbps;
		}
		if (!rank && most[own] > least[own])
			FAB_PUSH(
				&r->b.warnings,
				fab_arena_format(
					&r->b.m->arena,
					"the cables up from '%.80s' differ: %g to %g Mb/s; counted as their sum",
					fab_node_name(f, s), least[own], most[own]));
	}
	return rc;
}

/* Parts joined by cables of switches of no higher rank, as base/sets.h has it; how many
 * of these parts have leaf switches. */
static uint32_t join_up_to(const struct fabric_reader *r, uint32_t rank, uint32_t *part)
{
	const struct fab_fabric *f = r->f;
	FAB_AUTOFREE bool *is_seen = FAB_NEW0(f->n_switches + 1, bool);
	uint32_t n = 0;

	for (uint32_t s = 0; s < f->n_switches; s++)
		part[s] = s;
	for (uint32_t s = 0; s < f->n_switches && rank; s++)
		FAB_EACH_ARC(f, s, a)
			if (r->ranks.rank[s] <= rank &&
			    r->ranks.rank[f->arc_peer[a]] <= rank)
				fab_sets_unite(part, s, f->arc_peer[a]);
	for (uint32_t s = 0; s < f->n_switches; s++) {
		bool *seen = &is_seen[fab_sets_root(part, s)];

		if (r->leaf[s] == FAB_NONE)
			continue;
		n += !*seen;
		*seen = true;
	}
	return n;
}

/* The parts that are left without the ranks above `rank`; with rank 0 single switches. */
static int add_rank(struct fabric_reader *r, uint32_t rank, struct fab_err *err)
{
	const struct fab_fabric *f = r->f;
	uint32_t n, level;
	FAB_AUTOFREE uint32_t *part = FAB_NEW(f->n_switches + 1, uint32_t);
	FAB_AUTOFREE uint32_t *vertex = fab_none_new(f->n_switches + 1);
	char unit[16];

	n = join_up_to(r, rank, part);
	if (rank && n <= 1)
		return 0;
	snprintf(unit, sizeof(unit),
		 rank == 0   ? "leaf"
		 : rank == 1 ? "pod"
			     : "tier%u",
		 rank);
	level = fab_machine_builder_level(&r->b, unit, strlen(unit), false);
	for (uint32_t s = 0; s < f->n_switches; s++) {
		uint32_t own = fab_sets_root(part, s);

		if (r->leaf[s] == FAB_NONE)
			continue;
		if (vertex[own] == FAB_NONE) {
			vertex[own] = (uint32_t)r->b.raw.n;
			FAB_PUSH(&r->b.raw, fab_raw_vertex(r->above[s], 0, level,
							   FAB_VERTEX_SWITCH));
			r->b.raw.v[vertex[own]].name = rank ? NULL : fab_node_name(f, s);
		}
		r->above[s] = vertex[own];
	}
	return sum_up(r, part, rank, vertex, err);
}

static int add_ranks(struct fabric_reader *r, struct fab_err *err)
{
	const struct fab_fabric *f = r->f;

	for (uint32_t c = f->n_switch_links; c < f->n_switch_links + f->n_host_links;
	     c++) {
		uint32_t node = f->port_node[f->cable_b[c]];
		uint32_t sw = f->port_node[f->cable_a[c]];

		if (f->node_host[node] != FAB_NONE && r->planes->of_switch[sw] == r->part)
			r->leaf[sw] = 0;
	}
	/* the top rank joins everything: it is the root */
	for (uint32_t t = r->ranks.n_ranks > 1 ? r->ranks.n_ranks - 1 : 1; t-- > 0;) {
		int rc = t <= FAB_MACHINE_LEVELS_MAX - 5 ? add_rank(r, t, err) : 0;

		if (rc)
			return rc;
	}
	/* a single switch has nothing above it */
	for (size_t v = 1; v < r->b.raw.n; v++)
		if (!(r->b.raw.v[v].capacity_mbps > 0))
			r->b.raw.v[v].capacity_mbps = __builtin_inf();
	return 0;
}

/* A host that has no port on the plane that is booted over. Returns -EINVAL. */
static int not_there(const struct fabric_reader *r, uint32_t host, const char *what,
		     struct fab_err *err)
{
	char here[FAB_PLANE_TEXT_SIZE], there[FAB_PLANE_TEXT_SIZE];
	const struct fab_fabric *f = r->f;
	uint32_t part = FAB_NONE;
	bool is_parallel;

	/* the first part, in the order of its adapters, that the host is on */
	FAB_EACH_HOST_PORT(f, host, p)
		if (part == FAB_NONE)
			part = fab_planes_of_port(r->planes, f, p);
	is_parallel =
		part != FAB_NONE && fab_planes_are_parallel(r->planes, part, r->part);
	if (part == FAB_NONE)
		return fab_fail(err, EINVAL, "%s '%.100s' has no cable to a switch", what,
				fab_host_name(r->f, host));
	fab_plane_text(r->planes, part, here);
	fab_plane_text(r->planes, r->part, there);
	if (r->server_of[host] != FAB_NONE)
		return fab_fail(
			err, EINVAL,
			"server '%.100s' is on %s and has no path to nodes, which boot over %s%s",
			fab_host_name(r->f, host), here, there,
			is_parallel ? "; --hca=PATTERN chooses one plane" : "");
	return fab_fail(
		err, EINVAL,
		"node '%.100s' has no path to any server: it is on %s, server '%.100s' on %s%s",
		fab_host_name(r->f, host), here,
		fab_host_name(r->f, r->b.m->server_host[0]), there,
		is_parallel ? "; --hca=PATTERN chooses one plane" : "");
}

/* Hosts of each kind on a part: those that could be, and those that it comes first for.
 */
struct part_score {
	uint32_t nodes, servers, first;
};

/* Count a host at each part that it is on; `seen` [parts] holds the last host of each. */
static void score_host(const struct fabric_reader *r, uint32_t host, uint32_t *seen,
		       struct part_score *score)
{
	const struct fab_fabric *f = r->f;
	bool is_first = true;

	FAB_EACH_HOST_PORT(f, host, p) {
		uint32_t part = fab_planes_of_port(r->planes, f, p);

		if (part == FAB_NONE || seen[part] == host)
			continue;
		seen[part] = host;
		if (r->server_of[host] != FAB_NONE)
			score[part].servers++;
		else
			score[part].nodes++;
		score[part].first += is_first;
		is_first = false;
	}
}

static int cmp_score(const struct part_score *a, const struct part_score *b)
{
	if (!a->servers != !b->servers)
		return a->servers ? 1 : -1;
	FAB_ORDER_BY(a, b, nodes);
	FAB_ORDER_BY(a, b, servers);
	FAB_ORDER_BY(a, b, first);
	return 0;
}

/*
 * Adapters do not forward: nodes and servers meet on one plane. Take that on which most
 * nodes, then most servers are, then that of their first adapters.
 */
static void choose_plane(struct fabric_reader *r)
{
	uint32_t n = r->planes->n, n_on = 0;
	FAB_AUTOFREE struct part_score *score = FAB_NEW0(n, struct part_score);
	FAB_AUTOFREE uint32_t *seen = fab_none_new(n);
	char name[FAB_PLANE_TEXT_SIZE];

	for (uint32_t h = 0; h < r->f->n_hosts; h++)
		if (r->server_of[h] != FAB_NONE || !fab_host_is_unnamed(r->f, h))
			score_host(r, h, seen, score);
	for (uint32_t i = 0; i < n; i++) {
		n_on += score[i].nodes && score[i].servers;
		if (cmp_score(&score[i], &score[r->part]) > 0)
			r->part = i;
	}
	if (n_on > 1)
		FAB_PUSH(
			&r->b.warnings,
			fab_arena_format(
				&r->b.m->arena,
				"nodes and servers share %u planes: they boot over %s (--hca=PATTERN chooses another)",
				n_on, fab_plane_text(r->planes, r->part, name)));
}

/* By the names of adapters as people count, then by number: the order of a dump differs
 * from one day to the next. */
static int cmp_port(const void *x, const void *y, void *context)
{
	const struct fab_fabric *f = *(const struct fab_fabric *const *)context;
	uint32_t p = *(const uint32_t *)x, q = *(const uint32_t *)y;
	uint32_t a = f->port_node[p], b = f->port_node[q];
	int order =
		a == b ? 0
		       : fab_text_natural_cmp(fab_node_name(f, a), fab_node_name(f, b));

	if (!order && f->node_guid[a] != f->node_guid[b])
		order = f->node_guid[a] < f->node_guid[b] ? -1 : 1;
	return order ? order : (p > q) - (p < q);
}

/* Ports of the host on the plane, in that order. */
static void usable_ports(const struct fabric_reader *r, uint32_t host,
			 struct fab_ids *out)
{
	const struct fab_fabric *f = r->f;

	out->of.n = 0;
	FAB_EACH_HOST_PORT(f, host, p) {
		uint32_t sw = fab_port_switch(f, p);

		if (sw != FAB_NONE && r->above[sw] && r->planes->of_switch[sw] == r->part)
			FAB_PUSH(&out->of, p);
	}
	if (out->of.n > 1)
		qsort_r(out->of.v, out->of.n, sizeof(*out->of.v), cmp_port, &f);
}

/* Every port of a server is an interface; a node boots over its first one. */
static int add_host(struct fabric_reader *r, uint32_t host, uint32_t level,
		    struct fab_ids *ports, struct fab_err *err)
{
	const char *name = fab_host_name(r->f, host);
	bool is_server = r->server_of[host] != FAB_NONE;
	int rc = 0;

	usable_ports(r, host, ports);
	if (!ports->of.n)
		return not_there(r, host, is_server ? "server" : "node", err);
	for (size_t i = 0; i < (is_server ? ports->of.n : 1) && !rc; i++) {
		uint32_t port = ports->of.v[i];
		struct fab_raw_vertex v = fab_raw_vertex(
			r->above[fab_port_switch(r->f, port)], 0, level,
			is_server ? FAB_VERTEX_INTERFACE : FAB_VERTEX_NODE);

		rc = cable_mbps(r, r->f->port_cable[port], &v.capacity_mbps, err);
		v.owner = is_server ? r->server_of[host] : host;
		v.port = port;
		v.name = i ? fab_arena_format(&r->b.m->arena, "%s/%zu", name, i + 1)
			   : name;
		FAB_PUSH(&r->b.raw, v);
	}
	return rc;
}

/* Servers, then nodes; adapters without a name, which no file of a boot server can hold,
 * are left out. */
static int add_hosts(struct fabric_reader *r, struct fab_err *err)
{
	const struct fab_rates rates =
		fab_rates_of(r->f, 0, r->f->n_switch_links + r->f->n_host_links);
	uint32_t node = fab_machine_builder_level(&r->b, "node", 4, false), n = 0;
	uint32_t server = fab_machine_builder_level(&r->b, "server", 6, true);
	struct fab_machine *m = r->b.m;
	FAB_AUTOFREE struct fab_ids ports = {0};
	FAB_AUTOFREE char *text = NULL;
	int rc = 0;

	for (uint32_t h = 0; h < r->f->n_hosts && !rc; h++)
		if (r->server_of[h] != FAB_NONE)
			rc = add_host(r, h, server, &ports, err);
	for (uint32_t h = 0; h < r->f->n_hosts && !rc; h++)
		if (r->server_of[h] == FAB_NONE && fab_host_is_unnamed(r->f, h))
			n++;
		else if (r->server_of[h] == FAB_NONE)
			rc = add_host(r, h, node, &ports, err);
	if (rc)
		return rc;
	text = fab_rates_unknown_text(r->f, &rates);
	if (text)
		FAB_PUSH(&r->b.warnings,
			 fab_arena_format(&m->arena,
					  "of the cables %s: %g Mb/s is assumed", text,
					  r->servers->default_mbps));
	m->n_unnamed = n;
	if (n)
		FAB_PUSH(
			&r->b.warnings,
			fab_arena_format(
				&m->arena,
				"%u adapter%s without a name %s left out of the nodes that boot",
				n, n == 1 ? "" : "s", n == 1 ? "is" : "are"));
	return 0;
}

int fab_machine_of_fabric(const struct fab_fabric *f,
			  const struct fab_machine_servers *servers,
			  struct fab_machine **out, struct fab_err *err)
{
	FAB_AUTO(fab_arena_free) struct fab_arena a = FAB_ARENA_INIT;
	struct fabric_reader r = {
		.f = f,
		.servers = servers,
		.above = FAB_ARENA_NEW0(&a, (size_t)f->n_switches + 1, uint32_t),
		.leaf = fab_arena_none(&a, (size_t)f->n_switches + 1),
		.server_of = fab_arena_none(&a, (size_t)f->n_hosts + 1),
		.planes = fab_planes_new(f)};
	FAB_AUTO(fab_shape_free_at) struct fab_shape *shape = fab_shape_recognize(f);
	int rc;

	fab_machine_builder_init(&r.b, f->source);
	r.b.m->fabric = f;
	r.b.m->port_vertex = fab_arena_none(&r.b.m->arena, (size_t)f->n_ports + 1);
	r.b.m->resolver = servers->resolver ? servers->resolver : fab_resolver_new(f);
	fab_ranks_init(&r.ranks, f, shape);
	rc = choose_servers(&r, err);
	if (!rc) {
		choose_plane(&r);
		rc = add_ranks(&r, err);
	}
	if (!rc)
		rc = add_hosts(&r, err);
	rc = fab_machine_builder_finish(&r.b, rc, out, err);
	fab_ranks_fini(&r.ranks);
	fab_planes_free(r.planes);
	return rc;
}
