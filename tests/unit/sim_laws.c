/* SPDX-License-Identifier: BSD-2-Clause */
/* What is known of queues, buffers, shapes and trees, each with its tolerance. */
#include "event/stats.h"
#include "event/stream.h"
#include "sim/saturation.h"
#include "support/simulated.h"
#include "support/test.h"
#include "traffic/traffic.h"
#include "unicast/path.h"

/* A source of the tests: each endpoint sends as its target function says. */
struct source {
	uint32_t n_ends, size;
	uint64_t every, most;	  /* a message each so many ticks, at most so many */
	uint64_t seed;		  /* targets by chance, itself too */
	uint32_t shift;		  /* or always that many further */
	bool to_group, is_closed; /* closed: the next when the last has arrived */
	uint32_t sender_each;	  /* only every n-th endpoint sends */
	uint32_t n_senders;	  /* of the first so many; 0: all */
	uint64_t think;
	uint64_t sent[512], free[512];
};

static bool next(void *context, uint32_t e, uint64_t now, struct fab_message *m)
{
	struct source *s = context;
	struct fab_stream stream = fab_stream_of(s->seed, e);

	(void)now;
	if (e % s->sender_each || (s->n_senders && e >= s->n_senders) ||
	    s->sent[e] == s->most || (s->is_closed && s->free[e] == UINT64_MAX))
		return false;
	stream.draw = 2 * s->sent[e];
	*m = (struct fab_message){.time = s->is_closed ? s->free[e]
						       : s->sent[e] * s->every,
				  .bytes = s->size,
				  .to_group = s->to_group};
	s->sent[e]++;
	s->free[e] = UINT64_MAX;
	if (!s->to_group)
		m->target = s->seed ? (uint32_t)fab_stream_below(&stream, s->n_ends)
				    : (e + s->shift) % s->n_ends;
	return true;
}

static void completed(void *context, uint32_t e, const struct fab_delivery *d)
{
	struct source *s = context;

	s->free[e] = d->time + s->think;
}

static void run(const struct simulated *s, const struct fab_sim_params *params,
		struct source *source, struct fab_sim_result *r)
{
	struct fab_messages messages = {.context = source,
					.next = next,
					.completed =
						source->is_closed ? completed : NULL};

	source->n_ends = s->ends.n;
	if (!source->sender_each)
		source->sender_each = 1;
	if (!source->most)
		source->most = UINT64_MAX;
	MUST(fab_sim_run(&s->problem, params, &messages, r, ERR));
	cr_expect_eq(r->injected + r->copied,
		     r->delivered + r->in_flight + r->unroutable + r->looped);
}

static struct fab_sim_params flits(const char *kind, uint32_t mtu, uint64_t time)
{
	struct fab_sim_params params = fab_sim_defaults_by_flit();

	params.kind = &fab_sim_switches[fab_choices_find(&fab_sim_switch_choices, kind,
							 strlen(kind))];
	params.mtu = mtu;
	params.warmup = time / 4;
	params.time = time;
	params.drain = 0;
	params.n_threads = 1;
	return params;
}

/* Is the mean of some runs where the law says, within three of its deviations? */
static void expect_law(const struct fab_tally *t, double law, const char *what)
{
	double sigma = fab_tally_deviation(t) / sqrt((double)t->n);

	cr_expect_leq(fabs(fab_tally_mean(t) - law), 3 * sigma, "%s: %g +- %g, not %g",
		      what, fab_tally_mean(t), sigma, law);
	cr_expect_lt(sigma, 0.1 * law, "%s: %g", what, sigma);
}

/* Geo/D/1: W = rho (L - 1) / (2 (1 - rho)) cycles at the source. */
Test(sim_laws, source_queue_of_bernoulli_traffic)
{
	static const double rates[] = {0.5, 0.8};
	FAB_AUTO(simulated_fini) struct simulated s;

	simulated_init(&s, "fattree:radix=2,levels=1", "minhop");
	for (size_t i = 0; i < FAB_COUNT(rates); i++) {
		struct fab_sim_params params = flits("oq", 16, 60000);
		struct fab_tally t = {0};

		for (uint64_t seed = 1; seed <= 12; seed++) {
			FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r;

			simulated_seed(&s, &params, rates[i], 16, seed, &r);
			fab_tally_add(&t, r.source_wait_mean);
		}
		expect_law(&t, rates[i] * 15 / (2 * (1 - rates[i])), "Geo/D/1");
	}
}

