/* SPDX-License-Identifier: BSD-2-Clause */
/* A fabric that tests can take apart: nodes and cables to change, then to build from. */
#pragma once

#include "base/mem.h"
#include "fabric/fabric.h"

struct plan_node {
	enum fab_node_kind kind;
	uint64_t guid, sys_guid, port_guid[3]; /* switches: [0]; adapters: [1], [2] */
	uint16_t n_ports, lid[3];
	uint8_t lmc;
	char name[80];
	bool is_gone;
};

struct plan_end {
	uint32_t node;
	uint16_t port;
	uint8_t width, speed;
};

struct plan_cable {
	struct plan_end a, b;
	bool is_gone;
};

struct plan {
	FAB_VEC(struct plan_node) nodes;
	FAB_VEC(struct plan_cable) cables;
};

/* Append; returns the index. GUIDs and LIDs are counted up from the index. */
uint32_t plan_switch(struct plan *plan, const char *name, uint16_t n_ports);
uint32_t plan_adapter(struct plan *plan, const char *name);
/* 4xHDR at both ends. */
uint32_t plan_cable(struct plan *plan, uint32_t node_a, uint16_t port_a, uint32_t node_b,
		    uint16_t port_b);
/* n switches: the prefix and 1, 2, ...; returns the index of the first. */
uint32_t plan_switches(struct plan *plan, uint32_t n, const char *prefix,
		       uint16_t n_ports);
/* Between the lowest ports without a cable. O(cables). */
uint32_t plan_join(struct plan *plan, uint32_t a, uint32_t b);
/* An adapter that is joined to the switch; returns its index. */
__attribute__((format(printf, 3, 4))) uint32_t plan_host(struct plan *plan, uint32_t sw,
							 const char *format, ...);
/* A two-level tree: `leaves` leaf switches "leafN" with `hosts` hosts each ("nodeN
 * HCA-1", ports 1 ..), joined to each of `spines` switches "spineN". */
struct plan plan_tree(uint32_t leaves, uint32_t spines, uint32_t hosts);
/* Copy what the tests change of a fabric (up to two ports of an adapter). */
struct plan plan_from_fabric(const struct fab_fabric *f);
struct plan plan_copy(const struct plan *plan);
/*
 * Build, gone nodes and cables left out; `seed` shuffles the order of nodes and cables, 0
 * keeps it. Aborts the test when it fails.
 */
struct fab_fabric *plan_build(const struct plan *plan, uint64_t seed);
/* Build in the order of the plan, which ends. */
struct fab_fabric *plan_end(struct plan *plan);
void plan_free(struct plan *plan);
