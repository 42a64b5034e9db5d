/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unicast tables have one row for each destination switch or LID (unicast/routes.h),
 * files one entry for each LID of a live port: struct lid_rows maps LIDs to rows. The
 * files follow in this order: opensm-lfts.dump, opensm.fdbs, service levels, lanes of
 * service levels, opensm.mcfdbs.
 */
#include "export/tables.h"

#include "base/arena.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/text.h"
#include "fabric/fabric.h"
#include "unicast/faults.h"
#include "unicast/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LAST_UNICAST_LID = 0xbfff, NO_PORT = 255 };

/*
 * The LIDs of what is alive: switches, and ports of adapters whose cable is. Rows are the
 * columns of `routes`, tables by leaf switch being completed (unicast/routes.h): a LID
 * uses its own, or that of the switch at which it leaves the fabric.
 */
struct lid_rows {
	struct fab_arena arena;
	const struct fab_routes *routes; /* completed */
	struct fab_routes *whole;	 /* owns it, or NULL */
	uint32_t n;
	uint16_t *lid;	/* [n] ascending */
	uint32_t *port; /* [n] end port: port 0 of a switch */
	uint32_t *sw;	/* [n] switch at which it leaves */
	uint32_t *row;	/* [n] FAB_NONE: no table leads there */
};

static bool live_cable(const struct fab_routes *r, uint32_t cable)
{
	return !r->faults || !r->faults->cable_is_dead[cable];
}

static bool live_switch(const struct fab_routes *r, uint32_t sw)
{
	const struct fab_fabric *f = r->f;

	if (r->faults && r->faults->switch_is_dead[sw])
		return false;
	FAB_EACH_PORT(f, sw, p)
		if (f->port_cable[p] != FAB_NONE && live_cable(r, f->port_cable[p]))
			return true;
	return false;
}

/* The switch at which packets to a port leave, FAB_NONE: it takes none or is dead. */
static uint32_t exit_switch(const struct fab_routes *r, uint32_t port)
{
	const struct fab_fabric *f = r->f;
	uint32_t node = f->port_node[port], sw;

	if (fab_node_is_switch(f, node))
		return !f->port_num[port] && live_switch(r, node) ? node : FAB_NONE;
	sw = fab_port_switch(f, port);
	if (sw == FAB_NONE || !live_switch(r, sw) || !live_cable(r, f->port_cable[port]))
		return FAB_NONE;
	return sw;
}

/* Owners of all LIDs; EINVAL: a port without one, or two of one. */
static int claim_lids(const struct fab_routes *r, uint32_t *owner, struct fab_err *err)
{
	const struct fab_fabric *f = r->f;
	uint64_t n = 0;

	for (uint32_t p = 0; p < f->n_ports; p++)
		if (exit_switch(r, p) != FAB_NONE)
			n += fab_port_n_lids(f, p);
	if (n > LAST_UNICAST_LID)
		return fab_fail(
			err, EINVAL,
			"%s: switches and adapters need %llu LIDs, but a subnet has %d: no forwarding tables",
			f->source, (unsigned long long)n, LAST_UNICAST_LID);

	for (uint32_t p = 0; p < f->n_ports; p++) {
		const char *name = fab_node_name(f, f->port_node[p]);
		uint32_t lid = f->port_lid[p], end = lid + fab_port_n_lids(f, p);

		if (exit_switch(r, p) == FAB_NONE)
			continue;
		if (lid == FAB_LID_NONE)
			return fab_fail(
				err, EINVAL,
				"%s: port %u of %.128s has no LID, which forwarding tables need (--set subnet takes LIDs from an opensm-subnet.lst)",
				f->source, f->port_num[p], name);
		if (end - 1 > LAST_UNICAST_LID)
			return fab_fail(
				err, EINVAL,
				"%s: port %u of %.128s has LID %u, expected at most %d",
				f->source, f->port_num[p], name, end - 1,
				LAST_UNICAST_LID);
		for (; lid < end; lid++) {
			if (owner[lid] != FAB_NONE)
				return fab_fail(
					err, EINVAL,
					"%s: LID %u belongs to %.128s and to %.128s",
					f->source, lid,
					fab_node_name(f, f->port_node[owner[lid]]), name);
			owner[lid] = p;
		}
	}
	return 0;
}

