/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-topo without an option: the fabric in a few numbers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/units.h"
#include "fabric/check.h"
#include "fabric/fabric.h"
#include "fabric/summary.h"
#include "topo.h"

enum { SHOWN_PLANES = 20 }; /* in a table */

struct record {
	const char *source, *format, *shape, *shape_detail, *plane, *first_switch, *class,
		*speed;
	uint64_t fingerprint, switches, adapters, aggregation_nodes, routers, hosts,
		unnamed_adapters, switch_links, host_links, components, diameter,
		warnings, diameter_at_most, planes, unattached_adapters,
		left_out_switches, nodes_without_record, shared_hosts, width, links,
		level, links_down, links_up, links_side;
	double gbps, blocking, blocking_min, blocking_max;
	bool is_plane;
};

/* The summary as one row, for CSV. */
static const struct fab_column columns[] = {
	FAB_COLUMN(source, TEXT, "the FABRIC argument"),
	FAB_COLUMN(fingerprint, GUID, "digest of what is cabled to what"),
	FAB_COLUMN(format, TEXT, "format of the input"),
	FAB_COLUMN(switches, UINT, "switches"),
	FAB_COLUMN(adapters, UINT, "channel adapters, aggregation nodes included"),
	FAB_COLUMN(aggregation_nodes, UINT, "SHARP aggregation nodes"),
	FAB_COLUMN(routers, UINT, "routers"),
	FAB_COLUMN(hosts, UINT, "hosts: adapters grouped by host_rule"),
	FAB_COLUMN(unnamed_adapters, UINT, "adapters whose host has no name"),
	FAB_COLUMN(switch_links, UINT, "cables between switches"),
	FAB_COLUMN(host_links, UINT, "cables between a switch and an adapter"),
	FAB_COLUMN(components, UINT, "parts of the graph of switches"),
	FAB_COLUMN(diameter, UINT, "largest number of switch hops"),
	FAB_COLUMN(shape, TEXT, "what was recognised from the cables, or nothing"),
	FAB_COLUMN(shape_detail, TEXT, "the same with its parameters"),
	FAB_COLUMN(warnings, UINT, "number of warnings about the input"),
	FAB_COLUMN(diameter_at_most, UINT,
		   "bound of the diameter; equal to it: it is exact"),
	FAB_COLUMN(planes, UINT, "parts that are parallel networks of the same hosts"),
	FAB_COLUMN(unattached_adapters, UINT, "adapters without a cable to a switch"),
	FAB_COLUMN(left_out_switches, UINT,
		   "of rails that --hca did not choose: not counted"),
	FAB_COLUMN(nodes_without_record, UINT,
		   "nodes that cables lead to, of which the input has no record"),
};

static const struct fab_column plane_columns[] = {
	FAB_COLUMN(plane, TEXT, "what it is called: plane 1, part 2"),
	FAB_COLUMN(first_switch, TEXT, "its first switch"),
	FAB_COLUMN(switches, UINT, "its switches"),
	FAB_COLUMN(hosts, UINT, "hosts with an adapter on it"),
	FAB_COLUMN_AS(shared_hosts, UINT, "of these: hosts of the largest plane, too",
		      FAB_COL_EXTRA),
	FAB_COLUMN_AS(adapters, UINT, "adapters with a cable to it", FAB_COL_EXTRA),
	FAB_COLUMN(switch_links, UINT, "cables between its switches"),
	FAB_COLUMN(host_links, UINT, "cables to adapters"),
	FAB_COLUMN(diameter, UINT, "largest number of switch hops on it"),
	FAB_COLUMN_AS(diameter_at_most, UINT, "bound of the diameter", FAB_COL_EXTRA),
	FAB_COLUMN(shape, TEXT, "what was recognised, with its parameters"),
	FAB_COLUMN_AS(is_plane, BOOL, "a parallel network; false: another part",
		      FAB_COL_EXTRA),
};

static const struct fab_column link_columns[] = {
	FAB_COLUMN(class, TEXT, "switch, host, aggregation or other"),
	FAB_COLUMN(speed, TEXT, "lower speed of the two ends"),
	FAB_COLUMN_AS(width, UINT, "lower width of the two ends, lanes",
		      FAB_COL_NULL_ZERO),
	FAB_COLUMN(gbps, REAL, "signalling rate of a cable, Gbit/s"),
	FAB_COLUMN(links, UINT, "number of cables"),
};

