/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/builder.h"
#include "support/test.h"

#include <stdarg.h>

static uint32_t add_node(struct plan *plan, enum fab_node_kind kind, const char *name,
			 uint16_t n_ports)
{
	uint32_t id = (uint32_t)plan->nodes.n;
	struct plan_node node = {.kind = kind, .n_ports = n_ports};
	unsigned port = kind == FAB_SWITCH ? 0 : 1;

	node.guid = node.sys_guid = 0x100000 + (uint64_t)id * 0x100;
	node.port_guid[port] = node.guid + port;
	node.lid[port] = (uint16_t)(id + 1);
	snprintf(node.name, sizeof(node.name), "%s", name);
	FAB_PUSH(&plan->nodes, node);
	return id;
}

uint32_t plan_switch(struct plan *plan, const char *name, uint16_t n_ports)
{
	return add_node(plan, FAB_SWITCH, name, n_ports);
}

uint32_t plan_adapter(struct plan *plan, const char *name)
{
	bool is_sharp = strstr(name, "Aggregation Node");

	return add_node(plan, is_sharp ? FAB_AGGREGATION : FAB_ADAPTER, name, 1);
}

uint32_t plan_cable(struct plan *plan, uint32_t node_a, uint16_t port_a, uint32_t node_b,
		    uint16_t port_b)
{
	struct plan_cable cable = {.a = {node_a, port_a, 4, FAB_HDR},
				   .b = {node_b, port_b, 4, FAB_HDR}};

	FAB_PUSH(&plan->cables, cable);
	return (uint32_t)(plan->cables.n - 1);
}

uint32_t plan_switches(struct plan *plan, uint32_t n, const char *prefix,
		       uint16_t n_ports)
{
	uint32_t first = (uint32_t)plan->nodes.n;

	for (uint32_t i = 1; i <= n; i++) {
		OWN_HEAP char *name = fab_format("%s%u", prefix, i);

		plan_switch(plan, name, n_ports);
	}
	return first;
}

static uint16_t free_port(const struct plan *plan, uint32_t node)
{
	uint16_t port = 1;

	for (size_t i = 0; i < plan->cables.n; i++) {
		const struct plan_cable *c = &plan->cables.v[i];

		if ((c->a.node == node && c->a.port == port) ||
		    (c->b.node == node && c->b.port == port)) {
			port++;
			i = (size_t)-1; /* from the first cable again */
		}
	}
	return port;
}

uint32_t plan_join(struct plan *plan, uint32_t a, uint32_t b)
{
	return plan_cable(plan, a, free_port(plan, a), b, free_port(plan, b));
}

uint32_t plan_host(struct plan *plan, uint32_t sw, const char *format, ...)
{
	char name[64];
	uint32_t adapter;
	va_list args;

	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	adapter = plan_adapter(plan, name);
	plan_join(plan, sw, adapter);
	return adapter;
}

struct plan plan_tree(uint32_t leaves, uint32_t spines, uint32_t hosts)
{
	struct plan plan = {0};

	plan_switches(&plan, leaves, "leaf", (uint16_t)(hosts + spines));
	plan_switches(&plan, spines, "spine", (uint16_t)leaves);
	for (uint32_t i = 0; i < spines; i++)
		for (uint32_t l = 0; l < leaves; l++)
			plan_cable(&plan, l, (uint16_t)(hosts + i + 1), leaves + i,
				   (uint16_t)(l + 1));
	for (uint32_t i = 0; i < leaves * hosts; i++) {
		OWN_HEAP char *name = fab_format("node%03u HCA-1", i + 1);

		plan_cable(&plan, i / hosts, (uint16_t)(i % hosts + 1),
			   plan_adapter(&plan, name), 1);
	}
	return plan;
}

static struct plan_end end_of(const struct fab_fabric *f, uint32_t port)
{
	return (struct plan_end){f->port_node[port], f->port_num[port],
				 f->port_width[port], f->port_speed[port]};
}

