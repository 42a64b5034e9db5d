/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-sim: what packets really do under these tables and trees. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "fabric_sim.h"

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
	{"route", "KIND", "Choice of a path (default table): @ROUTES@", FAB_TAKES_ONE,
	 TO(route), .choices = &fab_sim_route_choices, .preset = "table",
	 .everyday = true},
	{.help = "What is sent:"},
	{"traffic", "SPEC", "Sources and targets (default uniform): @TRAFFIC@",
	 FAB_TAKES_OTHER, .take = take_traffic, .everyday = true},
	{"hosts", "LIST",
	 "Only these hosts send and receive: names, host lists and patterns; may be given several times",
	 FAB_TAKES_TEXT, TO(hosts), .is_many = true, .offers = FAB_OFFERS_NAMES},
	{"job", "TRAFFIC[,size=SIZE],hosts=LIST",
	 "A job on its hosts, as alltoall,size=1MiB,hosts=n[1-32]; several: which slows which",
	 FAB_TAKES_TEXT, TO(jobs), .is_many = true},
	{"rate", "SHARE",
	 "What each host sends, as a share of its cable, above 0 and up to 1 (default 0.5)",
	 FAB_TAKES_REAL, TO(rate), .flag = TO(has_rate), .low = 1e-6, .high = 1,
	 .everyday = true},
	{"sweep", "FROM:TO:STEP", "A series of such rates, as 0.1:1:0.1", FAB_TAKES_OTHER,
	 .flag = TO(is_sweep), .take = take_sweep, .everyday = true},
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
	{"buffer", "LIST",
	 "Input buffer of a port, divided among its lanes: bytes (default 32KiB), with --tick=flit packets (default 8); several, ascending: each",
	 FAB_TAKES_TEXT, TO(texts.buffer)},
	{"drop", "WHAT", "What happens at a full buffer (default none): @DROPS@",
	 FAB_TAKES_ONE, TO(drop), .choices = &fab_sim_drop_choices, .preset = "none"},
	{"vls", "N", "Data lanes of each cable (default: as many as the tables use)",
	 FAB_TAKES_NUMBER, TO(vls), .min = 1, .max = FAB_SIM_LANES_MAX},
	{"tick", "UNIT",
	 "Time in ps (default), or in flit: then every cable carries a flit a tick",
	 FAB_TAKES_ONE, TO(tick),
	 .choices = FAB_NAME_LIST([SIM_TICK_PS] = "ps", [SIM_TICK_FLIT] = "flit")},
	{"preset", "NAME",
	 "paper: 200 bytes a packet without headers, cables of 100 Gb/s and 35 ns, 11 ns in the hosts; other options go before",
	 FAB_TAKES_ONE, TO(preset), .flag = TO(has_preset),
	 .choices = FAB_NAME_LIST("paper")},

	{.help = "How long, and what is asked:"},
	{"max-faults", "K",
	 "Throughput over the number of faults: for 0 to K that are drawn (--set of)",
	 FAB_TAKES_NUMBER, TO(max_faults), .min = 1, .max = 1000},
	{"fail-at", "TIME",
	 "What --fail and the like name dies at TIME of the measured time: what is lost, and when all is well again",
	 FAB_TAKES_TEXT, TO(texts.fail_at)},
	{"warmup", "TIME",
	 "What is not measured at first (default: until throughput and latency are steady)",
	 FAB_TAKES_TEXT, TO(texts.warmup)},
	{"time", "TIME",
	 "What is measured (default 200us, with --tick=flit 20000; finite traffic: all of it)",
	 FAB_TAKES_TEXT, TO(texts.time)},
	{"runs", "N", "Runs of each rate (default 1, with --fail-at 4)", FAB_TAKES_NUMBER,
	 TO(runs), .flag = TO(has_runs), .min = 1, .max = SIM_MAX_RUNS, .preset = "1"},
	{"shard", "K/N",
	 "Only every N-th rate of --sweep, from the K-th on; fabric-compare --merge puts N such results together",
	 FAB_TAKES_SHARD, TO(shard)},
	{"pair", "SRC,DST",
	 "Instead of traffic: latency of one packet in an idle network", FAB_TAKES_TEXT,
	 TO(pair), .offers = FAB_OFFERS_NAMES},
	{"check", NULL,
	 "Exit with status 1 when it stalls, loses packets, is not finished, or saturates too early",
	 FAB_TAKES_NOTHING, TO(check), .everyday = true},
	{"plot", "FILE",
	 "Draw throughput and latency against the rate into FILE.svg or FILE.png",
	 FAB_TAKES_PLOT, TO(plot)},
	{0},
};

