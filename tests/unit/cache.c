/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/reader.h"

#include "source/smp.h"
#include "source/source.h"
#include "support/test.h"

/* What libibnetdisc would write: a growing block of bytes. */
struct file {
	uint8_t *v;
	size_t n, cap;
};

static void put(struct file *file, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		FAB_PUSH(file, (uint8_t)(value >> (8 * i)));
}

static void put_bytes(struct file *file, const void *bytes, size_t n)
{
	FAB_RESERVE(file, n);
	memcpy(file->v + file->n, bytes, n);
	file->n += n;
}

static void put_be(uint8_t *at, uint64_t value, int bytes)
{
	while (bytes--) {
		at[bytes] = (uint8_t)value;
		value >>= 8;
	}
}

static void put_heading(struct file *file, uint32_t nodes, uint32_t ports)
{
	put(file, 0x8fe7832b, 4);
	put(file, 1, 4);
	put(file, nodes, 4);
	put(file, ports, 4);
	put(file, 2, 8);
	put(file, 3, 4);
}

static void put_node(struct file *file, unsigned type, uint64_t guid, const char *name,
		     unsigned n_stored)
{
	uint8_t zero[64] = {0}, info[64] = {0}, description[64] = {0};

	put_be(info + 4, guid + 0x100, 8);
	put_be(info + 20, guid + 0x200, 8);
	put_be(info + 30, 0x101b, 2);
	put_be(info + 37, 0x2c9, 3);
	memcpy(description, name, strlen(name));
	put(file, 7, 2);
	put(file, 1, 1);
	put(file, type == FAB_SMP_SWITCH, 1);
	put_bytes(file, zero, 64);
	put(file, guid, 8);
	put(file, type, 1);
	put(file, type == FAB_SMP_SWITCH ? 40 : 2, 1);
	put_bytes(file, info, 64);
	put_bytes(file, description, 64);
	put(file, n_stored, 1);
	for (unsigned i = 0; i < n_stored; i++) {
		put(file, guid, 8);
		put(file, i, 1);
	}
}

struct port {
	uint64_t guid, node, peer_guid;
	unsigned number, peer_number, lid;
	uint8_t width, speed, ext; /* codes of PortInfo */
	bool has_ext;
};

static void put_port(struct file *file, const struct port *p)
{
	uint8_t info[64] = {0};

	info[22] = p->has_ext ? 0x40 : 0;
	info[31] = p->width;
	info[35] = (uint8_t)(p->speed << 4);
	info[62] = (uint8_t)(p->ext << 4);
	put(file, p->guid, 8);
	put(file, p->number, 1);
	put(file, 0, 1);
	put(file, p->lid, 2);
	put(file, 1, 1);
	put_bytes(file, info, 64);
	put(file, p->node, 8);
	put(file, p->peer_guid != 0, 1);
	put(file, p->peer_guid, 8);
	put(file, p->peer_number, 1);
}

static const struct port ports[] = {
	{.guid = 0x10, .node = 1, .number = 0, .has_ext = true},
	{.guid = 0x10,
	 .node = 1,
	 .number = 9,
	 .peer_guid = 0x20,
	 .peer_number = 2,
	 .width = 2,
	 .speed = 4,
	 .ext = 4},
	{.guid = 0x20,
	 .node = 2,
	 .number = 2,
	 .peer_guid = 0x10,
	 .peer_number = 9,
	 .lid = 12,
	 .width = 2,
	 .speed = 4,
	 .ext = 4,
	 .has_ext = true},
	{.guid = 0x21, .node = 2, .number = 1, .lid = 0xffff},
};

static struct file whole_file(void)
{
	struct file file = {0};

	put_heading(&file, 2, FAB_COUNT(ports));
	put_node(&file, FAB_SMP_SWITCH, 1, "leaf", 2);
	put_node(&file, FAB_SMP_ADAPTER, 2, "n1 mlx5_0", 2);
	for (size_t i = 0; i < FAB_COUNT(ports); i++)
		put_port(&file, &ports[i]);
	return file;
}

static struct fab_fabric *read_file(struct file *file)
{
	struct fab_fabric *f = NULL;

	MUST(fab_source_parse("c", file->v, file->n, NULL, &f, ERR));
	free(file->v);
	return f;
}

static void expect_refused(struct file *file, const char *message)
{
	struct fab_fabric *f = NULL;

	FAILS_AS(fab_source_parse("c", file->v, file->n, NULL, &f, ERR), -EINVAL,
		 message);
	free(file->v);
}

