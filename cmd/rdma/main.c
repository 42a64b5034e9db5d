/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-rdma: which reliability scheme survives this network, and what it costs. */
#include <errno.h>
#include <stdlib.h>

#include "fabric_rdma.h"

#define SECOND UINT64_C(1000000000)

static const struct fab_verb verbs[] = {
	[RDMA_RUN] = {"run", "FABRIC", "transfers under each scheme, and which to take",
		      NULL},
	[RDMA_SWEEP] = {"sweep", "FABRIC", "runs over ranges of loss, sizes, windows",
			&rdma_results_task},
	[RDMA_PLAN] = {"plan", "FABRIC",
		       "least window and timeout for a share of the ideal",
		       &rdma_plan_task},
	[RDMA_COST] = {"cost", "", "bits of a context, and how many a memory holds",
		       &rdma_cost_task},
	[RDMA_TRACE] = {"trace", "", "the window after each arrival", &rdma_trace_task},
	{0},
};

#define TO(member) FAB_TO(struct rdma_params, member)
static const struct fab_option options[] = {
	{.help = "Transfers:"},
	{"scheme", "LIST", "Schemes, or all (default): @RDMA_SCHEMES@", FAB_TAKES_CHOSEN,
	 TO(schemes), .choices = &fab_rdma_scheme_choices, .max = RDMA_MAX_SCHEMES,
	 .preset = "all", .everyday = true},
	{"pattern", "SPEC",
	 "Senders and receivers of the transfers (default pair): @RDMA_PATTERNS@",
	 FAB_TAKES_OTHER, .take = rdma_take_pattern, .everyday = true},
	{"hosts", "LIST",
	 "Only these hosts send and receive: names, host lists and patterns; may be given several times",
	 FAB_TAKES_TEXT, TO(hosts), .is_many = true, .offers = FAB_OFFERS_NAMES},
	{"job", "PATTERN[,size=SIZE],hosts=LIST",
	 "run: a job on its hosts, as alltoall,size=1MiB,hosts=n[1-32]; several: which slows which",
	 FAB_TAKES_TEXT, TO(jobs), .is_many = true},
	{"size", "SIZE", "Bytes of a transfer (default 256KiB)", FAB_TAKES_BYTES,
	 TO(bytes), .everyday = true},
	{"transfers", "N", "Transfers from each to each of the pattern (default 1)",
	 FAB_TAKES_NUMBER, TO(repeats), .min = 1, .max = 1000000, .preset = "1"},
	{"op", "KIND", "write (default), or read: requested by the receiver of the data",
	 FAB_TAKES_ONE, TO(op), .choices = FAB_NAME_LIST("write", "read")},
	{"mtu", "BYTES", "Payload of a packet, 256 to 4096 (default 2048)",
	 FAB_TAKES_NUMBER, TO(sim.mtu), .min = 256, .max = 4096, .preset = "2048"},
	{"window", "W",
	 "Width of the receiver's window, 1 to 4096 (default 128); cost: several, as 32,128",
	 FAB_TAKES_OTHER, .take = rdma_take_windows},
	{"rto", "TIME",
	 "Retransmission timer (default 20us, more where packets wait longer for each other)",
	 FAB_TAKES_NS, TO(sim.rto_ps), .flag = TO(has_rto), .min = 1, .max = 10 * SECOND,
	 .like = "20us", .preset = "20us"},

	{.help = "Impairments:"},
	{"loss", "SHARE", "Share of data packets that are lost (default 0)",
	 FAB_TAKES_REAL, TO(sim.bad.loss), .high = 1, .everyday = true},
	{"per-hop", NULL, "Apply --loss per link instead of per path", FAB_TAKES_NOTHING,
	 TO(sim.bad.per_hop)},
	{"burst", "N", "Mean length of loss bursts (Gilbert model; default 1)",
	 FAB_TAKES_REAL, TO(sim.bad.burst), .low = 1, .high = 1e6},
	{"corrupt", "SHARE",
	 "Share of data packets that arrive damaged: missed by link checks, found by the receiver's (default 0)",
	 FAB_TAKES_REAL, TO(sim.bad.corrupt), .high = 1},
	{"drop-control", "SHARE",
	 "Share of control packets that are lost, 0 to 1 (default 0)", FAB_TAKES_REAL,
	 TO(sim.bad.drop_control), .high = 1},
	{"delay", "SHARE:KIND:TIME",
	 "Data packets that are held up: 0.1:U:2.7us uniformly up to TIME, E exponentially, F for TIME",
	 FAB_TAKES_OTHER, .take = rdma_take_delay},
	{"link-down", "FROM-UNTIL",
	 "Take inter-switch links down from FROM to UNTIL, as 10us-50us; LINK@FROM-UNTIL or SWITCH@FROM-UNTIL: one, or all of a switch; may be given several times",
	 FAB_TAKES_TEXT, TO(link_down), .check = rdma_check_link_down, .is_many = true},

	{.help = "The network:"},
	{"route", "KIND",
	 "How packets find their path: @ROUTES@ (default: dor on a torus, mesh or hyperx, table elsewhere)",
	 FAB_TAKES_ONE, TO(route), .flag = TO(has_route),
	 .choices = &fab_sim_route_choices},
	{"algorithm", "NAME",
	 "With --route=table: algorithm of the tables (default: vtftr-ib on a kfat, minhop elsewhere): @UNICAST@",
	 FAB_TAKES_CHOSEN, TO(algorithms), .flag = TO(has_algorithm),
	 .choices = &fab_unicast_choices, .max = 1},
	{"buffer", "SIZE",
	 "Input buffer of each lane of a port, with --drop buffer of each output; or infinite (default)",
	 FAB_TAKES_OTHER, .take = rdma_take_buffer},
	{"drop", "WHAT", "What happens at a full buffer (default none): @DROPS@",
	 FAB_TAKES_ONE, TO(sim.drop), .choices = &fab_sim_drop_choices, .preset = "none"},
	{"rate-control", "KIND",
	 "How senders adapt to the network (default none): @RATES@", FAB_TAKES_ONE,
	 TO(sim.rate_control), .choices = &fab_rdma_rate_choices, .preset = "none"},

	{.help = "Runs and results:"},
	{"runs", "N", "Runs per scheme (default: as many as decide)", FAB_TAKES_NUMBER,
	 TO(runs), .min = 1, .max = FAB_RDMA_ASKED_RUNS_MAX, .everyday = true},
	{"over", "LIST", "sweep: axes, as loss=0:5e-3:1e-3,size=32K..256K,W=16/64",
	 FAB_TAKES_OTHER, .take = rdma_take_over, .everyday = true,
	 .offers =
		 "loss= drop-control= delayed= delay= size= mtu= W= sender-window= rto= contexts="},
	{"target", "SHARE", "plan: share of the pace of the oracle (default 0.95)",
	 FAB_TAKES_REAL, TO(target), .low = 0.01, .high = 1, .preset = "0.95"},
	{"shard", "K/N",
	 "Only every N-th point, from the K-th on; fabric-compare --merge merges N such results",
	 FAB_TAKES_SHARD, TO(shard)},
	{"check", NULL,
	 "Exit with status 1 when a transfer hangs, is wrong or has no path",
	 FAB_TAKES_NOTHING, TO(check)},
	{"plot", "FILE",
	 "Draw completion times over the first axis into FILE.svg or FILE.png",
	 FAB_TAKES_PLOT, TO(plot)},

	{.help = "A window (trace), contexts (cost):"},
	{"arrivals", "LIST",
	 "trace: packets in the order of their arrival, such as 2,1,0,4,3 or 0-9",
	 FAB_TAKES_OTHER, .take = rdma_take_arrivals},
	{"memory", "SIZE",
	 "Memory for contexts (default 256KiB); run and sweep: limit those of a node to what it holds",
	 FAB_TAKES_BYTES, TO(memory), .flag = TO(has_memory)},
	{0},
};

