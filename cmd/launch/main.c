/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-launch: verbs and options. */
#include <errno.h>
#include <string.h>

#include "base/num.h"
#include "base/units.h"
#include "launch.h"
#include "launch/exchange.h"
#include "unicast/engine.h"

static const struct fab_verb verbs[] = {
	[LAUNCH_STAGES] = {"stages", "[FABRIC]",
			   "phases of a start, critical path, improvements",
			   &launch_stages},
	[LAUNCH_FENCE] = {"fence", "FABRIC",
			  "time of fences by algorithm, size and nodes", &launch_fence},
	[LAUNCH_MODEX] = {"modex", "[FABRIC]",
			  "direct exchange compared with a full fence", &launch_modex},
	[LAUNCH_SIZE] = {"size", "", "exact contribution of a node to a fence of PMIx",
			 &launch_size},
	[LAUNCH_STORE] = {"store", "", "cost of a Get from a node's store, by lock",
			  &launch_store},
	[LAUNCH_FAULTS] = {"faults", "[FABRIC]",
			   "time until all nodes know which have failed", &launch_faults},
	[LAUNCH_ADVISE] = {"advise", "FABRIC",
			   "seconds that settings of Slurm and Open MPI save",
			   &launch_advise},
	[LAUNCH_MECHANISMS] = {"mechanisms", "",
			       "the mechanisms of a published survey side by side",
			       &launch_mechanisms},
	[LAUNCH_CALIBRATE] =
		{"calibrate", "",
		 "constants of a site: files measured, observed starts fitted",
		 &launch_calibrate},
	{0},
};

static int take_nodes(void *params, const char *arg, struct fab_err *err)
{
	return launch_take_numbers(&((struct launch_params *)params)->nodes, arg, "nodes",
				   FAB_FENCE_NODES_MAX, err);
}

static int take_bytes(void *params, const char *arg, struct fab_err *err)
{
	struct launch_params *p = params;
	size_t len;

	p->bytes.n = 0;
	for (;; arg += len + 1) {
		uint64_t n = 0;
		int rc = 0;

		len = strcspn(arg, ",");
		/* the option's name is the unit of a plain number */
		if (!fab_parse_u64(arg, len, 0, UINT64_MAX, &n))
			rc = fab_parse_size_bytes(arg, len, &n, err);
		if (rc)
			return rc;
		if (n > FAB_FENCE_BYTES_MAX)
			return fab_fail(err, EINVAL, "'%.*s' is more than 1 TiB",
					len < 60 ? (int)len : 60, arg);
		if (p->bytes.n == LAUNCH_LIST_MAX)
			return fab_fail(err, EINVAL, "more than %d sizes",
					LAUNCH_LIST_MAX);
		FAB_PUSH(&p->bytes, n);
		if (!arg[len])
			return 0;
	}
}

/* --peers; a file that it names is an input. */
static int check_peers(const char *arg, struct fab_err *err)
{
	fab_cli_note_spec("--peers", arg);
	return fab_peers_check(arg, err);
}

static int take_measured(void *params, const char *arg, struct fab_err *err)
{
	struct fab_fit_start start;

	FAB_PUSH(&((struct launch_params *)params)->measured, arg);
	return fab_fit_parse(arg, FAB_STAGE_STORM, &start, err);
}

static int take_keys(void *params, const char *arg, struct fab_err *err)
{
	struct launch_params *p = params;

	int rc;

	p->keys.of.n = p->exchanged.of.n = 0;
	p->keys_text = arg;
	rc = fab_puts_parse(arg, &p->keys, err);
	fab_puts_exchanged(&p->keys, &p->exchanged);
	return rc;
}

