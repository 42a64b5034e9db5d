/* SPDX-License-Identifier: BSD-2-Clause */
/* A boot mapping as configuration of the programs that put it into effect. */
#pragma once

#include <stdio.h>

#include "base/choice.h"
#include "boot/host_addresses.h"
#include "boot/mapping.h"

enum fab_boot_format {
	FAB_BOOT_CSV,	    /* node,server,mac,ip */
	FAB_BOOT_JSON,	    /* JSON lines with the same fields */
	FAB_BOOT_DNSMASQ,   /* dhcp-host with a tag, dhcp-boot for each tag */
	FAB_BOOT_DHCPD,	    /* ISC dhcpd: host declarations with next-server */
	FAB_BOOT_XCAT,	    /* chdef commands: service node and its servers */
	FAB_BOOT_WAREWULF,  /* wwctl commands: the tag that becomes dnsmasq's */
	FAB_BOOT_OPENCHAMI, /* boot parameters, a YAML document a server */
	FAB_N_BOOT_FORMATS,
};

/* Their names, by number. */
extern const struct fab_choices fab_boot_format_choices;

/*
 * Write for the nodes of a batch. `book` (NULL: none) has the addresses; dnsmasq, dhcpd
 * and openchami need the MAC of every node, dnsmasq and dhcpd the IP of every server too.
 * `boot_file` is what nodes load first. EINVAL names the node or server that lacks one,
 * or whose name could not stand in such a file (fab_is_host_name; csv and json take any,
 * for they can quote; dnsmasq and dhcpd refuse also what they would take for an address,
 * a time or an order, xcat groups and ranges); then nothing is written. O(batch +
 * servers).
 */
int fab_export_boot(FILE *out, enum fab_boot_format format, const struct fab_machine *m,
		    const struct fab_batch *batch, const uint32_t *interface_of,
		    const struct fab_host_addresses *addresses, const char *boot_file,
		    struct fab_err *err) FAB_MUST_CHECK;
