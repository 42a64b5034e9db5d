/* SPDX-License-Identifier: BSD-2-Clause */
/* The full fat tree (folded Clos) of switches of one radix. */
#include "source/gen/tree.h"

#include <errno.h>
#include <inttypes.h>

enum { RADIX, LEVELS, HOSTS };

static const struct fab_gen_key keys[] = {
	[RADIX] = {"radix", FAB_GEN_NUMBER, .is_required = true, .min = 2,
		   .max = FAB_GEN_PORTS_MAX, .help = "ports a switch, an even number"},
	[LEVELS] = {"levels", FAB_GEN_NUMBER, .min = 1, .max = FAB_GEN_LIST_MAX,
		    .fallback = 3, .help = "levels of switches"},
	[HOSTS] = {"hosts", FAB_GEN_NUMBER, .min = 0, .max = FAB_GEN_PORTS_MAX,
		   .help = "hosts a leaf switch"},
};

static int build(struct fab_gen_net *net, const struct fab_gen_value *values,
		 struct fab_err *err)
{
	uint32_t radix = (uint32_t)values[RADIX].number, half = radix / 2;
	struct fab_gen_tree t = {.h = (uint32_t)values[LEVELS].number, .radix = radix};
	uint32_t most = t.h == 1 ? radix : half;

	if (radix % 2)
		return fab_fail(err, EINVAL,
				"gen:%s: radix=%" PRIu32 ": an even number is needed",
				net->kind, radix);
	for (uint32_t l = 0; l < t.h; l++) {
		t.m[l] = l + 1 == t.h ? radix : half;
		t.w[l] = l ? half : 1;
		t.p[l] = 1;
	}
	if (values[HOSTS].is_given) {
		if (values[HOSTS].number > most)
			return fab_fail(err, EINVAL,
					"gen:%s: hosts=%" PRIu64
					": a leaf switch of radix %" PRIu32
					" has room for %" PRIu32,
					net->kind, values[HOSTS].number, radix, most);
		t.m[0] = (uint32_t)values[HOSTS].number;
	}
	return fab_gen_build_tree(net, &t, err);
}

const struct fab_gen_family fab_gen_fattree = {"fattree", keys, FAB_COUNT(keys), build};
