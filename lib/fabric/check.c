/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The check: rules that each look at the whole fabric and add findings, in the order of
 * the table at the end. Findings, and rules that compare switches with their
 * level, are in check_levels.c.
 */
#include "fabric/check_add.h"

#include "base/map.h"
#include "base/order.h"
#include "fabric/fabric.h"
#include "fabric/label.h"
#include "fabric/planes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* At the first of two ports; about both. */
static struct fab_finding at_ports(struct fab_checker *c, uint32_t port, uint32_t other)
{
	struct fab_finding at = AT_PORT(c->f->port_node[port], port);

	at.peer_port = other;
	at.peer_node = c->f->port_node[other];
	at.key = fab_ports_key(c->f, &c->check->arena, port, other);
	return at;
}

/* Name of the node of a port. */
static const char *owner(const struct fab_fabric *f, uint32_t port)
{
	return fab_node_name(f, f->port_node[port]);
}

/* Cables: widths and speeds against each other and against the usual, self-loops. */

/* The commonest value but 0; of equally common ones the lowest. */
static uint8_t commonest(const uint32_t *histogram)
{
	uint8_t best = 0;

	for (unsigned v = 1; v < 256; v++)
		if (histogram[v] && (!best || histogram[v] > histogram[best]))
			best = (uint8_t)v;
	return best;
}

/* One property of a cable: its width, or its speed. */
static void check_rate(struct fab_checker *c, struct fab_finding at, bool is_width)
{
	static const char *const class_names[FAB_N_CABLE_CLASSES] = {
		"switch links", "host links", "aggregation links", "other links"};
	const struct fab_fabric *f = c->f;
	enum fab_cable_class class = fab_cable_class(f, at.cable);
	const uint8_t *of_port = is_width ? f->port_width : f->port_speed;
	uint32_t port_a = f->cable_a[at.cable], port_b = f->cable_b[at.cable];
	uint8_t value[4] = {
		of_port[port_a], of_port[port_b],
		is_width ? fab_cable_width(f, at.cable) : fab_cable_speed(f, at.cable),
		is_width ? c->check->usual_width[class] : c->check->usual_speed[class]};
	char text[4][8], cable[512];

	if ((!value[0] || !value[1] || value[0] == value[1]) &&
	    (class == FAB_CABLE_OTHER || !value[2] || value[2] >= value[3]))
		return;
	for (int i = 0; i < 4; i++) {
		snprintf(text[i], sizeof(text[i]), "%ux", value[i]);
		if (!is_width)
			snprintf(text[i], sizeof(text[i]), "%s",
				 fab_speed_name(value[i]));
	}
	snprintf(cable, sizeof(cable),
		 "cable from port %u of \"%.180s\" to port %u of \"%.180s\"",
		 f->port_num[port_a], owner(f, port_a), f->port_num[port_b],
		 owner(f, port_b));
	if (value[0] && value[1] && value[0] != value[1])
		fab_checker_add(
			c, FAB_PROBLEM, is_width ? "width-mismatch" : "speed-mismatch",
			at, "%s: one end says %s, the other %s", cable, text[0], text[1]);
	else
		fab_checker_add(c, FAB_PROBLEM, is_width ? "narrow-link" : "slow-link",
				at, "%s: %s, where %s usually have %s", cable, text[2],
				class_names[class], text[3]);
}

static void check_links(struct fab_checker *c)
{
	const struct fab_fabric *f = c->f;
	struct fab_rates rates = fab_rates_of(f, 0, f->n_cables);
	FAB_AUTOFREE char *text = fab_rates_unknown_text(f, &rates);
	uint32_t widths[FAB_N_CABLE_CLASSES][256] = {0};
	uint32_t speeds[FAB_N_CABLE_CLASSES][256] = {0};

	for (uint32_t k = 0; k < f->n_cables; k++) {
		enum fab_cable_class class = fab_cable_class(f, k);

		c->check->n_cables[class]++;
		widths[class][fab_cable_width(f, k)]++;
		speeds[class][fab_cable_speed(f, k)]++;
	}
	for (unsigned class = 0; class < FAB_N_CABLE_CLASSES; class ++) {
		c->check->usual_width[class] = commonest(widths[class]);
		c->check->usual_speed[class] = commonest(speeds[class]);
	}
	/* Cables that were not compared are reported: silence would mean that the rates
	 * are right. */
	c->check->n_unknown_rates = rates.n_unknown;
	if (text)
		fab_checker_add(c, FAB_NOTE, "unknown-rate", AT_NODE(FAB_NONE),
				"of the cables %s: they were not compared", text);
	for (uint32_t i = 0; i < f->n_cables; i++) {
		uint32_t a = f->cable_a[i], b = f->cable_b[i];
		struct fab_finding at = {.node = f->port_node[a], .port = a, .cable = i};

		check_rate(c, at, true);
		check_rate(c, at, false);
		if (f->port_node[a] == f->port_node[b])
			fab_checker_add(
				c, FAB_NOTE, "self-loop", at,
				"ports %u and %u of \"%s\" are cabled to each other",
				f->port_num[a], f->port_num[b], owner(f, a));
	}
}

