/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-faults: what was asked beyond routing, answered in words. */
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "base/mem.h"
#include "fabric/fabric.h"
#include "faults.h"
#include "unicast/reliability.h"

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* One sentence for each path that differs: "A to B: 2 hops between switches (updn)." */
static void say_paths(struct fab_report *r, const struct faults_outcome *o)
{
	const char *from = fab_node_name(o->f, o->from.node);
	const char *to = fab_node_name(o->f, o->to.node);
	char *texts[FAULTS_MAX_ENGINES] = {NULL};
	bool is_bad[FAULTS_MAX_ENGINES], is_said[FAULTS_MAX_ENGINES] = {false};

	for (size_t i = 0; i < o->n; i++)
		texts[i] = faults_path_text(o, i, &is_bad[i]);
	for (size_t i = 0; i < o->n; i++) {
		char *names = NULL;

		for (size_t k = i; k < o->n && !is_said[i]; k++)
			if (!strcmp(texts[i], texts[k])) {
				is_said[k] = k > i;
				fab_append(&names, ", ", "%s", o->results[k].algorithm);
			}
		if (names)
			fab_report_answer(r, is_bad[i] ? FAB_TONE_BAD : FAB_TONE_PLAIN,
					  "%s to %s: %s (%s).", from, to, texts[i],
					  names);
		free(names);
	}
	for (size_t i = 0; i < o->n; i++)
		free(texts[i]);
}

/* The fullest cable of each permutation, by the algorithm that does best. */
static void say_flows(struct fab_report *r, const struct faults_params *p,
		      const struct faults_outcome *o)
{
	for (size_t k = 0; k < p->questions.permutations.n; k++) {
		const struct faults_flow *best = NULL, *flow;
		char lost[FAB_HUMAN_BYTES], all[FAB_HUMAN_BYTES], max[FAB_HUMAN_BYTES];
		bool is_lost;

		for (size_t i = 0; i < o->flows.n; i++) {
			flow = &o->flows.v[i];
			if (flow->permutation != p->questions.permutations.v[k])
				continue;
			if (!best || flow->after.lost < best->after.lost ||
			    (flow->after.lost == best->after.lost &&
			     flow->after.max < best->after.max))
				best = flow;
		}
		if (!best)
			continue;
		is_lost = best->after.lost > 0;
		fab_human_count(best->after.lost, lost);
		fab_human_count(best->after.flows, all);
		fab_report_answer(
			r, is_lost ? FAB_TONE_BAD : FAB_TONE_PLAIN,
			"%s: the fullest direction of a cable carries %s of %s flows "
			"(%s%s)%s%s%s.",
			best->permutation, fab_human_count(best->after.max, max), all,
			best->algorithm, o->n > 1 ? ", the best of these" : "",
			is_lost ? "; " : "", is_lost ? lost : "",
			is_lost ? " have no path" : "");
	}
}

/* What happens to pairs of other hosts, and to the part's own hosts. */
static char *loss_text(const struct faults_outcome *o, const struct faults_critical *c)
{
	char stop[FAB_HUMAN_BYTES], own[FAB_HUMAN_BYTES], left[FAB_HUMAN_BYTES];
	const char *how = o->ranked->engine ? o->ranked->algorithm : "shortest paths";
	char *lost, *text;

	if (!c->host_ports)
		lost = fab_strdup("");
	else
		lost = fab_format(
			"%sits own %s host port%s %s cut off", c->interrupted ? "; " : "",
			fab_human_count(c->host_ports, own), plural(c->host_ports),
			c->host_ports == 1 ? "is" : "are");
	if (!c->interrupted)
		text = fab_format("%s%sno pair of other hosts is interrupted", lost,
				  *lost ? "; " : "");
	else
		text = fab_format("%s pair%s of other hosts stop%s until rerouted, %s %s "
				  "no path after it (by %s)%s",
				  fab_human_count(c->interrupted, stop),
				  plural(c->interrupted), c->interrupted == 1 ? "s" : "",
				  c->rerouted ? fab_human_count(c->rerouted, left)
					      : "none",
				  c->rerouted == 1 ? "has" : "have", how, lost);
	free(lost);
	return text;
}

