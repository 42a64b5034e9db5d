/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Time of a fence on a fabric. A setup holds the cables that its messages take through
 * the forwarding tables, and how many messages of each step share a cable; it gives the
 * time as a line over the size of a block, or by simulation. Below: the ranges of sizes
 * in which a fence is the fastest, and a clock that computes each time once.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "launch/fence.h"
#include "unicast/path.h"

const struct fab_fence_chosen fab_fence_candidates[FAB_N_FENCE_CANDIDATES] = {
	{FAB_FENCE_BRUCK, 0}, {FAB_FENCE_BRUCK_EVEN, 0}, {FAB_FENCE_RECDBL, 0},
	{FAB_FENCE_RING, 0},  {FAB_FENCE_LEAF, 0},	 {FAB_FENCE_TREE, 2},
	{FAB_FENCE_TREE, 16}};

/* Paths that are being made. */
struct paths {
	struct fab_fence_paths *out;
	const struct fab_launch_nodes *nodes;
	const struct fab_routes *routes;
	uint32_t *column;    /* [n] of the tables, by destination */
	uint32_t *sl_row;    /* [n_nodes of the fabric] */
	uint32_t *number_of; /* [arcs] number of the cable; FAB_NONE: not used yet */
	FAB_VEC(uint32_t) cables;
	FAB_VEC(uint32_t) ports;
	double fastest; /* rate of an adapter cable of the job */
};

/* Cables from `from` to `to` by the tables. */
static int add_path(struct paths *m, uint32_t from, uint32_t to, struct fab_err *err)
{
	const struct fab_fabric *f = m->nodes->f;
	const struct fab_routes *r = m->routes;
	uint32_t column = m->column[to], at = m->nodes->sw[from];
	bool has_column = column != FAB_NONE;

	FAB_PUSH(&m->cables, from);
	if (has_column && r->sl) { /* a pair without a service level has no path */
		uint32_t row = m->sl_row[f->port_node[m->nodes->port[from]]];

		if (row == FAB_NONE)
			row = m->sl_row[at];
		has_column = row == FAB_NONE ||
			     r->sl[(size_t)row * r->n_columns + column] != FAB_SL_NONE;
	}
	if (has_column) {
		struct fab_path path = fab_path_from(m->routes, at, column);

		while (fab_path_step(&path)) {
			uint32_t *number = &m->number_of[path.arc];

			if (*number == FAB_NONE) {
				*number = (uint32_t)m->ports.n;
				FAB_PUSH(&m->ports, fab_arc_port(f, at, path.arc));
			}
			FAB_PUSH(&m->cables, *number);
			at = path.at;
		}
		FAB_PUSH(&m->cables, m->out->n_nodes + to);
		if (fab_path_end(&path) == FAB_PATH_ARRIVES && at == m->nodes->sw[to])
			return 0;
	}
	return fab_fail(err, EHOSTUNREACH,
			"the tables have no path from '%s' to '%s': a fence needs one",
			fab_host_name(f, m->nodes->host[from]),
			fab_host_name(f, m->nodes->host[to]));
}

/* The rate of the fastest adapter cable of the job. */
static double fastest_gbps(const struct fab_launch_nodes *first)
{
	double fastest = 0;

	for (const struct fab_launch_nodes *x = first; x; x = x->next)
		for (uint32_t i = 0; i < x->n; i++)
			fastest = fmax(
				fastest,
				fab_cable_data_gbps(x->f, x->f->port_cable[x->port[i]]));
	return fastest;
}

