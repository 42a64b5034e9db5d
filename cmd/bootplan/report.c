/* SPDX-License-Identifier: BSD-2-Clause */
/* The report of fabric-bootplan: the answer in words, then its fields and tables. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "bootplan.h"

enum { SHOWN = 10 };

/* ---- rows ---- */

static void segments_of(const struct fab_machine *m, struct fab_arena *a,
			const struct fab_plan_result *result,
			struct bootplan_segments *out)
{
	const struct fab_share *share = &result->share;
	char name[FAB_MACHINE_NAME_BYTES];

	*out = (struct bootplan_segments){.n = share->n_segments};
	for (uint32_t i = 0; i < out->n; i++) {
		const struct fab_share_segment *s = &share->segment[i];
		struct bootplan_segment *own = &out->v[i];

		*own = (struct bootplan_segment){
			.algorithm = result->algorithm,
			.name = fab_arena_strdup(
				a, fab_share_segment_name(m, s, name, sizeof(name))),
			.capacity_mbps = s->capacity_mbps,
			.max_sharers = s->max_sharers,
			.share_mbps = s->share_mbps,
			.tightest = fab_arena_strdup(
				a, fab_machine_vertex_name(m, s->vertex, name)),
		};
		if (share->bottleneck != FAB_NONE &&
		    s->share_mbps <= share->bandwidth_mbps * (1 + 1e-9))
			out->bottleneck =
				out->bottleneck
					? fab_arena_format(a, "%s+%s", out->bottleneck,
							   own->name)
					: own->name;
	}
}

/* A server that has more nodes than before a change. */
struct grown {
	const char *algorithm, *server;
	uint32_t moved_nodes, nodes_before, nodes;
};

/* In JSON these are `failover` of a result, without the first two. */
#define AT(member) FAB_AT(struct grown, member)
static const struct fab_column failover_columns[] = {
	{"algorithm", FAB_TEXT, "rule that gave the servers", 0, AT(algorithm)},
	{"moved_nodes", FAB_UINT, "nodes of the batch with another server than before", 0,
	 AT(moved_nodes)},
	{"server", FAB_TEXT, "a server that takes over", 0, AT(server)},
	{"nodes_before", FAB_UINT, "that it served before", 0, AT(nodes_before)},
	{"nodes", FAB_UINT, "that it serves now", 0, AT(nodes)},
};
#undef AT

