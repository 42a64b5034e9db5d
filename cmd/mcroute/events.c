/* SPDX-License-Identifier: BSD-2-Clause */
#include "events.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/human.h"
#include "base/mem.h"
#include "base/threads.h"
#include "export/trees.h"
#include "mcast/route.h"
#include "mcast/events.h"
#include "mcast/live.h"
#include "source/unpack.h"

/* One engine in one behaviour, and how it ended. */
struct outcome {
	struct fab_lifecycle_outcome lifecycle;
	struct fab_efi efi;
	uint32_t peak;
	bool is_sound;
	double seconds;
};

/* A row of the report. */
struct row {
	const char *algorithm, *behaviour;
	struct outcome o;
	uint64_t verified; /* or FAB_UNKNOWN */
};

#define AT(member) FAB_AT(struct row, member)
const struct fab_column mcroute_events_columns[] = {
	{"algorithm", FAB_TEXT, "routing algorithm", 0, AT(algorithm)},
	{"behaviour", FAB_TEXT,
	 "batched: computed once when all have joined; plain: at every request; "
	 "coalesced: requests are gathered, as OpenSM does",
	 0, AT(behaviour)},
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
	{"routed_seconds.max", FAB_REAL, "the same, longest", FAB_COL_SECONDS,
	 AT(o.lifecycle.routed_max_s)},
	{"told_seconds.mean", FAB_REAL,
	 "until all members know it, mean; null: nobody is told", FAB_COL_SECONDS,
	 AT(o.lifecycle.told_mean_s)},
	{"told_seconds.max", FAB_REAL, "the same, longest",
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
	{"lost", FAB_UINT, "requests that nobody received", 0, AT(o.lifecycle.lost)},
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
const size_t mcroute_events_n_columns = FAB_COUNT(mcroute_events_columns);

bool mcroute_events_given(const struct mcroute_events *e)
{
	return e->path || e->pattern;
}

static int read_events(const struct mcroute_events *e, const struct fab_fabric *f,
		       struct fab_events **out, struct fab_err *err)
{
	const char *name = strcmp(e->path, "-") ? e->path : "standard input";
	struct fab_input in;
	int rc = fab_input_read(e->path, &in, err);

	if (rc)
		return rc;
	rc = fab_events_read(f, name, in.bytes, in.n, out, err);
	fab_input_fini(&in);
	return rc;
}

static int make_events(const struct mcroute_events *e,
		       const struct mcroute_events_job *job,
		       struct fab_cli_results *results, struct fab_events **out,
		       struct fab_err *err)
{
	int rc = e->path ? read_events(e, job->f, out, err)
			 : fab_events_generate(job->f, e->pattern, job->run->seed, out,
					       err);

	return rc || !e->out ? rc
			     : fab_export_events(fab_cli_open_result(results, e->out),
						 job->f, *out, err);
}

static uint64_t route(void *live, uint32_t group, const fab_port_id *member, uint32_t n)
{
	return fab_live_route(live, group, member, n);
}

/* What the trees that are left amount to. */
static int analyse(const struct mcroute_events_job *job, const struct fab_dist *dist,
		   const struct fab_live *live, const struct fab_events *events,
		   struct outcome *out, struct fab_err *err)
{
	struct fab_mcast_result result;
	struct fab_groups none = {.first = (uint64_t[1]){0}}, *alive;
	struct fab_mcast_problem problem = {job->f, dist, &none};
	struct fab_err found;
	int rc = fab_live_result(live, events->groups, &alive, &result, err);

	if (rc)
		return rc;
	if (alive)
		problem.groups = alive;
	fab_efi_of(&problem, &result, &out->efi);
	out->is_sound = true;
	if (job->run->verify && alive && fab_mcast_verify(&problem, &result, &found)) {
		fab_cli_warn(job->run, "%s", found.text);
		out->is_sound = false;
	}
	fab_mcast_result_fini(&result);
	fab_groups_free(alive);
	return 0;
}

static int replay(const struct mcroute_events *e, const struct mcroute_events_job *job,
		  const struct fab_dist *dist, const struct fab_events *events,
		  const struct fab_mcast_engine *engine,
		  enum fab_lifecycle_behaviour behaviour, struct outcome *out,
		  struct fab_err *err)
{
	struct fab_live *live =
		fab_live_new(job->f, dist, events->groups->n, engine, job->root_ties);
	const struct fab_lifecycle_router router = {.route = route, .context = live};
	const struct fab_lifecycle_options lifecycle = {.behaviour = behaviour,
							.compute_ns = e->compute_ns,
							.timeout_ns = e->timeout_ns,
							.poll_ns = e->poll_ns,
							.notify_ns = e->notify_ns,
							.loss = e->loss,
							.seed = job->run->seed};
	double start = fab_now();
	int rc;

	fab_lifecycle_replay(events, &lifecycle, &router, &out->lifecycle);
	out->seconds = fab_now() - start;
	out->peak = fab_live_peak(live);
	rc = analyse(job, dist, live, events, out, err);
	fab_live_free(live);
	return rc;
}

static void print_row(struct fab_report *r, const char *algorithm, const char *behaviour,
		      const struct outcome *o, bool was_verified)
{
	const struct row row = {algorithm, behaviour, *o,
				was_verified ? o->is_sound : FAB_UNKNOWN};

	fab_report_record(r, &row);
}

/* All behaviours of every engine into all[n_engines * FAB_LIFECYCLE_N_BEHAVIOURS]. */
static int replay_all(const struct mcroute_events *e,
		      const struct mcroute_events_job *job, const struct fab_dist *dist,
		      const struct fab_events *events, struct outcome *all,
		      struct fab_err *err)
{
	const size_t n = FAB_LIFECYCLE_N_BEHAVIOURS;
	int rc = 0;

	for (size_t i = 0; i < job->n_engines * n && !rc; i++)
		rc = replay(e, job, dist, events, job->engines[i / n],
			    (enum fab_lifecycle_behaviour)(i % n), &all[i], err);
	return rc;
}

/* Times do not depend on the algorithm. */
static void print_answer(struct fab_report *r, const struct outcome *all)
{
	const struct fab_lifecycle_outcome *batched =
		&all[FAB_LIFECYCLE_BATCHED].lifecycle;
	const struct fab_lifecycle_outcome *plain = &all[FAB_LIFECYCLE_PLAIN].lifecycle;
	const struct fab_lifecycle_outcome *coalesced =
		&all[FAB_LIFECYCLE_COALESCED].lifecycle;
	char text[4][FAB_HUMAN_BYTES];

	if (!batched->routed || !plain->routed || !coalesced->routed) {
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "No group had all its members joined and routed in "
				  "every behaviour: nothing to compare.");
		return;
	}
	fab_report_answer(
		r, FAB_TONE_PLAIN,
		"From the last join until all members have routes, mean: batched %s, "
		"plain %s, coalesced as OpenSM does %s; batched, all members know after "
		"%s.",
		fab_human_seconds(batched->routed_mean_s, text[0]),
		fab_human_seconds(plain->routed_mean_s, text[1]),
		fab_human_seconds(coalesced->routed_mean_s, text[2]),
		fab_human_seconds(batched->told_mean_s, text[3]));
	if (batched->routed != plain->routed || batched->routed != coalesced->routed)
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "These are means over different groups: %llu, %llu and "
				  "%llu were complete and then routed.",
				  (unsigned long long)batched->routed,
				  (unsigned long long)plain->routed,
				  (unsigned long long)coalesced->routed);
}

