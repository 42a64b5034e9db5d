/* SPDX-License-Identifier: BSD-2-Clause */
/* Findings as the rules of the check add them: formatted, with their key. */
#include "fabric/check_add.h"

#include "base/text.h"
#include "fabric/fabric.h"
#include "fabric/label.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Keys of findings, independent of the order of the input. */

enum { GUID_BYTES = 19 }; /* "0x", 16 digits, a blank or the end */

static int by_node_guid(const void *x, const void *y, void *fabric)
{
	const struct fab_fabric *f = fabric;
	uint64_t a = f->node_guid[*(const uint32_t *)x];
	uint64_t b = f->node_guid[*(const uint32_t *)y];

	return (a > b) - (a < b);
}

char *fab_check_key_nodes(struct fab_checker *c, uint32_t *nodes, size_t n)
{
	char *key = fab_arena_alloc(&c->check->arena, n * GUID_BYTES + 1, 1), *at = key;

	qsort_r(nodes, n, sizeof(*nodes), by_node_guid, (void *)(uintptr_t)c->f);
	for (size_t i = 0; i < n; i++)
		at += snprintf(at, GUID_BYTES + 1, "%s0x%016llx", i ? " " : "",
			       (unsigned long long)c->f->node_guid[nodes[i]]);
	return key;
}

/* The text of a finding in quotes, safe for a terminal. */
static char *key_text(struct fab_checker *c, const char *message)
{
	size_t size = 4 * strlen(message) + 1, n = 0;
	FAB_AUTOFREE char *safe = fab_text_safe(message, fab_alloc(size, 1), size);
	char *key = fab_arena_alloc(&c->check->arena, 2 * size + 2, 1);

	key[n++] = '"';
	for (const char *p = safe; *p; p++) {
		if (*p == '"' || *p == '\\')
			key[n++] = '\\';
		key[n++] = *p;
	}
	key[n++] = '"';
	key[n] = '\0';
	return key;
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
	at.message = fab_arena_strdup(&c->check->arena, text);
	if (at.cable != FAB_NONE) {
		at.peer_port = c->f->cable_b[at.cable];
		at.peer_node = c->f->port_node[at.peer_port];
	}
	if (!at.key)
		at.key = at.cable != FAB_NONE
				 ? fab_ports_key(c->f, &c->check->arena,
						 c->f->cable_a[at.cable], at.peer_port)
			 : at.port != FAB_NONE ? fab_ports_key(c->f, &c->check->arena,
							       at.port, FAB_NONE)
			 : at.node != FAB_NONE ? fab_check_key_nodes(c, &at.node, 1)
					       : key_text(c, at.message);
	FAB_PUSH(&c->found, at);
}
