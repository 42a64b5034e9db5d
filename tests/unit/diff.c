/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/diff.h"

#include "support/test.h"

enum { KINDS = FAB_CHANGE_WIDTH + 1 };

/* Changes counted by kind, nodes and cables apart. */
struct tally {
	unsigned node[KINDS], cable[KINDS], total;
};

static struct tally compare(const struct plan *old, const struct plan *new, uint64_t seed)
{
	OWN(fab_fabric) *a = plan_build(old, 0), *b = plan_build(new, seed);
	OWN(fab_diff) *diff = fab_diff_new(a, b);
	struct tally t = {.total = diff->n_changes};

	for (uint32_t i = 0; i < diff->n_changes; i++) {
		const struct fab_change *x = &diff->changes[i];
		bool is_node = x->old_node != FAB_NONE || x->new_node != FAB_NONE;

		cr_assert_neq(is_node,
			      x->old_cable != FAB_NONE || x->new_cable != FAB_NONE);
		(is_node ? t.node : t.cable)[x->kind]++;
	}
	for (uint32_t i = 0; i < a->n_nodes; i++)
		if (diff->new_of[i] != FAB_NONE)
			cr_assert_eq(diff->old_of[diff->new_of[i]], i);
	return t;
}

/* These changes, no others. */
static void expect(const struct plan *old, const struct plan *new, uint64_t seed,
		   struct tally want)
{
	struct tally got = compare(old, new, seed);

	cr_assert_eq(memcmp(&got, &want, sizeof(got)), 0, "%u changes, expected %u",
		     got.total, want.total);
}

static void strip_guids(struct plan *plan, uint64_t offset)
{
	for (size_t i = 0; i < plan->nodes.n; i++) {
		plan->nodes.v[i].guid += offset;
		plan->nodes.v[i].sys_guid += offset;
	}
}

/* The same with GUIDs and by name. */
static void expect_both(const struct plan *old, struct plan *new, uint64_t seed,
			struct tally want)
{
	expect(old, new, seed, want);
	strip_guids(new, 1ull << 40);
	expect(old, new, seed, want);
}

static struct tally nodes(enum fab_change_kind kind)
{
	struct tally t = {.total = 1};

	t.node[kind] = 1;
	return t;
}

static struct tally cables(enum fab_change_kind kind, unsigned n)
{
	struct tally t = {.total = n};

	t.cable[kind] = n;
	return t;
}

/* Plant one change at node or cable number `at`; counts what must be found. */
static void plant(struct plan *p, uint32_t at, enum fab_change_kind kind, bool is_node,
		  struct tally *t)
{
	struct plan_cable *c = &p->cables.v[at];
	struct plan_node *n = &p->nodes.v[at];

	(is_node ? t->node : t->cable)[kind]++;
	t->total++;
	if (is_node && kind == FAB_CHANGE_MISSING) {
		n->is_gone = true;
	} else if (is_node && kind == FAB_CHANGE_RENAMED) {
		snprintf(n->name, sizeof(n->name), "renamed%u HCA-1", at);
	} else if (is_node && kind == FAB_CHANGE_REPLACED) {
		n->guid ^= 1ull << 50;
	} else if (is_node) { /* a new adapter on a port of its own */
		uint32_t sw = at, port = ++p->nodes.v[sw].n_ports;
		char name[64];

		snprintf(name, sizeof(name), "new%u-%u HCA-1", sw, port);
		plan_cable(p, sw, (uint16_t)port, plan_adapter(p, name), 1);
	} else if (kind == FAB_CHANGE_MISSING) {
		c->is_gone = true;
	} else if (kind == FAB_CHANGE_MOVED) {
		uint32_t sw = c->a.node == 0 ? 1 : 0;

		c->a.node = sw;
		c->a.port = ++p->nodes.v[sw].n_ports;
	} else if (kind == FAB_CHANGE_SPEED) {
		c->a.speed = c->b.speed = FAB_SDR;
	} else if (kind == FAB_CHANGE_WIDTH) {
		c->a.width = 1;
	} else { /* a new cable between two switches */
		uint16_t a = ++p->nodes.v[2].n_ports, b = ++p->nodes.v[3].n_ports;

		plan_cable(p, 2, a, 3, b);
	}
}

static const struct tally none;
static const struct tally another_adapter = {
	.node = {[FAB_CHANGE_MISSING] = 1, [FAB_CHANGE_NEW] = 1}, .total = 2};

