/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions of fabric-faults beyond routing: loads of permutations, losses of one part
 * more, local rerouting, and one path hop by hop with the reasons.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/planes.h"
#include "fabric/ranks.h"
#include "faults.h"

static const uint64_t CRITICALITY_STEPS = UINT64_C(4) * 1000 * 1000 * 1000;
/* Cases from which on two unknown faults at once take minutes. */
static const uint64_t REROUTE_CASES_MAX = 200 * 1000 * 1000;

/* Nothing goes from one plane to another: such a flow is a mistake, not a loss. */
static int refuse_across_planes(const struct fab_fabric *f, const char *spec,
				const struct fab_flow_ends *ends, const uint32_t *to,
				struct fab_err *err)
{
	FAB_AUTO(fab_planes_free_at) struct fab_planes *planes = fab_planes_new(f);
	int rc = 0;

	for (uint32_t i = 0; i < ends->n && !rc; i++) {
		uint32_t from = planes->of_switch[ends->sw[i]];

		if (to[i] != FAB_NONE &&
		    fab_planes_are_parallel(planes, from,
					    planes->of_switch[ends->sw[to[i]]]))
			rc = fab_fail(err, EINVAL, "--permutation=%s: %s", spec,
				      fab_planes_apart(planes, f, ends->port[i],
						       ends->port[to[i]]));
	}
	return rc;
}

static int load_of(const struct faults_params *p, const struct faults_outcome *o,
		   const char *spec, const struct fab_routes *routes,
		   struct fab_flow_load *out, struct fab_err *err)
{
	const struct fab_faults *faults = routes->faults;
	FAB_AUTO(fab_flow_ends_fini) struct fab_flow_ends ends;
	const struct fab_permutation_problem problem = {o->f, o->kfat, &ends,
							p->run.seed};
	FAB_AUTOFREE uint32_t *to = NULL;
	int rc;

	fab_flow_ends_init(&ends, o->f, faults ? faults->switch_is_dead : NULL,
			   faults ? faults->cable_is_dead : NULL);
	rc = ends.n ? fab_permutation_make(spec, &problem, &to, err)
		    : fab_fail(err, ENOENT, "%s: no live hosts to send", p->input.fabric);
	if (!rc)
		rc = refuse_across_planes(o->f, spec, &ends, to, err);
	if (!rc)
		fab_permutation_load(routes, &ends, to, out);
	return rc;
}

static int add_flow(const struct faults_params *p, struct faults_outcome *o,
		    const struct fab_faults_result *r, const char *spec,
		    struct fab_err *err)
{
	struct faults_flow flow = {.permutation = spec, .algorithm = r->algorithm};
	struct fab_unicast_problem problem = faults_problem(p, o, NULL);
	struct fab_routes *sound;
	int rc = load_of(p, o, spec, r->routes, &flow.after, err);

	flow.before = flow.after;
	if (!rc && r->engine && o->faults->named.n) {
		rc = fab_unicast_route(r->engine, &problem, &sound, err);
		if (rc)
			return rc;
		rc = load_of(p, o, spec, sound, &flow.before, err);
		fab_routes_free(sound);
	}
	FAB_PUSH(&o->flows, flow);
	return rc;
}

int faults_flow(const struct faults_params *p, struct faults_outcome *o,
		struct fab_err *err)
{
	int rc = 0;

	for (size_t k = 0; k < p->questions.permutations.n; k++)
		for (size_t i = 0; i < o->n && !rc; i++)
			rc = add_flow(p, o, &o->results[i],
				      p->questions.permutations.v[k], err);
	return rc;
}

enum faults_kind faults_kind_of(const struct fab_loss *loss)
{
	if (loss->part.is_cable)
		return FAULTS_LINK;
	return loss->is_leaf ? FAULTS_LEAF : FAULTS_ROOT;
}

struct faults_critical faults_critical_of(const struct fab_work *w,
					  const struct fab_loss *loss)
{
	static const char *const names[] = {"leaf", "root", "link"};
	const struct faults_outcome *o = w->outcome;
	char *name = fab_fault_text(o->f, loss->part);

	fab_arena_own(w->arena, free, name);
	return (struct faults_critical){
		.l = *loss,
		.name = name,
		.kind = names[faults_kind_of(loss)],
		.host_ports = loss->part.is_cable ? 0 : o->hosts[loss->part.id]};
}

