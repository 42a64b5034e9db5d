/* SPDX-License-Identifier: BSD-2-Clause */
/* Methods to get an image to all nodes: servers, multicast, nodes that pass it on. */
#include <errno.h>
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
	char name[FAB_MACHINE_NAME_BYTES];

	FAB_EACH_NODE(batch, node)
		first[interface_of[node] + 2]++;
	for (uint32_t i = 0; i < m->n_interfaces; i++)
		first[i + 2] += first[i + 1];
	FAB_EACH_NODE(batch, node)
		sorted[first[interface_of[node] + 1]++] = node;
	for (uint32_t i = 0; i < m->n_interfaces; i++) {
		if (first[i] == first[i + 1])
			continue;
		fab_machine_interface_name(m, i, name);
		fab_groups_builder_begin(b, name, strlen(name));
		fab_groups_builder_add(b, m->interface_port[i]);
		*source++ = m->interface_port[i];
		for (uint32_t k = first[i]; k < first[i + 1]; k++)
			fab_groups_builder_add(b, m->node_port[sorted[k]]);
	}
	/* the builder is freed in any case */
	return fab_groups_builder_finish(b, false, &groups, err) ? NULL : groups;
}

/* The nodes of the largest batch that load one image. Methods in which nodes share it
 * take the images one after the other. */
struct portion {
	const struct fab_batch *batch;
	double image_mbit;
	bool is_first;
};

static bool is_same(const struct bootplan_method *a, const struct bootplan_method *b)
{
	return !strcmp(a->method, b->method) &&
	       (a->algorithm == b->algorithm ||
		(a->algorithm && b->algorithm && !strcmp(a->algorithm, b->algorithm)));
}

/* A method with its time, and that of its packets where these are simulated; a further
 * image takes its time behind those before. */
static int add_method(struct bootplan_outcome *o, const struct bootplan_sim *sim,
		      const struct bootplan_way *way, const struct portion *portion,
		      struct bootplan_method method, struct fab_err *err)
{
	int rc = 0;

	method.simulated_seconds = NAN;
	if (sim->routes)
		rc = bootplan_sim_run(sim, way, &method.simulated_seconds, err);
	for (size_t i = 0; i < o->methods.n && !portion->is_first; i++) {
		struct bootplan_method *first = &o->methods.v[i];

		if (!is_same(first, &method))
			continue;
		first->seconds += method.seconds;
		first->n_trees += method.n_trees;
		if (method.n_servers > first->n_servers)
			first->n_servers = method.n_servers;
		return rc;
	}
	FAB_PUSH(&o->methods, method);
	return rc;
}

/* Trees of all servers by every algorithm. */
static int add_trees(const struct bootplan_params *p, struct bootplan_outcome *o,
		     const struct bootplan_sim *sim, const uint32_t *interface_of,
		     const struct portion *portion, struct fab_err *err)
{
	const struct bootplan_methods *w = &p->methods;
	struct fab_mcast_problem problem = {.f = o->m->fabric};
	struct fab_mcast_options mcast = {.n_threads = p->run.threads};
	struct fab_mcast_result results[BOOTPLAN_MAX_ENGINES];
	FAB_AUTOFREE uint32_t *source = FAB_NEW((size_t)o->m->n_interfaces + 1, uint32_t);
	struct fab_groups *groups;
	FAB_AUTO(fab_dist_free_at) struct fab_dist *dist = NULL;
	struct fab_err found;
	double roots_seconds, image_mbit = portion->image_mbit / p->efficiency;
	int rc;

	if (!w->n_engines || (!w->has_engines && problem.f->n_switches > MAX_SWITCHES))
		return 0;
	groups = make_groups(o, portion->batch, interface_of, source, &found);
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
				portion,
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
		      const struct bootplan_sim *sim, const struct portion *portion,
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
		double seconds = fab_relay_best(o->m, portion->batch, ways[i].way,
						portion->image_mbit,
						ways[i].waits ? 0 : chunk_mbit, &relay);

		rc = add_method(o, sim,
				&(struct bootplan_way){.relay = &relay,
						       .waits = ways[i].waits,
						       .one_by_one = ways[i].way ==
								     FAB_RELAY_DOUBLING},
				portion,
				(struct bootplan_method){.method = ways[i].name,
							 .n_servers = relay.n_servers,
							 .seconds = seconds},
				err);
	}
	return rc;
}

