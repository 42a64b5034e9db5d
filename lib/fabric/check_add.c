/* SPDX-License-Identifier: BSD-2-Clause */
/* One finding more. */
#include "fabric/check_impl.h"

#include <stdarg.h>
#include <stdio.h>

static char *key_of(const struct fab_fabric *f, struct fab_finding *at)
{
	if (at->cable != FAB_NONE)
		return fab_check_key_ports(f, f->cable_a[at->cable],
					   f->cable_b[at->cable]);
	if (at->port != FAB_NONE)
		return fab_check_key_ports(f, at->port, FAB_NONE);
	if (at->node != FAB_NONE)
		return fab_check_key_nodes(f, &at->node, 1);
	return fab_check_key_text(at->message);
}

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
	if (!at.key)
		at.key = key_of(c->f, &at);
	FAB_PUSH(&c->found, at);
}
