/* SPDX-License-Identifier: BSD-2-Clause */
/* Operations on the plug-in's state that both of its threads use. */
#include "opensm/state.h"

#include <string.h>

#include "base/progress.h"

#define LOG FAB_OPENSM_LOG
#define plugin fab_opensm_plugin

/* Announced groups that are looked for in the tables at once. */
enum { CONFIRMED = 256 };

struct fab_opensm_plugin fab_opensm_plugin;

_Thread_local jmp_buf fab_opensm_out_of_memory;
_Thread_local bool fab_opensm_has_lock;

static void leave(size_t bytes)
{
	(void)bytes;
	longjmp(fab_opensm_out_of_memory, 1);
}

bool fab_opensm_guard(bool is_on)
{
	static _Thread_local bool is_guarded;
	bool before = is_guarded;

	is_guarded = is_on;
	fab_oom_handle(is_on ? leave : NULL);
	return before;
}

void fab_opensm_give_up(void)
{
	fab_opensm_guard(false);
	if (fab_opensm_has_lock)
		cl_plock_release(&plugin.osm->lock);
	fab_opensm_has_lock = false;
	plugin.is_broken = true;
	LOG(OSM_LOG_ERROR | OSM_LOG_SYS,
	    "out of memory: OpenSM's own trees from here on\n");
}

struct fab_announced_order fab_opensm_decide(uint32_t number, const struct fab_mgid *mgid,
					     const uint64_t *guid, uint32_t n)
{
	const struct fab_announced_group g = {
		.number = number,
		.mgid = mgid,
		.guid = guid,
		.n = n,
		.has_tree = fab_keeper_tree(plugin.keeper, number).n_members > 0,
		.pass = atomic_load(&plugin.groups.pass)};
	double now = fab_now();
	struct fab_announced_order o = fab_announced_decide(plugin.announced, &g, now);

	if (o.reason && now - plugin.groups.told_at >= 1) {
		plugin.groups.told_at = now;
		LOG(OSM_LOG_INFO,
		    "MLID 0x%x: the group was announced, but %s: treated as any other\n",
		    fab_opensm_mlid_of(number), o.reason);
	}
	return o;
}

void fab_opensm_forget_announced(void)
{
	fab_announced_free(plugin.announced);
	plugin.announced = fab_announced_new(FAB_OPENSM_N_MLIDS);
	plugin.turn.announced = plugin.announced;
	memset(&plugin.groups.mark, 0, sizeof(plugin.groups.mark));
}

uint32_t *fab_opensm_list_computing(uint64_t pass, struct fab_audit_trees *trees)
{
	uint32_t *number = FAB_NEW(CONFIRMED, uint32_t);
	uint32_t n = fab_announced_computing(plugin.announced, pass, CONFIRMED, number);

	*trees = (struct fab_audit_trees){0};
	for (uint32_t i = 0; i < n; i++) {
		if (fab_keeper_tree(plugin.keeper, number[i]).n_members == 1)
			FAB_PUSH(&trees->groups,
				 ((struct fab_audit_ends){number[i], trees->entries.n}));
		else
			fab_audit_add(plugin.keeper, number[i], trees);
	}
	return number;
}

uint32_t fab_opensm_list_held(const struct fab_audit_trees *trees, uint32_t *number)
{
	struct fab_audit_tables tables = fab_opensm_tables;
	uint32_t n = 0;

	tables.context = plugin.osm;
	for (size_t i = 0;
	     i < trees->groups.n && !plugin.osm->subn.subnet_initialization_error; i++)
		if (fab_audit_is_held(&tables, trees, i))
			number[n++] = trees->groups.v[i].group;
	return n;
}

void fab_opensm_note_held(const uint32_t *number, uint32_t n, uint64_t pass)
{
	for (uint32_t i = 0; i < n; i++)
		fab_announced_note_held(plugin.announced, number[i], pass, fab_now());
}
