/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/criticality.h"

#include "base/order.h"
#include "base/threads.h"
#include "fabric/ranks.h"
#include "unicast/faults.h"
#include "unicast/loss.h"
#include "unicast/path.h"

#include <math.h>
#include <stdlib.h>

enum { NO_PATH = 0xffff, TRIED_AT_LEAST = 16 };

/* Hops of every pair of columns' switches, by switch numbers of a list. */
struct table {
	uint32_t n;
	uint32_t *leaf; /* [n] switches, ascending */
	uint16_t *hops; /* [n * n] */
};

static struct table measure(const struct fab_routes *r)
{
	FAB_AUTOFREE uint32_t *column = NULL;
	uint32_t n = fab_routes_leaf_columns(r, &column);
	struct table t = {.n = n};
	FAB_AUTOFREE uint32_t *row = fab_routes_sl_rows(r);
	FAB_AUTO(fab_walk_fini) struct fab_walk walk;

	t.hops = FAB_NEW((size_t)n * n + 1, uint16_t);
	t.leaf = FAB_NEW((size_t)n + 1, uint32_t);
	fab_walk_init(&walk, r->f, r->faults);
	for (uint32_t i = 0; i < n; i++)
		t.leaf[i] = r->column_switch[column[i]];
	for (uint32_t i = 0; i < n; i++) {
		bool arrives =
			fab_walk_begin(&walk, fab_routes_next(r, column[i]), t.leaf[i]);

		for (uint32_t s = 0; s < n; s++) {
			bool has_path = arrives &&
					fab_routes_level(r, row[t.leaf[s]], column[i]) !=
						FAB_SL_NONE;
			uint16_t hops = fab_walk_hops(&walk, t.leaf[s]);

			t.hops[(size_t)i * n + s] =
				has_path && hops < FAB_HOPS_NEVER ? hops : NO_PATH;
		}
	}
	return t;
}

static int uniform(const struct fab_routes *r, struct fab_analysis *j,
		   struct fab_err *err)
{
	const struct fab_analysis_options options = {
		.ends = FAB_ENDS_HOSTS, .only_load = true, .n_threads = 1};

	return fab_analyse(r, &options, j, err);
}

/* In the amount that one host sends; 0 without senders. */
static double load_of(uint64_t max_load, uint64_t pairs, uint64_t ends)
{
	return pairs ? fab_load_per_host(max_load, pairs, ends) : 0;
}

/* All live parts and the pairs on them. */
static int list_parts(const struct fab_routes *r, struct fab_losses *out,
		      struct fab_err *err)
{
	const struct fab_fabric *f = r->f;
	FAB_AUTOFREE uint32_t *hosts = FAB_NEW(f->n_switches + 1, uint32_t);
	FAB_AUTOFREE uint32_t *part = FAB_NEW(f->n_switches + 1, uint32_t);
	FAB_AUTOFREE uint64_t *all =
		FAB_NEW0(fab_fabric_components(f, part) + 1, uint64_t);
	FAB_AUTOFREE uint64_t *cable = FAB_NEW0(f->n_cables + 1, uint64_t);
	FAB_AUTOFREE uint64_t *into = FAB_NEW0(f->n_switches + 1, uint64_t);
	struct fab_analysis j;
	int rc = uniform(r, &j, err);

	fab_ranks_count_hosts(f, hosts);
	for (uint32_t sw = 0; sw < f->n_switches; sw++) {
		if (!fab_switch_is_live(r->faults, sw))
			hosts[sw] = 0;
		all[part[sw]] += hosts[sw];
		for (uint32_t a = f->arc_first[sw]; !rc && a < f->arc_first[sw + 1];
		     a++) {
			cable[f->arc_cable[a]] += j.load[a];
			into[f->arc_peer[a]] += j.load[a];
		}
	}
	for (uint32_t sw = 0; !rc && sw < f->n_switches; sw++)
		if (fab_switch_is_live(r->faults, sw))
			FAB_PUSH(&out->of,
				 ((struct fab_loss){
					 .part = {.id = sw},
					 .number = sw,
					 .is_leaf = hosts[sw] > 0,
					 .pairs = into[sw] +
						  hosts[sw] * (all[part[sw]] - hosts[sw]),
					 .load = NAN}));
	for (uint32_t c = 0; !rc && c < f->n_switch_links; c++)
		if (fab_cable_is_live(r->faults, c))
			FAB_PUSH(&out->of,
				 ((struct fab_loss){.part = {.is_cable = true, .id = c},
						    .number = (uint64_t)f->n_switches + c,
						    .pairs = cable[c],
						    .load = NAN}));
	if (!rc)
		fab_analysis_fini(&j);
	return rc;
}