#define TO(member) FAB_TO(struct launch_params, member)
static const struct fab_option options[] = {
	{.help = "Tables:"},
	{"lfts", "FILE",
	 "Take the forwarding tables of FILE (opensm-lfts.dump, opensm.fdbs, dump_fts) as algorithm loaded",
	 FAB_TAKES_INPUT, TO(tables.lfts)},

	{.help = "The job:"},
	{"nodes", "N", "The first N hosts (default: all); fence: a list", FAB_TAKES_OTHER,
	 .take = take_nodes, .flag = TO(has_nodes), .everyday = true},
	{"node-list", "LIST", "Nodes by name: host lists, names, patterns, GUIDs",
	 FAB_TAKES_TEXT, TO(node_list), .offers = FAB_OFFERS_NAMES},
	{"node-file", "FILE",
	 "Nodes by name from FILE (-: standard input), lists as of --node-list, one on each line, as scontrol show hostnames writes them",
	 FAB_TAKES_INPUT, TO(node_file)},
	{"ppn", "P", "Processes a node (default 1, of store 168)", FAB_TAKES_NUMBER,
	 TO(ppn), .flag = TO(has_ppn), .min = 1, .max = FAB_SIZE_MAX_PPN, .preset = "1",
	 .everyday = true},
	{"keys", "LIST", "Keys: LENGTH:BYTES[:COUNT][:SCOPE],..", FAB_TAKES_OTHER,
	 .take = take_keys, .preset = "14:51,9:8:4", .everyday = true},

	{.help = "Starts:"},
	{"stage-in", "HOW", "Files by @STAGE_INS@ (default storm)", FAB_TAKES_ONE,
	 TO(stage_in), .choices = &fab_stage_ins, .preset = "storm", .everyday = true},
	{"plot", "FILE",
	 "Draw the critical paths as a timeline into FILE.svg or FILE.png",
	 FAB_TAKES_PLOT, TO(plot)},

	{.help = "Fences:"},
	{"fence", "LIST", "Algorithms, or all: @FENCES@", FAB_TAKES_CHOSEN, TO(fences),
	 .choices = &fab_fence_choices, .max = 100, .flag = TO(has_fence)},
	{"bytes", "LIST", "Contributions of a node (default 0, 64 to 64KiB)",
	 FAB_TAKES_OTHER, .take = take_bytes, .preset = "0,64,256,1KiB,4KiB,16KiB,64KiB"},
	{"algorithm", "NAME",
	 "Routing algorithm that makes the tables: @UNICAST@ (default: vtftr-ib on a kfat, dor on a torus or mesh, minhop elsewhere)",
	 FAB_TAKES_ONE, TO(algorithm), .flag = TO(has_algorithm),
	 .choices = &fab_unicast_choices},
	{"shard", "K/N", "Only part K of N of the cases; parts are merged in a database",
	 FAB_TAKES_SHARD, TO(shard)},

	{.help = "Direct exchange:"},
	{"peers", "SPEC", "Peers of each process (default stencil:3): @PEERS@",
	 FAB_TAKES_TEXT, TO(peers), .check = check_peers, .flag = TO(has_peers),
	 .preset = "stencil:3"},

	{.help = "Constants:"},
	{"params", "FILE", "Take constants from FILE; --set changes single ones",
	 FAB_TAKES_INPUT, TO(params_path)},

	{.help = "A site:"},
	{"fs", "DIR", "The folder that nodes share, with the files of --program",
	 FAB_TAKES_TEXT, TO(fs), .offers = FAB_OFFERS_FOLDERS},
	{"program", "BIN", "The program whose files are opened and read", FAB_TAKES_TEXT,
	 TO(program)},
	{"measured", "START",
	 "An observed start, RANKS:NODES[:STAGE-IN]=TIME such as 2240:40=11.8s; repeatable",
	 FAB_TAKES_OTHER, .take = take_measured},

	{.help = "Sizes:"},
	{"layout", "LIST", "Layouts, separated by commas: @LAYOUTS@ (default 4.2)",
	 FAB_TAKES_CHOSEN, TO(layouts), .choices = &fab_size_layouts, .preset = "4.2"},
	{0},
};

static const struct fab_part parts[] = {
	FAB_PART(fab_cli_input_rows, struct launch_params, input),
	FAB_PART(fab_cli_faults_rows, struct launch_params, faults),
	{options, 0},
	FAB_PART(fab_cli_output_rows, struct launch_params, output),
	FAB_PART(fab_cli_store_rows, struct launch_params, store),
	FAB_PART(fab_cli_run_rows, struct launch_params, run),
	FAB_PART_BUT(fab_cli_chance_rows, struct launch_params, run, "verify"),
	{0},
};

/* Verbs that follow fences. */
#define FENCES "VERB=stages,VERB=fence,VERB=modex,VERB=advise"

