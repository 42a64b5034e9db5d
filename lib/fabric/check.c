/* SPDX-License-Identifier: BSD-2-Clause */
#include "fabric/check_add.h"

#include "base/mem.h"
#include "base/order.h"
#include "base/sets.h"
#include "base/text.h"
#include "fabric/fabric.h"
#include "fabric/label.h"
#include "fabric/planes.h"
#include "fabric/ranks.h"
#include "fabric/shape.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Keys of findings, independent of the order of the input. */

enum { GUID_BYTES = 19 }; /* "0x", 16 digits, a blank or the end */

static int by_node_guid(const void *x, const void *y, void *fabric)
{
	const struct fab_fabric *f = fabric;
	uint64_t a = f->node_guid[*(const uint32_t *)x];
	uint64_t b = f->node_guid[*(const uint32_t *)y];

	return (a > b) - (a < b);
}

char *fab_check_key_nodes(const struct fab_fabric *f, uint32_t *nodes, size_t n)
{
	char *key = FAB_NEW(n * GUID_BYTES + 1, char), *at = key;

	qsort_r(nodes, n, sizeof(*nodes), by_node_guid, (void *)(uintptr_t)f);
	for (size_t i = 0; i < n; i++)
		at += snprintf(at, GUID_BYTES + 1, "%s0x%016llx", i ? " " : "",
			       (unsigned long long)f->node_guid[nodes[i]]);
	return key;
}

static char *port_text(const struct fab_fabric *f, uint32_t port)
{
	return fab_format("0x%016llx/%u",
			  (unsigned long long)f->node_guid[f->port_node[port]],
			  f->port_num[port]);
}

static bool comes_before(const struct fab_fabric *f, uint32_t a, uint32_t b)
{
	uint64_t ga = f->node_guid[f->port_node[a]], gb = f->node_guid[f->port_node[b]];

	return ga != gb ? ga < gb : f->port_num[a] < f->port_num[b];
}

static char *check_key_ports(const struct fab_fabric *f, uint32_t a, uint32_t b)
{
	char *first, *second, *key;

	if (b == FAB_NONE)
		return port_text(f, a);
	first = port_text(f, comes_before(f, a, b) ? a : b);
	second = port_text(f, comes_before(f, a, b) ? b : a);
	key = fab_format("%s %s", first, second);
	free(first);
	free(second);
	return key;
}

/* One finding more. */

static char *key_of(const struct fab_fabric *f, struct fab_finding *at)
{
	size_t size;
	size_t n = 0;
	char *safe;
	char *key;

	if (at->cable != FAB_NONE)
		return check_key_ports(f, f->cable_a[at->cable], f->cable_b[at->cable]);
	if (at->port != FAB_NONE)
		return check_key_ports(f, at->port, FAB_NONE);
	if (at->node != FAB_NONE)
		return fab_check_key_nodes(f, &at->node, 1);
	size = 4 * strlen(at->message) + 1;
	safe = FAB_NEW(size, char);
	key = FAB_NEW(2 * size + 2, char);
	fab_text_safe(at->message, safe, size);
	key[n++] = '"';
	for (const char *p = safe; *p; p++) {
		if (*p == '"' || *p == '\\')
			key[n++] = '\\';
		key[n++] = *p;
	}
	key[n++] = '"';
	key[n] = '\0';
	free(safe);
	return key;
}

void fab_checker_add(struct fab_checker *c, enum fab_severity severity, const char *code,
		     struct fab_finding at, const char *format, ...)
{
	char text[1024];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	at.code = code;
	at.severity = severity;
	at.message = fab_strdup(text);
	if (!at.key)
		at.key = key_of(c->f, &at);
	FAB_PUSH(&c->found, at);
}

/* Cables: widths and speeds against each other and against the usual, self-loops. */

static const char *const class_names[FAB_N_CABLE_CLASSES] = {
	"switch links", "host links", "aggregation links", "other links"};

/* The commonest value but 0; of equally common ones the lowest. */
static uint8_t commonest(const uint32_t *histogram)
{
	uint8_t best = 0;

	for (unsigned v = 1; v < 256; v++)
		if (histogram[v] && (!best || histogram[v] > histogram[best]))
			best = (uint8_t)v;
	return best;
}

