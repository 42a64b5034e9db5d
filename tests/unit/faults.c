/* SPDX-License-Identifier: BSD-2-Clause */
/* What is dead, by name and chance; loads, losses and local reroutes against slow
 * counting. */
#include "support/process.h"
#include "support/test.h"
#include "support/unicast_check.h"
#include "unicast/criticality.h"
#include "unicast/engine.h"
#include "unicast/reliability.h"

#include <unistd.h>

static struct fab_faults *faults_of(const struct fab_fabric *f, const char *switches)
{
	struct fab_faults *faults = fab_faults_new(f);

	MUST(fab_faults_add_switches(faults, switches, ERR));
	return faults;
}

Test(faults, names)
{
	OWN(fab_fabric) *f = test_gen_raw("kfat:dims=4x3,hosts=2");
	char text[128];
	OWN(fab_faults) *faults = NULL;

	snprintf(text, sizeof(text), "2.1,leaf-0.0,0x%016llx,lid:4,\"root-x.0\",2.1",
		 (unsigned long long)f->node_guid[2]);
	faults = faults_of(f, text);
	cr_assert_eq(faults->named.n, 5);
	cr_assert(faults->switch_is_dead[test_switch(f, "leaf-2.1")]);
	cr_assert(faults->switch_is_dead[0]);
	cr_assert(faults->switch_is_dead[2]);
	cr_assert(faults->switch_is_dead[test_switch(f, "leaf-1.0")]); /* LID 4 */
	cr_assert(faults->switch_is_dead[test_switch(f, "root-x.0")]);
	for (uint32_t p = f->node_first_port[0]; p < f->node_first_port[1]; p++)
		if (f->port_cable[p] != FAB_NONE)
			cr_assert(faults->cable_is_dead[f->port_cable[p]]);
	fab_faults_clear(faults);
	for (uint32_t c = 0; c < f->n_cables; c++)
		cr_assert_not(faults->cable_is_dead[c]);
	for (uint32_t s = 0; s < f->n_switches; s++)
		cr_assert_not(faults->switch_is_dead[s]);
}

Test(faults, names_that_are_none)
{
	static const char *const bad[] = {
		"",	",",   "leaf-9.9", "9.9",	 "lid:0",	  "lid:x",
		"0xzz", "0x1", "lid:1000", "\"leaf-0.0", "\"leaf-0.0\"x", "1.1,",
		"."};
	OWN(fab_fabric) *f = test_gen_raw("kfat:dims=2x2,hosts=1");
	OWN(fab_faults) *faults = fab_faults_new(f);
	char host[64];

	for (size_t i = 0; i < FAB_COUNT(bad); i++)
		cr_assert_lt(fab_faults_add_switches(faults, bad[i], ERR), 0, "%s",
			     bad[i]);
	snprintf(host, sizeof(host), "%s", fab_node_name(f, f->n_switches));
	FAILS(fab_faults_add_switches(faults, host, ERR), -EINVAL, "is an adapter");
	cr_assert_lt(fab_faults_add_cables(faults, "leaf-0.0", ERR), 0);
	cr_assert_lt(fab_faults_add_cables(faults, "leaf-0.0:0", ERR), 0);
	cr_assert_lt(fab_faults_add_cables(faults, "leaf-0.0:9", ERR), 0);
	cr_assert_lt(fab_faults_add_cables(faults, ":1", ERR), 0);
	MUST(fab_faults_add_cables(faults, "leaf-0.0:2,1.1:3", ERR));
	/* "1.1," named 1.1 before it failed, and its cables died with it */
	cr_assert_eq(faults->named.n, 2);
}

static int read_file(struct fab_faults *faults, const char *text, size_t len,
		     struct fab_err *err)
{
	char path[TEMP_SIZE];
	int fd = mkstemp(temp_template(path)), rc;

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, len), (ssize_t)len);
	close(fd);
	rc = fab_faults_add_file(faults, path, err);
	unlink(path);
	return rc;
}

