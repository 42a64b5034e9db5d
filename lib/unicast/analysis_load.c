/* SPDX-License-Identifier: BSD-2-Clause */
/* What all hosts together put on a cable. */
#include "unicast/analysis_impl.h"
#include "unicast/complete.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double fab_load_per_host(uint64_t load, uint64_t pairs, uint64_t ends)
{
	return pairs ? (double)load / ((double)pairs / (double)ends) : (double)NAN;
}

/* Live ends of hosts by switch [n_switches]. The caller frees. */
static uint32_t *count_hosts(const struct fab_routes *r)
{
	const struct fab_analysis_options options = {.ends = FAB_ENDS_HOSTS};
	const struct fab_analyser j = {.r = r, .options = &options};
	uint32_t *hosts = FAB_NEW0((size_t)r->f->n_switches + 1, uint32_t);

	for (uint32_t p = 0; p < r->f->n_ports; p++) {
		uint32_t sw = fab_analysis_end_switch(&j, p);

		if (sw != FAB_NONE)
			hosts[sw]++;
	}
	return hosts;
}

/* Does a column lead to every host? */
static bool leads_to_all(const struct fab_routes *r)
{
	uint32_t *hosts = count_hosts(r);
	bool leads = true;

	for (uint32_t c = 0; c < r->n_columns; c++)
		hosts[r->column_switch[c]] = 0;
	for (uint32_t s = 0; s < r->f->n_switches; s++)
		leads = leads && !hosts[s];
	free(hosts);
	return leads;
}

/* How many hosts each leaf switch has, 0: not all have as many, or some hang elsewhere,
 * or several columns lead there. */
static uint32_t hosts_a_leaf(const struct fab_routes *r)
{
	uint32_t *hosts, n, total = 0;

	if (!r->leaf || !r->n_leaves || r->n_alternatives || r->column_lid)
		return 0;
	hosts = count_hosts(r);
	n = hosts[r->leaf[0]];
	for (uint32_t i = 0; i < r->n_leaves; i++)
		n = hosts[r->leaf[i]] == n ? n : 0;
	for (uint32_t s = 0; s < r->f->n_switches; s++)
		total += hosts[s];
	free(hosts);
	return total == n * r->n_leaves ? n : 0;
}

int fab_uniform_load(const struct fab_routes *r, const struct fab_analysis *known,
		     int n_threads, double *out, struct fab_err *err)
{
	const struct fab_analysis_options options = {
		.ends = FAB_ENDS_HOSTS, .only_load = true, .n_threads = n_threads};
	bool is_of_leaves = known && known->load && known->between == FAB_ENDS_LEAVES;
	uint64_t n = is_of_leaves ? hosts_a_leaf(r) : 0;
	struct fab_routes *whole = NULL;
	struct fab_analysis all;
	int rc;

	if (n) { /* between two leaves n * n packets for one, and n - 1 from each beside
		  */
		*out = fab_load_per_host(n * n * known->max_load,
					 n * n * known->pairs + n * (n - 1) * known->ends,
					 n * known->ends);
		return 0;
	}
	if (!r->column_lid && !leads_to_all(r))
		whole = fab_routes_complete(r);
	rc = fab_analyse(whole ? whole : r, &options, &all, err);
	fab_routes_free(whole);
	if (rc)
		return rc;
	*out = fab_load_per_host(all.max_load, all.pairs, all.ends);
	fab_analysis_fini(&all);
	return 0;
}
