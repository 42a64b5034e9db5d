/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "base/progress.h"
#include "base/threads.h"
#include "base/units.h"
#include "export/tables.h"
#include "mcast/events.h"
#include "mcast/live.h"
#include "mcast/route.h"
#include "mcast/tables.h"
#include "mcroute.h"
#include "source/unpack.h"

/* One engine in one behaviour, and how it ended. */
struct outcome {
	struct fab_lifecycle_outcome lifecycle;
	struct fab_efi efi;
	uint32_t peak;
	bool is_sound;
	double seconds, compute_s; /* of the replay; of a computation */
};

/* A row of the report. */
struct row {
	const char *algorithm, *behaviour;
	struct outcome o;
	uint64_t verified; /* or FAB_UNKNOWN */
};

#define AT(member) FAB_AT(struct row, member)
static const struct fab_column events_columns[] = {
	{"algorithm", FAB_TEXT, "routing algorithm", 0, AT(algorithm)},
	{"behaviour", FAB_TEXT,
	 "batched: computed once when all have joined; plain: at every request; coalesced: requests are gathered, as OpenSM does",
	 0, AT(behaviour)},
	{"compute_seconds", FAB_REAL,
	 "time that computing the routes of a group takes: as given, or the mean that the algorithm took for the groups of the trace",
	 FAB_COL_EXTRA | FAB_COL_SECONDS, AT(o.compute_s)},
	{"recomputations", FAB_UINT, "times that the routes of a group were computed", 0,
	 AT(o.lifecycle.recomputations)},
	{"table_updates", FAB_UINT, "multicast table entries of switches that changed", 0,
	 AT(o.lifecycle.table_updates)},
	{"unusable_seconds.sum", FAB_REAL, "time that groups waited for routes",
	 FAB_COL_SECONDS, AT(o.lifecycle.unusable_sum_s)},
	{"unusable_seconds.mean", FAB_REAL, "the same, mean over the groups",
	 FAB_COL_SECONDS, AT(o.lifecycle.unusable_mean_s)},
	{"unusable_seconds.max", FAB_REAL, "the same, of the group that waited longest",
	 FAB_COL_SECONDS, AT(o.lifecycle.unusable_max_s)},
	{"routed_seconds.mean", FAB_REAL,
	 "from the last join of a group until all members have routes, mean",
	 FAB_COL_SECONDS, AT(o.lifecycle.routed_mean_s)},
	{"routed_seconds.max", FAB_REAL, "the same, of the group that waited longest",
	 FAB_COL_SECONDS, AT(o.lifecycle.routed_max_s)},
	{"told_seconds.mean", FAB_REAL,
	 "from the last join until all members know it, mean; null: not measured",
	 FAB_COL_SECONDS, AT(o.lifecycle.told_mean_s)},
	{"told_seconds.max", FAB_REAL, "the same, of the group that waited longest",
	 FAB_COL_EXTRA | FAB_COL_SECONDS, AT(o.lifecycle.told_max_s)},
	{"completed", FAB_UINT, "times that all members of a group had joined",
	 FAB_COL_EXTRA, AT(o.lifecycle.completed)},
	{"routed", FAB_UINT, "times that they then all had routes before one left",
	 FAB_COL_EXTRA, AT(o.lifecycle.routed)},
	{"passes", FAB_UINT, "passes over gathered requests (coalesced)",
	 FAB_COL_EXTRA | FAB_COL_NULL_ZERO, AT(o.lifecycle.passes)},
	{"polls", FAB_UINT, "questions of first members (batched)", FAB_COL_EXTRA,
	 AT(o.lifecycle.polls)},
	{"timed_out", FAB_UINT, "groups destroyed by a time-out", 0,
	 AT(o.lifecycle.timed_out)},
	{"lost", FAB_UINT, "requests that were not received", 0, AT(o.lifecycle.lost)},
	{"repeated", FAB_UINT, "requests for what was so already", FAB_COL_EXTRA,
	 AT(o.lifecycle.repeated)},
	{"refused", FAB_UINT, "requests that did not fit the state of the group", 0,
	 AT(o.lifecycle.refused)},
	{"alive", FAB_UINT, "groups that exist in the end", 0, AT(o.lifecycle.alive)},
	{"max_efi", FAB_UINT,
	 "largest number of trees on a switch-to-switch cable in the end", 0,
	 AT(o.efi.max)},
	{"mean_efi", FAB_REAL,
	 "mean number of trees over all switch-to-switch cables in the end",
	 FAB_COL_EXTRA, AT(o.efi.mean)},
	{"peak_efi", FAB_UINT,
	 "largest number of trees on a switch-to-switch cable at any time", 0,
	 AT(o.peak)},
	{"max_height", FAB_UINT,
	 "switch hops from a root to its farthest member in the end, largest",
	 FAB_COL_EXTRA, AT(o.efi.max_height)},
	{"verified", FAB_BOOL,
	 "the trees in the end were checked by --verify; null without it", FAB_COL_EXTRA,
	 AT(verified)},
	{"seconds.total", FAB_REAL, "time that the replay took",
	 FAB_COL_EXTRA | FAB_COL_SECONDS, AT(o.seconds)},
};
#undef AT

