/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of the keeper. */
#pragma once

#include "base/map.h"
#include "fabric/dist.h"
#include "fabric/shape.h"
#include "opensm/keeper.h"

/* A fabric and what is known of it; plans hold on to it. */
struct fab_shared_fabric {
	atomic_uint n_users;
	struct fab_fabric *f;
	struct fab_dist *dist;
	struct fab_shape *shape;
	struct fab_map64 *port_of;   /* by GUID: adapters' ports, port 0 of switches */
	struct fab_map64 *switch_of; /* by GUID of the node */
};

struct fab_shared_fabric *fab_shared_fabric_hold(struct fab_shared_fabric *s);
/* NULL is allowed. The last user frees it. */
void fab_shared_fabric_drop(struct fab_shared_fabric *s);

struct fab_keeper {
	uint32_t n_groups;
	struct fab_shared_fabric *shared; /* NULL: none */
	struct fab_live *live;		  /* NULL without a fabric */
};
