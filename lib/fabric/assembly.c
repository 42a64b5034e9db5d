/* SPDX-License-Identifier: BSD-2-Clause */
/* The fabric made from what was added to a builder: nodes and ports are numbered, ends of
 * cables are paired, conflicts reported, and the graph is built. */
#include "base/map.h"
#include "base/text.h"
#include "fabric/builder_impl.h"
#include "fabric/graph.h"
#include "fabric/hosts.h"
#include "fabric/label.h"

#include <errno.h>
#include <stdlib.h>

struct assembly {
	struct fab_builder *b;
	struct fab_fabric *f;
	struct fab_rail rail;
	struct fab_arena arena; /* of the arrays below */
	uint32_t *new_id; /* [nodes added] node id in the fabric, FAB_NONE: left out */
	uint32_t *old_id; /* [n_nodes] */
	uint32_t *claim;  /* [n_ports] index + 1 of the end that speaks for the port */
	uint32_t *mate;	  /* [n_ports] port at the other end, FAB_NONE */
};

/* Switches first, then the others, each in the order of adding, with their properties. */
static void number_nodes(struct assembly *a)
{
	struct fab_fabric *f = a->f;
	uint32_t n = (uint32_t)a->b->nodes.n;

	a->new_id = fab_arena_none(&a->arena, n);
	a->old_id = FAB_ARENA_NEW(&a->arena, n, uint32_t);
	f->n_left_out_switches = a->rail.n_left_out;
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < n; i++) {
			enum fab_node_kind kind = a->b->nodes.v[i].kind;

			if ((kind == FAB_SWITCH) != (pass == 0) || !a->rail.is_kept[i])
				continue;
			a->old_id[f->n_nodes] = i;
			a->new_id[i] = f->n_nodes++;
			f->n_switches += kind == FAB_SWITCH;
			f->n_adapters += kind == FAB_ADAPTER || kind == FAB_AGGREGATION;
			f->n_aggregation_nodes += kind == FAB_AGGREGATION;
			f->n_routers += kind == FAB_ROUTER;
		}
	n = f->n_nodes;
	f->node_kind = FAB_ARENA_NEW(&f->arena, n, uint8_t);
	f->node_is_enhanced = FAB_ARENA_NEW(&f->arena, n, uint8_t);
	f->node_n_ports = FAB_ARENA_NEW(&f->arena, n, uint16_t);
	f->node_name = FAB_ARENA_NEW(&f->arena, n, uint32_t);
	f->node_vendor = FAB_ARENA_NEW(&f->arena, n, uint32_t);
	f->node_device = FAB_ARENA_NEW(&f->arena, n, uint32_t);
	f->node_guid = FAB_ARENA_NEW(&f->arena, n, uint64_t);
	f->node_sys_guid = FAB_ARENA_NEW(&f->arena, n, uint64_t);
	f->switch_n_left_out = FAB_ARENA_NEW(&f->arena, f->n_switches, uint32_t);
	for (uint32_t i = 0; i < n; i++) {
		const struct fab_node_spec *spec = &a->b->nodes.v[a->old_id[i]];

		f->node_kind[i] = (uint8_t)spec->kind;
		f->node_is_enhanced[i] = spec->is_enhanced;
		f->node_n_ports[i] = spec->n_ports;
		f->node_name[i] = (uint32_t)a->b->name_at.v[a->old_id[i]];
		f->node_vendor[i] = spec->vendor;
		f->node_device[i] = spec->device;
		f->node_guid[i] = spec->guid;
		f->node_sys_guid[i] = spec->sys_guid;
		if (i < f->n_switches)
			f->switch_n_left_out[i] = spec->n_left_out;
	}
	f->names = a->b->names.v;
	f->names_bytes = a->b->names.n;
	a->b->names.v = NULL;
}

static int by_number(const void *x, const void *y)
{
	return *(const uint16_t *)x - *(const uint16_t *)y;
}

static void mention(size_t *n, uint16_t *num, uint32_t node, uint16_t port)
{
	if (node != FAB_NONE && num)
		num[n[node]++] = port;
	else if (node != FAB_NONE)
		n[node + 1]++;
}

