/* SPDX-License-Identifier: BSD-2-Clause */
#include "boots.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"

struct fab_machine *boots_machine(const char *spec)
{
	struct fab_machine *m;
	struct fab_err err;

	cr_assert_eq(fab_machine_parse(spec, &m, &err), 0, "%s", err.text);
	return m;
}

uint32_t *boots_map(const struct fab_machine *m, const char *name,
		    const struct fab_batch *batch)
{
	uint32_t *interface_of = FAB_NEW(m->n_nodes, uint32_t);
	struct fab_mapping_problem problem = {.m = m, .batch = batch};
	struct fab_chosen_list chosen = {0};
	struct fab_mapping_choice choice;
	struct fab_err err;

	cr_assert_eq(fab_choices_parse(&fab_mapping_choices, name, &chosen, &err), 0);
	cr_assert_eq(fab_mapping_choose(chosen.of.v, &choice, &err), 0);
	free(chosen.of.v);
	cr_assert_eq(choice.engine->map(&problem, choice.argument, interface_of, &err),
		     0);
	cr_assert_eq(fab_mapping_verify(m, batch, interface_of, &err), 0, "%s", err.text);
	return interface_of;
}

struct fab_batch boots_batch(const struct fab_machine *m, const char *spec)
{
	struct fab_batch b;
	struct fab_err err;

	cr_assert_eq(fab_batch_parse(m, spec, &b, &err), 0, "%s", err.text);
	return b;
}

struct fab_machine *boots_random_machine(uint64_t seed)
{
	char text[1024];
	size_t at = 0;
	struct fab_machine *m;
	struct fab_rng rng;
	struct fab_err err;

	fab_rng_init(&rng, seed);
	for (int s = 0; s < 4; s++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "s%d %s %d\n", s,
				       s < 2	? "-"
				       : s == 2 ? "s0"
						: "s1",
				       1 + (int)fab_rng_below(&rng, 6));
	for (int n = 0; n < 6; n++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "n%d s%d %d node\n",
				       n, (int)fab_rng_below(&rng, 4),
				       1 + (int)fab_rng_below(&rng, 4));
	for (int n = 0; n < 3; n++)
		at += (size_t)snprintf(
			text + at, sizeof(text) - at, "v%d s%d %d server\n", n,
			(int)fab_rng_below(&rng, 4), 1 + (int)fab_rng_below(&rng, 6));
	cr_assert_eq(fab_machine_read("test", text, at, &m, &err), 0, "%s", err.text);
	return m;
}

void boots_fail_server(struct fab_machine *m, const char *list)
{
	struct fab_err err;

	cr_assert_eq(fab_machine_find_servers(m, list, m->server_is_down, NULL, &err), 0,
		     "%s", err.text);
}
