/* SPDX-License-Identifier: BSD-2-Clause */
/* In words: what tables that were read do not say, and what follows from that. */
#pragma once

#include "unicast/analysis.h"

/* "lid", "table", "service-level", "lane", "strange-lid", "strange-switch". */
const char *fab_gap_kind_name(enum fab_gap_kind kind);

/*
 * One sentence for a kind of gaps, with the first of them by name: "1 LID of the fabric
 * is not in the tables: h2 HCA-1 port 1 (LID 9)". NULL: there is none. The caller frees.
 */
char *fab_gaps_text(const struct fab_fabric *f, const struct fab_gaps *gaps,
		    enum fab_gap_kind kind);

/*
 * Why freedom of deadlock is not known, in one sentence; NULL: it is. The caller frees.
 */
char *fab_analysis_why_unknown(const struct fab_analysis *j);
