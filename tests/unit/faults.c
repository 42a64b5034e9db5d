/* SPDX-License-Identifier: BSD-2-Clause */
/* What is dead, by name and chance; loads, losses and local reroutes against slow
 * counting. */
#include "support/process.h"
#include "support/test.h"
#include "support/unicast_check.h"
#include "unicast/criticality.h"
#include "unicast/reliability.h"

Test(faults, file)
{
	static const char zero[] = "leaf-1.0\nleaf\0-0.1\n";
	FAB_AUTO(folder_fini) struct folder folder;
	OWN(fab_fabric) *f = test_gen_raw("kfat:dims=2x2,hosts=1");
	OWN(fab_faults) *faults = fab_faults_new(f);
	OWN_HEAP char *text = NULL;
	FILE *binary;

	folder_init(&folder);
	put("good", "# dead\n\n \"leaf-0.0\" \r\nlink 1.1:3\nlid:2");
	MUST(fab_faults_add_file(faults, "good", ERR));
	text = fab_faults_text(faults, ", ");
	cr_assert_str_eq(text, "leaf-0.0, leaf-1.1:3, leaf-0.1");
	binary = fopen("zero", "w");
	cr_assert_eq(fwrite(zero, sizeof(zero) - 1, 1, binary), 1);
	fclose(binary);
	FAILS(fab_faults_add_file(faults, "zero", ERR), -EINVAL, ":2: expected text");
	cr_assert_eq(fab_faults_add_file(faults, "/nowhere", ERR), -ENOENT);
}

/* All combinations are the sets of n bits that have k, in lexicographic order. */
Test(faults, combinations)
{
	for (size_t n = 1; n < 12; n++)
		for (size_t k = 0; k <= n; k++) {
			uint64_t number = 0;
			size_t got[12];

			/* bit n - 1 is the first element */
			for (uint32_t set = 1u << n; set-- > 0;) {
				size_t i = 0;

				if ((size_t)__builtin_popcount(set) != k)
					continue;
				fab_faults_combination(number++, k, n, got);
				for (size_t e = 0; e < n; e++)
					if (set >> (n - 1 - e) & 1)
						cr_assert_eq(got[i++], e);
			}
			cr_assert_eq(number, fab_faults_combinations(n, k));
		}
	cr_assert_eq(fab_faults_combinations(3, 4), 0);
	cr_assert_eq(fab_faults_combinations(64, 32), UINT64_C(1832624140942590534));
	cr_assert_eq(fab_faults_combinations(100, 50), UINT64_MAX);
}

/* Each of 10 candidates about as often. */
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
	for (size_t k = 0; k < 10; k++) {
		cr_assert(count[k] > 2800 && count[k] < 3200, "%u", count[k]);
		cr_assert_eq(list.of.v[k].id, k, "the list is as it was");
	}
	free(list.of.v);
	fab_faults_candidates(f, FAB_FAULT_ANY, faults, &list);
	cr_assert_eq(list.of.n, 17 - 3 + 20 - 6);
	free(list.of.v);
}

/* A set follows from its number, whatever was made before, and keeps what is always dead.
 */
Test(faults, sets_by_number)
{
	OWN(kfat_net) n = kfat_net("kfat:dims=5x4,hosts=1", "leaf-0.0");
	struct fab_fault_sets sets = {.always = n.faults, .k = 3, .n = 20, .seed = 9};
	struct fab_fault seen[20][4];

	MUST(fab_fault_sets_init(&sets, FAB_FAULT_LEAVES, ERR));
	cr_assert_eq(sets.candidates.of.n, 19);
	for (int down = 0; down < 2; down++) {
		struct fab_fault_maker *maker = fab_fault_maker_new(&sets);
		const struct fab_faults *made = maker->faults;

		for (uint64_t i = 0; i < 20; i++) {
			const uint64_t number = down ? 19 - i : i;

			fab_fault_maker_make(maker, number);
			cr_assert(made->named.n == 4 && made->named.v[0].id == 0);
			for (size_t k = 0; k < 4 && down; k++)
				cr_assert_eq(made->named.v[k].id, seen[number][k].id);
			memcpy(seen[number], made->named.v, sizeof(seen[number]));
		}
		fab_fault_maker_free(maker);
	}
	fab_fault_sets_fini(&sets);
	sets = (struct fab_fault_sets){
		.always = n.faults, .k = 20, .is_exhaustive = true};
	FAILS_AS(fab_fault_sets_init(&sets, FAB_FAULT_LEAVES, ERR), -EINVAL,
		 "20 faults are asked for, of 19 leaves");
}

