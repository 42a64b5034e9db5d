/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns of fabric-mcroute's results: all that is known of a column and of the
 * metric that it is. The store, fabric-compare, the manual and the completions take it
 * from here.
 */
#include "mcast/events.h"
#include "mcroute.h"

#define AT(member) FAB_AT(struct mcroute_row, member)
const struct fab_column mcroute_columns[] = {
	{"algorithm", FAB_TEXT, "routing algorithm", 0, AT(algorithm)},
	{"max_efi", FAB_UINT, "largest number of trees on a switch-to-switch cable", 0,
	 AT(efi.max), FAB_METRIC_LESS},
	{"max_efi_all", FAB_UINT, "the same over all cables, host cables too", 0,
	 AT(efi.max_all), FAB_METRIC_LESS},
	{"mean_efi", FAB_REAL, "mean number of trees over all switch-to-switch cables", 0,
	 AT(efi.mean), FAB_METRIC_LESS},
	{"links_at_max", FAB_UINT, "switch-to-switch cables with the largest number", 0,
	 AT(efi.n_at_max), FAB_METRIC_PLAIN},
	{"lower_bound", FAB_UINT, "no trees whatever can have a smaller max_efi", 0,
	 AT(lower_bound), FAB_METRIC_PLAIN},
	{"height_bound", FAB_NUMBER,
	 "no trees of minimal height can have a smaller max_efi; null: not tried (above 4 million pairs of a group and a switch of its members), or the algorithm's may be higher",
	 FAB_COL_EXTRA, AT(height_bound), FAB_METRIC_PLAIN},
	{"max_load", FAB_NUMBER,
	 "largest weighted load of a switch-to-switch cable: demands of its groups over its capacity; null without --weight and --capacity",
	 FAB_COL_EXTRA, AT(efi.max_load), FAB_METRIC_LESS},
	{"mean_load", FAB_NUMBER,
	 "mean of the weighted loads of switch-to-switch cables; null without --weight and --capacity",
	 FAB_COL_EXTRA, AT(efi.mean_load), FAB_METRIC_LESS},
	{"load_bound", FAB_NUMBER,
	 "no trees whatever can have a smaller max_load; null without --weight and --capacity",
	 FAB_COL_EXTRA, AT(load_bound), FAB_METRIC_PLAIN},
	{"max_height", FAB_UINT,
	 "switch hops from a root to its farthest member, largest", 0, AT(efi.max_height),
	 FAB_METRIC_LESS},
	{"tree_links", FAB_UINT, "switch-to-switch cables of all trees together", 0,
	 AT(efi.tree_links), FAB_METRIC_LESS},
	{"verified", FAB_BOOL,
	 "every tree was checked by --verify (loaded: none is broken); null without it",
	 FAB_COL_BAD_IF_NO, AT(verified), FAB_METRIC_MORE},
	{"ended", FAB_TEXT,
	 "why it stopped: done; of optimal bound (no trees have a smaller max_efi, with weights max_load), exact (none of the heights that --height-slack allows: all were compared), stall (nothing that it tries helps); of balanced too time (--time-limit) or interrupt, after which more time may give better trees; null: loaded",
	 FAB_COL_EXTRA, AT(ended)},
	{"seconds.distances", FAB_REAL,
	 "time for hop distances and the shape, shared by all algorithms",
	 FAB_COL_SECONDS, AT(distances), FAB_METRIC_TIME},
	{"seconds.roots", FAB_REAL, "time for root candidates, shared by all algorithms",
	 FAB_COL_SECONDS, AT(roots), FAB_METRIC_TIME},
	{"seconds.trees", FAB_REAL, "time for choosing roots and growing trees",
	 FAB_COL_SECONDS, AT(trees), FAB_METRIC_TIME},
	{"seconds.total", FAB_REAL, "distances, roots and trees together",
	 FAB_COL_SECONDS, AT(total), FAB_METRIC_TIME},
};
#undef AT
const size_t mcroute_n_columns = FAB_COUNT(mcroute_columns);

#define TO(member) FAB_TO(struct mcroute_params, member)
const struct fab_option mcroute_settings[] = {
	{"events-compute", "TIME", "Time that computing the routes of a group once takes",
	 FAB_TAKES_NS, TO(events.compute_ns), .otherwise = "as measured",
	 .max = FAB_MAX_SPAN_NS, .like = "1.5ms"},
	{"events-timeout", "TIME",
	 "Time after which a group that is not complete is given up", FAB_TAKES_NS,
	 TO(events.timeout_ns), .max = FAB_MAX_SPAN_NS, .like = "1.5ms", .preset = "10s"},
	{"events-loss", "P", "Probability that a request is lost", FAB_TAKES_REAL,
	 TO(events.loss), .high = 1, .otherwise = "0"},
	{"events-poll", "TIME",
	 "Batched: time between two questions of a group's first member whether it is ready",
	 FAB_TAKES_NS, TO(events.poll_ns), .max = FAB_MAX_SPAN_NS, .like = "1.5ms",
	 .preset = "100us"},
	{"events-notify", "TIME", "Batched: time that its message to the others takes",
	 FAB_TAKES_NS, TO(events.notify_ns), .max = FAB_MAX_SPAN_NS, .like = "1.5ms",
	 .preset = "10us"},
	FAB_CLI_SUBNET_ROW(TO(input.subnet)),
	{0},
};
#undef TO
