/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of export/boot*: the data and the templates that all formats are written from.
 */
#pragma once

#include "export/boot.h"

struct boot_node {
	const char *name;
	uint32_t server; /* into boot_plan.server */
	uint32_t second; /* likewise; FAB_NONE: none */
	uint64_t guid;	 /* of the port; 0: unknown */
	struct fab_boot_id id;
	bool has_id;
	const struct fab_image *image;	    /* NULL: it is in no group */
	struct fab_host_address ip;	    /* its MAC is that of --hosts */
	const struct fab_subnet *subnet[2]; /* IPv4, IPv6; NULL: none */
};

/* A server and the nodes that it serves, or those of another whose second server it is;
 * where the files of a format differ by image or second server, those with one of them.
 */
struct boot_server {
	const char *name;  /* the first server of the nodes */
	const char *host;  /* the one that answers */
	const char *file;  /* of its file, without the extension */
	const char *group; /* of a-z, A-Z, 0-9 and _; no other server has it */
	const char *label; /* name of its iPXE script; with the image no other has it */
	const struct fab_image *image;	  /* NULL: that of nodes in no group */
	const struct boot_server *second; /* of all these nodes; NULL: not by itself */
	uint32_t first;			  /* of the same server: the first in boot_plan */
	struct fab_host_address ip;
	const uint32_t *nodes; /* [n] into boot_plan.node */
	uint32_t n;
	bool stands_in; /* as second server */
};

/* Nodes and their servers, checked. */
struct boot_plan {
	const struct fab_boot_site *site;
	struct boot_node *node; /* [n_nodes], in the order of the batch */
	uint32_t n_nodes;
	struct boot_server *server; /* [n_servers], those that serve a node */
	uint32_t n_servers;
	/* those that stand in: stand_in[first_stand_in[s]] ... of server s */
	struct boot_server *stand_in;
	uint32_t *first_stand_in; /* [n_servers + 1]; NULL: none stands in */
};

/* Requirements of a format, and properties of its files. */
enum {
	NEEDS_MAC = 1 << 0,	   /* an Ethernet address, known or from the GUID */
	NEEDS_ID = 1 << 1,	   /* anything that a DHCP server can know a node by */
	NEEDS_IP = 1 << 2,	   /* of nodes */
	NEEDS_SERVER_IP = 1 << 3,  /* of either family */
	NEEDS_SERVER_IP4 = 1 << 4, /* IPv4 */
	NEEDS_SERVER_IP6 = 1 << 5,
	NEEDS_NETWORK4 = 1 << 6,
	NEEDS_NETWORK6 = 1 << 7,
	NEEDS_KERNEL = 1 << 8,
	QUOTES = 1 << 9,	  /* can hold any name */
	BY_SERVER = 1 << 10,	  /* several servers do not go into one file */
	NAMES_SCRIPT = 1 << 11,	  /* of iPXE, which a folder holds, too */
	USES_IP = 1 << 12,	  /* of nodes, where it is given: no two have the same */
	NEEDS_NETWORK = 1 << 13,  /* of either family; servers have addresses of each */
	SERVERS_INSIDE = 1 << 14, /* the program listens only in networks of the site */
	NO_DEFAULT = 1 << 15,	  /* a folder has no file that servers share */
	HAS_SECOND = 1 << 16,	  /* says who the second server of a node is */
	TWICE = 1 << 17,	  /* by the files of two servers in a folder */
	BY_IMAGE = 1 << 18,	  /* nodes with several images are apart */
	NAMES_IMAGE = 1 << 20,	  /* KERNEL of --image is the name of an image */
	NEEDS_URL = 1 << 19,	  /* kernel and initial file system by HTTP, or a path */
};

struct boot_line;

/* A template that was read; the text is borrowed. */
struct boot_template {
	FAB_VEC(struct boot_line) lines;
	unsigned flags;
	char extension[16];
	/* would a name be taken for something else? NULL: none is */
	bool (*is_ambiguous)(const char *name);
};

/* The contents of one file: servers first .. end - 1, what all share, and, of one server,
 * those for which it stands in. */
struct boot_part {
	FILE *out;
	const struct boot_plan *plan;
	const struct boot_template *template;
	uint32_t first, end;
	bool has_shared;
};

/* Is the part of one server? */
static inline bool boot_part_is_single(const struct boot_part *part)
{
	const struct boot_server *of = part->plan->server;

	return part->end > part->first &&
	       of[part->first].first == of[part->end - 1].first;
}

/* How many servers the part has, apart by image, and the i-th of them. */
static inline uint32_t boot_part_count(const struct boot_part *part)
{
	const uint32_t *of = part->plan->first_stand_in;
	uint32_t n = part->end - part->first;

	return part->template->flags & TWICE && of && boot_part_is_single(part) &&
			       !part->has_shared
		       ? n + of[part->end] - of[part->first]
		       : n;
}

static inline const struct boot_server *boot_part_server(const struct boot_part *part,
							 uint32_t i)
{
	const struct boot_plan *plan = part->plan;
	uint32_t n = part->end - part->first;

	return i < n ? &plan->server[part->first + i]
		     : &plan->stand_in[plan->first_stand_in[part->first] + i - n];
}

/* A node of the part's server. */
static inline const struct boot_node *
boot_node_of(const struct boot_plan *plan, const struct boot_server *server, uint32_t i)
{
	return &plan->node[server->nodes[i]];
}

/* Read a template (fabric-formats(5), TEMPLATES OF BOOT FILES). EINVAL: file, line and
 * what was expected. boot_template_fini() in any case. O(len). */
int boot_template_read(const char *file, const char *text, size_t len,
		       struct boot_template *out, struct fab_err *err) FAB_MUST_CHECK;
void boot_template_fini(struct boot_template *t);
/* Would xCAT take a name for a group or a range, dnsmasq or dhcpd for a word of theirs?
 */
bool boot_is_noderange(const char *name);
bool boot_is_dhcp_word(const char *name);

void boot_write_template(const struct boot_part *part);

/* Has a text of the command line the word {address}? */
bool boot_names_address(const char *text);
/* Kernel and initial file system for an image; NULL: none is given. */
static inline const char *boot_kernel(const struct fab_boot_site *site,
				      const struct fab_image *image)
{
	return image && image->kernel ? image->kernel : site->kernel;
}

static inline const char *boot_initrd(const struct fab_boot_site *site,
				      const struct fab_image *image)
{
	return image && image->initrd ? image->initrd : site->initrd;
}

/* Such a text with {server}, {address}, {script} and {file}, which was checked before; on
 * the heap. `is_ip6` takes the server's IPv6 address. */
char *boot_expand(const char *text, const struct boot_server *server, const char *file,
		  bool is_ip6);
/* The server behind that of an entry, of several a third one, with the image of the
 * entry. */
struct boot_server boot_next_server(const struct boot_plan *plan,
				    const struct boot_server *s);
/* File that an architecture loads by TFTP, from the server by UEFI HTTP boot, and the
 * name of a file as an URL of TFTP over IPv6, which takes it over; URLs are on the heap.
 */
const char *boot_file_of(const struct fab_boot_site *site, enum fab_boot_arch arch);
char *boot_http_url(const struct fab_boot_site *site, const struct boot_server *server,
		    enum fab_boot_arch arch, bool is_ip6);
char *boot_as_url6(char *name, const struct boot_server *server);
