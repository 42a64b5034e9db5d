/* SPDX-License-Identifier: BSD-2-Clause */
#include "boots.h"

#include "boot/share.h"
#include "support/test.h"

struct fab_machine *boots_machine(const char *spec)
{
	struct fab_machine *m;

	MUST(fab_machine_parse(spec, &m, ERR));
	return m;
}

struct fab_machine *boots_read(const char *text)
{
	struct fab_machine *m;

	MUST(fab_machine_read("test", text, strlen(text), &m, ERR));
	return m;
}

const struct fab_mapping_engine *boots_engine(const char *form)
{
	size_t i = 0;

	while (i < fab_mapping_n_engines && strcmp(fab_mapping_engines[i].form, form))
		i++;
	cr_assert_lt(i, fab_mapping_n_engines, "no rule %s", form);
	return &fab_mapping_engines[i];
}

uint32_t *boots_map(const struct fab_machine *m, const char *name,
		    const struct fab_batch *batch)
{
	uint32_t *interface_of = FAB_NEW(m->n_nodes, uint32_t);
	struct fab_mapping_problem problem = {.m = m, .batch = batch};
	struct fab_chosen_list chosen = {0};
	struct fab_mapping_choice choice;

	MUST(fab_choices_parse(&fab_mapping_choices, name, &chosen, ERR));
	MUST(fab_mapping_choose(chosen.of.v, &choice, ERR));
	free(chosen.of.v);
	problem.argument = choice.argument;
	MUST(choice.engine->map(&problem, interface_of, ERR));
	MUST(fab_mapping_verify(m, batch, interface_of, ERR));
	return interface_of;
}

struct fab_batch boots_batch(const struct fab_machine *m, const char *spec)
{
	struct fab_batch b;

	MUST(fab_batch_parse(m, spec, &b, ERR));
	return b;
}

double boots_share(const struct fab_machine *m, const struct fab_batch *batch,
		   const uint32_t *interface_of)
{
	struct fab_share share;

	MUST(fab_share_of(m, batch, interface_of, &share, ERR));
	return share.bandwidth_mbps;
}

double boots_best(const struct fab_machine *m, const struct fab_batch *batch,
		  uint32_t *interface_of, uint32_t node)
{
	double best = 0;

	while (node < m->n_nodes && interface_of[node] != FAB_NONE)
		node++;
	if (node == m->n_nodes)
		return fab_share_slowest_brute(m, batch, interface_of);
	for (uint32_t i = 0; i < m->n_interfaces; i++) {
		if (m->server_is_down[m->interface_server[i]])
			continue;
		interface_of[node] = i;
		best = fmax(best, boots_best(m, batch, interface_of, node + 1));
	}
	interface_of[node] = FAB_NONE;
	return best;
}

struct fab_machine *boots_draw(struct fab_rng *rng, const struct boots_kind kind[3])
{
	static const char *const what[] = {"", "node", "server"};
	OWN_HEAP char *text = NULL;

	for (int k = 0; k < 3; k++)
		for (uint32_t i = 0; i < kind[k].n; i++) {
			uint64_t above = fab_rng_below(rng, (k ? kind[0].n : i) + 1ULL);
			uint64_t rate = 1 + fab_rng_below(rng, kind[k].n_rates);
			OWN_HEAP char *parent =
				above ? fab_format("s%lu", above - 1) : fab_strdup("-");

			fab_append(&text, "", "%c%u %s %lu %s\n", "snv"[k], i, parent,
				   kind[k].rate * rate, what[k]);
		}
	return boots_read(text);
}

struct fab_machine *boots_random_machine(uint64_t seed)
{
	const struct boots_kind kind[] = {{4, 1, 6}, {6, 1, 4}, {3, 1, 6}};
	struct fab_rng rng = test_rng(seed);

	return boots_draw(&rng, kind);
}

void boots_fail_server(struct fab_machine *m, const char *list)
{
	MUST(fab_machine_find(m, FAB_MACHINE_SERVERS, list, m->server_is_down, NULL,
			      ERR));
}
