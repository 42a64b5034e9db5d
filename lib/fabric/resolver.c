/* SPDX-License-Identifier: BSD-2-Clause */
/* The index of all names, GUIDs and LIDs of a fabric. */
#include "fabric/resolver.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "base/text.h"
#include "fabric/fabric.h"
#include "fabric/label.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	LIDS = 0xc000,
	PORT_MAX = 65534,  /* of generated switches; 254 in InfiniBand */
	READINGS_MAX = 64, /* kept of each text; there may be more */
};

/* Kinds of things that have names. */
enum thing_kind {
	THING_SWITCH,
	THING_ADAPTER, /* every node that is no switch */
	THING_HOST,
	N_NAMED,
	THING_PORT = N_NAMED,
};

struct thing {
	enum thing_kind kind;
	uint32_t id; /* node, host, port */
};

struct view {
	const struct fab_resolver *r;
	enum fab_want want;
};

struct fab_resolver {
	const struct fab_fabric *f;
	/* ids: nodes and hosts. An adapter that is called as its host is not there. */
	struct fab_directory *names[N_NAMED];
	struct fab_map64 *node_guid, *port_guid; /* to nodes and ports, FAB_SHARED */
	uint32_t *lid; /* [FAB_LIDS] port, FAB_SHARED, FAB_NONE */
	struct view view[FAB_N_WANTS];
};

/* Things that a text can denote. */
struct fab_readings {
	struct thing of[READINGS_MAX];
	uint32_t n; /* that are kept */
	uint64_t n_all;
};

/* Readings of a text, and whether they are of the wanted kind. */

static const char *const port_separators[3] = {":", "/", " port "};

static const struct {
	unsigned kinds; /* of things that have names */
	const char *expected, *one, *many;
} wants[FAB_N_WANTS] = {
#define ENDS (1U << THING_ADAPTER | 1U << THING_HOST)
#define NODES (1U << THING_SWITCH | ENDS)
	[FAB_WANT_SWITCH] = {1U << THING_SWITCH, "switch", "switch", "switches"},
	[FAB_WANT_HOST] = {ENDS, "host", "host", "hosts"},
	[FAB_WANT_ENDPOINT] = {NODES, "switch, host or adapter", "member", "members"},
	[FAB_WANT_ADAPTER] = {ENDS, "host or adapter", "adapter", "adapters"},
	[FAB_WANT_CABLE] = {NODES, "switch or host", "link", "links"},
	[FAB_WANT_MEMBER] = {NODES, "switch, host or adapter", "member", "members"},
};

static enum thing_kind kind_of_node(const struct fab_fabric *f, uint32_t node)
{
	return fab_node_is_switch(f, node) ? THING_SWITCH : THING_ADAPTER;
}

static void take(struct fab_readings *out, enum thing_kind kind, uint32_t id)
{
	out->n_all++;
	if (out->n < READINGS_MAX)
		out->of[out->n++] = (struct thing){kind, id};
}

/* The node of a thing; of a host the first. */
static uint32_t node_of(const struct fab_fabric *f, const struct thing *t)
{
	return t->kind == THING_PORT   ? f->port_node[t->id]
	       : t->kind == THING_HOST ? f->host_adapter[f->host_first_adapter[t->id]]
				       : t->id;
}

/* By name, of these kinds; exact, or else case ignored. */
static void read_names(const struct fab_resolver *r, unsigned kinds, const char *text,
		       size_t len, struct fab_readings *out)
{
	for (int by_case = 1; by_case >= 0 && !out->n; by_case--)
		for (int kind = 0; kind < N_NAMED; kind++) {
			struct fab_hits hits;

			if (!(kinds >> kind & 1))
				continue;
			hits = fab_directory_find(r->names[kind], text, len, by_case);
			out->n_all += hits.n;
			for (; hits.n && out->n < READINGS_MAX; hits.n--)
				out->of[out->n++] = (struct thing){
					(enum thing_kind)kind,
					fab_directory_hit(r->names[kind], &hits)};
		}
}

/* A port denotes its node if that is a switch. */
static void take_port(const struct fab_resolver *r, unsigned kinds, uint32_t port,
		      struct fab_readings *out)
{
	uint32_t node = r->f->port_node[port];

