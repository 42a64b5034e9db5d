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
	p.warmup = p.time = 0;
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

static bool next(void *context, uint32_t e, uint64_t now, struct fab_message *m)
{
	struct script *s = context;
	struct fab_stream chance = fab_stream_of(s->seed, (uint64_t)e << 32 | s->n[e]);
	uint32_t others = fab_stream_below(&chance, 2) ? s->n_ends : 4, to;

	(void)now;
	if (s->n[e]++ == EACH)
		return false;
	/* seldom at one time: the plain one gives no order then */
	s->at[e] += fab_stream_below(&chance, 400001);
	to = (uint32_t)((e + 1 + fab_stream_below(&chance, others - 1)) % others);
	*m = (struct fab_message){.time = s->at[e],
				  .target = to == e ? (e + 1) % s->n_ends : to,
				  .bytes = 1 +
					   (uint32_t)fab_stream_below(&chance, 4 * MTU)};
	return true;
}

/* The plain simulator */

struct packet {
	uint64_t at; /* its head may leave a switch; UINT64_MAX: it waits, or is gone */
	uint32_t n_hops, hop, queue[HOPS], size;
	bool is_trimmed;
	struct fab_sim_delivery of;
};

struct queue {
	uint32_t sw, sends;
	uint64_t until;	 /* it sends that packet; UINT64_MAX: none */
	int64_t used[2]; /* [1]: headers of trimmed packets */
	FAB_VEC(uint32_t) of[2];
	size_t first[2];
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

static void add_packets(struct plain *x, struct script *script)
{
	const struct fab_flow_ends *ends = &x->s->ends;
	uint32_t n_arcs = x->s->f->arc_first[x->s->f->n_switches];
	OWN_HEAP uint32_t *column =
		fab_path_columns(x->s->routes, ends->n, ends->sw, ends->port);
	struct fab_message m;

	for (uint32_t e = 0; e < ends->n; e++)
		for (uint64_t free = 0; next(script, e, 0, &m);)
			for (uint32_t payload; m.bytes; m.bytes -= payload) {
				struct packet p = {.of = {.birth = m.time,
							  .source = e,
							  .target = m.target,
							  .group = FAB_NONE}};
				struct fab_path path = fab_path_from(
					x->s->routes, ends->sw[e], column[m.target]);

				payload = m.bytes < MTU ? m.bytes : MTU;
				p.size = payload + HEADER;
				while (fab_path_step(&path))
					p.queue[p.n_hops++] = path.arc;
				p.queue[p.n_hops++] = n_arcs + m.target;
				free = free > m.time ? free : m.time;
				p.at = free + CABLE + SWITCH;
				free += (uint64_t)p.size * PER_BYTE;
				FAB_PUSH(&x->packet, p);
			}
}

/* Room in a queue for so many bytes; or in a buffer that the outputs of a switch share.
 */
static bool has_room(const struct plain *x, uint32_t queue, unsigned lane, uint32_t bytes)
{
	int64_t own = x->params->buffer_private, room = x->params->buffer;

	if (lane || !x->params->buffer_shared)
		return x->queue[queue].used[lane] + bytes <= room;
	for (uint32_t q = 0; q < x->n_queues; q++) {
		int64_t used = x->queue[q].used[0] + (q == queue ? bytes : 0);

		if (x->queue[q].sw == x->queue[queue].sw)
			room -= used > own ? used : own;
	}
	return room >= 0;
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
	x->queue[q].used[lane] += p->size;
	FAB_PUSH(&x->queue[q].of[lane], id);
}

static void start(struct plain *x, uint32_t q)
{
	struct queue *queue = &x->queue[q];
	unsigned lane = queue->first[1] < queue->of[1].n;
	struct packet *p;

	if (queue->until != UINT64_MAX || queue->first[lane] == queue->of[lane].n)
		return;
	queue->sends = queue->of[lane].v[queue->first[lane]++];
	p = &x->packet.v[queue->sends];
	queue->until = x->now + (uint64_t)p->size * PER_BYTE;
	if (++p->hop < p->n_hops) {
		p->at = x->now + CABLE + SWITCH;
		return;
	}
	p->of.delivered = queue->until + CABLE;
	p->of.wire = p->size;
	FAB_PUSH(&x->deliveries, p->of);
}

static void run_plain(struct plain *x)
{
	for (;;) {
		uint64_t then = UINT64_MAX;

		for (size_t i = 0; i < x->packet.n; i++)
			then = x->packet.v[i].at < then ? x->packet.v[i].at : then;
		for (uint32_t q = 0; q < x->n_queues; q++)
			then = x->queue[q].until < then ? x->queue[q].until : then;
		if (then == UINT64_MAX)
			return;
		x->now = then;
		for (uint32_t q = 0; q < x->n_queues; q++)
			if (x->queue[q].until == then) {
				/* it has not come to the next switch, which may trim it
				 */
				const struct packet *p = &x->packet.v[x->queue[q].sends];

				x->queue[q].until = UINT64_MAX;
				x->queue[q].used[p->is_trimmed] -= p->size;
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
	const uint32_t n_arcs = s->f->arc_first[s->f->n_switches];
	struct plain x = {.params = params, .s = s};
	struct script script = {.seed = seed, .n_ends = s->ends.n};

	x.n_queues = n_arcs + s->ends.n;
	x.queue = FAB_NEW0(x.n_queues, struct queue);
	for (uint32_t q = 0, sw = 0; q < x.n_queues; q++) {
		while (sw < s->f->n_switches && q >= s->f->arc_first[sw + 1])
			sw++;
		x.queue[q].sw = sw < s->f->n_switches ? sw : s->ends.sw[q - n_arcs];
		x.queue[q].until = UINT64_MAX;
	}
	add_packets(&x, &script);
	run_plain(&x);
	FAB_SORT(&x.deliveries, cmp_delivery);
	cr_expect_eq(x.dropped, r->dropped, "seed %lu", seed);
	cr_expect_eq(x.trimmed, r->trimmed);
	cr_assert_eq(x.deliveries.n, r->deliveries.n);
	for (size_t i = 0; i < r->deliveries.n; i++)
		cr_assert_eq(memcmp(&x.deliveries.v[i], &r->deliveries.v[i],
				    sizeof(*r->deliveries.v)),
			     0, "seed %lu, delivery %zu", seed, i);
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
	simulated_balance(r);
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
		OWN(fab_sim_result) r = {0}, more = {0};
		OWN(simulated) s;

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
		simulated_same(&r, &more);
	}
	cr_expect(dropped > 500 / TEST_SHARE && trimmed > 500 / TEST_SHARE);
}

/* Headers are lost only where they have no room; room enough loses nothing at all; marks
 * above the threshold; a buffer that outputs share is less than one of that size for
 * each; what is under way when it is cut in the middle is neither lost nor delivered. */
Test(sim_drops, laws)
{
	static const struct {
		enum fab_sim_drop drop;
		uint32_t buffer, ecn;
		bool is_shared;
		uint64_t time;
	} cases[] = {
		{FAB_SIM_TRIM, 1050, 0, false, 0},
		{FAB_SIM_TRIM, 40000, 0, false, 0},
		{FAB_SIM_TRIM, 1 << 26, 20000, false, 0},
		{FAB_SIM_TAIL, 8 * 2100, 0, true, 0},
		{FAB_SIM_TAIL, 8 * 2100, 0, false, 0},
		{FAB_SIM_TAIL, 8 * 2100, 0, false, 2000000},
	};
	struct fab_sim_result r[FAB_COUNT(cases)];
	OWN(simulated) s;

	simulated_init(&s, "fattree:radix=8,levels=2", "minhop");
	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		struct fab_sim_params params = dropping(cases[i].drop, cases[i].buffer);

		params.ecn = cases[i].ecn;
		params.buffer_shared = cases[i].is_shared;
		params.time = cases[i].time;
		params.drain = cases[i].time ? 0 : UINT64_MAX;
		simulate(&s, &params, 1, &r[i]);
	}
	cr_expect_gt(r[0].trimmed, 100);
	cr_expect(r[1].trimmed > 0 && r[1].dropped == 0 && r[1].marked == 0);
	cr_expect(r[1].delivered == r[1].injected && r[2].trimmed + r[2].dropped == 0);
	cr_expect(r[2].marked > 0 && r[2].marked < r[2].delivered);
	cr_expect(r[3].dropped > r[4].dropped && r[5].in_flight > 0);
	for (size_t i = 0; i < FAB_COUNT(cases); i++)
		fab_sim_result_fini(&r[i]);
}