static const struct fab_column level_columns[] = {
	FAB_COLUMN(level, UINT, "height above the hosts, 0 for leaf switches"),
	FAB_COLUMN(switches, UINT, "switches of that level"),
	FAB_COLUMN(adapters, UINT, "cables to adapters of hosts"),
	FAB_COLUMN(links_down, UINT, "cables to lower levels"),
	FAB_COLUMN(links_up, UINT, "cables to higher levels"),
	FAB_COLUMN(links_side, UINT, "cables within the level, self-loops left out"),
	FAB_COLUMN(blocking, REAL,
		   "rate down (hosts, lower levels) / rate up, of the level"),
	FAB_COLUMN(blocking_min, REAL, "least ratio of rate down to rate up of a switch"),
	FAB_COLUMN(blocking_max, REAL,
		   "largest ratio of rate down to rate up of a switch"),
};

#define AT(member) FAB_AT(struct fab_rail_count, member)
static const struct fab_column rail_columns[] = {
	{"adapters_per_host", FAB_UINT, "adapters with a cable", 0, AT(n_adapters)},
	{"hosts", FAB_UINT, "hosts with this number of adapters", 0, AT(n_hosts)},
};
#undef AT

#define AT(member) FAB_AT(struct fab_warning, member)
static const struct fab_column warning_columns[] = {
	{"code", FAB_TEXT, "kind of warning", 0, AT(code)},
	{"message", FAB_TEXT, "the warning", 0, AT(message)},
	{"line", FAB_UINT, "line of the input", FAB_COL_NULL_ZERO, AT(line)},
};
#undef AT

/* Before all else: what follows is of a part of the fabric. */
void topo_answer_incomplete(struct fab_report *r, const struct fab_work *w)
{
	uint32_t n = fab_check_without_record(w->f);

	if (n)
		fab_report_answer(
			r, FAB_TONE_BAD,
			"The input is incomplete, perhaps cut off: %s that cables lead to %s no record in it.",
			fab_human_counted(w->arena, n, "node", NULL),
			n == 1 ? "has" : "have");
}

static void answer(struct fab_report *r, const struct fab_work *w,
		   const struct fab_summary *s, const char *detail)
{
	const struct fab_fabric *f = w->f;
	const struct fab_rates rates = fab_rates_of(f, 0, f->n_cables);
	const struct fab_level *l = s->levels;
	const struct fab_planes *p = s->planes;
	uint32_t n_some = p->n_hosts - p->n_on_all, n_cut = p->n - p->n_planes;
	char text[2][FAB_HUMAN_BYTES];
	FAB_AUTOFREE char *unknown = fab_rates_unknown_text(f, &rates);

	topo_answer_incomplete(r, w);
	fab_report_answer(
		r, FAB_TONE_PLAIN, "%s: %s, %s, %s between switches.",
		detail ? detail : "No shape known here",
		fab_human_counted(w->arena, f->n_switches, "switch", "switches"),
		fab_human_counted(w->arena, f->n_hosts, "host", NULL),
		fab_human_counted(w->arena, f->n_switch_links, "cable", NULL));
	/* Planes are as it should be, other parts are not. */
	if (p->n_planes > 1 && !n_some)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"It has %u planes, parallel networks of the same hosts.",
			p->n_planes);
	else if (p->n_planes > 1)
		fab_report_answer(
			r, FAB_TONE_WARN,
			"It has %u planes, parallel networks: %s of %s hosts %s on only %s of them.",
			p->n_planes, fab_human_count(n_some, text[0]),
			fab_human_count(p->n_hosts, text[1]), n_some == 1 ? "is" : "are",
			p->n_planes == 2 ? "one" : "some");
	if (n_cut)
		fab_report_answer(
			r, FAB_TONE_BAD,
			"%u more part%s of the switches %s cut off from the rest.", n_cut,
			n_cut == 1 ? "" : "s", n_cut == 1 ? "is" : "are");
	/* upward bandwidth of the leaf switches divided by that of their hosts */
	if (s->n_levels && l->rate_up > 0 && l->rate_down / l->rate_up > 1.005)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"Leaf switches have %.3g times the rate down to hosts that they have up.",
			l->rate_down / l->rate_up);
	if (unknown)
		fab_report_answer(r, FAB_TONE_WARN, "Of the cables %s.", unknown);
	if (f->n_warnings_total)
		fab_report_answer(r, FAB_TONE_WARN,
				  "Reading it gave %s; --check says what is wrong.",
				  fab_human_counted(w->arena, f->n_warnings_total,
						    "warning", NULL));
}