static const struct fab_part parts[] = {
	FAB_PART(fab_cli_input_rows, struct rdma_params, input),
	FAB_PART(fab_cli_faults_rows, struct rdma_params, faults),
	FAB_PART_BUT(fab_cli_tables_rows, struct rdma_params, tables, "path-sl,sl2vl"),
	{options, 0},
	FAB_PART(fab_cli_output_rows, struct rdma_params, output),
	FAB_PART(fab_cli_store_rows, struct rdma_params, store),
	FAB_PART(fab_cli_run_rows, struct rdma_params, run),
	FAB_PART(fab_cli_chance_rows, struct rdma_params, run),
	{0},
};

#define SIMULATED "VERB=run,VERB=sweep,VERB=plan"
static const struct fab_relation relations[] = {
	{"arrivals,as-printed", FAB_GOES_WITH, "VERB=trace"},
	{"scheme,pattern,hosts,size,transfers,op,loss,per-hop,burst,corrupt,drop-control,delay,link-down,route,algorithm,max-vls,buffer,drop,ecn,shared-buffer,private-buffer,rate-control,header,control,default-rate,cable-rate,switch-delay,cable-delay,host-delay,contexts,concurrency,retry,retry-delay,msgid-bits,check-bits,no-handshake,rto,singles,multi,gap-nak,credit,timers,new-first,cap,rto-low,rto-high,few,nacks,reorder,ask,runs,end,fail,fail-link,fail-file,subnet,random,lfts,seed,verify",
	 FAB_GOES_WITH, SIMULATED},
	{"mtu,sender-window", FAB_GOES_WITH, SIMULATED ",VERB=cost"},
	{"memory,bits", FAB_GOES_WITH, SIMULATED ",VERB=cost"},
	{"job", FAB_GOES_WITH, "VERB=run"},
	{"job", FAB_EXCLUDES, "pattern,hosts,memory,shard,histogram-out,store"},
	{"over", FAB_GOES_WITH, "VERB=sweep"},
	{"target", FAB_GOES_WITH, "VERB=plan"},
	{"shard,check,histogram-out,store", FAB_GOES_WITH, "VERB=run,VERB=sweep"},
	{"plot", FAB_GOES_WITH, "VERB=sweep"},
	{"path-sl,sl2vl", FAB_GOES_WITH, "lfts"},
	{"opensm-conf,time-limit", FAB_GOES_WITH, "algorithm"},
	{"of", FAB_GOES_WITH, "random"},
	{"lfts", FAB_EXCLUDES, "random", "tables that were read do not change"},
	{"lfts", FAB_EXCLUDES, "algorithm"},
	{"lfts,algorithm", FAB_EXCLUDES,
	 "route=adaptive,route=spray,route=dor,route=valiant,route=ugal",
	 "these have their own paths, tables go with --route=table"},
	{"default-rate,cable-rate", FAB_APART},
	{"route=valiant,route=ugal", FAB_NEEDS, "buffer"},
	{"route=valiant,route=ugal", FAB_EXCLUDES, "drop=tail,drop=trim",
	 "there packets have no lanes for the way back"},
	{"ecn", FAB_GOES_WITH, "drop=tail,drop=trim"},
	{"private-buffer", FAB_GOES_WITH, "shared-buffer"},
	{"rate-control=dctcp,rate-control=dcqcn", FAB_NEEDS, "ecn"},
	{"per-hop,burst", FAB_GOES_WITH, "loss,over"},
	{0},
};

