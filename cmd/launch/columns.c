/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns of fabric-launch, verb by verb, with their metrics, and its settings. The
 * store, fabric-compare, the manual and the completions use these tables.
 */
#include "launch.h"
#include "launch/advise.h"
#include "launch/detector.h"
#include "launch/locks.h"
#include "launch/mechanisms.h"

#define AT(member) FAB_AT(struct launch_size_row, member)
const struct fab_column launch_size_columns[] = {
	{"layout", FAB_TEXT, "2.1 or 4.2", 0, AT(layout)},
	{"opt", FAB_TEXT, "optimisations that are on, or none", 0, AT(opt)},
	{"ppn", FAB_UINT, "processes a node", FAB_COL_EXTRA, AT(ppn), FAB_METRIC_PLAIN},
	{"keys", FAB_UINT, "keys a process", FAB_COL_EXTRA, AT(keys), FAB_METRIC_PLAIN},
	{"value_bytes", FAB_UINT, "values of a node, as they are put, B", FAB_COL_EXTRA,
	 AT(value_bytes), FAB_METRIC_PLAIN},
	{"bytes", FAB_UINT, "contribution of a node, of size the first one, B", 0,
	 AT(bytes), FAB_METRIC_PLAIN},
	{"overhead", FAB_REAL, "bytes / value_bytes", 0, AT(overhead), FAB_METRIC_LESS},
	{"factor", FAB_REAL, "size in layout 2.1 without optimisations / bytes", 0,
	 AT(factor), FAB_METRIC_MORE},
	{"key_table", FAB_BOOL, "names of keys are in a table", FAB_COL_EXTRA, AT(table)},
	{"job_bytes", FAB_NUMBER, "all nodes together, B; null: without --nodes",
	 FAB_COL_EXTRA, AT(job_bytes), FAB_METRIC_LESS},
	{"verified", FAB_BOOL, "the bytes were written and counted (--verify)",
	 FAB_COL_EXTRA, AT(verified)},
};
#undef AT
const size_t launch_size_n_columns = FAB_COUNT(launch_size_columns);

#define AT(member) FAB_AT(struct fab_fence_row, member)
const struct fab_column launch_fence_columns[] = {
	{"algorithm", FAB_TEXT, "algorithm of the fence", 0, AT(algorithm)},
	{"stands_for", FAB_TEXT, "the algorithm that runs here; null: itself", 0,
	 AT(stands_for)},
	{"why", FAB_TEXT, "of auto: the reason", FAB_COL_EXTRA, AT(why)},
	{"order", FAB_TEXT, "how nodes are numbered", 0, AT(order)},
	{"nodes", FAB_UINT, "nodes of the job", 0, AT(nodes), FAB_METRIC_PLAIN},
	{"bytes", FAB_UINT, "contribution of a node, B", 0, AT(bytes), FAB_METRIC_PLAIN},
	{"steps", FAB_UINT, "steps", 0, AT(steps), FAB_METRIC_LESS},
	{"model_us", FAB_REAL, "closed form, without contention, us", 0, AT(model_us),
	 FAB_METRIC_LESS},
	{"contended_us", FAB_REAL,
	 "model_us if each step waits for its fullest cable, us", 0, AT(contended_us),
	 FAB_METRIC_LESS},
	{"simulated_us", FAB_REAL,
	 "simulated on the tables, us; null: not simulated, or too long", 0,
	 AT(simulated_us), FAB_METRIC_LESS},
	{"max_link_load", FAB_UINT, "most messages of a step on a direction of a cable",
	 0, AT(max_link_load), FAB_METRIC_LESS},
	{"max_load_between", FAB_UINT, "max_link_load of cables between switches",
	 FAB_COL_EXTRA, AT(max_between), FAB_METRIC_LESS},
	{"contention", FAB_REAL, "time on cables / time without contention", 0,
	 AT(factor), FAB_METRIC_LESS},
	{"loads", FAB_TEXT, "max_link_load of each step", FAB_COL_EXTRA, AT(loads)},
	{"by_symmetry", FAB_BOOL, "steps that repeat were not simulated again",
	 FAB_COL_EXTRA, AT(by_symmetry)},
	{"shard", FAB_TEXT, "part of the cases, see --shard; null: all of them",
	 FAB_COL_EXTRA, AT(shard)},
};
#undef AT
const size_t launch_fence_n_columns = FAB_COUNT(launch_fence_columns);

