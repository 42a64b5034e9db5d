/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Simulation of packets under tables and trees: switches, buffers, lanes and credits,
 * driven by events.
 *
 * Model. Whole packets, virtual cut-through. A message is cut into packets of at most the
 * MTU, each with headers. The head of a packet that starts on a cable at time s is at the
 * other end at s + cable delay, and may leave that switch at s + cable delay + switch
 * delay, if the output is free and the next buffer has room for the whole packet; where
 * the cable out is faster than the cable in, later by the difference of the two wire
 * times. A packet takes a cable for its wire time: bytes / data rate of the cable. It
 * frees the buffer when its tail has left (of multicast: the last copy), which the sender
 * of the buffer learns a cable delay later. It is delivered when its tail is at the
 * endpoint, and a host delay has passed. Endpoints accept all packets.
 *
 * All that happens at one time happens together: first heads arrive, outputs, inputs and
 * credits get free, messages are created; then each switch chooses. It goes through its
 * outputs that can start a packet, ascending, from the one behind the first output that
 * started one at the time before (of those at which any did), around. An output goes
 * through its lanes from the one behind the last that it served, around; in a lane
 * through the queues that have a packet for it, by input, from the one behind the last
 * that it served, around, and takes the first one whose input is free and whose first
 * packet has credit: a small packet passes a large one that has none. So equal inputs
 * give equal bytes, whatever the threads.
 *
 * An oq switch has a queue for each input, output and lane, and an input is always free:
 * the upper bound. voq: the same queues, but an input reads one packet at a time
 * (copies of one multicast packet together). fifo: one queue for each input and its lane,
 * of which the first packet alone can leave.
 */
#pragma once

#include "base/choice.h"
#include "base/progress.h"
#include "event/stats.h"
#include "mcast/groups.h"
#include "mcast/route.h"
#include "mcast/tables.h"
#include "sim/failure.h"
#include "traffic/ends.h"
#include "traffic/messages.h"
#include "unicast/routes.h"

/* Data rates of cables that are simulated, Gbit/s. */
#define FAB_SIM_GBPS_MIN 0.125
#define FAB_SIM_GBPS_MAX 1e5

enum {
	FAB_SIM_LANES_MAX = 15, /* data lanes: VL 0 .. 14 */
	/* A packet with more hops is dropped, for its tables loop; an adaptive one: it
	 * may take as many, and then a path of tables to the middle of a detour and
	 * another. */
	FAB_SIM_HOPS_MAX = 64,
	FAB_SIM_ADAPTIVE_HOPS_MAX = 3 * FAB_SIM_HOPS_MAX,
	FAB_SIM_CREDIT_BYTES = 64, /* buffers are counted in these */
	FAB_SIM_PORTS_MAX = 1 << 28,
	FAB_SIM_PACKET_MAX = 65535, /* bytes with headers, or flits */
};

/* A kind of switch: a row of the table. */
struct fab_sim_switch {
	const char *name;
	const char *summary;
	const char *manual; /* as struct fab_choice has it */
	bool one_read;	    /* an input reads one packet at a time */
	bool is_fifo;	    /* one queue for each input and lane */
};

extern const struct fab_sim_switch fab_sim_switches[]; /* oq, voq, fifo */
extern const struct fab_choices fab_sim_switch_choices;

/* How packets of adaptive routing choose (sim/adaptive.c): least, random, two, robin. */
extern const struct fab_choices fab_sim_chooser_choices;

/* Detours of adaptive packets (sim/adaptive.c): over a random switch with endpoints. */
enum fab_sim_detour {
	FAB_SIM_MINIMAL,
	FAB_SIM_VALIANT, /* all packets */
	FAB_SIM_UGAL,	 /* where the queues on the shortest way are longer */
};

