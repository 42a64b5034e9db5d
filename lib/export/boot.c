/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/boot.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/text.h"
#include "boot_templates.h"
#include "export/boot_impl.h"

/* The formats by number. */
static const struct {
	const char *name, *template, *summary, *manual; /* template: NULL: of the site */
} formats[FAB_N_BOOT_FORMATS] =
	{
		{"csv", csv_tmpl, "node, server, MAC, IP, IPv6 and client identifier",
		 "A heading, then node, server, MAC, IPv4 and IPv6 address and client identifier of each node; any name, quoted."},
		{"json", json_tmpl, "lines with the same fields",
		 "Its fields as JSON lines, null for what is not known."},
		{"hosts", hosts_tmpl, "lines of hosts(5)",
		 "Lines of hosts(5), servers first."},
		{"ethers", ethers_tmpl, "lines of ethers(5)", "Lines of ethers(5)."},
		{"ansible", ansible_tmpl, "inventory with a group for each server",
		 "An inventory: groups `boot_SERVER` with the variables `boot_server` and `boot_server_address`, `boot_servers`, and `boot_nodes` of these groups."},
		{"dnsmasq", dnsmasq_tmpl, "tags, dhcp-boot and dhcp-host",
		 "Each node gets the tag `boot-SERVER`; tags of architecture, HTTP boot and iPXE say with it what the node loads. Needs servers with addresses of each family of `--network`."},
		{"kea4", kea4_tmpl, "configuration of Kea's DHCPv4 server",
		 "All of Kea's DHCPv4 configuration, reservations and classes."},
		{"kea6", kea6_tmpl, "configuration of Kea's DHCPv6 server",
		 "All of its DHCPv6 configuration; needs IPv6 addresses of servers."},
		{"dhcpd", dhcpd_tmpl, "ISC dhcpd, which is at its end of life",
		 "ISC dhcpd, at its end of life since 2022 (better: `kea4`): groups by server, IPv4 only; needs addresses of these in `--network`."},
		{"ipxe", ipxe_tmpl, "a script for each server",
		 "The iPXE script of each server alone, `SERVER.ipxe`; needs `--kernel`, and `--to-dir` for several servers."},
		{"xcat", xcat_tmpl, "chdef commands",
		 "One `chdef` for each server and its nodes as a node range; KERNEL of `--image` is the name of an osimage (provmethod)."},
		{"warewulf", warewulf_tmpl, "wwctl commands and what its dnsmasq needs",
		 "Warewulf 4: one `wwctl node set` for each server and the host list of its nodes, and a file for dnsmasq.d that says what the server's tag means for the tags of Warewulf's own file; KERNEL of `--image` is the name of an image (4.6 or later). A node asks the server of its tag for everything: each needs `warewulfd`, its own `warewulf.conf` (its `ipaddr` goes into scripts of iPXE), and, shared or copied, nodes.conf and the iPXE and GRUB templates of /etc/warewulf, the folders of images (wwchrootdir), overlays (wwoverlaydir) and what `wwctl image build` and `wwctl overlay build` make of them (wwprovisiondir), and the iPXE programs below tftpboot/warewulf (`wwctl configure tftp`). Checked against the sources of July 2026 (4.7): options of `wwctl node set`, tags and file names of ww4-hosts.conf, paths."},
		{"openchami", openchami_tmpl, "ochami commands with boot parameters",
		 "One `ochami bss boot params` for each server, `set` where kernel, initrd and parameters are all given, else `update`, which keeps the others; by `--to-dir` files for `-d @FILE`. Needs `--kernel`. Checked against the sources of ochami and bss (BootParams)."},
		{"openchami-config", openchami_config_tmpl,
		 "the same as BootConfiguration objects", "Objects BootConfiguration of the newer boot service, `fabkit-boot-SERVER`, for `ochami boot config add -e`; with `--to-out` a script, which replaces those of an earlier run by name and deletes those of servers that are gone. Needs `--kernel` by http://, https:// or a path from / on, as the service demands; smd and cloud-init are not written to: the service must know the nodes. Checked against the sources of ochami (`boot config list`, `add`, `set`, `delete`) and of boot-service (BootConfigurationSpec, its validation)."},
		{"template:FILE", NULL, "by a template of your own",
		 "By a template, see fabric-formats(5). The other formats are installed templates, too."},
};

