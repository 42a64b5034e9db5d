/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses for all nodes and servers of a machine, out of networks: the same host keeps
 * its address as long as the file of addresses is kept.
 */
#pragma once

#include <stdio.h>

#include "boot/host_addresses.h"
#include "boot/machine.h"
#include "boot/network.h"

/* The port that a node boots over and that of a server's interface have GUIDs: 0 where
 * the machine is no fabric or none is known. O(1). */
uint64_t fab_machine_node_guid(const struct fab_machine *m, uint32_t node);
uint64_t fab_machine_interface_guid(const struct fab_machine *m, uint32_t interface);
/*
 * The interface's name where a host name is needed: "io1", "io1-2" for the second
 * interface of a server. Returns `out`. O(1).
 */
char *fab_machine_interface_host_name(const struct fab_machine *m, uint32_t interface,
				      char *out, size_t size);

/*
 * Read a file of addresses: lines as in hosts(5), behind # the GUID of the host's port.
 * A name that the machine does not have, but whose GUID it has under another name that
 * the file does not have, is taken for that one: the host was renamed. Fails as
 * fab_host_addresses_read() does. The caller frees *out. O(bytes + hosts).
 */
int fab_address_plan_read(const struct fab_machine *m, const char *file, const char *text,
			  size_t len, struct fab_host_addresses **out,
			  struct fab_err *err) FAB_MUST_CHECK;

/*
 * Give every server interface, then every node, that is not in `told` with an address of
 * the network's family the one that it has in `plan`, else the lowest one that neither of
 * the two has, in the order of names as people count, and note it in both. Hosts whose
 * names are no host names get none. EINVAL: an address in `plan` that another host has in
 * `told`; ENOSPC: the network is full, and how many hosts there are. O(hosts log hosts).
 */
int fab_address_plan_assign(const struct fab_machine *m, const struct fab_ip_network *net,
			    struct fab_host_addresses *told,
			    struct fab_host_addresses *plan,
			    struct fab_err *err) FAB_MUST_CHECK;

/* Write what fab_address_plan_read() reads: hosts of the plan in the order of names, also
 * those that the machine does not have now: they may come back. O(hosts log hosts). */
void fab_address_plan_write(FILE *out, const struct fab_machine *m,
			    const struct fab_host_addresses *plan);
