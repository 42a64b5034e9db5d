/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which channels packets hold while they wait for which: of tables that adaptive packets
 * escape to, where they come to them at any switch, and of two tables of which some
 * switches have one and others the other. A channel is a lane of an arc.
 */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "sim/hot.h"
#include "unicast/path.h"

/* Tables that a switch may have, and rows of one destination in them. */
struct tables {
	unsigned n;
	const struct fab_routes *of[2];
	uint32_t row[2]; /* FAB_NONE: none */
};

struct waits {
	const struct fab_fabric *f;
	unsigned n_vls;
	uint32_t n_words;      /* for the channels behind a switch */
	uint64_t *next;	       /* [channels * n_words] bits of them */
	uint32_t *n_before;    /* [channels] those that wait for it and are left */
	uint32_t *seen, round; /* [channels] */
	FAB_VEC(uint32_t) todo;
};

static void waits_init(struct waits *w, const struct fab_fabric *f, unsigned n_vls)
{
	size_t n = (size_t)f->arc_first[f->n_switches] * n_vls;
	uint32_t most = 1;

	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		if (f->arc_first[sw + 1] - f->arc_first[sw] > most)
			most = f->arc_first[sw + 1] - f->arc_first[sw];
	*w = (struct waits){.f = f, .n_vls = n_vls};
	w->n_words = (most * n_vls + SIM_WORD - 1) / SIM_WORD;
	w->next = FAB_NEW0(n * w->n_words + 1, uint64_t);
	w->n_before = FAB_NEW0(n + 1, uint32_t);
	w->seen = FAB_NEW0(n + 1, uint32_t);
}

static void waits_fini(struct waits *w)
{
	FAB_FREE_ALL(w->next, w->n_before, w->seen, w->todo.v);
}

/* Is there a cycle? Channels for which none waits are removed. */
static bool has_cycle(struct waits *w)
{
	uint32_t n = w->f->arc_first[w->f->n_switches] * w->n_vls;

	w->todo.n = 0;
	for (uint32_t c = 0; c < n; c++)
		if (!w->n_before[c])
			FAB_PUSH(&w->todo, c);
	for (size_t at = 0; at < w->todo.n; at++) {
		uint32_t c = w->todo.v[at];
		uint32_t first = w->f->arc_first[w->f->arc_peer[c / w->n_vls]] * w->n_vls;

		for (uint32_t i = 0; i < w->n_words; i++)
			for (uint64_t bits = w->next[(size_t)c * w->n_words + i]; bits;
			     bits &= bits - 1) {
				uint32_t b = first + i * SIM_WORD +
					     (uint32_t)__builtin_ctzll(bits);

				if (!--w->n_before[b])
					FAB_PUSH(&w->todo, b);
			}
	}
	return w->todo.n < n;
}

/* The channels by which packets may leave a switch, having come by arc `in` of it on the
 * channel `from` (FAB_NONE: from a host). */
static void leave(struct waits *w, const struct tables *t, unsigned sl, uint32_t sw,
		  uint32_t in, uint32_t from)
{
	const struct fab_fabric *f = w->f;
	uint32_t d = f->arc_first[sw + 1] - f->arc_first[sw];

	for (unsigned i = 0; i < t->n; i++) {
		uint32_t out, vl, local, to;

		if (t->row[i] == FAB_NONE)
			continue;
		out = t->of[i]->next[(size_t)t->row[i] * f->n_switches + sw];
		if (out >= d)
			continue;
		vl = w->n_vls == 1 ? 0 : fab_routes_vl(t->of[i], sw, in, out, sl);
		if (vl >= w->n_vls)
			continue;
		local = out * w->n_vls + vl;
		to = f->arc_first[sw] * w->n_vls + local;
		if (from != FAB_NONE) {
			uint64_t *bits =
				&w->next[(size_t)from * w->n_words + local / SIM_WORD];

			w->n_before[to] += !(*bits >> local % SIM_WORD & 1);
			*bits |= 1ull << local % SIM_WORD;
		}
		if (w->seen[to] == w->round)
			continue;
		w->seen[to] = w->round;
		FAB_PUSH(&w->todo, to);
	}
}

/* Add what packets of a level do that start at some switches (NULL: at any). */
static void add_paths(struct waits *w, const struct tables *t, unsigned sl,
		      const bool *starts)
{
	const struct fab_fabric *f = w->f;

	w->round++;
	w->todo.n = 0;
	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		if (!starts || starts[sw])
			leave(w, t, sl, sw, f->arc_first[sw + 1] - f->arc_first[sw],
			      FAB_NONE);
	while (w->todo.n) {
		uint32_t c = w->todo.v[--w->todo.n], arc = c / w->n_vls;

		leave(w, t, sl, f->arc_peer[arc], f->arc_reverse[arc], c);
	}
}

