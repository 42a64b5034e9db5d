/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/range.h"

#include <math.h>

int fab_launch_total_of(void *context, const struct fab_launch_params *params,
			double *out, struct fab_err *err)
{
	struct fab_launch_start start = *(const struct fab_launch_start *)context;

	start.params = params;
	start.timer.us = NULL;
	return fab_stages_total_s(&start, out, err);
}

int fab_launch_range_find(const struct fab_launch_params *params, const bool *uses,
			  double base, fab_launch_figure_fn *figure, void *context,
			  struct fab_launch_range *out, struct fab_err *err)
{
	struct fab_launch_params with = *params;
	double coarse, widest = 0;
	int rc = figure(context, params, &coarse, err);

	*out = (struct fab_launch_range){.low = (double)NAN,
					 .high = (double)NAN,
					 .by = FAB_N_LAUNCH_CONSTANTS,
					 .least_by = FAB_N_LAUNCH_CONSTANTS,
					 .least = base,
					 .most = base};
	for (size_t i = 0; i < FAB_N_LAUNCH_CONSTANTS && !rc; i++) {
		const struct fab_launch_value *v = &params->of[i];
		double limits[2], low = base, high = base;

		if (!fab_launch_limits(v, limits) || (uses && !uses[i]))
			continue;
		for (size_t k = 0; k < 2 && !rc; k++) {
			double at = 0;

			with.of[i].value = limits[k];
			rc = figure(context, &with, &at, err);
			low = fmin(low, base + at - coarse);
			high = fmax(high, base + at - coarse);
		}
		with.of[i].value = v->value;
		if (low < out->least) {
			out->least = low;
			out->least_by = (enum fab_launch_constant)i;
		}
		out->most = fmax(out->most, high);
		if (high - low > widest) {
			widest = high - low;
			out->low = low;
			out->high = high;
			out->by = (enum fab_launch_constant)i;
		}
	}
	return rc;
}
