/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-faults --explain: the path of a pair, hop by hop, and why it goes so. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults.h"
#include "unicast/engine.h"
#include "unicast/routes.h"

/* A row of a table. */
struct record {
	const char *algorithm, *sw, *peer, *reason;
	uint64_t hop, leg, port;
	double sl, vl;
};

#define AT(member) FAB_AT(struct record, member)
static const struct fab_column columns[] = {
	FAB_COLUMN(algorithm, TEXT, "routing algorithm"),
	FAB_COLUMN(hop, UINT, "from 1"),
	FAB_COLUMN_AS(leg, UINT, "path segment, along one line of a kfat, from 1",
		      FAB_COL_NULL_ZERO),
	{"switch", FAB_TEXT, "switch that sends", 0, AT(sw)},
	FAB_COLUMN(port, UINT, "port it sends by"),
	FAB_COLUMN(peer, TEXT, "what receives"),
	FAB_COLUMN_AS(sl, NUMBER, "service level; unknown: no file tells",
		      FAB_COL_UNKNOWN),
	FAB_COLUMN_AS(vl, NUMBER, "virtual lane; unknown: no file tells",
		      FAB_COL_UNKNOWN),
	FAB_COLUMN(reason, TEXT, "why the segment is taken"),
};
#undef AT

struct story {
	struct fab_report *r;
	const struct faults_outcome *o;
	const struct faults_result *a;
	struct fab_endpoint from, to;
};

/* Lane of a hop; NaN: no file tells. */
static double lane_of(const struct fab_routes *r, const struct fab_hop *hop, uint8_t sl)
{
	unsigned vl = FAB_VL_UNKNOWN;

	if (sl != FAB_SL_UNKNOWN || r->lanes == FAB_LANES_ONE)
		vl = fab_routes_vl(r, hop->sw, hop->in, hop->out, sl);
	return vl == FAB_VL_UNKNOWN ? NAN : vl;
}

static const char *leaf_name(const struct fab_kfat *k, const uint32_t *coord)
{
	for (uint32_t i = 0; i < k->n_leaves; i++)
		if (!memcmp(k->coord + (size_t)i * k->n_dims, coord,
			    k->n_dims * sizeof(*coord)))
			return fab_node_name(k->f, k->leaf[i]);
	return "a leaf that is missing";
}

/* Why the segment from one leaf to another, on the path to the last. On the heap. */
static char *reason_of(const struct fab_kfat *k, const struct fab_faults *faults,
		       uint32_t from, uint32_t to, uint32_t last)
{
	const uint32_t *a = k->coord + (size_t)from * k->n_dims;
	const uint32_t *b = k->coord + (size_t)to * k->n_dims;
	const uint32_t *z = k->coord + (size_t)last * k->n_dims;
	uint32_t turn[FAB_KFAT_DIMS_MAX], d = 0, first = 0;
	const char *name;

	while (d + 1 < k->n_dims && a[d] == b[d])
		d++;
	while (first + 1 < k->n_dims && a[first] == z[first])
		first++;
	if (to == last)
		return fab_format("last segment: same line along dimension %u", d);
	if (b[d] == z[d] && d == first)
		return fab_format("dimension order: coordinate %u first", d);
	/* where dimension order would have turned */
	memcpy(turn, a, k->n_dims * sizeof(*turn));
	turn[first] = z[first];
	name = leaf_name(k, turn);
	for (uint32_t i = 0; i < k->n_leaves; i++)
		if (!memcmp(k->coord + (size_t)i * k->n_dims, turn,
			    k->n_dims * sizeof(*turn)) &&
		    !faults->switch_is_dead[k->leaf[i]])
			return fab_format(
				"coordinate %u %s: the path by %s is cut further "
				"on",
				d, b[d] == z[d] ? "first" : "by a detour", name);
	return fab_format("%s is dead: coordinate %u %s", name, d,
			  b[d] == z[d] ? "first" : "by a detour");
}

/* The leaf at which the segment that begins at hops[i] ends. */
static uint32_t segment_end(const struct story *s, const struct fab_hop *hops, uint32_t n,
			    uint32_t i)
{
	const struct fab_kfat *k = s->o->kfat;

	for (i++; i < n; i++)
		if (k->leaf_of[hops[i].sw] != FAB_NONE)
			return k->leaf_of[hops[i].sw];
	return k->leaf_of[s->to.sw];
}

