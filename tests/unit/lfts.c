/* SPDX-License-Identifier: BSD-2-Clause */
/* Unicast tables read from files: what is written is read back, what is wrong is
 * reported. */
#include "unicast/lfts.h"

#include "export/tables.h"
#include "support/process.h"
#include "support/test.h"
#include "support/unicast_check.h"

#include <unistd.h>

typedef int (*write_fn)(FILE *out, const struct fab_routes *r, struct fab_err *err);

static char *written(write_fn write, const struct fab_routes *r)
{
	return TEXT_BY(out, MUST(write(out, r, ERR)));
}

static struct fab_routes *read_tables(const struct fab_fabric *f,
				      const struct fab_faults *faults, const char *text)
{
	struct fab_routes *r = NULL;

	MUST(fab_routes_from_lfts(f, faults, "t", text, strlen(text), &r, ERR));
	return r;
}

static void add_sls(struct fab_routes *r, const char *text)
{
	MUST(fab_routes_add_path_sl(r, "t", text, strlen(text), ERR));
}

static void add_lanes(struct fab_routes *r, const char *text)
{
	MUST(fab_routes_add_sl2vl(r, "t", text, strlen(text), ERR));
}

/* Writing it gives the text. */
static void expect_writes(write_fn write, const struct fab_routes *r, const char *want)
{
	OWN_HEAP char *got = written(write, r);

	cr_expect(!strcmp(got, want), "got:\n%.600s\nwant:\n%.600s", got, want);
}

static void check_round(const struct fab_routes *r)
{
	OWN_HEAP char *lfts = written(fab_export_lfts, r),
		      *fdbs = written(fab_export_fdbs, r);
	OWN_HEAP char *sls = written(fab_export_path_sl, r),
		      *lanes = written(fab_export_sl2vl, r);
	OWN(fab_routes) *a = read_tables(r->f, r->faults, lfts);
	OWN(fab_routes) *b = read_tables(r->f, r->faults, fdbs);
	OWN(fab_analysis) x, y;

	expect_writes(fab_export_lfts, a, lfts);
	expect_writes(fab_export_fdbs, a, fdbs);
	expect_writes(fab_export_lfts, b, lfts);
	add_sls(a, sls);
	expect_writes(fab_export_path_sl, a, sls);
	add_lanes(a, lanes);
	if (r->lanes != FAB_LANES_SL) /* adapters' own lines */
		expect_writes(fab_export_sl2vl, a, lanes);
	x = test_analysis(r, FAB_ENDS_HOSTS);
	y = test_analysis(a, FAB_ENDS_HOSTS);
	cr_expect_gt(x.connected, 0);
	test_same_analysis(&x, &y);
	cr_expect_eq(x.max_load, y.max_load);
	cr_expect_null(a->note, "%s", a->note);
}

static void check_engine(const char *spec, const char *engine, unsigned n_dead)
{
	OWN(kfat_net) n = kfat_net(spec, NULL);
	OWN(fab_routes) *r = NULL;
	struct fab_stream rng = fab_stream_of(7, 0);

	test_draw_faults(n.faults, FAB_FAULT_ANY, n_dead, &rng);
	r = test_tables(n.f, n.faults, engine, 4);
	check_round(r);
	/* Lanes that differ in switch, port in, port out, level. */
	test_lane_tables(r);
	for (uint64_t i = 0; i < r->vl_first[n.f->n_switches]; i++)
		r->sl2vl[i] = (uint8_t)(fab_mix64(i) % 15);
	check_round(r);
}

Test(lfts, what_is_written_is_read_back)
{
	check_engine("kfat:dims=3x3,hosts=2", "xy", 0);
	check_engine("kfat:dims=4x4,hosts=2", "minhop", 2);
	check_engine("kfat:dims=4x4,hosts=1", "vtftr-ib", 5);
	check_engine("kfat:dims=3x3x3,hosts=1", "vtftr-ib", 3);
}

/* Two switches A (1) and B (2), port 1 to port 1, A:4 to A:5; hosts 16 on A:2 (two LIDs
 * 8, 9), 17 on B:2 and A:3. */
