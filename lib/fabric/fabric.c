/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/fabric.h"

#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"
#include "fabric/graph.h"

#include <errno.h>
#include <stdlib.h>

void fab_fabric_free(struct fab_fabric *f)
{
	if (!f)
		return;
	FAB_FREE_ALL(f->names, f->port_num, f->warnings);
	fab_arena_free(&f->texts);
	fab_arena_free(&f->arena);
	free(f);
}

fab_port_id fab_port_find(const struct fab_fabric *f, fab_node_id node, unsigned num)
{
	uint32_t low = f->node_first_port[node], high = f->node_first_port[node + 1];
	uint32_t first = low;

	/* Mostly all ports are there: switches from 0 on, adapters from 1 on. */
	for (uint32_t shift = 0; shift < 2 && num >= shift; shift++)
		if (num - shift < high - first && f->port_num[first + num - shift] == num)
			return first + num - shift;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (f->port_num[middle] < num)
			low = middle + 1;
		else
			high = middle;
	}
	return low < f->node_first_port[node + 1] && f->port_num[low] == num ? low
									     : FAB_NONE;
}

/* Lowest odd number of ports of which the last is internal. */
enum { INNER_PORT = 37 };

bool fab_port_is_free(const struct fab_fabric *f, fab_node_id node, unsigned num)
{
	unsigned n = f->node_n_ports[node];
	uint32_t port = fab_port_find(f, node, num);

	return num && num <= n && (num < n || n < INNER_PORT || n % 2 == 0) &&
	       (port == FAB_NONE || f->port_cable[port] == FAB_NONE);
}

fab_port_id fab_node_first_connected_port(const struct fab_fabric *f, fab_node_id node)
{
	FAB_EACH_PORT(f, node, p)
		if (f->port_cable[p] != FAB_NONE)
			return p;
	return FAB_NONE;
}

uint32_t fab_port_switch(const struct fab_fabric *f, fab_port_id port)
{
	uint32_t node = f->port_node[port], peer;

	if (node < f->n_switches)
		return node;
	peer = fab_port_peer(f, port);
	if (peer == FAB_NONE || f->port_node[peer] >= f->n_switches)
		return FAB_NONE;
	return f->port_node[peer];
}

static uint64_t end_digest(const struct fab_fabric *f, uint32_t port)
{
	return fab_mix64(f->node_guid[f->port_node[port]] ^ fab_mix64(f->port_num[port]));
}

/* Sums of well-mixed digests do not depend on the order of nodes, cables and ends. */
uint64_t fab_fabric_fingerprint(const struct fab_fabric *f)
{
	uint64_t sum = fab_mix64(f->n_nodes) + fab_mix64((uint64_t)f->n_cables << 32);

	for (uint32_t i = 0; i < f->n_nodes; i++)
		sum += fab_mix64(f->node_guid[i] ^ ((uint64_t)f->node_kind[i] << 62));
	for (uint32_t c = 0; c < f->n_cables; c++) {
		uint64_t a = end_digest(f, f->cable_a[c]),
			 b = end_digest(f, f->cable_b[c]);

		sum += fab_mix64(fab_mix64(a + b) ^ a ^ b);
	}
	return fab_mix64(sum);
}

struct fab_brief fab_fabric_brief(const struct fab_fabric *f)
{
	return (struct fab_brief){.source = f->source,
				  .fingerprint = fab_fabric_fingerprint(f),
				  .switches = f->n_switches,
				  .adapters = f->n_adapters,
				  .aggregation_nodes = f->n_aggregation_nodes,
				  .hosts = f->n_hosts,
				  .switch_links = f->n_switch_links,
				  .host_links = f->n_host_links};
}

uint32_t fab_fabric_components(const struct fab_fabric *f, uint32_t *component)
{
	const struct fab_graph g = fab_graph_of_peers(f);

	return fab_graph_parts(&g, NULL, component);
}

const char *fab_speed_name(enum fab_speed speed)
{
	static const char *const names[] = {"???", "SDR", "DDR", "QDR", "FDR10",
					    "FDR", "EDR", "HDR", "NDR", "XDR"};

	return (size_t)speed < FAB_COUNT(names) ? names[speed] : names[0];
}

double fab_speed_lane_gbps(enum fab_speed speed)
{
	static const double gbps[] = {0, 2.5, 5, 10, 10, 14, 25, 50, 100, 200};

	return (size_t)speed < FAB_COUNT(gbps) ? gbps[speed] : 0;
}

/* Share of the signalling rate after the line code: 8b/10b, 64b/66b; EDR and faster
 * are named by their data rate. */
