/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns of fabric-bootplan: all that is known of a column and of the
 * metric that it is. The store, fabric-compare, the manual and the completions take it
 * from here.
 */
#include <errno.h>
#include <string.h>

#include "bootplan.h"

#define AT(member) FAB_AT(struct bootplan_row, member)
const struct fab_column bootplan_columns[] = {
	{"algorithm", FAB_TEXT, "which server boots which node, by this rule", 0,
	 AT(a.algorithm)},
	{"batch", FAB_TEXT, "what boots together, as --boot names it", 0, AT(batch)},
	{"nodes", FAB_UINT, "nodes that boot together", 0, AT(nodes), FAB_METRIC_PLAIN},
	{"servers", FAB_UINT, "servers that serve them", 0, AT(a.n_servers),
	 FAB_METRIC_PLAIN},
	{"bottleneck", FAB_TEXT,
	 "segment with the least share, of equal ones the nearest to the server; null: no limit",
	 0, AT(bottleneck)},
	{"bandwidth_mbps", FAB_REAL,
	 "of the slowest node, 10^6 bits of the image a second", FAB_COL_MBPS,
	 AT(a.bandwidth_mbps), FAB_METRIC_MORE},
	{"boot_seconds", FAB_REAL, "until the slowest node has its image",
	 FAB_COL_SECONDS, AT(a.boot_seconds), FAB_METRIC_LESS},
	{"model", FAB_TEXT,
	 "equal-share or max-min; segments are always those of equal shares", 0,
	 AT(model)},
	{"slowest_node", FAB_TEXT, "the first of the slowest nodes", FAB_COL_EXTRA,
	 AT(slowest)},
	{"within_target", FAB_BOOL, "not slower than --target; null without it",
	 FAB_COL_BAD_IF_NO, AT(within_target), FAB_METRIC_MORE},
	{"verified", FAB_BOOL, "checked by --verify; null without it",
	 FAB_COL_EXTRA | FAB_COL_BAD_IF_NO, AT(verified), FAB_METRIC_MORE},
	{"median_seconds", FAB_REAL,
	 "until half of the nodes have it; null by equal shares",
	 FAB_COL_EXTRA | FAB_COL_SECONDS, AT(a.median_seconds), FAB_METRIC_LESS},
	{"retries", FAB_NUMBER,
	 "requests made again, 0 without --set timeout; null by equal shares",
	 FAB_COL_EXTRA, AT(retries), FAB_METRIC_LESS},
	{"failed_nodes", FAB_NUMBER,
	 "nodes that gave up for good, 0 without --set timeout; null by equal shares",
	 FAB_COL_EXTRA, AT(failed_nodes), FAB_METRIC_LESS},
	{"moved_nodes", FAB_NUMBER,
	 "nodes with another server than before --fail-server, --with-server or --without-node; null without them",
	 FAB_COL_EXTRA, AT(moved_nodes), FAB_METRIC_LESS},
	{"failover", FAB_ROWS, "servers that have more nodes than before these",
	 FAB_COL_EXTRA, AT(failover)},
	{"max_sharers", FAB_NUMBER,
	 "nodes on the segment that limits them; null: none does", FAB_COL_EXTRA,
	 AT(max_sharers), FAB_METRIC_LESS},
	{"segments", FAB_ROWS, "share of each kind of path segment", FAB_COL_EXTRA,
	 AT(segments)},
	{"shard", FAB_TEXT, "part of the sweep, as --shard has it; null: all of it",
	 FAB_COL_EXTRA, AT(shard)},
	{"seconds_before", FAB_REAL,
	 "boot_seconds before --fail-server, --with-server or --without-node; null without them",
	 FAB_COL_EXTRA | FAB_COL_SECONDS, AT(a.seconds_before), FAB_METRIC_PLAIN},
	{"unserved_nodes", FAB_UINT,
	 "nodes of the batch without a server (it is down, or --loaded names none): then boot_seconds and bandwidth_mbps are null, and no file gets the mapping",
	 FAB_COL_EXTRA, AT(unserved_nodes), FAB_METRIC_LESS},
};
#undef AT
const size_t bootplan_n_columns = FAB_COUNT(bootplan_columns);

#define AT(member) FAB_AT(struct bootplan_segment, member)
const struct fab_column bootplan_segment_columns[] = {
	{"algorithm", FAB_TEXT, "rule that gave the servers", 0, AT(algorithm)},
	{"name", FAB_TEXT, "kind of segment", 0, AT(name)},
	{"capacity_mbps", FAB_NUMBER,
	 "of the image on the tightest segment, cables with --set efficiency; null: no limit",
	 FAB_COL_MBPS, AT(capacity_mbps), FAB_METRIC_PLAIN},
	{"max_sharers", FAB_UINT, "most nodes on any segment", 0, AT(max_sharers),
	 FAB_METRIC_LESS},
	{"share_mbps", FAB_REAL, "least share of a node", FAB_COL_MBPS, AT(share_mbps),
	 FAB_METRIC_MORE},
	{"tightest", FAB_TEXT, "segment with the least share", 0, AT(tightest)},
};
#undef AT
const size_t bootplan_segment_n_columns = FAB_COUNT(bootplan_segment_columns);

