/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rate control: how many packets of a transfer are in flight, or how fast they start, new
 * ones and copies alike, whatever the scheme. Receivers report: of window and dctcp each
 * arrival, by the number of its transmission, with its mark, in the answer that the
 * scheme gives to it, else in a packet of control of its own (FAB_RDMA_MARK); of dcqcn
 * marked arrivals, one in CNP_PS at most, in such packets. A packet whose payload was
 * trimmed counts as marked.
 *
 * In flight are the transmissions after the latest one that was reported: a loss among
 * those before it frees its place, and packets that overtake others do not stop the
 * sender. When nothing is reported for a timeout, none is in flight.
 *
 * pull: Handley et al., "Re-architecting datacenter networks and stacks for low latency
 * and high performance", SIGCOMM 2017 (NDP): each arrival, trimmed or not, entitles its
 * sender to one more packet, and an endpoint gives such leave once in the time of a
 * packet, first come, first served. Pulls carry their number, so that one makes up for
 * those lost before.
 *
 * dctcp: Alizadeh et al., SIGCOMM 2010, without slow start: the window is the bandwidth-
 * delay product at first. dcqcn: Zhu et al., "Congestion control for large-scale RDMA
 * deployments", SIGCOMM 2015, with its parameters; rates are shares of the cable.
 */
#include "rdma/state.h"

#include <math.h>

static const double DCTCP_G = 1.0 / 16, DCQCN_G = 1.0 / 256;
static const double SHARE_LEAST = 1e-3, ADDITIVE = 1e-3, HYPER = 1e-2;
enum {
	WINDOW_MOST = 1 << 15,	/* transmissions are known by 16 bits */
	CNP_PS = 50000000,	/* between reports of dcqcn */
	DECAY_PS = 55000000,	/* without a report: alpha decays */
	RAISE_PS = 55000000,	/* ... the rate is raised */
	RAISE_BYTES = 10000000, /* ... again after these bytes */
	FAST = 5,		/* raises to the old rate, before it is left behind */
};

static const struct fab_choice controls[] = {
	{"none", "no scheme slows down", "No scheme slows down.", true},
	{"window", "a fixed number of packets in flight",
	 "At most `--set cap` packets of a transfer in flight, new ones and copies.",
	 true},
	{"dctcp", "a window that follows the share of marks",
	 "As DCTCP (needs `--set ecn`): a round without marks adds a packet to the window, which begins with `--set cap`; one with marks takes half of their moving average off.",
	 true},
	{"dcqcn", "a rate that follows marks",
	 "As DCQCN (needs `--set ecn`): a report of a marked packet lowers the sender's rate, which is raised without them.",
	 true},
	{"pull", "a packet for each that arrives, at the pace of the receiver",
	 "As NDP: a sender begins with `--set cap` packets; each arrival pulls one more, new or again, no faster than the receiver's cable carries.",
	 true},
};

FAB_CHOICES(fab_rdma_rate_choices, "rate control", controls);

void rdma_rate_init(struct rdma_rate *c, uint64_t cap)
{
	*c = (struct rdma_rate){
		.window = (double)(cap < WINDOW_MOST ? cap : WINDOW_MOST - 1),
		.alpha = 1,
		.share = 1,
		.target = 1,
		.decay_at = UINT64_MAX,
		.raise_at = UINT64_MAX,
		.armed = UINT64_MAX};
}

/* dcqcn */

/* Half way to the target; after some of these steps the target goes on, too. */
static void raise_rate(struct rdma_rate *c)
{
	uint32_t most = c->n_by_time > c->n_by_bytes ? c->n_by_time : c->n_by_bytes;
	uint32_t least = c->n_by_time + c->n_by_bytes - most;

	if (least > FAST)
		c->target += HYPER * (least - FAST);
	else if (most >= FAST)
		c->target += ADDITIVE;
	c->target = c->target < 1 ? c->target : 1;
	c->share = (c->share + c->target) / 2;
}

void rdma_dcqcn_advance(struct rdma_rate *c, uint64_t now)
{
	while (c->decay_at <= now || c->raise_at <= now)
		if (c->decay_at <= c->raise_at) {
			c->alpha *= 1 - DCQCN_G;
			c->decay_at += DECAY_PS;
		} else {
			c->n_by_time++;
			raise_rate(c);
			c->raise_at += RAISE_PS;
		}
}

void rdma_dcqcn_count(struct rdma_rate *c, uint32_t bytes)
{
	c->bytes += bytes;
	if (c->raise_at == UINT64_MAX || c->bytes < RAISE_BYTES)
		return;
	c->bytes -= RAISE_BYTES;
	c->n_by_bytes++;
	raise_rate(c);
}

void rdma_dcqcn_lower(struct rdma_rate *c, uint64_t now)
{
	c->target = c->share;
	c->share *= 1 - c->alpha / 2;
	c->share = c->share > SHARE_LEAST ? c->share : SHARE_LEAST;
	c->alpha = (1 - DCQCN_G) * c->alpha + DCQCN_G;
	c->decay_at = now + DECAY_PS;
	c->raise_at = now + RAISE_PS;
	c->bytes = c->n_by_time = c->n_by_bytes = 0;
}

/* Windows */