int faults_rank_parts(struct faults_params *p, struct faults_outcome *o,
		      struct fab_err *err)
{
	/* the last algorithm that was asked for; of the default ones the first */
	const struct fab_faults_result *r =
		&o->results[p->has_algorithm || p->files.in.lfts ? o->n - 1 : 0];
	const struct fab_unicast_problem problem = faults_problem(p, o, o->faults);
	struct fab_cli_progress *bar =
		fab_cli_progress_new(&p->run, "single losses", "parts");
	const struct fab_losses_options options = {.steps = CRITICALITY_STEPS,
						   .shard = p->shard.part,
						   .progress = fab_cli_progress_tick,
						   .progress_context = bar};
	struct fab_losses losses;
	int rc = fab_losses_rank(&problem, r->engine, r->routes, &options, &losses, err);

	fab_cli_progress_free(bar);
	if (rc)
		return rc;
	o->losses = losses;
	o->ranked = r;
	o->hosts = FAB_NEW(o->f->n_switches + 1, uint32_t);
	fab_ranks_count_hosts(o->f, o->hosts);
	for (size_t i = 0; i < losses.of.n; i++)
		o->n_untried += !losses.of.v[i].is_tried;
	if (p->shard.part.count)
		rc = fab_cli_count_shard(&p->shard, losses.n_parts, "parts", err);
	if (!rc && o->n_untried)
		fab_cli_warn(&p->run,
			     "--criticality: %llu parts with fewer pairs were not tried",
			     (unsigned long long)o->n_untried);
	return rc;
}

int faults_local_reroute(const struct faults_params *p, struct faults_outcome *o,
			 struct fab_err *err)
{
	uint64_t n = o->kfat ? o->kfat->n_leaves : 0;
	int rc = 0;

	if (!o->kfat)
		return fab_fail(err, EINVAL, "%s: %s needs a high-dimension fat tree; %s",
				p->input.fabric,
				p->questions.reroute ? "--local-reroute"
						     : "--set reroute-lists",
				o->kfat_error.text);
	if (p->questions.reroute_lists) {
		const struct fab_lookup lookup = fab_resolver_lookup(
			fab_faults_resolver(o->faults), FAB_WANT_SWITCH);
		struct fab_item name = {.text = p->questions.reroute_lists,
					.len = strlen(p->questions.reroute_lists)};

		rc = lookup.find(lookup.of, &name, &o->lists_of, err);
		if (!rc && o->kfat->n_dims != 2)
			rc = fab_fail(
				err, EINVAL,
				"lists are those of two dimensions, the fabric has %u",
				o->kfat->n_dims);
		else if (!rc && o->kfat->switch_line[o->lists_of] == FAB_NONE)
			rc = fab_fail(
				err, EINVAL,
				"\"%s\" is a leaf switch, expected a row or column switch",
				fab_node_name(o->f, o->lists_of));
		if (rc)
			fab_err_prefix(err, "--set reroute-lists");
	}
	o->left_out_bursts = p->questions.reroute && n * n * n > REROUTE_CASES_MAX;
	if (!rc && o->left_out_bursts)
		fab_cli_warn(
			&p->run,
			"--local-reroute: two unknown faults at once are not tried, %llu leaf switches are too many",
			(unsigned long long)n);
	for (unsigned i = 0; i < 2 * FAB_LOCAL_REROUTE_BURST_MAX && !rc; i++) {
		enum fab_reroute_method method = i % 2;
		struct faults_local_reroutes row = {
			.method = fab_reroute_choices.names[method],
			.unknown = i / 2 + 1,
			.known = (uint32_t)o->faults->named.n};

		if (!p->questions.reroute || (row.unknown > 1 && o->left_out_bursts) ||
		    (p->questions.reroute_method != FAB_REROUTE_METHODS &&
		     p->questions.reroute_method != method))
			continue;
		rc = fab_local_reroute_all(o->kfat, o->faults, method, row.unknown,
					   p->run.threads, &row.sum, err);
		row.hops_more = row.sum.segments_more * 2;
		FAB_PUSH(&o->rerouted, row);
	}
	return rc;
}

