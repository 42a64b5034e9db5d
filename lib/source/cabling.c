/* SPDX-License-Identifier: BSD-2-Clause */
/* Devices and cables of a cabling plan, and the fabric that they are. */
#include "source/cabling.h"

#include "base/map.h"
#include "base/num.h"
#include "base/rng.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum {
	BOARDS = 20,	   /* of an MCS8500, with two chips each, and spine modules */
	CHIPS = 2,	   /* on a board */
	BOARD_PORTS = 20,  /* of a chip, outside; port 20 + s is joined to spine s */
	LID_LAST = 0xbfff, /* of the unicast range */
};

void fab_cabling_init(struct fab_cabling *c)
{
	*c = (struct fab_cabling){
		.by_name = fab_strmap_new(1024),
		.by_end = fab_map64_new(4096),
	};
}

void fab_cabling_fini(struct fab_cabling *c)
{
	FAB_FREE_ALL(c->files.v, c->devices.v, c->cables.v);
	fab_strmap_free(c->by_name);
	fab_map64_free(c->by_end);
	fab_arena_free(&c->arena);
}

/* `suffix` tells names of directors from those of devices. */
static uint32_t named(struct fab_cabling *c, const char *name, size_t len,
		      const char *suffix, uint32_t id)
{
	char key[FAB_MAX_NAME + 2];
	size_t n = 0;

	for (; n < len && n < FAB_MAX_NAME; n++)
		key[n] = (char)tolower((unsigned char)name[n]);
	if (*suffix)
		key[n++] = *suffix;
	return fab_strmap_put(c->by_name, key, n, id);
}

uint32_t fab_cabling_device(struct fab_cabling *c, const char *name, size_t len,
			    uint64_t line)
{
	struct fab_span s = {name, name + fab_name_cut(len)};
	uint32_t id;

	while (s.p < s.end && fab_is_blank(s.end[-1]))
		s.end--;
	fab_skip_blanks(&s);
	id = named(c, s.p, fab_span_len(&s), "", (uint32_t)c->devices.n);
	if (id == c->devices.n)
		FAB_PUSH(&c->devices,
			 ((struct fab_cabling_device){
				 .name = fab_arena_format(&c->arena, "%.*s",
							  (int)fab_span_len(&s), s.p),
				 .line = line,
			 }));
	return id;
}

uint32_t fab_cabling_module(struct fab_cabling *c, const char *name, size_t len,
			    uint16_t board, uint16_t chip, uint64_t line)
{
	char full[FAB_MAX_NAME + 32];
	int n = snprintf(full, sizeof(full), "%.*s/L%02u/U%u",
			 (int)(len < FAB_MAX_NAME - 20 ? len : FAB_MAX_NAME - 20), name,
			 board, chip);
	uint32_t id = fab_cabling_device(c, full, (size_t)n, line);
	struct fab_cabling_device *d = &c->devices.v[id];

	if (d->board)
		return id;
	d->is_kind_known = true;
	d->kind = FAB_SWITCH;
	d->board = board;
	d->chip = chip;
	d->chassis = named(c, name, len, "\n", id);
	return id;
}

/* "12", of another file "FILE:12". */
static const char *place(struct fab_cabling *c, const struct fab_cabling_cable *cable)
{
	if (cable->file == c->files.n - 1)
		return fab_arena_format(&c->arena, "line %" PRIu64, cable->line);
	return fab_arena_format(&c->arena, "%s:%" PRIu64, c->files.v[cable->file],
				cable->line);
}

static bool same_end(struct fab_cabling_end a, struct fab_cabling_end b)
{
	return a.device == b.device && a.port == b.port;
}

int fab_cabling_add(struct fab_cabling *c, struct fab_cabling_end a,
		    struct fab_cabling_end b, uint64_t line, struct fab_err *err)
{
	const struct fab_cabling_end ends[2] = {a, b};
	const char *file = c->files.v[c->files.n - 1];
	uint32_t id = (uint32_t)c->cables.n;