static struct fab_choice format_at(size_t i)
{
	return (struct fab_choice){.form = formats[i].name,
				   .summary = formats[i].summary,
				   .manual = formats[i].manual,
				   .is_in_all = true};
}

const struct fab_choices fab_boot_format_choices = {
	.what = "format", .n = FAB_N_BOOT_FORMATS, .at = format_at};

/* The files of a mapping while they are made. */
struct maker {
	const char *name;		       /* of the format */
	struct boot_template template, script; /* of the format; of the iPXE script */
	const struct fab_machine *m;
	struct boot_plan plan;
	struct fab_arena arena;
	uint32_t *server_of; /* [n_interfaces] into plan.server, FAB_NONE: none yet */
	struct fab_strmap *by_name; /* of servers */
	bool divides;		    /* entries of a server by image and second server */
	bool names_second; /* scripts differ by second server: IPv6 has no next-server */
	struct fab_boot_written *written;
};

static struct fab_host_address address_of(const struct maker *k, const char *name)
{
	const struct fab_host_address *known =
		fab_host_addresses_find(k->plan.site->addresses, name);

	return known ? *known : (struct fab_host_address){0};
}

/*
 * The server that an interface belongs to: one of its own when its address is known, the
 * first interface of the host otherwise. Formats that quote keep names unchanged.
 */
static uint32_t server_of(struct maker *k, uint32_t interface)
{
	struct boot_plan *plan = &k->plan;
	char name[FAB_MACHINE_NAME_BYTES];
	uint32_t n = plan->n_servers, at;

	if (k->server_of[interface] != FAB_NONE)
		return k->server_of[interface];
	fab_machine_interface_name(k->m, interface, name);
	if (!(k->template.flags & QUOTES) && strchr(name, '/')) {
		fab_machine_interface_host_name(k->m, interface, name);
		if (!fab_host_addresses_find(plan->site->addresses, name))
			fab_machine_server_name(k->m, k->m->interface_server[interface],
						name);
	}
	at = fab_strmap_put(k->by_name, name, strlen(name), n);
	if (at == n) {
		plan->server[n].name = plan->server[n].host =
			fab_arena_strdup(&k->arena, name);
		if (strchr(name, '/'))
			fab_machine_interface_host_name(k->m, interface, name);
		plan->server[n].first = n;
		plan->server[n].label = plan->server[n].name;
		plan->server[n].file = fab_arena_strdup(&k->arena, name);
		plan->server[n].ip = address_of(k, name);
		plan->n_servers++;
	}
	return k->server_of[interface] = at;
}

/* Key of an entry, equal for all its nodes: their server and, where the format divides
 * servers, the number of their image from 1 on (0: in no group), and where scripts name
 * it their second server, from 1 on. */
static void key_of(const struct maker *k, uint32_t node, uint32_t key[3])
{
	const struct boot_node *n = &k->plan.node[node];
	const struct fab_boot_site *site = k->plan.site;

	key[0] = n->server;
	key[1] = k->divides && n->image ? (uint32_t)(n->image - site->images) + 1 : 0;
	key[2] = k->names_second && n->second != FAB_NONE ? n->second + 1 : 0;
}

static bool has_key(const struct maker *k, uint32_t node, const uint32_t key[3])
{
	uint32_t own[3];

	key_of(k, node, own);
	return !memcmp(own, key, sizeof(own));
}

/* By key, then in the order of the batch. */
static int cmp_key(const void *a, const void *b, void *context)
{
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b, x[3], y[3];

	key_of(context, i, x);
	key_of(context, j, y);
	for (int at = 0; at < 3; at++)
		if (x[at] != y[at])
			return x[at] < y[at] ? -1 : 1;
	return i < j ? -1 : i > j;
}

/* Image and second server of an entry, as its nodes have them, and its name by these. */
static int label_entry(struct maker *k, struct boot_server *own,
		       const struct boot_node *node, const uint32_t key[3],
		       const struct boot_server *whole, struct fab_err *err)
{
	if (key[1]) {
		own->image = node->image;
		own->label =
			fab_arena_format(&k->arena, "%s-image%u", own->label, key[1]);
	}
	if (key[2]) {
		own->second = &whole[key[2] - 1];
		own->label = fab_arena_format(&k->arena, "%s-then-%s", own->label,
					      own->second->name);
	}
	return own->label == own->name || fab_strmap_get(k->by_name, own->label,
							 strlen(own->label)) == FAB_NONE
		       ? 0
		       : fab_fail(err, EINVAL,
				  "server '%.80s' is called as a script of '%.80s'",
				  own->label, own->name);
}

