/* SPDX-License-Identifier: BSD-2-Clause */
/* Nodes, ports, cables and warnings added to a builder; assembly.c makes the fabric. */
#include "fabric/builder.h"

#include "base/map.h"
#include "fabric/builder_impl.h"

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
	FAB_FREE_ALL(b->nodes.v, b->name_at.v, b->names.v, b->notes.v, b->ends.v,
		     b->cables.v, b->warnings.v, b->codes.v);
	fab_arena_free(&b->arena);
	free(b);
}

const struct fab_end *fab_builder_end(const struct fab_builder *b, size_t i)
{
	return i < b->ends.n ? &b->ends.v[i] : &b->cables.v[i - b->ends.n];
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
	FAB_AUTO(fab_map64_free_at)
	struct fab_map64 *taken = fab_map64_new(from->n_nodes);
	size_t n_notes = b->notes.n;
	uint32_t n = 0;

	/* Ports with a LID, by their GUID; port 0 of a switch by that of the switch. */
	for (uint32_t p = 0; p < from->n_ports; p++) {
		uint32_t node = from->port_node[p];
		uint64_t guid = fab_node_is_switch(from, node) ? from->node_guid[node]
							       : from->port_guid[p];

		if (from->port_lid[p] && guid)
			fab_map64_put(taken, guid, p);
	}
	*n_with = *n_without = 0;
	for (size_t i = 0; i < b->nodes.n + n_notes; i++) {
		bool is_node = i < b->nodes.n;
		struct port_note note = {.node = (uint32_t)i};
		uint32_t port;

		if (!is_node)
			note = b->notes.v[i - b->nodes.n];
		if ((b->nodes.v[note.node].kind == FAB_SWITCH) != is_node)
			continue;
		port = fab_map64_get(taken, is_node ? b->nodes.v[i].guid : note.guid);
		*n_with += !is_node && note.guid && port != FAB_NONE;
		*n_without += !is_node && note.guid && port == FAB_NONE;
		if (port == FAB_NONE)
			continue;
		fab_builder_set_port(b, note.node, note.port, 0, from->port_lid[port],
				     from->port_lmc[port]);
		n++;
	}
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

	FAB_EACH_PORT(f, node, p)
		if (f->port_guid[p] || f->port_lid[p])
			fab_builder_set_port(b, id, f->port_num[p], f->port_guid[p],
					     f->port_lid[p], f->port_lmc[p]);
	return id;
}

void fab_builder_copy_cable(struct fab_builder *b, const struct fab_fabric *f,
			    fab_cable_id cable, const uint32_t *id)
{
	uint32_t port[2] = {f->cable_a[cable], f->cable_b[cable]};

	for (int k = 0; k < 2; k++)
		fab_builder_add_end(b, &(struct fab_end){
					       .node = id[f->port_node[port[k]]],
					       .port = f->port_num[port[k]],
					       .peer = id[f->port_node[port[!k]]],
					       .peer_port = f->port_num[port[!k]],
					       .width = f->port_width[port[k]],
					       .speed = f->port_speed[port[k]],
				       });
}

void fab_builder_warn(struct fab_builder *b, const char *code, uint64_t line,
		      const char *format, ...)
{
	struct fab_warning warning = {.code = code, .line = line};
	struct code_count first = {.code = code}, *count;
	/* Lines that are no text of a fabric, of which an input may have any number;
	 * other warnings are about a node, port or cable, which takes more memory. */
	size_t len = strlen(code), i = 0;
	bool is_about_line = len > 5 && !strcmp(code + len - 5, "-line");
	struct fab_err text;
	va_list values;

	while (i < b->codes.n && strcmp(b->codes.v[i].code, code) != 0)
		i++;
	if (i == b->codes.n)
		FAB_PUSH(&b->codes, first);
	count = &b->codes.v[i];
	count->n++;
	b->n_warnings_total++;
	b->has_warned = count->n_stored < FAB_WARNINGS_OF_LINES || !is_about_line;
	if (!b->has_warned)
		return;
	count->n_stored++;
	va_start(values, format);
	vsnprintf(text.text, sizeof(text.text), format, values);
	va_end(values);
	warning.message = fab_arena_strdup(&b->arena, text.text);
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
	b->warnings.v[b->warnings.n - 1].about = fab_arena_strdup(&b->arena, text);
}
