/* SPDX-License-Identifier: BSD-2-Clause */
/* What can be said without a run: wire times, rates, a pair in an idle network. */
#include <errno.h>
#include <stdlib.h>

#include "sim/network.h"
#include "unicast/path.h"

/* A packet on its path. */
struct pair {
	const struct fab_fabric *f;
	const struct fab_sim_params *params;
	uint32_t bytes;
	uint64_t wire, latency; /* wire: of the cable crossed last */
};

/* Ticks of the packets of a message on a cable of so many ticks a byte. */
static uint64_t message_ticks(const struct fab_sim_params *params, uint32_t per_byte,
			      uint32_t bytes, uint32_t header)
{
	uint64_t full = bytes / params->mtu, ticks = 0;

	if (full)
		ticks = full * sim_wire(per_byte, params->mtu + header);
	if (bytes % params->mtu)
		ticks += sim_wire(per_byte, bytes % params->mtu + header);
	return ticks;
}

uint64_t fab_sim_wire_ticks(const struct fab_sim_problem *problem,
			    const struct fab_sim_params *params, uint32_t end,
			    uint32_t bytes, bool to_group)
{
	const struct fab_fabric *f = problem->f;

	return message_ticks(
		params, sim_per_byte(f, params, f->port_cable[problem->ends->port[end]]),
		bytes, to_group ? params->group_header : params->header);
}

uint32_t fab_sim_unknown_rates(const struct fab_sim_problem *problem)
{
	const struct fab_fabric *f = problem->f;
	uint32_t n = 0;

	for (uint32_t c = 0; c < f->n_switch_links + f->n_host_links; c++)
		n += fab_cable_is_live(problem->faults, c) &&
		     fab_cable_data_gbps(f, c) <= 0;
	return n;
}

/* A cable more: what a packet of so many bytes takes. */
static void cross(struct pair *p, uint32_t cable)
{
	uint64_t wire = sim_wire(sim_per_byte(p->f, p->params, cable), p->bytes);

	p->latency += wire > p->wire ? wire - p->wire : 0;
	p->wire = wire;
	p->latency += p->params->cable_delay;
}

int fab_sim_pair(const struct fab_sim_problem *problem,
		 const struct fab_sim_params *params, uint32_t from, uint32_t to,
		 uint32_t bytes, uint64_t *latency, uint32_t *hops, struct fab_err *err)
{
	const struct fab_flow_ends *ends = problem->ends;
	const struct fab_fabric *f = problem->f;
	uint32_t *column =
		fab_path_columns(problem->routes, 1, &ends->sw[to], &ends->port[to]);
	uint32_t c = *column;
	struct pair p = {f, params, bytes + params->header, 0, params->host_delay};
	struct fab_path path;

	free(column);
	if (c == FAB_NONE)
		return fab_fail(err, ENOENT, "there is no path");
	path = fab_path_from(problem->routes, ends->sw[from], c);
	cross(&p, f->port_cable[ends->port[from]]);
	p.latency += params->switch_delay;
	while (fab_path_step(&path)) {
		cross(&p, f->arc_cable[path.arc]);
		p.latency += params->switch_delay;
	}
	if (fab_path_end(&path) != FAB_PATH_ARRIVES || path.n_hops >= FAB_SIM_HOPS_MAX)
		return fab_fail(err, ENOENT, "there is no path");
	cross(&p, f->port_cable[ends->port[to]]);
	*latency = p.latency;
	*hops = path.n_hops;
	return 0;
}
