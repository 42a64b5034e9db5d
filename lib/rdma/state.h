/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * State of a run, shared by the files of this module. The network is that of lib/sim, of
 * which this module is a host (struct sim_host): packets are its cells, with what only
 * endpoints read in a separate array; sessions (transfers under way) are reused.
 * Events of one time happen in the order of (kind, endpoint or generation, id), so that a
 * run does not depend on the queue. Calls go downwards: run.c (events), send.c (the wire
 * of an endpoint), the schemes, session.c (requests, delivery, timers), rate.c (rate
 * control), endpoint.c (what waits for the wire), wires.c (packets of the network, and
 * what goes wrong with them), network.c (the network made ready).
 */
#pragma once

#include "base/arena.h"
#include "base/map.h"
#include "base/queues.h"
#include "rdma/context.h"
#include "rdma/rate.h"
#include "rdma/rdma.h"
#include "sim/hot.h"

/* network.c: the network, times of it idle. Constant during a run. */

struct fab_rdma_net {
	const struct fab_rdma_problem *problem;
	struct fab_rdma_params params; /* cables, routing and buffers of these count */
	struct fab_sim_problem sim_problem;
	struct fab_sim_params sim_params; /* buffer 0: without bounds */
	struct sim_net sim;
	uint64_t round_trip; /* the longest of all transfers */
};

/*
 * The ports by which a packet goes from endpoint to endpoint: its own first, that of the
 * last switch at the end; of several shortest paths the one by lowest arcs. Returns how
 * many, at most FAB_RDMA_HOPS_MAX; 0: there is no path. O(hops).
 */
uint32_t rdma_net_path(const struct fab_rdma_net *net, uint32_t from, uint32_t to,
		       uint32_t port[FAB_RDMA_HOPS_MAX]);

/* Packets in flight that irn and sack-ro allow. O(endpoints). */
uint64_t rdma_cap(const struct fab_rdma_net *net, const struct fab_rdma_params *params);

/* Packets of a transfer. O(1). */
static inline uint64_t rdma_packets(uint64_t bytes, uint32_t mtu)
{
	return (bytes + mtu - 1) / mtu;
}

/* Bytes of payload of packet `number` of them. O(1). */
static inline uint32_t rdma_payload(uint64_t bytes, uint32_t mtu, uint64_t number)
{
	uint64_t left = bytes - number * mtu;

	return left < mtu ? (uint32_t)left : mtu;
}

/* The endpoint that sends the data of a transfer. O(1). */
static inline uint32_t rdma_sender(const struct fab_rdma_transfer *t)
{
	return t->is_read ? t->target : t->source;
}

/* The one that gets it. O(1). */
static inline uint32_t rdma_receiver(const struct fab_rdma_transfer *t)
{
	return t->is_read ? t->source : t->target;
}

/* A run */

/* Events of its own: the upper 4 bits of `what`, the others: generation. */
enum rdma_event {
	RDMA_START = SIM_OWN, /* item: transfer */
	RDMA_TX_TIMER,	      /* item: session */
	RDMA_RX_TIMER,
	RDMA_ASK_TIMER,
	RDMA_RETRY,
	RDMA_RATE_TIMER,
	RDMA_PULL_TIMER, /* item: endpoint */
};

enum {
	RDMA_FIRST = 1,	  /* no packet of this number was sent before */
	RDMA_VECTOR = 1,  /* of a RESEND: `value` is a vector of gaps */
	RDMA_DOOMED = 2,  /* is lost on its last cable */
	RDMA_MULTI = 4,	  /* a RESEND of all from the number on; of gbn: a NAK; an ACK of
			     a packet that had come before */
	RDMA_DAMAGED = 4, /* of data: the receiver's check fails */
	RDMA_REPORT = 8,  /* of an answer: `transmission` has arrived */
};

