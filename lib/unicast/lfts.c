/* SPDX-License-Identifier: BSD-2-Clause */
/* Readers of unicast tables, service levels and lanes; lfts.h has the formats. */
#include "unicast/lfts.h"

#include "base/map.h"
#include "fabric/fabric.h"
#include "source/scan.h"
#include "source/unpack.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SHOWN = 60 };

/* A file being read, line by line. */
struct file {
	const char *name;
	struct fab_lines lines;
	struct fab_span line;
	struct fab_map64 *nodes; /* by node GUID, FAB_SHARED */
	struct fab_err *err;
};

static void file_init(struct file *file, const struct fab_fabric *f, const char *name,
		      const char *text, size_t len, struct fab_err *err)
{
	*file = (struct file){.name = name,
			      .lines = {.at = text, .end = text + len},
			      .nodes = fab_guids_new(f, f->n_nodes),
			      .err = err};
}

static void file_fini(struct file *file)
{
	fab_map64_free(file->nodes);
}

/* -EINVAL and "file:line: <text>". */
FAB_PRINTF(2, 3)
static int fail(const struct file *file, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return fab_fail(file->err, EINVAL, "%s:%llu: %s", file->name,
			(unsigned long long)file->lines.line, text);
}

/* The node that has the GUID, FAB_NONE: none. -EINVAL: two have it. */
static int find_node(const struct file *file, uint64_t guid, uint32_t *node)
{
	*node = fab_map64_get(file->nodes, guid);
	if (*node != FAB_SHARED)
		return 0;
	return fail(file, "the fabric has two nodes 0x%016llx: it is ambiguous",
		    (unsigned long long)guid);
}

/* -EINVAL and "file:line: expected <what>, found <the line>". */
static int bad_line(const struct file *file, const char *expected)
{
	size_t len = fab_span_len(&file->line);

	return fail(file, "expected %s, found \"%.*s\"", expected,
		    (int)(len < MAX_SHOWN ? len : MAX_SHOWN), file->line.p);
}

/* The next line that is not empty and no comment: 1; 0: the end; -EINVAL: an open line.
 */
static int next_line(struct file *file)
{
	while (fab_lines_next(&file->lines, &file->line)) {
		if (file->line.p == file->line.end || *file->line.p == '#')
			continue;
		if (file->lines.is_open)
			return fail(file, "the input ends within the line");
		return 1;
	}
	return 0;
}

static bool is_at_end(const struct fab_span *s)
{
	return s->p == s->end || fab_is_blank(*s->p);
}

/* "0x" and digits; the number ends with the line or before a blank. */
static bool take_hex(struct fab_span *s, uint64_t *out)
{
	fab_skip_blanks(s);
	return FAB_TAKE(s, "0x") && fab_take_hex(s, out) && is_at_end(s);
}

/* A decimal number before a blank or the end, blanks in front skipped. */
static bool take_dec(struct fab_span *s, uint32_t *out)
{
	fab_skip_blanks(s);
	return fab_take_dec(s, out) && is_at_end(s);
}

/* Does the switch have a port of this number? */
static bool has_port(const struct fab_fabric *f, uint32_t sw, uint32_t num)
{
	return num <= f->node_n_ports[sw] || fab_port_find(f, sw, num) != FAB_NONE;
}

/* [n_ports] arc of a switch's port counted from arc_first, FAB_ARC_NONE: its cable leads
 * to no other switch. The caller frees. */
static uint16_t *arcs_of_ports(const struct fab_fabric *f)
{
	uint16_t *arc = FAB_NEW((size_t)f->n_ports + 1, uint16_t);

	for (uint32_t p = 0; p < f->n_ports; p++)
		arc[p] = FAB_ARC_NONE;
	for (uint32_t s = 0; s < f->n_switches; s++)
		for (uint32_t a = f->arc_first[s]; a < f->arc_first[s + 1]; a++) {
			uint32_t c = f->arc_cable[a], p = f->cable_a[c];

			if (f->port_node[p] != s)
				p = f->cable_b[c];
			arc[p] = (uint16_t)(a - f->arc_first[s]);
		}
	return arc;
}

