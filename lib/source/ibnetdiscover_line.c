/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/ibnetdiscover.h"

#include "base/rng.h"
#include "source/reader.h"

/* "S-0008f10500200b50" or whatever ibsim allows between quotes. */
static bool take_id(struct fab_span *s, struct fab_dump_id *id)
{
	struct fab_span hex;
	const char *close;

	if (!fab_take_char(s, '"') || s->p == s->end)
		return false;
	close = memchr(s->p, '"', fab_span_len(s));
	if (!close || close == s->p)
		return false;
	id->text = s->p;
	id->len = (size_t)(close - s->p);
	hex = (struct fab_span){s->p + 2, close};
	s->p = close + 1;
	id->is_guid = id->len == 18 && id->text[1] == '-' &&
		      fab_take_hex(&hex, &id->key) && hex.p == hex.end;
	if (id->is_guid && id->text[0] == 'S')
		id->kind = FAB_SWITCH;
	else if (id->is_guid && id->text[0] == 'H')
		id->kind = FAB_ADAPTER;
	else if (id->is_guid && id->text[0] == 'R')
		id->kind = FAB_ROUTER;
	else
		id->is_guid = false;
	if (!id->is_guid)
		id->key = fab_hash_bytes(id->text, id->len, 0);
	return true;
}

/* " lid 1": a number beyond 16 bits is no LID. */
static bool take_lid(struct fab_span *s, uint16_t *lid)
{
	uint32_t value;

	fab_skip_blanks(s);
	if (!FAB_TAKE(s, "lid "))
		return false;
	fab_skip_blanks(s);
	if (!fab_take_dec(s, &value))
		return false;
	*lid = fab_lid(value);
	return true;
}

static bool take_lmc(struct fab_span *s, uint8_t *lmc)
{
	uint32_t value;

	fab_skip_blanks(s);
	if (!FAB_TAKE(s, "lmc "))
		return false;
	fab_skip_blanks(s);
	if (!fab_take_dec(s, &value) || value > 7)
		return false;
	*lmc = (uint8_t)value;
	return true;
}

/* From an opening quote to the last quote of the line. */
static bool take_name(struct fab_span *s, const char **name, size_t *len)
{
	const char *close;

	fab_skip_blanks(s);
	if (!fab_take_char(s, '"'))
		return false;
	close = fab_span_last(s, '"');
	if (!close)
		return false;
	*name = s->p;
	*len = (size_t)(close - s->p);
	s->p = close + 1;
	return true;
}

static bool take_kind(struct fab_span *s, uint8_t *kind)
{
	if (FAB_TAKE(s, "Switch"))
		*kind = FAB_SWITCH;
	else if (FAB_TAKE(s, "Ca") || FAB_TAKE(s, "Hca"))
		*kind = FAB_ADAPTER;
	else if (FAB_TAKE(s, "Rt"))
		*kind = FAB_ROUTER;
	else
		return false;
	return true;
}

/* What follows the description of a switch. Each part may be absent under ibsim. */
static bool take_switch_tail(struct fab_span *s, struct fab_dump_header *out)
{
	fab_skip_blanks(s);
	out->is_enhanced = FAB_BEGINS(s, "enhanced");
	if (FAB_TAKE(s, "enhanced") || FAB_TAKE(s, "base")) {
		fab_skip_blanks(s);
		if (!FAB_TAKE(s, "port 0"))
			return false;
	}
	return take_lid(s, &out->lid) && take_lmc(s, &out->lmc);
}

/* Net files of ibsim may do without the quotes: then the words behind end the name. */
static void take_bare_name(struct fab_span *s, struct fab_dump_header *out)
{
	static const char *const tails[] = {" enhanced port ", " base port ", " lid "};
	const char *end = s->end;
	bool is_quoted;

	fab_skip_blanks(s);
	is_quoted = fab_take_char(s, '"');
	for (size_t i = 0; i < FAB_COUNT(tails); i++) {
		const char *tail =
			memmem(s->p, (size_t)(end - s->p), tails[i], strlen(tails[i]));

		end = tail ? tail : end;
	}
	out->name = s->p;
	out->name_len = (size_t)(end - s->p);
	s->p = end;
	out->is_partial =
		is_quoted || out->kind != FAB_SWITCH || !take_switch_tail(s, out);
}

enum fab_line_result fab_dump_header_parse(struct fab_span line,
					   struct fab_dump_header *out)
{
	*out = (struct fab_dump_header){.name = ""};
	if (!take_kind(&line, &out->kind))
		return FAB_LINE_FOREIGN;
	fab_skip_blanks(&line);
	if (line.p == line.end || !fab_is_digit(*line.p))
		return FAB_LINE_FOREIGN;
	if (!fab_take_dec(&line, &out->n_ports) || !out->n_ports ||
	    out->n_ports > FAB_MAX_PORT)
		return FAB_LINE_BROKEN;
	fab_skip_blanks(&line);
	if (!take_id(&line, &out->id))
		return FAB_LINE_BROKEN;
	fab_skip_blanks(&line);
	if (line.p == line.end || *line.p != '#')
		return FAB_LINE_OK;
	line.p++;
	out->has_comment = true;
	if (!take_name(&line, &out->name, &out->name_len)) {
		take_bare_name(&line, out);
	} else if (out->kind == FAB_SWITCH) {
		out->is_partial = !take_switch_tail(&line, out);
	}
	if (out->kind == FAB_ADAPTER && fab_is_aggregation_name(out->name, out->name_len))
		out->kind = FAB_AGGREGATION;
	return FAB_LINE_OK;
}

