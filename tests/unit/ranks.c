/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ranks and roots stay when hosts are powered off, a rail is chosen or switches that
 * belong to nothing are added: on real dumps and on every generated family.
 */
#include "fabric/ranks.h"

#include "fabric/hosts.h"
#include "support/node.h"
#include "support/test.h"
#include "support/unicast_check.h"
#include "unicast/engine.h"

/* Shape, ranks and roots together. */
struct look {
	struct fab_shape *shape;
	struct fab_ranks ranks;
	char text[128];
};

static void look_at(struct look *l, const struct fab_fabric *f)
{
	l->shape = fab_shape_recognize(f);
	fab_shape_text(l->shape, l->text, sizeof(l->text));
	fab_ranks_init(&l->ranks, f, l->shape);
}

static void look_fini(struct look *l)
{
	fab_ranks_fini(&l->ranks);
	fab_shape_free(l->shape);
}

OWN_VALUE(look, look_fini)

/* The first switches of both are the same ones: so are their ranks and roots. g ends. */
static void expect_same(const struct fab_fabric *f, const struct look *want,
			struct fab_fabric *g, const char *what)
{
	OWN(look) got;

	look_at(&got, g);
	cr_assert_str_eq(got.text, want->text, "%s, %s: %s, not %s", f->source, what,
			 got.text, want->text);
	cr_assert_eq(got.ranks.n_ranks, want->ranks.n_ranks, "%s: %s", f->source, what);
	cr_assert_eq(got.ranks.n_roots, want->ranks.n_roots, "%s: %s", f->source, what);
	for (uint32_t s = 0; s < f->n_switches; s++)
		cr_assert(got.ranks.rank[s] == want->ranks.rank[s] &&
				  got.ranks.is_root[s] == want->ranks.is_root[s],
			  "%s, %s: %s", f->source, what, fab_node_name(f, s));
	for (uint32_t s = f->n_switches; s < g->n_switches; s++)
		cr_assert_not(got.ranks.is_root[s], "%s: %s", f->source, what);
	fab_fabric_free(g);
}

/* One switch without a cable, one with a self-loop, two that are joined. */
static void add_strays(struct fab_builder *b)
{
	uint32_t id[4];

	for (uint32_t i = 0; i < FAB_COUNT(id); i++)
		id[i] = test_node(b, FAB_SWITCH, 0x5555000000000000 + i, 8, "stray");
	fab_builder_add_cable(b, id[1], 1, id[1], 2, 4, FAB_HDR);
	fab_builder_add_cable(b, id[2], 1, id[3], 1, 4, FAB_HDR);
}

/* Without the nodes that are gone [n_nodes], which are no switches; with strays. */
static struct fab_fabric *without(const struct fab_fabric *f, const bool *is_gone,
				  bool strays, const char *hca)
{
	const struct fab_host_options hosts = {.hca = hca};
	struct fab_builder *b = fab_builder_new();
	FAB_AUTOFREE uint32_t *id = FAB_NEW(f->n_nodes, uint32_t);
	struct fab_fabric *out = NULL;

	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (!is_gone[i])
			id[i] = fab_builder_copy_node(b, f, i);
	if (strays)
		add_strays(b);
	for (uint32_t c = 0; c < f->n_cables; c++)
		if (!is_gone[f->port_node[f->cable_a[c]]] &&
		    !is_gone[f->port_node[f->cable_b[c]]])
			fab_builder_copy_cable(b, f, c, id);
	MUST(fab_builder_finish(b, f->source, f->format, &hosts, &out, ERR));
	return out;
}

static bool is_host(const struct fab_fabric *f, uint32_t node)
{
	return f->node_kind[node] == FAB_ADAPTER;
}

/* Mark the adapters with a cable to a switch; returns how many hosts elsewhere stay. */
static uint32_t power_off(const struct fab_fabric *f, uint32_t sw, bool *is_gone)
{
	uint32_t n_left = 0;

	FAB_EACH_PORT(f, sw, p) {
		uint32_t peer = fab_port_peer(f, p);

		if (peer != FAB_NONE && is_host(f, f->port_node[peer]))
			is_gone[f->port_node[peer]] = true;
	}
	for (uint32_t i = f->n_switches; i < f->n_nodes; i++)
		n_left += is_host(f, i) && !is_gone[i];
	return n_left;
}

