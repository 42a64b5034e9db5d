/* SPDX-License-Identifier: BSD-2-Clause */
/* --edit and --fail: the fabric before and after, side by side. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "faults.h"
#include "unicast/effect.h"
#include "unicast/lfts.h"

enum { STEPS_NAMED = 4, BEFORE = 0, AFTER = 1 };

/* Tables of an algorithm, or those that were read, on both sides. */
struct pair {
	const char *algorithm;
	bool is_loaded;
	struct fab_effect side[2];
};

struct outcome {
	struct faults_outcome of; /* of the fabric after, faults and algorithms */
	struct fab_fabric *old;	  /* NULL: there are no edits, it is the same */
	const struct fab_fabric *f[2];
	struct fab_effect_hosts hosts[2];
	struct fab_lost_ports lost; /* of f[BEFORE] */
	struct fab_kfat *old_kfat;
	struct fab_ids old_roots; /* of updn by a list */
	struct pair *pairs;
	size_t n;
};

struct row {
	const char *algorithm, *when, *fullest;
	uint64_t hosts, host_ports, pairs, unreachable, max_hops, deadlock_free, cables,
		pairs_on_cycles;
	double load;
};

#define AT(member) FAB_AT(struct row, member)
static const struct fab_column columns[] = {
	{"algorithm", FAB_TEXT,
	 "routing algorithm, whose tables are made again after the change; loaded: the tables that were read, unchanged",
	 0, AT(algorithm)},
	{"when", FAB_TEXT, "before or after the change", 0, AT(when)},
	{"hosts", FAB_UINT, "hosts with a cable to a live switch", 0, AT(hosts)},
	{"host_ports", FAB_UINT, "ports of hosts with one", 0, AT(host_ports)},
	{"pairs", FAB_UINT, "ordered pairs of ends that are alive", 0, AT(pairs)},
	{"unreachable", FAB_UINT, "of these, pairs without a path", FAB_COL_BAD_IF_ANY,
	 AT(unreachable)},
	{"max_hops", FAB_UINT, "hops of the longest path", 0, AT(max_hops)},
	{"deadlock_free", FAB_BOOL,
	 "no credit loop; unknown (null): something is missing",
	 FAB_COL_BAD_IF_NO | FAB_COL_UNKNOWN, AT(deadlock_free)},
	{"cycle_cables", FAB_UINT, "cables of a shortest credit loop", FAB_COL_BAD_IF_ANY,
	 AT(cables)},
	{"pairs_on_cycles", FAB_UINT, "pairs whose path follows a cycle for a step",
	 FAB_COL_BAD_IF_ANY, AT(pairs_on_cycles)},
	{"load", FAB_REAL,
	 "fullest direction of a cable when every host sends to every other, in what one host sends",
	 0, AT(load)},
	{"fullest", FAB_TEXT, "the first such cable, as SWITCH:PORT to SWITCH", 0,
	 AT(fullest)},
};
#undef AT

static int load_tables(const struct faults_params *p, const struct fab_fabric *f,
		       const struct fab_faults *faults, struct fab_effect *out,
		       struct fab_err *err)
{
	FAB_AUTO(fab_routes_free_at) struct fab_routes *routes = NULL;
	int rc = fab_routes_read(f, faults, p->files.in.lfts, p->files.in.path_sl,
				 p->files.in.sl2vl, &routes, err);

	return rc ? rc
		  : fab_effect_analyse(routes, p->has_ends ? p->ends : FAB_ENDS_HOSTS,
				       p->run.threads, out, err);
}

/* A problem for the algorithms of a side. */
static struct fab_unicast_problem problem_of(const struct faults_params *p,
					     const struct outcome *o, int side)
{
	struct fab_unicast_problem problem =
		faults_problem(p, &o->of, side == AFTER ? o->of.faults : NULL);

	if (side == BEFORE && o->old) {
		problem.f = o->old;
		problem.kfat = o->old_kfat;
		problem.roots = o->old_roots.of.v;
		problem.n_roots = (uint32_t)o->old_roots.of.n;
	}
	return problem;
}

