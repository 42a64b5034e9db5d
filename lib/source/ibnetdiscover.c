/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/ibnetdiscover.h"

#include "base/map.h"
#include "base/mem.h"
#include "source/reader.h"

#include <errno.h>
#include <stdlib.h>

#define HEADER_EXPECTED "expected TYPE PORTS \"ID\" with TYPE Switch, Ca, Hca or Rt"

struct reader {
	struct fab_builder *b;
	const char *name;
	struct fab_err *err;
	struct fab_lines lines;
	struct fab_dump_ids ids;
	uint32_t node; /* whose links are read, FAB_NONE: none yet */
	uint8_t kind;
	bool has_free_id;
	bool has_comments; /* an ibnetdiscover dump, not a bare net file */
	uint64_t guid;
	struct fab_map64 *slot_of; /* key of an id -> slot */
	FAB_VEC(struct fab_dump_slot) slots;
	FAB_VEC(struct fab_dump_pending) links;
	struct fab_foreign foreign;
	uint64_t n_listed;
	char prefix; /* '<' or '>' when the records stand behind it, else 0 */
};

static int cut_off(struct reader *r, const struct fab_span *line)
{
	return fab_cut_off(r->name, &r->lines, line, r->err);
}

static uint32_t slot_for(struct reader *r, uint64_t key)
{
	uint32_t slot = fab_map64_put(r->slot_of, key, (uint32_t)r->slots.n);

	if (slot == r->slots.n) {
		struct fab_dump_slot fresh = {.node = FAB_NONE};

		FAB_PUSH(&r->slots, fresh);
	}
	return slot;
}

static void add_node(struct reader *r, const struct fab_dump_header *h,
		     struct fab_dump_slot *slot)
{
	bool has_name = h->name_len || h->id.is_guid;
	struct fab_node_spec spec = {
		.kind = (enum fab_node_kind)h->kind,
		.guid = r->guid,
		.sys_guid = r->ids.sys_guid,
		.vendor = r->ids.vendor,
		.device = r->ids.device,
		.n_ports = (uint16_t)h->n_ports,
		.is_enhanced = h->is_enhanced,
		/* ibsim describes a node by its id when nothing else is given. */
		.name = has_name ? h->name : h->id.text,
		.name_len = fab_name_cut(has_name ? h->name_len : h->id.len),
		.line = r->lines.line,
	};

	slot->node = fab_builder_add_node(r->b, &spec);
	slot->kind = h->kind;
	slot->n_ports = h->n_ports;
	slot->line = r->lines.line;
	if (h->kind == FAB_SWITCH)
		fab_builder_set_port(r->b, slot->node, 0,
				     r->ids.port_guid ? r->ids.port_guid : r->guid,
				     h->lid, h->lmc);
}

/* A second record of a node: more of the same, or a contradiction. */
static int merge_node(struct reader *r, const struct fab_dump_header *h,
		      const struct fab_dump_slot *slot)
{
	unsigned long long first = slot->line;

	if (slot->kind != h->kind || slot->n_ports != h->n_ports)
		return fab_fail(
			r->err, EINVAL,
			"%s:%llu: node \"%.*s\" was described otherwise in line "
			"%llu, expected the same type and %u ports",
			r->name, (unsigned long long)r->lines.line,
			(int)(h->id.len < FAB_MAX_SHOWN ? h->id.len : FAB_MAX_SHOWN),
			h->id.text, first, slot->n_ports);
	fab_builder_warn(r->b, "duplicate-guid", r->lines.line,
			 "node \"%.*s\" is described again (first in line %llu); the two "
			 "records are taken together",
			 (int)(h->id.len < FAB_MAX_SHOWN ? h->id.len : FAB_MAX_SHOWN),
			 h->id.text, first);
	fab_builder_warn_about(r->b, "0x%016llx", (unsigned long long)h->id.key);
	return 0;
}

static int on_header(struct reader *r, const struct fab_dump_header *h)
{
	struct fab_dump_slot *slot;
	uint32_t at;
	int rc = 0;

	r->has_free_id = !h->id.is_guid;
	r->kind = h->kind;
	r->guid = h->id.is_guid || !r->ids.guid ? h->id.key : r->ids.guid;
	if (h->id.is_guid && r->ids.has_guid && r->ids.guid != h->id.key) {
		fab_builder_warn(
			r->b, "guid-mismatch", r->lines.line,
			"node \"%.*s\" stands below GUID 0x%016llx; its id counts",
			(int)h->id.len, h->id.text, (unsigned long long)r->ids.guid);
		fab_builder_warn_about(r->b, "0x%016llx", (unsigned long long)h->id.key);
	}
	at = slot_for(r, h->id.key); /* may move the slots */
	slot = &r->slots.v[at];
	if (slot->node == FAB_NONE)
		add_node(r, h, slot);
	else
		rc = merge_node(r, h, slot);
	r->node = slot->node;
	r->ids = (struct fab_dump_ids){.line = 0};
	return rc;
}

