/* SPDX-License-Identifier: BSD-2-Clause */
/* The engines by name: a file adds its row here. */
#pragma once

#include "mcast/engine.h"

/* In the order in which they are documented: fab_mcast_<row>. */
#define FAB_MCAST_ENGINES(ROW)                                                           \
	ROW(minihop)                                                                     \
	ROW(minihop_new)                                                                 \
	ROW(sssp)                                                                        \
	ROW(sssp_new)                                                                    \
	ROW(sssp_heap)                                                                   \
	ROW(sssp_heap_new)                                                               \
	ROW(fulb)                                                                        \
	ROW(fulb_links)                                                                  \
	ROW(fulb_mean)                                                                   \
	ROW(fulb_local)                                                                  \
	ROW(opensm)                                                                      \
	ROW(balanced)                                                                    \
	ROW(optimal)

#define FAB_DECLARE(row) extern const struct fab_mcast_engine fab_mcast_##row;
FAB_MCAST_ENGINES(FAB_DECLARE)
#undef FAB_DECLARE
