/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Switches with fewer cables to the level above than most switches of their level, among
 * those that cables between switches join; leaves without hosts do not count. What
 * is missing of single pairs was found before and is not told again. A switch with less
 * than half of the usual below it, too, is a smaller one on purpose: a note.
 */
#include "base/order.h"
#include "base/sets.h"
#include "fabric/check_impl.h"
#include "fabric/ranks.h"

#include <stdlib.h>

enum { LEAST_PEERS = 3 }; /* switches of a level */

/* Of each switch. */
struct links {
	uint32_t up, down; /* down: to lower levels and hosts */
	uint32_t sw, part, level;
};

static void count(const struct fab_fabric *f, const uint32_t *level, uint32_t *part,
		  struct links *links)
{
	uint32_t *n_hosts = FAB_NEW(f->n_switches, uint32_t);

	fab_ranks_count_all_hosts(f, n_hosts);
	for (uint32_t s = 0; s < f->n_switches; s++) {
		links[s] = (struct links){.down = n_hosts[s],
					  .sw = s,
					  .part = fab_sets_root(part, s),
					  .level = level[s] || n_hosts[s] ? level[s]
									  : FAB_NONE};
		for (uint32_t k = f->arc_first[s]; k < f->arc_first[s + 1]; k++) {
			uint32_t to = level[f->arc_peer[k]];

			if (to == FAB_NONE || level[s] == FAB_NONE)
				continue;
			links[s].up += to > level[s];
			links[s].down += to < level[s];
		}
	}
	free(n_hosts);
}

static int by_part(const void *x, const void *y)
{
	const struct links *a = x, *b = y;

	if (a->part != b->part)
		return a->part < b->part ? -1 : 1;
	if (a->level != b->level)
		return a->level < b->level ? -1 : 1;
	return (a->sw > b->sw) - (a->sw < b->sw);
}

/* The middle one of n numbers; sorts them. */
static uint32_t median(uint32_t *v, uint32_t n)
{
	qsort(v, n, sizeof(*v), fab_cmp_u32);
	return v[n / 2];
}

static void report(struct fab_checker *c, const struct links *x, uint32_t n,
		   uint32_t n_usual, const struct links *usual)
{
	bool is_small = 2 * x->down < usual->down;
	const char *what = x->level ? "switches of its level" : "leaf switches";

	fab_checker_add(c, is_small ? FAB_NOTE : FAB_PROBLEM,
			is_small ? "small-switch" : "few-uplinks", FAB_AT_NODE(x->sw),
			"\"%s\" has %u cable%s up, where %u of %u %s have %u%s",
			fab_node_name(c->f, x->sw), x->up, x->up == 1 ? "" : "s", n_usual,
			n, what, usual->up,
			is_small ? "; it has less than half as much below it, too" : "");
}

/* n switches of one level of one part. */
static void check_level(struct fab_checker *c, const struct fab_check_levels *l,
			const struct links *links, uint32_t n, uint32_t *scratch)
{
	struct links usual;
	uint32_t n_usual = 0;

	if (n < LEAST_PEERS)
		return;
	for (uint32_t i = 0; i < n; i++)
		scratch[i] = links[i].down;
	usual.down = median(scratch, n);
	for (uint32_t i = 0; i < n; i++)
		scratch[i] = links[i].up;
	usual.up = median(scratch, n); /* more than half of them, or nothing is usual */
	for (uint32_t i = 0; i < n; i++)
		n_usual += links[i].up == usual.up;
	if (2 * n_usual <= n)
		return;
	for (uint32_t i = 0; i < n; i++)
		if (links[i].up + l->n_missing[links[i].sw] < usual.up)
			report(c, &links[i], n, n_usual, &usual);
}

void fab_check_uplinks(struct fab_checker *c, const struct fab_check_levels *l)
{
	uint32_t n = c->f->n_switches;
	struct links *links = FAB_NEW(n, struct links);
	uint32_t *scratch = FAB_NEW(n, uint32_t);

	for (uint32_t s = 0; s < n; s++)
		scratch[s] = s;
	for (uint32_t s = 0; s < n; s++)
		for (uint32_t k = c->f->peer_first[s]; k < c->f->peer_first[s + 1]; k++)
			fab_sets_unite(scratch, s, c->f->peer[k]);
	count(c->f, l->level, scratch, links);
	qsort(links, n, sizeof(*links), by_part);
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && links[end].part == links[i].part &&
				  links[end].level == links[i].level;)
			end++;
		if (links[i].level != FAB_NONE)
			check_level(c, l, links + i, end - i, scratch);
	}
	free(scratch);
	free(links);
}
