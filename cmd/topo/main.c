/* SPDX-License-Identifier: BSD-2-Clause */
/* What is this fabric: summary, check, ports, comparison, conversion. */
#include "topo.h"

#include <string.h>

#include "export/booksim.h"
#include "export/dot.h"
#include "export/guid_lists.h"
#include "export/ibnetdiscover.h"
#include "export/json.h"
#include "export/slurm.h"
#include "export/subnet_lst.h"
#include "unicast/engine.h"

static const char program[] = "fabric-topo";

enum mode {
	MODE_SUMMARY,
	MODE_CHECK,
	MODE_DIFF,
	MODE_PORTS,
	MODE_TO,
	MODE_TRACE,
	MODE_USERS
};
enum target {
	TO_NONE,
	TO_IBNETDISCOVER,
	TO_DOT,
	TO_JSON,
	TO_SLURM,
	TO_SUBNET_LST,
	TO_ROOT_GUIDS,
	TO_CN_GUIDS,
	TO_BOOKSIM
};
enum {
	KEY_CHECK = 0x100,
	KEY_DIFF,
	KEY_PORTS,
	KEY_TO,
	KEY_SWITCHES_ONLY,
	KEY_KNOWN,
	KEY_KNOWN_OUT,
	KEY_FOLD,
	KEY_TRACE,
	KEY_USERS,
	KEY_LFTS,
	KEY_ALGORITHM,
	KEY_MCFDBS
};

struct params {
	enum mode mode;
	const char *mode_option; /* the option that chose the mode */
	enum target target;
	const char *other; /* --diff */
	bool switches_only, fold;
	struct topo_known known;
	struct topo_tables tables;
	struct fab_cli_input input;
	struct fab_cli_output output;
	struct fab_cli_run run;
};

static const struct argp_option options[] = {
	{.doc = "What to do (default: a summary):", .group = 2},
	{.name = "check",
	 .key = KEY_CHECK,
	 .doc = "List what is wrong with the fabric; exit status 1 on problems",
	 .group = 2},
	{.name = "known",
	 .key = KEY_KNOWN,
	 .arg = "FILE",
	 .doc = "With --check: leave out the problems that FILE accepts; exit status 1 "
		"on "
		"new ones only",
	 .group = 2},
	{.name = "known-out",
	 .key = KEY_KNOWN_OUT,
	 .arg = "FILE",
	 .doc = "With --check: write all problems to FILE, for --known",
	 .group = 2},
	{.name = "diff",
	 .key = KEY_DIFF,
	 .arg = "OLD",
	 .doc = "List what changed from the fabric OLD to FABRIC, the new one, as "
		"diff(1); "
		"exit status 1 on differences",
	 .group = 2},
	{.name = "ports",
	 .key = KEY_PORTS,
	 .doc = "List all cabled ports with their peers",
	 .group = 2},
	{.name = "trace",
	 .key = KEY_TRACE,
	 .arg = "A,B",
	 .doc = "Follow the path from A to B, cable by cable; exit status 1 when it does "
		"not arrive",
	 .group = 2},
	{.name = "users",
	 .key = KEY_USERS,
	 .arg = "SWITCH:PORT",
	 .doc = "Count the pairs, hosts and trees that use a cable; --verbose names them",
	 .group = 2},
	{.name = "lfts",
	 .key = KEY_LFTS,
	 .arg = "FILE",
	 .doc = "With --trace and --users: forwarding tables of the fabric",
	 .group = 2},
	{.name = "algorithm",
	 .key = KEY_ALGORITHM,
	 .arg = "NAME",
	 .doc = "With --trace and --users: tables by this algorithm of fabric-faults "
		"(default minhop): @UNICAST@",
	 .group = 2},
	{.name = "mcfdbs",
	 .key = KEY_MCFDBS,
	 .arg = "FILE",
	 .doc = "With --users: multicast tables, whose trees are counted, too",
	 .group = 2},
	{.name = "to",
	 .key = KEY_TO,
	 .arg = "KIND",
	 .doc = "Convert to ibnetdiscover, dot, json, slurm (topology.conf), "
		"subnet-lst (as OpenSM writes it), root-guids or cn-guids "
		"(root_guid_file "
		"and cn_guid_file of OpenSM), or booksim (network of BookSim2)",
	 .group = 2},
	{.name = "switches-only",
	 .key = KEY_SWITCHES_ONLY,
	 .doc = "With --to=dot: leave out hosts and other adapters",
	 .group = 2},
	{.name = "fold",
	 .key = KEY_FOLD,
	 .doc = "With --to=dot: a box for each pod instead of its switches and hosts",
	 .group = 2},
	{0},
};

