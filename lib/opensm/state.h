/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The plug-in's state, shared by the two threads that it runs in: OpenSM's sweeper
 * (plugin.c), which brings events and asks for trees, and the worker (worker.c), which
 * does what may take long.
 *
 * The sweeper asks for trees with OpenSM's lock held exclusively. The keeper and all
 * state here are under `mutex`. The sweeper may wait for OpenSM's lock while it has the
 * mutex, for only itself waits for the mutex with that lock; the worker never holds both.
 */
#pragma once

#include <pthread.h>
#include <setjmp.h>

#include "opensm/keeper.h"
#include "opensm/options.h"
#include "opensm/plugin.h"
#include "opensm/turn.h"

typedef ib_api_status_t fab_opensm_build_fn(void *context, osm_mgrp_box_t *box);

extern struct fab_opensm_plugin {
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
	fab_opensm_build_fn *original;	   /* of it; NULL: OpenSM's default */
	struct fab_pace *pace;
	struct fab_plan *found; /* solved, to be taken over */
	uint32_t n_found;
	double scanned_at; /* for groups that have gone, fab_now() */
	uint16_t covered;  /* highest MLID of fab_opensm_cover() since the last sweep */
	atomic_ulong n_asked; /* times that OpenSM asked for a tree */
	struct fab_audit audit;
	struct fab_turn_state turn;
	struct fab_opensm_guids members; /* of the group that is asked for */
	struct fab_announced *announced;
	struct {
		struct fab_trusted_mark mark; /* of the file that was read */
		/* The worker counts on when it has OpenSM's lock: it is another pass when
		 * OpenSM next asks, which then has all replies to what was sent before.
		 */
		atomic_ulong pass;
		unsigned long confirmed; /* pass in which tables were looked at */
		double told_at;		 /* a group was given up */
		bool has_failed;	 /* the states could not be written */
	} groups;
	struct {
		uint32_t today;		     /* largest EFI of OpenSM's own trees */
		uint32_t n_groups, n_logged; /* of OpenSM: now, when it was logged */
	} dry;
} fab_opensm_plugin;

#define FAB_OPENSM_LOG(level, ...)                                                       \
	osm_log(&fab_opensm_plugin.osm->log, (level), "fabkit: " __VA_ARGS__)

enum { FAB_OPENSM_N_MLIDS = IB_LID_MCAST_END_HO - IB_LID_MCAST_START_HO + 1 };

static inline uint16_t fab_opensm_mlid_of(uint32_t group)
{
	return (uint16_t)(IB_LID_MCAST_START_HO + group);
}

/* The rest is called with the mutex held. */

/* Tree that an announcement demands for a group; no members: it has ended. O(members log
 * members). */
struct fab_announced_order fab_opensm_decide(uint32_t number, const struct fab_mgid *mgid,
					     const uint64_t *guid, uint32_t n);
/* Groups are as if nothing had been said of them, until their file is read. O(groups). */
void fab_opensm_forget_announced(void);

/*
 * Announced groups that were computed before `pass`, some of them: room for their
 * numbers, which the caller frees, and their trees. A group of one member needs none.
 * O(groups + trees).
 */
uint32_t *fab_opensm_list_computing(uint64_t pass, struct fab_audit_trees *trees);
/* Those of the trees that OpenSM's tables hold, by number; returns how many: none when it
 * knows of errors. OpenSM's lock is held, shared will do; the mutex need not. O(trees).
 */
uint32_t fab_opensm_list_held(const struct fab_audit_trees *trees, uint32_t *number);
/* They are ready. O(n). */
void fab_opensm_note_held(const uint32_t *number, uint32_t n, uint64_t pass);

/*
 * From here on, or no longer, a thread that runs out of memory goes back to where
 * fab_opensm_out_of_memory was set; has_lock: it gives OpenSM's lock back then. Returns
 * whether it did so before.
 */
extern _Thread_local jmp_buf fab_opensm_out_of_memory;
extern _Thread_local bool fab_opensm_has_lock;
bool fab_opensm_guard(bool is_on);
/* From here on OpenSM does everything itself. What was in work is lost. */
void fab_opensm_give_up(void);

/* The thread of the worker. */
void *fab_opensm_work(void *unused);
