/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Topology files of ibutils (ibdm-topo-file(1)):
 *
 *   MTS800 leaf1
 *      P1 -> Cougar node1 P1
 *      P5 -4x-10G-> MTS800 spine1 P1
 *
 * A system of a type with one chip is a node of that name. Of a type with several chips
 * each chip is a node, SYSTEM/BOARD/CHIP, joined as its netlist says (netlist.h).
 */
#include "base/map.h"
#include "source/cabling.h"
#include "source/netlist.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Types with one chip and ports P1, P2, ..: as the netlists of ibutils have them. */
static const struct {
	const char *names; /* separated and enclosed by blanks */
	enum fab_node_kind kind;
	uint16_t n_ports;
} plain_types[] = {
	{" Cougar MT23108 MTPB23108 MHX-CE128-T MHX-CE256-T MHX-CE512-T "
	 "MHXL-CF128-T MHXL-CF256-T MHXL-CF512-T ",
	 FAB_ADAPTER, 2},
	{" Eagle MT25408 MHEH28 MHGH28 ", FAB_ADAPTER, 2},
	{" Lion MT25208 MTLP25208 MHEL-CF128-T MHEL-CF256-T MHEL-CF512-T ", FAB_ADAPTER,
	 2},
	{" LionMini MHEA28-XT MT25218 ", FAB_ADAPTER, 2},
	{" Cheetah MHGS18-XT MT25204 ", FAB_ADAPTER, 1},
	{" Buffalo MTS800 ", FAB_SWITCH, 8},
	{" Reindeer MTS2400 MTS2400-24 ", FAB_SWITCH, 24},
	{" MTS3600 Shark IS4 F464M ", FAB_SWITCH, 36},
};

struct system_type {
	const char *name;
	int plain; /* of plain_types, -1: none */
	const struct fab_netlist *netlist;
	uint16_t last_port; /* of a type that is not known */
};

struct system {
	uint32_t type;
	uint32_t first_device;		   /* of its chips, FAB_NONE: none yet */
	const char *config;		   /* text behind CFG:, NULL: none */
	const struct fab_netlist *netlist; /* NULL: of one chip */
};

struct topo {
	struct fab_cabling *c;
	const char *file;
	struct fab_lines lines;
	struct fab_strmap *type_of, *system_of; /* by name */
	struct fab_netlists netlists;		/* of ibutils, read when one is needed */
	bool has_netlists;
	uint32_t system;	    /* whose ports are read first, FAB_NONE: none yet */
	struct fab_span type, name; /* of the system whose cables are read */
	FAB_VEC(struct system_type) types;
	FAB_VEC(struct system) systems;
	struct fab_err *err;
};

/* `P1 -> TYPE NAME P2`: five words, the second an arrow. */
struct topo_link {
	struct fab_span port, type, name, peer_port;
};

static bool parse_link(struct fab_span line, struct topo_link *out)
{
	struct fab_span arrow;

	out->port = fab_take_word(&line);
	arrow = fab_take_word(&line);
	out->type = fab_take_word(&line);
	out->name = fab_take_word(&line);
	out->peer_port = fab_take_word(&line);
	return line.p == line.end && fab_span_len(&arrow) >= 2 && *arrow.p == '-' &&
	       arrow.end[-1] == '>' && out->peer_port.p < out->peer_port.end;
}

bool fab_is_cabling_topo_line(struct fab_span line)
{
	struct topo_link link;

	return parse_link(line, &link);
}

static int topo_fail(const struct topo *t, struct fab_span text, const char *expected)
{
	return fab_fail_line(t->err, t->file, t->lines.line, "found \"%.*s\", %s",
			     fab_shown(&text), text.p, expected);
}

static uint32_t type_of(struct topo *t, struct fab_span word)
{
	size_t len = fab_name_cut(fab_span_len(&word));
	uint32_t id = fab_strmap_put(t->type_of, word.p, len, (uint32_t)t->types.n);
	struct system_type type = {.plain = -1};
	const char *key;

	if (id < t->types.n)
		return id;
	type.name = fab_arena_format(&t->c->arena, "%.*s", (int)len, word.p);
	key = fab_arena_format(&t->c->arena, " %s ", type.name);
	for (size_t i = 0; i < FAB_COUNT(plain_types); i++)
		if (strstr(plain_types[i].names, key))
			type.plain = (int)i;
	FAB_PUSH(&t->types, type);
	return id;
}