static const char *const small =
	"Switch\t6 \"S-0000000000000001\"\t\t# \"A\" enhanced port 0 lid 1 lmc 0\n"
	"[1]\t\"S-0000000000000002\"[1]\t\t# \"B\" lid 2 4xHDR\n"
	"[2]\t\"H-0000000000000010\"[1](11) \t\t# \"h1 HCA-1\" lid 8 4xHDR\n"
	"[3]\t\"H-0000000000000020\"[2](22) \t\t# \"h2 HCA-1\" lid 6 4xHDR\n"
	"[4]\t\"S-0000000000000001\"[5]\t\t# \"A\" lid 1 4xHDR\n"
	"[5]\t\"S-0000000000000001\"[4]\t\t# \"A\" lid 1 4xHDR\n"
	"Switch\t6 \"S-0000000000000002\"\t\t# \"B\" enhanced port 0 lid 2 lmc 0\n"
	"[1]\t\"S-0000000000000001\"[1]\t\t# \"A\" lid 1 4xHDR\n"
	"[2]\t\"H-0000000000000020\"[1](21) \t\t# \"h2 HCA-1\" lid 5 4xHDR\n"
	"Ca\t1 \"H-0000000000000010\"\t\t# \"h1 HCA-1\"\n"
	"[1](11) \t\"S-0000000000000001\"[2]\t\t# lid 8 lmc 1 \"A\" lid 1 4xHDR\n"
	"Ca\t2 \"H-0000000000000020\"\t\t# \"h2 HCA-1\"\n"
	"[1](21) \t\"S-0000000000000002\"[2]\t\t# lid 5 lmc 0 \"B\" lid 2 4xHDR\n"
	"[2](22) \t\"S-0000000000000001\"[3]\t\t# lid 6 lmc 0 \"A\" lid 1 4xHDR\n";

#define HEAD "Unicast lids [0-9] of switch Lid 1 guid 0x1 ('A'):\n"
#define FDB "dump_ucast_routes: Switch 0x1\n"

/* Column of a LID. */
static uint32_t column(const struct fab_routes *r, unsigned lid)
{
	for (uint32_t c = 0; c < r->n_columns; c++)
		if (r->column_lid[c] == lid)
			return c;
	cr_assert_fail("no LID %u", lid);
	return FAB_NONE;
}

static unsigned next_of(const struct fab_routes *r, unsigned lid, uint32_t sw)
{
	return r->next[(size_t)column(r, lid) * r->f->n_switches + sw];
}

Test(lfts, entries_say_what_switches_do)
{
	static const struct {
		unsigned lid, sw, next;
	} entries[] = {{1, 0, FAB_ARC_HERE},
		       {1, 1, FAB_ARC_BROKEN}, /* port 0 of another switch */
		       {2, 0, 0},
		       {5, 0, FAB_ARC_BROKEN}, /* the adapter's other port */
		       {5, 1, FAB_ARC_HERE},
		       {6, 0, FAB_ARC_HERE},
		       {6, 1, FAB_ARC_BROKEN}, /* no cable */
		       {7, 0, FAB_ARC_BROKEN}, /* a cable back to the switch */
		       {7, 1, 0},
		       {9, 0, FAB_ARC_NONE}};
	OWN(fab_fabric) *f = text_open(small);
	OWN(fab_routes) *r = read_tables(
		f, NULL,
		"Unicast lids [0x0-0x9] of switch Lid 1 guid 0x1 (A guid 0x7):\r\n"
		"0x0001 000 # Switch portguid 0x1: 'A'\r\n"
		"0x0002 001 # Switch portguid 0x2: 'B'\r\n"
		"0x0005 003 # Channel Adapter portguid 0x21: 'h2 portguid 0x11'\r\n"
		"0x0006 003 # Channel Adapter portguid 0x22: 'h2'\r\n"
		"0x0007 004 # Channel Adapter portguid 0x11: 'h1'\r\n"
		"0x0009 255\r\n"
		"9 lids dumped\r\n"
		"# dump_fts\n"
		"Unicast lids [0x0-0x9] of switch DR path slid 0; dlid 0; 0 guid 0x2 (B):\n"
		"  Lid  Out   Destination\n       Port     Info \n"
		"0x0001 000 : (Switch portguid 0x1: 'A')\n"
		"0x0002 000 : (Switch portguid 0x2: 'B')\n"
		"0x0005 002 : (Channel Adapter portguid 0x21: 'h2')\n"
		"0x0006 006 : (Channel Adapter portguid 0x22: 'h2')\n"
		"0x0007 001\n"
		"5 valid lids dumped \n");

	cr_expect_eq(r->n_columns, 6);
	for (size_t i = 0; i < FAB_COUNT(entries); i++)
		cr_expect_eq(next_of(r, entries[i].lid, entries[i].sw), entries[i].next,
			     "%zu", i);
	cr_expect_eq(f->port_guid[r->column_port[column(r, 7)]], 0x11);
	cr_expect_eq(f->port_guid[r->column_port[column(r, 5)]], 0x21);
	cr_expect_eq(r->column_switch[column(r, 5)], 1);
	cr_expect_eq(f->port_guid[r->column_port[column(r, 9)]], 0x11, "LMC");
	cr_expect_null(r->note);
}

