/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sack-ro: selective acknowledgement for networks that reorder: a packet is lost when one
 * that was sent some time later is acknowledged (as RACK does for TCP, RFC 8985; in the
 * manner of Falcon and of the UEC's unordered delivery). A packet that nothing later can
 * tell of is sent again when a timeout is over.
 *
 * How much later, adapts as in RACK: a quarter of the idle round trip at first, a quarter
 * more when the receiver reports a packet that it had already, at most once a round
 * trip; the first quarter alone again after 16 recoveries without such a report. Unlike
 * there the bound is the timeout, not the mean round trip, which says little of packets
 * that are late.
 */
#include "rdma/sack.h"

enum { RECOVERIES = 16 };

static uint64_t tolerance(const struct rdma *r, const struct rdma_session *s)
{
	uint64_t time = (r->net->round_trip / 4 + 1) * (1 + (uint64_t)s->late_steps);

	if (r->params->reorder_ps)
		return r->params->reorder_ps;
	return time < r->rto ? time : r->rto;
}

/* The receiver has got a packet twice: what was taken for lost was late. */
static void note_late(struct rdma *r, struct rdma_session *s)
{
	if (tolerance(r, s) < r->rto && s->base >= s->late_until) {
		s->late_steps++;
		s->late_until = s->next_new;
	}
	s->n_recoveries = 0;
}

/* Something is lost: a recovery, until all that was sent by then is acknowledged. */
static void note_lost(struct rdma_session *s)
{
	if (s->is_recovering && s->base < s->recover)
		return;
	if (s->is_recovering && ++s->n_recoveries >= RECOVERIES)
		s->late_steps = s->n_recoveries = 0;
	s->is_recovering = true;
	s->recover = s->next_new;
}

static void sent(struct rdma *r, struct rdma_session *s, uint32_t number)
{
	(void)number;
	if (s->tx_deadline == UINT64_MAX)
		rdma_tx_timer(r, s, r->now + r->rto);
}

/* Those sent by `before` that are not acknowledged are lost; when is the next one? */
static uint64_t mark_lost(struct rdma_session *s, uint64_t before)
{
	uint64_t first = UINT64_MAX;
	uint32_t i = s->base;

	while ((i = rdma_bit_next_zero(s->acked, i, s->next_new)) < s->next_new) {
		if (s->time[i] > before) {
			if (s->time[i] < first && !rdma_bit(s->due, i))
				first = s->time[i];
			/* sent once only: what follows was sent later */
			if (s->sent[i] == 1)
				break;
		} else {
			rdma_due_add(s, i);
		}
		i++;
	}
	return first;
}

static void answer(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p)
{
	if (p->flags & RDMA_MULTI)
		note_late(r, s);
	if (!rdma_sack_note(s, p))
		return;
	if (p->number < s->n && s->time[p->number] > s->newest)
		s->newest = s->time[p->number];
	if (s->newest > tolerance(r, s))
		(void)mark_lost(s, s->newest - tolerance(r, s));
	if (s->n_due)
		note_lost(s);
	rdma_ready(r, s);
}

static void tx_expired(struct rdma *r, struct rdma_session *s)
{
	uint64_t first = mark_lost(s, r->now > r->rto ? r->now - r->rto : 0);

	if (s->n_due)
		r->result->n.timeouts++;
	rdma_tx_timer(r, s, (first == UINT64_MAX ? r->now : first) + r->rto);
	rdma_ready(r, s);
}

static const struct rdma_scheme_code code = {
	.needs = RDMA_NEEDS_DUE | RDMA_NEEDS_ACKED | RDMA_NEEDS_TIME | RDMA_NEEDS_GOT,
	.next = rdma_sack_next,
	.sent = sent,
	.data = rdma_sack_data,
	.answer = answer,
	.asked = rdma_sack_asked,
	.tx_expired = tx_expired,
};

const struct fab_rdma_scheme fab_rdma_scheme_sack_ro = {
	.name = "sack-ro",
	.summary = "selective acknowledgement that tolerates reordering",
	.manual = "Selective acknowledgement for networks that reorder: a packet is lost "
		  "when one that was sent some time later is acknowledged, or when a "
		  "timeout is over; that time grows when the receiver reports that "
		  "what was sent again was not lost; at most a bandwidth-delay product "
		  "in flight.",
	.sender = "a bit and a time a packet in flight, a timer, the reorder window",
	.receiver = "a bit a packet in flight",
	.answers = "ACK of each packet with all below it, and whether it was a copy",
	.origin = "RACK (RFC 8985), Falcon, UEC",
	.code = &code,
};
