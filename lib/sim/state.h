/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * State of a run, and the short operations of its hot loop. Ports, lanes, switches and
 * sources are arrays over the whole network; each element is changed by one part only,
 * the one that has the switch. Notices between parts are delivered at the end
 * of a window.
 *
 * Packets are cells of a pool, 32 bytes, linked by numbers. Credits under way are times,
 * collected when a lane has none left. Bits mark which inputs and outputs are free and
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
		      SIM_CREDIT, /* a credit has come for a lane that waits */
		      SIM_SEND,	  /* an endpoint may send */
		      SIM_OWN,	  /* of the host: this one and those above */
		      SIM_RECEIVED = SIM_OWN, /* a message is at its endpoint */
		      SIM_COMPLETED	      /* a message of an endpoint has arrived */
};

/* Hops after which a packet that is on the lanes of the tables stays there. */
enum { SIM_RETURN_HOPS = 64 };

enum { SIM_ID_BITS = 28, SIM_ID = (1 << SIM_ID_BITS) - 1, SIM_WORD = 64 };

SIM_HOT uint32_t sim_what(enum sim_event_kind kind, uint32_t id)
{
	return (uint32_t)kind << SIM_ID_BITS | id;
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
	uint32_t next;		 /* in a queue; of free cells */
	uint32_t row;		 /* of the tables; of adaptive routing the message */
	uint32_t target, source; /* source, birth: as the host likes */
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

/* A credit under way, if the places of its lane are taken. */
struct sim_credit {
	uint32_t next, units;
	uint64_t time;
};

union sim_cell {
	struct sim_packet packet;
	struct sim_fan fan;
	struct sim_credit credit;
	uint64_t word[4];
};

enum { SIM_BAG = 4, SIM_UNIT_BITS = 16 };

/* A lane of an output: room in the buffer at the other end. One cache line. */
struct sim_lane {
	int32_t credits;
	uint8_t at;		     /* the next place of bag */
	bool is_blocked;	     /* a packet waits for credits */
	uint16_t last;		     /* unit from which the next choice starts */
	uint32_t far_head, far_tail; /* more credits under way, by time */
	uint64_t bag[SIM_BAG];	     /* time << SIM_UNIT_BITS | units; 0: nothing */
	uint64_t wake;		     /* is_blocked: time of its event; UINT64_MAX: none */
	uint64_t waiters;	     /* of small switches: units that wait for it */
};

/* Two adjacent cache lines. */
struct sim_port {
	uint64_t out_busy; /* of an endpoint: end of sending */
	uint64_t in_busy;  /* end of reading, if reads_apart */
	uint64_t wants;	   /* of small switches: outputs that the input wants */
	uint64_t queue;	   /* the input's first */
	uint32_t peer, sw; /* sw FAB_NONE: an endpoint's */
	uint32_t per_byte;
	uint32_t n_waiting; /* (lane, unit) that have a packet for this output */
	uint32_t reading;   /* multicast packet that the input reads, FAB_NONE */
	uint32_t part;	    /* that has the peer */
	uint16_t local;	    /* number at the switch */
	uint16_t out_from;  /* input that feeds the output */
	bool is_blocked;    /* a lane waits for credit, and the time is counted */
	uint8_t last_vl;
	struct sim_lane lane; /* 0 */
};

/* Sums of the measured time. */
struct sim_lane_sums {
	uint64_t busy, bytes; /* ticks, and bytes started */
	uint64_t waited, packets;
	uint64_t no_credit, since; /* since 0: not blocked */
};

/* A small switch, of at most 64 units, has its bits here, in its ports and lanes. */
struct sim_switch {
	uint64_t free_units, free_outs, dirty_outs;
	uint64_t turned;     /* time when the turn was moved last; UINT64_MAX */
	uint64_t word_first; /* into word: free units, free outputs, dirty outputs; then
				for each output and lane units that wait; for each input
				outputs that it wants */
	uint32_t port_first, part;
	uint16_t n_ports, n_arcs, n_units;
	uint16_t unit_words, out_words;
	uint16_t turn;	      /* the output with which the next choice starts */
	uint16_t next_choice; /* of round-robin adaptive routing */
	bool is_dirty;	      /* an output may start a packet */
	bool is_small;
};

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
	uint16_t out, vl; /* from there on; of routed heads */
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
	uint64_t n_live;	    /* events of the wheel except SIM_END and SIM_READ */
	struct sim_ring ring, ends; /* heads, and outputs */
	FAB_VEC(union sim_cell) cell;
	uint32_t free_cell;
	uint32_t *dirty, n_dirty;    /* [n_switches] that choose at this time */
	uint32_t *choice, n_choices; /* [n_ports + SIM_CHOICES_ROOM] their outputs */
	FAB_VEC(uint32_t) dirty_ends;
	/* Adaptive packets, as port << 32 | packet: those that have come now; those
	 * that wait for room [n_switches]. Outputs that room has come for. */
	FAB_VEC(uint64_t) undecided;
	struct sim_waiting *waiting;
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

/* A port as it is without bounds on buffers. */
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
	int32_t credits;	/* of a lane */
	struct sim_port *port;	/* [n_all] */
	struct sim_lane *lane;	/* [n_all * (n_vls - 1)] from lane 1 on */
	struct sim_lane_sums *sums; /* [n_all * n_vls] */
	struct sim_switch *sw;	    /* [n_switches] */
	struct sim_source *source;  /* [n_ends] */
	struct sim_flow *flow;	    /* [2 * n_ends]: sources, receivers; NULL: no time */
	double bins_a_tick;
	void (*run)(struct sim_part *p, uint64_t limit); /* the loop of this network */
	struct sim_queue *queue;			 /* [n_queues] */
	uint64_t n_queues, n_words;
	uint64_t *word;
	uint32_t n_parts;
	struct sim_part *part;
	uint32_t *end_part; /* [n_ends] */

	struct sim_failure *failure; /* NULL: nothing dies */
	bool dodges;

	/* Full buffers lose packets (params->drop): lane.credits is the room in bytes of
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
void sim_part_run_adaptive(struct sim_part *p, uint64_t limit);

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
/* sim/engine.c: a packet that has waited for an output chooses again. */
void sim_arrive_again(struct sim_part *p, uint32_t in, uint32_t packet);
/* sim/endpoints.c: an endpoint learns that it is cut off. */
void sim_endpoint_cut(struct sim_part *p, uint32_t e);
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

/* sim/results.c, sim/deadlock.c: the result of a run that has ended. */
void sim_results(struct sim *s, struct fab_sim_result *r);
void sim_find_deadlock(const struct sim *s, struct fab_sim_result *r);

/* sim/drops.c: room in the queue of an output for a packet that came by a port, and
 * its lane; false: it is lost. */
bool sim_admit(struct sim_part *p, uint32_t in, uint32_t packet, uint32_t out,
	       unsigned *vl);
/* An output has sent a packet: room. */
void sim_leave(struct sim_part *p, uint32_t out);

/* sim/queues.c: a packet that came by a port goes no further. */
void sim_drop(struct sim_part *p, uint32_t in, uint32_t packet, enum sim_loss why);
/* Sort keys, which differ in few of their bits. */
void sim_sort(struct sim_part *p, uint64_t *keys, size_t n);
/* The events of the wheel at this time into p->batch, in order. */
void sim_batch(struct sim_part *p);
/* Room for more cells; pointers to cells are stale then. */
void sim_cells_grow(struct sim_part *p);
/* Room for `more` events. */
void sim_ring_grow(struct sim_ring *r, size_t more);
/* Add the packets of notices, which come by time, to the ring. */
void sim_ring_merge(struct sim_part *p, const struct sim_post *post);
/* A credit under way, if the places of the lane are taken. */
void sim_credit_far(struct sim_part *p, struct sim_lane *lane, uint32_t units,
		    uint64_t time);
/* Block a lane without credit, with an event at its first credit. */
void sim_credit_wait(struct sim_part *p, struct sim_lane *lane, uint32_t port);
/* Add the time that the lanes of a port were blocked. */
void sim_count_blocked(struct sim *s, uint64_t now, uint32_t port);

/*
 * Properties of a network. The loop is compiled for any network, and (SIM_PLAIN) for
 * messages on small voq switches, unicast and no speedup, where they are constants: with
 * one lane by tables, with two by adaptive routing.
 */
#ifndef SIM_LANES
#define SIM_LANES 0
#endif
#define SIM_PLAIN (SIM_LANES > 0)
SIM_HOT unsigned sim_n_vls(const struct sim *s)
{
	return SIM_PLAIN ? SIM_LANES : s->n_vls;
}

SIM_HOT bool sim_is_small(const struct sim_switch *sw)
{
	return SIM_PLAIN || sw->is_small;
}

SIM_HOT bool sim_is_fifo(const struct sim *s)
{
	return !SIM_PLAIN && s->is_fifo;
}

SIM_HOT bool sim_one_read(const struct sim *s)
{
	return SIM_PLAIN || s->one_read;
}

SIM_HOT bool sim_is_adaptive(const struct sim *s)
{
	return SIM_PLAIN ? SIM_LANES == 2 : s->params->chooser > 0;
}

SIM_HOT bool sim_drops(const struct sim *s)
{
	return !SIM_PLAIN && s->drops;
}

SIM_HOT bool sim_with_groups(const struct sim *s)
{
	return !SIM_PLAIN && s->with_groups;
}

SIM_HOT bool sim_reads_apart(const struct sim *s)
{
	return !SIM_PLAIN && s->reads_apart;
}

/* Cells. All below is O(1). */
SIM_HOT uint32_t sim_cell_new(struct sim_part *p)
{
	uint32_t id = p->free_cell;

	if (id != FAB_NONE) {
		p->free_cell = p->cell.v[id].packet.next;
		return id;
	}
	if (p->cell.n == p->cell.cap)
		sim_cells_grow(p);
	return (uint32_t)p->cell.n++;
}

SIM_HOT void sim_cell_free(struct sim_part *p, uint32_t id)
{
	p->cell.v[id].packet.next = p->free_cell;
	p->free_cell = id;
}

SIM_HOT struct sim_packet *sim_packet(const struct sim_part *p, uint32_t id)
{
	return &p->cell.v[id].packet;
}

SIM_HOT uint32_t sim_endpoint_of(const struct sim_packet *packet)
{
	return packet->source & SIM_ID;
}

/* Credits that a packet of `size` bytes (flits) takes. */
SIM_HOT int32_t sim_units(const struct sim *s, uint32_t size)
{
	return s->by_units ? (int32_t)((size + FAB_SIM_CREDIT_BYTES - 1) /
				       FAB_SIM_CREDIT_BYTES)
			   : 1;
}

SIM_HOT struct sim_lane *sim_lane(const struct sim *s, uint32_t port, unsigned vl)
{
	return vl ? &s->lane[(size_t)port * (sim_n_vls(s) - 1) + vl - 1]
		  : &s->port[port].lane;
}

SIM_HOT struct sim_lane_sums *sim_lane_sums(const struct sim *s, uint32_t port,
					    unsigned vl)
{
	return &s->sums[(size_t)port * sim_n_vls(s) + vl];
}

SIM_HOT bool sim_in_window(const struct sim *s, uint64_t time)
{
	return time >= s->begin && time < s->end;
}

/* A notice to another part. */
SIM_HOT struct sim_letter *sim_write(struct sim_part *p, uint32_t to, uint64_t time,
				     enum sim_letter_kind kind, uint32_t id)
{
	struct sim_post *post = &p->post[p->turn][to];

	FAB_RESERVE(&post->of, 1);
	post->of.v[post->of.n] =
		(struct sim_letter){.time = time, .id = id, .kind = kind};
	post->n_packets += kind == SIM_LETTER_PACKET;
	if (time < post->first)
		post->first = time;
	return &post->of.v[post->of.n++];
}

/* An event of the wheel other than SIM_END and SIM_READ. */
SIM_HOT void sim_event_at(struct sim_part *p, uint64_t time, enum sim_event_kind kind,
			  uint32_t id, uint32_t item)
{
	p->n_live++;
	fab_wheel_add(&p->wheel, time, sim_what(kind, id), item);
}

/* Take the credit in a place of the bag if it has come by now; the place is free then. */
SIM_HOT bool sim_credit_take(const struct sim_part *p, struct sim_lane *lane, unsigned i)
{
	const uint64_t units = (1u << SIM_UNIT_BITS) - 1;
	bool has_come = lane->bag[i] <= (p->now << SIM_UNIT_BITS | units);

	lane->credits += (int32_t)(lane->bag[i] & units & -(uint64_t)has_come);
	lane->bag[i] &= (uint64_t)has_come - 1;
	return has_come;
}

/* A credit that will come to an output of this part. */
SIM_HOT void sim_credit_add(struct sim_part *p, uint32_t port, unsigned vl,
			    uint32_t units, uint64_t time)
{
	struct sim_lane *lane = sim_lane(p->sim, port, vl);
	unsigned at = lane->at++ % SIM_BAG;

	/* the oldest place is usually free: no branches */
	if (sim_credit_take(p, lane, at))
		lane->bag[at] = time << SIM_UNIT_BITS | units;
	else
		sim_credit_far(p, lane, units, time);
	if (lane->is_blocked && time < lane->wake) {
		lane->wake = time;
		sim_event_at(p, time, SIM_CREDIT, port, 0);
	}
}

/* Collect the credits that have come by now. */
SIM_HOT void sim_credit_collect(struct sim_part *p, struct sim_lane *lane)
{
	for (unsigned i = 0; i < SIM_BAG; i++)
		(void)sim_credit_take(p, lane, i);
	while (lane->far_head != FAB_NONE) {
		uint32_t id = lane->far_head;
		const struct sim_credit *c = &p->cell.v[id].credit;

		if (c->time > p->now)
			break;
		lane->credits += (int32_t)c->units;
		lane->far_head = c->next;
		sim_cell_free(p, id);
	}
}

/* Is there room for a packet at the other end now? If not: an event when there may be. */
SIM_HOT bool sim_credit_has(struct sim_part *p, struct sim_lane *lane, uint32_t port,
			    int32_t units)
{
	if (lane->credits >= units)
		return true;
	sim_credit_collect(p, lane);
	if (lane->credits >= units)
		return true;
	sim_credit_wait(p, lane, port);
	return false;
}

/* Room in the buffer behind a port gets free: its sender is informed at `time`. */
SIM_HOT void sim_release(struct sim_part *p, const struct sim_port *port, unsigned vl,
			 uint32_t units, uint64_t time)
{
	struct sim_letter *l;

	if (port->part == p->index) {
		sim_credit_add(p, port->peer, vl, units, time);
		return;
	}
	l = sim_write(p, port->part, time, SIM_LETTER_CREDIT, port->peer);
	l->packet.vl = vl & 15;
	l->packet.size = (uint16_t)units;
}

/* A packet begins to wait for a lane of an output. */
SIM_HOT void sim_count_queued(struct sim *s, uint32_t out, unsigned vl, uint32_t size)
{
	uint64_t *queued = &s->queued[(size_t)out * sim_n_vls(s) + vl];

	*queued += size;
	if (*queued > s->most_queued)
		s->most_queued = *queued;
}

/* A lane of an output waits for credit from now on. */
SIM_HOT void sim_block(struct sim_part *p, uint32_t id, unsigned vl)
{
	sim_lane_sums(p->sim, id, vl)->since = p->now ? p->now : 1;
	p->sim->port[id].is_blocked = true;
}

/* Bits. */
SIM_HOT bool sim_bit(const uint64_t *word, uint32_t bit)
{
	return word[bit / SIM_WORD] >> bit % SIM_WORD & 1;
}

SIM_HOT void sim_set(uint64_t *word, uint32_t bit)
{
	word[bit / SIM_WORD] |= 1ull << bit % SIM_WORD;
}

SIM_HOT void sim_unset(uint64_t *word, uint32_t bit)
{
	word[bit / SIM_WORD] &= ~(1ull << bit % SIM_WORD);
}

SIM_HOT uint64_t *sim_free_units(const struct sim *s, struct sim_switch *sw)
{
	return sim_is_small(sw) ? &sw->free_units : s->word + sw->word_first;
}

SIM_HOT uint64_t *sim_free_outs(const struct sim *s, struct sim_switch *sw)
{
	return sim_is_small(sw) ? &sw->free_outs
				: s->word + sw->word_first + sw->unit_words;
}

SIM_HOT uint64_t *sim_dirty(const struct sim *s, struct sim_switch *sw)
{
	return sim_is_small(sw)
		       ? &sw->dirty_outs
		       : s->word + sw->word_first + sw->unit_words + sw->out_words;
}

/* Units that wait for a lane of an output. */
SIM_HOT uint64_t *sim_waiters(const struct sim *s, const struct sim_switch *sw,
			      uint32_t out, unsigned vl)
{
	if (sim_is_small(sw))
		return &sim_lane(s, sw->port_first + out, vl)->waiters;
	return s->word + sw->word_first + sw->unit_words + 2 * sw->out_words +
	       ((size_t)out * sim_n_vls(s) + vl) * sw->unit_words;
}

/* Outputs that packets of an input wait for. */
SIM_HOT uint64_t *sim_wants(const struct sim *s, const struct sim_switch *sw, uint32_t in)
{
	if (sim_is_small(sw))
		return &s->port[sw->port_first + in].wants;
	return s->word + sw->word_first + sw->unit_words + 2 * sw->out_words +
	       (size_t)sw->n_ports * sim_n_vls(s) * sw->unit_words +
	       (size_t)in * sw->out_words;
}

/* The input of a unit, and the number of units of an input. */
SIM_HOT uint32_t sim_input(const struct sim *s, uint32_t unit)
{
	return sim_is_fifo(s) && sim_n_vls(s) > 1 ? unit / sim_n_vls(s) : unit;
}

SIM_HOT uint32_t sim_units_of_input(const struct sim *s)
{
	return sim_is_fifo(s) ? sim_n_vls(s) : 1;
}

/* The queue of a unit: of fifo switches (input, its lane), else (input, output, its
 * lane). */
SIM_HOT struct sim_queue *sim_queue_of(const struct sim *s, const struct sim_port *in,
				       uint32_t unit, uint32_t out, unsigned vl)
{
	struct sim_queue *first = &s->queue[in->queue];

	if (sim_drops(s)) /* that of the output */
		return &s->queue[(in - in->local + out)->queue + vl];
	if (sim_n_vls(s) == 1)
		return sim_is_fifo(s) ? first : first + out;
	return sim_is_fifo(s) ? first + unit % sim_n_vls(s)
			      : first + (size_t)out * sim_n_vls(s) + vl;
}

SIM_HOT struct sim_queue *sim_queue(const struct sim *s, const struct sim_switch *sw,
				    uint32_t unit, uint32_t out, unsigned vl)
{
	return sim_queue_of(s, &s->port[sw->port_first + sim_input(s, unit)], unit, out,
			    vl);
}

SIM_HOT bool sim_queue_is_empty(const struct sim_queue *q)
{
	return q->first == FAB_NONE;
}

/* Append a cell; was the queue empty? */
SIM_HOT bool sim_queue_push(struct sim_part *p, struct sim_queue *q, uint32_t id)
{
	bool was_empty = sim_queue_is_empty(q);

	if (was_empty)
		q->first = id;
	else
		p->cell.v[q->last].packet.next = id;
	q->last = id;
	return was_empty;
}

/* Remove the first cell. Is the queue empty now? */
SIM_HOT bool sim_queue_pop(struct sim_part *p, struct sim_queue *q)
{
	bool is_empty = q->first == q->last;

	q->first = is_empty ? FAB_NONE : p->cell.v[q->first].packet.next;
	return is_empty;
}

/* Outputs of one word of a switch may start packets. No branch: both cases are frequent.
 */
SIM_HOT void sim_mark(struct sim_part *p, struct sim_switch *sw, uint32_t id,
		      uint32_t word, uint64_t outs)
{
	bool may = outs != 0;

	sim_dirty(p->sim, sw)[word] |= outs;
	p->dirty[p->n_dirty] = id;
	p->n_dirty += !sw->is_dirty & may;
	sw->is_dirty |= may;
}

/* A packet of an input has begun to wait for an output: mark the output if both are free;
 * else their ends do. */
SIM_HOT void sim_touch(struct sim_part *p, struct sim_switch *sw,
		       const struct sim_port *in, const struct sim_port *out)
{
	const struct sim *s = p->sim;
	bool is_free = sim_bit(sim_free_outs(s, sw), out->local);

	if (sim_one_read(s))
		is_free &=
			sim_bit(sim_free_units(s, sw), in->local * sim_units_of_input(s));
	sim_mark(p, sw, in->sw, out->local / SIM_WORD,
		 (uint64_t)is_free << out->local % SIM_WORD);
}

/* A unit begins, or ceases, to wait for a lane of an output. */
SIM_HOT void sim_want(struct sim *s, struct sim_switch *sw, uint32_t unit,
		      struct sim_port *in, struct sim_port *out, unsigned vl)
{
	sim_set(sim_waiters(s, sw, out->local, vl), unit);
	if (sim_one_read(s))
		sim_set(sim_wants(s, sw, in->local), out->local);
	out->n_waiting++;
}

SIM_HOT void sim_unwant(struct sim *s, struct sim_switch *sw, uint32_t unit,
			struct sim_port *in, struct sim_port *out, unsigned vl)
{
	uint32_t n = sim_units_of_input(s), first = in->local * n;

	sim_unset(sim_waiters(s, sw, out->local, vl), unit);
	out->n_waiting--;
	if (!sim_one_read(s))
		return;
	for (unsigned v = 0; v < sim_n_vls(s) && sim_n_vls(s) > 1; v++)
		for (uint32_t u = first; u < first + n; u++)
			if (sim_bit(sim_waiters(s, sw, out->local, v), u))
				return;
	sim_unset(sim_wants(s, sw, in->local), out->local);
}

/* An event at the end of a ring, not before the one added last. */
SIM_HOT void sim_ring_add(struct sim_ring *r, uint64_t time, uint32_t port,
			  uint32_t packet)
{
	if (r->tail == r->cap)
		sim_ring_grow(r, 1);
	r->last = time;
	r->v[r->tail++] = (struct sim_arrival){time, port, packet, 0, 0};
}

/* Time of the next event of a ring; UINT64_MAX: none. */
SIM_HOT uint64_t sim_ring_first(const struct sim_ring *r)
{
	return r->head < r->tail ? r->v[r->head].time : UINT64_MAX;
}

/* A packet starts on the cable of a port for `wire` ticks: it will be at the other end,
 * `late` ticks late, or is delivered. */
SIM_HOT void sim_start(struct sim_part *p, uint32_t id, uint32_t packet_id, unsigned vl,
		       uint64_t wire, uint64_t late)
{
	const struct sim *s = p->sim;
	const struct sim_port *port = &s->port[id];
	struct sim_packet *packet = sim_packet(p, packet_id);
	uint64_t then = p->now + s->hop_delay;

	p->sums.packet_hops++;
	p->last_move = p->now;
	if (sim_in_window(s, p->now)) {
		struct sim_lane_sums *sums = sim_lane_sums(s, id, vl);

		sums->busy += wire;
		sums->bytes += packet->size;
		sums->packets++;
		sums->waited += (uint32_t)p->now - packet->since;
	}
	if (packet->source & SIM_TRACED)
		sim_trace(p, packet, id, vl);
	if (!SIM_PLAIN && s->host.starts)
		s->host.starts(p, id, packet_id);
	packet->vl = vl & 15;
	packet->hops++;
	if (port->peer >= s->net.n_ports && (SIM_PLAIN || s->host.deliver)) {
		s->host.deliver(p, port->peer - s->net.n_ports, packet_id, wire);
	} else if (port->peer >= s->net.n_ports) {
		sim_event_at(p, p->now + s->cable_delay + wire + s->host_delay, SIM_HEAD,
			     port->peer, packet_id);
	} else if (late) {
		sim_event_at(p, then + late, SIM_HEAD, port->peer, packet_id);
	} else if (port->part == p->index) {
		sim_ring_add(&p->ring, then, port->peer, packet_id);
	} else {
		sim_write(p, port->part, then, SIM_LETTER_PACKET, port->peer)->packet =
			*packet;
		sim_cell_free(p, packet_id);
	}
}

/* The output of a packet to an endpoint at a switch by its table, whether the cable is
 * live or not; false: none. */
SIM_HOT bool sim_look_up(const struct sim *s, uint32_t id, uint32_t in,
			 struct sim_packet *packet, struct sim_copy *to)
{
	const struct sim_net *net = &s->net;
	const struct sim_switch *sw = &s->sw[id];
	uint32_t row = sim_drops(s) ? net->end_row[packet->target] : packet->row;
	uint32_t entry = sim_net_next(net, row, id);
	uint32_t here = -(uint32_t)(entry == FAB_ARC_HERE); /* no branches */
	uint32_t last = net->end_port[packet->target] - sw->port_first;
	uint32_t out = entry ^ ((entry ^ last) & here);
	uint32_t most = sw->n_arcs + ((uint32_t)(sw->n_ports - sw->n_arcs) & here);

	if (!SIM_PLAIN && s->dodges)
		return sim_dodge(s, id, in, packet, to);
	to->vl = 0;
	to->out = out;
	if (out >= most)
		return false;
	if (sim_n_vls(s) == 1)
		return true;
	to->vl = sim_net_vl(net, id, in, out, packet->sl);
	if (entry == FAB_ARC_HERE && to->vl >= net->n_table_vls)
		to->vl = sim_net_first_vl(net, packet->sl);
	return to->vl < net->n_table_vls;
}