static struct grown *grown_of(struct fab_arena *a, const struct bootplan_outcome *o,
			      const struct fab_plan_result *result)
{
	const struct fab_failover *f = result->failover;
	struct grown *grown = FAB_ARENA_NEW0(a, f ? f->n : 0, struct grown);
	char name[FAB_MACHINE_NAME_BYTES];

	for (uint32_t i = 0; f && i < f->n; i++)
		grown[i] = (struct grown){
			result->algorithm,
			fab_arena_strdup(a, fab_machine_server_name(
						    o->m, f->grown[i].server, name)),
			f->n_moved, f->grown[i].nodes_before, f->grown[i].nodes};
	return grown;
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

void bootplan_row_init(struct bootplan_row *row, struct fab_arena *a,
		       const struct bootplan_outcome *o,
		       const struct fab_plan_result *result)
{
	double target = o->p->target_seconds;
	bool has_retries = result->is_max_min;
	uint32_t at = result->share.bottleneck;

	segments_of(o->m, a, result, &row->segment);
	row->a = *result;
	row->model = model_name(result);
	row->shard = fab_cli_shard_text(&o->p->shard);
	row->batch = result->batch->text;
	row->nodes = result->batch->n;
	row->bottleneck = row->segment.bottleneck;
	row->slowest = fab_machine_node_name(o->m, result->slowest_node, row->name);
	row->within_target = target > 0 ? result->boot_seconds <= target : FAB_UNKNOWN;
	row->verified = o->p->run.verify ? result->is_sound : FAB_UNKNOWN;
	row->retries = has_retries ? (double)result->n_retries : (double)NAN;
	row->unserved_nodes = result->n_unserved;
	row->failed_nodes = has_retries ? result->n_failed : (double)NAN;
	row->moved_nodes = result->failover ? result->failover->n_moved : (double)NAN;
	row->max_sharers =
		at == FAB_NONE ? (double)NAN : result->share.segment[at].max_sharers;
	row->failover =
		(struct fab_rows){failover_columns + 2, FAB_COUNT(failover_columns) - 2,
				  grown_of(a, o, result), sizeof(struct grown),
				  result->failover ? result->failover->n : 0};
	row->segments = (struct fab_rows){bootplan_segment_columns + 1,
					  bootplan_segment_n_columns - 1, row->segment.v,
					  sizeof(*row->segment.v), row->segment.n};
}

/* ---- the answer ---- */

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* How long a mapping takes: "0.48 s", "for ever". */
static const char *time_text(struct fab_arena *a, const struct fab_plan_result *x)
{
	char time[FAB_HUMAN_BYTES];

	return isfinite(x->boot_seconds)
		       ? fab_arena_strdup(a, fab_human_seconds(x->boot_seconds, time))
		       : "for ever";
}

/* Other mappings of the batch by the same model, first those that need as long, then the
 * others, equal times together: "; scda and bcda need 0.48 s"; then those that leave
 * nodes without a server. */
static const char *others_text(struct fab_arena *a, const struct bootplan_outcome *o,
			       const struct fab_plan_result *best)
{
	const char **time = FAB_ARENA_NEW0(a, o->results.of.n, const char *);
	const char *text = "", *own = time_text(a, best);

	for (size_t i = 0; i < o->results.of.n; i++) {
		const struct fab_plan_result *x = &o->results.of.v[i];

		if (x != best && x->batch == best->batch && !x->n_unserved &&
		    x->is_max_min == best->is_max_min)
			time[i] = time_text(a, x);
	}
	for (int as_long = 1; as_long >= 0; as_long--)
		for (size_t i = 0; i < o->results.of.n; i++) {
			const char *names = "", *same = time[i];
			uint32_t n = 0;

			if (!same || (as_long && strcmp(same, own) != 0))
				continue;
			for (size_t k = i; k < o->results.of.n; k++)
				if (time[k] && !strcmp(time[k], same)) {
					names = fab_arena_format(
						a, "%s%s%s", names, n++ ? " and " : "",
						o->results.of.v[k].algorithm);
					time[k] = NULL;
				}
			text = fab_arena_format(a, "%s; %s need%s %s", text, names,
						n == 1 ? "s" : "",
						as_long ? "as long" : same);
		}
	for (size_t i = 0; i < o->results.of.n; i++) {
		const struct fab_plan_result *x = &o->results.of.v[i];

		if (x != best && x->batch == best->batch && x->n_unserved &&
		    x->is_max_min == best->is_max_min)
			text = fab_arena_format(
				a, "%s; %s leaves %u node%s without a server", text,
				x->algorithm, x->n_unserved, plural(x->n_unserved));
	}
	return text;
}

/* "image of 50 MB", "images of 50 MB to 4 GB". */
static const char *image_text(struct fab_arena *a, const struct bootplan_outcome *o)
{
	char least[FAB_HUMAN_BYTES], most[FAB_HUMAN_BYTES];

	fab_human_bytes(o->p->transfer.image_bytes, most);
	if (!o->m->image_part)
		return fab_arena_format(a, "image of %s", most);
	return fab_arena_format(a, "images of %s to %s",
				fab_human_bytes(o->least_image, least), most);
}

/* Names of segments that are raised together, with + between. */
static const char *raised_text(struct fab_arena *a, const struct bootplan_outcome *o,
			       const struct fab_advice *x)
{
	const char *names = "";

	for (uint32_t l = 0; l < FAB_MACHINE_LEVELS_MAX + FAB_N_LIMITS; l++)
		if (x->levels >> l & 1)
			names = fab_arena_format(
				a, "%s%s%s", names, *names ? "+" : "",
				l < FAB_MACHINE_LEVELS_MAX
					? o->m->level[l].segment
					: fab_limit_name((enum fab_limit)(
						  l - FAB_MACHINE_LEVELS_MAX)));
	return names;
}

/* The target, and the servers that it takes. */
static void say_target(struct fab_report *r, struct fab_arena *a,
		       const struct bootplan_outcome *o,
		       const struct fab_plan_result *best)
{
	const struct fab_servers_needed needed = fab_advice_servers(
		o->m, best->batch, o->plan.transfer, o->p->target_seconds);
	const struct fab_limits *limits = &o->m->limits;
	const struct fab_transfer_options *options = o->plan.transfer;
	bool is_late = limits->connections || options->stagger_seconds > 0 ||
		       options->timeout_seconds > 0;
	const char *about = !needed.is_estimate	      ? ""
			    : o->p->limits.most_links ? "about "
			    : needed.n_least < needed.n
				    ? fab_arena_format(a, "%u to ", needed.n_least)
				    : "";
	char target[FAB_HUMAN_BYTES], time[FAB_HUMAN_BYTES];
	const char *raised = "";

	fab_human_seconds(o->p->target_seconds, target);
	if (o->n_advice && o->advice[0].seconds <= o->p->target_seconds)
		raised = fab_arena_format(
			a, "; with %s twice as fast the best mapping takes %s",
			raised_text(a, o, &o->advice[0]),
			fab_human_seconds(o->advice[0].seconds, time));
	if (best->boot_seconds <= o->p->target_seconds)
		fab_report_answer(r, FAB_TONE_GOOD, "That is within the target of %s.",
				  target);
	else if (needed.n_new)
		fab_report_answer(
			r, FAB_TONE_BAD,
			"That misses the target of %s; it takes %s%u servers by equal shares, %s%u more than the %u that are up.",
			target, about, needed.n,
			needed.n_least < needed.n ? "at most " : "", needed.n_new,
			needed.n_up);
	else if (needed.n && o->problem.timed && is_late)
		fab_report_answer(
			r, FAB_TONE_BAD,
			"That misses the target of %s; %s%u of the %u servers would keep it by equal shares, if no node started late, waited or gave up.",
			target, about, needed.n, needed.n_up);
	else if (needed.n && o->p->limits.most_links)
		fab_report_answer(
			r, FAB_TONE_BAD,
			"That misses the target of %s; %u of the %u servers would keep it by equal shares, if hashed links were one pipe.",
			target, needed.n, needed.n_up);
	else if (needed.n)
		fab_report_answer(
			r, FAB_TONE_BAD,
			"That misses the target of %s; the best mapping would keep it with %s%u of the %u servers.",
			target, about, needed.n, needed.n_up);
	else if (needed.is_unknown)
		fab_report_answer(
			r, FAB_TONE_BAD,
			"That misses the target of %s; whether more such servers would keep it is not known for images of several sizes%s.",
			target, raised);
	else
		fab_report_answer(
			r, FAB_TONE_BAD,
			"That misses the target of %s, and by equal shares no number of such servers where they are now would keep it%s.",
			target, raised);
}

static void answer(struct fab_report *r, struct fab_arena *a,
		   const struct bootplan_outcome *o, struct bootplan_segments *s)
{
	const struct fab_plan_result *best = bootplan_best(o);
	const char *others = others_text(a, o, best), *reason = "";
	const char *of = o->n_batches > 1 ? " (the largest batch)" : "";
	char nodes[FAB_HUMAN_BYTES], time[FAB_HUMAN_BYTES], name[FAB_MACHINE_NAME_BYTES];
	size_t n_wrong = 0;

	fab_human_count(best->batch->n, nodes);
	if (best->share.bottleneck != FAB_NONE) {
		const struct fab_share_segment *segment =
			&best->share.segment[best->share.bottleneck];
		bool is_joint = strchr(s->bottleneck, '+') != NULL;

		reason = fab_arena_format(
			a,
			"; segment%s %s hold%s them back (%u node%s on the tightest, %s each)",
			is_joint ? "s" : "", s->bottleneck, is_joint ? "" : "s",
			segment->max_sharers, plural(segment->max_sharers),
			fab_human_mbps(segment->share_mbps, time));
	}
	if (best->n_unserved)
		fab_report_answer(
			r, FAB_TONE_BAD,
			"%s leaves %u of %u nodes without a server, such as %s%s; keep gives them one.",
			best->algorithm, best->n_unserved, best->batch->n,
			fab_machine_node_name(o->m, best->slowest_node, name), others);
	else if (isfinite(best->boot_seconds))
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"%u server%s boot%s %s node%s%s in %s with %s (%s, %s only)%s%s.",
			best->n_servers, plural(best->n_servers),
			best->n_servers == 1 ? "s" : "", nodes, plural(best->batch->n),
			of, time_text(a, best), best->algorithm, image_text(a, o),
			time_covers(o), reason, others);
	else
		fab_report_answer(
			r, FAB_TONE_BAD, "%u of %s nodes%s never boot, even with %s%s%s.",
			best->n_failed, nodes, of, best->algorithm, reason, others);
	if (o->p->target_seconds > 0)
		say_target(r, a, o, best);
	for (size_t i = 0; i < o->results.of.n; i++)
		n_wrong += !o->results.of.v[i].is_sound;
	if (o->p->run.verify && (n_wrong || o->has_broken_tree))
		fab_report_answer(
			r, FAB_TONE_BAD,
			"--verify found %zu wrong results%s: do not use them.", n_wrong,
			o->has_broken_tree ? " and broken multicast trees" : "");
}

