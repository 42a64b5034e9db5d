/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Torus and mesh of any dimension. In dimension d a switch has port hosts + 2d + 1
 * towards the next coordinate and hosts + 2d + 2 towards the one before. Where the next
 * and the one before are the same switch (a size of 2) there is one cable, from the
 * first port of coordinate 0 to the second of coordinate 1; a size of 1 has none.
 */
#include "source/gen/families.h"

#include <inttypes.h>

enum { DIMS, HOSTS };

static const struct fab_gen_key keys[] = {
	[DIMS] = {"dims", FAB_GEN_LIST, 'x', .is_required = true, .min = 1,
		  .max = FAB_GEN_NODES_MAX, .help = "sizes, such as 8x8x8"},
	[HOSTS] = {"hosts", FAB_GEN_NUMBER, .min = 0, .max = FAB_GEN_PORTS_MAX,
		   .fallback = 1, .help = "hosts a switch"},
};

/* Does the line of `size` switches have a cable from its last switch to its first? */
static bool wraps(bool is_torus, uint32_t size)
{
	return is_torus && size > 2;
}

static int check_size(const struct fab_gen_net *net, const uint32_t *dims, uint32_t n,
		      uint32_t hosts, bool is_torus, struct fab_err *err)
{
	struct fab_gen_size size = {.switches = 1};
	uint64_t cables = 0;

	for (uint32_t d = 0; d < n; d++)
		size.switches = fab_gen_mul(size.switches, dims[d]);
	for (uint32_t d = 0; d < n; d++) {
		uint64_t lines = size.switches / dims[d];

		cables = fab_gen_add(cables, fab_gen_mul(lines, wraps(is_torus, dims[d])
									? dims[d]
									: dims[d] - 1));
	}
	size.adapters = fab_gen_mul(size.switches, hosts);
	size.cables = fab_gen_add(cables, size.adapters);
	size.ports = hosts + 2 * (uint64_t)n;
	return fab_gen_check_size(net, &size, err);
}

static int build(struct fab_gen_net *net, const struct fab_gen_value *values,
		 bool is_torus, struct fab_err *err)
{
	const uint32_t *dims = values[DIMS].list.v;
	uint32_t n = values[DIMS].list.n, hosts = (uint32_t)values[HOSTS].number;
	uint32_t v[FAB_GEN_LIST_MAX], n_switches = 1, stride = 1;
	char text[FAB_GEN_NAME_MAX];
	int rc = check_size(net, dims, n, hosts, is_torus, err);

	if (rc)
		return rc;
	for (uint32_t d = 0; d < n; d++)
		n_switches *= dims[d];
	for (uint32_t i = 0; i < n_switches; i++) {
		fab_gen_coords(i, dims, n, v);
		fab_gen_switch(net, hosts + 2 * n, "sw-%s",
			       fab_gen_coords_text(v, n, FAB_NONE, text));
	}
	for (uint32_t i = 0; i < n_switches; i++)
		fab_gen_hosts(net, i, hosts);
	for (uint32_t d = n; d-- > 0; stride *= dims[d])
		for (uint32_t i = 0; i < n_switches; i++) {
			uint32_t at = i / stride % dims[d], next = i + stride;

			if (at + 1 == dims[d]) {
				if (!wraps(is_torus, dims[d]))
					continue;
				next = i - at * stride;
			}
			fab_gen_cable(net, i, hosts + 2 * d + 1, next, hosts + 2 * d + 2);
		}
	return 0;
}

static int build_torus(struct fab_gen_net *net, const struct fab_gen_value *values,
		       struct fab_err *err)
{
	return build(net, values, true, err);
}

static int build_mesh(struct fab_gen_net *net, const struct fab_gen_value *values,
		      struct fab_err *err)
{
	return build(net, values, false, err);
}

const struct fab_gen_family fab_gen_torus = {"torus", keys, FAB_COUNT(keys), build_torus};
const struct fab_gen_family fab_gen_mesh = {"mesh", keys, FAB_COUNT(keys), build_mesh};
