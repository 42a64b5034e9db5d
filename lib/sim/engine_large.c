/* SPDX-License-Identifier: BSD-2-Clause */
/* The loop of sim/engine.c for the usual network with switches of any size. */
#define SIM_LANES 1
#define SIM_SMALL 0
#include "sim/engine.c"
