/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Databases of results. The first byte says what the rest is: events on a database (runs
 * are added, replaced, removed, read by filters), compared with a list in memory; or
 * changes to the bytes of a sound file, as a disk or another program makes them: it is
 * read or refused with a sentence, and a run that is added is there.
 */
#include "store/store.h"
#include "fuzz.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 12, STEPS = 24, TEXT = 24 };

/* A run as the target knows it. */
struct known {
	uint64_t id;
	uint8_t mark;
	char label[TEXT];
};

struct list {
	size_t n;
	struct known v[MOST];
};

/* Any bytes but NUL. */
static void take_text(struct fuzz_input *in, char *out)
{
	size_t n = fuzz_next(in) % TEXT;

	for (size_t i = 0; i < n; i++) {
		out[i] = (char)fuzz_next(in);
		out[i] = out[i] ? out[i] : '%';
	}
	out[n] = 0;
}

/* The database, and a journal that was left. */
static char path[4096], journal[4200];

static void remove_files(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(path, sizeof(path), "%s/fuzz-store.%ld.db", tmp && *tmp ? tmp : "/tmp",
		 (long)getpid());
	snprintf(journal, sizeof(journal), "%s-journal", path);
	unlink(path);
	unlink(journal);
}

/* In place of the run `old`; NULL: one more. */
static int add(struct fab_store *store, const uint64_t *old, uint8_t mark,
	       const char *label, uint64_t *id)
{
	const struct fab_store_number metric = {"max_efi", mark};
	const struct fab_store_bin bin = {mark, 1};
	const struct fab_store_result result = {.algorithm = "fulb",
						.metrics = &metric,
						.n_metrics = 1,
						.bins = &bin,
						.n_bins = 1};
	const struct fab_store_run run = {.time = "2026-11-20T12:34:56Z",
					  .command = "fabric-mcroute",
					  .version = "1",
					  .arguments = label,
					  .host = label,
					  .label = *label ? label : NULL,
					  .fabric.source = label,
					  .results = &result,
					  .n_results = 1};

	return old ? fab_store_replace(store, old, 1, &run, id, ERR)
		   : fab_store_add(store, &run, id, ERR);
}

/* Runs that pass a filter are those of the list that do, oldest first. */
static void read_all(struct fab_store *store, const struct list *l, const uint64_t *only)
{
	const struct fab_store_filter filter = {.ids = only, .n_ids = only != NULL};
	FAB_AUTO(fab_store_runs_fini) struct fab_store_runs runs;
	size_t at = 0;

	OK(fab_store_read(store, &filter, &runs, ERR));
	for (size_t i = 0; i < l->n; i++) {
		const struct known *x = &l->v[i];
		const struct fab_store_run *run = &runs.v[at];

		if (only && *only != x->id)
			continue;
		NEVER(at++ == runs.n || run->id != x->id ||
		      strcmp(run->label ? run->label : "", x->label) ||
		      strcmp(run->arguments, x->label) || run->n_results != 1 ||
		      run->results->n_bins != 1 ||
		      fab_store_number_get(run->results->metrics, run->results->n_metrics,
					   "max_efi") != x->mark);
	}
	NEVER(at != runs.n);
}

static void forget(struct list *l, size_t i)
{
	l->n--;
	memmove(&l->v[i], &l->v[i + 1], (l->n - i) * sizeof(*l->v));
}

/* One event. A number that was given once is never given again. */
static void event(struct fab_store *store, struct list *l, uint64_t *last,
		  struct fuzz_input *in)
{
	uint8_t kind = fuzz_next(in) % 5;
	size_t at = l->n ? fuzz_next(in) % l->n : 0;
	struct known x = {0};

	if (kind < 2 && l->n < MOST) {
		const uint64_t *old = kind && l->n ? &l->v[at].id : NULL;

		x.mark = fuzz_next(in);
		take_text(in, x.label);
		OK(add(store, old, x.mark, x.label, &x.id));
		MUST(x.id > *last);
		*last = x.id;
		if (old)
			forget(l, at);
		l->v[l->n++] = x;
	} else if (kind == 2 && l->n) {
		OK(fab_store_remove(store, &l->v[at].id, 1, ERR));
		forget(l, at);
	} else {
		read_all(store, l, l->n && kind == 3 ? &l->v[at].id : NULL);
	}
}

static struct fab_store *open_new(void)
{
	struct fab_store *store = NULL;

	OK(fab_store_open(path, FAB_STORE_WRITE, &store, ERR));
	return store;
}

static void try_events(struct fuzz_input *in)
{
	struct fab_store *store = open_new();
	struct list l = {0};
	uint64_t last = 0;

	for (int i = 0; i < STEPS && in->n; i++)
		event(store, &l, &last, in);
	if (last)
		read_all(store, &l, NULL);
	fab_store_close(store);
}

/* A sound file, then three bytes of place and one of value, again and again. */
static void make_damaged(struct fuzz_input *in)
{
	struct fab_store *store = open_new();
	struct stat st;
	int fd;

	for (uint8_t i = 0; i < 3; i++)
		OK(add(store, NULL, i, "label", NULL));
	fab_store_close(store);
	fd = open(path, O_RDWR | O_CLOEXEC);
	NEVER(fd < 0 || fstat(fd, &st));
	while (in->n >= 4) {
		off_t at = fuzz_next(in);
		uint8_t value;

		at = (at << 16 | fuzz_next(in) << 8 | fuzz_next(in)) % st.st_size;
		value = fuzz_next(in);
		NEVER(pwrite(fd, &value, 1, at) != 1);
	}
	close(fd);
}

static void read_damaged(void)
{
	uint64_t id;
	const struct fab_store_filter all = {0}, added = {.ids = &id, .n_ids = 1};
	struct fab_store *store = NULL;
	struct fab_store_runs runs;

	if (is_refused(fab_store_open(path, FAB_STORE_READ, &store, ERR)))
		return;
	if (!is_refused(fab_store_read(store, &all, &runs, ERR)))
		fab_store_runs_fini(&runs);
	fab_store_close(store);
	if (is_refused(fab_store_open(path, FAB_STORE_WRITE, &store, ERR)))
		return;
	if (!is_refused(add(store, NULL, 7, "new", &id)) &&
	    !is_refused(fab_store_read(store, &added, &runs, ERR))) {
		NEVER(runs.n != 1 || runs.v->id != id);
		fab_store_runs_fini(&runs);
	}
	fab_store_close(store);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct fuzz_input in = {bytes, n};

	remove_files();
	if (fuzz_next(&in) & 1) {
		make_damaged(&in);
		read_damaged();
	} else {
		try_events(&in);
	}
	remove_files();
	return 0;
}
