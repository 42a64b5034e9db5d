/* SPDX-License-Identifier: BSD-2-Clause */
/* Options that commands share. */
#include "cli/command.h"
#include "cli/internal.h"

enum { MAX_THREADS = 4096 };

#define TO(member) FAB_TO(struct fab_cli_input, member)
const struct fab_option fab_cli_input_rows[] = {
	{.help = "Input:"},
	{"node-name-map", "FILE", "Names for GUIDs, a line each: GUID \"NAME\"",
	 FAB_TAKES_INPUT, TO(node_name_map)},
	{"hca", "PATTERN",
	 "Only adapters whose name matches (* ? [..]), with /N their port N; chooses "
	 "a rail, with its switches",
	 FAB_TAKES_TEXT, TO(hca)},
	{"subnet", "FILE",
	 "Take LIDs from FILE, such as opensm-subnet.lst of the same fabric",
	 FAB_TAKES_INPUT, TO(subnet)},
	{0},
};
#undef TO

#define TO(member) FAB_TO(struct fab_cli_output, member)
const struct fab_option fab_cli_output_rows[] = {
	{.help = "Output:"},
	{"output", "FILE", "Write the result to FILE, whole or not at all",
	 FAB_TAKES_OUTPUT, TO(path), .letter = 'o', .everyday = true},
	{"format", "FORMAT", "table (default), json or csv", FAB_TAKES_ONE, TO(format),
	 .flag = TO(has_format),
	 .choices = FAB_NAME_LIST([FAB_FORMAT_TABLE] = "table",
				  [FAB_FORMAT_JSON] = "json", [FAB_FORMAT_CSV] = "csv"),
	 .everyday = true},
	{"columns", "LIST", "Columns of the main table, separated by commas",
	 FAB_TAKES_TEXT, TO(columns), .everyday = true},
	{"list-columns", NULL, "Say which columns there are, and stop", FAB_TAKES_NOTHING,
	 TO(list_columns), .everyday = true},
	{"no-header", NULL, "Leave out headings", FAB_TAKES_NOTHING, TO(no_header)},
	{"color", "WHEN",
	 "Colour in tables: auto (default: on a terminal), always or never",
	 FAB_TAKES_ONE, TO(color),
	 .choices =
		 FAB_NAME_LIST([FAB_COLOR_AUTO] = "auto", [FAB_COLOR_ALWAYS] = "always",
			       [FAB_COLOR_NEVER] = "never")},
	{0},
};
#undef TO

#define TO(member) FAB_TO(struct fab_cli_run, member)
const struct fab_option fab_cli_run_rows[] = {
	{.help = "Run:"},
	{"quiet", NULL, "No progress, no warnings; errors only", FAB_TAKES_NOTHING,
	 TO(quiet), .letter = 'q', .everyday = true},
	{"verbose", NULL, "Say more, such as all warnings", FAB_TAKES_COUNT, TO(verbose),
	 .letter = 'v', .everyday = true},
	{"threads", "N",
	 "Use N threads (default: one a processor); the result is the same",
	 FAB_TAKES_NUMBER, TO(threads), .min = 1, .max = MAX_THREADS},
	{0},
};

const struct fab_option fab_cli_chance_rows[] = {
	{"seed", "N", "Seed of everything that is left to chance", FAB_TAKES_NUMBER,
	 TO(seed), .flag = TO(has_seed), .max = UINT64_MAX, .everyday = true},
	{"verify", NULL, "Check the result by a second, independent computation",
	 FAB_TAKES_NOTHING, TO(verify)},
	{0},
};
#undef TO

#define TO(member) FAB_TO(struct fab_cli_store, member)
const struct fab_option fab_cli_store_rows[] = {
	{"store", "FILE", "Add the result to the SQLite database FILE", FAB_TAKES_OUTPUT,
	 TO(path), .check = fab_cli_check_database, .everyday = true},
	{"label", "TEXT", "With --store: a name for this run", FAB_TAKES_TEXT, TO(label)},
	{0},
};