static int solve_pairs(struct faults_params *p, struct outcome *o, struct fab_err *err)
{
	size_t first = p->files.in.lfts != NULL;
	int rc = 0;

	o->n = first + p->n_engines;
	o->pairs = FAB_NEW0(o->n + 1, struct pair);
	for (size_t i = 0; i < o->n && !rc; i++) {
		struct pair *pair = &o->pairs[i];

		pair->is_loaded = i < first;
		pair->algorithm = i < first ? "loaded" : p->engines[i - first]->name;
		for (int side = 0; side < 2 && !rc; side++) {
			const struct fab_unicast_problem problem = problem_of(p, o, side);

			if (i < first)
				rc = load_tables(p, o->f[side], problem.faults,
						 &pair->side[side], err);
			else
				rc = fab_effect_route(&problem, p->engines[i - first],
						      p->has_ends, p->ends,
						      &pair->side[side], err);
		}
	}
	return rc;
}

static int solve(struct fab_work *w, struct fab_err *err)
{
	struct faults_params *p = w->params;
	struct outcome *o = w->outcome;
	struct fab_cli_input input = p->input;
	struct fab_cli_run quiet = p->run;
	int rc = faults_set_up(p, w->f, &o->of, err);

	quiet.quiet = true; /* its warnings are those of the fabric after */
	input.edit.n = 0;
	if (!rc && p->input.edit.n)
		rc = fab_cli_open_fabric(&input, &quiet, &o->old, err);
	if (!rc && o->old) /* ids of the same switches there */
		rc = fab_cli_read_roots(p->root_guids, true, o->old, &o->old_roots, err);
	if (rc)
		return rc;
	o->f[AFTER] = w->f;
	o->f[BEFORE] = o->old ? o->old : w->f;
	if (o->old && fab_kfat_recognize(o->old, &o->old_kfat, NULL))
		o->old_kfat = NULL;
	if (!p->n_engines) /* how the tables would be made again */
		p->engines[p->n_engines++] =
			o->of.kfat ? &fab_unicast_vtftr_ib : &fab_unicast_minhop;
	for (int side = 0; side < 2; side++)
		o->hosts[side] = fab_effect_count_hosts(
			o->f[side], side == AFTER ? o->of.faults : NULL);
	fab_effect_lost_ports(o->f[BEFORE], o->f[AFTER], o->of.faults, &o->lost);
	rc = solve_pairs(p, o, err);
	for (size_t i = 0; i < o->n && !rc && p->check; i++)
		if (o->pairs[i].side[AFTER].j.unreachable ||
		    !o->pairs[i].side[AFTER].j.deadlock_free)
			return FAB_EXIT_FOUND;
	return rc;
}

/* ---- the answer ---- */

static void say_hosts(struct fab_report *r, const struct fab_work *w)
{
	const struct outcome *o = w->outcome;
	uint64_t n, n_rails;
	const char *names = faults_lost_names(w, o->f[BEFORE], &o->lost, true, &n);
	const char *rails = faults_lost_names(w, o->f[BEFORE], &o->lost, false, &n_rails);

	if (n)
		fab_report_answer(
			r, FAB_TONE_BAD, "%s cut off: %s.",
			n == 1 ? "1 host is"
			       : fab_arena_format(w->arena, "%" PRIu64 " hosts are", n),
			names);
	if (n_rails)
		fab_report_answer(r, FAB_TONE_BAD, "%s a rail and keep%s another: %s.",
				  n_rails == 1
					  ? "1 host loses"
					  : fab_arena_format(w->arena,
							     "%" PRIu64 " hosts lose",
							     n_rails),
				  n_rails == 1 ? "s" : "", rails);
	if (!n && !n_rails)
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "No host is cut off or loses a rail.");
}

static bool is_same(const struct fab_effect *a, const struct fab_effect *b)
{
	return a->j.pairs == b->j.pairs && a->j.unreachable == b->j.unreachable &&
	       a->j.max_hops == b->j.max_hops && a->j.is_unknown == b->j.is_unknown &&
	       a->j.deadlock_free == b->j.deadlock_free && a->j.cycle.n == b->j.cycle.n &&
	       a->j.pairs_on_cycles == b->j.pairs_on_cycles &&
	       !(a->load < b->load || a->load > b->load) && a->fullest == b->fullest;
}

/* Are both sides of two algorithms alike? Then they share rows and sentences. */
static bool is_alike(const struct pair *a, const struct pair *b)
{
	return a->is_loaded == b->is_loaded && is_same(&a->side[0], &b->side[0]) &&
	       is_same(&a->side[1], &b->side[1]);
}