Test(faults, file)
{
	static const char good[] = "# dead\n\n leaf-0.0 \r\nlink 1.1:3\nlid:2";
	static const char zero[] = "leaf-1.0\nleaf\0-0.1\n";
	OWN(fab_fabric) *f = test_gen_raw("kfat:dims=2x2,hosts=1");
	OWN(fab_faults) *faults = fab_faults_new(f);
	FAB_AUTOFREE char *name = NULL;

	MUST(read_file(faults, good, sizeof(good) - 1, ERR));
	cr_assert_eq(faults->named.n, 3);
	cr_assert(faults->named.v[1].is_cable);
	name = fab_fault_text(f, faults->named.v[1]);
	cr_assert_str_eq(name, "leaf-1.1:3");
	FAILS(read_file(faults, zero, sizeof(zero) - 1, ERR), -EINVAL,
	      ":2: expected text");
	cr_assert_eq(fab_faults_add_file(faults, "/nowhere", ERR), -ENOENT);
}

/* The next one in lexicographic order. */
static bool next_combination(size_t *pick, size_t k, size_t n)
{
	for (size_t i = k; i-- > 0;) {
		if (pick[i] + (k - i) >= n)
			continue;
		pick[i]++;
		for (size_t j = i + 1; j < k; j++)
			pick[j] = pick[j - 1] + 1;
		return true;
	}
	return false;
}

Test(faults, combinations)
{
	for (size_t n = 1; n < 12; n++)
		for (size_t k = 0; k <= n; k++) {
			size_t want[12], got[12];
			uint64_t number = 0;

			for (size_t i = 0; i < k; i++)
				want[i] = i;
			do {
				fab_faults_combination(number++, k, n, got);
				for (size_t i = 0; i < k; i++)
					cr_assert_eq(got[i], want[i]);
			} while (next_combination(want, k, n));
			cr_assert_eq(number, fab_faults_combinations(n, k));
		}
	cr_assert_eq(fab_faults_combinations(5, 0), 1);
	cr_assert_eq(fab_faults_combinations(3, 4), 0);
	cr_assert_eq(fab_faults_combinations(64, 32), UINT64_C(1832624140942590534));
	cr_assert_eq(fab_faults_combinations(100, 50), UINT64_MAX);
}

/* Each pair of 5 candidates about as often. */
Test(faults, drawing_is_fair)
{
	OWN(fab_fabric) *f = test_gen_raw("kfat:dims=5x2,hosts=1");
	OWN(fab_faults) *faults = fab_faults_new(f);
	struct fab_fault_list list;
	unsigned count[10] = {0};
	struct fab_stream rng = fab_stream_of(3, 0);

	fab_faults_candidates(f, FAB_FAULT_LEAVES, NULL, &list);
	cr_assert_eq(list.of.n, 10);
	for (unsigned i = 0; i < 10000; i++) {
		fab_faults_clear(faults);
		fab_faults_draw(faults, &list, 3, &rng);
		cr_assert_eq(faults->named.n, 3);
		for (size_t k = 0; k < 3; k++)
			count[faults->named.v[k].id]++;
	}
	for (size_t k = 0; k < 10; k++)
		cr_assert(count[k] > 2800 && count[k] < 3200, "%u", count[k]);
	for (size_t i = 0; i < 10; i++)
		cr_assert_eq(list.of.v[i].id, i, "the list is as it was");
	free(list.of.v);
	fab_faults_candidates(f, FAB_FAULT_ANY, faults, &list);
	cr_assert_eq(list.of.n, 17 - 3 + 20 - 6);
	free(list.of.v);
}

/* A set follows from its number, whatever was made before, and keeps what is always dead.
 */
