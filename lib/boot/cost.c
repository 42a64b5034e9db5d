/* SPDX-License-Identifier: BSD-2-Clause */
/* The cheapest numbers of servers and uplinks, and kinds of NICs. */
#include "boot/cost.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/order.h"
#include "base/units.h"
#include "boot/impl.h"

enum {
	LINKS_MAX = 4096,   /* of one segment */
	TRIES_MAX = 128,    /* numbers of servers for one NIC */
	VECTORS_MAX = 4096, /* looked at for one NIC and number of servers */
	SERVERS_MAX = 1 << 20,
};

/* ---- prices ---- */

enum { WORDS_MAX = 4 };

struct reader {
	const struct fab_machine *m;
	struct fab_prices *out;
	bool has_server;
};

static bool is_word(const struct fab_item *word, const char *text)
{
	return word->len == strlen(text) && !memcmp(word->text, text, word->len);
}

static int bad_price(const struct fab_item *line, const char *expected,
		     struct fab_err *err)
{
	return fab_fail(err, EINVAL, "'%.*s': expected %s",
			line->len > 60 ? 60 : (int)line->len, line->text, expected);
}

/* A level other than the root, nodes and servers. */
static uint32_t level_of(const struct fab_machine *m, const struct fab_item *word)
{
	uint32_t l = fab_limits_level(m, word->text, word->len);

	return l == FAB_NONE || !l || l == m->level_of[m->node_vertex[0]] ||
			       l == m->level_of[m->interface_vertex[0]]
		       ? FAB_NONE
		       : l;
}

static int read_line(void *context, struct fab_item line, struct fab_err *err)
{
	struct reader *r = context;
	struct fab_item word[WORDS_MAX + 1];
	struct fab_price price = {.level = FAB_NONE};
	uint32_t n = 0, *n_of;
	struct fab_price *list;
	bool is_server, is_nic;
	size_t at = 0;

	while (at < line.len && n <= WORDS_MAX) {
		size_t len = 0;

		while (at + len < line.len && !strchr(" \t\r", line.text[at + len]))
			len++;
		if (len)
			word[n++] = (struct fab_item){.text = line.text + at, .len = len};
		at += len + 1;
	}
	is_server = n == 2 && is_word(&word[0], "server");
	is_nic = n == 3 && is_word(&word[0], "nic");
	if (!is_server && !is_nic && !(n == 4 && is_word(&word[0], "uplink")))
		return bad_price(
			&line, "server PRICE, nic RATE PRICE or uplink LEVEL RATE PRICE",
			err);
	if (!fab_parse_real(word[n - 1].text, word[n - 1].len, 0, 1e12, &price.price))
		return bad_price(&word[n - 1], "a price from 0 to 1e12", err);
	if (is_server && r->has_server)
		return bad_price(&line, "one price of servers", err);
	if (is_server) {
		r->has_server = true;
		r->out->server = price.price;
		return 0;
	}
	if (fab_parse_rate_mbps(word[n - 2].text, word[n - 2].len, &price.mbps, err))
		return -EINVAL;
	if (!is_nic) {
		price.level = level_of(r->m, &word[1]);
		if (price.level == FAB_NONE)
			return bad_price(&word[1], "a level between nodes and servers",
					 err);
	}
	n_of = is_nic ? &r->out->n_nics : &r->out->n_uplinks;
	list = is_nic ? r->out->nic : r->out->uplink;
	if (*n_of == FAB_PRICES_MAX)
		return bad_price(&line, "at most 64 NICs and 64 uplinks", err);
	list[(*n_of)++] = price;
	return 0;
}

int fab_prices_read(const struct fab_machine *m, const char *file, const char *text,
		    size_t len, struct fab_prices *out, struct fab_err *err)
{
	struct reader r = {.m = m, .out = out};
	int rc;

	*out = (struct fab_prices){.efficiency = 1};
	rc = fab_list_lines(file, text, len, read_line, &r, err);
	if (!rc && (!r.has_server || !out->n_nics))
		rc = fab_fail(err, EINVAL, "%s: no line has the price of a %s", file,
			      r.has_server ? "nic" : "server");
	return rc;
}

/* ---- plans ---- */

