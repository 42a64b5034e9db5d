/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts that die under load: laws, closed forms, and the circles of mixed tables. */
#include "support/simulated.h"
#include "support/test.h"
#include "support/unicast_check.h"
#include "unicast/path.h"

enum { US = 1000000, CABLE = 10000, SWITCH = 100000, TO = 12 };

/* A fabric, what dies in it, and the tables after that. */
struct dying {
	struct simulated s;
	struct fab_faults *dead;
	struct fab_routes *after;
	struct fab_sim_failure failure;
};

static void route_after(struct dying *d, const char *engine)
{
	const struct fab_unicast_problem problem = {
		.f = d->s.f, .faults = d->dead, .kfat = d->s.kfat, .max_vls = 4};

	d->after = test_route(&problem, engine);
	d->failure = (struct fab_sim_failure){.dead = d->dead,
					      .after = d->after,
					      .kfat = d->s.kfat,
					      .at = 10 * US,
					      .detection = 2 * US,
					      .trap = US,
					      .computation = 3 * US,
					      .block = US / 10,
					      .interval = US};
	d->s.problem.failure = &d->failure;
}

/* Switches by name; NULL: nothing dies. */
static void dying_init(struct dying *d, const char *spec, const char *engine,
		       const char *switches)
{
	simulated_init(&d->s, spec, engine);
	d->dead = fab_faults_new(d->s.f);
	if (switches)
		MUST(fab_faults_add_switches(d->dead, switches, ERR));
	route_after(d, engine);
}

static void dying_fini(struct dying *d)
{
	fab_routes_free(d->after);
	fab_faults_free(d->dead);
	simulated_fini(&d->s);
}

static struct fab_sim_params params_of(uint64_t warmup, uint64_t time)
{
	struct fab_sim_params p = fab_sim_defaults();

	p.all_rates = true;
	p.warmup = warmup;
	p.time = time;
	p.n_threads = 1;
	p.with_deliveries = true;
	return p;
}

static double mean_of(const struct fab_sim_moment *m)
{
	return m->packets ? (double)m->latency_sum / (double)m->packets : (double)NAN;
}

/* Moments by the list of deliveries; when all is as before the failure, or as in the last
 * fifth of the time. */
static void check_moments(const struct fab_sim_result *r, uint64_t at)
{
	const struct fab_sim_recovery *v = &r->recovery;
	uint64_t n = r->time / US, end = n - n / 5,
		 last = v->lost_live ? v->last_loss : at;
	OWN_HEAP struct fab_sim_moment *all = FAB_NEW0(n + 2, struct fab_sim_moment);
	struct fab_sim_moment *after = &all[n + 1];
	double level = 0, peak = 0;

	for (size_t i = 0; i < r->deliveries.n; i++) {
		const struct fab_sim_delivery *d = &r->deliveries.v[i];
		uint64_t latency = d->delivered - d->birth;
		uint64_t k = (d->delivered - r->warmup) / US;
		struct fab_sim_moment *m = &all[k < n ? k : n];

		if (d->delivered < r->warmup)
			continue;
		m->packets++;
		m->bytes += d->wire;
		m->latency_sum += latency;
		m->latency_most = latency > m->latency_most ? latency : m->latency_most;
		after->packets += k >= end && k < n;
		after->latency_sum += k >= end && k < n ? latency : 0;
	}
	for (uint64_t k = 0; k < n; k++) {
		all[k].lost = v->moments.v[k].lost;
		cr_assert_eq(memcmp(&all[k], &v->moments.v[k], sizeof(*all)), 0, "%lu",
			     k);
		if (k < at / US)
			level = fmax(level, mean_of(&all[k]));
		else
			peak = fmax(peak, mean_of(&all[k]));
	}
	if (v->last_table <= end * US)
		level = fmax(level, mean_of(after));
	for (uint64_t k = at / US; k < n; k++)
		if (!(mean_of(&all[k]) <= 1.1 * level) && last < (k + 1) * US)
			last = (k + 1) * US;
	cr_expect_eq(v->latency_peak, peak);
	cr_expect_eq(v->recovered,
		     at && v->last_table != UINT64_MAX && last + US <= n * US
			     ? last - at
			     : UINT64_MAX);
}

