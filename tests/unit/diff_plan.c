/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/diff_plan.h"

#include "base/map.h"
#include "export/fabrics.h"
#include "fabric/label.h"
#include "source/source.h"
#include "support/test.h"

/* A plan as lines of four fields. */
struct sheet {
	char *text;
	FAB_VEC(char *) rows[4];
};

static void sheet_fini(struct sheet *s)
{
	for (int k = 0; k < 4; k++)
		free(s->rows[k].v);
	free(s->text);
}

static struct sheet sheet_of(const struct fab_fabric *f)
{
	struct sheet s = {0};
	size_t n;
	FILE *out = open_memstream(&s.text, &n);
	char *save, *line;

	MUST(fab_export_plan(out, f, ERR));
	fclose(out);
	cr_assert_null(strchr(s.text, '"'), "a field with a comma");
	line = strtok_r(s.text, "\n", &save);
	while ((line = strtok_r(NULL, "\n", &save))) {
		for (int k = 0; k < 4; k++) {
			char *field = strsep(&line, ",");

			cr_assert_not_null(field);
			FAB_PUSH(&s.rows[k], field);
		}
		cr_assert_null(line);
	}
	return s;
}

/* The rows in a random order, some with their ends exchanged. NULL: a row that is gone.
 */
static struct fab_fabric *sheet_build(const struct sheet *s, struct fab_rng *rng)
{
	uint32_t n = (uint32_t)s->rows[0].n;
	OWN_HEAP uint32_t *order = test_order(n, rng);
	struct fab_fabric *f = NULL;
	OWN_HEAP char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fputs("#EndDevice,StartPort,LinkType,EndPort,StartDevice\n", out);
	for (uint32_t i = 0; i < n; i++) {
		int turn = fab_rng_below(rng, 2) ? 2 : 0;
		char *const *v[4];

		for (int k = 0; k < 4; k++)
			v[k] = &s->rows[(k + turn) % 4].v[order[i]];
		if (*v[0])
			fprintf(out, "%s,%s,Data,%s,%s\n", *v[2], *v[1], *v[3], *v[0]);
	}
	fclose(out);
	MUST(fab_source_parse("plan", text, len, NULL, &f, ERR));
	return f;
}

/* The port of the fabric that two fields name. */
static uint32_t port_of(const struct fab_fabric *f, const struct fab_resolver *names,
			const char *device, const char *port)
{
	unsigned board, chip, num = 1;
	char name[400];
	uint32_t node;

	snprintf(name, sizeof(name), "%s", device);
	if (sscanf(port, "Blade %u_Port %u/%u", &board, &chip, &num) == 3)
		snprintf(name, sizeof(name), "%s/L%02u/U%u", device, board, chip);
	else if (sscanf(port, "Port %u", &num) != 1)
		snprintf(name, sizeof(name), "%s", port);
	node = fab_plan_find_node(f, names, name);
	cr_assert_neq(node, FAB_NONE, "%s is not there", name);
	return fab_port_find(f, node, num);
}

/* What was planned otherwise, by the cables of the fabric that it concerns. */
struct damage {
	FAB_VEC(char *) fields; /* on the heap */
	uint32_t n[4];		/* extra, miswired, swapped, missing */
	uint8_t *expected;	/* [cables of the fabric] 1 + index of n, 0: as planned */
	bool *is_used;		/* [rows] */
	uint32_t n_rows;	/* at first */
};

enum { LEFT_OUT, MOVED, SWAPPED, ADDED };

/* The field of a free port of a switch that the sheet names in this row, on the heap. */
static char *free_port(const struct fab_fabric *f, const struct fab_resolver *names,
		       const struct sheet *s, uint32_t row, int side,
		       struct fab_strmap *taken, struct damage *d)
{
	char *device = s->rows[2 * side].v[row], *port = s->rows[2 * side + 1].v[row];
	uint32_t at = port_of(f, names, device, port), node = f->port_node[at];
	size_t stem;

	if (!fab_node_is_switch(f, node))
		return NULL;
	for (stem = strlen(port); stem && port[stem - 1] >= '0' && port[stem - 1] <= '9';)
		stem--;
	for (unsigned num = 1; num <= f->node_n_ports[node]; num++) {
		uint32_t p = fab_port_find(f, node, num);
		char *text, key[64];
		int n;

		if (p != FAB_NONE && fab_port_peer(f, p) != FAB_NONE)
			continue;
		n = snprintf(key, sizeof(key), "%u/%u", node, num);
		if (fab_strmap_put(taken, key, (size_t)n, num + 1000000 * row) !=
		    num + 1000000 * row)
			continue;
		text = fab_format("%.*s%u", (int)stem, port, num);
		FAB_PUSH(&d->fields, text);
		return text;
	}
	return NULL;
}

