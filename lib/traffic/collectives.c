/* SPDX-License-Identifier: BSD-2-Clause */
/* Collectives: sums, broadcasts, allgathers and barriers by schedules of rounds. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "traffic/collective.h"
#include "traffic/traffic.h"

enum { RANKS_MAX = 60000 }; /* rounds are tags */

static uint32_t ring_rounds(uint32_t n)
{
	return n > 1 ? 2 * (n - 1) : 0;
}

/* Reduce-scatter sends block rank - round; the allgather goes on with what is complete.
 */
static struct fab_round ring_round(uint32_t n, uint32_t rank, uint32_t round)
{
	uint32_t back = round % n; /* 0 .. 2n-3, less than twice around */

	return (struct fab_round){.to = (rank + 1) % n,
				  .from = (rank + n - 1) % n,
				  .first_block = (rank + n - back) % n,
				  .n_blocks = 1,
				  .is_sum = round < n - 1};
}

/* Largest power of two that is not above n > 0, as its logarithm. */
static uint32_t log_below(uint32_t n)
{
	return 31 - (uint32_t)__builtin_clz(n);
}

static uint32_t recdbl_rounds(uint32_t n)
{
	bool folds = n & (n - 1);

	return n > 1 ? log_below(n) + 2 * folds : 0;
}

/* In the first and the last round of n that is no power of two, rank `pow` + k gives its
 * vector to rank k, and gets the sum from it. */
static struct fab_round recdbl_round(uint32_t n, uint32_t rank, uint32_t round)
{
	uint32_t rounds = recdbl_rounds(n), pow = 1u << log_below(n);
	struct fab_round r = {FAB_NONE, FAB_NONE, 0, n, true};
	bool is_extra = rank >= pow, is_before = !round;

	if (pow < n && (is_before || round + 1 == rounds)) {
		r.is_sum = is_before;
		*(is_extra == is_before ? &r.to : &r.from) = is_extra	      ? rank - pow
							     : rank + pow < n ? rank + pow
									      : FAB_NONE;
	} else if (!is_extra) {
		r.to = r.from = rank ^ 1u << (round - (pow < n));
	}
	return r;
}

static uint32_t tree_rounds(uint32_t n)
{
	return n > 1 ? 2 * (log_below(n - 1) + 1) : 0;
}

/* Upwards level by level, the nearest first; downwards the other way. */
static struct fab_round tree_round(uint32_t n, uint32_t rank, uint32_t round)
{
	uint32_t depth = tree_rounds(n) / 2;
	bool is_up = round < depth;
	uint32_t bit = 1u << (is_up ? round : 2 * depth - 1 - round);
	struct fab_round r = {FAB_NONE, FAB_NONE, 0, n, is_up};

	if (rank % (2 * bit) == bit)
		*(is_up ? &r.to : &r.from) = rank - bit;
	else if (rank % (2 * bit) == 0 && bit < n - rank)
		*(is_up ? &r.from : &r.to) = rank + bit;
	return r;
}

const struct fab_schedule fab_allreduces[] = {
	{.name = "ring", .n_rounds = ring_rounds, .round = ring_round},
	{.name = "recdbl",
	 .ring_from = FAB_NONE,
	 .n_rounds = recdbl_rounds,
	 .round = recdbl_round},
	{.name = "tree",
	 .ring_from = FAB_NONE,
	 .n_rounds = tree_rounds,
	 .round = tree_round},
	{0},
};

static uint32_t depth_of(uint32_t n)
{
	return tree_rounds(n) / 2;
}

/* The way down of the binomial tree. */
static struct fab_round binomial_round(uint32_t n, uint32_t rank, uint32_t round)
{
	return tree_round(n, rank, depth_of(n) + round);
}

static uint32_t scatter_rounds(uint32_t n)
{
	return n > 1 ? depth_of(n) + n - 1 : 0;
}

/* Down the binomial tree each gets the blocks of its own part of it; then around. */
static struct fab_round scatter_round(uint32_t n, uint32_t rank, uint32_t round)
{
	uint32_t depth = depth_of(n), bit, to;
	struct fab_round r;

