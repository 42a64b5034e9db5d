/* SPDX-License-Identifier: BSD-2-Clause */
/* The loop of sim/engine.c for the usual network. */
#define SIM_LANES 1
#include "sim/engine.c"
