/* SPDX-License-Identifier: BSD-2-Clause */
#include "opensm/plugin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <opensm/osm_mcast_mgr.h>

#include "base/mem.h"
#include "base/order.h"
#include "base/sets.h"

enum { MAX_DEPTH = 64, N_PORTS = 256 };

/* A port of a switch in a table. */
struct entry {
	osm_switch_t *sw;
	uint8_t port;
};

/* Entries of one tree; nothing is set before all are known to be right. */
struct plan {
	FAB_VEC(struct entry) entries;
};

static osm_physp_t *physp(osm_node_t *node, unsigned num)
{
	osm_physp_t *p;

	if (!node || num >= node->physp_tbl_size)
		return NULL;
	p = &node->physp_table[num];
	return p->p_node ? p : NULL;
}

static osm_switch_t *switch_of(struct osm_opensm *osm, const struct fab_fabric *f,
			       uint32_t sw)
{
	return osm_get_switch_by_guid(&osm->subn, cl_hton64(f->node_guid[sw]));
}

static bool add_port(struct plan *plan, osm_physp_t *port)
{
	struct entry entry = {.sw = port->p_node->sw, .port = port->port_num};

	if (!entry.sw || !osm_switch_supports_mcast(entry.sw))
		return false;
	FAB_PUSH(&plan->entries, entry);
	return true;
}

/* Both ends of a cable of the tree, as OpenSM has them now. */
static int add_cable(struct osm_opensm *osm, const struct fab_fabric *f, uint32_t cable,
		     struct plan *plan, struct fab_err *err)
{
	uint32_t a = f->cable_a[cable], b = f->cable_b[cable];
	osm_switch_t *from = switch_of(osm, f, f->port_node[a]);
	osm_switch_t *to = switch_of(osm, f, f->port_node[b]);
	osm_physp_t *port = from ? physp(from->p_node, f->port_num[a]) : NULL;

	if (port && to && fab_opensm_is_live(port) &&
	    port->p_remote_physp == physp(to->p_node, f->port_num[b]) &&
	    add_port(plan, port) && add_port(plan, port->p_remote_physp))
		return 0;
	return fab_fail(
		err, EPROTO, "the cable of switch 0x%016llx port %u is not what it was",
		(unsigned long long)f->node_guid[f->port_node[a]], f->port_num[a]);
}

/* The switch port of a member as OpenSM has it now; it must be on `sw`. */
static int add_member(struct osm_opensm *osm, uint64_t guid, const osm_switch_t *sw,
		      struct plan *plan, struct fab_err *err)
{
	const osm_port_t *port = osm_get_port_by_guid(&osm->subn, cl_hton64(guid));
	osm_physp_t *p = port ? port->p_physp : NULL;

	if (p && !p->p_node->sw)
		p = fab_opensm_is_live(p) ? p->p_remote_physp : NULL;
	if (p && sw && p->p_node->sw == sw && add_port(plan, p))
		return 0;
	return fab_fail(err, EPROTO, "port 0x%016llx is not where it was",
			(unsigned long long)guid);
}

/* Place of a switch in the sorted list, FAB_NONE: not in it. */
static uint32_t place_of(const uint32_t *list, size_t n, uint32_t sw)
{
	const uint32_t *at = bsearch(&sw, list, n, sizeof(*list), fab_cmp_u32);

	return at ? (uint32_t)(at - list) : FAB_NONE;
}

int fab_opensm_write_tree(struct osm_opensm *osm, const struct fab_fabric *f,
			  const struct fab_live_tree *t, uint16_t mlid,
			  struct fab_err *err)
{
	struct plan plan = {0};
	int rc = 0;
	size_t n = (size_t)t->n_edges + 1;
	FAB_AUTOFREE uint32_t *sw = FAB_NEW(n, uint32_t);
	FAB_AUTOFREE uint32_t *part = FAB_NEW(n, uint32_t);
	bool is_right = true;

	/*
	 * n different switches and n-1 cables between them that join all are a tree; by
	 * union and find, whatever the engine did. The members' switches are among them.
	 */
	sw[0] = t->root;
	memcpy(sw + 1, t->sw, t->n_edges * sizeof(*sw));
	qsort(sw, n, sizeof(*sw), fab_cmp_u32);
	for (uint32_t j = 0; j < n; j++) {
		part[j] = j;
		is_right &= !j || sw[j] != sw[j - 1];
	}
	for (uint32_t k = 0; k < t->n_edges && is_right; k++) {
		uint32_t a = place_of(sw, n, f->port_node[f->cable_a[t->cable[k]]]);
		uint32_t b = place_of(sw, n, f->port_node[f->cable_b[t->cable[k]]]);

		is_right = a != FAB_NONE && b != FAB_NONE &&
			   fab_sets_root(part, a) != fab_sets_root(part, b);
		if (is_right)
			fab_sets_unite(part, a, b);
	}
	for (uint32_t r = 0; r < t->n_members && is_right; r++)
		is_right = place_of(sw, n, fab_port_switch(f, t->member[r])) != FAB_NONE;
	if (!is_right)
		rc = fab_fail(err, EPROTO, "its cables are no tree of its members");
	for (uint32_t e = 0; e < t->n_edges && !rc; e++)
		rc = add_cable(osm, f, t->cable[e], &plan, err);
	for (uint32_t m = 0; m < t->n_members && !rc; m++)
		rc = add_member(osm, f->port_guid[t->member[m]],
				switch_of(osm, f, fab_port_switch(f, t->member[m])),
				&plan, err);
	for (size_t i = 0; i < plan.entries.n && !rc; i++)
		osm_mcast_tbl_set(&plan.entries.v[i].sw->mcast_tbl, mlid,
				  plan.entries.v[i].port);
	free(plan.entries.v);
	return rc;
}