static void put_row(struct fab_report *r, const struct fab_fabric *f,
		    const struct fab_summary *s, const char *detail)
{
	const struct record row = {
		.source = f->source,
		.fingerprint = fab_fabric_fingerprint(f),
		.format = f->format,
		.switches = f->n_switches,
		.adapters = f->n_adapters,
		.aggregation_nodes = f->n_aggregation_nodes,
		.routers = f->n_routers,
		.hosts = f->n_hosts,
		.unnamed_adapters = s->n_unnamed_adapters,
		.switch_links = f->n_switch_links,
		.host_links = f->n_host_links,
		.components = s->n_components,
		.diameter = s->diameter,
		.shape = fab_shape_name(s->shape->kind),
		.shape_detail = detail,
		.warnings = f->n_warnings_total,
		.diameter_at_most = s->diameter_at_most,
		.planes = s->planes->n_planes,
		.unattached_adapters = s->n_unattached,
		.left_out_switches = f->n_left_out_switches,
		.nodes_without_record = fab_check_without_record(f),
	};

	FAB_TABLE_BEGIN(r, "summary", NULL, columns);
	fab_report_record(r, &row);
	fab_report_table_end(r);
}

static void put_fields(struct fab_report *r, const struct fab_work *w,
		       const struct fab_summary *s, const char *detail, bool for_people)
{
	const struct fab_fabric *f = w->f;
	bool is_exact = s->diameter == s->diameter_at_most;
	const struct {
		const char *name;
		uint64_t n;
		bool is_shown; /* to people */
	} counts[] = {
		{"unnamed_adapters", s->n_unnamed_adapters, s->n_unnamed_adapters},
		{"components", s->n_components, true},
		{"planes", s->planes->n_planes, s->n_components > 1},
		{"unattached_adapters", s->n_unattached, s->n_unattached},
		{"left_out_switches", f->n_left_out_switches, f->n_left_out_switches},
		{"nodes_without_record", fab_check_without_record(f),
		 fab_check_without_record(f)},
	};

	fab_report_text(r, "format", f->format);
	if (f->n_routers || !for_people)
		fab_report_uint(r, "routers", f->n_routers);
	fab_report_text(r, "host_rule", f->host_rule);
	for (size_t i = 0; i < FAB_COUNT(counts); i++)
		if (counts[i].is_shown || !for_people)
			fab_report_uint(r, counts[i].name, counts[i].n);
	/* a number that is only known between bounds says so */
	if (for_people && !is_exact)
		fab_report_text(r, "diameter",
				fab_arena_format(w->arena, "at least %u, at most %u",
						 s->diameter, s->diameter_at_most));
	else
		fab_report_uint(r, "diameter", s->diameter);
	if (!for_people) {
		fab_report_uint(r, "diameter_at_most", s->diameter_at_most);
		fab_report_text(r, "diameter_is", is_exact ? "exact" : "bounds");
	}
	fab_report_text(r, "shape",
			for_people && detail ? detail : fab_shape_name(s->shape->kind));
	if (!for_people)
		fab_report_text(r, "shape_detail", detail);
}

/* Cables by class and rate, switches by level, adapters by host. */
static void put_counts(struct fab_report *r, const struct fab_summary *s)
{
	static const char *const classes[FAB_N_CABLE_CLASSES] = {
		[FAB_CABLE_SWITCH] = "switch",
		[FAB_CABLE_HOST] = "host",
		[FAB_CABLE_AGGREGATION] = "aggregation",
		[FAB_CABLE_OTHER] = "other",
	};

	FAB_TABLE_BEGIN(r, "links", "Links", link_columns);
	for (const struct fab_link_count *l = s->links; l < s->links + s->n_links; l++) {
		double rate = fab_speed_lane_gbps(l->speed) * l->width;
		const struct record row = {
			.class = classes[l->class],
			.speed = l->speed ? fab_speed_name(l->speed) : NULL,
			.width = l->width,
			.gbps = rate > 0 ? rate : NAN,
			.links = l->n,
		};

		fab_report_record(r, &row);
	}
	fab_report_table_end(r);
	FAB_TABLE_BEGIN(r, "levels", "Levels of switches", level_columns);
	for (uint32_t i = 0; i < s->n_levels; i++) {
		const struct fab_level *l = &s->levels[i];
		const struct record row = {
			.level = i,
			.switches = l->n_switches,
			.adapters = l->n_adapters,
			.links_down = l->n_down,
			.links_up = l->n_up,
			.links_side = l->n_side,
			.blocking = l->rate_up > 0 ? l->rate_down / l->rate_up : NAN,
			.blocking_min = l->n_blocking ? l->least_blocking : NAN,
			.blocking_max = l->n_blocking ? l->most_blocking : NAN,
		};

		fab_report_record(r, &row);
	}
	fab_report_table_end(r);
	FAB_TABLE(r, "rails", "Adapters of hosts", rail_columns, s->rails, s->n_rails);
}

