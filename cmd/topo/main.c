/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-topo: summary, check, ports, comparison, conversion. */
#include "topo.h"

#include <string.h>

#include "export/dot.h"
#include "export/fabrics.h"
#include "export/slurm.h"
#include "export/tables.h"
#include "fabric/check.h"
#include "source/known.h"
#include "unicast/engine.h"

#define TO(member) FAB_TO(struct topo_params, member)
static const struct fab_option options[] = {
	{.help = "What to do (default: a summary):"},
	{"check", NULL,
	 "Say what is wrong with the fabric, a line for each cause, worst first; --verbose lists every finding; exit status 1 on problems",
	 FAB_TAKES_NOTHING, TO(check), .everyday = true},
	{"known", "FILE",
	 "With --check: put the problems that FILE accepts last; exit status 1 on new ones only",
	 FAB_TAKES_INPUT, TO(known)},
	{"diff", "OLD",
	 "List what changed from the fabric OLD to FABRIC, or how FABRIC differs from the cabling plan OLD; exit status 1 on differences; with --check: say what is new since OLD",
	 FAB_TAKES_FILE_OR_TEXT, TO(other), .everyday = true},
	{"ports", NULL, "List all cabled ports with their peers", FAB_TAKES_NOTHING,
	 TO(ports), .everyday = true},
	{"who", "WHAT", "Say what has a LID, GUID or name, and where", FAB_TAKES_TEXT,
	 TO(who), .everyday = true, .offers = FAB_OFFERS_NAMES},
	{"capacity", NULL,
	 "Say which hosts are farthest apart, how oversubscribed each leaf is, and what halves the fabric: the bisection, next to the worst permutation by the tables",
	 FAB_TAKES_NOTHING, TO(capacity)},
	{"choose", "N",
	 "Choose N hosts for a job, near to each other; with --quiet the host list alone",
	 FAB_TAKES_NUMBER, TO(choose), .min = 1, .max = UINT32_MAX, .everyday = true},
	{"from", "LIST",
	 "With --choose: of these free hosts, a host list (default all); -: standard input",
	 FAB_TAKES_TEXT, TO(from), .offers = FAB_OFFERS_NAMES},
	{"trace", "A,B",
	 "Follow the path from A to B, cable by cable; exit status 1 when it does not arrive",
	 FAB_TAKES_TEXT, TO(trace), .everyday = true, .offers = FAB_OFFERS_NAMES},
	{"users", "SWITCH:PORT",
	 "Count the pairs, hosts and trees that use a cable; --verbose names them",
	 FAB_TAKES_TEXT, TO(users), .offers = FAB_OFFERS_NAMES},
	{"lfts", "FILE",
	 "With --check, --capacity, --choose, --trace and --users: forwarding tables of the fabric",
	 FAB_TAKES_INPUT, TO(lfts), .everyday = true},
	{"algorithm", "NAME",
	 "With --capacity, --choose, --trace and --users: tables by this algorithm of fabric-faults (default minhop): @UNICAST@",
	 FAB_TAKES_ONE, TO(algorithm), .choices = &fab_unicast_choices,
	 .preset = "minhop"},
	{"to", "KIND",
	 "Convert to ibnetdiscover, dot, json, slurm, slurm-yaml, slurm-block (for Slurm), subnet-lst, root-guids, cn-guids (for OpenSM), booksim, min-hops (tables), plan (cabling plan), known (problems, for --known) or html (a page)",
	 FAB_TAKES_ONE, TO(target), .flag = TO(to),
	 .choices = FAB_NAME_LIST(
		 [TOPO_TO_IBNETDISCOVER] = "ibnetdiscover", [TOPO_TO_DOT] = "dot",
		 [TOPO_TO_JSON] = "json", [TOPO_TO_SLURM] = "slurm",
		 [TOPO_TO_SLURM_YAML] = "slurm-yaml",
		 [TOPO_TO_SLURM_BLOCK] = "slurm-block",
		 [TOPO_TO_SUBNET_LST] = "subnet-lst", [TOPO_TO_ROOT_GUIDS] = "root-guids",
		 [TOPO_TO_CN_GUIDS] = "cn-guids", [TOPO_TO_BOOKSIM] = "booksim",
		 [TOPO_TO_MIN_HOPS] = "min-hops", [TOPO_TO_PLAN] = "plan",
		 [TOPO_TO_KNOWN] = "known", [TOPO_TO_HTML] = "html"),
	 .everyday = true},
	{0},
};

static const struct fab_part parts[] = {
	FAB_PART(fab_cli_input_rows, struct topo_params, input),
	{options, 0},
	FAB_PART(fab_cli_output_rows, struct topo_params, output),
	FAB_PART_BUT(fab_cli_run_rows, struct topo_params, run, "threads"),
	{0},
};

static const struct fab_relation relations[] = {
	{"check,ports,who,capacity,choose,trace,users,to", FAB_APART},
	{"diff,ports,who,capacity,choose,trace,users,to", FAB_APART},
	{"to", FAB_EXCLUDES, "format,columns,no-header,report",
	 "what --to writes has a form of its own"},
	{"switches-only,fold", FAB_GOES_WITH, "to=dot"},
	{"known", FAB_GOES_WITH, "check"},
	{"from", FAB_GOES_WITH, "choose"},
	{"lfts", FAB_GOES_WITH, "check,capacity,choose,trace,users"},
	{"algorithm", FAB_GOES_WITH, "capacity,choose,trace,users"},
	{"opensm-conf,time-limit", FAB_GOES_WITH, "algorithm"},
	{"path-sl,sl2vl", FAB_GOES_WITH, "check"},
	{"path-sl,sl2vl", FAB_NEEDS, "lfts"},
	{"lfts", FAB_EXCLUDES, "algorithm"},
	{"mcfdbs", FAB_GOES_WITH, "users"},
	{0},
};

