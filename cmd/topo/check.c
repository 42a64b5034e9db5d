/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fabric-topo --check: what is wrong with the fabric. People get its causes on one
 * screen, worst first; other formats and --verbose every finding. --lfts adds the
 * routing, --diff what is new since an older dump, --known what was accepted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/units.h"
#include "fabric/check.h"
#include "fabric/label.h"
#include "source/known.h"
#include "topo.h"
#include "unicast/analysis.h"
#include "unicast/lfts.h"

enum {
	LINES = 19,   /* for causes, on a screen of 24 */
	BESIDES = 10, /* columns of a screen that causes do not have */
};

struct record {
	const char *severity, *code, *message, *cause, *node, *peer;
	uint64_t guid, port, peer_guid, peer_port, line, findings;
	enum fab_tone tone;
};

static const struct fab_column columns[] = {
	FAB_COLUMN(severity, TEXT, "problem (counts for the exit status) or note"),
	FAB_COLUMN(code, TEXT, "kind of finding, see the manual page"),
	FAB_COLUMN(message, TEXT, "the finding in full"),
	FAB_COLUMN_AS(node, TEXT, "name of the node, or of one end", FAB_COL_EXTRA),
	FAB_COLUMN_AS(guid, GUID, "GUID of the node", FAB_COL_EXTRA | FAB_COL_NULL_ZERO),
	FAB_COLUMN_AS(port, UINT, "number of the port",
		      FAB_COL_EXTRA | FAB_COL_NULL_ZERO),
	FAB_COLUMN_AS(line, UINT, "line of the input", FAB_COL_EXTRA | FAB_COL_NULL_ZERO),
	FAB_COLUMN_AS(peer, TEXT, "name of the node at the other end", FAB_COL_EXTRA),
	FAB_COLUMN_AS(peer_guid, GUID, "GUID of the node at the other end",
		      FAB_COL_EXTRA | FAB_COL_NULL_ZERO),
	FAB_COLUMN_AS(peer_port, UINT, "number of the port at the other end",
		      FAB_COL_EXTRA | FAB_COL_NULL_ZERO),
};

static const struct fab_column code_columns[] = {
	FAB_COLUMN(severity, TEXT, "problem or note"),
	FAB_COLUMN(code, TEXT, "kind of finding"),
	FAB_COLUMN(findings, UINT, "how many there are"),
};

static const struct fab_column cause_columns[] = {
	FAB_COLUMN(severity, TEXT,
		   "new (with --known or --diff), problem, note, accepted (by --known)"),
	FAB_COLUMN_AS(code, TEXT, "kind of finding", FAB_COL_EXTRA),
	FAB_COLUMN(cause, TEXT, "what was found, and what to look at"),
	FAB_COLUMN_AS(findings, UINT, "how many findings it explains", FAB_COL_EXTRA),
};

struct outcome {
	struct fab_check *check; /* without */
	struct fab_known_counts counts;
	struct fab_fabric *old; /* of --diff */
	struct fab_check *old_check;
	struct fab_diff *diff;
	struct fab_routes *routes; /* of --lfts */
	struct fab_analysis routing;
	FAB_VEC(struct record) causes; /* worst first */
};

static const char *severity_name(enum fab_severity severity)
{
	return severity == FAB_PROBLEM ? "problem" : "note";
}

static void put_finding(struct fab_report *r, const struct fab_fabric *f,
			const struct fab_finding *x)
{
	bool has_node = x->node != FAB_NONE, has_peer = x->peer_node != FAB_NONE;
	const struct record row = {
		.severity = severity_name(x->severity),
		.code = x->code,
		.message = x->message,
		.node = has_node ? fab_node_name(f, x->node) : NULL,
		.guid = has_node ? f->node_guid[x->node] : 0,
		.port = x->port == FAB_NONE ? 0 : f->port_num[x->port],
		.line = x->line,
		.peer = has_peer ? fab_node_name(f, x->peer_node) : NULL,
		.peer_guid = has_peer ? f->node_guid[x->peer_node] : 0,
		.peer_port = x->peer_port == FAB_NONE ? 0 : f->port_num[x->peer_port],
	};

	fab_report_record_tone(
		r, x->severity == FAB_PROBLEM ? FAB_TONE_BAD : FAB_TONE_PLAIN, &row);
}

