/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast tables in the format of opensm.mcfdbs, and groups out of them. */
#include "base/map.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/order.h"
#include "fabric/fabric.h"
#include "mcast/groups/collect.h"
#include "mcast/tables.h"
#include "source/scan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_SHOWN = 60, MAX_PORT_DIGITS = 4 };

#define EXPECTED                                                                         \
	"expected \"Switch 0x...\", \"LID : Out Port(s)\" or \"0xC000 : 0x001 ...\""

struct reading {
	const struct fab_fabric *f;
	struct fab_line_place place;
	struct fab_map64 *switches; /* by node GUID */
	uint32_t sw;		    /* FAB_NONE: none yet, or one that is left out */
	bool has_switch;
	bool ignore_unknown;
	uint64_t n_unknown;
	FAB_VEC(uint64_t) entries; /* MLID, switch, port number from the top bits down */
};

static int bad_line(const struct reading *r, const struct fab_span *line)
{
	size_t len = fab_span_len(line);

	return fab_line_fail(&r->place, EXPECTED ", found \"%.*s\"",
			     (int)(len < MAX_SHOWN ? len : MAX_SHOWN), line->p);
}

bool fab_is_mcfdbs(const char *text, size_t len)
{
	struct fab_lines lines = {.at = text, .end = text + len};
	struct fab_span line;

	while (fab_lines_next(&lines, &line))
		if (line.p < line.end && *line.p != '#')
			return FAB_BEGINS(&line, "Switch 0x");
	return false;
}

static int read_switch(struct reading *r, struct fab_span line)
{
	struct fab_span rest = line;
	uint64_t guid;

	if (!FAB_TAKE(&rest, "Switch 0x") || !fab_take_hex(&rest, &guid) ||
	    rest.p != rest.end)
		return bad_line(r, &line);
	r->has_switch = true;
	r->sw = fab_map64_get(r->switches, guid);
	if (r->sw == FAB_SHARED)
		return fab_line_fail(
			&r->place,
			"the fabric has two switches 0x%016llx: the table is ambiguous",
			(unsigned long long)guid);
	if (r->sw != FAB_NONE)
		return 0;
	r->n_unknown++;
	if (r->ignore_unknown)
		return 0;
	return fab_line_fail(&r->place, "switch 0x%016llx is not in the fabric",
			     (unsigned long long)guid);
}

/* "0xC000 : 0x001  0x00F": a line without any port is allowed. */
static int read_ports(struct reading *r, struct fab_span line)
{
	struct fab_span rest = line;
	uint64_t mlid, num;
	int rc = 0;

	if (!FAB_TAKE(&rest, "0x") || !fab_take_hex(&rest, &mlid))
		return bad_line(r, &line);
	fab_skip_blanks(&rest);
	if (!fab_take_char(&rest, ':'))
		return bad_line(r, &line);
	if (mlid < FAB_MLID_FIRST || mlid > FAB_MLID_LAST)
		return fab_line_fail(
			&r->place,
			"0x%llx is no multicast LID, expected 0xc000 to 0xfffe",
			(unsigned long long)mlid);
	if (!r->has_switch)
		return fab_line_fail(&r->place, "ports before any line \"Switch 0x...\"");
	for (fab_skip_blanks(&rest); !rc && rest.p < rest.end; fab_skip_blanks(&rest)) {
		const char *digits = rest.p + 2;

		if (!FAB_TAKE(&rest, "0x") || !fab_take_hex(&rest, &num) ||
		    rest.p - digits > MAX_PORT_DIGITS ||
		    (rest.p < rest.end && !fab_is_blank(*rest.p)))
			return bad_line(r, &line);
		if (r->sw == FAB_NONE)
			continue;
		if (num > r->f->node_n_ports[r->sw] &&
		    fab_port_find(r->f, r->sw, (unsigned)num) == FAB_NONE)
			rc = fab_line_fail(
				&r->place,
				"port 0x%03llx of \"%.60s\" does not exist (%u ports)",
				(unsigned long long)num, fab_node_name(r->f, r->sw),
				r->f->node_n_ports[r->sw]);
		else
			FAB_PUSH(&r->entries, mlid << 48 | (uint64_t)r->sw << 16 | num);
	}
	return rc;
}

/* Sorted entries, each once, as rows. */
static struct fab_mft *to_rows(const struct reading *r)
{
	const uint64_t *v = r->entries.v;
	size_t n = r->entries.n, at = 0;
	struct fab_mft *mft = FAB_NEW0(1, struct fab_mft);

	FAB_SORT(&r->entries, fab_cmp_u64);
	mft->mlid = FAB_NEW(n, uint16_t);
	mft->first = FAB_NEW(n + 1, uint64_t);
	mft->sw = FAB_NEW(n, uint32_t);
	mft->num = FAB_NEW(n, uint16_t);
	mft->port = FAB_NEW(n, uint32_t);
	for (size_t i = 0; i < n; i++) {
		uint16_t mlid = (uint16_t)(v[i] >> 48);

		if (i && v[i] == v[i - 1])
			continue;
		if (!mft->n || mft->mlid[mft->n - 1] != mlid) {
			mft->first[mft->n] = at;
			mft->mlid[mft->n++] = mlid;
		}
		mft->sw[at] = (uint32_t)(v[i] >> 16);
		mft->num[at] = (uint16_t)v[i];
		mft->port[at] = fab_port_find(r->f, mft->sw[at], mft->num[at]);
		at++;
	}
	mft->first[mft->n] = at;
	mft->n_unknown_switches = r->n_unknown;
	return mft;
}

