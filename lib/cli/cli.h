/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Shared by all commands: the structs that their common options fill (the tables of the
 * options are in cli/command.h), messages, result files, progress, pictures.
 */
#pragma once

#include <stdio.h>

#include "base/choice.h"
#include "base/err.h"
#include "base/lookup.h"
#include "event/sweep.h"
#include "export/curves.h"
#include "fabric/fabric.h"
#include "present/report.h"
#include "store/store.h"

enum {
	FAB_EXIT_DONE = 0,
	FAB_EXIT_FOUND = 1,
	FAB_EXIT_USAGE = 2,
	FAB_EXIT_ERROR = 3,
	FAB_EXIT_INTERRUPTED = 130 /* as shells report a command that SIGINT ended */
};

/* Columns of the main table. */
struct fab_cli_columns {
	const struct fab_column *v; /* NULL: not known before it runs */
	size_t n;
};

/* FABRIC, --node-name-map FILE, --hca PATTERN, --edit EDITS, --set subnet=FILE. */
struct fab_cli_input {
	const char *fabric; /* NULL: not given */
	const char *node_name_map;
	const char *hca;
	const char *subnet;
	FAB_VEC(const char *) edit; /* files or texts */
};

/* -o/--output FILE, --report FILE, --format table|json|csv, --columns LIST, --no-header
 */
struct fab_cli_output {
	const char *path;   /* NULL: standard output */
	const char *report; /* the page; NULL: none */
	enum fab_format format;
	const char *columns; /* NULL: not given, or help */
	bool list_columns;   /* --columns=help */
	bool no_header;
};

/*
 * -q/--quiet, -v/--verbose, --threads N (given to OpenMP at once), --seed N, --verify;
 * the last two only for commands with random choices or a verification.
 */
struct fab_cli_run {
	bool quiet;
	unsigned verbose;
	int threads;   /* 0: as many as there are processors */
	uint64_t seed; /* what the command set before, if --seed is not given */
	bool verify;
};

/* --shard=K/N and what it comes to; zeroed: not given. */
struct fab_cli_shard {
	struct fab_shard part;
	char text[44];	     /* "2/8" */
	const char *unit;    /* "sets of faults", "trials", "batches" */
	uint64_t items, all; /* of the shard, of the sweep */
	uint64_t input;	     /* digest of what the files named in the arguments held */
};
/* Shards are of one whole only if these bytes, too, are the same: what names or files in
 * the arguments stood for. O(n). */
void fab_cli_note_bytes(struct fab_cli_shard *shard, const void *bytes, size_t n);
/* Number of items of the sweep; EINVAL where shards would be empty. */
int fab_cli_count_shard(struct fab_cli_shard *shard, uint64_t n_items, const char *unit,
			struct fab_err *err) FAB_MUST_CHECK;
/* "2/8"; NULL: all of the sweep. */
const char *fab_cli_shard_text(const struct fab_cli_shard *shard);
/* A shard is never taken for the whole: the first sentence of the answer, and the fields
 * shard, shard_unit, shard_items, all_items. Nothing without --shard. */
void fab_cli_answer_shard(struct fab_report *r, const struct fab_cli_shard *shard);
void fab_cli_report_shard(struct fab_report *r, const struct fab_cli_shard *shard);

/* --store FILE, --label TEXT: keep the result. */
struct fab_cli_store {
	const char *path; /* NULL: nothing is kept */
	const char *label;
	char *arguments; /* of the command line, as a shell would read them */
	char *job;	 /* those of them that shards of one sweep have in common */
	const struct fab_cli_shard *shard; /* borrowed; NULL: the run is no shard */
	struct fab_store *store;
};

/*
 * First thing in main(): program name and version, argp's exit status, character widths
 * from the locale. From then on leaving by exit() or by any signal that can be caught
 * removes temporary files, and exit() ends with status 3 and one line when standard
 * output could not be written. A closed pipe ends the command quietly.
 */
void fab_cli_init(const char *program);

