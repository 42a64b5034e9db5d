/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traces of requests and their patterns: the first byte says which, and how they are
 * replayed; the rest is it.
 */
#include "engines.h"
#include "export/tables.h"
#include "small.h"

/* Requests in order, seats of their groups; what is written is what was read. */
static void check(const struct fab_fabric *f, const struct fab_events *e)
{
	FAB_AUTO(fuzz_file_fini) struct fuzz_file file = {0};
	struct fab_events *again;

	OK(fuzz_close(&file, fab_export_events(fuzz_open(&file), f, e, ERR)));
	OK(fab_events_read(f, NULL, "again", file.text, file.n, &again, ERR));
	MUST(e->n && again->n == e->n);
	for (size_t i = 0; i < e->n; i++) {
		const struct fab_event *v = &e->v[i], *w = &again->v[i];

		NEVER((i && v->time_ns < v[-1].time_ns) || v->group >= e->groups->n ||
		      v->seat < e->groups->first[v->group] ||
		      v->seat >= e->groups->first[v->group + 1] ||
		      v->is_leave == (v->count != 0));
		NEVER(w->time_ns != v->time_ns || w->count != v->count ||
		      w->is_lost != v->is_lost);
	}
	fab_events_free(again);
}

/* A refusal says why. */
static void try_one(const struct fab_fabric *f, const struct fab_dist *dist, uint8_t how,
		    const char *text, size_t n)
{
	const struct fab_lifecycle_options options = {
		.behaviour = how & 2 ? FAB_LIFECYCLE_PLAIN : FAB_LIFECYCLE_BATCHED,
		.compute_ns = how & 4 ? 0 : 1000000,
		.timeout_ns = how & 8 ? 0 : 1000000000,
		.loss = how & 16 ? 0.3 : 0};
	FAB_AUTOFREE char *spec = fab_strndup(text, n);
	struct fab_events *e = NULL;

	if (how & 1 && !fuzz_is_modest(spec))
		return;
	if (is_refused(how & 1 ? fab_events_generate(f, spec, 1, &e, ERR)
			       : fab_events_read(f, NULL, "input", text, n, &e, ERR)))
		return;
	check(f, e);
	fuzz_replay(f, dist, e, fab_mcast_engines[(how >> 5) % fab_mcast_n_engines],
		    &options);
	fab_events_free(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static struct fab_dist *dist;
	struct fab_fabric *f = fuzz_small_fabric();

	NEVER(!dist && fab_dist_new(f, 1, &dist, ERR));
	if (n)
		try_one(f, dist, bytes[0], (const char *)bytes + 1, n - 1);
	return 0;
}