/* The system of this name, which must be of this type wherever it is named. */
static int find_system(struct topo *t, struct fab_span type, struct fab_span name,
		       uint32_t *id)
{
	uint32_t kind = type_of(t, type);

	*id = fab_strmap_put(t->system_of, name.p, fab_name_cut(fab_span_len(&name)),
			     (uint32_t)t->systems.n);
	if (*id == t->systems.n)
		FAB_PUSH(&t->systems, ((struct system){kind, FAB_NONE, NULL}));
	if (t->systems.v[*id].type == kind)
		return 0;
	return fab_fail_line(t->err, t->file, t->lines.line,
			     "system \"%.*s\" is of type %s here, expected %s as before",
			     fab_shown(&name), name.p, t->types.v[kind].name,
			     t->types.v[t->systems.v[*id].type].name);
}

/* "P12" of systems with one chip. */
static bool plain_port(struct fab_span s, uint32_t *port)
{
	return (FAB_TAKE(&s, "P") || FAB_TAKE(&s, "p")) && fab_take_dec(&s, port) &&
	       s.p == s.end && *port && *port <= FAB_MAX_PORT;
}

/* The netlist of a system, with its boards; NULL: its type has one chip, or is unknown.
 */
static int netlist_of(struct topo *t, struct system *s)
{
	struct system_type *type = &t->types.v[s->type];
	int rc;

	if (type->plain >= 0)
		return 0;
	if (!t->has_netlists)
		fab_netlists_load(&t->netlists);
	t->has_netlists = true;
	if (type->netlist && !s->config) {
		s->netlist = type->netlist;
		return 0;
	}
	rc = fab_netlist_get(&t->netlists, type->name, s->config, &s->netlist, t->err);
	if (!rc && !s->config)
		type->netlist = s->netlist;
	return rc;
}

/* The devices that a system is: its name, or a device for each chip and their cables. */
static int open_system(struct topo *t, struct fab_span name, struct system *s)
{
	const struct system_type *type = &t->types.v[s->type];
	struct fab_cabling_device *d;
	int rc = netlist_of(t, s);

	if (rc)
		return rc;
	if (!s->netlist || s->netlist->n_chips == 1) {
		s->first_device = fab_cabling_device(t->c, name.p, fab_span_len(&name),
						     t->lines.line);
		d = &t->c->devices.v[s->first_device];
		d->is_kind_known = type->plain >= 0 || s->netlist || type->last_port > 2;
		if (type->plain >= 0) {
			d->kind = plain_types[type->plain].kind;
			d->n_ports = plain_types[type->plain].n_ports;
		} else if (s->netlist) {
			d->kind = s->netlist->chips->kind;
			d->n_ports = s->netlist->chips->n_ports;
		}
		return 0;
	}
	s->first_device = (uint32_t)t->c->devices.n;
	for (uint32_t i = 0; i < s->netlist->n_chips; i++) {
		const struct fab_netlist_chip *chip = &s->netlist->chips[i];
		char text[2 * FAB_MAX_NAME];
		int n = snprintf(text, sizeof(text), "%.*s/%s", fab_shown(&name), name.p,
				 chip->name);
		uint32_t id = fab_cabling_device(t->c, text, (size_t)n, t->lines.line);

		if (id != s->first_device + i)
			return topo_fail(
				t, name,
				"expected a name that no chip of another system has");
		d = &t->c->devices.v[id];
		d->is_kind_known = true;
		d->kind = chip->kind;
		d->n_ports = chip->n_ports;
	}
	for (uint32_t i = 0; i < s->netlist->n_cables && !rc; i++) {
		const struct fab_netlist_cable *k = &s->netlist->cables[i];

		rc = fab_cabling_add(
			t->c,
			(struct fab_cabling_end){s->first_device + k->a.chip, k->a.port},
			(struct fab_cabling_end){s->first_device + k->b.chip, k->b.port},
			t->lines.line, t->err);
	}
	return rc;
}

/* Kind of a port of a system. */
static int read_end(struct topo *t, struct fab_span type, struct fab_span name,
		    struct fab_span port, struct fab_cabling_end *end)
{
	char text[FAB_MAX_NAME + 1];
	const struct fab_netlist *list;
	struct system *s;
	uint32_t id, number, n_ports;
	int rc = find_system(t, type, name, &id);

