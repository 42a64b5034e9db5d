/* SPDX-License-Identifier: BSD-2-Clause */
/* What trees are asked for: the fabric, its groups, and what is known of them already. */
#pragma once

#include "fabric/dist.h"
#include "fabric/shape.h"
#include "mcast/groups.h"
#include "mcast/roots.h"
#include "mcast/weights.h"

/* What all engines of a run share. */
struct fab_mcast_problem {
	const struct fab_fabric *f;
	const struct fab_dist *dist;
	const struct fab_groups *groups;
	/* what engines that heed loads balance; NULL: every group and cable counts 1 */
	const struct fab_weights *weights;
	/* candidates of all groups, where they are there already; NULL: they are found
	 * when they are asked for */
	const struct fab_roots *roots;
	/* of the fabric, where somebody has recognised it; NULL: fab_mcast_shape() does
	 */
	const struct fab_shape *shape;
};

/* The shape of the fabric: the problem's, or else recognised, which the caller frees from
 * *own (NULL: nothing to free). As fab_shape_recognize(). */
const struct fab_shape *fab_mcast_shape(const struct fab_mcast_problem *problem,
					struct fab_shape **own);
