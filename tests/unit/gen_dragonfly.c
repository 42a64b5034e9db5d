/* SPDX-License-Identifier: BSD-2-Clause */
/* Dragonflies against their closed forms. */
#include "support/test.h"

/* g > 1 groups. */
static void check(uint32_t a, uint32_t p, uint32_t h, uint32_t g, const char *more)
{
	OWN_HEAP char *spec =
		fab_format("dragonfly:a=%u,p=%u,h=%u,g=%u%s", a, p, h, g, more);
	OWN(fab_fabric) *f = test_gen(spec);
	uint32_t least = a * h / (g - 1), used = a * h;
	/* [i * g + j]: cables between the groups i and j */
	OWN_HEAP uint32_t *between = FAB_NEW0((size_t)g * g, uint32_t);

	/* A link left over that only an odd number of groups could not pair stays free */
	if (g % 2 && (a * h % (g - 1)) % 2)
		used--;
	test_counts(f, a * g, a * g * p, g * a * (a - 1) / 2 + g * used / 2);
	for (uint32_t c = 0; c < f->n_switch_links; c++) {
		uint32_t i = f->port_node[f->cable_a[c]] / a;
		uint32_t j = f->port_node[f->cable_b[c]] / a;

		between[i * g + j]++;
		if (i != j)
			between[j * g + i]++;
	}
	for (uint32_t i = 0; i < g; i++) {
		uint32_t sum = 0;

		cr_assert_eq(between[i * g + i], a * (a - 1) / 2);
		for (uint32_t j = 0; j < g; j++) {
			sum += between[i * g + j];
			cr_assert(i == j || between[i * g + j] - least < 2,
				  "%s: %u cables between groups %u and %u", spec,
				  between[i * g + j], i, j);
		}
		cr_assert_eq(sum, used + a * (a - 1) / 2, "%s: group %u", spec, i);
	}
}

Test(gen_dragonfly, cables_between_groups_are_even)
{
	static const char *const wirings[] = {
		"", ",wiring=absolute", ",wiring=relative,ports=below",
		",wiring=circulant", ",wiring=random,seed=7"};

	for (uint32_t a = 1; a <= 5; a++)
		for (uint32_t h = 1; h <= 3; h++)
			for (uint32_t g = 2; g <= a * h + 1; g++)
				for (size_t i = 0; i < FAB_COUNT(wirings); i++)
					check(a, 2, h, g, wirings[i]);
}

/* The one of the paper; one group is a full mesh. */
Test(gen_dragonfly, diameters)
{
	OWN(fab_fabric) *f = test_gen("dragonfly:a=18,p=9,h=9");
	OWN(fab_fabric) *one = test_gen("dragonfly:a=6,p=1,h=3,g=1");

	check(18, 9, 9, 163, "");
	cr_assert_eq(fab_fabric_diameter(f, 1), 3);
	cr_assert_eq(one->n_switch_links, 15);
	cr_assert_eq(fab_fabric_diameter(one, 1), 1);
}

/* The group that global link j of group i goes to. */
static uint32_t target_of(int wiring, uint32_t i, uint32_t j, uint32_t g)
{
	const uint32_t targets[] = {
		(i + j + 1) % g, j < i ? j : j + 1, (i + g - j - 1) % g,
		j % 2 ? (i + g - j / 2 - 1) % g : (i + j / 2 + 1) % g};

	return targets[wiring];
}

Test(gen_dragonfly, wirings)
{
	enum { A = 4, P = 2, H = 2, G = 9 };
	static const char *const names[] = {"consecutive", "absolute", "relative",
					    "circulant"};

	for (int i = 0; i < 8; i++) {
		bool is_below = i / 4;
		OWN_HEAP char *spec =
			fab_format("dragonfly:a=4,p=2,h=2,wiring=%s,ports=%s",
				   names[i % 4], is_below ? "below" : "above");
		OWN(fab_fabric) *f = test_gen(spec);

		cr_assert_str_eq(fab_node_name(f, 6), "g1-2");
		for (uint32_t sw = 0; sw < A; sw++) /* to the others of its group */
			for (uint32_t j = 0; j < A - 1; j++)
				cr_assert_eq(f->port_node[test_peer(
						     f, sw, P + 1 + is_below * H + j)],
					     j < sw ? j : j + 1);
		for (uint32_t group = 0; group < G; group++)
			for (uint32_t link = 0; link < A * H; link++) {
				uint32_t sw = group * A + link / H;
				uint32_t port = P + (is_below ? 1 : A) + link % H;
				uint32_t peer = f->port_node[test_peer(f, sw, port)];

				cr_assert_eq(peer / A, target_of(i % 4, group, link, G),
					     "%s: %u.%u", spec, group, link);
			}
	}
}
