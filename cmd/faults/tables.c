/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-faults: tables read from files and written to them. */
#include "export/tables.h"
#include "export/fabrics.h"
#include "faults.h"
#include "unicast/faults.h"
#include "unicast/lfts.h"

bool faults_writes_tables(const struct faults_params *p)
{
	const struct faults_files *f = &p->files;

	return f->lfts_out || f->fdbs_out || f->path_sl_out || f->sl2vl_out;
}

int faults_read_tables(const struct faults_params *p, const struct faults_outcome *o,
		       struct fab_routes **out, struct fab_err *err)
{
	return fab_routes_read(o->f, o->faults, p->files.in.lfts, p->files.in.path_sl,
			       p->files.in.sl2vl, out, err);
}

static int write_subnet(struct fab_cli_results *results, const struct faults_outcome *o,
			const char *path, struct fab_err *err)
{
	struct fab_fabric *left;
	int rc = fab_fabric_without(o->f, o->faults, &left, err);

	if (rc)
		return rc;
	rc = fab_export_subnet_lst(fab_cli_open_result(results, path), left, err);
	fab_fabric_free(left);
	return rc;
}

int faults_write_tables(const struct faults_params *p, const struct faults_outcome *o,
			struct fab_cli_results *results, struct fab_err *err)
{
	const struct fab_routes *routes = o->n ? o->results[o->n - 1].routes : NULL;
	const struct {
		const char *path;
		int (*write)(FILE *, const struct fab_routes *, struct fab_err *);
	} files[] = {{p->files.lfts_out, fab_export_lfts},
		     {p->files.fdbs_out, fab_export_fdbs},
		     {p->files.path_sl_out, fab_export_path_sl},
		     {p->files.sl2vl_out, fab_export_sl2vl}};
	int rc = 0;

	for (size_t i = 0; i < FAB_COUNT(files) && !rc; i++)
		if (files[i].path)
			rc = files[i].write(fab_cli_open_result(results, files[i].path),
					    routes, err);
	return rc || !p->files.subnet_out
		       ? rc
		       : write_subnet(results, o, p->files.subnet_out, err);
}