	if (!(kinds >> kind_of_node(r->f, node) & 1))
		return;
	if (fab_node_is_switch(r->f, node))
		take(out, THING_SWITCH, node);
	else
		take(out, THING_PORT, port);
}

/* Ports with this LID, or GUID; nodes with the GUID. Of several all are searched for. */
static void read_lid(const struct fab_resolver *r, unsigned kinds, uint64_t lid,
		     struct fab_readings *out)
{
	const struct fab_fabric *f = r->f;
	uint32_t found = r->lid[lid];

	for (uint32_t p = found == FAB_SHARED ? 0 : found; p < f->n_ports; p++) {
		if (f->port_lid[p] && lid >= f->port_lid[p] &&
		    lid < f->port_lid[p] + fab_port_n_lids(f, p))
			take_port(r, kinds, p, out);
		if (found != FAB_SHARED)
			break;
	}
}

static void read_guid(const struct fab_resolver *r, unsigned kinds, uint64_t guid,
		      struct fab_readings *out)
{
	const struct fab_fabric *f = r->f;
	uint32_t node = guid ? fab_map64_get(r->node_guid, guid) : FAB_NONE;
	uint32_t port = guid ? fab_map64_get(r->port_guid, guid) : FAB_NONE;
	bool all = port == FAB_SHARED || node == FAB_SHARED;

	for (uint32_t p = 0; all && p < f->n_ports; p++)
		if (f->port_guid[p] == guid)
			take_port(r, kinds, p, out);
	if (!all && port != FAB_NONE)
		take_port(r, kinds, port, out);
	if (!all &&
	    (node == FAB_NONE || (port != FAB_NONE && f->port_node[port] == node)))
		return;
	for (uint32_t i = all ? 0 : node; i < (all ? f->n_nodes : node + 1); i++)
		if (f->node_guid[i] == guid && kinds >> kind_of_node(f, i) & 1)
			take(out, kind_of_node(f, i), i);
}

/* fe80::GUID, and S-, H-, R- before the digits, as dumps have it. */
static bool parse_guid(const char *text, size_t len, uint64_t *guid)
{
	char address[INET6_ADDRSTRLEN];
	unsigned char bytes[16];

	if (fab_parse_guid(text, len, guid))
		return true;
	if (len == 18 && strchr("SHRshr", text[0]) && text[1] == '-')
		return fab_parse_hex(text + 2, 16, guid);
	if (len < 6 || len >= sizeof(address) || strncasecmp(text, "fe80:", 5) != 0)
		return false;
	memcpy(address, text, len);
	address[len] = '\0';
	if (inet_pton(AF_INET6, address, bytes) != 1)
		return false;
	*guid = 0;
	for (int i = 8; i < 16; i++)
		*guid = *guid << 8 | bytes[i];
	return true;
}

static void read_numbers(const struct fab_resolver *r, unsigned kinds, const char *text,
			 size_t len, struct fab_readings *out)
{
	uint64_t value;

	if (len > 4 && !strncasecmp(text, "lid:", 4)) {
		if (fab_parse_u64(text + 4, len - 4, 1, LIDS - 1, &value))
			read_lid(r, kinds, value, out);
	} else if (parse_guid(text, len, &value)) {
		read_guid(r, kinds, value, out);
	}
}

static size_t port_suffix(const char *text, size_t len, const char *separator,
			  uint64_t *number)
{
	size_t digits = 0, n = strlen(separator);

	while (digits < len && text[len - digits - 1] >= '0' &&
	       text[len - digits - 1] <= '9')
		digits++;
	if (len <= digits + n || memcmp(text + len - digits - n, separator, n) != 0 ||
	    !fab_parse_u64(text + len - digits, digits, 1, PORT_MAX, number))
		return 0;
	return len - digits - n;
}

/* The ports that a number behind a separator names: those of this number, and of a host
 * with several connected ports also the connected one of this number. */
static void read_ports(const struct fab_resolver *r, unsigned kinds,
		       const struct fab_item *name, const char *separator,
		       struct fab_readings *out)
{
	const struct fab_fabric *f = r->f;
	struct fab_readings owners = {.n = 0};
	struct fab_item owner = *name;
	uint64_t number;

