/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of messages: what is read, and what is refused with file and line. */
#include "base/num.h"
#include "support/test.h"
#include "traffic/messages.h"

/* Hosts h0 .. h7, two a switch. */
static int read_text(const char *text, bool in_ticks, struct fab_message_file *out,
		     struct fab_err *err)
{
	OWN(fab_fabric) *f = test_gen("torus:dims=4,hosts=2");
	OWN(fab_flow_ends) ends;

	fab_flow_ends_init(&ends, f, NULL, NULL);
	return fab_message_file_parse(f, &ends,
				      in_ticks ? FAB_MESSAGES_TICKS : FAB_MESSAGES_TRACE,
				      "t", text, strlen(text), out, err);
}

/* The messages are these; they end. */
static void expect_messages(struct fab_message_file *t,
			    const struct fab_timed_message *want, size_t n)
{
	cr_assert_eq(t->of.n, n);
	for (size_t i = 0; i < n; i++) {
		cr_expect_eq(t->of.v[i].time, want[i].time, "%zu", i);
		cr_expect_eq(t->of.v[i].from, want[i].from, "%zu", i);
		cr_expect_eq(t->of.v[i].to, want[i].to, "%zu", i);
		cr_expect_eq(t->of.v[i].bytes, want[i].bytes, "%zu", i);
	}
	free(t->of.v);
}

Test(message_file, messages_by_name_and_unit)
{
	static const struct fab_timed_message want[] = {
		{0, 2048, 0, 7},
		{1500000, 8, 7, 0},
		{1500001, 0, 1, 2},
		{2000000000, FAB_TIMED_BYTES_MAX, 3, 4}};
	struct fab_message_file t;

	MUST(read_text("# from a run\n0 h0 h7 2048\r\n\n1.5us H7 \"h0\" 8\n"
		       "1500.001ns h1 h2 0\n1500.001ns h1 h1 64\n"
		       "\t2ms  h3\th4  1099511627776",
		       false, &t, ERR));
	cr_assert_eq(t.n_to_self, 1);
	expect_messages(&t, want, FAB_COUNT(want));
	MUST(read_text("7 h0 h1 3\n7 h1 h0 4\n", true, &t, ERR));
	cr_assert_eq(t.of.v[1].time, 7);
	free(t.of.v);
}

Test(message_file, what_is_none_is_refused_with_its_line)
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
		struct fab_message_file t;
		int rc = read_text(cases[i].text, cases[i].in_ticks, &t, ERR);

		cr_assert(rc == -EINVAL || rc == -ENOENT, "'%s'", cases[i].text);
		cr_assert_not_null(strstr(test_err.text, cases[i].says), "'%s': %s",
				   cases[i].text, test_err.text);
		cr_assert_null(t.of.v);
	}
}

static int read_matrix(const char *text, struct fab_message_file *out,
		       struct fab_err *err)
{
	const struct fab_flow_ends ends = {.n = 16};

	return fab_message_file_parse(NULL, &ends, FAB_MESSAGES_HTSIM, "m", text,
				      strlen(text), out, err);
}

Test(message_file, connections_as_htsim_writes_them)
{
	static const struct fab_timed_message want[] = {
		{0, 2000000, 0, 13}, {1500000, 1, 13, 0}, {2, FAB_TIMED_BYTES_MAX, 2, 1}};
	struct fab_message_file m;

	MUST(read_matrix("# of two\nNodes 16\nConnections 3\nTriggers 1\r\n\n"
			 "0->13 start 0 size 2000000\n"
			 "13->0 id 7 start 1500000.000000 size 1 prio 3 "
			 "send_done_trigger 1\n"
			 "  2->1 size 1099511627776  start 2 recv_done_trigger 1\n"
			 "trigger id 1 oneshot",
			 &m, ERR));
	cr_assert_eq(m.n_nodes, 16);
	cr_assert_eq(m.n_priorities, 1);
	expect_messages(&m, want, FAB_COUNT(want));
}

Test(message_file, connections_are_refused_with_their_line)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"", "m: no connection: "},
		{"Nodes 4\nConnections 0\n", "m: no connection: "},
		{"Nodes 0\n", "m:1: Nodes '0': expected a number from 1 "},
		{"Nodes\n", "m:1: Nodes '': expected a number "},
		{"Nodes 4\nNodes 4\n", "m:2: Nodes stands here a second time"},
		{"Connections 2\n0->1 start 0 size 1\n",
		 "m: Connections says 2, there are 1"},
		{"Nodes 4\n0->4 start 0 size 1\n", "m:2: node 4: Nodes says 0 to 3"},
		{"Nodes 1024\n0->16 start 0 size 1\n",
		 "m:2: node 16: the fabric has 16 live endpoints, 0 to 15"},
		{"3->3 start 0 size 1\n", "m:1: node 3 sends to itself"},
		{"->3 start 0 size 1\n", "m:1: '' is no node"},
		{"0-> start 0 size 1\n", "m:1: '' is no node"},
		{"0->-1 start 0 size 1\n", "m:1: '-1' is no node"},
		{"0->1 size 1\n", "m:1: start is missing"},
		{"0->1 start 0\n", "m:1: size is missing"},
		{"0->1 start 0 size\n", "m:1: size '': expected a number from 1 to "},
		{"0->1 start 0 size 0\n", "m:1: size '0': expected a number from 1 to "},
		{"0->1 start -1 size 1\n", "m:1: start '-1': expected picoseconds"},
		{"0->1 start 1e15 size 1\n", "m:1: start '1e15': expected picoseconds"},
		{"0->1 start 0 size 1 id 0\n", "m:1: id '0': "},
		{"0->1 id 2 trigger 1 size 1\n", "m:1: a connection that starts by a "},
		{"0->1 start 0 sizes 1\n", "m:1: 'sizes' is no property "},
		{"Failures 1\n", "m:1: Failures '1': "},
		{"failure switch_type TOR\n", "m:1: 'failure': expected Nodes N, "},
		{"0 1 2\n", "m:1: '0': expected Nodes N, "},
	};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		struct fab_message_file m;

		cr_expect_eq(read_matrix(cases[i].text, &m, ERR), -EINVAL, "%s",
			     cases[i].text);
		cr_expect(!strncmp(test_err.text, cases[i].says, strlen(cases[i].says)),
			  "%s: %s", cases[i].text, test_err.text);
		cr_expect(!m.of.v);
	}
}

/* What is dead is no end of traffic. */
Test(message_file, dead_hosts_are_named)
{
	OWN(fab_fabric) *f = test_gen("torus:dims=4,hosts=2");
	bool dead[4] = {false, true, false, false};
	struct fab_message_file t;
	OWN(fab_flow_ends) ends;

	fab_flow_ends_init(&ends, f, dead, NULL);
	FAILS(fab_message_file_parse(f, &ends, FAB_MESSAGES_TRACE, "t", "0 h0 h2 1", 9,
				     &t, ERR),
	      -ENOENT, "t:1: 'h2 ");
	HAS(test_err.text, "no live host adapter");
}
