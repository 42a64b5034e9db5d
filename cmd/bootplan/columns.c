/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What fabric-bootplan reports of a result: all that is known of a column and of the
 * metric that it is. The store, fabric-compare, the manual and the completions take it
 * from here.
 */
#include "bootplan.h"

#define AT(member) FAB_AT(struct bootplan_row, member)
const struct fab_column bootplan_columns[] = {
	{"algorithm", FAB_TEXT, "which server boots which node, by this rule", 0,
	 AT(a.algorithm)},
	{"batch", FAB_TEXT, "what boots together", 0, AT(batch)},
	{"nodes", FAB_UINT, "nodes that boot together", 0, AT(nodes), FAB_METRIC_PLAIN},
	{"servers", FAB_UINT, "servers that serve them", 0, AT(a.n_servers),
	 FAB_METRIC_PLAIN},
	{"bottleneck", FAB_TEXT, "segments with the least share", 0, AT(bottleneck)},
	{"bandwidth_mbps", FAB_REAL, "of the slowest node, Mb/s", FAB_COL_MBPS,
	 AT(a.bandwidth_mbps), FAB_METRIC_MORE},
	{"boot_seconds", FAB_REAL, "until the slowest node has its image",
	 FAB_COL_SECONDS, AT(a.boot_seconds), FAB_METRIC_LESS},
	{"model", FAB_TEXT, "how nodes share a segment", 0, AT(model)},
	{"slowest_node", FAB_TEXT, "the first of the slowest nodes", FAB_COL_EXTRA,
	 AT(slowest)},
	{"within_target", FAB_BOOL, "not slower than --target; null without it",
	 FAB_COL_BAD_IF_NO, AT(within_target), FAB_METRIC_MORE},
	{"verified", FAB_BOOL, "checked by --verify; null without it",
	 FAB_COL_EXTRA | FAB_COL_BAD_IF_NO, AT(verified), FAB_METRIC_MORE},
	{"median_seconds", FAB_REAL,
	 "until half of the nodes have it; null by equal shares",
	 FAB_COL_EXTRA | FAB_COL_SECONDS, AT(a.median_seconds), FAB_METRIC_LESS},
	{"retries", FAB_NUMBER, "requests made again; null by equal shares",
	 FAB_COL_EXTRA, AT(retries), FAB_METRIC_LESS},
	{"failed_nodes", FAB_NUMBER, "nodes that gave up; null by equal shares",
	 FAB_COL_EXTRA, AT(failed_nodes), FAB_METRIC_LESS},
	{"moved_nodes", FAB_NUMBER,
	 "nodes with another server than before --fail-server, --with-server or "
	 "--without-node; null without them",
	 FAB_COL_EXTRA, AT(moved_nodes), FAB_METRIC_LESS},
	{"failover", FAB_ROWS, "servers that have more nodes than before these",
	 FAB_COL_EXTRA, AT(failover)},
	{"max_sharers", FAB_NUMBER,
	 "nodes on the segment that limits them; null: none does", FAB_COL_EXTRA,
	 AT(max_sharers), FAB_METRIC_LESS},
	{"segments", FAB_ROWS, "share of each kind of path segment", FAB_COL_EXTRA,
	 AT(segments)},
	{"shard", FAB_TEXT, "as --shard has it: so much of the sweep; null: all of it",
	 FAB_COL_EXTRA, AT(shard)},
	{"seconds_before", FAB_REAL,
	 "boot_seconds before --fail-server, --with-server or --without-node; null "
	 "without them",
	 FAB_COL_EXTRA | FAB_COL_SECONDS, AT(a.seconds_before), FAB_METRIC_PLAIN},
	{"unserved_nodes", FAB_UINT,
	 "nodes of the batch without a server: it is down, or --loaded names none",
	 FAB_COL_EXTRA, AT(unserved_nodes), FAB_METRIC_LESS},
};
#undef AT
const size_t bootplan_n_columns = FAB_COUNT(bootplan_columns);

#define AT(member) FAB_AT(struct bootplan_segment, member)
const struct fab_column bootplan_segment_columns[] = {
	{"algorithm", FAB_TEXT, "rule that gave the servers", 0, AT(algorithm)},
	{"name", FAB_TEXT, "kind of segment", 0, AT(name)},
	{"capacity_mbps", FAB_NUMBER, "of the tightest one, Mb/s", FAB_COL_MBPS,
	 AT(capacity_mbps), FAB_METRIC_PLAIN},
	{"max_sharers", FAB_UINT, "most nodes on any one", 0, AT(max_sharers),
	 FAB_METRIC_LESS},
	{"share_mbps", FAB_REAL, "least share of a node, Mb/s", FAB_COL_MBPS,
	 AT(share_mbps), FAB_METRIC_MORE},
	{"tightest", FAB_TEXT, "which one that is", 0, AT(tightest)},
};
#undef AT
const size_t bootplan_segment_n_columns = FAB_COUNT(bootplan_segment_columns);
