/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The simulator on a fabric, tables, trees and traffic that an input draws: it comes to
 * an end, no packet is lost without a word, and with tables that the analysis calls free
 * of deadlock, all pairs joined (and no multicast), nothing stands still for good.
 */
#include "sim/sim.h"
#include "event/stream.h"
#include "routed.h"
#include "sim/sweep.h"

enum { TIME = 600 };

struct source {
	uint64_t seed;
	uint32_t n_ends, n_groups, most, gap, window;
	struct end {
		uint64_t n, at, under_way;
	} end[640];
};

static bool next(void *context, uint32_t e, uint64_t now, struct fab_message *m)
{
	struct source *s = context;
	struct end *end = &s->end[e];
	struct fab_stream stream = fab_stream_of(s->seed, (uint64_t)e << 32 | end->n);

	if (s->window && end->under_way == s->window)
		return false;
	if (s->window && end->at < now)
		end->at = now;
	m->time = end->at += fab_stream_below(&stream, s->gap);
	end->n++;
	end->under_way++;
	m->to_group = s->n_groups && fab_stream_below(&stream, 4) == 0;
	m->target = (uint32_t)fab_stream_below(&stream,
					       m->to_group ? s->n_groups : s->n_ends);
	m->bytes = 1 + (uint32_t)fab_stream_below(&stream, s->most);
	return true;
}

static void completed(void *context, uint32_t e, const struct fab_delivery *d)
{
	struct source *s = context;

	MUST(d->time >= d->birth && s->end[e].under_way-- > 0);
}

static struct fab_sim_params params_of(struct fuzz_draw *d)
{
	struct fuzz_draw own = *d; /* of later choices: older inputs keep theirs */
	bool by_flit = fuzz_below(d, 3) != 0;
	struct fab_sim_params p =
		by_flit ? fab_sim_defaults_by_flit() : fab_sim_defaults();

	p.kind = &fab_sim_switches[fuzz_below(d, 3)];
	p.mtu = fuzz_below(d, 300);
	p.header = fuzz_below(d, 4);
	p.group_header = fuzz_below(d, 40);
	p.buffer = fuzz_below(d, 5) * (by_flit ? 1 : 128);
	p.buffer_per_vl = fuzz_below(d, 2);
	p.n_vls = fuzz_below(d, 4);
	p.spread_vls = !fuzz_below(d, 4);
	p.cable_delay = fuzz_below(d, 4);
	p.switch_delay = fuzz_below(d, 4);
	p.host_delay = fuzz_below(d, 3);
	p.speedup = fuzz_below(d, 3);
	p.warmup = fuzz_below(d, 4) ? fuzz_below(d, 100) : UINT64_MAX;
	p.time = by_flit ? TIME : 1000ull * TIME;
	p.drain = fuzz_below(d, 2) ? p.time : 0;
	p.n_threads = 1 + (int)fuzz_below(d, 2);
	p.by_heap = !fuzz_below(d, 4);
	p.n_traced = fuzz_below(d, 20);
	p.with_deliveries = !fuzz_below(d, 4);
	if (!by_flit && fuzz_below(d, 2)) {
		p.drop = (enum fab_sim_drop)(1 + fuzz_below(d, 2));
		p.buffer = p.mtu + p.header + fuzz_below(d, 1000);
		p.buffer_shared = fuzz_below(d, 2);
		p.ecn = fuzz_below(d, 400);
		p.chooser = fuzz_below(d, 5);
		p.n_traced = 0;
		p.spread_vls = false;
	}
	own.at += FUZZ_CHOICES / 2;
	/* lanes share; private parts may be too small or large */
	if (!fuzz_below(&own, 4)) {
		p.buffer_shared = true;
		p.buffer_per_vl = false;
		p.buffer_private = fuzz_below(&own, 4) * (by_flit ? 1 : p.mtu + 64);
		p.buffer += 2 * p.buffer_private;
	}
	/* adaptive with credits, and with detours */
	if (!p.drop && !fuzz_below(d, 3)) {
		fab_sim_set_routing(
			&p, (enum fab_sim_routing)(FAB_SIM_BY_QUEUE + fuzz_below(d, 4)),
			fuzz_below(d, 4));
		p.n_traced = 0;
		p.spread_vls = false;
	}
	return p;
}

