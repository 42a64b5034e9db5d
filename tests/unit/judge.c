/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables judged by walking every pair's path, one after the other. */
#include "unicast/judge.h"

#include "base/rng.h"
#include "fabric/tiers.h"
#include "support/plan.h"
#include "unicast/faults.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { FAR = 100000, MAX_PATH = 64, LANES = 3 };

/* What plain looking comes to. */
struct plain {
	const struct fab_routes *r;
	enum fab_ends ends;
	uint32_t n, n_arcs, n_channels;
	uint32_t *dist;	 /* [n * n] live */
	uint32_t *reach; /* [n_channels ^ 2] dependencies to get from one to the other */
	uint32_t *tier;
	uint64_t *load;
	struct fab_judgement got;
	unsigned vls, sls;
};

static bool arc_is_live(const struct fab_routes *r, uint32_t sw, uint32_t arc)
{
	return !r->faults->cable_is_dead[r->f->arc_cable[arc]] &&
	       !r->faults->switch_is_dead[sw] &&
	       !r->faults->switch_is_dead[r->f->arc_peer[arc]];
}

static void shortest(uint32_t *d, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t j = 0; d[i * n + k] < FAR && j < n; j++)
				if (d[i * n + k] + d[k * n + j] < d[i * n + j])
					d[i * n + j] = d[i * n + k] + d[k * n + j];
}

static bool is_leaf(const struct fab_routes *r, uint32_t sw)
{
	const struct fab_fabric *f = r->f;

	for (uint32_t p = f->node_first_port[sw]; p < f->node_first_port[sw + 1]; p++) {
		uint32_t peer = fab_port_peer(f, p);

		if (peer != FAB_NONE && f->node_kind[f->port_node[peer]] == FAB_ADAPTER &&
		    !r->faults->cable_is_dead[f->port_cable[p]])
			return true;
	}
	return false;
}

/* The switch of an end, FAB_NONE: none. */
static uint32_t end_at(const struct plain *x, uint32_t port)
{
	const struct fab_fabric *f = x->r->f;
	uint32_t node = f->port_node[port], kind = f->node_kind[node], sw;

	if (kind == FAB_SWITCH) {
		if (f->port_num[port] || x->r->faults->switch_is_dead[node])
			return FAB_NONE;
		if (x->ends == FAB_ENDS_LEAVES)
			return is_leaf(x->r, node) ? node : FAB_NONE;
		return x->ends == FAB_ENDS_ALL ? node : FAB_NONE;
	}
	if (x->ends == FAB_ENDS_LEAVES || f->port_cable[port] == FAB_NONE)
		return FAB_NONE;
	if (kind == FAB_AGGREGATION && x->ends == FAB_ENDS_HOSTS)
		return FAB_NONE;
	sw = f->port_node[fab_port_peer(f, port)];
	return x->r->faults->switch_is_dead[sw] ||
			       x->r->faults->cable_is_dead[f->port_cable[port]]
		       ? FAB_NONE
		       : sw;
}

static unsigned sl_of(const struct fab_routes *r, uint32_t node, uint32_t sw,
		      uint32_t column)
{
	unsigned sl = 0;

	for (int own = 0; r->sl && own < 2; own++)
		for (uint32_t i = 0; i < r->n_sl_sources; i++)
			if (r->sl_source[i] == (own ? node : sw))
				sl = r->sl[(size_t)i * r->n_columns + column];
	return sl;
}

struct path {
	uint32_t n, channel[MAX_PATH], at[MAX_PATH + 1];
	bool arrives;
};

static struct path walk(const struct plain *x, uint32_t from, uint32_t column,
			unsigned sl)
{
	const struct fab_fabric *f = x->r->f;
	struct path p = {.at = {from}};
	uint32_t at = from, in = f->arc_first[at + 1] - f->arc_first[at];

	while (p.n < MAX_PATH) {
		unsigned next = x->r->next[(size_t)column * x->n + at];
		uint32_t arc = f->arc_first[at] + next, back = 0;

		if (next == FAB_ARC_HERE) {
			p.arrives = at == x->r->column_switch[column];
			break;
		}
		if (arc >= f->arc_first[at + 1] || !arc_is_live(x->r, at, arc))
			break;
		p.channel[p.n++] = arc * LANES + fab_routes_vl(x->r, at, in, next, sl);
		at = f->arc_peer[arc];
		p.at[p.n] = at;
		while (f->arc_cable[f->arc_first[at] + back] != f->arc_cable[arc])
			back++;
		in = back;
	}
	return p;
}

