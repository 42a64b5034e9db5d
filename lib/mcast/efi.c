/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/efi.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

/* The fullest host cable: groups of two endpoints or more that an adapter is in. */
static uint32_t max_host_efi(const struct fab_mcast_problem *problem)
{
	const struct fab_groups *g = problem->groups;
	const struct fab_fabric *f = problem->f;
	uint32_t *load = FAB_NEW0(f->n_host_links, uint32_t), max = 0;

	for (uint32_t i = 0; i < g->n; i++) {
		if (fab_group_size(g, i) < 2)
			continue;
		for (uint64_t m = g->first[i]; m < g->first[i + 1]; m++) {
			uint32_t c = f->port_cable[g->member[m]];

			if (c == FAB_NONE || c < f->n_switch_links)
				continue; /* port 0 of a switch */
			if (++load[c - f->n_switch_links] > max)
				max = load[c - f->n_switch_links];
		}
	}
	free(load);
	return max;
}

static void add_weighted(uint32_t n, const double *load, struct fab_efi *out)
{
	out->max_load = out->mean_load = load ? 0 : (double)NAN;
	for (uint32_t c = 0; load && c < n; c++) {
		out->max_load = fmax(out->max_load, load[c]);
		out->mean_load += load[c] / n;
	}
}

void fab_efi_of(const struct fab_mcast_problem *problem,
		const struct fab_mcast_result *result, struct fab_efi *out)
{
	uint32_t n = problem->f->n_switch_links, host_max = max_host_efi(problem);

	*out = (struct fab_efi){0};
	for (uint32_t c = 0; c < n; c++) {
		if (result->load[c] > out->max) {
			out->max = result->load[c];
			out->n_at_max = 0;
		}
		out->n_at_max += out->max && result->load[c] == out->max;
		out->tree_links += result->load[c];
	}
	out->mean = n ? (double)out->tree_links / n : 0;
	out->max_all = host_max > out->max ? host_max : out->max;
	add_weighted(n, result->weighted, out);
	for (uint32_t i = 0; i < result->forest.n; i++)
		if (result->forest.height[i] > out->max_height)
			out->max_height = result->forest.height[i];
}

uint32_t *fab_efi_histogram(const struct fab_fabric *f, const uint32_t *load,
			    uint32_t max)
{
	uint32_t *count = FAB_NEW0((size_t)max + 1, uint32_t);

	for (uint32_t c = 0; c < f->n_switch_links; c++)
		count[load[c]]++;
	return count;
}

/* Is cable a to be listed before b? */
static bool is_before(const uint32_t *load, const double *weighted, uint32_t a,
		      uint32_t b)
{
	if (weighted && (weighted[a] < weighted[b] || weighted[a] > weighted[b]))
		return weighted[a] > weighted[b];
	return load[a] != load[b] ? load[a] > load[b] : a < b;
}

uint32_t fab_efi_fullest(const struct fab_fabric *f, const uint32_t *load,
			 const double *weighted, uint32_t want, uint32_t *out)
{
	uint32_t n = 0;

	for (uint32_t c = 0; c < f->n_switch_links; c++) {
		uint32_t at;

		if (!load[c] ||
		    (n == want && (!want || !is_before(load, weighted, c, out[n - 1]))))
			continue;
		for (at = n < want ? n++ : n - 1;
		     at && is_before(load, weighted, c, out[at - 1]); at--)
			out[at] = out[at - 1];
		out[at] = c;
	}
	return n;
}