/* "minhop, updn" from number i on; NULL: an earlier one is alike. */
static const char *names_of(const struct fab_work *w, size_t i)
{
	const struct outcome *o = w->outcome;
	char *names = NULL;

	for (size_t k = 0; k < i; k++)
		if (is_alike(&o->pairs[k], &o->pairs[i]))
			return NULL;
	if (o->pairs[i].is_loaded)
		return "unchanged tables";
	for (size_t k = i; k < o->n; k++)
		if (is_alike(&o->pairs[i], &o->pairs[k]))
			fab_append(&names, ", ", "%s", o->pairs[k].algorithm);
	fab_arena_own(w->arena, free, names);
	return names;
}

/* "A:21, B:5, ..": switches of the loop and the ports by which packets leave. */
static const char *loop_text(const struct fab_work *w, const struct fab_analysis *j)
{
	const struct fab_fabric *f = w->f;
	char *text = NULL;

	for (size_t i = 0; i < j->cycle.n && i <= STEPS_NAMED; i++) {
		const struct fab_channel *c = &j->cycle.v[i];
		uint32_t port = fab_arc_port(f, c->sw, f->arc_first[c->sw] + c->arc);

		if (i == STEPS_NAMED)
			fab_append(&text, ", ", "..");
		else
			fab_append(&text, ", ", "%s:%u",
				   faults_label(w, fab_node_name(f, c->sw)),
				   f->port_num[port]);
	}
	fab_arena_own(w->arena, free, text);
	return text;
}

/* Pairs and loops that the tables lose or gain. */
static void say_tables(struct fab_report *r, const struct fab_work *w,
		       const struct pair *pair, const char *names)
{
	const struct fab_analysis *old = &pair->side[BEFORE].j;
	const struct fab_analysis *new = &pair->side[AFTER].j;
	bool is_worse = new->unreachable > old->unreachable;

	if (is_worse)
		fab_report_answer(
			r, FAB_TONE_BAD, "%s: %s more without a path: %s.", names,
			fab_human_counted(w->arena, new->unreachable - old->unreachable,
					  "pair", NULL),
			faults_unreached_text(w, new, true));
	if (new->cycle_channels && !new->is_unknown && !old->cycle_channels)
		fab_report_answer(r, FAB_TONE_BAD, "%s: new credit loop: %s.", names,
				  loop_text(w, new));
	else if (new->is_unknown && !old->is_unknown)
		fab_report_answer(r, FAB_TONE_BAD,
				  "%s: whether there is a credit loop then is not known.",
				  names);
	else if (new->deadlock_free && old->cycle_channels && !old->is_unknown)
		fab_report_answer(r, FAB_TONE_PLAIN, "%s: the credit loop is gone.",
				  names);
	else if (!is_worse && new->deadlock_free)
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "%s: no pair loses its path, no credit loop.", names);
	else if (!is_worse && new->cycle_channels)
		fab_report_answer(r, FAB_TONE_WARN,
				  "%s: no pair loses its path; the credit loop of before "
				  "is not cured.",
				  names);
}

/* ---- side by side ---- */

struct line {
	const char *what, *before, *after;
};

#define AT(member) FAB_AT(struct line, member)
static const struct fab_column line_columns[] = {
	{"what", FAB_TEXT, "", 0, AT(what)},
	{"before", FAB_TEXT, "", 0, AT(before)},
	{"after", FAB_TEXT, "", 0, AT(after)},
};
#undef AT

static const char *count_text(const struct fab_work *w, uint64_t n)
{
	char text[FAB_HUMAN_BYTES];

	return fab_arena_strdup(w->arena, fab_human_count(n, text));
}

static const char *free_text(const struct fab_work *w, const struct fab_analysis *j)
{
	char pairs[FAB_HUMAN_BYTES];

	if (j->is_unknown)
		return "unknown";
	if (j->deadlock_free)
		return "no";
	return fab_arena_format(w->arena, "%zu cables, %s pairs", j->cycle.n,
				fab_human_count(j->pairs_on_cycles, pairs));
}

/* "A:21 to B"; NULL: none. */
static const char *fullest_text(const struct fab_work *w, const struct fab_fabric *f,
				const struct fab_effect *e)
{
	if (e->fullest == FAB_NONE)
		return NULL;
	return fab_arena_format(
		w->arena, "%s:%u to %s",
		faults_label(w, fab_node_name(f, f->port_node[e->fullest])),
		f->port_num[e->fullest],
		faults_label(
			w, fab_node_name(f, f->port_node[fab_port_peer(f, e->fullest)])));
}

static void print_line(struct fab_report *r, const char *what, const char *before,
		       const char *after)
{
	fab_report_record(r, &(struct line){what, before, after});
}