FAB_PRINTF(2, 3)
static void add_note(struct fab_routes *r, const char *format, ...)
{
	char text[256], *old = r->note;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	r->note = old ? fab_format("%s; %s", old, text) : fab_strdup(text);
	free(old);
}

enum {
	LAST_LID = 0xbfff,
	N_LIDS = LAST_LID + 1,
	NO_PORT = 255,
	MAX_PORT = 0xfffe,
	MAX_LIDS_OF_PORT = 128
};

#define EXPECTED                                                                         \
	"\"Unicast lids [..] of switch .. guid 0x..\", \"0x0001 003 ...\", "             \
	"\"N lids dumped\", \"... Switch 0x..\" or \"0x0001 : 003 : ...\""

enum block { NOWHERE, LFTS, FDBS };

struct tables_reading {
	const struct fab_fabric *f;
	struct file file;
	struct fab_map64 *ports; /* by port GUID */
	enum block block;
	uint32_t sw; /* of the block, FAB_NONE: not in the fabric */
	uint64_t header_line, n_entries;
	uint8_t *form; /* [n_switches] enum block of its table, NOWHERE: none */
	FAB_VEC(uint64_t) strange; /* GUIDs of switches that the fabric does not have */
	uint64_t n_tables;
	uint16_t *out[N_LIDS];	/* [n_switches] port by which a switch sends on; NULL: no
				   such LID yet */
	uint64_t guid[N_LIDS];	/* port GUID that lines name, 0: none did */
	uint32_t owner[N_LIDS]; /* port of a LID in the fabric */
};

/* Is the port on a switch? One without a cable is a destination of no tables. */
static bool is_cabled(const struct tables_reading *r, uint32_t port)
{
	return fab_port_switch(r->f, port) != FAB_NONE;
}

/* Of two ports with a GUID, such as of a record that was replaced, the cabled one counts.
 */
static void add_port(struct tables_reading *r, uint64_t guid, uint32_t port)
{
	uint32_t old = guid ? fab_map64_put(r->ports, guid, port) : port;

	if (old == port ||
	    (old != FAB_SHARED && is_cabled(r, old) && !is_cabled(r, port)))
		return;
	fab_map64_set(r->ports, guid,
		      old == FAB_SHARED || is_cabled(r, old) ? FAB_SHARED : port);
}

static struct tables_reading *reading_new(const struct fab_fabric *f)
{
	struct tables_reading *r = FAB_NEW0(1, struct tables_reading);

	r->f = f;
	r->ports = fab_map64_new(f->n_ports);
	r->form = FAB_NEW0((size_t)f->n_switches + 1, uint8_t);
	memset(r->owner, 0xff, sizeof(r->owner));
	for (uint32_t p = 0; p < f->n_ports; p++) {
		uint32_t lid = f->port_lid[p], node = f->port_node[p];
		uint32_t end = lid + fab_port_n_lids(f, p);
		bool is_end = !fab_node_is_switch(f, node) || !f->port_num[p];

		if (!is_end)
			continue;
		add_port(r, f->port_guid[p], p);
		for (; lid && lid < end && lid < N_LIDS; lid++)
			if (r->owner[lid] == FAB_NONE || !is_cabled(r, r->owner[lid]))
				r->owner[lid] = p;
	}
	for (uint32_t s = 0; s < f->n_switches; s++)
		add_port(r, f->node_guid[s], f->node_first_port[s]);
	return r;
}

static int begin_table(struct tables_reading *r, enum block block, struct fab_span rest)
{
	uint64_t guid;
	uint32_t node;
	int rc;

	if (!fab_take_hex(&rest, &guid))
		return bad_line(&r->file, EXPECTED);
	if (r->block == LFTS)
		return fail(
			&r->file,
			"expected the line \"N lids dumped\" of the table that begins in line %llu first",
			(unsigned long long)r->header_line);
	rc = find_node(&r->file, guid, &node);
	if (rc)
		return rc;
	if (node == FAB_NONE || !fab_node_is_switch(r->f, node)) {
		FAB_PUSH(&r->strange, guid);
		node = FAB_NONE;
	} else {
		r->form[node] = (uint8_t)block;
	}
	r->sw = node;
	r->block = block;
	r->header_line = r->file.lines.line;
	r->n_entries = 0;
	r->n_tables++;
	return 0;
}

