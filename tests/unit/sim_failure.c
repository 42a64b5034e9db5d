/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts that die under load: laws, closed forms, and the circles of mixed tables. */
#include "support/simulated.h"
#include "support/test.h"
#include "support/unicast_check.h"
#include "unicast/path.h"

enum { US = 1000000, CABLE = 10000, SWITCH = 100000 };

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

static struct fab_sim_params params_of(int n_threads)
{
	struct fab_sim_params p = fab_sim_defaults();

	p.all_rates = true;
	p.warmup = 2 * US;
	p.time = 45 * US;
	p.n_threads = n_threads;
	p.with_deliveries = true;
	return p;
}

static bool same_deliveries(const struct fab_sim_result *a,
			    const struct fab_sim_result *b)
{
	return a->deliveries.n == b->deliveries.n &&
	       (!a->deliveries.n || !memcmp(a->deliveries.v, b->deliveries.v,
					    a->deliveries.n * sizeof(*a->deliveries.v)));
}

static void check_balance(const struct fab_sim_result *r)
{
	cr_assert_eq(r->born, r->lost + r->injected + r->waiting);
	cr_assert_eq(r->injected, r->delivered + r->in_flight + r->unroutable +
					  r->looped + r->dropped + r->recovery.lost_dead +
					  r->recovery.lost_down);
	cr_assert_leq(r->recovery.lost_live, r->recovery.lost_dead +
						     r->recovery.lost_down +
						     r->unroutable + r->looped);
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
			FAB_AUTO(fab_sim_result_fini) struct fab_sim_result one;
			struct fab_sim_params p = params_of(1);

			dying_init(&d, cases[i].spec, cases[i].engine, cases[i].dies);
			d.failure.dodge = cases[i].dodge;
			d.failure.detection = k * 3 * US;
			d.failure.at = k == 1 ? 0 : 4 * US;
			p.time = 20 * US;
			p.kind = &fab_sim_switches[k == 2 ? 0 : 1]; /* oq, voq */
			simulated_seed(&d.s, &p, 0.6, 3000, k + 1, &one);
			check_balance(&one);
			cr_assert(one.recovery.has_failed);
			cr_assert_gt(one.recovery.lost_dead, 0);
			cr_assert_not(one.is_stalled);
			cr_assert_not(one.is_deadlocked);
			for (int t = 2 + (test_step(1) > 1 || k); t <= 3; t++) {
				FAB_AUTO(fab_sim_result_fini)
				struct fab_sim_result many;

				p.n_threads = t;
				simulated_seed(&d.s, &p, 0.6, 3000, k + 1, &many);
				cr_assert(same_deliveries(&one, &many));
				cr_expect_eq(one.events, many.events, "%zu.%u: %d, %d", i,
					     k, (int)one.events, (int)many.events);
				cr_assert_eq(one.recovery.lost_live,
					     many.recovery.lost_live);
				cr_assert_eq(one.recovery.recovered,
					     many.recovery.recovered);
			}
		}
}

/* Neighbours that never know: old tables for ever, whatever the manager and dodging. */
Test(sim_failure, never_noticed)
{
	FAB_AUTO(dying_fini) struct dying d;
	FAB_AUTO(fab_sim_result_fini) struct fab_sim_result first, r;
	struct fab_sim_params p = params_of(1);

	dying_init(&d, "kfat:dims=4x4,hosts=2", "vtftr", "1.2");
	p.n_vls = 2;
	d.failure.detection = UINT64_MAX;
	for (unsigned k = 0; k < 2; k++) {
		d.failure.trap = k * US;
		d.failure.computation = k ? 0 : 5 * US;
		simulated_uniform(&d.s, &p, 0.3, 2048, k ? &r : &first);
	}
	cr_assert(same_deliveries(&first, &r));
	check_balance(&r);
	cr_assert_eq(r.recovery.lost_down, 0);
	cr_assert_eq(r.recovery.noticed, UINT64_MAX);
	cr_assert_eq(r.recovery.last_table, UINT64_MAX);
	cr_assert_eq(r.recovery.recovered, UINT64_MAX);
}

/* Messages of one flow, one each `each` ticks. */
struct flow {
	uint32_t from, to, n, sent, bytes;
	uint64_t each, first;
};

static bool next(void *context, uint32_t e, uint64_t now, struct fab_message *m)
{
	struct flow *f = context;

	(void)now;
	if (e != f->from || f->sent == f->n)
		return false;
	*m = (struct fab_message){.time = f->first + f->sent++ * f->each,
				  .target = f->to,
				  .bytes = f->bytes};
	return true;
}

static void run_flow(const struct dying *d, const struct fab_sim_params *p,
		     struct flow *f, struct fab_sim_result *r)
{
	const struct fab_messages m = {.context = f, .least_payload = 1, .next = next};

	f->sent = 0;
	MUST(fab_sim_run(&d->s.problem, p, &m, r, ERR));
	check_balance(r);
}

