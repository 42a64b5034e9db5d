/* SPDX-License-Identifier: BSD-2-Clause */
/* What a text can be read as, and whether that is what is wanted. */
#include "fabric/resolver_impl.h"

#include "base/num.h"
#include "base/text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const fab_port_separators[3] = {":", "/", " port "};

unsigned fab_want_kinds(enum fab_want want)
{
	switch (want) {
	case FAB_WANT_SWITCH:
		return 1U << FAB_THING_SWITCH;
	case FAB_WANT_HOST:
	case FAB_WANT_ADAPTER:
		return 1U << FAB_THING_ADAPTER | 1U << FAB_THING_HOST;
	default:
		return 1U << FAB_THING_SWITCH | 1U << FAB_THING_ADAPTER |
		       1U << FAB_THING_HOST;
	}
}

static enum fab_thing_kind kind_of_node(const struct fab_fabric *f, uint32_t node)
{
	return fab_node_is_switch(f, node) ? FAB_THING_SWITCH : FAB_THING_ADAPTER;
}

static void take(struct fab_readings *out, enum fab_thing_kind kind, uint32_t id)
{
	out->n_all++;
	if (out->n < FAB_READINGS_MAX)
		out->of[out->n++] = (struct fab_thing){kind, id};
}

/* By name, of these kinds; equal to the letter, or else whatever the case. */
static void read_names(const struct fab_resolver *r, unsigned kinds, const char *text,
		       size_t len, struct fab_readings *out)
{
	for (int by_case = 1; by_case >= 0 && !out->n; by_case--)
		for (int kind = 0; kind < FAB_N_NAMED; kind++) {
			struct fab_hits hits;

			if (!(kinds >> kind & 1))
				continue;
			hits = fab_directory_find(r->names[kind], text, len, by_case);
			out->n_all += hits.n;
			for (; hits.n && out->n < FAB_READINGS_MAX; hits.n--)
				out->of[out->n++] = (struct fab_thing){
					(enum fab_thing_kind)kind,
					fab_directory_hit(r->names[kind], &hits)};
		}
}

/* A port stands for its node where that is not an adapter of several ports. */
static void take_port(const struct fab_resolver *r, unsigned kinds, uint32_t port,
		      struct fab_readings *out)
{
	uint32_t node = r->f->port_node[port];

	if (!(kinds >> kind_of_node(r->f, node) & 1))
		return;
	if (fab_node_is_switch(r->f, node))
		take(out, FAB_THING_SWITCH, node);
	else
		take(out, FAB_THING_PORT, port);
}

static void read_lid(const struct fab_resolver *r, unsigned kinds, uint64_t lid,
		     struct fab_readings *out)
{
	const struct fab_fabric *f = r->f;

	if (r->lid[lid] == FAB_NONE)
		return;
	if (r->lid[lid] != FAB_SHARED) {
		take_port(r, kinds, r->lid[lid], out);
		return;
	}
	for (uint32_t p = 0; p < f->n_ports; p++)
		if (f->port_lid[p] && lid >= f->port_lid[p] &&
		    lid < f->port_lid[p] + fab_port_n_lids(f, p))
			take_port(r, kinds, p, out);
}

static void read_guid(const struct fab_resolver *r, unsigned kinds, uint64_t guid,
		      struct fab_readings *out)
{
	const struct fab_fabric *f = r->f;
	uint32_t node = guid ? fab_map64_get(r->node_guid, guid) : FAB_NONE;
	uint32_t port = guid ? fab_map64_get(r->port_guid, guid) : FAB_NONE;

