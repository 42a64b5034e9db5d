/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The work of fabric-bootplan: the machine from its options, the batches, what is down or
 * gone, a plan of all batches (boot/plan.h), and what is worth changing.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/rng.h"
#include "bootplan.h"
#include "fabric/resolver.h"
#include "store/store.h"

/* Hosts of a fabric: each of `given` is a list of servers or a file of such lists. */
static int find_servers(const struct fab_cli_run *run,
			const struct fab_resolver *resolver, const char *const *given,
			size_t n_given, struct fab_ids *ids, struct fab_err *err)
{
	const struct fab_lookup hosts = fab_resolver_lookup(resolver, FAB_WANT_HOST);
	int rc = 0;

	for (size_t i = 0; i < n_given && !rc; i++) {
		FAB_AUTO(fab_matches_fini)
		struct fab_matches matches = {.with_names = run->verbose};
		FAB_AUTO(fab_input_fini) struct fab_input in = {0};
		bool is_file = fab_input_exists(given[i]);
		const char *label = is_file ? fab_input_name(given[i]) : "--servers";

		if (is_file) {
			rc = fab_input_read(given[i], &in, err);
			if (!rc)
				rc = fab_lookup_lines(&hosts, label, in.bytes, in.n, ids,
						      &matches, err);
		} else {
			rc = fab_lookup_list(&hosts, given[i], strlen(given[i]), ids,
					     &matches, err);
			if (rc)
				fab_err_prefix(err, label);
		}
		if (!rc)
			fab_cli_tell_matches(run, label, &matches);
	}
	return rc;
}

/* Servers that the fabric has only without --hca; `first` of them, on the heap. Inputs
 * that can be read once only are not asked. */
static uint32_t count_filtered(const struct bootplan_params *p,
			       const struct fab_fabric *f, const char *const *given,
			       size_t n_given, char **first)
{
	struct fab_cli_input input = p->input;
	struct fab_cli_run run = {.quiet = true};
	FAB_AUTO(fab_resolver_free_at) struct fab_resolver *resolver = NULL;
	FAB_AUTO(fab_strmap_free_at) struct fab_strmap *left = NULL;
	FAB_AUTOFREE struct fab_ids ids = {0};
	FAB_AUTO(fab_fabric_free_at) struct fab_fabric *all = NULL;
	struct fab_err ignored;
	uint32_t n = 0;

	*first = NULL;
	for (size_t i = 0; i < n_given; i++)
		if (!strcmp(given[i], "-"))
			return 0;
	input.hca = NULL;
	if (!p->input.hca || !strcmp(input.fabric, "-") ||
	    !strncmp(input.fabric, "ib:", 3) ||
	    fab_cli_open_fabric(&input, &run, &all, &ignored))
		return 0;
	left = fab_strmap_new(f->n_hosts);
	for (uint32_t h = 0; h < f->n_hosts; h++)
		fab_strmap_put(left, fab_host_name(f, h), strlen(fab_host_name(f, h)), h);
	resolver = fab_resolver_new(all);
	if (!find_servers(&run, resolver, given, n_given, &ids, &ignored))
		for (size_t i = 0; i < ids.of.n; i++) {
			const char *name = fab_host_name(all, ids.of.v[i]);

			if (fab_strmap_get(left, name, strlen(name)) == FAB_NONE && !n++)
				*first = fab_strdup(name);
		}
	return n;
}

static int machine_of_fabric(const struct bootplan_params *p, const struct fab_fabric *f,
			     const char *const *given, size_t n_given,
			     struct fab_machine **out, struct fab_err *err)
{
	struct fab_machine_servers servers = {.default_mbps = p->default_mbps,
					      .is_signalling = p->rate,
					      .resolver = fab_resolver_new(f)};
	FAB_AUTOFREE struct fab_ids ids = {0};
	FAB_AUTOFREE char *first = NULL;
	uint32_t n_filtered = count_filtered(p, f, given, n_given, &first);
	int rc = find_servers(&p->run, servers.resolver, given, n_given, &ids, err);

