/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * irn: selective acknowledgement with a cap on packets in flight, made for networks that
 * lose packets but keep their order. An acknowledgement out of order begins a recovery:
 * all below the highest number acknowledged that are not acknowledged are sent again,
 * once each, before anything new; it is over when what was sent before it is
 * acknowledged. The timer is short while few packets are in flight. Mittal et al.,
 * "Revisiting network support for RDMA", SIGCOMM 2018.
 *
 * That is `nacks` = 1. Where packets overtake each other it takes all of them for lost;
 * the authors name a threshold of acknowledgements out of order for such networks. Here
 * it adapts by default, which is ours: 1, as published, until the receiver reports that a
 * packet that was sent again had been late only, then more (sack.h). With more than 1, a
 * packet is lost that is so far below the highest acknowledged; where nothing new can be
 * sent that could tell of it (all has been sent, or the cap is reached), as far as
 * packets are outstanding (as in RFC 5827).
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

static bool is_published(const struct rdma *r, const struct rdma_session *s)
{
	return r->params->nacks == 1 || (!r->params->nacks && !s->raised);
}

/* So far below the highest acknowledged a packet is lost. */
static uint64_t threshold(const struct rdma *r, const struct rdma_session *s)
{
	uint64_t few =
		r->params->nacks ? r->params->nacks : rdma_sack_patience(s, 1, r->cap);

	if ((s->next_new == s->n || rdma_sack_in_flight(s) >= r->cap) &&
	    rdma_sack_outstanding(s) < few)
		few = rdma_sack_outstanding(s);
	return few;
}

/* Lost as far as the sender can tell: those between, each once in a recovery. */
static void mark_lost(const struct rdma *r, struct rdma_session *s)
{
	uint32_t i = s->cursor > s->base ? s->cursor : s->base, end = s->highest;

	if (!is_published(r, s))
		end = s->highest > threshold(r, s)
			      ? s->highest - (uint32_t)threshold(r, s)
			      : 0;
	for (; i < end; i++)
		if (!rdma_bit(s->acked, i))
			rdma_due_add(s, i);
	s->cursor = i;
}

/* Does an ACK say that something is lost? */
static bool tells_of_loss(const struct rdma *r, const struct rdma_session *s,
			  const struct rdma_packet *p)
{
	if (is_published(r, s))
		return p->number < s->n && p->number > p->value && p->value == s->base;
	return s->base + threshold(r, s) < s->highest;
}

static void answer(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p)
{
	uint32_t base = s->base;

	rdma_sack_note_late(s, p);
	if (rdma_sack_note(s, p) && s->base != base)
		restart(r, s);
	if (s->is_recovering && s->base > s->recover)
		s->is_recovering = false;
	if (!s->is_recovering && tells_of_loss(r, s, p)) {
		rdma_sack_recover(s);
		s->cursor = s->base;
	}
	if (s->is_recovering)
		mark_lost(r, s);
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
		mark_lost(r, s);
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
		  "packets overtake each other that takes all of them for lost; so the "
		  "threshold grows, which is ours, when the receiver reports a packet "
		  "that it had; `--nacks=1` is IRN as published.",
	.sender = "a bit a packet in flight, a timer, the threshold",
	.receiver = "a bit a packet in flight",
	.answers = "ACK of each packet with all below it, and whether it was a copy",
	.origin = "Mittal et al. 2018",
	.code = &code,
};
