/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: interop-unicast FABRIC N_DEAD SEED
 * Kill N_DEAD switches with hosts, chosen by SEED, that leave the others connected; route
 * what is left by shortest ways; put each pair of switches into the first lane whose
 * dependencies stay without a cycle. Written to the current folder: subnet.lst lfts fdbs
 * psl slvl. Printed: pairs of live adapters, lanes.
 */
#include "base/mem.h"
#include "base/rng.h"
#include "export/fdbs.h"
#include "export/lfts.h"
#include "export/path_sl.h"
#include "export/sl2vl.h"
#include "export/subnet_lst.h"
#include "source/source.h"
#include "unicast/remnant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LANES = 8 };

struct plan {
	const struct fab_fabric *f;
	struct fab_faults faults;
	struct fab_routes r;
	uint8_t *dependency[MAX_LANES]; /* [n arcs * width]: 1 yes, 2 would close a cycle
					 */
	uint32_t width;			/* most arcs of a switch */
	uint32_t *stack;
	bool *is_seen;
};

static void set_dead(struct plan *p, uint32_t sw, bool is_dead)
{
	const struct fab_fabric *f = p->f;

	p->faults.switch_is_dead[sw] = is_dead;
	for (uint32_t i = f->node_first_port[sw]; i < f->node_first_port[sw + 1]; i++) {
		uint32_t peer = fab_port_peer(f, i);
		uint32_t node = peer == FAB_NONE ? FAB_NONE : f->port_node[peer];

		if (node == FAB_NONE)
			continue;
		p->faults.cable_is_dead[f->port_cable[i]] =
			is_dead ||
			(node < f->n_switches && p->faults.switch_is_dead[node]);
	}
}

/* The shortest way from everywhere to a switch; returns how many have one. */
static uint32_t search(const struct plan *p, uint32_t root, uint16_t *next)
{
	const struct fab_fabric *f = p->f;
	uint32_t *queue = FAB_NEW(f->n_switches, uint32_t), head = 0, tail = 0;

	memset(next, 0xff, f->n_switches * sizeof(*next)); /* FAB_ARC_NONE */
	next[root] = FAB_ARC_HERE;
	queue[tail++] = root;
	while (head < tail) {
		uint32_t u = queue[head++], d = f->arc_first[u + 1] - f->arc_first[u];

		for (uint32_t i = 0; i < d; i++) { /* each root begins elsewhere */
			uint32_t a = f->arc_first[u] + (i + root) % d;
			uint32_t v = f->arc_peer[a], back = f->arc_first[v];

			if (next[v] != FAB_ARC_NONE ||
			    p->faults.cable_is_dead[f->arc_cable[a]])
				continue;
			while (f->arc_cable[back] != f->arc_cable[a])
				back++;
			next[v] = (uint16_t)(back - f->arc_first[v]);
			queue[tail++] = v;
		}
	}
	free(queue);
	return tail;
}

static uint32_t n_hosts_on(const struct fab_fabric *f, uint32_t sw)
{
	uint32_t n = 0;

	for (uint32_t i = f->node_first_port[sw]; i < f->node_first_port[sw + 1]; i++)
		n += f->port_cable[i] != FAB_NONE &&
		     f->port_cable[i] >= f->n_switch_links;
	return n;
}

static void kill_some(struct plan *p, uint64_t n_dead, uint64_t seed)
{
	const struct fab_fabric *f = p->f;
	uint16_t *next = FAB_NEW(f->n_switches, uint16_t);
	struct fab_rng rng;

	fab_rng_init(&rng, seed);
	for (unsigned tries = 0; n_dead && tries < 100000; tries++) {
		uint32_t sw = (uint32_t)fab_rng_below(&rng, f->n_switches), live = 0;
		uint32_t last = 0, n = 0;

		if (p->faults.switch_is_dead[sw] || !n_hosts_on(f, sw))
			continue;
		set_dead(p, sw, true);
		for (uint32_t s = 0; s < f->n_switches; s++)
			if (!p->faults.switch_is_dead[s] && n_hosts_on(f, s)) {
				last = s;
				live++;
			}
		if (live)
			search(p, last, next);
		for (uint32_t s = 0; s < f->n_switches; s++)
			n += next[s] != FAB_ARC_NONE && n_hosts_on(f, s);
		if (live && n == live)
			n_dead--;
		else
			set_dead(p, sw, false);
	}
	free(next);
}

static void route(struct plan *p)
{
	const struct fab_fabric *f = p->f;
	struct fab_routes *r = &p->r;

	r->f = f;
	r->faults = &p->faults;
	r->column_switch = FAB_NEW(f->n_switches, uint32_t);
	r->next = FAB_NEW((size_t)f->n_switches * f->n_switches, uint16_t);
	for (uint32_t s = 0; s < f->n_switches; s++) {
		if (p->faults.switch_is_dead[s] || !n_hosts_on(f, s))
			continue;
		search(p, s, r->next + (size_t)r->n_columns * f->n_switches);
		r->column_switch[r->n_columns++] = s;
	}
	r->lanes = FAB_LANES_SL;
	r->n_sl_sources = r->n_columns;
	r->sl_source = r->column_switch;
	r->sl = FAB_NEW0((size_t)r->n_columns * r->n_columns, uint8_t);
	r->n_vls = 1;
}

