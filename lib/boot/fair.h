/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside of lib/boot: max-min fair rates of the nodes of a batch that receive an image,
 * from one event to the next. Nodes are numbered by their place in the batch; those of
 * one path and capacity are a class, and are done in the order in which they start.
 */
#pragma once

#include "boot/batch.h"

struct fab_fair;

/* No node receives at time 0. Each loads image_mbit by its interface of interface_of. The
 * caller frees. O(batch * (levels + log batch)). */
struct fab_fair *fab_fair_new(const struct fab_machine *m, const struct fab_batch *batch,
			      const uint32_t *interface_of, double image_mbit);
void fab_fair_free(struct fab_fair *r);

/* Class of a node; its node that started first, FAB_NONE: none receives. O(1). */
uint32_t fab_fair_class(const struct fab_fair *r, uint32_t at);
uint32_t fab_fair_first(const struct fab_fair *r, uint32_t class);
/* A node starts; the first node of a class leaves. Rates follow at the next
 * fab_fair_settle(). O(levels + log batch). */
void fab_fair_start(struct fab_fair *r, uint32_t at);
void fab_fair_end(struct fab_fair *r, uint32_t class);
/* Time of the next end of a transfer by the rates now; INFINITY: no node receives. O(1).
 */
double fab_fair_next(const struct fab_fair *r);
/* Set the clock; rates do not change. O(1). */
void fab_fair_advance(struct fab_fair *r, double now);
/* A class whose first node has its image now, but for 1e-9 of it; FAB_NONE: there is
 * none. O(log batch). */
uint32_t fab_fair_done(struct fab_fair *r);
/* Make rates fair after starts and ends; false: no end was found (no case is known).
 * O(groups whose rate changes * (levels + log batch)), and classes that change their
 * group. */
bool fab_fair_settle(struct fab_fair *r);
/* The least rate of a node that receives, Mb/s; INFINITY: none. O(pipes). */
double fab_fair_least(const struct fab_fair *r);