/* Is there this text? *rest goes on after it. */
static bool find(struct fab_span *rest, const char *text)
{
	const char *at = memmem(rest->p, fab_span_len(rest), text, strlen(text));

	if (at)
		rest->p = at + strlen(text);
	return at;
}

static int add_entry(struct tables_reading *r, uint32_t lid, uint32_t num, uint64_t guid)
{
	r->n_entries++;
	if (r->sw == FAB_NONE)
		return 0;
	if (!r->out[lid]) {
		r->out[lid] = FAB_NEW(r->f->n_switches, uint16_t);
		memset(r->out[lid], 0xff, r->f->n_switches * sizeof(uint16_t));
	}
	if (r->out[lid][r->sw] != UINT16_MAX)
		return fail(&r->file, "LID %u a second time for switch 0x%016llx", lid,
			    (unsigned long long)r->f->node_guid[r->sw]);
	if (num != NO_PORT && !has_port(r->f, r->sw, num))
		return fail(&r->file, "port %u of \"%.60s\" does not exist (%u ports)",
			    num, fab_node_name(r->f, r->sw), r->f->node_n_ports[r->sw]);
	if (guid && r->guid[lid] && guid != r->guid[lid])
		return fail(&r->file,
			    "LID %u is of port 0x%016llx, expected 0x%016llx as before",
			    lid, (unsigned long long)guid,
			    (unsigned long long)r->guid[lid]);
	if (guid)
		r->guid[lid] = guid;
	/* "no port" differs from "no entry" only here, where it is an entry */
	r->out[lid][r->sw] = num == NO_PORT ? MAX_PORT : (uint16_t)num;
	return 0;
}

/* "0x0001 036 # ...", "0x0001 : 036  : 02 : yes", "0x0001 : UNREACHABLE". */
static int read_entry(struct tables_reading *r)
{
	struct fab_span rest = r->file.line;
	const char *quote;
	uint64_t lid, guid = 0;
	uint32_t num = NO_PORT;

	if (!take_hex(&rest, &lid))
		return bad_line(&r->file, EXPECTED);
	if (r->block == NOWHERE)
		return fail(&r->file, "an entry before any line that names a switch");
	if (!lid || lid > LAST_LID)
		return fail(&r->file, "0x%llx is no unicast LID, expected 0x0001 to 0x%x",
			    (unsigned long long)lid, LAST_LID);
	fab_skip_blanks(&rest);
	if (r->block == FDBS) {
		if (!fab_take_char(&rest, ':'))
			return bad_line(&r->file, EXPECTED);
		fab_skip_blanks(&rest);
		if (!FAB_BEGINS(&rest, "UNREACHABLE") && !take_dec(&rest, &num))
			return bad_line(&r->file, EXPECTED);
	} else {
		if (!take_dec(&rest, &num))
			return bad_line(&r->file, EXPECTED);
		/* "... Channel Adapter portguid 0x0002c90300080d59: 'NAME'": names are
		 * anything and are not looked at. */
		quote = memchr(rest.p, '\'', fab_span_len(&rest));
		rest.end = quote ? quote : rest.end;
		if (!find(&rest, "portguid 0x") || !fab_take_hex(&rest, &guid))
			guid = 0;
	}
	return add_entry(r, (uint32_t)lid, num, guid);
}

static int read_table_line(struct tables_reading *r)
{
	struct fab_span rest = r->file.line;
	uint32_t n;

	if (FAB_BEGINS(&rest, "0x"))
		return read_entry(r);
	if (FAB_TAKE(&rest, "Unicast lids")) {
		if (!find(&rest, " guid 0x"))
			return bad_line(&r->file, EXPECTED);
		return begin_table(r, LFTS, rest);
	}
	if (find(&rest, "Switch 0x"))
		return begin_table(r, FDBS, rest);
	rest = r->file.line;
	/* headings of columns */
	if (FAB_BEGINS(&rest, "LID") || FAB_BEGINS(&rest, "Lid") ||
	    FAB_BEGINS(&rest, "Port"))
		return 0;
	/* "56 lids dumped": OpenSM writes the largest LID, others the number of entries.
	 */
	if (r->block != LFTS || !take_dec(&rest, &n))
		return bad_line(&r->file, EXPECTED);
	fab_skip_blanks(&rest);
	if (FAB_TAKE(&rest, "valid"))
		fab_skip_blanks(&rest);
	if (!FAB_BEGINS(&rest, "lids dumped"))
		return bad_line(&r->file, EXPECTED);
	if (r->n_entries > n)
		return fail(
			&r->file,
			"%u lids dumped, but the table that begins in line %llu has %llu",
			n, (unsigned long long)r->header_line,
			(unsigned long long)r->n_entries);
	r->block = NOWHERE;
	return 0;
}

