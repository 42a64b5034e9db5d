/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-bootplan: the answer in words, before everything else. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "boot/advice.h"
#include "bootplan.h"

enum { NAME_BYTES = 256 };

/* How long a mapping takes, on the heap: "0.48 s", "for ever". */
static char *time_text(const struct bootplan_result *x)
{
	char time[FAB_HUMAN_BYTES];

	return fab_strdup(isfinite(x->boot_seconds)
				  ? fab_human_seconds(x->boot_seconds, time)
				  : "for ever");
}

/* Another mapping of the batch by the same model that has a server for every node. */
static bool is_rival(const struct bootplan_result *x, const struct bootplan_result *best)
{
	return x != best && x->batch == best->batch && !strcmp(x->model, best->model) &&
	       !x->n_unserved;
}

/* Append ", NAME" or NAME. */
static void add_name(char **names, const char *name)
{
	char *longer = fab_format("%s%s%s", *names, **names ? " and " : "", name);

	free(*names);
	*names = longer;
}

/* Names of the rivals from the first on that need as long as that one. */
static char *names_like(const struct bootplan_outcome *o,
			const struct bootplan_result *best, size_t first, bool *is_later)
{
	char *names = fab_strdup(""), *time = time_text(&o->results.v[first]);

	*is_later = false;
	for (size_t i = 0; i < o->results.n; i++) {
		const struct bootplan_result *x = &o->results.v[i];
		char *own = time_text(x);

		if (is_rival(x, best) && !strcmp(own, time)) {
			*is_later |= i < first;
			add_name(&names, x->algorithm);
		}
		free(own);
	}
	free(time);
	return names;
}

/* Add one time and who needs it, once: "; scda and bcda need 0.48 s". */
static void add_rivals(const struct bootplan_outcome *o,
		       const struct bootplan_result *best, size_t i, bool as_long,
		       char **text)
{
	char *own = time_text(best), *time = time_text(&o->results.v[i]);
	char *names, *longer;
	bool is_later;

	names = names_like(o, best, i, &is_later);
	longer = fab_format("%s; %s %s %s", *text, names,
			    strstr(names, " and ") ? "need" : "needs",
			    as_long ? "as long" : time);
	if (!is_later && as_long == !strcmp(time, own)) {
		free(*text);
		*text = longer;
	} else {
		free(longer);
	}
	free(names);
	free(own);
	free(time);
}

/* Other mappings of the batch by the same model, first those that need as long. */
static char *others_text(const struct bootplan_outcome *o,
			 const struct bootplan_result *best)
{
	char *text = fab_strdup("");

	for (int as_long = 1; as_long >= 0; as_long--)
		for (size_t i = 0; i < o->results.n; i++)
			if (is_rival(&o->results.v[i], best))
				add_rivals(o, best, i, as_long, &text);
	for (size_t i = 0; i < o->results.n; i++) {
		const struct bootplan_result *x = &o->results.v[i];
		char *longer;

		if (x == best || x->batch != best->batch || !x->n_unserved ||
		    strcmp(x->model, best->model) != 0)
			continue;
		longer = fab_format("%s; %s leaves %u node%s without a server", text,
				    x->algorithm, x->n_unserved,
				    x->n_unserved == 1 ? "" : "s");
		free(text);
		text = longer;
	}
	return text;
}

/* What holds the nodes back. */
static char *reason_text(const struct bootplan_outcome *o,
			 const struct bootplan_result *best)
{
	struct bootplan_segments *s = FAB_NEW0(1, struct bootplan_segments);
	const struct fab_share_segment *segment;
	char rate[FAB_HUMAN_BYTES], *text;
	bool is_joint;

	if (best->share.bottleneck == FAB_NONE) {
		free(s);
		return fab_strdup("");
	}
	bootplan_segments_of(o->m, best, s);
	segment = &best->share.segment[best->share.bottleneck];
	is_joint = strchr(s->bottleneck, '+') != NULL;
	text = fab_format("; segment%s %s hold%s them back (%u node%s on the tightest, "
			  "%s each)",
			  is_joint ? "s" : "", s->bottleneck, is_joint ? "" : "s",
			  segment->max_sharers, segment->max_sharers == 1 ? "" : "s",
			  fab_human_mbps(segment->share_mbps, rate));
	free(s);
	return text;
}

/* Nodes without a server, and the first of them: no mapping that was asked for has a
 * server for all. */