static void print_hop(const struct story *s, const struct fab_hop *hops, uint32_t n,
		      uint32_t i, uint8_t sl, uint64_t *segment)
{
	const struct fab_fabric *f = s->o->f;
	const struct fab_kfat *k = s->o->kfat;
	const struct fab_hop *hop = &hops[i];
	bool is_segment =
		k && k->leaf_of[hop->sw] != FAB_NONE && k->leaf_of[s->to.sw] != FAB_NONE;
	char *reason = NULL;
	struct record row;

	*segment += is_segment;
	if (is_segment && s->a->engine && s->a->engine->needs_kfat)
		reason = reason_of(k, s->o->faults, k->leaf_of[hop->sw],
				   segment_end(s, hops, n, i), k->leaf_of[s->to.sw]);
	row = (struct record){
		.algorithm = s->a->algorithm,
		.hop = i + 1,
		.leg = *segment,
		.sw = fab_node_name(f, hop->sw),
		.port = f->port_num[fab_arc_port(f, hop->sw,
						 f->arc_first[hop->sw] + hop->out)],
		.peer = fab_node_name(f, f->arc_peer[f->arc_first[hop->sw] + hop->out]),
		.sl = sl == FAB_SL_UNKNOWN ? (double)NAN : sl,
		.vl = lane_of(s->a->routes, hop, sl),
		.reason = reason,
	};
	fab_report_record(s->r, &row);
	free(reason);
}

/* A row that says why there is no path. */
static void print_nothing(const struct story *s, const char *why)
{
	const struct fab_fabric *f = s->o->f;
	const struct record row = {
		.algorithm = s->a->algorithm,
		.hop = 0,
		.leg = 0,
		.sw = fab_node_name(f, s->from.sw),
		.port = 0,
		.peer = fab_node_name(f, s->to.node),
		.sl = 0,
		.vl = 0,
		.reason = why,
	};

	fab_report_record(s->r, &row);
}

/* Between two ports of one switch its table decides, too, where it has LIDs. */
static bool stays(const struct story *s, uint32_t column)
{
	const struct fab_routes *r = s->a->routes;

	if (s->from.sw != s->to.sw)
		return false;
	if (column == FAB_NONE)
		return !r->column_port || s->to.port == FAB_NONE;
	return fab_routes_next(r, column)[s->to.sw] == FAB_ARC_HERE;
}

/* The path of the pair, or why it has no hop. */
struct walk {
	struct fab_hop hops[FAB_PATH_MAX];
	uint32_t n;
	uint8_t sl;
	bool is_local;	 /* no hop is needed */
	const char *why; /* no hop; NULL: there are some */
};

static void walk(const struct story *s, struct walk *w)
{
	const struct fab_routes *r = s->a->routes;
	uint32_t column = fab_path_column(r, &s->to);
	bool is_alive = fab_switch_is_live(s->o->faults, s->from.sw) &&
			fab_switch_is_live(s->o->faults, s->to.sw);

	*w = (struct walk){.is_local = is_alive && stays(s, column)};
	if (w->is_local)
		w->why = "both are on this switch";
	else if (!is_alive)
		w->why = s->from.sw == s->to.sw ? "the switch of both is dead"
						: "one of the two switches is dead";
	else if (column == FAB_NONE)
		w->why = "the tables have no such destination";
	if (w->why)
		return;
	w->sl = fab_trace_sl(r, &s->from, column);
	w->n = fab_path_hops(r, s->from.sw, column, w->hops);
	if (!w->n)
		w->why = "no path in the tables";
	else if (w->sl == FAB_SL_NONE)
		w->why = "no lanes without a cycle";
}

static void tell(const struct story *s)
{
	struct walk w;
	uint64_t segment = 0;

	walk(s, &w);
	if (w.why) {
		print_nothing(s, w.why);
		return;
	}
	for (uint32_t i = 0; i < w.n; i++)
		print_hop(s, w.hops, w.n, i, w.sl, &segment);
}

char *faults_path_text(const struct faults_outcome *o, size_t result, bool *is_bad)
{
	const struct story s = {
		.o = o, .a = &o->results[result], .from = o->from, .to = o->to};
	bool is_same = s.from.node == s.to.node && s.from.port == s.to.port;
	struct walk w;

	walk(&s, &w);
	*is_bad = w.why && !w.is_local;
	if (*is_bad)
		return fab_format("%s%s", strncmp(w.why, "no ", 3) ? "no path, " : "",
				  w.why);
	if (is_same)
		return fab_strdup("nothing to route, both names are of one port");
	if (w.is_local)
		return fab_format("no hop, both are on switch %s",
				  fab_node_name(o->f, s.to.sw));
	return fab_format("%u hop%s between switches", w.n, w.n == 1 ? "" : "s");
}

int faults_find_pair(const struct faults_params *p, struct faults_outcome *o,
		     struct fab_err *err)
{
	const struct fab_lookup lookup =
		fab_resolver_lookup(fab_faults_resolver(o->faults), FAB_WANT_ENDPOINT);
	struct fab_endpoint ends[2];
	int rc = fab_trace_pair(o->f, &lookup, p->questions.explain, ends, err);

	if (rc) {
		fab_err_prefix(err, "--explain");
		return rc;
	}
	o->from = ends[0];
	o->to = ends[1];
	return 0;
}

void faults_explain(struct fab_report *r, const struct faults_outcome *o)
{
	struct story s = {.r = r, .o = o, .from = o->from, .to = o->to};

	fab_report_table_begin(r, "path", "The path, hop by hop", columns,
			       FAB_COUNT(columns));
	for (size_t i = 0; i < o->n; i++) {
		s.a = &o->results[i];
		tell(&s);
	}
	fab_report_table_end(r);
}
