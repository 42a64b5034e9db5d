/* SPDX-License-Identifier: BSD-2-Clause */
/* CA   134  1 0x7cfe... 4x EDR - SW  1719 10 0x7cfe... ( 'o0001 HCA-1' - 'leaf1' ) */
#include "source/ibnetdiscover.h"

#include "source/reader.h"

#include <string.h>

static bool take_end(struct fab_span *s, struct fab_told_end *end)
{
	uint32_t lid, port;

	if (FAB_TAKE(s, "SW "))
		end->kind = FAB_SWITCH;
	else if (FAB_TAKE(s, "CA "))
		end->kind = FAB_ADAPTER;
	else if (FAB_TAKE(s, "RT "))
		end->kind = FAB_ROUTER;
	else
		return false;
	fab_skip_blanks(s);
	if (!fab_take_dec(s, &lid))
		return false;
	fab_skip_blanks(s);
	if (!fab_take_dec(s, &port) || port > FAB_MAX_PORT)
		return false;
	fab_skip_blanks(s);
	if (!FAB_TAKE(s, "0x") || !fab_take_hex(s, &end->guid))
		return false;
	fab_skip_blanks(s);
	end->lid = fab_lid(lid);
	end->port = (uint16_t)port;
	end->port_guid = end->guid;
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
static bool take_names(struct fab_span *s, struct fab_told_cable *out)
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

static enum fab_line_result parse_port_line(struct fab_span line,
					    struct fab_told_cable *out)
{
	*out = (struct fab_told_cable){.own = {.name = ""}, .peer = {.name = ""}};
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
	struct fab_told_cable parsed;

	return parse_port_line(line, &parsed) == FAB_LINE_OK;
}

int fab_ibnetdiscover_ports_read(struct fab_builder *b, const char *name,
				 const char *text, size_t n, struct fab_err *err)
{
	return fab_cable_lines_read(b, name, text, n, parse_port_line, "port", err);
}
