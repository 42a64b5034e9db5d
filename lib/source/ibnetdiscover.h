/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The dump of ibnetdiscover(8), which is also what ibsim reads as a net file, and the
 * port list that `ibnetdiscover -p` prints.
 *
 * A dump comes from a terminal, a mail or a log as often as from a file: tabs may be
 * lost, lines may end in CR, other programs may have written between the records. A
 * description is not escaped and any host chooses its own, so its closing quote is always
 * looked for from the right: what follows it never holds a quote.
 */
#pragma once

#include "fabric/builder.h"
#include "source/scan.h"

/*
 * Read a dump into a builder. `name` stands in front of messages. Warnings: foreign-line,
 * malformed-line, unknown-peer, duplicate-guid, guid-mismatch, unknown-speed. Errors:
 * EINVAL for what is no dump or an incomplete one. O(bytes).
 */
int fab_ibnetdiscover_read(struct fab_builder *b, const char *name, const char *text,
			   size_t n, struct fab_err *err) FAB_MUST_CHECK;

/*
 * Read a port list (`ibnetdiscover -p`). Ports without a peer are skipped. The list names
 * adapters by the GUID of their port, so that each port of an adapter is one of its own.
 */
int fab_ibnetdiscover_ports_read(struct fab_builder *b, const char *name,
				 const char *text, size_t n,
				 struct fab_err *err) FAB_MUST_CHECK;

/* Does the line belong to a port list? */
bool fab_is_port_list_line(struct fab_span line);

/* `Switch : 0x... ports 36 devid ...`: the list of `ibnetdiscover -l`, without cables. */
bool fab_is_node_list_line(struct fab_span line);

/* ---- the grammar of single lines, for the two readers and their tests ---- */

/* How a node is written in quotes. */
struct fab_dump_id {
	const char *text;
	size_t len;
	uint64_t key; /* what tells nodes apart: the GUID, or a hash of a free id */
	bool is_guid; /* S-, H- or R- and 16 hexadecimal digits */
	uint8_t kind; /* enum fab_node_kind by the letter; only with is_guid */
};

/* `Switch 36 "S-..." # "description" enhanced port 0 lid 1 lmc 0`, `Ca`, `Hca`, `Rt`. */
struct fab_dump_header {
	uint8_t kind; /* enum fab_node_kind */
	bool is_enhanced, has_comment;
	bool is_partial; /* what follows '#' is not as ibnetdiscover writes it */
	uint8_t lmc;
	uint16_t lid;
	uint32_t n_ports;
	struct fab_dump_id id;
	const char *name;
	size_t name_len;
};

enum fab_line_result fab_dump_header_parse(struct fab_span line,
					   struct fab_dump_header *out);

/* `[1](guid) "S-..."[2] # lid 1 lmc 0 "description" lid 2 4xHDR` and its variations. */
struct fab_dump_link {
	uint32_t port, peer_port;
	uint64_t own_guid, peer_guid; /* port GUIDs; 0: not given */
	struct fab_dump_id peer;
	bool is_speed_known, has_comment;
	bool is_partial; /* what follows '#' is not as ibnetdiscover writes it */
	uint8_t own_lmc, width, speed;
	uint16_t own_lid, peer_lid;
	const char *name; /* of the peer */
	size_t name_len;
};

enum fab_line_result fab_dump_link_parse(struct fab_span line, struct fab_dump_link *out);

/* The lines in front of a header: vendid= devid= sysimgguid= switchguid=0x..(0x..) ... */
struct fab_dump_ids {
	uint64_t line; /* of the first of them, 0: none yet */
	uint32_t vendor, device;
	uint64_t guid, sys_guid, port_guid;
	bool has_guid;
};

enum fab_line_result fab_dump_ids_parse(struct fab_span line, struct fab_dump_ids *ids);

/* ---- peers: the second half of reading, once all nodes are known ---- */

/* A link line as it is kept: its peer may be described later. */
struct fab_dump_pending {
	uint32_t node, peer_slot;
	uint16_t port, peer_port;
	uint8_t width, speed;
	uint64_t line;
	struct fab_span text; /* read again when the peer is never described */
};

enum { FAB_DUMP_UNKNOWN = 0xff }; /* kind of a node without a record of its own */

struct fab_dump_slot {
	uint32_t node; /* in the builder, FAB_NONE: not described (yet) */
	uint8_t kind;
	uint32_t n_ports;
	uint64_t line;
};

struct fab_dump_peers {
	const struct fab_dump_pending *links;
	size_t n_links;
	struct fab_dump_slot *slots;
};

/*
 * Give the builder all ends of cables. An adapter that only switches speak of is made
 * from what they say; an undescribed switch is an error.
 */
int fab_dump_resolve(struct fab_builder *b, const char *name,
		     const struct fab_dump_peers *peers,
		     struct fab_err *err) FAB_MUST_CHECK;
