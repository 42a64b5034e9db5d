/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Nodes of a job: the hosts that can send, numbered in one of several orders. A seat is a
 * node with the key by which it is sorted.
 */
#include "launch/nodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/order.h"
#include "base/rng.h"
#include "base/text.h"
#include "fabric/resolver.h"
#include "fabric/shape.h"
#include "unicast/faults.h"

enum { NAMED = 3 };

static const struct fab_choice rows[] = {
	[FAB_NODES_FABRIC] = {.form = "fabric", .summary = "as in the fabric"},
	[FAB_NODES_NAME] = {.form = "name", .summary = "by name"},
	[FAB_NODES_SWITCH] = {.form = "switch",
			      .summary = "hosts of a switch together, near switches too"},
	[FAB_NODES_RANDOM] = {.form = "random", .summary = "random"},
	[FAB_NODES_AXES] = {.form = "axes:A,B,..",
			    .summary =
				    "by coordinates of a grid, the fastest axis first"},
};

FAB_CHOICES(fab_node_order_choices, "order", rows);

int fab_node_order_parse(const char *text, uint64_t seed, struct fab_node_order *out,
			 struct fab_err *err)
{
	size_t len = strcspn(text, ":");
	uint32_t row = fab_choices_find(&fab_node_order_choices, text, len), seen = 0;
	const char *at = text[len] ? text + len + 1 : "";

	if (row == FAB_NONE)
		return fab_choices_refuse(&fab_node_order_choices, text, len, NULL, err);
	*out = (struct fab_node_order){.kind = row, .seed = seed};
	if (row != FAB_NODES_AXES)
		return text[len] ? fab_fail(err, EINVAL, "'%.80s': expected %s", text,
					    rows[row].form)
				 : 0;
	for (; out->n_axes < FAB_NODE_AXES_MAX; at++) {
		size_t n = strcspn(at, ",");
		uint64_t axis;

		if (!fab_parse_u64(at, n, 0, FAB_NODE_AXES_MAX - 1, &axis) ||
		    seen >> axis & 1)
			break;
		seen |= 1u << axis;
		out->axis[out->n_axes++] = (uint8_t)axis;
		at += n;
		if (!*at)
			return 0;
	}
	return fab_fail(
		err, EINVAL,
		"'axes:%.80s': expected axes:A,B,.., each axis (from 0 on, the largest first) once",
		text[len] ? text + len + 1 : "");
}

struct seat {
	const char *name;
	uint64_t key;
	uint32_t place; /* in the fabric's order, or that of the list */
	uint32_t host, port, sw;
};

static int cmp_name(const void *a, const void *b)
{
	const struct seat *x = a, *y = b;
	int c = strverscmp(x->name, y->name);

	return c ? c : (x->place > y->place) - (x->place < y->place);
}

FAB_ORDER(cmp_key, struct seat, key, place)

/* A job that is being made. */
struct job {
	const struct fab_fabric *f;
	const struct fab_faults *faults;
	const struct fab_launch_choice *choice;
	struct seat *seats;
	uint32_t n;
};

/*
 * The order in which a walk visits the switches: it continues to an unvisited neighbour
 * with hosts if there is one, else to any other unvisited one, else back.
 */
static void number_switches(const struct fab_fabric *f, uint64_t *key)
{
	FAB_AUTOFREE bool *has_hosts = FAB_NEW0(f->n_switches + 1, bool);
	uint32_t n, number = 0;
	FAB_AUTOFREE uint32_t *stack = FAB_NEW(f->n_switches + 1, uint32_t);
	FAB_AUTOFREE uint32_t *next = FAB_NEW0(f->n_switches + 1, uint32_t);

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
}

