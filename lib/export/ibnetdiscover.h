/* SPDX-License-Identifier: BSD-2-Clause */
/* The dump that ibnetdiscover(8) would print of a fabric. */
#pragma once

#include <stdio.h>

#include "base/err.h"
#include "fabric/fabric.h"

/*
 * Write the dump: what our reader reads back as the same fabric, and what ibsim loads.
 * The same fabric gives the same bytes: instead of a date the heading names the program.
 * Control characters in descriptions become blanks, as ibnetdiscover does it; aggregation
 * nodes keep the description that tells them apart. EINVAL: two nodes have one GUID, by
 * which they are told apart. Errors of the file are left to ferror(out). O(nodes +
 * ports).
 */
int fab_export_ibnetdiscover(FILE *out, const struct fab_fabric *f,
			     struct fab_err *err) FAB_MUST_CHECK;
