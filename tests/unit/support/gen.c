/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/map.h"
#include "fabric/builder.h"
#include "fabric/edit.h"
#include "source/reader.h"
#include "source/source.h"
#include "support/node.h"
#include "support/test.h"

struct fab_fabric *test_gen_raw(const char *spec)
{
	struct fab_fabric *f = NULL;
	struct fab_err err;
	FAB_AUTOFREE char *text = fab_format("gen:%s", spec);

	cr_assert_eq(fab_source_open(text, NULL, &f, &err), 0, "%s: %s", spec, err.text);
	return f;
}

static void check_nodes(const struct fab_fabric *f, const char *spec)
{
	FAB_AUTO(fab_map64_free_at) struct fab_map64 *guids = fab_map64_new(f->n_nodes);
	FAB_AUTO(fab_strmap_free_at)
	struct fab_strmap *names = fab_strmap_new(f->n_nodes);

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		const char *name = fab_node_name(f, i);

		cr_assert_eq(fab_map64_put(guids, f->node_guid[i], i), i, "%s: GUID",
			     spec);
		cr_assert_eq(fab_strmap_put(names, name, strlen(name), i), i, "%s: %s",
			     spec, name);
		cr_assert_lt(strlen(name), 64u);
	}
}

static void check_ports(const struct fab_fabric *f, const char *spec)
{
	for (uint32_t p = 0; p < f->n_ports; p++) {
		uint32_t node = f->port_node[p];
		bool has_lid = (node < f->n_switches) == (f->port_num[p] == 0);

		cr_assert_leq(f->port_num[p], f->node_n_ports[node], "%s", spec);
		cr_assert_eq(f->port_lid[p], has_lid ? node + 1 : 0, "%s: LID", spec);
		cr_assert_eq(f->port_guid[p] != 0, has_lid, "%s: port GUID", spec);
		cr_assert(f->port_num[p] == 0 || f->port_cable[p] != FAB_NONE);
	}
}

static void check_hosts(const struct fab_fabric *f, const char *spec)
{
	uint32_t last = 0;
	char name[16];

	for (uint32_t h = 0; h < f->n_hosts; h++) {
		uint32_t node = f->host_adapter[f->host_first_adapter[h]];
		uint32_t sw = fab_port_switch(f, fab_node_first_connected_port(f, node));

		snprintf(name, sizeof(name), "h%u", h);
		cr_assert_str_eq(fab_host_name(f, h), name, "%s", spec);
		cr_assert_geq(sw, last, "%s: hosts leaf by leaf", spec);
		last = sw;
	}
}

struct fab_fabric *test_gen(const char *spec)
{
	struct fab_fabric *f = test_gen_raw(spec);
	FAB_AUTOFREE uint32_t *component = FAB_NEW(f->n_nodes, uint32_t);

	cr_assert_eq(f->n_warnings, 0, "%s: %s", spec,
		     f->n_warnings ? f->warnings[0].message : "");
	cr_assert_eq(fab_fabric_components(f, component), 1, "%s", spec);
	check_nodes(f, spec);
	check_ports(f, spec);
	check_hosts(f, spec);
	return f;
}

uint32_t test_switch(const struct fab_fabric *f, const char *name)
{
	uint32_t sw = 0;

	while (sw < f->n_switches && strcmp(fab_node_name(f, sw), name))
		sw++;
	cr_assert_lt(sw, f->n_switches, "no switch %s", name);
	return sw;
}

void test_counts(const struct fab_fabric *f, uint32_t switches, uint32_t hosts,
		 uint32_t switch_links)
{
	cr_assert_eq(f->n_switches, switches, "%s: %u", f->source, f->n_switches);
	cr_assert_eq(f->n_hosts, hosts, "%s: %u", f->source, f->n_hosts);
	cr_assert_eq(f->n_switch_links, switch_links, "%s: %u", f->source,
		     f->n_switch_links);
}

