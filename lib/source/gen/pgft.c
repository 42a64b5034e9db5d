/* SPDX-License-Identifier: BSD-2-Clause */
/* Parallel-port generalised fat trees by their parameters. */
#include "source/gen/tree.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { H, M, W, P };

static const struct fab_gen_key keys[] = {
	[H] = {"h", FAB_GEN_NUMBER, .min = 1, .max = FAB_GEN_LIST_MAX,
	       .help = "levels of switches"},
	[M] = {"m", FAB_GEN_LIST, '/', .is_required = true, .min = 1,
	       .max = FAB_GEN_PORTS_MAX, .help = "children of a node, level 1 first"},
	[W] = {"w", FAB_GEN_LIST, '/', .is_required = true, .min = 1,
	       .max = FAB_GEN_PORTS_MAX, .help = "parents of a node, level 1 first"},
	[P] = {"p", FAB_GEN_LIST, '/', .min = 1, .max = FAB_GEN_PORTS_MAX,
	       .help = "parallel cables to a parent, level 1 first"},
};

static int build(struct fab_gen_net *net, const struct fab_gen_value *values,
		 struct fab_err *err)
{
	struct fab_gen_tree t = {.h = values[M].list.n};

	if (values[H].is_given && values[H].number != t.h)
		return fab_fail(err, EINVAL,
				"gen:%s: h=%" PRIu64 " but m has %" PRIu32 " numbers",
				net->kind, values[H].number, t.h);
	if (values[W].list.n != t.h)
		return fab_fail(err, EINVAL,
				"gen:%s: m has %" PRIu32 " numbers but w has %" PRIu32,
				net->kind, t.h, values[W].list.n);
	if (values[P].is_given && values[P].list.n != t.h)
		return fab_fail(err, EINVAL,
				"gen:%s: m has %" PRIu32 " numbers but p has %" PRIu32,
				net->kind, t.h, values[P].list.n);
	memcpy(t.m, values[M].list.v, sizeof(t.m));
	memcpy(t.w, values[W].list.v, sizeof(t.w));
	for (uint32_t l = 0; l < t.h; l++)
		t.p[l] = values[P].is_given ? values[P].list.v[l] : 1;
	return fab_gen_build_tree(net, &t, err);
}

const struct fab_gen_family fab_gen_pgft = {"pgft", keys, FAB_COUNT(keys), build};