/* ---- settings ---- */

/* NAME, or ARCH=NAME. */
static int take_boot_file(void *params, const char *arg, struct fab_err *err)
{
	static const char *const archs[FAB_N_BOOT_ARCHS] = {"bios", "x86-64", "arm64",
							    "ia32"};
	struct bootplan_export *e = &((struct bootplan_params *)params)->export;
	size_t n = strcspn(arg, "=");

	if (!*arg)
		return fab_fail(err, EINVAL, "the value is empty");
	for (size_t i = 0; i < FAB_COUNT(archs); i++) {
		if (!arg[n] || (strlen(archs[i]) == n && !memcmp(arg, archs[i], n)))
			e->site.boot_file[i] = arg[n] ? arg + n + 1 : arg;
		if (arg[n] && strlen(archs[i]) == n && !memcmp(arg, archs[i], n))
			return 0;
	}
	/* an URL may have a = of its own */
	if (!arg[n] || strchr(arg, '/'))
		for (size_t i = 0; i < FAB_COUNT(archs); i++)
			e->site.boot_file[i] = arg;
	else
		return fab_fail(
			err, EINVAL,
			"'%s': expected NAME, or ARCH=NAME for bios, ia32, x86-64 or arm64",
			arg);
	return 0;
}

/* As the kernel has them: at most 15 bytes, no blank and no slash. */
static int check_interface(const char *arg, struct fab_err *err)
{
	size_t n = strlen(arg);

	for (size_t i = 0; i < n; i++)
		if ((unsigned char)arg[i] <= ' ' || (unsigned char)arg[i] >= 0x7f ||
		    strchr("/\"\\", arg[i]))
			n = 0;
	return n && n < 16
		       ? 0
		       : fab_fail(err, EINVAL, "'%s' is no name of an interface", arg);
}

