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
#include "base/num.h"

enum { LINE_MAX_BYTES = 4096, NAME_MAX_BYTES = 63, WORDS_MAX = 128, TEXT_BYTES = 200 };

/* Who has a MAC or IP, and which line said so first. */
struct claim {
	uint32_t entry;
	uint64_t line;
};

struct fab_host_addresses {
	struct fab_strmap *by_name;
	struct fab_directory *names; /* the same, whatever the letters' case */
	struct fab_strmap *by_address;
	FAB_VEC(struct fab_host_address) entries;
	FAB_VEC(char *) name; /* of each entry */
	FAB_VEC(struct claim) claims;
};

/* What one line says. */
struct told {
	uint64_t line;
	struct fab_host_address of;
	const char *name[WORDS_MAX];
	size_t n_names;
	bool is_skipped;
};

bool fab_is_host_name(const char *name)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789._-";
	size_t n = strlen(name);

	return n >= 1 && n <= NAME_MAX_BYTES && strspn(name, good) == n &&
	       !strchr("._-", name[0]);
}

/* Six pairs of hexadecimal digits, all with : or all with - between; one digit is taken
 * for 0 and the digit, as ethers does. */
static bool parse_mac(const char *text, char out[18])
{
	const char mark = text[strspn(text, "0123456789abcdefABCDEF")];
	uint64_t byte, all = 0;

	for (int i = 0; i < 6; i++) {
		size_t n = strspn(text, "0123456789abcdefABCDEF");

		if (n < 1 || n > 2 || !fab_parse_hex(text, n, &byte) ||
		    text[n] != (i < 5 ? mark : 0) || (mark != ':' && mark != '-'))
			return false;
		all = all << 8 | byte;
		text += n + 1;
	}
	for (int i = 0; i < 12; i++)
		out[i + i / 2] = "0123456789abcdef"[(all >> (44 - 4 * i)) & 15];
	for (int i = 0; i < 5; i++)
		out[3 * i + 2] = ':';
	out[17] = 0;
	return true;
}

/* A host's own: not 0, not of a group. */
static bool is_hosts_mac(const char *mac)
{
	return !strchr("13579bdf", mac[1]) && strcmp(mac, "00:00:00:00:00:00") != 0;
}

enum kind { NO_IP, IP_OF_HOST, IP_OF_NOBODY, IP_ELSEWHERE };

/* An IPv4 address in the spelling of inet_ntop(), and whether a host can have it. */
static enum kind parse_ip4(const char *text, char out[16])
{
	struct in_addr ip;
	uint32_t bits;

	if (inet_pton(AF_INET, text, &ip) != 1 || !inet_ntop(AF_INET, &ip, out, 16))
		return NO_IP;
	bits = ntohl(ip.s_addr);
	if (bits >> 24 == 127)
		return IP_ELSEWHERE;
	return bits >> 24 == 0 || bits >> 28 >= 14 ? IP_OF_NOBODY : IP_OF_HOST;
}

static enum kind parse_ip6(const char *text, char out[46])
{
	struct in6_addr ip;

	if (inet_pton(AF_INET6, text, &ip) != 1 || !inet_ntop(AF_INET6, &ip, out, 46))
		return NO_IP;
	/* what every /etc/hosts has: loopback, link-local, groups */
	if (IN6_IS_ADDR_LOOPBACK(&ip) || ip.s6_addr[0] >= 0xfe)
		return IP_ELSEWHERE;
	return IN6_IS_ADDR_UNSPECIFIED(&ip) || IN6_IS_ADDR_V4MAPPED(&ip) ? IP_OF_NOBODY
									 : IP_OF_HOST;
}

static const char *next_word(char **rest)
{
	char *word;

	do
		word = strsep(rest, " \t\r");
	while (word && !*word);
	return word;
}

/* One more address of the line; a sentence of what is wrong, or NULL. */
static const char *take_ip(struct told *told, const char *word)
{
	char ip[16], ip6[46];
	enum kind four = parse_ip4(word, ip), six = parse_ip6(word, ip6);

	if (four == NO_IP && six == NO_IP)
		return "expected NAME MAC [IP], MAC NAME or IP NAME...";
	if (four != IP_OF_HOST && six != IP_OF_HOST)
		return "no host has this IP address";
	if (four == IP_OF_HOST && !*told->of.ip)
		memcpy(told->of.ip, ip, sizeof(ip));
	else if (six == IP_OF_HOST && !*told->of.ip6)
		memcpy(told->of.ip6, ip6, sizeof(ip6));
	else
		return "a host has one IP address of a family";
	return NULL;
}

