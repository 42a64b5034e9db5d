/* SPDX-License-Identifier: BSD-2-Clause */
/* Chains, trees and doubling: order in which nodes pass the image on, and its time. */
#include "boot/relay.h"

#include "base/order.h"
#include "boot/impl.h"

#include <math.h>
#include <stdlib.h>

/* A holder that sees to nodes lo .. hi - 1 of the batch, from a step on. */
struct range {
	uint32_t from, lo, hi, step;
	bool is_from_server;
};

struct making {
	const struct fab_batch *batch;
	enum fab_relay_way way;
	FAB_VEC(struct range) left;
	struct fab_relay *out;
};

/* The holder of a range gives the image to a node of it, which is a holder then. */
static void give(struct making *x, const struct range *r, uint32_t at)
{
	struct fab_relay *out = x->out;

	out->hop[out->n++] = (struct fab_relay_hop){r->from, x->batch->node[at], r->step,
						    r->is_from_server};
	out->n_steps = r->step >= out->n_steps ? r->step + 1 : out->n_steps;
}

static void leave(struct making *x, struct range r)
{
	r.step++;
	if (r.lo < r.hi)
		FAB_PUSH(&x->left, r);
}

/* The node of a range that its holder serves, and the ranges that are left, which are in
 * the order of steps and within a step of nodes. */
static void serve(struct making *x, struct range r)
{
	uint32_t middle = r.lo + (r.hi - r.lo) / 2, at = r.lo, holder;

	if (x->way == FAB_RELAY_DOUBLING)
		at = middle;
	if (x->way == FAB_RELAY_CHAIN)
		middle = r.lo;
	give(x, &r, at);
	holder = x->batch->node[at];
	if (x->way == FAB_RELAY_DOUBLING)
		leave(x, (struct range){r.from, r.lo, middle, r.step, r.is_from_server});
	else
		leave(x, (struct range){holder, r.lo + 1, middle + 1, r.step, false});
	leave(x, (struct range){holder, middle + 1, r.hi, r.step, false});
}

void fab_relay_make(const struct fab_machine *m, const struct fab_batch *batch,
		    enum fab_relay_way way, uint32_t n_servers, struct fab_relay *out)
{
	struct making x = {.batch = batch, .way = way, .out = out};
	uint32_t n;
	FAB_AUTOFREE uint32_t *server = fab_interfaces_spread(m, &n);

	n = n_servers < n ? n_servers : n;
	n = batch->n < n ? batch->n : n;
	/* neighbours serve neighbours */
	qsort(server, n, sizeof(*server), fab_cmp_u32);
	*out = (struct fab_relay){
		.n_servers = n,
		.hop = FAB_NEW((size_t)batch->n + 1, struct fab_relay_hop)};
	for (uint32_t i = 0; i < n; i++) {
		uint32_t lo = (uint32_t)((uint64_t)batch->n * i / n);
		uint32_t hi = (uint32_t)((uint64_t)batch->n * (i + 1) / n);

		FAB_PUSH(&x.left, ((struct range){server[i], lo, hi, 0, true}));
	}
	for (size_t i = 0; i < x.left.n; i++)
		serve(&x, x.left.v[i]);
	free(x.left.v);
}

void fab_relay_fini(struct fab_relay *relay)
{
	free(relay->hop);
	*relay = (struct fab_relay){0};
}

static uint32_t source_of(const struct fab_machine *m, const struct fab_relay_hop *h)
{
	return h->is_from_server ? m->interface_vertex[h->from] : m->node_vertex[h->from];
}

static void count_hop(const struct fab_machine *m, const struct fab_relay_hop *h,
		      uint32_t *down, uint32_t *up, uint32_t more)
{
	fab_share_count(m, down, up, m->node_vertex[h->to], source_of(m, h), more);
}

/* The least rate of hops first .. end - 1 that run at once; the counts are 0 before and
 * behind. */
static double rate_of(const struct fab_machine *m, const struct fab_relay *r,
		      uint32_t first, uint32_t end, uint32_t *down, uint32_t *up)
{
	double rate = INFINITY;

	for (uint32_t i = first; i < end; i++)
		count_hop(m, &r->hop[i], down, up, 1);
	for (uint32_t i = first; i < end; i++) {
		const struct fab_relay_hop *h = &r->hop[i];
		double share = fab_share_least(m, down, up, m->node_vertex[h->to],
					       source_of(m, h));

		rate = fmin(rate, share);
	}
	for (uint32_t i = first; i < end; i++)
		count_hop(m, &r->hop[i], down, up, (uint32_t)-1);
	return rate;
}

