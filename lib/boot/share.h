/* SPDX-License-Identifier: BSD-2-Clause */
/* Limits, equal shares, and what a change of servers does to nodes. */
#pragma once

#include <math.h>

#include "base/rng.h"
#include "boot/batch.h"

/*
 * The capacity model that shares, mappings, transfers and advice have in common: cables
 * carry their capacity times the efficiency of the protocol; a transfer, a server's disk
 * and a server's connections are limits beyond them. All rates count bytes of the image.
 */
enum fab_limit {
	FAB_LIMIT_DISK,	       /* of a server, for all its interfaces together */
	FAB_LIMIT_TRANSFER,    /* of one transfer: protocol window */
	FAB_LIMIT_CONNECTIONS, /* served at once, each with what one transfer gets */
	FAB_N_LIMITS,
};

/* Bit of a limit in a set of levels (struct fab_advice). O(1). */
static inline uint32_t fab_limit_bit(enum fab_limit limit)
{
	return 1U << (FAB_MACHINE_LEVELS_MAX + (unsigned)limit);
}

/* "disk", "transfer", "connections": names of segments. Borrowed static text. O(1). */
const char *fab_limit_name(enum fab_limit limit);

/* Does the machine have it? O(1). */
bool fab_limit_is_given(const struct fab_machine *m, enum fab_limit limit);

/* Most links that one segment is hashed onto. */
enum { FAB_LINKS_MAX = 64 };

/*
 * Segments as links: those of a vertex are numbered from vertex * fab_links_most() on. A
 * transfer between two vertices takes one of them, by a hash that switches of one level
 * have in common. O(1).
 */
static inline uint32_t fab_links_most(const struct fab_machine *m)
{
	return m->limits.most_links ? m->limits.most_links : 1;
}

static inline uint32_t fab_links_of(const struct fab_machine *m, uint32_t vertex)
{
	uint32_t n = m->limits.links[m->level_of[vertex]];

	return n ? n : 1;
}

static inline uint32_t fab_link_of(const struct fab_machine *m, uint32_t vertex,
				   uint32_t to, uint32_t from)
{
	uint64_t flow = (uint64_t)to << 32 | from;
	uint32_t n = fab_links_of(m, vertex), first = vertex * fab_links_most(m);

	if (n == 1)
		return first;
	flow = fab_mix64(flow ^ fab_mix64(m->limits.hash_seed + m->level_of[vertex]));
	return first + (uint32_t)(flow % n);
}

static inline double fab_link_mbps(const struct fab_machine *m, uint32_t vertex)
{
	uint32_t n = fab_links_of(m, vertex);

	return n > 1 ? m->capacity_mbps[vertex] / n : m->capacity_mbps[vertex];
}

/*
 * Lists of levels by unit or segment, as `cascade:2,supernode:2` for links (2 to 64) and
 * `server:0.2,N4:5G` for what is reserved (a part below 1, or a rate), into `out`; NULL:
 * none. EINVAL: no such level, another value, or a segment of which nothing is left.
 * O(len + vertices).
 */
int fab_limits_parse(const struct fab_machine *m, const char *links, const char *reserved,
		     struct fab_limits *out, struct fab_err *err) FAB_MUST_CHECK;

/* A level by the name of its unit (one or many) or of its segment; FAB_NONE. O(levels).
 */
uint32_t fab_limits_level(const struct fab_machine *m, const char *name, size_t len);

/*
 * Set the limits of a machine, and scale its cables to the part `efficiency` (above 0, at
 * most 1) of their bytes that is image, of what is not reserved. Once for each machine.
 * O(vertices).
 */
void fab_limits_apply(struct fab_machine *m, const struct fab_limits *limits,
		      double efficiency);

/*
 * The machine with every level and limit whose bit is in `doubled` at twice its capacity.
 * *out borrows all but capacity_mbps, which the caller frees. O(vertices).
 */
void fab_limits_raise(const struct fab_machine *m, uint32_t doubled,
		      struct fab_machine *out);

/* Rate of one transfer to the fastest node of the batch, Mb/s; INFINITY: no limit.
 * O(batch). */
double fab_limits_transfer_mbps(const struct fab_machine *m,
				const struct fab_batch *batch);

/* Nodes that a capacity serves at a bandwidth each; 1e15 at most. Values that differ by
 * rounding only are equal. O(1). */
static inline uint64_t fab_limits_quota(double capacity_mbps, double bandwidth_mbps)
{
	double q = floor(capacity_mbps / bandwidth_mbps * (1 + 1e-12));

	return q < 1e15 ? (uint64_t)q : (uint64_t)1e15;
}