/* ---- fields and tables ---- */

/* Of the largest batch, mappings side by side: what moves, and what that gives. */
static void print_failover(struct fab_report *r, struct fab_arena *a,
			   const struct bootplan_outcome *o)
{
	static const struct fab_column fields[] = {
		{"algorithm", FAB_TEXT, "rule that gave the servers", 0},
		{"model", FAB_TEXT, "how nodes share a segment", 0},
		{"moved_nodes", FAB_UINT, "nodes with another server than before", 0},
		{"seconds_before", FAB_REAL, "until all had booted", FAB_COL_SECONDS},
		{"boot_seconds", FAB_REAL, "until all have booted now", FAB_COL_SECONDS},
	};

	FAB_TABLE_BEGIN(r, "changes", "Before and now", fields);
	for (size_t i = 0; i < o->results.of.n; i++) {
		const struct fab_plan_result *x = &o->results.of.v[i];

		if (x->batch == o->largest && x->failover)
			fab_report_row(r, (const union fab_cell[]){
						  {.text = x->algorithm},
						  {.text = model_name(x)},
						  {.u = x->failover->n_moved},
						  {.real = x->seconds_before},
						  {.real = x->boot_seconds},
					  });
	}
	fab_report_table_end(r);
	FAB_TABLE_BEGIN(r, "failover", "Servers that take over most", failover_columns);
	for (size_t i = 0; i < o->results.of.n; i++) {
		const struct fab_plan_result *x = &o->results.of.v[i];
		const struct grown *grown = grown_of(a, o, x);

		if (x->batch != o->largest || !x->failover ||
		    (i && x->failover == x[-1].failover))
			continue; /* or listed with the other model */
		for (uint32_t k = 0; k < x->failover->n && k < SHOWN; k++)
			fab_report_record(r, &grown[k]);
	}
	fab_report_table_end(r);
}

