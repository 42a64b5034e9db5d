/* SPDX-License-Identifier: BSD-2-Clause */
/* Unicast tables by an engine, and their analysis, which a second one confirms. */
#pragma once

#include "event/stream.h"
#include "support/own.h"
#include "unicast/analysis.h"
#include "unicast/engine.h"
#include "unicast/faults.h"

/* Tables by an engine, and their analysis on one thread, with loads; both succeed. */
struct fab_routes *test_route(const struct fab_unicast_problem *problem,
			      const char *engine);
struct fab_analysis test_analysis(const struct fab_routes *routes, enum fab_ends ends);
/* A kfat, recognized, and what is dead there. */
struct kfat_net {
	struct fab_fabric *f;
	struct fab_kfat *k;
	struct fab_faults *faults;
};

/* Takes the fabric, in which nothing is dead. */
struct kfat_net kfat_net_of(struct fab_fabric *f);
/* A generated one with these switches dead, NULL: none. */
struct kfat_net kfat_net(const char *spec, const char *dead);
void kfat_net_fini(struct kfat_net *n);
OWN_VALUE(kfat_net, kfat_net_fini)
/* What a permutation puts on the cables, by tables of the network. */
struct fab_flow_load test_load(const struct kfat_net *n, const struct fab_routes *r,
			       const char *permutation);
/* With these switches dead. */
struct fab_faults *test_faults(const struct fab_fabric *f, const char *switches);
/* Tables of lanes, by switch, port in, port out and level, to be filled. */
void test_lane_tables(struct fab_routes *routes);
/* Kills n parts of a kind, by chance, and nothing else. */
void test_draw_faults(struct fab_faults *faults, enum fab_fault_kind kind, size_t n,
		      struct fab_stream *stream);
/* Tables by an engine, of the kfat that it may need, on one thread. */
struct fab_routes *test_tables(const struct fab_fabric *f,
			       const struct fab_faults *faults, const char *engine,
			       unsigned max_vls);
/* The analysis, with which fab_unicast_verify() agrees. */
struct fab_analysis test_verified(const struct fab_routes *routes, enum fab_ends ends);
/* Those of pairs, hops, cycles and valleys are the same. */
void test_same_figures(const struct fab_analysis *a, const struct fab_analysis *b);
/* All figures and lists but the loads are the same. */
void test_same_analysis(const struct fab_analysis *a, const struct fab_analysis *b);