static void on_link(struct reader *r, const struct fab_span *line,
		    const struct fab_dump_link *link)
{
	struct fab_dump_pending pending = {
		.node = r->node,
		.peer_slot = slot_for(r, link->peer.key),
		.port = (uint16_t)link->port,
		.peer_port = (uint16_t)link->peer_port,
		.width = link->width,
		.speed = link->speed,
		.line = r->lines.line,
		.text = *line,
	};

	FAB_PUSH(&r->links, pending);
	if (r->kind != FAB_SWITCH) {
		/* ibsim numbers the ports of an adapter on from its own GUID. */
		uint64_t guid = r->has_free_id && !link->own_guid ? r->guid + link->port
								  : link->own_guid;

		fab_builder_set_port(r->b, r->node, (uint16_t)link->port, guid,
				     link->own_lid, link->own_lmc);
	}
	if (!link->is_speed_known)
		fab_builder_warn(r->b, "unknown-speed", r->lines.line,
				 "the speed of port %u is none of those known",
				 link->port);
}

/* Lines of `ibnetdiscover -g` and of its --diff that say nothing about cables. */
static bool is_known_remark(const struct fab_span *line)
{
	return *line->p == '#' || FAB_BEGINS(line, "Chassis ") ||
	       FAB_BEGINS(line, "Hostname:") || FAB_BEGINS(line, "Non-Chassis Nodes");
}

/* A last line without newline that may be the beginning of a record. */
static bool may_begin_record(const struct fab_span *line)
{
	static const char *const words[] = {
		"Switch",  "Ca",      "Hca",	     "Rt",	    "vendid=", "devid=",
		"caguid=", "rtguid=", "sysimgguid=", "switchguid=", "["};
	size_t n = fab_span_len(line);

	for (size_t i = 0; i < FAB_COUNT(words); i++)
		if (n <= strlen(words[i]) && !memcmp(words[i], line->p, n))
			return true;
	return false;
}

static int link_line(struct reader *r, const struct fab_span *line, bool *is_foreign)
{
	struct fab_dump_link link;
	enum fab_line_result what = fab_dump_link_parse(*line, &link);

	*is_foreign = what == FAB_LINE_FOREIGN;
	if (what == FAB_LINE_FOREIGN)
		return 0;
	r->has_comments |= link.has_comment;
	if (r->lines.is_open &&
	    (what == FAB_LINE_BROKEN || link.is_partial || !link.is_speed_known ||
	     link.has_comment != r->has_comments))
		return cut_off(r, line);
	if (what == FAB_LINE_BROKEN)
		fab_builder_warn(r->b, "malformed-line", r->lines.line,
				 "no cable can be read from \"%.*s\"", fab_shown(line),
				 line->p);
	else if (r->node == FAB_NONE)
		fab_builder_warn(r->b, "malformed-line", r->lines.line,
				 "a port stands before any node: \"%.*s\"",
				 fab_shown(line), line->p);
	else
		on_link(r, line, &link);
	return 0;
}

static int header_line(struct reader *r, const struct fab_span *line, bool *is_foreign)
{
	struct fab_dump_header h;
	enum fab_line_result what = fab_dump_header_parse(*line, &h);

	*is_foreign = what == FAB_LINE_FOREIGN;
	if (what == FAB_LINE_FOREIGN)
		return 0;
	r->has_comments |= h.has_comment;
	if (r->lines.is_open &&
	    (what == FAB_LINE_BROKEN || h.is_partial || h.has_comment != r->has_comments))
		return cut_off(r, line);
	if (what == FAB_LINE_BROKEN)
		return fab_fail(r->err, EINVAL,
				"%s:%llu: found \"%.*s\", " HEADER_EXPECTED, r->name,
				(unsigned long long)r->lines.line, fab_shown(line),
				line->p);
	return on_header(r, &h);
}

