/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-mcroute: multicast tables as OpenSM dumps them, read, analysed and written. */
#include "mcroute.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "export/tables.h"

static const struct fab_mcast_engine loaded_engine = {
	.name = "loaded",
	.summary = "the tables of --mcfdbs",
};

/* A row of a table. */
struct record {
	const char *mlid, *problem, *sw;
	uint64_t count, port, switch_guid;
};

#define AT(member) FAB_AT(struct record, member)
static const struct fab_column broken_columns[] = {
	FAB_COLUMN(mlid, TEXT, "multicast LID of the group"),
	FAB_COLUMN(problem, TEXT, "loop, cut-off, one-sided or no-cable"),
	FAB_COLUMN(count, UINT, "cables too many, members, ports"),
	{"switch", FAB_TEXT, "name of the switch where the first of them is", 0, AT(sw)},
	FAB_COLUMN(port, UINT, "port there"),
	FAB_COLUMN_AS(switch_guid, GUID, "GUID of the switch", FAB_COL_EXTRA),
};
#undef AT

int mcroute_analyse_tables(struct mcroute_outcome *o, const struct fab_mft *tables,
			   struct fab_err *err)
{
	uint16_t *mlid = FAB_NEW(o->problem.groups->n, uint16_t);
	struct fab_mcast_result *result = &o->results[o->n];
	int rc = fab_groups_mlids(o->problem.groups, mlid, err);

	if (!rc)
		fab_loaded_of(o->problem.f, o->problem.groups, mlid, tables,
			      o->problem.weights, &o->loaded);
	free(mlid);
	if (rc)
		return rc;
	*result = (struct fab_mcast_result){.engine = &loaded_engine,
					    .load = o->loaded.load,
					    .weighted = o->loaded.weighted,
					    .trees_seconds = (double)NAN};
	fab_efi_of(&o->problem, result, &o->efi[o->n]);
	o->efi[o->n].max_height = o->loaded.max_height;
	o->is_sound[o->n++] = !o->loaded.n_broken;
	o->has_tables = true;
	return 0;
}

void mcroute_print_broken(struct fab_report *r, const struct mcroute_outcome *o)
{
	const struct fab_fabric *f = o->problem.f;

	fab_report_table_begin(r, "broken", "Broken trees in the tables", broken_columns,
			       FAB_COUNT(broken_columns));
	for (size_t i = 0; i < o->loaded.broken.n; i++) {
		const struct fab_broken *b = &o->loaded.broken.v[i];
		const struct record row = {
			.mlid = fab_group_name(o->problem.groups, b->group),
			.problem = fab_broken_name(b->kind),
			.count = b->count,
			.sw = fab_node_name(f, b->sw),
			.port = b->port,
			.switch_guid = f->node_guid[b->sw],
		};

		fab_report_record(r, &row);
	}
	fab_report_table_end(r);
}

int mcroute_write_tables(const struct mcroute_outcome *o, const char *path,
			 struct fab_cli_results *results, struct fab_err *err)
{
	uint16_t *mlid = FAB_NEW(o->problem.groups->n, uint16_t);
	int rc = fab_groups_give_mlids(o->problem.groups, mlid, err);

	if (rc)
		fab_err_prefix(err, "--mcfdbs-out");
	else
		rc = fab_export_mcfdbs(fab_cli_open_result(results, path), &o->problem,
				       &o->results[o->n - 1], mlid, err);
	free(mlid);
	return rc;
}
