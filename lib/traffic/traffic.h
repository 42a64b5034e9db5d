/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traffic by a spec: NAME, or NAME:ARGUMENT. One table, a function or a file each. A
 * traffic is a source of messages (traffic/messages.h), one of two sorts: endless, with
 * random arrivals (open loop) or a window of messages under way (closed loop); or
 * finite, which ends when all has arrived.
 */
#pragma once

#include "base/arena.h"
#include "base/choice.h"
#include "fabric/kfat.h"
#include "traffic/ends.h"
#include "traffic/messages.h"

/* Times of the messages of endless traffic. */
enum fab_arrivals {
	FAB_ARRIVALS_POISSON,
	FAB_ARRIVALS_BERNOULLI, /* in each slot with the same probability */
	FAB_ARRIVALS_CLOSED, /* when one of the window has arrived, and `think` later */
};

enum { FAB_WINDOW_MAX = 4096 };

struct fab_traffic_options {
	enum fab_arrivals arrivals;
	double rate; /* share of the endpoint's cable, > 0, <= 1; not for closed loops */
	uint64_t slot;	 /* Bernoulli: ticks; 0: what a packet takes on its cable */
	uint32_t window; /* messages under way, 1 .. FAB_WINDOW_MAX */
	uint64_t think;	 /* ticks */
	/* Payload of a message: one of these, each as likely; >= 1. Collectives take the
	 * first. */
	const uint32_t *size;
	size_t n_sizes;
	uint32_t mtu;  /* most payload of a packet */
	bool in_ticks; /* times of a trace are ticks, not picoseconds */
	uint64_t seed;
};

/* Fabric and groups of a traffic; all is borrowed until the traffic is freed. */
struct fab_traffic_problem {
	const struct fab_fabric *f;
	const struct fab_kfat *kfat; /* NULL: no kfat */
	const struct fab_flow_ends *ends;
	/* Groups: members as numbers of ends, FAB_NONE: no live end; the first live one
	 * sends. group_first: [n_groups + 1]. */
	uint32_t n_groups;
	const uint64_t *group_first;
	const uint32_t *group_end;
	/* Ticks that a message takes on the cable of an endpoint. */
	uint64_t (*wire)(const void *context, uint32_t end, uint32_t bytes,
			 bool to_group);
	const void *wire_context;
	struct fab_traffic_options how;
};

/* A source of messages, in its arena. */
struct fab_traffic {
	struct fab_arena arena;
	struct fab_messages messages;
	const struct fab_traffic_kind *kind;
	uint32_t n_senders;  /* endpoints that send anything */
	uint64_t n_left_out; /* messages of a trace to their own source, groups of no two
				live members */
	/* Of finite traffic: endpoints that have something left to send or, of a
	 * collective, to receive. NULL: unknown. */
	uint32_t (*unfinished)(const void *context);
};

struct fab_schedule;

struct fab_traffic_kind {
	const char *form; /* "incast:K" */
	const char *summary;
	const char *manual; /* as struct fab_choice has it */
	bool is_finite;	    /* over when all has arrived */
	bool needs_groups;
	bool argument_is_optional;
	/* Its arguments, of which one is by the group of all endpoints, group 0; NULL. */
	const struct fab_schedule *schedules;
	/* Is this an argument? EINVAL with what was expected. Without looking at the
	 * fabric. NULL: it takes none. */
	int (*check)(const char *argument, struct fab_err *err);
	/* All but the kind; the arena is the traffic's. */
	int (*make)(const struct fab_traffic_problem *p, const char *argument,
		    struct fab_traffic *out, struct fab_err *err);
};

extern const struct fab_traffic_kind *const fab_traffic_kinds[];
extern const struct fab_choices fab_traffic_choices;

/* A file adds its row here; in the order in which they are documented. */
#define FAB_TRAFFIC_KINDS(ROW)                                                           \
	ROW(uniform)                                                                     \
	ROW(permutation)                                                                 \
	ROW(hotspot)                                                                     \
	ROW(incast)                                                                      \
	ROW(groups)                                                                      \
	ROW(alltoall)                                                                    \
	ROW(allreduce)                                                                   \
	ROW(broadcast)                                                                   \
	ROW(allgather)                                                                   \
	ROW(barrier)                                                                     \
	ROW(trace)

#define FAB_DECLARE(row) extern const struct fab_traffic_kind fab_traffic_##row;
FAB_TRAFFIC_KINDS(FAB_DECLARE)
#undef FAB_DECLARE

/* The kind of a well-formed spec and its argument ("" without one). EINVAL with one
 * sentence. Without looking at the fabric. O(spec). */
int fab_traffic_check(const char *spec, const struct fab_traffic_kind **kind,
		      const char **argument, struct fab_err *err) FAB_MUST_CHECK;
/*
 * Make a traffic. Errors: those of check; EINVAL, ENOENT, EIO: one sentence, of a file
 * with its line; EINVAL also if no host would send anything. The caller calls fini.
 * O(ends + what is read).
 */
int fab_traffic_make(const char *spec, const struct fab_traffic_problem *p,
		     struct fab_traffic *out, struct fab_err *err) FAB_MUST_CHECK;
/* Endpoints that did not get to their end; of endless traffic 0. O(ends). */
uint32_t fab_traffic_unfinished(const struct fab_traffic *t);
/* Zeroed is allowed. O(size). */
void fab_traffic_fini(struct fab_traffic *t);

/* Permutations: each host sends to one other. */

/* Hosts that a permutation is made for. */
struct fab_permutation_problem {
	const struct fab_fabric *f;
	const struct fab_kfat *kfat; /* NULL: no kfat */
	const struct fab_flow_ends *ends;
	uint64_t seed;
};

extern const struct fab_choices fab_permutation_choices;

/* Is this a permutation with its argument? Without looking at the fabric; EINVAL. O(len).
 */
int fab_permutation_check(const char *spec, struct fab_err *err) FAB_MUST_CHECK;

/*
 * Targets: to[n] by number of the end, FAB_NONE: sends nothing. The caller frees *to.
 * EINVAL or ENOENT with a sentence, of a file with its line. O(ends), of a file O(bytes +
 * nodes).
 */
int fab_permutation_make(const char *spec, const struct fab_permutation_problem *problem,
			 uint32_t **to, struct fab_err *err) FAB_MUST_CHECK;
