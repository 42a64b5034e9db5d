/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists, host lists and patterns of names, resolved to ids. */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"

/*
 * Lists of names as people write them: commas, quotes, host lists as Slurm writes them
 * (`n[1-3,07]`, `r[1-2]n[01-16]`) and patterns of a shell. Text only.
 *
 * A bracket that holds digits, `-` and `,` only belongs to a host list; `*`, `?` and any
 * other bracket make a pattern. What is in "" is a name, whatever it looks like.
 */

/* One item of a list; the text is borrowed. */
struct fab_item {
	const char *text;
	size_t len;
	bool is_quoted; /* an exact name */
};

/*
 * The next item of a list *at .. end; commas in a host list's brackets do not count,
 * blanks around an item neither. 1: an item, 0: end of the list, -EINVAL: a quote is not
 * closed, or an item is empty. *at is NULL after the last one. O(item).
 */
int fab_list_next(const char **at, const char *end, struct fab_item *item,
		  struct fab_err *err) FAB_MUST_CHECK;

/*
 * Two names or lists separated by one of `separators`, or by several blanks if these are
 * among them; what is in "" is one name. EINVAL: not two. Borrowed. O(len).
 */
int fab_list_pair(const char *text, size_t len, const char *separators,
		  struct fab_item pair[2], struct fab_err *err) FAB_MUST_CHECK;

/*
 * Give every line that is not empty to `use`, until one fails: without blanks at its ends
 * and without a comment, which a # begins at the start or behind a blank, outside of
 * quotes. EINVAL: a zero byte; sentences begin with FILE:LINE. O(len), plus calls of
 * `use`.
 */
typedef int fab_use_line(void *context, struct fab_item line, struct fab_err *err);
int fab_list_lines(const char *file, const char *text, size_t len, fab_use_line *use,
		   void *context, struct fab_err *err) FAB_MUST_CHECK;

/* Has the text a bracket of a host list? O(len). */
bool fab_is_hostlist(const char *text, size_t len);

/*
 * Names of a host list, the last bracket fastest. Numbers are as
 * wide as the first of their range: [08-10] is 08 09 10, [8-10] is 8 9 10.
 */
struct fab_hostlist;
/*
 * EINVAL: a malformed or backward range, more than 16 brackets, more than `max`
 * names. `text` is borrowed. The caller frees *out with fab_hostlist_free(). O(len).
 */
int fab_hostlist_new(const char *text, size_t len, uint64_t max,
		     struct fab_hostlist **out, struct fab_err *err) FAB_MUST_CHECK;
/* NULL is allowed. fab_hostlist_free: O(size), fab_hostlist_count: O(1). */
void fab_hostlist_free(struct fab_hostlist *list);
FAB_AUTO_POINTER(fab_hostlist)
uint64_t fab_hostlist_count(const struct fab_hostlist *list);
/* The next name, valid until the next call; NULL at the end. O(name). */
const char *fab_hostlist_next(struct fab_hostlist *list);

/* ---- names to ids ---- */

/*
 * Names to ids: several names an id, several ids a name. Blanks at the ends of a name do
 * not count; case (ASCII) counts only where names differ in nothing else.
 */
struct fab_directory;

/* Empty; `expected` entries fit without growing. The caller frees. O(expected). */
struct fab_directory *fab_directory_new(size_t expected);
/* NULL is allowed. O(size). */
void fab_directory_free(struct fab_directory *d);
FAB_AUTO_POINTER(fab_directory)
/* Another name of an id; all names of one id follow each other. The name is copied.
 * O(len). */
void fab_directory_add(struct fab_directory *d, const char *name, size_t len,
		       uint32_t id);

/* Ids of a name. */
struct fab_hits {
	uint32_t n;    /* different ids; 0: name unknown */
	uint32_t next; /* for fab_directory_hit() */
	bool by_case;
};
/* Exact, or case ignored. O(len). */
struct fab_hits fab_directory_find(const struct fab_directory *d, const char *name,
				   size_t len, bool by_case);
/* The next of the ids that hits->n counts; call it at most that often. O(1). */
uint32_t fab_directory_hit(const struct fab_directory *d, struct fab_hits *hits);

struct fab_ids {
	FAB_VEC(uint32_t) of;
};
/* The ids that have a name which matches the glob, once each, in the order in which they
 * were added. O(names). */
void fab_directory_match(const struct fab_directory *d, const char *pattern,
			 struct fab_ids *out);

/* Nearest name by edit distance. */
struct fab_near {
	const char *name; /* borrowed; NULL: none is near */
	unsigned distance;
};
/*
 * Replace *best by a nearer name, if any: at most a third of the characters differ,
 * and not more than three. Bounded: gives up after some 10^8 steps. O(entries * len).
 */
void fab_directory_nearest(const struct fab_directory *d, const char *name, size_t len,
			   struct fab_near *best);

/* Something that knows names of one kind of things. */
struct fab_lookup {
	const void *of;
	const char *one, *many; /* "host", "hosts" */
	uint64_t n_known;	/* bound of the names of a host list */
	/*
	 * Id of a name. ENOENT: unknown; EINVAL: ambiguous, or
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

/* Matches of host lists and patterns, for reports; on the heap. O(size). */
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
 * Append the ids of a comma separated list; a name may be in it twice, and so is its
 * id. A text or item that is the name of one thing is that, if it could not be read
 * otherwise; where it could, and means something else, that is EINVAL, and "" helps.
 * ENOENT or EINVAL: the sentence names what does not exist, of a host list each.
 * `matches` may be NULL. O(text + names in host lists + patterns * names).
 */
int fab_lookup_list(const struct fab_lookup *l, const char *text, size_t len,
		    struct fab_ids *out, struct fab_matches *matches,
		    struct fab_err *err) FAB_MUST_CHECK;
/* fab_lookup_list() for one item. O(len + matches). */
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
