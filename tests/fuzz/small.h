/* SPDX-License-Identifier: BSD-2-Clause */
/* For all targets whose input names members: a small fabric with odd names. */
#pragma once

#include "base/macros.h"
#include "fabric/builder.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { FUZZ_MAX_GROUPS = 100 };

static inline uint32_t fuzz_add(struct fab_builder *b, enum fab_node_kind kind,
				uint64_t guid, const char *name)
{
	struct fab_node_spec spec = {.kind = kind,
				     .guid = guid,
				     .n_ports = kind == FAB_SWITCH ? 36 : 2,
				     .name = name,
				     .name_len = strlen(name)};

	return fab_builder_add_node(b, &spec);
}

/*
 * Switches s and "leaf t" with a cable, u apart; hosts with one and two adapters, two
 * nodes of one name, names with odd characters, an adapter without a cable and an
 * aggregation node. It stays.
 */
static inline struct fab_fabric *fuzz_small_fabric(void)
{
	static const char *const names[] = {"n1 HCA-1",	 "n1 HCA-2", "twin",
					    "twin",	 "a \"b: c", "far HCA-1",
					    "#2 mlx5_0", "0x5",	     "lid:3"};
	static struct fab_fabric *f;

	if (f)
		return f;

	struct fab_builder *b = fab_builder_new();
	uint32_t s = fuzz_add(b, FAB_SWITCH, 0x51, "s");
	uint32_t t = fuzz_add(b, FAB_SWITCH, 0x52, "leaf t ");
	uint32_t u = fuzz_add(b, FAB_SWITCH, 0x53, "u");
	const uint32_t on[] = {s, s, t, t, t, u, s, t, s};

	fab_builder_add_cable(b, s, 20, t, 20, 4, FAB_HDR);
	fab_builder_set_port(b, s, 0, 0x51, 10, 0);
	for (uint16_t i = 0; i < FAB_COUNT(names); i++) {
		uint32_t node = fuzz_add(b, FAB_ADAPTER, 0xa0u + 16u * i, names[i]);

		fab_builder_set_port(b, node, 1, 0xa1u + 16u * i, i, 0);
		fab_builder_add_cable(b, node, 1, on[i], (uint16_t)(i + 1), 4, FAB_HDR);
	}
	fuzz_add(b, FAB_ADAPTER, 0x999, "idle HCA-1");
	fab_builder_add_cable(b, fuzz_add(b, FAB_AGGREGATION, 0xff, "agg"), 1, s, 36, 4,
			      FAB_HDR);
	if (fab_builder_finish(b, "test", "generated", NULL, &f, NULL))
		abort();
	return f;
}

/* What the pattern asks for is the caller's to decide; here it has to end soon. */
static inline bool fuzz_is_modest(const char *spec)
{
	const char *n = strstr(spec, "groups=");

	for (; n; n = strstr(n, "groups=")) {
		n += strlen("groups=");
		/* octal is not meant */
		if (strtoull(n, NULL, strncmp(n, "0x", 2) ? 10 : 16) > FUZZ_MAX_GROUPS)
			return false;
	}
	return true;
}