static void say_critical(struct fab_report *r, const struct faults_outcome *o)
{
	const struct faults_critical *c = o->critical.v;
	char *text, *among, n[FAB_HUMAN_BYTES], untried[FAB_HUMAN_BYTES];

	if (!o->critical.n) {
		fab_report_answer(
			r, FAB_TONE_WARN,
			"There is no switch or link whose loss could be tried.");
		return;
	}
	fab_human_count(o->n_parts - o->n_untried, n);
	fab_human_count(o->n_untried, untried);
	among = o->n_untried
			? fab_format("%s single losses that were tried (%s with fewer "
				     "pairs were not)",
				     n, untried)
			: fab_format("%s single loss%s", n, o->n_parts == 1 ? "" : "es");
	text = loss_text(o, c);
	fab_report_answer(r, c->rerouted ? FAB_TONE_BAD : FAB_TONE_PLAIN,
			  "Of %s, that of %s %s costs most: %s.", among,
			  strcmp(c->kind, "link") ? "switch" : "link", c->name, text);
	free(among);
	free(text);
}

/* "1 dead leaf switch that the tables do not know: all 368 cases are rerouted" */
static void say_rerouted(struct fab_report *r, const struct faults_outcome *o)
{
	for (size_t i = 0; i < o->rerouted.n; i++) {
		const struct faults_local_reroutes *d = &o->rerouted.v[i];
		char stuck[FAB_HUMAN_BYTES], all[FAB_HUMAN_BYTES];

		fab_human_count(d->cases, all);
		if (!d->cases)
			fab_report_answer(r, FAB_TONE_WARN,
					  "%u dead leaf switch%s that the tables do not "
					  "know: no case meets, nothing is known.",
					  d->unknown, d->unknown == 1 ? "" : "es");
		else if (!d->stuck)
			fab_report_answer(r, FAB_TONE_PLAIN,
					  "%u dead leaf switch%s that the tables do not "
					  "know: all %s cases can be rerouted locally.",
					  d->unknown, d->unknown == 1 ? "" : "es", all);
		else
			fab_report_answer(r, FAB_TONE_BAD,
					  "%u dead leaf switch%s that the tables do not "
					  "know: %s of %s cases cannot be rerouted "
					  "locally.",
					  d->unknown, d->unknown == 1 ? "" : "es",
					  fab_human_count(d->stuck, stuck), all);
	}
	if (o->rerouted.n < FAB_LOCAL_REROUTE_BURST_MAX)
		fab_report_answer(r, FAB_TONE_WARN,
				  "Two at once were not tried: too many cases.");
}

char *faults_rates_text(const struct faults_outcome *o)
{
	const struct fab_rates rates = fab_rates_of(o->f, 0, o->f->n_switch_links);
	char *unknown = fab_rates_unknown_text(o->f, &rates), *text = NULL;
	bool differ = rates.most_gbps > rates.least_gbps;

	if (unknown && differ)
		text = fab_format("counted without rates: of the cables between switches "
				  "%s, the others have %g to %g Gb/s",
				  unknown, rates.least_gbps, rates.most_gbps);
	else if (unknown)
		text = fab_format("counted without rates: of the cables between switches "
				  "%s",
				  unknown);
	else if (differ)
		text = fab_format("counted without rates: cables between switches have "
				  "%g to %g Gb/s",
				  rates.least_gbps, rates.most_gbps);
	free(unknown);
	return text;
}

/* Where loads were asked for, what they leave out is part of the answer. */
static void say_rates(struct fab_report *r, const struct faults_params *p,
		      const struct faults_outcome *o)
{
	char *text = NULL;

	if (p->questions.permutations.n || p->questions.has_criticality)
		text = faults_rates_text(o);
	if (text)
		fab_report_answer(r, FAB_TONE_WARN, "Loads are %s.", text);
	free(text);
}

void faults_answer_questions(struct fab_report *r, const struct faults_params *p,
			     const struct faults_outcome *o)
{
	if (p->questions.explain)
		say_paths(r, o);
	say_flows(r, p, o);
	if (p->questions.has_criticality && o->n)
		say_critical(r, o);
	say_rates(r, p, o);
	if (p->questions.reroute)
		say_rerouted(r, o);
}
