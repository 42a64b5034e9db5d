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
	if (foreign->n == 1)
		fab_builder_warn(b, "foreign-line", foreign->first,
				 "this line is no part of the fabric and was skipped");
	else if (foreign->n)
		fab_builder_warn(b, "foreign-line", foreign->first,
				 "this line and %llu more are no part of the fabric and "
				 "were skipped",
				 (unsigned long long)foreign->n - 1);
}

int fab_cut_off(const char *name, const struct fab_lines *lines,
		const struct fab_span *line, struct fab_err *err)
{
	return fab_fail(err, EINVAL,
			"%s:%llu: the input ends within a record at \"%.*s\", expected a "
			"whole line",
			name, (unsigned long long)lines->line, fab_shown(line), line->p);
}

/* The node that an end is of, added when it is named for the first time. */
static bool told_node(struct fab_builder *b, struct fab_map64 *node_of,
		      const struct fab_told_end *end, uint64_t line, uint32_t *node)
{
	bool is_aggregation = end->kind == FAB_ADAPTER &&
			      fab_is_aggregation_name(end->name, end->name_len);
	struct fab_node_spec spec = {
		.kind = is_aggregation ? FAB_AGGREGATION : end->kind,
		.guid = end->guid,
		.sys_guid = end->sys_guid,
		.vendor = end->vendor,
		.device = end->device,
		.n_ports = end->n_ports,
		.name = end->name,
		.name_len = fab_name_cut(end->name_len),
		.line = line,
	};
	uint32_t n = fab_builder_n_nodes(b);

	*node = fab_map64_put(node_of, end->guid, n);
	if (*node == n)
		fab_builder_add_node(b, &spec);
	else if (fab_builder_node(b, *node)->kind != spec.kind)
		return false;
	fab_builder_set_port(b, *node, end->kind == FAB_SWITCH ? 0 : end->port,
			     end->port_guid, end->lid, 0);
	return true;
}

static void add_told_cable(struct fab_builder *b, struct fab_map64 *node_of,
			   const struct fab_told_cable *cable, uint64_t line)
{
	struct fab_end end = {
		.port = cable->own.port,
		.peer_port = cable->peer.port,
		.width = cable->width,
		.speed = cable->speed,
		.line = line,
	};

	if (told_node(b, node_of, &cable->own, line, &end.node) &&
	    told_node(b, node_of, &cable->peer, line, &end.peer))
		fab_builder_add_end(b, &end);
	else
		fab_builder_warn(b, "malformed-line", line,
				 "a GUID of this line belongs to a node of another kind");
}

int fab_cable_lines_read(struct fab_builder *b, const char *name, const char *text,
			 size_t n, fab_cable_line_fn parse, const char *what,
			 struct fab_err *err)
{
	struct fab_map64 *node_of = fab_map64_new(1024);
	struct fab_lines lines = {.at = text, .end = text + n};
	struct fab_foreign foreign = {0};
	struct fab_span line;
	int rc = 0;

	while (!rc && fab_lines_next(&lines, &line)) {
		struct fab_told_cable cable;
		enum fab_line_result result;

		fab_lines_tell(&lines, text);
		if (line.p == line.end || *line.p == '#')
			continue;
		result = parse(line, &cable);
		if (result == FAB_LINE_BROKEN && lines.is_open)
			rc = fab_cut_off(name, &lines, &line, err);
		else if (result == FAB_LINE_BROKEN)
			fab_builder_warn(b, "malformed-line", lines.line,
					 "no %s can be read from \"%.*s\"", what,
					 fab_shown(&line), line.p);
		else if (result == FAB_LINE_FOREIGN)
			fab_foreign_add(&foreign, lines.line);
		else if (cable.has_peer)
			add_told_cable(b, node_of, &cable, lines.line);
	}
	fab_foreign_warn(&foreign, b);
	fab_map64_free(node_of);
	return rc;
}