/* Nodes that the disk and the connections of a server serve at a bandwidth each;
 * transfer_mbps by fab_limits_transfer_mbps(). O(1). */
uint64_t fab_limits_server_quota(const struct fab_machine *m, double transfer_mbps,
				 double bandwidth_mbps);

/* Least bandwidth of n > 0 nodes of one server by its connections (served in rounds);
 * INFINITY without the limit. O(1). */
double fab_limits_connections_share(const struct fab_machine *m, double transfer_mbps,
				    uint32_t n);

/* Rate of each interface as weights for mappings, on the heap: its cable, and its part of
 * the disk and of the connections of its server; 0 if that is down. O(interfaces +
 * servers). */
double *fab_limits_interfaces(const struct fab_machine *m);

/*
 * The equal-share model (Gong et al.: full-path minimum bandwidth): on every segment all
 * nodes of the batch that use it get the same share; a node gets the least share on its
 * path, and no more than the limits of its transfer and server leave it (struct
 * fab_limits); the batch is done when its slowest node is. Where images differ the
 * slowest node is the last one to have its own, and the tightest segment that on which
 * the largest image takes longest; others that are done leave their share unused.
 */
/* The segments of one level in one direction, summed up by the tightest. */
struct fab_share_segment {
	uint32_t level;	      /* FAB_NONE: a limit of transfers (struct fab_limits) */
	bool is_up;	      /* from servers towards the root */
	const char *name;     /* level's segment; borrowed */
	uint32_t vertex;      /* the tightest of them */
	double capacity_mbps; /* there */
	uint32_t max_sharers; /* most sharers on any of them */
	double share_mbps;    /* least capacity / sharers of them */
	double part;	      /* largest image there, as a part of the largest of all */
};

/* Levels in both directions, and the limits. */
enum { FAB_SHARE_SEGMENTS_MAX = 2 * FAB_MACHINE_LEVELS_MAX + 4 };

struct fab_share {
	uint32_t n_segments; /* those that are used, in the order node .. server */
	struct fab_share_segment segment[FAB_SHARE_SEGMENTS_MAX];
	uint32_t bottleneck;   /* index of the segment with the least share; of equal ones
				  the one nearest to the server; FAB_NONE: no limit */
	double bandwidth_mbps; /* of the slowest node */
	double part;	       /* its image, as a part of the largest of all */
	uint32_t slowest_node; /* the first of them */
};

/* Rate at which the largest image takes as long as that of the slowest node. O(1). */
static inline double fab_share_pace(const struct fab_share *share)
{
	return share->bandwidth_mbps / share->part;
}

/* Name of a segment for reports: the level's segment, with "-up" or "-down" behind when
 * it runs against the usual direction of its level. Into `out`. O(1). */
char *fab_share_segment_name(const struct fab_machine *m,
			     const struct fab_share_segment *segment, char *out,
			     size_t size);

/* Shares of a mapping. EINVAL: a node of the batch without an interface. O(batch *
 * levels). */
int fab_share_of(const struct fab_machine *m, const struct fab_batch *batch,
		 const uint32_t *interface_of, struct fab_share *out,
		 struct fab_err *err) FAB_MUST_CHECK;
/*
 * fab_share_pace() by a second path, for --verify: depth by depth, which
 * vertex a node and its interface lie below; where these differ a path takes both
 * segments; then the limits, server by server. Every node of the batch has an interface.
 * O(depth * (vertices + batch)).
 */
double fab_share_slowest_brute(const struct fab_machine *m, const struct fab_batch *batch,
			       const uint32_t *interface_of);

/* Effects of failed servers on nodes and servers. */
/* A server that is up and serves more nodes of the batch than before. */
struct fab_failover_server {
	uint32_t server;
	uint32_t nodes_before, nodes;
};

struct fab_failover {
	uint32_t
		n_moved; /* nodes of the batch that have another interface; orphans: no */
	uint32_t n;
	struct fab_failover_server *grown; /* [n] most growth first, then by number */
};

/*
 * Compare two mappings of a batch; nodes without an interface (FAB_NONE) count for no
 * server. The caller frees *out. O(batch + servers log servers).
 */
void fab_failover_of(const struct fab_machine *m, const struct fab_batch *batch,
		     const uint32_t *before, const uint32_t *after,
		     struct fab_failover *out);
void fab_failover_fini(struct fab_failover *failover);
