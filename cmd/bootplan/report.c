/* SPDX-License-Identifier: BSD-2-Clause */
/* The report of fabric-bootplan: the answer in words, then its fields and tables. */
#include "bootplan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "base/mem.h"

enum { SHOWN = 10 };

/* ---- rows ---- */

/* Names of all segments with the least share, in the order node to server: "N2+N5". */
static void name_bottleneck(const struct fab_share *share, struct bootplan_segments *s)
{
	size_t at = 0;

	s->bottleneck[0] = 0;
	for (uint32_t i = 0; i < s->n && share->bottleneck != FAB_NONE; i++)
		if (at < sizeof(s->bottleneck) &&
		    share->segment[i].share_mbps <= share->bandwidth_mbps * (1 + 1e-9))
			at += (size_t)snprintf(s->bottleneck + at,
					       sizeof(s->bottleneck) - at, "%s%s",
					       at ? "+" : "", s->names[i]);
}

void bootplan_segments_of(const struct fab_machine *m,
			  const struct fab_plan_result *result,
			  struct bootplan_segments *out)
{
	out->n = result->share.n_segments;
	for (uint32_t i = 0; i < out->n; i++) {
		const struct fab_share_segment *s = &result->share.segment[i];

		out->v[i] = (struct bootplan_segment){
			.algorithm = result->algorithm,
			.name = fab_share_segment_name(m, s, out->names[i],
						       sizeof(out->names[i])),
			.capacity_mbps = s->capacity_mbps,
			.max_sharers = s->max_sharers,
			.share_mbps = s->share_mbps,
			.tightest = fab_machine_vertex_name(
				m, s->vertex, out->tightest[i], sizeof(out->tightest[i])),
		};
	}
	name_bottleneck(&result->share, out);
}

/* In JSON these are `failover` of a result, without the first two. */
#define AT(member) FAB_AT(struct bootplan_failover_server, member)
static const struct fab_column failover_columns[] = {
	{"algorithm", FAB_TEXT, "rule that gave the servers", 0, AT(algorithm)},
	{"moved_nodes", FAB_UINT, "nodes of the batch with another server than before", 0,
	 AT(moved_nodes)},
	{"server", FAB_TEXT, "a server that takes over", 0, AT(server)},
	{"nodes_before", FAB_UINT, "that it served before", 0, AT(nodes_before)},
	{"nodes", FAB_UINT, "that it serves now", 0, AT(nodes)},
};
#undef AT

static void failover_rows(const struct bootplan_outcome *o,
			  const struct fab_plan_result *result,
			  struct bootplan_failover_rows *out)
{
	const struct fab_failover *f = result->failover;
	uint32_t n = f ? f->n : 0;

	out->v = FAB_NEW0((size_t)n + 1, struct bootplan_failover_server);
	for (uint32_t i = 0; i < n; i++) {
		struct bootplan_failover_server *s = &out->v[i];

		s->algorithm = result->algorithm;
		s->moved_nodes = f->n_moved;
		s->server = fab_machine_server_name(o->m, f->grown[i].server, s->name,
						    sizeof(s->name));
		s->nodes_before = f->grown[i].nodes_before;
		s->nodes = f->grown[i].nodes;
	}
	out->rows =
		(struct fab_rows){failover_columns + 2, FAB_COUNT(failover_columns) - 2,
				  out->v, sizeof(*out->v), n};
}

static void failover_rows_fini(struct bootplan_failover_rows *rows)
{
	free(rows->v);
}

const struct fab_plan_result *bootplan_best(const struct bootplan_outcome *o)
{
	return fab_plan_best(&o->plan, &o->results);
}

/* Parts of a boot that boot_seconds counts: firmware, DHCP and the start of a kernel are
 * not in it. */
static const char *time_covers(const struct bootplan_outcome *o)
{
	return o->plan.transfer->request_seconds > 0 ? "requests and transfer"
						     : "transfer";
}

static const char *model_name(const struct fab_plan_result *r)
{
	return r->is_max_min ? "max-min" : "equal-share";
}

static uint64_t within_target(const struct bootplan_outcome *o,
			      const struct fab_plan_result *result)
{
	return o->p->target_seconds ? result->boot_seconds <= o->p->target_seconds
				    : FAB_UNKNOWN;
}

static const char *bottleneck_name(const struct bootplan_segments *s)
{
	return *s->bottleneck ? s->bottleneck : NULL;
}

