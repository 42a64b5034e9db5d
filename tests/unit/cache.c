/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/reader.h"

#include "source/smp.h"
#include "source/source.h"
#include "support/test.h"

/* What libibnetdisc would write. */
struct file {
	uint8_t *v;
	size_t n;
};

static void put(FILE *out, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		fputc((uint8_t)(value >> (8 * i)), out);
}

static void set_be(uint8_t *at, uint64_t value, int bytes)
{
	while (bytes--) {
		at[bytes] = (uint8_t)value;
		value >>= 8;
	}
}

struct node {
	unsigned type;
	uint64_t guid;
	const char *name;
};

struct port {
	uint64_t guid, node, peer_guid;
	unsigned number, peer_number, lid;
	uint8_t width, speed, ext; /* codes of PortInfo */
	bool has_ext;
};

static void put_node(FILE *out, const struct node *n)
{
	uint8_t zero[64] = {0}, info[64] = {0}, description[64] = {0};

	set_be(info + 4, n->guid + 0x100, 8);
	set_be(info + 20, n->guid + 0x200, 8);
	set_be(info + 30, 0x101b, 2);
	set_be(info + 37, 0x2c9, 3);
	memcpy(description, n->name, strlen(n->name));
	put(out, 7, 2);
	put(out, 1, 1);
	put(out, n->type == FAB_SMP_SWITCH, 1);
	fwrite(zero, 64, 1, out);
	put(out, n->guid, 8);
	put(out, n->type, 1);
	put(out, n->type == FAB_SMP_SWITCH ? 40 : 2, 1);
	fwrite(info, 64, 1, out);
	fwrite(description, 64, 1, out);
	put(out, 2, 1); /* ports that are listed */
	for (unsigned i = 0; i < 2; i++) {
		put(out, n->guid, 8);
		put(out, i, 1);
	}
}

static void put_port(FILE *out, const struct port *p)
{
	uint8_t info[64] = {0};

	info[22] = p->has_ext ? 0x40 : 0;
	info[31] = p->width;
	info[35] = (uint8_t)(p->speed << 4);
	info[62] = (uint8_t)(p->ext << 4);
	put(out, p->guid, 8);
	put(out, p->number, 1);
	put(out, 0, 1);
	put(out, p->lid, 2);
	put(out, 1, 1);
	fwrite(info, 64, 1, out);
	put(out, p->node, 8);
	put(out, p->peer_guid != 0, 1);
	put(out, p->peer_guid, 8);
	put(out, p->peer_number, 1);
}

static struct file file_of(const struct node *nodes, uint32_t n_nodes,
			   const struct port *ports, uint32_t n_ports)
{
	struct file file = {0};
	FILE *out = open_memstream((char **)&file.v, &file.n);

	put(out, 0x8fe7832b, 4);
	put(out, 1, 4);
	put(out, n_nodes, 4);
	put(out, n_ports, 4);
	put(out, 2, 8);
	put(out, 3, 4);
	for (uint32_t i = 0; i < n_nodes; i++)
		put_node(out, &nodes[i]);
	for (uint32_t i = 0; i < n_ports; i++)
		put_port(out, &ports[i]);
	fclose(out);
	return file;
}

static const struct node nodes[] = {{FAB_SMP_SWITCH, 1, "leaf"},
				    {FAB_SMP_ADAPTER, 2, "n1 mlx5_0"}};

/* The last one's peer is not there. */
static const struct port ports[] = {
	{0x10, 1, 0, 0, 0, 0, 0, 0, 0, true},
	{0x10, 1, 0x20, 9, 2, 0, 2, 4, 4, false},
	{0x20, 2, 0x10, 2, 9, 12, 2, 4, 4, true},
	{0x21, 2, 0, 1, 0, 0xffff, 0, 0, 0, false},
	{0x10, 1, 0x99, 3, 1, 0, 0, 0, 0, false},
};