/* Paths of all messages, and the time of a byte on each cable. */
static int find_paths(struct fab_fence_setup *setup, struct paths *m, struct fab_err *err)
{
	const struct fab_fence_plan *plan = &setup->plan;
	const struct fab_launch_nodes *nodes = m->nodes;
	struct fab_fence_paths *out = m->out;
	double fastest = m->fastest;
	int rc = 0;

	*out = (struct fab_fence_paths){.n_nodes = plan->n_nodes};
	for (uint32_t i = 0; i < out->n_nodes; i++)
		FAB_PUSH(&m->ports, nodes ? nodes->port[i] : FAB_NONE);
	for (uint32_t i = 0; i < out->n_nodes; i++)
		FAB_PUSH(&m->ports,
			 nodes ? fab_port_peer(nodes->f, nodes->port[i]) : FAB_NONE);
	if (nodes) {
		uint32_t n_arcs = nodes->f->arc_first[nodes->f->n_switches];

		m->column = fab_path_columns(m->routes, nodes->n, nodes->sw, nodes->port);
		m->sl_row = fab_routes_sl_rows(m->routes);
		m->number_of = FAB_NEW((size_t)n_arcs + 1, uint32_t);
		for (uint32_t i = 0; i < n_arcs; i++)
			m->number_of[i] = FAB_NONE;
	}
	out->first = FAB_ARENA_NEW0(&setup->memory, plan->messages.n + 1, uint64_t);
	for (size_t i = 0; i < plan->messages.n && !rc; i++) {
		const struct fab_fence_message *message = &plan->messages.v[i];

		if (nodes) {
			rc = add_path(m, message->from, message->to, err);
		} else {
			FAB_PUSH(&m->cables, message->from);
			FAB_PUSH(&m->cables, out->n_nodes + message->to);
		}
		out->first[i + 1] = m->cables.n;
	}
	out->cable = m->cables.v;
	out->port = m->ports.v;
	out->n_cables = (uint32_t)m->ports.n;
	fab_arena_own(&setup->memory, free, m->cables.v);
	fab_arena_own(&setup->memory, free, m->ports.v);
	FAB_FREE_ALL(m->column, m->sl_row, m->number_of);
	out->slowness = FAB_ARENA_NEW0(&setup->memory, (size_t)out->n_cables + 1, double);
	for (uint32_t i = 0; nodes && i < out->n_cables; i++) {
		uint32_t cable = nodes->f->port_cable[out->port[i]];

		out->slowness[i] = fab_cable_data_gbps(nodes->f, cable);
	}
	for (uint32_t i = 0; i < out->n_cables; i++)
		out->slowness[i] = out->slowness[i] > 0 && fastest > 0
					   ? fastest / out->slowness[i]
					   : 1;
	return rc;
}

/* Sums of a cable and of a node in the current step; reset if `step` is an earlier one.
 */
struct cable_sum {
	size_t step;
	uint64_t messages;
	double blocks;
};
struct node_sum {
	size_t step;
	uint32_t messages;
	uint64_t blocks;
};

/* Loads of all steps, and the line of the time. */
static void find_loads(struct fab_fence_setup *setup)
{
	const struct fab_fence_plan *plan = &setup->plan;
	const struct fab_fence_paths *paths = &setup->paths;
	struct cable_sum *cable = FAB_NEW0((size_t)paths->n_cables + 1, struct cable_sum);
	struct node_sum *sent = FAB_NEW0((size_t)plan->n_nodes + 1, struct node_sum);
	struct node_sum *received = FAB_NEW0((size_t)plan->n_nodes + 1, struct node_sum);
	struct fab_fence_load *load = &setup->load;
	size_t n = plan->messages.n;

	load->n_steps = n ? plan->messages.v[n - 1].step + 1 : 0;
	load->step = FAB_ARENA_NEW0(&setup->memory, (size_t)load->n_steps + 1,
				    struct fab_fence_step);
	for (size_t i = 0; i < n; i++) {
		const struct fab_fence_message *m = &plan->messages.v[i];
		struct fab_fence_step *step = &load->step[m->step];
		size_t now = (size_t)m->step + 1;

		for (int side = 0; side < 2; side++) {
			struct node_sum *x = side ? &received[m->to] : &sent[m->from];
			uint32_t *most = side ? &step->most_received : &step->most_sent;

			if (x->step != now)
				*x = (struct node_sum){.step = now};
			x->blocks += m->n_blocks;
			*most = ++x->messages > *most ? x->messages : *most;
		}
		if (sent[m->from].blocks > step->n_blocks)
			step->n_blocks = sent[m->from].blocks;
		step->copied_blocks =
			fmax(step->copied_blocks, (double)received[m->to].blocks);
		for (uint64_t k = paths->first[i]; k < paths->first[i + 1]; k++) {
			uint32_t number = paths->cable[k];
			struct cable_sum *c = &cable[number];

			if (c->step != now)
				*c = (struct cable_sum){.step = now};
			c->messages++;
			c->blocks += m->n_blocks;
			if (c->messages > step->load) {
				step->load = c->messages;
				step->cable = number;
			}
			if (number >= 2 * paths->n_nodes &&
			    c->messages > step->load_between)
				step->load_between = c->messages;
			step->wire_blocks = fmax(step->wire_blocks,
						 c->blocks * paths->slowness[number]);
		}
	}
	FAB_FREE_ALL(cable, sent, received);
}

