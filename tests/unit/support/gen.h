/* SPDX-License-Identifier: BSD-2-Clause */
/* Generated fabrics and slow, plain measures of them. */
#pragma once

#include "base/rng.h"
#include "fabric/dist.h"
#include "fabric/fabric.h"

/*
 * Generate; asserts that it succeeds and what holds for every generated fabric: it is in
 * one piece, without warnings, names and GUIDs and LIDs as documented, hosts in the order
 * of their switches, used ports within the node's ports.
 */
struct fab_fabric *test_gen(const char *spec);
/* Only that it succeeds. */
struct fab_fabric *test_gen_raw(const char *spec);

/* Switch by name; asserts that it exists. O(switches). */
uint32_t test_switch(const struct fab_fabric *f, const char *name);

/* Asserts that it has so many of them. */
void test_counts(const struct fab_fabric *f, uint32_t switches, uint32_t hosts,
		 uint32_t switch_links);

/* The port at the other end of the cable at port `port` of a node. */
static inline uint32_t test_peer(const struct fab_fabric *f, uint32_t node, uint32_t port)
{
	return fab_port_peer(f, fab_port_find(f, node, port));
}

/* Hops between all switches, found on one thread. */
struct fab_dist *test_dist(const struct fab_fabric *f);

/* Distinct neighbour switches of a switch. */
static inline uint32_t test_degree(const struct fab_fabric *f, uint32_t sw)
{
	return f->peer_first[sw + 1] - f->peer_first[sw];
}

/* Adapters cabled to a switch. */
uint32_t test_n_hosts_on(const struct fab_fabric *f, uint32_t sw);

/*
 * The same graph with its nodes added in a random order and its ports in their old
 * places.
 */
struct fab_fabric *test_shuffled(const struct fab_fabric *f, uint64_t seed);
/* The same fabric without one of its cables. */
struct fab_fabric *test_without_cable(const struct fab_fabric *f, uint32_t cable);
/* The same fabric with one more cable between two switches, or at one (a self-loop). */
struct fab_fabric *test_with_cable(const struct fab_fabric *f, uint32_t a, uint32_t b);
/* The same fabric with one more adapter on each of the switches. */
struct fab_fabric *test_with_hosts(const struct fab_fabric *f, const uint32_t *switches,
				   uint32_t n);

/* The same fabric without some cables between switches: one in `one_of`, none when 0. */
struct fab_fabric *test_without(const struct fab_fabric *f, uint32_t one_of,
				struct fab_rng *rng);

/* 0 .. n - 1 in a random order, without a generator in theirs; freed by the caller. */
uint32_t *test_order(size_t n, struct fab_rng *rng);

/* The same fabric after edits. */
struct fab_fabric *test_edited(const struct fab_fabric *f, const char *edits);

/* What was read has the nodes and ports of the fabric that was written, by their GUIDs.
 */
void test_same_fabric(const struct fab_fabric *written, const struct fab_fabric *read);
