/* SPDX-License-Identifier: BSD-2-Clause */
/* Configuration of DHCP servers: dnsmasq, ISC dhcpd and Kea. */
#include <jansson.h>
#include <stdlib.h>

#include "base/mem.h"
#include "export/boot_impl.h"

/* ---- dnsmasq ---- */

/*
 * dnsmasq(8): the tag boot-SERVER on each node, and by tags of architecture and iPXE what
 * it loads from that server. iPXE is recognised by its user class: it gets its script,
 * not itself once more.
 */
/* Lines that all servers share; also of use in a file of its own. */
static void write_shared(const struct boot_part *part)
{
	const struct boot_plan *plan = part->plan;
	const struct fab_boot_site *site = plan->site;
	FILE *out = part->out;

	fputs("# dnsmasq: architecture of a node (DHCP option 93), UEFI HTTP boot, iPXE\n"
	      "dhcp-match=set:efi64,option:client-arch,7\n"
	      "dhcp-match=set:efi64,option:client-arch,9\n"
	      "dhcp-match=set:efi64,option:client-arch,16\n"
	      "dhcp-match=set:arm64,option:client-arch,11\n"
	      "dhcp-match=set:arm64,option:client-arch,19\n"
	      "dhcp-vendorclass=set:http,HTTPClient\n"
	      "dhcp-option-force=tag:http,60,HTTPClient\n"
	      "dhcp-userclass=set:ipxe,iPXE\n",
	      out);
	if (site->network6)
		fputs("# the same of DHCPv6 (options 61, 16 and 15)\n"
		      "dhcp-match=set:efi64,option6:61,00:07\n"
		      "dhcp-match=set:efi64,option6:61,00:09\n"
		      "dhcp-match=set:efi64,option6:61,00:10\n"
		      "dhcp-match=set:arm64,option6:61,00:0b\n"
		      "dhcp-match=set:arm64,option6:61,00:13\n"
		      "dhcp-vendorclass=set:http,enterprise:343,HTTPClient\n"
		      /* dnsmasq knows strings here, a length before each: EDK II wants
		       * HTTPClient behind six bytes, of any enterprise */
		      "dhcp-option-force=tag:http,option6:16,EF,HTTPClient\n",
		      out);
	fprintf(out, "# leases, where 1000 would be all\ndhcp-lease-max=%u\n",
		plan->n_nodes * 2 + 1000);
	if (site->network4)
		fprintf(out, "dhcp-range=%s,static,%s,infinite\n", site->network4->first,
			site->network4->mask);
	if (site->network6)
		fprintf(out, "dhcp-range=%s,static,%u,infinite\n", site->network6->first,
			site->network6->prefix);
	fputs("# a boot server has its files besides: enable-tftp, tftp-root=FOLDER\n",
	      out);
}

/* Tags of those that load the file of an architecture over TFTP, over HTTP. */
static const char *const arch_tags[FAB_N_BOOT_ARCHS] = {"tag:!efi64,tag:!arm64",
							"tag:efi64", "tag:arm64"};

static void write_boot4(const struct boot_part *part, const struct boot_server *s)
{
	char *script = boot_script_name(part->plan, s, false);

	for (int a = 0; a < FAB_N_BOOT_ARCHS; a++) {
		char *url = boot_http_url(part->plan, s, (enum fab_boot_arch)a, false);

		fprintf(part->out,
			"dhcp-boot=tag:boot-%s,tag:!ipxe,tag:!http,%s,%s,%s,%s\n",
			s->name, arch_tags[a],
			boot_file_of(part->plan, (enum fab_boot_arch)a), s->name,
			s->ip.ip);
		if (a != FAB_ARCH_BIOS)
			fprintf(part->out,
				"dhcp-boot=tag:boot-%s,tag:!ipxe,tag:http,%s,%s,%s,%s\n",
				s->name, arch_tags[a], url, s->name, s->ip.ip);
		free(url);
	}
	fprintf(part->out, "dhcp-boot=tag:boot-%s,tag:ipxe,%s,%s,%s\n", s->name, script,
		s->name, s->ip.ip);
	free(script);
}

