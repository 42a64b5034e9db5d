/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/gen/tree.h"

#include <inttypes.h>

/* Ports down and up of a switch of level `l` (1 .. h). */
static uint64_t ports_down(const struct fab_gen_tree *t, uint32_t l)
{
	return fab_gen_mul(t->m[l - 1], t->p[l - 1]);
}

static uint64_t ports_up(const struct fab_gen_tree *t, uint32_t l)
{
	return l < t->h ? fab_gen_mul(t->w[l], t->p[l]) : 0;
}

/* Nodes of level `l`: subtrees above it times copies below. */
static uint64_t level_size(const struct fab_gen_tree *t, uint32_t l)
{
	uint64_t n = 1;

	for (uint32_t i = 0; i < l; i++)
		n = fab_gen_mul(n, t->w[i]);
	for (uint32_t i = l; i < t->h; i++)
		n = fab_gen_mul(n, t->m[i]);
	return n;
}

static int check_size(const struct fab_gen_net *net, const struct fab_gen_tree *t,
		      struct fab_err *err)
{
	struct fab_gen_size size = {0};

	for (uint32_t l = 1; l <= t->h; l++) {
		uint64_t n = level_size(t, l);
		uint64_t ports = fab_gen_add(ports_down(t, l), ports_up(t, l));

		size.switches = fab_gen_add(size.switches, n);
		size.cables = fab_gen_add(size.cables, fab_gen_mul(n, ports_down(t, l)));
		if (ports > size.ports)
			size.ports = ports;
		if (l == 1)
			size.adapters = size.cables;
	}
	if (t->radix > size.ports)
		size.ports = t->radix;
	return fab_gen_check_size(net, &size, err);
}

static void add_switches(struct fab_gen_net *net, const struct fab_gen_tree *t,
			 uint32_t *first)
{
	for (uint32_t l = 1; l <= t->h; l++) {
		uint32_t n = (uint32_t)level_size(t, l);
		uint32_t ports = (uint32_t)(ports_down(t, l) + ports_up(t, l));

		if (ports < t->radix)
			ports = t->radix;
		first[l] = net->n_switches;
		for (uint32_t i = 0; i < n; i++) {
			if (l == 1)
				fab_gen_switch(net, ports, "leaf-%" PRIu32, i);
			else
				fab_gen_switch(net, ports, "l%" PRIu32 "-%" PRIu32, l, i);
		}
	}
}

/* Every host has w[0] leaves, which follow each other, and p[0] cables to each. */
static void add_hosts(struct fab_gen_net *net, const struct fab_gen_tree *t)
{
	uint32_t n = (uint32_t)level_size(t, 0);

	for (uint32_t i = 0; i < n; i++) {
		fab_gen_host(net);
		for (uint32_t b = 0; b < t->w[0]; b++)
			for (uint32_t k = 0; k < t->p[0]; k++)
				fab_gen_adapter(net, i / t->m[0] * t->w[0] + b,
						i % t->m[0] * t->p[0] + k + 1);
	}
}

/* Cables between the levels `l` and `l + 1`. `copies` is w[0] * ... * w[l-1]. */
static void add_level(struct fab_gen_net *net, const struct fab_gen_tree *t, uint32_t l,
		      const uint32_t *first, uint32_t copies)
{
	uint32_t n = (uint32_t)level_size(t, l);
	uint32_t m = t->m[l], w = t->w[l], p = t->p[l];
	uint32_t down = (uint32_t)ports_down(t, l);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t copy = i % copies, a = i / copies % m;
		uint32_t parent = (i / copies / m * copies + copy) * w;

		for (uint32_t b = 0; b < w; b++)
			for (uint32_t k = 0; k < p; k++)
				fab_gen_cable(net, first[l] + i, down + b * p + k + 1,
					      first[l + 1] + parent + b, a * p + k + 1);
	}
}

int fab_gen_build_tree(struct fab_gen_net *net, const struct fab_gen_tree *tree,
		       struct fab_err *err)
{
	uint32_t first[FAB_GEN_LIST_MAX + 1], copies = 1;
	int rc = check_size(net, tree, err);

	if (rc)
		return rc;
	add_switches(net, tree, first);
	add_hosts(net, tree);
	for (uint32_t l = 1; l < tree->h; l++) {
		copies *= tree->w[l - 1];
		add_level(net, tree, l, first, copies);
	}
	return 0;
}
