/* SPDX-License-Identifier: BSD-2-Clause */
#include "rdma/context.h"

#include <errno.h>
#include <string.h>

#include "base/num.h"

/* The window */

enum { WORD = 64 };

/* Positions of the ring: a power of two that holds WBASE .. WBASE + W, whole words. */
static uint32_t ring_size(uint32_t width)
{
	uint32_t size = WORD;

	while (size < width + 1)
		size *= 2;
	return size;
}

size_t fab_rdma_window_words(uint32_t width)
{
	return ring_size(width) / WORD;
}

void fab_rdma_window_init(struct fab_rdma_window *w, uint32_t width, uint64_t *ring)
{
	*w = (struct fab_rdma_window){
		.width = width, .mask = ring_size(width) - 1, .ring = ring};
	memset(ring, 0, fab_rdma_window_words(width) * sizeof(*ring));
}

static void set(struct fab_rdma_window *w, uint32_t number)
{
	w->ring[(number & w->mask) / WORD] |= UINT64_C(1) << number % WORD;
}

/* Pass over all ones from WBASE on and free their places. */
static void slide(struct fab_rdma_window *w)
{
	for (;;) {
		uint64_t *word = &w->ring[(w->base & w->mask) / WORD];
		unsigned at = w->base % WORD, rest = WORD - at;
		uint64_t zeros = ~(*word >> at);
		unsigned ones = zeros ? (unsigned)__builtin_ctzll(zeros) : WORD;

		if (ones > rest)
			ones = rest;
		if (!ones)
			return;
		*word &= ~((ones == WORD ? ~UINT64_C(0) : (UINT64_C(1) << ones) - 1)
			   << at);
		w->base += ones;
		if (ones < rest)
			return;
	}
}

/* Outcome of an arrival, without sliding; WBASE itself is new. */
static enum fab_rdma_arrival classify(struct fab_rdma_window *w, uint32_t number)
{
	if (number < w->base)
		return FAB_RDMA_DUPLICATE;
	if (number - w->base > w->width)
		return FAB_RDMA_BEYOND;
	if (number != w->base && fab_rdma_window_bit(w, number - w->base))
		return FAB_RDMA_DUPLICATE;
	return FAB_RDMA_PLACED;
}

enum fab_rdma_arrival fab_rdma_window_take(struct fab_rdma_window *w, uint32_t number)
{
	enum fab_rdma_arrival what = classify(w, number);

	if (what != FAB_RDMA_PLACED)
		return what;
	set(w, number);
	if (number == w->base)
		slide(w);
	return what;
}

enum fab_rdma_arrival fab_rdma_window_take_as_printed(struct fab_rdma_window *w,
						      uint32_t number)
{
	enum fab_rdma_arrival what = classify(w, number);
	uint32_t loc = 0;

	if (what != FAB_RDMA_PLACED)
		return what;
	if (number != w->base) {
		set(w, number);
		return what;
	}
	while (loc < w->width && fab_rdma_window_bit(w, loc + 1))
		loc++;
	/* the new WBASE's bit falls out of WVEC, though the number has arrived */
	for (uint32_t i = 1; i <= loc; i++) {
		uint32_t at = (w->base + i) & w->mask;

		w->ring[at / WORD] &= ~(UINT64_C(1) << at % WORD);
	}
	w->base += loc;
	return what;
}

/* Arrivals */

/* One number, or a range up or down. */
static int take_one(const char *text, size_t len, struct fab_rdma_arrivals *out,
		    struct fab_err *err)
{
	const char *dash = memchr(text, '-', len);
	size_t first_len = dash ? (size_t)(dash - text) : len;
	uint64_t first, last, n;

	if (!fab_parse_u64(text, first_len, 0, UINT32_MAX - 1, &first))
		goto bad;
	last = first;
	if (dash &&
	    !fab_parse_u64(dash + 1, len - first_len - 1, 0, UINT32_MAX - 1, &last))
		goto bad;
	n = (first < last ? last - first : first - last) + 1;
	if (n > FAB_RDMA_ARRIVALS_MAX - out->number.n)
		return fab_fail(err, EINVAL, "more than %d arrivals",
				FAB_RDMA_ARRIVALS_MAX);
	FAB_RESERVE(&out->number, n);
	for (uint64_t i = 0; i < n; i++)
		FAB_PUSH(&out->number, (uint32_t)(first < last ? first + i : first - i));
	return 0;
bad:
	return fab_fail(
		err, EINVAL,
		"'%.*s' is no packet: expected numbers from 0 on and ranges as 2,1,0,4-6",
		(int)(len < 60 ? len : 60), text);
}