Test(lfts, fdbs_and_dead_cables)
{
	OWN(fab_fabric) *f = text_open(small);
	OWN(fab_faults) *faults = fab_faults_new(f);
	static const char text[] =
		"\ndump_ucast_routes: Switch 0x0000000000000002\n"
		"LID    : Port : Hops : Optimal\n"
		"0x0001 : 001  : 01   : yes\n"
		"0x0006 : UNREACHABLE\n"
		"0x0008 : 001  : 02   : No 1 hop path possible via port 3!\n";
	OWN(fab_routes) *r = read_tables(f, faults, text), *broken = NULL, *last = NULL;
	OWN_HEAP char *lfts = written(fab_export_lfts, r);

	cr_expect_eq(r->n_columns, 3);
	HAS(lfts, "\n0x0008 001");
	LACKS(lfts, "\n0x0002 "); /* no column */
	cr_expect(next_of(r, 1, 1) == 0 && next_of(r, 6, 1) == FAB_ARC_NONE);
	cr_expect(next_of(r, 8, 1) == 0 && next_of(r, 8, 0) == FAB_ARC_NONE);
	fab_faults_kill_cable(faults, f->arc_cable[0]);
	broken = read_tables(f, faults, text);
	cr_expect_eq(next_of(broken, 8, 1), FAB_ARC_BROKEN);
	/* the last LID of a destination */
	f->port_lid[f->node_first_port[2]] = 0xbfff;
	last = read_tables(f, NULL, HEAD "0xbfff 002\n1 lids dumped\n");
	cr_expect_eq(next_of(last, 0xbfff, 0), FAB_ARC_HERE);
}

Test(lfts, what_is_left_out_is_told)
{
	OWN(fab_fabric) *f = text_open(small);
	OWN(fab_routes) *r = read_tables(
		f, NULL,
		HEAD "0x0005 001 # Channel Adapter portguid 0x99: 'elsewhere'\n"
		     "0x0077 001\n"
		     "0x0008 002\n"
		     "3 lids dumped\n");

	cr_expect_eq(r->n_columns, 1);
	cr_expect_null(r->note);
	cr_expect(r->files->strange_lids.n == 2 && r->files->strange_lids.v[0] == 5);
	cr_expect_eq(r->files->strange_lids.v[1], 0x77);
	add_sls(r, "0x10 8 3\n0x99 8 1\n0x10 5 1\n");
	add_lanes(r, "0x99 1 2 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00\n");
	cr_expect_str_eq(
		r->note,
		"2 service levels are of unknown nodes or LIDs; 1 lines of lanes are of unknown nodes");
}

/* What a reader refuses, and how its message begins. */
struct bad {
	const char *text, *want;
};

