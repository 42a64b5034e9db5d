/* SPDX-License-Identifier: BSD-2-Clause */
/* Host lists, topology.conf for the plugins topology/tree and topology/block, and
 * topology.yaml, as Slurm has them. */
#pragma once
#include <stdio.h>

#include "base/err.h"
#include "base/macros.h"
#include "fabric/fabric.h"

/*
 * Fold different names into one host list, as node[001-128,130]: names that differ only
 * in the number at their end (of at most 6 digits, not the end of a GUID) share brackets,
 * runs of numbers become ranges, leading zeros are kept. Sorted as people count, whatever
 * the order of `names`. Names must be free of blanks, commas and brackets. The caller
 * frees. O(n log n).
 */
char *fab_hostlist_fold(const char *const *names, size_t n);

/* Notes for the reader of a topology.conf; also said in its comments. */
struct fab_slurm_notes {
	uint32_t n_hosts;  /* listed, each once */
	uint32_t n_leaves; /* switches that list hosts */
	uint32_t
		n_roots; /* parts of the fabric with hosts: Slurm keeps jobs within one */
	uint32_t n_split;      /* hosts with adapters on several switches */
	uint32_t n_unnamed;    /* hosts called H-<GUID> for want of a name */
	uint32_t n_unattached; /* hosts left out: no cable to a switch */
	uint32_t n_topologies; /* of a topology.yaml */
	uint32_t n_blockless;  /* hosts on leaves that are too small for a block */
};

/*
 * Write a tree: a line for every switch with hosts (`SwitchName=leaf1 Nodes=n[001-018]`),
 * a line for every group of switches above them (`SwitchName=spine1
 * Switches=leaf[1-20]`), one root for each connected part.
 *
 * A host stands on the switch of its first adapter, by name, that has a cable to one. A
 * group is a set of switches joined by switches of at most the same height above the
 * hosts (fabric/ranks.h): the pods of a fat tree, then what joins them; of a
 * dragonfly, its groups first. It has the name of the first of its topmost switches, or a
 * made-up one (`group1`) where all of these have hosts and a line of their own, as in a
 * torus. Switches without hosts below them are left out. Names hold only alphanumeric
 * characters,
 * `.`, `_` and `-`, at most 64 characters, each once: the short name (fab_label_short),
 * else `S-<GUID>`, of hosts `H-<GUID>`.
 *
 * Fails with EINVAL when no host has a cable to a switch; errors of writing are left to
 * ferror(out). `notes` may be NULL. O(n log n).
 */
int fab_export_slurm(FILE *out, const struct fab_fabric *f, struct fab_slurm_notes *notes,
		     struct fab_err *err) FAB_MUST_CHECK;

/*
 * Write a topology.yaml of Slurm 25.05 (topology.yaml(5)): a topology of the type tree
 * for each rail, called `rail1` and so on; the first one is the default of the cluster.
 * Rail N has each host on the switch of its Nth cabled port, by name of adapter, then
 * port; a rail on which all hosts have the switches of another one is left out. Else as
 * fab_export_slurm(). O(rails * n log n).
 */
int fab_export_slurm_yaml(FILE *out, const struct fab_fabric *f,
			  struct fab_slurm_notes *notes,
			  struct fab_err *err) FAB_MUST_CHECK;

/*
 * Write a topology.conf for topology/block: a block for the hosts of each leaf, in the
 * order of the tree of fab_export_slurm(), and BlockSizes: the least number of hosts of a
 * block, then those of 2, 4, 8 ... blocks where such runs do not cross the limits of
 * groups, up to all. Leaves with less than half of the usual number of hosts are no
 * block: their hosts are left out, and named in a comment. Else as fab_export_slurm().
 */
int fab_export_slurm_block(FILE *out, const struct fab_fabric *f,
			   struct fab_slurm_notes *notes,
			   struct fab_err *err) FAB_MUST_CHECK;
