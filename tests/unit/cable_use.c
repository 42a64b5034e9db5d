/* SPDX-License-Identifier: BSD-2-Clause */
/* What uses a cable, compared with following every pair on its own. */
#include "export/tables.h"
#include "support/test.h"
#include "support/unicast_check.h"
#include "unicast/lfts.h"

/* uses[port]: pairs whose packets leave that port. Returns the pairs that arrive. */
static uint64_t follow_all(const struct fab_routes *r, const uint32_t *ports, uint32_t n,
			   uint64_t *uses)
{
	uint64_t n_arrive = 0;

	for (uint64_t i = 0; i < (uint64_t)n * n; i++) {
		struct fab_endpoint ends[2];
		struct fab_trace trace;

		if (i / n == i % n)
			continue;
		MUST(fab_trace_end_of(r->f, ports[i / n], &ends[0], ERR));
		MUST(fab_trace_end_of(r->f, ports[i % n], &ends[1], ERR));
		fab_trace_init(&trace, r, &ends[0], &ends[1]);
		n_arrive += !trace.stopped;
		for (size_t h = 0; !trace.stopped && h < trace.hops.n; h++)
			uses[trace.hops.v[h].out]++;
		fab_trace_fini(&trace);
	}
	return n_arrive;
}

static void check_one(const struct fab_fabric *f, const struct fab_cable_use *use,
		      const uint64_t *uses)
{
	uint32_t senders = 0, receivers = 0;

	cr_assert_eq(use->pairs, uses[use->from], "port %u of %s: %lu, followed %lu",
		     f->port_num[use->from], fab_node_name(f, f->port_node[use->from]),
		     (unsigned long)use->pairs, (unsigned long)uses[use->from]);
	for (uint32_t h = 0; h < f->n_hosts; h++) {
		senders += use->sends[h];
		receivers += use->receives[h];
	}
	cr_assert_eq(senders, use->n_senders);
	cr_assert_eq(receivers, use->n_receivers);
	cr_assert_eq(!use->pairs, !senders);
	cr_assert_eq(!use->pairs, !receivers);
}

/* All cables, both directions; returns the pairs that arrive. */
static uint64_t check_all(const struct fab_routes *r)
{
	const struct fab_fabric *f = r->f;
	OWN_HEAP uint64_t *uses = FAB_NEW0(f->n_ports, uint64_t);
	OWN(fab_flow_ends) ends;
	uint64_t n_arrive;

	fab_flow_ends_init(&ends, f, NULL, NULL);
	n_arrive = follow_all(r, ends.port, ends.n, uses);
	for (uint32_t c = 0; c < f->n_switch_links + f->n_host_links; c++) {
		struct fab_cable_use use[2];

		fab_cable_use_init(use, r, c);
		cr_assert(use[0].from == f->cable_a[c] && use[1].from == f->cable_b[c]);
		check_one(f, &use[0], uses);
		check_one(f, &use[1], uses);
		fab_cable_use_fini(use);
	}
	return n_arrive;
}

/* Of whole tables, as they are and read back; of tables of which every seventh entry is
 * gone, or leads out by port 1. */
Test(cable_use, is_the_sum_over_all_pairs)
{
	static const char *const specs[] = {
		"fattree:radix=4,levels=3", "torus:dims=3x4,hosts=2",
		"dragonfly:a=4,p=2,h=1", "random:switches=12,degree=3,hosts=2,seed=5"};

	for (size_t i = 0; i < 2 * FAB_COUNT(specs); i++) {
		OWN(fab_fabric) *f = test_gen(specs[i / 2]);
		OWN(fab_routes) *r = test_tables(f, NULL, i % 2 ? "updn" : "minhop", 2);
		OWN_HEAP char *text = TEXT_BY(out, MUST(fab_export_lfts(out, r, ERR)));
		OWN(fab_routes) *back = NULL;
		uint64_t n = f->n_host_links, all = n * (n - 1);

		cr_assert_eq(check_all(r), all, "%s", specs[i / 2]);
		MUST(fab_routes_from_lfts(f, NULL, "t", text, strlen(text), &back, ERR));
		cr_assert_eq(check_all(back), all, "%s", specs[i / 2]);
		for (size_t k = 0; k < (size_t)r->n_rows * f->n_switches; k += 7)
			r->next[k] = i % 2 ? 0 : FAB_ARC_NONE;
		n = check_all(r);
		cr_assert(n > 0 && n < all, "%s", specs[i / 2]);
	}
}