/* Choices of a level, by rising cost. */
struct offer {
	double mbps, cost; /* as bought, of one segment */
	uint32_t n;
	const struct fab_price *price;
};

struct priced {
	uint32_t level, n_offers;
	struct offer *offer;
	uint32_t n_segments; /* that reach a node of the batch or a server */
};

struct search {
	const struct fab_machine *m;
	const struct fab_batch *batch;
	const struct fab_prices *prices;
	double bandwidth;
	uint32_t n_levels;
	struct priced level[FAB_MACHINE_LEVELS_MAX];
	uint32_t *before; /* [n_nodes + 1] nodes of the batch before a node */
	uint32_t *place;  /* [n_places] vertices that servers are connected to */
	uint32_t n_places;
	struct fab_machine *now; /* with some number of servers; NULL */
	struct fab_cost_plan *best;
	bool is_cut; /* not all was looked at */
};

/* Nodes of the batch, and servers, below a vertex of either machine. */
static uint32_t nodes_below(const struct search *x, const struct fab_machine *m,
			    uint32_t v)
{
	return x->before[m->end_node[v]] - x->before[m->first_node[v]];
}

static uint32_t servers_below(const struct fab_machine *m, uint32_t v)
{
	return m->end_interface[v] - m->first_interface[v];
}

/* Mb/s of the image that a link brings. */
static double usable(const struct search *x, uint32_t level, double mbps)
{
	const struct fab_limits *l = &x->m->limits;

	double left = mbps * (1 - l->reserved[level]) - l->reserved_mbps[level];

	return fmax(left, 0) * x->prices->efficiency;
}

/* Does it serve that many nodes at the bandwidth? */
static bool serves(const struct search *x, uint32_t level, double mbps, uint64_t nodes)
{
	double rate = usable(x, level, mbps);

	return rate > 0 && fab_limits_quota(rate, x->bandwidth) >= nodes;
}

FAB_ORDER_MIXED(by_cost, struct offer, FAB_UP(cost) FAB_DOWN(mbps))

/* All links of a level up to what it can ever need, without those that others beat. */
static void make_offers(struct search *x, uint32_t level)
{
	struct priced *p = &x->level[x->n_levels++];
	const struct fab_machine *m = x->m;
	uint64_t most = 0;
	FAB_VEC(struct offer) all = {0};
	uint32_t n = 0;

	*p = (struct priced){.level = level};
	for (uint32_t v = 1; v < m->n_vertices; v++) {
		uint32_t n_nodes =
			servers_below(m, v) ? x->batch->n : nodes_below(x, m, v);

		if (m->level_of[v] == level && n_nodes > most)
			most = n_nodes;
	}
	for (uint32_t i = 0; i < x->prices->n_uplinks; i++) {
		const struct fab_price *u = &x->prices->uplink[i];
		bool is_enough = u->level != level;

		for (uint32_t k = 1; k <= LINKS_MAX && !is_enough; k++) {
			FAB_PUSH(&all, ((struct offer){k * u->mbps, k * u->price, k, u}));
			is_enough = serves(x, level, k * u->mbps, most);
		}
		x->is_cut |= !is_enough;
	}
	FAB_SORT(&all, by_cost);
	for (size_t i = 0; i < all.n; i++)
		if (!n || all.v[i].mbps > all.v[n - 1].mbps)
			all.v[n++] = all.v[i];
	p->offer = all.v;
	p->n_offers = n;
}