static const struct bad bad_tables[] = {
	{"", "t:0: no forwarding table, expected \"Unicast lids"},
	{"# nothing\n", "t:1: no forwarding table"},
	{"hello\n", "t:1: expected \"Unicast lids"},
	{"0x0001 001\n", "t:1: an entry before any line that names a switch"},
	{"Unicast lids [0-9] of switch Lid 1\n", "t:1: expected"},
	{"Unicast lids [0-9] of switch Lid 1 guid 0x ('A'):\n", "t:1: expected"},
	{"Unicast lids [0-9] of switch Lid 1 guid 0x7 ('A'):\n",
	 "t:1: the input ends before the line \"N lids dumped\""},
	{"Unicast lids [0-9] of switch Lid 1 guid 0x10 ('A'):\n0 lids dumped\n"
	 "dump_ucast_routes: Switch 0x7\n0x0005 : 077 : 01 : yes\n",
	 "t:4: none of the 2 tables is of a switch of the fabric: the first is of 0x0000000000000010"},
	{HEAD "0x0001 000\n", "t:2: the input ends before the line \"N lids dumped\""},
	{HEAD "0x0001 000\n1 lids dump", "t:3: the input ends within the line"},
	{HEAD "0x0001 000\n" HEAD "1 lids dumped\n",
	 "t:3: expected the line \"N lids dumped\" of the table that begins in line 1"},
	{HEAD "0x0001 000\n0x0002 001\n1 lids dumped\n",
	 "t:4: 1 lids dumped, but the table that begins in line 1 has 2"},
	{HEAD "0x0001 000\n0x0001 000\n",
	 "t:3: LID 1 a second time for switch 0x0000000000000001"},
	{HEAD "0 lids dumped\n1 lids dumped\n", "t:3: expected"},
	{HEAD "0x0000 001\n", "t:2: 0x0 is no unicast LID, expected 0x0001 to 0xbfff"},
	{HEAD "0xc000 001\n", "t:2: 0xc000 is no unicast LID"},
	{HEAD "0x10000000000000001 001\n", "t:2: expected"},
	{HEAD "0x0001\n", "t:2: expected"},
	{HEAD "0x0001 0x1\n", "t:2: expected"},
	{HEAD "0x0001 -1\n", "t:2: expected"},
	{HEAD "0x0001 1x\n", "t:2: expected"},
	{HEAD "0x0001 007\n", "t:2: port 7 of \"A\" does not exist (6 ports)"},
	{HEAD "0x0001 4294967297\n", "t:2: expected"},
	{HEAD "0x0005 1 # Channel Adapter portguid 0x21: 'a'\n1 lids dumped\n"
	      "Unicast lids [0-9] of switch Lid 2 guid 0x2 ('B'):\n"
	      "0x0005 1 # Channel Adapter portguid 0x22: 'a'\n",
	 "t:5: LID 5 is of port 0x0000000000000022, expected 0x0000000000000021"},
	{FDB "0x0001 000\n", "t:2: expected"},
	{FDB "0x0001 : reachable\n", "t:2: expected"},
	{FDB "0x0001 : 009 : 01 : yes\n", "t:2: port 9 of \"A\" does not exist"},
	{FDB "1 lids dumped\n", "t:2: expected"},
	{"dump_ucast_routes: Switch 0xg\n", "t:1: expected"},
};

#define RECORD(slid, dlid, sl)                                                           \
	"PathRecord dump:\n\t\tdlid...................." dlid                            \
	"\n\t\tslid...................." slid "\n\t\tsl......................" sl "\n"

