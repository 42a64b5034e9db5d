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

enum {
	HOSTS = 7,
	SENDERS = HOSTS - 1,
	PS_BYTE = 80,
	MTU = 512,
	HEADER = 26,
	CONTROL = 30
};
static const uint64_t CABLE = 10000, SWITCH = 100000, NEVER = UINT64_MAX;

/* In the order in which they happen at one time. */
enum kind { AT_SWITCH, AT_HOST, SEND, START, TIMER, RETRY };
enum says { RQT, RSP, REFUSAL, DATA, ACK, NAK, DONE };

struct packet {
	enum says says;
	uint32_t transfer, from, to, number, bytes;
	bool is_lost;
};

struct event {
	uint64_t time, order;
	enum kind kind;
	uint32_t who; /* host or transfer */
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

struct naive {
	const struct fab_rdma_params *p;
	uint64_t now, n_events;
	FAB_VEC(struct event) events;
	struct naive_transfer t[SENDERS];
	FAB_VEC(struct packet) control[HOSTS]; /* sent first, in order */
	size_t control_at[HOSTS];
	uint64_t wire_free[HOSTS], output_free[HOSTS];
	bool will_send[HOSTS];
	uint32_t n_contexts;
	uint32_t starts_good; /* bursts behind a first packet that is not lost */
};

static void add(struct naive *s, uint64_t time, enum kind kind, uint32_t who,
		struct packet packet)
{
	struct event e = {time, s->n_events++, kind, who, packet};

	FAB_PUSH(&s->events, e);
}

/* By time, kind, host; then as they were added. */
static bool is_before(const struct event *a, const struct event *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	if (a->kind != b->kind)
		return a->kind < b->kind;
	return a->who != b->who ? a->who < b->who : a->order < b->order;
}

static struct event take(struct naive *s)
{
	size_t first = 0;
	struct event e;

