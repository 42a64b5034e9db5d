/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/subnet_lst.h"

#include "base/map.h"
#include "source/reader.h"

#include <errno.h>

enum { MAX_DESCRIPTION = 64 };

struct lst_end {
	enum fab_node_kind kind;
	uint64_t n_ports, sys_guid, guid, port_guid, vendor, device, lid, port;
	const char *name;
	size_t name_len;
};

struct lst_line {
	struct lst_end own, peer;
	uint8_t width, speed;
};

static bool take_lst_kind(struct fab_span *s, enum fab_node_kind *kind)
{
	if (FAB_TAKE(s, "{ SW"))
		*kind = FAB_SWITCH;
	else if (FAB_TAKE(s, "{ CA"))
		*kind = FAB_ADAPTER;
	else if (FAB_TAKE(s, "{ Rt"))
		*kind = FAB_ROUTER;
	else
		return false;
	(void)FAB_TAKE(s, "-SM"); /* the subnet manager runs there */
	return true;
}

static bool take_field(struct fab_span *s, const char *label, uint64_t *value)
{
	fab_skip_blanks(s);
	return fab_take_bytes(s, label, strlen(label)) && fab_take_hex(s, value);
}

/* " LID:0001 PN:01 }" behind a description. */
static bool take_address(struct fab_span *s, struct lst_end *end)
{
	return take_field(s, "LID:", &end->lid) && take_field(s, "PN:", &end->port) &&
	       (fab_skip_blanks(s), fab_take_char(s, '}'));
}

/* "{description} LID:.. PN:.. }": the first closing brace after which it reads on. */
static bool take_description(struct fab_span *s, struct lst_end *end)
{
	const char *name, *limit;

	fab_skip_blanks(s);
	if (!fab_take_char(s, '{'))
		return false;
	name = s->p;
	limit = fab_span_len(s) > MAX_DESCRIPTION ? name + MAX_DESCRIPTION + 1 : s->end;
	for (const char *p = name; p < limit; p++) {
		struct fab_span rest = {p + 1, s->end};

		if (*p != '}' || !take_address(&rest, end))
			continue;
		end->name = name;
		end->name_len = (size_t)(p - name);
		*s = rest;
		return true;
	}
	return false;
}

static bool take_lst_end(struct fab_span *s, struct lst_end *end)
{
	uint64_t revision;

	fab_skip_blanks(s);
	if (!take_lst_kind(s, &end->kind) || !take_field(s, "Ports:", &end->n_ports) ||
	    !take_field(s, "SystemGUID:", &end->sys_guid) ||
	    !take_field(s, "NodeGUID:", &end->guid) ||
	    !take_field(s, "PortGUID:", &end->port_guid) ||
	    !take_field(s, "VenID:", &end->vendor) ||
	    !take_field(s, "DevID:", &end->device) || !take_field(s, "Rev:", &revision) ||
	    !take_description(s, end))
		return false;
	/* OpenSM prints the device of the second node shifted by two bytes. */
	if (end->device > 0xffff)
		end->device >>= 16;
	return end->n_ports <= FAB_MAX_PORT && end->port && end->port <= FAB_MAX_PORT;
}

static bool take_speed(struct fab_span *s, uint8_t *speed)
{
	static const struct {
		const char *text;
		uint8_t speed;
	} speeds[] = {
		{"2.5", FAB_SDR}, {"5", FAB_DDR},  {"10", FAB_QDR}, {"FDR10", FAB_FDR10},
		{"14", FAB_FDR},  {"25", FAB_EDR}, {"50", FAB_HDR}, {"100", FAB_NDR},
		{"200", FAB_XDR}, {"??", 0},
	};

	for (size_t i = 0; i < FAB_COUNT(speeds); i++)
		if (fab_span_len(s) == strlen(speeds[i].text) &&
		    fab_begins(s, speeds[i].text, strlen(speeds[i].text))) {
			*speed = speeds[i].speed;
			return true;
		}
	return false;
}

