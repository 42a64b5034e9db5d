/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces of messages: the first byte says in which times, the rest is the text. */
#include "small.h"
#include "traffic/messages.h"

/* A refusal says why and where; what is accepted is in order and between two ends. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static struct fab_flow_ends ends;
	const struct fab_fabric *f = fuzz_small_fabric();
	struct fab_message_file trace;

	if (!ends.n)
		fab_flow_ends_init(&ends, f, NULL, NULL);
	if (!n ||
	    is_refused_at(fab_message_file_parse(
		    f, &ends, bytes[0] & 1 ? FAB_MESSAGES_TICKS : FAB_MESSAGES_TRACE,
		    "input", (const char *)bytes + 1, n - 1, &trace, ERR)))
		return 0;
	NEVER(!trace.of.n);
	for (size_t i = 0; i < trace.of.n; i++) {
		const struct fab_timed_message *m = &trace.of.v[i];

		NEVER(m->from >= ends.n || m->to >= ends.n || m->from == m->to ||
		      m->bytes > FAB_TIMED_BYTES_MAX || m->time > FAB_TIMED_TIME_MAX ||
		      (i && m->time < m[-1].time));
	}
	free(trace.of.v);
	return 0;
}