/*
 * The port whose LMC covers a LID that nothing names, FAB_NONE: none. A fabric read from
 * opensm-subnet.lst or the lines of ibnetdiscover -p has no LMCs: such a LID belongs to
 * the port with the nearest LID below it if it lies in an aligned block of at most 128
 * that begins there, and the switch of that port sends it out to that port.
 */
static uint32_t covering_port(const struct tables_reading *r, const uint32_t *owner,
			      uint32_t lid)
{
	const struct fab_fabric *f = r->f;
	uint32_t base = lid - 1, n = 1, port, sw, exit;

	if (strcmp(f->format, "subnet-lst") != 0 &&
	    strcmp(f->format, "ibnetdiscover-ports") != 0)
		return FAB_NONE;
	while (base && owner[base] == FAB_NONE && lid - base < MAX_LIDS_OF_PORT)
		base--;
	port = owner[base];
	if (port == FAB_NONE)
		return FAB_NONE;
	while (base % (2 * n) == 0 && n < MAX_LIDS_OF_PORT)
		n *= 2;
	sw = fab_port_switch(f, port);
	if (lid >= base + n || sw == FAB_NONE)
		return FAB_NONE;
	exit = f->port_node[port] == sw ? 0 : f->port_num[fab_port_peer(f, port)];
	return r->out[lid][sw] == exit ? port : FAB_NONE;
}

/* The port of each LID with entries, FAB_NONE: left out. Returns how many are kept. */
static uint32_t choose_ports(struct tables_reading *r, struct fab_table_files *files)
{
	uint32_t n = 0;
	FAB_AUTOFREE uint32_t *owner = FAB_NEW(N_LIDS, uint32_t);

	memcpy(owner, r->owner, sizeof(r->owner));
	for (uint32_t lid = 1; lid < N_LIDS; lid++) {
		uint32_t port = r->owner[lid];

		if (r->guid[lid]) {
			/* of several ports with the GUID, the one that has the LID */
			uint32_t named = fab_map64_get(r->ports, r->guid[lid]);
			bool owns =
				port != FAB_NONE && r->f->port_guid[port] == r->guid[lid];

			port = named != FAB_SHARED ? named : owns ? port : FAB_NONE;
		} else if (port == FAB_NONE && r->out[lid])
			port = covering_port(r, owner, lid);
		if (!r->out[lid])
			port = FAB_NONE;
		else if (port == FAB_NONE || fab_port_switch(r->f, port) == FAB_NONE) {
			FAB_PUSH(&files->strange_lids, (uint16_t)lid);
			port = FAB_NONE;
		}
		r->owner[lid] = port;
		n += port != FAB_NONE;
	}
	return n;
}

static struct fab_table_files *files_of(struct tables_reading *r)
{
	struct fab_table_files *files = FAB_NEW0(1, struct fab_table_files);

	/* The form of opensm.fdbs has a line for every LID: one that other tables have
	 * and this one lacks was cut off. */
	files->has_table = FAB_NEW((size_t)r->f->n_switches + 1, bool);
	for (uint32_t s = 0; s < r->f->n_switches; s++)
		files->has_table[s] = r->form[s] != NOWHERE;
	for (uint32_t lid = 1; lid < N_LIDS; lid++)
		for (uint32_t s = 0; r->out[lid] && s < r->f->n_switches; s++)
			if (r->out[lid][s] == UINT16_MAX && r->form[s] == FDBS)
				files->has_table[s] = false;
	for (size_t i = 0; i < r->strange.n; i++)
		FAB_PUSH(&files->strange_switches, r->strange.v[i]);
	return files;
}

