/* SPDX-License-Identifier: BSD-2-Clause */
#include "rdma/network.h"

#include <errno.h>
#include <stdlib.h>

#include "base/threads.h"
#include "unicast/faults.h"
#include "unicast/path.h"

enum { MASK_BYTES = 1 << 28 };

static bool by_table(const struct fab_rdma_net *net)
{
	return net->params.routing == FAB_RDMA_BY_TABLE;
}

/* The same by hops. */
static uint32_t productive_by_hops(const struct fab_rdma_net *net, uint32_t sw,
				   uint32_t to, uint16_t *arc)
{
	const struct fab_fabric *f = net->problem->f;
	const uint8_t *row = net->live_hops ? net->live_hops + (size_t)to * f->n_switches
					    : fab_dist_row(net->dist, to);
	uint32_t n = 0;

	if (row[sw] == FAB_HOPS_UNREACHABLE)
		return 0;
	for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1] && n < RDMA_ARCS_MAX;
	     a++)
		if (row[f->arc_peer[a]] + 1 == row[sw] &&
		    fab_arc_is_live(net->problem->faults, a))
			arc[n++] = (uint16_t)(a - f->arc_first[sw]);
	return n;
}

uint32_t rdma_net_productive(const struct fab_rdma_net *net, uint32_t sw, uint32_t to,
			     uint16_t *arc)
{
	size_t at = (size_t)to * net->problem->f->n_switches + sw;

	return net->mask ? rdma_net_mask_arcs(net->mask[at], arc)
			 : productive_by_hops(net, sw, to, arc);
}

/* Hops to switch `to` where something is dead. */
static void live_row(const struct fab_rdma_net *net, uint32_t to, uint8_t *row,
		     uint32_t *queue)
{
	const struct fab_fabric *f = net->problem->f;
	uint32_t n = 0;

	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		row[sw] = FAB_HOPS_UNREACHABLE;
	row[to] = 0;
	queue[n++] = to;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t a = f->arc_first[queue[i]]; a < f->arc_first[queue[i] + 1];
		     a++)
			if (row[f->arc_peer[a]] == FAB_HOPS_UNREACHABLE &&
			    row[queue[i]] + 1 < FAB_HOPS_UNREACHABLE &&
			    fab_arc_is_live(net->problem->faults, a)) {
				row[f->arc_peer[a]] = row[queue[i]] + 1;
				queue[n++] = f->arc_peer[a];
			}
}

/* Hops between all switches: of the whole fabric, or of what is left of it. */
static int make_hops(struct fab_rdma_net *net, struct fab_err *err)
{
	const struct fab_fabric *f = net->problem->f;
	size_t n = f->n_switches;
	uint32_t *queue;
	int rc;

	if (!net->problem->faults || !net->problem->faults->named.n) {
		rc = fab_dist_new(f, 0, &net->dist, err);
		fab_threads_rest(fab_threads(0));
		return rc;
	}
	if (n * n > MASK_BYTES)
		return fab_fail(err, ERANGE,
				"shortest paths around what is dead: more than 16384 "
				"switches");
	net->live_hops = FAB_NEW(n * n + 1, uint8_t);
	queue = FAB_NEW(n + 1, uint32_t);
	for (uint32_t to = 0; to < n; to++)
		live_row(net, to, net->live_hops + to * n, queue);
	free(queue);
	return 0;
}

static uint32_t max_arcs(const struct fab_fabric *f)
{
	uint32_t most = 0;

	for (uint32_t sw = 0; sw < f->n_switches; sw++)
		if (f->arc_first[sw + 1] - f->arc_first[sw] > most)
			most = f->arc_first[sw + 1] - f->arc_first[sw];
	return most;
}

/* Shortest paths as bits, where switches are few and small enough, instead of hops. */
static void make_masks(struct fab_rdma_net *net)
{
	uint32_t n = net->problem->f->n_switches;
	bool *is_end = FAB_NEW0(n + 1, bool);
	uint8_t *masks = fab_alloc_huge((size_t)n * n + 1);

	for (uint32_t e = 0; e < net->problem->ends->n; e++)
		is_end[net->problem->ends->sw[e]] = true;
	for (uint32_t to = 0; to < n; to++)
		for (uint32_t sw = 0; is_end[to] && sw < n; sw++) {
			uint16_t arc[RDMA_ARCS_MAX];
			uint32_t k = productive_by_hops(net, sw, to, arc);
			uint8_t mask = 0;

			while (k--)
				mask |= (uint8_t)(1u << arc[k]);
			masks[(size_t)to * n + sw] = mask;
		}
	free(is_end);
	net->mask = masks;
	fab_dist_free(net->dist);
	free(net->live_hops);
	net->dist = NULL;
	net->live_hops = NULL;
}

