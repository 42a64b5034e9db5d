/* SPDX-License-Identifier: BSD-2-Clause */
/* fabric-rdma: what is said of one scheme at one point. */
#include <math.h>

#include "base/human.h"
#include "fabric_rdma.h"

double rdma_half_interval(const struct fab_tally *t)
{
	struct fab_interval i = fab_tally_interval(t, FAB_ALPHA);

	return t->n > 1 ? (i.high - i.low) / 2 : (double)NAN;
}

/* A mean of what counts, over the runs. */
static uint64_t each(const struct fab_rdma_summary *s, uint64_t sum)
{
	return s->n_runs ? (sum + s->n_runs / 2) / s->n_runs : 0;
}

static void set_times(struct rdma_row *row, const struct rdma_result *r)
{
	const struct fab_rdma_summary *s = &r->sum;

	row->mean = fab_tally_mean(&s->completion_mean);
	row->p50 = fab_tally_mean(&s->completion_p50);
	row->p99 = fab_tally_mean(&s->completion_p99);
	row->max = s->completion_max.n ? fab_tally_max(&s->completion_max) : (double)NAN;
	row->ci95 = rdma_half_interval(&s->completion_mean);
	row->goodput = fab_tally_mean(&s->goodput_gbps);
	row->goodput_mean = fab_tally_mean(&s->goodput_mean);
	row->rounds = fab_tally_mean(&s->rounds);
	row->ratio = s->share.value;
	row->ideal_ratio = r->ideal_us / row->mean;
	row->ratio_ci95 = s->share.half;
	row->difference = fab_tally_mean(&s->difference);
	row->difference_ci95 = rdma_half_interval(&s->difference);
}

static void set_packets(struct rdma_row *row, const struct fab_rdma_summary *s)
{
	uint64_t control = 0, control_bytes = 0, lost = 0;

	for (int kind = 0; kind < FAB_RDMA_KINDS; kind++) {
		control += kind == FAB_RDMA_DATA ? 0 : s->n.packets[kind];
		control_bytes += kind == FAB_RDMA_DATA ? 0 : s->n.bytes[kind];
		lost += s->n.lost[kind];
	}
	row->packets = each(s, s->n_packets);
	row->packets_sent = each(s, s->n.packets[FAB_RDMA_DATA]);
	row->retransmitted = each(s, s->n.retransmitted);
	row->spurious = each(s, s->n.spurious);
	row->beyond = each(s, s->n.beyond);
	row->duplicates = each(s, s->n.duplicates);
	row->zombies = each(s, s->n.zombies);
	row->stale = each(s, s->n.stale);
	row->lost = each(s, lost);
	row->timeouts = each(s, s->n.timeouts);
	row->resends =
		each(s, s->n.packets[FAB_RDMA_RESEND] + s->n.packets[FAB_RDMA_NAK]);
	row->refusals = each(s, s->n.refusals);
	row->control = each(s, control);
	row->control_bytes = each(s, control_bytes);
	row->wire_bytes = each(s, s->wire_bytes);
	row->packet_hops = s->packet_hops;
	row->events = s->events;
}

uint64_t rdma_context_bits(const struct rdma_params *p, const struct rdma_traffic *t,
			   const struct fab_rdma_params *sim,
			   const struct fab_rdma_scheme *scheme)
{
	struct fab_rdma_widths widths = p->widths;
	struct fab_rdma_context c;
	uint32_t width = fab_rdma_width(t->net, sim, scheme,
					rdma_traffic_most_packets(t, sim->mtu));

	widths.mtu = sim->mtu;
	widths.buffer = sim->sender_window;
	return fab_rdma_cost(scheme->name, width, &widths, &c) ? c.bits : 0;
}

static void set_state(struct rdma_row *row, const struct rdma_outcome *o,
		      const struct rdma_result *r)
{
	const struct fab_rdma_summary *s = &r->sum;

	row->reorder_max = s->reorder.max;
	row->ahead_max = s->ahead.max;
	row->reorder_p99 = s->reorder.n ? fab_histogram_quantile(&s->reorder, 0.99) : 0;
	row->ahead_p99 = s->ahead.n ? fab_histogram_quantile(&s->ahead, 0.99) : 0;
	row->peak_contexts = s->peak_contexts;
	row->peak_tombstones = s->peak_tombstones;
	row->send_buffer = s->peak_send_buffer;
	row->queue_bytes = s->peak_queue_bytes;
	row->context_bits = r->bits;
	row->contexts = r->bits ? fab_rdma_contexts_in(o->p->memory, r->bits) : 0;
}

void rdma_row_init(struct rdma_row *row, const struct rdma_outcome *o,
		   const struct rdma_result *r)
{
	const struct fab_rdma_summary *s = &r->sum;
	const struct rdma_point *x = r->point;

	*row = (struct rdma_row){
		.scheme = r->scheme->name,
		.route = o->net.route->name,
		.pattern = o->p->pattern,
		.op = o->p->op ? "read" : "write",
		.loss = x->at[RDMA_LOSS],
		.drop_control = x->at[RDMA_DROP_CONTROL],
		.delayed = x->at[RDMA_DELAYED],
		.delay_us = x->at[RDMA_DELAY_NS] / 1000,
		.rto_us = x->at[RDMA_RTO_NS] / 1000,
		.size = x->bytes,
		.mtu = x->sim.mtu,
		.window = x->sim.window,
		.sender_window = x->sim.sender_window,
		.buffer = x->sim.buffer,
		.contexts_limit = x->sim.contexts,
		.standing = fab_rdma_standing_name[r->standing],
		.verdict = fab_rdma_verdict_name[x->choice.verdict],
		.runs = s->n_runs,
		.transfers = s->n_transfers,
		.done = s->n_done,
		.hung = s->n_hung,
		.wrong = s->n_wrong,
		.no_path = s->n_no_path,
		.stalled = s->n_stalled,
		.simulate_seconds = s->simulate_seconds,
		.total_seconds = r->total_seconds,
		.shard = fab_cli_shard_text(&o->p->shard),
	};
	set_times(row, r);
	set_packets(row, s);
	set_state(row, o, r);
}