/* Lanes can wait for each other, whatever the tables. */
static bool shares_all(const struct fab_sim_params *p)
{
	return p->buffer_shared && !p->buffer_private;
}

static struct fab_groups *groups_of(const struct fab_fabric *f, struct fuzz_draw *d)
{
	struct fab_groups_builder *b = fab_groups_builder_new(f);
	struct fab_groups *groups = NULL;

	for (uint32_t n = 1 + fuzz_below(d, 3); n; n--) {
		fab_groups_builder_begin(b, "g", 1);
		for (uint32_t i = 0; i < 5; i++) {
			uint32_t node = fuzz_below(d, f->n_nodes);
			uint32_t port = fab_node_first_connected_port(f, node);

			if (!fab_node_is_switch(f, node) && port != FAB_NONE &&
			    fab_port_switch(f, port) != FAB_NONE)
				fab_groups_builder_add(b, port);
		}
	}
	return fab_groups_builder_finish(b, true, &groups, NULL) ? NULL : groups;
}

static void check(const struct fab_sim_result *r, bool must_move)
{
	MUST(r->born == r->lost + r->injected + r->waiting);
	MUST(r->injected + r->copied ==
	     r->delivered + r->in_flight + r->unroutable + r->looped + r->dropped +
		     r->recovery.lost_dead + r->recovery.lost_down);
	MUST(!r->is_deadlocked || (!must_move && r->cycle.n && r->stuck_packets));
	for (uint32_t c = 0; c < r->n_cables; c++)
		MUST(r->cable[c].utilisation >= 0 && r->cable[c].utilisation <= 1);
}

/* Two or three jobs of neighbours: the same times by one thread and two; all of them end
 * where nothing is lost. */
static void with_jobs(const struct fab_sim_problem *problem, bool is_sound,
		      struct fuzz_draw *d)
{
	static const char *const specs[] = {"alltoall", "alltoall:random",
					    "allreduce:ring", "allreduce"};
	struct fab_job job[3] = {{0}};
	struct fab_job_times times[2][3];
	uint32_t end[640], size = 1 + fuzz_below(d, 400), n = problem->ends->n;
	struct fab_traffic_problem traffic = {
		.f = problem->f,
		.ends = problem->ends,
		.how = {.size = &size, .n_sizes = 1, .seed = fuzz_below(d, 65536)}};
	struct fab_jobs_problem jobs = {.job = job,
					.n_jobs = 2 + fuzz_below(d, 2),
					.load = fuzz_below(d, 3) ? 0 : 0.2,
					.traffic = &traffic};
	struct fab_sim_params params = params_of(d);

	if (n > FAB_COUNT(end) || n < 8)
		return;
	n = n < 24 ? n : 24;
	for (uint32_t e = 0; e < n; e++)
		end[e] = e;
	for (uint32_t i = 0; i < jobs.n_jobs; i++)
		job[i] = (struct fab_job){.traffic = specs[fuzz_below(d, 4)],
					  .size = fuzz_below(d, 2) ? 0 : 100,
					  .end = end + n / 4 * i,
					  .n = n / 4};
	params.time = params.warmup = 0;
	traffic.how.mtu = params.mtu ? params.mtu : 1;
	for (int t = 0; t < 2; t++) {
		params.n_threads = 1 + t;
		if (is_refused(fab_sim_jobs(problem, &params, &jobs, times[t], ERR)))
			return;
		for (uint32_t i = 0; i < jobs.n_jobs; i++)
			MUST((!is_sound || params.drop || shares_all(&params) ||
			      !times[t][i].unfinished) &&
			     times[0][i].alone == times[t][i].alone &&
			     times[0][i].together == times[t][i].together &&
			     times[0][i].unfinished == times[t][i].unfinished);
	}
}