/* rows_fini() in any case. */
static int rows_init(struct lid_rows *t, const struct fab_routes *r, struct fab_err *err)
{
	uint32_t *owner, *row_of;
	int rc = fab_guids_differ(r->f, r->f->n_switches, "forwarding tables", err);

	*t = (struct lid_rows){.routes = r};
	owner = fab_arena_none(&t->arena, LAST_UNICAST_LID + 1);
	if (!rc)
		rc = claim_lids(r, owner, err);
	if (rc)
		return rc;
	t->lid = FAB_ARENA_NEW(&t->arena, LAST_UNICAST_LID + 1, uint16_t);
	t->port = FAB_ARENA_NEW(&t->arena, LAST_UNICAST_LID + 1, uint32_t);
	t->sw = FAB_ARENA_NEW(&t->arena, LAST_UNICAST_LID + 1, uint32_t);
	t->row = FAB_ARENA_NEW(&t->arena, LAST_UNICAST_LID + 1, uint32_t);
	for (uint32_t lid = 1; lid <= LAST_UNICAST_LID; lid++)
		if (owner[lid] != FAB_NONE) {
			t->lid[t->n] = (uint16_t)lid;
			t->port[t->n] = owner[lid];
			t->sw[t->n++] = exit_switch(r, owner[lid]);
		}
	if (r->column_lid) {
		row_of = fab_arena_none(&t->arena, UINT16_MAX + 1);
		for (uint32_t c = 0; c < r->n_columns; c++)
			row_of[r->column_lid[c]] = c;
		for (uint32_t i = 0; i < t->n; i++)
			t->row[i] = row_of[t->lid[i]];
	} else {
		FAB_AUTO(fab_columns_fini) struct fab_columns columns = {0};

		r = t->routes = t->whole = fab_routes_complete(r);
		fab_columns_init(&columns, r);
		for (uint32_t i = 0; i < t->n; i++)
			t->row[i] = fab_columns_of(
				&columns, t->port[i],
				t->lid[i] - (uint32_t)r->f->port_lid[t->port[i]]);
	}
	return 0;
}

static void rows_fini(struct lid_rows *t)
{
	fab_routes_free(t->whole);
	fab_arena_free(&t->arena);
}

/* The port of the switch towards LID i, NO_PORT. */
static unsigned port_to(const struct lid_rows *t, uint32_t sw, uint32_t i)
{
	const struct fab_fabric *f = t->routes->f;
	unsigned next;

	if (t->row[i] == FAB_NONE)
		return NO_PORT;
	next = fab_routes_next(t->routes, t->row[i])[sw];
	if (sw == t->sw[i] && (next == FAB_ARC_HERE || !t->routes->column_lid))
		return f->port_node[t->port[i]] == sw
			       ? 0
			       : f->port_num[fab_port_peer(f, t->port[i])];
	return next < FAB_ARC_BROKEN
		       ? f->port_num[fab_arc_port(f, sw, f->arc_first[sw] + next)]
		       : NO_PORT;
}