/* The line of the time: in each step the slowest of this rail and the next ones. */
static void find_line(struct fab_fence_setup *setup)
{
	const struct fab_launch_costs *costs = &setup->job.costs;
	struct fab_fence_load *load = &setup->load;
	uint32_t n_repeats = setup->plan.n_repeats;
	double wire = 0, alone = 0;

	if (setup->next)
		find_line(setup->next);
	for (uint32_t i = 0; i < load->n_steps; i++) {
		struct fab_fence_step *s = &load->step[i];

		if (setup->next)
			s->wire_blocks = fmax(s->wire_blocks,
					      setup->next->load.step[i].wire_blocks);
		load->max = s->load > load->max ? s->load : load->max;
		if (s->load_between > load->max_between)
			load->max_between = s->load_between;
		wire += s->wire_blocks;
		alone += fmax((double)s->n_blocks, s->copied_blocks);
		setup->n_o += (double)s->most_sent + s->most_received;
		setup->contended.fixed_us += costs->L_us;
		setup->contended.byte_us +=
			(s->wire_blocks * costs->G_ns + s->copied_blocks * costs->C_ns) /
			1e3;
	}
	load->factor = alone > 0 ? wire / alone : (double)NAN;
	setup->contended.fixed_us =
		n_repeats * (setup->contended.fixed_us + costs->o_us * setup->n_o);
	setup->n_o *= n_repeats;
	setup->contended.byte_us *= n_repeats;
}

/* The plan, cables and loads of a rail. */
static int prepare(struct fab_fence_setup *setup, struct fab_fence_chosen chosen,
		   const struct fab_fence_job *job, struct paths *paths,
		   struct fab_err *err)
{
	int rc;

	*setup = (struct fab_fence_setup){.is = fab_fence_stands_for(chosen, job),
					  .job = *job};
	paths->out = &setup->paths;
	rc = fab_fence_plan_make(&setup->memory, chosen, job, &setup->plan, err);
	if (!rc && paths->nodes && paths->nodes->n != setup->plan.n_nodes)
		rc = fab_fail(err, EINVAL, "a fence of %u nodes for a job of %u",
			      setup->plan.n_nodes, paths->nodes->n);
	if (!rc)
		rc = find_paths(setup, paths, err);
	if (!rc)
		find_loads(setup);
	return rc;
}

int fab_fence_setup_init(struct fab_fence_setup *setup, struct fab_fence_chosen chosen,
			 const struct fab_fence_job *job,
			 const struct fab_launch_nodes *nodes,
			 const struct fab_routes *routes, struct fab_err *err)
{
	const struct fab_launch_nodes *rail = nodes ? nodes->next : NULL;
	struct paths paths = {
		.nodes = nodes, .routes = routes, .fastest = fastest_gbps(nodes)};
	struct fab_fence_setup *last = setup;
	struct fab_fence_job share = *job;
	int rc;

	if (rail)
		share.costs.G_ns /= nodes->n_rails;
	rc = prepare(setup, chosen, &share, &paths, err);
	for (; rail && !rc; rail = rail->next) {
		last->next = FAB_ARENA_NEW0(&setup->memory, 1, struct fab_fence_setup);
		last = last->next;
		paths = (struct paths){
			.nodes = rail, .routes = routes, .fastest = paths.fastest};
		rc = prepare(last, chosen, &share, &paths, err);
	}
	if (rc)
		fab_fence_setup_fini(setup);
	else
		find_line(setup);
	return rc;
}

