/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A folder of boot files that is written again: nodes keep the servers and addresses that
 * it has, as far as possible, and the report lists what differs. Two hidden files of the
 * folder hold its mapping (lines "NODE" "SERVER") and its addresses (as --addresses).
 */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/text.h"
#include "bootplan.h"

#define MAPPING ".fabkit-mapping"
#define ADDRESSES ".fabkit-addresses"

enum { SHOWN = 10, FILES_SHOWN = 5 };

bool bootplan_has_previous(const char *folder)
{
	FAB_AUTOFREE char *path = fab_format("%s/%s", folder, MAPPING);

	return fab_input_exists(path);
}

/* ---- reading ---- */

struct reading {
	struct fab_arena *a;
	struct fab_lookup nodes, interfaces;
	struct bootplan_previous *out;
};

/* "NODE" "SERVER"; either may be gone. */
static int read_pair(void *context, struct fab_item line, struct fab_err *err)
{
	const struct reading *r = context;
	struct bootplan_kept kept;
	struct fab_item pair[2];
	int rc = fab_list_pair(line.text, line.len, " ", pair, err);

	if (rc)
		return rc;
	kept.node = fab_arena_format(r->a, "%.*s", (int)pair[0].len, pair[0].text);
	kept.server = fab_arena_format(r->a, "%.*s", (int)pair[1].len, pair[1].text);
	pair[0].is_quoted = pair[1].is_quoted = true;
	if (r->nodes.find(r->nodes.of, &pair[0], &kept.id, NULL))
		kept.id = FAB_NONE;
	if (r->interfaces.find(r->interfaces.of, &pair[1], &kept.interface, NULL))
		kept.interface = FAB_NONE;
	FAB_PUSH(&r->out->kept, kept);
	return 0;
}

int bootplan_read_previous(const struct bootplan_params *p, const struct fab_machine *m,
			   struct fab_arena *a, struct bootplan_previous *out,
			   struct fab_err *err)
{
	const char *path = fab_arena_format(a, "%s/%s", p->export.folder, MAPPING);
	FAB_AUTO(fab_machine_names_free_at)
	struct fab_machine_names *names = fab_machine_names_new(m);
	struct reading r = {.a = a,
			    .nodes = fab_machine_lookup(names, FAB_MACHINE_NODES),
			    .interfaces =
				    fab_machine_lookup(names, FAB_MACHINE_INTERFACES),
			    .out = out};
	int rc = fab_list_file_read(path, read_pair, &r, err);
	FAB_AUTO(fab_input_fini) struct fab_input in = {0};

	path = fab_arena_format(a, "%s/%s", p->export.folder, ADDRESSES);
	if (rc || !fab_input_exists(path))
		return rc;
	rc = fab_input_read(path, &in, err);
	if (rc)
		return rc;
	return fab_address_plan_read(m, path, in.bytes, in.n, &out->addresses, err);
}

void bootplan_previous_mapping(const struct bootplan_previous *x,
			       const uint32_t *old_node, uint32_t *before)
{
	for (size_t i = 0; i < x->kept.n; i++) {
		uint32_t node = x->kept.v[i].id;

		if (node != FAB_NONE)
			before[old_node ? old_node[node] : node] = x->kept.v[i].interface;
	}
}

void bootplan_keep_addresses(const struct bootplan_previous *x,
			     const struct bootplan_outcome *o,
			     const struct fab_host_addresses *given,
			     struct fab_host_addresses *plan)
{
	for (uint32_t i = 0; i < fab_host_addresses_count(x->addresses); i++) {
		const char *name = fab_host_addresses_name(x->addresses, i);
		const struct fab_host_address *of =
			fab_host_addresses_find(x->addresses, name);
		const char *ip[2] = {of->ip, of->ip6};

		for (int k = 0; k < 2; k++)
			if (*ip[k] && fab_subnets_find(&o->subnets, ip[k]) &&
			    !fab_host_addresses_has_ip(given, ip[k]) &&
			    !fab_host_addresses_has_ip(plan, ip[k]))
				fab_host_addresses_set_ip(plan, name, ip[k]);
	}
}

void bootplan_previous_fini(struct bootplan_previous *x)
{
	fab_host_addresses_free(x->addresses);
	FAB_FREE_ALL(x->kept.v, x->files.v, x->nodes.v);
}

/* ---- writing and comparing ---- */

void bootplan_write_state(struct fab_cli_folder *folder, const struct bootplan_outcome *o,
			  const struct fab_host_addresses *given)
{
	FILE *out = fab_cli_folder_file(folder, MAPPING);
	char node[FAB_MACHINE_NAME_BYTES], server[FAB_MACHINE_NAME_BYTES];

	FAB_EACH_NODE(o->largest, at) {
		fab_machine_node_name(o->m, at, node);
		fab_machine_interface_name(o->m, o->interface_of[0][at], server);
		/* a list cannot hold other names */
		if (!strpbrk(node, "\"\n") && !strpbrk(server, "\"\n"))
			fprintf(out, "\"%s\" \"%s\"\n", node, server);
	}
	fab_address_plan_write(fab_cli_folder_file(folder, ADDRESSES), o->m, given);
}

/* One more file that differs. */
static void note_file(void *context, const char *name, enum fab_cli_change change)
{
	struct bootplan_previous *x = context;

	if (*name != '.' && change != FAB_CLI_SAME)
		FAB_PUSH(&x->files, fab_arena_strdup(x->arena, name));
}

static const char *address_text(struct fab_arena *a,
				const struct fab_host_addresses *addresses,
				const char *name)
{
	const struct fab_host_address *x = fab_host_addresses_find(addresses, name);

	if (!x || (!*x->ip && !*x->ip6))
		return NULL;
	return fab_arena_format(a, "%s%s%s", x->ip, *x->ip && *x->ip6 ? " " : "", x->ip6);
}

