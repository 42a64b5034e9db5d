/* SPDX-License-Identifier: BSD-2-Clause */
/* The networks of a site: which nodes and servers have addresses of which, and what a
 * DHCP server says about each. */
#pragma once

#include "base/arena.h"
#include "boot/addresses.h"

struct fab_subnet {
	struct fab_ip_network net;
	char gateway[FAB_IP_BYTES]; /* router of the site, empty: none */
	const char *dns, *ntp;	    /* addresses with commas between, NULL: none */
	uint32_t number;	    /* among all, from 1 on */
	uint64_t line;		    /* of the file; 0: from the command line */
};

struct fab_subnets {
	struct fab_arena arena;
	const char *file; /* NULL: from the command line */
	FAB_VEC(struct fab_subnet) of;
	/* Subnets by family (0: IPv4, 1: IPv6), [n_nodes] and [n_interfaces] of the
	 * machine, FAB_NONE: none. NULL: none of the family, or no machine is known. */
	uint32_t *of_node[2], *of_interface[2];
};

/*
 * Read networks of a machine, one a line:
 *     CIDR GATEWAY [dns=ADDRESS,...] [ntp=ADDRESS,...] : NODES
 * GATEWAY is `-` without a router; NODES is a list of nodes, servers and units (racks,
 * switches), which mean the nodes below them. # begins a comment. EINVAL names file
 * and line: no such line, a gateway outside of its network, networks that overlap, a node
 * or server in two networks of a family, no line at all; ENOENT an unknown name.
 * fab_subnets_fini() in any case. O(bytes + networks^2 + nodes).
 */
int fab_subnets_read(const struct fab_machine *m, const char *file, const char *text,
		     size_t len, struct fab_subnets *out,
		     struct fab_err *err) FAB_MUST_CHECK;
/* Add a network that all nodes and servers are in; without a machine none. O(nodes). */
void fab_subnets_add(struct fab_subnets *s, const struct fab_machine *m,
		     const struct fab_ip_network *net);
void fab_subnets_fini(struct fab_subnets *s);

/* The first network of a family, NULL: none. O(networks). */
const struct fab_subnet *fab_subnets_first(const struct fab_subnets *s, bool is_ip6);
/* The network that has the address, NULL: none. O(networks). */
const struct fab_subnet *fab_subnets_find(const struct fab_subnets *s, const char *ip);

/*
 * Give every server interface, then every node, that is in a network and not in `given`
 * with an address of its family the one that it has in `plan`, else the lowest one that
 * neither of the two has and no gateway or server of `dns` and `ntp`, in the order of
 * names as people count, and note it in both. Hosts whose names are no host names get
 * none. An address in `plan` outside of the network of its host is replaced, if networks
 * are from a file. EINVAL: an address in `plan` that another host has in `given`, one in
 * `given` that is a gateway or, with a file, outside of the network of its host; ENOSPC:
 * a network is full, and how many hosts there are. O(hosts log hosts).
 */
int fab_address_plan_assign(const struct fab_machine *m, const struct fab_subnets *s,
			    struct fab_host_addresses *given,
			    struct fab_host_addresses *plan,
			    struct fab_err *err) FAB_MUST_CHECK;
