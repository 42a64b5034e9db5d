/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-launch: where the seconds of a job start go. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/units.h"
#include "launch.h"
#include "launch/detector.h"
#include "launch/locks.h"
#include "launch/peers.h"
#include "unicast/engine.h"

static const struct fab_verb verbs[] = {
	[LAUNCH_STAGES] =
		{"stages", "[FABRIC]",
		 "how long each phase of a start takes, what holds the last node "
		 "back, what each improvement is worth"},
	[LAUNCH_FENCE] = {"fence", "FABRIC",
			  "how long fences take here, by algorithm, size and nodes: by "
			  "formula and on the tables"},
	[LAUNCH_MODEX] = {"modex", "[FABRIC]",
			  "what asking directly takes beside a full fence, for whom each "
			  "process talks to"},
	[LAUNCH_SIZE] = {"size", "",
			 "what a node contributes to a fence, exactly, and what each "
			 "optimisation of PMIx is worth"},
	[LAUNCH_STORE] =
		{"store", "",
		 "what a Get from a node's store costs by lock and processes, by a model "
		 "or measured"},
	[LAUNCH_FAULTS] =
		{"faults", "[FABRIC]",
		 "how soon all know which nodes have failed, and what MPD's ring "
		 "falls into"},
	[LAUNCH_CALIBRATE] =
		{"calibrate", "",
		 "measure constants on this machine and write them to a file"},
	[LAUNCH_ADVISE] =
		{"advise", "FABRIC",
		 "which fence, wire-up and settings of Slurm save how many seconds here"},
	{0},
};

static const struct launch_work *const works[] = {
	[LAUNCH_STAGES] = &launch_stages,	[LAUNCH_FENCE] = &launch_fence,
	[LAUNCH_MODEX] = &launch_modex,		[LAUNCH_SIZE] = &launch_size,
	[LAUNCH_STORE] = &launch_store,		[LAUNCH_FAULTS] = &launch_faults,
	[LAUNCH_CALIBRATE] = &launch_calibrate, [LAUNCH_ADVISE] = &launch_advise,
};

/* The next part of a list between commas; false at the end. */
static bool next_part(const char **at, size_t *len)
{
	if (!*at)
		return false;
	*len = strcspn(*at, ",");
	return true;
}

/* Numbers from 1 to most between commas. */
static int take_numbers(const char *arg, const char *what, uint32_t most,
			struct fab_ids *out, struct fab_err *err)
{
	size_t len;

	out->of.n = 0;
	for (const char *at = arg; next_part(&at, &len);
	     at = at[len] ? at + len + 1 : NULL) {
		uint64_t n;

		if (!fab_parse_u64(at, len, 1, most, &n))
			return fab_fail(err, EINVAL,
					"'%.*s' is no number of %s: expected 1 to %u",
					len < 60 ? (int)len : 60, at, what, most);
		if (out->of.n == LAUNCH_MAX_LIST)
			return fab_fail(err, EINVAL, "more than %d numbers",
					LAUNCH_MAX_LIST);
		FAB_PUSH(&out->of, (uint32_t)n);
	}
	return 0;
}

static int take_failures(void *params, const char *arg, struct fab_err *err)
{
	return take_numbers(arg, "failures", FAB_DETECTOR_FAILURES_MAX,
			    &((struct launch_params *)params)->failures, err);
}

static int take_nodes(void *params, const char *arg, struct fab_err *err)
{
	return take_numbers(arg, "nodes", FAB_FENCE_NODES_MAX,
			    &((struct launch_params *)params)->nodes, err);
}

static int take_bytes(void *params, const char *arg, struct fab_err *err)
{
	struct launch_params *p = params;
	size_t len;

	p->bytes.n = 0;
	for (const char *at = arg; next_part(&at, &len);
	     at = at[len] ? at + len + 1 : NULL) {
		uint64_t n = 0;
		/* the option's name is the unit of a plain number */
		int rc = fab_parse_u64(at, len, 0, UINT64_MAX, &n)
				 ? 0
				 : fab_parse_size_bytes(at, len, &n, err);

		if (rc)
			return rc;
		if (n > FAB_FENCE_BYTES_MAX)
			return fab_fail(err, EINVAL, "'%.*s' is more than 1 TiB",
					len < 60 ? (int)len : 60, at);
		if (p->bytes.n == LAUNCH_MAX_LIST)
			return fab_fail(err, EINVAL, "more than %d sizes",
					LAUNCH_MAX_LIST);
		FAB_PUSH(&p->bytes, n);
	}
	return 0;
}

static void free_orders(struct launch_params *p)
{
	for (size_t i = 0; i < p->orders.n; i++)
		free(p->orders.v[i]);
	p->orders.n = 0;
}

