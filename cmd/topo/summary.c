/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-topo without an option: the fabric in a few numbers. */
#include "topo.h"

#include <math.h>
#include <stdio.h>

#include "fabric/summary.h"

enum { SHOWN_PLANES = 20 }; /* in a table */

/* The summary as one row, for CSV. */
static const struct fab_column columns[] = {
	{"source", FAB_TEXT, "the FABRIC argument", 0},
	{"fingerprint", FAB_GUID, "digest of what is cabled to what", 0},
	{"format", FAB_TEXT, "format of the input", 0},
	{"switches", FAB_UINT, "switches", 0},
	{"adapters", FAB_UINT, "channel adapters, aggregation nodes included", 0},
	{"aggregation_nodes", FAB_UINT, "SHARP aggregation nodes", 0},
	{"routers", FAB_UINT, "routers", 0},
	{"hosts", FAB_UINT, "hosts: adapters grouped by host_rule", 0},
	{"unnamed_adapters", FAB_UINT, "adapters whose host has no name", 0},
	{"switch_links", FAB_UINT, "cables between switches", 0},
	{"host_links", FAB_UINT, "cables between a switch and an adapter", 0},
	{"components", FAB_UINT, "parts of the graph of switches", 0},
	{"diameter", FAB_UINT, "largest number of switch hops", 0},
	{"shape", FAB_TEXT, "what was recognised from the cables, or nothing", 0},
	{"shape_detail", FAB_TEXT, "the same with its parameters", 0},
	{"warnings", FAB_UINT, "number of warnings about the input", 0},
	{"diameter_at_most", FAB_UINT, "bound of the diameter; equal to it: it is exact",
	 0},
	{"planes", FAB_UINT, "parts that are parallel networks of the same hosts", 0},
	{"unattached_adapters", FAB_UINT, "adapters without a cable to a switch", 0},
	{"left_out_switches", FAB_UINT, "of rails that --hca did not choose: not counted",
	 0},
};

static const struct fab_column plane_columns[] = {
	{"plane", FAB_TEXT, "what it is called: plane 1, part 2", 0},
	{"first_switch", FAB_TEXT, "its first switch", 0},
	{"switches", FAB_UINT, "its switches", 0},
	{"hosts", FAB_UINT, "hosts with an adapter on it", 0},
	{"shared_hosts", FAB_UINT, "of these: hosts of the largest plane, too",
	 FAB_COL_EXTRA},
	{"adapters", FAB_UINT, "adapters with a cable to it", FAB_COL_EXTRA},
	{"switch_links", FAB_UINT, "cables between its switches", 0},
	{"host_links", FAB_UINT, "cables to adapters", 0},
	{"diameter", FAB_UINT, "largest number of switch hops on it", 0},
	{"diameter_at_most", FAB_UINT, "bound of the diameter", FAB_COL_EXTRA},
	{"shape", FAB_TEXT, "what was recognised, with its parameters", 0},
	{"is_plane", FAB_BOOL, "a parallel network; false: a part that is none",
	 FAB_COL_EXTRA},
};

static const struct fab_column link_columns[] = {
	{"class", FAB_TEXT, "switch, host, aggregation or other", 0},
	{"speed", FAB_TEXT, "lower speed of the two ends", 0},
	{"width", FAB_UINT, "lower width of the two ends, lanes", FAB_COL_NULL_ZERO},
	{"gbps", FAB_REAL, "signalling rate of a cable, Gbit/s", 0},
	{"links", FAB_UINT, "number of cables", 0},
};

static const struct fab_column level_columns[] = {
	{"level", FAB_UINT, "height above the hosts, 0 for leaf switches", 0},
	{"switches", FAB_UINT, "switches of that level", 0},
	{"adapters", FAB_UINT, "cables to adapters of hosts", 0},
	{"links_down", FAB_UINT, "cables to lower levels", 0},
	{"links_up", FAB_UINT, "cables to higher levels", 0},
	{"links_side", FAB_UINT, "cables within the level, self-loops left out", 0},
	{"blocking", FAB_REAL, "rate down (hosts, lower levels) / rate up, of the level",
	 0},
	{"blocking_min", FAB_REAL, "least ratio of rate down to rate up of a switch", 0},
	{"blocking_max", FAB_REAL, "largest ratio of rate down to rate up of a switch",
	 0},
};

static const struct fab_column rail_columns[] = {
	{"adapters_per_host", FAB_UINT, "adapters with a cable", 0},
	{"hosts", FAB_UINT, "hosts that have so many", 0},
};

