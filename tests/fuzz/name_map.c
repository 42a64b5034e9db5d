/* SPDX-License-Identifier: BSD-2-Clause */
/* Reader of node name maps. */
#include "fuzz.h"

#include "source/reader.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct fab_name_map *map = NULL;
	struct fab_err err;
	const char *name;

	if (fab_name_map_parse("input", (const char *)bytes, n, &map, &err))
		return 0;
	name = fab_name_map_get(map, 1);
	if (name && (strlen(name) > n || !*name))
		__builtin_trap();
	fab_name_map_free(map);
	return 0;
}
