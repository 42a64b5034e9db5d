/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Netlists of ibutils, read and elaborated: boards are put into systems until only chips
 * are left.
 *
 *   SYSTEM LEAF,LEAF:4x
 *   NODE SW 24 MT47396 U1
 *      1 -> P13
 *      2 -> U2 7
 *   TOPSYSTEM MTS14400,Rhino
 *   SUBSYSTEM LEAF leaf1
 *      P13 -> L1/P1
 *      P1 -4x-> spine2 P1
 */
#include "source/netlist.h"

#include "base/map.h"
#include "source/scan.h"
#include "source/unpack.h"

#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <strings.h>

enum {
	MAX_DEPTH = 8,	    /* boards in boards */
	MAX_CHIPS = 1 << 14 /* of a system */
};

/* From a port of an instance to one of another, or outside (to_port NULL). */
struct wire {
	const char *port, *to, *to_port;
	struct wire *next;
};

struct instance {
	const char *name, *type; /* type NULL: a chip */
	enum fab_node_kind kind;
	uint16_t n_ports;
	struct wire *wires;
	struct instance *next;
};

struct board {
	const char *names; /* separated and enclosed by commas */
	bool is_top;
	struct instance *instances;
	struct board *next;
};

struct netlist_file {
	const char *name;
	const char *unread; /* its text until one of its types is wanted, else NULL */
	size_t n;
	const char *top; /* names of the systems in it, as those of a board */
	struct board *boards;
	struct netlist_file *next;
};

void fab_netlists_fini(struct fab_netlists *all)
{
	fab_arena_free(&all->arena);
}

static const char *copy(struct fab_arena *arena, struct fab_span word)
{
	return fab_arena_format(arena, "%.*s", (int)fab_span_len(&word), word.p);
}

/* ",LEAF,LEAF:4x," */
static const char *names_of(struct fab_arena *arena, struct fab_span s)
{
	char *out = fab_arena_alloc(arena, fab_span_len(&s) + 3, 1);
	size_t n = 0;

	out[n++] = ',';
	for (; s.p < s.end; s.p++)
		if (!fab_is_blank(*s.p))
			out[n++] = *s.p;
	out[n++] = ',';
	out[n] = '\0';
	return out;
}

static bool is_named(const char *names, const char *name)
{
	size_t n = strlen(name);

	if (!n || !*names)
		return false;
	for (const char *p = names + 1; (p = strcasestr(p, name)); p++)
		if (p[-1] == ',' && p[n] == ',')
			return true;
	return false;
}

struct parser {
	struct fab_arena *arena;
	struct board **board_tail, *board;
	struct instance **instance_tail, *instance;
	struct wire **wire_tail;
};

static void open_board(struct parser *p, struct fab_span names, bool is_top)
{
	struct board *b = FAB_ARENA_NEW0(p->arena, 1, struct board);

	b->names = names_of(p->arena, names);
	b->is_top = is_top;
	p->board = *p->board_tail = b;
	p->board_tail = &b->next;
	p->instance_tail = &b->instances;
	p->instance = NULL;
}

static bool open_instance(struct parser *p, struct fab_span rest, bool is_chip)
{
	struct fab_span first = fab_take_word(&rest), word;
	struct instance *x = FAB_ARENA_NEW0(p->arena, 1, struct instance);
	uint32_t n_ports = 0;

	if (!p->board)
		return false;
	if (is_chip) {
		x->kind = FAB_BEGINS(&first, "SW") ? FAB_SWITCH : FAB_ADAPTER;
		word = fab_take_word(&rest);
		if (!fab_take_dec(&word, &n_ports) || word.p != word.end || !n_ports ||
		    n_ports > UINT8_MAX)
			return false;
		x->n_ports = (uint16_t)n_ports;
		(void)fab_take_word(&rest); /* the maker's device */
	} else {
		x->type = copy(p->arena, first);
	}
	word = fab_take_word(&rest);
	if (word.p == word.end || rest.p != rest.end)
		return false;
	x->name = copy(p->arena, word);
	p->instance = *p->instance_tail = x;
	p->instance_tail = &x->next;
	p->wire_tail = &x->wires;
	return true;
}

/* `PORT -4x-10G-> NAME [PORT]` */
static bool add_wire(struct parser *p, struct fab_span port, struct fab_span rest)
{
	struct fab_span arrow = fab_take_word(&rest), to = fab_take_word(&rest);
	struct wire *w;

	if (!p->instance || fab_span_len(&arrow) < 2 || *arrow.p != '-' ||
	    arrow.end[-1] != '>' || to.p == to.end)
		return false;
	w = FAB_ARENA_NEW0(p->arena, 1, struct wire);
	w->port = copy(p->arena, port);
	w->to = copy(p->arena, to);
	to = fab_take_word(&rest);
	w->to_port = to.p == to.end ? NULL : copy(p->arena, to);
	*p->wire_tail = w;
	p->wire_tail = &w->next;
	return rest.p == rest.end;
}