int fab_export_lfts(FILE *out, const struct fab_routes *routes, struct fab_err *err)
{
	static const char *const kinds[] = {[FAB_SWITCH] = "Switch",
					    [FAB_ADAPTER] = "Channel Adapter",
					    [FAB_AGGREGATION] = "Channel Adapter",
					    [FAB_ROUTER] = "Router"};
	const struct fab_fabric *f = routes->f;
	FAB_AUTO(rows_fini) struct lid_rows t;
	int rc = rows_init(&t, routes, err);

	for (uint32_t sw = 0; sw < f->n_switches && !rc; sw++) {
		unsigned n = 0;

		if (!live_switch(routes, sw))
			continue;
		fprintf(out, "Unicast lids [0-%u] of switch Lid %u guid 0x%016llx ('",
			t.n ? t.lid[t.n - 1] : 0, f->port_lid[f->node_first_port[sw]],
			(unsigned long long)f->node_guid[sw]);
		fab_text_put_blanked(out, fab_node_name(f, sw));
		fputs("'):\n", out);
		for (uint32_t i = 0; i < t.n; i++) {
			unsigned port = port_to(&t, sw, i);
			uint32_t node = f->port_node[t.port[i]];
			uint64_t guid = f->port_guid[t.port[i]];

			if (port == NO_PORT)
				continue;
			/* OpenSM finds a destination by its port GUID; that of a switch
			 * may be its own */
			if (!guid && fab_node_is_switch(f, node))
				guid = f->node_guid[node];
			fprintf(out, "0x%04x %03u # %s portguid 0x%016llx: '", t.lid[i],
				port, kinds[f->node_kind[node]],
				(unsigned long long)guid);
			fab_text_put_blanked(out, fab_node_name(f, node));
			fputs("'\n", out);
			n++;
		}
		fprintf(out, "%u lids dumped\n", n);
	}
	return rc;
}

enum { NOT_SHORTEST = 0x8000, HOPS = 0x7fff, UNKNOWN = 0xffff };

/* [row * switches + switch]: hops of every switch along a row, and whether the live graph
 * needs fewer; UNKNOWN: it does not get there. */
static uint16_t *hops_of_rows(struct lid_rows *t)
{
	const struct fab_routes *r = t->routes;
	const struct fab_fabric *f = r->f;
	uint32_t *dist = FAB_ARENA_NEW(&t->arena, f->n_switches, uint32_t);
	uint32_t *root = fab_arena_none(&t->arena, r->n_columns);
	uint16_t *all =
		FAB_ARENA_NEW(&t->arena, (size_t)r->n_columns * f->n_switches, uint16_t);
	FAB_AUTO(fab_walk_fini) struct fab_walk walk;

	fab_walk_init(&walk, f, r->faults);

	for (uint32_t i = 0; i < t->n; i++)
		if (t->row[i] != FAB_NONE)
			root[t->row[i]] = t->sw[i];
	for (uint32_t row = 0; row < r->n_columns; row++) {
		uint16_t *hops = all + (size_t)row * f->n_switches;

		if (root[row] == FAB_NONE)
			continue;
		fab_walk_all(&walk, fab_routes_next(r, row), root[row]);
		for (uint32_t s = 0; s < f->n_switches; s++) {
			uint16_t h = walk.hops[s];

			hops[s] = h >= FAB_HOPS_NEVER ? UNKNOWN : h < HOPS ? h : HOPS - 1;
		}
		fab_faults_search(f, r->faults, root[row], dist, walk.order);
		for (uint32_t s = 0; s < f->n_switches; s++)
			if (hops[s] != UNKNOWN && hops[s] > dist[s])
				hops[s] |= NOT_SHORTEST;
	}
	return all;
}

