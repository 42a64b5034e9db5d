/* SPDX-License-Identifier: BSD-2-Clause */
/* Pictures of the runs chosen. */
#include "compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { MAX_CURVES = 64 };

struct curves {
	FAB_VEC(struct fab_plot_curve) list;
};

static bool can_be_drawn(const struct fab_store_result *r, enum fab_plot_kind kind)
{
	if (kind == FAB_PLOT_DISTRIBUTION)
		return r->n_bins > 0;
	return fab_store_number_get(r->metrics, r->n_metrics, "seconds.total") > 0 &&
	       fab_store_number_get(r->metrics, r->n_metrics, "max_efi") >= 0;
}

static void collect(struct curves *c, enum fab_plot_kind kind,
		    const struct compare_item *items, size_t n_items)
{
	for (size_t i = 0; i < n_items; i++) {
		const struct fab_store_run *run = items[i].run;

		for (size_t k = 0; k < run->n_results; k++) {
			const struct fab_store_result *r = &run->results[k];

			if (items[i].algorithm &&
			    strcmp(items[i].algorithm, r->algorithm) != 0)
				continue;
			if (can_be_drawn(r, kind))
				FAB_PUSH(&c->list, ((struct fab_plot_curve){run, r}));
		}
	}
}

/* So many curves as can be told apart. */
static int check(const struct curves *c, struct fab_err *err)
{
	if (!c->list.n)
		return fab_fail(err, ENODATA,
				"--plot: nothing to draw in the runs chosen");
	if (c->list.n > MAX_CURVES)
		return fab_fail(err, E2BIG,
				"--plot: %zu results are too many for one picture (at "
				"most %d): choose runs or use --algorithm",
				c->list.n, MAX_CURVES);
	return 0;
}

void compare_plot(const struct fab_cli_plot *plot, enum fab_plot_kind kind,
		  const struct compare_item *items, size_t n_items,
		  struct fab_cli_results *results)
{
	struct curves c = {0};
	struct fab_err err;
	FILE *script;

	collect(&c, kind, items, n_items);
	fab_cli_fail_results(results, check(&c, &err), &err);
	script = fab_cli_begin_plot(results);
	fab_export_gnuplot(script, kind, plot->terminal, c.list.v, c.list.n);
	fab_cli_end_plot(script, plot->path, results);
	free(c.list.v);
}
