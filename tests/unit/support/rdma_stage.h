/* SPDX-License-Identifier: BSD-2-Clause */
/* Fabrics, tables and transfers for tests of reliability schemes. */
#pragma once

#include "rdma/choice.h"

/* A fabric with tables, and transfers over it. */
struct rdma_stage {
	struct fab_fabric *f;
	struct fab_flow_ends ends;
	struct fab_routes *routes;
	struct fab_rdma_problem problem;
	struct fab_rdma_params params;
	struct fab_rdma_net *net;
};

/* All rates 100 Gbit/s; ends in a failed test if anything does not work. */
void rdma_stage_open(struct rdma_stage *st, const char *spec, const char *engine,
		     const struct fab_rdma_transfer *transfer, uint32_t n);
/* Of st->params. */
void rdma_stage_net(struct rdma_stage *st);
void rdma_stage_close(struct rdma_stage *st);
const struct fab_rdma_scheme *rdma_scheme(const char *name);
struct fab_rdma_result rdma_stage_run(const struct rdma_stage *st,
				      const struct fab_rdma_scheme *s);
/* Everything but seconds and bytes of memory. */
void rdma_assert_same(const struct fab_rdma_result *a, const struct fab_rdma_result *b);
