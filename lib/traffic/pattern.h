/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups that a parallel program would make (fabric-topologies(7), "Group patterns"):
 * grid, random, tree. After the parameters of its kind a pattern takes per=adapter|host
 * (the first connected adapter of a host by name), ppn=N, order=fabric|name|lid|random
 * and seed=S.
 */
#pragma once

#include "base/choice.h"
#include "fabric/fabric.h"

enum fab_pattern_order {
	FAB_ORDER_FABRIC,
	FAB_ORDER_NAME,
	FAB_ORDER_LID,
	FAB_ORDER_RANDOM,
};

enum { FAB_PATTERN_NUMBERS = 8 };

/* A parsed pattern. */
struct fab_pattern {
	const char *spec; /* borrowed */
	const struct fab_pattern_kind *kind;
	uint64_t number[FAB_PATTERN_NUMBERS]; /* of the kind; 0: not given */
	unsigned n_numbers;		      /* of a grid */
	uint64_t ppn, seed;
	bool per_host;
	enum fab_pattern_order order;
};

/* Receiver of the groups. */
struct fab_pattern_sink {
	void (*begin)(void *context, const char *name, size_t len);
	/* Add an endpoint to the group begun last: a port with a cable to a switch. A
	 * port may be added twice. */
	void (*add)(void *context, uint32_t port);
	void *context;
};

extern const struct fab_choices fab_pattern_choices;

/* Parse a spec; `seed` is used if it has none. EINVAL with a sentence. O(spec). */
int fab_pattern_parse(const char *spec, uint64_t seed, struct fab_pattern *out,
		      struct fab_err *err) FAB_MUST_CHECK;

/*
 * Pass all groups to a sink. EINVAL if the pattern needs more processes than the fabric
 * has; no group is made then. O(endpoints log endpoints + members).
 */
int fab_pattern_make(const struct fab_pattern *p, const struct fab_fabric *f,
		     const struct fab_pattern_sink *sink,
		     struct fab_err *err) FAB_MUST_CHECK;
