/* SPDX-License-Identifier: BSD-2-Clause */
/* The loop of sim/engine.c for the usual network. */
#define SIM_PLAIN true
#include "sim/engine.c"