/* A name begins with a letter: commas between numbers belong to axes:. */
static int take_order(void *params, const char *arg, struct fab_err *err)
{
	struct launch_params *p = params;
	struct fab_node_order order;
	int rc = 0;

	free_orders(p);
	for (const char *at = arg; at && !rc;) {
		size_t len = strcspn(at, ",");

		while (at[len] && at[len + 1] >= '0' && at[len + 1] <= '9')
			len += 1 + strcspn(at + len + 1, ",");
		if (p->orders.n == LAUNCH_MAX_LIST)
			return fab_fail(err, EINVAL, "more than %d orders",
					LAUNCH_MAX_LIST);
		FAB_PUSH(&p->orders, fab_strndup(at, len));
		rc = fab_node_order_parse(p->orders.v[p->orders.n - 1], 1, &order, err);
		at = at[len] ? at + len + 1 : NULL;
	}
	return rc;
}

static int check_constant(const char *arg, struct fab_err *err)
{
	struct fab_launch_params scratch;

	fab_launch_params_init(&scratch);
	return fab_launch_params_set(&scratch, arg, err);
}

/* --peers: its text; a file that it names is an input. */
static int check_peers(const char *arg, struct fab_err *err)
{
	fab_cli_note_spec("--peers", arg);
	return fab_peers_check(arg, err);
}

static int check_fences(const struct fab_chosen_list *list, struct fab_err *err)
{
	struct fab_fence_chosen chosen;
	int rc = 0;

	for (size_t i = 0; i < list->of.n && !rc; i++)
		rc = fab_fence_parse(list->of.v[i].text, list->of.v[i].len, &chosen, err);
	if (rc)
		fab_err_prefix(err, "--fence");
	return rc;
}

static int take_keys(void *params, const char *arg, struct fab_err *err)
{
	struct launch_params *p = params;

	p->keys.of.n = 0;
	p->keys_text = arg;
	return fab_puts_parse(arg, &p->keys, err);
}

