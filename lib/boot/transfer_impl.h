/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of lib/boot: transfers through time, and the rates at one time. */
#pragma once

#include "base/queues.h"
#include "boot/transfer.h"
#include "event/schedule.h"

/* Nodes that are treated alike at any time. */
struct fab_transfer_class {
	uint32_t parent, interface;
	double cap_mbps;
	uint32_t first, n;     /* its nodes in `member` */
	uint32_t next, done;   /* members started, members finished, ever */
	double rate, received; /* Mb/s; Mbit that a member since time 0 would have */
	bool is_frozen;
};

/* A segment with the classes that use it. */
struct fab_transfer_pipe {
	double capacity, frozen;
	uint32_t first, n, active;
};

struct fab_transfer_entry {
	double level;
	uint32_t pipe;
};

struct fab_transfer_member {
	uint32_t at;   /* in the batch */
	double target; /* `received` of its class when it is done */
};

struct fab_simulation {
	const struct fab_machine *m;
	const struct fab_batch *batch;
	const struct fab_transfer_options *o;
	double image_mbit;
	struct fab_transfer_class *class;
	uint32_t n_classes;
	struct fab_transfer_member *member; /* [batch->n] class by class */
	uint32_t *class_of;		    /* [batch->n] */
	struct fab_transfer_pipe *pipe;	    /* down, up of every vertex, then disks */
	uint32_t n_pipes;
	uint32_t *user;	  /* classes of the pipes */
	uint32_t *by_cap; /* classes by ascending cap */
	struct fab_transfer_entry *heap;
	uint32_t n_heap;
	uint32_t *connections;	  /* [n_servers] */
	struct fab_queues queues; /* nodes that wait for each server */
	uint32_t arrived;	  /* nodes that have asked a first time */
	double *deadline;	  /* [batch->n] when it gives up; INFINITY: it does not */
	uint32_t *attempts;	  /* [batch->n] that were given up */
	struct fab_schedule due;  /* times: fab_time_of_seconds() */
	double now;
};

/* Members of a class that receive. */
static inline uint32_t fab_transfer_active(const struct fab_transfer_class *c)
{
	return c->next - c->done;
}

/* Make classes and pipes of a batch; m, batch and o are set. */
void fab_transfer_prepare(struct fab_simulation *s, const uint32_t *interface_of);
void fab_transfer_unprepare(struct fab_simulation *s);
/* Max-min fair rates of the classes that are active. */
void fab_transfer_fill(struct fab_simulation *s);
