/* SPDX-License-Identifier: BSD-2-Clause */
/* usage: fence-counts FENCE NODES BYTES   messages of a fence's plan, and their bytes */
#include "launch/fence.h"

int main(int argc, char **argv)
{
	FAB_AUTO(fab_arena_free) struct fab_arena memory = FAB_ARENA_INIT;
	struct fab_fence_job job = {0};
	struct fab_fence_chosen fence;
	struct fab_fence_plan plan;
	uint64_t blocks = 0;
	struct fab_err err;

	if (argc != 4 || fab_fence_parse(argv[1], strlen(argv[1]), &fence, &err))
		return 2;
	job.n_nodes = (uint32_t)atoi(argv[2]);
	if (fab_fence_plan_make(&memory, fence, &job, &plan, &err))
		return 1;
	for (size_t i = 0; i < plan.messages.n; i++)
		blocks += (uint64_t)plan.messages.v[i].n_blocks * plan.n_repeats;
	printf("%zu %llu\n", plan.messages.n * plan.n_repeats,
	       (unsigned long long)blocks * strtoull(argv[3], NULL, 10));
	return 0;
}
