/* SPDX-License-Identifier: BSD-2-Clause */
/* Readers of unicast tables; lfts.h has the formats. */
#include "unicast/lfts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "source/unpack.h"
#include "unicast/table_file.h"

enum {
	N_LIDS = FAB_LAST_LID + 1,
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
	struct fab_arena arena;
	struct fab_table_file file;
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
	r->form = FAB_ARENA_NEW0(&r->arena, (size_t)f->n_switches + 1, uint8_t);
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
		return fab_table_file_expected(&r->file, EXPECTED);
	if (r->block == LFTS)
		return fab_table_file_fail(
			&r->file,
			"expected the line \"N lids dumped\" of the table that begins in line %llu first",
			(unsigned long long)r->header_line);
	rc = fab_table_file_node(&r->file, guid, &node);
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
		r->out[lid] = FAB_ARENA_NEW(&r->arena, r->f->n_switches, uint16_t);
		memset(r->out[lid], 0xff, r->f->n_switches * sizeof(uint16_t));
	}
	if (r->out[lid][r->sw] != UINT16_MAX)
		return fab_table_file_fail(
			&r->file, "LID %u a second time for switch 0x%016llx", lid,
			(unsigned long long)r->f->node_guid[r->sw]);
	if (num != NO_PORT && !fab_table_has_port(r->f, r->sw, num))
		return fab_table_file_fail(
			&r->file, "port %u of \"%.60s\" does not exist (%u ports)", num,
			fab_node_name(r->f, r->sw), r->f->node_n_ports[r->sw]);
	if (guid && r->guid[lid] && guid != r->guid[lid])
		return fab_table_file_fail(
			&r->file,
			"LID %u is of port 0x%016llx, expected 0x%016llx as before", lid,
			(unsigned long long)guid, (unsigned long long)r->guid[lid]);
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

	if (!fab_table_take_hex(&rest, &lid))
		return fab_table_file_expected(&r->file, EXPECTED);
	if (r->block == NOWHERE)
		return fab_table_file_fail(
			&r->file, "an entry before any line that names a switch");
	if (!lid || lid > FAB_LAST_LID)
		return fab_table_file_fail(
			&r->file, "0x%llx is no unicast LID, expected 0x0001 to 0x%x",
			(unsigned long long)lid, FAB_LAST_LID);
	fab_skip_blanks(&rest);
	if (r->block == FDBS) {
		if (!fab_take_char(&rest, ':'))
			return fab_table_file_expected(&r->file, EXPECTED);
		fab_skip_blanks(&rest);
		if (!FAB_BEGINS(&rest, "UNREACHABLE") && !fab_table_take_dec(&rest, &num))
			return fab_table_file_expected(&r->file, EXPECTED);
	} else {
		if (!fab_table_take_dec(&rest, &num))
			return fab_table_file_expected(&r->file, EXPECTED);
		/* "... Channel Adapter portguid 0x0002c90300080d59: 'NAME'": names are
		 * anything and are not looked at. */
		quote = memchr(rest.p, '\'', fab_span_len(&rest));
		rest.end = quote ? quote : rest.end;
		if (!find(&rest, "portguid 0x") || !fab_take_hex(&rest, &guid))
			guid = 0;
	}
	return add_entry(r, (uint32_t)lid, num, guid);
}

static int read_table_line(void *context)
{
	struct tables_reading *r = context;
	struct fab_span rest = r->file.line;
	uint32_t n;

	if (FAB_BEGINS(&rest, "0x"))
		return read_entry(r);
	if (FAB_TAKE(&rest, "Unicast lids")) {
		if (!find(&rest, " guid 0x"))
			return fab_table_file_expected(&r->file, EXPECTED);
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
	if (r->block != LFTS || !fab_table_take_dec(&rest, &n))
		return fab_table_file_expected(&r->file, EXPECTED);
	fab_skip_blanks(&rest);
	if (FAB_TAKE(&rest, "valid"))
		fab_skip_blanks(&rest);
	if (!FAB_BEGINS(&rest, "lids dumped"))
		return fab_table_file_expected(&r->file, EXPECTED);
	if (r->n_entries > n)
		return fab_table_file_fail(
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
	FAB_AUTOFREE uint16_t *arc = fab_table_arcs(f);

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

	fab_table_file_init(&r->file, f, file, text, len, err);
	rc = fab_table_file_read(&r->file, read_table_line, r);
	if (!rc && r->block == LFTS)
		rc = fab_table_file_fail(
			&r->file,
			"the input ends before the line \"N lids dumped\" of the table that begins in line %llu",
			(unsigned long long)r->header_line);
	else if (!rc && !r->n_tables)
		rc = fab_table_file_fail(&r->file,
					 "no forwarding table, expected " EXPECTED);
	else if (!rc && r->strange.n == r->n_tables)
		rc = fab_table_file_fail(
			&r->file,
			"none of the %llu tables is of a switch of the fabric: the first is of 0x%016llx",
			(unsigned long long)r->n_tables,
			(unsigned long long)r->strange.v[0]);
	if (!rc)
		*out = to_routes(r, faults);
	fab_table_file_fini(&r->file);
	fab_map64_free(r->ports);
	fab_arena_free(&r->arena);
	free(r->strange.v);
	return rc;
}

typedef int (*add_fn)(struct fab_routes *r, const char *file, const char *text,
		      size_t len, struct fab_err *err);

static int add(struct fab_routes *r, const char *path, add_fn fn, struct fab_err *err)
{
	FAB_AUTO(fab_input_fini) struct fab_input in = {0};
	int rc = path ? fab_input_read_tables(path, &in, err) : 0;

	return rc || !path ? rc : fn(r, path, in.bytes, in.n, err);
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