int fab_rdma_arrivals_parse(const char *text, struct fab_rdma_arrivals *out,
			    struct fab_err *err)
{
	out->number.n = 0;
	for (const char *at = text;; at++) {
		size_t len = strcspn(at, ",");
		int rc = take_one(at, len, out, err);

		if (rc)
			return rc;
		at += len;
		if (!*at)
			return 0;
	}
}

/* Bits of contexts */

const struct fab_rdma_widths fab_rdma_widths = {.node = 16,
						.context = 12,
						.msgid = 20,
						.number = 12,
						.timer = 16,
						.epoch = 8,
						.mtu = 2048,
						.buffer = 64};

/* Unit of the bits of a field. */
enum width {
	NODE,
	CONTEXT,
	MSGID,
	NUMBER,
	TIMER,
	TIMERS,
	EPOCH,
	FLAG,
	WINDOW,
	TIMES,
	PACKETS
};

struct row {
	const char *name, *what, *side;
	enum width width;
	bool is_listed;
};

#define SENDER "sender"
#define RECEIVER "receiver"
/* Identity of the transfer: without it a late packet is taken for one of another. */
#define IDENTITY                                                                         \
	{"node", "node of the sender", RECEIVER, NODE, false},                           \
	{                                                                                \
		"msgid", "number of the message", RECEIVER, MSGID, false                 \
	}
#define IDENTITY_WITH_CONTEXT                                                            \
	IDENTITY,                                                                        \
	{                                                                                \
		"context", "context of the sender", RECEIVER, CONTEXT, false             \
	}
#define RSW_FIELDS                                                                       \
	{"wbase", "lowest number that has not arrived", RECEIVER, NUMBER, true},         \
		{"wvec", "what of the next W has arrived", RECEIVER, WINDOW, true},      \
		{"timer", "since when WBASE is missing", RECEIVER, TIMER, true},         \
		{"is_last", "the last packet has arrived", RECEIVER, FLAG, true},        \
		{"last", "number of the last packet", RECEIVER, NUMBER, false},          \
		IDENTITY_WITH_CONTEXT
#define SACK_FIELDS                                                                      \
	{"base", "lowest number that has not arrived", RECEIVER, NUMBER, false},         \
		{"received", "what of the next W has arrived", RECEIVER, WINDOW, false}, \
		{"acknowledged", "what of them is known", SENDER, WINDOW, false},        \
		{"last", "number of the last packet", SENDER, NUMBER, false},            \
		{"timer", "retransmission timer", SENDER, TIMER, false},                 \
		IDENTITY_WITH_CONTEXT

static const struct row rsw[] = {RSW_FIELDS, {0}};
static const struct row rsw_plus[] = {
	RSW_FIELDS,
	{"asked", "highest number asked for as a gap", RECEIVER, NUMBER, false},
	{"credit", "WBASE that was last reported", RECEIVER, NUMBER, false},
	{"timers", "of the next three gaps", RECEIVER, TIMERS, false},
	{"limit", "WBASE + W as the sender knows it", SENDER, NUMBER, false},
	{0}};
static const struct row ssw[] = {
	{"node", "the destination", SENDER, NODE, true},
	{"oldest", "lowest number without acknowledgement", SENDER, NUMBER, true},
	{"next", "number that is sent next", SENDER, NUMBER, true},
	{"timer", "retransmission timer", SENDER, TIMER, true},
	{"buffer", "packets that may be sent again", SENDER, PACKETS, true},
	{0}};
static const struct row rc[] = {
	{"timer", "since when nothing has arrived", RECEIVER, TIMER, true},
	{"context", "context of the sender", RECEIVER, CONTEXT, true},
	{"total", "packets of the transfer", RECEIVER, NUMBER, true},
	{"received", "packets that have arrived", RECEIVER, NUMBER, true},
	{"epoch", "index of the retransmission", RECEIVER, EPOCH, true},
	IDENTITY,
	{0}};
