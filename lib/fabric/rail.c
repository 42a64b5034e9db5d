/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/rail.h"

#include "base/sets.h"
#include "fabric/builder_impl.h"
#include "fabric/hosts.h"

#include <stdlib.h>
#include <string.h>

struct choice {
	struct fab_builder *b;
	struct fab_rail *rail;
	char *glob;
	uint32_t port;	  /* FAB_NONE: all */
	uint32_t *part;	  /* [nodes] disjoint sets: switches that cables join */
	bool *had, *has;  /* [nodes] the part had, has adapters; by its root */
	bool *is_tied;	  /* [nodes] of neither kind: has a cable to a switch */
	bool *is_wanted;  /* [nodes] and one to a switch that is kept */
	bool *is_on_rail; /* [nodes] an adapter with a cable to a switch */
	uint32_t *n_said; /* [nodes] host cables left out, as their adapters say */
};

static enum fab_node_kind kind_of(const struct choice *c, uint32_t node)
{
	return c->b->nodes.v[node].kind;
}

/* "mlx5_0/1": the name before the slash, the port behind it. */
static void read_pattern(struct choice *c, const char *hca)
{
	const char *slash = strrchr(hca, '/');
	uint32_t port = 0;

	c->port = FAB_NONE;
	c->glob = fab_strdup(hca);
	if (!slash || slash == hca || !slash[1])
		return;
	for (const char *p = slash + 1; *p; p++) {
		if (*p < '0' || *p > '9')
			return;
		if (port <= UINT16_MAX)
			port = port * 10 + (uint32_t)(*p - '0');
	}
	c->port = port;
	c->glob[slash - hca] = '\0';
}

static bool matches(const struct choice *c, uint32_t node)
{
	uint32_t n_ports = c->b->nodes.v[node].n_ports;

	if (kind_of(c, node) != FAB_ADAPTER)
		return true;
	if (c->port != FAB_NONE && (!c->port || (n_ports && c->port > n_ports)))
		return false;
	return fab_hosts_hca_matches(fab_builder_name(c->b, node), c->glob);
}

static bool is_other_port(const struct choice *c, uint32_t node, uint16_t port)
{
	return c->port != FAB_NONE && kind_of(c, node) == FAB_ADAPTER && port != c->port;
}

/* Every cable, or each end's word of it, in the order of adding. */
static void each_end(const struct choice *c,
		     void (*fn)(const struct choice *c, const struct fab_end *e))
{
	const struct fab_builder *b = c->b;

	for (size_t i = 0; i < b->ends.n; i++)
		fn(c, &b->ends.v[i]);
	for (size_t i = 0; i < b->cables.n; i++)
		fn(c, &b->cables.v[i]);
}

static void unite(const struct choice *c, const struct fab_end *e)
{
	if (kind_of(c, e->node) == FAB_SWITCH && kind_of(c, e->peer) == FAB_SWITCH)
		fab_sets_unite(c->part, e->node, e->peer);
}

/* The end of a cable that is on a switch as *sw, what it leads to as *node. */
static bool leaves_switches(const struct choice *c, const struct fab_end *e, uint32_t *sw,
			    uint32_t *node)
{
	bool is_first = kind_of(c, e->node) == FAB_SWITCH;

	*sw = is_first ? e->node : e->peer;
	*node = is_first ? e->peer : e->node;
	return kind_of(c, *sw) == FAB_SWITCH && kind_of(c, *node) != FAB_SWITCH;
}

static void mark_adapter(const struct choice *c, const struct fab_end *e)
{
	uint32_t sw, node, root;

	if (!leaves_switches(c, e, &sw, &node) || kind_of(c, node) != FAB_ADAPTER)
		return;
	root = fab_sets_root(c->part, sw);
	c->had[root] = true;
	if (!c->rail->is_kept[node] || is_other_port(c, e->node, e->port) ||
	    is_other_port(c, e->peer, e->peer_port))
		return;
	c->has[root] = true;
	c->is_on_rail[node] = true;
}

/* A cable of a switch to an adapter, or to a port of one, that is left out. The switch
 * counts what it says itself; n_said what only its adapters may say. */
