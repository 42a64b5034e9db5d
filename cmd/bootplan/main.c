/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-bootplan: which server boots which node, and how long that takes. */
#include <errno.h>
#include <string.h>

#include "base/num.h"
#include "base/units.h"
#include "bootplan.h"

#define SECONDS UINT64_C(1000000000)
static const uint64_t DAY_NS = 86400 * SECONDS, MAX_TARGET_NS = 1000000 * SECONDS;

static int check_image(const char *arg, struct fab_err *err)
{
	FAB_AUTO(fab_arena_free) struct fab_arena memory = FAB_ARENA_INIT;
	struct fab_image image;
	int rc = fab_image_parse(arg, &memory, &image, err);

	if (!rc && image.kernel)
		rc = fab_boot_template_check(image.kernel, err);
	if (!rc && image.initrd)
		rc = fab_boot_template_check(image.initrd, err);
	return rc;
}

static int check_network(const char *arg, struct fab_err *err)
{
	struct fab_ip_network net;

	return fab_ip_network_parse(arg, &net, err);
}

static int check_folder(const char *arg, struct fab_err *err)
{
	return *arg && strcmp(arg, "-") != 0
		       ? 0
		       : fab_fail(err, EINVAL, "'%s' is no name of a folder", arg);
}

#define TO(member) FAB_TO(struct bootplan_params, member)
#define TRANSFER(member) TO(transfer.member)
static const struct fab_option options[] = {
	{.help = "The machine:"},
	{"machine", "SPEC",
	 "Instead of FABRIC: preset:taihulight, levels as in rack=4@20G,node=32@1G/server=2@10G, or a file that describes a machine",
	 FAB_TAKES_FILE_OR_TEXT, TO(machine), .everyday = true,
	 .offers = "preset:taihulight"},
	{"servers", "FILE|LIST",
	 "Hosts of FABRIC that are boot servers: names, host lists as io[1-4] and patterns, separated by commas, or a file with such a list a line; repeatable",
	 FAB_TAKES_FILE_OR_TEXT, TO(servers), .is_many = true, .everyday = true,
	 .offers = FAB_OFFERS_NAMES},
	{"fail-server", "LIST",
	 "Servers that are down: names, host lists and patterns; repeatable",
	 FAB_TAKES_TEXT, TO(failed), .is_many = true, .offers = FAB_OFFERS_NAMES},
	{"with-server", "LIST",
	 "Servers that are new: say what moves to them; repeatable", FAB_TAKES_TEXT,
	 TO(with), .is_many = true, .offers = FAB_OFFERS_NAMES},
	{"without-node", "LIST", "Nodes that are gone: say what moves; repeatable",
	 FAB_TAKES_TEXT, TO(without), .is_many = true, .offers = FAB_OFFERS_NAMES},

	{.help = "Nodes and their servers:"},
	{"boot", "SPEC|FILE",
	 "all (default), first:N, first:N:UNIT, unit:LIST, a list of nodes (names, host lists as n[1-16], patterns), or a file with such a list a line",
	 FAB_TAKES_FILE_OR_TEXT, TO(boot), .everyday = true},
	{"sweep", "SPEC",
	 "A series of batches: UNIT: 1, 2, 5, 10 ... units up to all (default: of every level); every:UNIT: 1, 2, 3 ... units; each:UNIT: every unit by itself; random:N: N random subsets",
	 FAB_TAKES_TEXT, TO(sweep), .is_optional = true, .flag = TO(is_sweep)},
	{"shard", "K/N",
	 "With --sweep: only every N-th batch, from the K-th on; fabric-compare --merge puts N such results together",
	 FAB_TAKES_SHARD, TO(shard)},
	{"algorithm", "LIST",
	 "Rules that give nodes their servers, separated by commas, or all (default scda,bcda,balanced): @MAPPINGS@",
	 FAB_TAKES_CHOSEN, TO(algorithms), .choices = &fab_mapping_choices,
	 .max = FAB_PLAN_CHOICES_MAX - 3, .preset = "scda,bcda,balanced",
	 .flag = TO(has_algorithms), .everyday = true},
	{"loaded", "FILE",
	 "The mapping of the site, a line NODE SERVER each, as algorithm loaded",
	 FAB_TAKES_INPUT, TO(loaded)},
	{"model", "MODEL",
	 "How nodes share bandwidth: equal-share (default), max-min (others take what a node cannot use, and what it leaves when it is done; default for images of several sizes) or all",
	 FAB_TAKES_ONE, TO(model), .flag = TO(has_model),
	 .choices =
		 FAB_NAME_LIST([FAB_PLAN_EQUAL_SHARE] = "equal-share",
			       [FAB_PLAN_MAX_MIN] = "max-min", [FAB_PLAN_BOTH] = "all")},
	{"image-size", "SIZE", "Image that every node loads, as 50MB (default) or 64MiB",
	 FAB_TAKES_BYTES, TRANSFER(image_bytes), .preset = "50MB", .everyday = true},
	{"image", "GROUP:SIZE[:KERNEL[,INITRD]]",
	 "Another image for a group of nodes: names, host lists, patterns, racks, switches; KERNEL and INITRD as --kernel; repeatable",
	 FAB_TAKES_TEXT, TO(images), .is_many = true, .check = check_image},
	{"target", "TIME", "Say what boots within TIME, as 60s", FAB_TAKES_SECONDS,
	 TO(target_seconds), .min = 1, .max = MAX_TARGET_NS, .like = "60s",
	 .everyday = true},
	{"prices", "FILE",
	 "Prices of servers, NICs and uplinks: the cheapest plan for --target, and cost against time",
	 FAB_TAKES_INPUT, TO(prices)},
	{"check", NULL, "With --target: exit with status 1 when no algorithm keeps to it",
	 FAB_TAKES_NOTHING, TO(check)},
	{"plot", "FILE",
	 "With --sweep: draw time to boot against batch size into FILE.svg or FILE.png",
	 FAB_TAKES_PLOT, TO(plot)},

	{.help = "Configuration for boot servers:"},
	{"to", "FORMAT", "With --to-out or --to-dir: @BOOT_FORMATS@", FAB_TAKES_OTHER,
	 .take = bootplan_take_format},
	{"to-out", "FILE",
	 "Write the mapping of the one algorithm to FILE in the format of --to (- is standard output)",
	 FAB_TAKES_OUTPUT, TO(export.path)},
	{"to-dir", "DIR",
	 "Write the mapping of the one algorithm to a folder: a file for each server, with its nodes only, and default.* for what all share; a folder written before keeps its servers and addresses where it can",
	 FAB_TAKES_TEXT, TO(export.folder), .check = check_folder,
	 .offers = FAB_OFFERS_FOLDERS},
	{"dry-run", NULL,
	 "With --to-dir: report which files and nodes differ from what DIR has, and write nothing",
	 FAB_TAKES_NOTHING, TO(export.is_dry)},
	{"hosts", "FILE",
	 "MAC and IP addresses of nodes and servers: lines NAME MAC [IP]..., MAC NAME or IP NAME...",
	 FAB_TAKES_INPUT, TO(export.hosts)},
	{"network", "CIDR",
	 "Addresses for hosts that have none, as 10.8.0.0/16 or fd00:8::/64; one of each family",
	 FAB_TAKES_TEXT, TO(export.networks), .is_many = true, .check = check_network},
	{"networks", "FILE",
	 "Networks of a site with subnets: lines CIDR GATEWAY [dns=IP,...] [ntp=IP,...] : NODES, with nodes, servers, racks, switches",
	 FAB_TAKES_INPUT, TO(export.subnets)},
	{"addresses", "FILE",
	 "With --network or --networks: keep the addresses in FILE, so that the same host has the same one next time",
	 FAB_TAKES_OUTPUT, TO(export.addresses)},
	{"kernel", "URL",
	 "Kernel of iPXE scripts and OpenCHAMI, with {server} and {address}",
	 FAB_TAKES_TEXT, TO(export.site.kernel), .check = fab_boot_template_check},
	{"initrd", "URL", "Initial file system, as --kernel", FAB_TAKES_TEXT,
	 TO(export.site.initrd), .check = fab_boot_template_check},
	{0},
};

