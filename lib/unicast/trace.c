/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/trace.h"

#include "base/num.h"
#include "fabric/planes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int fab_trace_end_of(const struct fab_fabric *f, uint32_t port, struct fab_endpoint *out,
		     struct fab_err *err)
{
	*out = (struct fab_endpoint){
		.port = port, .node = f->port_node[port], .sw = fab_port_switch(f, port)};
	if (out->sw == FAB_NONE)
		return fab_fail(err, ENOENT,
				"port %u of \"%s\" is not cabled to a switch",
				f->port_num[port], fab_node_name(f, out->node));
	if (fab_node_is_switch(f, out->node))
		out->port = FAB_NONE;
	return 0;
}

/* Ends on two planes have no path whatever the tables are. */
static int check_planes(const struct fab_fabric *f, const uint32_t ports[2],
			struct fab_err *err)
{
	struct fab_planes *planes = fab_planes_new(f);
	char *apart = fab_planes_apart(planes, f, ports[0], ports[1]);
	int rc = apart ? fab_fail(err, EINVAL, "%s", apart) : 0;

	free(apart);
	fab_planes_free(planes);
	return rc;
}

/* The LID that a name of an end says (`lid:N`), 0: none. */
static uint16_t lid_of(const struct fab_item *name)
{
	uint64_t lid;

	if (name->is_quoted || name->len <= 4 || strncasecmp(name->text, "lid:", 4) ||
	    !fab_parse_u64(name->text + 4, name->len - 4, 1, UINT16_MAX, &lid))
		return 0;
	return (uint16_t)lid;
}

int fab_trace_pair(const struct fab_fabric *f, const struct fab_lookup *lookup,
		   const char *text, struct fab_endpoint ends[2], struct fab_err *err)
{
	struct fab_item pair[2];
	uint32_t ports[2];
	int rc = fab_lookup_pair(lookup, lookup, text, strlen(text), ",", pair, err);

	for (int i = 0; i < 2 && !rc; i++) {
		rc = lookup->find(lookup->of, &pair[i], &ports[i], err);
		if (!rc)
			rc = fab_trace_end_of(f, ports[i], &ends[i], err);
		if (!rc)
			ends[i].lid = lid_of(&pair[i]);
	}
	return rc ? rc : check_planes(f, ports, err);
}

uint8_t fab_trace_sl(const struct fab_routes *r, const struct fab_endpoint *from,
		     uint32_t column)
{
	uint8_t level = r->sl ? r->sl_default : 0;

	for (uint32_t i = 0; r->sl && i < r->n_sl_sources; i++) {
		uint32_t source = r->sl_source[i];

		/* switches come first: what the adapter has of its own counts */
		if (source == from->sw || source == from->node)
			level = r->sl[(size_t)i * r->n_columns + column];
	}
	return level;
}

static void add_hop(struct fab_trace *t, const struct fab_fabric *f, uint32_t out,
		    unsigned vl)
{
	struct fab_trace_hop hop = {out, fab_port_peer(f, out), vl};

	FAB_PUSH(&t->hops, hop);
}

/* Lane of a hop; tables that were read without those of lanes tell none. */
static unsigned lane_of(const struct fab_routes *r, uint32_t sw, uint32_t in,
			uint32_t out, unsigned sl)
{
	bool is_told = !r->told || (r->told->has_sls && r->told->has_lanes);

	if (!is_told || sl == FAB_SL_UNKNOWN)
		return FAB_VL_UNKNOWN;
	return fab_routes_vl(r, sw, in, out, sl);
}

/* Why a path ends that does not arrive, by enum fab_path_end. */
static const char *const stops[] = {
	[FAB_PATH_NO_ENTRY] = "this switch has no entry for the destination",
	[FAB_PATH_BROKEN] = "the entry of this switch leads to no cable, or to the wrong "
			    "adapter",
	[FAB_PATH_CIRCLE] = "the tables lead in a circle",
};

/* From switch to switch as far as the tables lead. */
static void follow(struct fab_trace *t, const struct fab_routes *r, uint32_t sw,
		   uint32_t column)
{
	struct fab_path path = fab_path_from(r, sw, column);
	struct fab_hop hop;

	while (fab_path_hop(&path, &hop))
		add_hop(t, r->f, fab_arc_port(r->f, hop.sw, path.arc),
			lane_of(r, hop.sw, hop.in, hop.out, t->sl));
	t->stopped = stops[fab_path_end(&path)];
}

void fab_trace_init(struct fab_trace *t, const struct fab_routes *r,
		    const struct fab_endpoint *from, const struct fab_endpoint *to)
{
	const struct fab_fabric *f = r->f;
	uint32_t column = fab_path_column(r, to);
	/* between two ports of one switch its table decides, too */
	bool is_self = from->sw == to->sw && from->port == to->port;

	*t = (struct fab_trace){.sl = 0};
	if (is_self)
		return;
	if (from->port != FAB_NONE)
		add_hop(t, f, from->port, FAB_VL_UNKNOWN);
	if (column == FAB_NONE &&
	    (from->sw != to->sw || (to->port != FAB_NONE && r->column_port))) {
		t->stopped = "the tables have no such destination";
		return;
	}
	if (r->told && !r->told->has_sls)
		t->sl = FAB_SL_UNKNOWN;
	else if (column != FAB_NONE)
		t->sl = fab_trace_sl(r, from, column);
	if (t->sl == FAB_SL_NONE) {
		t->stopped = "the pair has no service level: no lanes without a cycle";
		return;
	}
	if (column != FAB_NONE)
		follow(t, r, from->sw, column);
	if (!t->stopped && to->port != FAB_NONE)
		add_hop(t, f, fab_port_peer(f, to->port), FAB_VL_UNKNOWN);
}

void fab_trace_fini(struct fab_trace *t)
{
	free(t->hops.v);
}