/* Fields that are read first: time, last node and reason. */
static void print_answers(struct fab_report *r, const struct bootplan_outcome *o,
			  const struct bootplan_segments *s)
{
	const struct fab_plan_result *best = bootplan_best(o);
	uint32_t at = best->share.bottleneck;
	char slowest[FAB_MACHINE_NAME_BYTES], rack[FAB_MACHINE_NAME_BYTES];
	uint32_t vertex = o->m->node_vertex[best->slowest_node];
	double target = o->p->target_seconds;

	if (o->m->parent[vertex] != FAB_NONE)
		vertex = o->m->parent[vertex];
	fab_report_text(r, "machine", o->m->source);
	fab_report_uint(r, "machine_nodes", o->m->n_nodes);
	fab_report_uint(r, "machine_servers", o->m->n_servers);
	if (o->m->n_unnamed)
		fab_report_uint(r, "unnamed_adapters", o->m->n_unnamed);
	if (o->m->fabric)
		fab_report_text(r, "rates", o->p->rate ? "signalling" : "data");
	fab_report_uint_as(r, "image_bytes", FAB_COL_BYTES, o->p->transfer.image_bytes);
	fab_report_text(r, "boot_seconds_cover", time_covers(o));
	fab_report_field(r,
			 &(struct fab_column){"target_seconds", FAB_NUMBER, NULL,
					      FAB_COL_EXTRA | FAB_COL_SECONDS},
			 (union fab_cell){.real = target > 0 ? target : (double)NAN});
	fab_report_text(r, "best.algorithm", best->algorithm);
	fab_report_real(r, "best.boot_seconds", FAB_COL_SECONDS, best->boot_seconds);
	fab_report_text(r, "best.slowest_node",
			fab_machine_node_name(o->m, best->slowest_node, slowest));
	fab_report_text(r, "best.slowest_unit",
			fab_machine_vertex_name(o->m, vertex, rack));
	fab_report_text(r, "best.bottleneck", s->bottleneck);
	fab_report_text(r, "best.tightest", at == FAB_NONE ? NULL : s->v[at].tightest);
}

