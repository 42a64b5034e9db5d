/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/boot.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "boot/address_plan.h"
#include "export/boot_impl.h"

enum { NAME_BYTES = 256 };

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
	if (strspn(name, "0123456789") == strlen(name))
		return true;
	if (hyphens % 2 == 0)
		return false;
	for (size_t i = 0; i <= hyphens / 2; i++)
		middle = strchr(middle, '-') + 1;
	return is_range(name, (size_t)(middle - name - 1), middle);
}

/* What a format needs of a node and of a server. */
enum {
	NEEDS_MAC = 1,	       /* an Ethernet address, told or from the GUID */
	NEEDS_ID = 2,	       /* anything that a DHCP server can know a node by */
	NEEDS_IP = 4,	       /* of nodes */
	NEEDS_SERVER_IP = 8,   /* of either family */
	NEEDS_SERVER_IP4 = 16, /* IPv4 */
	NEEDS_SERVER_IP6 = 32,
	NEEDS_NETWORK4 = 64,
	NEEDS_NETWORK6 = 128,
	NEEDS_KERNEL = 256,
	QUOTES = 512,	       /* can hold any name */
	BY_SERVER = 1024,      /* several servers do not go into one file */
	NAMES_SCRIPT = 2048,   /* of iPXE, which a folder holds, too */
	HOSTS_ONLY = 8192,     /* servers by the name of the host, whatever interface */
	USES_IP = 4096,	       /* of nodes, where it is given: two cannot have the same */
	NEEDS_NETWORK = 16384, /* of either family; servers have addresses of each */
	SERVERS_INSIDE = 32768, /* the program listens only in declared networks */
};

static const struct {
	const char *name, *summary, *extension;
	unsigned flags;
	/* would a name be taken for something else? NULL: none is */
	bool (*is_ambiguous)(const char *name);
	void (*write)(const struct boot_part *part);
	void (*write_file)(
		const struct boot_part *part); /* in a folder; NULL: the same */
} formats[FAB_N_BOOT_FORMATS] = {
	{"csv", "node, server, MAC, IP, IPv6 and client identifier", "csv", QUOTES, NULL,
	 boot_write_csv, NULL},
	{"json", "lines with the same fields", "jsonl", QUOTES, NULL, boot_write_json,
	 NULL},
	{"hosts", "lines of hosts(5)", "hosts", NEEDS_IP | NEEDS_SERVER_IP | USES_IP,
	 NULL, boot_write_hosts, NULL},
	{"ethers", "lines of ethers(5)", "ethers", NEEDS_MAC, NULL, boot_write_ethers,
	 NULL},
	{"ansible", "inventory with a group for each server", "inventory", USES_IP, NULL,
	 boot_write_ansible, NULL},
	{"dnsmasq", "tags, dhcp-boot and dhcp-host", "conf",
	 NEEDS_ID | NEEDS_SERVER_IP | NEEDS_NETWORK | NAMES_SCRIPT | USES_IP,
	 is_dhcp_word, boot_write_dnsmasq, NULL},
	{"kea4", "configuration of Kea's DHCPv4 server", "json",
	 NEEDS_ID | NEEDS_SERVER_IP4 | NEEDS_NETWORK4 | NAMES_SCRIPT | USES_IP, NULL,
	 boot_write_kea4, NULL},
	{"kea6", "configuration of Kea's DHCPv6 server", "json",
	 NEEDS_ID | NEEDS_SERVER_IP6 | NEEDS_NETWORK6 | NAMES_SCRIPT | USES_IP, NULL,
	 boot_write_kea6, NULL},
	{"dhcpd", "ISC dhcpd, which is at its end of life", "conf",
	 NEEDS_ID | NEEDS_SERVER_IP4 | NEEDS_NETWORK4 | SERVERS_INSIDE | NAMES_SCRIPT |
		 USES_IP,
	 is_dhcp_word, boot_write_dhcpd, NULL},
	{"ipxe", "a script for each server", "ipxe", NEEDS_KERNEL | BY_SERVER, NULL,
	 boot_write_ipxe, NULL},
	{"xcat", "chdef commands", "sh", HOSTS_ONLY, is_noderange, boot_write_xcat, NULL},
	{"warewulf", "wwctl commands and what its dnsmasq needs", "sh", NEEDS_SERVER_IP,
	 NULL, boot_write_warewulf, NULL},
	{"openchami", "ochami commands with boot parameters", "json",
	 NEEDS_MAC | NEEDS_KERNEL, NULL, boot_write_openchami, boot_write_openchami_file},
	{"openchami-config", "the same as BootConfiguration objects", "json",
	 NEEDS_MAC | NEEDS_KERNEL, NULL, boot_write_openchami_config,
	 boot_write_openchami_config_file},
};

