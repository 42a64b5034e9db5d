/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-rdma: which reliability scheme survives this network, and what it costs. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "fabric_rdma.h"
#include "sim/sim.h"

#define SECOND UINT64_C(1000000000)

static const struct fab_verb verbs[] = {
	[RDMA_RUN] = {"run", "FABRIC", "transfers under each scheme, and which to take"},
	[RDMA_SWEEP] = {"sweep", "FABRIC",
			"the same over ranges of loss, sizes, windows"},
	[RDMA_FIGURE] = {"figure", "4|5|6|7 FABRIC",
			 "a figure of the paper, and what of it holds"},
	[RDMA_PLAN] = {"plan", "FABRIC",
		       "least window and timeout for a share of the ideal"},
	[RDMA_COST] = {"cost", "", "bits of a context, and how many a memory holds"},
	[RDMA_TRACE] = {"trace", "", "what a window holds after each arrival"},
	{0},
};

#define TO(member) FAB_TO(struct rdma_params, member)
static const struct fab_option options[] = {
	{.help = "What is transferred, and how:"},
	{"scheme", "LIST",
	 "Schemes, separated by commas, or all (default): @RDMA_SCHEMES@",
	 FAB_TAKES_CHOSEN, TO(schemes), .flag = TO(has_schemes),
	 .choices = &fab_rdma_scheme_choices, .max = RDMA_MAX_SCHEMES, .preset = "all"},
	{"pattern", "SPEC", "Who transfers to whom (default pair): @RDMA_PATTERNS@",
	 FAB_TAKES_OTHER, .flag = TO(has_pattern), .take = rdma_take_pattern},
	{"size", "SIZE", "Bytes of a transfer, 32K is 32KiB (default 256KiB)",
	 FAB_TAKES_OTHER, .flag = TO(has_bytes), .take = rdma_take_size},
	{"transfers", "N", "So many from each to each of the pattern (default 1)",
	 FAB_TAKES_NUMBER, TO(repeats), .min = 1, .max = 1000000, .preset = "1"},
	{"op", "KIND", "write (default), or read: asked for by who gets the data",
	 FAB_TAKES_ONE, TO(op), .choices = FAB_NAME_LIST("write", "read")},
	{"mtu", "BYTES", "Payload of a packet, 256 to 4096 (default 2048)",
	 FAB_TAKES_NUMBER, TO(mtu), .flag = TO(has_mtu), .min = 256, .max = 4096,
	 .preset = "2048"},
	{"window", "W",
	 "Width of the receiver's window, 1 to 4096 (default 128); cost: several, as "
	 "32,128",
	 FAB_TAKES_OTHER, .flag = TO(has_window), .take = rdma_take_windows},
	{"sender-window", "N",
	 "Packets of ssw in flight, and in its buffer (default 64, or what a round trip "
	 "carries where that is more)",
	 FAB_TAKES_NUMBER, TO(sender_window), .flag = TO(has_sender_window), .min = 1,
	 .max = RDMA_MAX_SENDER_WINDOW, .preset = "64"},

	{.help = "What the network does to packets:"},
	{"loss", "SHARE", "Data packets that are lost, 0 to 1 (default 0)",
	 FAB_TAKES_REAL, TO(sim.bad.loss), .flag = TO(has_loss), .high = 1},
	{"per-hop", NULL, "--loss is of each cable, not of each path", FAB_TAKES_NOTHING,
	 TO(sim.bad.per_hop)},
	{"burst", "N", "Losses come in rows of N on the mean (Gilbert; default 1)",
	 FAB_TAKES_REAL, TO(sim.bad.burst), .low = 1, .high = 1e6},
	{"drop-control", "SHARE", "Control packets that are lost, 0 to 1 (default 0)",
	 FAB_TAKES_REAL, TO(sim.bad.drop_control), .high = 1},
	{"delay", "SHARE:KIND:TIME",
	 "Data packets that are held up: 0.1:U:2.7us uniformly up to TIME, E "
	 "exponentially, F for TIME",
	 FAB_TAKES_OTHER, .flag = TO(has_delay), .take = rdma_take_delay},
	{"link-down", "FROM-UNTIL",
	 "Cables between switches are down so long, as 10us-50us; LINK@FROM-UNTIL: one "
	 "of them; may be given several times",
	 FAB_TAKES_TEXT, TO(link_down), .check = rdma_check_link_down, .is_many = true},

	{.help = "The network:"},
	{"route", "KIND",
	 "How packets find their path: @RDMA_ROUTES@ (default: dor on a torus, mesh or "
	 "hyperx, table elsewhere)",
	 FAB_TAKES_ONE, TO(route), .flag = TO(has_route),
	 .choices = &fab_rdma_route_choices},
	{"algorithm", "NAME",
	 "With --route=table: what makes the tables (default: vtftr-ib on a kfat, minhop "
	 "elsewhere): @UNICAST@",
	 FAB_TAKES_CHOSEN, TO(algorithms), .flag = TO(has_algorithm),
	 .choices = &fab_unicast_choices, .max = 1},
	{"max-vls", "N", "Virtual lanes that --algorithm may use, 1 to 15 (default 8)",
	 FAB_TAKES_NUMBER, TO(max_vls), .min = 1, .max = 15, .preset = "8"},
	{"buffer", "SIZE", "Input buffer of each lane of a port, or infinite (default)",
	 FAB_TAKES_OTHER, .take = rdma_take_buffer},
	{"header", "BYTES", "Size of the headers of a data packet (default 26)",
	 FAB_TAKES_NUMBER, TO(sim.header), .max = 4096, .preset = "26"},
	{"control", "BYTES", "Size of a control packet (default 30)", FAB_TAKES_NUMBER,
	 TO(sim.control), .min = 1, .max = 4096, .preset = "30"},
	{"default-rate", "RATE",
	 "Data rate of cables whose speed is not known (default 100G)", FAB_TAKES_MBPS,
	 TO(default_mbps), .low = 1000 * FAB_SIM_GBPS_MIN,
	 .high = 1000 * FAB_SIM_GBPS_MAX},
	{"cable-rate", "RATE", "Data rate of all cables, whatever theirs is",
	 FAB_TAKES_MBPS, TO(cable_mbps), .low = 1000 * FAB_SIM_GBPS_MIN,
	 .high = 1000 * FAB_SIM_GBPS_MAX},
	{"switch-delay", "TIME",
	 "Delay of a switch, from head in to head out (default 100ns)", FAB_TAKES_NS,
	 TO(times.switch_delay), .max = SECOND, .preset = "100ns"},
	{"cable-delay", "TIME", "Delay of a cable (default 10ns)", FAB_TAKES_NS,
	 TO(times.cable_delay), .max = SECOND, .preset = "10ns"},
	{"host-delay", "TIME", "Delay of both adapters of a path together (default 0)",
	 FAB_TAKES_NS, TO(times.host_delay), .max = SECOND},

	{.help = "Contexts and refusals:"},
	{"contexts", "N", "Transfers that an endpoint can receive at once (default 4096)",
	 FAB_TAKES_NUMBER, TO(sim.contexts), .min = 1, .max = FAB_RDMA_CONTEXTS_MAX,
	 .preset = "4096"},
	{"ctx", .takes = FAB_TAKES_ALIAS},
	{"concurrency", "N", "Transfers that an endpoint has at once (default: all)",
	 FAB_TAKES_NUMBER, TO(sim.concurrency), .min = 1, .max = UINT32_MAX},
	{"retry", "POLICY",
	 "How a refused request comes again: delay (default), backoff (by chance, longer "
	 "each time) or queue (the receiver notes it)",
	 FAB_TAKES_ONE, TO(retry), .choices = &fab_rdma_retry_choices},
	{"retry-delay", "TIME",
	 "A refused request comes again after that time (default 10us)", FAB_TAKES_NS,
	 TO(times.retry), .min = 1, .max = SECOND, .preset = "10us"},
	{"msgid-bits", "N", "Width of the number of a message, 1 to 32 (default 20)",
	 FAB_TAKES_NUMBER, TO(sim.msgid_bits), .min = 1, .max = 32, .preset = "20"},
	{"no-handshake", NULL, "Contexts are there at the start", FAB_TAKES_NOTHING,
	 TO(sim.no_handshake)},

	{.help = "Timers and what schemes may do:"},
	{"rto", "TIME",
	 "Retransmission timer (default 20us, more where packets wait longer for each "
	 "other)",
	 FAB_TAKES_NS, TO(times.rto), .flag = TO(has_rto), .min = 1, .max = 10 * SECOND,
	 .like = "20us", .preset = "20us"},
	{"singles", "N",
	 "rsw: RESENDs of one packet in a row before one of all (default 3)",
	 FAB_TAKES_NUMBER, TO(sim.singles), .max = 1000000, .preset = "3"},
	{"gap-nak", "G",
	 "rsw+: ask for WBASE when an arrival is more than G ahead; 0: never; auto "
	 "(default): 8, and more where that turns out to be too soon",
	 FAB_TAKES_OTHER, .take = rdma_take_gap_nak},
	{"credit", "N",
	 "rsw+: the receiver tells WBASE every N packets, the sender stays within the "
	 "window; 0: no (default: a quarter of the window, and only once a packet was "
	 "dropped beyond it)",
	 FAB_TAKES_OTHER, .take = rdma_take_credit},
	{"timers", "N", "rsw+: timers of a context, of the lowest gaps (default 4)",
	 FAB_TAKES_NUMBER, TO(timers), .min = 1, .max = FAB_RDMA_TIMERS_MAX,
	 .preset = "4"},
	{"new-first", NULL, "New data before what is sent again", FAB_TAKES_NOTHING,
	 TO(sim.new_first)},
	{"cap", "N",
	 "irn, sack-ro: packets in flight: bdp (default: bandwidth-delay product), a "
	 "number or none",
	 FAB_TAKES_OTHER, .take = rdma_take_cap},
	{"rto-low", "TIME",
	 "irn: retransmission timer with fewer than --few packets in flight (default "
	 "100us)",
	 FAB_TAKES_NS, TO(times.rto_low), .min = 1, .max = 10 * SECOND, .like = "100us",
	 .preset = "100us"},
	{"rto-high", "TIME",
	 "irn: retransmission timer with --few packets in flight or more (default 320us)",
	 FAB_TAKES_NS, TO(times.rto_high), .min = 1, .max = 10 * SECOND, .like = "320us",
	 .preset = "320us"},
	{"few", "N", "irn: packets in flight from which on --rto-high holds (default 3)",
	 FAB_TAKES_NUMBER, TO(sim.few), .max = 1000000, .preset = "3"},
	{"nacks", "N",
	 "irn: acknowledgements out of order that begin a recovery; 1: IRN as published; "
	 "auto (default): 1, and more where that turns out to be too soon",
	 FAB_TAKES_OTHER, .take = rdma_take_nacks},
	{"reorder", "TIME",
	 "sack-ro: a packet so much later than one sent behind it is lost (default: a "
	 "quarter of the round trip, and more where that turns out to be too soon)",
	 FAB_TAKES_NS, TO(times.reorder), .min = 1, .max = 10 * SECOND, .like = "5us"},
	{"ask", "TIME",
	 "A sender that has heard nothing so long asks again, with --drop-control and "
	 "--link-down (default: four times --rto)",
	 FAB_TAKES_NS, TO(times.ask), .min = 1, .max = 10 * SECOND, .like = "100us"},

	{.help = "How often, and what is asked:"},
	{"runs", "N",
	 "Runs per scheme, with the same seeds for all (default: as many as decide "
	 "between the schemes, within bounds; figure: 50; plan: up to 200)",
	 FAB_TAKES_NUMBER, TO(runs), .flag = TO(has_runs), .min = 1,
	 .max = RDMA_MAX_RUNS},
	{"over", "LIST",
	 "sweep: axes between commas, as loss=0:5e-3:1e-3,size=32K..256K,W=16/64; of "
	 "loss, drop-control, delayed, delay, size, mtu, W, sender-window, rto, contexts",
	 FAB_TAKES_OTHER, .take = rdma_take_over},
	{"target", "SHARE", "plan: of what the oracle does (default 0.95)",
	 FAB_TAKES_REAL, TO(target), .low = 0.01, .high = 1, .preset = "0.95"},
	{"end", "TIME",
	 "Transfers that are not done then have failed (default: 50 times as long as the "
	 "oracle takes, 50ms at least)",
	 FAB_TAKES_NS, TO(times.end), .min = 1, .max = 281 * SECOND, .like = "1s"},
	{"shard", "K/N",
	 "Only every N-th point, from the K-th on; fabric-compare --merge puts N such "
	 "results together",
	 FAB_TAKES_SHARD, TO(shard)},
	{"check", NULL,
	 "Exit with status 1 when a transfer hangs, is wrong or has no path",
	 FAB_TAKES_NOTHING, TO(check)},
	{"histogram-out", "FILE",
	 "Write how far packets came out of order to FILE as JSON lines (- is standard "
	 "output)",
	 FAB_TAKES_OUTPUT, TO(histogram_out)},
	{"plot", "FILE",
	 "Draw completion times over the first axis into FILE.svg or FILE.png (needs "
	 "gnuplot)",
	 FAB_TAKES_PLOT, TO(plot)},

	{.help = "A window (trace), contexts (cost):"},
	{"arrivals", "LIST",
	 "trace: packets in the order of their arrival, such as 2,1,0,4,3 or 0-9",
	 FAB_TAKES_OTHER, .take = rdma_take_arrivals},
	{"as-printed", NULL, "trace: slide by the rule as the paper prints it",
	 FAB_TAKES_NOTHING, TO(as_printed)},
	{"memory", "SIZE", "For contexts (default 256KiB)", FAB_TAKES_BYTES, TO(memory)},
	{"bits", "LIST",
	 "Widths of fields: node=16,context=12,msgid=20,number=12,timer=16,epoch=8 are "
	 "the defaults",
	 FAB_TAKES_OTHER, .take = rdma_take_bits},
	{0},
};

