/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of a machine's nodes, servers, interfaces and units, as people write them. Where
 * the machine is a fabric a node or server is a host, by any name that
 * fabric/resolver.h knows; else its own name, whatever the letters' case.
 */
#pragma once

#include "base/lookup.h"
#include "boot/machine.h"

struct fab_machine_names;

/* The machine is borrowed. The caller frees. O(vertices). */
struct fab_machine_names *fab_machine_names_new(const struct fab_machine *m);
/* NULL is allowed. O(size). */
void fab_machine_names_free(struct fab_machine_names *names);

/* Ids: nodes; servers; interfaces (a server's name is its first one); vertices that have
 * nodes below. Valid as long as `names`. O(1). */
struct fab_lookup fab_machine_node_lookup(const struct fab_machine_names *names);
struct fab_lookup fab_machine_server_lookup(const struct fab_machine_names *names);
struct fab_lookup fab_machine_interface_lookup(const struct fab_machine_names *names);
struct fab_lookup fab_machine_unit_lookup(const struct fab_machine_names *names);