static void write_boot6(const struct boot_part *part, const struct boot_server *s)
{
	char *script = boot_script_name(part->plan, s, true);

	for (int a = FAB_ARCH_X86_64; a < FAB_N_BOOT_ARCHS; a++) {
		char *file = boot_file_url6(part->plan, s, (enum fab_boot_arch)a);
		char *url = boot_http_url(part->plan, s, (enum fab_boot_arch)a, true);

		fprintf(part->out,
			"dhcp-option=tag:boot-%s,tag:!ipxe,tag:!http,%s,option6:bootfile-url,%s\n",
			s->name, arch_tags[a], file);
		fprintf(part->out,
			"dhcp-option=tag:boot-%s,tag:!ipxe,tag:http,%s,option6:bootfile-url,%s\n",
			s->name, arch_tags[a], url);
		free(file);
		free(url);
	}
	fprintf(part->out, "dhcp-option=tag:boot-%s,tag:ipxe,option6:bootfile-url,%s\n",
		s->name, script);
	free(script);
}

/* By a client identifier a line for each family: a node says another one in each. */
static void write_node(FILE *out, const struct boot_node *n, const struct boot_server *s)
{
	const char *ip = n->ip.ip, *ip6 = n->ip.ip6;

	if (*n->id.client_id) {
		fprintf(out, "dhcp-host=id:%s,set:boot-%s,%s%s%s,infinite\n",
			n->id.client_id, s->name, ip, *ip ? "," : "", n->name);
		if (*ip6)
			fprintf(out, "dhcp-host=id:%s,set:boot-%s,[%s],%s,infinite\n",
				n->id.duid, s->name, ip6, n->name);
		return;
	}
	fprintf(out, "dhcp-host=%s%s,set:boot-%s,%s%s%s%s%s%s,infinite\n",
		n->id.kind == FAB_IDENTITY_HARDWARE_32 ? "20-" : "", n->id.mac, s->name,
		ip, *ip ? "," : "", *ip6 ? "[" : "", ip6, *ip6 ? "]," : "", n->name);
}

void boot_write_dnsmasq(const struct boot_part *part)
{
	if (part->has_shared)
		write_shared(part);
	else
		fputs("# default.conf belongs to this file: without it no port is opened\n",
		      part->out);
	for (uint32_t i = part->first; i < part->end; i++) {
		const struct boot_server *s = &part->plan->server[i];

		fprintf(part->out, "# %s serves %u\n", s->name, s->n);
		if (*s->ip.ip)
			write_boot4(part, s);
		if (*s->ip.ip6)
			write_boot6(part, s);
		for (uint32_t n = 0; n < s->n; n++)
			write_node(part->out, boot_node_of(part->plan, s, n), s);
	}
}

/* ---- ISC dhcpd ---- */

/* ISC dhcpd: a group for each server, in which an if tells what a node loads. */
static void dhcpd_write_shared(const struct boot_part *part)
{
	const struct fab_ip_network *net = part->plan->site->network4;

	fputs("# ISC dhcpd has been at its end of life since 2022: Kea is its successor\n"
	      "# (--to=kea4, --to=kea6)\n"
	      "option boot-arch code 93 = unsigned integer 16;\n",
	      part->out);
	fprintf(part->out, "subnet %s netmask %s { }\n", net->first, net->mask);
}