static bool has_valley(const struct plain *x, const struct path *p)
{
	bool down = false;

	for (uint32_t i = 0; i < p->n; i++) {
		if (down && x->tier[p->at[i + 1]] > x->tier[p->at[i]])
			return true;
		down |= x->tier[p->at[i + 1]] < x->tier[p->at[i]];
	}
	return false;
}

/* One pair; column FAB_NONE: none leads there. */
static void pair(struct plain *x, uint32_t port, uint32_t from, uint32_t column,
		 uint32_t to, bool with_cycles)
{
	const struct fab_fabric *f = x->r->f;
	uint32_t d = x->dist[from * x->n + to], n = x->n_channels, node;
	struct path p = {.arrives = false};
	unsigned sl = 0;
	bool on_cycle = false;

	node = port == FAB_NONE ? FAB_NONE : f->port_node[port];
	if (column != FAB_NONE) {
		sl = sl_of(x->r, node, from, column);
		p = walk(x, from, column, sl);
	}
	for (uint32_t i = 0; p.arrives && i + 1 < p.n; i++) {
		uint32_t *dep = &x->reach[(size_t)p.channel[i] * n + p.channel[i + 1]];

		if (!with_cycles)
			*dep = 1;
		on_cycle |= x->reach[(size_t)p.channel[i + 1] * n + p.channel[i]] < FAR;
	}
	if (with_cycles) {
		x->got.pairs_on_cycles += on_cycle;
		return;
	}
	x->got.pairs++;
	x->got.connected_in_graph += d < FAR;
	if (!p.arrives)
		return;
	x->got.connected++;
	x->got.hops[p.n]++;
	if (p.n > x->got.max_hops)
		x->got.max_hops = p.n;
	x->got.minimal += p.n == d;
	x->sls |= 1u << sl;
	x->got.valley_pairs += has_valley(x, &p);
	for (uint32_t i = 0; i < p.n; i++) {
		x->vls |= 1u << p.channel[i] % LANES;
		x->load[p.channel[i] / LANES]++;
	}
}

static void all_pairs_by_lid(struct plain *x, bool with_cycles)
{
	const struct fab_routes *r = x->r;

	for (uint32_t to = 0; to < r->f->n_ports; to++) {
		bool has_column = false;

		if (end_at(x, to) == FAB_NONE)
			continue;
		for (uint32_t c = 0; c <= r->n_columns; c++) {
			bool is_it =
				c < r->n_columns ? r->column_port[c] == to : !has_column;

			has_column |= is_it;
			for (uint32_t from = 0; is_it && from < r->f->n_ports; from++)
				if (from != to && end_at(x, from) != FAB_NONE)
					pair(x, from, end_at(x, from),
					     c < r->n_columns ? c : FAB_NONE,
					     end_at(x, to), with_cycles);
		}
	}
}

static uint32_t column_of(const struct fab_routes *r, uint32_t sw)
{
	for (uint32_t c = 0; c < r->n_columns; c++)
		if (r->column_switch[c] == sw)
			return c;
	return FAB_NONE;
}

static void all_pairs_by_switch(struct plain *x, bool with_cycles)
{
	const struct fab_routes *r = x->r;

	if (x->ends == FAB_ENDS_LEAVES) {
		for (uint32_t c = 0; c < r->n_columns; c++)
			for (uint32_t i = 0; i < r->n_columns; i++)
				if (i != c &&
				    !r->faults->switch_is_dead[r->column_switch[c]] &&
				    !r->faults->switch_is_dead[r->column_switch[i]])
					pair(x, FAB_NONE, r->column_switch[i], c,
					     r->column_switch[c], with_cycles);
		return;
	}
	for (uint32_t to = 0; to < r->f->n_ports; to++)
		for (uint32_t from = 0; from < r->f->n_ports; from++)
			if (from != to && end_at(x, to) != FAB_NONE &&
			    end_at(x, from) != FAB_NONE)
				pair(x, from, end_at(x, from),
				     column_of(r, end_at(x, to)), end_at(x, to),
				     with_cycles);
}

