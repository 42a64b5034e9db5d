/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/builder.h"

#include "base/map.h"
#include "base/text.h"
#include "fabric/builder_impl.h"
#include "fabric/graph.h"
#include "fabric/hosts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fab_builder *fab_builder_new(void)
{
	return FAB_NEW0(1, struct fab_builder);
}

void fab_builder_free(struct fab_builder *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->warnings.n; i++)
		fab_warning_fini(&b->warnings.v[i]);
	free(b->nodes.v);
	free(b->name_at.v);
	free(b->names.v);
	free(b->notes.v);
	free(b->ends.v);
	free(b->cables.v);
	free(b->warnings.v);
	free(b->codes.v);
	free(b);
}

/* Append a name, its NUL bytes made blanks; returns its offset. */
static size_t add_name(struct fab_builder *b, const char *name, size_t len)
{
	size_t at = b->names.n;

	FAB_RESERVE(&b->names, len + 1);
	for (size_t i = 0; i < len; i++)
		b->names.v[at + i] = name[i] ? name[i] : ' ';
	b->names.v[at + len] = '\0';
	b->names.n += len + 1;
	return at;
}

uint32_t fab_builder_add_node(struct fab_builder *b, const struct fab_node_spec *spec)
{
	size_t at = add_name(b, spec->name, spec->name_len);

	FAB_PUSH(&b->name_at, at);
	FAB_PUSH(&b->nodes, *spec);
	b->nodes.v[b->nodes.n - 1].name = NULL;
	return (uint32_t)(b->nodes.n - 1);
}

uint32_t fab_builder_n_nodes(const struct fab_builder *b)
{
	return (uint32_t)b->nodes.n;
}

void fab_builder_rename(struct fab_builder *b, uint32_t node, const char *name,
			size_t len)
{
	b->name_at.v[node] = add_name(b, name, len);
}

const char *fab_builder_name(const struct fab_builder *b, uint32_t node)
{
	return b->names.v + b->name_at.v[node];
}

const struct fab_node_spec *fab_builder_node(const struct fab_builder *b, uint32_t node)
{
	return &b->nodes.v[node];
}

void fab_builder_set_port(struct fab_builder *b, uint32_t node, uint16_t port,
			  uint64_t guid, uint16_t lid, uint8_t lmc)
{
	struct port_note note = {
		.node = node, .port = port, .guid = guid, .lid = lid, .lmc = lmc};

	FAB_PUSH(&b->notes, note);
}

uint32_t fab_builder_take_lids(struct fab_builder *b, const struct fab_fabric *from,
			       uint32_t *n_with, uint32_t *n_without)
{
	struct fab_map64 *map;
	size_t n_notes = b->notes.n;
	uint32_t n = 0;
	struct fab_map64 *taken = fab_map64_new(from->n_nodes);

	/* Ports with a LID, by their GUID; port 0 of a switch by that of the switch. */
	for (uint32_t p = 0; p < from->n_ports; p++) {
		uint32_t node = from->port_node[p];
		uint64_t guid = fab_node_is_switch(from, node) ? from->node_guid[node]
							       : from->port_guid[p];

		if (from->port_lid[p] && guid)
			fab_map64_put(taken, guid, p);
	}
	map = taken;
	*n_with = *n_without = 0;
	for (size_t i = 0; i < b->nodes.n + n_notes; i++) {
		bool is_node = i < b->nodes.n;
		struct port_note note = {0};
		uint32_t port;

		if (is_node && b->nodes.v[i].kind != FAB_SWITCH)
			continue;
		if (!is_node)
			note = b->notes.v[i - b->nodes.n];
		if (!is_node && b->nodes.v[note.node].kind == FAB_SWITCH)
			continue;
		port = fab_map64_get(map, is_node ? b->nodes.v[i].guid : note.guid);
		*n_with += !is_node && note.guid && port != FAB_NONE;
		*n_without += !is_node && note.guid && port == FAB_NONE;
		if (port == FAB_NONE)
			continue;
		fab_builder_set_port(b, is_node ? (uint32_t)i : note.node, note.port, 0,
				     from->port_lid[port], from->port_lmc[port]);
		n++;
	}
	fab_map64_free(map);
	return n;
}