/* From the outside inwards: iPXE, HTTP boot, architecture. */
static void write_files(const struct boot_part *part, const struct boot_server *s)
{
	char *script = boot_script_name(part->plan, s, false);
	char *efi = boot_http_url(part->plan, s, FAB_ARCH_X86_64, false);
	char *arm = boot_http_url(part->plan, s, FAB_ARCH_ARM64, false);

	fprintf(part->out,
		"  if exists user-class and option user-class = \"iPXE\" {\n"
		"    filename \"%s\";\n"
		"  } elsif substring(option vendor-class-identifier, 0, 10) = \"HTTPClient\" {\n"
		"    option vendor-class-identifier \"HTTPClient\";\n"
		"    if option boot-arch = 00:13 { filename \"%s\"; }\n"
		"    else { filename \"%s\"; }\n"
		"  } elsif option boot-arch = 00:07 or option boot-arch = 00:09 {\n"
		"    filename \"%s\";\n"
		"  } elsif option boot-arch = 00:0b {\n"
		"    filename \"%s\";\n"
		"  } else {\n"
		"    filename \"%s\";\n"
		"  }\n",
		script, arm, efi, boot_file_of(part->plan, FAB_ARCH_X86_64),
		boot_file_of(part->plan, FAB_ARCH_ARM64),
		boot_file_of(part->plan, FAB_ARCH_BIOS));
	free(script);
	free(efi);
	free(arm);
}

static void dhcpd_write_node(FILE *out, const struct boot_node *n)
{
	fprintf(out, "  host %s { ", n->name);
	if (*n->id.client_id)
		fprintf(out, "option dhcp-client-identifier = %s;", n->id.client_id);
	else
		fprintf(out, "hardware %s %s;",
			n->id.kind == FAB_IDENTITY_HARDWARE_32 ? "infiniband"
							       : "ethernet",
			n->id.mac);
	if (*n->ip.ip)
		fprintf(out, " fixed-address %s;", n->ip.ip);
	fputs(" }\n", out);
}

void boot_write_dhcpd(const struct boot_part *part)
{
	if (part->has_shared)
		dhcpd_write_shared(part);
	else
		fputs("# default.conf belongs to this file: without it no port is opened\n",
		      part->out);
	for (uint32_t i = part->first; i < part->end; i++) {
		const struct boot_server *s = &part->plan->server[i];

		fprintf(part->out, "group { # %s serves %u\n  next-server %s;\n", s->name,
			s->n, s->ip.ip);
		write_files(part, s);
		for (uint32_t n = 0; n < s->n; n++)
			dhcpd_write_node(part->out, boot_node_of(part->plan, s, n));
		fputs("}\n", part->out);
	}
}

/* ---- Kea ---- */

/*
 * Kea 2: the whole configuration of a DHCPv4 or DHCPv6 server. A reservation puts a node
 * into the class boot-SERVER; classes that ask for it and for what the node is (iPXE,
 * HTTP boot, architecture) tell what it loads. Such classes ask member('KNOWN') first, so
 * that they are evaluated when the reservation has been found.
 */
/* Kind of a node, by options of its packets. */
static const struct {
	const char *name, *test4, *test6;
} kinds[] = {
	{"is-ipxe", "option[77].hex == 'iPXE'",
	 "substring(option[15].hex,2,4) == 'iPXE' or option[15].hex == 'iPXE'"},
	{"is-http", "substring(option[60].hex,0,10) == 'HTTPClient'",
	 "substring(option[16].hex,6,10) == 'HTTPClient'"},
	{"is-x86-64",
	 "substring(option[93].hex,0,2) == 0x0007 or substring(option[93].hex,0,2) == 0x0009 or substring(option[93].hex,0,2) == 0x0010",
	 "substring(option[61].hex,0,2) == 0x0007 or substring(option[61].hex,0,2) == 0x0009 or substring(option[61].hex,0,2) == 0x0010"},
	{"is-arm64",
	 "substring(option[93].hex,0,2) == 0x000b or substring(option[93].hex,0,2) == 0x0013",
	 "substring(option[61].hex,0,2) == 0x000b or substring(option[61].hex,0,2) == 0x0013"},
};