int fab_export_fdbs(FILE *out, const struct fab_routes *routes, struct fab_err *err)
{
	const struct fab_fabric *f = routes->f;
	FAB_AUTO(rows_fini) struct lid_rows t;
	int rc = rows_init(&t, routes, err);
	const uint16_t *hops = rc ? NULL : hops_of_rows(&t);

	for (uint32_t sw = 0; sw < f->n_switches && !rc; sw++) {
		if (!live_switch(routes, sw))
			continue;
		fprintf(out,
			"dump_ucast_routes: Switch 0x%016llx\nLID    : Port : Hops : Optimal\n",
			(unsigned long long)f->node_guid[sw]);
		for (uint32_t i = 0; i < t.n; i++) {
			unsigned port = port_to(&t, sw, i), h = UNKNOWN;
			bool is_adapter = !fab_node_is_switch(f, f->port_node[t.port[i]]);

			if (t.row[i] != FAB_NONE)
				h = hops[(size_t)t.row[i] * f->n_switches + sw];
			if (port == NO_PORT || h == UNKNOWN)
				fprintf(out, "0x%04X : UNREACHABLE\n", t.lid[i]);
			else
				fprintf(out, "0x%04X : %03u  : %02u   : %s\n", t.lid[i],
					port, (h & HOPS) + is_adapter,
					h & NOT_SHORTEST ? "no" : "yes");
		}
		putc_unlocked('\n', out);
	}
	return rc;
}

int fab_export_path_sl(FILE *out, const struct fab_routes *r, struct fab_err *err)
{
	const struct fab_fabric *f = r->f;
	size_t n_sls = r->sl ? (size_t)r->n_sl_sources * r->n_columns : 0;
	FAB_AUTO(rows_fini) struct lid_rows t;
	uint32_t *source; /* index of each node in sl_source */
	int rc = rows_init(&t, r, err);

	if (!rc)
		rc = fab_guids_differ(f, f->n_nodes, "service levels", err);
	if (!rc && n_sls && memchr(r->sl, FAB_SL_NONE, n_sls))
		rc = fab_fail(
			err, EINVAL,
			"pairs without a service level cannot be written: more virtual lanes are needed");
	source = fab_arena_none(&t.arena, f->n_nodes);
	for (uint32_t i = 0; i < r->n_sl_sources; i++)
		source[r->sl_source[i]] = i;
	for (uint32_t node = f->n_switches; node < f->n_nodes && !rc; node++) {
		uint32_t sw = FAB_NONE, from;

		for (uint32_t p = f->node_first_port[node];
		     p < f->node_first_port[node + 1] && sw == FAB_NONE; p++)
			sw = exit_switch(r, p);
		if (sw == FAB_NONE)
			continue;
		from = source[source[node] != FAB_NONE ? node : sw];
		for (uint32_t i = 0; i < t.n; i++) {
			unsigned sl = 0;

			if (t.routes->sl && from != FAB_NONE &&
			    t.row[i] < t.routes->n_columns)
				sl = t.routes->sl[(size_t)from * t.routes->n_columns +
						  t.row[i]];
			fprintf(out, "0x%016llx %u %u\n",
				(unsigned long long)f->node_guid[node], t.lid[i], sl);
		}
	}
	return rc;
}

enum { N_SLS = 16 };

static void put_line(FILE *out, uint64_t guid, unsigned in, unsigned to,
		     const unsigned *vl)
{
	fprintf(out, "0x%016llx %u %u", (unsigned long long)guid, in, to);
	for (int sl = 0; sl < N_SLS; sl += 2)
		fprintf(out, " 0x%x%x", vl[sl] & 15, vl[sl + 1] & 15);
	putc_unlocked('\n', out);
}

static bool is_live_port(const struct fab_routes *r, uint32_t port)
{
	return r->f->port_cable[port] != FAB_NONE &&
	       live_cable(r, r->f->port_cable[port]);
}

static void put_sl2vl(FILE *out, const struct fab_routes *r, uint32_t sw)
{
	const struct fab_fabric *f = r->f;
	uint32_t first = f->node_first_port[sw], n = f->node_first_port[sw + 1] - first;
	uint32_t a = f->arc_first[sw], d = f->arc_first[sw + 1] - a;
	/* behind each port; d: none (an adapter, or the switch itself) */
	FAB_AUTOFREE uint32_t *arc = FAB_NEW(n + 1, uint32_t);
	unsigned vl[N_SLS];

	for (uint32_t i = 0; i < n; i++)
		for (arc[i] = 0; arc[i] < d; arc[i]++)
			if (f->arc_cable[a + arc[i]] == f->port_cable[first + i])
				break;
	for (uint32_t in = 0; in < n; in++) {
		if (f->port_num[first + in] && !is_live_port(r, first + in))
			continue;
		for (uint32_t to = 0; to < n; to++) {
			if (!is_live_port(r, first + to))
				continue;
			for (unsigned sl = 0; sl < N_SLS; sl++)
				vl[sl] = fab_routes_vl(r, sw, arc[in], arc[to], sl);
			put_line(out, f->node_guid[sw], f->port_num[first + in],
				 f->port_num[first + to], vl);
		}
	}
}

