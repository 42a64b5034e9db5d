/* SPDX-License-Identifier: BSD-2-Clause */
/* Selective acknowledgement: irn and sack-ro. */
#include "rdma/state.h"

/* Shared by both: the receiver takes packets in any order and acknowledges each: its
 * number, and all below the lowest one missing. */

/*
 * Packets in flight as IRN counts them: next number - cumulative acknowledgement, so that
 * selective acknowledgements open nothing (Mittal et al., SIGCOMM 2018, section 3.2).
 * Receiver and sender keep a bit for each number of this range.
 */
static uint32_t in_flight(const struct rdma_session *s)
{
	return s->next_new > s->base ? s->next_new - s->base : 0;
}

/* Packets sent that are not acknowledged and not due to be sent again. */
static uint32_t outstanding(const struct rdma_session *s)
{
	uint32_t known = s->base + s->n_acked + s->n_due;

	return s->next_new > known ? s->next_new - known : 0;
}

static void acknowledge(struct rdma *r, struct rdma_session *s, uint32_t number,
			bool was_there)
{
	rdma_control(r, s, false, FAB_RDMA_ACK, number, s->rx_base, was_there);
}

static void ack_data(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p)
{
	if (!rdma_bit_set(s->got, p->number)) {
		r->result->n.duplicates++;
		acknowledge(r, s, p->number, true);
		return;
	}
	rdma_memory_write(r, s, p);
	if (++s->rx_count == s->n) {
		rdma_complete(r, s);
		return;
	}
	s->rx_base = rdma_bit_next_zero(s->got, s->rx_base, s->n);
	acknowledge(r, s, p->number, false);
}

static void asked(struct rdma *r, struct rdma_session *s)
{
	/* base has not arrived: only what is below is reported */
	rdma_control(r, s, false, FAB_RDMA_ACK, FAB_NONE, s->rx_base, false);
}

/* One below base does not count any more. */
static void forget_below(struct rdma_session *s, uint32_t base)
{
	for (uint32_t i = s->base; i < base; i++)
		s->n_acked -= rdma_bit_set(s->acked, i) ? 0 : 1;
	s->base = base;
	rdma_due_drop_below(s, base);
}

/* The next number that is due, else the next new one within the cap. */
static uint32_t next_capped(struct rdma *r, struct rdma_session *s)
{
	if (s->n_due)
		return rdma_due_take(s);
	if (s->next_new == s->n || in_flight(s) >= r->cap)
		return FAB_NONE;
	s->next_new++;
	if (in_flight(s) > r->result->peak_range)
		r->result->peak_range = in_flight(s);
	return s->next_new - 1;
}

/* Note an ACK; does it say anything new? */
static bool note_ack(struct rdma_session *s, const struct rdma_packet *p)
{
	bool is_new = false;

	if (p->kind != FAB_RDMA_ACK || p->value > s->n)
		return false;
	if (p->number < s->n && p->number >= s->base &&
	    rdma_bit_set(s->acked, p->number)) {
		s->n_acked++;
		rdma_due_drop(s, p->number);
		is_new = true;
	}
	if (p->value > s->base) {
		forget_below(s, p->value);
		is_new = true;
	}
	if (p->number < s->n && p->number >= s->highest)
		s->highest = p->number + 1;
	return is_new;
}

enum { RECOVERIES = 16, RAISED_MAX = 31 };

/*
 * Threshold of lateness behind which a packet is lost: it that begins at `first` and is
 * made four times as large, up to `most`, at most once a round trip, when an ACK says
 * that the receiver had the packet already, so that what was taken for lost was late.
 * After 16 recoveries without such a report it is the first one again, as RACK has it
 * (RFC 8985).
 */
static uint64_t patience(const struct rdma_session *s, uint64_t first, uint64_t most)
{
	unsigned bits = 2 * s->raised;

	return first < most >> bits ? first << bits : most;
}

/* An ACK has arrived: is it of a copy? */
static void note_late(struct rdma_session *s, const struct rdma_packet *p)
{
	if (!(p->flags & RDMA_MULTI))
		return;
	if (s->base >= s->late_until && s->raised < RAISED_MAX) {
		s->raised++;
		s->late_until = s->next_new;
	}
	s->n_recoveries = 0;
}

