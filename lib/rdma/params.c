/* SPDX-License-Identifier: BSD-2-Clause */
/* Names, defaults, and what is impossible. */
#include "rdma/rdma.h"

#include <errno.h>
#include <string.h>

#include "base/human.h"
#include "rdma/window.h"
#include "sim/sim.h"

#define ROW(row) &fab_rdma_scheme_##row,
const struct fab_rdma_scheme *const fab_rdma_schemes[] = {FAB_RDMA_SCHEMES(ROW)};
#undef ROW
const size_t fab_rdma_n_schemes = FAB_COUNT(fab_rdma_schemes);

const char *const fab_rdma_kind_name[] = {
	[FAB_RDMA_RQT] = "rqt",
	[FAB_RDMA_RSP] = "rsp",
	[FAB_RDMA_REFUSAL] = "refusal",
	[FAB_RDMA_DATA] = "data",
	[FAB_RDMA_RESEND] = "resend",
	[FAB_RDMA_ACK] = "ack",
	[FAB_RDMA_NAK] = "nak",
	[FAB_RDMA_CREDIT] = "credit",
	[FAB_RDMA_ASK] = "ask",
	[FAB_RDMA_CLOSE] = "close",
	[FAB_RDMA_COMPLETION] = "completion",
};

static struct fab_choice scheme_at(size_t i)
{
	const struct fab_rdma_scheme *s = fab_rdma_schemes[i];

	return (struct fab_choice){s->name, s->summary, s->manual, true};
}

const struct fab_choices fab_rdma_scheme_choices = {
	.what = "scheme", .n = FAB_COUNT(fab_rdma_schemes), .at = scheme_at};

const struct fab_rdma_scheme *fab_rdma_scheme_find(const char *name, size_t len)
{
	uint32_t i = fab_choices_find(&fab_rdma_scheme_choices, name, len);

	return i == FAB_NONE ? NULL : fab_rdma_schemes[i];
}

const struct fab_rdma_route fab_rdma_routes[] = {
	{"table", "forwarding tables",
	 "Forwarding tables: those of `--algorithm`, or that were read.",
	 FAB_RDMA_BY_TABLE, NULL},
	{"dor", "dimension order, on lanes without deadlock",
	 "Dimension order on tori and meshes, on lanes that no cycle of waiting can use.",
	 FAB_RDMA_BY_TABLE, "dor"},
	{"adaptive", "the output on a shortest path that is free first",
	 "Minimal adaptive: of the outputs on shortest paths the one that is free first, "
	 "of equals one by chance. With bounds on buffers a packet that finds no room "
	 "goes on by the tables, on their lanes, to its end.",
	 FAB_RDMA_ADAPTIVE, NULL},
	{"spray", "any output on a shortest path, by chance",
	 "Any output on a shortest path, by chance, for each packet.", FAB_RDMA_SPRAY,
	 NULL},
};

static struct fab_choice route_at(size_t i)
{
	const struct fab_rdma_route *t = &fab_rdma_routes[i];

	return (struct fab_choice){t->name, t->summary, t->manual, true};
}

const struct fab_choices fab_rdma_route_choices = {
	.what = "routing", .n = FAB_COUNT(fab_rdma_routes), .at = route_at};

static const char *const retries[] = {"delay", "backoff", "queue"};
const struct fab_choices fab_rdma_retry_choices = {
	.what = "retry policy", .n = FAB_COUNT(retries), .names = retries};

static const char *const delays[] = {"U", "E", "F"};
const struct fab_choices fab_rdma_delay_choices = {
	.what = "distribution", .n = FAB_COUNT(delays), .names = delays};

struct fab_rdma_params fab_rdma_defaults(void)
{
	const uint64_t ns = 1000, us = 1000 * ns;

	return (struct fab_rdma_params){.mtu = 2048,
					.header = 26,
					.control = 30,
					.rate_gbps = 100,
					.switch_ps = 100 * ns,
					.cable_ps = 10 * ns,
					.contexts = 4096,
					.retry_ps = 10 * us,
					.msgid_bits = 20,
					.tombstone_ps = 1000 * us,
					.window = 128,
					.rto_ps = 20 * us,
					.singles = 3,
					.plus = FAB_RDMA_PLUS,
					.timers = 4,
					.rto_low_ps = 100 * us,
					.rto_high_ps = 320 * us,
					.few = 3,
					.seed = 1};
}

static int check_share(const char *what, double value, struct fab_err *err)
{
	if (value >= 0 && value <= 1)
		return 0;
	return fab_fail(err, EINVAL, "%s: %g is no share, 0 .. 1 was expected", what,
			value);
}

static int check_chance(const struct fab_rdma_impairments *bad, struct fab_err *err)
{
	int rc = check_share("loss", bad->loss, err);

	if (!rc)
		rc = check_share("loss of control packets", bad->drop_control, err);
	if (!rc)
		rc = check_share("share of packets that are held up", bad->delayed, err);
	if (rc)
		return rc;
	if (bad->burst != 0 && !(bad->burst >= 1 && bad->burst <= 1e6))
		return fab_fail(err, EINVAL,
				"burst: %g losses in a row, 1 .. 1000000 was expected",
				bad->burst);
	if (bad->burst > 1 && bad->loss > bad->burst / (bad->burst + 1))
		return fab_fail(err, EINVAL,
				"a loss of %g in bursts of %g on average is impossible: "
				"at most %g",
				bad->loss, bad->burst, bad->burst / (bad->burst + 1));
	for (size_t i = 0; i < bad->n_outages; i++)
		if (bad->outage[i].from_ps > bad->outage[i].until_ps)
			return fab_fail(err, EINVAL, "outage %zu ends before it begins",
					i);
	return 0;
}

