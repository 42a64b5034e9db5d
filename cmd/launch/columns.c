/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns of fabric-launch, verb by verb, with their metrics, and its settings. The
 * store, fabric-compare, the manual and the completions use these tables.
 */
#include <errno.h>
#include <string.h>

#include "base/num.h"
#include "launch.h"
#include "launch/advise.h"
#include "launch/detector.h"
#include "launch/locks.h"
#include "launch/mechanisms.h"

#define COLUMN(...) FAB_COLUMN_OF(struct launch_size_row, __VA_ARGS__)
const struct fab_column launch_size_columns[] = {
	COLUMN(layout, TEXT, "2.1 or 4.2", 0, NONE),
	COLUMN(opt, TEXT, "optimisations that are on, or none", 0, NONE),
	COLUMN(ppn, UINT, "processes a node", FAB_COL_EXTRA, PLAIN),
	COLUMN(keys, UINT, "keys a process", FAB_COL_EXTRA, PLAIN),
	COLUMN(value_bytes, UINT, "values of a node, as put, B", FAB_COL_EXTRA, PLAIN),
	COLUMN(bytes, UINT, "contribution of a node, of size the first one, B", 0, PLAIN),
	COLUMN(overhead, REAL, "bytes / value_bytes", 0, LESS),
	COLUMN(factor, REAL, "size in layout 2.1 without optimisations / bytes", 0, MORE),
	{"key_table", FAB_BOOL, "names of keys are in a table", FAB_COL_EXTRA,
	 FAB_AT(struct launch_size_row, table)},
	COLUMN(job_bytes, NUMBER, "all nodes together, B; null: without --nodes",
	       FAB_COL_EXTRA, LESS),
	COLUMN(verified, BOOL,
	       "the bytes were written and counted; null: more than 16 MiB",
	       FAB_COL_EXTRA, NONE),
};
#undef COLUMN
const size_t launch_size_n_columns = FAB_COUNT(launch_size_columns);

#define COLUMN(...) FAB_COLUMN_OF(struct fab_fence_row, __VA_ARGS__)
const struct fab_column launch_fence_columns[] = {
	COLUMN(algorithm, TEXT, "algorithm of the fence", 0, NONE),
	COLUMN(stands_for, TEXT, "the algorithm that runs here; null: itself", 0, NONE),
	COLUMN(why, TEXT, "of auto: the reason", FAB_COL_EXTRA, NONE),
	COLUMN(order, TEXT, "how nodes are numbered", 0, NONE),
	COLUMN(nodes, UINT, "nodes of the job", 0, PLAIN),
	COLUMN(bytes, UINT, "contribution of a node, B", 0, PLAIN),
	COLUMN(steps, UINT, "steps", 0, LESS),
	COLUMN(model_us, REAL, "closed form, without contention, us", 0, LESS),
	COLUMN(contended_us, REAL,
	       "model_us if each step waits for its fullest cable, us", 0, LESS),
	COLUMN(simulated_us, REAL,
	       "simulated on the tables, us; null: not simulated, or too long", 0, LESS),
	COLUMN(daemons_us, REAL,
	       "contended_us with daemon_us for each message in place of o_us, us", 0,
	       LESS),
	COLUMN(max_link_load, UINT, "most messages of a step on a direction of a cable",
	       0, LESS),
	{"max_load_between", FAB_UINT, "max_link_load of cables between switches",
	 FAB_COL_EXTRA, FAB_AT(struct fab_fence_row, max_between), FAB_METRIC_LESS},
	{"contention", FAB_REAL, "time on cables / time without contention", 0,
	 FAB_AT(struct fab_fence_row, factor), FAB_METRIC_LESS},
	COLUMN(loads, TEXT, "max_link_load of each step", FAB_COL_EXTRA, NONE),
	COLUMN(by_symmetry, BOOL, "steps that repeat were not simulated again",
	       FAB_COL_EXTRA, NONE),
	COLUMN(shard, TEXT, "part of the cases, see --shard; null: all of them",
	       FAB_COL_EXTRA, NONE),
};
#undef COLUMN
const size_t launch_fence_n_columns = FAB_COUNT(launch_fence_columns);