/* How packets find their path: rows of fab_sim_route_choices. */
enum fab_sim_routing {
	FAB_SIM_BY_TABLE, /* the tables of the problem */
	FAB_SIM_BY_DOR,	  /* the same, which algorithm dor has made */
	FAB_SIM_BY_QUEUE, /* adaptive: the best output on a shortest path */
	FAB_SIM_SPRAY,	  /* a random output on a shortest path */
	FAB_SIM_BY_VALIANT,
	FAB_SIM_BY_UGAL,
};
extern const struct fab_choices fab_sim_route_choices;

/* Fabric, endpoints, tables and trees. All is borrowed. */
struct fab_sim_problem {
	const struct fab_fabric *f;
	const struct fab_faults *faults;  /* NULL: nothing is dead */
	const struct fab_flow_ends *ends; /* endpoints; live */
	const struct fab_routes *routes;  /* NULL: multicast only */
	/* Groups: trees, or tables (mlid: by group); all NULL: none. A tree of the forest
	 * reaches the members on its switches; copies are not made for members that are
	 * no endpoints, or dead. */
	const struct fab_groups *groups;
	/* Groups of the trees: group g has tree g % tree_groups->n. NULL: groups. */
	const struct fab_groups *tree_groups;
	const struct fab_forest *forest;
	const struct fab_mft *mft;
	const uint16_t *mlid;
	/* NULL: nothing dies. Unicast by tables, no fifo switches and no drops. */
	const struct fab_sim_failure *failure;
};

/* Rule for packets that arrive at a full buffer. */
enum fab_sim_drop {
	FAB_SIM_LOSSLESS, /* nothing is sent to it: input buffers, lanes and credits */
	FAB_SIM_TAIL,	  /* what arrives is lost: buffers at outputs */
	FAB_SIM_TRIM,	  /* its payload is: the header goes on before all payload */
};
extern const struct fab_choices fab_sim_drop_choices; /* none, tail, trim */

struct fab_sim_params {
	bool by_flit; /* ticks are flit times, sizes flits, buffers packets; else
			 picoseconds, bytes */
	const struct fab_sim_switch *kind;
	unsigned n_vls; /* lanes of each cable; 0: as many as the tables have */
	/* Row of fab_sim_chooser_choices, from 1: adaptive routing, on lanes of its own
	 * next to those of the tables: one, with detours two; unicast, no fifo switches,
	 * no trace. 0: by the tables. */
	uint32_t chooser;
	enum fab_sim_detour detour;
	uint64_t seed;	    /* of its choices */
	bool spread_vls;    /* each pair takes a random lane: tables with one lane */
	uint32_t buffer;    /* of an input port, divided evenly among the lanes */
	bool buffer_per_vl; /* of each lane */
	/* A part of `buffer` is shared: with credits by the lanes of the port, with drops
	 * `buffer` is that of a switch, and its outputs share. buffer_private of it
	 * belongs to each lane (output) alone. Where that is 0 lanes can wait for each
	 * other, so that tables free of deadlock stall nevertheless. */
	bool buffer_shared;
	uint32_t buffer_private;
	/*
	 * Drops (sim/drops.c): switches have no lanes and no credits, but a queue at each
	 * output, first come, first served, of `buffer` bytes; headers of trimmed packets
	 * have another one of that size, which goes first.
	 */
	enum fab_sim_drop drop;
	uint32_t ecn; /* bytes in a queue above which packets are marked; 0: none */
	uint32_t mtu; /* most payload of a packet */
	uint32_t header, group_header; /* bytes (flits) with each packet, of multicast */
	double rate_gbps;	       /* data rate of cables of unknown rate */
	bool all_rates;		       /* of all cables: theirs do not count */
	uint64_t switch_delay, cable_delay, host_delay; /* ticks; switch + cable > 0 */
	unsigned speedup; /* of reads from input buffers; 0: 1 */

