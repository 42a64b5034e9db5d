/* SPDX-License-Identifier: BSD-2-Clause */
/* Expert settings of fabric-topo. */
#include "topo.h"

#define TO(member) FAB_TO(struct topo_params, member)
const struct fab_option topo_settings[] = {
	{"path-sl", "FILE", "With --check and --lfts: service levels of the paths",
	 FAB_TAKES_INPUT, TO(path_sl)},
	{"sl2vl", "FILE", "With --check and --lfts: lanes of the service levels",
	 FAB_TAKES_INPUT, TO(sl2vl)},
	{"mcfdbs", "FILE", "With --users: multicast tables, whose trees count, too",
	 FAB_TAKES_INPUT, TO(mcfdbs)},
	{"switches-only", NULL, "With --to=dot: leave out all adapters",
	 FAB_TAKES_NOTHING, TO(switches_only)},
	{"fold", NULL, "With --to=dot: fold hosts, pods, ranks to fit 3000 pixels",
	 FAB_TAKES_NOTHING, TO(fold)},
	FAB_CLI_SUBNET_ROW(TO(input.subnet)),
	FAB_CLI_OPENSM_CONF_ROW(TO(opensm.conf)),
	FAB_CLI_TIME_LIMIT_ROW(TO(opensm.limit_seconds)),
	{0},
};
#undef TO
