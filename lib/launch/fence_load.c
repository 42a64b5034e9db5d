/* SPDX-License-Identifier: BSD-2-Clause */
/* How full the messages of a step make cables. */
#include <math.h>
#include <stdlib.h>

#include "launch/fence_paths.h"

/* Of cables and nodes, in the step at hand; `step` says of which step the rest is. */
struct cable_sum {
	size_t step;
	uint64_t messages;
	double blocks;
};

struct node_sum {
	size_t sends, receives; /* steps that the counts are of */
	uint32_t n_sent, n_received;
	uint64_t sent, received; /* blocks */
};

struct sums {
	struct cable_sum *cable;
	struct node_sum *node;
	size_t now; /* number of the step, from 1 on */
};

static void add_to_cable(const struct fab_fence_paths *p, struct sums *s, uint32_t cable,
			 uint32_t n_blocks, struct fab_fence_step *step)
{
	struct cable_sum *c = &s->cable[cable];

	if (c->step != s->now)
		*c = (struct cable_sum){.step = s->now};
	c->messages++;
	c->blocks += n_blocks;
	if (c->messages > step->load) {
		step->load = c->messages;
		step->cable = cable;
	}
	if (cable >= 2 * p->n_nodes && c->messages > step->load_between)
		step->load_between = c->messages;
	step->wire_blocks = fmax(step->wire_blocks, c->blocks * p->slowness[cable]);
}

static void add_to_nodes(struct sums *s, const struct fab_fence_message *m,
			 struct fab_fence_step *step)
{
	struct node_sum *from = &s->node[m->from], *to = &s->node[m->to];

	if (from->sends != s->now) {
		from->sends = s->now;
		from->n_sent = 0;
		from->sent = 0;
	}
	if (to->receives != s->now) {
		to->receives = s->now;
		to->n_received = 0;
		to->received = 0;
	}
	from->sent += m->n_blocks;
	to->received += m->n_blocks;
	if (++from->n_sent > step->most_sent)
		step->most_sent = from->n_sent;
	if (++to->n_received > step->most_received)
		step->most_received = to->n_received;
	if (from->sent > step->n_blocks)
		step->n_blocks = from->sent;
	step->copied_blocks = fmax(step->copied_blocks, (double)to->received);
}

static void sum_up(struct fab_fence_load *load)
{
	double wire = 0, alone = 0;

	for (uint32_t i = 0; i < load->n_steps; i++) {
		const struct fab_fence_step *s = &load->step[i];

		load->max = s->load > load->max ? s->load : load->max;
		if (s->load_between > load->max_between)
			load->max_between = s->load_between;
		wire += s->wire_blocks;
		alone += fmax((double)s->n_blocks, s->copied_blocks);
	}
	load->factor = alone > 0 ? wire / alone : NAN;
}

void fab_fence_load_init(struct fab_fence_load *load, const struct fab_fence_plan *plan,
			 const struct fab_fence_paths *paths)
{
	struct sums s = {.cable = FAB_NEW0((size_t)paths->n_cables + 1, struct cable_sum),
			 .node = FAB_NEW0((size_t)paths->n_nodes + 1, struct node_sum)};
	size_t n = plan->messages.n;

	*load = (struct fab_fence_load){.n_repeats = plan->n_repeats};
	load->n_steps = n ? plan->messages.v[n - 1].step + 1 : 0;
	load->step = FAB_NEW0((size_t)load->n_steps + 1, struct fab_fence_step);
	for (size_t i = 0; i < n; i++) {
		const struct fab_fence_message *m = &plan->messages.v[i];
		struct fab_fence_step *step = &load->step[m->step];

		s.now = (size_t)m->step + 1;
		add_to_nodes(&s, m, step);
		for (uint64_t k = paths->first[i]; k < paths->first[i + 1]; k++)
			add_to_cable(paths, &s, paths->cable[k], m->n_blocks, step);
	}
	sum_up(load);
	free(s.cable);
	free(s.node);
}

void fab_fence_load_fini(struct fab_fence_load *load)
{
	free(load->step);
	*load = (struct fab_fence_load){0};
}

struct fab_fence_line fab_fence_contended(const struct fab_fence_load *load,
					  const struct fab_launch_costs *costs)
{
	struct fab_fence_line line = {0};

	for (uint32_t i = 0; i < load->n_steps; i++) {
		const struct fab_fence_step *s = &load->step[i];

		line.fixed_us += costs->L_us +
				 costs->o_us * ((double)s->most_sent + s->most_received);
		line.byte_us +=
			(s->wire_blocks * costs->G_ns + s->copied_blocks * costs->C_ns) /
			1e3;
	}
	line.fixed_us *= load->n_repeats;
	line.byte_us *= load->n_repeats;
	return line;
}