/* The latest of the reported transmissions; of dctcp the window after each round. */
static void note_arrival(struct rdma *r, struct rdma_rate *c, const struct rdma_packet *p)
{
	uint32_t ahead = (uint16_t)(p->transmission + 1 - c->heard);

	c->heard += ahead <= c->sent - c->heard ? ahead : 0;
	c->news = r->now;
	if (r->params->rate_control != FAB_RDMA_DCTCP)
		return;
	c->n_reports++;
	c->n_marked += p->is_marked;
	if ((int32_t)(c->heard - c->round) < 0)
		return;
	c->alpha += DCTCP_G * ((double)c->n_marked / c->n_reports - c->alpha);
	c->window = c->n_marked ? c->window * (1 - c->alpha / 2) : c->window + 1;
	c->window = c->window < 1 ? 1 : c->window;
	c->window = c->window < WINDOW_MOST ? c->window : WINDOW_MOST - 1;
	c->round = c->sent;
	c->n_reports = c->n_marked = 0;
}

/* pull */

static bool is_pull(const struct rdma *r)
{
	return r->params->rate_control == FAB_RDMA_PULL;
}

void rdma_rate_pull(struct rdma *r, uint32_t end)
{
	struct rdma_end *e = &r->end[end];
	uint64_t wire = sim_wire(r->sim.net.per_byte[r->sim.net.n_ports + end],
				 r->params->mtu + r->params->header);

	while (e->pull_at < e->pull.n && e->next_pull <= r->now) {
		struct rdma_pull pull = e->pull.v[e->pull_at++];
		struct rdma_session *s = r->session.v[pull.session];

		if (s->generation != pull.generation || !s->rx_open)
			continue;
		rdma_control(r, s, false, FAB_RDMA_MARK, ++s->rate->pulls, 0, false);
		e->next_pull = r->now + wire;
		sim_event_at(r->part, e->next_pull, RDMA_PULL_TIMER, 0, end);
	}
	if (e->pull_at == e->pull.n)
		e->pull.n = e->pull_at = 0;
}

/* Of any kind */

static bool is_dcqcn(const struct rdma *r)
{
	return r->params->rate_control == FAB_RDMA_DCQCN;
}

bool rdma_rate_may_send(struct rdma *r, struct rdma_session *s)
{
	struct rdma_rate *c = s->rate;
	uint64_t at;

	if (!c ||
	    (is_dcqcn(r) ? c->next <= r->now : c->sent - c->heard < (uint32_t)c->window))
		return true;
	at = is_dcqcn(r) ? c->next : c->news + r->rto;
	if (at < c->armed) {
		c->armed = at > r->now ? at : r->now;
		sim_event_at(r->part, c->armed, RDMA_RATE_TIMER, s->generation & SIM_ID,
			     s->id);
	}
	return false;
}

void rdma_rate_sent(struct rdma *r, struct rdma_session *s, uint32_t bytes)
{
	struct rdma_rate *c = s->rate;

	if (!c)
		return;
	c->news = c->sent == c->heard ? r->now : c->news;
	c->sent++;
	if (!is_dcqcn(r))
		return;
	rdma_dcqcn_advance(c, r->now);
	rdma_dcqcn_count(c, bytes);
	c->next = r->now +
		  (uint64_t)((double)sim_wire(
				     r->sim.net.per_byte[r->sim.net.n_ports + s->sender],
				     bytes) /
			     c->share);
}

void rdma_rate_arrived(struct rdma *r, struct rdma_session *s,
		       const struct rdma_packet *p)
{
	bool is_marked = p->is_marked || p->is_trimmed;

	if (!s->rate || (is_dcqcn(r) && (!is_marked || s->rate->next_report > r->now)))
		return;
	if (is_pull(r)) {
		struct rdma_end *e = &r->end[s->receiver];

		FAB_PUSH(&e->pull, ((struct rdma_pull){s->id, s->generation}));
		rdma_rate_pull(r, s->receiver);
		return;
	}
	s->rate->next_report = r->now + CNP_PS;
	if (is_dcqcn(r))
		rdma_control(r, s, false, FAB_RDMA_MARK, 0, 0, false);
	else
		r->report = (struct rdma_report){true, is_marked, p->transmission,
						 s->transfer};
}

void rdma_rate_answered(struct rdma *r, struct rdma_session *s)
{
	if (r->report.is_due && r->report.transfer == s->transfer && s->rx_open)
		rdma_control(r, s, false, FAB_RDMA_MARK, 0, 0, false);
	r->report.is_due = false;
}

void rdma_rate_report(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p)
{
	if (!s->rate)
		return;
	if (is_dcqcn(r)) {
		rdma_dcqcn_advance(s->rate, r->now);
		rdma_dcqcn_lower(s->rate, r->now);
	} else if (is_pull(r)) {
		s->rate->heard = p->number > s->rate->heard ? p->number : s->rate->heard;
		s->rate->news = r->now;
		rdma_ready(r, s);
	} else {
		note_arrival(r, s->rate, p);
		rdma_ready(r, s);
	}
}

void rdma_rate_expired(struct rdma *r, struct rdma_session *s)
{
	struct rdma_rate *c = s->rate;

	c->armed = UINT64_MAX;
	if (is_pull(r) && c->news + r->rto <= r->now)
		c->window = fmax(c->window, c->sent - c->heard + 1);
	else if (!is_pull(r) && !is_dcqcn(r) && c->sent != c->heard &&
		 c->news + r->rto <= r->now) {
		c->heard = c->round = c->sent;
		c->n_reports = c->n_marked = 0;
		if (r->params->rate_control == FAB_RDMA_DCTCP)
			c->window = 1;
	}
	rdma_ready(r, s);
}
