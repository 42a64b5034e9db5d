/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-topo --check: what is wrong with the fabric. */
#include "topo.h"

#include <string.h>

#include "base/human.h"
#include "fabric/check.h"
#include "source/known.h"

enum { SHOWN_PER_CODE = 10 }; /* in a table without --verbose */

/* A row of a table. */
struct record {
	const char *severity, *code, *message, *node;
	uint64_t guid, port, line, findings;
};

static const struct fab_column columns[] = {
	FAB_COLUMN(severity, TEXT, "problem (counts for the exit status) or note"),
	FAB_COLUMN(code, TEXT, "kind of finding, see the manual page"),
	FAB_COLUMN(message, TEXT, "the finding in full"),
	FAB_COLUMN_AS(node, TEXT, "name of the node", FAB_COL_EXTRA),
	FAB_COLUMN_AS(guid, GUID, "GUID of the node", FAB_COL_EXTRA | FAB_COL_NULL_ZERO),
	FAB_COLUMN_AS(port, UINT, "number of the port",
		      FAB_COL_EXTRA | FAB_COL_NULL_ZERO),
	FAB_COLUMN_AS(line, UINT, "line of the input", FAB_COL_EXTRA | FAB_COL_NULL_ZERO),
};

static const struct fab_column code_columns[] = {
	FAB_COLUMN(severity, TEXT, "problem or note"),
	FAB_COLUMN(code, TEXT, "kind of finding"),
	FAB_COLUMN(findings, UINT, "how many there are"),
};

static const char *severity_name(enum fab_severity severity)
{
	return severity == FAB_PROBLEM ? "problem" : "note";
}

static void put_finding(struct fab_report *r, const struct fab_fabric *f,
			const struct fab_finding *x, const char *message)
{
	const struct record row = {
		.severity = severity_name(x->severity),
		.code = x->code,
		.message = message,
		.node = x->node == FAB_NONE ? NULL : fab_node_name(f, x->node),
		.guid = x->node == FAB_NONE ? 0 : f->node_guid[x->node],
		.port = x->port == FAB_NONE ? 0 : f->port_num[x->port],
		.line = x->line,
	};

	fab_report_record_tone(
		r, x->severity == FAB_PROBLEM ? FAB_TONE_BAD : FAB_TONE_PLAIN, &row);
}

/* For people: what repeats is one row, and there are some rows of each kind. */
static void put_groups(struct fab_report *r, const struct fab_fabric *f,
		       const struct fab_check *check)
{
	struct fab_finding_groups groups;
	const char *code = "";
	uint32_t n_of_code = 0, n_shown = 0;

	fab_finding_groups_init(f, check, &groups);
	for (uint32_t i = 0; i < groups.n; i++) {
		const char *own = check->findings[groups.v[i].first].code;

		n_of_code = strcmp(own, code) ? 0 : n_of_code;
		code = own;
		n_shown += n_of_code++ < SHOWN_PER_CODE;
	}
	fab_report_table_begin(
		r, "findings",
		n_shown < groups.n
			? "Findings (the first 10 of each kind, what repeats in one; --verbose: all)"
		: groups.n < check->n_findings
			? "Findings (what repeats in one; --verbose: all)"
			: "Findings",
		columns, FAB_COUNT(columns));
	for (uint32_t i = 0; i < groups.n; i++) {
		const struct fab_finding *x = &check->findings[groups.v[i].first];

		n_of_code = strcmp(x->code, code) ? 0 : n_of_code;
		code = x->code;
		if (n_of_code++ < SHOWN_PER_CODE)
			put_finding(r, f, x, groups.v[i].text);
	}
	fab_report_table_end(r);
	fab_finding_groups_fini(&groups);
}

