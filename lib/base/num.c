/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/num.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

uint64_t fab_quantile_rank(double q, uint64_t n)
{
	/* 0.07 * 100 is above 7 */
	double at = ceil(q * (double)n * (1 - 4 * DBL_EPSILON));

	if (at < 1)
		return 0;
	return at < (double)n ? (uint64_t)at - 1 : n - 1;
}

double fab_quantile(const double *sorted, size_t n, double q)
{
	return sorted[fab_quantile_rank(q, n)];
}

bool fab_parse_hex(const char *text, size_t len, uint64_t *out)
{
	uint64_t value = 0;

	if (!len || len > 16)
		return false;
	for (size_t i = 0; i < len; i++) {
		char c = text[i] | 0x20; /* lower case */
		bool is_letter = c >= 'a' && c <= 'f';

		if (!is_letter && (text[i] < '0' || text[i] > '9'))
			return false;
		value = value << 4 | (uint64_t)(is_letter ? c - 'a' + 10 : text[i] - '0');
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