static void plain_init(struct plain *x, const struct fab_routes *r, enum fab_ends ends)
{
	const struct fab_fabric *f = r->f;
	size_t n_reach;

	*x = (struct plain){.r = r, .ends = ends, .n = f->n_switches};
	x->n_arcs = f->arc_first[x->n];
	x->n_channels = x->n_arcs * LANES;
	n_reach = (size_t)x->n_channels * x->n_channels;
	x->dist = FAB_NEW((size_t)x->n * x->n, uint32_t);
	x->reach = FAB_NEW(n_reach + 1, uint32_t);
	x->tier = FAB_NEW(x->n, uint32_t);
	x->load = FAB_NEW0(x->n_arcs + 1, uint64_t);
	fab_tiers(f, x->tier);
	for (size_t i = 0; i < n_reach; i++)
		x->reach[i] = FAR;
	for (uint32_t i = 0; i < x->n * x->n; i++)
		x->dist[i] = i / x->n == i % x->n ? 0 : FAR;
	for (uint32_t s = 0; s < x->n; s++)
		for (uint32_t a = f->arc_first[s]; a < f->arc_first[s + 1]; a++)
			if (arc_is_live(r, s, a))
				x->dist[s * x->n + f->arc_peer[a]] = 1;
	shortest(x->dist, x->n);
}

static void plain_judge(struct plain *x)
{
	void (*all)(struct plain *, bool) =
		x->r->column_lid ? all_pairs_by_lid : all_pairs_by_switch;
	uint32_t n = x->n_channels, shortest_cycle = FAR;

	all(x, false);
	shortest(x->reach, n);
	all(x, true);
	for (uint32_t c = 0; c < n; c++) {
		if (x->reach[(size_t)c * n + c] >= FAR)
			continue;
		x->got.cycle_channels++;
		if (x->reach[(size_t)c * n + c] < shortest_cycle)
			shortest_cycle = x->reach[(size_t)c * n + c];
	}
	x->got.cycle.n = shortest_cycle < FAR ? shortest_cycle : 0;
}

static void plain_fini(struct plain *x)
{
	free(x->dist);
	free(x->reach);
	free(x->tier);
	free(x->load);
}

/* Channels of the cycle follow each other by dependencies. */
static void check_cycle(const struct plain *x, const struct fab_judgement *j)
{
	for (size_t i = 0; i < j->cycle.n; i++) {
		const struct fab_channel *c = &j->cycle.v[i];
		const struct fab_channel *d = &j->cycle.v[(i + 1) % j->cycle.n];
		uint32_t from = (x->r->f->arc_first[c->sw] + c->arc) * LANES + c->vl;
		uint32_t to = (x->r->f->arc_first[d->sw] + d->arc) * LANES + d->vl;

		cr_expect_eq(x->reach[(size_t)from * x->n_channels + to], 1);
	}
}

/* Valleys are named in order, with turns of real paths, and add up. */
static void check_valleys(const struct plain *x, const struct fab_judgement *j)
{
	uint64_t n = 0;

	for (size_t i = 0; i < j->valleys.of.n; i++) {
		const struct fab_pairs *v = &j->valleys.of.v[i], *before = v - 1;
		bool is_found = false;

		n += v->pairs;
		if (i)
			cr_expect(before->to < v->to ||
				  (before->to == v->to && before->from < v->from));
		for (uint32_t c = 0; c < x->r->n_columns; c++) {
			struct path p = walk(x, v->from, c, 0);

			if (x->r->column_switch[c] != v->to || !p.arrives)
				continue;
			for (uint32_t k = 1; k < p.n; k++)
				is_found |= p.at[k] == v->at && has_valley(x, &p) &&
					    x->tier[p.at[k + 1]] > x->tier[p.at[k]];
		}
		cr_expect(is_found);
	}
	cr_expect_lt(j->valleys.of.n, FAB_PAIRS_MAX);
	cr_expect_eq(n, j->valley_pairs);
}