/* M/D/1: W = rho / (2 (1 - rho)) packet times. */
Test(sim_laws, source_queue_of_poisson_traffic)
{
	struct fab_sim_params params = fab_sim_defaults();
	struct fab_tally t = {0};
	FAB_AUTO(simulated_fini) struct simulated s;

	simulated_init(&s, "fattree:radix=2,levels=1", "minhop");
	params.all_rates = true;
	params.warmup = 20000000;
	params.time = 500000000;
	params.drain = 0;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r;

		simulated_seed(&s, &params, 0.7, 2048, seed, &r);
		fab_tally_add(&t, r.source_wait_mean / (2074 * 80));
	}
	expect_law(&t, 0.7 / (2 * 0.3), "M/D/1");
}

/* Karol 1987 for n - 1 sources an output: nobody sends to itself. */
Test(sim_laws, output_queues_of_a_slotted_switch)
{
	struct fab_sim_params params = flits("oq", 1, 8000);
	const double rho = 0.8, n = 8;
	struct fab_tally t = {0};
	FAB_AUTO(simulated_fini) struct simulated s;

	params.buffer = 1000;
	simulated_init(&s, "fattree:radix=8,levels=1", "minhop");
	for (uint64_t seed = 1; seed <= 12; seed++) {
		FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r;

		simulated_seed(&s, &params, rho, 1, seed, &r);
		fab_tally_add(&t, r.latency_mean - 3); /* two cables and the flit */
	}
	expect_law(&t, (n - 2) / (n - 1) * rho / (2 * (1 - rho)), "oq");
}

/* Karol 1987: head-of-line blocking, all inputs full, targets uniform with oneself. */
Test(sim_laws, fifo_switch_saturates)
{
	static const struct {
		const char *spec;
		double share;
	} laws[] = {{"fattree:radix=2,levels=1", 0.750},
		    {"fattree:radix=4,levels=1", 0.655},
		    {"fattree:radix=8,levels=1", 0.618}};

	for (size_t i = 0; i < FAB_COUNT(laws); i++) {
		struct fab_sim_params params = flits("fifo", 1, 30000);
		struct source source = {.size = 1, .every = 1, .seed = 3};
		FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r;
		FAB_AUTO(simulated_fini) struct simulated s;

		simulated_init(&s, laws[i].spec, "minhop");
		run(&s, &params, &source, &r);
		cr_expect_float_eq(r.accepted, laws[i].share, 0.005, "%s: %g",
				   laws[i].spec, r.accepted);
		cr_expect(r.is_saturated);
		cr_expect_eq(fab_sim_cause(&r).kind, FAB_SIM_CONTENTION);
		cr_expect_not(fab_sim_cause(&r).is_full);
	}
}

/* A buffer of B packets: min(1, B L / round trip of a credit). */
Test(sim_laws, small_buffers_limit_a_flow)
{
	FAB_AUTO(simulated_fini) struct simulated s;

	simulated_init(&s, "fattree:radix=2,levels=1", "minhop");
	for (uint32_t b = 1; b <= 6; b++) {
		struct fab_sim_params params = flits("voq", 16, 66000);
		struct source source = {.size = 16, .every = 16, .shift = 1};
		FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r;
		double law = fmin(1, b * 16.0 / (20 + 10 + 16 + 20));

		params.buffer = b;
		params.cable_delay = 20;
		params.switch_delay = 10;
		run(&s, &params, &source, &r);
		cr_expect_float_eq(r.accepted, law, 0.001, "%u: %g, not %g", b,
				   r.accepted, law);
		cr_expect_eq(r.credit_limited > 0, b < 5);
		cr_expect_eq(fab_sim_cause(&r).kind,
			     b < 4 ? FAB_SIM_CREDITS : FAB_SIM_CONTENTION, "%u", b);
		cr_expect_eq(fab_sim_cause(&r).is_full, b >= 4); /* 64 of 66 */
	}
}

/* Windows of a warm-up with a latency of 3 + grown(i) each, give or take noise: after how
 * many is it over, and how? */
