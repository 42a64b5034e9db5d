/* SPDX-License-Identifier: BSD-2-Clause */
/* Trees and multicast tables as rows: what a switch does with a group's packet. */
#include "sim/network.h"

#include <stdlib.h>

#include "base/mem.h"

/* A copy that a switch makes of a group's packets. */
struct copy {
	uint32_t group, sw, port; /* port: of the simulation */
};

struct copies {
	FAB_VEC(struct copy) of;
};

static int cmp_copy(const void *pa, const void *pb)
{
	const struct copy *a = pa, *b = pb;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->sw != b->sw)
		return a->sw < b->sw ? -1 : 1;
	return a->port < b->port ? -1 : a->port > b->port;
}

/* Port of the simulation of each port of the fabric: the switch's end; FAB_NONE. */
static uint32_t *ports_of_fabric(const struct sim_net *net)
{
	const struct fab_fabric *f = net->problem->f;
	uint32_t *of = FAB_NEW(f->n_ports + 1, uint32_t);

	for (uint32_t p = 0; p < f->n_ports; p++)
		of[p] = FAB_NONE;
	for (uint32_t p = 0; p < net->n_ports; p++)
		if (net->peer[p] != FAB_NONE)
			of[net->fabric_port[p]] = p;
	return of;
}

static void add(struct copies *all, uint32_t group, const struct sim_net *net,
		uint32_t port)
{
	struct copy copy;

	if (port == FAB_NONE)
		return;
	copy = (struct copy){group, net->port_sw[port], port};
	FAB_PUSH(&all->of, copy);
}

/* Both ends of each cable of a tree, and its members' cables. */
static void add_tree(const struct sim_net *net, const uint32_t *of, uint32_t g,
		     struct copies *all)
{
	const struct fab_sim_problem *p = net->problem;
	const struct fab_fabric *f = p->f;

	for (uint64_t e = p->forest->first[g]; e < p->forest->first[g + 1]; e++) {
		add(all, g, net, of[f->cable_a[p->forest->cable[e]]]);
		add(all, g, net, of[f->cable_b[p->forest->cable[e]]]);
	}
	for (uint64_t m = p->groups->first[g]; m < p->groups->first[g + 1]; m++) {
		uint32_t member = p->groups->member[m];

		if (!fab_node_is_switch(f, f->port_node[member]))
			add(all, g, net, of[fab_port_peer(f, member)]);
	}
}

static void add_table(const struct sim_net *net, const uint32_t *of, uint32_t g,
		      struct copies *all)
{
	const struct fab_mft *mft = net->problem->mft;
	uint32_t row = fab_mft_find(mft, net->problem->mlid[g]);

	for (uint64_t i = row == FAB_NONE ? 1 : mft->first[row];
	     i < (row == FAB_NONE ? 0 : mft->first[row + 1]); i++)
		if (mft->port[i] != FAB_NONE)
			add(all, g, net, of[mft->port[i]]);
}

uint32_t sim_net_group_row(const struct sim_net *net, uint32_t group, uint32_t sw)
{
	uint32_t low = net->group_row[group], high = net->group_row[group + 1];

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (net->row_sw[mid] < sw)
			low = mid + 1;
		else
			high = mid;
	}
	return low < net->group_row[group + 1] && net->row_sw[low] == sw ? low : FAB_NONE;
}

/* Rows of copies that are in order, none twice. */
static void make_rows(struct sim_net *net, const struct copies *all)
{
	uint32_t row = 0;

	net->row_sw = FAB_NEW(all->of.n + 1, uint32_t);
	net->row_first = FAB_NEW0(all->of.n + 2, uint64_t);
	net->out = FAB_NEW(all->of.n + 1, uint16_t);
	net->out_row = FAB_NEW(all->of.n + 1, uint32_t);
	for (size_t i = 0; i < all->of.n; i++) {
		const struct copy *c = &all->of.v[i];

		if (!i || c->group != c[-1].group || c->sw != c[-1].sw) {
			net->row_first[row] = i;
			net->row_sw[row++] = c->sw;
			net->group_row[c->group + 1] = row;
		}
		net->out[i] = (uint16_t)(c->port - net->port_first[c->sw]);
	}
	net->n_rows = row;
	net->row_first[row] = all->of.n;
	for (uint32_t g = 0; g < net->n_groups; g++)
		if (net->group_row[g + 1] < net->group_row[g])
			net->group_row[g + 1] = net->group_row[g];
	for (size_t i = 0; i < all->of.n; i++) {
		uint32_t peer = net->peer[all->of.v[i].port];

		net->out_row[i] = peer >= net->n_ports
					  ? all->of.v[i].group
					  : sim_net_group_row(net, all->of.v[i].group,
							      net->port_sw[peer]);
	}
}

void sim_net_add_groups(struct sim_net *net)
{
	const struct fab_sim_problem *p = net->problem;
	struct copies all = {0};
	uint32_t *of;
	size_t n = 0;

	if (!p->groups || (!p->forest && !p->mft))
		return;
	of = ports_of_fabric(net);
	net->n_groups = p->groups->n;
	net->group_row = FAB_NEW0(p->groups->n + 1, uint32_t);
	for (uint32_t g = 0; g < net->n_groups; g++) {
		if (p->mft)
			add_table(net, of, g, &all);
		else
			add_tree(net, of, g, &all);
	}
	if (all.of.n)
		qsort(all.of.v, all.of.n, sizeof(*all.of.v), cmp_copy);
	for (size_t i = 0; i < all.of.n; i++)
		if (!n || cmp_copy(&all.of.v[n - 1], &all.of.v[i]))
			all.of.v[n++] = all.of.v[i];
	all.of.n = n;
	make_rows(net, &all);
	free(all.of.v);
	free(of);
}
