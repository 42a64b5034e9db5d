/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sack-ro: selective acknowledgement for networks that reorder: a packet is lost when one
 * that was sent some time later is acknowledged (as RACK does for TCP, RFC 8985; in the
 * manner of Falcon and of the UEC's unordered delivery). A packet that nothing later can
 * tell of is sent again when a timeout is over.
 *
 * How much later, adapts in the manner of RACK: a quarter of the idle round trip at
 * first, four times that when the receiver reports a packet that it had already. RACK
 * adds a quarter instead, up to the mean round trip, which says little of packets that
 * are late; the bound here is the timeout.
 */
#include "rdma/sack.h"

static uint64_t tolerance(const struct rdma *r, const struct rdma_session *s)
{
	return r->params->reorder_ps
		       ? r->params->reorder_ps
		       : rdma_sack_patience(s, r->net->round_trip / 4 + 1, r->rto);
}

static void sent(struct rdma *r, struct rdma_session *s, uint32_t number)
{
	(void)number;
	if (s->tx_deadline == UINT64_MAX)
		rdma_tx_timer(r, s, r->now + r->rto);
}

/* Those sent by then that are not acknowledged are lost: a timeout has passed, or what
 * was sent later is acknowledged, so long ago. */
static uint64_t lost_before(const struct rdma *r, const struct rdma_session *s)
{
	uint64_t by_timer = r->now > r->rto ? r->now - r->rto : 0;
	uint64_t by_ack = s->newest + (r->now - s->newest_heard), wait = tolerance(r, s);

	if (!s->newest_heard || by_ack < wait)
		return by_timer;
	by_ack -= wait;
	/* what was sent later than the newest has no witness */
	if (by_ack >= s->newest)
		by_ack = s->newest - 1;
	return by_ack > by_timer ? by_ack : by_timer;
}

/* They are to be sent again. When was the oldest of the others sent? */
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

/* When the next one is lost unless it is acknowledged before. */
static void look_again(struct rdma *r, struct rdma_session *s, uint64_t first)
{
	uint64_t at = (first == UINT64_MAX ? r->now : first) + r->rto, late;

	if (first < s->newest) {
		late = s->newest_heard + (first + tolerance(r, s) - s->newest);
		at = late < at ? late : at;
	}
	rdma_tx_timer(r, s, at > r->now ? at : r->now + 1);
}

static void look(struct rdma *r, struct rdma_session *s)
{
	uint64_t first = mark_lost(s, lost_before(r, s));

	if (s->is_recovering && s->base > s->recover)
		s->is_recovering = false;
	if (s->n_due && !s->is_recovering)
		rdma_sack_recover(s);
	look_again(r, s, first);
	rdma_ready(r, s);
}

static void answer(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p)
{
	rdma_sack_note_late(s, p);
	if (!rdma_sack_note(s, p))
		return;
	if (p->number < s->n && s->time[p->number] > s->newest) {
		s->newest = s->time[p->number];
		s->newest_heard = r->now;
	}
	look(r, s);
}

static void tx_expired(struct rdma *r, struct rdma_session *s)
{
	uint32_t due = s->n_due;

	look(r, s);
	r->result->n.timeouts += s->n_due > due;
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
