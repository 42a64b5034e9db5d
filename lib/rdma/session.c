/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From request to completion: contexts and their numbers, refusals, and copies that come
 * late or are lost; delivery to the schemes, and timers.
 *
 * The side that asks has contexts, too (slots); a request carries the slot and its MSGID.
 * A receiver keeps, for each slot of other endpoints that it has met, the MSGID of the
 * last transfer (a tombstone, after its end): so it distinguishes a copy of a request
 * from a new one, and can complete again. A sender that has received nothing for some
 * time asks again.
 *
 * The checker compares the memory of receivers with what the schemes believe. The source
 * memory of a transfer holds a pattern of its number and the place, so that bytes from
 * another transfer, or of another place, are detected.
 */
#include "rdma/state.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "event/stream.h"

enum { SLOT_BITS = 16, BACKOFF_MAX = 10 };

/* A receiver takes a MSGID below that of the last transfer of the same sender context for
 * a late copy until so long after that transfer. */
static const uint64_t TOMBSTONE_PS = 1000000000;

/* The checker */

/* Source memory of a transfer from a place on, to the end of its word of 8 bytes; none is
 * the 0 of memory that was not written. Returns how many there are, before `end`. */
static size_t source_bytes(uint32_t transfer, uint64_t at, uint64_t end, uint64_t *bytes)
{
	uint64_t word = fab_mix64((uint64_t)transfer << 40 ^ at / 8), n = 8 - at % 8;

	*bytes = word >> at % 8 * 8 | 0x0101010101010101;
	return (size_t)(n < end - at ? n : end - at);
}

void rdma_memory_write(struct rdma *r, struct rdma_session *s,
		       const struct rdma_packet *p)
{
	uint32_t mtu = r->params->mtu, bytes = p->bytes - r->params->header;
	uint64_t at = (uint64_t)p->number * mtu;
	uint64_t end = r->problem->transfer[s->transfer].bytes;

	if (p->transfer != s->transfer || p->number >= s->n) {
		s->has_strangers = true;
	} else if (p->is_spoiled) {
		/* wrong until a good copy replaces it */
		s->n_written -= rdma_bit(s->written, p->number);
		s->written[p->number / 64] &= ~(UINT64_C(1) << p->number % 64);
	} else if (rdma_bit_set(s->written, p->number)) {
		s->n_written++;
		s->lowest_missing =
			rdma_bit_next_zero(s->written, s->lowest_missing, s->n);
	}
	end = at + bytes < end ? at + bytes : end;
	for (size_t n; s->memory && at < end; at += n) {
		uint64_t word;

		n = source_bytes(p->transfer, at, end, &word);
		word ^= p->is_spoiled ? 0x8080808080808080 : 0;
		memcpy(s->memory + at, &word, n);
	}
}

/* Memory of sessions */

static struct rdma_session *session_new(struct rdma *r, uint32_t transfer)
{
	const struct fab_rdma_transfer *t = &r->problem->transfer[transfer];
	uint32_t id = r->free_session,
		 n = (uint32_t)rdma_packets(t->bytes, r->params->mtu);
	size_t bits = ((size_t)n + 63) / 64 * sizeof(uint64_t), bytes = 0;
	unsigned needs = r->code->needs;
	uint64_t *ring = NULL;
	struct rdma_session *s;
	char *at;

	if (id == FAB_NONE) {
		id = (uint32_t)r->session.n;
		FAB_PUSH(&r->session, FAB_NEW0(1, struct rdma_session));
	} else {
		r->free_session = r->session.v[id]->next_ring;
	}
	s = r->session.v[id];
	*s = (struct rdma_session){.id = id,
				   .generation = s->generation + 1,
				   .transfer = transfer,
				   .sender = rdma_sender(t),
				   .receiver = rdma_receiver(t),
				   .is_read = t->is_read,
				   .n = n,
				   .next_ring = FAB_NONE,
				   .rx_nak = FAB_NONE,
				   .last_arrival = FAB_NONE,
				   .tx_timer = {UINT64_MAX, UINT64_MAX},
				   .rx_timer = {UINT64_MAX, UINT64_MAX},
				   .ask_armed = UINT64_MAX,
				   .heard = r->now};
	/* one block for the arrays that the scheme needs */
	const struct {
		unsigned need; /* 0: always */
		void *array;   /* address of the pointer */
		size_t bytes;
	} part[] = {
		{RDMA_NEEDS_TIME, &s->time, n * sizeof(*s->time)},
		{RDMA_NEEDS_RATE, &s->rate, sizeof(*s->rate)},
		{0, &s->written, bits},
		{RDMA_NEEDS_DUE, &s->due, bits},
		{RDMA_NEEDS_ACKED, &s->acked, bits},
		{RDMA_NEEDS_GOT, &s->got, bits},
		{RDMA_NEEDS_WINDOW, &ring,
		 fab_rdma_window_words(r->params->window) * sizeof(*ring)},
		{RDMA_NEEDS_TIMED, &s->timed, FAB_RDMA_TIMERS_MAX * sizeof(*s->timed)},
		{0, &s->sent, n * sizeof(*s->sent)}, /* of 4 bytes each */
	};