/* A packet as endpoints see it; wires.c puts it into the network and takes it out. */
struct rdma_packet {
	uint32_t transfer; /* that it belongs to, for the checker too */
	uint32_t number, value;
	uint16_t bytes; /* on the wire */
	uint16_t cid;
	uint8_t kind, flags;
	uint8_t sl, vl;	 /* vl: on the endpoint's cable */
	uint8_t hops;	 /* cables before it; FAB_SIM_HOPS_MAX: lost on the last one */
	bool is_spoiled; /* data: damaged, and the receiver's check passes */
	bool is_trimmed; /* data: its payload is lost */
	bool is_marked;	 /* by the network; of a report: that packet was */
	uint16_t transmission; /* of data, or reported: number among those of the session,
				  low bits */
	uint32_t to;	       /* endpoint */
	uint32_t row;	       /* in the network */
};

/* Part of a cell that only endpoints read. */
struct rdma_rest {
	uint32_t value;
	uint16_t cid;
	uint8_t kind : 4, flags : 4;
	bool is_spoiled : 1, is_marked : 1; /* is_marked: of a report */
};

/* WBASE, WVEC and the first number asked for, as a RESEND carries them. */
struct rdma_vector {
	uint32_t base; /* of a free one: the next free one */
	uint32_t from;
	uint64_t *ring;
};

/* Identity of a transfer, as packets carry it. */
struct rdma_identity {
	uint32_t msgid;
	uint32_t slot; /* context of the side that asked */
};

/* Last transfer of a context of another endpoint, as its receiver remembers it. */
struct rdma_record {
	uint32_t msgid;
	uint32_t session; /* FAB_NONE: over */
	uint64_t since;	  /* over since then */
};

enum rdma_tx_state {
	RDMA_TX_CLOSED,
	RDMA_TX_ASKING,	 /* RQT is out */
	RDMA_TX_REFUSED, /* until RETRY */
	RDMA_TX_SENDING,
	RDMA_TX_CLOSING, /* ssw: all is there, CLOSE is out */
};

/* A timer of one side; UINT64_MAX: no. */
struct rdma_timer {
	uint64_t deadline;
	uint64_t armed; /* time of its event */
};

struct rdma_timed {
	uint32_t number;
	uint64_t deadline;
};

/* A transfer under way: both sides, which know each other by packets only. */
struct rdma_session {
	uint32_t id, transfer, generation;
	uint32_t sender, receiver;	 /* endpoints, of the data */
	uint32_t n;			 /* packets */
	uint32_t next_ring, before_ring; /* in the sender's ring */
	uint32_t msgid, slot;
	uint16_t cid;
	bool in_ring, is_read, rx_open;
	bool rx_last;	/* rsw-vec: the last packet has arrived, or was dropped */
	bool is_asked;	/* the side that asked has not got its answer */
	bool is_queued; /* for a context of the receiver */
	bool has_data;	/* the receiver has seen some */
	uint8_t tx;	/* enum rdma_tx_state */
	uint8_t backoff;
	uint32_t control_sent[2]; /* of random draws: by the sender, by the receiver */

	/* sender */
	uint32_t *sent;		   /* [n] times that it was sent */
	uint32_t next_new;	   /* lowest number never sent (in this epoch) */
	uint32_t base;		   /* all below are known to be there */
	uint32_t n_due, due_first; /* to be sent again; none is below due_first */
	uint64_t *due;		   /* bits */
	uint32_t n_acked;	   /* at or above base */
	uint64_t *acked;	   /* bits */
	uint64_t *time;		   /* [n] when sent last */
	uint32_t highest;	   /* acked or asked for; + 1 */
	uint32_t epoch;
	uint32_t recover; /* recovery ends when base is beyond */
	uint32_t cursor;
	bool is_recovering;
	/* irn, sack-ro: the threshold behind which late is lost times that it was raised;
	 * not again before base is here; recoveries since the last report of a copy */
	uint32_t raised, late_until, n_recoveries;
	/* sack-ro: when that was sent which is acked and was sent last; when that was
	 * known */
	uint64_t newest, newest_heard;
	struct rdma_timer tx_timer;
	uint64_t heard, ask_armed;
	struct rdma_rate *rate; /* NULL: none */