#define COLUMN(...) FAB_COLUMN_OF(struct launch_stages_row, __VA_ARGS__)
const struct fab_column launch_stages_columns[] = {
	COLUMN(interface, TEXT, "pmi1, pmi2 or pmix", 0, NONE),
	COLUMN(wireup, TEXT, "how processes obtain addresses of others", 0, NONE),
	COLUMN(stage_in, TEXT, "how files reach the nodes", 0, NONE),
	COLUMN(fence, TEXT, "fence of PMIx; null: no fence, or a tree of PMI", 0, NONE),
	COLUMN(nodes, UINT, "nodes of the job", FAB_COL_EXTRA, PLAIN),
	COLUMN(ppn, UINT, "processes a node", FAB_COL_EXTRA, PLAIN),
	COLUMN(total_s, REAL, "until the last process is ready", FAB_COL_SECONDS, LESS),
	COLUMN(saved_s, REAL, "saving against the first row, s; negative: longer",
	       FAB_COL_SECONDS, MORE),
	COLUMN(fence_us, REAL, "the fence alone, us; null: no fence", FAB_COL_EXTRA,
	       LESS),
	COLUMN(barrier_us, REAL, "the barrier alone, us; null: no barrier", FAB_COL_EXTRA,
	       LESS),
	COLUMN(bytes, UINT,
	       "contribution of a node to the exchange, B; 0: nothing is exchanged",
	       FAB_COL_EXTRA, PLAIN),
	COLUMN(memory_bytes, REAL,
	       "memory of a node for all contributions, of PMI-1 once a process, B",
	       FAB_COL_EXTRA, LESS),
	COLUMN(critical_path, TEXT,
	       "critical path of the last node, in the order of time", FAB_COL_EXTRA,
	       NONE),
	COLUMN(goal_met, BOOL, "it stays within --set goal", 0, MORE),
	COLUMN(goal_fs_MBps, REAL,
	       "least rate of the file system for that, MB/s; null: no rate is enough", 0,
	       LESS),
	COLUMN(goal_fs_ops, REAL,
	       "least metadata operations a second for that; null: no number is enough",
	       FAB_COL_EXTRA, LESS),
	COLUMN(least_s, REAL, "total_s with an endless file system",
	       FAB_COL_SECONDS | FAB_COL_EXTRA, LESS),
};
#undef COLUMN
const size_t launch_stages_n_columns = FAB_COUNT(launch_stages_columns);

#define COLUMN(...) FAB_COLUMN_OF(struct launch_modex_row, __VA_ARGS__)
const struct fab_column launch_modex_columns[] = {
	COLUMN(method, TEXT, "direct: each asks; full: a fence brings all", 0, NONE),
	COLUMN(fence, TEXT, "that fence", 0, NONE),
	COLUMN(degree, REAL, "peers of a process, the mean", 0, PLAIN),
	COLUMN(total_us, REAL, "until the last process has its data, us", 0, LESS),
	COLUMN(mean_us, REAL, "of a process, us", FAB_COL_EXTRA, LESS),
	COLUMN(gets, NUMBER, "Gets of all processes", FAB_COL_EXTRA, PLAIN),
	COLUMN(local, NUMBER, "Gets for the own node", FAB_COL_EXTRA, PLAIN),
	COLUMN(requests, NUMBER, "requests between nodes", 0, LESS),
	COLUMN(shared, NUMBER, "Gets answered by what another process asked for",
	       FAB_COL_EXTRA, MORE),
	COLUMN(most_served, NUMBER, "requests of the server that has most", 0, LESS),
	COLUMN(longest_wait_us, REAL, "of a request, before it is served, us", 0, LESS),
	COLUMN(busy_share, REAL, "share of the time that server works", FAB_COL_EXTRA,
	       PLAIN),
	COLUMN(memory_bytes, REAL,
	       "memory of a node for all contributions, of PMI-1 once a process, B", 0,
	       LESS),
	COLUMN(memory_each_bytes, REAL, "memory_bytes with a copy for each process, B",
	       FAB_COL_EXTRA, LESS),
	{"model", FAB_BOOL, "by formula, not followed Get by Get", FAB_COL_EXTRA,
	 FAB_AT(struct launch_modex_row, is_model)},
};
#undef COLUMN
const size_t launch_modex_n_columns = FAB_COUNT(launch_modex_columns);

