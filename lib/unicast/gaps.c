/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/gaps.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>

enum { SHOWN = 3 };

static const struct {
	const char *name, *one, *more;
} kinds[FAB_GAP_KINDS] = {
	[FAB_GAP_LID] = {"lid", "LID of the fabric is not in the tables",
			 "LIDs of the fabric are not in the tables"},
	[FAB_GAP_TABLE] = {"table", "switch has no table, or only part of one",
			   "switches have no table, or only part of one"},
	[FAB_GAP_SL] = {"service-level", "pair has no service level",
			"pairs have no service level"},
	[FAB_GAP_LANE] = {"lane", "passage through a switch has no lane",
			  "passages through switches have no lane"},
	[FAB_GAP_STRANGE_LID] = {"strange-lid",
				 "LID of the tables is of no port of the fabric",
				 "LIDs of the tables are of no port of the fabric"},
	[FAB_GAP_STRANGE_SWITCH] = {"strange-switch",
				    "table is of a switch that the fabric lacks",
				    "tables are of switches that the fabric lacks"},
};

const char *fab_gap_kind_name(enum fab_gap_kind kind)
{
	return kinds[kind].name;
}

/* "h2 HCA-1 port 1 (LID 9)". On the heap. */
static char *name_of(const struct fab_fabric *f, const struct fab_gap *gap)
{
	const char *from = gap->from == FAB_NONE ? "" : fab_node_name(f, gap->from);

	switch (gap->kind) {
	case FAB_GAP_LID:
		return gap->lid ? fab_format("%s port %u (LID %u)", from, gap->port,
					     gap->lid)
				: fab_format("%s port %u", from, gap->port);
	case FAB_GAP_SL:
		return fab_format("%s to %s (LID %u)", from, fab_node_name(f, gap->to),
				  gap->lid);
	case FAB_GAP_LANE:
		return fab_format("%s port %u to port %u with service level %u", from,
				  gap->port, gap->out, gap->sl);
	case FAB_GAP_STRANGE_LID:
		return fab_format("%u", gap->lid);
	case FAB_GAP_STRANGE_SWITCH:
		return fab_format("0x%016" PRIx64, gap->guid);
	default:
		return fab_strdup(from);
	}
}

/* "%s%s%s", the first of which is freed. */
static char *join(char *text, const char *between, char *more)
{
	char *all = fab_format("%s%s%s", text, between, more);

	free(text);
	free(more);
	return all;
}

static char *count_text(const struct fab_gaps *gaps, enum fab_gap_kind kind)
{
	return fab_format("%" PRIu64 " %s", gaps->n[kind],
			  gaps->n[kind] == 1 ? kinds[kind].one : kinds[kind].more);
}

char *fab_gaps_text(const struct fab_fabric *f, const struct fab_gaps *gaps,
		    enum fab_gap_kind kind)
{
	char *text;
	unsigned n = 0;

	if (!gaps->n[kind])
		return NULL;
	text = count_text(gaps, kind);
	for (size_t i = 0; i < gaps->first.n && n < SHOWN; i++)
		if (gaps->first.v[i].kind == kind)
			text = join(text, n++ ? ", " : ": ",
				    name_of(f, &gaps->first.v[i]));
	return gaps->n[kind] > n ? join(text, "", fab_strdup(", ...")) : text;
}

char *fab_analysis_why_unknown(const struct fab_analysis *j)
{
	static const enum fab_gap_kind reasons[] = {FAB_GAP_TABLE, FAB_GAP_SL,
						    FAB_GAP_LANE};
	char *text = NULL;

	if (!j->is_unknown)
		return NULL;
	if (j->cycle_channels)
		return fab_strdup(
			!j->assumes_sls	   ? "a loop if each lane is its service level; "
					     "these tables came without lanes"
			: j->assumes_lanes ? "a loop if all is on one lane; these tables "
					     "came without lanes"
					   : "a loop if all has service level 0; these "
					     "tables came without service levels");
	for (size_t i = 0; i < FAB_COUNT(reasons); i++) {
		char *reason;

		if (!j->gaps.n[reasons[i]])
			continue;
		reason = count_text(&j->gaps, reasons[i]);
		text = text ? join(text, "; ", reason) : reason;
	}
	return text ? text
		    : fab_strdup("no cycle with the lanes that are assumed, but one when "
				 "all is on one lane");
}
