/* SPDX-License-Identifier: BSD-2-Clause */
/* Kinds of switches, and what parameters can be. */
#include "sim/network.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

const struct fab_sim_switch fab_sim_switches[] = {
	{.name = "oq",
	 .summary = "queues at the outputs: the upper bound",
	 .manual = "An input can send to all outputs at once: no switch does more."},
	{.name = "voq",
	 .summary = "a queue for each input and output",
	 .manual = "An input reads one packet at a time from its buffer, and so does an "
		   "output; they are matched greedily, by turns.",
	 .one_read = true},
	{.name = "fifo",
	 .summary = "one queue for each input and lane",
	 .manual = "Only the first packet of an input's lane can leave: those behind it "
		   "wait, whatever their output (head-of-line blocking).",
	 .one_read = true,
	 .is_fifo = true},
};

static struct fab_choice choice_at(size_t i)
{
	return (struct fab_choice){.form = fab_sim_switches[i].name,
				   .summary = fab_sim_switches[i].summary,
				   .manual = fab_sim_switches[i].manual};
}

const struct fab_choices fab_sim_switch_choices = {
	.what = "switch", .n = FAB_COUNT(fab_sim_switches), .at = choice_at};

const struct fab_sim_switch *fab_sim_switch_find(const char *name, size_t len)
{
	uint32_t i = fab_choices_find(&fab_sim_switch_choices, name, len);

	return i == FAB_NONE ? NULL : &fab_sim_switches[i];
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

	if (!params->buffer_per_vl)
		room /= n_vls;
	return (uint32_t)(params->by_flit ? room : room / FAB_SIM_CREDIT_BYTES);
}

static int check_buffer(const struct fab_sim_params *params, unsigned n_vls, bool groups,
			struct fab_err *err)
{
	uint32_t header = groups && params->group_header > params->header
				  ? params->group_header
				  : params->header;
	uint64_t most = (uint64_t)params->mtu + header;
	uint32_t room = sim_lane_units(params, n_vls);

	if (!params->mtu || most > FAB_SIM_PACKET_MAX)
		return fab_fail(err, EINVAL,
				"packets of %" PRIu64 ": 1 to %d are possible, headers "
				"included",
				most, FAB_SIM_PACKET_MAX);
	if (params->by_flit && !room)
		return fab_fail(err, EINVAL,
				"a buffer of %" PRIu32 " packets for %u lanes: each "
				"needs one",
				params->buffer, n_vls);
	if (params->by_flit)
		return 0;
	most = (most + FAB_SIM_CREDIT_BYTES - 1) / FAB_SIM_CREDIT_BYTES;
	if (room < most)
		return fab_fail(err, EINVAL,
				"a buffer of %" PRIu32 " bytes for %u lane%s: each needs "
				"%" PRIu64 " for one packet",
				params->buffer, n_vls, n_vls == 1 ? "" : "s",
				most * FAB_SIM_CREDIT_BYTES);
	return 0;
}

int fab_sim_check(const struct fab_sim_problem *problem,
		  const struct fab_sim_params *params, struct fab_err *err)
{
	const struct fab_routes *r = problem->routes;
	unsigned has = r ? r->n_vls : 1, n = params->n_vls ? params->n_vls : has;
	const uint64_t most = 1ull << 40;

	if (!problem->ends->n)
		return fab_fail(err, EINVAL, "there are no live hosts");
	if (n < has || !n || n > FAB_SIM_LANES_MAX)
		return fab_fail(err, EINVAL,
				"%u lanes: the tables use %u, and %d are possible", n,
				has, FAB_SIM_LANES_MAX);
	if (params->spread_vls && has > 1)
		return fab_fail(err, EINVAL,
				"pairs cannot be spread over lanes: the tables use %u",
				has);
	if (params->switch_delay + params->cable_delay == 0 ||
	    params->switch_delay > most || params->cable_delay > most ||
	    params->host_delay > most)
		return fab_fail(err, EINVAL,
				"a switch and a cable together need a delay, and none "
				"takes more than 2^40");
	if (!params->by_flit && !(params->rate_gbps >= FAB_SIM_GBPS_MIN &&
				  params->rate_gbps <= FAB_SIM_GBPS_MAX))
		return fab_fail(err, EINVAL,
				"a data rate of %g Gb/s: %g to %g are possible",
				params->rate_gbps, FAB_SIM_GBPS_MIN, FAB_SIM_GBPS_MAX);
	if (params->speedup > 64)
		return fab_fail(err, EINVAL, "a speedup of %u: 1 to 64 are possible",
				params->speedup);
	return check_buffer(params, n, problem->groups, err);
}
