/* SPDX-License-Identifier: BSD-2-Clause */
/* Connection matrices of htsim: the first byte says how many endpoints there are. */
#include "fuzz.h"
#include "traffic/messages.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct fab_flow_ends ends = {.n = n ? 2 + bytes[0] : 0};
	struct fab_message_file m;

	if (!n || is_refused_at(fab_message_file_parse(NULL, &ends, FAB_MESSAGES_HTSIM,
						       "input", (const char *)bytes + 1,
						       n - 1, &m, ERR)))
		return 0;
	NEVER(!m.of.n);
	for (size_t i = 0; i < m.of.n; i++) {
		const struct fab_timed_message *c = &m.of.v[i];

		NEVER(c->from >= ends.n || c->to >= ends.n || c->from == c->to ||
		      !c->bytes || c->bytes > FAB_TIMED_BYTES_MAX ||
		      c->time > FAB_TIMED_TIME_MAX);
	}
	free(m.of.v);
	return 0;
}