static struct fab_routes *to_routes(struct tables_reading *r,
				    const struct fab_faults *faults)
{
	const struct fab_fabric *f = r->f;
	struct fab_table_files *files = files_of(r);
	uint32_t n = choose_ports(r, files), c = 0;
	struct fab_routes *out = fab_routes_new(f, faults, n);
	FAB_AUTOFREE uint16_t *arc = arcs_of_ports(f);

	out->files = files;
	out->column_port = FAB_NEW((size_t)n + 1, uint32_t);
	out->column_lid = FAB_NEW((size_t)n + 1, uint16_t);
	for (uint32_t lid = 1; lid < N_LIDS; lid++) {
		uint16_t *next = out->next + (size_t)c * f->n_switches;

		if (r->owner[lid] == FAB_NONE)
			continue;
		out->column_port[c] = r->owner[lid];
		out->column_switch[c] = fab_port_switch(f, r->owner[lid]);
		out->column_lid[c++] = (uint16_t)lid;
		for (uint32_t s = 0; s < f->n_switches; s++) {
			uint16_t num = r->out[lid][s];
			uint32_t port, cable, to = r->owner[lid];

			next[s] = num >= MAX_PORT ? FAB_ARC_NONE : FAB_ARC_BROKEN;
			if (!num && f->port_node[to] == s)
				next[s] = FAB_ARC_HERE;
			port = num && num < MAX_PORT ? fab_port_find(f, s, num)
						     : FAB_NONE;
			cable = port == FAB_NONE ? FAB_NONE : f->port_cable[port];
			if (cable == FAB_NONE || !fab_cable_is_live(faults, cable))
				continue;
			if (arc[port] != FAB_ARC_NONE)
				next[s] = arc[port];
			else if (fab_port_peer(f, port) == to)
				next[s] = FAB_ARC_HERE;
		}
	}
	return out;
}

int fab_routes_from_lfts(const struct fab_fabric *f, const struct fab_faults *faults,
			 const char *file, const char *text, size_t len,
			 struct fab_routes **out, struct fab_err *err)
{
	FAB_AUTOFREE struct tables_reading *r = reading_new(f);
	int rc;

	file_init(&r->file, f, file, text, len, err);
	while ((rc = next_line(&r->file)) > 0) {
		rc = read_table_line(r);
		if (rc)
			break;
	}
	if (!rc && r->block == LFTS)
		rc = fail(
			&r->file,
			"the input ends before the line \"N lids dumped\" of the table that begins in line %llu",
			(unsigned long long)r->header_line);
	else if (!rc && !r->n_tables)
		rc = fail(&r->file, "no forwarding table, expected " EXPECTED);
	else if (!rc && r->strange.n == r->n_tables)
		rc = fail(
			&r->file,
			"none of the %llu tables is of a switch of the fabric: the first is of 0x%016llx",
			(unsigned long long)r->n_tables,
			(unsigned long long)r->strange.v[0]);
	if (!rc)
		*out = to_routes(r, faults);
	file_fini(&r->file);
	for (uint32_t lid = 0; lid < N_LIDS; lid++)
		free(r->out[lid]);
	fab_map64_free(r->ports);
	free(r->form);
	free(r->strange.v);
	return rc;
}

typedef int (*add_fn)(struct fab_routes *r, const char *file, const char *text,
		      size_t len, struct fab_err *err);

static int add(struct fab_routes *r, const char *path, add_fn fn, struct fab_err *err)
{
	struct fab_input in;
	int rc = path ? fab_input_read_tables(path, &in, err) : 0;

	if (rc || !path)
		return rc;
	rc = fn(r, path, in.bytes, in.n, err);
	fab_input_fini(&in);
	return rc;
}

int fab_routes_read(const struct fab_fabric *f, const struct fab_faults *faults,
		    const char *lfts_path, const char *path_sl_path,
		    const char *sl2vl_path, struct fab_routes **out, struct fab_err *err)
{
	struct fab_routes *r = NULL;
	struct fab_input in;
	int rc = fab_input_read_tables(lfts_path, &in, err);

	if (rc)
		return rc;
	rc = fab_routes_from_lfts(f, faults, lfts_path, in.bytes, in.n, &r, err);
	fab_input_fini(&in);
	if (!rc)
		rc = add(r, path_sl_path, fab_routes_add_path_sl, err);
	if (!rc)
		rc = add(r, sl2vl_path, fab_routes_add_sl2vl, err);
	if (rc)
		fab_routes_free(r);
	else
		*out = r;
	return rc;
}

