/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * OpenSM's multicast tables against the trees. After each reply OpenSM has in them what
 * the switch said it holds: a reply that was late, or a switch that refused, leaves
 * another tree there than the one that was written.
 */
#include "opensm/plugin.h"

#include <stdlib.h>

#include "base/mem.h"

static void add(struct fab_opensm_expected *e, const struct fab_fabric *f, uint32_t port)
{
	struct fab_opensm_entry entry = {f->node_guid[f->port_node[port]],
					 (uint8_t)f->port_num[port]};

	FAB_PUSH(&e->entries, entry);
}

uint32_t fab_opensm_expect(const struct fab_keeper *k, uint32_t from, uint32_t end,
			   uint32_t n_entries, struct fab_opensm_expected *e)
{
	const struct fab_fabric *f = fab_keeper_fabric(k);
	uint32_t g;

	*e = (struct fab_opensm_expected){0};
	for (g = from; g < end && e->entries.n < n_entries; g++) {
		struct fab_live_tree t = fab_keeper_tree(k, g);

		if (t.root == FAB_NONE)
			continue;
		for (uint32_t i = 0; i < t.n_edges; i++) {
			add(e, f, f->cable_a[t.cable[i]]);
			add(e, f, f->cable_b[t.cable[i]]);
		}
		for (uint32_t i = 0; i < t.n_members; i++) {
			bool is_switch = fab_node_is_switch(f, f->port_node[t.member[i]]);

			add(e, f,
			    is_switch ? t.member[i] : fab_port_peer(f, t.member[i]));
		}
		FAB_PUSH(&e->groups, ((struct fab_opensm_ends){g, e->entries.n}));
	}
	return g;
}

void fab_opensm_expected_fini(struct fab_opensm_expected *e)
{
	free(e->entries.v);
	free(e->groups.v);
	*e = (struct fab_opensm_expected){0};
}

/* Ports of the MLID in the tables of all switches. */
static size_t count_ports(const struct osm_opensm *osm, uint32_t group)
{
	const cl_qmap_t *all = &osm->subn.sw_guid_tbl;
	size_t n = 0;

	for (cl_map_item_t *i = cl_qmap_head(all); i != cl_qmap_end(all);
	     i = cl_qmap_next(i)) {
		const osm_mcast_tbl_t *tbl = &((const osm_switch_t *)i)->mcast_tbl;

		for (unsigned at = 0;
		     tbl->p_mask_tbl && group < tbl->mft_depth && at <= tbl->max_position;
		     at++)
			n += (unsigned)__builtin_popcount((*tbl->p_mask_tbl)[group][at]);
	}
	return n;
}

static bool has_port(const struct osm_opensm *osm, uint32_t group,
		     const struct fab_opensm_entry *entry)
{
	const osm_switch_t *sw =
		osm_get_switch_by_guid(&osm->subn, cl_hton64(entry->guid));
	const osm_mcast_tbl_t *tbl = sw ? &sw->mcast_tbl : NULL;
	unsigned at = entry->port / IB_MCAST_MASK_SIZE;

	return tbl && tbl->p_mask_tbl && group < tbl->mft_depth &&
	       at <= tbl->max_position &&
	       cl_ntoh16((*tbl->p_mask_tbl)[group][at]) >>
			       (entry->port % IB_MCAST_MASK_SIZE) &
		       1;
}

bool fab_opensm_is_held(const struct osm_opensm *osm, const struct fab_opensm_expected *e,
			size_t i)
{
	size_t first = i ? e->groups.v[i - 1].end : 0, end = e->groups.v[i].end;
	uint32_t group = e->groups.v[i].group;

	/* a group that has gone needs no tree */
	if (group >= fab_opensm_n_groups(osm) || !osm->subn.mboxes[group])
		return true;
	if (count_ports(osm, group) != end - first)
		return false;
	for (size_t k = first; k < end; k++)
		if (!has_port(osm, group, &e->entries.v[k]))
			return false;
	return true;
}
