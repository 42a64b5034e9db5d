/* SPDX-License-Identifier: BSD-2-Clause */
/* Expert settings of fabric-compare. */
#include "compare.h"

const struct fab_option compare_settings[] = {
	{"plot-kind", "KIND",
	 "Of a plot: distribution: cables by the least number of trees that they carry; or seconds: max_efi against time",
	 FAB_TAKES_ONE, FAB_TO(struct compare_params, plot_kind),
	 .choices = FAB_NAME_LIST([COMPARE_DISTRIBUTION] = "distribution",
				  [COMPARE_SECONDS] = "seconds"),
	 .preset = "distribution"},
	{0},
};
