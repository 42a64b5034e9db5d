/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-faults: the answer in words, before everything else. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "base/mem.h"
#include "faults.h"
#include "unicast/analysis.h"

enum { NAMED = 3 };

/* What pairs are counted of, as people call them. */
static const char *ends_name(const struct faults_params *p,
			     const struct faults_outcome *o,
			     const struct faults_result *a)
{
	static const char *const names[] = {[FAB_ENDS_LEAVES] = "pairs of leaf switches",
					    [FAB_ENDS_HOSTS] = "pairs of host ports",
					    [FAB_ENDS_ADAPTERS] =
						    "pairs of adapter ports",
					    [FAB_ENDS_ALL] = "pairs of ports"};

	if (!p->has_ends)
		return names[a->engine && o->kfat ? FAB_ENDS_LEAVES : FAB_ENDS_HOSTS];
	return names[p->ends];
}

/* What the answer calls the tables. */
static const char *tables_name(const struct faults_result *a)
{
	return a->engine ? a->algorithm : "The tables that were read";
}

/* "leaf-1 to leaf-2 (16), ..": the first switches of pairs without a path; on the heap.
 */
static char *unreached_text(const struct fab_fabric *f, const struct fab_analysis *j)
{
	char *text = NULL;

	for (size_t i = 0; i < j->unreached.n && i < NAMED; i++) {
		const struct fab_pairs *pairs = &j->unreached.v[i];

		fab_append(&text, ", ", "%s to %s (%" PRIu64 ")",
			   fab_node_name(f, pairs->from), fab_node_name(f, pairs->to),
			   pairs->pairs);
	}
	if (j->unreached.n > NAMED)
		fab_append(&text, ", ", "..");
	return text ? text : fab_strdup("");
}

/* "NAMES: all N pairs have a path": names as the answer calls the tables. */
static void say_reached(struct fab_report *r, const struct faults_params *p,
			const struct faults_outcome *o, const struct faults_result *a,
			const char *names)
{
	const struct fab_analysis *j = &a->sum;
	char n[FAB_HUMAN_BYTES], all[FAB_HUMAN_BYTES];
	char *which = o->is_one_set ? unreached_text(o->f, j) : fab_strdup("");

	fab_human_count(j->pairs, all);
	if (!j->pairs)
		fab_report_answer(r, FAB_TONE_WARN,
				  "%s: there are no %s to analyse, nothing is known.",
				  names, ends_name(p, o, a));
	else if (j->unreachable)
		fab_report_answer(
			r, FAB_TONE_BAD, "%s: %s of %s %s %s without a path%s%s.", names,
			fab_human_count(j->unreachable, n), all, ends_name(p, o, a),
			j->unreachable == 1 ? "is" : "are", *which ? ": " : "", which);
	else
		fab_report_answer(r, FAB_TONE_PLAIN, "%s: all %s %s have a path.", names,
				  all, ends_name(p, o, a));
	free(which);
}

static void say_loops(struct fab_report *r, const struct faults_result *a)
{
	const struct fab_analysis *j = &a->sum;
	const char *assumed = faults_assumed(a);
	char n[FAB_HUMAN_BYTES], *why = fab_analysis_why_unknown(j);

	if (!j->pairs)
		return;
	if (why && j->cycle.n)
		fab_report_answer(
			r, FAB_TONE_BAD,
			"Whether there is a credit loop is not known: %s. That loop has "
			"%zu cables and the paths of %s pairs (shortest loop below).",
			why, j->cycle.n, fab_human_count(j->pairs_on_cycles, n));
	else if (why)
		fab_report_answer(r, FAB_TONE_BAD,
				  "Whether there is a credit loop is not known: %s.",
				  why);
	else if (!j->deadlock_free)
		fab_report_answer(
			r, FAB_TONE_BAD,
			"Credit loop over %zu cables: %s pairs can block each other "
			"(shortest loop below).",
			j->cycle.n, fab_human_count(j->pairs_on_cycles, n));
	else if (!j->vls)
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "No credit loop: no path takes a cable between "
				  "switches.");
	else
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "No credit loop, with %u virtual lane%s.", j->vls,
				  j->vls == 1 ? "" : "s");
	if (assumed)
		fab_report_answer(r, FAB_TONE_WARN, "%c%s.", toupper(*assumed),
				  assumed + 1);
	free(why);
}

/* "h0, h1, h2, ..": hosts with a port that is cut off, each once; on the heap. */
static char *lost_names(const struct faults_outcome *o, bool is_host)
{
	const struct fab_fabric *f = o->f;
	uint32_t last = FAB_NONE;
	char *text = NULL;
	size_t n = 0;

	for (size_t i = 0; i < o->lost.of.n; i++) {
		const struct fab_lost_port *lost = &o->lost.of.v[i];
		uint32_t node = f->port_node[lost->port], host = f->node_host[node];

		if (lost->is_host != is_host || (host != FAB_NONE && host == last))
			continue;
		last = host;
		if (n++ == NAMED)
			break;
		fab_append(&text, ", ", "%s",
			   host == FAB_NONE ? fab_node_name(f, node)
					    : fab_host_name(f, host));
	}
	if (n > NAMED)
		fab_append(&text, ", ", "..");
	return text ? text : fab_strdup("");
}