/* An entry for the nodes of each key, at least one for each server, in their order. */
static int make_entries(struct maker *k, struct fab_err *err)
{
	struct boot_plan *plan = &k->plan;
	const struct boot_server *whole = plan->server;
	uint32_t n_whole = plan->n_servers, at = 0, n = 0, key[3] = {FAB_NONE};
	uint32_t *first = FAB_ARENA_NEW(&k->arena, (size_t)n_whole + 1, uint32_t);
	const uint32_t *node = fab_arena_sorted(&k->arena, plan->n_nodes, cmp_key, k);
	plan->server = FAB_ARENA_NEW(&k->arena, (size_t)n_whole + plan->n_nodes + 1,
				     struct boot_server);
	for (uint32_t s = 0; s < n_whole; s++) {
		first[s] = n;
		do {
			struct boot_server *own = &plan->server[n];

			*own = whole[s];
			own->first = first[s];
			own->nodes = node + at;
			if (at < plan->n_nodes)
				key_of(k, node[at], key);
			for (; at < plan->n_nodes && key[0] == s &&
			       has_key(k, node[at], key);
			     at++) {
				plan->node[node[at]].server = n;
				own->n++;
			}
			n++;
			if (own->n && label_entry(k, own, &plan->node[*own->nodes], key,
						  whole, err))
				return -EINVAL;
		} while (at < plan->n_nodes && plan->node[node[at]].server == s);
	}
	plan->n_servers = n;
	for (uint32_t i = 0; i < plan->n_nodes; i++)
		if (plan->node[i].second != FAB_NONE)
			plan->node[i].second = first[plan->node[i].second];
	return 0;
}

static int check_name(const struct maker *k, const char *name, bool is_file,
		      struct fab_err *err)
{
	if ((is_file || !(k->template.flags & QUOTES)) && !fab_is_host_name(name))
		return fab_fail(
			err, EINVAL,
			"'%.80s' is no host name that a %s file could hold: letters, digits, . _ and - only",
			name, k->name);
	if (k->template.is_ambiguous && k->template.is_ambiguous(name))
		return fab_fail(
			err, EINVAL,
			"'%.80s' would mean something else than a host name in a %s file",
			name, k->name);
	return 0;
}

/* Names of groups: alphanumeric and underscores, each once. */
static void name_groups(struct maker *k)
{
	struct boot_plan *plan = &k->plan;
	FAB_AUTO(fab_strmap_free_at)
	struct fab_strmap *taken = fab_strmap_new(plan->n_servers);

	for (uint32_t s = 0; s < plan->n_servers; s++) {
		char *name = fab_arena_format(&k->arena, "boot_%s",
					      plan->server[s].label),
		     *own = name;
		uint32_t again = 1;

		for (char *at = name; *at; at++)
			if (!isalnum((unsigned char)*at))
				*at = '_';
		while (fab_strmap_put(taken, own, strlen(own), s) != s)
			own = fab_arena_format(&k->arena, "%s__%u", name, ++again);
		plan->server[s].group = own;
	}
}

/* The network of a node by its address, else the only one of the family. */
static const struct fab_subnet *subnet_of(const struct fab_subnets *s, const char *ip,
					  bool is_ip6)
{
	const struct fab_subnet *first = fab_subnets_first(s, is_ip6);

	if (*ip)
		return fab_subnets_find(s, ip);
	for (size_t i = 0; first && i < s->of.n; i++)
		if (s->of.v[i].net.is_ip6 == is_ip6 && &s->of.v[i] != first)
			return NULL;
	return first;
}

/* By second server, then by entry, then in the order of the batch. */
static int cmp_stand_in(const void *a, const void *b, void *nodes)
{
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct boot_node *of = nodes, *x = &of[i], *y = &of[j];

	FAB_ORDER_BY(x, y, second);
	FAB_ORDER_BY(x, y, server);
	return i < j ? -1 : i > j;
}