	/* Ticks that are not measured at first; UINT64_MAX: until the throughput of ten
	 * windows agrees within 1 %, and latency is level (sim/saturation.c), at most 640
	 * * the latency of an idle network, or twice the time. */
	uint64_t warmup;
	/* Ticks that are measured; 0: until all messages of a finite source have arrived.
	 */
	uint64_t time;
	/* Most ticks after that until the packets created in that time have arrived;
	 * UINT64_MAX: as the time. */
	uint64_t drain;
	uint64_t stall; /* ticks without a move that end it; 0: 100 latencies */

	int n_threads; /* 0: as many as OpenMP gives; parts of the fabric */
	bool by_heap;  /* the queue of events is a heap: slower, for tests */
	/* Packets whose hops are kept: the first ones of those that are created
	 * in the measured time and sent. */
	uint32_t n_traced;
	bool with_deliveries; /* keep each delivery and each hop, for tests */
	/* Now and then, in the thread that called: ticks done of the most there can be;
	 * non-zero: stop, with what is there. NULL: none. */
	fab_progress_fn progress;
	void *progress_context;
};

/* The chooser and the detours of a routing; `chooser`: row of fab_sim_chooser_choices for
 * those that look at queues. O(1). */
void fab_sim_set_routing(struct fab_sim_params *params, enum fab_sim_routing routing,
			 uint32_t chooser);
/* Defaults: picoseconds, voq, 32 KiB a port, MTU 2048, 26 and 66 bytes of headers, 100
 * ns a switch, 10 ns a cable, 0 a host, 100 Gbit/s. O(1). */
struct fab_sim_params fab_sim_defaults(void);
/* Defaults by flit: 8 packets a port, no headers, 1 tick a cable. O(1). */
struct fab_sim_params fab_sim_defaults_by_flit(void);

/* A direction of a cable: of a switch's port to its peer, or of an endpoint to
 * its switch. */
struct fab_sim_cable {
	uint32_t port;		 /* that sends: id of the fabric */
	uint64_t packets, bytes; /* that started in the measured time; flits */
	double utilisation;	 /* share of the measured time that it was busy */
	bool is_credit_limited;	 /* a lane's buffer is less than rate * round trip */
};

/* A lane of it. */
struct fab_sim_lane {
	uint64_t packets;
	double mean_queue; /* packets that waited for it, in the measured time */
	double no_credit;  /* share of the measured time that a packet waited, and the
			      output was free, for lack of credit */
};

/* A channel that a stall holds: packets in the buffer behind it cannot leave. */
struct fab_sim_channel {
	uint32_t port; /* that sends into the buffer: id of the fabric */
	uint8_t vl;
	uint32_t packets; /* in the buffer */
	/* The first of them: where from, where to; endpoints. to_group: group. */
	uint32_t source, target;
	bool to_group;
};

struct fab_sim_step {
	uint64_t birth, arrived, left; /* head in, head out of the port */
	uint32_t packet;	       /* number of the packet, from 1 on */
	uint32_t source, target;       /* endpoints, or target a group */
	uint32_t port;		       /* that sends: id of the fabric */
	uint16_t hop;		       /* 0: the endpoint's own cable */
	uint8_t vl;
	bool to_group;
};

/* A packet at its target; with_deliveries. By time, target, source. */
struct fab_sim_delivery {
	uint64_t birth, delivered;
	uint32_t source, target, group; /* endpoints; group FAB_NONE: none */
	uint32_t wire;			/* bytes (flits) with headers */
};

struct fab_sim_group {
	uint64_t messages; /* created in the measured time, arrived at all members */
	double latency_mean;
	uint64_t latency_max;
};

/*
 * Backlogs of flows in the measured time: of a source the packets that it created and did
 * not send (of multicast: that did not arrive everywhere), of a receiver those that were
 * created for it and not delivered. A flow is saturated when its backlog grows by more
 * than 1 % of what was created, in both halves of the time, and by more than random
 * arrivals change that of any flow with probability 0.01.
 */