static size_t judged(double (*grown)(double), double noise, enum sim_steady *how)
{
	struct sim_windows w = {.ticks = 20, .per_byte = 1};
	size_t n = 0;

	*how = SIM_UNSETTLED;
	while (*how == SIM_UNSETTLED && n < 2000) {
		double x = (double)fab_stream_at(1, n, 0) / (double)UINT64_MAX - 0.5;
		struct sim_window window = {
			.packets = 100,
			.bytes = 100,
			.latency = 100 * (3 + grown((double)n) + noise * x)};

		FAB_PUSH(&w.of, window);
		n++;
		*how = sim_windows_judge(&w);
	}
	free(w.of.v);
	return n;
}

static double level(double i)
{
	(void)i;
	return 1;
}

/* As a queue that began empty: to a wait of 14 packet times, in about 2000 of them. */
static double settling(double i)
{
	return 14 * sqrt(1 - exp(-20 * i / 2000));
}

static double linear(double i)
{
	return i;
}

/* A warm-up goes on while latency settles, and ends where it grows for ever. */
Test(sim_laws, warm_up_ends_by_latency)
{
	enum sim_steady how;

	for (double noise = 0; noise <= 4; noise += 1) {
		size_t n = judged(level, noise, &how);

		cr_expect_eq(how, SIM_SETTLED);
		cr_expect_leq(n, 20, "%g: %zu", noise, n);
		n = judged(settling, noise / 4, &how);
		cr_expect_eq(how, SIM_SETTLED, "%g: %zu", noise, n);
		cr_expect_geq(n, 100, "%g: %zu", noise, n);
		cr_expect_leq(n, 800, "%g: %zu", noise, n);
		n = judged(linear, noise, &how);
		cr_expect_eq(how, SIM_GROWING, "%g: %zu", noise, n);
		cr_expect_leq(n, 400, "%g: %zu", noise, n);
	}
}

/* Near saturation: with 200 ticks of warm-up the mean latency of an 8-port oq switch at
 * 0.97 is too low by 2 % over 20000 ticks, by more over fewer. */
Test(sim_laws, warm_up_of_a_nearly_full_switch)
{
	static const double rates[] = {0.3, 0.97};
	FAB_AUTO(simulated_fini) struct simulated s;

	simulated_init(&s, "fattree:radix=8,levels=1", "minhop");
	for (size_t i = 0; i < FAB_COUNT(rates); i++) {
		struct fab_tally t = {0};

		for (uint64_t seed = 1; seed <= 10; seed++) {
			struct fab_sim_params params = flits("oq", 1, 2000);
			FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r;

			params.buffer = 1000;
			params.warmup = UINT64_MAX;
			simulated_seed(&s, &params, rates[i], 1, seed, &r);
			fab_tally_add(&t, (double)r.warmup);
		}
		if (i)
			cr_expect_geq(fab_tally_mean(&t), 1500, "%g", fab_tally_mean(&t));
		else
			cr_expect_leq(fab_tally_max(&t), 500, "%g", fab_tally_max(&t));
	}
}

/* Packets are counted by their time of delivery: below saturation as much is accepted as
 * is created, however short the measured time and however long the delay of the hosts. */
Test(sim_laws, all_that_is_created_is_accepted)
{
	static const uint64_t delays[] = {0, 7, 500, 6000}, times[] = {40, 200, 2000};
	FAB_AUTO(simulated_fini) struct simulated s;

	simulated_init(&s, "pgft:h=2,m=4/8,w=1/4,p=1/1", "minhop");
	for (size_t i = 0; i < FAB_COUNT(delays) * FAB_COUNT(times) * 2;
	     i += (TEST_SHARE > 1 ? 5 : 1)) {
		struct fab_sim_params params =
			flits("voq", 16, times[i / 2 % FAB_COUNT(times)]);
		struct source source = {.size = 16, .every = 20, .shift = 1};
		FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r;

		params.host_delay = delays[i / 2 / FAB_COUNT(times)];
		params.warmup = i % 2 ? UINT64_MAX : 2 * params.host_delay + 1000;
		run(&s, &params, &source, &r);
		cr_expect_float_eq(r.offered, 0.8, 1e-9, "%g", r.offered);
		cr_expect_float_eq(r.accepted, r.offered, 1e-9,
				   "%zu: %g, not %g: %zu ticks, delay %zu", i, r.accepted,
				   r.offered, params.time, params.host_delay);
	}
}