/* What a number may be; its unit is PS, a time of picoseconds, or a word. */
struct range {
	const char *what, *unit;
	uint64_t value, low, high;
};
static const char PS[] = "ps";

static int check_range(const struct range *x, struct fab_err *err)
{
	char value[FAB_HUMAN_BYTES], high[FAB_HUMAN_BYTES];

	if (x->value >= x->low && x->value <= x->high)
		return 0;
	if (x->unit != PS)
		return fab_fail(err, EINVAL, "%s: %llu%s, expected %llu to %llu", x->what,
				(unsigned long long)x->value, x->unit,
				(unsigned long long)x->low, (unsigned long long)x->high);
	return fab_fail(err, EINVAL, "%s: %s, expected %s %s", x->what,
			fab_human_seconds((double)x->value * 1e-12, value),
			x->low ? "more than 0 and at most" : "at most",
			fab_human_seconds((double)x->high * 1e-12, high));
}

static int check_packets(const struct fab_rdma_params *p, struct fab_err *err)
{
	const uint64_t time = FAB_RDMA_TIME_MAX_PS;
	const struct range range[] = {
		{"MTU", " bytes", p->mtu, 1, FAB_RDMA_MTU_MAX},
		{"headers of a data packet", " bytes", p->header, 0, 4096},
		{"a control packet", " bytes", p->control, 1, 4096},
		{"contexts of an endpoint", "", p->contexts, 1, FAB_RDMA_CONTEXTS_MAX},
		{"width of the MSGID", " bits", p->msgid_bits, 1, 32},
		{"window of the receiver", " packets", p->window, 1, FAB_RDMA_WINDOW_MAX},
		{"window of the sender", " packets", p->sender_window, 0,
		 FAB_RDMA_PACKETS_MAX},
		{"retransmission timeout", PS, p->rto_ps, 1, time},
		{"timeout with few packets in flight", PS, p->rto_low_ps, 1, time},
		{"timeout with many packets in flight", PS, p->rto_high_ps, 1, time},
		{"timers of a context", "", p->timers, 1, FAB_RDMA_TIMERS_MAX},
		{"delay of a refused request", PS, p->retry_ps, 1, time},
		{"time after which a sender asks", PS, p->ask_ps, 0, time},
		{"time that a receiver remembers a transfer", PS, p->tombstone_ps, 0,
		 time},
		{"time by which packets may come late", PS, p->reorder_ps, 0, time},
		{"delay of packets that are held up", PS, p->bad.delay_ps, 0, time},
		{"delay of a switch", PS, p->switch_ps, 0, time},
		{"delay of a cable", PS, p->cable_ps, 0, time},
		{"delay of a host", PS, p->host_ps, 0, time},
		{"delay of a switch and a cable together", PS, p->switch_ps + p->cable_ps,
		 1, 2 * time},
		{"simulated time", PS, p->end_ps, 0, FAB_RDMA_END_MAX_PS},
		{"parts of rsw+", "", p->plus, 0, FAB_RDMA_PLUS},
	};

	for (size_t i = 0; i < FAB_COUNT(range); i++) {
		int rc = check_range(&range[i], err);

		if (rc)
			return rc;
	}
	if (!(p->rate_gbps >= FAB_SIM_GBPS_MIN && p->rate_gbps <= FAB_SIM_GBPS_MAX))
		return fab_fail(err, EINVAL,
				"a data rate of %g Gb/s: %g to %g are possible",
				p->rate_gbps, FAB_SIM_GBPS_MIN, FAB_SIM_GBPS_MAX);
	return 0;
}

int fab_rdma_check(const struct fab_rdma_problem *problem,
		   const struct fab_rdma_params *params, struct fab_err *err)
{
	uint32_t packet = params->mtu + params->header;
	unsigned lanes = problem->routes ? problem->routes->n_vls : 1;
	int rc = check_packets(params, err);

	if (!rc)
		rc = check_chance(&params->bad, err);
	if (rc)
		return rc;
	if (problem->n_transfers > FAB_RDMA_TRANSFERS_MAX)
		return fab_fail(err, EINVAL, "more than %d transfers",
				FAB_RDMA_TRANSFERS_MAX);
	if (problem->ends->n > FAB_RDMA_ENDS_MAX)
		return fab_fail(err, EINVAL, "more than %d endpoints", FAB_RDMA_ENDS_MAX);
	if (!problem->routes && params->routing == FAB_RDMA_BY_TABLE)
		return fab_fail(err, EINVAL, "no tables to route by");
	if (!params->buffer)
		return 0;
	if (!problem->routes)
		return fab_fail(err, EINVAL,
				"bounded buffers: without tables nothing keeps packets "
				"from waiting for each other in a cycle");
	if (params->buffer < packet || params->buffer < params->control)
		return fab_fail(err, EINVAL,
				"buffers of %u bytes do not hold a packet of %u",
				params->buffer,
				packet > params->control ? packet : params->control);
	if (params->routing != FAB_RDMA_BY_TABLE && lanes >= FAB_RDMA_LANES_MAX)
		return fab_fail(err, EINVAL,
				"tables of %u lanes leave none for adaptive packets",
				lanes);
	return 0;
}