uint64_t *test_paths(const struct fab_fabric *f, uint32_t from)
{
	FAB_AUTOFREE uint32_t *hops = FAB_NEW(f->n_switches, uint32_t);
	uint32_t head = 0, tail = 0;
	FAB_AUTOFREE uint32_t *queue = FAB_NEW(f->n_switches, uint32_t);
	uint64_t *paths = FAB_NEW0(f->n_switches, uint64_t);

	memset(hops, 0xff, f->n_switches * sizeof(*hops));
	hops[from] = 0;
	paths[from] = 1;
	queue[tail++] = from;
	while (head < tail) {
		uint32_t u = queue[head++];

		for (uint32_t a = f->arc_first[u]; a < f->arc_first[u + 1]; a++) {
			uint32_t v = f->arc_peer[a];

			if (hops[v] == UINT32_MAX) {
				hops[v] = hops[u] + 1;
				queue[tail++] = v;
			}
			if (hops[v] == hops[u] + 1)
				paths[v] += paths[u];
		}
	}
	return paths;
}

struct fab_dist *test_dist(const struct fab_fabric *f)
{
	struct fab_dist *dist = NULL;

	MUST(fab_dist_new(f, 1, &dist, ERR));
	return dist;
}

uint32_t test_n_hosts_on(const struct fab_fabric *f, uint32_t sw)
{
	uint32_t n = 0;

	for (uint32_t p = f->node_first_port[sw]; p < f->node_first_port[sw + 1]; p++)
		n += f->port_cable[p] != FAB_NONE &&
		     f->port_cable[p] >= f->n_switch_links;
	return n;
}

/* flow[p] is the flow out of port p, -1 .. 1; the other end has its opposite. */
static bool augment(const struct fab_fabric *f, int8_t *flow, uint32_t *via,
		    uint32_t *queue)
{
	uint32_t head = 0, tail = 0, half = f->n_switches + f->n_adapters / 2;

	memset(via, 0xff, f->n_nodes * sizeof(*via));
	for (uint32_t h = f->n_switches; h < half; h++)
		if (flow[f->node_first_port[h]] == 0)
			queue[tail++] = h;
	while (head < tail) {
		uint32_t u = queue[head++];

		for (uint32_t p = f->node_first_port[u]; p < f->node_first_port[u + 1];
		     p++) {
			uint32_t q = fab_port_peer(f, p), v;

			if (q == FAB_NONE || flow[p] == 1)
				continue;
			v = f->port_node[q];
			if (via[v] != FAB_NONE || (v >= f->n_switches && v < half))
				continue;
			via[v] = p;
			if (v < half) {
				queue[tail++] = v;
				continue;
			}
			for (; via[v] != FAB_NONE; v = f->port_node[via[v]]) {
				flow[via[v]]++;
				flow[fab_port_peer(f, via[v])]--;
			}
			return true;
		}
	}
	return false;
}

uint32_t test_half_flow(const struct fab_fabric *f)
{
	FAB_AUTOFREE int8_t *flow = FAB_NEW0(f->n_ports, int8_t);
	FAB_AUTOFREE uint32_t *via = FAB_NEW(f->n_nodes, uint32_t);
	uint32_t n = 0;
	FAB_AUTOFREE uint32_t *queue = FAB_NEW(f->n_nodes, uint32_t);

	while (augment(f, flow, via, queue))
		n++;
	return n;
}

struct change {
	uint32_t without;      /* cable that is left out, FAB_NONE */
	uint32_t a, b;	       /* switches that get one more cable, FAB_NONE */
	const uint32_t *hosts; /* switches that get one more adapter each */
	uint32_t n_hosts;
};

static const struct change no_change = {FAB_NONE, FAB_NONE, FAB_NONE, NULL, 0};

static void add_extras(struct fab_builder *b, const struct fab_fabric *f,
		       const uint32_t *id, const struct change *change)
{
	if (change->a != FAB_NONE)
		fab_builder_add_cable(b, id[change->a], f->node_n_ports[change->a] + 1,
				      id[change->b], f->node_n_ports[change->b] + 2, 4,
				      FAB_HDR);
	for (uint32_t i = 0; i < change->n_hosts; i++) {
		uint32_t sw = change->hosts[i];

		fab_builder_add_cable(b, id[sw], f->node_n_ports[sw] + 3,
				      test_node(b, FAB_ADAPTER, 1u << 30 | i, 1, "extra"),
				      1, 4, FAB_HDR);
	}
}

