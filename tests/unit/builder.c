/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/builder.h"

#include "support/node.h"
#include "support/test.h"

static void end(struct fab_builder *b, uint32_t node, uint16_t port, uint32_t peer,
		uint16_t peer_port, uint8_t width, uint8_t speed, uint64_t line)
{
	struct fab_end e = {.node = node,
			    .peer = peer,
			    .port = port,
			    .peer_port = peer_port,
			    .width = width,
			    .speed = speed,
			    .line = line};

	fab_builder_add_end(b, &e);
}

static struct fab_fabric *finish(struct fab_builder *b)
{
	struct fab_fabric *f = NULL;

	MUST(fab_builder_finish(b, "test", "generated", NULL, &f, ERR));
	return f;
}

/* An adapter between two switches in the order of adding; parallel cables; a self-loop:
 * switches are numbered first, and the fingerprint ignores order, names and rates. */
Test(builder, numbers_and_fingerprint)
{
	struct fab_builder *b = fab_builder_new(), *c = fab_builder_new();
	uint32_t h = test_node(b, FAB_ADAPTER, 0xa, 2, "host HCA-1");
	uint32_t s = test_node(b, FAB_SWITCH, 0xb, 36, "s");
	uint32_t t = test_node(b, FAB_SWITCH, 0xc, 36, "t");
	uint32_t ct = test_node(c, FAB_SWITCH, 0xc, 36, "other");
	uint32_t cs = test_node(c, FAB_SWITCH, 0xb, 36, "names");
	uint32_t ch = test_node(c, FAB_ADAPTER, 0xa, 2, "here");
	OWN(fab_fabric) *f = NULL, *same = NULL, *ring = test_ring(5);

	end(b, h, 1, s, 7, 4, FAB_EDR, 1);
	end(b, s, 7, h, 1, 4, FAB_EDR, 2);
	end(b, s, 20, t, 3, 4, FAB_HDR, 3);
	end(b, t, 3, s, 20, 4, FAB_HDR, 4);
	end(b, t, 2, s, 21, 4, FAB_HDR, 5);
	end(b, s, 21, t, 2, 4, FAB_HDR, 6);
	end(b, t, 10, t, 11, 1, FAB_SDR, 7);
	end(b, t, 11, t, 10, 1, FAB_SDR, 8);
	f = finish(b);
	test_counts(f, 2, 1, 3);
	cr_assert_str_eq(fab_node_name(f, 0), "s");
	cr_assert_str_eq(fab_node_name(f, 2), "host HCA-1");
	/* s: 0 7 20 21; t: 0 2 3 10 11; host: 1 */
	cr_assert(f->n_warnings == 0 && f->n_cables == 4 && f->n_ports == 10);
	cr_assert(fab_port_find(f, 1, 2) == 5 && fab_port_find(f, 1, 9) == FAB_NONE);
	cr_assert_eq(test_peer(f, 1, 2), fab_port_find(f, 0, 21));
	/* the self-loop is a cable but no arc; parallel cables are two arcs, one peer */
	cr_assert(f->arc_first[2] == 4 && f->peer_first[2] == 2);

	fab_builder_add_cable(c, ct, 11, ct, 10, 4, FAB_NDR);
	fab_builder_add_cable(c, ct, 3, cs, 20, 4, FAB_NDR);
	fab_builder_add_cable(c, ct, 2, cs, 21, 4, FAB_NDR);
	fab_builder_add_cable(c, ch, 1, cs, 7, 4, FAB_NDR);
	same = finish(c);
	cr_assert_eq(fab_fabric_fingerprint(f), fab_fabric_fingerprint(same));
	cr_assert_neq(fab_fabric_fingerprint(f), fab_fabric_fingerprint(ring));
}

/* Three switches of eight ports, 0 to 2. */
static struct fab_builder *three(void)
{
	struct fab_builder *b = fab_builder_new();

	test_node(b, FAB_SWITCH, 1, 8, "s");
	test_node(b, FAB_SWITCH, 2, 8, "t");
	test_node(b, FAB_SWITCH, 3, 8, "u");
	return b;
}

