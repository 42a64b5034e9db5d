/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Transfers under every scheme on a fabric, tables and bad luck that an input draws: each
 * is there once, byte for byte, where damage is checked; none hangs where there is a path
 * and nothing stalls; the same by wheel and by heap.
 */
#include "rdma/rdma.h"
#include "routed.h"

enum { TRANSFERS = 24, PACKETS = 12, US = 1000000 };

static void draw_luck(struct fab_rdma_impairments *bad, struct fab_rdma_outage *outage,
		      const struct fab_fabric *f, struct fuzz_draw *d)
{
	bad->loss = 0.002 * fuzz_below(d, 101);
	bad->per_hop = !fuzz_below(d, 4);
	bad->burst = fuzz_below(d, 3) ? 0 : 1 + fuzz_below(d, 5);
	bad->drop_control = 0.001 * fuzz_below(d, 51);
	bad->delayed = 0.1 * fuzz_below(d, 11);
	bad->delay = (enum fab_rdma_delay)fuzz_below(d, 3);
	bad->delay_ps = (uint64_t)fuzz_below(d, 100) * US / 10;
	if (!fuzz_below(d, 3)) {
		outage->cable = fuzz_below(d, 4) ? fuzz_below(d, f->n_cables) : FAB_NONE;
		outage->from_ps = (uint64_t)fuzz_below(d, 50) * US;
		outage->until_ps = outage->from_ps + (uint64_t)fuzz_below(d, 100) * US;
		bad->outage = outage;
		bad->n_outages = 1;
	}
	bad->corrupt = fuzz_below(d, 3) ? 0 : 0.001 * fuzz_below(d, 101);
}

static struct fab_rdma_params params_of(struct fuzz_draw *d)
{
	struct fab_rdma_params p = fab_rdma_defaults();

	p.mtu = 256;
	p.routing = (enum fab_sim_routing)fuzz_below(d, 4);
	p.buffer = fuzz_below(d, 2) ? 0 : 320 * (1 + fuzz_below(d, 6));
	p.switch_ps = (uint64_t)fuzz_below(d, 3) * 100000;
	p.no_handshake = !fuzz_below(d, 4);
	p.contexts = 1 + fuzz_below(d, 6);
	p.concurrency = fuzz_below(d, 4);
	p.retry = (enum fab_rdma_retry)fuzz_below(d, 3);
	p.retry_ps = 3 * US;
	p.msgid_bits = 8 + fuzz_below(d, 13);
	p.window = 1 + fuzz_below(d, 20);
	p.sender_window = fuzz_below(d, 8);
	p.rto_ps = (uint64_t)(5 + fuzz_below(d, 30)) * US;
	p.singles = fuzz_below(d, 4);
	p.multi = (enum fab_rdma_multi)(p.singles & 1);
	p.plus = fuzz_below(d, FAB_RDMA_PLUS + 1);
	p.gap = fuzz_below(d, 10);
	p.credit = fuzz_below(d, 4);
	p.timers = 1 + fuzz_below(d, FAB_RDMA_TIMERS_MAX);
	p.new_first = fuzz_below(d, 2);
	p.cap = fuzz_below(d, 4);
	p.rto_low_ps = p.rto_high_ps = p.rto_ps;
	p.reorder_ps = (uint64_t)fuzz_below(d, 3) * US;
	p.seed = fuzz_below(d, 65536);
	p.with_memory = true;
	p.end_ps = 200000ull * US;
	if (p.buffer && fuzz_below(d, 2)) {
		p.drop = (enum fab_sim_drop)(1 + fuzz_below(d, 2));
		p.buffer_shared = fuzz_below(d, 2);
		p.ecn = fuzz_below(d, 1000);
		p.rate_control = (enum fab_rdma_rate_control)fuzz_below(d, p.ecn ? 5 : 2);
	}
	if (p.buffer && !p.drop && !fuzz_below(d, 3))
		p.routing = (enum fab_sim_routing)(FAB_SIM_BY_VALIANT + fuzz_below(d, 2));
	return p;
}

