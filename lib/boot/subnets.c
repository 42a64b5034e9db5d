/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Networks of a site: the file that lists them, and addresses of nodes and servers out of
 * them. A host has at most one network of each family.
 */
#include "boot/subnets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "boot/impl.h"

enum { WORDS_MAX = 8, WORD_BYTES = 1024 };

void fab_subnets_fini(struct fab_subnets *s)
{
	free(s->of.v);
	fab_arena_free(&s->arena);
	*s = (struct fab_subnets){0};
}

const struct fab_subnet *fab_subnets_first(const struct fab_subnets *s, bool is_ip6)
{
	for (size_t i = 0; s && i < s->of.n; i++)
		if (s->of.v[i].net.is_ip6 == is_ip6)
			return &s->of.v[i];
	return NULL;
}

const struct fab_subnet *fab_subnets_find(const struct fab_subnets *s, const char *ip)
{
	bool is_ip6 = strchr(ip, ':') != NULL;

	for (size_t i = 0; s && *ip && i < s->of.n; i++)
		if (s->of.v[i].net.is_ip6 == is_ip6 &&
		    fab_ip_network_has(&s->of.v[i].net, ip))
			return &s->of.v[i];
	return NULL;
}

/* Tables of a family, all FAB_NONE at first. */
static void make_tables(struct fab_subnets *s, const struct fab_machine *m, bool is_ip6)
{
	if (s->of_node[is_ip6])
		return;
	s->of_node[is_ip6] = fab_arena_none(&s->arena, (size_t)m->n_nodes + 1);
	s->of_interface[is_ip6] = fab_arena_none(&s->arena, (size_t)m->n_interfaces + 1);
}

void fab_subnets_add(struct fab_subnets *s, const struct fab_machine *m,
		     const struct fab_ip_network *net)
{
	uint32_t at = (uint32_t)s->of.n;

	FAB_PUSH(&s->of, ((struct fab_subnet){.net = *net, .number = at + 1}));
	if (!m)
		return;
	make_tables(s, m, net->is_ip6);
	for (uint32_t i = 0; i < m->n_nodes; i++)
		s->of_node[net->is_ip6][i] = at;
	for (uint32_t i = 0; i < m->n_interfaces; i++)
		s->of_interface[net->is_ip6][i] = at;
}

/* ---- the file ---- */

struct reader {
	const struct fab_machine *m;
	const char *text;
	const struct fab_places *places;
	struct fab_subnets *out;
	uint64_t line; /* that is read */
};

/* A node or interface gets its network. */
static int put(void *context, bool is_node, uint32_t id, struct fab_err *err)
{
	struct reader *r = context;
	struct fab_subnets *s = r->out;
	uint32_t at = (uint32_t)s->of.n - 1;
	bool is_ip6 = s->of.v[at].net.is_ip6;
	uint32_t *of = is_node ? &s->of_node[is_ip6][id] : &s->of_interface[is_ip6][id];
	char name[FAB_MACHINE_NAME_BYTES];

	if (*of != FAB_NONE && *of != at)
		return fab_fail(err, EINVAL, "'%.80s' is in %s already, by line %" PRIu64,
				is_node ? fab_machine_node_name(r->m, id, name)
					: fab_machine_interface_name(r->m, id, name),
				s->of.v[*of].net.text, s->of.v[*of].line);
	*of = at;
	return 0;
}

/* An address of the family as inet_ntop() writes it. */
static bool take_ip(bool is_ip6, const char *word, char out[FAB_IP_BYTES])
{
	uint8_t bytes[16];
	int family = is_ip6 ? AF_INET6 : AF_INET;

	return inet_pton(family, word, bytes) == 1 &&
	       inet_ntop(family, bytes, out, FAB_IP_BYTES);
}

static int take_gateway(struct fab_subnet *net, const char *word, struct fab_err *err)
{
	uint64_t n = fab_ip_network_hosts(&net->net);
	char last[FAB_IP_BYTES];

	if (!strcmp(word, "-"))
		return 0;
	if (!take_ip(net->net.is_ip6, word, net->gateway))
		return fab_fail(
			err, EINVAL,
			"'%.60s' is no gateway: expected an address of %s, or - for none",
			word, net->net.text);
	/* the address behind those of hosts is the broadcast address of IPv4 */
	fab_ip_network_host(&net->net, n, last);
	if (!fab_ip_network_has(&net->net, net->gateway) ||
	    !strcmp(net->gateway, net->net.first) ||
	    (!net->net.is_ip6 && net->net.prefix < 31 && !strcmp(net->gateway, last)))
		return fab_fail(err, EINVAL,
				"the gateway %s is no address of a host in %s",
				net->gateway, net->net.text);
	return 0;
}

/* dns=A,B or ntp=A,B */
static int take_servers(struct fab_subnets *s, struct fab_subnet *net, char *word,
			struct fab_err *err)
{
	const char **to = !strncmp(word, "dns=", 4)   ? &net->dns
			  : !strncmp(word, "ntp=", 4) ? &net->ntp
						      : NULL;
	char ip[FAB_IP_BYTES], *rest = word + 4, *at;

