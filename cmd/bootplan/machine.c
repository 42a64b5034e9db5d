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

const char *bootplan_label(const char *path)
{
	return strcmp(path, "-") ? path : "standard input";
}

/* Hosts that an option names, or a file. */
static int add_servers(const struct fab_cli_run *run, const struct fab_lookup *hosts,
		       const char *given, struct fab_ids *ids, struct fab_err *err)
{
	struct fab_matches matches = {.with_names = run->verbose};
	bool is_file = bootplan_is_file(given);
	struct fab_input in;
	int rc;

	if (is_file) {
		rc = fab_input_read(given, &in, err);
		if (rc)
			return rc;
		rc = fab_lookup_lines(hosts, bootplan_label(given), in.bytes, in.n, ids,
				      &matches, err);
		fab_input_fini(&in);
	} else {
		rc = fab_lookup_list(hosts, given, strlen(given), ids, &matches, err);
		if (rc)
			fab_err_prefix(err, "--servers");
	}
	if (!rc)
		fab_cli_tell_matches(run, is_file ? bootplan_label(given) : "--servers",
				     &matches);
	fab_matches_fini(&matches);
	return rc;
}

int bootplan_machine_of_fabric(const struct bootplan_params *p,
			       const struct fab_fabric *f,
			       const char *const *given_servers, size_t n_given,
			       struct fab_machine **out, struct fab_err *err)
{
	struct fab_machine_servers servers = {.default_mbps = p->default_mbps,
					      .is_signalling = p->rate,
					      .resolver = fab_resolver_new(f)};
	const struct fab_lookup hosts =
		fab_resolver_lookup(servers.resolver, FAB_WANT_HOST);
	struct fab_ids ids = {0};
	int rc = 0;

	for (size_t i = 0; i < n_given && !rc; i++)
		rc = add_servers(&p->run, &hosts, given_servers[i], &ids, err);
	servers.hosts = ids.of.v;
	servers.n_hosts = ids.of.n;
	if (!rc)
		rc = fab_machine_of_fabric(f, &servers, out, err);
	free(ids.of.v);
	return rc;
}

int bootplan_machine_of_text(const char *given, struct fab_machine **out,
			     struct fab_err *err)
{
	struct fab_input in;
	int rc;

	if (bootplan_is_file(given)) {
		rc = fab_input_read(given, &in, err);
		if (rc)
			return rc;
		rc = fab_machine_read(bootplan_label(given), in.bytes, in.n, out, err);
		fab_input_fini(&in);
		return rc;
	}
	rc = fab_machine_parse(given, out, err);
	if (rc && !strpbrk(given, "=:"))
		rc = fab_fail(err, -rc,
			      "--machine: '%s' is no file, and no list of levels "
			      "LEVEL=N[@RATE]",
			      given);
	return rc;
}
