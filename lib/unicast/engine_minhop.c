/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * As OpenSM's engine minhop: the fewest hops, and among the ports that have them the one
 * that serves the fewest destinations so far. OpenSM decides for each LID; here all LIDs
 * of a switch go one way and count together.
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
	.route = route_minhop,
};
