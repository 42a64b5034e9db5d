/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts that die in a run (sim/failure.h). Each step happens between windows, when all
 * parts of the simulation have come to its time, and is the same for any number of
 * threads.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "sim/hot.h"
#include "unicast/faults.h"
#include "unicast/path.h"
#include "unicast/reliability.h"

enum { BLOCK = 64, MOMENTS_MAX = 1 << 16, LAST_SHARE = 5 };

static bool is_down(const struct sim_part *p, uint32_t port)
{
	return p->sim->failure->is_noticed[port];
}

/* A row for each pair of rows before and after that lead to an endpoint. */
static void init_tables(struct sim *s, struct sim_failure *f)
{
	struct fab_arena *a = &s->net.arena;
	const struct fab_routes *r = f->plan->after;
	const struct fab_flow_ends *ends = s->net.problem->ends;
	FAB_AUTOFREE uint32_t *column =
		fab_path_columns(r, ends->n, ends->sw, ends->port);
	FAB_AUTO(fab_map64_free_at) struct fab_map64 *rows = fab_map64_new(ends->n);
	uint16_t *next;

	f->before = FAB_ARENA_NEW(a, ends->n + 1, uint32_t);
	f->after = FAB_ARENA_NEW(a, ends->n + 1, uint32_t);
	for (uint32_t e = 0; e < ends->n; e++) {
		uint32_t c = column[e], before = s->net.end_row[e], row;
		uint32_t after = c == FAB_NONE || !r->column_row ? c : r->column_row[c];

		if (before == FAB_NONE)
			continue;
		row = fab_map64_get(rows, (uint64_t)before << 32 | after);
		if (row == FAB_NONE) {
			row = f->n_rows++;
			fab_map64_put(rows, (uint64_t)before << 32 | after, row);
			f->before[row] = before;
			f->after[row] = after;
		}
		s->net.end_row[e] = row;
	}
	f->n_copies = f->plan->dodge ? 1u << f->n_met : 1;
	next = fab_alloc_huge(((size_t)f->n_copies * f->n_rows * s->n_switches + 1) *
			      sizeof(*next));
	fab_arena_own(a, free, next);
	for (size_t row = 0; row < (size_t)f->n_copies * f->n_rows; row++)
		memcpy(next + row * s->n_switches,
		       s->net.next + (size_t)f->before[row % f->n_rows] * s->n_switches,
		       s->n_switches * sizeof(*next));
	s->net.next = f->next = next;
	s->net.switch_routes =
		FAB_ARENA_NEW(a, s->n_switches + 1, const struct fab_routes *);
	for (uint32_t sw = 0; sw < s->n_switches; sw++)
		s->net.switch_routes[sw] = s->net.problem->routes;
}

/* The entry that comes for a row at a switch. */
static uint16_t entry_after(const struct sim *s, uint32_t row, uint32_t sw)
{
	const struct sim_failure *f = s->failure;

	return f->after[row] == FAB_NONE
		       ? FAB_ARC_NONE
		       : f->plan->after->next[(size_t)f->after[row] * s->n_switches + sw];
}

/* The blocks of each switch's table that change, by LID, else in the order of endpoints.
 */
static void init_changes(struct sim *s, struct sim_failure *f)
{
	const struct fab_flow_ends *ends = s->net.problem->ends;
	const struct fab_fabric *net = s->net.problem->f;
	FAB_AUTOFREE uint64_t *blocks =
		FAB_NEW(UINT16_MAX / BLOCK / SIM_WORD + 2, uint64_t);
	uint32_t most = UINT16_MAX / BLOCK + 1;

	f->change = FAB_ARENA_NEW(&s->net.arena, s->n_switches + 1, struct sim_change);
	for (uint32_t sw = 0; sw < s->n_switches; sw++) {
		uint64_t before = f->blocks;

		if (!fab_switch_is_live(f->plan->dead, sw))
			continue;
		memset(blocks, 0, (most / SIM_WORD + 1) * sizeof(*blocks));
		for (uint32_t e = 0; e < ends->n; e++) {
			uint32_t lid = net->port_lid[ends->port[e]],
				 row = s->net.end_row[e];
			uint32_t at = (lid ? lid : e) / BLOCK % most;

			if (row == FAB_NONE || sim_bit(blocks, at) ||
			    f->next[(size_t)row * s->n_switches + sw] ==
				    entry_after(s, row, sw))
				continue;
			sim_set(blocks, at);
			f->blocks++;
		}
		if (f->blocks > before)
			f->change[f->n_changes++] = (struct sim_change){sw, f->blocks};
	}
}

