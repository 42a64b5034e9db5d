/* SPDX-License-Identifier: BSD-2-Clause */
/* Problems of a fabric, as an administrator would want them listed. */
#pragma once

#include "fabric/fabric.h"

enum fab_severity {
	FAB_NOTE,    /* worth knowing */
	FAB_PROBLEM, /* should be repaired */
};

/*
 * One thing found. `code` is stable and machine-readable; `message` says it in full, node
 * names as the fabric has them (not safe for a terminal). `node`, `port` and `cable` are
 * FAB_NONE where they do not apply; `line` is the line of the input, 0 unknown.
 *
 * Problems
 *   unknown-peer (a node without a record: the input is incomplete; before all others),
 *   one-sided-cable, conflicting-cable, port-out-of-range, duplicate-guid and the other
 *   warnings of the builder about the cabling; unconnected-part; speed-mismatch,
 *   width-mismatch (the two ends of a cable); slow-link, narrow-link (below what most
 *   cables of that kind have: switch links, host links and links of aggregation nodes
 *   apart); missing-lid, duplicate-lid; duplicate-name; duplicate-port-guid;
 *   adapter-without-switch; few-cables (two switches joined by fewer cables than most of
 *   the pairs of one of them in that direction have); few-uplinks (a switch with fewer
 *   cables up than more than half of its level)
 *   unequal-plane (fewer switches, cables or hosts than the other planes)
 * Notes
 *   unknown-rate (cables without speed or width in the input),
 *   small-plane (the same, but less than half),
 *   leaf-without-hosts (fabric/ranks.h),
 *   planes (parallel networks of the same hosts, fabric/planes.h; what is in several
 * parts otherwise is an unconnected-part), small-switch (few-uplinks, but with less than
 * half as much below it, too), self-loop, unnamed-adapter, aggregation-nodes,
 * missing-lids (no LID anywhere: the input has none), and what the reader noted (foreign
 * lines)
 */
struct fab_finding {
	const char *code;
	enum fab_severity severity;
	char *message;
	fab_node_id node;
	fab_port_id port;
	fab_cable_id cable;
	uint64_t line;
	/* Subject, independent of the order of the input: GUIDs of nodes,
	 * GUID/PORT of ports, ascending, apart by blanks; the message in quotes where
	 * neither is known. Safe for a terminal and on one line. */
	char *key;
};

struct fab_check {
	struct fab_finding *findings; /* problems first, each code in one run */
	uint32_t n_findings, n_problems;
	/* Of each class: how many cables, and the commonest width and speed (0 unknown;
	   of several equally common ones the lowest). */
	uint32_t n_cables[FAB_N_CABLE_CLASSES];
	uint8_t usual_width[FAB_N_CABLE_CLASSES];
	uint8_t usual_speed[FAB_N_CABLE_CLASSES]; /* enum fab_speed */
	uint32_t n_unknown_rates; /* cables without speed or width, not compared */
};

/*
 * Nodes that only the other ends of their cables name: the input has no record of them,
 * because it was cut off or is incomplete (warnings "unknown-peer"). O(warnings).
 */
uint32_t fab_check_without_record(const struct fab_fabric *f);

/*
 * Look at everything. Never NULL; the caller frees with fab_check_free().
 * O(n log n) in nodes and ports.
 */
struct fab_check *fab_check_new(const struct fab_fabric *f);
void fab_check_free(struct fab_check *check);
/* Frees the members of a finding. O(size). */
void fab_finding_fini(struct fab_finding *finding);

/*
 * Findings that repeat, put together for people: those of one code about cables between
 * one node and one host (or switch) that say the same of them, and those of one code
 * about ports of one host.
 */

struct fab_finding_group {
	uint32_t first; /* index of its first finding */
	uint32_t n;
	char *text; /* what is said of all; names as the fabric has them */
};

struct fab_finding_groups {
	struct fab_finding_group *v; /* [n] in the order of the first findings */
	uint32_t n;
};

/* The caller frees *out. O(findings log findings). */
void fab_finding_groups_init(const struct fab_fabric *f, const struct fab_check *check,
			     struct fab_finding_groups *out);
void fab_finding_groups_fini(struct fab_finding_groups *groups);

/* The finding that is most urgent, NULL without a problem: parts that are cut off, then
 * cables that are missing or wrong, then identities, then rates; codes unknown here
 * before rates. O(findings). */
const struct fab_finding *fab_check_worst(const struct fab_check *check);
