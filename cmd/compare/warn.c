/* SPDX-License-Identifier: BSD-2-Clause */
/* Differences between runs that are compared: ratios between different jobs mean little.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

enum { MAX_TEXT = 40 };

static const char *text_get(const struct fab_store_run *run, const char *name)
{
	for (size_t i = 0; i < run->n_asked; i++)
		if (!strcmp(run->asked[i].name, name))
			return run->asked[i].value;
	return NULL;
}

static char *number_text(const char *name, double value)
{
	return isnan(value) ? fab_strdup("none")
			    : compare_fact_text(&(struct fab_store_number){name, value});
}

static void differ_in_number(char **list, const char *name, double a, double b)
{
	char *left, *right;

	if (fabs(a - b) <= 0)
		return;
	left = number_text(name, a);
	right = number_text(name, b);
	fab_append(list, "; ", "%s %s and %s", name, left, right);
	free(left);
	free(right);
}

static void differ_in_text(char **list, const char *name, const char *a, const char *b)
{
	if ((!a && !b) || (a && b && !strcmp(a, b)))
		return;
	fab_append(list, "; ", "%s %.*s%s and %.*s%s", name, MAX_TEXT, a ? a : "none",
		   a && strlen(a) > MAX_TEXT ? "..." : "", MAX_TEXT, b ? b : "none",
		   b && strlen(b) > MAX_TEXT ? "..." : "");
}

/* What one of the runs has, the other not or otherwise; NULL: nothing. On the heap. */
static char *differences(const struct fab_store_run *a, const struct fab_store_run *b)
{
	char of_a[64], of_b[64];
	char *list = NULL;

	differ_in_text(&list, "shard", compare_shard_text(a, of_a, sizeof(of_a)),
		       compare_shard_text(b, of_b, sizeof(of_b)));
	for (size_t side = 0; side < 2; side++) {
		const struct fab_store_run *own = side ? b : a, *other = side ? a : b;

		for (size_t i = 0; i < own->n_facts; i++) {
			const char *name = own->facts[i].name;
			double there =
				fab_store_number_get(other->facts, other->n_facts, name);

			if (!side)
				differ_in_number(&list, name, own->facts[i].value, there);
			else if (isnan(there))
				differ_in_number(&list, name, there, own->facts[i].value);
		}
		for (size_t i = 0; i < own->n_asked; i++) {
			const char *name = own->asked[i].name;
			const char *there = text_get(other, name);

			if (!side)
				differ_in_text(&list, name, own->asked[i].value, there);
			else if (!there)
				differ_in_text(&list, name, NULL, own->asked[i].value);
		}
	}
	return list;
}

static void note_of(char **notes, const struct fab_store_run *base,
		    const struct fab_store_run *run)
{
	char *list;

	if (strcmp(base->command, run->command) != 0) {
		fab_append(notes, ". ",
			   "Runs %" PRIu64 " and %" PRIu64
			   " are of different commands: %s and %s",
			   base->id, run->id, base->command, run->command);
		return;
	}
	if (run->fabric.fingerprint != base->fabric.fingerprint)
		fab_append(notes, ". ",
			   "Runs %" PRIu64 " and %" PRIu64
			   " are of different fabrics: %s and %s",
			   base->id, run->id, base->fabric.source, run->fabric.source);
	list = differences(base, run);
	if (list)
		fab_append(notes, ". ",
			   "Runs %" PRIu64 " and %" PRIu64
			   " were asked for different things: %s",
			   base->id, run->id, list);
	free(list);
}

char *compare_notes(const struct compare_item *items, size_t n)
{
	char *notes = NULL;

	for (size_t i = 1; i < n; i++)
		note_of(&notes, items[0].run, items[i].run);
	return notes;
}
