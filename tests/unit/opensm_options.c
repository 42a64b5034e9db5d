/* SPDX-License-Identifier: BSD-2-Clause */
#include "opensm/options.h"

#include "base/mem.h"
#include "support/process.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct fab_opensm_options of(const char *text)
{
	struct fab_opensm_options o;
	struct fab_err err = {""};

	fab_opensm_options_init(&o);
	cr_assert_eq(fab_opensm_options_parse(text, &o, &err), 0, "%s: %s", text,
		     err.text);
	return o;
}

Test(opensm_options, nothing_is_a_dry_run)
{
	static const char *const texts[] = {NULL, "", " ,\t,"};

	for (size_t i = 0; i < FAB_COUNT(texts); i++) {
		struct fab_opensm_options o = of(texts[i]);

		cr_assert_eq(o.mode, FAB_OPENSM_DRY_RUN);
		cr_assert_str_eq(o.engine->name, "balanced");
		cr_assert_eq(o.max_moved, UINT32_MAX);
		cr_assert_str_empty(o.file);
	}
}

Test(opensm_options, all_words)
{
	struct fab_opensm_options o =
		of("mode=on,algorithm=fulb max_moved=5, rebalance_changes=7,"
		   "rebalance_seconds=0,time_limit_ms=250,file=/etc/x.conf");

	cr_assert_eq(o.mode, FAB_OPENSM_ON);
	cr_assert_str_eq(fab_opensm_mode_name(o.mode), "on");
	cr_assert_str_eq(o.engine->name, "fulb");
	cr_assert_eq(o.max_moved, 5);
	cr_assert_eq(o.rebalance_changes, 7);
	cr_assert_eq(o.rebalance_seconds, 0);
	cr_assert_eq(o.time_limit_ms, 250);
	cr_assert_str_eq(o.file, "/etc/x.conf");
	cr_assert_eq(fab_opensm_options_parse("max_moved=all,file=y", &o, NULL), 0);
	cr_assert_eq(o.max_moved, UINT32_MAX);
	cr_assert_str_eq(o.file, "y");
}

Test(opensm_options, words_of_other_plugins_are_theirs)
{
	struct fab_opensm_options o =
		of("other=3 fabkit:mode=off mode=on,fabkit:max_moved=1");

	cr_assert_eq(o.mode, FAB_OPENSM_OFF);
	cr_assert_eq(o.max_moved, 1);
}

Test(opensm_options, bad_words_are_named_and_change_nothing)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{"mode=of", "mode=of: expected off, dry-run, on or own"},
		{"mode", "mode=: expected off, dry-run, on or own"},
		{"algorithm=sssp2", "algorithm=sssp2: expected a multicast algorithm "
				    "with trees of minimal height, as balanced or fulb"},
		{"max_moved=-1", "max_moved=-1: expected a number from 0 on"},
		{"time_limit_ms=0", "time_limit_ms=0: expected a number from 1 on"},
		{"rebalance_changes=4294967296",
		 "rebalance_changes=4294967296: expected a number from 0 on"},
		{"mode=on,modes=off",
		 "'modes=off': expected mode, algorithm, max_moved, rebalance_changes, "
		 "rebalance_seconds, time_limit_ms or file, each with =VALUE"},
		{"file=", "'file=': expected mode, algorithm, max_moved, "
			  "rebalance_changes, rebalance_seconds, time_limit_ms or file, "
			  "each with =VALUE"},
	};

	for (size_t i = 0; i < FAB_COUNT(bad); i++) {
		struct fab_opensm_options o = of("max_moved=3");
		struct fab_err err = {""};

		cr_assert_eq(fab_opensm_options_parse(bad[i].text, &o, &err), -EINVAL);
		cr_assert_str_eq(err.text, bad[i].says);
		cr_assert_eq(o.mode, FAB_OPENSM_DRY_RUN);
		cr_assert_eq(o.max_moved, 3);
	}
}

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	cr_assert_not_null(file);
	fputs(text, file);
	fclose(file);
}

Test(opensm_options, a_file_is_read_again)
{
	struct fab_opensm_options given, o = {0};
	struct fab_err err = {""};
	char name[TEMP_SIZE], *text, *want;

	close(mkstemp(temp_template(name)));
	write_file(name, "# what we want\nmode=on # now\n\nmax_moved=2\n");
	text = fab_format("mode=off,time_limit_ms=7,file=%s", name);
	given = of(text);
	cr_assert_eq(fab_opensm_options_read(&given, &o, &err), 0, "%s", err.text);
	cr_assert_eq(o.mode, FAB_OPENSM_ON);
	cr_assert_eq(o.max_moved, 2);
	cr_assert_eq(o.time_limit_ms, 7);
	cr_assert(!fab_opensm_options_equal(&given, &o));
	write_file(name, "mode=off\nmode=of\n");
	want = fab_format("%s:2: mode=of: expected off, dry-run, on or own", name);
	cr_assert_neq(fab_opensm_options_read(&given, &o, &err), 0);
	cr_assert_str_eq(err.text, want);
	cr_assert_eq(o.mode, FAB_OPENSM_ON);
	unlink(name);
	cr_assert_eq(fab_opensm_options_read(&given, &o, &err), -ENOENT);
	cr_assert_eq(o.max_moved, 2);
	free(want);
	free(text);
}

Test(opensm_options, a_line_that_is_gone_counts_no_longer)
{
	struct fab_opensm_options given, o = {0};
	struct fab_err err = {""};
	char name[TEMP_SIZE], *text, *want;

	close(mkstemp(temp_template(name)));
	write_file(name, "mode=on\nmax_moved=2\n");
	text = fab_format("mode=off file=%s", name);
	given = of(text);
	cr_assert_eq(fab_opensm_options_read(&given, &o, &err), 0, "%s", err.text);
	write_file(name, "mode=on\n");
	cr_assert_eq(fab_opensm_options_read(&given, &o, &err), 0, "%s", err.text);
	cr_assert_eq(o.mode, FAB_OPENSM_ON);
	cr_assert_eq(o.max_moved, UINT32_MAX);
	write_file(name, "");
	cr_assert_eq(fab_opensm_options_read(&given, &o, &err), 0, "%s", err.text);
	cr_assert(fab_opensm_options_equal(&given, &o), "not those of opensm.conf");
	write_file(name, "mode=on\nfile=/etc/other\n");
	want = fab_format("%s:2: file=/etc/other: not in a file, only in opensm.conf",
			  name);
	cr_assert_neq(fab_opensm_options_read(&given, &o, &err), 0);
	cr_assert_str_eq(err.text, want);
	cr_assert_eq(o.mode, FAB_OPENSM_OFF);
	unlink(name);
	free(want);
	free(text);
}
