/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Local dodging in a run: switches of a kfat hand packets on around dead leaf switches
 * that their tables do not know (unicast/reliability.h). The row of a packet says which
 * dead leaves it has met: row + n_rows * bits. Its phase is that of the lane and the line
 * by which it came; lanes of all packets follow from phases (sim/failure.h).
 */
#include "sim/hot.h"

#include "unicast/faults.h"
#include "unicast/reliability.h"

static const struct fab_choice dodges[] = {
	{"none", "a switch drops what it has for a dead port",
	 "A switch drops what it has for a dead port, as in InfiniBand.", true},
	{"lists", "the published lists of another leaf switch",
	 "It hands the packet to the first leaf switch in the published list of its entry (Liu et al. 2022); from there by the other dimension first, then straight.",
	 true},
	{"search", "any way on that the lanes allow",
	 "Packets carry the dead leaf switches that they have met, and switches take the way on with the fewest segments.",
	 true},
};

FAB_CHOICES(fab_sim_dodge_choices, "dodge", dodges);

bool fab_sim_can_dodge(const struct fab_kfat *kfat, const struct fab_faults *dead)
{
	uint32_t n = 0, n_leaves = 0;

	for (uint32_t sw = 0; sw < dead->f->n_switches && kfat; sw++) {
		n += dead->switch_is_dead[sw];
		n_leaves += dead->switch_is_dead[sw] && kfat->leaf_of[sw] != FAB_NONE;
	}
	return n && n <= 2 && n == n_leaves && kfat->n_dims == 2 && !kfat->has_deep_lines;
}

/* A live cable of a switch to a switch of a line, or to a leaf switch: one of several by
 * the packet's target; FAB_NONE: none. */
static uint32_t cable_to(const struct sim *s, uint32_t sw, uint32_t line, uint32_t leaf,
			 uint32_t target)
{
	const struct fab_kfat *k = s->failure->plan->kfat;
	const struct sim_switch *x = &s->sw[sw];
	uint32_t n = 0, first = FAB_NONE;

	for (unsigned pass = 0; pass < 2; pass++) {
		uint32_t skip = n ? target % n : 0;

		for (uint32_t out = 0; out < x->n_arcs; out++) {
			uint32_t peer = s->port[x->port_first + out].peer, to;

			if (peer >= s->net.n_ports ||
			    s->failure->is_noticed[x->port_first + out])
				continue;
			to = s->net.port_sw[peer];
			if (line != FAB_NONE ? k->switch_line[to] != line
					     : k->leaf_of[to] != leaf)
				continue;
			if (pass && !skip--)
				return out;
			n++;
			first = out;
		}
		if (n <= 1)
			return first;
	}
	return first;
}

bool sim_dodge(const struct sim *s, uint32_t id, uint32_t in, struct sim_packet *packet,
	       struct sim_copy *to)
{
	struct sim_failure *f = s->failure;
	const struct fab_kfat *k = f->plan->kfat;
	const struct sim_switch *sw = &s->sw[id];
	uint32_t entry = sim_net_next(&s->net, packet->row, id), peer, line, leaf;
	uint32_t bits = packet->row / f->n_rows, from = FAB_NONE;
	struct fab_local_packet p = {.met = f->met};
	uint32_t met[FAB_LOCAL_REROUTE_BURST_MAX];
	int phase = -1;

	to->vl = 0;
	to->out = s->net.end_port[packet->target] - sw->port_first;
	if (entry == FAB_ARC_HERE)
		return true;
	to->out = entry;
	if (entry >= sw->n_arcs)
		return false;
	if (in < sw->n_arcs) {
		from = s->net.port_sw[s->port[sw->port_first + in].peer];
		line = k->switch_line[k->leaf_of[id] == FAB_NONE ? id : from];
		phase = 2 * packet->vl + k->line_dim[line];
	}
	p.to = k->leaf_of[s->net.port_sw[s->net.end_port[packet->target]]];
	peer = s->net.port_sw[s->port[sw->port_first + entry].peer];
	if (k->leaf_of[id] == FAB_NONE) {
		/* at a switch of a line: which leaf */
		line = k->switch_line[id];
		leaf = k->leaf_of[peer];
		for (uint32_t i = 0; i < f->n_met; i++)
			if (leaf == f->met[i] && leaf != p.to &&
			    f->is_noticed[sw->port_first + entry])
				bits |= 1u << i;
		while (bits) {
			p.n_met = 0;
			for (uint32_t i = 0; i < f->n_met; i++)
				if (bits >> i & 1)
					met[p.n_met++] = f->met[i];
			p.met = met;
			leaf = fab_local_steps_line(f->steps, &p, line, k->leaf_of[from],
						    phase);
			entry = FAB_NONE;
			for (uint32_t i = 0; i < f->n_met; i++)
				if (leaf == f->met[i] && !(bits >> i & 1))
					entry = i; /* dead, too: it is met here */
			if (entry == FAB_NONE)
				break;
			bits |= 1u << entry;
		}
		if (bits) {
			uint32_t out = leaf == FAB_NONE ? FAB_NONE
							: cable_to(s, id, FAB_NONE, leaf,
								   packet->target);

			packet->row = packet->row % f->n_rows + f->n_rows * bits;
			to->out = out == FAB_NONE ? to->out : out;
		}
		to->vl = (unsigned)phase >> 1;
		return true;
	}
	/* at a leaf: which line */
	line = k->switch_line[peer];
	if (bits) {
		for (uint32_t i = 0; i < f->n_met; i++)
			if (bits >> i & 1)
				met[p.n_met++] = f->met[i];
		p.met = met;
		line = fab_local_steps_leaf(f->steps, &p, k->leaf_of[id], phase);
		if (line == FAB_NONE)
			return false;
		to->out = cable_to(s, id, line, FAB_NONE, packet->target);
		if (to->out == FAB_NONE)
			return false;
	}
	phase = fab_local_phase(phase, k->line_dim[line]);
	to->vl = (unsigned)phase >> 1;
	return phase <= FAB_LOCAL_PHASE_LAST;
}