/* Created = delivered + lost by cause + in flight, and the same for any threads, for
 * drawn faults, delays and sorts of dodging. */
Test(sim_failure, conservation)
{
	static const struct {
		const char *spec, *engine, *dies;
		enum fab_sim_dodge dodge;
	} cases[] = {
		{"kfat:dims=4x4,hosts=4,planes=2", "vtftr", "1.2", FAB_SIM_DODGE_NONE},
		{"kfat:dims=4x4,hosts=4,planes=2", "vtftr", "1.2", FAB_SIM_DODGE_LISTS},
		{"kfat:dims=4x4,hosts=4,planes=2", "vtftr", "1.2,3.0",
		 FAB_SIM_DODGE_SEARCH},
		{"kfat:dims=4x4,hosts=4", "vtftr-ib", "2.2", FAB_SIM_DODGE_NONE},
		{"fattree:radix=8,levels=2", "minhop", "l2-1", FAB_SIM_DODGE_NONE},
		{"fattree:radix=8,levels=3", "d-mod-k", "l3-0,l2-1", FAB_SIM_DODGE_NONE},
		{"torus:dims=4x4,hosts=2", "updn", "sw-1.1", FAB_SIM_DODGE_NONE},
	};

	for (size_t i = 0; i < FAB_COUNT(cases); i++)
		for (unsigned k = TEST_SHARE > 1 ? i % 3 : 0; k < 3;
		     k += (TEST_SHARE > 1 ? 3 : 1)) {
			FAB_AUTO(dying_fini) struct dying d;
			OWN(fab_sim_result) one;
			struct fab_sim_params p = params_of(2 * US, 20 * US);

			dying_init(&d, cases[i].spec, cases[i].engine, cases[i].dies);
			d.failure.dodge = cases[i].dodge;
			d.failure.detection = k * 3 * US;
			d.failure.at = k == 1 ? 0 : 4 * US;
			p.kind = &fab_sim_switches[k == 2 ? OQ : VOQ];
			simulated_uniform(&d.s, &p, 0.6, 3000, k + 1, &one);
			check_moments(&one, d.failure.at);
			cr_assert(one.recovery.has_failed);
			cr_assert_gt(one.recovery.lost_dead, 0);
			cr_assert_not(one.is_stalled || one.is_deadlocked);
			for (int t = 2 + (test_step(1) > 1 || k); t <= 3; t++) {
				OWN(fab_sim_result) many;

				p.n_threads = t;
				simulated_uniform(&d.s, &p, 0.6, 3000, k + 1, &many);
				simulated_same(&one, &many);
			}
		}
}

/* Neighbours that never know: old tables for ever, whatever the manager and dodging. */
Test(sim_failure, never_noticed)
{
	FAB_AUTO(dying_fini) struct dying d;
	OWN(fab_sim_result) first, r;
	struct fab_sim_params p = params_of(2 * US, 45 * US);

	dying_init(&d, "kfat:dims=4x4,hosts=2", "vtftr", "1.2");
	p.n_vls = 2;
	d.failure.detection = UINT64_MAX;
	d.failure.trap = 0;
	d.failure.computation = 5 * US;
	simulated_uniform(&d.s, &p, 0.3, 2048, 1, &first);
	d.failure.trap = US;
	d.failure.computation = 0;
	simulated_uniform(&d.s, &p, 0.3, 2048, 1, &r);
	cr_assert(simulated_alike(&first, &r));
	cr_assert_eq(r.recovery.lost_down, 0);
	cr_assert_eq(r.recovery.noticed, UINT64_MAX);
	cr_assert_eq(r.recovery.last_table, UINT64_MAX);
	cr_assert_eq(r.recovery.recovered, UINT64_MAX);
}

/* One flow from the first leaf to another. */
static struct source flow(uint64_t n, uint64_t each)
{
	return (struct source){
		.size = 1024, .every = each, .most = n, .n_senders = 1, .shift = TO};
}