static const struct bad bad_sls[] = {
	{"0x10 5\n",
	 "t:1: expected \"0xNODEGUID LID SL\" or \"PathRecord dump:\", found \"0x10 5\""},
	{"10 5 1\n", "t:1: expected"},
	{"0x10 5 1 1\n", "t:1: expected"},
	{"0x10 5 1", "t:1: the input ends within the line"},
	{"# c\n0x10 5 16\n", "t:2: service level 16, expected 0 to 15"},
	{"0x10 65536 1\n", "t:1: LID 65536"},
	{"0x10 5: 1 16\n", "t:1: service level 16"},
	{"0x10 5: 1 x\n", "t:1: expected"},
	{"0x10 65535: 1 1\n", "t:1: LID 65536"},
	{"0x10 5:\n", "t:1: expected"},
	{"PathRecord dump:\n\t\tdlid....5\n\t\tslid....8\n",
	 "t:3: the PathRecord of line 1 ends without slid, dlid and sl"},
	{RECORD("8", "5", "0x1") "PathRecord dump:\ndlid..5\nslid..0\nsl..0x0\n",
	 "t:8: the PathRecord of line 5 has LID 0: the answer to saquery was cut off"},
	{RECORD("8", "5", "0x10"), "t:4: service level 16, expected 0 to 15"},
	{RECORD("8", "x", "0x1"), "t:2: expected a number"},
	{RECORD("8", "5", "0x1") "\t\tmtu 3\n", "t:5: expected a field of a PathRecord"},
	{RECORD("70000", "5", "0x1"), "t:4: LID 70000"},
	{"0x10 5 1\n0x10 5 1\n0x10 5 2\n",
	 "t:3: service level 2 from 0x0000000000000010 to LID 5, but 1 in a line before"},
};

#define ZEROS " 0x00 0x00 0x00 0x00 0x00 0x00 0x00"

#define DUMP                                                                             \
	"Switch 0x0000000000000001, base LID 1, \"A\"\n"                                 \
	"#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15\n"                    \
	"#--------------------------------------------------------\n"

static const struct bad bad_lanes[] = {
	{"0x1 1 2 0x00\n", "t:1: expected \"0xNODEGUID IN OUT\" and 8 times \"0xAB\""},
	{"0x1 1 2 0x00 0x00" ZEROS "\n", "t:1: expected"},
	{"0x1 1 2 0x100" ZEROS "\n", "t:1: expected"},
	{"0x1 1 2 0x00" ZEROS, "t:1: the input ends within the line"},
	{"0x1 1 7 0x00" ZEROS "\n", "t:1: port 7 of \"A\" does not exist (6 ports)"},
	{"0x10 0 2 0x00" ZEROS "\n", "t:1: port 2 of \"h1 HCA-1\" does not exist (1"},
	{DUMP "1   2   : 0  1\n",
	 "t:4: expected \"IN OUT :\" and 16 lanes, as in opensm-sl2vl.dump"},
	{DUMP "1   2   : 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 16\n", "t:4: expected"},
	{DUMP "1   2   : 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7 8\n", "t:4: expected"},
	{DUMP "1   7   : 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7\n", "t:4: port 7 of \"A\""},
	{"1   2   : 0 1 2 3 4 5 6 7 0 1 2 3 4 5 6 7\n", "t:1: expected"},
	{"0x1 2 1 0x01" ZEROS "\n0x1 3 1 0x10" ZEROS "\n",
	 "t:2: lanes from port 3 to port 1 other than those from port 2"},
};

#define TABLES                                                                           \
	HEAD "0x0005 001\n0x0006 003\n0x0008 002\n3 lids dumped\n"                       \
	     "Unicast lids [0-9] of switch Lid 2 guid 0x2 ('B'):\n"                      \
	     "0x0005 002\n0x0006 001\n0x0008 001\n3 lids dumped\n"

/* TABLES, with levels and lanes unless these are NULL. */
static struct fab_routes *tables_with(const struct fab_fabric *f, const char *sls,
				      const char *lanes)
{
	struct fab_routes *r = read_tables(f, NULL, TABLES);

	if (sls)
		add_sls(r, sls);
	if (lanes)
		add_lanes(r, lanes);
	return r;
}

static void expect_refused(int rc, const struct bad *bad)
{
	cr_expect_eq(rc, -EINVAL, "%s", bad->text);
	cr_expect_eq(strstr(test_err.text, bad->want), test_err.text, "%s: got: %s",
		     bad->text, test_err.text);
}

