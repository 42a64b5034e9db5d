/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/planes.h"

#include "base/arena.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t fab_planes_of_port(const struct fab_planes *planes, const struct fab_fabric *f,
			    fab_port_id port)
{
	uint32_t sw = fab_port_switch(f, port);

	return sw == FAB_NONE ? FAB_NONE : planes->of_switch[sw];
}

/* Parts that nodes are on; each once for one mark. */
struct on_parts {
	uint32_t *seen; /* [parts] the last mark */
	FAB_VEC(uint32_t) list;
};

static void add_parts(struct on_parts *on, const struct fab_planes *planes,
		      const struct fab_fabric *f, uint32_t node, uint32_t mark)
{
	FAB_EACH_PORT(f, node, p) {
		uint32_t part = fab_planes_of_port(planes, f, p);

		if (part == FAB_NONE || on->seen[part] == mark)
			continue;
		on->seen[part] = mark;
		FAB_PUSH(&on->list, part);
	}
}

/* Which parts are planes, by the hosts that are on them: those of host h are
 * list[first[h] .. first[h + 1]). */
static void find_planes(struct fab_planes *p, uint32_t n_hosts, const uint32_t *first,
			const uint32_t *list)
{
	for (uint32_t k = 0; k < first[n_hosts]; k++)
		p->v[list[k]].n_hosts++;
	for (uint32_t r = 1; r < p->n; r++) {
		const struct fab_plane *a = &p->v[r], *b = &p->v[p->largest];

		if (a->n_hosts != b->n_hosts ? a->n_hosts > b->n_hosts
					     : a->n_switches > b->n_switches)
			p->largest = r;
	}
	for (uint32_t h = 0; h < n_hosts; h++) {
		bool is_shared = false;

		for (uint32_t k = first[h]; k < first[h + 1]; k++)
			is_shared |= list[k] == p->largest;
		for (uint32_t k = first[h]; k < first[h + 1]; k++)
			p->v[list[k]].n_shared += is_shared;
	}
	for (uint32_t m = 0; m < p->n; m++) {
		struct fab_plane *v = &p->v[m];

		v->is_plane = m == p->largest ||
			      (v->n_hosts &&
			       2 * (uint64_t)v->n_shared >= p->v[p->largest].n_hosts);
		p->n_planes += v->is_plane;
	}
	for (uint32_t h = 0; h < n_hosts; h++) {
		uint32_t n = 0;

		for (uint32_t k = first[h]; k < first[h + 1]; k++)
			n += p->v[list[k]].is_plane;
		p->n_hosts += n > 0;
		p->n_on_all += n == p->n_planes;
	}
}

struct fab_planes *fab_planes_new(const struct fab_fabric *f)
{
	struct fab_planes *p = FAB_NEW0(1, struct fab_planes);
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	uint32_t *first = FAB_ARENA_NEW(&arena, (size_t)f->n_hosts + 1, uint32_t);
	struct on_parts on = {0};
	struct fab_plane *v;
	uint32_t *at, n = 0;

	p->of_switch = FAB_NEW(f->n_switches, uint32_t);
	p->n = fab_fabric_components(f, p->of_switch);
	v = p->v = FAB_ARENA_NEW0(&arena, p->n, struct fab_plane);
	for (uint32_t s = f->n_switches; s-- > 0;) {
		v[p->of_switch[s]].n_switches++;
		v[p->of_switch[s]].first_switch = s;
	}
	for (uint32_t c = 0; c < f->n_switch_links + f->n_host_links; c++) {
		struct fab_plane *part = &v[p->of_switch[f->port_node[f->cable_a[c]]]];

		part->n_switch_links += c < f->n_switch_links;
		part->n_host_links += c >= f->n_switch_links;
	}
	on.seen = fab_arena_none(&arena, p->n);
	for (uint32_t i = f->n_switches; i < f->n_nodes; i++)
		if (f->node_kind[i] != FAB_ROUTER)
			add_parts(&on, p, f, i, i);
	for (size_t k = 0; k < on.list.n; k++)
		v[on.list.v[k]].n_adapters++;
	on.list.n = 0;
	memset(on.seen, 0xff, p->n * sizeof(*on.seen));
	for (uint32_t h = 0; h < f->n_hosts; h++) {
		first[h] = (uint32_t)on.list.n;
		FAB_EACH_ADAPTER(f, h, i)
			add_parts(&on, p, f, f->host_adapter[i], h);
	}
	first[f->n_hosts] = (uint32_t)on.list.n;
	find_planes(p, f->n_hosts, first, on.list.v);
	/* Planes go before other parts; both stay in the order of their switches. */
	p->v = FAB_NEW(p->n, struct fab_plane);
	at = FAB_ARENA_NEW(&arena, p->n, uint32_t);
	for (int is_plane = 1; is_plane >= 0; is_plane--)
		for (uint32_t i = 0; i < p->n; i++)
			if (v[i].is_plane == is_plane) {
				p->v[n] = v[i];
				at[i] = n++;
			}
	for (uint32_t s = 0; s < f->n_switches; s++)
		p->of_switch[s] = at[p->of_switch[s]];
	p->largest = at[p->largest];
	free(on.list.v);
	return p;
}

void fab_planes_free(struct fab_planes *planes)
{
	if (!planes)
		return;
	FAB_FREE_ALL(planes->of_switch, planes->v, planes);
}

char *fab_planes_apart(const struct fab_planes *planes, const struct fab_fabric *f,
		       fab_port_id a, fab_port_id b)
{
	uint32_t x = fab_planes_of_port(planes, f, a);
	uint32_t y = fab_planes_of_port(planes, f, b);
	char at_x[FAB_PLANE_TEXT_SIZE], at_y[FAB_PLANE_TEXT_SIZE];

	if (x == y || x == FAB_NONE || y == FAB_NONE)
		return NULL;
	return fab_format(
		"no path from \"%.80s\" (%s) to \"%.80s\" (%s): %s",
		fab_node_name(f, f->port_node[a]), fab_plane_text(planes, x, at_x),
		fab_node_name(f, f->port_node[b]), fab_plane_text(planes, y, at_y),
		fab_planes_are_parallel(planes, x, y)
			? "adapters do not forward; --hca=PATTERN chooses one plane"
			: "no cable joins these parts of the fabric");
}

char *fab_plane_text(const struct fab_planes *planes, uint32_t part, char *out)
{
	bool is_plane = planes->v[part].is_plane && planes->n_planes > 1;

	snprintf(out, FAB_PLANE_TEXT_SIZE, "%s %" PRIu32, is_plane ? "plane" : "part",
		 part + 1);
	return out;
}