static const struct fab_part parts[] = {
	FAB_PART(fab_cli_input_rows, struct sim_params, input),
	FAB_PART(fab_cli_faults_rows, struct sim_params, faults),
	FAB_PART_BUT(fab_cli_tables_rows, struct sim_params, tables, "path-sl,sl2vl"),
	{options, 0},
	FAB_PART_BUT(fab_cli_groups_rows, struct sim_params, groups, "ignore-unknown"),
	FAB_PART(fab_cli_output_rows, struct sim_params, output),
	FAB_PART(fab_cli_store_rows, struct sim_params, store),
	FAB_PART(fab_cli_run_rows, struct sim_params, run),
	FAB_PART_BUT(fab_cli_chance_rows, struct sim_params, run, "verify"),
	{0},
};

#define ADAPTIVE "route=adaptive,route=valiant,route=ugal"
static const struct fab_relation relations[] = {
	{"FABRIC", FAB_REQUIRED, NULL, "no fabric"},
	{"path-sl,sl2vl", FAB_GOES_WITH, "lfts"},
	{"opensm-conf,time-limit", FAB_GOES_WITH, "algorithm"},
	{"lfts", FAB_EXCLUDES, "random", "tables that were read do not change"},
	{"of,count", FAB_GOES_WITH, "random,max-faults"},
	{"max-faults", FAB_EXCLUDES, "random"},
	{"max-faults,count", FAB_EXCLUDES,
	 "sweep,runs,shard,job,pair,trace,cables-out,histogram-out,store,lfts,hosts,fail-at,mcfdbs"},
	{"rate,sweep", FAB_APART},
	{"root-guids", FAB_GOES_WITH, "algorithm"},
	{"algorithm,lfts", FAB_EXCLUDES, "route=dor", "dor has its own tables"},
	{"vls,max-vls,spread-vls", FAB_EXCLUDES, ADAPTIVE ",route=spray",
	 "there each cable has the lanes of the tables and those of adaptive packets"},
	{"trace,pair,mcfdbs,lfts", FAB_EXCLUDES, ADAPTIVE ",route=spray",
	 "packets do not follow tables there"},
	{"chooser", FAB_GOES_WITH, ADAPTIVE},
	{"switch,vls,spread-vls,speedup,buffer-per-vl,trace", FAB_EXCLUDES,
	 "drop=tail,drop=trim",
	 "there switches have a queue at each output, and no lanes"},
	{"ecn", FAB_GOES_WITH, "drop=tail,drop=trim"},
	{"private-buffer", FAB_GOES_WITH, "shared-buffer"},
	{"shared-buffer,buffer-per-vl", FAB_APART},
	{"closed-loop", FAB_EXCLUDES, "rate,sweep,arrivals"},
	{"think", FAB_GOES_WITH, "closed-loop"},
	{"spread-vls", FAB_GOES_WITH, "vls"},
	{"default-rate,cable-rate", FAB_APART},
	{"default-rate,cable-rate", FAB_EXCLUDES, "tick=flit",
	 "there every cable carries a flit a tick"},
	{"min-throughput", FAB_GOES_WITH, "check"},
	{"plot", FAB_GOES_WITH, "sweep,fail-at,max-faults"},
	{"detection,trap,computation,block-time,interval,dodge", FAB_GOES_WITH,
	 "fail-at"},
	{"fail-at", FAB_EXCLUDES,
	 "sweep,shard,job,pair,trace,closed-loop,cables-out,histogram-out,store,mcfdbs"},
	{"fail-at", FAB_EXCLUDES, "lfts", "the new tables are those of an algorithm"},
	{"fail-at", FAB_EXCLUDES,
	 ADAPTIVE ",route=spray,drop=tail,drop=trim,switch=fifo,spread-vls",
	 "parts die under packets that follow tables, in switches voq and oq with credits"},
	{"load", FAB_GOES_WITH, "job"},
	{"job", FAB_EXCLUDES,
	 "hosts,traffic,rate,sweep,closed-loop,runs,shard,trace,cables-out,histogram-out,plot,store,warmup,time"},
	{"pair", FAB_EXCLUDES,
	 "traffic,rate,sweep,closed-loop,runs,shard,check,job,hosts,trace,cables-out,histogram-out,plot,store"},
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

static int take_sweep(void *params, const char *arg, struct fab_err *err)
{
	struct sim_params *s = params;
	double *const to[] = {&s->from, &s->to, &s->step};
	const char *at = arg;
	bool ok = true;

	for (size_t i = 0; i < FAB_COUNT(to) && ok; i++) {
		size_t len = strcspn(at, ":");

		ok = fab_parse_real(at, len, LEAST_RATE, 1, to[i]);
		at += len + (at[len] != '\0');
	}
	if (!ok || *at || s->from > s->to)
		return fab_fail(
			err, EINVAL,
			"'%s' is no series: expected FROM:TO:STEP as 0.1:1:0.1, rates above 0 and up to 1",
			arg);
	if ((s->to - s->from) / s->step > SIM_MAX_POINTS)
		return fab_fail(err, EINVAL, "'%s' is more than %d rates", arg,
				SIM_MAX_POINTS);
	return 0;
}

/* Options that depend on the kind of traffic. */
static int check_traffic(const struct sim_params *p, struct fab_err *err)
{
	const struct fab_traffic_kind *kind = p->traffic_kind;
	bool has_groups = p->groups.of.n || p->mcfdbs;
	bool has_buffers = p->texts.buffer && strchr(p->texts.buffer, ',');
	bool has_sets = p->max_faults || p->count > 1;
	const struct {
		bool is_broken;
		const char *text, *after; /* after the traffic; NULL: not named */
	} rules[] = {
		{kind->is_finite && (p->has_rate || p->is_sweep || p->is_closed), "",
		 " has no rate: it goes on as fast as it can"},
		{kind->is_finite && (p->texts.warmup || p->texts.time),
		 "--warmup and --time do not go with ", ": it ends when all has arrived"},
		{kind->needs_groups && !has_groups, "",
		 " needs --groups, --pattern or --set mcfdbs"},
		{!kind->needs_groups &&
			 (has_groups || (p->has_mcast_algorithm && !kind->schedules)),
		 "--groups, --pattern, --set mcfdbs and --set mcast-algorithm go with --traffic=groups only, the last one with broadcast, allgather and barrier, too",
		 NULL},
		{kind->schedules && (p->n_traced || p->plot.path || p->cables_out ||
				     p->histogram_out || p->store.path ||
				     p->route > FAB_SIM_BY_DOR || p->drop ||
				     p->mcast_algorithms.of.n > 1 || has_buffers),
		 "",
		 " goes with tables, one tree, one buffer size and credits, and is not traced, drawn, stored or written to files"},
		{has_sets && (kind->is_finite || kind->needs_groups),
		 "--max-faults and --set count go with endless unicast traffic: not ",
		 ""},
		{has_buffers && has_sets,
		 "--max-faults and --set count go with one size of --buffer", NULL},
		{kind->needs_groups && p->texts.fail_at,
		 "--fail-at goes with unicast traffic only: ", " follows trees"},
		{kind->needs_groups && p->route != FAB_SIM_BY_TABLE,
		 "--route goes with unicast traffic only: ", " follows trees"},
		{p->mlid_cap && !has_groups,
		 "--set mlid-cap goes with --traffic=groups only", NULL},
		{p->mlid_cap && p->mcfdbs,
		 "--set mlid-cap does not go with --set mcfdbs, whose trees are fixed",
		 NULL},
		{kind->needs_groups && (p->has_algorithm || p->tables.lfts),
		 "--algorithm and --lfts do not go with ",
		 ": --set mcast-algorithm makes its trees"},
		{has_buffers && (p->is_sweep || p->jobs.n || p->pair || p->store.path),
		 "several sizes of --buffer go with one rate or finite traffic, without --sweep, --job, --pair and --store",
		 NULL},
	};

	for (size_t i = 0; i < FAB_COUNT(rules); i++)
		if (rules[i].is_broken && rules[i].after)
			return fab_fail(err, EINVAL, "%s--traffic=%s%s", rules[i].text,
					p->traffic, rules[i].after);
		else if (rules[i].is_broken)
			return fab_fail(err, EINVAL, "%s", rules[i].text);
	return 0;
}

/* The rates of a series are whole steps, whatever is lost in adding. */
static int complete(void *params, struct fab_err *err)
{
	struct sim_params *p = params;
	bool has_none;
	int rc;

	if (!p->traffic) {
		p->traffic = p->jobs.n ? "alltoall" : "uniform";
		p->traffic_kind =
			p->jobs.n ? &fab_traffic_alltoall : &fab_traffic_uniform;
	}
	if (!p->has_rate)
		p->rate = 0.5;
	rc = check_traffic(p, err);
	if (rc)
		return rc;
	has_none = p->is_closed || p->traffic_kind->is_finite;
	p->n_rates = 1;
	if (p->is_sweep)
		p->n_rates += (size_t)((p->to - p->from) / p->step + 1e-9);
	p->rates = FAB_NEW(p->n_rates, double);
	for (size_t i = 0; i < p->n_rates; i++)
		p->rates[i] = p->is_sweep ? fmin(p->from + (double)i * p->step, 1)
			      : has_none  ? (double)NAN
					  : p->rate;
	if (p->n_rates * p->runs > SIM_MAX_POINTS)
		return fab_fail(err, EINVAL, "%zu rates of %u runs are more than %d",
				p->n_rates, p->runs, SIM_MAX_POINTS);
	return sim_read_texts(p, err);
}

static const struct fab_task *choose(const void *params)
{
	const struct sim_params *p = params;

	if (p->texts.fail_at)
		return &sim_failure_task;
	if (p->max_faults || p->count > 1)
		return &sim_faults_task;
	if (!p->pair && !p->jobs.n && p->traffic_kind && p->traffic_kind->schedules)
		return &sim_collectives_task;
	return p->pair ? &sim_pairs_task : p->jobs.n ? &sim_jobs_task : &sim_results_task;
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
	struct sim_params p = {.run.seed = 1, .opensm = FAB_OPENSM};
	int status = fab_cli_main(&command, argc, argv, &p);

	fab_cli_groups_fini(&p.groups);
	free(p.rates);
	return status;
}
