/* SPDX-License-Identifier: BSD-2-Clause */
/* CA   134  1 0x7cfe... 4x EDR - SW  1719 10 0x7cfe... ( 'o0001 HCA-1' - 'leaf1' ) */
#include "source/ibnetdiscover.h"

#include "base/map.h"
#include "source/reader.h"

#include <errno.h>

struct port_end {
	enum fab_node_kind kind;
	uint32_t lid, port;
	uint64_t guid;
	const char *name;
	size_t name_len;
};

struct port_line {
	struct port_end own, peer;
	bool has_peer;
	uint8_t width, speed;
};

static bool take_end(struct fab_span *s, struct port_end *end)
{
	if (FAB_TAKE(s, "SW "))
		end->kind = FAB_SWITCH;
	else if (FAB_TAKE(s, "CA "))
		end->kind = FAB_ADAPTER;
	else if (FAB_TAKE(s, "RT "))
		end->kind = FAB_ROUTER;
	else
		return false;
	fab_skip_blanks(s);
	if (!fab_take_dec(s, &end->lid))
		return false;
	fab_skip_blanks(s);
	if (!fab_take_dec(s, &end->port) || end->port > FAB_MAX_PORT)
		return false;
	fab_skip_blanks(s);
	if (!FAB_TAKE(s, "0x") || !fab_take_hex(s, &end->guid))
		return false;
	fab_skip_blanks(s);
	return true;
}

/* "4x EDR", "4x ???": a rate with a blank in it. */
static bool take_spaced_rate(struct fab_span *s, uint8_t *width, uint8_t *speed)
{
	char joined[16];
	struct fab_span at = {joined, joined};
	size_t n = 0;
	bool is_known;

	for (int word = 0; word < 2; word++) {
		while (s->p < s->end && !fab_is_blank(*s->p) && n < sizeof(joined))
			joined[n++] = *s->p++;
		fab_skip_blanks(s);
	}
	at.end = joined + n;
	return fab_take_rate(&at, width, speed, &is_known) && at.p == at.end;
}

/* "( 'a' - 'b' )": quotes within are not escaped; the first that can part them does. */
static bool take_names(struct fab_span *s, struct port_line *out)
{
	static const char parting[] = "' - '";
	const char *close, *middle;

	if (!FAB_TAKE(s, "( '") || fab_span_len(s) < 8 || memcmp(s->end - 3, "' )", 3))
		return false;
	close = s->end - 3;
	middle = memmem(s->p, (size_t)(close - s->p), parting, sizeof(parting) - 1);
	if (!middle)
		return false;
	out->own.name = s->p;
	out->own.name_len = (size_t)(middle - s->p);
	out->peer.name = middle + sizeof(parting) - 1;
	out->peer.name_len = (size_t)(close - out->peer.name);
	return true;
}

static enum fab_line_result parse_port_line(struct fab_span line, struct port_line *out)
{
	*out = (struct port_line){.own = {.name = ""}, .peer = {.name = ""}};
	if (!FAB_BEGINS(&line, "SW ") && !FAB_BEGINS(&line, "CA ") &&
	    !FAB_BEGINS(&line, "RT "))
		return FAB_LINE_FOREIGN;
	if (!take_end(&line, &out->own) ||
	    !take_spaced_rate(&line, &out->width, &out->speed))
		return FAB_LINE_BROKEN;
	if (!FAB_TAKE(&line, "- ")) {
		/* No peer: the description in quotes is all that follows. */
		return fab_span_len(&line) >= 2 && line.p[0] == '\'' &&
				       line.end[-1] == '\''
			       ? FAB_LINE_OK
			       : FAB_LINE_BROKEN;
	}
	out->has_peer = true;
	if (!take_end(&line, &out->peer) || !out->own.port || !out->peer.port ||
	    !take_names(&line, out))
		return FAB_LINE_BROKEN;
	return FAB_LINE_OK;
}

bool fab_is_port_list_line(struct fab_span line)
{
	struct port_line parsed;

	return parse_port_line(line, &parsed) == FAB_LINE_OK;
}

static bool add_end_node(struct fab_node_table *table, const struct port_end *end,
			 uint64_t line, uint32_t *node)
{
	bool is_aggregation = end->kind == FAB_ADAPTER &&
			      fab_is_aggregation_name(end->name, end->name_len);
	struct fab_node_spec spec = {
		.kind = is_aggregation ? FAB_AGGREGATION : end->kind,
		.guid = end->guid,
		.name = end->name,
		.name_len = fab_name_cut(end->name_len),
		.line = line,
	};

	if (!fab_node_table_get(table, &spec, node))
		return false;
	fab_builder_set_port(table->b, *node,
			     end->kind == FAB_SWITCH ? 0 : (uint16_t)end->port, end->guid,
			     fab_lid(end->lid), 0);
	return true;
}

static void on_port_line(struct fab_node_table *table, const struct port_line *p,
			 uint64_t line)
{
	struct fab_end end = {
		.port = (uint16_t)p->own.port,
		.peer_port = (uint16_t)p->peer.port,
		.width = p->width,
		.speed = p->speed,
		.line = line,
	};

	if (!add_end_node(table, &p->own, line, &end.node) ||
	    !add_end_node(table, &p->peer, line, &end.peer)) {
		fab_builder_warn(table->b, "malformed-line", line,
				 "a GUID of this line belongs to a node of another kind");
		return;
	}
	fab_builder_add_end(table->b, &end);
}

int fab_ibnetdiscover_ports_read(struct fab_builder *b, const char *name,
				 const char *text, size_t n, struct fab_err *err)
{
	struct fab_node_table table = {.b = b, .node_of = fab_map64_new(1024)};
	struct fab_lines lines = {.at = text, .end = text + n};
	struct fab_foreign foreign = {0};
	struct fab_span line;
	int rc = 0;

	while (!rc && fab_lines_next(&lines, &line)) {
		struct port_line parsed;
		enum fab_line_result what;

		if (line.p == line.end || *line.p == '#')
			continue;
		what = parse_port_line(line, &parsed);
		if (what == FAB_LINE_BROKEN && lines.is_open)
			rc = fab_cut_off(name, &lines, &line, err);
		else if (what == FAB_LINE_BROKEN)
			fab_builder_warn(b, "malformed-line", lines.line,
					 "no port can be read from \"%.*s\"",
					 fab_shown(&line), line.p);
		else if (what == FAB_LINE_FOREIGN)
			fab_foreign_add(&foreign, lines.line);
		else if (parsed.has_peer)
			on_port_line(&table, &parsed, lines.line);
	}
	fab_foreign_warn(&foreign, b);
	fab_map64_free(table.node_of);
	return rc;
}