static int parse(struct fab_netlists *all, struct netlist_file *file, const char *text,
		 size_t n, struct fab_err *err)
{
	struct fab_lines lines = {.at = text, .end = text + n};
	struct parser p = {.arena = &all->arena, .board_tail = &file->boards};
	struct fab_span line;

	file->unread = NULL;
	while (fab_lines_next(&lines, &line)) {
		struct fab_span rest = line, word = fab_take_word(&rest);
		bool is_top = FAB_BEGINS(&word, "TOPSYSTEM");
		bool is_ok = true;

		if (line.p == line.end || *line.p == '#')
			continue;
		if (is_top || (FAB_BEGINS(&word, "SYSTEM") && fab_span_len(&word) == 6))
			open_board(&p, rest, is_top);
		else if (FAB_BEGINS(&word, "NODE") || FAB_BEGINS(&word, "SUBSYSTEM"))
			is_ok = open_instance(&p, rest, *word.p == 'N');
		else if (!memchr(word.p, '=', fab_span_len(&word)))
			is_ok = add_wire(&p, word, rest);
		if (!is_ok)
			return fab_fail_line(
				err, file->name, lines.line,
				"found \"%.*s\", expected a line of a netlist (ibdm-ibnl-file(1))",
				(int)(fab_span_len(&line) < 60 ? fab_span_len(&line)
							       : 60),
				line.p);
	}
	return 0;
}

static struct netlist_file *add_file(struct fab_netlists *all, const char *name)
{
	struct netlist_file *file = FAB_ARENA_NEW0(&all->arena, 1, struct netlist_file);

	file->name = fab_arena_strdup(&all->arena, name);
	file->next = all->files;
	all->files = file;
	return file;
}

int fab_netlists_parse(struct fab_netlists *all, const char *name, const char *text,
		       size_t n, struct fab_err *err)
{
	return parse(all, add_file(all, name), text, n, err);
}

/* A file to be read when one of its types is wanted. */
static void add_unread(struct fab_netlists *all, const char *name, const char *text,
		       size_t n)
{
	struct netlist_file *file = add_file(all, name);
	struct fab_lines lines = {.at = text, .end = text + n};
	struct fab_span line;
	char *copied = fab_arena_alloc(&all->arena, n + 1, 1);

	memcpy(copied, text, n);
	file->unread = copied;
	file->n = n;
	file->top = "";
	while (fab_lines_next(&lines, &line))
		if (FAB_TAKE(&line, "TOPSYSTEM"))
			file->top = names_of(&all->arena, line);
}

void fab_netlists_load(struct fab_netlists *all)
{
	static const char *const patterns[] = {
		"/usr/lib/*/ibdm*/ibnl/*.ibnl", "/usr/lib/ibdm*/ibnl/*.ibnl",
		"/usr/lib64/ibdm*/ibnl/*.ibnl", "/usr/share/ibdm*/ibnl/*.ibnl",
		"/usr/local/lib/ibdm*/ibnl/*.ibnl"};

	for (size_t i = 0; i < FAB_COUNT(patterns); i++) {
		glob_t found;

		if (glob(patterns[i], 0, NULL, &found))
			continue;
		for (size_t k = 0; k < found.gl_pathc; k++) {
			FAB_AUTO(fab_input_fini) struct fab_input in = {0};
			struct fab_err err;

			if (fab_input_read(found.gl_pathv[k], &in, &err))
				continue;
			add_unread(all, found.gl_pathv[k], in.bytes, in.n);
		}
		globfree(&found);
	}
}

/* Elaboration. A port of a board is that of a chip in it. */

struct elaboration {
	struct fab_netlists *all;
	const struct netlist_file *file;
	const char *config;
	FAB_VEC(struct fab_netlist_chip) chips;
	FAB_VEC(struct fab_netlist_cable) cables;
};

/* Names of ports of an instance or a board, and whose they are. */
struct sockets {
	FAB_VEC(struct fab_netlist_port) v;
};

/* The modifier of a board in "leaf3=R, leaf4=12x"; NULL: it has none. */
static const char *modifier(struct elaboration *e, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = e->config; p && *p; p += strcspn(p, ",")) {
		p += strspn(p, ", \t");
		if (!strncmp(p, name, n) && p[n] == '=')
			return fab_arena_format(&e->all->arena, "%.*s",
						(int)strcspn(p + n + 1, ", \t"),
						p + n + 1);
	}
	return NULL;
}

static const struct board *find_board(const struct elaboration *e, const char *name)
{
	for (const struct board *b = e->file->boards; b; b = b->next)
		if (!b->is_top && is_named(b->names, name))
			return b;
	return NULL;
}

static const struct fab_netlist_end *find_socket(const struct sockets *s,
						 const char *name)
{
	for (size_t i = 0; i < s->v.n; i++)
		if (!strcmp(s->v.v[i].name, name))
			return &s->v.v[i].end;
	return NULL;
}

