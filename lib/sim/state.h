/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * State of a run; the short operations of its hot loop are in sim/hot.h. Ports, lanes,
 * switches and sources are arrays over the whole network; each element is changed by one
 * part only, the one that has the switch. Notices between parts are delivered at the end
 * of a window.
 *
 * Packets are cells of a pool, 32 bytes, linked by numbers. Credits under way are a ring,
 * added when their time has come. Bits mark which inputs and outputs are free and
 * which units wait for an output; a unit is an input, of fifo switches a lane of an
 * input.
 */
#pragma once

#include "base/arena.h"
#include "event/wheel.h"
#include "sim/network.h"

/* Functions of the loop, which is compiled for several processors: others cannot be
 * inlined there. */
#define SIM_HOT static inline __attribute__((always_inline))

enum sim_event_kind { /* the upper 4 bits of `what`; the others: port or endpoint */
		      SIM_HEAD,	  /* a head is at a switch, or a packet at its endpoint */
		      SIM_READY,  /* the tail of a packet on a slower cable is near enough
				   */
		      SIM_END,	  /* an output has sent a packet */
		      SIM_READ,	  /* an input has read one, if not with SIM_END */
		      SIM_CREDIT, /* a credit has come, before the last one of the ring */
		      SIM_SEND,	  /* an endpoint may send */
		      SIM_OWN,	  /* of the host: this one and those above */
		      SIM_RECEIVED = SIM_OWN, /* a message is at its endpoint */
		      SIM_COMPLETED	      /* a message of an endpoint has arrived */
};

/* Hops after which a packet that is on the lanes of the tables stays there. */
enum { SIM_RETURN_HOPS = 64 };

enum { SIM_ID_BITS = 28, SIM_ID = (1 << SIM_ID_BITS) - 1, SIM_WORD = 64 };

SIM_HOT uint32_t sim_what(uint32_t kind, uint32_t id)
{
	return kind << SIM_ID_BITS | id;
}

/* Bits of sim_packet.sl where packets are dropped. */
enum {
	SIM_MARKED = 1,	 /* it met a long queue */
	SIM_TRIMMED = 2, /* its payload is lost */
	SIM_URGENT = 4,	 /* as a header, if headers have a queue */
};

/* Bits of sim_packet.source, above the endpoint. */
enum {
	SIM_LAST = 1 << SIM_ID_BITS, /* the message's last packet */
	/* Multicast: row is that of the tree, target the message. A packet at a switch
	 * has its fan as row; a copy that waits there has the packet as row, and as
	 * target the number among the row's outputs. */
	SIM_TO_GROUP = 1 << (SIM_ID_BITS + 1),
	SIM_TRACED = 1 << (SIM_ID_BITS + 2),
	SIM_LOST = (int)(1u << (SIM_ID_BITS + 3)) /* of notes: is_lost */
};

struct sim_packet {
	uint32_t next; /* in a queue; of free cells; of a head that knows its output:
			  vl << 16 | output */
	uint32_t row;  /* of the tables; of adaptive routing the message */
	uint32_t target, source;	/* source, birth: the host chooses */
	uint64_t birth : 48, size : 16; /* bytes (flits) with headers */
	uint32_t since;			/* ready at this switch: low bits of the time */
	uint8_t vl : 4, sl : 4;		/* vl: of the buffer it is in */
	uint8_t hops;
	uint16_t tag;
};

/* Cells by their `next`; first FAB_NONE: empty. */
struct sim_queue {
	uint32_t first, last;
};

/* Rest of a multicast packet at a switch. */
struct sim_fan {
	uint32_t row, left; /* copies that have not started */
	uint64_t end;	    /* of the tail of those that have */
};

union sim_cell {
	struct sim_packet packet;
	struct sim_fan fan;
	uint64_t word[4];
};

/* A credit under way: lane << SIM_UNIT_BITS | units. */
enum { SIM_UNIT_BITS = 16 };

/* A lane of an output: room in the buffer at the other end. */
struct sim_lane {
	int32_t credits;  /* left of its own part; below 0: units of the shared one */
	bool is_blocked;  /* a packet waits for credits */
	uint16_t last;	  /* unit from which the next choice starts */
	uint64_t waiters; /* of small switches: units that wait for it */
};