/* The second opinion agrees with the analysis, and notices each wrong figure. */
Test(faults, second_opinion)
{
	OWN(kfat_net) n = kfat_net("kfat:dims=4x4,hosts=2", "1.1,2.2,0.3");
	OWN(fab_routes) *r = test_tables(n.f, n.faults, "vtftr-ib", 2);
	OWN(fab_analysis)
	j = test_verified(r, FAB_ENDS_LEAVES),
	of_hosts = test_verified(r, FAB_ENDS_HOSTS);

	for (int what = 0; what < 6; what++) {
		struct fab_analysis wrong = j;

		wrong.pairs += what == 0;
		wrong.connected -= what == 1;
		wrong.minimal -= what == 2;
		wrong.vls += what == 3;
		wrong.sls += what == 4;
		wrong.deadlock_free ^= what == 5;
		FAILS(fab_unicast_verify(r, FAB_ENDS_LEAVES, &wrong, ERR), -EINVAL, "");
	}
}

/* Dimension order by hand: n x n leaves of h hosts. */
Test(faults, permutations)
{
	OWN(kfat_net)
	n = kfat_net("kfat:dims=4x4,hosts=3", NULL),
	one = kfat_net("kfat:dims=4x4,hosts=1", "1.1");
	OWN(fab_routes) *r = test_tables(n.f, n.faults, "xy", 2),
			*less = test_tables(one.f, one.faults, "xy", 2);
	struct fab_flow_load load = test_load(&n, r, "transpose");

	/* leaf x.y sends to y.x, turning at y.y: three leaves of the row send there */
	cr_assert(load.flows == 48 - 12 && load.lost == 0 && load.max == 3 * 3);
	load = test_load(&n, r, "shift:12"); /* to the next column: nothing is shared */
	cr_assert_eq(load.max, 3);
	cr_assert_float_eq(load.mean, 48 * 2 / 64.0, 1e-9);
	cr_assert_eq(test_load(&n, r, "shift:0").flows, 0);
	cr_assert_eq(test_load(&n, r, "reverse").flows, 48);
	cr_assert_geq(test_load(&n, r, "random").max, 3);
	load = test_load(&one, less, "transpose"); /* 0.1 and 2.1, 3.1 turn at 1.1 */
	cr_assert(load.flows == 12 && load.lost == 3);
}

/* Each loss, routed again by hand. */
Test(faults, losses)
{
	OWN(kfat_net) n = kfat_net("kfat:dims=3x3,hosts=2", "0.0");
	const struct fab_losses_options options = {.steps = UINT64_MAX};
	const struct fab_unicast_problem problem = {
		.f = n.f, .faults = n.faults, .kfat = n.k, .max_vls = 2, .n_threads = 1};
	OWN(fab_routes) *whole = test_route(&problem, "xy");
	OWN(fab_analysis) before = test_analysis(whole, FAB_ENDS_LEAVES);
	struct fab_losses losses;

	MUST(fab_losses_rank(&problem, &fab_unicast_xy, whole, &options, &losses, ERR));
	cr_assert_eq(losses.of.n, 14 + 18 - 2);
	for (size_t i = 0; i < losses.of.n; i++) {
		const struct fab_loss *loss = &losses.of.v[i];
		OWN(kfat_net) left = kfat_net("kfat:dims=3x3,hosts=2", "0.0");
		OWN(fab_routes) *r = NULL;
		OWN(fab_analysis) after = {0};
		uint64_t gone = 0;

		fab_faults_kill(left.faults, loss->part);
		r = test_tables(left.f, left.faults, "xy", 2);
		after = test_analysis(r, FAB_ENDS_LEAVES);
		/* connected pairs of the leaf that died do not count as lost */
		for (uint32_t k = 0; k < whole->n_columns * whole->n_columns; k++) {
			uint32_t from = whole->column_switch[k % whole->n_columns];
			uint32_t c = k / whole->n_columns;
			uint32_t to = whole->column_switch[c];

			if (!loss->part.is_cable && from != to &&
			    (from == loss->part.id || to == loss->part.id))
				gone += fab_path_length(whole, from, c) != FAB_NONE;
		}
		cr_assert_eq(loss->unreachable,
			     before.connected - gone - after.connected);
		cr_assert_eq(loss->longer, 0); /* xy has no other path */
		cr_assert(!i || loss[-1].unreachable >= loss->unreachable);
	}
	free(losses.of.v);
}

static struct fab_local_reroute reroute(const struct kfat_net *n, unsigned burst,
					enum fab_reroute_method method)
{
	struct fab_local_reroute d;

	MUST(fab_local_reroute_all(n->k, n->faults, method, burst, 2, &d, ERR));
	return d;
}

/* One unknown fault can always be rerouted locally, with one known one, too; two cannot.
 */
