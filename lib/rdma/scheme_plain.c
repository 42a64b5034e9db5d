/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Schemes that keep no set of packets at both sides: gbn, rc, ssw, and the oracle.
 */
#include "rdma/state.h"

/*
 * gbn: InfiniBand's reliable connection: the receiver takes packets in order only. One
 * out of order is dropped; the first one causes a NAK, upon which the sender goes back to
 * the number expected. Acknowledgements are cumulative, every 8 packets and at the end;
 * the sender's timer goes back, too. InfiniBand Architecture Specification, volume 1,
 * 9.7.
 */
enum { PER_ACK = 8 };

/* The timer of the lowest packet that is not acknowledged. */
static void start_timer(struct rdma *r, struct rdma_session *s, uint32_t number)
{
	if (number == s->base || s->tx_timer.deadline == UINT64_MAX)
		rdma_timer_set(r, s, RDMA_TX_TIMER, r->now + r->rto);
}

static void gbn_data(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p)
{
	if (p->number < s->rx_base) {
		r->result->n.duplicates++;
		rdma_control(r, s, false, FAB_RDMA_ACK, s->rx_base, s->rx_base, false);
		return;
	}
	if (p->number > s->rx_base) {
		r->result->n.beyond++;
		if (s->rx_nak != s->rx_base) {
			s->rx_nak = s->rx_base;
			rdma_control(r, s, false, FAB_RDMA_NAK, s->rx_base, s->rx_base,
				     true);
		}
		return;
	}
	rdma_memory_write(r, s, p);
	if (++s->rx_base == s->n)
		rdma_complete(r, s);
	else if (s->rx_base % PER_ACK == 0)
		rdma_control(r, s, false, FAB_RDMA_ACK, s->rx_base, s->rx_base, false);
}

static void gbn_asked(struct rdma *r, struct rdma_session *s)
{
	rdma_control(r, s, false, FAB_RDMA_ACK, s->rx_base, s->rx_base, false);
}

static void gbn_answer(struct rdma *r, struct rdma_session *s,
		       const struct rdma_packet *p)
{
	/* a late one says nothing new */
	if (p->number < s->base)
		return;
	if (p->number > s->base) {
		s->base = p->number;
		rdma_timer_set(r, s, RDMA_TX_TIMER, r->now + r->rto);
	}
	/* after going back, what was sent before may be acknowledged still */
	if (s->next_new < s->base)
		s->next_new = s->base;
	if (p->kind == FAB_RDMA_NAK) {
		s->next_new = s->base;
		r->result->n.multi++;
	}
	rdma_ready(r, s);
}

static void gbn_tx_expired(struct rdma *r, struct rdma_session *s)
{
	r->result->n.timeouts++;
	s->next_new = s->base;
	rdma_timer_set(r, s, RDMA_TX_TIMER, r->now + r->rto);
	rdma_ready(r, s);
}

const struct fab_rdma_scheme fab_rdma_scheme_gbn = {
	.name = "gbn",
	.summary = "go back N: InfiniBand's reliable connection",
	.manual =
		"InfiniBand's reliable connection today: packets are taken in order only, the first one out of order causes a NAK, the sender goes back to what was expected; cumulative acknowledgements.",
	.sender = "number acknowledged, a timer",
	.receiver = "number expected",
	.answers = "ACK every 8 packets, NAK of the first out of order",
	.code =
		&(const struct rdma_scheme_code){
			.next = rdma_next_any,
			.sent = start_timer,
			.data = gbn_data,
			.answer = gbn_answer,
			.asked = gbn_asked,
			.tx_expired = gbn_tx_expired,
		},
};

/*
 * rc: the paper's account of TianHe-1 and InfiniBand: the receiver counts packets, and
 * when none has come for a while asks for the whole transfer again. An index of
 * retransmissions, 8 bits of every packet, says which pass a packet belongs to; those of
 * another pass do not count. What InfiniBand's RC really does is gbn.
 */
enum { EPOCHS = 256 };

static void rc_open_rx(struct rdma *r, struct rdma_session *s)
{
	rdma_timer_set(r, s, RDMA_RX_TIMER, r->now + r->rto);
}

/* Is index a of a later pass than b? It wraps. */
static bool is_later(uint32_t a, uint32_t b)
{
	return a != b && (a - b) % EPOCHS <= EPOCHS / 2;
}

