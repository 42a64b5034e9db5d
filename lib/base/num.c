/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/num.h"

#include <stdlib.h>
#include <string.h>

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool fab_parse_hex(const char *text, size_t len, uint64_t *out)
{
	uint64_t value = 0;

	if (!len || len > 16)
		return false;
	for (size_t i = 0; i < len; i++) {
		int d = hex_digit(text[i]);

		if (d < 0)
			return false;
		value = value << 4 | (uint64_t)d;
	}
	*out = value;
	return true;
}

static bool has_0x(const char *text, size_t len)
{
	return len > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

bool fab_parse_u64(const char *text, size_t len, uint64_t min, uint64_t max,
		   uint64_t *out)
{
	uint64_t value = 0;

	if (has_0x(text, len)) {
		if (!fab_parse_hex(text + 2, len - 2, &value))
			return false;
	} else {
		if (!len)
			return false;
		for (size_t i = 0; i < len; i++) {
			if (text[i] < '0' || text[i] > '9' ||
			    __builtin_mul_overflow(value, 10, &value) ||
			    __builtin_add_overflow(value, (uint64_t)(text[i] - '0'),
						   &value))
				return false;
		}
	}
	if (value < min || value > max)
		return false;
	*out = value;
	return true;
}

bool fab_parse_guid(const char *text, size_t len, uint64_t *out)
{
	uint64_t value = 0, group;

	if (has_0x(text, len))
		return fab_parse_hex(text + 2, len - 2, out);
	if (!memchr(text, ':', len))
		return len == 16 && fab_parse_hex(text, len, out);
	for (int i = 0; i < 4; i++) {
		const char *colon = i < 3 ? memchr(text, ':', len) : text + len;
		size_t n;

		if (!colon)
			return false;
		n = (size_t)(colon - text);
		if (n > 4 || !fab_parse_hex(text, n, &group))
			return false;
		value = value << 16 | group;
		len -= i < 3 ? n + 1 : n;
		text = colon + 1;
	}
	*out = value;
	return true;
}

/* A decimal number times `scale`, a power of ten; false unless that is a whole number. */
static bool parse_scaled(const char *text, size_t len, uint64_t scale, uint64_t max,
			 uint64_t *out)
{
	const char *point = memchr(text, '.', len);
	size_t n = point ? (size_t)(point - text) : len;
	uint64_t value, digit_worth = scale;

	if (n > 1 && has_0x(text, len))
		return false;
	if (!fab_parse_u64(text, n, 0, UINT64_MAX, &value) ||
	    __builtin_mul_overflow(value, scale, &value))
		return false;
	if (point && n + 1 == len)
		return false;
	for (size_t i = n + 1; i < len; i++) {
		uint64_t digit = (uint64_t)(text[i] - '0');

		if (text[i] < '0' || text[i] > '9' || (digit && digit_worth < 10))
			return false;
		digit_worth /= 10;
		if (__builtin_add_overflow(value, digit * digit_worth, &value))
			return false;
	}
	if (value > max)
		return false;
	*out = value;
	return true;
}

/* A number and one of the units, which are `scale` of the last; else of `plain`. */
static bool parse_time(const char *text, size_t len, uint64_t scale, uint64_t plain,
		       uint64_t max, uint64_t *out)
{
	static const struct {
		const char *name;
		uint64_t ps;
	} units[] = {{"ps", 1},
		     {"ns", 1000},
		     {"us", 1000000},
		     {"ms", 1000000000},
		     {"s", 1000000000000}};

	for (size_t i = 0; i < FAB_COUNT(units); i++) {
		size_t n = strlen(units[i].name);

		if (units[i].ps >= scale && len > n &&
		    !memcmp(text + len - n, units[i].name, n))
			return parse_scaled(text, len - n, units[i].ps / scale, max, out);
	}
	return parse_scaled(text, len, plain / scale, max, out);
}

bool fab_parse_time_ns(const char *text, size_t len, uint64_t max_ns, uint64_t *out)
{
	return parse_time(text, len, 1000, 1000000000000, max_ns, out);
}

bool fab_parse_time_ps(const char *text, size_t len, uint64_t max_ps, uint64_t *out)
{
	return parse_time(text, len, 1, 1000, max_ps, out);
}

bool fab_parse_real(const char *text, size_t len, double min, double max, double *out)
{
	char copy[64], *end;
	double value;

	if (!len || len >= sizeof(copy) || !strchr(".0123456789", *text))
		return false;
	memcpy(copy, text, len);
	copy[len] = 0;
	if (strspn(copy, ".0123456789eE+-") != len)
		return false;
	value = strtod(copy, &end);
	if (*end || !(value >= min && value <= max))
		return false;
	*out = value;
	return true;
}

uint64_t fab_gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

bool fab_time_has_unit(const char *text, size_t len)
{
	bool is_zero = true;

	for (size_t i = 0; i < len; i++)
		is_zero &= text[i] == '0' || text[i] == '.';
	return is_zero || (len && text[len - 1] == 's');
}
