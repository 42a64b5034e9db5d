/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of names that options take. */
#include "boot/mapping.h"
#include "cli/cli.h"
#include "export/boot.h"
#include "launch/exchange.h"
#include "launch/fence.h"
#include "launch/locks.h"
#include "launch/nodes.h"
#include "launch/size.h"
#include "launch/stages.h"
#include "mcast/route.h"
#include "rdma/rdma.h"
#include "sim/sim.h"
#include "traffic/pattern.h"
#include "traffic/permutation.h"
#include "traffic/traffic.h"
#include "unicast/engine.h"

const struct fab_cli_table fab_cli_tables[] = {
	{"MULTICAST", &fab_mcast_choices},
	{"UNICAST", &fab_unicast_choices},
	{"MAPPINGS", &fab_mapping_choices},
	{"PATTERNS", &fab_pattern_choices},
	{"PERMUTATIONS", &fab_permutation_choices},
	{"BOOT_FORMATS", &fab_boot_format_choices},
	{"TRAFFIC", &fab_traffic_choices},
	{"SWITCHES", &fab_sim_switch_choices},
	{"DROPS", &fab_sim_drop_choices},
	{"CHOOSERS", &fab_sim_chooser_choices},
	{"FENCES", &fab_fence_choices},
	{"ORDERS", &fab_node_order_choices},
	{"LOCKS", &fab_locks},
	{"PEERS", &fab_peers_choices},
	{"INTERFACES", &fab_launch_interfaces},
	{"WIREUPS", &fab_launch_wireups},
	{"STAGE_INS", &fab_stage_ins},
	{"SCOPES", &fab_key_scopes},
	{"RDMA_SCHEMES", &fab_rdma_scheme_choices},
	{"RDMA_PATTERNS", &fab_rdma_pattern_choices},
	{"ROUTES", &fab_sim_route_choices},
	{"RATES", &fab_rdma_rate_choices},
	{"LAYOUTS", &fab_size_layouts},
	{"OPTIMISATIONS", &fab_size_opts},
};
const size_t fab_cli_n_tables = FAB_COUNT(fab_cli_tables);