/* Those who do not arrive are named with the switch at which they end. */
static void check_unreached(const struct plain *x, const struct fab_judgement *j)
{
	uint64_t n = 0;

	for (size_t i = 0; i < j->unreached.of.n; i++) {
		const struct fab_pairs *v = &j->unreached.of.v[i], *before = v - 1;
		bool is_found = false, has_column = false;

		n += v->pairs;
		if (i)
			cr_expect(before->to < v->to ||
				  (before->to == v->to && before->from < v->from));
		for (uint32_t c = 0; c < x->r->n_columns; c++) {
			struct path p = walk(x, v->from, c, 0);

			if (x->r->column_switch[c] != v->to)
				continue;
			has_column = true;
			is_found |= !p.arrives && (p.n == MAX_PATH || p.at[p.n] == v->at);
		}
		cr_expect(is_found ||
			  (v->at == FAB_NONE && (x->r->column_lid || !has_column)));
	}
	cr_expect_leq(j->unreached.of.n, FAB_PAIRS_MAX);
	if (j->unreached.of.n < FAB_PAIRS_MAX)
		cr_expect_eq(n, j->unreachable);
}

static void check_destinations(const struct fab_routes *r, const struct fab_judgement *j)
{
	for (uint32_t s = 0; s < r->f->n_switches; s++)
		for (uint32_t a = r->f->arc_first[s]; a < r->f->arc_first[s + 1]; a++) {
			uint32_t n = 0;

			for (uint32_t c = 0; c < r->n_columns; c++)
				n += r->next[(size_t)c * r->f->n_switches + s] ==
				     a - r->f->arc_first[s];
			cr_expect_eq(j->destinations[a], n);
		}
}

/* Judge both ways. Returns whether there were cycles. */
static bool check(const struct fab_routes *r, enum fab_ends ends)
{
	struct fab_judge_options options = {
		.ends = ends, .with_load = true, .n_threads = 2};
	struct fab_judgement j;
	struct fab_err err = {""};
	struct plain x;
	bool has_cycle;

	plain_init(&x, r, ends);
	plain_judge(&x);
	cr_assert_eq(fab_judge(r, &options, &j, &err), 0, "%s", err.text);
	cr_expect_eq(j.pairs, x.got.pairs);
	cr_expect_eq(j.connected, x.got.connected);
	cr_expect_eq(j.unreachable, x.got.pairs - x.got.connected);
	cr_expect_eq(j.connected_in_graph, x.got.connected_in_graph);
	cr_expect_arr_eq(j.hops, x.got.hops, sizeof(j.hops));
	cr_expect_eq(j.max_hops, x.got.max_hops);
	cr_expect_eq(j.minimal, x.got.minimal);
	cr_expect_eq(j.vls, (unsigned)__builtin_popcount(x.vls));
	cr_expect_eq(j.sls, (unsigned)__builtin_popcount(x.sls));
	cr_expect_eq(j.deadlock_free, !x.got.cycle_channels);
	cr_expect_eq(j.cycle_channels, x.got.cycle_channels);
	cr_expect_eq(j.pairs_on_cycles, x.got.pairs_on_cycles);
	cr_expect_eq(j.valley_pairs, x.got.valley_pairs);
	cr_expect_eq(j.cycle.n, x.got.cycle.n);
	for (uint32_t a = 0; a < x.n_arcs; a++)
		cr_expect_eq(j.load[a], x.load[a]);
	check_cycle(&x, &j);
	check_valleys(&x, &j);
	check_unreached(&x, &j);
	check_destinations(r, &j);
	has_cycle = !j.deadlock_free;
	fab_judgement_fini(&j);
	plain_fini(&x);
	return has_cycle;
}