	if (n_filtered && rc)
		rc = fab_fail(err, -rc,
			      "--hca=%.60s leaves out %u of the servers, such as '%.80s'",
			      p->input.hca, n_filtered, first);
	else if (n_filtered)
		fab_cli_warn(&p->run,
			     "--hca=%s leaves out %u of the servers, such as '%s'",
			     p->input.hca, n_filtered, first);
	servers.hosts = ids.of.v;
	servers.n_hosts = ids.of.n;
	if (rc)
		fab_resolver_free(servers.resolver);
	else
		rc = fab_machine_of_fabric(f, &servers, out, err);
	return rc;
}

/* The machine of --machine. */
static int machine_of_text(const char *given, struct fab_machine **out,
			   struct fab_err *err)
{
	FAB_AUTO(fab_input_fini) struct fab_input in = {0};
	int rc;

	if (fab_input_exists(given)) {
		rc = fab_input_read(given, &in, err);
		if (rc)
			return rc;
		return fab_machine_read(fab_input_name(given), in.bytes, in.n, out, err);
	}
	rc = fab_machine_parse(given, out, err);
	if (rc && !strpbrk(given, "=:"))
		rc = fab_fail(
			err, -rc,
			"--machine: '%s' is no file, and no list of levels LEVEL=N[@RATE]",
			given);
	return rc;
}

/* Lists of servers or nodes of an option, marked in mark[n]. */
struct marking {
	const char *option, *leaves; /* sentence when all are named */
	const char *const *lists;
	size_t n_lists;
	enum fab_machine_kind kind;
	bool *mark;
	uint32_t n;
};

