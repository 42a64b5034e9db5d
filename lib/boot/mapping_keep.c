/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a site has stays: only nodes whose server is down get another one, and, where
 * servers are new, as many as hold the others back.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "boot/limits.h"
#include "boot/mapping_impl.h"

/* The mapping before: what was loaded, else balanced over the servers that were up. */
static int map_before(const struct fab_mapping_problem *p, uint32_t *interface_of,
		      struct fab_err *err)
{
	const struct fab_machine *m = p->m;
	struct fab_machine before = *m;
	struct fab_mapping_problem old = *p;
	int rc;

	if (p->loaded) {
		memcpy(interface_of, p->loaded, m->n_nodes * sizeof(*interface_of));
		return 0;
	}
	old.m = &before;
	before.server_is_down = FAB_NEW(m->n_servers, bool);
	memcpy(before.server_is_down, p->was_down ? p->was_down : m->server_is_down,
	       m->n_servers * sizeof(*m->server_is_down));
	rc = fab_mapping_balanced.map(&old, 0, interface_of, err);
	free(before.server_is_down);
	return rc;
}

static bool has_new_server(const struct fab_mapping_problem *p)
{
	bool is_new = false;

	for (uint32_t s = 0; s < p->m->n_servers && p->was_down; s++)
		is_new |= p->was_down[s] && !p->m->server_is_down[s];
	return is_new;
}

/* Nodes on each segment, in both directions, and of each server. */
struct loads {
	const struct fab_machine *m;
	uint32_t *down, *up; /* [n_vertices] */
	uint32_t *of_server; /* [n_servers] */
	uint64_t most_of_server;
	double bandwidth;
};

/* Add `more` to the path of a node; is any segment of it, or its server, beyond what the
 * bandwidth allows, before that? */
static bool walk(struct loads *l, uint32_t node, uint32_t interface, int more)
{
	const struct fab_machine *m = l->m;
	uint32_t a = m->node_vertex[node], s = m->interface_vertex[interface];
	uint32_t *n_of = &l->of_server[m->interface_server[interface]];
	bool is_beyond = *n_of > l->most_of_server;

	*n_of = (uint32_t)((int64_t)*n_of + more);
	while (a != s) {
		uint32_t *at = a > s ? &a : &s;
		uint32_t *n = at == &a ? &l->down[a] : &l->up[s];

		is_beyond |= *n * l->bandwidth > m->capacity_mbps[*at] * (1 + 1e-9);
		*n = (uint32_t)((int64_t)*n + more);
		*at = m->parent[*at];
	}
	return is_beyond;
}

/* Nodes lose their server, the last ones first, as long as a segment of their path has
 * more of them than the best of all mappings could have. */
static void release(const struct fab_mapping_problem *p, uint32_t *interface_of)
{
	const struct fab_machine *m = p->m;
	struct loads l = {.m = m,
			  .down = FAB_NEW0(m->n_vertices, uint32_t),
			  .up = FAB_NEW0(m->n_vertices, uint32_t),
			  .of_server = FAB_NEW0(m->n_servers, uint32_t),
			  .bandwidth = fab_mapping_upper_bound_mbps(m, p->batch)};

	l.most_of_server = fab_limits_server_quota(
		m, fab_limits_transfer_mbps(m, p->batch), l.bandwidth);
	for (uint32_t i = 0; i < p->batch->n; i++) {
		uint32_t node = p->batch->node[i];

		if (interface_of[node] != FAB_NONE)
			walk(&l, node, interface_of[node], 1);
	}
	for (uint32_t i = p->batch->n; i-- > 0 && isfinite(l.bandwidth);) {
		uint32_t node = p->batch->node[i];

		if (interface_of[node] == FAB_NONE ||
		    !walk(&l, node, interface_of[node], 0))
			continue;
		walk(&l, node, interface_of[node], -1);
		interface_of[node] = FAB_NONE;
	}
	free(l.down);
	free(l.up);
	free(l.of_server);
}

static int map_keep(const struct fab_mapping_problem *p, uint32_t argument,
		    uint32_t *interface_of, struct fab_err *err)
{
	const struct fab_machine *m = p->m;
	struct fab_batch all = fab_batch_all(m);
	int rc = map_before(p, interface_of, err);

	(void)argument;
	for (uint32_t i = 0; i < m->n_nodes && !rc; i++)
		if (interface_of[i] != FAB_NONE &&
		    !fab_interface_is_up(m, interface_of[i]))
			interface_of[i] = FAB_NONE;
	if (!rc && has_new_server(p))
		release(p, interface_of);
	if (!rc)
		fab_mapping_complete(m, p->batch, interface_of);
	if (!rc && p->batch->n < m->n_nodes) /* those that stay off, likewise */
		fab_mapping_complete(m, &all, interface_of);
	fab_batch_fini(&all);
	return rc;
}

const struct fab_mapping_engine fab_mapping_keep = {
	.form = "keep",
	.summary = "who has a server keeps it; orphans are spread best",
	.manual = "What was before (`--loaded`, else `balanced`) stays: only nodes whose "
		  "server is down get another one, so that the slowest node gets the "
		  "most; with `--with-server` also as many others as exceed what the "
		  "best mapping would leave where they are.",
	.keeps = true,
	.is_for_batch = true,
	.map = map_keep,
};
