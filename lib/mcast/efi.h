/* SPDX-License-Identifier: BSD-2-Clause */
/* What the loads of a routing amount to: edge forwarding index (EFI) of every cable. */
#pragma once

#include "mcast/route.h"

struct fab_efi {
	uint32_t max;	   /* over switch-to-switch cables */
	uint32_t max_all;  /* host cables too */
	double mean;	   /* over all switch-to-switch cables, unused ones too */
	uint32_t n_at_max; /* switch-to-switch cables with the largest EFI; 0 when that is
			      0 */
	uint32_t max_height; /* switch hops */
	uint64_t tree_links; /* switch-to-switch, summed over groups */
	/* weighted load of a switch-to-switch cable, NaN without weights */
	double max_load, mean_load;
};

/* O(cables + members). */
void fab_efi_of(const struct fab_mcast_problem *problem,
		const struct fab_mcast_result *result, struct fab_efi *out);

/*
 * count[e] = switch-to-switch cables of EFI e, for e = 0 .. max; on the heap, the caller
 * frees. O(cables).
 */
uint32_t *fab_efi_histogram(const struct fab_fabric *f, const uint32_t *load,
			    uint32_t max);

/*
 * The `want` fullest switch-to-switch cables, fullest first, then by cable id; unused
 * ones are left out. By their weighted loads unless `weighted` is NULL. Writes at most
 * `want` ids to `out`, returns how many. O(cables log want).
 */
uint32_t fab_efi_fullest(const struct fab_fabric *f, const uint32_t *load,
			 const double *weighted, uint32_t want, uint32_t *out);
