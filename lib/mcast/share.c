/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/share.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

int fab_groups_share(const struct fab_fabric *f, const struct fab_groups *groups,
		     uint32_t n_mlids, struct fab_groups **out, struct fab_err *err)
{
	struct fab_groups_builder *b = fab_groups_builder_new(f);

	for (uint32_t m = 0; m < n_mlids && m < groups->n; m++) {
		const char *name = fab_group_name(groups, m);

		fab_groups_builder_begin(b, name, strlen(name));
		for (uint64_t g = m; g < groups->n; g += n_mlids)
			for (uint64_t i = groups->first[g]; i < groups->first[g + 1]; i++)
				fab_groups_builder_add(b, groups->member[i]);
	}
	return fab_groups_builder_finish(b, false, out, err);
}

uint32_t fab_shared_max_efi(const struct fab_fabric *f,
			    const struct fab_mcast_result *result, uint32_t n_groups,
			    uint32_t n_mlids)
{
	const struct fab_forest *t = &result->forest;
	uint32_t *load = FAB_NEW0(f->n_switch_links, uint32_t), max = 0;

	for (uint32_t m = 0; m < t->n; m++) {
		uint32_t sharing = (n_groups - m - 1) / n_mlids + 1;

		for (uint64_t e = t->first[m]; e < t->first[m + 1]; e++) {
			load[t->cable[e]] += sharing;
			if (load[t->cable[e]] > max)
				max = load[t->cable[e]];
		}
	}
	free(load);
	return max;
}