/* Sort the seats; an order by axes needs a grid. */
static int put_in_order(struct job *j, struct fab_err *err)
{
	const struct fab_node_order *order = &j->choice->order;
	struct fab_shape *s = NULL;
	struct fab_rng rng;
	FAB_AUTOFREE uint64_t *key = NULL;
	char text[256];
	int rc = 0;

	if (order->kind == FAB_NODES_FABRIC)
		return 0;
	if (order->kind == FAB_NODES_SWITCH) {
		key = FAB_NEW(j->f->n_switches + 1, uint64_t);
		number_switches(j->f, key);
	} else if (order->kind == FAB_NODES_RANDOM) {
		fab_rng_init(&rng, order->seed);
	} else if (order->kind == FAB_NODES_AXES) {
		s = fab_shape_recognize(j->f);
		bool is_grid = s->kind == FAB_SHAPE_TORUS || s->kind == FAB_SHAPE_MESH ||
			       s->kind == FAB_SHAPE_HYPERX;
		bool fits = is_grid && order->n_axes == s->n_dims;

		for (unsigned k = 0; fits && k < order->n_axes; k++)
			fits = order->axis[k] < s->n_dims;
		if (!fits)
			rc = fab_fail(
				err, EINVAL,
				is_grid ? "an order by axes: expected each axis of %s once"
					: "an order by axes needs a torus, a mesh or a hyperx, the shape is %s",
				fab_shape_text(s, text, sizeof(text)));
	}
	for (uint32_t i = 0; i < j->n && !rc; i++) {
		struct seat *seat = &j->seats[i];

		if (key)
			seat->key = key[seat->sw];
		else if (order->kind == FAB_NODES_RANDOM)
			seat->key = fab_rng_next(&rng);
		for (unsigned k = order->n_axes; s && k-- > 0;)
			seat->key =
				seat->key * s->dims[order->axis[k]] +
				s->coords[(size_t)seat->sw * s->n_dims + order->axis[k]];
	}
	if (s)
		fab_shape_free(s);
	if (!rc)
		qsort(j->seats, j->n, sizeof(*j->seats),
		      order->kind == FAB_NODES_NAME ? cmp_name : cmp_key);
	return rc;
}

/* The hosts of the list, or the first ones of the fabric that can send. */
static int take_hosts(struct job *j, struct fab_err *err)
{
	const struct fab_launch_choice *choice = j->choice;
	uint32_t limit = choice->n_nodes ? choice->n_nodes : FAB_NONE;
	uint32_t all = choice->host ? choice->n_hosts : j->f->n_hosts;
	FAB_AUTOFREE bool *is_in = FAB_NEW0((size_t)j->f->n_hosts + 1, bool);
	int rc = 0;

	for (uint32_t i = 0; i < all && j->n < limit && !rc; i++) {
		uint32_t host = choice->host ? choice->host[i] : i;
		uint32_t port = fab_host_endpoint(j->f, host);
		uint32_t sw = port == FAB_NONE ? FAB_NONE : fab_port_switch(j->f, port);
		bool can_send = sw != FAB_NONE && fab_switch_is_live(j->faults, sw) &&
				fab_cable_is_live(j->faults, j->f->port_cable[port]);

		if (is_in[host])
			rc = fab_fail(err, EINVAL, "host '%s' is in the job twice",
				      fab_host_name(j->f, host));
		else if (can_send) {
			j->seats[j->n] = (struct seat){.name = fab_host_name(j->f, host),
						       .place = j->n,
						       .host = host,
						       .port = port,
						       .sw = sw};
			j->n++;
		} else if (choice->host)
			rc = fab_fail(err, ENOTCONN,
				      "host '%s' has no live cable to a switch",
				      fab_host_name(j->f, host));
		is_in[host] = true;
	}
	if (rc)
		return rc;
	if (!j->n)
		return fab_fail(err, EINVAL, "no host has a live cable to a switch");
	if (choice->n_nodes && j->n < choice->n_nodes)
		return fab_fail(err, EINVAL, "%u nodes: there are only %u hosts%s",
				choice->n_nodes, j->n,
				choice->host ? " in the list"
					     : " with a live cable to a switch");
	return 0;
}

/* All nodes must be in one part. */
static int check_parts(const struct job *j, struct fab_err *err)
{
	const struct fab_fabric *f = j->f;
	FAB_AUTOFREE uint32_t *dist = FAB_NEW(f->n_switches + 1, uint32_t);
	uint32_t n_out = 0;
	FAB_AUTOFREE uint32_t *order = FAB_NEW(f->n_switches + 1, uint32_t);
	FAB_AUTOFREE char *named = NULL, *others = NULL;
	int rc = 0;

	fab_faults_search(f, j->faults, j->seats[0].sw, dist, order);
	for (uint32_t i = 0; i < j->n; i++)
		if (dist[j->seats[i].sw] == FAB_NONE && n_out++ < NAMED)
			fab_append(&named, ", ", "%s", j->seats[i].name);
	if (j->n - n_out > 1)
		others = fab_format(" and %u other%s", j->n - n_out - 1,
				    j->n - n_out == 2 ? "" : "s");
	if (n_out)
		rc = fab_fail(
			err, ENOTCONN,
			"the nodes are in parts of the fabric that no live cable joins: %s%s; %s%s (%u in all)",
			j->seats[0].name, others ? others : "", named,
			n_out > NAMED ? ", .." : "", n_out);
	return rc;
}