/* A cache line. */
struct sim_port {
	/* End of sending of an endpoint, of reading of an input, if reads_apart; with
	 * drops what an output sends: size << 1 | lane */
	uint64_t busy;
	uint64_t wants;	   /* of small switches: outputs that the input wants */
	uint32_t peer, sw; /* sw FAB_NONE: an endpoint's */
	uint32_t per_byte;
	uint32_t reading;  /* multicast packet that the input reads, FAB_NONE */
	uint32_t queue;	   /* the input's first of a lane */
	uint16_t part;	   /* that has the peer */
	uint16_t local;	   /* number at the switch */
	uint16_t out_from; /* input that feeds the output */
	uint16_t waited;   /* lanes for which units have a packet: a bit each */
	bool is_blocked;   /* a lane waits for credit, and the time is counted */
	uint8_t last_vl;
	struct sim_lane lane; /* 0 */
};

/* Sums of the measured time. */
struct sim_lane_sums {
	uint64_t busy, bytes; /* ticks, and bytes started */
	uint64_t waited, packets;
	uint64_t no_credit, since; /* since 0: not blocked */
};

/* A small switch, of at most 64 units, has its bits here, in its ports and lanes. A cache
 * line. */
struct sim_switch {
	uint64_t free_units, free_outs, dirty_outs;
	uint64_t turned;     /* time when the turn was moved last; UINT64_MAX */
	uint32_t word_first; /* into word: free units, free outputs, dirty outputs; then
				for each output and lane units that wait; for each input
				outputs that it wants */
	uint32_t port_first;
	uint16_t part;
	uint16_t n_ports, n_arcs, n_units;
	uint16_t unit_words, out_words;
	uint16_t turn;	      /* the output with which the next choice starts */
	uint16_t next_choice; /* of round-robin adaptive routing */
	bool is_dirty;	      /* an output may start a packet */
	bool is_small;
};
_Static_assert(sizeof(struct sim_port) == 64 && sizeof(struct sim_switch) == 64,
	       "a cache line each");

enum sim_source_state { SIM_IDLE, SIM_HAS, SIM_BORN };

/* The message that an endpoint sends. */
struct sim_source {
	uint64_t birth, due; /* due: of the event that is set; UINT64_MAX */
	uint32_t target, row, left;
	uint32_t message;
	uint16_t tag;
	uint8_t sl, vl, state;
	bool to_group;
};

enum { SIM_BINS = 15 }; /* of the measured time */

/* Packets of an endpoint that wait, as source or as receiver: created in the measured
 * time, and the change in each bin. One cache line. */
struct sim_flow {
	int32_t created, change[SIM_BINS];
};

/* A multicast message, at its sender. */
struct sim_message {
	uint64_t birth, last; /* last: latest delivery so far */
	int64_t outstanding;  /* copies; may be below zero until all notices are read */
	uint32_t source, group, next;
	uint32_t packets;
	uint16_t tag;
	bool to_group; /* else of adaptive routing, whose packets overtake each other */
	bool is_open, is_lost, is_traced; /* open: packets are still to be sent */
};

enum sim_letter_kind {
	SIM_LETTER_PACKET,    /* to port `id` at `time` */
	SIM_LETTER_CREDIT,    /* to output `id`: packet.vl, packet.size units */
	SIM_LETTER_COPIES,    /* message `packet.target`: id copies more, at time */
	SIM_LETTER_COMPLETED, /* to endpoint `id` */
};

struct sim_letter {
	uint64_t time;
	uint32_t id;
	enum sim_letter_kind kind;
	struct sim_packet packet;
};

struct sim_post {
	FAB_VEC(struct sim_letter) of;
	uint64_t first; /* time of the earliest */
	size_t n_packets;
};

/* Why the network loses a packet. */
enum sim_loss {
	SIM_LOOPED,	/* after FAB_SIM_HOPS_MAX hops */
	SIM_UNROUTABLE, /* no path, or a dead cable */
	SIM_DOWN,	/* a cable that is down for a time */
	SIM_FULL,	/* no room in a buffer */
	SIM_DEAD,	/* in what has died, or sent to it unknowingly */
	SIM_LOSSES
};

