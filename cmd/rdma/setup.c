/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-rdma: from options and fabric to endpoints and tables. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric_rdma.h"
#include "sim/sim.h"
#include "unicast/lfts.h"

static struct fab_unicast_problem problem_of(const struct rdma_network *n)
{
	return (struct fab_unicast_problem){.f = n->f,
					    .faults = n->dead,
					    .kfat = n->kfat,
					    .max_vls = n->p->max_vls,
					    .n_threads = n->p->run.threads};
}

/* The route of this name. */
static const struct fab_rdma_route *route_named(const char *name)
{
	return &fab_rdma_routes[fab_choices_find(&fab_rdma_route_choices, name,
						 strlen(name))];
}

/* Without --route: in order of the dimensions where there are such. */
static const struct fab_rdma_route *choose_route(const struct rdma_params *p,
						 const struct rdma_network *n)
{
	const struct fab_unicast_problem problem = problem_of(n);

	if (p->has_route)
		return &fab_rdma_routes[p->route];
	if (p->tables.lfts || p->has_algorithm ||
	    fab_unicast_fits(&fab_unicast_dor, &problem, NULL))
		return route_named("table");
	return route_named("dor");
}

static int make_tables(const struct rdma_params *p, struct rdma_network *n,
		       const struct fab_unicast_engine *engine, struct fab_err *err)
{
	const struct fab_unicast_problem problem = problem_of(n);

	if (fab_unicast_fits(engine, &problem, NULL))
		return fab_unicast_refuse(p->input.fabric, engine, &problem,
					  &n->kfat_error, err);
	n->algorithm = engine->name;
	return engine->route(&problem, &n->routes, err);
}

/* Tables of what was asked for, and those of the escape lanes where buffers are
 * bounded. */
static int set_tables(const struct rdma_params *p, struct rdma_network *n,
		      struct fab_err *err)
{
	const struct fab_unicast_engine *engine =
		n->kfat ? &fab_unicast_vtftr_ib : &fab_unicast_minhop;
	const struct fab_unicast_problem problem = problem_of(n);

	if (p->tables.lfts) {
		n->algorithm = "loaded";
		return fab_routes_read(n->f, n->dead, p->tables.lfts, p->tables.path_sl,
				       p->tables.sl2vl, &n->routes, err);
	}
	if (n->route->routing == FAB_RDMA_BY_TABLE) {
		if (n->route->engine)
			engine = fab_unicast_engine_find(n->route->engine,
							 strlen(n->route->engine));
		else if (p->has_algorithm)
			engine = fab_unicast_engines[p->algorithms.of.v[0].row];
		return make_tables(p, n, engine, err);
	}
	if (!p->buffer)
		return 0;
	engine = fab_unicast_fits(&fab_unicast_dor, &problem, NULL) ? &fab_unicast_updn
								    : &fab_unicast_dor;
	return make_tables(p, n, engine, err);
}

static void count_rates(const struct rdma_params *p, struct rdma_network *n)
{
	const struct fab_sim_problem problem = {.f = n->f, .faults = n->dead};

	if (p->cable_mbps > 0)
		return;
	n->n_unknown_rates = fab_sim_unknown_rates(&problem);
	if (n->n_unknown_rates && !(p->default_mbps > 0))
		fab_cli_warn(&p->run,
			     "the rate of %u cables is not known: taken as %g Gb/s "
			     "(--default-rate)",
			     n->n_unknown_rates, p->sim.rate_gbps);
}

int rdma_set_up(struct rdma_params *p, const struct fab_fabric *f, struct rdma_network *n,
		struct fab_err *err)
{
	int rc;

	n->p = p;
	n->f = f;
	if (fab_kfat_recognize(f, &n->kfat, &n->kfat_error))
		n->kfat = NULL;
	rc = fab_cli_draw_faults(&p->faults, &p->run, f, &n->dead, err);
	if (rc)
		return rc;
	fab_flow_ends_init(&n->ends, f, n->dead->switch_is_dead, n->dead->cable_is_dead);
	if (n->ends.n < 2)
		return fab_fail(err, EINVAL,
				"%s: %u live endpoints: a transfer needs two",
				p->input.fabric, n->ends.n);
	n->route = choose_route(p, n);
	rc = set_tables(p, n, err);
	if (rc)
		return rc;
	n->outage = FAB_NEW0(p->link_down.n + 1, struct fab_rdma_outage);
	rc = rdma_read_link_down(p, f, n->outage, err);
	p->sim.routing = n->route->routing;
	p->sim.bad.outage = n->outage;
	p->sim.bad.n_outages = p->link_down.n;
	count_rates(p, n);
	return rc;
}

void rdma_network_fini(struct rdma_network *n)
{
	fab_routes_free(n->routes);
	fab_flow_ends_fini(&n->ends);
	fab_faults_free(n->dead);
	fab_kfat_free(n->kfat);
	free(n->outage);
}