/* Causes, worst first. */

static void add_cause(struct outcome *o, const char *severity, const char *code,
		      uint64_t findings, const char *cause)
{
	bool is_bad = !strcmp(severity, "problem") || !strcmp(severity, "new");

	FAB_PUSH(&o->causes,
		 ((struct record){.severity = severity,
				  .code = code,
				  .cause = cause,
				  .findings = findings,
				  .tone = is_bad ? FAB_TONE_BAD : FAB_TONE_PLAIN}));
}

/* Causes of n findings; `problem` is the word for problems. */
static void add_causes(struct fab_work *w, const struct fab_finding *findings, uint32_t n,
		       enum fab_severity severity, const char *problem)
{
	uint32_t n_causes;
	const struct fab_cause *cause =
		fab_causes(w->f, findings, n, w->arena, &n_causes);

	for (uint32_t i = 0; i < n_causes; i++)
		if (cause[i].severity == severity)
			add_cause(w->outcome, problem, cause[i].code, cause[i].n,
				  cause[i].text);
}

/* Adapters of hosts on a switch of the older fabric, where all of two or more are missing
 * now; else 0. */
static uint32_t lost_adapters(const struct outcome *o, uint32_t sw)
{
	const struct fab_fabric *f = o->old;
	uint32_t n = 0;

	FAB_EACH_PORT(f, sw, p) {
		uint32_t peer = fab_port_peer(f, p);
		uint32_t node = peer == FAB_NONE ? FAB_NONE : f->port_node[peer];

		if (node == FAB_NONE || fab_node_is_switch(f, node) ||
		    f->node_host[node] == FAB_NONE)
			continue;
		if (o->diff->new_of[node] != FAB_NONE)
			return 0;
		n++;
	}
	return n > 1 ? n : 0;
}

/* A line for each switch that lost all of its hosts; is_lost [switches of the older
 * fabric]. */
static void add_lost_leaves(struct fab_work *w, bool *is_lost)
{
	struct outcome *o = w->outcome;

	for (uint32_t s = 0; s < o->old->n_switches; s++) {
		uint32_t n = lost_adapters(o, s);
		bool is_missing = o->diff->new_of[s] == FAB_NONE;

		is_lost[s] = n > 0;
		if (n)
			add_cause(
				o, "new", "missing", n,
				fab_arena_format(
					w->arena,
					"\"%.64s\" %s %u adapters of hosts since %s: look at %s",
					fab_node_name(o->old, s),
					is_missing ? "is missing, with all its"
						   : "lost all of its",
					n, o->old->source,
					is_missing ? "the switch and its power"
						   : "the power of the hosts"));
	}
}

/* Does a line about a switch that lost its hosts say it? */
static bool is_of_lost(const struct outcome *o, const bool *is_lost,
		       const struct fab_change *change)
{
	const struct fab_fabric *f = o->old;
	uint32_t node = change->old_node, port, sw;

	if (change->kind != FAB_CHANGE_MISSING || node == FAB_NONE)
		return false;
	port = fab_node_first_connected_port(f, node);
	sw = port == FAB_NONE ? FAB_NONE : fab_port_switch(f, port);
	return sw != FAB_NONE && is_lost[sw];
}

