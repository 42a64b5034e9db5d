/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/boot.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"
#include "present/jsonl.h"

/* What one node's lines are made of. */
struct line {
	FILE *out;
	const char *boot_file;
	char node[256], server[256];
	const struct fab_host_address *own, *of_server; /* never NULL */
};

static const struct fab_host_address nothing;

static void csv_text(FILE *out, const char *name)
{
	char safe[4 * 256 + 8];
	const char *text = fab_text_safe(name, safe, sizeof(safe));

	fab_text_put_csv(out, text, text[0] == ' ');
}

static void write_csv(const struct line *l)
{
	csv_text(l->out, l->node);
	putc(',', l->out);
	csv_text(l->out, l->server);
	fprintf(l->out, ",%s,%s\n", l->own->mac, l->own->ip);
}

static void write_json(const struct line *l)
{
	json_t *row = json_object();
	struct fab_err err;

	if (!row || json_object_set_new(row, "node", fab_json_text(l->node)) ||
	    json_object_set_new(row, "server", fab_json_text(l->server)) ||
	    json_object_set_new(row, "mac",
				fab_json_text(*l->own->mac ? l->own->mac : NULL)) ||
	    json_object_set_new(row, "ip",
				fab_json_text(*l->own->ip ? l->own->ip : NULL)))
		fab_oom(sizeof(void *));
	/* a failed write shows again when the file is closed */
	(void)!fab_jsonl_write(l->out, row, &err);
}

static void write_dnsmasq(const struct line *l)
{
	fprintf(l->out, "dhcp-host=%s,set:%s,%s%s%s,infinite\n", l->own->mac, l->server,
		l->own->ip, *l->own->ip ? "," : "", l->node);
}

static void write_dhcpd(const struct line *l)
{
	fprintf(l->out, "host %s { hardware ethernet %s;", l->node, l->own->mac);
	if (*l->own->ip)
		fprintf(l->out, " fixed-address %s;", l->own->ip);
	fprintf(l->out, " next-server %s; filename \"%s\"; }\n", l->of_server->ip,
		l->boot_file);
}

static void write_xcat(const struct line *l)
{
	fprintf(l->out,
		"chdef -t node %s servicenode=%s xcatmaster=%s tftpserver=%s "
		"nfsserver=%s\n",
		l->node, l->server, l->server, l->server, l->server);
}

static void write_warewulf(const struct line *l)
{
	fprintf(l->out, "wwctl node set --yes --tagadd Tag=%s %s\n", l->server, l->node);
}

static void write_openchami(const struct line *l)
{
	fprintf(l->out, "  - \"%s\"\n", l->own->mac);
}

static void tag_dnsmasq(const struct line *l)
{
	fprintf(l->out, "dhcp-boot=tag:%s,%s,%s,%s\n", l->server, l->boot_file, l->server,
		l->of_server->ip);
}

static void tag_openchami(const struct line *l)
{
	fprintf(l->out,
		"---\nkernel: http://%s/kernel\ninitrd: http://%s/initrd\n"
		"params: \"ip=dhcp\"\nmacs:\n",
		l->server, l->server);
}

/*
 * dnsmasq takes a word of dhcp-host for a lease time, an address or an order when it
 * looks like one, and a name with an empty label ends dhcpd's parser.
 */
static bool is_dhcp_word(const char *name)
{
	size_t digits = strspn(name, "0123456789"), n = strlen(name);
	struct in_addr ip;

	return !strcmp(name, "ignore") || !strcmp(name, "infinite") ||
	       inet_pton(AF_INET, name, &ip) == 1 || digits == n ||
	       (digits && digits + 1 == n && strchr("wdhmsWDHMS", name[digits])) ||
	       strstr(name, "..") || name[n - 1] == '.';
}

/* Two halves of a name that differ in numbers only: n1 and n16. */
static bool is_range(const char *low, size_t n_low, const char *high)
{
	size_t i = 0;
	const char *at = high;

	while (i < n_low && *at) {
		bool is_number = isdigit((unsigned char)low[i]) != 0;

		if (is_number != (isdigit((unsigned char)*at) != 0) ||
		    (!is_number && low[i] != *at))
			return false;
		if (!is_number) {
			i++;
			at++;
			continue;
		}
		while (i < n_low && isdigit((unsigned char)low[i]))
			i++;
		while (isdigit((unsigned char)*at))
			at++;
	}
	return i == n_low && !*at && (strlen(high) != n_low || memcmp(low, high, n_low));
}

/*
 * xCAT reads a name that is no node of its tables as a group, or as a range when it has
 * an odd number of hyphens and both sides of the middle one differ in numbers only;
 * groups of its own are called so.
 */
static bool is_noderange(const char *name)
{
	static const char *const groups[] = {"all", "compute", "service"};
	const char *middle = name;
	size_t hyphens = 0;

	for (const char *at = name; *at; at++)
		hyphens += *at == '-';
	for (size_t i = 0; i < FAB_COUNT(groups); i++)
		if (!strcasecmp(name, groups[i]))
			return true;
	if (hyphens % 2 == 0)
		return false;
	for (size_t i = 0; i <= hyphens / 2; i++)
		middle = strchr(middle, '-') + 1;
	return is_range(name, (size_t)(middle - name - 1), middle);
}

