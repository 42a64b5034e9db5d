/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-topo --trace and --users: paths through tables, and what uses a cable. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "fabric/check.h"
#include "fabric/label.h"
#include "fabric/resolver.h"
#include "mcast/tables.h"
#include "source/unpack.h"
#include "topo.h"
#include "unicast/engine.h"
#include "unicast/lfts.h"
#include "unicast/path.h"

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
	FAB_COLUMN_AS(vl, NUMBER,
		      "virtual lane between switches; unknown: no file has it",
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

int topo_open_routes(const struct topo_params *t, const struct fab_fabric *f,
		     struct fab_routes **out, struct fab_err *err)
{
	struct fab_unicast_problem problem = {
		.f = f, .max_vls = 2, .opensm = &t->opensm.outside};
	const struct fab_unicast_engine *engine = fab_unicast_engines[t->algorithm];
	FAB_AUTO(fab_kfat_free_at) struct fab_kfat *kfat = NULL;
	int rc;

	if (t->lfts)
		return fab_routes_read(f, NULL, t->lfts, NULL, NULL, out, err);
	if (fab_kfat_recognize(f, &kfat, NULL))
		kfat = NULL;
	problem.kfat = kfat;
	rc = fab_unicast_fits(engine, &problem, err);
	if (!rc)
		rc = fab_unicast_route(engine, &problem, out, err);
	if (rc) {
		const struct fab_err why = *err;

		fab_fail(err, -rc, "algorithm %s", why.text);
	} else {
		fab_cli_tell_tables(&t->run, engine->name, *out);
	}
	return rc;
}

const char *topo_table_name(const struct topo_params *t)
{
	return t->lfts ? t->lfts : fab_unicast_engines[t->algorithm]->name;
}

void topo_answer_tables(struct fab_report *r, const struct topo_params *t,
			const struct fab_routes *routes)
{
	const struct fab_table_files *files = routes->files;
	uint32_t n_without = 0;

	for (uint32_t i = 0; files && i < routes->f->n_switches; i++)
		n_without += !files->has_table[i];
	if (!t->lfts)
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"The tables are computed by %s%s; those that the fabric has may differ (--lfts reads them).",
			topo_table_name(t),
			routes->instead ? ", for which OpenSM took another engine" : "");
	else if (n_without)
		fab_report_answer(
			r, FAB_TONE_BAD,
			"%s lacks the table of %u of %u switches, or lines of it: what goes by them is not known.",
			t->lfts, n_without, routes->f->n_switches);
}

struct traced {
	struct fab_endpoint ends[2];
	struct fab_routes *routes;
	struct fab_trace trace;
};

static int solve_trace(struct fab_work *w, struct fab_err *err)
{
	const struct topo_params *p = w->params;
	FAB_AUTO(fab_resolver_free_at)
	struct fab_resolver *resolver = fab_resolver_new(w->f);
	const struct fab_lookup lookup = fab_resolver_lookup(resolver, FAB_WANT_ENDPOINT);
	struct traced *o = w->outcome;
	int rc = fab_trace_pair(w->f, &lookup, p->trace, o->ends, err);

	if (rc) {
		fab_err_prefix(err, "--trace");
		return rc;
	}
	rc = topo_open_routes(p, w->f, &o->routes, err);
	if (rc)
		return rc;
	fab_trace_init(&o->trace, o->routes, &o->ends[0], &o->ends[1]);
	return o->trace.stopped ? FAB_EXIT_FOUND : FAB_EXIT_DONE;
}

static void answer_trace(struct fab_report *r, const struct fab_work *w)
{
	const struct traced *o = w->outcome;
	const struct fab_endpoint *ends = o->ends;
	size_t n = o->trace.hops.n;
	const char *from = fab_node_name(w->f, ends[0].node);
	const char *to = fab_node_name(w->f, ends[1].node);
	const char *cables = fab_human_counted(w->arena, n, "cable", NULL);
	uint32_t last = n ? w->f->port_node[o->trace.hops.v[n - 1].in] : ends[0].sw;

	if (ends[0].node == ends[1].node && ends[0].port == ends[1].port)
		fab_report_answer(r, FAB_TONE_PLAIN,
				  "Both names are of %s: there is no path to follow.",
				  ends[0].port != FAB_NONE ? "one port" : "one switch");
	else if (o->trace.stopped)
		fab_report_answer(r, FAB_TONE_BAD,
				  "No path from %s to %s: after %s, at %s: %s.", from, to,
				  cables, fab_node_name(w->f, last), o->trace.stopped);
	else
		fab_report_answer(r, FAB_TONE_PLAIN, "The path from %s to %s takes %s.",
				  from, to, cables);
}

