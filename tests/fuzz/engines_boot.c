/* SPDX-License-Identifier: BSD-2-Clause */
/* What fabric-bootplan does with a fabric: servers by chance, every mapping, times. */
#include "boot/advice.h"
#include "boot/mapping.h"
#include "boot/relay.h"
#include "boot/share.h"
#include "boot/transfer.h"
#include "engines.h"
#include "export/boot.h"

#include <inttypes.h>
#include <math.h>

enum { SERVERS_MAX = 3, ROUNDING = 1000000 };

/* Hosts that are servers by the GUID of an adapter; NULL: no such machine. */
static struct fab_machine *draw_machine(const struct fab_fabric *f, struct fuzz_draw *d)
{
	char text[SERVERS_MAX][20];
	const char *patterns[SERVERS_MAX];
	struct fab_machine_servers servers = {.patterns = patterns,
					      .n = 1 + fuzz_below(d, SERVERS_MAX),
					      .default_mbps = 1000};
	struct fab_machine *m = NULL;

	if (!f->n_hosts)
		return NULL;
	for (size_t i = 0; i < servers.n; i++) {
		uint32_t host = fuzz_below(d, f->n_hosts);
		uint32_t adapter = f->host_adapter[f->host_first_adapter[host]];

		snprintf(text[i], sizeof(text[i]), "0x%016" PRIx64,
			 f->node_guid[adapter]);
		patterns[i] = text[i];
	}
	return is_refused(fab_machine_of_fabric(f, &servers, &m, ERR)) ? NULL : m;
}

static void configure(const struct fab_machine *m, const struct fab_batch *batch,
		      const uint32_t *interface_of)
{
	FAB_AUTO(fab_subnets_fini) struct fab_subnets subnets = {0};
	struct fab_ip_network four, six;
	const struct fab_boot_site site = {.kernel = "http://{server}/vmlinuz",
					   .subnets = &subnets};
	FAB_AUTO(fuzz_file_fini) struct fuzz_file file = {0};
	const struct fab_boot_target target = {.out = fuzz_open(&file)};

	OK(fab_ip_network_parse("10.0.0.0/8", &four, ERR));
	OK(fab_ip_network_parse("fd00::/64", &six, ERR));
	fab_subnets_add(&subnets, NULL, &four);
	fab_subnets_add(&subnets, NULL, &six);
	for (int format = 0; format < FAB_BOOT_TEMPLATE; format++) {
		FAB_AUTO(fab_boot_written_fini) struct fab_boot_written written;

		is_refused(fab_export_boot(&target, (enum fab_boot_format)format, m,
					   batch, interface_of, &site, &written, ERR));
	}
	fclose(file.out);
}

static void measure(const struct fab_machine *m, const struct fab_batch *batch,
		    const uint32_t *interface_of)
{
	const struct fab_transfer_options options = {.image_bytes = 1000000,
						     .n_files = 2};
	FAB_AUTO(fab_relay_fini) struct fab_relay relay = {0};
	FAB_AUTO(fab_transfer_fini) struct fab_transfer t = {0};
	double plain = fab_share_slowest_brute(m, batch, interface_of);
	struct fab_share share;

	OK(fab_share_of(m, batch, interface_of, &share, ERR));
	MUST((isinf(share.bandwidth_mbps) && isinf(plain)) ||
	     fabs(share.bandwidth_mbps - plain) <= fabs(plain) / ROUNDING);
	MUST(share.bandwidth_mbps <=
	     fab_mapping_upper_bound_mbps(m, batch) * (1 + 1.0 / ROUNDING));
	OK(fab_transfer_run(m, batch, interface_of, &options, &t, ERR));
	MUST(t.first_s <= t.median_s && t.median_s <= t.last_s);
	for (int way = FAB_RELAY_CHAIN; way <= FAB_RELAY_DOUBLING; way++) {
		fab_relay_fini(&relay);
		MUST(fab_relay_best(m, batch, (enum fab_relay_way)way, 8, 1, &relay) >=
			     0 &&
		     relay.n == batch->n);
	}
}

static void map_all(const struct fab_machine *m, const struct fab_batch *batch)
{
	FAB_AUTOFREE uint32_t *of = FAB_NEW((size_t)m->n_nodes + 1, uint32_t);
	FAB_AUTOFREE uint32_t *piece = fuzz_pieces(m->fabric);
	struct fab_mapping_problem problem = {
		.m = m, .batch = batch, .argument = 2, .seed = 1};

	for (size_t i = 0; i < fab_mapping_n_engines; i++) {
		const struct fab_mapping_engine *e = &fab_mapping_engines[i];

		fuzz_who = e->form;
		if (e->needs_loaded || is_refused(e->map(&problem, of, ERR)))
			continue;
		OK(fab_mapping_verify(m, batch, of, ERR));
		/* every node is on one piece with what it boots from */
		for (uint32_t n = 0; n < m->n_nodes; n++)
			MUST(piece[fab_port_switch(m->fabric,
						   m->interface_port[of[n]])] ==
			     piece[fab_port_switch(m->fabric, m->node_port[n])]);
		measure(m, batch, of);
		configure(m, batch, of);
	}
}

static void advise(const struct fab_machine *m, const struct fab_batch *batch)
{
	const struct fab_transfer_options options = {.image_bytes = 1000000,
						     .n_files = 1};
	struct fab_advice advice[FAB_ADVICE_MAX];
	struct fab_machine limited = *m;
	struct fab_mapping_problem problem = {.m = &limited, .batch = batch};
	struct fab_servers_needed needed;
	uint32_t n;

	limited.limits = (struct fab_limits){.disk_mbps = 900, .connections = 2};
	needed = fab_advice_servers(&limited, batch, &options, 0.01);
	MUST(needed.n - needed.n_new <= needed.n_up);
	OK(fab_advice_raise(&problem, &options, advice, &n, ERR));
	MUST(n <= FAB_ADVICE_MAX);
}

void fuzz_boot(const struct fab_fabric *f, struct fuzz_draw *d)
{
	static const char *const specs[] = {"all", "first:1", "first:3"};
	FAB_AUTO(fab_machine_free_at) struct fab_machine *m = draw_machine(f, d);
	FAB_AUTOFREE struct fab_batch *batches = NULL;
	FAB_AUTO(fab_batch_fini) struct fab_batch batch = {0};
	uint32_t n = 0;
	char name[256];

	if (!m || is_refused(fab_batch_parse(m, specs[fuzz_below(d, 3)], &batch, ERR)))
		return;
	map_all(m, &batch);
	advise(m, &batch);
	if (!is_refused(fab_batch_sweep(m, NULL, 1, &batches, &n, ERR)))
		for (uint32_t i = 0; i < n; i++)
			fab_batch_fini(&batches[i]);
	fab_machine_server_name(m, fuzz_below(d, m->n_servers), name);
	/* a name may be a pattern of all */
	if (!is_refused(fab_machine_find(m, FAB_MACHINE_SERVERS, name, m->server_is_down,
					 NULL, ERR)) &&
	    memchr(m->server_is_down, false, m->n_servers))
		map_all(m, &batch);
}
