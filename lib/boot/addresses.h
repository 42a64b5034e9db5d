/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses of hosts: files of MAC and IP addresses, networks, plans that give hosts the
 * same address again, and identities of nodes in DHCP.
 */
#pragma once
#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "base/macros.h"
#include "boot/machine.h"

/* Networks of addresses, IPv4 and IPv6, and the addresses that hosts get in them. */
enum { FAB_IP_BYTES = 46 }; /* of an address as text, with the NUL */

struct fab_ip_network {
	bool is_ip6;
	unsigned prefix; /* bits */
	uint8_t base[16];
	char text[FAB_IP_BYTES + 4]; /* "10.8.0.0/16" */
	char first[FAB_IP_BYTES];    /* "10.8.0.0" */
	char mask[16];		     /* "255.255.0.0"; of IPv6 empty */
};

/*
 * ADDRESS/BITS. EINVAL: no such text, bits of a host in it, no room for two hosts (from
 * /31, /127 on), addresses that no host has. O(len).
 */
int fab_ip_network_parse(const char *text, struct fab_ip_network *out,
			 struct fab_err *err) FAB_MUST_CHECK;
/* How many addresses hosts can have, at most 2^32. Without the first and last one of
 * IPv4 (but of a /31), the first one of IPv6. O(1). */
uint64_t fab_ip_network_hosts(const struct fab_ip_network *net);
/* The i-th of them, from 0 on, as inet_ntop() writes it. O(1). */
void fab_ip_network_host(const struct fab_ip_network *net, uint64_t i,
			 char out[FAB_IP_BYTES]);
/* Is the address of the network's family and in it? O(len). */
bool fab_ip_network_has(const struct fab_ip_network *net, const char *ip);

/* Addresses of hosts: what boot server configuration needs and a fabric does not contain.
 */
struct fab_host_addresses;

struct fab_host_address {
	char mac[18]; /* "00:11:22:aa:bb:cc", empty: not given */
	char ip[16];  /* IPv4, empty: not given */
	char ip6[46]; /* IPv6, empty: not given */
};

/* None of any host. The caller frees. O(1). */
struct fab_host_addresses *fab_host_addresses_new(void);

/*
 * Read addresses, a host a line, # begins a comment; each line is one of
 *     NAME MAC [IP]...   MAC NAME (as in /etc/ethers)      IP NAME... (as in /etc/hosts)
 * An IP is one of IPv4 or of IPv6; a host has at most one of each. Statements of several
 * lines of one name adds up; names of one line of /etc/hosts are one host. Its lines of
 * loopback, link-local and multicast addresses are skipped. Adds to *out when it is not
 * NULL, else makes it; on failure frees it and sets NULL. EINVAL names file and line: no
 * MAC or IP where one should be, one that no host has (0.0.0.0, a group address), a name
 * that is no host name, another MAC or IP for a name that has one, a MAC or IP that
 * another host has. The caller frees *out. O(bytes).
 */
int fab_host_addresses_read(const char *file, const char *text, size_t len,
			    struct fab_host_addresses **out,
			    struct fab_err *err) FAB_MUST_CHECK;
/* NULL is allowed. O(size). */
void fab_host_addresses_free(struct fab_host_addresses *addresses);
/* Borrowed; by the exact name, else whatever its case, if only one is. NULL when
 * the name is not known, or the addresses is NULL. O(1). */
const struct fab_host_address *
fab_host_addresses_find(const struct fab_host_addresses *addresses, const char *name);

/* Names in the order in which they came, and their addresses; borrowed. O(1). */
uint32_t fab_host_addresses_count(const struct fab_host_addresses *addresses);
const char *fab_host_addresses_name(const struct fab_host_addresses *addresses,
				    uint32_t i);
/* Has some host this IP, as inet_ntop() writes it? O(1). */
bool fab_host_addresses_has_ip(const struct fab_host_addresses *addresses,
			       const char *ip);
/* Give a host an IP (IPv4 or IPv6, as inet_ntop() writes it) that no other has; what it
 * had of that family goes. O(1). */
