/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-bootplan: which nodes boot together. */
#include <stdlib.h>

#include "base/mem.h"
#include "bootplan.h"

int bootplan_make_batches(const struct bootplan_params *p, struct bootplan_outcome *o,
			  struct fab_err *err)
{
	const char *boot = p->boot ? p->boot : "all";
	bool is_file = bootplan_is_file(boot);
	struct fab_input in;
	int rc;

	if (p->is_sweep) {
		rc = fab_batch_sweep(o->m, p->sweep, p->run.seed, &o->batches,
				     &o->n_batches, err);
		if (rc)
			fab_err_prefix(err, "--sweep");
		return rc;
	}
	o->batches = FAB_NEW0(1, struct fab_batch);
	o->n_batches = 1;
	if (is_file) {
		rc = fab_input_read(boot, &in, err);
		if (rc)
			return rc;
		rc = fab_batch_read(o->m, bootplan_label(boot), in.bytes, in.n,
				    o->batches, err);
		fab_input_fini(&in);
	} else {
		rc = fab_batch_parse(o->m, boot, o->batches, err);
		if (rc)
			fab_err_prefix(err, "--boot");
	}
	if (!rc)
		fab_cli_tell_matches(&p->run, is_file ? bootplan_label(boot) : "--boot",
				     &o->batches->matches);
	return rc;
}
