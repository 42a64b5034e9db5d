/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/params.h"
#include "support/test.h"

static int read_text(struct fab_launch_params *p, const char *text, struct fab_err *err)
{
	return fab_launch_params_read(p, "f", text, strlen(text), err);
}

Test(launch_params, defaults_are_complete)
{
	struct fab_launch_params p;

	fab_launch_params_init(&p);
	for (size_t i = 0; i < FAB_N_LAUNCH_CONSTANTS; i++) {
		const char *name = fab_launch_constants.at(i).form;

		cr_expect(p.of[i].source[0] != '\0', "%s: no source", name);
		cr_expect(p.of[i].is_default, "%s", name);
		/* what was measured has a spread */
		cr_expect(p.of[i].origin != FAB_MEASURED || !isnan(p.of[i].spread), "%s",
			  name);
	}
	cr_expect_float_eq(FAB_PARAM(&p, o_us), 1, 0);
	cr_expect_float_eq(FAB_PARAM(&p, latency_us), 1.5, 0);
	cr_expect_float_eq(FAB_PARAM(&p, gap_ns_per_B), 0.1, 0);
	cr_expect_float_eq(FAB_PARAM(&p, copy_ns_per_B), 0.1, 0);
}

Test(launch_params, a_file_replaces_what_it_has)
{
	struct fab_launch_params p;

	fab_launch_params_init(&p);
	MUST(read_text(
		&p,
		"# ours\nfabric-launch-params 1\nhost n1\ncores 64\nsteal 0.5\n"
		"date 2026-11-22\nget_us 2.5 us - measured on our machine # here\n",
		ERR));
	cr_expect_float_eq(FAB_PARAM(&p, get_us), 2.5, 0);
	cr_expect(isnan(p.of[FAB_CONST_get_us].spread));
	cr_expect_not(p.of[FAB_CONST_get_us].is_default);
	cr_expect_str_eq(p.of[FAB_CONST_get_us].source, "on our machine");
	cr_expect(p.of[FAB_CONST_put_us].is_default);
	cr_expect_str_eq(p.host, "n1");
}

static const struct {
	const char *text, *says;
} bad[] = {
	{"", "no parameter file"},
	{"get_us 2 us - measured\n", "no parameter file"},
	{"fabric-launch-params 2\n", "version '2'"},
	{"fabric-launch-params\n", "version ''"},
	{"fabric-launch-params 1\nget_us 2 1 measured\n",
	 "f:2: get_us: expected its unit, us"},
	{"fabric-launch-params 1\nget_us 2 ms - measured\n",
	 "expected its unit, us, found 'ms'"},
	{"fabric-launch-params 1\nget_us -2 us - measured\n", "from 0 to"},
	{"fabric-launch-params 1\nget_us nan us - measured\n", "from 0 to"},
	{"fabric-launch-params 1\nget_us 2\n", "expected its unit"},
	{"fabric-launch-params 1\nget_us 2 us\n", "spread"},
	{"fabric-launch-params 1\nget_us 2 us -\n", "origin"},
	{"fabric-launch-params 1\nget_us 2 us - guessed\n", "origin"},
	{"fabric-launch-params 1\nget_u 2 us - measured\n", "did you mean 'get_us'"},
	{"fabric-launch-params 1\nget_us 1 us - assumed\nget_us 1 us - assumed\n",
	 "f:3: get_us is there twice"},
	{"fabric-launch-params 1\ncores 0\n", "cores"},
	{"fabric-launch-params 1\nsteal 101\n", "steal"},
	{"fabric-launch-params 1\nhost\n", "value"},
	{"fabric-launch-params 1\ntree_width 0 1 - assumed\n", "from 1 to"},
	{"fabric-launch-params 1\nfs_ops 5 1/s 6..9 assumed\n", "LOW..HIGH"},
	{"fabric-launch-params 1\nfs_ops 5 1/s 1..4 assumed\n", "LOW..HIGH"},
	{"fabric-launch-params 1\nfs_ops 5 1/s 5..5 assumed\n", "LOW..HIGH"},
	{"fabric-launch-params 1\nfs_ops 5 1/s ..9 assumed\n", "LOW..HIGH"},
	{"fabric-launch-params 1\nfanout 2.5 1 - assumed\n", "whole number"},
};

Test(launch_params, files_that_are_none)
{
	for (size_t i = 0; i < FAB_COUNT(bad); i++) {
		struct fab_launch_params p, before;

		fab_launch_params_init(&p);
		before = p;
		FAILS(read_text(&p, bad[i].text, ERR), -EINVAL, bad[i].says);
		cr_expect_eq(memcmp(&p, &before, sizeof(p)), 0, "'%s' left something",
			     bad[i].text);
	}
}

Test(launch_params, one_by_hand)
{
	struct fab_launch_params p;

	fab_launch_params_init(&p);
	cr_expect_eq(fab_launch_params_set(&p, FAB_CONST_tree_width, 1.5, NULL), -EINVAL);
	cr_expect(p.of[FAB_CONST_tree_width].is_default);
	cr_assert_eq(fab_launch_params_set(&p, FAB_CONST_fs_MBps, 1e6, NULL), 0);
	cr_expect(p.of[FAB_CONST_fs_MBps].origin == FAB_GIVEN);
	cr_expect_float_eq(FAB_PARAM(&p, fs_MBps), 1e6, 0);
}
