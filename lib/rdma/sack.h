/* SPDX-License-Identifier: BSD-2-Clause */
/* Selective acknowledgement: what irn and sack-ro share. */
#pragma once

#include "rdma/state.h"

/* Receiver: any order, every packet is acknowledged: its number, and all below base. */
void rdma_sack_data(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p);
void rdma_sack_asked(struct rdma *r, struct rdma_session *s);

/*
 * Packets in flight as IRN counts them: next number - cumulative acknowledgement, so that
 * selective acknowledgements open nothing (Mittal et al., SIGCOMM 2018, section 3.2).
 * Receiver and sender keep a bit for each number of this range.
 */
static inline uint32_t rdma_sack_in_flight(const struct rdma_session *s)
{
	return s->next_new > s->base ? s->next_new - s->base : 0;
}

/* Packets sent that are neither acknowledged nor due to be sent again. */
static inline uint32_t rdma_sack_outstanding(const struct rdma_session *s)
{
	uint32_t known = s->base + s->n_acked + s->n_due;

	return s->next_new > known ? s->next_new - known : 0;
}

/* Sender: what is due, else the next new one within the cap. */
uint32_t rdma_sack_next(struct rdma *r, struct rdma_session *s);
/* Note what an ACK says. Is there anything new in it? */
bool rdma_sack_note(struct rdma_session *s, const struct rdma_packet *p);

/*
 * What is late, and not lost: a threshold that begins at `first` and is made four times
 * as large, up to `most`, at most once a round trip, when an ACK says that the receiver
 * had the packet already, so that what was taken for lost was late. After 16 recoveries
 * without such a report it is the first one again, as RACK has it (RFC 8985).
 */
uint64_t rdma_sack_patience(const struct rdma_session *s, uint64_t first, uint64_t most);
/* An ACK is there: is it of a copy? */
void rdma_sack_note_late(struct rdma_session *s, const struct rdma_packet *p);
/* A recovery begins, until all that has been sent by now is acknowledged. */
void rdma_sack_recover(struct rdma_session *s);