/* The nodes of each entry that have the same second server. */
static void find_stand_ins(struct maker *k)
{
	struct boot_plan *plan = &k->plan;
	const uint32_t *node =
		fab_arena_sorted(&k->arena, plan->n_nodes, cmp_stand_in, plan->node);
	const struct boot_node *before = NULL;
	uint32_t n_pairs = 0;
	plan->stand_in =
		FAB_ARENA_NEW(&k->arena, (size_t)plan->n_nodes + 1, struct boot_server);
	plan->first_stand_in =
		FAB_ARENA_NEW0(&k->arena, (size_t)plan->n_servers + 1, uint32_t);
	for (uint32_t i = 0; i < plan->n_nodes; i++) {
		const struct boot_node *n = &plan->node[node[i]];

		if (n->second == FAB_NONE)
			break;
		if (!before || before->second != n->second ||
		    before->server != n->server) {
			const struct boot_server *first = &plan->server[n->server];
			struct boot_server *pair = &plan->stand_in[n_pairs++];

			*pair = plan->server[n->second];
			pair->name = first->name;
			pair->group = first->group;
			pair->label = first->label;
			pair->nodes = node + i;
			pair->n = 0;
			pair->stands_in = true;
			plan->first_stand_in[n->second + 1]++;
		}
		plan->stand_in[n_pairs - 1].n++;
		before = n;
	}
	for (uint32_t s = 0; s < plan->n_servers; s++)
		plan->first_stand_in[s + 1] += plan->first_stand_in[s];
}

/* Nodes and servers of the batch; a node whose name the format cannot hold is noted
 * instead. */
static int collect(struct maker *k, const struct fab_batch *batch,
		   const uint32_t *interface_of, struct fab_err *err)
{
	struct boot_plan *plan = &k->plan;
	struct fab_boot_written *w = k->written;
	const uint32_t *second_of = plan->site->second_of;
	uint32_t n_interfaces = k->m->n_interfaces, n_kept = 0;
	uint32_t *kept = FAB_ARENA_NEW(&k->arena, batch->n, uint32_t);
	bool *serves = FAB_ARENA_NEW0(&k->arena, n_interfaces, bool);
	char name[FAB_MACHINE_NAME_BYTES], safe[4 * FAB_MACHINE_NAME_BYTES];

	plan->node = FAB_ARENA_NEW(&k->arena, batch->n, struct boot_node);
	plan->server = FAB_ARENA_NEW0(&k->arena, n_interfaces, struct boot_server);
	k->server_of = fab_arena_none(&k->arena, n_interfaces);
	k->by_name = fab_strmap_new(n_interfaces);
	FAB_EACH_NODE(batch, node) {
		fab_machine_node_name(k->m, node, name);
		if (check_name(k, name, false, w->omitted.n ? NULL : &w->why_omitted)) {
			fab_text_safe(name, safe, sizeof(safe));
			FAB_PUSH(&w->omitted, fab_strdup(safe));
		} else if (interface_of[node] < n_interfaces) {
			kept[n_kept++] = node;
			serves[interface_of[node]] = true;
			if (second_of && second_of[node] < n_interfaces)
				serves[second_of[node]] = true;
		}
	}
	/* servers in their own order, whatever the batch's */
	for (uint32_t i = 0; i < n_interfaces; i++)
		if (serves[i])
			server_of(k, i);
	for (uint32_t i = 0; i < n_kept; i++) {
		struct boot_node *n = &plan->node[plan->n_nodes++];

		fab_machine_node_name(k->m, kept[i], name);
		*n = (struct boot_node){.name = fab_arena_strdup(&k->arena, name),
					.server = server_of(k, interface_of[kept[i]]),
					.second = FAB_NONE,
					.guid = fab_machine_node_guid(k->m, kept[i]),
					.ip = address_of(k, name)};
		n->subnet[0] = subnet_of(plan->site->subnets, n->ip.ip, false);
		n->subnet[1] = subnet_of(plan->site->subnets, n->ip.ip6, true);
		n->has_id =
			fab_boot_id_of(plan->site->identity, n->ip.mac, n->guid, &n->id);
		if (!n->has_id)
			*n->id.client_id = 0;
		if (second_of && second_of[kept[i]] < n_interfaces)
			n->second = server_of(k, second_of[kept[i]]);
		if (plan->site->image_of && plan->site->image_of[kept[i]] != FAB_NONE)
			n->image = &plan->site->images[plan->site->image_of[kept[i]]];
	}
	for (uint32_t i = 0; i < plan->n_servers && second_of; i++)
		k->names_second |= k->template.flags & (NAMES_SCRIPT | BY_SERVER) &&
				   *plan->server[i].ip.ip6;
	k->divides =
		k->names_second || (plan->site->image_of && k->template.flags & BY_IMAGE);
	if (make_entries(k, err))
		return -EINVAL;
	name_groups(k);
	if (second_of)
		find_stand_ins(k);
	return 0;
}

