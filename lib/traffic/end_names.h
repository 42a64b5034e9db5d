/* SPDX-License-Identifier: BSD-2-Clause */
/* Ends of traffic by the names of hosts and adapters, for files of flows. */
#pragma once

#include "base/lookup.h"
#include "traffic/ends.h"

struct fab_resolver;
struct fab_map64;

/* What reads names; the fabric and the ends are borrowed. */
struct fab_end_names {
	const struct fab_fabric *f;
	struct fab_resolver *resolver;
	struct fab_lookup lookup;
	struct fab_map64 *end_of; /* port to number of the end */
};

/* The caller ends it. O(nodes + ports). */
void fab_end_names_init(struct fab_end_names *names, const struct fab_fabric *f,
			const struct fab_flow_ends *ends);
void fab_end_names_fini(struct fab_end_names *names);
/* The two items of a line, apart by blanks; borrowed. EINVAL. O(line). */
int fab_end_names_pair(const struct fab_end_names *names, const char *text, size_t len,
		       struct fab_item pair[2], struct fab_err *err) FAB_MUST_CHECK;
/*
 * Numbers of the ends that an item names, a host or adapter or a list of them; out is
 * zero before, the caller frees out->of.v, also after an error. ENOENT, EINVAL: one
 * sentence on a name that is none, or none of a live host adapter. O(len + matches).
 */
int fab_end_names_find(const struct fab_end_names *names, const struct fab_item *item,
		       struct fab_ids *out, struct fab_err *err) FAB_MUST_CHECK;