#define TO(member) FAB_TO(struct bootplan_params, member)
#define TRANSFER(member) TO(transfer.member)
#define DAY_NS (86400 * UINT64_C(1000000000))
const struct fab_option bootplan_settings[] = {
	FAB_CLI_SUBNET_ROW(TO(input.subnet)),
	{"default-rate", "RATE", "Rate of cables of FABRIC whose speed is not known",
	 FAB_TAKES_MBPS, TO(default_mbps)},
	{"rate", "KIND",
	 "Cables carry data (default: 4x SDR 8, DDR 16, QDR 32, FDR10 40, FDR 54.5, EDR 100, HDR 200, NDR 400, XDR 800 Gb/s) or signalling (with line code, which no image sees: QDR 40, FDR 56)",
	 FAB_TAKES_ONE, TO(rate), .choices = FAB_NAME_LIST("data", "signalling")},
	{"for", "PURPOSE",
	 "What balanced and keep are best for: batch, all of the machine, or prefixes, any number of first nodes",
	 FAB_TAKES_ONE, TO(purpose), .preset = "batch",
	 .choices = FAB_NAME_LIST([FAB_FOR_BATCH] = "batch", [FAB_FOR_ALL] = "all",
				  [FAB_FOR_PREFIXES] = "prefixes")},
	{"omit", "LIST", "Without --boot: hosts that do not boot, as login*,storage*",
	 FAB_TAKES_TEXT, TO(omit), .offers = FAB_OFFERS_NAMES},
	{"stagger", "TIME", "max-min: time between starts of nodes", FAB_TAKES_SECONDS,
	 TRANSFER(stagger_seconds), .max = DAY_NS},
	{"files", "N", "Files that a node asks for, together the image", FAB_TAKES_NUMBER,
	 TRANSFER(n_files), .min = 1, .max = 1000000, .preset = "1"},
	{"efficiency", "SHARE", "Part of the bytes on the wire that is image, as 0.94",
	 FAB_TAKES_REAL, TO(efficiency), .low = 0.01, .high = 1, .preset = "1"},
	{"request-time", "TIME", "Time to ask for a file, as 2ms", FAB_TAKES_SECONDS,
	 TRANSFER(request_seconds), .max = DAY_NS},
	{"tftp", "BLOCK:WINDOW:RTT",
	 "One transfer gets WINDOW blocks of BLOCK bytes a round trip, as 1468:16:200us",
	 FAB_TAKES_TEXT, TO(tftp)},
	{"reserved", "LIST",
	 "What other traffic has of segments, a part or a rate, as server:0.2,cascade:5G",
	 FAB_TAKES_TEXT, TO(reserved)},
	{"hashed", "LIST",
	 "Segments of several links, of which each transfer takes one by a hash (--seed), as cascade:2,supernode:2",
	 FAB_TAKES_TEXT, TO(hashed)},
	{"round-trip", "TIME",
	 "Round trip between a node and its server: set HTTP, TFTP, NFS and KickStart side by side",
	 FAB_TAKES_SECONDS, TO(round_trip_seconds), .min = 1, .max = DAY_NS},
	{"server-disk", "RATE", "A server reads no faster", FAB_TAKES_MBPS,
	 TO(limits.disk_mbps)},
	{"server-connections", "N",
	 "max-min: transfers that a server serves at once; others wait in order",
	 FAB_TAKES_NUMBER, TO(limits.connections), .min = 1, .max = 1000000},
	{"timeout", "TIME",
	 "max-min: a node without its image this long after its request asks again, from the beginning",
	 FAB_TAKES_SECONDS, TRANSFER(timeout_seconds), .min = 1, .max = DAY_NS},
	{"retries", "N", "With timeout: how often a node asks again before it gives up",
	 FAB_TAKES_NUMBER, TRANSFER(retries), .max = 100, .preset = "3"},
	{"mapping-out", "FILE",
	 "Write the servers of all nodes that boot to FILE as JSON lines (- is standard output)",
	 FAB_TAKES_OUTPUT, TO(mapping_out)},
	{"dot-out", "FILE",
	 "Draw the machine and how full its segments are by the one algorithm, to FILE for Graphviz (- is standard output); units that are alike and equally loaded are one box",
	 FAB_TAKES_OUTPUT, TO(dot_out)},
	{"fresh", NULL, "With --to-dir: servers and addresses as in a new folder",
	 FAB_TAKES_NOTHING, TO(export.is_fresh)},
	{"second-server", NULL,
	 "Give every node a second server, for the loss of any one", FAB_TAKES_NOTHING,
	 TO(export.has_second)},
	{"strict", NULL, "Refuse to write for hosts whose name the format cannot hold",
	 FAB_TAKES_NOTHING, TO(export.site.is_strict)},
	{"identity", "KIND",
	 "Identity of nodes: auto (its MAC where --hosts names it, else client-id), mac, client-id (of InfiniBand, ff:..:GUID), client-id-20 (20:GUID) or hardware-32",
	 FAB_TAKES_ONE, TO(export.site.identity), .preset = "auto",
	 .choices =
		 FAB_NAME_LIST([FAB_IDENTITY_AUTO] = "auto", [FAB_IDENTITY_MAC] = "mac",
			       [FAB_IDENTITY_CLIENT_ID] = "client-id",
			       [FAB_IDENTITY_CLIENT_ID_20] = "client-id-20",
			       [FAB_IDENTITY_HARDWARE_32] = "hardware-32")},
	{"interface", "NAME", "With kea4 and kea6: interface that the server listens on",
	 FAB_TAKES_TEXT, TO(export.site.interface),
	 .otherwise = "all; DHCPv6 then by relays only", .check = check_interface},
	{"boot-url", "URL",
	 "File that a node loads first by UEFI HTTP boot, with {server}, {address} and {file}",
	 FAB_TAKES_TEXT, TO(export.site.boot_url), .otherwise = "http://{address}/{file}",
	 .check = fab_boot_template_check},
	{"script", "NAME",
	 "Script that iPXE loads, a name or an URL, with {server} and {address}",
	 FAB_TAKES_TEXT, TO(export.site.script), .otherwise = "{server}.ipxe",
	 .check = fab_boot_template_check},
	{"boot-file", "[ARCH=]NAME",
	 "File loaded first, of all or of ARCH bios (default undionly.kpxe), ia32 (ipxe-ia32.efi), x86-64 (ipxe.efi) or arm64 (ipxe-arm64.efi); repeatable",
	 FAB_TAKES_OTHER, .take = take_boot_file},
	{"params", "TEXT", "Parameters of the kernel, as --kernel", FAB_TAKES_TEXT,
	 TO(export.site.params), .check = fab_boot_params_check},
	{"multicast", "LIST",
	 "On a FABRIC: multicast by these algorithms of fabric-mcroute, separated by commas, all, or none",
	 FAB_TAKES_CHOSEN, TO(methods.multicast), .flag = TO(methods.has_engines),
	 .choices = &fab_mcast_choices, .max = BOOTPLAN_MAX_ENGINES, .has_none = true,
	 .preset = "fulb"},
	{"repair", "SHARE", "Part of the image that multicast sends again",
	 FAB_TAKES_REAL, TO(methods.repair), .high = 1, .preset = "0"},
	{"chunk", "SIZE", "A node of a chain or tree passes the image on by this much",
	 FAB_TAKES_BYTES, TO(methods.chunk_bytes), .preset = "1MiB"},
	{"simulate", NULL,
	 "On a FABRIC: simulate the packets of all methods, too, of up to 1 GB together",
	 FAB_TAKES_NOTHING, TO(methods.simulates)},
	{0},
};
