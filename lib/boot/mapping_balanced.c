/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Mappings for a batch: `balanced`, the best by equal shares or, by transfers through
 * time, the best of several that was improved; and `keep`.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "boot/impl.h"
#include "boot/machine.h"
#include "boot/share.h"
#include "boot/transfer.h"

/*
 * `balanced` where nodes start late, wait for connections or give up: the mapping that is
 * best by equal shares, or that of another rule when transfers through time end sooner
 * with it, improved node by node. Shares do not depend on the order
 * in which nodes are served; transfers do.
 */
/* A mapping is improved step by step in this many trials at most, and in fewer when more
 * nodes than this would be simulated; mappings of larger batches are those of equal
 * shares: each transfer takes a second there. */
enum { IMPROVE_TRIALS = 1000, IMPROVE_NODES = 60000, IMPROVE_BATCH = 5000 };

/* A mapping and its end; fewer nodes that give up come before an early end. */
struct trial {
	uint32_t *interface_of;
	uint32_t n_failed;
	double last_s;
	uint32_t slowest_node;
};

/* The problem, the best mapping so far and room for another one. */
struct search {
	const struct fab_mapping_problem *p;
	const struct fab_batch *batch;
	struct trial best, spare;
	double least_s; /* no mapping ends sooner */
	uint64_t trials_left;
};

static bool is_better(const struct trial *a, const struct trial *b)
{
	return a->n_failed < b->n_failed ||
	       (a->n_failed == b->n_failed && a->last_s < b->last_s * (1 - 1e-9));
}

static int run(const struct search *x, struct trial *t, struct fab_err *err)
{
	FAB_AUTO(fab_transfer_fini) struct fab_transfer transfer = {0};
	int rc = fab_transfer_run(x->p->m, x->batch, t->interface_of, x->p->timed,
				  &transfer, err);

	if (rc)
		return rc;
	t->n_failed = transfer.n_failed;
	t->last_s = transfer.last_s;
	t->slowest_node = transfer.slowest_node;
	return 0;
}

/* Is there nothing left to gain? */
static bool is_done(const struct search *x)
{
	return !x->best.n_failed && x->best.last_s <= x->least_s * (1 + 1e-9);
}

/* Simulate the spare mapping; *is_taken: it is the best one now. */
static int try_spare(struct search *x, bool *is_taken, struct fab_err *err)
{
	int rc = run(x, &x->spare, err);

	*is_taken = !rc && is_better(&x->spare, &x->best);
	if (*is_taken) {
		struct trial old = x->best;

		x->best = x->spare;
		x->spare = old;
	}
	return rc;
}

/* Another rule's mapping in place of the best one, if it ends sooner. */
static int try_rule(struct search *x, fab_map_nodes *rule, uint32_t argument,
		    struct fab_err *err)
{
	struct fab_mapping_problem plain = *x->p;
	struct fab_share share = {0};
	bool is_beaten;
	int rc;

	plain.timed = NULL;
	plain.argument = argument;
	rc = rule(&plain, x->spare.interface_of, err);
	if (rc)
		return rc;
	rc = fab_share_of(x->p->m, x->batch, x->spare.interface_of, &share, err);
	if (rc)
		return rc;
	/* equal shares of equal images are a bound: often there is nothing to simulate */
	is_beaten =
		!x->best.n_failed && !x->p->m->image_part &&
		fab_transfer_equal_share_seconds(&share, x->p->timed) >= x->best.last_s;
	return is_beaten ? 0 : try_spare(x, &is_beaten, err);
}

/* A node to another interface, or in exchange with a node there. */
static int try_moves(struct search *x, uint32_t node, bool is_exchange, bool *is_taken,
		     struct fab_err *err)
{
	const struct fab_machine *m = x->p->m;
	uint32_t own = x->best.interface_of[node];
	uint32_t n = is_exchange ? x->batch->n : m->n_interfaces;
	int rc = 0;

	for (uint32_t i = 0; i < n && x->trials_left && !rc && !*is_taken; i++) {
		uint32_t other = is_exchange ? x->batch->node[i] : FAB_NONE;
		uint32_t to = is_exchange ? x->best.interface_of[other] : i;

		if (to == own || !fab_interface_is_up(m, to))
			continue;
		memcpy(x->spare.interface_of, x->best.interface_of,
		       m->n_nodes * sizeof(*x->spare.interface_of));
		x->spare.interface_of[node] = to;
		if (is_exchange)
			x->spare.interface_of[other] = own;
		x->trials_left--;
		rc = try_spare(x, is_taken, err);
	}
	return rc;
}