	/* receiver */
	struct fab_rdma_window window;
	uint64_t *got; /* bits of packets, of schemes that keep them all */
	uint32_t rx_base, rx_count, rx_highest, rx_epoch, rx_told;
	uint32_t rx_nak; /* number that was asked for last */
	/* rsw+: the present G; copies of numbers below are accounted for */
	uint32_t rx_gap, rx_reckoned;
	uint32_t rx_expired;
	struct rdma_timer rx_timer;
	struct rdma_timed *timed; /* [FAB_RDMA_TIMERS_MAX] */
	uint32_t n_timed;

	/* known to the checker only */
	uint64_t *written; /* bits of packets whose bytes are in memory */
	uint8_t *memory;   /* NULL: not kept */
	uint32_t n_written, lowest_missing, last_arrival;
	bool has_strangers;

	void *block; /* holds all arrays */
};

/* An arrival of a session. */
struct rdma_pull {
	uint32_t session, generation;
};

/* An endpoint: packets that wait for its wire, contexts, transfers. */
struct rdma_end {
	struct sim_queue control;      /* packets */
	uint32_t ring_head, ring_tail; /* sessions that may have something to send */
	bool is_due;		       /* SIM_SEND is under way */
	FAB_VEC(uint32_t) context;     /* session by CID, FAB_NONE: free */
	FAB_VEC(uint16_t) free_cid;
	uint32_t n_contexts;
	FAB_VEC(uint32_t) slot; /* session by context as the side that asks */
	FAB_VEC(uint32_t) free_slot;
	FAB_VEC(uint32_t) slot_msgid; /* next one */
	uint32_t n_active, n_records;
	/* Arrivals that pull another packet, from pull_at on; at most one of these leaves
	 * in the time of a packet. */
	FAB_VEC(struct rdma_pull) pull;
	size_t pull_at;
	uint64_t next_pull;
	uint64_t send_buffer;
};

struct rdma {
	const struct fab_rdma_net *net;
	const struct fab_rdma_problem *problem;
	const struct fab_rdma_params *params;
	const struct rdma_scheme_code *code;
	struct fab_rdma_result *result;
	struct sim sim; /* in one part */
	struct sim_part *part;
	struct fab_sim_params sim_params;
	uint64_t now;
	bool is_over;		/* cancelled */
	struct fab_arena arena; /* arrays of fixed size */
	struct rdma_rest *rest; /* [cells of the part] */
	size_t n_rest;
	FAB_VEC(struct rdma_vector) vector; /* of RESENDs on their way */
	uint32_t free_vector;
	struct rdma_end *end;
	/* Transfers that wait, by endpoint: for a slot, for a context. */
	struct fab_queues pending, refused;

	FAB_VEC(struct rdma_session *) session;
	uint32_t free_session;
	uint32_t *session_of;	  /* [n_transfers] FAB_NONE */
	struct rdma_identity *is; /* [n_transfers] */
	struct fab_map64 *record_of;
	FAB_VEC(struct rdma_record) record;

	/* impairments */
	bool harms_data, may_lose_control;
	uint64_t loss_seed, delay_seed, control_seed, check_seed;
	double log_keep; /* of a hop */
	double burst_enter, burst_leave;
	struct rdma_cable_chance { /* bursts of each cable by itself */
		uint64_t packets;  /* of data that have started on it */
		bool is_bad;
	} * cable_chance; /* [ports] NULL: no */
	struct rdma_outages {
		uint64_t *first; /* [n_all + 1] into of[]; NULL: none */
		struct fab_rdma_outage *of;
	} outages;

	uint64_t cap; /* packets in flight: irn, sack-ro */
	uint64_t rto, ask;
	struct rdma_report { /* of the arrival that is handled now */
		bool is_due, is_marked;
		uint16_t transmission;
		uint32_t transfer;
	} report;
};

