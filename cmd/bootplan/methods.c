/* SPDX-License-Identifier: BSD-2-Clause */
/* Methods to get an image to all nodes: servers, multicast, nodes that pass it on. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bootplan.h"
#include "mcast/route.h"

/* Without --set multicast no distances of a larger fabric are computed. */
enum { MAX_SWITCHES = 16384 };

/* A group for each interface that serves a node: itself, whose port is source[group], and
 * its nodes. */
static struct fab_groups *make_groups(const struct bootplan_outcome *o,
				      const struct fab_batch *batch,
				      const uint32_t *interface_of, uint32_t *source,
				      struct fab_err *err)
{
	const struct fab_machine *m = o->m;
	struct fab_groups_builder *b = fab_groups_builder_new(m->fabric);
	FAB_AUTOFREE uint32_t *first = FAB_NEW0((size_t)m->n_interfaces + 2, uint32_t);
	FAB_AUTOFREE uint32_t *sorted = FAB_NEW((size_t)batch->n + 1, uint32_t);
	struct fab_groups *groups = NULL;
	char name[256];

	for (uint32_t i = 0; i < batch->n; i++)
		first[interface_of[batch->node[i]] + 2]++;
	for (uint32_t i = 0; i < m->n_interfaces; i++)
		first[i + 2] += first[i + 1];
	for (uint32_t i = 0; i < batch->n; i++)
		sorted[first[interface_of[batch->node[i]] + 1]++] = batch->node[i];
	for (uint32_t i = 0; i < m->n_interfaces; i++) {
		if (first[i] == first[i + 1])
			continue;
		fab_machine_interface_name(m, i, name, sizeof(name));
		fab_groups_builder_begin(b, name, strlen(name));
		fab_groups_builder_add(b, m->interface_port[i]);
		*source++ = m->interface_port[i];
		for (uint32_t k = first[i]; k < first[i + 1]; k++)
			fab_groups_builder_add(b, m->node_port[sorted[k]]);
	}
	/* the builder is freed in any case */
	return fab_groups_builder_finish(b, false, &groups, err) ? NULL : groups;
}

/* A method with its time, and that of its packets where these are simulated. */
static int add_method(struct bootplan_outcome *o, const struct bootplan_sim *sim,
		      const struct bootplan_way *way, struct bootplan_method method,
		      struct fab_err *err)
{
	int rc = 0;

	method.simulated_seconds = NAN;
	if (sim->routes)
		rc = bootplan_sim_run(sim, way, &method.simulated_seconds, err);
	FAB_PUSH(&o->methods, method);
	return rc;
}

/* Trees of all servers by every algorithm. */
static int add_trees(const struct bootplan_params *p, struct bootplan_outcome *o,
		     const struct bootplan_sim *sim, const uint32_t *interface_of,
		     double image_mbit, struct fab_err *err)
{
	const struct bootplan_methods *w = &p->methods;
	struct fab_mcast_problem problem = {.f = o->m->fabric};
	struct fab_mcast_options mcast = {.n_threads = p->run.threads};
	struct fab_mcast_result results[BOOTPLAN_MAX_ENGINES];
	FAB_AUTOFREE uint32_t *source = FAB_NEW((size_t)o->m->n_interfaces + 1, uint32_t);
	struct fab_groups *groups;
	FAB_AUTO(fab_dist_free_at) struct fab_dist *dist = NULL;
	struct fab_err found;
	double roots_seconds;
	int rc;

	if (!w->n_engines || (!w->has_engines && problem.f->n_switches > MAX_SWITCHES))
		return 0;
	groups = make_groups(o, o->largest, interface_of, source, &found);
	if (!groups) {
		fab_cli_warn(&p->run, "no multicast trees: %s", found.text);
		return 0;
	}
	rc = fab_dist_new(problem.f, p->run.threads, &dist, err);
	if (rc) {
		fab_groups_free(groups);
		return rc;
	}
	problem.groups = groups;
	problem.dist = dist;
	rc = fab_mcast_route(&problem, w->engines, w->n_engines, &mcast, results,
			     &roots_seconds, err);
	for (size_t i = 0, n = rc ? 0 : w->n_engines; i < n; i++) {
		double mbps = fab_mcast_slowest_mbps(&problem, results[i].load,
						     p->default_mbps, p->rate);

		if (p->run.verify && fab_mcast_verify(&problem, &results[i], &found)) {
			fab_cli_warn(&p->run, "multicast by %s: %s", w->engines[i]->name,
				     found.text);
			o->has_broken_tree = true;
		}
		if (!rc)
			rc = add_method(
				o, sim,
				&(struct bootplan_way){.groups = groups,
						       .forest = &results[i].forest,
						       .source = source},
				(struct bootplan_method){
					.method = "multicast",
					.algorithm = w->engines[i]->name,
					.n_trees = groups->n,
					.n_servers = groups->n,
					.seconds = image_mbit * (1 + w->repair) / mbps},
				err);
		fab_mcast_result_fini(&results[i]);
	}
	fab_groups_free(groups);
	return rc;
}

