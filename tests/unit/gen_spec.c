/* SPDX-License-Identifier: BSD-2-Clause */
/* The grammar of generated fabrics, what all families share, and what is refused. */
#include "base/progress.h"
#include "source/source.h"
#include "support/test.h"

Test(gen_spec, bad_specs_are_explained)
{
	static const struct {
		const char *spec, *text;
	} cases[] = {
		{"",
		 "gen:: there is no such kind; the kinds are: fattree pgft torus mesh "
		 "dragonfly kfat hyperx random bluelight taihulight"},
		{"torus", "gen:torus: key dims is missing (sizes, such as 8x8x8)"},
		{"torus:dims", "gen:torus: key dims has no value: dims=..."},
		{"torus:dims=", "gen:torus: dims=: 1 to 16 numbers from 1 to "},
		{"torus:dims=4x0", "gen:torus: dims=4x0: 1 to 16 numbers from 1 to"},
		{"torus:dims=4/4", "separated by 'x' are needed"},
		{"torus:dims=1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1", "1 to 16 numbers"},
		{"torus:dims=4x4,", "gen:torus: nothing follows the last comma"},
		{"torus:dims=4x4,,hosts=1", "gen:torus: there is no key ''"},
		{"torus:dims=4x4,dims=4x4", "gen:torus: key dims is given twice"},
		{"torus:dims=4x4,hosts=-1",
		 "gen:torus: hosts=-1: a number from 0 to 65534 is needed (hosts a switch)"},
		{"torus:dims=4x4,hosts=65534", "more than the 65534 ports"},
		{"torus:dims=1,hosts=0", "cable"},
		{"torus:dims=4,speed=fast", "speed=fast: SDR, DDR, QDR, FDR10"},
		{"torus:dims=4,width=3", "width=3: 1, 2, 4, 8 or 12 is needed"},
		{"torus:dims=4,width=13", "gen:torus: width=13: a number from 1 to 12"},
		{"torus:dims=4,name-prefix=a b", "name-prefix=a b: at most 24"},
		{"torus:dims=4,name-prefix=aaaaaaaaaaaaaaaaaaaaaaaaa",
		 "at most 24 letters"},
		{"fattree:radix=0", "a number from 2 to 65534 is needed"},
		{"fattree:radix=8,levels=0", "levels=0: a number from 1 to 16"},
		{"fattree:radix=8,hosts=5",
		 "hosts=5: a leaf switch of radix 8 has room for 4"},
		{"pgft:m=4/4", "gen:pgft: key w is missing (parents of a node, level 1"},
		{"pgft:m=4/4,w=1", "gen:pgft: m has 2 numbers but w has 1"},
		{"pgft:m=4/4,w=1/2,p=1", "gen:pgft: m has 2 numbers but p has 1"},
		{"pgft:h=3,m=4/4,w=1/2", "gen:pgft: h=3 but m has 2 numbers"},
		{"pgft:m=4x4,w=1/2", "separated by '/' are needed"},
		{"pgft:m=4/65534,w=1/2,p=1/65534", "more than the 65534 ports"},
		{"dragonfly:a=4,p=2", "gen:dragonfly: key h is missing"},
		{"dragonfly:a=4,p=2,h=2,g=10",
		 "gen:dragonfly: g=10: a*h+1 = 9 groups is the most that a=4,h=2 can join"},
		{"dragonfly:a=4,p=1,h=1,wiring=round",
		 "gen:dragonfly: wiring=round: expected consecutive, absolute, relative, circulant or random"},
		{"dragonfly:a=60000,p=1,h=60000", "more than the 65534 ports"},
		{"dragonfly:a=30000,p=1,h=30000", "more than the 67108864 switches"},
		{"kfat:dims=4x4,radix=4", "gen:kfat: radix is for levels=2"},
		{"kfat:dims=4x4,levels=2,radix=3", "levels=2 needs radix, an even"},
		{"kfat:dims=4x4,up=2", "gen:kfat: up is for levels=2"},
		{"kfat:dims=4x4,levels=2,radix=4,up=4",
		 "gen:kfat: up: expected fewer than radix=4"},
		{"kfat:dims=4x5,rails=5",
		 "a row has 4 leaf switches, fewer than 5 rails"},
		{"kfat:dims=9x2,levels=2,radix=4",
		 "a line of 9 is longer than the radix*radix/2 = 8 that radix=4 can join"},
		{"kfat:dims=65535", "more than the 65534 ports"},
		{"hyperx:dims=65536", "more than the 65534 ports"},
		{"random:switches=4,degree=4", "degree=4: a switch has only 3 others"},
		{"random:switches=5,degree=3",
		 "switches=5,degree=3: one of them must be even"},
		{"random:switches=4,degree=1",
		 "degree=1 cannot join more than 2 switches"},
		{"random:switches=2097152,degree=65534", "more than the"},
		{"random:switches=4,degree=2,seed=x",
		 "a number from 0 to 18446744073709551615"},
		{"bluelight:radix=4",
		 "gen:bluelight: there is no key 'radix'; the keys are: width speed name-prefix"},
	};
	struct fab_fabric *f = NULL;

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		double start = fab_now();
		OWN_HEAP char *spec = fab_format("gen:%s", cases[i].spec);

		FAILS(fab_source_open(spec, NULL, &f, ERR), -EINVAL, cases[i].text);
		cr_assert_null(f);
		cr_assert_lt(fab_now() - start, 0.1, "%s", cases[i].spec);
		cr_assert_eq(fab_source_open(spec, NULL, &f, NULL), -EINVAL);
	}
	/* control characters do not reach the message */
	FAILS(fab_source_open("gen:to\x1b[31mrus\n", NULL, &f, ERR), -EINVAL, "");
	cr_assert_null(strpbrk(test_err.text, "\x1b\n"));
}

