/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/trees.h"

#include "base/mem.h"
#include "base/rng.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

uint32_t trees_draw_switches(const struct fab_fabric *f, uint32_t most, uint64_t seed,
			     uint32_t *sw)
{
	uint32_t want = 2 + (uint32_t)(fab_mix64(seed) % (most - 1)), n = 0;

	want = want < f->n_switches ? want : f->n_switches;
	for (uint64_t i = 0; n < want; i++) {
		uint32_t one = (uint32_t)(fab_mix64(seed * 64 + i) % f->n_switches), j;

		for (j = 0; j < n && sw[j] != one;)
			j++;
		if (j == n)
			sw[n++] = one;
	}
	return n;
}

static uint32_t other_end(const struct fab_fabric *f, uint32_t cable, uint32_t sw)
{
	uint32_t a = f->port_node[f->cable_a[cable]];

	return a == sw ? f->port_node[f->cable_b[cable]] : a;
}

uint32_t *trees_check(const struct fab_fabric *f, uint32_t root,
		      const struct fab_grown *tree, const uint32_t *member,
		      uint32_t n_members, unsigned height)
{
	uint32_t *parent = FAB_NEW(f->n_switches, uint32_t);
	uint32_t *n_below = FAB_NEW0(f->n_switches, uint32_t);

	memset(parent, 0xff, f->n_switches * sizeof(*parent));
	for (uint32_t i = 0; i < tree->n; i++) {
		uint32_t sw = tree->sw[i];

		cr_assert_eq(parent[sw], FAB_NONE, "two parents");
		parent[sw] = other_end(f, tree->cable[i], sw);
		n_below[parent[sw]]++;
	}
	cr_assert_eq(parent[root], FAB_NONE);
	for (uint32_t i = 0; i < n_members; i++) {
		unsigned depth = 0;

		for (uint32_t s = member[i]; s != root; s = parent[s]) {
			cr_assert_neq(s, FAB_NONE, "a member is left out");
			cr_assert_lt(depth, height, "too deep");
			depth++;
		}
		n_below[member[i]]++;
	}
	for (uint32_t i = 0; i < tree->n; i++)
		cr_assert_gt(n_below[tree->sw[i]], 0, "for nobody");
	free(n_below);
	return parent;
}
