/* SPDX-License-Identifier: BSD-2-Clause */
/* Networks of addresses, IPv4 and IPv6, and the addresses that hosts get in them. */
#pragma once

#include <stdbool.h>

#include "base/err.h"

enum { FAB_IP_BYTES = 46 }; /* of an address as text, with the NUL */

struct fab_ip_network {
	bool is_ip6;
	unsigned prefix; /* bits */
	uint8_t base[16];
	char text[FAB_IP_BYTES + 4]; /* "10.8.0.0/16" */
	char first[FAB_IP_BYTES];    /* "10.8.0.0" */
	char mask[16];		     /* "255.255.0.0"; of IPv6 empty */
};

/*
 * ADDRESS/BITS. EINVAL: no such text, bits of a host in it, no room for two hosts (from
 * /31, /127 on), addresses that no host has. O(len).
 */
int fab_ip_network_parse(const char *text, struct fab_ip_network *out,
			 struct fab_err *err) FAB_MUST_CHECK;
/* How many addresses hosts can have, at most 2^32. Without the first and last one of
 * IPv4 (but of a /31), the first one of IPv6. O(1). */
uint64_t fab_ip_network_hosts(const struct fab_ip_network *net);
/* The i-th of them, from 0 on, as inet_ntop() writes it. O(1). */
void fab_ip_network_host(const struct fab_ip_network *net, uint64_t i,
			 char out[FAB_IP_BYTES]);
/* Is the address of the network's family and in it? O(len). */
bool fab_ip_network_has(const struct fab_ip_network *net, const char *ip);