Test(lfts, bad_files_are_refused)
{
	OWN(fab_fabric) *f = text_open(small);
	OWN(fab_routes) *none = NULL;

	for (size_t i = 0; i < FAB_COUNT(bad_tables); i++) {
		const char *text = bad_tables[i].text;

		expect_refused(fab_routes_from_lfts(f, NULL, "t", text, strlen(text),
						    &none, ERR),
			       &bad_tables[i]);
		cr_expect_null(none);
	}
	for (size_t i = 0; i < FAB_COUNT(bad_sls) + FAB_COUNT(bad_lanes); i++) {
		OWN(fab_routes) *r = tables_with(f, NULL, NULL);
		bool is_lanes = i >= FAB_COUNT(bad_sls);
		const struct bad *bad =
			is_lanes ? &bad_lanes[i - FAB_COUNT(bad_sls)] : &bad_sls[i];

		expect_refused((is_lanes ? fab_routes_add_sl2vl : fab_routes_add_path_sl)(
				       r, "t", bad->text, strlen(bad->text), ERR),
			       bad);
	}
}

static unsigned sl_of(const struct fab_routes *r, uint32_t source, unsigned lid)
{
	for (uint32_t i = 0; i < r->n_sl_sources; i++)
		if (r->sl_source[i] == source)
			return r->sl[(size_t)i * r->n_columns + column(r, lid)];
	return 99;
}

/* h2 (node 3) hangs on both switches, h1 (node 2) on A. */
Test(lfts, nodes_that_differ_from_their_switch)
{
	OWN(fab_fabric) *f = text_open(small);
	OWN(fab_routes) *r =
		tables_with(f, "0x10 5 1\n0x20 5 1\n0x20 8 0\n0x10 8 0\n", NULL),
			*of_h2 = tables_with(f, "0x20 5 2\n", NULL),
			*of_a = tables_with(f, "0x1 6 3\n0x10 6 3\n", NULL);

	cr_expect_eq(r->n_sl_sources, 2, "a row for each switch, none for its adapters");
	cr_expect(sl_of(r, 0, 5) == 1 && sl_of(r, 1, 5) == 1 && r->n_sls == 2);
	cr_expect(sl_of(r, 0, 6) == FAB_SL_UNKNOWN && r->sl_default == FAB_SL_UNKNOWN);
	/* not what its neighbour has */
	cr_expect(sl_of(of_h2, 0, 5) == 2 && sl_of(of_h2, 2, 5) == FAB_SL_UNKNOWN);
	cr_expect_eq(sl_of(of_h2, 3, 5), 99);
	/* its own line */
	cr_expect(sl_of(of_a, 0, 6) == 3 && sl_of(of_a, 3, 6) == FAB_SL_UNKNOWN);
	cr_expect_eq(sl_of(of_a, 2, 6), 99);
	cr_expect(of_a->lanes == FAB_LANES_SL && of_a->n_vls == 4);
}

/* h1 has LID 8, h2 has 5 and 6 on its two ports. A node has one level for a LID: of two
 * that its ports have neither is known. */
Test(lfts, levels_of_opensm_are_those_of_converted_files)
{
	static const struct {
		const char *text;
		bool differ;
	} forms[] = {{"0x10 5 1\n0x10 6 2\n0x20 8 3\n", false},
		     {"0x10 5: 1 2 - -\n0x20 5: - - - 3\n", false},
		     {RECORD("8", "5", "0x1") RECORD("8", "6", "0x2")
			      RECORD("5", "8", "0x3"),
		      false},
		     {RECORD("6", "8", "3") "# c\n" RECORD("8", "6", "2")
			      RECORD("8", "5", "1") RECORD("5", "8", "3"),
		      false},
		     {RECORD("6", "8", "4") RECORD("5", "8", "3"), true},
		     {RECORD("5", "8", "3") RECORD("6", "8", "4") RECORD("6", "8", "4")
			      RECORD("5", "8", "3"),
		      true}};
	OWN(fab_fabric) *f = text_open(small);

	for (size_t i = 0; i < FAB_COUNT(forms); i++) {
		OWN(fab_routes) *r = tables_with(f, forms[i].text, NULL);

		cr_expect_eq(sl_of(r, 1, 8), forms[i].differ ? FAB_SL_UNKNOWN : 3, "%zu",
			     i);
		HAS(r->note ? r->note : "",
		    forms[i].differ
			    ? "differ between ports of one adapter: these are not known"
			    : "");
		cr_expect_eq(!r->note, !forms[i].differ);
		cr_expect(forms[i].differ || (r->n_sls == 4 && sl_of(r, 0, 5) == 1 &&
					      sl_of(r, 0, 6) == 2),
			  "%zu", i);
	}
}

