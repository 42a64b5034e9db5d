/* SPDX-License-Identifier: BSD-2-Clause */
/* The receiver's sliding window: rsw as in the paper, and rsw+. */
#include "rdma/state.h"

/*
 * rsw: the receiver's sliding window, exactly as in the paper: packets go straight to
 * memory in any order within WBASE .. WBASE + W, one beyond is dropped and asked for at
 * once, one timer watches WBASE. Nothing is acknowledged.
 */
static void open_rx(struct rdma *r, struct rdma_session *s)
{
	rdma_timer_set(r, s, RDMA_RX_TIMER, r->now + r->rto);
}

static void resend(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p)
{
	uint32_t end = p->flags & RDMA_MULTI ? s->next_new : p->number + 1;

	/* what was never sent comes by itself */
	for (uint32_t i = p->number; i < end && i < s->next_new; i++)
		rdma_due_add(s, i);
	rdma_ready(r, s);
}

static void ask_for(struct rdma *r, struct rdma_session *s, uint32_t number, bool multi)
{
	rdma_control(r, s, false, FAB_RDMA_RESEND, number, s->window.base, multi);
}

static bool take(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p)
{
	switch (fab_rdma_window_take(&s->window, p->number)) {
	case FAB_RDMA_PLACED:
		rdma_memory_write(r, s, p);
		return true;
	case FAB_RDMA_DUPLICATE:
		r->result->n.duplicates++;
		break;
	case FAB_RDMA_BEYOND:
		r->result->n.beyond++;
		ask_for(r, s, p->number, false);
		break;
	}
	return false;
}

/* It is asked for at once, as one beyond the window. */
static void damaged(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p)
{
	if (!fab_rdma_window_has(&s->window, p->number))
		ask_for(r, s, p->number, false);
}

static bool has_all(const struct rdma_session *s)
{
	return s->window.base >= s->n;
}

static void rsw_data(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p)
{
	uint32_t base = s->window.base;

	(void)take(r, s, p);
	if (s->window.base == base)
		return;
	if (has_all(s)) {
		rdma_complete(r, s);
		return;
	}
	if (r->params->multi == FAB_RDMA_MULTI_SAME)
		s->rx_expired = 0;
	rdma_timer_set(r, s, RDMA_RX_TIMER, r->now + r->rto);
}

static void expired(struct rdma *r, struct rdma_session *s)
{
	bool multi = s->rx_expired >= r->params->singles;

	r->result->n.timeouts++;
	r->result->n.multi += multi;
	s->rx_expired = multi ? 0 : s->rx_expired + 1;
	ask_for(r, s, s->window.base, multi);
	rdma_timer_set(r, s, RDMA_RX_TIMER, r->now + r->rto);
}

const struct fab_rdma_scheme fab_rdma_scheme_rsw = {
	.name = "rsw",
	.summary = "receiver's sliding window, as the paper has it",
	.manual =
		"The receiver's sliding window of the paper, its rule for sliding corrected: data within the window go to memory in any order; a packet beyond it is dropped and asked for at once; one timer asks for the lowest number missing, after some times for all from it on. Nothing is acknowledged, nothing is kept to be sent again.",
	.sender = "numbers to send again",
	.receiver = "WBASE, WVEC of W bits, a timer",
	.answers = "RESEND beyond the window and on timeout",
	.has_window = true,
	.code =
		&(const struct rdma_scheme_code){
			.needs = RDMA_NEEDS_DUE | RDMA_NEEDS_WINDOW,
			.open_rx = open_rx,
			.next = rdma_next_any,
			.data = rsw_data,
			.answer = resend,
			.damaged = damaged,
			.rx_expired = expired,
		},
};

/*
 * rsw-vec: rsw whose RESEND carries WVEC and a range of numbers, so that one asks for all
 * gaps in it. A gap within the window is asked for once: when an arrival is half a window
 * ahead of it, or as soon as the last packet has arrived. A packet beyond the window is
 * dropped and is a gap when the window has come to it; every half window of such packets
 * what is missing is asked for again, because it was lost again. The timer, too, asks
 * for everything from WBASE on.
 */
