/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/faults.h"

#include "base/mem.h"
#include "fabric/builder.h"
#include "fabric/graph.h"
#include "fabric/ranks.h"
#include "source/unpack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct fab_faults *fab_faults_new(const struct fab_fabric *f)
{
	struct fab_faults *faults = FAB_NEW0(1, struct fab_faults);

	faults->f = f;
	faults->switch_is_dead = FAB_NEW0(f->n_switches + 1, bool);
	faults->cable_is_dead = FAB_NEW0(f->n_cables + 1, bool);
	faults->arc_is_dead = FAB_NEW0((size_t)f->arc_first[f->n_switches] + 1, bool);
	return faults;
}

void fab_faults_free(struct fab_faults *faults)
{
	if (!faults)
		return;
	FAB_FREE_ALL(faults->switch_is_dead, faults->cable_is_dead, faults->arc_is_dead,
		     faults->named.v);
	fab_resolver_free(faults->resolver);
	fab_matches_fini(&faults->matches);
	free(faults);
}

const struct fab_resolver *fab_faults_resolver(struct fab_faults *faults)
{
	if (!faults->resolver)
		faults->resolver = fab_resolver_new(faults->f);
	return faults->resolver;
}

static void set_part(struct fab_faults *faults, struct fab_fault part, bool is_dead)
{
	const struct fab_fabric *f = faults->f;
	uint32_t sw = part.is_cable ? f->port_node[f->cable_a[part.id]] : part.id;

	if (part.is_cable) {
		faults->cable_is_dead[part.id] = is_dead;
	} else {
		faults->switch_is_dead[sw] = is_dead;
		FAB_EACH_PORT(f, sw, p)
			if (f->port_cable[p] != FAB_NONE)
				faults->cable_is_dead[f->port_cable[p]] = is_dead;
	}
	if (!fab_node_is_switch(f, sw))
		return;
	FAB_EACH_ARC(f, sw, a)
		if (!part.is_cable || f->arc_cable[a] == part.id)
			faults->arc_is_dead[a] = faults->arc_is_dead[fab_arc_back(f, a)] =
				is_dead;
}

void fab_faults_clear(struct fab_faults *faults)
{
	for (size_t i = 0; i < faults->named.n; i++)
		set_part(faults, faults->named.v[i], false);
	faults->named.n = 0;
}

void fab_faults_kill(struct fab_faults *faults, struct fab_fault part)
{
	if (part.is_cable ? faults->cable_is_dead[part.id]
			  : faults->switch_is_dead[part.id])
		return;
	set_part(faults, part, true);
	FAB_PUSH(&faults->named, part);
}

void fab_faults_kill_switch(struct fab_faults *faults, uint32_t sw)
{
	fab_faults_kill(faults, (struct fab_fault){.is_cable = false, .id = sw});
}

void fab_faults_kill_cable(struct fab_faults *faults, uint32_t cable)
{
	fab_faults_kill(faults, (struct fab_fault){.is_cable = true, .id = cable});
}

uint32_t fab_faults_search(const struct fab_fabric *f, const struct fab_faults *faults,
			   uint32_t to, uint32_t *dist, uint32_t *order)
{
	const struct fab_graph g = fab_graph_of_arcs(f);
	bool is_live = fab_switch_is_live(faults, to);

	order[0] = to;
	return fab_graph_search(&g, faults ? faults->arc_is_dead : NULL, is_live, dist,
				order, NULL);
}

uint32_t fab_faults_port_switch(const struct fab_fabric *f,
				const struct fab_faults *faults, uint32_t port)
{
	uint32_t sw = fab_port_switch(f, port);

	if (sw == FAB_NONE || !fab_switch_is_live(faults, sw) ||
	    (f->port_node[port] != sw && !fab_cable_is_live(faults, f->port_cable[port])))
		return FAB_NONE;
	return sw;
}

static const char *const kind_names[] = {[FAB_FAULT_LEAVES] = "leaves",
					 [FAB_FAULT_ROOTS] = "roots",
					 [FAB_FAULT_LINKS] = "links",
					 [FAB_FAULT_ANY] = "any"};
const struct fab_choices fab_fault_kind_choices = {
	.what = "kind", .n = FAB_COUNT(kind_names), .names = kind_names};