/* A better mapping of the batch than the one given, if the time of transfers shows one:
 * another rule's, then step by step with moves of the node that ends last, then of the
 * others, the last ones first. O(rules * transfers). */
static int improve_timed(const struct fab_mapping_problem *p,
			 const struct fab_batch *batch, uint32_t *interface_of,
			 struct fab_err *err)
{
	static const struct {
		fab_map_nodes *rule;
		uint32_t argument;
	} rules[] = {{fab_map_scda, 0},	 {fab_map_bcda, 0},   {fab_map_block, 1},
		     {fab_map_block, 2}, {fab_map_block, 3},  {fab_map_block, 4},
		     {fab_map_local, 0}, {fab_map_robust, 0}, {fab_map_stable, 0},
		     {fab_map_keep, 0}};
	const struct fab_transfer_options *o = p->timed;
	double image_mbit = fab_transfer_image_mbit(o), shared, last;
	size_t n = p->m->n_nodes, n_rules = FAB_COUNT(rules) - !p->loaded;
	struct search x = {.p = p, .batch = batch};
	bool is_taken = true;
	int rc;

	if (!batch->n)
		return 0;
	x.best.interface_of = FAB_NEW(n + 1, uint32_t);
	x.spare.interface_of = FAB_NEW(n + 1, uint32_t);
	/* by equal shares, and by the start of the last node */
	shared = image_mbit / fab_mapping_upper_bound_mbps(p->m, batch);
	last = (batch->n - 1) * o->stagger_seconds +
	       image_mbit * fab_machine_part(p->m, batch->node[batch->n - 1]) /
		       fab_limits_transfer_mbps(p->m, batch);
	x.least_s = o->n_files * o->request_seconds + fmax(shared, last);
	memcpy(x.best.interface_of, interface_of, n * sizeof(*interface_of));
	rc = run(&x, &x.best, err);
	for (size_t i = 0; i < n_rules && !rc && !is_done(&x); i++)
		rc = try_rule(&x, rules[i].rule, rules[i].argument, err);
	x.trials_left = IMPROVE_NODES / batch->n;
	if (x.trials_left > IMPROVE_TRIALS)
		x.trials_left = IMPROVE_TRIALS;
	while (is_taken && x.trials_left && !rc && !is_done(&x)) {
		is_taken = false;
		for (uint32_t i = 0; i <= batch->n && !rc && !is_taken; i++) {
			uint32_t node =
				i ? batch->node[batch->n - i] : x.best.slowest_node;

			for (int k = 0; k < 2 && !rc && !is_taken; k++)
				rc = try_moves(&x, node, k, &is_taken, err);
		}
	}
	if (!rc)
		memcpy(interface_of, x.best.interface_of, n * sizeof(*interface_of));
	FAB_FREE_ALL(x.best.interface_of, x.spare.interface_of);
	return rc;
}

/* ---- the rule ---- */

/* Where images differ: that by counts, or node by node, whichever ends first. */
static int map_parts(const struct fab_mapping_problem *p, const struct fab_batch *batch,
		     uint32_t *interface_of, struct fab_err *err)
{
	const struct fab_machine *m = p->m;
	FAB_AUTOFREE uint32_t *other = FAB_NEW((size_t)m->n_nodes + 1, uint32_t);
	struct search x = {.p = p, .batch = batch};
	struct trial *trials[] = {&x.best, &x.spare};
	int rc = 0;

	memcpy(other, interface_of, m->n_nodes * sizeof(*other));
	x.best.interface_of = interface_of;
	x.spare.interface_of = other;
	fab_mapping_fill(m, batch, true, interface_of);
	fab_mapping_by_counts(m, batch, other);
	for (size_t i = 0; i < FAB_COUNT(trials) && !rc && batch->n; i++) {
		struct fab_share share;

		if (p->timed) {
			rc = run(&x, trials[i], err);
			continue;
		}
		rc = fab_share_of(m, batch, trials[i]->interface_of, &share, err);
		if (!rc)
			trials[i]->last_s = 1 / fab_share_pace(&share);
	}
	if (!rc && is_better(&x.spare, &x.best))
		memcpy(interface_of, other, m->n_nodes * sizeof(*other));
	return rc;
}

int fab_map_balanced(const struct fab_mapping_problem *p, uint32_t *interface_of,
		     struct fab_err *err)
{
	FAB_AUTO(fab_batch_fini) struct fab_batch all = fab_batch_all(p->m);
	const struct fab_batch *batch = p->purpose == FAB_FOR_BATCH ? p->batch : &all;
	int rc = 0;

