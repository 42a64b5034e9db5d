/* SPDX-License-Identifier: BSD-2-Clause */
/* Files and patterns of multicast groups: the first byte says which, the rest is it. */
#include "mcast/groups.h"
#include "small.h"

/* Every group: at least one member, each once, on the switches listed. */
static void check_group(const struct fab_fabric *f, const struct fab_groups *g,
			uint32_t i)
{
	uint64_t seen = 0, listed = 0;

	NEVER(!fab_group_size(g, i) || !fab_group_n_switches(g, i) || g->same_as[i] > i);
	for (uint64_t m = g->first[i]; m < g->first[i + 1]; m++) {
		uint32_t sw = fab_port_switch(f, g->member[m]);

		NEVER(f->n_ports > 64 || sw >= 64 || seen >> g->member[m] & 1);
		seen |= (uint64_t)1 << g->member[m];
		listed |= (uint64_t)1 << sw;
	}
	for (uint64_t s = g->sw_first[i]; s < g->sw_first[i + 1]; s++) {
		NEVER(!(listed >> g->sw[s] & 1));
		listed &= ~((uint64_t)1 << g->sw[s]);
	}
	NEVER(listed);
}

/* A refusal says why, acceptance gives sound groups. */
static void try_one(const struct fab_fabric *f, uint8_t how, const char *text, size_t n)
{
	struct fab_groups_builder *b = fab_groups_builder_new(f);
	FAB_AUTO(fab_groups_free_at) struct fab_groups *g = NULL;
	FAB_AUTOFREE char *spec = fab_strndup(text, n);
	bool ignore_unknown = how & 2;
	int rc = 0;

	if (!(how & 1))
		rc = fab_groups_read(b, "input", text, n, ignore_unknown, ERR);
	else if (fuzz_is_modest(spec))
		rc = fab_groups_add_pattern(b, spec, 1, ERR);
	if (is_refused(rc)) {
		fab_groups_builder_free(b);
		return;
	}
	if (is_refused(fab_groups_builder_finish(b, ignore_unknown, &g, ERR)))
		return;
	NEVER(!g->n);
	for (uint32_t i = 0; i < g->n; i++)
		check_group(f, g, i);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct fab_fabric *f = fuzz_small_fabric();

	if (n)
		try_one(f, bytes[0], (const char *)bytes + 1, n - 1);
	return 0;
}
