/* SPDX-License-Identifier: BSD-2-Clause */
/* Readers of the service levels of paths and of the lanes of levels; lfts.h has the
 * formats. */
#include "unicast/lfts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unicast/table_file.h"

/* Service levels of paths, out of a file. */

enum { MAX_SL = 15, UNSET = FAB_SL_UNKNOWN, SPLIT = 0xfd };

#define EXPECTED_SL "\"0xNODEGUID LID SL\" or \"PathRecord dump:\""

/* A PathRecord being read: what is known of it yet. */
struct path_record {
	uint64_t line;		 /* of its head, 0: none is being read */
	uint32_t slid, dlid, sl; /* FAB_NONE: no line yet */
};

struct sls_reading {
	struct fab_routes *r;
	struct fab_table_file file;
	struct fab_arena arena;
	uint32_t *column; /* [UINT16_MAX + 1] of a LID */
	/* [n_nodes] service level of each column; NULL: no line. SPLIT: ports of the node
	 * have different ones */
	uint8_t **row;
	uint32_t *sender; /* [UINT16_MAX + 1] node of a LID; NULL: not asked for yet */
	struct path_record record;
	uint64_t n_unknown, n_split;
	unsigned most;
};

/* A service level of a node, or of one of its ports. */
static int keep_level(struct sls_reading *x, uint32_t node, uint32_t lid, uint32_t sl,
		      bool is_of_port)
{
	uint32_t column;
	uint8_t *row;

	if (sl > MAX_SL)
		return fab_table_file_fail(&x->file, "service level %u, expected 0 to %d",
					   sl, MAX_SL);
	if (lid > UINT16_MAX)
		return fab_table_file_fail(&x->file, "LID %u, expected 1 to %d", lid,
					   FAB_LAST_LID);
	column = x->column[lid];
	if (node == FAB_NONE || column == FAB_NONE) {
		x->n_unknown++;
		return 0;
	}
	if (!x->row[node]) {
		x->row[node] =
			FAB_ARENA_NEW(&x->arena, (size_t)x->r->n_columns + 1, uint8_t);
		memset(x->row[node], UNSET, (size_t)x->r->n_columns + 1);
	}
	row = x->row[node];
	if (row[column] != UNSET && row[column] != sl && !is_of_port)
		return fab_table_file_fail(
			&x->file,
			"service level %u from 0x%016llx to LID %u, but %u in a line before",
			sl, (unsigned long long)x->r->f->node_guid[node], lid,
			row[column]);
	if (row[column] == SPLIT)
		return 0;
	if (row[column] != UNSET && row[column] != sl) {
		row[column] = SPLIT;
		x->n_split++;
		return 0;
	}
	row[column] = (uint8_t)sl;
	if (sl > x->most)
		x->most = sl;
	return 0;
}

/* "0xNODEGUID LID SL"; or "0xNODEGUID LID: SL SL - ..." of a port, as our plug-in for
 * OpenSM writes it: the levels of the LIDs behind it too, "-" for none. */
static int read_levels(struct sls_reading *x)
{
	struct fab_span rest = x->file.line;
	uint64_t guid;
	uint32_t lid, sl, node, n = 0;
	bool is_good = fab_table_take_hex(&rest, &guid), is_list = false;

	fab_skip_blanks(&rest);
	is_good = is_good && fab_take_dec(&rest, &lid);
	is_list = is_good && fab_take_char(&rest, ':');
	if (!is_good || rest.p == rest.end || !fab_is_blank(*rest.p))
		return fab_table_file_expected(&x->file, EXPECTED_SL);
	if (fab_table_file_node(&x->file, guid, &node))
		return -EINVAL;
	for (fab_skip_blanks(&rest); rest.p != rest.end; lid++, n++) {
		int rc = 0;

		if (n && !is_list)
			return fab_table_file_expected(&x->file, EXPECTED_SL);
		if (!is_list || !fab_take_char(&rest, '-'))
			rc = fab_table_take_dec(&rest, &sl)
				     ? keep_level(x, node, lid, sl, is_list)
				     : fab_table_file_expected(&x->file, EXPECTED_SL);
		if (rc)
			return rc;
		fab_skip_blanks(&rest);
	}
	return 0;
}

