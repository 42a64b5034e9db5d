/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Go back N with requests, refusals and bursts of losses against endpoints that are
 * written down once more, by the documentation: hosts at one switch, each sends one
 * transfer to host 0. Times of completion, packets sent and refusals are equal to the
 * picosecond. Chance is that of the numbered streams; bursts are followed forwards, from
 * packet 0 on, where the simulation looks backwards.
 */
#include "event/stream.h"
#include "support/rdma_stage.h"
#include "support/test.h"

enum { HOSTS = 7, SENDERS = HOSTS - 1, MTU = 512, HEADER = 26, CONTROL = 30 };
static const uint64_t PS_BYTE = 80, CABLE = 10000, SWITCH = 100000, NEVER = UINT64_MAX;

/* In the order in which they happen at one time. */
enum kind { AT_SWITCH, AT_HOST, SEND, START, TIMER, RETRY };
enum says { RQT, RSP, REFUSAL, DATA, ACK, NAK, DONE };

struct packet {
	enum says says;
	uint32_t transfer, from, to, number, bytes;
	bool is_lost;
};

struct event {
	uint64_t time;
	enum kind kind;
	uint32_t who; /* host or transfer */
	uint64_t order;
	struct packet packet;
};

struct naive_transfer {
	uint32_t n, next, base, expected, nak;
	uint64_t bytes, deadline, done;
	unsigned n_backoff;
	uint32_t n_refusals, n_sent;
	uint32_t attempts[256];
	bool is_sending, has_context;
};

static struct {
	struct fab_rdma_params p;
	uint64_t now, n_events;
	FAB_VEC(struct event) events;
	struct naive_transfer t[SENDERS];
	FAB_VEC(struct packet) control[HOSTS]; /* sent first, in order */
	size_t control_at[HOSTS];
	uint64_t wire_free[HOSTS], output_free[HOSTS];
	bool will_send[HOSTS];
	uint32_t n_contexts;
	uint32_t starts_good; /* bursts behind a first packet that is not lost */
} s;

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void add(uint64_t time, enum kind kind, uint32_t who, struct packet packet)
{
	struct event e = {time, kind, who, s.n_events++, packet};

	FAB_PUSH(&s.events, e);
}

/* By time, kind, host; then as they were added. */
static bool is_before(const struct event *a, const struct event *b)
{
	uint64_t first = (uint64_t)a->kind << 32 | a->who;
	uint64_t second = (uint64_t)b->kind << 32 | b->who;

	if (a->time != b->time)
		return a->time < b->time;
	return first != second ? first < second : a->order < b->order;
}

static struct event take(void)
{
	struct event *first = s.events.v, e;

	for (size_t i = 1; i < s.events.n; i++)
		if (is_before(&s.events.v[i], first))
			first = &s.events.v[i];
	e = *first;
	*first = s.events.v[--s.events.n];
	return e;
}

static void wake(uint32_t host)
{
	if (!s.will_send[host])
		add(later(s.wire_free[host], s.now), SEND, host, (struct packet){0});
	s.will_send[host] = true;
}

static void say(uint32_t from, uint32_t transfer, enum says says, uint32_t number)
{
	struct packet p = {says,   transfer, from, from ? 0 : transfer + 1,
			   number, CONTROL,  false};

	FAB_PUSH(&s.control[from], p);
	wake(from);
}

/* Gilbert's chain forwards over the numbers of an attempt. */
static bool is_lost(uint32_t transfer, uint32_t number, uint32_t attempt)
{
	const double loss = s.p.bad.loss, leave = 1 / s.p.bad.burst;
	const double enter = leave * loss / (1 - loss);
	bool is_bad = false, was_good = false;

	for (uint32_t i = 0; i <= number; i++) {
		double u = fab_unit(fab_stream_at(fab_mix64(s.p.seed + 1),
						  (uint64_t)transfer << 32 | i,
						  (uint64_t)attempt * 4));

		is_bad = u < (!i ? loss : is_bad ? fmax(enter, 1 - leave) : enter);
		was_good |= !i && !is_bad;
	}
	s.starts_good += is_bad && was_good;
	return is_bad;
}

