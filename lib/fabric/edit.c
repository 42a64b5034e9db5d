/* SPDX-License-Identifier: BSD-2-Clause */
/* Edits as text: words, ends and rates; then the plugs that they move, and the fabric
 * that is left. */
#include "fabric/edit.h"

#include "base/lookup.h"
#include "base/map.h"
#include "base/num.h"
#include "base/text.h"
#include "fabric/label.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SHOWN = 80, WORDS_MAX = 4, RANGES_SHOWN = 8 };

/* An end of a cable: where it is plugged in, and what this end says of the cable. */
struct plug {
	struct fab_socket at;
	uint8_t width, speed;
};

struct wire {
	struct plug end[2];
	bool is_gone;
};

struct fab_editor {
	const struct fab_fabric *f;
	struct fab_resolver *resolver; /* NULL until a name is needed */
	FAB_VEC(struct wire) wires;    /* the first n_cables: those of the fabric */
	uint32_t *wire_at;	       /* [n_ports] FAB_NONE: no cable */
	/* numbers of wires, from 1, at ports that the fabric does not keep; 0: none */
	struct fab_map64 *others;
	bool *is_gone;		/* [n_nodes] */
	struct fab_arena arena; /* names put together */
	uint32_t n_edits;
};

/* A word of an edit; text and len as given, name without its quotes. */
struct word {
	const char *text;
	size_t len;
	struct fab_item name;
	bool is_whole; /* all of it is in "" */
};

struct edit {
	const char *text;
	int len; /* of what a message shows */
	struct word words[WORDS_MAX];
	size_t n; /* words */
};

struct fab_editor *fab_editor_new(const struct fab_fabric *f)
{
	struct fab_editor *e = FAB_NEW0(1, struct fab_editor);

	e->f = f;
	e->wire_at = FAB_NEW((size_t)f->n_ports + 1, uint32_t);
	memcpy(e->wire_at, f->port_cable, f->n_ports * sizeof(*e->wire_at));
	e->others = fab_map64_new(16);
	e->is_gone = FAB_NEW0((size_t)f->n_nodes + 1, bool);
	FAB_RESERVE(&e->wires, (size_t)f->n_cables + 1);
	for (uint32_t c = 0; c < f->n_cables; c++) {
		const uint32_t ports[2] = {f->cable_a[c], f->cable_b[c]};
		struct wire *w = &e->wires.v[e->wires.n++];

		*w = (struct wire){.is_gone = false};
		for (int k = 0; k < 2; k++)
			w->end[k] = (struct plug){
				.at = {f->port_node[ports[k]], f->port_num[ports[k]]},
				.width = f->port_width[ports[k]],
				.speed = f->port_speed[ports[k]]};
	}
	return e;
}

void fab_editor_free(struct fab_editor *e)
{
	if (!e)
		return;
	fab_resolver_free(e->resolver);
	fab_map64_free(e->others);
	fab_arena_free(&e->arena);
	FAB_FREE_ALL(e->wires.v, e->wire_at, e->is_gone, e);
}

uint32_t fab_editor_count(const struct fab_editor *e)
{
	return e->n_edits;
}

static uint64_t key_of(struct fab_socket at)
{
	return (uint64_t)at.node << 16 | at.port;
}

/* The wire at a port, FAB_NONE: none. */
static uint32_t wire_at(const struct fab_editor *e, struct fab_socket at)
{
	uint32_t port = fab_port_find(e->f, at.node, at.port), number;

	if (port != FAB_NONE)
		return e->wire_at[port];
	number = fab_map64_get(e->others, key_of(at));
	return number && number != FAB_NONE ? number - 1 : FAB_NONE;
}

static void set_wire(struct fab_editor *e, struct fab_socket at, uint32_t wire)
{
	uint32_t port = fab_port_find(e->f, at.node, at.port);

	if (port != FAB_NONE)
		e->wire_at[port] = wire;
	else
		fab_map64_set(e->others, key_of(at), wire == FAB_NONE ? 0 : wire + 1);
}