/* Sums of a part; all but hops_max are added up in the end. */
struct sim_sums {
	uint64_t born, injected, copied, delivered, dropped[SIM_LOSSES], unknown_sl;
	uint64_t lost; /* packets that were created without a path */
	uint64_t trimmed, marked;
	uint64_t packet_hops, events;
	uint64_t window_born, window_sent, window_in_flight; /* packets; modulo 2^64 */
	uint64_t offered, sent, accepted, goodput; /* bytes of the measured time */
	uint64_t arrived;			   /* bytes, ever: for the warm-up */
	uint64_t arrived_latency;
	uint64_t n_latency, latency, hops, n_wait, wait, n_message, message;
	uint64_t lost_live, dodged; /* sim/failure.h */
	uint32_t hops_max;
};

struct sim_group_sums {
	uint64_t n, latency, most;
};

/* An event of a ring: a head at a port's switch, or an output that has sent a packet. */
struct sim_arrival {
	uint64_t time;
	uint32_t port, packet;
};

/* Events before `head` are done, those before `routed` know their output. */
struct sim_ring {
	struct sim_arrival *v;
	size_t head, routed, tail, cap;
	uint64_t last; /* time of the event added last */
};

enum { SIM_RING_ROOM = 16, SIM_CHOICES_ROOM = 64 }; /* read or written beyond the last */

/*
 * An adaptive packet that waits for room behind an output: on the lanes of the tables
 * towards its target, or towards the middle of its detour; on the adaptive lane behind
 * the outputs of these bits (all: it is asked whatever the output).
 */
struct sim_waiter {
	uint64_t which; /* port << 32 | packet */
	uint64_t bits[2];
	uint16_t out[2], vl[2];
	int32_t units;
};

/* Those of a switch, in order of arrival. */
struct sim_waiting {
	FAB_VEC(struct sim_waiter) of;
};

struct sim_part;

/*
 * User of the network. Messages (sim/endpoints.c) have parts for threads; transfers
 * (lib/rdma) have one. Calls while a part runs have its time, p->now.
 */
struct sim_host {
	/* An endpoint may send: SIM_SEND, or a credit for which it waits has come. */
	void (*send)(struct sim_part *p, uint32_t end);
	/* An event of its own kinds, SIM_OWN and above. */
	void (*event)(struct sim_part *p, uint32_t what, uint32_t item);
	/* A packet starts on the cable to its endpoint, for `wire` ticks. NULL: the host
	 * is told when it has arrived. */
	void (*deliver)(struct sim_part *p, uint32_t end, uint32_t packet, uint64_t wire);
	void (*arrived)(struct sim_part *p, uint32_t end, uint32_t packet);
	/* The network has lost a packet, whose cell is free afterwards. */
	void (*lost)(struct sim_part *p, uint32_t packet, enum sim_loss why);
	/* A packet starts on the cable of a port. NULL: not wanted. */
	void (*starts)(struct sim_part *p, uint32_t port, uint32_t packet);
	/* An endpoint learns that it is cut off: of hosts that simulate failures. */
	void (*cut)(struct sim_part *p, uint32_t end);
	/* Is the cable of a port down now? NULL: none ever is. */
	bool (*is_down)(const struct sim_part *p, uint32_t port);
	/* Events of one time come by what and item; else in any order. */
	bool is_ordered;
	bool counts_queues; /* sim.queued; unicast, no fifo switches */
	bool ends_hops;	    /* adaptive packets, too, are lost after FAB_SIM_HOPS_MAX */
};