static int kind_of(const struct fab_loss *l)
{
	return l->part.is_cable ? 2 : !l->is_leaf;
}

static int by_pairs(const void *a, const void *b)
{
	const struct fab_loss *x = a, *y = b;

	if (kind_of(x) != kind_of(y))
		return kind_of(x) - kind_of(y);
	FAB_ORDER_BY(y, x, pairs);
	return x->part.id < y->part.id ? -1 : x->part.id > y->part.id;
}

static int by_cost(const void *a, const void *b)
{
	const struct fab_loss *x = a, *y = b;

	FAB_ORDER_BY(y, x, unreachable);
	FAB_ORDER_BY(y, x, longer);
	FAB_ORDER_BY(y, x, pairs);
	return by_pairs(a, b);
}

struct trial {
	const struct fab_unicast_problem *problem;
	const struct fab_unicast_engine *engine;
	const struct table *was;
	const struct fab_loss_base *base;
	const struct fab_losses_options *options;
	struct fab_losses *losses;
};

static int lose(const struct trial *t, struct fab_faults *faults, struct fab_loss *loss,
		struct fab_err *err)
{
	struct fab_unicast_problem problem = *t->problem;
	FAB_AUTO(fab_routes_free_at) struct fab_routes *after = NULL;
	struct fab_analysis j;
	struct table is;
	int rc;
	FAB_AUTOFREE uint32_t *at = NULL;

	fab_faults_clear(faults);
	for (size_t i = 0; t->problem->faults && i < t->problem->faults->named.n; i++)
		fab_faults_kill(faults, t->problem->faults->named.v[i]);
	fab_faults_kill(faults, loss->part);
	problem.faults = faults;
	problem.n_threads = 1;
	rc = fab_unicast_route(t->engine, &problem, &after, err);
	if (rc)
		return rc;
	is = measure(after);
	/* Both lists of leaves ascend; those of `is` are among those of `was`. */
	at = FAB_NEW(is.n + 1, uint32_t);
	for (uint32_t i = 0, k = 0; i < is.n; i++, k++) {
		while (t->was->leaf[k] != is.leaf[i])
			k++;
		at[i] = k;
	}
	for (uint32_t i = 0; i < is.n; i++)
		for (uint32_t s = 0; s < is.n; s++) {
			uint16_t now = is.hops[(size_t)i * is.n + s];
			uint16_t then = t->was->hops[(size_t)at[i] * t->was->n + at[s]];

			if (then == NO_PATH)
				continue;
			if (now == NO_PATH) {
				loss->unreachable++;
				loss->unreachable_rerouted +=
					(uint64_t)t->base->hosts[is.leaf[i]] *
					t->base->hosts[is.leaf[s]];
			} else if (now > then) {
				loss->longer += now - then;
			}
		}
	free(is.hops);
	free(is.leaf);
	rc = uniform(after, &j, err);
	if (!rc) {
		loss->load = load_of(j.max_load, j.pairs, j.ends);
		fab_analysis_fini(&j);
	}
	return rc;
}

/* Keep the parts of the shard. */
static void keep_shard(struct fab_losses *losses, const struct fab_shard *shard)
{
	uint64_t n = fab_shard_items(shard, losses->of.n);

	losses->n_parts = losses->of.n;
	for (uint64_t i = 0; i < n; i++)
		losses->of.v[i] = losses->of.v[fab_shard_item(shard, i)];
	losses->of.n = n;
}

static void take_loss(void *context, uint64_t item, void *result)
{
	struct trial *t = context;

	t->losses->of.v[item] = *(struct fab_loss *)result;
}

