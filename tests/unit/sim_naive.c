/* SPDX-License-Identifier: BSD-2-Clause */
/* The simulator beside a plain one: each packet starts on each cable at the same time. */
#include "base/order.h"
#include "mcast/engine/state.h"
#include "mcast/route.h"
#include "support/naive.h"
#include "support/routed.h"
#include "support/simulated.h"
#include "support/test.h"
#include "support/unicast_check.h"

enum { PARTS = 8, EACH = 64 / TEST_SHARE, END = 200, END_MIXED = 600 };

enum kind { BY_TABLE, MIXED_SIZES, ADAPTIVE };

/* What endpoints send: by chance, and when they were told of something. */
struct script {
	uint64_t seed;
	uint32_t n_ends, n_groups, most, window;
	uint32_t mtu;	/* all messages are so many full packets; 0: of any size */
	uint32_t small; /* half of the messages have this size, the others the most; 0 */
	uint64_t end;	/* ticks */
	double gap;
	uint64_t think;
	struct {
		uint64_t at, n, now;
		uint32_t under_way, extra;
	} of[256];
	struct {
		uint32_t completed, lost, received;
	} told[256];
};

static bool next(void *context, uint32_t e, uint64_t now, struct fab_message *m)
{
	struct script *s = context;
	struct fab_stream stream = fab_stream_of(s->seed, (uint64_t)e << 32 | s->of[e].n);

	if (s->window) {
		if (s->of[e].under_way - s->of[e].extra >= s->window)
			return false;
		if (s->of[e].now + s->think > s->of[e].at)
			s->of[e].at = s->of[e].now + s->think;
	}
	s->of[e].at += (uint64_t)fab_stream_exponential(&stream, s->gap);
	s->of[e].n++;
	s->of[e].under_way++;
	m->time = s->of[e].at;
	m->to_group = s->n_groups && fab_stream_below(&stream, 3) == 0;
	m->target = (uint32_t)fab_stream_below(&stream,
					       m->to_group ? s->n_groups : s->n_ends);
	m->bytes = 1 + (uint32_t)fab_stream_below(&stream, s->most);
	if (s->mtu)
		m->bytes = (m->bytes + s->mtu - 1) / s->mtu * s->mtu;
	if (s->small)
		m->bytes = fab_stream_below(&stream, 2) ? s->small : s->most;
	m->tag = (uint16_t)s->of[e].n;
	(void)now;
	return true;
}

static void completed(void *context, uint32_t e, const struct fab_delivery *d)
{
	struct script *s = context;

	s->of[e].under_way--;
	s->told[e].completed++;
	s->told[e].lost += d->is_lost;
	s->of[e].now = d->time > s->of[e].now ? d->time : s->of[e].now;
}

/* A message that arrives lets the endpoint send one more than its window. */
static void received(void *context, uint32_t e, const struct fab_delivery *d)
{
	struct script *s = context;

	s->told[e].received++;
	s->of[e].extra += d->tag % 4 == 0 && s->of[e].extra < 3;
	s->of[e].now = d->time > s->of[e].now ? d->time : s->of[e].now;
}

struct net {
	struct routed mcast;
	struct fab_mcast_result trees;
	struct fab_faults *faults;
	struct fab_flow_ends ends;
	struct fab_routes *routes;
	struct fab_sim_problem problem;
};

/* Lanes and service levels without rhyme or reason. */
static void add_lanes(struct fab_routes *r, struct fab_rng *rng)
{
	uint32_t n_switches = r->f->n_switches;
	uint64_t n = 0;

	r->n_vls = (uint8_t)(2 + test_below(rng, 2));
	r->n_sls = 3;
	r->lanes = FAB_LANES_TABLE;
	r->vl_first = FAB_NEW0(n_switches + 1, uint64_t);
	r->sl_source = FAB_NEW(n_switches, uint32_t);
	for (uint32_t sw = 0; sw < n_switches; sw++) {
		n += (fab_degree(r->f, sw) + 1) * (fab_degree(r->f, sw) + 1) * 16;
		r->vl_first[sw + 1] = n;
		r->sl_source[sw] = sw;
	}
	r->sl2vl = FAB_NEW(n, uint8_t);
	for (uint64_t i = 0; i < n; i++)
		r->sl2vl[i] =
			test_below(rng, 200) ? (uint8_t)test_below(rng, r->n_vls) : 15;
	r->n_sl_sources = n_switches;
	n = (uint64_t)n_switches * r->n_columns;
	r->sl = FAB_NEW(n, uint8_t);
	for (uint64_t i = 0; i < n; i++)
		r->sl[i] =
			test_below(rng, 50) ? (uint8_t)test_below(rng, 3) : FAB_SL_NONE;
}