/* A cable in words: both its ends, cut to fit. */
static const char *cable_text(const struct fab_fabric *f, uint32_t cable, char out[512])
{
	uint32_t a = f->cable_a[cable], b = f->cable_b[cable];

	snprintf(out, 512, "cable from port %u of \"%.180s\" to port %u of \"%.180s\"",
		 f->port_num[a], fab_node_name(f, f->port_node[a]), f->port_num[b],
		 fab_node_name(f, f->port_node[b]));
	return out;
}

static void check_width(struct fab_checker *c, uint32_t cable, struct fab_finding at)
{
	const struct fab_fabric *f = c->f;
	uint8_t a = f->port_width[f->cable_a[cable]],
		b = f->port_width[f->cable_b[cable]];
	enum fab_cable_class class = fab_cable_class(f, cable);
	uint8_t width = fab_cable_width(f, cable), usual = c->check->usual_width[class];
	char text[512];

	if (a && b && a != b)
		fab_checker_add(c, FAB_PROBLEM, "width-mismatch", at,
				"%s: one end says %ux, the other %ux",
				cable_text(f, cable, text), a, b);
	else if (class != FAB_CABLE_OTHER && width && width < usual)
		fab_checker_add(c, FAB_PROBLEM, "narrow-link", at,
				"%s: %ux, where %s usually have %ux",
				cable_text(f, cable, text), width, class_names[class],
				usual);
}

static void check_speed(struct fab_checker *c, uint32_t cable, struct fab_finding at)
{
	const struct fab_fabric *f = c->f;
	uint8_t a = f->port_speed[f->cable_a[cable]],
		b = f->port_speed[f->cable_b[cable]];
	enum fab_cable_class class = fab_cable_class(f, cable);
	uint8_t speed = fab_cable_speed(f, cable), usual = c->check->usual_speed[class];
	char text[512];

	if (a && b && a != b)
		fab_checker_add(c, FAB_PROBLEM, "speed-mismatch", at,
				"%s: one end says %s, the other %s",
				cable_text(f, cable, text), fab_speed_name(a),
				fab_speed_name(b));
	else if (class != FAB_CABLE_OTHER && speed && speed < usual)
		fab_checker_add(c, FAB_PROBLEM, "slow-link", at,
				"%s: %s, where %s usually have %s",
				cable_text(f, cable, text), fab_speed_name(speed),
				class_names[class], fab_speed_name(usual));
}

static void check_links(struct fab_checker *c)
{
	const struct fab_fabric *f = c->f;
	struct fab_rates rates;
	char *text;
	static const uint32_t zero[FAB_N_CABLE_CLASSES][256];
	uint32_t widths[FAB_N_CABLE_CLASSES][256], speeds[FAB_N_CABLE_CLASSES][256];

	memcpy(widths, zero, sizeof(widths));
	memcpy(speeds, zero, sizeof(speeds));
	for (uint32_t k = 0; k < c->f->n_cables; k++) {
		enum fab_cable_class class = fab_cable_class(c->f, k);

		c->check->n_cables[class]++;
		widths[class][fab_cable_width(c->f, k)]++;
		speeds[class][fab_cable_speed(c->f, k)]++;
	}
	for (unsigned class = 0; class < FAB_N_CABLE_CLASSES; class ++) {
		c->check->usual_width[class] = commonest(widths[class]);
		c->check->usual_speed[class] = commonest(speeds[class]);
	}
	/* Cables that were not compared are reported: silence would mean that the rates
	 * are right. */
	rates = fab_rates_of(c->f, 0, c->f->n_cables);
	text = fab_rates_unknown_text(c->f, &rates);
	c->check->n_unknown_rates = rates.n_unknown;
	if (text)
		fab_checker_add(c, FAB_NOTE, "unknown-rate", AT_NODE(FAB_NONE),
				"of the cables %s: they were not compared", text);
	free(text);
	for (uint32_t i = 0; i < f->n_cables; i++) {
		struct fab_finding at = {.node = f->port_node[f->cable_a[i]],
					 .port = f->cable_a[i],
					 .cable = i};

		check_width(c, i, at);
		check_speed(c, i, at);
		if (f->port_node[f->cable_a[i]] == f->port_node[f->cable_b[i]])
			fab_checker_add(
				c, FAB_NOTE, "self-loop", at,
				"ports %u and %u of \"%s\" are cabled to each other",
				f->port_num[f->cable_a[i]], f->port_num[f->cable_b[i]],
				fab_node_name(f, at.node));
	}
}

