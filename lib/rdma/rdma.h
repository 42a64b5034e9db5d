/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reliable RDMA over a network that loses and reorders packets: which scheme survives
 * what. A simulation by events of transfers between the endpoints of a fabric.
 *
 * A transfer. The side that wants it asks the other (RQT); the receiver of the data gives
 * a context, whose number (CID) comes back (RSP), or refuses; then numbered packets go to
 * it, 0 .. N - 1, of one MTU each, the last one shorter; when the receiver has all, it
 * says so (completion), and the contexts of both are free. A WRITE moves data from
 * `source` to `target`; a READ is a request by `source`, with a context of its own, and
 * then a WRITE the other way. All schemes do that alike; they differ in what happens to
 * packets that are lost or come in another order. All that a packet of data carries
 * besides its payload: CID, MSGID, sender and its context, number.
 *
 * Network. That of sim/sim.h, of voq switches: with bounds each lane of an input has a
 * buffer of its own, counted in blocks of 64 bytes. Without bounds a packet chooses its
 * output when its head may leave the switch, is first come, first served there, and the
 * time at which it leaves is known then.
 *
 * Random numbers are drawn by counter: what happens to the attempt a of packet n of
 * transfer t is a function of (seed, t, n, a), whatever the scheme does, so that schemes
 * are compared with the same losses. (Bursts of each cable depend on its traffic.)
 *
 * Source: Wang et al., "A fast RDMA offload method for unreliable interconnection
 * networks", J. Hunan Univ. (Nat. Sci.) 42(8), 2015, for rsw, ssw and rc.
 */
#pragma once

#include "base/choice.h"
#include "base/progress.h"
#include "event/stats.h"
#include "fabric/kfat.h"
#include "sim/sim.h"
#include "traffic/ends.h"
#include "unicast/routes.h"

enum {
	FAB_RDMA_TIMERS_MAX = 16, /* of a context of rsw+ */
	FAB_RDMA_ENDS_MAX = 1 << 23,
	FAB_RDMA_HOPS_MAX = 64,		 /* a packet with more is dropped */
	FAB_RDMA_MTU_MAX = 1 << 15,	 /* bytes of payload */
	FAB_RDMA_CONTEXTS_MAX = 1 << 16, /* receive contexts of an endpoint */
	FAB_RDMA_TRANSFERS_MAX = 1 << 26,
	FAB_RDMA_PACKETS_MAX = 1 << 24, /* of one transfer */
	/* Data packets that end a run: a multiple of those of the transfers, and a
	   number. */
	FAB_RDMA_ROUNDS_MAX = 100,
	FAB_RDMA_SENT_FREE = 1 << 20,
};

/* No timeout or delay is longer, no simulation ends later; ps (70 s, 281 s). */
static const uint64_t FAB_RDMA_TIME_MAX_PS = UINT64_C(1) << 46;
static const uint64_t FAB_RDMA_END_MAX_PS = UINT64_C(1) << 48;

/* Packets by what they say. */
enum fab_rdma_kind {
	FAB_RDMA_RQT,	  /* may I send? of a READ: send me */
	FAB_RDMA_RSP,	  /* yes, to this context */
	FAB_RDMA_REFUSAL, /* no context is free */
	FAB_RDMA_DATA,
	FAB_RDMA_RESEND,     /* this number, all from it on, or all gaps (rsw ...) */
	FAB_RDMA_ACK,	     /* has come: this number, or all below it */
	FAB_RDMA_NAK,	     /* out of order: from this number on (gbn); whole (rc) */
	FAB_RDMA_CREDIT,     /* WBASE is this (rsw+) */
	FAB_RDMA_COMPLETION, /* all has come */
	FAB_RDMA_ASK,	     /* the sender has heard nothing: is all there? */
	FAB_RDMA_CLOSE,	     /* the sender knows that all is there (ssw) */
	FAB_RDMA_MARK, /* for rate control: a report without another answer, or a pull */
	FAB_RDMA_KINDS
};