Test(builder, ends_that_disagree)
{
	struct fab_builder *b = three();
	OWN(fab_fabric) *f = NULL;
	uint32_t kept;

	end(b, 0, 7, 1, 7, 4, FAB_QDR, 17); /* told by one end only */
	end(b, 2, 1, 1, 6, 4, FAB_QDR, 1);  /* t knows nothing of u */
	end(b, 0, 5, 1, 6, 1, FAB_SDR, 2);  /* of two rates */
	end(b, 1, 6, 0, 5, 4, FAB_DDR, 3);
	end(b, 0, 5, 2, 2, 4, FAB_QDR, 4); /* a second cable on the port */
	end(b, 0, 1, 0, 1, 4, FAB_QDR, 5); /* a port on itself */
	f = finish(b);
	kept = fab_port_find(f, 0, 5);
	cr_assert(f->n_switch_links == 2 && f->n_warnings_total == 6);
	cr_assert_eq(f->port_cable[fab_port_find(f, 2, 1)], FAB_NONE);
	cr_assert_eq(f->port_speed[fab_port_find(f, 1, 7)], FAB_QDR);
	cr_assert_eq(find_warning(f, "one-sided-cable", 0)->line, 17);
	cr_assert_eq(find_warning(f, "width-mismatch", 0)->line, 2);
	cr_assert_eq(find_warning(f, "speed-mismatch", 0)->line, 2);
	cr_assert_float_eq(fab_cable_gbps(f, f->port_cable[kept]), 2.5, 1e-9);
}

Test(builder, warnings_are_bounded_but_counted)
{
	struct fab_builder *b = three();
	OWN(fab_fabric) *f = NULL;

	fab_builder_add_cable(b, 0, 1, 1, 1, 4, FAB_HDR);
	for (int i = 0; i < 250; i++)
		fab_builder_warn(b, "foreign-line", 5, "x");
	f = finish(b);
	cr_assert(f->n_warnings == 101 && f->n_warnings_total == 250);
	cr_assert_str_eq(f->warnings[100].message, "150 more like these");
}

Test(builder, nothing_to_build_is_an_error)
{
	struct fab_builder *b = fab_builder_new();
	struct fab_fabric *f;

	test_node(b, FAB_ADAPTER, 1, 1, "h");
	FAILS_AS(fab_builder_finish(b, "x.txt", "t", NULL, &f, ERR), -EINVAL,
		 "x.txt: no switch in it (1 adapter)");
	b = fab_builder_new();
	test_node(b, FAB_SWITCH, 1, 1, "s");
	FAILS_AS(fab_builder_finish(b, "x.txt", "t", NULL, &f, ERR), -EINVAL,
		 "x.txt: no cable in it (1 switch, 0 adapters)");
}

Test(builder, lids_from_another_description)
{
	OWN(fab_fabric) *from = test_ring(4), *f = NULL; /* hosts have LIDs 1 to 4 */
	struct fab_builder *b = fab_builder_new();
	uint32_t s = test_node(b, FAB_SWITCH, 0x10002, 8, "s"),
		 h = test_node(b, FAB_ADAPTER, 0x5, 1, "h");
	uint32_t i = test_node(b, FAB_ADAPTER, 0x6, 1, "i"), n_with, n_without;

	fab_builder_set_port(b, h, 1, 0x30001, 77, 0); /* the ring's second host */
	fab_builder_set_port(b, i, 1, 0x99999, 78, 0); /* not in the ring */
	fab_builder_add_cable(b, s, 1, h, 1, 4, FAB_HDR);
	fab_builder_add_cable(b, s, 2, i, 1, 4, FAB_HDR);
	cr_assert_eq(fab_builder_take_lids(b, from, &n_with, &n_without), 1,
		     "its switches have none");
	cr_expect_eq(n_with, 1);
	cr_expect_eq(n_without, 1);
	f = finish(b);
	cr_assert_eq(f->port_lid[fab_port_find(f, 1, 1)], 2);
	cr_assert_eq(f->port_guid[fab_port_find(f, 1, 1)], 0x30001);
	cr_assert_eq(f->port_lid[fab_port_find(f, 2, 1)], 78);
}

/* As the specification codes them: 8b/10b up to QDR, 64b/66b from FDR on. */
Test(builder, data_rates)
{
	cr_expect_float_eq(4 * fab_speed_data_gbps(FAB_QDR), 32, 1e-9);
	cr_expect_float_eq(4 * fab_speed_data_gbps(FAB_FDR), 54.5, 0.05);
	cr_expect_float_eq(4 * fab_speed_data_gbps(FAB_EDR), 100, 1e-9);
	cr_expect_float_eq(fab_speed_data_gbps(FAB_SPEED_UNKNOWN), 0, 0);
	cr_expect_float_eq(fab_speed_data_gbps((enum fab_speed)99), 0, 0);
}