	owner.len = port_suffix(name->text, name->len, separator, &number);
	if (!owner.len)
		return;
	read_names(r, kinds, owner.text, owner.len, &owners);
	if (!name->is_quoted)
		read_numbers(r, kinds, owner.text, owner.len, &owners);
	for (uint32_t i = 0; i < owners.n; i++) {
		const struct thing *t = &owners.of[i];
		bool is_host = t->kind == THING_HOST;
		uint32_t one = node_of(f, t), n_connected = 0;
		uint32_t from = is_host ? f->host_first_adapter[t->id] : 0;
		uint32_t to = is_host ? f->host_first_adapter[t->id + 1] : 1;

		for (uint32_t k = from; k < to; k++) {
			uint32_t port = fab_port_find(
				f, is_host ? f->host_adapter[k] : one, (unsigned)number);

			if (port != FAB_NONE)
				take(out, THING_PORT, port);
		}
		for (uint32_t k = from; is_host && k < to; k++)
			FAB_EACH_PORT(f, f->host_adapter[k], p)
				if (fab_port_switch(f, p) != FAB_NONE &&
				    ++n_connected == number && number > 1)
					take(out, THING_PORT, p);
	}
}

/* All readings of a name; of a cable only those of ports. */
static void readings_of(const struct fab_resolver *r, unsigned kinds, bool of_cable,
			const struct fab_item *name, struct fab_readings *out)
{
	out->n = 0;
	out->n_all = 0;
	if (!of_cable)
		read_names(r, kinds, name->text, name->len, out);
	if (!of_cable && !name->is_quoted)
		read_numbers(r, kinds, name->text, name->len, out);
	for (size_t i = 0; i < FAB_COUNT(port_separators); i++)
		if (of_cable || !strcmp(port_separators[i], "/"))
			read_ports(r, kinds, name, port_separators[i], out);
}

static uint32_t endpoint_of(const struct fab_fabric *f, const struct thing *t)
{
	switch (t->kind) {
	case THING_SWITCH:
		return fab_port_find(f, t->id, 0);
	case THING_HOST:
		return fab_host_endpoint(f, t->id);
	case THING_PORT:
		return f->port_cable[t->id] == FAB_NONE ? FAB_NONE : t->id;
	default:
		return fab_node_first_connected_port(f, t->id);
	}
}

uint32_t fab_member_port(const struct fab_fabric *f, uint32_t member,
			 enum fab_member_kind *kind)
{
	*kind = FAB_MEMBER_PORT;
	if (member < f->n_ports)
		return member;
	member -= f->n_ports;
	*kind = member < f->n_nodes ? FAB_MEMBER_ADAPTER : FAB_MEMBER_HOST;
	return member < f->n_nodes ? fab_node_first_connected_port(f, member)
				   : fab_host_endpoint(f, member - f->n_nodes);
}

static uint32_t thing_as(const struct fab_fabric *f, const struct thing *t,
			 enum fab_want want)
{
	bool is_of_switch = fab_node_is_switch(f, node_of(f, t));
	uint32_t port;

	switch (want) {
	case FAB_WANT_MEMBER: /* ports, then nodes, then hosts */
		port = thing_as(f, t, FAB_WANT_ENDPOINT);
		if (port == FAB_NONE || t->kind == THING_SWITCH || t->kind == THING_PORT)
			return port;
		return f->n_ports + t->id + (t->kind == THING_HOST ? f->n_nodes : 0);
	case FAB_WANT_SWITCH:
		return t->kind == THING_SWITCH ? t->id : FAB_NONE;
	case FAB_WANT_HOST:
		return is_of_switch ? FAB_NONE : f->node_host[node_of(f, t)];
	case FAB_WANT_CABLE:
		return t->kind == THING_PORT ? f->port_cable[t->id] : FAB_NONE;
	case FAB_WANT_ADAPTER:
		return is_of_switch ? FAB_NONE : endpoint_of(f, t);
	default: /* a port of a switch, other than 0, is no end */
		return is_of_switch && t->kind == THING_PORT ? FAB_NONE
							     : endpoint_of(f, t);
	}
}

