/* SPDX-License-Identifier: BSD-2-Clause */
/* Where fabric-bootplan has its machine from. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "bootplan.h"

bool bootplan_is_file(const char *path)
{
	struct stat st;

	return !strcmp(path, "-") || (!stat(path, &st) && !S_ISDIR(st.st_mode));
}

void bootplan_read(const char *path, struct fab_input *in)
{
	struct fab_err err;

	if (fab_input_read(path, in, &err))
		fab_cli_die(&err);
}

const char *bootplan_label(const char *path)
{
	return strcmp(path, "-") ? path : "standard input";
}

/* Patterns of a server file, a line each, # begins a comment; on the heap. */
static void add_server_lines(const struct fab_input *in, const char *path,
			     struct fab_machine_servers *servers, char ***patterns)
{
	const char *end = in->bytes + in->n;
	FAB_VEC(char *) list = {*patterns, servers->n, servers->n};
	size_t before = list.n;

	for (const char *line = in->bytes; line < end;) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		const char *last = stop ? stop : end;
		const char *hash = memchr(line, '#', (size_t)(last - line));
		const char *next = last + 1;

		last = hash ? hash : last;
		while (line < last && strchr(" \t\r", *line))
			line++;
		while (last > line && strchr(" \t\r", last[-1]))
			last--;
		if (last > line)
			FAB_PUSH(&list, fab_strndup(line, (size_t)(last - line)));
		line = next;
	}
	if (list.n == before)
		fab_cli_exit(FAB_EXIT_ERROR, "%s names no server: expected a name a line",
			     bootplan_label(path));
	*patterns = list.v;
	servers->n = list.n;
}

struct fab_machine *bootplan_machine_of_fabric(const struct fab_fabric *f,
					       const char *const *given_servers,
					       size_t n_given, double default_mbps)
{
	struct fab_machine_servers servers = {.default_mbps = default_mbps};
	char **patterns = NULL;
	struct fab_machine *m;
	struct fab_err err;

	for (size_t i = 0; i < n_given; i++) {
		const char *given = given_servers[i];

		if (bootplan_is_file(given)) {
			struct fab_input in;

			bootplan_read(given, &in);
			add_server_lines(&in, given, &servers, &patterns);
			fab_input_fini(&in);
		} else {
			patterns = fab_realloc(patterns, servers.n + 1, sizeof(char *));
			patterns[servers.n++] = fab_strdup(given);
		}
	}
	servers.patterns = (const char *const *)patterns;
	if (fab_machine_of_fabric(f, &servers, &m, &err))
		fab_cli_die(&err);
	for (size_t i = 0; i < servers.n; i++)
		free(patterns[i]);
	free(patterns);
	return m;
}

struct fab_machine *bootplan_machine_of_text(const char *given)
{
	struct fab_machine *m;
	struct fab_err err;
	int rc;

	if (bootplan_is_file(given)) {
		struct fab_input in;

		bootplan_read(given, &in);
		rc = fab_machine_read(bootplan_label(given), in.bytes, in.n, &m, &err);
		fab_input_fini(&in);
	} else {
		rc = fab_machine_parse(given, &m, &err);
		if (rc && !strpbrk(given, "=:"))
			fab_cli_exit(FAB_EXIT_ERROR,
				     "--machine: '%s' is no file, and no list of levels "
				     "LEVEL=N[@RATE]",
				     given);
	}
	if (rc)
		fab_cli_die(&err);
	return m;
}