/* Servers for the target, the segments worth raising, and other methods. */
static void print_advice(struct fab_report *r, struct fab_arena *a,
			 const struct bootplan_outcome *o)
{
	static const struct fab_column columns[] = {
		{"segment", FAB_TEXT, "kinds of segments, all of them twice as fast", 0},
		{"bandwidth_mbps", FAB_REAL, "of the slowest node by the best mapping",
		 FAB_COL_MBPS},
		{"boot_seconds", FAB_REAL, "that it takes then", FAB_COL_SECONDS},
	};
#define AT(member) FAB_AT(struct bootplan_method, member)
	static const struct fab_column method_columns[] = {
		{"way", FAB_TEXT, "how the image gets to all nodes", 0, AT(method)},
		{"algorithm", FAB_TEXT, "that made the multicast trees", 0,
		 AT(algorithm)},
		{"trees", FAB_UINT, "multicast trees at once", FAB_COL_NULL_ZERO,
		 AT(n_trees)},
		{"servers", FAB_UINT, "that send", 0, AT(n_servers)},
		{"boot_seconds", FAB_REAL, "that it takes", FAB_COL_SECONDS, AT(seconds)},
		{"simulated_seconds", FAB_REAL, "by --set simulate, else null",
		 FAB_COL_SECONDS, AT(simulated_seconds)},
		{"times_faster", FAB_REAL, "than the best mapping", 0, AT(times_faster)},
	};
#undef AT
	double best = bootplan_best(o)->boot_seconds;

	if (o->p->target_seconds > 0) {
		struct fab_servers_needed needed = fab_advice_servers(
			o->m, o->largest, o->plan.transfer, o->p->target_seconds);

		fab_report_uint_as(r, "servers_needed", FAB_COL_NULL_ZERO, needed.n);
		fab_report_uint_as(r, "servers_needed_least", FAB_COL_NULL_ZERO,
				   needed.n_least);
		fab_report_uint(r, "servers_to_buy", needed.n_new);
		fab_report_field(r,
				 &(struct fab_column){"servers_needed_exact", FAB_BOOL},
				 (union fab_cell){.u = !needed.is_estimate});
	}
	FAB_TABLE_BEGIN(r, "advice", "With the best mapping and twice the capacity",
			columns);
	for (uint32_t i = 0; i < o->n_advice; i++) {
		const struct fab_advice *x = &o->advice[i];

		fab_report_row(r, (const union fab_cell[]){{.text = raised_text(a, o, x)},
							   {.real = x->bandwidth_mbps},
							   {.real = x->seconds}});
	}
	fab_report_table_end(r);
	FAB_TABLE_BEGIN(r, "alternatives", "Other methods to distribute", method_columns);
	for (size_t i = 0; i < o->methods.n; i++) {
		struct bootplan_method method = o->methods.v[i];

		method.times_faster =
			method.seconds > 0 ? best / method.seconds : (double)NAN;
		fab_report_record(r, &method);
	}
	fab_report_table_end(r);
}

