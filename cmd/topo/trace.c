/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-topo --trace and --users: paths through tables, and what uses a cable. */
#include "topo.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "base/mem.h"
#include "fabric/check.h"
#include "fabric/resolver.h"
#include "mcast/mcfdbs.h"
#include "source/unpack.h"
#include "unicast/engine.h"
#include "unicast/faults.h"
#include "unicast/lfts.h"
#include "unicast/path.h"

/* A row of a table. */
struct record {
	const char *node, *peer, *speed, *from, *to, *host, *mlid;
	uint64_t hop, port, peer_port, width, from_port, to_port, pairs, senders,
		receivers;
	double vl;
	bool sends, receives;
};

static const struct fab_column hop_columns[] = {
	FAB_COLUMN(hop, UINT, "cable of the path, from 1"),
	FAB_COLUMN(node, TEXT, "what sends"),
	FAB_COLUMN(port, UINT, "port it sends by"),
	FAB_COLUMN(peer, TEXT, "what receives"),
	FAB_COLUMN(peer_port, UINT, "port at which it receives"),
	FAB_COLUMN(speed, TEXT, "speed of the cable, the lower of its ends"),
	FAB_COLUMN_AS(width, UINT, "lanes of the cable", FAB_COL_NULL_ZERO),
	FAB_COLUMN_AS(vl, NUMBER, "virtual lane between switches; unknown: nothing tells",
		      FAB_COL_UNKNOWN),
};

static const struct fab_column user_columns[] = {
	FAB_COLUMN(from, TEXT, "where packets enter the cable"),
	FAB_COLUMN(from_port, UINT, "port there"),
	FAB_COLUMN(to, TEXT, "where they leave it"),
	FAB_COLUMN(to_port, UINT, "port there"),
	FAB_COLUMN(pairs, UINT, "ordered pairs of ports of hosts"),
	FAB_COLUMN(senders, UINT, "hosts that send over it"),
	FAB_COLUMN(receivers, UINT, "hosts that receive over it"),
};

static const struct fab_column host_columns[] = {
	FAB_COLUMN(from, TEXT, "where packets enter the cable"),
	FAB_COLUMN(host, TEXT, "host"),
	FAB_COLUMN(sends, BOOL, "does it send over the cable"),
	FAB_COLUMN(receives, BOOL, "does it receive over it"),
};

static const struct fab_column tree_columns[] = {
	FAB_COLUMN(mlid, TEXT, "multicast LID of a tree that uses the cable"),
};

static int open_routes(const struct topo_params *t, const struct fab_fabric *f,
		       struct fab_routes **out, struct fab_err *err)
{
	struct fab_unicast_problem problem = {.f = f, .max_vls = 2};
	const struct fab_unicast_engine *engine = fab_unicast_engines[t->algorithm];
	struct fab_kfat *kfat = NULL;
	int rc;

	if (t->lfts)
		return fab_routes_read(f, NULL, t->lfts, NULL, NULL, out, err);
	if (fab_kfat_recognize(f, &kfat, NULL))
		kfat = NULL;
	problem.kfat = kfat;
	rc = fab_unicast_fits(engine, &problem, err);
	if (!rc)
		rc = engine->route(&problem, out, err);
	if (rc) {
		const struct fab_err why = *err;

		fab_fail(err, -rc, "algorithm %s", why.text);
	}
	fab_kfat_free(kfat);
	return rc;
}

static const char *table_name(const struct topo_params *t)
{
	return t->lfts ? t->lfts : fab_unicast_engines[t->algorithm]->name;
}

/* Where the tables come from, and what they do not tell. */
static void say_tables(struct fab_report *r, const struct topo_params *t,
		       const struct fab_routes *routes)
{
	const struct fab_told *told = routes->told;
	uint32_t n_without = 0;

	for (uint32_t i = 0; told && i < routes->f->n_switches; i++)
		n_without += !told->has_table[i];
	if (!t->lfts)
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "The tables are computed by %s; those that the fabric "
				  "has may differ (--lfts reads them).",
				  table_name(t));
	else if (n_without)
		fab_report_answer(r, FAB_TONE_BAD,
				  "%s lacks the table of %u of %u switches, or lines of "
				  "it: what goes by them is not known.",
				  t->lfts, n_without, routes->f->n_switches);
}

