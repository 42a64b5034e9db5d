/* SPDX-License-Identifier: BSD-2-Clause */
/* Who sends to whom; what is chosen by name. */
#include "traffic/traffic.h"
#include "support/test.h"
#include "traffic/jobs.h"

/* to[] of a fabric, which is taken, by a permutation: each end is sent to once; NULL:
 * refused. */
static uint32_t *permute(struct fab_fabric *fabric, const char *spec, uint64_t seed,
			 uint32_t *n)
{
	OWN(fab_fabric) *f = fabric;
	OWN(fab_flow_ends) ends;
	const struct fab_permutation_problem problem = {f, NULL, &ends, seed};
	OWN_HEAP bool *seen = NULL;
	uint32_t *to = NULL;

	fab_flow_ends_init(&ends, f, NULL, NULL);
	*n = ends.n;
	seen = FAB_NEW0(ends.n, bool);
	if (fab_permutation_make(spec, &problem, &to, ERR))
		HAS(test_err.text, "power of two");
	for (uint32_t e = 0; to && e < ends.n; e++) {
		cr_assert(to[e] < ends.n && !seen[to[e]]);
		seen[to[e]] = true;
	}
	return to;
}

/* Of two and three hosts some send, whatever the seed; each other permutation comes. */
Test(traffic, by_chance_somebody_sends)
{
	for (uint32_t n_hosts = 2; n_hosts <= 3; n_hosts++) {
		uint32_t seen = 0, n; /* bits 3 * to[0] + to[1]: which permutation */

		for (uint64_t seed = 0; seed < 200; seed++) {
			OWN_HEAP uint32_t *to = permute(
				test_random_fabric(n_hosts, 0, 1, 3), "random", seed, &n);

			seen |= 1u << (3 * to[0] + to[1]);
		}
		cr_assert_eq(n, n_hosts);
		cr_expect_eq(seen & 1u << 1, 0, "nobody sends");
		cr_expect_eq(__builtin_popcount(seen), n_hosts == 3 ? 5 : 1);
	}
}

Test(traffic, numbers)
{
	static const char *const of_any[] = {"shift:3", "shift:1000", "reverse",
					     "random",	"tornado",    "neighbour"};
	static const char *const of_bits[] = {"bitcomp", "bitrev"};
	uint32_t n, i;

	for (i = 0; i < FAB_COUNT(of_any); i++) {
		OWN_HEAP uint32_t *to =
			permute(test_random_fabric(10, 5, 4, 3), of_any[i], 9, &n);

		for (uint32_t k = 0; k < n && i < 3; k++)
			cr_assert_eq(to[k],
				     i == 2 ? n - 1 - k : (k + (i ? 1000 : 3)) % n);
	}
	for (i = 0; i < FAB_COUNT(of_bits); i++) {
		OWN_HEAP uint32_t *to =
			permute(test_gen("torus:dims=4x4,hosts=1"), of_bits[i], 9, &n);

		for (uint32_t k = 0; k < n; k++)
			cr_assert_eq(to[k], i ? (k & 1) << 3 | (k & 2) << 1 |
							    (k & 4) >> 1 | k >> 3
					      : 15 - k);
		cr_assert_null(
			permute(test_gen("torus:dims=3x4,hosts=1"), of_bits[i], 9, &n));
	}
}

/* On a torus of 8 x 6 with 2 hosts a switch a tornado goes 3 and 2 steps, all of them the
 * same way round. */
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
		/* in a complete graph any numbering is as good */
		{"kfat:dims=6x4,hosts=3", "tornado", {6, 4}, 3, {0, 0}},
		{"hyperx:dims=6x5,hosts=2", "neighbour", {6, 5}, 2, {0, 0}},
	};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		uint32_t nx = cases[i].dims[0], ny = cases[i].dims[1], n;
		uint32_t h = cases[i].hosts;
		OWN_HEAP uint32_t *to =
			permute(test_gen(cases[i].fabric), cases[i].spec, 9, &n);
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
		cr_assert(ways || !cases[i].by[1], "%s", cases[i].fabric);
		for (uint32_t e = 0; e < n; e++) {
			cr_assert(to[e] / h != e / h && to[e] % h == e % h);
		}
	}
}

static struct fab_choice letter_at(size_t i)
{
	return ((const struct fab_choice[]){{"alpha", "a", NULL, true},
					    {"beta:N", "b", NULL, false},
					    {"gamma", "c", NULL, true}})[i];
}

static const struct fab_choices letters = {"letter", 3, letter_at};

Test(traffic, lists_of_names)
{
	static const char *const good[][2] = {
		{"alpha", "alpha"}, /* *: by all only */
		{"all", "alpha* gamma*"},
		{"gamma,all", "gamma alpha*"},
		{"all,gamma", "alpha* gamma"},
		{"beta:1,beta:2,beta:1", "beta:1 beta:2"},
	};
	static const char *const bad[] = {"beta",	  "alpha:1", "",     "alpha,",
					  "alpha,,gamma", "alph",    "all:1"};
	OWN_HEAP struct fab_chosen_list chosen = {0};

	for (size_t i = 0; i < FAB_COUNT(bad); i++)
		FAILS(fab_choices_parse(&letters, bad[i], &chosen, ERR), -EINVAL, "'");
	for (size_t i = 0; i < FAB_COUNT(good); i++) {
		OWN_HEAP char *texts = NULL;

		MUST(fab_choices_parse(&letters, good[i][0], &chosen, ERR));
		for (size_t k = 0; k < chosen.of.n; k++) {
			const struct fab_chosen *c = &chosen.of.v[k];

			fab_append(&texts, " ", "%.*s%s", (int)c->len, c->text,
				   c->by_all ? "*" : "");
			cr_assert_eq(letter_at(c->row).form[0], *c->text);
		}
		cr_assert_str_eq(texts, good[i][1]);
	}
}

static uint64_t a_tick(const void *context, uint32_t end, uint32_t bytes, bool to_group)
{
	(void)context, (void)end, (void)to_group;
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
				cr_assert(out.target % 3 == e % 3 && out.target != e);
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
		cr_expect_float_eq((double)n[2], N_JOB * LOAD_ENDS / 16, 270);
	}
}