/* The node that sends from a LID, FAB_NONE: none. */
static uint32_t sender_of(struct sls_reading *x, uint32_t lid)
{
	const struct fab_routes *r = x->r;

	if (!x->sender) {
		x->sender = fab_arena_none(&x->arena, UINT16_MAX + 1);
		for (uint32_t c = 0; c < r->n_columns; c++)
			x->sender[r->column_lid[c]] = r->f->port_node[r->column_port[c]];
	}
	return x->sender[lid];
}

/* Between two records, and at the end. */
static int end_record(struct sls_reading *x)
{
	const struct path_record record = x->record;

	x->record.line = 0;
	if (!record.line)
		return 0;
	if (record.slid == FAB_NONE || record.dlid == FAB_NONE || record.sl == FAB_NONE)
		return fab_table_file_fail(
			&x->file,
			"the PathRecord of line %llu ends without slid, dlid and sl",
			(unsigned long long)record.line);
	if (!record.slid || !record.dlid)
		return fab_table_file_fail(
			&x->file,
			"the PathRecord of line %llu has LID 0: the answer to saquery was cut off",
			(unsigned long long)record.line);
	if (record.slid > UINT16_MAX)
		return fab_table_file_fail(&x->file, "LID %u, expected 1 to %d",
					   record.slid, FAB_LAST_LID);
	return keep_level(x, sender_of(x, record.slid), record.dlid, record.sl, true);
}

/* "slid....................2", "sl......................0x3": a name, points, a value. */
static int read_record_line(struct sls_reading *x)
{
	const struct fab_span *line = &x->file.line;
	const char *point = memchr(line->p, '.', fab_span_len(line));
	struct fab_span name = {line->p, point}, value = {point, line->end};
	uint32_t *to, number;
	uint64_t hex;

	if (!point)
		return fab_table_file_expected(
			&x->file, "a field of a PathRecord, as \"slid....2\"");
	while (fab_take_char(&value, '.'))
		;
#define IS(literal)                                                                      \
	(fab_span_len(&name) == sizeof(literal) - 1 && FAB_BEGINS(&name, literal))
	to = IS("slid")	  ? &x->record.slid
	     : IS("dlid") ? &x->record.dlid
	     : IS("sl")	  ? &x->record.sl
			  : NULL;
#undef IS
	if (!to)
		return 0;
	if (FAB_BEGINS(&value, "0x") && fab_table_take_hex(&value, &hex) &&
	    hex <= UINT16_MAX)
		number = (uint32_t)hex;
	else if (!fab_table_take_dec(&value, &number))
		return fab_table_file_expected(&x->file, "a number");
	*to = number;
	return value.p == value.end ? 0 : fab_table_file_expected(&x->file, "a number");
}

static int read_sl_line(void *context)
{
	struct sls_reading *x = context;
	int rc;

	if (!FAB_BEGINS(&x->file.line, "PathRecord dump:"))
		return x->record.line ? read_record_line(x) : read_levels(x);
	rc = end_record(x);
	x->record =
		(struct path_record){x->file.lines.line, FAB_NONE, FAB_NONE, FAB_NONE};
	return rc;
}

/*
 * The node whose row a switch takes as its own: itself, or the first adapter on it that
 * has one; FAB_NONE: none has.
 */
static uint32_t *models(struct sls_reading *x)
{
	const struct fab_fabric *f = x->r->f;
	uint32_t *model = FAB_ARENA_NEW(&x->arena, (size_t)f->n_switches + 1, uint32_t);

	for (uint32_t s = 0; s < f->n_switches; s++)
		model[s] = x->row[s] ? s : FAB_NONE;
	for (uint32_t p = 0; p < f->n_ports; p++) {
		uint32_t node = f->port_node[p], sw = fab_port_switch(f, p);

		if (node >= f->n_switches && sw != FAB_NONE && x->row[node] &&
		    model[sw] == FAB_NONE)
			model[sw] = node;
	}
	return model;
}