/* The switch on the way of a flow from leaf to leaf. */
static uint32_t middle_of(const struct dying *d, const struct fab_routes *r,
			  uint32_t from, uint32_t to)
{
	const struct fab_fabric *f = d->s.f;
	const struct fab_flow_ends *ends = &d->s.ends;
	FAB_AUTOFREE uint32_t *column =
		fab_path_columns(r, ends->n, ends->sw, ends->port);
	uint32_t sw = ends->sw[from];
	uint32_t row = r->column_row ? r->column_row[column[to]] : column[to];

	return f->arc_peer[f->arc_first[sw] + r->next[(size_t)row * f->n_switches + sw]];
}

/*
 * One flow in an idle network over a root switch that dies: the packets whose heads are
 * on its cables or in it are lost, those that come to the leaf until it has its new
 * table, and no others, each by its cause.
 */
Test(sim_failure, closed_form)
{
	FAB_AUTO(dying_fini) struct dying d;
	struct flow f = {.to = 12, .n = 400, .each = 250000, .bytes = 1024};
	struct fab_sim_params p = params_of(1);
	FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r;
	uint64_t at_leaf = CABLE + SWITCH, on_way = 0, unknown = 0, down = 0, credits;
	uint64_t at, noticed, table;

	simulated_init(&d.s, "fattree:radix=8,levels=2", "minhop");
	d.dead = fab_faults_new(d.s.f);
	fab_faults_kill_switch(d.dead, middle_of(&d, d.s.routes, f.from, f.to));
	route_after(&d, "minhop");
	d.failure.block = 0;
	p.warmup = 0;
	p.time = 0;
	at = d.failure.at;
	noticed = at + d.failure.detection;
	table = noticed + d.failure.trap + d.failure.computation;
	credits = p.buffer / 64 / ((1024 + p.header + 63) / 64);
	for (uint32_t i = 0; i < f.n; i++) {
		uint64_t leaves = i * f.each + at_leaf; /* its head, the leaf switch */

		if (leaves + 2 * (CABLE + SWITCH) <= at || leaves >= table)
			continue;
		if (leaves < at)
			on_way++;
		else if (leaves < noticed)
			unknown++;
		else
			down++;
	}
	/* the head has left the root switch when it is on the cable behind it */
	run_flow(&d, &p, &f, &r);
	cr_assert_lt(unknown, credits);
	cr_assert_eq(r.recovery.lost_dead, on_way + unknown, "%lu of %lu",
		     r.recovery.lost_dead, on_way + unknown);
	cr_assert_eq(r.recovery.lost_down, down);
	cr_assert_eq(r.recovery.lost_live, on_way + unknown + down);
	cr_assert_eq(r.delivered, f.n - on_way - unknown - down);
	cr_assert_eq(r.recovery.last_table, table);
	fab_sim_result_fini(&r);
	/* without credits no more is sent to it than its buffer holds */
	p.buffer = 4096;
	f.each = 90000;
	d.failure.detection = 8 * US;
	run_flow(&d, &p, &f, &r);
	cr_assert_leq(r.recovery.lost_dead, 3 + 3 + 4096 / 64 / 17);
	fab_sim_result_fini(&r);
	/* where all waits until the neighbours know, it is no stall */
	d.failure.detection = 300 * US;
	run_flow(&d, &p, &f, &r);
	cr_assert_not(r.is_stalled);
	cr_assert_gt(r.delivered, f.n / 2);
}

/* Switches with an entry that differs. */
static uint64_t changed(const struct dying *d)
{
	const struct fab_flow_ends *ends = &d->s.ends;
	const struct fab_routes *r[2] = {d->s.routes, d->after};
	uint32_t *column[2], n = d->s.f->n_switches;
	uint64_t sum = 0;

	for (unsigned i = 0; i < 2; i++)
		column[i] = fab_path_columns(r[i], ends->n, ends->sw, ends->port);
	for (uint32_t sw = 0; sw < n; sw++) {
		bool differs = false;

		for (uint32_t e = 0; e < ends->n; e++)
			differs |= fab_routes_next(r[0], column[0][e])[sw] !=
				   fab_routes_next(r[1], column[1][e])[sw];
		sum += differs;
	}
	FAB_FREE_ALL(column[0], column[1]);
	return sum;
}

/* A cable that carries nothing dies: every packet at the same time. */
Test(sim_failure, unused_cable)
{
	FAB_AUTO(dying_fini) struct dying d;
	struct flow f = {.to = 12, .n = 200, .each = 200000, .bytes = 1024};
	struct fab_sim_params p = params_of(1);
	FAB_AUTO(fab_sim_result_fini) struct fab_sim_result before, r;
	uint32_t used, sw;

	simulated_init(&d.s, "fattree:radix=8,levels=2", "d-mod-k");
	d.dead = fab_faults_new(d.s.f);
	used = middle_of(&d, d.s.routes, f.from, f.to);
	for (sw = 0; sw == used || sw == d.s.ends.sw[f.from] || sw == d.s.ends.sw[f.to];
	     sw++)
		;
	fab_faults_kill_cable(d.dead, d.s.f->arc_cable[d.s.f->arc_first[sw]]);
	p.warmup = 0;
	p.time = 0;
	run_flow(&d, &p, &f, &before);
	route_after(&d, "d-mod-k");
	run_flow(&d, &p, &f, &r);
	cr_assert(same_deliveries(&before, &r));
	cr_assert(r.recovery.has_failed);
	cr_assert_eq(r.recovery.lost_live, 0);
	cr_assert_eq(r.recovery.recovered, 0);
	cr_assert_eq(r.recovery.switches, changed(&d));
	cr_assert_gt(r.recovery.switches, 0);
	cr_assert_lt(r.recovery.switches, d.s.f->n_switches);
}