struct outcome {
	struct fab_check *all;	 /* with the accepted problems; NULL: none are accepted */
	struct fab_check *check; /* without */
	struct fab_known_counts counts;
};

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
			r, FAB_TONE_BAD, "%s%s and %s%s.", p->known ? "New: " : "",
			fab_human_counted(w->arena, check->n_problems, "problem", NULL),
			notes, known);
		fab_report_answer(r, FAB_TONE_BAD, "The worst, %s: %s.", worst->code,
				  worst->message);
	} else {
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"No %sproblem found in cables, %sLIDs and names of %u switch%s and %u adapter%s%s; %s.",
			p->known ? "new " : "",
			check->n_unknown_rates == f->n_cables ? "" : "rates, ",
			f->n_switches, f->n_switches == 1 ? "" : "es", f->n_adapters,
			f->n_adapters == 1 ? "" : "s", known, notes);
	}
	if (check->n_unknown_rates)
		fab_report_answer(
			r, FAB_TONE_WARN,
			"The rate of %u of %u cables is not known and was not checked.",
			check->n_unknown_rates, f->n_cables);
}

static int solve(struct fab_work *w, struct fab_err *err)
{
	const struct topo_params *p = w->params;
	struct outcome *o = w->outcome;
	struct fab_known *known = NULL;
	int rc = p->known ? fab_known_read(p->known, &known, err) : 0;

	if (rc)
		return rc;
	o->check = fab_check_new(w->f);
	if (p->known_out && known)
		o->all = fab_check_new(w->f);
	if (known)
		o->counts = fab_known_leave_out(known, o->check);
	fab_known_free(known);
	return o->check->n_problems ? FAB_EXIT_FOUND : FAB_EXIT_DONE;
}

static int write_known(FILE *out, const struct fab_work *w, struct fab_err *err)
{
	const struct outcome *o = w->outcome;

	(void)err;
	fab_known_write(out, o->all ? o->all : o->check);
	return 0;
}

static void report(struct fab_report *r, const struct fab_work *w)
{
	const struct topo_params *p = w->params;
	const struct outcome *o = w->outcome;
	const struct fab_check *check = o->check;
	bool for_people = fab_report_how(r)->format == FAB_FORMAT_TABLE;
	bool table_only = topo_is_table_only(r);
	uint32_t n = check->n_findings;

	if (table_only) {
		fab_report_without_fabric(r);
	} else {
		answer(r, w);
		fab_report_uint(r, "problems", check->n_problems);
		fab_report_uint(r, "notes", check->n_findings - check->n_problems);
		if (p->known) {
			fab_report_uint(r, "known_problems_left_out",
					o->counts.n_left_out);
			fab_report_uint(r, "known_problems_gone", o->counts.n_gone);
		}
	}
	if (!table_only && (!for_people || n)) {
		fab_report_table_begin(r, "codes", "Findings by kind", code_columns,
				       FAB_COUNT(code_columns));
		for (uint32_t i = 0, end; i < n; i = end) {
			struct record row = {
				.severity = severity_name(check->findings[i].severity),
				.code = check->findings[i].code,
			};

			for (end = i;
			     end < n && !strcmp(check->findings[end].code, row.code);
			     end++)
				row.findings++;
			fab_report_record(r, &row);
		}
		fab_report_table_end(r);
	}
	if (for_people && !p->run.verbose && !table_only && n) {
		put_groups(r, w->f, check);
	} else if (!for_people || n) {
		fab_report_table_begin(r, "findings", table_only ? NULL : "Findings",
				       columns, FAB_COUNT(columns));
		for (uint32_t i = 0; i < n; i++)
			put_finding(r, w->f, &check->findings[i],
				    check->findings[i].message);
		fab_report_table_end(r);
	}
}

static void fini(void *outcome)
{
	struct outcome *o = outcome;

	fab_check_free(o->check);
	fab_check_free(o->all);
}

const struct fab_task topo_check = {
	.primary = "findings",
	FAB_TASK_COLUMNS(columns),
	.outcome_bytes = sizeof(struct outcome),
	.solve = solve,
	.files = (const struct fab_task_file[]){{"known-out", write_known}, {0}},
	.report = report,
	.fini = fini,
};