static void take_out(struct fab_editor *e, uint32_t wire)
{
	struct wire *w = &e->wires.v[wire];

	w->is_gone = true;
	for (int k = 0; k < 2; k++)
		set_wire(e, w->end[k].at, FAB_NONE);
}

/* Which end of a wire is plugged in there. */
static int end_at(const struct wire *w, struct fab_socket at)
{
	return key_of(w->end[1].at) == key_of(at);
}

/* The free ports of a node in words, "10, 12-14" or "none"; on the heap. O(ports
 * of the node). */
static char *free_ports(const struct fab_editor *e, fab_node_id node)
{
	uint32_t n = e->f->node_n_ports[node], n_ranges = 0;
	char *text = NULL;

	for (uint32_t p = 1, last; p <= n; p = last + 1) {
		struct fab_socket at = {node, (uint16_t)p};

		last = p;
		if (wire_at(e, at) != FAB_NONE)
			continue;
		for (at.port++; at.port <= n && wire_at(e, at) == FAB_NONE; at.port++)
			last = at.port;
		if (n_ranges++ == RANGES_SHOWN) {
			fab_append(&text, ", ", "..");
			break;
		}
		fab_append(&text, ", ", last > p ? "%u-%u" : "%u", p, last);
	}
	return text ? text : fab_strdup("none");
}

static const struct fab_resolver *resolver_of(struct fab_editor *e)
{
	if (!e->resolver)
		e->resolver = fab_resolver_new(e->f);
	return e->resolver;
}

static int expect_there(const struct fab_editor *e, const struct word *w, uint32_t node,
			struct fab_err *err)
{
	return e->is_gone[node]
		       ? fab_fail(err, EINVAL, "'%.*s' was removed by an edit before",
				  (int)w->len, w->text)
		       : 0;
}

/* The port that a word names; it exists. */
static int find_end(struct fab_editor *e, const struct word *w, struct fab_socket *out,
		    struct fab_err *err)
{
	int rc = fab_resolve_socket(resolver_of(e), &w->name, out, err);

	if (!rc)
		rc = expect_there(e, w, out->node, err);
	if (!rc && (!out->port || out->port > e->f->node_n_ports[out->node])) {
		FAB_AUTOFREE char *ports = free_ports(e, out->node);

		rc = fab_fail(err, ENOENT, "'%.*s': %s has ports 1 to %u; free: %s",
			      (int)w->len, w->text, fab_node_name(e->f, out->node),
			      e->f->node_n_ports[out->node], ports);
	}
	return rc;
}

/* A port without a cable. */
static int find_free(struct fab_editor *e, const struct word *w, struct fab_socket *out,
		     struct fab_err *err)
{
	int rc = find_end(e, w, out, err);
	uint32_t wire = rc ? FAB_NONE : wire_at(e, *out);

	if (wire != FAB_NONE) {
		const struct wire *taken = &e->wires.v[wire];
		struct fab_socket peer = taken->end[!end_at(taken, *out)].at;
		FAB_AUTOFREE char *ports = free_ports(e, out->node);

		rc = fab_fail(
			err, EINVAL,
			"'%.*s': port %u is taken by the cable to port %u of %s; free: %s",
			(int)w->len, w->text, out->port, peer.port,
			fab_node_name(e->f, peer.node), ports);
	}
	return rc;
}

/* A port with a cable, and that. */
static int find_wire(struct fab_editor *e, const struct word *w, struct fab_socket *at,
		     uint32_t *wire, struct fab_err *err)
{
	int rc = find_end(e, w, at, err);

	if (rc)
		return rc;
	*wire = wire_at(e, *at);
	return *wire != FAB_NONE ? 0
				 : fab_fail(err, ENOENT, "'%.*s': no cable at port %u",
					    (int)w->len, w->text, at->port);
}

/* "4xHDR": lanes and speed. */
static int parse_rate(const struct word *w, uint8_t *width, uint8_t *speed,
		      struct fab_err *err)
{
	static const uint8_t widths[] = {1, 2, 4, 8, 12};
	const char *x = memchr(w->text, 'x', w->len);
	size_t digits = x ? (size_t)(x - w->text) : 0;
	size_t len = x ? w->len - digits - 1 : 0;
	uint64_t lanes = 0;