static int write_fabric(FILE *out, const struct fab_work *w, struct fab_err *err)
{
	const struct topo_params *p = w->params;
	const struct fab_dot_options dot = {.without_hosts = p->switches_only,
					    .fold = p->fold};
	struct fab_slurm_notes slurm = {.n_roots = 0};
	struct fab_check *check;
	uint32_t n_left_out = 0;
	int rc = 0;

	switch (p->target) {
	case TOPO_TO_DOT:
		fab_export_dot(out, w->f, &dot);
		break;
	case TOPO_TO_JSON:
		fab_export_json(out, w->f, "fabric-topo");
		break;
	case TOPO_TO_SLURM:
		rc = fab_export_slurm(out, w->f, &slurm, err);
		break;
	case TOPO_TO_SLURM_YAML:
		rc = fab_export_slurm_yaml(out, w->f, &slurm, err);
		break;
	case TOPO_TO_SLURM_BLOCK:
		rc = fab_export_slurm_block(out, w->f, &slurm, err);
		break;
	case TOPO_TO_SUBNET_LST:
		return fab_export_subnet_lst(out, w->f, err);
	case TOPO_TO_ROOT_GUIDS:
		return fab_export_root_guids(out, w->f, p->run.threads, err);
	case TOPO_TO_CN_GUIDS:
		rc = fab_export_cn_guids(out, w->f, &n_left_out, err);
		if (!rc && n_left_out)
			fab_cli_warn(
				&p->run,
				"ports of hosts on no switch of the lowest rank: %u, left out (no compute nodes to ftree; io_guid_file can hold them)",
				n_left_out);
		break;
	case TOPO_TO_BOOKSIM:
		/* two routers are joined by one channel each way there */
		rc = fab_export_booksim(out, w->f, &n_left_out, err);
		if (!rc && n_left_out)
			fab_cli_warn(
				&p->run,
				"left out: %u cables parallel to others of the same two switches",
				n_left_out);
		break;
	case TOPO_TO_MIN_HOPS:
		return fab_export_min_hops(out, w->f, p->run.threads, err);
	case TOPO_TO_PLAN:
		return fab_export_plan(out, w->f, err);
	case TOPO_TO_KNOWN:
		check = fab_check_new(w->f);
		fab_known_write(out, check);
		fab_check_free(check);
		return 0;
	default:
		return fab_export_ibnetdiscover(out, w->f, err);
	}
	if (rc)
		return rc;
	if (slurm.n_split && !slurm.n_topologies)
		fab_cli_warn(
			&p->run,
			"hosts with adapters on several switches: %u, each listed under that of its first adapter by name (--hca chooses another)",
			slurm.n_split);
	if (slurm.n_unnamed)
		fab_cli_warn(
			&p->run,
			"hosts without a name that Slurm takes: %u, called H-<GUID> (--node-name-map gives names)",
			slurm.n_unnamed);
	if (slurm.n_unattached)
		fab_cli_warn(&p->run, "hosts without a cable to a switch: %u, left out",
			     slurm.n_unattached);
	if (slurm.n_blockless)
		fab_cli_warn(
			&p->run,
			"hosts on switches that have too few for a block: %u, left out; Slurm gives them no job",
			slurm.n_blockless);
	if (slurm.n_roots > 1)
		fab_cli_warn(
			&p->run,
			"the fabric has %u parts with hosts; Slurm gives no job nodes of two of them",
			slurm.n_roots);
	return 0;
}

static const struct fab_task convert = {.write = write_fabric};

static const struct fab_task *choose(const void *params)
{
	const struct topo_params *p = params;

	return p->check	     ? &topo_check
	       : p->other    ? &topo_diff
	       : p->ports    ? &topo_ports
	       : p->capacity ? &topo_capacity
	       : p->who	     ? &topo_who
	       : p->choose   ? (p->run.quiet ? &topo_choose_quietly : &topo_choose)
	       : p->trace    ? &topo_trace
	       : p->users    ? &topo_users
	       : !p->to	     ? &topo_summary
	       : p->target == TOPO_TO_HTML ? &topo_page
					   : &convert;
}

static const struct fab_command command = {
	.name = "fabric-topo",
	.args = "FABRIC",
	.doc = "Say what a switched fabric is like, check it, compare it with another or convert it.\vFABRIC is a file (ibnetdiscover dump, ibsim net file, cache of libibnetdisc, opensm-subnet.lst, cabling plan, also compressed), - for standard input, gen:KIND:PARAMETERS for a generated fabric or ib:[CA[/PORT]] for the live one.",
	.parts = parts,
	.relations = relations,
	.choose = choose,
	.settings = topo_settings,
};

/* `--diff --format=csv OLD NEW`: move --diff in front of the next word that is no option.
 */
static void move_diff(int argc, char **argv)
{
	for (int i = 1; i + 1 < argc && strcmp(argv[i], "--") != 0; i++)
		if (!strcmp(argv[i], "--diff") && !strncmp(argv[i + 1], "--", 2)) {
			char *diff = argv[i];

			argv[i] = argv[i + 1];
			argv[i + 1] = diff;
		}
}

int main(int argc, char **argv)
{
	struct topo_params p = {.opensm = FAB_OPENSM};

	move_diff(argc, argv);
	return fab_cli_main(&command, argc, argv, &p);
}
