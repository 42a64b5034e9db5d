/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * High-dimension fat tree: leaf switches on a grid; every line of the grid along every
 * dimension has a root switch, or a two-level fat tree, that joins its leaves. Port
 * hosts * rails + d + 1 of a leaf goes to its line along dimension d.
 *
 * Leaf "leaf-3.7" is x = 3, y = 7; "root-x.7" is the root of the line along dimension 0
 * through y = 7, "root-3.x" that of the line along dimension 1 through x = 3. With
 * several planes, switches or trees side by side on every line, these are "root0-x.7",
 * "root1-x.7" ..., and plane p takes the ports p * dimensions further up. With several
 * rails a host has its adapters on leaf switches next to each other along dimension 0,
 * rail r on the ports r * hosts further up.
 */
#include "source/gen/impl.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum { DIMS, HOSTS, LEVELS, RADIX, UP, PLANES, RAILS };

static const struct fab_gen_key keys[] = {
	[DIMS] = {"dims", FAB_GEN_LIST, 'x', .is_required = true, .min = 1,
		  .max = FAB_GEN_NODES_MAX, .help = "sizes, such as 16x16"},
	[HOSTS] = {"hosts", FAB_GEN_NUMBER, .min = 0, .max = FAB_GEN_PORTS_MAX,
		   .fallback = 1, .help = "hosts a leaf switch"},
	[LEVELS] = {"levels", FAB_GEN_NUMBER, .min = 1, .max = 2, .fallback = 1,
		    .help = "levels of switches that join a line"},
	[RADIX] = {"radix", FAB_GEN_NUMBER, .min = 2, .max = FAB_GEN_PORTS_MAX,
		   .help = "ports of the switches of a line, with levels=2"},
	[UP] = {"up", FAB_GEN_NUMBER, .min = 1, .max = FAB_GEN_PORTS_MAX,
		.help = "ports up of a first-level switch of a line, with levels=2 (half of them)"},
	[PLANES] = {"planes", FAB_GEN_NUMBER, .min = 1, .max = FAB_GEN_PORTS_MAX,
		    .fallback = 1,
		    .help = "switches, or trees, that join a line side by side"},
	[RAILS] = {"rails", FAB_GEN_NUMBER, .min = 1, .max = FAB_GEN_PORTS_MAX,
		   .fallback = 1,
		   .help = "adapters of a host, on different leaf switches of a row"},
};

/* Tree that joins the leaves of one line along a dimension. */
struct line {
	uint32_t lows, tops; /* switches of the first and second level; levels=1: 1, 0 */
	uint32_t down;	     /* leaves under one low switch at most */
	uint32_t cables;     /* from a low switch to a top switch */
};

struct kfat {
	const uint32_t *dims;
	uint32_t n, hosts, radix, up, planes, rails, n_leaves; /* radix 0: levels=1 */
	struct line line[FAB_GEN_LIST_MAX];
	/* first switch of each dimension in plane 0 */
	uint32_t low[FAB_GEN_LIST_MAX], top[FAB_GEN_LIST_MAX];
};

/*
 * A two-level tree of radix R for `size` leaves: `up` ports of a low switch go up, in
 * equal bundles to as few top switches as have the ports, the others down.
 */
static int plan_line(const struct fab_gen_net *net, uint32_t size, const struct kfat *k,
		     struct line *line, struct fab_err *err)
{
	uint32_t down = k->radix - k->up;

	if (!k->radix) {
		*line = (struct line){.lows = 1, .down = size};
		return 0;
	}
	line->down = down;
	line->lows = size / down + (size % down != 0);
	if (line->lows > k->radix)
		return fab_fail(err, EINVAL,
				"gen:%s: dims: a line of %" PRIu32
				" is longer than the radix*%s = %" PRIu64
				" that radix=%" PRIu32 " can join",
				net->kind, size, down == k->up ? "radix/2" : "(radix-up)",
				(uint64_t)k->radix * down, k->radix);
	line->cables = k->radix / line->lows;
	if (line->cables > k->up)
		line->cables = k->up;
	while (k->up % line->cables)
		line->cables--;
	line->tops = k->up / line->cables;
	return 0;
}

