/* SPDX-License-Identifier: BSD-2-Clause */
/* Mappings: the first byte says whether a file or the name of an algorithm follows. */
#include "boot/mapping.h"
#include "boot/transfer.h"
#include "boots.h"

/* Every algorithm that can be named maps every node to a server that is up, whatever the
 * limits and the model. */
static void try_chosen(const struct fab_machine *m, const struct fab_chosen *chosen,
		       const struct fab_limits *limits, bool is_timed)
{
	const struct fab_transfer_options options = {
		.image_bytes = 1000000, .n_files = 1, .stagger_seconds = 0.001};
	struct fab_machine limited = *m;
	struct fab_mapping_choice choice;
	struct fab_mapping_problem problem = {
		.m = &limited, .timed = is_timed ? &options : NULL, .seed = 1};
	FAB_AUTOFREE uint32_t *of = FAB_NEW(m->n_nodes, uint32_t);
	FAB_AUTO(fab_batch_fini) struct fab_batch all;

	limited.limits = *limits;
	OK(fab_batch_parse(m, "first:8", &all, ERR));
	problem.batch = &all;
	if (is_refused(fab_mapping_choose(chosen, &choice, ERR)) ||
	    choice.engine->needs_loaded)
		return;
	problem.argument = choice.argument;
	OK(choice.engine->map(&problem, of, ERR));
	OK(fab_mapping_verify(m, &all, of, ERR));
}

static void try_names(const struct fab_machine *m, const char *bytes, size_t n)
{
	static const struct fab_limits limits[] = {
		{0}, {.disk_mbps = 300, .connections = 2}, {.flow_mbps = 100}};
	struct fab_chosen_list chosen = {0};
	FAB_AUTOFREE char *list = fab_strndup(bytes, n);

	if (!is_refused(fab_choices_parse(&fab_mapping_choices, list, &chosen, ERR)))
		for (size_t i = 0; i < chosen.of.n; i++)
			for (size_t k = 0; k < 2 * FAB_COUNT(limits); k++)
				try_chosen(m, &chosen.of.v[i], &limits[k / 2], k & 1);
	free(chosen.of.v);
}

static void try_file(const struct fab_machine *m, const char *text, size_t n)
{
	FAB_AUTOFREE uint32_t *of = FAB_NEW(m->n_nodes, uint32_t);

	if (is_refused_at(fab_mapping_read(m, "input", text, n, of, ERR)))
		return;
	for (uint32_t i = 0; i < m->n_nodes; i++)
		NEVER(of[i] != FAB_NONE && of[i] >= m->n_interfaces);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	if (n)
		(*bytes & 1 ? try_names : try_file)(fuzz_small_machine(),
						    (const char *)bytes + 1, n - 1);
	return 0;
}