/* Does an adapter need a row of its own: does it differ from a switch it is cabled to? */
static bool differs(const struct sls_reading *x, const uint32_t *model, uint32_t node)
{
	const struct fab_fabric *f = x->r->f;
	const uint8_t *own = x->row[node];

	FAB_EACH_PORT(f, node, p) {
		uint32_t sw = fab_port_switch(f, p);
		const uint8_t *row;

		if (sw == FAB_NONE || model[sw] == FAB_NONE || model[sw] == node)
			continue;
		row = x->row[model[sw]];
		for (uint32_t c = 0; c < x->r->n_columns; c++)
			if ((own ? own[c] : UNSET) != (row ? row[c] : UNSET))
				return true;
	}
	return false;
}

int fab_routes_add_path_sl(struct fab_routes *r, const char *file, const char *text,
			   size_t len, struct fab_err *err)
{
	struct sls_reading x = {.r = r};
	int rc;

	if (!r->column_lid || r->sl)
		return fab_fail(
			err, EINVAL,
			"%s: service levels of LIDs, but the tables have none or have their own",
			file);
	x.column = fab_arena_none(&x.arena, UINT16_MAX + 1);
	x.row = FAB_ARENA_NEW0(&x.arena, (size_t)r->f->n_nodes + 1, uint8_t *);
	for (uint32_t c = 0; c < r->n_columns; c++)
		x.column[r->column_lid[c]] = c;
	fab_table_file_init(&x.file, r->f, file, text, len, err);
	rc = fab_table_file_read(&x.file, read_sl_line, &x);
	if (!rc)
		rc = end_record(&x);
	for (uint32_t i = 0; !rc && x.n_split && i < r->f->n_nodes; i++)
		for (uint32_t c = 0; x.row[i] && c < r->n_columns; c++)
			if (x.row[i][c] == SPLIT)
				x.row[i][c] = UNSET;
	if (!rc) {
		const struct fab_fabric *f = r->f;
		uint32_t n = 0;
		uint32_t *model = models(&x);
		bool *is_kept = FAB_ARENA_NEW(&x.arena, (size_t)f->n_nodes + 1, bool);

		for (uint32_t i = 0; i < f->n_nodes; i++) {
			is_kept[i] = i < f->n_switches ? model[i] != FAB_NONE
						       : differs(&x, model, i);
			n += is_kept[i];
		}
		r->sl_source = FAB_NEW((size_t)n + 1, uint32_t);
		r->sl = fab_alloc((size_t)n + 1, (size_t)r->n_columns + 1);
		for (uint32_t i = 0; i < f->n_nodes; i++)
			if (is_kept[i]) {
				uint32_t node = i < f->n_switches ? model[i] : i;
				uint8_t *to =
					r->sl + (size_t)r->n_sl_sources * r->n_columns;

				if (x.row[node])
					memcpy(to, x.row[node], r->n_columns);
				else
					memset(to, UNSET, r->n_columns);
				r->sl_source[r->n_sl_sources++] = i;
			}
		r->lanes = FAB_LANES_SL;
		r->sl_default = UNSET;
		r->files->has_sls = true;
		r->n_sls = r->n_vls = (uint8_t)(x.most + 1);
		if (x.n_unknown)
			fab_append(&r->note, "; ",
				   "%llu service levels are of unknown nodes or LIDs",
				   (unsigned long long)x.n_unknown);
		if (x.n_split)
			fab_append(
				&r->note, "; ",

				"%llu service levels differ between ports of one adapter: these are not known",
				(unsigned long long)x.n_split);
	}
	fab_table_file_fini(&x.file);
	fab_arena_free(&x.arena);
	return rc;
}

/* Lanes of service levels, out of a file. */

enum { SLS = 16, DROP = 15 };

