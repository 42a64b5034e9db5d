/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers as people read them, for tables and sentences; never for JSON or CSV. */
#pragma once

#include "base/arena.h"
#include "base/macros.h"

/* Bytes that any of these texts needs, the NUL included. */
enum { FAB_HUMAN_BYTES = 64 };

/*
 * Seconds with the unit that fits: `8.9 us`, `1.3 ms`, `2.5 s`, `3 min 20 s`, `2 h 5
 * min`, `12 d 3 h`, `3.4 years`. Three digits at most below a minute. What is no finite
 * number is `unknown`. Returns `out`, of FAB_HUMAN_BYTES.
 */
char *fab_human_seconds(double seconds, char *out);
/* A count with its thousands apart: `9999`, `86 762`. Returns `out`. */
char *fab_human_count(uint64_t n, char *out);
/* A rate in Mb/s with the unit that fits: `250 Mb/s`, `1.25 Gb/s`. Returns `out`. */
char *fab_human_mbps(double mbps, char *out);
/* A size, powers of 1000: `50 MB`, `1.05 MB`, `12 B`. Returns `out`. */
char *fab_human_bytes(uint64_t bytes, char *out);

/* A count with its noun, in the arena: `1 switch`, `8 switches`; many NULL: one and "s".
 */
char *fab_human_counted(struct fab_arena *arena, uint64_t n, const char *one,
			const char *many);
