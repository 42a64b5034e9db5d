/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The dump of ibnetdiscover and its port list: the grammar of single lines, then the
 * readers. Cables of a dump are added when all nodes are known.
 */
#include "base/map.h"
#include "base/mem.h"
#include "base/rng.h"
#include "source/reader.h"

#include <stdlib.h>
#include <string.h>

/* ---- the grammar of single lines, for the two readers and their tests ---- */

/* How a node is written in quotes. */
struct dump_id {
	const char *text;
	size_t len;
	uint64_t key; /* identity: the GUID, or a hash of a free id */
	bool is_guid; /* S-, H- or R- and 16 hexadecimal digits */
	uint8_t kind; /* enum fab_node_kind by the first character; only with is_guid */
};

/* `Switch 36 "S-..." # "description" enhanced port 0 lid 1 lmc 0`, `Ca`, `Hca`, `Rt`. */
struct dump_header {
	uint8_t kind; /* enum fab_node_kind */
	bool is_enhanced, has_comment;
	bool is_partial; /* what follows '#' is not as ibnetdiscover writes it */
	uint8_t lmc;
	uint16_t lid;
	uint32_t n_ports;
	struct dump_id id;
	const char *name;
	size_t name_len;
};

/* `[1](guid) "S-..."[2] # lid 1 lmc 0 "description" lid 2 4xHDR` and its variations. */
struct dump_link {
	uint32_t port, peer_port;
	uint64_t own_guid, peer_guid; /* port GUIDs; 0: not given */
	struct dump_id peer;
	bool is_speed_known, has_comment;
	bool is_partial; /* what follows '#' is not as ibnetdiscover writes it */
	uint8_t own_lmc, width, speed;
	uint16_t own_lid, peer_lid;
	const char *name; /* of the peer */
	size_t name_len;
};

/* The lines in front of a header: vendid= devid= sysimgguid= switchguid=0x..(0x..) ... */
struct dump_ids {
	uint64_t line; /* of the first of them, 0: none yet */
	uint32_t vendor, device;
	uint64_t guid, sys_guid, port_guid;
	bool has_guid;
};

/* ---- peers: the second half of reading, once all nodes are known ---- */

/* A stored link line: its peer may be described later. */
struct dump_pending {
	uint32_t node, peer_slot;
	uint16_t port, peer_port;
	uint8_t width, speed;
	uint64_t line;
	struct fab_span text; /* read again when the peer is never described */
};

enum { UNKNOWN_KIND = 0xff }; /* kind of a node without a record of its own */

struct dump_slot {
	uint32_t node; /* in the builder, FAB_NONE: not described (yet) */
	uint8_t kind;
	uint32_t n_ports;
	uint64_t line;
};