struct sim_part {
	struct sim *sim;
	uint32_t index;
	uint64_t now, last_move, last_delivery;
	struct fab_wheel wheel;
	uint64_t n_early; /* events of the wheel: SIM_CREDIT */
	uint64_t n_live;  /* all but SIM_CREDIT, SIM_END and SIM_READ */
	/* Heads, outputs, credits (packet: lane << SIM_UNIT_BITS | units). */
	struct sim_ring ring, ends, credits;
	struct sim_ring short_ends; /* with drops: ends before the last one of `ends` */
	FAB_VEC(union sim_cell) cell;
	uint32_t free_cell;
	uint32_t *dirty, n_dirty;    /* [n_switches] that choose at this time */
	uint32_t *choice, n_choices; /* [n_ports + SIM_CHOICES_ROOM] their outputs */
	FAB_VEC(uint32_t) dirty_ends;
	/* Adaptive packets, as port << 32 | packet: those that have come now; those
	 * that wait for room [n_switches]. Outputs that room has come for. */
	FAB_VEC(uint64_t) undecided;
	struct sim_waiting *waiting;
	size_t n_waiting; /* of all switches */
	size_t n_blocked; /* lanes that wait for credit */
	FAB_VEC(uint64_t) credited;
	FAB_VEC(struct sim_message) message;
	uint32_t free_message;
	struct sim_post *post[2]; /* [n_parts] each, used alternately */
	unsigned turn;
	struct sim_sums sums;
	struct fab_histogram latency, message_latency;
	struct sim_group_sums *group; /* [n_groups] */
	FAB_VEC(struct fab_sim_step) trace;
	FAB_VEC(uint64_t) earliest; /* births of the first packets: sim/trace.c */
	FAB_VEC(struct fab_sim_delivery) deliveries;
	FAB_VEC(struct fab_sim_moment) moment; /* sim/failure.c */
	uint64_t last_loss;
	FAB_VEC(uint64_t) batch, sorted; /* events of one time: what << 32 | item */
	int rc;				 /* it stops; of a message that is refused */
	struct fab_err err;
};

/* A switch whose table changes, when that many blocks have been written. */
struct sim_change {
	uint32_t sw;
	uint64_t blocks;
};

enum sim_stage { SIM_ALL_LIVE, SIM_FAILED, SIM_NOTICED, SIM_RECOVERED };

/* Parts that die: sim/failure.c. Steps change it between windows. */
struct sim_failure {
	const struct fab_sim_failure *plan;
	enum sim_stage stage;
	uint64_t begin; /* of the measured time; UINT64_MAX: not yet */
	uint64_t first_table, last_table;
	bool *is_dead;	  /* [n_all] the cable of a port dies */
	bool *is_noticed; /* [n_all] it is known to be down */
	bool *end_is_cut; /* [n_ends] */
	/* Own tables: a row for each pair of rows before and after, n_copies times, as
	 * packets have met dead leaves. */
	uint16_t *next;
	uint32_t n_rows, n_copies, *before, *after; /* after FAB_NONE: no path */
	struct sim_change *change;
	uint32_t n_changes, n_changed;
	uint64_t blocks;
	struct fab_local_steps *steps;
	uint32_t met[2], n_met; /* leaves that die */
};

/* A port without bounds on buffers. */
struct sim_open_port {
	uint32_t per_byte;
	uint32_t peer;	/* port at the other end */
	uint32_t sw;	/* its switch; of an endpoint FAB_NONE */
	uint32_t first; /* first port of that */
};

struct sim {
	struct sim_net net; /* all arrays below of fixed size are in its arena */
	const struct fab_sim_params *params;
	const struct fab_messages *messages;
	struct sim_host host;
	void *context; /* of the host */
	const uint64_t
		*beside; /* of the host, [cells]: fetched with packets that arrive */
	bool one_read, is_fifo; /* of the kind of switch */
	bool all_small;
	bool with_groups;
	bool reads_apart; /* the reading of a packet may last longer or shorter than its
			     sending: groups, speedup */
	unsigned n_vls, speedup;
	unsigned adaptive_vl; /* FAB_VL_UNKNOWN: none */
	uint32_t n_switches;
	uint64_t cable_delay, hop_delay, host_delay, window;
	uint32_t least_payload; /* of a packet: what the window relies on */
	uint64_t begin, end;	/* of the measured time */
	bool by_units;		/* credits are of FAB_SIM_CREDIT_BYTES, else of packets */
	int32_t least_units;	/* credits that any packet takes */
	int32_t credits;	/* of a lane: of its own part */
	int32_t shared;		/* of the part that the lanes of a port share */
	int32_t *pool;		/* [n_all] units left of that; NULL: nothing is shared */
	int32_t *adaptive_credits;  /* [n_vls * n_all] lane by lane: sim_credits() */
	struct sim_port *port;	    /* [n_all] */
	struct sim_lane *lane;	    /* [n_all * (n_vls - 1)] from lane 1 on */
	struct sim_lane_sums *sums; /* [n_vls * n_all] lane by lane */
	struct sim_switch *sw;	    /* [n_switches] */
	struct sim_source *source;  /* [n_ends] */
	struct sim_flow *flow;	    /* [2 * n_ends]: sources, receivers; NULL: no time */
	double bins_a_tick;
	void (*run)(struct sim_part *p, uint64_t limit); /* the loop of this network */
	/* A packet that has waited for an output arrives again at its switch. */
	void (*arrive)(struct sim_part *p, uint32_t in, uint32_t packet);
	struct sim_queue *queue; /* [n_vls * n_queues] lane by lane */
	uint64_t n_queues;
	uint64_t *word;
	uint32_t n_parts;
	struct sim_part *part;
	uint32_t *end_part; /* [n_ends] */