/*
 * Parts of the graph of switches: those that ought to be joined to the rest, and planes
 * (parallel networks of the same hosts) with fewer switches, cables or hosts than the
 * other planes have. A plane with less than half of any of them is another kind of
 * network, such as one for storage: a note.
 */

/* Key of a part: its switch of lowest GUID. */
static struct fab_finding at_part(struct fab_checker *c, const struct fab_planes *planes,
				  uint32_t part)
{
	struct fab_finding at = AT_NODE(planes->v[part].first_switch);
	uint32_t lowest = at.node;

	for (uint32_t s = 0; s < c->f->n_switches; s++)
		if (planes->of_switch[s] == part &&
		    c->f->node_guid[s] < c->f->node_guid[lowest])
			lowest = s;
	at.key = fab_check_key_nodes(c, &lowest, 1);
	return at;
}

enum { N_MEASURES = 3 };

/* A measure by which planes are compared. */
static uint32_t measure_of(const struct fab_plane *v, int m)
{
	return m == 0 ? v->n_switches : m == 1 ? v->n_switch_links : v->n_hosts;
}

static void compare_planes(struct fab_checker *c, const struct fab_planes *planes)
{
	static const char *const what[N_MEASURES] = {"switches",
						     "cables between switches", "hosts"};
	uint32_t usual[N_MEASURES] = {0};

	/* The value that most planes have; of equally common ones the largest. */
	for (int m = 0; m < N_MEASURES; m++)
		for (uint32_t i = 0, n_best = 0; i < planes->n_planes; i++) {
			uint32_t value = measure_of(&planes->v[i], m), n = 0;

			for (uint32_t k = 0; k < planes->n_planes; k++)
				n += measure_of(&planes->v[k], m) == value;
			if (n > n_best || (n == n_best && value > usual[m])) {
				usual[m] = value;
				n_best = n;
			}
		}
	for (uint32_t i = 0; i < planes->n_planes; i++) {
		const struct fab_plane *v = &planes->v[i];
		char name[FAB_PLANE_TEXT_SIZE];
		FAB_AUTOFREE char *text = NULL;
		bool is_small = false;

		for (int m = 0; m < N_MEASURES; m++) {
			uint32_t value = measure_of(v, m);

			if (value < usual[m])
				fab_append(&text, "; ", "%u %s, not %u", value, what[m],
					   usual[m]);
			is_small |= 2 * (uint64_t)value < usual[m];
		}
		if (text)
			fab_checker_add(
				c, is_small ? FAB_NOTE : FAB_PROBLEM,
				is_small ? "small-plane" : "unequal-plane",
				at_part(c, planes, i),
				"%s, that of \"%s\", is smaller than the other%s: %s",
				fab_plane_text(planes, i, name),
				fab_node_name(c->f, v->first_switch),
				planes->n_planes > 2 ? "s" : "", text);
	}
}