/* A part a thread; less than a thread is worth is done by one. */
static int try_each(struct trial *t, struct fab_sweep *sweep, struct fab_err *err)
{
	const struct fab_fabric *f = t->problem->f;

	sweep->what = "single loss";
	sweep->n_items = t->losses->of.n;
	sweep->n_threads = fab_threads_for(
		t->problem->n_threads, sweep->n_items * f->n_switches * f->n_switches);
	sweep->result_bytes = sizeof(struct fab_loss);
	sweep->context = t;
	sweep->take = take_loss;
	sweep->progress = t->options->progress;
	sweep->progress_context = t->options->progress_context;
	return fab_sweep_run(sweep, err);
}

static void *open_faults(void *context)
{
	return fab_faults_new(((const struct trial *)context)->problem->f);
}

static void close_faults(void *context, void *faults)
{
	(void)context;
	fab_faults_free(faults);
}

static int work_anew(void *context, void *faults, uint64_t item, void *result,
		     struct fab_err *err)
{
	const struct trial *t = context;
	struct fab_loss *loss = result;

	*loss = t->losses->of.v[item];
	return loss->is_tried ? lose(t, faults, loss, err) : 0;
}

static void *open_work(void *context)
{
	return fab_loss_work_new(((const struct trial *)context)->base);
}

static void close_work(void *context, void *work)
{
	(void)context;
	fab_loss_work_free(work);
}

static int work_shortest(void *context, void *work, uint64_t item, void *result,
			 struct fab_err *err)
{
	const struct trial *t = context;
	struct fab_loss *loss = result;
	bool rerouted = t->engine != NULL;
	struct fab_loss_effect e;

	(void)err;
	*loss = t->losses->of.v[item];
	fab_loss_try(t->base, work, loss->part, rerouted, &e);
	loss->is_tried = true;
	loss->interrupted = e.interrupted;
	loss->unreachable = rerouted ? e.unreachable : loss->pairs;
	loss->unreachable_rerouted = e.host_pairs;
	loss->longer = e.longer;
	if (rerouted)
		loss->load = load_of(e.max_load, e.pairs, e.ends);
	return 0;
}

int fab_losses_rank(const struct fab_unicast_problem *problem,
		    const struct fab_unicast_engine *engine, const struct fab_routes *r,
		    const struct fab_losses_options *options, struct fab_losses *out,
		    struct fab_err *err)
{
	struct fab_loss_base base;
	struct trial t = {.problem = problem,
			  .engine = engine,
			  .base = &base,
			  .options = options,
			  .losses = out};
	int rc;

	*out = (struct fab_losses){0};
	rc = list_parts(r, out, err);
	if (rc)
		return rc;
	fab_loss_base_init(&base, r);
	if (!engine || engine == &fab_unicast_minhop) {
		struct fab_sweep sweep = {.grain = 8,
					  .open = open_work,
					  .close = close_work,
					  .work = work_shortest};

		/* Single losses under shortest paths, repaired only where the part was
		 * used. */
		keep_shard(out, &options->shard);
		rc = try_each(&t, &sweep, err);
	} else {
		struct table was = measure(r);
		struct fab_sweep sweep = {
			.open = open_faults, .close = close_faults, .work = work_anew};
		uint64_t each = (uint64_t)(r->n_columns + 1) * r->f->n_switches * 20;
		uint64_t room = options->steps / each, of_kind[3] = {0};

		/* Engines that must route all destinations again: mark what is tried, all
		 * or the same number of each kind. */
		FAB_SORT(&out->of, by_pairs);
		if (room < 3 * TRIED_AT_LEAST)
			room = 3 * TRIED_AT_LEAST;
		for (size_t i = 0; i < out->of.n; i++)
			out->of.v[i].is_tried =
				out->of.n <= room ||
				of_kind[kind_of(&out->of.v[i])]++ < room / 3;
		keep_shard(out, &options->shard);
		for (size_t i = 0; i < out->of.n; i++)
			out->of.v[i].interrupted =
				fab_loss_interrupted(&base, out->of.v[i].part);
		t.was = &was;
		rc = try_each(&t, &sweep, err);
		free(was.hops);
		free(was.leaf);
	}
	fab_loss_base_fini(&base);
	if (rc)
		free(out->of.v);
	else
		FAB_SORT(&out->of, by_cost);
	return rc;
}