/* `program: warning: message` on standard error, safe for a terminal; nothing when quiet.
 */
void fab_cli_warn(const struct fab_cli_run *run, const char *format, ...)
	FAB_PRINTF(2, 3);
/* `program: message`, nothing when quiet. */
void fab_cli_note(const struct fab_cli_run *run, const char *format, ...)
	FAB_PRINTF(2, 3);

/*
 * Say on standard error, unless quiet, how many each host list and pattern of an option
 * or file stood for (`--servers=io*: 4 hosts`), and which with --verbose, if
 * matches->with_names was set from the run; then empty `matches`.
 */
void fab_cli_tell_matches(const struct fab_cli_run *run, const char *where,
			  struct fab_matches *matches);

/*
 * Open a FABRIC argument. Warnings of the fabric go to standard error: the first of each
 * code and how many more (all of them with --verbose). The caller frees. fab_cli_main()
 * opens the one of the command line.
 */
int fab_cli_open_fabric(const struct fab_cli_input *input, const struct fab_cli_run *run,
			struct fab_fabric **out, struct fab_err *err) FAB_MUST_CHECK;

/*
 * Where results go. With a path: a temporary file in its folder, which
 * is flushed, synced and renamed at the end; it vanishes if the command ends before.
 * A target that exists keeps its permissions, owner and group (where only the owner may
 * give a file away, what was written is copied into it at the end); a symbolic link is
 * followed, also one that leads to nothing yet; a device, a FIFO and what standard output
 * is open on are written directly. No path or "-" is standard output. The errno of what
 * cannot be written. At most 16 at once.
 */
struct fab_cli_sink {
	FILE *file;
	char *path;	    /* NULL for standard output */
	char *temporary;    /* NULL when the target is written directly */
	bool copies_to_old; /* the target is another's: it cannot be replaced */
};

/*
 * A folder of results: its files are written into a temporary one next to it, which takes
 * its name, and the place of a folder of that name, as a whole. A folder that exists must
 * be empty or hold only files that were written so (they are listed in `.fabkit-files`
 * there): none of others is removed. It vanishes if the command ends before. One at once.
 */
struct fab_cli_folder {
	char *path, *temporary;
	bool exists;
	FILE *file; /* the one being written; NULL: none */
	int lock;   /* descriptor of the temporary folder, locked while it is in use */
	FAB_VEC(char *) names;
	int rc; /* of the first failure, and what it was */
	struct fab_err err;
};
int fab_cli_open_folder(struct fab_cli_folder *folder, const char *path,
			struct fab_err *err) FAB_MUST_CHECK;
/* The next file, to be written before the one after it; `folder` is a fab_cli_folder.
 * Failures are reported when it is settled. */
FILE *fab_cli_folder_file(void *folder, const char *name);
/* Give each file written so far and its difference to that of the folder which is
 * replaced, then files that are gone. O(bytes). */
enum fab_cli_change { FAB_CLI_SAME, FAB_CLI_NEW, FAB_CLI_CHANGED, FAB_CLI_GONE };
void fab_cli_compare_folder(struct fab_cli_folder *folder,
			    void (*use)(void *context, const char *name,
					enum fab_cli_change change),
			    void *context);
/* Remove the temporary folder unless it was committed, and free what `folder` holds,
 * which may be all zeros. O(files). */
void fab_cli_folder_fini(struct fab_cli_folder *folder);

/*
 * Several results of one command, all or none of them: open each and write it, then
 * commit them together; no target changes before all are written and synced, and those
 * that have changed are put back when a later one cannot. `keep` (NULL: nothing), which
 * adds the run to a database, is called once, by the last commit, when all have their
 * place and can still be put back. A result on standard output commits
 * the files before it when it is opened, because its reader may end the command; it is
 * printed before the run is kept. What fails first stays: from then on files that are
 * opened lead nowhere, nothing is kept, and the commit returns it.
 */
