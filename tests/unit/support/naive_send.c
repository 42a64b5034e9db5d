/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/naive_impl.h"

#include "unicast/path.h"

void naive_pull(struct naive *n, uint32_t e)
{
	struct message *m = &n->sending[e];

	m->is_there = n->messages->next(n->messages->context, e, n->now, &m->m) &&
		      m->m.time < 1ull << 48;
	m->is_born = false;
	m->left = m->m.bytes;
}

/* Service level and column of a message, FAB_SL_NONE: it cannot be sent. */
static unsigned find(const struct naive *n, uint32_t e, const struct fab_message *m,
		     uint32_t *column)
{
	const struct fab_routes *r = n->p->routes;
	struct fab_endpoint to = {.port = n->p->ends->port[m->target],
				  .node = n->p->f->port_node[n->p->ends->port[m->target]],
				  .sw = n->p->ends->sw[m->target]};
	uint32_t node = n->p->f->port_node[n->p->ends->port[e]], row = FAB_NONE;

	*column = fab_path_column(r, &to);
	if (*column == FAB_NONE)
		return FAB_SL_NONE;
	for (uint32_t i = 0; i < r->n_sl_sources; i++)
		if (r->sl_source[i] == n->p->ends->sw[e] && row == FAB_NONE)
			row = i;
		else if (r->sl_source[i] == node)
			row = i;
	if (!r->sl)
		return 0;
	return row == FAB_NONE ? r->sl_default
			       : r->sl[(size_t)row * r->n_columns + *column];
}

/* Give up what has no path; returns false when the endpoint has nothing to send now. */
static bool is_sending(struct naive *n, uint32_t e, uint32_t *column, unsigned *sl)
{
	struct message *m = &n->sending[e];

	while (m->is_there && m->m.time <= n->now) {
		bool in_tree = false;

		if (!m->m.to_group) {
			*sl = find(n, e, &m->m, column);
			if (*sl < 16)
				return true;
		} else {
			uint32_t sw = n->p->ends->sw[e];

			*sl = 0;
			for (uint32_t out = 0; out < naive_n_ports(n, sw); out++)
				in_tree |= naive_is_of_group(n, m->m.target, sw, out);
			if (in_tree)
				return true;
		}
		n->result->lost += (m->left + n->params->mtu - 1) / n->params->mtu;
		naive_note(n, n->now + naive_giving_up(n), e, true,
			   (struct fab_delivery){.birth = m->m.time,
						 .source = e,
						 .target = m->m.target,
						 .tag = m->m.tag,
						 .to_group = m->m.to_group,
						 .is_lost = true});
		naive_pull(n, e);
	}
	return false;
}

void naive_inject(struct naive *n, uint32_t e)
{
	uint32_t o = n->n_out - n->p->ends->n + e, column = 0, payload, size;
	struct message *m = &n->sending[e];
	struct packet p = {.exists = true, .source = e, .sw = n->p->ends->sw[e]};
	unsigned sl = 0, vl;

	if (n->out_busy[o] > n->now || !is_sending(n, e, &column, &sl))
		return;
	vl = n->n_vls == 1 ? 0 : sl % n->n_vls;
	if (n->params->chooser)
		vl = n->n_vls - 1;
	payload = m->left < n->params->mtu ? m->left : n->params->mtu;
	size = payload + (m->m.to_group ? n->params->group_header : n->params->header);
	if (naive_room(n, o, vl) < naive_units(n, size))
		return;
	naive_take(n, o, vl, naive_units(n, size));
	if (m->m.to_group && !m->is_born) {
		struct flight f = {.is_open = true, .m = m->m, .source = e};

		m->id = (uint32_t)n->flights.n;
		FAB_PUSH(&n->flights, f);
	}
	m->is_born = true;
	m->left -= payload;
	p.in = naive_port_of_end(n, e);
	p.ready = n->now + n->params->cable_delay + n->params->switch_delay;
	p.birth = m->m.time;
	p.target = m->m.target;
	p.message = m->id;
	p.size = size;
	p.column = column;
	p.vl_in = vl;
	p.sl = sl;
	p.hops = 1;
	p.to_group = m->m.to_group;
	p.is_last = !m->left;
	p.tag = m->m.tag;
	p.number = ++n->n_sent;
	naive_add_packet(n, p);
	naive_record(n, &p, n->p->ends->port[e], vl, 0);
	n->out_busy[o] =
		n->now + naive_wire(n, n->p->f->port_cable[n->p->ends->port[e]], size);
	if (p.to_group) {
		n->flights.v[m->id].n++;
		n->flights.v[m->id].is_open = m->left > 0;
	}
	if (!m->left)
		naive_pull(n, e);
}
