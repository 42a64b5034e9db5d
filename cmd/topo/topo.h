/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-topo: the command line and the tasks. */
#pragma once

#include "cli/command.h"
#include "cli/faults.h"
#include "fabric/check.h"
#include "fabric/diff.h"
#include "fabric/diff_plan.h"
#include "fabric/fabric.h"
#include "fabric/summary.h"

enum topo_target {
	TOPO_TO_IBNETDISCOVER,
	TOPO_TO_DOT,
	TOPO_TO_JSON,
	TOPO_TO_SLURM,
	TOPO_TO_SLURM_YAML,
	TOPO_TO_SLURM_BLOCK,
	TOPO_TO_SUBNET_LST,
	TOPO_TO_ROOT_GUIDS,
	TOPO_TO_CN_GUIDS,
	TOPO_TO_BOOKSIM,
	TOPO_TO_MIN_HOPS,
	TOPO_TO_PLAN,
	TOPO_TO_KNOWN,
	TOPO_TO_HTML,
};

/* The command line; NULL: not given. */
struct topo_params {
	bool check, ports, capacity, to; /* the modes, with --diff, --trace and --users */
	enum topo_target target;
	const char *other; /* --diff */
	bool switches_only, fold;
	const char *known; /* file of accepted problems */
	const char *trace, *users, *who;
	const char *lfts, *mcfdbs; /* tables of these two, and of --check */
	const char *path_sl, *sl2vl;
	uint32_t algorithm; /* of fab_unicast_engines */
	uint32_t choose;    /* hosts; 0: not given */
	const char *from;   /* free hosts */
	struct fab_opensm opensm;
	struct fab_cli_input input;
	struct fab_cli_output output;
	struct fab_cli_run run;
};

/* Only the main table: --columns without --format=json. */
static inline bool topo_is_table_only(const struct fab_report *r)
{
	const struct fab_report_options *how = fab_report_how(r);

	return how->format == FAB_FORMAT_TABLE && how->columns;
}

extern const struct fab_task topo_summary, topo_page, topo_check, topo_diff, topo_ports,
	topo_trace, topo_users, topo_who, topo_choose, topo_choose_quietly, topo_capacity;

/* Before all else: what follows is of a part of the fabric. */
void topo_answer_incomplete(struct fab_report *r, const struct fab_work *w);

/* The tables of --lfts, or those that --algorithm computes; their name; a sentence on
 * their source and gaps. */
struct fab_routes;
int topo_open_routes(const struct topo_params *p, const struct fab_fabric *f,
		     struct fab_routes **out, struct fab_err *err) FAB_MUST_CHECK;
const char *topo_table_name(const struct topo_params *p);
void topo_answer_tables(struct fab_report *r, const struct topo_params *p,
			const struct fab_routes *routes);

extern const struct fab_option topo_settings[];
