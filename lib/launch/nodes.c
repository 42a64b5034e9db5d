/* SPDX-License-Identifier: BSD-2-Clause */
#include "launch/nodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/rng.h"
#include "fabric/resolver.h"
#include "fabric/shape.h"
#include "unicast/faults.h"

enum { NAMED = 3 };

static const struct fab_choice rows[] = {
	[FAB_NODES_FABRIC] = {.form = "fabric", .summary = "as the fabric has its hosts"},
	[FAB_NODES_NAME] = {.form = "name", .summary = "by name"},
	[FAB_NODES_SWITCH] =
		{.form = "switch",
		 .summary = "hosts of a switch side by side, near switches too"},
	[FAB_NODES_RANDOM] = {.form = "random", .summary = "by chance"},
	[FAB_NODES_AXES] = {.form = "axes:A,B,..",
			    .summary =
				    "by coordinates of a grid, the fastest axis first"},
};

static struct fab_choice row_at(size_t i)
{
	return rows[i];
}

const struct fab_choices fab_node_order_choices = {
	.what = "order", .n = FAB_COUNT(rows), .at = row_at};

static int parse_axes(const char *text, struct fab_node_order *out, struct fab_err *err)
{
	uint32_t seen = 0;

	for (const char *at = text; out->n_axes < FAB_NODE_AXES_MAX; at++) {
		size_t len = strcspn(at, ",");
		uint64_t axis;

		if (!fab_parse_u64(at, len, 0, FAB_NODE_AXES_MAX - 1, &axis) ||
		    seen >> axis & 1)
			break;
		seen |= 1u << axis;
		out->axis[out->n_axes++] = (uint8_t)axis;
		at += len;
		if (!*at)
			return 0;
	}
	return fab_fail(err, EINVAL,
			"'axes:%.80s': expected axes:A,B,.., each axis (from 0 on, the "
			"largest first) once",
			text);
}

int fab_node_order_parse(const char *text, uint64_t seed, struct fab_node_order *out,
			 struct fab_err *err)
{
	size_t len = strcspn(text, ":");
	uint32_t row = fab_choices_find(&fab_node_order_choices, text, len);

	if (row == FAB_NONE)
		return fab_choices_refuse(&fab_node_order_choices, text, len, NULL, err);
	*out = (struct fab_node_order){.kind = row, .seed = seed};
	if (row == FAB_NODES_AXES)
		return parse_axes(text[len] ? text + len + 1 : "", out, err);
	if (text[len])
		return fab_fail(err, EINVAL, "'%.80s': expected %s", text,
				rows[row].form);
	return 0;
}

struct seat {
	const char *name;
	uint64_t key;
	uint32_t node;
};

static int cmp_name(const void *a, const void *b)
{
	const struct seat *x = a, *y = b;
	int c = strverscmp(x->name, y->name);

	return c ? c : (x->node > y->node) - (x->node < y->node);
}

