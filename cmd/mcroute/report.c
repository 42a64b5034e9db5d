/* SPDX-License-Identifier: BSD-2-Clause */
/* The report of fabric-mcroute: its tables and what their columns mean. */
#include "mcroute.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* A row of a table. */
struct record {
	const char *algorithm, *sw, *peer;
	double load;
	uint64_t efi, cables, port, peer_port, switch_guid, peer_guid;
};

#define AT(member) FAB_AT(struct record, member)
static const struct fab_column histogram_columns[] = {
	FAB_COLUMN(algorithm, TEXT, "routing algorithm"),
	FAB_COLUMN(efi, UINT, "number of trees on a cable"),
	FAB_COLUMN(cables, UINT, "switch-to-switch cables with that number"),
};

static const struct fab_column fullest_columns[] = {
	FAB_COLUMN(algorithm, TEXT, "routing algorithm"),
	FAB_COLUMN(efi, UINT, "number of trees on the cable"),
	FAB_COLUMN_AS(load, NUMBER, "its weighted load; null without weights",
		      FAB_COL_EXTRA),
	{"switch", FAB_TEXT, "name of the switch at one end", 0, AT(sw)},
	FAB_COLUMN(port, UINT, "port there"),
	FAB_COLUMN(peer, TEXT, "name of the switch at the other end"),
	FAB_COLUMN(peer_port, UINT, "port there"),
	FAB_COLUMN_AS(switch_guid, GUID, "GUID of the switch", FAB_COL_EXTRA),
	FAB_COLUMN_AS(peer_guid, GUID, "GUID of the peer", FAB_COL_EXTRA),
};
#undef AT

struct mcroute_row mcroute_row_of(const struct mcroute_outcome *o, size_t i)
{
	const struct fab_mcast_result *result = &o->results[i];
	bool has_bound = o->height_bound && !result->engine->may_be_higher &&
			 !result->height_slack;

	return (struct mcroute_row){
		.algorithm = result->engine->name,
		.efi = o->efi[i],
		.lower_bound = o->lower_bound,
		.height_bound = has_bound ? mcroute_low_bound(o) : (double)NAN,
		.load_bound = o->weights ? o->load_bound : (double)NAN,
		.verified = o->was_verified ? o->is_sound[i] : FAB_UNKNOWN,
		.ended = i < o->has_tables ? NULL : fab_mcast_ended_name(result->ended),
		.distances = o->distances_seconds,
		.roots = o->roots_seconds,
		.trees = result->trees_seconds,
		.total = o->distances_seconds + o->roots_seconds + result->trees_seconds,
	};
}

static void print_results(struct fab_report *r, const struct mcroute_outcome *o)
{
	fab_report_table_begin(r, "results", "Algorithms", mcroute_columns,
			       mcroute_n_columns);
	for (size_t i = 0; i < o->n; i++) {
		const struct mcroute_row row = mcroute_row_of(o, i);

		fab_report_record(r, &row);
	}
	fab_report_table_end(r);
}

static void print_histogram(struct fab_report *r, const struct mcroute_outcome *o)
{
	fab_report_table_begin(r, "histogram",
			       "Switch-to-switch cables by number of trees",
			       histogram_columns, FAB_COUNT(histogram_columns));
	for (size_t i = 0; i < o->n; i++) {
		uint32_t *count = fab_efi_histogram(o->problem.f, o->results[i].load,
						    o->efi[i].max);

		for (uint32_t e = 0; e <= o->efi[i].max; e++) {
			const struct record row = {
				.algorithm = o->results[i].engine->name,
				.efi = e,
				.cables = count[e],
			};

			if (count[e])
				fab_report_record(r, &row);
		}
		free(count);
	}
	fab_report_table_end(r);
}

/* Cables with low to high trees. */
static uint64_t count_between(const struct mcroute_outcome *o, size_t engine,
			      uint32_t low, uint32_t high)
{
	const uint32_t *load = o->results[engine].load;
	uint64_t n = 0;

	for (uint32_t c = 0; c < o->problem.f->n_switch_links; c++)
		n += load[c] >= low && load[c] <= high;
	return n;
}