/* Tables that lose and turn round packets, now and then. */
static void spoil(struct fab_routes *r, struct fab_rng *rng)
{
	size_t n = (size_t)(r->column_row ? r->n_rows : r->n_columns) * r->f->n_switches;

	for (int i = 0; i < 3; i++)
		r->next[test_below(rng, n)] = (uint16_t)test_below(rng, 3);
	r->next[test_below(rng, n)] = FAB_ARC_NONE;
}

static void net_init(struct net *net, struct fab_rng *rng, uint64_t seed,
		     bool is_adaptive)
{
	bool is_large = test_below(rng, 6) == 0; /* switches of more than 64 ports */
	uint32_t n = is_large ? 2 : 2 + test_below(rng, 5);
	uint32_t n_hosts = 1 + test_below(rng, 3);
	struct fab_fabric *f =
		test_random_fabric(n, test_below(rng, 5), is_large ? 70 : n_hosts, seed);

	*net = (struct net){0};
	for (uint32_t p = 0; p < f->n_ports; p++) {
		f->port_speed[p] = (uint8_t)(FAB_HDR + test_below(rng, 3));
		f->port_width[p] = test_below(rng, 2) ? 12 : 8;
	}
	net->faults = fab_faults_new(f);
	if (test_below(rng, 2))
		fab_faults_kill_cable(net->faults, test_below(rng, f->n_cables));
	net->routes = test_tables(f, net->faults, is_adaptive ? "updn" : "minhop", 1);
	if (!is_adaptive && test_below(rng, 3) == 0)
		add_lanes(net->routes, rng);
	if (!is_adaptive && test_below(rng, 4) == 0)
		spoil(net->routes, rng);
	routed_init(&net->mcast, f, 3, 5, seed);
	net->trees = routed_by(&net->mcast.problem, &fab_mcast_minihop, NULL);
	fab_flow_ends_init(&net->ends, f, net->faults->switch_is_dead,
			   net->faults->cable_is_dead);
	net->problem = (struct fab_sim_problem){.f = f,
						.faults = net->faults,
						.ends = &net->ends,
						.routes = net->routes,
						.groups = net->mcast.groups,
						.forest = &net->trees.forest};
}

static void net_fini(struct net *net)
{
	fab_flow_ends_fini(&net->ends);
	fab_mcast_result_fini(&net->trees);
	fab_routes_free(net->routes);
	fab_faults_free(net->faults);
	routed_fini(&net->mcast);
}

/* Packets of two sizes: in buffers that hold a large one or a little more a small one may
 * have credit while a large one has none. */
static void draw_sizes(struct fab_sim_params *params, struct script *script,
		       struct fab_rng *rng)
{
	params->by_flit = false;
	params->all_rates = true;
	params->rate_gbps = 4e4; /* 5 bytes a tick */
	params->mtu = 150 + test_below(rng, 200);
	params->buffer = ((params->mtu + 3 + 63) / 64 + test_below(rng, 4)) * 64;
	script->end = END_MIXED;
	script->mtu = 0;
	script->most = params->mtu;
	script->small = 1 + test_below(rng, 60);
	script->gap = (double)(10 + test_below(rng, 100));
}

/* Lanes share a buffer, with and without a private part of it. */
static void draw_sharing(struct fab_sim_params *params, unsigned n_vls,
			 struct fab_rng *rng)
{
	uint32_t unit = params->by_flit ? 1 : 64;
	uint32_t most = (params->mtu + 3 + unit - 1) / unit * unit; /* with headers */

	params->buffer_shared = true;
	params->buffer_per_vl = false;
	params->buffer_private = 0;
	if (test_below(rng, 3) || params->chooser)
		params->buffer_private = params->by_flit ? 1 : params->buffer;
	params->buffer = n_vls * params->buffer_private + unit * test_below(rng, 9);
	if (params->buffer < most)
		params->buffer =
			params->by_flit ? params->buffer + !params->buffer : most;
}

