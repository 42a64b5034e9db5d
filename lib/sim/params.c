/* SPDX-License-Identifier: BSD-2-Clause */
/* Kinds of switches, the check of parameters, and results that need no run: wire times,
 * unknown rates, a packet in an idle network. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/network.h"
#include "unicast/path.h"

const struct fab_sim_switch fab_sim_switches[] = {
	{.name = "oq",
	 .summary = "queues at the outputs: the upper bound",
	 .manual = "An input can send to all outputs at once: no switch does more."},
	{.name = "voq",
	 .summary = "a queue for each input and output",
	 .manual =
		 "An input reads one packet at a time from its buffer, and so does an output; they are matched greedily, round-robin.",
	 .one_read = true},
	{.name = "fifo",
	 .summary = "one queue for each input and lane",
	 .manual =
		 "Only the first packet of an input's lane can leave: those behind it wait, whatever their output (head-of-line blocking).",
	 .one_read = true,
	 .is_fifo = true},
};

FAB_CHOICES_OF(fab_sim_switch_choices, "switch", FAB_COUNT(fab_sim_switches),
	       fab_sim_switches[i], name);

static const struct fab_choice routes[] = {
	[FAB_SIM_BY_TABLE] =
		{"table", "forwarding tables",
		 "Forwarding tables: those of `--algorithm`, or that were read."},
	[FAB_SIM_BY_DOR] =
		{"dor", "dimension order, on lanes without deadlock",
		 "Dimension order on tori, meshes and hyperx, on lanes that no cycle of waiting can use: the tables of algorithm `dor`."},
	[FAB_SIM_BY_QUEUE] =
		{"adaptive", "the output on a shortest path that is free first",
		 "Minimal adaptive: of a switch's outputs on shortest paths the one with most room behind it, without bounds on buffers the one that is free first; of equals a random one."},
	[FAB_SIM_SPRAY] = {"spray", "a random output on a shortest path",
			   "As `adaptive`, but each packet takes a random such output."},
	[FAB_SIM_BY_VALIANT] =
		{"valiant", "over a random switch with hosts",
		 "Over a random switch with hosts, both parts as `adaptive`."},
	[FAB_SIM_BY_UGAL] =
		{"ugal", "over a random switch where the shortest way is full",
		 "As `valiant` where room taken behind the next switch times hops is less there than on the shortest way; else as `adaptive`."},
};

FAB_CHOICES(fab_sim_route_choices, "routing", routes);

void fab_sim_set_routing(struct fab_sim_params *params, enum fab_sim_routing routing,
			 uint32_t chooser)
{
	if (routing == FAB_SIM_SPRAY)
		chooser = fab_choices_find(&fab_sim_chooser_choices, "random", 6);
	params->chooser = routing >= FAB_SIM_BY_QUEUE ? 1 + chooser : 0;
	params->detour = routing == FAB_SIM_BY_VALIANT ? FAB_SIM_VALIANT
			 : routing == FAB_SIM_BY_UGAL  ? FAB_SIM_UGAL
						       : FAB_SIM_MINIMAL;
}

struct fab_sim_params fab_sim_defaults(void)
{
	return (struct fab_sim_params){.kind = &fab_sim_switches[1],
				       .buffer = 32768,
				       .mtu = 2048,
				       .header = 26,
				       .group_header = 74,
				       .rate_gbps = 100,
				       .switch_delay = 100000,
				       .cable_delay = 10000,
				       .speedup = 1,
				       .warmup = UINT64_MAX,
				       .time = 1000000000,
				       .drain = UINT64_MAX};
}

struct fab_sim_params fab_sim_defaults_by_flit(void)
{
	return (struct fab_sim_params){.by_flit = true,
				       .kind = &fab_sim_switches[1],
				       .buffer = 8,
				       .mtu = 16,
				       .cable_delay = 1,
				       .speedup = 1,
				       .warmup = UINT64_MAX,
				       .time = 20000,
				       .drain = UINT64_MAX};
}

uint32_t sim_lane_units(const struct fab_sim_params *params, unsigned n_vls)
{
	uint64_t room = params->buffer;

	if (params->buffer_shared)
		room = params->buffer_private;
	else if (!params->buffer_per_vl)
		room /= n_vls;
	return (uint32_t)(params->by_flit ? room : room / FAB_SIM_CREDIT_BYTES);
}

uint32_t sim_shared_units(const struct fab_sim_params *params, unsigned n_vls)
{
	uint64_t room = params->buffer - (uint64_t)n_vls * params->buffer_private;

	if (!params->buffer_shared)
		return 0;
	return (uint32_t)(params->by_flit ? room : room / FAB_SIM_CREDIT_BYTES);
}

/* Most outputs of a switch: cables to others, and live endpoints. */
static uint32_t most_outputs(const struct fab_sim_problem *problem)
{
	const struct fab_fabric *f = problem->f;
	FAB_AUTOFREE uint32_t *n = FAB_NEW0(f->n_switches + 1, uint32_t);
	uint32_t most = 0;

	for (uint32_t e = 0; e < problem->ends->n; e++)
		n[problem->ends->sw[e]]++;
	for (uint32_t sw = 0; sw < f->n_switches; sw++) {
		n[sw] += f->arc_first[sw + 1] - f->arc_first[sw];
		most = n[sw] > most ? n[sw] : most;
	}
	return most;
}