static void maker_fini(struct maker *k)
{
	boot_template_fini(&k->template);
	boot_template_fini(&k->script);
	fab_strmap_free(k->by_name);
	fab_arena_free(&k->arena);
}

static int lacks(const struct maker *k, const char *what, const char *who,
		 const char *name, struct fab_err *err)
{
	return fab_fail(err, EINVAL, "no %s is known for %s '%.80s', which %s needs",
			what, who, name, k->name);
}

/* Is the address where the DHCP server has a network? */
static int check_network(const struct maker *k, const char *ip, const char *whose,
			 const char *name, struct fab_err *err)
{
	const struct fab_subnets *s = k->plan.site->subnets;
	const struct fab_subnet *first = fab_subnets_first(s, strchr(ip, ':') != NULL);

	if (!first || !*ip || fab_subnets_find(s, ip))
		return 0;
	return fab_fail(err, EINVAL, "%s, the address of %s '%.80s', is not in %s", ip,
			whose, name, s->file ? s->file : first->net.text);
}

static int check_node(const struct maker *k, const struct boot_node *n,
		      struct fab_err *err)
{
	unsigned flags = k->template.flags;
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
	rc = check_network(k, n->ip.ip, "node", n->name, err);
	if (!rc)
		rc = check_network(k, n->ip.ip6, "node", n->name, err);
	if (rc || !site->subnets)
		return rc;
	if (flags & NEEDS_NETWORK4   ? !n->subnet[0]
	    : flags & NEEDS_NETWORK6 ? !n->subnet[1]
				     : !n->subnet[0] && !n->subnet[1])
		return lacks(k, "network", "node", n->name, err);
	return 0;
}

/* Kernel, initial file system and script of a server's nodes, where the format is
 * particular about them. */
static int check_kernels(const struct maker *k, const struct boot_server *s,
			 struct fab_err *err)
{
	const struct fab_boot_site *site = k->plan.site;
	const char *const files[] = {boot_kernel(site, s->image),
				     boot_initrd(site, s->image)};
	unsigned flags = k->template.flags;

	if (flags & NAMES_SCRIPT && s->label != s->name && boot_kernel(site, s->image) &&
	    site->script && !strstr(site->script, "{script}"))
		return fab_fail(
			err, EINVAL,
			"'%.80s' is one script for all nodes of a server, which need several: expected {script} in it",
			site->script);
	if (flags & NAMES_IMAGE && s->image && s->image->kernel &&
	    strpbrk(s->image->kernel, "/:{}$"))
		return fab_fail(
			err, EINVAL,
			"'%.80s' is no name of an image, which %s takes as KERNEL",
			s->image->kernel, k->name);
	for (size_t i = 0; i < 2 && flags & NEEDS_URL; i++)
		if (files[i] && *files[i] != '/' &&
		    strncmp(files[i], "http://", 7) != 0 &&
		    strncmp(files[i], "https://", 8) != 0)
			return fab_fail(
				err, EINVAL,
				"'%.80s': %s takes http://, https:// and paths from / on",
				files[i], k->name);
	return 0;
}

static int check_server(const struct maker *k, const struct boot_server *s, bool is_file,
			struct fab_err *err)
{
	const struct fab_boot_site *site = k->plan.site;
	const char *const templates[] = {site->boot_url, site->script,
					 boot_kernel(site, s->image),
					 boot_initrd(site, s->image), site->params};
	unsigned flags = k->template.flags;
	int rc = check_name(k, is_file ? s->file : s->name, is_file, err);
	bool has_ip = *s->ip.ip || *s->ip.ip6;