void sim_failure_init(struct sim *s)
{
	const struct fab_sim_failure *plan = s->net.problem->failure;
	struct fab_arena *a = &s->net.arena;
	const struct fab_fabric *net = s->net.problem->f;
	const struct fab_faults *dead = plan->dead;
	struct sim_failure *f;

	if (!plan->interval || !plan->after)
		return;
	f = s->failure = FAB_ARENA_NEW0(a, 1, struct sim_failure);
	f->plan = plan;
	f->begin = UINT64_MAX;
	f->is_dead = FAB_ARENA_NEW0(a, s->net.n_all + 1, bool);
	f->is_noticed = FAB_ARENA_NEW0(a, s->net.n_all + 1, bool);
	f->end_is_cut = FAB_ARENA_NEW0(a, s->net.n_ends + 1, bool);
	for (uint32_t port = 0; port < s->net.n_all; port++)
		f->is_dead[port] =
			s->net.peer[port] != FAB_NONE &&
			dead->cable_is_dead[net->port_cable[s->net.fabric_port[port]]];
	for (uint32_t e = 0; e < s->net.n_ends; e++)
		f->end_is_cut[e] = f->is_dead[s->net.n_ports + e];
	for (uint32_t sw = 0; sw < s->n_switches && plan->dodge; sw++)
		if (dead->switch_is_dead[sw])
			f->met[f->n_met++] = plan->kfat->leaf_of[sw];
	if (plan->dodge) {
		f->steps = fab_local_steps_new(plan->kfat, s->net.problem->faults,
					       plan->dodge == FAB_SIM_DODGE_LISTS
						       ? FAB_REROUTE_LISTS
						       : FAB_REROUTE_SEARCH);
		s->dodges = true;
	}
	init_tables(s, f);
	init_changes(s, f);
	s->host.is_down = is_down;
}

void sim_failure_fini(struct sim *s)
{
	for (uint32_t i = 0; s->part && i < s->n_parts; i++)
		free(s->part[i].moment.v);
	if (s->failure)
		fab_local_steps_free(s->failure->steps);
}

void sim_failure_begin(struct sim *s, uint64_t now)
{
	if (s->failure)
		s->failure->begin = now;
}

/* Time at which a number of blocks have been written. */
static uint64_t written(const struct sim_failure *f, uint64_t blocks)
{
	const struct fab_sim_failure *plan = f->plan;
	uint64_t time = fab_time_add(fab_time_add(f->begin, plan->at), plan->detection);

	time = fab_time_add(fab_time_add(time, plan->trap), plan->computation);
	return plan->block && blocks > UINT64_MAX / plan->block
		       ? UINT64_MAX
		       : fab_time_add(time, blocks * plan->block);
}

uint64_t sim_failure_next(const struct sim *s)
{
	const struct sim_failure *f = s->failure;

	if (!f || f->begin == UINT64_MAX)
		return UINT64_MAX;
	switch (f->stage) {
	case SIM_ALL_LIVE:
		return fab_time_add(f->begin, f->plan->at);
	case SIM_FAILED:
		return fab_time_add(fab_time_add(f->begin, f->plan->at),
				    f->plan->detection);
	case SIM_NOTICED:
		return written(f, f->n_changed < f->n_changes
					  ? f->change[f->n_changed].blocks
					  : f->blocks);
	default:
		return UINT64_MAX;
	}
}

static void lose(struct sim_part *p, uint32_t id)
{
	p->last_move = p->now;
	sim_lose(p, id, SIM_DEAD);
}

bool sim_is_swallowed(struct sim_part *p, const struct sim_arrival *a)
{
	const struct sim_failure *f = p->sim->failure;

	if (f->stage == SIM_ALL_LIVE || !f->is_dead[a->port])
		return false;
	lose(p, a->packet);
	return true;
}

/* The packets that wait at a switch for an output are lost with it, dropped, or choose
 * again. */
static void empty(struct sim_part *p, uint32_t id, uint32_t out, enum sim_loss why)
{
	struct sim *s = p->sim;
	struct sim_switch *sw = &s->sw[id];
	struct sim_port *o = &s->port[sw->port_first + out];
	FAB_VEC(uint32_t) all = {0};

	for (uint32_t in = 0; in < sw->n_ports; in++) {
		struct sim_port *i = &s->port[sw->port_first + in];

		all.n = 0;
		for (unsigned vl = 0; vl < s->n_vls; vl++) {
			struct sim_queue *q = sim_queue_of(s, i, in, out, vl);

			if (sim_queue_is_empty(q))
				continue;
			do
				FAB_PUSH(&all, q->first);
			while (!sim_queue_pop(p, q));
			sim_unwant(s, sw, in, i, o, vl);
		}
		for (size_t k = 0; k < all.n; k++)
			if (why == SIM_DEAD)
				lose(p, all.v[k]);
			else
				s->arrive(p, sw->port_first + in, all.v[k]);
	}
	free(all.v);
	if (why == SIM_DEAD)
		return;
	p->n_early++; /* no credit: outputs choose at this time */
	fab_wheel_add(&p->wheel, p->now, sim_what(SIM_CREDIT, sw->port_first + out), 0);
}