/* The live end ports of a host at switches, by the names of its adapters and the numbers
 * of their ports; at most `most`. Returns how many there are. */
static uint32_t find_rails(const struct job *j, uint32_t host, uint32_t most,
			   uint32_t *out)
{
	const struct fab_fabric *f = j->f;
	uint32_t n = 0, at;

	FAB_EACH_ADAPTER(f, host, i) {
		uint32_t adapter = f->host_adapter[i];
		const char *name = fab_node_name(f, adapter);

		FAB_EACH_PORT(f, adapter, p) {
			uint32_t sw = f->port_cable[p] == FAB_NONE
					      ? FAB_NONE
					      : fab_port_switch(f, p);

			if (sw == FAB_NONE || !fab_switch_is_live(j->faults, sw) ||
			    !fab_cable_is_live(j->faults, f->port_cable[p]))
				continue;
			for (at = n;
			     at > 0 &&
			     fab_text_natural_cmp(
				     name, fab_node_name(f, f->port_node[out[at - 1]])) <
				     0;
			     at--)
				if (at < most)
					out[at] = out[at - 1];
			if (at < most)
				out[at] = p;
			n += n < most;
		}
	}
	return n;
}

/* The other rails of the nodes `first`, in the same order. */
static int add_rails(const struct job *j, struct fab_arena *memory,
		     struct fab_launch_nodes *first, struct fab_err *err)
{
	uint32_t n_rails = j->choice->n_rails ? j->choice->n_rails : 1, n = first->n;
	uint32_t ports[FAB_LAUNCH_RAILS_MAX];
	struct fab_launch_nodes *rail = first;
	int rc = 0;

	first->n_rails = n_rails;
	for (uint32_t k = 1; k < n_rails; k++) {
		rail->next = FAB_ARENA_NEW0(memory, 1, struct fab_launch_nodes);
		*rail->next = *first;
		rail = rail->next;
		rail->next = NULL;
		rail->port = FAB_ARENA_NEW(memory, n, uint32_t);
		rail->sw = FAB_ARENA_NEW(memory, n, uint32_t);
	}
	for (uint32_t i = 0; i < n && n_rails > 1; i++) {
		uint32_t host = first->host[i];
		uint32_t found = find_rails(j, host, n_rails, ports), k = 0;

		if (found < n_rails)
			return fab_fail(
				err, ENOTCONN,
				"host '%s' has %u live cable%s to switches: %u rails need as many",
				fab_host_name(j->f, host), found, found == 1 ? "" : "s",
				n_rails);
		for (rail = first; rail; rail = rail->next, k++) {
			rail->port[i] = ports[k];
			rail->sw[i] = fab_port_switch(j->f, ports[k]);
		}
	}
	for (rail = first->next; rail && !rc; rail = rail->next) {
		for (uint32_t i = 0; i < n; i++)
			j->seats[i].sw = rail->sw[i];
		rc = check_parts(j, err);
	}
	return rc;
}

int fab_launch_nodes_make(struct fab_arena *memory, const struct fab_fabric *f,
			  const struct fab_faults *faults,
			  const struct fab_launch_choice *choice,
			  struct fab_launch_nodes *out, struct fab_err *err)
{
	size_t most = (choice->host ? choice->n_hosts : f->n_hosts) + (size_t)1;
	struct job j = {.f = f,
			.faults = faults,
			.choice = choice,
			.seats = FAB_NEW(most, struct seat)};
	int rc = take_hosts(&j, err);

	*out = (struct fab_launch_nodes){.f = f};
	if (!rc)
		rc = check_parts(&j, err);
	if (!rc)
		rc = put_in_order(&j, err);
	if (!rc) {
		out->n = j.n;
		out->host = FAB_ARENA_NEW(memory, j.n, uint32_t);
		out->port = FAB_ARENA_NEW(memory, j.n, uint32_t);
		out->sw = FAB_ARENA_NEW(memory, j.n, uint32_t);
		for (uint32_t i = 0; i < j.n; i++) {
			out->host[i] = j.seats[i].host;
			out->port[i] = j.seats[i].port;
			out->sw[i] = j.seats[i].sw;
		}
		rc = add_rails(&j, memory, out, err);
	}
	free(j.seats);
	return rc;
}