/* Planes and other parts; people see the first of them. */
static void put_planes(struct fab_report *r, const struct fab_fabric *f,
		       const struct fab_summary *s, bool for_people)
{
	uint32_t n = s->n_components;
	char title[96];

	snprintf(title, sizeof(title), "%s, which no path joins",
		 s->planes->n_planes < n ? "Parts of the fabric"
					 : "Planes: parallel networks");
	if (for_people && n > SHOWN_PLANES) {
		snprintf(title, sizeof(title),
			 "Parts of the fabric, which no path joins (the first %d of %u)",
			 SHOWN_PLANES, n);
		n = SHOWN_PLANES;
	}
	FAB_TABLE_BEGIN(r, "parts", title, plane_columns);
	for (uint32_t i = 0; i < n; i++) {
		const struct fab_plane *v = &s->planes->v[i];
		const struct fab_part_summary *p = &s->parts[i];
		char name[FAB_PLANE_TEXT_SIZE], shape[256];
		bool has_shape = p->shape && p->shape->kind != FAB_SHAPE_NONE;
		const struct record row = {
			.plane = fab_plane_text(s->planes, i, name),
			.first_switch = fab_node_name(f, v->first_switch),
			.switches = v->n_switches,
			.hosts = v->n_hosts,
			.shared_hosts = v->n_shared,
			.adapters = v->n_adapters,
			.switch_links = v->n_switch_links,
			.host_links = v->n_host_links,
			.diameter = p->diameter,
			.diameter_at_most = p->diameter_at_most,
			.shape = has_shape
					 ? fab_shape_text(p->shape, shape, sizeof(shape))
					 : NULL,
			.is_plane = v->is_plane,
		};

		fab_report_record(r, &row);
	}
	fab_report_table_end(r);
}

static int solve(struct fab_work *w, struct fab_err *err)
{
	const struct topo_params *p = w->params;

	(void)err;
	*(struct fab_summary **)w->outcome = fab_summary_new(w->f, p->run.threads);
	return fab_check_without_record(w->f) ? FAB_EXIT_FOUND : FAB_EXIT_DONE;
}

static void report(struct fab_report *r, const struct fab_work *w)
{
	const struct fab_summary *s = *(struct fab_summary **)w->outcome;
	enum fab_format format = fab_report_how(r)->format;
	const struct fab_fabric *f = w->f;
	bool for_people = format == FAB_FORMAT_TABLE;
	char text[256];
	const char *detail = s->shape->kind == FAB_SHAPE_NONE
				     ? NULL
				     : fab_shape_text(s->shape, text, sizeof(text));

	if (format == FAB_FORMAT_CSV || topo_is_table_only(r)) {
		fab_report_without_fabric(r);
		put_row(r, f, s, detail);
		return;
	}
	answer(r, w, s, detail);
	put_fields(r, w, s, detail, for_people);
	if (!for_people || s->n_components > 1)
		put_planes(r, f, s, for_people);
	put_counts(r, s);
	if (!for_people)
		FAB_TABLE(r, "warnings", "Warnings", warning_columns, f->warnings,
			  f->n_warnings);
}

static void fini(void *outcome)
{
	fab_summary_free(*(struct fab_summary **)outcome);
}

/* The summary as a page. */
const struct fab_task topo_page = {
	.primary = "summary",
	.outcome_bytes = sizeof(struct fab_summary *),
	.solve = solve,
	.report = report,
	.is_page = true,
	.fini = fini,
};

const struct fab_task topo_summary = {
	.primary = "summary",
	FAB_TASK_COLUMNS(columns),
	.outcome_bytes = sizeof(struct fab_summary *),
	.solve = solve,
	.report = report,
	.fini = fini,
};
