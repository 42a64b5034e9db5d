/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands of cluster managers, one a server: xCAT, Warewulf 4, OpenCHAMI. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export/boot_impl.h"
#include "export/hostlist.h"

/* An argument has up to 128 KiB: names of so many bytes go into one. */
enum { LIST_MAX_BYTES = 60000 };

/* Host lists of the server's nodes: all in one, but where it would grow too long. */
static void each_list(const struct boot_part *part, const struct boot_server *s,
		      void (*write)(FILE *out, const struct boot_server *s,
				    const char *list))
{
	const char **name = FAB_NEW((size_t)s->n + 1, const char *);

	for (uint32_t i = 0, n = 0; i < s->n; i += n) {
		size_t bytes = 0;
		char *list;

		for (n = 0; i + n < s->n && bytes < LIST_MAX_BYTES; n++) {
			name[n] = boot_node_of(part->plan, s, i + n)->name;
			bytes += strlen(name[n]) + 1;
		}
		list = fab_hostlist_fold(name, n);
		write(part->out, s, list);
		free(list);
	}
	free(name);
}

static void write_chdef(FILE *out, const struct boot_server *s, const char *list)
{
	fprintf(out,
		"chdef -t node '%s' servicenode=%s xcatmaster=%s tftpserver=%s "
		"nfsserver=%s\n",
		list, s->name, s->name, s->name, s->name);
}

void boot_write_xcat(const struct boot_part *part)
{
	if (part->has_shared)
		fputs("# xCAT: then makedhcp and nodeset; site.disjointdhcps=1 where "
		      "each "
		      "service\n# node answers its own nodes only\n",
		      part->out);
	for (uint32_t i = part->first; i < part->end; i++)
		each_list(part, &part->plan->server[i], write_chdef);
}

static void write_wwctl(FILE *out, const struct boot_server *s, const char *list)
{
	fprintf(out, "wwctl node set --yes --tagadd Tag=boot-%s '%s'\n", s->name, list);
}

/* Warewulf's dnsmasq.d has tags x86PC, aarch64, efi-http and iPXE; the last of several
 * lines that fit wins. */
static void write_tags(const struct boot_part *part, const struct boot_server *s)
{
	static const struct {
		const char *tags, *file;
		enum fab_boot_arch arch;
	} rows[] = {
		{"tag:!x86PC,tag:!aarch64", "/warewulf/undionly.kpxe", FAB_ARCH_BIOS},
		{"tag:x86PC", "/warewulf/ipxe-snponly-x86_64.efi", FAB_ARCH_X86_64},
		{"tag:aarch64", "/warewulf/snponly.efi", FAB_ARCH_ARM64},
	};
	const struct fab_boot_site *site = part->plan->site;
	const char *ip = *s->ip.ip ? s->ip.ip : s->ip.ip6;
	char *shim =
		boot_expand(site->boot_url ? site->boot_url
					   : "http://{address}:9873/efiboot/shim.efi",
			    s, "shim.efi", false);
	char *script = boot_expand(
		site->script
			? site->script
			: "http://{address}:9873/ipxe/${mac:hexhyp}?assetkey=${asset}"
			  "&uuid=${uuid}",
		s, "", false);

	for (size_t i = 0; i < FAB_COUNT(rows); i++)
		fprintf(part->out,
			"dhcp-boot=tag:boot-%s,tag:!iPXE,tag:!efi-http,%s,%s,%s,%s\n",
			s->name, rows[i].tags,
			site->boot_file[rows[i].arch] ? site->boot_file[rows[i].arch]
						      : rows[i].file,
			s->name, ip);
	fprintf(part->out, "dhcp-boot=tag:boot-%s,tag:!iPXE,tag:efi-http,%s\n", s->name,
		shim);
	fprintf(part->out, "dhcp-boot=tag:boot-%s,tag:iPXE,%s\n", s->name, script);
	free(shim);
	free(script);
}