#define COLUMN(...) FAB_COLUMN_OF(struct fab_failure_row, __VA_ARGS__)
const struct fab_column launch_faults_columns[] = {
	COLUMN(placement, TEXT, "near, far, or worst of all", 0, NONE),
	COLUMN(nodes, UINT, "nodes of the job", FAB_COL_EXTRA, PLAIN),
	COLUMN(failures, UINT, "nodes that fail together", 0, PLAIN),
	COLUMN(first_s, REAL, "until a node knows of one", FAB_COL_SECONDS, LESS),
	COLUMN(stable_s, REAL, "until all know of all; null: some never do",
	       FAB_COL_SECONDS, LESS),
	COLUMN(repaired_s, REAL, "until each survivor is observed again", FAB_COL_SECONDS,
	       LESS),
	COLUMN(bound_s, REAL, "the bound for stable_s", FAB_COL_SECONDS, LESS),
	COLUMN(within, BOOL, "the bound holds", FAB_COL_BAD_IF_NO, NONE),
	COLUMN(proven, BOOL, "the bound is proven for this number of failures",
	       FAB_COL_EXTRA, NONE),
	COLUMN(news, UINT, "messages with news", 0, LESS),
	COLUMN(most_news, UINT, "most messages with news of one node", 0, LESS),
	COLUMN(placements, UINT, "placements that were followed", FAB_COL_EXTRA, PLAIN),
	COLUMN(mpd_parts, UINT, "parts of MPD's ring", 0, LESS),
	COLUMN(mpd_largest, UINT, "daemons of the largest part", FAB_COL_EXTRA, MORE),
};
#undef COLUMN
const size_t launch_faults_n_columns = FAB_COUNT(launch_faults_columns);

#define COLUMN(...) FAB_COLUMN_OF(struct fab_lock_cost, __VA_ARGS__)
const struct fab_column launch_store_columns[] = {
	COLUMN(lock, TEXT, "rwlock, n, 2n, mutex-flag or pointer", 0, NONE),
	COLUMN(ppn, UINT, "processes a node", 0, PLAIN),
	COLUMN(read_ns, REAL, "a read by the model, lock included, ns", 0, LESS),
	COLUMN(get_us, REAL, "a Get without a thread shift, by the model, us",
	       FAB_COL_EXTRA, LESS),
	COLUMN(shifted_get_us, REAL, "a Get that shifts threads first, by the model, us",
	       0, LESS),
	COLUMN(wait_us, REAL,
	       "wait of a writer among these readers, by the model, us; null: it starves",
	       0, LESS),
};
#undef COLUMN
const size_t launch_store_n_columns = FAB_COUNT(launch_store_columns);

#define COLUMN(...) FAB_COLUMN_OF(struct fab_launch_advice_row, __VA_ARGS__)
const struct fab_column launch_advise_columns[] = {
	COLUMN(setting, TEXT, "setting", 0, NONE),
	COLUMN(scope, TEXT, "job, or cluster: all jobs share it", 0, NONE),
	COLUMN(now, TEXT, "present value", 0, NONE),
	COLUMN(advised, TEXT, "best value here", 0, NONE),
	COLUMN(saved_s, REAL, "saving on top of the rows before it, s", FAB_COL_SECONDS,
	       MORE),
	COLUMN(saved_low_s, REAL,
	       "least saving over the possible values of an assumed constant, one at a time, s; negative: a cost",
	       FAB_COL_SECONDS, PLAIN),
	COLUMN(saved_high_s, REAL, "greatest saving over these, s", FAB_COL_SECONDS,
	       PLAIN),
	COLUMN(total_s, REAL, "the start with the changes up to this row, s",
	       FAB_COL_EXTRA | FAB_COL_SECONDS, LESS),
	COLUMN(verdict, TEXT,
	       "yes: it saves for all possible values of assumed constants; depends: for some it costs",
	       FAB_COL_EXTRA, NONE),
	{"alternative", FAB_BOOL, "in place of the row before it", FAB_COL_EXTRA,
	 FAB_AT(struct fab_launch_advice_row, is_alternative)},
	COLUMN(range_by, TEXT, "assumed constant that changes the saving most",
	       FAB_COL_EXTRA, NONE),
	COLUMN(how, TEXT, "where it is written, and what", FAB_COL_EXTRA, NONE),
	COLUMN(costs, TEXT, "costs", FAB_COL_EXTRA, NONE),
};
#undef COLUMN
const size_t launch_advise_n_columns = FAB_COUNT(launch_advise_columns);

