/* SPDX-License-Identifier: BSD-2-Clause */
/* When has a network settled: windows of the warm-up, and what they say. */
#pragma once

#include <stdbool.h>

#include "base/mem.h"

enum sim_steady {
	SIM_UNSETTLED,
	SIM_SETTLED, /* throughput and latency are level */
	SIM_GROWING, /* latency grows with time: no warm-up has an end */
};

/* Packets delivered in a window of the warm-up. */
struct sim_window {
	uint64_t packets, bytes;
	double latency; /* sum, ticks */
};

struct sim_windows {
	FAB_VEC(struct sim_window) of;
	uint64_t ticks;	 /* of each */
	double per_byte; /* ticks of a byte on a host's cable */
};

/* Judge the windows so far. O(windows). */
enum sim_steady sim_windows_judge(const struct sim_windows *w);
