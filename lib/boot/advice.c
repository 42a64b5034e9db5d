/* SPDX-License-Identifier: BSD-2-Clause */
/* Changes that make booting faster: capacities, servers. */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/order.h"
#include "boot/advice.h"
#include "boot/impl.h"
#include "boot/share.h"

/* A machine, and what of it is raised to see what that gives. */
struct raising {
	const struct fab_mapping_problem *problem;
	const struct fab_transfer_options *options;
	/* levels and limits, their bits; the one with the most segments first */
	uint32_t bit[FAB_ADVICE_MAX], n;
	double base_seconds;
};

/* Times come from divisions: values that differ by less are equal. */
static bool is_less(double a, double b)
{
	return a < b * (1 - 1e-9);
}

/* Shares and end of a mapping, as the report has them for the row of `balanced`. */
static int measure(const struct raising *x, const struct fab_mapping_problem *raised,
		   const uint32_t *interface_of, struct fab_advice *out,
		   struct fab_err *err)
{
	FAB_AUTO(fab_transfer_fini) struct fab_transfer t = {0};
	struct fab_share share = {0};
	int rc = fab_share_of(raised->m, raised->batch, interface_of, &share, err);

	if (rc)
		return rc;
	out->bandwidth_mbps = share.bandwidth_mbps;
	out->seconds = fab_transfer_equal_share_seconds(&share, x->options);
	if (!raised->timed)
		return 0;
	rc = fab_transfer_run(raised->m, raised->batch, interface_of, raised->timed, &t,
			      err);
	if (rc)
		return rc;
	out->bandwidth_mbps = t.first_rate_mbps;
	out->seconds = t.last_s;
	return 0;
}

/* The best mapping when all segments of some levels are twice as fast. */
static int raise_levels(const struct raising *x, uint32_t levels, struct fab_advice *out,
			struct fab_err *err)
{
	struct fab_mapping_problem raised = *x->problem;
	struct fab_machine m;
	FAB_AUTOFREE uint32_t *interface_of = NULL;
	int rc;

	fab_limits_raise(x->problem->m, levels, &m);
	raised.m = &m;
	interface_of = FAB_NEW((size_t)m.n_nodes + 1, uint32_t);
	out->levels = levels;
	rc = fab_map_balanced(&raised, interface_of, err);
	if (!rc)
		rc = measure(x, &raised, interface_of, out, err);
	free(m.capacity_mbps);
	return rc;
}

/* Levels with a capacity, the one with the most segments first, then limits. */
static void find_limited(struct raising *x)
{
	const struct fab_machine *m = x->problem->m;
	uint32_t count[FAB_MACHINE_LEVELS_MAX] = {0};

	for (uint32_t v = 0; v < m->n_vertices; v++)
		count[m->level_of[v]]++;
	for (uint32_t l = 1; l < m->n_levels; l++) {
		uint32_t at = x->n;

		if (!m->level[l].is_limited)
			continue;
		for (; at && count[__builtin_ctz(x->bit[at - 1])] <= count[l]; at--)
			x->bit[at] = x->bit[at - 1];
		x->bit[at] = 1U << l;
		x->n++;
	}
	for (int k = 0; k < FAB_N_LIMITS; k++)
		if (fab_limit_is_given(m, (enum fab_limit)k))
			x->bit[x->n++] = fab_limit_bit((enum fab_limit)k);
}

static void insert(struct fab_advice *out, uint32_t *n, struct fab_advice a)
{
	uint32_t at = (*n)++;

	for (; at && !is_less(out[at - 1].seconds, a.seconds); at--)
		out[at] = out[at - 1];
	out[at] = a;
}

