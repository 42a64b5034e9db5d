/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-sim: what packets really do under these tables and trees. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "fabric_sim.h"

enum { MAX_RUNS = 10000, MAX_TRACED = 1000000 };

static const double LEAST_RATE = 1e-6;

static int take_sweep(void *params, const char *arg, struct fab_err *err);
static int take_traffic(void *params, const char *arg, struct fab_err *err);

#define TO(member) FAB_TO(struct sim_params, member)
static const struct fab_option options[] = {
	{.help = "How it is routed:"},
	{"algorithm", "LIST",
	 "Algorithms, separated by commas, or all: @UNICAST@ (default: vtftr-ib on a kfat, minhop elsewhere)",
	 FAB_TAKES_CHOSEN, TO(algorithms), .flag = TO(has_algorithm),
	 .choices = &fab_unicast_choices, .max = SIM_MAX_NETS / 2, .everyday = true},
	{"max-vls", "N",
	 "Virtual lanes that vtftr-ib and dor may use, 1 to 15 (default 2)",
	 FAB_TAKES_NUMBER, TO(max_vls), .min = 1, .max = 15, .preset = "2"},
	{"root-guids", "FILE",
	 "With --algorithm=updn: its roots, GUIDs or names of switches, a line each (root_guid_file of OpenSM); auto: the top rank, or where pairs would lose their path the roots of OpenSM, else the switch nearest to all hosts",
	 FAB_TAKES_FILE_OR_TEXT, TO(root_guids)},
	{"mcast-algorithm", "LIST",
	 "With --traffic=groups: algorithms that make the trees (default fulb): @MULTICAST@",
	 FAB_TAKES_CHOSEN, TO(mcast_algorithms), .flag = TO(has_mcast_algorithm),
	 .choices = &fab_mcast_choices, .max = SIM_MAX_NETS / 2, .preset = "fulb"},
	{"mcfdbs", "FILE",
	 "Take the multicast tables of FILE (opensm.mcfdbs) as algorithm loaded; without --groups the groups are taken from it",
	 FAB_TAKES_INPUT, TO(mcfdbs)},
	{"mlid-cap", "N",
	 "Groups share N multicast LIDs, and so trees (default: each has its own)",
	 FAB_TAKES_NUMBER, TO(mlid_cap), .min = 1,
	 .max = FAB_MLID_LAST - FAB_MLID_FIRST + 1},

	{.help = "What is sent:"},
	{"traffic", "SPEC", "Sources and targets (default uniform): @TRAFFIC@",
	 FAB_TAKES_OTHER, .take = take_traffic, .everyday = true},
	{"rate", "SHARE",
	 "What each host sends, as a share of its cable, above 0 and up to 1 (default 0.5)",
	 FAB_TAKES_REAL, TO(rate), .flag = TO(has_rate), .low = 1e-6, .high = 1,
	 .everyday = true},
	{"sweep", "FROM:TO:STEP", "A series of such rates, as 0.1:1:0.1", FAB_TAKES_OTHER,
	 .flag = TO(is_sweep), .take = take_sweep, .everyday = true},
	{"arrivals", "KIND",
	 "When messages are created: poisson (default), bernoulli (each flit time, without --tick=flit each packet time; default with --tick=flit) or slotted (each packet time)",
	 FAB_TAKES_ONE, TO(arrivals), .flag = TO(has_arrivals),
	 .choices =
		 FAB_NAME_LIST([SIM_POISSON] = "poisson", [SIM_BERNOULLI] = "bernoulli",
			       [SIM_SLOTTED] = "slotted")},
	{"closed-loop", "WINDOW",
	 "Instead of a rate: WINDOW messages of each sender under way (default 1), the next one when one has arrived",
	 FAB_TAKES_NUMBER, TO(window), .flag = TO(is_closed), .is_optional = true,
	 .bare = "1", .min = 1, .max = FAB_WINDOW_MAX},
	{"think", "TIME", "With --closed-loop: time between arrival and the next message",
	 FAB_TAKES_TEXT, TO(texts.think)},
	{"packet", "N",
	 "Payload of a packet (MTU): bytes (default 2048), with --tick=flit flits (default 16)",
	 FAB_TAKES_TEXT, TO(texts.packet)},
	{"size", "LIST",
	 "Payload of messages, such as 8,2KiB; several: each as likely (default: one packet)",
	 FAB_TAKES_TEXT, TO(texts.sizes)},

	{.help = "Switches and cables:"},
	{"switch", "KIND", "What switches do inside (default voq): @SWITCHES@",
	 FAB_TAKES_ONE, TO(switch_kind), .choices = &fab_sim_switch_choices,
	 .preset = "voq"},
	{"buffer", "N",
	 "Input buffer of a port, divided among its lanes: bytes (default 32KiB), with --tick=flit packets (default 8)",
	 FAB_TAKES_TEXT, TO(texts.buffer)},
	{"vls", "N", "Data lanes of each cable (default: as many as the tables use)",
	 FAB_TAKES_NUMBER, TO(vls), .min = 1, .max = FAB_SIM_LANES_MAX},
	{"spread-vls", NULL,
	 "With --vls and tables of one lane: each pair takes a random lane",
	 FAB_TAKES_NOTHING, TO(spread_vls)},
	{"tick", "UNIT",
	 "Time in ps (default), or in flit: then every cable carries a flit a tick",
	 FAB_TAKES_ONE, TO(tick),
	 .choices = FAB_NAME_LIST([SIM_TICK_PS] = "ps", [SIM_TICK_FLIT] = "flit")},
	{"switch-delay", "TIME",
	 "Delay of a switch, from head in to head out (default 100ns; flits: 0)",
	 FAB_TAKES_TEXT, TO(texts.switch_delay)},
	{"cable-delay", "TIME", "Delay of a cable (default 10ns; flits: 1)",
	 FAB_TAKES_TEXT, TO(texts.cable_delay)},
	{"host-delay", "TIME", "Delay of both adapters of a path together (default 0)",
	 FAB_TAKES_TEXT, TO(texts.host_delay)},
	{"default-rate", "RATE",
	 "Data rate of cables whose speed is not known (default 100G)", FAB_TAKES_MBPS,
	 TO(default_mbps), .low = 1000 * FAB_SIM_GBPS_MIN,
	 .high = 1000 * FAB_SIM_GBPS_MAX},
	{"cable-rate", "RATE", "Data rate of all cables, whatever theirs is",
	 FAB_TAKES_MBPS, TO(cable_mbps), .low = 1000 * FAB_SIM_GBPS_MIN,
	 .high = 1000 * FAB_SIM_GBPS_MAX},
	{"preset", "NAME",
	 "paper: 200 bytes a packet without headers, cables of 100 Gb/s and 35 ns, 11 ns in the hosts; other options go before",
	 FAB_TAKES_ONE, TO(preset), .flag = TO(has_preset),
	 .choices = FAB_NAME_LIST("paper")},

	{.help = "How long, and what is asked:"},
	{"warmup", "TIME",
	 "What is not measured at first (default: until throughput and latency are steady)",
	 FAB_TAKES_TEXT, TO(texts.warmup)},
	{"time", "TIME",
	 "What is measured (default 200us, with --tick=flit 20000; finite traffic: all of it)",
	 FAB_TAKES_TEXT, TO(texts.time)},
	{"runs", "N", "Runs of each rate, with a 95 % interval (default 1)",
	 FAB_TAKES_NUMBER, TO(runs), .min = 1, .max = MAX_RUNS, .preset = "1",
	 .everyday = true},
	{"shard", "K/N",
	 "Only every N-th rate of --sweep, from the K-th on; fabric-compare --merge puts N such results together",
	 FAB_TAKES_SHARD, TO(shard)},
	{"pair", "SRC,DST",
	 "Instead of traffic: latency of one packet in an idle network", FAB_TAKES_TEXT,
	 TO(pair)},
	{"check", NULL,
	 "Exit with status 1 when it stalls, loses packets, is not finished, or (with --min-throughput) is, or may be, saturated below that",
	 FAB_TAKES_NOTHING, TO(check), .everyday = true},
	{"min-throughput", "SHARE", "With --check: what each live host must get",
	 FAB_TAKES_REAL, TO(min_throughput), .flag = TO(has_min_throughput), .high = 1},
	{"trace-out", "N", "Trace the first N packets hop by hop", FAB_TAKES_NUMBER,
	 TO(n_traced), .min = 1, .max = MAX_TRACED},
	{"cables-out", "FILE",
	 "Write what each direction and lane of a cable carried to FILE as JSON lines (- is standard output)",
	 FAB_TAKES_OUTPUT, TO(cables_out)},
	{"histogram-out", "FILE",
	 "Write the histogram of latencies to FILE as JSON lines (- is standard output)",
	 FAB_TAKES_OUTPUT, TO(histogram_out)},
	{"plot", "FILE",
	 "Draw throughput and latency against the rate into FILE.svg or FILE.png (needs gnuplot)",
	 FAB_TAKES_PLOT, TO(plot), .everyday = true},
	{0},
};

