/* SPDX-License-Identifier: BSD-2-Clause */
/* Ends and flows that are lost: cut off by dead parts, or without a path in the tables.
 */
#include "unicast/analysis.h"

#include "base/mem.h"
#include "fabric/planes.h"
#include "unicast/faults.h"
#include "unicast/path.h"

#include <stdlib.h>

/* Is the port of an adapter cabled to a switch? */
static bool is_cabled(const struct fab_fabric *f, uint32_t port)
{
	return f->port_node[port] >= f->n_switches &&
	       fab_port_switch(f, port) != FAB_NONE;
}

/* Of a cabled port: is its path to the switch alive? */
static bool is_left(const struct fab_faults *faults, uint32_t port)
{
	return fab_faults_port_switch(faults->f, faults, port) != FAB_NONE;
}

enum { HAD = 1, HAS = 2 };

/* Is it a port of a host's adapter that is cabled to a switch? */
static bool is_rail(const struct fab_fabric *f, uint32_t port)
{
	return f->node_kind[f->port_node[port]] == FAB_ADAPTER && is_cabled(f, port);
}

/* Ports of each host that are lost, and that are left. */
static uint8_t *host_states(const struct fab_faults *faults)
{
	const struct fab_fabric *f = faults->f;
	uint8_t *state = FAB_NEW0((size_t)f->n_hosts + 1, uint8_t);

	for (uint32_t p = 0; p < f->n_ports; p++) {
		uint32_t host = f->node_host[f->port_node[p]];

		if (is_rail(f, p) && host != FAB_NONE)
			state[host] |= is_left(faults, p) ? HAS : HAD;
	}
	return state;
}

void fab_lost_ports(const struct fab_faults *faults, struct fab_lost_ports *out)
{
	const struct fab_fabric *f = faults->f;
	FAB_AUTOFREE uint8_t *state = host_states(faults);

	out->of.n = 0;
	for (int is_host = 1; is_host >= 0; is_host--)
		for (uint32_t p = 0; p < f->n_ports; p++) {
			uint32_t host = f->node_host[f->port_node[p]];
			bool is_cut = host == FAB_NONE || state[host] == HAD;

			if (is_rail(f, p) && !is_left(faults, p) &&
			    is_cut == (is_host == 1))
				FAB_PUSH(&out->of, ((struct fab_lost_port){p, is_cut}));
		}
}

/* Sources and targets, without faults and with them. */
struct ends {
	uint64_t sources, targets, sources_left, targets_left;
};

/* Ends of each part: [parts], and of all. */
struct tally {
	const struct fab_planes *planes;
	struct ends *of_part, all;
};

static void add_to(struct ends *e, bool is_live, uint32_t n_targets)
{
	e->sources++;
	e->targets += n_targets;
	e->sources_left += is_live;
	e->targets_left += is_live ? n_targets : 0;
}

static void add(struct tally *t, uint32_t sw, bool is_live, uint32_t n_targets)
{
	add_to(&t->all, is_live, n_targets);
	add_to(&t->of_part[t->planes->of_switch[sw]], is_live, n_targets);
}

static void count_leaves(const struct fab_faults *faults, const struct fab_kfat *kfat,
			 struct tally *t)
{
	const struct fab_fabric *f = faults->f;
	FAB_AUTOFREE uint8_t *state = FAB_NEW0((size_t)f->n_switches + 1, uint8_t);

	for (uint32_t i = 0; kfat && i < kfat->n_leaves; i++)
		state[kfat->leaf[i]] = faults->switch_is_dead[kfat->leaf[i]] ? HAD : HAS;
	for (uint32_t p = 0; !kfat && p < f->n_ports; p++)
		if (f->node_kind[f->port_node[p]] == FAB_ADAPTER && is_cabled(f, p))
			state[fab_port_switch(f, p)] |= is_left(faults, p) ? HAS : HAD;
	for (uint32_t s = 0; s < f->n_switches; s++)
		if (state[s])
			add(t, s, state[s] >= HAS, 1);
}

