/* SPDX-License-Identifier: BSD-2-Clause */
/* Who sends to whom; what is chosen by name. */
#include "traffic/traffic.h"
#include "support/test.h"
#include "traffic/jobs.h"
#include "traffic/pattern.h"

Test(traffic, permutations_are_told_by_name_and_argument)
{
	static const struct {
		const char *spec;
		bool ok;
	} cases[] = {
		{"shift:7", true},     {"shift:0", true}, {"shift:4294967295", true},
		{"shift", false},      {"shift:", false}, {"shift:4294967296", false},
		{"shift:-1", false},   {"reverse", true}, {"reverse:", false},
		{"reverse:1", false},  {"random", true},  {"transpose", true},
		{"transposed", false}, {"tornado", true}, {"tornado:2", false},
		{"neighbour", true},   {"bitcomp", true}, {"bitrev", true},
		{"bitrev:", false},    {"file:x", true},  {"file:", false},
		{"file", false},       {"", false},	  {":", false},
	};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		int rc = fab_permutation_check(cases[i].spec, ERR);

		cr_assert_eq(rc, cases[i].ok ? 0 : -EINVAL, "'%s'", cases[i].spec);
		cr_assert_eq(*test_err.text == '\0', cases[i].ok);
		/* the sentence names every row of the table */
		for (size_t k = 0; rc && k < fab_permutation_choices.n; k++)
			HAS(test_err.text, fab_permutation_choices.at(k).form);
	}
}

/* Of two and three hosts some send, whatever the seed; each other permutation comes. */
Test(traffic, by_chance_somebody_sends)
{
	static const char *const specs[] = {"fattree:radix=2,levels=1",
					    "torus:dims=3,hosts=1"};

	for (size_t i = 0; i < FAB_COUNT(specs); i++) {
		OWN(fab_fabric) *f = test_gen(specs[i]);
		OWN(fab_flow_ends) ends;
		uint32_t seen = 0; /* bits 3 * to[0] + to[1]: which permutation */

		fab_flow_ends_init(&ends, f, NULL, NULL);
		cr_assert_eq(ends.n, 2 + i);
		for (uint64_t seed = 0; seed < 200; seed++) {
			const struct fab_permutation_problem problem = {f, NULL, &ends,
									seed};
			OWN_HEAP uint32_t *to = NULL;

			MUST(fab_permutation_make("random", &problem, &to, ERR));
			seen |= 1u << (3 * to[0] + to[1]);
		}
		cr_expect_eq(seen & 1u << 1, 0, "nobody sends");
		cr_expect_eq(__builtin_popcount(seen), i ? 5 : 1);
	}
}

/* Every row that needs no file is a permutation: each end is sent to once. */
Test(traffic, each_end_is_sent_to_once)
{
	static const char *const specs[] = {"shift:3", "shift:1000", "reverse",
					    "random",  "tornado",    "neighbour"};
	OWN(fab_fabric) *f = test_random_fabric(10, 5, 4, 3);
	OWN(fab_flow_ends) ends;
	const struct fab_permutation_problem problem = {f, NULL, &ends, 9};

	fab_flow_ends_init(&ends, f, NULL, NULL);
	cr_assert_gt(ends.n, 8);
	for (size_t i = 0; i < FAB_COUNT(specs); i++) {
		OWN_HEAP bool *seen = FAB_NEW0(ends.n, bool);
		OWN_HEAP uint32_t *to = NULL;

		MUST(fab_permutation_make(specs[i], &problem, &to, ERR));
		for (uint32_t k = 0; k < ends.n; k++) {
			cr_assert_lt(to[k], ends.n);
			cr_assert_not(seen[to[k]]);
			seen[to[k]] = true;
			if (i < 2)
				cr_assert_eq(to[k], (k + (i ? 1000 : 3)) % ends.n);
			if (i == 2)
				cr_assert_eq(to[k], ends.n - 1 - k);
		}
	}
}

/* to[] of a generated fabric by a permutation; refused when NULL. */
static uint32_t *permute(const char *fabric, const char *spec, uint32_t *n)
{
	OWN(fab_fabric) *f = test_gen(fabric);
	OWN(fab_flow_ends) ends;
	const struct fab_permutation_problem problem = {f, NULL, &ends, 9};
	uint32_t *to = NULL;

	fab_flow_ends_init(&ends, f, NULL, NULL);
	*n = ends.n;
	if (fab_permutation_make(spec, &problem, &to, ERR))
		HAS(test_err.text, "power of two");
	return to;
}

/* On a torus of 8 x 6 with 2 hosts a switch a tornado goes 3 and 2 steps, all of them the
 * same path round; on a ring of 4 kfat rows 1. */
