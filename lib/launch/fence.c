/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/fence.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

#define FAB_ROW(row) &fab_fence_##row,
const struct fab_fence_algorithm *const fab_fence_algorithms[] = {
	FAB_FENCE_ALGORITHMS(FAB_ROW)};
#undef FAB_ROW
const size_t fab_n_fence_algorithms = FAB_COUNT(fab_fence_algorithms);

static struct fab_choice choice_at(size_t i)
{
	const struct fab_fence_algorithm *a = fab_fence_algorithms[i];

	return (struct fab_choice){a->form, a->summary, a->manual, a->is_in_all};
}

const struct fab_choices fab_fence_choices = {
	.what = "fence", .n = FAB_COUNT(fab_fence_algorithms), .at = choice_at};

struct fab_launch_costs fab_launch_costs_default(void)
{
	return (struct fab_launch_costs){
		.o_us = 1, .L_us = 1.5, .G_ns = 0.1, .C_ns = 0.1};
}

int fab_launch_costs_check(const struct fab_launch_costs *costs, struct fab_err *err)
{
	const struct {
		const char *name;
		double value;
	} all[] = {{"o", costs->o_us},
		   {"L", costs->L_us},
		   {"G", costs->G_ns},
		   {"C", costs->C_ns}};

	for (size_t i = 0; i < FAB_COUNT(all); i++)
		if (!(all[i].value >= 0 && all[i].value <= 1e9))
			return fab_fail(err, EINVAL, "%s: expected 0 to 1e9, not %g",
					all[i].name, all[i].value);
	return 0;
}

void fab_fence_plan_fini(struct fab_fence_plan *plan)
{
	free(plan->messages.v);
	free(plan->node_at);
	*plan = (struct fab_fence_plan){0};
}

int fab_fence_parse(const char *text, size_t len, struct fab_fence_chosen *out,
		    struct fab_err *err)
{
	const char *colon = memchr(text, ':', len);
	size_t n = colon ? (size_t)(colon - text) : len;
	uint32_t row = fab_choices_find(&fab_fence_choices, text, n);
	const struct fab_fence_algorithm *a;
	uint64_t width = 0;

	if (row == FAB_NONE)
		return fab_choices_refuse(&fab_fence_choices, text, n, NULL, err);
	a = fab_fence_algorithms[row];
	if (!a->width_max && colon)
		return fab_fail(err, EINVAL, "'%.*s': expected %s", (int)(len & 0xff),
				text, a->form);
	if (a->width_max &&
	    (!colon || !fab_parse_u64(colon + 1, len - n - 1, 1, a->width_max, &width)))
		return fab_fail(err, EINVAL, "'%.*s': expected %s, K from 1 to %llu",
				(int)(len & 0xff), text, a->form,
				(unsigned long long)a->width_max);
	*out = (struct fab_fence_chosen){a, (uint32_t)width};
	return 0;
}

char *fab_fence_text(struct fab_fence_chosen chosen)
{
	const char *form = chosen.algorithm->form;

	if (!chosen.width)
		return fab_strdup(form);
	return fab_format("%.*s:%u", (int)fab_choice_name_len(form), form, chosen.width);
}

struct fab_fence_chosen fab_fence_stands_for(struct fab_fence_chosen chosen,
					     const struct fab_fence_job *job)
{
	struct fab_fence_chosen is = chosen;

	if (chosen.algorithm->stands_for) {
		is.width = 0;
		is.algorithm = chosen.algorithm->stands_for(job, &is.width);
	}
	return is;
}

int fab_fence_job_check(const struct fab_fence_job *job, struct fab_err *err)
{
	if (!job->n_nodes)
		return fab_fail(err, EINVAL, "0 nodes: expected at least 1");
	if (job->n_nodes > FAB_FENCE_NODES_MAX)
		return fab_fail(err, EINVAL, "%u nodes: expected at most %u",
				job->n_nodes, FAB_FENCE_NODES_MAX);
	if (job->bytes > FAB_FENCE_BYTES_MAX)
		return fab_fail(err, EINVAL, "%llu bytes a node: expected at most 1 TiB",
				(unsigned long long)job->bytes);
	return fab_launch_costs_check(&job->costs, err);
}

int fab_fence_plan_make(struct fab_fence_chosen chosen, const struct fab_fence_job *job,
			struct fab_fence_plan *out, struct fab_err *err)
{
	struct fab_fence_chosen is = fab_fence_stands_for(chosen, job);
	int rc = fab_fence_job_check(job, err);

	*out = (struct fab_fence_plan){.n_nodes = job->n_nodes, .n_repeats = 1};
	if (rc)
		return rc;
	if (!is.algorithm->plan)
		return fab_fail(err, EINVAL, "%s: it has no plan of its own",
				is.algorithm->form);
	is.algorithm->plan(job, is.width, out);
	return 0;
}

double fab_fence_model_us(struct fab_fence_chosen chosen, const struct fab_fence_job *job,
			  const struct fab_fence_plan *plan)
{
	struct fab_fence_chosen is = fab_fence_stands_for(chosen, job);
	double us = is.algorithm->model_us ? is.algorithm->model_us(job) : NAN;

	return isnan(us) ? fab_fence_model_of_plan(plan, job) : us;
}

int fab_fence_plain_us(struct fab_fence_chosen chosen, const struct fab_fence_job *job,
		       double *us, struct fab_err *err)
{
	struct fab_fence_plan plan;
	int rc = fab_fence_plan_make(chosen, job, &plan, err);

	*us = 0;
	if (!rc && job->n_nodes > 1)
		*us = fab_fence_model_us(chosen, job, &plan);
	fab_fence_plan_fini(&plan);
	return rc;
}

struct fab_fence_volume fab_fence_volume_of(const struct fab_fence_plan *plan,
					    uint64_t bytes)
{
	uint64_t *sent = FAB_NEW0(2 * (size_t)plan->n_nodes, uint64_t);
	uint64_t *received = sent + plan->n_nodes;
	struct fab_fence_volume v = {0};

	for (size_t i = 0; i < plan->messages.n; i++) {
		const struct fab_fence_message *m = &plan->messages.v[i];
		uint64_t moved = m->n_blocks * bytes * plan->n_repeats;

		sent[m->from] += moved;
		received[m->to] += moved;
		v.sum += moved;
	}
	for (uint32_t i = 0; i < plan->n_nodes; i++) {
		v.most_sent = sent[i] > v.most_sent ? sent[i] : v.most_sent;
		v.most_received =
			received[i] > v.most_received ? received[i] : v.most_received;
	}
	free(sent);
	return v;
}
