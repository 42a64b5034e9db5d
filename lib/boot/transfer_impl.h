/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside of lib/boot: transfers through time, and the rates at one time.
 *
 * Nodes with the same path and capacity are a class. Every class that receives is in one
 * group: that of the segment (pipe) that holds it back, or that of its own capacity. All
 * of a group get the same rate, so that a group has one clock, the Mbit that a node in it
 * all the time would have: what a rate changes is one number. The rates are max-min fair
 * as long as
 *   - each pipe with a group is full, and no class on it is faster than the group;
 *   - no pipe without a group is more than full;
 *   - no class is faster than its own capacity
 * (Bertsekas, Gallager, Data Networks, 6.5.2). An event changes the rates of a few
 * groups; only where one of the three fails then, progressive filling finds new groups
 * for the classes concerned (transfer_fill.c).
 *
 * A pipe knows its load exactly when it is watched. Others have a bound for it, from
 * rates that their groups do not exceed, so that not every change has to be told to every
 * pipe on the path.
 */
#pragma once

#include <math.h>

#include "base/queues.h"
#include "boot/transfer.h"
#include "event/schedule.h"

/* Rates that differ by less are the same; by less than SAME not worth a change. */
#define FAB_TRANSFER_EPSILON 1e-9
#define FAB_TRANSFER_SAME 1e-12

struct fab_transfer_list {
	uint32_t *v;
	size_t n, cap;
};

/* Nodes that are treated alike at any time. */
struct fab_transfer_class {
	double cap_mbps;
	double offset; /* Mbit that a member since time 0 has, beyond the clock of
			  the group; without a group: that it has */
	uint32_t interface;
	uint32_t first, n;	 /* its nodes in `member` */
	uint32_t next, done;	 /* members started, members finished, ever */
	uint32_t first_on, n_on; /* its pipes in `on` */
	uint32_t own_group;	 /* of its capacity */
	uint32_t group;		 /* FAB_NONE: it is in none */
	uint32_t counted;	 /* members that the group counts */
	double key;		 /* clock of the group when its next member is done */
	uint32_t place;		 /* in the heap of the group */
	bool is_changed, in_refill, is_frozen;
	/* while filling: */
	uint32_t new_group;
	double new_rate;
};

/* A segment in one direction, or a disk, with the classes that use it. */
struct fab_transfer_pipe {
	double capacity;
	double handicap; /* of pipes that are full at once the least goes first */
	double bound;	 /* the load is no more */
	double others;	 /* watched: load of all but its own group */
	uint32_t first_user, n_users;	   /* in `user` */
	uint32_t n_changes;		   /* of `others` since it was summed up */
	struct fab_transfer_list crossing; /* watched: pairs of other groups with it */
	bool is_watched, is_dirty, is_touched;
	/* after an event: how often it got another rate, and other classes; */
	uint32_t n_set, n_moves;
	/* while filling: */
	uint32_t active, first_in, n_in;
	double frozen, level, most;
};

/* Classes with the same rate: 0 .. n_pipes-1 those held back by a pipe, then those of
 * each capacity. */
struct fab_transfer_group {
	uint64_t n; /* members that receive */
	double rate;
	double upper;	     /* no less than the rate: for bounds of pipes */
	double clock, since; /* Mbit, at this time */
	double least_cap;    /* no more than that of any class */
	double finish;	     /* when the next member is done */
	uint32_t place;	     /* in the heap of groups; FAB_NONE */
	bool is_touched;
	struct fab_transfer_list classes; /* heap: the next to be done first */
	struct fab_transfer_list pairs;	  /* with watched pipes */
};

/* Members of a group that use a watched pipe which is not its own. */
struct fab_transfer_pair {
	uint32_t group, pipe, n;
	uint32_t at_group, at_pipe; /* place in their lists */
};

struct fab_transfer_member {
	uint32_t at;   /* in the batch */
	double target; /* what a member since time 0 would have when it is done */
};

struct fab_transfer_entry {
	double level; /* with the handicap */
	uint32_t pipe;
};

