/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Service levels for paths that change lanes: a switch chooses the lane by service level,
 * in-port and out-port (SL2VL, IBA 1.3 section 7.6.6), so that two paths can share a
 * level where they agree in all entries that they use.
 */
#pragma once

#include "unicast/path.h"

enum { FAB_SLS_MAX = 16 };

struct fab_sl_packer;

/* For FAB_LANES_TABLE tables of `routes`: all switches, n_levels service levels (1 ..
 * FAB_SLS_MAX), nothing fixed yet. The caller frees. Fails with ERANGE when the tables
 * would take more than 1 GiB. */
int fab_sl_packer_new(struct fab_routes *routes, unsigned n_levels,
		      struct fab_sl_packer **out, struct fab_err *err) FAB_MUST_CHECK;
void fab_sl_packer_free(struct fab_sl_packer *packer);

/*
 * The lowest service level >= first whose entries agree with lane[i] at hop[i], which are
 * then fixed; FAB_SL_NONE when none of the levels does. O(levels * hops).
 */
unsigned fab_sl_packer_add(struct fab_sl_packer *packer, const struct fab_hop *hops,
			   const uint8_t *lanes, uint32_t n, unsigned first);

/* Do the entries of a service level agree with that? O(hops). */
bool fab_sl_packer_fits(const struct fab_sl_packer *packer, const struct fab_hop *hops,
			const uint8_t *lanes, uint32_t n, unsigned sl);

/* Fix the entry of a hop for a service level, whatever it was. O(1). */
void fab_sl_packer_set(struct fab_sl_packer *packer, const struct fab_hop *hop,
		       unsigned sl, uint8_t lane);

/* What add fixed since a mark can be taken back. The first mark begins to keep account of
 * it. */
size_t fab_sl_packer_mark(struct fab_sl_packer *packer);
void fab_sl_packer_back(struct fab_sl_packer *packer, size_t mark);

/* Hand the tables over to the routes: lanes, vl_first, sl2vl; free entries are lane 0. */
void fab_sl_packer_finish(struct fab_sl_packer *packer);
