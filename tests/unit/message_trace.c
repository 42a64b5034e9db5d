/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces of messages: what is read, and what is refused with file and line. */
#include "traffic/message_trace.h"
#include "base/num.h"
#include "support/gen.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Hosts h0 .. h7, two a switch. */
static int read_text(const char *text, bool in_ticks, struct fab_message_trace *out,
		     struct fab_err *err)
{
	struct fab_fabric *f = test_gen("torus:dims=4,hosts=2");
	struct fab_flow_ends ends;
	int rc;

	fab_flow_ends_init(&ends, f, NULL, NULL);
	rc = fab_message_trace_parse(f, &ends, in_ticks, "t", text, strlen(text), out,
				     err);
	fab_flow_ends_fini(&ends);
	fab_fabric_free(f);
	return rc;
}

Test(message_trace, messages_by_name_and_unit)
{
	static const struct fab_traced_message want[] = {
		{0, 0, 7, 2048},
		{1500000, 7, 0, 8},
		{1500001, 1, 2, 0},
		{2000000000, 3, 4, FAB_TRACE_MAX_BYTES}};
	struct fab_message_trace t;
	struct fab_err err;

	cr_assert_eq(read_text("# from a run\n0 h0 h7 2048\r\n\n1.5us H7 \"h0\" 8\n"
			       "1500.001ns h1 h2 0\n1500.001ns h1 h1 64\n"
			       "\t2ms  h3\th4  1099511627776",
			       false, &t, &err),
		     0, "%s", err.text);
	cr_assert_eq(t.of.n, FAB_COUNT(want));
	cr_assert_eq(t.n_to_self, 1);
	for (size_t i = 0; i < t.of.n; i++) {
		cr_assert_eq(t.of.v[i].time, want[i].time, "%zu", i);
		cr_assert_eq(t.of.v[i].from, want[i].from, "%zu", i);
		cr_assert_eq(t.of.v[i].to, want[i].to, "%zu", i);
		cr_assert_eq(t.of.v[i].bytes, want[i].bytes, "%zu", i);
	}
	free(t.of.v);
	cr_assert_eq(read_text("7 h0 h1 3\n7 h1 h0 4\n", true, &t, &err), 0);
	cr_assert_eq(t.of.v[1].time, 7);
	free(t.of.v);
}

Test(message_trace, what_is_none_is_refused_with_its_line)
{
	static const struct {
		const char *text, *says;
		bool in_ticks;
	} cases[] = {
		{"", "t: no message: expected lines TIME SOURCE TARGET BYTES", false},
		{"# nothing\n", "t: no message", false},
		{"0 h0 h0 1\n", "t: no message", false},
		{"5ns h0 h1 1\n4ns h0 h1 1\n",
		 "t:2: time 4ns is before that of the message above: expected times in "
		 "order",
		 false},
		{"x h0 h1 1\n",
		 "t:1: 'x' is no time: expected a number and ps, ns, us, ms or s", false},
		{"-1 h0 h1 1\n", "t:1: '-1' is no time", false},
		{"282s h0 h1 1\n", "t:1: time '282s' is longer than 281.474977s", false},
		{"0.0001ns h0 h1 1\n", "t:1: '0.0001ns' is no time", false},
		{"20 h0 h1 1\n", "t:1: '20' has no unit: expected a time such as 20us",
		 false},
		{"1ns h0 h1 1\n",
		 "t:1: '1ns' is no time: expected a whole number of ticks below 2^48",
		 true},
		{"\n0 h0 h1\n",
		 "t:2: expected TIME SOURCE TARGET BYTES, found 'h1' for BYTES", false},
		{"0\n", "t:1: expected TIME SOURCE TARGET BYTES, found '' for BYTES",
		 false},
		{"0 5\n", "t:1: expected TIME SOURCE TARGET BYTES, found '5' for BYTES",
		 false},
		{"0 h0 h1 1KiB\n", "found '1KiB' for BYTES", false},
		{"0 h0 h1 1099511627777\n", "for BYTES", false},
		{"0 h0 h9 1\n", "t:1: ", false},
		{"0 h0 sw-1 1\n", "t:1: ", false},
		{"0 h0 5\n", "t:1: ", false},
		{"0 h[0-1] h2 5\n", "t:1: 'h[0-1]' is 2 hosts: expected one", false},
	};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		struct fab_message_trace t;
		struct fab_err err = {""};
		int rc = read_text(cases[i].text, cases[i].in_ticks, &t, &err);

		cr_assert(rc == -EINVAL || rc == -ENOENT, "'%s'", cases[i].text);
		cr_assert_not_null(strstr(err.text, cases[i].says), "'%s': %s",
				   cases[i].text, err.text);
		cr_assert_null(t.of.v);
	}
}

/* What is dead is no end of traffic. */
Test(message_trace, dead_hosts_are_named)
{
	struct fab_fabric *f = test_gen("torus:dims=4,hosts=2");
	bool dead[4] = {false, true, false, false};
	struct fab_message_trace t;
	struct fab_flow_ends ends;
	struct fab_err err;

	fab_flow_ends_init(&ends, f, dead, NULL);
	cr_assert_eq(
		fab_message_trace_parse(f, &ends, false, "t", "0 h0 h2 1", 9, &t, &err),
		-ENOENT);
	cr_assert_not_null(strstr(err.text, "t:1: 'h2 "), "%s", err.text);
	cr_assert_not_null(strstr(err.text, "no live host adapter"));
	fab_flow_ends_fini(&ends);
	fab_fabric_free(f);
}