/* Every port that something was said about, in terms of the new node ids: n[i + 1] counts
 * those of node i, or with `num` they are placed from n[i] on. */
static void each_mention(const struct assembly *a, size_t *n, uint16_t *num)
{
	const struct fab_builder *b = a->b;

	for (uint32_t s = 0; s < a->f->n_switches; s++)
		mention(n, num, s, 0);
	for (size_t i = 0; i < b->notes.n; i++)
		mention(n, num, a->new_id[b->notes.v[i].node], b->notes.v[i].port);
	for (size_t i = 0; i < b->ends.n + b->cables.n; i++) {
		const struct fab_end *e = fab_builder_end(b, i);
		uint32_t node = a->new_id[e->node], peer = a->new_id[e->peer];

		if (node == FAB_NONE || peer == FAB_NONE || !e->port || !e->peer_port)
			continue;
		mention(n, num, node, e->port);
		mention(n, num, peer, e->peer_port);
	}
}

/* The ports that are kept: sorted by number in a bucket a node. */
static void number_ports(struct assembly *a)
{
	struct fab_fabric *f = a->f;
	size_t *first = FAB_ARENA_NEW0(&a->arena, (size_t)f->n_nodes + 2, size_t), at = 0;
	uint16_t *all;

	each_mention(a, first, NULL);
	for (uint32_t i = 0; i < f->n_nodes; i++)
		first[i + 1] += first[i];
	all = FAB_NEW(first[f->n_nodes], uint16_t);
	each_mention(a, first, all); /* first[i] is now where node i ends */
	f->node_first_port = FAB_ARENA_NEW(&f->arena, (size_t)f->n_nodes + 1, uint32_t);
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		size_t start = i ? first[i - 1] : 0, n = first[i] - start;
		uint16_t *num = all + start;

		/* Sort the port numbers and keep each once; they mostly come sorted. */
		for (size_t k = 1; k < n; k++)
			if (num[k - 1] > num[k]) {
				qsort(num, n, sizeof(*num), by_number);
				break;
			}
		f->node_first_port[i] = (uint32_t)at;
		for (size_t k = 0; k < n; k++)
			if (!k || num[k - 1] != num[k])
				all[at++] = num[k];
	}
	f->node_first_port[f->n_nodes] = f->n_ports = (uint32_t)at;
	f->port_num = fab_realloc(all, at, sizeof(*all));
}

static void fill_ports(struct assembly *a)
{
	struct fab_fabric *f = a->f;

	f->port_guid = FAB_ARENA_NEW0(&f->arena, f->n_ports, uint64_t);
	f->port_node = FAB_ARENA_NEW(&f->arena, f->n_ports, uint32_t);
	f->port_cable = fab_arena_none(&f->arena, f->n_ports);
	f->port_lid = FAB_ARENA_NEW0(&f->arena, f->n_ports, uint16_t);
	f->port_lmc = FAB_ARENA_NEW0(&f->arena, f->n_ports, uint8_t);
	f->port_width = FAB_ARENA_NEW0(&f->arena, f->n_ports, uint8_t);
	f->port_speed = FAB_ARENA_NEW0(&f->arena, f->n_ports, uint8_t);
	for (uint32_t i = 0; i < f->n_nodes; i++)
		FAB_EACH_PORT(f, i, p)
			f->port_node[p] = i;
	for (size_t i = 0; i < a->b->notes.n; i++) {
		const struct port_note *note = &a->b->notes.v[i];
		uint32_t node = a->new_id[note->node], p;

		if (node == FAB_NONE)
			continue;
		p = fab_port_find(f, node, note->port);
		if (note->guid)
			f->port_guid[p] = note->guid;
		if (note->lid && note->lid != UINT16_MAX)
			f->port_lid[p] = note->lid;
		if (note->lmc)
			f->port_lmc[p] = note->lmc;
	}
}

static void about_port(struct assembly *a, uint32_t node, uint16_t port)
{
	fab_builder_warn_about(a->b, "0x%016llx/%u",
			       (unsigned long long)a->f->node_guid[node], port);
}

