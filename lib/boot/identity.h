/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * By what a DHCP server knows a node: the MAC of its Ethernet port, or what an InfiniBand
 * port says of itself, which follows from the GUID in a dump.
 */
#pragma once

#include <stdbool.h>

#include "base/macros.h"

enum fab_boot_identity {
	FAB_IDENTITY_AUTO, /* the MAC where one is told, else the client identifier */
	FAB_IDENTITY_MAC,  /* hardware type 1 */
	FAB_IDENTITY_CLIENT_ID,	   /* ff:00:00:00:00:00:02:00:00:02:c9:00: and the GUID */
	FAB_IDENTITY_CLIENT_ID_20, /* 20: and the GUID */
	FAB_IDENTITY_HARDWARE_32,  /* hardware type 32 and the MAC made from the GUID */
	FAB_N_IDENTITIES,
};

/* What one node says; empty texts where it says nothing of the kind. */
struct fab_boot_id {
	enum fab_boot_identity kind; /* never auto */
	char mac[18];		     /* its MAC; or that which follows from the GUID */
	char client_id[64];	     /* DHCP option 61, pairs of digits and colons */
	char duid[48];		     /* DHCPv6 option 1 likewise */
};

/*
 * Of a node with a MAC (empty: none is told) and a port GUID (0: none is known); false
 * when it has not what the kind needs. The client identifier is that of the adapters'
 * boot ROM and of NetworkManager: IAID 0 and a DUID of enterprise 0x2c9 (RFC 4361), the
 * same DUID in DHCPv6; client-id-20 is that of iPXE (hardware type 32 and the GUID), its
 * DUID of type 3 likewise. A MAC follows from a GUID without its two bytes in the middle
 * but one, as adapters number them. O(1).
 */
bool fab_boot_id_of(enum fab_boot_identity kind, const char *mac, uint64_t guid,
		    struct fab_boot_id *out);