Test(traffic, tornado_and_neighbour_go_by_the_grid)
{
	static const struct {
		const char *fabric, *spec;
		uint32_t dims[2], hosts, by[2];
	} cases[] = {
		{"torus:dims=8x6,hosts=2", "tornado", {8, 6}, 2, {3, 2}},
		{"torus:dims=8x6,hosts=2", "neighbour", {8, 6}, 2, {1, 1}},
		{"torus:dims=7,hosts=1", "tornado", {1, 7}, 1, {0, 3}},
		{"mesh:dims=5x3,hosts=1", "tornado", {5, 3}, 1, {2, 1}},
		{"kfat:dims=6x4,hosts=3", "tornado", {6, 4}, 3, {2, 1}},
		{"hyperx:dims=6x5,hosts=2", "neighbour", {6, 5}, 2, {1, 1}},
	};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		uint32_t nx = cases[i].dims[0], ny = cases[i].dims[1], h = cases[i].hosts,
			 n;
		OWN_HEAP uint32_t *to = permute(cases[i].fabric, cases[i].spec, &n);
		unsigned ways = 0;

		cr_assert_eq(n, nx * ny * h);
		/* rings have no first direction: each dimension may be turned round */
		for (unsigned turn = 0; turn < 4; turn++) {
			uint32_t bx = turn & 1 ? nx - cases[i].by[0] : cases[i].by[0];
			uint32_t by = turn & 2 ? ny - cases[i].by[1] : cases[i].by[1];
			bool fits = true;

			for (uint32_t e = 0; e < n; e++) {
				uint32_t x = e / h / ny, y = e / h % ny;

				fits &= to[e] ==
					((x + bx) % nx * ny + (y + by) % ny) * h + e % h;
			}
			ways += fits;
		}
		/* in a complete graph any numbering is as good: each end once */
		if (strncmp(cases[i].fabric, "hyperx", 6) &&
		    strncmp(cases[i].fabric, "kfat", 4))
			cr_assert_geq(ways, 1, "%s %s", cases[i].fabric, cases[i].spec);
		for (uint32_t e = 0; e < n; e++) {
			cr_assert_neq(to[e] / h, e / h);
			cr_assert_eq(to[e] % h, e % h);
		}
	}
}

Test(traffic, bits_of_numbers)
{
	uint32_t n, *to = permute("torus:dims=4x4,hosts=1", "bitcomp", &n);

	for (uint32_t i = 0; i < n; i++)
		cr_assert_eq(to[i], 15 - i);
	free(to);
	to = permute("torus:dims=4x4,hosts=1", "bitrev", &n);
	cr_assert_eq(to[1], 8);
	cr_assert_eq(to[2], 4);
	cr_assert_eq(to[3], 12);
	for (uint32_t i = 0; i < n; i++)
		cr_assert_eq(to[to[i]], i);
	free(to);
	cr_assert_null(permute("torus:dims=3x4,hosts=1", "bitrev", &n));
	cr_assert_null(permute("torus:dims=3x4,hosts=1", "bitcomp", &n));
}

Test(traffic, what_is_dead_sends_nothing)
{
	OWN(fab_fabric) *f = test_random_fabric(10, 5, 4, 3);
	OWN_HEAP bool *switch_is_dead = FAB_NEW0(f->n_switches, bool);
	OWN_HEAP bool *cable_is_dead = FAB_NEW0(f->n_cables, bool);
	OWN(fab_flow_ends) all, live;
	uint32_t port;

	fab_flow_ends_init(&all, f, NULL, NULL);
	port = all.port[all.n - 1];
	cable_is_dead[f->port_cable[port]] = true;
	switch_is_dead[all.sw[0]] = true;
	fab_flow_ends_init(&live, f, switch_is_dead, cable_is_dead);
	for (uint32_t i = 0, k = 0; i < all.n; i++) {
		if (all.sw[i] == all.sw[0] || all.port[i] == port)
			continue;
		cr_assert_eq(live.port[k], all.port[i]);
		cr_assert_eq(live.sw[k], fab_port_switch(f, all.port[i]));
		k++;
		if (i == all.n - 1)
			cr_assert_eq(k, live.n);
	}
	cr_assert_lt(live.n, all.n);
}

Test(traffic, the_sentence_on_an_unknown_name)
{
	char *text = fab_choices_text(&fab_permutation_choices, "or");

	cr_assert_str_eq(text, "shift:K, reverse, random, transpose, tornado, neighbour, "
			       "bitcomp, bitrev or file:PATH");
	free(text);
	FAILS_AS(fab_choices_refuse(&fab_permutation_choices, "revers", 6, NULL, ERR),
		 -EINVAL,
		 "'revers' is unknown; did you mean 'reverse'? There are: "
		 "shift:K, reverse, random, transpose, tornado, neighbour, "
		 "bitcomp, bitrev, file:PATH");
	FAILS_AS(fab_choices_refuse(&fab_permutation_choices, "xyz", 3, "all", ERR),
		 -EINVAL,
		 "'xyz' is unknown; there are: all, shift:K, reverse, "
		 "random, transpose, tornado, neighbour, bitcomp, "
		 "bitrev, file:PATH");
	cr_assert_eq(fab_choices_find(&fab_permutation_choices, "file", 4), 8);
	cr_assert_eq(fab_choices_find(&fab_permutation_choices, "file:", 5), FAB_NONE);
	cr_assert_eq(fab_choices_find(&fab_permutation_choices, "shif", 4), FAB_NONE);
}