static void about_cable(struct assembly *a, uint32_t port, uint32_t peer)
{
	fab_builder_warn_about(a->b, "%s", fab_ports_key(a->f, &a->b->arena, port, peer));
}

/* Ports beyond those the node says it has: believed, with a warning. */
static void check_port_range(struct assembly *a, uint32_t node, uint16_t port,
			     uint64_t line)
{
	struct fab_fabric *f = a->f;

	if (port <= f->node_n_ports[node])
		return;
	/* 0 was given when the number is not known: then it is what is cabled. */
	if (a->b->nodes.v[a->old_id[node]].n_ports) {
		fab_builder_warn(a->b, "port-out-of-range", line,
				 "port %u of \"%s\" does not exist (%u ports)", port,
				 fab_node_name(f, node), f->node_n_ports[node]);
		about_port(a, node, port);
	}
	f->node_n_ports[node] = port;
}

/* The end's own port and its peer's; false when the end describes no cable. */
static bool end_ports(struct assembly *a, const struct fab_end *e, uint32_t *port,
		      uint32_t *peer)
{
	uint32_t node = a->new_id[e->node], peer_node = a->new_id[e->peer];

	if (node == FAB_NONE || peer_node == FAB_NONE)
		return false;
	if (!e->port || !e->peer_port) {
		fab_builder_warn(a->b, "port-out-of-range", e->line,
				 "a cable on port 0 of \"%s\" is left out",
				 fab_node_name(a->f, e->port ? peer_node : node));
		about_port(a, e->port ? peer_node : node, 0);
		return false;
	}
	check_port_range(a, node, e->port, e->line);
	check_port_range(a, peer_node, e->peer_port, e->line);
	*port = fab_port_find(a->f, node, e->port);
	*peer = fab_port_find(a->f, peer_node, e->peer_port);
	return true;
}

static void warn_conflict(struct assembly *a, uint32_t port, uint32_t peer, uint64_t line,
			  const char *why)
{
	const struct fab_fabric *f = a->f;

	fab_builder_warn(a->b, "conflicting-cable", line,
			 "cable from port %u of \"%s\" to port %u of \"%s\" left out: %s",
			 f->port_num[port], fab_node_name(f, f->port_node[port]),
			 f->port_num[peer], fab_node_name(f, f->port_node[peer]), why);
	about_cable(a, port, peer);
}

static void set_rate(struct fab_fabric *f, uint32_t port, const struct fab_end *e)
{
	f->port_width[port] = e->width;
	f->port_speed[port] = e->speed;
}

/* Each port's own word: `claim` is who said it first, `mate` what it said. */
static void collect_claims(struct assembly *a)
{
	struct fab_fabric *f = a->f;

	a->claim = FAB_ARENA_NEW0(&a->arena, f->n_ports, uint32_t);
	a->mate = fab_arena_none(&a->arena, f->n_ports);
	for (size_t i = 0; i < a->b->ends.n; i++) {
		const struct fab_end *e = &a->b->ends.v[i];
		uint32_t port, peer;

		if (!end_ports(a, e, &port, &peer))
			continue;
		if (port == peer) {
			warn_conflict(a, port, peer, e->line,
				      "a port cannot join itself");
		} else if (a->claim[port]) {
			if (a->mate[port] != peer)
				warn_conflict(a, port, peer, e->line,
					      "the port has another cable");
		} else {
			a->claim[port] = (uint32_t)i + 1;
			a->mate[port] = peer;
			set_rate(f, port, e);
		}
	}
}

/* Make the mates mutual: a cable known from one end counts, a contradicted one does
 * not. */