	struct sim_failure *failure; /* NULL: nothing dies */
	bool dodges;

	/* Full buffers lose packets (params->drop): sim_credits() is the room in bytes of
	 * the output's own queue, lane 1 that of headers. */
	bool drops;
	bool is_counted;   /* messages packet by packet: adaptive or lost ones */
	int64_t *room;	   /* [n_switches] of shared buffers; NULL: of each output */
	int32_t lane_room; /* of the queue of an output when it is empty */

	/* Bytes that wait for a lane of an output, and the most so far; NULL: not
	 * counted. */
	uint64_t *queued; /* [n_all * n_vls] */
	uint64_t most_queued;

	/* without bounds on buffers: sim/open.c */
	bool is_spray;		    /* chooser: any output, else the one free first */
	struct sim_open_port *open; /* [n_all]; NULL: bounded */
	uint64_t *busy;		    /* [n_all] until then with packets that chose it */
	uint64_t longest_wait;	    /* ticks for a port */
	uint32_t longest_port;
};

/* sim/core.c: make the network of a run ready: s->net is there, the rest zeroed. The
 * caller calls fini, also after an error, and keeps params. ERANGE: too many ports. */
int sim_init(struct sim *s, const struct fab_sim_params *params,
	     const struct sim_host *host, void *context, struct fab_err *err);
void sim_fini(struct sim *s);

/* sim/open.c: the same without bounds on buffers, in one part, and with a wheel of so
 * many slots. The row of an adaptive packet is net.end_near of its target. */
void sim_init_open(struct sim *s, const struct fab_sim_params *params, uint32_t n_slots,
		   const struct sim_host *host, void *context);
/* Put a packet on the wire of an endpoint, `late` ticks late at the other end. */
void sim_open_put(struct sim_part *p, uint32_t end, uint32_t packet, uint64_t late);

/* sim/engine.c: no event of a part is before this time; UINT64_MAX: none. */
uint64_t sim_part_first(const struct sim_part *p);
/* Nothing of a part will happen, except that outputs end for which nothing waits. */
bool sim_part_is_over(const struct sim_part *p);
/* The events of a part before `limit`. */
void sim_part_run(struct sim_part *p, uint64_t limit);
void sim_part_run_plain(struct sim_part *p, uint64_t limit);
void sim_part_run_large(struct sim_part *p, uint64_t limit);
void sim_part_run_adaptive(struct sim_part *p, uint64_t limit);
void sim_part_run_drops(struct sim_part *p, uint64_t limit); /* sim/drops.c */
void sim_part_arrive(struct sim_part *p, uint32_t in, uint32_t packet);

/* sim/endpoints.c: read what the other parts wrote in the last window. */
void sim_part_read(struct sim_part *p, unsigned turn);
/* Ask all endpoints of a part for their first messages. */
void sim_part_start(struct sim_part *p);
/* Count the messages that were created before the end of the measured time and wait;
 * afterwards the sources are of no use. */
uint64_t sim_part_waiting(struct sim_part *p);
extern const struct sim_host sim_message_host;
/* A change of the number of copies of a multicast message that are under way. */
void sim_message_copies(struct sim_part *p, uint32_t source, uint32_t message,
			int64_t copies, uint64_t delivered, bool is_lost);

/* sim/multicast.c: a group packet has come by a port. */
void sim_group_arrive(struct sim_part *p, uint32_t port, uint32_t packet,
		      bool has_waited);
/* The first packet of a fifo unit asks for its output, or outputs. */
void sim_fifo_head(struct sim_part *p, uint32_t sw, uint32_t unit);
/* The copy that a unit has for an output starts, for `wire` ticks: out of its queue.
 * Returns its cell. */