static const char *lanes_text(const struct fab_routes *routes)
{
	return routes->told ? "not known: --lfts tells neither service levels nor lanes"
			    : NULL;
}

static int find_ends(const char *text, const struct fab_fabric *f,
		     struct fab_endpoint ends[2], struct fab_err *err)
{
	struct fab_resolver *resolver = fab_resolver_new(f);
	const struct fab_lookup lookup = fab_resolver_lookup(resolver, FAB_WANT_ENDPOINT);
	int rc = fab_trace_pair(f, &lookup, text, ends, err);

	if (rc)
		fab_err_prefix(err, "--trace");
	fab_resolver_free(resolver);
	return rc;
}

static void put_hop(struct fab_report *r, const struct fab_fabric *f, uint32_t number,
		    const struct fab_trace_hop *hop)
{
	uint32_t a = f->port_node[hop->out], b = f->port_node[hop->in];
	uint32_t cable = f->port_cable[hop->out];
	uint8_t speed = fab_cable_speed(f, cable);
	const struct record row = {
		.hop = number,
		.node = fab_node_name(f, a),
		.port = f->port_num[hop->out],
		.peer = fab_node_name(f, b),
		.peer_port = f->port_num[hop->in],
		.speed = speed ? fab_speed_name(speed) : NULL,
		.width = fab_cable_width(f, cable),
		.vl = hop->vl == FAB_VL_UNKNOWN ? NAN : hop->vl,
	};

	fab_report_record(r, &row);
}

static void say_trace(struct fab_report *r, const struct fab_fabric *f,
		      const struct fab_endpoint ends[2], const struct fab_trace *trace)
{
	const char *from = fab_node_name(f, ends[0].node);
	const char *to = fab_node_name(f, ends[1].node);
	const char *plural = trace->hops.n == 1 ? "" : "s";
	uint32_t last = ends[0].sw;

	if (ends[0].node == ends[1].node && ends[0].port == ends[1].port) {
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "Both names are of %s: there is no path to follow.",
				  ends[0].port != FAB_NONE ? "one port" : "one switch");
		return;
	}
	if (trace->hops.n)
		last = f->port_node[trace->hops.v[trace->hops.n - 1].in];
	if (trace->stopped)
		fab_report_answer(r, FAB_TONE_BAD,
				  "No path from %s to %s: after %zu cable%s, at %s: %s.",
				  from, to, trace->hops.n, plural, fab_node_name(f, last),
				  trace->stopped);
	else
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "The path from %s to %s takes %zu cable%s.", from, to,
				  trace->hops.n, plural);
}

struct traced {
	struct fab_endpoint ends[2];
	struct fab_routes *routes;
	struct fab_trace trace;
};

static int solve_trace(struct fab_work *w, struct fab_err *err)
{
	const struct topo_params *p = w->params;
	struct traced *o = w->outcome;
	int rc = find_ends(p->trace, w->f, o->ends, err);

	if (!rc)
		rc = open_routes(p, w->f, &o->routes, err);
	if (rc)
		return rc;
	fab_trace_init(&o->trace, o->routes, &o->ends[0], &o->ends[1]);
	return o->trace.stopped ? FAB_EXIT_FOUND : FAB_EXIT_DONE;
}

