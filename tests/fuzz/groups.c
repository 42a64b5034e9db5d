/* SPDX-License-Identifier: BSD-2-Clause */
/* Files and patterns of multicast groups: the first byte says which, the rest is it. */
#include "fuzz.h"

#include "base/mem.h"
#include "fabric/builder.h"
#include "mcast/groups.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_GROUPS = 100, SEED = 1 };

static uint32_t add(struct fab_builder *b, enum fab_node_kind kind, uint64_t guid,
		    const char *name)
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
 * aggregation node.
 */
static struct fab_fabric *small_fabric(void)
{
	static const char *const names[] = {"n1 HCA-1",	 "n1 HCA-2", "twin",
					    "twin",	 "a \"b: c", "far HCA-1",
					    "#2 mlx5_0", "0x5",	     "lid:3"};
	struct fab_builder *b = fab_builder_new();
	uint32_t s = add(b, FAB_SWITCH, 0x51, "s");
	uint32_t t = add(b, FAB_SWITCH, 0x52, "leaf t ");
	uint32_t u = add(b, FAB_SWITCH, 0x53, "u");
	const uint32_t on[] = {s, s, t, t, t, u, s, t, s};
	struct fab_fabric *f = NULL;

	fab_builder_add_cable(b, s, 20, t, 20, 4, FAB_HDR);
	fab_builder_set_port(b, s, 0, 0x51, 10, 0);
	for (uint16_t i = 0; i < FAB_COUNT(names); i++) {
		uint32_t node = add(b, FAB_ADAPTER, 0xa0u + 16u * i, names[i]);

		fab_builder_set_port(b, node, 1, 0xa1u + 16u * i, i, 0);
		fab_builder_add_cable(b, node, 1, on[i], (uint16_t)(i + 1), 4, FAB_HDR);
	}
	add(b, FAB_ADAPTER, 0x999, "idle HCA-1");
	fab_builder_add_cable(b, add(b, FAB_AGGREGATION, 0xff, "agg"), 1, s, 36, 4,
			      FAB_HDR);
	if (fab_builder_finish(b, "test", "generated", NULL, &f, NULL))
		abort();
	return f;
}

/* What the pattern asks for is the caller's to judge; here it has to end soon. */
static bool is_modest(const char *spec)
{
	const char *n = strstr(spec, "groups=");

	for (; n; n = strstr(n, "groups=")) {
		n += strlen("groups=");
		/* octal is not meant */
		if (strtoull(n, NULL, strncmp(n, "0x", 2) ? 10 : 16) > MAX_GROUPS)
			return false;
	}
	return true;
}

/* Every group: at least one member, each once, on the switches listed. */
static void check_group(const struct fab_fabric *f, const struct fab_groups *g,
			uint32_t i)
{
	uint64_t seen = 0, listed = 0;

	if (!fab_group_size(g, i) || !fab_group_n_switches(g, i) || g->same_as[i] > i)
		abort();
	for (uint64_t m = g->first[i]; m < g->first[i + 1]; m++) {
		uint32_t sw = fab_port_switch(f, g->member[m]);

		if (f->n_ports > 64 || sw >= 64 || seen >> g->member[m] & 1)
			abort();
		seen |= (uint64_t)1 << g->member[m];
		listed |= (uint64_t)1 << sw;
	}
	for (uint64_t s = g->sw_first[i]; s < g->sw_first[i + 1]; s++) {
		if (!(listed >> g->sw[s] & 1))
			abort();
		listed &= ~((uint64_t)1 << g->sw[s]);
	}
	if (listed)
		abort();
}

/* Frees the builder. */
static void finish(const struct fab_fabric *f, struct fab_groups_builder *b,
		   bool skip_empty)
{
	struct fab_groups *g = NULL;
	struct fab_err err = {""};

	if (fab_groups_builder_finish(b, skip_empty, &g, &err)) {
		if (!*err.text)
			abort();
		return;
	}
	if (!g->n)
		abort();
	for (uint32_t i = 0; i < g->n; i++)
		check_group(f, g, i);
	fab_groups_free(g);
}

/* A refusal says why, acceptance gives sound groups. */
static void try_one(const struct fab_fabric *f, uint8_t how, const uint8_t *bytes,
		    size_t n)
{
	struct fab_groups_builder *b = fab_groups_builder_new(f);
	bool ignore_unknown = how & 2;
	struct fab_err err = {""};
	int rc = 0;

	if (how & 1) {
		char *spec = fab_strndup((const char *)bytes, n);

		if (is_modest(spec))
			rc = fab_groups_add_pattern(b, spec, SEED, &err);
		free(spec);
	} else {
		rc = fab_groups_read(b, "input", (const char *)bytes, n, ignore_unknown,
				     &err);
	}
	if (!rc) {
		finish(f, b, ignore_unknown);
		return;
	}
	if (!*err.text)
		abort();
	fab_groups_builder_free(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static struct fab_fabric *f;

	if (!f)
		f = small_fabric();
	if (n)
		try_one(f, bytes[0], bytes + 1, n - 1);
	return 0;
}
