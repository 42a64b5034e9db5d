/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/choice.h"

#include <errno.h>
#include <string.h>

#include "base/lookup.h"

enum { SHOWN = 60 };

size_t fab_choice_name_len(const char *form)
{
	return strcspn(form, ":");
}

size_t fab_choice_row_len(const struct fab_choice *row)
{
	return row->is_whole ? strlen(row->form) : fab_choice_name_len(row->form);
}

static struct fab_choice row_of(const struct fab_choices *c, size_t i)
{
	return c->at ? c->at(i) : (struct fab_choice){.form = c->names[i]};
}

uint32_t fab_choices_find(const struct fab_choices *c, const char *name, size_t len)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct fab_choice row = row_of(c, i);

		if (fab_choice_row_len(&row) == len && !memcmp(row.form, name, len))
			return (uint32_t)i;
	}
	return FAB_NONE;
}

char *fab_choices_text(const struct fab_choices *c, const char *last)
{
	char *text = NULL;

	for (size_t i = 0; i < c->n; i++)
		if (i && i + 1 == c->n && *last)
			fab_append(&text, "", " %s %s", last, row_of(c, i).form);
		else
			fab_append(&text, ", ", "%s", row_of(c, i).form);
	return text ? text : fab_strdup("");
}

int fab_choices_refuse(const struct fab_choices *c, const char *name, size_t len,
		       const char *more, struct fab_err *err)
{
	FAB_AUTO(fab_directory_free_at)
	struct fab_directory *names = fab_directory_new(c->n + 1);
	struct fab_near near = {0};
	const char *hint = c->hint ? c->hint(name, len) : NULL;
	FAB_AUTOFREE char *all = fab_choices_text(c, "");

	for (size_t i = 0; i < c->n; i++) {
		const struct fab_choice row = row_of(c, i);

		fab_directory_add(names, row.form, fab_choice_row_len(&row), (uint32_t)i);
	}
	if (more)
		fab_directory_add(names, more, strlen(more), FAB_NONE);
	if (!hint)
		fab_directory_nearest(names, name, len, &near);
	return fab_fail(err, EINVAL, "'%.*s' is %s; %s%s%shere are: %s%s%s",
			len > SHOWN ? SHOWN : (int)len, name, hint ? hint : "unknown",
			near.name ? "did you mean '" : "", near.name ? near.name : "",
			near.name ? "'? T" : "t", more ? more : "", more ? ", " : "",
			all);
}

static void add(struct fab_chosen_list *out, struct fab_chosen chosen)
{
	for (size_t i = 0; i < out->of.n; i++) {
		struct fab_chosen *old = &out->of.v[i];

		if (old->len == chosen.len && !memcmp(old->text, chosen.text, old->len)) {
			old->by_all = old->by_all && chosen.by_all;
			return;
		}
	}
	FAB_PUSH(&out->of, chosen);
}

/* NAME or NAME:ARGUMENT, as its row has it. */
static int add_one(const struct fab_choices *c, const char *text, size_t len,
		   struct fab_chosen_list *out, struct fab_err *err)
{
	const char *colon = memchr(text, ':', len), *form;
	size_t n = colon ? (size_t)(colon - text) : len;
	uint32_t row = fab_choices_find(c, text, len);

	if (row != FAB_NONE)
		n = len;
	else
		row = fab_choices_find(c, text, n);
	if (row == FAB_NONE)
		return fab_choices_refuse(c, text, len, "all", err);
	form = row_of(c, row).form;
	if ((n < len) != (form[n] != '\0'))
		return fab_fail(err, EINVAL, "'%.*s': expected %s",
				len > SHOWN ? SHOWN : (int)len, text, form);
	add(out, (struct fab_chosen){.row = row, .text = text, .len = len});
	return 0;
}

int fab_choices_parse(const struct fab_choices *c, const char *list,
		      struct fab_chosen_list *out, struct fab_err *err)
{
	int rc = 0;

	out->of.n = 0;
	for (const char *at = list; !rc; at++) {
		size_t len = strcspn(at, ",");

		if (len == 3 && !memcmp(at, "all", 3))
			for (size_t i = 0; i < c->n; i++) {
				struct fab_choice row = row_of(c, i);

				if (row.is_in_all)
					add(out,
					    (struct fab_chosen){.row = (uint32_t)i,
								.by_all = true,
								.text = row.form,
								.len = strlen(row.form)});
			}
		else
			rc = add_one(c, at, len, out, err);
		at += len;
		if (!*at)
			break;
	}
	return rc;
}