/* Changes since an older fabric: those of each kind, with the first of them by name. */
static void add_changes(struct fab_work *w)
{
	struct outcome *o = w->outcome;
	bool *is_lost = FAB_ARENA_NEW(w->arena, o->old->n_switches, bool);
	struct fab_change *changes =
		FAB_ARENA_NEW(w->arena, o->diff->n_changes, struct fab_change);
	uint32_t n = 0;

	add_lost_leaves(w, is_lost);
	for (uint32_t i = 0; i < o->diff->n_changes; i++)
		if (!is_of_lost(o, is_lost, &o->diff->changes[i]))
			changes[n++] = o->diff->changes[i];
	for (uint32_t i = 0, end; i < n; i = end) {
		const struct fab_change *c = &changes[i];
		bool is_node = c->old_node != FAB_NONE || c->new_node != FAB_NONE;
		bool is_old =
			is_node ? c->new_node == FAB_NONE : c->new_cable == FAB_NONE;
		const struct fab_fabric *f = is_old ? o->old : w->f;
		uint32_t node = is_old ? c->old_node : c->new_node;
		uint32_t cable = is_old ? c->old_cable : c->new_cable;
		FAB_AUTOFREE char *text = is_node ? fab_strdup(fab_node_name(f, node))
						  : fab_cable_text(f, f->cable_a[cable]);

		for (end = i; end < n; end++) {
			const struct fab_change *x = &changes[end];

			if (x->kind != c->kind || (x->old_node != FAB_NONE ||
						   x->new_node != FAB_NONE) != is_node)
				break;
		}
		add_cause(o, "new", fab_change_name(c->kind), end - i,
			  fab_arena_format(
				  w->arena, "%s %s since %s: %s%s",
				  fab_human_counted(w->arena, end - i,
						    is_node ? "node" : "cable", NULL),
				  c->kind == FAB_CHANGE_SPEED ? "with another speed"
				  : c->kind == FAB_CHANGE_WIDTH
					  ? "with another width"
					  : fab_change_name(c->kind),
				  o->old->source, text,
				  end - i > 1 ? ", ... (--diff alone lists them)" : ""));
	}
}

/* Routing by the tables: lost pairs, loops, load. */
static void add_routing(struct fab_work *w)
{
	struct outcome *o = w->outcome;
	const struct fab_analysis *j = &o->routing;
	const struct fab_fabric *f = w->f;
	FAB_AUTOFREE char *why = fab_analysis_why_unknown(j);
	uint32_t n_arcs = f->arc_first[f->n_switches], n_used = 0, fullest = 0, sw = 0;
	uint64_t sum = 0;
	FAB_AUTOFREE char *text = NULL;

	if (j->unreachable && j->unreached.n)
		add_cause(
			o, "problem", "lost-pairs", j->unreachable,
			fab_arena_format(
				w->arena,
				"%s of %llu have no path, the first from \"%.64s\" to \"%.64s\": follow it with --trace",
				fab_human_counted(w->arena, j->unreachable, "pair", NULL),
				(unsigned long long)j->pairs,
				fab_node_name(f, j->unreached.v[0].from),
				fab_node_name(f, j->unreached.v[0].to)));
	if (!j->deadlock_free && !why)
		add_cause(
			o, "problem", "credit-loop", j->cycle.n,
			fab_arena_format(
				w->arena,
				"packets can block each other in a loop of %zu cables, from port %u of \"%.64s\" on (fabric-faults shows it): other routing or lanes",
				j->cycle.n,
				f->port_num[fab_arc_port(f, j->cycle.v[0].sw,
							 f->arc_first[j->cycle.v[0].sw] +
								 j->cycle.v[0].arc)],
				fab_node_name(f, j->cycle.v[0].sw)));
	else
		add_cause(
			o, j->cycle.n ? "problem" : "note",
			why ? "credit-loop" : "routing", j->pairs,
			why ? fab_arena_format(
				      w->arena,
				      "whether packets can block each other is not known: %s",
				      why)
			    : fab_arena_format(
				      w->arena,
				      "%s of %llu pairs have a path, no credit loop, %u lane%s",
				      j->unreachable ? "the other" : "all",
				      (unsigned long long)j->pairs, j->vls,
				      j->vls == 1 ? "" : "s"));
	for (uint32_t a = 0; a < n_arcs; a++) {
		n_used += j->load[a] > 0;
		sum += j->load[a];
		fullest = j->load[a] > j->load[fullest] ? a : fullest;
	}
	if (!n_used)
		return;
	while (f->arc_first[sw + 1] <= fullest)
		sw++;
	text = fab_cable_text(f, fab_arc_port(f, sw, fullest));
	add_cause(
		o, "note", "load", 1,
		fab_arena_format(
			w->arena,
			"the fullest cable carries %.2g times the mean load: %s; %u of %u directions between switches carry nothing",
			(double)j->load[fullest] * n_used / (double)sum, text,
			n_arcs - n_used, n_arcs));
}

