/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What all commands share: argp children for the fabric, the output and the run, and the
 * only code that may exit. A command embeds the structs it needs in its parameters, names
 * the children in its argp, and on ARGP_KEY_INIT sets state->child_inputs[i].
 *
 * Option keys: a command's own start at 0x100, those of the children at 0x200. Groups in
 * --help: a command's own lie between Input and Output; no two parsers share one, argp
 * would sort them into each other.
 */
#pragma once

#include <argp.h>
#include <stdio.h>

#include "base/choice.h"
#include "base/err.h"
#include "base/lookup.h"
#include "event/sweep.h"
#include "export/gnuplot.h"
#include "fabric/fabric.h"
#include "present/report.h"
#include "store/store.h"

enum { FAB_EXIT_DONE = 0, FAB_EXIT_FOUND = 1, FAB_EXIT_USAGE = 2, FAB_EXIT_ERROR = 3 };

enum {
	FAB_CLI_GROUP_INPUT = 1,
	FAB_CLI_GROUP_OUTPUT = 20, /* the store's, too */
	FAB_CLI_GROUP_RUN,
};

/* --node-name-map FILE, --hca PATTERN, --subnet FILE. The FABRIC argument itself is the
 * command's. */
struct fab_cli_input {
	const char *fabric; /* set by the command's parser from its first argument */
	const char *node_name_map;
	const char *hca;
	const char *subnet;
};
extern const struct argp fab_cli_input_argp;

/* When to use colour: on a terminal; always; never. */
enum fab_cli_color { FAB_COLOR_AUTO, FAB_COLOR_ALWAYS, FAB_COLOR_NEVER };

/*
 * -o/--output FILE, --format table|json|csv, --columns LIST, --list-columns, --no-header,
 * --color auto|always|never
 */
struct fab_cli_output {
	const char *path; /* NULL: standard output */
	enum fab_format format;
	bool has_format; /* --format was given */
	const char *columns;
	bool list_columns;
	bool no_header;
	enum fab_cli_color color;
};
extern const struct argp fab_cli_output_argp;

/*
 * -q/--quiet, -v/--verbose, --threads N (given to OpenMP at once), --seed N, --verify.
 * The plain form lacks --seed and --verify: for a command that leaves nothing to chance
 * and has nothing to verify. A bad value is a usage error: one sentence, status 2.
 */
struct fab_cli_run {
	bool quiet;
	unsigned verbose;
	int threads;   /* 0: as many as there are processors */
	uint64_t seed; /* what the command set before, if --seed is not given */
	bool has_seed;
	bool verify;
};
extern const struct argp fab_cli_run_argp;
extern const struct argp fab_cli_run_plain_argp;

/* --shard=K/N and what it comes to; zeroed: not given. */
struct fab_cli_shard {
	struct fab_shard part;
	char text[44];	     /* "2/8" */
	const char *unit;    /* "sets of faults", "trials", "batches" */
	uint64_t items, all; /* of the shard, of the sweep */
	uint64_t input;	     /* digest of what the files named in the arguments held */
};
void fab_cli_parse_shard(struct fab_cli_shard *shard, const char *arg,
			 struct argp_state *state);
/* The sweep has so many items: exits with status 3 where shards would have none. */
void fab_cli_count_shard(struct fab_cli_shard *shard, uint64_t n_items, const char *unit);
/* "2/8"; NULL: all of the sweep. */
const char *fab_cli_shard_text(const struct fab_cli_shard *shard);
/* A shard is never taken for the whole: the first sentence of the answer, and the fields
 * shard, shard_unit, shard_items, all_items. Nothing without --shard. */
void fab_cli_answer_shard(struct fab_report *r, const struct fab_cli_shard *shard);
void fab_cli_report_shard(struct fab_report *r, const struct fab_cli_shard *shard);

/*
 * --store FILE, --label TEXT: keep the result. On failure all of these print one line and
 * exit with status 3.
 */
struct fab_cli_store {
	const char *path; /* NULL: nothing is kept */
	const char *label;
	char *arguments; /* of the command line, as a shell would read them */
	char *job;	 /* those of them that shards of one sweep have in common */
	const struct fab_cli_shard *shard; /* borrowed; NULL: the run is no shard */
	struct fab_store *store;
};
extern const struct argp fab_cli_store_argp;

