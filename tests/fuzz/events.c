/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traces of requests and their patterns: the first byte says which, and how they are
 * replayed; the rest is it.
 */
#include "fuzz.h"
#include "small.h"

#include "base/mem.h"
#include "export/tables.h"
#include "mcast/events.h"
#include "mcast/live.h"
#include "mcast/route.h"

#include <stdio.h>

enum { SEED = 1 };

/* What is written is what was read. */
static void check_written(const struct fab_fabric *f, const struct fab_events *e)
{
	struct fab_events *again;
	FAB_AUTOFREE char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	NEVER(fab_export_events(out, f, e, NULL));
	fclose(out);
	NEVER(fab_events_read(f, NULL, "again", text, n, &again, ERR) ||
	      again->n != e->n);
	for (size_t i = 0; i < e->n; i++)
		NEVER(again->v[i].time_ns != e->v[i].time_ns ||
		      again->v[i].count != e->v[i].count ||
		      again->v[i].is_lost != e->v[i].is_lost);
	fab_events_free(again);
}

/* Requests in order, seats of their groups. */
static void check_events(const struct fab_events *e)
{
	for (size_t i = 0; i < e->n; i++) {
		const struct fab_event *v = &e->v[i];

		NEVER((i && v->time_ns < v[-1].time_ns) || v->group >= e->groups->n ||
		      v->seat < e->groups->first[v->group] ||
		      v->seat >= e->groups->first[v->group + 1] ||
		      v->is_leave == (v->count != 0));
	}
	NEVER(!e->n);
}

static uint64_t route(void *live, uint32_t group, const fab_port_id *member, uint32_t n)
{
	return fab_live_route(live, group, member, n);
}

/* Whatever is requested, what is left in the end is sound. */
static void replay(const struct fab_fabric *f, const struct fab_dist *dist,
		   const struct fab_events *e, uint8_t how)
{
	struct fab_lifecycle_options options = {
		.behaviour = how & 2 ? FAB_LIFECYCLE_PLAIN : FAB_LIFECYCLE_BATCHED,
		.compute_ns = how & 4 ? 0 : 1000000,
		.timeout_ns = how & 8 ? 0 : 1000000000,
		.loss = how & 16 ? 0.3 : 0};
	const struct fab_mcast_engine *engine =
		fab_mcast_engines[(how >> 5) % fab_mcast_n_engines];
	struct fab_live *live =
		fab_live_new(f, dist, e->groups->n, engine, FAB_TIES_SPREAD);
	const struct fab_lifecycle_router router = {.route = route, .context = live};
	struct fab_lifecycle_outcome out;
	FAB_AUTO(fab_mcast_result_fini) struct fab_mcast_result result;
	FAB_AUTO(fab_groups_free_at) struct fab_groups *alive = NULL;

	fab_lifecycle_replay(e, &options, &router, &out);
	NEVER(fab_live_result(live, e->groups, &alive, &result, NULL) ||
	      out.alive != (alive ? alive->n : 0));
	if (alive) {
		struct fab_mcast_problem problem = {f, dist, alive};

		NEVER(fab_mcast_verify(&problem, &result, NULL));
	}
	NEVER(out.lost + out.repeated + out.refused > e->n);
	fab_live_free(live);
}

/* A refusal says why. */
static void try_one(const struct fab_fabric *f, const struct fab_dist *dist, uint8_t how,
		    const uint8_t *bytes, size_t n)
{
	struct fab_events *e = NULL;
	int rc;

	if (how & 1) {
		FAB_AUTOFREE char *spec = fab_strndup((const char *)bytes, n);

		rc = fuzz_is_modest(spec) ? fab_events_generate(f, spec, SEED, &e, ERR)
					  : fab_fail(ERR, 1, "too many");
	} else {
		rc = fab_events_read(f, NULL, "input", (const char *)bytes, n, &e, ERR);
	}
	if (is_refused(rc))
		return;
	check_events(e);
	check_written(f, e);
	replay(f, dist, e, how);
	fab_events_free(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static struct fab_fabric *f;
	static struct fab_dist *dist;

	if (!f) {
		f = fuzz_small_fabric();
		NEVER(fab_dist_new(f, 1, &dist, NULL));
	}
	if (n)
		try_one(f, dist, bytes[0], bytes + 1, n - 1);
	return 0;
}
