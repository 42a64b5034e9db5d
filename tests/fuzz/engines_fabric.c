/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fabric of an input. Its first byte says of which kind it is:
 *   below 64   made from nothing: switches, adapters of one or two cables, cables
 *   below 128  a generated one, with cables taken away and added
 *   else       a text in any format that is read
 * What is made goes through a dump and its reader, too.
 */
#include "base/mem.h"
#include "engines.h"
#include "export/fabrics.h"
#include "fabric/builder.h"
#include "source/source.h"

enum { MADE_SWITCHES_MAX = 14, MADE_ADAPTERS_MAX = 20, PORTS = 64, TWO_PORTS = 2 };
enum { NODES_MAX = 160, CABLES_MAX = 400 };

static const char *const specs[] = {
	"gen:kfat:dims=3x3,hosts=1",
	"gen:kfat:dims=4x2,hosts=2",
	"gen:kfat:dims=2x2x2,hosts=1",
	"gen:kfat:dims=2x2,hosts=1,levels=2,radix=4",
	"gen:fattree:radix=4,levels=3",
	"gen:fattree:radix=4,levels=2",
	"gen:pgft:h=2,m=3/3,w=1/2,p=1/2",
	"gen:torus:dims=4x3,hosts=1",
	"gen:mesh:dims=5x2,hosts=1",
	"gen:hyperx:dims=4x3,hosts=1",
	"gen:dragonfly:a=3,p=1,h=1",
	"gen:random:switches=12,degree=3,hosts=1,seed=1",
	"gen:torus:dims=2x2x2,hosts=2",
	"gen:fattree:radix=6,levels=1",
	"gen:kfat:dims=3x2,hosts=3,planes=2",
	"gen:kfat:dims=2x2x2,hosts=2,planes=3",
};

struct maker {
	struct fab_builder *b;
	uint32_t n_switches;
	uint16_t used[256]; /* ports of a switch */
};

static void cable_switches(struct maker *m, uint32_t u, uint32_t v, uint32_t speed)
{
	uint16_t from, to;

	if (m->used[u] + TWO_PORTS >= PORTS || m->used[v] + TWO_PORTS >= PORTS)
		return;
	from = ++m->used[u];
	to = ++m->used[v];
	fab_builder_add_cable(m->b, u, from, v, to, 4, (uint8_t)speed);
}

static uint32_t add(struct maker *m, enum fab_node_kind kind, uint32_t i,
		    const char *before, const char *after)
{
	char name[64];
	struct fab_node_spec spec = {.kind = kind,
				     .guid = 0x1000 + 16 * (uint64_t)i,
				     .n_ports = kind == FAB_SWITCH ? PORTS : TWO_PORTS,
				     .name = name};

	spec.name_len = (size_t)snprintf(name, sizeof(name), "%s%u%s", before, i, after);
	return fab_builder_add_node(m->b, &spec);
}

/* An adapter with a cable to one switch, or to two. */
static void add_adapter(struct maker *m, struct fuzz_input *r, uint32_t i, bool has_lids)
{
	static const char *const names[][2] = {
		{"n", " HCA-1"},
		{"h", " mlx5_0"},
		{"ib ", ""},
		{"Mellanox Technologies Aggregation Node", ""}};
	uint32_t first = fuzz_next(r), second = fuzz_next(r);
	bool is_aggregation = first >= 240;
	uint32_t name = is_aggregation ? 3 : second % 3;
	uint32_t node = add(m, is_aggregation ? FAB_AGGREGATION : FAB_ADAPTER, 256 + i,
			    names[name][0], names[name][1]);

	for (uint16_t port = 1; port <= TWO_PORTS; port++) {
		uint32_t sw = (port == 1 ? first : second) % m->n_switches;

		if (port == TWO_PORTS && second < 160)
			break;
		if (m->used[sw] + 1 >= PORTS)
			continue;
		fab_builder_set_port(m->b, node, port, 0x1000 + 16 * (256ull + i) + port,
				     has_lids ? (uint16_t)(100 + 2 * i + port) : 0, 0);
		fab_builder_add_cable(m->b, node, port, sw, ++m->used[sw], 4,
				      second % 8 == 1 ? FAB_EDR : FAB_HDR);
	}
}