/* May it take longer than anybody waits? rc with many packets, each often lost (full
 * buffers lose more), or later than the timeout: every pass is given up. */
static bool is_endless(const struct fab_rdma_scheme *s, const struct fab_rdma_params *p)
{
	return s->name[0] == 'r' && s->name[1] == 'c' &&
	       (p->bad.loss + p->bad.corrupt > (p->drop ? 0.01 : 0.05) ||
		p->bad.per_hop ||
		(p->bad.delayed > 0 && 8 * p->bad.delay_ps > p->rto_ps));
}

static void try_scheme(const struct fab_rdma_net *net, struct fab_rdma_params *params,
		       const struct fab_rdma_scheme *s, bool must_end)
{
	FAB_AUTO(fab_rdma_result_fini) struct fab_rdma_result a = {0}, b = {0};

	fuzz_who = s->name;
	params->by_heap = false;
	if (is_refused(fab_rdma_run(net, params, s, &a, ERR)))
		return;
	MUST(!a.n_wrong || (params->bad.corrupt > 0 && !params->bad.check_bits));
	MUST(!must_end || !a.n_hung || is_endless(s, params));
	MUST(a.n_done + a.n_hung + a.n_no_path == a.n_transfers);
	params->by_heap = true;
	OK(fab_rdma_run(net, params, s, &b, ERR));
	MUST(a.events == b.events && a.end_ps == b.end_ps &&
	     !memcmp(&a.n, &b.n, sizeof(a.n)));
}

static void try_all(const struct fab_routes *routes, const struct fab_flow_ends *ends,
		    struct fuzz_draw *d)
{
	struct fab_rdma_transfer t[TRANSFERS];
	struct fab_rdma_problem problem = {.f = routes->f,
					   .faults = routes->faults,
					   .ends = ends,
					   .routes = routes,
					   .transfer = t};
	struct fab_rdma_params params = params_of(d);
	struct fab_rdma_outage outage = {0};
	FAB_AUTO(fab_analysis_fini) struct fab_analysis analysis = {0};
	bool is_left_out[TRANSFERS], is_sound, is_bad;
	struct fab_rdma_net *net;

	draw_luck(&params.bad, &outage, routes->f, d);
	params.bad.check_bits = params.seed % 8 ? 64 : 0;
	problem.n_transfers = 1 + fuzz_below(d, TRANSFERS);
	is_bad = !fuzz_below(d, 16);
	for (uint32_t i = 0; i < problem.n_transfers; i++) {
		t[i] = (struct fab_rdma_transfer){
			.source = fuzz_below(d, ends->n),
			.bytes = !is_bad + fuzz_below(d, 256 * PACKETS),
			.is_read = fuzz_below(d, 2),
			.start_ps = (uint64_t)fuzz_below(d, 100) * US / 10};
		t[i].target = (t[i].source + !is_bad + fuzz_below(d, ends->n - !is_bad)) %
			      ends->n;
	}
	is_sound = !fuzz_analyse_hosts(routes, &analysis) && analysis.deadlock_free;
	/* one of several jobs */
	for (uint32_t i = 0; i < problem.n_transfers; i++)
		is_left_out[i] = i % 3;
	params.is_left_out = fuzz_below(d, 4) ? NULL : is_left_out;
	if (is_refused(fab_rdma_net_new(&problem, &params, &net, ERR)))
		return;
	for (size_t i = 0; i < fab_rdma_n_schemes; i++)
		try_scheme(net, &params, fab_rdma_schemes[i], !params.buffer || is_sound);
	fab_rdma_net_free(net);
}

static void try_on(const struct fab_fabric *f, struct fuzz_draw *d)
{
	static const char *const engines[] = {"minhop", "updn", "dor"};
	struct fuzz_routed routed;

	if (!fuzz_route(f, engines[fuzz_below(d, 3)], 4, d, &routed))
		return;
	if (routed.ends.n > 1)
		try_all(routed.routes, &routed.ends, d);
	fuzz_routed_fini(&routed);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	return fuzz_on_small(bytes, n, try_on);
}
