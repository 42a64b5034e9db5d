/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/reliability.h"

#include "event/stats.h"
#include "unicast/engine.h"
#include "unicast/faults.h"
#include "unicast/path.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIALS_AT_ONCE = 8 };

void fab_touch_all(uint32_t n, uint32_t m, uint32_t k_max, double *out)
{
	size_t states = ((size_t)n + 1) * ((size_t)m + 1);
	FAB_AUTOFREE double *from = FAB_NEW0(states, double),
			    *to = FAB_NEW0(states, double);

	from[0] = 1;
	out[0] = 0;
	for (uint32_t k = 1; k <= k_max; k++) {
		double *swap = from;
		double e;
		size_t width;
		double free_points;

		if (k > (uint64_t)n * m) {
			out[k] = out[k - 1];
			continue;
		}
		/* One more point: how likely it keeps or touches rows and columns. */
		e = k - 1;
		width = (size_t)m + 1;
		free_points = n * m - e;
		for (size_t i = 0; i < ((size_t)n + 1) * width; i++)
			to[i] = 0;
		for (double a = 0; a <= n; a++)
			for (double b = 0; b <= m; b++) {
				size_t at = (size_t)a * width + (size_t)b;
				double p = from[at] / free_points;

				if (p == 0)
					continue;
				if (a * b > e)
					to[at] += p * (a * b - e);
				if (a < n)
					to[at + width] += p * (n - a) * b;
				if (b < m)
					to[at + 1] += p * a * (m - b);
				if (a < n && b < m)
					to[at + width + 1] += p * (n - a) * (m - b);
			}
		from = to;
		to = swap;
		out[k] = from[states - 1];
	}
}

