/* SPDX-License-Identifier: BSD-2-Clause */
#include "boot/units.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

int fab_parse_size_bytes(const char *text, size_t len, uint64_t *bytes,
			 struct fab_err *err)
{
	static const struct {
		const char *name;
		double factor;
	} units[] = {{"", 1},	      {"B", 1},	      {"kB", 1e3},   {"MB", 1e6},
		     {"GB", 1e9},     {"TB", 1e12},   {"KiB", 1024}, {"MiB", 1048576},
		     {"GiB", 0x1p30}, {"TiB", 0x1p40}};
	char copy[TEXT_MAX];
	const char *unit = "";
	double value;
	int shown = len < TEXT_MAX ? (int)len : TEXT_MAX;

	if (!split(text, len, copy, &value, &unit))
		goto bad;
	for (size_t i = 0; i < FAB_COUNT(units); i++) {
		double all = value * units[i].factor;
		size_t n = strlen(unit);

		if (strcasecmp(unit, units[i].name) != 0 || (n && unit[n - 1] != 'B'))
			continue;
		if (!(all > 0 && all <= 0x1p50))
			return fab_fail(
				err, EINVAL,
				"size '%.*s' is not between 1 byte and 2^50 bytes", shown,
				text);
		if (fabs(all - nearbyint(all)) > 1e-6)
			return fab_fail(err, EINVAL,
					"size '%.*s' is no whole number of bytes", shown,
					text);
		*bytes = (uint64_t)nearbyint(all);
		return 0;
	}
bad:
	return fab_fail(
		err, EINVAL,
		"'%.*s' is no size: expected a number and B, kB, MB, GB, TB, KiB, "
		"MiB, GiB or TiB (B for bytes)",
		shown, text);
}

int fab_parse_rate_mbps(const char *text, size_t len, double *mbps, struct fab_err *err)
{
	static const struct {
		const char *name;
		double factor;
	} units[] = {{"", 1},	       {"k", 1e-3},    {"M", 1},       {"G", 1e3},
		     {"T", 1e6},       {"kbps", 1e-3}, {"Mbps", 1},    {"Gbps", 1e3},
		     {"Tbps", 1e6},    {"kb/s", 1e-3}, {"Mb/s", 1},    {"Gb/s", 1e3},
		     {"Tb/s", 1e6},    {"kB/s", 8e-3}, {"MB/s", 8},    {"GB/s", 8e3},
		     {"kbit/s", 1e-3}, {"Mbit/s", 1},  {"Gbit/s", 1e3}};
	char copy[TEXT_MAX];
	const char *unit = "";
	double value;
	int shown = len < TEXT_MAX ? (int)len : TEXT_MAX;

	if (!split(text, len, copy, &value, &unit))
		goto bad;
	for (size_t i = 0; i < FAB_COUNT(units); i++)
		if (!strcmp(unit, units[i].name)) {
			*mbps = value * units[i].factor;
			if (*mbps > 0 && *mbps <= 1e9)
				return 0;
			return fab_fail(err, EINVAL,
					"rate '%.*s' is not above 0 and up to 1000 Tb/s",
					shown, text);
		}
bad:
	return fab_fail(
		err, EINVAL,
		"'%.*s' is no rate: expected a number of Mb/s, or with a unit, such "
		"as 20Gbps or 125MB/s",
		shown, text);
}
