/* SPDX-License-Identifier: BSD-2-Clause */
/* The report of fabric-bootplan: its tables and what their columns mean. */
#include "bootplan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "boot/advice.h"
#include "boot/share.h"
#include "present/jsonl.h"

enum { NAME_BYTES = 256 };

/* In JSON these are `segments` of a result, without the first. */

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
			  const struct bootplan_result *result,
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

const struct bootplan_result *bootplan_best(const struct bootplan_outcome *o)
{
	const struct bootplan_result *best = &o->results.v[o->results.n - 1];

	/* of equal ones the first; the last one is by max-min, where that was asked for
	 */
	for (const struct bootplan_result *r = best; r >= o->results.v; r--)
		if (r->batch == best->batch && r->boot_seconds <= best->boot_seconds &&
		    (!o->problem.timed || !strcmp(r->model, best->model)))
			best = r;
	return best;
}

const char *bootplan_time_covers(const struct bootplan_outcome *o)
{
	return o->transfer->request_seconds > 0 ? "requests and transfer" : "transfer";
}

static uint64_t within_target(const struct bootplan_outcome *o,
			      const struct bootplan_result *result)
{
	return o->target_seconds ? result->boot_seconds <= o->target_seconds
				 : FAB_UNKNOWN;
}

static const char *bottleneck_name(const struct bootplan_segments *s)
{
	return *s->bottleneck ? s->bottleneck : NULL;
}

void bootplan_row_init(struct bootplan_row *row, const struct bootplan_outcome *o,
		       const struct bootplan_result *result)
{
	bool has_retries = !strcmp(result->model, "max-min");
	uint32_t at = result->share.bottleneck;

	bootplan_segments_of(o->m, result, &row->segment);
	bootplan_failover_rows(o, result, &row->grown);
	row->a = *result;
	row->batch = result->batch->text;
	row->nodes = result->batch->n;
	row->bottleneck = bottleneck_name(&row->segment);
	row->slowest = fab_machine_node_name(o->m, result->slowest_node, row->name,
					     sizeof(row->name));
	row->within_target = within_target(o, result);
	row->verified = o->was_verified ? result->is_sound : FAB_UNKNOWN;
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
	bootplan_failover_rows_fini(&row->grown);
}

/* For people: the segments of the largest batch. */
static void print_segments(struct fab_report *r, const struct bootplan_outcome *o,
			   struct bootplan_segments *s)
{
	fab_report_table_begin(r, "segments", "Path segments", bootplan_segment_columns,
			       bootplan_segment_n_columns);
	for (size_t i = 0; i < o->results.n; i++) {
		const struct bootplan_result *result = &o->results.v[i];

		if (result->batch != &o->batches[o->n_batches - 1] ||
		    (i && result->algorithm == result[-1].algorithm))
			continue; /* or the same by another model */
		bootplan_segments_of(o->m, result, s);
		for (uint32_t k = 0; k < s->n; k++)
			fab_report_record(r, &s->v[k]);
	}
	fab_report_table_end(r);
}

/* What is read first: how long, who is last and why. */
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
	const struct bootplan_result *best = bootplan_best(o);
	uint32_t at = best->share.bottleneck;
	char slowest[NAME_BYTES], rack[NAME_BYTES];
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
		fab_report_text(r, "rates", o->is_signalling ? "signalling" : "data");
	fab_report_field(r, &fields[0], (union fab_cell){.u = o->image_bytes});
	fab_report_text(r, "boot_seconds_cover", bootplan_time_covers(o));
	fab_report_field(r, &fields[1],
			 (union fab_cell){.real = o->target_seconds ? o->target_seconds
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
		o->m, &o->batches[o->n_batches - 1], o->transfer, o->target_seconds);

	fab_report_field(r, &fields[0], (union fab_cell){.u = needed.n});
	fab_report_field(r, &fields[1], (union fab_cell){.u = needed.n_new});
	fab_report_field(r, &fields[2], (union fab_cell){.u = !needed.is_estimate});
}

/* What to buy: servers for the target, and the segments worth raising. */
static void print_advice(struct fab_report *r, const struct bootplan_outcome *o)
{
	static const struct fab_column columns[] = {
		{"segment", FAB_TEXT, "kinds of segments, all of them twice as fast", 0},
		{"bandwidth_mbps", FAB_REAL, "of the slowest node by the best mapping",
		 FAB_COL_MBPS},
		{"boot_seconds", FAB_REAL, "that it takes then", FAB_COL_SECONDS},
	};
	if (o->target_seconds > 0)
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

int bootplan_report(FILE *out, const struct fab_report_options *options,
		    const struct bootplan_outcome *o, struct fab_err *err)
{
	struct fab_report *r = fab_cli_begin_report(out, options, "fabric-bootplan",
						    "results", o->m->fabric);
	struct bootplan_segments *s = FAB_NEW0(1, struct bootplan_segments);
	struct bootplan_row *row = FAB_NEW0(1, struct bootplan_row);

	fab_cli_answer_shard(r, o->sharding);
	bootplan_answer(r, o);
	bootplan_answer_exported(r, &o->exported);
	fab_cli_report_shard(r, o->sharding);
	if (!o->m->fabric && options->format == FAB_FORMAT_JSON)
		fab_report_text(r, "fabric", NULL);
	print_answers(r, o, s);
	bootplan_report_exported(r, &o->exported);
	print_advice(r, o);
	print_methods(r, o);
	fab_report_table_begin(r, "results", "Mappings", bootplan_columns,
			       bootplan_n_columns);
	for (size_t i = 0; i < o->results.n; i++) {
		bootplan_row_init(row, o, &o->results.v[i]);
		fab_report_record(r, row);
		bootplan_row_fini(row);
	}
	fab_report_table_end(r);
	if (options->format == FAB_FORMAT_TABLE) {
		if (o->failovers.n)
			bootplan_print_failover(r, o);
		print_segments(r, o, s);
	}
	free(s);
	free(row);
	return fab_report_finish(r, err);
}

int bootplan_write_mapping(FILE *out, const struct fab_machine *m,
			   const struct fab_batch *batch, const char *algorithm,
			   const uint32_t *interface_of, struct fab_err *err)
{
	char node[NAME_BYTES], interface[NAME_BYTES];
	int rc = 0;

	for (uint32_t i = 0; i < batch->n && !rc; i++) {
		json_t *object = json_object();

		fab_machine_node_name(m, batch->node[i], node, sizeof(node));
		fab_machine_interface_name(m, interface_of[batch->node[i]], interface,
					   sizeof(interface));
		if (!object ||
		    json_object_set_new(object, "algorithm", fab_json_text(algorithm)) ||
		    json_object_set_new(object, "node", fab_json_text(node)) ||
		    json_object_set_new(object, "server", fab_json_text(interface)))
			fab_oom(sizeof(void *));
		rc = fab_jsonl_write(out, object, err);
	}
	return rc;
}