struct fab_lost fab_lost_count(const struct fab_faults *faults,
			       const struct fab_kfat *kfat, enum fab_ends ends,
			       const struct fab_planes *planes)
{
	const struct fab_fabric *f = faults->f;
	struct fab_lost lost = {0};
	FAB_AUTO(fab_planes_free_at)
	struct fab_planes *own = planes ? NULL : fab_planes_new(f);
	FAB_AUTOFREE struct ends *of_part = NULL;
	FAB_AUTOFREE uint8_t *state = host_states(faults);
	struct tally t = {.planes = planes ? planes : own};
	struct ends on_planes = {0};
	uint64_t all = 0, left = 0;

	t.of_part = of_part = FAB_NEW0(t.planes->n, struct ends);
	for (uint32_t p = 0; p < f->n_ports; p++)
		lost.adapters += is_rail(f, p) && !is_left(faults, p);
	for (uint32_t h = 0; h < f->n_hosts; h++) {
		lost.hosts += state[h] == HAD;
		lost.rail_hosts += state[h] == (HAD | HAS);
	}
	if (ends == FAB_ENDS_LEAVES)
		count_leaves(faults, kfat, &t);
	for (uint32_t p = 0; ends != FAB_ENDS_LEAVES && p < f->n_ports; p++) {
		uint32_t node = f->port_node[p];
		bool is_end =
			fab_node_is_switch(f, node)
				? ends == FAB_ENDS_ALL && !f->port_num[p]
				: is_cabled(f, p) && (ends != FAB_ENDS_HOSTS ||
						      f->node_kind[node] == FAB_ADAPTER);

		if (is_end)
			add(&t, fab_port_switch(f, p), is_left(faults, p),
			    fab_port_n_lids(f, p));
	}
	/* Pairs of which an end is cut off: those of all ends, less those across planes.
	 */
	for (uint32_t i = 0; i < t.planes->n_planes; i++) {
		on_planes.sources += t.of_part[i].sources;
		on_planes.sources_left += t.of_part[i].sources_left;
	}
	if (t.all.sources)
		all = t.all.targets * (t.all.sources - 1);
	if (t.all.sources_left)
		left = t.all.targets_left * (t.all.sources_left - 1);
	for (uint32_t i = 0; i < t.planes->n_planes; i++) {
		const struct ends *e = &t.of_part[i];

		all -= e->targets * (on_planes.sources - e->sources);
		left -= e->targets_left * (on_planes.sources_left - e->sources_left);
	}
	lost.pairs = all - left;
	return lost;
}

void fab_permutation_load(const struct fab_routes *r, const struct fab_flow_ends *ends,
			  const uint32_t *to, struct fab_flow_load *out)
{
	const struct fab_fabric *f = r->f;
	FAB_AUTOFREE uint64_t *load = FAB_NEW0(f->arc_first[f->n_switches] + 1, uint64_t);
	FAB_AUTOFREE uint32_t *column =
		fab_path_columns(r, ends->n, ends->sw, ends->port);
	FAB_AUTOFREE uint32_t *row = fab_routes_sl_rows(r);
	uint64_t n = 0, sum = 0;

	*out = (struct fab_flow_load){0};
	for (uint32_t i = 0; i < ends->n; i++) {
		uint32_t sw = ends->sw[i], c;
		struct fab_path path;

		if (to[i] == FAB_NONE || to[i] == i)
			continue;
		out->flows++;
		c = column[to[i]];
		if (c == FAB_NONE || fab_routes_level(r, row[sw], c) == FAB_SL_NONE ||
		    fab_path_length(r, sw, c) == FAB_NONE) {
			out->lost++;
			continue;
		}
		path = fab_path_from(r, sw, c);
		while (fab_path_step(&path))
			load[path.arc]++;
	}
	for (uint32_t a = 0; a < f->arc_first[f->n_switches]; a++) {
		if (!fab_cable_is_live(r->faults, f->arc_cable[a]))
			continue;
		n++;
		sum += load[a];
		if (load[a] > out->max)
			out->max = load[a];
	}
	out->mean = n ? (double)sum / (double)n : 0;
}