int fab_advice_raise(const struct fab_mapping_problem *problem,
		     const struct fab_transfer_options *options, struct fab_advice *out,
		     uint32_t *n, struct fab_err *err)
{
	struct raising x = {.problem = problem, .options = options};
	uint32_t levels = 0;
	struct fab_advice a;
	int rc = raise_levels(&x, 0, &a, err);

	*n = 0;
	x.base_seconds = a.seconds;
	find_limited(&x);
	for (uint32_t i = 0; i < x.n && !rc; i++) {
		levels |= x.bit[i];
		rc = raise_levels(&x, x.bit[i], &a, err);
		if (!rc)
			insert(out, n, a);
	}
	if (rc || !*n || is_less(out[0].seconds, x.base_seconds))
		return rc;
	/* no level alone helps: of all of them those that cannot be left out, the one
	 * with the most segments first */
	rc = raise_levels(&x, levels, &a, err);
	if (rc || !is_less(a.seconds, x.base_seconds))
		return rc;
	for (uint32_t i = 0; i < x.n && !rc; i++) {
		struct fab_advice without;

		rc = raise_levels(&x, a.levels & ~x.bit[i], &without, err);
		if (!rc && is_less(without.seconds, x.base_seconds))
			a = without;
	}
	if (!rc && a.levels)
		insert(out, n, a);
	return rc;
}

/* ---- servers needed ---- */

/*
 * How few servers are enough. At a bandwidth b a segment of capacity c takes floor(c / b)
 * nodes each direction, and serving nodes by servers of the same subtree first is never
 * wrong (mapping_balanced.c). The surplus of a subtree (below 0: its lack) with its
 * k best servers is concave in k: that of a server is a step, sums and cuts from above
 * keep it so. So a subtree is a value with its fewest servers and the gains of the next
 * ones, falling; the root needs as many as bring it to 0.
 */
struct gain {
	uint64_t of_each, n; /* n servers that add of_each nodes each */
};

struct subtree {
	int64_t left_over; /* nodes that its servers could serve beyond its own */
	uint64_t n_taken;  /* servers that it cannot do without */
	FAB_VEC(struct gain) gain;
};

struct needing {
	const struct fab_machine *m;
	const struct fab_batch *batch;
	double bandwidth_mbps;
	uint64_t of_server;	/* nodes that its disk and connections serve */
	uint32_t *n_interfaces; /* [n_servers] */
	struct subtree *at;	/* [n_vertices] */
};

/* Nodes that the segment above a vertex takes. */
static uint64_t quota(const struct needing *x, uint32_t v)
{
	return fab_limits_quota(x->m->capacity_mbps[v], x->bandwidth_mbps);
}

/* Nodes that an interface serves by its own segment and by its part of its server. */
static uint64_t interface_quota(const struct needing *x, uint32_t interface)
{
	uint64_t q = quota(x, x->m->interface_vertex[interface]);
	uint64_t part = x->of_server / x->n_interfaces[x->m->interface_server[interface]];

	return q < part ? q : part;
}

FAB_ORDER_MIXED(by_gain, struct gain, FAB_DOWN(of_each))

/* Take servers until the subtree lacks no more than `most`; false: there are too few. */
static bool take(struct subtree *t, int64_t most)
{
	size_t i = 0;

	for (; t->left_over < -most && i < t->gain.n; i++) {
		struct gain *g = &t->gain.v[i];
		uint64_t lacking = (uint64_t)(-most - t->left_over), n;

		if (!g->of_each)
			return false;
		n = (lacking + g->of_each - 1) / g->of_each;
		n = n < g->n ? n : g->n;
		t->left_over += (int64_t)(n * g->of_each);
		t->n_taken += n;
		g->n -= n;
		if (g->n)
			break;
	}
	if (i) /* without any there may be no list */
		memmove(t->gain.v, t->gain.v + i, (t->gain.n - i) * sizeof(*t->gain.v));
	t->gain.n -= i;
	return t->left_over >= -most;
}

/* Not more than `most` gets out of the subtree. */
static void cut(struct subtree *t, int64_t most)
{
	int64_t room;
	size_t i = 0;

	if (t->left_over > most)
		t->left_over = most;
	room = most - t->left_over;
	for (; i < t->gain.n && room > 0; i++) {
		struct gain *g = &t->gain.v[i];
		uint64_t fit;

		if (!g->of_each)
			break;
		fit = (uint64_t)room / g->of_each;
		if (fit >= g->n) {
			room -= (int64_t)(g->n * g->of_each);
			continue;
		}
		/* `fit` of them in full, one in part */
		g->n = fit;
		t->gain.n = i + (fit > 0);
		if (room % (int64_t)g->of_each)
			FAB_PUSH(&t->gain,
				 ((struct gain){(uint64_t)room % g->of_each, 1}));
		return;
	}
	t->gain.n = i;
}

