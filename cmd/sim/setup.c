/* SPDX-License-Identifier: BSD-2-Clause */
/* From options and fabric to numbers, ends of traffic, tables and trees. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/num.h"
#include "base/progress.h"
#include "base/units.h"
#include "fabric_sim.h"
#include "traffic/collective.h"
#include "unicast/faults.h"
#include "unicast/lfts.h"

static const uint64_t MAX_TIME = ((uint64_t)1 << FAB_MESSAGE_TIME_BITS) - 1;
enum { PAPER_BYTES = 200, PAPER_CABLE_NS = 35, PAPER_HOST_NS = 11, PAPER_GBPS = 100 };
enum { GROUP_HEADER_MORE = 8 + 40 }; /* DETH, GRH */

size_t sim_count_rows(const struct sim_outcome *o, size_t first)
{
	size_t n = 1;

	while (first + n < o->n_rows && o->rows[first + n].net == o->rows[first].net)
		n++;
	return n;
}

const char *sim_keep(const struct sim_outcome *o, char *text)
{
	if (text)
		fab_arena_own(o->arena, free, text);
	return text;
}

/* A time in ticks; NULL: unchanged. */
static int read_time(const struct sim_params *p, const char *option, const char *text,
		     uint64_t *out, struct fab_err *err)
{
	size_t len = text ? strlen(text) : 0;
	int rc = 0;

	if (!text)
		return 0;
	if (out == &p->failure.detection && !strcmp(text, "never"))
		*out = UINT64_MAX;
	else if (p->tick != SIM_TICK_FLIT)
		rc = fab_parse_time_ps(text, len, MAX_TIME, out, err);
	else if (!fab_parse_u64(text, len, 0, MAX_TIME, out))
		rc = fab_fail(
			err, EINVAL,
			"'%s' is no time: expected a whole number of flit times below 2^48",
			text);
	if (rc)
		fab_err_prefix(err, option);
	return rc;
}

/* A size of `len` bytes of text: bytes, with --tick=flit a plain number. NULL: unchanged.
 */
static int read_size(const struct sim_params *p, const char *option, const char *text,
		     size_t len, uint64_t max, uint32_t *out, struct fab_err *err)
{
	uint64_t n = 0;
	int rc = 0;

	if (!text)
		return 0;
	if (p->tick != SIM_TICK_FLIT)
		rc = fab_parse_size_bytes(text, len, &n, err);
	else if (!fab_parse_u64(text, len, 1, max, &n))
		rc = fab_fail(err, EINVAL, "'%.*s' is not a number from 1 to %llu",
			      (int)len, text, (unsigned long long)max);
	if (!rc && n > max)
		rc = fab_fail(err, EINVAL, "'%.*s' is more than %llu bytes", (int)len,
			      text, (unsigned long long)max);
	if (rc)
		fab_err_prefix(err, option);
	*out = (uint32_t)n;
	return rc;
}

/* Sizes between commas, some of them ascending, into to[SIM_MAX_SIZES]. NULL: none. */
static int read_sizes(const struct sim_params *p, const char *option, const char *text,
		      uint64_t max, bool ascends, uint32_t *to, size_t *n,
		      struct fab_err *err)
{
	for (const char *at = text; at; ++*n) {
		size_t len = strcspn(at, ",");
		int rc;

		if (*n == SIM_MAX_SIZES)
			return fab_fail(err, EINVAL, "%s: more than %d sizes", option,
					SIM_MAX_SIZES);
		rc = read_size(p, option, at, len, max, &to[*n], err);
		if (rc)
			return rc;
		if (ascends && *n && to[*n] <= to[*n - 1])
			return fab_fail(
				err, EINVAL,
				"%s: '%.*s' is not above the size before: expected them in ascending order",
				option, (int)len, at);
		at = at[len] ? at + len + 1 : NULL;
	}
	return 0;
}

