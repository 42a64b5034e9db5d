/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The links that OpenSM writes to opensm-subnet.lst, a line an end:
 *   { SW Ports:24 SystemGUID:.. NodeGUID:.. PortGUID:.. VenID:.. DevID:.. Rev:..
 *     {description} LID:0001 PN:01 } { CA ... } PHY=4x LOG=ACT SPD=25
 * Old files have no SPD=. Numbers are hexadecimal, Ports, LID and PN too. A description
 * of 64 bytes cannot hold a forged second node, which takes more.
 */
#pragma once

#include "fabric/builder.h"
#include "source/scan.h"

/*
 * Read such a file into a builder. Warnings: foreign-line, malformed-line. Errors: EINVAL
 * when the input ends within a line. O(bytes).
 */
int fab_subnet_lst_read(struct fab_builder *b, const char *name, const char *text,
			size_t n, struct fab_err *err) FAB_MUST_CHECK;

/* Does the line belong to such a file? */
bool fab_is_subnet_lst_line(struct fab_span line);
