/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of the graph of switches, and which of them are planes: parallel networks of
 * the same hosts, as machines with several rails have them. Adapters do not forward, so
 * that no path leads from one part to another, however many adapters have ports in both.
 *
 * The part with the most hosts (then the most switches, then the lowest switch) is a
 * plane. Another part is a plane as well when at least half of the hosts of that one
 * are on it, too. What is left (a switch that lost its cables, a piece of a plane, a
 * network for other hosts) is no plane: its hosts cannot reach the others.
 *
 * An adapter without a cable to a switch is in no part, and neither are adapters joined
 * to each other.
 */
#pragma once

#include "base/mem.h"
#include "fabric/fabric.h"

struct fab_plane {
	bool is_plane; /* false: another part */
	fab_node_id first_switch;
	uint32_t n_switches, n_switch_links, n_host_links;
	uint32_t n_adapters; /* with a cable to it, aggregation nodes too */
	uint32_t n_hosts;    /* with an adapter of these */
	uint32_t n_shared;   /* of these hosts: on the largest plane, too */
};

struct fab_planes {
	uint32_t n, n_planes; /* parts; of these planes */
	struct fab_plane *v;  /* [n] planes, then other parts; both by first_switch */
	uint32_t largest;     /* the plane with the most hosts */
	uint32_t *of_switch;  /* [n_switches] index into v */
	uint32_t n_hosts, n_on_all; /* hosts on some plane; of these on every plane */
};

/* The caller frees. O(ports + parts log parts). */
struct fab_planes *fab_planes_new(const struct fab_fabric *f);
/* NULL is allowed. O(size). */
void fab_planes_free(struct fab_planes *planes);
FAB_AUTO_POINTER(fab_planes)

/* The part that a port is on, FAB_NONE when it has no cable to a switch. O(1). */
uint32_t fab_planes_of_port(const struct fab_planes *planes, const struct fab_fabric *f,
			    fab_port_id port);

/*
 * Are these two parts planes, so that no path from one to the other is expected? A part
 * that is no plane ought to be joined to something. O(1).
 */
static inline bool fab_planes_are_parallel(const struct fab_planes *p, uint32_t a,
					   uint32_t b)
{
	return a != b && p->v[a].is_plane && p->v[b].is_plane;
}

/*
 * Why nothing goes from one port to another: 'no path from "n1 mlx5_0" (plane 1) to "n2
 * mlx5_1" (plane 2): ...' with what to do about it; NULL when both are on one part, or
 * not on a switch. The caller frees. O(1).
 */
char *fab_planes_apart(const struct fab_planes *planes, const struct fab_fabric *f,
		       fab_port_id a, fab_port_id b);

/* Room for fab_plane_text(). */
enum { FAB_PLANE_TEXT_SIZE = 24 };

/* Name of a part in every report: "plane 2", "part 3", counted from 1 and without
 * gaps; a single plane is a part as the others. Returns `out`, of FAB_PLANE_TEXT_SIZE
 * bytes. O(1). */
char *fab_plane_text(const struct fab_planes *planes, uint32_t part, char *out);