/* Images of --image, and that of nodes in no group. */
static void print_images(struct fab_report *r, const struct bootplan_outcome *o)
{
	static const struct fab_column columns[] = {
		{"image_group", FAB_TEXT, "nodes that it is for; null: those in no group",
		 0},
		{"nodes", FAB_UINT, "of the largest batch that load it", 0},
		{"image_bytes", FAB_UINT, "its size", FAB_COL_BYTES},
		{"kernel", FAB_TEXT, "kernel of --image, else of --kernel", 0},
		{"boot_seconds", FAB_REAL,
		 "until the last of them has it; null by equal shares", FAB_COL_SECONDS},
	};

	uint32_t first = o->images ? o->image_of[o->largest->node[0]] : 0, n_other = 0;

	for (uint32_t k = 0; k < o->largest->n && o->images; k++)
		n_other += o->image_of[o->largest->node[k]] != first;
	if (!n_other)
		return;
	FAB_TABLE_BEGIN(r, "images", "Images", columns);
	for (uint32_t i = 0; i <= o->n_images; i++) {
		uint32_t image = i < o->n_images ? i : FAB_NONE, n = 0;
		const struct fab_image *x = i < o->n_images ? &o->images[i] : NULL;

		FAB_EACH_NODE(o->largest, node)
			n += o->image_of[node] == image;
		if (n)
			fab_report_row(
				r, (const union fab_cell[]){
					   {.text = x ? x->nodes : NULL},
					   {.u = n},
					   {.u = x ? x->bytes : o->rest_bytes},
					   {.text = x && x->kernel
							    ? x->kernel
							    : o->p->export.site.kernel},
					   {.real = o->image_seconds ? o->image_seconds[i]
								     : (double)NAN}});
	}
	fab_report_table_end(r);
}

/* The best mapping by each service. */
static void print_services(struct fab_report *r, const struct bootplan_outcome *o)
{
	static const struct fab_column columns[] = {
		{"service", FAB_TEXT, "that nodes load from", 0},
		{"files", FAB_UINT, "that the image is", 0},
		{"window_bytes", FAB_UINT, "under way in one transfer", FAB_COL_BYTES},
		{"efficiency", FAB_REAL, "part of the bytes on the wire that is image",
		 0},
		{"limit_mbps", FAB_REAL, "of one transfer: a window each round trip",
		 FAB_COL_MBPS},
		{"bandwidth_mbps", FAB_REAL, "of the slowest node", FAB_COL_MBPS},
		{"is_limited", FAB_BOOL, "the window holds it back, not the network", 0},
		{"boot_seconds", FAB_REAL, "that it takes", FAB_COL_SECONDS},
	};

	if (!(o->p->round_trip_seconds > 0) || bootplan_best(o)->n_unserved)
		return;
	FAB_TABLE_BEGIN(r, "services", "The best mapping by each service", columns);
	for (size_t i = 0; i < fab_n_services; i++) {
		const struct fab_service *s = &fab_services[i];
		struct fab_service_time t =
			fab_service_time(s, &bootplan_best(o)->share, o->plan.transfer,
					 o->p->efficiency, o->p->round_trip_seconds);

		fab_report_row(r, (const union fab_cell[]){
					  {.text = s->name},
					  {.u = t.n_files},
					  {.u = s->window_bytes},
					  {.real = (double)s->payload / s->wire},
					  {.real = t.limit_mbps},
					  {.real = t.bandwidth_mbps},
					  {.u = t.is_limited},
					  {.real = t.seconds}});
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

	segments_of(o->m, w->arena, bootplan_best(o), s);
	fab_cli_answer_shard(r, &o->p->shard);
	answer(r, w->arena, o, s);
	bootplan_answer_costs(r, w->arena, o);
	bootplan_answer_exported(r, o);
	bootplan_answer_previous(r, o);
	fab_cli_report_shard(r, &o->p->shard);
	if (!o->m->fabric && format == FAB_FORMAT_JSON)
		fab_report_text(r, "fabric", NULL);
	print_answers(r, o, s);
	bootplan_report_exported(r, o);
	bootplan_report_previous(r, &o->previous);
	print_images(r, o);
	print_advice(r, w->arena, o);
	print_services(r, o);
	bootplan_report_costs(r, w->arena, o);
	fab_report_table_begin(r, "results", "Mappings", bootplan_columns,
			       bootplan_n_columns);
	for (size_t i = 0; i < o->results.of.n; i++) {
		FAB_AUTO(fab_arena_free) struct fab_arena a = FAB_ARENA_INIT;

		bootplan_row_init(row, &a, o, &o->results.of.v[i]);
		fab_report_record(r, row);
	}
	fab_report_table_end(r);
	if (format != FAB_FORMAT_TABLE)
		return;
	if (o->results.failovers.n)
		print_failover(r, w->arena, o);
	/* for people: the segments of the largest batch */
	fab_report_table_begin(r, "segments", "Path segments", bootplan_segment_columns,
			       bootplan_segment_n_columns);
	for (size_t i = 0; i < o->results.of.n; i++) {
		const struct fab_plan_result *x = &o->results.of.v[i];

		if (x->batch != o->largest || (i && x->algorithm == x[-1].algorithm))
			continue; /* or listed with the other model */
		segments_of(o->m, w->arena, x, s);
		for (uint32_t k = 0; k < s->n; k++)
			fab_report_record(r, &s->v[k]);
	}
	fab_report_table_end(r);
}

/* Images of a batch on each segment, sent[ports]: its cables carry parts by their rates,
 * as the model has it. */
static void spread_images(const struct fab_work *w, const uint32_t *interface_of,
			  double *sent)
{
	const struct bootplan_outcome *o = w->outcome;
	const struct fab_machine *m = o->m;
	const struct fab_fabric *f = w->f;
	uint32_t *down = FAB_ARENA_NEW0(w->arena, m->n_vertices, uint32_t);
	uint32_t *up = FAB_ARENA_NEW0(w->arena, m->n_vertices, uint32_t);
	double *whole = FAB_ARENA_NEW0(w->arena, m->n_vertices, double);

	FAB_EACH_NODE(o->largest, node) {
		struct fab_climb c = {.to = m->node_vertex[node]};

		if (interface_of[node] == FAB_NONE)
			continue;
		c.from = m->interface_vertex[interface_of[node]];
		while (fab_climb_next(&c, m))
			(c.is_up ? up : down)[c.at]++;
	}
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t p = 0; p < f->n_ports; p++) {
			uint32_t v = m->port_vertex[p], peer;
			double rate;

			if (v == FAB_NONE)
				continue;
			peer = fab_port_peer(f, p);
			rate = fab_cable_data_gbps(f, f->port_cable[p]);
			rate = rate > 0 ? rate : o->p->default_mbps / 1000;
			if (pass) {
				sent[p] = fmax(sent[p], up[v] * rate / whole[v]);
				sent[peer] = fmax(sent[peer], down[v] * rate / whole[v]);
			} else {
				whole[v] += rate;
			}
		}
}

