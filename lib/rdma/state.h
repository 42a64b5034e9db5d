/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * State of a run. What is many has no pointers: packets are cells of a pool, 32 bytes;
 * sessions (transfers under way) are reused. All that happens at one time happens in the
 * order of (kind, port or generation, id), so that a run does not depend on the queue.
 */
#pragma once

#include "base/map.h"
#include "event/wheel.h"
#include "rdma/network.h"
#include "rdma/window.h"

/* The upper 4 bits of `what` of an event; the others: port, endpoint, generation. */
enum rdma_event {
	RDMA_ARRIVE, /* item: packet; its head may leave the switch of this port, or it is
			delivered */
	RDMA_READY,  /* item: packet: the same, after a wait for the slower cable */
	RDMA_FREE,   /* the port may start the next packet (bounded buffers) */
	RDMA_ROOM,   /* item: lane << 24 | bytes that are free behind the port again */
	RDMA_SEND,   /* endpoint: may put the next packet on the wire */
	RDMA_START,  /* item: transfer */
	RDMA_TX_TIMER, /* generation; item: session */
	RDMA_RX_TIMER,
	RDMA_ASK_TIMER,
	RDMA_RETRY,
};

enum { RDMA_ID_BITS = 28, RDMA_ID = (1 << RDMA_ID_BITS) - 1 };

static inline uint32_t rdma_what(enum rdma_event kind, uint32_t id)
{
	return (uint32_t)kind << RDMA_ID_BITS | (id & RDMA_ID);
}

enum {
	RDMA_FIRST = 1,	  /* no packet of this number was sent before */
	RDMA_DOOMED = 2,  /* is lost on its last cable */
	RDMA_MULTI = 4,	  /* a RESEND of all from the number on; of gbn: a NAK; an ACK of
			     a packet that had come before */
	RDMA_ESCAPED = 8, /* is on escape lanes */
};

struct rdma_packet {
	uint32_t next;	   /* in a queue; of free cells */
	uint32_t transfer; /* what it really belongs to */
	uint32_t to;	   /* endpoint */
	uint32_t row;	   /* of the tables; with shortest paths the last switch */
	uint32_t number, value;
	uint16_t bytes; /* on the wire */
	uint16_t cid;
	uint8_t kind : 4, flags : 4;
	uint8_t sl : 4, vl : 4; /* vl: of the buffer that it is in */
	uint8_t life;		/* cables that it has before it */
	uint8_t unused;
};

/* A port: an output, and what is behind its input. */
struct rdma_port {
	uint32_t per_byte;
	uint32_t peer;	/* port at the other end */
	uint32_t sw;	/* its switch; of an endpoint FAB_NONE */
	uint32_t first; /* first port of that */
};

/* Bounded buffers: what waits for a lane of an output. */
struct rdma_lane {
	uint32_t head, tail; /* packets */
	int64_t room;	     /* bytes left in the buffer behind it */
	uint64_t waiting;    /* bytes */
};

/* Who a transfer is: what packets carry, and receivers know. */
struct rdma_identity {
	uint32_t msgid;
	uint32_t slot; /* context of the side that asked */
};

/* What a receiver remembers of the last transfer of another's context. */
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

struct rdma_timed {
	uint32_t number;
	uint64_t deadline;
};

/* A transfer under way: both sides, which know of each other by packets only. */
struct rdma_session {
	uint32_t id, transfer, generation;
	uint32_t sender, receiver;	 /* endpoints, of the data */
	uint32_t n;			 /* packets */
	uint32_t next_ring, before_ring; /* in the sender's ring */
	uint32_t msgid, slot;
	uint16_t cid;
	bool in_ring, is_read, rx_open;
	bool is_asked;	/* the side that asked has not got its answer */
	bool is_queued; /* for a context of the receiver */
	bool has_data;	/* the receiver has seen some */
	uint8_t tx;	/* enum rdma_tx_state */
	uint8_t backoff;
	uint32_t control_sent[2]; /* for chance: by the sender, by the receiver */

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
	uint32_t limit;	  /* may be sent: below this */
	uint32_t recover; /* recovery is over when base is beyond */
	uint32_t cursor;
	bool is_recovering, is_stalled, has_all;
	/* irn, sack-ro: the threshold behind which late is lost was raised so often; not
	 * again before base is here; recoveries since the last report of a copy */
	uint32_t raised, late_until, n_recoveries;
	/* sack-ro: when that was sent which is acked and was sent last; when that was
	 * known */
	uint64_t newest, newest_heard;
	uint64_t tx_deadline, tx_armed; /* UINT64_MAX: no */
	uint64_t heard, ask_armed;

	/* receiver */
	struct fab_rdma_window window;
	uint64_t *got; /* bits of packets, of schemes that keep them all */
	uint32_t rx_base, rx_count, rx_highest, rx_epoch, rx_told;
	uint32_t rx_nak; /* number that was asked for last */
	/* rsw+: G as it is now; copies of numbers below have been reckoned with */
	uint32_t rx_gap, rx_reckoned;
	uint32_t rx_expired;
	uint64_t rx_deadline, rx_armed;
	struct rdma_timed *timed; /* [FAB_RDMA_TIMERS_MAX] */
	uint32_t n_timed;