/* Sizes and times as typed. */
static int read_texts(struct sim_params *p, struct fab_err *err)
{
	const struct sim_texts *t = &p->texts;
	const uint64_t us = p->tick == SIM_TICK_FLIT ? 100 : 1000 * 1000;
	const struct {
		const char *option, *text;
		uint64_t *to;
	} times[] = {
		{"--fail-at", t->fail_at, &p->failure.at},
		{"--set detection", t->detection, &p->failure.detection},
		{"--set trap", t->trap, &p->failure.trap},
		{"--set computation", t->computation, &p->failure.computation},
		{"--set block-time", t->block, &p->failure.block},
		{"--set interval", t->interval, &p->failure.interval},
		{"--set think", t->think, &p->think},
		{"--set switch-delay", t->switch_delay, &p->sim.switch_delay},
		{"--set cable-delay", t->cable_delay, &p->sim.cable_delay},
		{"--set host-delay", t->host_delay, &p->sim.host_delay},
		{"--warmup", t->warmup, &p->sim.warmup},
		{"--time", t->time, &p->sim.time},
		{"--set drain", t->drain, &p->sim.drain},
		{"--set stall", t->stall, &p->sim.stall},
	};
	int rc;

	p->failure.detection = 10 * us;
	p->failure.trap = 5 * us;
	p->failure.computation = 20 * us;
	p->failure.block = us / 10;
	p->failure.interval = 2 * us;
	rc = read_size(p, "--packet", t->packet, t->packet ? strlen(t->packet) : 0,
		       FAB_SIM_PACKET_MAX - 128, &p->sim.mtu, err);
	if (!rc)
		rc = read_sizes(p, "--buffer", t->buffer, UINT32_MAX >> 1, true,
				p->buffer, &p->n_buffers, err);
	if (!p->n_buffers)
		p->buffer[p->n_buffers++] = p->sim.buffer;
	p->sim.buffer = p->buffer[0];
	if (!rc && t->private_buffer)
		rc = read_size(p, "--set private-buffer", t->private_buffer,
			       strlen(t->private_buffer), UINT32_MAX >> 1,
			       &p->sim.buffer_private, err);
	if (!rc)
		rc = read_sizes(p, "--size", t->sizes, FAB_MESSAGE_BYTES_MAX, false,
				p->size, &p->n_sizes, err);
	if (!t->sizes)
		p->size[p->n_sizes++] = p->sim.mtu;
	for (size_t i = 0; i < FAB_COUNT(times) && !rc; i++)
		rc = read_time(p, times[i].option, times[i].text, times[i].to, err);
	if (!rc && t->time && !p->sim.time)
		rc = fab_fail(err, EINVAL, "--time: 0 is no time to measure");
	if (!rc && !p->failure.interval)
		rc = fab_fail(err, EINVAL, "--set interval: 0 is no time to count in");
	return rc;
}

int sim_read_texts(struct sim_params *p, struct fab_err *err)
{
	bool by_flit = p->tick == SIM_TICK_FLIT, is_finite = p->traffic_kind->is_finite;
	struct fab_sim_params *s = &p->sim;

	p->unit = by_flit ? 1 : 1000;
	*s = by_flit ? fab_sim_defaults_by_flit() : fab_sim_defaults();
	if (!by_flit)
		s->group_header = s->header + GROUP_HEADER_MORE;
	if (!p->has_arrivals)
		p->arrivals = by_flit ? SIM_BERNOULLI : SIM_POISSON;
	if (p->has_preset) { /* the figures of the paper, on fabrics of any speed */
		s->switch_delay = 0;
		s->cable_delay = PAPER_CABLE_NS * (uint64_t)p->unit;
		s->host_delay = PAPER_HOST_NS * (uint64_t)p->unit;
		s->header = s->group_header = 0;
	}
	if (p->has_preset && !by_flit) {
		s->mtu = PAPER_BYTES;
		s->rate_gbps = PAPER_GBPS;
		s->all_rates = true;
	}
	if (p->default_mbps > 0)
		s->rate_gbps = p->default_mbps / 1000;
	if (p->cable_mbps > 0) {
		s->rate_gbps = p->cable_mbps / 1000;
		s->all_rates = true;
	}
	if (p->has_header)
		s->header = s->group_header = p->header;
	fab_sim_set_routing(s, (enum fab_sim_routing)p->route, p->chooser);
	s->kind = &fab_sim_switches[p->switch_kind];
	s->n_vls = p->vls;
	s->spread_vls = p->spread_vls;
	s->buffer_per_vl = p->buffer_per_vl;
	s->drop = (enum fab_sim_drop)p->drop;
	s->buffer_shared = p->shared_buffer;
	s->ecn = (uint32_t)p->ecn;
	s->speedup = p->speedup;
	s->n_traced = p->n_traced;
	s->warmup = is_finite ? 0 : UINT64_MAX;
	s->time = is_finite ? 0 : by_flit ? 20000 : (uint64_t)200 * 1000 * 1000;
	return read_texts(p, err);
}

