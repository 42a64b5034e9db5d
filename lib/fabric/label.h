/* SPDX-License-Identifier: BSD-2-Clause */
/* Short names of nodes: what people call a switch, out of what it calls itself. */
#pragma once

#include <stdbool.h>

#include "fabric/fabric.h"

/* Room for any short name: descriptions hold 64 bytes, name maps may give more. */
enum { FAB_LABEL_SIZE = 256 };

/*
 * The name inside a description, trailing blanks left off, cut to size - 1 bytes:
 *   MF0;leaf7:MQM8700/U1     leaf7
 *   MF0;core:MCS8500/L16/U2  core/L16/U2 (one of several chips behind one name)
 *   anything else            itself
 * Returns `out`. O(length).
 */
char *fab_label_short(const char *description, char *out, size_t size);

/*
 * A text in which every description of the form `MF0;leaf7:MQM8700/U1` is replaced by its
 * short name (fab_label_short). The caller frees. O(length).
 */
char *fab_label_shorten(const char *text);

/*
 * Has the host no name but the GUID of its adapter, because the description is empty,
 * `localhost` or what the maker calls the card (fabric/hosts.h)? O(len).
 */
bool fab_host_is_unnamed(const struct fab_fabric *f, fab_host_id host);

/*
 * The name of a node; with its GUID behind it, `NAME (0x...)`, where another node of the
 * fabric has the same name. The caller frees. O(nodes).
 */
char *fab_node_text(const struct fab_fabric *f, fab_node_id node);

/*
 * A direction of a cable, from `port`: `NAME:PORT -> NAME:PORT`, names as those of
 * fab_node_text(). NULL: the port has no cable. The caller frees. O(nodes).
 */
char *fab_cable_text(const struct fab_fabric *f, fab_port_id port);

/*
 * GUID/PORT of a port, or of the two ends of a cable in ascending order whatever that of
 * the input; b FAB_NONE: of one. In `arena`. O(1).
 */
char *fab_ports_key(const struct fab_fabric *f, struct fab_arena *arena, fab_port_id a,
		    fab_port_id b);

/* Names that Slurm takes, each once. */

struct fab_plain_names {
	char **of_switch; /* [n_switches] */
	char **of_host;	  /* [n_hosts] */
	uint32_t n_unnamed;
	struct fab_arena arena; /* of all names */
};

void fab_plain_names_init(struct fab_plain_names *names, const struct fab_fabric *f);
void fab_plain_names_fini(struct fab_plain_names *names);

/* `stem` and the lowest number from *next on that no switch is called; the caller frees.
 */
char *fab_plain_names_invent(const struct fab_plain_names *names,
			     const struct fab_fabric *f, const char *stem,
			     uint32_t *next);
