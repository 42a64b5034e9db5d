/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fabkit-opensm: an event plug-in for OpenSM. When unicast routing is done it takes
 * OpenSM's view of the subnet and puts itself into the routing engine that was used, in
 * place of its mcast_build_stree; from then on OpenSM asks it for the tree of each group.
 * A worker looks for better trees in the background, step by step, and has them written
 * when OpenSM next asks; it also compares what OpenSM then holds with the trees. Whatever
 * is in doubt is left to OpenSM's own tree.
 *
 * Threads: events and trees come from OpenSM's sweeper, trees with OpenSM's lock held
 * exclusively. The keeper and all state here are under `mutex`. The sweeper may wait for
 * OpenSM's lock while it has the mutex, for only itself waits for the mutex with that
 * lock; the worker never holds both.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "opensm/plugin.h"
#include <opensm/osm_version.h>

#include "base/clock.h"
#include "base/mem.h"
#include "opensm/keeper.h"
#include "opensm/options.h"

typedef ib_api_status_t build_fn(void *context, osm_mgrp_box_t *box);

static struct plugin {
	struct osm_opensm *osm;
	struct fab_opensm_options given, options; /* in opensm.conf; with the file */
	pthread_mutex_t mutex;
	pthread_cond_t wake;
	pthread_t worker;
	bool has_worker, is_ending;
	bool is_broken; /* out of memory once: nothing more is done */
	atomic_bool stop;
	struct fab_keeper *keeper;
	struct osm_routing_engine *hooked; /* NULL: none */
	build_fn *original;		   /* of it; NULL: OpenSM's default */
	struct fab_pace *pace;
	struct fab_plan *found; /* solved, to be taken over */
	uint32_t n_found;
	double scanned_at;    /* for groups that have gone, fab_now() */
	atomic_ulong n_asked; /* times that OpenSM asked for a tree */
	struct {
		bool is_due;  /* tables were written since they were compared, */
		double since; /* the first time, fab_now() */
		double at;    /* not before */
		unsigned n_failed;
		double failed_at;
	} audit;
	struct {
		bool is_due;	/* OpenSM's own trees were taken as they are */
		uint32_t today; /* largest EFI of them */
		uint32_t n_groups, n_logged; /* of OpenSM: now, when it was logged */
	} dry;
} plugin;

/* A comparison of the tables waits for replies, and looks at that many ports of trees
 * with OpenSM's lock; groups that have gone are looked for that often; the first trees
 * may hold up a sweep. After a comparison that fails the time to the next doubles. */
enum { AUDIT_ENTRIES = 2000, AUDITS = 6, START_MS = 1000 };
static const double AUDIT_WAIT_S = 0.2, AUDIT_PATIENCE_S = 10, AUDITS_FORGOTTEN_S = 300,
		    SCAN_S = 0.1;

/* Where a thread goes when there is no memory, and what it has to give back. */
static _Thread_local jmp_buf out_of_memory, no_own_tree;
static _Thread_local bool is_guarded, has_osm_lock;

static void leave(size_t bytes)
{
	(void)bytes;
	longjmp(out_of_memory, 1);
}

static void leave_own_tree(size_t bytes)
{
	(void)bytes;
	longjmp(no_own_tree, 1);
}

/* From here on, or no longer, out_of_memory is where the thread goes. */
static void guard(bool is_on)
{
	is_guarded = is_on;
	fab_oom_handle(is_on ? leave : NULL);
}

#define LOG(level, ...) osm_log(&plugin.osm->log, (level), "fabkit: " __VA_ARGS__)

/* Give the routing engine its own function back. */
static void unhook(void)
{
	if (plugin.hooked)
		plugin.hooked->mcast_build_stree = plugin.original;
	plugin.hooked = NULL;
	plugin.original = NULL;
}

/* From here on OpenSM does everything itself. What was in work is lost. */
static void give_up(void)
{
	guard(false);
	if (has_osm_lock)
		cl_plock_release(&plugin.osm->lock);
	has_osm_lock = false;
	plugin.is_broken = true;
	LOG(OSM_LOG_ERROR | OSM_LOG_SYS,
	    "out of memory: OpenSM's own trees from here on\n");
}