static void vec_data(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p)
{
	uint32_t base = s->window.base, half = (r->params->window + 1) / 2, i, limit;
	enum fab_rdma_arrival what = fab_rdma_window_take(&s->window, p->number);

	if (what == FAB_RDMA_PLACED)
		rdma_memory_write(r, s, p);
	r->result->n.duplicates += what == FAB_RDMA_DUPLICATE;
	r->result->n.beyond += what == FAB_RDMA_BEYOND;
	if (has_all(s)) {
		rdma_complete(r, s);
		return;
	}
	if (s->window.base != base)
		rdma_timer_set(r, s, RDMA_RX_TIMER, r->now + r->rto);
	base = s->window.base;
	s->rx_last |= p->number == s->n - 1;
	if (s->rx_last)
		limit = s->n;
	else
		limit = p->number >= half ? p->number - half + 1 : 0;
	if (limit > base + s->window.width + 1)
		limit = base + s->window.width + 1;
	i = s->rx_told > base ? s->rx_told : base;
	/* what was asked for half a window ago was lost again */
	if (what == FAB_RDMA_BEYOND &&
	    (p->number - base - s->window.width - 1) % half == 0)
		i = base;
	while (i < limit && fab_rdma_window_has(&s->window, i))
		i++;
	if (i < limit)
		rdma_request_gaps(r, s, i, limit);
	if (i < limit || limit > s->rx_told)
		s->rx_told = limit;
}

static void vec_damaged(struct rdma *r, struct rdma_session *s,
			const struct rdma_packet *p)
{
	s->rx_last |= p->number == s->n - 1;
	if (!fab_rdma_window_has(&s->window, p->number) &&
	    p->number <= s->window.base + s->window.width)
		rdma_request_gaps(r, s, p->number, p->number + 1);
}

static void vec_rx_expired(struct rdma *r, struct rdma_session *s)
{
	r->result->n.timeouts++;
	rdma_request_gaps(r, s, s->window.base, s->n);
	if (s->rx_told <= s->window.base)
		s->rx_told = s->window.base + 1;
	rdma_timer_set(r, s, RDMA_RX_TIMER, r->now + r->rto);
}

/* Packets of the range that were sent and have not arrived; what is beyond the window
 * follows in its order, so that a list of W numbers is enough. */
static void vec_answer(struct rdma *r, struct rdma_session *s,
		       const struct rdma_packet *p)
{
	const struct rdma_vector *v = &r->vector.v[p->value];
	const struct fab_rdma_window seen = {.base = v->base,
					     .width = r->params->window,
					     .mask = s->window.mask,
					     .ring = v->ring};
	uint32_t end = p->number < s->next_new ? p->number : s->next_new;

	/* one that was overtaken asks for a range of its own */
	if (v->base > s->base)
		s->base = v->base;
	rdma_due_drop_below(s, s->base);
	for (uint32_t i = v->from; i < end && i <= v->base + seen.width; i++)
		if (i >= s->base && !fab_rdma_window_has(&seen, i))
			rdma_due_add(s, i);
	if (end > v->base + seen.width + 1)
		s->next_new = v->base + seen.width + 1;
	rdma_ready(r, s);
}

const struct fab_rdma_scheme fab_rdma_scheme_rsw_vec = {
	.name = "rsw-vec",
	.summary = "rsw that asks for all gaps at once",
	.manual =
		"`rsw` whose RESEND carries WVEC, so that one asks for all gaps: for each once when an arrival is half a window ahead of it or the last one, and for all on timeout.",
	.sender = "WBASE and WVEC of the last RESEND",
	.receiver = "WBASE, WVEC of W bits, a timer, the range asked for",
	.answers = "RESEND with WVEC of gaps, and on timeout",
	.has_window = true,
	.code =
		&(const struct rdma_scheme_code){
			.needs = RDMA_NEEDS_DUE | RDMA_NEEDS_WINDOW,
			.open_rx = open_rx,
			.next = rdma_next_any,
			.data = vec_data,
			.answer = vec_answer,
			.damaged = vec_damaged,
			.rx_expired = vec_rx_expired,
		},
};