static void check_planes(struct fab_checker *c)
{
	FAB_AUTO(fab_planes_free_at) struct fab_planes *planes = fab_planes_new(c->f);
	uint32_t n_some = planes->n_hosts - planes->n_on_all;
	uint32_t n_out = c->f->n_left_out_switches;

	for (uint32_t i = planes->n_planes; i < planes->n; i++) {
		const struct fab_plane *v = &planes->v[i];
		char shared[128] = "", name[FAB_PLANE_TEXT_SIZE];

		if (v->n_shared)
			snprintf(shared, sizeof(shared),
				 "; %u of its %u host%s on %s, too", v->n_shared,
				 v->n_hosts, v->n_hosts == 1 ? " is" : "s are",
				 fab_plane_text(planes, planes->largest, name));
		fab_checker_add(
			c, FAB_PROBLEM, "unconnected-part", at_part(c, planes, i),
			"no cable joins \"%s\" to the rest of the fabric (a part of %u switch%s and %u adapter%s%s)",
			fab_node_name(c->f, v->first_switch), v->n_switches,
			v->n_switches == 1 ? "" : "es", v->n_adapters,
			v->n_adapters == 1 ? "" : "s", shared);
	}
	compare_planes(c, planes);
	if (planes->n_planes > 1) {
		char some[80] = "";

		if (n_some)
			snprintf(some, sizeof(some),
				 " (%u of %u hosts on only %s of them)", n_some,
				 planes->n_hosts, planes->n_planes == 2 ? "one" : "some");
		fab_checker_add(
			c, FAB_NOTE, "planes", AT_NODE(FAB_NONE),
			"the hosts are on %u planes%s, which no path joins: each is a network of its own (--hca=PATTERN chooses one, --hca=PATTERN/PORT where ports of an adapter differ)",
			planes->n_planes, some);
	}
	if (n_out)
		fab_checker_add(
			c, FAB_NOTE, "left-out", AT_NODE(FAB_NONE),
			"--hca leaves out %u switch%s, on which no adapter is left: they are not checked",
			n_out, n_out == 1 ? "" : "es");
}

/* LIDs, GUIDs and names: unique and present. */

/* The LIDs of one port, in one part of the fabric: parts are subnets of their own, and so
 * are two adapters joined to each other. */
struct lids {
	uint32_t part, first, last, port;
};

FAB_ORDER(by_lid, struct lids, part, first, port)

static void check_lids(struct fab_checker *c)
{
	const struct fab_fabric *f = c->f;
	uint32_t *component = FAB_ARENA_NEW(&c->scratch, f->n_switches, uint32_t);
	uint32_t n_parts = fab_fabric_components(f, component);
	struct lids *lids = FAB_ARENA_NEW(&c->scratch, f->n_ports, struct lids);
	size_t n = 0, reaching = 0; /* the range so far that reaches farthest */
	bool any = false;

	for (uint32_t p = 0; p < f->n_ports && !any; p++)
		any = f->port_lid[p] && f->port_lid[p] != UINT16_MAX;
	if (!any) {
		fab_checker_add(
			c, FAB_NOTE, "missing-lids", AT_NODE(FAB_NONE),
			"no port has a LID: this input has none, or no subnet manager has been at work");
		return;
	}
	/* Ports that take part in the subnet: a switch's port 0, an adapter's cabled
	 * port. */
	for (uint32_t p = 0; p < f->n_ports; p++) {
		uint32_t lmc = f->port_lmc[p] <= 7 ? f->port_lmc[p] : 0, sw;
		bool is_switch = fab_node_is_switch(f, f->port_node[p]);

		if (is_switch ? f->port_num[p] != 0 : f->port_cable[p] == FAB_NONE)
			continue;
		if (!f->port_lid[p] || f->port_lid[p] == UINT16_MAX) {
			fab_checker_add(c, FAB_PROBLEM, "missing-lid",
					AT_PORT(f->port_node[p], p),
					"port %u of \"%s\" has no LID", f->port_num[p],
					owner(f, p));
			continue;
		}
		/* parts behind n_parts are cables between adapters */
		sw = fab_port_switch(f, p);
		lids[n++] =
			(struct lids){.part = sw != FAB_NONE ? component[sw]
							     : n_parts + f->port_cable[p],
				      .first = f->port_lid[p],
				      .last = f->port_lid[p] + (1u << lmc) - 1,
				      .port = p};
	}
	qsort(lids, n, sizeof(*lids), by_lid);
	for (size_t i = 1; i < n; i++) {
		const struct lids *a = &lids[reaching], *b = &lids[i];

		if (a->part == b->part && b->first <= a->last)
			fab_checker_add(
				c, FAB_PROBLEM, "duplicate-lid",
				at_ports(c, b->port, a->port),
				"LID %u belongs to port %u of \"%s\" and to port %u of \"%s\"",
				b->first, f->port_num[a->port], owner(f, a->port),
				f->port_num[b->port], owner(f, b->port));
		if (a->part != b->part || b->last > a->last)
			reaching = i;
	}
}

struct guid {
	uint64_t guid;
	uint32_t id; /* node or port */
};

FAB_ORDER(by_guid, struct guid, guid, id)