static const struct fab_column warning_columns[] = {
	{"code", FAB_TEXT, "kind of warning", 0},
	{"message", FAB_TEXT, "the warning", 0},
	{"line", FAB_UINT, "line of the input", FAB_COL_NULL_ZERO},
};

struct topo_columns topo_summary_columns(void)
{
	return (struct topo_columns){columns, FAB_COUNT(columns)};
}

static void put_row(struct fab_report *r, const struct fab_fabric *f,
		    const struct fab_summary *s, const char *detail)
{
	const union fab_cell cells[FAB_COUNT(columns)] = {
		{.text = f->source},
		{.u = fab_fabric_fingerprint(f)},
		{.text = f->format},
		{.u = f->n_switches},
		{.u = f->n_adapters},
		{.u = f->n_aggregation_nodes},
		{.u = f->n_routers},
		{.u = f->n_hosts},
		{.u = s->n_unnamed_adapters},
		{.u = f->n_switch_links},
		{.u = f->n_host_links},
		{.u = s->n_components},
		{.u = s->diameter},
		{.text = fab_shape_name(s->shape->kind)},
		{.text = detail},
		{.u = f->n_warnings_total},
		{.u = s->diameter_at_most},
		{.u = s->planes->n_planes},
		{.u = s->n_unattached},
		{.u = f->n_left_out_switches},
	};

	fab_report_table_begin(r, "summary", NULL, columns, FAB_COUNT(columns));
	fab_report_row(r, cells);
	fab_report_table_end(r);
}

/* A number that is only known between bounds says so. */
static void put_diameter(struct fab_report *r, const struct fab_summary *s,
			 bool for_people)
{
	char text[64];

	if (for_people && s->diameter != s->diameter_at_most) {
		snprintf(text, sizeof(text), "at least %u, at most %u", s->diameter,
			 s->diameter_at_most);
		fab_report_text(r, "diameter", text);
		return;
	}
	fab_report_uint(r, "diameter", s->diameter);
	if (for_people)
		return;
	fab_report_uint(r, "diameter_at_most", s->diameter_at_most);
	fab_report_text(r, "diameter_is",
			s->diameter == s->diameter_at_most ? "exact" : "bounds");
}

static void put_fields(struct fab_report *r, const struct fab_fabric *f,
		       const struct fab_summary *s, const char *detail, bool for_people)
{
	fab_report_text(r, "format", f->format);
	if (f->n_routers || !for_people)
		fab_report_uint(r, "routers", f->n_routers);
	fab_report_text(r, "host_rule", f->host_rule);
	if (s->n_unnamed_adapters || !for_people)
		fab_report_uint(r, "unnamed_adapters", s->n_unnamed_adapters);
	fab_report_uint(r, "components", s->n_components);
	if (s->n_components > 1 || !for_people)
		fab_report_uint(r, "planes", s->planes->n_planes);
	if (s->n_unattached || !for_people)
		fab_report_uint(r, "unattached_adapters", s->n_unattached);
	if (f->n_left_out_switches || !for_people)
		fab_report_uint(r, "left_out_switches", f->n_left_out_switches);
	put_diameter(r, s, for_people);
	fab_report_text(r, "shape",
			for_people && detail ? detail : fab_shape_name(s->shape->kind));
	if (!for_people)
		fab_report_text(r, "shape_detail", detail);
}

static void put_links(struct fab_report *r, const struct fab_summary *s)
{
	static const char *const classes[FAB_N_CABLE_CLASSES] = {
		[FAB_CABLE_SWITCH] = "switch",
		[FAB_CABLE_HOST] = "host",
		[FAB_CABLE_AGGREGATION] = "aggregation",
		[FAB_CABLE_OTHER] = "other",
	};

	fab_report_table_begin(r, "links", "Links", link_columns,
			       FAB_COUNT(link_columns));
	for (uint32_t i = 0; i < s->n_links; i++) {
		const struct fab_link_count *l = &s->links[i];
		double rate = fab_speed_lane_gbps(l->speed) * l->width;
		const union fab_cell cells[FAB_COUNT(link_columns)] = {
			{.text = classes[l->class]},
			{.text = l->speed ? fab_speed_name(l->speed) : NULL},
			{.u = l->width},
			{.real = rate > 0 ? rate : NAN},
			{.u = l->n},
		};

		fab_report_row(r, cells);
	}
	fab_report_table_end(r);
}