void fab_builder_add_end(struct fab_builder *b, const struct fab_end *end)
{
	FAB_PUSH(&b->ends, *end);
}

void fab_builder_add_cable(struct fab_builder *b, uint32_t node_a, uint16_t port_a,
			   uint32_t node_b, uint16_t port_b, uint8_t width, uint8_t speed)
{
	struct fab_end cable = {.node = node_a,
				.peer = node_b,
				.port = port_a,
				.peer_port = port_b,
				.width = width,
				.speed = speed};

	FAB_PUSH(&b->cables, cable);
}

/* How many warnings of this code there were before. */
uint32_t fab_builder_copy_node(struct fab_builder *b, const struct fab_fabric *f,
			       fab_node_id node)
{
	const char *name = fab_node_name(f, node);
	uint32_t id = fab_builder_add_node(
		b, &(struct fab_node_spec){
			   .kind = f->node_kind[node],
			   .guid = f->node_guid[node],
			   .sys_guid = f->node_sys_guid[node],
			   .vendor = f->node_vendor[node],
			   .device = f->node_device[node],
			   .n_ports = f->node_n_ports[node],
			   .is_enhanced = f->node_is_enhanced[node],
			   .n_left_out =
				   node < f->n_switches ? f->switch_n_left_out[node] : 0,
			   .name = name,
			   .name_len = strlen(name),
		   });

	for (uint32_t p = f->node_first_port[node]; p < f->node_first_port[node + 1]; p++)
		if (f->port_guid[p] || f->port_lid[p])
			fab_builder_set_port(b, id, f->port_num[p], f->port_guid[p],
					     f->port_lid[p], f->port_lmc[p]);
	return id;
}

static void copy_end(struct fab_builder *b, const struct fab_fabric *f,
		     const uint32_t *id, uint32_t port, uint32_t peer)
{
	fab_builder_add_end(b, &(struct fab_end){
				       .node = id[f->port_node[port]],
				       .port = f->port_num[port],
				       .peer = id[f->port_node[peer]],
				       .peer_port = f->port_num[peer],
				       .width = f->port_width[port],
				       .speed = f->port_speed[port],
			       });
}

void fab_builder_copy_cable(struct fab_builder *b, const struct fab_fabric *f,
			    fab_cable_id cable, const uint32_t *id)
{
	copy_end(b, f, id, f->cable_a[cable], f->cable_b[cable]);
	copy_end(b, f, id, f->cable_b[cable], f->cable_a[cable]);
}

/* Lines that are no text of a fabric, of which an input may have any number; what else is
 * warned of is a node, port or cable, which takes more memory than the warning. */
static bool is_about_line(const char *code)
{
	size_t n = strlen(code);

	return n > 5 && !strcmp(code + n - 5, "-line");
}

void fab_builder_warn(struct fab_builder *b, const char *code, uint64_t line,
		      const char *format, ...)
{
	struct fab_warning warning = {.code = code, .line = line};
	struct code_count *count;
	struct fab_err text;
	va_list values;
	struct code_count first = {.code = code};
	size_t i = 0;

	while (i < b->codes.n && strcmp(b->codes.v[i].code, code) != 0)
		i++;
	if (i == b->codes.n)
		FAB_PUSH(&b->codes, first);
	b->codes.v[i].n++;
	count = &b->codes.v[i];
	b->n_warnings_total++;
	b->has_warned = count->n_stored < FAB_WARNINGS_OF_LINES || !is_about_line(code);
	if (!b->has_warned)
		return;
	count->n_stored++;
	va_start(values, format);
	vsnprintf(text.text, sizeof(text.text), format, values);
	va_end(values);
	warning.message = fab_strdup(text.text);
	FAB_PUSH(&b->warnings, warning);
}

void fab_builder_warn_about(struct fab_builder *b, const char *format, ...)
{
	char text[128];
	va_list values;

	if (!b->has_warned)
		return;
	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	free(b->warnings.v[b->warnings.n - 1].about);
	b->warnings.v[b->warnings.n - 1].about = fab_strdup(text);
}

/* From what was added to the finished fabric: number, pair the ends, build the graph. */

