/* SPDX-License-Identifier: BSD-2-Clause */
/* State of the plain simulator. */
#pragma once

#include "support/naive.h"

/* A packet at a switch or on its way there. Copies of multicast share `body`. */
struct packet {
	bool exists;
	uint64_t ready, order; /* at this switch; order: of coming */
	uint64_t waits_since;  /* of an adaptive packet without room: a number; 0: it does
				  not  wait */
	uint64_t serial;
	uint64_t birth;
	uint32_t sw, in; /* port numbers count arcs, then endpoints, of the switch */
	uint32_t source, target, message, size;
	uint32_t number; /* copies have that of the packet as it was sent */
	uint32_t column;
	unsigned vl_in, sl;
	int hops;
	bool to_group, is_last, is_asking; /* asking: has been routed */
	uint32_t n_out;			   /* outputs left */
	uint32_t *out;
	unsigned *vl_out;
	uint64_t end; /* of the tails that have started */
	uint16_t tag;
};

struct return_ {
	uint64_t time;
	uint32_t output;
	unsigned vl;
	int units;
};

struct note {
	uint64_t time;
	uint32_t e;
	bool is_completed;
	struct fab_delivery d;
};

struct message {
	struct fab_message m;
	uint32_t left, source, id;
	bool is_there, is_born;
};

struct flight { /* of a multicast message */
	int64_t n;
	bool is_open, is_lost;
	uint64_t last;
	struct fab_message m;
	uint32_t source;
};

struct naive {
	const struct fab_sim_problem *p;
	const struct fab_sim_params *params;
	const struct fab_messages *messages;
	struct naive_result *result;
	uint32_t *first; /* [n_switches + 1] outputs; those of endpoints are behind */
	uint32_t n_out;
	unsigned n_vls;
	uint64_t now, n_ready, n_serial, n_waits;
	uint32_t n_sent;
	uint64_t *out_busy, *in_busy;
	uint64_t *reading; /* by input: serial of the packet being read */
	int *used;	   /* by output and lane: of the buffer behind it */
	int own, shared;   /* room of a lane alone, and of all lanes of a port together */
	uint32_t *next_unit; /* by output and lane */
	unsigned *next_vl;
	uint32_t *turn;
	uint32_t *asked;       /* by output: packets that ask for it */
	uint32_t *next_choice; /* by switch: round robin */
	bool *is_credited;     /* by output: credit came now */
	FAB_VEC(struct packet) packets;
	FAB_VEC(struct return_) returns;
	FAB_VEC(struct note) notes;
	FAB_VEC(struct flight) flights;
	struct message *sending;
};

uint32_t naive_n_arcs(const struct naive *n, uint32_t sw);
uint32_t naive_n_ports(const struct naive *n, uint32_t sw);
/* Port by which an endpoint hangs on its switch. */
uint32_t naive_port_of_end(const struct naive *n, uint32_t e);
/* Ticks of a packet on a cable; what it takes of a buffer. */
uint64_t naive_wire(const struct naive *n, uint32_t cable, uint32_t size);
int naive_units(const struct naive *n, uint32_t size);
/* Room for a lane behind an output, and what a packet takes of it. */
int naive_room(const struct naive *n, uint32_t output, unsigned vl);
void naive_take(struct naive *n, uint32_t output, unsigned vl, int units);
/* Does a group's packet leave a switch by this output, wherever it came from? */
bool naive_is_of_group(const struct naive *n, uint32_t group, uint32_t sw, uint32_t out);
/* After how long a source learns that a message went nowhere. */
uint64_t naive_giving_up(const struct naive *n);
void naive_note(struct naive *n, uint64_t time, uint32_t e, bool is_completed,
		struct fab_delivery d);
void naive_add_packet(struct naive *n, struct packet p);
void naive_record(struct naive *n, const struct packet *p, uint32_t port, unsigned vl,
		  int hop);

/* The output of the tables for a packet at its switch; FAB_NONE. */
uint32_t naive_table(const struct naive *n, const struct packet *p);
/* A packet asks for an output, FAB_NONE: it has no path. */
void naive_go_on(struct naive *n, struct packet *p, uint32_t out, unsigned vl);
/* Adaptive packets of this tick choose. */
void naive_adapt(struct naive *n);

/* Endpoints: the next message; what is sent now. */
void naive_pull(struct naive *n, uint32_t e);
void naive_inject(struct naive *n, uint32_t e);
