/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups out of what saquery(8) prints of the subnet administrator's member records:
 * `saquery -m` (a record a member), `saquery -g` before it (a record a group, which names
 * no members) and `saquery MCMR` (records in full). A line is a label, dots and a value:
 *
 *   MCMemberRecord member dump:
 *           MGID....................ff12:401b:ffff::ffff:ffff
 *           Mlid....................0xC000
 *           PortGid.................fe80::2:c903:0:5
 *           ScopeState..............0x21
 */
#pragma once

#include "mcast/groups.h"

/* Does the text begin like such output? O(first lines). */
bool fab_is_saquery(const char *text, size_t len);

/*
 * Add a group for each MLID, called 0xc000 and so on, ascending: what has one MLID has
 * one tree, whatever its MGIDs. Members are those that receive (JoinState bit 0: full),
 * found by port GUID, the lower half of PortGid. One that is not in the fabric is EINVAL
 * `FILE:LINE: ...` or with ignore_unknown counted; EINVAL, too, are a number that is
 * none, a record cut off before its MLID, PortGid and state, and output without any
 * member. O(n log n + ports).
 */
int fab_saquery_read(struct fab_groups_builder *b, const char *file, const char *text,
		     size_t len, bool ignore_unknown, struct fab_err *err) FAB_MUST_CHECK;