	if (round >= depth) {
		r = ring_round(n, rank, round - depth);
		r.is_sum = false;
		return r;
	}
	r = binomial_round(n, rank, round);
	bit = 1u << (depth - 1 - round);
	to = rank + bit;
	r.first_block = to < n ? to : 0;
	r.n_blocks = to < n ? (n - to < bit ? n - to : bit) : 0;
	return r;
}

static uint32_t once(uint32_t n)
{
	return n > 1;
}

/* Rank 0 to the group of all. */
static struct fab_round group_round(uint32_t n, uint32_t rank, uint32_t round)
{
	struct fab_round r = {FAB_NONE, FAB_NONE, 0, n, false};

	(void)round;
	*(rank ? &r.from : &r.to) = rank ? 0 : FAB_TO_GROUP;
	return r;
}

const struct fab_schedule fab_broadcasts[] = {
	{.name = "binomial",
	 .ring_from = FAB_NONE,
	 .n_rounds = depth_of,
	 .round = binomial_round},
	{.name = "scatter",
	 .is_scattered = true,
	 .n_rounds = scatter_rounds,
	 .round = scatter_round},
	{.name = "tree",
	 .ring_from = FAB_NONE,
	 .to_group = true,
	 .n_rounds = once,
	 .round = group_round},
	{0},
};

static uint32_t others(uint32_t n)
{
	return n ? n - 1 : 0;
}

static struct fab_round gather_ring_round(uint32_t n, uint32_t rank, uint32_t round)
{
	struct fab_round r = ring_round(n, rank, round);

	r.is_sum = false;
	return r;
}

/* Bruck: in round k to the rank 2^k before, all that is there, up to 2^k blocks. */
static struct fab_round bruck_round(uint32_t n, uint32_t rank, uint32_t round)
{
	uint32_t far = 1u << round, left = n - far;

	return (struct fab_round){.to = (rank + n - far) % n,
				  .from = (rank + far) % n,
				  .first_block = rank,
				  .n_blocks = left < far ? left : far};
}

/* All to the group of all; each waits for the others. */
static struct fab_round gather_group_round(uint32_t n, uint32_t rank, uint32_t round)
{
	return (struct fab_round){.to = round ? FAB_NONE : FAB_TO_GROUP,
				  .from = (rank + 1 + round) % n,
				  .first_block = rank,
				  .n_blocks = 1};
}

const struct fab_schedule fab_allgathers[] = {
	{.name = "ring", .is_each = true, .n_rounds = others, .round = gather_ring_round},
	{.name = "bruck",
	 .is_each = true,
	 .ring_from = FAB_NONE,
	 .n_rounds = depth_of,
	 .round = bruck_round},
	{.name = "tree",
	 .is_each = true,
	 .to_group = true,
	 .n_rounds = others,
	 .round = gather_group_round},
	{0},
};

/* Dissemination: in round k to the rank 2^k further. */
static struct fab_round barrier_round(uint32_t n, uint32_t rank, uint32_t round)
{
	uint32_t far = 1u << round;

	return (struct fab_round){.to = (rank + far) % n, .from = (rank + n - far) % n};
}

static uint32_t barrier_tree_rounds(uint32_t n)
{
	return n > 1 ? depth_of(n) + 1 : 0;
}

/* Up the binomial tree by messages, then rank 0 to the group of all. */
static struct fab_round barrier_tree_round(uint32_t n, uint32_t rank, uint32_t round)
{
	struct fab_round r = round < depth_of(n) ? tree_round(n, rank, round)
						 : group_round(n, rank, round);

	r.n_blocks = 0;
	return r;
}

const struct fab_schedule fab_barriers[] = {
	{.name = "dissemination",
	 .ring_from = FAB_NONE,
	 .n_rounds = depth_of,
	 .round = barrier_round},
	{.name = "tree",
	 .ring_from = FAB_NONE,
	 .to_group = true,
	 .n_rounds = barrier_tree_rounds,
	 .round = barrier_tree_round},
	{0},
};

