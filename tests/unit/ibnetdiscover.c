/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/ibnetdiscover.h"

#include "support/data.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Counts of an independent parser. */
static const struct golden {
	const char *file;
	uint32_t switches, adapters, aggregation, hosts, isl, links, foreign;
} golden[] = {
	{"selene-compute-hdr", 666, 4341, 666, 469, 8511, 4341, 0},
	{"ufm-director-puttylog", 400, 2328, 0, 383, 6395, 2328, 2},
	{"topograph-ndr", 40, 582, 40, 193, 532, 582, 0},
	{"stage-qdr", 8, 144, 0, 144, 47, 145, 0},
	{"psmn-x5-qdr", 11, 89, 0, 89, 70, 89, 0},
	{"ufm-lab-mixed", 2, 13, 1, 5, 3, 13, 0},
	{"ibtopotool-1", 2, 4, 0, 4, 2, 5, 0},
	{"ibtopotool-2", 1, 2, 0, 2, 0, 2, 0},
};

ParameterizedTestParameters(ibnetdiscover, golden_counts)
{
	static size_t index[FAB_COUNT(golden)];

	for (size_t i = 0; i < FAB_COUNT(golden); i++)
		index[i] = i;
	return cr_make_param_array(size_t, index, FAB_COUNT(golden), NULL);
}

ParameterizedTest(size_t *index, ibnetdiscover, golden_counts)
{
	const struct golden *g = &golden[*index];
	struct fab_fabric *f;
	uint32_t *component;
	char file[80];

	snprintf(file, sizeof(file), "ibnetdiscover/%s.txt", g->file);
	f = data_open(file);
	cr_expect_eq(f->n_switches, g->switches, "%s: %u switches", file, f->n_switches);
	cr_expect_eq(f->n_adapters, g->adapters, "%s: %u adapters", file, f->n_adapters);
	cr_expect_eq(f->n_aggregation_nodes, g->aggregation, "%s: %u aggregation nodes",
		     file, f->n_aggregation_nodes);
	cr_expect_eq(f->n_switch_links, g->isl, "%s: %u switch links", file,
		     f->n_switch_links);
	cr_expect_eq(f->n_host_links, g->links, "%s: %u host links", file,
		     f->n_host_links);
	cr_expect_eq(f->n_cables, g->isl + g->links, "%s: %u cables", file, f->n_cables);
	component = malloc(f->n_nodes * sizeof(*component));
	cr_expect_eq(fab_fabric_components(f, component), 1, "%s: components", file);
	cr_expect_eq(!!find_warning(f, "foreign-line", 0), !!g->foreign, "%s: foreign",
		     file);
	cr_expect_str_eq(f->format, "ibnetdiscover");
	free(component);
	fab_fabric_free(f);
}