/* Classes of one server, with their conditions. */
enum { LOADS_SCRIPT, LOADS_URL, LOADS_FILE };
static const struct {
	const char *name, *test;
	int loads;
	enum fab_boot_arch arch;
} loads[] = {
	{"ipxe", "member('is-ipxe')", LOADS_SCRIPT, FAB_ARCH_BIOS},
	{"http-x86-64", "member('is-http') and member('is-x86-64')", LOADS_URL,
	 FAB_ARCH_X86_64},
	{"http-arm64", "member('is-http') and member('is-arm64')", LOADS_URL,
	 FAB_ARCH_ARM64},
	{"x86-64", "not member('is-http') and member('is-x86-64')", LOADS_FILE,
	 FAB_ARCH_X86_64},
	{"arm64", "not member('is-http') and member('is-arm64')", LOADS_FILE,
	 FAB_ARCH_ARM64},
	{"bios",
	 "not member('is-http') and not member('is-x86-64') and not member('is-arm64')",
	 LOADS_FILE, FAB_ARCH_BIOS},
};

static json_t *must(json_t *value)
{
	if (!value)
		fab_oom(sizeof(void *));
	return value;
}

static void put(json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, must(value)))
		fab_oom(sizeof(void *));
}

static void push(json_t *array, json_t *value)
{
	if (json_array_append_new(array, must(value)))
		fab_oom(sizeof(void *));
}

static json_t *list_of(const char *text)
{
	json_t *list = must(json_array());

	push(list, json_string(text));
	return list;
}

/* Text that is freed. */
static json_t *owned(char *text)
{
	json_t *value = must(json_string(text));

	free(text);
	return value;
}

/* UEFI takes an answer for one of HTTP boot when it says so itself. */
static json_t *http_answer(bool is_ip6)
{
	json_t *option = must(json_object()), *list = must(json_array());

	if (is_ip6) {
		put(option, "code", json_integer(16));
		put(option, "csv-format", json_false());
		put(option, "data", json_string("00000157000a48545450436c69656e74"));
	} else {
		put(option, "name", json_string("vendor-class-identifier"));
		put(option, "data", json_string("HTTPClient"));
	}
	put(option, "always-send", json_true());
	push(list, option);
	return list;
}

static json_t *bootfile_option(char *url)
{
	json_t *option = must(json_object()), *list = must(json_array());

	put(option, "name", json_string("bootfile-url"));
	put(option, "data", owned(url));
	push(list, option);
	return list;
}

static void add_kinds(json_t *classes, bool is_ip6)
{
	for (size_t i = 0; i < FAB_COUNT(kinds); i++) {
		json_t *class = must(json_object());

		put(class, "name", json_string(kinds[i].name));
		put(class, "test", json_string(is_ip6 ? kinds[i].test6 : kinds[i].test4));
		if (i == 1)
			put(class, "option-data", http_answer(is_ip6));
		push(classes, class);
	}
}

static char *file_name(const struct boot_plan *plan, const struct boot_server *s,
		       size_t i, bool is_ip6)
{
	if (loads[i].loads == LOADS_SCRIPT)
		return boot_script_name(plan, s, is_ip6);
	if (loads[i].loads == LOADS_URL)
		return boot_http_url(plan, s, loads[i].arch, is_ip6);
	return is_ip6 ? boot_file_url6(plan, s, loads[i].arch)
		      : fab_strdup(boot_file_of(plan, loads[i].arch));
}

static void add_server(json_t *classes, const struct boot_plan *plan,
		       const struct boot_server *s, bool is_ip6)
{
	json_t *class = must(json_object());

	put(class, "name", owned(fab_format("boot-%s", s->name)));
	if (!is_ip6)
		put(class, "next-server", json_string(s->ip.ip));
	push(classes, class);
	for (size_t i = 0; i < FAB_COUNT(loads); i++) {
		char *file;

		if (is_ip6 && loads[i].loads == LOADS_FILE &&
		    loads[i].arch == FAB_ARCH_BIOS)
			continue; /* it knows no IPv6 */
		file = file_name(plan, s, i, is_ip6);
		class = must(json_object());
		put(class, "name",
		    owned(fab_format("%s:boot-%s", loads[i].name, s->name)));
		put(class, "test",
		    owned(fab_format(
			    "member('KNOWN') and member('boot-%s') and %s%s", s->name,
			    loads[i].loads == LOADS_SCRIPT ? ""
							   : "not member('is-ipxe') and ",
			    loads[i].test)));
		if (is_ip6)
			put(class, "option-data", bootfile_option(file));
		else
			put(class, "boot-file-name", owned(file));
		push(classes, class);
	}
}

