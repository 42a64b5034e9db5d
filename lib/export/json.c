/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/json.h"

#include "fabric/check.h"
#include "present/jsonl.h"

struct writer {
	FILE *out;
	bool is_first; /* of the array */
};

static const char *const kind_names[] = {
	[FAB_SWITCH] = "switch",
	[FAB_ADAPTER] = "adapter",
	[FAB_AGGREGATION] = "aggregation-node",
	[FAB_ROUTER] = "router",
};

static const char *const class_names[] = {
	[FAB_CABLE_SWITCH] = "switch-link",
	[FAB_CABLE_HOST] = "host-link",
	[FAB_CABLE_AGGREGATION] = "aggregation-link",
	[FAB_CABLE_OTHER] = "other",
};

/* A record of the open array, or the members of the document; drops the reference. */
static void put(struct writer *w, json_t *record)
{
	fputs(w->is_first ? "\n" : ",\n", w->out);
	w->is_first = false;
	fab_json_dump(record, w->out, JSON_COMPACT | FAB_JSON_FLAGS);
	json_decref(record);
}

static void open_array(struct writer *w, const char *name)
{
	fprintf(w->out, ",\n\"%s\": [", name);
	w->is_first = true;
}

static void close_array(struct writer *w)
{
	fputs(w->is_first ? "]" : "\n]", w->out);
}

static json_t *id_or_null(uint32_t id)
{
	return id == FAB_NONE ? json_null() : json_integer(id);
}

static json_t *guid_or_null(uint64_t guid)
{
	return guid ? fab_json_guid(guid) : json_null();
}

static void put_member(FILE *out, const char *name, json_t *value)
{
	fprintf(out, ",\n\"%s\": ", name);
	fab_json_dump(value, out, JSON_COMPACT | JSON_ENCODE_ANY | FAB_JSON_FLAGS);
	json_decref(value);
}

static void put_head(FILE *out, const struct fab_fabric *f, const char *command)
{
	const struct fab_brief brief = fab_fabric_brief(f);
	json_t *fabric = json_object();

	for (size_t i = 0; i < FAB_BRIEF_COLUMNS; i++) {
		const struct fab_column *c = &fab_brief_columns[i];

		json_object_set_new(fabric, c->name,
				    fab_json_cell(c, fab_column_read(c, &brief)));
	}
	fputs("{\n\"schema\": 1", out);
	put_member(out, "command", json_string(command));
	put_member(out, "version", json_string(FAB_VERSION));
	put_member(out, "fabric", fabric);
	put_member(out, "format", fab_json_text(f->format));
	put_member(out, "host_rule", fab_json_text(f->host_rule));
}

static void put_warnings(struct writer *w, const struct fab_fabric *f)
{
	open_array(w, "warnings");
	for (uint32_t i = 0; i < f->n_warnings; i++) {
		const struct fab_warning *x = &f->warnings[i];
		json_t *o = json_object();

		json_object_set_new(o, "code", fab_json_text(x->code));
		json_object_set_new(o, "message", fab_json_text(x->message));
		json_object_set_new(o, "line",
				    x->line ? json_integer((json_int_t)x->line)
					    : json_null());
		put(w, o);
	}
	close_array(w);
}

static void put_nodes(struct writer *w, const struct fab_fabric *f)
{
	open_array(w, "nodes");
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		json_t *o = json_object();

		json_object_set_new(o, "id", json_integer(i));
		json_object_set_new(o, "kind", json_string(kind_names[f->node_kind[i]]));
		json_object_set_new(o, "guid", guid_or_null(f->node_guid[i]));
		json_object_set_new(o, "system_guid", guid_or_null(f->node_sys_guid[i]));
		json_object_set_new(o, "name", fab_json_text(fab_node_name(f, i)));
		json_object_set_new(o, "ports", json_integer(f->node_n_ports[i]));
		json_object_set_new(o, "vendor", json_integer(f->node_vendor[i]));
		json_object_set_new(o, "device", json_integer(f->node_device[i]));
		json_object_set_new(o, "host", id_or_null(f->node_host[i]));
		put(w, o);
	}
	close_array(w);
}

static void put_ports(struct writer *w, const struct fab_fabric *f)
{
	open_array(w, "ports");
	for (uint32_t p = 0; p < f->n_ports; p++) {
		json_t *o;

		if (fab_node_is_switch(f, f->port_node[p]) && f->port_num[p] &&
		    !f->port_guid[p] && !f->port_lid[p])
			continue; /* says nothing that its cable does not say */
		o = json_object();
		json_object_set_new(o, "node", json_integer(f->port_node[p]));
		json_object_set_new(o, "port", json_integer(f->port_num[p]));
		json_object_set_new(o, "guid", guid_or_null(f->port_guid[p]));
		json_object_set_new(o, "lid",
				    f->port_lid[p] ? json_integer(f->port_lid[p])
						   : json_null());
		json_object_set_new(o, "lmc", json_integer(f->port_lmc[p]));
		json_object_set_new(o, "cable", id_or_null(f->port_cable[p]));
		put(w, o);
	}
	close_array(w);
}

static json_t *end_of(const struct fab_fabric *f, uint32_t port)
{
	json_t *o = json_object();

	json_object_set_new(o, "node", json_integer(f->port_node[port]));
	json_object_set_new(o, "port", json_integer(f->port_num[port]));
	json_object_set_new(o, "width",
			    f->port_width[port] ? json_integer(f->port_width[port])
						: json_null());
	json_object_set_new(o, "speed",
			    f->port_speed[port]
				    ? json_string(fab_speed_name(f->port_speed[port]))
				    : json_null());
	return o;
}

static void put_cables(struct writer *w, const struct fab_fabric *f)
{
	open_array(w, "cables");
	for (uint32_t c = 0; c < f->n_cables; c++) {
		json_t *o = json_object();

		json_object_set_new(o, "id", json_integer(c));
		json_object_set_new(o, "class",
				    json_string(class_names[fab_cable_class(f, c)]));
		json_object_set_new(o, "a", end_of(f, f->cable_a[c]));
		json_object_set_new(o, "b", end_of(f, f->cable_b[c]));
		put(w, o);
	}
	close_array(w);
}

static void put_hosts(struct writer *w, const struct fab_fabric *f)
{
	open_array(w, "hosts");
	for (uint32_t h = 0; h < f->n_hosts; h++) {
		json_t *o = json_object(), *adapters = json_array();

		for (uint32_t i = f->host_first_adapter[h];
		     i < f->host_first_adapter[h + 1]; i++)
			json_array_append_new(adapters, json_integer(f->host_adapter[i]));
		json_object_set_new(o, "id", json_integer(h));
		json_object_set_new(o, "name", fab_json_text(fab_host_name(f, h)));
		json_object_set_new(o, "adapters", adapters);
		put(w, o);
	}
	close_array(w);
}

void fab_export_json(FILE *out, const struct fab_fabric *f, const char *command)
{
	struct writer w = {.out = out};

	put_head(out, f, command);
	put_warnings(&w, f);
	put_nodes(&w, f);
	put_ports(&w, f);
	put_cables(&w, f);
	put_hosts(&w, f);
	fputs("\n}\n", out);
}
