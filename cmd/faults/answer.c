/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-faults: the answer in words, before everything else. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "fabric/fabric.h"
#include "fabric/label.h"
#include "faults.h"

enum { NAMED = 3 };

const char *faults_label(const struct fab_work *w, const char *name)
{
	char label[FAB_LABEL_SIZE];

	return fab_arena_strdup(w->arena, fab_label_short(name, label, sizeof(label)));
}

/* Fullest cable of each permutation, by the best algorithm. */
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
			"%s: the fullest direction of a cable carries %s of %s flows (%s%s)%s%s%s.",
			best->permutation, fab_human_count(best->after.max, max), all,
			best->algorithm, o->n > 1 ? ", the best of these" : "",
			is_lost ? "; " : "", is_lost ? lost : "",
			is_lost ? " have no path" : "");
	}
}

/* The single loss that costs most: the pairs of other hosts, and the part's own hosts. */
static void say_critical(struct fab_report *r, const struct fab_work *w)
{
	const struct faults_outcome *o = w->outcome;
	const char *how = o->ranked->engine ? o->ranked->algorithm : "shortest paths";
	const char *own = "", *among, *text;
	struct faults_critical c;
	char n[FAB_HUMAN_BYTES], untried[FAB_HUMAN_BYTES];
	size_t i = 0;

	while (i < o->losses.of.n && !o->losses.of.v[i].is_tried)
		i++;
	if (i == o->losses.of.n) {
		fab_report_answer(
			r, FAB_TONE_WARN,
			"There is no switch or link whose loss could be tried.");
		return;
	}
	c = faults_critical_of(w, &o->losses.of.v[i]);
	among = fab_human_counted(w->arena, o->losses.of.n - o->n_untried, "single loss",
				  o->losses.of.n == 1 ? NULL : "single losses");
	if (o->n_untried)
		among = fab_arena_format(
			w->arena,
			"%s single losses that were tried (%s with fewer pairs were not)",
			fab_human_count(o->losses.of.n - o->n_untried, n),
			fab_human_count(o->n_untried, untried));
	if (c.host_ports)
		own = fab_arena_format(
			w->arena, "%sits own %s %s cut off", c.l.interrupted ? "; " : "",
			fab_human_counted(w->arena, c.host_ports, "host port", NULL),
			c.host_ports == 1 ? "is" : "are");
	if (!c.l.interrupted)
		text = fab_arena_format(w->arena,
					"%s%sno pair of other hosts is interrupted", own,
					*own ? "; " : "");
	else
		text = fab_arena_format(
			w->arena,
			"%s of other hosts stop%s until rerouted, %s %s no path after it (by %s)%s",
			fab_human_counted(w->arena, c.l.interrupted, "pair", NULL),
			c.l.interrupted == 1 ? "s" : "",
			c.l.unreachable_rerouted
				? fab_human_count(c.l.unreachable_rerouted, n)
				: "none",
			c.l.unreachable_rerouted == 1 ? "has" : "have", how, own);
	fab_report_answer(r, c.l.unreachable_rerouted ? FAB_TONE_BAD : FAB_TONE_PLAIN,
			  "Of %s, that of %s %s costs most: %s.", among,
			  c.l.part.is_cable ? "link" : "switch", c.name, text);
}

/* "1 dead leaf switch that the tables do not know: all 368 cases are rerouted by lists"
 */