/* Multicast, and nodes that pass the image on. */
static int add_portion(const struct bootplan_params *p, struct bootplan_outcome *o,
		       const struct bootplan_sim *sim, const uint32_t *interface_of,
		       const struct portion *portion, struct fab_err *err)
{
	int rc = 0;

	if (o->m->fabric && interface_of)
		rc = add_trees(p, o, sim, interface_of, portion, err);
	else if (!o->m->fabric)
		rc = add_method(o, sim, NULL, portion,
				(struct bootplan_method){
					.method = "multicast",
					.n_trees = 1,
					.n_servers = 1,
					.seconds = fab_relay_stream_seconds(
						o->m, portion->batch, portion->image_mbit,
						p->methods.repair)},
				err);
	return rc ? rc : add_relays(p, o, sim, portion, err);
}

/* Seconds until the servers have sent all images, by the best mapping: shares of equal
 * images, transfers of others, without requests. */
static int time_servers(const struct bootplan_params *p, const struct bootplan_outcome *o,
			const uint32_t *interface_of, double *seconds,
			struct fab_err *err)
{
	struct fab_transfer_options plain = {.image_bytes = p->transfer.image_bytes,
					     .n_files = 1};
	FAB_AUTO(fab_transfer_fini) struct fab_transfer t = {0};
	int rc = 0;

	*seconds =
		fab_transfer_image_mbit(&plain) / bootplan_best(o)->share.bandwidth_mbps;
	if (o->m->image_part) {
		rc = fab_transfer_run(o->m, o->largest, interface_of, &plain, &t, err);
		*seconds = t.last_s;
	}
	return rc;
}

/* Nodes of the largest batch with an image; false: none. fab_batch_fini(). */
static bool take_portion(const struct bootplan_outcome *o, uint32_t image,
			 struct fab_batch *out)
{
	FAB_AUTOFREE struct fab_ids ids = {0};

	FAB_EACH_NODE(o->largest, node)
		if (o->image_of[node] == image)
			FAB_PUSH(&ids.of, node);
	*out = (struct fab_batch){0};
	if (ids.of.n)
		fab_batch_of(ids.of.v, (uint32_t)ids.of.n, o->largest->text, out);
	return ids.of.n > 0;
}

/* Each image by the methods in which nodes share it. */
static int add_portions(const struct bootplan_params *p, struct bootplan_outcome *o,
			const struct bootplan_sim *sim, const uint32_t *interface_of,
			struct fab_err *err)
{
	bool is_first = true;
	int rc = 0;

	for (uint32_t i = 0; i <= o->n_images && !rc; i++) {
		uint32_t image = i ? i - 1 : FAB_NONE;
		FAB_AUTO(fab_batch_fini) struct fab_batch batch = {0};
		double bytes = (double)fab_image_bytes(o->images, image, o->rest_bytes);

		if (!take_portion(o, image, &batch))
			continue;
		if (batch.n < o->largest->n && sim->routes)
			return fab_fail(
				err, EINVAL,
				"--set simulate: nodes load several images; packets of one can be simulated: choose its nodes by --boot");
		rc = add_portion(p, o, sim, interface_of,
				 &(struct portion){&batch, bytes * 8e-6, is_first}, err);
		is_first = false;
	}
	return rc;
}

int bootplan_add_methods(const struct bootplan_params *p, struct bootplan_outcome *o,
			 const uint32_t *interface_of, struct fab_err *err)
{
	const struct portion all = {o->largest, fab_transfer_image_mbit(&p->transfer),
				    true};
	const struct fab_plan_result *best = bootplan_best(o);
	FAB_AUTO(bootplan_sim_fini) struct bootplan_sim sim = {0};
	double seconds = NAN;
	int rc = 0;

	if (p->methods.simulates && o->m->fabric)
		rc = bootplan_sim_open(p, o, &sim, err);
	if (!rc && interface_of)
		rc = time_servers(p, o, interface_of, &seconds, err);
	if (!rc && interface_of)
		rc = add_method(o, &sim,
				&(struct bootplan_way){.interface_of = interface_of},
				&all,
				(struct bootplan_method){.method = "servers",
							 .algorithm = best->algorithm,
							 .n_servers = best->n_servers,
							 .seconds = seconds},
				err);
	if (rc)
		return rc;
	return o->images ? add_portions(p, o, &sim, interface_of, err)
			 : add_portion(p, o, &sim, interface_of, &all, err);
}
