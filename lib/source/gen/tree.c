/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/gen/impl.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/*
 * PGFT(h; m; w; p) (Zahavi, "D-Mod-K routing providing non-blocking traffic for shift
 * permutations on real life fat trees", 2010). Index l-1 of the arrays is level l: a
 * switch of level l has m[l-1] children, each joined by p[l-1] cables, and every node
 * of level l-1 has w[l-1] parents. Level 0 are the hosts: a host has w[0] * p[0]
 * adapters. Levels 1 .. h are switches, level 1 the leaves.
 */
struct gen_tree {
	uint32_t h;
	uint32_t m[FAB_GEN_LIST_MAX], w[FAB_GEN_LIST_MAX], p[FAB_GEN_LIST_MAX];
	uint32_t radix; /* ports that every switch has at least, 0: those it uses */
};

/* Ports down and up of a switch of level `l` (1 .. h). */
static uint64_t ports_down(const struct gen_tree *t, uint32_t l)
{
	return fab_gen_mul(t->m[l - 1], t->p[l - 1]);
}

static uint64_t ports_up(const struct gen_tree *t, uint32_t l)
{
	return l < t->h ? fab_gen_mul(t->w[l], t->p[l]) : 0;
}

/* Nodes of level `l`: subtrees above it times copies below. */
static uint64_t level_size(const struct gen_tree *t, uint32_t l)
{
	uint64_t n = 1;

	for (uint32_t i = 0; i < l; i++)
		n = fab_gen_mul(n, t->w[i]);
	for (uint32_t i = l; i < t->h; i++)
		n = fab_gen_mul(n, t->m[i]);
	return n;
}

static int gen_build_tree(struct fab_gen_net *net, const struct gen_tree *t,
			  struct fab_err *err)
{
	uint32_t first[FAB_GEN_LIST_MAX + 1], copies = 1, n;
	struct fab_gen_size size = {.ports = t->radix};
	int rc;

	for (uint32_t l = 1; l <= t->h; l++) {
		uint64_t all = level_size(t, l);
		uint64_t ports = fab_gen_add(ports_down(t, l), ports_up(t, l));

		size.switches = fab_gen_add(size.switches, all);
		size.cables =
			fab_gen_add(size.cables, fab_gen_mul(all, ports_down(t, l)));
		size.ports = ports > size.ports ? ports : size.ports;
		if (l == 1)
			size.adapters = size.cables;
	}
	rc = fab_gen_check_size(net, &size, err);
	if (rc)
		return rc;
	for (uint32_t l = 1; l <= t->h; l++) {
		uint32_t ports = (uint32_t)(ports_down(t, l) + ports_up(t, l));

		if (ports < t->radix)
			ports = t->radix;
		n = (uint32_t)level_size(t, l);
		first[l] = net->n_switches;
		for (uint32_t i = 0; i < n; i++) {
			if (l == 1)
				fab_gen_switch(net, ports, "leaf-%" PRIu32, i);
			else
				fab_gen_switch(net, ports, "l%" PRIu32 "-%" PRIu32, l, i);
		}
	}
	/* Every host has w[0] leaves, which follow each other, and p[0] cables to each.
	 */
	n = (uint32_t)level_size(t, 0);
	for (uint32_t i = 0; i < n; i++) {
		fab_gen_host(net);
		for (uint32_t b = 0; b < t->w[0]; b++)
			for (uint32_t k = 0; k < t->p[0]; k++)
				fab_gen_adapter(net, i / t->m[0] * t->w[0] + b,
						i % t->m[0] * t->p[0] + k + 1);
	}
	/* Cables between the levels l and l + 1; copies = w[0] * ... * w[l - 1]. */
	for (uint32_t l = 1; l < t->h; l++) {
		uint32_t m = t->m[l], w = t->w[l], p = t->p[l];
		uint32_t down = (uint32_t)ports_down(t, l);

		copies *= t->w[l - 1];
		n = (uint32_t)level_size(t, l);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t a = i / copies % m;
			uint32_t parent = (i / copies / m * copies + i % copies) * w;

			for (uint32_t b = 0; b < w; b++)
				for (uint32_t k = 0; k < p; k++)
					fab_gen_cable(
						net, first[l] + i, down + b * p + k + 1,
						first[l + 1] + parent + b, a * p + k + 1);
		}
	}
	return 0;
}

/* The full fat tree (folded Clos) of switches of one radix. */

enum { RADIX, LEVELS, FATTREE_HOSTS };

static const struct fab_gen_key fattree_keys[] = {
	[RADIX] = {"radix", FAB_GEN_NUMBER, .is_required = true, .min = 2,
		   .max = FAB_GEN_PORTS_MAX, .help = "ports a switch, an even number"},
	[LEVELS] = {"levels", FAB_GEN_NUMBER, .min = 1, .max = FAB_GEN_LIST_MAX,
		    .fallback = 3, .help = "levels of switches"},
	[FATTREE_HOSTS] = {"hosts", FAB_GEN_NUMBER, .min = 0, .max = FAB_GEN_PORTS_MAX,
			   .help = "hosts a leaf switch"},
};

