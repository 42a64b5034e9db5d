/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/fabrics.h"

#include "support/plan.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static json_t *document(const struct fab_fabric *f)
{
	json_error_t where;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	json_t *doc;

	fab_export_json(out, f, "fabric-topo");
	fclose(out);
	doc = json_loads(text, JSON_REJECT_DUPLICATES, &where);
	cr_assert_not_null(doc, "line %d: %s", where.line, where.text);
	free(text);
	return doc;
}

static json_int_t number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	cr_assert(json_is_integer(value), "%s", key);
	return json_integer_value(value);
}

static const char *string(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	cr_assert(json_is_string(value), "%s", key);
	return json_string_value(value);
}

/* Every record against the fabric it came from. */
static void check_cables(const struct fab_fabric *f, const json_t *cables)
{
	cr_assert_eq(json_array_size(cables), f->n_cables);
	for (uint32_t c = 0; c < f->n_cables; c++) {
		const json_t *o = json_array_get(cables, c);
		const uint32_t ports[2] = {f->cable_a[c], f->cable_b[c]};

		cr_assert_eq(number(o, "id"), c);
		for (int i = 0; i < 2; i++) {
			const json_t *end = json_object_get(o, i ? "b" : "a");

			cr_assert_eq(number(end, "node"), f->port_node[ports[i]]);
			cr_assert_eq(number(end, "port"), f->port_num[ports[i]]);
			cr_assert_eq(number(end, "width"), f->port_width[ports[i]]);
			cr_assert_str_eq(string(end, "speed"),
					 fab_speed_name(f->port_speed[ports[i]]));
		}
	}
}

Test(json, the_document_is_the_fabric)
{
	struct plan plan = plan_tree(3, 2, 2);
	struct fab_fabric *f;
	json_t *doc;
	const json_t *nodes, *ports, *hosts;

	plan_cable(&plan, 4, 7, 4, 8);
	plan.nodes.v[4].n_ports = 8;
	plan_adapter(&plan, "adrift HCA-1");
	f = plan_build(&plan, 0);
	doc = document(f);
	cr_assert_eq(number(doc, "schema"), 1);
	cr_assert_str_eq(string(doc, "command"), "fabric-topo");
	cr_assert_eq(number(json_object_get(doc, "fabric"), "switch_links"), 7);
	cr_assert_eq(number(json_object_get(doc, "fabric"), "host_links"), 6);
	nodes = json_object_get(doc, "nodes");
	cr_assert_eq(json_array_size(nodes), f->n_nodes);
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		const json_t *o = json_array_get(nodes, i);
		char guid[24];

		snprintf(guid, sizeof(guid), "0x%016llx",
			 (unsigned long long)f->node_guid[i]);
		cr_assert_eq(number(o, "id"), i);
		cr_assert_str_eq(string(o, "guid"), guid);
		cr_assert_str_eq(string(o, "name"), fab_node_name(f, i));
		cr_assert_str_eq(string(o, "kind"), i < 5 ? "switch" : "adapter");
	}
	ports = json_object_get(doc, "ports");
	cr_assert_eq(json_array_size(ports), 5 + 7); /* port 0 of switches, adapters' */
	cr_assert_eq(number(json_array_get(ports, 0), "lid"), 1);
	check_cables(f, json_object_get(doc, "cables"));
	hosts = json_object_get(doc, "hosts");
	cr_assert_eq(json_array_size(hosts), 7);
	cr_assert_str_eq(string(json_array_get(hosts, 0), "name"), "node001");
	json_decref(doc);
	fab_fabric_free(f);
	plan_free(&plan);
}

Test(json, hostile_names_and_unknown_values)
{
	struct plan plan = plan_tree(2, 1, 1);
	struct fab_fabric *f;
	json_t *doc;

	strcpy(plan.nodes.v[0].name, "a\"\\\n\x1b");
	strcpy(plan.nodes.v[1].name, "bad \xff utf8");
	plan.nodes.v[2].sys_guid = 0;
	plan.nodes.v[2].lid[0] = 0;
	plan.cables.v[0].a.width = plan.cables.v[0].b.width = 0;
	plan.cables.v[0].a.speed = plan.cables.v[0].b.speed = FAB_SPEED_UNKNOWN;
	f = plan_build(&plan, 0);
	doc = document(f);
	cr_assert_str_eq(string(json_array_get(json_object_get(doc, "nodes"), 0), "name"),
			 "a\"\\\n\x1b");
	cr_assert_not_null(
		strstr(string(json_array_get(json_object_get(doc, "nodes"), 1), "name"),
		       "xff utf8"));
	cr_assert(json_is_null(json_object_get(
		json_array_get(json_object_get(doc, "nodes"), 2), "system_guid")));
	cr_assert(json_is_null(json_object_get(
		json_object_get(json_array_get(json_object_get(doc, "cables"), 0), "a"),
		"speed")));
	json_decref(doc);
	fab_fabric_free(f);
	plan_free(&plan);
}