/* OpenSM's tree, by the engine's own function where it has one. Without memory none: what
 * OpenSM itself would do. */
static ib_api_status_t own_tree(void *context, osm_mgrp_box_t *box)
{
	ib_api_status_t status;

	if (plugin.original)
		return plugin.original(context, box);
	if (setjmp(no_own_tree)) {
		guard(is_guarded);
		LOG(OSM_LOG_ERROR | OSM_LOG_SYS, "MLID 0x%x: no memory for its tree\n",
		    box->mlid);
		return IB_INSUFFICIENT_MEMORY;
	}
	fab_oom_handle(leave_own_tree);
	status = fab_opensm_own_tree(plugin.osm, box);
	guard(is_guarded);
	return status;
}

/* The ports that the keeper says have changed a group. */
static void note_change(void)
{
	const uint64_t *guid;
	uint32_t n = fab_keeper_changed(plugin.keeper, &guid);
	uint64_t spent =
		fab_pace_change(plugin.pace, &plugin.options.pace, guid, n, fab_now());

	if (spent)
		LOG(OSM_LOG_INFO,
		    "port 0x%016" PRIx64
		    " joined and left more than %u times in a minute: until it is over the further changes of such ports move no other trees\n",
		    spent, plugin.options.pace.port_changes);
	pthread_cond_signal(&plugin.wake);
}

static uint16_t mlid_of(uint32_t group)
{
	return (uint16_t)(IB_LID_MCAST_START_HO + group);
}

/* The keeper's tree of a group into the tables; where that fails it has none. */
static int write_kept(osm_mgrp_box_t *box, struct fab_err *err)
{
	uint32_t group = (uint32_t)box->mlid - IB_LID_MCAST_START_HO, n;
	struct fab_live_tree tree;
	FAB_AUTOFREE uint64_t *guid = NULL;
	int rc;

	n = fab_opensm_members(box, &guid);
	rc = fab_keeper_route(plugin.keeper, group, guid, n, err);
	if (rc > 0)
		note_change();
	tree = fab_keeper_tree(plugin.keeper, group);
	if (rc < 0 || tree.root == FAB_NONE)
		return rc < 0 ? rc : 0;
	rc = fab_opensm_write_tree(plugin.osm, fab_keeper_fabric(plugin.keeper), &tree,
				   box->mlid, err);
	if (rc)
		(void)!fab_keeper_route(plugin.keeper, group, NULL, 0, NULL);
	return rc;
}

/* Trees that the worker found, written at once: OpenSM sends all blocks that changed. */
static void take_found(void *context)
{
	uint32_t n, n_left = 0, before = fab_keeper_max_efi(plugin.keeper);
	FAB_AUTOFREE uint32_t *moved = NULL;
	struct fab_err err;

	moved = FAB_NEW(plugin.n_found, uint32_t);
	n = fab_keeper_take(plugin.keeper, plugin.found, moved);
	for (uint32_t i = 0; i < n; i++) {
		osm_mgrp_box_t *box = plugin.osm->subn.mboxes[moved[i]];

		if (!box)
			continue;
		fab_opensm_clear(plugin.osm, mlid_of(moved[i]));
		if (!write_kept(box, &err))
			continue;
		n_left++;
		LOG(OSM_LOG_ERROR, "MLID 0x%x: %s; OpenSM's own tree\n", box->mlid,
		    err.text);
		(void)own_tree(context, box);
	}
	LOG(OSM_LOG_INFO,
	    "%u trees moved; fullest cable %u trees, was %u: %.2f fewer for each tree moved\n",
	    n - n_left, fab_keeper_max_efi(plugin.keeper), before,
	    n ? ((double)before - fab_keeper_max_efi(plugin.keeper)) / n : 0);
	fab_plan_free(plugin.found);
	plugin.found = NULL;
}

/* Groups that ended are not announced: their boxes are gone. */
static void drop_ended(void)
{
	uint32_t n = fab_opensm_n_groups(plugin.osm);
	double now = fab_now();

	if (now - plugin.scanned_at < SCAN_S)
		return;
	plugin.scanned_at = now;
	for (uint32_t g = 0; g < n; g++)
		if (!plugin.osm->subn.mboxes[g] &&
		    fab_keeper_tree(plugin.keeper, g).n_members &&
		    fab_keeper_route(plugin.keeper, g, NULL, 0, NULL) > 0)
			note_change();
}

