/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Times, sizes and rates as text: a decimal number and its unit, one blank between them
 * is accepted. A number without a unit is refused by name, except 0 of a time, which is
 * the same in every unit. Each function returns 0, or -EINVAL with one sentence in `err`
 * (which may be NULL) that says what was expected; `*out` is then unchanged. O(len).
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/macros.h"

/*
 * A time in nanoseconds, at most `max_ns`: `ns`, `us`, `ms`, `s`, `min`, `h`, `d`, `w` (7
 * days) or `y` (365.25 days). Fractions must come out as whole nanoseconds.
 */
int fab_parse_time_ns(const char *text, size_t len, uint64_t max_ns, uint64_t *out,
		      struct fab_err *err) FAB_MUST_CHECK;
/* A time in picoseconds, at most `max_ps`: `ps`, `ns`, `us`, `ms` or `s`. */
int fab_parse_time_ps(const char *text, size_t len, uint64_t max_ps, uint64_t *out,
		      struct fab_err *err) FAB_MUST_CHECK;

/*
 * A size in bytes, from 1 to 2^50: `B`, `kB` `MB` `GB` `TB` (powers of 1000), `KiB` `MiB`
 * `GiB` `TiB` or, as in GNU coreutils, `K` `M` `G` `T` (powers of 1024). `1.5MiB` is
 * accepted because it is a whole number of bytes. Case counts only in the last
 * character: `50Mb` is refused (bits or bytes?).
 */
int fab_parse_size_bytes(const char *text, size_t len, uint64_t *bytes,
			 struct fab_err *err) FAB_MUST_CHECK;

/*
 * A rate in Mb/s (10^6 bits per second), above 0 and up to 10^9: `20G` `20Gbps` `20Gb/s`
 * `20Gbit/s` `125MB/s` and the like.
 */
int fab_parse_rate_mbps(const char *text, size_t len, double *mbps,
			struct fab_err *err) FAB_MUST_CHECK;

/* Numbers as people read them, for tables and sentences; never for JSON or CSV. */
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