static void settle_mates(struct assembly *a)
{
	struct fab_fabric *f = a->f;

	for (uint32_t port = 0; port < f->n_ports; port++) {
		const struct fab_end *e;
		uint32_t peer = a->mate[port];

		if (!a->claim[port])
			continue;
		e = &a->b->ends.v[a->claim[port] - 1];
		if (a->mate[peer] == FAB_NONE) {
			fab_builder_warn(
				a->b, "one-sided-cable", e->line,
				"port %u of \"%s\" names port %u of \"%s\", which names no peer",
				f->port_num[port], fab_node_name(f, f->port_node[port]),
				f->port_num[peer], fab_node_name(f, f->port_node[peer]));
			about_cable(a, port, peer);
			a->mate[peer] = port;
			set_rate(f, peer, e);
		} else if (a->mate[peer] != port) {
			warn_conflict(a, port, peer, e->line,
				      "the other port has another cable");
			a->mate[port] = FAB_NONE;
			a->claim[port] = 0;
		} else if (a->claim[peer] && port < peer) {
			const char *from = fab_node_name(f, f->port_node[port]);
			const char *to = fab_node_name(f, f->port_node[peer]);

			/* Both ends of a pair must agree on the rate, as far as they
			 * state one. */
			if (f->port_width[port] != f->port_width[peer] &&
			    f->port_width[port] && f->port_width[peer])
				fab_builder_warn(
					a->b, "width-mismatch", e->line,
					"port %u of \"%s\" runs at %ux, its peer, port %u of \"%s\", at %ux",
					f->port_num[port], from, f->port_width[port],
					f->port_num[peer], to, f->port_width[peer]);
			if (f->port_speed[port] != f->port_speed[peer] &&
			    f->port_speed[port] && f->port_speed[peer])
				fab_builder_warn(
					a->b, "speed-mismatch", e->line,
					"port %u of \"%s\" runs at %s, its peer, port %u of \"%s\", at %s",
					f->port_num[port], from,
					fab_speed_name(f->port_speed[port]),
					f->port_num[peer], to,
					fab_speed_name(f->port_speed[peer]));
		}
	}
}

/* 0 switch link, 1 host link, 2 adapter to adapter; `port` is the lower end. */
static int cable_class(const struct fab_fabric *f, uint32_t port, uint32_t peer)
{
	if (f->port_node[peer] < f->n_switches)
		return 0;
	return f->port_node[port] < f->n_switches ? 1 : 2;
}

static void number_cables(struct assembly *a)
{
	struct fab_fabric *f = a->f;
	uint32_t at[4] = {0};

	for (uint32_t p = 0; p < f->n_ports; p++)
		if (a->mate[p] != FAB_NONE && p < a->mate[p])
			at[1 + cable_class(f, p, a->mate[p])]++;
	f->n_switch_links = at[1];
	f->n_host_links = at[2];
	f->n_cables = at[1] + at[2] + at[3];
	at[2] += at[1];
	f->cable_a = FAB_ARENA_NEW(&f->arena, f->n_cables, uint32_t);
	f->cable_b = FAB_ARENA_NEW(&f->arena, f->n_cables, uint32_t);
	for (uint32_t p = 0; p < f->n_ports; p++) {
		uint32_t c;

		if (a->mate[p] == FAB_NONE || p > a->mate[p])
			continue;
		c = at[cable_class(f, p, a->mate[p])]++;
		f->cable_a[c] = p;
		f->cable_b[c] = a->mate[p];
		f->port_cable[p] = f->port_cable[a->mate[p]] = c;
	}
}