	/* what only the checker knows */
	uint64_t *written; /* bits of packets whose bytes are in memory */
	uint8_t *memory;   /* NULL: not kept */
	uint32_t n_written, lowest_missing, last_arrival;
	bool has_strangers;

	void *block; /* holds all arrays */
};

/* An endpoint: what waits for its wire, contexts, transfers. */
struct rdma_end {
	uint32_t control_head, control_tail; /* packets */
	uint32_t ring_head, ring_tail; /* sessions that may have something to send */
	bool is_due;		       /* RDMA_SEND is under way */
	FAB_VEC(uint32_t) context;     /* session by CID, FAB_NONE: free */
	FAB_VEC(uint16_t) free_cid;
	uint32_t n_contexts;
	FAB_VEC(uint32_t) slot; /* session by context as the side that asks */
	FAB_VEC(uint32_t) free_slot;
	FAB_VEC(uint32_t) slot_msgid; /* next one */
	uint32_t n_active, n_records;
	uint32_t pending_head, pending_tail; /* transfers that wait for a slot */
	FAB_VEC(uint32_t) queue; /* transfers that wait for a context, from queue_at on */
	size_t queue_at;
	uint64_t send_buffer;
};

struct rdma {
	const struct fab_rdma_net *net;
	const struct fab_rdma_problem *problem;
	const struct fab_rdma_params *params;
	const struct rdma_scheme_code *code;
	struct fab_rdma_result *result;
	uint64_t now;
	uint64_t n_slots; /* of the wheel that had events */
	bool is_over;	  /* nobody wants the result any more */
	struct fab_wheel wheel;
	FAB_VEC(struct rdma_packet) packet;
	uint32_t free_packet;
	uint32_t n_ports; /* of switches; endpoints behind */
	uint32_t n_switches;
	bool is_adaptive, is_spray;
	const uint8_t *mask;	  /* as in the network; NULL */
	const uint16_t *next;	  /* of the tables; NULL: there are none */
	const uint32_t *end_port; /* [endpoints] of their switches */
	struct rdma_port *port;
	uint64_t *busy; /* [ports] until then with packets that have chosen it */
	struct rdma_end *end;
	uint32_t *next_pending; /* [n_transfers] */

	FAB_VEC(struct rdma_session *) session;
	uint32_t free_session, n_sessions;
	uint32_t *session_of;	  /* [n_transfers] FAB_NONE */
	struct rdma_identity *is; /* [n_transfers] */
	struct fab_map64 *record_of;
	FAB_VEC(struct rdma_record) record;

	/* chance */
	bool harms_data, may_lose_control;
	uint64_t loss_seed, delay_seed, control_seed, route_seed;
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
	uint64_t longest_wait; /* ps for a port */
	uint32_t longest_port;

	/* bounded buffers */
	unsigned n_vls;
	struct rdma_lane *lane; /* [ports * n_vls]; NULL: without bounds */
	uint8_t *turn;		/* [ports] lane that is looked at first */
	bool *is_waiting;	/* [ports] RDMA_FREE is under way */
	uint32_t *in_port;	/* [packets] whose buffer it is in */
	uint64_t n_held;	/* packets in buffers and queues */
	uint64_t moved;		/* when one started last */
	FAB_VEC(struct fab_wheel_event) batch, spare; /* events of one time */
	/* Sorting them: a bit for each port and each endpoint, one for each word of
	 * these, and the items that the bits stand for. */
	uint32_t n_marks;
	uint64_t *marks, *marks_used;
	uint32_t *marked;
};

/* What a scheme does. A row each; NULL: nothing. */
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
};

struct rdma_scheme_code {
	unsigned needs;
	/* Each side begins; fields are 0, arrays zeroed. */
	void (*open_tx)(struct rdma *r, struct rdma_session *s);
	void (*open_rx)(struct rdma *r, struct rdma_session *s);
	/* The number to send now; FAB_NONE: none. `sent` is told when it is on the wire.
	 */
	uint32_t (*next)(struct rdma *r, struct rdma_session *s);
	void (*sent)(struct rdma *r, struct rdma_session *s, uint32_t number);
	/* A packet that belongs to the session is at its receiver, its sender. */
	void (*data)(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p);
	void (*answer)(struct rdma *r, struct rdma_session *s,
		       const struct rdma_packet *p);
	/* The sender asks whether all is there, and it is not. */
	void (*asked)(struct rdma *r, struct rdma_session *s);
	void (*tx_expired)(struct rdma *r, struct rdma_session *s);
	void (*rx_expired)(struct rdma *r, struct rdma_session *s);
	/* The network has lost a packet: nobody can know but the oracle. */
	void (*lost)(struct rdma *r, struct rdma_session *s, uint32_t number);
};