/* Sentences about unknown and ambiguous names. */

enum { SHOWN = 64, CANDIDATES_SHOWN = 3, CANDIDATE_SHOWN = 36 };

static const char *const kinds[] = {
	[THING_SWITCH] = "switch",
	[THING_ADAPTER] = "adapter",
	[THING_HOST] = "host",
	[THING_PORT] = "port",
};

static int shown(const struct fab_item *name)
{
	return name->len > SHOWN ? SHOWN : (int)name->len;
}

/* `, did you mean 'X'?` or nothing. */
static void nearest(const struct fab_resolver *r, unsigned of_kinds, const char *text,
		    size_t len, char out[SHOWN + 40])
{
	struct fab_near near = {0};

	for (int kind = 0; kind < N_NAMED; kind++)
		if (of_kinds >> kind & 1)
			fab_directory_nearest(r->names[kind], text, len, &near);
	*out = '\0';
	if (near.name)
		snprintf(out, SHOWN + 40, "; did you mean '%.*s'?", SHOWN, near.name);
}

static int say_no_cable(const struct fab_resolver *r, const struct fab_item *name,
			struct fab_err *err)
{
	uint64_t number = 0;
	struct fab_item owner = {name->text, 0, name->is_quoted};
	struct fab_readings readings;
	char near[SHOWN + 40];

	for (size_t i = 0; i < FAB_COUNT(port_separators) && !owner.len; i++)
		owner.len =
			port_suffix(name->text, name->len, port_separators[i], &number);
	if (!owner.len)
		return fab_fail(
			err, EINVAL,
			"'%.*s': expected a link as SWITCH:PORT, PORT from 1 to %d",
			shown(name), name->text, PORT_MAX);
	readings_of(r, NODES, false, &owner, &readings);
	if (readings.n)
		return fab_fail(err, ENOENT, "'%.*s': no cable at port %" PRIu64,
				shown(name), name->text, number);
	nearest(r, NODES, owner.text, owner.len, near);
	return fab_fail(err, ENOENT, "'%.*s': no switch or host is called '%.*s'%s",
			shown(name), name->text, shown(&owner), owner.text, near);
}

/* The name has a reading, but of another kind, or of something without a cable. */
static int say_other(const struct fab_resolver *r, enum fab_want want,
		     const struct fab_item *name, const struct thing *t,
		     struct fab_err *err)
{
	const struct fab_fabric *f = r->f;
	bool is_switch = fab_node_is_switch(f, node_of(f, t));
	enum thing_kind as = t->kind == THING_PORT ? THING_ADAPTER : t->kind;
	const char *kind = kinds[t->kind];

	if (want != FAB_WANT_HOST && wants[want].kinds >> as & 1 &&
	    !(t->kind == THING_PORT && is_switch))
		return fab_fail(err, ENOENT, "'%.*s' has no cable", shown(name),
				name->text);
	if (t->kind == THING_ADAPTER && f->node_kind[t->id] == FAB_AGGREGATION)
		kind = "aggregation node";
	else if (t->kind == THING_ADAPTER && f->node_kind[t->id] == FAB_ROUTER)
		kind = "router";
	else if (t->kind == THING_PORT)
		kind = is_switch ? "switch's port" : "adapter's port";
	return fab_fail(err, EINVAL, "'%.*s' is %s %s: expected a %s", shown(name),
			name->text, *kind == 'a' ? "an" : "a", kind,
			wants[want].expected);
}