/* A root switch that dies at time 0, with everything at once: the damaged fabric. */
Test(sim_failure, at_once)
{
	static const char *const engines[] = {"minhop", "d-mod-k", "updn"};

	for (size_t i = 0; i < FAB_COUNT(engines); i += (TEST_SHARE > 1 ? 2 : 1)) {
		FAB_AUTO(dying_fini) struct dying d;
		struct fab_sim_params p = params_of(1);
		FAB_AUTO(fab_sim_result_fini) struct fab_sim_result damaged, r;

		p.warmup = 0;
		dying_init(&d, "fattree:radix=8,levels=3", engines[i], "l3-2");
		d.failure.at = d.failure.detection = d.failure.trap =
			d.failure.computation = d.failure.block = 0;
		simulated_uniform(&d.s, &p, 0.5, 2048, &r);
		cr_assert_eq(r.recovery.lost_live, 0);
		fab_routes_free(d.after);
		d.s.faults = d.dead;
		simulated_route(&d.s, engines[i]);
		simulated_uniform(&d.s, &p, 0.5, 2048, &damaged);
		cr_assert(same_deliveries(&damaged, &r), "%s", engines[i]);
		cr_assert_gt(r.deliveries.n, 10000);
		d.after = NULL;
		d.dead = NULL;
	}
}

/*
 * With dodging no pair of sound leaves loses a packet after the neighbours know, for each
 * leaf that dies; without, some do. The lists and the search as fabric-faults counts
 * them.
 */
Test(sim_failure, dodging)
{
	/* other rows and columns each time */
	const uint32_t step = getenv("FAB_TEST_FULL") ? 1 : 3 + TEST_SHARE / 4;

	for (uint32_t leaf = 0; leaf < 16; leaf += step)
		for (unsigned dodge = 0; dodge < 3; dodge++) {
			FAB_AUTO(dying_fini) struct dying d;
			struct fab_sim_params p = params_of(1);
			FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r;
			uint64_t lost = 0;
			char dead[8];

			snprintf(dead, sizeof(dead), "%u.%u", leaf / 4, leaf % 4);
			dying_init(&d, "kfat:dims=4x4,hosts=4,planes=2", "vtftr", dead);
			d.failure.dodge = (enum fab_sim_dodge)dodge;
			d.failure.computation = 20 * US;
			simulated_uniform(&d.s, &p, 0.4, 2048, &r);
			check_balance(&r);
			/* what was on the cable has arrived: until the first table
			 * changes, and after the last one */
			for (uint64_t k = 0; k < r.recovery.moments.n; k++)
				if (k >= 13 &&
				    (k < 33 || k > r.recovery.last_table / US + 2))
					lost += r.recovery.moments.v[k].lost;
			cr_assert_gt(r.recovery.first_table, 33 * US);
			cr_assert_lt(r.recovery.first_table, 34 * US);
			cr_assert_lt(r.recovery.last_table, 45 * US);
			cr_assert_eq(!dodge, lost > 0);
			cr_assert_eq(dodge > 0, r.recovery.dodged > 0);
			cr_assert_not(r.is_deadlocked);
			cr_assert_not(r.is_cut);
		}
}

/* Two dead leaf switches that the tables do not know: four phases are enough by lists and
 * search. */
Test(sim_failure, two_leaves)
{
	for (unsigned dodge = 1; dodge < 3; dodge++) {
		uint64_t lost = 0;

		for (uint32_t other = 6; other < 16; other += 3) {
			FAB_AUTO(dying_fini) struct dying d;
			struct fab_sim_params p = params_of(1);
			FAB_AUTO(fab_sim_result_fini) struct fab_sim_result r;
			char dead[16];

			snprintf(dead, sizeof(dead), "1.1,%u.%u", other / 4, other % 4);
			dying_init(&d, "kfat:dims=4x4,hosts=2,planes=2", "vtftr", dead);
			d.failure.dodge = (enum fab_sim_dodge)dodge;
			d.failure.computation = 20 * US;
			simulated_uniform(&d.s, &p, 0.2, 2048, &r);
			check_balance(&r);
			cr_assert_gt(r.recovery.dodged, 0);
			for (uint64_t k = 13; k < 33; k++)
				lost += r.recovery.moments.v[k].lost;
		}
		cr_assert_eq(lost, 0, "%u: %lu", dodge, lost);
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
