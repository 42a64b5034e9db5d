/* SPDX-License-Identifier: BSD-2-Clause */
/* The nodes of the job and the tables that their messages follow. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "fabric/resolver.h"
#include "fabric/shape.h"
#include "launch.h"
#include "source/unpack.h"
#include "unicast/engine.h"
#include "unicast/lfts.h"

/* Each host once, in the order of the fabric: --order says how they are numbered. */
static void sort_hosts(struct fab_ids *hosts)
{
	size_t n = 0;

	qsort(hosts->of.v, hosts->of.n, sizeof(*hosts->of.v), fab_cmp_u32);
	for (size_t i = 0; i < hosts->of.n; i++)
		if (!n || hosts->of.v[n - 1] != hosts->of.v[i])
			hosts->of.v[n++] = hosts->of.v[i];
	hosts->of.n = n;
}

static int read_node_file(const char *path, const struct fab_lookup *lookup,
			  struct fab_ids *out, struct fab_matches *matches,
			  struct fab_err *err)
{
	struct fab_input in;
	int rc = fab_input_read(path, &in, err);

	if (rc)
		return rc;
	rc = fab_lookup_lines(lookup, launch_input_name(path), in.bytes, in.n, out,
			      matches, err);
	fab_input_fini(&in);
	return rc;
}

/* --node-list and --node-file. */
static int find_hosts(const struct launch_params *p, struct launch_job *job,
		      struct fab_err *err)
{
	struct fab_matches matches = {.with_names = p->run.verbose};
	struct fab_lookup lookup;
	int rc = 0;

	if (!p->node_list && !p->node_file)
		return 0;
	job->resolver = fab_resolver_new(job->f);
	lookup = fab_resolver_lookup(job->resolver, FAB_WANT_HOST);
	if (p->node_list) {
		rc = fab_lookup_list(&lookup, p->node_list, strlen(p->node_list),
				     &job->hosts, &matches, err);
		if (rc)
			fab_err_prefix(err, "--node-list");
	} else {
		rc = read_node_file(p->node_file, &lookup, &job->hosts, &matches, err);
	}
	if (!rc) {
		fab_cli_tell_matches(&p->run,
				     p->node_list ? "--node-list"
						  : launch_input_name(p->node_file),
				     &matches);
		sort_hosts(&job->hosts);
	}
	fab_matches_fini(&matches);
	return rc;
}

static bool is_grid(const struct fab_fabric *f)
{
	struct fab_shape *shape = fab_shape_recognize(f);
	bool is = shape->kind == FAB_SHAPE_TORUS || shape->kind == FAB_SHAPE_MESH;

	fab_shape_free(shape);
	return is;
}

/* vtftr-ib on a kfat, dimension order on a grid, else minhop. */
static const struct fab_unicast_engine *
choose_engine(const struct fab_unicast_problem *problem)
{
	if (problem->kfat && !fab_unicast_fits(&fab_unicast_vtftr_ib, problem, NULL))
		return &fab_unicast_vtftr_ib;
	if (is_grid(problem->f) && !fab_unicast_fits(&fab_unicast_dor, problem, NULL))
		return &fab_unicast_dor;
	return &fab_unicast_minhop;
}

static int make_tables(const struct launch_params *p, struct launch_job *job,
		       struct fab_err *err)
{
	const struct fab_unicast_problem problem = {.f = job->f,
						    .faults = job->faults,
						    .kfat = job->kfat,
						    .max_vls = 2,
						    .n_threads = p->run.threads};
	const struct fab_unicast_engine *e;

	if (p->tables.lfts) {
		job->algorithm = "loaded";
		return fab_routes_read(job->f, job->faults, p->tables.lfts,
				       p->tables.path_sl, p->tables.sl2vl, &job->routes,
				       err);
	}
	e = p->has_algorithm ? fab_unicast_engines[p->algorithm]
			     : choose_engine(&problem);
	if (fab_unicast_fits(e, &problem, NULL))
		return fab_unicast_refuse(p->input.fabric, e, &problem, &job->kfat_error,
					  err);
	job->algorithm = e->name;
	return e->route(&problem, &job->routes, err);
}

int launch_job_hosts(const struct launch_params *p, const struct fab_fabric *f,
		     struct launch_job *job, struct fab_err *err)
{
	int rc;

	*job = (struct launch_job){.f = f, .p = p};
	rc = fab_cli_draw_faults(&p->faults, &p->run, f, &job->faults, err);
	return rc ? rc : find_hosts(p, job, err);
}

int launch_job_init(const struct launch_params *p, const struct fab_fabric *f,
		    struct launch_job *job, struct fab_err *err)
{
	int rc = launch_job_hosts(p, f, job, err);

	if (!rc && fab_kfat_recognize(f, &job->kfat, &job->kfat_error))
		job->kfat = NULL;
	return rc ? rc : make_tables(p, job, err);
}

void launch_job_fini(struct launch_job *job)
{
	fab_routes_free(job->routes);
	fab_kfat_free(job->kfat);
	fab_faults_free(job->faults);
	fab_resolver_free(job->resolver);
	free(job->hosts.of.v);
	*job = (struct launch_job){0};
}

int launch_job_nodes(const struct launch_job *job, uint32_t n_nodes, const char *order,
		     struct fab_launch_nodes *out, struct fab_err *err)
{
	struct fab_launch_choice choice = {.host = job->hosts.of.n ? job->hosts.of.v
								   : NULL,
					   .n_hosts = (uint32_t)job->hosts.of.n,
					   .n_nodes = n_nodes};
	int rc = fab_node_order_parse(order, job->p->run.seed, &choice.order, err);

	return rc ? rc : fab_launch_nodes_init(out, job->f, job->faults, &choice, err);
}

char *launch_job_text(uint32_t n_nodes, uint32_t ppn, const char *verb)
{
	bool is_one = n_nodes == 1;

	return fab_format("%u node%s of %u process%s%s%s%s", n_nodes, is_one ? "" : "s",
			  ppn, ppn == 1 ? "" : "es", *verb ? " " : "", verb,
			  *verb && is_one ? "s" : "");
}
