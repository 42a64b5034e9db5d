/* SPDX-License-Identifier: BSD-2-Clause */
/* One finding more. */
#include "fabric/check_impl.h"

#include <stdarg.h>
#include <stdio.h>

void fab_checker_add(struct fab_checker *c, enum fab_severity severity, const char *code,
		     struct fab_finding at, const char *format, ...)
{
	char text[1024];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	at.code = code;
	at.severity = severity;
	at.message = fab_strdup(text);
	FAB_PUSH(&c->found, at);
}