static const struct fab_part parts[] = {
	FAB_PART(fab_cli_input_rows, struct rdma_params, input),
	FAB_PART(fab_cli_faults_rows, struct rdma_params, faults),
	FAB_PART(fab_cli_tables_rows, struct rdma_params, tables),
	{options, 0},
	FAB_PART(fab_cli_output_rows, struct rdma_params, output),
	FAB_PART(fab_cli_store_rows, struct rdma_params, store),
	FAB_PART(fab_cli_run_rows, struct rdma_params, run),
	FAB_PART(fab_cli_chance_rows, struct rdma_params, run),
	{0},
};

#define SIMULATED "VERB=run,VERB=sweep,VERB=figure,VERB=plan"
static const struct fab_relation relations[] = {
	{"arrivals,as-printed", FAB_GOES_WITH, "VERB=trace"},
	{"scheme,pattern,size,transfers,op,loss,per-hop,burst,drop-control,delay,"
	 "link-down,route,algorithm,max-vls,buffer,header,control,default-rate,cable-"
	 "rate,"
	 "switch-delay,cable-delay,host-delay,contexts,concurrency,retry,retry-delay,"
	 "msgid-bits,no-handshake,rto,singles,gap-nak,credit,timers,new-first,cap,rto-"
	 "low,"
	 "rto-high,few,nacks,reorder,ask,runs,end,fail,fail-link,fail-file,random,lfts,"
	 "seed,"
	 "verify",
	 FAB_GOES_WITH, SIMULATED},
	{"mtu,sender-window", FAB_GOES_WITH, SIMULATED ",VERB=cost"},
	{"memory,bits", FAB_GOES_WITH, SIMULATED ",VERB=cost"},
	{"over", FAB_GOES_WITH, "VERB=sweep,VERB=figure"},
	{"target", FAB_GOES_WITH, "VERB=plan"},
	{"shard,check,histogram-out,store", FAB_GOES_WITH,
	 "VERB=run,VERB=sweep,VERB=figure"},
	{"plot", FAB_GOES_WITH, "VERB=sweep,VERB=figure"},
	{"path-sl,sl2vl", FAB_GOES_WITH, "lfts"},
	{"of", FAB_GOES_WITH, "random"},
	{"lfts", FAB_EXCLUDES, "random", "tables that were read do not change"},
	{"lfts", FAB_EXCLUDES, "algorithm"},
	{"lfts,algorithm", FAB_EXCLUDES, "route=adaptive,route=spray,route=dor",
	 "these have their own paths, tables go with --route=table"},
	{"default-rate,cable-rate", FAB_APART},
	{"per-hop,burst", FAB_GOES_WITH, "loss,over"},
	{0},
};

