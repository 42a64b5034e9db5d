/* SPDX-License-Identifier: BSD-2-Clause */
/* The choice of hosts for a job, greedy from each leaf switch, and its cost. */
#include "unicast/placement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/order.h"
#include "base/text.h"
#include "fabric/dist.h"
#include "fabric/resolver.h"
#include "unicast/path.h"

#define MOST_STEPS ((uint64_t)1 << 27)
#define MOST_PAIRS ((uint64_t)1 << 26)

/* Leaves with free hosts, of one part of the fabric. */
struct leaves {
	const struct fab_dist *dist;
	uint32_t n, *sw, *n_free; /* [n] the most free hosts first */
	uint32_t n_hosts;	  /* wanted */
	uint32_t k;		  /* the fewest leaves that have them */
};

/* A choice of k leaves. */
struct pick {
	uint32_t *at, *take; /* [k] places in struct leaves, and hosts of each */
	uint64_t hops;	     /* sum over ordered pairs of hosts */
	uint32_t n_spare;    /* free hosts of these leaves that are not taken */
};

static uint32_t hops_between(const struct leaves *l, uint32_t a, uint32_t b)
{
	return fab_dist_row(l->dist, l->sw[a])[l->sw[b]];
}

/* Cost of k leaves, with all their free hosts but those of the farthest one that are
 * too many. */
static void weigh(const struct leaves *l, struct pick *p)
{
	uint64_t most = 0;
	uint32_t far = 0, n = 0;

	for (uint32_t i = 0; i < l->k; i++) {
		uint64_t sum = 0;

		p->take[i] = l->n_free[p->at[i]];
		n += p->take[i];
		for (uint32_t j = 0; j < l->k; j++)
			sum += (uint64_t)hops_between(l, p->at[i], p->at[j]) *
			       l->n_free[p->at[j]];
		if (sum >= most) {
			most = sum;
			far = i;
		}
	}
	/* less than one leaf has: k is the fewest */
	p->n_spare = n - l->n_hosts;
	p->take[far] -= p->n_spare;
	p->hops = 0;
	for (uint32_t i = 0; i < l->k; i++)
		for (uint32_t j = 0; j < l->k; j++)
			p->hops += (uint64_t)p->take[i] * p->take[j] *
				   hops_between(l, p->at[i], p->at[j]);
}

/* The nearest leaves to leaf `first`, one by one; false: the fewest do not include it. */
static bool grow(const struct leaves *l, uint32_t first, struct pick *p, uint64_t *sum,
		 bool *is_in)
{
	uint32_t n = 0;

	memset(sum, 0, l->n * sizeof(*sum));
	memset(is_in, 0, l->n * sizeof(*is_in));
	for (uint32_t i = 0, next = first; i < l->k; i++) {
		uint32_t best = FAB_NONE, others = 0, left = l->k - i - 1, least;

		/* what the largest of the leaves still to come have, one of them open */
		for (uint32_t j = 0, m = left; j < l->n && m; j++)
			if (!is_in[j] && j != next) {
				others += l->n_free[j];
				m--;
			}
		if (n + l->n_free[next] + others < l->n_hosts)
			return false;
		p->at[i] = next;
		is_in[next] = true;
		n += l->n_free[next];
		if (!left)
			break;
		others = 0;
		for (uint32_t j = 0, m = left - 1; j < l->n && m; j++)
			if (!is_in[j]) {
				others += l->n_free[j];
				m--;
			}
		least = l->n_hosts > n + others ? l->n_hosts - n - others : 0;
		for (uint32_t j = 0; j < l->n && l->n_free[j] >= least; j++) {
			sum[j] += (uint64_t)hops_between(l, next, j) * l->n_free[next];
			/* the last one: that which leaves fewest hosts over */
			if (!is_in[j] && (best == FAB_NONE || sum[j] < sum[best] ||
					  (left == 1 && sum[j] == sum[best])))
				best = j;
		}
		for (uint32_t j = 0; j < l->n; j++)
			if (l->n_free[j] < least)
				sum[j] += (uint64_t)hops_between(l, next, j) *
					  l->n_free[next];
		next = best;
	}
	return true;
}

