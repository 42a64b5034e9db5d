/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The work of fabric-bootplan: the machine from its options, the batches, what is down or
 * gone, a plan of all batches (boot/plan.h), and what is worth changing.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/rng.h"
#include "bootplan.h"
#include "fabric/resolver.h"
#include "store/store.h"

bool bootplan_is_file(const char *path)
{
	struct stat st;

	return !strcmp(path, "-") || (!stat(path, &st) && !S_ISDIR(st.st_mode));
}

const char *bootplan_label(const char *path)
{
	return strcmp(path, "-") ? path : "standard input";
}

/* Hosts that an option names, or a file. */
static int add_servers(const struct fab_cli_run *run, const struct fab_lookup *hosts,
		       const char *given, struct fab_ids *ids, struct fab_err *err)
{
	struct fab_matches matches = {.with_names = run->verbose};
	bool is_file = bootplan_is_file(given);
	struct fab_input in;
	int rc;

	if (is_file) {
		rc = fab_input_read(given, &in, err);
		if (rc)
			return rc;
		rc = fab_lookup_lines(hosts, bootplan_label(given), in.bytes, in.n, ids,
				      &matches, err);
		fab_input_fini(&in);
	} else {
		rc = fab_lookup_list(hosts, given, strlen(given), ids, &matches, err);
		if (rc)
			fab_err_prefix(err, "--servers");
	}
	if (!rc)
		fab_cli_tell_matches(run, is_file ? bootplan_label(given) : "--servers",
				     &matches);
	fab_matches_fini(&matches);
	return rc;
}

/* The machine of a fabric with these servers. */
static int machine_of_fabric(const struct bootplan_params *p, const struct fab_fabric *f,
			     const char *const *given_servers, size_t n_given,
			     struct fab_machine **out, struct fab_err *err)
{
	struct fab_machine_servers servers = {.default_mbps = p->default_mbps,
					      .is_signalling = p->rate,
					      .resolver = fab_resolver_new(f)};
	const struct fab_lookup hosts =
		fab_resolver_lookup(servers.resolver, FAB_WANT_HOST);
	struct fab_ids ids = {0};
	int rc = 0;

	for (size_t i = 0; i < n_given && !rc; i++)
		rc = add_servers(&p->run, &hosts, given_servers[i], &ids, err);
	servers.hosts = ids.of.v;
	servers.n_hosts = ids.of.n;
	if (!rc)
		rc = fab_machine_of_fabric(f, &servers, out, err);
	free(ids.of.v);
	return rc;
}

/* The machine of --machine. */
static int machine_of_text(const char *given, struct fab_machine **out,
			   struct fab_err *err)
{
	struct fab_input in;
	int rc;

	if (bootplan_is_file(given)) {
		rc = fab_input_read(given, &in, err);
		if (rc)
			return rc;
		rc = fab_machine_read(bootplan_label(given), in.bytes, in.n, out, err);
		fab_input_fini(&in);
		return rc;
	}
	rc = fab_machine_parse(given, out, err);
	if (rc && !strpbrk(given, "=:"))
		rc = fab_fail(
			err, -rc,
			"--machine: '%s' is no file, and no list of levels LEVEL=N[@RATE]",
			given);
	return rc;
}

/* Of the tree and its rates: the fingerprint of a machine. */
static uint64_t fingerprint(const struct fab_machine *m)
{
	uint64_t hash = fab_hash_bytes(m->parent, m->n_vertices * sizeof(*m->parent), 1);

	hash = fab_hash_bytes(m->capacity_mbps, m->n_vertices * sizeof(*m->capacity_mbps),
			      hash);
	return fab_hash_bytes(m->interface_vertex,
			      m->n_interfaces * sizeof(*m->interface_vertex), hash);
}

/* Lists of servers or nodes of an option, marked in mark[n]. */
struct marking {
	const char *option, *leaves; /* what is wrong with naming all there are */
	const char *const *lists;
	size_t n_lists;
	int (*find)(const struct fab_machine *, const char *, bool *,
		    struct fab_matches *, struct fab_err *);
	bool *mark;
	uint32_t n;
};

static int mark_all(const struct bootplan_params *p, const struct fab_machine *m,
		    const struct marking *x, struct fab_err *err)
{
	struct fab_matches matches = {.with_names = p->run.verbose};

	for (size_t i = 0; i < x->n_lists; i++) {
		uint32_t n = 0;
		int rc = x->find(m, x->lists[i], x->mark, &matches, err);

		if (rc) {
			fab_err_prefix(err, x->option);
			return rc;
		}
		for (uint32_t k = 0; k < x->n; k++)
			n += x->mark[k];
		if (n == x->n)
			return fab_fail(err, EINVAL, "%s: '%.80s' leaves no %s",
					x->option, x->lists[i], x->leaves);
		fab_cli_tell_matches(&p->run, x->option, &matches);
	}
	return 0;
}