static void free_lists(struct rdma_params *p)
{
	free(p->arrivals.number.v);
	free(p->axes.v);
}

/* The figure before the FABRIC. */
static int argument(void *params, const char *arg, struct fab_err *err)
{
	struct rdma_params *p = params;

	if (p->verb != RDMA_FIGURE || p->figure)
		return fab_cli_take_fabric(&p->input, arg, err);
	if (arg[0] < '4' || arg[0] > '7' || arg[1])
		return fab_fail(err, EINVAL,
				"'%s' is no figure of the paper: expected 4, 5, 6 or 7",
				arg);
	p->figure = (uint32_t)(arg[0] - '0');
	return 0;
}

/* Options in the units of the simulation. */
static void set_sim(struct rdma_params *p)
{
	struct fab_rdma_params *s = &p->sim;
	const struct rdma_times *t = &p->times;

	s->mtu = p->mtu;
	s->window = p->window[0];
	s->sender_window = p->sender_window;
	s->rate_gbps = p->cable_mbps > 0     ? p->cable_mbps / 1000
		       : p->default_mbps > 0 ? p->default_mbps / 1000
					     : s->rate_gbps;
	s->all_rates = p->cable_mbps > 0;
	s->switch_ps = t->switch_delay * 1000;
	s->cable_ps = t->cable_delay * 1000;
	s->host_ps = t->host_delay * 1000;
	s->buffer = (uint32_t)p->buffer;
	s->retry = (enum fab_rdma_retry)p->retry;
	s->retry_ps = t->retry * 1000;
	s->ask_ps = t->ask * 1000;
	s->rto_ps = t->rto * 1000;
	s->rto_low_ps = t->rto_low * 1000;
	s->rto_high_ps = t->rto_high * 1000;
	s->reorder_ps = t->reorder * 1000;
	s->end_ps = t->end * 1000;
	s->gap = p->gap == RDMA_GAP_ADAPTS ? 0 : p->gap ? p->gap : 1;
	s->credit = p->credit == UINT64_MAX ? 0 : (uint32_t)p->credit;
	s->timers = p->timers;
	s->plus = (p->gap ? FAB_RDMA_GAP_NAK : 0u) |
		  (p->credit ? FAB_RDMA_WITH_CREDIT : 0u) |
		  (p->timers > 1 ? FAB_RDMA_TIMERS : 0u);
	s->seed = p->run.seed;
	s->with_memory = p->run.verify;
	s->is_over = fab_cli_is_interrupted;
	p->widths.mtu = p->mtu;
	p->widths.buffer = p->sender_window;
}

