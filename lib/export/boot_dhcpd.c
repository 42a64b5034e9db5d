/* SPDX-License-Identifier: BSD-2-Clause */
/* ISC dhcpd: a group for each server, in which an if tells what a node loads. */
#include <stdlib.h>

#include "export/boot_impl.h"

static void write_shared(const struct boot_part *part)
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
		"  } elsif substring(option vendor-class-identifier, 0, 10) = "
		"\"HTTPClient\" {\n"
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

static void write_node(FILE *out, const struct boot_node *n)
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
		write_shared(part);
	else
		fputs("# default.conf belongs to this file: without it no port is "
		      "opened\n",
		      part->out);
	for (uint32_t i = part->first; i < part->end; i++) {
		const struct boot_server *s = &part->plan->server[i];

		fprintf(part->out, "group { # %s serves %u\n  next-server %s;\n", s->name,
			s->n, s->ip.ip);
		write_files(part, s);
		for (uint32_t n = 0; n < s->n; n++)
			write_node(part->out, boot_node_of(part->plan, s, n));
		fputs("}\n", part->out);
	}
}
