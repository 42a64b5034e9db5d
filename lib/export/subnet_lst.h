/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of links that OpenSM writes to opensm-subnet.lst (source/subnet_lst.h). */
#pragma once

#include <stdio.h>

#include "base/err.h"
#include "fabric/fabric.h"

/*
 * Write a line for each end of each cable, by port id: what our reader and ibdmchk(1)
 * read. Nodes without a cable, LMCs and revisions are not in such a file. A description
 * is cut to 64 bytes, its control characters become blanks, and a brace in it that would
 * end it early becomes a parenthesis; aggregation nodes keep the description that tells
 * them apart. Of a device number the lower 16 bits are written. EINVAL: two nodes have
 * one GUID, by which they are told apart; there are cables, but none at a switch. Errors
 * of the file are left to ferror(out). O(nodes + ports).
 */
int fab_export_subnet_lst(FILE *out, const struct fab_fabric *f,
			  struct fab_err *err) FAB_MUST_CHECK;