	needs |= r->params->rate_control ? RDMA_NEEDS_RATE : 0;
	for (size_t i = 0; i < FAB_COUNT(part); i++)
		bytes += (part[i].need & needs) == part[i].need ? part[i].bytes : 0;
	s->block = at = fab_zalloc(bytes + 1, 1);
	for (size_t i = 0; i < FAB_COUNT(part); i++)
		if ((part[i].need & needs) == part[i].need) {
			memcpy(part[i].array, &at, sizeof(at));
			at += part[i].bytes;
		}
	if (s->rate)
		rdma_rate_init(s->rate, r->cap);
	if (ring)
		fab_rdma_window_init(&s->window, r->params->window, ring);
	if (r->params->with_memory)
		s->memory = FAB_NEW0(t->bytes + 1, uint8_t);
	r->session_of[transfer] = s->id;
	return s;
}

/* Release a session that is closed on both sides. */
static void free_if_over(struct rdma *r, struct rdma_session *s)
{
	if (s->tx != RDMA_TX_CLOSED || s->rx_open || s->is_asked)
		return;
	rdma_ring_drop(r, s);
	r->session_of[s->transfer] = FAB_NONE;
	s->generation++; /* pending events are now stale */
	free(s->block);
	free(s->memory);
	s->block = NULL;
	s->memory = NULL;
	s->next_ring = r->free_session;
	r->free_session = s->id;
}

static struct rdma_session *session_at(const struct rdma *r, uint32_t id)
{
	return id == FAB_NONE ? NULL : r->session.v[id];
}

/* Contexts */

static uint32_t asker(const struct rdma *r, uint32_t transfer)
{
	return r->problem->transfer[transfer].source;
}

static void arm(struct rdma *r, enum rdma_event kind, const struct rdma_session *s,
		uint64_t *armed, uint64_t deadline)
{
	if (deadline >= *armed)
		return;
	*armed = deadline;
	sim_event_at(r->part, deadline, kind, s->generation & SIM_ID, s->id);
}

void rdma_timer_set(struct rdma *r, struct rdma_session *s, enum rdma_event kind,
		    uint64_t deadline)
{
	struct rdma_timer *t = kind == RDMA_TX_TIMER ? &s->tx_timer : &s->rx_timer;

	t->deadline = deadline;
	arm(r, kind, s, &t->armed, deadline);
}

static void ask_later(struct rdma *r, struct rdma_session *s)
{
	s->heard = r->now;
	arm(r, RDMA_ASK_TIMER, s, &s->ask_armed, r->now + r->ask);
}

/* The last transfer of a slot that an endpoint has met; FAB_NONE: none. */
static struct rdma_record *record(struct rdma *r, uint32_t holder, uint32_t transfer,
				  bool may_add)
{
	uint64_t pair = (uint64_t)holder * r->problem->ends->n + asker(r, transfer);
	uint64_t key = pair << SLOT_BITS | r->is[transfer].slot;
	uint32_t id = fab_map64_get(r->record_of, key);

	if (id == FAB_NONE) {
		if (!may_add)
			return NULL;
		id = (uint32_t)r->record.n;
		FAB_PUSH(&r->record, ((struct rdma_record){.session = FAB_NONE}));
		fab_map64_set(r->record_of, key, id);
	}
	return &r->record.v[id];
}

enum freshness { NEW, SAME, LATE };

static enum freshness freshness(const struct rdma *r, const struct rdma_record *rec,
				uint32_t msgid)
{
	uint64_t space = UINT64_C(1) << r->params->msgid_bits, ahead;

	if (!rec)
		return NEW;
	ahead = (msgid - rec->msgid) & (space - 1);
	if (rec->session == FAB_NONE && rec->since + TOMBSTONE_PS < r->now)
		return NEW;
	return !ahead ? SAME : ahead <= space / 2 ? NEW : LATE;
}

