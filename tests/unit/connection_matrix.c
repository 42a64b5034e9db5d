/* SPDX-License-Identifier: BSD-2-Clause */
/* Connection matrices of htsim: what is read, and what is refused with file and line. */
#include "traffic/connection_matrix.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int read_text(const char *text, struct fab_connection_matrix *out,
		     struct fab_err *err)
{
	return fab_connection_matrix_parse(16, "m", text, strlen(text), out, err);
}

Test(connection_matrix, as_htsim_writes_it)
{
	static const struct fab_connection want[] = {{0, 2000000, 0, 13},
						     {1500000, 1, 13, 0},
						     {2, FAB_CONNECTION_MAX_BYTES, 2, 1}};
	struct fab_connection_matrix m;
	struct fab_err err;

	cr_assert_eq(read_text("# of two\nNodes 16\nConnections 3\nTriggers 1\r\n\n"
			       "0->13 start 0 size 2000000\n"
			       "13->0 id 7 start 1500000.000000 size 1 prio 3 "
			       "send_done_trigger 1\n"
			       "  2->1 size 1099511627776  start 2 recv_done_trigger 1\n"
			       "trigger id 1 oneshot",
			       &m, &err),
		     0, "%s", err.text);
	cr_assert_eq(m.n_nodes, 16);
	cr_assert_eq(m.n_priorities, 1);
	cr_assert_eq(m.of.n, FAB_COUNT(want));
	for (size_t i = 0; i < m.of.n; i++) {
		cr_expect_eq(m.of.v[i].start_ps, want[i].start_ps);
		cr_expect_eq(m.of.v[i].bytes, want[i].bytes);
		cr_expect_eq(m.of.v[i].from, want[i].from);
		cr_expect_eq(m.of.v[i].to, want[i].to);
	}
	free(m.of.v);
}

Test(connection_matrix, what_is_none_is_refused_with_its_line)
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
		{"Nodes 4\n0->4 start 0 size 1\n", "m:2: node 4 is none of the 4 "},
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
		struct fab_connection_matrix m;
		struct fab_err err = {""};

		cr_expect_eq(read_text(cases[i].text, &m, &err), -EINVAL, "%s",
			     cases[i].text);
		cr_expect(!strncmp(err.text, cases[i].says, strlen(cases[i].says)),
			  "%s: %s", cases[i].text, err.text);
		cr_expect(!m.of.v);
	}
}
