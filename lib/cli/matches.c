/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/cli.h"

#include "base/mem.h"
#include "cli/internal.h"

#include <stdlib.h>
#include <string.h>

static void tell(const struct fab_cli_run *run, const struct fab_match *m,
		 const char *where, const struct fab_matches *matches)
{
	bool has_names = run->verbose && m->which;
	bool is_option = !strncmp(where, "--", 2);
	char *text =
		fab_format(is_option ? "%s=%s: %zu %s%s%s" : "%s: %s: %zu %s%s%s", where,
			   m->item, m->n, m->n == 1 ? matches->one : matches->many,
			   has_names ? ": " : "", has_names ? m->which : "");

	fab_cli_message("", text);
	free(text);
}

void fab_cli_tell_matches(const struct fab_cli_run *run, const char *where,
			  struct fab_matches *matches)
{
	bool with_names = matches->with_names;

	for (size_t i = 0; i < matches->of.n && !run->quiet; i++)
		tell(run, &matches->of.v[i], where, matches);
	if (matches->n_others)
		fab_cli_note(run, "%s: and %llu more host lists and patterns", where,
			     (unsigned long long)matches->n_others);
	fab_matches_fini(matches);
	matches->with_names = with_names;
}
