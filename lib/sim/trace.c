/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first packets hop by hop. Each part keeps the steps of those packets that may be
 * among the first ones created; which packet a step is of is found when the run is done.
 */
#include <stdlib.h>

#include "base/order.h"
#include "sim/hot.h"

/* Put a time of creation into the heap of the N earliest ones of a part, the latest of
 * them first. Returns false when N others are earlier. */
static bool note_birth(struct sim_part *p, uint64_t birth)
{
	uint32_t most = p->sim->params->n_traced;
	size_t at = p->earliest.n, child;
	uint64_t *v;

	if (at < most) {
		FAB_PUSH(&p->earliest, birth);
		v = p->earliest.v;
		for (; at && v[(at - 1) / 2] < birth; at = (at - 1) / 2)
			v[at] = v[(at - 1) / 2];
		v[at] = birth;
		return true;
	}
	v = p->earliest.v;
	if (birth >= v[0])
		return birth == v[0];
	for (at = 0; (child = 2 * at + 1) < most; at = child) {
		child += child + 1 < most && v[child + 1] > v[child];
		if (v[child] <= birth)
			break;
		v[at] = v[child];
	}
	v[at] = birth;
	return true;
}

bool sim_is_traced(struct sim_part *p, uint64_t birth)
{
	const struct sim *s = p->sim;

	if (s->params->with_deliveries)
		return true;
	return s->params->n_traced && sim_in_window(s, birth) && note_birth(p, birth);
}

void sim_trace(struct sim_part *p, const struct sim_packet *packet, uint32_t port,
	       unsigned vl)
{
	uint32_t wait = (uint32_t)p->now - packet->since;
	struct fab_sim_step step = {.birth = packet->birth,
				    .arrived =
					    packet->hops ? p->now - wait : packet->birth,
				    .left = p->now,
				    .source = sim_endpoint_of(packet),
				    .target = packet->target,
				    .port = p->sim->net.fabric_port[port],
				    .hop = packet->hops,
				    .vl = (uint8_t)vl,
				    .to_group = packet->source & SIM_TO_GROUP};

	FAB_PUSH(&p->trace, step);
}

/* By message. All packets of a message on one cable at the same hop follow each other;
 * or as a packet went, copies of multicast at one hop by time. */
#define MESSAGE FAB_UP(source) FAB_UP(birth) FAB_UP(to_group) FAB_UP(target)
FAB_ORDER_MIXED(cmp_message, struct fab_sim_step, MESSAGE)
FAB_ORDER_MIXED(cmp_cable, struct fab_sim_step,
		MESSAGE FAB_UP(hop) FAB_UP(port) FAB_UP(left))
FAB_ORDER_MIXED(cmp_step, struct fab_sim_step,
		MESSAGE FAB_UP(packet) FAB_UP(hop) FAB_UP(left) FAB_UP(port))

/* The steps of a packet: `n` from `first` on. */
struct traced {
	const struct fab_sim_step *first;
	size_t n;
};

/* An endpoint sends one packet at a time. */
FAB_ORDER(cmp_traced, struct traced, first->birth, first->source, first->left)

/*
 * Number the packets of each message, then number the first packets of all. Tables are
 * static, and queues of one input, output and lane are in order: the packets of a
 * message, and messages created at one time by one endpoint to the same target, pass each
 * cable in the order in which they were sent.
 */
void sim_take_trace(const struct sim *s, struct fab_sim_result *r)
{
	FAB_VEC(struct fab_sim_step) all = {0};
	FAB_AUTOFREE FAB_VEC(struct traced) packets = {0};
	struct fab_sim_step *v;
	size_t n;

	for (uint32_t i = 0; i < s->n_parts; i++)
		for (size_t k = 0; k < s->part[i].trace.n; k++)
			FAB_PUSH(&all, s->part[i].trace.v[k]);
	v = all.v;
	FAB_SORT(&all, cmp_cable);
	for (size_t i = 0; i < all.n; i++) {
		v[i].packet = 0;
		if (i && !cmp_message(&v[i - 1], &v[i]) && v[i - 1].hop == v[i].hop &&
		    v[i - 1].port == v[i].port)
			v[i].packet = v[i - 1].packet + 1;
	}
	FAB_SORT(&all, cmp_step);
	for (size_t k = 0; k < all.n; k++) {
		if (!v[k].hop)
			FAB_PUSH(&packets, ((struct traced){&v[k], 0}));
		packets.v[packets.n - 1].n++;
	}
	FAB_SORT(&packets, cmp_traced);
	n = packets.n;
	if (!s->params->with_deliveries && n > s->params->n_traced)
		n = s->params->n_traced;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < packets.v[i].n; k++) {
			struct fab_sim_step step = packets.v[i].first[k];
			const struct sim_part *sender =
				&s->part[s->end_part[step.source]];

			step.packet = (uint32_t)i + 1;
			if (step.to_group)
				step.target = sender->message.v[step.target].group;
			FAB_PUSH(&r->trace, step);
		}
	free(all.v);
}