static void put_levels(struct fab_report *r, const struct fab_summary *s)
{
	fab_report_table_begin(r, "levels", "Levels of switches", level_columns,
			       FAB_COUNT(level_columns));
	for (uint32_t i = 0; i < s->n_levels; i++) {
		const struct fab_level *l = &s->levels[i];
		const union fab_cell cells[FAB_COUNT(level_columns)] = {
			{.u = i},
			{.u = l->n_switches},
			{.u = l->n_adapters},
			{.u = l->n_down},
			{.u = l->n_up},
			{.u = l->n_side},
			{.real = l->rate_up > 0 ? l->rate_down / l->rate_up : NAN},
			{.real = l->n_blocking ? l->least_blocking : NAN},
			{.real = l->n_blocking ? l->most_blocking : NAN},
		};

		fab_report_row(r, cells);
	}
	fab_report_table_end(r);
}

/* Planes and other parts; people see the first of them. */
static void put_planes(struct fab_report *r, const struct fab_fabric *f,
		       const struct fab_summary *s, bool for_people)
{
	uint32_t n = s->n_components;
	char title[96] = "Planes: parallel networks, which no path joins";

	if (s->planes->n_planes < n)
		snprintf(title, sizeof(title),
			 "Parts of the fabric, which no path joins");
	if (for_people && n > SHOWN_PLANES) {
		snprintf(title, sizeof(title),
			 "Parts of the fabric, which no path joins (the first %d of %u)",
			 SHOWN_PLANES, n);
		n = SHOWN_PLANES;
	}
	fab_report_table_begin(r, "parts", title, plane_columns,
			       FAB_COUNT(plane_columns));
	for (uint32_t i = 0; i < n; i++) {
		const struct fab_plane *v = &s->planes->v[i];
		const struct fab_part_summary *p = &s->parts[i];
		char name[FAB_PLANE_TEXT_SIZE], shape[256];
		bool has_shape = p->shape && p->shape->kind != FAB_SHAPE_NONE;
		const union fab_cell cells[FAB_COUNT(plane_columns)] = {
			{.text = fab_plane_text(s->planes, i, name)},
			{.text = fab_node_name(f, v->first_switch)},
			{.u = v->n_switches},
			{.u = v->n_hosts},
			{.u = v->n_shared},
			{.u = v->n_adapters},
			{.u = v->n_switch_links},
			{.u = v->n_host_links},
			{.u = p->diameter},
			{.u = p->diameter_at_most},
			{.text = has_shape
					 ? fab_shape_text(p->shape, shape, sizeof(shape))
					 : NULL},
			{.u = v->is_plane},
		};

		fab_report_row(r, cells);
	}
	fab_report_table_end(r);
}

static void put_rails(struct fab_report *r, const struct fab_summary *s)
{
	fab_report_table_begin(r, "rails", "Adapters of hosts", rail_columns,
			       FAB_COUNT(rail_columns));
	for (uint32_t i = 0; i < s->n_rails; i++) {
		const union fab_cell cells[FAB_COUNT(rail_columns)] = {
			{.u = s->rails[i].n_adapters},
			{.u = s->rails[i].n_hosts},
		};

		fab_report_row(r, cells);
	}
	fab_report_table_end(r);
}

static void put_warnings(struct fab_report *r, const struct fab_fabric *f)
{
	fab_report_table_begin(r, "warnings", "Warnings", warning_columns,
			       FAB_COUNT(warning_columns));
	for (uint32_t i = 0; i < f->n_warnings; i++) {
		const union fab_cell cells[FAB_COUNT(warning_columns)] = {
			{.text = f->warnings[i].code},
			{.text = f->warnings[i].message},
			{.u = f->warnings[i].line},
		};

		fab_report_row(r, cells);
	}
	fab_report_table_end(r);
}

int topo_summary(FILE *out, const struct fab_report_options *options,
		 const struct fab_fabric *f, const struct fab_cli_run *run)
{
	struct fab_summary *s = fab_summary_new(f, run->threads);
	bool for_people = options->format == FAB_FORMAT_TABLE;
	bool row_only =
		options->format == FAB_FORMAT_CSV || (for_people && options->columns);
	struct fab_report *r = fab_cli_begin_report(out, options, "fabric-topo",
						    "summary", row_only ? NULL : f);
	char text[256];
	const char *detail = s->shape->kind == FAB_SHAPE_NONE
				     ? NULL
				     : fab_shape_text(s->shape, text, sizeof(text));

	if (row_only) {
		put_row(r, f, s, detail);
	} else {
		topo_summary_answer(r, f, s, detail);
		put_fields(r, f, s, detail, for_people);
		if (!for_people || s->n_components > 1)
			put_planes(r, f, s, for_people);
		put_links(r, s);
		put_levels(r, s);
		put_rails(r, s);
		if (!for_people)
			put_warnings(r, f);
	}
	fab_cli_finish_report(r);
	fab_summary_free(s);
	return FAB_EXIT_DONE;
}