/* Exchange leaves for others one by one while that takes hops away. */
static void improve(const struct leaves *l, struct pick *p, struct pick *spare,
		    bool *is_in)
{
	bool is_better = (uint64_t)l->k * l->k * l->k * l->n <= MOST_STEPS;
	uint32_t *at = spare->at;

	memset(is_in, 0, l->n * sizeof(*is_in));
	for (uint32_t i = 0; i < l->k; i++)
		is_in[p->at[i]] = true;
	while (is_better) {
		uint32_t total = 0;

		is_better = false;
		for (uint32_t i = 0; i < l->k; i++)
			total += l->n_free[p->at[i]];
		for (uint32_t i = 0; i < l->k && !is_better; i++)
			for (uint32_t j = 0; j < l->n && !is_better; j++) {
				uint32_t old = p->at[i];

				if (is_in[j] ||
				    total - l->n_free[old] + l->n_free[j] < l->n_hosts)
					continue;
				memcpy(at, p->at, l->k * sizeof(*at));
				at[i] = j;
				weigh(l, spare);
				if (spare->hops >= p->hops)
					continue;
				p->at[i] = j;
				weigh(l, p);
				is_in[old] = false;
				is_in[j] = is_better = true;
			}
	}
}

/* A host where it is. */
struct seat {
	uint32_t host, sw, part;
};

static int by_seat(const void *x, const void *y, void *fabric)
{
	const struct seat *a = x, *b = y;
	const struct fab_fabric *f = fabric;
	int order;

	FAB_ORDER_BY(a, b, part);
	FAB_ORDER_BY(a, b, sw);
	order = fab_text_natural_cmp(fab_host_name(f, a->host),
				     fab_host_name(f, b->host));
	return order ? order : (a->host > b->host) - (a->host < b->host);
}

static int by_number(const void *x, const void *y, void *n_free)
{
	const uint32_t *n = n_free;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return n[a] != n[b] ? (n[a] > n[b] ? -1 : 1) : (a > b) - (a < b);
}

/* Choose among seat[0 .. n_seats - 1], those of a part by leaf. False: too few, or no
 * better than *best, which is the choice so far (k 0: none); chosen[n] is filled. */
static bool choose_in(const struct fab_dist *dist, const struct seat *seat,
		      uint32_t n_seats, uint32_t n, struct pick *best, uint32_t *best_k,
		      uint32_t *chosen)
{
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	uint32_t *first = FAB_ARENA_NEW(&arena, n_seats, uint32_t); /* seat of a leaf */
	uint32_t *count = FAB_ARENA_NEW0(&arena, n_seats, uint32_t);
	uint32_t *order = FAB_ARENA_NEW(&arena, n_seats, uint32_t), sum = 0, every = 1;
	struct leaves l = {.dist = dist,
			   .sw = FAB_ARENA_NEW(&arena, n_seats, uint32_t),
			   .n_free = FAB_ARENA_NEW(&arena, n_seats, uint32_t),
			   .n_hosts = n};
	struct pick p = {.hops = 0}, found = {.hops = UINT64_MAX};
	uint64_t *near;
	bool *is_in, is_better;

	for (uint32_t i = 0; i < n_seats; i++) {
		if (!i || seat[i].sw != seat[i - 1].sw) {
			order[l.n] = l.n;
			first[l.n++] = i;
		}
		count[l.n - 1]++;
	}
	qsort_r(order, l.n, sizeof(*order), by_number, count);
	for (uint32_t i = 0; i < l.n; i++) {
		l.sw[i] = seat[first[order[i]]].sw;
		l.n_free[i] = count[order[i]];
		l.k += sum < n;
		sum += l.n_free[i];
	}
	is_better = sum >= n && (!*best_k || l.k <= *best_k);
	if (is_better) {
		p.at = FAB_ARENA_NEW(&arena, l.k, uint32_t);
		p.take = FAB_ARENA_NEW(&arena, l.k, uint32_t);
		found.at = FAB_ARENA_NEW(&arena, l.k, uint32_t);
		found.take = FAB_ARENA_NEW(&arena, l.k, uint32_t);
		near = FAB_ARENA_NEW(&arena, l.n, uint64_t);
		is_in = FAB_ARENA_NEW(&arena, l.n, bool);
		while ((uint64_t)l.n / every * l.k * l.n > MOST_STEPS && every < l.n)
			every++;
		for (uint32_t s = 0; s < l.n; s += every) {
			struct pick other = found;

			if (!grow(&l, s, &p, near, is_in))
				continue;
			weigh(&l, &p);
			if (p.hops >= found.hops &&
			    (p.hops > found.hops || p.n_spare >= found.n_spare))
				continue;
			found = p;
			p = (struct pick){.at = other.at, .take = other.take};
		}
		improve(&l, &found, &p, is_in);
		is_better = l.k < *best_k || !*best_k || found.hops < best->hops;
	}
	if (is_better) {
		uint32_t at = 0;

		for (uint32_t i = 0; i < l.k; i++)
			for (uint32_t j = 0; j < found.take[i]; j++)
				chosen[at++] = seat[first[order[found.at[i]]] + j].host;
		*best_k = l.k;
		best->hops = found.hops;
	}
	return is_better;
}