	if (rc)
		return rc;
	if (is_file && !strcmp(s->file, "default"))
		return fab_fail(
			err, EINVAL,
			"a server is called 'default', as is the file that all servers share");
	if ((flags & NEEDS_SERVER_IP && !has_ip) ||
	    (flags & NEEDS_SERVER_IP4 && !*s->ip.ip) ||
	    (flags & NEEDS_NETWORK && fab_subnets_first(site->subnets, false) &&
	     !*s->ip.ip))
		return lacks(k, "IP address", "server", s->name, err);
	if (!*s->ip.ip6 &&
	    (flags & NEEDS_SERVER_IP6 ||
	     (flags & NEEDS_NETWORK && fab_subnets_first(site->subnets, true))))
		return lacks(k, "IPv6 address", "server", s->name, err);
	if (flags & SERVERS_INSIDE) {
		rc = check_network(k, s->ip.ip, "server", s->name, err);
		if (rc)
			return rc;
	}
	rc = check_kernels(k, s, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < FAB_COUNT(templates) && !has_ip; i++)
		if (boot_names_address(templates[i]) &&
		    (flags & (NEEDS_KERNEL | NAMES_SCRIPT) || site->image_of))
			return fab_fail(
				err, EINVAL,
				"no IP address is known for server '%.80s', which '%.80s' needs",
				s->name, templates[i]);
	return 0;
}

/* Refuse a second owner. */
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
	FAB_AUTO(fab_strmap_free_at)
	struct fab_strmap *seen = fab_strmap_new(k->plan.n_nodes);
	FAB_AUTO(fab_strmap_free_at)
	struct fab_strmap *names = fab_strmap_new(k->plan.n_nodes);
	unsigned flags = k->template.flags;
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
	return rc;
}

/* Requirements of the format apart from hosts. */
static int check_site(const struct maker *k, bool is_directory, struct fab_err *err)
{
	const struct fab_boot_site *site = k->plan.site;
	unsigned flags = k->template.flags;
	const char *name = k->name;

	for (int a = 0; a < FAB_N_BOOT_ARCHS; a++) {
		const char *file = site->boot_file[a];
		size_t n = file ? strlen(file) : 0, n_good = 0;

		while (n_good < n && file[n_good] > ' ' && file[n_good] < 0x7f &&
		       !strchr("\"'\\,;{}#", file[n_good]))
			n_good++;
		if (file && (!n || n_good < n || n >= 128))
			return fab_fail(
				err, EINVAL,
				"'%.80s' is no file name that can stand in configuration",
				site->boot_file[a]);
	}
	if (flags & NEEDS_NETWORK && !site->subnets)
		return fab_fail(err, EINVAL,
				"no network is given, without which %s opens no port",
				name);
	if (flags & NEEDS_NETWORK4 && !fab_subnets_first(site->subnets, false))
		return fab_fail(err, EINVAL, "no IPv4 network is given, which %s needs",
				name);
	if (flags & NEEDS_NETWORK6 && !fab_subnets_first(site->subnets, true))
		return fab_fail(err, EINVAL, "no IPv6 network is given, which %s needs",
				name);
	for (uint32_t i = 0; i < k->plan.n_servers && flags & NEEDS_KERNEL; i++) {
		const struct fab_image *image = k->plan.server[i].image;

		if (boot_kernel(site, image))
			continue;
		return site->image_of
			       ? fab_fail(
					 err, EINVAL,
					 "no kernel is given for %s%.60s, which %s needs",
					 image ? "the nodes of " : "nodes in no group",
					 image ? image->nodes : "", name)
			       : fab_fail(err, EINVAL,
					  "no kernel is given, which %s needs", name);
	}
	if (site->second_of && !(flags & HAS_SECOND))
		return fab_fail(err, EINVAL, "%s cannot express second servers", name);
	if (site->second_of && flags & TWICE && !is_directory)
		return fab_fail(
			err, EINVAL,
			"%s has two servers for a node in a folder only, by the files of both",
			name);
	if (flags & BY_SERVER && !is_directory && k->plan.n_servers > 1)
		return fab_fail(err, EINVAL,
				"%s is a file for each of the %u %s, not one file", name,
				k->plan.n_servers,
				site->image_of ? "servers and images" : "servers");
	return 0;
}

