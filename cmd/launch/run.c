/* SPDX-License-Identifier: BSD-2-Clause */
/* From what a verb has computed to its report and the database. */
#include <stdlib.h>

#include "launch.h"

struct keeping {
	const struct launch_params *p;
	const struct fab_fabric *f;
	const struct launch_result *result;
};

static int keep(void *context, struct fab_err *err)
{
	const struct keeping *k = context;
	struct fab_draft d = {0};
	int rc;

	k->result->keep(&d, k->p, k->result->of);
	rc = fab_cli_add_run(&k->p->store, &k->p->run, k->f, fab_draft_run(&d), err);
	fab_draft_fini(&d);
	return rc;
}

int launch_finish(struct launch_params *p, const struct fab_fabric *f,
		  const struct launch_result *result, struct fab_cli_results *files,
		  struct fab_err *err)
{
	struct fab_cli_results none = {.n = 0};
	struct fab_cli_results *results = files ? files : &none;
	struct keeping keeping = {p, f, result};
	struct fab_report_options options;
	FILE *file = fab_cli_open_report(results, &p->output, &options);
	struct fab_report *r =
		fab_cli_begin_report(file, &options, "fabric-launch", result->primary, f);
	int rc;

	result->print(r, p, result->of, options.format);
	rc = fab_report_finish(r, err);
	return fab_cli_finish_results(results, rc, result->keep ? keep : NULL, &keeping,
				      err);
}