/* A recovery begins, until all that has been sent by now is acknowledged. */
static void recover(struct rdma_session *s)
{
	if (s->n_recoveries++ == RECOVERIES)
		s->raised = s->n_recoveries = 0;
	s->is_recovering = true;
	s->recover = s->next_new - 1;
}

/*
 * irn: selective acknowledgement with a cap on packets in flight, made for networks that
 * lose packets but keep their order. An acknowledgement out of order begins a recovery:
 * all below the highest number acknowledged that are not acknowledged are sent again,
 * once each, before anything new; it ends when what was sent before it is
 * acknowledged. The timer is short while few packets are in flight. Mittal et al.,
 * "Revisiting network support for RDMA", SIGCOMM 2018.
 *
 * That is `nacks` = 1. Where packets overtake each other it takes all of them for lost;
 * the authors name a threshold of acknowledgements out of order for such networks. Here
 * it adapts by default, which is ours: 1, as published, until the receiver reports that a
 * packet that was sent again had been late only, then more (sack.h). With more than 1, a
 * packet is lost that is so far below the highest acknowledged; where nothing new can be
 * sent that could show it (all has been sent, or the cap is reached), as far as
 * packets are outstanding (as in RFC 5827).
 */
static uint64_t irn_timeout(const struct rdma *r, const struct rdma_session *s)
{
	return in_flight(s) < r->params->few ? r->params->rto_low_ps
					     : r->params->rto_high_ps;
}

static void irn_restart(struct rdma *r, struct rdma_session *s)
{
	rdma_timer_set(r, s, RDMA_TX_TIMER, r->now + irn_timeout(r, s));
}

static void irn_sent(struct rdma *r, struct rdma_session *s, uint32_t number)
{
	if (number == s->base || s->tx_timer.deadline == UINT64_MAX)
		irn_restart(r, s);
}

static bool is_published(const struct rdma *r, const struct rdma_session *s)
{
	return r->params->nacks == 1 || (!r->params->nacks && !s->raised);
}

/* So far below the highest acknowledged a packet is lost. */
static uint64_t threshold(const struct rdma *r, const struct rdma_session *s)
{
	uint64_t few = r->params->nacks ? r->params->nacks : patience(s, 1, r->cap);

	if ((s->next_new == s->n || in_flight(s) >= r->cap) && outstanding(s) < few)
		few = outstanding(s);
	return few;
}

/* Presumed lost: those between, each once in a recovery. */
static void irn_mark_lost(const struct rdma *r, struct rdma_session *s)
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

static void irn_answer(struct rdma *r, struct rdma_session *s,
		       const struct rdma_packet *p)
{
	uint32_t base = s->base;

	note_late(s, p);
	if (note_ack(s, p) && s->base != base)
		irn_restart(r, s);
	if (s->is_recovering && s->base > s->recover)
		s->is_recovering = false;
	if (!s->is_recovering && tells_of_loss(r, s, p)) {
		recover(s);
		s->cursor = s->base;
	}
	if (s->is_recovering)
		irn_mark_lost(r, s);
	rdma_ready(r, s);
}

static void irn_tx_expired(struct rdma *r, struct rdma_session *s)
{
	r->result->n.timeouts++;
	if (s->base < s->next_new) {
		s->is_recovering = true;
		s->recover = s->next_new - 1;
		s->cursor = s->base;
		rdma_due_add(s, s->base);
		irn_mark_lost(r, s);
	}
	irn_restart(r, s);
	rdma_ready(r, s);
}