static void report_trace(struct fab_report *r, const struct fab_work *w)
{
	const struct topo_params *p = w->params;
	const struct traced *o = w->outcome;

	if (topo_is_table_only(r))
		fab_report_without_fabric(r);
	say_trace(r, w->f, o->ends, &o->trace);
	say_tables(r, p, o->routes);
	fab_report_text(r, "tables", table_name(p));
	fab_report_text(r, "lanes", lanes_text(o->routes));
	fab_report_text(r, "from", fab_node_name(w->f, o->ends[0].node));
	fab_report_text(r, "to", fab_node_name(w->f, o->ends[1].node));
	fab_report_field(r, &(struct fab_column){.name = "arrives", .type = FAB_BOOL},
			 (union fab_cell){.u = !o->trace.stopped});
	fab_report_text(r, "stopped", o->trace.stopped);
	fab_report_uint(r, "cables", o->trace.hops.n);
	fab_report_table_begin(r, "path", "Path, cable by cable", hop_columns,
			       FAB_COUNT(hop_columns));
	for (size_t i = 0; i < o->trace.hops.n; i++)
		put_hop(r, w->f, (uint32_t)i + 1, &o->trace.hops.v[i]);
	fab_report_table_end(r);
}

static void fini_trace(void *outcome)
{
	struct traced *o = outcome;

	fab_trace_fini(&o->trace);
	fab_routes_free(o->routes);
}

const struct fab_task topo_trace = {
	.primary = "path",
	FAB_TASK_COLUMNS(hop_columns),
	.outcome_bytes = sizeof(struct traced),
	.solve = solve_trace,
	.report = report_trace,
	.fini = fini_trace,
};

static int find_cable(const char *text, const struct fab_fabric *f, uint32_t *cable,
		      struct fab_err *err)
{
	struct fab_resolver *resolver = fab_resolver_new(f);
	int rc = fab_resolve_text(resolver, FAB_WANT_CABLE, text, strlen(text), cable,
				  err);

	fab_resolver_free(resolver);
	if (!rc && *cable >= f->n_switch_links + f->n_host_links)
		rc = fab_fail(err, EINVAL, "'%s' is no cable of a switch", text);
	if (rc)
		fab_err_prefix(err, "--users");
	return rc;
}

static void put_use(struct fab_report *r, const struct fab_fabric *f,
		    const struct fab_cable_use *use)
{
	uint32_t to = fab_port_peer(f, use->from);
	const struct record row = {
		.from = fab_node_name(f, f->port_node[use->from]),
		.from_port = f->port_num[use->from],
		.to = fab_node_name(f, f->port_node[to]),
		.to_port = f->port_num[to],
		.pairs = use->pairs,
		.senders = use->n_senders,
		.receivers = use->n_receivers,
	};

	fab_report_record(r, &row);
}

static void put_hosts(struct fab_report *r, const struct fab_fabric *f,
		      const struct fab_cable_use use[2])
{
	fab_report_table_begin(r, "hosts", "Hosts", host_columns,
			       FAB_COUNT(host_columns));
	for (int i = 0; i < 2; i++)
		for (uint32_t h = 0; h < f->n_hosts; h++) {
			const struct record row = {
				.from = fab_node_name(f, f->port_node[use[i].from]),
				.host = fab_host_name(f, h),
				.sends = use[i].sends[h],
				.receives = use[i].receives[h],
			};

			if (use[i].sends[h] || use[i].receives[h])
				fab_report_record(r, &row);
		}
	fab_report_table_end(r);
}

/* n_trees: FAB_NONE: no tables of trees were read. */
static void say_users(struct fab_report *r, const struct fab_fabric *f,
		      const struct fab_cable_use use[2], uint32_t n_trees, uint32_t n_all)
{
	const char *ends[2] = {fab_node_name(f, f->port_node[use[0].from]),
			       fab_node_name(f, f->port_node[use[1].from])};
	char n[3][FAB_HUMAN_BYTES];

	fab_report_answer(r, FAB_TONE_PLAIN,
			  "%s pair%s of host ports use%s the cable of %s and %s: %s from "
			  "the first, %s from the second.",
			  fab_human_count(use[0].pairs + use[1].pairs, n[0]),
			  use[0].pairs + use[1].pairs == 1 ? "" : "s",
			  use[0].pairs + use[1].pairs == 1 ? "s" : "", ends[0], ends[1],
			  fab_human_count(use[0].pairs, n[1]),
			  fab_human_count(use[1].pairs, n[2]));
	if (n_trees != FAB_NONE)
		fab_report_answer(r, FAB_TONE_PLAIN, "%u of %u multicast trees use it.",
				  n_trees, n_all);
}

