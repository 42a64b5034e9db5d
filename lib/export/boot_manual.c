/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-bootplan(1) says of the formats of boot files. */
#include "export/boot_impl.h"

const char *const boot_manual[FAB_N_BOOT_FORMATS] = {
	[FAB_BOOT_CSV] = "A heading, then node, server, MAC, IPv4 and IPv6 address and "
			 "client identifier of each node; any name, quoted.",
	[FAB_BOOT_JSON] = "The same as JSON lines, null for what is not known.",
	[FAB_BOOT_HOSTS] = "Lines of hosts(5), servers first.",
	[FAB_BOOT_ETHERS] = "Lines of ethers(5).",
	[FAB_BOOT_ANSIBLE] =
		"An inventory: a group `boot_SERVER` for each server with the variables "
		"`boot_server` and `boot_server_address`, `boot_servers`, and "
		"`boot_nodes` of all these groups.",
	[FAB_BOOT_DNSMASQ] =
		"Each node gets the tag `boot-SERVER`; tags of architecture, HTTP boot "
		"and iPXE say with it what the node loads; needs `--network`, without "
		"which dnsmasq opens no port, and servers with addresses of each family "
		"of it. Checked by `dnsmasq --test` and by booting.",
	[FAB_BOOT_KEA4] =
		"The whole configuration of Kea's DHCPv4 server, with reservations and "
		"classes; needs `--network` of IPv4. Checked by `kea-dhcp4 -t` and by "
		"booting.",
	[FAB_BOOT_KEA6] =
		"The same of the DHCPv6 server; needs `--network` of IPv6 and IPv6 "
		"addresses of servers. Checked by `kea-dhcp6 -t` and by booting.",
	[FAB_BOOT_DHCPD] =
		"A group for each server, IPv4 only. ISC dhcpd has been at its end of "
		"life "
		"since 2022: take `kea4` where you can. Needs `--network` of IPv4, in "
		"which the servers have addresses. Checked by `dhcpd -t` and by "
		"booting.",
	[FAB_BOOT_IPXE] = "The iPXE script of each server alone; needs `--kernel`, and "
			  "`--to-dir` where there are several servers.",
	[FAB_BOOT_XCAT] = "One `chdef` for each server and its nodes as a node range.",
	[FAB_BOOT_WAREWULF] =
		"Warewulf 4: one `wwctl node set` for each server and its nodes as a "
		"host "
		"list, and the file for dnsmasq.d that says what the tag means, for the "
		"tags of Warewulf's own file.",
	[FAB_BOOT_OPENCHAMI] =
		"One `ochami bss boot params` for each server, `set` where kernel, "
		"initrd "
		"and parameters are all given, else `update`, which leaves the others as "
		"they are; with `--to-dir` a file for each server, for `-d @FILE`. Needs "
		"`--kernel`.",
	[FAB_BOOT_OPENCHAMI_CONFIG] =
		"The same as objects BootConfiguration of the newer boot service, for "
		"`ochami boot config add -e`. Needs `--kernel`.",
};