/* Switches in a random graph, some of them parallel cables; adapters and aggregation
 * nodes, some with two ports. */
static struct fab_fabric *random_fabric(struct fab_rng *rng)
{
	uint32_t n = 4 | (uint32_t)fab_rng_below(rng, 4);
	uint32_t extra = 2 + (uint32_t)fab_rng_below(rng, 6);
	struct plan plan = {{0}};
	uint16_t used[16] = {0};
	struct fab_fabric *f;

	for (uint32_t s = 0; s < n; s++)
		plan_switch(&plan, "sw", 40);
	for (uint32_t s = 0; s < n + extra; s++) {
		uint32_t a = (uint32_t)fab_rng_below(rng, n), b;

		b = s && s < n ? (uint32_t)fab_rng_below(rng, s) : (a + 1) % n;
		a = s && s < n ? s : a;
		plan_cable(&plan, a, ++used[a], b, ++used[b]);
	}
	for (uint32_t i = 0; i < 2 * n; i++) {
		uint32_t node = plan_adapter(&plan, "h HCA-1");
		unsigned n_cables = 1 + (fab_rng_below(rng, 4) == 0);

		if (!fab_rng_below(rng, 4))
			plan.nodes.v[node].kind = FAB_AGGREGATION;
		plan.nodes.v[node].n_ports = 2;
		for (unsigned port = 1; port <= n_cables; port++) {
			uint32_t s = (uint32_t)fab_rng_below(rng, n / 2 + 1);

			plan_cable(&plan, node, (uint16_t)port, s, ++used[s]);
		}
	}
	f = plan_build(&plan, 0);
	plan_free(&plan);
	return f;
}

/* An in-tree to a switch, over any cables, with some entries spoiled. */
static void random_column(struct fab_rng *rng, const struct fab_routes *r, uint32_t root,
			  uint16_t *next, bool is_sound)
{
	const struct fab_fabric *f = r->f;
	uint32_t tries = 40 * f->n_switches;

	for (uint32_t s = 0; s < f->n_switches; s++)
		next[s] = FAB_ARC_NONE;
	next[root] = FAB_ARC_HERE;
	while (tries--) {
		uint32_t s = (uint32_t)fab_rng_below(rng, f->n_switches), a;
		uint32_t d = f->arc_first[s + 1] - f->arc_first[s];

		if (next[s] != FAB_ARC_NONE || !d)
			continue;
		a = (uint32_t)fab_rng_below(rng, d);
		if (next[f->arc_peer[f->arc_first[s] + a]] != FAB_ARC_NONE &&
		    arc_is_live(r, s, f->arc_first[s] + a))
			next[s] = (uint16_t)a;
	}
	for (uint32_t s = 0; !is_sound && s < f->n_switches; s++) {
		static const uint16_t spoiled[] = {
			FAB_ARC_NONE, FAB_ARC_BROKEN, 0, 1, FAB_ARC_HERE, 999};

		if (!fab_rng_below(rng, 3 * (uint64_t)f->n_switches))
			next[s] = spoiled[fab_rng_below(rng, FAB_COUNT(spoiled))];
	}
}

static void random_lanes(struct fab_rng *rng, struct fab_routes *r)
{
	const struct fab_fabric *f = r->f;
	bool by_node = fab_rng_below(rng, 2);

	r->lanes = (enum fab_lanes)fab_rng_below(rng, 3);
	if (fab_rng_below(rng, 4)) {
		r->sl_source = FAB_NEW(f->n_nodes, uint32_t);
		for (uint32_t i = 0; i < (by_node ? f->n_nodes : f->n_switches); i++)
			if (fab_rng_below(rng, 3))
				r->sl_source[r->n_sl_sources++] = i;
		r->sl = FAB_NEW((size_t)r->n_sl_sources * r->n_columns + 1, uint8_t);
		for (size_t i = 0; i < (size_t)r->n_sl_sources * r->n_columns; i++)
			r->sl[i] = (uint8_t)fab_rng_below(rng, LANES);
	}
	if (r->lanes != FAB_LANES_TABLE)
		return;
	r->vl_first = FAB_NEW(f->n_switches + 1, uint64_t);
	r->vl_first[0] = 0;
	for (uint32_t s = 0; s < f->n_switches; s++) {
		uint64_t d = f->arc_first[s + 1] - f->arc_first[s] + 1;

		r->vl_first[s + 1] = r->vl_first[s] + d * d * 16;
	}
	r->sl2vl = FAB_NEW(r->vl_first[f->n_switches], uint8_t);
	for (uint64_t i = 0; i < r->vl_first[f->n_switches]; i++)
		r->sl2vl[i] = (uint8_t)fab_rng_below(rng, LANES);
}