static int open_trees(const char *path, const struct fab_fabric *f, struct fab_mft **out,
		      struct fab_err *err)
{
	struct fab_input in;
	int rc = path ? fab_input_read(path, &in, err) : 0;

	if (rc || !path)
		return rc;
	rc = fab_mcfdbs_read(f, path, in.bytes, in.n, false, out, err);
	fab_input_fini(&in);
	return rc;
}

static void put_trees(struct fab_report *r, const struct fab_mft *mft, const bool *uses)
{
	fab_report_table_begin(r, "trees", "Trees", tree_columns,
			       FAB_COUNT(tree_columns));
	for (uint32_t i = 0; i < mft->n; i++) {
		char text[FAB_MLID_TEXT];
		const struct record row = {
			.mlid = fab_mlid_text(mft->mlid[i], text),
		};

		if (uses[i])
			fab_report_record(r, &row);
	}
	fab_report_table_end(r);
}

struct used {
	struct fab_routes *routes;
	struct fab_mft *mft; /* NULL: none were read */
	struct fab_cable_use use[2];
	bool *uses;	  /* [trees] of mft: the cable */
	uint32_t n_trees; /* FAB_NONE: not known */
};

static int solve_users(struct fab_work *w, struct fab_err *err)
{
	const struct topo_params *p = w->params;
	struct used *o = w->outcome;
	uint32_t cable;
	int rc = find_cable(p->users, w->f, &cable, err);

	if (!rc)
		rc = open_trees(p->mcfdbs, w->f, &o->mft, err);
	if (!rc)
		rc = open_routes(p, w->f, &o->routes, err);
	if (rc)
		return rc;
	o->uses = FAB_ARENA_NEW(w->arena, o->mft ? o->mft->n : 0, bool);
	o->n_trees = o->mft ? fab_mft_users(w->f, o->mft, cable, o->uses) : FAB_NONE;
	fab_cable_use_init(o->use, o->routes, cable);
	return FAB_EXIT_DONE;
}

static void report_users(struct fab_report *r, const struct fab_work *w)
{
	const struct topo_params *p = w->params;
	const struct used *o = w->outcome;

	if (topo_is_table_only(r))
		fab_report_without_fabric(r);
	say_users(r, w->f, o->use, o->n_trees, o->mft ? o->mft->n : 0);
	say_tables(r, p, o->routes);
	fab_report_text(r, "tables", table_name(p));
	fab_report_uint(r, "pairs", o->use[0].pairs + o->use[1].pairs);
	if (o->mft)
		fab_report_uint(r, "n_trees", o->n_trees);
	fab_report_table_begin(r, "users", "Users of the cable, in each direction",
			       user_columns, FAB_COUNT(user_columns));
	for (int i = 0; i < 2; i++)
		put_use(r, w->f, &o->use[i]);
	fab_report_table_end(r);
	if (p->run.verbose)
		put_hosts(r, w->f, o->use);
	if (p->run.verbose && o->mft)
		put_trees(r, o->mft, o->uses);
}

static void fini_users(void *outcome)
{
	struct used *o = outcome;

	if (o->use[0].sends)
		fab_cable_use_fini(o->use);
	fab_routes_free(o->routes);
	fab_mft_free(o->mft);
}

const struct fab_task topo_users = {
	.primary = "users",
	FAB_TASK_COLUMNS(user_columns),
	.outcome_bytes = sizeof(struct used),
	.solve = solve_users,
	.report = report_users,
	.fini = fini_users,
};