static struct fab_unicast_problem problem_of(const struct sim_params *p,
					     const struct sim_outcome *o)
{
	return (struct fab_unicast_problem){.f = o->f,
					    .faults = o->faults,
					    .kfat = o->kfat,
					    .max_vls = p->max_vls,
					    .roots = o->roots.of.v,
					    .n_roots = (uint32_t)o->roots.of.n,
					    .fills_roots =
						    fab_cli_fills_roots(p->root_guids) ||
						    (p->sim.chooser && !p->root_guids),
					    .opensm = &p->opensm.outside,
					    .n_threads = p->run.threads};
}

int sim_route(const struct sim_params *p, const struct sim_outcome *o,
	      const struct fab_unicast_engine *engine, const struct fab_faults *faults,
	      struct fab_routes **out, struct fab_err *err)
{
	struct fab_unicast_problem problem = problem_of(p, o);
	int rc;

	problem.faults = faults;
	rc = fab_unicast_fits(engine, &problem, err);
	return rc ? rc : fab_unicast_route(engine, &problem, out, err);
}

static int route(const struct sim_params *p, struct sim_outcome *o,
		 const struct fab_unicast_engine *engine, struct fab_err *err)
{
	const struct fab_unicast_problem problem = problem_of(p, o);
	struct sim_net *net = &o->nets[o->n_nets];
	double start = fab_now();
	int rc = fab_unicast_route(engine, &problem, &net->routes, err);

	if (!rc && p->texts.fail_at)
		rc = sim_route(p, o, engine, o->dead, &net->after, err);
	if (rc) {
		fab_routes_free(net->routes);
		net->routes = NULL;
		return rc;
	}
	net->engine = engine;
	net->algorithm = engine->name;
	net->seconds = fab_now() - start;
	o->n_nets++;
	return 0;
}

/* Without --algorithm. Adaptive packets escape by dor where all of a grid is there. */
static const struct fab_unicast_engine *usual_engine(const struct sim_params *p,
						     const struct sim_outcome *o)
{
	const struct fab_unicast_problem problem = problem_of(p, o);

	if (p->route == FAB_SIM_BY_DOR)
		return &fab_unicast_dor;
	for (size_t i = 0; i < p->dodges.of.n; i++)
		if (p->dodges.of.v[i].row && o->kfat)
			return &fab_unicast_vtftr;
	if (p->route == FAB_SIM_BY_TABLE)
		return o->kfat ? &fab_unicast_vtftr_ib : &fab_unicast_minhop;
	return o->dead->named.n || p->hosts.n || p->jobs.n ||
			       fab_unicast_fits(&fab_unicast_dor, &problem, NULL)
		       ? &fab_unicast_updn
		       : &fab_unicast_dor;
}