static void say_unserved(struct fab_report *r, const struct bootplan_outcome *o,
			 const struct bootplan_result *best)
{
	char name[NAME_BYTES], *others = others_text(o, best);

	fab_report_answer(
		r, FAB_TONE_BAD,
		"%s leaves %u of %u nodes without a server, such as %s%s; "
		"keep gives them one.",
		best->algorithm, best->n_unserved, best->batch->n,
		fab_machine_node_name(o->m, best->slowest_node, name, sizeof(name)),
		others);
	free(others);
}

/* Image and coverage of the times, for the brackets behind the first one. */
static char *assumptions_text(const struct bootplan_outcome *o)
{
	char bytes[FAB_HUMAN_BYTES];

	return fab_format("image of %s, %s only", fab_human_bytes(o->image_bytes, bytes),
			  bootplan_time_covers(o));
}

static void say_time(struct fab_report *r, const struct bootplan_outcome *o,
		     const struct bootplan_result *best)
{
	char nodes[FAB_HUMAN_BYTES], time[FAB_HUMAN_BYTES];
	char *reason = reason_text(o, best), *others = others_text(o, best);
	char *assumptions = assumptions_text(o);
	const char *of = o->n_batches > 1 ? " (the largest batch)" : "";

	fab_human_count(best->batch->n, nodes);
	if (isfinite(best->boot_seconds))
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"%u server%s boot%s %s node%s%s in %s with %s (%s)%s%s.",
			best->n_servers, best->n_servers == 1 ? "" : "s",
			best->n_servers == 1 ? "s" : "", nodes,
			best->batch->n == 1 ? "" : "s", of,
			fab_human_seconds(best->boot_seconds, time), best->algorithm,
			assumptions, reason, others);
	else
		fab_report_answer(
			r, FAB_TONE_BAD, "%u of %s nodes%s never boot, even with %s%s%s.",
			best->n_failed, nodes, of, best->algorithm, reason, others);
	free(assumptions);
	free(reason);
	free(others);
}

static void say_target(struct fab_report *r, const struct bootplan_outcome *o,
		       const struct bootplan_result *best)
{
	char target[FAB_HUMAN_BYTES];
	struct fab_servers_needed needed;

	if (!(o->target_seconds > 0))
		return;
	fab_human_seconds(o->target_seconds, target);
	if (best->boot_seconds <= o->target_seconds) {
		fab_report_answer(r, FAB_TONE_GOOD, "That is within the target of %s.",
				  target);
		return;
	}
	needed = fab_advice_servers(o->m, best->batch, o->transfer, o->target_seconds);
	if (needed.n_new)
		fab_report_answer(r, FAB_TONE_BAD,
				  "That misses the target of %s; it takes %s%u servers "
				  "by equal shares, %u more than the %u that are up.",
				  target, needed.is_estimate ? "about " : "", needed.n,
				  needed.n_new, needed.n_up);
	else if (needed.n && o->problem.timed)
		fab_report_answer(r, FAB_TONE_BAD,
				  "That misses the target of %s; %s%u of the %u servers "
				  "would keep it by equal shares, if no node started "
				  "late, waited or gave up.",
				  target, needed.is_estimate ? "about " : "", needed.n,
				  needed.n_up);
	else if (needed.n)
		fab_report_answer(r, FAB_TONE_BAD,
				  "That misses the target of %s; the best mapping would "
				  "keep it with %s%u of the %u servers.",
				  target, needed.is_estimate ? "about " : "", needed.n,
				  needed.n_up);
	else
		fab_report_answer(r, FAB_TONE_BAD,
				  "That misses the target of %s, and by equal shares no "
				  "number of such servers would keep it.",
				  target);
}

static void say_doubts(struct fab_report *r, const struct bootplan_outcome *o)
{
	size_t n_wrong = 0;

	for (size_t i = 0; i < o->results.n; i++)
		n_wrong += !o->results.v[i].is_sound;
	if (o->was_verified && (n_wrong || o->has_broken_tree))
		fab_report_answer(
			r, FAB_TONE_BAD,
			"--verify found %zu wrong results%s: do not use them.", n_wrong,
			o->has_broken_tree ? " and broken multicast trees" : "");
}

void bootplan_answer(struct fab_report *r, const struct bootplan_outcome *o)
{
	const struct bootplan_result *best = bootplan_best(o);

	if (best->n_unserved)
		say_unserved(r, o, best);
	else
		say_time(r, o, best);
	say_target(r, o, best);
	say_doubts(r, o);
}
