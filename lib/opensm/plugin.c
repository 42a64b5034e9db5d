/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fabkit-opensm: an event plug-in for OpenSM. When unicast routing is done it takes
 * OpenSM's view of the subnet and puts itself into the routing engine that was used, in
 * place of its mcast_build_stree; from then on OpenSM asks it for the tree of each group.
 * Whatever is in doubt is left to OpenSM's own tree.
 */
#include <opensm/osm_version.h>
#include <stdlib.h>
#include <string.h>

#include "base/progress.h"
#include "opensm/state.h"

#define LOG FAB_OPENSM_LOG
#define plugin fab_opensm_plugin

/* Groups that have gone are looked for that often; a copy of the subnet has OpenSM's lock
 * that long at once; the first trees may hold up a sweep. */
enum { START_MS = 1000 };
static const double SCAN_S = 0.1, COPY_S = 0.001;

static _Thread_local jmp_buf no_own_tree;

static void leave_own_tree(size_t bytes)
{
	(void)bytes;
	longjmp(no_own_tree, 1);
}

/* Give the routing engine its own function back. */
static void unhook(void)
{
	if (plugin.hooked)
		plugin.hooked->mcast_build_stree = plugin.original;
	plugin.hooked = NULL;
	plugin.original = NULL;
}

/* OpenSM's tree, by the engine's own function where it has one. Without memory none: what
 * OpenSM itself would do. */
static ib_api_status_t own_tree(void *context, osm_mgrp_box_t *box)
{
	ib_api_status_t status;
	bool is_guarded;

	if (plugin.original)
		return plugin.original(context, box);
	is_guarded = fab_opensm_guard(false);
	if (setjmp(no_own_tree)) {
		fab_opensm_guard(is_guarded);
		LOG(OSM_LOG_ERROR | OSM_LOG_SYS, "MLID 0x%x: no memory for its tree\n",
		    box->mlid);
		return IB_INSUFFICIENT_MEMORY;
	}
	fab_oom_handle(leave_own_tree);
	status = fab_opensm_own_tree(plugin.osm, box);
	fab_opensm_guard(is_guarded);
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
		    " joined and left more than %u times in a minute: until its end the further changes of such ports move no other trees\n",
		    spent, plugin.options.pace.port_changes);
	pthread_cond_signal(&plugin.wake);
}