/* Findings that the older fabric does not have go first. */
static uint32_t split_new(struct fab_work *w, struct fab_finding *sorted)
{
	const struct outcome *o = w->outcome;
	uint32_t n = 0, n_new = o->check->n_findings;
	FAB_AUTO(fab_strmap_free_at) struct fab_strmap *ids = NULL;

	memcpy(sorted, o->check->findings, n_new * sizeof(*sorted));
	if (!o->old_check)
		return n_new;
	ids = fab_strmap_new(o->old_check->n_findings);
	for (uint32_t i = 0; i < o->old_check->n_findings; i++) {
		const struct fab_finding *x = &o->old_check->findings[i];
		const char *id = fab_arena_format(w->arena, "%s %s", x->code, x->key);

		fab_strmap_put(ids, id, strlen(id), i);
	}
	for (int is_old = 0; is_old < 2; is_old++) {
		for (uint32_t i = 0; i < o->check->n_findings; i++) {
			const struct fab_finding *x = &o->check->findings[i];
			const char *id =
				fab_arena_format(w->arena, "%s %s", x->code, x->key);

			if ((fab_strmap_get(ids, id, strlen(id)) != FAB_NONE) == is_old)
				sorted[n++] = *x;
		}
		n_new = is_old ? n_new : n;
	}
	return n_new;
}

static void find_causes(struct fab_work *w)
{
	const struct topo_params *p = w->params;
	struct outcome *o = w->outcome;
	const struct fab_check *check = o->check;
	static const char *const order[] = {"new", "problem", "note", "accepted"};
	bool is_compared = p->known || o->diff;
	struct record *copy;
	size_t n;
	struct fab_finding *sorted =
		FAB_ARENA_NEW(w->arena, check->n_findings, struct fab_finding);
	uint32_t n_new = split_new(w, sorted), n_old = check->n_findings - n_new;

	add_causes(w, sorted, n_new, FAB_PROBLEM, is_compared ? "new" : "problem");
	if (o->diff)
		add_changes(w);
	if (o->routes)
		add_routing(w);
	add_causes(w, sorted + n_new, n_old, FAB_PROBLEM, "problem");
	add_causes(w, sorted, n_new, FAB_NOTE, "note");
	add_causes(w, sorted + n_new, n_old, FAB_NOTE, "note");
	add_causes(w, check->known, check->n_known, FAB_PROBLEM, "accepted");
	n = o->causes.n;
	copy = FAB_ARENA_NEW(w->arena, n, struct record);
	if (n)
		memcpy(copy, o->causes.v, n * sizeof(*copy));
	for (size_t k = 0, at = 0; k < FAB_COUNT(order); k++)
		for (size_t i = 0; i < n; i++)
			if (!strcmp(copy[i].severity, order[k]))
				o->causes.v[at++] = copy[i];
}