static void draw_params(struct fab_sim_params *params, struct script *script,
			const struct net *net, enum kind kind, struct fab_rng *rng)
{
	bool by_flit = test_below(rng, 4) != 0;
	unsigned n_vls = net->routes->n_vls;

	*params = by_flit ? fab_sim_defaults_by_flit() : fab_sim_defaults();
	params->kind = &fab_sim_switches[test_below(rng, kind == ADAPTIVE ? 2 : 3)];
	params->mtu = 1 + test_below(rng, by_flit ? 6 : 20);
	params->header = test_below(rng, 3);
	params->group_header = test_below(rng, 4);
	params->buffer_per_vl = true;
	params->buffer = (1 + test_below(rng, 4)) * (by_flit ? 1 : 64);
	params->cable_delay = 1 + test_below(rng, 3);
	params->switch_delay = test_below(rng, 3);
	params->host_delay =
		test_below(rng, 2) ? test_below(rng, 3) : test_below(rng, END / 4);
	params->speedup = 1 + (unsigned)test_below(rng, 2);
	params->drain = 0;
	params->stall = UINT64_MAX;
	params->with_deliveries = true;
	script->end = END;
	script->seed = fab_rng_next(rng);
	script->most = 1 + test_below(rng, 3) * params->mtu;
	script->gap =
		(by_flit ? 1.0 : 10.0) * (double)(1 + test_below(rng, 8 * script->most));
	script->window = test_below(rng, 2) ? 1 + test_below(rng, 3) : 0;
	script->think = test_below(rng, 10);
	script->mtu = test_below(rng, 2) ? params->mtu : 0;
	if (kind == MIXED_SIZES || (kind == ADAPTIVE && !test_below(rng, 3)))
		draw_sizes(params, script, rng);
	if (kind == ADAPTIVE) {
		params->chooser = 1 + test_below(rng, 4);
		params->seed = fab_rng_next(rng);
		n_vls++;
		if (script->window) /* packets overtake each other */
			script->most = params->mtu;
	}
	if (n_vls > 1 && test_below(rng, 2))
		draw_sharing(params, n_vls, rng);
	if (net->ends.n > 64) { /* the plain simulator asks all for all */
		script->end /= 4;
		script->gap *= 4;
	}
	params->warmup = test_below(rng, script->end / 2);
	params->time = script->end - params->warmup;
}

/* Equal but for the numbers of packets. */
FAB_ORDER_MIXED(cmp_step, struct fab_sim_step,
		FAB_UP(left) FAB_UP(port) FAB_UP(birth) FAB_UP(arrived) FAB_UP(source)
			FAB_UP(target) FAB_UP(hop) FAB_UP(vl) FAB_UP(to_group))

FAB_ORDER(cmp_delivery, struct fab_sim_delivery, delivered, target)

/* The first packets after the warm-up are those of a trace of all packets. */
static void first_packets(const struct net *net, struct fab_sim_params params,
			  const struct fab_messages *messages,
			  const struct fab_sim_result *all, int number)
{
	uint32_t packet = 0, last = 0;
	OWN(fab_sim_result) r;
	size_t n = 0;

	params.with_deliveries = false;
	params.n_traced = 1 + (uint32_t)number % 20;
	params.time += params.warmup;
	params.warmup = number % 2 ? params.time / 4 : 0;
	params.time -= params.warmup;
	MUST(fab_sim_run(&net->problem, &params, messages, &r, ERR));
	for (size_t i = 0; i < all->trace.n; i++) {
		const struct fab_sim_step *a = &r.trace.v[n], *b = &all->trace.v[i];

		if (b->birth < params.warmup)
			continue;
		packet += b->packet != last;
		last = b->packet;
		if (packet > params.n_traced)
			break;
		cr_assert_lt(n++, r.trace.n, "%d: %zu steps only", number, r.trace.n);
		cr_assert(a->packet == packet && !cmp_step(a, b), "%d: step %zu", number,
			  i);
	}
	cr_assert_eq(r.trace.n, n, "%d: %zu steps, not %zu", number, r.trace.n, n);
}

static void compare(struct fab_sim_result *r, struct naive_result *n, int number,
		    enum kind kind)
{
	/* by the simulator's number: that of the plain one */
	FAB_AUTOFREE uint32_t *packet = FAB_NEW0(r->trace.n + 2, uint32_t);

	FAB_SORT(&r->trace, cmp_step);
	FAB_SORT(&n->starts, cmp_step);
	for (size_t i = 0; i < r->trace.n && i < n->starts.n; i++) {
		const struct fab_sim_step *a = &r->trace.v[i], *b = &n->starts.v[i];

		cr_assert_eq(cmp_step(a, b), 0,
			     "%d: start %zu of %zu: at %zu port %u, naive %zu %u", number,
			     i, n->starts.n, a->left, a->port, b->left, b->port);
		cr_assert(a->packet && a->packet <= r->trace.n);
		if (!packet[a->packet])
			packet[a->packet] = b->packet;
		if (kind != ADAPTIVE) /* overtake each other */
			cr_assert_eq(packet[a->packet], b->packet,
				     "%d: packet %u of step %zu", number, a->packet, i);
	}
	cr_assert_eq(r->trace.n, n->starts.n, "%d: %zu starts, not %zu", number,
		     r->trace.n, n->starts.n);
	FAB_SORT(&n->deliveries, cmp_delivery);
	cr_assert_eq(r->deliveries.n, n->deliveries.n);
	for (size_t i = 0; i < r->deliveries.n; i++)
		cr_assert_eq(memcmp(&r->deliveries.v[i], &n->deliveries.v[i],
				    sizeof(r->deliveries.v[i])),
			     0, "%d: delivery %zu", number, i);
	cr_expect_eq(r->lost, n->lost);
	cr_expect_eq(r->unroutable + r->looped, n->dropped);
}

