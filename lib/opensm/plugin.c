/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fabkit-opensm: an event plug-in for OpenSM. When unicast routing is done it takes
 * OpenSM's view of the subnet and puts itself into the routing engine that was used, in
 * place of its mcast_build_stree; from then on OpenSM asks it for the tree of each group.
 * A worker balances all trees in the background and has them written when OpenSM next
 * asks. Whatever is in doubt is left to OpenSM's own tree.
 *
 * Threads: events and trees come from OpenSM's sweeper, trees with OpenSM's lock held
 * exclusively. The keeper and all state here are under `mutex`. The sweeper may wait for
 * OpenSM's lock while it has the mutex, for only itself waits for the mutex with that
 * lock; the worker never holds both.
 */
#include <errno.h>
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
	uint32_t n_changes;		   /* since all trees were balanced */
	bool is_due;			   /* balance now */
	double changed_at;		   /* first of the changes, fab_now() */
	struct fab_plan *found;		   /* solved, to be taken over */
	uint32_t n_found;
	uint32_t today; /* dry run: largest EFI of OpenSM's own trees */
} plugin;

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

/* All groups are to be balanced, when enough has changed or time has passed. */
static void note_change(void)
{
	const struct fab_opensm_options *o = &plugin.options;

	if (!plugin.n_changes++)
		plugin.changed_at = fab_now();
	if (o->rebalance_changes && plugin.n_changes >= o->rebalance_changes)
		plugin.is_due = true;
	pthread_cond_signal(&plugin.wake);
}

static uint16_t mlid_of(uint32_t group)
{
	return (uint16_t)(IB_LID_MCAST_START_HO + group);
}

/* The keeper's tree of a group into the tables; *is_new: it is another than before. */
static int write_kept(osm_mgrp_box_t *box, bool *is_new, struct fab_err *err)
{
	uint32_t group = (uint32_t)box->mlid - IB_LID_MCAST_START_HO, n;
	struct fab_live_tree tree;
	uint64_t *guid;
	int rc;

	n = fab_opensm_members(box, &guid);
	rc = fab_keeper_route(plugin.keeper, group, guid, n, err);
	free(guid);
	if (rc < 0)
		return rc;
	*is_new = rc > 0;
	tree = fab_keeper_tree(plugin.keeper, group);
	if (tree.root == FAB_NONE)
		return 0;
	return fab_opensm_write_tree(plugin.osm, fab_keeper_fabric(plugin.keeper), &tree,
				     box->mlid, err);
}

/* Trees that the worker found, written at once: OpenSM sends all blocks that changed. */
static void take_found(void *context)
{
	uint32_t *moved, n, n_left = 0;
	struct fab_err err;
	bool is_new;

	if (!plugin.found)
		return;
	moved = FAB_NEW(plugin.n_found, uint32_t);
	n = fab_keeper_take(plugin.keeper, plugin.found, moved);
	for (uint32_t i = 0; i < n; i++) {
		osm_mgrp_box_t *box = plugin.osm->subn.mboxes[moved[i]];

		if (!box)
			continue;
		fab_opensm_clear(plugin.osm, mlid_of(moved[i]));
		if (!write_kept(box, &is_new, &err))
			continue;
		n_left++;
		LOG(OSM_LOG_ERROR, "MLID 0x%x: %s; OpenSM's own tree\n", box->mlid,
		    err.text);
		(void)own_tree(context, box);
	}
	LOG(OSM_LOG_INFO, "%u trees moved; fullest cable %u trees\n", n - n_left,
	    fab_keeper_max_efi(plugin.keeper));
	free(moved);
	fab_plan_free(plugin.found);
	plugin.found = NULL;
}

static ib_api_status_t build_locked(void *context, osm_mgrp_box_t *box)
{
	struct fab_err err;
	bool is_new = false;
	int rc;
	uint32_t n;

	take_found(context);
	/* Groups that ended are not announced: their boxes are gone. */
	n = fab_opensm_n_groups(plugin.osm);
	for (uint32_t g = 0; g < n; g++)
		if (!plugin.osm->subn.mboxes[g] &&
		    fab_keeper_tree(plugin.keeper, g).n_members &&
		    fab_keeper_route(plugin.keeper, g, NULL, 0, NULL) >= 0)
			note_change();
	/* those found may have been of this group: begin again with an empty table */
	fab_opensm_clear(plugin.osm, box->mlid);
	rc = write_kept(box, &is_new, &err);
	if (rc) {
		LOG(OSM_LOG_INFO, "MLID 0x%x: %s; OpenSM's own tree\n", box->mlid,
		    err.text);
		return own_tree(context, box);
	}
	osm_purge_mtree(&plugin.osm->sm, box);
	if (is_new)
		note_change();
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

/* Renew the keeper from OpenSM's subnet. The mutex is held, the lock not. */
static void renew(void)
{
	struct fab_opensm_view view = {0};
	struct fab_keeper_counts counts;
	struct fab_fabric *f;
	struct fab_err err;
	double start = fab_now();

	cl_plock_acquire(&plugin.osm->lock);
	has_osm_lock = true;
	fab_opensm_view_copy(plugin.osm, &view);
	if (plugin.options.mode == FAB_OPENSM_DRY_RUN)
		plugin.today = fab_opensm_max_efi(plugin.osm, &counts.kept);
	has_osm_lock = false;
	cl_plock_release(&plugin.osm->lock);
	if (fab_opensm_view_fabric(&view, &f, &err) ||
	    fab_keeper_renew(plugin.keeper, f, &view.members, &counts, &err)) {
		fab_keeper_clear(plugin.keeper);
		LOG(OSM_LOG_ERROR, "%s; OpenSM's own trees\n", err.text);
	} else {
		LOG(OSM_LOG_INFO,
		    "%u switches: %u trees kept, %u routed, %u groups left to OpenSM; fullest cable %u trees; %.1f ms\n",
		    fab_keeper_fabric(plugin.keeper)->n_switches, counts.kept,
		    counts.routed, counts.left, fab_keeper_max_efi(plugin.keeper),
		    (fab_now() - start) * 1e3);
		plugin.is_due = counts.kept + counts.routed > 0;
		pthread_cond_signal(&plugin.wake);
	}
	fab_opensm_view_fini(&view);
}

/* The options of the file, which may have changed; what was in force stays if it is bad.
 */
static void read_options(void)
{
	struct fab_opensm_options before = plugin.options, *now = &plugin.options;
	struct fab_err err;
	char moved[16];

	if (!plugin.given.file[0])
		return;
	if (fab_opensm_options_read(&plugin.given, now, &err)) {
		LOG(OSM_LOG_ERROR | OSM_LOG_SYS, "%s; mode=%s stays\n", err.text,
		    fab_opensm_mode_name(before.mode));
		return;
	}
	if (now->mode != before.mode)
		LOG(OSM_LOG_INFO | OSM_LOG_SYS, "mode=%s, was %s\n",
		    fab_opensm_mode_name(now->mode), fab_opensm_mode_name(before.mode));
	if (fab_opensm_options_equal(now, &before))
		return;
	snprintf(moved, sizeof(moved), "%u", now->max_moved);
	LOG(OSM_LOG_INFO,
	    "options: mode=%s, algorithm=%s, max_moved=%s, rebalance_changes=%u, rebalance_seconds=%u, time_limit_ms=%u\n",
	    fab_opensm_mode_name(now->mode), now->engine->name,
	    now->max_moved == UINT32_MAX ? "all" : moved, now->rebalance_changes,
	    now->rebalance_seconds, now->time_limit_ms);
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
			renew(); /* the subnet is up: OpenSM's own trees are in the tables
				  */
		}
	}
	guard(false);
	pthread_mutex_unlock(&plugin.mutex);
}

