/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers that lose packets: each output has a queue, first come, first served, whatever
 * the inputs, and no lanes. What arrives (a packet whose head may leave) takes room for
 * all of it, until its tail has left, or is lost: whole (tail), or without its payload
 * (trim: Cheng et al. 2014, Handley et al., "Re-architecting datacenter networks and
 * stacks for low latency and high performance", SIGCOMM 2017). Headers, and packets that
 * the host calls urgent, have a queue of their own, which is served first. A packet is
 * marked (ECN) when it finds more than a threshold in the queue.
 */
#include "sim/hot.h"

static struct fab_choice choice_at(size_t i)
{
	static const struct fab_choice choice[] = {
		{"none", "credits: nothing is sent to a full buffer",
		 "Nothing is sent to a full buffer: credits, as in InfiniBand.", true},
		{"tail", "what arrives at a full buffer is lost",
		 "What arrives at a full buffer is lost.", true},
		{"trim", "its payload is lost, and the header goes on first",
		 "A packet that arrives at a full buffer loses its payload; its header goes on before all payload, so that the receiver knows.",
		 true},
	};

	return choice[i];
}

const struct fab_choices fab_sim_drop_choices = {.what = "drop", .n = 3, .at = choice_at};

/* Bytes of the data queue of an output beyond its private part: in the part that all
 * outputs of the switch share. */
static int32_t beyond(const struct sim *s, int32_t credits)
{
	int32_t more = s->lane_room - credits - (int32_t)s->params->buffer_private;

	return more > 0 ? more : 0;
}

/* Room in a lane of an output; that of data may be shared. */
static bool take(struct sim *s, uint32_t out, unsigned vl, uint32_t size)
{
	int32_t *credits = sim_credits(s, out, vl), left = *credits - (int32_t)size;
	int64_t *room = !vl && s->room ? &s->room[s->port[out].sw] : NULL;
	int32_t more = room ? beyond(s, left) - beyond(s, *credits) : 0;

	if (room ? more > *room : left < 0)
		return false;
	*credits = left;
	if (room)
		*room -= more;
	return true;
}

bool sim_admit(struct sim_part *p, uint32_t in, uint32_t id, uint32_t out, unsigned *vl)
{
	struct sim *s = p->sim;
	const struct fab_sim_params *params = s->params;
	struct sim_packet *packet = sim_packet(p, id);
	bool trims = params->drop == FAB_SIM_TRIM;
	uint32_t header = params->header ? params->header : 1;

	*vl = trims && packet->sl & (SIM_TRIMMED | SIM_URGENT);
	if (take(s, out, *vl, packet->size)) {
		int64_t queued = (int64_t)s->lane_room - *sim_credits(s, out, 0);

		if (!*vl && params->ecn && !(packet->sl & SIM_MARKED) &&
		    queued - packet->size > params->ecn) {
			packet->sl |= SIM_MARKED;
			p->sums.marked++;
		}
		return true;
	}
	if (trims && !*vl && packet->size > header) {
		packet->size = (uint16_t)header;
		packet->sl |= SIM_TRIMMED;
		p->sums.trimmed++;
		*vl = 1;
		if (take(s, out, 1, header))
			return true;
	}
	sim_drop(p, in, id, SIM_FULL);
	return false;
}

void sim_leave(struct sim_part *p, uint32_t out)
{
	struct sim *s = p->sim;
	struct sim_port *port = &s->port[out];
	uint32_t size = (uint32_t)(port->busy >> 1);
	unsigned vl = port->busy & 1;
	int32_t *credits = sim_credits(s, out, vl), before = *credits;

	*credits += (int32_t)size;
	if (!vl && s->room)
		s->room[port->sw] += beyond(s, before) - beyond(s, *credits);
}