static void say_rerouted(struct fab_report *r, const struct faults_outcome *o)
{
	for (size_t i = 0; i < o->rerouted.n; i++) {
		const struct faults_local_reroutes *d = &o->rerouted.v[i];
		const char *by = !strcmp(d->method, "lists") ? "by the lists of VTFTR"
							     : "by a search";
		char stuck[FAB_HUMAN_BYTES], all[FAB_HUMAN_BYTES];
		FAB_AUTOFREE char *text = NULL;

		fab_human_count(d->sum.cases, all);
		fab_human_count(d->sum.stuck, stuck);
		text = !d->sum.cases ? fab_strdup("no case meets, nothing is known")
		       : d->sum.stuck
			       ? fab_format(
					 "%s of %s cases cannot be rerouted locally %s",
					 stuck, all, by)
			       : fab_format("all %s cases can be rerouted locally %s",
					    all, by);
		fab_report_answer(
			r,
			!d->sum.cases  ? FAB_TONE_WARN
			: d->sum.stuck ? FAB_TONE_BAD
				       : FAB_TONE_PLAIN,
			"%u dead leaf switch%s that the tables do not know: %s.",
			d->unknown, d->unknown == 1 ? "" : "es", text);
	}
	if (o->left_out_bursts)
		fab_report_answer(r, FAB_TONE_WARN,
				  "Two at once were not tried: too many cases.");
}

const char *faults_assumed(const struct fab_faults_result *r)
{
	const struct fab_table_files *files = r->routes ? r->routes->files : NULL;

	if (!files || (files->has_sls && files->has_lanes))
		return NULL;
	if (!files->has_sls && !files->has_lanes)
		return "one lane assumed: give --path-sl and --sl2vl if the engine uses lanes";
	return files->has_sls ? "lanes assumed to be the service levels: give --sl2vl"
			      : "service level 0 assumed for all pairs: give --path-sl";
}

char *faults_rates_text(const struct faults_outcome *o)
{
	const struct fab_rates rates = fab_rates_of(o->f, 0, o->f->n_switch_links);
	char *text = NULL;
	FAB_AUTOFREE char *unknown = fab_rates_unknown_text(o->f, &rates);
	bool differ = rates.most_gbps > rates.least_gbps;

	if (unknown && differ)
		text = fab_format(
			"counted without rates: of the cables between switches %s, the others have %g to %g Gb/s",
			unknown, rates.least_gbps, rates.most_gbps);
	else if (unknown)
		text = fab_format(
			"counted without rates: of the cables between switches %s",
			unknown);
	else if (differ)
		text = fab_format(
			"counted without rates: cables between switches have %g to %g Gb/s",
			rates.least_gbps, rates.most_gbps);
	return text;
}

/* Name of the counted pairs. */
static const char *ends_name(const struct faults_params *p,
			     const struct faults_outcome *o,
			     const struct fab_faults_result *a)
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

/* Name of the tables in the answer. */
static const char *tables_name(const struct fab_faults_result *a)
{
	return a->engine ? a->algorithm : "The tables that were read";
}

const char *faults_unreached_text(const struct fab_work *w, const struct fab_analysis *j,
				  bool is_short)
{
	const struct fab_fabric *f = w->f;
	char *text = NULL;

	for (size_t i = 0; i < j->unreached.n && i < NAMED; i++) {
		const struct fab_pairs *pairs = &j->unreached.v[i];
		const char *from = fab_node_name(f, pairs->from);
		const char *to = fab_node_name(f, pairs->to);

		fab_append(&text, ", ", "%s to %s (%" PRIu64 ")",
			   is_short ? faults_label(w, from) : from,
			   is_short ? faults_label(w, to) : to, pairs->pairs);
	}
	if (j->unreached.n > NAMED)
		fab_append(&text, ", ", "..");
	fab_arena_own(w->arena, free, text);
	return text ? text : "";
}

/* "NAMES: all N pairs have a path": names as the answer calls the tables. */
static void say_reached(struct fab_report *r, const struct fab_work *w,
			const struct fab_faults_result *a, const char *names)
{
	const struct faults_params *p = w->params;
	const struct faults_outcome *o = w->outcome;
	const struct fab_analysis *j = &a->sum;
	char n[FAB_HUMAN_BYTES], all[FAB_HUMAN_BYTES];
	const char *which = o->sweep.is_one_set ? faults_unreached_text(w, j, false) : "";

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
}