/* A CID of the receiver; false: none is free. */
static bool take_context(struct rdma *r, struct rdma_session *s)
{
	struct rdma_end *e = &r->end[s->receiver];

	if (e->n_contexts == r->params->contexts)
		return false;
	if (e->free_cid.n) {
		s->cid = e->free_cid.v[--e->free_cid.n];
	} else {
		s->cid = (uint16_t)e->context.n;
		FAB_PUSH(&e->context, FAB_NONE);
	}
	e->context.v[s->cid] = s->id;
	if (++e->n_contexts > r->result->peak_contexts)
		r->result->peak_contexts = e->n_contexts;
	s->rx_open = true;
	return true;
}

static void open_tx(struct rdma *r, struct rdma_session *s)
{
	s->tx = RDMA_TX_SENDING;
	if (r->may_lose_control)
		ask_later(r, s);
	rdma_ready(r, s);
}

static void note_open(struct rdma *r, struct rdma_session *s, uint32_t holder)
{
	struct rdma_record *rec = record(r, holder, s->transfer, true);

	rec->msgid = s->msgid;
	rec->session = s->id;
}

static void note_over(struct rdma *r, struct rdma_session *s, uint32_t holder)
{
	struct rdma_record *rec = record(r, holder, s->transfer, false);

	if (!rec || rec->session != s->id)
		return;
	rec->session = FAB_NONE;
	if (!rec->since && ++r->end[holder].n_records > r->result->peak_tombstones)
		r->result->peak_tombstones = r->end[holder].n_records;
	rec->since = r->now + !r->now;
}

static void give_context(struct rdma *r, uint32_t end);
static void close_rx(struct rdma *r, struct rdma_session *s)
{
	struct rdma_end *e = &r->end[s->receiver];

	s->rx_open = false;
	s->rx_timer.deadline = UINT64_MAX;
	e->context.v[s->cid] = FAB_NONE;
	FAB_PUSH(&e->free_cid, s->cid);
	e->n_contexts--;
	if (!s->is_read)
		note_over(r, s, s->receiver);
	give_context(r, s->receiver);
}

static void close_tx(struct rdma *r, struct rdma_session *s)
{
	s->tx = RDMA_TX_CLOSED;
	s->tx_timer.deadline = UINT64_MAX;
	rdma_ring_drop(r, s);
	if (s->is_read)
		note_over(r, s, s->sender);
}

static void begin(struct rdma *r, uint32_t transfer);

/* The slot of the side that asked is free, maybe for the next transfer. */
static void free_slot(struct rdma *r, struct rdma_session *s)
{
	uint32_t end = asker(r, s->transfer);
	struct rdma_end *e = &r->end[end];

	s->is_asked = false;
	e->slot.v[s->slot] = FAB_NONE;
	FAB_PUSH(&e->free_slot, s->slot);
	e->n_active--;
	/* one without a path takes none */
	while (r->pending.head[end] != FAB_NONE && e->n_active < r->params->concurrency)
		begin(r, fab_queues_pop(&r->pending, end));
}

/* The memory of the receiver is complete: is it right? */
static void check(struct rdma *r, const struct rdma_session *s)
{
	struct fab_rdma_fate *fate = &r->result->fate[s->transfer];
	uint64_t bytes = r->problem->transfer[s->transfer].bytes;
	bool is_right = !s->has_strangers && s->n_written == s->n;
	size_t n;

	for (uint64_t i = 0; is_right && s->memory && i < bytes; i += n) {
		uint64_t word;

		n = source_bytes(s->transfer, i, bytes, &word);
		is_right = !memcmp(s->memory + i, &word, n);
	}
	r->result->n_wrong += !is_right && !fate->is_wrong;
	fate->is_wrong |= !is_right;
}

/* The side that asked knows that all is there. */
static void done(struct rdma *r, struct rdma_session *s)
{
	struct fab_rdma_fate *fate = &r->result->fate[s->transfer];

	if (fate->done_ps != UINT64_MAX)
		return;
	fate->done_ps = r->now;
	r->result->n_done++;
	check(r, s);
}

void rdma_complete(struct rdma *r, struct rdma_session *s)
{
	check(r, s);
	rdma_control(r, s, false, FAB_RDMA_COMPLETION, 0, 0, false);
	if (s->is_read && s->is_asked) {
		done(r, s);
		free_slot(r, s);
	}
	close_rx(r, s);
	free_if_over(r, s);
}

