/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/units.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/num.h"

enum { TEXT_MAX = 40 };

/* The number in front; *unit is what follows it, one blank skipped. */
static bool split(const char *text, size_t len, char *copy, double *value,
		  const char **unit)
{
	size_t digits;
	char *end;

	if (len == 0 || len >= TEXT_MAX)
		return false;
	memcpy(copy, text, len);
	copy[len] = 0;
	digits = strspn(copy, "0123456789.");
	if (!digits || strlen(copy) != len || !strpbrk(copy, "0123456789") ||
	    (copy[0] == '0' && (copy[1] == 'x' || copy[1] == 'X')))
		return false;
	errno = 0;
	*value = strtod(copy, &end);
	if (errno || end < copy + digits || !isfinite(*value))
		return false;
	if (*end == ' ' && end[1])
		end++;
	*unit = end;
	return true;
}

/* Length of the text that a message shows. */
static int shown(size_t len)
{
	return len < TEXT_MAX ? (int)len : TEXT_MAX;
}

/* Number without a unit: name what is missing, with the number and a likely unit. */
static int without_unit(const char *text, size_t len, const char *kind, const char *unit,
			struct fab_err *err)
{
	return fab_fail(err, EINVAL, "'%.*s' has no unit: expected a %s such as %.*s%s",
			shown(len), text, kind, shown(len), text, unit);
}

/* Are all of these characters, which no NUL need follow, in the set? */
static bool are_all_of(const char *text, size_t len, const char *set)
{
	for (size_t i = 0; i < len; i++)
		if (!text[i] || !strchr(set, text[i]))
			return false;
	return true;
}

/* A decimal number times `scale`; ERANGE above `max`, EINVAL if not whole. */
static int parse_scaled(const char *text, size_t len, uint64_t scale, uint64_t max,
			uint64_t *out)
{
	const char *point = memchr(text, '.', len);
	size_t n = point ? (size_t)(point - text) : len;
	uint64_t value, digit_worth = scale;

	if ((n > 1 && text[0] == '0' && (text[1] | 32) == 'x') || (point && n + 1 == len))
		return -EINVAL;
	if (!fab_parse_u64(text, n, 0, UINT64_MAX, &value))
		return n && are_all_of(text, n, "0123456789") ? -ERANGE : -EINVAL;
	if (__builtin_mul_overflow(value, scale, &value))
		return -ERANGE;
	for (size_t i = n + 1; i < len; i++) {
		uint64_t digit = (uint64_t)(text[i] - '0');

		if (text[i] < '0' || text[i] > '9' || (digit && digit_worth < 10))
			return -EINVAL;
		digit_worth /= 10;
		if (__builtin_add_overflow(value, digit * digit_worth, &value))
			return -ERANGE;
	}
	if (value > max)
		return -ERANGE;
	*out = value;
	return 0;
}

struct time_unit {
	const char *name;
	uint64_t scale;
};

static int parse_time(const char *text, size_t len, const struct time_unit *unit,
		      uint64_t per_second, const char *names, uint64_t max, uint64_t *out,
		      struct fab_err *err)
{
	size_t n = 0, name_len = 0;
	int rc = -EINVAL;

	if (len == 1 && *text == '0') {
		*out = 0;
		return 0;
	}
	if (len && *text != '.' && text[len - 1] != '.' &&
	    are_all_of(text, len, "0123456789."))
		return without_unit(text, len, "time", "us", err);
	/* the longest name fits: `ms` before `s` */
	for (; unit->name; unit++) {
		n = strlen(unit->name);
		if (len > n && !memcmp(text + len - n, unit->name, n) && n > name_len) {
			size_t digits = len - n;

			if (digits > 1 && text[digits - 1] == ' ')
				digits--;
			name_len = n;
			rc = parse_scaled(text, digits, unit->scale, max, out);
		}
	}
	if (!rc)
		return 0;
	if (rc == -ERANGE)
		return fab_fail(err, EINVAL, "time '%.*s' is longer than %.9gs",
				shown(len), text, (double)max / (double)per_second);
	return fab_fail(err, EINVAL, "'%.*s' is no time: expected a number and %s",
			shown(len), text, names);
}

