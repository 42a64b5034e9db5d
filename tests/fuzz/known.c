/* SPDX-License-Identifier: BSD-2-Clause */
/* Reader of accepted problems. */
#include "source/known.h"
#include "fabric/check.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct fab_known *known = NULL;
	struct fab_check *check;
	struct fab_known_counts counts;

	if (is_refused(fab_known_parse("input", (const char *)bytes, n, &known, ERR)))
		return 0;
	check = FAB_NEW0(1, struct fab_check);
	counts = fab_known_leave_out(known, check);
	NEVER(counts.n_left_out || counts.n_gone != check->n_findings);
	fab_check_free(check);
	fab_known_free(known);
	return 0;
}