/* For people: ranges of trees down, one column an algorithm. */
static void print_ranges(struct fab_report *r, const struct mcroute_outcome *o)
{
	struct fab_column columns[MCROUTE_MAX_ENGINES + 1] = {
		{"trees", FAB_TEXT, "number of trees on a cable", 0}};
	uint32_t max = 0, low = 0, high = 0;

	for (size_t i = 0; i < o->n; i++) {
		columns[i + 1] = (struct fab_column){o->results[i].engine->name, FAB_UINT,
						     "cables", 0};
		max = o->efi[i].max > max ? o->efi[i].max : max;
	}
	fab_report_table_begin(r, "histogram",
			       "Switch-to-switch cables by number of trees", columns,
			       o->n + 1);
	while (low <= max) {
		union fab_cell cells[MCROUTE_MAX_ENGINES + 1];
		char range[32];

		snprintf(range, sizeof(range), low == high ? "%u" : "%u-%u", low, high);
		cells[0].text = range;
		for (size_t i = 0; i < o->n; i++)
			cells[i + 1].u = count_between(o, i, low, high);
		fab_report_row(r, cells);
		low = high + 1;
		high = 2 * high > low ? 2 * high : low;
	}
	fab_report_table_end(r);
}

static void print_cable(struct fab_report *r, const struct mcroute_outcome *o,
			size_t engine, uint32_t cable)
{
	const struct fab_fabric *f = o->problem.f;
	const double *weighted = o->results[engine].weighted;
	uint32_t a = f->cable_a[cable], b = f->cable_b[cable];
	const struct record row = {
		.algorithm = o->results[engine].engine->name,
		.efi = o->results[engine].load[cable],
		.load = weighted ? weighted[cable] : (double)NAN,
		.sw = fab_node_name(f, f->port_node[a]),
		.port = f->port_num[a],
		.peer = fab_node_name(f, f->port_node[b]),
		.peer_port = f->port_num[b],
		.switch_guid = f->node_guid[f->port_node[a]],
		.peer_guid = f->node_guid[f->port_node[b]],
	};

	fab_report_record(r, &row);
}

void mcroute_show_loads(const struct mcroute_outcome *o, const struct fab_column *columns,
			size_t n, struct fab_column *out)
{
	for (size_t i = 0; i < n; i++) {
		out[i] = columns[i];
		if (o->weights && !strcmp(columns[i].name, "load"))
			out[i].flags &= ~FAB_COL_EXTRA;
	}
}

static void print_fullest(struct fab_report *r, const struct mcroute_outcome *o,
			  uint32_t n_fullest)
{
	uint32_t *cable = FAB_NEW(n_fullest, uint32_t);
	struct fab_column columns[FAB_COUNT(fullest_columns)];

	mcroute_show_loads(o, fullest_columns, FAB_COUNT(fullest_columns), columns);
	fab_report_table_begin(r, "fullest", "Fullest cables", columns,
			       FAB_COUNT(columns));
	for (size_t i = 0; i < o->n; i++) {
		uint32_t n = fab_efi_fullest(o->problem.f, o->results[i].load,
					     o->results[i].weighted, n_fullest, cable);

		for (uint32_t k = 0; k < n; k++)
			print_cable(r, o, i, cable[k]);
	}
	fab_report_table_end(r);
	free(cable);
}

int mcroute_report(FILE *out, const struct fab_report_options *options,
		   const struct mcroute_params *p, const struct mcroute_outcome *o,
		   struct fab_err *err)
{
	static const struct fab_column fields[] = {
		{"groups", FAB_UINT, "multicast groups", 0},
		{"members", FAB_UINT, "members of all groups together", 0},
		{"unknown_members", FAB_UINT, "members left out by --ignore-unknown",
		 FAB_COL_EXTRA},
		{"mlids_needed", FAB_UINT, "multicast LIDs, one a group", FAB_COL_EXTRA},
		{"mlid_cap", FAB_UINT, "multicast LIDs that the switches hold",
		 FAB_COL_EXTRA},
	};
	const struct fab_groups *g = o->problem.groups;
	struct fab_report *r = fab_cli_begin_report(out, options, "fabric-mcroute",
						    "results", o->problem.f);

	mcroute_answer(r, p, o);
	fab_report_field(r, &fields[0], (union fab_cell){.u = g->n});
	fab_report_field(r, &fields[1], (union fab_cell){.u = g->first[g->n]});
	fab_report_field(r, &fields[2], (union fab_cell){.u = g->n_unknown});
	fab_report_field(r, &fields[3], (union fab_cell){.u = g->n});
	fab_report_field(r, &fields[4], (union fab_cell){.u = o->mlid_cap});
	print_results(r, o);
	mcroute_print_explained(r, p, o);
	if (o->sweep.n)
		mcroute_print_sweep(r, o);
	mcroute_print_bounds(r, o);
	if (o->has_sharing)
		mcroute_print_sharing(r, o);
	if (o->has_tables)
		mcroute_print_broken(r, o);
	if (options->format == FAB_FORMAT_TABLE)
		print_ranges(r, o);
	else
		print_histogram(r, o);
	if (p->fullest || options->format != FAB_FORMAT_TABLE)
		print_fullest(r, o, p->fullest);
	return fab_report_finish(r, err);
}
