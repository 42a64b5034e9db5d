/* SPDX-License-Identifier: BSD-2-Clause */
#include "boot/network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"

static unsigned bits_of(const struct fab_ip_network *net)
{
	return net->is_ip6 ? 128 : 32;
}

/* Is bit i, from the left, one of the host's? Are all of them 0? */
static bool is_base(const struct fab_ip_network *net)
{
	for (unsigned i = net->prefix; i < bits_of(net); i++)
		if (net->base[i / 8] >> (7 - i % 8) & 1)
			return false;
	return true;
}

static bool is_of_hosts(const struct fab_ip_network *net)
{
	if (net->is_ip6)
		return net->base[0] < 0xfe && (net->base[0] || net->prefix > 8);
	return net->base[0] && net->base[0] != 127 && net->base[0] < 224;
}

static void put_mask(struct fab_ip_network *net)
{
	struct in_addr mask = {.s_addr = htonl(~0U << (32 - net->prefix))};

	inet_ntop(AF_INET, &mask, net->mask, sizeof(net->mask));
}

int fab_ip_network_parse(const char *text, struct fab_ip_network *out,
			 struct fab_err *err)
{
	size_t n = strcspn(text, "/");
	char address[FAB_IP_BYTES] = "";
	uint64_t prefix;

	*out = (struct fab_ip_network){.is_ip6 = memchr(text, ':', n) != NULL};
	if (n < sizeof(address))
		memcpy(address, text, n);
	if (!text[n] ||
	    inet_pton(out->is_ip6 ? AF_INET6 : AF_INET, address, out->base) != 1 ||
	    !fab_parse_u64(text + n + 1, strlen(text + n + 1), 1, bits_of(out), &prefix))
		return fab_fail(err, EINVAL,
				"'%.60s' is no network: expected one as 10.8.0.0/16 or "
				"fd00:8::/64",
				text);
	out->prefix = (unsigned)prefix;
	if (out->prefix >= bits_of(out))
		return fab_fail(err, EINVAL, "'%.60s' has room for one host only", text);
	if (!is_base(out))
		return fab_fail(err, EINVAL,
				"'%.60s' is the address of a host, not of a "
				"network of /%u",
				text, out->prefix);
	if (!is_of_hosts(out))
		return fab_fail(err, EINVAL, "no host has an address of '%.60s'", text);
	inet_ntop(out->is_ip6 ? AF_INET6 : AF_INET, out->base, out->first,
		  sizeof(out->first));
	snprintf(out->text, sizeof(out->text), "%s/%u", out->first, out->prefix);
	if (!out->is_ip6)
		put_mask(out);
	return 0;
}

uint64_t fab_ip_network_hosts(const struct fab_ip_network *net)
{
	unsigned bits = bits_of(net) - net->prefix;
	uint64_t all = bits > 32 ? UINT64_C(1) << 32 : UINT64_C(1) << bits;

	if (net->is_ip6)
		return bits > 32 ? all : all - 1;
	return bits == 1 ? all : all - 2;
}

void fab_ip_network_host(const struct fab_ip_network *net, uint64_t i,
			 char out[FAB_IP_BYTES])
{
	unsigned bytes = bits_of(net) / 8;
	uint8_t ip[16];

	if (net->is_ip6 || net->prefix < 31)
		i++;
	memcpy(ip, net->base, sizeof(ip));
	for (unsigned b = bytes; b-- > 0 && i; i >>= 8)
		ip[b] = (uint8_t)(ip[b] + (i & 255)); /* the host's bits are 0 */
	inet_ntop(net->is_ip6 ? AF_INET6 : AF_INET, ip, out, FAB_IP_BYTES);
}

bool fab_ip_network_has(const struct fab_ip_network *net, const char *ip)
{
	uint8_t bytes[16];

	if (inet_pton(net->is_ip6 ? AF_INET6 : AF_INET, ip, bytes) != 1)
		return false;
	for (unsigned i = 0; i < net->prefix; i++)
		if ((bytes[i / 8] ^ net->base[i / 8]) >> (7 - i % 8) & 1)
			return false;
	return true;
}
