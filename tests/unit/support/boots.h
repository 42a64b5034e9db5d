/* SPDX-License-Identifier: BSD-2-Clause */
/* Machines, batches and mappings for tests of lib/boot; failure fails the test. */
#pragma once

#include "base/rng.h"
#include "boot/mapping.h"

/* By the grammar of the command line; fab_machine_free(). */
struct fab_machine *boots_machine(const char *spec);
/* By the lines of a file. */
struct fab_machine *boots_read(const char *text);
/* Of this form, "block:N"; fails the test when there is none. */
const struct fab_mapping_engine *boots_engine(const char *form);
/* A random tree of switches s0 .., nodes n0 .. and servers v0 ..; each segment has `rate`
 * times 1 to n_rates Mb/s. */
struct boots_kind {
	uint32_t n;
	uint64_t rate, n_rates;
};
struct fab_machine *boots_draw(struct fab_rng *rng, const struct boots_kind kind[3]);
/* Four switches, six nodes, three servers. */
struct fab_machine *boots_random_machine(uint64_t seed);
/* fab_batch_fini(). */
struct fab_batch boots_batch(const struct fab_machine *m, const char *spec);
/* Interfaces of all nodes by an algorithm, analysed; free(). */
uint32_t *boots_map(const struct fab_machine *m, const char *name,
		    const struct fab_batch *batch);
/* What the slowest node of a batch gets, Mb/s. */
double boots_share(const struct fab_machine *m, const struct fab_batch *batch,
		   const uint32_t *interface_of);
/* The most of that when each node whose interface is FAB_NONE gets any of a server that
 * is up, by all of these; nodes before `node` have one. */
double boots_best(const struct fab_machine *m, const struct fab_batch *batch,
		  uint32_t *interface_of, uint32_t node);
/* Servers of a list are down; at least one is left. */
void boots_fail_server(struct fab_machine *m, const char *list);
