/* SPDX-License-Identifier: BSD-2-Clause */
#include "rdma/cost.h"

#include <string.h>

#include "rdma/window.h"

const struct fab_rdma_widths fab_rdma_widths = {.node = 16,
						.context = 12,
						.msgid = 20,
						.number = 12,
						.timer = 16,
						.epoch = 8,
						.mtu = 2048,
						.buffer = 64};

/* What the bits of a field are counted by. */
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
/* Whose packets these are: without it a late packet is taken for another transfer's. */
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
	{"asked", "highest number that a gap was told for", RECEIVER, NUMBER, false},
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