/*
 * Parts of the graph of switches: those that ought to be joined to the rest, and planes
 * (parallel networks of the same hosts) with fewer switches, cables or hosts than the
 * other planes have. A plane with less than half of any of them is another kind of
 * network, such as one for storage: a note.
 */

/* Key of a part: its switch of lowest GUID, independent of the order of the input. */
static struct fab_finding at_part(const struct fab_fabric *f,
				  const struct fab_planes *planes, uint32_t part)
{
	struct fab_finding at = AT_NODE(planes->v[part].first_switch);
	uint32_t lowest = at.node;

	for (uint32_t s = 0; s < f->n_switches; s++)
		if (planes->of_switch[s] == part &&
		    f->node_guid[s] < f->node_guid[lowest])
			lowest = s;
	at.key = fab_check_key_nodes(f, &lowest, 1);
	return at;
}

/* Measures by which planes are compared. */
enum measure { SWITCHES, LINKS, HOSTS, N_MEASURES };

static uint32_t measure_of(const struct fab_plane *v, enum measure m)
{
	return m == SWITCHES ? v->n_switches
	       : m == LINKS  ? v->n_switch_links
			     : v->n_hosts;
}

static void check_plane(struct fab_checker *c, const struct fab_planes *planes,
			uint32_t part, const uint32_t *usual)
{
	static const char *const what[N_MEASURES] = {"switches",
						     "cables between switches", "hosts"};
	const struct fab_plane *v = &planes->v[part];
	char name[FAB_PLANE_TEXT_SIZE], text[256];
	bool is_small = false;
	size_t n = 0;

	for (enum measure m = SWITCHES; m < N_MEASURES; m++) {
		uint32_t value = measure_of(v, m);

		n += (size_t)(value >= usual[m]
				      ? 0
				      : snprintf(text + n, sizeof(text) - n,
						 "%s%u %s, not %u", (!n) ? "" : "; ",
						 value, what[m], usual[m]));
		is_small |= 2 * (uint64_t)value < usual[m];
	}
	if (n)
		fab_checker_add(c, is_small ? FAB_NOTE : FAB_PROBLEM,
				is_small ? "small-plane" : "unequal-plane",
				at_part(c->f, planes, part),
				"%s, that of \"%s\", is smaller than the other%s: %s",
				fab_plane_text(planes, part, name),
				fab_node_name(c->f, v->first_switch),
				planes->n_planes > 2 ? "s" : "", text);
}

