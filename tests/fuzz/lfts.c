/* SPDX-License-Identifier: BSD-2-Clause */
/* Unicast tables, service levels, lanes: read and analysed. The first byte of an input
 * says which: S service levels, V lanes; else it is of the tables. */
#include "unicast/lfts.h"
#include "fuzz.h"
#include "source/source.h"
#include "unicast/analysis.h"

/* Switches 1 and 2, two cables between them, one from 1 to itself; adapters 16 (two LIDs)
 * on 1, 32 on both. */
static const char fabric[] =
	"switchguid=0x1(1)\n"
	"Switch\t6 \"S-0000000000000001\"\t\t# \"A\" enhanced port 0 lid 1 lmc 0\n"
	"[1]\t\"S-0000000000000002\"[1]\t\t# \"B\" lid 2 4xHDR\n"
	"[2]\t\"H-0000000000000010\"[1](11) \t\t# \"h1 HCA-1\" lid 8 4xHDR\n"
	"[3]\t\"H-0000000000000020\"[2](22) \t\t# \"h2 HCA-1\" lid 6 4xHDR\n"
	"[4]\t\"S-0000000000000001\"[5]\t\t# \"A\" lid 1 4xHDR\n"
	"[5]\t\"S-0000000000000001\"[4]\t\t# \"A\" lid 1 4xHDR\n"
	"[6]\t\"S-0000000000000002\"[6]\t\t# \"B\" lid 2 4xHDR\n"
	"\nswitchguid=0x2(2)\n"
	"Switch\t6 \"S-0000000000000002\"\t\t# \"B\" enhanced port 0 lid 2 lmc 0\n"
	"[1]\t\"S-0000000000000001\"[1]\t\t# \"A\" lid 1 4xHDR\n"
	"[2]\t\"H-0000000000000020\"[1](21) \t\t# \"h2 HCA-1\" lid 5 4xHDR\n"
	"[6]\t\"S-0000000000000001\"[6]\t\t# \"A\" lid 1 4xHDR\n"
	"\ncaguid=0x10\n"
	"Ca\t1 \"H-0000000000000010\"\t\t# \"h1 HCA-1\"\n"
	"[1](11) \t\"S-0000000000000001\"[2]\t\t# lid 8 lmc 1 \"A\" lid 1 4xHDR\n"
	"\ncaguid=0x20\n"
	"Ca\t2 \"H-0000000000000020\"\t\t# \"h2 HCA-1\"\n"
	"[1](21) \t\"S-0000000000000002\"[2]\t\t# lid 5 lmc 0 \"B\" lid 2 4xHDR\n"
	"[2](22) \t\"S-0000000000000001\"[3]\t\t# lid 6 lmc 0 \"A\" lid 1 4xHDR\n";

static const char tables[] =
	"Unicast lids [0-9] of switch Lid 1 guid 0x1 ('A'):\n"
	"0x0001 000\n0x0002 006\n0x0005 001\n0x0006 003\n0x0008 002\n"
	"5 lids dumped\n"
	"Unicast lids [0-9] of switch Lid 2 guid 0x2 ('B'):\n"
	"0x0001 001\n0x0002 000\n0x0005 002\n0x0006 001\n0x0008 006\n"
	"5 lids dumped\n";

static void check(const struct fab_routes *r)
{
	NEVER(r->n_columns > 0xbfff);
	for (uint32_t c = 0; c < r->n_columns; c++) {
		NEVER(r->column_switch[c] >= r->f->n_switches ||
		      r->column_port[c] >= r->f->n_ports ||
		      (c && r->column_lid[c] <= r->column_lid[c - 1]));
		for (uint32_t s = 0; s < r->f->n_switches; s++) {
			uint16_t next = r->next[(size_t)c * r->f->n_switches + s];

			NEVER(next < FAB_ARC_BROKEN &&
			      next >= r->f->arc_first[s + 1] - r->f->arc_first[s]);
		}
	}
	for (int ends = FAB_ENDS_LEAVES; ends <= FAB_ENDS_ALL; ends++) {
		const struct fab_analysis_options options = {
			.ends = (enum fab_ends)ends, .with_load = true, .n_threads = 1};
		FAB_AUTO(fab_analysis_fini) struct fab_analysis j = {0};

		NEVER(!is_refused(fab_analyse(r, &options, &j, ERR)) &&
		      (j.connected > j.connected_in_graph ||
		       j.connected_in_graph > j.pairs || j.minimal > j.connected ||
		       j.pairs_on_cycles > j.connected || j.max_hops > 1 ||
		       j.deadlock_free != (!j.cycle.n && !j.is_unknown)));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static struct fab_fabric *f;
	const char *text = (const char *)bytes;
	FAB_AUTO(fab_routes_free_at) struct fab_routes *r = NULL;
	bool is_sls = n && *text == 'S', is_lanes = n && *text == 'V';
	int rc;

	NEVER(!f && fab_source_parse("f", fabric, sizeof(fabric) - 1, NULL, &f, NULL));
	if (is_sls || is_lanes) {
		OK(fab_routes_from_lfts(f, NULL, "t", tables, sizeof(tables) - 1, &r,
					ERR));
		rc = (is_sls ? fab_routes_add_path_sl
			     : fab_routes_add_sl2vl)(r, "input", text + 1, n - 1, ERR);
	} else {
		rc = fab_routes_from_lfts(f, NULL, "input", text, n, &r, ERR);
	}
	if (!is_refused(rc))
		check(r);
	return 0;
}
