/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/planes.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct work {
	const struct fab_fabric *f;
	struct fab_planes *p;
	uint32_t *seen;		/* [n] mark of who was last seen on the part */
	uint32_t *list, n_list; /* parts of the host at hand */
};

uint32_t fab_planes_of_port(const struct fab_planes *planes, const struct fab_fabric *f,
			    fab_port_id port)
{
	uint32_t sw = fab_port_switch(f, port);

	return sw == FAB_NONE ? FAB_NONE : planes->of_switch[sw];
}

/* Add the parts that a node is on to the list, each once under `mark`. */
static void list_parts(struct work *w, uint32_t node, uint32_t mark)
{
	const struct fab_fabric *f = w->f;

	for (uint32_t p = f->node_first_port[node]; p < f->node_first_port[node + 1];
	     p++) {
		uint32_t part = fab_planes_of_port(w->p, f, p);

		if (part == FAB_NONE || w->seen[part] == mark)
			continue;
		w->seen[part] = mark;
		w->list[w->n_list++] = part;
	}
}

static void list_parts_of_host(struct work *w, uint32_t host)
{
	const struct fab_fabric *f = w->f;

	w->n_list = 0;
	for (uint32_t i = f->host_first_adapter[host];
	     i < f->host_first_adapter[host + 1]; i++)
		list_parts(w, f->host_adapter[i], host);
}

static void forget(struct work *w)
{
	memset(w->seen, 0xff, w->p->n * sizeof(*w->seen));
}

static void count_adapters(struct work *w)
{
	const struct fab_fabric *f = w->f;

	forget(w);
	for (uint32_t i = f->n_switches; i < f->n_nodes; i++) {
		w->n_list = 0;
		list_parts(w, i, i);
		for (uint32_t k = 0; k < w->n_list && f->node_kind[i] != FAB_ROUTER; k++)
			w->p->v[w->list[k]].n_adapters++;
	}
}

/* Planes go before other parts; both stay in the order of their switches. */
static void put_planes_first(struct fab_planes *p, uint32_t n_switches)
{
	struct fab_plane *old = p->v, *v = FAB_NEW(p->n, struct fab_plane);
	uint32_t *at = FAB_NEW(p->n, uint32_t), n = 0;

	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < p->n; i++)
			if (old[i].is_plane == (pass == 0)) {
				v[n] = old[i];
				at[i] = n++;
			}
	for (uint32_t s = 0; s < n_switches; s++)
		p->of_switch[s] = at[p->of_switch[s]];
	p->largest = at[p->largest];
	p->v = v;
	free(at);
	free(old);
}

static void count_on_planes(struct work *w)
{
	struct fab_planes *p = w->p;

	forget(w);
	for (uint32_t h = 0; h < w->f->n_hosts; h++) {
		uint32_t n = 0;

		list_parts_of_host(w, h);
		for (uint32_t k = 0; k < w->n_list; k++)
			n += p->v[w->list[k]].is_plane;
		p->n_hosts += n > 0;
		p->n_on_all += n == p->n_planes;
	}
}

struct fab_planes *fab_planes_new(const struct fab_fabric *f)
{
	struct fab_planes *p = FAB_NEW0(1, struct fab_planes);
	struct work w = {.f = f, .p = p};
	uint64_t n_hosts;
	uint32_t best = 0;

	p->of_switch = FAB_NEW(f->n_switches, uint32_t);
	p->n = fab_fabric_components(f, p->of_switch);
	p->v = FAB_NEW0(p->n, struct fab_plane);
	w.seen = FAB_NEW(p->n, uint32_t);
	w.list = FAB_NEW(p->n, uint32_t);
	for (uint32_t s = f->n_switches; s-- > 0;) {
		p->v[p->of_switch[s]].n_switches++;
		p->v[p->of_switch[s]].first_switch = s;
	}
	for (uint32_t c = 0; c < f->n_switch_links + f->n_host_links; c++) {
		struct fab_plane *part = &p->v[p->of_switch[f->port_node[f->cable_a[c]]]];

		if (c < f->n_switch_links)
			part->n_switch_links++;
		else
			part->n_host_links++;
	}
	count_adapters(&w);
	forget(&w);
	for (uint32_t h = 0; h < w.f->n_hosts; h++) {
		list_parts_of_host(&w, h);
		for (uint32_t k = 0; k < w.n_list; k++)
			w.p->v[w.list[k]].n_hosts++;
	}
	for (uint32_t r = 1; r < p->n; r++) {
		const struct fab_plane *a = &p->v[r], *b = &p->v[best];

		if (a->n_hosts != b->n_hosts ? a->n_hosts > b->n_hosts
					     : a->n_switches > b->n_switches)
			best = r;
	}
	p->largest = best;
	/* Hosts that parts have in common with the largest. */
	forget(&w);
	for (uint32_t i = 0; i < w.f->n_hosts; i++) {
		list_parts_of_host(&w, i);
		if (w.seen[w.p->largest] != i)
			continue;
		for (uint32_t j = 0; j < w.n_list; j++)
			w.p->v[w.list[j]].n_shared++;
	}
	n_hosts = p->v[p->largest].n_hosts;
	for (uint32_t m = 0; m < p->n; m++) {
		struct fab_plane *v = &p->v[m];

		v->is_plane = m == p->largest ||
			      (v->n_hosts && 2 * (uint64_t)v->n_shared >= n_hosts);
		p->n_planes += v->is_plane;
	}
	put_planes_first(p, f->n_switches);
	count_on_planes(&w);
	free(w.list);
	free(w.seen);
	return p;
}

void fab_planes_free(struct fab_planes *planes)
{
	if (!planes)
		return;
	free(planes->of_switch);
	free(planes->v);
	free(planes);
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