uint32_t rdma_net_path(const struct fab_rdma_net *net, uint32_t from, uint32_t to,
		       uint32_t port[FAB_RDMA_HOPS_MAX])
{
	const struct sim_net *s = &net->sim;
	uint32_t sw = s->port_sw[s->end_port[from]], goal = s->port_sw[s->end_port[to]];
	uint32_t n = 0;
	uint16_t arc[RDMA_ARCS_MAX];

	port[n++] = s->n_ports + from;
	while (sw != goal || (by_table(net) && s->end_row[to] == FAB_NONE)) {
		uint32_t out;

		if (by_table(net)) {
			if (s->end_row[to] == FAB_NONE)
				return 0;
			out = net->problem->routes
				      ->next[(size_t)s->end_row[to] * s->n_switches + sw];
		} else {
			out = rdma_net_productive(net, sw, goal, arc) ? arc[0]
								      : FAB_ARC_NONE;
		}
		if (out >=
		    net->problem->f->arc_first[sw + 1] - net->problem->f->arc_first[sw])
			return 0;
		out += s->port_first[sw];
		if (s->peer[out] == FAB_NONE || n + 1 == FAB_RDMA_HOPS_MAX)
			return 0;
		port[n++] = out;
		sw = s->port_sw[s->peer[out]];
	}
	port[n++] = s->end_port[to];
	return n;
}

bool rdma_net_has_path(const struct fab_rdma_net *net, uint32_t from, uint32_t to)
{
	uint32_t port[FAB_RDMA_HOPS_MAX];

	return rdma_net_path(net, from, to, port) > 0;
}

/* When a packet that is put on the first port at `time` is delivered; the ports are then
 * busy until busy[]. */
static uint64_t send_along(const struct fab_rdma_net *net, const uint32_t *port,
			   uint32_t n, uint32_t bytes, uint64_t time, uint64_t *busy)
{
	const struct fab_rdma_params *params = &net->params;
	uint64_t before = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t wire = sim_wire(net->sim.per_byte[port[i]], bytes);

		if (before > wire)
			time += before - wire;
		if (busy[i] > time)
			time = busy[i];
		busy[i] = time + wire;
		time += params->cable_ps + (i + 1 < n ? params->switch_ps : wire);
		before = wire;
	}
	return time + params->host_ps;
}

uint64_t rdma_net_latency(const struct fab_rdma_net *net, uint32_t from, uint32_t to,
			  uint32_t bytes)
{
	uint32_t port[FAB_RDMA_HOPS_MAX], n = rdma_net_path(net, from, to, port);
	uint64_t busy[FAB_RDMA_HOPS_MAX] = {0};

	return n ? send_along(net, port, n, bytes, 0, busy) : 0;
}

uint64_t fab_rdma_round_trip(const struct fab_rdma_net *net, uint32_t transfer)
{
	const struct fab_rdma_transfer *t = &net->problem->transfer[transfer];
	uint32_t from = rdma_sender(t), to = rdma_receiver(t);
	uint32_t payload =
		t->bytes < net->params.mtu ? (uint32_t)t->bytes : net->params.mtu;
	uint64_t there = rdma_net_latency(net, from, to, payload + net->params.header);
	uint64_t back = rdma_net_latency(net, to, from, net->params.control);

	return there && back ? there + back : 0;
}

uint64_t fab_rdma_longest_round_trip(const struct fab_rdma_net *net)
{
	return net->round_trip;
}

uint64_t fab_rdma_ideal(const struct fab_rdma_net *net, uint32_t transfer)
{
	const struct fab_rdma_transfer *t = &net->problem->transfer[transfer];
	const struct fab_rdma_params *params = &net->params;
	uint32_t from = rdma_sender(t), to = rdma_receiver(t);
	uint64_t there = rdma_net_latency(net, from, to, params->control);
	uint64_t back = rdma_net_latency(net, to, from, params->control);
	uint64_t busy[FAB_RDMA_HOPS_MAX] = {0}, done = 0;
	uint32_t port[FAB_RDMA_HOPS_MAX], n = rdma_net_path(net, from, to, port);
	uint64_t packets = rdma_packets(t->bytes, params->mtu);

	if (!there || !back)
		return 0;
	for (uint64_t i = 0; i < packets; i++)
		done = send_along(net, port, n,
				  rdma_payload(t->bytes, params->mtu, i) + params->header,
				  busy[0], busy);
	/* a READ: the request, then the data; a WRITE: request, answer, completion, too
	 */
	if (t->is_read)
		return done + back;
	return done + back + (params->no_handshake ? 0 : there + back);
}