static const struct fab_part parts[] = {
	FAB_PART(fab_cli_input_rows, struct bootplan_params, input),
	{options, 0},
	FAB_PART(fab_cli_output_rows, struct bootplan_params, output),
	FAB_PART(fab_cli_store_rows, struct bootplan_params, store),
	FAB_PART(fab_cli_run_rows, struct bootplan_params, run),
	FAB_PART(fab_cli_chance_rows, struct bootplan_params, run),
	{0},
};

static const struct fab_relation relations[] = {
	{"FABRIC,machine", FAB_REQUIRED, NULL, "no machine"},
	{"FABRIC", FAB_EXCLUDES, "machine"},
	{"rate", FAB_GOES_WITH, "FABRIC", "--machine has rates of its own"},
	{"servers,default-rate,subnet", FAB_GOES_WITH, "FABRIC"},
	{"servers", FAB_REQUIRED, "machine", "no servers"},
	{"check", FAB_GOES_WITH, "target"},
	{"hashed", FAB_EXCLUDES, "prices,dot-out"},
	{"shard,plot", FAB_GOES_WITH, "sweep"},
	{"boot", FAB_EXCLUDES, "sweep"},
	{"stagger,server-connections,timeout", FAB_NEEDS, "model=max-min,model=all"},
	{"retries", FAB_GOES_WITH, "timeout"},
	{"to", FAB_NEEDS, "to-out,to-dir"},
	{"to-out,to-dir", FAB_NEEDS, "to"},
	{"to-out,to-dir", FAB_APART},
	{"dry-run,fresh", FAB_GOES_WITH, "to-dir"},
	{"strict,second-server,hosts,network,networks,identity,boot-file,boot-url,script,kernel,initrd,params",
	 FAB_GOES_WITH, "to"},
	{"interface", FAB_GOES_WITH, "to=kea4,to=kea6"},
	{"addresses", FAB_GOES_WITH, "network,networks"},
	{"network", FAB_EXCLUDES, "networks"},
	{0},
};

