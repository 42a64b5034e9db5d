/* SPDX-License-Identifier: BSD-2-Clause */
/* Observed starts and logs of the dynamic loader: the first byte says which. */
#include "fuzz.h"
#include "launch/fit.h"
#include "peer/child.h"

#include <math.h>

/* Most ranks of a start that is fitted here; more take long. */
enum { RANKS_MAX = 64 };

/* What is left unexplained is the measured time without the fitted one. */
static void fit(const struct fab_fit_start *start)
{
	struct fab_launch_params params;
	struct fab_put put = {14, 1, 51};
	const struct fab_puts keys = {.of = {&put, 1, 1}};
	const struct fab_launch_start base = {.n_nodes = 1,
					      .ppn = 1,
					      .interface = FAB_PMIX,
					      .keys = &keys,
					      .layout = {FAB_SIZE_LIBRARY, 10},
					      .degree = (double)NAN,
					      .fence = {FAB_FENCE_SLURM_AUTO, 0},
					      .params = &params};
	bool uses[FAB_N_LAUNCH_CONSTANTS] = {
		[FAB_CONST_fs_ops] = true, [FAB_CONST_discover_ms] = true};
	struct fab_fit x = {.starts = {*start}, .n_starts = 1};

	fab_launch_params_init(&params);
	if (is_refused(fab_fit_run(&x, &base, &params, uses, ERR)))
		return;
	NEVER(!(x.sum_after <= x.sum_before) || !(x.starts[0].misfit >= 1) ||
	      !(x.starts[0].low_s <= x.starts[0].high_s) ||
	      fabs(x.starts[0].measured_s - x.starts[0].after_s -
		   x.starts[0].unexplained_s) > 1e-9 * x.starts[0].measured_s);
}

static void try_start(const char *bytes, size_t n)
{
	FAB_AUTOFREE char *text = fab_strndup(bytes, n);
	struct fab_fit_start start;

	if (is_refused(fab_fit_parse(text, FAB_STAGE_STORM, &start, ERR)))
		return;
	NEVER(!start.nodes || start.ranks < start.nodes || !(start.measured_s > 0));
	if (start.ranks <= RANKS_MAX)
		fit(&start);
}

static void try_log(const char *bytes, size_t n)
{
	FAB_AUTO(fab_arena_free) struct fab_arena memory = FAB_ARENA_INIT;
	struct fab_loader_files files = {0};

	fab_loader_read_log(&memory, bytes, n, &files);
	NEVER(files.found.n + files.missing.n > n);
	for (size_t i = 0; i < files.found.n + files.missing.n; i++) {
		const char *path = i < files.found.n ? files.found.v[i]
						     : files.missing.v[i - files.found.n];

		NEVER(*path != '/' || strchr(path, '\n'));
	}
	FAB_FREE_ALL(files.found.v, files.missing.v);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	if (n)
		(bytes[0] & 1 ? try_start : try_log)((const char *)bytes + 1, n - 1);
	return 0;
}
