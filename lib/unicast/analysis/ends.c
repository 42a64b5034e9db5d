/* SPDX-License-Identifier: BSD-2-Clause */
/* Between what paths are analysed. */
#include "unicast/analysis/impl.h"

#include "base/order.h"
#include "unicast/faults.h"
#include "unicast/routes.h"

#include <stdlib.h>
#include <string.h>

uint32_t fab_analysis_end_switch(const struct fab_analyser *j, uint32_t port)
{
	const struct fab_fabric *f = j->r->f;
	enum fab_ends ends = j->options->ends;
	uint32_t node = f->port_node[port];

	if (fab_node_is_switch(f, node)
		    ? ends != FAB_ENDS_ALL || f->port_num[port]
		    : ends == FAB_ENDS_HOSTS && f->node_kind[node] != FAB_ADAPTER)
		return FAB_NONE;
	return fab_faults_port_switch(f, j->r->faults, port);
}

/*
 * [n_ports] switch of each end, FAB_NONE for other ports. Of leaf switches: ports 0 of
 * those that the tables name, else of all with hosts that are alive.
 */
static uint32_t *find_ends(struct fab_analyser *j)
{
	const struct fab_routes *r = j->r;
	const struct fab_fabric *f = r->f;
	const struct fab_analysis_options hosts = {.ends = FAB_ENDS_HOSTS};
	bool of_leaves = j->options->ends == FAB_ENDS_LEAVES;
	const struct fab_analyser of = {.r = r,
					.options = of_leaves ? &hosts : j->options};
	uint32_t *at = fab_arena_none(&j->arena, (size_t)f->n_ports + 1);

	for (uint32_t i = 0; of_leaves && r->leaf && i < r->n_leaves; i++)
		at[f->node_first_port[r->leaf[i]]] = r->leaf[i];
	for (uint32_t p = 0; (!of_leaves || !r->leaf) && p < f->n_ports; p++) {
		uint32_t sw = fab_analysis_end_switch(&of, p);

		if (sw != FAB_NONE)
			at[of_leaves ? f->node_first_port[sw] : p] = sw;
	}
	return at;
}

FAB_ORDER(by_root, struct fab_target, root, column)

/* Add a target, or count it with one whose packets take the same path: by row
 * ([n_rows] of `by_row`, FAB_NONE at first; NULL: never). */
static void add_target(struct fab_analyser *j, uint32_t root, uint32_t column,
		       uint32_t weight, uint32_t *by_row)
{
	const struct fab_routes *r = j->r;
	uint32_t *at =
		by_row && r->column_row && !r->sl ? &by_row[r->column_row[column]] : NULL;

	if (at && *at != FAB_NONE) {
		j->targets.v[*at].weight += weight;
		return;
	}
	if (at)
		*at = (uint32_t)j->targets.n;
	FAB_PUSH(&j->targets, ((struct fab_target){root, column, weight, FAB_NONE}));
}

/* Leaf switches of an engine's tables by LID: all hosts behind one are looked at, the
 * first of them is what counts; a leaf without hosts is its own. */
static void targets_by_leaf(struct fab_analyser *j, uint32_t *by_row)
{
	const struct fab_routes *r = j->r;
	bool *is_met = FAB_ARENA_NEW0(&j->arena, (size_t)j->n_switches + 1, bool);

	for (int of_hosts = 1; of_hosts >= 0; of_hosts--)
		for (uint32_t c = 0; c < r->n_columns; c++) {
			uint32_t sw = r->column_switch[c];
			uint32_t node = r->f->port_node[r->column_port[c]];

			if (!j->weight[sw] ||
			    (of_hosts ? r->f->node_kind[node] != FAB_ADAPTER
				      : is_met[sw] || node != sw))
				continue;
			add_target(j, sw, c, !is_met[sw], by_row);
			is_met[sw] = true;
		}
	j->has_followers = true;
}

/* LIDs of ends by the column that leads there, and those without one by switch. */
static void targets_of_lids(struct fab_analyser *j, const struct fab_columns *columns,
			    const uint32_t *end)
{
	const struct fab_routes *r = j->r;
	uint32_t *n_lids = FAB_ARENA_NEW0(&j->arena, (size_t)r->n_columns + 1, uint32_t);
	uint32_t *without =
		FAB_ARENA_NEW0(&j->arena, (size_t)j->n_switches + 1, uint32_t);

	for (uint32_t p = 0; p < r->f->n_ports; p++)
		for (uint32_t i = 0; end[p] != FAB_NONE && i < fab_port_n_lids(r->f, p);
		     i++) {
			uint32_t column = fab_columns_of(columns, p, i);

			++*(column == FAB_NONE ? &without[end[p]] : &n_lids[column]);
		}
	for (uint32_t c = 0; c < r->n_columns; c++)
		if (n_lids[c])
			add_target(j, r->column_switch[c], c, n_lids[c], NULL);
	for (uint32_t s = 0; s < j->n_switches; s++)
		if (without[s])
			add_target(j, s, FAB_NONE, without[s], NULL);
}

/* Ends of each switch by row of service levels: a group for those that send as the switch
 * does, one for each port that has a row of its own. */