static void print_lines(struct fab_report *r, const struct fab_work *w)
{
	const struct outcome *o = w->outcome;
	const struct fab_effect_hosts *h = o->hosts;

	fab_report_table_begin(r, "side_by_side", "Before and after", line_columns,
			       FAB_COUNT(line_columns));
	print_line(r, "hosts", count_text(w, h[0].hosts), count_text(w, h[1].hosts));
	print_line(r, "ports of hosts (rails)", count_text(w, h[0].ports),
		   count_text(w, h[1].ports));
	for (size_t i = 0; i < o->n; i++) {
		const char *names = names_of(w, i), *text[2][5];

		if (!names)
			continue;
		for (int side = 0; side < 2; side++) {
			const struct fab_effect *e = &o->pairs[i].side[side];

			text[side][0] = count_text(w, e->j.unreachable);
			text[side][1] = count_text(w, e->j.max_hops);
			text[side][2] = free_text(w, &e->j);
			text[side][3] =
				isfinite(e->load)
					? fab_arena_format(w->arena, "%.3f", e->load)
					: "-";
			text[side][4] = fullest_text(w, o->f[side], e);
		}
		print_line(r, fab_arena_format(w->arena, "%s:", names), "", "");
		print_line(r, "  pairs without a path", text[0][0], text[1][0]);
		print_line(r, "  longest path, hops", text[0][1], text[1][1]);
		print_line(r, "  credit loop", text[0][2], text[1][2]);
		print_line(r, "  fullest cable, load", text[0][3], text[1][3]);
		if (text[0][4] || text[1][4])
			print_line(r, "  fullest cable", text[0][4] ? text[0][4] : "-",
				   text[1][4] ? text[1][4] : "-");
	}
	fab_report_table_end(r);
}

static void print_rows(struct fab_report *r, const struct fab_work *w)
{
	static const char *const when[] = {"before", "after"};
	const struct outcome *o = w->outcome;

	fab_report_table_begin(r, "change", "Before and after", columns,
			       FAB_COUNT(columns));
	for (size_t i = 0; i < o->n; i++)
		for (int side = 0; side < 2; side++) {
			const struct fab_effect *e = &o->pairs[i].side[side];
			const struct row row = {
				.algorithm = o->pairs[i].algorithm,
				.when = when[side],
				.hosts = o->hosts[side].hosts,
				.host_ports = o->hosts[side].ports,
				.pairs = e->j.pairs,
				.unreachable = e->j.unreachable,
				.max_hops = e->j.max_hops,
				.deadlock_free = e->j.is_unknown ? FAB_UNKNOWN
								 : e->j.deadlock_free,
				.cables = e->j.cycle.n,
				.pairs_on_cycles = e->j.pairs_on_cycles,
				.load = e->load,
				.fullest = fullest_text(w, o->f[side], e),
			};

			fab_report_record(r, &row);
		}
	fab_report_table_end(r);
}

static void report(struct fab_report *r, const struct fab_work *w)
{
	const struct outcome *o = w->outcome;

	say_hosts(r, w);
	for (size_t i = 0; i < o->n; i++) {
		const char *names = names_of(w, i);

		if (names)
			say_tables(r, w, &o->pairs[i], names);
	}
	faults_say_caveat(r, w->params);
	if (fab_report_how(r)->format == FAB_FORMAT_TABLE) {
		fab_report_without_fabric(r);
		print_lines(r, w);
	} else {
		print_rows(r, w);
	}
}

static void fini(void *outcome)
{
	struct outcome *o = outcome;

	for (size_t i = 0; i < o->n; i++)
		for (int side = 0; side < 2; side++)
			fab_effect_fini(&o->pairs[i].side[side]);
	FAB_FREE_ALL(o->pairs, o->lost.of.v, o->old_roots.of.v);
	fab_kfat_free(o->old_kfat);
	fab_fabric_free(o->old);
	faults_fini(&o->of);
}

/* Dead parts, and loops and lost pairs afterwards. */
static void draw(struct fab_drawing *d, const struct fab_work *w)
{
	const struct outcome *o = w->outcome;

	faults_draw(d, w);
	for (size_t i = 0; i < o->n && o->f[AFTER] == w->f; i++)
		fab_cli_draw_analysis(d, w->f, &o->pairs[i].side[AFTER].j,
				      o->pairs[i].algorithm);
}

const struct fab_task faults_change_task = {
	.primary = "change",
	FAB_TASK_COLUMNS(columns),
	.outcome_bytes = sizeof(struct outcome),
	.solve = solve,
	.report = report,
	.draw = draw,
	.fini = fini,
};