static struct fab_choice letter_at(size_t i)
{
	static const struct fab_choice rows[] = {{"alpha", "a", NULL, true},
						 {"beta:N", "b", NULL, false},
						 {"gamma", "c", NULL, true}};

	return rows[i];
}

static const struct fab_choices letters = {"letter", 3, letter_at};

Test(traffic, lists_of_names)
{
	static const struct {
		const char *list, *texts; /* NULL: refused */
		const char *all;	  /* 1: by all only */
	} cases[] = {
		{"alpha", "alpha ", "0"},
		{"all", "alpha gamma ", "11"},
		{"gamma,all", "gamma alpha ", "01"},
		{"all,gamma", "alpha gamma ", "10"},
		{"beta:1,beta:2,beta:1", "beta:1 beta:2 ", "00"},
		{"beta", NULL, NULL},
		{"alpha:1", NULL, NULL},
		{"", NULL, NULL},
		{"alpha,", NULL, NULL},
		{"alpha,,gamma", NULL, NULL},
		{"alph", NULL, NULL},
		{"all:1", NULL, NULL},
	};
	struct fab_chosen_list chosen = {0};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		char texts[64] = "";
		int rc = fab_choices_parse(&letters, cases[i].list, &chosen, ERR);

		cr_assert_eq(rc, cases[i].texts ? 0 : -EINVAL, "'%s'", cases[i].list);
		cr_assert_eq(*test_err.text != '\0', rc != 0);
		for (size_t k = 0; !rc && k < chosen.of.n; k++) {
			const struct fab_chosen *c = &chosen.of.v[k];

			strncat(texts, c->text, c->len);
			strcat(texts, " ");
			cr_assert_eq(c->by_all, cases[i].all[k] == '1', "'%s'",
				     cases[i].list);
			cr_assert_eq(letter_at(c->row).form[0], *c->text);
		}
		if (!rc)
			cr_assert_str_eq(texts, cases[i].texts);
	}
	free(chosen.of.v);
}

static uint64_t a_tick(const void *context, uint32_t end, uint32_t bytes, bool to_group)
{
	(void)context;
	(void)end;
	(void)to_group;
	return bytes;
}

/* Jobs on every third end from 0 and from 1: each sends to each of its own ends once, by
 * sizes of their own; the others send to each other until the load ends; nobody sends for
 * a job that does not run. */
Test(traffic, jobs_stay_among_themselves)
{
	enum { N = 24, N_JOB = N / 3, LOAD_ENDS = 4000 };
	OWN(fab_fabric) *f = test_gen("fattree:radix=24,levels=1");
	OWN(fab_flow_ends) ends;
	uint32_t end[2][N_JOB], size = 8;
	struct fab_traffic_problem traffic = {
		.f = f, .ends = &ends, .wire = a_tick, .how = {.seed = 1, .mtu = 100}};

	fab_flow_ends_init(&ends, f, NULL, NULL);
	cr_assert_eq(ends.n, N);
	traffic.how.size = &size;
	traffic.how.n_sizes = 1;
	for (uint32_t i = 0; i < N_JOB; i++)
		for (uint32_t k = 0; k < 2; k++)
			end[k][i] = 3 * i + k;
	for (uint64_t runs = 1; runs < 4; runs++) {
		const struct fab_job job[] = {{"alltoall", 100, end[0], N_JOB},
					      {"alltoall:random", 0, end[1], N_JOB}};
		const struct fab_jobs_problem problem = {.job = job,
							 .n_jobs = 2,
							 .runs = runs,
							 .load = 0.5,
							 .load_ends = LOAD_ENDS,
							 .traffic = &traffic};
		FAB_AUTO(fab_jobs_free_at) struct fab_jobs *jobs = NULL;
		const struct fab_messages *m;
		uint32_t n[3] = {0};

		cr_assert_eq(fab_jobs_new(&problem, &jobs, NULL), 0);
		m = fab_jobs_messages(jobs);
		for (uint32_t e = 0; e < N; e++) {
			bool is_sent[N] = {false};
			struct fab_message out;

			while (m->next(m->context, e, 0, &out)) {
				cr_assert_eq(out.target % 3, e % 3);
				cr_assert_neq(out.target, e);
				cr_assert_lt(out.target, N);
				cr_expect_eq(out.bytes, e % 3 ? 8 : 100);
				cr_expect(e % 3 == 2 || !is_sent[out.target]);
				cr_expect_lt(out.time, LOAD_ENDS);
				is_sent[out.target] = true;
				n[e % 3]++;
			}
		}
		for (uint32_t k = 0; k < 2; k++)
			cr_expect_eq(n[k], runs >> k & 1 ? N_JOB * (N_JOB - 1) : 0);
		/* at half of the rate, within six deviations */
		cr_expect_lt(n[2], N_JOB * LOAD_ENDS / 16 + 270);
		cr_expect_gt(n[2], N_JOB * LOAD_ENDS / 16 - 270);
	}
}