uint64_t fab_block_bytes(uint64_t bytes, uint32_t n_ranks, uint32_t first_block,
			 uint32_t n_blocks)
{
	uint64_t each = bytes / n_ranks, longer = bytes % n_ranks, sum = 0;

	if (n_blocks == n_ranks)
		return bytes;
	for (uint32_t i = 0; i < n_blocks; i++)
		sum += each + ((first_block + i) % n_ranks < longer);
	return sum;
}

/* State of a rank. */
struct rank {
	uint64_t arrived; /* a bit a round, before the ring */
	uint64_t time;	  /* of the last arrival that it waited for */
	uint32_t n_ring;  /* arrivals of the ring */
	uint32_t round;
};

struct collective {
	const struct fab_schedule *kind;
	uint32_t n, n_rounds, ring_from;
	uint64_t bytes;	   /* of all blocks */
	struct rank *rank; /* [n] */
};

/* Has what the rank receives in a round arrived? */
static bool is_there(const struct collective *a, const struct rank *rank, uint32_t round)
{
	return round >= a->ring_from ? rank->n_ring > round - a->ring_from
				     : rank->arrived >> round & 1;
}

static bool next_of_collective(void *context, uint32_t e, uint64_t now,
			       struct fab_message *out)
{
	const struct collective *a = context;
	struct rank *rank = &a->rank[e];

	(void)now;
	for (; rank->round < a->n_rounds; rank->round++) {
		struct fab_round r = a->kind->round(a->n, e, rank->round);
		uint32_t before = rank->round - 1;
		uint64_t bytes;

		if (rank->round && a->kind->round(a->n, e, before).from != FAB_NONE &&
		    !is_there(a, rank, before))
			return false;
		if (r.to == FAB_NONE)
			continue;
		bytes = fab_block_bytes(a->bytes, a->n, r.first_block, r.n_blocks);
		*out = (struct fab_message){.time = rank->time,
					    .target = r.to == FAB_TO_GROUP ? 0 : r.to,
					    .to_group = r.to == FAB_TO_GROUP,
					    .bytes = bytes ? (uint32_t)bytes : 1,
					    .tag = (uint16_t)rank->round++};
		return true;
	}
	return false;
}

static void receive(void *context, uint32_t e, const struct fab_delivery *d)
{
	const struct collective *a = context;
	struct rank *rank = &a->rank[e];

	if (d->tag >= a->ring_from)
		rank->n_ring++;
	else
		rank->arrived |= (uint64_t)1 << d->tag;
	rank->time = d->time;
}

/* The last receive of a rank is its result, or comes before its last send. */
static uint32_t waiting_in_collective(const void *context)
{
	const struct collective *a = context;
	uint32_t n = 0;

	for (uint32_t e = 0; e < a->n; e++) {
		const struct rank *rank = &a->rank[e];
		uint32_t last = a->n_rounds;

		while (last && a->kind->round(a->n, e, last - 1).from == FAB_NONE)
			last--;
		n += rank->round < a->n_rounds || (last && !is_there(a, rank, last - 1));
	}
	return n;
}

/* The first of a table without an argument; up to a zeroed row. */
static const struct fab_schedule *find(const struct fab_schedule *all, const char *name)
{
	while (all->name && *name && strcmp(name, all->name) != 0)
		all++;
	return all;
}

