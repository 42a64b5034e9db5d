/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/reader.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "fabric/fabric.h"
#include "source/scan.h"

#include <string.h>

bool fab_take_hex(struct fab_span *s, uint64_t *out)
{
	/* 1 + the value of a digit, 0 for other characters. */
	static const uint8_t digit[256] = {
		['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,
		['6'] = 7,  ['7'] = 8,	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
		['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
		['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
	};
	const char *p = s->p, *end = fab_span_len(s) > 16 ? p + 16 : s->end;
	uint64_t value = 0;

	for (; p < end; p++) {
		uint8_t d = digit[(unsigned char)*p];

		if (!d)
			break;
		value = value << 4 | (uint64_t)(d - 1);
	}
	if (p == s->p || (p < s->end && digit[(unsigned char)*p]))
		return false;
	s->p = p;
	*out = value;
	return true;
}

bool fab_take_rate(struct fab_span *s, uint8_t *width, uint8_t *speed, bool *is_known)
{
	struct fab_span at = *s;
	uint32_t lanes = 0;
	const char *word;

	if (!FAB_TAKE(&at, "??") &&
	    !(fab_take_dec(&at, &lanes) && lanes < 256 && fab_take_char(&at, 'x')))
		return false;
	word = at.p;
	*speed = FAB_SPEED_UNKNOWN;
	*is_known = true;
	if (!FAB_TAKE(&at, "???")) {
		while (at.p < at.end &&
		       ((*at.p >= 'A' && *at.p <= 'Z') || fab_is_digit(*at.p)))
			at.p++;
		if (at.p == word)
			return false;
		for (unsigned i = FAB_SDR; i <= FAB_XDR; i++) {
			const char *name = fab_speed_name(i);

			if (*name == *word && strlen(name) == (size_t)(at.p - word) &&
			    !memcmp(name, word, (size_t)(at.p - word)))
				*speed = (uint8_t)i;
		}
		*is_known = *speed != FAB_SPEED_UNKNOWN;
	}
	*width = (uint8_t)lanes;
	*s = at;
	return true;
}

/* The description is compared as dumps have it, control characters as blanks. */
bool fab_is_aggregation_name(const char *name, size_t n)
{
	static const char text[] = FAB_AGGREGATION_NAME;
	FAB_AUTOFREE char *blanked = NULL;

	if (n < sizeof(text) - 1 || *name != *text)
		return false;
	blanked = fab_strndup(name, n);
	fab_text_blank(blanked);
	n = strlen(blanked);
	while (n && blanked[n - 1] == ' ')
		n--;
	return n == sizeof(text) - 1 && !memcmp(blanked, text, n);
}

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
		fab_builder_warn(
			b, "foreign-line", foreign->first,
			"this line and %llu more are no part of the fabric and were skipped",
			(unsigned long long)foreign->n - 1);
}

int fab_cut_off(const char *name, const struct fab_lines *lines,
		const struct fab_span *line, struct fab_err *err)
{
	return fab_fail_line(
		err, name, lines->line,
		"the input ends within a record at \"%.*s\", expected a whole line",
		fab_shown(line), line->p);
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

int fab_cable_lines_read(struct fab_builder *b, const char *name, const char *text,
			 size_t n, fab_cable_line_fn parse, const char *what,
			 struct fab_err *err)
{
	FAB_AUTO(fab_map64_free_at) struct fab_map64 *node_of = fab_map64_new(1024);
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
		else if (cable.has_peer) {
			struct fab_end end = {
				.port = cable.own.port,
				.peer_port = cable.peer.port,
				.width = cable.width,
				.speed = cable.speed,
				.line = lines.line,
			};

			if (told_node(b, node_of, &cable.own, lines.line, &end.node) &&
			    told_node(b, node_of, &cable.peer, lines.line, &end.peer))
				fab_builder_add_end(b, &end);
			else
				fab_builder_warn(
					b, "malformed-line", lines.line,
					"a GUID of this line belongs to a node of another kind");
		}
	}
	fab_foreign_warn(&foreign, b);
	return rc;
}