static const struct fab_relation relations[] = {
	{"nodes", FAB_GOES_WITH, FENCES ",VERB=faults,VERB=size,VERB=mechanisms"},
	{"ppn", FAB_GOES_WITH,
	 "VERB=stages,VERB=modex,VERB=advise,VERB=size,VERB=store,VERB=mechanisms"},
	{"keys", FAB_GOES_WITH,
	 "VERB=stages,VERB=modex,VERB=advise,VERB=size,VERB=mechanisms,VERB=calibrate"},
	{"order,algorithm,lfts,model-only,rails", FAB_GOES_WITH, FENCES},
	{"layout,opt,namespace", FAB_GOES_WITH, "VERB=size"},
	{"iface", FAB_GOES_WITH, "VERB=stages,VERB=calibrate"},
	{"wireup,goal,respawn,plot", FAB_GOES_WITH, "VERB=stages"},
	{"stage-in,socket-store", FAB_GOES_WITH,
	 "VERB=stages,VERB=advise,VERB=mechanisms,VERB=calibrate"},
	{"measured,fs,program,params-out", FAB_GOES_WITH, "VERB=calibrate"},
	{"fs", FAB_GOES_WITH, "program"},
	{"program", FAB_GOES_WITH, "fs"},
	{"fence", FAB_EXCLUDES, "VERB=advise", "it looks for the best one"},
	{"fence", FAB_GOES_WITH, "VERB=stages,VERB=fence,VERB=modex"},
	{"no-cache", FAB_GOES_WITH, "VERB=modex"},
	{"failures,exhaustive", FAB_GOES_WITH, "VERB=faults"},
	{"node-list,node-file", FAB_APART},
	{"node-list,node-file,order,algorithm,lfts,random,fail-file,subnet,rails",
	 FAB_GOES_WITH, "FABRIC"},
	{"opensm-conf,time-limit", FAB_GOES_WITH, "algorithm"},
	{"path-sl,sl2vl", FAB_GOES_WITH, "lfts"},
	{"lfts", FAB_EXCLUDES, "random,algorithm", "tables that were read do not change"},
	{"of", FAB_GOES_WITH, "random"},
	{"bytes,shard,pieces", FAB_GOES_WITH, "VERB=fence"},
	{"pieces", FAB_EXCLUDES, "model-only", "nothing is simulated then"},
	{0},
};

static int complete(void *params, struct fab_err *err)
{
	struct launch_params *p = params;
	struct fab_launch_params scratch;
	struct fab_fence_chosen chosen;
	int rc = 0;

	for (size_t i = 0; i < FAB_N_LAUNCH_CONSTANTS && !rc; i++)
		if (p->is_given[i])
			rc = fab_launch_params_set(&scratch, i, p->given[i], err);
	if (rc) {
		fab_err_prefix(err, "--set");
		return rc;
	}
	if (p->verb == LAUNCH_CALIBRATE && !p->fs && !p->measured.n)
		return fab_fail(err, EINVAL,
				"calibrate: expected --fs with --program, or --measured");
	if (p->verb == LAUNCH_SIZE && !p->exchanged.of.n)
		return fab_fail(err, EINVAL, "--keys: no key enters a fence");
	/* no relation: a constant has that name, too */
	if (p->has_peers && p->verb != LAUNCH_MODEX)
		return fab_fail(err, EINVAL, "--peers goes with modex only");
	for (size_t i = 0; i < p->nodes.of.n; i++)
		if ((uint64_t)p->nodes.of.v[i] * p->ppn > UINT32_MAX)
			return fab_fail(
				err, EINVAL,
				"--nodes=%u of --ppn=%u are more than 2^32 processes",
				p->nodes.of.v[i], p->ppn);
	if (!p->nodes.of.n && !p->input.fabric &&
	    (p->verb == LAUNCH_STAGES || p->verb == LAUNCH_MODEX ||
	     p->verb == LAUNCH_FAULTS || p->verb == LAUNCH_MECHANISMS))
		return fab_fail(
			err, EINVAL,
			"--nodes=N is missing: without a FABRIC the number of nodes is unknown");
	if (p->nodes.of.n > 1 && p->verb != LAUNCH_FENCE)
		return fab_fail(err, EINVAL,
				"--nodes takes one number here, several go with fence");
	if (!p->has_fence)
		rc = fab_choices_parse(&fab_fence_choices,
				       p->verb == LAUNCH_FENCE ? "all,tree:2,tree:16"
							       : "slurm-auto",
				       &p->fences, err);
	for (size_t i = 0; i < p->fences.of.n && !rc; i++) {
		const struct fab_chosen *c = &p->fences.of.v[i];

		rc = fab_fence_parse(c->text, c->len, &chosen, err);
		if (rc)
			fab_err_prefix(err, "--fence");
	}
	return rc;
}

static const struct fab_command command = {
	.name = "fabric-launch",
	.doc = "Show where the seconds of a job start go, and the best fence on this fabric.",
	.parts = parts,
	.relations = relations,
	.verbs = verbs,
	.verb = TO(verb),
	.settings = launch_settings,
	.complete = complete,
};

int main(int argc, char **argv)
{
	struct launch_params p = {.verbs = verbs, .run.seed = 1, .opensm = FAB_OPENSM};
	int status = fab_cli_main(&command, argc, argv, &p);

	FAB_FREE_ALL(p.keys.of.v, p.exchanged.of.v, p.nodes.of.v, p.failures.of.v,
		     p.bytes.v, p.orders.v, p.measured.v);
	fab_arena_free(&p.memory);
	return status;
}
