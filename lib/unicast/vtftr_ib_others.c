/* SPDX-License-Identifier: BSD-2-Clause */
/* The paths of a column that are not plain: few, and looked at many times. */
#include "unicast/vtftr_ib.h"

#include <stdlib.h>
#include <string.h>

static void push(struct vtftr_ib_others *o, uint32_t source, uint8_t kind)
{
	if (kind != FAB_PATH_PHASED && kind != FAB_PATH_LEFT)
		return;
	if (!(o->n & (o->n - 1))) { /* full: a power of two */
		size_t room = o->n ? 2 * (size_t)o->n : 1;

		o->source = fab_realloc(o->source, room, sizeof(*o->source));
		o->kind = fab_realloc(o->kind, room, sizeof(*o->kind));
	}
	o->source[o->n] = source;
	o->kind[o->n++] = kind;
}

/* Eight leaves at once that are plain: nothing to note. */
static bool are_plain(const uint8_t *path)
{
	uint64_t eight;

	memcpy(&eight, path, sizeof(eight));
	return eight == 0x0101010101010101 * (uint64_t)FAB_PATH_PLAIN;
}

static void note_by_leaf(const struct vtftr_ib *v, const uint8_t *path,
			 struct vtftr_ib_others *o)
{
	uint32_t n = v->problem->kfat->n_leaves;

	for (uint32_t leaf = 0; leaf < n;) {
		if (leaf + 8 <= n && are_plain(path + leaf)) {
			leaf += 8;
			continue;
		}
		if (v->source_of[leaf] != FAB_NONE)
			push(o, v->source_of[leaf], path[leaf]);
		leaf++;
	}
}

void vtftr_ib_note_others(struct vtftr_ib *v, uint32_t column)
{
	struct vtftr_ib_others *o = &v->others[column];
	const uint8_t *path = v->path[column];

	o->n = 0;
	if (path && v->is_ascending)
		note_by_leaf(v, path, o);
	for (uint32_t s = 0; path && !v->is_ascending && s < v->routes->n_leaves; s++)
		push(o, s, path[v->source_leaf[s]]);
}

void vtftr_ib_free_others(struct vtftr_ib *v)
{
	for (uint32_t i = 0; i < v->routes->n_columns; i++) {
		free(v->others[i].source);
		free(v->others[i].kind);
	}
	free(v->others);
}
