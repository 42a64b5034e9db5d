/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/reader.h"

#include "base/map.h"

#include <errno.h>

void fab_foreign_add(struct fab_foreign *foreign, uint64_t line)
{
	if (!foreign->n++)
		foreign->first = line;
}

void fab_foreign_warn(const struct fab_foreign *foreign, struct fab_builder *b)
{
	if (foreign->n)
		fab_builder_warn(b, "foreign-line", foreign->first,
				 "%llu lines are no part of the fabric and were skipped, "
				 "line %llu is the first",
				 (unsigned long long)foreign->n,
				 (unsigned long long)foreign->first);
}

int fab_cut_off(const char *name, const struct fab_lines *lines,
		const struct fab_span *line, struct fab_err *err)
{
	return fab_fail(err, EINVAL,
			"%s:%llu: the input ends within a record at \"%.*s\", expected a "
			"whole line",
			name, (unsigned long long)lines->line, fab_shown(line), line->p);
}

bool fab_node_table_get(struct fab_node_table *table, const struct fab_node_spec *spec,
			uint32_t *node)
{
	uint32_t n = fab_builder_n_nodes(table->b);
	uint32_t known = fab_map64_put(table->node_of, spec->guid, n);

	if (known == n)
		fab_builder_add_node(table->b, spec);
	else if (fab_builder_node(table->b, known)->kind != spec->kind)
		return false;
	*node = known;
	return true;
}