bool fab_rdma_has_path(const struct fab_rdma_net *net, uint32_t transfer)
{
	const struct fab_rdma_transfer *t = &net->problem->transfer[transfer];

	return rdma_net_has_path(net, t->source, t->target) &&
	       rdma_net_has_path(net, t->target, t->source);
}

uint32_t fab_rdma_n_no_path(const struct fab_rdma_net *net)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < net->problem->n_transfers; i++)
		n += !fab_rdma_has_path(net, i);
	return n;
}

static int check_transfers(const struct fab_rdma_net *net, struct fab_err *err)
{
	const struct fab_rdma_problem *p = net->problem;

	for (uint32_t i = 0; i < p->n_transfers; i++) {
		const struct fab_rdma_transfer *t = &p->transfer[i];

		if (t->source >= p->ends->n || t->target >= p->ends->n)
			return fab_fail(err, EINVAL,
					"transfer %u: no such endpoint, there are %u", i,
					p->ends->n);
		if (t->source == t->target)
			return fab_fail(err, EINVAL, "transfer %u is to its own source",
					i);
		if (!t->bytes)
			return fab_fail(err, EINVAL, "transfer %u has no bytes", i);
		if (rdma_packets(t->bytes, net->params.mtu) > FAB_RDMA_PACKETS_MAX)
			return fab_fail(
				err, EINVAL,
				"transfer %u of %llu bytes has more than %d packets of "
				"%u: a smaller size or a larger MTU is needed",
				i, (unsigned long long)t->bytes, FAB_RDMA_PACKETS_MAX,
				net->params.mtu);
	}
	return 0;
}

static int find_paths(struct fab_rdma_net *net, struct fab_err *err)
{
	const struct fab_fabric *f = net->problem->f;
	uint64_t n = f->n_switches;
	int rc;

	if (!by_table(net)) {
		rc = make_hops(net, err);
		if (rc)
			return rc;
		if (max_arcs(f) <= RDMA_MASK_PORTS && n * n <= MASK_BYTES)
			make_masks(net);
	}
	for (uint32_t i = 0; i < net->problem->n_transfers; i++) {
		uint64_t rtt = fab_rdma_round_trip(net, i);

		if (rtt > net->round_trip)
			net->round_trip = rtt;
	}
	return 0;
}

int fab_rdma_net_new(const struct fab_rdma_problem *problem,
		     const struct fab_rdma_params *params, struct fab_rdma_net **out,
		     struct fab_err *err)
{
	struct fab_rdma_net *net;
	int rc = fab_rdma_check(problem, params, err);

	if (rc)
		return rc;
	net = FAB_NEW0(1, struct fab_rdma_net);
	net->problem = problem;
	net->params = *params;
	net->sim_problem = (struct fab_sim_problem){.f = problem->f,
						    .faults = problem->faults,
						    .ends = problem->ends,
						    .routes = problem->routes};
	net->sim_params = (struct fab_sim_params){.rate_gbps = params->rate_gbps,
						  .all_rates = params->all_rates};
	rc = sim_net_init(&net->sim, &net->sim_problem, &net->sim_params, err);
	if (!rc)
		rc = check_transfers(net, err);
	if (!rc)
		rc = find_paths(net, err);
	if (problem->routes)
		net->sl_row = fab_routes_sl_rows(problem->routes);
	net->n_vls = net->sim.n_vls +
		     (by_table(net) || !params->buffer || !problem->routes ? 0 : 1);
	if (rc) {
		fab_rdma_net_free(net);
		return rc;
	}
	*out = net;
	return 0;
}

void fab_rdma_net_free(struct fab_rdma_net *net)
{
	if (!net)
		return;
	sim_net_fini(&net->sim);
	fab_dist_free(net->dist);
	free(net->live_hops);
	free(net->mask);
	free(net->sl_row);
	free(net);
}