struct plan plan_from_fabric(const struct fab_fabric *f)
{
	struct plan plan = {0};

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		struct plan_node node = {.kind = f->node_kind[i],
					 .guid = f->node_guid[i],
					 .sys_guid = f->node_sys_guid[i],
					 .n_ports = f->node_n_ports[i]};

		snprintf(node.name, sizeof(node.name), "%s", fab_node_name(f, i));
		for (uint32_t p = f->node_first_port[i]; p < f->node_first_port[i + 1];
		     p++) {
			if (f->port_num[p] > 2)
				continue;
			node.lid[f->port_num[p]] = f->port_lid[p];
			node.port_guid[f->port_num[p]] = f->port_guid[p];
		}
		FAB_PUSH(&plan.nodes, node);
	}
	for (uint32_t c = 0; c < f->n_cables; c++) {
		struct plan_cable cable = {.a = end_of(f, f->cable_a[c]),
					   .b = end_of(f, f->cable_b[c])};

		FAB_PUSH(&plan.cables, cable);
	}
	return plan;
}

struct plan plan_copy(const struct plan *plan)
{
	struct plan copy = {0};

	for (size_t i = 0; i < plan->nodes.n; i++)
		FAB_PUSH(&copy.nodes, plan->nodes.v[i]);
	for (size_t i = 0; i < plan->cables.n; i++)
		FAB_PUSH(&copy.cables, plan->cables.v[i]);
	return copy;
}

static uint32_t build_node(struct fab_builder *b, const struct plan_node *n)
{
	struct fab_node_spec spec = {.kind = n->kind,
				     .guid = n->guid,
				     .sys_guid = n->sys_guid,
				     .n_ports = n->n_ports,
				     .name = n->name,
				     .name_len = strlen(n->name)};
	uint32_t id = fab_builder_add_node(b, &spec);

	for (uint16_t p = 0; p < 3; p++)
		if (n->port_guid[p] || n->lid[p])
			fab_builder_set_port(b, id, p, n->port_guid[p], n->lid[p],
					     n->lmc);
	return id;
}

static void build_end(struct fab_builder *b, const uint32_t *id, struct plan_end from,
		      struct plan_end to)
{
	fab_builder_add_end(b, &(struct fab_end){.node = id[from.node],
						 .peer = id[to.node],
						 .port = from.port,
						 .peer_port = to.port,
						 .width = from.width,
						 .speed = from.speed});
}

struct fab_fabric *plan_build(const struct plan *plan, uint64_t seed)
{
	struct fab_builder *b = fab_builder_new();
	struct fab_fabric *f = NULL;
	FAB_AUTOFREE uint32_t *id = FAB_NEW(plan->nodes.n, uint32_t);
	struct fab_rng rng = test_rng(seed);
	FAB_AUTOFREE uint32_t *nodes = test_order(plan->nodes.n, seed ? &rng : NULL);
	FAB_AUTOFREE uint32_t *cables = test_order(plan->cables.n, seed ? &rng : NULL);

	for (size_t i = 0; i < plan->nodes.n; i++)
		if (!plan->nodes.v[nodes[i]].is_gone)
			id[nodes[i]] = build_node(b, &plan->nodes.v[nodes[i]]);
	for (size_t i = 0; i < plan->cables.n; i++) {
		const struct plan_cable *c = &plan->cables.v[cables[i]];

		if (c->is_gone || plan->nodes.v[c->a.node].is_gone ||
		    plan->nodes.v[c->b.node].is_gone)
			continue;
		build_end(b, id, c->a, c->b);
		build_end(b, id, c->b, c->a);
	}
	MUST(fab_builder_finish(b, "plan", "plan", NULL, &f, ERR));
	return f;
}

struct fab_fabric *plan_end(struct plan *plan)
{
	struct fab_fabric *f = plan_build(plan, 0);

	plan_free(plan);
	return f;
}

void plan_free(struct plan *plan)
{
	free(plan->nodes.v);
	free(plan->cables.v);
}
