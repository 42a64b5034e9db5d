/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/reach.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void fab_reach_init(struct fab_reach *r, const struct fab_dist *dist, uint32_t n_switches)
{
	*r = (struct fab_reach){.one = fab_roots_one_new(dist), .n = n_switches};
	r->to_root = FAB_NEW((size_t)n_switches + 1, uint8_t);
	r->to_member = FAB_NEW((size_t)n_switches + 1, uint8_t);
}

void fab_reach_fini(struct fab_reach *r)
{
	if (r->one)
		fab_roots_one_free(r->one);
	free(r->to_root);
	free(r->to_member);
	*r = (struct fab_reach){0};
}

static void lower(uint8_t *hops, const uint8_t *row, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		hops[i] = row[i] < hops[i] ? row[i] : hops[i];
}

void fab_reach_set(struct fab_reach *r, const uint32_t *sw, uint32_t n)
{
	const struct fab_dist *dist = r->one->dist;

	r->height = fab_roots_one_find(r->one, sw, n);
	memset(r->to_root, FAB_HOPS_UNREACHABLE, r->n);
	memset(r->to_member, FAB_HOPS_UNREACHABLE, r->n);
	for (size_t w = 0; w < r->one->words; w++)
		for (uint64_t left = r->one->bits[w]; left; left &= left - 1) {
			uint32_t root =
				(uint32_t)w * 64 + (uint32_t)__builtin_ctzll(left);

			lower(r->to_root, fab_dist_row(dist, root), r->n);
		}
	for (uint32_t i = 0; i < n; i++)
		lower(r->to_member, fab_dist_row(dist, sw[i]), r->n);
}