static struct fab_choice format_at(size_t i)
{
	return (struct fab_choice){.form = formats[i].name,
				   .summary = formats[i].summary,
				   .manual = boot_manual[i],
				   .is_in_all = true};
}

const struct fab_choices fab_boot_format_choices = {
	.what = "format", .n = FAB_N_BOOT_FORMATS, .at = format_at};

/* What is being made of a mapping. */
struct maker {
	enum fab_boot_format format;
	const struct fab_machine *m;
	struct boot_plan plan;
	uint32_t *server_of; /* [n_interfaces] into plan.server, FAB_NONE: none yet */
	struct fab_strmap *by_name; /* of servers */
	struct fab_batch kept;	    /* nodes whose names the format can hold */
	struct fab_boot_written *written;
};

static void take_addresses(const struct fab_host_addresses *addresses, const char *name,
			   struct fab_host_address *out)
{
	const struct fab_host_address *told = fab_host_addresses_find(addresses, name);

	*out = told ? *told : (struct fab_host_address){0};
}

/*
 * The server that an interface belongs to: one of its own when its address is told, the
 * first interface of the host otherwise. Formats that quote have names as they are.
 */
static uint32_t server_of(struct maker *k, uint32_t interface)
{
	struct boot_plan *plan = &k->plan;
	const struct fab_host_addresses *known = plan->site->addresses;
	char name[NAME_BYTES];
	uint32_t n = plan->n_servers, at;

	if (k->server_of[interface] != FAB_NONE)
		return k->server_of[interface];
	fab_machine_interface_name(k->m, interface, name, sizeof(name));
	if (!(formats[k->format].flags & QUOTES) && strchr(name, '/')) {
		fab_machine_interface_host_name(k->m, interface, name, sizeof(name));
		if (!fab_host_addresses_find(known, name))
			fab_machine_server_name(k->m, k->m->interface_server[interface],
						name, sizeof(name));
	}
	at = fab_strmap_put(k->by_name, name, strlen(name), n);
	if (at == n) {
		plan->server[n].name = fab_strdup(name);
		if (strchr(name, '/'))
			fab_machine_interface_host_name(k->m, interface, name,
							sizeof(name));
		plan->server[n].file = fab_strdup(name);
		take_addresses(known, name, &plan->server[n].ip);
		plan->n_servers++;
	}
	return k->server_of[interface] = at;
}

static void add_node(struct maker *k, uint32_t node, uint32_t interface)
{
	struct boot_node *n = &k->plan.node[k->plan.n_nodes++];
	char name[NAME_BYTES];

	fab_machine_node_name(k->m, node, name, sizeof(name));
	*n = (struct boot_node){.name = fab_strdup(name),
				.server = server_of(k, interface),
				.guid = fab_machine_node_guid(k->m, node)};
	take_addresses(k->plan.site->addresses, name, &n->ip);
	n->has_id = fab_boot_id_of(k->plan.site->identity, n->ip.mac, n->guid, &n->id);
	k->plan.server[n->server].n++;
}

/* The nodes of each server, in the order of the batch. */
static void sort_by_server(struct boot_plan *plan)
{
	uint32_t at = 0;

	plan->by_server = FAB_NEW((size_t)plan->n_nodes + 1, uint32_t);
	for (uint32_t s = 0; s < plan->n_servers; s++) {
		plan->server[s].first = at;
		at += plan->server[s].n;
		plan->server[s].n = 0;
	}
	for (uint32_t i = 0; i < plan->n_nodes; i++) {
		struct boot_server *s = &plan->server[plan->node[i].server];

		plan->by_server[s->first + s->n++] = i;
	}
}

static int check_name(const struct maker *k, const char *name, bool is_file,
		      struct fab_err *err)
{
	bool (*is_ambiguous)(const char *) = formats[k->format].is_ambiguous;

	if ((is_file || !(formats[k->format].flags & QUOTES)) && !fab_is_host_name(name))
		return fab_fail(err, EINVAL,
				"'%.80s' is no host name that a %s file could hold: "
				"letters, digits, . _ and - only",
				name, formats[k->format].name);
	if (is_ambiguous && is_ambiguous(name))
		return fab_fail(err, EINVAL,
				"'%.80s' would mean something else than a host name in a "
				"%s file",
				name, formats[k->format].name);
	return 0;
}

