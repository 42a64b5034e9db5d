/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * As OpenSM's engine minhop: the fewest hops, and among the ports that have them the one
 * that serves the fewest LIDs so far. The same ports as OpenSM 3.3 chooses with default
 * options when it starts anew; while it runs it keeps what it chose as long as that is
 * shortest.
 */
#include "unicast/balance.h"

static int route_minhop(const struct fab_unicast_problem *problem,
			struct fab_routes **out, struct fab_err *err)
{
	(void)err;
	*out = fab_balance_route(problem, NULL);
	return 0;
}

const struct fab_unicast_engine fab_unicast_minhop = {
	.name = "minhop",
	.summary = "fewest hops, ports balanced, as OpenSM does",
	.manual = "The fewest hops as OpenSM's engine of that name: each LID goes "
		  "by the port of fewest hops that serves the fewest LIDs so far, "
		  "those of switches' own ports not counted.",
	.imitates_opensm = true,
	.caveat = FAB_CAVEAT_OPENSM,
	.route = route_minhop,
};
