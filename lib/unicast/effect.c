/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/effect.h"

#include "fabric/diff.h"
#include "unicast/faults.h"

/* The first direction of a cable with the most packets, by its port. */
static fab_port_id fullest_of(const struct fab_fabric *f, const struct fab_analysis *j)
{
	for (uint32_t s = 0; s < f->n_switches && j->max_load; s++)
		FAB_EACH_ARC(f, s, a)
			if (j->load[a] == j->max_load)
				return fab_arc_port(f, s, a);
	return FAB_NONE;
}

/* Both of the tables' columns, and of completed ones where hosts need more. */
int fab_effect_analyse(const struct fab_routes *r, enum fab_ends ends, int n_threads,
		       struct fab_effect *out, struct fab_err *err)
{
	const struct fab_analysis_options options = {.ends = ends,
						     .with_load = ends == FAB_ENDS_HOSTS,
						     .n_threads = n_threads};
	const struct fab_analysis_options only_load = {
		.ends = FAB_ENDS_HOSTS, .only_load = true, .n_threads = n_threads};
	FAB_AUTO(fab_routes_free_at)
	struct fab_routes *whole = r->column_lid ? NULL : fab_routes_complete(r);
	const struct fab_routes *hosts = whole ? whole : r;
	FAB_AUTO(fab_analysis_fini) struct fab_analysis loads = {.load = NULL};
	const struct fab_analysis *j = &out->j;
	int rc;

	*out = (struct fab_effect){.fullest = FAB_NONE};
	rc = fab_analyse(ends == FAB_ENDS_LEAVES ? r : hosts, &options, &out->j, err);
	if (!rc && ends != FAB_ENDS_HOSTS) {
		rc = fab_analyse(hosts, &only_load, &loads, err);
		j = &loads;
	}
	if (!rc) {
		out->load = fab_load_per_host(j->max_load, j->pairs, j->ends);
		out->fullest = fullest_of(r->f, j);
	} else {
		fab_analysis_fini(&out->j);
	}
	return rc;
}

int fab_effect_route(const struct fab_unicast_problem *problem,
		     const struct fab_unicast_engine *engine, bool has_ends,
		     enum fab_ends ends, struct fab_effect *out, struct fab_err *err)
{
	FAB_AUTO(fab_routes_free_at) struct fab_routes *routes = NULL;
	int rc = fab_unicast_route(engine, problem, &routes, err);

	*out = (struct fab_effect){.fullest = FAB_NONE};
	if (!has_ends)
		ends = problem->kfat ? FAB_ENDS_LEAVES : FAB_ENDS_HOSTS;
	return rc ? rc : fab_effect_analyse(routes, ends, problem->n_threads, out, err);
}

void fab_effect_fini(struct fab_effect *effect)
{
	fab_analysis_fini(&effect->j);
}

/* A port with a live cable to a live switch. */
static bool is_live(const struct fab_fabric *f, const struct fab_faults *faults,
		    fab_port_id port)
{
	return port != FAB_NONE && fab_faults_port_switch(f, faults, port) != FAB_NONE;
}

struct fab_effect_hosts fab_effect_count_hosts(const struct fab_fabric *f,
					       const struct fab_faults *faults)
{
	struct fab_effect_hosts n = {0, 0};

	for (uint32_t h = 0; h < f->n_hosts; h++) {
		uint64_t before = n.ports;

		FAB_EACH_ADAPTER(f, h, i)
			FAB_EACH_PORT(f, f->host_adapter[i], p)
				n.ports += is_live(f, faults, p);
		n.hosts += n.ports > before;
	}
	return n;
}

/* Live ports of hosts in the part of each switch, [n_switches]; 0 at dead ones. The
 * caller frees it. O(parts * switches + ports). */
static uint32_t *count_reached(const struct fab_fabric *f,
			       const struct fab_faults *faults)
{
	uint32_t n = f->n_switches, *reached = FAB_NEW0((size_t)n + 1, uint32_t);
	FAB_AUTOFREE uint32_t *own = FAB_NEW0((size_t)n + 1, uint32_t);
	FAB_AUTOFREE uint32_t *dist = FAB_NEW((size_t)n + 1, uint32_t);
	FAB_AUTOFREE uint32_t *order = FAB_NEW((size_t)n + 1, uint32_t);

	for (uint32_t p = 0; p < f->n_ports; p++)
		if (f->node_host[f->port_node[p]] != FAB_NONE && is_live(f, faults, p))
			own[fab_port_switch(f, p)]++;
	for (uint32_t s = 0; s < n; s++) {
		uint32_t sum = 0, n_part;

		if (reached[s] || !own[s])
			continue;
		n_part = fab_faults_search(f, faults, s, dist, order);
		for (uint32_t i = 0; i < n_part; i++)
			sum += own[order[i]];
		for (uint32_t i = 0; i < n_part; i++)
			reached[order[i]] = sum;
	}
	return reached;
}

void fab_effect_lost_ports(const struct fab_fabric *before,
			   const struct fab_fabric *after,
			   const struct fab_faults *faults, struct fab_lost_ports *out)
{
	const struct fab_fabric *f = before;
	struct fab_diff *diff = before == after ? NULL : fab_diff_new(before, after);
	FAB_AUTOFREE bool *is_lost = FAB_NEW0((size_t)f->n_ports + 1, bool);
	FAB_AUTOFREE bool *is_left = FAB_NEW0((size_t)f->n_hosts + 1, bool);
	FAB_AUTOFREE uint32_t *reached = count_reached(f, NULL);
	FAB_AUTOFREE uint32_t *reached_after = count_reached(after, faults);

	*out = (struct fab_lost_ports){.of = {0}};
	for (uint32_t p = 0; p < f->n_ports; p++) {
		uint32_t node = f->port_node[p], host = f->node_host[node];
		uint32_t new = diff ? diff->new_of[node] : node, port;
		bool is_there;

		if (host == FAB_NONE || !is_live(f, NULL, p))
			continue;
		port = new == FAB_NONE ? FAB_NONE
				       : fab_port_find(after, new, f->port_num[p]);
		is_there = is_live(after, faults, port) &&
			   2 * reached_after[fab_port_switch(after, port)] >=
				   reached[fab_port_switch(f, p)];
		is_lost[p] = !is_there;
		is_left[host] |= is_there;
	}
	for (int of_hosts = 1; of_hosts >= 0; of_hosts--)
		for (uint32_t p = 0; p < f->n_ports; p++)
			if (is_lost[p] &&
			    is_left[f->node_host[f->port_node[p]]] == !of_hosts)
				FAB_PUSH(&out->of, ((struct fab_lost_port){p, of_hosts}));
	fab_diff_free(diff);
}
