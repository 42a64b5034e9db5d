/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The algorithms of fences: their plans, and closed forms of their time where one is
 * known. Each section holds one algorithm; the table `rows` at the end lists them.
 */
#include "launch/fence.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/num.h"
#include "base/order.h"

/* Messages of a plan that is being made. */
struct plan {
	const struct fab_fence_job *job;
	uint32_t width; /* of a tree */
	bool is_even;	/* of a dissemination: the rest is spread over all steps */
	struct fab_fence_plan *out;
	struct fab_arena *memory;
};

/* A message of the step n_steps; a plan with fewer steps than repeats sets n_steps later.
 */
static void send(struct plan *p, uint32_t from, uint32_t to, uint32_t first,
		 uint32_t n_blocks)
{
	FAB_PUSH(&p->out->messages, ((struct fab_fence_message){p->out->n_steps, from, to,
								first, n_blocks}));
}

/* Ring: each node passes the block that it received last to the next node. */

static void plan_ring(struct plan *p)
{
	uint32_t n = p->job->n_nodes;

	for (uint32_t i = 0; n > 1 && i < n; i++)
		send(p, i, i + 1 < n ? i + 1 : 0, i, 1);
	p->out->n_repeats = p->out->n_steps = n - 1;
}

static double ring_us(const struct fab_fence_job *job)
{
	const struct fab_launch_costs *c = &job->costs;

	return (job->n_nodes - 1.0) *
	       (2 * c->o_us + c->L_us + (double)job->bytes * (c->G_ns + c->C_ns) / 1e3);
}

/*
 * Tree: up a tree of K children each, and down again. It is that of Slurm: the complete
 * tree of the least depth that holds all nodes, numbered in preorder and cut off behind
 * the last one, so that each subtree is a range of nodes and the first ones are full.
 */

static void plan_tree(struct plan *p)
{
	uint32_t n = p->job->n_nodes, depth = 0, now = 0;
	/* of a node: parent, level, end of its subtree; nodes in the order of levels */
	FAB_AUTOFREE uint32_t *parent = FAB_NEW(n, uint32_t),
			      *level = FAB_NEW(n, uint32_t);
	FAB_AUTOFREE uint32_t *end = FAB_NEW(n, uint32_t),
			      *by_level = FAB_NEW(n, uint32_t);
	/* nodes of complete subtrees by levels below their root, up to all; first node of
	 * each level in by_level */
	FAB_AUTOFREE FAB_VEC(uint64_t) full = {0};
	FAB_AUTOFREE uint32_t *start = NULL;

	FAB_PUSH(&full, 1);
	while (full.v[depth] < n) {
		FAB_PUSH(&full, full.v[depth] * p->width + 1);
		depth++;
	}
	start = FAB_NEW0((size_t)depth + 2, uint32_t);
	parent[0] = level[0] = 0;
	end[0] = n;
	for (uint32_t i = 1; i < n; i++) { /* `now`: the last node, or one above it */
		while (end[now] <= i)
			now = parent[now];
		parent[i] = now;
		level[i] = level[now] + 1;
		end[i] = full.v[depth - level[i]] < end[now] - i
				 ? i + (uint32_t)full.v[depth - level[i]]
				 : end[now];
		now = i;
	}
	for (uint32_t i = 0; i < n; i++)
		start[level[i] + 1]++;
	for (uint32_t i = 0; i <= depth; i++)
		start[i + 1] += start[i];
	for (uint32_t i = 0; i < n; i++)
		by_level[start[level[i]]++] = i;
	/* start[i] is now the end of level i */
	FAB_RESERVE(&p->out->messages, 2 * (size_t)n);
	for (uint32_t l = depth; l; l--, p->out->n_steps++)
		for (uint32_t k = start[l - 1]; k < start[l]; k++) {
			uint32_t i = by_level[k];

			send(p, i, parent[i], i, end[i] - i);
		}
	for (uint32_t l = 1; l <= depth; l++, p->out->n_steps++)
		for (uint32_t k = start[l - 1]; k < start[l]; k++)
			send(p, parent[by_level[k]], by_level[k], 0, n);
}

/*
 * Dissemination (Bruck, Ho, Kipnis, Upfal, Weathersby 1997): a node that has its own
 * block and those of the nodes behind it receives as many again from the first node whose
 * block it lacks. If the number of nodes is no power of two, one step is less than a
 * doubling: the last one (bruck), or each step a little (bruck-even).
 */

static uint32_t n_doublings(uint32_t n)
{
	return n > 1 ? 32 - (uint32_t)__builtin_clz(n - 1) : 0;
}

/* Blocks that a node has before a step: powers of two up to N; or N / 2, N / 4 .. rounded
 * up, counted from the last step. */