static ib_api_status_t build_locked(void *context, osm_mgrp_box_t *box)
{
	struct fab_err err;

	atomic_fetch_add(&plugin.n_asked, 1);
	if (!plugin.audit.is_due)
		plugin.audit.since = fab_now();
	plugin.audit.is_due = true;
	if (plugin.found) {
		take_found(context);
		/* those found may have been of this group: begin again with an empty
		 * table */
		fab_opensm_clear(plugin.osm, box->mlid);
	}
	drop_ended();
	if (write_kept(box, &err)) {
		LOG(OSM_LOG_INFO, "MLID 0x%x: %s; OpenSM's own tree\n", box->mlid,
		    err.text);
		return own_tree(context, box);
	}
	osm_purge_mtree(&plugin.osm->sm, box);
	pthread_cond_signal(&plugin.wake);
	return IB_SUCCESS;
}

/* In place of mcast_build_stree: OpenSM's lock is held, the MLID has no ports. */
static ib_api_status_t build(void *context, osm_mgrp_box_t *box)
{
	ib_api_status_t status;

	if (plugin.is_broken || plugin.options.mode != FAB_OPENSM_ON)
		return own_tree(context, box);
	pthread_mutex_lock(&plugin.mutex);
	if (setjmp(out_of_memory)) {
		give_up();
		pthread_mutex_unlock(&plugin.mutex);
		fab_opensm_clear(plugin.osm, box->mlid);
		return own_tree(context, box);
	}
	guard(true);
	status = build_locked(context, box);
	guard(false);
	pthread_mutex_unlock(&plugin.mutex);
	return status;
}

static void hook(void)
{
	struct osm_routing_engine *re = plugin.osm->routing_engine_used;

	if (re == plugin.hooked || !re)
		return;
	unhook();
	plugin.hooked = re;
	plugin.original = re->mcast_build_stree;
	re->mcast_build_stree = build;
}

/* Where all trees are new, nothing is interrupted by better ones: all by the engine at
 * once, for as long as a sweep may wait. */
static void start_balanced(void)
{
	const struct fab_plan_options o = {.engine = plugin.options.engine,
					   .time_limit_ms =
						   plugin.options.time_limit_ms < START_MS
							   ? plugin.options.time_limit_ms
							   : START_MS,
					   .stop = &plugin.stop};
	struct fab_plan *plan = fab_keeper_plan(plugin.keeper);
	struct fab_plan_result r;
	struct fab_err err;
	double start = fab_now();
	uint32_t *moved;

	if (!plan)
		return;
	if (fab_plan_solve(plan, &o, &r, &err)) {
		LOG(OSM_LOG_ERROR, "%s; trees one by one\n", err.text);
	} else {
		moved = FAB_NEW(r.n_moved, uint32_t);
		fab_keeper_take(plugin.keeper, plan, moved);
		free(moved);
		LOG(OSM_LOG_INFO,
		    "start: %u groups: fullest cable %u by %s, %u one by one (at least %u%s); %.3f s\n",
		    r.n_groups, r.after, plugin.options.engine->name, r.before, r.bound,
		    r.after <= r.bound ? ", proven least"
		    : r.is_out_of_time ? ", time limit reached"
				       : "",
		    fab_now() - start);
	}
	fab_plan_free(plan);
}

