/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/diff_plan.h"

#include "export/fabrics.h"
#include "fabric/label.h"
#include "source/source.h"
#include "support/test.h"

#include <ctype.h>

#define HEAD "StartDevice,StartPort,EndDevice,EndPort\n"

/* A line of a plan: device and port, device and port. */
struct row {
	char *field[4];
	bool is_used; /* for a change */
};

enum { LEFT_OUT, MOVED, SWAPPED, ADDED, N_KINDS };

/* The plan of a fabric in which something is planned otherwise. */
struct trial {
	const struct fab_fabric *f;
	struct fab_resolver *names;
	struct fab_arena memory;
	FAB_VEC(struct row) rows;
	FAB_VEC(struct fab_socket) taken; /* free ports that changes use */
	uint32_t n[N_KINDS];
	uint8_t *expected; /* [cables of the fabric] 1 + kind, 0: as planned */
	struct fab_rng rng;
};

static struct trial begin(const struct fab_fabric *f, uint64_t seed)
{
	struct trial t = {.f = f,
			  .names = fab_resolver_new(f),
			  .memory = FAB_ARENA_INIT,
			  .expected = FAB_NEW0(f->n_cables, uint8_t),
			  .rng = test_rng(seed)};
	OWN_HEAP char *text = TEXT_BY(out, MUST(fab_export_plan(out, f, ERR)));
	char *line = strtok(fab_arena_strdup(&t.memory, text), "\n");

	cr_assert_null(strchr(text, '"'), "a field with a comma");
	while ((line = strtok(NULL, "\n"))) {
		struct row row = {0};

		for (int k = 0; k < 4; k++) {
			row.field[k] = strsep(&line, ",");
			cr_assert_not_null(row.field[k]);
		}
		cr_assert_null(line);
		FAB_PUSH(&t.rows, row);
	}
	return t;
}

static void end(struct trial *t)
{
	fab_resolver_free(t->names);
	fab_arena_free(&t->memory);
	free(t->rows.v);
	free(t->taken.v);
	free(t->expected);
}

OWN_VALUE(trial, end)

/* The rows that are left in a random order, some with their ends exchanged. */
static struct fab_fabric *plan_of(struct trial *t)
{
	OWN_HEAP uint32_t *order = test_order(t->rows.n, &t->rng);
	OWN_HEAP char *text =
		fab_strdup("#EndDevice,StartPort,LinkType,EndPort,StartDevice\n");
	OWN_HEAP char *lines = NULL;
	struct fab_fabric *f = NULL;

	for (size_t i = 0; i < t->rows.n; i++) {
		char *const *x = t->rows.v[order[i]].field;
		int turn = fab_rng_below(&t->rng, 2) ? 2 : 0;

		if (x[0])
			fab_append(&lines, "\n", "%s,%s,Data,%s,%s", x[2 - turn],
				   x[1 + turn], x[3 - turn], x[turn]);
	}
	fab_append(&text, "", "%s\n", lines);
	MUST(fab_source_parse("plan", text, strlen(text), NULL, &f, ERR));
	return f;
}

/* The port of the fabric that two fields name. */
static uint32_t port_of(const struct trial *t, const char *device, const char *port)
{
	unsigned board, chip, num = 1;
	char name[400];
	uint32_t node;

	snprintf(name, sizeof(name), "%s", device);
	if (sscanf(port, "Blade %u_Port %u/%u", &board, &chip, &num) == 3)
		snprintf(name, sizeof(name), "%s/L%02u/U%u", device, board, chip);
	else if (sscanf(port, "Port %u", &num) != 1)
		snprintf(name, sizeof(name), "%s", port);
	node = fab_plan_find_node(t->f, t->names, name);
	cr_assert_neq(node, FAB_NONE, "%s is not there", name);
	return fab_port_find(t->f, node, num);
}

static uint32_t cable_of(const struct trial *t, const struct row *row)
{
	return t->f->port_cable[port_of(t, row->field[0], row->field[1])];
}