static struct fab_routes *random_routes(struct fab_rng *rng, const struct fab_fabric *f,
					const struct fab_faults *faults, bool by_lid)
{
	uint32_t n = by_lid ? f->n_ports : f->n_switches, c = 0;
	struct fab_routes *r = fab_routes_new(f, faults, n);
	bool is_sound = fab_rng_below(rng, 2);

	if (by_lid) {
		r->column_port = FAB_NEW(n, uint32_t);
		r->column_lid = FAB_NEW(n, uint16_t);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t sw = i;

		if (by_lid)
			sw = fab_node_is_switch(f, f->port_node[i]) && f->port_num[i]
				     ? FAB_NONE
				     : fab_port_switch(f, i);
		if (sw == FAB_NONE || (!is_sound && !fab_rng_below(rng, 6)))
			continue;
		if (by_lid) {
			r->column_port[c] = i;
			r->column_lid[c] = (uint16_t)(c + 1);
		}
		r->column_switch[c] = sw;
		random_column(rng, r, sw, r->next + (size_t)c++ * f->n_switches,
			      is_sound);
	}
	r->n_columns = c;
	random_lanes(rng, r);
	return r;
}

Test(judge, as_walking_every_path)
{
	unsigned n_cycles = 0, n_sound = 0;

	for (uint64_t seed = 0; seed < 2000; seed++) {
		struct fab_rng rng;
		struct fab_fabric *f;
		struct fab_faults *faults;
		struct fab_routes *r;

		fab_rng_init(&rng, seed);
		f = random_fabric(&rng);
		faults = fab_faults_new(f);
		if (!fab_rng_below(&rng, 3))
			fab_faults_kill_switch(
				faults, (uint32_t)fab_rng_below(&rng, f->n_switches));
		if (!fab_rng_below(&rng, 2))
			fab_faults_kill_cable(faults,
					      (uint32_t)fab_rng_below(&rng, f->n_cables));
		r = random_routes(&rng, f, faults, seed % 2);
		if (check(r, (enum fab_ends)(seed / 2 % 4)))
			n_cycles++;
		else
			n_sound++;
		fab_routes_free(r);
		fab_faults_free(faults);
		fab_fabric_free(f);
	}
	cr_expect_gt(n_cycles, 50, "%u", n_cycles);
	cr_expect_gt(n_sound, 50);
}

/* A ring of n switches with one host each, all packets going round the same way. */
static struct fab_routes *ring(uint32_t n, struct fab_fabric **out)
{
	struct plan plan = {{0}};
	struct fab_routes *r;
	struct fab_fabric *f;

	for (uint32_t s = 0; s < n; s++)
		plan_switch(&plan, "sw", 4);
	for (uint32_t s = 0; s < n; s++)
		plan_cable(&plan, s, 1, (s + 1) % n, 2);
	for (uint32_t s = 0; s < n; s++)
		plan_cable(&plan, plan_adapter(&plan, "h HCA-1"), 1, s, 3);
	*out = f = plan_build(&plan, 0);
	plan_free(&plan);
	r = fab_routes_new(f, NULL, n);
	for (uint32_t c = 0; c < n; c++) {
		r->column_switch[c] = c;
		for (uint32_t s = 0; s < n; s++)
			for (uint32_t a = f->arc_first[s]; a < f->arc_first[s + 1]; a++)
				if (f->arc_peer[a] == (s + 1) % n)
					r->next[(size_t)c * n + s] =
						s == c ? FAB_ARC_HERE
						       : (uint16_t)(a - f->arc_first[s]);
	}
	return r;
}

