/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * State of a run. Ports, lanes, switches and sources are arrays over the whole network;
 * each is changed by one part only: the one that has the switch. What parts tell each
 * other lies in letters until the window is over.
 *
 * No pointers in what is many: packets are cells of a pool, 32 bytes. Credits under way
 * are times, looked at when a lane has none left; ends of packets are a ring by time, for
 * which bits of inputs and outputs that are free are kept.
 */
#pragma once

#include "event/wheel.h"
#include "sim/network.h"
#include "sim/tables.h"

enum sim_event_kind { /* the upper 4 bits of `what`; the others: port or endpoint */
		      SIM_READY,    /* a head that came by this port has waited for the
				       slower cable */
		      SIM_END,	    /* the port is done with a packet: output */
		      SIM_READ,	    /* input, where it is not when the output is */
		      SIM_CREDIT,   /* a credit has come for a lane that waits */
		      SIM_INJECT,   /* an endpoint may send */
		      SIM_RECEIVED, /* an endpoint has a message */
		      SIM_COMPLETED /* an endpoint's message is there */
};

enum { SIM_ID_BITS = 28, SIM_ID = (1 << SIM_ID_BITS) - 1 };

static inline uint32_t sim_what(enum sim_event_kind kind, uint32_t id)
{
	return (uint32_t)kind << SIM_ID_BITS | id;
}

/* Of sim_packet.source, above the endpoint. */
enum {
	SIM_LAST = 1 << SIM_ID_BITS, /* the message's last packet */
	/* Of multicast: row is that of the tree, target the message. A packet at a switch
	 * has its fan as row; a copy that waits there has row: the packet, target: which
	 * of the row's outputs. */
	SIM_TO_GROUP = 1 << (SIM_ID_BITS + 1),
	SIM_TRACED = 1 << (SIM_ID_BITS + 2),
	SIM_LOST = (int)(1u << (SIM_ID_BITS + 3)) /* of notes: is_lost */
};

struct sim_packet {
	uint32_t next; /* in a queue; of free cells */
	uint32_t row;  /* of the tables */
	uint32_t target, source;
	uint64_t birth : 48, size : 16; /* bytes (flits) with headers */
	uint32_t since;			/* ready at this switch: low bits of the time */
	uint8_t vl : 4, sl : 4;		/* vl: of the buffer it is in */
	uint8_t hops;
	uint16_t tag;
};

/* Cells by their `next`; first: FAB_NONE: empty. */
struct sim_queue {
	uint32_t first, last;
};

/* What is left of a multicast packet at a switch. */
struct sim_fan {
	uint32_t row, left; /* copies that have not started */
	uint64_t end;	    /* of the tail of those that have */
};

/* A credit that is under way, where a lane's own places are taken. */
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

/* A lane of an output: room in the buffer at the other end. A line of the cache. */
struct sim_lane {
	int32_t credits;
	uint8_t at;		     /* the next place of bag */
	bool is_blocked;	     /* somebody waits for credits */
	uint16_t last;		     /* queue served last */
	uint32_t far_head, far_tail; /* more credits under way, by time */
	uint64_t bag[SIM_BAG];	     /* time << SIM_UNIT_BITS | units; 0: nothing */
	uint64_t wake;		     /* is_blocked: event for it; UINT64_MAX: none */
	uint64_t waiters;	     /* of small switches: units that wait for it */
};

/* Two lines of the cache, side by side. */
struct sim_port {
	uint64_t out_busy; /* of an endpoint: it sends until then */
	uint64_t in_busy;  /* it is read until then; if shape.reads_apart */
	uint64_t wants;	   /* of small switches: outputs that the input wants */
	uint64_t queue;	   /* the input's first */
	uint32_t peer, sw; /* sw: FAB_NONE: an endpoint's */
	uint32_t per_byte;
	uint32_t n_waiting; /* (lane, queue) that have something for this output */
	uint32_t reading;   /* multicast packet that the input reads, FAB_NONE */
	uint32_t part;	    /* that has the peer */
	uint16_t local;	    /* number at the switch */
	uint16_t out_from;  /* input that feeds the output */
	bool is_blocked;    /* a lane waits for credit, which is counted */
	uint8_t last_vl;
	struct sim_lane lane; /* 0 */
};

/* Of the measured time. */
struct sim_lane_sums {
	uint64_t busy, bytes; /* ticks, and bytes started */
	uint64_t waited, packets;
};

struct sim_lane_block {
	uint64_t no_credit, since; /* since: 0: not counted */
};

/* A small one, of at most 64 units, has its bitmaps here, in its ports and in its
 * lanes. A line of the cache. */
struct sim_switch {
	uint64_t free_units, free_outs, dirty_outs;
	uint64_t turned;     /* when the turn was moved last; UINT64_MAX */
	uint64_t word_first; /* into word: free units, free outputs, dirty outputs; then
				for each output and lane units that wait; for each input
				outputs that it wants */
	uint32_t port_first, part;
	uint16_t n_ports, n_arcs, n_units;
	uint16_t unit_words, out_words;
	uint16_t turn; /* the output from which the next choice goes on */
	bool is_dirty; /* not of small ones: dirty_outs tells */
	bool is_small;
};

/*
 * What the hot loop is compiled for: with the same constants in all that it calls it has
 * no choices to make for what is not there.
 */
struct sim_shape {
	bool one_read, is_fifo; /* of the kind of switch */
	bool one_lane;
	bool with_groups;
	bool reads_apart; /* an input may be read for longer, or shorter, than an output
			     sends: groups, speedup */
	bool is_small;	  /* all switches are */
};