#define COLUMN(...) FAB_COLUMN_OF(struct fab_mechanism, __VA_ARGS__)
const struct fab_column launch_mechanisms_columns[] = {
	COLUMN(topic, TEXT, "exchange, encoding, store, detection or manager", 0, NONE),
	{"mechanism", FAB_TEXT, "mechanism; of detection period and timeout", 0,
	 FAB_AT(struct fab_mechanism, name)},
	COLUMN(seconds, REAL,
	       "a start, of store a Get, of detection one failure, s; null: it cannot run this job",
	       FAB_COL_SECONDS, LESS),
	COLUMN(saved_s, REAL,
	       "seconds less than a start by PMIx as it is; null: not of this topic",
	       FAB_COL_SECONDS, MORE),
	COLUMN(bytes, NUMBER,
	       "contribution of a node to the exchange, B; null: not of this topic", 0,
	       LESS),
	COLUMN(memory_bytes, NUMBER, "memory of a node, B; of store its locks", 0, LESS),
	COLUMN(risk, TEXT, "risk; null: none is known", 0, NONE),
	COLUMN(what, TEXT, "meaning", FAB_COL_EXTRA, NONE),
};
#undef COLUMN
const size_t launch_mechanisms_n_columns = FAB_COUNT(launch_mechanisms_columns);

#define COLUMN(...) FAB_COLUMN_OF(struct fab_fit_start, __VA_ARGS__)
const struct fab_column launch_calibrate_columns[] = {
	{"start", FAB_TEXT, "an observed start", 0, FAB_AT(struct fab_fit_start, text)},
	{"processes", FAB_UINT, "processes of the job", FAB_COL_EXTRA,
	 FAB_AT(struct fab_fit_start, ranks)},
	{"nodes", FAB_UINT, "nodes of the job", FAB_COL_EXTRA,
	 FAB_AT(struct fab_fit_start, nodes)},
	COLUMN(measured_s, REAL, "seconds that it took", FAB_COL_SECONDS, PLAIN),
	{"predicted_s", FAB_REAL, "seconds by the constants before", FAB_COL_SECONDS,
	 FAB_AT(struct fab_fit_start, before_s)},
	COLUMN(low_s, REAL,
	       "least of it over the possible values of an assumed constant, one at a time, s",
	       FAB_COL_SECONDS, PLAIN),
	COLUMN(high_s, REAL, "greatest of it, s", FAB_COL_SECONDS, PLAIN),
	{"fitted_s", FAB_REAL, "seconds by the fitted constants", FAB_COL_SECONDS,
	 FAB_AT(struct fab_fit_start, after_s)},
	COLUMN(unexplained_s, REAL, "measured_s - fitted_s, s", FAB_COL_SECONDS, PLAIN),
	COLUMN(misfit, REAL, "fitted_s and measured_s, the greater by the other", 0,
	       LESS),
};
#undef COLUMN
const size_t launch_calibrate_n_columns = FAB_COUNT(launch_calibrate_columns);

int launch_take_numbers(struct fab_ids *out, const char *arg, const char *what,
			uint32_t most, struct fab_err *err)
{
	size_t len;

	out->of.n = 0;
	for (;; arg += len + 1) {
		uint64_t n;

		len = strcspn(arg, ",");
		if (!fab_parse_u64(arg, len, 1, most, &n))
			return fab_fail(err, EINVAL,
					"'%.*s' is no number of %s: expected 1 to %u",
					len < 60 ? (int)len : 60, arg, what, most);
		if (out->of.n == LAUNCH_LIST_MAX)
			return fab_fail(err, EINVAL, "more than %d numbers",
					LAUNCH_LIST_MAX);
		FAB_PUSH(&out->of, (uint32_t)n);
		if (!arg[len])
			return 0;
	}
}

static int take_failures(void *params, const char *arg, struct fab_err *err)
{
	return launch_take_numbers(&((struct launch_params *)params)->failures, arg,
				   "failures", FAB_DETECTOR_FAILURES_MAX, err);
}

