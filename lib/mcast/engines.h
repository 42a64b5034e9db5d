/* SPDX-License-Identifier: BSD-2-Clause */
/* The engines by name: what a file adds here and in engines.c to be in the table. */
#pragma once

#include "mcast/engine.h"

extern const struct fab_mcast_engine fab_mcast_minihop, fab_mcast_minihop_new;
extern const struct fab_mcast_engine fab_mcast_sssp, fab_mcast_sssp_new;
extern const struct fab_mcast_engine fab_mcast_sssp_heap, fab_mcast_sssp_heap_new;
extern const struct fab_mcast_engine fab_mcast_fulb, fab_mcast_fulb_links;
extern const struct fab_mcast_engine fab_mcast_opensm, fab_mcast_balanced;
