/* SPDX-License-Identifier: BSD-2-Clause */

#include "source/reader.h"

#include <string.h>

enum { MAX_DESCRIPTION = 64 };

static bool take_lst_kind(struct fab_span *s, enum fab_node_kind *kind)
{
	if (!fab_take_kind(s, "{ SW", "{ CA", "{ Rt", kind))
		return false;
	(void)FAB_TAKE(s, "-SM"); /* the subnet manager runs there */
	return true;
}

static bool take_field(struct fab_span *s, const char *label, uint64_t *value)
{
	fab_skip_blanks(s);
	return fab_take_bytes(s, label, strlen(label)) && fab_take_hex(s, value);
}

/* "{description} LID:.. PN:.. }": the first closing brace behind which the line reads on.
 */
static bool take_description(struct fab_span *s, struct fab_told_end *end)
{
	const char *name, *limit;
	uint64_t lid, port;

	fab_skip_blanks(s);
	if (!fab_take_char(s, '{'))
		return false;
	name = s->p;
	limit = fab_span_len(s) > MAX_DESCRIPTION ? name + MAX_DESCRIPTION + 1 : s->end;
	for (const char *p = name; p < limit; p++) {
		struct fab_span rest = {p + 1, s->end};

		if (*p != '}' || !take_field(&rest, "LID:", &lid) ||
		    !take_field(&rest, "PN:", &port) || !port || port > FAB_MAX_PORT)
			continue;
		fab_skip_blanks(&rest);
		if (!fab_take_char(&rest, '}'))
			continue;
		end->lid = lid < UINT32_MAX ? fab_lid((uint32_t)lid) : 0;
		end->port = (uint16_t)port;
		end->name = name;
		end->name_len = (size_t)(p - name);
		*s = rest;
		return true;
	}
	return false;
}

static bool take_lst_end(struct fab_span *s, struct fab_told_end *end)
{
	uint64_t revision, n_ports, vendor, device;

	fab_skip_blanks(s);
	if (!take_lst_kind(s, &end->kind) || !take_field(s, "Ports:", &n_ports) ||
	    !take_field(s, "SystemGUID:", &end->sys_guid) ||
	    !take_field(s, "NodeGUID:", &end->guid) ||
	    !take_field(s, "PortGUID:", &end->port_guid) ||
	    !take_field(s, "VenID:", &vendor) || !take_field(s, "DevID:", &device) ||
	    !take_field(s, "Rev:", &revision) || !take_description(s, end))
		return false;
	/* OpenSM prints the device of the second node shifted by two bytes. */
	end->device = (uint32_t)(device > 0xffff ? device >> 16 : device);
	end->vendor = (uint32_t)vendor;
	end->n_ports = (uint16_t)n_ports;
	return n_ports <= FAB_MAX_PORT;
}

static bool take_state(struct fab_span *s, struct fab_told_cable *out)
{
	static const char *const speeds[] = {
		[FAB_SPEED_UNKNOWN] = "??", [FAB_SDR] = "2.5",	   [FAB_DDR] = "5",
		[FAB_QDR] = "10",	    [FAB_FDR10] = "FDR10", [FAB_FDR] = "14",
		[FAB_EDR] = "25",	    [FAB_HDR] = "50",	   [FAB_NDR] = "100",
		[FAB_XDR] = "200"};
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
	if (!FAB_TAKE(s, "SPD="))
		return false;
	for (uint8_t i = 0; i < FAB_COUNT(speeds); i++)
		if (fab_span_len(s) == strlen(speeds[i]) &&
		    fab_begins(s, speeds[i], strlen(speeds[i]))) {
			out->speed = i;
			return true;
		}
	return false;
}

static enum fab_line_result parse_lst_line(struct fab_span line,
					   struct fab_told_cable *out)
{
	enum fab_node_kind kind;
	struct fab_span probe = line;

	*out = (struct fab_told_cable){.has_peer = true};
	if (!take_lst_kind(&probe, &kind))
		return FAB_LINE_FOREIGN;
	if (!take_lst_end(&line, &out->own) || !take_lst_end(&line, &out->peer) ||
	    !take_state(&line, out))
		return FAB_LINE_BROKEN;
	return FAB_LINE_OK;
}

bool fab_is_subnet_lst_line(struct fab_span line)
{
	struct fab_told_cable parsed;

	return parse_lst_line(line, &parsed) == FAB_LINE_OK;
}

int fab_subnet_lst_read(struct fab_builder *b, const char *name, const char *text,
			size_t n, struct fab_err *err)
{
	return fab_cable_lines_read(b, name, text, n, parse_lst_line, "cable", err);
}