/* The machine with other servers; x->now. The order of nodes stays. */
static void build(struct search *x, uint32_t n_servers, double nic_mbps)
{
	const struct fab_machine *m = x->m;
	FAB_AUTOFREE uint32_t *raw = FAB_NEW(m->n_vertices, uint32_t);
	uint32_t server_level = m->level_of[m->interface_vertex[0]], node = 0;
	struct fab_machine_builder b;
	struct fab_err err;

	fab_machine_free(x->now);
	x->now = NULL;
	fab_machine_builder_init(&b, m->source);
	memcpy(b.m->level, m->level, sizeof(m->level));
	b.m->n_levels = m->n_levels;
	b.raw.n = 0;
	for (uint32_t v = 0; v < m->n_vertices; v++) {
		bool is_node = node < m->n_nodes && m->node_vertex[node] == v;

		raw[v] = (uint32_t)b.raw.n;
		if (servers_below(m, v) == 1 &&
		    m->interface_vertex[m->first_interface[v]] == v)
			continue;
		node += is_node;
		FAB_PUSH(&b.raw,
			 fab_raw_vertex(v ? raw[m->parent[v]] : FAB_NONE,
					m->capacity_mbps[v], m->level_of[v],
					is_node ? FAB_VERTEX_NODE : FAB_VERTEX_SWITCH));
	}
	for (uint32_t i = 0; i < n_servers; i++)
		FAB_PUSH(&b.raw, fab_raw_vertex(raw[x->place[i % x->n_places]],
						usable(x, server_level, nic_mbps),
						server_level, FAB_VERTEX_INTERFACE));
	if (fab_machine_builder_finish(&b, 0, &x->now, &err))
		return; /* never: nodes and servers are there */
	x->now->limits = m->limits;
	for (uint32_t i = 0; i < x->n_levels; i++) {
		struct priced *p = &x->level[i];

		p->n_segments = 0;
		for (uint32_t v = 1; v < x->now->n_vertices; v++)
			p->n_segments +=
				x->now->level_of[v] == p->level &&
				(nodes_below(x, x->now, v) || servers_below(x->now, v));
	}
}

/* Is it enough with these offers of the levels? */
static bool attains(struct search *x, const uint32_t *chosen)
{
	struct fab_machine *m = x->now;

	for (uint32_t v = 1; v < m->n_vertices; v++)
		for (uint32_t i = 0; i < x->n_levels; i++)
			if (m->level_of[v] == x->level[i].level)
				m->capacity_mbps[v] =
					usable(x, x->level[i].level,
					       x->level[i].offer[chosen[i]].mbps);
	return fab_mapping_attains(m, x->batch, x->bandwidth);
}

static double cost_of(const struct search *x, const uint32_t *chosen)
{
	double cost = 0;

	for (uint32_t i = 0; i < x->n_levels; i++)
		cost += x->level[i].n_segments * x->level[i].offer[chosen[i]].cost;
	return cost;
}

/* Offers of the levels that may be enough. */
struct vector {
	double cost;
	uint32_t chosen[FAB_MACHINE_LEVELS_MAX];
};

struct vectors {
	FAB_VEC(struct vector) of;
};

static void add_vector(const struct search *x, struct vectors *open,
		       const uint32_t *chosen)
{
	struct vector v = {.cost = cost_of(x, chosen)};

	memcpy(v.chosen, chosen, x->n_levels * sizeof(*chosen));
	for (size_t i = 0; i < open->of.n; i++)
		if (!memcmp(open->of.v[i].chosen, v.chosen, sizeof(v.chosen)))
			return;
	FAB_PUSH(&open->of, v);
}

/* Least number of each level while the others have most; false: not enough. */
static bool find_least(struct search *x, uint32_t *least)
{
	uint32_t chosen[FAB_MACHINE_LEVELS_MAX];

	for (uint32_t i = 0; i < x->n_levels; i++)
		chosen[i] = x->level[i].n_offers - 1;
	if (!attains(x, chosen))
		return false;
	for (uint32_t i = 0; i < x->n_levels; i++) {
		uint32_t lo = 0, hi = x->level[i].n_offers - 1;

		while (lo < hi) {
			chosen[i] = lo + (hi - lo) / 2;
			if (attains(x, chosen))
				hi = chosen[i];
			else
				lo = chosen[i] + 1;
		}
		least[i] = lo;
		chosen[i] = x->level[i].n_offers - 1;
	}
	return true;
}

/* The cheapest offers that are enough with this machine, if they cost less than `most`:
 * vectors from the least one on, the cheapest first. */
