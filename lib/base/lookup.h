/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists, host lists and patterns of names, resolved; what knows the names is given. */
#pragma once

#include "base/directory.h"
#include "base/namelist.h"

/* Something that knows names of one kind of things. */
struct fab_lookup {
	const void *of;
	const char *one, *many; /* "host", "hosts" */
	uint64_t n_known;	/* names, about: what a host list may stand for at most */
	/*
	 * The thing of a name. ENOENT: there is none; EINVAL: there are several, or it is
	 * no such thing; with `err` NULL nothing is spent on a sentence.
	 */
	int (*find)(const void *of, const struct fab_item *name, uint32_t *id,
		    struct fab_err *err);
	/* All things that a pattern matches, none twice. NULL: patterns are names. */
	void (*match)(const void *of, const char *pattern, struct fab_ids *out);
	/* Its name for people, on the heap. */
	char *(*name)(const void *of, uint32_t id);
	uint64_t
		*n_missing; /* NULL: what does not exist is an error; else counted here */
};

/* What host lists and patterns stood for, for people; all of it on the heap. O(size). */
struct fab_match {
	char *item;
	size_t n;
	char *which; /* names, separated by commas */
};
struct fab_matches {
	const char *one, *many;
	FAB_VEC(struct fab_match) of; /* the first ones */
	uint64_t n_others;	      /* that are left out */
	bool with_names;	      /* set before: fill `which` */
};
void fab_matches_fini(struct fab_matches *matches);

/*
 * Append what a comma separated list stands for; a name may be in it twice, and so is its
 * id. A text or item that is the name of one thing is that, if it could not be read
 * otherwise; where it could, and means something else, that is EINVAL, and "" helps.
 * ENOENT or EINVAL: the sentence names what does not exist, of a host list each.
 * `matches` may be NULL. O(text + names that host lists stand for + patterns * names).
 */
int fab_lookup_list(const struct fab_lookup *l, const char *text, size_t len,
		    struct fab_ids *out, struct fab_matches *matches,
		    struct fab_err *err) FAB_MUST_CHECK;
/*
 * Two names, or lists of them, of these kinds, apart by one of `separators`, of which
 * blanks may be several in a row. Where there are more than two words, the one place at
 * which both sides are names parts them. EINVAL: there is none, or there are several: ""
 * helps. Borrowed. O(words * len).
 */
int fab_lookup_pair(const struct fab_lookup *first, const struct fab_lookup *second,
		    const char *text, size_t len, const char *separators,
		    struct fab_item pair[2], struct fab_err *err) FAB_MUST_CHECK;
/* The same as fab_lookup_list() for one item. O(len + matches). */
int fab_lookup_item(const struct fab_lookup *l, const struct fab_item *item,
		    struct fab_ids *out, struct fab_matches *matches,
		    struct fab_err *err) FAB_MUST_CHECK;

/*
 * A list each line of a text, # begins a comment (fab_list_line()). EINVAL, ENOENT: with
 * file and line; also when it names nothing at all. O(as fab_lookup_list() of each line).
 */
int fab_lookup_lines(const struct fab_lookup *l, const char *file, const char *text,
		     size_t len, struct fab_ids *out, struct fab_matches *matches,
		     struct fab_err *err) FAB_MUST_CHECK;