/* Additions of rsw+ to rsw. */
enum {
	FAB_RDMA_GAP_NAK = 1,	  /* a RESEND of WBASE when an arrival is far ahead */
	FAB_RDMA_WITH_CREDIT = 2, /* the sender stays within WBASE + W */
	FAB_RDMA_TIMERS = 4,	  /* several timers a context: of the lowest gaps */
	FAB_RDMA_PLUS = 7
};

struct rdma_scheme_code; /* private */

/* A scheme: a row of the table. */
struct fab_rdma_scheme {
	const char *name, *summary;
	const char *manual;   /* as struct fab_choice has it */
	const char *sender;   /* what the sender keeps, in a few words */
	const char *receiver; /* what the receiver keeps */
	const char *answers;  /* who answers what */
	bool has_window;      /* a receiver's window: params->window */
	const struct rdma_scheme_code *code;
};

extern const struct fab_rdma_scheme *const fab_rdma_schemes[];
extern const size_t fab_rdma_n_schemes;
extern const struct fab_choices fab_rdma_scheme_choices;

/* A file adds its row here; in the order in which they are documented. */
#define FAB_RDMA_SCHEMES(ROW)                                                            \
	ROW(rsw)                                                                         \
	ROW(rsw_vec)                                                                     \
	ROW(rsw_plus)                                                                    \
	ROW(ssw)                                                                         \
	ROW(rc)                                                                          \
	ROW(gbn)                                                                         \
	ROW(irn)                                                                         \
	ROW(sack_ro)                                                                     \
	ROW(oracle)

#define FAB_DECLARE(row) extern const struct fab_rdma_scheme fab_rdma_scheme_##row;
FAB_RDMA_SCHEMES(FAB_DECLARE)
#undef FAB_DECLARE

/* How a refused request comes again. */
enum fab_rdma_retry {
	FAB_RDMA_RETRY_DELAY,	/* after retry_delay */
	FAB_RDMA_RETRY_BACKOFF, /* after a random share of retry_delay, doubled each time,
				   at most 2^10 times it */
	FAB_RDMA_RETRY_QUEUE, /* the receiver notes it and answers when a context is free
			       */
};
extern const struct fab_choices fab_rdma_retry_choices; /* in this order */

/* Timeouts that count towards the multi-packet RESEND of rsw. The paper says "several
 * consecutive timeouts". */
enum fab_rdma_multi {
	FAB_RDMA_MULTI_CONSECUTIVE, /* of any packets */
	FAB_RDMA_MULTI_SAME, /* of the same packet: a slide of the window clears it */
};
extern const struct fab_choices fab_rdma_multi_choices; /* in this order */

/* One transfer. */
struct fab_rdma_transfer {
	uint64_t start_ps;
	uint64_t bytes;		 /* >= 1 */
	uint32_t source, target; /* endpoints; not the same */
	bool is_read;
};

/* Transfers and the network below them. All is borrowed. */
struct fab_rdma_problem {
	const struct fab_fabric *f;
	const struct fab_faults *faults; /* NULL: nothing is dead */
	const struct fab_flow_ends *ends;
	const struct fab_routes *routes; /* NULL: adaptive or spray without bounds only */
	const struct fab_rdma_transfer *transfer;
	uint32_t n_transfers;
};

/* How long a packet is held up, of those that are. */
enum fab_rdma_delay { FAB_RDMA_UNIFORM, FAB_RDMA_EXPONENTIAL, FAB_RDMA_FIXED };
extern const struct fab_choices fab_rdma_delay_choices; /* U, E, F: in this order */

/* A cable that loses all packets that start on it from `from_ps` until before
 * `until_ps`. */
struct fab_rdma_outage {
	uint32_t cable; /* FAB_NONE: all cables between switches */
	bool is_switch; /* `cable` is a switch: all its cables */
	uint64_t from_ps, until_ps;
};