Test(cache, reads_all_fields)
{
	FAB_AUTOFREE struct file file = file_of(nodes, 2, ports, FAB_COUNT(ports));
	OWN(fab_fabric) *f = NULL;
	uint32_t port;

	MUST(fab_source_parse("c", file.v, file.n, NULL, &f, ERR));
	port = fab_port_find(f, 0, 9);
	cr_expect_str_eq(f->format, "cache");
	cr_expect(f->n_switches == 1 && f->n_adapters == 1);
	cr_expect(f->n_cables == 1 && f->n_hosts == 1);
	cr_expect_str_eq(fab_node_name(f, 0), "leaf");
	cr_expect(f->node_is_enhanced[0] && f->node_n_ports[0] == 40);
	cr_expect(f->node_guid[1] == 2 && f->node_sys_guid[1] == 0x102);
	cr_expect(f->node_device[1] == 0x101b && f->node_vendor[1] == 0x2c9);
	cr_expect_eq(f->port_guid[0], 0x201);
	cr_expect(f->port_lid[0] == 7 && f->port_lmc[0] == 1);
	cr_expect(f->port_width[port] == 4 && f->port_speed[port] == FAB_HDR);
	port = fab_port_peer(f, port);
	cr_expect(f->port_num[port] == 2 && f->port_guid[port] == 0x20);
	cr_expect_eq(f->port_lid[port], 12);
	cr_expect_eq(f->port_lid[fab_port_find(f, 1, 1)], 0);
	cr_assert_eq(f->n_warnings, 1);
	cr_expect_str_eq(f->warnings[0].code, "unknown-peer");
	cr_expect_str_eq(f->warnings[0].message,
			 "the peer of port 3 of \"leaf\" is not in the cache");
}

Test(cache, notices_every_cut)
{
	FAB_AUTOFREE struct file file = file_of(nodes, 2, ports, 4);

	for (size_t n = 4; n < file.n; n++) {
		struct fab_fabric *f = NULL;
		/* Behind the last byte of a heap block, so that sanitizers see a step. */
		OWN_HEAP uint8_t *exact = memcpy(malloc(n), file.v, n);

		FAILS(fab_source_parse("c", exact, n, NULL, &f, ERR), -EINVAL,
		      "c: libibnetdisc cache ");
	}
}

Test(cache, refuses_what_cannot_be)
{
	static const struct node of_type_4 = {4, 1, "x"},
				 twice[] = {{2, 1, "x"}, {2, 1, "x"}};
	static const struct {
		const struct node *nodes;
		uint32_t n_nodes, first_port, n_ports;
		uint8_t version, more; /* bytes of the heading */
		const char *message;
	} cases[] = {
		{nodes, 2, 0, 4, 9, 0, "c: libibnetdisc cache of version 9, expected 1"},
		{nodes, 2, 0, 4, 1, 0xff,
		 "c: libibnetdisc cache with 4278190082 nodes and 4 ports in 858 bytes, "
		 "expected more bytes"},
		{&of_type_4, 1, 0, 0, 1, 0,
		 "c: node 1 of the libibnetdisc cache has type 4, expected 1, 2 or 3"},
		{twice, 2, 0, 0, 1, 0,
		 "c: node 2 of the libibnetdisc cache has GUID 0x0000000000000001, which "
		 "an earlier one has, expected one node a GUID"},
		{nodes, 1, 2, 1, 1, 0,
		 "c: port 1 of the libibnetdisc cache belongs to node "
		 "0x0000000000000002, expected one of the 1 nodes"},
	};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		FAB_AUTOFREE struct file file =
			file_of(cases[i].nodes, cases[i].n_nodes,
				ports + cases[i].first_port, cases[i].n_ports);
		struct fab_fabric *f = NULL;

		file.v[4] = cases[i].version;
		file.v[11] = cases[i].more;
		FAILS_AS(fab_source_parse("c", file.v, file.n, NULL, &f, ERR), -EINVAL,
			 cases[i].message);
	}
}

Test(cache, rates)
{
	static const struct {
		uint8_t width, speed, ext;
		bool has_ext, is_fdr10;
		uint8_t lanes, wanted;
	} cases[] = {
		{1, 1, 0, false, false, 1, FAB_SDR},
		{2, 2, 0, false, false, 4, FAB_DDR},
		{4, 4, 0, false, false, 8, FAB_QDR},
		{8, 4, 0, true, true, 12, FAB_FDR10},
		{16, 4, 1, true, true, 2, FAB_FDR},
		{2, 4, 2, true, false, 4, FAB_EDR},
		{2, 4, 4, false, false, 4, FAB_QDR},
		{2, 4, 8, true, false, 4, FAB_NDR},
		{3, 3, 0, true, false, 0, FAB_SPEED_UNKNOWN},
		{255, 15, 15, true, false, 0, FAB_SPEED_UNKNOWN},
		{2, 2, 0, true, true, 4, FAB_DDR},
	};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		uint8_t info[64] = {0}, width, speed;

		info[31] = cases[i].width;
		info[35] = (uint8_t)(cases[i].speed << 4);
		info[62] = (uint8_t)(cases[i].ext << 4);
		fab_smp_rate(info, cases[i].has_ext, cases[i].is_fdr10, &width, &speed);
		cr_expect_eq(width, cases[i].lanes, "case %zu: %u lanes", i, width);
		cr_expect_eq(speed, cases[i].wanted, "case %zu: speed %u", i, speed);
	}
}