static void put(struct packet p)
{
	s.wire_free[p.from] = s.now + p.bytes * PS_BYTE;
	add(s.now + CABLE + SWITCH, AT_SWITCH, p.from, p);
}

static void set_timer(uint32_t transfer)
{
	s.t[transfer].deadline = s.now + s.p.rto_ps;
	add(s.t[transfer].deadline, TIMER, transfer, (struct packet){0});
}

static void send_data(uint32_t transfer)
{
	struct naive_transfer *t = &s.t[transfer];
	uint32_t number = t->next++;
	uint64_t left = t->bytes - (uint64_t)number * MTU;

	t->n_sent++;
	put((struct packet){.says = DATA,
			    .transfer = transfer,
			    .from = transfer + 1,
			    .number = number,
			    .bytes = HEADER + (uint32_t)(left < MTU ? left : MTU),
			    .is_lost = is_lost(transfer, number, t->attempts[number]++)});
	if (number == t->base || t->deadline == NEVER)
		set_timer(transfer);
}

static bool has_data(uint32_t host)
{
	return host && s.t[host - 1].is_sending && s.t[host - 1].next < s.t[host - 1].n;
}

static void on_send(uint32_t host)
{
	s.will_send[host] = false;
	if (s.control_at[host] < s.control[host].n)
		put(s.control[host].v[s.control_at[host]++]);
	else if (has_data(host))
		send_data(host - 1);
	if (s.control_at[host] < s.control[host].n || has_data(host))
		wake(host);
}

static void on_data(struct naive_transfer *t, const struct packet *p)
{
	if (p->number < t->expected) {
		say(0, p->transfer, ACK, t->expected);
	} else if (p->number > t->expected) {
		if (t->nak != t->expected)
			say(0, p->transfer, NAK, t->expected);
		t->nak = t->expected;
	} else if (++t->expected == t->n) {
		say(0, p->transfer, DONE, 0);
		t->has_context = false;
		s.n_contexts--;
	} else if (t->expected % 8 == 0) {
		say(0, p->transfer, ACK, t->expected);
	}
}

static void on_refusal(struct naive_transfer *t, uint32_t transfer)
{
	uint64_t wait = s.p.retry_ps;

	if (s.p.retry == FAB_RDMA_RETRY_BACKOFF) {
		uint64_t draw =
			fab_stream_at(fab_mix64(s.p.seed + 3) + 1,
				      (uint64_t)transfer << 32 | t->n_refusals, 0);

		/* any share of a wait that is twice as long each time, to 1024 times */
		wait = (uint64_t)((double)(wait << t->n_backoff) * fab_unit(draw)) + 1;
		t->n_backoff += t->n_backoff < 10;
	}
	add(s.now + wait, RETRY, transfer, (struct packet){0});
}

static void on_answer(struct naive_transfer *t, const struct packet *p)
{
	if (!t->is_sending || p->number < t->base)
		return;
	if (p->number > t->base) {
		t->base = p->number;
		set_timer(p->transfer);
	}
	if (t->next < t->base || p->says == NAK)
		t->next = t->base;
	if (has_data(p->transfer + 1))
		wake(p->transfer + 1);
}

static void on_host(const struct packet *p)
{
	struct naive_transfer *t = &s.t[p->transfer];

	if (p->says == RQT) {
		t->has_context = s.n_contexts < s.p.contexts;
		s.n_contexts += t->has_context;
		t->n_refusals += !t->has_context;
		say(0, p->transfer, t->has_context ? RSP : REFUSAL, 0);
	} else if (p->says == RSP) {
		t->is_sending = true;
		wake(p->to);
	} else if (p->says == REFUSAL) {
		on_refusal(t, p->transfer);
	} else if (p->says == DATA) {
		if (!p->is_lost && t->has_context)
			on_data(t, p);
	} else if (p->says == DONE) {
		t->is_sending = false;
		t->done = s.now;
	} else {
		on_answer(t, p);
	}
}

