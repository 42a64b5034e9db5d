/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of export/boot*: what all formats are written from, one file a family. */
#pragma once

#include "export/boot.h"

struct boot_node {
	char *name;
	uint32_t server; /* into boot_plan.server */
	uint64_t guid;	 /* of the port; 0: unknown */
	struct fab_boot_id id;
	bool has_id;
	struct fab_host_address ip; /* its MAC is that of --hosts */
};

struct boot_server {
	char *name;
	char *file; /* of its file, without the extension */
	struct fab_host_address ip;
	uint32_t first, n; /* into boot_plan.by_server */
};

/* Who boots from where, checked. */
struct boot_plan {
	const struct fab_boot_site *site;
	struct boot_node *node; /* [n_nodes], in the order of the batch */
	uint32_t n_nodes;
	struct boot_server *server; /* [n_servers], those that serve a node */
	uint32_t n_servers;
	uint32_t *by_server; /* [n_nodes] into node, server by server */
};

/* What goes into one file: servers first .. end - 1, and what all share. */
struct boot_part {
	FILE *out;
	const struct boot_plan *plan;
	uint32_t first, end;
	bool has_shared;
};

/* What the manual says of each format, by its number. */
extern const char *const boot_manual[FAB_N_BOOT_FORMATS];

/* A node of the part's server. */
static inline const struct boot_node *
boot_node_of(const struct boot_plan *plan, const struct boot_server *server, uint32_t i)
{
	return &plan->node[plan->by_server[server->first + i]];
}

/* Templates: the text on the heap; `is_ip6` takes the server's IPv6 address. The caller
 * frees. A template was checked before. */
char *boot_expand(const char *text, const struct boot_server *server, const char *file,
		  bool is_ip6);
bool boot_names_address(const char *text);
/* What an architecture loads from the server by UEFI HTTP boot; what iPXE loads then, as
 * DHCPv4 and as DHCPv6 say it; what an architecture loads by DHCPv6. The caller frees. */
char *boot_http_url(const struct boot_plan *plan, const struct boot_server *server,
		    enum fab_boot_arch arch, bool is_ip6);
char *boot_script_name(const struct boot_plan *plan, const struct boot_server *server,
		       bool is_ip6);
char *boot_file_url6(const struct boot_plan *plan, const struct boot_server *server,
		     enum fab_boot_arch arch);
const char *boot_file_of(const struct boot_plan *plan, enum fab_boot_arch arch);

/* The formats. */
void boot_write_csv(const struct boot_part *part);
void boot_write_json(const struct boot_part *part);
void boot_write_hosts(const struct boot_part *part);
void boot_write_ethers(const struct boot_part *part);
void boot_write_ansible(const struct boot_part *part);
void boot_write_dnsmasq(const struct boot_part *part);
void boot_write_kea4(const struct boot_part *part);
void boot_write_kea6(const struct boot_part *part);
void boot_write_dhcpd(const struct boot_part *part);
void boot_write_ipxe(const struct boot_part *part);
void boot_write_xcat(const struct boot_part *part);
void boot_write_warewulf(const struct boot_part *part);
void boot_write_openchami(const struct boot_part *part);
void boot_write_openchami_config(const struct boot_part *part);
/* As they are in a folder: the payload alone, for `ochami ... -d @FILE`. */
void boot_write_openchami_file(const struct boot_part *part);
void boot_write_openchami_config_file(const struct boot_part *part);
