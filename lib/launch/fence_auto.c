/* SPDX-License-Identifier: BSD-2-Clause */
/* Names that stand for one of the others. */
#include "launch/fence.h"

/* As Slurm's plugin for PMIx chooses with SLURM_PMIX_FENCE=auto. */
static const struct fab_fence_algorithm *slurm(const struct fab_fence_job *job,
					       uint32_t *width)
{
	if (job->is_collecting && job->bytes)
		return &fab_fence_ring;
	*width = job->tree_width ? job->tree_width : FAB_FENCE_TREE_WIDTH;
	return &fab_fence_tree;
}

const struct fab_fence_algorithm fab_fence_slurm_auto = {
	.form = "slurm-auto",
	.summary = "as Slurm: ring with data, else tree",
	.manual = "What SLURM_PMIX_FENCE=auto does: `ring` when data is collected and "
		  "there "
		  "is any, `tree` with Slurm's TreeWidth otherwise.",
	.is_in_all = true,
	.stands_for = slurm,
};

const struct fab_fence_algorithm fab_fence_auto = {
	.form = "auto",
	.summary = "the fastest one here",
	.manual = "Whichever of the others takes least time here; the report says why.",
	.is_in_all = true,
};
