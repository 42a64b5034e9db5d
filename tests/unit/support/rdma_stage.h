/* SPDX-License-Identifier: BSD-2-Clause */
/* Fabrics, tables and transfers for tests of reliability schemes. */
#pragma once

#include "rdma/choice.h"
#include "support/own.h"

/* A fabric with tables, and transfers over it. */
struct rdma_stage {
	struct fab_fabric *f;
	struct fab_flow_ends ends;
	struct fab_routes *routes;
	struct fab_rdma_transfer one;
	struct fab_rdma_problem problem;
	struct fab_rdma_params params;
	struct fab_rdma_net *net; /* made by the first run */
};

/* All of these end in a failed test if anything does not work. */

/* A generated fabric; all rates are 100 Gbit/s. */
void rdma_stage_open(struct rdma_stage *st, const char *spec, const char *engine,
		     const struct fab_rdma_transfer *transfer, uint32_t n);
/* st->one alone, from endpoint 0 to another one, in full packets of `mtu` bytes. */
void rdma_stage_one(struct rdma_stage *st, const char *spec, const char *engine,
		    uint32_t target, uint32_t mtu, uint32_t packets);
/* Makes the network, anew if there is one, by st->params now. */
void rdma_stage_net(struct rdma_stage *st);
void rdma_stage_close(struct rdma_stage *st);

/* Whatever comes out. */
struct fab_rdma_result rdma_try(struct rdma_stage *st, const char *scheme);
/* All transfers are done, with the right bytes. */
struct fab_rdma_result rdma_run(struct rdma_stage *st, const char *scheme);
/* As rdma_run(); a run by heap is the same but for seconds and bytes of memory. */
struct fab_rdma_result rdma_run_twice(struct rdma_stage *st, const char *scheme);

/* Of st->params now, compared with case 0. */
struct fab_rdma_case rdma_case(struct rdma_stage *st, const char *scheme);
/* So many runs of each of n cases, which rdma_end() ends. */
void rdma_compare(const struct fab_rdma_case *cases, uint32_t n, uint32_t n_runs,
		  struct fab_rdma_summary *out);
void rdma_end(struct fab_rdma_summary *sum, uint32_t n);

OWN_VALUE(rdma_stage, rdma_stage_close)
OWN_VALUE(fab_rdma_result, fab_rdma_result_fini)
OWN_VALUE(fab_rdma_summary, fab_rdma_summary_fini)