/* Can arc `from` be reached from arc `at` by dependencies? */
static bool leads_to(struct plan *p, const uint8_t *dependency, uint32_t at,
		     uint32_t from)
{
	const struct fab_fabric *f = p->f;
	uint32_t n = 0;

	memset(p->is_seen, 0, f->arc_first[f->n_switches]);
	p->stack[n++] = at;
	p->is_seen[at] = true;
	while (n) {
		uint32_t a = p->stack[--n], v = f->arc_peer[a];

		if (a == from)
			return true;
		for (uint32_t b = f->arc_first[v]; b < f->arc_first[v + 1]; b++) {
			uint32_t k = b - f->arc_first[v];

			if (dependency[(size_t)a * p->width + k] != 1 || p->is_seen[b])
				continue;
			p->is_seen[b] = true;
			p->stack[n++] = b;
		}
	}
	return false;
}

/* Put the path of a pair into a lane; what was added stays also when it does not fit. */
static bool fits(struct plan *p, uint32_t from, uint32_t column, unsigned lane)
{
	const struct fab_fabric *f = p->f;
	const uint16_t *next = p->r.next + (size_t)column * f->n_switches;
	uint32_t in = FAB_NONE;

	if (!p->dependency[lane])
		p->dependency[lane] =
			FAB_NEW0((size_t)f->arc_first[f->n_switches] * p->width, uint8_t);
	for (uint32_t at = from; next[at] < FAB_ARC_BROKEN;) {
		uint32_t a = f->arc_first[at] + next[at];

		if (in != FAB_NONE) {
			uint8_t *d =
				&p->dependency[lane][(size_t)in * p->width + next[at]];

			if (!*d)
				*d = leads_to(p, p->dependency[lane], a, in) ? 2 : 1;
			if (*d == 2)
				return false;
		}
		in = a;
		at = f->arc_peer[a];
	}
	return true;
}

static bool choose_lanes(struct plan *p)
{
	const struct fab_fabric *f = p->f;

	for (uint32_t s = 0; s < f->n_switches; s++)
		if (f->arc_first[s + 1] - f->arc_first[s] > p->width)
			p->width = f->arc_first[s + 1] - f->arc_first[s];
	p->stack = FAB_NEW(f->arc_first[f->n_switches], uint32_t);
	p->is_seen = FAB_NEW(f->arc_first[f->n_switches], bool);
	for (uint32_t i = 0; i < p->r.n_columns; i++)
		for (uint32_t c = 0; c < p->r.n_columns; c++) {
			unsigned lane = 0;

			while (lane < MAX_LANES &&
			       !fits(p, p->r.column_switch[i], c, lane))
				lane++;
			if (lane == MAX_LANES)
				return false;
			p->r.sl[(size_t)i * p->r.n_columns + c] = (uint8_t)lane;
			if (lane >= p->r.n_vls)
				p->r.n_vls = (uint8_t)(lane + 1);
		}
	return true;
}

static FILE *create(const char *name)
{
	FILE *out = fopen(name, "w");

	if (!out) {
		perror(name);
		exit(1);
	}
	return out;
}

static void finish(FILE *out, int rc, const struct fab_err *err)
{
	if (rc)
		fprintf(stderr, "%s\n", err->text);
	if (fclose(out) || rc)
		exit(1);
}

static void write_all(const struct plan *p, struct fab_err *err)
{
	struct fab_fabric *left = NULL;
	FILE *out = create("subnet.lst");
	int rc = fab_fabric_without(p->f, &p->faults, &left, err);
	uint64_t n = 0;

	if (!rc) {
		n = left->n_adapters;
		fab_export_subnet_lst(out, left);
	}
	finish(out, rc, err);
	fab_fabric_free(left);
	out = create("lfts");
	finish(out, fab_export_lfts(out, &p->r, err), err);
	out = create("fdbs");
	finish(out, fab_export_fdbs(out, &p->r, err), err);
	out = create("psl");
	finish(out, fab_export_path_sl(out, &p->r, err), err);
	out = create("slvl");
	fab_export_sl2vl(out, &p->r);
	finish(out, 0, err);
	printf("%llu %u\n", (unsigned long long)(n * (n - 1)), p->r.n_vls);
}

int main(int argc, char **argv)
{
	struct fab_fabric *f = NULL;
	struct fab_err err = {""};
	struct plan p = {0};

	if (argc != 4 || fab_source_open(argv[1], NULL, &f, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 2;
	}
	p.f = p.faults.f = f;
	p.faults.switch_is_dead = FAB_NEW0(f->n_switches, bool);
	p.faults.cable_is_dead = FAB_NEW0(f->n_cables, bool);
	kill_some(&p, strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
	route(&p);
	if (!choose_lanes(&p)) {
		fputs("lanes do not suffice\n", stderr);
		return 1;
	}
	write_all(&p, &err);
	for (int i = 0; i < MAX_LANES; i++)
		free(p.dependency[i]);
	free(p.stack);
	free(p.is_seen);
	free(p.r.sl);
	free(p.r.next);
	free(p.r.column_switch);
	free(p.faults.switch_is_dead);
	free(p.faults.cable_is_dead);
	fab_fabric_free(f);
	return 0;
}
