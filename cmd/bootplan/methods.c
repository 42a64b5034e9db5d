/* SPDX-License-Identifier: BSD-2-Clause */
/* Other methods to get an image to all nodes: multicast, chains, peer to peer. */
#include <stdlib.h>
#include <string.h>

#include "boot/advice.h"
#include "bootplan.h"
#include "mcast/route.h"

/* Without --multicast no distances of a larger fabric are computed. */
enum { MAX_SWITCHES = 16384 };

/* A group for each interface that serves a node: itself and its nodes. */
static struct fab_groups *make_groups(const struct bootplan_outcome *o,
				      const struct fab_batch *batch,
				      const uint32_t *interface_of, struct fab_err *err)
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
		for (uint32_t k = first[i]; k < first[i + 1]; k++)
			fab_groups_builder_add(b, m->node_port[sorted[k]]);
	}
	/* the builder is freed in any case */
	return fab_groups_builder_finish(b, false, &groups, err) ? NULL : groups;
}

static void add_path(struct bootplan_outcome *o, const char *method,
		     const char *algorithm, uint32_t n_trees, double seconds)
{
	FAB_PUSH(&o->methods,
		 ((struct bootplan_method){method, algorithm, n_trees, seconds}));
}

/* Trees of all servers by every algorithm. */
static int add_trees(const struct bootplan_params *p, struct bootplan_outcome *o,
		     const uint32_t *interface_of, double image_mbit, struct fab_err *err)
{
	const struct bootplan_methods *w = &p->methods;
	struct fab_mcast_problem problem = {.f = o->m->fabric};
	struct fab_mcast_options mcast = {.n_threads = p->run.threads};
	struct fab_mcast_result results[BOOTPLAN_MAX_ENGINES];
	struct fab_groups *groups;
	FAB_AUTO(fab_dist_free_at) struct fab_dist *dist = NULL;
	struct fab_err found;
	double roots_seconds;
	int rc;

	if (!w->n_engines || (!w->has_engines && problem.f->n_switches > MAX_SWITCHES))
		return 0;
	groups = make_groups(o, o->largest, interface_of, &found);
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
	for (size_t i = 0; i < w->n_engines && !rc; i++) {
		double mbps = fab_mcast_slowest_mbps(&problem, results[i].load,
						     p->default_mbps, p->rate);

		if (p->run.verify && fab_mcast_verify(&problem, &results[i], &found)) {
			fab_cli_warn(&p->run, "multicast by %s: %s", w->engines[i]->name,
				     found.text);
			o->has_broken_tree = true;
		}
		add_path(o, "multicast", w->engines[i]->name, groups->n,
			 image_mbit * (1 + w->repair) / mbps);
		fab_mcast_result_fini(&results[i]);
	}
	fab_groups_free(groups);
	return rc;
}

int bootplan_add_methods(const struct bootplan_params *p, struct bootplan_outcome *o,
			 const uint32_t *interface_of, struct fab_err *err)
{
	const struct fab_batch *batch = o->largest;
	double image_mbit = fab_transfer_image_mbit(&p->transfer);
	struct fab_alternatives a;
	int rc = 0;

	fab_alternatives_of(o->m, batch, image_mbit,
			    (double)p->methods.chunk_bytes * 8e-6, p->methods.repair, &a);
	if (o->m->fabric && interface_of)
		rc = add_trees(p, o, interface_of, image_mbit / p->efficiency, err);
	else if (!o->m->fabric)
		add_path(o, "multicast", NULL, 1, a.multicast_seconds);
	add_path(o, "chain", NULL, 0, a.chain_seconds);
	add_path(o, "peer-to-peer", NULL, 0, a.peer_seconds);
	return rc;
}