Test(faults, rerouting)
{
	OWN(kfat_net)
	n = kfat_net("kfat:dims=6x6,hosts=1", NULL),
	cube = kfat_net("kfat:dims=3x3x3,hosts=1", NULL);
	struct fab_local_reroute d = reroute(&n, 1, FAB_REROUTE_SEARCH);

	cr_assert_eq(d.bursts, 36);
	cr_assert_eq(d.cases, 36 * 25); /* every pair that turns meets its turn */
	cr_assert_eq(d.stuck, 0);
	cr_assert_eq(d.segments_more, d.cases); /* row - column - row: a segment more */
	cr_assert_eq(reroute(&n, 2, FAB_REROUTE_SEARCH).cases, 36 * 25 * 33);
	MUST(fab_faults_add_switches(n.faults, "2.3", ERR));
	cr_assert_eq(reroute(&n, 1, FAB_REROUTE_SEARCH).stuck, 0);
	cr_assert_gt(reroute(&n, 2, FAB_REROUTE_SEARCH).stuck, 0);
	FAILS(fab_local_reroute_all(cube.k, cube.faults, FAB_REROUTE_SEARCH, 1, 1, &d,
				    ERR),
	      -EINVAL, "");
}

/* With 7 faults on the diagonal of 8 x 8 only row 7 and column 7 have none: entries
 * towards them have no list. */
Test(faults, lists_of_local_rerouting)
{
	OWN(kfat_net) n = kfat_net("kfat:dims=8x8,hosts=1", NULL);
	struct fab_local_reroute d = reroute(&n, 1, FAB_REROUTE_LISTS);
	uint32_t leaf[64], line = n.k->line_of[0];

	cr_expect(d.stuck == 0 && d.segments_more == d.cases);
	for (uint32_t i = 0; i < 7; i++)
		fab_faults_kill_switch(n.faults, n.k->leaf[i * 9]);
	cr_expect_eq(fab_local_reroute_list(n.k, n.faults, line, 3, leaf), 1);
	cr_expect_eq(n.k->coord[leaf[0] * 2 + n.k->line_dim[line]], 7);
	cr_expect_eq(fab_local_reroute_list(n.k, n.faults, line, 7, leaf), 0);
	d = reroute(&n, 1, FAB_REROUTE_LISTS);
	/* paths with one turn: 392 of 2450; 42 pairs with two turns: 42 of 84 */
	cr_expect(d.cases == 2534 && d.stuck == 434);
}

/* LIDs of dead switches, with the hosts on them, and of hosts that were cut off are no
 * destinations. */
Test(faults, dead_parts_are_no_destinations)
{
	OWN(fab_fabric) *f = test_gen_raw("torus:dims=3x3,hosts=2");
	OWN(fab_faults) *faults = test_faults(f, "sw-1.1");
	const struct fab_unicast_problem problem = {
		.f = f, .faults = faults, .max_vls = 1, .n_threads = 1};

	MUST(fab_faults_add_cables(faults, "h0/1,h1/1", ERR));
	cr_expect_eq(fab_unicast_effort(&fab_unicast_minhop, &problem).destinations,
		     8 + 14);
}

/* The columns that engines make are those that were announced, with faults and LMC too.
 */
Test(faults, effort)
{
	static const char *const cases[][2] = {
		{"kfat:dims=4x3,hosts=2", "2.1"},
		{"torus:dims=4x4,hosts=1", "sw-1.2"},
		{"fattree:radix=8,levels=2", "leaf-1,l2-0"},
		{"mesh:dims=3x5", "sw-0.1"}};

	for (size_t i = 0; i < 2 * FAB_COUNT(cases) * fab_unicast_n_engines; i++) {
		const size_t at = i / 2 % FAB_COUNT(cases);
		const struct fab_unicast_engine *engine =
			fab_unicast_engines[i / 2 / FAB_COUNT(cases)];
		OWN(fab_fabric) *f = test_gen(cases[at][0]);
		OWN(fab_faults) *faults = i % 2 ? test_faults(f, cases[at][1]) : NULL;
		struct fab_unicast_problem problem = {
			.f = f, .faults = faults, .max_vls = 2, .n_threads = 1};
		OWN(fab_kfat) *kfat = NULL;
		OWN(fab_routes) *r = NULL;
		struct fab_effort effort;

		if (faults && at == 2) /* a host whose only cable is dead */
			MUST(fab_faults_add_cables(faults, "h0/1", ERR));
		problem.kfat = fab_kfat_recognize(f, &kfat, ERR) ? NULL : kfat;
		if (fab_unicast_fits(engine, &problem, NULL))
			continue;
		effort = fab_unicast_effort(engine, &problem);
		r = test_route(&problem, engine->name);
		cr_expect(effort.destinations >= r->n_columns, "%s of %s", engine->name,
			  cases[at][0]);
		if (engine->imitates_opensm)
			cr_expect_eq(effort.destinations, r->n_columns);
		cr_expect_eq(effort.table_bytes, effort.destinations * f->n_switches * 2);
		cr_expect(effort.cpu_seconds > 0 && effort.cpu_seconds < 0.01);
	}
}