static void simulate(const struct fab_sim_problem *problem, struct fuzz_draw *d)
{
	FAB_AUTOFREE struct source *source = FAB_NEW0(1, struct source);
	struct fab_messages messages = {.context = source, .next = next};
	struct fab_sim_params params = params_of(d);
	FAB_AUTO(fab_analysis_fini) struct fab_analysis analysis = {0};
	struct fab_sim_result r;
	bool is_sound;

	source->seed = fuzz_below(d, 65536);
	source->n_ends = problem->ends->n;
	source->n_groups = problem->groups ? problem->groups->n : 0;
	source->most = 1 + fuzz_below(d, 600);
	source->gap = 1 + fuzz_below(d, 2000);
	source->window = fuzz_below(d, 3);
	if (source->window)
		messages.completed = completed;
	else
		source->gap += 20; /* lest births have no end */
	/* what leads in a circle is no path, and in no graph of channels */
	is_sound = !problem->groups && !fuzz_analyse_hosts(problem->routes, &analysis) &&
		   analysis.deadlock_free && !analysis.unreachable;
	if (!is_refused(fab_sim_run(problem, &params, &messages, &r, ERR))) {
		check(&r, is_sound && !shares_all(&params));
		fab_sim_result_fini(&r);
	}
	if (!problem->groups && !fuzz_below(d, 3))
		with_jobs(problem, is_sound, d);
}

static void with_trees(const struct fab_sim_problem *problem, struct fuzz_draw *d)
{
	const struct fab_mcast_engine *engine = fab_mcast_engine_find("minihop", 7);
	const struct fab_mcast_options options = {.n_threads = 1};
	FAB_AUTO(fab_groups_free_at) struct fab_groups *groups = groups_of(problem->f, d);
	FAB_AUTO(fab_dist_free_at) struct fab_dist *dist = NULL;
	struct fab_sim_problem multicast = *problem;
	struct fab_mcast_result result;
	double seconds;

	if (!groups || is_refused(fab_dist_new(problem->f, 1, &dist, ERR)) ||
	    is_refused(
		    fab_mcast_route(&(struct fab_mcast_problem){problem->f, dist, groups},
				    &engine, 1, &options, &result, &seconds, ERR)))
		return;
	multicast.groups = groups;
	multicast.forest = &result.forest;
	simulate(&multicast, d);
	fab_mcast_result_fini(&result);
}

/* Parts that die under load: the same by one thread and two; packets of live hosts are
 * lost by one of the causes. */
static void fail(const struct fab_sim_problem *problem, struct fuzz_draw *d)
{
	FAB_AUTOFREE struct source *source = FAB_NEW0(1, struct source);
	struct fab_messages messages = {.context = source, .next = next};
	struct fab_sim_params params = params_of(d);
	uint64_t seed = fuzz_below(d, 65536);
	struct fab_sim_result r[2];
	int n = 0;

	params.kind = &fab_sim_switches[seed % 2];
	params.n_vls = seed % 4 < 3 ? 0 : params.n_vls;
	if (params.drop)
		params.buffer_shared = false;
	params.drop = FAB_SIM_LOSSLESS;
	params.detour = FAB_SIM_MINIMAL;
	params.ecn = params.chooser = 0;
	params.spread_vls = false;
	for (int t = 0; t < 2; t++) {
		*source =
			(struct source){seed, problem->ends->n, .most = 600, .gap = 500};
		params.n_threads = 1 + t;
		n += !is_refused(fab_sim_run(problem, &params, &messages, &r[n], ERR));
	}
	MUST(n != 1);
	for (int t = 0; t < n; t++) {
		check(&r[t], false);
		MUST(r[t].recovery.lost_live <= r[t].recovery.lost_dead +
							r[t].recovery.lost_down +
							r[t].unroutable + r[t].looped);
		MUST(r[0].events == r[t].events && r[0].delivered == r[t].delivered &&
		     r[0].recovery.lost_live == r[t].recovery.lost_live &&
		     r[0].recovery.recovered == r[t].recovery.recovered &&
		     r[0].latency_mean == r[t].latency_mean);
	}
	for (int t = 0; t < n; t++)
		fab_sim_result_fini(&r[t]);
}

