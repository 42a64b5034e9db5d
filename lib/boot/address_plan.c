/* SPDX-License-Identifier: BSD-2-Clause */
#include "boot/address_plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/text.h"

enum { NAME_BYTES = 256 };

/* A node or a server interface. */
struct host {
	char *name;
	uint64_t guid; /* 0: unknown */
	bool is_server;
};

struct hosts {
	struct host *v;
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

uint64_t fab_machine_interface_guid(const struct fab_machine *m, uint32_t interface)
{
	return guid_of(m, m->interface_port, interface);
}

char *fab_machine_interface_host_name(const struct fab_machine *m, uint32_t interface,
				      char *out, size_t size)
{
	char *slash;

	fab_machine_interface_name(m, interface, out, size);
	slash = strrchr(out, '/');
	if (slash && slash[1] && strspn(slash + 1, "0123456789") == strlen(slash + 1))
		*slash = '-';
	return out;
}

static int by_name(const void *a, const void *b)
{
	const struct host *x = a, *y = b;

	if (x->is_server != y->is_server)
		return x->is_server ? -1 : 1;
	return fab_text_natural_cmp(x->name, y->name);
}

/* All hosts of the machine that can have an address, servers first, by name. */
static struct hosts hosts_of(const struct fab_machine *m)
{
	struct hosts h = {
		.v = FAB_NEW((size_t)m->n_interfaces + m->n_nodes + 1, struct host)};
	char name[NAME_BYTES];

	for (uint32_t i = 0; i < m->n_interfaces; i++) {
		fab_machine_interface_host_name(m, i, name, sizeof(name));
		if (fab_is_host_name(name))
			h.v[h.n++] = (struct host){
				fab_strdup(name), fab_machine_interface_guid(m, i), true};
	}
	for (uint32_t i = 0; i < m->n_nodes; i++) {
		fab_machine_node_name(m, i, name, sizeof(name));
		if (fab_is_host_name(name))
			h.v[h.n++] = (struct host){fab_strdup(name),
						   fab_machine_node_guid(m, i), false};
	}
	qsort(h.v, h.n, sizeof(*h.v), by_name);
	h.by_name = fab_strmap_new(h.n);
	for (uint32_t i = 0; i < h.n; i++)
		fab_strmap_put(h.by_name, h.v[i].name, strlen(h.v[i].name), i);
	return h;
}

static void hosts_fini(struct hosts *h)
{
	for (uint32_t i = 0; i < h->n; i++)
		free(h->v[i].name);
	free(h->v);
	fab_strmap_free(h->by_name);
}

/* A line of the file: ADDRESS NAME ... # 0xGUID */
struct line {
	const char *at;
	size_t n;	  /* without the line end */
	size_t name, len; /* where the first name stands */
	uint64_t guid;	  /* 0: none is told */
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

/* The name that a host of the file has now, NULL: the same one. */
static const char *new_name(const struct hosts *h, const struct fab_map64 *by_guid,
			    const struct fab_strmap *in_file, const struct line *l)
{
	uint32_t at = l->guid ? fab_map64_get(by_guid, l->guid) : FAB_NONE;

	if (at == FAB_NONE || at >= h->n ||
	    fab_strmap_get(h->by_name, l->at + l->name, l->len) != FAB_NONE ||
	    fab_strmap_get(in_file, h->v[at].name, strlen(h->v[at].name)) != FAB_NONE)
		return NULL;
	return h->v[at].name;
}

/* The text with the names that hosts have now; the caller frees. */
static char *renamed(const struct hosts *h, const char *text, size_t len, size_t *n)
{
	struct fab_map64 *by_guid = fab_map64_new(h->n);
	struct fab_strmap *in_file = fab_strmap_new(64);
	const char *end = text + len;
	char *out = NULL;
	FILE *file = open_memstream(&out, n);

	if (!file)
		fab_oom(len);
	for (uint32_t i = 0; i < h->n; i++)
		if (h->v[i].guid)
			fab_map64_put(by_guid, h->v[i].guid, i);
	for (const char *at = text; at < end;) {
		struct line l = line_at(at, end);

		fab_strmap_put(in_file, at + l.name, l.len, 0);
		at += l.n + 1;
	}
	for (const char *at = text; at < end;) {
		struct line l = line_at(at, end);
		const char *name = new_name(h, by_guid, in_file, &l);

		fwrite(at, 1, name ? l.name : l.n, file);
		if (name) {
			fputs(name, file);
			fwrite(at + l.name + l.len, 1, l.n - l.name - l.len, file);
		}
		putc('\n', file);
		at += l.n + 1;
	}
	if (fclose(file) != 0)
		fab_oom(len);
	fab_map64_free(by_guid);
	fab_strmap_free(in_file);
	return out;
}

int fab_address_plan_read(const struct fab_machine *m, const char *file, const char *text,
			  size_t len, struct fab_host_addresses **out,
			  struct fab_err *err)
{
	struct hosts h = hosts_of(m);
	size_t n;
	char *now = renamed(&h, text, len, &n);
	int rc;