static void check_planes(struct fab_checker *c)
{
	struct fab_planes *planes = fab_planes_new(c->f);
	uint32_t usual[N_MEASURES];

	for (uint32_t i = planes->n_planes; i < planes->n; i++) {
		const struct fab_plane *v = &planes->v[i];
		char shared[128] = "", name[FAB_PLANE_TEXT_SIZE];

		if (v->n_shared)
			snprintf(shared, sizeof(shared),
				 "; %u of its %u host%s on %s, too", v->n_shared,
				 v->n_hosts, v->n_hosts == 1 ? " is" : "s are",
				 fab_plane_text(planes, planes->largest, name));
		fab_checker_add(
			c, FAB_PROBLEM, "unconnected-part", at_part(c->f, planes, i),
			"no cable joins \"%s\" to the rest of the fabric (a part of %u switch%s and %u adapter%s%s)",
			fab_node_name(c->f, v->first_switch), v->n_switches,
			v->n_switches == 1 ? "" : "es", v->n_adapters,
			v->n_adapters == 1 ? "" : "s", shared);
	}
	for (enum measure m = SWITCHES; m < N_MEASURES; m++) {
		uint32_t best = 0, n_best = 0;

		/* The value that most planes have; of equally common ones the largest. */
		for (uint32_t i = 0; i < planes->n_planes; i++) {
			uint32_t value = measure_of(&planes->v[i], m), n = 0;

			for (uint32_t k = 0; k < planes->n_planes; k++)
				n += measure_of(&planes->v[k], m) == value;
			if (n > n_best || (n == n_best && value > best)) {
				best = value;
				n_best = n;
			}
		}
		usual[m] = best;
	}
	for (uint32_t i = 0; i < planes->n_planes; i++)
		check_plane(c, planes, i, usual);
	if (planes->n_planes > 1) {
		uint32_t n_some = planes->n_hosts - planes->n_on_all;
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
	if (c->f->n_left_out_switches)
		fab_checker_add(
			c, FAB_NOTE, "left-out", AT_NODE(FAB_NONE),
			"--hca leaves out %u switch%s, on which no adapter is left: they are not checked",
			c->f->n_left_out_switches,
			c->f->n_left_out_switches == 1 ? "" : "es");
	fab_planes_free(planes);
}

/* LIDs, GUIDs and names: unique and present. */

/* Does the port take part in the subnet: a switch's port 0, an adapter's cabled port? */
static bool is_end_port(const struct fab_fabric *f, uint32_t port)
{
	if (fab_node_is_switch(f, f->port_node[port]))
		return f->port_num[port] == 0;
	return f->port_cable[port] != FAB_NONE;
}

static bool has_lid(const struct fab_fabric *f, uint32_t port)
{
	return f->port_lid[port] != FAB_LID_NONE && f->port_lid[port] != UINT16_MAX;
}

static void check_missing_lids(struct fab_checker *c)
{
	const struct fab_fabric *f = c->f;
	bool any = false;

	for (uint32_t p = 0; p < f->n_ports && !any; p++)
		any = has_lid(f, p);
	if (!any) {
		fab_checker_add(
			c, FAB_NOTE, "missing-lids", AT_NODE(FAB_NONE),
			"no port has a LID: this input has none, or no subnet manager has been at work");
		return;
	}
	for (uint32_t p = 0; p < f->n_ports; p++)
		if (is_end_port(f, p) && !has_lid(f, p))
			fab_checker_add(c, FAB_PROBLEM, "missing-lid",
					AT_PORT(f->port_node[p], p),
					"port %u of \"%s\" has no LID", f->port_num[p],
					fab_node_name(f, f->port_node[p]));
}

/* The LIDs of one port, in one part of the fabric: parts are subnets of their own, and so
 * are two adapters joined to each other. */
struct lids {
	uint32_t part, first, last, port;
};

static int by_lid(const void *x, const void *y)
{
	const struct lids *a = x, *b = y;

	FAB_ORDER_BY(a, b, part);
	FAB_ORDER_BY(a, b, first);
	return a->port < b->port ? -1 : a->port > b->port;
}

/* At the first of two ports; about both. */
static struct fab_finding at_ports(const struct fab_fabric *f, uint32_t port,
				   uint32_t other)
{
	struct fab_finding at = AT_PORT(f->port_node[port], port);

	at.key = check_key_ports(f, port, other);
	return at;
}

static void check_duplicate_lids(struct fab_checker *c)
{
	const struct fab_fabric *f = c->f;
	uint32_t *component = FAB_NEW(f->n_switches, uint32_t);
	uint32_t n_parts = fab_fabric_components(f, component);
	struct lids *lids = FAB_NEW(f->n_ports, struct lids);
	size_t n = 0;
	size_t reaching = 0;

	for (uint32_t p = 0; p < f->n_ports; p++) {
		uint32_t lmc = f->port_lmc[p] <= 7 ? f->port_lmc[p] : 0;
		uint32_t sw;

		if (!is_end_port(f, p) || !has_lid(f, p))
			continue;
		/* The number of the port's part; those behind n_parts are cables between
		 * adapters. */
		sw = fab_port_switch(f, p);
		lids[n++] = (struct lids){.part = (sw != FAB_NONE
							   ? component[sw]
							   : n_parts + f->port_cable[p]),
					  .first = f->port_lid[p],
					  .last = f->port_lid[p] + (1u << lmc) - 1,
					  .port = p};
	}
	qsort(lids, n, sizeof(*lids), by_lid);
	/* the range so far that reaches farthest */

	for (size_t i = 1; i < n; i++) {
		const struct lids *a = &lids[reaching], *b = &lids[i];

		if (a->part == b->part && b->first <= a->last)
			fab_checker_add(
				c, FAB_PROBLEM, "duplicate-lid",
				at_ports(f, b->port, a->port),
				"LID %u belongs to port %u of \"%s\" and to port %u of \"%s\"",
				b->first, f->port_num[a->port],
				fab_node_name(f, f->port_node[a->port]),
				f->port_num[b->port],
				fab_node_name(f, f->port_node[b->port]));
		if (a->part != b->part || b->last > a->last)
			reaching = i;
	}
	free(lids);
	free(component);
}

struct guid {
	uint64_t guid;
	uint32_t id; /* node or port */
};

static int by_guid(const void *x, const void *y)
{
	const struct guid *a = x, *b = y;

	FAB_ORDER_BY(a, b, guid);
	return a->id < b->id ? -1 : a->id > b->id;
}

static void check_port_guids(struct fab_checker *c)
{
	const struct fab_fabric *f = c->f;
	struct guid *g = FAB_NEW(f->n_ports, struct guid);
	size_t n = 0, first = 0;

	for (uint32_t p = 0; p < f->n_ports; p++)
		if (f->port_guid[p])
			g[n++] = (struct guid){f->port_guid[p], p};
	qsort(g, n, sizeof(*g), by_guid);
	for (size_t i = 1; i < n; i++) {
		uint32_t a = f->port_node[g[first].id], b = f->port_node[g[i].id];

		if (g[i].guid != g[first].guid)
			first = i;
		else if (a == b || f->node_guid[a] != f->node_guid[b])
			fab_checker_add(
				c, FAB_PROBLEM, "duplicate-port-guid",
				at_ports(f, g[i].id, g[first].id),
				"port GUID 0x%016llx belongs to port %u of \"%s\" and to port %u of \"%s\"",
				(unsigned long long)g[i].guid, f->port_num[g[first].id],
				fab_node_name(f, a), f->port_num[g[i].id],
				fab_node_name(f, b));
	}
	free(g);
}

static size_t trimmed_len(const char *s)
{
	size_t n = strlen(s);

	while (n && s[n - 1] == ' ')
		n--;
	return n;
}

static int name_cmp(const char *a, const char *b)
{
	size_t na = trimmed_len(a), nb = trimmed_len(b);
	int order = memcmp(a, b, na < nb ? na : nb);

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
 * that have but the name of their host are no duplicates of each other: a node name map
 * gives it to all of them, and so do cards that are several nodes; the first one counts.
 */
static bool counts_for_names(const struct fab_fabric *f, uint32_t node, bool switches)
{
	uint32_t host = f->node_host[node];

	if (fab_node_is_switch(f, node))
		return switches;
	if (switches || host == FAB_NONE || fab_host_is_unnamed(f, host))
		return false;
	return name_cmp(fab_node_name(f, node), fab_host_name(f, host)) != 0 ||
	       f->host_adapter[f->host_first_adapter[host]] == node;
}

static void check_names(struct fab_checker *c, bool switches)
{
	const struct fab_fabric *f = c->f;
	uint32_t *node = FAB_NEW(f->n_nodes, uint32_t);
	size_t n = 0;

	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (counts_for_names(f, i, switches))
			node[n++] = i;
	qsort_r(node, n, sizeof(*node), by_name, (void *)(uintptr_t)f);
	for (size_t k = 0, end; k < n; k = end) {
		const char *name = fab_node_name(f, node[k]);

		end = k + 1;
		while (end < n && !name_cmp(name, fab_node_name(f, node[end])))
			end++;
		if (end - k > 1) {
			const uint32_t *nodes = node + k;
			size_t total = end - k;
			struct fab_finding at = AT_NODE(nodes[0]);
			uint32_t *sorted = FAB_NEW(total, uint32_t);

			/* At the first of several nodes; about all of them. */
			memcpy(sorted, nodes, total * sizeof(*sorted));
			at.key = fab_check_key_nodes(f, sorted, total);
			free(sorted);
			fab_checker_add(
				c, FAB_PROBLEM, "duplicate-name", at,
				"%zu %s are called \"%s\" (GUIDs 0x%016llx, 0x%016llx%s)",
				end - k, switches ? "switches" : "adapters", name,
				(unsigned long long)f->node_guid[node[k]],
				(unsigned long long)f->node_guid[node[k + 1]],
				end - k > 2 ? ", ..." : "");
		}
	}
	free(node);
}

static bool is_one_of(const char *code, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(*list, code))
			return true;
	return false;
}

static bool has_duplicate_guid(const struct fab_checker *c)
{
	for (size_t i = 0; i < c->found.n; i++)
		if (!strcmp(c->found.v[i].code, "duplicate-guid"))
			return true;
	return false;
}

static const char no_record[] = "unknown-peer";

uint32_t fab_check_without_record(const struct fab_fabric *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n_warnings; i++)
		n += !strcmp(f->warnings[i].code, no_record);
	return n;
}