static int make(const struct fab_schedule *all, const struct fab_traffic_problem *p,
		const char *argument, struct fab_traffic *out, struct fab_err *err)
{
	struct collective *a = FAB_ARENA_NEW(&out->arena, 1, struct collective);
	const struct fab_schedule *kind = find(all, argument);
	uint32_t n = p->ends->n, depth = depth_of(n);

	*a = (struct collective){
		.kind = kind,
		.n = n,
		.ring_from = kind->is_scattered ? depth : kind->ring_from,
		.bytes = (uint64_t)p->how.size[0] * (kind->is_each ? n : 1),
		.rank = FAB_ARENA_NEW0(&out->arena, (size_t)n + 1, struct rank)};
	if (kind->to_group && !p->n_groups)
		return fab_fail(
			err, EINVAL,
			"trees need the group of all hosts, which jobs do not have");
	if (kind->is_each && kind->ring_from == FAB_NONE &&
	    a->bytes / 2 > FAB_MESSAGE_BYTES_MAX)
		return fab_fail(
			err, EINVAL,
			"allgather:%s of %u bytes on %u hosts has messages of more than 1 GiB",
			kind->name, p->how.size[0], n);
	if (n > RANKS_MAX)
		return fab_fail(err, EINVAL, "collectives of more than %d hosts",
				RANKS_MAX);
	a->n_rounds = kind->n_rounds(n);
	out->n_senders = n > 1 ? n : 0;
	out->messages = (struct fab_messages){
		.context = a, .next = next_of_collective, .received = receive};
	out->unfinished = waiting_in_collective;
	return 0;
}

#define KIND(name)                                                                       \
	static int make_##name(const struct fab_traffic_problem *p,                      \
			       const char *argument, struct fab_traffic *out,            \
			       struct fab_err *err)                                      \
	{                                                                                \
		return make(fab_##name##s, p, argument, out, err);                       \
	}                                                                                \
	static int check_##name(const char *argument, struct fab_err *err)               \
	{                                                                                \
		return check(fab_##name##s, #name, argument, err);                       \
	}

static int check(const struct fab_schedule *all, const char *name, const char *argument,
		 struct fab_err *err)
{
	char text[128] = "";
	size_t len = 0;

	if (*argument && find(all, argument)->name)
		return 0;
	for (const struct fab_schedule *s = all; s->name; s++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s:%s",
					s == all    ? ""
					: s[1].name ? ", "
						    : " or ",
					name, s->name);
	return fab_fail(err, EINVAL, "expected %s", text);
}

KIND(allreduce)
KIND(broadcast)
KIND(allgather)
KIND(barrier)

const struct fab_traffic_kind fab_traffic_allreduce = {
	.form = "allreduce:KIND",
	.summary = "a sum of vectors of all hosts: ring, recdbl or tree",
	.manual =
		"Once the sum of vectors of `--size` bytes of all hosts for all: `ring` (reduce-scatter and allgather), `recdbl` (recursive doubling) or `tree` (binomial reduce and broadcast). A host sends a round when all of those before has arrived.",
	.is_finite = true,
	.check = check_allreduce,
	.make = make_allreduce,
};

const struct fab_traffic_kind fab_traffic_broadcast = {
	.form = "broadcast:KIND",
	.summary = "from the first host to all: binomial, scatter or tree",
	.manual =
		"Once `--size` bytes from the first host to all, by messages (`binomial`; `scatter`: down that tree, then around the ring) and by a multicast `tree`; without KIND by all.",
	.is_finite = true,
	.argument_is_optional = true,
	.schedules = fab_broadcasts,
	.check = check_broadcast,
	.make = make_broadcast,
};

const struct fab_traffic_kind fab_traffic_allgather = {
	.form = "allgather:KIND",
	.summary = "from each host to all: ring, bruck or tree",
	.manual =
		"Once `--size` bytes of each host for all, by messages (`ring`; `bruck`: log2 n rounds, Bruck 1997) and by a multicast `tree`, one for all; without KIND by all.",
	.is_finite = true,
	.argument_is_optional = true,
	.schedules = fab_allgathers,
	.check = check_allgather,
	.make = make_allgather,
};

const struct fab_traffic_kind fab_traffic_barrier = {
	.form = "barrier:KIND",
	.summary = "none goes on before all have come: dissemination or tree",
	.manual =
		"Once: `dissemination`, a byte in log2 n rounds; `tree`, messages up a binomial tree, multicast back; without KIND both.",
	.is_finite = true,
	.argument_is_optional = true,
	.schedules = fab_barriers,
	.check = check_barrier,
	.make = make_barrier,
};
