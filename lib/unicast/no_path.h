/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pairs that tables do not connect, and circles of tables: switches that send the packets
 * of a destination round and round.
 */
#pragma once

#include "unicast/routes.h"

struct fab_no_path {
	/* Ordered pairs of different ends that could have a path: not of two planes. */
	uint64_t pairs;
	uint64_t without;  /* of these: no path, or no service level to send with */
	uint64_t circling; /* of these: their packets come into a circle */
	/* The first of `without` by target, then source: ends; FAB_NONE: all have one. */
	uint32_t from, to;
	/* Columns with a circle somewhere, also where no end's packets come; the lowest
	 * of them, FAB_NONE: no circle. */
	uint32_t circles, column;
	/* Arcs (ids) of a circle of that column, from its lowest switch on. */
	FAB_VEC(uint32_t) circle;
};

/*
 * Follow every row of the tables from every switch. Ends are end port port[i] on switch
 * sw[i], i < n. The caller frees *out. O(rows * switches + columns * sources), a source:
 * the ends of a switch that share a row of service levels.
 */
void fab_no_path_find(const struct fab_routes *routes, uint32_t n, const uint32_t *sw,
		      const uint32_t *port, struct fab_no_path *out);
/* Zeroed is allowed. O(1). */
void fab_no_path_fini(struct fab_no_path *x);

/*
 * "LFTs send LID 7 (n1 HCA-1) in a circle: A:3, B:5" (switches and the ports by which
 * they send, at most 8 of them), with how many other LIDs there are; NULL: no circle. The
 * caller frees. O(circle * nodes).
 */
char *fab_no_path_circle_text(const struct fab_routes *routes,
			      const struct fab_no_path *x);
