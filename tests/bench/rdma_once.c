/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exactly once, for long: more than 10^5 transfers under all schemes with loss to 20 %,
 * control loss to 5 %, packets held up for 10 windows, contexts and MSGIDs that are used
 * again at once; every byte of memory is compared. With an argument so many seeds.
 */
#include "bench.h"

#include "rdma/rdma.h"

enum { TRANSFERS = 96, SEEDS = 150, US = 1000000, PACKET_PS = 282 * 80 };

static void draw(struct fab_rdma_transfer *t, uint32_t n_ends, uint64_t seed)
{
	for (uint32_t i = 0; i < TRANSFERS; i++) {
		t[i] = (struct fab_rdma_transfer){
			.source = (uint32_t)((seed * 7 + i * 5) % n_ends),
			.bytes = 1 + (seed * 977 + i * 1931) % 9000,
			.is_read = (seed + i) % 4 == 0,
			.start_ps = i * UINT64_C(100000)};
		t[i].target = (uint32_t)((t[i].source + 1 + (seed + i * i) % 3) % n_ends);
	}
}

static struct fab_rdma_params params_of(uint64_t seed)
{
	struct fab_rdma_params p = fab_rdma_defaults();

	p.all_rates = true;
	p.mtu = 256;
	p.window = 1 + (uint32_t)(seed % 40);
	p.contexts = 1 + (uint32_t)(seed / 3 % 4);
	p.concurrency = (uint32_t)(seed / 5 % 4);
	p.retry = (enum fab_rdma_retry)(seed % 3);
	p.msgid_bits = 8 + (unsigned)(seed % 13);
	p.with_memory = true;
	p.rto_ps = 10 * US;
	p.retry_ps = 3 * US;
	p.rto_low_ps = p.rto_high_ps = 15 * US;
	p.plus = (unsigned)seed % (FAB_RDMA_PLUS + 1);
	p.bad.loss = 0.05 * (double)(seed % 5);
	p.bad.drop_control = 0.025 * (double)(seed / 2 % 3);
	p.bad.burst = seed % 7 == 0 ? 4 : 0;
	p.bad.delayed = 0.3;
	p.bad.delay_ps = (uint64_t)p.window * 10 * PACKET_PS;
	p.seed = seed;
	return p;
}

struct sums {
	uint64_t transfers, done, hung, wrong, zombies, lost, endless;
};

static void one(const struct fab_rdma_problem *problem, uint64_t seed, struct sums *sum)
{
	struct fab_rdma_params params = params_of(seed);
	struct fab_rdma_net *net;

	MUST(fab_rdma_net_new, problem, &params, &net);
	for (size_t i = 0; i < fab_rdma_n_schemes; i++) {
		FAB_AUTO(fab_rdma_result_fini) struct fab_rdma_result r = {0};

		/* 35 packets of which one in ten is lost or late: for ever */
		if (fab_rdma_schemes[i] == &fab_rdma_scheme_rc &&
		    (params.bad.loss > 0.05 || params.bad.delay_ps > 5 * US)) {
			sum->endless++;
			continue;
		}
		MUST(fab_rdma_run, net, &params, fab_rdma_schemes[i], &r);
		sum->transfers += r.n_transfers;
		sum->done += r.n_done;
		sum->hung += r.n_hung;
		sum->wrong += r.n_wrong;
		sum->zombies += r.n.zombies;
		for (int k = 0; k < FAB_RDMA_KINDS; k++)
			sum->lost += r.n.lost[k];
	}
	fab_rdma_net_free(net);
}

int main(int argc, char **argv)
{
	uint64_t seeds = argc > 1 ? strtoull(argv[1], NULL, 10) : SEEDS;
	struct fab_unicast_problem up = {.max_vls = 15, .n_threads = 1};
	struct fab_rdma_transfer t[TRANSFERS];
	struct sums sum = {0};
	FAB_AUTO(fab_flow_ends_fini) struct fab_flow_ends ends = {0};
	FAB_AUTO(fab_routes_free_at) struct fab_routes *routes = NULL;
	FAB_AUTO(fab_fabric_free_at)
	struct fab_fabric *f = bench_fabric("gen:mesh:dims=3x2,hosts=1");
	double begun = fab_now();

	up.f = f;
	fab_flow_ends_init(&ends, f, NULL, NULL);
	routes = bench_route(&up, "minhop");
	for (uint64_t seed = 0; seed < seeds; seed++) {
		struct fab_rdma_problem problem = {.f = f,
						   .ends = &ends,
						   .routes = routes,
						   .transfer = t,
						   .n_transfers = TRANSFERS};

		draw(t, ends.n, seed);
		one(&problem, seed, &sum);
	}
	printf("%llu transfers, %llu done, %llu hang, %llu with wrong bytes; %llu "
	       "packets "
	       "lost, %llu late ones for contexts of others; rc left out of %llu seeds; "
	       "%.1f s\n",
	       (unsigned long long)sum.transfers, (unsigned long long)sum.done,
	       (unsigned long long)sum.hung, (unsigned long long)sum.wrong,
	       (unsigned long long)sum.lost, (unsigned long long)sum.zombies,
	       (unsigned long long)sum.endless, fab_now() - begun);
	return sum.hung || sum.wrong;
}