/* The rest of the parameters of the simulation; times of options are in ns. */
static void set_sim(struct rdma_params *p)
{
	struct fab_rdma_params *s = &p->sim;
	uint64_t *const times[] = {&s->switch_ps,  &s->cable_ps,    &s->host_ps,
				   &s->retry_ps,   &s->ask_ps,	    &s->rto_ps,
				   &s->rto_low_ps, &s->rto_high_ps, &s->reorder_ps,
				   &s->end_ps};

	for (size_t i = 0; i < FAB_COUNT(times); i++)
		*times[i] *= 1000;
	s->window = p->window[0];
	s->rate_gbps = p->cable_mbps > 0     ? p->cable_mbps / 1000
		       : p->default_mbps > 0 ? p->default_mbps / 1000
					     : s->rate_gbps;
	s->all_rates = p->cable_mbps > 0;
	s->buffer = (uint32_t)p->buffer;
	s->buffer_private = (uint32_t)p->private_buffer;
	s->ecn = (uint32_t)p->ecn;
	/* 0 adapts in the library, and switches off in a setting that is given */
	s->gap = p->has_gap && !p->gap ? 1 : p->gap;
	s->cap = p->has_cap && !p->cap ? UINT32_MAX : p->cap;
	s->plus = (!p->has_gap || p->gap ? FAB_RDMA_GAP_NAK : 0u) |
		  (!p->has_credit || s->credit ? FAB_RDMA_WITH_CREDIT : 0u) |
		  (s->timers > 1 ? FAB_RDMA_TIMERS : 0u);
	s->seed = p->run.seed;
	s->with_memory = p->run.verify;
	s->is_over = fab_cli_is_interrupted;
	p->widths.mtu = s->mtu;
	p->widths.buffer = s->sender_window;
}