/* The fewest servers; FAB_NONE: there are not enough. The subtrees are used up. */
static uint64_t fewest(struct needing *x)
{
	const struct fab_machine *m = x->m;
	bool is_possible = true;
	uint64_t n = FAB_NONE;

	FAB_EACH_NODE(x->batch, node)
		x->at[m->node_vertex[node]].left_over--;
	for (uint32_t v = m->n_vertices; v-- > 0;) {
		struct subtree *t = &x->at[v];
		int64_t most = v ? (int64_t)quota(x, v) : 0;

		FAB_SORT(&t->gain, by_gain);
		is_possible = is_possible && take(t, most);
		if (v) {
			struct subtree *parent = &x->at[m->parent[v]];

			cut(t, most);
			parent->left_over += t->left_over;
			parent->n_taken += t->n_taken;
			for (size_t i = 0; i < t->gain.n; i++)
				FAB_PUSH(&parent->gain, t->gain.v[i]);
			free(t->gain.v);
			*t = (struct subtree){0};
		}
	}
	if (is_possible)
		n = x->at[0].n_taken;
	free(x->at[0].gain.v);
	x->at[0] = (struct subtree){0};
	return n;
}

/* Each server that is up can be had for one; its own segment cuts what it serves. */
static void offer_servers(struct needing *x, bool is_for_nothing)
{
	for (uint32_t i = 0; i < x->m->n_interfaces; i++) {
		struct subtree *t = &x->at[x->m->interface_vertex[i]];
		uint64_t n = interface_quota(x, i);

		if (!fab_interface_is_up(x->m, i))
			continue;
		n = n < x->batch->n ? n : x->batch->n;
		if (is_for_nothing)
			t->left_over = (int64_t)n;
		else
			FAB_PUSH(&t->gain, ((struct gain){n, 1}));
	}
}

/* Besides those there are, more like the median one, wherever a server is attached now.
 */
static void offer_new(struct needing *x)
{
	uint32_t n;
	FAB_AUTOFREE uint32_t *up = fab_interfaces_up(x->m, &n);
	FAB_AUTOFREE double *each = FAB_NEW(n, double);
	uint64_t median;

	for (uint32_t i = 0; i < n; i++)
		each[i] = (double)interface_quota(x, up[i]);
	qsort(each, n, sizeof(*each), fab_cmp_double);
	median = (uint64_t)fab_quantile(each, n, 0.5);
	median = median < x->batch->n ? median : x->batch->n;
	for (uint32_t i = 0; i < n; i++) {
		struct subtree *t = &x->at[x->m->parent[x->m->interface_vertex[up[i]]]];

		if (median && !t->gain.n)
			FAB_PUSH(&t->gain, ((struct gain){median, x->batch->n}));
	}
}

/* A server and what it serves by itself. */
struct worth {
	uint32_t server;
	uint64_t nodes;
};

FAB_ORDER(by_nodes, struct worth, nodes, server)

/*
 * Where servers have several interfaces: those that can be left out are, the weakest
 * first. The rest is enough, by the whole model, but may be more than the fewest.
 * FAB_NONE: not even all are enough.
 */
static uint64_t leave_out(const struct needing *x)
{
	const struct fab_machine *m = x->m;
	FAB_AUTOFREE struct worth *worth =
		FAB_NEW0((size_t)m->n_servers + 1, struct worth);
	struct fab_machine some = *m;
	uint64_t n = 0;

	some.server_is_down = FAB_NEW((size_t)m->n_servers + 1, bool);
	memcpy(some.server_is_down, m->server_is_down,
	       m->n_servers * sizeof(*m->server_is_down));
	for (uint32_t s = 0; s < m->n_servers; s++) {
		worth[s].server = s;
		n += !m->server_is_down[s];
	}
	for (uint32_t i = 0; i < m->n_interfaces; i++)
		worth[m->interface_server[i]].nodes += interface_quota(x, i);
	qsort(worth, m->n_servers, sizeof(*worth), by_nodes);
	if (!fab_mapping_attains(&some, x->batch, x->bandwidth_mbps))
		n = FAB_NONE;
	for (uint32_t k = 0; k < m->n_servers && n != FAB_NONE && n > 1; k++) {
		uint32_t s = worth[k].server;

		if (some.server_is_down[s])
			continue;
		some.server_is_down[s] = true;
		if (fab_mapping_attains(&some, x->batch, x->bandwidth_mbps))
			n--;
		else
			some.server_is_down[s] = false;
	}
	free(some.server_is_down);
	return n;
}