	if (port == FAB_SHARED || node == FAB_SHARED) {
		for (uint32_t p = 0; p < f->n_ports; p++)
			if (f->port_guid[p] == guid)
				take_port(r, kinds, p, out);
		for (uint32_t i = 0; i < f->n_nodes; i++)
			if (f->node_guid[i] == guid && kinds >> kind_of_node(f, i) & 1)
				take(out, kind_of_node(f, i), i);
		return;
	}
	if (port != FAB_NONE)
		take_port(r, kinds, port, out);
	if (node != FAB_NONE && (port == FAB_NONE || f->port_node[port] != node) &&
	    kinds >> kind_of_node(f, node) & 1)
		take(out, kind_of_node(f, node), node);
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
		if (fab_parse_u64(text + 4, len - 4, 1, FAB_LIDS - 1, &value))
			read_lid(r, kinds, value, out);
	} else if (parse_guid(text, len, &value)) {
		read_guid(r, kinds, value, out);
	}
}

size_t fab_port_suffix(const char *text, size_t len, const char *separator,
		       uint64_t *number)
{
	size_t digits = 0, n = strlen(separator);

	while (digits < len && text[len - digits - 1] >= '0' &&
	       text[len - digits - 1] <= '9')
		digits++;
	if (len <= digits + n || memcmp(text + len - digits - n, separator, n) != 0 ||
	    !fab_parse_u64(text + len - digits, digits, 1, 255, number))
		return 0;
	return len - digits - n;
}

static void take_ports_of(const struct fab_fabric *f, uint32_t node, unsigned number,
			  struct fab_readings *out)
{
	uint32_t port = fab_port_find(f, node, number);

	if (port != FAB_NONE)
		take(out, FAB_THING_PORT, port);
}

/* Ports of this number of a host's adapters; its connected port of this number, too, if
 * they are several. */
static void take_host_ports(const struct fab_fabric *f, uint32_t host, unsigned number,
			    struct fab_readings *out)
{
	uint32_t from = f->host_first_adapter[host], to = f->host_first_adapter[host + 1];
	unsigned connected = 0;

	for (uint32_t i = from; i < to; i++)
		take_ports_of(f, f->host_adapter[i], number, out);
	for (uint32_t i = from; i < to; i++) {
		uint32_t node = f->host_adapter[i];

		for (uint32_t p = f->node_first_port[node];
		     p < f->node_first_port[node + 1]; p++)
			if (fab_port_switch(f, p) != FAB_NONE && ++connected == number &&
			    number > 1)
				take(out, FAB_THING_PORT, p);
	}
}

/* The port that a number behind a separator names. */
static void read_ports(const struct fab_resolver *r, unsigned kinds,
		       const struct fab_item *name, const char *separator,
		       struct fab_readings *out)
{
	struct fab_readings owners = {.n = 0};
	struct fab_item owner = *name;
	uint64_t number;

	owner.len = fab_port_suffix(name->text, name->len, separator, &number);
	if (!owner.len)
		return;
	read_names(r, kinds, owner.text, owner.len, &owners);
	if (!name->is_quoted)
		read_numbers(r, kinds, owner.text, owner.len, &owners);
	for (uint32_t i = 0; i < owners.n; i++) {
		const struct fab_thing *t = &owners.of[i];

		if (t->kind == FAB_THING_HOST)
			take_host_ports(r->f, t->id, (unsigned)number, out);
		else
			take_ports_of(r->f,
				      t->kind == FAB_THING_PORT ? r->f->port_node[t->id]
								: t->id,
				      (unsigned)number, out);
	}
}

void fab_readings_of(const struct fab_resolver *r, unsigned kinds,
		     const struct fab_item *name, struct fab_readings *out)
{
	out->n = 0;
	out->n_all = 0;
	read_names(r, kinds, name->text, name->len, out);
	if (!name->is_quoted)
		read_numbers(r, kinds, name->text, name->len, out);
	read_ports(r, kinds, name, "/", out);
}

static void cables_of(const struct fab_resolver *r, const struct fab_item *name,
		      struct fab_readings *out)
{
	unsigned kinds = fab_want_kinds(FAB_WANT_CABLE);

	out->n = 0;
	out->n_all = 0;
	for (size_t i = 0; i < FAB_COUNT(fab_port_separators); i++)
		read_ports(r, kinds, name, fab_port_separators[i], out);
}