static uint32_t take_row(struct damage *d, struct fab_rng *rng)
{
	for (int i = 0; i < 100; i++) {
		uint32_t row = test_below(rng, d->n_rows);

		if (d->is_used[row])
			continue;
		d->is_used[row] = true;
		return row;
	}
	return FAB_NONE;
}

static uint32_t cable_of(const struct fab_fabric *f, const struct fab_resolver *names,
			 const struct sheet *s, uint32_t row)
{
	return f->port_cable[port_of(f, names, s->rows[0].v[row], s->rows[1].v[row])];
}

/* Plant one change; rows of the sheet change, and with them what must be found. */
static void plant(int kind, const struct fab_fabric *f, const struct fab_resolver *names,
		  struct sheet *s, struct fab_strmap *taken, struct damage *d,
		  struct fab_rng *rng)
{
	uint32_t row = take_row(d, rng), other = take_row(d, rng), cable[2];
	int side = (int)fab_rng_below(rng, 2);
	char *port, *far;

	if (row == FAB_NONE || other == FAB_NONE)
		return;
	cable[0] = cable_of(f, names, s, row);
	cable[1] = cable_of(f, names, s, other);
	if (kind == LEFT_OUT) {
		s->rows[0].v[row] = s->rows[2].v[row] = NULL;
	} else if (kind == SWAPPED) {
		for (int k = 2; k < 4; k++) {
			char *x = s->rows[k].v[row];

			s->rows[k].v[row] = s->rows[k].v[other];
			s->rows[k].v[other] = x;
		}
		d->expected[cable[1]] = 1 + SWAPPED;
	} else if (kind == MOVED) {
		port = free_port(f, names, s, other, 0, taken, d);
		if (!port)
			return;
		s->rows[2 * side].v[row] = s->rows[0].v[other];
		s->rows[2 * side + 1].v[row] = port;
	} else {
		port = free_port(f, names, s, row, 0, taken, d);
		far = port ? free_port(f, names, s, other, 0, taken, d) : NULL;
		if (!far)
			return;
		FAB_PUSH(&s->rows[0], s->rows[0].v[row]);
		FAB_PUSH(&s->rows[1], port);
		FAB_PUSH(&s->rows[2], s->rows[0].v[other]);
		FAB_PUSH(&s->rows[3], far);
	}
	d->n[kind]++;
	if (kind != ADDED)
		d->expected[cable[0]] = (uint8_t)(1 + kind);
}

/* Every planted change is found, as what it is, and no other. */
static void expect_planted(const struct fab_fabric *f, const struct fab_plan_diff *x,
			   const struct damage *d)
{
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
				cr_assert_eq(d->expected[c->found[k]], 1 + kind,
					     "%s: cable %u is %u, expected %u", f->source,
					     c->found[k], 1 + kind,
					     d->expected[c->found[k]]);
		if (c->is_swap || kind == MOVED) {
			cr_assert_neq(c->kept_found[0], FAB_NONE);
			cr_assert_eq(f->port_cable[c->kept_found[0]], c->found[0]);
		}
	}
	cr_assert_eq(n_swaps, d->n[SWAPPED]);
	cr_assert_eq(x->n_of[FAB_WIRING_MISWIRED], d->n[MOVED] + d->n[SWAPPED]);
	cr_assert_eq(x->n_of[FAB_WIRING_EXTRA], d->n[LEFT_OUT]);
	cr_assert_eq(x->n_of[FAB_WIRING_MISSING], d->n[ADDED]);
	cr_assert_eq(x->n_unknown, 0);
	cr_assert_eq(x->n_unnamed, 0);
}

/*
 * `n` changes of some of the kinds, a bit each. An addition between the switches of a row
 * that was left out would be one that was moved: not both at once.
 */
static void damage_and_compare(const struct fab_fabric *f, unsigned kinds, uint32_t n,
			       uint64_t seed)
{
	OWN(fab_resolver) *names = fab_resolver_new(f);
	struct fab_rng rng = test_rng(seed);
	FAB_AUTO(sheet_fini) struct sheet s = sheet_of(f);
	struct fab_strmap *taken = fab_strmap_new(64);
	struct damage d = {.expected = FAB_NEW0(f->n_cables, uint8_t),
			   .is_used = FAB_NEW0(s.rows[0].n, bool),
			   .n_rows = (uint32_t)s.rows[0].n};
	OWN(fab_plan_diff) *x = NULL;
	OWN(fab_fabric) *plan = NULL;

	for (uint32_t i = 0; i < n; i++) {
		int kind = (int)fab_rng_below(&rng, 4);

		if (kinds >> kind & 1)
			plant(kind, f, names, &s, taken, &d, &rng);
	}
	plan = sheet_build(&s, &rng);
	MUST(fab_plan_diff_new(plan, f, &x, ERR));
	expect_planted(f, x, &d);
	fab_strmap_free(taken);
	for (size_t i = 0; i < d.fields.n; i++)
		free(d.fields.v[i]);
	free(d.fields.v);
	free(d.expected);
	free(d.is_used);
}