void bootplan_row_init(struct bootplan_row *row, const struct bootplan_outcome *o,
		       const struct fab_plan_result *result)
{
	bool has_retries = result->is_max_min;
	uint32_t at = result->share.bottleneck;

	bootplan_segments_of(o->m, result, &row->segment);
	failover_rows(o, result, &row->grown);
	row->a = *result;
	row->model = model_name(result);
	row->shard = fab_cli_shard_text(&o->p->shard);
	row->batch = result->batch->text;
	row->nodes = result->batch->n;
	row->bottleneck = bottleneck_name(&row->segment);
	row->slowest = fab_machine_node_name(o->m, result->slowest_node, row->name,
					     sizeof(row->name));
	row->within_target = within_target(o, result);
	row->verified = o->p->run.verify ? result->is_sound : FAB_UNKNOWN;
	row->retries = has_retries ? (double)result->n_retries : (double)NAN;
	row->unserved_nodes = result->n_unserved;
	row->failed_nodes = has_retries ? result->n_failed : (double)NAN;
	row->moved_nodes = result->failover ? result->failover->n_moved : (double)NAN;
	row->max_sharers =
		at == FAB_NONE ? (double)NAN : result->share.segment[at].max_sharers;
	row->failover = row->grown.rows;
	row->segments = (struct fab_rows){bootplan_segment_columns + 1,
					  bootplan_segment_n_columns - 1, row->segment.v,
					  sizeof(*row->segment.v), row->segment.n};
}

void bootplan_row_fini(struct bootplan_row *row)
{
	failover_rows_fini(&row->grown);
}

/* ---- the answer ---- */

/* How long a mapping takes, on the heap: "0.48 s", "for ever". */
static char *time_text(const struct fab_plan_result *x)
{
	char time[FAB_HUMAN_BYTES];

	return fab_strdup(isfinite(x->boot_seconds)
				  ? fab_human_seconds(x->boot_seconds, time)
				  : "for ever");
}

/* Another mapping of the batch by the same model that has a server for every node. */
static bool is_rival(const struct fab_plan_result *x, const struct fab_plan_result *best)
{
	return x != best && x->batch == best->batch &&
	       x->is_max_min == best->is_max_min && !x->n_unserved;
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
			const struct fab_plan_result *best, size_t first, bool *is_later)
{
	char *names = fab_strdup(""), *time = time_text(&o->results.of.v[first]);

	*is_later = false;
	for (size_t i = 0; i < o->results.of.n; i++) {
		const struct fab_plan_result *x = &o->results.of.v[i];
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

/* Add one time and the mappings that need it, once: "; scda and bcda need 0.48 s". */
static void add_rivals(const struct bootplan_outcome *o,
		       const struct fab_plan_result *best, size_t i, bool as_long,
		       char **text)
{
	char *own = time_text(best), *time = time_text(&o->results.of.v[i]);
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
			 const struct fab_plan_result *best)
{
	char *text = fab_strdup("");

	for (int as_long = 1; as_long >= 0; as_long--)
		for (size_t i = 0; i < o->results.of.n; i++)
			if (is_rival(&o->results.of.v[i], best))
				add_rivals(o, best, i, as_long, &text);
	for (size_t i = 0; i < o->results.of.n; i++) {
		const struct fab_plan_result *x = &o->results.of.v[i];
		char *longer;

		if (x == best || x->batch != best->batch || !x->n_unserved ||
		    x->is_max_min != best->is_max_min)
			continue;
		longer = fab_format("%s; %s leaves %u node%s without a server", text,
				    x->algorithm, x->n_unserved,
				    x->n_unserved == 1 ? "" : "s");
		free(text);
		text = longer;
	}
	return text;
}

/* Segments that hold the nodes back. */
static char *reason_text(const struct bootplan_outcome *o,
			 const struct fab_plan_result *best)
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
	text = fab_format(
		"; segment%s %s hold%s them back (%u node%s on the tightest, %s each)",
		is_joint ? "s" : "", s->bottleneck, is_joint ? "" : "s",
		segment->max_sharers, segment->max_sharers == 1 ? "" : "s",
		fab_human_mbps(segment->share_mbps, rate));
	free(s);
	return text;
}

/* Nodes without a server, and the first of them: no mapping that was asked for has a
 * server for all. */
static void say_unserved(struct fab_report *r, const struct bootplan_outcome *o,
			 const struct fab_plan_result *best)
{
	char name[BOOTPLAN_NAME_BYTES], *others = others_text(o, best);

	fab_report_answer(
		r, FAB_TONE_BAD,
		"%s leaves %u of %u nodes without a server, such as %s%s; keep gives them one.",
		best->algorithm, best->n_unserved, best->batch->n,
		fab_machine_node_name(o->m, best->slowest_node, name, sizeof(name)),
		others);
	free(others);
}

/* Image and coverage of the times, for the brackets behind the first one. */
static char *assumptions_text(const struct bootplan_outcome *o)
{
	char bytes[FAB_HUMAN_BYTES];

	return fab_format("image of %s, %s only",
			  fab_human_bytes(o->p->transfer.image_bytes, bytes),
			  time_covers(o));
}

static void say_time(struct fab_report *r, const struct bootplan_outcome *o,
		     const struct fab_plan_result *best)
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
		       const struct fab_plan_result *best)
{
	char target[FAB_HUMAN_BYTES];
	struct fab_servers_needed needed;

	if (!(o->p->target_seconds > 0))
		return;
	fab_human_seconds(o->p->target_seconds, target);
	if (best->boot_seconds <= o->p->target_seconds) {
		fab_report_answer(r, FAB_TONE_GOOD, "That is within the target of %s.",
				  target);
		return;
	}
	needed = fab_advice_servers(o->m, best->batch, o->plan.transfer,
				    o->p->target_seconds);
	if (needed.n_new)
		fab_report_answer(
			r, FAB_TONE_BAD,
			"That misses the target of %s; it takes %s%u servers by equal shares, %u more than the %u that are up.",
			target, needed.is_estimate ? "about " : "", needed.n,
			needed.n_new, needed.n_up);
	else if (needed.n && o->problem.timed)
		fab_report_answer(
			r, FAB_TONE_BAD,
			"That misses the target of %s; %s%u of the %u servers would keep it by equal shares, if no node started late, waited or gave up.",
			target, needed.is_estimate ? "about " : "", needed.n,
			needed.n_up);
	else if (needed.n)
		fab_report_answer(
			r, FAB_TONE_BAD,
			"That misses the target of %s; the best mapping would keep it with %s%u of the %u servers.",
			target, needed.is_estimate ? "about " : "", needed.n,
			needed.n_up);
	else
		fab_report_answer(
			r, FAB_TONE_BAD,
			"That misses the target of %s, and by equal shares no number of such servers would keep it.",
			target);
}