/* h1's service level towards itself is that of no pair. */
Test(lfts, nobody_sends_to_itself)
{
	OWN(fab_fabric) *f = text_open(small);
	OWN(fab_routes) *r = tables_with(f,
					 "0x10 8 3\n0x10 5 0\n0x10 6 0\n0x20 5 0\n"
					 "0x20 6 0\n0x20 8 0\n",
					 NULL),
			*less = tables_with(f, "0x20 8 3\n", NULL);
	OWN(fab_analysis)
	j = test_analysis(r, FAB_ENDS_HOSTS), k = test_analysis(less, FAB_ENDS_HOSTS);

	cr_expect_eq(j.pairs, 8, "three ports, one with two LIDs");
	cr_expect_eq(j.connected, 6, "the second is in no table");
	cr_expect(j.sls == 1 && j.gaps.n[FAB_GAP_SL] == 0);
	cr_expect_eq(k.sls, 1);
	cr_expect_eq(k.gaps.n[FAB_GAP_SL], 4, "both ports of h2 have one to h1");
}

/* The lanes of adapters are no switch's, and their head names a port. */
Test(lfts, lanes_of_opensm_are_those_of_converted_files)
{
	OWN(fab_fabric) *f = text_open(small);
	OWN(fab_routes)
	*a = tables_with(f, NULL,
			 "0x1 2 1 0x32" ZEROS
			 "\n0x1 1 2 0x01 0x23 0x45 0x67 0x01 0x23 0x45 0x67\n"),
	*b = tables_with(f, NULL,
			 DUMP
			 "2   1   : 3  2  0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
			 "1   2   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7 \n\n"
			 "Channel Adapter 0x0000000000000002, base LID 8, \"h1 HCA-1\"\n"
			 "1   2   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7\n");

	cr_expect_eq(a->n_vls, b->n_vls);
	cr_expect_arr_eq(a->sl2vl, b->sl2vl, a->vl_first[f->n_switches]);
	cr_expect_null(b->note);
}

Test(lfts, port_0_gives_way_to_adapters)
{
	static const char *const orders[] = {
		"0x1 0 1 0x50" ZEROS "\n0x1 2 1 0x32" ZEROS "\n0x1 3 1 0x32" ZEROS "\n",
		"0x1 2 1 0x32" ZEROS "\n0x1 0 1 0x50" ZEROS "\n",
	};
	OWN(fab_fabric) *f = text_open(small);

	for (size_t i = 0; i < FAB_COUNT(orders); i++) {
		OWN(fab_routes) *r = tables_with(f, NULL, orders[i]);

		cr_expect(r->lanes == FAB_LANES_TABLE && r->n_vls == 4);
		cr_expect(fab_routes_vl(r, 0, 1, 0, 0) == 3 &&
			  fab_routes_vl(r, 0, 1, 0, 1) == 2);
		cr_expect_eq(fab_routes_vl(r, 1, 1, 0, 1), FAB_VL_UNKNOWN);
	}
}

/* Gaps of a kind, none or one, in words. */
static void expect_gap(const struct fab_routes *r, const struct fab_analysis *j,
		       enum fab_gap_kind kind, const char *want)
{
	OWN_HEAP char *text = fab_gaps_text(r->f, &j->gaps, kind);

