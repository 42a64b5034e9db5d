/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Full buffers that drop or trim: the simulator beside a plain one, packet by packet; and
 * laws: no packet disappears without a cause, no header is lost while headers have room.
 */
#include "base/order.h"
#include "event/stream.h"
#include "support/simulated.h"
#include "support/test.h"
#include "unicast/path.h"

enum { PER_BYTE = 80, MTU = 1024, HEADER = 26, EACH = 24, ENDS = 32, HOPS = 8 };
static const uint64_t CABLE = 10000, SWITCH = 100000;

static struct fab_sim_params dropping(enum fab_sim_drop drop, uint32_t buffer)
{
	struct fab_sim_params p = fab_sim_defaults();

	p.all_rates = true;
	p.drop = drop;
	p.buffer = buffer;
	p.mtu = MTU;
	p.header = HEADER;
	p.warmup = 0;
	p.time = 0;
	p.n_threads = 1;
	p.with_deliveries = true;
	return p;
}

/* Messages by chance, more of them to the first hosts. */
struct script {
	uint64_t seed;
	uint32_t n_ends, n[ENDS];
	uint64_t at[ENDS];
};

static struct fab_message draw(struct script *s, uint32_t end)
{
	struct fab_stream chance =
		fab_stream_of(s->seed, (uint64_t)end << 32 | s->n[end]++);
	struct fab_message m = {0};
	uint32_t others = fab_stream_below(&chance, 2) ? s->n_ends : 4;

	/* seldom at one time: the plain one gives no order then */
	m.time = s->at[end] += fab_stream_below(&chance, 400001);
	m.target = (uint32_t)((end + 1 + fab_stream_below(&chance, others - 1)) % others);
	if (m.target == end)
		m.target = (end + 1) % s->n_ends;
	m.bytes = 1 + (uint32_t)fab_stream_below(&chance, 4 * MTU);
	return m;
}

static bool next(void *context, uint32_t end, uint64_t now, struct fab_message *m)
{
	struct script *s = context;

	(void)now;
	if (s->n[end] == EACH)
		return false;
	*m = draw(s, end);
	return true;
}

/* The plain simulator */

struct packet {
	uint64_t at; /* its head may leave a switch; UINT64_MAX: it waits, or is gone */
	uint32_t n_hops, hop, queue[HOPS], size, source, target;
	bool is_trimmed;
};

struct queue {
	bool is_busy;
	uint64_t until;
	unsigned lane; /* of what it sends */
	uint32_t size;
	int64_t room[2];
	FAB_VEC(uint32_t) of[2];
	size_t first[2];
	int64_t used; /* by payload, of a buffer that outputs share */
};

struct plain {
	const struct fab_sim_params *params;
	const struct simulated *s;
	FAB_VEC(struct packet) packet;
	struct queue *queue; /* by arc, then by endpoint */
	uint32_t n_queues;
	uint64_t dropped, trimmed, now;
	FAB_VEC(struct fab_sim_delivery) deliveries;
};

static uint32_t switch_of(const struct plain *x, uint32_t queue)
{
	const struct fab_fabric *f = x->s->f;
	uint32_t sw = 0;

	if (queue >= f->arc_first[f->n_switches])
		return x->s->ends.sw[queue - f->arc_first[f->n_switches]];
	while (f->arc_first[sw + 1] <= queue)
		sw++;
	return sw;
}

static void add_packets(struct plain *x, struct script *script)
{
	const struct fab_flow_ends *ends = &x->s->ends;
	uint32_t n_arcs = x->s->f->arc_first[x->s->f->n_switches];
	uint32_t *column = fab_path_columns(x->s->routes, ends->n, ends->sw, ends->port);

	for (uint32_t e = 0; e < ends->n; e++) {
		uint64_t free = 0;

		for (uint32_t i = 0; i < EACH; i++) {
			struct fab_message m = draw(script, e);

			for (uint32_t left = m.bytes; left;) {
				uint32_t payload = left < MTU ? left : MTU;
				struct packet p = {.size = payload + HEADER,
						   .source = e,
						   .target = m.target};
				struct fab_path path = fab_path_from(
					x->s->routes, ends->sw[e], column[m.target]);

				while (fab_path_step(&path))
					p.queue[p.n_hops++] = path.arc;
				p.queue[p.n_hops++] = n_arcs + m.target;
				free = free > m.time ? free : m.time;
				p.at = free + CABLE + SWITCH;
				free += (uint64_t)p.size * PER_BYTE;
				left -= payload;
				FAB_PUSH(&x->packet, p);
			}
		}
	}
	free(column);
}

/* What is left of a buffer that the outputs of a switch share, with so many bytes more in
 * one of its queues. */
static int64_t shared_room(const struct plain *x, uint32_t queue, uint32_t bytes)
{
	int64_t own = x->params->buffer_private, room = x->params->buffer;

	for (uint32_t q = 0; q < x->n_queues; q++) {
		int64_t used = x->queue[q].used + (q == queue ? bytes : 0);

		if (switch_of(x, q) == switch_of(x, queue))
			room -= used > own ? used : own;
	}
	return room;
}