static void group_ends(struct fab_analyser *j, const uint32_t *end)
{
	const struct fab_routes *r = j->r;
	const struct fab_fabric *f = r->f;
	uint32_t n = 0;
	FAB_AUTOFREE uint32_t *row_of = fab_routes_sl_rows(r);
	uint32_t *own = FAB_ARENA_NEW(&j->arena, (size_t)j->n_switches + 1, uint32_t);
	uint32_t *at = FAB_ARENA_NEW(&j->arena, (size_t)j->n_switches + 1, uint32_t);
	uint32_t *group_of = fab_arena_none(&j->arena, (size_t)f->n_ports + 1);
	bool *is_apart = FAB_ARENA_NEW0(&j->arena, (size_t)f->n_ports + 1, bool);

	memcpy(own, j->weight, j->n_switches * sizeof(*own));
	for (uint32_t p = 0; end && p < f->n_ports; p++) {
		uint32_t node = f->port_node[p];

		is_apart[p] = end[p] != FAB_NONE && node >= j->n_switches &&
			      row_of[node] != FAB_NONE;
		if (is_apart[p])
			own[end[p]]--;
	}
	for (uint32_t s = 0; s < j->n_switches; s++) {
		j->group_first[s] = at[s] = n;
		n += j->weight[s] - own[s] + (own[s] != 0);
	}
	j->group_first[j->n_switches] = j->n_groups = n;
	j->group_row = FAB_ARENA_NEW(&j->arena, (size_t)n + 1, uint32_t);
	j->group_size = FAB_ARENA_NEW(&j->arena, (size_t)n + 1, uint32_t);
	j->group_switch = FAB_ARENA_NEW(&j->arena, (size_t)n + 1, uint32_t);
	for (uint32_t s = 0; s < j->n_switches; s++) {
		for (uint32_t g = j->group_first[s]; g < j->group_first[s + 1]; g++)
			j->group_switch[g] = s;
		if (!own[s])
			continue;
		j->group_row[at[s]] = row_of[s];
		j->group_size[at[s]++] = own[s];
	}
	for (uint32_t p = 0; end && p < f->n_ports; p++)
		if (is_apart[p]) {
			j->group_row[at[end[p]]] = row_of[f->port_node[p]];
			group_of[p] = at[end[p]];
			j->group_size[at[end[p]]++] = 1;
		} else if (end[p] != FAB_NONE && own[end[p]] == 1) {
			group_of[p] = j->group_first[end[p]];
		}
	for (size_t i = 0; r->column_port && i < j->targets.n; i++)
		if (j->targets.v[i].column != FAB_NONE)
			j->targets.v[i].alone =
				group_of[r->column_port[j->targets.v[i].column]];
}

void fab_analysis_find_targets(struct fab_analyser *j)
{
	const struct fab_routes *r = j->r;
	bool of_leaves = j->options->ends == FAB_ENDS_LEAVES;
	uint32_t *end = NULL, *by_row;
	struct fab_columns columns;

	j->weight = FAB_ARENA_NEW0(&j->arena, (size_t)j->n_switches + 1, uint32_t);
	j->group_first = FAB_ARENA_NEW(&j->arena, (size_t)j->n_switches + 1, uint32_t);
	by_row = fab_arena_none(&j->arena, (size_t)r->n_rows + 1);
	fab_columns_init(&columns, r);
	if (r->column_lid || !of_leaves)
		end = find_ends(j);
	for (uint32_t p = 0; end && p < r->f->n_ports; p++)
		if (end[p] != FAB_NONE)
			j->weight[end[p]]++;
	if (r->column_lid && of_leaves && r->leaf) {
		targets_by_leaf(j, by_row);
	} else if (r->column_lid) {
		uint32_t *n_columns =
			FAB_ARENA_NEW0(&j->arena, (size_t)r->f->n_ports + 1, uint32_t);

		for (uint32_t c = 0; c < r->n_columns; c++) {
			if (end[r->column_port[c]] == FAB_NONE)
				continue;
			n_columns[r->column_port[c]]++;
			add_target(j, r->column_switch[c], c, 1, by_row);
		}
		for (uint32_t p = 0; p < r->f->n_ports; p++) {
			uint32_t n = fab_port_n_lids(r->f, p);

			if (end[p] != FAB_NONE && n_columns[p] < n)
				add_target(j, end[p], FAB_NONE, n - n_columns[p], NULL);
		}
	} else if (end) {
		targets_of_lids(j, &columns, end);
	} else {
		const uint32_t *leaf = r->leaf ? r->leaf : r->column_switch;

		/* Leaf switches as the tables name them, else those of the columns; of
		 * several alternatives the first is what counts. */
		for (uint32_t i = 0; i < (r->leaf ? r->n_leaves : r->n_columns); i++)
			j->weight[leaf[i]] = fab_switch_is_live(r->faults, leaf[i]);
		for (uint32_t s = 0; s < j->n_switches; s++) {
			uint32_t n = r->n_alternatives ? r->n_alternatives[s] : 1;
			uint32_t first = columns.first[s];

			for (uint32_t i = 0; j->weight[s] && i < (n ? n : 1); i++)
				add_target(j, s, first == FAB_NONE ? first : first + i,
					   !i, NULL);
			j->has_followers |= j->weight[s] && n > 1;
		}
	}
	fab_columns_fini(&columns);
	for (uint32_t s = 0; s < j->n_switches; s++)
		j->n_ends += j->weight[s];
	/* Planes are networks of their own; other parts ought to be joined, and count. */
	j->own_planes = j->options->planes ? NULL : fab_planes_new(r->f);
	j->planes = j->own_planes ? j->own_planes : j->options->planes;
	j->plane_ends = FAB_ARENA_NEW0(&j->arena, j->planes->n, uint64_t);
	for (uint32_t s = 0; s < j->n_switches; s++) {
		uint32_t part = j->planes->of_switch[s];

		if (!j->planes->v[part].is_plane)
			continue;
		j->plane_ends[part] += j->weight[s];
		j->n_on_planes += j->weight[s];
	}
	FAB_SORT(&j->targets, by_root);
	group_ends(j, end);
	j->end = end;
}

void fab_analyser_fini(struct fab_analyser *j)
{
	free(j->targets.v);
	fab_planes_free(j->own_planes);
	fab_arena_free(&j->arena);
}