/* All switches, whose map item is their first member. */
#define FAB_EACH_SWITCH(osm, sw)                                                         \
	for (osm_switch_t *sw = (osm_switch_t *)cl_qmap_head(&(osm)->subn.sw_guid_tbl);  \
	     &sw->map_item != cl_qmap_end(&(osm)->subn.sw_guid_tbl);                     \
	     sw = (osm_switch_t *)cl_qmap_next(&sw->map_item))

void fab_opensm_clear(struct osm_opensm *osm, uint16_t mlid)
{
	FAB_EACH_SWITCH(osm, sw)
		osm_mcast_tbl_clear_mlid(&sw->mcast_tbl, mlid);
}

void fab_opensm_cover(struct osm_opensm *osm, uint16_t mlid)
{
	int16_t block = (int16_t)((mlid - IB_LID_MCAST_START_HO) / IB_MCAST_BLOCK_SIZE);

	FAB_EACH_SWITCH(osm, sw) {
		osm_mcast_tbl_t *tbl = &sw->mcast_tbl;

		if (tbl->p_mask_tbl && tbl->max_block_in_use < block &&
		    ((uint32_t)block + 1) * IB_MCAST_BLOCK_SIZE <= tbl->mft_depth)
			tbl->max_block_in_use = block;
	}
}

/* Members member[first .. first + n-1] that are reached through a switch. */
struct branch {
	osm_switch_t *sw;
	uint8_t up; /* port towards the root, 0 at the root */
	unsigned depth;
	size_t first, n;
};

struct growing {
	struct osm_opensm *osm;
	uint16_t mlid;
	const osm_port_t **member, **sorted; /* [all] */
	uint8_t *port;			     /* [all] by which each leaves */
	FAB_VEC(struct branch) todo;
};

/* Target of `port` of the branch's switch: the switch itself, an adapter, or a branch
 * more. */
static void leave_by(struct growing *g, const struct branch *b, unsigned port,
		     size_t first, size_t n)
{
	osm_node_t *peer = NULL;
	uint8_t peer_port = 0;

	if (port)
		peer = osm_node_get_remote_node(b->sw->p_node, (uint8_t)port, &peer_port);
	if (port && !peer) {
		osm_log(&g->osm->log, OSM_LOG_ERROR,
			"fabkit: MLID 0x%x: no cable towards a member\n", g->mlid);
		return;
	}
	osm_mcast_tbl_set(&b->sw->mcast_tbl, g->mlid, (uint8_t)port);
	if (peer && peer->sw) {
		struct branch more = {peer->sw, peer_port, b->depth + 1, first, n};

		FAB_PUSH(&g->todo, more);
	}
}

static ib_api_status_t grow_own(struct osm_opensm *osm, cl_qlist_t *list, uint16_t mlid)
{
	size_t n = cl_qlist_count(list), i = 0;
	struct growing g = {.osm = osm, .mlid = mlid};
	struct branch root = {.n = n};

	if (n < 2)
		return IB_SUCCESS;
	root.sw = osm_mcast_mgr_find_root_switch(&osm->sm, list);
	if (!root.sw)
		return IB_ERROR;
	g.member = FAB_NEW(n, const osm_port_t *);
	g.sorted = FAB_NEW(n, const osm_port_t *);
	g.port = FAB_NEW(n, uint8_t);
	for (cl_list_item_t *at = cl_qlist_head(list); at != cl_qlist_end(list);
	     at = cl_qlist_next(at))
		g.member[i++] = ((osm_mcast_work_obj_t *)at)->p_port;
	FAB_PUSH(&g.todo, root);
	while (g.todo.n) {
		struct branch b = g.todo.v[--g.todo.n];
		size_t start[N_PORTS + 1];
		size_t at[N_PORTS + 1];

		if (b.depth >= MAX_DEPTH || !osm_switch_supports_mcast(b.sw)) {
			osm_log(&g.osm->log, OSM_LOG_ERROR,
				"fabkit: MLID 0x%x: switch 0x%016" PRIx64
				" does not support multicast or is too far\n",
				g.mlid, cl_ntoh64(b.sw->p_node->node_info.node_guid));
			continue;
		}
		/* Members of the branch by the ports that they leave by, stable;
		 * start[port] .. */
		memset(start, 0, (N_PORTS + 1) * sizeof(*start));
		for (size_t k = b.first; k < b.first + b.n; k++) {
			g.port[k] = osm_switch_recommend_mcast_path(
				b.sw, (osm_port_t *)(uintptr_t)g.member[k], g.mlid, TRUE);
			start[g.port[k] + 1]++;
		}
		start[0] = b.first;
		for (unsigned j = 0; j < N_PORTS; j++)
			start[j + 1] += start[j];
		memcpy(at, start, sizeof(at));
		for (size_t k = b.first; k < b.first + b.n; k++)
			g.sorted[at[g.port[k]]++] = g.member[k];
		memcpy(g.member + b.first, g.sorted + b.first, b.n * sizeof(*g.member));
		if (b.up)
			osm_mcast_tbl_set(&b.sw->mcast_tbl, g.mlid, b.up);
		for (unsigned p = 0; p < b.sw->num_ports; p++) /* OSM_NO_PATH is beyond */
			if (start[p + 1] > start[p])
				leave_by(&g, &b, p, start[p], start[p + 1] - start[p]);
	}
	FAB_FREE_ALL(g.todo.v, g.port, g.sorted, g.member);
	return IB_SUCCESS;
}

