/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables as the simulation looks them up. A row for each host is much: the tables of
 * 40 960 hosts take 422 MB, and each hop reads another place. But the hosts of a leaf
 * switch are sent to few different vectors of outputs (all to one from most switches, to
 * each uplink in turn from others). So there is a table by leaf and switch of numbers of
 * vectors, and the vectors, which all leaves share: 26 MB, exactly the same. Tables that
 * are small, or of which that does not hold, are used as they are.
 */
#pragma once

#include "sim/network.h"

struct sim_tables {
	uint32_t n_switches;
	const uint16_t *next; /* [row * n_switches + switch]: the routes' */
	/* Leaves, numbered, and the slots of their hosts: */
	unsigned bits;	  /* a row is leaf << bits | slot */
	uint16_t *number; /* [leaf * n_switches + switch] of a vector; NULL: use next */
	uint16_t *vector; /* [number << bits | slot] */
	uint32_t n_leaves, n_vectors;
	uint32_t *end_row; /* [n_ends] row that leads to it; FAB_NONE */
};

/* *t is ended by the caller; net is borrowed. O(ends + rows * switches). */
void sim_tables_init(struct sim_tables *t, const struct sim_net *net);
void sim_tables_fini(struct sim_tables *t);
/* Of memory. O(1). */
size_t sim_tables_bytes(const struct sim_tables *t);

/* What is read first, to be asked for ahead. O(1). */
static inline const uint16_t *sim_tables_at(const struct sim_tables *t, uint32_t row,
					    uint32_t sw)
{
	if (!t->number)
		return &t->next[(size_t)row * t->n_switches + sw];
	return &t->number[(size_t)(row >> t->bits) * t->n_switches + sw];
}

/* The output, counted from the first of the switch; FAB_ARC_HERE ... O(1). */
static inline uint32_t sim_tables_next(const struct sim_tables *t, uint32_t row,
				       uint32_t sw)
{
	uint32_t entry = *sim_tables_at(t, row, sw), slot;

	if (!t->number)
		return entry;
	slot = row & ((1u << t->bits) - 1);
	return t->vector[entry << t->bits | slot];
}