static int say_none(const struct fab_resolver *r, enum fab_want want,
		    const struct fab_item *name, struct fab_err *err)
{
	struct fab_readings readings;
	char near[SHOWN + 40];
	uint64_t lid;

	if (want == FAB_WANT_CABLE)
		return err ? say_no_cable(r, name, err) : -ENOENT;
	readings_of(r, NODES, false, name, &readings);
	if (readings.n)
		return say_other(r, want, name, &readings.of[0], err);
	if (!err)
		return -ENOENT;
	if (!name->is_quoted && name->len > 4 && !strncasecmp(name->text, "lid:", 4)) {
		if (!fab_parse_u64(name->text + 4, name->len - 4, 1, LIDS - 1, &lid))
			return fab_fail(err, ENOENT,
					"'%.*s': expected lid:N, N from 1 to 49151",
					shown(name), name->text);
		return fab_fail(err, ENOENT, "no port has LID %" PRIu64, lid);
	}
	if (!name->is_quoted && name->len > 2 && !strncasecmp(name->text, "0x", 2))
		return fab_fail(err, ENOENT, "no %s has the GUID or name '%.*s'",
				wants[want].expected, shown(name), name->text);
	nearest(r, wants[want].kinds, name->text, name->len, near);
	return fab_fail(err, ENOENT, "no %s is called '%.*s'%s", wants[want].expected,
			shown(name), name->text, near);
}

/* `want` FAB_N_WANTS: all readings count. */
static int say_several(const struct fab_resolver *r, enum fab_want want,
		       const struct fab_item *name, const struct fab_readings *readings,
		       struct fab_err *err)
{
	char list[CANDIDATES_SHOWN * (CANDIDATE_SHOWN + 48)] = "", more[40] = "";
	const struct fab_fabric *f = r->f;
	uint64_t n = 0;
	size_t at = 0;

	if (!err)
		return -EINVAL;
	for (uint32_t i = 0; i < readings->n; i++) {
		const struct thing *t = &readings->of[i];
		uint32_t node = node_of(f, t);
		char port[8] = "";

		if ((want != FAB_N_WANTS && thing_as(f, t, want) == FAB_NONE) ||
		    n++ >= CANDIDATES_SHOWN)
			continue;
		if (t->kind == THING_PORT)
			snprintf(port, sizeof(port), "/%u", f->port_num[t->id]);
		at += (size_t)snprintf(list + at, sizeof(list) - at,
				       "%s%.*s%s (0x%016" PRIx64 ")", at ? ", " : "",
				       CANDIDATE_SHOWN,
				       t->kind == THING_HOST ? fab_host_name(f, t->id)
							     : fab_node_name(f, node),
				       port, f->node_guid[node]);
	}
	n += readings->n_all - readings->n;
	if (n > CANDIDATES_SHOWN)
		snprintf(more, sizeof(more), " and %" PRIu64 " more",
			 n - CANDIDATES_SHOWN);
	return fab_fail(err, EINVAL,
			"'%.*s' can be each of %" PRIu64
			": %s%s; expected one, by its GUID",
			shown(name), name->text, n, list, more);
}

int fab_resolve(const struct fab_resolver *r, enum fab_want want,
		const struct fab_item *name, uint32_t *id, struct fab_err *err)
{
	enum fab_want same = want == FAB_WANT_MEMBER ? FAB_WANT_ENDPOINT : want;
	uint32_t found = FAB_NONE, widest = FAB_NONE;
	struct fab_readings readings;

	if (!name->len)
		return fab_fail(err, EINVAL, "expected a name, found nothing");
	readings_of(r, wants[want].kinds, want == FAB_WANT_CABLE, name, &readings);
	for (uint32_t i = 0; i < readings.n; i++) {
		uint32_t is = thing_as(r->f, &readings.of[i], same);
		uint32_t as = thing_as(r->f, &readings.of[i], want);

		if (found != FAB_NONE && is != FAB_NONE && is != found)
			return say_several(r, want, name, &readings, err);
		found = is == FAB_NONE ? found : is;
		if (as != FAB_NONE && (widest == FAB_NONE || as > widest))
			widest = as; /* hosts come behind adapters behind ports */
	}
	if (readings.n_all > readings.n)
		return say_several(r, want, name, &readings, err);
	if (found == FAB_NONE)
		return say_none(r, want, name, err);
	*id = widest;
	return 0;
}

/* Places for the number behind the separator of a name, each once; of a host with several
 * adapters those that read_ports() finds. */