static bool has_room(const struct plain *x, uint32_t queue, unsigned lane, uint32_t bytes)
{
	return x->params->buffer_shared && !lane ? shared_room(x, queue, bytes) >= 0
						 : x->queue[queue].room[lane] >= bytes;
}

static void take(struct plain *x, uint32_t queue, unsigned lane, int64_t bytes)
{
	if (!lane)
		x->queue[queue].used += bytes;
	x->queue[queue].room[lane] -= bytes;
}

static void arrive(struct plain *x, uint32_t id)
{
	struct packet *p = &x->packet.v[id];
	uint32_t q = p->queue[p->hop];
	unsigned lane = p->is_trimmed;

	p->at = UINT64_MAX;
	if (!has_room(x, q, lane, p->size) && !lane && x->params->drop == FAB_SIM_TRIM &&
	    p->size > HEADER) {
		p->is_trimmed = true;
		lane = 1;
		p->size = HEADER;
		x->trimmed++;
	}
	if (!has_room(x, q, lane, p->size)) {
		x->dropped++;
		return;
	}
	take(x, q, lane, p->size);
	FAB_PUSH(&x->queue[q].of[lane], id);
}

static void start(struct plain *x, uint32_t q)
{
	struct queue *queue = &x->queue[q];
	unsigned lane = queue->first[1] < queue->of[1].n;
	struct packet *p;

	if (queue->is_busy || queue->first[lane] == queue->of[lane].n)
		return;
	p = &x->packet.v[queue->of[lane].v[queue->first[lane]++]];
	queue->is_busy = true;
	queue->lane = lane;
	queue->size = p->size;
	queue->until = x->now + (uint64_t)p->size * PER_BYTE;
	if (++p->hop < p->n_hops) {
		p->at = x->now + CABLE + SWITCH;
		return;
	}
	FAB_PUSH(&x->deliveries,
		 ((struct fab_sim_delivery){.delivered = queue->until + CABLE,
					    .source = p->source,
					    .target = p->target,
					    .wire = p->size}));
}

static void run_plain(struct plain *x)
{
	for (;;) {
		uint64_t then = UINT64_MAX;

		for (size_t i = 0; i < x->packet.n; i++)
			then = x->packet.v[i].at < then ? x->packet.v[i].at : then;
		for (uint32_t q = 0; q < x->n_queues; q++)
			if (x->queue[q].is_busy && x->queue[q].until < then)
				then = x->queue[q].until;
		if (then == UINT64_MAX)
			return;
		x->now = then;
		for (uint32_t q = 0; q < x->n_queues; q++)
			if (x->queue[q].is_busy && x->queue[q].until == then) {
				x->queue[q].is_busy = false;
				take(x, q, x->queue[q].lane, -(int64_t)x->queue[q].size);
			}
		for (uint32_t i = 0; i < x->packet.n; i++)
			if (x->packet.v[i].at == then)
				arrive(x, i);
		for (uint32_t q = 0; q < x->n_queues; q++)
			start(x, q);
	}
}

FAB_ORDER(cmp_delivery, struct fab_sim_delivery, delivered, target, source)

static void compare(const struct simulated *s, const struct fab_sim_params *params,
		    const struct fab_sim_result *r, uint64_t seed)
{
	struct plain x = {.params = params, .s = s};
	struct script script = {.seed = seed, .n_ends = s->ends.n};

	x.n_queues = s->f->arc_first[s->f->n_switches] + s->ends.n;
	x.queue = FAB_NEW0(x.n_queues, struct queue);
	for (uint32_t q = 0; q < x.n_queues; q++)
		x.queue[q].room[0] = x.queue[q].room[1] =
			params->buffer_shared ? INT32_MAX : params->buffer;
	add_packets(&x, &script);
	run_plain(&x);
	qsort(x.deliveries.v, x.deliveries.n, sizeof(*x.deliveries.v), cmp_delivery);
	cr_expect_eq(x.dropped, r->dropped, "seed %lu: %lu, %lu", seed, x.dropped,
		     r->dropped);
	cr_expect_eq(x.trimmed, r->trimmed);
	cr_assert_eq(x.deliveries.n, r->deliveries.n);
	for (size_t i = 0; i < r->deliveries.n; i++) {
		const struct fab_sim_delivery *a = &x.deliveries.v[i];
		const struct fab_sim_delivery *b = &r->deliveries.v[i];

		cr_assert(a->delivered == b->delivered && a->target == b->target &&
				  a->source == b->source && a->wire == b->wire,
			  "seed %lu, delivery %zu", seed, i);
	}
	for (uint32_t q = 0; q < x.n_queues; q++)
		FAB_FREE_ALL(x.queue[q].of[0].v, x.queue[q].of[1].v);
	FAB_FREE_ALL(x.queue, x.packet.v, x.deliveries.v);
}

static void simulate(const struct simulated *s, const struct fab_sim_params *params,
		     uint64_t seed, struct fab_sim_result *r)
{
	struct script script = {.seed = seed, .n_ends = s->ends.n};
	struct fab_messages messages = {.context = &script, .next = next};

	MUST(fab_sim_run(&s->problem, params, &messages, r, ERR));
	cr_expect_eq(r->born, r->lost + r->injected + r->waiting);
	cr_expect_eq(r->injected, r->delivered + r->in_flight + r->unroutable +
					  r->looped + r->dropped);
}