/* Tables that were read, then those of the algorithms: of `all` those that fit. */
static int make_tables(const struct sim_params *p, struct sim_outcome *o,
		       struct fab_err *err)
{
	const struct fab_analysis_options options = {.ends = FAB_ENDS_HOSTS,
						     .n_threads = p->run.threads};
	struct fab_unicast_problem problem;
	bool has_updn = false;
	int rc = 0;

	if (p->tables.lfts) {
		struct sim_net *net = &o->nets[o->n_nets];
		struct fab_analysis j;
		double start = fab_now();

		rc = fab_routes_read(o->f, o->faults, p->tables.lfts, p->tables.path_sl,
				     p->tables.sl2vl, &net->routes, err);
		if (rc)
			return rc;
		net->algorithm = "loaded";
		net->seconds = fab_now() - start;
		o->n_nets++;
		/* lanes that data must not take are found as by fabric-faults */
		if (net->routes->lanes != FAB_LANES_ONE) {
			rc = fab_analyse(net->routes, &options, &j, err);
			if (!rc)
				fab_analysis_fini(&j);
		}
	} else if (!p->has_algorithm) {
		return route(p, o, usual_engine(p, o), err);
	}
	for (size_t i = 0; i < p->algorithms.of.n; i++)
		has_updn |= fab_unicast_engines[p->algorithms.of.v[i].row] ==
				    &fab_unicast_updn ||
			    fab_unicast_engines[p->algorithms.of.v[i].row]->is_outside;
	if (!rc)
		rc = fab_cli_read_roots(p->root_guids, has_updn, o->f, &o->roots, err);
	problem = problem_of(p, o);
	for (size_t i = 0; i < p->algorithms.of.n && !rc; i++) {
		const struct fab_chosen *chosen = &p->algorithms.of.v[i];
		const struct fab_unicast_engine *e = fab_unicast_engines[chosen->row];
		struct fab_err why;

		if (!fab_unicast_fits(e, &problem, &why))
			rc = route(p, o, e, err);
		else if (chosen->by_all)
			fab_cli_warn(&p->run, "left out: algorithm %s", why.text);
		else
			rc = fab_unicast_refuse(p->input.fabric, e, &problem,
						&o->kfat_error, err);
	}
	return rc;
}

/* Trees by all algorithms. Groups that share multicast LIDs share trees. */
static int make_trees(const struct sim_params *p, struct sim_outcome *o,
		      struct fab_err *err)
{
	const struct fab_mcast_options options = {.n_threads = p->run.threads};
	const struct fab_mcast_engine *engines[SIM_MAX_NETS] = {NULL};
	struct fab_mcast_result results[SIM_MAX_NETS];
	size_t n = p->mcast_algorithms.of.n;
	double roots_seconds;
	int rc = fab_dist_new(o->f, p->run.threads, &o->dist, err);

	if (!rc && p->mlid_cap && p->mlid_cap < o->groups->n)
		rc = fab_groups_share(o->f, o->groups, p->mlid_cap, &o->shared, err);
	for (size_t i = 0; i < n; i++)
		engines[i] = fab_mcast_engines[p->mcast_algorithms.of.v[i].row];
	if (!rc)
		rc = fab_mcast_route(
			&(struct fab_mcast_problem){o->f, o->dist,
						    o->shared ? o->shared : o->groups},
			engines, n, &options, results, &roots_seconds, err);
	for (size_t i = 0; i < n && !rc; i++)
		o->nets[o->n_nets++] = (struct sim_net){
			.algorithm = engines[i]->name,
			.trees = results[i],
			.has_trees = true,
			.seconds = roots_seconds + results[i].trees_seconds};
	return rc;
}

/* Members as numbers of ends. Dead ones are an error, unless they may be left out. */
static int find_members(const struct sim_params *p, struct sim_outcome *o,
			struct fab_err *err)
{
	const struct fab_groups *g = o->groups;
	FAB_AUTO(fab_map64_free_at) struct fab_map64 *end_of = fab_map64_new(o->ends.n);
	uint64_t n_dead = 0;
	uint32_t in = 0;
	int rc = 0;