static void read_sockets(const struct fab_resolver *r, const struct fab_item *name,
			 const char *separator, struct fab_readings *out,
			 uint64_t *number)
{
	struct fab_item owner = *name;
	struct fab_readings owners, ports = {.n = 0};

	owner.len = port_suffix(name->text, name->len, separator, number);
	if (!owner.len)
		return;
	readings_of(r, NODES, false, &owner, &owners);
	for (uint32_t i = 0; i < owners.n; i++) {
		const struct thing *t = &owners.of[i];
		const uint32_t *first = &r->f->host_first_adapter[t->id];

		if (t->kind != THING_HOST || first[1] - first[0] == 1)
			take(out, THING_ADAPTER, node_of(r->f, t));
		else
			read_ports(r, 1U << THING_HOST, name, separator, &ports);
	}
	for (uint32_t i = 0; i < ports.n; i++)
		take(out, THING_PORT, ports.of[i].id);
}

int fab_resolve_socket(const struct fab_resolver *r, const struct fab_item *name,
		       struct fab_socket *out, struct fab_err *err)
{
	struct fab_readings found = {.n = 0};
	bool is_found = false;

	for (size_t i = 0; i < FAB_COUNT(port_separators); i++) {
		uint64_t number = 0;
		uint32_t before = found.n;

		read_sockets(r, name, port_separators[i], &found, &number);
		for (uint32_t k = before; k < found.n; k++) {
			const struct thing *t = &found.of[k];
			struct fab_socket at = {node_of(r->f, t), (uint16_t)number};

			if (t->kind == THING_PORT)
				at.port = r->f->port_num[t->id];
			if (is_found && (at.node != out->node || at.port != out->port))
				return say_several(r, FAB_N_WANTS, name, &found, err);
			*out = at;
			is_found = true;
		}
	}
	if (found.n_all > found.n)
		return say_several(r, FAB_N_WANTS, name, &found, err);
	return is_found ? 0 : say_none(r, FAB_WANT_CABLE, name, err);
}

int fab_resolve_nodes(const struct fab_resolver *r, const struct fab_item *name,
		      struct fab_node_ids *out, struct fab_err *err)
{
	struct fab_readings readings;
	struct fab_node_ids first = {FAB_NONE, FAB_NONE};

	readings_of(r, NODES, false, name, &readings);
	for (uint32_t i = 0; i < readings.n; i++) {
		const struct thing *t = &readings.of[i];
		const struct fab_node_ids ids = {
			t->kind == THING_HOST ? FAB_NONE : node_of(r->f, t),
			t->kind == THING_HOST ? t->id : FAB_NONE};

		if (t->kind == THING_PORT &&
		    port_suffix(name->text, name->len, "/", &(uint64_t){0}))
			continue;
		if ((first.node != FAB_NONE || first.host != FAB_NONE) &&
		    (ids.node != first.node || ids.host != first.host))
			return say_several(r, FAB_N_WANTS, name, &readings, err);
		first = ids;
	}
	*out = first;
	return first.node != FAB_NONE || first.host != FAB_NONE
		       ? 0
		       : say_none(r, FAB_WANT_ENDPOINT, name, err);
}

int fab_resolve_text(const struct fab_resolver *r, enum fab_want want, const char *text,
		     size_t len, uint32_t *id, struct fab_err *err)
{
	const struct fab_item name = {.text = text, .len = len};

	return fab_resolve(r, want, &name, id, err);
}

/* Patterns, and the resolver as something that lists can ask. */

/* SWITCH:PORT, both of them patterns: the cables, or what is at their other ends. */
static void match_ports(const struct view *v, const char *pattern, struct fab_ids *out)
{
	const struct fab_fabric *f = v->r->f;
	const char *colon = strrchr(pattern, ':');
	FAB_AUTOFREE struct fab_ids switches = {0};
	FAB_AUTOFREE char *name = NULL;
	uint32_t id;

	if (!colon)
		return;
	name = fab_strndup(pattern, (size_t)(colon - pattern));
	fab_directory_match(v->r->names[THING_SWITCH], name, &switches);
	if (!switches.of.n &&
	    !fab_resolve_text(v->r, FAB_WANT_SWITCH, name, strlen(name), &id, NULL))
		FAB_PUSH(&switches.of, id);
	for (size_t i = 0; i < switches.of.n; i++)
		FAB_EACH_PORT(f, switches.of.v[i], p) {
			struct thing t = {THING_PORT, p};
			char number[8];

			snprintf(number, sizeof(number), "%u", f->port_num[p]);
			if (f->port_cable[p] == FAB_NONE ||
			    !fab_text_glob(colon + 1, number))
				continue;
			if (v->want != FAB_WANT_CABLE)
				t.id = fab_port_peer(f, p);
			id = thing_as(f, &t, v->want);
			if (id != FAB_NONE)
				FAB_PUSH(&out->of, id);
		}
}