void fab_faults_candidates(const struct fab_fabric *f, enum fab_fault_kind kind,
			   const struct fab_faults *faults, struct fab_fault_list *out)
{
	FAB_AUTOFREE uint32_t *n_hosts = FAB_NEW(f->n_switches + 1, uint32_t);

	*out = (struct fab_fault_list){0};
	fab_ranks_count_hosts(f, n_hosts);
	for (uint32_t sw = 0; sw < f->n_switches && kind != FAB_FAULT_LINKS; sw++)
		if (fab_switch_is_live(faults, sw) &&
		    (kind == FAB_FAULT_ANY ||
		     (kind == FAB_FAULT_LEAVES) == !!n_hosts[sw]))
			FAB_PUSH(&out->of, ((struct fab_fault){.id = sw}));
	if (kind != FAB_FAULT_LINKS && kind != FAB_FAULT_ANY)
		return;
	for (uint32_t c = 0; c < f->n_switch_links; c++)
		if (fab_cable_is_live(faults, c))
			FAB_PUSH(&out->of,
				 ((struct fab_fault){.is_cable = true, .id = c}));
}

static void swap(struct fab_fault *v, size_t i, size_t j)
{
	struct fab_fault other = v[j];

	v[j] = v[i];
	v[i] = other;
}

void fab_faults_draw(struct fab_faults *faults, struct fab_fault_list *candidates,
		     size_t k, struct fab_stream *stream)
{
	struct fab_fault *v = candidates->of.v;
	FAB_AUTOFREE size_t *with = FAB_NEW(k + 1, size_t);

	for (size_t i = 0; i < k; i++) {
		with[i] = i + fab_stream_below(stream, candidates->of.n - i);
		swap(v, i, with[i]);
		fab_faults_kill(faults, v[i]);
	}
	for (size_t i = k; i-- > 0;)
		swap(v, i, with[i]);
}

char *fab_fault_text(const struct fab_fabric *f, struct fab_fault fault)
{
	uint32_t port;

	if (!fault.is_cable)
		return fab_strdup(fab_node_name(f, fault.id));
	port = f->cable_a[fault.id];
	return fab_format("%s:%u", fab_node_name(f, f->port_node[port]),
			  f->port_num[port]);
}

char *fab_faults_text(const struct fab_faults *faults, const char *separator)
{
	char *text = fab_strdup("");

	for (size_t i = 0; i < faults->named.n; i++) {
		FAB_AUTOFREE char *name = fab_fault_text(faults->f, faults->named.v[i]);

		fab_append(&text, separator, "%s", name);
	}
	return text;
}

/* Switches and cables that die by name. */

/* Kill what a list names. */
static int add_list(struct fab_faults *faults, enum fab_want want, const char *text,
		    size_t len, struct fab_err *err)
{
	const struct fab_lookup lookup =
		fab_resolver_lookup(fab_faults_resolver(faults), want);
	FAB_AUTOFREE struct fab_ids ids = {0};
	int rc = fab_lookup_list(&lookup, text, len, &ids, &faults->matches, err);

	for (size_t i = 0; i < ids.of.n; i++)
		fab_faults_kill(faults,
				(struct fab_fault){.is_cable = want == FAB_WANT_CABLE,
						   .id = ids.of.v[i]});
	return rc;
}

int fab_faults_add_switches(struct fab_faults *faults, const char *text,
			    struct fab_err *err)
{
	return add_list(faults, FAB_WANT_SWITCH, text, strlen(text), err);
}

int fab_faults_add_cables(struct fab_faults *faults, const char *text,
			  struct fab_err *err)
{
	return add_list(faults, FAB_WANT_CABLE, text, strlen(text), err);
}

static int add_line(void *context, struct fab_item line, struct fab_err *err)
{
	static const char link[] = "link ";

	if (line.len > sizeof(link) - 1 && !memcmp(line.text, link, sizeof(link) - 1))
		return add_list(context, FAB_WANT_CABLE, line.text + sizeof(link) - 1,
				line.len - (sizeof(link) - 1), err);
	return add_list(context, FAB_WANT_SWITCH, line.text, line.len, err);
}

int fab_faults_add_file(struct fab_faults *faults, const char *path, struct fab_err *err)
{
	return fab_list_file_read(path, add_line, faults, err);
}

__extension__ typedef unsigned __int128 wide;

uint64_t fab_faults_combinations(uint64_t n, uint64_t k)
{
	wide c = 1;

	if (k > n)
		return 0;
	if (k > n - k)
		k = n - k;
	for (uint64_t i = 1; i <= k; i++) {
		c = c * (n - k + i) / i;
		if (c > UINT64_MAX)
			return UINT64_MAX;
	}
	return (uint64_t)c;
}

