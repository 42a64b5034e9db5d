/* SPDX-License-Identifier: BSD-2-Clause */
/* Selective acknowledgement: what irn and sack-ro share. */
#pragma once

#include "rdma/state.h"

/* Receiver: any order, every packet is acknowledged: its number, and all below base. */
void rdma_sack_data(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p);
void rdma_sack_asked(struct rdma *r, struct rdma_session *s);

/* Packets sent and not acknowledged, of numbers that were sent. */
static inline uint32_t rdma_sack_in_flight(const struct rdma_session *s)
{
	uint32_t known = s->base + s->n_acked + s->n_due;

	return s->next_new > known ? s->next_new - known : 0;
}

/* Sender: what is due, else the next new one within the cap. */
uint32_t rdma_sack_next(struct rdma *r, struct rdma_session *s);
/* Note what an ACK says. Is there anything new in it? */
bool rdma_sack_note(struct rdma_session *s, const struct rdma_packet *p);
