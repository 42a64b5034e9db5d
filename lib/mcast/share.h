/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * More groups than multicast LIDs: what it costs when groups share them.
 *
 * A switch holds as many multicast LIDs as its table has rows (SwitchInfo
 * MulticastFDBCap, often 1024), and the least of all switches counts. OpenSM 3.3.23 gives
 * every group an MLID of its own and refuses to create a group when none is left; only
 * IPv6 solicited-node groups share one, with its option consolidate_ipv6_snm_req. Groups
 * that share an MLID have one tree over the members of all of them, and each sends along
 * the whole of it.
 */
#pragma once

#include "mcast/route.h"

/*
 * The groups that n_mlids > 0 shared MLIDs make: number m has the members of the groups
 * m, m + n_mlids, m + 2 n_mlids and so on, and the name of the first. The caller frees
 * *out with fab_groups_free(). EINVAL when members of groups that would share are in
 * parts of the fabric that are not connected. O(members + ports).
 */
int fab_groups_share(const struct fab_fabric *f, const struct fab_groups *groups,
		     uint32_t n_mlids, struct fab_groups **out,
		     struct fab_err *err) FAB_MUST_CHECK;

/*
 * Largest EFI of a switch-to-switch cable, counted in groups, not in trees: `result`
 * routes what fab_groups_share() made of n_groups groups and n_mlids MLIDs. O(tree edges
 * + cables).
 */
uint32_t fab_shared_max_efi(const struct fab_fabric *f,
			    const struct fab_mcast_result *result, uint32_t n_groups,
			    uint32_t n_mlids);