void bootplan_draw(struct fab_drawing *d, const struct fab_work *w)
{
	const struct bootplan_outcome *o = w->outcome;
	const struct fab_machine *m = o->m;
	const struct fab_plan_result *best = bootplan_best(o);
	double *sent = FAB_ARENA_NEW0(w->arena, (size_t)w->f->n_ports + 1, double);
	uint32_t *serves = FAB_ARENA_NEW0(w->arena, m->n_interfaces, uint32_t);
	const uint32_t *interface_of = NULL;
	char name[FAB_MACHINE_NAME_BYTES];

	for (size_t i = 0; i < o->plan.n_choices; i++)
		if (!strcmp(o->plan.choices[i].name, best->algorithm))
			interface_of = o->interface_of[i];
	spread_images(w, interface_of, sent);
	fab_cli_draw_sent(
		d, w->f, sent, "images",
		fab_arena_format(
			w->arena,
			"Images that a cable carries, in its fuller direction, by %s, spread over the cables in parallel",
			best->algorithm));
	FAB_EACH_NODE(o->largest, node)
		if (interface_of[node] != FAB_NONE)
			serves[interface_of[node]]++;
	for (uint32_t i = 0; i < m->n_interfaces; i++) {
		bool is_down = m->server_is_down[m->interface_server[i]];

		fab_machine_interface_name(m, i, name);
		fab_drawing_mark(d, is_down ? FAB_TONE_BAD : FAB_TONE_PLAIN,
				 fab_arena_format(w->arena, "server %s%s, for %u node%s",
						  name, is_down ? ", down" : "",
						  serves[i], serves[i] == 1 ? "" : "s"));
		fab_drawing_mark_node(d, w->f->port_node[m->interface_port[i]]);
	}
}
