/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/guids.h"

#include "base/text.h"

#include <errno.h>

struct fab_map64 *fab_guids_new(const struct fab_fabric *f, uint32_t n_nodes)
{
	struct fab_map64 *map = fab_map64_new(n_nodes);

	for (uint32_t i = 0; i < n_nodes; i++)
		if (fab_map64_put(map, f->node_guid[i], i) != i)
			fab_map64_set(map, f->node_guid[i], FAB_SHARED);
	return map;
}

int fab_guids_differ(const struct fab_fabric *f, uint32_t n_nodes, const char *what,
		     struct fab_err *err)
{
	struct fab_map64 *seen = fab_map64_new(n_nodes);
	uint32_t first = 0, i = 0;
	char name[128], other[128];

	while (i < n_nodes && (first = fab_map64_put(seen, f->node_guid[i], i)) == i)
		i++;
	fab_map64_free(seen);
	if (i == n_nodes)
		return 0;
	fab_text_safe(fab_node_name(f, first), name, sizeof(name));
	fab_text_safe(fab_node_name(f, i), other, sizeof(other));
	return fab_fail(err, EINVAL,
			"%s: GUID 0x%016llx belongs to %s and to %s: %s name nodes by "
			"GUID, expected each to have its own",
			f->source, (unsigned long long)f->node_guid[i], name, other,
			what);
}
