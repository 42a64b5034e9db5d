/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-bootplan --to: a mapping as configuration for boot servers. */
#include <stdlib.h>

#include "bootplan.h"

void bootplan_export(const struct bootplan_export *e, const struct fab_machine *m,
		     const struct fab_batch *batch, const uint32_t *interface_of,
		     struct fab_cli_results *results)
{
	struct fab_host_addresses *addresses = NULL;
	struct fab_err err;

	if (e->hosts) {
		struct fab_input in;

		bootplan_read(e->hosts, &in);
		if (fab_host_addresses_read(bootplan_label(e->hosts), in.bytes, in.n,
					    &addresses, &err))
			fab_cli_die(&err);
		fab_input_fini(&in);
	}
	if (fab_export_boot(fab_cli_open_result(results, e->path), e->format, m, batch,
			    interface_of, addresses, e->boot_file, &err))
		fab_cli_die(&err);
	fab_host_addresses_free(addresses);
}
