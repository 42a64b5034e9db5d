/* SPDX-License-Identifier: BSD-2-Clause */
/* What uses a cable, compared with following every pair on its own. */
#include "export/tables.h"
#include "support/test.h"
#include "support/unicast_check.h"
#include "unicast/lfts.h"
#include "unicast/path.h"

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
	FAB_AUTOFREE uint32_t *ports = FAB_NEW(f->n_host_links, uint32_t);
	uint64_t n_arrive;
	FAB_AUTOFREE uint64_t *uses = FAB_NEW0(f->n_ports, uint64_t);
	uint32_t n;
	uint32_t i = 0;

	/* Ports of adapters that hang on a switch. */
	for (uint32_t c = f->n_switch_links; c < f->n_switch_links + f->n_host_links; c++)
		if (f->node_kind[f->port_node[f->cable_b[c]]] == FAB_ADAPTER)
			ports[i++] = f->cable_b[c];
	n = i;
	n_arrive = follow_all(r, ports, n, uses);
	for (uint32_t c = 0; c < f->n_switch_links + f->n_host_links; c++) {
		struct fab_cable_use use[2];

		fab_cable_use_init(use, r, c);
		cr_assert_eq(use[0].from, f->cable_a[c]);
		cr_assert_eq(use[1].from, f->cable_b[c]);
		check_one(f, &use[0], uses);
		check_one(f, &use[1], uses);
		fab_cable_use_fini(use);
	}
	return n_arrive;
}

Test(cable_use, is_the_sum_over_all_pairs)
{
	static const char *const specs[] = {
		"fattree:radix=4,levels=3",
		"torus:dims=3x4,hosts=2",
		"dragonfly:a=4,p=2,h=1",
		"random:switches=12,degree=3,hosts=2,seed=5",
	};

	for (size_t i = 0; i < FAB_COUNT(specs); i++) {
		OWN(fab_fabric) *f = test_gen(specs[i]);
		uint64_t n = f->n_host_links;
		OWN(fab_routes) *r = test_tables(f, NULL, "minhop", 2);

		cr_assert_eq(check_all(r), n * (n - 1), "%s", specs[i]);
		fab_routes_free(r);
		r = test_tables(f, NULL, "updn", 2);
		cr_assert_eq(check_all(r), n * (n - 1), "%s", specs[i]);
	}
}

/* Text of tables by minhop, every `nth` entry of which is gone (0: none) or, when it is
 * `turned`, leads out by port 1. */
static char *damaged(const struct fab_routes *r, unsigned nth, bool turned)
{
	char *damaged = NULL, *rest, *line;
	FAB_AUTOFREE char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size), *to;
	unsigned n = 0;

	MUST(fab_export_lfts(out, r, ERR));
	fclose(out);
	to = open_memstream(&damaged, &size);
	for (rest = text; (line = strsep(&rest, "\n"));) {
		bool is_hit = !strncmp(line, "0x", 2) && nth && ++n % nth == 0;

		if (!is_hit)
			fprintf(to, "%s\n", line);
		else if (turned)
			fprintf(to, "%.7s001 # turned\n", line);
	}
	fclose(to);
	return damaged;
}

Test(cable_use, leaves_out_pairs_that_do_not_arrive)
{
	OWN(fab_fabric) *f = test_gen("torus:dims=3x4,hosts=2");
	uint64_t n = f->n_host_links, all = n * (n - 1);
	OWN(fab_routes) *r = test_tables(f, NULL, "minhop", 2);

	for (unsigned kind = 0; kind < 3; kind++) {
		OWN_HEAP char *text = damaged(r, kind ? 7 : 0, kind == 2);
		OWN(fab_routes) *back = NULL;
		uint64_t n_arrive;

		MUST(fab_routes_from_lfts(f, NULL, "t", text, strlen(text), &back, ERR));
		n_arrive = check_all(back);
		cr_assert_eq(n_arrive == all, !kind, "kind %u: %lu", kind,
			     (unsigned long)n_arrive);
		cr_assert_gt(n_arrive, 0);
	}
}
