/* SPDX-License-Identifier: BSD-2-Clause */
/* Networks, files of addresses, plans of addresses, and identities of nodes. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boot/addresses.h"

#include "base/lookup.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/text.h"

/* ---- networks ---- */

static unsigned bits_of(const struct fab_ip_network *net)
{
	return net->is_ip6 ? 128 : 32;
}

int fab_ip_network_parse(const char *text, struct fab_ip_network *out,
			 struct fab_err *err)
{
	size_t n = strcspn(text, "/");
	char address[FAB_IP_BYTES] = "";
	bool is_base = true, has_hosts;
	uint64_t prefix;

	*out = (struct fab_ip_network){.is_ip6 = memchr(text, ':', n) != NULL};
	if (n < sizeof(address))
		memcpy(address, text, n);
	if (!text[n] ||
	    inet_pton(out->is_ip6 ? AF_INET6 : AF_INET, address, out->base) != 1 ||
	    !fab_parse_u64(text + n + 1, strlen(text + n + 1), 1, bits_of(out), &prefix))
		return fab_fail(
			err, EINVAL,
			"'%.60s' is no network: expected one as 10.8.0.0/16 or fd00:8::/64",
			text);
	out->prefix = (unsigned)prefix;
	if (out->prefix >= bits_of(out))
		return fab_fail(err, EINVAL, "'%.60s' has room for one host only", text);
	for (unsigned i = out->prefix; i < bits_of(out); i++)
		is_base &= !(out->base[i / 8] >> (7 - i % 8) & 1);
	has_hosts = out->is_ip6
			    ? out->base[0] < 0xfe && (out->base[0] || out->prefix > 8)
			    : out->base[0] && out->base[0] != 127 && out->base[0] < 224;
	if (!is_base)
		return fab_fail(
			err, EINVAL,
			"'%.60s' is the address of a host, not of a network of /%u", text,
			out->prefix);
	if (!has_hosts)
		return fab_fail(err, EINVAL, "no host has an address of '%.60s'", text);
	inet_ntop(out->is_ip6 ? AF_INET6 : AF_INET, out->base, out->first,
		  sizeof(out->first));
	snprintf(out->text, sizeof(out->text), "%s/%u", out->first, out->prefix);
	if (!out->is_ip6) {
		struct in_addr mask = {.s_addr = htonl(~0U << (32 - out->prefix))};

		inet_ntop(AF_INET, &mask, out->mask, sizeof(out->mask));
	}
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

/* ---- files of addresses ---- */

enum { LINE_MAX_BYTES = 4096, NAME_MAX_BYTES = 63, WORDS_MAX = 128, TEXT_BYTES = 200 };

/* Owner of a MAC or IP, and the first line that has it. */
struct claim {
	uint32_t entry;
	uint64_t line;
};

struct fab_host_addresses {
	struct fab_strmap *by_name;
	struct fab_directory *names; /* the same, whatever the case */
	struct fab_strmap *by_address;
	FAB_VEC(struct fab_host_address) entries;
	FAB_VEC(char *) name; /* of each entry */
	FAB_VEC(struct claim) claims;
};

/* Contents of one line. */
struct given {
	uint64_t line;
	struct fab_host_address of;
	const char *name[WORDS_MAX];
	size_t n_names;
	bool is_skipped;
};

bool fab_is_host_name(const char *name)
{
	static const char good[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	size_t n = strlen(name);

	return n >= 1 && n <= NAME_MAX_BYTES && strspn(name, good) == n &&
	       !strchr("._-", name[0]);
}

/* Six pairs of hexadecimal digits, all with : or all with - between; one digit is taken
 * for 0 and the digit, as ethers does. */
static bool parse_mac(const char *text, char out[18])
{
	const char mark = text[strspn(text, "0123456789abcdefABCDEF")];
	uint64_t byte;

	for (int i = 0; i < 6; i++) {
		size_t n = strspn(text, "0123456789abcdefABCDEF");

		if (n < 1 || n > 2 || !fab_parse_hex(text, n, &byte) ||
		    text[n] != (i < 5 ? mark : 0) || (mark != ':' && mark != '-'))
			return false;
		snprintf(out + 3 * i, (size_t)(18 - 3 * i), i < 5 ? "%02x:" : "%02x",
			 (unsigned)byte);
		text += n + 1;
	}
	return true;
}

enum kind { NO_IP, IP_OF_HOST, IP_OF_NO_HOST, IP_ELSEWHERE };

/* An address in the spelling of inet_ntop(), and whether a host can have it. */
static enum kind parse_ip(const char *text, char out[FAB_IP_BYTES])
{
	bool is_ip6 = strchr(text, ':') != NULL;
	int family = is_ip6 ? AF_INET6 : AF_INET;
	struct in6_addr ip; /* has room for both */
	uint8_t first;

	if (inet_pton(family, text, &ip) != 1 ||
	    !inet_ntop(family, &ip, out, FAB_IP_BYTES))
		return NO_IP;
	first = ip.s6_addr[0];
	/* what every /etc/hosts has: loopback, link-local, groups */
	if (is_ip6 ? IN6_IS_ADDR_LOOPBACK(&ip) || first >= 0xfe : first == 127)
		return IP_ELSEWHERE;
	if (is_ip6 ? IN6_IS_ADDR_UNSPECIFIED(&ip) || IN6_IS_ADDR_V4MAPPED(&ip)
		   : !first || first >= 224)
		return IP_OF_NO_HOST;
	return IP_OF_HOST;
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
static const char *take_ip(struct given *given, const char *word)
{
	char ip[FAB_IP_BYTES];
	bool is_ip6 = strchr(word, ':') != NULL;
	enum kind kind = parse_ip(word, ip);

	if (kind == NO_IP)
		return "expected NAME MAC [IP], MAC NAME or IP NAME...";
	if (kind != IP_OF_HOST)
		return "no host has this IP address";
	if (is_ip6 ? *given->of.ip6 : *given->of.ip)
		return "a host has one IP address of a family";
	if (is_ip6)
		strcpy(given->of.ip6, ip);
	else
		strcpy(given->of.ip, ip);
	return NULL;
}

/* Takes a line apart; a sentence of what is wrong, or NULL. */
static const char *parse_line(struct given *given, char *line)
{
	char *rest = line, ip[FAB_IP_BYTES];
	const char *first, *second, *third, *wrong;

	line[strcspn(line, "#")] = 0;
	first = next_word(&rest);
	given->is_skipped = !first;
	if (!first)
		return NULL;
	if (parse_ip(first, ip) != NO_IP) {
		given->is_skipped = parse_ip(first, ip) == IP_ELSEWHERE;
		wrong = given->is_skipped ? NULL : take_ip(given, first);
		while (!wrong && !given->is_skipped && (first = next_word(&rest))) {
			if (given->n_names == FAB_COUNT(given->name))
				return "more than 128 names";
			given->name[given->n_names++] = first;
		}
		return wrong;
	}
	second = next_word(&rest);
	third = next_word(&rest);
	if (parse_mac(first, given->of.mac) && second && !third) {
		given->name[given->n_names++] = second;
		return NULL;
	}
	if (!second || !parse_mac(second, given->of.mac))
		return "expected NAME MAC [IP], MAC NAME or IP NAME...";
	given->name[given->n_names++] = first;
	for (; third; third = next_word(&rest)) {
		wrong = take_ip(given, third);
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

/* Only the names of this line may have the address. */
static bool claim(struct fab_host_addresses *a, const struct given *given,
		  const char *address, char wrong[TEXT_BYTES])
{
	uint32_t n = (uint32_t)a->claims.n, at;
	int n_text;

	if (!*address || !given->n_names)
		return true;
	at = fab_strmap_put(a->by_address, address, strlen(address), n);
	if (at == n) {
		FAB_PUSH(&a->claims,
			 ((struct claim){entry_of(a, given->name[0]), given->line}));
		return true;
	}
	for (size_t i = 0; i < given->n_names; i++) {
		uint32_t entry = fab_strmap_get(a->by_name, given->name[i],
						strlen(given->name[i]));

		if (entry != FAB_NONE && (!strcmp(a->entries.v[entry].mac, address) ||
					  !strcmp(a->entries.v[entry].ip, address) ||
					  !strcmp(a->entries.v[entry].ip6, address)))
			return true;
	}
	n_text = snprintf(wrong, TEXT_BYTES, "%s is of '%s' already", address,
			  a->name.v[a->claims.v[at].entry]);
	if (a->claims.v[at].line)
		snprintf(wrong + n_text, (size_t)(TEXT_BYTES - n_text), ", by line %llu",
			 (unsigned long long)a->claims.v[at].line);
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
static bool note(struct fab_host_addresses *a, const struct given *given,
		 char wrong[TEXT_BYTES])
{
	const struct fab_host_address *of = &given->of;

	snprintf(wrong, TEXT_BYTES, "this is no host name");
	for (size_t i = 0; i < given->n_names; i++)
		if (!fab_is_host_name(given->name[i]))
			return false;
	snprintf(wrong, TEXT_BYTES, "no host has this MAC address");
	/* one of a host is not 0, and not of a group */
	if (*of->mac &&
	    (strchr("13579bdf", of->mac[1]) || !strcmp(of->mac, "00:00:00:00:00:00")))
		return false;
	if (!claim(a, given, of->mac, wrong) || !claim(a, given, of->ip, wrong) ||
	    !claim(a, given, of->ip6, wrong))
		return false;
	for (size_t i = 0; i < given->n_names; i++) {
		uint32_t entry = entry_of(a, given->name[i]);
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
	struct given given = {.line = number};
	const char *wrong = "the line is too long";
	char line[LINE_MAX_BYTES], text[TEXT_BYTES];

	if (n < sizeof(line)) {
		memcpy(line, at, n);
		line[n] = 0;
		wrong = strlen(line) < n ? "the line has a NUL byte"
					 : parse_line(&given, line);
	}
	if (!wrong && !given.is_skipped && !note(a, &given, text))
		wrong = text;
	return wrong ? fab_fail_line(err, file, number, "%s: '%.*s'", wrong,
				     n > 60 ? 60 : (int)n, at)
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
	fab_strmap_free(addresses->by_name);
	fab_strmap_free(addresses->by_address);
	fab_directory_free(addresses->names);
	FAB_FREE_ALL(addresses->name.v, addresses->entries.v, addresses->claims.v,
		     addresses);
}

/* By the exact name, else whatever its case. */
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

/* ---- plans ---- */

struct hosts {
	struct fab_arena arena;
	struct fab_address_host *v;
	uint32_t n;
	struct fab_strmap *by_name; /* to the first of the name */
};

static uint64_t guid_of(const struct fab_machine *m, const uint32_t *port, uint32_t i)
{
	return m->fabric && port && port[i] != FAB_NONE ? m->fabric->port_guid[port[i]]
							: 0;
}

uint64_t fab_machine_node_guid(const struct fab_machine *m, uint32_t node)
{
	return guid_of(m, m->node_port, node);
}

char *fab_machine_interface_host_name(const struct fab_machine *m, uint32_t interface,
				      char out[FAB_MACHINE_NAME_BYTES])
{
	char *slash;

	fab_machine_interface_name(m, interface, out);
	slash = strrchr(out, '/');
	if (slash && slash[1] && strspn(slash + 1, "0123456789") == strlen(slash + 1))
		*slash = '-';
	return out;
}

static int by_name(const void *a, const void *b)
{
	const struct fab_address_host *x = a, *y = b;

	if (x->is_server != y->is_server)
		return x->is_server ? -1 : 1;
	return fab_text_natural_cmp(x->name, y->name);
}

struct fab_address_host *fab_address_hosts_of(const struct fab_machine *m,
					      struct fab_arena *a, uint32_t *n)
{
	struct fab_address_host *v = FAB_ARENA_NEW(
		a, (size_t)m->n_interfaces + m->n_nodes + 1, struct fab_address_host);
	char name[FAB_MACHINE_NAME_BYTES];

	*n = 0;
	for (uint32_t i = 0; i < m->n_interfaces; i++) {
		fab_machine_interface_host_name(m, i, name);
		if (fab_is_host_name(name))
			v[(*n)++] = (struct fab_address_host){
				fab_arena_strdup(a, name),
				guid_of(m, m->interface_port, i), i, true};
	}
	for (uint32_t i = 0; i < m->n_nodes; i++) {
		fab_machine_node_name(m, i, name);
		if (fab_is_host_name(name))
			v[(*n)++] = (struct fab_address_host){fab_arena_strdup(a, name),
							      fab_machine_node_guid(m, i),
							      i, false};
	}
	qsort(v, *n, sizeof(*v), by_name);
	return v;
}

static struct hosts hosts_of(const struct fab_machine *m)
{
	struct hosts h = {0};

	h.v = fab_address_hosts_of(m, &h.arena, &h.n);
	h.by_name = fab_strmap_new(h.n);
	for (uint32_t i = 0; i < h.n; i++)
		fab_strmap_put(h.by_name, h.v[i].name, strlen(h.v[i].name), i);
	return h;
}

static void hosts_fini(struct hosts *h)
{
	fab_arena_free(&h->arena);
	fab_strmap_free(h->by_name);
}

/* A line of the file: ADDRESS NAME ... # 0xGUID */
struct line {
	const char *at;
	size_t n;	  /* without the line end */
	size_t name, len; /* where the first name stands */
	uint64_t guid;	  /* 0: none is given */
};

static struct line line_at(const char *at, const char *end)
{
	static const char digits[] = "0123456789abcdefABCDEFx";
	const char *stop = memchr(at, '\n', (size_t)(end - at)), *mark;
	struct line l = {.at = at, .n = (size_t)((stop ? stop : end) - at)};
	size_t i = 0, len = 0;

	mark = memchr(at, '#', l.n);
	while (i < l.n && strchr(" \t", at[i]))
		i++;
	while (i < l.n && !strchr(" \t#", at[i]))
		i++;
	while (i < l.n && strchr(" \t", at[i]))
		i++;
	l.name = i;
	while (i < l.n && !strchr(" \t\r#", at[i]))
		i++;
	l.len = i - l.name;
	if (!mark)
		return l;
	mark++;
	while (mark < at + l.n && *mark == ' ')
		mark++;
	while (mark + len < at + l.n && mark[len] && strchr(digits, mark[len]))
		len++;
	if (len < 3 || strncmp(mark, "0x", 2) != 0 || !fab_parse_guid(mark, len, &l.guid))
		l.guid = 0;
	return l;
}

int fab_address_plan_read(const struct fab_machine *m, const char *file, const char *text,
			  size_t len, struct fab_host_addresses **out,
			  struct fab_err *err)
{
	FAB_AUTO(hosts_fini) struct hosts h = hosts_of(m);
	FAB_AUTO(fab_map64_free_at) struct fab_map64 *by_guid = fab_map64_new(h.n);
	FAB_AUTO(fab_strmap_free_at) struct fab_strmap *in_file = fab_strmap_new(64);
	const char *end = text + len;
	FAB_AUTOFREE char *now = NULL; /* the text with the names that hosts have now */
	size_t n;
	FILE *copy = fab_text_stream(&now, &n);

	for (uint32_t i = 0; i < h.n; i++)
		if (h.v[i].guid)
			fab_map64_put(by_guid, h.v[i].guid, i);
	for (const char *at = text; at < end;) {
		struct line l = line_at(at, end);

		fab_strmap_put(in_file, at + l.name, l.len, 0);
		at += l.n + 1;
	}
	for (const char *at = text; at < end;) {
		struct line l = line_at(at, end);
		uint32_t host = l.guid ? fab_map64_get(by_guid, l.guid) : FAB_NONE;
		const char *name = host < h.n ? h.v[host].name : NULL;

		if (name && (fab_strmap_get(h.by_name, at + l.name, l.len) != FAB_NONE ||
			     fab_strmap_get(in_file, name, strlen(name)) != FAB_NONE))
			name = NULL; /* it has the name that it had */
		fwrite(at, 1, name ? l.name : l.n, copy);
		if (name) {
			fputs(name, copy);
			fwrite(at + l.name + l.len, 1, l.n - l.name - l.len, copy);
		}
		putc('\n', copy);
		at += l.n + 1;
	}
	fclose(copy);
	*out = NULL;
	return fab_host_addresses_read(file, now, n, out, err);
}

static int by_text(const void *a, const void *b)
{
	return fab_text_natural_cmp(*(const char *const *)a, *(const char *const *)b);
}

static void write_line(FILE *out, const char *ip, const char *name, uint64_t guid)
{
	if (!*ip)
		return;
	fprintf(out, "%s %s", ip, name);
	if (guid)
		fprintf(out, " # 0x%016" PRIx64, guid);
	putc('\n', out);
}

void fab_address_plan_write(FILE *out, const struct fab_machine *m,
			    const struct fab_host_addresses *plan)
{
	uint32_t n = fab_host_addresses_count(plan);
	FAB_AUTOFREE const char **name = FAB_NEW((size_t)n + 1, const char *);
	FAB_AUTO(hosts_fini) struct hosts h = hosts_of(m);

	for (uint32_t i = 0; i < n; i++)
		name[i] = fab_host_addresses_name(plan, i);
	qsort(name, n, sizeof(*name), by_text);
	for (uint32_t i = 0; i < n; i++) {
		const struct fab_host_address *a = fab_host_addresses_find(plan, name[i]);
		uint32_t host = fab_strmap_get(h.by_name, name[i], strlen(name[i]));
		uint64_t guid = host == FAB_NONE ? 0 : h.v[host].guid;

		write_line(out, a->ip, name[i], guid);
		write_line(out, a->ip6, name[i], guid);
	}
}

/* ---- identities ---- */

/* "00:02:c9:03:00:00:10:39" */
static void put_guid(char out[24], uint64_t guid)
{
	for (int i = 0; i < 8; i++)
		snprintf(out + 3 * i, (size_t)(24 - 3 * i), i < 7 ? "%02x:" : "%02x",
			 (unsigned)(guid >> (56 - 8 * i)) & 255);
}

bool fab_boot_id_of(enum fab_boot_identity kind, const char *mac, uint64_t guid,
		    struct fab_boot_id *out)
{
	char text[24];

	if (kind == FAB_IDENTITY_AUTO)
		kind = *mac ? FAB_IDENTITY_MAC : FAB_IDENTITY_CLIENT_ID;
	*out = (struct fab_boot_id){.kind = kind};
	put_guid(text, guid);
	if (kind == FAB_IDENTITY_MAC) {
		snprintf(out->mac, sizeof(out->mac), "%s", mac);
		return *mac != 0;
	}
	if (*mac)
		snprintf(out->mac, sizeof(out->mac), "%s", mac);
	if (kind == FAB_IDENTITY_HARDWARE_32) {
		/* bytes 0 to 2 and 5 to 7 of the GUID */
		snprintf(out->mac, sizeof(out->mac), "%.9s%s", text, text + 15);
	} else if (kind == FAB_IDENTITY_CLIENT_ID) {
		snprintf(out->duid, sizeof(out->duid), "00:02:00:00:02:c9:00:%s", text);
		snprintf(out->client_id, sizeof(out->client_id),
			 "ff:00:00:00:00:00:02:00:00:02:c9:00:%s", text);
	} else {
		snprintf(out->duid, sizeof(out->duid), "00:03:00:20:%s", text);
		snprintf(out->client_id, sizeof(out->client_id), "20:%s", text);
	}
	return guid != 0;
}