static uint32_t blocks_before(uint32_t n, uint32_t step, bool is_even)
{
	uint32_t part = 1u << (n_doublings(n) - step);

	if (is_even)
		return n / part + (n % part != 0);
	return step < n_doublings(n) ? 1u << step : n;
}

static void plan_bruck(struct plan *p)
{
	uint32_t n = p->job->n_nodes;

	FAB_RESERVE(&p->out->messages, (size_t)n * n_doublings(n));
	for (uint32_t step = 0; step < n_doublings(n); step++, p->out->n_steps++) {
		uint32_t far = blocks_before(n, step, p->is_even);
		uint32_t more = blocks_before(n, step + 1, p->is_even) - far;

		for (uint32_t i = 0; i < n; i++)
			send(p, i, i < far ? i + n - far : i - far, i, more);
	}
}

static double bruck_us(const struct fab_fence_job *job)
{
	const struct fab_launch_costs *c = &job->costs;

	return n_doublings(job->n_nodes) * (2 * c->o_us + c->L_us) +
	       (job->n_nodes - 1.0) * (double)job->bytes * (c->G_ns + c->C_ns) / 1e3;
}

/*
 * Recursive doubling (Thakur, Rabenseifner, Gropp 2005): partners whose numbers differ in
 * one bit exchange all they have. If the number of nodes is no power of two, the first
 * nodes form pairs, which count as one node: before, one of them gives its block to the
 * other; after, it receives all blocks.
 */

/* First node of number v among the powers of two; blocks of a pair are adjacent. */
static uint32_t first_of(uint32_t rest, uint32_t v)
{
	return v < rest ? 2 * v : v + rest;
}

static void plan_recdbl(struct plan *p)
{
	uint32_t n = p->job->n_nodes, pow = 1u << (31 - (uint32_t)__builtin_clz(n));
	uint32_t rest = n - pow;

	for (uint32_t i = 0; i < rest; i++)
		send(p, 2 * i + 1, 2 * i, 2 * i + 1, 1);
	p->out->n_steps += rest > 0;
	for (uint32_t bit = 1; bit < pow; bit *= 2, p->out->n_steps++)
		for (uint32_t v = 0; v < pow; v++) {
			uint32_t low = v & ~(bit - 1), first = first_of(rest, low);

			send(p, first_of(rest, v), first_of(rest, v ^ bit), first,
			     first_of(rest, low + bit) - first);
		}
	for (uint32_t i = 0; i < rest; i++)
		send(p, 2 * i, 2 * i + 1, 0, n);
	p->out->n_steps += rest > 0;
}

/*
 * Leaf: two levels. The nodes of each leaf switch give their blocks to the first of them
 * along a binomial tree, these first nodes spread them by dissemination, and pass all
 * blocks down the trees.
 */

struct leaves {
	uint32_t n, most; /* leaf switches; nodes of the one with most */
	uint32_t *first;  /* [n + 1] position of its first node */
	uint32_t *node_at;
};

/* One level of the trees of all leaf switches, upwards or downwards. */
static void add_level(struct plan *p, const struct leaves *l, uint32_t bit, bool is_up)
{
	for (uint32_t leaf = 0; leaf < l->n; leaf++) {
		uint32_t base = l->first[leaf], size = l->first[leaf + 1] - base;

		for (uint32_t i = bit; i < size; i += 2 * bit) {
			uint32_t child = l->node_at[base + i];
			uint32_t parent = l->node_at[base + i - bit];

			if (is_up)
				send(p, child, parent, base + i,
				     size - i < bit ? size - i : bit);
			else
				send(p, parent, child, 0, p->job->n_nodes);
		}
	}
	p->out->n_steps++;
}

FAB_ORDER(cmp_messages, struct fab_fence_message, step, from)

