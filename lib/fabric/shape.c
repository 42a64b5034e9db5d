/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/shape.h"

#include "base/mem.h"
#include "fabric/ranks.h"
#include "fabric/shape_impl.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fab_shape *fab_shape_recognize(const struct fab_fabric *f)
{
	struct fab_shape *shape = FAB_NEW0(1, struct fab_shape);
	uint32_t *hosts = FAB_NEW(f->n_switches, uint32_t);

	fab_ranks_count_all_hosts(f, hosts);
	shape->n_switches = f->n_switches;
	if (!fab_shape_try_kfat(f, hosts, shape) &&
	    !fab_shape_try_tree(f, hosts, shape) && !fab_shape_try_grid(f, shape))
		fab_shape_try_dragonfly(f, shape);
	free(hosts);
	return shape;
}

void fab_shape_free(struct fab_shape *shape)
{
	if (!shape)
		return;
	free(shape->level);
	free(shape->is_root);
	free(shape->coords);
	free(shape->group);
	free(shape);
}

const char *fab_shape_name(enum fab_shape_kind kind)
{
	static const char *const names[] = {
		[FAB_SHAPE_NONE] = NULL,
		[FAB_SHAPE_FATTREE] = "fattree",
		[FAB_SHAPE_KFAT] = "kfat",
		[FAB_SHAPE_TORUS] = "torus",
		[FAB_SHAPE_MESH] = "mesh",
		[FAB_SHAPE_HYPERX] = "hyperx",
		[FAB_SHAPE_DRAGONFLY] = "dragonfly",
	};

	return names[kind];
}

/* Append formatted text as far as there is room. */
static void append(char *out, size_t size, const char *format, ...) FAB_PRINTF(3, 4);
static void append(char *out, size_t size, const char *format, ...)
{
	size_t at = strlen(out);
	va_list ap;

	va_start(ap, format);
	vsnprintf(out + at, size - at, format, ap);
	va_end(ap);
}

char *fab_shape_text(const struct fab_shape *shape, char *out, size_t size)
{
	const char *name = fab_shape_name(shape->kind);

	if (!size)
		return out;
	out[0] = '\0';
	append(out, size, "%s", name ? name : "none");
	if (shape->kind == FAB_SHAPE_FATTREE)
		append(out, size, " levels=%" PRIu32 " roots=%" PRIu32, shape->n_levels,
		       shape->n_roots);
	for (uint32_t d = 0; d < shape->n_dims; d++)
		append(out, size, "%s%" PRIu32, d ? "x" : " ", shape->dims[d]);
	if (shape->kind == FAB_SHAPE_KFAT && shape->n_levels > 2)
		append(out, size, " levels=%" PRIu32, shape->n_levels - 1);
	if (shape->kind == FAB_SHAPE_KFAT && shape->n_planes > 1)
		append(out, size, " planes=%" PRIu32, shape->n_planes);
	if (shape->kind == FAB_SHAPE_DRAGONFLY)
		append(out, size, " groups=%" PRIu32 " a=%" PRIu32, shape->n_groups,
		       shape->group_size);
	return out;
}