static json_t *reservation(const struct boot_node *n, const struct boot_server *s,
			   bool is_ip6)
{
	json_t *r = must(json_object());
	char *class;

	if (*n->id.client_id)
		put(r, is_ip6 ? "duid" : "client-id",
		    json_string(is_ip6 ? n->id.duid : n->id.client_id));
	else
		put(r, "hw-address", json_string(n->id.mac));
	if (is_ip6 && *n->ip.ip6)
		put(r, "ip-addresses", list_of(n->ip.ip6));
	if (!is_ip6 && *n->ip.ip)
		put(r, "ip-address", json_string(n->ip.ip));
	put(r, "hostname", json_string(n->name));
	class = fab_format("boot-%s", s->name);
	put(r, "client-classes", list_of(class));
	free(class);
	return r;
}

/* Firmware and iPXE may say different client identifiers: the MAC is the same. */
static bool all_by_hardware(const struct boot_plan *plan)
{
	for (uint32_t i = 0; i < plan->n_nodes; i++)
		if (*plan->node[i].id.client_id)
			return false;
	return true;
}

static json_t *subnets(const struct boot_part *part, bool is_ip6)
{
	const struct boot_plan *plan = part->plan;
	json_t *list = must(json_array()), *subnet = must(json_object());
	json_t *reservations = must(json_array());

	for (uint32_t i = part->first; i < part->end; i++)
		for (uint32_t n = 0; n < plan->server[i].n; n++)
			push(reservations,
			     reservation(boot_node_of(plan, &plan->server[i], n),
					 &plan->server[i], is_ip6));
	put(subnet, "id", json_integer(1));
	put(subnet, "subnet",
	    json_string(is_ip6 ? plan->site->network6->text
			       : plan->site->network4->text));
	if (plan->site->interface)
		put(subnet, "interface", json_string(plan->site->interface));
	put(subnet, "reservations", reservations);
	push(list, subnet);
	return list;
}

static void write_kea(const struct boot_part *part, bool is_ip6)
{
	json_t *root = must(json_object()), *server = must(json_object());
	json_t *interfaces = must(json_object()), *leases = must(json_object());
	json_t *classes = must(json_array()), *identifiers;

	put(interfaces, "interfaces",
	    list_of(part->plan->site->interface ? part->plan->site->interface : "*"));
	put(server, "interfaces-config", interfaces);
	put(leases, "type", json_string("memfile"));
	put(server, "lease-database", leases);
	identifiers = list_of(is_ip6 ? "duid" : "client-id");
	push(identifiers, json_string("hw-address"));
	put(server, "host-reservation-identifiers", identifiers);
	if (!is_ip6 && all_by_hardware(part->plan))
		put(server, "match-client-id", json_false());
	add_kinds(classes, is_ip6);
	for (uint32_t i = part->first; i < part->end; i++)
		add_server(classes, part->plan, &part->plan->server[i], is_ip6);
	put(server, "client-classes", classes);
	put(server, is_ip6 ? "subnet6" : "subnet4", subnets(part, is_ip6));
	put(root, is_ip6 ? "Dhcp6" : "Dhcp4", server);
	/* a failed write shows again when the file is closed */
	(void)!json_dumpf(root, part->out, JSON_INDENT(1) | JSON_ENSURE_ASCII);
	putc('\n', part->out);
	json_decref(root);
}

void boot_write_kea4(const struct boot_part *part)
{
	write_kea(part, false);
}

void boot_write_kea6(const struct boot_part *part)
{
	write_kea(part, true);
}