/* "S-0008f10500200b50" or whatever ibsim allows between quotes. */
static bool take_id(struct fab_span *s, struct dump_id *id)
{
	struct fab_span hex;
	const char *close;

	if (!fab_take_char(s, FAB_QUOTE) || s->p == s->end)
		return false;
	close = memchr(s->p, FAB_QUOTE, fab_span_len(s));
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

/* " lid 1", " lmc 0": the word has four characters. */
static inline bool take_number(struct fab_span *s, const char *word, uint32_t *value)
{
	fab_skip_blanks(s);
	if (!fab_take_bytes(s, word, 4))
		return false;
	fab_skip_blanks(s);
	return fab_take_dec(s, value);
}

/* " lid 1": a number beyond 16 bits is no LID. */
static bool take_lid(struct fab_span *s, uint16_t *lid)
{
	uint32_t value;
	bool ok = take_number(s, "lid ", &value);

	if (ok)
		*lid = fab_lid(value);
	return ok;
}

static bool take_lmc(struct fab_span *s, uint8_t *lmc)
{
	uint32_t value;
	bool ok = take_number(s, "lmc ", &value) && value <= 7;

	if (ok)
		*lmc = (uint8_t)value;
	return ok;
}

/* From an opening quote to the last quote of the line. */
static bool take_name(struct fab_span *s, const char **name, size_t *len)
{
	const char *close;

	fab_skip_blanks(s);
	if (!fab_take_char(s, FAB_QUOTE))
		return false;
	close = fab_span_last(s, FAB_QUOTE);
	if (!close)
		return false;
	*name = s->p;
	*len = (size_t)(close - s->p);
	s->p = close + 1;
	return true;
}

/* The rest after the description of a switch. Each part may be absent under ibsim. */
static bool take_switch_tail(struct fab_span *s, struct dump_header *out)
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

static enum fab_line_result parse_header(struct fab_span line, struct dump_header *out)
{
	enum fab_node_kind kind = FAB_ADAPTER;

	*out = (struct dump_header){.name = ""};
	if (!FAB_TAKE(&line, "Hca") && !fab_take_kind(&line, "Switch", "Ca", "Rt", &kind))
		return FAB_LINE_FOREIGN;
	out->kind = (uint8_t)kind;
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
		static const char *const tails[] = {" enhanced port ", " base port ",
						    " lid "};
		const char *end = line.end;
		bool is_quoted;

		/* Net files of ibsim may do without the quotes: then the words behind end
		 * the name. */
		fab_skip_blanks(&line);
		is_quoted = fab_take_char(&line, FAB_QUOTE);
		for (size_t i = 0; i < FAB_COUNT(tails); i++) {
			const char *tail = memmem(line.p, (size_t)(end - line.p),
						  tails[i], strlen(tails[i]));

			end = tail ? tail : end;
		}
		out->name = line.p;
		out->name_len = (size_t)(end - line.p);
		line.p = end;
		out->is_partial = is_quoted || out->kind != FAB_SWITCH ||
				  !take_switch_tail(&line, out);
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
static bool take_link_comment(struct fab_span *s, struct dump_link *out)
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

static enum fab_line_result parse_link(struct fab_span line, struct dump_link *out)
{
	/* Prompts of appliances begin with a bracket, too: "[ mgmt-active ] (config) #".
	 */
	if (fab_span_len(&line) < 2 || line.p[0] != '[' || !fab_is_digit(line.p[1]))
		return FAB_LINE_FOREIGN;
	*out = (struct dump_link){.name = "", .peer_port = 1, .is_speed_known = true};
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

static enum fab_line_result parse_ids(struct fab_span line, struct dump_ids *ids)
{
	uint64_t value = 0;
	bool is_ok;

	if (FAB_TAKE(&line, "vendid")) {
		is_ok = take_value(&line, &value);
		ids->vendor = (uint32_t)value;
	} else if (FAB_TAKE(&line, "devid")) {
		is_ok = take_value(&line, &value);
		ids->device = (uint32_t)value;
	} else if (FAB_TAKE(&line, "sysimgguid")) {
		is_ok = take_value(&line, &ids->sys_guid);
	} else if (FAB_TAKE(&line, "switchguid") || FAB_TAKE(&line, "caguid") ||
		   FAB_TAKE(&line, "hcaguids") || FAB_TAKE(&line, "rtguid")) {
		is_ok = take_value(&line, &ids->guid);
		if (is_ok)
			ids->has_guid = true;
		is_ok = is_ok && take_port_guid(&line, &ids->port_guid);
	} else {
		return FAB_LINE_FOREIGN;
	}
	return is_ok ? FAB_LINE_OK : FAB_LINE_BROKEN;
}

static bool is_node_list_line(struct fab_span line)
{
	if (!FAB_TAKE(&line, "Switch") && !FAB_TAKE(&line, "Ca") &&
	    !FAB_TAKE(&line, "Router"))
		return false;
	fab_skip_blanks(&line);
	return FAB_BEGINS(&line, ": 0x");
}

bool fab_is_dump_line(struct fab_span line)
{
	struct dump_header h;
	struct dump_ids ids;

	if (fab_span_len(&line) > 2 && (FAB_TAKE(&line, "< ") || FAB_TAKE(&line, "> ")))
		fab_skip_blanks(&line);
	return parse_header(line, &h) != FAB_LINE_FOREIGN ||
	       parse_ids(line, &ids) != FAB_LINE_FOREIGN || is_node_list_line(line);
}

/* An adapter or router that is known only by what a switch says about its port. */
static int add_unknown(struct fab_builder *b, const char *name,
		       const struct dump_pending *p, struct dump_slot *slot,
		       struct fab_err *err)
{
	struct fab_node_spec spec = {.line = p->line}; /* n_ports: by what is cabled */
	struct dump_link link;

	/* It was read once already. */
	if (parse_link(p->text, &link) != FAB_LINE_OK)
		return fab_fail_line(err, name, p->line, "no cable can be read");
	if (!link.peer.is_guid || link.peer.kind == FAB_SWITCH)
		return fab_fail_line(
			err, name, p->line,
			"peer \"%.*s\" is not described anywhere, expected its record in the dump",
			(int)(link.peer.len < 60 ? link.peer.len : 60), link.peer.text);
	spec.kind = (enum fab_node_kind)link.peer.kind;
	if (spec.kind == FAB_ADAPTER && fab_is_aggregation_name(link.name, link.name_len))
		spec.kind = FAB_AGGREGATION;
	spec.guid = link.peer.key;
	spec.name = link.name;
	spec.name_len = fab_name_cut(link.name_len);
	slot->node = fab_builder_add_node(b, &spec);
	slot->kind = UNKNOWN_KIND;
	fab_builder_warn(
		b, "unknown-peer", p->line,
		"peer \"%.*s\" has no record of its own; what its switch says is taken",
		(int)link.peer.len, link.peer.text);
	fab_builder_warn_about(b, "0x%016llx", (unsigned long long)link.peer.key);
	return 0;
}

/* CA   134  1 0x7cfe... 4x EDR - SW  1719 10 0x7cfe... ( 'o0001 HCA-1' - 'leaf1' ) */

static bool take_end(struct fab_span *s, struct fab_told_end *end)
{
	uint32_t lid, port;

	if (!fab_take_kind(s, "SW ", "CA ", "RT ", &end->kind))
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

static enum fab_line_result parse_port_line(struct fab_span line,
					    struct fab_told_cable *out)
{
	static const char parting[] = "' - '";
	struct fab_span probe = line, rate;
	enum fab_node_kind kind;
	char joined[16];
	const char *close, *middle;
	size_t n = 0;
	bool is_known;

	*out = (struct fab_told_cable){.own = {.name = ""}, .peer = {.name = ""}};
	if (!fab_take_kind(&probe, "SW ", "CA ", "RT ", &kind))
		return FAB_LINE_FOREIGN;
	if (!take_end(&line, &out->own))
		return FAB_LINE_BROKEN;
	/* "4x EDR", "4x ???": a rate with a blank in it */
	for (int word = 0; word < 2; word++) {
		while (line.p < line.end && !fab_is_blank(*line.p) && n < sizeof(joined))
			joined[n++] = *line.p++;
		fab_skip_blanks(&line);
	}
	rate = (struct fab_span){joined, joined + n};
	if (!fab_take_rate(&rate, &out->width, &out->speed, &is_known) ||
	    rate.p != rate.end)
		return FAB_LINE_BROKEN;
	if (!FAB_TAKE(&line, "- ")) {
		/* No peer: the description in quotes is all that follows. */
		return fab_span_len(&line) >= 2 && line.p[0] == '\'' &&
				       line.end[-1] == '\''
			       ? FAB_LINE_OK
			       : FAB_LINE_BROKEN;
	}
	out->has_peer = true;
	if (!take_end(&line, &out->peer) || !out->own.port || !out->peer.port)
		return FAB_LINE_BROKEN;
	/* "( 'a' - 'b' )": quotes within are not escaped; the first separator counts */
	if (!FAB_TAKE(&line, "( '") || fab_span_len(&line) < 8 ||
	    memcmp(line.end - 3, "' )", 3))
		return FAB_LINE_BROKEN;
	close = line.end - 3;
	middle = memmem(line.p, (size_t)(close - line.p), parting, sizeof(parting) - 1);
	if (!middle)
		return FAB_LINE_BROKEN;
	out->own.name = line.p;
	out->own.name_len = (size_t)(middle - line.p);
	out->peer.name = middle + sizeof(parting) - 1;
	out->peer.name_len = (size_t)(close - out->peer.name);
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

#define HEADER_EXPECTED "expected TYPE PORTS \"ID\" with TYPE Switch, Ca, Hca or Rt"

struct reader {
	struct fab_builder *b;
	const char *name;
	struct fab_err *err;
	struct fab_lines lines;
	struct dump_ids ids;
	uint32_t node; /* whose links are read, FAB_NONE: none yet */
	uint8_t kind;
	bool has_free_id;
	bool has_comments; /* an ibnetdiscover dump, not a bare net file */
	uint64_t guid;
	struct fab_map64 *slot_of; /* key of an id -> slot */
	FAB_VEC(struct dump_slot) slots;
	FAB_VEC(struct dump_pending) links;
	struct fab_foreign foreign;
	uint64_t n_listed;
	char prefix; /* '<' or '>' when the records stand behind it, else 0 */
};

static uint32_t slot_for(struct reader *r, uint64_t key)
{
	uint32_t slot = fab_map64_put(r->slot_of, key, (uint32_t)r->slots.n);

	if (slot == r->slots.n) {
		struct dump_slot fresh = {.node = FAB_NONE};

		FAB_PUSH(&r->slots, fresh);
	}
	return slot;
}

static int link_line(struct reader *r, const struct fab_span *line, bool *is_foreign)
{
	struct dump_link link;
	enum fab_line_result what = parse_link(*line, &link);

	*is_foreign = what == FAB_LINE_FOREIGN;
	if (what == FAB_LINE_FOREIGN)
		return 0;
	r->has_comments |= link.has_comment;
	if (r->lines.is_open &&
	    (what == FAB_LINE_BROKEN || link.is_partial || !link.is_speed_known ||
	     link.has_comment != r->has_comments))
		return fab_cut_off(r->name, &r->lines, line, r->err);
	if (what == FAB_LINE_BROKEN)
		fab_builder_warn(r->b, "malformed-line", r->lines.line,
				 "no cable can be read from \"%.*s\"", fab_shown(line),
				 line->p);
	else if (r->node == FAB_NONE)
		fab_builder_warn(r->b, "malformed-line", r->lines.line,
				 "a port stands before any node: \"%.*s\"",
				 fab_shown(line), line->p);
	else {
		struct dump_pending pending = {
			.node = r->node,
			.peer_slot = slot_for(r, link.peer.key),
			.port = (uint16_t)link.port,
			.peer_port = (uint16_t)link.peer_port,
			.width = link.width,
			.speed = link.speed,
			.line = r->lines.line,
			.text = *line,
		};

		FAB_PUSH(&r->links, pending);
		if (r->kind != FAB_SWITCH) {
			/* ibsim numbers the ports of an adapter on from its own GUID. */
			uint64_t guid = r->has_free_id && !link.own_guid
						? r->guid + link.port
						: link.own_guid;

			fab_builder_set_port(r->b, r->node, (uint16_t)link.port, guid,
					     link.own_lid, link.own_lmc);
		}
		if (!link.is_speed_known)
			fab_builder_warn(r->b, "unknown-speed", r->lines.line,
					 "unknown speed of port %u", link.port);
	}
	return 0;
}

static int header_line(struct reader *r, const struct fab_span *line, bool *is_foreign)
{
	struct dump_header h;
	enum fab_line_result what = parse_header(*line, &h);
	struct dump_slot *slot;
	uint32_t at;
	int shown;

	*is_foreign = what == FAB_LINE_FOREIGN;
	if (what == FAB_LINE_FOREIGN)
		return 0;
	r->has_comments |= h.has_comment;
	if (r->lines.is_open &&
	    (what == FAB_LINE_BROKEN || h.is_partial || h.has_comment != r->has_comments))
		return fab_cut_off(r->name, &r->lines, line, r->err);
	if (what == FAB_LINE_BROKEN)
		return fab_fail_line(r->err, r->name, r->lines.line,
				     "found \"%.*s\", " HEADER_EXPECTED, fab_shown(line),
				     line->p);
	r->has_free_id = !h.id.is_guid;
	r->kind = h.kind;
	r->guid = h.id.is_guid || !r->ids.guid ? h.id.key : r->ids.guid;
	if (h.id.is_guid && r->ids.has_guid && r->ids.guid != h.id.key) {
		fab_builder_warn(
			r->b, "guid-mismatch", r->lines.line,
			"node \"%.*s\" stands below GUID 0x%016llx; its id counts",
			(int)h.id.len, h.id.text, (unsigned long long)r->ids.guid);
		fab_builder_warn_about(r->b, "0x%016llx", (unsigned long long)h.id.key);
	}
	at = slot_for(r, h.id.key);
	/* may move the slots */
	slot = &r->slots.v[at];
	if (slot->node == FAB_NONE) {
		bool has_name = h.name_len || h.id.is_guid;
		struct fab_node_spec spec = {
			.kind = (enum fab_node_kind)h.kind,
			.guid = r->guid,
			.sys_guid = r->ids.sys_guid,
			.vendor = r->ids.vendor,
			.device = r->ids.device,
			.n_ports = (uint16_t)h.n_ports,
			.is_enhanced = h.is_enhanced,
			/* ibsim describes a node by its id when nothing else is given. */
			.name = has_name ? h.name : h.id.text,
			.name_len = fab_name_cut(has_name ? h.name_len : h.id.len),
			.line = r->lines.line,
		};

		slot->node = fab_builder_add_node(r->b, &spec);
		slot->kind = h.kind;
		slot->n_ports = h.n_ports;
		slot->line = r->lines.line;
		if (h.kind == FAB_SWITCH)
			fab_builder_set_port(r->b, slot->node, 0,
					     r->ids.port_guid ? r->ids.port_guid
							      : r->guid,
					     h.lid, h.lmc);
	} else { /* a second record of a node: it is continued or contradicted */
		shown = (int)(h.id.len < FAB_MAX_SHOWN ? h.id.len : FAB_MAX_SHOWN);
		if (slot->kind != h.kind || slot->n_ports != h.n_ports)
			return fab_fail_line(
				r->err, r->name, r->lines.line,
				"node \"%.*s\" was described otherwise in line %llu, expected the same type and %u ports",
				shown, h.id.text, (unsigned long long)slot->line,
				slot->n_ports);
		fab_builder_warn(
			r->b, "duplicate-guid", r->lines.line,
			"node \"%.*s\" is described again (first in line %llu); the two records are taken together",
			shown, h.id.text, (unsigned long long)slot->line);
		fab_builder_warn_about(r->b, "0x%016llx", (unsigned long long)h.id.key);
	}
	r->node = slot->node;
	r->ids = (struct dump_ids){.line = 0};
	return 0;
}

/* A line of no cable and no node. */
static int other_line(struct reader *r, const struct fab_span *line)
{
	static const char *const words[] = {
		"Switch",  "Ca",      "Hca",	     "Rt",	    "vendid=", "devid=",
		"caguid=", "rtguid=", "sysimgguid=", "switchguid=", "["};
	enum fab_line_result what =
		*line->p == '[' ? FAB_LINE_FOREIGN : parse_ids(*line, &r->ids);
	size_t n = fab_span_len(line);

	if (what == FAB_LINE_OK && !r->ids.line)
		r->ids.line = r->lines.line;
	if (what == FAB_LINE_BROKEN && !r->lines.is_open)
		fab_builder_warn(r->b, "malformed-line", r->lines.line,
				 "no number can be read from \"%.*s\"", fab_shown(line),
				 line->p);
	if (what == FAB_LINE_BROKEN && r->lines.is_open)
		return fab_cut_off(r->name, &r->lines, line, r->err);
	if (what != FAB_LINE_FOREIGN || *line->p == '#' || FAB_BEGINS(line, "Chassis ") ||
	    FAB_BEGINS(line, "Hostname:") || FAB_BEGINS(line, "Non-Chassis Nodes"))
		return 0;
	/* a last line without newline that may be the beginning of a record */
	for (size_t i = 0; r->lines.is_open && i < FAB_COUNT(words); i++)
		if (n <= strlen(words[i]) && !memcmp(words[i], line->p, n))
			return fab_cut_off(r->name, &r->lines, line, r->err);
	r->n_listed += is_node_list_line(*line);
	fab_foreign_add(&r->foreign, r->lines.line);
	return 0;
}

/*
 * All lines. Of a dump that went through diff(1), with the first record behind "< " or
 * "> ", that side is read and everything else is foreign.
 */
static int read_lines(struct reader *r)
{
	const char *text = r->lines.at;
	struct fab_span line;
	int rc = 0;

	while (!rc && fab_lines_next(&r->lines, &line)) {
		struct fab_span rest;
		struct dump_header h;
		struct dump_ids ids;
		bool is_foreign = false;

		fab_lines_tell(&r->lines, text);
		if (line.p == line.end)
			continue;
		rest = (struct fab_span){line.p + 1, line.end};
		if ((*line.p == '<' || *line.p == '>') &&
		    (rest.p == rest.end || *rest.p == ' ')) {
			fab_skip_blanks(&rest);
			if (!r->prefix && r->node == FAB_NONE && !r->ids.line &&
			    (parse_header(rest, &h) == FAB_LINE_OK ||
			     parse_ids(rest, &ids) == FAB_LINE_OK))
				r->prefix = *line.p;
			if (r->prefix == *line.p)
				line = rest;
			if (line.p == line.end)
				continue;
		} else if (r->prefix) {
			fab_foreign_add(&r->foreign, r->lines.line);
			continue;
		}
		if (*line.p == '[')
			rc = link_line(r, &line, &is_foreign);
		else
			rc = header_line(r, &line, &is_foreign);
		if (!rc && is_foreign)
			rc = other_line(r, &line);
	}
	return rc;
}

/* Errors of the whole input, then the cables, as all nodes are known. */
static int add_cables(struct reader *r)
{
	unsigned long long last = r->lines.line;
	uint32_t n = fab_builder_n_nodes(r->b), n_switches = 0;

	if (!n && r->n_listed)
		return fab_fail_line(
			r->err, r->name, last,
			"a list of nodes (ibnetdiscover -l) has no cables, expected the dump of ibnetdiscover without -l");
	if (r->ids.line)
		return fab_fail_line(
			r->err, r->name, last,
			"the input ends within the record that begins in line %llu, expected its node",
			(unsigned long long)r->ids.line);
	for (uint32_t i = 0; i < n; i++)
		n_switches += fab_builder_node(r->b, i)->kind == FAB_SWITCH;
	if (!n_switches || !r->links.n)
		return fab_fail_line(
			r->err, r->name, last,
			"the dump ends with %u switch%s, %u adapter%s and %zu port%s with a cable, expected at least one switch and one cable",
			n_switches, n_switches == 1 ? "" : "es", n - n_switches,
			n - n_switches == 1 ? "" : "s", r->links.n,
			r->links.n == 1 ? "" : "s");
	fab_foreign_warn(&r->foreign, r->b);
	for (size_t i = 0; i < r->links.n; i++) {
		const struct dump_pending *p = &r->links.v[i];
		struct dump_slot *slot = &r->slots.v[p->peer_slot];
		int rc = slot->node == FAB_NONE
				 ? add_unknown(r->b, r->name, p, slot, r->err)
				 : 0;
		struct fab_end end = {.node = p->node,
				      .port = p->port,
				      .peer = slot->node,
				      .peer_port = p->peer_port,
				      .width = p->width,
				      .speed = p->speed,
				      .line = p->line};
		struct fab_end back = end;
		struct dump_link link;

		if (rc)
			return rc;
		fab_builder_add_end(r->b, &end);
		if (slot->kind != UNKNOWN_KIND)
			continue;
		/* the end that a described peer would give itself */
		if (parse_link(p->text, &link) == FAB_LINE_OK)
			fab_builder_set_port(r->b, end.peer, end.peer_port,
					     link.peer_guid, link.peer_lid, 0);
		back.node = end.peer;
		back.port = end.peer_port;
		back.peer = end.node;
		back.peer_port = end.port;
		fab_builder_add_end(r->b, &back);
	}
	return 0;
}

int fab_ibnetdiscover_read(struct fab_builder *b, const char *name, const char *text,
			   size_t n, struct fab_err *err)
{
	struct reader r = {
		.b = b,
		.name = name,
		.err = err,
		.lines = {.at = text, .end = text + n},
		.node = FAB_NONE,
		.slot_of = fab_map64_new(1024),
	};
	int rc = read_lines(&r);

	if (!rc)
		rc = add_cables(&r);
	fab_map64_free(r.slot_of);
	free(r.slots.v);
	free(r.links.v);
	return rc;
}