/* The field of a free port of the first device of a row, NULL if that is no switch. */
static char *free_port(struct trial *t, const struct row *row)
{
	const char *port = row->field[1];
	const uint32_t node = t->f->port_node[port_of(t, row->field[0], port)];
	size_t stem = strlen(port);

	while (stem && isdigit(port[stem - 1]))
		stem--;
	for (uint16_t num = 1; num <= t->f->node_n_ports[node]; num++) {
		uint32_t p = fab_port_find(t->f, node, num);
		bool is_taken = p != FAB_NONE && fab_port_peer(t->f, p) != FAB_NONE;

		for (size_t i = 0; i < t->taken.n; i++)
			is_taken |=
				t->taken.v[i].node == node && t->taken.v[i].port == num;
		if (is_taken || !fab_node_is_switch(t->f, node))
			continue;
		FAB_PUSH(&t->taken, ((struct fab_socket){node, num}));
		return fab_arena_format(&t->memory, "%.*s%u", (int)stem, port, num);
	}
	return NULL;
}

static struct row *take_row(struct trial *t, size_t n_rows)
{
	for (int i = 0; i < 100; i++) {
		struct row *row = &t->rows.v[fab_rng_below(&t->rng, n_rows)];

		if (row->is_used)
			continue;
		row->is_used = true;
		return row;
	}
	return NULL;
}

/* Plant one change in the first rows, and with it what must be found. */
static void plant(struct trial *t, int kind, size_t n_rows)
{
	struct row *row = take_row(t, n_rows), *other = take_row(t, n_rows), added = {0};
	int side = (int)fab_rng_below(&t->rng, 2);
	char *port;

	if (!row || !other)
		return;
	if (kind == MOVED || kind == ADDED) {
		port = free_port(t, other);
		added = (struct row){{row->field[0], NULL, other->field[0], port}, true};
		if (kind == ADDED)
			added.field[1] = free_port(t, row);
		if (!port || (kind == ADDED && !added.field[1]))
			return;
	}
	t->n[kind]++;
	if (kind == ADDED) {
		FAB_PUSH(&t->rows, added);
		return;
	}
	t->expected[cable_of(t, row)] = (uint8_t)(1 + kind);
	if (kind == LEFT_OUT) {
		row->field[0] = NULL;
	} else if (kind == MOVED) {
		row->field[2 * side] = other->field[0];
		row->field[2 * side + 1] = port;
	} else {
		const struct row old = *row;

		t->expected[cable_of(t, other)] = 1 + SWAPPED;
		memcpy(row->field + 2, other->field + 2, 2 * sizeof(char *));
		memcpy(other->field + 2, old.field + 2, 2 * sizeof(char *));
	}
}

/* Every planted change is found, as what it is, and no other. */
static void expect_planted(const struct trial *t, const struct fab_plan_diff *x)
{
	const struct fab_fabric *f = t->f;
	uint32_t n_swaps = 0;

	for (uint32_t i = 0; i < x->n_changes; i++) {
		const struct fab_wiring_change *c = &x->changes[i];
		int kind = c->is_swap			    ? SWAPPED
			   : c->kind == FAB_WIRING_MISWIRED ? MOVED
			   : c->kind == FAB_WIRING_EXTRA    ? LEFT_OUT
							    : ADDED;

		n_swaps += c->is_swap;
		for (int k = 0; k < 2; k++)
			if (c->found[k] != FAB_NONE)
				cr_assert_eq(t->expected[c->found[k]], 1 + kind,
					     "%s: cable %u is %u, expected %u", f->source,
					     c->found[k], 1 + kind,
					     t->expected[c->found[k]]);
		if (c->is_swap || kind == MOVED) {
			cr_assert_neq(c->kept_found[0], FAB_NONE);
			cr_assert_eq(f->port_cable[c->kept_found[0]], c->found[0]);
		}
	}
	cr_assert_eq(n_swaps, t->n[SWAPPED]);
	cr_assert_eq(x->n_of[FAB_WIRING_MISWIRED], t->n[MOVED] + t->n[SWAPPED]);
	cr_assert_eq(x->n_of[FAB_WIRING_EXTRA], t->n[LEFT_OUT]);
	cr_assert(x->n_of[FAB_WIRING_MISSING] == t->n[ADDED] && x->n_unknown == 0);
	cr_assert_eq(x->n_unnamed, 0);
}

/*
 * `n` changes of some of the kinds, a bit each. An addition between the switches of a row
 * that was left out would be one that was moved: not both at once.
 */