void rdma_sender_done(struct rdma *r, struct rdma_session *s)
{
	if (!s->is_read)
		done(r, s);
	s->tx = RDMA_TX_CLOSING;
	s->tx_timer.deadline = UINT64_MAX;
	rdma_ring_drop(r, s);
	rdma_control(r, s, true, FAB_RDMA_CLOSE, 0, 0, false);
	if (r->may_lose_control)
		ask_later(r, s);
}

/* Requests */

static void request(struct rdma *r, struct rdma_session *s)
{
	rdma_control(r, s, !s->is_read, FAB_RDMA_RQT, 0, s->msgid, false);
	if (!s->is_read)
		s->tx = RDMA_TX_ASKING;
	ask_later(r, s);
}

/* A context is given: the sender of a WRITE gets a response, that of a READ a request. */
static void grant(struct rdma *r, struct rdma_session *s, bool responds)
{
	s->is_queued = false;
	if (!s->is_read)
		note_open(r, s, s->receiver);
	if (r->code->open_rx)
		r->code->open_rx(r, s);
	if (s->is_read)
		request(r, s);
	else if (responds)
		rdma_control(r, s, false, FAB_RDMA_RSP, 0, s->msgid, false);
}

/* The first of those that wait for a context here gets it. */
static void give_context(struct rdma *r, uint32_t end)
{
	while (r->refused.head[end] != FAB_NONE) {
		struct rdma_session *s =
			session_at(r, r->session_of[r->refused.head[end]]);
		bool waits = s && s->is_queued;

		if (waits && !take_context(r, s))
			return;
		(void)fab_queues_pop(&r->refused, end);
		if (waits)
			grant(r, s, true);
	}
}

/* No context is free: it waits for one, or gets a refusal. */
static void refuse(struct rdma *r, struct rdma_session *s)
{
	r->result->n.refusals++;
	r->result->fate[s->transfer].refusals++;
	s->is_queued = s->is_read || r->params->retry == FAB_RDMA_RETRY_QUEUE;
	if (s->is_queued)
		fab_queues_append(&r->refused, s->receiver, s->transfer);
	else
		rdma_control(r, s, false, FAB_RDMA_REFUSAL, 0, s->msgid, false);
}

static void begin(struct rdma *r, uint32_t transfer)
{
	const struct fab_rdma_transfer *t = &r->problem->transfer[transfer];
	struct rdma_end *e = &r->end[t->source];
	struct rdma_session *s;

	if (!fab_rdma_has_path(r->net, transfer)) {
		r->result->n_no_path++;
		r->result->n_packets -= rdma_packets(t->bytes, r->params->mtu);
		return;
	}
	s = session_new(r, transfer);
	if (e->free_slot.n) {
		s->slot = e->free_slot.v[--e->free_slot.n];
	} else {
		s->slot = (uint32_t)e->slot.n;
		FAB_PUSH(&e->slot, FAB_NONE);
		FAB_PUSH(&e->slot_msgid, 0);
	}
	e->slot.v[s->slot] = s->id;
	s->msgid = e->slot_msgid.v[s->slot]++ &
		   (uint32_t)((UINT64_C(1) << r->params->msgid_bits) - 1);
	s->is_asked = true;
	r->is[transfer] = (struct rdma_identity){.msgid = s->msgid, .slot = s->slot};
	e->n_active++;
	if (s->is_read) {
		if (take_context(r, s))
			grant(r, s, true);
		else
			refuse(r, s);
	} else if (r->params->no_handshake && take_context(r, s)) {
		grant(r, s, false);
		open_tx(r, s);
	} else {
		request(r, s);
	}
}

void rdma_start(struct rdma *r, uint32_t transfer)
{
	uint32_t end = asker(r, transfer);

	if (r->end[end].n_active < r->params->concurrency)
		begin(r, transfer);
	else
		fab_queues_append(&r->pending, end, transfer);
}

/* Delivery */