/* Leaves of every dump, one at a time: all of small dumps, some of large ones. */
TEST_EACH(i, DATA_N_DUMPS, ranks, dump_without_the_hosts_of_a_leaf)
{
	OWN(fab_fabric) *f = data_open(data_dumps[*i]);
	OWN_HEAP bool *is_gone = FAB_NEW(f->n_nodes, bool);
	uint32_t n_tried = 0, n_leaves = 0;
	const uint32_t step =
		getenv("FAB_TEST_FULL") ? 1 : 1 + f->n_switches * TEST_SHARE / 80;
	OWN(look) want;

	look_at(&want, f);
	for (uint32_t s = 0; s < f->n_switches; s++) {
		memset(is_gone, 0, f->n_nodes * sizeof(*is_gone));
		if (!test_n_hosts_on(f, s) || want.ranks.rank[s] || n_leaves++ % step ||
		    !power_off(f, s, is_gone))
			continue;
		expect_same(f, &want, without(f, is_gone, false, NULL),
			    fab_node_name(f, s));
		n_tried++;
	}
	cr_assert(n_tried || f->n_switches < 2);
}

/* The last word of the description: "mlx5_0"; "" of what is no host. */
static const char *rail_of(const struct fab_fabric *f, uint32_t node, char *out)
{
	char text[256];

	snprintf(text, sizeof(text), "%s", fab_node_name(f, node));
	*out = '\0';
	for (char *word = strtok(text, " "); word && is_host(f, node);
	     word = strtok(NULL, " "))
		snprintf(out, 256, "%s", word);
	return out;
}

/* Minus any rail, and any rail alone as --hca leaves it. */
TEST_EACH(number, DATA_N_DUMPS, ranks, dump_without_a_rail)
{
	OWN(fab_fabric) *f = data_open(data_dumps[*number]);
	OWN_HEAP bool *is_gone = FAB_NEW(f->n_nodes, bool),
		      *none = FAB_NEW0(f->n_nodes, bool);
	char seen[8192] = " ", rail[256], key[260], own[256];
	OWN(look) want;

	look_at(&want, f);
	for (uint32_t a = f->n_switches; a < f->n_nodes; a++) {
		uint32_t n_left = 0;

		snprintf(key, sizeof(key), " %s ", rail_of(f, a, rail));
		if (!*rail || strstr(seen, key) || strpbrk(rail, "/*[") ||
		    strlen(seen) + sizeof(key) > sizeof(seen))
			continue;
		strcat(seen, key + 1);
		for (uint32_t i = 0; i < f->n_nodes; i++) {
			is_gone[i] = !strcmp(rail_of(f, i, own), rail);
			n_left += is_host(f, i) && !is_gone[i];
		}
		if (n_left)
			expect_same(f, &want, without(f, is_gone, false, NULL), rail);
		if (fab_hosts_hca_matches(fab_node_name(f, a), rail))
			expect_same(f, &want, without(f, none, false, rail), rail);
	}
}

static const char *const families[] = {
	"fattree:radix=4,levels=2", "fattree:radix=8,levels=3",
	"fattree:radix=4,levels=4", "fattree:radix=4,levels=5",
	"pgft:m=4/6,w=1/3,p=1/2",   "pgft:m=3/4/5,w=1/2/3,p=1/4/2",
	"pgft:m=2/3/3/2,w=1/2/2/3", "kfat:dims=4x4",
	"kfat:dims=3x4x2,hosts=3",  "kfat:dims=6x4,levels=2,radix=4",
	"kfat:dims=5x4,planes=2",   "torus:dims=5x4,hosts=2",
	"mesh:dims=4x3x3",	    "hyperx:dims=5x4,hosts=3",
	"dragonfly:a=4,p=2,h=2",
};

/* Draw the leaves whose hosts are off: any one, then more and more, one in four stays. */
static void draw_off(const struct fab_fabric *f, struct fab_rng *rng, uint64_t seed,
		     bool *is_gone)
{
	uint32_t n = 0, n_off;
	FAB_AUTOFREE uint32_t *leaf = FAB_NEW(f->n_switches, uint32_t);

	for (uint32_t s = 0; s < f->n_switches; s++)
		if (test_n_hosts_on(f, s))
			leaf[n++] = s;
	n_off = 1 + (uint32_t)seed % (n - n / 4 - 1);
	for (uint32_t i = 0; i < n_off; i++) {
		uint32_t k = i + test_below(rng, n - i), s = leaf[k];

		leaf[k] = leaf[i];
		leaf[i] = s;
		cr_assert(power_off(f, s, is_gone));
	}
}

/* One leaf of kfats whose lines have one level; any number of leaves of the others, and
 * from the roots of trees every pair still has a path. */