static int mark_all(const struct bootplan_params *p, const struct fab_machine *m,
		    const struct marking *x, struct fab_err *err)
{
	struct fab_matches matches = {.with_names = p->run.verbose};

	for (size_t i = 0; i < x->n_lists; i++) {
		uint32_t n = 0;
		int rc =
			fab_machine_find(m, x->kind, x->lists[i], x->mark, &matches, err);

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

/* Images by node group: of the machine with all nodes. */
static int find_images(const struct bootplan_params *p, struct bootplan_outcome *o,
		       const struct fab_machine *m, struct fab_arena *a,
		       struct fab_err *err)
{
	struct fab_image rest = {.bytes = p->transfer.image_bytes,
				 .kernel = p->export.site.kernel,
				 .initrd = p->export.site.initrd};
	int rc = 0;

	o->n_images = (uint32_t)p->images.n;
	if (!o->n_images)
		return 0;
	o->images = FAB_ARENA_NEW(a, o->n_images, struct fab_image);
	o->image_of = FAB_ARENA_NEW(a, (size_t)m->n_nodes + 1, uint32_t);
	for (uint32_t i = 0; i < o->n_images && !rc; i++)
		rc = fab_image_parse(p->images.v[i], a, &o->images[i], err);
	if (!rc)
		rc = fab_images_find(m, o->images, o->n_images, o->image_of, err);
	if (rc)
		fab_err_prefix(err, "--image");
	else
		fab_images_merge(o->images, o->n_images, &rest, o->image_of, m->n_nodes);
	return rc;
}

/* The sizes of those that boot; times are of the largest one. */
static int take_images(struct bootplan_params *p, struct bootplan_outcome *o,
		       struct fab_arena *a, struct fab_err *err)
{
	o->rest_bytes = p->transfer.image_bytes;
	if (!o->images)
		return 0;
	p->transfer.image_bytes = fab_plan_images(&o->plan.change, o->images, o->image_of,
						  p->transfer.image_bytes, o->batches,
						  o->n_batches, a, &o->least_image);
	if (!o->m->image_part)
		return 0;
	fab_cli_note_bytes(&p->shard, o->m->image_part,
			   o->m->n_nodes * sizeof(*o->m->image_part));
	if (!p->has_model)
		o->plan.model = FAB_PLAN_MAX_MIN;
	return p->prices
		       ? fab_fail(
				 err, EINVAL,
				 "--prices: no cheapest plan is known for images of several sizes: give one --image-size, such as that of the largest")
		       : 0;
}

/* By the best mapping and max-min: when the last node of each image has it. */
static int time_images(const struct bootplan_params *p, struct bootplan_outcome *o,
		       const uint32_t *interface_of, struct fab_arena *a,
		       struct fab_err *err)
{
	FAB_AUTO(fab_transfer_fini) struct fab_transfer t = {0};
	int rc;

	if (!o->images || !interface_of || !bootplan_best(o)->is_max_min)
		return 0;
	rc = fab_transfer_run(o->m, o->largest, interface_of, &p->transfer, &t, err);
	if (rc)
		return rc;
	o->image_seconds = FAB_ARENA_NEW0(a, (size_t)o->n_images + 1, double);
	for (uint32_t i = 0; i < o->largest->n; i++) {
		uint32_t image = o->image_of[o->largest->node[i]];
		double *last = &o->image_seconds[image == FAB_NONE ? o->n_images : image];

		*last = t.finish_s[i] > *last ? t.finish_s[i] : *last;
	}
	return 0;
}

/* The machine now, and what changed; servers that are new are servers. */
static int make_machine(const struct bootplan_params *p, const struct fab_work *w,
			struct fab_plan_change *c, struct fab_err *err)
{
	size_t n = p->servers.n + p->with.n;
	const char **servers = FAB_ARENA_NEW(w->arena, n + 1, const char *);
	char name[FAB_MACHINE_NAME_BYTES];
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
	const struct marking servers_of[] = {
		{"--fail-server", "server that is up", p->failed.v, p->failed.n,
		 FAB_MACHINE_SERVERS, m->server_is_down, m->n_servers},
		{"--with-server", "server that was there before", p->with.v, p->with.n,
		 FAB_MACHINE_SERVERS, c->was_down, m->n_servers}};
	for (size_t i = 0; i < FAB_COUNT(servers_of) && !rc; i++)
		rc = mark_all(p, m, &servers_of[i], err);
	if (!rc)
		rc = find_images(p, w->outcome, m, w->arena, err);
	for (uint32_t s = 0; s < m->n_servers && !rc; s++)
		if (c->was_down[s] && m->server_is_down[s])
			rc = fab_fail(err, EINVAL,
				      "--with-server: '%s' is down by --fail-server",
				      fab_machine_server_name(m, s, name));
	if (rc || !p->without.n)
		return rc;
	is_gone = FAB_ARENA_NEW0(w->arena, (size_t)m->n_nodes + 1, bool);
	rc = mark_all(p, m,
		      &(struct marking){"--without-node", "node to boot", p->without.v,
					p->without.n, FAB_MACHINE_NODES, is_gone,
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
	const struct fab_machine *m = o->plan.change.now;
	const char *boot = p->boot ? p->boot : "all";
	bool is_file = fab_input_exists(boot);
	FAB_AUTO(fab_input_fini) struct fab_input in = {0};
	int rc;

	if (p->is_sweep) {
		rc = fab_batch_sweep(m, p->sweep, p->run.seed, &o->batches, &o->n_batches,
				     err);
		if (rc)
			fab_err_prefix(err, "--sweep");
		return rc;
	}
	o->batches = FAB_NEW0(1, struct fab_batch);
	o->n_batches = 1;
	/* all nodes but those of --set omit, such as login hosts */
	if (!p->boot && p->omit) {
		FAB_AUTO(fab_matches_fini)
		struct fab_matches matches = {.with_names = p->run.verbose};
		FAB_AUTOFREE bool *is_omitted = FAB_NEW0((size_t)m->n_nodes + 1, bool);
		FAB_AUTOFREE struct fab_ids left = {0};
		FAB_AUTOFREE char *text = fab_format("all but %s", p->omit);
		rc = fab_machine_find(m, FAB_MACHINE_NODES, p->omit, is_omitted, &matches,
				      err);

		for (uint32_t i = 0; i < m->n_nodes; i++)
			if (!is_omitted[i])
				FAB_PUSH(&left.of, i);
		if (!rc && !left.of.n)
			rc = fab_fail(err, EINVAL, "'%.80s' leaves no node to boot",
				      p->omit);
		if (rc)
			fab_err_prefix(err, "--set omit");
		else
			fab_cli_tell_matches(&p->run, "--set omit", &matches);
		fab_batch_of(left.of.v, (uint32_t)left.of.n, text, o->batches);
		return rc;
	}
	if (is_file) {
		rc = fab_input_read(boot, &in, err);
		if (!rc)
			rc = fab_batch_read(m, fab_input_name(boot), in.bytes, in.n,
					    o->batches, err);
	} else {
		rc = fab_batch_parse(m, boot, o->batches, err);
		if (rc)
			fab_err_prefix(err, "--boot");
	}
	if (!rc)
		fab_cli_tell_matches(&p->run, is_file ? fab_input_name(boot) : "--boot",
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
	FAB_AUTO(fab_input_fini) struct fab_input in = {0};
	bool has_previous = p->export.folder && bootplan_has_previous(p->export.folder);
	uint32_t *loaded, *before = fab_arena_none(a, (size_t)then->n_nodes + 1);
	int rc = p->loaded ? fab_input_read(p->loaded, &in, err) : 0;

	then->resolver = c->now->resolver;
	if (!rc && has_previous)
		rc = bootplan_read_previous(p, c->now, a, &o->previous, err);
	if (!rc && p->loaded)
		rc = fab_mapping_read(then, fab_input_name(p->loaded), in.bytes, in.n,
				      before, err);
	else if (!rc && has_previous && p->export.keeps)
		bootplan_previous_mapping(&o->previous, c->old_node, before);
	if (then != c->now)
		then->resolver = NULL;
	if (rc || !(p->loaded || (has_previous && p->export.keeps)))
		return rc;
	loaded = fab_plan_mapping_now(c, before);
	fab_arena_own(a, free, loaded);
	o->plan.loaded = loaded;
	o->plan.loaded_before = before;
	return 0;
}

/* Of the tree and its rates as described. */
static uint64_t fingerprint_of(const struct fab_machine *m)
{
	uint64_t h = fab_hash_bytes(m->parent, m->n_vertices * sizeof(*m->parent), 1);

	h = fab_hash_bytes(m->capacity_mbps, m->n_vertices * sizeof(*m->capacity_mbps),
			   h);
	return fab_hash_bytes(m->interface_vertex,
			      m->n_interfaces * sizeof(*m->interface_vertex), h);
}

/* Digests of what files and names stood for. */
static void note_inputs(struct bootplan_params *p, const struct bootplan_outcome *o)
{
	const struct fab_plan_change *c = &o->plan.change;

	fab_cli_note_bytes(&p->shard, o->m->server_is_down,
			   o->m->n_servers * sizeof(bool));
	if (p->with.n)
		fab_cli_note_bytes(&p->shard, c->was_down,
				   o->m->n_servers * sizeof(bool));
	if (c->is_gone)
		fab_cli_note_bytes(&p->shard, c->is_gone, c->old->n_nodes * sizeof(bool));
	if (o->plan.loaded)
		fab_cli_note_bytes(&p->shard, o->plan.loaded,
				   o->m->n_nodes * sizeof(*o->plan.loaded));
}

static int solve(struct fab_work *w, struct fab_err *err)
{
	struct bootplan_params *p = w->params;
	struct bootplan_outcome *o = w->outcome;
	struct fab_plan_change *c = &o->plan.change;
	struct fab_sweep sweep = {.n_threads = p->run.threads,
				  .progress = fab_cli_progress_tick};
	const struct fab_plan_result *best;
	const struct fab_machine *m;
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
	rc = make_machine(p, w, c, err);
	if (rc)
		return rc;
	o->m = m = c->now;
	o->fingerprint = fingerprint_of(m);
	p->limits.hash_seed = p->run.seed;
	rc = fab_limits_parse(m, p->hashed, p->reserved, &p->limits, err);
	if (rc)
		return rc;
	fab_plan_limit(c, &p->limits, p->efficiency);
	rc = make_batches(p, o, err);
	if (!rc)
		rc = take_images(p, o, w->arena, err);
	if (!rc)
		rc = read_loaded(p, o, w->arena, err);
	if (!rc)
		rc = take_shard(p, o, w->arena, err);
	if (rc)
		return rc;
	o->plan.batches = o->batches;
	o->plan.n_batches = o->n_batches;
	o->largest = &o->batches[o->n_batches - 1];
	note_inputs(p, o);
	sweep.n_items = p->shard.all;
	sweep.shard = p->shard.part;
	sweep.progress_context = fab_cli_progress_new(&p->run, "planning", "batches");
	rc = fab_plan_run(&o->plan, sweep, &o->results, err);
	fab_cli_progress_free(sweep.progress_context);
	for (size_t i = 0; i < o->results.doubts.n; i++)
		fab_cli_warn(&p->run, "%s", o->results.doubts.v[i]);
	if (!rc)
		rc = fab_plan_map_largest(&o->plan, o->interface_of, err);
	if (rc)
		return rc;
	best = bootplan_best(o);
	for (size_t i = 0; i < p->n_choices && !best->n_unserved; i++)
		if (p->choices[i].name == best->algorithm)
			of = o->interface_of[i];
	o->problem = fab_plan_problem(&o->plan);
	rc = time_images(p, o, of, w->arena, err);
	if (!rc)
		rc = bootplan_add_methods(p, o, of, err);
	if (!rc)
		rc = fab_advice_raise(&o->problem, &p->transfer, o->advice, &o->n_advice,
				      err);
	if (!rc)
		rc = bootplan_add_costs(p, o, err);
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
	bootplan_previous_fini(&o->previous);
	fab_subnets_fini(&o->subnets);
	free(o->second_of);
	for (uint32_t i = 0; i < o->n_batches; i++)
		fab_batch_fini(&o->batches[i]);
	free(o->batches);
	for (size_t i = 0; i < FAB_PLAN_CHOICES_MAX; i++)
		free(o->interface_of[i]);
	fab_plan_change_fini(&o->plan.change);
}

/* ---- the store: the largest batch as results, all of a sweep with their segments ----
 */

static void store(struct fab_draft *d, const struct fab_work *w)
{
	const struct bootplan_params *p = w->params;
	const struct bootplan_outcome *o = w->outcome;
	uint64_t per_batch = o->results.of.n / o->n_batches;
	struct bootplan_row *row = FAB_ARENA_NEW0(w->arena, 1, struct bootplan_row);

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
		const struct bootplan_segments *s = &row->segment;
		FAB_AUTO(fab_arena_free) struct fab_arena a = FAB_ARENA_INIT;
		const char *algorithm = fab_arena_format(&a, "%s%s", r->algorithm,
							 r->is_max_min ? "/max-min" : "");

		bootplan_row_init(row, &a, o, r);
		fab_draft_batch(d, &(struct fab_store_batch){
					   .position = fab_shard_item(&p->shard.part,
								      i / per_batch) *
							       per_batch +
						       i % per_batch,
					   .algorithm = algorithm,
					   .name = r->batch->text,
					   .nodes = r->batch->n,
					   .servers = r->n_servers,
					   .bandwidth_mbps = r->bandwidth_mbps,
					   .boot_seconds = r->boot_seconds,
					   .bottleneck = row->bottleneck});
		for (uint32_t l = 0; l < s->n; l++)
			fab_draft_segment(d,
					  &(struct fab_store_segment){
						  .name = s->v[l].name,
						  .tightest = s->v[l].tightest,
						  .capacity_mbps = s->v[l].capacity_mbps,
						  .share_mbps = s->v[l].share_mbps,
						  .max_sharers = s->v[l].max_sharers});
		if (r->batch == o->largest)
			fab_draft_result(d, algorithm, bootplan_columns,
					 bootplan_n_columns, row);
	}
}

static const struct fab_task_file files[] = {{"mapping-out", bootplan_write_mapping},
					     {.write_all = bootplan_export},
					     {"dot-out", bootplan_write_dot},
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
	.draw = bootplan_draw,
	.store = store,
	.fini = fini,
};
