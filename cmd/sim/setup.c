/* SPDX-License-Identifier: BSD-2-Clause */
/* From options and fabric to ends of traffic, tables and trees. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "export/tables.h"
#include "fabric_sim.h"
#include "mcast/route.h"
#include "unicast/faults.h"
#include "unicast/lfts.h"

static struct fab_unicast_problem problem_of(const struct sim_params *p,
					     const struct sim_outcome *o)
{
	return (struct fab_unicast_problem){.f = o->f,
					    .faults = o->faults,
					    .kfat = o->kfat,
					    .max_vls = p->max_vls,
					    .roots = o->roots.of.v,
					    .n_roots = (uint32_t)o->roots.of.n,
					    .fills_roots =
						    fab_cli_fills_roots(p->root_guids),
					    .n_threads = p->run.threads};
}

static int route(const struct sim_params *p, struct sim_outcome *o,
		 const struct fab_unicast_engine *engine, struct fab_err *err)
{
	const struct fab_unicast_problem problem = problem_of(p, o);
	struct sim_net *net = &o->nets[o->n_nets];
	double start = fab_now();
	int rc = engine->route(&problem, &net->routes, err);

	if (rc)
		return rc;
	net->algorithm = engine->name;
	net->seconds = fab_now() - start;
	o->n_nets++;
	return 0;
}

/* Lanes that no data may take, found as fabric-faults finds them. */
static int check_lanes(const struct sim_params *p, const struct fab_routes *routes,
		       struct fab_err *err)
{
	const struct fab_analysis_options options = {.ends = FAB_ENDS_HOSTS,
						     .n_threads = p->run.threads};
	struct fab_analysis j;
	int rc;

	if (routes->lanes == FAB_LANES_ONE)
		return 0;
	rc = fab_analyse(routes, &options, &j, err);
	if (!rc)
		fab_analysis_fini(&j);
	return rc;
}

static int read_tables(const struct sim_params *p, struct sim_outcome *o,
		       struct fab_err *err)
{
	struct sim_net *net = &o->nets[o->n_nets];
	double start = fab_now();
	int rc = fab_routes_read(o->f, o->faults, p->tables.lfts, p->tables.path_sl,
				 p->tables.sl2vl, &net->routes, err);

	if (rc)
		return rc;
	net->algorithm = "loaded";
	net->seconds = fab_now() - start;
	o->n_nets++;
	return check_lanes(p, net->routes, err);
}

static int read_roots(const struct sim_params *p, struct sim_outcome *o,
		      struct fab_err *err)
{
	bool has_updn = false;

	for (size_t i = 0; i < p->algorithms.of.n; i++)
		has_updn |= fab_unicast_engines[p->algorithms.of.v[i].row] ==
			    &fab_unicast_updn;
	return fab_cli_read_roots(p->root_guids, has_updn, o->f, &o->roots, err);
}

/* Tables that were read, then those of the algorithms: of `all` those that fit. */
static int route_all(const struct sim_params *p, struct sim_outcome *o,
		     struct fab_err *err)
{
	struct fab_unicast_problem problem;
	int rc = p->tables.lfts ? read_tables(p, o, err) : 0;

	if (!rc && !p->has_algorithm && !p->tables.lfts)
		return route(p, o, o->kfat ? &fab_unicast_vtftr_ib : &fab_unicast_minhop,
			     err);
	if (!rc)
		rc = read_roots(p, o, err);
	problem = problem_of(p, o);
	for (size_t i = 0; i < p->algorithms.of.n && !rc; i++) {
		const struct fab_chosen *chosen = &p->algorithms.of.v[i];
		const struct fab_unicast_engine *e = fab_unicast_engines[chosen->row];
		struct fab_err why;

		if (!fab_unicast_fits(e, &problem, &why))
			rc = route(p, o, e, err);
		else if (chosen->by_all)
			fab_cli_warn(&p->run, "left out: algorithm %s", why.text);
		else
			rc = fab_unicast_refuse(p->input.fabric, e, &problem,
						&o->kfat_error, err);
	}
	return rc;
}

/* Trees of groups that share multicast LIDs, as the tables that they make. */
static int share_tables(const struct sim_params *p, struct sim_outcome *o,
			struct sim_net *net, const struct fab_groups *shared,
			struct fab_err *err)
{
	const struct fab_mcast_problem problem = {o->f, o->dist, shared};
	uint16_t *mlid = FAB_NEW((size_t)shared->n + 1, uint16_t);
	char *text = NULL;
	size_t len = 0;
	FILE *file = open_memstream(&text, &len);
	int rc;