struct fab_simulation {
	const struct fab_machine *m;
	const struct fab_batch *batch;
	const struct fab_transfer_options *o;
	double image_mbit;
	double now;
	struct fab_transfer_class *class;
	uint32_t n_classes;
	struct fab_transfer_member *member; /* [batch->n] class by class */
	uint32_t *class_of;		    /* [batch->n] */
	struct fab_transfer_pipe *pipe;	    /* those that can be full */
	uint32_t n_pipes;
	uint32_t *on;	/* pipes of the classes */
	uint32_t *user; /* classes of the pipes */
	struct fab_transfer_group *group;
	uint32_t n_groups;
	struct fab_transfer_list
		due; /* heap of groups: the next to have a member done first */
	FAB_VEC(struct fab_transfer_pair) pair;
	struct fab_transfer_list free_pairs;
	/* what an event has changed: */
	struct fab_transfer_list changed; /* classes */
	struct fab_transfer_list dirty;	  /* pipes */
	struct fab_transfer_list idle;	  /* of these, without a group */
	struct fab_transfer_list touched; /* groups */
	struct fab_transfer_list set;	  /* pipes whose rate is new */
	struct fab_transfer_list refill;  /* classes that need a new group */
	bool is_unfair;			  /* a check failed */
	/* while filling: */
	struct fab_transfer_list filled; /* pipes */
	uint32_t *in;			 /* classes of the filled pipes */
	size_t n_in;
	FAB_VEC(struct fab_transfer_entry) heap;

	uint32_t *connections;		/* [n_servers] */
	struct fab_queues queues;	/* nodes that wait for each server */
	struct fab_transfer_list freed; /* servers that may have connections left */
	uint32_t arrived;		/* nodes that have asked a first time */
	double *deadline;   /* [batch->n] when it gives up; INFINITY: it does not */
	uint32_t *attempts; /* [batch->n] that were given up */
	struct fab_schedule schedule; /* times: fab_time_of_seconds() */
};

/* Members of a class that receive. */
static inline uint32_t fab_transfer_active(const struct fab_transfer_class *c)
{
	return c->next - c->done;
}

/* The member of a class that started as number k; one that is done makes room. */
static inline struct fab_transfer_member *
fab_transfer_member(const struct fab_simulation *s, const struct fab_transfer_class *c,
		    uint32_t k)
{
	return &s->member[c->first + k % c->n];
}

/* Mbit that a node in the group all the time would have now. */
static inline double fab_transfer_clock(const struct fab_simulation *s,
					const struct fab_transfer_group *g)
{
	return s->now > g->since && isfinite(g->rate)
		       ? g->clock + g->rate * (s->now - g->since)
		       : g->clock;
}

/* Mbit that a member of the class since time 0 would have now. */
static inline double fab_transfer_received(const struct fab_simulation *s,
					   const struct fab_transfer_class *c)
{
	return c->group == FAB_NONE
		       ? c->offset
		       : c->offset + fab_transfer_clock(s, &s->group[c->group]);
}

/* Classes, pipes and groups of a batch; m, batch and o are set (transfer_classes.c). */
void fab_transfer_prepare(struct fab_simulation *s, const uint32_t *interface_of);
void fab_transfer_unprepare(struct fab_simulation *s);

/* Groups and what pipes know of them (transfer_groups.c). */
void fab_transfer_attach(struct fab_simulation *s, uint32_t class, uint32_t group);
void fab_transfer_detach(struct fab_simulation *s, uint32_t class);
/* The class has another number of active members, or another first one. */
void fab_transfer_recount(struct fab_simulation *s, uint32_t class);
void fab_transfer_set_rate(struct fab_simulation *s, uint32_t group, double rate);
/* From now on its load is known exactly. */
void fab_transfer_watch(struct fab_simulation *s, uint32_t pipe);
void fab_transfer_unwatch(struct fab_simulation *s, uint32_t pipe);
/* Load of a watched pipe by other groups than its own. */
double fab_transfer_others(struct fab_simulation *s, uint32_t pipe);
/* Groups that were touched have their place among those due. */
void fab_transfer_place_touched(struct fab_simulation *s);

/* Find groups for the classes in `refill`, and for those that they disturb
 * (transfer_fill.c). */
void fab_transfer_fill(struct fab_simulation *s);

/* Rates as they are max-min fair after the changes of an event (transfer_settle.c). */
void fab_transfer_settle(struct fab_simulation *s);
/* The number of active members of a class has changed. */
void fab_transfer_change(struct fab_simulation *s, uint32_t class);
/* Put classes on a list for refilling: one, a whole group, all on a pipe faster than
 * `rate`. */
void fab_transfer_refill(struct fab_simulation *s, uint32_t class);
void fab_transfer_refill_group(struct fab_simulation *s, uint32_t group);
void fab_transfer_refill_faster(struct fab_simulation *s, uint32_t pipe, double rate);