static int plan(struct fab_gen_net *net, const struct fab_gen_value *values,
		struct kfat *k, struct fab_err *err)
{
	struct fab_gen_size size = {.switches = 1};
	uint64_t leaves = 1, uplinks;
	int rc = 0;

	*k = (struct kfat){.dims = values[DIMS].list.v,
			   .n = values[DIMS].list.n,
			   .hosts = (uint32_t)values[HOSTS].number,
			   .planes = (uint32_t)values[PLANES].number,
			   .rails = (uint32_t)values[RAILS].number};
	uplinks = (uint64_t)k->n * k->planes;
	if (k->rails > k->dims[0])
		return fab_fail(err, EINVAL,
				"gen:%s: rails: a row has %" PRIu32
				" leaf switches, fewer than %" PRIu32 " rails",
				net->kind, k->dims[0], k->rails);
	if (values[LEVELS].number == 1 && values[UP].is_given)
		return fab_fail(err, EINVAL, "gen:%s: up is for levels=2", net->kind);
	if (values[LEVELS].number == 1 && values[RADIX].is_given)
		return fab_fail(
			err, EINVAL,
			"gen:%s: radix is for levels=2; with levels=1 the roots have as many ports as their line has leaves",
			net->kind);
	if (values[LEVELS].number == 2) {
		if (!values[RADIX].is_given ||
		    (values[RADIX].number % 2 && !values[UP].is_given))
			return fab_fail(
				err, EINVAL,
				"gen:%s: levels=2 needs radix, an even number (%s)",
				net->kind, keys[RADIX].help);
		k->radix = (uint32_t)values[RADIX].number;
		k->up = values[UP].is_given ? (uint32_t)values[UP].number : k->radix / 2;
		if (k->up >= k->radix)
			return fab_fail(err, EINVAL,
					"gen:%s: up: expected fewer than radix=%" PRIu32,
					net->kind, k->radix);
	}
	for (uint32_t d = 0; d < k->n; d++)
		leaves = fab_gen_mul(leaves, k->dims[d]);
	size.switches = leaves;
	size.adapters = fab_gen_mul(leaves, (uint64_t)k->hosts * k->rails);
	size.cables = fab_gen_add(size.adapters, fab_gen_mul(leaves, uplinks));
	size.ports = (uint64_t)k->hosts * k->rails + uplinks;
	for (uint32_t d = 0; d < k->n && !rc; d++) {
		uint64_t lines = fab_gen_mul(leaves / k->dims[d], k->planes);
		struct line *line = &k->line[d];
		uint64_t ports = k->radix ? k->radix : k->dims[d];

		rc = plan_line(net, k->dims[d], k, line, err);
		if (rc)
			break;
		size.switches = fab_gen_add(size.switches,
					    fab_gen_mul(lines, line->lows + line->tops));
		size.cables =
			fab_gen_add(size.cables,
				    fab_gen_mul(lines, (uint64_t)line->lows * line->tops *
							       line->cables));
		if (ports > size.ports)
			size.ports = ports;
	}
	if (!rc)
		rc = fab_gen_check_size(net, &size, err);
	if (!rc)
		k->n_leaves = (uint32_t)leaves;
	return rc;
}

/* Number of lines along dimension d. */
static uint32_t n_lines(const struct kfat *k, uint32_t d)
{
	return k->n_leaves / k->dims[d];
}