	if (same_end(a, b))
		return fab_fail_line(
			err, file, line,
			"port %u of \"%s\" is both ends of the cable, expected two ports",
			a.port, c->devices.v[a.device].name);
	for (int k = 0; k < 2; k++) {
		uint64_t key = (uint64_t)ends[k].device << 16 | ends[k].port;
		uint32_t at = fab_map64_get(c->by_end, key);
		const struct fab_cabling_cable *other;
		struct fab_cabling_end far;

		if (at == FAB_NONE)
			continue;
		other = &c->cables.v[at];
		far = same_end(other->a, ends[k]) ? other->b : other->a;
		if (same_end(far, ends[!k]))
			return 0;
		return fab_fail_line(
			err, file, line,
			"port %u of \"%s\" is used twice: for port %u of \"%s\" here, for port %u of \"%s\" in %s",
			ends[k].port, c->devices.v[ends[k].device].name, ends[!k].port,
			c->devices.v[ends[!k].device].name, far.port,
			c->devices.v[far.device].name, place(c, other));
	}
	for (int k = 0; k < 2; k++) {
		struct fab_cabling_device *d = &c->devices.v[ends[k].device];

		fab_map64_set(c->by_end, (uint64_t)ends[k].device << 16 | ends[k].port,
			      id);
		d->n_cables++;
		if (d->last_port < ends[k].port)
			d->last_port = ends[k].port;
	}
	FAB_PUSH(&c->cables,
		 ((struct fab_cabling_cable){a, b, (uint32_t)c->files.n - 1, line}));
	return 0;
}

/* Kinds that no name and no port says. */
static void guess_kinds(struct fab_cabling *c)
{
	bool *is_adapter = FAB_ARENA_NEW(&c->arena, c->devices.n, bool);
	uint32_t most = 2;

	for (size_t i = 0; i < c->devices.n; i++)
		if (c->devices.v[i].is_kind_known && c->devices.v[i].kind == FAB_ADAPTER)
			most = 1;
	for (size_t i = 0; i < c->devices.n; i++) {
		const struct fab_cabling_device *d = &c->devices.v[i];

		is_adapter[i] =
			!d->is_kind_known && d->last_port <= 2 && d->n_cables <= most;
	}
	for (size_t i = 0; i < c->cables.n; i++) {
		uint32_t a = c->cables.v[i].a.device, b = c->cables.v[i].b.device;
		const struct fab_cabling_device *v = c->devices.v;

		is_adapter[a] &= v[a].n_cables < v[b].n_cables;
		is_adapter[b] &= v[b].n_cables < v[a].n_cables;
	}
	for (size_t i = 0; i < c->devices.n; i++)
		if (!c->devices.v[i].is_kind_known)
			c->devices.v[i].kind = is_adapter[i] ? FAB_ADAPTER : FAB_SWITCH;
}

struct build {
	struct fab_cabling *c;
	struct fab_builder *b;
	uint32_t *node; /* [devices] */
	uint32_t n_lids;
};

/* A node with a GUID made from its name, unless it is called by a GUID. */
static uint32_t add_node(struct build *x, const char *name, enum fab_node_kind kind,
			 uint16_t n_ports, uint64_t line)
{
	size_t len = strlen(name);
	uint64_t guid;

	if (len != 18 || strncmp(name, "0x", 2) != 0 ||
	    !fab_parse_hex(name + 2, 16, &guid) || !guid)
		/* bit 57: given locally, as in an EUI-64; room for the GUIDs of ports */
		guid = (fab_hash_bytes(name, len, 0) | UINT64_C(1) << 57) & ~0xfULL;
	return fab_builder_add_node(x->b, &(struct fab_node_spec){
						  .kind = kind,
						  .guid = guid,
						  .n_ports = n_ports,
						  .name = name,
						  .name_len = len,
						  .line = line,
					  });
}

static uint16_t next_lid(struct build *x)
{
	if (x->n_lids == LID_LAST)
		fab_builder_warn(
			x->b, "lids-exhausted", 0,
			"there are only %d unicast LIDs: ports after these have none",
			LID_LAST);
	return x->n_lids++ < LID_LAST ? (uint16_t)x->n_lids : FAB_LID_NONE;
}