struct assembly {
	struct fab_builder *b;
	struct fab_fabric *f;
	struct fab_rail rail;
	uint32_t *new_id; /* [nodes added] node id in the fabric, FAB_NONE: left out */
	uint32_t *old_id; /* [n_nodes] */
	uint32_t *claim;  /* [n_ports] index + 1 of the end that speaks for the port */
	uint32_t *mate;	  /* [n_ports] port at the other end, FAB_NONE */
};

static void fill_nodes(struct assembly *a)
{
	struct fab_fabric *f = a->f;
	uint32_t n = f->n_nodes;

	f->node_kind = FAB_NEW(n, uint8_t);
	f->node_is_enhanced = FAB_NEW(n, uint8_t);
	f->node_n_ports = FAB_NEW(n, uint16_t);
	f->node_name = FAB_NEW(n, uint32_t);
	f->node_vendor = FAB_NEW(n, uint32_t);
	f->node_device = FAB_NEW(n, uint32_t);
	f->node_guid = FAB_NEW(n, uint64_t);
	f->node_sys_guid = FAB_NEW(n, uint64_t);
	f->switch_n_left_out = FAB_NEW(f->n_switches, uint32_t);
	for (uint32_t i = 0; i < n; i++) {
		const struct fab_node_spec *spec = &a->b->nodes.v[a->old_id[i]];

		f->node_kind[i] = (uint8_t)spec->kind;
		f->node_is_enhanced[i] = spec->is_enhanced;
		f->node_n_ports[i] = spec->n_ports;
		f->node_name[i] = (uint32_t)a->b->name_at.v[a->old_id[i]];
		f->node_vendor[i] = spec->vendor;
		f->node_device[i] = spec->device;
		f->node_guid[i] = spec->guid;
		f->node_sys_guid[i] = spec->sys_guid;
		if (i < f->n_switches)
			f->switch_n_left_out[i] = spec->n_left_out;
	}
	f->names = a->b->names.v;
	f->names_bytes = a->b->names.n;
	a->b->names.v = NULL;
}

static void warn_duplicate_guids(struct assembly *a)
{
	struct fab_fabric *f = a->f;
	struct fab_map64 *seen = fab_map64_new(f->n_nodes);

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		uint32_t first;

		if (!f->node_guid[i])
			continue;
		first = fab_map64_put(seen, f->node_guid[i], i);
		if (first == i)
			continue;
		fab_builder_warn(a->b, "duplicate-guid", a->b->nodes.v[a->old_id[i]].line,
				 "GUID 0x%016llx belongs to \"%s\" and to \"%s\"",
				 (unsigned long long)f->node_guid[i],
				 fab_node_name(f, first), fab_node_name(f, i));
		fab_builder_warn_about(a->b, "0x%016llx",
				       (unsigned long long)f->node_guid[i]);
	}
	fab_map64_free(seen);
}

static int by_number(const void *x, const void *y)
{
	return *(const uint16_t *)x - *(const uint16_t *)y;
}

typedef void (*mention_fn)(void *to, uint32_t node, uint16_t port);

/* Every port that something was said about, in terms of the new node ids. */
static void each_mention(const struct assembly *a, mention_fn fn, void *to)
{
	const struct fab_builder *b = a->b;

	for (uint32_t s = 0; s < a->f->n_switches; s++)
		fn(to, s, 0);
	for (size_t i = 0; i < b->notes.n; i++)
		if (a->new_id[b->notes.v[i].node] != FAB_NONE)
			fn(to, a->new_id[b->notes.v[i].node], b->notes.v[i].port);
	for (size_t i = 0; i < b->ends.n + b->cables.n; i++) {
		const struct fab_end *e =
			i < b->ends.n ? &b->ends.v[i] : &b->cables.v[i - b->ends.n];
		uint32_t node = a->new_id[e->node], peer = a->new_id[e->peer];

		if (node == FAB_NONE || peer == FAB_NONE || !e->port || !e->peer_port)
			continue;
		fn(to, node, e->port);
		fn(to, peer, e->peer_port);
	}
}

struct buckets {
	size_t *first; /* [n_nodes + 1] */
	uint16_t *num;
};

static void count_mention(void *to, uint32_t node, uint16_t port)
{
	(void)port;
	((struct buckets *)to)->first[node + 1]++;
}

static void place_mention(void *to, uint32_t node, uint16_t port)
{
	struct buckets *bk = to;

	bk->num[bk->first[node]++] = port;
}