static bool take_state(struct fab_span *s, struct lst_line *out)
{
	uint32_t lanes = 0;

	fab_skip_blanks(s);
	if (!FAB_TAKE(s, "PHY=") ||
	    !(FAB_TAKE(s, "??") ||
	      (fab_take_dec(s, &lanes) && lanes < 256 && fab_take_char(s, 'x'))))
		return false;
	out->width = (uint8_t)lanes;
	fab_skip_blanks(s);
	if (!FAB_TAKE(s, "LOG=") || fab_span_len(s) < 3)
		return false;
	s->p += 3; /* ACT ARM INI DWN: a peer was seen whatever it is now */
	fab_skip_blanks(s);
	if (s->p == s->end)
		return true;
	return FAB_TAKE(s, "SPD=") && take_speed(s, &out->speed);
}

static enum fab_line_result parse_lst_line(struct fab_span line, struct lst_line *out)
{
	enum fab_node_kind kind;
	struct fab_span probe = line;

	*out = (struct lst_line){.width = 0};
	if (!take_lst_kind(&probe, &kind))
		return FAB_LINE_FOREIGN;
	if (!take_lst_end(&line, &out->own) || !take_lst_end(&line, &out->peer) ||
	    !take_state(&line, out))
		return FAB_LINE_BROKEN;
	return FAB_LINE_OK;
}

bool fab_is_subnet_lst_line(struct fab_span line)
{
	struct lst_line parsed;

	return parse_lst_line(line, &parsed) == FAB_LINE_OK;
}

static bool add_lst_node(struct fab_node_table *table, const struct lst_end *end,
			 uint64_t line, uint32_t *node)
{
	bool is_aggregation = end->kind == FAB_ADAPTER &&
			      fab_is_aggregation_name(end->name, end->name_len);
	struct fab_node_spec spec = {
		.kind = is_aggregation ? FAB_AGGREGATION : end->kind,
		.guid = end->guid,
		.sys_guid = end->sys_guid,
		.vendor = (uint32_t)end->vendor,
		.device = (uint32_t)end->device,
		.n_ports = (uint16_t)end->n_ports,
		.name = end->name,
		.name_len = end->name_len,
		.line = line,
	};

	if (!fab_node_table_get(table, &spec, node))
		return false;
	fab_builder_set_port(table->b, *node,
			     end->kind == FAB_SWITCH ? 0 : (uint16_t)end->port,
			     end->port_guid,
			     end->lid < UINT32_MAX ? fab_lid((uint32_t)end->lid) : 0, 0);
	return true;
}

static void on_lst_line(struct fab_node_table *table, const struct lst_line *l,
			uint64_t line)
{
	struct fab_end end = {
		.port = (uint16_t)l->own.port,
		.peer_port = (uint16_t)l->peer.port,
		.width = l->width,
		.speed = l->speed,
		.line = line,
	};

	if (!add_lst_node(table, &l->own, line, &end.node) ||
	    !add_lst_node(table, &l->peer, line, &end.peer)) {
		fab_builder_warn(table->b, "malformed-line", line,
				 "a GUID of this line belongs to a node of another kind");
		return;
	}
	fab_builder_add_end(table->b, &end);
}

int fab_subnet_lst_read(struct fab_builder *b, const char *name, const char *text,
			size_t n, struct fab_err *err)
{
	struct fab_node_table table = {.b = b, .node_of = fab_map64_new(1024)};
	struct fab_lines lines = {.at = text, .end = text + n};
	struct fab_foreign foreign = {0};
	struct fab_span line;
	int rc = 0;

	while (!rc && fab_lines_next(&lines, &line)) {
		struct lst_line parsed;
		enum fab_line_result what;

		if (line.p == line.end || *line.p == '#')
			continue;
		what = parse_lst_line(line, &parsed);
		if (what == FAB_LINE_BROKEN && lines.is_open)
			rc = fab_cut_off(name, &lines, &line, err);
		else if (what == FAB_LINE_BROKEN)
			fab_builder_warn(b, "malformed-line", lines.line,
					 "no cable can be read from \"%.*s\"",
					 fab_shown(&line), line.p);
		else if (what == FAB_LINE_FOREIGN)
			fab_foreign_add(&foreign, lines.line);
		else
			on_lst_line(&table, &parsed, lines.line);
	}
	fab_foreign_warn(&foreign, b);
	fab_map64_free(table.node_of);
	return rc;
}
