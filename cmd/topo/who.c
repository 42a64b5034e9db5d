/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-topo --who: what has a LID, a GUID or a name, and where it is, in one line. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "fabric/ranks.h"
#include "fabric/resolver.h"
#include "fabric/shape.h"
#include "topo.h"

enum { PORTS_NAMED = 3 };

/* A row of a table: a port, or a switch. */
struct record {
	const char *kind, *name, *host, *peer, *speed;
	uint64_t guid, port, lid, peer_guid, peer_port, width;
};

static const struct fab_column columns[] = {
	FAB_COLUMN(kind, TEXT, "switch, adapter, aggregation node or router"),
	FAB_COLUMN(name, TEXT, "its name"),
	FAB_COLUMN(guid, GUID, "its node GUID"),
	FAB_COLUMN_AS(port, UINT, "number of the port; none: the switch itself",
		      FAB_COL_NULL_ZERO),
	FAB_COLUMN_AS(lid, UINT, "LID of the port or switch", FAB_COL_NULL_ZERO),
	FAB_COLUMN(host, TEXT, "host of an adapter"),
	FAB_COLUMN(peer, TEXT, "what the cable of the port leads to"),
	FAB_COLUMN_AS(peer_guid, GUID, "its node GUID", FAB_COL_NULL_ZERO),
	FAB_COLUMN_AS(peer_port, UINT, "its port", FAB_COL_NULL_ZERO),
	FAB_COLUMN(speed, TEXT, "speed of the cable, the lower of its ends"),
	FAB_COLUMN_AS(width, UINT, "lanes of the cable", FAB_COL_NULL_ZERO),
};

struct found {
	FAB_VEC(uint32_t) ports; /* of a switch: its port 0 */
	bool is_host;
};

/* All cabled ports of a node. */
static void add_ports(struct found *o, const struct fab_fabric *f, uint32_t node)
{
	FAB_EACH_PORT(f, node, p)
		if (f->port_cable[p] != FAB_NONE)
			FAB_PUSH(&o->ports, p);
}

/* A number is a LID unless something has it as its name. */
static bool is_number(const char *text)
{
	while (isdigit((unsigned char)*text))
		text++;
	return !*text;
}

/* The end of a cable that its name SWITCH:PORT begins with. */
static uint32_t named_end(const struct fab_fabric *f, const struct fab_resolver *names,
			  const char *text, uint32_t cable)
{
	size_t len = strlen(text);
	uint32_t sw, b = f->cable_b[cable];

	while (len && text[len - 1] != ':' && text[len - 1] != '/')
		len--;
	if (!len || fab_resolve_text(names, FAB_WANT_SWITCH, text, len - 1, &sw, NULL))
		return f->cable_a[cable];
	if (f->port_node[b] == sw && f->port_num[b] == strtoul(text + len, NULL, 10))
		return b;
	return f->cable_a[cable];
}

static int solve(struct fab_work *w, struct fab_err *err)
{
	const struct topo_params *p = w->params;
	const struct fab_fabric *f = w->f;
	struct found *o = w->outcome;
	FAB_AUTO(fab_resolver_free_at)
	struct fab_resolver *names = fab_resolver_new(f);
	const char *lid = fab_arena_format(w->arena, "lid:%s", p->who);
	uint32_t id, port = FAB_NONE;
	enum fab_member_kind kind = FAB_MEMBER_PORT;
	int rc = fab_resolve_text(names, FAB_WANT_MEMBER, p->who, strlen(p->who), &id,
				  err);

	if (rc == -ENOENT && is_number(p->who))
		rc = fab_resolve_text(names, FAB_WANT_MEMBER, lid, strlen(lid), &id, err);
	if (!rc) {
		port = fab_member_port(f, id, &kind);
	} else if (rc == -ENOENT && strpbrk(p->who, ":/")) {
		rc = fab_resolve_text(names, FAB_WANT_CABLE, p->who, strlen(p->who), &id,
				      err);
		port = rc ? FAB_NONE : named_end(f, names, p->who, id);
	}
	if (rc) {
		fab_err_prefix(err, "--who");
		return rc;
	}
	o->is_host = kind == FAB_MEMBER_HOST;
	if (o->is_host)
		for (uint32_t h = f->node_host[f->port_node[port]],
			      i = f->host_first_adapter[h];
		     i < f->host_first_adapter[h + 1]; i++)
			add_ports(o, f, f->host_adapter[i]);
	else if (kind == FAB_MEMBER_ADAPTER)
		add_ports(o, f, f->port_node[port]);
	else
		FAB_PUSH(&o->ports, port);
	return FAB_EXIT_DONE;
}

/* "leaf switch, 20 host cables and 20 cables to switches" */
static const char *place_of(const struct fab_work *w, uint32_t sw)
{
	const struct fab_fabric *f = w->f;
	FAB_AUTO(fab_shape_free_at) struct fab_shape *shape = fab_shape_recognize(f);
	uint32_t n_arcs = f->arc_first[sw + 1] - f->arc_first[sw], rank;
	uint32_t *n_hosts = FAB_ARENA_NEW(w->arena, f->n_switches, uint32_t);
	FAB_AUTO(fab_ranks_fini) struct fab_ranks ranks;
	bool is_root;

	fab_ranks_init(&ranks, f, shape);
	fab_ranks_count_hosts(f, n_hosts);
	rank = ranks.rank[sw];
	is_root = ranks.is_root[sw];
	return fab_arena_format(
		w->arena, "%s of %u ports, %s and %s to %u switch%s",
		rank == 0	   ? "leaf switch"
		: rank == FAB_NONE ? "switch"
		: is_root	   ? "root switch"
			  : fab_arena_format(w->arena, "switch of rank %u", rank),
		f->node_n_ports[sw],
		fab_human_counted(w->arena, n_hosts[sw], "host cable", NULL),
		fab_human_counted(w->arena, n_arcs, "cable", NULL),
		f->peer_first[sw + 1] - f->peer_first[sw],
		f->peer_first[sw + 1] - f->peer_first[sw] == 1 ? "" : "es");
}