/* Switches and cables die. */
static void fail(struct sim *s)
{
	struct sim_failure *f = s->failure;

	for (uint32_t i = 0; i < s->n_parts; i++) {
		struct sim_part *p = &s->part[i];
		size_t to = p->ring.head;

		for (size_t k = p->ring.head; k < p->ring.tail; k++)
			if (f->is_dead[p->ring.v[k].port])
				lose(p, p->ring.v[k].packet);
			else
				p->ring.v[to++] = p->ring.v[k];
		p->ring.tail = to;
	}
	for (uint32_t sw = 0; sw < s->n_switches; sw++)
		for (uint32_t out = 0;
		     f->plan->dead->switch_is_dead[sw] && out < s->sw[sw].n_ports; out++)
			empty(&s->part[s->sw[sw].part], sw, out, SIM_DEAD);
}

/* Neighbours know that their ports are down. */
static void notice(struct sim *s)
{
	struct sim_failure *f = s->failure;

	memcpy(f->is_noticed, f->is_dead, s->net.n_all * sizeof(*f->is_dead));
	for (uint32_t port = 0; port < s->net.n_ports; port++) {
		uint32_t sw = s->net.port_sw[port];

		if (f->is_dead[port] && fab_switch_is_live(f->plan->dead, sw))
			empty(&s->part[s->sw[sw].part], sw, s->port[port].local,
			      SIM_DOWN);
	}
	for (uint32_t e = 0; e < s->net.n_ends; e++)
		if (f->end_is_cut[e])
			s->host.cut(&s->part[s->end_part[e]], e);
}

/* A switch has its new table; with the last one hosts know all. */
static void change(struct sim *s)
{
	struct sim_failure *f = s->failure;
	uint32_t sw = f->n_changed < f->n_changes ? f->change[f->n_changed].sw : FAB_NONE;

	for (size_t row = 0; row < (size_t)f->n_copies * f->n_rows && sw != FAB_NONE;
	     row++)
		f->next[row * s->n_switches + sw] =
			entry_after(s, (uint32_t)(row % f->n_rows), sw);
	if (sw != FAB_NONE)
		s->net.switch_routes[sw] = f->plan->after;
	if (!f->n_changed)
		f->first_table = s->part->now;
	if (++f->n_changed < f->n_changes)
		return;
	f->last_table = s->part->now;
	f->stage = SIM_RECOVERED;
	sim_net_set_levels(&s->net, f->plan->after);
	for (uint32_t i = 0; i < s->n_switches; i++)
		s->net.switch_routes[i] = f->plan->after;
	for (uint32_t e = 0; e < s->net.n_ends; e++)
		if (s->net.end_row[e] != FAB_NONE &&
		    f->after[s->net.end_row[e]] == FAB_NONE)
			s->net.end_row[e] = FAB_NONE;
}

void sim_failure_step(struct sim *s, uint64_t now)
{
	struct sim_failure *f = s->failure;

	for (uint32_t i = 0; i < s->n_parts; i++) {
		s->part[i].now = now;
		/* outputs are looked up again */
		s->part[i].ring.routed = s->part[i].ring.head;
	}
	if (f->stage == SIM_ALL_LIVE) {
		f->stage = SIM_FAILED;
		fail(s);
	} else if (f->stage == SIM_FAILED) {
		f->stage = SIM_NOTICED;
		notice(s);
	} else {
		change(s);
	}
}

/* Moments */

static struct fab_sim_moment *moment_at(struct sim_part *p, uint64_t time)
{
	uint64_t i = (time - p->sim->begin) / p->sim->failure->plan->interval;

	i = i < MOMENTS_MAX ? i : MOMENTS_MAX - 1;
	while (p->moment.n <= i)
		FAB_PUSH(&p->moment, (struct fab_sim_moment){0});
	return &p->moment.v[i];
}

static void add_moment(struct fab_sim_moment *to, const struct fab_sim_moment *m)
{
	to->packets += m->packets;
	to->bytes += m->bytes;
	to->latency_sum += m->latency_sum;
	to->lost += m->lost;
	if (m->latency_most > to->latency_most)
		to->latency_most = m->latency_most;
}

void sim_failure_delivered(struct sim_part *p, const struct sim_packet *packet,
			   uint64_t time, uint64_t latency)
{
	const struct sim_failure *f = p->sim->failure;
	const struct fab_sim_moment m = {1, packet->size, latency, latency, 0};

	p->sums.dodged += packet->row >= f->n_rows;
	if (time >= p->sim->begin)
		add_moment(moment_at(p, time), &m);
}