/* The keeper's tree of a group into the tables; where that fails it has none. */
static int write_kept(osm_mgrp_box_t *box, struct fab_err *err)
{
	uint32_t group = (uint32_t)box->mlid - IB_LID_MCAST_START_HO, n;
	struct fab_announced_order o;
	struct fab_live_tree tree;
	struct fab_mgid mgid;
	int rc;

	plugin.members.n = 0;
	fab_opensm_add_members(box, &plugin.members);
	n = (uint32_t)plugin.members.n;
	o = fab_opensm_decide(group, fab_opensm_mgid(box, &mgid), plugin.members.v, n);
	if (o.tree == FAB_ANNOUNCED_HELD)
		rc = fab_keeper_route(plugin.keeper, group, o.guid, o.n, true, err);
	else
		rc = fab_keeper_route(plugin.keeper, group, plugin.members.v,
				      o.tree == FAB_ANNOUNCED_NONE ? 0 : n, false, err);
	if (rc > 0)
		note_change();
	tree = fab_keeper_tree(plugin.keeper, group);
	if (rc < 0 || tree.root == FAB_NONE)
		return rc < 0 ? rc : 0;
	rc = fab_opensm_write_tree(plugin.osm, fab_keeper_fabric(plugin.keeper), &tree,
				   box->mlid, err);
	if (rc)
		(void)!fab_keeper_route(plugin.keeper, group, NULL, 0, false, NULL);
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
		fab_opensm_clear(plugin.osm, fab_opensm_mlid_of(moved[i]));
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

/* Of groups that end OpenSM says nothing: their boxes are gone. */
static void drop_ended(void)
{
	uint32_t n = fab_opensm_n_groups(plugin.osm);
	double now = fab_now();

	if (now - plugin.scanned_at < SCAN_S)
		return;
	plugin.scanned_at = now;
	for (uint32_t g = 0; g < n; g++) {
		if (plugin.osm->subn.mboxes[g])
			continue;
		if (fab_announced_is_active(plugin.announced, g))
			fab_opensm_decide(g, NULL, NULL, 0);
		if (fab_keeper_tree(plugin.keeper, g).n_members &&
		    fab_keeper_route(plugin.keeper, g, NULL, 0, false, NULL) > 0)
			note_change();
	}
}

/* OpenSM begins a pass: it has the replies to all that it sent before. */
static void confirm_before(void)
{
	unsigned long pass = atomic_load(&plugin.groups.pass);
	struct fab_audit_trees trees;
	uint32_t *number;

	if (pass == plugin.groups.confirmed ||
	    !fab_announced_is_computing(plugin.announced))
		return;
	plugin.groups.confirmed = pass;
	number = fab_opensm_list_computing(pass, &trees);
	fab_opensm_note_held(number, fab_opensm_list_held(&trees, number), pass);
	fab_audit_trees_fini(&trees);
	free(number);
}

static ib_api_status_t build_locked(void *context, osm_mgrp_box_t *box)
{
	struct fab_err err;

	plugin.turn.written_at = fab_now();
	fab_audit_written(&plugin.audit, plugin.turn.written_at);
	confirm_before();
	if (box->mlid > plugin.covered) {
		fab_opensm_cover(plugin.osm, box->mlid);
		plugin.covered = box->mlid;
	}
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

	atomic_fetch_add(&plugin.n_asked, 1);
	if (plugin.is_broken || plugin.options.mode != FAB_OPENSM_ON)
		return own_tree(context, box);
	pthread_mutex_lock(&plugin.mutex);
	if (setjmp(fab_opensm_out_of_memory)) {
		fab_opensm_give_up();
		pthread_mutex_unlock(&plugin.mutex);
		fab_opensm_clear(plugin.osm, box->mlid);
		return own_tree(context, box);
	}
	fab_opensm_guard(true);
	status = build_locked(context, box);
	fab_opensm_guard(false);
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

/* Copy OpenSM's view part by part: the lock is free in between. Returns the seconds that
 * it was held. */
static double copy_view(struct fab_opensm_view *view)
{
	double held = 0, start;
	bool is_more;

	do {
		cl_plock_acquire(&plugin.osm->lock);
		fab_opensm_has_lock = true;
		start = fab_now();
		is_more = fab_opensm_view_copy(plugin.osm, view, COPY_S);
		held += fab_now() - start;
		fab_opensm_has_lock = false;
		cl_plock_release(&plugin.osm->lock);
	} while (is_more);
	return held;
}

/* Members that the groups of the view are to have trees for, by what was announced of
 * them. */
struct intended {
	FAB_VEC(uint64_t) first;
	struct fab_opensm_guids guid;
	bool *is_held;
};

static void decide_all(const struct fab_opensm_view *view, struct intended *out)
{
	static const struct fab_mgid none;

	out->is_held = FAB_NEW0(view->mgid.n, bool);
	FAB_PUSH(&out->first, 0);
	for (uint32_t g = 0; g < view->mgid.n; g++) {
		const struct fab_mgid *mgid = &view->mgid.v[g];
		const uint64_t *guid = view->members.v + view->first.v[g];
		uint32_t n = (uint32_t)(view->first.v[g + 1] - view->first.v[g]);
		struct fab_announced_order o = fab_opensm_decide(
			g, memcmp(mgid, &none, sizeof(none)) ? mgid : NULL, guid, n);

		out->is_held[g] = o.tree == FAB_ANNOUNCED_HELD;
		if (out->is_held[g]) {
			guid = o.guid;
			n = o.n;
		}
		for (uint32_t i = 0; i < n && o.tree != FAB_ANNOUNCED_NONE; i++)
			FAB_PUSH(&out->guid, guid[i]);
		FAB_PUSH(&out->first, out->guid.n);
	}
}

/* Renew the keeper from OpenSM's subnet. The mutex is held, the lock not. */
static void renew(void)
{
	FAB_AUTO(fab_opensm_view_fini) struct fab_opensm_view view = {0};
	struct intended intended = {0};
	struct fab_keeper_counts counts;
	struct fab_membership members;
	struct fab_fabric *f;
	struct fab_err err;
	double start = fab_now(), held = copy_view(&view);
	bool is_dry = plugin.options.mode == FAB_OPENSM_DRY_RUN;

	if (is_dry)
		plugin.dry.today = fab_opensm_max_efi(plugin.osm);
	decide_all(&view, &intended);
	members = (struct fab_membership){(uint32_t)view.mgid.n, intended.first.v,
					  intended.guid.v, intended.is_held};
	fab_keeper_set_step(plugin.keeper, plugin.options.engine);
	if (fab_opensm_view_fabric(&view, &f, &err) ||
	    fab_keeper_renew(plugin.keeper, f, &members, &counts, &err)) {
		fab_keeper_clear(plugin.keeper);
		LOG(OSM_LOG_ERROR, "%s; OpenSM's own trees\n", err.text);
	} else if (is_dry) {
		plugin.turn.is_dry_due = counts.kept + counts.routed > 0;
	} else {
		if (!counts.kept && counts.routed > 1)
			start_balanced();
		LOG(OSM_LOG_INFO,
		    "%u switches: %u trees kept, %u routed, %u groups left to OpenSM; fullest cable %u trees; %.1f ms, %.1f with OpenSM's lock\n",
		    fab_keeper_fabric(plugin.keeper)->n_switches, counts.kept,
		    counts.routed, counts.left, fab_keeper_max_efi(plugin.keeper),
		    (fab_now() - start) * 1e3, held * 1e3);
		if (counts.kept + counts.routed > 0)
			fab_pace_ask(plugin.pace);
	}
	FAB_FREE_ALL(intended.first.v, intended.guid.v, intended.is_held);
	plugin.covered = 0;
	/* a comparison that goes on is of other trees */
	atomic_fetch_add(&plugin.n_asked, 1);
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
	if (now->mode != before.mode || strcmp(now->groups, before.groups) != 0)
		fab_opensm_forget_announced();
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
	if (setjmp(fab_opensm_out_of_memory)) {
		fab_opensm_give_up();
		unhook();
	} else {
		fab_opensm_guard(true);
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
			if (fab_turn_is_dry_run_due(plugin.dry.n_groups,
						    plugin.dry.n_logged))
				renew();
		}
	}
	fab_opensm_guard(false);
	pthread_mutex_unlock(&plugin.mutex);
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
	LOG(OSM_LOG_INFO, "ended: OpenSM asked for a tree %lu times\n",
	    atomic_load(&plugin.n_asked));
	fab_plan_free(plugin.found);
	fab_keeper_free(plugin.keeper);
	fab_pace_free(plugin.pace);
	fab_announced_free(plugin.announced);
	free(plugin.members.v);
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
	plugin.keeper = fab_keeper_new(FAB_OPENSM_N_MLIDS);
	plugin.pace = fab_pace_new();
	fab_opensm_forget_announced();
	plugin.turn.options = &plugin.options;
	plugin.turn.audit = &plugin.audit;
	plugin.turn.pace = plugin.pace;
	if (pthread_create(&plugin.worker, NULL, fab_opensm_work, NULL)) {
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
	if (setjmp(fab_opensm_out_of_memory)) {
		fab_opensm_guard(false);
		LOG(OSM_LOG_ERROR | OSM_LOG_SYS, "out of memory: not loaded\n");
		return NULL;
	}
	fab_opensm_guard(true);
	created = create_guarded();
	fab_opensm_guard(false);
	return created;
}

FAB_EXPORT osm_event_plugin_t osm_event_plugin = {
	.osm_version = OSM_VERSION,
	.create = create,
	.delete = destroy,
	.report = report,
};