static void plan_leaf(struct plan *p)
{
	const struct fab_fence_job *job = p->job;
	struct fab_map64 *number = fab_map64_new(job->n_nodes);
	uint32_t *leaf = FAB_NEW(job->n_nodes, uint32_t), *next, bit = 1;
	struct leaves l = {.first = FAB_NEW0((size_t)job->n_nodes + 2, uint32_t),
			   .node_at = FAB_ARENA_NEW(p->memory, job->n_nodes, uint32_t)};

	/* leaf switches in the order of their first nodes, nodes ascending */
	for (uint32_t i = 0; i < job->n_nodes; i++) {
		leaf[i] = fab_map64_put(number, job->leaf ? job->leaf[i] : 0, l.n);
		l.n += leaf[i] == l.n;
		l.first[leaf[i] + 1]++;
	}
	for (uint32_t i = 0; i < l.n; i++) {
		l.most = l.first[i + 1] > l.most ? l.first[i + 1] : l.most;
		l.first[i + 1] += l.first[i];
	}
	next = FAB_NEW(l.n, uint32_t);
	memcpy(next, l.first, l.n * sizeof(*next));
	for (uint32_t i = 0; i < job->n_nodes; i++)
		l.node_at[next[leaf[i]]++] = i;
	free(next);
	free(leaf);
	fab_map64_free(number);
	for (; bit < l.most; bit *= 2)
		add_level(p, &l, bit, true);
	/* dissemination among the first nodes of all leaf switches */
	for (uint32_t far = 1; far < l.n; far *= 2, p->out->n_steps++) {
		uint32_t more = l.n - far < far ? l.n - far : far;

		for (uint32_t i = 0; i < l.n; i++) {
			uint32_t to = i < far ? i + l.n - far : i - far, end = i + more;
			/* nodes of the leaf switches i .. end - 1, around */
			uint32_t n_blocks = end <= l.n ? l.first[end] - l.first[i]
						       : l.first[l.n] - l.first[i] +
								 l.first[end - l.n];

			send(p, l.node_at[l.first[i]], l.node_at[l.first[to]], l.first[i],
			     n_blocks);
		}
	}
	for (bit /= 2; bit; bit /= 2)
		add_level(p, &l, bit, false);
	FAB_SORT(&p->out->messages, cmp_messages);
	free(l.first);
	p->out->node_at = l.node_at;
}

static const struct row {
	const char *form, *summary, *manual;
	bool is_in_all;
	uint32_t width_max; /* of K, from 1 on; 0: it takes none */
	void (*plan)(struct plan *p);
	double (*us)(const struct fab_fence_job *job); /* closed form; NULL: none */
} rows[] = {
	[FAB_FENCE_RING] =
		{"ring", "blocks from neighbour to neighbour, N - 1 steps",
		 "Each node sends the block that it received last to the next node: N - 1 steps of one block, as Slurm does to collect data.",
		 true, 0, plan_ring, ring_us},
	[FAB_FENCE_TREE] =
		{"tree:K", "up a tree of K children each, and down",
		 "Blocks go up a tree of K children each and down again, as Slurm (TreeWidth K) does without data: complete, numbered in preorder, cut off behind the last node.",
		 false, FAB_FENCE_WIDTH_MAX, plan_tree, NULL},
	[FAB_FENCE_BRUCK] =
		{"bruck", "twice as many blocks each step, the rest in the last one",
		 "Each node sends all it has, 1, 2, 4 ... blocks, to the node as many places before it, the rest in the last step: the fewest steps.",
		 true, 0, plan_bruck, bruck_us},
	[FAB_FENCE_BRUCK_EVEN] =
		{"bruck-even", "as bruck, with the rest spread over all steps",
		 "As `bruck`; if N is no power of two each step is a little less than a doubling: N / 2, N / 4 ... from the last.",
		 false, 0, plan_bruck, bruck_us},
	[FAB_FENCE_RECDBL] =
		{"recdbl", "partners exchange all they have",
		 "Recursive doubling: partners exchange what they have, 1, 2, 4 ... blocks. For other N than powers of two some pairs of nodes count as one: two more steps.",
		 true, 0, plan_recdbl, NULL},
	[FAB_FENCE_LEAF] =
		{"leaf", "within each leaf switch, then among leaf switches",
		 "The nodes of a leaf switch give their blocks to one of them; these spread them as `bruck` does and pass all of them down.",
		 true, 0, plan_leaf, NULL},
	[FAB_FENCE_SLURM_AUTO] =
		{"slurm-auto", "as Slurm: ring with data, else tree",
		 "The rule of SLURM_PMIX_FENCE=auto: `ring` with data, else `tree` with Slurm's TreeWidth.",
		 true, 0, NULL, NULL},
	[FAB_FENCE_AUTO] =
		{"auto", "the fastest one here",
		 "The fastest of the requested ones, `ring`, `bruck`, `bruck-even`, `recdbl`, `leaf`, `tree:2`, `tree:16`; `why` has the reason and the next one.",
		 true, 0, NULL, NULL},
};

static struct fab_choice choice_at(size_t i)
{
	return (struct fab_choice){rows[i].form, rows[i].summary, rows[i].manual,
				   rows[i].is_in_all};
}

const struct fab_choices fab_fence_choices = {
	.what = "fence", .n = FAB_COUNT(rows), .at = choice_at};

int fab_fence_parse(const char *text, size_t len, struct fab_fence_chosen *out,
		    struct fab_err *err)
{
	const char *colon = memchr(text, ':', len);
	size_t n = colon ? (size_t)(colon - text) : len;
	uint32_t row = fab_choices_find(&fab_fence_choices, text, n);
	uint64_t width = 0;

