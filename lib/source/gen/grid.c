/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Torus, mesh and HyperX (Ahn et al., 2009) of any dimension: a grid of switches.
 *
 * In dimension d a switch of a torus or mesh has port hosts + 2d + 1 towards the next
 * coordinate and hosts + 2d + 2 towards the previous one. Where both are the same switch
 * (a size of 2) there is one cable, from the first port of coordinate 0 to the second of
 * coordinate 1; a size of 1 has none. A HyperX joins every line all to all: behind the
 * hosts come the ports of dimension 0 in the order of the peer's coordinate, then those
 * of dimension 1, and so on.
 */
#include "source/gen/impl.h"

enum kind { TORUS, MESH, HYPERX };
enum { DIMS, HOSTS };

static const struct fab_gen_key keys[] = {
	[DIMS] = {"dims", FAB_GEN_LIST, 'x', .is_required = true, .min = 1,
		  .max = FAB_GEN_NODES_MAX, .help = "sizes, such as 8x8x8"},
	[HOSTS] = {"hosts", FAB_GEN_NUMBER, .min = 0, .max = FAB_GEN_PORTS_MAX,
		   .fallback = 1, .help = "hosts a switch"},
};

/* Ports of a switch along a dimension of `size`. */
static uint32_t ports_along(enum kind kind, uint32_t size)
{
	return kind == HYPERX ? size - 1 : 2;
}

static int build(struct fab_gen_net *net, const struct fab_gen_value *values,
		 struct fab_err *err)
{
	enum kind kind = net->family == &fab_gen_torus	? TORUS
			 : net->family == &fab_gen_mesh ? MESH
							: HYPERX;
	const uint32_t *dims = values[DIMS].list.v;
	uint32_t n = values[DIMS].list.n, hosts = (uint32_t)values[HOSTS].number;
	uint32_t v[FAB_GEN_LIST_MAX], base, stride = 1;
	struct fab_gen_size size = {.switches = 1, .ports = hosts};
	char text[FAB_GEN_NAME_MAX];
	int rc;

	for (uint32_t d = 0; d < n; d++) {
		size.switches = fab_gen_mul(size.switches, dims[d]);
		size.ports += ports_along(kind, dims[d]);
	}
	for (uint32_t d = 0; d < n; d++)
		size.cables = fab_gen_add(
			size.cables,
			fab_gen_mul(size.switches / dims[d],
				    kind == HYPERX ? (uint64_t)dims[d] * (dims[d] - 1) / 2
				    : kind == TORUS && dims[d] > 2 ? dims[d]
								   : dims[d] - 1));
	size.adapters = fab_gen_mul(size.switches, hosts);
	size.cables = fab_gen_add(size.cables, size.adapters);
	rc = fab_gen_check_size(net, &size, err);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < size.switches; i++) {
		fab_gen_coords(i, dims, n, v);
		fab_gen_switch(net, (uint32_t)size.ports, "sw-%s",
			       fab_gen_coords_text(v, n, FAB_NONE, text));
	}
	for (uint32_t i = 0; i < size.switches; i++)
		fab_gen_hosts(net, i, hosts);
	base = (uint32_t)size.ports;
	for (uint32_t d = n; d-- > 0; stride *= dims[d]) {
		base -= ports_along(kind, dims[d]);
		for (uint32_t i = 0; i < size.switches; i++) {
			uint32_t at = i / stride % dims[d];

			for (uint32_t to = at + 1; kind == HYPERX && to < dims[d]; to++)
				fab_gen_cable(net, i, base + to, i + (to - at) * stride,
					      base + at + 1);
			if (kind != HYPERX && at + 1 < dims[d])
				fab_gen_cable(net, i, base + 1, i + stride, base + 2);
			else if (kind == TORUS && dims[d] > 2)
				fab_gen_cable(net, i, base + 1, i - at * stride,
					      base + 2);
		}
	}
	return 0;
}

const struct fab_gen_family fab_gen_torus = {"torus", keys, FAB_COUNT(keys), build};
const struct fab_gen_family fab_gen_mesh = {"mesh", keys, FAB_COUNT(keys), build};
const struct fab_gen_family fab_gen_hyperx = {"hyperx", keys, FAB_COUNT(keys), build};