	for (uint32_t e = 0; e < o->ends.n; e++)
		fab_map64_put(end_of, o->ends.port[e], e);
	o->group_end = FAB_ARENA_NEW(o->arena, g->first[g->n] + 1, uint32_t);
	for (uint64_t m = 0; m < g->first[g->n] && !rc; m++) {
		uint32_t port = g->member[m];

		while (m >= g->first[in + 1])
			in++;
		o->group_end[m] = fab_map64_get(end_of, port);
		if (o->group_end[m] != FAB_NONE)
			continue;
		n_dead++;
		if (!p->groups.ignore_unknown)
			rc = fab_fail(
				err, EINVAL,
				"group \"%.60s\": member %.100s is no live host adapter: it, its switch or its cable is dead, or it is no host's (go on without: --set ignore-unknown)",
				fab_group_name(g, in),
				fab_node_name(o->f, o->f->port_node[port]));
	}
	if (!rc && n_dead)
		fab_cli_warn(&p->run,
			     "left out: %llu members that are no live host adapters",
			     (unsigned long long)n_dead);
	return rc;
}

static int set_up_groups(struct sim_params *p, struct sim_outcome *o, struct fab_err *err)
{
	struct fab_mft *mft = NULL;
	int rc = p->mcfdbs ? fab_cli_read_mcfdbs(p->mcfdbs, p->groups.ignore_unknown,
						 &p->run, o->f, &mft, err)
			   : 0;

	if (!rc)
		rc = fab_cli_make_groups(&p->groups, &p->run, o->f, mft, &o->groups, err);
	if (rc) {
		fab_mft_free(mft);
		return rc;
	}
	if (mft) { /* a net; the groups must have multicast LIDs of it */
		struct sim_net *net = &o->nets[o->n_nets++];

		net->algorithm = "loaded";
		net->mft = mft;
		net->mlid = FAB_ARENA_NEW(o->arena, o->groups->n, uint16_t);
		rc = fab_groups_mlids(o->groups, net->mlid, err);
	}
	if (!rc)
		rc = find_members(p, o, err);
	if (!rc && (!mft || p->has_mcast_algorithm))
		rc = make_trees(p, o, err);
	return rc;
}

/* A collective: the group of all ends, and its tree. */
static int set_up_tree(const struct sim_params *p, struct sim_outcome *o,
		       struct fab_err *err)
{
	const struct fab_mcast_options options = {.n_threads = p->run.threads};
	const struct fab_mcast_engine *engine =
		fab_mcast_engines[p->mcast_algorithms.of.v[0].row];
	struct fab_groups_builder *b;
	struct sim_net *net = &o->nets[0];
	double seconds;
	int rc;

	if (o->dead->named.n)
		return fab_fail(
			err, EINVAL,
			"--traffic=%s: trees are made in whole fabrics: take dead parts out by --edit",
			p->traffic);
	b = fab_groups_builder_new(o->f);
	fab_groups_builder_begin(b, "all", 3);
	o->group_end = FAB_ARENA_NEW(o->arena, o->ends.n + 1, uint32_t);
	for (uint32_t e = 0; e < o->ends.n; e++) {
		fab_groups_builder_add(b, o->ends.port[e]);
		o->group_end[e] = e;
	}
	rc = fab_groups_builder_finish(b, false, &o->groups, err);
	if (!rc)
		rc = fab_dist_new(o->f, p->run.threads, &o->dist, err);
	if (!rc)
		rc = fab_mcast_route(
			&(struct fab_mcast_problem){o->f, o->dist, o->groups}, &engine, 1,
			&options, &net->trees, &seconds, err);
	net->has_trees = !rc;
	o->trees_by = rc ? NULL : engine->name;
	return rc;
}

void sim_take_groups(struct sim_outcome *o, bool has)
{
	for (size_t i = 0; i < o->n_nets; i++) {
		o->nets[i].problem.groups = has ? o->groups : NULL;
		o->nets[i].problem.forest = has ? &o->nets[0].trees.forest : NULL;
	}
}

