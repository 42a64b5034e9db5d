/* SPDX-License-Identifier: BSD-2-Clause */
/* Times and sizes of the command line, which are counted in what --tick says. */
#include <errno.h>
#include <string.h>

#include "base/num.h"
#include "base/units.h"
#include "fabric_sim.h"

static const uint64_t MAX_TIME = ((uint64_t)1 << FAB_MESSAGE_TIME_BITS) - 1;
enum { PAPER_BYTES = 200, PAPER_CABLE_NS = 35, PAPER_HOST_NS = 11, PAPER_GBPS = 100 };
enum { GROUP_HEADER_MORE = 8 + 40 }; /* DETH, GRH */

/* A time in ticks; NULL: as it is. */
static int read_time(const struct sim_params *p, const char *option, const char *text,
		     uint64_t *out, struct fab_err *err)
{
	size_t len = text ? strlen(text) : 0;
	int rc = 0;

	if (!text)
		return 0;
	if (p->tick != SIM_TICK_FLIT)
		rc = fab_parse_time_ps(text, len, MAX_TIME, out, err);
	else if (!fab_parse_u64(text, len, 0, MAX_TIME, out))
		rc = fab_fail(
			err, EINVAL,
			"'%s' is no time: expected a whole number of flit times below "
			"2^48",
			text);
	if (rc)
		fab_err_prefix(err, option);
	return rc;
}

/* A size of `len` bytes of text: bytes, with --tick=flit a plain number. */
static int read_size(const struct sim_params *p, const char *option, const char *text,
		     size_t len, uint64_t max, uint32_t *out, struct fab_err *err)
{
	bool by_flit = p->tick == SIM_TICK_FLIT;
	uint64_t n = 0;
	int rc = 0;

	if (!by_flit)
		rc = fab_parse_size_bytes(text, len, &n, err);
	else if (!fab_parse_u64(text, len, 1, max, &n))
		rc = fab_fail(err, EINVAL, "'%.*s' is not a number from 1 to %llu",
			      (int)len, text, (unsigned long long)max);
	if (!rc && n > max)
		rc = fab_fail(err, EINVAL, "'%.*s' is more than %llu bytes", (int)len,
			      text, (unsigned long long)max);
	if (rc)
		fab_err_prefix(err, option);
	*out = (uint32_t)n;
	return rc;
}

static int read_sizes(struct sim_params *p, struct fab_err *err)
{
	const char *at = p->texts.sizes;

	if (!at) {
		p->size[p->n_sizes++] = p->sim.mtu;
		return 0;
	}
	while (at) {
		size_t len = strcspn(at, ",");
		int rc;

		if (p->n_sizes == SIM_MAX_SIZES)
			return fab_fail(err, EINVAL, "--size: more than %d sizes",
					SIM_MAX_SIZES);
		rc = read_size(p, "--size", at, len, FAB_MESSAGE_BYTES_MAX,
			       &p->size[p->n_sizes++], err);
		if (rc)
			return rc;
		at = at[len] ? at + len + 1 : NULL;
	}
	return 0;
}

/* What gives the figures of the paper on fabrics of any speed. */
static void take_preset(struct sim_params *p)
{
	uint64_t ns = p->tick == SIM_TICK_FLIT ? 1 : 1000;

	p->sim.switch_delay = 0;
	p->sim.cable_delay = PAPER_CABLE_NS * ns;
	p->sim.host_delay = PAPER_HOST_NS * ns;
	p->sim.header = p->sim.group_header = 0;
	if (p->tick == SIM_TICK_FLIT)
		return;
	p->sim.mtu = PAPER_BYTES;
	p->sim.rate_gbps = PAPER_GBPS;
	p->sim.all_rates = true;
}

static int read_header(struct sim_params *p, struct fab_err *err)
{
	const char *text = p->texts.header;
	uint64_t n;

	if (!text)
		return 0;
	if (!fab_parse_u64(text, strlen(text), 0, 4096, &n))
		return fab_fail(err, EINVAL,
				"--set header: '%s' is not a number from 0 to 4096",
				text);
	p->sim.header = p->sim.group_header = (uint32_t)n;
	return 0;
}

static int read_sizes_of_packets(struct sim_params *p, struct fab_err *err)
{
	int rc = 0;

	if (p->texts.packet)
		rc = read_size(p, "--packet", p->texts.packet, strlen(p->texts.packet),
			       FAB_SIM_PACKET_MAX - 128, &p->sim.mtu, err);
	if (!rc)
		rc = read_header(p, err);
	if (!rc && p->texts.buffer)
		rc = read_size(p, "--buffer", p->texts.buffer, strlen(p->texts.buffer),
			       UINT32_MAX >> 1, &p->sim.buffer, err);
	return rc ? rc : read_sizes(p, err);
}

static int read_times(struct sim_params *p, struct fab_err *err)
{
	const struct sim_texts *t = &p->texts;
	const struct {
		const char *option, *text;
		uint64_t *to;
	} times[] = {
		{"--think", t->think, &p->think},
		{"--switch-delay", t->switch_delay, &p->sim.switch_delay},
		{"--cable-delay", t->cable_delay, &p->sim.cable_delay},
		{"--host-delay", t->host_delay, &p->sim.host_delay},
		{"--warmup", t->warmup, &p->sim.warmup},
		{"--time", t->time, &p->sim.time},
		{"--set drain", t->drain, &p->sim.drain},
		{"--set stall", t->stall, &p->sim.stall},
	};
	int rc = 0;

	for (size_t i = 0; i < FAB_COUNT(times) && !rc; i++)
		rc = read_time(p, times[i].option, times[i].text, times[i].to, err);
	if (!rc && t->time && !p->sim.time)
		rc = fab_fail(err, EINVAL, "--time: 0 is no time to measure");
	return rc;
}

int sim_read_texts(struct sim_params *p, struct fab_err *err)
{
	bool by_flit = p->tick == SIM_TICK_FLIT;
	int rc;

	p->sim = by_flit ? fab_sim_defaults_by_flit() : fab_sim_defaults();
	if (!by_flit)
		p->sim.group_header = p->sim.header + GROUP_HEADER_MORE;
	else
		p->sim.mtu = 16;
	if (!p->has_arrivals)
		p->arrivals = by_flit ? SIM_BERNOULLI : SIM_POISSON;
	if (p->has_preset)
		take_preset(p);
	if (p->default_mbps > 0)
		p->sim.rate_gbps = p->default_mbps / 1000;
	if (p->cable_mbps > 0) {
		p->sim.rate_gbps = p->cable_mbps / 1000;
		p->sim.all_rates = true;
	}
	p->sim.kind = &fab_sim_switches[p->switch_kind];
	p->sim.n_vls = p->vls;
	p->sim.spread_vls = p->spread_vls;
	p->sim.buffer_per_vl = p->buffer_per_vl;
	p->sim.speedup = p->speedup;
	p->sim.n_traced = p->n_traced;
	p->sim.warmup = p->traffic_kind->is_finite ? 0 : UINT64_MAX;
	p->sim.time = by_flit ? 20000 : (uint64_t)200 * 1000 * 1000;
	if (p->traffic_kind->is_finite)
		p->sim.time = 0;
	p->sim.drain = UINT64_MAX;
	rc = read_sizes_of_packets(p, err);
	return rc ? rc : read_times(p, err);
}
