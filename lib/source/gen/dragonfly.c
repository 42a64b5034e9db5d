/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dragonfly: g groups of a switches, all joined to all inside a group; h global ports a
 * switch (Kim et al., "Technology-driven, highly-scalable dragonfly topology", 2008).
 *
 * Global link l (0 .. a*h-1) of a group leaves from switch l / h. With g = a*h + 1 groups
 * link l goes to the group l + 1 further on, so that every two groups share one cable.
 * With fewer groups the links 0 .. g-2 go once round all other groups, the next g - 1
 * once more, and so on; those left over go to the groups 1, g-1, 2, g-2, ... further on,
 * a pair of neighbours (or the opposite group, when g is even) at a time, because a
 * cable to the group k further on is for that group one to the group g-k further on.
 * When g is odd, one link a group can stay free.
 */
#include "source/gen/impl.h"

#include <errno.h>
#include <inttypes.h>

enum { A, P, H, G };

static const struct fab_gen_key keys[] = {
	[A] = {"a", FAB_GEN_NUMBER, .is_required = true, .min = 1,
	       .max = FAB_GEN_PORTS_MAX, .help = "switches a group"},
	[P] = {"p", FAB_GEN_NUMBER, .is_required = true, .min = 0,
	       .max = FAB_GEN_PORTS_MAX, .help = "hosts a switch"},
	[H] = {"h", FAB_GEN_NUMBER, .is_required = true, .min = 1,
	       .max = FAB_GEN_PORTS_MAX, .help = "global ports a switch"},
	[G] = {"g", FAB_GEN_NUMBER, .min = 1, .max = FAB_GEN_NODES_MAX,
	       .help = "groups, at most a*h+1"},
};

struct dragonfly {
	uint32_t a, p, h, g;
};

static int check(const struct fab_gen_net *net, const struct fab_gen_value *values,
		 struct dragonfly *df, struct fab_err *err)
{
	uint64_t a = values[A].number, p = values[P].number, h = values[H].number;
	uint64_t most = a * h + 1, g = values[G].is_given ? values[G].number : most;
	struct fab_gen_size size = {.switches = fab_gen_mul(a, g)};
	int rc;

	if (g > most)
		return fab_fail(err, EINVAL,
				"gen:%s: g=%" PRIu64 ": a*h+1 = %" PRIu64
				" groups is the most that a=%" PRIu64 ",h=%" PRIu64
				" can join",
				net->kind, g, most, a, h);
	size.adapters = fab_gen_mul(size.switches, p);
	size.ports = p + a - 1 + h;
	size.cables = fab_gen_add(size.adapters,
				  fab_gen_mul(size.switches, (a - 1 + h) / 2 + 1));
	rc = fab_gen_check_size(net, &size, err);
	if (rc)
		return rc;
	*df = (struct dragonfly){(uint32_t)a, (uint32_t)p, (uint32_t)h, (uint32_t)g};
	return 0;
}

/* Cable link `l` of every group to link `back` of the group `far` further on. */
static void add_links(struct fab_gen_net *net, const struct dragonfly *df, uint32_t l,
		      uint32_t far, uint32_t back)
{
	uint32_t port = df->p + df->a; /* of the first global link of a switch */

	for (uint32_t from = 0; from < df->g; from++) {
		uint32_t to = (from + far) % df->g;

		/* The opposite group comes round to the same cable. */
		if (2 * far == df->g && from > to)
			continue;
		fab_gen_cable(net, from * df->a + l / df->h, port + l % df->h,
			      to * df->a + back / df->h, port + back % df->h);
	}
}

static void add_global(struct fab_gen_net *net, const struct dragonfly *df)
{
	uint32_t links = df->a * df->h, others = df->g - 1;
	uint32_t rounds = others ? links / others : 0;
	uint32_t at = rounds * others, left = links - at;

	for (uint32_t round = 0; round < rounds; round++)
		for (uint32_t far = 1; 2 * far <= df->g; far++)
			add_links(net, df, round * others + far - 1, far,
				  round * others + df->g - far - 1);
	if (!others)
		return;
	for (uint32_t far = 1; left >= 2 && 2 * far < df->g; far++) {
		add_links(net, df, at, far, at + 1);
		at += 2;
		left -= 2;
	}
	if (left && df->g % 2 == 0)
		add_links(net, df, at, df->g / 2, at);
}

static int build(struct fab_gen_net *net, const struct fab_gen_value *values,
		 struct fab_err *err)
{
	struct dragonfly df = {0};
	int rc = check(net, values, &df, err);

	if (rc)
		return rc;
	for (uint32_t group = 0; group < df.g; group++)
		for (uint32_t i = 0; i < df.a; i++)
			fab_gen_switch(net, df.p + df.a - 1 + df.h,
				       "g%" PRIu32 "-%" PRIu32, group, i);
	for (uint32_t i = 0; i < df.g * df.a; i++)
		fab_gen_hosts(net, i, df.p);
	for (uint32_t group = 0; group < df.g; group++) {
		uint32_t first = group * df.a;

		for (uint32_t i = 0; i < df.a; i++)
			for (uint32_t j = i + 1; j < df.a; j++)
				fab_gen_cable(net, first + i, df.p + j, first + j,
					      df.p + i + 1);
	}
	add_global(net, &df);
	return 0;
}

const struct fab_gen_family fab_gen_dragonfly = {"dragonfly", keys, FAB_COUNT(keys),
						 build};