static void say_loops(struct fab_report *r, const struct fab_faults_result *a)
{
	const struct fab_analysis *j = &a->sum;
	const char *assumed = faults_assumed(a);
	char n[FAB_HUMAN_BYTES];
	FAB_AUTOFREE char *why = fab_analysis_why_unknown(j);

	if (!j->pairs)
		return;
	if (why && j->cycle.n)
		fab_report_answer(
			r, FAB_TONE_BAD,
			"Whether there is a credit loop is not known: %s. That loop has %zu cables and the paths of %s pairs (shortest loop below).",
			why, j->cycle.n, fab_human_count(j->pairs_on_cycles, n));
	else if (why)
		fab_report_answer(r, FAB_TONE_BAD,
				  "Whether there is a credit loop is not known: %s.",
				  why);
	else if (!j->deadlock_free)
		fab_report_answer(
			r, FAB_TONE_BAD,
			"Credit loop over %zu cables: %s pairs can block each other (shortest loop below).",
			j->cycle.n, fab_human_count(j->pairs_on_cycles, n));
	else if (!j->vls)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"No credit loop: no path takes a cable between switches.");
	else
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "No credit loop, with %u virtual lane%s.", j->vls,
				  j->vls == 1 ? "" : "s");
	if (assumed)
		fab_report_answer(r, FAB_TONE_WARN, "%c%s.", toupper(*assumed),
				  assumed + 1);
}

const char *faults_lost_names(const struct fab_work *w, const struct fab_fabric *f,
			      const struct fab_lost_ports *lost, bool is_host,
			      uint64_t *n)
{
	bool *seen = FAB_ARENA_NEW0(w->arena, (size_t)f->n_hosts + 1, bool);
	char *text = NULL;

	*n = 0;
	for (size_t i = 0; i < lost->of.n; i++) {
		uint32_t host = f->node_host[f->port_node[lost->of.v[i].port]];

		if (lost->of.v[i].is_host != is_host || seen[host])
			continue;
		seen[host] = true;
		if (++*n <= NAMED)
			fab_append(&text, ", ", "%s", fab_host_name(f, host));
	}
	if (*n > NAMED)
		fab_append(&text, ", ", "..");
	fab_arena_own(w->arena, free, text);
	return text ? text : "";
}

/* Hosts that died with what is dead, and those that lose a rail; the pairs above are
 * those of the others. */
static void say_lost(struct fab_report *r, const struct fab_work *w)
{
	const struct faults_outcome *o = w->outcome;
	const struct fab_lost *lost = &o->results[0].lost;
	char hosts[FAB_HUMAN_BYTES], adapters[FAB_HUMAN_BYTES], pairs[FAB_HUMAN_BYTES];
	const char *names;
	uint64_t n;

	if (!lost->adapters || !o->sweep.is_one_set)
		return;
	fab_human_count(lost->hosts, hosts);
	fab_human_count(lost->adapters, adapters);
	fab_human_count(lost->pairs, pairs);
	names = faults_lost_names(w, o->f, &o->lost, true, &n);
	fab_report_answer(
		r, FAB_TONE_BAD,
		"Lost with what is dead: %s host%s (%s port%s of adapters, %s pairs)%s%s.",
		hosts, lost->hosts == 1 ? "" : "s", adapters,
		lost->adapters == 1 ? "" : "s", pairs, *names ? ": " : "", names);
	if (!lost->rail_hosts)
		return;
	names = faults_lost_names(w, o->f, &o->lost, false, &n);
	fab_report_answer(
		r, FAB_TONE_BAD, "%s host%s lose%s a rail and keep%s another: %s.",
		fab_human_count(lost->rail_hosts, hosts),
		lost->rail_hosts == 1 ? "" : "s", lost->rail_hosts == 1 ? "s" : "",
		lost->rail_hosts == 1 ? "s" : "", names);
}

/* The fullest cable by each algorithm, in what one pair sends. */
static void say_loads(struct fab_report *r, const struct faults_outcome *o)
{
	FAB_AUTOFREE char *text = NULL;

	for (size_t i = 0; i < o->n && o->sweep.is_one_set; i++) {
		const struct fab_faults_result *a = &o->results[i];

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
			"When every host sends to every other, the fullest cable carries %s.",
			text);
}