/*
 * rsw+: rsw with what it lacks, a flag each. Gap NAK: when an arrival is more than G
 * ahead of WBASE, WBASE is asked for, once. Credit: the sender gets WBASE every so
 * many packets, and stays within the window that it knows of. Timers: the lowest gaps
 * have one each, not WBASE alone.
 *
 * Both thresholds adapt unless they are given. When a packet that was asked for as a gap
 * comes twice, it had been in flight: G is doubled, up to W. And the sender stays within
 * the window only when a packet was dropped beyond it, until all that it had sent by then
 * has come: it knows of WBASE a round trip late, and would wait for that where the
 * reordering, but not the reordering and a round trip, fits the window.
 */
static bool has(const struct rdma *r, unsigned flag)
{
	return r->params->plus & flag;
}

enum { FIRST_GAP = 8 };

/* Timers of rsw+ */

static bool is_timed(const struct rdma_session *s, uint32_t number)
{
	for (uint32_t i = 0; i < s->n_timed; i++)
		if (s->timed[i].number == number)
			return true;
	return false;
}

/* Packets that have come need none; the lowest gaps get those that are free. */
static void assign_timers(struct rdma *r, struct rdma_session *s)
{
	uint32_t n = has(r, FAB_RDMA_TIMERS) ? r->params->timers : 1, kept = 0;
	uint32_t end =
		s->rx_highest > s->window.base ? s->rx_highest : s->window.base + 1;
	uint64_t next = UINT64_MAX;

	for (uint32_t i = 0; i < s->n_timed; i++)
		if (!fab_rdma_window_has(&s->window, s->timed[i].number))
			s->timed[kept++] = s->timed[i];
	s->n_timed = kept;
	for (uint32_t i = s->window.base; i < end && s->n_timed < n; i++)
		if (!fab_rdma_window_has(&s->window, i) && !is_timed(s, i))
			s->timed[s->n_timed++] = (struct rdma_timed){i, r->now + r->rto};
	for (uint32_t i = 0; i < s->n_timed; i++)
		if (s->timed[i].deadline < next)
			next = s->timed[i].deadline;
	rdma_timer_set(r, s, RDMA_RX_TIMER, next);
}

static void plus_rx_expired(struct rdma *r, struct rdma_session *s)
{
	if (!has(r, FAB_RDMA_TIMERS)) {
		expired(r, s);
		return;
	}
	for (uint32_t i = 0; i < s->n_timed; i++) {
		bool multi = false;

		if (s->timed[i].deadline > r->now)
			continue;
		r->result->n.timeouts++;
		if (s->timed[i].number == s->window.base) {
			multi = s->rx_expired >= r->params->singles;
			s->rx_expired = multi ? 0 : s->rx_expired + 1;
			r->result->n.multi += multi;
		}
		ask_for(r, s, s->timed[i].number, multi);
		s->timed[i].deadline = r->now + r->rto;
	}
	assign_timers(r, s);
}

/* Receiver */

static void plus_open_rx(struct rdma *r, struct rdma_session *s)
{
	s->rx_gap = r->params->gap ? r->params->gap : FIRST_GAP;
	if (has(r, FAB_RDMA_TIMERS))
		assign_timers(r, s);
	else
		open_rx(r, s);
}