/* The ports that are kept: sorted by number in a bucket a node. */
static void number_ports(struct assembly *a)
{
	struct fab_fabric *f = a->f;
	struct buckets bk = {.first = FAB_NEW0((size_t)f->n_nodes + 2, size_t)};
	size_t at = 0;

	each_mention(a, count_mention, &bk);
	for (uint32_t i = 0; i < f->n_nodes; i++)
		bk.first[i + 1] += bk.first[i];
	bk.num = FAB_NEW(bk.first[f->n_nodes], uint16_t);
	each_mention(a, place_mention, &bk); /* first[i] is now where node i ends */
	f->node_first_port = FAB_NEW((size_t)f->n_nodes + 1, uint32_t);
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		size_t start = i ? bk.first[i - 1] : 0;
		uint32_t kept;
		uint16_t *num = bk.num + start;
		uint32_t n = (uint32_t)(bk.first[i] - start);
		uint32_t n_kept = 0;

		/* Sort the port numbers and keep each once; they mostly come sorted. */
		for (uint32_t k = 1; k < n; k++)
			if (num[k - 1] > num[k]) {
				qsort(num, n, sizeof(*num), by_number);
				break;
			}
		for (uint32_t k = 0; k < n; k++)
			if (!n_kept || num[n_kept - 1] != num[k])
				num[n_kept++] = num[k];
		kept = n_kept;
		f->node_first_port[i] = (uint32_t)at;
		memmove(bk.num + at, bk.num + start, kept * sizeof(*bk.num));
		at += kept;
	}
	f->node_first_port[f->n_nodes] = f->n_ports = (uint32_t)at;
	f->port_num = fab_realloc(bk.num, at, sizeof(*bk.num));
	free(bk.first);
}

static void fill_ports(struct assembly *a)
{
	struct fab_fabric *f = a->f;

	f->port_guid = FAB_NEW0(f->n_ports, uint64_t);
	f->port_node = FAB_NEW(f->n_ports, uint32_t);
	f->port_cable = FAB_NEW(f->n_ports, uint32_t);
	f->port_lid = FAB_NEW0(f->n_ports, uint16_t);
	f->port_lmc = FAB_NEW0(f->n_ports, uint8_t);
	f->port_width = FAB_NEW0(f->n_ports, uint8_t);
	f->port_speed = FAB_NEW0(f->n_ports, uint8_t);
	memset(f->port_cable, 0xff, f->n_ports * sizeof(*f->port_cable));
	for (uint32_t i = 0; i < f->n_nodes; i++)
		for (uint32_t p = f->node_first_port[i]; p < f->node_first_port[i + 1];
		     p++)
			f->port_node[p] = i;
	for (size_t i = 0; i < a->b->notes.n; i++) {
		const struct port_note *note = &a->b->notes.v[i];
		uint32_t node = a->new_id[note->node], p;

		if (node == FAB_NONE)
			continue;
		p = fab_port_find(f, node, note->port);
		if (note->guid)
			f->port_guid[p] = note->guid;
		if (note->lid && note->lid != UINT16_MAX)
			f->port_lid[p] = note->lid;
		if (note->lmc)
			f->port_lmc[p] = note->lmc;
	}
}

/* Ports beyond those the node says it has: believed, with a warning. */
static void about_port(struct assembly *a, uint32_t node, uint16_t port)
{
	fab_builder_warn_about(a->b, "0x%016llx/%u",
			       (unsigned long long)a->f->node_guid[node], port);
}

/* The ports, lower GUID and number first. */
static void about_cable(struct assembly *a, uint32_t port, uint32_t peer)
{
	const struct fab_fabric *f = a->f;
	uint64_t guid = f->node_guid[f->port_node[port]];
	uint64_t peer_guid = f->node_guid[f->port_node[peer]];

	if (peer_guid < guid ||
	    (peer_guid == guid && f->port_num[peer] < f->port_num[port])) {
		about_cable(a, peer, port);
		return;
	}
	fab_builder_warn_about(a->b, "0x%016llx/%u 0x%016llx/%u",
			       (unsigned long long)guid, f->port_num[port],
			       (unsigned long long)peer_guid, f->port_num[peer]);
}

