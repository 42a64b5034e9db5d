/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Making a fabric: add nodes and what each port says about its cable, then finish.
 *
 * Readers see every cable twice, once from each end, and the two may disagree; generators
 * know the whole cable. The builder takes both, pairs the ends, and turns contradictions
 * into warnings with the line they came from.
 */
#pragma once

#include "base/err.h"
#include "fabric/fabric.h"

struct fab_builder;

/* An empty fabric to be filled; the caller frees or hands it to fab_builder_finish().
 * O(1). */
struct fab_builder *fab_builder_new(void);
/* Throws away what is not finished; NULL is allowed. O(size). */
void fab_builder_free(struct fab_builder *b);

struct fab_node_spec {
	enum fab_node_kind kind;
	uint64_t guid, sys_guid; /* 0: none */
	uint32_t vendor, device;
	uint16_t n_ports;
	bool is_enhanced;
	uint32_t n_left_out; /* switch: cables to host adapters that --hca left out */
	const char *name;    /* description, name_len bytes, copied */
	size_t name_len;
	uint64_t line; /* of the input, 0: none */
};

/* Returns the node's id for the calls below (the finished fabric has other ids). O(1). */
uint32_t fab_builder_add_node(struct fab_builder *b, const struct fab_node_spec *spec);
uint32_t fab_builder_n_nodes(const struct fab_builder *b);
/* Replace a node's name (node name map). O(1). */
void fab_builder_rename(struct fab_builder *b, uint32_t node, const char *name,
			size_t len);
/* Borrowed, until the next call that adds a name. O(1). */
const char *fab_builder_name(const struct fab_builder *b, uint32_t node);
/* Borrowed, until the next call that adds a node; its `name` is NULL. O(1). */
const struct fab_node_spec *fab_builder_node(const struct fab_builder *b, uint32_t node);

/* GUID, LID and LMC of a port (port 0 for a switch). Values 0 leave what is known. O(1).
 */
void fab_builder_set_port(struct fab_builder *b, uint32_t node, uint16_t port,
			  uint64_t guid, uint16_t lid, uint8_t lmc);

/*
 * Take the LIDs and LMCs of another description of the same fabric: ports of adapters are
 * matched by their GUID, switches by theirs. What it says nothing about stays. Returns
 * how many ports got a LID; *n_without: ports of adapters with a GUID that got none,
 * *n_with: those that got one. O(nodes + ports).
 */
uint32_t fab_builder_take_lids(struct fab_builder *b, const struct fab_fabric *from,
			       uint32_t *n_with, uint32_t *n_without);

/* One end of a cable, as read from this end. */
struct fab_end {
	uint32_t node, peer;
	uint16_t port, peer_port;
	uint8_t width, speed; /* lanes, enum fab_speed */
	uint64_t line;
};

/* One end of a cable, as a dump has it: ends are paired when the fabric is finished. O(1)
 * amortised. */
void fab_builder_add_end(struct fab_builder *b, const struct fab_end *end);
/* A whole cable: both ends with the same width and speed. O(1). */
void fab_builder_add_cable(struct fab_builder *b, uint32_t node_a, uint16_t port_a,
			   uint32_t node_b, uint16_t port_b, uint8_t width,
			   uint8_t speed);

/* A node of a finished fabric with its name and what its ports are called; its id here.
 * O(ports of the node).
 */
uint32_t fab_builder_copy_node(struct fab_builder *b, const struct fab_fabric *from,
			       fab_node_id node);
/* Copy a cable of it; id[node] are the ids here. O(1). */
void fab_builder_copy_cable(struct fab_builder *b, const struct fab_fabric *from,
			    fab_cable_id cable, const uint32_t *id);

/*
 * Note a warning; `code` is a literal. Of codes about lines ("malformed-line") the first
 * 100 are stored, the others are only counted. O(1).
 */
void fab_builder_warn(struct fab_builder *b, const char *code, uint64_t line,
		      const char *format, ...) FAB_PRINTF(4, 5);
/* Subject of the last warning, GUIDs and ports; on one line, none of it from a
 * description. O(1). */
void fab_builder_warn_about(struct fab_builder *b, const char *format, ...)
	FAB_PRINTF(2, 3);

/* Did a node name map (borrowed) name the node with this GUID? */
typedef bool (*fab_is_mapped_fn)(const void *name_map, uint64_t guid);

/* How adapters are grouped into hosts (fabric/hosts.h), and which of them are kept. */
struct fab_host_options {
	fab_is_mapped_fn is_mapped; /* NULL: there is no name map */
	const void *name_map;	    /* first argument of is_mapped */
	const char *hca;	    /* glob: keep only adapters whose adapter part or name
				       matches, "GLOB/PORT" one port of them, and the
				       switches of their rail; NULL all */
};

/*
 * Pair the ends, number everything, group hosts, build the graph; frees the builder
 * whatever happens. Warnings: one-sided-cable, conflicting-cable (two cables on a port),
 * duplicate-guid, port-out-of-range, speed-mismatch, width-mismatch.
 * Fails with EINVAL when there is no switch or no cable, or when the pattern of `hosts`
 * chooses no adapter (`source` is named in the text).
 * O(nodes + ends log ends a node).
 */
int fab_builder_finish(struct fab_builder *b, const char *source, const char *format,
		       const struct fab_host_options *hosts, struct fab_fabric **out,
		       struct fab_err *err) FAB_MUST_CHECK;
