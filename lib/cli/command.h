/* SPDX-License-Identifier: BSD-2-Clause */
/* A command as a whole: tables of what it takes, and what it then does. */
#pragma once

#include "base/arena.h"
#include "cli/cli.h"
#include "cli/options.h"
#include "export/drawing.h"
#include "store/store.h"

/* Rows up to a zeroed one; their targets lie `offset` bytes into the parameters. */
struct fab_part {
	const struct fab_option *rows;
	size_t offset;
	const char *left_out; /* rows that the command does not have, or as settings:
				 names between commas; NULL: none */
};

/* Parts that commands share, for the member of the parameters that has their type, in
 * the order of --help. */
#define FAB_PART(rows, type, member)                                                     \
	{                                                                                \
		rows, offsetof(type, member)                                             \
	}
#define FAB_PART_BUT(rows, type, member, left_out)                                       \
	{                                                                                \
		rows, offsetof(type, member), left_out                                   \
	}
extern const struct fab_option fab_cli_input_rows[];  /* fab_cli_input; FABRIC, too */
extern const struct fab_option fab_cli_output_rows[]; /* fab_cli_output */
extern const struct fab_option fab_cli_store_rows[];  /* fab_cli_store; behind those */
extern const struct fab_option fab_cli_run_rows[];    /* fab_cli_run */
extern const struct fab_option fab_cli_chance_rows[]; /* fab_cli_run; behind those */

/* A task of a command while it runs. */
struct fab_work {
	void *params;
	const struct fab_fabric *f;	/* the FABRIC; NULL: none */
	void *outcome;			/* zeroed before `solve` */
	struct fab_arena *arena;	/* for what lives until the command ends */
	struct fab_cli_columns columns; /* of the main table */
	bool is_partial; /* set by `solve` when interrupted: reported, not stored */
};

/*
 * Head of a plot: `what`, and of which fabric ("site.txt, 32 switches, 144 hosts"), or
 * of which machine where there is no fabric. Lives as long as the work. O(len).
 */
struct fab_picture fab_cli_picture(const struct fab_work *w,
				   const struct fab_cli_plot *plot, const char *what,
				   const char *machine);

/* A file that an option names, written before the report. */
struct fab_task_file {
	const char *option; /* FAB_TAKES_OUTPUT or FAB_TAKES_PLOT: "histogram-out" */
	/* Its content; a picture as SVG (export/curves.h). Negative errno. */
	int (*write)(FILE *out, const struct fab_work *w, struct fab_err *err);
	/* Instead of both, for several files or a folder: called in any case. */
	int (*write_all)(struct fab_cli_results *results, const struct fab_work *w,
			 struct fab_err *err);
};

/*
 * One question that a command answers. The driver opens the fabric, calls `solve`, writes
 * the files and the report and stores the run: all of them or, when one fails, none.
 */
struct fab_task {
	const char *primary; /* name of the main table */
	/* Its columns (FAB_TASK_COLUMNS); NULL: `solve` sets those of the work. */
	const struct fab_column *columns;
	const size_t *n_columns;
	size_t outcome_bytes;
	/* Compute the outcome (NULL: none). FAB_EXIT_DONE, FAB_EXIT_FOUND, FAB_EXIT_USAGE
	 * with a sentence, or a negative errno; EINTR: interrupted without a result. */
	int (*solve)(struct fab_work *w, struct fab_err *err);
	const struct fab_task_file *files; /* up to a zeroed one; NULL: none */
	/* Change a database when all outputs are open; NULL: nothing to change. */
	int (*apply)(struct fab_work *w, struct fab_err *err);
	void (*report)(struct fab_report *r, const struct fab_work *w);
	/* For the page of --report: loads and marks of the picture; NULL: none. */
	void (*draw)(struct fab_drawing *d, const struct fab_work *w);
	bool is_page; /* what `report` makes goes out as a page, not as --format says */
	/* Instead of `report`: output in a format of its own. */
	int (*write)(FILE *out, const struct fab_work *w, struct fab_err *err);
	/* Facts and results for --store; NULL: nothing is stored. */
	void (*store)(struct fab_draft *d, const struct fab_work *w);
	/* Release what the outcome holds outside the arena, also after an error; NULL. */
	void (*fini)(void *outcome);
};
#define FAB_TASK_COLUMNS(array)                                                          \
	.columns = (array), .n_columns = &(const size_t)                                 \
	{                                                                                \
		FAB_COUNT(array)                                                         \
	}