struct fab_sim_growth {
	uint32_t n_sources, n_targets; /* saturated for certain */
	uint32_t n_undecided;	       /* flows that may be */
	uint32_t worst;	      /* endpoint of the fastest growth; FAB_NONE: none */
	bool worst_is_target; /* as receiver, else as source */
	double worst_share;   /* its growth, of what was created */
	double share;	      /* growth of all together, of what was created */
	double least_carried; /* of what was created of a saturated flow: the least share
				 that was sent, or delivered */
	double packets;	      /* created in the measured time */
};

struct fab_sim_result {
	uint64_t warmup, time,
		end; /* ticks: measured from warmup to warmup + time, ended */
	uint32_t n_ends;
	/*
	 * Packets of the whole run: created = lost + injected + waiting; injected
	 * + copied = delivered + in flight + unroutable + looped + dropped +
	 * recovery.lost_dead + recovery.lost_down. A packet that a switch copies n times
	 * becomes n (copied: n - 1 more). Packets are created with their message, if that
	 * is before warmup + time, or when it is sent.
	 */
	uint64_t born, waiting, injected, copied, delivered, in_flight;
	uint64_t lost;	     /* without a path, at their source */
	uint64_t unroutable; /* dropped at a switch that has no path for them */
	uint64_t looped;  /* dropped after FAB_SIM_HOPS_MAX hops, or that of adaptive ones
			   */
	uint64_t dropped; /* no room in a buffer (params.drop) */
	uint64_t trimmed, marked; /* packets; of those that go on */
	uint64_t unknown_sl;	  /* messages without a service level in any file: 0 */
	uint64_t packet_hops, events;
	/* Of the measured time, as shares of what the endpoints' cables carry (with
	 * headers): of messages by the time of their creation, of packets by that at
	 * which they were sent, and at which they were delivered. Payload alone: goodput.
	 * Of multicast a copy that arrives counts for its member. */
	double offered, sent, accepted, goodput;
	uint64_t accepted_bytes, goodput_bytes; /* flits by flit */
	uint64_t backlog;  /* packets created and not sent: growth in the measured time */
	bool is_saturated; /* the backlog of a flow grows: see growth */
	bool is_undecided; /* it may: the measured time is too short */
	struct fab_sim_growth growth;
	bool is_stalled;    /* nothing moved for the time given */
	bool is_deadlocked; /* some packets can never move again: cycle says which */
	bool is_stopped;    /* by progress */
	bool is_cut; /* packets created in the measured time had not arrived at the end */
	bool is_steady; /* throughput and latency were level, or the warm-up was given */
	/* Ticks from creation to delivery of packets created in the measured time (each
	 * copy), exact sums; of the same of whole messages (of groups: the last copy). */
	struct fab_histogram latency, message_latency;
	double latency_mean, network_mean, source_wait_mean, message_latency_mean;
	double hops_mean; /* cables of packets delivered */
	uint32_t hops_max;
	struct fab_sim_group *group; /* [n_groups]; NULL: no groups */
	uint32_t n_groups;
	/* Directions of cables: switches' ports by switch and port number, then those of
	 * endpoints. */
	uint32_t n_cables;
	struct fab_sim_cable *cable;
	unsigned n_vls;
	struct fab_sim_lane *lane; /* [n_cables * n_vls] */
	uint32_t fullest;	 /* cable of most utilisation; FAB_NONE: nothing moved */
	uint32_t n_at_most;	 /* that are as full within 1 % */
	double utilisation_mean; /* of those that sent anything */
	/* A deadlock: each waits for the next, the last for the first. */
	FAB_VEC(struct fab_sim_channel) cycle;
	uint64_t stuck_packets, stuck_channels;
	FAB_VEC(struct fab_sim_step) trace; /* by packet: creation, source, start */
	FAB_VEC(struct fab_sim_delivery) deliveries;
	uint64_t credit_limited; /* lanes whose buffer is less than rate * round trip */
	struct fab_sim_recovery recovery; /* problem.failure */
	double simulate_seconds;	  /* CPU-independent clock; not for equal bytes */
};