/* Data: to the session of its context, unless the packet has another identity. */
static void on_data(struct rdma *r, uint32_t end, const struct rdma_packet *p)
{
	const struct rdma_end *e = &r->end[end];
	const struct rdma_identity *is = &r->is[p->transfer];
	struct fab_rdma_result *result = r->result;
	struct rdma_session *s =
		p->cid < e->context.n ? session_at(r, e->context.v[p->cid]) : NULL;

	if (!s || (s->transfer != p->transfer &&
		   !(s->msgid == is->msgid && s->slot == is->slot &&
		     asker(r, s->transfer) == asker(r, p->transfer) &&
		     s->sender == rdma_sender(&r->problem->transfer[p->transfer])))) {
		result->n.zombies++;
		return;
	}
	s->has_data = true;
	s->heard = r->now;
	rdma_rate_arrived(r, s, p);
	if (p->flags & RDMA_DAMAGED) {
		result->n.damaged += !p->is_trimmed;
		result->n.trimmed += p->is_trimmed;
		if (r->code->damaged)
			r->code->damaged(r, s, p);
		rdma_rate_answered(r, s);
		return;
	}
	if (p->transfer == 0 && result->trace.n < r->params->n_traced)
		FAB_PUSH(&result->trace, p->number);
	if (p->flags & RDMA_FIRST) {
		uint32_t last = s->last_arrival, missing = s->lowest_missing;

		if (last != FAB_NONE)
			fab_histogram_add(&result->reorder, p->number > last
								    ? p->number - last
								    : last - p->number);
		s->last_arrival = p->number;
		fab_histogram_add(&result->ahead,
				  p->number > missing ? p->number - missing : 0);
	}
	r->code->data(r, s, p);
	rdma_rate_answered(r, s);
}

/* Close a transfer whose asker has started the next one in its slot. */
static void drop_old(struct rdma *r, const struct rdma_record *rec)
{
	struct rdma_session *old;

	if (!rec || rec->session == FAB_NONE)
		return;
	old = r->session.v[rec->session];
	if (old->is_read)
		close_tx(r, old);
	else
		close_rx(r, old);
	free_if_over(r, old);
}

/* A new request gets a context, or a refusal; a copy of one the same answer again. */
static void on_request(struct rdma *r, uint32_t end, const struct rdma_packet *p)
{
	struct rdma_record *rec = record(r, end, p->transfer, false);
	enum freshness how = freshness(r, rec, r->is[p->transfer].msgid);
	struct rdma_session *s = session_at(r, r->session_of[p->transfer]);

	if (!s || how == LATE || !s->is_asked) {
		r->result->n.zombies++;
	} else if (how == SAME) {
		if (!s->is_read && rec->session == FAB_NONE)
			rdma_control(r, s, false, FAB_RDMA_COMPLETION, 0, 0, false);
		else if (!s->is_read)
			rdma_control(r, s, false, FAB_RDMA_RSP, 0, s->msgid, false);
	} else {
		drop_old(r, rec);
		if (s->is_read) {
			note_open(r, s, s->sender);
			open_tx(r, s);
		} else if (s->is_queued) {
			return;
		} else if (take_context(r, s)) {
			grant(r, s, true);
		} else {
			refuse(r, s);
		}
	}
}

static void refused(struct rdma *r, struct rdma_session *s)
{
	uint64_t wait = r->params->retry_ps;

	s->tx = RDMA_TX_REFUSED;
	if (r->params->retry == FAB_RDMA_RETRY_BACKOFF) {
		struct fab_stream chance =
			fab_stream_of(r->control_seed + 1,
				      (uint64_t)s->transfer << 32 |
					      r->result->fate[s->transfer].refusals);

		wait = (uint64_t)((double)(wait << s->backoff) *
				  fab_stream_unit(&chance)) +
		       1;
		s->backoff += s->backoff < BACKOFF_MAX;
	}
	sim_event_at(r->part, r->now + wait, RDMA_RETRY, s->generation & SIM_ID, s->id);
}

