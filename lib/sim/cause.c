/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Why does a network carry no more? A cable that is never idle is a bottleneck. Where
 * there is none, packets wait while the cables that they wait for are idle: for credit,
 * or for the input of a switch that is read by another packet. The waiting time of all
 * packets tells which of them it is. A source that has no credit waits for what the
 * packets in the buffer behind it wait for, which is counted there, unless that buffer is
 * too small for its cable.
 */
#include "sim/sim.h"

/* A cable is full, and time without credit counts, from these shares on. */
static const double FULL = 0.9, SHORT_OF_CREDIT = 0.1;

const char *const fab_sim_cause_names[] = {[FAB_SIM_LOAD] = "load",
					   [FAB_SIM_CONTENTION] = "contention",
					   [FAB_SIM_CREDITS] = "credits"};

static double queue_of(const struct fab_sim_result *r, uint32_t cable)
{
	double sum = 0;

	for (unsigned vl = 0; vl < r->n_vls; vl++)
		sum += r->lane[(size_t)cable * r->n_vls + vl].mean_queue;
	return sum;
}

/* Of the worst lane. */
static double no_credit_of(const struct fab_sim_result *r, uint32_t cable)
{
	double most = 0;

	for (unsigned vl = 0; vl < r->n_vls; vl++) {
		const struct fab_sim_lane *lane = &r->lane[(size_t)cable * r->n_vls + vl];

		if (lane->no_credit > most)
			most = lane->no_credit;
	}
	return most;
}

/* Share of the idle time of a cable in which packets waited for credit. */
static double blocked_share(const struct fab_sim_result *r, uint32_t cable)
{
	double idle = 1 - r->cable[cable].utilisation;
	double share = idle > 0 ? no_credit_of(r, cable) / idle : 0;

	return share < 1 ? share : 1;
}

/* The fullest cable; where it is not full, of those as full the one most in want of
 * credit, which the cables behind it never are. */
static uint32_t telling_cable(const struct fab_sim_result *r)
{
	uint32_t best = r->fullest;
	double most = best == FAB_NONE ? 0 : r->cable[best].utilisation;

	for (uint32_t i = 0; most < FULL && best != FAB_NONE && i < r->n_cables; i++)
		if (r->cable[i].utilisation >= 0.99 * most &&
		    no_credit_of(r, i) > no_credit_of(r, best))
			best = i;
	return best;
}

/* All waiting time, that for credit, and where each is the longest. */
static void add_waiting(const struct fab_sim_result *r, struct fab_sim_cause *c)
{
	uint32_t longest = FAB_NONE, blocked = FAB_NONE;
	double most = 0, most_blocked = 0;

	for (uint32_t i = 0; i < r->n_cables; i++) {
		bool is_source = i >= r->n_cables - r->n_ends;
		double queue = queue_of(r, i), part = queue * blocked_share(r, i);

		if (is_source && !r->cable[i].is_credit_limited)
			continue;
		c->waiting += queue;
		c->waiting_for_credit += part;
		if (queue > most) {
			most = queue;
			longest = i;
		}
		if (part > most_blocked) {
			most_blocked = part;
			blocked = i;
		}
	}
	c->is_credit = c->waiting_for_credit >= c->waiting / 2 && blocked != FAB_NONE;
	c->waits_at = c->is_credit ? blocked : longest;
}

struct fab_sim_cause fab_sim_cause(const struct fab_sim_result *r)
{
	struct fab_sim_cause c = {.cable = telling_cable(r), .waits_at = FAB_NONE};

	if (c.cable == FAB_NONE)
		return c;
	add_waiting(r, &c);
	c.no_credit = no_credit_of(r, c.cable);
	c.mean_queue = queue_of(r, c.cable);
	c.is_full = r->cable[c.cable].utilisation >= FULL;
	if (c.waits_at != FAB_NONE)
		c.waits_no_credit = no_credit_of(r, c.waits_at);
	if (c.is_full)
		c.kind = FAB_SIM_CONTENTION;
	else if (r->is_stalled || (c.is_credit && (r->is_saturated ||
						   c.waits_no_credit >= SHORT_OF_CREDIT)))
		c.kind = FAB_SIM_CREDITS;
	else if (r->is_saturated || c.mean_queue >= 1)
		c.kind = FAB_SIM_CONTENTION;
	return c;
}