Test(ranks, families_with_leaves_powered_off_and_stray_switches)
{
	for (size_t i = 0; i < FAB_COUNT(families); i++) {
		OWN(fab_fabric) *f = test_gen_raw(families[i]);
		OWN_HEAP bool *is_gone = FAB_NEW(f->n_nodes, bool);
		OWN_HEAP uint32_t *roots = FAB_NEW(f->n_switches, uint32_t);
		uint32_t n = 0;
		OWN(look) want;
		struct fab_rng rng = test_rng(i);

		look_at(&want, f);
		for (uint32_t s = 0; s < f->n_switches; s++)
			if (want.ranks.is_root[s])
				roots[n++] = s;
		for (uint64_t seed = 0; seed < 24 / TEST_SHARE; seed++) {
			struct fab_fabric *g;
			char what[32];

			memset(is_gone, 0, f->n_nodes * sizeof(*is_gone));
			if (want.shape->kind != FAB_SHAPE_KFAT)
				draw_off(f, &rng, seed, is_gone);
			else if (want.shape->n_levels == 2)
				draw_off(f, &rng, 0, is_gone);
			snprintf(what, sizeof(what), "seed %u", (unsigned)seed);
			g = without(f, is_gone, false, NULL);
			if (want.shape->kind == FAB_SHAPE_FATTREE)
				cr_assert_eq(
					fab_updn_try_roots(g, NULL, roots, n, 1).pairs, 0,
					"%s: %s", families[i], what);
			expect_same(f, &want, g, what);
			if (want.shape->level) /* of others none is known in two parts */
				expect_same(f, &want, without(f, is_gone, true, NULL),
					    what);
		}
	}
}

/* A leaf of a kfat that lost its hosts and the cable along one dimension: at the end of
 * the other line it fills the empty point of the grid. */
Test(ranks, idle_leaf_with_one_cable)
{
	OWN(fab_fabric) *f = test_gen_raw("kfat:dims=4x4"), *g = NULL, *h = NULL;
	OWN_HEAP bool *is_gone = FAB_NEW0(f->n_nodes, bool);
	uint32_t leaf = test_switch(f, "leaf-1.2");
	OWN(fab_kfat) *k = NULL;

	power_off(f, leaf, is_gone);
	g = without(f, is_gone, false, NULL);
	h = test_edited(g, "remove leaf-1.2:3");
	MUST(fab_kfat_recognize(h, &k, ERR));
	cr_assert(k->n_leaves == 16 && k->leaf_of[leaf] != FAB_NONE);
}

/* Where all are leaves there are no roots; a switch with one cable down is no leaf. */
Test(ranks, roots_and_leaves)
{
	OWN(fab_fabric) *flat = test_gen_raw("random:switches=12,degree=3,hosts=2");
	OWN(fab_fabric) *tree = test_gen_raw("fattree:radix=4,levels=5");
	OWN(look) of_flat, of_tree;

	look_at(&of_flat, flat);
	cr_assert(of_flat.ranks.n_ranks == 1 && of_flat.ranks.n_roots == 0);
	look_at(&of_tree, tree);
	expect_same(tree, &of_tree, test_edited(tree, "remove l3-0:1"), "one cable down");
}

/* Drawn roots: as many pairs are lost as the tables of the engine lose. */
Test(ranks, pairs_lost_are_those_of_the_tables)
{
	static const char *const specs[] = {"fattree:radix=4,levels=3",
					    "kfat:dims=3x3,hosts=2",
					    "torus:dims=5x3",
					    "dragonfly:a=4,p=2,h=2",
					    "random:switches=12,degree=3,hosts=2",
					    "pgft:h=2,m=4/6,w=2/3,p=1/2",
					    "fattree:radix=6,levels=2"};
	uint32_t n_losing = 0;
	struct fab_rng rng = test_rng(7);

	for (size_t i = 0; i < FAB_COUNT(specs); i++) {
		OWN(fab_fabric) *f = test_gen_raw(specs[i]);
		OWN_HEAP uint32_t *roots = FAB_NEW(f->n_switches, uint32_t);

		for (int k = 0; k < 20; k++) {
			struct fab_unicast_problem problem = {
				.f = f, .max_vls = 1, .n_threads = 1, .roots = roots};
			OWN(fab_routes) *r = NULL;
			OWN(fab_analysis) a = {0};
			struct fab_updn_loss loss;

			problem.n_roots = 1 + test_below(&rng, 4);
			*roots = test_below(&rng, f->n_switches);
			for (uint32_t j = 1; j < problem.n_roots; j++) /* distinct ones */
				roots[j] = (roots[j - 1] + 1 + (uint32_t)k % 2) %
					   f->n_switches;
			loss = fab_updn_try_roots(f, NULL, roots, problem.n_roots,
						  1 + k % 2);
			MUST(fab_unicast_route(&fab_unicast_updn, &problem, &r, ERR));
			a = test_analysis(r, FAB_ENDS_HOSTS);
			cr_assert_eq(loss.pairs, a.unreachable, "%s", specs[i]);
			cr_assert_eq(loss.all, a.pairs, "%s", specs[i]);
			cr_assert_eq(loss.from == FAB_NONE, !loss.pairs);
			cr_assert_eq(loss.to == FAB_NONE, !loss.pairs);
			n_losing += loss.pairs > 0;
		}
	}
	cr_assert_gt(n_losing, 20);
}