/* Switches of one level of all lines, plane by plane; `count` a line of dimension d. */
static void add_line_switches(struct fab_gen_net *net, const struct kfat *k, uint32_t d,
			      const char *level, uint32_t count)
{
	uint32_t dims[FAB_GEN_LIST_MAX], v[FAB_GEN_LIST_MAX];
	uint32_t ports = k->radix ? k->radix : k->dims[d];
	char text[FAB_GEN_NAME_MAX], what[FAB_GEN_NAME_MAX];

	for (uint32_t i = 0; i < k->n; i++)
		dims[i] = i == d ? 1 : k->dims[i];
	for (uint32_t plane = 0; plane < k->planes; plane++) {
		if (k->planes > 1)
			snprintf(what, sizeof(what), "%s%" PRIu32, level, plane);
		else
			snprintf(what, sizeof(what), "%s", level);
		for (uint32_t i = 0; i < n_lines(k, d); i++) {
			fab_gen_coords(i, dims, k->n, v);
			fab_gen_coords_text(v, k->n, d, text);
			/* Switches of one level of a line in one plane; `count` of them.
			 */
			for (uint32_t j = 0; j < count; j++) {
				if (k->radix)
					fab_gen_switch(net, ports, "%s-%s-%" PRIu32, what,
						       text, j);
				else
					fab_gen_switch(net, ports, "%s-%s", what, text);
			}
		}
	}
}

static int build(struct fab_gen_net *net, const struct fab_gen_value *values,
		 struct fab_err *err)
{
	struct kfat k;
	uint32_t stride = 1, n_ports;
	int rc = plan(net, values, &k, err);
	uint32_t v[FAB_GEN_LIST_MAX];
	char text[FAB_GEN_NAME_MAX];

	if (rc)
		return rc;
	n_ports = k.hosts * k.rails;
	for (uint32_t m = 0; m < k.n_leaves; m++) {
		fab_gen_coords(m, k.dims, k.n, v);
		fab_gen_switch(net, n_ports + k.n * k.planes, "leaf-%s",
			       fab_gen_coords_text(v, k.n, FAB_NONE, text));
	}
	for (uint32_t j = 0; j < k.n; j++) {
		k.low[j] = net->n_switches;
		add_line_switches(net, &k, j, k.radix ? "low" : "root", k.line[j].lows);
	}
	for (uint32_t j = 0; j < k.n; j++) {
		k.top[j] = net->n_switches;
		add_line_switches(net, &k, j, "top", k.line[j].tops);
	}
	for (uint32_t i = 0; i < k.n_leaves * k.hosts; i++) {
		fab_gen_host(net);
		for (uint32_t r = 0; r < k.rails; r++)
			fab_gen_adapter(net,
					(i / k.hosts + r * (k.n_leaves / k.dims[0])) %
						k.n_leaves,
					r * k.hosts + i % k.hosts + 1);
	}
	for (uint32_t d = k.n; d-- > 0; stride *= k.dims[d])
		for (uint32_t plane = 0; plane < k.planes; plane++) {
			const struct line *line = &k.line[d];
			uint32_t size = k.dims[d], lines = n_lines(&k, d);
			uint32_t low = k.low[d] + plane * lines * line->lows;
			uint32_t top = k.top[d] + plane * lines * line->tops;

			/* The cables of dimension `d` in one plane: leaves to their
			 * lines, and inside the lines.
			 */
			for (uint32_t i = 0; i < k.n_leaves; i++) {
				uint32_t at = i / stride % size;
				uint32_t number = i / stride / size * stride + i % stride;

				fab_gen_cable(net, i, n_ports + plane * k.n + d + 1,
					      low + number * line->lows + at / line->down,
					      at % line->down + 1);
			}
			for (uint32_t i = 0; i < lines * line->lows; i++)
				for (uint32_t j = 0; j < line->tops * line->cables; j++)
					fab_gen_cable(net, low + i, line->down + j + 1,
						      top + i / line->lows * line->tops +
							      j / line->cables,
						      i % line->lows * line->cables +
							      j % line->cables + 1);
		}
	return 0;
}

const struct fab_gen_family fab_gen_kfat = {"kfat", keys, FAB_COUNT(keys), build};