static int ids_line(struct reader *r, const struct fab_span *line, bool *is_foreign)
{
	enum fab_line_result what = fab_dump_ids_parse(*line, &r->ids);

	*is_foreign = what == FAB_LINE_FOREIGN;
	if (what == FAB_LINE_OK && !r->ids.line)
		r->ids.line = r->lines.line;
	if (what == FAB_LINE_BROKEN && r->lines.is_open)
		return cut_off(r, line);
	if (what == FAB_LINE_BROKEN)
		fab_builder_warn(r->b, "malformed-line", r->lines.line,
				 "no number can be read from \"%.*s\"", fab_shown(line),
				 line->p);
	return 0;
}

static int one_line(struct reader *r, const struct fab_span *line)
{
	bool is_foreign = false;
	int rc;

	if (*line->p == '[') {
		rc = link_line(r, line, &is_foreign);
	} else {
		rc = header_line(r, line, &is_foreign);
		if (!rc && is_foreign)
			rc = ids_line(r, line, &is_foreign);
	}
	if (rc || !is_foreign || is_known_remark(line))
		return rc;
	if (r->lines.is_open && may_begin_record(line))
		return cut_off(r, line);
	r->n_listed += fab_is_node_list_line(*line);
	fab_foreign_add(&r->foreign, r->lines.line);
	return 0;
}

static bool is_record(const struct fab_span *line)
{
	struct fab_dump_ids ids;
	struct fab_dump_header h;

	return fab_dump_header_parse(*line, &h) == FAB_LINE_OK ||
	       fab_dump_ids_parse(*line, &ids) == FAB_LINE_OK;
}

/*
 * A dump that went through diff(1): when the first record stands behind "< " or "> ",
 * that side is read and everything else is foreign. False for a foreign line.
 */
static bool strip_prefix(struct reader *r, struct fab_span *line)
{
	struct fab_span rest = {line->p + 1, line->end};
	char c = *line->p;

	if ((c != '<' && c != '>') || (rest.p != rest.end && *rest.p != ' '))
		return !r->prefix;
	fab_skip_blanks(&rest);
	if (!r->prefix && r->node == FAB_NONE && !r->ids.line && is_record(&rest))
		r->prefix = c;
	if (r->prefix == c)
		*line = rest;
	return true;
}

static int read_lines(struct reader *r)
{
	const char *text = r->lines.at;
	struct fab_span line;
	int rc;

	while (fab_lines_next(&r->lines, &line)) {
		fab_lines_tell(&r->lines, text);
		if (line.p == line.end)
			continue;
		if (*line.p != '[' || r->prefix) {
			if (!strip_prefix(r, &line)) {
				fab_foreign_add(&r->foreign, r->lines.line);
				continue;
			}
			if (line.p == line.end)
				continue;
		}
		rc = one_line(r, &line);
		if (rc)
			return rc;
	}
	return 0;
}

/* What only shows at the end of the input. */
static int check_end(struct reader *r)
{
	unsigned long long last = r->lines.line;
	uint32_t n = fab_builder_n_nodes(r->b), n_switches = 0;

	if (!n && r->n_listed)
		return fab_fail(r->err, EINVAL,
				"%s:%llu: a list of nodes (ibnetdiscover -l) tells no "
				"cables, expected the dump of ibnetdiscover without -l",
				r->name, last);
	if (r->ids.line)
		return fab_fail(
			r->err, EINVAL,
			"%s:%llu: the input ends within the record that begins in "
			"line %llu, expected its node",
			r->name, last, (unsigned long long)r->ids.line);
	for (uint32_t i = 0; i < n; i++)
		n_switches += fab_builder_node(r->b, i)->kind == FAB_SWITCH;
	if (!n_switches || !r->links.n)
		return fab_fail(
			r->err, EINVAL,
			"%s:%llu: the dump ends with %u switch%s, %u adapter%s and "
			"%zu port%s with a cable, expected at least one switch and "
			"one cable",
			r->name, last, n_switches, n_switches == 1 ? "" : "es",
			n - n_switches, n - n_switches == 1 ? "" : "s", r->links.n,
			r->links.n == 1 ? "" : "s");
	fab_foreign_warn(&r->foreign, r->b);
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
	struct fab_dump_peers peers;
	int rc = read_lines(&r);

	if (!rc)
		rc = check_end(&r);
	if (!rc) {
		peers = (struct fab_dump_peers){
			.links = r.links.v, .n_links = r.links.n, .slots = r.slots.v};
		rc = fab_dump_resolve(b, name, &peers, err);
	}
	fab_map64_free(r.slot_of);
	free(r.slots.v);
	free(r.links.v);
	return rc;
}