/* A state of the group of --events-states. */
struct state {
	const char *algorithm, *state;
	double seconds;
};

#define AT(member) FAB_AT(struct state, member)
static const struct fab_column states_columns[] = {
	{"algorithm", FAB_TEXT, "routing algorithm", 0, AT(algorithm)},
	{"state", FAB_TEXT, "state that the group enters", 0, AT(state)},
	{"at_seconds", FAB_REAL, "when, by the clock of the trace", FAB_COL_SECONDS,
	 AT(seconds)},
};
#undef AT

/* The outcome of the task: [engines * FAB_LIFECYCLE_N_BEHAVIOURS]. */
struct events_outcome {
	struct fab_mft *tables;	    /* of --mcfdbs; NULL */
	struct fab_groups *initial; /* theirs */
	struct fab_events *events;
	struct outcome *all;
	uint32_t group; /* of --events-states; FAB_NONE */
	FAB_VEC(struct state) states;
};

/* Who routes: the first time the trees of --mcfdbs, then an engine. */
struct router {
	struct fab_live *live;
	const struct fab_fabric *f;
	const struct fab_mft *tables; /* NULL: none */
	const struct fab_groups *initial;
	bool *is_begun; /* [initial groups] */
	struct events_outcome *outcome;
	const char *algorithm;
};

/* The cables between switches that the tables of an MLID use, each once; the caller frees
 * *cable. */
static uint32_t cables_of(const struct router *r, uint16_t mlid, uint32_t **cable)
{
	uint32_t row = fab_mft_find(r->tables, mlid), n = 0;
	uint64_t first = r->tables->first[row], end = r->tables->first[row + 1];
	uint32_t *all = FAB_NEW(end - first, uint32_t);

	for (uint64_t e = first; e < end; e++) {
		uint32_t port = r->tables->port[e];
		uint32_t own = port == FAB_NONE ? FAB_NONE : r->f->port_cable[port];

		if (own < r->f->n_switch_links)
			all[n++] = own;
	}
	qsort(all, n, sizeof(*all), fab_cmp_u32);
	*cable = all;
	first = n;
	n = 0;
	for (uint32_t i = 0; i < first; i++)
		if (!n || all[i] != all[n - 1])
			all[n++] = all[i];
	return n;
}

static uint64_t route(void *context, uint32_t group, const fab_port_id *member,
		      uint32_t n)
{
	struct router *r = context;
	const char *name;
	uint32_t *cable, n_cables;

	if (!r->tables || group >= r->initial->n || r->is_begun[group])
		return fab_live_route(r->live, group, member, n);
	r->is_begun[group] = true;
	name = fab_group_name(r->initial, group);
	n_cables = cables_of(r, fab_mlid_parse(name, strlen(name)), &cable);
	fab_live_put(r->live, group, member, n, cable, n_cables);
	free(cable);
	return 0;
}

static void note_state(void *context, uint32_t group, enum fab_lifecycle_state state,
		       uint64_t now_ns)
{
	struct router *r = context;

	if (group == r->outcome->group)
		FAB_PUSH(&r->outcome->states,
			 ((struct state){r->algorithm, fab_lifecycle_state_name(state),
					 (double)now_ns / 1e9}));
}

/* Mean time that the engine takes for a group, all members of which are there. */
static uint64_t measure(const struct mcroute_params *p, const struct fab_fabric *f,
			const struct fab_dist *dist, const struct fab_groups *all,
			const struct fab_mcast_engine *engine)
{
	struct fab_live *live = fab_live_new(f, dist, all->n, engine, p->root_ties);
	double start = fab_now();

	for (uint32_t g = 0; g < all->n; g++)
		fab_live_route(live, g, all->member + all->first[g],
			       fab_group_size(all, g));
	start = fab_now() - start;
	fab_live_free(live);
	return (uint64_t)(start / all->n * 1e9);
}