static const struct fab_part parts[] = {
	FAB_PART(fab_cli_input_rows, struct sim_params, input),
	FAB_PART(fab_cli_faults_rows, struct sim_params, faults),
	FAB_PART(fab_cli_tables_rows, struct sim_params, tables),
	{options, 0},
	FAB_PART(fab_cli_groups_rows, struct sim_params, groups),
	FAB_PART(fab_cli_output_rows, struct sim_params, output),
	FAB_PART(fab_cli_store_rows, struct sim_params, store),
	FAB_PART(fab_cli_run_rows, struct sim_params, run),
	FAB_PART(fab_cli_chance_rows, struct sim_params, run),
	{0},
};

static const struct fab_relation relations[] = {
	{"FABRIC", FAB_REQUIRED, NULL, "no fabric"},
	{"path-sl,sl2vl", FAB_GOES_WITH, "lfts"},
	{"lfts", FAB_EXCLUDES, "random", "tables that were read do not change"},
	{"of", FAB_GOES_WITH, "random"},
	{"rate,sweep", FAB_APART},
	{"root-guids", FAB_GOES_WITH, "algorithm"},
	{"closed-loop", FAB_EXCLUDES, "rate,sweep,arrivals"},
	{"think", FAB_GOES_WITH, "closed-loop"},
	{"spread-vls", FAB_GOES_WITH, "vls"},
	{"default-rate,cable-rate", FAB_APART},
	{"default-rate,cable-rate", FAB_EXCLUDES, "tick=flit",
	 "there every cable carries a flit a tick"},
	{"min-throughput", FAB_GOES_WITH, "check"},
	{"plot", FAB_GOES_WITH, "sweep"},
	{"pair", FAB_EXCLUDES,
	 "traffic,rate,sweep,closed-loop,runs,shard,check,trace-out,cables-out,histogram-out,plot,store"},
	{"pattern", FAB_EXCLUDES, "mcfdbs",
	 "the groups of a pattern have no multicast LIDs"},
	{0},
};

