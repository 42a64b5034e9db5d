/* SPDX-License-Identifier: BSD-2-Clause */
#include "boot/limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const char *const names[FAB_N_LIMITS] = {"disk", "transfer", "connections"};

const char *fab_limit_name(enum fab_limit limit)
{
	return names[limit];
}

bool fab_limit_is_given(const struct fab_transfer_options *options, enum fab_limit limit)
{
	switch (limit) {
	case FAB_LIMIT_DISK:
		return options->server_disk_mbps > 0;
	case FAB_LIMIT_TRANSFER:
		return options->flow_cap_mbps > 0;
	case FAB_LIMIT_CONNECTIONS:
		return options->server_connections > 0;
	case FAB_N_LIMITS:
		break;
	}
	return false;
}

/* The most that one transfer of the batch gets. */
static double transfer_mbps(const struct fab_machine *m, const struct fab_batch *batch,
			    const double *capacity)
{
	double most = 0;

	for (uint32_t i = 0; i < batch->n; i++)
		most = fmax(most, capacity[m->node_vertex[batch->node[i]]]);
	return most;
}

void fab_limits_capacities(const struct fab_machine *m, const struct fab_batch *batch,
			   const struct fab_transfer_options *options, uint32_t doubled,
			   double *capacity)
{
	double disk = INFINITY, flow = INFINITY, served = INFINITY;

	for (uint32_t v = 0; v < m->n_vertices; v++)
		capacity[v] =
			m->capacity_mbps[v] * (doubled >> m->level_of[v] & 1 ? 2 : 1);
	if (!options)
		return;
	if (fab_limit_is_given(options, FAB_LIMIT_DISK))
		disk = options->server_disk_mbps *
		       (doubled & fab_limit_bit(FAB_LIMIT_DISK) ? 2 : 1);
	if (fab_limit_is_given(options, FAB_LIMIT_TRANSFER))
		flow = options->flow_cap_mbps *
		       (doubled & fab_limit_bit(FAB_LIMIT_TRANSFER) ? 2 : 1);
	for (uint32_t n = 0; n < m->n_nodes; n++)
		capacity[m->node_vertex[n]] = fmin(capacity[m->node_vertex[n]], flow);
	if (fab_limit_is_given(options, FAB_LIMIT_CONNECTIONS))
		served = options->server_connections * transfer_mbps(m, batch, capacity) *
			 (doubled & fab_limit_bit(FAB_LIMIT_CONNECTIONS) ? 2 : 1);
	for (uint32_t i = 0; i < m->n_interfaces; i++)
		capacity[m->interface_vertex[i]] =
			fmin(capacity[m->interface_vertex[i]], fmin(disk, served));
}

/* Where the most nodes of the batch are served: an interface of that server. */
static uint32_t fullest_server(const struct fab_machine *m, const struct fab_batch *batch,
			       const uint32_t *interface_of, uint32_t *n_nodes,
			       uint32_t *first_node)
{
	uint32_t *n = FAB_NEW0(m->n_servers, uint32_t), best = FAB_NONE;

	*n_nodes = 0;
	for (uint32_t i = 0; i < batch->n; i++)
		n[m->interface_server[interface_of[batch->node[i]]]]++;
	for (uint32_t i = 0; i < batch->n; i++) {
		uint32_t interface = interface_of[batch->node[i]];

		if (n[m->interface_server[interface]] > *n_nodes) {
			*n_nodes = n[m->interface_server[interface]];
			*first_node = batch->node[i];
			best = interface;
		}
	}
	free(n);
	return best;
}

static void add(struct fab_share *share, struct fab_share_segment segment,
		uint32_t first_node)
{
	segment.level = FAB_NONE;
	segment.share_mbps = segment.capacity_mbps / segment.max_sharers;
	if (segment.share_mbps < share->bandwidth_mbps) {
		share->bandwidth_mbps = segment.share_mbps;
		share->slowest_node = first_node;
		share->bottleneck = share->n_segments;
	} else if (!(segment.share_mbps > share->bandwidth_mbps)) {
		share->bottleneck = share->n_segments;
	}
	share->segment[share->n_segments++] = segment;
}

void fab_limits_share(const struct fab_machine *m, const struct fab_batch *batch,
		      const uint32_t *interface_of,
		      const struct fab_transfer_options *options, struct fab_share *share)
{
	uint32_t n, first = FAB_NONE, interface;
	double flow = INFINITY;

	if (!batch->n)
		return;
	interface = fullest_server(m, batch, interface_of, &n, &first);
	for (uint32_t i = 0; i < batch->n && share->node_mbps; i++)
		share->node_mbps[i] = fmin(share->node_mbps[i],
					   fab_limit_is_given(options, FAB_LIMIT_TRANSFER)
						   ? options->flow_cap_mbps
						   : (double)INFINITY);
	if (fab_limit_is_given(options, FAB_LIMIT_TRANSFER)) {
		flow = options->flow_cap_mbps;
		add(share,
		    (struct fab_share_segment){.name = names[FAB_LIMIT_TRANSFER],
					       .vertex = m->node_vertex[batch->node[0]],
					       .capacity_mbps = flow,
					       .max_sharers = 1},
		    batch->node[0]);
	}
	if (fab_limit_is_given(options, FAB_LIMIT_DISK))
		add(share,
		    (struct fab_share_segment){.is_up = true,
					       .name = names[FAB_LIMIT_DISK],
					       .vertex = m->interface_vertex[interface],
					       .capacity_mbps = options->server_disk_mbps,
					       .max_sharers = n},
		    first);
	flow = fmin(flow, transfer_mbps(m, batch, m->capacity_mbps));
	if (fab_limit_is_given(options, FAB_LIMIT_CONNECTIONS) && isfinite(flow))
		add(share,
		    (struct fab_share_segment){.is_up = true,
					       .name = names[FAB_LIMIT_CONNECTIONS],
					       .vertex = m->interface_vertex[interface],
					       .capacity_mbps =
						       options->server_connections * flow,
					       .max_sharers = n},
		    first);
}
