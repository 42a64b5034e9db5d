/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * irn: selective acknowledgement with a cap on packets in flight, made for networks that
 * lose packets but keep their order. An acknowledgement out of order begins a recovery:
 * all below the highest number acknowledged that are not acknowledged are sent again,
 * once each, before anything new; it is over when what was sent before it is
 * acknowledged. The timer is short while few packets are in flight. Mittal et al.,
 * "Revisiting network support for RDMA", SIGCOMM 2018; its section 7 names for networks
 * that reorder a threshold of such acknowledgements, which is `nacks` here.
 */
#include "rdma/sack.h"

static uint64_t timeout(const struct rdma *r, const struct rdma_session *s)
{
	return rdma_sack_in_flight(s) < r->params->few ? r->params->rto_low_ps
						       : r->params->rto_high_ps;
}

static void restart(struct rdma *r, struct rdma_session *s)
{
	rdma_tx_timer(r, s, r->now + timeout(r, s));
}

static void sent(struct rdma *r, struct rdma_session *s, uint32_t number)
{
	if (number == s->base || s->tx_deadline == UINT64_MAX)
		restart(r, s);
}

/* Lost as far as the sender can tell: those between, each once in a recovery. */
static void mark_lost(struct rdma_session *s)
{
	uint32_t i = s->cursor > s->base ? s->cursor : s->base;

	for (; i < s->highest; i++)
		if (!rdma_bit(s->acked, i))
			rdma_due_add(s, i);
	s->cursor = i;
}

static void answer(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p)
{
	uint32_t base = s->base;

	if (rdma_sack_note(s, p) && s->base != base) {
		s->n_nacks = 0;
		restart(r, s);
	}
	if (s->is_recovering && s->base > s->recover)
		s->is_recovering = false;
	if (!s->is_recovering && p->number < s->n && p->number > p->value &&
	    p->value == s->base && ++s->n_nacks >= r->params->nacks) {
		s->is_recovering = true;
		s->recover = s->next_new - 1;
		s->cursor = s->base;
	}
	if (s->is_recovering)
		mark_lost(s);
	rdma_ready(r, s);
}

static void tx_expired(struct rdma *r, struct rdma_session *s)
{
	r->result->n.timeouts++;
	if (s->base < s->next_new) {
		s->is_recovering = true;
		s->recover = s->next_new - 1;
		s->cursor = s->base;
		rdma_due_add(s, s->base);
		mark_lost(s);
	}
	restart(r, s);
	rdma_ready(r, s);
}

static const struct rdma_scheme_code code = {
	.needs = RDMA_NEEDS_DUE | RDMA_NEEDS_ACKED | RDMA_NEEDS_GOT,
	.next = rdma_sack_next,
	.sent = sent,
	.data = rdma_sack_data,
	.answer = answer,
	.asked = rdma_sack_asked,
	.tx_expired = tx_expired,
};

const struct fab_rdma_scheme fab_rdma_scheme_irn = {
	.name = "irn",
	.summary =
		"selective acknowledgement, at most a bandwidth-delay product in flight",
	.manual = "Selective acknowledgement for networks that keep the order: the first "
		  "gap begins a recovery; at most a bandwidth-delay product in flight; a "
		  "short timeout while few packets are, else a long one (IRN). Where "
		  "packets come in another order it takes all of them for lost, "
		  "unless `--nacks` lets it wait.",
	.sender = "a bit a packet in flight, a timer",
	.receiver = "a bit a packet in flight",
	.answers = "ACK of each packet with all below it",
	.origin = "Mittal et al. 2018",
	.code = &code,
};