/* Solve a plan without the mutex, and leave what it moves for the sweeper. */
static void balance(struct fab_plan *plan)
{
	const struct fab_plan_options o = {.engine = plugin.options.engine,
					   .max_moved = plugin.options.max_moved,
					   .time_limit_ms = plugin.options.time_limit_ms,
					   .stop = &plugin.stop};
	struct fab_plan_result r;
	struct fab_err err;
	double start = fab_now();
	int rc;

	pthread_mutex_unlock(&plugin.mutex);
	rc = fab_plan_solve(plan, &o, &r, &err);
	pthread_mutex_lock(&plugin.mutex);
	if (rc) {
		LOG(OSM_LOG_ERROR, "%s; no tree is moved\n", err.text);
	} else if (!plugin.is_ending) {
		double seconds = fab_now() - start;
		const char *note = r.after <= r.bound ? ", proven least"
				   : r.is_out_of_time ? ", time limit reached"
						      : "";

		/* Log the result of balancing. */
		if (plugin.options.mode == FAB_OPENSM_DRY_RUN)
			LOG(OSM_LOG_INFO | OSM_LOG_SYS,
			    "dry run: %u groups; OpenSM's trees: fullest cable %u; %s would give %u (at least %u%s); %.3f s\n",
			    r.n_groups, plugin.today, plugin.options.engine->name,
			    r.after, r.bound, note, seconds);
		else
			LOG(OSM_LOG_INFO,
			    "balanced %u groups: fullest cable %u, was %u (at least %u%s), %u trees to move; %.3f s\n",
			    r.n_groups, r.after, r.before, r.bound, note, r.n_moved,
			    seconds);
	}
	if (rc || !r.n_moved || plugin.options.mode != FAB_OPENSM_ON) {
		fab_plan_free(plan);
		return;
	}
	if (plugin.found)
		LOG(OSM_LOG_INFO, "0 trees moved: better ones were found meanwhile\n");
	fab_plan_free(plugin.found);
	plugin.found = plan;
	plugin.n_found = r.n_moved;
}

/* Wait until something is due; false: the plug-in ends. The mutex is held. */
static bool await_work(void)
{
	while (!plugin.is_ending && !plugin.is_broken && !plugin.is_due) {
		uint32_t wait_s = plugin.options.rebalance_seconds;
		struct timespec until;

		if (!plugin.n_changes || !wait_s) {
			pthread_cond_wait(&plugin.wake, &plugin.mutex);
			continue;
		}
		if (fab_now() >= plugin.changed_at + wait_s)
			break;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec += 1;
		pthread_cond_timedwait(&plugin.wake, &plugin.mutex, &until);
	}
	return !plugin.is_ending && !plugin.is_broken;
}

static void work_once(void)
{
	struct fab_plan *plan = fab_keeper_plan(plugin.keeper);
	bool is_found;
	struct osm_opensm *osm;

	plugin.is_due = false;
	plugin.n_changes = 0;
	if (plan)
		balance(plan);
	is_found = plugin.found && !plugin.is_ending;
	if (!is_found)
		return;
	pthread_mutex_unlock(&plugin.mutex);
	/* Have OpenSM ask for a tree of any existing group, so that trees are
	 * written. */
	osm = plugin.osm;
	CL_PLOCK_EXCL_ACQUIRE(&osm->lock);
	for (uint32_t g = 0; g < fab_opensm_n_groups(osm) && !osm_exit_flag; g++) {
		if (!osm->subn.mboxes[g])
			continue;
		osm_sm_reroute_mlid(&osm->sm, cl_hton16(mlid_of(g)));
		break;
	}
	CL_PLOCK_RELEASE(&osm->lock);
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
