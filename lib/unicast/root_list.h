/* SPDX-License-Identifier: BSD-2-Clause */
/* Roots of up/down paths by a list, as OpenSM's root_guid_file is one. */
#pragma once

#include "base/directory.h"
#include "base/err.h"
#include "fabric/fabric.h"

/*
 * Append the switches that a file names (`-`: standard input), a line each: a GUID from
 * 0x on, whatever stands behind it, as fabric-topo --to=root-guids writes them; or names
 * as fab_lookup_list() has them. EINVAL, ENOENT: file, line and what was wrong; or there
 * are none. The caller frees out->of.v. O(nodes + bytes + matches).
 */
int fab_root_list_read(const struct fab_fabric *f, const char *path, struct fab_ids *out,
		       struct fab_err *err) FAB_MUST_CHECK;
