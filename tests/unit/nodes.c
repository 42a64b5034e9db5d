/* SPDX-License-Identifier: BSD-2-Clause */
/* Which hosts a job has, and in which order. */
#include "launch/fence.h"

#include "support/fences.h"
#include "support/test.h"
#include "support/unicast_check.h"

static struct fab_arena memory = FAB_ARENA_INIT; /* ends with the process */

static struct fab_node_order order_of(const char *text)
{
	struct fab_node_order order;

	MUST(fab_node_order_parse(text, 7, &order, ERR));
	return order;
}

/* All hosts, by so many of their ports (0: one). */
static struct fab_launch_nodes make(const struct fab_fabric *f, const char *order,
				    uint32_t n_rails)
{
	struct fab_launch_choice choice = {.n_rails = n_rails, .order = order_of(order)};
	struct fab_launch_nodes nodes;

	MUST(fab_launch_nodes_make(&memory, f, NULL, &choice, &nodes, ERR));
	return nodes;
}

static void expect_refused(const struct fab_fabric *f, const struct fab_faults *faults,
			   struct fab_launch_choice choice, int error, const char *what)
{
	struct fab_launch_nodes nodes;

	FAILS(fab_launch_nodes_make(&memory, f, faults, &choice, &nodes, ERR), error,
	      what);
}

/* The same hosts whatever the order, each where it is; names count by value, the first
 * axis is the fastest. */
Test(nodes, orders_keep_the_hosts)
{
	static const char *const orders[] = {"fabric", "name",	     "switch",
					     "random", "axes:0,1,2", "axes:1,2,0"};
	OWN(fab_fabric) *f = test_gen("torus:dims=4x3x5,hosts=2");
	OWN(fab_shape) *s = fab_shape_recognize(f);

	for (size_t i = 0; i < FAB_COUNT(orders); i++) {
		struct fab_launch_nodes nodes = make(f, orders[i], 0);
		struct fab_launch_nodes again = make(f, orders[i], 0);
		FAB_AUTOFREE bool *seen = FAB_NEW0(f->n_hosts, bool);
		uint32_t n_in_order = 1, n_together = 0;

		cr_assert_eq(nodes.n, 120);
		cr_assert_arr_eq(again.host, nodes.host, 120 * sizeof(*nodes.host));
		for (uint32_t k = 0; k < nodes.n; k++) {
			const uint32_t *c = s->coords + (size_t)nodes.sw[k] * 3;
			uint32_t h = nodes.host[k], last = nodes.host[k ? k - 1 : 0];

			cr_assert_not(seen[h]);
			seen[h] = true;
			cr_assert_eq(nodes.port[k], fab_host_endpoint(f, h));
			cr_assert_eq(nodes.sw[k], fab_port_switch(f, nodes.port[k]));
			n_in_order += k && strverscmp(fab_host_name(f, last),
						      fab_host_name(f, h)) < 0;
			n_together += k && nodes.sw[k] == nodes.sw[k - 1];
			cr_assert(i != 5 ||
				  c[1] + s->dims[1] * (c[2] + s->dims[2] * c[0]) ==
					  k / 2);
		}
		cr_assert(i != 1 || n_in_order == 120);
		cr_assert(i != 2 || n_together == 60, "hosts of a switch side by side");
		cr_assert(i != 3 || n_in_order < 100, "random");
	}
}

Test(nodes, bad_orders)
{
	static const char *const bad[] = {"",	     "nam",	"name:1",   "axes",
					  "axes:",   "axes:0,", "axes:0,0", "axes:x",
					  "axes:-1", "axes:24", "random:2"};
	static const char *const other[] = {"axes:0", "axes:0,2", "axes:0,1,2"};
	OWN(fab_fabric) *f = test_gen("torus:dims=4x4");
	OWN(fab_fabric) *tree = test_gen("fattree:radix=4,levels=2");
	struct fab_launch_choice choice = {0};
	struct fab_node_order order;

	for (size_t i = 0; i < FAB_COUNT(bad); i++)
		cr_assert_eq(fab_node_order_parse(bad[i], 1, &order, NULL), -EINVAL, "%s",
			     bad[i]);
	for (size_t i = 0; i < FAB_COUNT(other); i++) {
		choice.order = order_of(other[i]);
		expect_refused(f, NULL, choice, -EINVAL,
			       "an order by axes: expected each axis of torus 4x4 once");
	}
	expect_refused(tree, NULL, choice, -EINVAL, "needs a torus");
}

/* Those of a list; those whose switch or cable is dead are left out, or refused when they
 * are named. */