/* A permutation with one bottleneck: four flows share each cable up. */
Test(sim_laws, shift_by_a_leaf)
{
	for (size_t k = 0; k < 3; k++) {
		struct fab_sim_params params = flits(fab_sim_switches[k].name, 8, 16000);
		struct source source = {.size = 8, .every = 8, .shift = 4};
		FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r;
		FAB_AUTO(simulated_fini) struct simulated s;

		simulated_init(&s, "pgft:h=2,m=4/8,w=1/1,p=1/1", "minhop");
		run(&s, &params, &source, &r);
		cr_expect_float_eq(r.accepted, 1.0 / 4, 0.01 / 4, "%g", r.accepted);
		cr_expect_geq(r.cable[r.fullest].utilisation, 0.99);
		cr_expect_geq(r.n_at_most, 8);
	}
}

/* A ring on which all send just short of half way round, the same way: 1 / (ceil(k / 2) -
 * 1) of a cable, all of it up to there. */
Test(sim_laws, tornado_on_a_ring)
{
	static const uint32_t sizes[] = {7, 8, 11, 12};

	for (size_t i = 0; i < 2 * FAB_COUNT(sizes); i++) {
		uint32_t k = sizes[i / 2], hops = (k + 1) / 2 - 1;
		struct fab_sim_params params = flits("voq", 97, 100 * 1000 * hops);
		/* 0.97 of the law, or all that a host can send */
		struct source source = {
			.size = 97, .every = i % 2 ? 97 : 100 * hops, .shift = hops};
		double law = 1.0 / hops;
		FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r;
		FAB_AUTO(simulated_fini) struct simulated s;
		char spec[32];

		snprintf(spec, sizeof(spec), "torus:dims=%u", k);
		simulated_init(&s, spec, "dor");
		run(&s, &params, &source, &r);
		cr_expect_leq(r.accepted, law * 1.0001, "%u: %g", k, r.accepted);
		if (i % 2)
			cr_expect(r.is_saturated);
		else
			cr_expect_float_eq(r.accepted, 0.97 * law, 0.001 * law, "%u: %g",
					   k, r.accepted);
	}
}

/* All hosts of one group of a dragonfly whose switches have one cable to other groups
 * send to the next group: 8 flows share the one cable between the two. */
Test(sim_laws, dragonfly_to_the_next_group)
{
	struct fab_sim_params params = flits("voq", 8, 40000);
	struct source source = {.size = 8, .every = 8, .shift = 8, .n_senders = 8};
	FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r;
	FAB_AUTO(simulated_fini) struct simulated s;

	simulated_init(&s, "dragonfly:a=4,p=2,h=1", "minhop");
	run(&s, &params, &source, &r);
	cr_expect_float_eq(r.accepted * s.ends.n / 8, 1.0 / 8, 0.01 / 8, "%g",
			   r.accepted);
	cr_expect_geq(r.cable[r.fullest].utilisation, 0.99);
}

/* Latency of a packet alone, by hand. */
static uint64_t alone(const struct simulated *s, const struct fab_sim_params *params,
		      uint32_t from, uint32_t to, uint32_t bytes)
{
	struct fab_endpoint end = {.port = s->ends.port[to], .sw = s->ends.sw[to]};
	struct fab_path path = fab_path_from(s->routes, s->ends.sw[from],
					     fab_path_column(s->routes, &end));
	double wire = bytes * 8000 /
		      fab_cable_data_gbps(s->f, s->f->port_cable[s->ends.port[from]]);
	double sum = wire + (double)params->cable_delay + (double)params->host_delay;

	while (fab_path_step(&path)) {
		double w = bytes * 8000 /
			   fab_cable_data_gbps(s->f, s->f->arc_cable[path.arc]);

		sum += fmax(w - wire, 0) +
		       (double)(params->cable_delay + params->switch_delay);
		wire = w;
	}
	sum += fmax(bytes * 8000 /
				    fab_cable_data_gbps(
					    s->f, s->f->port_cable[s->ends.port[to]]) -
			    wire,
		    0);
	return (uint64_t)llround(sum) + params->cable_delay + params->switch_delay;
}