static bool choose(struct search *x, uint32_t *chosen, double most)
{
	struct vectors open = {0};
	uint32_t n_tried = 0;
	bool is_found = false;

	if (!find_least(x, chosen))
		return false;
	add_vector(x, &open, chosen);
	for (size_t done = 0; done < open.of.n && !is_found; done++) {
		size_t at = done;
		struct vector v;

		for (size_t i = done; i < open.of.n; i++)
			if (open.of.v[i].cost < open.of.v[at].cost)
				at = i;
		v = open.of.v[at];
		open.of.v[at] = open.of.v[done];
		open.of.v[done] = v;
		if (v.cost >= most)
			break;
		if (++n_tried > VECTORS_MAX) {
			x->is_cut = true;
			break;
		}
		memcpy(chosen, v.chosen, sizeof(v.chosen));
		is_found = attains(x, chosen);
		for (uint32_t i = 0; i < x->n_levels && !is_found; i++)
			if (v.chosen[i] + 1 < x->level[i].n_offers) {
				v.chosen[i]++;
				add_vector(x, &open, v.chosen);
				v.chosen[i]--;
			}
	}
	free(open.of.v);
	return is_found;
}

/* Cost of a segment of a level that serves that many nodes; INFINITY: none does. */
static double least_offer(const struct search *x, const struct priced *p, uint64_t nodes)
{
	for (uint32_t i = 0; i < p->n_offers; i++)
		if (serves(x, p->level, p->offer[i].mbps, nodes))
			return p->offer[i].cost;
	return INFINITY;
}

/* Least cost of uplinks for any servers: of a level without servers all nodes
 * pass it, of one without nodes all that is served. */
static double least_uplinks(const struct search *x)
{
	const struct fab_machine *m = x->m;
	double cost = 0;

	for (uint32_t i = 0; i < x->n_levels; i++) {
		const struct priced *p = &x->level[i];
		uint32_t n_servers = 0, n_nodes = 0, n_used = 0, n = 0, most = 0;
		double least = INFINITY;

		for (uint32_t v = 1; v < m->n_vertices; v++) {
			uint32_t below = nodes_below(x, m, v);

			if (m->level_of[v] != p->level)
				continue;
			n++;
			n_servers += servers_below(m, v);
			n_nodes += m->end_node[v] - m->first_node[v];
			n_used += below > 0;
			most = below > most ? below : most;
		}
		if (n_servers)
			most = 0;
		/* by some of the segments evenly */
		for (uint32_t k = 1; k <= n && n_servers == m->n_interfaces && !n_nodes;
		     k++)
			least = fmin(least,
				     k * least_offer(x, p, (x->batch->n + k - 1) / k));
		if (isfinite(least))
			cost += least;
		else if (n_used)
			cost += n_used * least_offer(x, p, most);
	}
	return cost;
}

/* The fewest servers with this NIC that are enough by any uplinks; 0: none are. More
 * servers never hurt. */
static uint32_t fewest_servers(struct search *x, double nic_mbps)
{
	const struct fab_machine *m = x->m;
	uint32_t server_level = m->level_of[m->interface_vertex[0]];
	double rate = usable(x, server_level, nic_mbps);
	uint64_t quota = rate > 0 ? fab_limits_quota(rate, x->bandwidth) : 0;
	uint64_t of_server = fab_limits_server_quota(
		m, fab_limits_transfer_mbps(m, x->batch), x->bandwidth);
	uint64_t lo, hi, most = x->batch->n;
	uint32_t least[FAB_MACHINE_LEVELS_MAX];

	/* where nodes and servers hang together each place may need as many as its nodes
	 */
	for (uint32_t i = 0; i < x->n_places; i++)
		if (nodes_below(x, m, x->place[i]))
			most = (uint64_t)x->batch->n * x->n_places;
	x->is_cut |= most > SERVERS_MAX;
	most = most < SERVERS_MAX ? most : SERVERS_MAX;
	quota = of_server < quota ? of_server : quota;
	if (!quota)
		return 0;
	lo = (x->batch->n + quota - 1) / quota;
	for (hi = lo; hi <= most; hi = hi * 2 < most || hi == most ? hi * 2 : most) {
		build(x, (uint32_t)hi, nic_mbps);
		if (find_least(x, least))
			break;
		lo = hi + 1;
	}
	if (hi > most)
		return 0;
	while (lo < hi) {
		uint64_t middle = lo + (hi - lo) / 2;

		build(x, (uint32_t)middle, nic_mbps);
		if (find_least(x, least))
			hi = middle;
		else
			lo = middle + 1;
	}
	return (uint32_t)lo;
}