Test(diff, switches_and_their_cables)
{
	OWN(plan) old = plan_tree(4, 2, 3);

	for (int kind = 0; kind < 6; kind++) {
		OWN(plan) new = plan_copy(&old);
		struct plan_cable *c = new.cables.v;

		for (int i = 0; i < 6; i++)
			new.nodes.v[i].n_ports = 9;
		if (kind == 0)
			c->b = (struct plan_end){5, 9, 4, FAB_HDR};
		else if (kind == 1) /* to other ports of the same two switches */
			c->a.port = c->b.port = 9;
		else if (kind == 2)
			c->b.speed = FAB_EDR;
		else if (kind == 3)
			strcpy(new.nodes.v[1].name, "another");
		else if (kind == 4)
			new.nodes.v[5].is_gone = true;
		else /* a new switch with its cables is one change */
			for (uint16_t i = 0, s = (uint16_t)plan_switch(&new, "new", 4);
			     i < 4; i++)
				plan_cable(&new, i, 9, s, (uint16_t)(i + 1));
		expect_both(&old, &new, 5,
			    kind < 2	? cables(FAB_CHANGE_MOVED, 1)
			    : kind == 2 ? cables(FAB_CHANGE_SPEED, 1)
			    : kind == 3 ? nodes(FAB_CHANGE_RENAMED)
			    : kind == 4 ? nodes(FAB_CHANGE_MISSING)
					: nodes(FAB_CHANGE_NEW));
	}
}

/* Without case, blanks and wrapping; generic ones are matched by place; no name is no
 * name in common. */
Test(diff, names)
{
	OWN(plan) old = plan_tree(4, 2, 3), cased = plan_copy(&old);
	OWN(plan) generic = plan_copy(&old), moved = plan_copy(&old), other = {0};

	strcpy(cased.nodes.v[0].name, "MF0;LEAF1:MQM8700/U1");
	strcpy(cased.nodes.v[1].name, "Leaf2 ");
	strcpy(cased.nodes.v[9].name, "NODE004 hca-1");
	expect_both(&old, &cased, 3, none);

	for (size_t i = 6; i < generic.nodes.n; i++)
		strcpy(generic.nodes.v[i].name, "MT25408 ConnectX Mellanox Technologies");
	other = plan_copy(&generic);
	expect_both(&generic, &other, 7, none);
	/* The same card with another GUID at the same port, all names equal. */
	strip_guids(&other, -(1ull << 40));
	other.nodes.v[9].guid = 0xabcdef;
	expect(&generic, &other, 7, nodes(FAB_CHANGE_REPLACED));

	moved.nodes.v[9].guid = 0xabcdef; /* another card with a name */
	strcpy(moved.nodes.v[9].name, "stranger HCA-1");
	expect(&old, &moved, 1, another_adapter);
	old.nodes.v[9].name[0] = moved.nodes.v[9].name[0] =
		0; /* and without, elsewhere */
	moved.nodes.v[3].n_ports = 12;
	moved.cables.v[11].a = (struct plan_end){3, 12, 4, FAB_HDR};
	expect(&old, &moved, 5, another_adapter);
}

/* A switch with four cables; now one of its name has two of them, another one the third.
 */
Test(diff, half_of_the_places_is_no_majority)
{
	OWN(plan) old = {0}, new;
	struct tally want = {.node = {[FAB_CHANGE_MISSING] = 1, [FAB_CHANGE_NEW] = 2}};
	struct tally got;
	uint32_t other;

	plan_switches(&old, 4, "a", 4);
	plan_switch(&old, "s", 4);
	for (uint32_t i = 0; i < 4; i++)
		plan_join(&old, i, 4);
	new = plan_copy(&old);
	new.nodes.v[4].guid = 0xabcdef;
	other = plan_switch(&new, "s", 4);
	new.cables.v[2].b.node = other;
	new.cables.v[3].is_gone = true;
	got = compare(&old, &new, 0);
	cr_assert_arr_eq(got.node, want.node, sizeof(got.node));
	/* with the third it has most of them */
	new.cables.v[2].b.node = 4;
	new.cables.v[3].b.node = other;
	new.cables.v[3].is_gone = false;
	want = (struct tally){.node = {[FAB_CHANGE_REPLACED] = 1, [FAB_CHANGE_NEW] = 1}};
	got = compare(&old, &new, 0);
	cr_assert_arr_eq(got.node, want.node, sizeof(got.node));
}

/* Two adapters that changed places; three of a switch that is gone. */
Test(diff, adapters_that_moved)
{
	OWN(plan) old = plan_tree(4, 2, 3), new = plan_copy(&old), gone = plan_copy(&old);

	new.cables.v[8].b.node = old.cables.v[11].b.node;
	new.cables.v[11].b.node = old.cables.v[8].b.node;
	expect(&old, &new, 2, cables(FAB_CHANGE_MOVED, 2));

	gone.nodes.v[0].is_gone = true;
	gone.nodes.v[3].n_ports = 12;
	for (uint16_t i = 0; i < 3; i++) {
		gone.cables.v[8 + i].a.node = 3;
		gone.cables.v[8 + i].a.port = (uint16_t)(9 + i);
	}
	expect(&old, &gone, 2,
	       (struct tally){.node[FAB_CHANGE_MISSING] = 1,
			      .cable[FAB_CHANGE_MOVED] = 3,
			      .total = 4});
}