/* A buffer of which `n` lanes (outputs) have a part each and share the rest, for packets
 * of `most` bytes. */
static int check_shared(const struct fab_sim_problem *problem,
			const struct fab_sim_params *params, unsigned n, uint64_t most,
			struct fab_err *err)
{
	const char *unit = params->by_flit ? "packets" : "bytes";
	const char *what = params->drop ? "outputs" : "lanes";
	uint64_t least = params->by_flit ? 1 : most;
	const struct fab_rule rules[] = {
		{params->buffer_per_vl && !params->drop,
		 "a buffer that lanes share is that of a port, not of each lane"},
		{n < 2 && !params->drop,
		 "a shared buffer: there is one lane, and nothing to share it with"},
		{params->chooser && !params->drop && !params->buffer_private,
		 "adaptive packets escape to lanes of the tables: each needs a private part of a shared buffer"},
	};
	int rc;

	if (!params->by_flit && !params->drop)
		least = (most + FAB_SIM_CREDIT_BYTES - 1) / FAB_SIM_CREDIT_BYTES *
			FAB_SIM_CREDIT_BYTES;
	if (params->drop)
		n = most_outputs(problem);
	rc = fab_fail_first(err, rules, FAB_COUNT(rules));
	if (rc)
		return rc;
	if (params->buffer_private && params->buffer_private < least)
		return fab_fail(err, EINVAL,
				"a private part of %" PRIu32
				" %s: a packet takes %" PRIu64 ", expected that or none",
				params->buffer_private, unit, least);
	if ((uint64_t)n * params->buffer_private > params->buffer)
		return fab_fail(err, EINVAL,
				"private parts of %" PRIu32
				" %s for %u %s: the buffer of %" PRIu32 " has %" PRIu32
				" for each",
				params->buffer_private, unit, n, what, params->buffer,
				params->buffer / n);
	return 0;
}

/* Buffers for packets of `most` bytes on n lanes. */
static int check_buffer(const struct fab_sim_problem *problem,
			const struct fab_sim_params *params, unsigned n, uint64_t most,
			struct fab_err *err)
{
	const struct fab_rule rules[] = {
		{params->ecn && !params->drop, "marks go with drops: tail or trim"},
		{params->buffer_private && !params->buffer_shared,
		 "private parts are those of a shared buffer"},
		{params->drop && (params->by_flit || problem->groups || params->detour ||
				  params->n_traced || params->spread_vls),
		 "full buffers drop unicast packets, in bytes, on minimal paths and without lanes; single ones are not traced"},
	};
	uint32_t units = 1, room;
	int rc = fab_fail_first(err, rules, FAB_COUNT(rules));

	if (rc)
		return rc;
	if (!params->by_flit)
		units = (uint32_t)((most + FAB_SIM_CREDIT_BYTES - 1) /
				   FAB_SIM_CREDIT_BYTES);
	if (params->drop) {
		if (params->buffer >= most && params->buffer <= INT32_MAX)
			return params->buffer_shared
				       ? check_shared(problem, params, n, most, err)
				       : 0;
		return fab_fail(err, EINVAL,
				"a buffer of %" PRIu32
				" bytes that drops: it holds one packet of %" PRIu64
				" at least, and 2^31 - 1 at most",
				params->buffer, most);
	}
	if (params->buffer_shared)
		rc = check_shared(problem, params, n, most, err);
	if (rc)
		return rc;
	room = sim_lane_units(params, n) + sim_shared_units(params, n);
	if (params->by_flit && !room)
		return fab_fail(err, EINVAL,
				"a buffer of %" PRIu32
				" packets for %u lanes: each needs one",
				params->buffer, n);
	if (room < units)
		return fab_fail(err, EINVAL,
				"a buffer of %" PRIu32
				" bytes for %u lane%s: each needs %" PRIu32
				" for one packet",
				params->buffer, n, n == 1 ? "" : "s",
				units * FAB_SIM_CREDIT_BYTES);
	return 0;
}

