/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Unicast tables have one row for each destination switch or LID (unicast/routes.h),
 * files one entry for each LID of a live port: struct lid_rows maps LIDs to rows. The
 * files follow in this order: opensm-lfts.dump, opensm.fdbs, service levels, lanes of
 * service levels, opensm.mcfdbs.
 */
#include "export/tables.h"

#include "base/map.h"
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
 * columns of `routes`, tables by leaf switch being completed (unicast/complete.h): a LID
 * uses its own, or that of the switch at which it leaves the fabric.
 */
struct lid_rows {
	const struct fab_routes *routes; /* completed */
	struct fab_routes *whole;	 /* owns it, or NULL */
	uint32_t n;
	uint16_t *lid;	/* [n] ascending */
	uint32_t *port; /* [n] end port: port 0 of a switch */
	uint32_t *sw;	/* [n] switch at which it leaves */
	uint32_t *row;	/* [n] FAB_NONE: no table leads there */
	uint32_t n_rows;
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
	for (uint32_t p = f->node_first_port[sw]; p < f->node_first_port[sw + 1]; p++)
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

static int check_count(const struct fab_routes *r, struct fab_err *err)
{
	uint64_t n = 0;

	for (uint32_t p = 0; p < r->f->n_ports; p++)
		if (exit_switch(r, p) != FAB_NONE)
			n += fab_port_n_lids(r->f, p);
	if (n <= LAST_UNICAST_LID)
		return 0;
	return fab_fail(
		err, EINVAL,
		"%s: switches and adapters need %llu LIDs, but a subnet has %d: no forwarding tables",
		r->f->source, (unsigned long long)n, LAST_UNICAST_LID);
}

static int claim(const struct fab_routes *r, uint32_t *owner, uint32_t port,
		 struct fab_err *err)
{
	const struct fab_fabric *f = r->f;
	uint32_t lid = f->port_lid[port], end = lid + fab_port_n_lids(f, port);
	char name[128], other[128];

	fab_text_safe(fab_node_name(f, f->port_node[port]), name, sizeof(name));
	if (lid == FAB_LID_NONE)
		return fab_fail(
			err, EINVAL,
			"%s: port %u of %s has no LID, which forwarding tables need (--subnet takes LIDs from an opensm-subnet.lst)",
			f->source, f->port_num[port], name);
	if (end - 1 > LAST_UNICAST_LID)
		return fab_fail(
			err, EINVAL, "%s: port %u of %s has LID %u, expected at most %d",
			f->source, f->port_num[port], name, end - 1, LAST_UNICAST_LID);
	for (; lid < end; lid++) {
		if (owner[lid] != FAB_NONE) {
			fab_text_safe(fab_node_name(f, f->port_node[owner[lid]]), other,
				      sizeof(other));
			return fab_fail(err, EINVAL, "%s: LID %u belongs to %s and to %s",
					f->source, lid, other, name);
		}
		owner[lid] = port;
	}
	return 0;
}

static void rows_by_switch(struct lid_rows *t)
{
	const struct fab_routes *r = t->routes = t->whole =
		fab_routes_complete(t->routes);
	struct fab_columns columns;

	fab_columns_init(&columns, r);
	t->n_rows = r->n_columns;
	for (uint32_t i = 0; i < t->n; i++)
		t->row[i] =
			fab_columns_of(&columns, t->port[i],
				       t->lid[i] - (uint32_t)r->f->port_lid[t->port[i]]);
	fab_columns_fini(&columns);
}

static void rows_by_lid(struct lid_rows *t)
{
	const struct fab_routes *r = t->routes;
	uint32_t *row_of = FAB_NEW(UINT16_MAX + 1, uint32_t);

	memset(row_of, 0xff, (UINT16_MAX + 1) * sizeof(*row_of));
	for (uint32_t c = 0; c < r->n_columns; c++)
		row_of[r->column_lid[c]] = c;
	t->n_rows = r->n_columns;
	for (uint32_t i = 0; i < t->n; i++)
		t->row[i] = row_of[t->lid[i]];
	free(row_of);
}

static int lid_rows_new(const struct fab_routes *r, struct lid_rows **out,
			struct fab_err *err)
{
	uint32_t *owner = FAB_NEW(LAST_UNICAST_LID + 1, uint32_t);
	struct lid_rows *t;
	int rc = fab_guids_differ(r->f, r->f->n_switches, "forwarding tables", err);