static void report_trace(struct fab_report *r, const struct fab_work *w)
{
	const struct topo_params *p = w->params;
	const struct traced *o = w->outcome;
	const struct fab_fabric *f = w->f;

	if (topo_is_table_only(r))
		fab_report_without_fabric(r);
	answer_trace(r, w);
	topo_answer_tables(r, p, o->routes);
	fab_report_text(r, "tables", topo_table_name(p));
	fab_report_text(r, "lanes",
			o->routes->files
				? "not known: --lfts has no service levels and no lanes"
				: NULL);
	fab_report_text(r, "from", fab_node_name(f, o->ends[0].node));
	fab_report_text(r, "to", fab_node_name(f, o->ends[1].node));
	fab_report_field(r, &(struct fab_column){.name = "arrives", .type = FAB_BOOL},
			 (union fab_cell){.u = !o->trace.stopped});
	fab_report_text(r, "stopped", o->trace.stopped);
	fab_report_uint(r, "cables", o->trace.hops.n);
	FAB_TABLE_BEGIN(r, "path", "Path, cable by cable", hop_columns);
	for (size_t i = 0; i < o->trace.hops.n; i++) {
		const struct fab_trace_hop *hop = &o->trace.hops.v[i];
		uint32_t cable = f->port_cable[hop->out];
		uint8_t speed = fab_cable_speed(f, cable);
		const struct record row = {
			.hop = i + 1,
			.node = fab_node_name(f, f->port_node[hop->out]),
			.port = f->port_num[hop->out],
			.peer = fab_node_name(f, f->port_node[hop->in]),
			.peer_port = f->port_num[hop->in],
			.speed = speed ? fab_speed_name(speed) : NULL,
			.width = fab_cable_width(f, cable),
			.vl = hop->vl == FAB_VL_UNKNOWN ? NAN : hop->vl,
		};

		fab_report_record(r, &row);
	}
	fab_report_table_end(r);
}

/* The path, and where it ends. */
static void draw_trace(struct fab_drawing *d, const struct fab_work *w)
{
	const struct traced *o = w->outcome;
	const struct fab_trace *t = &o->trace;
	const struct fab_fabric *f = w->f;
	uint32_t last =
		t->hops.n ? f->port_node[t->hops.v[t->hops.n - 1].in] : o->ends[0].sw;

	fab_drawing_mark(d, FAB_TONE_PLAIN,
			 fab_arena_format(w->arena, "the path from %s to %s",
					  fab_node_name(f, o->ends[0].node),
					  fab_node_name(f, o->ends[1].node)));
	for (size_t i = 0; i < t->hops.n; i++)
		fab_drawing_mark_cable(d, f->port_cable[t->hops.v[i].out]);
	if (!t->stopped)
		return;
	fab_drawing_mark(d, FAB_TONE_BAD,
			 fab_arena_format(w->arena, "it ends at %s: %s",
					  fab_node_name(f, last), t->stopped));
	fab_drawing_mark_node(d, last);
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
	.draw = draw_trace,
	.fini = fini_trace,
};

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
	const struct fab_fabric *f = w->f;
	FAB_AUTO(fab_resolver_free_at)
	struct fab_resolver *resolver = fab_resolver_new(f);
	struct used *o = w->outcome;
	FAB_AUTO(fab_input_fini) struct fab_input in = {0};
	uint32_t cable;
	int rc = fab_resolve_text(resolver, FAB_WANT_CABLE, p->users, strlen(p->users),
				  &cable, err);

	if (!rc && cable >= f->n_switch_links + f->n_host_links)
		rc = fab_fail(err, EINVAL, "'%s' is no cable of a switch", p->users);
	if (rc) {
		fab_err_prefix(err, "--users");
		return rc;
	}
	if (p->mcfdbs) {
		rc = fab_input_read(p->mcfdbs, &in, err);
		if (!rc)
			rc = fab_mcfdbs_read(f, p->mcfdbs, in.bytes, in.n, false, &o->mft,
					     err);
	}
	if (!rc)
		rc = topo_open_routes(p, f, &o->routes, err);
	if (rc)
		return rc;
	o->uses = FAB_ARENA_NEW(w->arena, o->mft ? o->mft->n : 0, bool);
	o->n_trees = o->mft ? fab_mft_users(f, o->mft, cable, o->uses) : FAB_NONE;
	fab_cable_use_init(o->use, o->routes, cable);
	return FAB_EXIT_DONE;
}