static void choose_mode(struct params *p, enum mode mode, const char *option,
			struct argp_state *state)
{
	if (p->mode_option && p->mode != mode)
		argp_error(state, "%s and %s exclude each other", p->mode_option, option);
	p->mode = mode;
	p->mode_option = option;
}

static enum target parse_target(const char *arg, struct argp_state *state)
{
	static const char *const names[] = {
		[TO_IBNETDISCOVER] = "ibnetdiscover",
		[TO_DOT] = "dot",
		[TO_JSON] = "json",
		[TO_SLURM] = "slurm",
		[TO_SUBNET_LST] = "subnet-lst",
		[TO_ROOT_GUIDS] = "root-guids",
		[TO_CN_GUIDS] = "cn-guids",
		[TO_BOOKSIM] = "booksim",
	};

	for (size_t i = TO_IBNETDISCOVER; i < FAB_COUNT(names); i++)
		if (!strcmp(arg, names[i]))
			return (enum target)i;
	argp_error(state,
		   "--to: '%s' is not ibnetdiscover, dot, json, slurm, subnet-lst, "
		   "root-guids, cn-guids or booksim",
		   arg);
	return TO_NONE;
}

static struct topo_columns columns_of(enum mode mode)
{
	switch (mode) {
	case MODE_CHECK:
		return topo_check_columns();
	case MODE_DIFF:
		return topo_diff_columns();
	case MODE_PORTS:
		return topo_ports_columns();
	case MODE_TRACE:
		return topo_trace_columns();
	case MODE_USERS:
		return topo_users_columns();
	default:
		return topo_summary_columns();
	}
}

static void check_known(const struct params *p, struct argp_state *state)
{
	const struct topo_known *known = &p->known;
	const struct fab_cli_file out[] = {{"--known-out", known->out}};

	if (p->mode != MODE_CHECK && (known->in || known->out))
		argp_error(state, "%s goes with --check only",
			   known->in ? "--known" : "--known-out");
	fab_cli_check_outputs(&p->output, out, FAB_COUNT(out), state);
}

static void check_tables(const struct params *p, struct argp_state *state)
{
	const struct topo_tables *t = &p->tables;
	bool is_asked = p->mode == MODE_TRACE || p->mode == MODE_USERS;

	if ((t->lfts || t->algorithm) && !is_asked)
		argp_error(state, "%s goes with --trace and --users only",
			   t->lfts ? "--lfts" : "--algorithm");
	if (t->lfts && t->algorithm)
		argp_error(state, "--lfts and --algorithm exclude each other");
	if (t->mcfdbs && p->mode != MODE_USERS)
		argp_error(state, "--mcfdbs goes with --users only");
	if (t->algorithm)
		fab_cli_choose_one("--algorithm", &fab_unicast_choices, t->algorithm,
				   state);
}