	if (rc)
		return rc;
	s = &t->systems.v[id];
	if (s->first_device == FAB_NONE)
		rc = open_system(t, name, s);
	if (rc)
		return rc;
	list = s->netlist;
	snprintf(text, sizeof(text), "%.*s", (int)fab_name_cut(fab_span_len(&port)),
		 port.p);
	for (uint32_t i = 0; list && i < list->n_ports; i++)
		if (!strcmp(list->ports[i].name, text)) {
			*end = (struct fab_cabling_end){s->first_device +
								list->ports[i].end.chip,
							list->ports[i].end.port};
			return 0;
		}
	if (list)
		return fab_fail_line(
			t->err, t->file, t->lines.line,
			"port %s of \"%.*s\", expected one of the %u of a %s%s%s", text,
			fab_shown(&name), name.p, list->n_ports, t->types.v[s->type].name,
			s->config ? " with " : "", s->config ? s->config : "");
	n_ports = t->c->devices.v[s->first_device].n_ports;
	if (!plain_port(port, &number) && t->types.v[s->type].plain < 0)
		return fab_fail_line(
			t->err, t->file, t->lines.line,
			"port %s of \"%.*s\": the boards of type %s are not known (its netlist is looked for in the package ibutils), expected P1, P2, ...",
			text, fab_shown(&name), name.p, t->types.v[s->type].name);
	if (!plain_port(port, &number) || (n_ports && number > n_ports))
		return fab_fail_line(t->err, t->file, t->lines.line,
				     "port %s of \"%.*s\", expected P1 to P%u of a %s",
				     text, fab_shown(&name), name.p, n_ports,
				     t->types.v[s->type].name);
	*end = (struct fab_cabling_end){s->first_device, (uint16_t)number};
	return 0;
}

/* `TYPE NAME` or `TYPE NAME CFG: ...`; false: neither. */
static bool parse_header(struct fab_span line, struct fab_span *type,
			 struct fab_span *name, struct fab_span *config)
{
	*type = fab_take_word(&line);
	*name = fab_take_word(&line);
	*config = line;
	return name->p < name->end && (line.p == line.end || FAB_TAKE(config, "CFG:"));
}

/* First pass: boards of systems, and the highest port of each type. */
static int learn(struct topo *t, struct fab_span line)
{
	struct fab_span type, name, config;
	struct topo_link link;
	uint32_t id, port;
	int rc;

	if (parse_link(line, &link)) {
		id = type_of(t, link.type);
		if (plain_port(link.peer_port, &port) && port > t->types.v[id].last_port)
			t->types.v[id].last_port = (uint16_t)port;
		if (t->system != FAB_NONE && plain_port(link.port, &port) &&
		    port > t->types.v[t->systems.v[t->system].type].last_port)
			t->types.v[t->systems.v[t->system].type].last_port =
				(uint16_t)port;
		return 0;
	}
	if (!parse_header(line, &type, &name, &config))
		return 0;
	rc = find_system(t, type, name, &t->system);
	if (!rc && config.p < config.end)
		t->systems.v[t->system].config = fab_arena_format(
			&t->c->arena, "%.*s", (int)fab_span_len(&config), config.p);
	return rc;
}

/* Second pass: cables. */
static int connect(struct topo *t, struct fab_span line)
{
	struct fab_span config;
	struct fab_cabling_end a, b;
	struct topo_link link;
	int rc;

	if (!parse_link(line, &link)) {
		if (memmem(line.p, fab_span_len(&line), "->", 2) ||
		    !parse_header(line, &t->type, &t->name, &config))
			return t->lines.is_open
				       ? fab_cut_off(t->file, &t->lines, &line, t->err)
				       : topo_fail(
						 t, line,
						 "expected TYPE NAME, or PORT -> TYPE NAME PORT");
		return 0;
	}
	if (!t->name.p)
		return topo_fail(
			t, line,
			"expected a line TYPE NAME of a system before its ports");
	rc = read_end(t, t->type, t->name, link.port, &a);
	if (!rc)
		rc = read_end(t, link.type, link.name, link.peer_port, &b);
	return rc ? rc : fab_cabling_add(t->c, a, b, t->lines.line, t->err);
}

int fab_cabling_topo_read(struct fab_builder *b, const char *name, const char *text,
			  size_t n, struct fab_err *err)
{
	FAB_AUTO(fab_cabling_fini) struct fab_cabling c;
	struct topo t = {.c = &c, .file = name, .err = err, .system = FAB_NONE};
	int rc = 0;

	fab_cabling_init(&c);
	FAB_PUSH(&c.files, name);
	t.type_of = fab_strmap_new(64);
	t.system_of = fab_strmap_new(1024);
	for (int pass = 0; pass < 2 && !rc; pass++) {
		struct fab_span line;

		t.lines = (struct fab_lines){.at = text, .end = text + n};
		while (!rc && fab_lines_next(&t.lines, &line)) {
			fab_lines_tell(&t.lines, text);
			if (line.p == line.end || *line.p == '#')
				continue;
			rc = pass ? connect(&t, line) : learn(&t, line);
		}
	}
	if (!rc)
		rc = fab_cabling_build(&c, b, err);
	fab_strmap_free(t.type_of);
	fab_strmap_free(t.system_of);
	free(t.types.v);
	free(t.systems.v);
	fab_netlists_fini(&t.netlists);
	return rc;
}