	cr_expect_eq(j->gaps.n[kind], want != NULL);
	cr_expect_str_eq(text ? text : "", want ? want : "");
}

#define B_LACKS "1 switch has no table, or only part of one: B"

Test(lfts, tables_that_are_missing)
{
	static const struct {
		const char *text, *missing, *strange;
	} cases[] = {
		{HEAD "0x0005 001\n0x0008 002\n2 lids dumped\n", B_LACKS, NULL},
		{FDB "0x0005 : 001 : 01 : yes\n0x0008 : 002 : 01 : yes\n", B_LACKS, NULL},
		/* cut off after the first line */
		{FDB "0x0005 : 001 : 01 : yes\n0x0008 : 002 : 01 : yes\n"
		     "dump_ucast_routes: Switch 0x2\n0x0005 : 002 : 01 : yes\n",
		 B_LACKS, NULL},
		{FDB "0x0005 : 001 : 01 : yes\n0x0008 : 002 : 01 : yes\n"
		     "dump_ucast_routes: Switch 0x2\n0x0005 : 002 : 01 : yes\n"
		     "0x0008 : UNREACHABLE\n",
		 NULL, NULL},
		{HEAD "0x0005 001\n0x0008 002\n2 lids dumped\n"
		      "Unicast lids [0-9] of switch Lid 7 guid 0x7 ('new'):\n"
		      "0x0005 077\n1 lids dumped\n"
		      "Unicast lids [0-9] of switch Lid 2 guid 0x2 ('B'):\n"
		      "0x0005 002\n1 lids dumped\n",
		 NULL,
		 "1 table is of a switch that the fabric lacks: 0x0000000000000007"},
	};
	OWN(fab_fabric) *f = text_open(small);

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		OWN(fab_routes) *r = read_tables(f, NULL, cases[i].text);
		OWN(fab_analysis) j = test_verified(r, FAB_ENDS_HOSTS);
		bool is_missing = cases[i].missing;

		expect_gap(r, &j, FAB_GAP_TABLE, cases[i].missing);
		expect_gap(r, &j, FAB_GAP_STRANGE_SWITCH, cases[i].strange);
		cr_expect(j.is_unknown == is_missing && j.deadlock_free == !is_missing);
	}
}

Test(lfts, files)
{
	OWN(fab_fabric) *f = text_open(small);
	FAB_AUTO(folder_fini) struct folder folder;
	struct fab_routes *r = NULL;

	folder_init(&folder);
	put("lfts", TABLES);
	put("sls", "0x10 5 1\n");
	put("lanes", "0x1 2 1 0x01" ZEROS "\n");
	MUST(fab_routes_read(f, NULL, "lfts", "sls", "lanes", &r, ERR));
	cr_expect_eq(r->n_columns, 3);
	cr_expect_eq(fab_routes_vl(r, 0, 1, 0, sl_of(r, 0, 5)), 1);
	fab_routes_free(r);
	put("sls", "0x10 5\n");
	FAILS(fab_routes_read(f, NULL, "lfts", "sls", "lanes", &r, ERR), -EINVAL,
	      "sls:1: expected");
	unlink("sls");
	cr_expect_eq(fab_routes_read(f, NULL, "lfts", "sls", "lanes", &r, ERR), -ENOENT);
}

/* Tables of a real subnet manager; figures are those of ibdmchk, which counts the hops
 * from and to adapters, too. */
Test(lfts, real_fdbs)
{
	OWN(fab_fabric) *f = data_open("opensm-dumps/ibutils-subnet.lst");
	OWN_HEAP char *path = data_path("opensm-dumps/ibutils-osm.fdbs");
	OWN(fab_routes) *r = NULL;
	OWN(fab_analysis) j;

	MUST(fab_routes_read(f, NULL, path, NULL, NULL, &r, ERR));
	j = test_analysis(r, FAB_ENDS_ADAPTERS);
	cr_expect(j.pairs == 6 && j.connected == 6 && j.deadlock_free);
	cr_expect(j.hops[4] == 2 && j.hops[5] == 4);
}