static const struct {
	const char *name;
	const char *heading; /* first line */
	bool needs_mac, needs_server_ip, quotes;
	/* would a name be taken for something else? NULL: none is */
	bool (*is_ambiguous)(const char *name);
	bool by_server; /* nodes server by server, behind the server's own lines */
	void (*server)(const struct line *line);
	void (*node)(const struct line *line);
} formats[FAB_N_BOOT_FORMATS] = {
	{"csv", "node,server,mac,ip\n", .quotes = true, .node = write_csv},
	{"json", "", .quotes = true, .node = write_json},
	{"dnsmasq", "", .needs_mac = true, .needs_server_ip = true,
	 .is_ambiguous = is_dhcp_word, .by_server = true, .server = tag_dnsmasq,
	 .node = write_dnsmasq},
	{"dhcpd", "", .needs_mac = true, .needs_server_ip = true,
	 .is_ambiguous = is_dhcp_word, .node = write_dhcpd},
	{"xcat", "", .is_ambiguous = is_noderange, .node = write_xcat},
	{"warewulf", "", .node = write_warewulf},
	{"openchami", "", .needs_mac = true, .by_server = true, .server = tag_openchami,
	 .node = write_openchami},
};

static struct fab_choice format_at(size_t i)
{
	return (struct fab_choice){.form = formats[i].name};
}

const struct fab_choices fab_boot_format_choices = {
	.what = "format", .n = FAB_N_BOOT_FORMATS, .at = format_at};

static void set_server(struct line *l, const struct fab_machine *m,
		       const struct fab_host_addresses *addresses, uint32_t interface)
{
	fab_machine_interface_name(m, interface, l->server, sizeof(l->server));
	l->of_server = fab_host_addresses_find(addresses, l->server);
	if (!l->of_server)
		l->of_server = &nothing;
}

static void set_node(struct line *l, const struct fab_machine *m,
		     const struct fab_host_addresses *addresses, uint32_t node)
{
	fab_machine_node_name(m, node, l->node, sizeof(l->node));
	l->own = fab_host_addresses_find(addresses, l->node);
	if (!l->own)
		l->own = &nothing;
}

/* The name in a server's lines may hold a slash for a second interface: no host name. */
static int check(const struct line *l, enum fab_boot_format format, struct fab_err *err)
{
	bool (*is_ambiguous)(const char *name) = formats[format].is_ambiguous;

	if (!formats[format].quotes &&
	    (!fab_is_host_name(l->node) || !fab_is_host_name(l->server)))
		return fab_fail(err, EINVAL,
				"'%.80s' is no host name that a %s file could hold: "
				"letters, digits, . _ and - only",
				fab_is_host_name(l->node) ? l->server : l->node,
				formats[format].name);
	if (is_ambiguous && (is_ambiguous(l->node) || is_ambiguous(l->server)))
		return fab_fail(err, EINVAL,
				"'%.80s' would mean something else than a host name in a "
				"%s file",
				is_ambiguous(l->node) ? l->node : l->server,
				formats[format].name);
	if (formats[format].needs_mac && !*l->own->mac)
		return fab_fail(err, EINVAL,
				"no MAC address is told for node '%.80s', which %s needs",
				l->node, formats[format].name);
	if (formats[format].needs_server_ip && !*l->of_server->ip)
		return fab_fail(
			err, EINVAL,
			"no IP address is told for server '%.80s', which %s needs",
			l->server, formats[format].name);
	return 0;
}

static bool is_file_name(const char *text)
{
	for (const char *at = text; *at; at++)
		if ((unsigned char)*at <= ' ' || *at == 0x7f || strchr("\"'\\,;{}", *at))
			return false;
	return *text && strlen(text) < 128;
}

struct pair {
	uint32_t interface, node;
};

static int cmp_pair(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->interface != y->interface)
		return x->interface < y->interface ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static struct pair *order_of(const struct fab_batch *batch, const uint32_t *interface_of,
			     bool by_server)
{
	struct pair *pair = FAB_NEW((size_t)batch->n + 1, struct pair);

	for (uint32_t i = 0; i < batch->n; i++)
		pair[i] = (struct pair){interface_of[batch->node[i]], batch->node[i]};
	if (by_server)
		qsort(pair, batch->n, sizeof(*pair), cmp_pair);
	return pair;
}

int fab_export_boot(FILE *out, enum fab_boot_format format, const struct fab_machine *m,
		    const struct fab_batch *batch, const uint32_t *interface_of,
		    const struct fab_host_addresses *addresses, const char *boot_file,
		    struct fab_err *err)
{
	struct pair *pair = order_of(batch, interface_of, formats[format].by_server);
	struct line l = {.out = out, .boot_file = boot_file};
	int rc = 0;

	if (!is_file_name(boot_file))
		rc = fab_fail(err, EINVAL,
			      "'%.80s' is no file name that can stand in configuration",
			      boot_file);
	for (int writes = 0; writes < 2 && !rc; writes++) {
		if (writes)
			fputs(formats[format].heading, out);
		for (uint32_t i = 0; i < batch->n && !rc; i++) {
			if (pair[i].interface >= m->n_interfaces)
				continue;
			set_server(&l, m, addresses, pair[i].interface);
			set_node(&l, m, addresses, pair[i].node);
			if (!writes) {
				rc = check(&l, format, err);
				continue;
			}
			if (formats[format].server &&
			    (!i || pair[i].interface != pair[i - 1].interface))
				formats[format].server(&l);
			formats[format].node(&l);
		}
	}
	free(pair);
	return rc;
}
