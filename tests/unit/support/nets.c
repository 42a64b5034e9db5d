/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/node.h"
#include "support/test.h"

struct net {
	struct fab_builder *b;
	uint16_t *used; /* ports of each node */
};

static uint32_t add(struct net *net, enum fab_node_kind kind, uint64_t guid,
		    const char *name, uint32_t id)
{
	char text[32];

	snprintf(text, sizeof(text), "%s%u", name, id);
	return test_node(net->b, kind, guid, kind == FAB_SWITCH ? 1000 : 1, text);
}

static void join(struct net *net, uint32_t a, uint32_t b)
{
	fab_builder_add_cable(net->b, a, ++net->used[a], b, ++net->used[b], 4, FAB_HDR);
}

/* And end. */
static struct fab_fabric *add_hosts(struct net *net, uint32_t n_switches,
				    uint32_t per_switch)
{
	struct fab_fabric *f = NULL;

	for (uint32_t i = 0; i < n_switches * per_switch; i++) {
		uint32_t host = add(net, FAB_ADAPTER, 0x20000 + i, "h", i);

		fab_builder_set_port(net->b, host, 1, 0x30000 + i, (uint16_t)(i + 1), 0);
		join(net, i / per_switch, host);
	}
	MUST(fab_builder_finish(net->b, "test", "generated", NULL, &f, ERR));
	free(net->used);
	return f;
}

struct fab_fabric *test_random_fabric(uint32_t n_switches, uint32_t extra,
				      uint32_t hosts_per_switch, uint64_t seed)
{
	uint32_t n = n_switches * (1 + hosts_per_switch);
	struct net net = {fab_builder_new(), FAB_NEW0(n, uint16_t)};
	struct fab_rng rng = test_rng(seed);

	for (uint32_t i = 0; i < n_switches; i++)
		add(&net, FAB_SWITCH, 0x10000 + i, "s", i);
	for (uint32_t i = 1; i < n_switches; i++)
		join(&net, i, test_below(&rng, i));
	for (uint32_t i = 0; i < extra; i++) {
		uint32_t a = test_below(&rng, n_switches);
		uint32_t b = test_below(&rng, n_switches);

		if (a != b)
			join(&net, a, b);
	}
	return add_hosts(&net, n_switches, hosts_per_switch);
}

struct fab_fabric *test_ring(uint32_t n)
{
	struct net net = {fab_builder_new(), FAB_NEW0((size_t)2 * n, uint16_t)};

	for (uint32_t i = 0; i < n; i++)
		add(&net, FAB_SWITCH, 0x10000 + i, "s", i);
	for (uint32_t i = 0; i < n; i++)
		join(&net, i, (i + 1) % n);
	return add_hosts(&net, n, 1);
}
