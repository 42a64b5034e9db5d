/* SPDX-License-Identifier: BSD-2-Clause */
/* For targets that make a fabric, and a small one with odd names. */
#pragma once

#include "fabric/builder.h"
#include "fuzz.h"

enum { FUZZ_MAX_GROUPS = 100 };

static inline uint32_t fuzz_add(struct fab_builder *b, enum fab_node_kind kind,
				uint64_t guid, uint8_t n_ports, const char *name)
{
	return fab_builder_add_node(b, &(struct fab_node_spec){.kind = kind,
							       .guid = guid,
							       .n_ports = n_ports,
							       .name = name,
							       .name_len = strlen(name)});
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
	static const char *const switches[] = {"s", "leaf t ", "u"};
	static const uint32_t on[] = {0, 0, 1, 1, 1, 2, 0, 1, 0};
	static struct fab_fabric *f;
	struct fab_builder *b;

	if (f)
		return f;
	b = fab_builder_new();
	for (uint32_t i = 0; i < FAB_COUNT(switches); i++)
		fuzz_add(b, FAB_SWITCH, 0x51 + i, 36, switches[i]);
	fab_builder_add_cable(b, 0, 20, 1, 20, 4, FAB_HDR);
	fab_builder_set_port(b, 0, 0, 0x51, 10, 0);
	for (uint16_t i = 0; i < FAB_COUNT(names); i++) {
		uint32_t node = fuzz_add(b, FAB_ADAPTER, 0xa0u + 16u * i, 2, names[i]);

		fab_builder_set_port(b, node, 1, 0xa1u + 16u * i, i, 0);
		fab_builder_add_cable(b, node, 1, on[i], (uint16_t)(i + 1), 4, FAB_HDR);
	}
	fuzz_add(b, FAB_ADAPTER, 0x999, 2, "idle HCA-1");
	fab_builder_add_cable(b, fuzz_add(b, FAB_AGGREGATION, 0xff, 2, "agg"), 1, 0, 36,
			      4, FAB_HDR);
	OK(fab_builder_finish(b, "test", "generated", NULL, &f, ERR));
	return f;
}

/* What the pattern asks for is the caller's to decide; here it has to end soon. */
static inline bool fuzz_is_modest(const char *spec)
{
	while ((spec = strstr(spec, "groups="))) {
		spec += strlen("groups=");
		/* octal is not meant */
		if (strtoull(spec, NULL, strncmp(spec, "0x", 2) ? 10 : 16) >
		    FUZZ_MAX_GROUPS)
			return false;
	}
	return true;
}
