/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of messages: what is read, and what is refused with file and line. */
#include "support/test.h"
#include "traffic/messages.h"

enum {
	TRACE = FAB_MESSAGES_TRACE,
	TICKS = FAB_MESSAGES_TICKS,
	HTSIM = FAB_MESSAGES_HTSIM
};

/* Hosts h0 .. h15, two a switch, of which some may be dead. */
static int read_text(int kind, const char *text, const bool *dead,
		     struct fab_message_file *out, struct fab_err *err)
{
	OWN(fab_fabric) *f = test_gen("torus:dims=8,hosts=2");
	OWN(fab_flow_ends) ends;

	fab_flow_ends_init(&ends, f, dead, NULL);
	return fab_message_file_parse(f, &ends, kind, "t", text, strlen(text), out, err);
}

/* The messages, which end, as "TIME FROM>TO BYTES". */
static void expect_messages(struct fab_message_file *t, const char *wanted)
{
	OWN_HEAP char *text = NULL;

	for (size_t i = 0; i < t->of.n; i++) {
		const struct fab_timed_message *m = &t->of.v[i];

		fab_append(&text, "; ", "%lu %u>%u %lu", m->time, m->from, m->to,
			   m->bytes);
	}
	cr_expect_str_eq(text, wanted, "%s", text);
	free(t->of.v);
}

Test(message_file, messages_by_name_and_unit)
{
	struct fab_message_file t;

	MUST(read_text(TRACE,
		       "# from a run\n0 h0 h7 2048\r\n\n1.5us H7 \"h0\" 8\n"
		       "1500.001ns h1 h2 0\n1500.001ns h1 h1 64\n"
		       "\t2ms  h3\th4  1099511627776",
		       NULL, &t, ERR));
	cr_assert_eq(t.n_to_self, 1);
	expect_messages(&t, "0 0>7 2048; 1500000 7>0 8; 1500001 1>2 0; "
			    "2000000000 3>4 1099511627776");
	MUST(read_text(TICKS, "7 h0 h1 3\n7 h1 h0 4\n", NULL, &t, ERR));
	expect_messages(&t, "7 0>1 3; 7 1>0 4");
}

Test(message_file, connections_as_htsim_writes_them)
{
	struct fab_message_file m;

	MUST(read_text(HTSIM,
		       "# of two\nNodes 16\nConnections 3\nTriggers 1\r\n\n"
		       "0->13 start 0 size 2000000\n"
		       "13->0 id 7 start 1500000.000000 size 1 prio 3 "
		       "send_done_trigger 1\n"
		       "  2->1 size 1099511627776  start 2 recv_done_trigger 1\n"
		       "trigger id 1 oneshot",
		       NULL, &m, ERR));
	cr_assert_eq(m.n_nodes, 16);
	cr_assert_eq(m.n_priorities, 1);
	expect_messages(&m, "0 0>13 2000000; 1500000 13>0 1; 2 2>1 1099511627776");
}

Test(message_file, what_is_none_is_refused_with_its_line)
{
#define NO_MESSAGE "t: no message: expected lines TIME SOURCE TARGET BYTES"
#define EXPECTED "expected TIME SOURCE TARGET BYTES, found "
	static const struct {
		int kind;
		const char *text, *says;
	} rows[] = {
		{TRACE, "", NO_MESSAGE},
		{TRACE, "0 h0 h0 1\n", NO_MESSAGE},
		{TRACE, "5ns h0 h1 1\n4ns h0 h1 1\n",
		 "t:2: time 4ns is before that of the message above: expected times in "
		 "order"},
		{TRACE, "x h0 h1 1\n",
		 "t:1: 'x' is no time: expected a number and ps, ns, us, ms or s"},
		{TRACE, "282s h0 h1 1\n", "t:1: time '282s' is longer than 281.474977s"},
		{TRACE, "0.0001ns h0 h1 1\n", "t:1: '0.0001ns' is no time"},
		{TRACE, "20 h0 h1 1\n",
		 "t:1: '20' has no unit: expected a time such as 20us"},
		{TICKS, "1ns h0 h1 1\n",
		 "t:1: '1ns' is no time: expected a whole number of ticks below 2^48"},
		{TRACE, "\n0 h0 h1\n", "t:2: " EXPECTED "'h1' for BYTES"},
		{TRACE, "0 5\n", "t:1: " EXPECTED "'5' for BYTES"},
		{TRACE, "0 h0 h1 1099511627777\n", "for BYTES"},
		{TRACE, "0 h0 h1 1KiB\n", "found '1KiB' for BYTES"},
		{TRACE, "0 h0 h16 1\n", "t:1: "},
		{TRACE, "0 h0 sw-1 1\n", "t:1: "},
		{TRACE, "0 h0 5\n", "t:1: "},
		{TRACE, "0 h[0-1] h2 5\n", "t:1: 'h[0-1]' is 2 hosts: expected one"},
		{HTSIM, "", "t: no connection: "},
		{HTSIM, "Nodes 0\n", "t:1: Nodes '0': expected a number from 1 "},
		{HTSIM, "Nodes\n", "t:1: Nodes '': expected a number "},
		{HTSIM, "Nodes 4\nNodes 4\n", "t:2: Nodes stands here a second time"},
		{HTSIM, "Connections 2\n0->1 start 0 size 1\n",
		 "t: Connections says 2, there are 1"},
		{HTSIM, "Nodes 4\n0->4 start 0 size 1\n",
		 "t:2: node 4: Nodes says 0 to 3"},
		{HTSIM, "Nodes 1024\n0->16 start 0 size 1\n",
		 "t:2: node 16: the fabric has 16 live endpoints, 0 to 15"},
		{HTSIM, "3->3 start 0 size 1\n", "t:1: node 3 sends to itself"},
		{HTSIM, "->3 start 0 size 1\n", "t:1: '' is no node"},
		{HTSIM, "0->-1 start 0 size 1\n", "t:1: '-1' is no node"},
		{HTSIM, "0->1 size 1\n", "t:1: start is missing"},
		{HTSIM, "0->1 start 0\n", "t:1: size is missing"},
		{HTSIM, "0->1 start 0 size 0\n",
		 "t:1: size '0': expected a number from 1 to "},
		{HTSIM, "0->1 start -1 size 1\n",
		 "t:1: start '-1': expected picoseconds"},
		{HTSIM, "0->1 start 0 size 1 id 0\n", "t:1: id '0': "},
		{HTSIM, "0->1 id 2 trigger 1 size 1\n",
		 "t:1: a connection that starts by a "},
		{HTSIM, "0->1 start 0 sizes 1\n", "t:1: 'sizes' is no property "},
		{HTSIM, "Failures 1\n", "t:1: Failures '1': "},
		{HTSIM, "failure switch_type TOR\n",
		 "t:1: 'failure': expected Nodes N, "},
	};

	for (size_t i = 0; i < FAB_COUNT(rows); i++) {
		struct fab_message_file t;

		FAILS(read_text(rows[i].kind, rows[i].text, NULL, &t, ERR),
		      rows[i].kind == HTSIM ? -EINVAL : 0, rows[i].says);
		cr_assert_null(t.of.v);
	}
}

/* What is dead is no end of traffic. */
Test(message_file, dead_hosts_are_named)
{
	const bool dead[8] = {false, true};
	struct fab_message_file t;

	FAILS(read_text(TRACE, "0 h0 h2 1", dead, &t, ERR), -ENOENT, "t:1: 'h2 ");
	HAS(test_err.text, "no live host adapter");
}