/* To the side that asked, or to the sender. */
static void on_answer(struct rdma *r, const struct rdma_packet *p)
{
	const struct rdma_identity *is = &r->is[p->transfer];
	bool is_read = r->problem->transfer[p->transfer].is_read;
	bool opens = p->kind == FAB_RDMA_COMPLETION || p->kind == FAB_RDMA_RSP ||
		     p->kind == FAB_RDMA_REFUSAL;
	struct rdma_session *s =
		session_at(r, is_read ? r->session_of[p->transfer]
				      : r->end[asker(r, p->transfer)].slot.v[is->slot]);

	if (!s || (!is_read && (s->msgid != is->msgid || s->is_read)) ||
	    (opens ? s->tx == RDMA_TX_CLOSED : s->tx != RDMA_TX_SENDING)) {
		r->result->n.zombies++;
		return;
	}
	s->heard = r->now;
	if (p->flags & RDMA_REPORT || p->kind == FAB_RDMA_MARK)
		rdma_rate_report(r, s, p);
	if (p->kind == FAB_RDMA_COMPLETION) {
		if (!s->is_read)
			done(r, s);
		close_tx(r, s);
		if (!s->is_read)
			free_slot(r, s);
		free_if_over(r, s);
	} else if (p->kind == FAB_RDMA_RSP) {
		if (s->tx == RDMA_TX_ASKING || s->tx == RDMA_TX_REFUSED) {
			s->cid = p->cid;
			open_tx(r, s);
		}
	} else if (p->kind == FAB_RDMA_REFUSAL) {
		if (s->tx == RDMA_TX_ASKING)
			refused(r, s);
	} else if (p->kind != FAB_RDMA_MARK && r->code->answer) {
		r->code->answer(r, s, p);
	}
}

void rdma_deliver(struct rdma *r, uint32_t end, uint32_t id)
{
	/* a copy: its effects may move the pool */
	struct rdma_packet p = rdma_packet_get(r, id);
	struct rdma_session *s;

	if (p.flags & RDMA_DOOMED || p.hops >= FAB_SIM_HOPS_MAX) {
		rdma_lose(r, id);
		sim_cell_free(r->part, id);
		return;
	}
	sim_cell_free(r->part, id);
	if (p.kind == FAB_RDMA_DATA)
		on_data(r, end, &p);
	else if (p.kind == FAB_RDMA_RQT)
		on_request(r, end, &p);
	else if (p.kind != FAB_RDMA_ASK && p.kind != FAB_RDMA_CLOSE)
		on_answer(r, &p);
	/* the sender asks whether all is there (ASK), or knows that it is (CLOSE) */
	else if (!(s = session_at(r, r->session_of[p.transfer])) ||
		 s->tx == RDMA_TX_CLOSED)
		r->result->n.zombies++;
	else if (!s->rx_open)
		rdma_control(r, s, false, FAB_RDMA_COMPLETION, 0, 0, false);
	else if (p.kind == FAB_RDMA_CLOSE)
		rdma_complete(r, s);
	else if (r->code->asked)
		r->code->asked(r, s);
	rdma_vector_free(r, &p);
}

/* Timers */

static void ask(struct rdma *r, struct rdma_session *s)
{
	bool is_request = s->is_read ? s->rx_open && !s->has_data && s->is_asked
				     : s->tx == RDMA_TX_ASKING;

	s->ask_armed = UINT64_MAX;
	if (r->now < s->heard + r->ask) {
		arm(r, RDMA_ASK_TIMER, s, &s->ask_armed, s->heard + r->ask);
		return;
	}
	if (is_request) {
		request(r, s);
	} else if (r->may_lose_control &&
		   (s->tx == RDMA_TX_SENDING || s->tx == RDMA_TX_CLOSING)) {
		rdma_control(r, s, true,
			     s->tx == RDMA_TX_SENDING ? FAB_RDMA_ASK : FAB_RDMA_CLOSE, 0,
			     0, false);
		ask_later(r, s);
	} else if (r->may_lose_control && s->tx == RDMA_TX_REFUSED) {
		ask_later(r, s);
	}
}

void rdma_expire(struct rdma *r, enum rdma_event kind, uint32_t generation, uint32_t id)
{
	struct rdma_session *s = r->session.v[id];

	if ((s->generation & SIM_ID) != generation)
		return;
	if (kind == RDMA_ASK_TIMER) {
		ask(r, s);
	} else if (kind == RDMA_RETRY) {
		if (s->tx == RDMA_TX_REFUSED)
			request(r, s);
	} else if (kind == RDMA_RATE_TIMER) {
		rdma_rate_expired(r, s);
	} else {
		bool is_tx = kind == RDMA_TX_TIMER;
		struct rdma_timer *t = is_tx ? &s->tx_timer : &s->rx_timer;

		t->armed = t->armed == r->now ? UINT64_MAX : t->armed;
		if (t->deadline <= r->now &&
		    (is_tx ? s->tx == RDMA_TX_SENDING : s->rx_open))
			(is_tx ? r->code->tx_expired : r->code->rx_expired)(r, s);
		else if (t->deadline != UINT64_MAX)
			rdma_timer_set(r, s, kind, t->deadline);
	}
}