/* Were all trees sound? */
static bool print_results(struct fab_report *r, const struct mcroute_events_job *job,
			  const struct outcome *all)
{
	bool is_sound = true;

	fab_report_table_begin(r, "results", "Behaviours", mcroute_events_columns,
			       mcroute_events_n_columns);
	for (size_t i = 0; i < job->n_engines * FAB_LIFECYCLE_N_BEHAVIOURS; i++) {
		print_row(r, job->engines[i / FAB_LIFECYCLE_N_BEHAVIOURS]->name,
			  fab_lifecycle_behaviour_name((enum fab_lifecycle_behaviour)(
				  i % FAB_LIFECYCLE_N_BEHAVIOURS)),
			  &all[i], job->run->verify);
		is_sound &= all[i].is_sound;
	}
	fab_report_table_end(r);
	return is_sound;
}

static int print_report(const struct mcroute_events_job *job,
			struct fab_cli_results *results, const struct fab_events *events,
			const struct outcome *all, bool *is_sound, struct fab_err *err)
{
	static const struct fab_column fields[] = {
		{"groups", FAB_UINT, "multicast groups", 0},
		{"members", FAB_UINT, "members of all groups together", 0},
		{"requests", FAB_UINT, "requests to join and to leave, lost ones too", 0},
	};
	const struct fab_groups *g = events->groups;
	struct fab_report_options how;
	FILE *file = fab_cli_open_report(results, job->output, &how);
	struct fab_report *r =
		fab_cli_begin_report(file, &how, "fabric-mcroute", "results", job->f);
	int rc;

	print_answer(r, all);
	fab_report_field(r, &fields[0], (union fab_cell){.u = g->n});
	fab_report_field(r, &fields[1], (union fab_cell){.u = g->first[g->n]});
	fab_report_field(r, &fields[2], (union fab_cell){.u = events->n});
	*is_sound = print_results(r, job, all);
	rc = fab_report_finish(r, err);
	return rc ? rc : fab_cli_commit_results(results, err);
}

int mcroute_events_run(const struct mcroute_events *e,
		       const struct mcroute_events_job *job, struct fab_err *err)
{
	struct outcome *all =
		FAB_NEW0(job->n_engines * FAB_LIFECYCLE_N_BEHAVIOURS, struct outcome);
	struct fab_cli_results results = {.n = 0};
	struct fab_events *events = NULL;
	struct fab_dist *dist = NULL;
	bool is_sound = false;
	int rc = make_events(e, job, &results, &events, err);

	if (!rc)
		rc = fab_dist_new(job->f, job->run->threads, &dist, err);
	fab_threads_rest(fab_threads(job->run->threads));
	if (!rc)
		rc = replay_all(e, job, dist, events, all, err);
	if (!rc)
		rc = print_report(job, &results, events, all, &is_sound, err);
	fab_dist_free(dist);
	fab_events_free(events);
	free(all);
	return rc ? rc : is_sound ? FAB_EXIT_DONE : FAB_EXIT_FOUND;
}
