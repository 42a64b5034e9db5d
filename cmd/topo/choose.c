/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-topo --choose: the hosts that a job should take, as a host list, next to random
 * choices. With --quiet the list alone. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/rng.h"
#include "base/units.h"
#include "export/slurm.h"
#include "fabric/label.h"
#include "fabric/resolver.h"
#include "source/unpack.h"
#include "topo.h"
#include "unicast/placement.h"

enum { RANDOM_CHOICES = 10 };

struct record {
	const char *choice;
	uint64_t hosts, leaves, max_hops, unreachable;
	double mean_hops, max_load;
};

static const struct fab_column columns[] = {
	FAB_COLUMN(choice, TEXT, "the hosts of the answer, or random ones by their seed"),
	FAB_COLUMN(hosts, UINT, "hosts"),
	FAB_COLUMN(leaves, UINT, "switches that they are on"),
	FAB_COLUMN(mean_hops, REAL,
		   "hops between switches from host to host, on average"),
	FAB_COLUMN(max_hops, UINT, "the most hops"),
	FAB_COLUMN(max_load, NUMBER,
		   "ordered pairs of hosts on the fullest direction of a cable"),
	FAB_COLUMN_AS(unreachable, UINT, "ordered pairs without a path",
		      FAB_COL_BAD_IF_ANY),
};

struct choice {
	struct fab_ids free; /* hosts */
	uint32_t *hosts, n;
	char *list;
	struct fab_routes *routes;
	struct fab_placement_cost own, random[RANDOM_CHOICES];
};

/* The hosts of --from, or all that have a cable to a switch, each once, ascending. */
static int find_free(struct fab_work *w, struct fab_err *err)
{
	const struct topo_params *p = w->params;
	const struct fab_fabric *f = w->f;
	struct choice *o = w->outcome;
	FAB_AUTO(fab_resolver_free_at) struct fab_resolver *names = NULL;
	struct fab_lookup lookup;
	struct fab_input in = {.heap = NULL};
	size_t n = 0;
	int rc = 0;

	if (!p->from) {
		for (uint32_t h = 0; h < f->n_hosts; h++) {
			uint32_t port = fab_host_endpoint(f, h);

			if (port != FAB_NONE && fab_port_switch(f, port) != FAB_NONE)
				FAB_PUSH(&o->free.of, h);
		}
		return 0;
	}
	names = fab_resolver_new(f);
	lookup = fab_resolver_lookup(names, FAB_WANT_HOST);
	if (!strcmp(p->from, "-")) {
		rc = fab_input_read("-", &in, err);
		if (!rc)
			rc = fab_lookup_lines(&lookup, "standard input", in.bytes, in.n,
					      &o->free, NULL, err);
		fab_input_fini(&in);
	} else {
		rc = fab_lookup_list(&lookup, p->from, strlen(p->from), &o->free, NULL,
				     err);
		if (rc)
			fab_err_prefix(err, "--from");
	}
	if (rc)
		return rc;
	FAB_SORT(&o->free.of, fab_cmp_u32);
	for (size_t i = 0; i < o->free.of.n; i++)
		if (!n || o->free.of.v[n - 1] != o->free.of.v[i])
			o->free.of.v[n++] = o->free.of.v[i];
	o->free.of.n = n;
	return 0;
}

static int solve(struct fab_work *w, struct fab_err *err)
{
	const struct topo_params *p = w->params;
	const struct fab_fabric *f = w->f;
	struct choice *o = w->outcome;
	const char **names;
	struct fab_plain_names plain;
	int rc = find_free(w, err);

	if (rc)
		return rc;
	if (p->choose > o->free.of.n)
		return fab_fail(err, EINVAL, "--choose=%u: %zu hosts are free", p->choose,
				o->free.of.n);
	o->n = p->choose;
	names = FAB_ARENA_NEW(w->arena, o->n, const char *);
	o->hosts = FAB_ARENA_NEW(w->arena, o->n, uint32_t);
	rc = fab_placement_choose(f, o->free.of.v, (uint32_t)o->free.of.n, o->n,
				  p->run.threads, o->hosts, err);
	if (rc) {
		fab_err_prefix(err, "--choose");
		return rc;
	}
	fab_plain_names_init(&plain, f);
	for (uint32_t i = 0; i < o->n; i++)
		names[i] = plain.of_host[o->hosts[i]];
	o->list = fab_hostlist_fold(names, o->n);
	fab_plain_names_fini(&plain);
	if (p->run.quiet && !p->output.report)
		return FAB_EXIT_DONE;
	rc = topo_open_routes(p, f, &o->routes, err);
	if (rc)
		return rc;
	fab_placement_measure(o->routes, o->hosts, o->n, &o->own);
	for (uint32_t k = 0; k < RANDOM_CHOICES; k++) {
		uint32_t *all = o->free.of.v;
		struct fab_rng rng;

		fab_rng_init(&rng, k + 1);
		for (uint32_t i = 0; i < o->n; i++) {
			size_t other = i + fab_rng_below(&rng, o->free.of.n - i);
			uint32_t host = all[other];

			all[other] = all[i];
			all[i] = host;
		}
		fab_placement_measure(o->routes, all, o->n, &o->random[k]);
	}
	return FAB_EXIT_DONE;
}