	if (!rc)
		rc = check_count(r, err);
	memset(owner, 0xff, (LAST_UNICAST_LID + 1) * sizeof(*owner));
	for (uint32_t p = 0; !rc && p < r->f->n_ports; p++)
		if (exit_switch(r, p) != FAB_NONE)
			rc = claim(r, owner, p, err);
	if (rc) {
		free(owner);
		return rc;
	}
	t = FAB_NEW0(1, struct lid_rows);
	t->routes = r;
	t->lid = FAB_NEW(LAST_UNICAST_LID + 1, uint16_t);
	t->port = FAB_NEW(LAST_UNICAST_LID + 1, uint32_t);
	t->sw = FAB_NEW(LAST_UNICAST_LID + 1, uint32_t);
	t->row = FAB_NEW(LAST_UNICAST_LID + 1, uint32_t);
	for (uint32_t lid = 1; lid <= LAST_UNICAST_LID; lid++) {
		if (owner[lid] == FAB_NONE)
			continue;
		t->lid[t->n] = (uint16_t)lid;
		t->port[t->n] = owner[lid];
		t->sw[t->n++] = exit_switch(r, owner[lid]);
	}
	free(owner);
	if (r->column_lid)
		rows_by_lid(t);
	else
		rows_by_switch(t);
	*out = t;
	return 0;
}

static void lid_rows_free(struct lid_rows *t)
{
	if (!t)
		return;
	free(t->lid);
	free(t->port);
	free(t->sw);
	free(t->row);
	fab_routes_free(t->whole);
	free(t);
}

static const uint16_t *lid_row(const struct lid_rows *t, uint32_t row)
{
	return fab_routes_next(t->routes, row);
}

static unsigned lid_out(const struct lid_rows *t, uint32_t sw, uint32_t i)
{
	const struct fab_fabric *f = t->routes->f;
	unsigned next;

	if (t->row[i] == FAB_NONE)
		return NO_PORT;
	next = lid_row(t, t->row[i])[sw];
	if (sw == t->sw[i] && (next == FAB_ARC_HERE || !t->routes->column_lid)) {
		if (f->port_node[t->port[i]] == sw)
			return 0;
		return f->port_num[fab_port_peer(f, t->port[i])];
	}
	return next < FAB_ARC_BROKEN
		       ? f->port_num[fab_arc_port(f, sw, f->arc_first[sw] + next)]
		       : NO_PORT;
}

static const char *kind_text(const struct fab_fabric *f, uint32_t node)
{
	if (fab_node_is_switch(f, node))
		return "Switch";
	return f->node_kind[node] == FAB_ROUTER ? "Router" : "Channel Adapter";
}

/* OpenSM finds a destination again by its port GUID; that of a switch may be its own. */
static uint64_t guid_of(const struct fab_fabric *f, uint32_t port)
{
	uint32_t node = f->port_node[port];

	if (f->port_guid[port] || !fab_node_is_switch(f, node))
		return f->port_guid[port];
	return f->node_guid[node];
}

static void put_lfts(FILE *out, const struct lid_rows *t, uint32_t sw)
{
	const struct fab_fabric *f = t->routes->f;
	unsigned n = 0;

	fprintf(out, "Unicast lids [0-%u] of switch Lid %u guid 0x%016llx ('",
		t->n ? t->lid[t->n - 1] : 0, f->port_lid[f->node_first_port[sw]],
		(unsigned long long)f->node_guid[sw]);
	fab_text_put_blanked(out, fab_node_name(f, sw));
	fputs("'):\n", out);
	for (uint32_t i = 0; i < t->n; i++) {
		unsigned port = lid_out(t, sw, i);
		uint32_t node = f->port_node[t->port[i]];

		if (port == NO_PORT)
			continue;
		fprintf(out, "0x%04x %03u # %s portguid 0x%016llx: '", t->lid[i], port,
			kind_text(f, node), (unsigned long long)guid_of(f, t->port[i]));
		fab_text_put_blanked(out, fab_node_name(f, node));
		fputs("'\n", out);
		n++;
	}
	fprintf(out, "%u lids dumped\n", n);
}

int fab_export_lfts(FILE *out, const struct fab_routes *routes, struct fab_err *err)
{
	struct lid_rows *t = NULL;
	int rc = lid_rows_new(routes, &t, err);

	if (rc)
		return rc;
	for (uint32_t sw = 0; sw < routes->f->n_switches; sw++)
		if (live_switch(routes, sw))
			put_lfts(out, t, sw);
	lid_rows_free(t);
	return 0;
}

enum { NOT_SHORTEST = 0x8000, HOPS = 0x7fff, UNKNOWN = 0xffff };

/* Hops of every switch to `root` along a row, and whether the live graph needs fewer;
 * UNKNOWN: it does not get there. */
static void row_hops(const struct fab_routes *r, struct fab_walk *walk,
		     const uint16_t *next, uint32_t root, uint16_t *hops, uint32_t *dist)
{
	const struct fab_fabric *f = r->f;

	fab_walk_begin(walk, next, root);
	for (uint32_t s = 0; s < f->n_switches; s++) {
		uint16_t h = fab_walk_hops(walk, s);

		hops[s] = h >= FAB_HOPS_NEVER ? UNKNOWN : h < HOPS ? h : HOPS - 1;
	}
	fab_faults_search(f, r->faults, root, dist, walk->order);
	for (uint32_t s = 0; s < f->n_switches; s++)
		if (hops[s] != UNKNOWN && hops[s] > dist[s])
			hops[s] |= NOT_SHORTEST;
}

static uint16_t *hops_of_rows(const struct lid_rows *t)
{
	const struct fab_routes *r = t->routes;
	uint32_t n = r->f->n_switches, *dist = FAB_NEW(n, uint32_t);
	uint32_t *root = FAB_NEW(t->n_rows + 1, uint32_t);
	uint16_t *hops = FAB_NEW((size_t)t->n_rows * n + 1, uint16_t);
	struct fab_walk walk;

	fab_walk_init(&walk, r->f, r->faults);
	memset(root, 0xff, t->n_rows * sizeof(*root));
	for (uint32_t i = 0; i < t->n; i++)
		if (t->row[i] != FAB_NONE)
			root[t->row[i]] = t->sw[i];
	for (uint32_t row = 0; row < t->n_rows; row++) {
		if (root[row] == FAB_NONE)
			continue;
		row_hops(r, &walk, lid_row(t, row), root[row], hops + (size_t)row * n,
			 dist);
	}
	free(root);
	fab_walk_fini(&walk);
	free(dist);
	return hops;
}

static void put_fdbs(FILE *out, const struct lid_rows *t, const uint16_t *hops,
		     uint32_t sw)
{
	const struct fab_fabric *f = t->routes->f;

	fprintf(out,
		"dump_ucast_routes: Switch 0x%016llx\nLID    : Port : Hops : Optimal\n",
		(unsigned long long)f->node_guid[sw]);
	for (uint32_t i = 0; i < t->n; i++) {
		unsigned port = lid_out(t, sw, i), h = UNKNOWN;
		bool is_adapter = !fab_node_is_switch(f, f->port_node[t->port[i]]);

		if (t->row[i] != FAB_NONE)
			h = hops[(size_t)t->row[i] * f->n_switches + sw];
		if (port == NO_PORT || h == UNKNOWN)
			fprintf(out, "0x%04X : UNREACHABLE\n", t->lid[i]);
		else
			fprintf(out, "0x%04X : %03u  : %02u   : %s\n", t->lid[i], port,
				(h & HOPS) + is_adapter, h & NOT_SHORTEST ? "no" : "yes");
	}
	putc_unlocked('\n', out);
}

int fab_export_fdbs(FILE *out, const struct fab_routes *routes, struct fab_err *err)
{
	struct lid_rows *t = NULL;
	int rc = lid_rows_new(routes, &t, err);
	uint16_t *hops;

	if (rc)
		return rc;
	hops = hops_of_rows(t);
	for (uint32_t sw = 0; sw < routes->f->n_switches; sw++)
		if (live_switch(routes, sw))
			put_fdbs(out, t, hops, sw);
	free(hops);
	lid_rows_free(t);
	return 0;
}

static uint32_t switch_of(const struct fab_routes *r, uint32_t node)
{
	const struct fab_fabric *f = r->f;

	for (uint32_t p = f->node_first_port[node]; p < f->node_first_port[node + 1];
	     p++) {
		uint32_t sw = fab_port_switch(f, p);

		if (sw != FAB_NONE && live_switch(r, sw) &&
		    live_cable(r, f->port_cable[p]))
			return sw;
	}
	return FAB_NONE;
}

/* Index of each node in sl_source. */
static uint32_t *sources(const struct fab_routes *r)
{
	uint32_t *source = FAB_NEW(r->f->n_nodes, uint32_t);

	memset(source, 0xff, r->f->n_nodes * sizeof(*source));
	for (uint32_t i = 0; i < r->n_sl_sources; i++)
		source[r->sl_source[i]] = i;
	return source;
}

static void put_adapter(FILE *out, const struct lid_rows *t, uint32_t node,
			uint32_t source)
{
	const struct fab_routes *r = t->routes;
	unsigned long long guid = r->f->node_guid[node];

	for (uint32_t i = 0; i < t->n; i++) {
		unsigned sl = 0;

		if (r->sl && source != FAB_NONE && t->row[i] < r->n_columns)
			sl = r->sl[(size_t)source * r->n_columns + t->row[i]];
		fprintf(out, "0x%016llx %u %u\n", guid, t->lid[i], sl);
	}
}

static bool has_none(const struct fab_routes *r)
{
	size_t n = r->sl ? (size_t)r->n_sl_sources * r->n_columns : 0;

	return n && memchr(r->sl, FAB_SL_NONE, n);
}

int fab_export_path_sl(FILE *out, const struct fab_routes *r, struct fab_err *err)
{
	struct lid_rows *t = NULL;
	int rc = lid_rows_new(r, &t, err);
	uint32_t *source;

	if (rc)
		return rc;
	rc = fab_guids_differ(r->f, r->f->n_nodes, "service levels", err);
	if (rc) {
		lid_rows_free(t);
		return rc;
	}
	if (has_none(r)) {
		lid_rows_free(t);
		return fab_fail(
			err, EINVAL,
			"pairs without a service level cannot be written: more virtual lanes are needed");
	}
	source = sources(r);
	for (uint32_t node = r->f->n_switches; node < r->f->n_nodes; node++) {
		uint32_t sw = switch_of(r, node);

		if (sw != FAB_NONE)
			put_adapter(out, t, node,
				    source[source[node] != FAB_NONE ? node : sw]);
	}
	free(source);
	lid_rows_free(t);
	return 0;
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

/* The arc of a switch behind one of its ports, its number of arcs: none (an adapter, or
 * the switch itself). */
static uint32_t arc_of(const struct fab_fabric *f, uint32_t sw, uint32_t port)
{
	uint32_t d = f->arc_first[sw + 1] - f->arc_first[sw];

	for (uint32_t i = 0; i < d; i++)
		if (f->arc_cable[f->arc_first[sw] + i] == f->port_cable[port])
			return i;
	return d;
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
	uint32_t *arc = FAB_NEW(n + 1, uint32_t);
	unsigned vl[N_SLS];

	for (uint32_t i = 0; i < n; i++)
		arc[i] = arc_of(f, sw, first + i);
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
	free(arc);
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
		for (uint32_t p = f->node_first_port[node];
		     p < f->node_first_port[node + 1]; p++)
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

static void add_group(struct entries *e, const struct fab_mcast_problem *problem,
		      const struct fab_forest *t, uint32_t group, uint16_t mlid)
{
	const struct fab_fabric *f = problem->f;
	const struct fab_groups *g = problem->groups;

	for (uint64_t i = t->first[group]; i < t->first[group + 1]; i++) {
		add_entry(e, f, f->cable_a[t->cable[i]], mlid);
		add_entry(e, f, f->cable_b[t->cable[i]], mlid);
	}
	for (uint64_t m = g->first[group]; m < g->first[group + 1]; m++) {
		uint32_t port = g->member[m];

		if (!fab_node_is_switch(f, f->port_node[port]))
			port = fab_port_peer(f, port);
		add_entry(e, f, port, mlid);
	}
}

static void print_entries(FILE *out, const struct fab_fabric *f, const uint64_t *v,
			  size_t n)
{
	uint64_t sw = UINT64_MAX, row = UINT64_MAX;

	for (size_t i = 0; i < n; i++) {
		if (v[i] >> 16 != row && i)
			putc_unlocked('\n', out);
		if (v[i] >> 32 != sw) {
			sw = v[i] >> 32;
			fprintf(out, "\nSwitch 0x%016llx\nLID    : Out Port(s)\n",
				(unsigned long long)f->node_guid[sw]);
		}
		if (v[i] >> 16 != row) {
			row = v[i] >> 16;
			fprintf(out, "0x%04X :", (unsigned)(row & 0xffff));
		}
		fprintf(out, " 0x%03X ", (unsigned)(v[i] & 0xffff));
	}
	if (n)
		putc_unlocked('\n', out);
}

int fab_export_mcfdbs(FILE *out, const struct fab_mcast_problem *problem,
		      const struct fab_mcast_result *result, const uint16_t *mlid,
		      struct fab_err *err)
{
	int rc = fab_guids_differ(problem->f, problem->f->n_switches, "multicast tables",
				  err);
	struct entries e = {0};

	if (rc)
		return rc;
	for (uint32_t i = 0; i < problem->groups->n; i++)
		if (fab_group_size(problem->groups, i) > 1)
			add_group(&e, problem, &result->forest, i, mlid[i]);
	if (e.list.n)
		qsort(e.list.v, e.list.n, sizeof(*e.list.v), fab_cmp_u64);
	print_entries(out, problem->f, e.list.v, e.list.n);
	free(e.list.v);
	return 0;
}