/* "[17]" and perhaps "[ext 3]". */
static bool take_port(struct fab_span *s, uint32_t *port)
{
	uint32_t ext;

	if (!fab_take_char(s, '[') || !fab_take_dec(s, port) || !fab_take_char(s, ']') ||
	    *port > FAB_MAX_PORT)
		return false;
	if (FAB_TAKE(s, "[ext ") && !(fab_take_dec(s, &ext) && fab_take_char(s, ']')))
		return false;
	return true;
}

/* "(8f10403961355)", or nothing. */
static bool take_port_guid(struct fab_span *s, uint64_t *guid)
{
	*guid = 0;
	fab_skip_blanks(s);
	if (!fab_take_char(s, '('))
		return true;
	(void)FAB_TAKE(s, "0x");
	return fab_take_hex(s, guid) && fab_take_char(s, ')');
}

/* Behind '#': on lines of adapters the own LID comes first. */
static bool take_link_comment(struct fab_span *s, struct fab_dump_link *out)
{
	fab_skip_blanks(s);
	if (s->p < s->end && *s->p == 'l' &&
	    !(take_lid(s, &out->own_lid) && take_lmc(s, &out->own_lmc)))
		return false;
	if (!take_name(s, &out->name, &out->name_len) || !take_lid(s, &out->peer_lid))
		return false;
	fab_skip_blanks(s);
	return fab_take_rate(s, &out->width, &out->speed, &out->is_speed_known);
}

enum fab_line_result fab_dump_link_parse(struct fab_span line, struct fab_dump_link *out)
{
	/* Prompts of appliances begin with a bracket, too: "[ mgmt-active ] (config) #".
	 */
	if (fab_span_len(&line) < 2 || line.p[0] != '[' || !fab_is_digit(line.p[1]))
		return FAB_LINE_FOREIGN;
	*out = (struct fab_dump_link){.name = "", .peer_port = 1, .is_speed_known = true};
	if (!take_port(&line, &out->port) || !out->port ||
	    !take_port_guid(&line, &out->own_guid))
		return FAB_LINE_BROKEN;
	fab_skip_blanks(&line);
	if (!take_id(&line, &out->peer))
		return FAB_LINE_BROKEN;
	fab_skip_blanks(&line);
	/* ibsim takes port 1 when none is given. */
	if (line.p < line.end && *line.p == '[' &&
	    (!take_port(&line, &out->peer_port) || !out->peer_port))
		return FAB_LINE_BROKEN;
	if (!take_port_guid(&line, &out->peer_guid))
		return FAB_LINE_BROKEN;
	fab_skip_blanks(&line);
	out->has_comment = fab_take_char(&line, '#');
	out->is_partial = out->has_comment && !take_link_comment(&line, out);
	return FAB_LINE_OK;
}

/* "=0x2c9" and whatever ibnetdiscover -g writes behind it. */
static bool take_value(struct fab_span *s, uint64_t *value)
{
	if (!fab_take_char(s, '='))
		return false;
	(void)FAB_TAKE(s, "0x");
	return fab_take_hex(s, value) &&
	       (s->p == s->end || fab_is_blank(*s->p) || *s->p == '(');
}

static enum fab_line_result take_guid_line(struct fab_span *s, struct fab_dump_ids *ids)
{
	if (!take_value(s, &ids->guid))
		return FAB_LINE_BROKEN;
	ids->has_guid = true;
	return take_port_guid(s, &ids->port_guid) ? FAB_LINE_OK : FAB_LINE_BROKEN;
}

enum fab_line_result fab_dump_ids_parse(struct fab_span line, struct fab_dump_ids *ids)
{
	uint64_t value = 0;
	bool ok;

	if (FAB_TAKE(&line, "vendid")) {
		ok = take_value(&line, &value);
		ids->vendor = (uint32_t)value;
	} else if (FAB_TAKE(&line, "devid")) {
		ok = take_value(&line, &value);
		ids->device = (uint32_t)value;
	} else if (FAB_TAKE(&line, "sysimgguid")) {
		ok = take_value(&line, &ids->sys_guid);
	} else if (FAB_TAKE(&line, "switchguid") || FAB_TAKE(&line, "caguid") ||
		   FAB_TAKE(&line, "hcaguids") || FAB_TAKE(&line, "rtguid")) {
		return take_guid_line(&line, ids);
	} else {
		return FAB_LINE_FOREIGN;
	}
	return ok ? FAB_LINE_OK : FAB_LINE_BROKEN;
}

bool fab_is_node_list_line(struct fab_span line)
{
	if (!FAB_TAKE(&line, "Switch") && !FAB_TAKE(&line, "Ca") &&
	    !FAB_TAKE(&line, "Router"))
		return false;
	fab_skip_blanks(&line);
	return FAB_BEGINS(&line, ": 0x");
}