struct lanes_reading {
	struct fab_routes *r;
	struct fab_table_file file;
	uint16_t *arc; /* [n_ports] */
	/* [entries / SLS] port of the line of an entry, and one more; 0: none yet */
	uint16_t *line_of;
	uint64_t n_unknown;
	bool is_dump; /* it is OpenSM's, whose lines stand under their node: dumped */
	bool is_of_switch;
	uint64_t dumped;
};

struct line {
	uint64_t guid;
	uint32_t in, out;
	uint8_t vl[SLS];
};

/* Arc of a switch behind its port, its number of arcs: none. */
static uint32_t arc_of(const struct lanes_reading *x, uint32_t sw, uint32_t port)
{
	const struct fab_fabric *f = x->r->f;

	if (port == FAB_NONE || x->arc[port] == FAB_ARC_NONE)
		return fab_degree(f, sw);
	return x->arc[port];
}

static int keep(struct lanes_reading *x, uint32_t sw, const struct line *line)
{
	const struct fab_fabric *f = x->r->f;
	uint32_t d = fab_degree(f, sw);
	uint32_t in_port = fab_port_find(f, sw, line->in);
	uint32_t in = arc_of(x, sw, in_port);
	uint32_t out = arc_of(x, sw, fab_port_find(f, sw, line->out));
	uint64_t entry = x->r->vl_first[sw] / SLS + (uint64_t)in * (d + 1) + out;
	uint8_t *vl = x->r->sl2vl + entry * SLS;
	uint16_t before = x->line_of[entry];

	if (in_port != FAB_NONE)
		x->r->files->has_lane[fab_lane_at(x->r, sw, in_port, out)] = true;
	/* to an adapter: the first line will do */
	if (before && (out == d || !line->in))
		return 0;
	if (before > 1 && memcmp(vl, line->vl, SLS) != 0)
		return fab_table_file_fail(
			&x->file,
			"lanes from port %u to port %u other than those from port %u: expected the same for what an adapter sends",
			line->in, line->out, before - 1U);
	memcpy(vl, line->vl, SLS);
	x->line_of[entry] = (uint16_t)(line->in + 1);
	return 0;
}

/* "0x0002c90200417670 1 2 0x00 0x11 0x22 0x33 0x44 0x55 0x66 0x77" */
static bool take_lanes(struct fab_span rest, struct line *line)
{
	bool is_good = fab_table_take_hex(&rest, &line->guid) &&
		       fab_table_take_dec(&rest, &line->in) &&
		       fab_table_take_dec(&rest, &line->out);

	for (int sl = 0; sl < SLS && is_good; sl += 2) {
		uint64_t two = 0;

		is_good = fab_table_take_hex(&rest, &two) && two <= 0xff;
		line->vl[sl] = (uint8_t)(two >> 4);
		line->vl[sl + 1] = two & 15;
	}
	return is_good && rest.p == rest.end;
}

/* "3   8   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7", under its node */
static bool take_dumped_lanes(struct fab_span rest, struct line *line)
{
	bool is_good = fab_table_take_dec(&rest, &line->in) &&
		       fab_table_take_dec(&rest, &line->out);

	fab_skip_blanks(&rest);
	is_good = is_good && fab_take_char(&rest, ':');
	for (int sl = 0; sl < SLS && is_good; sl++) {
		uint32_t vl = 0;

		is_good = fab_table_take_dec(&rest, &vl) && vl < SLS;
		line->vl[sl] = (uint8_t)vl;
	}
	return is_good && rest.p == rest.end;
}

/* "Switch 0x0002c90200000001, base LID 2, "NAME"" of opensm-sl2vl.dump; of other nodes it
 * is the GUID of a port. */
static bool take_lanes_head(struct fab_span rest, uint64_t *guid, bool *is_switch)
{
	*is_switch = FAB_TAKE(&rest, "Switch 0x");
	return (*is_switch || FAB_TAKE(&rest, "Channel Adapter 0x") ||
		FAB_TAKE(&rest, "Router 0x")) &&
	       fab_take_hex(&rest, guid) && FAB_BEGINS(&rest, ", base LID ");
}