static void count_left_out(const struct choice *c, const struct fab_end *e)
{
	uint32_t sw, node;
	bool is_whole = e >= c->b->cables.v && e < c->b->cables.v + c->b->cables.n;

	if (!leaves_switches(c, e, &sw, &node) || kind_of(c, node) != FAB_ADAPTER)
		return;
	if (c->rail->is_kept[node] && !is_other_port(c, e->node, e->port) &&
	    !is_other_port(c, e->peer, e->peer_port))
		return;
	if (e->node == sw || is_whole)
		c->b->nodes.v[sw].n_left_out++;
	else
		c->n_said[sw]++;
}

/* Aggregation nodes and routers stay while one of their switches does. */
static void mark_tied(const struct choice *c, const struct fab_end *e)
{
	uint32_t sw, node;

	if (!leaves_switches(c, e, &sw, &node) || kind_of(c, node) == FAB_ADAPTER)
		return;
	c->is_tied[node] = true;
	c->is_wanted[node] |= c->rail->is_kept[sw];
}

static void leave_out_parts(struct choice *c)
{
	for (uint32_t i = 0; i < c->b->nodes.n; i++) {
		uint32_t root = fab_sets_root(c->part, i);

		if (kind_of(c, i) != FAB_SWITCH || !c->had[root] || c->has[root])
			continue;
		c->rail->is_kept[i] = false;
		c->rail->n_left_out++;
	}
	each_end(c, mark_tied);
	for (uint32_t i = 0; i < c->b->nodes.n; i++)
		if (c->is_tied[i] && !c->is_wanted[i])
			c->rail->is_kept[i] = false;
}

static size_t keep_ends(const struct choice *c, struct fab_end *v, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!is_other_port(c, v[i].node, v[i].port) &&
		    !is_other_port(c, v[i].peer, v[i].peer_port))
			v[kept++] = v[i];
	return kept;
}

static void leave_out_ports(struct choice *c)
{
	struct fab_builder *b = c->b;
	size_t kept = 0;

	b->ends.n = keep_ends(c, b->ends.v, b->ends.n);
	b->cables.n = keep_ends(c, b->cables.v, b->cables.n);
	for (size_t i = 0; i < b->notes.n; i++)
		if (!is_other_port(c, b->notes.v[i].node, b->notes.v[i].port))
			b->notes.v[kept++] = b->notes.v[i];
	b->notes.n = kept;
}

static void choose(struct choice *c)
{
	uint32_t n = (uint32_t)c->b->nodes.n;

	for (uint32_t i = 0; i < n; i++)
		c->rail->is_kept[i] = matches(c, i);
	each_end(c, unite);
	each_end(c, mark_adapter);
	each_end(c, count_left_out);
	for (uint32_t i = 0; i < n; i++)
		if (c->n_said[i] > c->b->nodes.v[i].n_left_out)
			c->b->nodes.v[i].n_left_out = c->n_said[i];
	for (uint32_t i = 0; i < n; i++)
		if (kind_of(c, i) == FAB_ADAPTER && c->rail->is_kept[i]) {
			c->rail->n_adapters++;
			c->rail->n_connected += c->is_on_rail[i];
		}
	if (c->rail->n_connected)
		leave_out_parts(c);
	leave_out_ports(c);
}

void fab_rail_choose(struct fab_builder *b, const char *hca, struct fab_rail *out)
{
	uint32_t n = (uint32_t)b->nodes.n;
	struct choice c = {.b = b, .rail = out};

	*out = (struct fab_rail){.is_kept = FAB_NEW(n, bool)};
	if (!hca) {
		memset(out->is_kept, true, n);
		return;
	}
	read_pattern(&c, hca);
	out->is_port = c.port != FAB_NONE;
	c.part = FAB_NEW(n, uint32_t);
	for (uint32_t i = 0; i < n; i++)
		c.part[i] = i;
	c.had = FAB_NEW0(n, bool);
	c.has = FAB_NEW0(n, bool);
	c.is_tied = FAB_NEW0(n, bool);
	c.is_wanted = FAB_NEW0(n, bool);
	c.is_on_rail = FAB_NEW0(n, bool);
	c.n_said = FAB_NEW0(n, uint32_t);
	choose(&c);
	free(c.glob);
	free(c.part);
	free(c.had);
	free(c.has);
	free(c.is_tied);
	free(c.is_wanted);
	free(c.is_on_rail);
	free(c.n_said);
}

void fab_rail_fini(struct fab_rail *rail)
{
	free(rail->is_kept);
}
