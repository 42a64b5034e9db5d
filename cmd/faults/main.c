/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-faults: unicast routing under failures, by several algorithms side by side. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "faults.h"

static int take_permutation(void *params, const char *arg, struct fab_err *err);
static int check_pair(const char *arg, struct fab_err *err);

#define TO(member) FAB_TO(struct faults_params, member)
static const struct fab_option options[] = {
	{.help = "Sets of faults, and how to route:"},
	{"count", "N", "With --random: N sets of K, summed up (default 1)",
	 FAB_TAKES_NUMBER, TO(wish.count), .min = 1, .max = 1000000000, .preset = "1"},
	{"exhaustive", "K", "Every set of K parts more, of --of, summed up",
	 FAB_TAKES_NUMBER, TO(wish.exhaustive), .min = 1, .max = 1000},
	{"shard", "K/N",
	 "Only every N-th set, trial or part, from the K-th on; fabric-compare --merge puts N such results together",
	 FAB_TAKES_SHARD, TO(shard)},
	{"algorithm", "LIST",
	 "Algorithms, separated by commas, or all: @UNICAST@ (default: vtftr-ib on a kfat, minhop,updn elsewhere)",
	 FAB_TAKES_CHOSEN, TO(algorithms), .flag = TO(has_algorithm),
	 .choices = &fab_unicast_choices, .max = FAULTS_MAX_ENGINES - 1,
	 .everyday = true},
	{"root-guids", "FILE",
	 "With --algorithm=updn: its roots, GUIDs or names of switches, a line each (root_guid_file of OpenSM); auto: the top rank, or where pairs would lose their path the roots of OpenSM, else the switch nearest to all hosts",
	 FAB_TAKES_FILE_OR_TEXT, TO(root_guids)},
	{"endpoints", "KIND",
	 "Pairs of what: leaves (switches; default on a kfat), hosts (default elsewhere and with --lfts), adapters (SHARP nodes and routers, too) or all (switches' port 0, too)",
	 FAB_TAKES_ONE, TO(ends), .flag = TO(has_ends), .choices = &fab_ends_choices},
	{"check", NULL,
	 "Exit with status 1 when a pair is unreachable, a cycle exists or freedom of deadlock is unknown",
	 FAB_TAKES_NOTHING, TO(check), .everyday = true},

	{0},
};

/* behind those of tables that are read, under their heading */
static const struct fab_option table_options[] = {
	{"lfts-out", "FILE",
	 "Write the tables of the one algorithm as OpenSM's engine file loads them",
	 FAB_TAKES_OUTPUT, TO(files.lfts_out)},
	{"fdbs-out", "FILE",
	 "Write the tables of the one algorithm as opensm.fdbs, for ibdmchk",
	 FAB_TAKES_OUTPUT, TO(files.fdbs_out)},
	{"path-sl-out", "FILE", "Write the service levels of all paths", FAB_TAKES_OUTPUT,
	 TO(files.path_sl_out)},
	{"sl2vl-out", "FILE", "Write the lanes of the service levels", FAB_TAKES_OUTPUT,
	 TO(files.sl2vl_out)},
	{"subnet-out", "FILE",
	 "Write what is left of the fabric as opensm-subnet.lst, with the same LIDs",
	 FAB_TAKES_OUTPUT, TO(files.subnet_out)},
	{0},
};

