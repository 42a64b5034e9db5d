/* SPDX-License-Identifier: BSD-2-Clause */
/* Prices; what they buy is a plan that keeps to its time. */
#include "boot/cost.h"
#include "boots.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const struct fab_transfer_options options = {.image_bytes = 1000000,
						     .n_files = 1};
	struct fab_machine *m = fuzz_small_machine();
	FAB_AUTO(fab_batch_fini) struct fab_batch all = {0};
	struct fab_cost_plan plan[4];
	struct fab_prices prices;
	uint32_t n_plans;

	if (is_refused_at(
		    fab_prices_read(m, "input", (const char *)bytes, n, &prices, ERR)))
		return 0;
	all = fab_batch_all(m);
	n_plans = fab_cost_frontier(m, &all, &options, &prices, FAB_COUNT(plan), plan);
	for (uint32_t i = 0; i < n_plans; i++)
		NEVER(!plan[i].n_servers || !(plan[i].cost >= 0) ||
		      (i && !(plan[i].seconds <= plan[i - 1].seconds * 0.51)));
	return 0;
}
