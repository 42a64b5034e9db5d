/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HyperX (Ahn et al., 2009): a grid of switches, every line of it along every dimension
 * joined all to all. Behind the hosts come the ports of dimension 0 in the order of the
 * peer's coordinate, then those of dimension 1, and so on.
 */
#include "source/gen/families.h"

#include <inttypes.h>

enum { DIMS, HOSTS };

static const struct fab_gen_key keys[] = {
	[DIMS] = {"dims", FAB_GEN_LIST, 'x', .is_required = true, .min = 1,
		  .max = FAB_GEN_NODES_MAX, .help = "sizes, such as 8x8"},
	[HOSTS] = {"hosts", FAB_GEN_NUMBER, .min = 0, .max = FAB_GEN_PORTS_MAX,
		   .fallback = 1, .help = "hosts a switch"},
};

static int check_size(const struct fab_gen_net *net, const uint32_t *dims, uint32_t n,
		      uint32_t hosts, struct fab_gen_size *size, struct fab_err *err)
{
	uint64_t peers = 0;

	*size = (struct fab_gen_size){.switches = 1};
	for (uint32_t d = 0; d < n; d++) {
		size->switches = fab_gen_mul(size->switches, dims[d]);
		peers += dims[d] - 1;
	}
	size->adapters = fab_gen_mul(size->switches, hosts);
	size->cables =
		fab_gen_add(fab_gen_mul(size->switches, peers) / 2, size->adapters);
	size->ports = hosts + peers;
	return fab_gen_check_size(net, size, err);
}

/* All cables along dimension `d`, whose ports begin behind `base`. */
static void add_dimension(struct fab_gen_net *net, uint32_t n_switches, uint32_t size,
			  uint32_t stride, uint32_t base)
{
	for (uint32_t i = 0; i < n_switches; i++) {
		uint32_t at = i / stride % size;

		for (uint32_t to = at + 1; to < size; to++)
			fab_gen_cable(net, i, base + to, i + (to - at) * stride,
				      base + at + 1);
	}
}

static int build(struct fab_gen_net *net, const struct fab_gen_value *values,
		 struct fab_err *err)
{
	const uint32_t *dims = values[DIMS].list.v;
	uint32_t n = values[DIMS].list.n, hosts = (uint32_t)values[HOSTS].number;
	uint32_t v[FAB_GEN_LIST_MAX], n_switches, base, stride = 1;
	char text[FAB_GEN_NAME_MAX];
	struct fab_gen_size size;
	int rc = check_size(net, dims, n, hosts, &size, err);

	if (rc)
		return rc;
	n_switches = (uint32_t)size.switches;
	for (uint32_t i = 0; i < n_switches; i++) {
		fab_gen_coords(i, dims, n, v);
		fab_gen_switch(net, (uint32_t)size.ports, "sw-%s",
			       fab_gen_coords_text(v, n, FAB_NONE, text));
	}
	for (uint32_t i = 0; i < n_switches; i++)
		fab_gen_hosts(net, i, hosts);
	base = (uint32_t)size.ports;
	for (uint32_t d = n; d-- > 0; stride *= dims[d]) {
		base -= dims[d] - 1;
		add_dimension(net, n_switches, dims[d], stride, base);
	}
	return 0;
}

const struct fab_gen_family fab_gen_hyperx = {"hyperx", keys, FAB_COUNT(keys), build};