static void plus_data(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p)
{
	const struct fab_rdma_params *params = r->params;
	uint32_t base = s->window.base;
	bool has_gap = false;

	/* a copy of a packet that was asked for as a gap: G was too small, for all that
	 * were asked for until now */
	if (!params->gap && s->rx_nak != FAB_NONE && p->number <= s->rx_nak &&
	    p->number >= s->rx_reckoned && fab_rdma_window_has(&s->window, p->number)) {
		s->rx_reckoned = s->rx_nak + 1;
		s->rx_gap =
			s->rx_gap * 2 < params->window ? s->rx_gap * 2 : params->window;
	}
	if (!take(r, s, p))
		return;
	if (has_all(s)) {
		rdma_complete(r, s);
		return;
	}
	if (p->number >= s->rx_highest) {
		has_gap = p->number > s->rx_highest;
		s->rx_highest = p->number + 1;
	}
	if (s->window.base != base && r->params->multi == FAB_RDMA_MULTI_SAME)
		s->rx_expired = 0;
	if (has(r, FAB_RDMA_TIMERS) && (s->window.base != base || has_gap))
		assign_timers(r, s);
	else if (!has(r, FAB_RDMA_TIMERS) && s->window.base != base)
		rdma_timer_set(r, s, RDMA_RX_TIMER, r->now + r->rto);
	base = s->window.base;
	if (has(r, FAB_RDMA_GAP_NAK) && s->rx_nak != base &&
	    s->rx_highest > (uint64_t)base + s->rx_gap + 1) {
		s->rx_nak = base;
		ask_for(r, s, base, false);
	}
	if (has(r, FAB_RDMA_WITH_CREDIT) &&
	    base - s->rx_told >= fab_rdma_credit_packets(params) &&
	    (uint64_t)s->rx_told + s->window.width < s->n) {
		s->rx_told = base;
		rdma_control(r, s, false, FAB_RDMA_CREDIT, base, base, false);
	}
}

static void plus_asked(struct rdma *r, struct rdma_session *s)
{
	if (has(r, FAB_RDMA_WITH_CREDIT))
		rdma_control(r, s, false, FAB_RDMA_CREDIT, s->window.base, s->window.base,
			     false);
}

/* Sender */

static uint32_t plus_next(struct rdma *r, struct rdma_session *s)
{
	uint64_t limit = (uint64_t)s->base + r->params->window + 1;
	bool is_limited =
		has(r, FAB_RDMA_WITH_CREDIT) && (r->params->credit || s->is_recovering);

	return rdma_next_due_or_new(r, s,
				    is_limited && limit < s->n ? (uint32_t)limit : s->n);
}

static void plus_answer(struct rdma *r, struct rdma_session *s,
			const struct rdma_packet *p)
{
	/* every answer has WBASE */
	if (p->value > s->base) {
		s->base = p->value;
		rdma_due_drop_below(s, s->base);
	}
	/* has the receiver dropped a packet beyond its window? has all come since? */
	if (s->is_recovering && s->base > s->recover)
		s->is_recovering = false;
	if (p->kind == FAB_RDMA_RESEND && !s->is_recovering &&
	    p->number > (uint64_t)p->value + r->params->window) {
		s->is_recovering = true;
		s->recover = s->next_new - 1;
	}
	if (p->kind == FAB_RDMA_RESEND && (p->number >= s->base || p->flags & RDMA_MULTI))
		resend(r, s, p);
	rdma_ready(r, s);
}

const struct fab_rdma_scheme fab_rdma_scheme_rsw_plus = {
	.name = "rsw+",
	.summary = "rsw with NAKs of gaps, credit and several timers",
	.manual =
		"`rsw` with what it lacks, each a flag: a RESEND of the lowest number missing as soon as an arrival is far ahead, farther when that was too soon; credit, which keeps the sender within the window once a packet was dropped beyond it; a timer for each of the lowest gaps.",
	.sender = "numbers to send again, WBASE as reported last",
	.receiver = "WBASE, WVEC of W bits, highest number, some timers",
	.answers = "RESEND of gaps and on timeout, CREDIT every W/4 packets",
	.has_window = true,
	.code =
		&(const struct rdma_scheme_code){
			.needs = RDMA_NEEDS_DUE | RDMA_NEEDS_WINDOW | RDMA_NEEDS_TIMED,
			.open_rx = plus_open_rx,
			.next = plus_next,
			.data = plus_data,
			.answer = plus_answer,
			.damaged = damaged,
			.asked = plus_asked,
			.rx_expired = plus_rx_expired,
		},
};