static double log_choose(double n, double k)
{
	return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

double fab_touch_all_as_published(uint32_t n, uint32_t k)
{
	double all = (double)n * n;

	if (k < n || k > all)
		return 0;
	return exp(log_choose(all - n, k - n) - log_choose(all, k));
}

uint32_t fab_faults_survived(const struct fab_kfat *k)
{
	uint32_t n = 0;

	for (uint32_t d = 0; d < k->n_dims; d++)
		n += k->dims[d] - 1;
	return n ? n - 1 : 0;
}

double fab_cut_bound(uint32_t n, uint32_t m, uint32_t k)
{
	double points = (double)n * m, lines = n + m - 4.0;
	double others = points - 4 - 2 * lines, p = 0;

	if (n < 2 || m < 2 || k > points)
		return 0;
	/* of the lines for detours, j have both leaves dead, the others one of two */
	for (double j = 0; j <= lines; j++) {
		double rest = k - 2 - lines - j;

		if (rest < 0 || rest > others)
			continue;
		p += exp(log_choose(lines, j) + (lines - j) * log(2) +
			 log_choose(others, rest) - log_choose(points, k));
	}
	p *= points * (n - 1.0) * (m - 1.0) / 2;
	return p < 1 ? p : 1;
}

/* Ordered pairs of leaf switches without a path, by the tables and service levels.
 * O(columns * switches). */
static uint64_t count_unreachable(const struct fab_routes *r)
{
	FAB_AUTOFREE uint32_t *leaf = NULL;
	uint32_t n_leaves = fab_routes_leaf_columns(r, &leaf);
	FAB_AUTOFREE uint32_t *row = fab_routes_sl_rows(r);
	FAB_AUTO(fab_walk_fini) struct fab_walk walk;
	uint64_t n = 0;

	fab_walk_init(&walk, r->f, r->faults);
	for (uint32_t i = 0; i < n_leaves; i++) {
		fab_walk_all(&walk, fab_routes_next(r, leaf[i]),
			     r->column_switch[leaf[i]]);
		for (uint32_t s = 0; s < n_leaves; s++) {
			uint32_t sw = r->column_switch[leaf[s]];

			n += s != i &&
			     (walk.hops[sw] >= FAB_HOPS_NEVER ||
			      fab_routes_level(r, row[sw], leaf[i]) == FAB_SL_NONE);
		}
	}
	return n;
}

/* Trials as a sweep. */
struct trials {
	const struct fab_trials *t;
	struct fab_fault_sets sets;
	struct fab_reliability *sum;
};

struct trial {
	uint64_t unreachable;
	bool has_note;
};

static void *open_maker(void *context)
{
	return fab_fault_maker_new(&((const struct trials *)context)->sets);
}

static void close_maker(void *context, void *memory)
{
	(void)context;
	fab_fault_maker_free(memory);
}

static int try_once(void *context, void *memory, uint64_t number, void *out,
		    struct fab_err *err)
{
	const struct trials *all = context;
	const struct fab_trials *t = all->t;
	struct fab_fault_maker *maker = memory;
	struct fab_unicast_problem problem = {.f = t->kfat->f,
					      .faults = maker->faults,
					      .kfat = t->kfat,
					      .max_vls = t->max_vls,
					      .max_sls = t->max_sls,
					      .n_threads = 1};
	struct trial *trial = out;
	FAB_AUTO(fab_routes_free_at) struct fab_routes *routes = NULL;
	int rc;

	fab_fault_maker_make(maker, number);
	rc = fab_unicast_route(t->engine, &problem, &routes, err);
	if (rc)
		return rc;
	trial->unreachable = count_unreachable(routes);
	trial->has_note = routes->note != NULL;
	return 0;
}

static void add_trial(void *context, uint64_t number, void *result)
{
	struct fab_reliability *sum = ((struct trials *)context)->sum;
	const struct trial *trial = result;

	(void)number;
	sum->trials++;
	sum->hits += trial->unreachable > 0;
	sum->unreachable += trial->unreachable;
	sum->with_note += trial->has_note;
}

void fab_reliability_sum_up(struct fab_reliability *r)
{
	struct fab_interval within = fab_wilson(r->hits, r->trials, FAB_ALPHA);

	r->probability = (double)r->hits / (double)r->trials;
	r->low = within.low;
	r->high = within.high;
	r->share = (double)r->unreachable / (double)r->pairs / (double)r->trials;
}

int fab_reliability_try(const struct fab_trials *t, uint32_t n_faults,
			struct fab_reliability *out, struct fab_err *err)
{
	uint64_t n = t->kfat->n_leaves, left = n_faults < n ? n - n_faults : 0;
	struct fab_reliability sum = {.n_faults = n_faults, .pairs = left * (left - 1)};
	struct trials all = {.t = t, .sum = &sum};
	const struct fab_sweep sweep = {.what = "trial",
					.n_items = t->n_trials,
					.shard = t->shard,
					.n_threads = t->n_threads,
					.grain = TRIALS_AT_ONCE,
					.result_bytes = sizeof(struct trial),
					.context = &all,
					.open = open_maker,
					.close = close_maker,
					.work = try_once,
					.take = add_trial,
					.progress = t->progress,
					.progress_context = t->progress_context};
	FAB_AUTO(fab_faults_free_at) struct fab_faults *none = NULL;
	int rc;

	if (left < 2)
		return fab_fail(err, EINVAL,
				"%u faults leave no pair of the %u leaf switches",
				n_faults, t->kfat->n_leaves);
	none = fab_faults_new(t->kfat->f);
	all.sets = (struct fab_fault_sets){
		.always = none, .k = n_faults, .n = t->n_trials, .seed = t->seed};
	for (uint32_t i = 0; i < n; i++)
		FAB_PUSH(&all.sets.candidates.of,
			 ((struct fab_fault){.id = t->kfat->leaf[i]}));
	rc = fab_sweep_run(&sweep, err);
	fab_fault_sets_fini(&all.sets);
	if (rc)
		return rc;
	fab_reliability_sum_up(&sum);
	*out = sum;
	return 0;
}

double fab_time_to_unreachable(const double *p, uint32_t k_max, uint32_t n_leaves,
			       double mtbf, bool *is_whole)
{
	double time = 0, worst = 0;

	for (uint32_t k = 0; k <= k_max && k < n_leaves; k++) {
		if (p[k] > worst)
			worst = p[k];
		time += (1 - worst) * mtbf / (n_leaves - k);
	}
	*is_whole = worst >= 1;
	return time;
}

double fab_next_before_repair(uint32_t n_leaves, double mtbf, double mttr)
{
	return -expm1(-(n_leaves - 1.0) * mttr / mtbf);
}

double fab_unavailability(const double *p, uint32_t k_max, uint32_t n_leaves, double mtbf,
			  double mttr)
{
	double down = log(mttr / (mtbf + mttr)), up = log(mtbf / (mtbf + mttr));
	double sum = 0, worst = 0;

	for (uint32_t k = 0; k <= n_leaves; k++) {
		if (k > k_max)
			worst = 1;
		else if (p[k] > worst)
			worst = p[k];
		sum += worst *
		       exp(log_choose(n_leaves, k) + k * down + (n_leaves - k) * up);
	}
	return sum;
}
