/* SPDX-License-Identifier: BSD-2-Clause */
/* Built without libpmix. */
#include <stdio.h>

#include "launch/calibrate_impl.h"

void fab_calibrate_pmix(const char *tmp_dir, struct fab_calibration *out)
{
	(void)tmp_dir;
	snprintf(out->pmix_problem, sizeof(out->pmix_problem),
		 "this program was built without it (-Dpmix=enabled)");
}