void sim_failure_lost(struct sim_part *p, const struct sim_packet *packet)
{
	const struct sim_failure *f = p->sim->failure;

	if (f->stage == SIM_ALL_LIVE || f->end_is_cut[packet->target] ||
	    f->end_is_cut[sim_endpoint_of(packet)])
		return;
	p->sums.lost_live++;
	p->last_loss = p->now;
	moment_at(p, p->now)->lost++;
}

static double mean_of(const struct fab_sim_moment *m)
{
	return m->packets ? (double)m->latency_sum / (double)m->packets : (double)NAN;
}

/* Intervals from .. to - 1 together; *highest: the highest mean of one. */
static double mean_over(const struct fab_sim_recovery *r, uint64_t from, uint64_t to,
			double *highest)
{
	struct fab_sim_moment sum = {0};

	for (uint64_t i = from; i < to && i < r->moments.n; i++) {
		const struct fab_sim_moment *m = &r->moments.v[i];

		add_moment(&sum, m);
		if (mean_of(m) > *highest)
			*highest = mean_of(m);
	}
	return mean_of(&sum);
}

/* Latency before and after, and when all was as before, or as in the end. */
static void judge(const struct sim_failure *f, uint64_t measured,
		  struct fab_sim_recovery *r)
{
	uint64_t at = f->plan->at, width = f->plan->interval, last = at;
	uint64_t n = measured / width < r->moments.n ? measured / width : r->moments.n;
	uint64_t end = n - n / LAST_SHARE;
	double level = 0, unused = 0;

	r->latency_before = mean_over(r, 0, at / width, &level);
	if (r->last_table <= end * width)
		r->latency_after = mean_over(r, end, n, &unused);
	if (r->latency_after > level)
		level = r->latency_after;
	for (uint64_t i = at / width; i < n; i++) {
		double mean = mean_of(&r->moments.v[i]);

		if (mean > r->latency_peak || isnan(r->latency_peak))
			r->latency_peak = mean;
		if (!(mean <= FAB_SIM_CALM * level))
			last = (i + 1) * width;
	}
	if (r->lost_live && last < r->last_loss)
		last = r->last_loss;
	if (!isnan(r->latency_before) && r->last_table != UINT64_MAX &&
	    last + width <= n * width)
		r->recovered = last - at;
}

void sim_failure_results(const struct sim *s, struct fab_sim_result *result)
{
	const struct sim_failure *f = s->failure;
	struct fab_sim_recovery *r = &result->recovery;
	uint64_t last = 0;

	if (!f)
		return;
	*r = (struct fab_sim_recovery){.failed = UINT64_MAX,
				       .noticed = UINT64_MAX,
				       .first_table = UINT64_MAX,
				       .last_table = UINT64_MAX,
				       .last_loss = UINT64_MAX,
				       .recovered = UINT64_MAX,
				       .latency_before = NAN,
				       .latency_peak = NAN,
				       .latency_after = NAN,
				       .switches = f->n_changes,
				       .blocks = f->blocks,
				       .interval = f->plan->interval};
	for (uint32_t e = 0; e < s->net.n_ends; e++)
		r->cut_ends += f->end_is_cut[e];
	r->has_failed = f->stage != SIM_ALL_LIVE;
	if (!r->has_failed)
		return;
	r->failed = f->plan->at;
	if (f->stage >= SIM_NOTICED)
		r->noticed = fab_time_add(f->plan->at, f->plan->detection);
	if (f->stage >= SIM_NOTICED && f->n_changed)
		r->first_table = f->first_table - f->begin;
	if (f->stage == SIM_RECOVERED)
		r->last_table = f->last_table - f->begin;
	for (uint32_t i = 0; i < s->n_parts; i++) {
		const struct sim_part *p = &s->part[i];

		r->lost_dead += p->sums.dropped[SIM_DEAD];
		r->lost_down += p->sums.dropped[SIM_DOWN];
		r->lost_live += p->sums.lost_live;
		r->dodged += p->sums.dodged;
		last = p->last_loss > last ? p->last_loss : last;
		for (size_t k = 0; k < p->moment.n; k++) {
			const struct fab_sim_moment *m = &p->moment.v[k];
			struct fab_sim_moment *to;

			while (r->moments.n <= k)
				FAB_PUSH(&r->moments, (struct fab_sim_moment){0});
			to = &r->moments.v[k];
			add_moment(to, m);
		}
	}
	if (r->lost_live)
		r->last_loss = last - f->begin;
	judge(f, result->time, r);
}
