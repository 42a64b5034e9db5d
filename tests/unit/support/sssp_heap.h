/* SPDX-License-Identifier: BSD-2-Clause */
/* SSSP-MC as published, by a priority queue: the oracle of sssp and sssp-new. */
#pragma once

#include "mcast/engine/state.h"

extern const struct fab_mcast_engine sssp_heap, sssp_heap_new;
