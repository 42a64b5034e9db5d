/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/hosts.h"

#include "base/map.h"
#include "base/num.h"
#include "base/sets.h"
#include "base/text.h"
#include "fabric/builder_impl.h"

#include <ctype.h>
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

static struct words split(const char *name)
{
	struct words w = {0};
	const char *p = name;

	while (is_blank(*p))
		p++;
	w.first = p;
	while (*p) {
		const char *word = p;

		while (*p && !is_blank(*p))
			p++;
		if (w.n == 0) {
			w.first_len = (size_t)(p - word);
		} else if (w.n == 1) {
			w.second = word;
			w.second_len = (size_t)(p - word);
		}
		w.n++;
		w.len = (size_t)(p - w.first);
		while (is_blank(*p))
			p++;
	}
	return w;
}

/* The names that drivers give adapters, with a number in them. */
bool fab_hosts_is_adapter(const char *word, size_t len)
{
	static const char *const drivers[] = {
		"HCA-",	  "mlx4_",  "mlx5_",   "mthca", "hfi1_", "qib",
		"ipath",  "roce",   "bnxt_re", "cxgb",	"irdma", "i40iw",
		"efa_",	  "ocrdma", "qedr",    "ehca",	"usnic", "vmw_pvrdma",
		"erdma_", "mana_",  "rdmap",   "siw",	"rxe",
	};
	size_t n_others = 0;

	while (n_others < len && !isdigit((unsigned char)word[n_others]))
		n_others++;
	if (n_others == len)
		return false;
	for (size_t i = 0; i < FAB_COUNT(drivers); i++) {
		size_t n = strlen(drivers[i]);

		if (len > n && !strncasecmp(word, drivers[i], n))
			return true;
	}
	return !(len < 3 || word[0] != 'i' || word[1] != 'b') &&
	       (isdigit((unsigned char)word[2]) ||
		(len > 3 && isdigit((unsigned char)word[3])));
}