	*width = *speed = 0;
	if (digits && fab_parse_u64(w->text, digits, 1, 12, &lanes))
		for (size_t i = 0; i < FAB_COUNT(widths); i++)
			*width = lanes == widths[i] ? widths[i] : *width;
	for (int s = FAB_SDR; len && s <= FAB_XDR; s++) {
		const char *name = fab_speed_name((enum fab_speed)s);

		if (strlen(name) == len && !strncasecmp(name, x + 1, len))
			*speed = (uint8_t)s;
	}
	return *width && *speed
		       ? 0
		       : fab_fail(
				 err, EINVAL,
				 "'%.*s' is no rate: expected 1x, 2x, 4x, 8x or 12x and SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR or XDR, such as 4xHDR",
				 (int)w->len, w->text);
}

/* Width and speed of the first cable of a node. */
static void take_rate(const struct fab_editor *e, uint32_t node, struct plug *out)
{
	const struct fab_fabric *f = e->f;

	FAB_EACH_PORT(f, node, p)
		if (!out->speed && f->port_cable[p] != FAB_NONE) {
			out->width = f->port_width[p];
			out->speed = f->port_speed[p];
		}
}

/* A cable that would lead back to its own node. */
static int expect_other(const struct fab_editor *e, uint32_t a, uint32_t b,
			struct fab_err *err)
{
	return a != b ? 0
		      : fab_fail(err, EINVAL, "both ends of the cable would be in %s",
				 fab_node_name(e->f, a));
}

static int apply_move(struct fab_editor *e, struct edit *x, struct fab_err *err)
{
	struct fab_socket from, to;
	uint32_t wire;
	int rc = find_wire(e, &x->words[1], &from, &wire, err);

	if (!rc)
		rc = find_end(e, &x->words[2], &to, err);
	if (!rc && key_of(from) == key_of(to))
		rc = fab_fail(err, EINVAL,
			      "the cable is plugged in there, the edit has no effect");
	if (!rc)
		rc = find_free(e, &x->words[2], &to, err);
	if (!rc)
		rc = expect_other(
			e, e->wires.v[wire].end[!end_at(&e->wires.v[wire], from)].at.node,
			to.node, err);
	if (rc)
		return rc;
	e->wires.v[wire].end[end_at(&e->wires.v[wire], from)].at = to;
	set_wire(e, from, FAB_NONE);
	set_wire(e, to, wire);
	return 0;
}

static int apply_add(struct fab_editor *e, struct edit *x, struct fab_err *err)
{
	struct wire w = {.is_gone = false};
	struct plug *end = w.end;
	int rc = find_free(e, &x->words[1], &end[0].at, err);

	if (!rc)
		rc = find_free(e, &x->words[2], &end[1].at, err);
	if (!rc)
		rc = expect_other(e, end[0].at.node, end[1].at.node, err);
	if (!rc && x->n > 3)
		rc = parse_rate(&x->words[3], &end[0].width, &end[0].speed, err);
	if (rc)
		return rc;
	for (int k = 0; k < 2; k++)
		take_rate(e, end[k].at.node, &end[0]);
	end[1].width = end[0].width;
	end[1].speed = end[0].speed;
	for (int k = 0; k < 2; k++)
		set_wire(e, end[k].at, (uint32_t)e->wires.n);
	FAB_PUSH(&e->wires, w);
	return 0;
}

static int apply_speed(struct fab_editor *e, struct edit *x, struct fab_err *err)
{
	struct fab_socket at;
	uint8_t width, speed;
	uint32_t wire;
	int rc = find_wire(e, &x->words[1], &at, &wire, err);
	struct plug *end;

	if (!rc)
		rc = parse_rate(&x->words[2], &width, &speed, err);
	if (rc)
		return rc;
	end = e->wires.v[wire].end;
	if (end[0].width == width && end[0].speed == speed && end[1].width == width &&
	    end[1].speed == speed)
		return fab_fail(err, EINVAL,
				"the cable has this rate, the edit has no effect");
	for (int k = 0; k < 2; k++) {
		end[k].width = width;
		end[k].speed = speed;
	}
	return 0;
}

