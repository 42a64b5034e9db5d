/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dragonfly: g groups of a switches, all joined to all inside a group; h global ports a
 * switch (Kim et al., "Technology-driven, highly-scalable dragonfly topology", 2008).
 *
 * Global link l (0 .. a*h-1) of a group leaves from switch l / h. With g = a*h + 1 groups
 * link l goes to the group l + 1 further on, so that every two groups share one cable.
 * Other wirings (Hastings et al., "Comparing global link arrangements for dragonfly
 * networks", 2015) give the links of a group to the other groups in another order.
 * With fewer groups the links 0 .. g-2 go once round all other groups, the next g - 1
 * once more, and so on; those left over go to the groups 1, g-1, 2, g-2, ... further on,
 * a pair of neighbours (or the opposite group, when g is even) at a time, because a
 * cable to the group k further on is for that group one to the group g-k further on.
 * When g is odd, one link a group can stay free.
 */
#include "source/gen/impl.h"

#include "base/arena.h"
#include "base/rng.h"

#include <errno.h>
#include <inttypes.h>

enum { A, P, H, G, WIRING, PORTS, SEED };
enum wiring { CONSECUTIVE, ABSOLUTE, RELATIVE, CIRCULANT, RANDOM };
static const char *const wirings[] = {
	[CONSECUTIVE] = "consecutive", [ABSOLUTE] = "absolute", [RELATIVE] = "relative",
	[CIRCULANT] = "circulant",     [RANDOM] = "random",	NULL};
enum { ABOVE, BELOW };
static const char *const places[] = {[ABOVE] = "above", [BELOW] = "below", NULL};

static const struct fab_gen_key keys[] = {
	[A] = {"a", FAB_GEN_NUMBER, .is_required = true, .min = 1,
	       .max = FAB_GEN_PORTS_MAX, .help = "switches a group"},
	[P] = {"p", FAB_GEN_NUMBER, .is_required = true, .min = 0,
	       .max = FAB_GEN_PORTS_MAX, .help = "hosts a switch"},
	[H] = {"h", FAB_GEN_NUMBER, .is_required = true, .min = 1,
	       .max = FAB_GEN_PORTS_MAX, .help = "global ports a switch"},
	[G] = {"g", FAB_GEN_NUMBER, .min = 1, .max = FAB_GEN_NODES_MAX,
	       .help = "groups, at most a*h+1"},
	[WIRING] = {"wiring", FAB_GEN_CHOICE, .words = wirings,
		    .help = "consecutive, absolute, relative, circulant or random"},
	[PORTS] = {"ports", FAB_GEN_CHOICE, .words = places,
		   .help = "global ports above or below the local ones"},
	[SEED] = {"seed", FAB_GEN_NUMBER, .max = UINT64_MAX, .fallback = 1,
		  .help = "of wiring=random"},
};

struct dragonfly {
	uint32_t a, p, h, g;
	uint32_t local, global; /* first local and global port */
	uint32_t whole;		/* links of whole rounds over the other groups */
	enum wiring wiring;
	uint32_t *order; /* random: [g * (g - 1)] place of a group so far further on */
};

/* The link that a group has in place of link `l` of the consecutive wiring. Links left
 * over stay. */
static uint32_t place_of(const struct dragonfly *df, uint32_t group, uint32_t l)
{
	uint32_t others = df->g - 1, far = l % others + 1, to = (group + far) % df->g;
	uint32_t place = far - 1;

	if (l >= df->whole)
		return l;
	if (df->wiring == ABSOLUTE)
		place = to - (to > group);
	else if (df->wiring == RELATIVE)
		place = df->g - far - 1;
	else if (df->wiring == CIRCULANT)
		place = 2 * far == df->g  ? others - 1
			: 2 * far < df->g ? 2 * (far - 1)
					  : 2 * (df->g - far) - 1;
	else if (df->wiring == RANDOM)
		place = df->order[(size_t)group * others + far - 1];
	return l - (far - 1) + place;
}

/* Cable link `l` of every group to link `back` of the group `far` further on. */
static void add_links(struct fab_gen_net *net, const struct dragonfly *df, uint32_t l,
		      uint32_t far, uint32_t back)
{
	for (uint32_t from = 0; from < df->g; from++) {
		uint32_t to = (from + far) % df->g;
		uint32_t out = place_of(df, from, l), in = place_of(df, to, back);

		/* The opposite group comes round to the same cable. */
		if (2 * far == df->g && from > to)
			continue;
		fab_gen_cable(net, from * df->a + out / df->h, df->global + out % df->h,
			      to * df->a + in / df->h, df->global + in % df->h);
	}
}

static int build(struct fab_gen_net *net, const struct fab_gen_value *values,
		 struct fab_err *err)
{
	uint64_t a = values[A].number, p = values[P].number, h = values[H].number;
	uint64_t most = a * h + 1, g = values[G].is_given ? values[G].number : most;
	struct fab_gen_size size = {.switches = fab_gen_mul(a, g),
				    .ports = p + a - 1 + h};
	bool is_below = values[PORTS].number == BELOW;
	struct dragonfly df = {.a = (uint32_t)a,
			       .p = (uint32_t)p,
			       .h = (uint32_t)h,
			       .g = (uint32_t)g,
			       .local = (uint32_t)(p + 1 + (is_below ? h : 0)),
			       .global = (uint32_t)(p + (is_below ? 1 : a)),
			       .wiring = (enum wiring)values[WIRING].number};
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	struct fab_rng rng;
	uint32_t links, others, rounds, at;
	int rc;

	if (g > most)
		return fab_fail(err, EINVAL,
				"gen:%s: g=%" PRIu64 ": a*h+1 = %" PRIu64
				" groups is the most that a=%" PRIu64 ",h=%" PRIu64
				" can join",
				net->kind, g, most, a, h);
	size.adapters = fab_gen_mul(size.switches, p);
	size.cables = fab_gen_add(size.adapters,
				  fab_gen_mul(size.switches, (a - 1 + h) / 2 + 1));
	rc = fab_gen_check_size(net, &size, err);
	if (rc)
		return rc;
	for (uint32_t group = 0; group < df.g; group++)
		for (uint32_t i = 0; i < df.a; i++)
			fab_gen_switch(net, (uint32_t)size.ports, "g%" PRIu32 "-%" PRIu32,
				       group, i);
	for (uint32_t i = 0; i < df.g * df.a; i++)
		fab_gen_hosts(net, i, df.p);
	for (uint32_t group = 0; group < df.g; group++) {
		uint32_t first = group * df.a;

		for (uint32_t i = 0; i < df.a; i++)
			for (uint32_t j = i + 1; j < df.a; j++)
				fab_gen_cable(net, first + i, df.local + j - 1, first + j,
					      df.local + i);
	}
	/* global links: whole rounds over all other groups, then those left over */
	links = df.a * df.h;
	others = df.g - 1;
	rounds = others ? links / others : 0;
	at = df.whole = rounds * others;
	if (df.wiring == RANDOM && rounds) {
		df.order = FAB_ARENA_NEW(&arena, (size_t)df.g * others, uint32_t);
		fab_rng_init(&rng, values[SEED].number);
		for (uint32_t group = 0; group < df.g; group++)
			for (uint32_t i = 0; i < others; i++) {
				uint32_t *of = df.order + (size_t)group * others;
				uint32_t with = (uint32_t)fab_rng_below(&rng, i + 1);

				of[i] = of[with];
				of[with] = i;
			}
	}
	for (uint32_t round = 0; round < rounds; round++)
		for (uint32_t far = 1; 2 * far <= df.g; far++)
			add_links(net, &df, round * others + far - 1, far,
				  round * others + df.g - far - 1);
	for (uint32_t far = 1; others && links - at >= 2 && 2 * far < df.g;
	     far++, at += 2)
		add_links(net, &df, at, far, at + 1);
	if (others && links > at && df.g % 2 == 0)
		add_links(net, &df, at, df.g / 2, at);
	return 0;
}

const struct fab_gen_family fab_gen_dragonfly = {"dragonfly", keys, FAB_COUNT(keys),
						 build};