	if (row == FAB_NONE)
		return fab_choices_refuse(&fab_fence_choices, text, n, NULL, err);
	if (!rows[row].width_max && colon)
		return fab_fail(err, EINVAL, "'%.*s': expected %s", (int)(len & 0xff),
				text, rows[row].form);
	if (rows[row].width_max &&
	    (!colon ||
	     !fab_parse_u64(colon + 1, len - n - 1, 1, rows[row].width_max, &width)))
		return fab_fail(err, EINVAL, "'%.*s': expected %s, K from 1 to %u",
				(int)(len & 0xff), text, rows[row].form,
				rows[row].width_max);
	*out = (struct fab_fence_chosen){row, (uint32_t)width};
	return 0;
}

char *fab_fence_text(struct fab_arena *memory, struct fab_fence_chosen chosen)
{
	const char *form = rows[chosen.algorithm].form;

	if (!chosen.width)
		return fab_arena_strdup(memory, form);
	return fab_arena_format(memory, "%.*s:%u", (int)fab_choice_name_len(form), form,
				chosen.width);
}

struct fab_fence_job fab_fence_job_of(const struct fab_launch_params *p, uint32_t n_nodes,
				      const uint32_t *leaf, uint64_t bytes)
{
	return (struct fab_fence_job){.n_nodes = n_nodes,
				      .bytes = bytes,
				      .leaf = leaf,
				      .tree_width = (uint32_t)FAB_PARAM(p, tree_width),
				      .costs = {.o_us = FAB_PARAM(p, o_us),
						.L_us = FAB_PARAM(p, latency_us),
						.G_ns = FAB_PARAM(p, gap_ns_per_B),
						.C_ns = FAB_PARAM(p, copy_ns_per_B)}};
}

struct fab_fence_job fab_fence_daemon_job_of(const struct fab_launch_params *p,
					     uint32_t n_nodes, const uint32_t *leaf,
					     uint64_t bytes)
{
	struct fab_fence_job job = fab_fence_job_of(p, n_nodes, leaf, bytes);

	job.costs.o_us = FAB_PARAM(p, daemon_us);
	return job;
}

struct fab_fence_chosen fab_fence_stands_for(struct fab_fence_chosen chosen,
					     const struct fab_fence_job *job)
{
	if (chosen.algorithm != FAB_FENCE_SLURM_AUTO)
		return chosen;
	if (job->bytes)
		return (struct fab_fence_chosen){FAB_FENCE_RING, 0};
	return (struct fab_fence_chosen){
		FAB_FENCE_TREE, job->tree_width ? job->tree_width : FAB_FENCE_TREE_WIDTH};
}

int fab_fence_job_check(const struct fab_fence_job *job, struct fab_err *err)
{
	const double costs[] = {job->costs.o_us, job->costs.L_us, job->costs.G_ns,
				job->costs.C_ns};

	if (!job->n_nodes || job->n_nodes > FAB_FENCE_NODES_MAX)
		return fab_fail(err, EINVAL, "%u nodes: expected 1 to %u", job->n_nodes,
				FAB_FENCE_NODES_MAX);
	if (job->bytes > FAB_FENCE_BYTES_MAX)
		return fab_fail(err, EINVAL, "%llu bytes a node: expected at most 1 TiB",
				(unsigned long long)job->bytes);
	for (size_t i = 0; i < FAB_COUNT(costs); i++)
		if (!(costs[i] >= 0 && costs[i] <= 1e9))
			return fab_fail(err, EINVAL, "%c: expected 0 to 1e9, not %g",
					"oLGC"[i], costs[i]);
	return 0;
}

int fab_fence_plan_make(struct fab_arena *memory, struct fab_fence_chosen chosen,
			const struct fab_fence_job *job, struct fab_fence_plan *out,
			struct fab_err *err)
{
	struct fab_fence_chosen is = fab_fence_stands_for(chosen, job);
	struct plan p = {.job = job,
			 .width = is.width,
			 .is_even = is.algorithm == FAB_FENCE_BRUCK_EVEN,
			 .out = out,
			 .memory = memory};
	int rc = fab_fence_job_check(job, err);

	*out = (struct fab_fence_plan){.n_nodes = job->n_nodes, .n_repeats = 1};
	if (rc)
		return rc;
	if (!rows[is.algorithm].plan)
		return fab_fail(err, EINVAL, "%s: it has no plan of its own",
				rows[is.algorithm].form);
	rows[is.algorithm].plan(&p);
	fab_arena_own(memory, free, out->messages.v);
	return 0;
}

double fab_fence_formula_us(struct fab_fence_chosen chosen,
			    const struct fab_fence_job *job)
{
	struct fab_fence_chosen is = fab_fence_stands_for(chosen, job);

	return rows[is.algorithm].us ? rows[is.algorithm].us(job) : (double)NAN;
}
