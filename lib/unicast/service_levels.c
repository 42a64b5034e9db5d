/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/service_levels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FREE = 0xff };
static const uint64_t BYTES_MAX = UINT64_C(1) << 30;

struct fab_sl_packer {
	struct fab_routes *routes;
	unsigned n_levels;
	uint64_t *first;
	uint8_t *lane;
	bool is_kept;
	FAB_VEC(uint64_t) fixed; /* entries, from the first mark on */
};

int fab_sl_packer_new(struct fab_routes *routes, unsigned n_levels,
		      struct fab_sl_packer **out, struct fab_err *err)
{
	const struct fab_fabric *f = routes->f;
	uint64_t *first = FAB_NEW(f->n_switches + 1, uint64_t);

	first[0] = 0;
	for (uint32_t sw = 0; sw < f->n_switches; sw++) {
		uint64_t d = f->arc_first[sw + 1] - f->arc_first[sw];

		first[sw + 1] = first[sw] + (d + 1) * (d + 1) * FAB_SLS_MAX;
	}
	if (first[f->n_switches] > BYTES_MAX) {
		free(first);
		return fab_fail(err, ERANGE,
				"tables of lanes by service level and ports would take "
				"more than 1 GiB");
	}
	*out = FAB_NEW0(1, struct fab_sl_packer);
	(*out)->routes = routes;
	(*out)->n_levels = n_levels;
	(*out)->first = first;
	(*out)->lane = FAB_NEW(first[f->n_switches] + 1, uint8_t);
	memset((*out)->lane, FREE, first[f->n_switches]);
	return 0;
}

void fab_sl_packer_free(struct fab_sl_packer *packer)
{
	if (!packer)
		return;
	free(packer->first);
	free(packer->lane);
	free(packer->fixed.v);
	free(packer);
}

static uint8_t *entry(const struct fab_sl_packer *p, const struct fab_hop *hop,
		      unsigned sl)
{
	const struct fab_fabric *f = p->routes->f;
	uint64_t d = f->arc_first[hop->sw + 1] - f->arc_first[hop->sw];

	return p->lane + p->first[hop->sw] +
	       (hop->in * (d + 1) + hop->out) * FAB_SLS_MAX + sl;
}

bool fab_sl_packer_fits(const struct fab_sl_packer *p, const struct fab_hop *hops,
			const uint8_t *lanes, uint32_t n, unsigned sl)
{
	for (uint32_t i = 0; i < n; i++) {
		uint8_t has = *entry(p, &hops[i], sl);

		if (has != FREE && has != lanes[i])
			return false;
	}
	return true;
}

static void fix(struct fab_sl_packer *p, uint8_t *at, uint8_t lane)
{
	if (*at == FREE && p->is_kept)
		FAB_PUSH(&p->fixed, (uint64_t)(at - p->lane));
	*at = lane;
}

unsigned fab_sl_packer_add(struct fab_sl_packer *p, const struct fab_hop *hops,
			   const uint8_t *lanes, uint32_t n, unsigned first)
{
	for (unsigned sl = first; sl < p->n_levels; sl++) {
		if (!fab_sl_packer_fits(p, hops, lanes, n, sl))
			continue;
		for (uint32_t i = 0; i < n; i++)
			fix(p, entry(p, &hops[i], sl), lanes[i]);
		return sl;
	}
	return FAB_SL_NONE;
}

void fab_sl_packer_set(struct fab_sl_packer *p, const struct fab_hop *hop, unsigned sl,
		       uint8_t lane)
{
	fix(p, entry(p, hop, sl), lane);
}

size_t fab_sl_packer_mark(struct fab_sl_packer *p)
{
	p->is_kept = true;
	return p->fixed.n;
}

void fab_sl_packer_back(struct fab_sl_packer *p, size_t mark)
{
	while (p->fixed.n > mark)
		p->lane[p->fixed.v[--p->fixed.n]] = FREE;
}

void fab_sl_packer_finish(struct fab_sl_packer *p)
{
	struct fab_routes *r = p->routes;

	for (uint64_t i = 0; i < p->first[r->f->n_switches]; i++)
		if (p->lane[i] == FREE)
			p->lane[i] = 0;
	r->lanes = FAB_LANES_TABLE;
	r->vl_first = p->first;
	r->sl2vl = p->lane;
	p->first = NULL;
	p->lane = NULL;
}