static void answer(struct fab_report *r, const struct fab_work *w)
{
	const struct topo_params *p = w->params;
	const struct outcome *o = w->outcome;
	const struct fab_check *check = o->check;
	const struct fab_finding *worst = fab_check_worst(check);
	const struct fab_fabric *f = w->f;
	char *notes = fab_human_counted(w->arena, check->n_findings - check->n_problems,
					"note", NULL);
	const char *known =
		!o->counts.n_left_out
			? ""
			: fab_arena_format(w->arena, ", besides %llu accepted by --known",
					   (unsigned long long)o->counts.n_left_out);

	topo_answer_incomplete(r, w);
	if (worst) {
		fab_report_answer(
			r, FAB_TONE_BAD, "%s%s and %s%s%s.", p->known ? "New: " : "",
			fab_human_counted(w->arena, check->n_problems, "problem", NULL),
			notes, o->routes ? " in cables, LIDs and names" : "", known);
		if (fab_report_how(r)->format != FAB_FORMAT_TABLE || p->run.verbose)
			fab_report_answer(r, FAB_TONE_BAD, "The worst, %s: %s.",
					  worst->code, worst->message);
	} else {
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"No %sproblem found in cables, %sLIDs and names of %u switch%s and %u adapter%s%s; %s.",
			p->known ? "new " : "",
			check->n_unknown_rates == f->n_cables ? "" : "rates, ",
			f->n_switches, f->n_switches == 1 ? "" : "es", f->n_adapters,
			f->n_adapters == 1 ? "" : "s", known, notes);
	}
	if (o->routes && (o->routing.unreachable || o->routing.cycle.n))
		fab_report_answer(
			r, FAB_TONE_BAD, "The tables of %s have %s%s%s.", p->lfts,
			o->routing.unreachable ? "pairs without a path" : "",
			o->routing.unreachable && o->routing.cycle.n ? " and " : "",
			!o->routing.cycle.n	? ""
			: o->routing.is_unknown ? "perhaps a credit loop"
						: "a credit loop");
	if (check->n_unknown_rates)
		fab_report_answer(
			r, FAB_TONE_WARN,
			"The rate of %u of %u cables is not known and was not checked.",
			check->n_unknown_rates, f->n_cables);
}

/* Load of the cables by the tables, their loop, and the findings, one a mark. */
static void draw(struct fab_drawing *d, const struct fab_work *w)
{
	const struct outcome *o = w->outcome;

	if (o->routes)
		fab_cli_draw_analysis(d, w->f, &o->routing, "the tables");
	for (uint32_t i = 0; i < o->check->n_findings; i++) {
		const struct fab_finding *x = &o->check->findings[i];

		fab_drawing_mark(
			d, x->severity == FAB_PROBLEM ? FAB_TONE_BAD : FAB_TONE_PLAIN,
			x->message);
		if (x->cable != FAB_NONE)
			fab_drawing_mark_cable(d, x->cable);
		else if (x->node != FAB_NONE)
			fab_drawing_mark_node(d, x->node);
		if (x->cable == FAB_NONE && x->peer_node != FAB_NONE)
			fab_drawing_mark_node(d, x->peer_node);
	}
}

static int solve(struct fab_work *w, struct fab_err *err)
{
	static const struct fab_analysis_options options = {.ends = FAB_ENDS_HOSTS,
							    .with_load = true};
	const struct topo_params *p = w->params;
	struct fab_cli_input input = p->input;
	struct outcome *o = w->outcome;
	struct fab_known *known = NULL;
	int rc = p->known ? fab_known_read(p->known, &known, err) : 0;

	if (rc)
		return rc;
	o->check = fab_check_new(w->f);
	if (known)
		o->counts = fab_known_leave_out(known, o->check);
	fab_known_free(known);
	if (p->other) {
		input.fabric = p->other;
		input.edit.n = 0;
		rc = fab_cli_open_fabric(&input, &p->run, &o->old, err);
		if (rc)
			return rc;
		if (fab_fabric_is_plan(o->old))
			return fab_fail(
				err, EINVAL,
				"%s: --check --diff compares with an earlier state of the fabric, not with a cabling plan: expected a dump, or --diff without --check",
				o->old->source);
		o->old_check = fab_check_new(o->old);
		o->diff = fab_diff_new(o->old, w->f);
	}
	if (p->lfts)
		rc = fab_routes_read(w->f, NULL, p->lfts, p->path_sl, p->sl2vl,
				     &o->routes, err);
	if (!rc && o->routes)
		rc = fab_analyse(o->routes, &options, &o->routing, err);
	if (rc)
		return rc;
	find_causes(w);
	return o->check->n_problems || (o->routes &&
					(o->routing.unreachable || o->routing.cycle.n))
		       ? FAB_EXIT_FOUND
		       : FAB_EXIT_DONE;
}