static uint32_t row_of(const struct fab_routes *r, uint32_t column)
{
	return column == FAB_NONE || !r->column_row ? column : r->column_row[column];
}

int fab_sim_check_escape(const struct fab_sim_problem *problem, struct fab_err *err)
{
	const struct fab_routes *r = problem->routes;
	const struct fab_fabric *f = problem->f;
	const struct fab_flow_ends *ends = problem->ends;
	FAB_AUTOFREE bool *has_end = FAB_NEW0(f->n_switches + 1, bool);
	FAB_AUTOFREE uint32_t *column = NULL;
	struct tables t = {.n = 1, .of = {r}};
	uint32_t last = FAB_NONE;
	struct waits w;
	bool has;

	for (uint32_t e = 0; e < ends->n; e++)
		has_end[ends->sw[e]] = true;
	for (uint32_t sw = 0; sw < f->n_switches && r->n_vls > 1; sw++)
		if (f->arc_first[sw + 1] > f->arc_first[sw] && !has_end[sw] &&
		    fab_switch_is_live(problem->faults, sw))
			return fab_fail(
				err, EINVAL,
				"adaptive packets cannot escape to these tables of %u lanes, which pairs of hosts have, at switch %.100s without a live host: expected tables of one lane, such as those of updn",
				r->n_vls, fab_node_name(f, sw));
	if (r->n_vls > 1)
		return 0;
	waits_init(&w, f, 1);
	column = fab_path_columns(r, ends->n, ends->sw, ends->port);
	for (uint32_t e = 0; e < ends->n; e++) {
		t.row[0] = row_of(r, column[e]);
		if (t.row[0] != FAB_NONE && t.row[0] != last)
			add_paths(&w, &t, 0, NULL);
		last = t.row[0];
	}
	has = has_cycle(&w);
	waits_fini(&w);
	if (!has)
		return 0;
	return fab_fail(
		err, EINVAL,
		"adaptive packets that escape to these tables at any switch can stall: expected tables without a cycle, such as those of updn");
}

/* Levels with which endpoints on each switch send to a column: level[n_switches], those
 * of engines; FAB_SL_NONE: none does. */
static void find_levels(const struct fab_routes *r, uint32_t column,
			const struct fab_flow_ends *ends, uint8_t *level)
{
	memset(level, FAB_SL_NONE, r->f->n_switches);
	if (column == FAB_NONE)
		return;
	for (uint32_t e = 0; e < ends->n; e++)
		level[ends->sw[e]] = r->sl ? r->sl_default : 0;
	for (uint32_t i = 0; i < r->n_sl_sources && r->sl; i++)
		if (level[r->sl_source[i]] != FAB_SL_NONE)
			level[r->sl_source[i]] = r->sl[(size_t)i * r->n_columns + column];
}

bool fab_sim_mixed_has_cycle(const struct fab_sim_problem *problem)
{
	const struct fab_sim_failure *failure = problem->failure;
	const struct fab_routes *of[2] = {problem->routes, failure->after};
	const struct fab_flow_ends *ends = problem->ends;
	uint32_t n = problem->f->n_switches;
	FAB_AUTOFREE bool *starts = FAB_NEW(n + 1, bool);
	FAB_AUTOFREE uint8_t *level = FAB_NEW(n + 1, uint8_t);
	uint32_t *column[2];
	struct waits w;
	bool has;

	if (failure->dodge)
		return false;
	for (unsigned i = 0; i < 2; i++)
		column[i] = fab_path_columns(of[i], ends->n, ends->sw, ends->port);
	waits_init(&w, problem->f,
		   of[0]->n_vls > of[1]->n_vls ? of[0]->n_vls : of[1]->n_vls);
	for (uint32_t e = 0; e < ends->n; e++) {
		/* levels of before meet both, those of after the tables after: hosts
		 * know them last */
		const struct tables both = {
			2,
			{of[0], of[1]},
			{row_of(of[0], column[0][e]), row_of(of[1], column[1][e])}};
		const struct tables after = {1, {of[1]}, {both.row[1]}};

		if (e && column[0][e] == column[0][e - 1] &&
		    column[1][e] == column[1][e - 1])
			continue;
		for (unsigned i = 0; i < 2; i++) {
			find_levels(of[i], column[i][e], ends, level);
			for (unsigned sl = 0; sl < 16; sl++) {
				bool any = false;

				for (uint32_t sw = 0; sw < n; sw++)
					any |= starts[sw] = level[sw] == sl;
				if (any)
					add_paths(&w, i ? &after : &both, sl, starts);
			}
		}
	}
	has = has_cycle(&w);
	waits_fini(&w);
	FAB_FREE_ALL(column[0], column[1]);
	return has;
}
