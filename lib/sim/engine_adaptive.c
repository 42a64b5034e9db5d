/* SPDX-License-Identifier: BSD-2-Clause */
/* The loop of sim/engine.c for adaptive routing on the usual network. */
#define SIM_LANES 2
#include "sim/engine.c"
