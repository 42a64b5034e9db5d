/* SPDX-License-Identifier: BSD-2-Clause */
/* The fabric that this machine is attached to, by libibnetdisc over libibumad. */
#pragma once

#include "fabric/builder.h"

/*
 * Discover into a builder. `where` is what follows `ib:` in the FABRIC argument: empty,
 * CA or CA/PORT. Prints nothing, except what libibnetdisc prints when the fabric changes
 * under its hands. Errors: EINVAL a malformed `where`, ENODEV no such adapter or port or
 * no link on it, EACCES and others from opening the device, EIO the discovery failed,
 * ENOTSUP built without libibnetdisc. O(ports of the fabric) requests.
 */
int fab_netdisc_read(struct fab_builder *b, const char *where,
		     struct fab_err *err) FAB_MUST_CHECK;