/* Outcomes that differ in their figures. */
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

static enum kind kind_of(const struct fab_faults_result *a)
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

/* Would the answer say the same of both, but for the name? */
static bool is_alike(const struct fab_faults_result *a, const struct fab_faults_result *b)
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

/* Hops of the mean path between switches, NaN: there is no path. */
static double mean_hops(const struct fab_analysis *j)
{
	double sum = 0;

	for (size_t i = 0; i < FAB_COUNT(j->hops); i++)
		sum += (double)i * (double)j->hops[i];
	return j->connected ? sum / (double)j->connected : NAN;
}

/* "Safe: A (1 lane), B (4 lanes); shortest: A (2.31 hops on average)": of algorithms of
 * which OpenSM itself runs some. Safe is what has a path for each pair and no loop. */
static void say_choice(struct fab_report *r, const struct faults_outcome *o)
{
	FAB_AUTOFREE char *shortest = NULL, *safe = NULL;
	double least = INFINITY;

	for (size_t i = 0; i < o->n; i++) {
		const struct fab_analysis *j = &o->results[i].sum;
		double mean = mean_hops(j);

		if (kind_of(&o->results[i]) == KIND_SOUND)
			fab_append(&safe, ", ", "%s (%u lane%s)", o->results[i].algorithm,
				   j->vls, j->vls == 1 ? "" : "s");
		/* paths of pairs that others have, too */
		if (j->unreachable || !j->pairs || !(mean <= least))
			continue;
		if (mean < least) {
			free(shortest);
			shortest = NULL;
		}
		least = mean;
		fab_append(&shortest, ", ", "%s", o->results[i].algorithm);
	}
	if (shortest)
		fab_report_answer(r, safe ? FAB_TONE_PLAIN : FAB_TONE_BAD,
				  "Safe: %s; shortest paths: %s (%.3g hops on average).",
				  safe ? safe : "none of these", shortest, least);
	else
		fab_report_answer(r, FAB_TONE_BAD,
				  "Safe: none of these; none has a path for every pair.");
}

/* Engines of OpenSM that were asked for and replaced by others. */
static void say_replaced(struct fab_report *r, const struct faults_outcome *o)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->results[i].instead)
			fab_report_answer(
				r, FAB_TONE_BAD,
				"%s: OpenSM took %s instead; what is said of it is of these tables.",
				o->results[i].algorithm, o->results[i].instead);
}

/* Several algorithms: with their figures where few of them differ. */
static void say_many(struct fab_report *r, const struct fab_work *w)
{
	const struct faults_outcome *o = w->outcome;
	size_t n_different = 0;

	for (size_t i = 0; i < o->n; i++)
		n_different += !is_said(o, i);
	if (n_different > FEW || !o->sweep.is_one_set) {
		/* Several algorithms, by kind of outcome. */
		static const char *const texts[] = {
			[KIND_SOUND] =
				"every pair has a path and there is no credit loop",
			[KIND_LOST] = "pairs are without a path",
			[KIND_LOOP] = "there is a credit loop",
			[KIND_BOTH] =
				"pairs are without a path and there is a credit loop",
			[KIND_UNKNOWN] = "whether there is a credit loop is not known",
			[KIND_LOST_UNKNOWN] =
				"pairs are without a path, and whether there is a credit loop is not known",
			[KIND_NOTHING] = "there are no pairs to analyse",
		};

		for (int kind = KIND_SOUND; kind < N_KINDS; kind++) {
			FAB_AUTOFREE char *names = NULL;

			for (size_t i = 0; i < o->n; i++)
				if (kind_of(&o->results[i]) == (enum kind)kind)
					fab_append(&names, ", ", "%s",
						   o->results[i].algorithm);
			if (names)
				fab_report_answer(r,
						  kind == KIND_SOUND ? FAB_TONE_PLAIN
								     : FAB_TONE_BAD,
						  "%s: %s%s.", names, texts[kind],
						  o->sweep.is_one_set
							  ? ""
							  : " (all sets together)");
		}
		return;
	}
	for (size_t i = 0; i < o->n; i++) {
		FAB_AUTOFREE char *names = NULL;

		if (is_said(o, i))
			continue;
		for (size_t k = i; k < o->n; k++)
			if (is_alike(&o->results[i], &o->results[k]))
				fab_append(&names, ", ", "%s", o->results[k].algorithm);
		say_reached(r, w, &o->results[i], names);
		say_loops(r, &o->results[i]);
	}
}

