/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory of sessions: each has one block for the arrays that its scheme needs. */
#include "rdma/state.h"

#include <stdlib.h>

enum { WORD = 64, ALIGN = 8 };

/* Where the next array of a block is. */
static size_t take(size_t *at, size_t bytes)
{
	size_t here = *at;

	*at += (bytes + ALIGN - 1) / ALIGN * ALIGN;
	return here;
}

/* Arrays of a session of n packets; with a block their addresses, else their size. */
static size_t lay_out(const struct rdma *r, struct rdma_session *s, uint64_t **ring)
{
	size_t bits = ((size_t)s->n + WORD - 1) / WORD * sizeof(uint64_t), at = 0;
	unsigned needs = r->code->needs;
	char *b = s->block;
	size_t sent = take(&at, s->n * sizeof(*s->sent)), written = take(&at, bits);
	size_t due = take(&at, needs & RDMA_NEEDS_DUE ? bits : 0);
	size_t acked = take(&at, needs & RDMA_NEEDS_ACKED ? bits : 0);
	size_t got = take(&at, needs & RDMA_NEEDS_GOT ? bits : 0);
	size_t time = take(&at, needs & RDMA_NEEDS_TIME ? s->n * sizeof(*s->time) : 0);
	size_t window = take(&at, needs & RDMA_NEEDS_WINDOW
					  ? fab_rdma_window_words(r->params->window) *
						    sizeof(uint64_t)
					  : 0);
	size_t timed = take(&at, needs & RDMA_NEEDS_TIMED
					 ? FAB_RDMA_TIMERS_MAX * sizeof(*s->timed)
					 : 0);

	if (!b)
		return at;
	s->sent = (void *)(b + sent);
	s->written = (void *)(b + written);
	s->due = needs & RDMA_NEEDS_DUE ? (void *)(b + due) : NULL;
	s->acked = needs & RDMA_NEEDS_ACKED ? (void *)(b + acked) : NULL;
	s->got = needs & RDMA_NEEDS_GOT ? (void *)(b + got) : NULL;
	s->time = needs & RDMA_NEEDS_TIME ? (void *)(b + time) : NULL;
	s->timed = needs & RDMA_NEEDS_TIMED ? (void *)(b + timed) : NULL;
	*ring = needs & RDMA_NEEDS_WINDOW ? (void *)(b + window) : NULL;
	return at;
}

static struct rdma_session *cell(struct rdma *r)
{
	struct rdma_session *s;

	if (r->free_session != FAB_NONE) {
		s = r->session.v[r->free_session];
		r->free_session = s->next_ring;
		return s;
	}
	s = FAB_NEW0(1, struct rdma_session);
	s->id = (uint32_t)r->session.n;
	FAB_PUSH(&r->session, s);
	return s;
}

struct rdma_session *rdma_session_new(struct rdma *r, uint32_t transfer)
{
	const struct fab_rdma_transfer *t = &r->problem->transfer[transfer];
	struct rdma_session *s = cell(r);
	uint64_t *ring = NULL;

	*s = (struct rdma_session){.id = s->id,
				   .generation = s->generation + 1,
				   .transfer = transfer,
				   .sender = rdma_sender(t),
				   .receiver = rdma_receiver(t),
				   .is_read = t->is_read,
				   .n = (uint32_t)rdma_packets(t->bytes, r->params->mtu),
				   .next_ring = FAB_NONE,
				   .rx_nak = FAB_NONE,
				   .last_arrival = FAB_NONE,
				   .tx_deadline = UINT64_MAX,
				   .tx_armed = UINT64_MAX,
				   .rx_deadline = UINT64_MAX,
				   .rx_armed = UINT64_MAX,
				   .ask_armed = UINT64_MAX,
				   .heard = r->now};
	s->block = fab_zalloc(lay_out(r, s, &ring) + 1, 1);
	(void)lay_out(r, s, &ring);
	if (ring)
		fab_rdma_window_init(&s->window, r->params->window, ring);
	if (r->params->with_memory)
		s->memory = FAB_NEW0(t->bytes + 1, uint8_t);
	r->session_of[transfer] = s->id;
	return s;
}

void rdma_session_free(struct rdma *r, struct rdma_session *s)
{
	rdma_ring_drop(r, s);
	r->session_of[s->transfer] = FAB_NONE;
	s->generation++; /* events that are under way are nobody's */
	free(s->block);
	free(s->memory);
	s->block = NULL;
	s->memory = NULL;
	s->next_ring = r->free_session;
	r->free_session = s->id;
}