/* Least and most of the random choices: "3.1 to 3.4", or "3" where they are equal. */
static const char *range_of(const struct fab_work *w, bool of_load)
{
	const struct choice *o = w->outcome;
	double least = 0, most = 0;

	for (int k = 0; k < RANDOM_CHOICES; k++) {
		double x = of_load ? o->random[k].max_load : o->random[k].mean_hops;

		least = !k || x < least ? x : least;
		most = !k || x > most ? x : most;
	}
	return least == most ? fab_arena_format(w->arena, "%.4g", least)
			     : fab_arena_format(w->arena, "%.4g to %.4g", least, most);
}

static void put_cost(struct fab_report *r, const char *name, uint32_t n,
		     const struct fab_placement_cost *cost)
{
	const struct record row = {
		.choice = name,
		.hosts = n,
		.leaves = cost->n_leaves,
		.mean_hops = cost->mean_hops,
		.max_hops = cost->max_hops,
		.max_load = cost->max_load,
		.unreachable = cost->unreachable,
	};

	fab_report_record(r, &row);
}

static void report(struct fab_report *r, const struct fab_work *w)
{
	const struct topo_params *p = w->params;
	const struct choice *o = w->outcome;
	uint32_t n_leaves = o->random[0].n_leaves;

	if (topo_is_table_only(r) || fab_report_how(r)->format == FAB_FORMAT_TABLE)
		fab_report_without_fabric(r);
	for (int k = 1; k < RANDOM_CHOICES; k++)
		n_leaves = o->random[k].n_leaves < n_leaves ? o->random[k].n_leaves
							    : n_leaves;
	fab_report_answer(r, FAB_TONE_PLAIN, "Take %s.", o->list);
	fab_report_answer(
		r, o->own.unreachable ? FAB_TONE_BAD : FAB_TONE_PLAIN,
		"%s of %zu free ones, on %s (%u random choices: %u or more), %.4g hops apart on average (%s), at most %.4g pairs on a cable when all send to all (%s)%s.",
		fab_human_counted(w->arena, o->n, "host", NULL), o->free.of.n,
		fab_human_counted(w->arena, o->own.n_leaves, "switch", "switches"),
		RANDOM_CHOICES, n_leaves, o->own.mean_hops, range_of(w, false),
		o->own.max_load, range_of(w, true),
		o->own.unreachable ? "; some pairs have no path" : "");
	topo_answer_tables(r, p, o->routes);
	fab_report_text(r, "tables", topo_table_name(p));
	fab_report_text(r, "host_list", o->list);
	FAB_TABLE_BEGIN(r, "choices", "Choices", columns);
	put_cost(r, "compact", o->n, &o->own);
	for (uint32_t k = 0; k < RANDOM_CHOICES; k++)
		put_cost(r, fab_arena_format(w->arena, "random, seed %u", k + 1), o->n,
			 &o->random[k]);
	fab_report_table_end(r);
}

/* Switches of the hosts chosen. */
static void draw(struct fab_drawing *d, const struct fab_work *w)
{
	const struct choice *o = w->outcome;
	const struct fab_fabric *f = w->f;

	fab_drawing_mark(d, FAB_TONE_PLAIN,
			 fab_arena_format(w->arena, "hosts chosen: %s", o->list));
	for (uint32_t i = 0; i < o->n; i++)
		FAB_EACH_ADAPTER(f, o->hosts[i], a)
			fab_drawing_mark_node(d, f->host_adapter[a]);
}

static int write_list(FILE *out, const struct fab_work *w, struct fab_err *err)
{
	const struct choice *o = w->outcome;

	(void)err;
	fprintf(out, "%s\n", o->list);
	return 0;
}

static void fini(void *outcome)
{
	struct choice *o = outcome;

	free(o->free.of.v);
	free(o->list);
	fab_routes_free(o->routes);
}

const struct fab_task topo_choose = {
	.primary = "choices",
	FAB_TASK_COLUMNS(columns),
	.outcome_bytes = sizeof(struct choice),
	.solve = solve,
	.report = report,
	.draw = draw,
	.fini = fini,
};

const struct fab_task topo_choose_quietly = {
	.primary = "choices",
	.outcome_bytes = sizeof(struct choice),
	.solve = solve,
	.write = write_list,
	.report = report, /* of a page */
	.draw = draw,
	.fini = fini,
};
