/* SPDX-License-Identifier: BSD-2-Clause */
#include "boot/host_addresses.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/directory.h"
#include "base/map.h"
#include "base/mem.h"

enum { LINE_MAX_BYTES = 4096, NAME_MAX_BYTES = 63 };

struct fab_host_addresses {
	struct fab_strmap *by_name;
	struct fab_directory *names; /* the same, whatever the letters' case */
	FAB_VEC(struct fab_host_address) entries;
};

bool fab_is_host_name(const char *name)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789._-";
	size_t n = strlen(name);

	return n >= 1 && n <= NAME_MAX_BYTES && strspn(name, good) == n &&
	       !strchr("._-", name[0]);
}

/* Six pairs of hexadecimal digits; one digit is taken for 0 and the digit, as ethers
 * does. */
static bool parse_mac(const char *text, char out[18])
{
	unsigned b[6];
	int end = 0;

	if (strspn(text, "0123456789abcdefABCDEF:-") != strlen(text) ||
	    (sscanf(text, "%2x:%2x:%2x:%2x:%2x:%2x%n", &b[0], &b[1], &b[2], &b[3], &b[4],
		    &b[5], &end) != 6 &&
	     sscanf(text, "%2x-%2x-%2x-%2x-%2x-%2x%n", &b[0], &b[1], &b[2], &b[3], &b[4],
		    &b[5], &end) != 6) ||
	    text[end])
		return false;
	snprintf(out, 18, "%02x:%02x:%02x:%02x:%02x:%02x", b[0] & 255, b[1] & 255,
		 b[2] & 255, b[3] & 255, b[4] & 255, b[5] & 255);
	return true;
}

static bool parse_ip(const char *text, char out[16])
{
	struct in_addr ip;

	return inet_pton(AF_INET, text, &ip) == 1 && inet_ntop(AF_INET, &ip, out, 16);
}

/* Note what is told of a name; false when it contradicts what was. */
static bool note(struct fab_host_addresses *addresses, const char *name, const char *mac,
		 const char *ip)
{
	uint32_t n = (uint32_t)addresses->entries.n;
	uint32_t at = fab_strmap_put(addresses->by_name, name, strlen(name), n);
	struct fab_host_address *e;

	if (at == n) {
		FAB_PUSH(&addresses->entries, ((struct fab_host_address){0}));
		fab_directory_add(addresses->names, name, strlen(name), n);
	}
	e = &addresses->entries.v[at];
	if ((*mac && *e->mac && strcmp(mac, e->mac) != 0) ||
	    (*ip && *e->ip && strcmp(ip, e->ip) != 0))
		return false;
	if (*mac)
		memcpy(e->mac, mac, sizeof(e->mac));
	if (*ip)
		memcpy(e->ip, ip, sizeof(e->ip));
	return true;
}

static const char *next_word(char **rest)
{
	char *word;

	do
		word = strsep(rest, " \t\r");
	while (word && !*word);
	return word;
}

/* Reads one line; a sentence of what is wrong, or NULL. */
static const char *read_line(struct fab_host_addresses *addresses, char *line)
{
	char mac[18] = "", ip[16] = "", *rest = line;
	struct in6_addr six;
	const char *first, *second, *third;

	line[strcspn(line, "#")] = 0;
	first = next_word(&rest);
	if (!first)
		return NULL;
	if (parse_ip(first, ip)) {
		for (second = next_word(&rest); second; second = next_word(&rest))
			if (!fab_is_host_name(second))
				return "this is no host name";
			else if (!note(addresses, second, "", ip) &&
				 strncmp(ip, "127.", 4) != 0)
				return "the name has another IP address already";
		return NULL;
	}
	second = next_word(&rest);
	third = next_word(&rest);
	if (parse_mac(first, mac) && second && !third)
		return !fab_is_host_name(second) ? "this is no host name"
		       : note(addresses, second, mac, "")
			       ? NULL
			       : "the name has another MAC already";
	if (inet_pton(AF_INET6, first, &six) == 1)
		return NULL;
	if (!second || !parse_mac(second, mac) || (third && !parse_ip(third, ip)) ||
	    next_word(&rest))
		return "expected NAME MAC [IP], MAC NAME or IP NAME...";
	if (!fab_is_host_name(first))
		return "this is no host name";
	return note(addresses, first, mac, ip)
		       ? NULL
		       : "the name has another MAC or IP address already";
}

int fab_host_addresses_read(const char *file, const char *text, size_t len,
			    struct fab_host_addresses **out, struct fab_err *err)
{
	struct fab_host_addresses *addresses = FAB_NEW0(1, struct fab_host_addresses);
	uint64_t number = 0;
	int rc = 0;

	addresses->by_name = fab_strmap_new(64);
	addresses->names = fab_directory_new(64);
	for (const char *at = text, *end = text + len; at < end && !rc;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at)), *wrong;
		size_t n = (size_t)((stop ? stop : end) - at);
		char line[LINE_MAX_BYTES];

		number++;
		wrong = "the line is too long";
		if (n < sizeof(line)) {
			memcpy(line, at, n);
			line[n] = 0;
			wrong = strlen(line) < n ? "the line has a NUL byte"
						 : read_line(addresses, line);
		}
		if (wrong)
			rc = fab_fail(err, EINVAL, "%s:%llu: %s: '%.*s'", file,
				      (unsigned long long)number, wrong,
				      n > 60 ? 60 : (int)n, at);
		at += n + 1;
	}
	if (rc) {
		fab_host_addresses_free(addresses);
		return rc;
	}
	*out = addresses;
	return 0;
}

void fab_host_addresses_free(struct fab_host_addresses *addresses)
{
	if (!addresses)
		return;
	fab_strmap_free(addresses->by_name);
	fab_directory_free(addresses->names);
	free(addresses->entries.v);
	free(addresses);
}

const struct fab_host_address *
fab_host_addresses_find(const struct fab_host_addresses *addresses, const char *name)
{
	uint32_t at = addresses ? fab_strmap_get(addresses->by_name, name, strlen(name))
				: FAB_NONE;

	if (addresses && at == FAB_NONE) {
		struct fab_hits hits =
			fab_directory_find(addresses->names, name, strlen(name), false);

		at = hits.n == 1 ? fab_directory_hit(addresses->names, &hits) : FAB_NONE;
	}
	return at == FAB_NONE ? NULL : &addresses->entries.v[at];
}