Test(faults, sets_by_number)
{
	OWN(fab_fabric) *f = test_gen_raw("kfat:dims=5x4,hosts=1");
	OWN(fab_faults) *always = fab_faults_new(f);
	struct fab_fault_sets sets = {.always = always, .k = 3, .n = 20, .seed = 9};
	struct fab_fault_maker *up, *down;
	struct fab_fault seen[20][4];

	fab_faults_kill_switch(always, 0);
	MUST(fab_fault_sets_init(&sets, FAB_FAULT_LEAVES, ERR));
	cr_assert_eq(sets.candidates.of.n, 19);
	up = fab_fault_maker_new(&sets);
	down = fab_fault_maker_new(&sets);
	for (uint64_t i = 0; i < 20; i++) {
		fab_fault_maker_make(up, i);
		cr_assert_eq(up->faults->named.n, 4);
		cr_assert_eq(up->faults->named.v[0].id, 0);
		memcpy(seen[i], up->faults->named.v, sizeof(seen[i]));
	}
	for (uint64_t i = 20; i-- > 0;) {
		fab_fault_maker_make(down, i);
		for (size_t k = 0; k < 4; k++)
			cr_assert_eq(down->faults->named.v[k].id, seen[i][k].id);
	}
	fab_fault_maker_free(up);
	fab_fault_maker_free(down);
	fab_fault_sets_fini(&sets);
	sets = (struct fab_fault_sets){.always = always, .k = 20, .is_exhaustive = true};
	FAILS_AS(fab_fault_sets_init(&sets, FAB_FAULT_LEAVES, ERR), -EINVAL,
		 "20 faults are asked for, of 19 leaves");
}

struct routed {
	struct fab_fabric *f;
	struct fab_kfat *k;
	struct fab_faults *faults;
	struct fab_routes *r;
	struct fab_unicast_problem problem;
};

static struct routed route(const char *spec, const char *dead,
			   const struct fab_unicast_engine *engine)
{
	struct routed x = {.f = test_gen_raw(spec)};

	MUST(fab_kfat_recognize(x.f, &x.k, ERR));
	x.faults = dead ? faults_of(x.f, dead) : fab_faults_new(x.f);
	x.problem = (struct fab_unicast_problem){
		.f = x.f, .faults = x.faults, .kfat = x.k, .max_vls = 2, .n_threads = 1};
	MUST(fab_unicast_route(engine, &x.problem, &x.r, ERR));
	return x;
}

static void end(struct routed *x)
{
	fab_routes_free(x->r);
	fab_faults_free(x->faults);
	fab_kfat_free(x->k);
	fab_fabric_free(x->f);
}

OWN_VALUE(routed, end)

/* The second opinion agrees with the analysis, and notices each wrong figure. */
Test(faults, second_opinion)
{
	static const char dead[] = "1.1,2.2,0.3";
	OWN(routed) x = route("kfat:dims=4x4,hosts=2", dead, &fab_unicast_vtftr_ib);
	OWN(fab_analysis) j = test_verified(x.r, FAB_ENDS_LEAVES);
	struct fab_analysis wrong;

	for (int what = 0; what < 6; what++) {
		wrong = j;
		wrong.pairs += what == 0;
		wrong.connected -= what == 1;
		wrong.minimal -= what == 2;
		wrong.vls += what == 3;
		wrong.sls += what == 4;
		wrong.deadlock_free ^= what == 5;
		cr_assert_eq(fab_unicast_verify(x.r, FAB_ENDS_LEAVES, &wrong, ERR),
			     -EINVAL);
	}
	fab_analysis_fini(&j);
	j = test_verified(x.r, FAB_ENDS_HOSTS);
}

/* A pair without a service level must not send: for the analysis as for the walk. */
Test(faults, pairs_that_must_not_send)
{
	OWN(routed) x = route("kfat:dims=4x4,hosts=2", "1.1", &fab_unicast_vtftr_ib);
	OWN(fab_analysis) j;

	cr_assert_not_null(x.r->sl);
	x.r->sl[3 * (size_t)x.r->n_columns + 5] = FAB_SL_NONE;
	x.r->sl[3 * (size_t)x.r->n_columns + 6] = FAB_SL_NONE;
	j = test_verified(x.r, FAB_ENDS_LEAVES);
	cr_assert_eq(j.unreachable, 2);
	cr_assert_eq(j.minimal, j.connected);
	fab_analysis_fini(&j);
	j = test_verified(x.r, FAB_ENDS_HOSTS);
	cr_assert_eq(j.unreachable, 8);
}

