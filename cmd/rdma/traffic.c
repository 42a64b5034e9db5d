/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-rdma: the transfers, and the network made ready for them. */
#include <stdlib.h>

#include "fabric_rdma.h"

int rdma_traffic_init(struct rdma_traffic *t, const struct rdma_network *n,
		      uint64_t bytes, const struct fab_rdma_params *sim,
		      struct fab_err *err)
{
	const struct rdma_params *p = n->p;
	const struct fab_rdma_pattern_problem pattern = {.f = n->f,
							 .kfat = n->kfat,
							 .ends = &n->ends,
							 .bytes = bytes,
							 .repeats = p->repeats,
							 .is_read = p->op == 1,
							 .seed = p->run.seed};
	int rc = fab_rdma_pattern_make(p->pattern, &pattern, &t->transfers, err);

	if (rc && !p->has_pattern_file)
		fab_err_prefix(err, "--pattern");
	if (rc)
		return rc;
	t->bytes = bytes;
	t->problem =
		(struct fab_rdma_problem){.f = n->f,
					  .faults = n->dead,
					  .ends = &n->ends,
					  .routes = n->routes,
					  .transfer = t->transfers.of.v,
					  .n_transfers = (uint32_t)t->transfers.of.n};
	return fab_rdma_net_new(&t->problem, sim, &t->net, err);
}

void rdma_traffic_fini(struct rdma_traffic *t)
{
	fab_rdma_net_free(t->net);
	free(t->transfers.of.v);
	*t = (struct rdma_traffic){.bytes = 0};
}

uint64_t rdma_traffic_packets(const struct rdma_traffic *t, uint32_t mtu)
{
	uint64_t n = 0;

	for (size_t i = 0; i < t->transfers.of.n; i++)
		if (fab_rdma_has_path(t->net, (uint32_t)i))
			n += (t->transfers.of.v[i].bytes + mtu - 1) / mtu;
	return n;
}

uint64_t rdma_traffic_most_packets(const struct rdma_traffic *t, uint32_t mtu)
{
	uint64_t most = 1;

	for (size_t i = 0; i < t->transfers.of.n; i++) {
		uint64_t n = (t->transfers.of.v[i].bytes + mtu - 1) / mtu;

		most = n > most ? n : most;
	}
	return most;
}