/* --verbose: the hosts and the trees that use the cable. */
static void name_users(struct fab_report *r, const struct fab_work *w)
{
	const struct used *o = w->outcome;

	FAB_TABLE_BEGIN(r, "hosts", "Hosts", host_columns);
	for (const struct fab_cable_use *use = o->use; use < o->use + 2; use++)
		for (uint32_t h = 0; h < w->f->n_hosts; h++) {
			const struct record row = {
				.from = fab_node_name(w->f, w->f->port_node[use->from]),
				.host = fab_host_name(w->f, h),
				.sends = use->sends[h],
				.receives = use->receives[h],
			};

			if (use->sends[h] || use->receives[h])
				fab_report_record(r, &row);
		}
	fab_report_table_end(r);
	if (!o->mft)
		return;
	FAB_TABLE_BEGIN(r, "trees", "Trees", tree_columns);
	for (uint32_t i = 0; i < o->mft->n; i++) {
		char text[FAB_MLID_TEXT];
		const struct record row = {.mlid = fab_mlid_text(o->mft->mlid[i], text)};

		if (o->uses[i])
			fab_report_record(r, &row);
	}
	fab_report_table_end(r);
}

static void report_users(struct fab_report *r, const struct fab_work *w)
{
	const struct topo_params *p = w->params;
	const struct used *o = w->outcome;
	const struct fab_fabric *f = w->f;
	uint64_t pairs = o->use[0].pairs + o->use[1].pairs;
	char n[2][FAB_HUMAN_BYTES];

	if (topo_is_table_only(r))
		fab_report_without_fabric(r);
	fab_report_answer(
		r, FAB_TONE_PLAIN,
		"%s of host ports use%s the cable of %s and %s: %s from the first, %s from the second.",
		fab_human_counted(w->arena, pairs, "pair", NULL), pairs == 1 ? "s" : "",
		fab_node_name(f, f->port_node[o->use[0].from]),
		fab_node_name(f, f->port_node[o->use[1].from]),
		fab_human_count(o->use[0].pairs, n[0]),
		fab_human_count(o->use[1].pairs, n[1]));
	if (o->mft)
		fab_report_answer(r, FAB_TONE_PLAIN, "%u of %u multicast trees use it.",
				  o->n_trees, o->mft->n);
	topo_answer_tables(r, p, o->routes);
	fab_report_text(r, "tables", topo_table_name(p));
	fab_report_uint(r, "pairs", pairs);
	if (o->mft)
		fab_report_uint(r, "n_trees", o->n_trees);
	FAB_TABLE_BEGIN(r, "users", "Users of the cable, in each direction",
			user_columns);
	for (const struct fab_cable_use *use = o->use; use < o->use + 2; use++) {
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
	fab_report_table_end(r);
	if (p->run.verbose)
		name_users(r, w);
}

static void draw_users(struct fab_drawing *d, const struct fab_work *w)
{
	const struct used *o = w->outcome;
	FAB_AUTOFREE char *text = fab_cable_text(w->f, o->use[0].from);

	fab_drawing_mark(d, FAB_TONE_PLAIN, text);
	fab_drawing_mark_cable(d, w->f->port_cable[o->use[0].from]);
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
	.draw = draw_users,
	.fini = fini_users,
};