/* Nodes that pass it on: by chunks, or when they have booted. */
static int add_relays(const struct bootplan_params *p, struct bootplan_outcome *o,
		      const struct bootplan_sim *sim, double image_mbit,
		      struct fab_err *err)
{
	static const struct {
		const char *name;
		enum fab_relay_way way;
		bool waits;
	} ways[] = {{"chain", FAB_RELAY_CHAIN, false},
		    {"tree", FAB_RELAY_TREE, false},
		    {"chain-booted", FAB_RELAY_CHAIN, true},
		    {"tree-booted", FAB_RELAY_TREE, true},
		    {"peer-to-peer", FAB_RELAY_DOUBLING, true}};
	double chunk_mbit = (double)p->methods.chunk_bytes * 8e-6;
	int rc = 0;

	for (size_t i = 0; i < FAB_COUNT(ways) && !rc; i++) {
		FAB_AUTO(fab_relay_fini) struct fab_relay relay = {0};
		double seconds = fab_relay_best(o->m, o->largest, ways[i].way, image_mbit,
						ways[i].waits ? 0 : chunk_mbit, &relay);

		rc = add_method(o, sim,
				&(struct bootplan_way){.relay = &relay,
						       .waits = ways[i].waits,
						       .one_by_one = ways[i].way ==
								     FAB_RELAY_DOUBLING},
				(struct bootplan_method){.method = ways[i].name,
							 .n_servers = relay.n_servers,
							 .seconds = seconds},
				err);
	}
	return rc;
}

int bootplan_add_methods(const struct bootplan_params *p, struct bootplan_outcome *o,
			 const uint32_t *interface_of, struct fab_err *err)
{
	double image_mbit = fab_transfer_image_mbit(&p->transfer);
	const struct fab_plan_result *best = bootplan_best(o);
	FAB_AUTO(bootplan_sim_fini) struct bootplan_sim sim = {0};
	int rc = 0;

	if (p->methods.simulates && o->m->fabric)
		rc = bootplan_sim_open(p, o, &sim, err);
	if (!rc && interface_of)
		rc = add_method(
			o, &sim, &(struct bootplan_way){.interface_of = interface_of},
			(struct bootplan_method){.method = "servers",
						 .algorithm = best->algorithm,
						 .n_servers = best->n_servers,
						 .seconds = image_mbit /
							    best->share.bandwidth_mbps},
			err);
	if (!rc && o->m->fabric && interface_of)
		rc = add_trees(p, o, &sim, interface_of, image_mbit / p->efficiency, err);
	else if (!rc && !o->m->fabric)
		rc = add_method(
			o, &sim, NULL,
			(struct bootplan_method){
				.method = "multicast",
				.n_trees = 1,
				.n_servers = 1,
				.seconds = fab_relay_stream_seconds(
					o->m, o->largest, image_mbit, p->methods.repair)},
			err);
	return rc ? rc : add_relays(p, o, &sim, image_mbit, err);
}
