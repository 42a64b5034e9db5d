/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-topo: the answers in words, before everything else. */
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "base/mem.h"
#include "fabric/check.h"
#include "fabric/check_groups.h"
#include "fabric/planes.h"
#include "fabric/rates.h"
#include "topo.h"

/* "1 switch", "8 switches". */
static char *counted(uint64_t n, const char *one, const char *many)
{
	char number[FAB_HUMAN_BYTES];

	return fab_format("%s %s", fab_human_count(n, number), n == 1 ? one : many);
}

static void say_planes(struct fab_report *r, const struct fab_planes *p)
{
	uint32_t n_some = p->n_hosts - p->n_on_all;
	char some[FAB_HUMAN_BYTES], all[FAB_HUMAN_BYTES];

	if (!n_some)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"It has %u planes, parallel networks of the same hosts.",
			p->n_planes);
	else
		fab_report_answer(r, FAB_TONE_WARN,
				  "It has %u planes, parallel networks: %s of %s hosts "
				  "%s on only %s of them.",
				  p->n_planes, fab_human_count(n_some, some),
				  fab_human_count(p->n_hosts, all),
				  n_some == 1 ? "is" : "are",
				  p->n_planes == 2 ? "one" : "some");
}

/* Planes are as it should be, other parts are not. */
static void say_parts(struct fab_report *r, const struct fab_fabric *f)
{
	struct fab_planes *planes = fab_planes_new(f);
	uint32_t n_cut = planes->n - planes->n_planes;

	if (planes->n_planes > 1)
		say_planes(r, planes);
	if (n_cut)
		fab_report_answer(r, FAB_TONE_BAD,
				  "%u more part%s of the switches %s cut off from the "
				  "rest.",
				  n_cut, n_cut == 1 ? "" : "s",
				  n_cut == 1 ? "is" : "are");
	fab_planes_free(planes);
}

/* What the leaf switches can send up, compared with what hosts send. */
static void say_blocking(struct fab_report *r, const struct fab_summary *s)
{
	const struct fab_level *l = s->levels;
	double ratio;

	if (!s->n_levels || !(l->rate_up > 0) || !(l->rate_down > 0))
		return;
	ratio = l->rate_down / l->rate_up;
	if (ratio > 1.005)
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "Leaf switches have %.3g times the rate down to hosts "
				  "that they have up.",
				  ratio);
}

static void say_rates(struct fab_report *r, const struct fab_fabric *f)
{
	const struct fab_rates rates = fab_rates_of(f, 0, f->n_cables);
	char *text = fab_rates_unknown_text(f, &rates);

	if (text)
		fab_report_answer(r, FAB_TONE_WARN, "Of the cables %s.", text);
	free(text);
}

/* Before all else: what follows is of a part of the fabric. */
static void say_incomplete(struct fab_report *r, const struct fab_fabric *f)
{
	uint32_t n = fab_check_without_record(f);
	char *nodes = counted(n, "node", "nodes");

	if (n)
		fab_report_answer(r, FAB_TONE_BAD,
				  "The input is incomplete, perhaps cut off: %s that "
				  "cables lead to %s no record in it.",
				  nodes, n == 1 ? "has" : "have");
	free(nodes);
}

void topo_summary_answer(struct fab_report *r, const struct fab_fabric *f,
			 const struct fab_summary *s, const char *detail)
{
	char *switches = counted(f->n_switches, "switch", "switches");
	char *hosts = counted(f->n_hosts, "host", "hosts");
	char *cables = counted(f->n_switch_links, "cable", "cables");
	char *warnings = counted(f->n_warnings_total, "warning", "warnings");

	say_incomplete(r, f);
	if (detail)
		fab_report_answer(r, FAB_TONE_PLAIN, "%s: %s, %s, %s between switches.",
				  detail, switches, hosts, cables);
	else
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "No shape known here: %s, %s, %s between switches.",
				  switches, hosts, cables);
	say_parts(r, f);
	say_blocking(r, s);
	say_rates(r, f);
	if (f->n_warnings_total)
		fab_report_answer(r, FAB_TONE_WARN,
				  "Reading it gave %s; --check says what is wrong.",
				  warnings);
	free(switches);
	free(hosts);
	free(cables);
	free(warnings);
}

