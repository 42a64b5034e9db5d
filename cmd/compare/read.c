/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading the runs that the command line asks for. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "compare.h"

enum { MAX_SPECS = 1000 };

/* The runs that are named. */
int compare_parse_specs(struct compare_params *p, struct fab_err *err)
{
	for (size_t i = 0; i < p->args.n; i++) {
		const char *arg = p->args.v[i];
		size_t len = strcspn(arg, ":");
		struct compare_spec spec = {0};
		bool is_id = fab_parse_u64(arg, len, 1, INT64_MAX, &spec.id);

		if (arg[strspn(arg, "0123456789")] == '\0' && !is_id)
			return fab_fail(
				err, EINVAL,
				"'%s' is no run: expected a number from 1 on, last or a label",
				arg);
		if (!is_id && !(len == 4 && !strncmp(arg, "last", 4)))
			spec.label = arg;
		else if (arg[len])
			spec.algorithm = arg + len + 1;
		if (spec.algorithm && !*spec.algorithm)
			return fab_fail(err, EINVAL, "'%s': the algorithm is empty", arg);
		if (p->specs.n == MAX_SPECS)
			return fab_fail(err, EINVAL, "more than %d runs", MAX_SPECS);
		FAB_PUSH(&p->specs, spec);
	}
	return 0;
}

int compare_read(const char *path, const struct fab_store_filter *filter,
		 struct fab_store_runs *runs, struct fab_err *err)
{
	struct fab_store *store;
	int rc = fab_store_open(path, FAB_STORE_READ, &store, err);

	if (rc)
		return rc;
	rc = fab_store_read(store, filter, runs, err);
	fab_store_close(store);
	return rc;
}

/* The newest run with this label, `len` bytes; 0: none. */
static uint64_t newest_labelled(const struct fab_store_runs *runs, const char *label,
				size_t len)
{
	uint64_t id = 0;

	for (size_t i = 0; i < runs->n; i++) {
		const char *own = runs->v[i].label;

		if (own && strlen(own) == len && !memcmp(own, label, len))
			id = runs->v[i].id;
	}
	return id;
}

/* LABEL or LABEL:ALGORITHM becomes the newest run with that label. */
static int find_labels(struct compare_params *p, struct fab_err *err)
{
	struct fab_store_filter filter = p->filter;
	FAB_AUTO(fab_store_runs_fini) struct fab_store_runs runs = {0};
	int rc = 0;

	filter.names_only = true;
	for (size_t i = 0; i < p->specs.n && !rc; i++) {
		struct compare_spec *spec = &p->specs.v[i];
		const char *colon = spec->label ? strrchr(spec->label, ':') : NULL;

		if (!spec->label)
			continue;
		if (!runs.v)
			rc = compare_read(p->path, &filter, &runs, err);
		if (rc)
			break;
		spec->id = newest_labelled(&runs, spec->label, strlen(spec->label));
		if (!spec->id && colon && colon[1]) {
			spec->id = newest_labelled(&runs, spec->label,
						   (size_t)(colon - spec->label));
			spec->algorithm = colon + 1;
		}
		if (!spec->id)
			rc = fab_fail(
				err, ENOENT,
				"%s: no run has the label '%s'%s: expected the number of a run, last or a label",
				p->path, spec->label, compare_among(p));
	}
	return rc;
}

static int read_runs(struct compare_params *p, bool names_only,
		     struct fab_store_runs *runs, struct fab_err *err)
{
	FAB_AUTOFREE uint64_t *ids = FAB_NEW(p->specs.n + 1, uint64_t);
	struct fab_store_filter filter = p->filter;
	int rc = find_labels(p, err);

	if (rc)
		return rc;
	filter.ids = p->specs.n ? ids : NULL;
	for (size_t i = 0; i < p->specs.n; i++)
		if (p->specs.v[i].id)
			ids[filter.n_ids++] = p->specs.v[i].id;
		else
			filter.last = true;
	filter.names_only = names_only;
	filter.before = *p->older_than ? p->older_than : NULL;
	filter.keep = p->keep_last;
	return compare_read(p->path, &filter, runs, err);
}

const char *compare_among(const struct compare_params *p)
{
	const struct fab_store_filter *f = &p->filter;

	return f->fabric || f->label || f->command || f->algorithm || *p->older_than ||
			       p->keep_last
		       ? " among those that the options choose"
		       : "";
}

static int find_item(const struct compare_params *p, const struct fab_store_runs *runs,
		     const struct compare_spec *spec, struct compare_item *out,
		     struct fab_err *err)
{
	struct compare_item item = {.algorithm = spec->algorithm};
	bool has_algorithm = false;

	for (size_t i = 0; i < runs->n; i++)
		if (!spec->id || runs->v[i].id == spec->id)
			item.run = &runs->v[i];
	if (!item.run && spec->id)
		return fab_fail(err, ENOENT, "%s: no run %" PRIu64 "%s", p->path,
				spec->id, compare_among(p));
	if (!item.run)
		return fab_fail(err, ENOENT, "%s: no run%s", p->path, compare_among(p));
	for (size_t i = 0; item.algorithm && i < item.run->n_results && !has_algorithm;
	     i++)
		has_algorithm = !strcmp(item.run->results[i].algorithm, item.algorithm);
	if (item.algorithm && !has_algorithm)
		return fab_fail(err, ENOENT, "%s: run %" PRIu64 " has no result of '%s'",
				p->path, item.run->id, item.algorithm);
	*out = item;
	return 0;
}

int compare_find(struct fab_work *w, bool names_only, struct fab_err *err)
{
	struct compare_params *p = w->params;
	struct compare_outcome *o = w->outcome;
	int rc = p->output.list_columns ? compare_parse_specs(p, err) : 0;

	if (rc)
		return FAB_EXIT_USAGE;
	rc = read_runs(p, names_only, &o->runs, err);
	/* leave only the metrics that were asked for */
	if (!rc && p->metrics) {
		FAB_VEC(struct fab_store_kind) chosen = {0};

		for (const char *at = p->metrics; at; at = *at ? at + 1 : NULL) {
			size_t len = strcspn(at, ","), before = chosen.n;

			for (size_t i = 0; i < o->runs.n_kinds; i++)
				if (strlen(o->runs.kinds[i].name) == len &&
				    !strncmp(o->runs.kinds[i].name, at, len))
					FAB_PUSH(&chosen, o->runs.kinds[i]);
			if (chosen.n == before) {
				FAB_AUTOFREE char *names = NULL;

				for (size_t i = 0; i < o->runs.n_kinds; i++)
					fab_append(&names, ", ", "%s",
						   o->runs.kinds[i].name);
				fab_fail(err, EINVAL,
					 "--metric: '%.*s' is unknown; there are: %s",
					 (int)len, at, names ? names : "");
				free(chosen.v);
				return FAB_EXIT_USAGE;
			}
			at += len;
		}
		o->runs.kinds = chosen.v;
		o->runs.n_kinds = chosen.n;
		fab_arena_own(w->arena, free, chosen.v);
	}
	o->n_items = p->specs.n ? p->specs.n : o->runs.n;
	o->items = FAB_ARENA_NEW0(w->arena, o->n_items + 1, struct compare_item);
	for (size_t i = 0; i < o->n_items && !rc; i++)
		if (p->specs.n)
			rc = find_item(p, &o->runs, &p->specs.v[i], &o->items[i], err);
		else
			o->items[i].run = &o->runs.v[i];
	return rc;
}

void compare_fini(void *outcome)
{
	struct compare_outcome *o = outcome;

	free(o->rows.v);
	free(o->pairs.v);
	fab_store_runs_fini(&o->runs);
}