/* engine.c: the network */
uint32_t rdma_packet_new(struct rdma *r);
void rdma_packet_free(struct rdma *r, uint32_t id);
/* Put a packet on an endpoint's wire, now; `held_up` ps are added to its path. */
void rdma_put(struct rdma *r, uint32_t end, uint32_t id, uint64_t held_up);
/* Events until the end. */
void rdma_go(struct rdma *r);
/* The packet is lost where it is. */
void rdma_lose(struct rdma *r, uint32_t id);
/* The output that a packet takes at the switch of port `in`; FAB_NONE: none. */
uint32_t rdma_choose(struct rdma *r, uint32_t in, const struct rdma_packet *p);
bool rdma_is_out(const struct rdma *r, uint32_t port);

/* bounded.c: the same with credits */
void rdma_bounded_init(struct rdma *r);
void rdma_bounded_arrive(struct rdma *r, uint32_t in, uint32_t id, bool is_ready);
void rdma_bounded_free(struct rdma *r, uint32_t port);
void rdma_bounded_room(struct rdma *r, uint32_t port, uint32_t item);
/* Has the lane of an endpoint's wire room for a packet? */
bool rdma_bounded_may_send(const struct rdma *r, uint32_t port, unsigned vl,
			   uint32_t bytes);
void rdma_bounded_put(struct rdma *r, uint32_t end, uint32_t id, uint64_t held_up);

/* chance.c */
int rdma_chance_init(struct rdma *r, struct fab_err *err);
void rdma_chance_fini(struct rdma *r);
/* What becomes of a packet of data that is sent for the attempt-th time: `life` and
 * RDMA_DOOMED; returns how long it is held up. */
uint64_t rdma_chance_data(struct rdma *r, struct rdma_packet *p, uint32_t attempt);
/* A packet starts on the cable of a port: is that in a burst? */
void rdma_chance_cable(struct rdma *r, uint32_t port, struct rdma_packet *p);
bool rdma_chance_control(struct rdma *r, uint32_t transfer, uint32_t sequence,
			 bool by_sender);

/* endpoint.c: wire and delivery */
void rdma_send(struct rdma *r, uint32_t end); /* RDMA_SEND */
void rdma_wake(struct rdma *r, uint32_t end); /* there may be something to send */
void rdma_ready(struct rdma *r, struct rdma_session *s); /* the sender may have data */
/* It has not (any more). */
void rdma_ring_drop(struct rdma *r, struct rdma_session *s);
void rdma_control(struct rdma *r, struct rdma_session *s, bool by_sender,
		  enum fab_rdma_kind kind, uint32_t number, uint32_t value, bool multi);
void rdma_deliver(struct rdma *r, uint32_t end, uint32_t id);

/* session.c: from request to completion */
void rdma_start(struct rdma *r, uint32_t transfer);
/* Packets that open and close sessions. */
void rdma_session_packet(struct rdma *r, uint32_t end, const struct rdma_packet *p);
/* The session whose sender, receiver a packet is for; NULL: it is none's (any more). */
struct rdma_session *rdma_session_of_answer(struct rdma *r, const struct rdma_packet *p);
struct rdma_session *rdma_session_of_data(struct rdma *r, uint32_t end,
					  const struct rdma_packet *p);
/* The receiver has all; the sender knows that it has (RDMA_SENDER_KNOWS). */
void rdma_complete(struct rdma *r, struct rdma_session *s);
void rdma_sender_done(struct rdma *r, struct rdma_session *s);
void rdma_tx_timer(struct rdma *r, struct rdma_session *s, uint64_t deadline);
void rdma_rx_timer(struct rdma *r, struct rdma_session *s, uint64_t deadline);
void rdma_expire(struct rdma *r, enum rdma_event kind, uint32_t generation,
		 uint32_t session);

/* sessions.c: memory of sessions */
struct rdma_session *rdma_session_new(struct rdma *r, uint32_t transfer);
void rdma_session_free(struct rdma *r, struct rdma_session *s);

/* memory.c: the checker */
void rdma_memory_arrival(struct rdma *r, struct rdma_session *s,
			 const struct rdma_packet *p);
void rdma_memory_write(struct rdma *r, struct rdma_session *s,
		       const struct rdma_packet *p);
bool rdma_memory_is_right(const struct rdma *r, const struct rdma_session *s);

/* numbers.c: sets of numbers that schemes share */
void rdma_due_add(struct rdma_session *s, uint32_t number);
/* The lowest one, which is due no more; FAB_NONE. */
uint32_t rdma_due_take(struct rdma_session *s);
void rdma_due_drop(struct rdma_session *s, uint32_t number);
void rdma_due_drop_below(struct rdma_session *s, uint32_t number);
bool rdma_bit(const uint64_t *bits, uint32_t number);
/* Sets it; was it unset? */
bool rdma_bit_set(uint64_t *bits, uint32_t number);
/* The first from `from` on, below n, that is not set; n: none. */
uint32_t rdma_bit_next_zero(const uint64_t *bits, uint32_t from, uint32_t n);
/* Retransmissions first, or new data first, below `limit`. */
uint32_t rdma_next_due_or_new(const struct rdma *r, struct rdma_session *s,
			      uint32_t limit);
