/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/rdma_stage.h"
#include "source/source.h"
#include "support/test.h"
#include "unicast/engine.h"

void rdma_stage_open(struct rdma_stage *st, const char *spec, const char *engine,
		     const struct fab_rdma_transfer *transfer, uint32_t n)
{
	struct fab_unicast_problem up = {.max_vls = 15, .n_threads = 1};

	*st = (struct rdma_stage){.params = fab_rdma_defaults()};
	MUST(fab_source_open(spec, NULL, &st->f, ERR));
	fab_flow_ends_init(&st->ends, st->f, NULL, NULL);
	up.f = st->f;
	MUST(fab_unicast_route(fab_unicast_engine_find(engine, strlen(engine)), &up,
			       &st->routes, ERR));
	st->problem = (struct fab_rdma_problem){.f = st->f,
						.ends = &st->ends,
						.routes = st->routes,
						.transfer = transfer,
						.n_transfers = n};
	st->params.all_rates = true;
}

void rdma_stage_net(struct rdma_stage *st)
{
	MUST(fab_rdma_net_new(&st->problem, &st->params, &st->net, ERR));
}

void rdma_stage_close(struct rdma_stage *st)
{
	fab_rdma_net_free(st->net);
	fab_routes_free(st->routes);
	fab_flow_ends_fini(&st->ends);
	fab_fabric_free(st->f);
}

const struct fab_rdma_scheme *rdma_scheme(const char *name)
{
	uint32_t i = fab_choices_find(&fab_rdma_scheme_choices, name, strlen(name));

	cr_assert_neq(i, FAB_NONE);
	return fab_rdma_schemes[i];
}

struct fab_rdma_result rdma_stage_run(const struct rdma_stage *st,
				      const struct fab_rdma_scheme *s)
{
	struct fab_rdma_result r;

	MUST(fab_rdma_run(st->net, &st->params, s, &r, ERR));
	return r;
}

void rdma_assert_same(const struct fab_rdma_result *a, const struct fab_rdma_result *b)
{
	cr_assert_eq(a->n_done, b->n_done);
	cr_assert_eq(a->end_ps, b->end_ps);
	cr_assert_eq(a->events, b->events);
	cr_assert_eq(a->packet_hops, b->packet_hops);
	cr_assert_eq(memcmp(&a->n, &b->n, sizeof(a->n)), 0);
	cr_assert_eq(memcmp(&a->reorder, &b->reorder, sizeof(a->reorder)), 0);
	for (uint32_t i = 0; i < a->n_transfers; i++)
		cr_assert_eq(a->fate[i].done_ps, b->fate[i].done_ps, "transfer %u", i);
}
