/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options of a command as tables: one row an option, from which come argp's option, the
 * check of the value, its place in the parameters and the sentence on a bad one; and how
 * options go together.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/choice.h"
#include "base/err.h"

/* Kind of value of an option, and type of its target. */
enum fab_takes {
	FAB_TAKES_HEADING,	/* no option: `help` stands over the rows behind it */
	FAB_TAKES_NOTHING,	/* bool: true */
	FAB_TAKES_COUNT,	/* unsigned: one more each time */
	FAB_TAKES_TEXT,		/* const char *, not empty */
	FAB_TAKES_INPUT,	/* const char *, a file that is read */
	FAB_TAKES_OUTPUT,	/* const char *, a file that is written */
	FAB_TAKES_FILE_OR_TEXT, /* const char *, a file if there is one */
	FAB_TAKES_NUMBER,	/* uint32_t or uint64_t, min to max */
	FAB_TAKES_REAL,		/* double, low to high */
	FAB_TAKES_BYTES,	/* uint64_t: base/units.h */
	FAB_TAKES_MBPS,		/* double: base/units.h */
	FAB_TAKES_NS,		/* uint64_t, min to max nanoseconds */
	FAB_TAKES_SECONDS,	/* double, min to max nanoseconds */
	FAB_TAKES_ONE,		/* uint32_t or an enum: the row in `choices` */
	FAB_TAKES_CHOSEN,	/* struct fab_chosen_list of `choices`; `max`: the most */
	FAB_TAKES_PLOT,		/* struct fab_cli_plot */
	FAB_TAKES_SHARD,	/* struct fab_cli_shard */
	FAB_TAKES_OTHER,	/* what `take` makes of it */
};

/* A member of the parameters; zeroed: none. */
struct fab_target {
	size_t offset, bytes;
};
#define FAB_TO(type, member)                                                             \
	{                                                                                \
		offsetof(type, member), sizeof(((type *)0)->member)                      \
	}

#define FAB_OFFERS_NAMES "switches and hosts" /* of the fabric on the line */
#define FAB_OFFERS_FOLDERS "folders"
struct fab_option {
	const char *name; /* without --; static texts, all of them */
	const char *arg;  /* "FILE", for help; NULL: it takes nothing */
	const char *help;
	enum fab_takes takes;
	struct fab_target to;
	/* the rest is zero where it does not matter */
	char letter;		/* short form */
	bool everyday;		/* shown by --help; others only by --help=all */
	bool is_many;		/* texts and files: FAB_VEC(const char *), one a use */
	bool is_optional;	/* --name alone is right, too, and means `bare` */
	bool has_none;		/* FAB_TAKES_CHOSEN: the word none, for none of them */
	const char *bare;	/* NULL: only that it was given */
	const char *preset;	/* the value when it is not given, as it would be given */
	const char *otherwise;	/* settings: the default in words, without a preset */
	struct fab_target flag; /* bool: it was given */
	uint64_t min, max;
	double low, high; /* of FAB_TAKES_MBPS both 0: any */
	const char *like; /* an example of a time: "2ms" */
	const struct fab_choices *choices;
	/* Completions: one of FAB_OFFERS_.. or words between blanks; NULL: files, choices
	 * and the tables of names in `help` only */
	const char *offers;
	/* FAB_TAKES_TEXT: is the text one? EINVAL with a sentence. */
	int (*check)(const char *arg, struct fab_err *err);
	/* FAB_TAKES_OTHER: into `params`; EINVAL with a sentence. `arg` lives on. */
	int (*take)(void *params, const char *arg, struct fab_err *err);
};

/* "1 to 64", "ps or flit": the values that a row takes; on the heap, NULL: its help says
 * so. O(choices). */
char *fab_option_range(const struct fab_option *o);

/*
 * How options go together. Both sides are lists of names between commas. A name may say
 * a value (`to=dot`): that it was given with it. FABRIC is the argument.
 */
enum fab_relates {
	FAB_GOES_WITH, /* the first side makes sense with one of the second only */
	FAB_NEEDS,     /* the same, said of something that is incomplete */
	FAB_EXCLUDES,  /* none of the first with any of the second */
	FAB_APART,     /* at most one of the first */
	FAB_REQUIRED,  /* one of the first, unless one of the second */
};
struct fab_relation {
	const char *names;
	enum fab_relates relates;
	const char *others;
	const char *why; /* the end of the sentence, of FAB_REQUIRED its beginning */
};
