/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/mcfdbs.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/order.h"
#include "fabric/fabric.h"

#include <stdlib.h>

/* Entries as switch, MLID, port number from the top bits down. */
struct entries {
	FAB_VEC(uint64_t) list;
};

static void add(struct entries *e, const struct fab_fabric *f, uint32_t port,
		uint16_t mlid)
{
	FAB_PUSH(&e->list, (uint64_t)f->port_node[port] << 32 | (uint64_t)mlid << 16 |
				   f->port_num[port]);
}

static void add_group(struct entries *e, const struct fab_mcast_problem *problem,
		      const struct fab_forest *t, uint32_t group, uint16_t mlid)
{
	const struct fab_fabric *f = problem->f;
	const struct fab_groups *g = problem->groups;

	for (uint64_t i = t->first[group]; i < t->first[group + 1]; i++) {
		add(e, f, f->cable_a[t->cable[i]], mlid);
		add(e, f, f->cable_b[t->cable[i]], mlid);
	}
	for (uint64_t m = g->first[group]; m < g->first[group + 1]; m++) {
		uint32_t port = g->member[m];

		if (!fab_node_is_switch(f, f->port_node[port]))
			port = fab_port_peer(f, port);
		add(e, f, port, mlid);
	}
}

static void print(FILE *out, const struct fab_fabric *f, const uint64_t *v, size_t n)
{
	uint64_t sw = UINT64_MAX, row = UINT64_MAX;

	for (size_t i = 0; i < n; i++) {
		if (v[i] >> 16 != row && i)
			putc_unlocked('\n', out);
		if (v[i] >> 32 != sw) {
			sw = v[i] >> 32;
			fprintf(out, "\nSwitch 0x%016llx\nLID    : Out Port(s)\n",
				(unsigned long long)f->node_guid[sw]);
		}
		if (v[i] >> 16 != row) {
			row = v[i] >> 16;
			fprintf(out, "0x%04X :", (unsigned)(row & 0xffff));
		}
		fprintf(out, " 0x%03X ", (unsigned)(v[i] & 0xffff));
	}
	if (n)
		putc_unlocked('\n', out);
}

int fab_export_mcfdbs(FILE *out, const struct fab_mcast_problem *problem,
		      const struct fab_mcast_result *result, const uint16_t *mlid,
		      struct fab_err *err)
{
	int rc = fab_guids_differ(problem->f, problem->f->n_switches, "multicast tables",
				  err);
	struct entries e = {0};

	if (rc)
		return rc;
	for (uint32_t i = 0; i < problem->groups->n; i++)
		if (fab_group_size(problem->groups, i) > 1)
			add_group(&e, problem, &result->forest, i, mlid[i]);
	if (e.list.n)
		qsort(e.list.v, e.list.n, sizeof(*e.list.v), fab_cmp_u64);
	print(out, problem->f, e.list.v, e.list.n);
	free(e.list.v);
	return 0;
}