double fab_speed_data_gbps(enum fab_speed speed)
{
	static const double gbps[] = {0,  2,  4,   8,  10, 14.0625 * 64 / 66,
				      25, 50, 100, 200};

	return (size_t)speed < FAB_COUNT(gbps) ? gbps[speed] : 0;
}

/* Both ends run alike: the lower one counts, or the known one. */
static double cable_rate(const struct fab_fabric *f, fab_cable_id cable,
			 double (*lane_gbps)(enum fab_speed speed))
{
	uint32_t a = f->cable_a[cable], b = f->cable_b[cable];
	double at_a = f->port_width[a] * lane_gbps(f->port_speed[a]);
	double at_b = f->port_width[b] * lane_gbps(f->port_speed[b]);

	if (!(at_a > 0) || !(at_b > 0))
		return at_a > 0 ? at_a : at_b;
	return at_a < at_b ? at_a : at_b;
}

double fab_cable_gbps(const struct fab_fabric *f, fab_cable_id cable)
{
	return cable_rate(f, cable, fab_speed_lane_gbps);
}

double fab_cable_data_gbps(const struct fab_fabric *f, fab_cable_id cable)
{
	return cable_rate(f, cable, fab_speed_data_gbps);
}

enum fab_cable_class fab_cable_class(const struct fab_fabric *f, fab_cable_id cable)
{
	uint32_t a = f->port_node[f->cable_a[cable]], b = f->port_node[f->cable_b[cable]];

	if (cable < f->n_switch_links)
		return a == b ? FAB_CABLE_OTHER : FAB_CABLE_SWITCH;
	if (cable >= f->n_switch_links + f->n_host_links)
		return FAB_CABLE_OTHER;
	return f->node_kind[b] == FAB_AGGREGATION ? FAB_CABLE_AGGREGATION
						  : FAB_CABLE_HOST;
}

static uint8_t lower_known(uint8_t a, uint8_t b)
{
	if (!a || !b)
		return a ? a : b;
	return a < b ? a : b;
}

uint8_t fab_cable_width(const struct fab_fabric *f, fab_cable_id cable)
{
	return lower_known(f->port_width[f->cable_a[cable]],
			   f->port_width[f->cable_b[cable]]);
}

uint8_t fab_cable_speed(const struct fab_fabric *f, fab_cable_id cable)
{
	return lower_known(f->port_speed[f->cable_a[cable]],
			   f->port_speed[f->cable_b[cable]]);
}

struct fab_rates fab_rates_of(const struct fab_fabric *f, fab_cable_id first, uint32_t n)
{
	struct fab_rates rates = {.n = n, .first_unknown = FAB_NONE};

	for (uint32_t c = first; c < first + n; c++) {
		double gbps = fab_cable_gbps(f, c);

		if (!(gbps > 0)) {
			if (!rates.n_unknown++)
				rates.first_unknown = c;
			continue;
		}
		if (!(rates.least_gbps > 0) || gbps < rates.least_gbps)
			rates.least_gbps = gbps;
		if (gbps > rates.most_gbps)
			rates.most_gbps = gbps;
	}
	return rates;
}

char *fab_rates_unknown_text(const struct fab_fabric *f, const struct fab_rates *rates)
{
	uint32_t port;

	if (!rates->n_unknown)
		return NULL;
	port = f->cable_a[rates->first_unknown];
	return fab_format(
		"the rate of %u of %u is not known (the first: port %u of \"%.100s\")",
		rates->n_unknown, rates->n, f->port_num[port],
		fab_node_name(f, f->port_node[port]));
}

struct fab_map64 *fab_guids_new(const struct fab_fabric *f, uint32_t n_nodes)
{
	struct fab_map64 *map = fab_map64_new(n_nodes);

	for (uint32_t i = 0; i < n_nodes; i++)
		if (fab_map64_put(map, f->node_guid[i], i) != i)
			fab_map64_set(map, f->node_guid[i], FAB_SHARED);
	return map;
}

int fab_guids_differ(const struct fab_fabric *f, uint32_t n_nodes, const char *what,
		     struct fab_err *err)
{
	FAB_AUTO(fab_map64_free_at) struct fab_map64 *seen = fab_map64_new(n_nodes);
	uint32_t first = 0, i = 0;
	char name[128], other[128];

	while (i < n_nodes && (first = fab_map64_put(seen, f->node_guid[i], i)) == i)
		i++;
	if (i == n_nodes)
		return 0;
	fab_text_safe(fab_node_name(f, first), name, sizeof(name));
	fab_text_safe(fab_node_name(f, i), other, sizeof(other));
	return fab_fail(
		err, EINVAL,
		"%s: GUID 0x%016llx belongs to %s and to %s: %s name nodes by GUID, expected each to have its own",
		f->source, (unsigned long long)f->node_guid[i], name, other, what);
}
