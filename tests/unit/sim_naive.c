/* SPDX-License-Identifier: BSD-2-Clause */
/* The simulator beside a plain one: each packet starts on each cable at the same time. */
#include "base/order.h"
#include "mcast/engine/state.h"
#include "mcast/route.h"
#include "support/naive.h"
#include "support/routed.h"
#include "support/test.h"
#include "support/unicast_check.h"
#include "unicast/engine.h"

#include <criterion/parameterized.h>

enum { PARTS = 8, EACH = 26 / TEST_SHARE, END = 200, END_MIXED = 600 };

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
		uint32_t under_way, extra, lost, completed;
	} of[256];
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
	s->of[e].completed++;
	s->of[e].lost += d->is_lost;
	if (d->time > s->of[e].now)
		s->of[e].now = d->time;
}

/* A message that arrives lets the endpoint send one more than its window. */
static void received(void *context, uint32_t e, const struct fab_delivery *d)
{
	struct script *s = context;

	if (d->tag % 4 == 0 && s->of[e].extra < 3)
		s->of[e].extra++;
	if (d->time > s->of[e].now)
		s->of[e].now = d->time;
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
	const struct fab_fabric *f = r->f;
	uint64_t n = 0;

	r->n_vls = (uint8_t)(2 + test_below(rng, 2));
	r->n_sls = 3;
	r->lanes = FAB_LANES_TABLE;
	r->vl_first = FAB_NEW(f->n_switches + 1, uint64_t);
	for (uint32_t sw = 0; sw <= f->n_switches; sw++) {
		uint64_t d =
			sw < f->n_switches ? f->arc_first[sw + 1] - f->arc_first[sw] : 0;

		r->vl_first[sw] = n;
		n += (d + 1) * (d + 1) * 16;
	}
	r->sl2vl = FAB_NEW(n, uint8_t);
	for (uint64_t i = 0; i < n; i++)
		r->sl2vl[i] =
			test_below(rng, 200) ? (uint8_t)test_below(rng, r->n_vls) : 15;
	r->n_sl_sources = f->n_switches;
	r->sl_source = FAB_NEW(f->n_switches, uint32_t);
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		r->sl_source[sw] = sw;
	r->sl = FAB_NEW((size_t)f->n_switches * r->n_columns, uint8_t);
	for (size_t i = 0; i < (size_t)f->n_switches * r->n_columns; i++)
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
	bool is_large = test_below(rng, 12) == 0; /* switches of more than 64 ports */
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

static void draw_params(struct fab_sim_params *params, struct script *script,
			struct fab_rng *rng)
{
	bool by_flit = test_below(rng, 4) != 0;

	*params = by_flit ? fab_sim_defaults_by_flit() : fab_sim_defaults();
	params->kind = &fab_sim_switches[test_below(rng, 3)];
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
	script->end = END;
	params->drain = 0;
	params->stall = UINT64_MAX;
	params->with_deliveries = true;
	script->seed = fab_rng_next(rng);
	script->most = 1 + test_below(rng, 3) * params->mtu;
	script->gap =
		(by_flit ? 1.0 : 10.0) * (double)(1 + test_below(rng, 8 * script->most));
	script->window = test_below(rng, 2) ? 1 + test_below(rng, 3) : 0;
	script->think = test_below(rng, 10);
	script->mtu = test_below(rng, 2) ? params->mtu : 0;
}

/* Packets of two sizes: in buffers that hold a large one or a little more a small one may
 * have credit while a large one has none. */
static void draw_sizes(struct fab_sim_params *params, struct script *script,
		       struct fab_rng *rng)
{
	unsigned kind = (unsigned)test_below(rng, 3);

	draw_params(params, script, rng);
	params->by_flit = false;
	params->kind = &fab_sim_switches[kind];
	params->all_rates = true;
	params->rate_gbps = 4e4; /* 5 bytes a tick */
	params->mtu = 150 + test_below(rng, 200);
	params->buffer = ((params->mtu + 3 + 63) / 64 + test_below(rng, 4)) * 64;
	params->time = script->end = END_MIXED;
	script->mtu = 0;
	script->most = params->mtu;
	script->small = 1 + test_below(rng, 60);
	script->gap = (double)(10 + test_below(rng, 100));
}

/* Lanes that share a buffer, with and without a private part of it; half of the cases. */
static void draw_sharing(struct fab_sim_params *params, unsigned n_vls,
			 struct fab_rng *rng)
{
	uint32_t least = params->by_flit ? 1 : params->buffer;
	uint32_t unit = params->by_flit ? 1 : 64;
	uint32_t most = params->mtu + (params->header > params->group_header
					       ? params->header
					       : params->group_header);

	if (n_vls < 2 || test_below(rng, 2))
		return;
	params->buffer_shared = true;
	params->buffer_per_vl = false;
	params->buffer_private = test_below(rng, 3) || params->chooser ? least : 0;
	params->buffer = n_vls * params->buffer_private + unit * test_below(rng, 9);
	if (params->buffer < most && !params->by_flit)
		params->buffer = (most + 63) / 64 * 64;
	if (!params->buffer)
		params->buffer = 1;
}

FAB_ORDER(cmp_start, struct naive_start, time, port)

FAB_ORDER(cmp_delivery, struct fab_sim_delivery, delivered, target)

/* Steps that are numbered as of one packet are of one packet. */
static void same_packets(const struct naive_start *a, const struct naive_start *b,
			 size_t n, int number)
{
	/* by the simulator's number */
	FAB_AUTOFREE uint32_t *of = FAB_NEW0(n + 2, uint32_t);

	for (size_t i = 0; i < n; i++) {
		cr_assert(a[i].packet && a[i].packet <= n);
		if (!of[a[i].packet])
			of[a[i].packet] = b[i].packet;
		cr_assert_eq(of[a[i].packet], b[i].packet, "%d: packet %u of step %zu",
			     number, a[i].packet, i);
	}
}

/* The first packets after the warm-up are those of a trace of all packets. */
static void first_packets(const struct net *net, struct fab_sim_params params,
			  const struct fab_messages *messages,
			  const struct fab_sim_result *all, int number)
{
	uint32_t packet = 0, last = 0;
	FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r;
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
		cr_assert_lt(n, r.trace.n, "%d: %zu steps only", number, n);
		cr_assert(a->packet == packet && a->birth == b->birth &&
				  a->arrived == b->arrived && a->left == b->left &&
				  a->source == b->source && a->target == b->target &&
				  a->port == b->port && a->hop == b->hop &&
				  a->to_group == b->to_group,
			  "%d: step %zu", number, i);
		n++;
	}
	cr_assert_eq(r.trace.n, n, "%d: %zu steps, not %zu", number, r.trace.n, n);
}