/* Is the node left out? Then it is noted. */
static bool leaves_out(struct maker *k, uint32_t node)
{
	struct fab_boot_written *w = k->written;
	char name[NAME_BYTES], safe[4 * NAME_BYTES];

	fab_machine_node_name(k->m, node, name, sizeof(name));
	if (!check_name(k, name, false, w->omitted.n ? NULL : &w->why_omitted))
		return false;
	FAB_PUSH(&w->omitted, fab_strdup(fab_text_safe(name, safe, sizeof(safe))));
	return true;
}

static void collect(struct maker *k, const struct fab_batch *whole,
		    const uint32_t *interface_of)
{
	const struct fab_batch *batch = &k->kept;

	k->kept.node = FAB_NEW((size_t)whole->n + 1, uint32_t);
	for (uint32_t i = 0; i < whole->n; i++)
		if (!leaves_out(k, whole->node[i]))
			k->kept.node[k->kept.n++] = whole->node[i];
	k->plan.node = FAB_NEW((size_t)batch->n + 1, struct boot_node);
	k->plan.server = FAB_NEW0((size_t)k->m->n_interfaces + 1, struct boot_server);
	k->server_of = FAB_NEW((size_t)k->m->n_interfaces + 1, uint32_t);
	k->by_name = fab_strmap_new(k->m->n_interfaces);
	for (uint32_t i = 0; i < k->m->n_interfaces; i++)
		k->server_of[i] = FAB_NONE;
	/* servers in their own order, whatever the batch's */
	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < batch->n && !pass; i++)
			if (interface_of[batch->node[i]] < k->m->n_interfaces)
				k->server_of[interface_of[batch->node[i]]] = FAB_SHARED;
		for (uint32_t i = 0; i < k->m->n_interfaces && pass; i++)
			if (k->server_of[i] == FAB_SHARED) {
				k->server_of[i] = FAB_NONE;
				server_of(k, i);
			}
	}
	for (uint32_t i = 0; i < batch->n; i++)
		if (interface_of[batch->node[i]] < k->m->n_interfaces)
			add_node(k, batch->node[i], interface_of[batch->node[i]]);
	sort_by_server(&k->plan);
}

static void maker_fini(struct maker *k)
{
	free(k->kept.node);
	for (uint32_t i = 0; i < k->plan.n_nodes; i++)
		free(k->plan.node[i].name);
	for (uint32_t i = 0; i < k->plan.n_servers; i++) {
		free(k->plan.server[i].name);
		free(k->plan.server[i].file);
	}
	free(k->plan.node);
	free(k->plan.server);
	free(k->plan.by_server);
	free(k->server_of);
	fab_strmap_free(k->by_name);
}

static int lacks(const struct maker *k, const char *what, const char *who,
		 const char *name, struct fab_err *err)
{
	return fab_fail(err, EINVAL, "no %s is told for %s '%.80s', which %s needs", what,
			who, name, formats[k->format].name);
}

/* Is the address where the DHCP server has a network? */
static int check_network(const struct fab_ip_network *net, const char *ip,
			 const char *whose, const char *name, struct fab_err *err)
{
	if (!net || !*ip || fab_ip_network_has(net, ip))
		return 0;
	return fab_fail(err, EINVAL, "%s, the address of %s '%.80s', is not in %s", ip,
			whose, name, net->text);
}

static int check_node(const struct maker *k, const struct boot_node *n,
		      struct fab_err *err)
{
	unsigned flags = formats[k->format].flags;
	const struct fab_boot_site *site = k->plan.site;
	int rc = check_name(k, n->name, false, err);

	if (rc)
		return rc;
	if (flags & NEEDS_ID && !n->has_id)
		return lacks(k,
			     site->identity == FAB_IDENTITY_MAC ? "MAC address"
			     : site->identity == FAB_IDENTITY_AUTO
				     ? "MAC address and no port GUID"
				     : "port GUID",
			     "node", n->name, err);
	if (flags & NEEDS_MAC && !*n->id.mac)
		return lacks(k, "MAC address", "node", n->name, err);
	if (flags & NEEDS_IP && !*n->ip.ip && !*n->ip.ip6)
		return lacks(k, "IP address", "node", n->name, err);
	if (!(flags & NEEDS_ID))
		return 0;
	rc = check_network(site->network4, n->ip.ip, "node", n->name, err);
	return rc ? rc : check_network(site->network6, n->ip.ip6, "node", n->name, err);
}

