/* SPDX-License-Identifier: BSD-2-Clause */
/* Between what paths are analysed. */
#include "unicast/analysis/impl.h"

#include "unicast/routes.h"

#include <stdlib.h>
#include <string.h>

uint32_t fab_analysis_end_switch(const struct fab_analyser *j, uint32_t port)
{
	const struct fab_fabric *f = j->r->f;
	const struct fab_faults *faults = j->r->faults;
	enum fab_ends ends = j->options->ends;
	uint32_t node = f->port_node[port], sw;

	if (fab_node_is_switch(f, node)) {
		if (ends != FAB_ENDS_ALL || f->port_num[port])
			return FAB_NONE;
		return faults && faults->switch_is_dead[node] ? FAB_NONE : node;
	}
	if (f->node_kind[node] != FAB_ADAPTER && ends == FAB_ENDS_HOSTS)
		return FAB_NONE;
	sw = fab_port_switch(f, port);
	if (sw == FAB_NONE || (faults && (faults->switch_is_dead[sw] ||
					  faults->cable_is_dead[f->port_cable[port]])))
		return FAB_NONE;
	return sw;
}

/* Ports 0 of the leaf switches, of tables by LID: those that an engine names, else all
 * with hosts that are alive. */
static uint32_t *leaf_ports(const struct fab_analyser *j)
{
	const struct fab_fabric *f = j->r->f;
	const struct fab_analysis_options hosts = {.ends = FAB_ENDS_HOSTS};
	const struct fab_analyser of_hosts = {.r = j->r, .options = &hosts};
	uint32_t *at = FAB_NEW((size_t)f->n_ports + 1, uint32_t);

	memset(at, 0xff, ((size_t)f->n_ports + 1) * sizeof(*at));
	for (uint32_t i = 0; j->r->leaf && i < j->r->n_leaves; i++)
		at[f->node_first_port[j->r->leaf[i]]] = j->r->leaf[i];
	for (uint32_t p = 0; !j->r->leaf && p < f->n_ports; p++) {
		uint32_t sw = fab_analysis_end_switch(&of_hosts, p);

		if (sw != FAB_NONE)
			at[f->node_first_port[sw]] = sw;
	}
	return at;
}

/* [n_ports] switch of each end, FAB_NONE for other ports. The caller frees. */
static uint32_t *find_ends(const struct fab_analyser *j)
{
	const struct fab_fabric *f = j->r->f;
	uint32_t *at;

	if (j->options->ends == FAB_ENDS_LEAVES)
		return leaf_ports(j);
	at = FAB_NEW((size_t)f->n_ports + 1, uint32_t);
	for (uint32_t p = 0; p < f->n_ports; p++)
		at[p] = fab_analysis_end_switch(j, p);
	return at;
}

static int by_root(const void *x, const void *y)
{
	const struct fab_target *a = x, *b = y;

	if (a->root != b->root)
		return a->root < b->root ? -1 : 1;
	return (a->column > b->column) - (a->column < b->column);
}

/* Add a target, or count it with one whose packets take the same path: by row. */
static void add_target(struct fab_analyser *j, uint32_t column, uint32_t weight,
		       uint32_t *by_row)
{
	const struct fab_routes *r = j->r;
	uint32_t *at = r->column_row && !r->sl ? &by_row[r->column_row[column]] : NULL;

	if (at && *at != FAB_NONE) {
		j->targets.v[*at].weight += weight;
		return;
	}
	if (at)
		*at = (uint32_t)j->targets.n;
	FAB_PUSH(&j->targets, ((struct fab_target){r->column_switch[column], column,
						   weight, FAB_NONE}));
}

/* [n_rows] FAB_NONE. The caller frees. */
static uint32_t *new_by_row(const struct fab_routes *r)
{
	uint32_t *by_row = FAB_NEW((size_t)r->n_rows + 1, uint32_t);

	memset(by_row, 0xff, ((size_t)r->n_rows + 1) * sizeof(*by_row));
	return by_row;
}

/* Leaf switches of an engine's tables by LID: all hosts behind one are looked at, the
 * first of them is what counts; a leaf without hosts is its own. */
static void targets_by_leaf(struct fab_analyser *j)
{
	const struct fab_routes *r = j->r;
	uint32_t *first = FAB_ARENA_NEW(&j->arena, (size_t)j->n_switches + 1, uint32_t);
	uint32_t *by_row = new_by_row(r);

	memset(first, 0xff, ((size_t)j->n_switches + 1) * sizeof(*first));
	for (uint32_t c = 0; c < r->n_columns; c++) {
		uint32_t sw = r->column_switch[c],
			 node = r->f->port_node[r->column_port[c]];

		if (!j->weight[sw] || r->f->node_kind[node] != FAB_ADAPTER)
			continue;
		add_target(j, c, first[sw] == FAB_NONE, by_row);
		first[sw] = c;
	}
	for (uint32_t c = 0; c < r->n_columns; c++) {
		uint32_t sw = r->column_switch[c];

		if (!j->weight[sw] || first[sw] != FAB_NONE ||
		    r->f->port_node[r->column_port[c]] != sw)
			continue;
		add_target(j, c, 1, by_row);
		first[sw] = c;
	}
	free(by_row);
	j->has_followers = true;
}