static bool differ(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) != 0 : a != b;
}

static int by_node(const void *a, const void *b)
{
	const struct bootplan_node_change *x = a, *y = b;

	return fab_text_natural_cmp(x->node, y->node);
}

void bootplan_compare_previous(struct bootplan_previous *x, struct fab_cli_folder *folder,
			       const struct bootplan_outcome *o,
			       const struct fab_host_addresses *given,
			       struct fab_arena *a)
{
	const struct fab_machine *m = o->m;
	uint32_t *at = fab_arena_none(a, (size_t)m->n_nodes + 1);
	bool *boots = FAB_ARENA_NEW0(a, (size_t)m->n_nodes + 1, bool);
	char name[FAB_MACHINE_NAME_BYTES];

	x->arena = a;
	fab_cli_compare_folder(folder, note_file, x);

	for (size_t i = 0; i < x->kept.n; i++)
		if (x->kept.v[i].id != FAB_NONE)
			at[x->kept.v[i].id] = (uint32_t)i;
	FAB_EACH_NODE(o->largest, node) {
		struct bootplan_node_change c = {0};
		bool is_moved, is_readdressed;

		boots[node] = true;
		c.node = fab_arena_strdup(a, fab_machine_node_name(m, node, name));
		c.server = fab_arena_strdup(
			a, fab_machine_interface_name(m, o->interface_of[0][node], name));
		c.address = address_text(a, given, c.node);
		if (at[node] == FAB_NONE) {
			c.change = "new";
			x->n_new++;
		} else {
			c.server_before = x->kept.v[at[node]].server;
			c.address_before = address_text(a, x->addresses, c.node);
			is_moved = differ(c.server, c.server_before);
			is_readdressed = differ(c.address, c.address_before);
			x->n_moved += is_moved;
			x->n_readdressed += is_readdressed;
			if (!is_moved && !is_readdressed)
				continue;
			c.change = !is_moved	    ? "address"
				   : is_readdressed ? "server+address"
						    : "server";
		}
		FAB_PUSH(&x->nodes, c);
	}
	for (size_t i = 0; i < x->kept.n; i++) {
		const struct bootplan_kept *k = &x->kept.v[i];

		if (k->id != FAB_NONE && boots[k->id])
			continue;
		x->n_gone++;
		FAB_PUSH(&x->nodes, ((struct bootplan_node_change){
					    .node = k->node,
					    .change = "gone",
					    .server_before = k->server,
					    .address_before = address_text(
						    a, x->addresses, k->node)}));
	}
	FAB_SORT(&x->nodes, by_node);
}

/* ---- the report ---- */

void bootplan_answer_previous(struct fab_report *r, const struct bootplan_outcome *o)
{
	const struct bootplan_previous *x = &o->previous;
	const char *folder = o->exported.path, *names = "", *kept = "";

	if (!x->is_known)
		return;
	for (size_t i = 0; i < x->files.n && i < FILES_SHOWN; i++)
		names = fab_arena_format(x->arena, "%s%s%s", names, i ? ", " : " (",
					 x->files.v[i]);
	if (o->p->export.keeps)
		kept = " Servers and addresses stay by algorithm keep; --set fresh gives new ones.";
	if (!x->files.n && !x->nodes.n)
		fab_report_answer(r, FAB_TONE_GOOD, "Nothing differs from what %s has.%s",
				  folder, kept);
	else
		fab_report_answer(
			r, FAB_TONE_PLAIN,
			"Compared with what %s has, %zu file%s differ%s%s%s%s; nodes: %u new, %u gone, %u with another server, %u with another address.%s",
			folder, x->files.n, x->files.n == 1 ? "" : "s",
			x->files.n == 1 ? "s" : "", names,
			x->files.n > FILES_SHOWN ? " ..." : "", *names ? ")" : "",
			x->n_new, x->n_gone, x->n_moved, x->n_readdressed, kept);
}

void bootplan_report_previous(struct fab_report *r, const struct bootplan_previous *x)
{

#define AT(member) FAB_AT(struct bootplan_node_change, member)
	static const struct fab_column columns[] = {
		{"node", FAB_TEXT, "that differs", 0, AT(node)},
		{"change", FAB_TEXT, "new, gone, server, address, server+address", 0,
		 AT(change)},
		{"server_before", FAB_TEXT, "in the folder", 0, AT(server_before)},
		{"server", FAB_TEXT, "that it has now", 0, AT(server)},
		{"address_before", FAB_TEXT, "in the folder", 0, AT(address_before)},
		{"address", FAB_TEXT, "that it has now", 0, AT(address)},
	};
#undef AT
	bool is_table = fab_report_how(r)->format == FAB_FORMAT_TABLE;

	if (!x->is_known)
		return;
	fab_report_field(
		r, &(struct fab_column){"boot_files.changed_files", FAB_NAMES},
		(union fab_cell){.names = &(struct fab_names){x->files.v, x->files.n}});
	fab_report_uint(r, "boot_files.new_nodes", x->n_new);
	fab_report_uint(r, "boot_files.gone_nodes", x->n_gone);
	fab_report_uint(r, "boot_files.moved_nodes", x->n_moved);
	fab_report_uint(r, "boot_files.readdressed_nodes", x->n_readdressed);
	if (is_table && !x->nodes.n)
		return;
	FAB_TABLE(r, "boot_changes", "Nodes that differ", columns, x->nodes.v,
		  is_table && x->nodes.n > SHOWN ? SHOWN : x->nodes.n);
}
