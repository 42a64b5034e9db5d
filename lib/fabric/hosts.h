/* SPDX-License-Identifier: BSD-2-Clause */
/* Which adapters belong to one host; called once by the builder. */
#pragma once

#include "fabric/builder.h"

/*
 * Fills the host arrays of a fabric whose nodes and ports are complete: n_hosts,
 * node_host, host_name, host_first_adapter, host_adapter, host_rule; may append to names.
 * O(adapters log adapters).
 */
void fab_hosts_group(struct fab_fabric *f, const struct fab_host_options *options);

/* Does the adapter's description or its adapter part match the glob of --hca? */
bool fab_hosts_hca_matches(const char *description, const char *hca);