static void rc_data(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p)
{
	if (is_later(p->value, s->rx_epoch)) {
		s->rx_epoch = p->value;
		s->rx_count = 0;
	}
	if (p->value != s->rx_epoch) {
		r->result->n.stale++;
		return;
	}
	r->result->n.duplicates += rdma_bit(s->written, p->number);
	rdma_memory_write(r, s, p);
	if (++s->rx_count == s->n)
		rdma_complete(r, s);
	else
		rdma_timer_set(r, s, RDMA_RX_TIMER, r->now + r->rto);
}

static void rc_rx_expired(struct rdma *r, struct rdma_session *s)
{
	r->result->n.timeouts++;
	rdma_control(r, s, false, FAB_RDMA_NAK, 0, s->rx_epoch, true);
	rdma_timer_set(r, s, RDMA_RX_TIMER, r->now + r->rto);
}

/* The pass is asked for again at once, and the rest of it does not count. */
static void rc_damaged(struct rdma *r, struct rdma_session *s,
		       const struct rdma_packet *p)
{
	if (is_later(p->value, s->rx_epoch)) {
		s->rx_epoch = p->value;
		s->rx_count = 0;
	}
	if (p->value != s->rx_epoch)
		return;
	rdma_control(r, s, false, FAB_RDMA_NAK, 0, s->rx_epoch, true);
	rdma_timer_set(r, s, RDMA_RX_TIMER, r->now + r->rto);
}

/* The pass has failed. Of one before this: so has this, if all of it has been sent. */
static void rc_answer(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p)
{
	if (p->kind != FAB_RDMA_NAK || is_later(p->value, s->epoch) ||
	    (p->value != s->epoch && s->next_new < s->n))
		return;
	s->epoch = (s->epoch + 1) % EPOCHS;
	s->next_new = 0;
	r->result->n.multi++;
	rdma_ready(r, s);
}

const struct fab_rdma_scheme fab_rdma_scheme_rc = {
	.name = "rc",
	.summary = "the whole transfer again, the paper's account of InfiniBand",
	.manual =
		"The receiver counts packets and asks for the whole transfer again when none has come for a while, the paper's account of TianHe-1 and of InfiniBand, which today is `gbn`.",
	.sender = "index of retransmissions",
	.receiver = "count, index of retransmissions, a timer",
	.answers = "NAK of the whole transfer on timeout",
	.code =
		&(const struct rdma_scheme_code){
			.open_rx = rc_open_rx,
			.next = rdma_next_any,
			.data = rc_data,
			.answer = rc_answer,
			.damaged = rc_damaged,
			.rx_expired = rc_rx_expired,
		},
};

/*
 * ssw: the sender's sliding window, the paper's account of Cray: packets stay in a
 * buffer until they are acknowledged, one by one; on a timeout the whole buffer is sent
 * again, and nothing new meanwhile. The receiver keeps nothing but its context: data go
 * to memory, whatever comes, and only the sender knows when all is there.
 *
 * The buffer is that of the transfer, where the paper has one for each destination.
 */
static uint32_t ssw_window(const struct rdma *r)
{
	return r->params->sender_window ? r->params->sender_window : r->params->window;
}

static void count_buffer(struct rdma *r, struct rdma_session *s, int64_t packets)
{
	struct rdma_end *e = &r->end[s->sender];

	e->send_buffer += (uint64_t)(packets * (int64_t)r->params->mtu);
	if (e->send_buffer > r->result->peak_send_buffer)
		r->result->peak_send_buffer = e->send_buffer;
}

static uint32_t ssw_next(struct rdma *r, struct rdma_session *s)
{
	uint64_t limit = (uint64_t)s->base + ssw_window(r);
	uint32_t number;

	if (s->n_due)
		return rdma_due_take(s);
	if (limit > s->n)
		limit = s->n;
	if (s->next_new >= limit)
		return FAB_NONE;
	number = s->next_new++;
	count_buffer(r, s, 1);
	return number;
}

static void ssw_data(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p)
{
	r->result->n.duplicates += rdma_bit(s->written, p->number);
	rdma_memory_write(r, s, p);
	rdma_control(r, s, false, FAB_RDMA_ACK, p->number, p->number, false);
}