static void say_doubts(struct fab_report *r, const struct bootplan_outcome *o)
{
	size_t n_wrong = 0;

	for (size_t i = 0; i < o->results.of.n; i++)
		n_wrong += !o->results.of.v[i].is_sound;
	if (o->p->run.verify && (n_wrong || o->has_broken_tree))
		fab_report_answer(
			r, FAB_TONE_BAD,
			"--verify found %zu wrong results%s: do not use them.", n_wrong,
			o->has_broken_tree ? " and broken multicast trees" : "");
}

static void answer(struct fab_report *r, const struct bootplan_outcome *o)
{
	const struct fab_plan_result *best = bootplan_best(o);

	if (best->n_unserved)
		say_unserved(r, o, best);
	else
		say_time(r, o, best);
	say_target(r, o, best);
	say_doubts(r, o);
}

/* ---- fields and tables ---- */

/* Of the largest batch, mappings side by side: what moves, and what that gives. */
static void print_changes(struct fab_report *r, const struct bootplan_outcome *o)
{
	static const struct fab_column fields[] = {
		{"algorithm", FAB_TEXT, "rule that gave the servers", 0},
		{"model", FAB_TEXT, "how nodes share a segment", 0},
		{"moved_nodes", FAB_UINT, "nodes with another server than before", 0},
		{"seconds_before", FAB_REAL, "until all had booted", FAB_COL_SECONDS},
		{"boot_seconds", FAB_REAL, "until all have booted now", FAB_COL_SECONDS},
	};

	fab_report_table_begin(r, "changes", "Before and now", fields, FAB_COUNT(fields));
	for (size_t i = 0; i < o->results.of.n; i++) {
		const struct fab_plan_result *x = &o->results.of.v[i];

		if (x->batch != o->largest || !x->failover)
			continue;
		fab_report_row(r, (const union fab_cell[]){
					  {.text = x->algorithm},
					  {.text = model_name(x)},
					  {.u = x->failover->n_moved},
					  {.real = x->seconds_before},
					  {.real = x->boot_seconds},
				  });
	}
	fab_report_table_end(r);
}