Test(cache, reads_all_fields)
{
	struct file file = whole_file();
	OWN(fab_fabric) *f = read_file(&file);
	uint32_t port = fab_port_find(f, 0, 9);

	cr_expect_str_eq(f->format, "cache");
	cr_expect_eq(f->n_switches, 1);
	cr_expect_eq(f->n_adapters, 1);
	cr_expect_eq(f->n_cables, 1);
	cr_expect_eq(f->n_hosts, 1);
	cr_expect_str_eq(fab_node_name(f, 0), "leaf");
	cr_expect_eq(f->node_is_enhanced[0], 1);
	cr_expect_eq(f->node_n_ports[0], 40);
	cr_expect_eq(f->node_guid[1], 2);
	cr_expect_eq(f->node_sys_guid[1], 0x102);
	cr_expect_eq(f->node_device[1], 0x101b);
	cr_expect_eq(f->node_vendor[1], 0x2c9);
	cr_expect_eq(f->port_guid[0], 0x201);
	cr_expect_eq(f->port_lid[0], 7);
	cr_expect_eq(f->port_lmc[0], 1);
	cr_expect_eq(f->port_width[port], 4);
	cr_expect_eq(f->port_speed[port], FAB_HDR);
	port = fab_port_peer(f, port);
	cr_expect_eq(f->port_num[port], 2);
	cr_expect_eq(f->port_guid[port], 0x20);
	cr_expect_eq(f->port_lid[port], 12);
	cr_expect_eq(f->port_lid[fab_port_find(f, 1, 1)], 0);
	cr_expect_eq(f->n_warnings, 0);
}

Test(cache, notices_every_cut)
{
	struct file file = whole_file();

	for (size_t n = 4; n < file.n; n++) {
		struct fab_fabric *f = NULL;
		/* Behind the last byte of a heap block, so that sanitizers see a step. */
		OWN_HEAP uint8_t *exact = malloc(n);

		memcpy(exact, file.v, n);
		cr_expect_eq(fab_source_parse("c", exact, n, NULL, &f, ERR), -EINVAL,
			     "%zu of %zu bytes", n, file.n);
		cr_expect_eq(strncmp(test_err.text, "c: libibnetdisc cache ", 22), 0,
			     "%s", test_err.text);
	}
	free(file.v);
}

Test(cache, refuses_what_cannot_be)
{
	struct file file = whole_file();

	file.v[4] = 9;
	expect_refused(&file, "c: libibnetdisc cache of version 9, expected 1");
	file = whole_file();
	put_be(file.v + 8, 0xffffffff, 4);
	expect_refused(&file,
		       "c: libibnetdisc cache with 4294967295 nodes and 4 ports in 858 "
		       "bytes, expected more bytes");
	file = (struct file){0};
	put_heading(&file, 1, 0);
	put_node(&file, 4, 1, "x", 0);
	expect_refused(&file,
		       "c: node 1 of the libibnetdisc cache has type 4, expected 1, 2 "
		       "or 3");
	file = (struct file){0};
	put_heading(&file, 2, 0);
	put_node(&file, FAB_SMP_SWITCH, 1, "x", 0);
	put_node(&file, FAB_SMP_SWITCH, 1, "x", 0);
	expect_refused(&file,
		       "c: node 2 of the libibnetdisc cache has GUID "
		       "0x0000000000000001, which an earlier one has, expected one "
		       "node a GUID");
	file = (struct file){0};
	put_heading(&file, 1, 1);
	put_node(&file, FAB_SMP_SWITCH, 1, "x", 0);
	put_port(&file, &ports[2]);
	expect_refused(&file, "c: port 1 of the libibnetdisc cache belongs to node "
			      "0x0000000000000002, expected one of the 1 nodes");
}

Test(cache, warns_of_a_peer_that_is_not_there)
{
	struct port lost = {.guid = 0x10,
			    .node = 1,
			    .number = 3,
			    .peer_guid = 0x99,
			    .peer_number = 1};
	struct file file = {0};
	OWN(fab_fabric) *f = NULL;

	put_heading(&file, 2, FAB_COUNT(ports) + 1);
	put_node(&file, FAB_SMP_SWITCH, 1, "leaf", 0);
	put_node(&file, FAB_SMP_ADAPTER, 2, "n1 mlx5_0", 0);
	for (size_t i = 0; i < FAB_COUNT(ports); i++)
		put_port(&file, &ports[i]);
	put_port(&file, &lost);
	f = read_file(&file);
	cr_assert_eq(f->n_warnings, 1);
	cr_expect_str_eq(f->warnings[0].code, "unknown-peer");
	cr_expect_str_eq(f->warnings[0].message,
			 "the peer of port 3 of \"leaf\" is not in the cache");
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