/* Impairments by the network. Zeroed: none. */
struct fab_rdma_impairments {
	double loss;  /* share of data packets lost, 0 .. 1 */
	bool per_hop; /* ... on each cable */
	/* Mean losses in a row (Gilbert), of the packets of an attempt of a transfer, or,
	 * per hop, of those that start on a cable; <= 1: independent ones. */
	double burst;
	double drop_control; /* share of all other packets lost */
	/* Share of data packets that arrive damaged: link checks have missed the error.
	 * The transport check of the receiver finds it, but for a share of 2^-check_bits:
	 * such a packet is written to memory. 0 .. 64; 0: no transport check. */
	double corrupt;
	unsigned check_bits;
	double delayed; /* share of data packets held up */
	enum fab_rdma_delay delay;
	uint64_t delay_ps; /* U: at most; E: mean; F: exactly */
	const struct fab_rdma_outage *outage;
	size_t n_outages;
};

/* How senders adapt to what the network carries: lib/rdma/rate.c. */
enum fab_rdma_rate_control {
	FAB_RDMA_NO_CONTROL,
	FAB_RDMA_STATIC, /* `cap` packets in flight */
	FAB_RDMA_DCTCP,	 /* by marks: ecn > 0 */
	FAB_RDMA_DCQCN,	 /* the same */
	FAB_RDMA_PULL,	 /* `cap` packets at first, then one for each that arrives */
};
/* none, window, dctcp, dcqcn, pull */
extern const struct fab_choices fab_rdma_rate_choices;

struct fab_rdma_params {
	/* packets and cables */
	uint32_t mtu, header, control; /* bytes: payload; with each packet of data; of all
					  others in all */
	double rate_gbps;	       /* data rate of cables of unknown rate */
	bool all_rates;		       /* of all cables: theirs do not count */
	uint64_t switch_ps, cable_ps, host_ps;
	enum fab_sim_routing routing; /* detours need a buffer */
	uint32_t buffer; /* bytes of a lane at an input, in blocks of 64; 0: without
			    bounds */
	/* Full buffers drop, as sim/sim.h has it: `buffer` is then that of an output. */
	enum fab_sim_drop drop;
	/* `buffer` is that of a port, for all its lanes, or where buffers drop of a
	 * switch, for all its outputs; each has buffer_private bytes of it alone. */
	bool buffer_shared;
	uint32_t buffer_private;
	uint32_t ecn;
	/* Of all schemes and the oracle, in addition to their own rules. */
	enum fab_rdma_rate_control rate_control;

	/* contexts */
	bool no_handshake;    /* contexts are there at the start, without RQT and RSP */
	uint32_t contexts;    /* transfers that an endpoint can receive at once */
	uint32_t concurrency; /* transfers that an endpoint has under way; 0: all */
	enum fab_rdma_retry retry;
	uint64_t retry_ps;
	unsigned msgid_bits; /* 1 .. 32 */
	/* A sender that has heard nothing for so long asks again; 0: 4 * rto_ps. Only
	 * where something but data can be lost. */
	uint64_t ask_ps;

	/* schemes */
	uint32_t window;	/* W of rsw and rsw+ */
	uint32_t sender_window; /* of ssw, packets; 0: window */
	uint64_t rto_ps;	/* of receivers (rsw, rsw+, rc), of senders (ssw, gbn) */
	uint32_t singles;	/* RESENDs of one packet in a row before one of all */
	enum fab_rdma_multi multi;
	unsigned plus;	 /* FAB_RDMA_GAP_NAK ... of rsw+ */
	uint32_t gap;	 /* G: arrivals so far ahead of WBASE cause a NAK; 0: 8 at
			    first, doubled (up to W) when what was asked for was
			    in flight */
	uint32_t credit; /* packets between reports of WBASE, the sender stays
			    within the window; 0: W / 4, and only once one was
			    dropped beyond it */
	uint32_t timers; /* of a context of rsw+ */
	bool new_first;	 /* new data before retransmissions */
	uint32_t cap;	 /* packets in flight of irn and sack-ro; 0: bandwidth-delay
			    product of the longest path; UINT32_MAX: no cap */
	uint64_t rto_low_ps, rto_high_ps; /* of irn: below `few` in flight, else */
	uint32_t few;
	uint32_t nacks; /* of irn: acknowledgements out of order that begin a recovery; 1:
			   as published; 0: 1 at first, four times that when what was sent
			   again had been in flight */
	uint64_t reorder_ps; /* of sack-ro: later than this behind a later one: lost; 0: a
				quarter of the base round trip at first, four times that
				when what was sent again had been in flight */

