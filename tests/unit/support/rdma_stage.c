/* SPDX-License-Identifier: BSD-2-Clause */
#include "support/rdma_stage.h"
#include "support/test.h"
#include "unicast/engine.h"

void rdma_stage_open(struct rdma_stage *st, const char *spec, const char *engine,
		     const struct fab_rdma_transfer *transfer, uint32_t n)
{
	struct fab_unicast_problem up = {.max_vls = 15, .n_threads = 1};

	*st = (struct rdma_stage){.f = test_gen_raw(spec), .params = fab_rdma_defaults()};
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

void rdma_stage_one(struct rdma_stage *st, const char *spec, const char *engine,
		    uint32_t target, uint32_t mtu, uint32_t packets)
{
	rdma_stage_open(st, spec, engine, &st->one, 1);
	st->one.target = target;
	st->one.bytes = (uint64_t)packets * mtu;
	st->params.mtu = mtu;
}

void rdma_stage_net(struct rdma_stage *st)
{
	fab_rdma_net_free(st->net);
	MUST(fab_rdma_net_new(&st->problem, &st->params, &st->net, ERR));
}

void rdma_stage_close(struct rdma_stage *st)
{
	fab_rdma_net_free(st->net);
	fab_routes_free(st->routes);
	fab_flow_ends_fini(&st->ends);
	fab_fabric_free(st->f);
}

static const struct fab_rdma_scheme *rdma_scheme(const char *name)
{
	uint32_t i = fab_choices_find(&fab_rdma_scheme_choices, name, strlen(name));

	cr_assert_neq(i, FAB_NONE);
	return fab_rdma_schemes[i];
}

struct fab_rdma_result rdma_try(struct rdma_stage *st, const char *scheme)
{
	struct fab_rdma_result r;

	if (!st->net)
		rdma_stage_net(st);
	MUST(fab_rdma_run(st->net, &st->params, rdma_scheme(scheme), &r, ERR));
	return r;
}

struct fab_rdma_result rdma_run(struct rdma_stage *st, const char *scheme)
{
	struct fab_rdma_result r = rdma_try(st, scheme);

	cr_assert(r.n_done == r.n_transfers && r.n_hung == 0 && r.n_wrong == 0,
		  "%s, seed %lu: %u done, %u hang, to %lu ps, %u wrong", scheme,
		  st->params.seed, r.n_done, r.n_hung, r.end_ps, r.n_wrong);
	return r;
}

struct fab_rdma_result rdma_run_twice(struct rdma_stage *st, const char *scheme)
{
	struct fab_rdma_result a = rdma_run(st, scheme), b;

	st->params.by_heap = true;
	b = rdma_run(st, scheme);
	st->params.by_heap = false;
	cr_assert(a.end_ps == b.end_ps && a.events == b.events &&
		  a.packet_hops == b.packet_hops);
	cr_assert_eq(memcmp(&a.n, &b.n, sizeof(a.n)), 0);
	cr_assert_eq(memcmp(&a.reorder, &b.reorder, sizeof(a.reorder)), 0);
	for (uint32_t i = 0; i < a.n_transfers; i++)
		cr_assert_eq(a.fate[i].done_ps, b.fate[i].done_ps, "transfer %u", i);
	fab_rdma_result_fini(&b);
	return a;
}

struct fab_rdma_case rdma_case(struct rdma_stage *st, const char *scheme)
{
	if (!st->net)
		rdma_stage_net(st);
	return (struct fab_rdma_case){
		.net = st->net, .params = st->params, .scheme = rdma_scheme(scheme)};
}

void rdma_compare(const struct fab_rdma_case *cases, uint32_t n, uint32_t n_runs,
		  struct fab_rdma_summary *out)
{
	const struct fab_rdma_runs runs = {.of = cases, .n_cases = n, .n_runs = n_runs};

	memset(out, 0, n * sizeof(*out));
	MUST(fab_rdma_compare(&runs, out, ERR));
}

void rdma_end(struct fab_rdma_summary *sum, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		fab_rdma_summary_fini(&sum[i]);
}