/* The machine now, and what changed; servers that are new are servers. */
static int make_machine(const struct bootplan_params *p, const struct fab_work *w,
			struct fab_plan_change *c, struct fab_err *err)
{
	size_t n = p->servers.n + p->with.n;
	const char **servers = FAB_ARENA_NEW(w->arena, n + 1, const char *);
	char name[BOOTPLAN_NAME_BYTES];
	struct fab_machine *m;
	bool *is_gone;
	int rc;

	for (size_t i = 0; i < n; i++)
		servers[i] =
			i < p->servers.n ? p->servers.v[i] : p->with.v[i - p->servers.n];
	rc = w->f ? machine_of_fabric(p, w->f, servers, n, &m, err)
		  : machine_of_text(p->machine, &m, err);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < m->n_warnings; i++)
		fab_cli_warn(&p->run, "%s", m->warnings[i]);
	*c = (struct fab_plan_change){
		.is_any = p->failed.n || p->with.n || p->without.n,
		.now = m,
		.was_down = FAB_ARENA_NEW0(w->arena, (size_t)m->n_servers + 1, bool)};
	rc = mark_all(p, m,
		      &(struct marking){"--fail-server", "server that is up", p->failed.v,
					p->failed.n, fab_machine_find_servers,
					m->server_is_down, m->n_servers},
		      err);
	if (!rc)
		rc = mark_all(p, m,
			      &(struct marking){"--with-server",
						"server that was there before", p->with.v,
						p->with.n, fab_machine_find_servers,
						c->was_down, m->n_servers},
			      err);
	for (uint32_t s = 0; s < m->n_servers && !rc; s++)
		if (c->was_down[s] && m->server_is_down[s])
			rc = fab_fail(err, EINVAL,
				      "--with-server: '%s' is down by --fail-server",
				      fab_machine_server_name(m, s, name, sizeof(name)));
	if (rc || !p->without.n)
		return rc;
	is_gone = FAB_ARENA_NEW0(w->arena, (size_t)m->n_nodes + 1, bool);
	rc = mark_all(p, m,
		      &(struct marking){"--without-node", "node to boot", p->without.v,
					p->without.n, fab_machine_find_nodes, is_gone,
					m->n_nodes},
		      err);
	if (rc)
		return rc;
	rc = fab_plan_take_nodes(c, is_gone, w->arena, err);
	if (rc)
		fab_err_prefix(err, "--without-node");
	return rc;
}

/* The batch of --boot, or those of each step of --sweep. */
static int make_batches(const struct bootplan_params *p, struct bootplan_outcome *o,
			struct fab_err *err)
{
	const char *boot = p->boot ? p->boot : "all";
	bool is_file = bootplan_is_file(boot);
	struct fab_input in;
	int rc;

	if (p->is_sweep) {
		rc = fab_batch_sweep(o->plan.change.now, p->sweep, p->run.seed,
				     &o->batches, &o->n_batches, err);
		if (rc)
			fab_err_prefix(err, "--sweep");
		return rc;
	}
	o->batches = FAB_NEW0(1, struct fab_batch);
	o->n_batches = 1;
	if (is_file) {
		rc = fab_input_read(boot, &in, err);
		if (rc)
			return rc;
		rc = fab_batch_read(o->plan.change.now, bootplan_label(boot), in.bytes,
				    in.n, o->batches, err);
		fab_input_fini(&in);
	} else {
		rc = fab_batch_parse(o->plan.change.now, boot, o->batches, err);
		if (rc)
			fab_err_prefix(err, "--boot");
	}
	if (!rc)
		fab_cli_tell_matches(&p->run, is_file ? bootplan_label(boot) : "--boot",
				     &o->batches->matches);
	return rc;
}

/* Keep only the batches of the shard; facts of the whole sweep stay. */
static int take_shard(struct bootplan_params *p, struct bootplan_outcome *o,
		      struct fab_arena *a, struct fab_err *err)
{
	const struct fab_batch *largest = &o->batches[o->n_batches - 1];
	uint32_t n = 0;
	int rc = fab_cli_count_shard(&p->shard, o->n_batches, "batches", err);

	o->largest_nodes = largest->n;
	o->largest_text = fab_arena_strdup(a, largest->text);
	if (rc || !p->shard.part.count)
		return rc;
	for (uint32_t i = 0; i < o->n_batches; i++) {
		struct fab_batch *b = &o->batches[i];

		if (n < p->shard.items && i == fab_shard_item(&p->shard.part, n)) {
			o->batches[n++] = *b;
		} else if (b == largest && n && o->batches[n - 1].is_borrowed) {
			/* its nodes are theirs */
			o->batches[n - 1].is_borrowed = false;
			b->is_borrowed = true;
			fab_batch_fini(b);
		} else {
			fab_batch_fini(b);
		}
	}
	o->n_batches = n;
	return 0;
}