void fab_faults_combination(uint64_t number, size_t k, size_t n, size_t *pick)
{
	size_t at = 0;

	/* with_at: combinations of the rest that begin with `at` */
	for (size_t i = 0; i < k; i++, at++) {
		uint64_t left = n - at - 1, more = k - i - 1;
		wide with_at = fab_faults_combinations(left, more);

		for (; number >= with_at; at++, left--) {
			number -= (uint64_t)with_at;
			with_at = with_at * (left - more) / left;
		}
		pick[i] = at;
	}
}

int fab_fault_sets_init(struct fab_fault_sets *sets, enum fab_fault_kind kind,
			struct fab_err *err)
{
	int rc;

	fab_faults_candidates(sets->always->f, kind, sets->always, &sets->candidates);
	if (sets->is_exhaustive)
		sets->n = fab_faults_combinations(sets->candidates.of.n, sets->k);
	if (sets->candidates.of.n >= sets->k)
		return 0;
	rc = fab_fail(err, EINVAL, "%u faults are asked for, of %zu %s", sets->k,
		      sets->candidates.of.n, fab_fault_kind_choices.names[kind]);
	fab_fault_sets_fini(sets);
	return rc;
}

void fab_fault_sets_fini(struct fab_fault_sets *sets)
{
	free(sets->candidates.of.v);
	*sets = (struct fab_fault_sets){0};
}

struct fab_fault_maker *fab_fault_maker_new(const struct fab_fault_sets *sets)
{
	const struct fab_fault_list *from = &sets->candidates;
	struct fab_fault_maker *m = FAB_NEW0(1, struct fab_fault_maker);

	m->sets = sets;
	m->faults = fab_faults_new(sets->always->f);
	m->pick = FAB_NEW(sets->k + 1, size_t);
	for (size_t i = 0; i < from->of.n; i++)
		FAB_PUSH(&m->list.of, from->of.v[i]);
	return m;
}

void fab_fault_maker_free(struct fab_fault_maker *m)
{
	fab_faults_free(m->faults);
	FAB_FREE_ALL(m->list.of.v, m->pick, m);
}

void fab_fault_maker_make(struct fab_fault_maker *m, uint64_t number)
{
	const struct fab_fault_sets *sets = m->sets;
	struct fab_stream stream = fab_stream_of(sets->seed, number);

	fab_faults_clear(m->faults);
	for (size_t i = 0; i < sets->always->named.n; i++)
		fab_faults_kill(m->faults, sets->always->named.v[i]);
	if (!sets->is_exhaustive) {
		fab_faults_draw(m->faults, &m->list, sets->k, &stream);
		return;
	}
	fab_faults_combination(number, sets->k, m->list.of.n, m->pick);
	for (size_t i = 0; i < sets->k; i++)
		fab_faults_kill(m->faults, m->list.of.v[m->pick[i]]);
}

static bool node_is_left(const struct fab_fabric *f, const struct fab_faults *faults,
			 uint32_t node)
{
	bool had_cable = false;

	if (fab_node_is_switch(f, node))
		return fab_switch_is_live(faults, node);
	FAB_EACH_PORT(f, node, p) {
		if (f->port_cable[p] == FAB_NONE)
			continue;
		if (fab_cable_is_live(faults, f->port_cable[p]))
			return true;
		had_cable = true;
	}
	return !had_cable;
}

/* Does a switch keep a cable? What only joins adapters is no fabric. */
static bool has_cable_left(const struct fab_fabric *f, const struct fab_faults *faults)
{
	for (uint32_t c = 0; c < f->n_cables; c++)
		if (fab_cable_is_live(faults, c) &&
		    fab_node_is_switch(f, f->port_node[f->cable_a[c]]))
			return true;
	return false;
}

int fab_fabric_without(const struct fab_fabric *f, const struct fab_faults *faults,
		       struct fab_fabric **out, struct fab_err *err)
{
	struct fab_builder *b;
	FAB_AUTOFREE uint32_t *id = NULL;

	if (!has_cable_left(f, faults))
		return fab_fail(err, EINVAL, "%s: no switch has a cable left", f->source);
	b = fab_builder_new();
	id = FAB_NEW(f->n_nodes, uint32_t);
	for (uint32_t i = 0; i < f->n_nodes; i++)
		id[i] = node_is_left(f, faults, i) ? fab_builder_copy_node(b, f, i)
						   : FAB_NONE;
	for (uint32_t c = 0; c < f->n_cables; c++) {
		uint32_t x = f->cable_a[c], y = f->cable_b[c];

		if (!fab_cable_is_live(faults, c) || id[f->port_node[x]] == FAB_NONE ||
		    id[f->port_node[y]] == FAB_NONE)
			continue;
		fab_builder_copy_cable(b, f, c, id);
	}
	return fab_builder_finish(b, f->source, f->format, NULL, out, err);
}