int fab_mcfdbs_read(const struct fab_fabric *f, const char *file, const char *text,
		    size_t len, bool ignore_unknown, struct fab_mft **out,
		    struct fab_err *err)
{
	struct reading r = {.f = f,
			    .place = {file, 0, err},
			    .switches = fab_guids_new(f, f->n_switches),
			    .sw = FAB_NONE,
			    .ignore_unknown = ignore_unknown};
	struct fab_lines lines = {.at = text, .end = text + len};
	struct fab_span line;
	int rc = 0;

	while (!rc && fab_lines_next(&lines, &line)) {
		r.place.line = lines.line;
		if (line.p == line.end || *line.p == '#')
			continue;
		if (lines.is_open)
			rc = fab_line_fail(&r.place, "the input ends within the line");
		else if (FAB_BEGINS(&line, "Switch"))
			rc = read_switch(&r, line);
		else if (!FAB_BEGINS(&line, "LID"))
			rc = read_ports(&r, line);
	}
	if (!rc && !r.has_switch)
		rc = fab_fail(err, EINVAL, "%s: no multicast table, " EXPECTED, file);
	if (!rc)
		*out = to_rows(&r);
	fab_map64_free(r.switches);
	free(r.entries.v);
	return rc;
}

void fab_mft_free(struct fab_mft *mft)
{
	if (!mft)
		return;
	FAB_FREE_ALL(mft->mlid, mft->first, mft->sw, mft->num, mft->port, mft);
}

uint32_t fab_mft_find(const struct fab_mft *mft, uint16_t mlid)
{
	uint32_t low = 0, high = mft->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (mft->mlid[middle] < mlid)
			low = middle + 1;
		else
			high = middle;
	}
	return low < mft->n && mft->mlid[low] == mlid ? low : FAB_NONE;
}

void fab_groups_add_mft(struct fab_groups_builder *b, const struct fab_mft *mft)
{
	const struct fab_fabric *f = b->f;
	/* MLIDs that groups of the builder are named by */
	FAB_AUTOFREE bool *is_named = FAB_NEW0(FAB_MLID_LAST - FAB_MLID_FIRST + 1, bool);

	for (size_t i = 0; i < b->name_at.n; i++) {
		const char *name = b->names.v + b->name_at.v[i];
		uint16_t mlid = fab_mlid_parse(name, strlen(name));

		if (mlid)
			is_named[mlid - FAB_MLID_FIRST] = true;
	}
	for (uint32_t row = 0; row < mft->n; row++) {
		bool has_begun = is_named[mft->mlid[row] - FAB_MLID_FIRST];
		uint64_t end = has_begun ? 0 : mft->first[row + 1];
		char name[FAB_MLID_TEXT];

		for (uint64_t e = mft->first[row]; e < end; e++) {
			uint32_t member = mft->port[e];

			/* The receiver behind it; none: another switch, or no cable. */
			if (member != FAB_NONE && f->port_num[member])
				member = fab_port_peer(f, member);
			if (member == FAB_NONE ||
			    (fab_node_is_switch(f, f->port_node[member]) &&
			     f->port_num[member]))
				continue;
			if (!has_begun) {
				fab_mlid_text(mft->mlid[row], name);
				fab_groups_builder_begin(b, name, strlen(name));
			}
			has_begun = true;
			fab_groups_builder_add(b, member);
		}
	}
}

uint16_t fab_mlid_parse(const char *text, size_t len)
{
	uint64_t value;

	if (len != 6 || text[0] != '0' || (text[1] != 'x' && text[1] != 'X') ||
	    !fab_parse_hex(text + 2, len - 2, &value) || value < FAB_MLID_FIRST ||
	    value > FAB_MLID_LAST)
		return 0;
	return (uint16_t)value;
}

char *fab_mlid_text(uint16_t mlid, char *out)
{
	snprintf(out, FAB_MLID_TEXT, "0x%04x", mlid);
	return out;
}

int fab_groups_mlids(const struct fab_groups *groups, uint16_t *mlid, struct fab_err *err)
{
	uint32_t n = FAB_MLID_LAST - FAB_MLID_FIRST + 1;
	FAB_AUTOFREE uint8_t *is_taken = FAB_NEW0(n, uint8_t);
	int rc = 0;

	for (uint32_t i = 0; i < groups->n && !rc; i++) {
		const char *name = fab_group_name(groups, i);

		mlid[i] = fab_mlid_parse(name, strlen(name));
		if (!mlid[i])
			rc = fab_fail(
				err, EINVAL,
				"group \"%.80s\": with tables a group is named by its multicast LID, expected 0xc000 to 0xfffe",
				name);
		else if (is_taken[mlid[i] - FAB_MLID_FIRST]++)
			rc = fab_fail(err, EINVAL, "group \"%.80s\" is there twice",
				      name);
	}
	return rc;
}

int fab_groups_give_mlids(const struct fab_groups *groups, uint16_t *mlid,
			  struct fab_err *err)
{
	if (groups->n > FAB_MLID_LAST - FAB_MLID_FIRST + 1)
		return fab_fail(err, ERANGE,
				"%u groups are more than there are multicast LIDs (%u)",
				groups->n, FAB_MLID_LAST - FAB_MLID_FIRST + 1);
	if (fab_groups_mlids(groups, mlid, NULL))
		for (uint32_t i = 0; i < groups->n; i++)
			mlid[i] = (uint16_t)(FAB_MLID_FIRST + i);
	return 0;
}

uint32_t fab_mft_users(const struct fab_fabric *f, const struct fab_mft *mft,
		       uint32_t cable, bool *uses)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < mft->n; i++) {
		uses[i] = false;
		for (uint64_t k = mft->first[i]; k < mft->first[i + 1]; k++)
			uses[i] |= mft->port[k] == f->cable_a[cable] ||
				   mft->port[k] == f->cable_b[cable];
		n += uses[i];
	}
	return n;
}