static void check_fabric(struct fab_fabric *f, uint32_t n_runs)
{
	uint32_t most = f->n_cables / 8 + 1;

	damage_and_compare(f, 0, 0, 1);
	for (uint64_t seed = 1; seed <= n_runs; seed++) {
		uint32_t n = 1 + (uint32_t)(seed * 7 % most);

		damage_and_compare(f, 1u << LEFT_OUT | 1u << MOVED | 1u << SWAPPED, n,
				   seed);
		damage_and_compare(f, 1u << ADDED | 1u << MOVED | 1u << SWAPPED, n, seed);
	}
	fab_fabric_free(f);
}

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

Test(diff_plan, generated_fabrics)
{
	for (size_t i = 0; i < FAB_COUNT(specs); i++)
		check_fabric(test_gen_raw(specs[i]), test_some(10, 1, 2));
}

Test(diff_plan, real_fabrics)
{
	for (const char *const *dump = data_dumps; *dump; dump++)
		check_fabric(data_open(*dump), test_some(3, 1, 1));
}

/* Names of a plan that are not quite those of the fabric. */

static const char fabric_text[] =
	"#StartDevice,StartPort,EndDevice,EndPort\n"
	"leaf1,1,one.x.org,mlx5_0\nleaf1,2,two.x.org,mlx5_0\nleaf2,1,two.x.org,mlx5_1\n"
	"leaf1,3,three,HCA-1\nleaf1,9,spine,1\nleaf2,9,spine,2\nleaf1,8,spine,3\n";

static struct fab_plan_diff *compare_plan(const struct fab_fabric *f, const char *rows)
{
	OWN_HEAP char *text = fab_format("StartDevice,StartPort,EndDevice,EndPort\n"
					 "leaf1,9,spine,1\nleaf2,9,spine,2\n"
					 "leaf1,8,SPINE,3\n%s",
					 rows);
	OWN(fab_fabric) *plan = text_open(text);
	struct fab_plan_diff *diff = NULL;

	MUST(fab_plan_diff_new(plan, f, &diff, ERR));
	return diff;
}

/* Expect numbers of missing, miswired, extra cables, of adapters by host. */
static void expect(const char *rows, uint32_t missing, uint32_t miswired, uint32_t extra,
		   uint32_t by_host, uint32_t unknown)
{
	OWN(fab_fabric) *f = text_open(fabric_text);
	OWN(fab_plan_diff) *d = compare_plan(f, rows);

	cr_expect_eq(d->n_of[FAB_WIRING_MISSING], missing, "%s", rows);
	cr_expect_eq(d->n_of[FAB_WIRING_MISWIRED], miswired, "%s", rows);
	cr_expect_eq(d->n_of[FAB_WIRING_EXTRA], extra, "%s", rows);
	cr_expect_eq(d->n_by_host, by_host, "%s", rows);
	cr_expect_eq(d->n_unknown, unknown, "%s", rows);
}

Test(diff_plan, names_of_adapters)
{
	/* as they are, in another case */
	expect("leaf1,1,one.x.org,MLX5_0\nLEAF1,2,two.x.org,mlx5_0\n"
	       "leaf2,1,two.x.org,mlx5_1\nleaf1,3,Three,HCA-1\n",
	       0, 0, 0, 0, 0);
	/* without the domain */
	expect("leaf1,1,one,mlx5_0\nleaf1,2,two,mlx5_0\nleaf2,1,two,mlx5_1\n"
	       "leaf1,3,three.x.org,HCA-1\n",
	       0, 0, 0, 0, 0);
	/* hosts only, with numbers of ports */
	expect("leaf1,1,one.x.org,1\nleaf1,2,two.x.org,1\nleaf2,1,two.x.org,2\n"
	       "leaf1,3,three,1\n",
	       0, 0, 0, 0, 0);
	/* adapters of another scheme: by place, whatever their order */
	expect("leaf1,1,one,HCA-1\nleaf1,2,two,HCA-2\nleaf2,1,two,HCA-1\n"
	       "leaf1,3,three,mlx5_0\n",
	       0, 0, 0, 4, 0);
	/* one of them is elsewhere: by order */
	expect("leaf1,1,one,HCA-1\nleaf1,2,two,HCA-1\nleaf1,7,two,HCA-2\n"
	       "leaf1,3,three,mlx5_0\n",
	       0, 1, 0, 4, 0);
	/* a name of this scheme is believed: mlx5_2 is not mlx5_1 */
	expect("leaf1,1,one,mlx5_0\nleaf1,2,two,mlx5_0\nleaf2,1,two,mlx5_2\n"
	       "leaf1,3,three,HCA-1\n",
	       0, 1, 0, 0, 1);
	/* another domain is another host */
	expect("leaf1,1,one.y.org,mlx5_0\nleaf1,2,two,mlx5_0\nleaf2,1,two,mlx5_1\n"
	       "leaf1,3,three,HCA-1\n",
	       0, 1, 0, 0, 1);
	/* hosts swapped, one out, one in */
	expect("leaf1,1,two,mlx5_0\nleaf1,2,one,mlx5_0\nleaf2,1,two,mlx5_1\n"
	       "leaf1,7,four,HCA-1\n",
	       1, 1, 1, 0, 1);
}