static bool has_adapter_part(const struct words *w)
{
	return w->n == 2 && fab_hosts_is_adapter(w->second, w->second_len);
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
	if (w.n == 1 && fab_hosts_is_adapter(w.first, w.first_len)) {
		w.second = w.first;
		w.second_len = w.first_len;
	} else if (!has_adapter_part(&w))
		return false;
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

/* One host more; its name goes behind those of the fabric. */
static uint32_t new_host(struct grouping *g, const char *name, size_t len)
{
	size_t at = g->f->names_bytes + g->names.n;

	FAB_RESERVE(&g->names, len + 1);
	memcpy(g->names.v + g->names.n, name, len);
	g->names.v[g->names.n + len] = '\0';
	g->names.n += len + 1;
	g->f->host_name[g->f->n_hosts] = (uint32_t)at;
	return g->f->n_hosts++;
}

static uint32_t host_of(struct grouping *g, uint32_t node)
{
	const struct fab_host_options *o = g->options;
	struct fab_fabric *f = g->f;
	const char *name = fab_node_name(f, node);
	struct words w = split(name);
	bool is_mapped =
		w.n && o->is_mapped && o->is_mapped(o->name_map, f->node_guid[node]);
	uint32_t host = f->n_hosts;
	size_t len = has_adapter_part(&w) ? w.first_len : w.len;

	if (!is_mapped && is_generic(name, &w)) {
		char text[24];
		int n = snprintf(text, sizeof(text), "0x%016llx",
				 (unsigned long long)f->node_guid[node]);

		return new_host(g, text, (size_t)n);
	}
	if (is_mapped || has_adapter_part(&w))
		host = fab_strmap_put(g->by_name, w.first, len, host);
	else if (f->node_sys_guid[node])
		host = fab_map64_put(g->by_sys_guid, f->node_sys_guid[node], host);
	return host == f->n_hosts ? new_host(g, w.first, len) : host;
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

	f->host_rule =
		options->is_mapped
			? "name map, else first word of the description before an adapter's name, else system image GUID; generic names apart by GUID"
			: "first word of the description before an adapter's name, else system image GUID; generic names apart by GUID";
	f->node_host = FAB_ARENA_NEW(&f->arena, f->n_nodes, uint32_t);
	f->host_name = FAB_ARENA_NEW(&f->arena, n, uint32_t);
	for (uint32_t i = 0; i < f->n_nodes; i++)
		f->node_host[i] =
			f->node_kind[i] == FAB_ADAPTER ? host_of(&g, i) : FAB_NONE;
	/* Adapters of each host in ascending order: a counting sort. */
	first = FAB_ARENA_NEW0(&f->arena, (size_t)f->n_hosts + 2, uint32_t);
	for (uint32_t k = 0; k < f->n_nodes; k++)
		if (f->node_host[k] != FAB_NONE)
			first[f->node_host[k] + 2]++;
	for (uint32_t h = 0; h < f->n_hosts; h++)
		first[h + 2] += first[h + 1];
	f->host_adapter = FAB_ARENA_NEW(&f->arena, first[f->n_hosts + 1], uint32_t);
	/* Filling moves first[h + 1] on from where host h begins to where it ends. */
	for (uint32_t k = 0; k < f->n_nodes; k++)
		if (f->node_host[k] != FAB_NONE)
			f->host_adapter[first[f->node_host[k] + 1]++] = k;
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

/* Choice of a rail: "mlx5_0/1" is the name of an adapter, or a pattern, and a port. */

struct choice {
	const struct fab_builder *b;
	uint32_t port; /* FAB_NONE: all */
};

static enum fab_node_kind kind_of(const struct choice *c, uint32_t node)
{
	return c->b->nodes.v[node].kind;
}

static bool is_other_port(const struct choice *c, uint32_t node, uint16_t port)
{
	return c->port != FAB_NONE && kind_of(c, node) == FAB_ADAPTER && port != c->port;
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

static bool is_left_out(const struct choice *c, const struct fab_end *e)
{
	return is_other_port(c, e->node, e->port) ||
	       is_other_port(c, e->peer, e->peer_port);
}

static size_t keep_ends(const struct choice *c, struct fab_end *v, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!is_left_out(c, &v[i]))
			v[kept++] = v[i];
	return kept;
}

/* Leave out switches of parts without an adapter that is kept, and aggregation nodes and
 * routers of which no switch is kept. */
static void leave_out_parts(const struct choice *c, struct fab_arena *arena,
			    uint32_t *part, const bool *had, const bool *has,
			    struct fab_rail *out)
{
	uint32_t n = (uint32_t)c->b->nodes.n;
	bool *is_tied = FAB_ARENA_NEW0(arena, n, bool);	  /* has a cable to a switch */
	bool *is_wanted = FAB_ARENA_NEW0(arena, n, bool); /* and to one that is kept */

	for (uint32_t i = 0; i < n; i++) {
		uint32_t root = fab_sets_root(part, i);

		if (kind_of(c, i) != FAB_SWITCH || !had[root] || has[root])
			continue;
		out->is_kept[i] = false;
		out->n_left_out++;
	}
	for (size_t i = 0; i < c->b->ends.n + c->b->cables.n; i++) {
		uint32_t sw, node;

		if (!leaves_switches(c, fab_builder_end(c->b, i), &sw, &node) ||
		    kind_of(c, node) == FAB_ADAPTER)
			continue;
		is_tied[node] = true;
		is_wanted[node] |= out->is_kept[sw];
	}
	for (uint32_t i = 0; i < n; i++)
		out->is_kept[i] &= !is_tied[i] || is_wanted[i];
}

/* Adapters that match the glob of "GLOB/PORT" and can have that port. */
static void choose_adapters(struct choice *c, const char *hca, struct fab_arena *arena,
			    struct fab_rail *out)
{
	const char *slash = strrchr(hca, '/');
	char *glob = fab_arena_strdup(arena, hca);
	uint64_t port;

	if (slash && slash != hca && slash[1] &&
	    strspn(slash + 1, "0123456789") == strlen(slash + 1)) {
		out->is_port = true;
		glob[slash - hca] = '\0';
		c->port =
			fab_parse_u64(slash + 1, strlen(slash + 1), 0, UINT16_MAX, &port)
				? (uint32_t)port
				: UINT16_MAX + 1;
	}
	for (uint32_t i = 0; i < c->b->nodes.n; i++) {
		uint32_t n_ports = c->b->nodes.v[i].n_ports;

		if (kind_of(c, i) == FAB_ADAPTER)
			out->is_kept[i] =
				(c->port == FAB_NONE ||
				 (c->port && (!n_ports || c->port <= n_ports))) &&
				fab_hosts_hca_matches(fab_builder_name(c->b, i), glob);
	}
}

void fab_rail_choose(struct fab_builder *b, const char *hca, struct fab_arena *arena,
		     struct fab_rail *out)
{
	uint32_t n = (uint32_t)b->nodes.n;
	size_t n_ends = b->ends.n + b->cables.n, kept = 0;
	struct choice c = {.b = b, .port = FAB_NONE};
	uint32_t *part, *n_said; /* host cables left out, as their adapters say */
	bool *had, *has;	 /* [nodes] the part had, has adapters; by its root */
	bool *is_on_rail;	 /* [nodes] an adapter with a cable to a switch */

	*out = (struct fab_rail){.is_kept = FAB_ARENA_NEW(arena, n, bool)};
	memset(out->is_kept, true, n);
	if (!hca)
		return;
	choose_adapters(&c, hca, arena, out);
	part = FAB_ARENA_NEW(arena, n, uint32_t);
	n_said = FAB_ARENA_NEW0(arena, n, uint32_t);
	had = FAB_ARENA_NEW0(arena, n, bool);
	has = FAB_ARENA_NEW0(arena, n, bool);
	is_on_rail = FAB_ARENA_NEW0(arena, n, bool);
	for (uint32_t i = 0; i < n; i++)
		part[i] = i;
	for (size_t i = 0; i < n_ends; i++) {
		const struct fab_end *e = fab_builder_end(b, i);

		if (kind_of(&c, e->node) == FAB_SWITCH &&
		    kind_of(&c, e->peer) == FAB_SWITCH)
			fab_sets_unite(part, e->node, e->peer);
	}
	for (size_t i = 0; i < n_ends; i++) {
		const struct fab_end *e = fab_builder_end(b, i);
		uint32_t sw, node, root;

		if (!leaves_switches(&c, e, &sw, &node) ||
		    kind_of(&c, node) != FAB_ADAPTER)
			continue;
		root = fab_sets_root(part, sw);
		had[root] = true;
		/* The switch counts cables that it names itself; n_said those that only
		 * adapters may name. */
		if (out->is_kept[node] && !is_left_out(&c, e))
			has[root] = is_on_rail[node] = true;
		else if (e->node == sw || i >= b->ends.n)
			b->nodes.v[sw].n_left_out++;
		else
			n_said[sw]++;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (n_said[i] > b->nodes.v[i].n_left_out)
			b->nodes.v[i].n_left_out = n_said[i];
		if (kind_of(&c, i) == FAB_ADAPTER && out->is_kept[i]) {
			out->n_adapters++;
			out->n_connected += is_on_rail[i];
		}
	}
	if (out->n_connected)
		leave_out_parts(&c, arena, part, had, has, out);
	b->ends.n = keep_ends(&c, b->ends.v, b->ends.n);
	b->cables.n = keep_ends(&c, b->cables.v, b->cables.n);
	for (size_t k = 0; k < b->notes.n; k++)
		if (!is_other_port(&c, b->notes.v[k].node, b->notes.v[k].port))
			b->notes.v[kept++] = b->notes.v[k];
	b->notes.n = kept;
}
