/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* One line, whatever the values in it were. */
static void blank_controls(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = ' ';
}

int fab_fail(struct fab_err *err, int errnum, const char *format, ...)
{
	va_list values;

	if (err) {
		va_start(values, format);
		vsnprintf(err->text, sizeof(err->text), format, values);
		va_end(values);
		blank_controls(err->text);
	}
	return -errnum;
}

int fab_fail_line(struct fab_err *err, const char *file, uint64_t line,
		  const char *format, ...)
{
	va_list values;
	char text[sizeof(err->text)];

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	return fab_fail(err, EINVAL, "%s:%llu: %s", file, (unsigned long long)line, text);
}

int fab_fail_first(struct fab_err *err, const struct fab_rule *rules, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (rules[i].is_broken)
			return fab_fail(err, EINVAL, "%s", rules[i].text);
	return 0;
}

void fab_err_prefix(struct fab_err *err, const char *prefix)
{
	char text[sizeof(err->text)];

	if (!err)
		return;
	memcpy(text, err->text, sizeof(text));
	snprintf(err->text, sizeof(err->text), "%.200s: %.300s", prefix, text);
	blank_controls(err->text);
}