void fab_fence_setup_fini(struct fab_fence_setup *setup)
{
	if (setup->next)
		fab_fence_setup_fini(setup->next);
	fab_arena_free(&setup->memory);
}

/* By each rail, without waiting for the others in between; the slowest. */
static int simulate_rails(const struct fab_fence_setup *setup, uint64_t bytes,
			  const struct fab_fence_sim_options *options,
			  struct fab_fence_sim *out, struct fab_err *err)
{
	int rc = fab_fence_simulate(setup, bytes, options, out, err);

	for (const struct fab_fence_setup *x = setup->next; x && !rc; x = x->next) {
		struct fab_fence_sim sim;

		rc = fab_fence_simulate(x, bytes, options, &sim, err);
		/* unknown if one is */
		if (!rc && !isnan(out->us) && (isnan(sim.us) || sim.us > out->us))
			*out = sim;
	}
	return rc;
}

/* The plan followed without a fabric: no cable but the nodes' own. */
static int follow_plain(const struct fab_fence_setup *setup,
			const struct fab_fence_job *job, double *us, struct fab_err *err)
{
	static const struct fab_fence_sim_options whole = {.max_events = UINT64_MAX,
							   .without_symmetry = true};
	struct fab_fence_setup plain;
	struct fab_fence_sim sim;
	int rc;

	if (!setup->paths.port || setup->paths.port[0] == FAB_NONE) {
		rc = fab_fence_simulate(setup, job->bytes, &whole, &sim, err);
	} else {
		rc = fab_fence_setup_init(&plain, setup->is, job, NULL, NULL, err);
		if (rc)
			return rc;
		rc = fab_fence_simulate(&plain, job->bytes, &whole, &sim, err);
		fab_fence_setup_fini(&plain);
	}
	*us = sim.us;
	return rc;
}

int fab_fence_setup_time(const struct fab_fence_setup *setup, uint64_t bytes,
			 const struct fab_fence_sim_options *options,
			 struct fab_fence_time *out, struct fab_err *err)
{
	struct fab_fence_job job = setup->job;
	int rc = 0;

	job.bytes = bytes;
	*out = (struct fab_fence_time){.model_us = fab_fence_formula_us(setup->is, &job),
				       .contended_us =
					       fab_fence_line_us(setup->contended, bytes),
				       .sim = {.us = (double)NAN}};
	if (options)
		rc = simulate_rails(setup, bytes, options, &out->sim, err);
	if (!rc && isnan(out->model_us))
		rc = follow_plain(setup, &job, &out->model_us, err);
	out->simulated_us = out->sim.us;
	return rc;
}

int fab_fence_plain_us(struct fab_fence_chosen chosen, const struct fab_fence_job *job,
		       double *us, struct fab_err *err)
{
	FAB_AUTO(fab_fence_setup_fini) struct fab_fence_setup setup = {0};
	int rc = fab_fence_job_check(job, err);

	*us = job->n_nodes > 1 ? fab_fence_formula_us(chosen, job) : 0;
	if (rc || !isnan(*us))
		return rc;
	rc = fab_fence_setup_init(&setup, chosen, job, NULL, NULL, err);
	return rc ? rc : follow_plain(&setup, job, us, err);
}

size_t fab_fence_ranges(const struct fab_fence_line *lines, size_t n, double most,
			struct fab_fence_range *out)
{
	size_t now = 0, n_ranges = 0;
	double from = 0;

