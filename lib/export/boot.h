/* SPDX-License-Identifier: BSD-2-Clause */
/* A boot mapping as configuration of the programs that put it into effect. */
#pragma once

#include <stdio.h>

#include "base/choice.h"
#include "base/mem.h"
#include "boot/images.h"
#include "boot/mapping.h"
#include "boot/subnets.h"

enum fab_boot_format {
	FAB_BOOT_CSV,		   /* node,server,mac,ip,ip6,client_id */
	FAB_BOOT_JSON,		   /* JSON lines with the same fields */
	FAB_BOOT_HOSTS,		   /* lines of hosts(5) */
	FAB_BOOT_ETHERS,	   /* lines of ethers(5) */
	FAB_BOOT_ANSIBLE,	   /* inventory with a group for each server */
	FAB_BOOT_DNSMASQ,	   /* tags, dhcp-boot and dhcp-host, IPv4 and IPv6 */
	FAB_BOOT_KEA4,		   /* Kea, the DHCPv4 server: the whole of its JSON */
	FAB_BOOT_KEA6,		   /* the DHCPv6 server likewise */
	FAB_BOOT_DHCPD,		   /* ISC dhcpd: a group for each server */
	FAB_BOOT_IPXE,		   /* an iPXE script for each server */
	FAB_BOOT_XCAT,		   /* chdef commands, one for each server */
	FAB_BOOT_WAREWULF,	   /* wwctl commands likewise, and what dnsmasq needs */
	FAB_BOOT_OPENCHAMI,	   /* ochami commands: boot parameters of each server */
	FAB_BOOT_OPENCHAMI_CONFIG, /* the same as BootConfiguration objects */
	FAB_BOOT_TEMPLATE,	   /* by a template of the site */
	FAB_N_BOOT_FORMATS,
};

/* Their names, by number. */
extern const struct fab_choices fab_boot_format_choices;

/* Architectures by their DHCP option 93: 0; 7, 9, 16; 11, 19; 6, 15. */
enum fab_boot_arch {
	FAB_ARCH_BIOS,
	FAB_ARCH_X86_64,
	FAB_ARCH_ARM64,
	FAB_ARCH_IA32,
	FAB_N_BOOT_ARCHS
};
/*
 * Contents of the files apart from the mapping. In templates {server} is the server's
 * name (in URLs that of the server that answers), {address} for its IP (in brackets where
 * it is IPv6), {file} for the name of the file that the architecture loads,
 * {script} for that of the iPXE script without its extension; ${...} is left to iPXE.
 */
struct fab_boot_site {
	const struct fab_host_addresses *addresses; /* NULL: none is known */
	enum fab_boot_identity identity;
	const struct fab_subnets *subnets; /* NULL: none is given */
	const uint32_t *second_of;	   /* [n_nodes] second interfaces; NULL: none */
	/* image_of[n_nodes] into images, FAB_NONE: none; NULL: all load the same */
	const struct fab_image *images;
	uint32_t n_images;
	const uint32_t *image_of;
	const char *boot_file[FAB_N_BOOT_ARCHS]; /* NULL: undionly.kpxe, ipxe.efi .. */
	/* templates; NULL: what is usual */
	const char *boot_url; /* of UEFI HTTP boot: http://{address}/{file} */
	const char *script;   /* that iPXE loads then: {server}.ipxe */
	const char *kernel, *initrd, *params; /* NULL: nothing is made up */
	const char *interface; /* that Kea listens on; NULL: all, IPv6 by relays only */
	/* FAB_BOOT_TEMPLATE: name of the file for messages, and its text */
	const char *template_name, *template_text;
	size_t template_bytes;
	bool is_strict; /* refuse nodes that would be left out because of a name */
};

/* Can the template be used? EINVAL says what is wrong with it. Parameters of a kernel may
 * have blanks and quotes. O(len). */
int fab_boot_template_check(const char *text, struct fab_err *err) FAB_MUST_CHECK;
int fab_boot_params_check(const char *text, struct fab_err *err) FAB_MUST_CHECK;

/* Counts of what was written. */
struct fab_boot_written {
	uint32_t n_nodes, n_servers, n_files;
	uint32_t n_by_guid; /* nodes that are known by what follows from their GUID */
	/* nodes left out because of their names, as for a terminal; on the heap */
	FAB_VEC(char *) omitted;
	struct fab_err why_omitted; /* about the first of them */
};

/*
 * Where files go: into `out`, or into a folder: a file for each server, with its nodes
 * only, one that is shared (`default.*`), and the iPXE script of each server where the
 * format names it and site->kernel is given. `open` gives where the file of a name goes;
 * it is written before the next one is asked for, and not closed here.
 */
struct fab_boot_target {
	FILE *out; /* NULL: a folder */
	FILE *(*open)(void *context, const char *name);
	void *context;
};

/*
 * Write for the nodes of a batch. A node whose name could not stand in such a file
 * (fab_is_host_name; csv and json take any, for they can quote; dnsmasq and dhcpd exclude
 * also what they would take for an address, a time or an order, xcat groups and ranges)
 * is left out and noted in *written, for any host chooses its own description. EINVAL
 * names the node or server that lacks what the format needs (a MAC or GUID, an IP, a
 * kernel) or has a MAC, an IP or an identifier that another one has, a server with such a
 * name, second servers that the format cannot express, with site->is_strict the first
 * node with one, and without it the first one if none is left; then nothing is written.
 * fab_boot_written_fini() frees *written, also after an error. O(batch log batch +
 * servers).
 */
int fab_export_boot(const struct fab_boot_target *to, enum fab_boot_format format,
		    const struct fab_machine *m, const struct fab_batch *batch,
		    const uint32_t *interface_of, const struct fab_boot_site *site,
		    struct fab_boot_written *written, struct fab_err *err) FAB_MUST_CHECK;

void fab_boot_written_fini(struct fab_boot_written *written);
