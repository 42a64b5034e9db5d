/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The checker: what is in the memory of receivers, beside what the schemes believe. The
 * source memory of a transfer holds a pattern of its number and the place, so that bytes
 * from another transfer, or of another place, are seen.
 */
#include "rdma/state.h"

#include <endian.h>
#include <string.h>

#include "base/rng.h"

/* Eight bytes of source memory from place 8 * at on. */
static uint64_t pattern(uint32_t transfer, uint64_t at)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);

	/* never the 0 of memory that was not written */
	return fab_mix64((uint64_t)transfer << 40 ^ at) | ones;
}

static uint8_t byte(uint32_t transfer, uint64_t place)
{
	return (uint8_t)(pattern(transfer, place / 8) >> place % 8 * 8);
}

/* Source memory of a transfer from place `at` to `end`, into the same of another. */
static void copy(uint8_t *memory, uint32_t transfer, uint64_t at, uint64_t end)
{
	for (; at < end && at % 8; at++)
		memory[at] = byte(transfer, at);
	for (; at + 8 <= end; at += 8) {
		uint64_t word = htole64(pattern(transfer, at / 8));

		memcpy(memory + at, &word, sizeof(word));
	}
	for (; at < end; at++)
		memory[at] = byte(transfer, at);
}

void rdma_memory_arrival(struct rdma *r, struct rdma_session *s,
			 const struct rdma_packet *p)
{
	struct fab_rdma_result *result = r->result;

	if (p->transfer == 0 && result->trace.n < r->params->n_traced)
		FAB_PUSH(&result->trace, p->number);
	if (!(p->flags & RDMA_FIRST))
		return;
	if (s->last_arrival != FAB_NONE)
		fab_histogram_add(&result->reorder,
				  p->number > s->last_arrival
					  ? p->number - s->last_arrival
					  : s->last_arrival - p->number);
	s->last_arrival = p->number;
	fab_histogram_add(&result->ahead, p->number > s->lowest_missing
						  ? p->number - s->lowest_missing
						  : 0);
}

void rdma_memory_write(struct rdma *r, struct rdma_session *s,
		       const struct rdma_packet *p)
{
	uint32_t mtu = r->params->mtu, bytes = p->bytes - r->params->header;
	uint64_t at = (uint64_t)p->number * mtu;
	uint64_t end = r->problem->transfer[s->transfer].bytes;

	if (p->transfer != s->transfer || p->number >= s->n) {
		s->has_strangers = true;
	} else if (rdma_bit_set(s->written, p->number)) {
		s->n_written++;
		s->lowest_missing =
			rdma_bit_next_zero(s->written, s->lowest_missing, s->n);
	}
	if (s->memory && at < end)
		copy(s->memory, p->transfer, at, at + bytes < end ? at + bytes : end);
}

bool rdma_memory_is_right(const struct rdma *r, const struct rdma_session *s)
{
	uint64_t bytes = r->problem->transfer[s->transfer].bytes;

	if (s->has_strangers || s->n_written != s->n)
		return false;
	for (uint64_t i = 0; s->memory && i < bytes; i++)
		if (s->memory[i] != byte(s->transfer, i))
			return false;
	return true;
}