/* From ends and names to the finished fabric, but for what is checked before. */
static void assemble(struct assembly *a, const struct fab_host_options *hosts)
{
	struct fab_fabric *f = a->f;
	struct fab_builder *b = a->b;
	struct fab_map64 *seen;

	number_nodes(a);
	/* Any host chooses its own description. */
	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (!fab_text_is_safe(fab_node_name(f, i)))
			fab_builder_warn(
				b, "unprintable-name", b->nodes.v[a->old_id[i]].line,
				"the description \"%s\" of GUID 0x%016llx is no printable text: such bytes are written as \\xNN, in tables of other programs as blanks",
				fab_node_name(f, i), (unsigned long long)f->node_guid[i]);
	seen = fab_map64_new(f->n_nodes);
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		uint32_t first =
			f->node_guid[i] ? fab_map64_put(seen, f->node_guid[i], i) : i;

		if (first == i)
			continue;
		fab_builder_warn(b, "duplicate-guid", b->nodes.v[a->old_id[i]].line,
				 "GUID 0x%016llx belongs to \"%s\" and to \"%s\"",
				 (unsigned long long)f->node_guid[i],
				 fab_node_name(f, first), fab_node_name(f, i));
		fab_builder_warn_about(b, "0x%016llx",
				       (unsigned long long)f->node_guid[i]);
	}
	fab_map64_free(seen);
	number_ports(a);
	fill_ports(a);
	collect_claims(a);
	settle_mates(a);
	/* Cables that were added whole. */
	for (size_t j = 0; j < b->cables.n; j++) {
		const struct fab_end *e = &b->cables.v[j];
		uint32_t port, peer;

		if (!end_ports(a, e, &port, &peer))
			continue;
		if (port == peer || a->mate[port] != FAB_NONE ||
		    a->mate[peer] != FAB_NONE) {
			warn_conflict(a, port, peer, e->line, "a port has another cable");
			continue;
		}
		a->mate[port] = peer;
		a->mate[peer] = port;
		set_rate(f, port, e);
		set_rate(f, peer, e);
	}
	number_cables(a);
	fab_graph_build(f);
	fab_hosts_group(f, hosts);
	/* Hand the warnings over; codes that came up too often get a closing line. */
	for (size_t k = 0; k < b->codes.n; k++) {
		struct fab_warning more = {.code = b->codes.v[k].code};

		if (b->codes.v[k].n == b->codes.v[k].n_stored)
			continue;
		more.message = fab_arena_format(
			&b->arena, "%llu more like these",
			(unsigned long long)(b->codes.v[k].n - b->codes.v[k].n_stored));
		FAB_PUSH(&b->warnings, more);
	}
	f->warnings = b->warnings.v;
	f->n_warnings = (uint32_t)b->warnings.n;
	f->n_warnings_total = b->n_warnings_total;
	f->texts = b->arena;
	b->warnings.v = NULL;
	b->arena = (struct fab_arena)FAB_ARENA_INIT;
}

static int check_content(const struct assembly *a, const char *source, const char *hca,
			 struct fab_err *err)
{
	const struct fab_fabric *f = a->f;

	if (!f->n_switches)
		return fab_fail(err, EINVAL, "%s: no switch in it (%u adapter%s)", source,
				f->n_adapters, f->n_adapters == 1 ? "" : "s");
	if (hca && !a->rail.n_adapters)
		return fab_fail(err, EINVAL, "%s: no adapter matches --hca '%s'", source,
				hca);
	if (hca && a->rail.is_port && !a->rail.n_connected)
		return fab_fail(
			err, EINVAL,
			"%s: no port that matches --hca '%s' has a cable to a switch",
			source, hca);
	if (!f->n_cables)
		return fab_fail(err, EINVAL,
				"%s: no cable in it (%u switch%s, %u adapter%s)", source,
				f->n_switches, f->n_switches == 1 ? "" : "es",
				f->n_adapters, f->n_adapters == 1 ? "" : "s");
	return 0;
}

int fab_builder_finish(struct fab_builder *b, const char *source, const char *format,
		       const struct fab_host_options *hosts, struct fab_fabric **out,
		       struct fab_err *err)
{
	static const struct fab_host_options no_options;
	struct assembly a = {.b = b, .f = FAB_NEW0(1, struct fab_fabric)};
	int rc;

	if (!hosts)
		hosts = &no_options;
	a.f->source = fab_arena_strdup(&a.f->arena, source);
	a.f->format = fab_arena_strdup(&a.f->arena, format);
	if (b->names.n > UINT32_MAX || b->nodes.n >= UINT32_MAX ||
	    2 * (b->ends.n + b->cables.n) + b->notes.n + b->nodes.n >= UINT32_MAX) {
		rc = fab_fail(err, EFBIG, "%s: more than 2^32 ports or bytes of names",
			      source);
	} else {
		fab_rail_choose(b, hosts->hca, &a.arena, &a.rail);
		assemble(&a, hosts);
		rc = check_content(&a, source, hosts->hca, err);
	}
	fab_arena_free(&a.arena);
	fab_builder_free(b);
	if (rc)
		fab_fabric_free(a.f);
	else
		*out = a.f;
	return rc;
}