uint32_t sim_group_copy(struct sim_part *p, uint32_t sw, uint32_t unit, uint32_t out,
			unsigned vl, uint64_t wire);

/* Output and lane of a packet at a switch. */
struct sim_copy {
	uint32_t out;
	unsigned vl;
};

/* All outputs of a packet in the buffer of an input (multicast: with its fan), into to[],
 * [ports of the switch]. Returns the number. */
uint32_t sim_outputs(const struct sim_part *p, uint32_t sw, uint32_t in, uint32_t packet,
		     struct sim_copy *to);

enum sim_choice {
	SIM_CHOSEN,
	SIM_LATER, /* there is no room: an event when there may be */
	SIM_NO_PATH
};

/* sim/adaptive.c: output and lane of an adaptive packet that came by a port, with room
 * taken. */
enum sim_choice sim_choose(struct sim_part *p, uint32_t in, uint32_t packet,
			   struct sim_copy *to);
/* Note that a packet waits, after SIM_LATER. */
void sim_wait(struct sim_part *p, uint64_t which);

/* sim/failure.c: after sim_init(); the measured time begins; time of the next step,
 * UINT64_MAX: none; do it, when all parts have come to its time. */
void sim_failure_init(struct sim *s);
void sim_failure_fini(struct sim *s);
void sim_failure_begin(struct sim *s, uint64_t now);
uint64_t sim_failure_next(const struct sim *s);
void sim_failure_step(struct sim *s, uint64_t now);
/* Does a head arrive by a dead cable? Then its packet is lost. */
bool sim_is_swallowed(struct sim_part *p, const struct sim_arrival *a);
void sim_failure_delivered(struct sim_part *p, const struct sim_packet *packet,
			   uint64_t time, uint64_t latency);
void sim_failure_lost(struct sim_part *p, const struct sim_packet *packet);
void sim_failure_results(const struct sim *s, struct fab_sim_result *r);
/* sim/dodge.c: sim_look_up() where switches dodge. */
bool sim_dodge(const struct sim *s, uint32_t sw, uint32_t in, struct sim_packet *packet,
	       struct sim_copy *to);

/* sim/trace.c: is a packet created at `birth` that is sent now to be traced? O(log
 * traced). */
bool sim_is_traced(struct sim_part *p, uint64_t birth);
/* A step of a traced packet: it starts on the cable of a port. */
void sim_trace(struct sim_part *p, const struct sim_packet *packet, uint32_t port,
	       unsigned vl);
/* The steps of all parts, into *r. */
void sim_take_trace(const struct sim *s, struct fab_sim_result *r);

/* sim/results.c: sums of all parts; packets in the network. */
struct sim_sums sim_all_sums(const struct sim *s);
uint64_t sim_in_flight(const struct sim_sums *sums);
/* sim/results.c, sim/deadlock.c: the result of a run that has ended. */
void sim_results(struct sim *s, struct fab_sim_result *r);
void sim_find_deadlock(const struct sim *s, struct fab_sim_result *r);

/* sim/queues.c: the network loses a packet that is in no queue and has no room to give
 * back; one that came by a port. */
void sim_lose(struct sim_part *p, uint32_t packet, enum sim_loss why);
void sim_drop(struct sim_part *p, uint32_t in, uint32_t packet, enum sim_loss why);
/* Sort keys, which differ in few of their bits. */
void sim_sort_more(struct sim_part *p, uint64_t *keys, size_t n);
SIM_HOT void sim_sort(struct sim_part *p, uint64_t *keys, size_t n)
{
	if (n > 1)
		sim_sort_more(p, keys, n);
}
/* The events of the wheel at this time into p->batch, in order. */
void sim_batch(struct sim_part *p);
/* Room for more cells; pointers to cells are stale then. */
void sim_cells_grow(struct sim_part *p);
/* Add the credits of the ring that have come; no lane waits for them. */
void sim_credits_add_due(struct sim_part *p);
/* Room for `more` events. */
void sim_ring_grow(struct sim_ring *r, size_t more);
/* Add the packets of notices, which come by time, to the ring. */
void sim_ring_merge(struct sim_part *p, const struct sim_post *post);
/* Add the time that the lanes of a port were blocked. */
void sim_count_blocked(struct sim *s, uint64_t now, uint32_t port);
