/* SPDX-License-Identifier: BSD-2-Clause */
/* Ends of traffic: live host ports, by number and by name. */
#pragma once

#include "base/lookup.h"
#include "fabric/fabric.h"

struct fab_resolver;
struct fab_map64;

/* Live host ports, in the order of the fabric. */
struct fab_flow_ends {
	uint32_t n;
	uint32_t *port, *sw;
};

/* Ends on switches and cables that are not dead ([n_switches], [n_cables]; both NULL: all
 * live). The caller calls fini. O(ports). */
void fab_flow_ends_init(struct fab_flow_ends *ends, const struct fab_fabric *f,
			const bool *switch_is_dead, const bool *cable_is_dead);
void fab_flow_ends_fini(struct fab_flow_ends *ends);

/* Reader of names of ends, for files of flows; the fabric and the ends are borrowed. */
struct fab_end_names {
	const struct fab_fabric *f;
	struct fab_resolver *resolver;
	struct fab_lookup hosts;  /* --hosts and --job: patterns too */
	struct fab_lookup one;	  /* a line of a trace: names only */
	struct fab_map64 *end_of; /* port to number of the end */
};

/* The caller calls fini. O(nodes + ports). */
void fab_end_names_init(struct fab_end_names *names, const struct fab_fabric *f,
			const struct fab_flow_ends *ends);
void fab_end_names_fini(struct fab_end_names *names);
/*
 * Numbers of the ends that an item names, a host or adapter or a list of them; out is
 * zero before, the caller frees out->of.v, also after an error. ENOENT, EINVAL: one
 * sentence on an unknown name, or on a name of no live host adapter. O(len + matches).
 */
int fab_end_names_find(const struct fab_end_names *names, const struct fab_item *item,
		       struct fab_ids *out, struct fab_err *err) FAB_MUST_CHECK;
/*
 * Mark the ends of a list of hosts, of[end] = job. Ends of no job have FAB_NONE. EINVAL,
 * ENOENT: one sentence, also on one that is in another job. O(len + matches).
 */
int fab_end_names_mark(const struct fab_end_names *names,
		       const struct fab_flow_ends *ends, const char *list, uint32_t job,
		       uint32_t *of, struct fab_err *err) FAB_MUST_CHECK;
/* Keep the ends that are in a job, and their marks. O(ends). */
void fab_flow_ends_keep(struct fab_flow_ends *ends, uint32_t *of);
/* Keep those of lists of hosts; without a list all. EINVAL, ENOENT as above. */
int fab_flow_ends_choose(struct fab_flow_ends *ends, const struct fab_fabric *f,
			 const char *const *list, size_t n,
			 struct fab_err *err) FAB_MUST_CHECK;