static const struct row gbn[] = {
	{"expected", "number that must come next", RECEIVER, NUMBER, false},
	{"nak_sent", "it was asked for", RECEIVER, FLAG, false},
	{"oldest", "lowest number without acknowledgement", SENDER, NUMBER, false},
	{"next", "number that is sent next", SENDER, NUMBER, false},
	{"last", "number of the last packet", SENDER, NUMBER, false},
	{"timer", "retransmission timer", SENDER, TIMER, false},
	IDENTITY_WITH_CONTEXT,
	{0}};
static const struct row irn[] = {SACK_FIELDS, {0}};
static const struct row sack_ro[] = {
	SACK_FIELDS,
	{"sent", "when each of the next W was sent last", SENDER, TIMES, false},
	{"newest", "when what was last acknowledged was sent", SENDER, TIMER, false},
	{0}};

static const struct {
	const char *name;
	const struct row *rows;
	bool has_window;
} schemes[] = {
	{"rsw", rsw, true},	    {"rsw+", rsw_plus, true}, {"ssw", ssw, false},
	{"rc", rc, false},	    {"gbn", gbn, false},      {"irn", irn, true},
	{"sack-ro", sack_ro, true},
};
const size_t fab_rdma_n_costs = FAB_COUNT(schemes);

const char *fab_rdma_cost_name(size_t i)
{
	return schemes[i].name;
}

static size_t find(const char *scheme)
{
	size_t i = 0;

	while (i < FAB_COUNT(schemes) && strcmp(schemes[i].name, scheme) != 0)
		i++;
	return i;
}

bool fab_rdma_cost_has_window(const char *scheme)
{
	size_t i = find(scheme);

	return i < FAB_COUNT(schemes) && schemes[i].has_window;
}

static uint64_t bits_of(enum width width, uint32_t window,
			const struct fab_rdma_widths *w)
{
	const uint64_t bits[] = {[NODE] = w->node,
				 [CONTEXT] = w->context,
				 [MSGID] = w->msgid,
				 [NUMBER] = w->number,
				 [TIMER] = w->timer,
				 [TIMERS] = 3 * (uint64_t)w->timer,
				 [EPOCH] = w->epoch,
				 [FLAG] = 1,
				 [WINDOW] = window,
				 [TIMES] = (uint64_t)window * w->timer,
				 [PACKETS] = (uint64_t)w->buffer * w->mtu * 8};

	return bits[width];
}

bool fab_rdma_cost(const char *scheme, uint32_t window,
		   const struct fab_rdma_widths *widths, struct fab_rdma_context *out)
{
	size_t i = find(scheme);

	if (i == FAB_COUNT(schemes))
		return false;
	*out = (struct fab_rdma_context){.scheme = schemes[i].name,
					 .window = schemes[i].has_window ? window : 0};
	for (const struct row *r = schemes[i].rows; r->name; r++) {
		uint64_t bits = bits_of(r->width, window, widths);

		if (r->width == PACKETS)
			out->window = widths->buffer;
		out->field[out->n++] = (struct fab_rdma_field){r->name, r->what, r->side,
							       bits, r->is_listed};
		out->bits += bits;
		out->listed_bits += r->is_listed ? bits : 0;
	}
	return true;
}

uint64_t fab_rdma_contexts_in(uint64_t memory_bytes, uint64_t bits)
{
	/* in bytes and eighths, so that no product overflows */
	return bits ? memory_bytes / bits * 8 + memory_bytes % bits * 8 / bits
		    : UINT64_MAX;
}

uint32_t fab_rdma_cost_crossing(const char *scheme, const char *other, bool listed,
				const struct fab_rdma_widths *widths)
{
	struct fab_rdma_context a, b;
	uint32_t w = 0;

	while (++w <= FAB_RDMA_WINDOW_MAX) {
		if (!fab_rdma_cost(scheme, w, widths, &a) ||
		    !fab_rdma_cost(other, w, widths, &b))
			return 0;
		if (listed ? a.listed_bits >= b.listed_bits : a.bits >= b.bits)
			break;
	}
	return w == 1 ? 0 : w;
}
