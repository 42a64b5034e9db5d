/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/problem.h"

const struct fab_shape *fab_mcast_shape(const struct fab_mcast_problem *problem,
					struct fab_shape **own)
{
	*own = problem->shape ? NULL : fab_shape_recognize(problem->f);
	return problem->shape ? problem->shape : *own;
}