static int build_fattree(struct fab_gen_net *net, const struct fab_gen_value *values,
			 struct fab_err *err)
{
	uint32_t radix = (uint32_t)values[RADIX].number, half = radix / 2;
	struct gen_tree t = {.h = (uint32_t)values[LEVELS].number, .radix = radix};
	uint32_t most = t.h == 1 ? radix : half;

	if (radix % 2)
		return fab_fail(err, EINVAL,
				"gen:%s: radix=%" PRIu32 ": an even number is needed",
				net->kind, radix);
	for (uint32_t l = 0; l < t.h; l++) {
		t.m[l] = l + 1 == t.h ? radix : half;
		t.w[l] = l ? half : 1;
		t.p[l] = 1;
	}
	if (values[FATTREE_HOSTS].is_given) {
		if (values[FATTREE_HOSTS].number > most)
			return fab_fail(err, EINVAL,
					"gen:%s: hosts=%" PRIu64
					": a leaf switch of radix %" PRIu32
					" has room for %" PRIu32,
					net->kind, values[FATTREE_HOSTS].number, radix,
					most);
		t.m[0] = (uint32_t)values[FATTREE_HOSTS].number;
	}
	return gen_build_tree(net, &t, err);
}

const struct fab_gen_family fab_gen_fattree = {"fattree", fattree_keys,
					       FAB_COUNT(fattree_keys), build_fattree};

/* Parallel-port generalised fat trees by their parameters. */

enum { H, M, W, P };

static const struct fab_gen_key pgft_keys[] = {
	[H] = {"h", FAB_GEN_NUMBER, .min = 1, .max = FAB_GEN_LIST_MAX,
	       .help = "levels of switches"},
	[M] = {"m", FAB_GEN_LIST, '/', .is_required = true, .min = 1,
	       .max = FAB_GEN_PORTS_MAX, .help = "children of a node, level 1 first"},
	[W] = {"w", FAB_GEN_LIST, '/', .is_required = true, .min = 1,
	       .max = FAB_GEN_PORTS_MAX, .help = "parents of a node, level 1 first"},
	[P] = {"p", FAB_GEN_LIST, '/', .min = 1, .max = FAB_GEN_PORTS_MAX,
	       .help = "parallel cables to a parent, level 1 first"},
};

static int build_pgft(struct fab_gen_net *net, const struct fab_gen_value *values,
		      struct fab_err *err)
{
	struct gen_tree t = {.h = values[M].list.n};

	if (values[H].is_given && values[H].number != t.h)
		return fab_fail(err, EINVAL,
				"gen:%s: h=%" PRIu64 " but m has %" PRIu32 " numbers",
				net->kind, values[H].number, t.h);
	if (values[W].list.n != t.h)
		return fab_fail(err, EINVAL,
				"gen:%s: m has %" PRIu32 " numbers but w has %" PRIu32,
				net->kind, t.h, values[W].list.n);
	if (values[P].is_given && values[P].list.n != t.h)
		return fab_fail(err, EINVAL,
				"gen:%s: m has %" PRIu32 " numbers but p has %" PRIu32,
				net->kind, t.h, values[P].list.n);
	memcpy(t.m, values[M].list.v, sizeof(t.m));
	memcpy(t.w, values[W].list.v, sizeof(t.w));
	for (uint32_t l = 0; l < t.h; l++)
		t.p[l] = values[P].is_given ? values[P].list.v[l] : 1;
	return gen_build_tree(net, &t, err);
}

const struct fab_gen_family fab_gen_pgft = {"pgft", pgft_keys, FAB_COUNT(pgft_keys),
					    build_pgft};

/*
 * Presets in the size of two machines. Their wiring is not published: these trees have
 * the published counts of processors and of shortest paths between a leaf and a top
 * switch (8 and 2).
 */

static int build_preset(struct fab_gen_net *net, const struct fab_gen_value *values,
			struct fab_err *err)
{
	static const struct gen_tree bluelight = {
		.h = 3, .m = {16, 16, 34}, .w = {1, 8, 2}, .p = {1, 2, 4}};
	static const struct gen_tree taihulight = {
		.h = 3, .m = {16, 16, 160}, .w = {1, 16, 2}, .p = {1, 1, 2}};

	(void)values;
	return gen_build_tree(
		net, net->family == &fab_gen_bluelight ? &bluelight : &taihulight, err);
}

const struct fab_gen_family fab_gen_bluelight = {"bluelight", NULL, 0, build_preset};
const struct fab_gen_family fab_gen_taihulight = {"taihulight", NULL, 0, build_preset};