void faults_report_lists(struct fab_report *r, const struct fab_work *w)
{
	struct record {
		const char *sw, *towards, *list;
	};
#define AT(member) FAB_AT(struct record, member)
	static const struct fab_column columns[] = {
		{"switch", FAB_TEXT, "row or column switch", 0, AT(sw)},
		FAB_COLUMN(towards, TEXT, "leaf switch of its entry"),
		FAB_COLUMN(list, TEXT,
			   "leaf switches in its place, the first that is alive"),
	};
#undef AT
	const struct faults_outcome *o = w->outcome;
	const struct fab_kfat *k = o->kfat;
	uint32_t line = k->switch_line[o->lists_of], dim = k->line_dim[line];
	uint32_t *leaf = FAB_ARENA_NEW(w->arena, k->n_leaves + 1, uint32_t);

	fab_report_table_begin(r, "reroute_lists", "Lists of local rerouting", columns,
			       FAB_COUNT(columns));
	for (uint32_t i = 0; i < k->n_leaves; i++) {
		struct record row = {fab_node_name(o->f, o->lists_of),
				     fab_node_name(o->f, k->leaf[i]), NULL};
		char *list = NULL;
		uint32_t n;

		if (k->line_of[(size_t)i * 2 + dim] != line)
			continue;
		n = fab_local_reroute_list(k, o->faults, line,
					   k->coord[(size_t)i * 2 + dim], leaf);
		for (uint32_t m = 0; m < n; m++)
			fab_append(&list, " ", "%s",
				   fab_node_name(o->f, k->leaf[leaf[m]]));
		fab_arena_own(w->arena, free, list);
		row.list = list;
		fab_report_record(r, &row);
	}
	fab_report_table_end(r);
}

/* A row of the path of --explain. */
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
	FAB_COLUMN_AS(sl, NUMBER, "service level; unknown: in no file", FAB_COL_UNKNOWN),
	FAB_COLUMN_AS(vl, NUMBER, "virtual lane; unknown: in no file", FAB_COL_UNKNOWN),
	FAB_COLUMN(reason, TEXT, "why the segment is taken"),
};
#undef AT

struct story {
	struct fab_report *r;
	const struct faults_outcome *o;
	const struct fab_faults_result *a;
	struct fab_endpoint from, to;
};

/* The leaf at a point of the grid; FAB_NONE: it is missing. */
static uint32_t leaf_at(const struct fab_kfat *k, const uint32_t *coord)
{
	for (uint32_t i = 0; i < k->n_leaves; i++)
		if (!memcmp(k->coord + (size_t)i * k->n_dims, coord,
			    k->n_dims * sizeof(*coord)))
			return i;
	return FAB_NONE;
}

/* Why the segment from one leaf to another, on the path to the last. On the heap. */
static char *reason_of(const struct fab_kfat *k, const struct fab_faults *faults,
		       uint32_t from, uint32_t to, uint32_t last)
{
	const uint32_t *a = k->coord + (size_t)from * k->n_dims;
	const uint32_t *b = k->coord + (size_t)to * k->n_dims;
	const uint32_t *z = k->coord + (size_t)last * k->n_dims;
	uint32_t turn[FAB_KFAT_DIMS_MAX], d = 0, first = 0, leaf;
	const char *name = "a leaf that is missing";

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
	leaf = leaf_at(k, turn);
	if (leaf != FAB_NONE)
		name = fab_node_name(k->f, k->leaf[leaf]);
	if (leaf != FAB_NONE && !faults->switch_is_dead[k->leaf[leaf]])
		return fab_format("coordinate %u %s: the path by %s is cut further on", d,
				  b[d] == z[d] ? "first" : "by a detour", name);
	return fab_format("%s is dead: coordinate %u %s", name, d,
			  b[d] == z[d] ? "first" : "by a detour");
}