static const char *lid_of(const struct fab_work *w, uint32_t port)
{
	uint16_t lid = w->f->port_lid[port];

	return lid && lid != UINT16_MAX ? fab_arena_format(w->arena, ", LID %u", lid)
					: ", no LID";
}

/* "port 3 of "leaf1", 4xHDR" */
static const char *peer_of(const struct fab_work *w, uint32_t port)
{
	const struct fab_fabric *f = w->f;
	uint32_t peer = fab_port_peer(f, port), cable = f->port_cable[port];

	if (peer == FAB_NONE)
		return "no cable";
	return fab_arena_format(w->arena, "port %u of \"%s\", %ux%s", f->port_num[peer],
				fab_node_name(f, f->port_node[peer]),
				fab_cable_width(f, cable),
				fab_speed_name(fab_cable_speed(f, cable)));
}

static void answer_many(struct fab_report *r, const struct fab_work *w)
{
	const struct found *o = w->outcome;
	const struct fab_fabric *f = w->f;
	uint32_t node = f->port_node[o->ports.v[0]], host = f->node_host[node];
	FAB_AUTOFREE char *text = NULL;
	size_t n = o->ports.n;

	for (size_t i = 0; i < n && i < PORTS_NAMED; i++)
		fab_append(&text, "; ", "%s on %s",
			   fab_node_name(f, f->port_node[o->ports.v[i]]),
			   peer_of(w, o->ports.v[i]));
	fab_report_answer(
		r, FAB_TONE_PLAIN, "%s %s: %s: %s%s.", o->is_host ? "Host" : "Adapter",
		o->is_host ? fab_host_name(f, host) : fab_node_name(f, node),
		fab_human_counted(w->arena, n, "cabled port", NULL), text,
		n > PORTS_NAMED
			? fab_arena_format(w->arena, "; and %zu more (--format=csv)",
					   n - PORTS_NAMED)
			: "");
}

static void answer(struct fab_report *r, const struct fab_work *w)
{
	const struct found *o = w->outcome;
	const struct fab_fabric *f = w->f;
	uint32_t port = o->ports.v[0], node = f->port_node[port];
	unsigned long long guid = f->node_guid[node];
	bool is_switch = fab_node_is_switch(f, node);
	uint32_t host = f->node_host[node];

	if (o->ports.n > 1)
		answer_many(r, w);
	else if (is_switch && !f->port_num[port])
		fab_report_answer(r, FAB_TONE_PLAIN, "\"%s\" (GUID 0x%016llx%s): %s.",
				  fab_node_name(f, node), guid, lid_of(w, port),
				  place_of(w, node));
	else
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "Port %u of \"%s\" (GUID 0x%016llx%s)%s%s: %s%s.",
				  f->port_num[port], fab_node_name(f, node), guid,
				  is_switch ? "" : lid_of(w, port),
				  host == FAB_NONE ? "" : ", host ",
				  host == FAB_NONE ? "" : fab_host_name(f, host),
				  f->port_cable[port] == FAB_NONE ? "" : "cabled to ",
				  peer_of(w, port));
}

static void report(struct fab_report *r, const struct fab_work *w)
{
	static const char *const kinds[] = {[FAB_SWITCH] = "switch",
					    [FAB_ADAPTER] = "adapter",
					    [FAB_AGGREGATION] = "aggregation node",
					    [FAB_ROUTER] = "router"};
	const struct found *o = w->outcome;
	const struct fab_fabric *f = w->f;
	bool table_only = topo_is_table_only(r);
	bool for_people = fab_report_how(r)->format == FAB_FORMAT_TABLE;

	if (for_people)
		fab_report_without_fabric(r);
	if (!table_only)
		answer(r, w);
	if (for_people && !table_only)
		return;
	FAB_TABLE_BEGIN(r, "who", NULL, columns);
	for (size_t i = 0; i < o->ports.n; i++) {
		uint32_t port = o->ports.v[i], node = f->port_node[port];
		uint32_t peer = fab_port_peer(f, port), cable = f->port_cable[port];
		uint16_t lid = f->port_lid[port];
		struct record row = {
			.kind = kinds[f->node_kind[node]],
			.name = fab_node_name(f, node),
			.guid = f->node_guid[node],
			.port = f->port_num[port],
			.lid = lid == UINT16_MAX ? 0 : lid,
			.host = f->node_host[node] == FAB_NONE
					? NULL
					: fab_host_name(f, f->node_host[node]),
		};

		if (peer != FAB_NONE) {
			row.peer = fab_node_name(f, f->port_node[peer]);
			row.peer_guid = f->node_guid[f->port_node[peer]];
			row.peer_port = f->port_num[peer];
			row.speed = fab_speed_name(fab_cable_speed(f, cable));
			row.width = fab_cable_width(f, cable);
		}
		fab_report_record(r, &row);
	}
	fab_report_table_end(r);
}

static void fini(void *outcome)
{
	struct found *o = outcome;

	free(o->ports.v);
}

const struct fab_task topo_who = {
	.primary = "who",
	FAB_TASK_COLUMNS(columns),
	.outcome_bytes = sizeof(struct found),
	.solve = solve,
	.report = report,
	.fini = fini,
};