void fab_host_addresses_set_ip(struct fab_host_addresses *addresses, const char *name,
			       const char *ip);

/*
 * May a configuration file hold the name? 1 to 63 of a-z, A-Z, digits, `.`, `_`, `-`, the
 * first of them no mark: nothing that ends a line, a quote or a word. O(len).
 */
bool fab_is_host_name(const char *name);

/*
 * Addresses for all nodes and servers of a machine, out of networks: the same host keeps
 * its address as long as the file of addresses is kept.
 */
/* GUID of the port that a node boots over: 0 where the machine is no fabric or none is
 * known. O(1). */
uint64_t fab_machine_node_guid(const struct fab_machine *m, uint32_t node);
/*
 * The interface's name where a host name is needed: "io1", "io1-2" for the second
 * interface of a server. Returns `out`. O(1).
 */
char *fab_machine_interface_host_name(const struct fab_machine *m, uint32_t interface,
				      char out[FAB_MACHINE_NAME_BYTES]);

/*
 * Read a file of addresses: lines as in hosts(5), behind # the GUID of the host's port.
 * A name that the machine does not have, but whose GUID it has under another name that
 * the file does not have, is taken for that one: the host was renamed. Fails as
 * fab_host_addresses_read() does. The caller frees *out. O(bytes + hosts).
 */
int fab_address_plan_read(const struct fab_machine *m, const char *file, const char *text,
			  size_t len, struct fab_host_addresses **out,
			  struct fab_err *err) FAB_MUST_CHECK;

/* A node or server interface that can have an address. */
struct fab_address_host {
	char *name;
	uint64_t guid; /* of its port; 0: unknown */
	uint32_t id;   /* of the node or interface */
	bool is_server;
};
/* All of a machine, servers first, by name as people count, in the arena; *n of them.
 * O(hosts log hosts). */
struct fab_address_host *fab_address_hosts_of(const struct fab_machine *m,
					      struct fab_arena *a, uint32_t *n);

/* Write what fab_address_plan_read() reads: hosts of the plan in the order of names, also
 * those that the machine does not have now: they may come back. O(hosts log hosts). */
void fab_address_plan_write(FILE *out, const struct fab_machine *m,
			    const struct fab_host_addresses *plan);

/*
 * By what a DHCP server knows a node: the MAC of its Ethernet port, or what an InfiniBand
 * port says of itself, which follows from the GUID in a dump.
 */
enum fab_boot_identity {
	FAB_IDENTITY_AUTO, /* the MAC where one is given, else the client identifier */
	FAB_IDENTITY_MAC,  /* hardware type 1 */
	FAB_IDENTITY_CLIENT_ID,	   /* ff:00:00:00:00:00:02:00:00:02:c9:00: and the GUID */
	FAB_IDENTITY_CLIENT_ID_20, /* 20: and the GUID */
	FAB_IDENTITY_HARDWARE_32,  /* hardware type 32 and the MAC made from the GUID */
	FAB_N_IDENTITIES,
};

/* Identifiers that one node sends; empty where it sends none of the kind. */
struct fab_boot_id {
	enum fab_boot_identity kind; /* never auto */
	char mac[18];		     /* its MAC; or that which follows from the GUID */
	char client_id[64];	     /* DHCP option 61, pairs of digits and colons */
	char duid[48];		     /* DHCPv6 option 1 likewise */
};

/*
 * Of a node with a MAC (empty: unknown) and a port GUID (0: none is known); false
 * when it has not what the kind needs. The client identifier is that of the adapters'
 * boot ROM and of NetworkManager: IAID 0 and a DUID of enterprise 0x2c9 (RFC 4361), the
 * same DUID in DHCPv6; client-id-20 is that of iPXE (hardware type 32 and the GUID), its
 * DUID of type 3 likewise. A MAC follows from a GUID without its two bytes in the middle
 * but one, as adapters number them. O(1).
 */
bool fab_boot_id_of(enum fab_boot_identity kind, const char *mac, uint64_t guid,
		    struct fab_boot_id *out);
