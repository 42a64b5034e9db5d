/* SPDX-License-Identifier: BSD-2-Clause */
/* Reader of group files, on a small fabric whose hosts are h0, h1, ... */
#include "fuzz.h"

#include "mcast/groups.h"
#include "source/source.h"

#include <stdlib.h>

/* Every group is sound: members once each, on switches that exist. */
static void check(const struct fab_fabric *f, const struct fab_groups *g)
{
	for (uint32_t i = 0; i < g->n; i++) {
		if (!fab_group_size(g, i) || !fab_group_n_switches(g, i) ||
		    g->same_as[i] > i)
			abort();
		for (uint64_t m = g->first[i]; m < g->first[i + 1]; m++)
			for (uint64_t k = m + 1; k < g->first[i + 1] && k < m + 8; k++)
				if (g->member[m] >= f->n_ports ||
				    g->member[m] == g->member[k])
					abort();
		for (uint64_t s = g->sw_first[i]; s < g->sw_first[i + 1]; s++)
			if (g->sw[s] >= f->n_switches)
				abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static struct fab_fabric *f;
	bool ignore_unknown = n && bytes[0] == '#';
	struct fab_groups_builder *b;
	struct fab_groups *groups;
	struct fab_err err = {""};

	if (!f && fab_source_open("gen:fattree:radix=4,levels=2", NULL, &f, &err))
		abort();
	b = fab_groups_builder_new(f);
	if (fab_groups_read(b, "input", (const char *)bytes, n, ignore_unknown, &err)) {
		if (!*err.text)
			abort();
		fab_groups_builder_free(b);
		return 0;
	}
	if (fab_groups_builder_finish(b, ignore_unknown, &groups, &err)) {
		if (!*err.text)
			abort();
		return 0;
	}
	check(f, groups);
	fab_groups_free(groups);
	return 0;
}