static int elaborate(struct elaboration *e, const struct board *b, const char *prefix,
		     unsigned depth, struct sockets *outside, struct fab_err *err);

/* The ports of an instance: those of a chip by number, of a board as it names them. */
static int open_sockets(struct elaboration *e, const struct instance *x,
			const char *prefix, unsigned depth, struct sockets *out,
			struct fab_err *err)
{
	struct fab_arena *arena = &e->all->arena;
	const char *how = depth ? NULL : modifier(e, x->name);
	const char *name = fab_arena_format(arena, "%s%s", prefix, x->name);
	const struct board *board = NULL;

	if (how && !strcasecmp(how, "R"))
		return 0;
	if (!x->type) {
		for (uint16_t k = 1; k <= x->n_ports; k++)
			FAB_PUSH(&out->v, ((struct fab_netlist_port){
						  fab_arena_format(arena, "%u", k),
						  {(uint32_t)e->chips.n, k}}));
		FAB_PUSH(&e->chips,
			 ((struct fab_netlist_chip){name, x->kind, x->n_ports}));
		return 0;
	}
	if (how)
		board = find_board(e, fab_arena_format(arena, "%s:%s", x->type, how));
	if (!how)
		board = find_board(e, x->type);
	if (!board || depth == MAX_DEPTH || e->chips.n > MAX_CHIPS)
		return fab_fail(err, EINVAL,
				"%s: board \"%s%s%s\" of \"%s\" is not in the netlist",
				e->file->name, x->type, how ? ":" : "", how ? how : "",
				name);
	return elaborate(e, board, fab_arena_format(arena, "%s/", name), depth + 1, out,
			 err);
}

/* All instances of a board, then the wires between them. */
static int elaborate(struct elaboration *e, const struct board *b, const char *prefix,
		     unsigned depth, struct sockets *outside, struct fab_err *err)
{
	uint32_t n = 0, i = 0;
	FAB_AUTOFREE struct sockets *of = NULL;
	FAB_AUTO(fab_strmap_free_at) struct fab_strmap *by_name = fab_strmap_new(16);
	int rc = 0;

	for (const struct instance *x = b->instances; x; x = x->next)
		fab_strmap_put(by_name, x->name, strlen(x->name), n++);
	of = FAB_NEW0(n, struct sockets);
	for (const struct instance *x = b->instances; x && !rc; x = x->next)
		rc = open_sockets(e, x, prefix, depth, &of[i++], err);
	i = 0;
	for (const struct instance *x = b->instances; x && !rc; x = x->next, i++)
		for (const struct wire *w = x->wires; w; w = w->next) {
			const struct fab_netlist_end *a = find_socket(&of[i], w->port);
			const struct fab_netlist_end *to;
			uint32_t k;

			if (!a)
				continue;
			if (!w->to_port) {
				FAB_PUSH(&outside->v,
					 ((struct fab_netlist_port){w->to, *a}));
				continue;
			}
			k = fab_strmap_get(by_name, w->to, strlen(w->to));
			to = k == FAB_NONE ? NULL : find_socket(&of[k], w->to_port);
			if (to)
				FAB_PUSH(&e->cables,
					 ((struct fab_netlist_cable){*a, *to}));
		}
	for (i = 0; i < n; i++)
		free(of[i].v.v);
	return rc;
}

int fab_netlist_get(struct fab_netlists *all, const char *type, const char *config,
		    const struct fab_netlist **out, struct fab_err *err)
{
	struct elaboration e = {.all = all, .config = config};
	const struct board *top = NULL;
	struct fab_netlist *netlist;
	struct sockets outside = {0};
	int rc = 0;

	*out = NULL;
	for (struct netlist_file *f = all->files; f && !rc; f = f->next)
		if (f->unread && is_named(f->top, type))
			rc = parse(all, f, f->unread, f->n, err);
	if (rc)
		return rc;
	for (const struct netlist_file *f = all->files; f && !top; f = f->next)
		for (const struct board *b = f->boards; b && !top; b = b->next)
			if (b->is_top && is_named(b->names, type)) {
				e.file = f;
				top = b;
			}
	if (!top)
		return 0;
	rc = elaborate(&e, top, "", 0, &outside, err);
	netlist = FAB_ARENA_NEW0(&all->arena, 1, struct fab_netlist);
	*netlist = (struct fab_netlist){
		.chips = e.chips.v,
		.n_chips = (uint32_t)e.chips.n,
		.cables = e.cables.v,
		.n_cables = (uint32_t)e.cables.n,
		.ports = outside.v.v,
		.n_ports = (uint32_t)outside.v.n,
	};
	fab_arena_own(&all->arena, free, e.chips.v);
	fab_arena_own(&all->arena, free, e.cables.v);
	fab_arena_own(&all->arena, free, outside.v.v);
	if (!rc)
		*out = netlist;
	return rc;
}