/* BLOCK:WINDOW:RTT */
static int take_tftp(struct bootplan_params *p, struct fab_err *err)
{
	const char *arg = p->tftp;
	size_t block_len = strcspn(arg, ":");
	const char *window_at = arg + block_len + (arg[block_len] != 0);
	size_t window_len = strcspn(window_at, ":");
	const char *rtt_at = window_at + window_len + (window_at[window_len] != 0);
	uint64_t block, window, rtt_ns;

	if (!fab_parse_u64(arg, block_len, 1, 1000000, &block) ||
	    !fab_parse_u64(window_at, window_len, 1, 1000000, &window) ||
	    fab_parse_time_ns(rtt_at, strlen(rtt_at), DAY_NS, &rtt_ns, NULL) || !rtt_ns)
		return fab_fail(
			err, EINVAL,
			"--set tftp: '%s': expected BLOCK:WINDOW:RTT as 1468:16:200us, numbers from 1 to 1000000 and a time above 0 and up to a day",
			arg);
	p->limits.flow_mbps = fab_transfer_tftp_mbps((uint32_t)block, (uint32_t)window,
						     (double)rtt_ns / 1e9);
	return 0;
}

/* One more mapping, if it is not there yet. */
static int add_choice(struct bootplan_params *p, const struct fab_chosen *chosen,
		      struct fab_err *err)
{
	struct fab_mapping_choice choice;

	if (fab_mapping_choose(chosen, &choice, err)) {
		fab_err_prefix(err, "--algorithm");
		return -EINVAL;
	}
	if (choice.engine->needs_loaded && !p->loaded)
		return fab_fail(err, EINVAL, "--algorithm=%s needs --loaded=FILE",
				choice.name);
	for (size_t i = 0; i < p->n_choices; i++)
		if (!strcmp(p->choices[i].name, choice.name))
			return 0;
	p->choices[p->n_choices++] = choice;
	return 0;
}

static int add_named(struct bootplan_params *p, const char *name, struct fab_err *err)
{
	struct fab_chosen chosen = {.text = name, .len = strlen(name)};

	chosen.row = fab_choices_find(&fab_mapping_choices, chosen.text, chosen.len);
	return add_choice(p, &chosen, err);
}

static int complete(void *params, struct fab_err *err)
{
	struct bootplan_params *p = params;
	bool changes = p->failed.n || p->with.n || p->without.n;
	size_t n_named;
	int rc = p->tftp ? take_tftp(p, err) : 0;

	for (size_t i = 0; i < p->algorithms.of.n && !rc; i++)
		rc = add_choice(p, &p->algorithms.of.v[i], err);
	n_named = p->n_choices;
	if (!rc && p->loaded)
		rc = add_named(p, "loaded", err);
	/* mappings that are compared with the kept one */
	if (!rc && changes && !p->has_algorithms)
		rc = add_named(p, "stable", err);
	if (!rc && changes && !p->has_algorithms)
		rc = add_named(p, "keep", err);
	if (!rc && n_named == 1 && p->export.folder && !p->export.is_fresh &&
	    !p->choices[0].engine->needs_loaded &&
	    bootplan_has_previous(p->export.folder)) {
		struct fab_mapping_choice keep;

		/* its servers come first, next to those of the algorithm */
		p->export.keeps = true;
		rc = add_named(p, "keep", err);
		keep = p->choices[p->n_choices - 1];
		if (!rc && strcmp(p->choices[0].name, "keep") != 0) {
			memmove(p->choices + 1, p->choices,
				(p->n_choices - 1) * sizeof(*p->choices));
			p->choices[0] = keep;
		}
	}
	if (!rc && (p->export.path || p->export.folder) && n_named != 1)
		rc = fab_fail(
			err, EINVAL,
			"--to writes the mapping of one algorithm, --algorithm names %zu",
			n_named);
	if (!rc && p->dot_out && n_named != 1)
		rc = fab_fail(
			err, EINVAL,
			"--set dot-out draws the mapping of one algorithm, --algorithm names %zu",
			n_named);
	for (size_t i = 0; i < p->methods.multicast.of.n; i++)
		p->methods.engines[p->methods.n_engines++] =
			fab_mcast_engines[p->methods.multicast.of.v[i].row];
	return rc;
}

static const struct fab_command command = {
	.name = "fabric-bootplan",
	.args = "[FABRIC]",
	.doc = "Say which server boots which node of a machine, what bandwidth the nodes get when they boot together, and how long that takes, for several mappings side by side.",
	.parts = parts,
	.relations = relations,
	.complete = complete,
	.task = &bootplan_task,
	.settings = bootplan_settings,
};

int main(int argc, char **argv)
{
	struct bootplan_params p = {.run.seed = 1};

	return fab_cli_main(&command, argc, argv, &p);
}
