/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of the database of results, and adding a run to it. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/internal.h"

/* One argument as a shell would read it; returns the end of what was written. */
static char *quote(char *out, const char *arg)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-_=+:,./@%^";

	if (*arg && strspn(arg, plain) == strlen(arg))
		return stpcpy(out, arg);
	*out++ = '\'';
	for (; *arg; arg++)
		if (*arg == '\'')
			out = stpcpy(out, "'\\''");
		else
			*out++ = *arg;
	*out++ = '\'';
	*out = 0;
	return out;
}

char *fab_cli_quote(int n, char **args)
{
	size_t size = 1;
	char *text, *end;

	for (int i = 0; i < n; i++)
		size += 4 * strlen(args[i]) + 3;
	end = text = fab_zalloc(size, 1);
	for (int i = 0; i < n; i++) {
		if (i)
			*end++ = ' ';
		end = quote(end, args[i]);
	}
	return text;
}

int fab_cli_check_database(const char *path, struct fab_err *err)
{
	if (strcmp(path, "-") != 0)
		return 0;
	return fab_fail(err, EINVAL, "a database cannot be standard output");
}

int fab_cli_open_store(struct fab_cli_store *store, struct fab_err *err)
{
	return !store->path
		       ? 0
		       : fab_store_open(store->path, FAB_STORE_WRITE, &store->store, err);
}

int fab_cli_add_run(const struct fab_cli_store *store, const struct fab_cli_run *cli,
		    const struct fab_fabric *f, const struct fab_store_run *run,
		    struct fab_err *err)
{
	const struct fab_cli_shard *shard = store->shard;
	struct fab_store_run complete = *run;
	struct fab_store_shard part;
	char host[256] = "", when[32];
	time_t now = time(NULL);
	struct tm utc;
	uint64_t id;
	int rc;

	if (!store->store)
		return 0;
	if (gethostname(host, sizeof(host) - 1) != 0)
		*host = 0;
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	complete.time = when;
	complete.command = program_invocation_short_name;
	complete.version = FAB_VERSION;
	complete.arguments = store->arguments;
	complete.host = host;
	complete.label = store->label;
	if (f)
		complete.fabric = fab_fabric_brief(f);
	if (shard && shard->part.count) {
		part = (struct fab_store_shard){
			shard->part.number, shard->part.count, shard->items, shard->all,
			shard->unit,	    store->job,	       shard->input};
		complete.shard = &part;
		complete.n_shard = 1;
	}
	rc = fab_store_add(store->store, &complete, &id, err);
	if (!rc)
		fab_cli_note(cli, "stored as run %" PRIu64 " in %s", id, store->path);
	return rc;
}

void fab_cli_close_store(struct fab_cli_store *store)
{
	fab_store_close(store->store);
	store->store = NULL;
	free(store->arguments);
	free(store->job);
	store->arguments = store->job = NULL;
}