/* Take out all cables of a node, or those to other switches. */
static uint32_t unplug(struct fab_editor *e, uint32_t node, bool to_switches)
{
	uint32_t n = 0;

	for (uint32_t p = 1; p <= e->f->node_n_ports[node]; p++) {
		const struct fab_socket at = {node, (uint16_t)p};
		uint32_t wire = wire_at(e, at);
		const struct wire *w;
		uint32_t peer;

		if (wire == FAB_NONE)
			continue;
		w = &e->wires.v[wire];
		peer = w->end[!end_at(w, at)].at.node;
		if (to_switches && (!fab_node_is_switch(e->f, peer) || peer == node))
			continue;
		take_out(e, wire);
		n++;
	}
	return n;
}

static int apply_drain(struct fab_editor *e, struct edit *x, struct fab_err *err)
{
	uint32_t sw;
	int rc =
		fab_resolve(resolver_of(e), FAB_WANT_SWITCH, &x->words[1].name, &sw, err);

	if (!rc)
		rc = expect_there(e, &x->words[1], sw, err);
	if (!rc && !unplug(e, sw, true))
		rc = fab_fail(
			err, EINVAL,
			"'%.*s' has no cable to another switch, the edit has no effect",
			(int)x->words[1].len, x->words[1].text);
	return rc;
}

static void remove_node(struct fab_editor *e, uint32_t node)
{
	unplug(e, node, false);
	e->is_gone[node] = true;
}

/* A node of any kind, or the cable at a port; a text that can be either is refused. */
static int apply_remove(struct fab_editor *e, struct edit *x, struct fab_err *err)
{
	const struct word *w = &x->words[1];
	const struct fab_fabric *f = e->f;
	struct fab_socket at;
	struct fab_node_ids nodes;
	uint32_t wire;
	int as_node = fab_resolve_nodes(resolver_of(e), &w->name, &nodes, NULL);
	int rc = w->is_whole ? -ENOENT
			     : fab_resolve_socket(resolver_of(e), &w->name, &at, NULL);

	if (!as_node && !rc && wire_at(e, at) != FAB_NONE)
		return fab_fail(
			err, EINVAL,
			"'%.*s' can be a node and a port: expected the name in \"\" or a GUID",
			(int)w->len, w->text);
	if (as_node && rc != -ENOENT) {
		rc = find_wire(e, w, &at, &wire, err);
		if (!rc)
			take_out(e, wire);
		return rc;
	}
	if (as_node)
		return fab_resolve_nodes(resolver_of(e), &w->name, &nodes, err);
	if (nodes.host == FAB_NONE) {
		rc = expect_there(e, w, nodes.node, err);
		if (!rc)
			remove_node(e, nodes.node);
		return rc;
	}
	rc = fab_fail(err, EINVAL, "'%.*s' was removed by an edit before", (int)w->len,
		      w->text);
	FAB_EACH_ADAPTER(f, nodes.host, i)
		if (!e->is_gone[f->host_adapter[i]]) {
			remove_node(e, f->host_adapter[i]);
			rc = 0;
		}
	return rc;
}