static int check_server(const struct maker *k, const struct boot_server *s, bool is_file,
			struct fab_err *err)
{
	const struct fab_boot_site *site = k->plan.site;
	const char *const templates[] = {site->boot_url, site->script, site->kernel,
					 site->initrd, site->params};
	unsigned flags = formats[k->format].flags;
	int rc = check_name(k, is_file ? s->file : s->name, is_file, err);
	bool has_ip = *s->ip.ip || *s->ip.ip6;

	if (rc)
		return rc;
	if (is_file && !strcmp(s->file, "default"))
		return fab_fail(err, EINVAL,
				"a server is called 'default', as is the file that all "
				"servers share");
	if ((flags & NEEDS_SERVER_IP && !has_ip) ||
	    (flags & NEEDS_SERVER_IP4 && !*s->ip.ip) ||
	    (flags & NEEDS_NETWORK && site->network4 && !*s->ip.ip))
		return lacks(k, "IP address", "server", s->name, err);
	if (!*s->ip.ip6 &&
	    (flags & NEEDS_SERVER_IP6 || (flags & NEEDS_NETWORK && site->network6)))
		return lacks(k, "IPv6 address", "server", s->name, err);
	if (flags & SERVERS_INSIDE) {
		rc = check_network(site->network4, s->ip.ip, "server", s->name, err);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < FAB_COUNT(templates) && !has_ip; i++)
		if (boot_names_address(templates[i]) &&
		    flags & (NEEDS_KERNEL | NAMES_SCRIPT))
			return fab_fail(err, EINVAL,
					"no IP address is told for server '%.80s', which "
					"'%.80s' needs",
					s->name, templates[i]);
	return 0;
}

/* Nobody else may have it. */
static int check_only(struct fab_strmap *seen, const char *what, const char *text,
		      const struct maker *k, uint32_t node, struct fab_err *err)
{
	uint32_t other;

	if (!*text)
		return 0;
	other = fab_strmap_put(seen, text, strlen(text), node);
	if (other == node)
		return 0;
	return fab_fail(err, EINVAL, "nodes '%.80s' and '%.80s' have the same %s, %s",
			k->plan.node[other].name, k->plan.node[node].name, what, text);
}

static int check_twice(const struct maker *k, struct fab_err *err)
{
	struct fab_strmap *seen = fab_strmap_new(k->plan.n_nodes);
	struct fab_strmap *names = fab_strmap_new(k->plan.n_nodes);
	unsigned flags = formats[k->format].flags;
	int rc = 0;

	for (uint32_t i = 0; i < k->plan.n_nodes && !rc; i++) {
		const struct boot_node *n = &k->plan.node[i];

		if (!(flags & QUOTES) &&
		    fab_strmap_put(names, n->name, strlen(n->name), i) != i)
			rc = fab_fail(err, EINVAL, "two nodes are called '%.80s'",
				      n->name);
		if (!rc && flags & (NEEDS_ID | NEEDS_MAC))
			rc = *n->id.client_id && flags & NEEDS_ID
				     ? check_only(seen, "client identifier",
						  n->id.client_id, k, i, err)
				     : check_only(seen, "MAC address", n->id.mac, k, i,
						  err);
		if (!rc && flags & USES_IP)
			rc = check_only(seen, "IP address", n->ip.ip, k, i, err);
		if (!rc && flags & USES_IP)
			rc = check_only(seen, "IP address", n->ip.ip6, k, i, err);
	}
	fab_strmap_free(seen);
	fab_strmap_free(names);
	return rc;
}

static bool is_file_name(const char *text)
{
	for (const char *at = text; *at; at++)
		if ((unsigned char)*at <= ' ' || (unsigned char)*at >= 0x7f ||
		    strchr("\"'\\,;{}#", *at))
			return false;
	return *text && strlen(text) < 128;
}

/* What the format needs besides hosts. */
static int check_site(const struct maker *k, bool is_directory, struct fab_err *err)
{
	const struct fab_boot_site *site = k->plan.site;
	unsigned flags = formats[k->format].flags;
	const char *name = formats[k->format].name;

	for (int a = 0; a < FAB_N_BOOT_ARCHS; a++)
		if (site->boot_file[a] && !is_file_name(site->boot_file[a]))
			return fab_fail(err, EINVAL,
					"'%.80s' is no file name that can stand in "
					"configuration",
					site->boot_file[a]);
	if (flags & NEEDS_NETWORK && !site->network4 && !site->network6)
		return fab_fail(err, EINVAL,
				"no network is given, without which %s opens no port",
				name);
	if (flags & NEEDS_NETWORK4 && !site->network4)
		return fab_fail(err, EINVAL, "no IPv4 network is told, which %s needs",
				name);
	if (flags & NEEDS_NETWORK6 && !site->network6)
		return fab_fail(err, EINVAL, "no IPv6 network is told, which %s needs",
				name);
	if (flags & NEEDS_KERNEL && !site->kernel)
		return fab_fail(err, EINVAL, "no kernel is told, which %s needs", name);
	if (flags & BY_SERVER && !is_directory && k->plan.n_servers > 1)
		return fab_fail(err, EINVAL,
				"%s is a file for each of the %u servers, not one file",
				name, k->plan.n_servers);
	return 0;
}

