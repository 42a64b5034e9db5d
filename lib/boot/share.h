/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The equal-share model (Gong et al.: full-path minimum bandwidth): on every segment all
 * nodes of the batch that use it get the same share; a node gets the least share on its
 * path, and no more than the limits of its transfer and server leave it (boot/limits.h);
 * the batch is done when its slowest node is.
 */
#pragma once

#include "boot/mapping.h"

/* The segments of one level in one direction, summed up by the tightest. */
struct fab_share_segment {
	uint32_t level;	      /* FAB_NONE: a limit of transfers (boot/limits.h) */
	bool is_up;	      /* from servers towards the root */
	const char *name;     /* level's segment; borrowed */
	uint32_t vertex;      /* the tightest of them */
	double capacity_mbps; /* there */
	uint32_t max_sharers; /* most sharers on any of them */
	double share_mbps;    /* least capacity / sharers of them */
};

/* Levels in both directions, and the limits. */
enum { FAB_SHARE_SEGMENTS_MAX = 2 * FAB_MACHINE_LEVELS_MAX + 4 };

struct fab_share {
	uint32_t n_segments; /* those that are used, in the order node .. server */
	struct fab_share_segment segment[FAB_SHARE_SEGMENTS_MAX];
	uint32_t bottleneck;   /* index of the segment with the least share; of equal ones
				  the one nearest to the server; FAB_NONE: no limit */
	double bandwidth_mbps; /* of the slowest node */
	uint32_t slowest_node; /* the first of them */
	double *node_mbps; /* [batch->n] when asked for, by segments alone; else NULL */
};

/* Name of a segment for reports: the level's segment, with "-up" or "-down" behind when
 * it runs against the usual direction of its level. Into `out`. O(1). */
char *fab_share_segment_name(const struct fab_machine *m,
			     const struct fab_share_segment *segment, char *out,
			     size_t size);

/*
 * `workspace` is reused between calls of a sweep: fab_share_workspace_new(m). EINVAL: a
 * node of the batch without an interface. O(batch * levels).
 */
struct fab_share_workspace;
struct fab_share_workspace *fab_share_workspace_new(const struct fab_machine *m);
void fab_share_workspace_free(struct fab_share_workspace *w);
int fab_share_of(const struct fab_machine *m, const struct fab_batch *batch,
		 const uint32_t *interface_of, bool per_node,
		 struct fab_share_workspace *w, struct fab_share *out,
		 struct fab_err *err) FAB_MUST_CHECK;
void fab_share_fini(struct fab_share *share);
/*
 * The bandwidth of the slowest node by a second path, for --verify: depth by depth, which
 * vertex a node and its interface lie below; where these differ a path takes both
 * segments; then the limits, server by server. Every node of the batch has an interface.
 * O(depth * (vertices + batch)).
 */
double fab_share_slowest_brute(const struct fab_machine *m, const struct fab_batch *batch,
			       const uint32_t *interface_of);

/* Closed forms of Gong et al. for their machine: Mb/s of segment N1 .. N5 (0 .. 4) when
 * the first `boards` boards boot whole; is_bcda or SCDA. O(1). */
double fab_share_closed_form_mbps(unsigned segment, uint32_t boards, bool is_bcda);
