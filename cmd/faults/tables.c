/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-faults: tables read from files and written to them. */
#include <string.h>

#include "export/fdbs.h"
#include "export/lfts.h"
#include "export/path_sl.h"
#include "export/sl2vl.h"
#include "export/subnet_lst.h"
#include "faults.h"
#include "unicast/degraded.h"
#include "unicast/lfts.h"

enum {
	OPT_LFTS = 0x140,
	OPT_PATH_SL,
	OPT_SL2VL,
	OPT_LFTS_OUT,
	OPT_FDBS_OUT,
	OPT_PATH_SL_OUT,
	OPT_SL2VL_OUT,
	OPT_SUBNET_OUT,
};

static const struct argp_option options[] = {
	{.doc = "Tables:", .group = 5},
	{"lfts", OPT_LFTS, "FILE", 0,
	 "Judge the forwarding tables of FILE (opensm-lfts.dump, opensm.fdbs, dump_fts) "
	 "as "
	 "algorithm loaded",
	 5},
	{"path-sl", OPT_PATH_SL, "FILE", 0,
	 "With --lfts: service levels of the paths, as ibdmchk reads them", 5},
	{"sl2vl", OPT_SL2VL, "FILE", 0,
	 "With --lfts: lanes of the service levels, as ibdmchk reads them", 5},
	{"lfts-out", OPT_LFTS_OUT, "FILE", 0,
	 "Write the tables of the one algorithm as OpenSM's engine file loads them", 5},
	{"fdbs-out", OPT_FDBS_OUT, "FILE", 0, "Write them as opensm.fdbs, for ibdmchk",
	 5},
	{"path-sl-out", OPT_PATH_SL_OUT, "FILE", 0,
	 "Write the service levels of all paths", 5},
	{"sl2vl-out", OPT_SL2VL_OUT, "FILE", 0, "Write the lanes of the service levels",
	 5},
	{"subnet-out", OPT_SUBNET_OUT, "FILE", 0,
	 "Write what is left of the fabric as opensm-subnet.lst, with the same LIDs", 5},
	{0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct faults_files *files = state->input;
	struct {
		int key;
		const char *name, **to;
	} all[] = {
		{OPT_LFTS, "--lfts", &files->lfts},
		{OPT_PATH_SL, "--path-sl", &files->path_sl},
		{OPT_SL2VL, "--sl2vl", &files->sl2vl},
		{OPT_LFTS_OUT, "--lfts-out", &files->lfts_out},
		{OPT_FDBS_OUT, "--fdbs-out", &files->fdbs_out},
		{OPT_PATH_SL_OUT, "--path-sl-out", &files->path_sl_out},
		{OPT_SL2VL_OUT, "--sl2vl-out", &files->sl2vl_out},
		{OPT_SUBNET_OUT, "--subnet-out", &files->subnet_out},
	};

	for (size_t i = 0; i < FAB_COUNT(all); i++)
		if (key == all[i].key) {
			*all[i].to = (key >= OPT_LFTS_OUT ? fab_cli_output_name
							  : fab_cli_file_name)(
				all[i].name, arg, state);
			return 0;
		}
	return ARGP_ERR_UNKNOWN;
}

const struct argp faults_files_argp = {.options = options, .parser = parse_option};

static bool writes_tables(const struct faults_files *f)
{
	return f->lfts_out || f->fdbs_out || f->path_sl_out || f->sl2vl_out;
}

bool faults_writes_tables(const struct faults_params *p)
{
	return writes_tables(&p->files);
}

void faults_files_check(const struct faults_params *p, struct argp_state *state)
{
	const struct faults_files *f = &p->files;
	bool is_one_set = !p->wish.exhaustive && (!p->wish.random || p->wish.count == 1);

	if ((f->path_sl || f->sl2vl) && !f->lfts)
		argp_error(state, "%s goes with --lfts=FILE only",
			   f->path_sl ? "--path-sl" : "--sl2vl");
	if (f->lfts && (p->wish.random || p->wish.exhaustive))
		argp_error(state,
			   "--lfts goes with faults by name only: tables that were "
			   "read do not change");
	if (writes_tables(f) &&
	    (!is_one_set || (p->has_algorithm && p->n_engines != 1) || f->lfts))
		argp_error(state, "tables are written of one algorithm and one set of "
				  "faults");
	if (f->subnet_out && !is_one_set)
		argp_error(state, "--subnet-out is for one set of faults");
}

struct fab_routes *faults_read_tables(const struct faults_params *p,
				      const struct faults_outcome *o)
{
	struct fab_routes *routes;
	struct fab_err err;

	if (fab_routes_read(o->f, o->faults, p->files.lfts, p->files.path_sl,
			    p->files.sl2vl, &routes, &err))
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
