/* SPDX-License-Identifier: BSD-2-Clause */
/* Mappings that go round the servers, block by block, against plain counting. */
#include "boot/share.h"
#include "support/boots.h"
#include "support/test.h"

static const char *const machines[] = {
	"supernode=4@10Gbps,board=3@5Gbps,cpu=2@1Gbps,servers=5",
	"supernode=3,board=4@5Gbps,cpu=3@1Gbps/cascade=2@1Gbps,server=2@1Gbps",
	"supernode=3,board=4,cpu=3/cascade=2@1Gbps,server=2@1Gbps",
	"board=7@2Gbps,cpu=2,servers=3@1Gbps",
	"cpu=11@1Gbps,servers=4",
};

/* Its vertex on a level, or the vertex of the node itself when nothing is there. */
static uint32_t block_of(const struct fab_machine *m, uint32_t node, uint32_t level)
{
	uint32_t v = m->node_vertex[node];

	while (v != FAB_NONE && m->level_of[v] != level)
		v = m->parent[v];
	return v == FAB_NONE ? m->node_vertex[node] : v;
}

/* The k-th interface, around, of a server that is up. */
static uint32_t interface_at(const struct fab_machine *m, uint32_t k)
{
	uint32_t n = 0;

	for (;;)
		for (uint32_t i = 0; i < m->n_interfaces; i++)
			if (!m->server_is_down[m->interface_server[i]] && n++ == k)
				return i;
}

static void expect_blocks(const struct fab_machine *m, const char *name, uint32_t level,
			  uint32_t size)
{
	OWN(fab_batch) all = boots_batch(m, "all");
	uint32_t block = 0;
	FAB_AUTOFREE uint32_t *of = boots_map(m, name, &all);

	for (uint32_t i = 0; i < m->n_nodes; i++) {
		if (size)
			block = i / size;
		else
			block += i && block_of(m, i, level) != block_of(m, i - 1, level);
		cr_expect_eq(of[i], interface_at(m, block), "%s, %s: node %u to %u",
			     m->source, name, i, of[i]);
	}
}

/* The outermost level of nodes with a capacity that is not the nodes' own. */
static uint32_t supernodes(const struct fab_machine *m)
{
	uint32_t own = m->level_of[m->node_vertex[0]], best = own;

	for (uint32_t l = m->n_levels; l-- > 1;)
		if (l != own && !m->level[l].is_server && m->level[l].is_limited)
			best = l;
	return best;
}

static void expect_all(const struct fab_machine *m)
{
	expect_blocks(m, "scda", supernodes(m), 0);
	expect_blocks(m, "bcda", m->level_of[m->parent[m->node_vertex[0]]], 0);
	expect_blocks(m, "block:1", 0, 1);
	expect_blocks(m, "block:3", 0, 3);
	expect_blocks(m, "block:1000", 0, 1000);
}

/* Regular machines, with a server that is down, too; drawn ones; and one with three nodes
 * beside the racks: in front, between and behind, each a block of its own. */
Test(mappings, blocks_go_round_the_servers)
{
	OWN(fab_machine) *beside =
		boots_read("a - 1G node\nr1 - 10G\nb r1 1G node\nc r1 1G node\n"
			   "d - 1G node\nr2 - 10G\ne r2 1G node\nf r2 1G node\n"
			   "g - 1G node\ns1 - 1G server\ns2 - 1G server\n"
			   "s3 - 1G server\n");

	for (size_t i = 0; i < FAB_COUNT(machines); i++) {
		OWN(fab_machine) *m = boots_machine(machines[i]);
		char name[FAB_MACHINE_NAME_BYTES];

		expect_all(m);
		fab_machine_server_name(m, 1, name);
		boots_fail_server(m, name);
		expect_all(m);
	}
	for (uint64_t seed = 0; seed < 60; seed++) {
		OWN(fab_machine) *m = boots_random_machine(seed);

		expect_all(m);
	}
	expect_all(beside);
}

/* Servers that keep nodes get fewer of the others. */
Test(mappings, others_even_out)
{
	OWN(fab_machine) *m = boots_machine("cpu=8@1Gbps,servers=2@10Gbps");
	OWN(fab_batch) all = boots_batch(m, "all");

	for (uint32_t busy = 0; busy < 2; busy++) {
		uint32_t of[8] = {busy, busy, busy}, n = 0;

		memset(of + 3, 0xff, 5 * sizeof(*of));
		fab_mapping_complete(m, &all, of);
		for (uint32_t i = 0; i < 8; i++)
			n += of[i] == busy;
		cr_expect_eq(n, 4, "%u", n);
	}
}

/* For the loss of any one server no other second servers of its nodes are better. */
Test(mappings, second_servers)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		OWN(fab_machine) *m = boots_random_machine(seed);
		OWN(fab_batch) all = boots_batch(m, "all");
		FAB_AUTOFREE uint32_t *of =
			boots_map(m, seed & 1 ? "balanced" : "bcda", &all);
		FAB_AUTOFREE uint32_t *second = FAB_NEW(m->n_nodes, uint32_t);
		FAB_AUTOFREE uint32_t *after = FAB_NEW(m->n_nodes, uint32_t);
		struct fab_seconds seconds;
		double least = INFINITY;

		MUST(fab_mapping_seconds(m, &all, of, second, &seconds, ERR));
		for (uint32_t s = 0; s < m->n_servers; s++) {
			double best, mbps;
			bool serves = false;

			m->server_is_down[s] = true;
			for (uint32_t i = 0; i < m->n_nodes; i++) {
				bool is_lost = m->interface_server[of[i]] == s;

				serves |= is_lost;
				after[i] = is_lost ? FAB_NONE : of[i];
				cr_expect_neq(second[i], of[i]);
			}
			best = boots_best(m, &all, after, 0);
			for (uint32_t i = 0; i < m->n_nodes; i++)
				after[i] = after[i] == FAB_NONE ? second[i] : of[i];
			MUST(fab_mapping_verify(m, &all, after, ERR));
			mbps = fab_share_slowest_brute(m, &all, after);
			cr_expect(fabs(mbps - best) <= 1e-9 * best, "seed %llu: %g, %g",
				  (unsigned long long)seed, mbps, best);
			if (serves)
				least = fmin(least, mbps);
			m->server_is_down[s] = false;
		}
		cr_expect(fabs(seconds.bandwidth_mbps - least) <= 1e-9 * least);
		cr_expect(seconds.bound_mbps >= least * (1 - 1e-9));
	}
}

/* A mapping on a server that is down, or on none, is no mapping. */
Test(mappings, verify_knows_servers_that_are_down)
{
	OWN(fab_machine) *m = boots_machine("board=4,cpu=2,servers=3@1Gbps");
	OWN(fab_batch) all = boots_batch(m, "all");
	FAB_AUTOFREE uint32_t *of = boots_map(m, "scda", &all);

	MUST(fab_mapping_verify(m, &all, of, ERR));
	m->server_is_down[m->interface_server[of[1]]] = true;
	FAILS(fab_mapping_verify(m, &all, of, ERR), -EINVAL, "a server that is down");
	m->server_is_down[m->interface_server[of[1]]] = false;
	of[2] = FAB_NONE;
	FAILS(fab_mapping_verify(m, &all, of, ERR), -EINVAL, "no server");
}
