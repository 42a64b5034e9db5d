/* SPDX-License-Identifier: BSD-2-Clause */
#include "opensm/options.h"
#include "support/process.h"
#include "support/test.h"

#include <sys/stat.h>
#include <unistd.h>

/* The test's folder, a file in it, and options that name the file. */
struct given {
	struct folder folder;
	char file[TEMP_SIZE + 8];
	struct fab_opensm_options o;
};

static struct fab_opensm_options of(const char *text)
{
	struct fab_opensm_options o;

	fab_opensm_options_init(&o);
	MUST(fab_opensm_options_parse(text, &o, ERR));
	return o;
}

static void given_init(struct given *g, const char *others)
{
	OWN_HEAP char *text = NULL;

	folder_init(&g->folder);
	umask(022);
	snprintf(g->file, sizeof(g->file), "%s/o", g->folder.path);
	text = fab_format("%s file=%s", others, g->file);
	g->o = of(text);
}

static void given_fini(struct given *g)
{
	folder_fini(&g->folder);
}

/* Reading the file again: `says` comes after the name of the folder. */
static void expect_refused(const struct given *g, struct fab_opensm_options *o, int error,
			   const char *says)
{
	OWN_HEAP char *whole = fab_format("%s/%s", g->folder.path, says);

	FAILS_AS(fab_opensm_options_read(&g->o, o, ERR), error, whole);
}

Test(opensm_options, words)
{
	static const char *const nothing[] = {NULL, "", " ,\t,"};
	static const struct {
		const char *text;
		uint32_t n, moved;
	} moves[] = {{"max_moved=5", 3, 5},	      {"max_moved=0", 100, 0},
		     {"max_moved=5%", 1000, 50},      {"max_moved=5%", 3, 1},
		     {"max_moved=0%", 100, 0},	      {"max_moved=100%", 7, 7},
		     {"max_moved=all", 7, UINT32_MAX}};
	char text[FAB_OPENSM_OPTIONS_BYTES];
	struct fab_opensm_options o;

	for (size_t i = 0; i < FAB_COUNT(nothing); i++) {
		o = of(nothing[i]);
		cr_assert_eq(o.mode, FAB_OPENSM_DRY_RUN);
		cr_assert_str_eq(o.engine->name, "balanced");
		cr_assert(o.max_moved == 5 && o.is_percent);
		cr_assert_eq(o.pace.min_interval_s, 60);
		cr_assert_str_empty(o.file);
	}
	o = of("mode=on,algorithm=fulb max_moved=5, rebalance_changes=7,"
	       "rebalance_seconds=0,time_limit_ms=250,file=/etc/x.conf,"
	       "min_interval=3 port_changes=9");
	cr_assert_eq(o.mode, FAB_OPENSM_ON);
	cr_assert_str_eq(fab_opensm_options_text(&o, text),
			 "mode=on, algorithm=fulb, max_moved=5, min_interval=3, "
			 "rebalance_changes=7, rebalance_seconds=0, port_changes=9, "
			 "time_limit_ms=250");
	MUST(fab_opensm_options_parse("groups=/g,states=/s", &o, ERR));
	cr_assert_str_eq(strchr(fab_opensm_options_text(&o, text), '/') - 7,
			 "groups=/g, states=/s");
	MUST(fab_opensm_options_parse("groups=,states=", &o, ERR));
	cr_assert_null(strchr(fab_opensm_options_text(&o, text), '/'));
	cr_assert_str_eq(o.file, "/etc/x.conf");
	MUST(fab_opensm_options_parse("max_moved=all,file=y", &o, ERR));
	cr_assert_not(o.is_percent);
	cr_assert_str_eq(o.file, "y");
	for (size_t i = 0; i < FAB_COUNT(moves); i++) {
		o = of(moves[i].text);
		cr_expect_eq(fab_opensm_max_moved(&o, moves[i].n), moves[i].moved, "%s",
			     moves[i].text);
	}
	/* words of other plug-ins are theirs */
	o = of("other=3 fabkit:mode=off mode=on,fabkit:max_moved=1");
	cr_assert(o.mode == FAB_OPENSM_OFF && o.max_moved == 1);
}

#define TREES "expected a number of trees, percent as 5%, or all"
#define WORDS                                                                            \
	"expected mode, algorithm, max_moved, min_interval, rebalance_changes, "         \
	"rebalance_seconds, port_changes, time_limit_ms, groups, states or file, each "  \
	"with =VALUE"

Test(opensm_options, bad_words_are_named_and_change_nothing)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{"mode=of", "mode=of: expected off, dry-run, on or own"},
		{"mode", "mode=: expected off, dry-run, on or own"},
		{"algorithm=sssp2", "algorithm=sssp2: expected a multicast algorithm "
				    "with trees of minimal height, as balanced or fulb"},
		{"max_moved=-1", "max_moved=-1: " TREES},
		{"max_moved=101%", "max_moved=101%: " TREES},
		{"max_moved=%", "max_moved=%: " TREES},
		{"time_limit_ms=0", "time_limit_ms=0: expected a number from 1 on"},
		{"rebalance_changes=4294967296",
		 "rebalance_changes=4294967296: expected a number from 0 on"},
		{"mode=on,modes=off", "'modes=off': " WORDS},
		{"file=", "'file=': " WORDS},
	};

	for (size_t i = 0; i < FAB_COUNT(bad); i++) {
		struct fab_opensm_options o = of("max_moved=3");

		FAILS_AS(fab_opensm_options_parse(bad[i].text, &o, ERR), -EINVAL,
			 bad[i].says);
		cr_assert(o.mode == FAB_OPENSM_DRY_RUN && o.max_moved == 3);
	}
}