/* Service levels of paths, out of a file. */

enum { MAX_SL = 15, UNSET = FAB_SL_UNKNOWN, SPLIT = 0xfd };

#define EXPECTED_SL                                                                      \
	"\"0xNODEGUID LID SL\", as ibdmchk reads it, or \"PathRecord dump:\" of saquery -p"

/* A PathRecord being read: what is known of it yet. */
struct path_record {
	uint64_t line;		/* of its head, 0: none is being read */
	uint32_t slid, dlid, sl; /* FAB_NONE: no line yet */
};

struct sls_reading {
	struct fab_routes *r;
	struct file file;
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
		return fail(&x->file, "service level %u, expected 0 to %d", sl, MAX_SL);
	if (lid > UINT16_MAX)
		return fail(&x->file, "LID %u, expected 1 to %d", lid, LAST_LID);
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
	if (row[column] != UNSET && row[column] != sl && !is_of_port)
		return fail(
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

/* "0xNODEGUID LID SL", and what our plug-in for OpenSM writes of a port: the levels of
 * the LIDs behind it too, "-" where there is none. */
static int read_levels(struct sls_reading *x)
{
	struct fab_span rest = x->file.line;
	uint64_t guid;
	uint32_t lid, sl, node, n = 0;
	bool is_list;

	if (!take_hex(&rest, &guid) || !take_dec(&rest, &lid))
		return bad_line(&x->file, EXPECTED_SL);
	fab_skip_blanks(&rest);
	if (find_node(&x->file, guid, &node))
		return -EINVAL;
	is_list = memchr(rest.p, ' ', fab_span_len(&rest)) != NULL;
	for (; rest.p != rest.end; lid++, n++) {
		int rc = 0;

		if (!is_list || !fab_take_char(&rest, '-'))
			rc = take_dec(&rest, &sl) ? keep_level(x, node, lid, sl, is_list)
						  : bad_line(&x->file, EXPECTED_SL);
		if (rc)
			return rc;
		fab_skip_blanks(&rest);
	}
	return n ? 0 : bad_line(&x->file, EXPECTED_SL);
}

/* The node that sends from a LID, FAB_NONE: none. */
static uint32_t sender_of(struct sls_reading *x, uint32_t lid)
{
	const struct fab_routes *r = x->r;

	if (!x->sender) {
		x->sender = FAB_NEW(UINT16_MAX + 1, uint32_t);
		memset(x->sender, 0xff, (UINT16_MAX + 1) * sizeof(*x->sender));
		for (uint32_t c = 0; c < r->n_columns; c++)
			x->sender[r->column_lid[c]] =
				r->f->port_node[r->column_port[c]];
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
		return fail(&x->file,
			    "the PathRecord of line %llu ends without slid, dlid and sl",
			    (unsigned long long)record.line);
	if (!record.slid || !record.dlid)
		return fail(
			&x->file,
			"the PathRecord of line %llu has LID 0: the answer to saquery was cut off",
			(unsigned long long)record.line);
	if (record.slid > UINT16_MAX)
		return fail(&x->file, "LID %u, expected 1 to %d", record.slid, LAST_LID);
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
		return bad_line(&x->file, "a field of a PathRecord, as \"slid....2\"");
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
	if (FAB_BEGINS(&value, "0x") && take_hex(&value, &hex) && hex <= UINT16_MAX)
		number = (uint32_t)hex;
	else if (!take_dec(&value, &number))
		return bad_line(&x->file, "a number");
	*to = number;
	return value.p == value.end ? 0 : bad_line(&x->file, "a number");
}

static int read_sl_line(struct sls_reading *x)
{
	int rc;

	if (!FAB_BEGINS(&x->file.line, "PathRecord dump:"))
		return x->record.line ? read_record_line(x) : read_levels(x);
	rc = end_record(x);
	x->record = (struct path_record){x->file.lines.line, FAB_NONE, FAB_NONE, FAB_NONE};
	return rc;
}

/*
 * The node whose row a switch takes as its own: itself, or the first adapter on it that
 * has one; FAB_NONE: none has.
 */
static uint32_t *models(const struct sls_reading *x)
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

/* Does an adapter need a row of its own: does it differ from a switch it is cabled to? */
static bool differs(const struct sls_reading *x, const uint32_t *model, uint32_t node)
{
	const struct fab_fabric *f = x->r->f;
	const uint8_t *own = x->row[node];

	for (uint32_t p = f->node_first_port[node]; p < f->node_first_port[node + 1];
	     p++) {
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
	x.column = FAB_NEW(UINT16_MAX + 1, uint32_t);
	x.row = FAB_NEW0((size_t)r->f->n_nodes + 1, uint8_t *);
	memset(x.column, 0xff, (UINT16_MAX + 1) * sizeof(*x.column));
	for (uint32_t c = 0; c < r->n_columns; c++)
		x.column[r->column_lid[c]] = c;
	file_init(&x.file, r->f, file, text, len, err);
	while ((rc = next_line(&x.file)) > 0) {
		rc = read_sl_line(&x);
		if (rc)
			break;
	}
	if (!rc)
		rc = end_record(&x);
	for (uint32_t i = 0; !rc && x.n_split && i < r->f->n_nodes; i++)
		for (uint32_t c = 0; x.row[i] && c < r->n_columns; c++)
			if (x.row[i][c] == SPLIT)
				x.row[i][c] = UNSET;
	if (!rc) {
		const struct fab_fabric *f = r->f;
		uint32_t *model = models(&x), n = 0;
		bool *is_kept = FAB_NEW0((size_t)f->n_nodes + 1, bool);

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
		free(is_kept);
		free(model);
		r->lanes = FAB_LANES_SL;
		r->sl_default = UNSET;
		r->files->has_sls = true;
		r->n_sls = r->n_vls = (uint8_t)(x.most + 1);
		if (x.n_unknown)
			add_note(r, "%llu service levels are of unknown nodes or LIDs",
				 (unsigned long long)x.n_unknown);
		if (x.n_split)
			add_note(
				r,
				"%llu service levels differ between ports of one adapter: these are not known",
				(unsigned long long)x.n_split);
	}
	file_fini(&x.file);
	for (uint32_t i = 0; i < r->f->n_nodes; i++)
		free(x.row[i]);
	free(x.row);
	free(x.sender);
	free(x.column);
	return rc;
}

/* Lanes of service levels, out of a file. */

enum { SLS = 16, DROP = 15 };

struct lanes_reading {
	struct fab_routes *r;
	struct file file;
	uint16_t *arc; /* [n_ports] */
	/* [entries / SLS] port of the line of an entry, and one more; 0: none yet */
	uint16_t *line_of;
	uint64_t n_unknown;
	bool is_dump; /* it is OpenSM's, whose lines stand under their node: dumped */
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
		return f->arc_first[sw + 1] - f->arc_first[sw];
	return x->arc[port];
}

static int keep(struct lanes_reading *x, uint32_t sw, const struct line *line)
{
	const struct fab_fabric *f = x->r->f;
	uint32_t d = f->arc_first[sw + 1] - f->arc_first[sw];
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
		return fail(
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
	bool is_good = take_hex(&rest, &line->guid) && take_dec(&rest, &line->in) &&
		       take_dec(&rest, &line->out);

	for (int sl = 0; sl < SLS && is_good; sl += 2) {
		uint64_t two = 0;

		is_good = take_hex(&rest, &two) && two <= 0xff;
		line->vl[sl] = (uint8_t)(two >> 4);
		line->vl[sl + 1] = two & 15;
	}
	return is_good && rest.p == rest.end;
}

/* "3   8   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7", under its node */
static bool take_dumped_lanes(struct fab_span rest, struct line *line)
{
	bool is_good = take_dec(&rest, &line->in) && take_dec(&rest, &line->out);

	fab_skip_blanks(&rest);
	is_good = is_good && fab_take_char(&rest, ':');
	for (int sl = 0; sl < SLS && is_good; sl++) {
		uint32_t vl = 0;

		is_good = take_dec(&rest, &vl) && vl < SLS;
		line->vl[sl] = (uint8_t)vl;
	}
	return is_good && rest.p == rest.end;
}

/* "Switch 0x0002c90200000001, base LID 2, "NAME"" of opensm-sl2vl.dump. */
static bool take_lanes_head(struct fab_span rest, uint64_t *guid)
{
	return (FAB_TAKE(&rest, "Switch 0x") || FAB_TAKE(&rest, "Channel Adapter 0x") ||
		FAB_TAKE(&rest, "Router 0x")) &&
	       fab_take_hex(&rest, guid) && FAB_BEGINS(&rest, ", base LID ");
}

static int read_lane_line(struct lanes_reading *x)
{
	const struct fab_fabric *f = x->r->f;
	struct line line = {.guid = x->dumped};
	uint32_t node;

	if (take_lanes_head(x->file.line, &line.guid)) {
		x->dumped = line.guid;
		x->is_dump = true;
		return 0;
	}
	if (x->is_dump ? !take_dumped_lanes(x->file.line, &line)
		       : !take_lanes(x->file.line, &line))
		return bad_line(
			&x->file,
			x->is_dump
				? "\"IN OUT :\" and 16 lanes, as in opensm-sl2vl.dump"
				: "\"0xNODEGUID IN OUT\" and 8 times \"0xAB\", or opensm-sl2vl.dump");
	if (find_node(&x->file, line.guid, &node))
		return -EINVAL;
	if (node == FAB_NONE) {
		x->n_unknown++;
		return 0;
	}
	for (int i = 0; i < 2; i++) {
		uint32_t num = i ? line.out : line.in;

		if (!has_port(f, node, num))
			return fail(&x->file,
				    "port %u of \"%.60s\" does not exist (%u ports)", num,
				    fab_node_name(f, node), f->node_n_ports[node]);
	}
	return fab_node_is_switch(f, node) ? keep(x, node, &line) : 0;
}

int fab_routes_add_sl2vl(struct fab_routes *r, const char *file, const char *text,
			 size_t len, struct fab_err *err)
{
	struct lanes_reading x = {.r = r};
	int rc;
	struct fab_table_files *files;
	const struct fab_fabric *f = r->f;

	if (r->sl2vl)
		return fab_fail(err, EINVAL, "%s: the tables have lanes already", file);
	files = r->files;
	r->vl_first = FAB_NEW((size_t)f->n_switches + 1, uint64_t);
	r->vl_first[0] = 0;
	files->lane_first = FAB_NEW0((size_t)f->n_switches + 1, uint64_t);
	for (uint32_t s = 0; s < f->n_switches; s++) {
		uint64_t d = f->arc_first[s + 1] - f->arc_first[s] + 1;
		uint64_t n_ports = f->node_first_port[s + 1] - f->node_first_port[s];

		r->vl_first[s + 1] = r->vl_first[s] + d * d * SLS;
		files->lane_first[s + 1] = files->lane_first[s] + d * n_ports;
	}
	r->sl2vl = FAB_NEW((size_t)r->vl_first[f->n_switches] + 1, uint8_t);
	memset(r->sl2vl, FAB_VL_UNKNOWN, (size_t)r->vl_first[f->n_switches] + 1);
	files->has_lane = FAB_NEW0((size_t)files->lane_first[f->n_switches] + 1, bool);
	x.line_of = FAB_NEW0((size_t)(r->vl_first[f->n_switches] / SLS) + 1, uint16_t);
	x.arc = arcs_of_ports(f);
	file_init(&x.file, r->f, file, text, len, err);
	while ((rc = next_line(&x.file)) > 0) {
		rc = read_lane_line(&x);
		if (rc)
			break;
	}
	if (!rc) {
		unsigned most = 0;

		for (uint64_t i = 0; i < r->vl_first[r->f->n_switches]; i++)
			if (r->sl2vl[i] > most && r->sl2vl[i] < DROP)
				most = r->sl2vl[i];
		r->lanes = FAB_LANES_TABLE;
		r->files->has_lanes = true;
		r->n_vls = (uint8_t)(most + 1);
		if (x.n_unknown)
			add_note(r, "%llu lines of lanes are of unknown nodes",
				 (unsigned long long)x.n_unknown);
	}
	file_fini(&x.file);
	free(x.line_of);
	free(x.arc);
	return rc;
}
