/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/engines.h"

#define ADDRESS(row) &fab_mcast_##row,
const struct fab_mcast_engine *const fab_mcast_engines[] = {FAB_MCAST_ENGINES(ADDRESS)};
const size_t fab_mcast_n_engines = FAB_COUNT(fab_mcast_engines);

static struct fab_choice choice_at(size_t i)
{
	const struct fab_mcast_engine *e = fab_mcast_engines[i];

	return (struct fab_choice){e->name, e->summary, e->manual, e->is_in_all};
}

const struct fab_choices fab_mcast_choices = {"algorithm", FAB_COUNT(fab_mcast_engines),
					      choice_at};

const struct fab_mcast_engine *fab_mcast_engine_find(const char *name, size_t len)
{
	uint32_t i = fab_choices_find(&fab_mcast_choices, name, len);

	return i == FAB_NONE ? NULL : fab_mcast_engines[i];
}

const char *fab_mcast_ended_name(enum fab_mcast_ended ended)
{
	static const char *const names[] = {
		[FAB_ENDED_DONE] = "done",     [FAB_ENDED_BOUND] = "bound",
		[FAB_ENDED_EXACT] = "exact",   [FAB_ENDED_STALL] = "stall",
		[FAB_ENDED_TIME] = "time",     [FAB_ENDED_STOPPED] = "interrupt",
		[FAB_ENDED_FAILED] = "failed",
	};

	return names[ended];
}
