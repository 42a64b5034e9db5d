/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dnsmasq(8): the tag boot-SERVER on each node, and by tags of architecture and iPXE what
 * it loads from that server. iPXE is told by its user class: it gets its script, not
 * itself once more.
 */
#include <stdlib.h>

#include "export/boot_impl.h"

/* What is the same whoever serves; also of use in a file of its own. */
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
			"dhcp-option=tag:boot-%s,tag:!ipxe,tag:!http,%s,"
			"option6:bootfile-url,%s\n",
			s->name, arch_tags[a], file);
		fprintf(part->out,
			"dhcp-option=tag:boot-%s,tag:!ipxe,tag:http,%s,"
			"option6:bootfile-url,%s\n",
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
		fputs("# default.conf belongs to this file: without it no port is "
		      "opened\n",
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