/* What no single option can refuse. */
static int check_network(const struct rdma_params *p, struct fab_err *err)
{
	if (p->times.switch_delay + p->times.cable_delay == 0)
		return fab_fail(err, EINVAL,
				"--switch-delay and --cable-delay are both 0: a hop must "
				"take time");
	return 0;
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
	if (p->verb == RDMA_FIGURE && !p->figure)
		return fab_fail(err, EINVAL, "the figure is missing: 4, 5, 6 or 7");
	if (p->verb == RDMA_SWEEP && !p->axes.n)
		return fab_fail(err, EINVAL,
				"sweep needs --over=AXIS=VALUES, such as "
				"loss=0:5e-3:1e-3");
	if (p->figure)
		rdma_set_figure(p);
	if (p->verb == RDMA_PLAN && !p->has_runs)
		p->runs = 200;
	if (!p->pattern)
		p->pattern = "pair";
	set_sim(p);
	return check_network(p, err);
}

static struct fab_cli_columns columns(const void *params)
{
	switch (((const struct rdma_params *)params)->verb) {
	case RDMA_COST:
		return (struct fab_cli_columns){rdma_cost_columns, rdma_n_cost_columns};
	case RDMA_TRACE:
		return (struct fab_cli_columns){rdma_trace_columns, rdma_n_trace_columns};
	case RDMA_PLAN:
		return (struct fab_cli_columns){rdma_plan_columns, rdma_n_plan_columns};
	default:
		return (struct fab_cli_columns){rdma_columns, rdma_n_columns};
	}
}