static int take_traffic(void *params, const char *arg, struct fab_err *err)
{
	struct sim_params *p = params;
	const char *argument;
	int rc = fab_traffic_check(arg, &p->traffic_kind, &argument, err);

	p->traffic = arg;
	if (!rc)
		fab_cli_note_spec("--traffic", arg);
	return rc;
}

/* The text up to a colon as a rate; moves on. */
static bool take_rate(const char **at, double *out)
{
	size_t len = strcspn(*at, ":");
	bool ok = fab_parse_real(*at, len, LEAST_RATE, 1, out);

	*at += len + ((*at)[len] != '\0');
	return ok;
}

static int take_sweep(void *params, const char *arg, struct fab_err *err)
{
	struct sim_params *s = params;
	const char *at = arg;

	if (!take_rate(&at, &s->from) || !take_rate(&at, &s->to) ||
	    !take_rate(&at, &s->step) || *at || s->from > s->to)
		return fab_fail(
			err, EINVAL,
			"'%s' is no series: expected FROM:TO:STEP as 0.1:1:0.1, rates above 0 and up to 1",
			arg);
	if ((s->to - s->from) / s->step > SIM_MAX_POINTS)
		return fab_fail(err, EINVAL, "'%s' is more than %d rates", arg,
				SIM_MAX_POINTS);
	return 0;
}

