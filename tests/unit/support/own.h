/* SPDX-License-Identifier: BSD-2-Clause */
/* Variables of tests that release what they own where their block ends:
 * OWN(fab_fabric) *f = test_gen(spec); OWN(fab_analysis) a; OWN_HEAP uint32_t *list = ...
 * They are initialised, or filled before the block can be left. */
#pragma once

#include "boot/batch.h"
#include "boot/machine.h"
#include "fabric/check.h"
#include "fabric/diff.h"
#include "fabric/diff_plan.h"
#include "fabric/dist.h"
#include "fabric/edit.h"
#include "fabric/fabric.h"
#include "fabric/kfat.h"
#include "fabric/planes.h"
#include "fabric/ranks.h"
#include "fabric/resolver.h"
#include "fabric/shape.h"
#include "fabric/summary.h"
#include "support/plan.h"
#include "traffic/ends.h"
#include "unicast/analysis.h"
#include "unicast/faults.h"
#include "unicast/routes.h"

#include <stdlib.h>

#define OWN(type) __attribute__((cleanup(own_##type))) struct type
#define OWN_HEAP __attribute__((cleanup(own_heap)))

#define OWN_POINTER(type)                                                                \
	static inline void own_##type(struct type **x)                                   \
	{                                                                                \
		type##_free(*x);                                                         \
	}
#define OWN_VALUE(type, end)                                                             \
	static inline void own_##type(struct type *x)                                    \
	{                                                                                \
		end(x);                                                                  \
	}

OWN_POINTER(fab_check)
OWN_POINTER(fab_diff)
OWN_POINTER(fab_plan_diff)
OWN_POINTER(fab_dist)
OWN_POINTER(fab_editor)
OWN_POINTER(fab_fabric)
OWN_POINTER(fab_faults)
OWN_POINTER(fab_kfat)
OWN_POINTER(fab_machine)
OWN_POINTER(fab_planes)
OWN_POINTER(fab_resolver)
OWN_POINTER(fab_routes)
OWN_POINTER(fab_shape)
OWN_POINTER(fab_summary)
OWN_VALUE(fab_analysis, fab_analysis_fini)
OWN_VALUE(fab_batch, fab_batch_fini)
OWN_VALUE(fab_flow_ends, fab_flow_ends_fini)
OWN_VALUE(fab_ranks, fab_ranks_fini)
OWN_VALUE(plan, plan_free)

static inline void own_heap(void *x)
{
	free(*(void **)x);
}