static void change_and_compare(const struct fab_fabric *f, unsigned kinds, uint32_t n,
			       uint64_t seed)
{
	OWN(trial) t = begin(f, seed);
	const size_t n_rows = t.rows.n;
	OWN(fab_plan_diff) *x = NULL;
	OWN(fab_fabric) *plan = NULL;

	for (uint32_t i = 0; i < n; i++) {
		int kind = (int)fab_rng_below(&t.rng, N_KINDS);

		if (kinds >> kind & 1)
			plant(&t, kind, n_rows);
	}
	plan = plan_of(&t);
	MUST(fab_plan_diff_new(plan, f, &x, ERR));
	expect_planted(&t, x);
}

static void check_fabric(struct fab_fabric *f, uint32_t n_runs)
{
	const unsigned kinds = 1u << MOVED | 1u << SWAPPED;

	change_and_compare(f, 0, 0, 1);
	for (uint64_t seed = 1; seed <= n_runs; seed++) {
		uint32_t n = 1 + (uint32_t)(seed * 7 % (f->n_cables / 8 + 1));

		change_and_compare(f, kinds | 1u << LEFT_OUT, n, seed);
		change_and_compare(f, kinds | 1u << ADDED, n, seed);
	}
	fab_fabric_free(f);
}

Test(diff_plan, generated_fabrics)
{
	static const char *const specs[] = {
		"fattree:radix=8,levels=3",
		"pgft:h=2,m=4/4,w=1/2,p=1/2",
		"torus:dims=4x3x2,hosts=2",
		"mesh:dims=4x4,hosts=1",
		"dragonfly:a=4,p=2,h=2",
		"kfat:dims=4x4,hosts=4",
		"kfat:dims=3x3,hosts=2,planes=2",
		"hyperx:dims=3x4,hosts=3",
		"random:switches=20,degree=5,hosts=3,seed=2",
	};

	for (size_t i = 0; i < FAB_COUNT(specs); i++)
		check_fabric(test_gen_raw(specs[i]), test_some(10, 1, 2));
}

Test(diff_plan, real_fabrics)
{
	for (const char *const *dump = data_dumps; *dump; dump++)
		check_fabric(data_open(*dump), test_some(3, 1, 1));
}

/* Names of a plan that are not quite those of the fabric. */
Test(diff_plan, names_of_adapters)
{
	static const struct {
		const char *rows;
		/* missing, miswired and extra cables; adapters by host, unknown ones */
		uint32_t missing, miswired, extra, by_host, unknown;
	} cases[] = {
		/* as they are, in another case */
		{"leaf1,1,one.x.org,MLX5_0\nLEAF1,2,two.x.org,mlx5_0\n"
		 "leaf2,1,two.x.org,mlx5_1\nleaf1,3,Three,HCA-1\n",
		 0, 0, 0, 0, 0},
		/* without the domain */
		{"leaf1,1,one,mlx5_0\nleaf1,2,two,mlx5_0\nleaf2,1,two,mlx5_1\n"
		 "leaf1,3,three.x.org,HCA-1\n",
		 0, 0, 0, 0, 0},
		/* hosts only, with numbers of ports */
		{"leaf1,1,one.x.org,1\nleaf1,2,two.x.org,1\nleaf2,1,two.x.org,2\n"
		 "leaf1,3,three,1\n",
		 0, 0, 0, 0, 0},
		/* adapters of another scheme: by place, whatever their order */
		{"leaf1,1,one,HCA-1\nleaf1,2,two,HCA-2\nleaf2,1,two,HCA-1\n"
		 "leaf1,3,three,mlx5_0\n",
		 0, 0, 0, 4, 0},
		/* one of them is elsewhere: by order */
		{"leaf1,1,one,HCA-1\nleaf1,2,two,HCA-1\nleaf1,7,two,HCA-2\n"
		 "leaf1,3,three,mlx5_0\n",
		 0, 1, 0, 4, 0},
		/* a name of this scheme is believed: mlx5_2 is not mlx5_1 */
		{"leaf1,1,one,mlx5_0\nleaf1,2,two,mlx5_0\nleaf2,1,two,mlx5_2\n"
		 "leaf1,3,three,HCA-1\n",
		 0, 1, 0, 0, 1},
		/* another domain is another host */
		{"leaf1,1,one.y.org,mlx5_0\nleaf1,2,two,mlx5_0\nleaf2,1,two,mlx5_1\n"
		 "leaf1,3,three,HCA-1\n",
		 0, 1, 0, 0, 1},
		/* hosts swapped, one out, one in */
		{"leaf1,1,two,mlx5_0\nleaf1,2,one,mlx5_0\nleaf2,1,two,mlx5_1\n"
		 "leaf1,7,four,HCA-1\n",
		 1, 1, 1, 0, 1},
	};
	OWN(fab_fabric) *f =
		text_open(HEAD "leaf1,1,one.x.org,mlx5_0\nleaf1,2,two.x.org,mlx5_0\n"
			       "leaf2,1,two.x.org,mlx5_1\nleaf1,3,three,HCA-1\n"
			       "leaf1,9,spine,1\nleaf2,9,spine,2\nleaf1,8,spine,3\n");
	OWN(fab_fabric) *twice = text_open(HEAD "leaf1,1,three,1\nleaf1,2,three,HCA-1\n");
	OWN(fab_plan_diff) *refused = NULL;

	FAILS(fab_plan_diff_new(twice, f, &refused, ERR), -EINVAL, "expected one name");
	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		OWN_HEAP char *text = fab_format(HEAD "leaf1,9,spine,1\nleaf2,9,spine,2\n"
						      "leaf1,8,SPINE,3\n%s",
						 cases[i].rows);
		OWN(fab_fabric) *plan = text_open(text);
		OWN(fab_plan_diff) *d = NULL;

		MUST(fab_plan_diff_new(plan, f, &d, ERR));
		cr_expect(d->n_of[FAB_WIRING_MISSING] == cases[i].missing &&
				  d->n_of[FAB_WIRING_MISWIRED] == cases[i].miswired &&
				  d->n_of[FAB_WIRING_EXTRA] == cases[i].extra &&
				  d->n_by_host == cases[i].by_host &&
				  d->n_unknown == cases[i].unknown,
			  "%s", cases[i].rows);
	}
}