	if (!to || *to)
		return fab_fail(
			err, EINVAL,
			"'%.60s': expected CIDR GATEWAY [dns=IP,...] [ntp=IP,...] : NODES",
			word);
	while ((at = strsep(&rest, ",")) != NULL) {
		if (!take_ip(net->net.is_ip6, at, ip))
			return fab_fail(err, EINVAL,
					"'%.60s' is no address of the family of %s", at,
					net->net.text);
		*to = fab_arena_format(&s->arena, "%s%s%s", *to ? *to : "",
				       *to ? "," : "", ip);
	}
	return 0;
}

static int check_overlap(const struct fab_subnets *s, const struct fab_subnet *net,
			 struct fab_err *err)
{
	for (size_t i = 0; i < s->of.n; i++) {
		const struct fab_subnet *other = &s->of.v[i];

		if (other->net.is_ip6 == net->net.is_ip6 &&
		    (fab_ip_network_has(&other->net, net->net.first) ||
		     fab_ip_network_has(&net->net, other->net.first)))
			return fab_fail(err, EINVAL, "%s overlaps %s of line %" PRIu64,
					net->net.text, other->net.text, other->line);
	}
	return 0;
}

static int read_line(void *context, struct fab_item line, struct fab_err *err)
{
	struct reader *r = context;
	struct fab_subnet net = {0};
	char head[WORD_BYTES], *rest = head, *word, *words[WORDS_MAX];
	const char *colon = NULL;
	size_t n_words = 0;
	int rc;

	for (; r->text < line.text; r->text++)
		r->line += *r->text == '\n';
	/* the colon between blanks: those in addresses of IPv6 are not */
	for (size_t i = 1; i + 1 < line.len && !colon; i++)
		if (line.text[i] == ':' && strchr(" \t", line.text[i - 1]) &&
		    strchr(" \t", line.text[i + 1]))
			colon = line.text + i;
	if (colon && (size_t)(colon - line.text) < sizeof(head)) {
		memcpy(head, line.text, (size_t)(colon - line.text));
		head[colon - line.text] = 0;
		while ((word = strsep(&rest, " \t")) != NULL)
			if (*word && n_words < WORDS_MAX)
				words[n_words++] = word;
	}
	if (n_words < 2)
		return fab_fail(
			err, EINVAL,
			"expected CIDR GATEWAY [dns=IP,...] [ntp=IP,...] : NODES");
	rc = fab_ip_network_parse(words[0], &net.net, err);
	if (!rc)
		rc = take_gateway(&net, words[1], err);
	for (size_t i = 2; i < n_words && !rc; i++)
		rc = take_servers(r->out, &net, words[i], err);
	if (!rc)
		rc = check_overlap(r->out, &net, err);
	if (rc)
		return rc;
	net.line = r->line;
	net.number = (uint32_t)r->out->of.n + 1;
	FAB_PUSH(&r->out->of, net);
	make_tables(r->out, r->m, net.net.is_ip6);
	return fab_places_each(r->places, colon + 1,
			       (size_t)(line.text + line.len - colon - 1), put, r, err);
}

int fab_subnets_read(const struct fab_machine *m, const char *file, const char *text,
		     size_t len, struct fab_subnets *out, struct fab_err *err)
{
	FAB_AUTO(fab_places_free_at) struct fab_places *places = fab_places_new(m);
	struct reader r = {.m = m, .text = text, .places = places, .out = out, .line = 1};
	int rc;

	*out = (struct fab_subnets){0};
	out->file = fab_arena_strdup(&out->arena, file);
	rc = fab_list_lines(file, text, len, read_line, &r, err);
	if (!rc && !out->of.n)
		rc = fab_fail(err, EINVAL, "%s: no network is in it", file);
	return rc;
}

/* ---- addresses ---- */

/* Hosts of a machine that get addresses of one family. */
struct assignment {
	const struct fab_subnets *s;
	const struct fab_address_host *host;
	uint32_t n_hosts;
	bool is_ip6;
	struct fab_host_addresses *given, *plan;
	struct fab_strmap *taken; /* gateways and servers of the site */
	uint64_t *next;		  /* [networks] the lowest that was not tried */
};

static const struct fab_subnet *subnet_of(const struct assignment *x, uint32_t i)
{
	const struct fab_address_host *h = &x->host[i];
	const uint32_t *of =
		h->is_server ? x->s->of_interface[x->is_ip6] : x->s->of_node[x->is_ip6];

	return of && of[h->id] != FAB_NONE ? &x->s->of.v[of[h->id]] : NULL;
}

static const char *ip_of(const struct assignment *x,
			 const struct fab_host_addresses *addresses, const char *name)
{
	const struct fab_host_address *a = fab_host_addresses_find(addresses, name);
	const char *ip = !a ? "" : x->is_ip6 ? a->ip6 : a->ip;

	return *ip ? ip : NULL;
}

