/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses of hosts: what boot server configuration needs and a fabric does not tell. */
#pragma once

#include <stdbool.h>

#include "base/err.h"

struct fab_host_addresses;

struct fab_host_address {
	char mac[18]; /* "00:11:22:aa:bb:cc", empty: not told */
	char ip[16];  /* IPv4, empty: not told */
	char ip6[46]; /* IPv6, empty: not told */
};

/* None of any host. The caller frees. O(1). */
struct fab_host_addresses *fab_host_addresses_new(void);

/*
 * Read addresses, a host a line, # begins a comment; each line is one of
 *     NAME MAC [IP]...   MAC NAME (as in /etc/ethers)      IP NAME... (as in /etc/hosts)
 * An IP is one of IPv4 or of IPv6; a host has at most one of each. What several lines say
 * of one name adds up; names of one line of /etc/hosts are one host. Its lines of
 * loopback, link-local and multicast addresses are skipped. Adds to *out when it is not
 * NULL, else makes it; on failure frees it and sets NULL. EINVAL names file and line: no
 * MAC or IP where one should be, one that no host has (0.0.0.0, a group address), a name
 * that is no host name, another MAC or IP for a name that has one, a MAC or IP that
 * another host has. The caller frees *out. O(bytes).
 */
int fab_host_addresses_read(const char *file, const char *text, size_t len,
			    struct fab_host_addresses **out,
			    struct fab_err *err) FAB_MUST_CHECK;
/* NULL is allowed. O(size). */
void fab_host_addresses_free(struct fab_host_addresses *addresses);
/* Borrowed; by the name to the letter, else whatever its case, if only one is. NULL when
 * nothing is told of the name, or the addresses is NULL. O(1). */
const struct fab_host_address *
fab_host_addresses_find(const struct fab_host_addresses *addresses, const char *name);

/* Names in the order in which they came, and what is told of them; borrowed. O(1). */
uint32_t fab_host_addresses_count(const struct fab_host_addresses *addresses);
const char *fab_host_addresses_name(const struct fab_host_addresses *addresses,
				    uint32_t i);
/* Has some host this IP, as inet_ntop() writes it? O(1). */
bool fab_host_addresses_has_ip(const struct fab_host_addresses *addresses,
			       const char *ip);
/* Give a host an IP (IPv4 or IPv6, as inet_ntop() writes it) that no other has; what it
 * had of that family goes. O(1). */
void fab_host_addresses_set_ip(struct fab_host_addresses *addresses, const char *name,
			       const char *ip);

/*
 * May the name stand in a configuration file? 1 to 63 letters, digits, `.`, `_`, `-`, the
 * first of them a letter or digit: nothing that ends a line, a quote or a word. O(len).
 */
bool fab_is_host_name(const char *name);
