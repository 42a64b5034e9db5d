/* SPDX-License-Identifier: BSD-2-Clause */
#include "rdma/sack.h"

static void acknowledge(struct rdma *r, struct rdma_session *s, uint32_t number,
			bool was_there)
{
	rdma_control(r, s, false, FAB_RDMA_ACK, number, s->rx_base, was_there);
}

void rdma_sack_data(struct rdma *r, struct rdma_session *s, const struct rdma_packet *p)
{
	if (!rdma_bit_set(s->got, p->number)) {
		r->result->n.duplicates++;
		acknowledge(r, s, p->number, true);
		return;
	}
	rdma_memory_write(r, s, p);
	if (++s->rx_count == s->n) {
		rdma_complete(r, s);
		return;
	}
	s->rx_base = rdma_bit_next_zero(s->got, s->rx_base, s->n);
	acknowledge(r, s, p->number, false);
}

void rdma_sack_asked(struct rdma *r, struct rdma_session *s)
{
	/* base is not there yet: nothing but what is below is told */
	rdma_control(r, s, false, FAB_RDMA_ACK, FAB_NONE, s->rx_base, false);
}

/* One below base does not count any more. */
static void forget_below(struct rdma_session *s, uint32_t base)
{
	for (uint32_t i = s->base; i < base; i++)
		s->n_acked -= rdma_bit_set(s->acked, i) ? 0 : 1;
	s->base = base;
	rdma_due_drop_below(s, base);
}

uint32_t rdma_sack_next(struct rdma *r, struct rdma_session *s)
{
	if (s->n_due)
		return rdma_due_take(s);
	if (s->next_new == s->n || rdma_sack_in_flight(s) >= r->cap)
		return FAB_NONE;
	s->next_new++;
	if (rdma_sack_in_flight(s) > r->result->peak_range)
		r->result->peak_range = rdma_sack_in_flight(s);
	return s->next_new - 1;
}

bool rdma_sack_note(struct rdma_session *s, const struct rdma_packet *p)
{
	bool is_new = false;

	if (p->kind != FAB_RDMA_ACK || p->value > s->n)
		return false;
	if (p->number < s->n && p->number >= s->base &&
	    rdma_bit_set(s->acked, p->number)) {
		s->n_acked++;
		rdma_due_drop(s, p->number);
		is_new = true;
	}
	if (p->value > s->base) {
		forget_below(s, p->value);
		is_new = true;
	}
	if (p->number < s->n && p->number >= s->highest)
		s->highest = p->number + 1;
	return is_new;
}

enum { RECOVERIES = 16, RAISED_MAX = 31 };

uint64_t rdma_sack_patience(const struct rdma_session *s, uint64_t first, uint64_t most)
{
	unsigned bits = 2 * s->raised;

	return first < most >> bits ? first << bits : most;
}

void rdma_sack_note_late(struct rdma_session *s, const struct rdma_packet *p)
{
	if (!(p->flags & RDMA_MULTI))
		return;
	if (s->base >= s->late_until && s->raised < RAISED_MAX) {
		s->raised++;
		s->late_until = s->next_new;
	}
	s->n_recoveries = 0;
}

void rdma_sack_recover(struct rdma_session *s)
{
	if (s->n_recoveries++ == RECOVERIES)
		s->raised = s->n_recoveries = 0;
	s->is_recovering = true;
	s->recover = s->next_new - 1;
}
