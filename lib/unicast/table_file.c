/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/table_file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

enum { MAX_SHOWN = 60 };

void fab_table_file_init(struct fab_table_file *file, const struct fab_fabric *f,
			 const char *name, const char *text, size_t len,
			 struct fab_err *err)
{
	*file = (struct fab_table_file){.name = name,
					.lines = {.at = text, .end = text + len},
					.nodes = fab_guids_new(f, f->n_nodes),
					.err = err};
}

void fab_table_file_fini(struct fab_table_file *file)
{
	fab_map64_free(file->nodes);
}

int fab_table_file_fail(const struct fab_table_file *file, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return fab_fail(file->err, EINVAL, "%s:%llu: %s", file->name,
			(unsigned long long)file->lines.line, text);
}

int fab_table_file_node(const struct fab_table_file *file, uint64_t guid, uint32_t *node)
{
	*node = fab_map64_get(file->nodes, guid);
	if (*node != FAB_SHARED)
		return 0;
	return fab_table_file_fail(file,
				   "the fabric has two nodes 0x%016llx: it is ambiguous",
				   (unsigned long long)guid);
}

int fab_table_file_expected(const struct fab_table_file *file, const char *expected)
{
	size_t len = fab_span_len(&file->line);

	return fab_table_file_fail(file, "expected %s, found \"%.*s\"", expected,
				   (int)(len < MAX_SHOWN ? len : MAX_SHOWN),
				   file->line.p);
}

int fab_table_file_read(struct fab_table_file *file, int (*read)(void *context),
			void *context)
{
	int rc = 0;

	while (!rc && fab_lines_next(&file->lines, &file->line)) {
		if (file->line.p == file->line.end || *file->line.p == '#')
			continue;
		rc = file->lines.is_open
			     ? fab_table_file_fail(file, "the input ends within the line")
			     : read(context);
	}
	return rc;
}

static bool is_at_end(const struct fab_span *s)
{
	return s->p == s->end || fab_is_blank(*s->p);
}

bool fab_table_take_hex(struct fab_span *s, uint64_t *out)
{
	fab_skip_blanks(s);
	return FAB_TAKE(s, "0x") && fab_take_hex(s, out) && is_at_end(s);
}

bool fab_table_take_dec(struct fab_span *s, uint32_t *out)
{
	fab_skip_blanks(s);
	return fab_take_dec(s, out) && is_at_end(s);
}

bool fab_table_has_port(const struct fab_fabric *f, uint32_t sw, uint32_t num)
{
	return num <= f->node_n_ports[sw] || fab_port_find(f, sw, num) != FAB_NONE;
}

uint16_t *fab_table_arcs(const struct fab_fabric *f)
{
	uint16_t *arc = FAB_NEW((size_t)f->n_ports + 1, uint16_t);

	for (uint32_t p = 0; p < f->n_ports; p++)
		arc[p] = FAB_ARC_NONE;
	for (uint32_t s = 0; s < f->n_switches; s++)
		FAB_EACH_ARC(f, s, a)
			arc[fab_arc_port(f, s, a)] = (uint16_t)(a - f->arc_first[s]);
	return arc;
}
