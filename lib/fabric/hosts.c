/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/hosts.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/sets.h"
#include "base/text.h"
#include "fabric/builder_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct words {
	const char *first, *second;
	size_t first_len, second_len, n, len; /* words; bytes without outer blanks */
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static struct words split(const char *name)
{
	struct words w = {.first = name, .second = name};
	const char *p = name, *start;

	while (is_blank(*p))
		p++;
	w.first = p;
	while (*p) {
		start = p;
		while (*p && !is_blank(*p))
			p++;
		w.len = (size_t)(p - w.first);
		if (w.n == 0) {
			w.first_len = (size_t)(p - start);
		} else if (w.n == 1) {
			w.second = start;
			w.second_len = (size_t)(p - start);
		}
		w.n++;
		while (is_blank(*p))
			p++;
	}
	return w;
}

/* The names that drivers give adapters, with a number in them. */
static bool is_adapter(const char *word, size_t len)
{
	static const char *const drivers[] = {
		"HCA-",	  "mlx4_",  "mlx5_",   "mthca", "hfi1_", "qib",
		"ipath",  "roce",   "bnxt_re", "cxgb",	"irdma", "i40iw",
		"efa_",	  "ocrdma", "qedr",    "ehca",	"usnic", "vmw_pvrdma",
		"erdma_", "mana_",  "rdmap",   "siw",	"rxe",
	};
	bool has_digit = false;

	for (size_t i = 0; i < len; i++)
		has_digit |= is_digit(word[i]);
	if (!has_digit)
		return false;
	for (size_t i = 0; i < FAB_COUNT(drivers); i++) {
		size_t n = strlen(drivers[i]);

		if (len > n && !strncasecmp(word, drivers[i], n))
			return true;
	}
	return !(len < 3 || word[0] != 'i' || word[1] != 'b') &&
	       (is_digit(word[2]) || (len > 3 && is_digit(word[3])));
}

static bool has_adapter_part(const struct words *w)
{
	return w->n == 2 && is_adapter(w->second, w->second_len);
}

/* Generic descriptions of adapters. */
static bool is_generic(const char *name, const struct words *w)
{
	static const char local[] = "localhost";
	size_t n = sizeof(local) - 1;

	if (!w->n)
		return true;
	if (w->first_len >= n && !strncasecmp(w->first, local, n) &&
	    (w->first_len == n || w->first[n] == '.'))
		return true;
	if (has_adapter_part(w))
		return false;
	return strcasestr(name, "Mellanox Technologies") ||
	       strcasestr(name, "ConnectX") || strcasestr(name, "InfiniHost");
}

bool fab_hosts_hca_matches(const char *description, const char *hca)
{
	struct words w = split(description);
	char part[256];

	if (fab_text_glob(hca, description))
		return true;
	if (!w.n)
		return false;
	if (w.n == 1 && is_adapter(w.first, w.first_len)) {
		w.second = w.first;
		w.second_len = w.first_len;
	} else if (!has_adapter_part(&w)) {
		return false;
	}
	snprintf(part, sizeof(part), "%.*s",
		 (int)(w.second_len < 255 ? w.second_len : 255), w.second);
	return fab_text_glob(hca, part);
}

struct grouping {
	struct fab_fabric *f;
	const struct fab_host_options *options;
	struct fab_strmap *by_name;
	struct fab_map64 *by_sys_guid;
	FAB_VEC(char) names; /* to be appended to those of the fabric */
};

/* A name behind those of the fabric; its offset there. */
static uint32_t append_name(struct grouping *g, const char *name, size_t len)
{
	size_t at = g->f->names_bytes + g->names.n;

	FAB_RESERVE(&g->names, len + 1);
	memcpy(g->names.v + g->names.n, name, len);
	g->names.v[g->names.n + len] = '\0';
	g->names.n += len + 1;
	return (uint32_t)at;
}

static uint32_t host_by_name(struct grouping *g, const char *name, size_t len)
{
	uint32_t host = fab_strmap_put(g->by_name, name, len, g->f->n_hosts);

	if (host == g->f->n_hosts) {
		g->f->host_name[host] = append_name(g, name, len);
		g->f->n_hosts++;
	}
	return host;
}

static bool is_mapped(const struct grouping *g, uint32_t node)
{
	const struct fab_host_options *o = g->options;

	return o->is_mapped && o->is_mapped(o->name_map, g->f->node_guid[node]);
}

