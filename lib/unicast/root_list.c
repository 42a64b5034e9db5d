/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/root_list.h"

#include "fabric/resolver.h"
#include "source/list_file.h"

#include <errno.h>
#include <string.h>

struct reading {
	struct fab_lookup lookup;
	struct fab_ids *out;
};

static int take_line(void *context, const char *line, size_t len, struct fab_err *err)
{
	const struct reading *r = context;

	if (len > 2 && line[0] == '0' && (line[1] | 32) == 'x') {
		size_t n = 2;

		while (n < len && line[n] != ' ' && line[n] != '\t')
			n++;
		len = n;
	}
	return fab_lookup_list(&r->lookup, line, len, r->out, NULL, err);
}

int fab_root_list_read(const struct fab_fabric *f, const char *path, struct fab_ids *out,
		       struct fab_err *err)
{
	struct fab_resolver *resolver = fab_resolver_new(f);
	struct reading r = {fab_resolver_lookup(resolver, FAB_WANT_SWITCH), out};
	int rc = fab_list_file_read(path, take_line, &r, err);

	if (!rc && !out->of.n)
		rc = fab_fail(err, EINVAL, "%s: expected the GUIDs of roots, a line each",
			      path);
	fab_resolver_free(resolver);
	return rc;
}