static void match(const void *of, const char *pattern, struct fab_ids *out)
{
	static const enum thing_kind order[] = {THING_HOST, THING_ADAPTER, THING_SWITCH};
	const struct view *v = of;
	size_t first = out->of.n;
	size_t n;

	for (size_t i = 0; i < FAB_COUNT(order) && out->of.n == first; i++) {
		FAB_AUTOFREE struct fab_ids ids = {0};

		if (v->want == FAB_WANT_CABLE || !(wants[v->want].kinds >> order[i] & 1))
			continue;
		fab_directory_match(v->r->names[order[i]], pattern, &ids);
		for (size_t k = 0; k < ids.of.n; k++) {
			const struct thing t = {order[i], ids.of.v[k]};
			uint32_t id = thing_as(v->r->f, &t, v->want);

			if (id != FAB_NONE)
				FAB_PUSH(&out->of, id);
		}
	}
	if (out->of.n == first)
		match_ports(v, pattern, out);
	/* Ids from `first` on, each once. */
	n = first;
	if (out->of.n == first)
		return;
	qsort(out->of.v + first, out->of.n - first, sizeof(*out->of.v), fab_cmp_u32);
	for (size_t j = first; j < out->of.n; j++)
		if (n == first || out->of.v[n - 1] != out->of.v[j])
			out->of.v[n++] = out->of.v[j];
	out->of.n = n;
}

static int find(const void *of, const struct fab_item *name, uint32_t *id,
		struct fab_err *err)
{
	const struct view *v = of;

	return fab_resolve(v->r, v->want, name, id, err);
}

static char *name(const void *of, uint32_t id)
{
	const struct view *v = of;
	const struct fab_fabric *f = v->r->f;
	enum fab_member_kind kind;

	switch (v->want) {
	case FAB_WANT_SWITCH:
		return fab_strdup(fab_node_name(f, id));
	case FAB_WANT_HOST:
		return fab_strdup(fab_host_name(f, id));
	case FAB_WANT_CABLE:
		return fab_format("%s:%u", fab_node_name(f, f->port_node[f->cable_a[id]]),
				  f->port_num[f->cable_a[id]]);
	default:
		if (v->want == FAB_WANT_MEMBER)
			id = fab_member_port(f, id, &kind);
		return fab_strdup(fab_node_name(f, f->port_node[id]));
	}
}

struct fab_lookup fab_resolver_lookup(const struct fab_resolver *r, enum fab_want want)
{
	const struct fab_fabric *f = r->f;

	return (struct fab_lookup){
		.of = &r->view[want],
		.one = wants[want].one,
		.many = wants[want].many,
		.n_known = want == FAB_WANT_CABLE ? 2 * (uint64_t)f->n_cables
						  : (uint64_t)f->n_nodes + f->n_hosts,
		.find = find,
		.match = match,
		.name = name,
	};
}

uint32_t fab_host_endpoint(const struct fab_fabric *f, uint32_t host)
{
	uint32_t best = FAB_NONE;
	bool best_on_switch = false;

	FAB_EACH_ADAPTER(f, host, i) {
		uint32_t adapter = f->host_adapter[i];
		uint32_t port = fab_node_first_connected_port(f, adapter);
		bool on_switch;

		if (port == FAB_NONE)
			continue;
		on_switch = fab_port_switch(f, port) != FAB_NONE;
		if (best != FAB_NONE &&
		    (on_switch < best_on_switch ||
		     (on_switch == best_on_switch &&
		      fab_text_natural_cmp(fab_node_name(f, adapter),
					   fab_node_name(f, f->port_node[best])) >= 0)))
			continue;
		best = port;
		best_on_switch = on_switch;
	}
	return best;
}