static void say_reliability(struct fab_report *r, const struct faults_outcome *o,
			    double mttr_seconds)
{
	const struct faults_reliability_row *best = NULL, *row;
	char time[FAB_HUMAN_BYTES];

	for (size_t i = 0; i < o->reliability.n; i++) {
		row = &o->reliability.v[i];
		if (!isfinite(row->r.probability) ||
		    !strcmp(row->algorithm, "vtftr-rule"))
			continue;
		if (!best || row->r.n_faults > best->r.n_faults ||
		    (row->r.n_faults == best->r.n_faults &&
		     row->r.probability < best->r.probability))
			best = row;
	}
	if (!best) {
		fab_report_answer(r, FAB_TONE_WARN, "No probability is known.");
		return;
	}
	fab_report_answer(
		r, FAB_TONE_PLAIN,
		"%s: with %u dead leaf switches some pair is lost with probability %.3g (%s%s).",
		best->algorithm, best->r.n_faults, best->r.probability, best->method,
		best->r.trials ? ", interval below" : "");
	if (isfinite(best->seconds))
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"Without repair some pair is lost after %s%s on average.",
			best->r.probability < 1 ? "at least " : "",
			fab_human_seconds(best->seconds, time));
	if (isfinite(best->next_before_repair))
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"Repaired within %s, another leaf switch dies before with probability %.3g, and some pair is lost for %s %.3g s a year.",
			fab_human_seconds(mttr_seconds, time), best->next_before_repair,
			best->r.trials ? "about" : "at most", best->downtime_seconds);
}

/* The lists of --set reroute-lists: how long they are, and the entries without one. */
static void say_lists(struct fab_report *r, const struct fab_work *w)
{
	const struct faults_outcome *o = w->outcome;
	const struct fab_kfat *k = o->kfat;
	uint32_t line = k->switch_line[o->lists_of], dim = k->line_dim[line];
	uint32_t *leaf = FAB_ARENA_NEW(w->arena, k->n_leaves + 1, uint32_t);
	uint32_t least = FAB_NONE, most = 0;
	FAB_AUTOFREE char *none = NULL;

	for (uint32_t i = 0; i < k->n_leaves; i++) {
		uint32_t n;

		if (k->line_of[(size_t)i * 2 + dim] != line)
			continue;
		n = fab_local_reroute_list(k, o->faults, line,
					   k->coord[(size_t)i * 2 + dim], leaf);
		least = n < least ? n : least;
		most = n > most ? n : most;
		if (!n)
			fab_append(&none, ", ", "%s", fab_node_name(o->f, k->leaf[i]));
	}
	if (none)
		fab_report_answer(
			r, FAB_TONE_BAD,
			"%s has no other leaf switch for packets that find %s dead: they get stuck (lists at the end).",
			fab_node_name(o->f, o->lists_of), none);
	else
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"%s has %u to %u other leaf switches for packets that find theirs dead (lists at the end).",
			fab_node_name(o->f, o->lists_of), least, most);
}

void faults_say_caveat(struct fab_report *r, const struct faults_params *p)
{
	for (size_t i = 0; i < p->n_engines; i++)
		if (p->engines[i]->imitates_opensm) {
			fab_report_answer(
				r, FAB_TONE_WARN,
				"That is of the tables that --lfts-out writes; OpenSM's own may differ: dump them and give --lfts.");
			return;
		}
}

/* One sentence for each path of --explain that differs: "A to B: 2 hops between switches
 * (updn)." */