int fab_placement_choose(const struct fab_fabric *f, const uint32_t *free,
			 uint32_t n_free, uint32_t n, int n_threads, uint32_t *chosen,
			 struct fab_err *err)
{
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	uint32_t *part = FAB_ARENA_NEW(&arena, f->n_switches, uint32_t), most = 0, k = 0;
	struct seat *seat = FAB_ARENA_NEW(&arena, n_free, struct seat);
	FAB_AUTO(fab_dist_free_at) struct fab_dist *dist = NULL;
	struct pick best = {.hops = 0};
	int rc = 0;

	fab_fabric_components(f, part);
	for (uint32_t i = 0; i < n_free && !rc; i++) {
		uint32_t port = fab_host_endpoint(f, free[i]), sw;

		sw = port == FAB_NONE ? FAB_NONE : fab_port_switch(f, port);
		if (sw == FAB_NONE)
			rc = fab_fail(err, EINVAL, "host '%s' has no cable to a switch",
				      fab_host_name(f, free[i]));
		else
			seat[i] = (struct seat){free[i], sw, part[sw]};
	}
	if (!rc)
		rc = fab_dist_new(f, n_threads, &dist, err);
	if (!rc && n_free)
		qsort_r(seat, n_free, sizeof(*seat), by_seat, (void *)(uintptr_t)f);
	for (uint32_t i = 0, end; i < n_free && !rc; i = end) {
		for (end = i; end < n_free && seat[end].part == seat[i].part;)
			end++;
		most = end - i > most ? end - i : most;
		choose_in(dist, seat + i, end - i, n, &best, &k, chosen);
	}
	if (!rc && !k)
		rc = fab_fail(
			err, EINVAL,
			most < n_free
				? "%u hosts are wanted; %u are free, at most %u in one part of the fabric"
				: "%u hosts are wanted, %u are free",
			n, n_free, most);
	return rc;
}

/* ---- cost ---- */

void fab_placement_measure(const struct fab_routes *routes, const uint32_t *hosts,
			   uint32_t n, struct fab_placement_cost *out)
{
	const struct fab_fabric *f = routes->f;
	FAB_AUTO(fab_arena_free) struct fab_arena arena = FAB_ARENA_INIT;
	uint32_t *port = FAB_ARENA_NEW(&arena, n, uint32_t);
	uint32_t *sw = FAB_ARENA_NEW(&arena, n, uint32_t);
	uint32_t *leaf = FAB_ARENA_NEW(&arena, n, uint32_t);
	uint32_t *n_on = FAB_ARENA_NEW0(&arena, f->n_switches, uint32_t);
	FAB_AUTOFREE uint32_t *column = NULL;
	uint64_t *load = FAB_ARENA_NEW0(&arena, f->arc_first[f->n_switches], uint64_t);
	uint64_t hops = 0, most = 0;

	*out = (struct fab_placement_cost){.every = 1};
	for (uint32_t i = 0; i < n; i++) {
		port[i] = fab_host_endpoint(f, hosts[i]);
		sw[i] = fab_port_switch(f, port[i]);
		if (!n_on[sw[i]]++)
			leaf[out->n_leaves++] = sw[i];
	}
	column = fab_path_columns(routes, n, sw, port);
	while ((uint64_t)n / out->every * out->n_leaves > MOST_PAIRS)
		out->every++;
	for (uint32_t i = 0; i < n; i += out->every)
		for (uint32_t s = 0; s < out->n_leaves; s++) {
			uint32_t n_send = n_on[leaf[s]] - (leaf[s] == sw[i]);
			struct fab_path p;

			out->pairs += n_send;
			if (leaf[s] == sw[i])
				continue;
			if (column[i] == FAB_NONE) {
				out->unreachable += n_send;
				continue;
			}
			p = fab_path_from(routes, leaf[s], column[i]);
			while (fab_path_step(&p))
				load[p.arc] += n_send;
			if (fab_path_end(&p) != FAB_PATH_ARRIVES) {
				out->unreachable += n_send;
				continue;
			}
			hops += (uint64_t)p.n_hops * n_send;
			out->max_hops =
				p.n_hops > out->max_hops ? p.n_hops : out->max_hops;
		}
	for (uint32_t a = 0; a < f->arc_first[f->n_switches]; a++)
		most = load[a] > most ? load[a] : most;
	out->max_load = (double)most * out->every;
	if (out->pairs > out->unreachable)
		out->mean_hops = (double)hops / (double)(out->pairs - out->unreachable);
}
