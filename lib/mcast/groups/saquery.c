/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups out of the member records that saquery(8) prints. */
#include "base/map.h"
#include "base/num.h"
#include "base/order.h"
#include "mcast/groups/collect.h"
#include "mcast/tables.h"
#include "source/scan.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>

enum { FULL_MEMBER = 1, STATE_MASK = 0xf };

/* Fields of a record so far. */
struct record {
	uint64_t line;	/* of its heading, 0: none yet */
	bool is_member; /* not one of -g */
	bool has_mlid, has_guid, has_state;
	uint16_t mlid;
	uint64_t guid, guid_line;
	unsigned state;
};

struct found {
	uint16_t mlid;
	uint32_t port, number;
	uint64_t line;
};

struct reading {
	struct fab_groups_builder *b;
	struct fab_line_place place; /* at hand */
	struct fab_map64 *ports;     /* by GUID, FAB_SHARED when two have it */
	bool ignore_unknown;
	struct record now;
	uint64_t n_members;
	FAB_VEC(struct found) found;
};

static bool is_heading(const struct fab_span *line)
{
	return FAB_BEGINS(line, "MCMemberRecord group dump") ||
	       FAB_BEGINS(line, "MCMemberRecord member dump") ||
	       FAB_BEGINS(line, "MCMember Record dump");
}

bool fab_is_saquery(const char *text, size_t len)
{
	struct fab_lines lines = {.at = text, .end = text + len};
	struct fab_span line;

	while (fab_lines_next(&lines, &line))
		if (line.p < line.end && *line.p != '#')
			return is_heading(&line);
	return false;
}

/* The lower half of fe80::2:c903:0:5, or of 0xfe80000000000000 : 0x0002c90300000005. */
static bool parse_gid(const struct fab_span *value, uint64_t *guid)
{
	char text[INET6_ADDRSTRLEN + 1];
	size_t len = fab_span_len(value);
	uint8_t bytes[16];
	const char *last;

	if (FAB_BEGINS(value, "0x")) {
		last = fab_span_last(value, ' ');
		return last &&
		       fab_parse_guid(last + 1, (size_t)(value->end - last - 1), guid);
	}
	if (len >= sizeof(text))
		return false;
	memcpy(text, value->p, len);
	text[len] = '\0';
	if (inet_pton(AF_INET6, text, bytes) != 1)
		return false;
	*guid = 0;
	for (int i = 8; i < 16; i++)
		*guid = *guid << 8 | bytes[i];
	return true;
}

static int bad_value(const struct reading *r, const char *what,
		     const struct fab_span *value)
{
	size_t len = fab_span_len(value);

	return fab_line_fail(&r->place, "\"%.*s\" is no %s", (int)(len < 60 ? len : 60),
			     value->p, what);
}

static int take_value(struct reading *r, const struct fab_span *label,
		      const struct fab_span *value)
{
	struct record *now = &r->now;
	size_t len = fab_span_len(label);
	uint64_t number;

	if (len == 4 && (FAB_BEGINS(label, "Mlid") || FAB_BEGINS(label, "mlid"))) {
		now->mlid = fab_mlid_parse(value->p, fab_span_len(value));
		now->has_mlid = true;
		if (!now->mlid)
			return bad_value(r, "multicast LID (0xc000 to 0xfffe)", value);
	} else if (len == 7 && FAB_BEGINS(label, "PortGid")) {
		now->has_guid = true;
		now->guid_line = r->place.line;
		if (!parse_gid(value, &now->guid))
			return bad_value(r, "GID", value);
	} else if ((len == 10 && FAB_BEGINS(label, "ScopeState")) ||
		   (len == 9 && FAB_BEGINS(label, "JoinState"))) {
		if (!fab_parse_u64(value->p, fab_span_len(value), 0, UINT8_MAX, &number))
			return bad_value(r, "state", value);
		now->has_state = true;
		now->state = (unsigned)number & STATE_MASK;
	}
	return 0;
}