/* A name, as reports print it in any locale, and as dumps have it: control characters are
 * blanks. */
static void add(struct fab_directory *d, const char *name, uint32_t id)
{
	size_t len = strlen(name), size = 4 * len + 1;
	FAB_AUTOFREE char *other = fab_text_safe(name, fab_alloc(size, 1), size);
	FAB_AUTOFREE char *ascii = fab_text_ascii(fab_strdup(other));

	fab_directory_add(d, name, len, id);
	if (strcmp(ascii, other) != 0)
		fab_directory_add(d, ascii, strlen(ascii), id);
	if (strcmp(other, name) != 0) {
		fab_directory_add(d, other, strlen(other), id);
		fab_text_blank(strcpy(other, name));
		fab_directory_add(d, other, len, id);
	}
}

/* The coordinates behind `leaf-` at the end of a name; NULL: it has none. */
static const char *coordinates_of(const char *name)
{
	static const char leaf[] = "leaf-";
	const char *at = NULL;

	for (const char *next = name; (next = strstr(next, leaf)); next++)
		at = next + sizeof(leaf) - 1;
	if (!at || !strchr(at, '.') || strspn(at, "0123456789.") != strlen(at))
		return NULL;
	return at;
}

struct fab_resolver *fab_resolver_new(const struct fab_fabric *f)
{
	struct fab_resolver *r = FAB_NEW0(1, struct fab_resolver);
	FAB_AUTO(fab_plain_names_fini) struct fab_plain_names plain;
	struct fab_directory *d;
	char label[FAB_LABEL_SIZE];

	r->f = f;
	r->names[THING_SWITCH] = fab_directory_new(2 * (size_t)f->n_switches);
	r->names[THING_ADAPTER] = fab_directory_new(f->n_nodes - f->n_switches);
	r->names[THING_HOST] = fab_directory_new(f->n_hosts);
	r->node_guid = fab_guids_new(f, f->n_nodes);
	r->port_guid = fab_map64_new(f->n_nodes);
	r->lid = fab_none_new(LIDS);
	for (int want = 0; want < FAB_N_WANTS; want++)
		r->view[want] = (struct view){r, (enum fab_want)want};
	fab_plain_names_init(&plain, f);
	d = r->names[THING_SWITCH];
	for (uint32_t s = 0; s < f->n_switches; s++) {
		const char *name = fab_node_name(f, s);
		const char *coordinates = coordinates_of(name);

		add(d, name, s);
		add(d, fab_label_short(name, label, sizeof(label)), s);
		add(d, plain.of_switch[s], s);
		if (coordinates)
			add(d, coordinates, s);
	}
	for (uint32_t i = f->n_switches; i < f->n_nodes; i++) {
		const char *name = fab_node_name(f, i);

		if (f->node_host[i] == FAB_NONE ||
		    strcmp(name, fab_host_name(f, f->node_host[i])) != 0)
			add(r->names[THING_ADAPTER], name, i);
	}
	for (uint32_t h = 0; h < f->n_hosts; h++) {
		add(r->names[THING_HOST], fab_host_name(f, h), h);
		add(r->names[THING_HOST], plain.of_host[h], h);
	}
	for (uint32_t p = 0; p < f->n_ports; p++)
		if (f->port_guid[p] &&
		    fab_map64_put(r->port_guid, f->port_guid[p], p) != p)
			fab_map64_set(r->port_guid, f->port_guid[p], FAB_SHARED);
	for (uint32_t i = 0; i < f->n_ports; i++) {
		uint32_t lid = f->port_lid[i];
		uint32_t end = lid + fab_port_n_lids(f, i);

		for (; lid && lid < end && lid < LIDS; lid++)
			r->lid[lid] = r->lid[lid] == FAB_NONE ? i : FAB_SHARED;
	}
	return r;
}

void fab_resolver_free(struct fab_resolver *r)
{
	if (!r)
		return;
	for (int kind = 0; kind < N_NAMED; kind++)
		fab_directory_free(r->names[kind]);
	fab_map64_free(r->node_guid);
	fab_map64_free(r->port_guid);
	free(r->lid);
	free(r);
}
