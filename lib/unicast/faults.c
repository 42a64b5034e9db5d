/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/faults.h"

#include "fabric/graph.h"
#include "fabric/ranks.h"

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
	free(faults->switch_is_dead);
	free(faults->cable_is_dead);
	free(faults->arc_is_dead);
	free(faults->named.v);
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

/* One cable, seen from both ends. */
static void set_arc(struct fab_faults *faults, uint32_t arc, bool is_dead)
{
	const struct fab_fabric *f = faults->f;

	faults->arc_is_dead[arc] = is_dead;
	faults->arc_is_dead[f->arc_first[f->arc_peer[arc]] + f->arc_reverse[arc]] =
		is_dead;
}

static void set_switch(struct fab_faults *faults, uint32_t sw, bool is_dead)
{
	const struct fab_fabric *f = faults->f;

	faults->switch_is_dead[sw] = is_dead;
	for (uint32_t p = f->node_first_port[sw]; p < f->node_first_port[sw + 1]; p++)
		if (f->port_cable[p] != FAB_NONE)
			faults->cable_is_dead[f->port_cable[p]] = is_dead;
	for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++)
		set_arc(faults, a, is_dead);
}

static void set_cable(struct fab_faults *faults, uint32_t cable, bool is_dead)
{
	const struct fab_fabric *f = faults->f;
	uint32_t sw = f->port_node[f->cable_a[cable]];

	faults->cable_is_dead[cable] = is_dead;
	if (cable >= f->n_switch_links)
		return;
	for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++)
		if (f->arc_cable[a] == cable)
			set_arc(faults, a, is_dead);
}

void fab_faults_clear(struct fab_faults *faults)
{
	for (size_t i = 0; i < faults->named.n; i++) {
		struct fab_fault fault = faults->named.v[i];

		if (fault.is_cable)
			set_cable(faults, fault.id, false);
		else
			set_switch(faults, fault.id, false);
	}
	faults->named.n = 0;
}

void fab_faults_kill_switch(struct fab_faults *faults, uint32_t sw)
{
	struct fab_fault fault = {.is_cable = false, .id = sw};

	if (faults->switch_is_dead[sw])
		return;
	set_switch(faults, sw, true);
	FAB_PUSH(&faults->named, fault);
}

void fab_faults_kill_cable(struct fab_faults *faults, uint32_t cable)
{
	struct fab_fault fault = {.is_cable = true, .id = cable};

	if (faults->cable_is_dead[cable])
		return;
	set_cable(faults, cable, true);
	FAB_PUSH(&faults->named, fault);
}

void fab_faults_kill(struct fab_faults *faults, struct fab_fault fault)
{
	if (fault.is_cable)
		fab_faults_kill_cable(faults, fault.id);
	else
		fab_faults_kill_switch(faults, fault.id);
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

static const char *const kind_names[] = {[FAB_FAULT_LEAVES] = "leaves",
					 [FAB_FAULT_ROOTS] = "roots",
					 [FAB_FAULT_LINKS] = "links",
					 [FAB_FAULT_ANY] = "any"};
const struct fab_choices fab_fault_kind_choices = {
	.what = "kind", .n = FAB_COUNT(kind_names), .names = kind_names};

void fab_faults_candidates(const struct fab_fabric *f, enum fab_fault_kind kind,
			   const struct fab_faults *faults, struct fab_fault_list *out)
{
	uint32_t *n_hosts = FAB_NEW(f->n_switches + 1, uint32_t);

	*out = (struct fab_fault_list){0};
	fab_ranks_count_hosts(f, n_hosts);
	for (uint32_t sw = 0; sw < f->n_switches && kind != FAB_FAULT_LINKS; sw++) {
		struct fab_fault fault = {.is_cable = false, .id = sw};

		if ((faults && faults->switch_is_dead[sw]) ||
		    (kind == FAB_FAULT_LEAVES && !n_hosts[sw]) ||
		    (kind == FAB_FAULT_ROOTS && n_hosts[sw]))
			continue;
		FAB_PUSH(&out->of, fault);
	}
	free(n_hosts);
	if (kind != FAB_FAULT_LINKS && kind != FAB_FAULT_ANY)
		return;
	for (uint32_t c = 0; c < f->n_switch_links; c++) {
		struct fab_fault fault = {.is_cable = true, .id = c};

		if (!faults || !faults->cable_is_dead[c])
			FAB_PUSH(&out->of, fault);
	}
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
	size_t *with = FAB_NEW(k + 1, size_t);

	for (size_t i = 0; i < k; i++) {
		with[i] = i + fab_stream_below(stream, candidates->of.n - i);
		swap(v, i, with[i]);
		fab_faults_kill(faults, v[i]);
	}
	for (size_t i = k; i-- > 0;)
		swap(v, i, with[i]);
	free(with);
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
		char *name = fab_fault_text(faults->f, faults->named.v[i]);

		fab_append(&text, separator, "%s", name);
		free(name);
	}
	return text;
}