/* The verbs that need no fabric. */
static int print(const struct rdma_params *p, struct fab_err *err)
{
	struct fab_cli_results results = {.n = 0};
	struct fab_report_options report;
	FILE *out = fab_cli_open_report(&results, &p->output, &report);
	int status = p->verb == RDMA_COST ? rdma_cost(p, out, &report, err)
					  : rdma_trace(p, out, &report, err);
	int rc;

	if (status < 0)
		return status;
	rc = fab_cli_commit_results(&results, err);
	return rc ? rc : status;
}

static int run(void *params, const struct fab_fabric *f, struct fab_err *err)
{
	struct rdma_params *p = params;

	if (!f)
		return print(p, err);
	return p->verb == RDMA_PLAN ? rdma_plan(p, f, err) : rdma_run(p, f, err);
}

static const struct fab_command command = {
	.name = "fabric-rdma",
	.doc = "Say which reliability scheme of RDMA survives loss and reordering on a "
	       "fabric, and what it costs: transfers are simulated packet by packet "
	       "under "
	       "schemes as published and as they are built today.",
	.parts = parts,
	.relations = relations,
	.verbs = verbs,
	.verb = TO(verb),
	.argument = argument,
	.columns = columns,
	.complete = complete,
	.run = run,
};

int main(int argc, char **argv)
{
	struct rdma_params p = {.run.seed = 1,
				.window = {128},
				.n_windows = 1,
				.memory = 256 << 10,
				.bytes = 256 << 10,
				.gap = RDMA_GAP_ADAPTS,
				.credit = UINT64_MAX,
				.widths = fab_rdma_widths,
				.sim = fab_rdma_defaults()};
	int status = fab_cli_main(&command, argc, argv, &p);

	free_lists(&p);
	return status;
}