static const struct verb {
	const char *name, *form;
	size_t least, most; /* words, the verb included */
	int (*apply)(struct fab_editor *e, struct edit *x, struct fab_err *err);
} verbs[] = {
	{"move", "move END NEW-END", 3, 3, apply_move},
	{"drain", "drain SWITCH", 2, 2, apply_drain},
	{"add", "add END END [RATE]", 3, 4, apply_add},
	{"remove", "remove END or remove NODE", 2, 2, apply_remove},
	{"speed", "speed END RATE", 3, 3, apply_speed},
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The word at *at, with the port behind a name in "". */
static int next_word(struct fab_editor *e, const char **at, const char *end,
		     struct word *out, struct fab_err *err)
{
	const char *start = *at, *stop = start, *quote = NULL;

	if (*start == '"') {
		quote = memchr(start + 1, '"', (size_t)(end - start - 1));
		if (!quote)
			return fab_fail(err, EINVAL,
					"expected \" at the end of a name in \"\"");
		stop = quote + 1;
	}
	while (stop < end && !is_blank(*stop))
		stop++;
	*out = (struct word){.text = start, .len = (size_t)(stop - start)};
	out->name = (struct fab_item){.text = start, .len = out->len};
	out->is_whole = quote && quote + 1 == stop;
	if (quote) {
		char *joined =
			fab_arena_format(&e->arena, "%.*s%.*s", (int)(quote - start - 1),
					 start + 1, (int)(stop - quote - 1), quote + 1);

		out->name = (struct fab_item){joined, strlen(joined), true};
	}
	*at = stop;
	return 0;
}

/* One edit between two semicolons. */
static int apply(struct fab_editor *e, const char *text, const char *end,
		 struct fab_err *err)
{
	struct edit x = {.text = text};
	const struct verb *verb = NULL;
	const char *at = text;
	char shown[SHOWN + 8];
	int rc = 0;

	while (!rc && at < end) {
		struct word w;

		rc = next_word(e, &at, end, &w, err);
		if (!rc && x.n < WORDS_MAX)
			x.words[x.n] = w;
		x.n += !rc;
		while (at < end && is_blank(*at))
			at++;
	}
	for (size_t i = 0; i < FAB_COUNT(verbs) && !rc; i++)
		if (strlen(verbs[i].name) == x.words[0].len &&
		    !strncasecmp(verbs[i].name, x.words[0].text, x.words[0].len))
			verb = &verbs[i];
	if (!rc && !verb)
		rc = fab_fail(err, EINVAL, "expected move, drain, add, remove or speed");
	if (!rc && (x.n < verb->least || x.n > verb->most))
		rc = fab_fail(err, EINVAL, "expected %s%s", verb->form,
			      x.n > verb->most ? ", names with blanks in \"\"" : "");
	if (!rc)
		rc = verb->apply(e, &x, err);
	e->n_edits += !rc;
	if (!rc)
		return 0;
	snprintf(shown, sizeof(shown), "'%.*s%s'",
		 end - text > SHOWN ? SHOWN : (int)(end - text), text,
		 end - text > SHOWN ? ".." : "");
	fab_err_prefix(err, shown);
	return rc;
}

int fab_editor_add(struct fab_editor *e, const char *text, size_t len,
		   struct fab_err *err)
{
	const char *at = text, *end = text + len;
	uint32_t before = e->n_edits;

	if (memchr(text, '\0', len))
		return fab_fail(err, EINVAL, "a zero byte, expected text");
	while (at < end) {
		const char *stop = at, *last;
		bool in_name = false;
		int rc = 0;

		while (stop < end && (in_name || *stop != ';'))
			in_name ^= *stop++ == '"';
		last = stop;
		while (at < last && is_blank(*at))
			at++;
		while (last > at && is_blank(last[-1]))
			last--;
		if (at < last)
			rc = apply(e, at, last, err);
		if (rc)
			return rc;
		at = stop + 1;
	}
	return e->n_edits > before
		       ? 0
		       : fab_fail(err, EINVAL,
				  "no edit: expected move, drain, add, remove or speed");
}

static int add_line(void *context, struct fab_item line, struct fab_err *err)
{
	return fab_editor_add(context, line.text, line.len, err);
}

int fab_editor_add_lines(struct fab_editor *e, const char *file, const char *text,
			 size_t len, struct fab_err *err)
{
	uint32_t before = e->n_edits;
	int rc = fab_list_lines(file, text, len, add_line, e, err);

	if (!rc && e->n_edits == before)
		rc = fab_fail(err, EINVAL,
			      "%s: no edit: expected move, drain, add, remove or speed",
			      file);
	return rc;
}

/* Warnings that are found again when the fabric is finished. */
static bool is_found_again(const char *code)
{
	static const char *const codes[] = {"duplicate-guid", "port-out-of-range",
					    "speed-mismatch", "width-mismatch"};

	for (size_t i = 0; i < FAB_COUNT(codes); i++)
		if (!strcmp(code, codes[i]))
			return true;
	return false;
}

static void copy_warnings(struct fab_builder *b, const struct fab_fabric *f)
{
	for (uint32_t i = 0; i < f->n_warnings; i++) {
		const struct fab_warning *w = &f->warnings[i];

		if (is_found_again(w->code))
			continue;
		fab_builder_warn(b, w->code, w->line, "%s", w->message);
		if (w->about)
			fab_builder_warn_about(b, "%s", w->about);
	}
}

int fab_editor_finish(const struct fab_editor *e, const struct fab_host_options *hosts,
		      struct fab_fabric **out, struct fab_err *err)
{
	const struct fab_fabric *f = e->f;
	struct fab_builder *b = fab_builder_new();
	FAB_AUTOFREE uint32_t *id = FAB_NEW((size_t)f->n_nodes + 1, uint32_t);
	FAB_AUTOFREE bool *had = FAB_NEW0((size_t)f->n_nodes + 1, bool);
	FAB_AUTOFREE bool *has = FAB_NEW0((size_t)f->n_nodes + 1, bool);
	FAB_AUTOFREE char *source = NULL;
	int rc;

	for (uint32_t c = 0; c < e->wires.n; c++)
		for (int k = 0; k < 2; k++)
			has[e->wires.v[c].end[k].at.node] |= !e->wires.v[c].is_gone;
	for (uint32_t p = 0; p < f->n_ports; p++)
		had[f->port_node[p]] |= f->port_cable[p] != FAB_NONE;
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		bool leaves = !fab_node_is_switch(f, i) && had[i] && !has[i];

		id[i] = e->is_gone[i] || leaves ? FAB_NONE
						: fab_builder_copy_node(b, f, i);
	}
	for (uint32_t c = 0; c < e->wires.n; c++) {
		const struct wire *w = &e->wires.v[c];

		for (int k = 0; k < 2 && !w->is_gone; k++)
			fab_builder_add_end(b, &(struct fab_end){
						       .node = id[w->end[k].at.node],
						       .port = w->end[k].at.port,
						       .peer = id[w->end[!k].at.node],
						       .peer_port = w->end[!k].at.port,
						       .width = w->end[k].width,
						       .speed = w->end[k].speed,
					       });
	}
	copy_warnings(b, f);
	source = fab_format("%s with %u edit%s", f->source, e->n_edits,
			    e->n_edits == 1 ? "" : "s");
	rc = fab_builder_finish(b, source, f->format, hosts, out, err);
	if (!rc)
		(*out)->n_left_out_switches = f->n_left_out_switches;
	return rc;
}