/* Renew the keeper from OpenSM's subnet. The mutex is held, the lock not. */
static void renew(void)
{
	FAB_AUTO(fab_opensm_view_fini) struct fab_opensm_view view = {0};
	struct fab_keeper_counts counts;
	struct fab_fabric *f;
	struct fab_err err;
	uint32_t n_trees;
	double start = fab_now(), locked;
	bool is_dry = plugin.options.mode == FAB_OPENSM_DRY_RUN;

	cl_plock_acquire(&plugin.osm->lock);
	has_osm_lock = true;
	locked = fab_now();
	fab_opensm_view_copy(plugin.osm, &view);
	if (is_dry)
		plugin.dry.today = fab_opensm_max_efi(plugin.osm, &n_trees);
	locked = fab_now() - locked;
	has_osm_lock = false;
	cl_plock_release(&plugin.osm->lock);
	if (fab_opensm_view_fabric(&view, &f, &err) ||
	    fab_keeper_renew(plugin.keeper, f, &view.members, &counts, &err)) {
		fab_keeper_clear(plugin.keeper);
		LOG(OSM_LOG_ERROR, "%s; OpenSM's own trees\n", err.text);
	} else if (is_dry) {
		plugin.dry.is_due = counts.kept + counts.routed > 0;
	} else {
		if (!counts.kept && counts.routed > 1)
			start_balanced();
		LOG(OSM_LOG_INFO,
		    "%u switches: %u trees kept, %u routed, %u groups left to OpenSM; fullest cable %u trees; %.1f ms, %.1f with OpenSM's lock\n",
		    fab_keeper_fabric(plugin.keeper)->n_switches, counts.kept,
		    counts.routed, counts.left, fab_keeper_max_efi(plugin.keeper),
		    (fab_now() - start) * 1e3, locked * 1e3);
		if (counts.kept + counts.routed > 0)
			fab_pace_ask(plugin.pace);
	}
	pthread_cond_signal(&plugin.wake);
}

/* OpenSM's groups now: MLIDs in use. Its lock is not held. O(MLIDs). */
static uint32_t count_groups(void)
{
	uint32_t n = 0;

	cl_plock_acquire(&plugin.osm->lock);
	for (uint32_t g = 0; g < fab_opensm_n_groups(plugin.osm); g++)
		n += plugin.osm->subn.mboxes[g] != NULL;
	cl_plock_release(&plugin.osm->lock);
	return n;
}

/* The options of the file, which may have changed; what was in force stays if it is bad.
 */
static void read_options(void)
{
	struct fab_opensm_options before = plugin.options, *now = &plugin.options;
	struct fab_err err;
	char text[FAB_OPENSM_OPTIONS_BYTES];

	if (!plugin.given.file[0])
		return;
	if (fab_opensm_options_read(&plugin.given, now, &err)) {
		LOG(OSM_LOG_ERROR | OSM_LOG_SYS, "%s; mode=%s stays\n", err.text,
		    fab_opensm_mode_name(before.mode));
		return;
	}
	if (now->mode != before.mode) {
		LOG(OSM_LOG_INFO | OSM_LOG_SYS, "mode=%s, was %s\n",
		    fab_opensm_mode_name(now->mode), fab_opensm_mode_name(before.mode));
		fab_keeper_clear(plugin.keeper); /* trees that were not written */
	}
	if (fab_opensm_options_equal(now, &before))
		return;
	LOG(OSM_LOG_INFO, "options: %s\n", fab_opensm_options_text(now, text));
	plugin.dry.n_logged = 0;
}

static void report(void *data, osm_epi_event_id_t event, void *event_data)
{
	(void)data;
	(void)event_data;
	if (plugin.is_broken ||
	    (event != OSM_EVENT_ID_UCAST_ROUTING_DONE && event != OSM_EVENT_ID_SUBNET_UP))
		return;
	pthread_mutex_lock(&plugin.mutex);
	if (setjmp(out_of_memory)) {
		give_up();
		unhook();
	} else {
		guard(true);
		if (event == OSM_EVENT_ID_UCAST_ROUTING_DONE) {
			read_options();
			if (plugin.options.mode == FAB_OPENSM_ON)
				renew();
			else
				fab_keeper_clear(plugin.keeper);
			if (plugin.options.mode >= FAB_OPENSM_ON)
				hook();
			else
				unhook();
		} else if (plugin.options.mode == FAB_OPENSM_DRY_RUN) {
			/* The subnet is up: OpenSM's own trees are in the tables. Once,
			 * and again when there are twice as many groups. */
			plugin.dry.n_groups = count_groups();
			if (plugin.dry.n_groups >= 2 * plugin.dry.n_logged)
				renew();
		}
	}
	guard(false);
	pthread_mutex_unlock(&plugin.mutex);
}