static void handle(struct event e)
{
	const struct packet *p = &e.packet;
	uint64_t *busy = &s.output_free[p->to];

	s.now = e.time;
	if (e.kind == AT_SWITCH) {
		*busy = later(*busy, s.now) + p->bytes * PS_BYTE;
		add(*busy + CABLE, AT_HOST, p->to, *p);
	} else if (e.kind == AT_HOST) {
		on_host(p);
	} else if (e.kind == SEND) {
		on_send(e.who);
	} else if (e.kind == START || e.kind == RETRY) {
		say(e.who + 1, e.who, RQT, 0);
	} else if (s.t[e.who].is_sending && s.t[e.who].deadline <= s.now) {
		s.t[e.who].next = s.t[e.who].base;
		set_timer(e.who);
		wake(e.who + 1);
	}
}

static void run_naive(const struct fab_rdma_params *p, const struct fab_rdma_transfer *t)
{
	memset(&s, 0, sizeof(s));
	s.p = *p;
	for (uint32_t i = 0; i < SENDERS; i++) {
		s.t[i] = (struct naive_transfer){
			.n = (uint32_t)((t[i].bytes + MTU - 1) / MTU),
			.nak = FAB_NONE,
			.bytes = t[i].bytes,
			.deadline = NEVER,
			.done = NEVER};
		add(t[i].start_ps, START, i, (struct packet){0});
	}
	while (s.events.n)
		handle(take());
	free(s.events.v);
	for (uint32_t h = 0; h < HOSTS; h++)
		free(s.control[h].v);
}

/* Bursts from 1 to 6 packets, losses to 8 %, one to three contexts, delay and backoff. */
Test(rdma_naive, bursts_and_refusals)
{
	uint32_t starts_good = 0, refusals = 0, again = 0;

	for (uint64_t seed = 0; seed < 180; seed++) {
		struct fab_rdma_transfer t[SENDERS];
		OWN(fab_rdma_result) r = {0};
		OWN(rdma_stage) st;

		rdma_stage_open(&st, "mesh:dims=1,hosts=7", "minhop", t, SENDERS);
		st.params.mtu = MTU;
		st.params.seed = seed;
		st.params.contexts = 1 + (uint32_t)(seed % 3);
		st.params.retry =
			seed & 1 ? FAB_RDMA_RETRY_BACKOFF : FAB_RDMA_RETRY_DELAY;
		st.params.retry_ps = 1000003 + seed % 5 * 700001;
		st.params.rto_ps = 20000003;
		st.params.ask_ps = UINT64_C(1000000000000);
		st.params.bad.loss = 0.01 * (double)(seed % 9);
		st.params.bad.burst = 1.5 + (double)(seed % 10) / 2;
		for (uint32_t i = 0; i < SENDERS; i++)
			t[i] = (struct fab_rdma_transfer){
				.source = i + 1,
				.bytes = 1 + (seed * 7919 + i * 104729) % (MTU * 200),
				.start_ps = seed % 4 * 1000 * i + i * 17};
		r = rdma_run(&st, "gbn");
		run_naive(&st.params, t);
		for (uint32_t i = 0; i < SENDERS; i++) {
			cr_assert_eq(r.fate[i].done_ps, s.t[i].done,
				     "seed %lu, transfer %u", seed, i);
			cr_assert_eq(r.fate[i].sent, s.t[i].n_sent);
			cr_assert_eq(r.fate[i].refusals, s.t[i].n_refusals);
			again += s.t[i].n_backoff > 1;
			refusals += s.t[i].n_refusals;
		}
		starts_good += s.starts_good;
	}
	/* what the test is about has happened */
	cr_assert(starts_good > 500 && refusals > 500 && again > 100);
}