static void print_hop(const struct story *s, const struct fab_hop *hops, uint32_t n,
		      uint32_t i, uint8_t sl, uint64_t *segment)
{
	const struct fab_fabric *f = s->o->f;
	const struct fab_kfat *k = s->o->kfat;
	const struct fab_hop *hop = &hops[i];
	bool is_segment =
		k && k->leaf_of[hop->sw] != FAB_NONE && k->leaf_of[s->to.sw] != FAB_NONE;
	const struct fab_routes *r = s->a->routes;
	unsigned vl = FAB_VL_UNKNOWN;
	FAB_AUTOFREE char *reason = NULL;
	struct record row;

	*segment += is_segment;
	if (is_segment && s->a->engine && s->a->engine->needs_kfat) {
		uint32_t end = i + 1; /* hop from the leaf at which the segment ends */

		while (end < n && k->leaf_of[hops[end].sw] == FAB_NONE)
			end++;
		reason = reason_of(k, s->o->faults, k->leaf_of[hop->sw],
				   k->leaf_of[end < n ? hops[end].sw : s->to.sw],
				   k->leaf_of[s->to.sw]);
	}
	if (sl != FAB_SL_UNKNOWN || r->lanes == FAB_LANES_ONE)
		vl = fab_routes_vl(r, hop->sw, hop->in, hop->out, sl);
	row = (struct record){
		.algorithm = s->a->algorithm,
		.hop = i + 1,
		.leg = *segment,
		.sw = fab_node_name(f, hop->sw),
		.port = f->port_num[fab_arc_port(f, hop->sw,
						 f->arc_first[hop->sw] + hop->out)],
		.peer = fab_node_name(f, f->arc_peer[f->arc_first[hop->sw] + hop->out]),
		.sl = sl == FAB_SL_UNKNOWN ? (double)NAN : sl,
		.vl = vl == FAB_VL_UNKNOWN ? (double)NAN : vl,
		.reason = reason,
	};
	fab_report_record(s->r, &row);
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

	/* between two ports of one switch its table decides, too, where it has LIDs */
	*w = (struct walk){
		.is_local =
			is_alive && s->from.sw == s->to.sw &&
			(column == FAB_NONE
				 ? !r->column_port || s->to.port == FAB_NONE
				 : fab_routes_next(r, column)[s->to.sw] == FAB_ARC_HERE)};
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

const char *faults_path_text(const struct fab_work *w, size_t result, bool *is_bad)
{
	const struct faults_outcome *o = w->outcome;
	const struct story s = {
		.o = o, .a = &o->results[result], .from = o->from, .to = o->to};
	struct walk path;

	walk(&s, &path);
	*is_bad = path.why && !path.is_local;
	if (*is_bad)
		return fab_arena_format(w->arena, "%s%s",
					strncmp(path.why, "no ", 3) ? "no path, " : "",
					path.why);
	if (s.from.node == s.to.node && s.from.port == s.to.port)
		return "nothing to route, both names are of one port";
	if (path.is_local)
		return fab_arena_format(w->arena, "no hop, both are on switch %s",
					fab_node_name(o->f, s.to.sw));
	return fab_arena_format(w->arena, "%u hop%s between switches", path.n,
				path.n == 1 ? "" : "s");
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

void faults_explain(struct fab_report *r, const struct fab_work *w)
{
	const struct faults_outcome *o = w->outcome;
	struct story s = {.r = r, .o = o, .from = o->from, .to = o->to};

	fab_report_table_begin(r, "path", "The path, hop by hop", columns,
			       FAB_COUNT(columns));
	for (size_t i = 0; i < o->n; i++) {
		struct walk k;
		uint64_t segment = 0;

		s.a = &o->results[i];
		walk(&s, &k);
		if (k.why) {
			const struct fab_fabric *f = s.o->f;
			const struct record row = {
				.algorithm = s.a->algorithm,
				.sw = fab_node_name(f, s.from.sw),
				.peer = fab_node_name(f, s.to.node),
				.reason = k.why,
			};

			/* A row that says why there is no path. */
			fab_report_record(s.r, &row);
			continue;
		}
		for (uint32_t m = 0; m < k.n; m++)
			print_hop(&s, k.hops, k.n, m, k.sl, &segment);
	}
	fab_report_table_end(r);
}
