/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/destinations.h"

#include "fabric/ranks.h"
#include "unicast/engine.h"

#include <stdlib.h>
#include <string.h>

/* The switch at which packets to a port leave, FAB_NONE: it takes none or is dead. */
static uint32_t exit_switch(const struct fab_fabric *f, const struct fab_faults *faults,
			    uint32_t port)
{
	uint32_t node = f->port_node[port], sw = fab_port_switch(f, port);

	if (sw == FAB_NONE || !fab_switch_is_live(faults, sw))
		return FAB_NONE;
	if (fab_node_is_switch(f, node))
		return f->port_num[port] ? FAB_NONE : node;
	if (!fab_cable_is_live(faults, f->port_cable[port]))
		return FAB_NONE;
	return sw;
}

/* An end in the order of OpenSM: adapters' ports before switches. */
struct end {
	bool is_switch;
	uint32_t n_ends; /* on its switch */
	uint64_t guid;	 /* of the switch, as it lies on the wire */
	uint32_t num;	 /* port of the switch */
	uint32_t port, sw;
};

static int by_order(const void *x, const void *y)
{
	const struct end *a = x, *b = y;

	if (a->is_switch != b->is_switch)
		return a->is_switch ? 1 : -1;
	if (a->n_ends != b->n_ends)
		return a->n_ends > b->n_ends ? -1 : 1;
	if (a->guid != b->guid)
		return a->guid < b->guid ? -1 : 1;
	if (a->sw != b->sw)
		return a->sw < b->sw ? -1 : 1;
	if (a->num != b->num)
		return a->num < b->num ? -1 : 1;
	return (a->port > b->port) - (a->port < b->port);
}

static uint32_t list_ends(const struct fab_fabric *f, const struct fab_faults *faults,
			  struct end *ends, uint32_t *n_all)
{
	uint32_t *on = FAB_NEW0((size_t)f->n_switches + 1, uint32_t), n = 0;

	*n_all = 0;
	for (uint32_t p = 0; p < f->n_ports; p++) {
		uint32_t sw = exit_switch(f, faults, p);
		bool is_switch = fab_node_is_switch(f, f->port_node[p]);

		if (sw == FAB_NONE)
			continue;
		*n_all += fab_port_n_lids(f, p);
		on[sw] += !is_switch;
		ends[n++] = (struct end){
			.is_switch = is_switch,
			.guid = __builtin_bswap64(f->node_guid[sw]),
			.num = is_switch ? 0 : f->port_num[fab_port_peer(f, p)],
			.port = p,
			.sw = sw};
	}
	for (uint32_t i = 0; i < n; i++)
		ends[i].n_ends = ends[i].is_switch ? 0 : on[ends[i].sw];
	free(on);
	return n;
}

uint32_t fab_destinations(const struct fab_fabric *f, const struct fab_faults *faults,
			  struct fab_destination **out)
{
	struct end *ends = FAB_NEW((size_t)f->n_ports + 1, struct end);
	uint32_t *column = FAB_NEW((size_t)f->n_ports + 1, uint32_t);
	uint32_t n_all, n_ends = list_ends(f, faults, ends, &n_all), n = 0;

	for (uint32_t i = 0, at = 0; i < n_ends;
	     at += fab_port_n_lids(f, ends[i].port), i++)
		column[ends[i].port] = at;
	if (n_ends)
		qsort(ends, n_ends, sizeof(*ends), by_order);
	*out = FAB_NEW((size_t)n_all + 1, struct fab_destination);
	for (uint32_t offset = 0; n < n_all; offset++)
		for (uint32_t i = 0; i < n_ends; i++)
			if (offset < fab_port_n_lids(f, ends[i].port))
				(*out)[n++] = (struct fab_destination){
					ends[i].port, ends[i].sw, offset,
					column[ends[i].port] + offset};
	free(column);
	free(ends);
	return n;
}

uint32_t fab_destination_switches(const struct fab_fabric *f,
				  const struct fab_faults *faults,
				  const struct fab_kfat *kfat, uint32_t *sw_of)
{
	uint32_t *hosts = FAB_NEW(f->n_switches + 1, uint32_t), n = 0;

	fab_ranks_count_hosts(f, hosts);
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		if (fab_switch_is_live(faults, sw) &&
		    (kfat ? kfat->leaf_of[sw] != FAB_NONE : hosts[sw] > 0))
			sw_of[n++] = sw;
	free(hosts);
	return n;
}