/* Throughput and latency of the measured time, by the naive list of deliveries. */
static void compare_sums(const struct fab_sim_params *params,
			 const struct fab_sim_result *r, const struct naive_result *n,
			 int number)
{
	uint64_t end = params->warmup + params->time;
	double accepted = 0, goodput = 0, latency = 0, n_latency = 0;
	double wait = 0, n_waits = 0;

	for (size_t i = 0; i < n->deliveries.n; i++) {
		const struct fab_sim_delivery *d = &n->deliveries.v[i];
		uint32_t header =
			d->group == FAB_NONE ? params->header : params->group_header;

		if (d->delivered >= params->warmup && d->delivered < end) {
			accepted += d->wire;
			goodput += d->wire - header;
		}
		if (d->birth >= params->warmup) {
			latency += (double)(d->delivered - d->birth);
			n_latency++;
		}
	}
	for (size_t i = 0; i < n->starts.n; i++)
		if (!n->starts.v[i].hop && n->starts.v[i].birth >= params->warmup) {
			wait += (double)(n->starts.v[i].left - n->starts.v[i].birth);
			n_waits++;
		}
	cr_expect_float_eq(r->source_wait_mean, n_waits > 0 ? wait / n_waits : 0, 1e-6,
			   "%d", number);
	cr_expect_eq(r->warmup, r->end < params->warmup ? r->end : params->warmup, "%d",
		     number);
	cr_expect_eq(r->accepted_bytes, accepted, "%d: %g", number, accepted);
	cr_expect_eq(r->goodput_bytes, goodput, "%d: %g", number, goodput);
	cr_expect_float_eq(r->latency_mean, n_latency > 0 ? latency / n_latency : 0, 1e-6,
			   "%d", number);
}

/* Returns whether it could be compared. */
static bool beside_naive(int number, enum kind kind)
{
	struct fab_sim_params params;
	struct script script = {0}, again, sent;
	FAB_AUTO(naive_fini) struct naive_result plain = {0};
	OWN(fab_sim_result) r = {0};
	struct fab_rng rng = test_rng((uint64_t)number);
	FAB_AUTO(net_fini) struct net net;
	struct fab_messages messages = {.context = &script, .next = next};

	net_init(&net, &rng, (uint64_t)number, kind == ADAPTIVE);
	draw_params(&params, &script, &net, kind, &rng);
	if (script.window) {
		messages.completed = completed;
		messages.received = received;
	}
	script.n_ends = net.ends.n;
	script.n_groups = net.mcast.groups->n;
	if (kind == ADAPTIVE || test_below(&rng, 2)) {
		script.n_groups = 0;
		net.problem.groups = NULL;
		net.problem.forest = NULL;
	}
	again = script;
	messages.least_payload = script.mtu;
	params.n_threads = number % 3 ? 1 : 2 + number % 2;
	params.by_heap = number % 5 == 4;
	if (!net.ends.n || (kind == ADAPTIVE && fab_sim_check_escape(&net.problem, NULL)))
		return false;
	cr_assert_eq(fab_sim_run(&net.problem, &params, &messages, &r, ERR), 0, "%d: %s",
		     number, test_err.text);
	sent = script;
	script = again;
	if (kind != ADAPTIVE)
		first_packets(&net, params, &messages, &r, number);
	script = again;
	naive_run(&net.problem, &params, &messages, script.end, &plain);
	cr_expect_eq(plain.idle, 0, "%d: %zu", number, (size_t)plain.idle);
	compare(&r, &plain, number, kind);
	compare_sums(&params, &r, &plain, number);
	cr_expect_eq(memcmp(sent.told, script.told, sizeof(sent.told)), 0, "%d", number);
	simulated_balance(&r);
	return true;
}

static int beside_naive_each(int part, enum kind kind)
{
	int n = 0;

	for (int i = part * EACH; i < (part + 1) * EACH; i++)
		n += beside_naive(i, kind);
	return n;
}

TEST_EACH(part, PARTS, sim_naive, same_starts)
{
	beside_naive_each(*part, BY_TABLE);
}

TEST_EACH(part, PARTS, sim_naive, mixed_sizes)
{
	beside_naive_each(*part, MIXED_SIZES);
}

/* With the random numbers of the choices. */
TEST_EACH(part, PARTS, sim_naive, adaptive)
{
	cr_expect_gt(beside_naive_each(*part, ADAPTIVE), EACH / 2);
}
