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
						.address = 64,
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
	ADDRESS,
	FLAG,
	WINDOW,
	TIMES,
	PACKETS
};

/* Sides that keep a field, and whether the paper lists it in its context. */
enum side { RX, RX_LISTED, TX, TX_LISTED };

#define PAPER_STEP2 "paper, step 2: base address + number * length"
#define PAPER_ZOMBIES "paper, 2.3.4: node, context and MSGID identify a late copy"
#define IB "InfiniBand, volume 1, 9.7"
#define IRN "Mittal et al. 2018, 3.2"
#define OURS "ours"

/* Fields of all schemes, each with the schemes that keep it and the sentence that
 * requires it. */
enum {
	RSW = 1,
	VEC = 2,
	PLUS = 4,
	SSW = 8,
	RC = 16,
	GBN = 32,
	SACK = 64,
	RO = 128,
	ALL = 255
};

static const struct {
	unsigned schemes;
	const char *name, *what, *why;
	enum width width;
	enum side side;
} fields[] = {
	{RSW | VEC | PLUS, "wbase", "lowest number that has not arrived",
	 "paper, 2.3.2: WBASE", NUMBER, RX_LISTED},
	{RSW | VEC | PLUS, "wvec", "arrivals of the next W", "paper, 2.3.2: WVEC", WINDOW,
	 RX_LISTED},
	{RSW | VEC | PLUS, "timer", "time since which WBASE is missing",
	 "paper, 2.3.4: one timer a window", TIMER, RX_LISTED},
	{RSW | VEC | PLUS, "is_last", "the last packet has arrived",
	 "paper, 3.1: flag of the last packet", FLAG, RX_LISTED},
	{RC, "timer", "time since which nothing has arrived",
	 "paper, 1.2: the counter times out", TIMER, RX_LISTED},
	{RC, "context", "context of the sender",
	 "paper, 3.1: entry of the sender's context", CONTEXT, RX_LISTED},
	{RC, "total", "packets of the transfer",
	 "paper, 1.2: whether all packets are there", NUMBER, RX_LISTED},
	{RC, "received", "packets that have arrived",
	 "paper, 1.2: the receiver counts packets", NUMBER, RX_LISTED},
	{RC, "epoch", "index of the retransmission",
	 "paper, 3.1: distinguishes retransmissions from late packets", EPOCH, RX_LISTED},
	{GBN, "expected", "number that must come next", IB, NUMBER, RX},
	{GBN, "nak_sent", "it was asked for", IB, FLAG, RX},
	{SACK | RO, "base", "lowest number that has not arrived", IRN, NUMBER, RX},
	{SACK | RO, "received", "arrivals of the next W", IRN, WINDOW, RX},
	{RSW | PLUS, "last", "number of the last packet",
	 "paper, step 3: all packets have been collected", NUMBER, RX},
	{VEC, "asked", "gaps below this number were asked for", OURS, NUMBER, RX},
	{PLUS, "asked", "highest number asked for as a gap", OURS, NUMBER, RX},
	{PLUS, "credit", "WBASE that was last reported", OURS, NUMBER, RX},
	{PLUS, "timers", "timers of the next three gaps", OURS, TIMERS, RX},
	{ALL, "node", "node of the sender", PAPER_ZOMBIES, NODE, RX},
	{ALL, "msgid", "number of the message", PAPER_ZOMBIES, MSGID, RX},
	{ALL & ~RC, "context", "context of the sender", PAPER_ZOMBIES, CONTEXT, RX},
	{ALL, "address", "base address of the target", PAPER_STEP2, ADDRESS, RX},
	{ALL, "source", "base address of the source",
	 "paper, 2.3.4: the data are read from memory again", ADDRESS, TX},
	{SSW, "target", "the destination", "paper, 3.1: a window for each receiving node",
	 NODE, TX_LISTED},
	{ALL & ~SSW, "target", "the destination", "paper, step 2: packets go to it", NODE,
	 TX},
	{ALL, "cid", "context of the receiver", "paper, step 2: packets carry the CID",
	 CONTEXT, TX},
	{ALL, "message", "number of the message", PAPER_ZOMBIES, MSGID, TX},
	{ALL, "count", "packets of the transfer",
	 "paper, step 2: a transfer is several packets", NUMBER, TX},
	{SSW, "next", "number that is sent next", "paper, 1.2: the sender's window",
	 NUMBER, TX_LISTED},
	{ALL & ~SSW, "next", "number that is sent next",
	 "paper, step 2: packets are numbered", NUMBER, TX},
	{SSW, "oldest", "lowest number without acknowledgement",
	 "paper, 1.2: the sender's window", NUMBER, TX_LISTED},
	{SSW, "retransmission", "retransmission timer",
	 "paper, 1.2: sent again on timeout", TIMER, TX_LISTED},
	{SSW, "buffer", "packets that may be sent again",
	 "paper, 3.1: a retransmission buffer for each receiving node", PACKETS,
	 TX_LISTED},
	{RC, "index", "index of the retransmission",
	 "paper, 1.2: the whole transfer again", EPOCH, TX},
	{RSW | PLUS, "first", "lowest number to send again",
	 "paper, 2.3.4: a RESEND names a packet", NUMBER, TX},
	{RSW | PLUS, "list", "numbers of the next W to send again",
	 "paper, 2.3.3: a RESEND for each packet beyond the window", WINDOW, TX},
	{VEC, "first", "WBASE of the last RESEND", OURS, NUMBER, TX},
	{VEC, "list", "gaps of WVEC of the last RESEND", OURS, WINDOW, TX},
	{PLUS, "limit", "WBASE + W as the sender knows it", OURS, NUMBER, TX},
	{GBN | SACK | RO, "oldest", "lowest number without acknowledgement", IB, NUMBER,
	 TX},
	{GBN | SACK | RO, "retransmission", "retransmission timer", IB, TIMER, TX},
	{SACK | RO, "acknowledged", "acknowledgements of the next W", IRN, WINDOW, TX},
	{RO, "sent", "times at which each of the next W was sent last", "RFC 8985, 6.1",
	 TIMES, TX},
	{RO, "newest", "time at which the newest acknowledged was sent", "RFC 8985, 6.1",
	 TIMER, TX},
};