/*
 * One flow in an idle network over a root switch that dies: the packets whose heads are
 * on its cables or in it are lost, those that come to the leaf until it has its new
 * table, and no others, each by its cause.
 */
Test(sim_failure, closed_form)
{
	enum { N = 400, EACH = 250000 };
	FAB_AUTO(dying_fini) struct dying d;
	struct fab_sim_params p = params_of(0, 0);
	OWN(fab_sim_result) r, few, late;
	uint64_t dead = 0, down = 0, at, noticed, table;
	struct fab_path path;

	simulated_init(&d.s, "fattree:radix=8,levels=2", "minhop");
	path = fab_path_from(
		d.s.routes, d.s.ends.sw[0],
		fab_path_column(d.s.routes,
				&(struct fab_endpoint){.port = d.s.ends.port[TO],
						       .sw = d.s.ends.sw[TO]}));
	cr_assert(fab_path_step(&path));
	d.dead = fab_faults_new(d.s.f);
	fab_faults_kill_switch(d.dead, path.at);
	route_after(&d, "minhop");
	d.failure.block = 0;
	at = d.failure.at;
	noticed = at + d.failure.detection;
	table = noticed + d.failure.trap + d.failure.computation;
	for (uint64_t i = 0; i < N; i++) {
		uint64_t leaves = i * EACH + CABLE + SWITCH; /* its head, the leaf */

		/* the head has left the root switch when it is on the cable behind it */
		dead += leaves + 2 * (CABLE + SWITCH) > at && leaves < noticed;
		down += leaves >= noticed && leaves < table;
	}
	MUST(simulated_send(&d.s, &p, flow(N, EACH), &r));
	cr_assert_lt((noticed - at) / EACH, p.buffer / 64 / 17, "there is credit");
	cr_assert_eq(r.recovery.lost_dead, dead, "%lu of %lu", r.recovery.lost_dead,
		     dead);
	cr_assert_eq(r.recovery.lost_down, down);
	cr_assert_eq(r.recovery.lost_live, dead + down);
	cr_assert_eq(r.delivered, N - dead - down);
	cr_assert_eq(r.recovery.last_table, table);
	/* without credits no more is sent to it than its buffer holds */
	p.buffer = 4096;
	d.failure.detection = 8 * US;
	MUST(simulated_send(&d.s, &p, flow(N, 90000), &few));
	cr_assert_leq(few.recovery.lost_dead, 3 + 3 + 4096 / 64 / 17);
	/* where all waits until the neighbours know, it is no stall */
	d.failure.detection = 300 * US;
	MUST(simulated_send(&d.s, &p, flow(N, 90000), &late));
	cr_assert_not(late.is_stalled);
	cr_assert_gt(late.delivered, N / 2);
}

/* Live switches with an entry that differs. */
static uint64_t changed(const struct dying *d)
{
	const struct fab_flow_ends *ends = &d->s.ends;
	OWN_HEAP uint32_t *before =
		fab_path_columns(d->s.routes, ends->n, ends->sw, ends->port);
	OWN_HEAP uint32_t *after =
		fab_path_columns(d->after, ends->n, ends->sw, ends->port);
	uint64_t sum = 0;

	for (uint32_t sw = 0; sw < d->s.f->n_switches; sw++) {
		bool differs = false;

		for (uint32_t e = 0; e < ends->n; e++)
			differs |= fab_routes_next(d->s.routes, before[e])[sw] !=
				   fab_routes_next(d->after, after[e])[sw];
		sum += differs && !d->dead->switch_is_dead[sw];
	}
	return sum;
}

/* A root switch that dies at time 0, with everything at once: the damaged fabric, and new
 * tables where they differ. */