static uint32_t host_of(const struct fab_fabric *f, const struct fab_thing *t)
{
	if (t->kind == FAB_THING_HOST)
		return t->id;
	return f->node_host[t->kind == FAB_THING_PORT ? f->port_node[t->id] : t->id];
}

static uint32_t endpoint_of(const struct fab_fabric *f, const struct fab_thing *t)
{
	switch (t->kind) {
	case FAB_THING_SWITCH:
		return fab_port_find(f, t->id, 0);
	case FAB_THING_HOST:
		return fab_host_endpoint(f, t->id);
	case FAB_THING_PORT:
		return f->port_cable[t->id] == FAB_NONE ? FAB_NONE : t->id;
	default:
		return fab_node_first_connected_port(f, t->id);
	}
}

/* Ports, then nodes, then hosts. */
static uint32_t member_of(const struct fab_fabric *f, const struct fab_thing *t)
{
	uint32_t port = fab_thing_as(f, t, FAB_WANT_ENDPOINT);

	if (port == FAB_NONE || t->kind == FAB_THING_SWITCH || t->kind == FAB_THING_PORT)
		return port;
	return f->n_ports + t->id + (t->kind == FAB_THING_HOST ? f->n_nodes : 0);
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

uint32_t fab_thing_as(const struct fab_fabric *f, const struct fab_thing *t,
		      enum fab_want want)
{
	bool is_of_switch =
		t->kind == FAB_THING_SWITCH ||
		(t->kind == FAB_THING_PORT && fab_node_is_switch(f, f->port_node[t->id]));

	switch (want) {
	case FAB_WANT_MEMBER:
		return member_of(f, t);
	case FAB_WANT_SWITCH:
		return t->kind == FAB_THING_SWITCH ? t->id : FAB_NONE;
	case FAB_WANT_HOST:
		return is_of_switch ? FAB_NONE : host_of(f, t);
	case FAB_WANT_CABLE:
		return t->kind == FAB_THING_PORT ? f->port_cable[t->id] : FAB_NONE;
	case FAB_WANT_ADAPTER:
		return is_of_switch ? FAB_NONE : endpoint_of(f, t);
	default: /* a port of a switch, other than 0, is no end */
		return is_of_switch && t->kind == FAB_THING_PORT ? FAB_NONE
								 : endpoint_of(f, t);
	}
}

int fab_resolve(const struct fab_resolver *r, enum fab_want want,
		const struct fab_item *name, uint32_t *id, struct fab_err *err)
{
	enum fab_want same = want == FAB_WANT_MEMBER ? FAB_WANT_ENDPOINT : want;
	uint32_t found = FAB_NONE, widest = FAB_NONE;
	struct fab_readings readings;

	if (!name->len)
		return fab_fail(err, EINVAL, "expected a name, found nothing");
	if (want == FAB_WANT_CABLE)
		cables_of(r, name, &readings);
	else
		fab_readings_of(r, fab_want_kinds(want), name, &readings);
	for (uint32_t i = 0; i < readings.n; i++) {
		uint32_t is = fab_thing_as(r->f, &readings.of[i], same);
		uint32_t as = fab_thing_as(r->f, &readings.of[i], want);

		if (found != FAB_NONE && is != FAB_NONE && is != found)
			return fab_resolver_say_several(r, want, name, &readings, err);
		found = is == FAB_NONE ? found : is;
		if (as != FAB_NONE && (widest == FAB_NONE || as > widest))
			widest = as; /* hosts come behind adapters behind ports */
	}
	if (readings.n_all > readings.n)
		return fab_resolver_say_several(r, want, name, &readings, err);
	if (found == FAB_NONE)
		return fab_resolver_say_none(r, want, name, err);
	*id = widest;
	return 0;
}

int fab_resolve_text(const struct fab_resolver *r, enum fab_want want, const char *text,
		     size_t len, uint32_t *id, struct fab_err *err)
{
	const struct fab_item name = {.text = text, .len = len};

	return fab_resolve(r, want, &name, id, err);
}