Test(diff_plan, adapters_without_a_name_are_unknown)
{
	OWN(fab_fabric) *f = text_open(
		"Switch 36 \"S-0000000000000001\" # \"leaf1\" base port 0 lid 1 lmc 0\n"
		"[1] \"H-0000000000000002\"[1](3) # \"MT4123 ConnectX6   Mellanox Technologies\" lid 2 4xHDR\n"
		"[2] \"H-0000000000000004\"[1](5) # \"node2 HCA-1\" lid 3 4xHDR\n");
	OWN(fab_fabric) *plan =
		text_open(HEAD "leaf1,1,node1,HCA-1\nleaf1,2,node2,HCA-1\n");
	OWN(fab_plan_diff) *d = NULL;

	MUST(fab_plan_diff_new(plan, f, &d, ERR));
	cr_expect(!d->n_changes && d->n_as_planned == 2 && d->n_unnamed == 1);
}

/* Three ends that went round are no swap; a cable of an adapter goes with its adapter. */
Test(diff_plan, what_is_a_swap_and_what_is_not)
{
	OWN(fab_fabric) *plan = text_open(HEAD "s,1,a,HCA-1\ns,2,b,HCA-1\ns,3,c,HCA-1\n"
					       "s,8,t,8\nt,1,d,HCA-1\ns,5,u,5\n");
	OWN(fab_fabric) *round = text_open(HEAD "s,1,b,HCA-1\ns,2,c,HCA-1\ns,3,a,HCA-1\n"
						"s,8,t,8\nt,1,d,HCA-1\ns,5,u,5\n");
	OWN(fab_fabric) *moved = text_open(HEAD "s,1,a,HCA-1\ns,2,b,HCA-1\ns,3,c,HCA-1\n"
						"s,8,t,8\nu,5,d,HCA-1\n");
	OWN(fab_plan_diff) *x = NULL, *y = NULL;

	MUST(fab_plan_diff_new(plan, round, &x, ERR));
	cr_expect_eq(x->n_changes, 3);
	for (uint32_t i = 0; i < x->n_changes; i++) {
		cr_expect_eq(x->changes[i].kind, FAB_WIRING_MISWIRED);
		cr_expect_not(x->changes[i].is_swap);
	}
	MUST(fab_plan_diff_new(plan, moved, &y, ERR));
	cr_expect(y->n_changes == 2 && y->changes[0].kind == FAB_WIRING_MISSING);
	cr_expect_eq(y->changes[1].kind, FAB_WIRING_MISWIRED);
	cr_expect_str_eq(
		fab_node_name(moved, moved->port_node[y->changes[1].kept_found[0]]),
		"d HCA-1");
}