/* Is some number of servers enough for the nodes with the largest image alone? */
static bool has_largest_in_time(const struct fab_machine *m,
				const struct fab_batch *batch,
				const struct fab_transfer_options *options,
				double seconds)
{
	FAB_AUTOFREE uint32_t *node = FAB_NEW((size_t)batch->n + 1, uint32_t);
	struct fab_batch largest = {.node = node};
	struct fab_machine equal = *m;

	for (uint32_t i = 0; i < batch->n; i++)
		if (fab_machine_part(m, batch->node[i]) >= 1)
			node[largest.n++] = batch->node[i];
	equal.image_part = NULL;
	return !largest.n || fab_advice_servers(&equal, &largest, options, seconds).n > 0;
}

/* Servers that send the images of a batch at their own full rate, each as fast as the
 * fastest available one; largest_mbps: the rate for one of the largest images. */
static uint32_t fewest_by_volume(const struct fab_machine *m,
				 const struct fab_batch *batch, double largest_mbps)
{
	FAB_AUTOFREE double *mbps = FAB_NEW0((size_t)m->n_servers + 1, double);
	double fastest = 0, needed = 0;

	for (uint32_t i = 0; i < m->n_interfaces; i++) {
		double *of = &mbps[m->interface_server[i]];

		*of += m->capacity_mbps[m->interface_vertex[i]];
		fastest = fmax(fastest, *of);
	}
	if (m->limits.disk_mbps > 0)
		fastest = fmin(fastest, m->limits.disk_mbps);
	FAB_EACH_NODE(batch, node)
		needed += fab_machine_part(m, node) * largest_mbps;
	return (uint32_t)fmax(1, ceil(needed / fastest * (1 - 1e-9)));
}

struct fab_servers_needed fab_advice_servers(const struct fab_machine *m,
					     const struct fab_batch *batch,
					     const struct fab_transfer_options *options,
					     double seconds)
{
	double budget = seconds - options->n_files * options->request_seconds;
	double needed = fab_transfer_image_mbit(options) / budget;
	struct needing x = {.m = m,
			    .batch = batch,
			    /* a time that was rounded is not missed for it */
			    .bandwidth_mbps = needed * (1 - 1e-9),
			    .n_interfaces = FAB_NEW0((size_t)m->n_servers + 1, uint32_t),
			    .at = FAB_NEW0(m->n_vertices, struct subtree)};
	struct fab_servers_needed out = {0};
	double flow = fab_limits_transfer_mbps(m, batch);
	bool is_possible =
		budget > 0 && batch->n &&
		(!(m->limits.flow_mbps > 0) || m->limits.flow_mbps >= x.bandwidth_mbps);
	uint64_t n = FAB_NONE;

	for (uint32_t s = 0; s < m->n_servers; s++)
		out.n_up += !m->server_is_down[s];
	for (uint32_t i = 0; i < m->n_interfaces; i++)
		out.is_estimate |= x.n_interfaces[m->interface_server[i]]++ &&
				   fab_interface_is_up(m, i);
	x.of_server = fab_limits_server_quota(m, flow, x.bandwidth_mbps);
	if (is_possible && out.is_estimate) {
		n = leave_out(&x);
	} else if (is_possible) {
		offer_servers(&x, false);
		n = fewest(&x);
	}
	if (is_possible && n == FAB_NONE) {
		offer_servers(&x, true);
		offer_new(&x);
		n = fewest(&x);
		if (n != FAB_NONE) {
			out.n_new = (uint32_t)n;
			n += out.n_up;
		}
	}
	out.n = n == FAB_NONE ? 0 : (uint32_t)n;
	/* hashed links carry less than one pipe */
	out.is_estimate |= fab_links_most(m) > 1 || m->image_part;
	out.n_least = out.n;
	if (out.n && out.is_estimate) {
		uint32_t least = fewest_by_volume(m, batch, x.bandwidth_mbps);

		out.n_least = least < out.n ? least : out.n;
	}
	FAB_FREE_ALL(x.n_interfaces, x.at);
	if (m->image_part && !out.n)
		out.is_unknown = has_largest_in_time(m, batch, options, seconds);
	return out;
}