Test(diff_plan, adapters_without_a_name_are_unknown)
{
	static const char dump[] =
		"Switch 36 \"S-0000000000000001\" # \"leaf1\" base port 0 lid 1 lmc 0\n"
		"[1] \"H-0000000000000002\"[1](3) # \"MT4123 ConnectX6   Mellanox Technologies\" lid 2 4xHDR\n"
		"[2] \"H-0000000000000004\"[1](5) # \"node2 HCA-1\" lid 3 4xHDR\n";
	OWN(fab_fabric) *f = text_open(dump);
	OWN(fab_fabric) *plan = text_open("StartDevice,StartPort,EndDevice,EndPort\n"
					  "leaf1,1,node1,HCA-1\nleaf1,2,node2,HCA-1\n");
	OWN(fab_fabric) *beyond = text_open("StartDevice,StartPort,EndDevice,EndPort\n"
					    "leaf1,37,node1,HCA-1\n");
	OWN(fab_fabric) *twice = text_open("StartDevice,StartPort,EndDevice,EndPort\n"
					   "leaf1,2,node2,HCA-1\nleaf1,3,node2,2\n"
					   "leaf1,4,x,1\n");
	OWN(fab_plan_diff) *d = NULL;
	struct fab_plan_diff *none = NULL;

	MUST(fab_plan_diff_new(plan, f, &d, ERR));
	cr_expect_eq(d->n_changes, 0);
	cr_expect_eq(d->n_as_planned, 2);
	cr_expect_eq(d->n_unnamed, 1);
	FAILS_AS(
		fab_plan_diff_new(beyond, f, &none, ERR), 0,
		"t: port 37 of \"leaf1\", for port 1 of \"node1 HCA-1\", is beyond the 36 ports that the switch has in t");
	FAILS_AS(
		fab_plan_diff_new(twice, f, &none, ERR), 0,
		"t: \"node2 HCA-1\" and \"node2\" are both \"node2 HCA-1\" in t, expected one name for a device");
}

/* Three ends that went round are no swap; a cable of an adapter goes with its adapter. */
Test(diff_plan, what_is_a_swap_and_what_is_not)
{
	static const char plan_text[] = "StartDevice,StartPort,EndDevice,EndPort\n"
					"s,1,a,HCA-1\ns,2,b,HCA-1\ns,3,c,HCA-1\n"
					"s,8,t,8\nt,1,d,HCA-1\ns,5,u,5\n";
	OWN(fab_fabric) *plan = text_open(plan_text);
	OWN(fab_fabric) *round = text_open("StartDevice,StartPort,EndDevice,EndPort\n"
					   "s,1,b,HCA-1\ns,2,c,HCA-1\ns,3,a,HCA-1\n"
					   "s,8,t,8\nt,1,d,HCA-1\ns,5,u,5\n");
	OWN(fab_fabric) *moved = text_open("StartDevice,StartPort,EndDevice,EndPort\n"
					   "s,1,a,HCA-1\ns,2,b,HCA-1\ns,3,c,HCA-1\n"
					   "s,8,t,8\nu,5,d,HCA-1\n");
	OWN(fab_plan_diff) *x = NULL, *y = NULL;

	MUST(fab_plan_diff_new(plan, round, &x, ERR));
	cr_expect_eq(x->n_changes, 3);
	for (uint32_t i = 0; i < x->n_changes; i++) {
		cr_expect_eq(x->changes[i].kind, FAB_WIRING_MISWIRED);
		cr_expect_not(x->changes[i].is_swap);
	}
	MUST(fab_plan_diff_new(plan, moved, &y, ERR));
	cr_expect_eq(y->n_changes, 2);
	cr_expect_eq(y->changes[0].kind, FAB_WIRING_MISSING);
	cr_expect_eq(y->changes[1].kind, FAB_WIRING_MISWIRED);
	cr_expect_str_eq(
		fab_node_name(moved, moved->port_node[y->changes[1].kept_found[0]]),
		"d HCA-1");
}