/* With --store: open the database now, before hours of work. */
void fab_cli_open_store(struct fab_cli_store *store);
/*
 * With --store: complete `run` (command, version, arguments, label, host, time, fabric;
 * its facts and results are the caller's; without a fabric (NULL) so are source,
 * fingerprint and counts), add it, and say on standard error, unless
 * quiet, which number it got.
 */
void fab_cli_add_run(const struct fab_cli_store *store, const struct fab_cli_run *cli,
		     const struct fab_fabric *f, const struct fab_store_run *run);
/* At the end, whether or not anything was opened. */
void fab_cli_close_store(struct fab_cli_store *store);

/*
 * First thing in main(): program name and version, argp's exit status, character widths
 * from the locale. From then on leaving by exit() or by any signal that can be caught
 * removes temporary files, and exit() ends with status 3 and one line when standard
 * output could not be written. A closed pipe ends the command quietly.
 */
void fab_cli_init(const char *program);

/*
 * argp_parse() with messages that are safe for a terminal: whatever argp, getopt or a
 * parser says of an argument is one line without control characters.
 */
void fab_cli_parse(const struct argp *argp, int argc, char **argv, void *input);

/* `program: message` on standard error, then exit with status 3 (or `status`). */
_Noreturn void fab_cli_die(const struct fab_err *err);
_Noreturn void fab_cli_exit(int status, const char *format, ...) FAB_PRINTF(2, 3);
/* `program: warning: message` on standard error, safe for a terminal; nothing when quiet.
 */
void fab_cli_warn(const struct fab_cli_run *run, const char *format, ...)
	FAB_PRINTF(2, 3);
/* The same without "warning". */
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
 * Open the FABRIC argument; on failure prints one line and exits with status 3. Warnings
 * of the fabric go to standard error: the first of each code and how many more (all of
 * them with --verbose). The caller frees.
 */
struct fab_fabric *fab_cli_open_fabric(const struct fab_cli_input *input,
				       const struct fab_cli_run *run);

/*
 * Where results go. With a path: a temporary file beside it, which fab_cli_commit_sink
 * flushes, syncs and renames; it vanishes if the command ends before. A target that
 * exists keeps its permissions, owner and group (where only the owner may give a file
 * away, what was written is copied into it at the end); a symbolic link is followed, also
 * one that leads to nothing yet; a device, a FIFO and what standard output is open on are
 * written directly. No path or "-" is standard output. Exits with status 3 when it cannot
 * be written. At most 16 at once.
 */
struct fab_cli_sink {
	FILE *file;
	char *path;	    /* NULL for standard output */
	char *temporary;    /* NULL when the target is written directly */
	bool copies_to_old; /* the target is another's: it cannot be replaced */
};
void fab_cli_open_sink(struct fab_cli_sink *sink, const char *path);
void fab_cli_commit_sink(struct fab_cli_sink *sink);

/*
 * A folder of results: its files are written into another one beside it, which takes its
 * name, and the place of a folder of that name, as a whole. A folder that exists must be
 * empty or hold only files that were written so (they are listed in `.fabkit-files`
 * there): none of others is removed. It vanishes if the command ends before. Exits with
 * status 3 when it cannot be written. One at once.
 */
struct fab_cli_folder {
	char *path, *temporary;
	bool exists;
	FILE *file; /* the one being written; NULL: none */
	FAB_VEC(char *) names;
};
void fab_cli_open_folder(struct fab_cli_folder *folder, const char *path);
/* The next file, to be written before the one after it; `folder` is a fab_cli_folder. */
FILE *fab_cli_folder_file(void *folder, const char *name);
/* All that can fail before the folder appears; then let it appear. */
void fab_cli_settle_folder(struct fab_cli_folder *folder);
void fab_cli_commit_folder(struct fab_cli_folder *folder);

/*
 * Several results of one command, all or none of them: open each and write it, then
 * commit them together; no target changes before all are written and synced. `keep`
 * (NULL: nothing), which adds the run to a database, is called once, by the last commit,
 * when all is written and before any target changes. A result on standard output commits
 * the files before it as it is opened, because whoever reads it may end the command; it
 * is printed before the run is kept. Exits as sinks do.
 */
struct fab_cli_results {
	struct fab_cli_sink sinks[8];
	size_t n;
	void (*keep)(void *context);
	void *context;
	struct fab_cli_folder *folder; /* one more, borrowed; NULL: none */
};
FILE *fab_cli_open_result(struct fab_cli_results *results, const char *path);
void fab_cli_commit_results(struct fab_cli_results *results);