/* The rest of a line of /etc/hosts. */
static const char *take_names(struct told *told, char **rest)
{
	const char *word;

	while ((word = next_word(rest)) != NULL) {
		if (told->n_names == FAB_COUNT(told->name))
			return "more than 128 names";
		told->name[told->n_names++] = word;
	}
	return NULL;
}

/* Takes a line apart; a sentence of what is wrong, or NULL. */
static const char *parse_line(struct told *told, char *line)
{
	char *rest = line, ip[46];
	const char *first, *second, *third, *wrong;

	line[strcspn(line, "#")] = 0;
	first = next_word(&rest);
	told->is_skipped = !first;
	if (!first)
		return NULL;
	if (parse_ip4(first, ip) != NO_IP || parse_ip6(first, ip) != NO_IP) {
		told->is_skipped = parse_ip4(first, ip) == IP_ELSEWHERE ||
				   parse_ip6(first, ip) == IP_ELSEWHERE;
		wrong = told->is_skipped ? NULL : take_ip(told, first);
		return wrong || told->is_skipped ? wrong : take_names(told, &rest);
	}
	second = next_word(&rest);
	third = next_word(&rest);
	if (parse_mac(first, told->of.mac) && second && !third) {
		told->name[told->n_names++] = second;
		return NULL;
	}
	if (!second || !parse_mac(second, told->of.mac))
		return "expected NAME MAC [IP], MAC NAME or IP NAME...";
	told->name[told->n_names++] = first;
	for (; third; third = next_word(&rest)) {
		wrong = take_ip(told, third);
		if (wrong)
			return wrong;
	}
	return NULL;
}

static uint32_t entry_of(struct fab_host_addresses *a, const char *name)
{
	uint32_t n = (uint32_t)a->entries.n;
	uint32_t at = fab_strmap_put(a->by_name, name, strlen(name), n);

	if (at == n) {
		FAB_PUSH(&a->entries, ((struct fab_host_address){0}));
		FAB_PUSH(&a->name, fab_strdup(name));
		fab_directory_add(a->names, name, strlen(name), n);
	}
	return at;
}

static bool has(const struct fab_host_addresses *a, uint32_t entry, const char *address)
{
	const struct fab_host_address *e = &a->entries.v[entry];

	return !strcmp(e->mac, address) || !strcmp(e->ip, address) ||
	       !strcmp(e->ip6, address);
}

/* Nobody but the names of this line may have the address. */
static bool claim(struct fab_host_addresses *a, const struct told *told,
		  const char *address, char wrong[TEXT_BYTES])
{
	uint32_t n = (uint32_t)a->claims.n, at;

	if (!*address || !told->n_names)
		return true;
	at = fab_strmap_put(a->by_address, address, strlen(address), n);
	if (at == n) {
		FAB_PUSH(&a->claims,
			 ((struct claim){entry_of(a, told->name[0]), told->line}));
		return true;
	}
	for (size_t i = 0; i < told->n_names; i++) {
		uint32_t entry =
			fab_strmap_get(a->by_name, told->name[i], strlen(told->name[i]));

		if (entry != FAB_NONE && has(a, entry, address))
			return true;
	}
	if (a->claims.v[at].line)
		snprintf(wrong, TEXT_BYTES, "%s is of '%s' already, by line %llu",
			 address, a->name.v[a->claims.v[at].entry],
			 (unsigned long long)a->claims.v[at].line);
	else
		snprintf(wrong, TEXT_BYTES, "%s is of '%s' already", address,
			 a->name.v[a->claims.v[at].entry]);
	return false;
}

/* Set one word of an entry; false when it has another. */
static bool set(char *field, size_t size, const char *value)
{
	if (*value && *field && strcmp(field, value) != 0)
		return false;
	if (*value)
		memcpy(field, value, size);
	return true;
}

/* Note what a line says; false and a sentence when it contradicts what is known. */
static bool note(struct fab_host_addresses *a, const struct told *told,
		 char wrong[TEXT_BYTES])
{
	const struct fab_host_address *of = &told->of;

	snprintf(wrong, TEXT_BYTES, "this is no host name");
	for (size_t i = 0; i < told->n_names; i++)
		if (!fab_is_host_name(told->name[i]))
			return false;
	snprintf(wrong, TEXT_BYTES, "no host has this MAC address");
	if (*of->mac && !is_hosts_mac(of->mac))
		return false;
	if (!claim(a, told, of->mac, wrong) || !claim(a, told, of->ip, wrong) ||
	    !claim(a, told, of->ip6, wrong))
		return false;
	for (size_t i = 0; i < told->n_names; i++) {
		uint32_t entry = entry_of(a, told->name[i]);
		struct fab_host_address *e = &a->entries.v[entry];

		snprintf(wrong, TEXT_BYTES, "the name has another %s address already",
			 *of->mac && *e->mac && strcmp(of->mac, e->mac) != 0 ? "MAC"
									     : "IP");
		if (!set(e->mac, sizeof(e->mac), of->mac) ||
		    !set(e->ip, sizeof(e->ip), of->ip) ||
		    !set(e->ip6, sizeof(e->ip6), of->ip6))
			return false;
	}
	return true;
}

