/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fabric of an input. Its first byte says of which kind it is:
 *   below 64   made from nothing: switches, adapters of one or two cables, cables
 *   below 128  a generated one, with cables taken away and added
 *   else       a text in any format that is read
 * What is made goes through a dump and its reader, too.
 */
#include "engines.h"
#include "small.h"

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

static uint32_t add(struct maker *m, enum fab_node_kind kind, uint32_t i,
		    const char *before, const char *after)
{
	FAB_AUTOFREE char *name = fab_format("%s%u%s", before, i, after);

	return fuzz_add(m->b, kind, 0x1000 + 16 * (uint64_t)i,
			kind == FAB_SWITCH ? PORTS : TWO_PORTS, name);
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
	const char *const *name = names[first >= 240 ? 3 : second % 3];
	uint32_t node = add(m, first >= 240 ? FAB_AGGREGATION : FAB_ADAPTER, 256 + i,
			    name[0], name[1]);

	for (uint16_t port = 1; port <= (second < 160 ? 1 : TWO_PORTS); port++) {
		uint32_t sw = (port == 1 ? first : second) % m->n_switches;

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
	FAB_AUTOFREE bool *is_lost = FAB_NEW0(f->n_cables, bool);

	m->n_switches = f->n_switches;
	for (uint32_t n = fuzz_next(r) % 8; n; n--)
		is_lost[fuzz_next(r) % f->n_cables] = true;
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		uint32_t p = f->node_first_port[i];

		fuzz_add(m->b, (enum fab_node_kind)f->node_kind[i], f->node_guid[i],
			 fab_node_is_switch(f, i) ? PORTS : TWO_PORTS,
			 fab_node_name(f, i));
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
static struct fab_fabric *finish(struct maker *m, struct fuzz_input *r)
{
	FAB_AUTO(fab_fabric_free_at) struct fab_fabric *f = NULL;
	struct fab_fabric *again = NULL;
	FAB_AUTOFREE char *text = NULL;
	size_t n;

	while (r->n > 1) {
		uint8_t first = fuzz_next(r);
		uint32_t u = first % m->n_switches, v = fuzz_next(r) % m->n_switches;
		uint16_t from;

		if (m->used[u] + TWO_PORTS >= PORTS || m->used[v] + TWO_PORTS >= PORTS)
			continue;
		from = ++m->used[u];
		fab_builder_add_cable(m->b, u, from, v, ++m->used[v], 4,
				      first >= 240 ? FAB_EDR : FAB_HDR);
	}
	if (is_refused(fab_builder_finish(m->b, "fuzz", "generated", NULL, &f, ERR)))
		return NULL;
	text = fuzz_export(fab_export_ibnetdiscover, f, &n);
	MUST(text);
	OK(fab_source_parse("dump", text, n, NULL, &again, ERR));
	MUST(fab_fabric_fingerprint(f) == fab_fabric_fingerprint(again));
	return again;
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
	if (f && f->n_nodes <= NODES_MAX && f->n_cables <= CABLES_MAX)
		try_on(f, &draw);
	return 0;
}

uint32_t *fuzz_pieces(const struct fab_fabric *f)
{
	uint32_t *piece = FAB_NEW(f->n_switches, uint32_t);

	for (uint32_t s = 0; s < f->n_switches; s++)
		piece[s] = s;
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t s = 0; s < f->n_switches; s++)
			for (uint32_t i = f->peer_first[s]; i < f->peer_first[s + 1]; i++)
				if (piece[f->peer[i]] < piece[s]) {
					piece[s] = piece[f->peer[i]];
					changed = true;
				}
	}
	return piece;
}