/* Drawn cases, packet by packet; the same with threads; nothing is left at the end. */
Test(sim_drops, as_the_plain_one)
{
	static const char *const specs[] = {"fattree:radix=8,levels=2",
					    "torus:dims=4x4,hosts=2",
					    "mesh:dims=2,hosts=8"};
	uint64_t dropped = 0, trimmed = 0;

	/* 5 has no divisor in common with the numbers of choices below */
	for (uint64_t seed = 0; seed < 48; seed += (TEST_SHARE > 1 ? 5 : 1)) {
		struct fab_sim_params params = dropping(
			seed % 2 ? FAB_SIM_TRIM : FAB_SIM_TAIL, 1050u << seed / 2 % 4);
		FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r = {0}, more = {0};
		FAB_AUTO(simulated_fini) struct simulated s;

		params.buffer_shared = seed / 8 % 2 || seed >= 32;
		if (seed >= 32) { /* at most ten outputs */
			params.buffer_private = 1050;
			params.buffer = 10 * 1050 + 300 * (uint32_t)(seed % 5);
		}
		simulated_init(&s, specs[seed % 3], seed % 3 ? "dor" : "minhop");
		simulate(&s, &params, seed, &r);
		cr_expect_eq(r.in_flight, 0);
		cr_expect_eq(r.trimmed && params.drop == FAB_SIM_TAIL, 0);
		dropped += r.dropped;
		trimmed += r.trimmed;
		compare(&s, &params, &r, seed);
		params.n_threads = 3;
		simulate(&s, &params, seed, &more);
		cr_expect_eq(more.events, r.events);
		cr_expect_eq(memcmp(more.deliveries.v, r.deliveries.v,
				    r.deliveries.n * sizeof(*r.deliveries.v)),
			     0);
	}
	cr_expect(dropped > 500 / TEST_SHARE && trimmed > 500 / TEST_SHARE, "%lu, %lu",
		  dropped, trimmed);
}

/* Headers are lost only where they have no room; room enough loses nothing at all; marks
 * above the threshold; a buffer that outputs share is less than one of that size for
 * each. */
Test(sim_drops, laws)
{
	struct fab_sim_params params = dropping(FAB_SIM_TRIM, 1050);
	FAB_AUTO(fab_sim_result_fini)
	struct fab_sim_result tight = {0}, some = {0}, enough = {0}, tail = {0},
			      one = {0};
	FAB_AUTO(simulated_fini) struct simulated s;

	simulated_init(&s, "fattree:radix=8,levels=2", "minhop");
	simulate(&s, &params, 1, &tight);
	cr_expect_gt(tight.trimmed, 100);
	params.buffer = 40000;
	simulate(&s, &params, 1, &some);
	cr_expect_gt(some.trimmed, 0);
	cr_expect_eq(some.dropped, 0);
	cr_expect_eq(some.delivered, some.injected);
	cr_expect_eq(some.marked, 0);
	params.buffer = 1 << 26;
	params.ecn = 20000;
	simulate(&s, &params, 1, &enough);
	cr_expect_eq(enough.trimmed + enough.dropped, 0);
	cr_expect(enough.marked > 0 && enough.marked < enough.delivered);
	params = dropping(FAB_SIM_TAIL, 8 * 2100);
	params.buffer_shared = true;
	simulate(&s, &params, 1, &one);
	params.buffer_shared = false;
	simulate(&s, &params, 1, &tail);
	cr_expect_gt(one.dropped, tail.dropped);
	/* cut in the middle: what is under way is neither lost nor delivered */
	fab_sim_result_fini(&tail);
	params.time = 2000000;
	params.drain = 0;
	simulate(&s, &params, 1, &tail);
	cr_expect_gt(tail.in_flight, 0);
}

Test(sim_drops, refused)
{
	static const struct {
		bool by_flit, is_shared;
		uint32_t buffer, ecn;
		enum fab_sim_drop drop;
		const char *why;
	} bad[] = {
		{true, false, 4000, 0, FAB_SIM_TAIL, "in bytes"},
		{false, false, 1000, 0, FAB_SIM_TAIL, "holds one packet"},
		{false, true, 4000, 0, FAB_SIM_LOSSLESS, "there is one lane"},
		{false, false, 4000, 9, FAB_SIM_LOSSLESS, "go with drops"},
	};
	FAB_AUTO(simulated_fini) struct simulated s;

	simulated_init(&s, "mesh:dims=2,hosts=2", "minhop");
	for (size_t i = 0; i < FAB_COUNT(bad); i++) {
		struct fab_sim_params params = dropping(bad[i].drop, bad[i].buffer);

		params.by_flit = bad[i].by_flit;
		params.buffer_shared = bad[i].is_shared;
		params.ecn = bad[i].ecn;
		FAILS(fab_sim_check(&s.problem, &params, ERR), -EINVAL, bad[i].why);
	}
}