	if (!file)
		fab_oom(len);
	for (uint32_t m = 0; m < shared->n; m++)
		mlid[m] = (uint16_t)(FAB_MLID_FIRST + m);
	rc = fab_export_mcfdbs(file, &problem, &net->trees, mlid, err);
	if (fclose(file) != 0)
		fab_oom(len);
	if (!rc)
		rc = fab_mcfdbs_read(o->f, "shared trees", text, len, false, &net->mft,
				     err);
	free(text);
	free(mlid);
	if (rc)
		return rc;
	net->mlid = FAB_NEW(o->groups->n, uint16_t);
	for (uint32_t g = 0; g < o->groups->n; g++)
		net->mlid[g] = (uint16_t)(FAB_MLID_FIRST + g % p->mlid_cap);
	return 0;
}

/* All trees, by all algorithms; `shared` is NULL when each group has its own. */
static int grow_trees(const struct sim_params *p, struct sim_outcome *o,
		      const struct fab_groups *shared, struct fab_err *err)
{
	const struct fab_mcast_problem problem = {o->f, o->dist,
						  shared ? shared : o->groups};
	const struct fab_mcast_options options = {.n_threads = p->run.threads};
	const struct fab_mcast_engine *engines[SIM_MAX_NETS] = {NULL};
	struct fab_mcast_result results[SIM_MAX_NETS];
	size_t n = p->mcast_algorithms.of.n;
	double roots_seconds;
	int rc;

	for (size_t i = 0; i < n; i++)
		engines[i] = fab_mcast_engines[p->mcast_algorithms.of.v[i].row];
	rc = fab_mcast_route(&problem, engines, n, &options, results, &roots_seconds,
			     err);
	for (size_t i = 0; i < n && !rc; i++) {
		struct sim_net *net = &o->nets[o->n_nets++];

		net->algorithm = engines[i]->name;
		net->trees = results[i];
		net->has_trees = true;
		net->seconds = roots_seconds + results[i].trees_seconds;
		if (shared)
			rc = share_tables(p, o, net, shared, err);
	}
	return rc;
}

static int make_trees(const struct sim_params *p, struct sim_outcome *o,
		      struct fab_err *err)
{
	struct fab_groups *shared = NULL;
	int rc = fab_dist_new(o->f, p->run.threads, &o->dist, err);

	if (!rc && p->mlid_cap && p->mlid_cap < o->groups->n)
		rc = fab_groups_share(o->f, o->groups, p->mlid_cap, &shared, err);
	if (!rc)
		rc = grow_trees(p, o, shared, err);
	fab_groups_free(shared);
	return rc;
}

/* Multicast tables that were read become a net; the groups must have their MLIDs. */
static int take_tables(struct sim_outcome *o, struct fab_mft *mft, struct fab_err *err)
{
	struct sim_net *net = &o->nets[o->n_nets++];

	net->algorithm = "loaded";
	net->mft = mft;
	net->mlid = FAB_NEW(o->groups->n, uint16_t);
	return fab_groups_mlids(o->groups, net->mlid, err);
}

/* Members as numbers of ends. Dead ones are an error, unless they may be left out. */
static int find_members(const struct sim_params *p, struct sim_outcome *o,
			struct fab_err *err)
{
	const struct fab_groups *g = o->groups;
	struct fab_map64 *end_of = fab_map64_new(o->ends.n);
	uint64_t n_dead = 0;
	int rc = 0;

	for (uint32_t e = 0; e < o->ends.n; e++)
		fab_map64_put(end_of, o->ends.port[e], e);
	o->group_first = g->first;
	o->group_end = FAB_NEW(g->first[g->n] + 1, uint32_t);
	for (uint32_t i = 0; i < g->n && !rc; i++)
		for (uint64_t m = g->first[i]; m < g->first[i + 1] && !rc; m++) {
			uint32_t port = g->member[m];

			o->group_end[m] = fab_map64_get(end_of, port);
			if (o->group_end[m] != FAB_NONE)
				continue;
			n_dead++;
			if (!p->groups.ignore_unknown)
				rc = fab_fail(err, EINVAL,
					      "group \"%.60s\": member %.100s is no live "
					      "host adapter: it, its switch or its cable "
					      "is dead, or it is no host's (go on "
					      "without: --ignore-unknown)",
					      fab_group_name(g, i),
					      fab_node_name(o->f, o->f->port_node[port]));
		}
	fab_map64_free(end_of);
	if (!rc && n_dead)
		fab_cli_warn(&p->run,
			     "left out: %llu members that are no live host adapters",
			     (unsigned long long)n_dead);
	return rc;
}

