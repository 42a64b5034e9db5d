/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-topo --trace and --users say: one is the sum of the other over all pairs.
 */
#include "base/mem.h"
#include "engines.h"
#include "unicast/analysis.h"
#include "unicast/trace.h"

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

		fuzz_must(f->port_node[hop->out] == at, "a gap", "trace");
		fuzz_must(fab_port_peer(f, hop->out) == hop->in, "no cable", "trace");
		at = f->port_node[hop->in];
	}
	fuzz_must(t->stopped || at == f->port_node[to], "arrives elsewhere", "trace");
}

/* uses[port]: pairs whose packets leave that port. Returns the pairs that arrive. */
static uint64_t follow_all(const struct fab_routes *r, uint64_t *uses)
{
	const struct fab_fabric *f = r->f;
	uint32_t *ports = FAB_NEW(f->n_host_links + 1, uint32_t);
	uint64_t n = list_ports(f, ports), n_arrive = 0;
	struct fab_err err = {""};

	for (uint64_t i = 0; i < n * n; i++) {
		uint32_t from = ports[i / n], to = ports[i % n];
		struct fab_endpoint ends[2];
		struct fab_trace trace;

		if (from == to)
			continue;
		fuzz_sound(fab_trace_end_of(f, from, &ends[0], &err), &err, "trace");
		fuzz_sound(fab_trace_end_of(f, to, &ends[1], &err), &err, "trace");
		fab_trace_init(&trace, r, &ends[0], &ends[1]);
		check_hops(f, &trace, from, to);
		n_arrive += !trace.stopped;
		for (size_t h = 0; !trace.stopped && h < trace.hops.n; h++)
			uses[trace.hops.v[h].out]++;
		fab_trace_fini(&trace);
	}
	free(ports);
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
			fuzz_must(use[i].pairs == uses[use[i].from],
				  "other pairs than their paths", "users");
			fuzz_must(senders == use[i].n_senders &&
					  receivers == use[i].n_receivers,
				  "other hosts than are marked", "users");
			fuzz_must(!use[i].pairs == !senders &&
					  !use[i].pairs == !receivers,
				  "pairs of nobody", "users");
		}
		fab_cable_use_fini(use);
	}
}

void fuzz_trace(const struct fab_routes *r)
{
	const struct fab_analysis_options options = {.ends = FAB_ENDS_HOSTS,
						     .n_threads = 1};
	uint64_t *uses = FAB_NEW0(r->f->n_ports, uint64_t), n_arrive;
	struct fab_analysis j;
	struct fab_err err = {""};

	n_arrive = follow_all(r, uses);
	check_users(r, uses);
	fuzz_sound(fab_analyse(r, &options, &j, &err), &err, "trace");
	fuzz_must(n_arrive == j.connected, "pairs that are not connected", "trace");
	fab_analysis_fini(&j);
	free(uses);
}