static int make(struct maker *k, enum fab_boot_format format,
		const struct fab_batch *batch, const uint32_t *interface_of,
		bool is_directory, struct fab_boot_written *written, struct fab_err *err)
{
	int rc;
	const struct fab_boot_site *site = k->plan.site;
	const char *text = formats[format].template;

	/* Templates of the format, and of the iPXE scripts that its files name. */
	k->name = text ? formats[format].name : site->template_name;
	rc = boot_template_read(k->name, text ? text : site->template_text,
				text ? strlen(text) : site->template_bytes, &k->template,
				err);
	if (!rc && k->template.flags & NAMES_SCRIPT)
		rc = boot_template_read("ipxe", ipxe_tmpl, strlen(ipxe_tmpl), &k->script,
					err);
	*written = (struct fab_boot_written){0};
	k->written = written;
	if (rc)
		return rc;
	rc = collect(k, batch, interface_of, err);
	if (rc)
		return rc;
	if (written->omitted.n && (k->plan.site->is_strict || !k->plan.n_nodes))
		return fab_fail(err, EINVAL, "%s", written->why_omitted.text);
	rc = check_site(k, is_directory, err);
	for (uint32_t i = 0; i < k->plan.n_servers && !rc; i++)
		rc = check_server(k, &k->plan.server[i], is_directory, err);
	for (uint32_t i = 0; i < k->plan.n_nodes && !rc; i++)
		rc = check_node(k, &k->plan.node[i], err);
	if (!rc)
		rc = check_twice(k, err);
	if (rc)
		return rc;
	written->n_nodes = k->plan.n_nodes;
	for (uint32_t i = 0; i < k->plan.n_servers; i++)
		written->n_servers += k->plan.server[i].first == i;
	for (uint32_t i = 0; i < k->plan.n_nodes; i++)
		written->n_by_guid += k->plan.node[i].has_id &&
				      k->plan.node[i].id.kind != FAB_IDENTITY_MAC;
	return 0;
}

void fab_boot_written_fini(struct fab_boot_written *written)
{
	for (size_t i = 0; i < written->omitted.n; i++)
		free(written->omitted.v[i]);
	free(written->omitted.v);
}

/* Name of a script without its extension. */
static const char *script_of(const struct boot_server *entry)
{
	return entry->label == entry->name ? entry->file : entry->label;
}

/* One file of a folder. */
static void write_file(const struct fab_boot_target *to, const struct boot_part *part,
		       const char *name, const char *extension,
		       struct fab_boot_written *written)
{
	FAB_AUTOFREE char *file = fab_format("%s.%s", name, extension);
	struct boot_part own = *part;

	own.out = to->open(to->context, file);
	boot_write_template(&own);
	written->n_files++;
}

int fab_export_boot(const struct fab_boot_target *to, enum fab_boot_format format,
		    const struct fab_machine *m, const struct fab_batch *batch,
		    const uint32_t *interface_of, const struct fab_boot_site *site,
		    struct fab_boot_written *written, struct fab_err *err)
{
	FAB_AUTO(maker_fini) struct maker k = {.m = m, .plan = {.site = site}};
	int rc = make(&k, format, batch, interface_of, !to->out, written, err);
	struct boot_part shared = {.out = to->out,
				   .plan = &k.plan,
				   .template = &k.template,
				   .has_shared = true};

	if (rc)
		return rc;
	if (to->out) {
		shared.end = k.plan.n_servers;
		boot_write_template(&shared);
		written->n_files = 1;
		return 0;
	}
	if (!(k.template.flags & (NO_DEFAULT | BY_SERVER)))
		write_file(to, &shared, "default", k.template.extension, written);
	for (uint32_t i = 0, end; i < k.plan.n_servers; i = end) {
		const struct boot_server *s = &k.plan.server[i];
		struct boot_part part = shared;

		part.has_shared = false;
		part.first = i;
		/* a file for each script, else for each server with all images */
		for (end = i + 1; end < k.plan.n_servers &&
				  k.plan.server[end].first == s->first &&
				  !(k.template.flags & BY_SERVER);)
			end++;
		part.end = end;
		write_file(to, &part,
			   k.template.flags & BY_SERVER ? script_of(s) : s->file,
			   k.template.extension, written);
		part.template = &k.script;
		for (uint32_t e = i; e < end && k.template.flags & NAMES_SCRIPT; e++) {
			const struct boot_server *entry = &k.plan.server[e];

			part.first = e;
			part.end = e + 1;
			if (boot_kernel(site, entry->image))
				write_file(to, &part, script_of(entry), "ipxe", written);
		}
	}
	return 0;
}
