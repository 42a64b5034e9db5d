/* SPDX-License-Identifier: BSD-2-Clause */
#include "boot/limits.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const char *const names[FAB_N_LIMITS] = {"disk", "transfer", "connections"};

const char *fab_limit_name(enum fab_limit limit)
{
	return names[limit];
}

bool fab_limit_is_given(const struct fab_machine *m, enum fab_limit limit)
{
	switch (limit) {
	case FAB_LIMIT_DISK:
		return m->limits.disk_mbps > 0;
	case FAB_LIMIT_TRANSFER:
		return m->limits.flow_mbps > 0;
	case FAB_LIMIT_CONNECTIONS:
		return m->limits.connections > 0;
	case FAB_N_LIMITS:
		break;
	}
	return false;
}

void fab_limits_apply(struct fab_machine *m, const struct fab_limits *limits,
		      double efficiency)
{
	m->limits = *limits;
	for (uint32_t v = 0; v < m->n_vertices; v++)
		m->capacity_mbps[v] *= efficiency;
}

void fab_limits_raise(const struct fab_machine *m, uint32_t doubled,
		      struct fab_machine *out)
{
	*out = *m;
	out->capacity_mbps = FAB_NEW(m->n_vertices, double);
	for (uint32_t v = 0; v < m->n_vertices; v++)
		out->capacity_mbps[v] =
			m->capacity_mbps[v] * (doubled >> m->level_of[v] & 1 ? 2 : 1);
	if (doubled & fab_limit_bit(FAB_LIMIT_DISK))
		out->limits.disk_mbps *= 2;
	if (doubled & fab_limit_bit(FAB_LIMIT_TRANSFER))
		out->limits.flow_mbps *= 2;
	if (doubled & fab_limit_bit(FAB_LIMIT_CONNECTIONS))
		out->limits.connections *= 2;
}

double fab_limits_transfer_mbps(const struct fab_machine *m,
				const struct fab_batch *batch)
{
	double most = 0;

	for (uint32_t i = 0; i < batch->n; i++)
		most = fmax(most, m->capacity_mbps[m->node_vertex[batch->node[i]]]);
	return m->limits.flow_mbps > 0 ? fmin(most, m->limits.flow_mbps) : most;
}

uint64_t fab_limits_server_quota(const struct fab_machine *m, double transfer_mbps,
				 double bandwidth_mbps)
{
	const uint64_t most = UINT64_C(1000000000000000);
	uint64_t disk = most, served = most, k = m->limits.connections;

	if (m->limits.disk_mbps > 0)
		disk = fab_limits_quota(m->limits.disk_mbps, bandwidth_mbps);
	if (k) {
		uint64_t rounds = fab_limits_quota(transfer_mbps, bandwidth_mbps);

		served = rounds < most / k ? rounds * k : most;
	}
	return disk < served ? disk : served;
}

double fab_limits_disk_share(const struct fab_machine *m, uint32_t n)
{
	return m->limits.disk_mbps > 0 ? m->limits.disk_mbps / n : (double)INFINITY;
}

double fab_limits_connections_share(const struct fab_machine *m, double transfer_mbps,
				    uint32_t n)
{
	uint32_t k = m->limits.connections;

	return k ? transfer_mbps / ((n - 1) / k + 1) : (double)INFINITY;
}

double *fab_limits_interfaces(const struct fab_machine *m)
{
	double *rate = FAB_NEW((size_t)m->n_interfaces + 1, double);
	uint32_t *n = FAB_NEW0((size_t)m->n_servers + 1, uint32_t);

	for (uint32_t i = 0; i < m->n_interfaces; i++)
		n[m->interface_server[i]]++;
	for (uint32_t i = 0; i < m->n_interfaces; i++) {
		uint32_t s = m->interface_server[i];

		rate[i] = m->capacity_mbps[m->interface_vertex[i]];
		if (m->limits.disk_mbps > 0)
			rate[i] = fmin(rate[i], m->limits.disk_mbps / n[s]);
		if (m->limits.connections && m->limits.flow_mbps > 0)
			rate[i] = fmin(rate[i], m->limits.connections *
							m->limits.flow_mbps / n[s]);
		if (m->server_is_down[s])
			rate[i] = 0;
	}
	free(n);
	return rate;
}
