/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Block-cyclic mappings: block i goes to server i mod N, over the servers that are up.
 * SCDA takes a supernode as the block, BCDA a board (Gong et al., cyclic distribution);
 * block:N any number of nodes.
 */
#include <stdlib.h>

#include "boot/mapping_impl.h"

/* All nodes below each vertex of a level to the next server; others one by one. */
static void by_level(const struct fab_machine *m, uint32_t level, uint32_t *interface_of)
{
	uint32_t n_up, *up = fab_interfaces_up(m, &n_up), block = 0, done = 0;

	for (uint32_t v = 0; v < m->n_vertices; v++) {
		if (m->level_of[v] != level || m->end_node[v] == m->first_node[v])
			continue;
		while (done < m->first_node[v])
			interface_of[done++] = up[block++ % n_up];
		while (done < m->end_node[v])
			interface_of[done++] = up[block % n_up];
		block++;
	}
	while (done < m->n_nodes)
		interface_of[done++] = up[block++ % n_up];
	free(up);
}

/* The outermost level that holds nodes and has a capacity; a single one says nothing. */
static uint32_t supernode_level(const struct fab_machine *m)
{
	uint32_t node_level = m->level_of[m->node_vertex[0]];

	for (uint32_t l = 1; l < m->n_levels; l++)
		if (!m->level[l].is_server && m->level[l].is_limited && l != node_level)
			return l;
	return node_level;
}

static int map_scda(const struct fab_mapping_problem *p, uint32_t argument,
		    uint32_t *interface_of, struct fab_err *err)
{
	(void)argument;
	(void)err;
	by_level(p->m, supernode_level(p->m), interface_of);
	return 0;
}

static int map_bcda(const struct fab_mapping_problem *p, uint32_t argument,
		    uint32_t *interface_of, struct fab_err *err)
{
	const struct fab_machine *m = p->m;

	(void)argument;
	(void)err;
	by_level(m, m->level_of[m->parent[m->node_vertex[0]]], interface_of);
	return 0;
}

static int map_block(const struct fab_mapping_problem *p, uint32_t argument,
		     uint32_t *interface_of, struct fab_err *err)
{
	uint32_t n_up, *up = fab_interfaces_up(p->m, &n_up);

	(void)err;
	for (uint32_t i = 0; i < p->m->n_nodes; i++)
		interface_of[i] = up[i / argument % n_up];
	free(up);
	return 0;
}

const struct fab_mapping_engine fab_mapping_scda = {
	.form = "scda",
	.summary = "supernode i to server i mod N",
	.manual = "Block-cyclic by the outermost units with a capacity of their "
		  "own (supernodes in the preset): unit i boots from server i "
		  "modulo their number.",
	.is_in_all = true,
	.map = map_scda,
};
const struct fab_mapping_engine fab_mapping_bcda = {
	.form = "bcda",
	.summary = "board i to server i mod N",
	.manual = "The same by the units right above the nodes (boards).",
	.is_in_all = true,
	.map = map_bcda,
};
const struct fab_mapping_engine fab_mapping_block = {
	.form = "block:N",
	.summary = "N nodes after each other to the next server",
	.manual = "The same by N consecutive nodes.",
	.map = map_block,
};