#define TO(member) FAB_TO(struct launch_params, member)
static const struct fab_option options[] = {
	{.help = "The job:"},
	{"nodes", "N",
	 "Nodes of the job: the first N hosts (default: all of the fabric); several "
	 "numbers between commas for fence",
	 FAB_TAKES_OTHER, .take = take_nodes, .flag = TO(has_nodes)},
	{"node-list", "LIST",
	 "Nodes by name: host lists as Slurm writes them, names, patterns, GUIDs, "
	 "separated by commas",
	 FAB_TAKES_TEXT, TO(node_list)},
	{"node-file", "FILE",
	 "Nodes by name from FILE, a list as of --node-list a line, as scontrol show "
	 "hostnames writes them (- is standard input)",
	 FAB_TAKES_INPUT, TO(node_file)},
	{"order", "LIST",
	 "How nodes are numbered, separated by commas (default fabric): @ORDERS@",
	 FAB_TAKES_OTHER, .take = take_order, .preset = "fabric"},
	{"ppn", "P", "Processes a node (default 1, of store 168)", FAB_TAKES_NUMBER,
	 TO(ppn), .flag = TO(has_ppn), .min = 1, .max = FAB_SIZE_MAX_PPN, .preset = "1"},
	{"keys", "LIST",
	 "What each process puts: LENGTH:BYTES[:COUNT] between commas, a key of so many "
	 "characters with a value of so many bytes, as 14:51,9:8:4",
	 FAB_TAKES_OTHER, .take = take_keys, .preset = "14:51,9:8:4"},

	{.help = "Starts:"},
	{"iface", "LIST",
	 "Interfaces, separated by commas, or all (default): @INTERFACES@",
	 FAB_TAKES_CHOSEN, TO(ifaces), .choices = &fab_launch_interfaces,
	 .preset = "all"},
	{"wireup", "LIST", "Wire-ups, separated by commas, or all (default): @WIREUPS@",
	 FAB_TAKES_CHOSEN, TO(wireups), .choices = &fab_launch_wireups, .preset = "all"},
	{"stage-in", "HOW", "How files come to the nodes (default storm): @STAGE_INS@",
	 FAB_TAKES_ONE, TO(stage_in), .choices = &fab_stage_ins, .preset = "storm"},
	{"socket-store", NULL,
	 "Gets of PMIx ask the server; without it they read shared memory",
	 FAB_TAKES_NOTHING, TO(socket_store)},
	{"goal", "TIME", "Can a start stay within TIME (default 30s)?", FAB_TAKES_SECONDS,
	 TO(goal_s), .min = 1, .max = UINT64_C(1000000000000000000), .like = "30s",
	 .preset = "30s"},
	{"respawn", "K", "K processes of a running job are replaced by PMI-2",
	 FAB_TAKES_NUMBER, TO(respawn), .min = 1, .max = UINT32_MAX},
	{"plot", "FILE",
	 "Draw the critical paths as a timeline into FILE.svg or FILE.png (needs "
	 "gnuplot)",
	 FAB_TAKES_PLOT, TO(plot)},

	{.help = "Fences:"},
	{"fence", "LIST",
	 "Algorithms, separated by commas, or all: @FENCES@ (default: "
	 "all,tree:2,tree:16)",
	 FAB_TAKES_CHOSEN, TO(fences), .choices = &fab_fence_choices, .max = 100,
	 .flag = TO(has_fence)},
	{"bytes", "LIST",
	 "What each node contributes, separated by commas, such as 0,4KiB (default: 0, "
	 "then 64 B to 64 KiB by fours)",
	 FAB_TAKES_OTHER, .take = take_bytes, .flag = TO(has_bytes),
	 .preset = "0,64,256,1KiB,4KiB,16KiB,64KiB"},
	{"algorithm", "NAME",
	 "Routing algorithm that makes the tables: @UNICAST@ (default: vtftr-ib on a "
	 "kfat, dor on a torus or mesh, minhop elsewhere)",
	 FAB_TAKES_ONE, TO(algorithm), .flag = TO(has_algorithm),
	 .choices = &fab_unicast_choices},
	{"model-only", NULL, "Formulas only, nothing is simulated", FAB_TAKES_NOTHING,
	 TO(model_only)},
	{"pieces", "K",
	 "Simulate messages in K pieces, which take turns on cables, as packets do "
	 "(default 1: whole)",
	 FAB_TAKES_NUMBER, TO(pieces), .min = 1, .max = FAB_FENCE_PIECES_MAX,
	 .preset = "1"},
	{"shard", "K/N", "Only part K of N of the cases; parts are merged in a database",
	 FAB_TAKES_SHARD, TO(shard)},

	{.help = "Direct exchange:"},
	{"peers", "SPEC", "Whom each process talks to (default stencil:3): @PEERS@",
	 FAB_TAKES_TEXT, TO(peers), .check = check_peers, .flag = TO(has_peers),
	 .preset = "stencil:3"},
	{"no-cache", NULL,
	 "Every process asks for itself, a node keeps nothing of what it was told",
	 FAB_TAKES_NOTHING, TO(no_cache)},

	{.help = "Failures:"},
	{"failures", "LIST",
	 "Nodes that fail together, separated by commas (default 1,2)", FAB_TAKES_OTHER,
	 .take = take_failures, .flag = TO(has_failures), .preset = "1,2"},
	{"exhaustive", NULL, "Follow every placement of the failures, not two",
	 FAB_TAKES_NOTHING, TO(exhaustive)},

	{.help = "Locks and measuring:"},
	{"lock", "LIST", "Locks, separated by commas, or all (default): @LOCKS@",
	 FAB_TAKES_CHOSEN, TO(locks), .choices = &fab_locks, .preset = "all"},
	{"measure", "TIME",
	 "Measure each point for TIME (default 50ms); of store, only where it is given",
	 FAB_TAKES_SECONDS, TO(measure_s), .flag = TO(is_measuring), .min = 1000000,
	 .max = UINT64_C(60000000000), .like = "50ms", .preset = "50ms"},
	{"params-out", "FILE", "Write what was measured to FILE, for --params",
	 FAB_TAKES_OUTPUT, TO(params_out)},

	{.help = "Constants:"},
	{"params", "FILE", "Take constants from FILE, such as calibrate writes",
	 FAB_TAKES_INPUT, TO(params_path)},
	{"set", "NAME=VALUE", "A constant in its unit; may be given several times",
	 FAB_TAKES_TEXT, TO(set), .is_many = true, .check = check_constant},

	{.help = "Sizes:"},
	{"layout", "LIST", "Layouts, separated by commas: @LAYOUTS@ (default 4.2)",
	 FAB_TAKES_CHOSEN, TO(layouts), .flag = TO(has_layout),
	 .choices = &fab_size_layouts, .preset = "4.2"},
	{"opt", "LIST",
	 "Optimisations that are on, separated by commas, all or none: @OPTIMISATIONS@ "
	 "(default: those of the layout)",
	 FAB_TAKES_CHOSEN, TO(opts), .flag = TO(has_opt), .choices = &fab_size_opts,
	 .has_none = true},
	{"namespace", "N",
	 "Characters of the namespace's name, which counts without procid: 10 of Open "
	 "RTE, 21 and more of Slurm (default 21)",
	 FAB_TAKES_NUMBER, TO(namespace_chars), .min = 1, .max = FAB_NAMESPACE_MAX,
	 .preset = "21"},
	{0},
};

