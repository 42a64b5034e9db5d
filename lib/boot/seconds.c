/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A second server for each node: for each server in turn, where its nodes go when it is
 * lost. A node has one first server, so that the answers for all single losses are one
 * mapping.
 */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "boot/mapping_impl.h"
#include "boot/share.h"

/* Nodes of the server that has the most, by another path than shares. */
static uint32_t most_nodes(const struct fab_machine *m, const struct fab_batch *batch,
			   const uint32_t *interface_of)
{
	FAB_AUTOFREE uint32_t *n = FAB_NEW0((size_t)m->n_servers + 1, uint32_t);
	uint32_t most = 0;

	for (uint32_t i = 0; i < batch->n; i++) {
		uint32_t s = m->interface_server[interface_of[batch->node[i]]];

		if (++n[s] > most)
			most = n[s];
	}
	return most;
}

/* One server is lost: second servers of its nodes, and what all nodes get then. */
static int lose(struct fab_machine *m, const struct fab_batch *batch, uint32_t server,
		const uint32_t *interface_of, uint32_t *after, uint32_t *second_of,
		struct fab_seconds *out, struct fab_err *err)
{
	uint32_t n_here = 0, most;
	struct fab_share share;
	double bound, pace;
	int rc;

	memcpy(after, interface_of, m->n_nodes * sizeof(*after));
	for (uint32_t i = 0; i < batch->n; i++) {
		uint32_t node = batch->node[i];

		if (m->interface_server[interface_of[node]] == server) {
			after[node] = FAB_NONE;
			n_here++;
		}
	}
	if (!n_here)
		return 0;
	fab_mapping_complete(m, batch, after);
	for (uint32_t i = 0; i < batch->n; i++)
		if (after[batch->node[i]] != interface_of[batch->node[i]])
			second_of[batch->node[i]] = after[batch->node[i]];
	rc = fab_share_of(m, batch, after, &share, err);
	if (rc)
		return rc;
	bound = fab_mapping_upper_bound_mbps(m, batch);
	pace = fab_share_pace(&share);
	most = most_nodes(m, batch, after);
	out->n_losses++;
	out->n_at_bound += pace >= bound * (1 - 1e-9);
	if (out->worst_server == FAB_NONE || pace < out->bandwidth_mbps) {
		out->worst_server = server;
		out->bandwidth_mbps = pace;
		out->bound_mbps = bound;
	}
	if (most > out->most_nodes)
		out->most_nodes = most;
	return 0;
}

int fab_mapping_seconds(const struct fab_machine *m, const struct fab_batch *batch,
			const uint32_t *interface_of, uint32_t *second_of,
			struct fab_seconds *out, struct fab_err *err)
{
	FAB_AUTOFREE bool *is_down = FAB_NEW((size_t)m->n_servers + 1, bool);
	FAB_AUTOFREE uint32_t *after = FAB_NEW((size_t)m->n_nodes + 1, uint32_t);
	struct fab_machine less = *m;
	uint32_t n_up = 0;
	int rc = fab_mapping_verify(m, batch, interface_of, err);

	*out = (struct fab_seconds){.worst_server = FAB_NONE};
	memset(second_of, 0xff, m->n_nodes * sizeof(*second_of));
	for (uint32_t s = 0; s < m->n_servers; s++)
		n_up += !m->server_is_down[s];
	if (!rc && n_up < 2)
		return fab_fail(
			err, EINVAL,
			"one server is up: there is no second server for its nodes");
	out->even_nodes = n_up < 2 ? 0 : (batch->n + n_up - 2) / (n_up - 1);
	memcpy(is_down, m->server_is_down, m->n_servers * sizeof(*is_down));
	less.server_is_down = is_down;
	for (uint32_t s = 0; s < m->n_servers && !rc; s++) {
		if (m->server_is_down[s])
			continue;
		is_down[s] = true;
		rc = lose(&less, batch, s, interface_of, after, second_of, out, err);
		is_down[s] = false;
	}
	return rc;
}