/* The log of what balancing came to. */
static void log_result(const struct fab_plan_result *r, double seconds)
{
	const char *note = r->after <= r->bound ? ", proven least"
			   : r->is_out_of_time	? ", time limit reached"
						: "";

	if (plugin.options.mode == FAB_OPENSM_DRY_RUN) {
		LOG(OSM_LOG_INFO | OSM_LOG_SYS,
		    "dry run: %u groups; OpenSM's trees: fullest cable %u; with %s it would be %u (at least %u%s); %.3f s\n",
		    r->n_groups, plugin.dry.today, plugin.options.engine->name, r->after,
		    r->bound, note, seconds);
		return;
	}
	LOG(OSM_LOG_INFO,
	    "balanced %u groups: fullest cable %u, was %u (at least %u%s), %u trees to move; %.3f s\n",
	    r->n_groups, r->after, r->before, r->bound, note, r->n_moved, seconds);
	if (r->n_needed > r->n_moved)
		LOG(OSM_LOG_INFO,
		    "%u more moves make it %u: the next step goes on (max_moved)\n",
		    r->n_needed - r->n_moved, r->after - 1);
}

/* Solve a plan without the mutex, and leave what it moves for the sweeper. */
static void balance(struct fab_plan *plan)
{
	bool is_dry = plugin.options.mode == FAB_OPENSM_DRY_RUN;
	const struct fab_plan_options o = {
		.engine = is_dry ? plugin.options.engine : NULL,
		.max_moved =
			fab_opensm_max_moved(&plugin.options, fab_plan_n_trees(plan)),
		.time_limit_ms = plugin.options.time_limit_ms,
		.stop = &plugin.stop};
	struct fab_plan_result r;
	struct fab_err err;
	double start = fab_now();
	int rc;

	pthread_mutex_unlock(&plugin.mutex);
	rc = fab_plan_solve(plan, &o, &r, &err);
	pthread_mutex_lock(&plugin.mutex);
	if (rc)
		LOG(OSM_LOG_ERROR, "%s; no tree is moved\n", err.text);
	else if (!plugin.is_ending)
		log_result(&r, fab_now() - start);
	if (rc || !r.n_moved || is_dry || plugin.options.mode != FAB_OPENSM_ON) {
		fab_plan_free(plan);
		return;
	}
	fab_pace_end(plugin.pace, r.after, r.n_moved, r.n_needed);
	if (plugin.found)
		LOG(OSM_LOG_INFO, "0 trees moved: better ones were found meanwhile\n");
	fab_plan_free(plugin.found);
	plugin.found = plan;
	plugin.n_found = r.n_moved;
}

/* Ask OpenSM for another pass over the groups of the list, or over any one. */
static void ask_pass(const uint32_t *group, size_t n)
{
	struct osm_opensm *osm = plugin.osm;

	CL_PLOCK_EXCL_ACQUIRE(&osm->lock);
	for (size_t i = 0; i < n && !osm_exit_flag; i++)
		if (osm->subn.mboxes[group[i]])
			osm_sm_reroute_mlid(&osm->sm, cl_hton16(mlid_of(group[i])));
	for (uint32_t g = 0; !n && g < fab_opensm_n_groups(osm) && !osm_exit_flag; g++) {
		if (!osm->subn.mboxes[g])
			continue;
		osm_sm_reroute_mlid(&osm->sm, cl_hton16(mlid_of(g)));
		break;
	}
	CL_PLOCK_RELEASE(&osm->lock);
}

/* Outcome of a comparison of the tables with the trees. */
struct audit {
	bool is_quiet;	/* no reply was outstanding, and no tree asked for meanwhile */
	bool has_error; /* OpenSM itself knows of a Set that failed */
	FAB_VEC(uint32_t) wrong; /* groups */
};

/* Compare, part by part, each with OpenSM's lock. The mutex is held, but not meanwhile.
 */