/* End of a record: keep a member that receives. */
static int finish_record(struct reading *r)
{
	const struct record now = r->now;
	struct fab_line_place at = {r->place.file, now.line, r->place.err};
	uint32_t port;

	r->now = (struct record){0};
	if (!now.line || !now.is_member)
		return 0;
	if (!now.has_mlid || !now.has_guid || !now.has_state)
		return fab_line_fail(&at, "a record without %s",
				     !now.has_mlid   ? "MLID"
				     : !now.has_guid ? "PortGid"
						     : "ScopeState or JoinState");
	r->n_members++;
	at.line = now.guid_line;
	if (!now.guid && !r->ignore_unknown)
		return fab_line_fail(
			&at,
			"group \"0x%04x\": the PortGid is hidden, as in queries without --smkey; expected saquery -m --smkey KEY (sm_key in opensm.conf, 1 by default)",
			now.mlid);
	if (now.guid && !(now.state & FULL_MEMBER))
		return 0;
	port = fab_map64_get(r->ports, now.guid);
	if (port < FAB_SHARED) {
		FAB_PUSH(&r->found, ((struct found){now.mlid, port, (uint32_t)r->found.n,
						    now.guid_line}));
		return 0;
	}
	if (r->ignore_unknown) {
		r->b->n_unknown++;
		return 0;
	}
	return fab_line_fail(&at, "group \"0x%04x\": member with port GUID 0x%016llx %s",
			     now.mlid, (unsigned long long)now.guid,
			     port == FAB_SHARED ? "is there twice in the fabric"
						: "does not exist");
}

static int read_line(struct reading *r, struct fab_span line)
{
	struct fab_span label = line, value = line;
	int rc;

	if (is_heading(&line)) {
		rc = finish_record(r);
		r->now.line = r->place.line;
		r->now.is_member = !FAB_BEGINS(&line, "MCMemberRecord group");
		return rc;
	}
	if (!r->now.line)
		return 0;
	value.p = memchr(line.p, '.', fab_span_len(&line));
	if (!value.p)
		return 0;
	label.end = value.p;
	while (fab_take_char(&value, '.'))
		;
	return take_value(r, &label, &value);
}

FAB_ORDER(by_mlid, struct found, mlid, number)

int fab_saquery_read(struct fab_groups_builder *b, const char *file, const char *text,
		     size_t len, bool ignore_unknown, struct fab_err *err)
{
	struct reading r = {.b = b,
			    .place = {file, 0, err},
			    .ports = fab_map64_new(b->f->n_nodes),
			    .ignore_unknown = ignore_unknown};
	struct fab_lines lines = {.at = text, .end = text + len};
	struct fab_span line;
	const struct fab_fabric *f = b->f;
	int rc = 0;

	for (uint32_t p = 0; p < f->n_ports; p++) {
		uint64_t guid = f->port_guid[p];

		if (!f->port_num[p] && !guid)
			guid = f->node_guid[f->port_node[p]];
		if (guid && (f->port_cable[p] != FAB_NONE || !f->port_num[p]) &&
		    fab_map64_put(r.ports, guid, p) != p)
			fab_map64_set(r.ports, guid, FAB_SHARED);
	}
	while (!rc && fab_lines_next(&lines, &line)) {
		r.place.line = lines.line;
		rc = read_line(&r, line);
	}
	if (!rc)
		rc = finish_record(&r);
	if (!rc && !r.n_members)
		rc = fab_fail(
			err, EINVAL,
			"%s: groups without members, expected the output of saquery -m",
			file);
	if (!rc) {
		const struct found *v = r.found.v;
		char name[FAB_MLID_TEXT];

		FAB_SORT(&r.found, by_mlid);
		for (size_t i = 0; i < r.found.n; i++) {
			if (!i || v[i].mlid != v[i - 1].mlid) {
				r.b->here.line = v[i].line;
				fab_mlid_text(v[i].mlid, name);
				fab_groups_builder_begin(r.b, name, strlen(name));
			}
			fab_groups_builder_add(r.b, v[i].port);
		}
	}
	fab_map64_free(r.ports);
	free(r.found.v);
	return rc;
}
