/* SPDX-License-Identifier: BSD-2-Clause */
#include "mcast/tables.h"

#include "base/arena.h"
#include "base/sets.h"

/* Arrays by switch, port or cable hold for the group at hand where their stamp is its. */
struct walk {
	const struct fab_fabric *f;
	const struct fab_groups *groups;
	const struct fab_mft *mft;
	const struct fab_weights *weights; /* may be NULL */
	struct fab_loaded *out;
	uint32_t stamp;
	uint32_t *is_out;    /* [n_ports] == stamp: packets leave by it */
	uint32_t *is_used;   /* [n_switch_links] == stamp */
	uint32_t *seen;	     /* [n_switches] == stamp: parent, n_members and entry hold */
	uint32_t *parent;    /* [n_switches] union-find */
	uint32_t *n_members; /* [n_switches] of the part that a top switch represents */
	uint64_t *entry;     /* [n_switches] first of the switch in the row */
	uint32_t *hops_of, *hops, *queue; /* [n_switches] of a search, by its number */
	uint32_t search;
	struct fab_broken fault[FAB_N_BROKEN_KINDS];
};

const char *fab_broken_name(enum fab_broken_kind kind)
{
	static const char *const names[FAB_N_BROKEN_KINDS] = {"loop", "cut-off",
							      "one-sided", "no-cable"};

	return names[kind];
}

/* One more fault of a kind; the first says where. */
static void note(struct walk *w, enum fab_broken_kind kind, uint32_t sw, uint16_t port)
{
	struct fab_broken *fault = &w->fault[kind];

	if (!fault->count) {
		fault->sw = sw;
		fault->port = port;
	}
	fault->count++;
}

static void meet(struct walk *w, uint32_t sw, uint64_t entry)
{
	if (w->seen[sw] == w->stamp)
		return;
	w->seen[sw] = w->stamp;
	w->parent[sw] = sw;
	w->n_members[sw] = 0;
	w->entry[sw] = entry;
}

/* The switch at the other end of an out port, FAB_NONE: none. */
static uint32_t next_switch(const struct walk *w, uint64_t e)
{
	uint32_t port = w->mft->port[e], peer;

	if (port == FAB_NONE || !w->mft->num[e])
		return FAB_NONE;
	peer = fab_port_peer(w->f, port);
	if (peer == FAB_NONE || !fab_node_is_switch(w->f, w->f->port_node[peer]))
		return FAB_NONE;
	return w->f->port_node[peer];
}

/* An out port that leads to a switch. */
static void follow(struct walk *w, uint64_t e, uint64_t no_entry)
{
	uint32_t sw = w->mft->sw[e], port = w->mft->port[e], to = next_switch(w, e);
	uint32_t cable;

	if (to == FAB_NONE)
		return;
	if (w->is_out[fab_port_peer(w->f, port)] != w->stamp)
		note(w, FAB_BROKEN_ONE_SIDED, sw, w->mft->num[e]);
	cable = w->f->port_cable[port];
	if (w->is_used[cable] == w->stamp)
		return;
	w->is_used[cable] = w->stamp;
	w->out->load[cable]++;
	if (w->weights)
		w->out->weighted[cable] +=
			w->weights->demand[w->stamp - 1] / w->weights->capacity[cable];
	meet(w, to, no_entry);
	if (fab_sets_root(w->parent, sw) == fab_sets_root(w->parent, to))
		note(w, FAB_BROKEN_LOOP, sw, w->mft->num[e]);
	else
		fab_sets_unite(w->parent, sw, to);
}

/* The port of its switch by which a member is reached. */
static uint32_t port_to(const struct fab_fabric *f, uint32_t member)
{
	return fab_node_is_switch(f, f->port_node[member]) ? member
							   : fab_port_peer(f, member);
}

/* Members out of reach of the part with the most of them. */
static void find_cut_off(struct walk *w, uint32_t group)
{
	const struct fab_groups *g = w->groups;
	uint32_t best = FAB_NONE, most = 0;

	for (uint64_t m = g->first[group]; m < g->first[group + 1]; m++) {
		uint32_t port = port_to(w->f, g->member[m]), top;

		if (w->is_out[port] != w->stamp)
			continue;
		top = fab_sets_root(w->parent, w->f->port_node[port]);
		if (++w->n_members[top] > most) {
			most = w->n_members[top];
			best = top;
		}
	}
	for (uint64_t m = g->first[group]; m < g->first[group + 1]; m++) {
		uint32_t port = port_to(w->f, g->member[m]), sw = w->f->port_node[port];

		if (w->is_out[port] != w->stamp || fab_sets_root(w->parent, sw) != best)
			note(w, FAB_BROKEN_CUT_OFF, sw, w->f->port_num[port]);
	}
}