/* Traits of a scheme */
enum {
	RDMA_NEEDS_DUE = 1,
	RDMA_NEEDS_ACKED = 2,
	RDMA_NEEDS_TIME = 4,
	RDMA_NEEDS_GOT = 8,
	RDMA_NEEDS_WINDOW = 16,
	RDMA_NEEDS_TIMED = 32,
	/* The sender, not the receiver, knows when all is there. */
	RDMA_SENDER_KNOWS = 64,
	/* A bound: each packet is held up as its best copy would be, and not at all when
	 * the copy is lost, which is known when it would have come. */
	RDMA_TAKES_BEST = 128,
	RDMA_NEEDS_RATE = 256, /* of the run, not of the scheme */
};

/* Operations of a scheme; NULL: not used. */
struct rdma_scheme_code {
	unsigned needs;
	/* The receiver begins; fields are 0, arrays zeroed. */
	void (*open_rx)(struct rdma *r, struct rdma_session *s);
	/* The number to send now; FAB_NONE: none. `sent` is called when it is on the
	 * wire.
	 */
	uint32_t (*next)(struct rdma *r, struct rdma_session *s);
	void (*sent)(struct rdma *r, struct rdma_session *s, uint32_t number);
	/* A packet of the session has arrived: data at the receiver, answers at the
	 * sender. */
	void (*data)(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p);
	void (*answer)(struct rdma *r, struct rdma_session *s,
		       const struct rdma_packet *p);
	/* The sender asks whether all is there, and it is not. */
	void (*asked)(struct rdma *r, struct rdma_session *s);
	/* A packet of the session has arrived damaged; NULL: as if it were lost. */
	void (*damaged)(struct rdma *r, struct rdma_session *s,
			const struct rdma_packet *p);
	void (*tx_expired)(struct rdma *r, struct rdma_session *s);
	void (*rx_expired)(struct rdma *r, struct rdma_session *s);
	/* The network has lost a packet: known to the oracle only. */
	void (*lost)(struct rdma *r, struct rdma_session *s, uint32_t number);
};

/* wires.c: packets of the network, and what goes wrong with them */
/* Impairments, by the seed. EINVAL: an outage of an unknown cable. */
int rdma_chance_init(struct rdma *r, struct fab_err *err) FAB_MUST_CHECK;
/* Fate of a packet of data on its attempt-th transmission: sets `hops` and RDMA_DOOMED,
 * returns how long it is held up. */
uint64_t rdma_chance_data(struct rdma *r, struct rdma_packet *p, uint32_t attempt);
/* A packet for the network; its cell. */
uint32_t rdma_packet_new(struct rdma *r, const struct rdma_packet *p);
struct rdma_packet rdma_packet_get(const struct rdma *r, uint32_t id);
/* The vector of a packet is free again. */
void rdma_vector_free(struct rdma *r, const struct rdma_packet *p);
/* Put a packet on an endpoint's wire, now; `held_up` ps are added to its path. */
void rdma_put(struct rdma *r, uint32_t end, uint32_t id, uint64_t held_up);
/* Time from which the wire of an endpoint is free. */
uint64_t rdma_wire_free(const struct rdma *r, uint32_t end);
/* Has lane `vl` of an endpoint's wire room for a packet? */
bool rdma_may_send(const struct rdma *r, uint32_t end, unsigned vl, uint32_t bytes);
/* Callbacks of the network: starts, is_down, lost. */
void rdma_wires_host(const struct rdma *r, struct sim_host *host);
/* The packet is lost, and its cell is not free yet. */
void rdma_lose(struct rdma *r, uint32_t id);

/* send.c: the next packet on the wire of an endpoint, SIM_SEND */
void rdma_send(struct rdma *r, uint32_t end);

/* endpoint.c: what waits for the wire of an endpoint, and numbers that are due on it */
/* Row and lanes by which a packet goes to an endpoint. */
void rdma_address(const struct rdma *r, struct rdma_packet *p, uint32_t from,
		  uint32_t to);