#define AT(member) FAB_AT(struct launch_stages_row, member)
const struct fab_column launch_stages_columns[] = {
	{"interface", FAB_TEXT, "pmi1, pmi2 or pmix", 0, AT(interface)},
	{"wireup", FAB_TEXT, "how processes obtain addresses of others", 0, AT(wireup)},
	{"stage_in", FAB_TEXT, "how files reach the nodes", 0, AT(stage_in)},
	{"fence", FAB_TEXT, "fence of PMIx; null: there is none, or a tree of PMI", 0,
	 AT(fence)},
	{"nodes", FAB_UINT, "nodes of the job", FAB_COL_EXTRA, AT(nodes),
	 FAB_METRIC_PLAIN},
	{"ppn", FAB_UINT, "processes a node", FAB_COL_EXTRA, AT(ppn), FAB_METRIC_PLAIN},
	{"total_s", FAB_REAL, "until the last process is ready", FAB_COL_SECONDS,
	 AT(total_s), FAB_METRIC_LESS},
	{"saved_s", FAB_REAL, "saving against the first row, s; negative: longer",
	 FAB_COL_SECONDS, AT(saved_s), FAB_METRIC_MORE},
	{"fence_us", FAB_REAL, "the fence alone, us; null: there is none", FAB_COL_EXTRA,
	 AT(fence_us), FAB_METRIC_LESS},
	{"barrier_us", FAB_REAL, "the barrier alone, us; null: there is none",
	 FAB_COL_EXTRA, AT(barrier_us), FAB_METRIC_LESS},
	{"bytes", FAB_UINT,
	 "contribution of a node to the exchange, B; 0: nothing is exchanged",
	 FAB_COL_EXTRA, AT(bytes), FAB_METRIC_PLAIN},
	{"memory_bytes", FAB_REAL,
	 "memory of a node for all contributions, of PMI-1 once a process, B",
	 FAB_COL_EXTRA, AT(memory_bytes), FAB_METRIC_LESS},
	{"critical_path", FAB_TEXT,
	 "critical path of the last node, in the order of time", FAB_COL_EXTRA,
	 AT(critical_path)},
	{"goal_met", FAB_BOOL, "it stays within --goal", 0, AT(goal_met),
	 FAB_METRIC_MORE},
	{"goal_fs_MBps", FAB_REAL,
	 "least rate of the file system for that, MB/s; null: no rate is enough", 0,
	 AT(goal_fs_MBps), FAB_METRIC_LESS},
	{"goal_fs_ops", FAB_REAL,
	 "least metadata operations a second for that; null: no number is enough",
	 FAB_COL_EXTRA, AT(goal_fs_ops), FAB_METRIC_LESS},
	{"least_s", FAB_REAL, "total_s with an endless file system",
	 FAB_COL_SECONDS | FAB_COL_EXTRA, AT(least_s), FAB_METRIC_LESS},
};
#undef AT
const size_t launch_stages_n_columns = FAB_COUNT(launch_stages_columns);

#define AT(member) FAB_AT(struct launch_modex_row, member)
const struct fab_column launch_modex_columns[] = {
	{"method", FAB_TEXT, "direct: each asks; full: a fence brings all", 0,
	 AT(method)},
	{"fence", FAB_TEXT, "that fence", 0, AT(fence)},
	{"degree", FAB_REAL, "peers of a process, the mean", 0, AT(degree),
	 FAB_METRIC_PLAIN},
	{"total_us", FAB_REAL, "until the last process has its data, us", 0, AT(total_us),
	 FAB_METRIC_LESS},
	{"mean_us", FAB_REAL, "of a process, us", FAB_COL_EXTRA, AT(mean_us),
	 FAB_METRIC_LESS},
	{"gets", FAB_NUMBER, "Gets of all processes", FAB_COL_EXTRA, AT(gets),
	 FAB_METRIC_PLAIN},
	{"local", FAB_NUMBER, "Gets for the own node", FAB_COL_EXTRA, AT(local),
	 FAB_METRIC_PLAIN},
	{"requests", FAB_NUMBER, "requests between nodes", 0, AT(requests),
	 FAB_METRIC_LESS},
	{"shared", FAB_NUMBER, "Gets answered by what another process asked for",
	 FAB_COL_EXTRA, AT(shared), FAB_METRIC_MORE},
	{"most_served", FAB_NUMBER, "requests of the server that has most", 0,
	 AT(most_served), FAB_METRIC_LESS},
	{"longest_wait_us", FAB_REAL, "of a request, before it is served, us", 0,
	 AT(longest_wait_us), FAB_METRIC_LESS},
	{"busy_share", FAB_REAL, "share of the time that server works", FAB_COL_EXTRA,
	 AT(busy_share), FAB_METRIC_PLAIN},
	{"memory_bytes", FAB_REAL,
	 "memory of a node for all contributions, of PMI-1 once a process, B", 0,
	 AT(memory_bytes), FAB_METRIC_LESS},
	{"memory_each_bytes", FAB_REAL, "memory_bytes with a copy for each process, B",
	 FAB_COL_EXTRA, AT(memory_each_bytes), FAB_METRIC_LESS},
	{"model", FAB_BOOL, "by formula, not followed Get by Get", FAB_COL_EXTRA,
	 AT(is_model)},
};
#undef AT
const size_t launch_modex_n_columns = FAB_COUNT(launch_modex_columns);