static int check(const struct maker *k, bool is_directory, struct fab_err *err)
{
	int rc = check_site(k, is_directory, err);

	for (uint32_t i = 0; i < k->plan.n_servers && !rc; i++)
		rc = check_server(k, &k->plan.server[i], is_directory, err);
	for (uint32_t i = 0; i < k->plan.n_nodes && !rc; i++)
		rc = check_node(k, &k->plan.node[i], err);
	return rc ? rc : check_twice(k, err);
}

static int make(struct maker *k, const struct fab_batch *batch,
		const uint32_t *interface_of, bool is_directory,
		struct fab_boot_written *written, struct fab_err *err)
{
	int rc;

	*written = (struct fab_boot_written){0};
	k->written = written;
	collect(k, batch, interface_of);
	if (written->omitted.n && (k->plan.site->is_strict || !k->plan.n_nodes))
		return fab_fail(err, EINVAL, "%s", written->why_omitted.text);
	rc = check(k, is_directory, err);
	if (rc)
		return rc;
	written->n_nodes = k->plan.n_nodes;
	written->n_servers = k->plan.n_servers;
	for (uint32_t i = 0; i < k->plan.n_nodes; i++)
		written->n_by_guid += k->plan.node[i].has_id &&
				      k->plan.node[i].id.kind != FAB_IDENTITY_MAC;
	return 0;
}

int fab_export_boot(FILE *out, enum fab_boot_format format, const struct fab_machine *m,
		    const struct fab_batch *batch, const uint32_t *interface_of,
		    const struct fab_boot_site *site, struct fab_boot_written *written,
		    struct fab_err *err)
{
	struct maker k = {.format = format, .m = m, .plan = {.site = site}};
	int rc = make(&k, batch, interface_of, false, written, err);

	if (!rc) {
		formats[format].write(&(struct boot_part){.out = out,
							  .plan = &k.plan,
							  .end = k.plan.n_servers,
							  .has_shared = true});
		written->n_files = 1;
	}
	maker_fini(&k);
	return rc;
}

void fab_boot_written_fini(struct fab_boot_written *written)
{
	for (size_t i = 0; i < written->omitted.n; i++)
		free(written->omitted.v[i]);
	free(written->omitted.v);
}

/* One file of a folder. */
static void write_file(const struct fab_boot_directory *directory,
		       const struct boot_part *part, const char *name,
		       const char *extension, void (*write)(const struct boot_part *part),
		       uint32_t *n_files)
{
	char *file = fab_format("%s.%s", name, extension);
	struct boot_part own = *part;

	own.out = directory->open(directory->context, file);
	write(&own);
	++*n_files;
	free(file);
}

int fab_export_boot_directory(const struct fab_boot_directory *directory,
			      enum fab_boot_format format, const struct fab_machine *m,
			      const struct fab_batch *batch, const uint32_t *interface_of,
			      const struct fab_boot_site *site,
			      struct fab_boot_written *written, struct fab_err *err)
{
	struct maker k = {.format = format, .m = m, .plan = {.site = site}};
	bool has_scripts = formats[format].flags & NAMES_SCRIPT && site->kernel;
	void (*write)(const struct boot_part *part) = formats[format].write_file
							      ? formats[format].write_file
							      : formats[format].write;
	uint32_t n_files = 0;
	int rc = make(&k, batch, interface_of, true, written, err);

	if (!rc && !formats[format].write_file && !(formats[format].flags & BY_SERVER))
		write_file(directory,
			   &(struct boot_part){.plan = &k.plan, .has_shared = true},
			   "default", formats[format].extension, write, &n_files);
	for (uint32_t i = 0; i < k.plan.n_servers && !rc; i++) {
		const struct boot_part part = {.plan = &k.plan, .first = i, .end = i + 1};

		write_file(directory, &part, k.plan.server[i].file,
			   formats[format].extension, write, &n_files);
		if (has_scripts)
			write_file(directory, &part, k.plan.server[i].file, "ipxe",
				   boot_write_ipxe, &n_files);
	}
	written->n_files = n_files;
	maker_fini(&k);
	return rc;
}