/* One question of a command of several: its first argument. */
struct fab_verb {
	const char *name; /* "trace" */
	const char *args; /* behind it: "FABRIC", "[FABRIC]" where it may be missing, ""
			     without arguments */
	const char *help;
	const struct fab_task *task; /* NULL: by the options */
};

struct fab_offers;
struct fab_command {
	const char *name; /* "fabric-topo" */
	const char *args; /* for help; [FABRIC]: it may be missing; NULL: of the verbs */
	const char *doc;
	const struct fab_part *parts;	      /* up to a zeroed one */
	const struct fab_relation *relations; /* in the order in which they are checked,
						 up to a zeroed one; NULL: none */
	const struct fab_verb *verbs; /* up to a zeroed one; NULL: the command has none */
	struct fab_target verb;	      /* uint32_t of the parameters: its row */
	/* An argument behind the verb; NULL: the one FABRIC. EINVAL: one sentence. */
	int (*argument)(void *params, const char *arg, struct fab_err *err);
	/* The task: that of the verb, else by the options, else the only one. */
	const struct fab_task *(*choose)(const void *params);
	const struct fab_task *task;
	/* Expert options: --set NAME=VALUE, --list-settings. Rows of options with targets
	 * in the parameters, up to a zeroed one; NULL: none. A command and man/fill.c
	 * read them. */
	const struct fab_option *settings;
	/* Derive values from the options, whose relations are checked. EINVAL:
	 * one sentence. NULL: nothing. Not with --columns=help. */
	int (*complete)(void *params, struct fab_err *err);
	/* Completions: words for an option, or for an argument (NULL) instead of FABRIC.
	 * `file`: the first argument that is one, NULL: none yet; `begun`: of the word.
	 */
	void (*offer)(struct fab_offers *to, const char *option, const char *file,
		      const char *begun);
};

/* A word for completions and what it means (NULL: the word says it). Left out: what does
 * not begin as the word on the command line, and what a shell would interpret. O(len). */
void fab_cli_offer(struct fab_offers *to, const char *word, const char *help);

/*
 * Main program of a command; what main() returns. Parameters hold zeros or the caller's
 * presets; what options put on the heap is freed. The only place where a command ends.
 */
int fab_cli_main(const struct fab_command *command, int argc, char **argv, void *params);

/* The FABRIC, for commands that take other arguments, too. EINVAL: there was one. */
int fab_cli_take_fabric(struct fab_cli_input *input, const char *arg,
			struct fab_err *err) FAB_MUST_CHECK;

/* A row, where its targets are, and what the command line said of it. */
struct fab_given_option {
	const struct fab_option *row;
	void *at;
	bool is_given;
	bool is_setting;  /* by --set NAME=VALUE */
	const char *text; /* the last one; NULL: none */
};
/* A command line. */
struct fab_given {
	const struct fab_command *command;
	void *params;
	FAB_VEC(struct fab_given_option) of;
	const struct fab_verb *verb; /* NULL: none was given */
	bool lists_settings;
	char *arguments;     /* of the command line, as a shell would read them */
	FAB_VEC(char *) job; /* while it is read: all but where and how it runs */
};

/* Nothing is given yet; the command and its parameters are borrowed. O(options). */
void fab_given_init(struct fab_given *g, const struct fab_command *c, void *params);
/* Frees it and what options put on the heap; allocates nothing: the results are out. */
void fab_given_fini(struct fab_given *g);
/* The command line into the parameters; a bad one is a usage error, exit with status 2.
 * O(options + relations). */
void fab_given_read(struct fab_given *g, int argc, char **argv);
/* At the end, also where nothing was opened: close the database of --store. */
void fab_cli_close_store(struct fab_cli_store *store);
