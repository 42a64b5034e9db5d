/* SPDX-License-Identifier: BSD-2-Clause */
/* Dragonflies against their closed forms. */
#include "support/gen.h"

#include "base/mem.h"
#include "fabric/dist.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

/* between[i * g + j]: cables between the groups i and j. */
static uint32_t *group_cables(const struct fab_fabric *f, uint32_t a, uint32_t g)
{
	uint32_t *between = FAB_NEW0((size_t)g * g, uint32_t);

	for (uint32_t c = 0; c < f->n_switch_links; c++) {
		uint32_t i = f->port_node[f->cable_a[c]] / a;
		uint32_t j = f->port_node[f->cable_b[c]] / a;

		between[i * g + j]++;
		if (i != j)
			between[j * g + i]++;
	}
	return between;
}

static void check(uint32_t a, uint32_t p, uint32_t h, uint32_t g)
{
	char spec[64];
	struct fab_fabric *f;
	uint32_t *between, least = a * h / (g - 1), used = a * h;

	snprintf(spec, sizeof(spec), "dragonfly:a=%u,p=%u,h=%u,g=%u", a, p, h, g);
	f = test_gen(spec);
	/* A link left over that only an odd number of groups could not pair stays free */
	if (g % 2 && (a * h % (g - 1)) % 2)
		used--;
	cr_assert_eq(f->n_switches, a * g, "%s", spec);
	cr_assert_eq(f->n_hosts, a * g * p, "%s", spec);
	cr_assert_eq(f->n_switch_links, g * a * (a - 1) / 2 + g * used / 2, "%s", spec);
	between = group_cables(f, a, g);
	for (uint32_t i = 0; i < g; i++) {
		uint32_t sum = 0;

		for (uint32_t j = 0; j < g; j++) {
			if (i == j) {
				cr_assert_eq(between[i * g + j], a * (a - 1) / 2);
				continue;
			}
			sum += between[i * g + j];
			cr_assert(between[i * g + j] == least ||
					  between[i * g + j] == least + 1,
				  "%s: %u cables between groups %u and %u", spec,
				  between[i * g + j], i, j);
		}
		cr_assert_eq(sum, used, "%s: group %u has %u", spec, i, sum);
	}
	free(between);
	fab_fabric_free(f);
}

Test(gen_dragonfly, cables_between_groups_are_even)
{
	for (uint32_t a = 1; a <= 5; a++)
		for (uint32_t h = 1; h <= 3; h++)
			for (uint32_t g = 2; g <= a * h + 1; g++)
				check(a, 2, h, g);
}

Test(gen_dragonfly, size_of_the_paper)
{
	struct fab_fabric *f = test_gen("dragonfly:a=18,p=9,h=9");
	uint32_t *between = group_cables(f, 18, 163);

	cr_assert_eq(f->n_switches, 163 * 18);
	cr_assert_eq(f->n_hosts, 26406);
	cr_assert_eq(f->n_switch_links, 163 * 153 + 163 * 162 / 2);
	cr_assert_eq(fab_fabric_diameter(f, 1), 3);
	for (uint32_t s = 0; s < f->n_switches; s++)
		cr_assert_eq(f->arc_first[s + 1] - f->arc_first[s], 17 + 9);
	for (uint32_t i = 0; i < 163 * 163; i++)
		cr_assert_eq(between[i], i / 163 == i % 163 ? 153 : 1);
	free(between);
	fab_fabric_free(f);
}

/* Global link j of group A goes to group A + j + 1. */
Test(gen_dragonfly, wiring)
{
	enum { A = 4, P = 2, H = 2, G = 9 };
	struct fab_fabric *f = test_gen("dragonfly:a=4,p=2,h=2");

	for (uint32_t group = 0; group < G; group++)
		for (uint32_t link = 0; link < A * H; link++) {
			uint32_t sw = group * A + link / H;
			uint32_t port = fab_port_find(f, sw, P + A + link % H);
			uint32_t peer = f->port_node[fab_port_peer(f, port)];

			cr_assert_eq(peer / A, (group + link + 1) % G);
		}
	for (uint32_t i = 0; i < A; i++)
		for (uint32_t j = 0; j < A - 1; j++) {
			uint32_t port = fab_port_find(f, i, P + 1 + j);

			cr_assert_eq(f->port_node[fab_port_peer(f, port)],
				     j < i ? j : j + 1);
		}
	cr_assert_str_eq(fab_node_name(f, 6), "g1-2");
	fab_fabric_free(f);
}

Test(gen_dragonfly, one_group_is_a_full_mesh)
{
	struct fab_fabric *f = test_gen("dragonfly:a=6,p=1,h=3,g=1");

	cr_assert_eq(f->n_switch_links, 15);
	cr_assert_eq(fab_fabric_diameter(f, 1), 1);
	fab_fabric_free(f);
}
