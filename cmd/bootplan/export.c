/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of fabric-bootplan that put a mapping into effect. */
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "bootplan.h"

enum { OPT_TO = 0x160, OPT_TO_OUT, OPT_HOSTS, OPT_BOOT_FILE };

static const struct argp_option options[] = {
	{.doc = "Configuration for boot servers:", .group = 5},
	{"to", OPT_TO, "FORMAT", 0,
	 "With --to-out: csv, json, dnsmasq, dhcpd, xcat, warewulf or openchami", 5},
	{"to-out", OPT_TO_OUT, "FILE", 0,
	 "Write the mapping of the one algorithm to FILE in the format of --to (- is "
	 "standard output)",
	 5},
	{"hosts", OPT_HOSTS, "FILE", 0,
	 "MAC and IP addresses of nodes and servers: lines NAME MAC [IP], MAC NAME or IP "
	 "NAME...",
	 5},
	{"boot-file", OPT_BOOT_FILE, "NAME", 0,
	 "What a node loads first (default ipxe.efi)", 5},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct bootplan_export *e = state->input;

	switch (key) {
	case OPT_TO:
		e->format = fab_boot_format_find(arg);
		e->has_format = true;
		if (e->format == FAB_N_BOOT_FORMATS)
			argp_error(state, "--to: '%s' is no format: there are %s", arg,
				   fab_boot_format_names());
		return 0;
	case OPT_TO_OUT:
		e->path = fab_cli_output_name("--to-out", arg, state);
		return 0;
	case OPT_HOSTS:
		e->hosts = fab_cli_file_name("--hosts", arg, state);
		return 0;
	case OPT_BOOT_FILE:
		e->boot_file = arg;
		return 0;
	case ARGP_KEY_END:
		if (e->has_format != (e->path != NULL))
			argp_error(state, "--to=FORMAT and --to-out=FILE go together");
		if (e->hosts && !e->path)
			argp_error(state, "--hosts goes with --to and --to-out only");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp bootplan_export_argp = {.options = options, .parser = parse};

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
			    interface_of, addresses,
			    e->boot_file ? e->boot_file : "ipxe.efi", &err))
		fab_cli_die(&err);
	fab_host_addresses_free(addresses);
}
