/* SPDX-License-Identifier: BSD-2-Clause */
/* Reader of node name maps. */
#include "fuzz.h"
#include "source/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct fab_name_map *map = NULL;
	const char *name;

	if (is_refused(fab_name_map_parse("input", (const char *)bytes, n, &map, ERR)))
		return 0;
	name = fab_name_map_get(map, 1);
	NEVER(name && (strlen(name) > n || !*name));
	fab_name_map_free(map);
	return 0;
}