/* Hosts that died with what is dead, and those that lose a rail; the pairs above are
 * those of the others. */
static void say_lost(struct fab_report *r, const struct faults_outcome *o)
{
	const struct fab_lost *lost = &o->results[0].lost;
	char hosts[FAB_HUMAN_BYTES], adapters[FAB_HUMAN_BYTES], pairs[FAB_HUMAN_BYTES];
	char *names;

	if (!lost->adapters || !o->is_one_set)
		return;
	fab_human_count(lost->hosts, hosts);
	fab_human_count(lost->adapters, adapters);
	fab_human_count(lost->pairs, pairs);
	names = lost_names(o, true);
	fab_report_answer(r, FAB_TONE_BAD,
			  "Lost with what is dead: %s host%s (%s port%s of adapters, %s "
			  "pairs)%s%s.",
			  hosts, lost->hosts == 1 ? "" : "s", adapters,
			  lost->adapters == 1 ? "" : "s", pairs, *names ? ": " : "",
			  names);
	free(names);
	if (!lost->rail_hosts)
		return;
	names = lost_names(o, false);
	fab_report_answer(
		r, FAB_TONE_BAD, "%s host%s lose%s a rail and keep%s another: %s.",
		fab_human_count(lost->rail_hosts, hosts),
		lost->rail_hosts == 1 ? "" : "s", lost->rail_hosts == 1 ? "s" : "",
		lost->rail_hosts == 1 ? "s" : "", names);
	free(names);
}

/* The fullest cable by each algorithm, in what one pair sends. */
static void say_loads(struct fab_report *r, const struct faults_outcome *o)
{
	char *text = NULL;

	for (size_t i = 0; i < o->n && o->is_one_set; i++) {
		const struct faults_result *a = &o->results[i];

		if (!isfinite(a->load) || !(a->load > 0))
			continue;
		fab_append(&text, "; ", "%.3g%s with %s%s", a->load,
			   text ? "" : " pairs' worth",
			   a->engine ? a->algorithm : "the tables that were read",
			   a->engine ? "'s tables" : "");
		if (o->faults->named.n && isfinite(a->load_before))
			fab_append(&text, " ", "(%.3g without faults)", a->load_before);
	}
	if (text)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"When every host sends to every other, the fullest cable "
			"carries %s.",
			text);
	free(text);
}

/* Ours are not those of a running subnet manager. */
static void say_whose(struct fab_report *r, const struct faults_outcome *o)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->results[i].engine && o->results[i].engine->imitates_opensm) {
			fab_report_answer(r, FAB_TONE_WARN,
					  "That is of the tables that --lfts-out writes; "
					  "OpenSM's own may differ: dump them and give "
					  "--lfts.");
			return;
		}
}

/* LIDs that tables that were read lack; the rest is in what is not known of loops. */
static void say_missing(struct fab_report *r, const struct faults_outcome *o)
{
	char *text = fab_gaps_text(o->f, &o->results[0].sum.gaps, FAB_GAP_LID);

	if (text)
		fab_report_answer(r, FAB_TONE_BAD, "%s.", text);
	free(text);
}

/* Sums over many sets of faults. */
static void say_sets(struct fab_report *r, const struct faults_params *p,
		     const struct faults_outcome *o, const struct faults_result *a)
{
	char lost[FAB_HUMAN_BYTES], sets[FAB_HUMAN_BYTES], loops[FAB_HUMAN_BYTES];
	bool is_bad = a->sets_unreachable || a->sets_with_cycle;

	fab_human_count(a->sets_unreachable, lost);
	fab_human_count(a->sets_with_cycle, loops);
	fab_human_count(a->sets, sets);
	fab_report_answer(r, is_bad ? FAB_TONE_BAD : FAB_TONE_PLAIN,
			  "%s: of %s sets of faults %s leave some %s without a path and "
			  "%s make a credit loop.",
			  tables_name(a), sets, lost, ends_name(p, o, a), loops);
}

/* Outcomes that are told apart by their figures. */
enum { FEW = 2 };

enum kind {
	KIND_SOUND,
	KIND_LOST,
	KIND_LOOP,
	KIND_BOTH,
	KIND_UNKNOWN,
	KIND_LOST_UNKNOWN,
	KIND_NOTHING,
	N_KINDS
};

static enum kind kind_of(const struct faults_result *a)
{
	const struct fab_analysis *j = &a->sum;

	if (!j->pairs)
		return KIND_NOTHING;
	if (j->is_unknown)
		return j->unreachable ? KIND_LOST_UNKNOWN : KIND_UNKNOWN;
	if (j->unreachable)
		return j->deadlock_free ? KIND_LOST : KIND_BOTH;
	return j->deadlock_free ? KIND_SOUND : KIND_LOOP;
}