/* Alternatives that lead to a leaf switch: the first is what counts. */
static void targets_of_leaf(struct fab_analyser *j, uint32_t sw, uint32_t first)
{
	const struct fab_routes *r = j->r;
	uint32_t n = r->n_alternatives ? r->n_alternatives[sw] : 1;

	for (uint32_t i = 0; i < (n ? n : 1); i++)
		FAB_PUSH(&j->targets,
			 ((struct fab_target){sw, first == FAB_NONE ? first : first + i,
					      !i, FAB_NONE}));
	j->has_followers |= n > 1;
}

/* How many LIDs of ends lead to each column, and to each switch without one. */
static void count_lids(const struct fab_analyser *j, const struct fab_columns *columns,
		       const uint32_t *end, uint32_t *n_lids, uint32_t *without)
{
	for (uint32_t p = 0; p < j->r->f->n_ports; p++) {
		uint32_t n = fab_port_n_lids(j->r->f, p);

		for (uint32_t i = 0; end[p] != FAB_NONE && i < n; i++) {
			uint32_t column = fab_columns_of(columns, p, i);

			if (column == FAB_NONE)
				without[end[p]]++;
			else
				n_lids[column]++;
		}
	}
}

static void targets_of_lids(struct fab_analyser *j, const struct fab_columns *columns,
			    const uint32_t *end)
{
	const struct fab_routes *r = j->r;
	uint32_t *n_lids = FAB_ARENA_NEW0(&j->arena, (size_t)r->n_columns + 1, uint32_t);
	uint32_t *without =
		FAB_ARENA_NEW0(&j->arena, (size_t)j->n_switches + 1, uint32_t);

	count_lids(j, columns, end, n_lids, without);
	for (uint32_t c = 0; c < r->n_columns; c++)
		if (n_lids[c])
			FAB_PUSH(&j->targets, ((struct fab_target){r->column_switch[c], c,
								   n_lids[c], FAB_NONE}));
	for (uint32_t s = 0; s < j->n_switches; s++)
		if (without[s])
			FAB_PUSH(
				&j->targets,
				((struct fab_target){s, FAB_NONE, without[s], FAB_NONE}));
}

/* Does a port send otherwise than its switch says? */
static bool sends_otherwise(const struct fab_analyser *j, const uint32_t *end,
			    const uint32_t *row_of, uint32_t port)
{
	uint32_t node = j->r->f->port_node[port];

	return end[port] != FAB_NONE && node >= j->n_switches && row_of[node] != FAB_NONE;
}

/* Ends of each switch by row of service levels: a group for those that send as the switch
 * does, one for each other port. */
static void group_ends(struct fab_analyser *j, const uint32_t *end)
{
	const struct fab_routes *r = j->r;
	uint32_t *row_of = FAB_ARENA_NEW(&j->arena, (size_t)r->f->n_nodes + 1, uint32_t);
	uint32_t *own = FAB_ARENA_NEW(&j->arena, (size_t)j->n_switches + 1, uint32_t);
	uint32_t *at = FAB_ARENA_NEW(&j->arena, (size_t)j->n_switches + 1, uint32_t);
	uint32_t *group_of =
		FAB_ARENA_NEW(&j->arena, (size_t)r->f->n_ports + 1, uint32_t);
	uint32_t *n_groups, n = 0;

	memset(group_of, 0xff, ((size_t)r->f->n_ports + 1) * sizeof(*group_of));
	memset(row_of, 0xff, ((size_t)r->f->n_nodes + 1) * sizeof(*row_of));
	for (uint32_t i = 0; r->sl && i < r->n_sl_sources; i++)
		row_of[r->sl_source[i]] = i;
	/* Number of ends that use the row of their switch, and begins of groups. */
	n_groups = FAB_ARENA_NEW0(&j->arena, (size_t)j->n_switches + 1, uint32_t);
	memcpy(own, j->weight, j->n_switches * sizeof(*own));
	for (uint32_t p = 0; end && p < j->r->f->n_ports; p++)
		if (sends_otherwise(j, end, row_of, p)) {
			n_groups[end[p]]++;
			own[end[p]]--;
		}
	for (uint32_t s = 0; s < j->n_switches; s++) {
		j->group_first[s] = n;
		n += n_groups[s] + (own[s] != 0);
	}
	j->group_first[j->n_switches] = j->n_groups = n;
	j->group_row = FAB_ARENA_NEW(&j->arena, (size_t)j->n_groups + 1, uint32_t);
	j->group_size = FAB_ARENA_NEW(&j->arena, (size_t)j->n_groups + 1, uint32_t);
	j->group_switch = FAB_ARENA_NEW(&j->arena, (size_t)j->n_groups + 1, uint32_t);
	for (uint32_t s = 0; s < j->n_switches; s++)
		for (uint32_t g = j->group_first[s]; g < j->group_first[s + 1]; g++)
			j->group_switch[g] = s;
	memcpy(at, j->group_first, j->n_switches * sizeof(*at));
	for (uint32_t s = 0; s < j->n_switches; s++)
		if (own[s]) {
			j->group_row[at[s]] = row_of[s];
			j->group_size[at[s]++] = own[s];
		}
	for (uint32_t p = 0; end && p < r->f->n_ports; p++)
		if (end[p] != FAB_NONE && own[end[p]] == 1)
			group_of[p] = j->group_first[end[p]];
	for (uint32_t p = 0; end && p < r->f->n_ports; p++)
		if (sends_otherwise(j, end, row_of, p)) {
			j->group_row[at[end[p]]] = row_of[r->f->port_node[p]];
			group_of[p] = at[end[p]];
			j->group_size[at[end[p]]++] = 1;
		}
	for (size_t i = 0; r->column_port && i < j->targets.n; i++)
		if (j->targets.v[i].column != FAB_NONE)
			j->targets.v[i].alone =
				group_of[r->column_port[j->targets.v[i].column]];
}