Test(sim_failure, at_once)
{
	static const char *const engines[] = {"minhop", "d-mod-k", "updn"};

	for (size_t i = 0; i < FAB_COUNT(engines); i += (TEST_SHARE > 1 ? 2 : 1)) {
		FAB_AUTO(dying_fini) struct dying d;
		OWN(simulated) s;
		struct fab_sim_params p = params_of(0, 45 * US);
		OWN(fab_sim_result) damaged, r;

		dying_init(&d, "fattree:radix=8,levels=3", engines[i], "l3-2");
		d.failure.at = d.failure.detection = d.failure.trap =
			d.failure.computation = d.failure.block = 0;
		simulated_uniform(&d.s, &p, 0.5, 2048, 1, &r);
		cr_assert_eq(r.recovery.lost_live, 0);
		cr_assert_eq(r.recovery.switches, changed(&d));
		simulated_init(&s, "fattree:radix=8,levels=3", engines[i]);
		simulated_fail(&s, "l3-2", engines[i]);
		simulated_uniform(&s, &p, 0.5, 2048, 1, &damaged);
		cr_assert(simulated_alike(&damaged, &r), "%s", engines[i]);
		cr_assert_gt(r.deliveries.n, 10000);
	}
}

/*
 * With dodging no pair of sound leaves loses a packet after the neighbours know, for each
 * leaf that dies; without, some do. The lists and the search as fabric-faults counts
 * them. Four phases are enough by both for two dead leaf switches that the tables do not
 * know.
 */
Test(sim_failure, dodging)
{
	/* other rows and columns each time */
	const uint32_t step = getenv("FAB_TEST_FULL") ? 1 : 3 + TEST_SHARE / 4;

	for (uint32_t i = 0; i < 32; i += step)
		for (unsigned dodge = i / 16; dodge < 3; dodge++) {
			FAB_AUTO(dying_fini) struct dying d;
			struct fab_sim_params p = params_of(2 * US, 45 * US);
			OWN(fab_sim_result) r;
			uint32_t leaf = i < 16 ? i : (i - 12) % 16;
			OWN_HEAP char *dead = fab_format("%u.%u%s", leaf / 4, leaf % 4,
							 i < 16 ? "" : ",1.1");
			uint64_t lost = 0;

			dying_init(&d, "kfat:dims=4x4,hosts=4,planes=2", "vtftr", dead);
			d.failure.dodge = (enum fab_sim_dodge)dodge;
			d.failure.computation = 20 * US;
			simulated_uniform(&d.s, &p, 0.4, 2048, 1, &r);
			check_moments(&r, d.failure.at);
			/* what was on the cable has arrived: until the first table
			 * changes, and after the last one */
			for (uint64_t k = 0; k < r.recovery.moments.n; k++)
				if (k >= 13 &&
				    (k < 33 || k > r.recovery.last_table / US + 2))
					lost += r.recovery.moments.v[k].lost;
			cr_assert_gt(r.recovery.first_table, 33 * US);
			cr_assert_lt(r.recovery.first_table, 34 * US);
			cr_assert_lt(r.recovery.last_table, 45 * US);
			cr_assert_eq(!dodge, lost > 0, "%s, %u: %lu", dead, dodge, lost);
			cr_assert_eq(dodge > 0, r.recovery.dodged > 0);
			cr_assert_not(r.is_deadlocked || r.is_cut);
		}
}

/* Old and new tables mixed: equal tables have a cycle where fab_analyse() finds one. */
Test(sim_failure, mixed)
{
	static const struct {
		const char *spec, *engine, *dies;
		bool has;
	} cases[] = {
		{"fattree:radix=8,levels=3", "minhop", "l3-0", false},
		{"fattree:radix=8,levels=2", "d-mod-k", "l2-0", false},
		{"torus:dims=6,hosts=1", "minhop", NULL, true},
		{"torus:dims=6x6,hosts=1", "dor", NULL, false},
		{"kfat:dims=4x4,hosts=2", "vtftr", NULL, false},
		{"kfat:dims=4x4,hosts=2", "vtftr", "1.2", true},
	};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		FAB_AUTO(dying_fini) struct dying d;

		dying_init(&d, cases[i].spec, cases[i].engine, cases[i].dies);
		cr_assert_eq(fab_sim_mixed_has_cycle(&d.s.problem), cases[i].has,
			     "case %zu", i);
	}
}
