/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-faults: tables read from files and written to them. */
#include "export/fdbs.h"
#include "export/lfts.h"
#include "export/path_sl.h"
#include "export/sl2vl.h"
#include "export/subnet_lst.h"
#include "faults.h"
#include "unicast/degraded.h"
#include "unicast/lfts.h"

bool faults_writes_tables(const struct faults_params *p)
{
	const struct faults_files *f = &p->files;

	return f->lfts_out || f->fdbs_out || f->path_sl_out || f->sl2vl_out;
}

struct fab_routes *faults_read_tables(const struct faults_params *p,
				      const struct faults_outcome *o)
{
	struct fab_routes *routes;
	struct fab_err err;

	if (fab_routes_read(o->f, o->faults, p->files.in.lfts, p->files.in.path_sl,
			    p->files.in.sl2vl, &routes, &err))
		fab_cli_die(&err);
	return routes;
}

static void write_file(struct fab_cli_results *results, const char *path,
		       const struct fab_routes *routes,
		       int (*write)(FILE *, const struct fab_routes *, struct fab_err *))
{
	struct fab_err err;

	if (path && write(fab_cli_open_result(results, path), routes, &err))
		fab_cli_die(&err);
}

static void write_subnet(struct fab_cli_results *results, const struct faults_outcome *o,
			 const char *path)
{
	struct fab_fabric *left;
	struct fab_err err;

	if (fab_fabric_without(o->f, o->faults, &left, &err))
		fab_cli_die(&err);
	if (fab_export_subnet_lst(fab_cli_open_result(results, path), left, &err))
		fab_cli_die(&err);
	fab_fabric_free(left);
}

void faults_write_tables(const struct faults_params *p, const struct faults_outcome *o,
			 struct fab_cli_results *results)
{
	const struct fab_routes *routes = o->n ? o->results[o->n - 1].routes : NULL;

	write_file(results, p->files.lfts_out, routes, fab_export_lfts);
	write_file(results, p->files.fdbs_out, routes, fab_export_fdbs);
	write_file(results, p->files.path_sl_out, routes, fab_export_path_sl);
	write_file(results, p->files.sl2vl_out, routes, fab_export_sl2vl);
	if (p->files.subnet_out)
		write_subnet(results, o, p->files.subnet_out);
}