/* One engine in one behaviour; computations take compute_ns. */
static int replay(const struct mcroute_params *p, const struct fab_fabric *f,
		  const struct fab_dist *dist, struct events_outcome *o, size_t i,
		  uint64_t compute_ns, struct fab_err *err)
{
	struct outcome *out = &o->all[i];
	const struct fab_events *events = o->events;
	const struct mcroute_events *e = &p->events;
	struct fab_live *live =
		fab_live_new(f, dist, events->groups->n,
			     p->engines[i / FAB_LIFECYCLE_N_BEHAVIOURS], p->root_ties);
	struct router context = {live,
				 f,
				 o->tables,
				 o->initial,
				 o->tables ? FAB_NEW0(o->initial->n, bool) : NULL,
				 o,
				 p->engines[i / FAB_LIFECYCLE_N_BEHAVIOURS]->name};
	const struct fab_lifecycle_router router = {
		.route = route, .enter = note_state, .context = &context};
	const struct fab_lifecycle_options lifecycle = {
		.behaviour =
			(enum fab_lifecycle_behaviour)(i % FAB_LIFECYCLE_N_BEHAVIOURS),
		.compute_ns = compute_ns,
		.timeout_ns = e->timeout_ns,
		.poll_ns = e->poll_ns,
		.notify_ns = e->notify_ns,
		.loss = e->loss,
		.seed = p->run.seed};
	struct fab_groups none = {.first = (uint64_t[1]){0}};
	FAB_AUTO(fab_groups_free_at) struct fab_groups *alive = NULL;
	struct fab_mcast_problem problem = {f, dist, &none};
	struct fab_mcast_engine any_height = {.may_be_higher = true};
	FAB_AUTO(fab_mcast_result_fini) struct fab_mcast_result result = {0};
	struct fab_err found;
	double start = fab_now();
	int rc;

	fab_lifecycle_replay(events, &lifecycle, &router, &out->lifecycle);
	free(context.is_begun);
	out->seconds = fab_now() - start;
	out->compute_s = (double)compute_ns / 1e9;
	out->peak = fab_live_peak(live);
	/* Figures of the trees that are left. */
	rc = fab_live_result(live, events->groups, &alive, &result, err);
	fab_live_free(live);
	if (rc)
		return rc;
	if (alive)
		problem.groups = alive;
	if (o->tables) { /* trees of tables need not be of minimal height */
		any_height.name = result.engine->name;
		result.engine = &any_height;
	}
	fab_efi_of(&problem, &result, &out->efi);
	out->is_sound = true;
	if (p->run.verify && alive && fab_mcast_verify(&problem, &result, &found)) {
		fab_cli_warn(&p->run, "%s", found.text);
		out->is_sound = false;
	}
	return 0;
}

/* The groups at the start, and their tables. */
static int read_tables(const struct mcroute_params *p, const struct fab_fabric *f,
		       struct events_outcome *o, struct fab_err *err)
{
	struct fab_groups_builder *b;
	int rc = fab_cli_read_mcfdbs(p->mcfdbs, false, &p->run, f, &o->tables, err);

	if (rc)
		return rc;
	b = fab_groups_builder_new(f);
	fab_groups_add_mft(b, o->tables);
	return fab_groups_builder_finish(b, false, &o->initial, err);
}

static int find_group(const struct fab_groups *all, const char *name, uint32_t *group,
		      struct fab_err *err)
{
	for (*group = 0; *group < all->n; ++*group)
		if (!strcmp(fab_group_name(all, *group), name))
			return 0;
	return fab_fail(err, EINVAL, "--events-states=%s: no request names such a group",
			name);
}

static int solve(struct fab_work *w, struct fab_err *err)
{
	const struct mcroute_params *p = w->params;
	struct events_outcome *o = w->outcome;
	size_t n = p->n_engines * FAB_LIFECYCLE_N_BEHAVIOURS;
	FAB_AUTO(fab_dist_free_at) struct fab_dist *dist = NULL;
	bool is_sound = true;
	const char *path = p->events.path;
	uint64_t compute_ns = p->events.compute_ns;
	FAB_AUTO(fab_input_fini) struct fab_input in = {0};
	int rc;

	if (p->mcfdbs) {
		rc = read_tables(p, w->f, o, err);
		if (rc)
			return rc;
	}
	if (path) {
		rc = fab_input_read(path, &in, err);
		if (!rc)
			rc = fab_events_read(w->f, o->initial,
					     strcmp(path, "-") ? path : "standard input",
					     in.bytes, in.n, &o->events, err);
	} else {
		rc = fab_events_generate(w->f, p->events.pattern, p->run.seed, &o->events,
					 err);
	}
	o->all = FAB_ARENA_NEW0(w->arena, n, struct outcome);
	if (!rc)
		rc = fab_dist_new(w->f, p->run.threads, &dist, err);
	fab_threads_rest(fab_threads(p->run.threads));
	o->group = FAB_NONE;
	if (!rc && p->events.states)
		rc = find_group(o->events->groups, p->events.states, &o->group, err);
	for (size_t i = 0; i < n && !rc; i++) {
		if (i % FAB_LIFECYCLE_N_BEHAVIOURS == 0 &&
		    p->events.compute_ns == MCROUTE_MEASURED)
			compute_ns = measure(p, w->f, dist, o->events->groups,
					     p->engines[i / FAB_LIFECYCLE_N_BEHAVIOURS]);
		rc = replay(p, w->f, dist, o, i, compute_ns, err);
		is_sound &= o->all[i].is_sound;
	}
	return rc ? rc : is_sound ? FAB_EXIT_DONE : FAB_EXIT_FOUND;
}