void rdma_wake(struct rdma *r, uint32_t end); /* there may be something to send */
void rdma_ready(struct rdma *r, struct rdma_session *s); /* the sender may have data */
/* It has none (any more). */
void rdma_ring_drop(struct rdma *r, struct rdma_session *s);
void rdma_control(struct rdma *r, struct rdma_session *s, bool by_sender,
		  enum fab_rdma_kind kind, uint32_t number, uint32_t value, bool multi);
/* A RESEND of all numbers of from .. limit - 1 that the receiver misses. */
void rdma_request_gaps(struct rdma *r, struct rdma_session *s, uint32_t from,
		       uint32_t limit);
void rdma_due_add(struct rdma_session *s, uint32_t number);
/* Remove the lowest one and return it; FAB_NONE: none is due. */
uint32_t rdma_due_take(struct rdma_session *s);
void rdma_due_drop(struct rdma_session *s, uint32_t number);
void rdma_due_drop_below(struct rdma_session *s, uint32_t number);
/* Retransmissions first, or new data first, below `limit`. */
uint32_t rdma_next_due_or_new(const struct rdma *r, struct rdma_session *s,
			      uint32_t limit);
uint32_t rdma_next_any(struct rdma *r, struct rdma_session *s); /* without a limit */

/* rate.c: rate control. s->rate may be NULL. */
/* May a session send a packet now? If not, it is made ready when it may. */
bool rdma_rate_may_send(struct rdma *r, struct rdma_session *s);
void rdma_rate_sent(struct rdma *r, struct rdma_session *s, uint32_t bytes);
/* Data have come to the receiver: a report to the sender, which the next answer takes
 * along; without an answer a packet of its own does. */
void rdma_rate_arrived(struct rdma *r, struct rdma_session *s,
		       const struct rdma_packet *p);
void rdma_rate_answered(struct rdma *r, struct rdma_session *s);
void rdma_rate_report(struct rdma *r, struct rdma_session *s,
		      const struct rdma_packet *p);
void rdma_rate_expired(struct rdma *r, struct rdma_session *s);
void rdma_rate_pull(struct rdma *r, uint32_t end); /* RDMA_PULL_TIMER */

/* session.c: from request to completion */
void rdma_start(struct rdma *r, uint32_t transfer);
void rdma_deliver(struct rdma *r, uint32_t end, uint32_t id);
/* The receiver has all; the sender knows that it has (RDMA_SENDER_KNOWS). */
void rdma_complete(struct rdma *r, struct rdma_session *s);
void rdma_sender_done(struct rdma *r, struct rdma_session *s);
/* Set RDMA_TX_TIMER or RDMA_RX_TIMER. */
void rdma_timer_set(struct rdma *r, struct rdma_session *s, enum rdma_event kind,
		    uint64_t deadline);
void rdma_expire(struct rdma *r, enum rdma_event kind, uint32_t generation,
		 uint32_t session);
/* The payload of a packet goes to memory, where the checker looks at it. */
void rdma_memory_write(struct rdma *r, struct rdma_session *s,
		       const struct rdma_packet *p);

/* Bits of packet numbers */
static inline bool rdma_bit(const uint64_t *bits, uint32_t number)
{
	return bits[number / 64] >> number % 64 & 1;
}

/* Set it; was it unset? */
static inline bool rdma_bit_set(uint64_t *bits, uint32_t number)
{
	uint64_t bit = UINT64_C(1) << number % 64, old = bits[number / 64];

	bits[number / 64] = old | bit;
	return !(old & bit);
}

/* The first unset one of from .. n - 1; n: none. */
static inline uint32_t rdma_bit_next_zero(const uint64_t *bits, uint32_t from, uint32_t n)
{
	while (from < n) {
		uint64_t zeros = ~bits[from / 64] >> from % 64;

		if (zeros) {
			from += (uint32_t)__builtin_ctzll(zeros);
			return from < n ? from : n;
		}
		from += 64 - from % 64;
	}
	return n;
}