/* In an idle network of cables of all rates: each pair takes what its path takes. */
Test(sim_laws, idle_pairs)
{
	static const char *const specs[] = {"fattree:radix=4,levels=3", "torus:dims=3x3",
					    "kfat:dims=3x3,hosts=2,planes=2",
					    "dragonfly:a=3,p=1,h=1",
					    "hyperx:dims=3x3,hosts=1"};

	for (size_t i = 0; i < FAB_COUNT(specs); i++)
		for (size_t k = 0; k < 3; k++) {
			struct fab_sim_params params = fab_sim_defaults();
			struct source source = {.size = 1000, .most = 1};
			FAB_AUTO(simulated_fini) struct simulated s;

			params.kind = &fab_sim_switches[k];
			params.warmup = 0;
			params.time = 0;
			params.with_deliveries = true;
			params.host_delay = 7;
			params.n_threads = 1;
			simulated_init(&s, specs[i], "minhop");
			for (uint32_t p = 0; p < s.f->n_ports; p++)
				s.f->port_speed[p] =
					(uint8_t)(FAB_EDR + fab_stream_at(1, p, 0) % 4);
			for (uint32_t by = 1; by < s.ends.n; by++) {
				uint32_t from = by * 7 % s.ends.n;
				FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r;
				uint64_t latency;
				uint32_t hops;

				memset(source.sent, 0, sizeof(source.sent));
				for (uint32_t e = 0; e < s.ends.n; e++)
					source.sent[e] = e != from;
				source.shift = by;
				run(&s, &params, &source, &r);
				cr_assert_eq(r.deliveries.n, 1);
				cr_expect_eq(r.deliveries.v[0].delivered,
					     alone(&s, &params, from,
						   (from + by) % s.ends.n, 1026));
				MUST(fab_sim_pair(&s.problem, &params, from,
						  (from + by) % s.ends.n, 1000, &latency,
						  &hops, ERR));
				cr_expect_eq(r.deliveries.v[0].delivered, latency);
				cr_expect_eq(r.packet_hops, hops + 2);
			}
		}
}

static void everybody(struct simulated *s, struct fab_groups **groups,
		      struct fab_forest *forest)
{
	struct fab_groups_builder *b = fab_groups_builder_new(s->f);

	fab_groups_builder_begin(b, "all", 3);
	for (uint32_t e = 0; e < s->ends.n; e++)
		fab_groups_builder_add(b, s->ends.port[e]);
	MUST(fab_groups_builder_finish(b, false, groups, ERR));
	fab_forest_init(forest, 1);
	forest->root[0] = s->ends.sw[0];
	s->problem.groups = *groups;
	s->problem.forest = forest;
}

/* E senders on one tree, all on one switch, closed loop: max(L0, E s - Z). */
Test(sim_laws, multicast_of_several_on_one_switch)
{
	for (uint32_t senders = 4; senders <= 32; senders *= 2) {
		struct fab_sim_params params = flits("oq", 16, 40000);
		struct source source = {.size = 16,
					.to_group = true,
					.is_closed = true,
					.sender_each = 64 / senders,
					.think = 15};
		const double idle = 60 + 1 + 60 + 16;
		double law = fmax(idle, senders * 16.0 - 15);
		FAB_AUTO(fab_groups_free_at) struct fab_groups *groups = NULL;
		FAB_AUTO(fab_forest_fini) struct fab_forest forest = {0};
		FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r;
		FAB_AUTO(simulated_fini) struct simulated s;

		params.cable_delay = 60;
		params.switch_delay = 1;
		params.buffer = 64;
		simulated_init(&s, "fattree:radix=64,levels=1", "minhop");
		everybody(&s, &groups, &forest);
		run(&s, &params, &source, &r);
		cr_expect_float_eq(r.message_latency_mean, law, 0.01 * law,
				   "%u: %g, not %g", senders, r.message_latency_mean,
				   law);
		/* one packet in, a copy to each of the others */
		cr_expect_eq(r.copied % 62, 0);
		cr_expect_leq(r.injected - r.copied / 62, senders);
	}
}

/*
 * Collectives of 2^d hosts on one idle switch: rounds of a wire time W and a latency L
 * each, one after the other, where each waits for the one before; by the tree once.
 */