Test(judge, ring_is_one_cycle)
{
	struct fab_judge_options options = {.ends = FAB_ENDS_HOSTS, .n_threads = 1};
	struct fab_judgement j;
	struct fab_fabric *f;
	struct fab_routes *r = ring(7, &f);

	cr_assert_eq(fab_judge(r, &options, &j, NULL), 0);
	cr_expect_eq(j.pairs, 42);
	cr_expect_eq(j.connected, 42);
	cr_expect_eq(j.minimal, 21);
	cr_expect_eq(j.max_hops, 6);
	cr_expect_eq(j.cycle_channels, 7);
	cr_expect_eq(j.cycle.n, 7);
	cr_expect_eq(j.pairs_on_cycles, 35, "all but those one hop away");
	cr_expect_null(j.load);
	fab_judgement_fini(&j);
	fab_routes_free(r);
	fab_fabric_free(f);
}

/* A lane for each source: none is left by one packet and taken by the next all round. */
Test(judge, lanes_break_the_ring)
{
	struct fab_judge_options options = {.ends = FAB_ENDS_LEAVES, .n_threads = 1};
	struct fab_judgement j;
	struct fab_fabric *f;
	struct fab_routes *r = ring(7, &f);

	r->lanes = FAB_LANES_SL;
	r->n_sl_sources = 7;
	r->sl_source = FAB_NEW(7, uint32_t);
	r->sl = FAB_NEW0(49, uint8_t);
	for (uint32_t s = 0; s < 7; s++) {
		r->sl_source[s] = s;
		memset(r->sl + (size_t)s * 7, (int)s, 7);
	}
	cr_assert_eq(fab_judge(r, &options, &j, NULL), 0);
	cr_expect(j.deadlock_free);
	cr_expect_eq(j.vls, 7);
	cr_expect_eq(j.sls, 7);
	cr_expect_eq(j.cycle.n, 0);
	fab_judgement_fini(&j);
	memset(r->sl + 7, 6, 7); /* those from sw1 share the lane of those from sw6 */
	cr_assert_eq(fab_judge(r, &options, &j, NULL), 0);
	cr_expect_not(j.deadlock_free);
	cr_expect_eq(j.vls, 6);
	cr_expect_eq(j.cycle.n, 7);
	cr_expect_eq(j.cycle_channels, 7);
	cr_expect_eq(j.pairs_on_cycles, 10, "from two switches, two hops and more");
	for (size_t i = 0; i < j.cycle.n; i++)
		cr_expect_eq(j.cycle.v[i].vl, 6);
	fab_judgement_fini(&j);
	fab_routes_free(r);
	fab_fabric_free(f);
}

Test(judge, lane_for_management_is_refused)
{
	struct fab_judge_options options = {.ends = FAB_ENDS_LEAVES, .n_threads = 1};
	struct fab_judgement j;
	struct fab_err err = {""};
	struct fab_fabric *f;
	struct fab_routes *r = ring(4, &f);

	r->lanes = FAB_LANES_SL;
	r->n_sl_sources = 1;
	r->sl_source = FAB_NEW0(1, uint32_t);
	r->sl = FAB_NEW0(4, uint8_t);
	r->sl[0] = 15; /* from a switch to itself: no lane */
	cr_assert_eq(fab_judge(r, &options, &j, &err), 0);
	fab_judgement_fini(&j);
	r->sl[2] = 15;
	cr_assert_neq(fab_judge(r, &options, &j, &err), 0);
	cr_expect(strstr(err.text, "lane 15"), "%s", err.text);
	fab_judgement_fini(&j);
	r->sl[2] = 16;
	cr_assert_neq(fab_judge(r, &options, &j, &err), 0);
	cr_expect(strstr(err.text, "service level"), "%s", err.text);
	fab_judgement_fini(&j);
	fab_routes_free(r);
	fab_fabric_free(f);
}
