/* SPDX-License-Identifier: BSD-2-Clause */
/* Switches and cables that die by name. */
#include "unicast/faults.h"

#include "source/list_file.h"

#include <stdlib.h>
#include <string.h>

/* Kill what a list names. */
static int add_list(struct fab_faults *faults, enum fab_want want, const char *text,
		    size_t len, struct fab_err *err)
{
	const struct fab_lookup lookup =
		fab_resolver_lookup(fab_faults_resolver(faults), want);
	struct fab_ids ids = {0};
	int rc = fab_lookup_list(&lookup, text, len, &ids, &faults->matches, err);

	for (size_t i = 0; i < ids.of.n; i++)
		fab_faults_kill(faults,
				(struct fab_fault){.is_cable = want == FAB_WANT_CABLE,
						   .id = ids.of.v[i]});
	free(ids.of.v);
	return rc;
}

int fab_faults_add_switches(struct fab_faults *faults, const char *text,
			    struct fab_err *err)
{
	return add_list(faults, FAB_WANT_SWITCH, text, strlen(text), err);
}

int fab_faults_add_cables(struct fab_faults *faults, const char *text,
			  struct fab_err *err)
{
	return add_list(faults, FAB_WANT_CABLE, text, strlen(text), err);
}

static int add_line(void *context, const char *line, size_t len, struct fab_err *err)
{
	static const char link[] = "link ";

	if (len > sizeof(link) - 1 && !memcmp(line, link, sizeof(link) - 1))
		return add_list(context, FAB_WANT_CABLE, line + sizeof(link) - 1,
				len - (sizeof(link) - 1), err);
	return add_list(context, FAB_WANT_SWITCH, line, len, err);
}

int fab_faults_add_file(struct fab_faults *faults, const char *path, struct fab_err *err)
{
	return fab_list_file_read(path, add_line, faults, err);
}