static struct fab_flow_load load_of(const struct routed *x, const char *spec)
{
	OWN(fab_flow_ends) ends;
	const struct fab_permutation_problem problem = {x->f, x->k, &ends, 1};
	struct fab_flow_load load;
	FAB_AUTOFREE uint32_t *to = NULL;

	fab_flow_ends_init(&ends, x->f, x->faults->switch_is_dead,
			   x->faults->cable_is_dead);
	MUST(fab_permutation_make(spec, &problem, &to, ERR));
	fab_permutation_load(x->r, &ends, to, &load);
	return load;
}

/* Dimension order by hand: n x n leaves of h hosts. */
Test(faults, permutations)
{
	OWN(routed) x = route("kfat:dims=4x4,hosts=3", NULL, &fab_unicast_xy);
	struct fab_flow_load load = load_of(&x, "transpose");

	/* leaf x.y sends to y.x, turning at y.y: three leaves of the row send there */
	cr_assert_eq(load.flows, 48 - 12);
	cr_assert_eq(load.lost, 0);
	cr_assert_eq(load.max, 3 * 3);
	load = load_of(&x, "shift:12"); /* to the next column: one segment, no sharing */
	cr_assert_eq(load.max, 3);
	cr_assert_float_eq(load.mean, 48 * 2 / 64.0, 1e-9);
	load = load_of(&x, "shift:0");
	cr_assert_eq(load.flows, 0);
	load = load_of(&x, "reverse");
	cr_assert_eq(load.flows, 48);
	load = load_of(&x, "random");
	cr_assert_geq(load.max, 3);
	end(&x);
	x = route("kfat:dims=4x4,hosts=1", "1.1", &fab_unicast_xy);
	load = load_of(&x, "transpose"); /* 0.1 and 2.1, 3.1 turn at 1.1 */
	cr_assert_eq(load.flows, 12);
	cr_assert_eq(load.lost, 3);
}

/* Each loss, routed again by hand. */
Test(faults, losses)
{
	OWN(routed) x = route("kfat:dims=3x3,hosts=2", "0.0", &fab_unicast_xy);
	const struct fab_losses_options options = {.steps = UINT64_MAX};
	struct fab_losses losses;

	MUST(fab_losses_rank(&x.problem, &fab_unicast_xy, x.r, &options, &losses, ERR));
	cr_assert_eq(losses.of.n, 14 + 18 - 2);
	for (size_t i = 0; i < losses.of.n; i++) {
		const struct fab_loss *loss = &losses.of.v[i];
		OWN(fab_faults) *faults = faults_of(x.f, "0.0");
		struct fab_unicast_problem problem = x.problem;
		OWN(fab_analysis)
		before = test_analysis(x.r, FAB_ENDS_LEAVES), after = {0};
		OWN(fab_routes) *r = NULL;
		uint64_t gone = 0;

		fab_faults_kill(faults, loss->part);
		problem.faults = faults;
		MUST(fab_unicast_route(&fab_unicast_xy, &problem, &r, ERR));
		after = test_analysis(r, FAB_ENDS_LEAVES);
		/* connected pairs of the leaf that died do not count as lost */
		for (uint32_t c = 0; c < x.r->n_columns && !loss->part.is_cable; c++)
			for (uint32_t s = 0; s < x.r->n_columns; s++) {
				const uint16_t *next =
					x.r->next + (size_t)c * x.f->n_switches;
				uint32_t sw = x.r->column_switch[s];

				if (s == c || (sw != loss->part.id &&
					       x.r->column_switch[c] != loss->part.id))
					continue;
				while (next[sw] < FAB_ARC_BROKEN)
					sw = x.f->arc_peer[x.f->arc_first[sw] + next[sw]];
				gone += next[sw] == FAB_ARC_HERE;
			}
		cr_assert_eq(loss->unreachable,
			     before.connected - gone - after.connected);
		cr_assert_eq(loss->longer, 0); /* xy has no other path */
		if (i)
			cr_assert_geq(losses.of.v[i - 1].unreachable, loss->unreachable);
	}
	free(losses.of.v);
}

