/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of mappings, the file of a mapping and its check, and second servers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"
#include "boot/impl.h"
#include "boot/machine.h"
#include "boot/share.h"

/* In the order in which they are documented. */
const struct fab_mapping_engine fab_mapping_engines[] = {
	{"scda", "supernode i to server i mod N",
	 "Block-cyclic by the outermost units with a capacity of their own (supernodes in the preset): unit i from server i modulo their number.",
	 .is_in_all = true, .map = fab_map_scda},
	{"bcda", "board i to server i mod N",
	 "Block-cyclic by the units right above the nodes (boards).", .is_in_all = true,
	 .map = fab_map_bcda},
	{"block:N", "N nodes after each other to the next server",
	 "Block-cyclic by N consecutive nodes.", .map = fab_map_block},
	{"local", "a server as near as there is, those at the same distance in turn",
	 "The nearest server, those equally near in turn.", .is_in_all = true,
	 .map = fab_map_local},
	{"robust", "even for every prefix and every rack at once",
	 "Consecutive nodes to servers behind different segments in turn, so that every prefix and unit is spread.",
	 .is_in_all = true, .map = fab_map_robust},
	{"stable", "few nodes move when nodes or servers come and go",
	 "Few nodes move when nodes or servers come and go.", .is_in_all = true,
	 .map = fab_map_stable},
	{"balanced",
	 "the most for the slowest node of the batch that any mapping can give",
	 "The largest bandwidth of the slowest node for the batch at hand, or for what `--set for` says, with cables, disks, protocol and connections. No optimum is known by `max-min` with `--set stagger`, `--set timeout` or `--set server-connections`, where the order of nodes counts, or for images of several sizes: then this mapping or that of `scda`, `bcda`, `block:1` to `block:4`, `local`, `robust`, `stable` or (with `--loaded`) `keep`, whichever ends first, for several sizes also the one that gives each node, those with the largest images first, the server that is best then (by `equal-share`, and for more than 5000 nodes, only these two, not improved); improved by up to 1000 trials of moving or exchanging nodes; for more than 5000 nodes with one size that by equal shares.",
	 .is_for_batch = true, .is_in_all = true, .map = fab_map_balanced},
	{"keep", "nodes keep their server; orphans are spread best",
	 "The mapping before (`--loaded`, else `balanced`) stays: only nodes whose server is down get another one, so that the slowest node gets the most; with `--with-server` also as many others as exceed what the best mapping leaves on their segments.",
	 .keeps = true, .is_for_batch = true, .map = fab_map_keep},
	{"loaded", "what a site has now, from a file", "The servers of `--loaded`.",
	 .needs_loaded = true, .map = fab_map_loaded},
};
const size_t fab_mapping_n_engines = FAB_COUNT(fab_mapping_engines);

static struct fab_choice choice_at(size_t i)
{
	const struct fab_mapping_engine *e = &fab_mapping_engines[i];

	return (struct fab_choice){e->form, e->summary, e->manual, e->is_in_all};
}

const struct fab_choices fab_mapping_choices = {
	"algorithm", FAB_COUNT(fab_mapping_engines), choice_at};

int fab_mapping_choose(const struct fab_chosen *chosen, struct fab_mapping_choice *out,
		       struct fab_err *err)
{
	const struct fab_mapping_engine *e = &fab_mapping_engines[chosen->row];
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

	memset(interface_of, 0xff, m->n_nodes * sizeof(*interface_of));
	return fab_list_lines(file, text, len, read_pair, &r, err);
}

int fab_mapping_verify(const struct fab_machine *m, const struct fab_batch *batch,
		       const uint32_t *interface_of, struct fab_err *err)
{
	char name[FAB_MACHINE_NAME_BYTES];

	FAB_EACH_NODE(batch, node) {
		uint32_t at = interface_of[node];

		if (at < m->n_interfaces && fab_interface_is_up(m, at))
			continue;
		fab_machine_node_name(m, node, name);
		return fab_fail(err, EINVAL, "node '%s' has %s", name,
				at < m->n_interfaces ? "a server that is down"
						     : "no server");
	}
	return 0;
}