static int read_lane_line(void *context)
{
	struct lanes_reading *x = context;
	const struct fab_fabric *f = x->r->f;
	struct line line = {.guid = x->dumped};
	bool is_switch;
	uint32_t node;

	if (take_lanes_head(x->file.line, &line.guid, &is_switch)) {
		x->dumped = line.guid;
		x->is_of_switch = is_switch;
		x->is_dump = true;
		return 0;
	}
	if (x->is_dump ? !take_dumped_lanes(x->file.line, &line)
		       : !take_lanes(x->file.line, &line))
		return fab_table_file_expected(
			&x->file,
			x->is_dump
				? "\"IN OUT :\" and 16 lanes, as in opensm-sl2vl.dump"
				: "\"0xNODEGUID IN OUT\" and 8 times \"0xAB\", or opensm-sl2vl.dump");
	if (x->is_dump && !x->is_of_switch)
		return 0;
	if (fab_table_file_node(&x->file, line.guid, &node))
		return -EINVAL;
	if (node == FAB_NONE) {
		x->n_unknown++;
		return 0;
	}
	for (int i = 0; i < 2; i++) {
		uint32_t num = i ? line.out : line.in;

		if (!fab_table_has_port(f, node, num))
			return fab_table_file_fail(
				&x->file,
				"port %u of \"%.60s\" does not exist (%u ports)", num,
				fab_node_name(f, node), f->node_n_ports[node]);
	}
	return fab_node_is_switch(f, node) ? keep(x, node, &line) : 0;
}

int fab_routes_add_sl2vl(struct fab_routes *r, const char *file, const char *text,
			 size_t len, struct fab_err *err)
{
	const struct fab_fabric *f = r->f;
	struct fab_table_files *files = r->files;
	FAB_AUTOFREE uint16_t *arc = NULL, *line_of = NULL;
	struct lanes_reading x = {.r = r};
	int rc;

	if (r->sl2vl)
		return fab_fail(err, EINVAL, "%s: the tables have lanes already", file);
	r->vl_first = FAB_NEW((size_t)f->n_switches + 1, uint64_t);
	r->vl_first[0] = 0;
	files->lane_first = FAB_NEW0((size_t)f->n_switches + 1, uint64_t);
	for (uint32_t s = 0; s < f->n_switches; s++) {
		uint64_t d = fab_degree(f, s) + 1;
		uint64_t n_ports = f->node_first_port[s + 1] - f->node_first_port[s];

		r->vl_first[s + 1] = r->vl_first[s] + d * d * SLS;
		files->lane_first[s + 1] = files->lane_first[s] + d * n_ports;
	}
	r->sl2vl = FAB_NEW((size_t)r->vl_first[f->n_switches] + 1, uint8_t);
	memset(r->sl2vl, FAB_VL_UNKNOWN, (size_t)r->vl_first[f->n_switches] + 1);
	files->has_lane = FAB_NEW0((size_t)files->lane_first[f->n_switches] + 1, bool);
	line_of = FAB_NEW0((size_t)(r->vl_first[f->n_switches] / SLS) + 1, uint16_t);
	x.line_of = line_of;
	x.arc = arc = fab_table_arcs(f);
	fab_table_file_init(&x.file, f, file, text, len, err);
	rc = fab_table_file_read(&x.file, read_lane_line, &x);
	if (!rc) {
		unsigned most = 0;

		for (uint64_t i = 0; i < r->vl_first[r->f->n_switches]; i++)
			if (r->sl2vl[i] > most && r->sl2vl[i] < DROP)
				most = r->sl2vl[i];
		r->lanes = FAB_LANES_TABLE;
		r->files->has_lanes = true;
		r->n_vls = (uint8_t)(most + 1);
		if (x.n_unknown)
			fab_append(&r->note, "; ",
				   "%llu lines of lanes are of unknown nodes",
				   (unsigned long long)x.n_unknown);
	}
	fab_table_file_fini(&x.file);
	return rc;
}