enum fab_sim_cause_kind { FAB_SIM_LOAD, FAB_SIM_CONTENTION, FAB_SIM_CREDITS };
extern const char *const fab_sim_cause_names[]; /* "load" ... */

/* Why a network carries no more. */
struct fab_sim_cause {
	/* contention: a cable is never idle, or packets wait for the input of a switch;
	 * credits: most waiting time is for missing credit, and no cable is full; load */
	enum fab_sim_cause_kind kind;
	uint32_t cable;	    /* the fullest one of the result; FAB_NONE: nothing moved, and
			       shares and times of waiting are NaN */
	double utilisation; /* of that */
	bool is_full;	    /* it is busy 90 % of the time or more */
	double no_credit;   /* share of the time that packets waited there for credit,
			       most of its lanes */
	double mean_queue;  /* packets that waited there, all lanes */
	uint32_t waits_at;  /* where packets waited longest (of credits: for credit);
			       FAB_NONE: none waited */
	double waits_no_credit; /* no_credit there */
	bool is_credit;		/* at least half of all waiting time is for credit */
	double waiting, waiting_for_credit; /* packets, the mean of the measured time */
};
/* From utilisation, waiting times and times without credit of all cables. O(cables *
 * lanes). */
struct fab_sim_cause fab_sim_cause(const struct fab_sim_result *r);

/* Frees its arrays; zeroed is allowed. O(size). */
void fab_sim_result_fini(struct fab_sim_result *result);

/*
 * Are these possible at all? EINVAL with one sentence: no endpoint, packets larger than
 * a lane's buffer, a buffer below one MTU, more lanes than 15 or fewer than the tables
 * have, private parts that are more than the buffer, delays of 0. Without looking at
 * traffic. O(switches + endpoints).
 */
int fab_sim_check(const struct fab_sim_problem *problem,
		  const struct fab_sim_params *params,
		  struct fab_err *err) FAB_MUST_CHECK;

/*
 * Can adaptive packets escape to these tables from any switch without a deadlock? Tables
 * of one lane are looked at from all switches; those of several must have a live endpoint
 * on each, and be free of deadlock between endpoints (unicast/analysis.h). EINVAL with
 * one sentence. O(endpoints * switches).
 */
int fab_sim_check_escape(const struct fab_sim_problem *problem,
			 struct fab_err *err) FAB_MUST_CHECK;

/*
 * Wire time in ticks of a message of `bytes` from endpoint `end`: all its packets, one
 * after the other, on the endpoint's cable; as struct fab_traffic_problem has it, of a
 * struct fab_sim_wires. O(1).
 */
struct fab_sim_wires {
	const struct fab_sim_problem *net;
	const struct fab_sim_params *params;
};
uint64_t fab_sim_wire(const void *wires, uint32_t end, uint32_t bytes, bool to_group);
/* Number of cables of unknown rate, which have params->rate_gbps. O(cables). */
uint32_t fab_sim_unknown_rates(const struct fab_sim_problem *problem);

/*
 * Latency in ticks of one packet of `bytes` payload from endpoint to endpoint in an idle
 * network, and the hops between switches; ENOENT: no path. O(hops).
 */
int fab_sim_pair(const struct fab_sim_problem *problem,
		 const struct fab_sim_params *params, uint32_t from, uint32_t to,
		 uint32_t bytes, uint64_t *latency, uint32_t *hops,
		 struct fab_err *err) FAB_MUST_CHECK;

/*
 * Simulate. The caller calls fini. Equal bytes for any number of threads, but
 * simulate_seconds. Errors: those of fab_sim_check(); EINVAL: a message with an
 * invalid target, without bytes, or created before the endpoint's last; ERANGE: times
 * beyond 2^48 ticks, too many ports. ENOMEM never (fab_oom()). O(packets * hops).
 */
int fab_sim_run(const struct fab_sim_problem *problem,
		const struct fab_sim_params *params, const struct fab_messages *messages,
		struct fab_sim_result *result, struct fab_err *err) FAB_MUST_CHECK;