/* LIDs of switches and of cabled ports of adapters, in this order. */
static void give_lids(struct build *x)
{
	struct fab_cabling *c = x->c;

	for (uint32_t i = 0; i < fab_builder_n_nodes(x->b); i++) {
		const struct fab_node_spec *spec = fab_builder_node(x->b, i);

		if (spec->kind == FAB_SWITCH)
			fab_builder_set_port(x->b, i, 0, spec->guid, next_lid(x), 0);
	}
	for (size_t i = 0; i < 2 * c->cables.n; i++) {
		struct fab_cabling_end e =
			i % 2 ? c->cables.v[i / 2].b : c->cables.v[i / 2].a;
		uint32_t node = x->node[e.device];

		if (c->devices.v[e.device].kind == FAB_ADAPTER)
			fab_builder_set_port(x->b, node, e.port,
					     fab_builder_node(x->b, node)->guid + e.port,
					     next_lid(x), 0);
	}
}

/* The spine modules of a director whose boards are like those of an MCS8500. Returns the
 * first. */
static uint32_t add_spines(struct build *x, const char *board)
{
	int len = (int)(strrchr(board, '/') - board);
	uint32_t first = fab_builder_n_nodes(x->b);

	while (board[len - 1] != '/') /* "NAME/L16/U2": up to "NAME/" */
		len--;
	for (uint32_t s = 1; s <= BOARDS; s++) {
		char text[FAB_MAX_NAME + 32];

		snprintf(text, sizeof(text), "%.*sS%02u/U1", len, board, s);
		(void)add_node(x, text, FAB_SWITCH, CHIPS * BOARDS, 0);
	}
	return first;
}

/* Cabling inside directors, of which plans say nothing. */
static void complete_directors(struct build *x)
{
	struct fab_cabling *c = x->c;
	bool *is_other = FAB_ARENA_NEW0(&c->arena, c->devices.n, bool);
	uint32_t *spine = FAB_ARENA_NEW(&c->arena, c->devices.n, uint32_t);
	uint32_t n_known = 0, n_other = 0, first_other = 0;

	for (size_t i = 0; i < c->devices.n; i++) {
		const struct fab_cabling_device *d = &c->devices.v[i];

		if (d->board &&
		    (d->board > BOARDS || d->chip > CHIPS || d->last_port > BOARD_PORTS))
			is_other[d->chassis] = true;
	}
	for (uint32_t i = 0; i < c->devices.n; i++) {
		const struct fab_cabling_device *d = &c->devices.v[i];

		if (!d->board)
			continue;
		if (d->chassis == i && is_other[i]) {
			first_other = n_other++ ? first_other : i;
		} else if (d->chassis == i) {
			spine[i] = add_spines(x, d->name);
			n_known++;
		}
		for (uint16_t s = 0; s < BOARDS && !is_other[d->chassis]; s++)
			fab_builder_add_cable(
				x->b, x->node[i], (uint16_t)(BOARD_PORTS + 1 + s),
				spine[d->chassis] + s,
				(uint16_t)((d->chip - 1) * BOARDS + d->board), 0, 0);
	}
	if (n_known)
		fab_builder_warn(
			x->b, "chassis-assumed", 0,
			"the plan does not contain the cabling inside %u director%s: taken as that of an MCS8500 (20 spine modules)",
			n_known, n_known == 1 ? "" : "s");
	if (n_other)
		fab_builder_warn(
			x->b, "chassis-unknown", c->devices.v[first_other].line,
			"the cabling inside %u director%s is not known: the boards, such as \"%s\", are not joined",
			n_other, n_other == 1 ? "" : "s", c->devices.v[first_other].name);
}

int fab_cabling_build(struct fab_cabling *c, struct fab_builder *b, struct fab_err *err)
{
	struct build x = {
		.c = c, .b = b, .node = FAB_ARENA_NEW(&c->arena, c->devices.n, uint32_t)};

	if (!c->cables.n)
		return fab_fail(err, EINVAL,
				"%s: the plan has no cable, expected at least one",
				c->files.v[0]);
	guess_kinds(c);
	for (size_t i = 0; i < c->devices.n; i++) {
		const struct fab_cabling_device *d = &c->devices.v[i];

		x.node[i] = add_node(&x, d->name, d->kind, d->n_ports, d->line);
	}
	for (size_t i = 0; i < c->cables.n; i++) {
		const struct fab_cabling_cable *k = &c->cables.v[i];

		fab_builder_add_cable(b, x.node[k->a.device], k->a.port,
				      x.node[k->b.device], k->b.port, 0, 0);
	}
	complete_directors(&x);
	give_lids(&x);
	return 0;
}
