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
		const size_t n = strlen(name);

		cr_assert(n < 64 && fab_strmap_put(names, name, n, i) == i, "%s: %s",
			  spec, name);
		cr_assert_eq(fab_map64_put(guids, f->node_guid[i], i), i, "%s: GUID",
			     spec);
		FAB_EACH_PORT(f, i, p) {
			bool has_lid = (i < f->n_switches) == (f->port_num[p] == 0);

			cr_assert_leq(f->port_num[p], f->node_n_ports[i], "%s", spec);
			cr_assert_eq(f->port_lid[p], has_lid ? i + 1 : 0, "%s: LID",
				     spec);
			cr_assert_eq(f->port_guid[p] != 0, has_lid, "%s: GUID", spec);
			cr_assert(f->port_num[p] == 0 || f->port_cable[p] != FAB_NONE);
		}
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
	cr_assert(f->n_switches == switches && f->n_hosts == hosts &&
			  f->n_switch_links == switch_links,
		  "%s: %u switches, %u hosts, %u cables", f->source, f->n_switches,
		  f->n_hosts, f->n_switch_links);
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

/* The fabric again but for a cable, its nodes in the given order and of one name, or
 * (NULL) as they are; a switch has three ports more. */
static struct fab_builder *copy(const struct fab_fabric *f, const uint32_t *order,
				uint32_t without)
{
	struct fab_builder *b = fab_builder_new();
	OWN_HEAP uint32_t *id = FAB_NEW(f->n_nodes, uint32_t);

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		uint32_t node = order ? order[i] : i;

		id[node] = test_node(b, (enum fab_node_kind)f->node_kind[node], i + 1,
				     f->node_n_ports[node] + 3u,
				     order ? "n" : fab_node_name(f, node));
	}
	for (uint32_t c = 0; c < f->n_cables; c++) {
		uint32_t p = f->cable_a[c], q = f->cable_b[c];

		if (c != without)
			fab_builder_add_cable(b, id[f->port_node[p]], f->port_num[p],
					      id[f->port_node[q]], f->port_num[q], 4,
					      FAB_HDR);
	}
	return b;
}

static struct fab_fabric *finish(struct fab_builder *b)
{
	struct fab_fabric *f = NULL;

	MUST(fab_builder_finish(b, "test", "generated", NULL, &f, ERR));
	return f;
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
	OWN_HEAP uint32_t *order = test_order(f->n_nodes, &rng);

	return finish(copy(f, order, FAB_NONE));
}

struct fab_fabric *test_without_cable(const struct fab_fabric *f, uint32_t cable)
{
	return finish(copy(f, NULL, cable));
}

struct fab_fabric *test_with_cable(const struct fab_fabric *f, uint32_t x, uint32_t y)
{
	struct fab_builder *b = copy(f, NULL, FAB_NONE);

	fab_builder_add_cable(b, x, f->node_n_ports[x] + 1, y, f->node_n_ports[y] + 2, 4,
			      FAB_HDR);
	return finish(b);
}

struct fab_fabric *test_with_hosts(const struct fab_fabric *f, const uint32_t *switches,
				   uint32_t n)
{
	struct fab_builder *b = copy(f, NULL, FAB_NONE);

	for (uint32_t i = 0; i < n; i++)
		fab_builder_add_cable(b, switches[i], f->node_n_ports[switches[i]] + 3,
				      test_node(b, FAB_ADAPTER, 1u << 30 | i, 1, "extra"),
				      1, 4, FAB_HDR);
	return finish(b);
}

struct fab_fabric *test_without(const struct fab_fabric *f, uint32_t one_of,
				struct fab_rng *rng)
{
	struct fab_builder *b = fab_builder_new();
	OWN_HEAP uint32_t *id = FAB_NEW(f->n_nodes, uint32_t);

	for (uint32_t n = 0; n < f->n_nodes; n++)
		id[n] = fab_builder_copy_node(b, f, n);
	for (uint32_t c = 0; c < f->n_cables; c++)
		if (c >= f->n_switch_links || !one_of || fab_rng_below(rng, one_of))
			fab_builder_copy_cable(b, f, c, id);
	return finish(b);
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

void test_same_fabric(const struct fab_fabric *f, const struct fab_fabric *g)
{
	cr_expect_eq(fab_fabric_fingerprint(g), fab_fabric_fingerprint(f), "%s",
		     f->source);
	cr_expect_eq(g->n_hosts, f->n_hosts, "%s", f->source);
	cr_expect_eq(g->n_aggregation_nodes, f->n_aggregation_nodes, "%s", f->source);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		uint32_t was = 0;

		while (was < f->n_nodes && f->node_guid[was] != g->node_guid[i])
			was++;
		cr_assert_lt(was, f->n_nodes, "%s", f->source);
		cr_expect_str_eq(fab_node_name(g, i), fab_node_name(f, was));
		cr_expect_eq(g->node_kind[i], f->node_kind[was]);
		cr_expect_eq(g->node_sys_guid[i], f->node_sys_guid[was]);
		cr_expect_eq(g->node_vendor[i], f->node_vendor[was]);
		cr_expect_eq(g->node_device[i], f->node_device[was]);
		FAB_EACH_PORT(g, i, p) {
			uint32_t q = fab_port_find(f, was, g->port_num[p]);

			cr_assert_neq(q, FAB_NONE);
			cr_expect_eq(g->port_lid[p], f->port_lid[q]);
			cr_expect_eq(g->port_guid[p], f->port_guid[q]);
			cr_expect_eq(g->port_width[p], f->port_width[q]);
			cr_expect_eq(g->port_speed[p], f->port_speed[q]);
		}
	}
}