/* The rates: those of a series are whole steps, whatever is lost in adding. */
static void make_rates(struct sim_params *p)
{
	bool has_none = p->is_closed || p->traffic_kind->is_finite;
	size_t n = 1;

	if (p->is_sweep)
		n += (size_t)((p->to - p->from) / p->step + 1e-9);
	p->rates = FAB_NEW(n, double);
	p->n_rates = n;
	for (size_t i = 0; i < n; i++)
		p->rates[i] = p->is_sweep ? fmin(p->from + (double)i * p->step, 1)
			      : has_none  ? (double)NAN
					  : p->rate;
}

/* Options that depend on the kind of traffic. */
static int check_traffic(const struct sim_params *p, struct fab_err *err)
{
	bool has_groups = p->groups.of.n || p->mcfdbs;

	if (p->traffic_kind->is_finite && (p->has_rate || p->is_sweep || p->is_closed))
		return fab_fail(err, EINVAL,
				"--traffic=%s has no rate: it goes on as fast as it can",
				p->traffic);
	if (p->traffic_kind->is_finite && (p->texts.warmup || p->texts.time))
		return fab_fail(
			err, EINVAL,
			"--warmup and --time do not go with --traffic=%s: it ends when all has arrived",
			p->traffic);
	if (p->traffic_kind->needs_groups && !has_groups)
		return fab_fail(err, EINVAL,
				"--traffic=%s needs --groups, --pattern or --mcfdbs",
				p->traffic);
	if (!p->traffic_kind->needs_groups && (has_groups || p->has_mcast_algorithm))
		return fab_fail(
			err, EINVAL,
			"--groups, --pattern, --mcfdbs and --mcast-algorithm go with --traffic=groups only");
	if (p->mlid_cap && !has_groups)
		return fab_fail(err, EINVAL,
				"--mlid-cap goes with --traffic=groups only");
	if (p->mlid_cap && p->mcfdbs)
		return fab_fail(
			err, EINVAL,
			"--mlid-cap does not go with --mcfdbs, whose trees are fixed");
	if (p->traffic_kind->needs_groups && (p->has_algorithm || p->tables.lfts))
		return fab_fail(
			err, EINVAL,
			"--algorithm and --lfts do not go with --traffic=%s: --mcast-algorithm makes its trees",
			p->traffic);
	return 0;
}

static int complete(void *params, struct fab_err *err)
{
	struct sim_params *p = params;
	int rc;

	if (!p->traffic) {
		p->traffic = "uniform";
		p->traffic_kind = &fab_traffic_uniform;
	}
	if (!p->has_rate)
		p->rate = 0.5;
	rc = check_traffic(p, err);
	if (rc)
		return rc;
	make_rates(p);
	if (p->n_rates * p->runs > SIM_MAX_POINTS)
		return fab_fail(err, EINVAL, "%zu rates of %u runs are more than %d",
				p->n_rates, p->runs, SIM_MAX_POINTS);
	return sim_read_texts(p, err);
}

static const struct fab_task *choose(const void *params)
{
	return ((const struct sim_params *)params)->pair ? &sim_pairs_task
							 : &sim_results_task;
}

static const struct fab_command command = {
	.name = "fabric-sim",
	.args = "FABRIC",
	.doc = "Send packets through a fabric under the tables and trees that the suite makes or reads, and say what they do: throughput, latency, the fullest cable and why it is full, and whether they can stall for ever.",
	.parts = parts,
	.relations = relations,
	.settings = sim_settings,
	.complete = complete,
	.choose = choose,
};

int main(int argc, char **argv)
{
	struct sim_params p = {.run.seed = 1};
	int status = fab_cli_main(&command, argc, argv, &p);

	fab_cli_groups_fini(&p.groups);
	free(p.rates);
	return status;
}
