/* SPDX-License-Identifier: BSD-2-Clause */
/* Where fabric-bootplan has its machine from. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bootplan.h"
#include "fabric/resolver.h"

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

/* Hosts that an option names, or a file. */
static void add_servers(const struct fab_cli_run *run, const struct fab_lookup *hosts,
			const char *given, struct fab_ids *ids)
{
	struct fab_matches matches = {.with_names = run->verbose};
	bool is_file = bootplan_is_file(given);
	struct fab_err err;
	int rc;

	if (is_file) {
		struct fab_input in;

		bootplan_read(given, &in);
		rc = fab_lookup_lines(hosts, bootplan_label(given), in.bytes, in.n, ids,
				      &matches, &err);
		fab_input_fini(&in);
	} else {
		rc = fab_lookup_list(hosts, given, strlen(given), ids, &matches, &err);
		if (rc)
			fab_err_prefix(&err, "--servers");
	}
	if (rc)
		fab_cli_die(&err);
	fab_cli_tell_matches(run, is_file ? bootplan_label(given) : "--servers",
			     &matches);
}

struct fab_machine *bootplan_machine_of_fabric(const struct fab_cli_run *run,
					       const struct fab_fabric *f,
					       const char *const *given_servers,
					       size_t n_given, double default_mbps,
					       bool is_signalling)
{
	struct fab_machine_servers servers = {.default_mbps = default_mbps,
					      .is_signalling = is_signalling,
					      .resolver = fab_resolver_new(f)};
	const struct fab_lookup hosts =
		fab_resolver_lookup(servers.resolver, FAB_WANT_HOST);
	struct fab_ids ids = {0};
	struct fab_machine *m;
	struct fab_err err;

	for (size_t i = 0; i < n_given; i++)
		add_servers(run, &hosts, given_servers[i], &ids);
	servers.hosts = ids.of.v;
	servers.n_hosts = ids.of.n;
	if (fab_machine_of_fabric(f, &servers, &m, &err))
		fab_cli_die(&err);
	free(ids.of.v);
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
