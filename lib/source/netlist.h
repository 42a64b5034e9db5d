/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Netlists of ibutils (ibdm-ibnl-file(1)): which chips a system is made of, how they are
 * joined inside, and which chip's port a port outside is. They are installed with
 * ibutils.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "fabric/fabric.h"

struct fab_netlist_end {
	uint32_t chip;
	uint16_t port;
};

/* A system taken apart. */
struct fab_netlist {
	struct fab_netlist_chip {
		const char *name; /* "leaf1/U1" */
		enum fab_node_kind kind;
		uint16_t n_ports;
	} * chips;
	struct fab_netlist_cable {
		struct fab_netlist_end a, b;
	} * cables; /* inside */
	struct fab_netlist_port {
		const char *name; /* "L1/P3" */
		struct fab_netlist_end end;
	} * ports; /* outside */
	uint32_t n_chips, n_cables, n_ports;
};

/* Types of systems, from any number of files. Start with FAB_ARENA_INIT inside zeroes:
 * {0}. */
struct fab_netlists {
	struct fab_arena
		arena; /* of all that is here and in what fab_netlist_get() gives */
	struct netlist_file *files; /* the last one first */
};

void fab_netlists_fini(struct fab_netlists *all);

/* Add the types of a text. EINVAL, with the line. O(n). */
int fab_netlists_parse(struct fab_netlists *all, const char *name, const char *text,
		       size_t n, struct fab_err *err) FAB_MUST_CHECK;

/* Add all files that are installed with ibutils, to be parsed when one of their types is
 * wanted; files that cannot be read are passed over. O(bytes). */
void fab_netlists_load(struct fab_netlists *all);

/*
 * A system of this type with boards changed as `config` says, the text behind CFG: of a
 * topology file (NULL: none): "leaf3=R, leaf4=12x", R: no board there. Of ports that end
 * nowhere nothing is given. *out is NULL if no file has the type; else it lives as long
 * as `all`. EINVAL: the netlist is not complete. O(chips * ports).
 */
int fab_netlist_get(struct fab_netlists *all, const char *type, const char *config,
		    const struct fab_netlist **out, struct fab_err *err) FAB_MUST_CHECK;
