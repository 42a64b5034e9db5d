/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of options that all commands check alike. */
#include <string.h>

#include "base/num.h"
#include "cli/cli.h"

void fab_cli_set_fabric(struct fab_cli_input *input, const char *arg,
			struct argp_state *state)
{
	if (input->fabric)
		argp_error(state, "more than one FABRIC: '%s' and '%s'", input->fabric,
			   arg);
	if (!*arg)
		argp_error(state, "FABRIC is empty");
	input->fabric = arg;
	fab_cli_note_input("FABRIC", arg);
}

uint64_t fab_cli_number(const char *option, const char *arg, uint64_t min, uint64_t max,
			struct argp_state *state)
{
	uint64_t n = min;

	if (!fab_parse_u64(arg, strlen(arg), min, max, &n))
		argp_error(state, "%s: '%s' is not a number from %llu to %llu", option,
			   arg, (unsigned long long)min, (unsigned long long)max);
	return n;
}
