/* SPDX-License-Identifier: BSD-2-Clause */
/* A command as a whole: tables of what it takes, and what it then does. */
#pragma once

#include "cli/cli.h"
#include "cli/options.h"

/* Rows up to a zeroed one; their targets lie `offset` bytes into the parameters. */
struct fab_part {
	const struct fab_option *rows;
	size_t offset;
};

/* Parts that commands share, for the member of the parameters that has their type, in
 * the order of --help. */
#define FAB_PART(rows, type, member)                                                     \
	{                                                                                \
		rows, offsetof(type, member)                                             \
	}
extern const struct fab_option fab_cli_input_rows[];  /* fab_cli_input; FABRIC, too */
extern const struct fab_option fab_cli_output_rows[]; /* fab_cli_output */
extern const struct fab_option fab_cli_store_rows[];  /* fab_cli_store; behind those */
extern const struct fab_option fab_cli_run_rows[];    /* fab_cli_run */
extern const struct fab_option fab_cli_chance_rows[]; /* fab_cli_run; behind those */

/* What a command of several questions does: its first argument. */
struct fab_verb {
	const char *name; /* "trace" */
	const char *args; /* behind it: "FABRIC", "[FABRIC]" where it may be missing, ""
			     where there is none */
	const char *help;
};

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
	struct fab_cli_columns (*columns)(const void *params);
	/* What follows from the options, whose relations are as they should be. EINVAL:
	 * one sentence. NULL: nothing. Not with --list-columns. */
	int (*complete)(void *params, struct fab_err *err);
	/* Not with --list-columns. `f` is the FABRIC, NULL: there is none. The exit
	 * status, or a negative errno: then the sentence is printed, status 3;
	 * FAB_EXIT_USAGE: the same, status 2. */
	int (*run)(void *params, const struct fab_fabric *f, struct fab_err *err);
};

/*
 * Main program of a command; what main() returns. Parameters hold zeros or the caller's
 * presets; what options put on the heap is freed. The only place where a command ends.
 */
int fab_cli_main(const struct fab_command *command, int argc, char **argv, void *params);

/*
 * The options alone: a bad command line is a usage error, exit with status 2. O(options +
 * relations).
 */
void fab_cli_read(const struct fab_command *command, int argc, char **argv, void *params);
/* The FABRIC, for commands that take other arguments, too. EINVAL: there was one. */
int fab_cli_take_fabric(struct fab_cli_input *input, const char *arg,
			struct fab_err *err) FAB_MUST_CHECK;
/* Free what options put on the heap. */
void fab_cli_free_params(const struct fab_command *command, void *params);