	/* the lowest at 0, of those the least steep */
	for (size_t i = 1; i < n; i++)
		if (lines[i].fixed_us < lines[now].fixed_us ||
		    (lines[i].fixed_us <= lines[now].fixed_us &&
		     lines[i].byte_us < lines[now].byte_us))
			now = i;
	while (now < n) {
		size_t next = n;
		double next_from = INFINITY;

		out[n_ranges++] = (struct fab_fence_range){now, from};
		/* the line that crosses first, of several at one size the least steep */
		for (size_t i = 0; i < n; i++) {
			double x = (lines[i].fixed_us - lines[now].fixed_us) /
				   (lines[now].byte_us - lines[i].byte_us);

			if (lines[i].byte_us >= lines[now].byte_us || fmax(x, 0) > most)
				continue;
			x = fmax(x, 0);
			if (x < next_from ||
			    (x <= next_from && lines[i].byte_us < lines[next].byte_us)) {
				next = i;
				next_from = x;
			}
		}
		from = fmax(from, next_from);
		now = next;
	}
	return n_ranges;
}

/* A fence whose setup is made, once for all sizes, and its times. */
struct fab_fence_timed {
	struct fab_fence_timed *next;
	struct fab_fence_setup setup;
	FAB_VEC(struct {
		uint64_t bytes;
		double us;
	})
	known;
};

static void end_timed(void *of)
{
	struct fab_fence_timed *timed = of;

	fab_fence_setup_fini(&timed->setup);
	free(timed->known.v);
}

double fab_fence_clock_us(void *clock, struct fab_fence_chosen fence, uint64_t bytes,
			  struct fab_err *err)
{
	struct fab_fence_clock *c = clock;
	static const struct fab_fence_sim_options options = {0};
	struct fab_fence_job job = fab_fence_daemon_job_of(
		c->params, c->n_nodes, c->nodes ? c->nodes->sw : NULL, bytes);
	struct fab_fence_chosen is = fab_fence_stands_for(fence, &job);
	struct fab_fence_timed *timed = c->timed;
	struct fab_fence_sim sim = {.us = (double)NAN};
	double us;
	int rc;

	if (!c->nodes) {
		rc = fab_fence_plain_us(fence, &job, &us, err);
		return rc ? rc : us;
	}
	while (timed && !fab_fence_equal(timed->setup.is, is))
		timed = timed->next;
	if (!timed) {
		timed = FAB_ARENA_NEW0(c->memory, 1, struct fab_fence_timed);
		rc = fab_fence_setup_init(&timed->setup, is, &job, c->nodes, c->routes,
					  err);
		if (rc)
			return rc;
		fab_arena_own(c->memory, end_timed, timed);
		timed->next = c->timed;
		c->timed = timed;
	}
	for (size_t i = 0; i < timed->known.n; i++)
		if (timed->known.v[i].bytes == bytes)
			return timed->known.v[i].us;
	rc = c->model_only ? 0
			   : simulate_rails(&timed->setup, bytes, &options, &sim, err);
	if (rc)
		return rc;
	c->n_cut += !c->model_only && isnan(sim.us);
	us = isnan(sim.us) ? fab_fence_line_us(timed->setup.contended, bytes) : sim.us;
	FAB_RESERVE(&timed->known, 1);
	timed->known.v[timed->known.n].bytes = bytes;
	timed->known.v[timed->known.n++].us = us;
	return us;
}

int fab_fence_fastest(struct fab_fence_clock *c, uint64_t bytes,
		      struct fab_fence_chosen *out, struct fab_err *err)
{
	double best = INFINITY;

	for (size_t i = 0; i < FAB_N_FENCE_CANDIDATES; i++) {
		double us = fab_fence_clock_us(c, fab_fence_candidates[i], bytes, err);

		if (us < 0)
			return (int)us;
		if (us < best) {
			best = us;
			*out = fab_fence_candidates[i];
		}
	}
	return 0;
}