static void keep_plan(struct search *x, uint32_t n_servers, const struct fab_price *nic,
		      const uint32_t *chosen)
{
	*x->best = (struct fab_cost_plan){
		.n_servers = n_servers,
		.nic_mbps = nic->mbps,
		.n_levels = x->n_levels,
		.cost = n_servers * (x->prices->server + nic->price) + cost_of(x, chosen),
		.seconds = 8 / fab_mapping_upper_bound_mbps(x->now, x->batch)};
	for (uint32_t i = 0; i < x->n_levels; i++) {
		const struct offer *o = &x->level[i].offer[chosen[i]];

		x->best->uplinks[i] =
			(struct fab_cost_uplinks){.level = x->level[i].level,
						  .n = o->n,
						  .n_segments = x->level[i].n_segments,
						  .mbps = o->price->mbps,
						  .price = o->price->price};
	}
}

static void try_nic(struct search *x, const struct fab_price *nic)
{
	double each = x->prices->server + nic->price, uplinks = least_uplinks(x);
	uint32_t n = isfinite(uplinks) ? fewest_servers(x, nic->mbps) : 0;

	for (uint32_t tries = 0; n && n * each + uplinks < x->best->cost; n++) {
		uint32_t chosen[FAB_MACHINE_LEVELS_MAX] = {0};

		if (tries++ == TRIES_MAX || n > SERVERS_MAX) {
			x->is_cut = true;
			break;
		}
		build(x, n, nic->mbps);
		if (choose(x, chosen, x->best->cost - n * each))
			keep_plan(x, n, nic, chosen);
	}
}

static double requests_of(const struct fab_transfer_options *options)
{
	return options->n_files * options->request_seconds;
}

bool fab_cost_cheapest(const struct fab_machine *m, const struct fab_batch *batch,
		       const struct fab_transfer_options *options,
		       const struct fab_prices *prices, double seconds,
		       struct fab_cost_plan *out)
{
	double image_mbit = fab_transfer_image_mbit(options);
	double budget = seconds - requests_of(options);
	struct search x = {.m = m,
			   .batch = batch,
			   .prices = prices,
			   /* a time that was rounded is not missed for it */
			   .bandwidth = image_mbit / budget * (1 - 1e-9),
			   .before = FAB_NEW0((size_t)m->n_nodes + 1, uint32_t),
			   .place = FAB_NEW((size_t)m->n_interfaces + 1, uint32_t),
			   .best = out};
	FAB_AUTOFREE bool *is_place = FAB_NEW0(m->n_vertices, bool);

	*out = (struct fab_cost_plan){.cost = INFINITY};
	for (uint32_t i = 0; i < batch->n; i++)
		x.before[batch->node[i] + 1] = 1;
	for (uint32_t i = 0; i < m->n_nodes; i++)
		x.before[i + 1] += x.before[i];
	for (uint32_t i = 0; i < m->n_interfaces; i++) {
		uint32_t v = m->parent[m->interface_vertex[i]];

		if (!is_place[v])
			x.place[x.n_places++] = v;
		is_place[v] = true;
	}
	for (uint32_t l = 1; l < m->n_levels && budget > 0; l++)
		for (uint32_t i = 0; i < prices->n_uplinks; i++)
			if (prices->uplink[i].level == l) {
				make_offers(&x, l);
				break;
			}
	for (uint32_t i = 0; i < prices->n_nics && budget > 0 && batch->n; i++)
		try_nic(&x, &prices->nic[i]);
	out->is_exact = !x.is_cut;
	out->seconds = requests_of(options) + out->seconds * image_mbit / 8;
	for (uint32_t i = 0; i < x.n_levels; i++)
		free(x.level[i].offer);
	fab_machine_free(x.now);
	FAB_FREE_ALL(x.before, x.place);
	return isfinite(out->cost);
}

uint32_t fab_cost_frontier(const struct fab_machine *m, const struct fab_batch *batch,
			   const struct fab_transfer_options *options,
			   const struct fab_prices *prices, uint32_t most,
			   struct fab_cost_plan *out)
{
	double seconds = 1e15;
	uint32_t n = 0;

	while (n < most && fab_cost_cheapest(m, batch, options, prices, seconds, &out[n]))
		seconds = out[n++].seconds / 2;
	return n;
}
