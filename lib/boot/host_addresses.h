/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses of hosts: what boot server configuration needs and a fabric does not tell. */
#pragma once

#include <stdbool.h>

#include "base/err.h"

struct fab_host_addresses;

struct fab_host_address {
	char mac[18]; /* "00:11:22:aa:bb:cc", empty: not told */
	char ip[16];  /* IPv4, empty: not told */
};

/*
 * Read addresses, a host a line, # begins a comment; each line is one of
 *     NAME MAC [IP]      MAC NAME (as in /etc/ethers)      IP NAME... (as in /etc/hosts)
 * What several lines say of one name adds up. IPv6 lines of /etc/hosts are skipped.
 * EINVAL names file and line: no MAC where one should be, a name that is no host name,
 * another MAC or IP for a name that has one. The caller frees *out. O(bytes).
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

/*
 * May the name stand in a configuration file? 1 to 63 letters, digits, `.`, `_`, `-`, the
 * first of them a letter or digit: nothing that ends a line, a quote or a word. O(len).
 */
bool fab_is_host_name(const char *name);