/* Does the name, in "" or not, mean this switch and nothing else? */
static bool means(const struct fab_resolver *r, const char *name, bool is_quoted,
		  uint32_t sw)
{
	const struct fab_item item = {name, strlen(name), is_quoted};
	uint32_t id;

	return *name && !fab_resolve(r, FAB_WANT_SWITCH, &item, &id, NULL) && id == sw;
}

char *fab_editor_end_text(const struct fab_fabric *f, const struct fab_resolver *r,
			  struct fab_socket end)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+/";
	uint32_t sw = end.node;
	const char *name = fab_node_name(f, sw);
	unsigned num = end.port;
	char label[FAB_LABEL_SIZE];
	FAB_AUTOFREE char *ascii = fab_text_ascii(fab_strdup(name));
	bool is_shown = fab_text_is_safe(name) && !strpbrk(name, "\"'\\$`!") &&
			!strcmp(ascii, name);

	fab_label_short(name, label, sizeof(label));
	if (label[strspn(label, plain)] == '\0' && means(r, label, false, sw))
		return fab_format("%s:%u", label, num);
	if (is_shown && means(r, name, true, sw))
		return fab_format("\"%s\":%u", name, num);
	return fab_format("0x%016llx:%u", (unsigned long long)f->node_guid[sw], num);
}
