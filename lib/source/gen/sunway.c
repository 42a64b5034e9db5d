/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Presets in the size of two machines. Their wiring is not published: these trees have
 * the published counts of processors and of shortest paths between a leaf and a top
 * switch (8 and 2).
 */
#include "source/gen/tree.h"

static int build_bluelight(struct fab_gen_net *net, const struct fab_gen_value *values,
			   struct fab_err *err)
{
	static const struct fab_gen_tree tree = {
		.h = 3, .m = {16, 16, 34}, .w = {1, 8, 2}, .p = {1, 2, 4}};

	(void)values;
	return fab_gen_build_tree(net, &tree, err);
}

static int build_taihulight(struct fab_gen_net *net, const struct fab_gen_value *values,
			    struct fab_err *err)
{
	static const struct fab_gen_tree tree = {
		.h = 3, .m = {16, 16, 160}, .w = {1, 16, 2}, .p = {1, 1, 2}};

	(void)values;
	return fab_gen_build_tree(net, &tree, err);
}

const struct fab_gen_family fab_gen_bluelight = {"bluelight", NULL, 0, build_bluelight};
const struct fab_gen_family fab_gen_taihulight = {"taihulight", NULL, 0,
						  build_taihulight};