Test(gen_spec, common_keys)
{
	OWN(fab_fabric) *f =
		test_gen_raw("torus:dims=3,name-prefix=rack1_,speed=hdr,width=2,hosts=2");

	cr_assert_str_eq(f->source,
			 "gen:torus:dims=3,name-prefix=rack1_,speed=hdr,width=2,hosts=2");
	cr_assert_str_eq(f->format, "generated");
	cr_assert_str_eq(fab_node_name(f, 2), "rack1_sw-2");
	cr_assert_str_eq(fab_node_name(f, 3), "rack1_h0 HCA-1");
	cr_assert_str_eq(fab_host_name(f, 5), "rack1_h5");
	for (uint32_t c = 0; c < f->n_cables; c++) {
		cr_assert_eq(f->port_speed[f->cable_a[c]], FAB_HDR);
		cr_assert_eq(f->port_width[f->cable_b[c]], 2);
	}
}

/* GUIDs as documented; LIDs that run out, with one warning. */
Test(gen_spec, identities)
{
	OWN(fab_fabric) *f = test_gen_raw("pgft:m=2/2,w=2/1");
	OWN(fab_fabric) *large = test_gen_raw("torus:dims=100x100,hosts=4");
	const uint32_t node = f->n_switches + 3;

	cr_assert_eq(f->node_guid[0], 0x02fab00000000001u);
	cr_assert_eq(f->node_guid[3], 0x02fab00000000004u);
	cr_assert_eq(f->port_guid[f->node_first_port[3]], 0x02fab00000000004u);
	cr_assert_eq(f->node_guid[node], 0x02fab10000000040u);
	cr_assert_eq(f->node_sys_guid[node], 0x02fab10000000030u);
	cr_assert_eq(f->port_guid[f->node_first_port[node]], 0x02fab10000000041u);
	cr_assert(large->n_nodes == 50000 && large->n_warnings_total == 1);
	cr_assert_str_eq(large->warnings[0].code, "lids-exhausted");
	for (uint32_t i = 49150; i < 50000; i++)
		cr_assert_eq(large->port_lid[large->node_first_port[i]],
			     i == 49150 ? 49151 : FAB_LID_NONE);
}
