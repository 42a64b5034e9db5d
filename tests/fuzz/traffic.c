/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces of messages: the first byte says in which times, the rest is the text. */
#include "fuzz.h"
#include "small.h"

#include "traffic/messages.h"

/* A refusal says why and where; what is accepted is in order and between two ends. */
static void try_one(const struct fab_fabric *f, const struct fab_flow_ends *ends,
		    bool in_ticks, const uint8_t *bytes, size_t n)
{
	struct fab_message_file trace;

	if (is_refused_at(fab_message_file_parse(
		    f, ends, in_ticks ? FAB_MESSAGES_TICKS : FAB_MESSAGES_TRACE, "input",
		    (const char *)bytes, n, &trace, ERR)))
		return;
	NEVER(!trace.of.n);
	for (size_t i = 0; i < trace.of.n; i++) {
		const struct fab_timed_message *m = &trace.of.v[i];

		NEVER(m->from >= ends->n || m->to >= ends->n || m->from == m->to ||
		      m->bytes > FAB_TIMED_BYTES_MAX || m->time > FAB_TIMED_TIME_MAX ||
		      (i && m->time < m[-1].time));
	}
	free(trace.of.v);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static struct fab_flow_ends ends;
	static struct fab_fabric *f;

	if (!f) {
		f = fuzz_small_fabric();
		fab_flow_ends_init(&ends, f, NULL, NULL);
	}
	if (n)
		try_one(f, &ends, bytes[0] & 1, bytes + 1, n - 1);
	return 0;
}