/* Findings counted by their codes. */
static void put_codes(struct fab_report *r, const struct fab_check *check)
{
	uint32_t n = check->n_findings;

	FAB_TABLE_BEGIN(r, "codes", "Findings by kind", code_columns);
	for (uint32_t i = 0, end; i < n; i = end) {
		struct record row = {
			.severity = severity_name(check->findings[i].severity),
			.code = check->findings[i].code,
		};

		for (end = i; end < n && !strcmp(check->findings[end].code, row.code);
		     end++)
			row.findings++;
		fab_report_record(r, &row);
	}
	fab_report_table_end(r);
}

/* Causes that fit on a screen, long ones wrapped to its width. */
static size_t n_that_fit(const struct outcome *o, unsigned width)
{
	size_t n = 0, lines = 0;

	for (; n < o->causes.n; n++) {
		size_t len = strlen(o->causes.v[n].cause);

		lines += width > 2 * BESIDES ? len / (width - BESIDES) + 1 : 1;
		if (lines > LINES)
			break;
	}
	return n;
}

static void report(struct fab_report *r, const struct fab_work *w)
{
	const struct topo_params *p = w->params;
	const struct outcome *o = w->outcome;
	const struct fab_check *check = o->check;
	bool for_people = fab_report_how(r)->format == FAB_FORMAT_TABLE;
	bool table_only = topo_is_table_only(r);
	bool is_page = fab_report_how(r)->page;
	bool is_short = for_people && !p->run.verbose && !table_only && !is_page;
	size_t n = o->causes.n;
	size_t n_shown = is_short ? n_that_fit(o, fab_report_how(r)->width) : n;

	if (table_only || is_short)
		fab_report_without_fabric(r);
	if (!table_only)
		answer(r, w);
	if (is_short && n_shown < n)
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "The first %zu of %zu causes; --verbose lists all.",
				  n_shown, n);
	if (!table_only && !is_short) {
		fab_report_uint(r, "problems", check->n_problems);
		fab_report_uint(r, "notes", check->n_findings - check->n_problems);
		if (p->known) {
			fab_report_uint(r, "known_problems_left_out",
					o->counts.n_left_out);
			fab_report_uint(r, "known_problems_gone", o->counts.n_gone);
		}
	}
	if (!table_only && (!for_people || n)) {
		FAB_TABLE_BEGIN(r, "causes", "Causes, worst first", cause_columns);
		for (size_t i = 0; i < n_shown; i++)
			fab_report_record_tone(r, o->causes.v[i].tone, &o->causes.v[i]);
		fab_report_table_end(r);
	}
	if (is_short)
		return;
	if (!table_only && (!for_people || check->n_findings))
		put_codes(r, check);
	if (for_people && !check->n_findings)
		return;
	FAB_TABLE_BEGIN(r, "findings", table_only ? NULL : "Findings", columns);
	for (uint32_t i = 0; i < check->n_findings; i++)
		put_finding(r, w->f, &check->findings[i]);
	fab_report_table_end(r);
}

static void fini(void *outcome)
{
	struct outcome *o = outcome;

	free(o->causes.v);
	fab_analysis_fini(&o->routing);
	fab_routes_free(o->routes);
	fab_diff_free(o->diff);
	fab_check_free(o->old_check);
	fab_fabric_free(o->old);
	fab_check_free(o->check);
}

const struct fab_task topo_check = {
	.primary = "findings",
	FAB_TASK_COLUMNS(columns),
	.outcome_bytes = sizeof(struct outcome),
	.solve = solve,
	.report = report,
	.draw = draw,
	.fini = fini,
};