	struct fab_rdma_impairments bad;
	uint64_t seed;
	uint64_t end_ps; /* transfers that are not done then have failed; 0: after
			    FAB_RDMA_TIME_MAX_PS */
	/* Keep and compare the bytes of all transfers: source memory holds a pattern of
	 * transfer and place. Else packets written are counted. */
	bool with_memory;
	bool by_heap; /* the queue of events is a heap: slower, for tests */
	/* [n_transfers] These do not run; the others are as if they did. NULL: all run */
	const bool *is_left_out;
	uint32_t n_traced; /* arrivals of data of transfer 0 that are kept */
	/* [ports of the fabric] the time that each port sends is added; of one run at a
	 * time. NULL: it is not counted. */
	uint64_t *busy_ps;

	/* Asked now and then, by the thread that simulates; true: it ends with ECANCELED.
	 * NULL: no callback. */
	bool (*is_over)(void *context);
	void *is_over_context;
};

/* Defaults: MTU 2048, headers 26, control 30 bytes, 100 Gbit/s, 100 ns a switch, 10 ns a
 * cable, tables, no bounds; 4096 contexts, retry after 10 us, MSGID of 20 bits; W 128, 20
 * us, 3 singles, all of rsw+ with G that adapts and 4 timers. O(1). */
struct fab_rdma_params fab_rdma_defaults(void);

/* Packets between reports of WBASE by rsw+: as given, or W / 4. O(1). */
static inline uint32_t fab_rdma_credit_packets(const struct fab_rdma_params *params)
{
	uint32_t n = params->credit ? params->credit : params->window / 4;

	return n ? n : 1;
}

/* Outcome of one transfer. */
struct fab_rdma_fate {
	uint64_t done_ps; /* UINT64_MAX: it is not done */
	uint32_t sent;	  /* packets of data, copies too */
	uint32_t refusals;
	bool is_wrong; /* bytes that differ, are missing, or were written by strangers */
};

/* Counts of a run. */
struct fab_rdma_counts {
	uint64_t packets[FAB_RDMA_KINDS], bytes[FAB_RDMA_KINDS]; /* put on the wire */
	uint64_t wire_bytes;					 /* of all kinds */
	uint64_t lost[FAB_RDMA_KINDS];
	uint64_t retransmitted; /* of data */
	uint64_t spurious;	/* ... of which the first copy came, too */
	uint64_t beyond;	/* data dropped beyond WBASE + W, or out of order (gbn) */
	uint64_t duplicates;	/* data that was there already */
	uint64_t zombies; /* packets for a context that is another transfer's, or none */
	uint64_t stale;	  /* of an earlier epoch (rc) */
	uint64_t timeouts, multi, refusals;
	uint64_t delayed;
	uint64_t damaged; /* data that failed the receiver's check */
	uint64_t unroutable, looped;
	uint64_t dropped; /* a buffer was full */
	uint64_t trimmed; /* headers of data that came without their payload */
	uint64_t marked;  /* by the network */
};

/* Packets of all kinds that were lost. O(1). */
static inline uint64_t fab_rdma_lost(const struct fab_rdma_counts *n)
{
	uint64_t sum = 0;

	for (int kind = 0; kind < FAB_RDMA_KINDS; kind++)
		sum += n->lost[kind];
	return sum;
}