static const struct fab_option questions[] = {
	{.help = "More questions:"},
	{"explain", "SRC,DST",
	 "Show the path from SRC to DST hop by hop, with lanes and reasons: switches or adapters by name, host, GUID or lid:N",
	 FAB_TAKES_TEXT, TO(questions.explain), .check = check_pair, .everyday = true,
	 .offers = FAB_OFFERS_NAMES},
	{"permutation", "SPEC",
	 "Load when each host sends to one other, before and after the faults: @PERMUTATIONS@; repeatable",
	 FAB_TAKES_OTHER, .take = take_permutation, .everyday = true},
	{"criticality", "N",
	 "Rank switches and links by what their loss costs; show N (default 10) of them",
	 FAB_TAKES_NUMBER, TO(questions.criticality),
	 .flag = TO(questions.has_criticality), .min = 1, .max = 1000000,
	 .is_optional = true, .bare = "10", .everyday = true},
	{"cure", NULL,
	 "Find the least change that ends a credit loop, as an --edit to paste",
	 FAB_TAKES_NOTHING, TO(questions.cure), .everyday = true},
	{"local-reroute", "METHOD",
	 "Let sound leaves die unknown to the tables, one and two at a time, and reroute around them locally: by the lists of VTFTR, by a search (an extension), or by both (default)",
	 FAB_TAKES_ONE, TO(questions.reroute_method), .flag = TO(questions.reroute),
	 .choices = &fab_reroute_choices, .is_optional = true, .bare = "both"},
	{"reliability", NULL,
	 "With --random=K: how likely K dead leaves cost a pair of sound ones",
	 FAB_TAKES_NOTHING, TO(questions.reliability)},
	{"max-faults", "K", "With --reliability: for 1 to K dead leaves",
	 FAB_TAKES_NUMBER, TO(questions.max_faults), .min = 1, .max = 100000},
	{0},
};

static const struct fab_part parts[] = {
	FAB_PART(fab_cli_input_rows, struct faults_params, input),
	FAB_PART(fab_cli_faults_rows, struct faults_params, wish.dead),
	FAB_PART(fab_cli_random_rows, struct faults_params, wish.dead),
	{options, 0},
	FAB_PART(fab_cli_opensm_rows, struct faults_params, opensm),
	FAB_PART(fab_cli_tables_rows, struct faults_params, files.in),
	{table_options, 0},
	{questions, 0},
	FAB_PART(fab_cli_output_rows, struct faults_params, output),
	FAB_PART(fab_cli_store_rows, struct faults_params, store),
	FAB_PART(fab_cli_run_rows, struct faults_params, run),
	FAB_PART(fab_cli_chance_rows, struct faults_params, run),
	{0},
};

static const struct fab_relation relations[] = {
	{"random", FAB_EXCLUDES, "exhaustive"},
	{"count", FAB_GOES_WITH, "random"},
	{"root-guids,time-limit", FAB_GOES_WITH, "algorithm"},
	{"shard", FAB_GOES_WITH, "count,exhaustive,reliability,criticality"},
	{"path-sl,sl2vl", FAB_GOES_WITH, "lfts"},
	{"lfts", FAB_EXCLUDES, "random,exhaustive",
	 "tables that were read do not change"},
	{"max-faults,mtbf,trials", FAB_GOES_WITH, "reliability"},
	{"cure", FAB_EXCLUDES, "fail,fail-link,fail-file,random,exhaustive",
	 "--edit takes them out of the fabric"},
	{"cure", FAB_EXCLUDES, "lfts",
	 "what was read cannot be routed again: --algorithm names what routes"},
	{"cure", FAB_EXCLUDES,
	 "reliability,explain,local-reroute,reroute-lists,criticality,permutation,store,lfts-out,fdbs-out,path-sl-out,sl2vl-out,subnet-out"},
	{"reliability", FAB_NEEDS, "random,max-faults"},
	{"reliability", FAB_EXCLUDES,
	 "fail,fail-link,fail-file,exhaustive,of=roots,of=links,of=any",
	 "its leaf switches fail at random"},
	{"reliability", FAB_EXCLUDES,
	 "lfts,explain,local-reroute,reroute-lists,criticality,permutation"},
	{"random", FAB_EXCLUDES, "max-faults"},
	{"mttr", FAB_NEEDS, "mtbf"},
	{"mttr", FAB_EXCLUDES, "shard", "availability needs all trials"},
	{"mtbf", FAB_NEEDS, "max-faults", "every number of faults is gone through"},
	{"explain,local-reroute,reroute-lists,criticality,permutation,lfts-out,fdbs-out,path-sl-out,sl2vl-out,subnet-out",
	 FAB_EXCLUDES, "exhaustive", "the first is for one set of faults"},
	{"lfts-out,fdbs-out,path-sl-out,sl2vl-out", FAB_EXCLUDES, "lfts",
	 "tables that were read are there already"},
	{0},
};