static int cmp_key(const void *a, const void *b)
{
	const struct seat *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

/*
 * When a walk comes by each switch: it goes on to a switch with hosts if there is one
 * that it has not seen, else to any other, else back.
 */
static void number_switches(const struct fab_fabric *f, uint64_t *key)
{
	bool *has_hosts = FAB_NEW0(f->n_switches + 1, bool);
	uint32_t *stack = FAB_NEW(f->n_switches + 1, uint32_t), n, number = 0;
	uint32_t *next = FAB_NEW0(f->n_switches + 1, uint32_t);

	for (uint32_t h = 0; h < f->n_hosts; h++) {
		uint32_t port = fab_host_endpoint(f, h);
		uint32_t sw = port == FAB_NONE ? FAB_NONE : fab_port_switch(f, port);

		if (sw != FAB_NONE)
			has_hosts[sw] = true;
	}
	memset(key, 0xff, f->n_switches * sizeof(*key));
	for (uint32_t from = 0; from < f->n_switches; from++)
		for (n = 0; key[from] == UINT64_MAX || n;) {
			uint32_t sw = n ? stack[n - 1] : from, d, to;

			if (key[sw] == UINT64_MAX) {
				key[sw] = number++;
				stack[n++] = sw;
			}
			d = f->peer_first[sw + 1] - f->peer_first[sw];
			/* twice around: those with hosts, then the others */
			for (to = FAB_NONE; next[sw] < 2 * d && to == FAB_NONE;
			     next[sw]++) {
				uint32_t peer = f->peer[f->peer_first[sw] + next[sw] % d];

				if (key[peer] == UINT64_MAX &&
				    has_hosts[peer] == (next[sw] < d))
					to = peer;
			}
			if (to == FAB_NONE) {
				n--;
			} else {
				key[to] = number++;
				stack[n++] = to;
			}
		}
	free(next);
	free(stack);
	free(has_hosts);
}

static int key_by_axes(const struct fab_launch_nodes *nodes,
		       const struct fab_node_order *order, struct seat *seats,
		       struct fab_err *err)
{
	struct fab_shape *s = fab_shape_recognize(nodes->f);
	bool is_grid = s->kind == FAB_SHAPE_TORUS || s->kind == FAB_SHAPE_MESH ||
		       s->kind == FAB_SHAPE_HYPERX;
	bool fits = is_grid && order->n_axes == s->n_dims;
	char text[256];
	int rc = 0;

	for (unsigned k = 0; fits && k < order->n_axes; k++)
		fits = order->axis[k] < s->n_dims;
	if (!fits)
		rc = fab_fail(err, EINVAL,
			      is_grid ? "an order by axes: expected each axis of %s once"
				      : "an order by axes needs a torus, a mesh or a "
					"hyperx, the shape is %s",
			      fab_shape_text(s, text, sizeof(text)));
	for (uint32_t i = 0; fits && i < nodes->n; i++) {
		const uint32_t *coord = s->coords + (size_t)nodes->sw[i] * s->n_dims;

		for (unsigned k = order->n_axes; k-- > 0;)
			seats[i].key = seats[i].key * s->dims[order->axis[k]] +
				       coord[order->axis[k]];
	}
	fab_shape_free(s);
	return rc;
}

static int key_seats(const struct fab_launch_nodes *nodes,
		     const struct fab_node_order *order, struct seat *seats,
		     struct fab_err *err)
{
	struct fab_rng rng;
	uint64_t *key;

	fab_rng_init(&rng, order->seed);
	for (uint32_t i = 0; i < nodes->n; i++)
		seats[i] = (struct seat){fab_host_name(nodes->f, nodes->host[i]), 0, i};
	if (order->kind == FAB_NODES_AXES)
		return key_by_axes(nodes, order, seats, err);
	if (order->kind == FAB_NODES_SWITCH) {
		key = FAB_NEW(nodes->f->n_switches + 1, uint64_t);
		number_switches(nodes->f, key);
		for (uint32_t i = 0; i < nodes->n; i++)
			seats[i].key = key[nodes->sw[i]];
		free(key);
	}
	for (uint32_t i = 0; order->kind == FAB_NODES_RANDOM && i < nodes->n; i++)
		seats[i].key = fab_rng_next(&rng);
	return 0;
}

static int put_in_order(struct fab_launch_nodes *nodes,
			const struct fab_node_order *order, struct fab_err *err)
{
	struct seat *seats = FAB_NEW((size_t)nodes->n + 1, struct seat);
	uint32_t *old = FAB_NEW(3 * (size_t)nodes->n + 1, uint32_t), n = nodes->n;
	int rc = key_seats(nodes, order, seats, err);

	memcpy(old, nodes->host, n * sizeof(*old));
	memcpy(old + n, nodes->port, n * sizeof(*old));
	memcpy(old + 2 * (size_t)n, nodes->sw, n * sizeof(*old));
	if (!rc)
		qsort(seats, n, sizeof(*seats),
		      order->kind == FAB_NODES_NAME ? cmp_name : cmp_key);
	for (uint32_t i = 0; !rc && i < n; i++) {
		nodes->host[i] = old[seats[i].node];
		nodes->port[i] = old[n + seats[i].node];
		nodes->sw[i] = old[2 * (size_t)n + seats[i].node];
	}
	free(old);
	free(seats);
	return rc;
}

/* Where a host can send; false: nowhere. */
static bool add_host(struct fab_launch_nodes *nodes, const struct fab_faults *faults,
		     uint32_t host)
{
	uint32_t port = fab_host_endpoint(nodes->f, host);
	uint32_t sw = port == FAB_NONE ? FAB_NONE : fab_port_switch(nodes->f, port);

	if (sw == FAB_NONE || !fab_switch_is_live(faults, sw) ||
	    !fab_cable_is_live(faults, nodes->f->port_cable[port]))
		return false;
	nodes->host[nodes->n] = host;
	nodes->port[nodes->n] = port;
	nodes->sw[nodes->n++] = sw;
	return true;
}

static int take_named(struct fab_launch_nodes *nodes, const struct fab_faults *faults,
		      const struct fab_launch_choice *choice, uint32_t n,
		      struct fab_err *err)
{
	bool *is_in = FAB_NEW0((size_t)nodes->f->n_hosts + 1, bool);
	int rc = 0;

	for (uint32_t i = 0; i < n && !rc; i++) {
		uint32_t host = choice->host[i];

		if (is_in[host])
			rc = fab_fail(err, EINVAL, "host '%s' is in the job twice",
				      fab_host_name(nodes->f, host));
		else if (!add_host(nodes, faults, host))
			rc = fab_fail(err, ENOTCONN,
				      "host '%s' has no live cable to a switch",
				      fab_host_name(nodes->f, host));
		is_in[host] = true;
	}
	free(is_in);
	return rc;
}

static int take(struct fab_launch_nodes *nodes, const struct fab_faults *faults,
		const struct fab_launch_choice *choice, struct fab_err *err)
{
	uint32_t limit = choice->n_nodes ? choice->n_nodes : FAB_NONE;
	uint32_t all = choice->host ? choice->n_hosts : nodes->f->n_hosts;
	int rc = 0;

	if (choice->host)
		rc = take_named(nodes, faults, choice, all < limit ? all : limit, err);
	for (uint32_t h = 0; !choice->host && h < all && nodes->n < limit; h++)
		add_host(nodes, faults, h);
	if (rc)
		return rc;
	if (!nodes->n)
		return fab_fail(err, EINVAL, "no host has a live cable to a switch");
	if (choice->n_nodes && nodes->n < choice->n_nodes)
		return fab_fail(err, EINVAL, "%u nodes: there are only %u hosts%s",
				choice->n_nodes, nodes->n,
				choice->host ? " in the list"
					     : " with a live cable to a switch");
	return 0;
}

/* Are all nodes in one part? */
static int check_parts(const struct fab_launch_nodes *nodes,
		       const struct fab_faults *faults, struct fab_err *err)
{
	const struct fab_fabric *f = nodes->f;
	uint32_t *dist = FAB_NEW(f->n_switches + 1, uint32_t);
	uint32_t *order = FAB_NEW(f->n_switches + 1, uint32_t), n_out = 0;
	char *named = NULL, *others = NULL;
	int rc = 0;

	fab_faults_search(f, faults, nodes->sw[0], dist, order);
	for (uint32_t i = 0; i < nodes->n; i++)
		if (dist[nodes->sw[i]] == FAB_NONE && n_out++ < NAMED)
			fab_append(&named, ", ", "%s", fab_host_name(f, nodes->host[i]));
	if (nodes->n - n_out > 1)
		others = fab_format(" and %u other%s", nodes->n - n_out - 1,
				    nodes->n - n_out == 2 ? "" : "s");
	if (n_out)
		rc = fab_fail(err, ENOTCONN,
			      "the nodes are in parts of the fabric that no live cable "
			      "joins: %s%s; %s%s (%u in all)",
			      fab_host_name(f, nodes->host[0]), others ? others : "",
			      named, n_out > NAMED ? ", .." : "", n_out);
	free(others);
	free(named);
	free(order);
	free(dist);
	return rc;
}

int fab_launch_nodes_init(struct fab_launch_nodes *nodes, const struct fab_fabric *f,
			  const struct fab_faults *faults,
			  const struct fab_launch_choice *choice, struct fab_err *err)
{
	size_t room = (choice->host ? choice->n_hosts : f->n_hosts) + (size_t)1;
	int rc;

	*nodes = (struct fab_launch_nodes){.f = f,
					   .host = FAB_NEW(room, uint32_t),
					   .port = FAB_NEW(room, uint32_t),
					   .sw = FAB_NEW(room, uint32_t)};
	rc = take(nodes, faults, choice, err);
	if (!rc)
		rc = check_parts(nodes, faults, err);
	if (!rc)
		rc = put_in_order(nodes, &choice->order, err);
	if (rc)
		fab_launch_nodes_fini(nodes);
	return rc;
}

void fab_launch_nodes_fini(struct fab_launch_nodes *nodes)
{
	free(nodes->host);
	free(nodes->port);
	free(nodes->sw);
	*nodes = (struct fab_launch_nodes){0};
}
