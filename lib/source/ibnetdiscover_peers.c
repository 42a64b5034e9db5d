/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/ibnetdiscover.h"

#include "source/reader.h"

#include <errno.h>

/* An adapter or router that is known only by what a switch says about its port. */
static int add_unknown(struct fab_builder *b, const char *name,
		       const struct fab_dump_pending *p, struct fab_dump_slot *slot,
		       struct fab_err *err)
{
	struct fab_node_spec spec = {.line = p->line}; /* n_ports: by what is cabled */
	struct fab_dump_link link;

	/* It was read once already. */
	if (fab_dump_link_parse(p->text, &link) != FAB_LINE_OK)
		return fab_fail(err, EINVAL, "%s:%llu: no cable can be read", name,
				(unsigned long long)p->line);
	if (!link.peer.is_guid || link.peer.kind == FAB_SWITCH)
		return fab_fail(err, EINVAL,
				"%s:%llu: peer \"%.*s\" is not described anywhere, "
				"expected its record in the dump",
				name, (unsigned long long)p->line,
				(int)(link.peer.len < 60 ? link.peer.len : 60),
				link.peer.text);
	spec.kind = (enum fab_node_kind)link.peer.kind;
	if (spec.kind == FAB_ADAPTER && fab_is_aggregation_name(link.name, link.name_len))
		spec.kind = FAB_AGGREGATION;
	spec.guid = link.peer.key;
	spec.name = link.name;
	spec.name_len = fab_name_cut(link.name_len);
	slot->node = fab_builder_add_node(b, &spec);
	slot->kind = FAB_DUMP_UNKNOWN;
	fab_builder_warn(b, "unknown-peer", p->line,
			 "peer \"%.*s\" has no record of its own; what its switch says "
			 "is taken",
			 (int)link.peer.len, link.peer.text);
	fab_builder_warn_about(b, "0x%016llx", (unsigned long long)link.peer.key);
	return 0;
}

/* What a described peer would say itself. */
static void answer(struct fab_builder *b, const struct fab_dump_pending *p,
		   const struct fab_end *end)
{
	struct fab_end back = *end;
	struct fab_dump_link link;

	if (fab_dump_link_parse(p->text, &link) == FAB_LINE_OK)
		fab_builder_set_port(b, end->peer, end->peer_port, link.peer_guid,
				     link.peer_lid, 0);
	back.node = end->peer;
	back.port = end->peer_port;
	back.peer = end->node;
	back.peer_port = end->port;
	fab_builder_add_end(b, &back);
}

int fab_dump_resolve(struct fab_builder *b, const char *name,
		     const struct fab_dump_peers *peers, struct fab_err *err)
{
	for (size_t i = 0; i < peers->n_links; i++) {
		const struct fab_dump_pending *p = &peers->links[i];
		struct fab_dump_slot *slot = &peers->slots[p->peer_slot];
		struct fab_end end = {
			.node = p->node,
			.port = p->port,
			.peer_port = p->peer_port,
			.width = p->width,
			.speed = p->speed,
			.line = p->line,
		};

		if (slot->node == FAB_NONE) {
			int rc = add_unknown(b, name, p, slot, err);

			if (rc)
				return rc;
		}
		end.peer = slot->node;
		fab_builder_add_end(b, &end);
		if (slot->kind == FAB_DUMP_UNKNOWN)
			answer(b, p, &end);
	}
	return 0;
}