/* GUIDs that several nodes or ports have; ports of one node's GUID count once. */
static void check_guids(struct fab_checker *c)
{
	const struct fab_fabric *f = c->f;
	struct guid *g = FAB_ARENA_NEW(&c->scratch, f->n_nodes + f->n_ports, struct guid);

	for (int of_ports = 0; of_ports < 2; of_ports++) {
		const uint64_t *guid = of_ports ? f->port_guid : f->node_guid;
		size_t n = 0, first = 0;

		for (uint32_t i = 0; i < (of_ports ? f->n_ports : f->n_nodes); i++)
			if (guid[i])
				g[n++] = (struct guid){guid[i], i};
		qsort(g, n, sizeof(*g), by_guid);
		for (size_t i = 1; i < n; i++) {
			unsigned long long value = g[i].guid;
			uint32_t a = g[first].id, b = g[i].id;

			if (g[i].guid != g[first].guid) {
				first = i;
			} else if (!of_ports) {
				fab_checker_add(
					c, FAB_PROBLEM, "duplicate-guid", AT_NODE(b),
					"node GUID 0x%016llx belongs to \"%s\" and to \"%s\"",
					value, fab_node_name(f, a), fab_node_name(f, b));
				c->has_duplicate_guid = true;
			} else if (f->port_node[a] == f->port_node[b] ||
				   f->node_guid[f->port_node[a]] !=
					   f->node_guid[f->port_node[b]]) {
				fab_checker_add(
					c, FAB_PROBLEM, "duplicate-port-guid",
					at_ports(c, b, a),
					"port GUID 0x%016llx belongs to port %u of \"%s\" and to port %u of \"%s\"",
					value, f->port_num[a], owner(f, a),
					f->port_num[b], owner(f, b));
			}
		}
	}
}

/* By the text without the blanks at its end. */
static int name_cmp(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b);
	int order;

	while (na && a[na - 1] == ' ')
		na--;
	while (nb && b[nb - 1] == ' ')
		nb--;
	order = memcmp(a, b, na < nb ? na : nb);
	return order ? order : (na > nb) - (na < nb);
}

static int by_name(const void *x, const void *y, void *fabric)
{
	const struct fab_fabric *f = fabric;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	int order = name_cmp(fab_node_name(f, a), fab_node_name(f, b));

	return order ? order : (a > b) - (a < b);
}

/*
 * Adapters without a name of their own differ by GUID and are noted elsewhere. Those
 * that have only the name of their host are no duplicates of each other: a node name map
 * gives it to all of them, and so do cards that are several nodes; the first one counts.
 */
static bool is_named_adapter(const struct fab_fabric *f, uint32_t node)
{
	uint32_t host = f->node_host[node];

	return !fab_node_is_switch(f, node) && host != FAB_NONE &&
	       !fab_host_is_unnamed(f, host) &&
	       (name_cmp(fab_node_name(f, node), fab_host_name(f, host)) != 0 ||
		f->host_adapter[f->host_first_adapter[host]] == node);
}

static void check_names(struct fab_checker *c)
{
	const struct fab_fabric *f = c->f;
	uint32_t *node = FAB_ARENA_NEW(&c->scratch, f->n_nodes, uint32_t);

	for (int switches = 1; switches >= 0; switches--) {
		size_t n = 0;

		for (uint32_t i = 0; i < f->n_nodes; i++)
			if (switches ? fab_node_is_switch(f, i) : is_named_adapter(f, i))
				node[n++] = i;
		qsort_r(node, n, sizeof(*node), by_name, (void *)(uintptr_t)f);
		for (size_t k = 0, end; k < n; k = end) {
			const char *name = fab_node_name(f, node[k]);
			struct fab_finding at = AT_NODE(node[k]);
			const uint64_t guid[2] = {f->node_guid[node[k]],
						  k + 1 < n ? f->node_guid[node[k + 1]]
							    : 0};

			end = k + 1;
			while (end < n && !name_cmp(name, fab_node_name(f, node[end])))
				end++;
			if (end - k == 1)
				continue;
			/* at the first of several nodes; about all of them */
			at.key = fab_check_key_nodes(c, node + k, end - k);
			fab_checker_add(
				c, FAB_PROBLEM, "duplicate-name", at,
				"%zu %s are called \"%s\" (GUIDs 0x%016llx, 0x%016llx%s)",
				end - k, switches ? "switches" : "adapters", name,
				(unsigned long long)guid[0], (unsigned long long)guid[1],
				end - k > 2 ? ", ..." : "");
		}
	}
}