static int set_up_groups(struct sim_params *p, struct sim_outcome *o, struct fab_err *err)
{
	struct fab_mft *mft = NULL;
	int rc = p->mcfdbs ? fab_cli_read_mcfdbs(p->mcfdbs, p->groups.ignore_unknown,
						 &p->run, o->f, &mft, err)
			   : 0;

	if (!rc)
		rc = fab_cli_make_groups(&p->groups, &p->run, o->f, mft, &o->groups, err);
	if (rc) {
		fab_mft_free(mft);
		return rc;
	}
	if (mft)
		rc = take_tables(o, mft, err);
	if (!rc)
		rc = find_members(p, o, err);
	if (!rc && (!mft || p->has_mcast_algorithm))
		rc = make_trees(p, o, err);
	return rc;
}

static void make_problems(struct sim_outcome *o)
{
	for (size_t i = 0; i < o->n_nets; i++) {
		struct sim_net *net = &o->nets[i];

		net->problem = (struct fab_sim_problem){.f = o->f,
							.faults = o->faults,
							.ends = &o->ends,
							.routes = net->routes,
							.groups = o->groups,
							.mft = net->mft,
							.mlid = net->mlid};
		if (net->has_trees && !net->mft)
			net->problem.forest = &net->trees.forest;
		if (net->routes)
			fab_no_path_find(net->routes, o->ends.n, o->ends.sw, o->ends.port,
					 &net->no_path);
	}
}

/* Say so when rates are assumed. */
static void warn_of_rates(const struct sim_params *p, struct sim_outcome *o)
{
	if (p->tick == SIM_TICK_FLIT || p->sim.all_rates || !o->n_nets)
		return;
	o->n_unknown_rates = fab_sim_unknown_rates(&o->nets[0].problem);
	if (o->n_unknown_rates && !(p->default_mbps > 0))
		fab_cli_warn(&p->run,
			     "the rate of %u cables is not known: taken as %g Gb/s "
			     "(--default-rate)",
			     o->n_unknown_rates, p->sim.rate_gbps);
}

/* Trees are made of what is left: a fabric of its own, in which nothing is dead. */
static int take_left(struct sim_outcome *o, struct fab_err *err)
{
	int rc = fab_fabric_without(o->f, o->dead, &o->left, err);

	if (rc)
		return rc;
	o->f = o->left;
	o->faults = fab_faults_new(o->f);
	return 0;
}

int sim_set_up(struct sim_params *p, const struct fab_fabric *f, struct sim_outcome *o,
	       struct fab_err *err)
{
	struct fab_flow_ends all;
	int rc;

	o->p = p;
	o->f = f;
	if (fab_kfat_recognize(f, &o->kfat, &o->kfat_error))
		o->kfat = NULL;
	rc = fab_cli_draw_faults(&p->faults, &p->run, f, &o->dead, err);
	if (rc)
		return rc;
	fab_flow_ends_init(&all, f, NULL, NULL);
	o->n_all_ends = all.n;
	fab_flow_ends_fini(&all);
	o->faults = o->dead;
	if (p->traffic_kind->needs_groups && o->dead->named.n)
		rc = take_left(o, err);
	if (rc)
		return rc;
	fab_flow_ends_init(&o->ends, o->f, o->faults->switch_is_dead,
			   o->faults->cable_is_dead);
	if (!o->ends.n)
		return fab_fail(err, EINVAL, "%s: no live host: nobody can send",
				p->input.fabric);
	rc = p->traffic_kind->needs_groups && !p->pair ? set_up_groups(p, o, err)
						       : route_all(p, o, err);
	if (rc)
		return rc;
	make_problems(o);
	warn_of_rates(p, o);
	for (size_t i = 0; i < o->n_nets && !rc; i++)
		rc = fab_sim_check(&o->nets[i].problem, &p->sim, err);
	return rc;
}

void sim_outcome_fini(void *outcome)
{
	struct sim_outcome *o = outcome;

	for (size_t i = 0; i < o->n_nets; i++) {
		struct sim_net *net = &o->nets[i];

		fab_no_path_fini(&net->no_path);
		fab_routes_free(net->routes);
		if (net->has_trees)
			fab_mcast_result_fini(&net->trees);
		fab_mft_free(net->mft);
		free(net->mlid);
	}
	for (size_t i = 0; i < o->points.n; i++)
		fab_sim_result_fini(&o->points.v[i].first);
	for (size_t i = 0; i < o->pairs.n; i++)
		free(o->pairs.v[i].why);
	free(o->points.v);
	free(o->roots.of.v);
	free(o->pairs.v);
	free(o->group_end);
	fab_groups_free(o->groups);
	fab_dist_free(o->dist);
	fab_flow_ends_fini(&o->ends);
	if (o->faults != o->dead)
		fab_faults_free(o->faults);
	fab_faults_free(o->dead);
	fab_kfat_free(o->kfat);
	fab_fabric_free(o->left);
}
