/* SPDX-License-Identifier: BSD-2-Clause */
/* What a finding is about, in words that do not depend on the order of the input. */
#include "base/text.h"
#include "fabric/check_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUID_BYTES = 19 }; /* "0x", 16 digits, a blank or the end */

static int by_guid(const void *x, const void *y, void *fabric)
{
	const struct fab_fabric *f = fabric;
	uint64_t a = f->node_guid[*(const uint32_t *)x];
	uint64_t b = f->node_guid[*(const uint32_t *)y];

	return (a > b) - (a < b);
}

char *fab_check_key_nodes(const struct fab_fabric *f, uint32_t *nodes, size_t n)
{
	char *key = FAB_NEW(n * GUID_BYTES + 1, char), *at = key;

	qsort_r(nodes, n, sizeof(*nodes), by_guid, (void *)(uintptr_t)f);
	for (size_t i = 0; i < n; i++)
		at += snprintf(at, GUID_BYTES + 1, "%s0x%016llx", i ? " " : "",
			       (unsigned long long)f->node_guid[nodes[i]]);
	return key;
}

static char *port_text(const struct fab_fabric *f, uint32_t port)
{
	return fab_format("0x%016llx/%u",
			  (unsigned long long)f->node_guid[f->port_node[port]],
			  f->port_num[port]);
}

static bool comes_before(const struct fab_fabric *f, uint32_t a, uint32_t b)
{
	uint64_t ga = f->node_guid[f->port_node[a]], gb = f->node_guid[f->port_node[b]];

	return ga != gb ? ga < gb : f->port_num[a] < f->port_num[b];
}

char *fab_check_key_ports(const struct fab_fabric *f, uint32_t a, uint32_t b)
{
	char *first, *second, *key;

	if (b == FAB_NONE)
		return port_text(f, a);
	first = port_text(f, comes_before(f, a, b) ? a : b);
	second = port_text(f, comes_before(f, a, b) ? b : a);
	key = fab_format("%s %s", first, second);
	free(first);
	free(second);
	return key;
}

char *fab_check_key_text(const char *text)
{
	size_t size = 4 * strlen(text) + 1, n = 0;
	char *safe = FAB_NEW(size, char), *key = FAB_NEW(2 * size + 2, char);

	fab_text_safe(text, safe, size);
	key[n++] = '"';
	for (const char *p = safe; *p; p++) {
		if (*p == '"' || *p == '\\')
			key[n++] = '\\';
		key[n++] = *p;
	}
	key[n++] = '"';
	key[n] = '\0';
	free(safe);
	return key;
}