Test(sim_laws, collectives_on_one_switch)
{
	enum { N = 32, D = 5, CABLE = 6, SWITCH = 3, L = 2 * CABLE + SWITCH, S = 512 };
	const struct {
		const char *traffic;
		uint64_t law, most;
	} cases[] = {
		{"broadcast:binomial", D * (S + L), 0},
		{"broadcast:scatter", S - S / N + D * L + (N - 1) * (S / N + L), 0},
		{"broadcast:tree", S + L, 0},
		{"allgather:ring", (N - 1) * (S + L), 0},
		{"allgather:bruck", (N - 1) * S + D * L, 0},
		{"allgather:tree", (N - 1) * S + L, (N - 1) * S * 5 / 4 + L},
		{"barrier:dissemination", D * (1 + L), 0},
		{"barrier:tree", (D + 1) * (1 + L), 0},
	};
	struct fab_sim_params params = flits("oq", 16, 0);
	FAB_AUTO(fab_groups_free_at) struct fab_groups *groups = NULL;
	FAB_AUTO(fab_forest_fini) struct fab_forest forest = {0};
	FAB_AUTO(simulated_fini) struct simulated s;
	const uint32_t size = S;
	uint32_t end[N];

	params.cable_delay = CABLE;
	params.switch_delay = SWITCH;
	params.buffer = 64;
	simulated_init(&s, "fattree:radix=32,levels=1", "minhop");
	everybody(&s, &groups, &forest);
	cr_assert_eq(s.ends.n, N);
	for (uint32_t e = 0; e < N; e++)
		end[e] = e;
	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		const struct fab_traffic_problem problem = {
			.f = s.f,
			.ends = &s.ends,
			.n_groups = 1,
			.group_first = groups->first,
			.group_end = end,
			.how = {.size = &size, .n_sizes = 1, .mtu = 16}};
		FAB_AUTO(fab_traffic_fini) struct fab_traffic t;
		FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r;

		MUST(fab_traffic_make(cases[i].traffic, &problem, &t, ERR));
		MUST(fab_sim_run(&s.problem, &params, &t.messages, &r, ERR));
		cr_expect_eq(fab_traffic_unfinished(&t), 0);
		cr_expect_eq(r.in_flight + r.waiting, 0);
		cr_expect_geq(r.end, cases[i].law, "%s: %lu, not %lu", cases[i].traffic,
			      r.end, cases[i].law);
		cr_expect_leq(r.end, cases[i].most ? cases[i].most : cases[i].law,
			      "%s: %lu, not %lu", cases[i].traffic, r.end, cases[i].law);
	}
}

/* Results of any number of threads, and of a heap, agree. */
static void same(const struct fab_sim_result *a, const struct fab_sim_result *b)
{
	cr_expect_eq(a->end, b->end);
	cr_expect_eq(a->waiting, b->waiting);
	cr_expect_eq(a->events, b->events, "%zu %zu", a->events, b->events);
	cr_expect_eq(memcmp(&a->latency, &b->latency, sizeof(a->latency)), 0);
	cr_expect_eq(a->latency_mean, b->latency_mean);
	cr_expect_eq(a->fullest, b->fullest);
	cr_expect_eq(memcmp(a->cable, b->cable, a->n_cables * sizeof(*a->cable)), 0);
	cr_expect_eq(memcmp(a->lane, b->lane,
			    (size_t)a->n_cables * a->n_vls * sizeof(*a->lane)),
		     0);
	cr_assert_eq(a->deliveries.n, b->deliveries.n);
	cr_expect_eq(memcmp(a->deliveries.v, b->deliveries.v,
			    a->deliveries.n * sizeof(*a->deliveries.v)),
		     0);
}

Test(sim_laws, same_for_any_number_of_threads)
{
	static const int threads[] = {3, 2};
	FAB_AUTO(simulated_fini) struct simulated s;

	simulated_init(&s, "kfat:dims=4x4,hosts=2", "vtftr-ib");
	for (size_t k = 0; k < 6; k++) {
		struct fab_sim_params params = flits("voq", 4, 200);
		FAB_AUTO(fab_sim_result_fini) struct fab_sim_result one, by_heap;

		if (k >= 3) {
			params = fab_sim_defaults();
			params.warmup = 500000;
			params.time = 1000000 / (TEST_SHARE > 1 ? 2 : 1);
			params.n_threads = 1;
		}
		params.kind = &fab_sim_switches[k % 3];
		params.with_deliveries = true;
		params.n_vls = 2;
		simulated_uniform(&s, &params, 0.9, 4, &one);
		cr_expect_gt(one.deliveries.n, 100);
		for (size_t t = 0; t < FAB_COUNT(threads) - (TEST_SHARE > 1); t++) {
			FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r;

			params.n_threads = threads[t];
			simulated_uniform(&s, &params, 0.9, 4, &r);
			same(&one, &r);
		}
		params.n_threads = 1;
		params.by_heap = true;
		simulated_uniform(&s, &params, 0.9, 4, &by_heap);
		same(&one, &by_heap);
	}
}