static void check_adapters(struct fab_checker *c)
{
	const struct fab_fabric *f = c->f;
	uint32_t n = f->n_aggregation_nodes;

	for (uint32_t i = f->n_switches; i < f->n_nodes; i++) {
		const char *name = fab_node_name(f, i);
		unsigned long long guid = f->node_guid[i];
		uint32_t p = f->node_first_port[i];

		while (p < f->node_first_port[i + 1] && fab_port_switch(f, p) == FAB_NONE)
			p++;
		if (p == f->node_first_port[i + 1])
			fab_checker_add(
				c, FAB_PROBLEM, "adapter-without-switch", AT_NODE(i),
				"no cable joins \"%s\" (GUID 0x%016llx) to a switch",
				name, guid);
		if (f->node_host[i] != FAB_NONE &&
		    fab_host_is_unnamed(f, f->node_host[i]))
			fab_checker_add(
				c, FAB_NOTE, "unnamed-adapter", AT_NODE(i),
				"adapter with GUID 0x%016llx has no name of its own: \"%s\"",
				guid, name);
	}
	if (n)
		fab_checker_add(
			c, FAB_NOTE, "aggregation-nodes", AT_NODE(FAB_NONE),
			"%u SHARP aggregation node%s no host%s: OpenSM's ftree routing needs root_guid_file and cn_guid_file here",
			n, n == 1 ? " is" : "s are", n == 1 ? "" : "s");
}

/*
 * Rails: adapters of the same name ("mlx5_0") and port are mostly on the same switches. A
 * host of which two are cabled the other way round than those of the others has its
 * cables exchanged.
 */

enum { RAIL_LEAST = 4 }; /* host cables of a switch, three quarters of them of one rail */

/* The rail of each port of a host's adapter, by name and number. Returns how many. */
static uint32_t find_rails(const struct fab_fabric *f, uint32_t *rail)
{
	FAB_AUTO(fab_strmap_free_at) struct fab_strmap *names = fab_strmap_new(64);
	uint32_t n_rails = 0;

	for (uint32_t k = f->n_switch_links; k < f->n_switch_links + f->n_host_links;
	     k++) {
		uint32_t port = f->cable_b[k], node = f->port_node[port];
		const char *name = fab_node_name(f, node), *blank = strrchr(name, ' ');
		char key[96];
		int n;

		if (f->node_host[node] == FAB_NONE || !blank || !blank[1] ||
		    fab_host_is_unnamed(f, f->node_host[node]))
			continue;
		n = snprintf(key, sizeof(key), "%.80s/%u", blank + 1, f->port_num[port]);
		rail[port] = fab_strmap_put(names, key, (size_t)n, n_rails);
		n_rails += rail[port] == n_rails;
	}
	return n_rails;
}

static void check_rails(struct fab_checker *c)
{
	const struct fab_fabric *f = c->f;
	uint32_t *rail = fab_arena_none(&c->scratch, f->n_ports); /* of a port */
	uint32_t *of_switch = FAB_ARENA_NEW(&c->scratch, f->n_switches, uint32_t);
	uint32_t n_rails, *count;

	n_rails = find_rails(f, rail);
	/* The rail of most host cables of each switch. */
	count = FAB_ARENA_NEW0(&c->scratch, n_rails, uint32_t);
	for (uint32_t s = 0; s < f->n_switches && n_rails > 1; s++) {
		uint32_t n = 0, best = FAB_NONE;

		FAB_EACH_PORT(f, s, p) {
			uint32_t peer = fab_port_peer(f, p);
			uint32_t r = peer == FAB_NONE ? FAB_NONE : rail[peer];

			if (r == FAB_NONE)
				continue;
			n++;
			if (++count[r] > (best == FAB_NONE ? 0 : count[best]))
				best = r;
		}
		of_switch[s] =
			n >= RAIL_LEAST && 4 * count[best] >= 3 * n ? best : FAB_NONE;
		FAB_EACH_PORT(f, s, p) {
			uint32_t peer = fab_port_peer(f, p);

			if (peer != FAB_NONE && rail[peer] != FAB_NONE)
				count[rail[peer]] = 0;
		}
	}
	for (uint32_t h = 0; h < f->n_hosts && n_rails > 1; h++) {
		FAB_VEC(uint32_t) wrong = {0}; /* ports on a switch of another rail */

		FAB_EACH_ADAPTER(f, h, i)
			FAB_EACH_PORT(f, f->host_adapter[i], p) {
				uint32_t s = fab_port_switch(f, p);

				if (rail[p] != FAB_NONE && s != FAB_NONE &&
				    of_switch[s] != FAB_NONE && of_switch[s] != rail[p])
					FAB_PUSH(&wrong, p);
			}
		for (size_t i = 0; i < wrong.n; i++)
			for (size_t k = i + 1; k < wrong.n; k++) {
				uint32_t a = wrong.v[i], b = wrong.v[k];
				uint32_t sa = fab_port_switch(f, a);
				uint32_t sb = fab_port_switch(f, b);

				if (of_switch[sa] != rail[b] || of_switch[sb] != rail[a])
					continue;
				fab_checker_add(
					c, FAB_PROBLEM, "mixed-rails", at_ports(c, a, b),
					"port %u of \"%s\" is on \"%s\" and port %u of \"%s\" on \"%s\", the other way round than those of other hosts: exchange the cables",
					f->port_num[a], owner(f, a), fab_node_name(f, sa),
					f->port_num[b], owner(f, b),
					fab_node_name(f, sb));
			}
		free(wrong.v);
	}
}