static void compare(struct audit *a)
{
	struct osm_opensm *osm = plugin.osm;
	unsigned long n_asked = atomic_load(&plugin.n_asked);
	uint32_t end = fab_opensm_n_groups(osm);
	struct fab_opensm_expected e;

	a->is_quiet = true;
	for (uint32_t g = 0;
	     g < end && a->is_quiet && fab_keeper_fabric(plugin.keeper);) {
		g = fab_opensm_expect(plugin.keeper, g, end, AUDIT_ENTRIES, &e);
		pthread_mutex_unlock(&plugin.mutex);
		cl_plock_acquire(&osm->lock);
		has_osm_lock = true;
		a->is_quiet = !osm->stats.qp0_mads_outstanding &&
			      atomic_load(&plugin.n_asked) == n_asked;
		for (size_t i = 0; i < e.groups.n && a->is_quiet; i++)
			if (!fab_opensm_is_held(osm, &e, i))
				FAB_PUSH(&a->wrong, e.groups.v[i].group);
		a->has_error = osm->subn.subnet_initialization_error;
		has_osm_lock = false;
		cl_plock_release(&osm->lock);
		fab_opensm_expected_fini(&e);
		pthread_mutex_lock(&plugin.mutex);
	}
}

/* Do OpenSM's tables hold the trees? If not, ask it for another pass, and where a Set
 * failed for another sweep. */
static void audit(void)
{
	struct audit a = {0};
	double now = fab_now();

	compare(&a);
	plugin.audit.at = now + AUDIT_WAIT_S;
	if (!a.is_quiet || plugin.is_ending) {
		free(a.wrong.v);
		return;
	}
	plugin.audit.is_due = false;
	if (now - plugin.audit.failed_at > AUDITS_FORGOTTEN_S)
		plugin.audit.n_failed = 0;
	if (!a.wrong.n && !a.has_error) {
		if (plugin.audit.n_failed)
			LOG(OSM_LOG_INFO, "OpenSM's tables hold all trees again\n");
		plugin.audit.n_failed = 0;
	} else if (plugin.audit.n_failed == AUDITS) {
		LOG(OSM_LOG_ERROR,
		    "%zu trees are not in OpenSM's tables after %d attempts%s; left until the next sweep\n",
		    a.wrong.n, AUDITS, a.has_error ? ", and it reports errors" : "");
		plugin.audit.n_failed++;
	} else if (plugin.audit.n_failed < AUDITS) {
		LOG(OSM_LOG_INFO,
		    "%zu trees are not in OpenSM's tables%s: asked it for another %s\n",
		    a.wrong.n, a.has_error ? ", a switch did not answer" : "",
		    a.has_error ? "sweep" : "pass");
		plugin.audit.failed_at = now;
		plugin.audit.at = now + (double)(1u << plugin.audit.n_failed++);
		plugin.audit.is_due = true;
		pthread_mutex_unlock(&plugin.mutex);
		if (a.has_error)
			osm_sm_signal(&plugin.osm->sm, OSM_SIGNAL_SWEEP);
		else
			ask_pass(a.wrong.v, a.wrong.n);
		pthread_mutex_lock(&plugin.mutex);
	}
	free(a.wrong.v);
}

/* Trees are moved only when what was written before is known to be in the tables, unless
 * groups change all the time. */
static bool is_audit_first(double now)
{
	const struct fab_pace_limits *l = &plugin.options.pace;

	return plugin.audit.is_due &&
	       (now - plugin.audit.since < fmax(l->min_interval_s, AUDIT_PATIENCE_S) ||
		fab_pace_due(plugin.pace, l, now) > 0);
}

/* Seconds until something is to be done, 0: now; INFINITY: not as things are. */
static double next_work(void)
{
	double now = fab_now();

	if (plugin.options.mode == FAB_OPENSM_DRY_RUN)
		return plugin.dry.is_due ? 0 : INFINITY;
	if (plugin.options.mode != FAB_OPENSM_ON)
		return INFINITY;
	if (is_audit_first(now))
		return fmax(0, plugin.audit.at - now);
	return plugin.found ? INFINITY
			    : fab_pace_due(plugin.pace, &plugin.options.pace, now);
}

/* Wait until something is due; false: the plug-in ends. The mutex is held. */
static bool await_work(void)
{
	double seconds;

	while (!plugin.is_ending && !plugin.is_broken && (seconds = next_work()) > 0) {
		struct timespec until;

		if (isinf(seconds)) {
			pthread_cond_wait(&plugin.wake, &plugin.mutex);
			continue;
		}
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += (long)(fmin(seconds, 1) * 1e9);
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&plugin.wake, &plugin.mutex, &until);
	}
	return !plugin.is_ending && !plugin.is_broken;
}