static void check_port_range(struct assembly *a, uint32_t node, uint16_t port,
			     uint64_t line)
{
	struct fab_fabric *f = a->f;

	if (port <= f->node_n_ports[node])
		return;
	/* 0 was given when the number is not known: then it is what is cabled. */
	if (a->b->nodes.v[a->old_id[node]].n_ports) {
		fab_builder_warn(a->b, "port-out-of-range", line,
				 "port %u of \"%s\" does not exist (%u ports)", port,
				 fab_node_name(f, node), f->node_n_ports[node]);
		about_port(a, node, port);
	}
	f->node_n_ports[node] = port;
}

/* The end's own port and its peer's; false when the end describes no cable. */
static bool end_ports(struct assembly *a, const struct fab_end *e, uint32_t *port,
		      uint32_t *peer)
{
	uint32_t node = a->new_id[e->node], peer_node = a->new_id[e->peer];

	if (node == FAB_NONE || peer_node == FAB_NONE)
		return false;
	if (!e->port || !e->peer_port) {
		fab_builder_warn(a->b, "port-out-of-range", e->line,
				 "a cable on port 0 of \"%s\" is left out",
				 fab_node_name(a->f, e->port ? peer_node : node));
		about_port(a, e->port ? peer_node : node, 0);
		return false;
	}
	check_port_range(a, node, e->port, e->line);
	check_port_range(a, peer_node, e->peer_port, e->line);
	*port = fab_port_find(a->f, node, e->port);
	*peer = fab_port_find(a->f, peer_node, e->peer_port);
	return true;
}

static void warn_conflict(struct assembly *a, uint32_t port, uint32_t peer, uint64_t line,
			  const char *why)
{
	const struct fab_fabric *f = a->f;

	fab_builder_warn(a->b, "conflicting-cable", line,
			 "cable from port %u of \"%s\" to port %u of \"%s\" left out: %s",
			 f->port_num[port], fab_node_name(f, f->port_node[port]),
			 f->port_num[peer], fab_node_name(f, f->port_node[peer]), why);
	about_cable(a, port, peer);
}

static void set_rate(struct fab_fabric *f, uint32_t port, const struct fab_end *e)
{
	f->port_width[port] = e->width;
	f->port_speed[port] = e->speed;
}

/* Each port's own word: `claim` is who said it first, `mate` what it said. */
static void collect_claims(struct assembly *a)
{
	struct fab_fabric *f = a->f;

	a->claim = FAB_NEW0(f->n_ports, uint32_t);
	a->mate = FAB_NEW(f->n_ports, uint32_t);
	memset(a->mate, 0xff, f->n_ports * sizeof(*a->mate));
	for (size_t i = 0; i < a->b->ends.n; i++) {
		const struct fab_end *e = &a->b->ends.v[i];
		uint32_t port, peer;

		if (!end_ports(a, e, &port, &peer))
			continue;
		if (port == peer) {
			warn_conflict(a, port, peer, e->line,
				      "a port cannot join itself");
		} else if (a->claim[port]) {
			if (a->mate[port] != peer)
				warn_conflict(a, port, peer, e->line,
					      "the port has another cable");
		} else {
			a->claim[port] = (uint32_t)i + 1;
			a->mate[port] = peer;
			set_rate(f, port, e);
		}
	}
}

/* Make the mates mutual: a cable known from one end counts, a contradicted one does
 * not. */
