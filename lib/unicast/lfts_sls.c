/* SPDX-License-Identifier: BSD-2-Clause */
/* Service levels of paths, out of a file. */
#include "unicast/lfts_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SL = 15, UNSET = FAB_SL_UNKNOWN };

struct reading {
	struct fab_routes *r;
	struct fab_lfts_file file;
	uint32_t *column; /* [UINT16_MAX + 1] of a LID */
	uint8_t **row;	  /* [n_nodes] service level of each column; NULL: no line */
	uint64_t n_unknown;
	unsigned most;
};

static int read_line(struct reading *x)
{
	struct fab_span rest = x->file.line;
	uint64_t guid;
	uint32_t lid, sl, node, column;
	uint8_t *row;

	if (!fab_lfts_take_hex(&rest, &guid) || !fab_lfts_take_dec(&rest, &lid) ||
	    !fab_lfts_take_dec(&rest, &sl) || rest.p != rest.end)
		return fab_lfts_bad_line(&x->file, "\"0xNODEGUID LID SL\"");
	if (sl > MAX_SL)
		return fab_lfts_fail(&x->file, "service level %u, expected 0 to %d", sl,
				     MAX_SL);
	if (lid > UINT16_MAX)
		return fab_lfts_fail(&x->file, "LID %u, expected 1 to %d", lid, 0xbfff);
	if (fab_lfts_find_node(&x->file, guid, &node))
		return -EINVAL;
	column = x->column[lid];
	if (node == FAB_NONE || column == FAB_NONE) {
		x->n_unknown++;
		return 0;
	}
	if (!x->row[node]) {
		x->row[node] = FAB_NEW((size_t)x->r->n_columns + 1, uint8_t);
		memset(x->row[node], UNSET, (size_t)x->r->n_columns + 1);
	}
	row = x->row[node];
	if (row[column] != UNSET && row[column] != sl)
		return fab_lfts_fail(&x->file,
				     "service level %u from 0x%016llx to LID %u, but "
				     "%u in a line before",
				     sl, (unsigned long long)guid, lid, row[column]);
	row[column] = (uint8_t)sl;
	if (sl > x->most)
		x->most = sl;
	return 0;
}

static bool is_same(const struct reading *x, uint32_t a, uint32_t b)
{
	const uint8_t *p = x->row[a], *q = x->row[b];

	for (uint32_t c = 0; c < x->r->n_columns; c++)
		if ((p ? p[c] : UNSET) != (q ? q[c] : UNSET))
			return false;
	return true;
}

/*
 * The node whose row a switch takes as its own: itself, or the first adapter on it that
 * has one; FAB_NONE: none has.
 */
static uint32_t *models(const struct reading *x)
{
	const struct fab_fabric *f = x->r->f;
	uint32_t *model = FAB_NEW((size_t)f->n_switches + 1, uint32_t);

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

/* Does an adapter need a row of its own: does it differ from a switch it hangs on? */
static bool differs(const struct reading *x, const uint32_t *model, uint32_t node)
{
	const struct fab_fabric *f = x->r->f;

	for (uint32_t p = f->node_first_port[node]; p < f->node_first_port[node + 1];
	     p++) {
		uint32_t sw = fab_port_switch(f, p);

		if (sw != FAB_NONE && model[sw] != FAB_NONE && model[sw] != node &&
		    !is_same(x, node, model[sw]))
			return true;
	}
	return false;
}

static void keep_row(struct reading *x, uint32_t source, uint32_t node)
{
	struct fab_routes *r = x->r;
	uint8_t *to = r->sl + (size_t)r->n_sl_sources * r->n_columns;

	if (x->row[node])
		memcpy(to, x->row[node], r->n_columns);
	else
		memset(to, UNSET, r->n_columns);
	r->sl_source[r->n_sl_sources++] = source;
}

static void to_rows(struct reading *x)
{
	struct fab_routes *r = x->r;
	const struct fab_fabric *f = r->f;
	uint32_t *model = models(x), n = 0;
	bool *is_kept = FAB_NEW0((size_t)f->n_nodes + 1, bool);

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		is_kept[i] =
			i < f->n_switches ? model[i] != FAB_NONE : differs(x, model, i);
		n += is_kept[i];
	}
	r->sl_source = FAB_NEW((size_t)n + 1, uint32_t);
	r->sl = fab_alloc((size_t)n + 1, (size_t)r->n_columns + 1);
	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (is_kept[i])
			keep_row(x, i, i < f->n_switches ? model[i] : i);
	free(is_kept);
	free(model);
	r->lanes = FAB_LANES_SL;
	r->sl_default = UNSET;
	r->told->has_sls = true;
	r->n_sls = r->n_vls = (uint8_t)(x->most + 1);
	if (x->n_unknown)
		fab_lfts_note(r, "%llu service levels are of unknown nodes or LIDs",
			      (unsigned long long)x->n_unknown);
}

int fab_routes_add_path_sl(struct fab_routes *r, const char *file, const char *text,
			   size_t len, struct fab_err *err)
{
	struct reading x = {.r = r};
	int rc;

	if (!r->column_lid || r->sl)
		return fab_fail(err, EINVAL,
				"%s: service levels of LIDs, but the tables have none or "
				"have their own",
				file);
	x.column = FAB_NEW(UINT16_MAX + 1, uint32_t);
	x.row = FAB_NEW0((size_t)r->f->n_nodes + 1, uint8_t *);
	memset(x.column, 0xff, (UINT16_MAX + 1) * sizeof(*x.column));
	for (uint32_t c = 0; c < r->n_columns; c++)
		x.column[r->column_lid[c]] = c;
	fab_lfts_file_init(&x.file, r->f, file, text, len, err);
	while ((rc = fab_lfts_next_line(&x.file)) > 0) {
		rc = read_line(&x);
		if (rc)
			break;
	}
	if (!rc)
		to_rows(&x);
	fab_lfts_file_fini(&x.file);
	for (uint32_t i = 0; i < r->f->n_nodes; i++)
		free(x.row[i]);
	free(x.row);
	free(x.column);
	return rc;
}