struct fab_rdma_result {
	const struct fab_rdma_scheme *scheme;
	uint32_t n_transfers, n_done; /* of those that run */
	uint32_t n_hung;	      /* not done, though there is a path */
	uint32_t n_no_path;
	uint32_t n_wrong;	    /* see struct fab_rdma_fate */
	struct fab_rdma_fate *fate; /* [n_transfers of the problem] */
	/* From start to done, of those that are done; us. NaN: none is. */
	double completion_mean, completion_p50, completion_p99, completion_max;
	double goodput_gbps; /* payload of all that are done / from the first start to the
				last end */
	double goodput_mean; /* mean over transfers of payload / completion time, Gbit/s
			      */
	double rounds;	     /* packets of data sent / packets there are */
	/* of data, without copies, of transfers that have a path */
	uint64_t n_packets;
	struct fab_rdma_counts n;
	/* Contexts in use at once, of the endpoint that had most; tombstones kept. */
	uint32_t peak_contexts, peak_tombstones;
	/* Of the sender that had most: bytes kept to send again (ssw); of the port that
	 * had most: bytes that waited. */
	uint64_t peak_send_buffer, peak_queue_bytes;
	/* Most numbers between the cumulative acknowledgement and the next new packet of
	 * a transfer: what contexts of irn and sack-ro keep bits for. */
	uint32_t peak_range;
	/*
	 * Of consecutive arrivals of data of a transfer, before the window: the distance
	 * of their numbers; and how far arrivals were ahead of the lowest number missing.
	 * First copies only.
	 */
	struct fab_histogram reorder, ahead;
	uint64_t end_ps, events, packet_hops;
	/* How cycles of waiting are kept away: "buffers without bounds", "lanes of the
	 * tables", "escape lanes". Static text. */
	const char *no_deadlock;
	bool is_stalled; /* nothing could move any more: tables that stall */
	bool is_cut;	 /* end_ps, or a scheme that sends all for ever, came first */
	FAB_VEC(uint32_t) trace; /* numbers in the order of arrival */
	double simulate_seconds; /* processor time; not for equal bytes */
};

/* Free its arrays; zeroed is allowed. O(size). */
void fab_rdma_result_fini(struct fab_rdma_result *result);

/* The network made ready for runs; shared by threads, never changed by them. */
struct fab_rdma_net;

/*
 * Are these possible at all? EINVAL with one sentence: loss outside 0 .. 1, W 0 or above
 * FAB_RDMA_WINDOW_MAX, MTU 0 or above FAB_RDMA_MTU_MAX, buffers below a packet, tables
 * missing or of more lanes than there are ... Without looking at transfers. O(1).
 */
int fab_rdma_check(const struct fab_rdma_problem *problem,
		   const struct fab_rdma_params *params,
		   struct fab_err *err) FAB_MUST_CHECK;

/*
 * Make ready: of params only cables, routing and buffers count, and what round trips and
 * ideal times depend on: sizes of packets, no_handshake. Problem, params and what
 * they borrow live as long as *out, which the caller frees. Errors: those of
 * fab_rdma_check(); EINVAL: a transfer of no bytes, to itself or an endpoint that is
 * none, of more packets than FAB_RDMA_PACKETS_MAX. O(ports + transfers), adaptive and
 * spray O(switches^2).
 */
int fab_rdma_net_new(const struct fab_rdma_problem *problem,
		     const struct fab_rdma_params *params, struct fab_rdma_net **out,
		     struct fab_err *err) FAB_MUST_CHECK;
void fab_rdma_net_free(struct fab_rdma_net *net);

/* Round trip of a full packet of data and a packet of control, idle network, of the
 * transfer of this number; 0: there is no path. ps. O(hops). */