static void print_failover(struct fab_report *r, const struct bootplan_outcome *o)
{
	print_changes(r, o);
	fab_report_table_begin(r, "failover", "Servers that take over most",
			       failover_columns, FAB_COUNT(failover_columns));
	for (size_t i = 0; i < o->results.of.n; i++) {
		const struct fab_plan_result *result = &o->results.of.v[i];
		const struct fab_failover *f = result->failover;
		struct bootplan_failover_rows rows;

		if (result->batch != o->largest || !f || (i && f == result[-1].failover))
			continue; /* or the same by another model */
		failover_rows(o, result, &rows);
		for (size_t k = 0; k < rows.rows.n && k < SHOWN; k++)
			fab_report_record(r, &rows.v[k]);
		failover_rows_fini(&rows);
	}
	fab_report_table_end(r);
}

/* For people: the segments of the largest batch. */
static void print_segments(struct fab_report *r, const struct bootplan_outcome *o,
			   struct bootplan_segments *s)
{
	fab_report_table_begin(r, "segments", "Path segments", bootplan_segment_columns,
			       bootplan_segment_n_columns);
	for (size_t i = 0; i < o->results.of.n; i++) {
		const struct fab_plan_result *result = &o->results.of.v[i];

		if (result->batch != o->largest ||
		    (i && result->algorithm == result[-1].algorithm))
			continue; /* or the same by another model */
		bootplan_segments_of(o->m, result, s);
		for (uint32_t k = 0; k < s->n; k++)
			fab_report_record(r, &s->v[k]);
	}
	fab_report_table_end(r);
}

/* Fields that are read first: time, last node and reason. */
static void print_answers(struct fab_report *r, const struct bootplan_outcome *o,
			  struct bootplan_segments *s)
{
	static const struct fab_column fields[] = {
		{"image_bytes", FAB_UINT, "of the image", FAB_COL_BYTES},
		{"target_seconds", FAB_NUMBER, "--target",
		 FAB_COL_EXTRA | FAB_COL_SECONDS},
		{"best.boot_seconds", FAB_REAL, "until all of the batch have booted",
		 FAB_COL_SECONDS},
	};
	const struct fab_plan_result *best = bootplan_best(o);
	uint32_t at = best->share.bottleneck;
	char slowest[BOOTPLAN_NAME_BYTES], rack[BOOTPLAN_NAME_BYTES];
	uint32_t vertex = o->m->node_vertex[best->slowest_node];

	bootplan_segments_of(o->m, best, s);
	if (o->m->parent[vertex] != FAB_NONE)
		vertex = o->m->parent[vertex];
	fab_report_text(r, "machine", o->m->source);
	fab_report_uint(r, "machine_nodes", o->m->n_nodes);
	fab_report_uint(r, "machine_servers", o->m->n_servers);
	if (o->m->n_unnamed)
		fab_report_uint(r, "unnamed_adapters", o->m->n_unnamed);
	if (o->m->fabric)
		fab_report_text(r, "rates", o->p->rate ? "signalling" : "data");
	fab_report_field(r, &fields[0],
			 (union fab_cell){.u = o->p->transfer.image_bytes});
	fab_report_text(r, "boot_seconds_cover", time_covers(o));
	fab_report_field(r, &fields[1],
			 (union fab_cell){.real = o->p->target_seconds
							  ? o->p->target_seconds
							  : (double)NAN});
	fab_report_text(r, "best.algorithm", best->algorithm);
	fab_report_field(r, &fields[2], (union fab_cell){.real = best->boot_seconds});
	fab_report_text(r, "best.slowest_node",
			fab_machine_node_name(o->m, best->slowest_node, slowest,
					      sizeof(slowest)));
	fab_report_text(r, "best.slowest_unit",
			fab_machine_vertex_name(o->m, vertex, rack, sizeof(rack)));
	fab_report_text(r, "best.bottleneck", bottleneck_name(s));
	fab_report_text(r, "best.tightest", at == FAB_NONE ? NULL : s->tightest[at]);
}

/* Kinds of segments, joined by +; on the heap. */
static char *segments_of(const struct fab_machine *m, uint32_t levels)
{
	char *text = fab_strdup("");

	for (uint32_t l = 0; l < FAB_MACHINE_LEVELS_MAX + FAB_N_LIMITS; l++) {
		char *longer;

		if (!(levels >> l & 1))
			continue;
		longer = fab_format("%s%s%s", text, *text ? "+" : "",
				    l < FAB_MACHINE_LEVELS_MAX
					    ? m->level[l].segment
					    : fab_limit_name((enum fab_limit)(
						      l - FAB_MACHINE_LEVELS_MAX)));
		free(text);
		text = longer;
	}
	return text;
}