enum sim_source_state { SIM_IDLE, SIM_HAS, SIM_BORN };

/* What an endpoint sends. */
struct sim_source {
	uint64_t birth, due; /* due: of the event that is set; UINT64_MAX */
	uint32_t target, row, left;
	uint32_t message;
	uint16_t tag;
	uint8_t sl, vl, state;
	bool to_group, is_dirty;
};

enum { SIM_BINS = 15 }; /* of the measured time */

/* Packets of an endpoint that wait, as source or as receiver: created in the measured
 * time, and by how many they changed in each bin. A line of the cache. */
struct sim_flow {
	int32_t created, change[SIM_BINS];
};

/* A multicast message, at its sender. */
struct sim_message {
	uint64_t birth, last; /* last: latest delivery so far */
	int64_t outstanding;  /* copies; may be below zero until all letters are read */
	uint32_t source, group, next;
	uint32_t packets;
	uint16_t tag;
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

/* Sums of a part; all are added up in the end. */
struct sim_sums {
	uint64_t born, injected, copied, delivered, unroutable, looped, unknown_sl;
	uint64_t lost; /* packets that were born without a path */
	uint64_t packet_hops, events;
	uint64_t window_born, window_sent, window_in_flight; /* packets; modulo 2^64 */
	uint64_t offered, sent, accepted, goodput; /* bytes of the measured time */
	uint64_t arrived;			   /* bytes, ever: for the warm-up */
	uint64_t arrived_packets, arrived_latency;
	uint64_t n_latency, latency, hops, n_wait, wait, n_message, message;
	uint32_t hops_max;
};

struct sim_group_sums {
	uint64_t n, latency, most;
};

/* A head that is at a port's switch at `time`. */
struct sim_arrival {
	uint64_t time;
	uint32_t port, packet;
	uint16_t out, vl; /* from there on; of those that are routed */
};

/* Those before `head` are over, those before `routed` know their output. */
struct sim_ring {
	struct sim_arrival *v;
	size_t head, routed, tail, cap;
};

/* An output of a switch that is done with a packet at `time`. */
struct sim_end {
	uint64_t time;
	uint32_t port;
};

struct sim_ends {
	struct sim_end *v;
	size_t head, tail, cap;
	uint64_t last; /* time of the one that was added last */
};

enum { SIM_CHOICES_ROOM = 64 }; /* written or read beyond the last */

struct sim_part {
	struct sim *sim;
	uint32_t index;
	uint64_t now, last_move, last_delivery;
	struct fab_wheel wheel;
	uint64_t n_live; /* events of the wheel, but for SIM_END and SIM_READ */
	struct sim_ring ring;
	struct sim_ends ends;
	FAB_VEC(union sim_cell) cell;
	uint32_t free_cell;
	uint32_t *dirty, n_dirty;    /* [n_switches] that choose at this time */
	uint32_t *choice, n_choices; /* [n_ports + SIM_CHOICES_ROOM] of them, outputs */
	FAB_VEC(uint32_t) dirty_ends;
	FAB_VEC(struct sim_message) message;
	uint32_t free_message;
	struct sim_post *post[2]; /* [n_parts] each: by turns */
	unsigned turn;
	struct sim_sums sums;
	struct fab_histogram latency, message_latency;
	struct sim_group_sums *group; /* [n_groups] */
	FAB_VEC(struct fab_sim_step) trace;
	FAB_VEC(uint64_t) earliest; /* births of the first packets: sim/trace.c */
	FAB_VEC(struct fab_sim_delivery) deliveries;
	int rc; /* of a message that is none */
	struct fab_err err;
};

struct sim {
	struct sim_net net;
	const struct fab_sim_params *params;
	const struct fab_messages *messages;
	struct sim_shape shape;
	unsigned n_vls, speedup;
	struct sim_tables tables;
	uint32_t n_switches;
	uint64_t cable_delay, hop_delay, host_delay, window;
	uint32_t least_payload; /* of a packet: what the window relies on */
	uint64_t begin, end;	/* of the measured time */
	bool by_units;		/* credits are of FAB_SIM_CREDIT_BYTES, else of packets */
	int32_t credits;	/* of a lane */
	struct sim_port *port;	/* [n_all] */
	struct sim_lane *lane;	/* [n_all * (n_vls - 1)] from lane 1 on */
	struct sim_lane_sums *sums;   /* [n_all * n_vls] */
	struct sim_lane_block *block; /* [n_all * n_vls] */
	struct sim_switch *sw;	      /* [n_switches] */
	struct sim_source *source;    /* [n_ends] */
	struct sim_flow *flow; /* [2 * n_ends]: sources, receivers; NULL: no time */
	double bins_a_tick;
	struct sim_queue *queue; /* [n_queues] */
	uint64_t n_queues, n_words;
	uint64_t *word;
	uint32_t n_parts;
	struct sim_part *part;
	uint32_t *end_part; /* [n_ends] */
};

/* No event and no arrival of a part is before this time; UINT64_MAX: there is none. */
uint64_t sim_part_first(const struct sim_part *p);
/* Nothing of a part will happen, but that outputs end for which nothing waits. */
bool sim_part_is_over(const struct sim_part *p);
/* The events of a part before `limit`. */
void sim_part_run(struct sim_part *p, uint64_t limit);
/* Read what the other parts wrote in the window that is over. */
void sim_part_read(struct sim_part *p, unsigned turn);
/* Ask all endpoints of a part for their first messages. */
void sim_part_start(struct sim_part *p);
/* Count the messages that were born before the end of the measured time and wait;
 * afterwards the sources are of no use. */
uint64_t sim_part_waiting(struct sim_part *p);
