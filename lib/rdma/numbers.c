/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets of packet numbers that schemes keep. */
#include "rdma/state.h"

enum { WORD = 64 };

bool rdma_bit(const uint64_t *bits, uint32_t number)
{
	return bits[number / WORD] >> number % WORD & 1;
}

bool rdma_bit_set(uint64_t *bits, uint32_t number)
{
	uint64_t bit = UINT64_C(1) << number % WORD, old = bits[number / WORD];

	bits[number / WORD] = old | bit;
	return !(old & bit);
}

uint32_t rdma_bit_next_zero(const uint64_t *bits, uint32_t from, uint32_t n)
{
	while (from < n) {
		uint64_t zeros = ~bits[from / WORD] >> from % WORD;

		if (zeros) {
			from += (uint32_t)__builtin_ctzll(zeros);
			return from < n ? from : n;
		}
		from += WORD - from % WORD;
	}
	return n;
}

void rdma_due_add(struct rdma_session *s, uint32_t number)
{
	if (!rdma_bit_set(s->due, number))
		return;
	if (!s->n_due++ || number < s->due_first)
		s->due_first = number;
}

/* The lowest one that is due; there is one. */
static uint32_t lowest_due(struct rdma_session *s)
{
	uint32_t at = s->due_first / WORD;

	while (!s->due[at])
		at++;
	s->due_first = at * WORD + (uint32_t)__builtin_ctzll(s->due[at]);
	return s->due_first;
}

uint32_t rdma_due_take(struct rdma_session *s)
{
	uint32_t number;

	if (!s->n_due)
		return FAB_NONE;
	number = lowest_due(s);
	s->due[number / WORD] &= ~(UINT64_C(1) << number % WORD);
	s->n_due--;
	return number;
}

void rdma_due_drop(struct rdma_session *s, uint32_t number)
{
	if (!rdma_bit(s->due, number))
		return;
	s->due[number / WORD] &= ~(UINT64_C(1) << number % WORD);
	s->n_due--;
}

void rdma_due_drop_below(struct rdma_session *s, uint32_t number)
{
	while (s->n_due && lowest_due(s) < number)
		(void)rdma_due_take(s);
}

uint32_t rdma_next_due_or_new(const struct rdma *r, struct rdma_session *s,
			      uint32_t limit)
{
	bool has_new;

	if (limit > s->n)
		limit = s->n;
	has_new = s->next_new < limit;
	if (s->n_due && !(has_new && r->params->new_first) && lowest_due(s) < limit)
		return rdma_due_take(s);
	return has_new ? s->next_new++ : FAB_NONE;
}
