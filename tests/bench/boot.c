/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Seconds for a machine of a million nodes and 5000 servers (every mapping, equal shares,
 * max-min transfers of nodes that start together and one after the other), and peak
 * memory.
 */
#include "bench.h"

#include "boot/mapping.h"
#include "boot/transfer.h"

static const char large[] = "cabinet=125@400G,board=500@10G,cpu=16@1G/"
			    "cascade=50@200G,server=100@10G";

static void measure(const struct fab_machine *m, const struct fab_batch *batch,
		    const struct fab_mapping_engine *e)
{
	const struct fab_transfer_options options = {.image_bytes = 50000000,
						     .n_files = 1};
	const struct fab_mapping_problem problem = {
		.m = m, .batch = batch, .argument = 1};
	FAB_AUTOFREE uint32_t *of = FAB_NEW(m->n_nodes, uint32_t);
	double start = fab_now(), map, share_time, transfer_time, least;
	FAB_AUTO(fab_transfer_fini) struct fab_transfer transfer = {0};
	struct fab_share share = {0};

	MUST(e->map, &problem, of);
	map = fab_now() - start;
	start = fab_now();
	MUST(fab_share_of, m, batch, of, &share);
	share_time = fab_now() - start;
	least = bench_peak_mib();
	start = fab_now();
	MUST(fab_transfer_run, m, batch, of, &options, &transfer);
	transfer_time = fab_now() - start;
	printf("%-10s %10.3f %10.3f %10.3f %8llu %10.2f %10.2f %8.0f %8.0f\n", e->form,
	       map, share_time, transfer_time, (unsigned long long)transfer.n_events,
	       400 / share.bandwidth_mbps, transfer.last_s, least, bench_peak_mib());
}

/* Nodes that start one after the other: two events a node. */
static void stagger(const char *spec, double seconds)
{
	const struct fab_transfer_options options = {
		.image_bytes = 50000000, .n_files = 1, .stagger_seconds = seconds};
	FAB_AUTO(fab_machine_free_at) struct fab_machine *m = NULL;
	FAB_AUTO(fab_batch_fini) struct fab_batch all = {0};

	MUST(fab_machine_parse, spec, &m);
	MUST(fab_batch_parse, m, "all", &all);
	printf("%.60s: %u nodes, one every %g us:", spec, m->n_nodes, seconds * 1e6);
	for (size_t i = 0; i < fab_mapping_n_engines; i++) {
		const struct fab_mapping_engine *e = &fab_mapping_engines[i];
		const struct fab_mapping_problem problem = {.m = m, .batch = &all};
		FAB_AUTOFREE uint32_t *of = FAB_NEW(m->n_nodes, uint32_t);
		struct fab_transfer transfer;
		double start;

		if (!e->is_in_all)
			continue;
		MUST(e->map, &problem, of);
		start = fab_now();
		MUST(fab_transfer_run, m, &all, of, &options, &transfer);
		printf(" %s %.3f s", e->form, fab_now() - start);
		fab_transfer_fini(&transfer);
	}
	printf("\n");
}

int main(void)
{
	double start = fab_now();
	FAB_AUTO(fab_machine_free_at) struct fab_machine *m = NULL;
	FAB_AUTO(fab_batch_fini) struct fab_batch all = {0};

	MUST(fab_machine_parse, large, &m);
	MUST(fab_batch_parse, m, "all", &all);
	printf("%u nodes, %u servers, made in %.3f s\n", m->n_nodes, m->n_servers,
	       fab_now() - start);
	printf("%-10s %10s %10s %10s %8s %10s %10s %8s %8s\n", "mapping", "map_s",
	       "share_s", "max_min_s", "events", "equal_s", "last_s", "map_MiB", "MiB");
	stagger("preset:taihulight", 1e-3);
	stagger("node=1000000@1G/server=160@10G", 1e-5);
	for (size_t i = 0; i < fab_mapping_n_engines; i++)
		if (!fab_mapping_engines[i].needs_loaded)
			measure(m, &all, &fab_mapping_engines[i]);
	return 0;
}