/* Sentences on a network of a file begin with FILE:LINE. */
static int fail_at(const struct fab_subnets *s, const struct fab_subnet *net, int rc,
		   struct fab_err *err)
{
	char place[FAB_MACHINE_NAME_BYTES];

	if (!s->file)
		return rc;
	snprintf(place, sizeof(place), "%.200s:%" PRIu64, s->file, net->line);
	fab_err_prefix(err, place);
	return rc;
}

static int check_given(const struct assignment *x, const struct fab_subnet *net,
		       const char *name, const char *ip, struct fab_err *err)
{
	if (!strcmp(ip, net->gateway))
		return fab_fail(err, EINVAL, "the gateway %s is the address of '%.80s'",
				ip, name);
	if (x->s->file && !fab_ip_network_has(&net->net, ip))
		return fab_fail(err, EINVAL, "%s, the address of '%.80s', is not in %s",
				ip, name, net->net.text);
	return 0;
}

/* Take over the address of the plan, when no address is given. */
static int take_kept(const struct assignment *x, const struct fab_subnet *net,
		     const char *name, struct fab_err *err)
{
	const char *kept = ip_of(x, x->plan, name), *given = ip_of(x, x->given, name);

	if (given)
		return check_given(x, net, name, given, err);
	if (!kept || (x->s->file && !fab_ip_network_has(&net->net, kept)) ||
	    fab_strmap_get(x->taken, kept, strlen(kept)) != FAB_NONE)
		return 0;
	if (fab_host_addresses_has_ip(x->given, kept))
		return fab_fail(err, EINVAL,
				"%s, kept for '%.80s', is the address of another host",
				kept, name);
	fab_host_addresses_set_ip(x->given, name, kept);
	return 0;
}

/* The lowest address that is free. */
static int take_next(const struct assignment *x, const struct fab_subnet *net,
		     const char *name, struct fab_err *err)
{
	uint64_t *next = &x->next[net->number - 1],
		 n_all = fab_ip_network_hosts(&net->net);
	uint32_t n_here = 0;
	char ip[FAB_IP_BYTES];

	while (*next < n_all) {
		fab_ip_network_host(&net->net, (*next)++, ip);
		if (fab_host_addresses_has_ip(x->given, ip) ||
		    fab_host_addresses_has_ip(x->plan, ip) ||
		    fab_strmap_get(x->taken, ip, strlen(ip)) != FAB_NONE)
			continue;
		fab_host_addresses_set_ip(x->given, name, ip);
		fab_host_addresses_set_ip(x->plan, name, ip);
		return 0;
	}
	for (uint32_t i = 0; i < x->n_hosts; i++)
		n_here += subnet_of(x, i) == net;
	return fab_fail(err, ENOSPC,
			"%s has no address left for '%.80s': it has %" PRIu64
			" for hosts%s, and there are %" PRIu32,
			net->net.text, name, n_all - (*net->gateway != 0),
			*net->gateway ? " apart from the gateway" : "", n_here);
}

/* Note the addresses of a list that hosts cannot have. */
static void reserve(struct fab_strmap *taken, const char *list)
{
	while (list && *list) {
		size_t n = strcspn(list, ",");

		fab_strmap_put(taken, list, n, 0);
		list += n + (list[n] != 0);
	}
}

int fab_address_plan_assign(const struct fab_machine *m, const struct fab_subnets *s,
			    struct fab_host_addresses *given,
			    struct fab_host_addresses *plan, struct fab_err *err)
{
	FAB_AUTO(fab_strmap_free_at) struct fab_strmap *taken = fab_strmap_new(64);
	FAB_AUTO(fab_arena_free) struct fab_arena a = FAB_ARENA_INIT;
	struct assignment x = {.s = s,
			       .given = given,
			       .plan = plan,
			       .taken = taken,
			       .next = FAB_ARENA_NEW0(&a, s->of.n + 1, uint64_t)};
	int rc = 0;

	x.host = fab_address_hosts_of(m, &a, &x.n_hosts);
	for (size_t i = 0; i < s->of.n; i++) {
		reserve(taken, s->of.v[i].gateway);
		reserve(taken, s->of.v[i].dns);
		reserve(taken, s->of.v[i].ntp);
	}
	/* kept addresses of all hosts first: new ones avoid them */
	for (uint32_t step = 0; step < 4 && !rc; step++) {
		x.is_ip6 = step & 1;
		for (uint32_t i = 0; i < x.n_hosts && !rc; i++) {
			const struct fab_subnet *net = subnet_of(&x, i);
			const char *name = x.host[i].name;

			if (net && step < 2)
				rc = take_kept(&x, net, name, err);
			else if (net && !ip_of(&x, given, name))
				rc = take_next(&x, net, name, err);
			if (rc)
				fail_at(s, net, rc, err);
		}
	}
	return rc;
}
