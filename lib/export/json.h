/* SPDX-License-Identifier: BSD-2-Clause */
/* The whole fabric as one JSON document. */
#pragma once

#include <stdio.h>

#include "fabric/fabric.h"

/*
 * Write nodes, ports, cables and hosts, one record a line, as they are numbered in the
 * fabric: an object with `schema`, `command`, `version`, `fabric` (as in every document),
 * `format`, `host_rule`, `warnings` and the arrays
 *   nodes   {id, kind, guid, system_guid, name, ports, vendor, device, host}
 *   ports   {node, port, guid, lid, lmc, cable}: port 0 of switches, every port of others
 *           that is known, and any with a LID or GUID
 *   cables  {id, class, a: {node, port, width, speed}, b: {...}}
 *   hosts   {id, name, adapters: [node ids]}
 * Nothing but the current record is held in memory. Errors are left to ferror(out).
 * O(nodes + ports + cables).
 */
void fab_export_json(FILE *out, const struct fab_fabric *f, const char *command);
