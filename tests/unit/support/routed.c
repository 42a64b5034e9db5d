/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/routed.h"
#include "mcast/engine/state.h"
#include "mcast/route.h"
#include "support/test.h"

void routed_init(struct routed *s, struct fab_fabric *f, uint32_t n_groups, uint32_t most,
		 uint64_t seed)
{
	struct fab_groups_builder *b = fab_groups_builder_new(f);
	struct fab_rng rng = test_rng(seed);
	OWN(fab_dist) *dist = test_dist(f);

	for (uint32_t i = 0; i < n_groups; i++) {
		const uint8_t *row = NULL;

		fab_groups_builder_begin(b, "g", 1);
		for (uint32_t n = 1 + test_below(&rng, most); n;) {
			uint32_t node = f->n_switches + test_below(&rng, f->n_adapters);
			uint32_t port = fab_node_first_connected_port(f, node);
			uint32_t sw = fab_port_switch(f, port);

			row = row ? row : fab_dist_row(dist, sw);
			if (row[sw] == FAB_HOPS_UNREACHABLE)
				continue;
			fab_groups_builder_add(b, port);
			n--;
		}
	}
	routed_init_builder(s, f, b);
}

void routed_init_patterns(struct routed *s, struct fab_fabric *f,
			  const char *const *patterns, uint64_t seed)
{
	struct fab_groups_builder *b = fab_groups_builder_new(f);

	for (; *patterns; patterns++)
		MUST(fab_groups_add_pattern(b, *patterns, seed, ERR));
	routed_init_builder(s, f, b);
}

void routed_init_pattern(struct routed *s, const char *spec, const char *pattern)
{
	routed_init_patterns(s, test_gen_raw(spec), (const char *[]){pattern, NULL}, 1);
}

void routed_init_builder(struct routed *s, struct fab_fabric *f,
			 struct fab_groups_builder *b)
{
	*s = (struct routed){.f = f};
	s->dist = test_dist(f);
	MUST(fab_groups_builder_finish(b, false, &s->groups, ERR));
	s->problem = (struct fab_mcast_problem){f, s->dist, s->groups};
}

struct fab_groups *routed_groups(const struct fab_fabric *f, const char *pattern,
				 uint64_t seed)
{
	struct fab_groups_builder *b = fab_groups_builder_new(f);
	struct fab_groups *g = NULL;

	MUST(fab_groups_add_pattern(b, pattern, seed, ERR));
	MUST(fab_groups_builder_finish(b, false, &g, ERR));
	return g;
}

void routed_fini(struct routed *s)
{
	fab_groups_free(s->groups);
	fab_dist_free(s->dist);
	fab_fabric_free(s->f);
}

struct fab_mcast_result routed_by(const struct fab_mcast_problem *problem,
				  const struct fab_mcast_engine *engine,
				  const struct fab_mcast_options *options)
{
	const struct fab_mcast_options one = {.n_threads = 1};
	struct fab_mcast_result r;
	double seconds;

	MUST(fab_mcast_route(problem, &engine, 1, options ? options : &one, &r, &seconds,
			     ERR));
	return r;
}

struct fab_efi routed_efi(const struct fab_mcast_problem *problem,
			  const struct fab_mcast_result *r)
{
	struct fab_efi efi;

	MUST(fab_mcast_verify(problem, r, ERR));
	fab_efi_of(problem, r, &efi);
	return efi;
}

void routed_all(const struct routed *s, struct fab_mcast_result *results,
		struct fab_efi *efi)
{
	const struct fab_mcast_options options = {.n_threads = 1};
	const struct fab_efi *balanced = NULL, *optimal = NULL;
	double seconds;

	MUST(fab_mcast_route(&s->problem, fab_mcast_engines, fab_mcast_n_engines,
			     &options, results, &seconds, ERR));
	for (size_t i = 0; i < fab_mcast_n_engines; i++) {
		efi[i] = routed_efi(&s->problem, &results[i]);
		if (results[i].engine == &fab_mcast_balanced)
			balanced = &efi[i];
		if (results[i].engine == &fab_mcast_optimal)
			optimal = &efi[i];
	}
	if (s->problem.weights)
		return;
	cr_assert_leq(optimal->max, balanced->max, "%s", s->f->source);
	cr_assert_leq(balanced->max_height, efi[0].max_height);
	for (size_t i = 0; i < fab_mcast_n_engines; i++)
		cr_assert(results[i].engine->may_be_higher || &efi[i] == optimal ||
				  balanced->max <= efi[i].max,
			  "%s: balanced %u, %s %u", s->f->source, balanced->max,
			  results[i].engine->name, efi[i].max);
}

void routed_end(struct fab_mcast_result *results)
{
	for (size_t i = 0; i < fab_mcast_n_engines; i++)
		fab_mcast_result_fini(&results[i]);
}

uint8_t routed_farthest(const struct fab_dist *dist, uint32_t from, const uint32_t *sw,
			uint32_t n)
{
	const uint8_t *row = fab_dist_row(dist, from);
	uint8_t far = 0;

	for (uint32_t i = 0; i < n; i++)
		far = row[sw[i]] > far ? row[sw[i]] : far;
	return far;
}