/* Only the hosts of --hosts and --job send, with --set load the others, too. */
static int choose_hosts(const struct sim_params *p, struct sim_outcome *o,
			struct fab_err *err)
{
	int rc = fab_flow_ends_choose(&o->ends, o->f, p->hosts.v, p->hosts.n, err);

	if (rc)
		fab_err_prefix(err, "--hosts");
	if (p->hosts.n)
		o->n_all_ends = o->ends.n;
	if (rc || !p->jobs.n)
		return rc;
	rc = fab_jobs_read(p->jobs.v, p->jobs.n, o->f, &o->ends, p->load > 0, o->arena,
			   o->jobs, err);
	for (size_t i = 0; i < p->jobs.n && !rc; i++)
		if (o->jobs[i].size && p->tick == SIM_TICK_FLIT)
			rc = fab_fail(
				err, EINVAL,
				"'%.80s': with --tick=flit jobs take --size, not size=",
				p->jobs.v[i]);
	if (rc) {
		fab_err_prefix(err, "--job");
		return rc;
	}
	if (!(p->load > 0))
		o->n_all_ends = o->ends.n;
	o->n_jobs = p->jobs.n;
	return 0;
}

/* The fabric that is simulated, and the endpoints that send in it. */
static int set_up_ends(struct fab_work *w, struct fab_err *err)
{
	struct sim_params *p = w->params;
	struct sim_outcome *o = w->outcome;
	struct fab_flow_ends all;
	int rc;

	if (fab_kfat_recognize(w->f, &o->kfat, &o->kfat_error))
		o->kfat = NULL;
	rc = fab_cli_draw_faults(&p->faults, &p->run, w->f, &o->dead, err);
	if (rc)
		return rc;
	fab_cli_note_faults(&p->shard, o->dead);
	fab_flow_ends_init(&all, w->f, NULL, NULL);
	o->n_all_ends = all.n;
	fab_flow_ends_fini(&all);
	o->faults = p->texts.fail_at ? fab_faults_new(w->f) : o->dead;
	if (p->traffic_kind->needs_groups && o->dead->named.n) {
		/* trees are made in what is left: a fabric of its own without faults */
		rc = fab_fabric_without(w->f, o->dead, &o->left, err);
		if (rc)
			return rc;
		o->f = o->left;
		o->faults = fab_faults_new(o->f);
	}
	fab_flow_ends_init(&o->ends, o->f, o->faults->switch_is_dead,
			   o->faults->cable_is_dead);
	if (!o->ends.n)
		return fab_fail(err, EINVAL, "%s: no live host can send",
				p->input.fabric);
	return choose_hosts(p, o, err);
}

/* The simulator's view of tables and trees. */
static void set_up_problem(struct sim_outcome *o, struct sim_net *net)
{
	net->problem = (struct fab_sim_problem){.f = o->f,
						.faults = o->faults,
						.ends = &o->ends,
						.routes = net->routes,
						.groups = o->groups,
						.tree_groups = o->shared,
						.mft = net->mft,
						.mlid = net->mlid};
	if (net->has_trees)
		net->problem.forest = &net->trees.forest;
	if (!net->routes)
		return;
	net->note = net->routes->note;
	fab_no_path_find(net->routes, o->ends.n, o->ends.sw, o->ends.port, &net->no_path);
	net->circle = sim_keep(o, fab_no_path_circle_text(net->routes, &net->no_path));
}