	for (size_t i = 1; i < s->events.n; i++)
		if (is_before(&s->events.v[i], &s->events.v[first]))
			first = i;
	e = s->events.v[first];
	s->events.v[first] = s->events.v[--s->events.n];
	return e;
}

static void wake(struct naive *s, uint32_t host)
{
	if (s->will_send[host])
		return;
	s->will_send[host] = true;
	add(s, s->wire_free[host] > s->now ? s->wire_free[host] : s->now, SEND, host,
	    (struct packet){0});
}

static void say(struct naive *s, uint32_t from, uint32_t transfer, enum says says,
		uint32_t number)
{
	struct packet p = {.says = says,
			   .transfer = transfer,
			   .from = from,
			   .to = from ? 0 : transfer + 1,
			   .number = number,
			   .bytes = CONTROL};

	FAB_PUSH(&s->control[from], p);
	wake(s, from);
}

/* Gilbert's chain forwards over the numbers of an attempt. */
static bool is_lost(struct naive *s, uint32_t transfer, uint32_t number, uint32_t attempt)
{
	double leave = 1 / s->p->bad.burst;
	double enter = leave * s->p->bad.loss / (1 - s->p->bad.loss);
	bool is_bad = false, was_good = true;

	for (uint32_t i = 0; i <= number; i++) {
		double u = fab_unit(fab_stream_at(fab_mix64(s->p->seed + 1),
						  (uint64_t)transfer << 32 | i,
						  (uint64_t)attempt * 4));

		if (!i)
			is_bad = u < s->p->bad.loss;
		else
			is_bad = u < enter || (is_bad && u < 1 - leave);
		was_good = i ? was_good : !is_bad;
	}
	s->starts_good += is_bad && was_good;
	return is_bad;
}

static void put(struct naive *s, struct packet p)
{
	s->wire_free[p.from] = s->now + (uint64_t)p.bytes * PS_BYTE;
	add(s, s->now + CABLE + SWITCH, AT_SWITCH, p.from, p);
}

static void set_timer(struct naive *s, uint32_t transfer)
{
	s->t[transfer].deadline = s->now + s->p->rto_ps;
	add(s, s->t[transfer].deadline, TIMER, transfer, (struct packet){0});
}

static void send_data(struct naive *s, uint32_t transfer)
{
	struct naive_transfer *t = &s->t[transfer];
	uint32_t number = t->next++;
	uint64_t left = t->bytes - (uint64_t)number * MTU;
	struct packet p = {.says = DATA,
			   .transfer = transfer,
			   .from = transfer + 1,
			   .number = number,
			   .bytes = HEADER + (uint32_t)(left < MTU ? left : MTU)};

	p.is_lost = is_lost(s, transfer, number, t->attempts[number]++);
	t->n_sent++;
	put(s, p);
	if (number == t->base || t->deadline == NEVER)
		set_timer(s, transfer);
}

static bool has_data(const struct naive *s, uint32_t host)
{
	return host && s->t[host - 1].is_sending &&
	       s->t[host - 1].next < s->t[host - 1].n;
}

static void on_send(struct naive *s, uint32_t host)
{
	s->will_send[host] = false;
	if (s->control_at[host] < s->control[host].n)
		put(s, s->control[host].v[s->control_at[host]++]);
	else if (has_data(s, host))
		send_data(s, host - 1);
	if (s->control_at[host] < s->control[host].n || has_data(s, host))
		wake(s, host);
}

static void on_data(struct naive *s, const struct packet *p)
{
	struct naive_transfer *t = &s->t[p->transfer];

	if (!t->has_context)
		return;
	if (p->number < t->expected) {
		say(s, 0, p->transfer, ACK, t->expected);
	} else if (p->number > t->expected) {
		if (t->nak != t->expected)
			say(s, 0, p->transfer, NAK, t->expected);
		t->nak = t->expected;
	} else if (++t->expected == t->n) {
		say(s, 0, p->transfer, DONE, 0);
		t->has_context = false;
		s->n_contexts--;
	} else if (t->expected % 8 == 0) {
		say(s, 0, p->transfer, ACK, t->expected);
	}
}

static void on_refusal(struct naive *s, uint32_t transfer)
{
	struct naive_transfer *t = &s->t[transfer];
	uint64_t wait = s->p->retry_ps;

	if (s->p->retry == FAB_RDMA_RETRY_BACKOFF) {
		uint64_t draw =
			fab_stream_at(fab_mix64(s->p->seed + 3) + 1,
				      (uint64_t)transfer << 32 | t->n_refusals, 0);

		/* any share of a wait that is twice as long each time, to 1024 times */
		wait = (uint64_t)((double)(wait << t->n_backoff) * fab_unit(draw)) + 1;
		t->n_backoff += t->n_backoff < 10;
	}
	add(s, s->now + wait, RETRY, transfer, (struct packet){0});
}

static void on_answer(struct naive *s, const struct packet *p)
{
	struct naive_transfer *t = &s->t[p->transfer];

	if (!t->is_sending || p->number < t->base)
		return;
	if (p->number > t->base) {
		t->base = p->number;
		set_timer(s, p->transfer);
	}
	if (t->next < t->base || p->says == NAK)
		t->next = t->base;
	if (has_data(s, p->transfer + 1))
		wake(s, p->transfer + 1);
}

static void on_host(struct naive *s, const struct packet *p)
{
	struct naive_transfer *t = &s->t[p->transfer];

	switch (p->says) {
	case RQT:
		if (s->n_contexts == s->p->contexts) {
			t->n_refusals++;
			say(s, 0, p->transfer, REFUSAL, 0);
			break;
		}
		s->n_contexts++;
		t->has_context = true;
		say(s, 0, p->transfer, RSP, 0);
		break;
	case RSP:
		t->is_sending = true;
		wake(s, p->to);
		break;
	case REFUSAL:
		on_refusal(s, p->transfer);
		break;
	case DATA:
		if (!p->is_lost)
			on_data(s, p);
		break;
	case ACK:
	case NAK:
		on_answer(s, p);
		break;
	case DONE:
		t->is_sending = false;
		t->done = s->now;
		break;
	}
}

static void on_timer(struct naive *s, uint32_t transfer)
{
	struct naive_transfer *t = &s->t[transfer];

	if (!t->is_sending || t->deadline > s->now)
		return;
	t->next = t->base;
	set_timer(s, transfer);
	wake(s, transfer + 1);
}

static void handle(struct naive *s, const struct event *e)
{
	const struct packet *p = &e->packet;
	uint64_t wire = (uint64_t)p->bytes * PS_BYTE, *busy = &s->output_free[p->to];

	switch (e->kind) {
	case AT_SWITCH:
		*busy = (*busy > s->now ? *busy : s->now) + wire;
		add(s, *busy + CABLE, AT_HOST, p->to, *p);
		break;
	case AT_HOST:
		on_host(s, p);
		break;
	case SEND:
		on_send(s, e->who);
		break;
	case START:
	case RETRY:
		say(s, e->who + 1, e->who, RQT, 0);
		break;
	case TIMER:
		on_timer(s, e->who);
		break;
	}
}

static void run_naive(struct naive *s, const struct fab_rdma_params *p,
		      const struct fab_rdma_transfer *t)
{
	*s = (struct naive){.p = p};
	for (uint32_t i = 0; i < SENDERS; i++) {
		s->t[i] = (struct naive_transfer){
			.n = (uint32_t)((t[i].bytes + MTU - 1) / MTU),
			.nak = FAB_NONE,
			.bytes = t[i].bytes,
			.deadline = NEVER,
			.done = NEVER};
		add(s, t[i].start_ps, START, i, (struct packet){0});
	}
	while (s->events.n) {
		struct event e = take(s);

		s->now = e.time;
		handle(s, &e);
	}
	free(s->events.v);
	for (uint32_t h = 0; h < HOSTS; h++)
		free(s->control[h].v);
}

/* Bursts from 1 to 6 packets, losses to 8 %, one to three contexts, delay and backoff. */
static void draw(struct fab_rdma_params *p, struct fab_rdma_transfer *t, uint64_t seed)
{
	p->mtu = MTU;
	p->seed = seed;
	p->contexts = 1 + (uint32_t)(seed % 3);
	p->retry = seed & 1 ? FAB_RDMA_RETRY_BACKOFF : FAB_RDMA_RETRY_DELAY;
	p->retry_ps = 1000003 + seed % 5 * 700001;
	p->rto_ps = 20000003;
	p->ask_ps = UINT64_C(1000000000000);
	p->bad.loss = 0.01 * (double)(seed % 9);
	p->bad.burst = 1.5 + (double)(seed % 10) / 2;
	for (uint32_t i = 0; i < SENDERS; i++)
		t[i] = (struct fab_rdma_transfer){
			.source = i + 1,
			.target = 0,
			.bytes = 1 + (seed * 7919 + i * 104729) % (MTU * 200),
			.start_ps = seed % 4 * 1000 * i + i * 17};
}

Test(rdma_naive, bursts_and_refusals)
{
	uint32_t starts_good = 0, refusals = 0, again = 0;

	for (uint64_t seed = 0; seed < 180; seed++) {
		struct fab_rdma_transfer t[SENDERS];
		FAB_AUTO(fab_rdma_result_fini) struct fab_rdma_result r = {0};
		FAB_AUTO(rdma_stage_close) struct rdma_stage st;
		struct naive s;

		rdma_stage_open(&st, "gen:mesh:dims=1,hosts=7", "minhop", t, SENDERS);
		draw(&st.params, t, seed);
		rdma_stage_net(&st);
		r = rdma_stage_run(&st, rdma_scheme("gbn"));
		run_naive(&s, &st.params, t);
		for (uint32_t i = 0; i < SENDERS; i++) {
			cr_assert_eq(r.fate[i].done_ps, s.t[i].done,
				     "seed %lu, transfer %u: %lu ps, naive %lu ps", seed,
				     i, r.fate[i].done_ps, s.t[i].done);
			cr_assert_eq(r.fate[i].sent, s.t[i].n_sent);
			cr_assert_eq(r.fate[i].refusals, s.t[i].n_refusals);
			again += s.t[i].n_backoff > 1;
			refusals += s.t[i].n_refusals;
		}
		starts_good += s.starts_good;
	}
	/* what the test is about has happened */
	cr_assert_gt(starts_good, 500);
	cr_assert_gt(refusals, 500);
	cr_assert_gt(again, 100);
}

/* The chain itself: as many lost as asked for, whatever the number, in rows as long as
 * asked for. */
Test(rdma_naive, bursts)
{
	enum { N = 101, ATTEMPTS = 400 };
	struct fab_rdma_params p = fab_rdma_defaults();
	struct naive s = {.p = &p};
	uint32_t lost = 0, lost_first = 0, lost_second = 0, rows = 0;

	p.bad.loss = 0.1;
	p.bad.burst = 4;
	for (uint32_t a = 0; a < ATTEMPTS; a++) {
		bool was_lost = false;

		for (uint32_t i = 0; i < N; i++) {
			bool is = is_lost(&s, 0, i, a);

			lost += is;
			rows += is && !was_lost;
			was_lost = is;
			lost_first += is && !i;
			lost_second += is && i == 1;
		}
	}
	cr_assert_float_eq(lost / (double)(ATTEMPTS * N), 0.1, 0.015);
	cr_assert_float_eq(lost_first / (double)ATTEMPTS, 0.1, 0.05);
	cr_assert_float_eq(lost_second / (double)ATTEMPTS, 0.1, 0.05);
	cr_assert_float_eq((double)lost / rows, 4, 0.6);
}