/* The mapping of --loaded, by the nodes before and now. */
static int read_loaded(const struct bootplan_params *p, struct bootplan_outcome *o,
		       struct fab_arena *a, struct fab_err *err)
{
	const struct fab_plan_change *c = &o->plan.change;
	struct fab_machine *then = c->old ? c->old : c->now;
	struct fab_input in;
	uint32_t *loaded, *before;
	int rc = p->loaded ? fab_input_read(p->loaded, &in, err) : 0;

	if (rc || !p->loaded)
		return rc;
	then->resolver = c->now->resolver;
	before = FAB_ARENA_NEW(a, (size_t)then->n_nodes + 1, uint32_t);
	rc = fab_mapping_read(then, bootplan_label(p->loaded), in.bytes, in.n, before,
			      err);
	fab_input_fini(&in);
	if (then != c->now)
		then->resolver = NULL;
	if (rc)
		return rc;
	loaded = fab_plan_mapping_now(c, before);
	fab_arena_own(a, free, loaded);
	o->plan.loaded = loaded;
	o->plan.loaded_before = before;
	return 0;
}

/* Digests of what files and names stood for: servers that are down, a mapping. */
static void note_input(struct bootplan_params *p, const struct bootplan_outcome *o)
{
	const struct fab_plan_change *c = &o->plan.change;

	fab_cli_note_bytes(&p->shard, c->now->server_is_down,
			   c->now->n_servers * sizeof(bool));
	if (p->with.n)
		fab_cli_note_bytes(&p->shard, c->was_down,
				   c->now->n_servers * sizeof(bool));
	if (c->is_gone)
		fab_cli_note_bytes(&p->shard, c->is_gone, c->old->n_nodes * sizeof(bool));
	if (o->plan.loaded)
		fab_cli_note_bytes(&p->shard, o->plan.loaded,
				   c->now->n_nodes * sizeof(*o->plan.loaded));
}

static int plan_all(const struct bootplan_params *p, struct bootplan_outcome *o,
		    struct fab_err *err)
{
	struct fab_sweep sweep = {.n_items = p->shard.all,
				  .shard = p->shard.part,
				  .n_threads = p->run.threads,
				  .progress = fab_cli_progress_tick};
	int rc;

	sweep.progress_context = fab_cli_progress_new(&p->run, "planning", "batches");
	rc = fab_plan_run(&o->plan, sweep, &o->results, err);
	fab_cli_progress_free(sweep.progress_context);
	for (size_t i = 0; i < o->results.doubts.n; i++)
		fab_cli_warn(&p->run, "%s", o->results.doubts.v[i]);
	return rc;
}

static int prepare(struct bootplan_params *p, struct bootplan_outcome *o,
		   struct fab_work *w, struct fab_err *err)
{
	int rc = make_machine(p, w, &o->plan.change, err);

	if (rc)
		return rc;
	o->m = o->plan.change.now;
	o->fingerprint = fingerprint(o->m);
	fab_plan_limit(&o->plan.change, &p->limits, p->efficiency);
	rc = make_batches(p, o, err);
	if (!rc)
		rc = read_loaded(p, o, w->arena, err);
	return rc ? rc : take_shard(p, o, w->arena, err);
}

static int solve(struct fab_work *w, struct fab_err *err)
{
	struct bootplan_params *p = w->params;
	struct bootplan_outcome *o = w->outcome;
	const struct fab_plan_result *best;
	const uint32_t *of = NULL;
	int rc;

	o->p = p;
	o->plan = (struct fab_plan){.choices = p->choices,
				    .n_choices = p->n_choices,
				    .model = p->model,
				    .purpose = p->purpose,
				    .transfer = &p->transfer,
				    .seed = p->run.seed,
				    .verifies = p->run.verify};
	rc = prepare(p, o, w, err);
	if (rc)
		return rc;
	o->plan.batches = o->batches;
	o->plan.n_batches = o->n_batches;
	o->largest = &o->batches[o->n_batches - 1];
	note_input(p, o);
	rc = plan_all(p, o, err);
	if (!rc)
		rc = fab_plan_map_largest(&o->plan, o->interface_of, err);
	if (rc)
		return rc;
	best = bootplan_best(o);
	for (size_t i = 0; i < p->n_choices && !best->n_unserved; i++)
		if (p->choices[i].name == best->algorithm)
			of = o->interface_of[i];
	o->problem = fab_plan_problem(&o->plan);
	rc = bootplan_add_methods(p, o, of, err);
	if (!rc)
		rc = fab_advice_raise(&o->problem, &p->transfer, o->advice, &o->n_advice,
				      err);
	if (!rc && (p->export.path || p->export.folder))
		rc = bootplan_check_export(p, o, err);
	if (rc)
		return rc;
	return o->results.is_broken || o->has_broken_tree ||
			       (p->check && best->boot_seconds > p->target_seconds)
		       ? FAB_EXIT_FOUND
		       : FAB_EXIT_DONE;
}