/* Build `f` again, its nodes in the given order (NULL: the old one, and old names). */
static struct fab_fabric *rebuild(const struct fab_fabric *f, const uint32_t *order,
				  const struct change *change)
{
	struct fab_builder *b = fab_builder_new();
	FAB_AUTOFREE uint32_t *id = FAB_NEW(f->n_nodes, uint32_t);
	struct fab_fabric *out = NULL;

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		uint32_t node = order ? order[i] : i;

		id[node] = test_node(b, (enum fab_node_kind)f->node_kind[node], i + 1,
				     f->node_n_ports[node] + 3u,
				     order ? "n" : fab_node_name(f, node));
	}
	for (uint32_t c = 0; c < f->n_cables; c++) {
		uint32_t p = f->cable_a[c], q = f->cable_b[c];

		if (c != change->without)
			fab_builder_add_cable(b, id[f->port_node[p]], f->port_num[p],
					      id[f->port_node[q]], f->port_num[q], 4,
					      FAB_HDR);
	}
	add_extras(b, f, id, change);
	MUST(fab_builder_finish(b, "test", "generated", &(struct fab_host_options){0},
				&out, ERR));
	return out;
}

uint32_t *test_order(size_t n, struct fab_rng *rng)
{
	uint32_t *order = FAB_NEW(n, uint32_t);

	for (size_t i = 0; i < n; i++) {
		size_t j = rng ? fab_rng_below(rng, i + 1) : i;

		order[i] = order[j];
		order[j] = (uint32_t)i;
	}
	return order;
}

struct fab_fabric *test_shuffled(const struct fab_fabric *f, uint64_t seed)
{
	struct fab_rng rng = test_rng(seed);
	FAB_AUTOFREE uint32_t *order = test_order(f->n_nodes, &rng);

	return rebuild(f, order, &no_change);
}

struct fab_fabric *test_without_cable(const struct fab_fabric *f, uint32_t cable)
{
	struct change change = no_change;

	change.without = cable;
	return rebuild(f, NULL, &change);
}

struct fab_fabric *test_with_cable(const struct fab_fabric *f, uint32_t a, uint32_t b)
{
	struct change change = no_change;

	change.a = a;
	change.b = b;
	return rebuild(f, NULL, &change);
}

struct fab_fabric *test_with_hosts(const struct fab_fabric *f, const uint32_t *switches,
				   uint32_t n)
{
	struct change change = no_change;

	change.hosts = switches;
	change.n_hosts = n;
	return rebuild(f, NULL, &change);
}

struct fab_fabric *test_without(const struct fab_fabric *f, uint32_t one_of,
				struct fab_rng *rng)
{
	struct fab_builder *b = fab_builder_new();
	FAB_AUTOFREE uint32_t *id = FAB_NEW(f->n_nodes, uint32_t);
	const struct fab_host_options hosts = {0};
	struct fab_fabric *out;

	for (uint32_t n = 0; n < f->n_nodes; n++)
		id[n] = fab_builder_copy_node(b, f, n);
	for (uint32_t c = 0; c < f->n_cables; c++)
		if (c >= f->n_switch_links || !one_of || fab_rng_below(rng, one_of))
			fab_builder_copy_cable(b, f, c, id);
	MUST(fab_builder_finish(b, "less", "test", &hosts, &out, ERR));
	return out;
}

struct fab_fabric *test_edited(const struct fab_fabric *f, const char *edits)
{
	OWN(fab_editor) *e = fab_editor_new(f);
	struct fab_fabric *out = NULL;

	cr_assert_eq(fab_editor_add(e, edits, strlen(edits), ERR), 0, "%s\n%s",
		     test_err.text, edits);
	MUST(fab_editor_finish(e, NULL, &out, ERR));
	return out;
}