struct fab_cli_results {
	struct fab_cli_sink sinks[8];
	size_t n;
	int (*keep)(void *context, struct fab_err *err);
	void *context;
	struct fab_cli_folder *folder; /* one more, borrowed; NULL: none */
	int rc;			       /* of the first failure, and what it was */
	struct fab_err err;
	FILE *nowhere;
};
FILE *fab_cli_open_result(struct fab_cli_results *results, const char *path);
/* The one that the output child names, and how a report is printed there. */
FILE *fab_cli_open_report(struct fab_cli_results *results,
			  const struct fab_cli_output *output,
			  struct fab_report_options *options);
/* Note a failure, if rc is one: the results will not be. */
void fab_cli_fail_results(struct fab_cli_results *results, int rc,
			  const struct fab_err *err);
int fab_cli_commit_results(struct fab_cli_results *results,
			   struct fab_err *err) FAB_MUST_CHECK;

/*
 * Report options from the output child and, when the sink is standard output on a
 * terminal, from that: width (COLUMNS first) and colour (not with TERM=dumb). NO_COLOR
 * means no colour, CLICOLOR_FORCE colour on any standard output.
 */
struct fab_report_options fab_cli_report_options(const struct fab_cli_output *output,
						 const struct fab_cli_sink *sink);
/* fab_report_new(), after all that takes long: takes the progress line off first. */
struct fab_report *fab_cli_begin_report(FILE *out,
					const struct fab_report_options *options,
					const char *command, const char *primary,
					const struct fab_fabric *fabric);

/* The tables, by the names that help and manual pages have for them. */
struct fab_cli_table {
	const char *name; /* "MULTICAST" */
	const struct fab_choices *choices;
};
extern const struct fab_cli_table fab_cli_tables[];
extern const size_t fab_cli_n_tables;
/*
 * A value that may name a file (a pattern or a file; NAME of `file:NAME`): an input when
 * there is such a file. The texts are borrowed for good.
 */
void fab_cli_note_input(const char *option, const char *path);
/* The file that a spec names: file:PATH, trace:PATH, permutation:file:PATH. false: it
 * names none. */
bool fab_cli_note_spec(const char *option, const char *spec);
void fab_cli_note_output(const char *option, const char *path);
/*
 * Progress on standard error if it is a terminal and the run is not quiet: nothing for
 * the first second, at most ten updates a second, one line, erased at the end.
 * fab_cli_progress_tick has the shape of the library's progress callback and never asks
 * to stop. Without a terminal _new returns NULL, which the others accept.
 */
struct fab_cli_progress;
/* Show the phases that the library reports, too, where no progress of ours ticks. */
void fab_cli_progress_listen(const struct fab_cli_run *run);
struct fab_cli_progress *fab_cli_progress_new(const struct fab_cli_run *run,
					      const char *what, const char *unit);
int fab_cli_progress_tick(void *progress, uint64_t done, uint64_t total);
void fab_cli_progress_free(struct fab_cli_progress *progress);

/*
 * From now on the first interrupt (Ctrl-C) is remembered instead of ending the program:
 * for work that can stop with what it has. After writing its results the program raises
 * that signal, so that the status is FAB_EXIT_INTERRUPTED and a script that called it
 * stops, too. The second interrupt ends the command at once. Where a parent process
 * ignores interrupts (nohup) they stay ignored.
 */
void fab_cli_catch_interrupt(void);
/* Has there been one? Takes the shape of the library's callbacks. */
bool fab_cli_is_interrupted(void *unused);

/* --plot=FILE. */
struct fab_cli_plot {
	const char *path; /* NULL: not given */
	bool is_in_page;  /* drawn for the page of --report */
};
/*
 * Draw into one of the results: write SVG to the file that _begin gives; _end adds it to
 * the results, for FILE.png as rsvg-convert draws it, and closes the file. What cannot
 * be, such as PNG without that program, is a failure of the results.
 */
FILE *fab_cli_begin_plot(struct fab_cli_results *results);
void fab_cli_end_plot(FILE *svg, const char *path, struct fab_cli_results *results);
