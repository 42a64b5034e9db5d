/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What programmed multicast tables amount to: loads, heights, and what is wrong with
 * them. The tables need not be trees, so that nothing here rests on struct fab_forest.
 */
#pragma once

#include "base/mem.h"
#include "mcast/mcfdbs.h"
#include "mcast/weights.h"

enum fab_broken_kind {
	FAB_BROKEN_LOOP,      /* `count` cables more than a tree has: packets multiply */
	FAB_BROKEN_CUT_OFF,   /* `count` members out of reach of the largest part */
	FAB_BROKEN_ONE_SIDED, /* `count` ports to a switch that has no port back */
	FAB_BROKEN_NO_CABLE,  /* `count` ports without a cable */
	FAB_N_BROKEN_KINDS,
};

/* One kind of fault of one group; sw and port say where the first of them is. */
struct fab_broken {
	uint32_t group;
	enum fab_broken_kind kind;
	uint32_t count;
	uint32_t sw;
	uint16_t port;
};

struct fab_loaded {
	uint32_t *load;	     /* [n_switch_links] groups that leave by either end */
	double *weighted;    /* [n_switch_links] weighted loads; NULL without weights */
	uint32_t max_height; /* of the groups without a fault, switch hops */
	uint32_t n_broken;   /* groups with a fault */
	FAB_VEC(struct fab_broken) broken; /* by group, then kind */
};

/*
 * Follow the tables of each group (mlid[group], as above). A cable between switches
 * belongs to a group when the port at either end is in its tables. A member is reached
 * when the port of its switch that leads to it (port 0 for a switch) is in the table;
 * groups of fewer than two members need nothing. The height is the least over all
 * switches of the most hops, along the group's cables, to a member's switch: that of an
 * engine's tree when the tables hold one. `weights` may be NULL. *out is ended by
 * fab_loaded_fini(). O(entries + members + switches + ports).
 */
void fab_loaded_of(const struct fab_fabric *f, const struct fab_groups *groups,
		   const uint16_t *mlid, const struct fab_mft *mft,
		   const struct fab_weights *weights, struct fab_loaded *out);
void fab_loaded_fini(struct fab_loaded *loaded);

/* "loop", "cut-off", "one-sided", "no-cable". O(1). */
const char *fab_broken_name(enum fab_broken_kind kind);
