/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups of a pattern. */
#include <errno.h>
#include <stdlib.h>

#include "mcast/groups_impl.h"
#include "traffic/pattern.h"

struct taker {
	struct fab_groups_builder *b;
	enum fab_scope scope;
};

static void begin(void *context, const char *name, size_t len)
{
	fab_groups_builder_begin(((struct taker *)context)->b, name, len);
}

static void add(void *context, uint32_t port)
{
	const struct taker *t = context;

	fab_groups_builder_add_scope(t->b, port, t->scope);
}

int fab_groups_add_pattern(struct fab_groups_builder *b, const char *spec, uint64_t seed,
			   struct fab_err *err)
{
	struct taker taker = {.b = b};
	const struct fab_pattern_sink sink = {begin, add, &taker};
	size_t n_before = b->first.n;
	struct fab_pattern p;
	char *source;
	int rc = fab_pattern_parse(spec, seed, &p, err);

	if (rc)
		return rc;
	taker.scope = p.per_host ? FAB_SCOPE_HOST : FAB_SCOPE_ADAPTER;
	source = fab_format("--pattern %s", spec);
	fab_groups_builder_enter(b, source);
	free(source);
	rc = fab_pattern_make(&p, b->f, &sink, err);
	fab_groups_builder_leave(b);
	if (!rc && b->first.n == n_before)
		rc = fab_fail(err, EINVAL,
			      "--pattern %s makes no group of two processes or more",
			      spec);
	return rc;
}

int fab_groups_check_pattern(const char *spec, struct fab_err *err)
{
	struct fab_pattern p;

	return fab_pattern_parse(spec, 0, &p, err);
}
