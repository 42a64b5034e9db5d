/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of the fabric. */
#include "cli/cli.h"
#include "cli/internal.h"

enum { KEY_NODE_NAME_MAP = KEY_INPUT, KEY_HCA, KEY_SUBNET };

static const struct argp_option input_options[] = {
	{.doc = "Input:", .group = FAB_CLI_GROUP_INPUT},
	{.name = "node-name-map",
	 .key = KEY_NODE_NAME_MAP,
	 .arg = "FILE",
	 .doc = "Names for GUIDs, a line each: GUID \"NAME\"",
	 .group = FAB_CLI_GROUP_INPUT},
	{.name = "hca",
	 .key = KEY_HCA,
	 .arg = "PATTERN",
	 .doc = "Only adapters whose name matches (* ? [..]), with /N their port N; "
		"chooses "
		"a rail, with its switches",
	 .group = FAB_CLI_GROUP_INPUT},
	{.name = "subnet",
	 .key = KEY_SUBNET,
	 .arg = "FILE",
	 .doc = "Take LIDs from FILE, such as opensm-subnet.lst of the same fabric",
	 .group = FAB_CLI_GROUP_INPUT},
	{0},
};

static error_t parse_input(int key, char *arg, struct argp_state *state)
{
	struct fab_cli_input *input = state->input;

	switch (key) {
	case KEY_NODE_NAME_MAP:
		input->node_name_map = fab_cli_file_name("--node-name-map", arg, state);
		return 0;
	case KEY_HCA:
		if (!*arg)
			argp_error(state, "--hca: the pattern is empty");
		input->hca = arg;
		return 0;
	case KEY_SUBNET:
		input->subnet = fab_cli_file_name("--subnet", arg, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp fab_cli_input_argp = {.options = input_options, .parser = parse_input};