/* How many servers the target takes, and how many of them are not there. */
static void print_servers_needed(struct fab_report *r, const struct bootplan_outcome *o)
{
	static const struct fab_column fields[] = {
		{"servers_needed", FAB_UINT, "for the target; null: no number is enough",
		 FAB_COL_NULL_ZERO},
		{"servers_to_buy", FAB_UINT, "of these, beyond those that are up", 0},
		{"servers_needed_exact", FAB_BOOL, "the fewest; no: fewer may do", 0},
	};
	struct fab_servers_needed needed = fab_advice_servers(
		o->m, o->largest, o->plan.transfer, o->p->target_seconds);

	fab_report_field(r, &fields[0], (union fab_cell){.u = needed.n});
	fab_report_field(r, &fields[1], (union fab_cell){.u = needed.n_new});
	fab_report_field(r, &fields[2], (union fab_cell){.u = !needed.is_estimate});
}

/* Advice: servers for the target, and the segments worth raising. */
static void print_advice(struct fab_report *r, const struct bootplan_outcome *o)
{
	static const struct fab_column columns[] = {
		{"segment", FAB_TEXT, "kinds of segments, all of them twice as fast", 0},
		{"bandwidth_mbps", FAB_REAL, "of the slowest node by the best mapping",
		 FAB_COL_MBPS},
		{"boot_seconds", FAB_REAL, "that it takes then", FAB_COL_SECONDS},
	};
	if (o->p->target_seconds > 0)
		print_servers_needed(r, o);
	fab_report_table_begin(r, "advice",
			       "With the best mapping and twice the capacity", columns,
			       FAB_COUNT(columns));
	for (uint32_t i = 0; i < o->n_advice; i++) {
		const struct fab_advice *a = &o->advice[i];
		char *segments = segments_of(o->m, a->levels);

		fab_report_row(r, (const union fab_cell[]){
					  {.text = segments},
					  {.real = a->bandwidth_mbps},
					  {.real = a->seconds},
				  });
		free(segments);
	}
	fab_report_table_end(r);
}

/* Distribution without a transfer from server to node for each node. */
static void print_methods(struct fab_report *r, const struct bootplan_outcome *o)
{
	static const struct fab_column columns[] = {
		{"way", FAB_TEXT, "how the image gets to all nodes", 0},
		{"algorithm", FAB_TEXT, "that made the multicast trees", 0},
		{"trees", FAB_UINT, "multicast trees at once", FAB_COL_NULL_ZERO},
		{"boot_seconds", FAB_REAL, "that it takes", FAB_COL_SECONDS},
		{"times_faster", FAB_REAL, "than the best mapping", 0},
	};
	double best = bootplan_best(o)->boot_seconds;

	fab_report_table_begin(r, "alternatives", "Other methods to distribute", columns,
			       FAB_COUNT(columns));
	for (size_t i = 0; i < o->methods.n; i++) {
		const struct bootplan_method *w = &o->methods.v[i];

		fab_report_row(r, (const union fab_cell[]){
					  {.text = w->method},
					  {.text = w->algorithm},
					  {.u = w->n_trees},
					  {.real = w->seconds},
					  {.real = w->seconds > 0 ? best / w->seconds
								  : (double)NAN},
				  });
	}
	fab_report_table_end(r);
}

void bootplan_report(struct fab_report *r, const struct fab_work *w)
{
	const struct bootplan_outcome *o = w->outcome;
	struct bootplan_segments *s =
		FAB_ARENA_NEW0(w->arena, 1, struct bootplan_segments);
	struct bootplan_row *row = FAB_ARENA_NEW0(w->arena, 1, struct bootplan_row);
	enum fab_format format = fab_report_how(r)->format;

	fab_cli_answer_shard(r, &o->p->shard);
	answer(r, o);
	bootplan_answer_exported(r, &o->exported);
	fab_cli_report_shard(r, &o->p->shard);
	if (!o->m->fabric && format == FAB_FORMAT_JSON)
		fab_report_text(r, "fabric", NULL);
	print_answers(r, o, s);
	bootplan_report_exported(r, &o->exported);
	print_advice(r, o);
	print_methods(r, o);
	fab_report_table_begin(r, "results", "Mappings", bootplan_columns,
			       bootplan_n_columns);
	for (size_t i = 0; i < o->results.of.n; i++) {
		bootplan_row_init(row, o, &o->results.of.v[i]);
		fab_report_record(r, row);
		bootplan_row_fini(row);
	}
	fab_report_table_end(r);
	if (format != FAB_FORMAT_TABLE)
		return;
	if (o->results.failovers.n)
		print_failover(r, o);
	print_segments(r, o, s);
}