ib_api_status_t fab_opensm_own_tree(struct osm_opensm *osm, osm_mgrp_box_t *box)
{
	ib_api_status_t status = IB_INSUFFICIENT_MEMORY;
	cl_qlist_t list;
	cl_qmap_t map;

	osm_purge_mtree(&osm->sm, box);
	if (!osm_mcast_make_port_list_and_map(&list, &map, box))
		status = grow_own(osm, &list, box->mlid);
	osm_mcast_drop_port_list(&list);
	return status;
}

/* Largest number of MLIDs on a cable of the switch to another switch. */
static uint32_t max_efi_of(osm_switch_t *sw, uint32_t n_mlids)
{
	uint32_t use[N_PORTS] = {0}, max = 0;

	for (uint32_t m = 0;
	     m < n_mlids && m < sw->mcast_tbl.mft_depth && sw->mcast_tbl.p_mask_tbl; m++)
		for (unsigned at = 0; at <= sw->mcast_tbl.max_position; at++) {
			unsigned bits = cl_ntoh16((*sw->mcast_tbl.p_mask_tbl)[m][at]);

			for (; bits; bits &= bits - 1)
				use[at * IB_MCAST_MASK_SIZE +
				    (unsigned)__builtin_ctz(bits)]++;
		}
	for (unsigned p = 1; p < sw->num_ports; p++) {
		const osm_physp_t *port = physp(sw->p_node, p);

		if (port && port->p_remote_physp && port->p_remote_physp->p_node->sw &&
		    use[p] > max)
			max = use[p];
	}
	return max;
}

uint32_t fab_opensm_max_efi(struct osm_opensm *osm)
{
	const cl_qmap_t *all = &osm->subn.sw_guid_tbl;
	const cl_map_item_t *i;
	uint32_t max = 0, of_one;
	uint64_t last = 0;

	for (bool is_first = true;; is_first = false) {
		cl_plock_acquire(&osm->lock);
		i = is_first ? cl_qmap_head(all) : cl_qmap_get_next(all, last);
		if (i == cl_qmap_end(all))
			break;
		last = cl_qmap_key(i);
		of_one = max_efi_of((osm_switch_t *)(uintptr_t)i,
				    fab_opensm_n_groups(osm));
		cl_plock_release(&osm->lock);
		max = of_one > max ? of_one : max;
	}
	cl_plock_release(&osm->lock);
	return max;
}

static bool has_members(void *context, uint32_t group)
{
	const struct osm_opensm *osm = context;

	return group < fab_opensm_n_groups(osm) && osm->subn.mboxes[group];
}

static size_t count_ports(void *context, uint32_t group)
{
	const struct osm_opensm *osm = context;
	size_t n = 0;

	FAB_EACH_SWITCH(osm, sw) {
		const osm_mcast_tbl_t *tbl = &sw->mcast_tbl;

		for (unsigned at = 0;
		     tbl->p_mask_tbl && group < tbl->mft_depth && at <= tbl->max_position;
		     at++)
			n += (unsigned)__builtin_popcount((*tbl->p_mask_tbl)[group][at]);
	}
	return n;
}

static bool has_port(void *context, uint32_t group, uint64_t guid, uint8_t port)
{
	struct osm_opensm *osm = context;
	const osm_switch_t *sw = osm_get_switch_by_guid(&osm->subn, cl_hton64(guid));
	const osm_mcast_tbl_t *tbl = sw ? &sw->mcast_tbl : NULL;
	unsigned at = port / IB_MCAST_MASK_SIZE;

	return tbl && tbl->p_mask_tbl && group < tbl->mft_depth &&
	       at <= tbl->max_position &&
	       cl_ntoh16((*tbl->p_mask_tbl)[group][at]) >> (port % IB_MCAST_MASK_SIZE) &
		       1;
}

const struct fab_audit_tables fab_opensm_tables = {
	.exists = has_members, .n_ports = count_ports, .has_port = has_port};