static uint32_t host_of(struct grouping *g, uint32_t node)
{
	struct fab_fabric *f = g->f;
	const char *name = fab_node_name(g->f, node);
	struct words w = split(name);
	uint64_t sys_guid;
	uint32_t host;

	if (w.n && is_mapped(g, node))
		return host_by_name(g, w.first,
				    has_adapter_part(&w) ? w.first_len : w.len);
	if (is_generic(name, &w)) {
		char text[24];
		int n = snprintf(text, sizeof(text), "0x%016llx",
				 (unsigned long long)f->node_guid[node]);

		f->host_name[f->n_hosts] = append_name(g, text, (size_t)n);
		return f->n_hosts++;
	}
	if (has_adapter_part(&w))
		return host_by_name(g, w.first, w.first_len);
	sys_guid = f->node_sys_guid[node];
	host = f->n_hosts;
	if (sys_guid)
		host = fab_map64_put(g->by_sys_guid, sys_guid, host);
	if (host == f->n_hosts) {
		f->host_name[host] = append_name(g, w.first, w.len);
		f->n_hosts++;
	}
	return host;
}

void fab_hosts_group(struct fab_fabric *f, const struct fab_host_options *options)
{
	uint32_t n = f->n_nodes - f->n_switches;
	struct grouping g = {
		.f = f,
		.options = options,
		.by_name = fab_strmap_new(n / 4),
		.by_sys_guid = fab_map64_new(64),
	};
	uint32_t *first;
	uint32_t count = 0;

	f->host_rule =
		options->is_mapped
			? "name map, else first word of the description before an adapter's name, else system image GUID; generic names apart by GUID"
			: "first word of the description before an adapter's name, else system image GUID; generic names apart by GUID";
	f->node_host = FAB_NEW(f->n_nodes, uint32_t);
	f->host_name = FAB_NEW(n, uint32_t);
	for (uint32_t i = 0; i < f->n_nodes; i++)
		f->node_host[i] =
			f->node_kind[i] == FAB_ADAPTER ? host_of(&g, i) : FAB_NONE;
	f->host_name = fab_realloc(f->host_name, f->n_hosts, sizeof(*f->host_name));
	/* Adapters of each host in ascending order: a counting sort. */
	first = FAB_NEW0((size_t)f->n_hosts + 1, uint32_t);
	for (uint32_t k = 0; k < f->n_nodes; k++)
		if (f->node_host[k] != FAB_NONE)
			first[f->node_host[k] + 1]++;
	for (uint32_t h = 0; h < f->n_hosts; h++)
		first[h + 1] += first[h];
	count = first[f->n_hosts];
	f->host_adapter = FAB_NEW(count, uint32_t);
	/* Filling moves first[h] on to where host h ends: where h + 1 begins. */
	for (uint32_t k = 0; k < f->n_nodes; k++)
		if (f->node_host[k] != FAB_NONE)
			f->host_adapter[first[f->node_host[k]]++] = k;
	memmove(first + 1, first, f->n_hosts * sizeof(*first));
	first[0] = 0;
	f->host_first_adapter = first;
	if (g.names.n) {
		f->names = fab_realloc(f->names, f->names_bytes + g.names.n, 1);
		memcpy(f->names + f->names_bytes, g.names.v, g.names.n);
		f->names_bytes += g.names.n;
	}
	free(g.names.v);
	fab_strmap_free(g.by_name);
	fab_map64_free(g.by_sys_guid);
}

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

static size_t keep_ends(const struct choice *c, struct fab_end *v, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!is_other_port(c, v[i].node, v[i].port) &&
		    !is_other_port(c, v[i].peer, v[i].peer_port))
			v[kept++] = v[i];
	return kept;
}

static void choose(struct choice *c)
{
	uint32_t n = (uint32_t)c->b->nodes.n;
	struct fab_builder *b = c->b;
	size_t kept = 0;

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
	if (c->rail->n_connected) {
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
	b->ends.n = keep_ends(c, b->ends.v, b->ends.n);
	b->cables.n = keep_ends(c, b->cables.v, b->cables.n);
	for (size_t k = 0; k < b->notes.n; k++)
		if (!is_other_port(c, b->notes.v[k].node, b->notes.v[k].port))
			b->notes.v[kept++] = b->notes.v[k];
	b->notes.n = kept;
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