#define AT(member) FAB_AT(struct fab_failure_row, member)
const struct fab_column launch_faults_columns[] = {
	{"placement", FAB_TEXT, "near, far, or worst of all", 0, AT(placement)},
	{"nodes", FAB_UINT, "nodes of the job", FAB_COL_EXTRA, AT(nodes),
	 FAB_METRIC_PLAIN},
	{"failures", FAB_UINT, "nodes that fail together", 0, AT(failures),
	 FAB_METRIC_PLAIN},
	{"first_s", FAB_REAL, "until a node knows of one", FAB_COL_SECONDS, AT(first_s),
	 FAB_METRIC_LESS},
	{"stable_s", FAB_REAL, "until all know of all; null: some never do",
	 FAB_COL_SECONDS, AT(stable_s), FAB_METRIC_LESS},
	{"repaired_s", FAB_REAL, "until each survivor is observed again", FAB_COL_SECONDS,
	 AT(repaired_s), FAB_METRIC_LESS},
	{"bound_s", FAB_REAL, "the bound for stable_s", FAB_COL_SECONDS, AT(bound_s),
	 FAB_METRIC_LESS},
	{"within", FAB_BOOL, "the bound holds", FAB_COL_BAD_IF_NO, AT(within)},
	{"proven", FAB_BOOL, "the bound is proven for this number of failures",
	 FAB_COL_EXTRA, AT(proven)},
	{"news", FAB_UINT, "messages with news", 0, AT(news), FAB_METRIC_LESS},
	{"most_news", FAB_UINT, "most messages with news of one node", 0, AT(most_news),
	 FAB_METRIC_LESS},
	{"placements", FAB_UINT, "placements that were followed", FAB_COL_EXTRA,
	 AT(placements), FAB_METRIC_PLAIN},
	{"mpd_parts", FAB_UINT, "parts of MPD's ring", 0, AT(mpd_parts), FAB_METRIC_LESS},
	{"mpd_largest", FAB_UINT, "daemons of the largest part", FAB_COL_EXTRA,
	 AT(mpd_largest), FAB_METRIC_MORE},
};
#undef AT
const size_t launch_faults_n_columns = FAB_COUNT(launch_faults_columns);

#define AT(member) FAB_AT(struct fab_lock_cost, member)
const struct fab_column launch_store_columns[] = {
	{"lock", FAB_TEXT, "rwlock, n, 2n, mutex-flag or pointer", 0, AT(lock)},
	{"ppn", FAB_UINT, "processes a node", 0, AT(ppn), FAB_METRIC_PLAIN},
	{"read_ns", FAB_REAL, "a read by the model, lock included, ns", 0, AT(read_ns),
	 FAB_METRIC_LESS},
	{"get_us", FAB_REAL, "a Get without a thread shift, by the model, us",
	 FAB_COL_EXTRA, AT(get_us), FAB_METRIC_LESS},
	{"shifted_get_us", FAB_REAL, "a Get that shifts threads first, by the model, us",
	 0, AT(shifted_get_us), FAB_METRIC_LESS},
	{"wait_us", FAB_REAL,
	 "wait of a writer among these readers, by the model, us; null: it starves", 0,
	 AT(wait_us), FAB_METRIC_LESS},
};
#undef AT
const size_t launch_store_n_columns = FAB_COUNT(launch_store_columns);