static void say_paths(struct fab_report *r, const struct fab_work *w)
{
	const struct faults_outcome *o = w->outcome;
	const char *texts[FAULTS_MAX_ENGINES];
	bool is_bad[FAULTS_MAX_ENGINES], is_said[FAULTS_MAX_ENGINES] = {false};

	for (size_t i = 0; i < o->n; i++)
		texts[i] = faults_path_text(w, i, &is_bad[i]);
	for (size_t i = 0; i < o->n; i++) {
		FAB_AUTOFREE char *names = NULL;

		for (size_t k = i; k < o->n && !is_said[i]; k++)
			if (!strcmp(texts[i], texts[k])) {
				is_said[k] = k > i;
				fab_append(&names, ", ", "%s", o->results[k].algorithm);
			}
		if (names)
			fab_report_answer(
				r, is_bad[i] ? FAB_TONE_BAD : FAB_TONE_PLAIN,
				"%s to %s: %s (%s).", fab_node_name(o->f, o->from.node),
				fab_node_name(o->f, o->to.node), texts[i], names);
	}
}

void faults_answer(struct fab_report *r, const struct fab_work *w)
{
	const struct faults_params *p = w->params;
	const struct faults_outcome *o = w->outcome;
	FAB_AUTOFREE char *text = NULL, *missing = NULL;
	bool has_opensm = false;

	fab_cli_answer_shard(r, &p->shard);
	for (size_t i = 0; i < o->n; i++)
		has_opensm |= o->results[i].engine && o->results[i].engine->is_outside;
	if (has_opensm && o->n > 1 && o->sweep.is_one_set)
		say_choice(r, o);
	say_replaced(r, o);
	if (p->questions.reliability) {
		say_reliability(r, o, p->questions.mttr_seconds);
		return;
	}
	if (p->questions.explain)
		say_paths(r, w);
	say_flows(r, p, o);
	if (o->ranked)
		say_critical(r, w);
	/* Where loads were asked for, what they leave out is part of the answer. */
	if (p->questions.permutations.n || p->questions.has_criticality)
		text = faults_rates_text(o);
	if (text)
		fab_report_answer(r, FAB_TONE_WARN, "Loads are %s.", text);
	if (p->questions.reroute)
		say_rerouted(r, o);
	if (p->questions.reroute_lists)
		say_lists(r, w);
	if (!o->n)
		fab_report_answer(r, FAB_TONE_WARN,
				  "No algorithm was tried: nothing is known.");
	else if (o->n > 1)
		say_many(r, w);
	else if (!o->sweep.is_one_set) {
		char lost[FAB_HUMAN_BYTES], sets[FAB_HUMAN_BYTES], loops[FAB_HUMAN_BYTES];
		bool is_bad =
			o->results[0].sets_unreachable || o->results[0].sets_with_cycle;

		/* Sums over many sets of faults. */
		fab_human_count(o->results[0].sets_unreachable, lost);
		fab_human_count(o->results[0].sets_with_cycle, loops);
		fab_human_count(o->results[0].sets, sets);
		fab_report_answer(
			r, is_bad ? FAB_TONE_BAD : FAB_TONE_PLAIN,
			"%s: of %s sets of faults %s leave some %s without a path and %s make a credit loop.",
			tables_name(&o->results[0]), sets, lost,
			ends_name(p, o, &o->results[0]), loops);
	} else {
		say_reached(r, w, &o->results[0], tables_name(&o->results[0]));
		/* LIDs that the tables lack; the rest is in what is unknown of loops. */
		missing = fab_gaps_text(o->f, &o->results[0].sum.gaps, FAB_GAP_LID);
		if (missing)
			fab_report_answer(r, FAB_TONE_BAD, "%s.", missing);
		say_loops(r, &o->results[0]);
	}
	if (o->n)
		say_lost(r, w);
	say_loads(r, o);
	faults_say_caveat(r, p);
	for (size_t i = 0; i < o->n; i++)
		if (!o->results[i].is_sound)
			fab_report_answer(
				r, FAB_TONE_BAD,
				"The tables of %s failed --verify: do not use them.",
				o->results[i].algorithm);
}