static void fini(void *outcome)
{
	struct events_outcome *o = outcome;

	free(o->states.v);
	fab_events_free(o->events);
	fab_groups_free(o->initial);
	fab_mft_free(o->tables);
}

static int write_events(FILE *out, const struct fab_work *w, struct fab_err *err)
{
	const struct events_outcome *o = w->outcome;

	return fab_export_events(out, w->f, o->events, err);
}

/* Times of the first algorithm. */
static void print_answer(struct fab_report *r, const struct mcroute_params *p,
			 const struct outcome *all)
{
	const struct fab_lifecycle_outcome *batched =
		&all[FAB_LIFECYCLE_BATCHED].lifecycle;
	const struct fab_lifecycle_outcome *plain = &all[FAB_LIFECYCLE_PLAIN].lifecycle;
	const struct fab_lifecycle_outcome *coalesced =
		&all[FAB_LIFECYCLE_COALESCED].lifecycle;
	char text[5][FAB_HUMAN_BYTES];

	if (!batched->routed || !plain->routed || !coalesced->routed) {
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"No group had all its members joined and routed in every behaviour: nothing to compare.");
		return;
	}
	fab_report_answer(
		r, FAB_TONE_PLAIN,
		"From the last join until all members have routes, mean: batched %s, plain %s, coalesced as OpenSM does %s; batched, all members know after %s.",
		fab_human_seconds(batched->routed_mean_s, text[0]),
		fab_human_seconds(plain->routed_mean_s, text[1]),
		fab_human_seconds(coalesced->routed_mean_s, text[2]),
		fab_human_seconds(batched->told_mean_s, text[3]));
	if (p->events.compute_ns == MCROUTE_MEASURED)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"A computation by %s takes %s, without the writing of tables, as measured here; --set events-compute=TIME for another time.",
			p->engines[0]->name, fab_human_seconds(all->compute_s, text[4]));
	if (batched->routed != plain->routed || batched->routed != coalesced->routed)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"These are means over different groups: %llu, %llu and %llu were complete and then routed.",
			(unsigned long long)batched->routed,
			(unsigned long long)plain->routed,
			(unsigned long long)coalesced->routed);
}

static void report(struct fab_report *r, const struct fab_work *w)
{
	const struct mcroute_params *p = w->params;
	const struct events_outcome *o = w->outcome;
	const struct fab_groups *g = o->events->groups;

	print_answer(r, p, o->all);
	fab_report_uint(r, "groups", g->n);
	fab_report_uint(r, "members", g->first[g->n]);
	fab_report_uint(r, "requests", o->events->n);
	fab_report_table_begin(r, "results", "Behaviours", events_columns,
			       FAB_COUNT(events_columns));
	for (size_t i = 0; i < p->n_engines * FAB_LIFECYCLE_N_BEHAVIOURS; i++) {
		const struct row row = {
			p->engines[i / FAB_LIFECYCLE_N_BEHAVIOURS]->name,
			fab_lifecycle_behaviour_name((enum fab_lifecycle_behaviour)(
				i % FAB_LIFECYCLE_N_BEHAVIOURS)),
			o->all[i], p->run.verify ? o->all[i].is_sound : FAB_UNKNOWN};

		fab_report_record(r, &row);
	}
	fab_report_table_end(r);
	if (o->group == FAB_NONE)
		return;
	fab_report_table_begin(r, "states", "States of the group, batched",
			       states_columns, FAB_COUNT(states_columns));
	for (size_t i = 0; i < o->states.n; i++)
		fab_report_record(r, &o->states.v[i]);
	fab_report_table_end(r);
}

static const struct fab_task_file files[] = {{"events-out", write_events}, {0}};
const struct fab_task mcroute_events_task = {
	.primary = "results",
	FAB_TASK_COLUMNS(events_columns),
	.outcome_bytes = sizeof(struct events_outcome),
	.solve = solve,
	.files = files,
	.report = report,
	.fini = fini,
};