/* A width that one of the two fabrics does not know is no change. */
Test(diff, parallel_cables_self_loops_and_widths)
{
	OWN(plan) old = plan_tree(2, 2, 1), new = {0};

	old.nodes.v[0].n_ports = old.nodes.v[2].n_ports = 20;
	for (uint16_t i = 0; i < 5; i++)
		plan_cable(&old, 0, (uint16_t)(10 + i), 2, (uint16_t)(10 + i));
	plan_cable(&old, 0, 16, 0, 17);
	new = plan_copy(&old);
	new.cables.v[1].a.width = new.cables.v[1].b.width = 0;
	expect(&old, &new, 9, none);
	expect(&new, &old, 9, none);
	new.cables.v[new.cables.n - 1].is_gone = true;
	new.cables.v[new.cables.n - 2].is_gone = true;
	expect(&old, &new, 9, cables(FAB_CHANGE_MISSING, 2));
}

/* Changes of adapters and their cables, each touched once at most: forwards each is
 * found; backwards what is missing is new. */
Test(diff, planted_changes_are_found_each)
{
	static const struct {
		enum fab_change_kind kind;
		bool is_node;
	} kinds[] = {{FAB_CHANGE_MISSING, true},  {FAB_CHANGE_NEW, true},
		     {FAB_CHANGE_RENAMED, true},  {FAB_CHANGE_REPLACED, true},
		     {FAB_CHANGE_MISSING, false}, {FAB_CHANGE_NEW, false},
		     {FAB_CHANGE_MOVED, false},	  {FAB_CHANGE_SPEED, false},
		     {FAB_CHANGE_WIDTH, false}};
	enum { SWITCHES = 14, HOSTS = 60, LINKS = 40 };
	OWN(plan) old = plan_tree(10, 4, 6);

	for (uint64_t seed = 1; seed <= 300; seed++) {
		OWN(plan) new = plan_copy(&old);
		struct tally planted = {0}, back;
		struct fab_rng rng = test_rng(seed);
		bool used[HOSTS] = {false};

		while (planted.total < seed % 40) {
			size_t k = fab_rng_below(&rng, FAB_COUNT(kinds));
			uint32_t host = test_below(&rng, HOSTS), at = SWITCHES + host;

			if (used[host])
				continue;
			used[host] = true;
			if (!kinds[k].is_node)
				at = LINKS + host;
			else if (kinds[k].kind == FAB_CHANGE_NEW)
				at = test_below(&rng, SWITCHES);
			plant(&new, at, kinds[k].kind, kinds[k].is_node, &planted);
		}
		expect(&old, &new, seed, planted);
		back = planted;
		back.node[FAB_CHANGE_NEW] = planted.node[FAB_CHANGE_MISSING];
		back.node[FAB_CHANGE_MISSING] = planted.node[FAB_CHANGE_NEW];
		back.cable[FAB_CHANGE_NEW] = planted.cable[FAB_CHANGE_MISSING];
		back.cable[FAB_CHANGE_MISSING] = planted.cable[FAB_CHANGE_NEW];
		expect(&new, &old, seed, back);
	}
}

/* A cache of libibnetdisc cannot tell FDR10 from QDR; a text can. */
Test(diff, caches_do_not_know_fdr10)
{
	static const struct {
		uint8_t from_cache, speed[2]; /* which of the two */
		uint32_t changes;
	} cases[] = {{0, {FAB_QDR, FAB_FDR10}, 0}, {1, {FAB_FDR10, FAB_QDR}, 0},
		     {2, {FAB_QDR, FAB_FDR10}, 1}, {0, {FAB_FDR10, FAB_QDR}, 1},
		     {0, {FAB_QDR, FAB_FDR}, 1},   {0, {FAB_DDR, FAB_FDR10}, 1}};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		OWN(plan) plan = plan_tree(2, 1, 1);
		struct plan_cable *c = plan.cables.v;
		struct fab_fabric *f[2];
		OWN(fab_diff) *diff = NULL;

		for (uint8_t k = 0; k < 2; k++) {
			c->a.speed = c->b.speed = cases[i].speed[k];
			f[k] = plan_build(&plan, 0);
			f[k]->format = fab_arena_strdup(
				&f[k]->arena,
				k == cases[i].from_cache ? "cache" : "ibnetdiscover");
		}
		diff = fab_diff_new(f[0], f[1]);
		cr_expect_eq(diff->n_changes, cases[i].changes, "case %zu: %u", i,
			     diff->n_changes);
		fab_fabric_free(f[0]);
		fab_fabric_free(f[1]);
	}
}