int sim_check_problem(const struct sim_params *p, const struct fab_sim_problem *problem,
		      const char *algorithm, struct fab_err *err)
{
	const struct fab_analysis_options options = {.ends = FAB_ENDS_HOSTS};
	struct fab_analysis j;
	int rc = fab_sim_check(problem, &p->sim, err);

	if (rc || !p->sim.chooser || p->sim.drop)
		return rc;
	rc = fab_sim_check_escape(problem, err);
	if (rc) {
		fab_err_prefix(err, algorithm);
		return rc;
	}
	rc = fab_analyse(problem->routes, &options, &j, err);
	if (rc)
		return rc;
	if (!j.deadlock_free)
		rc = fab_fail(
			err, EINVAL,
			"the tables of %s can stall: adaptive packets need tables without deadlock, such as those of updn, to escape to",
			algorithm);
	fab_analysis_fini(&j);
	return rc;
}

bool sim_is_by_tree(const struct sim_params *p, const char *traffic)
{
	const struct fab_schedule *s = p->traffic_kind->schedules;
	const char *argument = traffic + fab_choice_name_len(traffic);

	while (s && s->name && strcmp(s->name, argument + (*argument == ':')) != 0)
		s++;
	return s && s->name && s->to_group;
}

/* The specs that the traffic consists of. */
static void list_methods(const struct sim_params *p, struct sim_outcome *o)
{
	const struct fab_schedule *all = p->traffic_kind->schedules;
	size_t len = fab_choice_name_len(p->traffic), n = 0;
	bool names_one = p->traffic[len];

	while (all && all[n].name)
		n++;
	o->methods = FAB_ARENA_NEW(o->arena, n + 1, const char *);
	if (!all || names_one)
		o->methods[o->n_methods++] = p->traffic;
	for (size_t i = 0; i < n; i++)
		if (!names_one || (all[i].to_group && !sim_is_by_tree(p, p->traffic)))
			o->methods[o->n_methods++] = fab_arena_format(
				o->arena, "%.*s:%s", (int)len, p->traffic, all[i].name);
}

int sim_set_up(struct fab_work *w, struct fab_err *err)
{
	struct sim_params *p = w->params;
	struct sim_outcome *o = w->outcome;
	int rc;

	o->p = p;
	o->f = w->f;
	o->arena = w->arena;
	rc = set_up_ends(w, err);
	if (rc)
		return rc;
	rc = p->traffic_kind->needs_groups && !p->pair ? set_up_groups(p, o, err)
						       : make_tables(p, o, err);
	list_methods(p, o);
	if (!rc && o->n_nets && p->traffic_kind->schedules && !p->pair && !p->jobs.n)
		rc = set_up_tree(p, o, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < o->n_nets; i++)
		set_up_problem(o, &o->nets[i]);
	if (p->tick != SIM_TICK_FLIT && !p->sim.all_rates && o->n_nets)
		o->n_unknown_rates = fab_sim_unknown_rates(&o->nets[0].problem);
	if (o->n_unknown_rates && !(p->default_mbps > 0))
		fab_cli_warn(
			&p->run,
			"the rate of %u cables is not known: taken as %g Gb/s (--set default-rate)",
			o->n_unknown_rates, p->sim.rate_gbps);
	for (size_t i = 0; i < o->n_nets && !rc; i++)
		rc = sim_check_problem(p, &o->nets[i].problem, o->nets[i].algorithm, err);
	return rc;
}

void sim_outcome_fini(void *outcome)
{
	struct sim_outcome *o = outcome;

	for (size_t i = 0; i < o->n_nets; i++) {
		struct sim_net *net = &o->nets[i];

		if (net->is_copy)
			continue;
		fab_no_path_fini(&net->no_path);
		fab_routes_free(net->routes);
		fab_routes_free(net->after);
		if (net->has_trees)
			fab_mcast_result_fini(&net->trees);
		fab_mft_free(net->mft);
	}
	fab_sim_points_fini(&o->points);
	free(o->roots.of.v);
	fab_groups_free(o->groups);
	fab_groups_free(o->shared);
	fab_dist_free(o->dist);
	fab_flow_ends_fini(&o->ends);
	if (o->faults != o->dead)
		fab_faults_free(o->faults);
	fab_faults_free(o->dead);
	fab_kfat_free(o->kfat);
	fab_fabric_free(o->left);
}