static void fini(void *outcome)
{
	struct bootplan_outcome *o = outcome;

	fab_plan_results_fini(&o->results);
	free(o->methods.v);
	bootplan_exported_fini(&o->exported);
	for (uint32_t i = 0; i < o->n_batches; i++)
		fab_batch_fini(&o->batches[i]);
	free(o->batches);
	for (size_t i = 0; i < FAB_PLAN_CHOICES_MAX; i++)
		free(o->interface_of[i]);
	fab_plan_change_fini(&o->plan.change);
}

/* ---- the store: the largest batch as results, all of a sweep with their segments ----
 */

static void add_batch(struct fab_draft *d, const struct bootplan_outcome *o, size_t i,
		      const char *algorithm)
{
	const struct fab_plan_result *r = &o->results.of.v[i];
	uint64_t per_batch = o->results.of.n / o->n_batches;
	struct bootplan_segments s;

	bootplan_segments_of(o->m, r, &s);
	fab_draft_batch(
		d, &(struct fab_store_batch){
			   .position = fab_shard_item(&o->p->shard.part, i / per_batch) *
					       per_batch +
				       i % per_batch,
			   .algorithm = algorithm,
			   .name = r->batch->text,
			   .nodes = r->batch->n,
			   .servers = r->n_servers,
			   .bandwidth_mbps = r->bandwidth_mbps,
			   .boot_seconds = r->boot_seconds,
			   .bottleneck = *s.bottleneck ? s.bottleneck : NULL});
	for (uint32_t l = 0; l < s.n; l++)
		fab_draft_segment(d, &(struct fab_store_segment){
					     .name = s.v[l].name,
					     .tightest = s.v[l].tightest,
					     .capacity_mbps = s.v[l].capacity_mbps,
					     .share_mbps = s.v[l].share_mbps,
					     .max_sharers = s.v[l].max_sharers});
}

static void add_result(struct fab_draft *d, const struct bootplan_outcome *o, size_t i,
		       const char *algorithm)
{
	struct bootplan_row *row = FAB_NEW0(1, struct bootplan_row);

	bootplan_row_init(row, o, &o->results.of.v[i]);
	fab_draft_result(d, algorithm, bootplan_columns, bootplan_n_columns, row);
	bootplan_row_fini(row);
	free(row);
}

static void store(struct fab_draft *d, const struct fab_work *w)
{
	const struct bootplan_params *p = w->params;
	const struct bootplan_outcome *o = w->outcome;

	d->run.fabric.source = o->m->source;
	d->run.fabric.fingerprint = o->fingerprint;
	d->run.fabric.hosts = (uint64_t)o->m->n_nodes + o->m->n_servers;
	fab_draft_fact(d, "nodes", o->largest_nodes);
	fab_draft_fact(d, "machine_nodes", o->m->n_nodes);
	fab_draft_fact(d, "machine_servers", o->m->n_servers);
	fab_draft_fact(d, "image_bytes", (double)p->transfer.image_bytes);
	fab_draft_asked(d, "batch", fab_strdup(o->largest_text));
	if (p->is_sweep)
		fab_draft_asked(d, "sweep", fab_strdup(p->sweep ? p->sweep : "all"));
	fab_draft_table(d, bootplan_columns, bootplan_n_columns);
	fab_draft_table(d, bootplan_segment_columns, bootplan_segment_n_columns);
	for (size_t i = 0; i < o->results.of.n; i++) {
		const struct fab_plan_result *r = &o->results.of.v[i];
		char *algorithm =
			fab_format("%s%s", r->algorithm, r->is_max_min ? "/max-min" : "");

		add_batch(d, o, i, algorithm);
		if (r->batch == o->largest)
			add_result(d, o, i, algorithm);
		free(algorithm);
	}
}

static const struct fab_task_file files[] = {{"mapping-out", bootplan_write_mapping},
					     {.write_all = bootplan_export},
					     {"plot", bootplan_write_plot},
					     {0}};

const struct fab_task bootplan_task = {
	.primary = "results",
	.columns = bootplan_columns,
	.n_columns = &bootplan_n_columns,
	.outcome_bytes = sizeof(struct bootplan_outcome),
	.solve = solve,
	.files = files,
	.report = bootplan_report,
	.store = store,
	.fini = fini,
};