double fab_relay_seconds(const struct fab_machine *m, const struct fab_relay *r,
			 double image_mbit, double chunk_mbit)
{
	size_t n_links = (size_t)m->n_vertices * fab_links_most(m);
	FAB_AUTOFREE uint32_t *down = FAB_NEW0(n_links, uint32_t);
	FAB_AUTOFREE uint32_t *up = FAB_NEW0(n_links, uint32_t);
	double seconds = 0;

	if (chunk_mbit > 0 && r->n)
		return (image_mbit + (r->n_steps - 1) * fmin(chunk_mbit, image_mbit)) /
		       rate_of(m, r, 0, r->n, down, up);
	for (uint32_t first = 0, end; first < r->n; first = end) {
		for (end = first + 1;
		     end < r->n && r->hop[end].step == r->hop[first].step;)
			end++;
		seconds += image_mbit / rate_of(m, r, first, end, down, up);
	}
	return seconds;
}

double fab_relay_best(const struct fab_machine *m, const struct fab_batch *batch,
		      enum fab_relay_way way, double image_mbit, double chunk_mbit,
		      struct fab_relay *out)
{
	double best = INFINITY;

	*out = (struct fab_relay){0};
	for (uint64_t n = 1, most = m->n_interfaces; n; n = n < most ? n * 2 : 0) {
		struct fab_relay r;
		double seconds;

		fab_relay_make(m, batch, way, (uint32_t)(n < most ? n : most), &r);
		seconds = fab_relay_seconds(m, &r, image_mbit, chunk_mbit);
		if (!out->hop || seconds < best * (1 - 1e-9)) {
			struct fab_relay worse = *out;

			*out = r;
			r = worse;
			best = seconds;
		}
		fab_relay_fini(&r);
	}
	return best;
}

/* The least capacity above a vertex. */
static double narrowest(const struct fab_machine *m, uint32_t vertex)
{
	double least = INFINITY;

	for (uint32_t v = vertex; v; v = m->parent[v])
		least = fmin(least, fab_link_mbps(m, v));
	return least;
}

double fab_relay_stream_seconds(const struct fab_machine *m,
				const struct fab_batch *batch, double image_mbit,
				double repair)
{
	double stream = INFINITY, source = 0;
	uint32_t n_up;
	FAB_AUTOFREE uint32_t *server = fab_interfaces_up(m, &n_up);

	FAB_EACH_NODE(batch, node)
		stream = fmin(stream, narrowest(m, m->node_vertex[node]));
	for (uint32_t i = 0; i < n_up; i++)
		source = fmax(source, narrowest(m, m->interface_vertex[server[i]]));
	return image_mbit * (1 + repair) / fmin(stream, source);
}

/*
 * Services: HTTP, TFTP, NFS and KickStart.
 *
 * http: iPXE 1.21, which announces a window of 256 KiB at most; 1448 bytes a frame with
 * time stamps; a handshake and a request.
 * tftp: RFC 1350, a block of 512 bytes at a time. tftp-1468: RFC 2348, the largest block
 * of a frame. tftp-window: RFC 7440, 16 of them.
 * nfs: Linux as client, which reads 128 KiB ahead (RHEL 8.3 on, Ubuntu 18.04 on); LOOKUP,
 * ACCESS and READ; a reply of 128 KiB has about 128 bytes of its own.
 * kickstart: packages by HTTP with Linux' TCP (tcp(7): tcp_rmem, half of 6 MiB), a
 * request each; 400 packages are assumed at least. What the node does with them is not
 * counted.
 */

const struct fab_service fab_services[] = {
	{"http", 1448, 1538, 256 * 1024, 2, 1},
	{"tftp", 512, 582, 512, 1, 1},
	{"tftp-1468", 1468, 1538, 1468, 1, 1},
	{"tftp-window", 1468, 1538, 16 * 1468, 1, 1},
	{"nfs", 1447, 1538, 128 * 1024, 3, 1},
	{"kickstart", 1448, 1538, 3 * 1024 * 1024, 1, 400},
};
const size_t fab_n_services = FAB_COUNT(fab_services);

struct fab_service_time fab_service_time(const struct fab_service *s,
					 const struct fab_share *share,
					 const struct fab_transfer_options *options,
					 double efficiency, double round_trip_seconds)
{
	struct fab_service_time t = {
		.limit_mbps = s->window_bytes * 8e-6 / round_trip_seconds,
		.n_files = options->n_files > s->n_files ? options->n_files : s->n_files,
		.bandwidth_mbps = INFINITY};
	double part = 1; /* image of the slowest node */

	for (uint32_t i = 0; i < share->n_segments; i++) {
		const struct fab_share_segment *x = &share->segment[i];
		double mbps = x->share_mbps;

		if (x->level != FAB_NONE)
			mbps *= s->payload / (efficiency * s->wire);
		else if (x->name == fab_limit_name(FAB_LIMIT_TRANSFER))
			continue;
		if (mbps * part < t.bandwidth_mbps * x->part) {
			t.bandwidth_mbps = mbps;
			part = x->part;
		}
	}
	/* of the largest image */
	t.is_limited = t.limit_mbps * part < t.bandwidth_mbps;
	if (t.is_limited) {
		t.bandwidth_mbps = t.limit_mbps;
		part = 1;
	}
	t.seconds = t.n_files * s->trips * round_trip_seconds +
		    fab_transfer_image_mbit(options) * part / t.bandwidth_mbps;
	return t;
}
