/* SPDX-License-Identifier: BSD-2-Clause */
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
#pragma once

#include "fabric/builder.h"

struct fab_name_map;

/*
 * Read a file, packed or not. Errors: those of open(2), EINVAL for a line without a GUID.
 * The caller frees *out.
 */
int fab_name_map_open(const char *path, struct fab_name_map **out,
		      struct fab_err *err) FAB_MUST_CHECK;
/* The same for text in memory; `name` stands in front of messages. O(bytes). */
int fab_name_map_parse(const char *name, const char *text, size_t n,
		       struct fab_name_map **out, struct fab_err *err) FAB_MUST_CHECK;
void fab_name_map_free(struct fab_name_map *map);

/* Borrowed: the name of a node, NULL when the map has none. */
const char *fab_name_map_get(const struct fab_name_map *map, uint64_t guid);
/* Rename all nodes that the map knows. Returns how many. O(nodes). */
uint32_t fab_name_map_apply(const struct fab_name_map *map, struct fab_builder *b);