/* Search along the group's cables; the member's switch farthest from `from`. */
static uint32_t farthest(struct walk *w, uint32_t group, uint32_t row, uint32_t from,
			 uint32_t *hops)
{
	const struct fab_groups *g = w->groups;
	uint64_t end = w->mft->first[row + 1];
	uint32_t head = 0, tail = 0, best = from;

	w->search++;
	w->hops_of[from] = w->search;
	w->hops[from] = 0;
	w->queue[tail++] = from;
	while (head < tail) {
		uint32_t sw = w->queue[head++];

		for (uint64_t e = w->entry[sw]; e < end && w->mft->sw[e] == sw; e++) {
			uint32_t to = next_switch(w, e);

			if (to == FAB_NONE || w->hops_of[to] == w->search)
				continue;
			w->hops_of[to] = w->search;
			w->hops[to] = w->hops[sw] + 1;
			w->queue[tail++] = to;
		}
	}
	for (uint64_t s = g->sw_first[group]; s < g->sw_first[group + 1]; s++)
		if (w->hops[g->sw[s]] > w->hops[best])
			best = g->sw[s];
	*hops = w->hops[best];
	return best;
}

static void walk_group(struct walk *w, uint32_t group, uint16_t mlid)
{
	uint32_t row = fab_mft_find(w->mft, mlid);
	bool is_broken = false;

	w->stamp = group + 1;
	for (int k = 0; k < FAB_N_BROKEN_KINDS; k++)
		w->fault[k] = (struct fab_broken){.group = group,
						  .kind = (enum fab_broken_kind)k};
	if (row != FAB_NONE) {
		uint64_t first = w->mft->first[row], end = w->mft->first[row + 1];

		for (uint64_t e = first; e < end; e++) {
			uint32_t port = w->mft->port[e];

			meet(w, w->mft->sw[e], e);
			if (w->mft->num[e] &&
			    (port == FAB_NONE || w->f->port_cable[port] == FAB_NONE))
				note(w, FAB_BROKEN_NO_CABLE, w->mft->sw[e],
				     w->mft->num[e]);
			if (port != FAB_NONE)
				w->is_out[port] = w->stamp;
		}
		for (uint64_t e = first; e < end; e++)
			follow(w, e, end);
	}
	if (fab_group_size(w->groups, group) > 1)
		find_cut_off(w, group);
	for (int k = 0; k < FAB_N_BROKEN_KINDS; k++) {
		if (!w->fault[k].count)
			continue;
		FAB_PUSH(&w->out->broken, w->fault[k]);
		is_broken = true;
	}
	w->out->n_broken += is_broken;
	if (!is_broken && row != FAB_NONE && fab_group_size(w->groups, group) > 1) {
		/* Half of the longest path between two members' switches, rounded up. */
		uint32_t from = w->groups->sw[w->groups->sw_first[group]], hops;

		from = farthest(w, group, row, from, &hops);
		farthest(w, group, row, from, &hops);
		if ((hops + 1) / 2 > w->out->max_height)
			w->out->max_height = (hops + 1) / 2;
	}
}

void fab_loaded_of(const struct fab_fabric *f, const struct fab_groups *groups,
		   const uint16_t *mlid, const struct fab_mft *mft,
		   const struct fab_weights *weights, struct fab_loaded *out)
{
	FAB_AUTO(fab_arena_free) struct fab_arena a = FAB_ARENA_INIT;
	struct walk w = {.f = f,
			 .groups = groups,
			 .mft = mft,
			 .weights = weights,
			 .out = out,
			 .is_out = FAB_ARENA_NEW0(&a, f->n_ports, uint32_t),
			 .is_used = FAB_ARENA_NEW0(&a, f->n_switch_links, uint32_t),
			 .seen = FAB_ARENA_NEW0(&a, f->n_switches, uint32_t),
			 .parent = FAB_ARENA_NEW(&a, f->n_switches, uint32_t),
			 .n_members = FAB_ARENA_NEW(&a, f->n_switches, uint32_t),
			 .entry = FAB_ARENA_NEW(&a, f->n_switches, uint64_t),
			 .hops_of = FAB_ARENA_NEW0(&a, f->n_switches, uint32_t),
			 .hops = FAB_ARENA_NEW(&a, f->n_switches, uint32_t),
			 .queue = FAB_ARENA_NEW(&a, f->n_switches, uint32_t)};

	*out = (struct fab_loaded){.load = FAB_NEW0(f->n_switch_links, uint32_t)};
	if (weights)
		out->weighted = FAB_NEW0(f->n_switch_links, double);
	for (uint32_t i = 0; i < groups->n; i++)
		walk_group(&w, i, mlid[i]);
}

void fab_loaded_fini(struct fab_loaded *loaded)
{
	FAB_FREE_ALL(loaded->load, loaded->weighted, loaded->broken.v);
	*loaded = (struct fab_loaded){0};
}