void topo_check_answer(struct fab_report *r, const struct fab_fabric *f,
		       const struct fab_check *check, bool has_known, uint64_t n_left_out)
{
	uint32_t n_notes = check->n_findings - check->n_problems;
	char *problems = counted(check->n_problems, "problem", "problems");
	char *notes = counted(n_notes, "note", "notes");
	char *known = n_left_out ? fab_format(", besides %llu accepted by --known",
					      (unsigned long long)n_left_out)
				 : fab_strdup("");
	const char *new = has_known ? "new " : "";
	const struct fab_finding *worst = fab_check_worst(check);

	say_incomplete(r, f);
	if (worst) {
		fab_report_answer(r, FAB_TONE_BAD, "%s%s and %s%s.",
				  has_known ? "New: " : "", problems, notes, known);
		fab_report_answer(r, FAB_TONE_BAD, "The worst, %s: %s.", worst->code,
				  worst->message);
	} else {
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"No %sproblem found in cables, %sLIDs and names of "
			"%u switch%s and %u adapter%s%s; %s.",
			new, check->n_unknown_rates == f->n_cables ? "" : "rates, ",
			f->n_switches, f->n_switches == 1 ? "" : "es", f->n_adapters,
			f->n_adapters == 1 ? "" : "s", known, notes);
	}
	if (check->n_unknown_rates)
		fab_report_answer(r, FAB_TONE_WARN,
				  "The rate of %u of %u cables is not known and was not "
				  "checked.",
				  check->n_unknown_rates, f->n_cables);
	free(problems);
	free(notes);
	free(known);
}

/* Counts of changes by kind and object: "2 switches missing". */
struct tally {
	const char *kind, *object;
	uint64_t n;
};

static char *tally_text(const struct tally *t)
{
	bool is_switch = !strcmp(t->object, "switch");
	bool is_adapter = !strcmp(t->object, "adapter");
	const char *one = is_switch			      ? "switch"
			  : is_adapter			      ? "adapter"
			  : !strcmp(t->object, "switch-link") ? "cable between switches"
							      : "cable to a host";
	const char *many = is_switch			       ? "switches"
			   : is_adapter			       ? "adapters"
			   : !strcmp(t->object, "switch-link") ? "cables between switches"
							       : "cables to hosts";
	char *what = counted(t->n, one, many);
	const char *kind = !strcmp(t->kind, "speed")   ? "with another speed"
			   : !strcmp(t->kind, "width") ? "with another width"
						       : t->kind;
	char *text = fab_format("%s %s", what, kind);

	free(what);
	return text;
}

static void add_change(struct tally *tally, size_t *n, const char *kind,
		       const char *object)
{
	size_t i = 0;

	while (i < *n && (strcmp(tally[i].kind, kind) || strcmp(tally[i].object, object)))
		i++;
	if (i == *n)
		tally[(*n)++] = (struct tally){kind, object, 0};
	tally[i].n++;
}

void topo_diff_answer(struct fab_report *r, const struct fab_diff *diff,
		      const char *(*object_of)(const void *context,
					       const struct fab_change *change),
		      const void *context)
{
	struct tally tally[4 * (FAB_CHANGE_WIDTH + 1)];
	char *list = fab_strdup(""), *total;
	size_t n = 0;

	for (uint32_t i = 0; i < diff->n_changes; i++)
		add_change(tally, &n, fab_change_name(diff->changes[i].kind),
			   object_of(context, &diff->changes[i]));
	for (size_t i = 0; i < n; i++) {
		char *one = tally_text(&tally[i]);

		fab_append(&list, ", ", "%s", one);
		free(one);
	}
	total = counted(diff->n_changes, "difference", "differences");
	if (diff->n_changes)
		fab_report_answer(r, FAB_TONE_WARN, "%s: %s.", total, list);
	else
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "No differences in nodes, cables, names, and in speeds "
				  "and widths as far as both sides know them.");
	if (!diff->by_guid)
		fab_report_answer(r, FAB_TONE_WARN,
				  "The two share no GUID: nodes were matched by name "
				  "only.");
	free(list);
	free(total);
}

void topo_ports_answer(struct fab_report *r, const struct fab_fabric *f)
{
	uint64_t n = 0, n_cabled = 0;
	char ports[FAB_HUMAN_BYTES], cabled[FAB_HUMAN_BYTES];

	for (uint32_t p = 0; p < f->n_ports; p++) {
		n += f->port_num[p] != 0;
		n_cabled += f->port_num[p] && fab_port_peer(f, p) != FAB_NONE;
	}
	fab_report_answer(r, FAB_TONE_PLAIN, "%s ports, of these %s with a cable.",
			  fab_human_count(n, ports), fab_human_count(n_cabled, cabled));
}