/* One unknown fault can always be rerouted locally, with one known one, too; two cannot.
 */
Test(faults, rerouting)
{
	OWN(routed) x = route("kfat:dims=6x6,hosts=1", NULL, &fab_unicast_vtftr);
	struct fab_local_reroute d;

	MUST(fab_local_reroute_all(x.k, x.faults, FAB_REROUTE_SEARCH, 1, 1, &d, ERR));
	cr_assert_eq(d.bursts, 36);
	cr_assert_eq(d.cases, 36 * 25); /* every pair that turns meets its turn */
	cr_assert_eq(d.stuck, 0);
	cr_assert_eq(d.segments_more, d.cases); /* row - column - row: a segment more */
	MUST(fab_local_reroute_all(x.k, x.faults, FAB_REROUTE_SEARCH, 2, 2, &d, ERR));
	cr_assert_eq(d.cases, 36 * 25 * 33);
	end(&x);
	x = route("kfat:dims=6x6,hosts=1", "2.3", &fab_unicast_vtftr);
	MUST(fab_local_reroute_all(x.k, x.faults, FAB_REROUTE_SEARCH, 1, 1, &d, ERR));
	cr_assert_eq(d.stuck, 0);
	MUST(fab_local_reroute_all(x.k, x.faults, FAB_REROUTE_SEARCH, 2, 1, &d, ERR));
	cr_assert_gt(d.stuck, 0);
	end(&x);
	x = route("kfat:dims=3x3x3,hosts=1", NULL, &fab_unicast_xy);
	cr_assert_eq(
		fab_local_reroute_all(x.k, x.faults, FAB_REROUTE_SEARCH, 1, 1, &d, NULL),
		-EINVAL);
}

/* With 7 faults on the diagonal of 8 x 8 only row 7 and column 7 have none: entries
 * towards them have no list. */
Test(faults, lists_of_local_rerouting)
{
	OWN(fab_fabric) *f = test_gen("kfat:dims=8x8,hosts=1");
	OWN(fab_faults) *faults = fab_faults_new(f);
	struct fab_local_reroute d;
	OWN(fab_kfat) *k = NULL;
	uint32_t leaf[64], line;

	MUST(fab_kfat_recognize(f, &k, ERR));
	MUST(fab_local_reroute_all(k, faults, FAB_REROUTE_LISTS, 1, 1, &d, ERR));
	cr_expect_eq(d.stuck, 0);
	cr_expect_eq(d.segments_more, d.cases);
	for (uint32_t i = 0; i < 7; i++)
		fab_faults_kill_switch(faults, k->leaf[i * 9]);
	line = k->line_of[0];
	cr_expect_eq(fab_local_reroute_list(k, faults, line, 3, leaf), 1);
	cr_expect_eq(k->coord[leaf[0] * 2 + k->line_dim[line]], 7);
	cr_expect_eq(fab_local_reroute_list(k, faults, line, 7, leaf), 0);
	MUST(fab_local_reroute_all(k, faults, FAB_REROUTE_LISTS, 1, 2, &d, ERR));
	/* paths with one turn: 392 of 2450; 42 pairs with two turns: 42 of 84 */
	cr_expect_eq(d.cases, 2534);
	cr_expect_eq(d.stuck, 434);
}