static void take_warning(struct fab_checker *c, const struct fab_warning *w,
			 enum fab_severity severity)
{
	struct fab_finding at = AT_NODE(FAB_NONE);

	at.line = w->line;
	at.key = w->about ? fab_strdup(w->about) : NULL;
	fab_checker_add(c, severity, w->code, at, "%s", w->message);
}

static bool has_switch(const struct fab_fabric *f, uint32_t node)
{
	for (uint32_t p = f->node_first_port[node]; p < f->node_first_port[node + 1]; p++)
		if (fab_port_switch(f, p) != FAB_NONE)
			return true;
	return false;
}

static void check_adapters(struct fab_checker *c)
{
	const struct fab_fabric *f = c->f;

	for (uint32_t i = f->n_switches; i < f->n_nodes; i++) {
		const char *name = fab_node_name(f, i);

		if (!has_switch(f, i))
			fab_checker_add(
				c, FAB_PROBLEM, "adapter-without-switch", AT_NODE(i),
				"no cable joins \"%s\" (GUID 0x%016llx) to a switch",
				name, (unsigned long long)f->node_guid[i]);
		if (f->node_host[i] != FAB_NONE &&
		    fab_host_is_unnamed(f, f->node_host[i]))
			fab_checker_add(
				c, FAB_NOTE, "unnamed-adapter", AT_NODE(i),
				"adapter with GUID 0x%016llx has no name of its own: \"%s\"",
				(unsigned long long)f->node_guid[i], name);
	}
	if (f->n_aggregation_nodes)
		fab_checker_add(
			c, FAB_NOTE, "aggregation-nodes", AT_NODE(FAB_NONE),
			"%u SHARP aggregation node%s no host%s: OpenSM's ftree routing needs root_guid_file and cn_guid_file here",
			f->n_aggregation_nodes,
			f->n_aggregation_nodes == 1 ? " is" : "s are",
			f->n_aggregation_nodes == 1 ? "" : "s");
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
	struct fab_checker c = {.f = f, .check = FAB_NEW0(1, struct fab_check)};
	static const char *const found_here[] = {"speed-mismatch", "width-mismatch",
						 NULL};
	static const char *const notes[] = {"foreign-line",
					    "foreign-lines",
					    "trailing-line",
					    "missing-blank-line",
					    "unused-name",
					    "unprintable-name",
					    NULL};
	bool has_guids;
	struct guid *g;
	size_t n = 0;
	size_t first = 0;

	/* That the input is incomplete explains most other findings: it comes first. */
	for (uint32_t i = 0; i < c.f->n_warnings; i++)
		if (!strcmp(c.f->warnings[i].code, no_record))
			take_warning(&c, &c.f->warnings[i], FAB_PROBLEM);
	check_planes(&c);
	check_links(&c);
	fab_check_levels(&c);
	check_missing_lids(&c);
	check_duplicate_lids(&c);
	g = FAB_NEW(f->n_nodes, struct guid);
	for (uint32_t j = 0; j < f->n_nodes; j++)
		if (f->node_guid[j])
			g[n++] = (struct guid){f->node_guid[j], j};
	qsort(g, n, sizeof(*g), by_guid);
	for (size_t j = 1; j < n; j++) {
		if (g[j].guid != g[first].guid)
			first = j;
		else
			fab_checker_add(
				&c, FAB_PROBLEM, "duplicate-guid", AT_NODE(g[j].id),
				"node GUID 0x%016llx belongs to \"%s\" and to \"%s\"",
				(unsigned long long)g[j].guid,
				fab_node_name(f, g[first].id), fab_node_name(f, g[j].id));
	}
	free(g);
	check_port_guids(&c);
	check_names(&c, true);
	check_names(&c, false);
	check_adapters(&c);
	/* Warnings of the reader and the builder, without those that are found here
	 * again. */
	has_guids = has_duplicate_guid(&c);
	for (uint32_t k = 0; k < f->n_warnings; k++) {
		const struct fab_warning *w = &f->warnings[k];

		if (is_one_of(w->code, found_here) || !strcmp(w->code, no_record) ||
		    (has_guids && !strcmp(w->code, "duplicate-guid")))
			continue;
		take_warning(&c, w, is_one_of(w->code, notes) ? FAB_NOTE : FAB_PROBLEM);
	}
	sort_findings(&c);
	return c.check;
}

void fab_finding_fini(struct fab_finding *x)
{
	free(x->message);
	free(x->key);
}

void fab_check_free(struct fab_check *check)
{
	if (!check)
		return;
	for (uint32_t i = 0; i < check->n_findings; i++)
		fab_finding_fini(&check->findings[i]);
	free(check->findings);
	free(check);
}
