/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fabric before and after a change, edits or faults or both: tables of each side, and
 * the hosts that lose their cables. Both sides are analysed alike, so that figures can
 * stand next to each other.
 */
#pragma once

#include "unicast/analysis.h"
#include "unicast/engine.h"

/* Tables of one side, analysed. */
struct fab_effect {
	struct fab_analysis j;
	/* When every host sends to every other: the fullest direction of a cable between
	 * switches, in what one host sends, and the port at which packets enter it;
	 * FAB_NONE: no packet takes one. */
	double load;
	fab_port_id fullest;
};

/*
 * Route and analyse. The ends are as asked for (has_ends), else leaf switches for engines
 * on a kfat, or hosts. fab_effect_fini(). Errors of the engine and of fab_analyse(). O(as
 * these).
 */
int fab_effect_route(const struct fab_unicast_problem *problem,
		     const struct fab_unicast_engine *engine, bool has_ends,
		     enum fab_ends ends, struct fab_effect *out,
		     struct fab_err *err) FAB_MUST_CHECK;
/* Analyse tables that were read. */
int fab_effect_analyse(const struct fab_routes *routes, enum fab_ends ends, int n_threads,
		       struct fab_effect *out, struct fab_err *err) FAB_MUST_CHECK;
/* A zeroed one is allowed. */
void fab_effect_fini(struct fab_effect *effect);

/* Hosts of a side: of these with a live cable to a live switch, and such ports. O(ports).
 */
struct fab_effect_hosts {
	uint64_t hosts, ports;
};
struct fab_effect_hosts fab_effect_count_hosts(const struct fab_fabric *f,
					       const struct fab_faults *faults);

/*
 * Ports of hosts that had such a cable before and are cut off after: they have none, or
 * reach fewer than half of the ports of hosts that they reached before. Ids of `before`,
 * first those of hosts of which no port is left, then rails; by port. `faults` are of
 * `after` (NULL: none), which may be `before`. Nodes are the same by fab_diff_new(). The
 * caller frees out->of.v. O(n log n) in nodes and ports, and parts * switches.
 */
void fab_effect_lost_ports(const struct fab_fabric *before,
			   const struct fab_fabric *after,
			   const struct fab_faults *faults, struct fab_lost_ports *out);