static void ssw_damaged(struct rdma *r, struct rdma_session *s,
			const struct rdma_packet *p)
{
	rdma_control(r, s, false, FAB_RDMA_NAK, p->number, p->number, false);
}

/* The whole buffer again. */
static void ssw_resend(struct rdma *r, struct rdma_session *s)
{
	for (uint32_t i = s->base; i < s->next_new; i++)
		rdma_due_add(s, i);
	rdma_timer_set(r, s, RDMA_TX_TIMER, r->now + r->rto);
	rdma_ready(r, s);
}

static void ssw_answer(struct rdma *r, struct rdma_session *s,
		       const struct rdma_packet *p)
{
	uint32_t base;

	if (p->kind == FAB_RDMA_NAK && p->number >= s->base)
		ssw_resend(r, s);
	if (p->kind != FAB_RDMA_ACK || p->number >= s->next_new)
		return;
	(void)rdma_bit_set(s->acked, p->number);
	base = rdma_bit_next_zero(s->acked, s->base, s->n);
	if (base == s->base)
		return;
	count_buffer(r, s, -(int64_t)(base - s->base));
	s->base = base;
	rdma_due_drop_below(s, base);
	if (base == s->n) {
		rdma_sender_done(r, s);
		return;
	}
	rdma_timer_set(r, s, RDMA_TX_TIMER,
		       base < s->next_new ? r->now + r->rto : UINT64_MAX);
	rdma_ready(r, s);
}

static void ssw_tx_expired(struct rdma *r, struct rdma_session *s)
{
	r->result->n.timeouts++;
	ssw_resend(r, s);
}

const struct fab_rdma_scheme fab_rdma_scheme_ssw = {
	.name = "ssw",
	.summary = "sender's sliding window, the paper's account of Cray",
	.manual =
		"The sender's sliding window, the paper's account of Cray: packets stay in a buffer until each is acknowledged; on a timeout the whole buffer is sent again and nothing new meanwhile.",
	.sender = "a buffer of whole packets, a timer",
	.receiver = "its context only",
	.answers = "ACK of each packet",
	.code =
		&(const struct rdma_scheme_code){
			.needs = RDMA_NEEDS_DUE | RDMA_NEEDS_ACKED | RDMA_SENDER_KNOWS,
			.next = ssw_next,
			.sent = start_timer,
			.data = ssw_data,
			.answer = ssw_answer,
			.damaged = ssw_damaged,
			.tx_expired = ssw_tx_expired,
		},
};

/*
 * oracle: a lower bound for a transfer alone. The sender knows of a loss when it happens
 * and sends that packet again; no acknowledgements, no window, no copy too many. Schemes
 * that send copies get a delay drawn for each of them, and the first one counts; so a
 * packet of the oracle is held up only as long as the best of its copies.
 */
static void oracle_data(struct rdma *r, struct rdma_session *s,
			const struct rdma_packet *p)
{
	if (!rdma_bit_set(s->got, p->number)) {
		r->result->n.duplicates++;
		return;
	}
	rdma_memory_write(r, s, p);
	if (++s->rx_count == s->n)
		rdma_complete(r, s);
}

static void oracle_damaged(struct rdma *r, struct rdma_session *s,
			   const struct rdma_packet *p)
{
	if (!rdma_bit(s->got, p->number))
		r->code->lost(r, s, p->number);
}

static void oracle_lost(struct rdma *r, struct rdma_session *s, uint32_t number)
{
	rdma_due_add(s, number);
	rdma_ready(r, s);
}

const struct fab_rdma_scheme fab_rdma_scheme_oracle = {
	.name = "oracle",
	.summary = "lower bound: losses are known at once",
	.manual =
		"A lower bound that nothing real reaches: the sender knows of a loss when it happens, a packet is held up as long as the best of 64 copies would be, and nothing is acknowledged.",
	.sender = "everything",
	.receiver = "everything",
	.answers = "nothing",
	.code =
		&(const struct rdma_scheme_code){
			.needs = RDMA_NEEDS_DUE | RDMA_NEEDS_GOT | RDMA_TAKES_BEST,
			.next = rdma_next_any,
			.data = oracle_data,
			.damaged = oracle_damaged,
			.lost = oracle_lost,
		},
};
