/* SPDX-License-Identifier: BSD-2-Clause */
/* Problems of a fabric, as an administrator would want them listed. */
#pragma once

#include "base/arena.h"
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
 *   cables up than more than half of its level); mixed-rails (a host whose two adapters
 *   are cabled the other way round than those of the other hosts on these switches)
 *   unequal-plane (fewer switches, cables or hosts than the other planes)
 * Notes
 *   unknown-rate (cables without speed or width in the input),
 *   small-plane (the same, but less than half),
 *   side-cable (within a level of a tree, where at most one cable in 16 is one),
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
	/* the other end, of a cable or of two switches; FAB_NONE: none */
	fab_node_id peer_node;
	fab_port_id peer_port;
	uint64_t line;
	/* Subject, independent of the order of the input: GUIDs of nodes,
	 * GUID/PORT of ports, ascending, apart by blanks; the message in quotes where
	 * neither is known. Safe for a terminal and on one line. */
	char *key;
};

struct fab_check {
	struct fab_arena arena;	      /* texts of findings */
	struct fab_finding *findings; /* problems first, each code in one run */
	uint32_t n_findings, n_problems;
	struct fab_finding *known; /* accepted problems, taken out (source/known.h) */
	uint32_t n_known;
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

/*
 * A cause of findings, in a line for people: it names both ends of a cable and says what
 * to look at. Cables, ports and adapters of which the same is said are one cause.
 */
struct fab_cause {
	const char *code;
	enum fab_severity severity;
	uint32_t first, n; /* index of its first finding; how many there are */
	const char *text;  /* names as the fabric has them */
};

/*
 * The causes of n findings as they stand in a check, *n_causes of them, in `arena`:
 * problems before notes, of each the most urgent first. O(findings log findings), and for
 * three switches with missing cables of each kind O(cables).
 */
struct fab_cause *fab_causes(const struct fab_fabric *f,
			     const struct fab_finding *findings, uint32_t n,
			     struct fab_arena *arena, uint32_t *n_causes);

/* The finding that is most urgent, NULL without a problem: parts that are cut off, then
 * cables that are missing or wrong, then identities, then rates; codes unknown here
 * before rates. O(findings). */
const struct fab_finding *fab_check_worst(const struct fab_check *check);
