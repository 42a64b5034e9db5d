/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `balanced` where nodes start late, wait for connections or give up: the mapping that is
 * best by equal shares, or that of another rule when transfers through time end sooner
 * with it, improved node by node. Shares do not depend on the order
 * in which nodes are served; transfers do.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "boot/limits.h"
#include "boot/mapping_impl.h"
#include "boot/share.h"
#include "boot/transfer.h"

/* A mapping is improved step by step in this many trials at most, and in fewer when more
 * nodes than this would be simulated. */
enum { IMPROVE_TRIALS = 1000, IMPROVE_NODES = 60000 };

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
	struct fab_transfer transfer;
	int rc = fab_transfer_run(x->p->m, x->batch, t->interface_of, x->p->timed,
				  &transfer, err);

	if (rc)
		return rc;
	t->n_failed = transfer.n_failed;
	t->last_s = transfer.last_s;
	t->slowest_node = transfer.slowest_node;
	fab_transfer_fini(&transfer);
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

/* By equal shares, and by the start of the last node. */
static double least_seconds(const struct fab_mapping_problem *p,
			    const struct fab_batch *batch)
{
	const struct fab_transfer_options *o = p->timed;
	double image_mbit = fab_transfer_image_mbit(o);
	double requests = o->n_files * o->request_seconds;
	double shared = image_mbit / fab_mapping_upper_bound_mbps(p->m, batch);
	double last = (batch->n - 1) * o->stagger_seconds +
		      image_mbit / fab_limits_transfer_mbps(p->m, batch);

	return requests + fmax(shared, last);
}

/* Another rule's mapping in place of the best one, if it ends sooner. */
static int try_rule(struct search *x, const struct fab_mapping_engine *rule,
		    uint32_t argument, struct fab_err *err)
{
	struct fab_mapping_problem plain = *x->p;
	struct fab_share_workspace *w;
	struct fab_share share;
	bool is_beaten;
	int rc;

	plain.timed = NULL;
	rc = rule->map(&plain, argument, x->spare.interface_of, err);
	if (rc)
		return rc;
	w = fab_share_workspace_new(x->p->m);
	rc = fab_share_of(x->p->m, x->batch, x->spare.interface_of, false, w, &share,
			  err);
	fab_share_workspace_free(w);
	if (rc)
		return rc;
	/* equal shares are a bound: often there is nothing to simulate */
	is_beaten = !x->best.n_failed && fab_transfer_equal_share_seconds(
						 &share, x->p->timed) >= x->best.last_s;
	fab_share_fini(&share);
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

/* One step: the node that ends last, then the others, the last ones first. */
static int step(struct search *x, bool *is_taken, struct fab_err *err)
{
	int rc = 0;

	*is_taken = false;
	for (uint32_t i = 0; i <= x->batch->n && !rc && !*is_taken; i++) {
		uint32_t node =
			i ? x->batch->node[x->batch->n - i] : x->best.slowest_node;

		for (int k = 0; k < 2 && !rc && !*is_taken; k++)
			rc = try_moves(x, node, k, is_taken, err);
	}
	return rc;
}

/* Step by step, until no step helps. */
static int improve(struct search *x, struct fab_err *err)
{
	bool is_taken = true;
	int rc = 0;

	x->trials_left = IMPROVE_NODES / x->batch->n;
	if (x->trials_left > IMPROVE_TRIALS)
		x->trials_left = IMPROVE_TRIALS;
	while (is_taken && x->trials_left && !rc && !is_done(x))
		rc = step(x, &is_taken, err);
	return rc;
}

int fab_mapping_timed(const struct fab_mapping_problem *p, const struct fab_batch *batch,
		      uint32_t *interface_of, struct fab_err *err)
{
	const struct {
		const struct fab_mapping_engine *rule;
		uint32_t argument;
	} rules[] = {{&fab_mapping_scda, 0},   {&fab_mapping_bcda, 0},
		     {&fab_mapping_block, 1},  {&fab_mapping_block, 2},
		     {&fab_mapping_block, 4},  {&fab_mapping_local, 0},
		     {&fab_mapping_robust, 0}, {&fab_mapping_stable, 0}};
	size_t n = p->m->n_nodes;
	struct search x = {.p = p, .batch = batch};
	int rc;

	if (!batch->n)
		return 0;
	x.best.interface_of = FAB_NEW(n + 1, uint32_t);
	x.spare.interface_of = FAB_NEW(n + 1, uint32_t);
	x.least_s = least_seconds(p, batch);
	memcpy(x.best.interface_of, interface_of, n * sizeof(*interface_of));
	rc = run(&x, &x.best, err);
	for (size_t i = 0; i < FAB_COUNT(rules) && !rc && !is_done(&x); i++)
		rc = try_rule(&x, rules[i].rule, rules[i].argument, err);
	if (!rc && p->loaded && !is_done(&x))
		rc = try_rule(&x, &fab_mapping_keep, 0, err);
	if (!rc)
		rc = improve(&x, err);
	if (!rc)
		memcpy(interface_of, x.best.interface_of, n * sizeof(*interface_of));
	free(x.best.interface_of);
	free(x.spare.interface_of);
	return rc;
}