static void work_once(void)
{
	struct fab_plan *plan;

	if (plugin.options.mode == FAB_OPENSM_ON && is_audit_first(fab_now())) {
		audit();
		return;
	}
	fab_pace_begin(plugin.pace, fab_now());
	plugin.dry.is_due = false;
	plan = fab_keeper_plan(plugin.keeper);
	if (plan)
		balance(plan);
	plugin.dry.n_logged = plugin.dry.n_groups;
	if (!plugin.found || plugin.is_ending)
		return;
	/* Have OpenSM ask for a tree of any group, so that trees are written. */
	pthread_mutex_unlock(&plugin.mutex);
	ask_pass(NULL, 0);
	pthread_mutex_lock(&plugin.mutex);
}

static void *work(void *unused)
{
	(void)unused;
	if (setjmp(out_of_memory)) {
		/* EDEADLK where it was held already: held in either case */
		(void)pthread_mutex_lock(&plugin.mutex);
		give_up();
		pthread_mutex_unlock(&plugin.mutex);
		return NULL;
	}
	guard(true);
	pthread_mutex_lock(&plugin.mutex);
	while (await_work())
		work_once();
	pthread_mutex_unlock(&plugin.mutex);
	return NULL;
}

static void destroy(void *data)
{
	(void)data;
	pthread_mutex_lock(&plugin.mutex);
	plugin.is_ending = true;
	atomic_store(&plugin.stop, true);
	pthread_cond_signal(&plugin.wake);
	pthread_mutex_unlock(&plugin.mutex);
	if (plugin.has_worker)
		pthread_join(plugin.worker, NULL);
	/* OpenSM has freed its routing engines by now: nothing to give back */
	fab_plan_free(plugin.found);
	fab_keeper_free(plugin.keeper);
	fab_pace_free(plugin.pace);
	pthread_cond_destroy(&plugin.wake);
	pthread_mutex_destroy(&plugin.mutex);
	memset(&plugin, 0, sizeof(plugin));
}

static void *create_guarded(void)
{
	struct osm_opensm *osm = plugin.osm;
	pthread_mutexattr_t checked;
	struct fab_err err;
	int rc;

	fab_opensm_options_init(&plugin.given);
	rc = fab_opensm_options_parse(osm->subn.opt.event_plugin_options, &plugin.given,
				      &err);
	plugin.options = plugin.given;
	if (!rc && plugin.given.file[0])
		rc = fab_opensm_options_read(&plugin.given, &plugin.options, &err);
	if (rc) {
		LOG(OSM_LOG_ERROR | OSM_LOG_SYS, "event_plugin_options: %s; not loaded\n",
		    err.text);
		return NULL;
	}
	pthread_mutexattr_init(&checked);
	pthread_mutexattr_settype(&checked, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&plugin.mutex, &checked);
	pthread_mutexattr_destroy(&checked);
	pthread_cond_init(&plugin.wake, NULL);
	plugin.keeper = fab_keeper_new(IB_LID_MCAST_END_HO - IB_LID_MCAST_START_HO + 1);
	plugin.pace = fab_pace_new();
	if (pthread_create(&plugin.worker, NULL, work, NULL)) {
		LOG(OSM_LOG_ERROR | OSM_LOG_SYS, "no thread: not loaded\n");
		destroy(NULL);
		return NULL;
	}
	plugin.has_worker = true;
	LOG(OSM_LOG_INFO | OSM_LOG_SYS, "loaded: mode=%s, algorithm=%s\n",
	    fab_opensm_mode_name(plugin.options.mode), plugin.options.engine->name);
	return &plugin;
}

static void *create(struct osm_opensm *osm)
{
	void *created = NULL;

	plugin.osm = osm;
	if (setjmp(out_of_memory)) {
		guard(false);
		LOG(OSM_LOG_ERROR | OSM_LOG_SYS, "out of memory: not loaded\n");
		return NULL;
	}
	guard(true);
	created = create_guarded();
	guard(false);
	return created;
}

FAB_EXPORT osm_event_plugin_t osm_event_plugin = {
	.osm_version = OSM_VERSION,
	.create = create,
	.delete = destroy,
	.report = report,
};
