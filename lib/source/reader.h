/* SPDX-License-Identifier: BSD-2-Clause */
/* Readers and makers of fabrics, one file each, and what they have in common. */
#pragma once

#include "fabric/builder.h"
#include "source/scan.h"

/* Read an input into a builder. `name` begins messages. Defects that leave a fabric are
 * warnings of the builder; after EINVAL it can only be freed. O(bytes). */
typedef int (*fab_read_fn)(struct fab_builder *b, const char *name, const char *text,
			   size_t n, struct fab_err *err);

enum {
	FAB_MAX_NAME = 255,   /* longer names are cut */
	FAB_MAX_SHOWN = 60,   /* of a line in a message */
	FAB_MAX_PORT = 65534, /* largest port number */
};

static inline size_t fab_name_cut(size_t len)
{
	return len < FAB_MAX_NAME ? len : FAB_MAX_NAME;
}

/* How much of a line a message shows: for "%.*s". */
static inline int fab_shown(const struct fab_span *s)
{
	return fab_span_len(s) < FAB_MAX_SHOWN ? (int)fab_span_len(s) : FAB_MAX_SHOWN;
}

/* One of these words, which mean a switch, an adapter and a router. Inline, as dumps
 * are read 1.1 times slower if it is called. */
static inline bool fab_take_kind(struct fab_span *s, const char *sw, const char *adapter,
				 const char *router, enum fab_node_kind *kind)
{
	if (fab_take_bytes(s, sw, strlen(sw)))
		*kind = FAB_SWITCH;
	else if (fab_take_bytes(s, adapter, strlen(adapter)))
		*kind = FAB_ADAPTER;
	else if (fab_take_bytes(s, router, strlen(router)))
		*kind = FAB_ROUTER;
	else
		return false;
	return true;
}

/* Foreign lines: counted, and reported once (foreign-line). */
struct fab_foreign {
	uint64_t n, first;
};

void fab_foreign_add(struct fab_foreign *foreign, uint64_t line);
void fab_foreign_warn(const struct fab_foreign *foreign, struct fab_builder *b);

/* EINVAL: the input ends within the line. */
int fab_cut_off(const char *name, const struct fab_lines *lines,
		const struct fab_span *line, struct fab_err *err);

/* One end of a cable in a line that names both ends in full. */
struct fab_told_end {
	enum fab_node_kind kind;
	uint16_t n_ports, port, lid; /* 0: unknown */
	uint32_t vendor, device;
	uint64_t guid, sys_guid, port_guid;
	const char *name; /* name_len bytes of the line */
	size_t name_len;
};

struct fab_told_cable {
	struct fab_told_end own, peer;
	bool has_peer;
	uint8_t width, speed;
};

typedef enum fab_line_result (*fab_cable_line_fn)(struct fab_span line,
						  struct fab_told_cable *out);

/*
 * Read a format whose lines contain both ends of a cable: nodes are added when first
 * named. `what` is reported missing in lines that `parse` cannot read ("no cable").
 */
int fab_cable_lines_read(struct fab_builder *b, const char *name, const char *text,
			 size_t n, fab_cable_line_fn parse, const char *what,
			 struct fab_err *err) FAB_MUST_CHECK;

/*
 * The links that OpenSM writes to opensm-subnet.lst, a line an end:
 *   { SW Ports:24 SystemGUID:.. NodeGUID:.. PortGUID:.. VenID:.. DevID:.. Rev:..
 *     {description} LID:0001 PN:01 } { CA ... } PHY=4x LOG=ACT SPD=25
 * Old files have no SPD=. Numbers are hexadecimal, Ports, LID and PN too. A description
 * of 64 bytes cannot hold a forged second node, which takes more. Warnings: foreign-line,
 * malformed-line. EINVAL: the input ends within a line.
 */
int fab_subnet_lst_read(struct fab_builder *b, const char *name, const char *text,
			size_t n, struct fab_err *err) FAB_MUST_CHECK;

bool fab_is_subnet_lst_line(struct fab_span line);

/*
 * The cache file of libibnetdisc (`ibnetdiscover --cache FILE`), version 1, little
 * endian:
 *
 *   header  magic 4, version 4, nodes 4, ports 4, GUID of the first node 8, hops 4
 *   node    LID 2, LMC 1, enhanced port 0 1, SwitchInfo 64, GUID 8, type 1, ports 1,
 *           NodeInfo 64, description 64, stored ports 1, for each: port GUID 8, number 1
 *   port    GUID 8, number 1, external number 1, LID 2, LMC 1, PortInfo 64, node GUID 8,
 *           has peer 1, port GUID of the peer 8, its number 1
 *
 * The library's own loader takes quadratic time, and believes every count. Warnings:
 * duplicate-guid, unknown-peer. EINVAL: the sizes do not add up, a type is unknown.
 */
bool fab_is_cache(const char *bytes, size_t n);
int fab_cache_read(struct fab_builder *b, const char *name, const char *bytes, size_t n,
		   struct fab_err *err) FAB_MUST_CHECK;

