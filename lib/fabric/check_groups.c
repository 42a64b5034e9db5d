/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"

/* Common properties of the findings of a group. */
struct key {
	const char *code;
	const char *tail; /* what the message says behind the cable; "" of no cable */
	uint32_t node;	  /* one end of the cable; FAB_NONE: none */
	uint32_t peer;	  /* host, or n_hosts + switch, of the other end or of the port */
	uint32_t index;
};

/* The host of an adapter, or n_hosts + node. */
static uint32_t place_of(const struct fab_fabric *f, uint32_t node)
{
	uint32_t host = f->node_host[node];

	return host == FAB_NONE ? f->n_hosts + node : host;
}

static const char *place_name(const struct fab_fabric *f, uint32_t place)
{
	return place < f->n_hosts ? fab_host_name(f, place)
				  : fab_node_name(f, place - f->n_hosts);
}

static bool can_group(const struct key *key)
{
	return key->node == FAB_NONE ? key->peer != FAB_NONE : *key->tail != '\0';
}

static int cmp_keys(const void *x, const void *y)
{
	const struct key *a = x, *b = y;
	int order = strcmp(a->code, b->code);

	if (order)
		return order;
	FAB_ORDER_BY(a, b, node);
	FAB_ORDER_BY(a, b, peer);
	return strcmp(a->tail, b->tail);
}

static int cmp_in_order(const void *x, const void *y)
{
	const struct key *a = x, *b = y;
	int order = cmp_keys(x, y);

	return order ? order : (a->index > b->index) - (a->index < b->index);
}

static int cmp_groups(const void *x, const void *y)
{
	const struct fab_finding_group *a = x, *b = y;

	return (a->first > b->first) - (a->first < b->first);
}

static char *text_of(const struct fab_fabric *f, const struct fab_check *check,
		     const struct key *key, uint32_t n)
{
	const char *message = check->findings[key->index].message;

	if (n == 1)
		return fab_strdup(message);
	if (key->node != FAB_NONE)
		return fab_format("\"%s\": %u cables to \"%s\": %s",
				  fab_node_name(f, key->node), n,
				  place_name(f, key->peer), key->tail);
	return fab_format("%s (and %u more like it on \"%s\")", message, n - 1,
			  place_name(f, key->peer));
}

void fab_finding_groups_init(const struct fab_fabric *f, const struct fab_check *check,
			     struct fab_finding_groups *out)
{
	uint32_t n = check->n_findings;
	struct key *key = FAB_NEW(n + 1, struct key);

	*out = (struct fab_finding_groups){.v = FAB_NEW(n + 1, struct fab_finding_group)};
	for (uint32_t i = 0; i < n; i++) {
		const struct fab_finding *x = &check->findings[i];
		struct key k = {x->code, "", FAB_NONE, FAB_NONE, i};

		if (x->cable != FAB_NONE) {
			uint32_t a = f->port_node[f->cable_a[x->cable]];
			uint32_t b = f->port_node[f->cable_b[x->cable]];
			const char *tail = "", *at = x->message;

			/* Behind the names, which end in a quotation mark. */
			while ((at = strstr(at, "\": ")))
				tail = at += 3;
			k.tail = tail;
			k.node = x->node == b && a != b ? b : a;
			k.peer = place_of(f, k.node == a ? b : a);
		} else if (x->node != FAB_NONE && x->port != FAB_NONE) {
			k.peer = place_of(f, x->node);
		}
		key[i] = k;
	}
	qsort(key, n, sizeof(*key), cmp_in_order);
	for (uint32_t i = 0, end; i < n; i = end) {
		end = i + 1;
		while (end < n && can_group(&key[i]) && !cmp_keys(&key[i], &key[end]))
			end++;
		out->v[out->n++] = (struct fab_finding_group){
			key[i].index, end - i, text_of(f, check, &key[i], end - i)};
	}
	qsort(out->v, out->n, sizeof(*out->v), cmp_groups);
	free(key);
}

void fab_finding_groups_fini(struct fab_finding_groups *groups)
{
	for (uint32_t i = 0; i < groups->n; i++)
		free(groups->v[i].text);
	free(groups->v);
}

static size_t rank_of(const char *code)
{
	static const char *const urgent[] = {
		"unknown-peer",	     "unconnected-part",    "adapter-without-switch",
		"conflicting-cable", "one-sided-cable",	    "duplicate-lid",
		"duplicate-guid",    "duplicate-port-guid", "missing-lid",
		"few-uplinks",	     "few-cables",
	};
	static const char *const rates[] = {"width-mismatch", "speed-mismatch",
					    "narrow-link", "slow-link", "duplicate-name"};

	for (size_t i = 0; i < FAB_COUNT(urgent); i++)
		if (!strcmp(code, urgent[i]))
			return i;
	for (size_t i = 0; i < FAB_COUNT(rates); i++)
		if (!strcmp(code, rates[i]))
			return FAB_COUNT(urgent) + 1 + i;
	return FAB_COUNT(urgent);
}

const struct fab_finding *fab_check_worst(const struct fab_check *check)
{
	const struct fab_finding *worst = NULL;

	for (uint32_t i = 0; i < check->n_findings; i++) {
		const struct fab_finding *x = &check->findings[i];

		if (x->severity == FAB_PROBLEM &&
		    (!worst || rank_of(x->code) < rank_of(worst->code)))
			worst = x;
	}
	return worst;
}