/*
 * A second server for each node: for each server in turn, where its nodes go when it is
 * lost. A node has one first server, so that the answers for all single losses are one
 * mapping.
 */

/* Nodes of the server that has the most, by another path than shares. */
static uint32_t most_nodes(const struct fab_machine *m, const struct fab_batch *batch,
			   const uint32_t *interface_of)
{
	FAB_AUTOFREE uint32_t *n = FAB_NEW0((size_t)m->n_servers + 1, uint32_t);
	uint32_t most = 0;

	FAB_EACH_NODE(batch, node) {
		uint32_t s = m->interface_server[interface_of[node]];

		if (++n[s] > most)
			most = n[s];
	}
	return most;
}

/* One server is lost: second servers of its nodes, and what all nodes get then. */
static int lose(struct fab_machine *m, const struct fab_batch *batch, uint32_t server,
		const uint32_t *interface_of, uint32_t *after, uint32_t *second_of,
		struct fab_seconds *out, struct fab_err *err)
{
	uint32_t n_here = 0, most;
	struct fab_share share;
	double bound, pace;
	int rc;

	memcpy(after, interface_of, m->n_nodes * sizeof(*after));
	FAB_EACH_NODE(batch, node) {
		if (m->interface_server[interface_of[node]] == server) {
			after[node] = FAB_NONE;
			n_here++;
		}
	}
	if (!n_here)
		return 0;
	fab_mapping_complete(m, batch, after);
	FAB_EACH_NODE(batch, node)
		if (after[node] != interface_of[node])
			second_of[node] = after[node];
	rc = fab_share_of(m, batch, after, &share, err);
	if (rc)
		return rc;
	bound = fab_mapping_upper_bound_mbps(m, batch);
	pace = fab_share_pace(&share);
	most = most_nodes(m, batch, after);
	out->n_losses++;
	out->n_at_bound += pace >= bound * (1 - 1e-9);
	if (out->worst_server == FAB_NONE || pace < out->bandwidth_mbps) {
		out->worst_server = server;
		out->bandwidth_mbps = pace;
		out->bound_mbps = bound;
	}
	if (most > out->most_nodes)
		out->most_nodes = most;
	return 0;
}

int fab_mapping_seconds(const struct fab_machine *m, const struct fab_batch *batch,
			const uint32_t *interface_of, uint32_t *second_of,
			struct fab_seconds *out, struct fab_err *err)
{
	FAB_AUTOFREE bool *is_down = FAB_NEW((size_t)m->n_servers + 1, bool);
	FAB_AUTOFREE uint32_t *after = FAB_NEW((size_t)m->n_nodes + 1, uint32_t);
	struct fab_machine less = *m;
	uint32_t n_up = 0;
	int rc = fab_mapping_verify(m, batch, interface_of, err);

	*out = (struct fab_seconds){.worst_server = FAB_NONE};
	memset(second_of, 0xff, m->n_nodes * sizeof(*second_of));
	for (uint32_t s = 0; s < m->n_servers; s++)
		n_up += !m->server_is_down[s];
	if (!rc && n_up < 2)
		return fab_fail(
			err, EINVAL,
			"one server is up: there is no second server for its nodes");
	out->even_nodes = n_up < 2 ? 0 : (batch->n + n_up - 2) / (n_up - 1);
	memcpy(is_down, m->server_is_down, m->n_servers * sizeof(*is_down));
	less.server_is_down = is_down;
	for (uint32_t s = 0; s < m->n_servers && !rc; s++) {
		if (m->server_is_down[s])
			continue;
		is_down[s] = true;
		rc = lose(&less, batch, s, interface_of, after, second_of, out, err);
		is_down[s] = false;
	}
	return rc;
}