/*
 * Discover the fabric of this machine by libibnetdisc, which alone prints messages.
 * `where`: empty, CA or CA/PORT. EINVAL: none of these; ENODEV: no such adapter or port,
 * or no link; EACCES and others of opening the device; EIO: the discovery failed;
 * ENOTSUP: built without libibnetdisc. O(ports of the fabric) requests.
 */
int fab_netdisc_read(struct fab_builder *b, const char *where,
		     struct fab_err *err) FAB_MUST_CHECK;

/*
 * Generate the fabric of `spec` (KIND:PARAMS, see fabric-topologies(7)) into a builder,
 * which can only be freed after an error. Equal specs give equal fabrics, down to GUIDs,
 * LIDs and port numbers. Warning: lids-exhausted. EINVAL: kind, key or value; EINVAL and
 * ENOMEM: a fabric that is too large, before anything is allocated. O(nodes + cables),
 * for `random` O(cables + degree^3) expected.
 */
int fab_gen_fill(struct fab_builder *b, const char *spec,
		 struct fab_err *err) FAB_MUST_CHECK;

/*
 * Names for nodes whose own descriptions say little (--node-name-map), as the programs of
 * infiniband-diags read them: a line a node,
 *
 *   0x0008f10400411f56  "leaf switch 12"  # remark
 *
 * with '#' for comments. The name ends at the closing quote or at '#'; quotes may be
 * missing. Of two lines for one GUID the first counts. A GUID may also be written as in a
 * dump ("H-0002c90300080e84"), with 16 digits, or in colon groups.
 */

struct fab_name_map;

/* Read a file, packed or not. The caller frees *out. Errors: those of open(2), EINVAL: a
 * line without a GUID. The second: text in memory. O(bytes). */
int fab_name_map_open(const char *path, struct fab_name_map **out,
		      struct fab_err *err) FAB_MUST_CHECK;
int fab_name_map_parse(const char *name, const char *text, size_t n,
		       struct fab_name_map **out, struct fab_err *err) FAB_MUST_CHECK;
void fab_name_map_free(struct fab_name_map *map);

/* Borrowed: the name of a node, NULL when the map has none. */
const char *fab_name_map_get(const struct fab_name_map *map, uint64_t guid);
/* Rename all nodes that the map knows. Returns how many. O(nodes). */
uint32_t fab_name_map_apply(const struct fab_name_map *map, struct fab_builder *b);

/*
 * The dump of ibnetdiscover(8), which is also what ibsim reads as a net file, and the
 * port list that `ibnetdiscover -p` prints.
 *
 * A dump comes from a terminal, a mail or a log as often as from a file: tabs may be
 * lost, lines may end in CR, other programs may have written between the records. A
 * description is not escaped and any host chooses its own, so its closing quote is always
 * looked for from the right: nothing behind it contains a quote. Warnings: foreign-line,
 * malformed-line, unknown-peer, duplicate-guid, guid-mismatch, unknown-speed. EINVAL: no
 * dump, or an incomplete one.
 */
int fab_ibnetdiscover_read(struct fab_builder *b, const char *name, const char *text,
			   size_t n, struct fab_err *err) FAB_MUST_CHECK;

/* A port list. Ports without a peer are skipped. It names adapters by the GUID of their
 * port, so that each port of an adapter is an adapter of its own. */
int fab_ibnetdiscover_ports_read(struct fab_builder *b, const char *name,
				 const char *text, size_t n,
				 struct fab_err *err) FAB_MUST_CHECK;

bool fab_is_port_list_line(struct fab_span line);
/* Also of the list of `ibnetdiscover -l`. */
bool fab_is_dump_line(struct fab_span line);

/*
 * A cabling plan: the network description table of UFM (NDT) or any CSV file with the
 * columns StartDevice, StartPort, EndDevice and EndPort, in any order, as the header line
 * names them. Nodes are known by name only: GUIDs are made from names, LIDs are counted.
 * See fabric-formats(5) for ports, and source/cabling.h. EINVAL, with the line: a column
 * is missing, a line ends early, no port, or a port used twice.
 */
#define FAB_CABLING_FORMAT "plan"
int fab_cabling_csv_read(struct fab_builder *b, const char *name, const char *text,
			 size_t n, struct fab_err *err) FAB_MUST_CHECK;
/* The header line of such a file, also behind a # or a byte order mark. */
bool fab_is_cabling_csv_line(struct fab_span line);

/*
 * The topology file of ibutils (ibdm-topo-file(1)): a line `TYPE NAME` for each system,
 * below it its ports, `P1 -> TYPE NAME P2`. Systems of one chip are nodes. EINVAL, with
 * the line: no port, or a port used twice, a type of several chips.
 */
int fab_cabling_topo_read(struct fab_builder *b, const char *name, const char *text,
			  size_t n, struct fab_err *err) FAB_MUST_CHECK;
bool fab_is_cabling_topo_line(struct fab_span line);
