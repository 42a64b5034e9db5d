/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/bounds.h"

#include "base/mem.h"
#include "present/jsonl.h"

#include <stdlib.h>

static json_t *numbers(const uint32_t *v, uint64_t n)
{
	json_t *list = json_array();

	for (uint64_t i = 0; i < n; i++)
		json_array_append_new(list, json_integer(v[i]));
	return list;
}

static json_t *fabric_line(const struct fab_fabric *f, uint32_t *place)
{
	json_t *line = json_object(), *guids = json_array(), *cables = json_array();
	uint32_t n = 0;

	for (uint32_t s = 0; s < f->n_switches; s++)
		json_array_append_new(guids, fab_json_guid(f->node_guid[s]));
	for (uint32_t c = 0; c < f->n_switch_links; c++) {
		const uint32_t ends[] = {f->port_node[f->cable_a[c]],
					 f->port_node[f->cable_b[c]]};

		place[c] = n;
		if (ends[0] == ends[1])
			continue;
		n++;
		json_array_append_new(cables, numbers(ends, 2));
	}
	json_object_set_new(line, "switches", guids);
	json_object_set_new(line, "cables", cables);
	return line;
}

/* The switches of the set. */
static json_t *inside(const struct fab_fabric *f, const uint32_t *part)
{
	json_t *list = json_array();

	for (uint32_t s = 0; s < f->n_switches; s++)
		if (part[s] == 0)
			json_array_append_new(list, json_integer(s));
	return list;
}

/* The part of each switch, null for none. */
static json_t *parts(const struct fab_fabric *f, const uint32_t *part)
{
	json_t *list = json_array();

	for (uint32_t s = 0; s < f->n_switches; s++)
		json_array_append_new(list, part[s] == FAB_NONE ? json_null()
								: json_integer(part[s]));
	return list;
}

static json_t *turns(const struct fab_bound *b, uint32_t n_groups)
{
	json_t *list = json_array();

	for (uint32_t g = 0; g < n_groups; g++)
		json_array_append_new(list, numbers(b->turn + b->first[g],
						    b->first[g + 1] - b->first[g]));
	return list;
}

/* What each cable counts, in the order of the fabric's line. */
static json_t *weights(const struct fab_fabric *f, const uint32_t *weight)
{
	json_t *list = json_array();

	for (uint32_t c = 0; c < f->n_switch_links; c++)
		if (f->port_node[f->cable_a[c]] != f->port_node[f->cable_b[c]])
			json_array_append_new(list, json_integer(weight[c]));
	return list;
}

static json_t *bound_line(const struct fab_mcast_problem *p, const struct fab_bound *b,
			  const uint32_t *place)
{
	json_t *line = json_object();

	json_object_set_new(line, "bound", json_string(fab_bound_name(b->kind)));
	json_object_set_new(line, "value", json_integer(b->value));
	json_object_set_new(line, "holds_for",
			    json_string(fab_bound_is_low_only(b->kind) ? "minimal height"
								       : "any trees"));
	json_object_set_new(line, "complete", json_boolean(!b->is_cut_short));
	if (b->kind == FAB_BOUND_CUT)
		json_object_set_new(line, "inside", inside(p->f, b->part));
	if (b->kind == FAB_BOUND_PARTS)
		json_object_set_new(line, "parts", parts(p->f, b->part));
	if (b->kind == FAB_BOUND_WEIGHTED)
		json_object_set_new(line, "weights", weights(p->f, b->weight));
	if (b->first)
		json_object_set_new(line, "turns", turns(b, p->groups->n));
	if (b->kind == FAB_BOUND_MATCHING) {
		json_t *cables = json_array();

		for (uint32_t i = 0; i < b->n_cables; i++)
			json_array_append_new(cables, json_integer(place[b->cable[i]]));
		json_object_set_new(line, "switch", json_integer(b->sw));
		json_object_set_new(line, "groups", numbers(b->group, b->n_groups));
		json_object_set_new(line, "cables", cables);
	}
	return line;
}

int fab_export_bounds(FILE *out, const struct fab_mcast_problem *p,
		      const struct fab_bound *bounds, size_t n_bounds,
		      struct fab_err *err)
{
	const struct fab_groups *g = p->groups;
	uint32_t *place = FAB_NEW((size_t)p->f->n_switch_links + 1, uint32_t);
	int rc = fab_jsonl_write(out, fabric_line(p->f, place), err);

	for (uint32_t i = 0; i < g->n && !rc; i++) {
		json_t *line = json_object();

		json_object_set_new(line, "group", fab_json_text(fab_group_name(g, i)));
		json_object_set_new(
			line, "switches",
			numbers(g->sw + g->sw_first[i], fab_group_n_switches(g, i)));
		rc = fab_jsonl_write(out, line, err);
	}
	for (size_t i = 0; i < n_bounds && !rc; i++)
		if (bounds[i].kind != FAB_BOUND_NONE)
			rc = fab_jsonl_write(out, bound_line(p, &bounds[i], place), err);
	free(place);
	return rc;
}
