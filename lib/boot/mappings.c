/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of mappings, the file of a mapping and its check. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "boot/impl.h"
#include "boot/machine.h"

#define ADDRESS(row) &fab_mapping_##row,
const struct fab_mapping_engine *const fab_mapping_engines[] = {
	FAB_MAPPING_ENGINES(ADDRESS)};
const size_t fab_mapping_n_engines = FAB_COUNT(fab_mapping_engines);

static struct fab_choice choice_at(size_t i)
{
	const struct fab_mapping_engine *e = fab_mapping_engines[i];

	return (struct fab_choice){e->form, e->summary, e->manual, e->is_in_all};
}

const struct fab_choices fab_mapping_choices = {
	"algorithm", FAB_COUNT(fab_mapping_engines), choice_at};

int fab_mapping_choose(const struct fab_chosen *chosen, struct fab_mapping_choice *out,
		       struct fab_err *err)
{
	const struct fab_mapping_engine *e = fab_mapping_engines[chosen->row];
	size_t len = chosen->len, n = fab_choice_name_len(e->form);
	uint64_t argument = 0;

	if (n < len && !fab_parse_u64(chosen->text + n + 1, len - n - 1, 1,
				      UINT32_MAX - 1, &argument))
		return fab_fail(err, EINVAL, "'%.*s': expected %s, N nodes from 1 on",
				len > 60 ? 60 : (int)len, chosen->text, e->form);
	*out = (struct fab_mapping_choice){.engine = e, .argument = (uint32_t)argument};
	snprintf(out->name, sizeof(out->name), "%.*s", (int)len, chosen->text);
	return 0;
}

struct mapping_reader {
	struct fab_lookup nodes, interfaces;
	uint32_t *interface_of;
};

/* NODE SERVER; several nodes may be a host list. */
static int read_pair(void *context, struct fab_item line, struct fab_err *err)
{
	const struct mapping_reader *r = context;
	struct fab_item pair[2];
	FAB_AUTOFREE struct fab_ids nodes = {0};
	uint32_t interface;
	int rc = fab_list_pair(line.text, line.len, " \t,", pair, err);

	if (rc)
		return fab_fail(err, EINVAL, "expected NODE SERVER");
	rc = fab_lookup_item(&r->nodes, &pair[0], &nodes, NULL, err);
	if (!rc)
		rc = r->interfaces.find(r->interfaces.of, &pair[1], &interface, err);
	for (size_t i = 0; i < nodes.of.n && !rc; i++) {
		uint32_t *of = &r->interface_of[nodes.of.v[i]];

		if (*of != FAB_NONE && *of != interface)
			rc = fab_fail(err, EINVAL, "'%.*s' has another server already",
				      pair[0].len > 80 ? 80 : (int)pair[0].len,
				      pair[0].text);
		*of = interface;
	}
	return rc;
}

int fab_mapping_read(const struct fab_machine *m, const char *file, const char *text,
		     size_t len, uint32_t *interface_of, struct fab_err *err)
{
	FAB_AUTO(fab_machine_names_free_at)
	struct fab_machine_names *names = fab_machine_names_new(m);
	struct mapping_reader r = {
		.nodes = fab_machine_lookup(names, FAB_MACHINE_NODES),
		.interfaces = fab_machine_lookup(names, FAB_MACHINE_INTERFACES),
		.interface_of = interface_of};

	for (uint32_t i = 0; i < m->n_nodes; i++)
		interface_of[i] = FAB_NONE;
	return fab_list_lines(file, text, len, read_pair, &r, err);
}

int fab_mapping_verify(const struct fab_machine *m, const struct fab_batch *batch,
		       const uint32_t *interface_of, struct fab_err *err)
{
	char name[256];

	for (uint32_t i = 0; i < batch->n; i++) {
		uint32_t node = batch->node[i], at = interface_of[node];

		if (at < m->n_interfaces && fab_interface_is_up(m, at))
			continue;
		fab_machine_node_name(m, node, name, sizeof(name));
		return fab_fail(err, EINVAL, "node '%s' has %s", name,
				at < m->n_interfaces ? "a server that is down"
						     : "no server");
	}
	return 0;
}