/* A name begins with no digit: commas between numbers belong to axes:. */
static int take_order(void *params, const char *arg, struct fab_err *err)
{
	struct launch_params *p = params;
	struct fab_node_order order;
	int rc = 0;

	p->orders.n = 0;
	for (const char *at = arg; at && !rc;) {
		size_t len = strcspn(at, ",");
		char *text;

		while (at[len] && at[len + 1] >= '0' && at[len + 1] <= '9')
			len += 1 + strcspn(at + len + 1, ",");
		if (p->orders.n == LAUNCH_LIST_MAX)
			return fab_fail(err, EINVAL, "more than %d orders",
					LAUNCH_LIST_MAX);
		text = fab_arena_format(&p->memory, "%.*s", (int)len, at);
		FAB_PUSH(&p->orders, text);
		rc = fab_node_order_parse(text, 1, &order, err);
		at = at[len] ? at + len + 1 : NULL;
	}
	return rc;
}

#define TO(member) FAB_TO(struct launch_params, member)
const struct fab_option launch_settings[] = {
	{"order", "LIST", "How nodes are numbered, separated by commas", FAB_TAKES_OTHER,
	 .take = take_order, .preset = "fabric"},
	{"iface", "LIST", "Interfaces, separated by commas, or all", FAB_TAKES_CHOSEN,
	 TO(ifaces), .choices = &fab_launch_interfaces, .preset = "all"},
	{"wireup", "LIST", "Wire-ups, separated by commas, or all", FAB_TAKES_CHOSEN,
	 TO(wireups), .choices = &fab_launch_wireups, .preset = "all"},
	{"failures", "LIST",
	 "Of faults: numbers of nodes that fail together, separated by commas",
	 FAB_TAKES_OTHER, .take = take_failures, .flag = TO(has_failures),
	 .preset = "1,2"},
	{"params-out", "FILE", "Of calibrate: write constants to FILE, for --params",
	 FAB_TAKES_OUTPUT, TO(params_out)},
	{"exhaustive", NULL, "Of faults: also every placement of the failures",
	 FAB_TAKES_NOTHING, TO(exhaustive)},
	{"goal", "TIME", "Of stages: limit that a start is compared with",
	 FAB_TAKES_SECONDS, TO(goal_s), .min = 1, .max = UINT64_C(1000000000000000000),
	 .like = "30s", .preset = "30s"},
	{"model-only", NULL, "Fences by formula only, nothing is simulated",
	 FAB_TAKES_NOTHING, TO(model_only)},
	{"namespace", "N",
	 "Of size: characters of the namespace's name, which counts without procid: 10 of Open RTE, 21 and more of Slurm",
	 FAB_TAKES_NUMBER, TO(namespace_chars), .min = 1, .max = FAB_NAMESPACE_MAX,
	 .preset = "21"},
	{"no-cache", NULL, "Of modex: each process asks, nodes keep nothing",
	 FAB_TAKES_NOTHING, TO(no_cache)},
	{"opt", "LIST",
	 "Of size: optimisations that are on, separated by commas, all or none",
	 FAB_TAKES_CHOSEN, TO(opts), .flag = TO(has_opt), .choices = &fab_size_opts,
	 .has_none = true, .otherwise = "those of the layout"},
	{"pieces", "K",
	 "Of fence: simulate messages in K pieces, which alternate on cables, as packets do; 1: whole messages",
	 FAB_TAKES_NUMBER, TO(pieces), .min = 1, .max = FAB_FENCE_PIECES_MAX,
	 .preset = "1"},
	{"rails", "N",
	 "Each message is split over the first N end ports of its nodes, by the names of their adapters",
	 FAB_TAKES_NUMBER, TO(rails), .min = 1, .max = FAB_LAUNCH_RAILS_MAX,
	 .preset = "1"},
	{"respawn", "K",
	 "Of stages: also the time until K processes of a running job are replaced by PMI-2",
	 FAB_TAKES_NUMBER, TO(respawn), .min = 1, .max = UINT32_MAX},
	{"socket-store", NULL,
	 "Gets of PMIx ask the server of the node over a socket, sequentially, instead of shared memory",
	 FAB_TAKES_NOTHING, TO(socket_store)},
	FAB_CLI_EXPERT_ROWS(struct launch_params),
#define ROW(name, unit, verbs, least, most, meaning)                                     \
	{#name,                                                                          \
	 unit,                                                                           \
	 meaning,                                                                        \
	 FAB_TAKES_REAL,                                                                 \
	 TO(given[FAB_CONST_##name]),                                                    \
	 .flag = TO(is_given[FAB_CONST_##name]),                                         \
	 .low = (least),                                                                 \
	 .high = (most)},
	FAB_LAUNCH_CONSTANTS(ROW)
#undef ROW
		{0},
};
#undef TO