const struct fab_rdma_scheme fab_rdma_scheme_irn = {
	.name = "irn",
	.summary =
		"selective acknowledgement, at most a bandwidth-delay product in flight",
	.manual =
		"Selective acknowledgement for networks that keep the order: the first gap begins a recovery; at most a bandwidth-delay product in flight; a short timeout while few packets are, else a long one (IRN). Packets that others overtake are taken for lost; so the threshold grows, which is ours, when the receiver reports a packet that it had (`--set nacks`).",
	.sender = "a bit a packet in flight, a timer, the threshold",
	.receiver = "a bit a packet in flight",
	.answers = "ACK of each packet with all below it, and whether it was a copy",
	.code =
		&(const struct rdma_scheme_code){
			.needs = RDMA_NEEDS_DUE | RDMA_NEEDS_ACKED | RDMA_NEEDS_GOT,
			.next = next_capped,
			.sent = irn_sent,
			.data = ack_data,
			.answer = irn_answer,
			.asked = asked,
			.tx_expired = irn_tx_expired,
		},
};

/*
 * sack-ro: selective acknowledgement for networks that reorder: a packet is lost when one
 * that was sent some time later is acknowledged (as RACK does for TCP, RFC 8985; in the
 * manner of Falcon and of the UEC's unordered delivery). A packet that nothing later can
 * show is sent again after a timeout.
 *
 * How much later, adapts in the manner of RACK: a quarter of the idle round trip at
 * first, four times that when the receiver reports a packet that it had already. RACK
 * adds a quarter instead, up to the mean round trip, which says little of packets that
 * are late; the bound here is the timeout.
 */
static uint64_t tolerance(const struct rdma *r, const struct rdma_session *s)
{
	return r->params->reorder_ps ? r->params->reorder_ps
				     : patience(s, r->net->round_trip / 4 + 1, r->rto);
}

static void ro_sent(struct rdma *r, struct rdma_session *s, uint32_t number)
{
	(void)number;
	if (s->tx_timer.deadline == UINT64_MAX)
		rdma_timer_set(r, s, RDMA_TX_TIMER, r->now + r->rto);
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
static uint64_t ro_mark_lost(struct rdma_session *s, uint64_t before)
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

/* Set the event at which the next packet counts as lost, unless it is acknowledged. */
static void look_again(struct rdma *r, struct rdma_session *s, uint64_t first)
{
	uint64_t at = (first == UINT64_MAX ? r->now : first) + r->rto, late;

	if (first < s->newest) {
		late = s->newest_heard + (first + tolerance(r, s) - s->newest);
		at = late < at ? late : at;
	}
	rdma_timer_set(r, s, RDMA_TX_TIMER, at > r->now ? at : r->now + 1);
}

static void look(struct rdma *r, struct rdma_session *s)
{
	uint64_t first = ro_mark_lost(s, lost_before(r, s));

	if (s->is_recovering && s->base > s->recover)
		s->is_recovering = false;
	if (s->n_due && !s->is_recovering)
		recover(s);
	look_again(r, s, first);
	rdma_ready(r, s);
}

static void ro_answer(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p)
{
	note_late(s, p);
	if (!note_ack(s, p))
		return;
	if (p->number < s->n && s->time[p->number] > s->newest) {
		s->newest = s->time[p->number];
		s->newest_heard = r->now;
	}
	look(r, s);
}

static void ro_tx_expired(struct rdma *r, struct rdma_session *s)
{
	uint32_t due = s->n_due;

	look(r, s);
	r->result->n.timeouts += s->n_due > due;
}

const struct fab_rdma_scheme fab_rdma_scheme_sack_ro = {
	.name = "sack-ro",
	.summary = "selective acknowledgement that tolerates reordering",
	.manual =
		"Selective acknowledgement for networks that reorder: a packet is lost when one sent some time later is acknowledged, or on timeout; that time grows when the receiver reports that what was sent again was not lost; at most a bandwidth-delay product in flight.",
	.sender = "a bit and a time a packet in flight, a timer, the reorder window",
	.receiver = "a bit a packet in flight",
	.answers = "ACK of each packet with all below it, and whether it was a copy",
	.code =
		&(const struct rdma_scheme_code){
			.needs = RDMA_NEEDS_DUE | RDMA_NEEDS_ACKED | RDMA_NEEDS_TIME |
				 RDMA_NEEDS_GOT,
			.next = next_capped,
			.sent = ro_sent,
			.data = ack_data,
			.answer = ro_answer,
			.asked = asked,
			.tx_expired = ro_tx_expired,
		},
};