	*out = NULL;
	rc = fab_host_addresses_read(file, now, n, out, err);
	free(now);
	hosts_fini(&h);
	return rc;
}

static const char *ip_of(const struct fab_host_addresses *addresses, const char *name,
			 bool is_ip6)
{
	const struct fab_host_address *a = fab_host_addresses_find(addresses, name);
	const char *ip = !a ? "" : is_ip6 ? a->ip6 : a->ip;

	return *ip ? ip : NULL;
}

/* The next one that nobody has; false: there is none. */
static bool next_free(const struct fab_ip_network *net, uint64_t *next,
		      const struct fab_host_addresses *told,
		      const struct fab_host_addresses *plan, char ip[FAB_IP_BYTES])
{
	while (*next < fab_ip_network_hosts(net)) {
		fab_ip_network_host(net, (*next)++, ip);
		if (!fab_host_addresses_has_ip(told, ip) &&
		    !fab_host_addresses_has_ip(plan, ip))
			return true;
	}
	return false;
}

/* Take over what the plan has of hosts whose address is not told. */
static int keep(const struct hosts *h, const struct fab_ip_network *net,
		struct fab_host_addresses *told, const struct fab_host_addresses *plan,
		struct fab_err *err)
{
	for (uint32_t i = 0; i < h->n; i++) {
		const char *ip = ip_of(plan, h->v[i].name, net->is_ip6);

		if (!ip || ip_of(told, h->v[i].name, net->is_ip6))
			continue;
		if (fab_host_addresses_has_ip(told, ip))
			return fab_fail(err, EINVAL,
					"%s, kept for '%.80s', is the address of another "
					"host",
					ip, h->v[i].name);
		fab_host_addresses_set_ip(told, h->v[i].name, ip);
	}
	return 0;
}

int fab_address_plan_assign(const struct fab_machine *m, const struct fab_ip_network *net,
			    struct fab_host_addresses *told,
			    struct fab_host_addresses *plan, struct fab_err *err)
{
	struct hosts h = hosts_of(m);
	char ip[FAB_IP_BYTES];
	uint64_t next = 0;
	int rc = keep(&h, net, told, plan, err);

	for (uint32_t i = 0; i < h.n && !rc; i++) {
		if (ip_of(told, h.v[i].name, net->is_ip6))
			continue;
		if (next_free(net, &next, told, plan, ip)) {
			fab_host_addresses_set_ip(told, h.v[i].name, ip);
			fab_host_addresses_set_ip(plan, h.v[i].name, ip);
		} else {
			rc = fab_fail(err, ENOSPC,
				      "%s has no address left for '%.80s': it has "
				      "%" PRIu64 " for hosts, and there are %" PRIu32,
				      net->text, h.v[i].name, fab_ip_network_hosts(net),
				      h.n);
		}
	}
	hosts_fini(&h);
	return rc;
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
	const char **name = FAB_NEW((size_t)n + 1, const char *);
	struct hosts h = hosts_of(m);

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
	free(name);
	hosts_fini(&h);
}