Test(nodes, choices)
{
	OWN(fab_fabric) *f = test_gen("torus:dims=4x4");
	OWN(fab_faults) *faults = fab_faults_new(f);
	const uint32_t list[] = {9, 2, 4, 2};
	struct fab_launch_choice choice = {.host = list, .n_hosts = 3}, all = {0};
	struct fab_launch_nodes nodes;

	MUST(fab_launch_nodes_make(&memory, f, NULL, &choice, &nodes, ERR));
	cr_assert_eq(nodes.n, 3);
	cr_assert_arr_eq(nodes.host, list, 3 * sizeof(*list));
	choice.n_nodes = 2;
	MUST(fab_launch_nodes_make(&memory, f, NULL, &choice, &nodes, ERR));
	cr_assert_eq(nodes.n, 2);
	expect_refused(f, NULL, (struct fab_launch_choice){.host = list, .n_hosts = 4},
		       -EINVAL, "twice");
	expect_refused(f, NULL, (struct fab_launch_choice){.n_nodes = 17}, -EINVAL,
		       "17 nodes: there are only 16 hosts");
	expect_refused(f, NULL, (struct fab_launch_choice){.n_rails = 2}, -ENOTCONN,
		       "2 rails need as many");
	fab_faults_kill_cable(faults, f->port_cable[fab_host_endpoint(f, 9)]);
	fab_faults_kill_switch(faults, fab_port_switch(f, fab_host_endpoint(f, 7)));
	MUST(fab_launch_nodes_make(&memory, f, faults, &all, &nodes, ERR));
	cr_assert_eq(nodes.n, 14);
	for (uint32_t i = 0; i < nodes.n; i++)
		cr_assert(nodes.host[i] != 9 && nodes.host[i] != 7);
	expect_refused(f, faults, choice, -ENOTCONN, fab_host_name(f, 9));
}

/* Joined, but not by the tables: the pair is named. */
Test(nodes, tables_without_a_path)
{
	OWN(fab_fabric) *f = test_gen("mesh:dims=3x3");
	OWN(fab_faults) *faults = fab_faults_new(f);
	struct fab_launch_choice choice = {0};
	struct fab_launch_nodes nodes;
	struct fab_fence_setup setup;
	OWN(fab_routes) *r = NULL;
	struct fab_fence_job job = test_fence_job(0, NULL, 0);

	/* the middle: dimension order does not go round it */
	fab_faults_kill_switch(faults, fab_port_switch(f, fab_host_endpoint(f, 4)));
	r = test_tables(f, faults, "dor", 1);
	MUST(fab_launch_nodes_make(&memory, f, faults, &choice, &nodes, ERR));
	job.n_nodes = nodes.n;
	FAILS(fab_fence_setup_init(&setup, test_fence("bruck"), &job, &nodes, r, ERR),
	      -EHOSTUNREACH, "no path from '");
	job.n_nodes = 3;
	FAILS(fab_fence_setup_init(&setup, test_fence("bruck"), &job, &nodes, r, ERR),
	      -EINVAL, "");
}

/* Times of a ring of the nodes; *factor: of the cable that most messages share. */
static struct fab_fence_time ring_time(const struct fab_fence_job *job,
				       const struct fab_launch_nodes *nodes,
				       const struct fab_routes *r, double *factor)
{
	const struct fab_fence_sim_options options = {0};
	FAB_AUTO(fab_fence_setup_fini) struct fab_fence_setup ring;
	struct fab_fence_time time;

	MUST(fab_fence_setup_init(&ring, test_fence("ring"), job, nodes, r, ERR));
	MUST(fab_fence_setup_time(&ring, job->bytes, &options, &time, ERR));
	*factor = ring.load.factor;
	return time;
}

/* Rails are other ports of the same hosts; a message is split over them. */
Test(nodes, rails_share_messages)
{
	OWN(fab_fabric) *f = test_gen("kfat:dims=3x3,hosts=2,rails=2");
	struct fab_launch_nodes one = make(f, "fabric", 1), two = make(f, "fabric", 2);
	struct fab_fence_job job = test_fence_job(two.n, two.sw, 100000);
	double formula = (two.n - 1) * (3.5 + 1e5 * (0.05 + 0.1) / 1e3), factor;
	struct fab_fence_time even, slow, single;
	OWN(fab_routes) *r = test_tables(f, NULL, "minhop", 2);

	cr_assert_eq(one.next, NULL);
	cr_assert(two.next != NULL && two.next->next == NULL);
	for (uint32_t i = 0; i < two.n; i++) {
		cr_assert(two.next->host[i] == two.host[i] && two.port[i] == one.port[i]);
		cr_assert_neq(two.next->port[i], two.port[i]);
		cr_assert_eq(two.next->sw[i], fab_port_switch(f, two.next->port[i]));
	}
	single = ring_time(&job, &one, r, &factor);
	even = ring_time(&job, &two, r, &factor);
	cr_assert_float_eq(even.model_us, formula, 1e-6);
	cr_assert_lt(even.contended_us, single.contended_us);
	cr_assert_lt(even.simulated_us, single.simulated_us);
	cr_assert_geq(even.contended_us, even.model_us - 1e-6);
	/* the second rail of one node is slow: all wait for it */
	f->port_speed[two.next->port[3]] = FAB_SDR;
	slow = ring_time(&job, &two, r, &factor);
	cr_assert_gt(slow.contended_us, 1.5 * even.contended_us);
	cr_assert_gt(slow.simulated_us, 1.2 * even.simulated_us);
	cr_assert_float_eq(slow.model_us, even.model_us, 1e-6);
}