	/* those that stay off: as robust has them */
	if (batch == p->batch)
		rc = fab_map_robust(p, interface_of, err);
	FAB_EACH_NODE(batch, node)
		interface_of[node] = FAB_NONE;
	if (p->purpose == FAB_FOR_PREFIXES) {
		fab_mapping_fill(p->m, batch, false, interface_of);
		return rc;
	}
	if (p->m->image_part && !rc)
		rc = map_parts(p, batch, interface_of, err);
	else if (!rc)
		fab_mapping_by_counts(p->m, batch, interface_of);
	if (!rc && p->timed && batch->n <= IMPROVE_BATCH)
		rc = improve_timed(p, batch, interface_of, err);
	return rc;
}

/* ---- keep ---- */

/* Images on each segment, in parts of the largest one, and nodes of each server. */
struct loads {
	const struct fab_machine *m;
	double *down, *up;   /* [n_vertices] */
	uint32_t *of_server; /* [n_servers] */
	uint64_t most_of_server;
	double bandwidth;
};

/* Add `more` to the path of a node; is any segment of it, or its server, beyond what the
 * bandwidth allows, before that? */
static bool walk(struct loads *l, uint32_t node, uint32_t interface, int more)
{
	const struct fab_machine *m = l->m;
	struct fab_climb c = {m->node_vertex[node], m->interface_vertex[interface]};
	uint32_t *n_of = &l->of_server[m->interface_server[interface]];
	bool is_beyond = *n_of > l->most_of_server;

	*n_of = (uint32_t)((int64_t)*n_of + more);
	while (fab_climb_next(&c, m)) {
		double *n = c.is_up ? &l->up[c.at] : &l->down[c.at];

		is_beyond |= *n * l->bandwidth > m->capacity_mbps[c.at] * (1 + 1e-9);
		*n += more * fab_machine_part(m, node);
	}
	return is_beyond;
}

/* Nodes lose their server, the last ones first, as long as a segment of their path has
 * more of them than the best of all mappings could have. */
static void release(const struct fab_mapping_problem *p, uint32_t *interface_of)
{
	const struct fab_machine *m = p->m;
	struct loads l = {.m = m,
			  .down = FAB_NEW0(m->n_vertices, double),
			  .up = FAB_NEW0(m->n_vertices, double),
			  .of_server = FAB_NEW0(m->n_servers, uint32_t),
			  .bandwidth = fab_mapping_upper_bound_mbps(m, p->batch)};

	l.most_of_server = fab_limits_server_quota(
		m, fab_limits_transfer_mbps(m, p->batch), l.bandwidth);
	FAB_EACH_NODE(p->batch, node) {
		if (interface_of[node] != FAB_NONE)
			walk(&l, node, interface_of[node], 1);
	}
	for (uint32_t i = p->batch->n; i-- > 0 && isfinite(l.bandwidth);) {
		uint32_t node = p->batch->node[i];

		if (interface_of[node] == FAB_NONE ||
		    !walk(&l, node, interface_of[node], 0))
			continue;
		walk(&l, node, interface_of[node], -1);
		interface_of[node] = FAB_NONE;
	}
	FAB_FREE_ALL(l.down, l.up, l.of_server);
}

/*
 * The mapping before (what was loaded, else balanced over the servers that were up)
 * stays: only nodes whose server is down get another one, and, where servers are new, as
 * many as hold the others back.
 */
int fab_map_keep(const struct fab_mapping_problem *p, uint32_t *interface_of,
		 struct fab_err *err)
{
	const struct fab_machine *m = p->m;
	FAB_AUTO(fab_batch_fini) struct fab_batch all = fab_batch_all(m);
	struct fab_mapping_problem old = *p;
	struct fab_machine before = *m;
	bool is_new = false;
	int rc = 0;

	if (p->loaded) {
		memcpy(interface_of, p->loaded, m->n_nodes * sizeof(*interface_of));
	} else {
		old.m = &before;
		if (p->was_down)
			before.server_is_down = p->was_down;
		rc = fab_map_balanced(&old, interface_of, err);
	}
	for (uint32_t i = 0; i < m->n_nodes && !rc; i++)
		if (interface_of[i] != FAB_NONE &&
		    !fab_interface_is_up(m, interface_of[i]))
			interface_of[i] = FAB_NONE;
	for (uint32_t s = 0; s < m->n_servers && p->was_down; s++)
		is_new |= p->was_down[s] && !p->m->server_is_down[s];
	if (!rc && is_new)
		release(p, interface_of);
	if (!rc)
		fab_mapping_complete(m, p->batch, interface_of);
	if (!rc && p->batch->n < m->n_nodes) /* those that stay off, likewise */
		fab_mapping_complete(m, &all, interface_of);
	return rc;
}