uint64_t fab_rdma_round_trip(const struct fab_rdma_net *net, uint32_t transfer);
/* The longest of all transfers. O(transfers * hops) at the first call of net_new. */
uint64_t fab_rdma_longest_round_trip(const struct fab_rdma_net *net);
/* Has a transfer a path, there and back? O(1). */
bool fab_rdma_has_path(const struct fab_rdma_net *net, uint32_t transfer);
/* Completion time of a transfer alone in the network, without loss: handshake, N packets
 * in sequence, the path, completion. ps; 0: no path. O(hops). */
uint64_t fab_rdma_ideal(const struct fab_rdma_net *net, uint32_t transfer);

/* Least effort of a run, before anything is sent twice. */
struct fab_rdma_effort {
	double packet_hops; /* estimated from the paths of some transfers */
	double bytes;	    /* of memory, without packets in flight */
};
/* Of the transfers that `net` was made for. O(transfers). */
struct fab_rdma_effort fab_rdma_effort(const struct fab_rdma_net *net,
				       const struct fab_rdma_params *params);

/* Packets of data that the longest round trip holds on a path at full rate, those that
 * are held up among them. O(endpoints). */
uint64_t fab_rdma_in_flight(const struct fab_rdma_net *net,
			    const struct fab_rdma_params *params);

/* Packets that a context of a transfer of `packets` packets keeps a bit each for: W with
 * a receiver's window, else those that may be in flight. O(endpoints). */
uint32_t fab_rdma_width(const struct fab_rdma_net *net,
			const struct fab_rdma_params *params,
			const struct fab_rdma_scheme *scheme, uint64_t packets);

/*
 * Simulate one scheme. params may differ from those that `net` was made with in all but
 * cables, routing and buffers. The caller ends *result. Errors: those of
 * fab_rdma_check(); ECANCELED: is_over() said so. O(packets * hops).
 */
int fab_rdma_run(const struct fab_rdma_net *net, const struct fab_rdma_params *params,
		 const struct fab_rdma_scheme *scheme, struct fab_rdma_result *result,
		 struct fab_err *err) FAB_MUST_CHECK;

/* Patterns of transfers, by a spec: NAME, or NAME:ARGUMENT. */

/* Parameters of a pattern. */
struct fab_rdma_pattern_problem {
	const struct fab_fabric *f;
	const struct fab_kfat *kfat; /* NULL: no kfat */
	const struct fab_flow_ends *ends;
	uint64_t bytes;	  /* of a transfer; files have their own */
	uint32_t repeats; /* transfers of each pair, >= 1; files: of each line */
	bool is_read;
	uint64_t seed; /* of random patterns */
};

struct fab_rdma_transfers {
	FAB_VEC(struct fab_rdma_transfer) of;
	/* of a trace: lines left out, to their own source or without bytes; of a
	 * connection matrix: priorities, which count for nothing */
	uint64_t n_left_out, n_priorities;
};

extern const struct fab_choices fab_rdma_pattern_choices;
/* Is it well-formed? EINVAL with one sentence. Without looking at the fabric. O(spec). */
int fab_rdma_pattern_check(const char *spec, struct fab_err *err) FAB_MUST_CHECK;
/* Are the transfers of a well-formed spec drawn by the seed, one of many such sets?
 * O(spec). */
bool fab_rdma_pattern_is_drawn(const char *spec);
/*
 * The transfers, in an order that is the same for the same spec and fabric. The caller
 * frees out->of.v. EINVAL, ENOENT, EIO: one sentence, of a file with its line; EINVAL
 * also when there is nothing to transfer, or more than FAB_RDMA_TRANSFERS_MAX. O(ends +
 * transfers), pair O(switches^2), files O(bytes).
 */
int fab_rdma_pattern_make(const char *spec, const struct fab_rdma_pattern_problem *p,
			  struct fab_rdma_transfers *out,
			  struct fab_err *err) FAB_MUST_CHECK;
