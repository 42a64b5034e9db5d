/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which adapters belong to one host; called once by the builder. The rule, in order:
 *   1. the node name map names the adapter: its host is that name, without an adapter's
 *      name ("mlx5_0") that stands behind it;
 *   2. the description is "HOST ADAPTER" with an adapter's name as its second and last
 *      word ("HCA-1", "mlx5_0", "ibp65s0", ...): the host is the first word;
 *   3. adapters with the same system image GUID are one host, named by its first one.
 * A vendor's generic description, an empty one and "localhost" name no host: such an
 * adapter stays a host of its own, named by its GUID.
 */
#pragma once

#include "fabric/builder.h"

/*
 * Fills the host arrays of a fabric whose nodes and ports are complete: n_hosts,
 * node_host, host_name, host_first_adapter, host_adapter, host_rule; may append to names.
 * Aggregation nodes and routers are no hosts. O(adapters).
 */
void fab_hosts_group(struct fab_fabric *f, const struct fab_host_options *options);

/* Does the adapter's description or its adapter part match the glob of --hca? */
bool fab_hosts_hca_matches(const char *description, const char *hca);

/* Is the word the name that a driver gives an adapter ("HCA-1", "mlx5_0")? O(len). */
bool fab_hosts_is_adapter(const char *word, size_t len);