/* A switch or two die, or cables, besides what is dead; their neighbours dodge. */
static void with_failure(const struct fab_sim_problem *problem, struct fuzz_draw *d)
{
	const struct fab_fabric *f = problem->f;
	FAB_AUTO(fab_faults_free_at) struct fab_faults *dead = fab_faults_new(f);
	FAB_AUTO(fab_kfat_free_at) struct fab_kfat *kfat = NULL;
	FAB_AUTO(fab_routes_free_at) struct fab_routes *before = NULL, *after = NULL;
	struct fab_unicast_problem unicast = {.f = f, .max_vls = 2, .n_threads = 1};
	struct fab_sim_failure failure = {.dead = dead};
	struct fab_sim_problem dying = *problem;
	bool cables = fuzz_below(d, 3) == 0;
	const struct fab_unicast_engine *engine = &fab_unicast_updn;

	if (!fab_kfat_recognize(f, &kfat, NULL))
		engine = fuzz_below(d, 2) ? &fab_unicast_vtftr : &fab_unicast_xy;
	for (uint32_t c = 0; c < f->n_cables; c++)
		if (problem->faults->cable_is_dead[c])
			fab_faults_kill_cable(dead, c);
	for (uint32_t i = 1 + fuzz_below(d, 2); i; i--)
		if (cables)
			fab_faults_kill_cable(dead, fuzz_below(d, f->n_cables));
		else
			fab_faults_kill_switch(dead, fuzz_below(d, f->n_switches));
	failure.kfat = kfat;
	failure.dodge = (enum fab_sim_dodge)(kfat ? fuzz_below(d, 3) : 0);
	failure.at = fuzz_below(d, 300);
	failure.detection = fuzz_below(d, 8) ? fuzz_below(d, 100) : UINT64_MAX;
	failure.trap = fuzz_below(d, 50);
	failure.computation = fuzz_below(d, 50);
	failure.block = fuzz_below(d, 10);
	failure.interval = 1 + fuzz_below(d, 100);
	unicast.kfat = kfat;
	unicast.faults = problem->faults;
	before = fuzz_tables(&unicast, engine);
	unicast.faults = dead;
	failure.after = after = before ? fuzz_tables(&unicast, engine) : NULL;
	if (!after)
		return;
	dying.routes = before;
	dying.failure = &failure;
	fail(&dying, d);
	(void)fab_sim_mixed_has_cycle(&dying);
}

static void try_on(const struct fab_fabric *f, struct fuzz_draw *d)
{
	struct fuzz_routed routed;
	struct fab_sim_problem problem = {.f = f, .ends = &routed.ends};
	struct fab_routes *r;
	size_t n;

	if (!fuzz_route(f, fuzz_below(d, 2) ? "minhop" : "updn", 2, d, &routed))
		return;
	problem.faults = routed.faults;
	problem.routes = r = routed.routes;
	/* entries that lead anywhere */
	n = (size_t)(r->column_row ? r->n_rows : r->n_columns) * f->n_switches;
	for (uint32_t i = fuzz_below(d, 4); n && i; i--) {
		uint16_t *entry = &r->next[(size_t)fuzz_below(d, 65536) * 7919 % n];

		*entry = (uint16_t)(fuzz_below(d, 2) ? fuzz_below(d, 8)
						     : 65535 - fuzz_below(d, 3));
	}
	simulate(&problem, d);
	with_trees(&problem, d);
	with_failure(&problem, d);
	fuzz_routed_fini(&routed);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	return fuzz_on_small(bytes, n, try_on);
}