int fab_parse_time_ns(const char *text, size_t len, uint64_t max_ns, uint64_t *out,
		      struct fab_err *err)
{
	static const struct time_unit units[] = {{"ns", 1},
						 {"us", 1000},
						 {"ms", 1000000},
						 {"s", UINT64_C(1000000000)},
						 {"min", UINT64_C(60000000000)},
						 {"h", UINT64_C(3600000000000)},
						 {"d", UINT64_C(86400000000000)},
						 {"w", UINT64_C(604800000000000)},
						 {"y", UINT64_C(31557600000000000)},
						 {0}};

	return parse_time(text, len, units, UINT64_C(1000000000),
			  "ns, us, ms, s, min, h, d, w or y", max_ns, out, err);
}

int fab_parse_time_ps(const char *text, size_t len, uint64_t max_ps, uint64_t *out,
		      struct fab_err *err)
{
	static const struct time_unit units[] = {{"ps", 1},
						 {"ns", 1000},
						 {"us", 1000000},
						 {"ms", 1000000000},
						 {"s", UINT64_C(1000000000000)},
						 {0}};

	return parse_time(text, len, units, UINT64_C(1000000000000),
			  "ps, ns, us, ms or s", max_ps, out, err);
}

struct unit {
	const char *name;
	double factor;
};

/* A number times the factor of its unit. Units of several characters that end in B may be
 * written in any case. */
static int parse_unit(const char *text, size_t len, const struct unit *unit,
		      const char *kind, const char *likely, const char *expected,
		      double *out, struct fab_err *err)
{
	char copy[TEXT_MAX];
	const char *name = "";
	double value;
	bool is_number = split(text, len, copy, &value, &name);
	size_t n = strlen(name);

	if (is_number && !*name && value > 0)
		return without_unit(text, len, kind, likely, err);
	for (; is_number && unit->name; unit++)
		if (n > 1 && name[n - 1] == 'B' ? !strcasecmp(name, unit->name)
						: !strcmp(name, unit->name)) {
			*out = value * unit->factor;
			return 0;
		}
	return fab_fail(err, EINVAL, "'%.*s' is no %s: expected a number and %s",
			shown(len), text, kind, expected);
}

int fab_parse_size_bytes(const char *text, size_t len, uint64_t *bytes,
			 struct fab_err *err)
{
	static const struct unit units[] = {
		{"B", 1},	 {"kB", 1e3},	{"MB", 1e6},	  {"GB", 1e9},
		{"TB", 1e12},	 {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 0x1p30},
		{"TiB", 0x1p40}, {"k", 1024},	{"K", 1024},	  {"M", 1048576},
		{"G", 0x1p30},	 {"T", 0x1p40}, {NULL, 0}};
	double all;
	int rc = parse_unit(
		text, len, units, "size", "B",
		"B, kB, MB, GB, TB, KiB, MiB, GiB or TiB (K, M, G, T: powers of 1024)",
		&all, err);

	if (rc)
		return rc;
	if (!(all > 0 && all <= 0x1p50))
		return fab_fail(err, EINVAL,
				"size '%.*s' is not between 1 byte and 2^50 bytes",
				shown(len), text);
	if (fabs(all - nearbyint(all)) > 1e-6)
		return fab_fail(err, EINVAL, "size '%.*s' is no whole number of bytes",
				shown(len), text);
	*bytes = (uint64_t)nearbyint(all);
	return 0;
}

int fab_parse_rate_mbps(const char *text, size_t len, double *mbps, struct fab_err *err)
{
	static const struct unit units[] = {
		{"k", 1e-3},	{"M", 1},	 {"G", 1e3},	{"T", 1e6},
		{"kbps", 1e-3}, {"Mbps", 1},	 {"Gbps", 1e3}, {"Tbps", 1e6},
		{"kb/s", 1e-3}, {"Mb/s", 1},	 {"Gb/s", 1e3}, {"Tb/s", 1e6},
		{"kB/s", 8e-3}, {"MB/s", 8},	 {"GB/s", 8e3}, {"kbit/s", 1e-3},
		{"Mbit/s", 1},	{"Gbit/s", 1e3}, {NULL, 0}};
	int rc = parse_unit(text, len, units, "rate", "Mb/s",
			    "a unit, such as 20Gbps or 125MB/s", mbps, err);

	if (!rc && !(*mbps > 0 && *mbps <= 1e9))
		return fab_fail(err, EINVAL,
				"rate '%.*s' is not above 0 and up to 1000 Tb/s",
				shown(len), text);
	return rc;
}

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
