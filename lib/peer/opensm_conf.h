/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that OpenSM reads: its configuration out of the site's, and LIDs. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

/*
 * Copy the options of the site's opensm.conf that routing depends on to `out`; names of
 * files become absolute. *sets_qos: it says whether there is quality of service. EINVAL,
 * ENOENT: `file:line: ` and what is wrong: a line without a value, a list of GUIDs that
 * cannot be read. O(bytes).
 */
int fab_opensm_conf_copy(const char *path, FILE *out, bool *sets_qos,
			 struct fab_err *err) FAB_MUST_CHECK;