static int complete(void *params, struct fab_err *err)
{
	struct rdma_params *p = params;

	if (p->verb == RDMA_TRACE && !p->arrivals.number.n)
		return fab_fail(err, EINVAL,
				"trace needs --arrivals=LIST, such as 2,1,0,4,3");
	if (p->verb != RDMA_COST && p->n_windows > 1)
		return fab_fail(
			err, EINVAL, "%s takes one --window%s", verbs[p->verb].name,
			p->verb == RDMA_SWEEP ? ": several are --over=W=32/128" : "");
	if (p->verb == RDMA_SWEEP && !p->axes.of.n)
		return fab_fail(
			err, EINVAL,
			"sweep needs --over=AXIS=VALUES, such as loss=0:5e-3:1e-3");
	if (p->sim.switch_ps + p->sim.cable_ps == 0)
		return fab_fail(
			err, EINVAL,
			"--set switch-delay and --set cable-delay are both 0: a hop must take time");
	if (p->verb == RDMA_PLAN && !p->runs)
		p->runs = 200;
	if (!p->pattern && !p->jobs.n)
		p->pattern = "pair";
	set_sim(p);
	return rdma_read_bits(p, err);
}

/* Of run, the only verb without a task. */
static const struct fab_task *choose(const void *params)
{
	const struct rdma_params *p = params;

	return p->jobs.n ? &rdma_jobs_task : &rdma_results_task;
}

static const struct fab_command command = {
	.name = "fabric-rdma",
	.doc = "Say which reliability scheme of RDMA survives loss and reordering on a fabric, and what it costs: transfers are simulated packet by packet under schemes as published and as they are built today.",
	.parts = parts,
	.relations = relations,
	.verbs = verbs,
	.verb = TO(verb),
	.settings = rdma_settings,
	.complete = complete,
	.choose = choose,
};

int main(int argc, char **argv)
{
	struct rdma_params p = {.run.seed = 1,
				.opensm = FAB_OPENSM,
				.window = {128},
				.n_windows = 1,
				.memory = 256 << 10,
				.bytes = 256 << 10,
				.widths = fab_rdma_widths,
				.sim = fab_rdma_defaults()};
	int status = fab_cli_main(&command, argc, argv, &p);

	free(p.arrivals.number.v);
	free(p.axes.of.v);
	return status;
}
