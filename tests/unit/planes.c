/* SPDX-License-Identifier: BSD-2-Clause */
#include "boot/machine.h"
#include "mcast/groups.h"
#include "support/test.h"

/* A switch a plane, host h on ports h+1; each host has one adapter, port by plane. */
static struct plan dual_port(uint32_t planes, uint32_t hosts)
{
	struct plan plan = {0};

	plan_switches(&plan, planes, "s", 64);
	for (uint32_t h = 0; h < hosts; h++) {
		uint32_t a = plan_host(&plan, 0, "n%u HCA-1", h + 1);

		for (uint32_t i = 1; i < planes; i++)
			plan_join(&plan, i, a);
	}
	return plan;
}

/* Ports of one adapter join nothing. Half of the hosts of the largest make a plane, fewer
 * do not. */
Test(planes, half_of_the_hosts_make_a_plane)
{
	for (uint32_t lost = 0; lost <= 3; lost++) {
		struct plan plan = dual_port(2, 4);
		OWN(fab_fabric) *f = NULL;
		OWN(fab_planes) *p = NULL;
		char text[FAB_PLANE_TEXT_SIZE];
		bool is_plane = lost <= 2;

		for (uint32_t h = 0; h < lost; h++)
			plan.cables.v[2 * h].is_gone = true; /* to s1 */
		f = plan_end(&plan);
		p = fab_planes_new(f);
		cr_assert_eq(p->n, 2);
		cr_assert_eq(p->n_planes, is_plane ? 2 : 1);
		for (uint32_t s = 0; s < 2; s++) {
			const struct fab_plane *x = &p->v[p->of_switch[s]];
			uint32_t n = s ? 4 : 4 - lost;

			cr_assert_eq(x->is_plane, s || is_plane);
			cr_assert(x->n_hosts == n && x->n_host_links == n);
			cr_assert(s || x->n_shared == n);
		}
		cr_assert_eq(fab_planes_are_parallel(p, 0, 1), is_plane);
		cr_assert_not(fab_planes_are_parallel(p, 1, 1));
		cr_assert_str_eq(fab_plane_text(p, 1, text),
				 is_plane ? "plane 2" : "part 2");
	}
}

static int read_groups(const struct fab_fabric *f, const char *text,
		       struct fab_groups **g, struct fab_err *err)
{
	struct fab_groups_builder *b = fab_groups_builder_new(f);
	int rc = fab_groups_read(b, "g", text, strlen(text), false, err);

	if (!rc)
		return fab_groups_builder_finish(b, false, g, err);
	fab_groups_builder_free(b);
	return rc;
}

/* Named by host or adapter, members move to a plane that has them all. */
Test(planes, members_meet_on_a_plane)
{
	OWN(plan) plan = dual_port(2, 4);
	OWN(fab_fabric) *f = NULL;
	struct fab_groups *g;
	char text[128];

	plan.cables.v[0].is_gone = true; /* n1 to s1 */
	f = plan_build(&plan, 0);
	MUST(read_groups(f, "a: n2 n1 n3\nb: \"n1 HCA-1\" \"n2 HCA-1\" n2\nc: n3 n2\n",
			 &g, ERR));
	for (uint32_t i = 0; i < 3; i++) {
		cr_assert_eq(fab_group_n_switches(g, i), 1);
		cr_assert_eq(g->sw[g->sw_first[i]], i < 2 ? 1 : 0);
	}
	cr_assert(fab_group_size(g, 0) == 3 && fab_group_size(g, 1) == 2);
	fab_groups_free(g);
	/* ports stay where they are */
	snprintf(text, sizeof(text), "d: n1 lid:%u", f->port_lid[fab_port_find(f, 3, 1)]);
	FAILS_AS(read_groups(f, text, &g, ERR), -EINVAL,
		 "g:1: group \"d\": no path from \"n1 HCA-1\" (plane 2) to \"n2 "
		 "HCA-1\" (plane 1): adapters do not forward; --hca=PATTERN "
		 "chooses one plane");
}

/* All nodes and servers boot over one plane: that which most can use. */
Test(planes, machines_have_one_plane)
{
	const char *const servers[] = {"n4"};
	const struct fab_machine_servers s = {servers, 1, 0};
	OWN(plan) plan = dual_port(2, 4);
	struct fab_machine *m;
	OWN(fab_fabric) *f = NULL;

	plan.cables.v[0].is_gone = true; /* n1 to s1 */
	f = plan_build(&plan, 0);
	MUST(fab_machine_of_fabric(f, &s, &m, ERR));
	cr_assert(m->n_nodes == 3 && m->n_interfaces == 1);
	cr_assert_eq(fab_port_switch(f, m->interface_port[0]), 1);
	for (uint32_t i = 0; i < m->n_nodes; i++)
		cr_assert_eq(fab_port_switch(f, m->node_port[i]), 1);
	fab_machine_free(m);
	fab_fabric_free(f);
	/* n2 is on the first plane only: now there is none for all */
	plan.cables.v[3].is_gone = true;
	f = plan_build(&plan, 0);
	FAILS_AS(fab_machine_of_fabric(f, &s, &m, ERR), -EINVAL,
		 "node 'n1' has no path to any server: it is on plane 2, server "
		 "'n4' on plane 1; --hca=PATTERN chooses one plane");
}
