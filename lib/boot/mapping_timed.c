/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `balanced` where nodes start late, wait for connections or give up: the mapping that is
 * best by equal shares, or that of another rule when transfers through time end sooner
 * with it. Shares say nothing of the order in which nodes are served.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "boot/limits.h"
#include "boot/mapping_impl.h"
#include "boot/share.h"
#include "boot/transfer.h"

/* A mapping and its end; fewer nodes that give up come before an early end. */
struct trial {
	uint32_t *interface_of;
	uint32_t n_failed;
	double last_s;
};

static bool is_better(const struct trial *a, const struct trial *b)
{
	return a->n_failed < b->n_failed ||
	       (a->n_failed == b->n_failed && a->last_s < b->last_s * (1 - 1e-9));
}

static int run(const struct fab_mapping_problem *p, const struct fab_batch *batch,
	       struct trial *t, struct fab_err *err)
{
	struct fab_transfer transfer;
	int rc = fab_transfer_run(p->m, batch, t->interface_of, p->timed, &transfer, err);

	if (rc)
		return rc;
	t->n_failed = transfer.n_failed;
	t->last_s = transfer.last_s;
	fab_transfer_fini(&transfer);
	return 0;
}

/* No mapping ends sooner: by equal shares, and by the start of the last node. */
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
static int try_rule(const struct fab_mapping_problem *p, const struct fab_batch *batch,
		    const struct fab_mapping_engine *rule, struct trial *best,
		    struct trial *spare, struct fab_err *err)
{
	struct fab_mapping_problem plain = *p;
	struct fab_share_workspace *w;
	struct fab_share share;
	int rc;

	plain.timed = NULL;
	rc = rule->map(&plain, 1, spare->interface_of, err);
	if (rc)
		return rc;
	w = fab_share_workspace_new(p->m);
	rc = fab_share_of(p->m, batch, spare->interface_of, false, w, &share, err);
	fab_share_workspace_free(w);
	if (rc)
		return rc;
	/* equal shares are a bound: often there is nothing to simulate */
	if (best->n_failed ||
	    fab_transfer_equal_share_seconds(&share, p->timed) < best->last_s)
		rc = run(p, batch, spare, err);
	else
		spare->n_failed = FAB_NONE;
	fab_share_fini(&share);
	if (!rc && is_better(spare, best)) {
		struct trial old = *best;

		*best = *spare;
		*spare = old;
	}
	return rc;
}

int fab_mapping_timed(const struct fab_mapping_problem *p, const struct fab_batch *batch,
		      uint32_t *interface_of, struct fab_err *err)
{
	const struct fab_mapping_engine *const rules[] = {
		&fab_mapping_scda,
		&fab_mapping_bcda,
		&fab_mapping_block,
		&fab_mapping_local,
		&fab_mapping_robust,
		&fab_mapping_stable,
		p->loaded ? &fab_mapping_keep : NULL,
	};
	size_t n = p->m->n_nodes;
	struct trial best = {.interface_of = FAB_NEW(n + 1, uint32_t)};
	struct trial spare = {.interface_of = FAB_NEW(n + 1, uint32_t)};
	double least = batch->n ? least_seconds(p, batch) : 0;
	int rc;

	memcpy(best.interface_of, interface_of, n * sizeof(*interface_of));
	rc = run(p, batch, &best, err);
	for (size_t i = 0; i < FAB_COUNT(rules) && !rc; i++)
		if (rules[i] && (best.n_failed || best.last_s > least * (1 + 1e-9)))
			rc = try_rule(p, batch, rules[i], &best, &spare, err);
	if (!rc)
		memcpy(interface_of, best.interface_of, n * sizeof(*interface_of));
	free(best.interface_of);
	free(spare.interface_of);
	return rc;
}