/* From nothing. The second byte: are there LIDs, for all or most. */
static void make(struct maker *m, struct fuzz_input *r)
{
	uint32_t lids = fuzz_next(r), n_adapters;

	m->n_switches = 1 + fuzz_next(r) % MADE_SWITCHES_MAX;
	n_adapters = fuzz_next(r) % (MADE_ADAPTERS_MAX + 1);
	for (uint32_t s = 0; s < m->n_switches; s++) {
		add(m, FAB_SWITCH, s, lids & 64 ? "MF0;leaf" : "s",
		    lids & 64 ? ":MQM8700/U1" : "");
		if (lids % 4)
			fab_builder_set_port(m->b, s, 0, 0x1000 + 16ull * s,
					     (uint16_t)(s + 1), 0);
	}
	for (uint32_t i = 0; i < n_adapters; i++)
		add_adapter(m, r, i, lids % 4 > 1 || (lids % 4 && i % 5));
}

/* A generated one, node by node, without the cables that bytes name. */
static void copy(struct maker *m, struct fuzz_input *r, const struct fab_fabric *f)
{
	uint32_t n_lost = fuzz_next(r) % 8;
	FAB_AUTOFREE bool *is_lost = FAB_NEW0(f->n_cables, bool);

	m->n_switches = f->n_switches;
	for (uint32_t i = 0; i < n_lost; i++)
		is_lost[fuzz_next(r) % f->n_cables] = true;
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		uint32_t p = f->node_first_port[i];
		struct fab_node_spec spec = {
			.kind = (enum fab_node_kind)f->node_kind[i],
			.guid = f->node_guid[i],
			.n_ports = fab_node_is_switch(f, i) ? PORTS : TWO_PORTS,
			.name = fab_node_name(f, i),
			.name_len = strlen(fab_node_name(f, i))};

		fab_builder_add_node(m->b, &spec);
		for (; p < f->node_first_port[i + 1]; p++)
			fab_builder_set_port(m->b, i, f->port_num[p], f->port_guid[p],
					     f->port_lid[p], 0);
		m->used[i % 256] = f->node_n_ports[i];
	}
	for (uint32_t c = 0; c < f->n_cables; c++) {
		uint32_t a = f->cable_a[c], b = f->cable_b[c];

		if (!is_lost[c])
			fab_builder_add_cable(m->b, f->port_node[a], f->port_num[a],
					      f->port_node[b], f->port_num[b], 4,
					      FAB_HDR);
	}
}

/* Through a dump, as if it came from outside. */
static struct fab_fabric *read_again(struct fab_fabric *f)
{
	struct fab_fabric *again = NULL;
	FAB_AUTOFREE char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	OK(fab_export_ibnetdiscover(out, f, ERR));
	fclose(out);
	OK(fab_source_parse("dump", text, n, NULL, &again, ERR));
	MUST(fab_fabric_fingerprint(f) == fab_fabric_fingerprint(again));
	fab_fabric_free(f);
	return again;
}

static struct fab_fabric *finish(struct maker *m, struct fuzz_input *r)
{
	struct fab_fabric *f = NULL;

	while (r->n > 1) {
		uint32_t u = fuzz_next(r), v = fuzz_next(r);

		cable_switches(m, u % m->n_switches, v % m->n_switches,
			       u >= 240 ? FAB_EDR : FAB_HDR);
	}
	if (is_refused(fab_builder_finish(m->b, "fuzz", "generated", NULL, &f, ERR)))
		return NULL;
	return read_again(f);
}

static struct fab_fabric *fabric_of(const uint8_t *bytes, size_t n)
{
	struct fuzz_input r = {bytes, n};
	uint32_t kind = fuzz_next(&r);
	struct maker m = {.n_switches = 0};
	struct fab_fabric *f = NULL;

	if (kind >= 128)
		return fab_source_parse("input", r.bytes, r.n, NULL, &f, ERR) ? NULL : f;
	if (n > 1000)
		return NULL;
	m.b = fab_builder_new();
	if (kind < 64) {
		make(&m, &r);
	} else {
		OK(fab_source_open(specs[kind % FAB_COUNT(specs)], NULL, &f, ERR));
		copy(&m, &r, f);
		fab_fabric_free(f);
	}
	return finish(&m, &r);
}

int fuzz_on_small(const uint8_t *bytes, size_t n,
		  void (*try_on)(const struct fab_fabric *f, struct fuzz_draw *d))
{
	size_t n_choices = n < FUZZ_CHOICES ? n : FUZZ_CHOICES;
	struct fuzz_draw draw = {.at = 0};
	FAB_AUTO(fab_fabric_free_at) struct fab_fabric *f = NULL;

	memcpy(draw.byte, bytes, n_choices);
	f = fabric_of(bytes + n_choices, n - n_choices);
	if (!f)
		return 0;
	if (f->n_nodes <= NODES_MAX && f->n_cables <= CABLES_MAX)
		try_on(f, &draw);
	return 0;
}