static int read_line(struct fab_host_addresses *a, const char *file, uint64_t number,
		     const char *at, size_t n, struct fab_err *err)
{
	struct told told = {.line = number};
	const char *wrong = "the line is too long";
	char line[LINE_MAX_BYTES], text[TEXT_BYTES];

	if (n < sizeof(line)) {
		memcpy(line, at, n);
		line[n] = 0;
		wrong = strlen(line) < n ? "the line has a NUL byte"
					 : parse_line(&told, line);
	}
	if (!wrong && !told.is_skipped && !note(a, &told, text))
		wrong = text;
	return wrong ? fab_fail(err, EINVAL, "%s:%llu: %s: '%.*s'", file,
				(unsigned long long)number, wrong, n > 60 ? 60 : (int)n,
				at)
		     : 0;
}

struct fab_host_addresses *fab_host_addresses_new(void)
{
	struct fab_host_addresses *a = FAB_NEW0(1, struct fab_host_addresses);

	a->by_name = fab_strmap_new(64);
	a->by_address = fab_strmap_new(64);
	a->names = fab_directory_new(64);
	return a;
}

int fab_host_addresses_read(const char *file, const char *text, size_t len,
			    struct fab_host_addresses **out, struct fab_err *err)
{
	uint64_t number = 0;
	int rc = 0;

	if (!*out)
		*out = fab_host_addresses_new();
	/* lines of a file before mean nothing to this one */
	for (size_t i = 0; i < (*out)->claims.n; i++)
		(*out)->claims.v[i].line = 0;
	for (const char *at = text, *end = text + len; at < end && !rc;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t n = (size_t)((stop ? stop : end) - at);

		rc = read_line(*out, file, ++number, at, n, err);
		at += n + 1;
	}
	if (rc) {
		fab_host_addresses_free(*out);
		*out = NULL;
	}
	return rc;
}

void fab_host_addresses_free(struct fab_host_addresses *addresses)
{
	if (!addresses)
		return;
	for (size_t i = 0; i < addresses->name.n; i++)
		free(addresses->name.v[i]);
	free(addresses->name.v);
	fab_strmap_free(addresses->by_name);
	fab_strmap_free(addresses->by_address);
	fab_directory_free(addresses->names);
	free(addresses->entries.v);
	free(addresses->claims.v);
	free(addresses);
}

/* By the name to the letter, else whatever its case. */
static uint32_t find(const struct fab_host_addresses *a, const char *name)
{
	uint32_t at = fab_strmap_get(a->by_name, name, strlen(name));
	struct fab_hits hits;

	if (at != FAB_NONE)
		return at;
	hits = fab_directory_find(a->names, name, strlen(name), false);
	return hits.n == 1 ? fab_directory_hit(a->names, &hits) : FAB_NONE;
}

const struct fab_host_address *
fab_host_addresses_find(const struct fab_host_addresses *addresses, const char *name)
{
	uint32_t at = addresses ? find(addresses, name) : FAB_NONE;

	return at == FAB_NONE ? NULL : &addresses->entries.v[at];
}

uint32_t fab_host_addresses_count(const struct fab_host_addresses *addresses)
{
	return addresses ? (uint32_t)addresses->entries.n : 0;
}

const char *fab_host_addresses_name(const struct fab_host_addresses *addresses,
				    uint32_t i)
{
	return addresses->name.v[i];
}

bool fab_host_addresses_has_ip(const struct fab_host_addresses *addresses, const char *ip)
{
	return addresses &&
	       fab_strmap_get(addresses->by_address, ip, strlen(ip)) != FAB_NONE;
}

void fab_host_addresses_set_ip(struct fab_host_addresses *addresses, const char *name,
			       const char *ip)
{
	uint32_t known = find(addresses, name), n = (uint32_t)addresses->claims.n;
	uint32_t entry = known == FAB_NONE ? entry_of(addresses, name) : known;
	struct fab_host_address *e = &addresses->entries.v[entry];

	if (strchr(ip, ':'))
		snprintf(e->ip6, sizeof(e->ip6), "%s", ip);
	else
		snprintf(e->ip, sizeof(e->ip), "%s", ip);
	if (fab_strmap_put(addresses->by_address, ip, strlen(ip), n) == n)
		FAB_PUSH(&addresses->claims, ((struct claim){entry, 0}));
}
