/* SPDX-License-Identifier: BSD-2-Clause */
#include "boot/failover.h"

#include <stdlib.h>

#include "base/mem.h"

static int cmp_growth(const void *a, const void *b)
{
	const struct fab_failover_server *x = a, *y = b;
	uint32_t gx = x->nodes - x->nodes_before, gy = y->nodes - y->nodes_before;

	if (gx != gy)
		return gx > gy ? -1 : 1;
	return x->server < y->server ? -1 : x->server > y->server;
}

static void count(const struct fab_machine *m, const struct fab_batch *batch,
		  const uint32_t *interface_of, uint32_t *of_server)
{
	for (uint32_t i = 0; i < batch->n; i++) {
		uint32_t interface = interface_of[batch->node[i]];

		if (interface < m->n_interfaces)
			of_server[m->interface_server[interface]]++;
	}
}

void fab_failover_of(const struct fab_machine *m, const struct fab_batch *batch,
		     const uint32_t *before, const uint32_t *after,
		     struct fab_failover *out)
{
	uint32_t *old = FAB_NEW0(m->n_servers, uint32_t);
	uint32_t *new = FAB_NEW0(m->n_servers, uint32_t);

	*out = (struct fab_failover){
		.grown = FAB_NEW(m->n_servers, struct fab_failover_server)};
	for (uint32_t i = 0; i < batch->n; i++)
		out->n_moved += after[batch->node[i]] < m->n_interfaces &&
				before[batch->node[i]] != after[batch->node[i]];
	count(m, batch, before, old);
	count(m, batch, after, new);
	for (uint32_t s = 0; s < m->n_servers; s++)
		if (new[s] > old[s] && !m->server_is_down[s])
			out->grown[out->n++] =
				(struct fab_failover_server){s, old[s], new[s]};
	qsort(out->grown, out->n, sizeof(*out->grown), cmp_growth);
	free(old);
	free(new);
}

void fab_failover_fini(struct fab_failover *failover)
{
	free(failover->grown);
	*failover = (struct fab_failover){0};
}