static void settle_mates(struct assembly *a)
{
	struct fab_fabric *f = a->f;

	for (uint32_t port = 0; port < f->n_ports; port++) {
		const struct fab_end *e;
		uint32_t peer = a->mate[port];

		if (!a->claim[port])
			continue;
		e = &a->b->ends.v[a->claim[port] - 1];
		if (a->mate[peer] == FAB_NONE) {
			fab_builder_warn(
				a->b, "one-sided-cable", e->line,
				"port %u of \"%s\" names port %u of \"%s\", which names no peer",
				f->port_num[port], fab_node_name(f, f->port_node[port]),
				f->port_num[peer], fab_node_name(f, f->port_node[peer]));
			about_cable(a, port, peer);
			a->mate[peer] = port;
			set_rate(f, peer, e);
		} else if (a->mate[peer] != port) {
			warn_conflict(a, port, peer, e->line,
				      "the other port has another cable");
			a->mate[port] = FAB_NONE;
			a->claim[port] = 0;
		} else if (a->claim[peer] && port < peer) {
			const char *from = fab_node_name(f, f->port_node[port]);
			const char *to = fab_node_name(f, f->port_node[peer]);

			/* Both ends of a pair must agree on the rate, as far as they
			 * state one. */
			if (f->port_width[port] != f->port_width[peer] &&
			    f->port_width[port] && f->port_width[peer])
				fab_builder_warn(
					a->b, "width-mismatch", e->line,
					"port %u of \"%s\" runs at %ux, its peer, port %u of \"%s\", at %ux",
					f->port_num[port], from, f->port_width[port],
					f->port_num[peer], to, f->port_width[peer]);
			if (f->port_speed[port] != f->port_speed[peer] &&
			    f->port_speed[port] && f->port_speed[peer])
				fab_builder_warn(
					a->b, "speed-mismatch", e->line,
					"port %u of \"%s\" runs at %s, its peer, port %u of \"%s\", at %s",
					f->port_num[port], from,
					fab_speed_name(f->port_speed[port]),
					f->port_num[peer], to,
					fab_speed_name(f->port_speed[peer]));
		}
	}
}

/* 0 switch link, 1 host link, 2 adapter to adapter; `port` is the lower end. */
static int cable_class(const struct fab_fabric *f, uint32_t port, uint32_t peer)
{
	if (f->port_node[peer] < f->n_switches)
		return 0;
	return f->port_node[port] < f->n_switches ? 1 : 2;
}

static void number_cables(struct assembly *a)
{
	struct fab_fabric *f = a->f;
	uint32_t at[4] = {0};

	for (uint32_t p = 0; p < f->n_ports; p++)
		if (a->mate[p] != FAB_NONE && p < a->mate[p])
			at[1 + cable_class(f, p, a->mate[p])]++;
	f->n_switch_links = at[1];
	f->n_host_links = at[2];
	f->n_cables = at[1] + at[2] + at[3];
	at[2] += at[1];
	f->cable_a = FAB_NEW(f->n_cables, uint32_t);
	f->cable_b = FAB_NEW(f->n_cables, uint32_t);
	for (uint32_t p = 0; p < f->n_ports; p++) {
		uint32_t c;

		if (a->mate[p] == FAB_NONE || p > a->mate[p])
			continue;
		c = at[cable_class(f, p, a->mate[p])]++;
		f->cable_a[c] = p;
		f->cable_b[c] = a->mate[p];
		f->port_cable[p] = f->port_cable[a->mate[p]] = c;
	}
}

static int check_size(const struct assembly *a, const char *source, struct fab_err *err)
{
	const struct fab_builder *b = a->b;

	if (b->names.n > UINT32_MAX || b->nodes.n >= UINT32_MAX ||
	    2 * (b->ends.n + b->cables.n) + b->notes.n + b->nodes.n >= UINT32_MAX)
		return fab_fail(err, EFBIG, "%s: more than 2^32 ports or bytes of names",
				source);
	return 0;
}

static int check_content(const struct assembly *a, const char *source, const char *hca,
			 struct fab_err *err)
{
	const struct fab_fabric *f = a->f;

	if (!f->n_switches)
		return fab_fail(err, EINVAL, "%s: no switch in it (%u adapter%s)", source,
				f->n_adapters, f->n_adapters == 1 ? "" : "s");
	if (hca && !a->rail.n_adapters)
		return fab_fail(err, EINVAL, "%s: no adapter matches --hca '%s'", source,
				hca);
	if (hca && a->rail.is_port && !a->rail.n_connected)
		return fab_fail(
			err, EINVAL,
			"%s: no port that matches --hca '%s' has a cable to a switch",
			source, hca);
	if (!f->n_cables)
		return fab_fail(err, EINVAL,
				"%s: no cable in it (%u switch%s, %u adapter%s)", source,
				f->n_switches, f->n_switches == 1 ? "" : "es",
				f->n_adapters, f->n_adapters == 1 ? "" : "s");
	return 0;
}