void boot_write_warewulf(const struct boot_part *part)
{
	static const char shared[] =
		"# Warewulf 4 with dnsmasq: warewulf.conf has `template: static` under "
		"dhcp, so that\n"
		"# /etc/dnsmasq.d/ww4-hosts.conf gives each node its Tag; files that "
		"come "
		"behind it\n# by name say what the tag means\n";

	if (part->has_shared)
		fputs(shared, part->out);
	for (uint32_t i = part->first; i < part->end; i++) {
		const struct boot_server *s = &part->plan->server[i];

		each_list(part, s, write_wwctl);
		fprintf(part->out, "cat >/etc/dnsmasq.d/zz-boot-%s.conf <<'END'\n",
			s->name);
		write_tags(part, s);
		fputs("END\n", part->out);
	}
	if (part->end > part->first)
		fputs("wwctl configure dhcp\n", part->out);
}

static void put(json_t *object, const char *key, json_t *value)
{
	if (!value || json_object_set_new(object, key, value))
		fab_oom(sizeof(void *));
}

static void put_template(json_t *object, const char *key, const char *text,
			 const struct boot_server *s)
{
	char *value = text ? boot_expand(text, s, "", false) : NULL;

	if (value)
		put(object, key, json_string(value));
	free(value);
}

/* Who boots what: only what was given, so that nothing else is written over. */
static json_t *parameters(const struct boot_plan *plan, const struct boot_server *s)
{
	json_t *object = json_object(), *macs = json_array();

	if (!object || !macs)
		fab_oom(sizeof(void *));
	for (uint32_t i = 0; i < s->n; i++)
		if (json_array_append_new(macs,
					  json_string(boot_node_of(plan, s, i)->id.mac)))
			fab_oom(sizeof(void *));
	put(object, "macs", macs);
	put_template(object, "kernel", plan->site->kernel, s);
	put_template(object, "initrd", plan->site->initrd, s);
	put_template(object, "params", plan->site->params, s);
	return object;
}

static json_t *configuration(const struct boot_plan *plan, const struct boot_server *s)
{
	json_t *object = json_object(), *metadata = json_object();
	char *name = fab_format("boot-%s", s->name);

	if (!object || !metadata)
		fab_oom(sizeof(void *));
	put(metadata, "name", json_string(name));
	put(object, "apiVersion", json_string("boot.openchami.io/v1"));
	put(object, "kind", json_string("BootConfiguration"));
	put(object, "metadata", metadata);
	put(object, "spec", parameters(plan, s));
	free(name);
	return object;
}

static void write_object(FILE *out, json_t *object)
{
	/* a failed write shows again when the file is closed */
	(void)!json_dumpf(object, out, JSON_INDENT(1) | JSON_ENSURE_ASCII);
	putc('\n', out);
	json_decref(object);
}

/* `set` replaces what is there: only when all of it is given. */
void boot_write_openchami(const struct boot_part *part)
{
	const struct fab_boot_site *site = part->plan->site;

	for (uint32_t i = part->first; i < part->end; i++) {
		fprintf(part->out, "ochami bss boot params %s -d @- <<'END'\n",
			site->initrd && site->params ? "set" : "update");
		write_object(part->out, parameters(part->plan, &part->plan->server[i]));
		fputs("END\n", part->out);
	}
}

void boot_write_openchami_config(const struct boot_part *part)
{
	for (uint32_t i = part->first; i < part->end; i++) {
		fputs("ochami boot config add -e -d @- <<'END'\n", part->out);
		write_object(part->out,
			     configuration(part->plan, &part->plan->server[i]));
		fputs("END\n", part->out);
	}
}

void boot_write_openchami_file(const struct boot_part *part)
{
	for (uint32_t i = part->first; i < part->end; i++)
		write_object(part->out, parameters(part->plan, &part->plan->server[i]));
}

void boot_write_openchami_config_file(const struct boot_part *part)
{
	for (uint32_t i = part->first; i < part->end; i++)
		write_object(part->out,
			     configuration(part->plan, &part->plan->server[i]));
}
