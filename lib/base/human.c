/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/human.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const double MINUTE = 60, HOUR = 3600, DAY = 86400, YEAR = 365.25 * 86400;

/* Three digits; what rounds up to 1000 belongs to the next unit, which the caller asks.
 */
static double round3(double value)
{
	double scale;

	if (!(value > 0))
		return 0;
	scale = pow(10, 2 - floor(log10(value)));
	return round(value * scale) / scale;
}

/* `value` in the first unit of which it has fewer than 1000, or in the last. */
static char *scaled(double value, const char *const *units, char *out)
{
	while (units[1] && round3(value) >= 1000) {
		value /= 1000;
		units++;
	}
	if (round3(value) >= 1000)
		snprintf(out, FAB_HUMAN_BYTES, "%.4g %s", value, *units);
	else
		snprintf(out, FAB_HUMAN_BYTES, "%.3g %s", round3(value), *units);
	return out;
}

/* Whole `big` units and the rest in small ones; a rest of 0 is left out. */
static char *two_units(double seconds, double big, const char *big_name, double small,
		       const char *small_name, char *out)
{
	uint64_t n = (uint64_t)round(seconds / small);
	uint64_t per = (uint64_t)round(big / small);

	if (n % per)
		snprintf(out, FAB_HUMAN_BYTES, "%" PRIu64 " %s %" PRIu64 " %s", n / per,
			 big_name, n % per, small_name);
	else
		snprintf(out, FAB_HUMAN_BYTES, "%" PRIu64 " %s", n / per, big_name);
	return out;
}

char *fab_human_seconds(double seconds, char *out)
{
	static const char *const units[] = {"ns", "us", "ms", "s", NULL};

	if (!isfinite(seconds) || seconds < 0) {
		snprintf(out, FAB_HUMAN_BYTES, "unknown");
		return out;
	}
	if (seconds == 0) {
		snprintf(out, FAB_HUMAN_BYTES, "0 s");
		return out;
	}
	if (round3(seconds) < MINUTE)
		return scaled(seconds * 1e9, units, out);
	if (round(seconds) < HOUR)
		return two_units(seconds, MINUTE, "min", 1, "s", out);
	if (round(seconds / MINUTE) * MINUTE < DAY)
		return two_units(seconds, HOUR, "h", MINUTE, "min", out);
	if (seconds < YEAR)
		return two_units(seconds, DAY, "d", HOUR, "h", out);
	snprintf(out, FAB_HUMAN_BYTES, "%.3g years", seconds / YEAR);
	return out;
}

char *fab_human_count(uint64_t n, char *out)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, n), at = 0;

	for (int i = 0; i < len; i++) {
		if (i && len > 4 && (len - i) % 3 == 0)
			out[at++] = ' ';
		out[at++] = digits[i];
	}
	out[at] = '\0';
	return out;
}

char *fab_human_mbps(double mbps, char *out)
{
	static const char *const units[] = {"b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s", NULL};

	if (!isfinite(mbps) || mbps < 0) {
		snprintf(out, FAB_HUMAN_BYTES, "unknown");
		return out;
	}
	return scaled(mbps * 1e6, units, out);
}

char *fab_human_bytes(uint64_t bytes, char *out)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB", NULL};

	return scaled((double)bytes, units, out);
}

char *fab_human_counted(struct fab_arena *arena, uint64_t n, const char *one,
			const char *many)
{
	char count[FAB_HUMAN_BYTES];

	return fab_arena_format(arena, "%s %s%s", fab_human_count(n, count),
				n == 1 || !many ? one : many, n != 1 && !many ? "s" : "");
}