int fab_export_sl2vl(FILE *out, const struct fab_routes *r, struct fab_err *err)
{
	const struct fab_fabric *f = r->f;
	int rc = fab_guids_differ(f, f->n_nodes, "lanes of service levels", err);
	unsigned vl[N_SLS];

	if (rc)
		return rc;
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		if (live_switch(r, sw))
			put_sl2vl(out, r, sw);
	for (unsigned sl = 0; sl < N_SLS; sl++)
		vl[sl] = r->lanes == FAB_LANES_SL ? sl : 0;
	for (uint32_t node = f->n_switches; node < f->n_nodes; node++)
		FAB_EACH_PORT(f, node, p)
			if (is_live_port(r, p))
				put_line(out, f->node_guid[node], 0, f->port_num[p], vl);
	return 0;
}

/* Entries as switch, MLID, port number from the top bits down. */
struct entries {
	FAB_VEC(uint64_t) list;
};

static void add_entry(struct entries *e, const struct fab_fabric *f, uint32_t port,
		      uint16_t mlid)
{
	FAB_PUSH(&e->list, (uint64_t)f->port_node[port] << 32 | (uint64_t)mlid << 16 |
				   f->port_num[port]);
}

int fab_export_mcfdbs(FILE *out, const struct fab_mcast_problem *problem,
		      const struct fab_mcast_result *result, const uint16_t *mlid,
		      struct fab_err *err)
{
	const struct fab_fabric *f = problem->f;
	const struct fab_groups *g = problem->groups;
	const struct fab_forest *t = &result->forest;
	uint64_t sw = UINT64_MAX, row = UINT64_MAX;
	struct entries e = {0};
	int rc = fab_guids_differ(f, f->n_switches, "multicast tables", err);

	for (uint32_t group = 0; group < g->n && !rc; group++) {
		if (fab_group_size(g, group) < 2)
			continue;
		for (uint64_t i = t->first[group]; i < t->first[group + 1]; i++) {
			add_entry(&e, f, f->cable_a[t->cable[i]], mlid[group]);
			add_entry(&e, f, f->cable_b[t->cable[i]], mlid[group]);
		}
		for (uint64_t m = g->first[group]; m < g->first[group + 1]; m++) {
			uint32_t port = g->member[m];

			if (!fab_node_is_switch(f, f->port_node[port]))
				port = fab_port_peer(f, port);
			add_entry(&e, f, port, mlid[group]);
		}
	}
	FAB_SORT(&e.list, fab_cmp_u64);
	for (size_t i = 0; i < e.list.n; i++) {
		uint64_t entry = e.list.v[i];

		if (entry >> 16 != row && i)
			putc_unlocked('\n', out);
		if (entry >> 32 != sw) {
			sw = entry >> 32;
			fprintf(out, "\nSwitch 0x%016llx\nLID    : Out Port(s)\n",
				(unsigned long long)f->node_guid[sw]);
		}
		if (entry >> 16 != row) {
			row = entry >> 16;
			fprintf(out, "0x%04X :", (unsigned)(row & 0xffff));
		}
		fprintf(out, " 0x%03X ", (unsigned)(entry & 0xffff));
	}
	if (e.list.n)
		putc_unlocked('\n', out);
	free(e.list.v);
	return rc;
}