static void assemble(struct assembly *a, const struct fab_host_options *hosts)
{
	struct fab_fabric *f = a->f;
	struct fab_builder *b = a->b;

	fill_nodes(a);
	/* Any host chooses its own description. */
	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (!fab_text_is_safe(fab_node_name(f, i)))
			fab_builder_warn(
				a->b, "unprintable-name",
				a->b->nodes.v[a->old_id[i]].line,
				"the description \"%s\" of GUID 0x%016llx is no printable text: such bytes are written as \\xNN, in tables of other programs as blanks",
				fab_node_name(f, i), (unsigned long long)f->node_guid[i]);
	warn_duplicate_guids(a);
	number_ports(a);
	fill_ports(a);
	collect_claims(a);
	settle_mates(a);
	/* Cables that were added whole. */
	for (size_t j = 0; j < a->b->cables.n; j++) {
		const struct fab_end *e = &a->b->cables.v[j];
		uint32_t port, peer;

		if (!end_ports(a, e, &port, &peer))
			continue;
		if (port == peer || a->mate[port] != FAB_NONE ||
		    a->mate[peer] != FAB_NONE) {
			warn_conflict(a, port, peer, e->line, "a port has another cable");
			continue;
		}
		a->mate[port] = peer;
		a->mate[peer] = port;
		set_rate(f, port, e);
		set_rate(f, peer, e);
	}
	number_cables(a);
	fab_graph_build(a->f);
	fab_hosts_group(a->f, hosts);
	/* Hand the warnings over; codes that came up too often get a closing line. */
	for (size_t k = 0; k < b->codes.n; k++) {
		struct fab_warning more = {.code = b->codes.v[k].code};

		if (b->codes.v[k].n == b->codes.v[k].n_stored)
			continue;
		more.message = fab_format(
			"%llu more like these",
			(unsigned long long)(b->codes.v[k].n - b->codes.v[k].n_stored));
		FAB_PUSH(&b->warnings, more);
	}
	a->f->warnings = b->warnings.v;
	a->f->n_warnings = (uint32_t)b->warnings.n;
	a->f->n_warnings_total = b->n_warnings_total;
	b->warnings.v = NULL;
	b->warnings.n = 0;
}

int fab_builder_finish(struct fab_builder *b, const char *source, const char *format,
		       const struct fab_host_options *hosts, struct fab_fabric **out,
		       struct fab_err *err)
{
	static const struct fab_host_options no_options;
	struct assembly a = {.b = b, .f = FAB_NEW0(1, struct fab_fabric)};
	int rc;

	if (!hosts)
		hosts = &no_options;
	a.f->source = fab_strdup(source);
	a.f->format = fab_strdup(format);
	rc = check_size(&a, source, err);
	if (!rc) {
		struct fab_fabric *f;
		uint32_t n;

		fab_rail_choose(b, hosts->hca, &a.rail);
		a.f->n_left_out_switches = a.rail.n_left_out;
		/* Switches first, then the others, each in the order of adding. */
		f = a.f;
		n = (uint32_t)a.b->nodes.n;
		a.new_id = FAB_NEW(n, uint32_t);
		a.old_id = FAB_NEW(n, uint32_t);
		memset(a.new_id, 0xff, n * sizeof(*a.new_id));
		for (int pass = 0; pass < 2; pass++) {
			for (uint32_t i = 0; i < n; i++) {
				enum fab_node_kind kind = a.b->nodes.v[i].kind;

				if ((kind == FAB_SWITCH) != (pass == 0) ||
				    !a.rail.is_kept[i])
					continue;
				a.old_id[f->n_nodes] = i;
				a.new_id[i] = f->n_nodes++;
				f->n_adapters +=
					kind == FAB_ADAPTER || kind == FAB_AGGREGATION;
				f->n_aggregation_nodes += kind == FAB_AGGREGATION;
				f->n_routers += kind == FAB_ROUTER;
			}
			if (pass == 0)
				f->n_switches = f->n_nodes;
		}
		assemble(&a, hosts);
		rc = check_content(&a, source, hosts->hca, err);
	}
	fab_rail_fini(&a.rail);
	free(a.new_id);
	free(a.old_id);
	free(a.claim);
	free(a.mate);
	fab_builder_free(b);
	if (rc)
		fab_fabric_free(a.f);
	else
		*out = a.f;
	return rc;
}
