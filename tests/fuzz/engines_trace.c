/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-topo --trace and --users say: one is the sum of the other over all pairs.
 */
#include "base/mem.h"
#include "engines.h"
#include "unicast/analysis.h"
#include "unicast/path.h"

/* Ports of adapters of hosts that hang on a switch. */
static uint32_t list_ports(const struct fab_fabric *f, uint32_t *ports)
{
	uint32_t n = 0;

	for (uint32_t c = f->n_switch_links; c < f->n_switch_links + f->n_host_links; c++)
		if (f->node_kind[f->port_node[f->cable_b[c]]] == FAB_ADAPTER)
			ports[n++] = f->cable_b[c];
	return n;
}

/* A path goes from cable to cable, from one end to the other. */
static void check_hops(const struct fab_fabric *f, const struct fab_trace *t,
		       uint32_t from, uint32_t to)
{
	uint32_t at = f->port_node[from];

	for (size_t i = 0; i < t->hops.n; i++) {
		const struct fab_trace_hop *hop = &t->hops.v[i];

		MUST(f->port_node[hop->out] == at);
		MUST(fab_port_peer(f, hop->out) == hop->in);
		at = f->port_node[hop->in];
	}
	MUST(t->stopped || at == f->port_node[to]);
}

/* Follow the path to one LID of a port; does it arrive? Then its cables are used. */
static bool follow(const struct fab_routes *r, uint32_t from, uint32_t to,
		   uint32_t offset, uint64_t *uses)
{
	const struct fab_fabric *f = r->f;
	struct fab_endpoint ends[2];
	FAB_AUTO(fab_trace_fini) struct fab_trace trace;
	bool arrives;

	OK(fab_trace_end_of(f, from, &ends[0], ERR));
	OK(fab_trace_end_of(f, to, &ends[1], ERR));
	ends[1].lid = (uint16_t)(offset ? f->port_lid[to] + offset : 0);
	fab_trace_init(&trace, r, &ends[0], &ends[1]);
	check_hops(f, &trace, from, to);
	arrives = !trace.stopped;
	for (size_t h = 0; arrives && h < trace.hops.n; h++)
		uses[trace.hops.v[h].out]++;
	return arrives;
}

/* uses[port]: pairs whose packets leave that port. Returns the pairs that arrive. */
static uint64_t follow_all(const struct fab_routes *r, uint64_t *uses)
{
	const struct fab_fabric *f = r->f;
	FAB_AUTOFREE uint32_t *ports = FAB_NEW(f->n_host_links + 1, uint32_t);
	uint64_t n = list_ports(f, ports), n_arrive = 0;

	for (uint64_t i = 0; i < n * n; i++) {
		uint32_t from = ports[i / n], to = ports[i % n];

		for (uint32_t k = 0; from != to && k < fab_port_n_lids(f, to); k++)
			n_arrive += follow(r, from, to, k, uses);
	}
	return n_arrive;
}

static void check_users(const struct fab_routes *r, const uint64_t *uses)
{
	const struct fab_fabric *f = r->f;

	for (uint32_t c = 0; c < f->n_switch_links + f->n_host_links; c++) {
		struct fab_cable_use use[2];

		fab_cable_use_init(use, r, c);
		for (int i = 0; i < 2; i++) {
			uint32_t senders = 0, receivers = 0;

			for (uint32_t h = 0; h < f->n_hosts; h++) {
				senders += use[i].sends[h];
				receivers += use[i].receives[h];
			}
			MUST(use[i].pairs == uses[use[i].from]);
			MUST(senders == use[i].n_senders &&
			     receivers == use[i].n_receivers);
			MUST(!use[i].pairs == !senders && !use[i].pairs == !receivers);
		}
		fab_cable_use_fini(use);
	}
}

/* Has a port several LIDs that cannot be named, for the fabric has none yet? */
static bool has_nameless_lids(const struct fab_fabric *f)
{
	for (uint32_t p = 0; p < f->n_ports; p++)
		if (fab_port_n_lids(f, p) > 1 &&
		    (!f->port_lid[p] ||
		     f->port_lid[p] + fab_port_n_lids(f, p) > UINT16_MAX))
			return true;
	return false;
}

void fuzz_trace(const struct fab_routes *r)
{
	const struct fab_analysis_options options = {.ends = FAB_ENDS_HOSTS,
						     .n_threads = 1};
	uint64_t n_arrive;
	FAB_AUTOFREE uint64_t *uses = FAB_NEW0(r->f->n_ports, uint64_t);
	FAB_AUTO(fab_analysis_fini) struct fab_analysis j = {0};

	if (has_nameless_lids(r->f))
		return;
	n_arrive = follow_all(r, uses);
	check_users(r, uses);
	OK(fab_analyse(r, &options, &j, ERR));
	MUST(n_arrive == j.connected);
}
