/* SPDX-License-Identifier: BSD-2-Clause */
/* Lanes of service levels, out of a file. */
#include "unicast/lfts_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SLS = 16, DROP = 15 };

struct reading {
	struct fab_routes *r;
	struct fab_lfts_file file;
	uint16_t *arc; /* [n_ports] */
	/* [entries / SLS] port that an entry was told for, and one more; 0: none yet */
	uint16_t *told_for;
	uint64_t n_unknown;
};

struct line {
	uint64_t guid;
	uint32_t in, out;
	uint8_t vl[SLS];
};

/* "0x0002c90200417670 1 2 0x00 0x11 0x22 0x33 0x44 0x55 0x66 0x77" */
static bool parse(struct fab_span rest, struct line *line)
{
	if (!fab_lfts_take_hex(&rest, &line->guid) ||
	    !fab_lfts_take_dec(&rest, &line->in) || !fab_lfts_take_dec(&rest, &line->out))
		return false;
	for (int sl = 0; sl < SLS; sl += 2) {
		uint64_t two;

		if (!fab_lfts_take_hex(&rest, &two) || two > 0xff)
			return false;
		line->vl[sl] = (uint8_t)(two >> 4);
		line->vl[sl + 1] = two & 15;
	}
	return rest.p == rest.end;
}

/* Arc of a switch behind its port, its number of arcs: none. */
static uint32_t arc_of(const struct reading *x, uint32_t sw, uint32_t port)
{
	const struct fab_fabric *f = x->r->f;

	if (port == FAB_NONE || x->arc[port] == FAB_ARC_NONE)
		return f->arc_first[sw + 1] - f->arc_first[sw];
	return x->arc[port];
}

static int keep(struct reading *x, uint32_t sw, const struct line *line)
{
	const struct fab_fabric *f = x->r->f;
	uint32_t d = f->arc_first[sw + 1] - f->arc_first[sw];
	uint32_t in_port = fab_port_find(f, sw, line->in);
	uint32_t in = arc_of(x, sw, in_port);
	uint32_t out = arc_of(x, sw, fab_port_find(f, sw, line->out));
	uint64_t entry = x->r->vl_first[sw] / SLS + (uint64_t)in * (d + 1) + out;
	uint8_t *vl = x->r->sl2vl + entry * SLS;
	uint16_t before = x->told_for[entry];

	if (in_port != FAB_NONE)
		x->r->told->is_lane_told[fab_told_at(x->r, sw, in_port, out)] = true;
	/* to an adapter: the first line will do */
	if (before && (out == d || !line->in))
		return 0;
	if (before > 1 && memcmp(vl, line->vl, SLS) != 0)
		return fab_lfts_fail(&x->file,
				     "lanes from port %u to port %u other than those "
				     "from port %u: expected the same for what an "
				     "adapter sends",
				     line->in, line->out, before - 1U);
	memcpy(vl, line->vl, SLS);
	x->told_for[entry] = (uint16_t)(line->in + 1);
	return 0;
}

static int read_line(struct reading *x)
{
	const struct fab_fabric *f = x->r->f;
	struct line line;
	uint32_t node;

	if (!parse(x->file.line, &line))
		return fab_lfts_bad_line(&x->file,
					 "\"0xNODEGUID IN OUT\" and 8 times \"0xAB\"");
	if (fab_lfts_find_node(&x->file, line.guid, &node))
		return -EINVAL;
	if (node == FAB_NONE) {
		x->n_unknown++;
		return 0;
	}
	for (int i = 0; i < 2; i++) {
		uint32_t num = i ? line.out : line.in;

		if (!fab_lfts_has_port(f, node, num))
			return fab_lfts_fail(&x->file,
					     "port %u of \"%.60s\" does not exist (%u "
					     "ports)",
					     num, fab_node_name(f, node),
					     f->node_n_ports[node]);
	}
	return fab_node_is_switch(f, node) ? keep(x, node, &line) : 0;
}

static void begin(struct reading *x)
{
	struct fab_routes *r = x->r;
	struct fab_told *told = r->told;
	const struct fab_fabric *f = r->f;

	r->vl_first = FAB_NEW((size_t)f->n_switches + 1, uint64_t);
	r->vl_first[0] = 0;
	told->lane_first = FAB_NEW0((size_t)f->n_switches + 1, uint64_t);
	for (uint32_t s = 0; s < f->n_switches; s++) {
		uint64_t d = f->arc_first[s + 1] - f->arc_first[s] + 1;
		uint64_t n_ports = f->node_first_port[s + 1] - f->node_first_port[s];

		r->vl_first[s + 1] = r->vl_first[s] + d * d * SLS;
		told->lane_first[s + 1] = told->lane_first[s] + d * n_ports;
	}
	r->sl2vl = FAB_NEW((size_t)r->vl_first[f->n_switches] + 1, uint8_t);
	memset(r->sl2vl, FAB_VL_UNKNOWN, (size_t)r->vl_first[f->n_switches] + 1);
	told->is_lane_told = FAB_NEW0((size_t)told->lane_first[f->n_switches] + 1, bool);
	x->told_for = FAB_NEW0((size_t)(r->vl_first[f->n_switches] / SLS) + 1, uint16_t);
	x->arc = fab_lfts_arcs(f);
}

static void finish(struct reading *x)
{
	struct fab_routes *r = x->r;
	unsigned most = 0;

	for (uint64_t i = 0; i < r->vl_first[r->f->n_switches]; i++)
		if (r->sl2vl[i] > most && r->sl2vl[i] < DROP)
			most = r->sl2vl[i];
	r->lanes = FAB_LANES_TABLE;
	r->told->has_lanes = true;
	r->n_vls = (uint8_t)(most + 1);
	if (x->n_unknown)
		fab_lfts_note(r, "%llu lines of lanes are of unknown nodes",
			      (unsigned long long)x->n_unknown);
}

int fab_routes_add_sl2vl(struct fab_routes *r, const char *file, const char *text,
			 size_t len, struct fab_err *err)
{
	struct reading x = {.r = r};
	int rc;

	if (r->sl2vl)
		return fab_fail(err, EINVAL, "%s: the tables have lanes already", file);
	begin(&x);
	fab_lfts_file_init(&x.file, r->f, file, text, len, err);
	while ((rc = fab_lfts_next_line(&x.file)) > 0) {
		rc = read_line(&x);
		if (rc)
			break;
	}
	if (!rc)
		finish(&x);
	fab_lfts_file_fini(&x.file);
	free(x.told_for);
	free(x.arc);
	return rc;
}