/* Options that do not go together, and what is missing. */
static void check_params(struct params *p, struct argp_state *state)
{
	struct topo_columns columns = columns_of(p->mode);
	struct fab_err err;

	if (p->mode == MODE_TO && (p->output.has_format || p->output.columns ||
				   p->output.no_header || p->output.list_columns))
		argp_error(state, "--to has a form of its own: no --format, --columns, "
				  "--list-columns or --no-header");
	if (p->switches_only && p->target != TO_DOT)
		argp_error(state, "--switches-only goes with --to=dot only");
	if (p->fold && p->target != TO_DOT)
		argp_error(state, "--fold goes with --to=dot only");
	check_known(p, state);
	check_tables(p, state);
	if (p->output.columns &&
	    fab_columns_check(p->output.columns, columns.v, columns.n, &err) != 0)
		argp_error(state, "--columns: %s", err.text);
	if (p->output.list_columns)
		return;
	if (!p->input.fabric)
		argp_error(state,
			   "FABRIC is missing: a file, -, gen:KIND:PARAMETERS or ib:");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct params *p = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &p->input;
		state->child_inputs[1] = &p->output;
		state->child_inputs[2] = &p->run;
		return 0;
	case KEY_CHECK:
		choose_mode(p, MODE_CHECK, "--check", state);
		return 0;
	case KEY_DIFF:
		choose_mode(p, MODE_DIFF, "--diff", state);
		if (!*arg)
			argp_error(state, "--diff: OLD is empty");
		fab_cli_note_input("--diff", arg);
		p->other = arg;
		return 0;
	case KEY_PORTS:
		choose_mode(p, MODE_PORTS, "--ports", state);
		return 0;
	case KEY_TO:
		choose_mode(p, MODE_TO, "--to", state);
		p->target = parse_target(arg, state);
		return 0;
	case KEY_KNOWN:
		p->known.in = fab_cli_file_name("--known", arg, state);
		return 0;
	case KEY_KNOWN_OUT:
		p->known.out = fab_cli_file_name("--known-out", arg, state);
		return 0;
	case KEY_SWITCHES_ONLY:
		p->switches_only = true;
		return 0;
	case KEY_TRACE:
		choose_mode(p, MODE_TRACE, "--trace", state);
		p->tables.trace = arg;
		return 0;
	case KEY_USERS:
		choose_mode(p, MODE_USERS, "--users", state);
		p->tables.users = arg;
		return 0;
	case KEY_LFTS:
		p->tables.lfts = fab_cli_file_name("--lfts", arg, state);
		return 0;
	case KEY_ALGORITHM:
		p->tables.algorithm = arg;
		return 0;
	case KEY_MCFDBS:
		p->tables.mcfdbs = fab_cli_file_name("--mcfdbs", arg, state);
		return 0;
	case KEY_FOLD:
		p->fold = true;
		return 0;
	case ARGP_KEY_ARG:
		fab_cli_set_fabric(&p->input, arg, state);
		return 0;
	case ARGP_KEY_END:
		check_params(p, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {
	{.argp = &fab_cli_input_argp, .group = FAB_CLI_GROUP_INPUT},
	{.argp = &fab_cli_output_argp, .group = FAB_CLI_GROUP_OUTPUT},
	{.argp = &fab_cli_run_plain_argp, .group = FAB_CLI_GROUP_RUN},
	{0},
};

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "FABRIC",
	.doc = "Say what a switched fabric is like, check it, compare it with another or "
	       "convert it.\vFABRIC is a file (ibnetdiscover dump, ibsim net file, cache "
	       "of "
	       "libibnetdisc, opensm-subnet.lst, also compressed), - for standard input, "
	       "gen:KIND:PARAMETERS for a generated fabric or ib:[CA[/PORT]] for the "
	       "live one.",
	.children = children,
	.help_filter = fab_cli_help,
};

static int export_slurm(FILE *out, const struct fab_fabric *f,
			const struct fab_cli_run *run, struct fab_err *err)
{
	struct fab_slurm_notes notes;
	int rc = fab_export_slurm(out, f, &notes, err);

	if (rc)
		return rc;
	if (notes.n_split)
		fab_cli_warn(
			run,
			"hosts with adapters on several switches: %u, each listed under "
			"that of its first adapter by name (--hca chooses another)",
			notes.n_split);
	if (notes.n_unnamed)
		fab_cli_warn(run,
			     "hosts without a name that Slurm takes: %u, called H-<GUID> "
			     "(--node-name-map gives names)",
			     notes.n_unnamed);
	if (notes.n_unattached)
		fab_cli_warn(run, "hosts without a cable to a switch: %u, left out",
			     notes.n_unattached);
	if (notes.n_roots > 1)
		fab_cli_warn(
			run,
			"the fabric has %u parts with hosts; Slurm gives no job nodes of "
			"two of them",
			notes.n_roots);
	return 0;
}

/* BookSim2 joins two routers by one channel each way. */
static int export_booksim(FILE *out, const struct fab_fabric *f,
			  const struct fab_cli_run *run, struct fab_err *err)
{
	uint32_t n_parallel;
	int rc = fab_export_booksim(out, f, &n_parallel, err);

	if (!rc && n_parallel)
		fab_cli_warn(run,
			     "left out: %u cables beside others of the same two switches",
			     n_parallel);
	return rc;
}

static int export_cn_guids(FILE *out, const struct fab_fabric *f,
			   const struct fab_cli_run *run, struct fab_err *err)
{
	uint32_t n_left_out;
	int rc = fab_export_cn_guids(out, f, &n_left_out, err);

	if (!rc && n_left_out)
		fab_cli_warn(
			run,
			"ports of hosts on no switch of the lowest rank: %u, left "
			"out (no compute nodes to ftree; io_guid_file can hold them)",
			n_left_out);
	return rc;
}

static int export_fabric(FILE *out, const struct params *p, const struct fab_fabric *f)
{
	struct fab_dot_options dot = {.without_hosts = p->switches_only, .fold = p->fold};
	struct fab_err err;

	switch (p->target) {
	case TO_DOT:
		fab_export_dot(out, f, &dot);
		break;
	case TO_JSON:
		fab_export_json(out, f, program);
		break;
	case TO_SLURM:
		if (export_slurm(out, f, &p->run, &err) != 0)
			fab_cli_die(&err);
		break;
	case TO_SUBNET_LST:
		if (fab_export_subnet_lst(out, f, &err) != 0)
			fab_cli_die(&err);
		break;
	case TO_ROOT_GUIDS:
		if (fab_export_root_guids(out, f, &err) != 0)
			fab_cli_die(&err);
		break;
	case TO_CN_GUIDS:
		if (export_cn_guids(out, f, &p->run, &err) != 0)
			fab_cli_die(&err);
		break;
	case TO_BOOKSIM:
		if (export_booksim(out, f, &p->run, &err) != 0)
			fab_cli_die(&err);
		break;
	default:
		if (fab_export_ibnetdiscover(out, f, &err) != 0)
			fab_cli_die(&err);
		break;
	}
	return FAB_EXIT_DONE;
}

static int run_mode(const struct params *p, const struct fab_fabric *f,
		    const struct fab_fabric *other, struct fab_cli_results *results)
{
	struct fab_report_options report;
	FILE *out;

	if (p->mode == MODE_CHECK)
		return topo_check(results, &p->output, f, &p->run, &p->known);
	out = fab_cli_open_result(results, p->output.path);
	report = fab_cli_report_options(&p->output, &results->sinks[results->n - 1]);
	switch (p->mode) {
	case MODE_DIFF:
		return topo_diff(out, &report, f, other);
	case MODE_PORTS:
		return topo_ports(out, &report, f);
	case MODE_TRACE:
		return topo_trace(out, &report, f, &p->tables);
	case MODE_USERS:
		return topo_users(out, &report, f, &p->tables, p->run.verbose);
	case MODE_TO:
		return export_fabric(out, p, f);
	default:
		return topo_summary(out, &report, f, &p->run);
	}
}

static void list_columns(const struct params *p, FILE *out)
{
	struct topo_columns columns = columns_of(p->mode);

	fab_columns_list(out, columns.v, columns.n);
}

int main(int argc, char **argv)
{
	struct params p = {0};
	struct fab_fabric *f = NULL, *other = NULL;
	struct fab_cli_results results = {.n = 0};
	int status = FAB_EXIT_DONE;

	fab_cli_init(program);
	fab_cli_parse(&argp, argc, argv, &p);
	if (!p.output.list_columns)
		f = fab_cli_open_fabric(&p.input, &p.run);
	if (f && p.other) {
		struct fab_cli_input input = p.input;

		input.fabric = p.other;
		other = fab_cli_open_fabric(&input, &p.run);
	}
	if (f)
		status = run_mode(&p, f, other, &results);
	else
		list_columns(&p, fab_cli_open_result(&results, p.output.path));
	fab_cli_commit_results(&results);
	fab_fabric_free(f);
	fab_fabric_free(other);
	return status;
}
