/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-topo does with a fabric, and what --trace and --users say: one is the sum
 * of the other over all pairs. */
#include "engines.h"
#include "export/dot.h"
#include "export/slurm.h"
#include "fabric/check.h"
#include "fabric/diff.h"
#include "fabric/summary.h"
#include "unicast/path.h"

static bool has_twins(const struct fab_fabric *f)
{
	for (uint32_t i = 0; i < f->n_nodes; i++)
		for (uint32_t k = 0; k < i; k++)
			if (f->node_guid[i] == f->node_guid[k])
				return true;
	return false;
}

static void look(const struct fab_fabric *f)
{
	struct fab_summary *summary = fab_summary_new(f, 1);
	struct fab_check *check = fab_check_new(f);
	struct fab_diff *diff = fab_diff_new(f, f);
	uint32_t n_causes, n_explained = 0;
	const struct fab_cause *cause = fab_causes(f, check->findings, check->n_findings,
						   &check->arena, &n_causes);
	char text[128];

	fab_shape_text(summary->shape, text, sizeof(text));
	MUST(*text && check->n_problems <= check->n_findings);
	MUST(has_twins(f) || !diff->n_changes);
	for (uint32_t k = 0; k < n_causes; k++)
		n_explained += cause[k].n;
	MUST(n_explained == check->n_findings);
	fab_diff_free(diff);
	fab_check_free(check);
	fab_summary_free(summary);
}

/* Cables between adapters only are no fabric that a list of links could tell. */
static bool has_adapters_only(const struct fab_fabric *f)
{
	for (uint32_t c = 0; c < f->n_cables; c++)
		if (fab_node_is_switch(f, f->port_node[f->cable_a[c]]) ||
		    fab_node_is_switch(f, f->port_node[f->cable_b[c]]))
			return false;
	return f->n_cables > 0;
}

static void write_subnet(const struct fab_fabric *f)
{
	struct fab_fabric *again = NULL;
	size_t n;
	FAB_AUTOFREE char *text = fuzz_export(fab_export_subnet_lst, f, &n);

	MUST(!text == (has_twins(f) || has_adapters_only(f)));
	if (text && f->n_cables) {
		OK(fab_source_parse("subnet", text, n, NULL, &again, ERR));
		MUST(again->n_cables == f->n_cables);
		fab_fabric_free(again);
	}
}

void fuzz_topo(const struct fab_fabric *f)
{
	const struct fab_dot_options all = {.without_hosts = false};
	FAB_AUTO(fuzz_file_fini) struct fuzz_file file = {0};

	look(f);
	write_subnet(f);
	fab_export_dot(fuzz_open(&file), f, &all);
	is_refused(fab_export_slurm(file.out, f, NULL, ERR));
	is_refused(fab_export_slurm_yaml(file.out, f, NULL, ERR));
	is_refused(fuzz_close(&file, fab_export_slurm_block(file.out, f, NULL, ERR)));
	MUST(file.n > 0);
}

/* Follow the path to one LID of a port, from cable to cable; does it arrive? Then its
 * cables are used. */
static bool follow(const struct fab_routes *r, uint32_t from, uint32_t to,
		   uint32_t offset, uint64_t *uses)
{
	const struct fab_fabric *f = r->f;
	uint32_t at = f->port_node[from];
	struct fab_endpoint ends[2];
	FAB_AUTO(fab_trace_fini) struct fab_trace trace;

	OK(fab_trace_end_of(f, from, &ends[0], ERR));
	OK(fab_trace_end_of(f, to, &ends[1], ERR));
	ends[1].lid = (uint16_t)(offset ? f->port_lid[to] + offset : 0);
	fab_trace_init(&trace, r, &ends[0], &ends[1]);
	for (size_t i = 0; i < trace.hops.n; i++) {
		const struct fab_trace_hop *hop = &trace.hops.v[i];

		MUST(f->port_node[hop->out] == at &&
		     fab_port_peer(f, hop->out) == hop->in);
		at = f->port_node[hop->in];
		uses[hop->out] += !trace.stopped;
	}
	MUST(trace.stopped || at == f->port_node[to]);
	return !trace.stopped;
}

/* uses[port]: pairs whose packets leave that port. Returns the pairs that arrive. */
static uint64_t follow_all(const struct fab_routes *r, uint64_t *uses)
{
	const struct fab_fabric *f = r->f;
	FAB_AUTOFREE uint32_t *ports = FAB_NEW(f->n_host_links + 1, uint32_t);
	uint64_t n = 0, n_arrive = 0;

	/* of adapters of hosts that hang on a switch */
	for (uint32_t c = f->n_switch_links; c < f->n_switch_links + f->n_host_links; c++)
		if (f->node_kind[f->port_node[f->cable_b[c]]] == FAB_ADAPTER)
			ports[n++] = f->cable_b[c];
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
			MUST(use[i].pairs == uses[use[i].from] &&
			     senders == use[i].n_senders &&
			     receivers == use[i].n_receivers &&
			     !use[i].pairs == !senders && !use[i].pairs == !receivers);
		}
		fab_cable_use_fini(use);
	}
}

void fuzz_trace(const struct fab_routes *r)
{
	const struct fab_fabric *f = r->f;
	FAB_AUTOFREE uint64_t *uses = FAB_NEW0(f->n_ports, uint64_t);
	FAB_AUTO(fab_analysis_fini) struct fab_analysis j = {0};
	uint64_t n_arrive;

	/* several LIDs of a port cannot be named if the fabric has none yet */
	for (uint32_t p = 0; p < f->n_ports; p++)
		if (fab_port_n_lids(f, p) > 1 &&
		    (!f->port_lid[p] ||
		     f->port_lid[p] + fab_port_n_lids(f, p) > UINT16_MAX))
			return;
	n_arrive = follow_all(r, uses);
	check_users(r, uses);
	OK(fuzz_analyse_hosts(r, &j));
	MUST(n_arrive == j.connected);
}