/* Warnings of the reader and the builder. */

static const char no_record[] = "unknown-peer";

uint32_t fab_check_without_record(const struct fab_fabric *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n_warnings; i++)
		n += !strcmp(f->warnings[i].code, no_record);
	return n;
}

static bool is_one_of(const char *code, const char *const *list)
{
	while (*list && strcmp(*list, code) != 0)
		list++;
	return *list;
}

/* Those about nodes without a record, or the others but for what is found here again. */
static void take_warnings(struct fab_checker *c, bool without_record)
{
	static const char *const found_here[] = {"speed-mismatch", "width-mismatch",
						 NULL};
	static const char *const notes[] = {"foreign-line",
					    "foreign-lines",
					    "trailing-line",
					    "missing-blank-line",
					    "unused-name",
					    "unprintable-name",
					    NULL};

	for (uint32_t k = 0; k < c->f->n_warnings; k++) {
		const struct fab_warning *w = &c->f->warnings[k];
		struct fab_finding at = AT_NODE(FAB_NONE);

		if (!strcmp(w->code, no_record) != without_record ||
		    is_one_of(w->code, found_here) ||
		    (c->has_duplicate_guid && !strcmp(w->code, "duplicate-guid")))
			continue;
		at.line = w->line;
		at.key = w->about ? fab_arena_strdup(&c->check->arena, w->about) : NULL;
		fab_checker_add(c, is_one_of(w->code, notes) ? FAB_NOTE : FAB_PROBLEM,
				w->code, at, "%s", w->message);
	}
}

/* That the input is incomplete explains most other findings: it comes first. */
static void check_records(struct fab_checker *c)
{
	take_warnings(c, true);
}

static void check_input(struct fab_checker *c)
{
	take_warnings(c, false);
}

/* Problems before notes, codes together in the order in which they first came up. */
static void sort_findings(struct fab_checker *c)
{
	struct fab_finding *sorted = FAB_NEW(c->found.n, struct fab_finding);
	size_t n = 0;

	for (int severity = FAB_PROBLEM; severity >= FAB_NOTE; severity--) {
		for (size_t i = 0; i < c->found.n; i++) {
			const char *code = c->found.v[i].code;

			if (!c->found.v[i].message ||
			    (int)c->found.v[i].severity != severity)
				continue;
			for (size_t k = i; k < c->found.n; k++) {
				struct fab_finding *from = &c->found.v[k];

				if (!from->message || strcmp(from->code, code))
					continue;
				sorted[n++] = *from;
				from->message = NULL; /* taken */
			}
		}
		if (severity == FAB_PROBLEM)
			c->check->n_problems = (uint32_t)n;
	}
	free(c->found.v);
	c->check->findings = sorted;
	c->check->n_findings = (uint32_t)n;
}

struct fab_check *fab_check_new(const struct fab_fabric *f)
{
	static void (*const rules[])(struct fab_checker * c) = {
		check_records, check_planes, check_links, fab_check_levels,
		check_lids,    check_guids,  check_names, check_adapters,
		check_rails,   check_input};
	struct fab_checker c = {.f = f, .check = FAB_NEW0(1, struct fab_check)};

	for (size_t i = 0; i < FAB_COUNT(rules); i++) {
		rules[i](&c);
		fab_arena_free(&c.scratch);
	}
	sort_findings(&c);
	return c.check;
}

void fab_check_free(struct fab_check *check)
{
	if (!check)
		return;
	fab_arena_free(&check->arena);
	FAB_FREE_ALL(check->findings, check->known, check);
}
