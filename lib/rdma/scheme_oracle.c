/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * oracle: a lower bound for a transfer alone. The sender knows of a loss when it happens
 * and sends that packet again; no acknowledgements, no window, no copy too many. Schemes
 * that send copies get a delay drawn for each of them, and the first one counts; so a
 * packet of the oracle is held up only as long as the best of its copies.
 */
#include "rdma/state.h"

static uint32_t next(struct rdma *r, struct rdma_session *s)
{
	return rdma_next_due_or_new(r, s, s->n);
}

static void data(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p)
{
	if (!rdma_bit_set(s->got, p->number)) {
		r->result->n.duplicates++;
		return;
	}
	rdma_memory_write(r, s, p);
	if (++s->rx_count == s->n)
		rdma_complete(r, s);
}

static void lost(struct rdma *r, struct rdma_session *s, uint32_t number)
{
	rdma_due_add(s, number);
	rdma_ready(r, s);
}

static const struct rdma_scheme_code code = {
	.needs = RDMA_NEEDS_DUE | RDMA_NEEDS_GOT | RDMA_TAKES_BEST,
	.next = next,
	.data = data,
	.lost = lost,
};

const struct fab_rdma_scheme fab_rdma_scheme_oracle = {
	.name = "oracle",
	.summary = "lower bound: losses are known at once",
	.manual = "A lower bound that nothing real reaches: the sender knows of a loss "
		  "when it happens, a packet is held up as long as the best of 64 copies "
		  "would be, and nothing is acknowledged.",
	.sender = "everything",
	.receiver = "everything",
	.answers = "nothing",
	.origin = "bound",
	.code = &code,
};
