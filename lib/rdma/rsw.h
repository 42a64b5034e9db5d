/* SPDX-License-Identifier: BSD-2-Clause */
/* What rsw and rsw+ share. */
#pragma once

#include "rdma/state.h"

void rdma_rsw_open_rx(struct rdma *r, struct rdma_session *s);
uint32_t rdma_rsw_next(struct rdma *r, struct rdma_session *s);
/* A RESEND is at the sender. */
void rdma_rsw_resend(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p);
/* Send a RESEND. */
void rdma_rsw_ask_for(struct rdma *r, struct rdma_session *s, uint32_t number,
		      bool multi);
/* An arrival into the window; was it new? */
bool rdma_rsw_take(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p);
bool rdma_rsw_has_all(const struct rdma_session *s);
void rdma_rsw_expired(struct rdma *r, struct rdma_session *s);