static int check_pair(const char *arg, struct fab_err *err)
{
	if (!strrchr(arg, ',') || *arg == ',' || arg[strlen(arg) - 1] == ',')
		return fab_fail(err, EINVAL, "'%s': expected SRC,DST", arg);
	return 0;
}

static int take_permutation(void *params, const char *arg, struct fab_err *err)
{
	if (fab_permutation_check(arg, err))
		return -EINVAL;
	fab_cli_note_spec("--permutation", arg);
	FAB_PUSH(&((struct faults_params *)params)->questions.permutations, arg);
	return 0;
}

static int complete(void *params, struct fab_err *err)
{
	struct faults_params *p = params;
	bool has_sets = p->wish.count > 1;

	for (size_t i = 0; i < p->algorithms.of.n; i++) {
		const struct fab_chosen *chosen = &p->algorithms.of.v[i];

		p->engines[p->n_engines] = fab_unicast_engines[chosen->row];
		p->is_optional[p->n_engines++] = chosen->by_all;
	}
	if (p->shard.part.count && !p->wish.exhaustive && !has_sets &&
	    !p->questions.reliability && !p->questions.has_criticality)
		return fab_fail(err, EINVAL, "--shard: one set of faults has no parts");
	if (has_sets &&
	    (p->questions.explain || p->questions.reroute || p->questions.reroute_lists ||
	     p->questions.has_criticality || p->questions.permutations.n))
		return fab_fail(
			err, EINVAL,
			"--explain, --local-reroute, --set reroute-lists, --criticality and --permutation are for one set of faults");
	if (faults_writes_tables(p) &&
	    (has_sets || (p->has_algorithm && p->n_engines != 1)))
		return fab_fail(
			err, EINVAL,
			"tables are written of one algorithm and one set of faults");
	if (p->files.subnet_out && has_sets)
		return fab_fail(err, EINVAL, "--subnet-out is for one set of faults");
	return 0;
}

/* Edits, or for people dead parts that are named, no other question and no comparison of
 * algorithms: before and after on one screen. */
static bool is_change(const struct faults_params *p)
{
	const struct fab_cli_faults *dead = &p->wish.dead;
	bool has_faults = dead->fail.n || dead->fail_link.n || dead->fail_file.n;

	if (dead->random || p->wish.exhaustive || p->questions.explain ||
	    p->questions.reroute || p->questions.reroute_lists ||
	    p->questions.has_criticality || p->questions.permutations.n ||
	    p->shard.part.count || p->store.path || p->files.subnet_out ||
	    faults_writes_tables(p) || p->run.verify || p->run.verbose ||
	    p->output.columns)
		return false;
	return p->input.edit.n || (has_faults && p->algorithms.of.n <= 1 &&
				   p->output.format == FAB_FORMAT_TABLE);
}

static const struct fab_task *choose(const void *params)
{
	const struct faults_params *p = params;

	return p->questions.reliability ? &faults_reliability_task
	       : p->questions.cure	? &faults_cure_task
	       : is_change(p)		? &faults_change_task
					: &faults_results_task;
}

static const struct fab_command command = {
	.name = "fabric-faults",
	.args = "FABRIC",
	.doc = "Let switches and links of a fabric die and say what is left: pairs without a path, hops, virtual lanes, credit loops, for several routing algorithms of high-dimension fat trees side by side, or for the tables of a real fabric.",
	.parts = parts,
	.relations = relations,
	.choose = choose,
	.complete = complete,
	.settings = faults_settings,
};

int main(int argc, char **argv)
{
	struct faults_params p = {.run.seed = 1, .opensm = FAB_OPENSM};
	int status = fab_cli_main(&command, argc, argv, &p);

	free(p.questions.permutations.v);
	return status;
}