void fab_analysis_find_targets(struct fab_analyser *j)
{
	bool by_lid = j->r->column_lid;
	uint32_t *end = NULL;

	j->weight = FAB_ARENA_NEW0(&j->arena, (size_t)j->n_switches + 1, uint32_t);
	j->group_first = FAB_ARENA_NEW(&j->arena, (size_t)j->n_switches + 1, uint32_t);
	if (by_lid || j->options->ends != FAB_ENDS_LEAVES) {
		end = find_ends(j);
		for (uint32_t p = 0; p < j->r->f->n_ports; p++)
			if (end[p] != FAB_NONE)
				j->weight[end[p]]++;
	}
	if (by_lid && j->options->ends == FAB_ENDS_LEAVES && j->r->leaf)
		targets_by_leaf(j);
	else if (by_lid) {
		const struct fab_routes *r = j->r;
		uint32_t *n_columns =
			FAB_ARENA_NEW0(&j->arena, (size_t)r->f->n_ports + 1, uint32_t);
		uint32_t *by_row = new_by_row(r);

		for (uint32_t c = 0; c < r->n_columns; c++) {
			if (end[r->column_port[c]] == FAB_NONE)
				continue;
			n_columns[r->column_port[c]]++;
			add_target(j, c, 1, by_row);
		}
		free(by_row);
		for (uint32_t p = 0; p < r->f->n_ports; p++) {
			uint32_t n = fab_port_n_lids(r->f, p);
			struct fab_target target = {end[p], FAB_NONE, 0, FAB_NONE};

			if (end[p] == FAB_NONE || n_columns[p] >= n)
				continue;
			target.weight = n - n_columns[p];
			FAB_PUSH(&j->targets, target);
		}
	} else {
		struct fab_columns columns;

		fab_columns_init(&columns, j->r);
		if (end)
			targets_of_lids(j, &columns, end);
		else {
			const struct fab_routes *r = j->r;
			const uint32_t *leaf = r->leaf ? r->leaf : r->column_switch;

			/* Leaf switches as the tables name them, else those of the
			 * columns. */
			for (uint32_t i = 0; i < (r->leaf ? r->n_leaves : r->n_columns);
			     i++)
				j->weight[leaf[i]] =
					fab_switch_is_live(r->faults, leaf[i]);
		}
		for (uint32_t s = 0; !end && s < j->n_switches; s++)
			if (j->weight[s])
				targets_of_leaf(j, s, columns.first[s]);
		fab_columns_fini(&columns);
	}
	for (uint32_t s = 0; s < j->n_switches; s++)
		j->n_ends += j->weight[s];
	/* Planes are networks of their own; other parts ought to be joined, and count. */
	j->planes = fab_planes_new(j->r->f);
	j->plane_ends = FAB_ARENA_NEW0(&j->arena, j->planes->n, uint64_t);
	for (uint32_t s = 0; s < j->n_switches; s++) {
		uint32_t part = j->planes->of_switch[s];

		if (!j->planes->v[part].is_plane)
			continue;
		j->plane_ends[part] += j->weight[s];
		j->n_on_planes += j->weight[s];
	}
	if (j->targets.n)
		qsort(j->targets.v, j->targets.n, sizeof(*j->targets.v), by_root);
	group_ends(j, end);
	j->end = end;
	fab_arena_own(&j->arena, free, end);
}
