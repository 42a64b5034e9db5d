/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of hosts that a file would have for something else. */
#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "export/boot_impl.h"

/*
 * xCAT reads a name that is no node of its tables as a group, or as a range when it has
 * an odd number of hyphens and both sides of the middle one differ in numbers only;
 * groups of its own are called so.
 */
bool boot_is_noderange(const char *name)
{
	static const char *const groups[] = {"all", "compute", "service"};
	const char *low = name, *high = name, *middle;
	size_t hyphens = 0;

	for (const char *at = name; *at; at++)
		hyphens += *at == '-';
	for (size_t i = 0; i < FAB_COUNT(groups); i++)
		if (!strcasecmp(name, groups[i]))
			return true;
	if (strspn(name, "0123456789") == strlen(name))
		return true;
	if (hyphens % 2 == 0)
		return false;
	for (size_t i = 0; i <= hyphens / 2; i++)
		high = strchr(high, '-') + 1;
	middle = high - 1;
	if (strlen(high) == (size_t)(middle - low) && !strncmp(low, high, strlen(high)))
		return false;
	while (low < middle && *high) {
		size_t n = strspn(low, "0123456789"), k = strspn(high, "0123456789");

		if (!n != !k || (!n && *low != *high))
			return false;
		low += n ? n : 1;
		high += k ? k : 1;
	}
	return low == middle && !*high;
}

/*
 * dnsmasq takes a word of dhcp-host for a lease time, an address or an order when it
 * looks like one, and a name with an empty label ends dhcpd's parser.
 */
bool boot_is_dhcp_word(const char *name)
{
	size_t digits = strspn(name, "0123456789"), n = strlen(name);
	struct in_addr ip;

	return !strcmp(name, "ignore") || !strcmp(name, "infinite") ||
	       inet_pton(AF_INET, name, &ip) == 1 || digits == n ||
	       (digits && digits + 1 == n && strchr("wdhmsWDHMS", name[digits])) ||
	       strstr(name, "..") || name[n - 1] == '.';
}