static const struct fab_part parts[] = {
	FAB_PART(fab_cli_input_rows, struct launch_params, input),
	FAB_PART(fab_cli_faults_rows, struct launch_params, faults),
	FAB_PART(fab_cli_tables_rows, struct launch_params, tables),
	{options, 0},
	FAB_PART(fab_cli_output_rows, struct launch_params, output),
	FAB_PART(fab_cli_store_rows, struct launch_params, store),
	FAB_PART(fab_cli_run_rows, struct launch_params, run),
	FAB_PART(fab_cli_chance_rows, struct launch_params, run),
	{0},
};

/* Verbs that follow fences. */
#define FENCES "VERB=stages,VERB=fence,VERB=modex,VERB=advise"

static const struct fab_relation relations[] = {
	{"nodes", FAB_GOES_WITH, FENCES ",VERB=faults,VERB=size"},
	{"ppn", FAB_GOES_WITH, "VERB=stages,VERB=modex,VERB=advise,VERB=size,VERB=store"},
	{"keys", FAB_GOES_WITH, "VERB=stages,VERB=modex,VERB=advise,VERB=size"},
	{"order,algorithm,lfts,model-only", FAB_GOES_WITH, FENCES},
	{"layout,opt,namespace", FAB_GOES_WITH, "VERB=size"},
	{"iface,wireup,goal,respawn,plot", FAB_GOES_WITH, "VERB=stages"},
	{"stage-in,socket-store", FAB_GOES_WITH, "VERB=stages,VERB=advise"},
	{"fence", FAB_EXCLUDES, "VERB=advise", "it looks for the best one"},
	{"fence", FAB_GOES_WITH, "VERB=stages,VERB=fence,VERB=modex"},
	{"verify", FAB_GOES_WITH, "VERB=size"},
	{"peers,no-cache", FAB_GOES_WITH, "VERB=modex"},
	{"lock", FAB_GOES_WITH, "VERB=store"},
	{"measure", FAB_GOES_WITH, "VERB=store,VERB=calibrate"},
	{"params-out", FAB_GOES_WITH, "VERB=calibrate"},
	{"failures,exhaustive", FAB_GOES_WITH, "VERB=faults"},
	{"node-list,node-file", FAB_APART},
	{"node-list,node-file,order,algorithm", FAB_GOES_WITH, "FABRIC"},
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

	for (size_t i = 0; i < p->nodes.of.n; i++)
		if ((uint64_t)p->nodes.of.v[i] * p->ppn > UINT32_MAX)
			return fab_fail(
				err, EINVAL,
				"--nodes=%u of --ppn=%u are more than 2^32 processes",
				p->nodes.of.v[i], p->ppn);
	if (!p->nodes.of.n && !p->input.fabric &&
	    (p->verb == LAUNCH_STAGES || p->verb == LAUNCH_MODEX ||
	     p->verb == LAUNCH_FAULTS))
		return fab_fail(err, EINVAL,
				"--nodes=N is missing: without a FABRIC nobody knows how "
				"many there are");
	if (p->nodes.of.n > 1 && p->verb != LAUNCH_FENCE)
		return fab_fail(err, EINVAL,
				"--nodes takes one number here, several go with fence");
	if (!p->has_fence) {
		int rc = fab_choices_parse(&fab_fence_choices,
					   p->verb == LAUNCH_FENCE ? "all,tree:2,tree:16"
								   : "slurm-auto",
					   &p->fences, err);

		if (rc)
			return rc;
	}
	p->store.shard = &p->shard;
	return check_fences(&p->fences, err);
}

static struct fab_cli_columns columns(const void *params)
{
	const struct launch_work *work =
		works[((const struct launch_params *)params)->verb];

	return (struct fab_cli_columns){work->columns, *work->n_columns};
}

static int run(void *params, const struct fab_fabric *f, struct fab_err *err)
{
	struct launch_params *p = params;

	int rc = launch_read_constants(p, err);

	return rc ? rc : works[p->verb]->run(p, f, err);
}

static const struct fab_command command = {
	.name = "fabric-launch",
	.doc = "Say where the seconds of a job start go: how long each phase takes with "
	       "PMI-1, PMI-2 and PMIx, what each improvement is worth, and which fence "
	       "to use on this fabric.",
	.parts = parts,
	.relations = relations,
	.verbs = verbs,
	.verb = TO(verb),
	.columns = columns,
	.complete = complete,
	.run = run,
};

int main(int argc, char **argv)
{
	struct launch_params p = {.run.seed = 1};
	int status = fab_cli_main(&command, argc, argv, &p);

	free(p.keys.of.v);
	free(p.nodes.of.v);
	free(p.failures.of.v);
	free(p.bytes.v);
	free_orders(&p);
	free(p.orders.v);
	return status;
}