static void compare(const struct fab_sim_result *r, struct naive_result *n, int number,
		    enum kind kind)
{
	FAB_VEC(struct naive_start) starts = {0};

	for (size_t i = 0; i < r->trace.n; i++) {
		const struct fab_sim_step *s = &r->trace.v[i];
		struct naive_start start = {.time = s->left,
					    .birth = s->birth,
					    .source = s->source,
					    .port = s->port,
					    .target = s->target,
					    .packet = s->packet,
					    .vl = s->vl,
					    .hop = (uint8_t)s->hop,
					    .to_group = s->to_group};

		FAB_PUSH(&starts, start);
	}
	FAB_SORT(&starts, cmp_start);
	FAB_SORT(&n->starts, cmp_start);
	for (size_t i = 0; i < starts.n && i < n->starts.n; i++) {
		const struct naive_start *a = &starts.v[i], *b = &n->starts.v[i];

		cr_assert(a->time == b->time && a->port == b->port &&
				  a->birth == b->birth && a->source == b->source &&
				  a->vl == b->vl && a->hop == b->hop &&
				  a->to_group == b->to_group && a->target == b->target,
			  "%d: start %zu of %zu: at %zu port %u from %u born %zu vl %u; "
			  "naive %zu %u %u %zu %u",
			  number, i, n->starts.n, a->time, a->port, a->source, a->birth,
			  a->vl, b->time, b->port, b->source, b->birth, b->vl);
	}
	if (kind != ADAPTIVE) /* overtake each other */
		same_packets(starts.v, n->starts.v, starts.n, number);
	cr_assert_eq(starts.n, n->starts.n, "%d: %zu starts, not %zu", number, starts.n,
		     n->starts.n);
	FAB_SORT(&n->deliveries, cmp_delivery);
	cr_assert_eq(r->deliveries.n, n->deliveries.n);
	for (size_t i = 0; i < r->deliveries.n; i++)
		cr_assert_eq(memcmp(&r->deliveries.v[i], &n->deliveries.v[i],
				    sizeof(r->deliveries.v[i])),
			     0, "%d: delivery %zu", number, i);
	cr_expect_eq(r->lost, n->lost);
	cr_expect_eq(r->unroutable + r->looped, n->dropped);
	free(starts.v);
}

