/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The worker of the plug-in: it looks for better trees, step by step, and has them
 * written when OpenSM next asks; compares what OpenSM then holds with the trees; reads
 * what is announced of groups, and publishes their states.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/progress.h"
#include "opensm/state.h"

#define LOG FAB_OPENSM_LOG
#define plugin fab_opensm_plugin

/* A comparison looks at that many ports of trees with OpenSM's lock; states are printed
 * so many at once. */
enum { AUDIT_ENTRIES = 2000, PRINTED = 256 };

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

/* Ask OpenSM for another pass over the groups of the list, or over any one. */
static void ask_pass(const uint32_t *group, size_t n)
{
	struct osm_opensm *osm = plugin.osm;

	CL_PLOCK_EXCL_ACQUIRE(&osm->lock);
	for (size_t i = 0; i < n && !osm_exit_flag; i++)
		if (osm->subn.mboxes[group[i]])
			osm_sm_reroute_mlid(&osm->sm,
					    cl_hton16(fab_opensm_mlid_of(group[i])));
	for (uint32_t g = 0; !n && g < fab_opensm_n_groups(osm) && !osm_exit_flag; g++) {
		if (!osm->subn.mboxes[g])
			continue;
		osm_sm_reroute_mlid(&osm->sm, cl_hton16(fab_opensm_mlid_of(g)));
		break;
	}
	CL_PLOCK_RELEASE(&osm->lock);
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

/* Outcome of a comparison of the tables with the trees. */
struct comparison {
	struct fab_audit_found found;
	FAB_VEC(uint32_t) wrong; /* groups */
};

/* Compare, part by part, each with OpenSM's lock. The mutex is held, but not meanwhile.
 */
static void compare(struct comparison *c)
{
	struct fab_audit_tables tables = fab_opensm_tables;
	struct osm_opensm *osm = plugin.osm;
	unsigned long n_asked = atomic_load(&plugin.n_asked);
	uint32_t end = fab_opensm_n_groups(osm);

	tables.context = osm;
	c->found.is_quiet = true;
	for (uint32_t g = 0;
	     g < end && c->found.is_quiet && fab_keeper_fabric(plugin.keeper);) {
		struct fab_audit_trees t = {0};

		g = fab_audit_add_part(plugin.keeper, g, end, AUDIT_ENTRIES, &t);
		pthread_mutex_unlock(&plugin.mutex);
		cl_plock_acquire(&osm->lock);
		fab_opensm_has_lock = true;
		c->found.is_quiet = !osm->stats.qp0_mads_outstanding &&
				    atomic_load(&plugin.n_asked) == n_asked;
		for (size_t i = 0; i < t.groups.n && c->found.is_quiet; i++)
			if (!fab_audit_is_held(&tables, &t, i))
				FAB_PUSH(&c->wrong, t.groups.v[i].group);
		c->found.has_error = osm->subn.subnet_initialization_error;
		fab_opensm_has_lock = false;
		cl_plock_release(&osm->lock);
		fab_audit_trees_fini(&t);
		pthread_mutex_lock(&plugin.mutex);
	}
	c->found.n_wrong = c->wrong.n;
}

/* Do OpenSM's tables hold the trees? If not, ask it for another pass, and where a Set
 * failed for another sweep. */
static void audit(void)
{
	struct comparison c = {0};
	double now = fab_now();
	enum fab_audit_verdict verdict;

	compare(&c);
	verdict = plugin.is_ending ? FAB_AUDIT_SILENT
				   : fab_audit_judge(&plugin.audit, &c.found, now);
	if (verdict == FAB_AUDIT_RECOVERED)
		LOG(OSM_LOG_INFO, "OpenSM's tables hold all trees again\n");
	if (verdict == FAB_AUDIT_LEFT)
		LOG(OSM_LOG_ERROR,
		    "%zu trees are not in OpenSM's tables after %d attempts%s; left until the next sweep\n",
		    c.wrong.n, FAB_AUDIT_ATTEMPTS,
		    c.found.has_error ? ", and it reports errors" : "");
	if (verdict == FAB_AUDIT_ASK_PASS || verdict == FAB_AUDIT_ASK_SWEEP) {
		LOG(OSM_LOG_INFO,
		    "%zu trees are not in OpenSM's tables%s: asked it for another %s\n",
		    c.wrong.n, c.found.has_error ? ", a switch did not answer" : "",
		    c.found.has_error ? "sweep" : "pass");
		pthread_mutex_unlock(&plugin.mutex);
		if (verdict == FAB_AUDIT_ASK_SWEEP)
			osm_sm_signal(&plugin.osm->sm, OSM_SIGNAL_SWEEP);
		else
			ask_pass(c.wrong.v, c.wrong.n);
		pthread_mutex_lock(&plugin.mutex);
	}
	free(c.wrong.v);
}

/* Read the file of announced groups when it is another one; no file: none. */
static void read_groups(void)
{
	struct fab_announcements *list = NULL;
	FAB_AUTOFREE char *text = NULL;
	char path[FAB_TRUSTED_PATH_BYTES];
	struct fab_err err;
	int rc;

	if (!fab_trusted_changed(plugin.options.groups, &plugin.groups.mark))
		return;
	memcpy(path, plugin.options.groups, sizeof(path));
	pthread_mutex_unlock(&plugin.mutex);
	rc = fab_trusted_read(path, FAB_ANNOUNCED_FILE_BYTES, &text, &err);
	if (!rc || rc == -ENOENT)
		rc = fab_announcements_parse(path, rc ? "" : text, &list, &err);
	pthread_mutex_lock(&plugin.mutex);
	if (rc)
		LOG(OSM_LOG_ERROR, "%s; what was announced before stays\n", err.text);
	else if (!strcmp(path, plugin.options.groups))
		fab_announced_take(plugin.announced, list);
	fab_announcements_free(list);
}

/* Have the tables what was computed for announced groups? */
static void confirm(void)
{
	struct osm_opensm *osm = plugin.osm;
	struct fab_audit_trees trees;
	uint32_t *number = fab_opensm_list_computing(UINT64_MAX, &trees), n = 0;
	uint64_t pass;

	pthread_mutex_unlock(&plugin.mutex);
	cl_plock_acquire(&osm->lock);
	pass = atomic_fetch_add(&plugin.groups.pass, 1) + 1;
	if (!osm->stats.qp0_mads_outstanding)
		n = fab_opensm_list_held(&trees, number);
	cl_plock_release(&osm->lock);
	pthread_mutex_lock(&plugin.mutex);
	fab_opensm_note_held(number, n, pass);
	fab_audit_trees_fini(&trees);
	free(number);
}

/* Have announced groups ended, and OpenSM has asked for no tree since? */
static void look_for_ended(void)
{
	struct osm_opensm *osm = plugin.osm;
	unsigned long n_asked = atomic_load(&plugin.n_asked);
	FAB_AUTOFREE FAB_VEC(uint32_t) ended = {0};

	for (uint32_t g = 0; g < fab_opensm_n_groups(osm); g++)
		if (fab_announced_is_active(plugin.announced, g))
			FAB_PUSH(&ended, g);
	pthread_mutex_unlock(&plugin.mutex);
	cl_plock_acquire(&osm->lock);
	for (size_t i = 0; i < ended.n;)
		if (osm->subn.mboxes[ended.v[i]])
			ended.v[i] = ended.v[--ended.n];
		else
			i++;
	cl_plock_release(&osm->lock);
	pthread_mutex_lock(&plugin.mutex);
	for (size_t i = 0; i < ended.n && atomic_load(&plugin.n_asked) == n_asked; i++) {
		fab_opensm_decide(ended.v[i], NULL, NULL, 0);
		(void)!fab_keeper_route(plugin.keeper, ended.v[i], NULL, 0, false, NULL);
	}
}

/* Announced groups that are out of time lose their trees. */
static void expire(void)
{
	FAB_AUTOFREE uint32_t *number =
		FAB_NEW((size_t)fab_announced_n_active(plugin.announced) + 1, uint32_t);
	uint32_t n = fab_announced_expire(plugin.announced, fab_now(), number);

	if (n) {
		LOG(OSM_LOG_INFO,
		    "%u announced groups are out of time, the first with MLID 0x%x: their trees are taken away\n",
		    n, fab_opensm_mlid_of(number[0]));
		pthread_mutex_unlock(&plugin.mutex);
		ask_pass(number, n);
		pthread_mutex_lock(&plugin.mutex);
	}
}

/* Write the states of announced groups, printed part by part so that OpenSM waits for no
 * more than one. */
static void publish(void)
{
	char *text = NULL, path[FAB_TRUSTED_PATH_BYTES];
	size_t len = 0, at = 0;
	FILE *out = open_memstream(&text, &len);
	double start = fab_now(), offset;
	struct timespec now;
	struct fab_err err;
	int rc;

	clock_gettime(CLOCK_REALTIME, &now);
	offset = (double)now.tv_sec + (double)now.tv_nsec / 1e9 - start;
	memcpy(path, plugin.options.states, sizeof(path));
	if (out)
		fputs("# MGID MLID MEMBERS/ANNOUNCED STATE COMPUTED STATE=SECONDS...\n",
		      out);
	while (out && (at = fab_announced_print(plugin.announced, at, PRINTED, offset,
						out)) != 0) {
		pthread_mutex_unlock(&plugin.mutex);
		pthread_mutex_lock(&plugin.mutex);
	}
	pthread_mutex_unlock(&plugin.mutex);
	rc = !out || fclose(out) ? fab_fail(&err, ENOMEM, "%s: no memory", path)
				 : fab_trusted_write(path, text, len, &err);
	pthread_mutex_lock(&plugin.mutex);
	free(text);
	plugin.turn.published_s = fab_now() - start;
	if (rc && !plugin.groups.has_failed)
		LOG(OSM_LOG_ERROR, "%s\n", err.text);
	plugin.groups.has_failed = rc != 0;
}

/* Find better trees, and have OpenSM ask for a tree of any group so that they are
 * written. */
static void step(void)
{
	struct fab_plan *plan;

	fab_pace_begin(plugin.pace, fab_now());
	plugin.turn.is_dry_due = false;
	plan = fab_keeper_plan(plugin.keeper);
	if (plan)
		balance(plan);
	plugin.dry.n_logged = plugin.dry.n_groups;
	if (!plugin.found || plugin.is_ending)
		return;
	pthread_mutex_unlock(&plugin.mutex);
	ask_pass(NULL, 0);
	pthread_mutex_lock(&plugin.mutex);
}

/* Wait until something is due; FAB_TURN_WAIT: the plug-in ends. The mutex is held. */
static enum fab_turn await_turn(void)
{
	while (!plugin.is_ending && !plugin.is_broken) {
		enum fab_turn turn;
		struct timespec until;
		double seconds;

		plugin.turn.has_found = plugin.found != NULL;
		turn = fab_turn_next(&plugin.turn, fab_now(), &seconds);
		if (turn != FAB_TURN_WAIT)
			return turn;
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
	return FAB_TURN_WAIT;
}

void *fab_opensm_work(void *unused)
{
	static void (*const todo[FAB_TURN_N])(void) = {
		[FAB_TURN_DRY_RUN] = step,	  [FAB_TURN_READ] = read_groups,
		[FAB_TURN_EXPIRE] = expire,	  [FAB_TURN_CONFIRM] = confirm,
		[FAB_TURN_LOOK] = look_for_ended, [FAB_TURN_PUBLISH] = publish,
		[FAB_TURN_AUDIT] = audit,	  [FAB_TURN_BALANCE] = step};
	enum fab_turn turn;

	(void)unused;
	if (setjmp(fab_opensm_out_of_memory)) {
		/* EDEADLK where it was held already: held in either case */
		(void)pthread_mutex_lock(&plugin.mutex);
		fab_opensm_give_up();
		pthread_mutex_unlock(&plugin.mutex);
		return NULL;
	}
	fab_opensm_guard(true);
	pthread_mutex_lock(&plugin.mutex);
	while ((turn = await_turn()) != FAB_TURN_WAIT) {
		plugin.turn.at[turn] = fab_now();
		todo[turn]();
	}
	pthread_mutex_unlock(&plugin.mutex);
	return NULL;
}