Test(opensm_options, a_file_is_read_again)
{
	struct fab_opensm_options o = {0};
	FAB_AUTO(given_fini) struct given g;

	given_init(&g, "mode=off,time_limit_ms=7");
	put("o", "# what we want\nmode=on # now\n\nmax_moved=2\n");
	MUST(fab_opensm_options_read(&g.o, &o, ERR));
	cr_assert(o.mode == FAB_OPENSM_ON && o.max_moved == 2 && o.time_limit_ms == 7);
	cr_assert(!fab_opensm_options_equal(&g.o, &o));
	put("o", "mode=off\nmode=of\n");
	expect_refused(&g, &o, 0, "o:2: mode=of: expected off, dry-run, on or own");
	cr_assert_eq(o.mode, FAB_OPENSM_ON);
	/* a line that is gone counts no longer */
	put("o", "mode=on\n");
	MUST(fab_opensm_options_read(&g.o, &o, ERR));
	cr_assert_eq(o.mode, FAB_OPENSM_ON);
	cr_assert(o.max_moved == 5 && o.is_percent, "not those of opensm.conf");
	put("o", "# nothing now\n");
	MUST(fab_opensm_options_read(&g.o, &o, ERR));
	cr_assert(fab_opensm_options_equal(&g.o, &o), "not those of opensm.conf");
	put("o", "mode=on\nfile=/etc/other\n");
	expect_refused(&g, &o, 0,
		       "o:2: file=/etc/other: not in a file, only in opensm.conf");
	cr_assert_eq(o.mode, FAB_OPENSM_OFF);
	unlink("o");
	cr_assert_eq(fab_opensm_options_read(&g.o, &o, ERR), -ENOENT);
	cr_assert_eq(o.mode, FAB_OPENSM_OFF);
}

#define FILE_OF_ROOT "o: others may write it: expected a file of root, mode 0644 or less"
#define FOLDER_OF_ROOT                                                                   \
	"o: others may write its folder, and so replace it: expected a folder of "       \
	"root, mode 0755 or less"
#define NUL "o: expected text, found a NUL"
#define EMPTY "o: expected options, it is empty"

/* A file that is being written, or that others could write: what was in force stays. */
Test(opensm_options, files_that_are_not_trusted)
{
	static const struct {
		const char *bytes;
		size_t n;
		mode_t file, folder;
		int rc;
		const char *says;
	} cases[] = {
		{"mode=on\n", 8, 0600, 0700, 0, ""},
		{"mode=on\n", 8, 0644, 0755, 0, ""},
		{"mode=off\n", 9, 0602, 0700, -EPERM, FILE_OF_ROOT},
		{"mode=off\n", 9, 0620, 0700, -EPERM, FILE_OF_ROOT},
		{"mode=off\n", 9, 0600, 0777, -EPERM, FOLDER_OF_ROOT},
		{"mode=off\n", 9, 0600, 0770, -EPERM, FOLDER_OF_ROOT},
		{"mode=on\n", 8, 0600, 01777, 0, ""},
		{"", 0, 0600, 0700, -ENODATA, EMPTY},
		{" \n\n", 3, 0600, 0700, -ENODATA, EMPTY},
		{"mode=off\n\0", 10, 0600, 0700, -ENODATA, NUL},
		{"\0\0\0", 3, 0600, 0700, -ENODATA, NUL},
	};
	struct fab_opensm_options o = {0};
	FAB_AUTO(given_fini) struct given g;

	given_init(&g, "mode=dry-run");
	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		FILE *file = fopen("o", "w");

		cr_assert_eq(fwrite(cases[i].bytes, 1, cases[i].n, file), cases[i].n);
		fclose(file);
		chmod("o", cases[i].file);
		chmod(".", cases[i].folder);
		if (cases[i].rc)
			expect_refused(&g, &o, cases[i].rc, cases[i].says);
		else
			MUST(fab_opensm_options_read(&g.o, &o, ERR));
		cr_expect_eq(o.mode, FAB_OPENSM_ON, "%zu", i);
		unlink("o");
	}
	/* nothing waits for a writer */
	cr_assert_eq(mkfifo("o", 0600), 0);
	expect_refused(&g, &o, -EPERM, "o: expected a regular file");
}

/* What is written is there as a whole or not at all, and where nobody can replace it. */
Test(opensm_options, files_that_are_written)
{
	FAB_AUTO(given_fini) struct given g;
	struct fab_trusted_mark mark = {0};
	const char *name = g.file;
	struct stat s;
	char *text;

	given_init(&g, "");
	cr_expect_not(fab_trusted_changed(name, &mark), "there is none");
	put("o.new", "left");
	chmod("o.new", 0600);
	MUST(fab_trusted_write(name, "first", 5, ERR));
	cr_expect(fab_trusted_changed(name, &mark) && !fab_trusted_changed(name, &mark));
	MUST(fab_trusted_write(name, "other", 5, ERR));
	cr_expect(fab_trusted_changed(name, &mark));
	cr_expect_neq(stat("o.new", &s), 0, "nothing is left beside it");
	chmod(name, 0600);
	cr_expect(fab_trusted_changed(name, &mark), "others may read it no more");
	MUST(fab_trusted_read(name, 6, &text, ERR));
	cr_expect_str_eq(text, "other");
	free(text);
	cr_expect_eq(fab_trusted_read(name, 5, &text, ERR), -EFBIG);
	free(text);
	chmod(".", 01777);
	cr_expect_eq(fab_trusted_write(name, "x", 1, ERR), -EPERM);
	chmod(".", 0700);
	unlink(name);
	cr_assert_eq(mkdir(name, 0700), 0);
	cr_expect(fab_trusted_write(name, "x", 1, ERR) < 0 && stat("o.new", &s) != 0);
	rmdir(name);
	cr_expect(fab_trusted_changed(name, &mark), "it has gone");
}