/* Throughput and latency of the measured time, by the naive list of deliveries. */
static void compare_sums(const struct fab_sim_params *params,
			 const struct fab_sim_result *r, const struct naive_result *n,
			 int number)
{
	uint64_t end = params->warmup + params->time;
	double accepted = 0, goodput = 0, latency = 0, n_latency = 0;

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
	cr_expect_eq(r->warmup, r->end < params->warmup ? r->end : params->warmup, "%d",
		     number);
	cr_expect_eq(r->accepted_bytes, accepted, "%d: %g", number, accepted);
	cr_expect_eq(r->goodput_bytes, goodput, "%d: %g", number, goodput);
	cr_expect_float_eq(r->latency_mean, n_latency > 0 ? latency / n_latency : 0, 1e-6,
			   "%d", number);
}

/* Adaptive packets, which have a lane more; by each chooser. */
static void draw_adaptive(struct fab_sim_params *params, struct script *script,
			  struct fab_rng *rng)
{
	if (test_below(rng, 3))
		draw_params(params, script, rng);
	else
		draw_sizes(params, script, rng);
	params->kind = &fab_sim_switches[test_below(rng, 2)];
	params->chooser = 1 + test_below(rng, 4);
	params->seed = fab_rng_next(rng);
	if (script->window) /* packets overtake each other */
		script->most = params->mtu;
}

/* Returns whether it could be compared. */
static bool beside_naive(int number, enum kind kind)
{
	struct fab_sim_params params;
	struct script script = {0}, again, told;
	FAB_AUTO(naive_fini) struct naive_result plain = {0};
	FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r = {0};
	struct fab_rng rng = test_rng((uint64_t)number);
	FAB_AUTO(net_fini) struct net net;
	struct fab_messages messages = {.context = &script, .next = next};
	bool is_unicast;

	net_init(&net, &rng, (uint64_t)number, kind == ADAPTIVE);
	if (kind == ADAPTIVE)
		draw_adaptive(&params, &script, &rng);
	else if (kind == MIXED_SIZES)
		draw_sizes(&params, &script, &rng);
	else
		draw_params(&params, &script, &rng);
	draw_sharing(&params, net.routes->n_vls + (params.chooser != 0), &rng);
	if (net.ends.n > 64) { /* the plain simulator asks all for all */
		script.end /= 4;
		script.gap *= 4;
	}
	params.warmup = test_below(&rng, script.end / 2);
	params.time = script.end - params.warmup;
	if (script.window) {
		messages.completed = completed;
		messages.received = received;
	}
	script.n_ends = net.ends.n;
	is_unicast = kind == ADAPTIVE || test_below(&rng, 2);
	script.n_groups = is_unicast ? 0 : net.mcast.groups->n;
	again = script;
	messages.least_payload = script.mtu;
	params.n_threads = number % 3 ? 1 : 2 + number % 2;
	params.by_heap = number % 5 == 4;
	if (is_unicast) {
		net.problem.groups = NULL;
		net.problem.forest = NULL;
	}
	if (!net.ends.n || (kind == ADAPTIVE && fab_sim_check_escape(&net.problem, NULL)))
		return false;
	cr_assert_eq(fab_sim_run(&net.problem, &params, &messages, &r, ERR), 0, "%d: %s",
		     number, test_err.text);
	told = script;
	script = again;
	naive_run(&net.problem, &params, &messages, script.end, &plain);
	cr_expect_eq(plain.idle, 0, "%d: %zu", number, (size_t)plain.idle);
	compare(&r, &plain, number, kind);
	compare_sums(&params, &r, &plain, number);
	for (uint32_t e = 0; e < net.ends.n; e++) {
		cr_expect_eq(told.of[e].completed, script.of[e].completed);
		cr_expect_eq(told.of[e].lost, script.of[e].lost);
	}
	script = again;
	if (kind != ADAPTIVE)
		first_packets(&net, params, &messages, &r, number);
	cr_expect_eq(r.born, r.lost + r.injected + r.waiting);
	cr_expect_eq(r.injected + r.copied,
		     r.delivered + r.in_flight + r.unroutable + r.looped);
	return true;
}

TEST_EACH(part, PARTS, sim_naive, same_starts)
{
	for (int i = 0; i < EACH; i++)
		beside_naive(*part * EACH + i, BY_TABLE);
}

TEST_EACH(part, PARTS, sim_naive, mixed_sizes)
{
	for (int i = 0; i < EACH; i++)
		beside_naive(*part * EACH + i, MIXED_SIZES);
}

/* With the random numbers of the choices. */
TEST_EACH(part, PARTS, sim_naive, adaptive)
{
	int n = 0;

	for (int i = 0; i < EACH; i++)
		n += beside_naive(*part * EACH + i, ADAPTIVE);
	cr_expect_gt(n, EACH / 2);
}