/* Several algorithms with so many different outcomes: which of them do, and why not. */
static void say_kinds(struct fab_report *r, const struct faults_outcome *o)
{
	static const char *const texts[] = {
		[KIND_SOUND] = "every pair has a path and there is no credit loop",
		[KIND_LOST] = "pairs are without a path",
		[KIND_LOOP] = "there is a credit loop",
		[KIND_BOTH] = "pairs are without a path and there is a credit loop",
		[KIND_UNKNOWN] = "whether there is a credit loop is not known",
		[KIND_LOST_UNKNOWN] = "pairs are without a path, and whether there is a "
				      "credit loop is not known",
		[KIND_NOTHING] = "there are no pairs to analyse",
	};

	for (int kind = KIND_SOUND; kind < N_KINDS; kind++) {
		char *names = NULL;

		for (size_t i = 0; i < o->n; i++)
			if (kind_of(&o->results[i]) == (enum kind)kind)
				fab_append(&names, ", ", "%s", o->results[i].algorithm);
		if (names)
			fab_report_answer(
				r, kind == KIND_SOUND ? FAB_TONE_PLAIN : FAB_TONE_BAD,
				"%s: %s%s.", names, texts[kind],
				o->is_one_set ? "" : " (all sets together)");
		free(names);
	}
}

/* Would the answer say the same of both, but for the name? */
static bool is_alike(const struct faults_result *a, const struct faults_result *b)
{
	return kind_of(a) == kind_of(b) && a->sum.pairs == b->sum.pairs &&
	       a->sum.unreachable == b->sum.unreachable && a->sum.vls == b->sum.vls &&
	       a->sum.cycle.n == b->sum.cycle.n &&
	       a->sum.pairs_on_cycles == b->sum.pairs_on_cycles;
}

/* Has an earlier result said it? */
static bool is_said(const struct faults_outcome *o, size_t result)
{
	for (size_t i = 0; i < result; i++)
		if (is_alike(&o->results[i], &o->results[result]))
			return true;
	return false;
}

/* Several algorithms: with their figures where few of them differ. */
static void say_many(struct fab_report *r, const struct faults_params *p,
		     const struct faults_outcome *o)
{
	size_t n_different = 0;

	for (size_t i = 0; i < o->n; i++)
		n_different += !is_said(o, i);
	if (n_different > FEW || !o->is_one_set) {
		say_kinds(r, o);
		return;
	}
	for (size_t i = 0; i < o->n; i++) {
		char *names = NULL;

		if (is_said(o, i))
			continue;
		for (size_t k = i; k < o->n; k++)
			if (is_alike(&o->results[i], &o->results[k]))
				fab_append(&names, ", ", "%s", o->results[k].algorithm);
		say_reached(r, p, o, &o->results[i], names);
		say_loops(r, &o->results[i]);
		free(names);
	}
}

static void say_verified(struct fab_report *r, const struct faults_outcome *o)
{
	for (size_t i = 0; i < o->n; i++)
		if (!o->results[i].is_sound)
			fab_report_answer(r, FAB_TONE_BAD,
					  "The tables of %s failed --verify: do not use "
					  "them.",
					  o->results[i].algorithm);
}

static void say_reliability(struct fab_report *r, const struct faults_outcome *o)
{
	const struct faults_reliability_row *best = NULL, *row;

	for (size_t i = 0; i < o->reliability.n; i++) {
		row = &o->reliability.v[i];
		if (!isfinite(row->probability) || !strcmp(row->algorithm, "vtftr-rule"))
			continue;
		if (!best || row->faults > best->faults ||
		    (row->faults == best->faults && row->probability < best->probability))
			best = row;
	}
	if (!best) {
		fab_report_answer(r, FAB_TONE_WARN, "No probability is known.");
		return;
	}
	fab_report_answer(r, FAB_TONE_PLAIN,
			  "%s: with %u dead leaf switches some pair is lost with "
			  "probability %.3g (%s%s).",
			  best->algorithm, best->faults, best->probability, best->method,
			  best->trials ? ", interval below" : "");
}

void faults_answer(struct fab_report *r, const struct faults_params *p,
		   const struct faults_outcome *o)
{
	fab_cli_answer_shard(r, &p->shard);
	if (p->questions.reliability) {
		say_reliability(r, o);
		return;
	}
	faults_answer_questions(r, p, o);
	if (!o->n)
		fab_report_answer(r, FAB_TONE_WARN,
				  "No algorithm was tried: nothing is known.");
	else if (o->n > 1)
		say_many(r, p, o);
	else if (!o->is_one_set)
		say_sets(r, p, o, &o->results[0]);
	else {
		say_reached(r, p, o, &o->results[0], tables_name(&o->results[0]));
		say_missing(r, o);
		say_loops(r, &o->results[0]);
	}
	if (o->n)
		say_lost(r, o);
	say_loads(r, o);
	say_whose(r, o);
	say_verified(r, o);
}