static const struct {
	const char *name;
	unsigned bit;
	bool has_window;
} schemes[] = {
	{"rsw", RSW, true},  {"rsw-vec", VEC, true}, {"rsw+", PLUS, true},
	{"ssw", SSW, false}, {"rc", RC, false},	     {"gbn", GBN, false},
	{"irn", SACK, true}, {"sack-ro", RO, true},
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

/* Bits of a field. */
static uint64_t bits_of(enum width unit, uint32_t window, const struct fab_rdma_widths *w)
{
	const uint64_t width[] = {[NODE] = w->node,
				  [CONTEXT] = w->context,
				  [MSGID] = w->msgid,
				  [NUMBER] = w->number,
				  [TIMER] = w->timer,
				  [TIMERS] = 3 * (uint64_t)w->timer,
				  [EPOCH] = w->epoch,
				  [ADDRESS] = w->address,
				  [FLAG] = 1,
				  [WINDOW] = window,
				  [TIMES] = (uint64_t)window * w->timer,
				  [PACKETS] = (uint64_t)w->buffer * w->mtu * 8};

	return width[unit];
}

bool fab_rdma_cost(const char *scheme, uint32_t window, const struct fab_rdma_widths *w,
		   struct fab_rdma_context *out)
{
	size_t i = find(scheme);

	if (i == FAB_COUNT(schemes))
		return false;
	*out = (struct fab_rdma_context){.scheme = schemes[i].name,
					 .window = schemes[i].has_window   ? window
						   : schemes[i].bit == SSW ? w->buffer
									   : 0};
	for (size_t k = 0; k < FAB_COUNT(fields); k++) {
		bool is_listed =
			fields[k].side == RX_LISTED || fields[k].side == TX_LISTED;
		bool is_rx = fields[k].side <= RX_LISTED;
		uint64_t bits = bits_of(fields[k].width, window, w);

		if (!(fields[k].schemes & schemes[i].bit))
			continue;
		out->field[out->n++] = (struct fab_rdma_field){
			fields[k].name, fields[k].what, is_rx ? "receiver" : "sender",
			fields[k].why,	bits,		is_listed};
		out->bits += bits;
		out->receiver_bits += is_rx ? bits : 0;
		out->listed_bits += is_listed ? bits : 0;
	}
	return true;
}

uint64_t fab_rdma_contexts_in(uint64_t memory_bytes, uint64_t bits)
{
	/* in bytes and eighths, so that no product overflows */
	return bits ? memory_bytes / bits * 8 + memory_bytes % bits * 8 / bits
		    : UINT64_MAX;
}

uint32_t fab_rdma_cost_crossing(const char *scheme, const char *other,
				enum fab_rdma_part part,
				const struct fab_rdma_widths *widths)
{
	struct fab_rdma_context c[2];
	uint32_t w = 0;

	while (++w <= FAB_RDMA_WINDOW_MAX) {
		uint64_t bits[2];

		if (!fab_rdma_cost(scheme, w, widths, &c[0]) ||
		    !fab_rdma_cost(other, w, widths, &c[1]))
			return 0;
		for (int i = 0; i < 2; i++)
			bits[i] = part == FAB_RDMA_LISTED     ? c[i].listed_bits
				  : part == FAB_RDMA_RECEIVER ? c[i].receiver_bits
							      : c[i].bits;
		if (bits[0] >= bits[1])
			break;
	}
	return w == 1 ? 0 : w;
}

/* Formats of packets */

static const struct {
	const char *packet, *field, *what;
	enum width width;
} packet_fields[] = {
	{"rqt", "node", "of the sender", NODE},
	{"rqt", "context", "of the sender", CONTEXT},
	{"rqt", "msgid", "number of the message", MSGID},
	{"rqt", "address", "base address of the target", ADDRESS},
	{"rqt", "count", "packets of the transfer", NUMBER},
	{"rsp", "context", "of the sender", CONTEXT},
	{"rsp", "msgid", "number of the message", MSGID},
	{"rsp", "cid", "context of the receiver", CONTEXT},
	{"rsp", "is_refused", "no context is free", FLAG},
	{"data", "node", "of the sender", NODE},
	{"data", "context", "of the sender", CONTEXT},
	{"data", "msgid", "number of the message", MSGID},
	{"data", "cid", "context of the receiver", CONTEXT},
	{"data", "pidx", "number of the packet", NUMBER},
	{"data", "is_last", "it is the last one", FLAG},
	{"resend", "context", "of the sender", CONTEXT},
	{"resend", "msgid", "number of the message", MSGID},
	{"resend", "pidx", "number to send again", NUMBER},
	{"resend", "is_multi", "all from it on", FLAG},
	{"resend-vec", "context", "of the sender", CONTEXT},
	{"resend-vec", "msgid", "number of the message", MSGID},
	{"resend-vec", "wbase", "lowest number that has not arrived", NUMBER},
	{"resend-vec", "first", "first number asked for", NUMBER},
	{"resend-vec", "limit", "end of the numbers asked for", NUMBER},
	{"resend-vec", "wvec", "arrivals of the next W", WINDOW},
	{"completion", "context", "of the sender", CONTEXT},
	{"completion", "msgid", "number of the message", MSGID},
};
const size_t fab_rdma_n_packet_fields = FAB_COUNT(packet_fields);

struct fab_rdma_packet_field fab_rdma_packet_field(size_t i, uint32_t window,
						   const struct fab_rdma_widths *w)
{
	return (struct fab_rdma_packet_field){
		packet_fields[i].packet, packet_fields[i].field, packet_fields[i].what,
		(uint32_t)bits_of(packet_fields[i].width, window, w)};
}
