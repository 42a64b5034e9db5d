/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/hosts.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"

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

/* "ib0", "ibp65s0", "ibs2f1": ib, perhaps a letter for the kind of slot, a number. */
static bool is_ipoib(const char *word, size_t len)
{
	if (len < 3 || word[0] != 'i' || word[1] != 'b')
		return false;
	return is_digit(word[2]) || (len > 3 && is_digit(word[3]));
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
	return is_ipoib(word, len);
}

static bool has_adapter_part(const struct words *w)
{
	return w->n == 2 && is_adapter(w->second, w->second_len);
}

/* What adapters are called before anyone names their host. */
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

static uint32_t host_by_guid_alone(struct grouping *g, uint32_t node)
{
	struct fab_fabric *f = g->f;
	char name[24];
	int n = snprintf(name, sizeof(name), "0x%016llx",
			 (unsigned long long)f->node_guid[node]);

	f->host_name[f->n_hosts] = append_name(g, name, (size_t)n);
	return f->n_hosts++;
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

static uint32_t host_by_sys_guid(struct grouping *g, uint32_t node, const struct words *w)
{
	struct fab_fabric *f = g->f;
	uint64_t sys_guid = f->node_sys_guid[node];
	uint32_t host = f->n_hosts;

	if (sys_guid)
		host = fab_map64_put(g->by_sys_guid, sys_guid, host);
	if (host == f->n_hosts) {
		f->host_name[host] = append_name(g, w->first, w->len);
		f->n_hosts++;
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
	const char *name = fab_node_name(g->f, node);
	struct words w = split(name);

	if (w.n && is_mapped(g, node))
		return host_by_name(g, w.first,
				    has_adapter_part(&w) ? w.first_len : w.len);
	if (is_generic(name, &w))
		return host_by_guid_alone(g, node);
	if (has_adapter_part(&w))
		return host_by_name(g, w.first, w.first_len);
	return host_by_sys_guid(g, node, &w);
}

/* Adapters of each host in ascending order: a counting sort. */
static void list_adapters(struct fab_fabric *f)
{
	uint32_t *first = FAB_NEW0((size_t)f->n_hosts + 1, uint32_t), n = 0;

	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (f->node_host[i] != FAB_NONE)
			first[f->node_host[i] + 1]++;
	for (uint32_t h = 0; h < f->n_hosts; h++)
		first[h + 1] += first[h];
	n = first[f->n_hosts];
	f->host_adapter = FAB_NEW(n, uint32_t);
	/* Filling moves first[h] on to where host h ends: where h + 1 begins. */
	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (f->node_host[i] != FAB_NONE)
			f->host_adapter[first[f->node_host[i]]++] = i;
	memmove(first + 1, first, f->n_hosts * sizeof(*first));
	first[0] = 0;
	f->host_first_adapter = first;
}

static void take_names(struct grouping *g)
{
	struct fab_fabric *f = g->f;

	if (g->names.n) {
		f->names = fab_realloc(f->names, f->names_bytes + g->names.n, 1);
		memcpy(f->names + f->names_bytes, g->names.v, g->names.n);
		f->names_bytes += g->names.n;
	}
	free(g->names.v);
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

	f->host_rule =
		options->is_mapped
			? "name map, else first word of the description before an "
			  "adapter's name, else system image GUID; generic names apart "
			  "by "
			  "GUID"
			: "first word of the description before an adapter's name, else "
			  "system image GUID; generic names apart by GUID";
	f->node_host = FAB_NEW(f->n_nodes, uint32_t);
	f->host_name = FAB_NEW(n, uint32_t);
	for (uint32_t i = 0; i < f->n_nodes; i++)
		f->node_host[i] =
			f->node_kind[i] == FAB_ADAPTER ? host_of(&g, i) : FAB_NONE;
	f->host_name = fab_realloc(f->host_name, f->n_hosts, sizeof(*f->host_name));
	list_adapters(f);
	take_names(&g);
	fab_strmap_free(g.by_name);
	fab_map64_free(g.by_sys_guid);
}