int fab_sim_check(const struct fab_sim_problem *problem,
		  const struct fab_sim_params *params, struct fab_err *err)
{
	unsigned has = problem->failure && problem->failure->dodge ? 2
		       : problem->routes ? problem->routes->n_vls
					 : 1;
	const uint64_t most_ticks = 1ull << 40;
	const struct fab_rule rules[] = {
		{!problem->ends->n, "there are no live hosts"},
		{params->chooser && !problem->routes,
		 "adaptive packets escape to lanes of tables: expected some"},
		{params->chooser && problem->groups,
		 "adaptive routing is of unicast packets: groups have trees"},
		{params->chooser && params->kind->is_fifo,
		 "adaptive routing needs a queue for each output: switches voq or oq"},
		{params->chooser && (params->n_traced || params->spread_vls),
		 "with adaptive routing packets are not traced, and lanes not spread"},
		{problem->failure &&
			 (params->chooser || params->kind->is_fifo || params->drop ||
			  params->spread_vls || problem->groups || !problem->routes),
		 "parts die under unicast traffic by tables, with switches voq or oq, without drops and with the lanes of the tables"},
		{problem->failure && problem->failure->dodge &&
			 !fab_sim_can_dodge(problem->failure->kfat,
					    problem->failure->dead),
		 "packets dodge around one or two dead leaf switches of a kfat of two dimensions"},
		{params->switch_delay + params->cable_delay == 0 ||
			 params->switch_delay > most_ticks ||
			 params->cable_delay > most_ticks ||
			 params->host_delay > most_ticks,
		 "a switch and a cable together need a delay, and none takes more than 2^40"},
	};
	uint32_t header = params->header;
	uint64_t most;
	unsigned n;
	int rc = fab_fail_first(err, rules, FAB_COUNT(rules));

	if (rc)
		return rc;
	if (problem->failure && problem->failure->after->n_vls > has)
		has = problem->failure->after->n_vls;
	n = params->drop ? has /* which do not count */
			 : sim_lanes(params, params->n_vls ? params->n_vls : has);
	if (problem->groups && params->group_header > header)
		header = params->group_header;
	most = (uint64_t)params->mtu + header;
	if (params->chooser && has && n > FAB_SIM_LANES_MAX)
		return fab_fail(
			err, EINVAL,
			"the tables use %u lanes, and adaptive packets need %u with them: %d are possible",
			has, n, FAB_SIM_LANES_MAX);
	if (n < has || !n || n > FAB_SIM_LANES_MAX)
		return fab_fail(err, EINVAL,
				"%u lanes: the tables use %u, and %d are possible", n,
				has, FAB_SIM_LANES_MAX);
	if (params->spread_vls && has > 1)
		return fab_fail(err, EINVAL,
				"pairs cannot be spread over lanes: the tables use %u",
				has);
	if (!params->by_flit && !(params->rate_gbps >= FAB_SIM_GBPS_MIN &&
				  params->rate_gbps <= FAB_SIM_GBPS_MAX))
		return fab_fail(err, EINVAL,
				"a data rate of %g Gb/s: %g to %g are possible",
				params->rate_gbps, FAB_SIM_GBPS_MIN, FAB_SIM_GBPS_MAX);
	if (params->speedup > 64)
		return fab_fail(err, EINVAL, "a speedup of %u: 1 to 64 are possible",
				params->speedup);
	if (!params->mtu || most > FAB_SIM_PACKET_MAX)
		return fab_fail(err, EINVAL,
				"packets of %" PRIu64
				": 1 to %d are possible, headers included",
				most, FAB_SIM_PACKET_MAX);
	return check_buffer(problem, params, n, most, err);
}

/* A packet on its path. */
struct pair {
	const struct fab_fabric *f;
	const struct fab_sim_params *params;
	uint32_t bytes;
	uint64_t wire, latency; /* wire: of the cable crossed last */
};

uint64_t fab_sim_wire(const void *wires, uint32_t end, uint32_t bytes, bool to_group)
{
	const struct fab_sim_params *params =
		((const struct fab_sim_wires *)wires)->params;
	const struct fab_sim_problem *net = ((const struct fab_sim_wires *)wires)->net;
	uint32_t cable = net->f->port_cable[net->ends->port[end]];
	uint32_t per_byte = sim_per_byte(net->f, params, cable);
	uint32_t header = to_group ? params->group_header : params->header;
	uint64_t full = bytes / params->mtu, ticks = 0;

	if (full)
		ticks = full * sim_wire(per_byte, params->mtu + header);
	if (bytes % params->mtu)
		ticks += sim_wire(per_byte, bytes % params->mtu + header);
	return ticks;
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

/* Add a cable to the path of a packet. */
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
	FAB_AUTOFREE uint32_t *column =
		fab_path_columns(problem->routes, 1, &ends->sw[to], &ends->port[to]);
	uint32_t c = *column;
	struct pair p = {f, params, bytes + params->header, 0, params->host_delay};
	struct fab_path path;

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