Test(faults, updn)
{
	OWN(fab_fabric) *f = test_gen_raw("fattree:radix=8,levels=3");
	OWN(fab_routes) *r = test_tables(f, NULL, "updn", 1);
	OWN(fab_analysis) j = test_analysis(r, FAB_ENDS_HOSTS);

	cr_assert_null(r->note);
	cr_assert_eq(j.unreachable, 0);
	cr_assert(j.deadlock_free);
	cr_assert_eq(j.valley_pairs, 0);
	cr_assert_eq(j.minimal, j.pairs);
	fab_routes_free(r);
	fab_fabric_free(f);
	f = test_gen_raw("torus:dims=5x5,hosts=1");
	r = test_tables(f, NULL, "updn", 1);
	cr_assert_not_null(r->note);
}

/* The columns that engines make are those that were announced, with faults and LMC too.
 */
Test(faults, effort)
{
	static const char *const specs[] = {"kfat:dims=4x3,hosts=2",
					    "torus:dims=4x4,hosts=1",
					    "fattree:radix=8,levels=2", "mesh:dims=3x5"};
	static const char *const dead[] = {"2.1", "sw-1.2", "leaf-1,l2-0", "sw-0.1"};

	for (size_t i = 0; i < 2 * FAB_COUNT(specs); i++) {
		OWN(fab_fabric) *f = test_gen(specs[i / 2]);
		OWN(fab_faults) *faults = i % 2 ? faults_of(f, dead[i / 2]) : NULL;
		struct fab_unicast_problem problem = {
			.f = f, .faults = faults, .max_vls = 2, .n_threads = 1};
		struct fab_kfat *kfat = NULL;

		/* a host whose only cable is dead */
		if (faults && i / 2 == 2)
			MUST(fab_faults_add_cables(faults, "h0/1", ERR));
		if (!fab_kfat_recognize(f, &kfat, ERR))
			problem.kfat = kfat;
		for (size_t e = 0; e < fab_unicast_n_engines; e++) {
			const struct fab_unicast_engine *engine = fab_unicast_engines[e];
			struct fab_effort effort;
			OWN(fab_routes) *r = NULL;

			if (fab_unicast_fits(engine, &problem, NULL))
				continue;
			effort = fab_unicast_effort(engine, &problem);
			MUST(fab_unicast_route(engine, &problem, &r, ERR));
			cr_expect(effort.destinations >= r->n_columns, "%s of %s",
				  engine->name, specs[i / 2]);
			if (engine->imitates_opensm)
				cr_expect_eq(effort.destinations, r->n_columns);
			cr_expect_eq(effort.table_bytes,
				     effort.destinations * f->n_switches * 2);
			cr_expect(effort.cpu_seconds > 0 && effort.cpu_seconds < 0.01);
		}
		fab_kfat_free(problem.kfat ? kfat : NULL);
	}
}

/* LIDs of dead switches, with the hosts on them, and of hosts that were cut off are no
 * destinations. */
Test(faults, dead_parts_are_no_destinations)
{
	OWN(fab_fabric) *f = test_gen("torus:dims=3x3,hosts=2");
	OWN(fab_faults) *faults = fab_faults_new(f);
	const struct fab_unicast_problem problem = {
		.f = f, .faults = faults, .max_vls = 1, .n_threads = 1};
	const struct fab_unicast_engine *minhop = &fab_unicast_minhop;

	cr_expect_eq(fab_unicast_effort(minhop, &problem).destinations, 9 + 18);
	fab_faults_kill_switch(faults, 4);
	cr_expect_eq(fab_unicast_effort(minhop, &problem).destinations, 8 + 16);
	for (uint32_t c = f->n_switch_links; c < f->n_cables; c++)
		if (f->port_node[f->cable_a[c]] == 0 || f->port_node[f->cable_b[c]] == 0)
			fab_faults_kill_cable(faults, c);
	cr_expect_eq(fab_unicast_effort(minhop, &problem).destinations, 8 + 14);
}
