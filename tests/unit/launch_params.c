/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/params.h"
#include "support/test.h"

static int read_text(struct fab_launch_params *p, const char *text, struct fab_err *err)
{
	return fab_launch_params_read(p, "f", text, strlen(text), err);
}

Test(launch_params, defaults_and_what_replaces_them)
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
	/* one by hand */
	cr_expect_eq(fab_launch_params_set(&p, FAB_CONST_tree_width, 1.5, NULL), -EINVAL);
	cr_expect(p.of[FAB_CONST_tree_width].is_default);
	cr_assert_eq(fab_launch_params_set(&p, FAB_CONST_fs_MBps, 1e6, NULL), 0);
	cr_expect(p.of[FAB_CONST_fs_MBps].origin == FAB_GIVEN);
	cr_expect_float_eq(FAB_PARAM(&p, fs_MBps), 1e6, 0);
}

static const struct {
	const char *text, *says; /* the text follows "fabric-launch-params" */
} bad[] = {
	{" 2\n", "version '2'"},
	{"\n", "version ''"},
	{" 1\nget_us 2 1 measured\n", "f:2: get_us: expected its unit, us"},
	{" 1\nget_us 2 ms - measured\n", "expected its unit, us, found 'ms'"},
	{" 1\nget_us -2 us - measured\n", "from 0 to"},
	{" 1\nget_us 2\n", "expected its unit"},
	{" 1\nget_us 2 us\n", "spread"},
	{" 1\nget_us 2 us -\n", "origin"},
	{" 1\nget_us 2 us - guessed\n", "origin"},
	{" 1\nget_u 2 us - measured\n", "did you mean 'get_us'"},
	{" 1\nget_us 1 us - assumed\nget_us 1 us - assumed\n",
	 "f:3: get_us is there twice"},
	{" 1\ncores 0\n", "cores"},
	{" 1\nsteal 101\n", "steal"},
	{" 1\nhost\n", "value"},
	{" 1\ntree_width 0 1 - assumed\n", "from 1 to"},
	{" 1\nfs_ops 5 1/s 6..9 assumed\n", "LOW..HIGH"},
	{" 1\nfs_ops 5 1/s 1..4 assumed\n", "LOW..HIGH"},
	{" 1\nfs_ops 5 1/s 5..5 assumed\n", "LOW..HIGH"},
	{" 1\nfanout 2.5 1 - assumed\n", "whole number"},
};

Test(launch_params, files_that_are_none)
{
	struct fab_launch_params p, before;
	char text[128];

	fab_launch_params_init(&p);
	before = p;
	FAILS(read_text(&p, "", ERR), -EINVAL, "no parameter file");
	FAILS(read_text(&p, "get_us 2 us - measured\n", ERR), -EINVAL,
	      "no parameter file");
	for (size_t i = 0; i < FAB_COUNT(bad); i++) {
		snprintf(text, sizeof(text), "fabric-launch-params%s", bad[i].text);
		FAILS(read_text(&p, text, ERR), -EINVAL, bad[i].says);
		cr_expect_eq(memcmp(&p, &before, sizeof(p)), 0, "'%s' left something",
			     text);
	}
}
