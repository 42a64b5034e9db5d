/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/rates.h"

#include "base/mem.h"

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
	return fab_format("the rate of %u of %u is not known (the first: port %u of "
			  "\"%.100s\")",
			  rates->n_unknown, rates->n, f->port_num[port],
			  fab_node_name(f, f->port_node[port]));
}