/*
 * Report options from the output child and the terminal: width (COLUMNS first), and
 * colour unless --color says otherwise (not with NO_COLOR or TERM=dumb), only when the
 * sink is standard output on a terminal.
 */
struct fab_report_options fab_cli_report_options(const struct fab_cli_output *output,
						 const struct fab_cli_sink *sink);
/* fab_report_new(), after all that takes long: takes the progress line off first. */
struct fab_report *fab_cli_begin_report(FILE *out,
					const struct fab_report_options *options,
					const char *command, const char *primary,
					const struct fab_fabric *fabric);
/* End the report; a failed write ends the command. */
void fab_cli_finish_report(struct fab_report *report);

/*
 * Arguments and values of options; what is wrong is a usage error (status 2), `state` is
 * argp's. The one FABRIC; a file that is read, its name not empty; a number from min to
 * max.
 */
void fab_cli_set_fabric(struct fab_cli_input *input, const char *arg,
			struct argp_state *state);
const char *fab_cli_file_name(const char *option, const char *arg,
			      struct argp_state *state);
uint64_t fab_cli_number(const char *option, const char *arg, uint64_t min, uint64_t max,
			struct argp_state *state);
/*
 * Names of a table between commas, or all (base/choice.h), at most `max`; `out` is zero
 * or of a call before; the caller frees out->of.v, `list` is borrowed. Of one name: its
 * row.
 */
void fab_cli_choose(const char *option, const struct fab_choices *choices,
		    const char *list, size_t max, struct fab_chosen_list *out,
		    struct argp_state *state);
uint32_t fab_cli_choose_one(const char *option, const struct fab_choices *choices,
			    const char *name, struct argp_state *state);
/* The tables, by the names that help, manual pages and completions have for them. */
struct fab_cli_table {
	const char *name; /* "MULTICAST" */
	const struct fab_choices *choices;
};
extern const struct fab_cli_table fab_cli_tables[];
extern const size_t fab_cli_n_tables;
/* argp's help_filter: the names of a table in place of @MULTICAST@ and the like. */
char *fab_cli_help(int key, const char *text, void *input);
/* The same for a file that the command writes. */
const char *fab_cli_output_name(const char *option, const char *arg,
				struct argp_state *state);
/*
 * A value that may name a file (a pattern or a file; NAME of `file:NAME`): an input when
 * there is such a file. The texts are borrowed for good.
 */
void fab_cli_note_input(const char *option, const char *path);
void fab_cli_note_output(const char *option, const char *path);
/*
 * A file holds one result, and none goes over an input: usage error when two outputs, or
 * an output and an input, are the same file by name, through a link or by inode, or when
 * two go to standard output (`-`), where the report goes if no other file is named for
 * it. The output child does this for all files noted until then; --list-columns writes
 * none of them. O(n^2).
 */
void fab_cli_check_files(const struct fab_cli_output *output, struct argp_state *state);
/* An output that an option names, NULL: not given. */
struct fab_cli_file {
	const char *option, *path;
};
/* The same after noting n more outputs. */
void fab_cli_check_outputs(const struct fab_cli_output *output,
			   const struct fab_cli_file *files, size_t n,
			   struct argp_state *state);

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
 * for work that can stop with what it has. The second one ends it. Where somebody ignores
 * interrupts (nohup) they stay ignored.
 */
void fab_cli_catch_interrupt(void);
/* Has there been one? Takes the shape of the library's callbacks. */
bool fab_cli_is_interrupted(void *unused);

/*
 * --plot=FILE: what kind of picture, by the end of the name; usage error for another end.
 * Returns `arg`.
 */
const char *fab_cli_parse_plot(const char *arg, enum fab_plot_terminal *terminal,
			       struct argp_state *state);
/* --plot=FILE. */
struct fab_cli_plot {
	const char *path; /* NULL: not given */
	enum fab_plot_terminal terminal;
};
/*
 * Draw with gnuplot: write the script to the file that _begin gives, _end runs it, adds
 * the picture to the results, and closes the file. Both exit with status 3 and one line
 * when that cannot be, such as without gnuplot.
 */
FILE *fab_cli_begin_plot(void);
void fab_cli_end_plot(FILE *script, const char *path, struct fab_cli_results *results);