#define AT(member) FAB_AT(struct fab_launch_advice_row, member)
const struct fab_column launch_advise_columns[] = {
	{"setting", FAB_TEXT, "setting", 0, AT(setting)},
	{"now", FAB_TEXT, "present value", 0, AT(now)},
	{"advised", FAB_TEXT, "best value here", 0, AT(advised)},
	{"saved_s", FAB_REAL, "saving alone, s; 0: none", FAB_COL_SECONDS, AT(saved_s),
	 FAB_METRIC_MORE},
	{"total_s", FAB_REAL, "until the last process is ready", FAB_COL_SECONDS,
	 AT(total_s), FAB_METRIC_LESS},
	{"helps", FAB_BOOL, "the change is worth it, see verdict", FAB_COL_EXTRA,
	 AT(helps)},
	{"verdict", FAB_TEXT,
	 "yes: worth it over the possible values of all assumed constants; no; depends: worth it by the constants as they are, not by all possible ones",
	 0, AT(verdict)},
	{"scope", FAB_TEXT, "job, or cluster: all jobs share it", FAB_COL_EXTRA,
	 AT(scope)},
	{"saved_low_s", FAB_REAL,
	 "least saving over the possible values of range_by, s; negative: a cost",
	 FAB_COL_EXTRA | FAB_COL_SECONDS, AT(saved_low_s), FAB_METRIC_PLAIN},
	{"saved_high_s", FAB_REAL, "greatest saving over these, s",
	 FAB_COL_EXTRA | FAB_COL_SECONDS, AT(saved_high_s), FAB_METRIC_PLAIN},
	{"range_by", FAB_TEXT, "assumed constant that changes the saving most",
	 FAB_COL_EXTRA, AT(range_by)},
	{"depends_on", FAB_TEXT, "constant by which the verdict can be no", FAB_COL_EXTRA,
	 AT(depends_on)},
	{"could_save_s", FAB_REAL, "saving by the constants as they are, s",
	 FAB_COL_EXTRA | FAB_COL_SECONDS, AT(could_save_s), FAB_METRIC_PLAIN},

	{"how", FAB_TEXT, "way to set it", 0, AT(how)},
};
#undef AT
const size_t launch_advise_n_columns = FAB_COUNT(launch_advise_columns);

#define AT(member) FAB_AT(struct fab_mechanism, member)
const struct fab_column launch_mechanisms_columns[] = {
	{"topic", FAB_TEXT, "exchange, encoding, store, detection or manager", 0,
	 AT(topic)},
	{"mechanism", FAB_TEXT, "mechanism", 0, AT(name)},
	{"seconds", FAB_REAL,
	 "a start, of store a Get, of detection one failure, s; null: it cannot run this job",
	 FAB_COL_SECONDS, AT(seconds), FAB_METRIC_LESS},
	{"saved_s", FAB_REAL,
	 "seconds less than a start by PMIx as it is; null: not of this topic",
	 FAB_COL_SECONDS, AT(saved_s), FAB_METRIC_MORE},
	{"bytes", FAB_NUMBER,
	 "contribution of a node to the exchange, B; null: not of this topic", 0,
	 AT(bytes), FAB_METRIC_LESS},
	{"memory_bytes", FAB_NUMBER, "memory of a node, B; of store its locks", 0,
	 AT(memory_bytes), FAB_METRIC_LESS},
	{"risk", FAB_TEXT, "risk; null: none is known", 0, AT(risk)},
	{"what", FAB_TEXT, "meaning", FAB_COL_EXTRA, AT(what)},
};
#undef AT
const size_t launch_mechanisms_n_columns = FAB_COUNT(launch_mechanisms_columns);

#define TO(member) FAB_TO(struct launch_params, member)
const struct fab_option launch_settings[] = {
	{"exhaustive", NULL, "Of faults: also follow every placement of the failures",
	 FAB_TAKES_NOTHING, TO(exhaustive)},
	{"goal", "TIME", "Of stages: the limit that a start is compared with",
	 FAB_TAKES_SECONDS, TO(goal_s), .min = 1, .max = UINT64_C(1000000000000000000),
	 .like = "30s", .preset = "30s"},
	{"model-only", NULL, "Fences by formula only, nothing is simulated",
	 FAB_TAKES_NOTHING, TO(model_only)},
	{"namespace", "N",
	 "Of size: characters of the namespace's name, which counts without procid: 10 of Open RTE, 21 and more of Slurm",
	 FAB_TAKES_NUMBER, TO(namespace_chars), .min = 1, .max = FAB_NAMESPACE_MAX,
	 .preset = "21"},
	{"no-cache", NULL,
	 "Of modex: every process asks for itself, a node keeps nothing",
	 FAB_TAKES_NOTHING, TO(no_cache)},
	{"opt", "LIST",
	 "Of size: optimisations that are on, separated by commas, all or none",
	 FAB_TAKES_CHOSEN, TO(opts), .flag = TO(has_opt), .choices = &fab_size_opts,
	 .has_none = true, .otherwise = "those of the layout"},
	{"pieces", "K",
	 "Of fence: simulate messages in K pieces, which alternate on cables, as packets do; 1: whole messages",
	 FAB_TAKES_NUMBER, TO(pieces), .min = 1, .max = FAB_FENCE_PIECES_MAX,
	 .preset = "1"},
	{"respawn", "K",
	 "Of stages: also the time until K processes of a running job are replaced by PMI-2",
	 FAB_TAKES_NUMBER, TO(respawn), .min = 1, .max = UINT32_MAX},
	{"socket-store", NULL,
	 "Gets of PMIx ask the server of the node over a socket, sequentially, instead of shared memory",
	 FAB_TAKES_NOTHING, TO(socket_store)},
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
