/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is dead and who sends to whom, by files, and kfats of any shape. The first byte of
 * an input says which: F a file of faults, P a file of flows; else the bytes are a
 * fabric: how many switches, which have hosts, two bytes a cable, and what dies. What is
 * recognised as a kfat is routed by every algorithm, analysed, and analysed a second
 * time.
 */
#include "engines.h"
#include "small.h"

#include <sys/mman.h>
#include <unistd.h>

enum { SWITCHES_MAX = 24, CABLES_MAX = 60, PORTS = 64 };

static void try_faults(const char *spec)
{
	struct fab_fabric *f = fuzz_small_fabric();
	FAB_AUTO(fab_faults_free_at) struct fab_faults *faults = fab_faults_new(f);

	(void)is_refused(fab_faults_add_file(faults, spec + strlen("file:"), ERR));
	NEVER(faults->named.n > (size_t)f->n_switches + f->n_cables);
	fab_faults_clear(faults);
	for (uint32_t c = 0; c < f->n_cables; c++)
		NEVER(faults->cable_is_dead[c]);
}

static void try_flows(const char *spec)
{
	struct fab_fabric *f = fuzz_small_fabric();
	FAB_AUTO(fab_flow_ends_fini) struct fab_flow_ends ends;
	const struct fab_permutation_problem problem = {f, NULL, &ends, 1};
	FAB_AUTOFREE uint32_t *to = NULL;

	fab_flow_ends_init(&ends, f, NULL, NULL);
	if (!is_refused(fab_permutation_make(spec, &problem, &to, ERR)))
		for (uint32_t i = 0; i < ends.n; i++)
			NEVER(to[i] != FAB_NONE && to[i] >= ends.n);
}

/* The bytes in a file, which `try` gets as file:PATH. */
static void with_file(const uint8_t *bytes, size_t n, void (*try)(const char *spec))
{
	int fd = memfd_create("fuzz", 0);
	FAB_AUTOFREE char *spec = fab_format("file:/dev/fd/%d", fd);

	NEVER(fd < 0 || write(fd, bytes, n) != (ssize_t)n);
	try(spec);
	close(fd);
}

/* The bytes as a fabric; NULL where they are none. */
static struct fab_fabric *make_fabric(const uint8_t *bytes, size_t n, size_t *used)
{
	struct fab_builder *b = fab_builder_new();
	uint32_t n_switches = 2 + bytes[0] % (SWITCHES_MAX - 1);
	uint32_t hosts = bytes[1] | (uint32_t)bytes[2] << 8 | (uint32_t)bytes[3] << 16;
	uint16_t port[SWITCHES_MAX + 1] = {0};
	struct fab_fabric *f = NULL;
	size_t n_cables = bytes[4] % (CABLES_MAX + 1);

	for (uint32_t i = 0; i < n_switches; i++)
		fuzz_add(b, FAB_SWITCH, i + 1, PORTS, "s");
	for (uint32_t i = 0; i < n_switches; i++)
		if (hosts >> i % 24 & 1)
			fab_builder_add_cable(b,
					      fuzz_add(b, FAB_ADAPTER, 1000 + i, 2, "h"),
					      1, i, ++port[i], 4, FAB_HDR);
	*used = 5;
	for (size_t c = 0; c < n_cables && *used + 2 <= n; c++, *used += 2) {
		uint32_t u = bytes[*used] % n_switches, v = bytes[*used + 1] % n_switches;

		if (port[u] + 2 < PORTS && port[v] + 2 < PORTS) {
			uint16_t from = ++port[u];

			fab_builder_add_cable(b, u, from, v, ++port[v], 4, FAB_HDR);
		}
	}
	return fab_builder_finish(b, "fuzz", "generated", NULL, &f, NULL) ? NULL : f;
}

static void expect_sound(const struct fab_unicast_problem *problem,
			 const struct fab_unicast_engine *engine)
{
	const struct fab_analysis_options options = {.ends = FAB_ENDS_LEAVES,
						     .n_threads = 1};
	bool is_ours = engine == &fab_unicast_vtftr_ib;
	FAB_AUTO(fab_routes_free_at) struct fab_routes *r = NULL;
	FAB_AUTO(fab_analysis_fini) struct fab_analysis j = {0};

	if (is_refused(fab_unicast_route(engine, problem, &r, ERR)))
		return;
	OK(fab_analyse(r, &options, &j, ERR));
	OK(fab_unicast_verify(r, FAB_ENDS_LEAVES, &j, ERR));
	NEVER((is_ours || engine == &fab_unicast_xy || engine == &fab_unicast_vtftr) &&
	      !j.deadlock_free);
	NEVER(is_ours && !r->note &&
	      (j.connected != j.connected_in_graph || j.minimal != j.connected ||
	       j.vls > problem->max_vls));
}

static void try_fabric(const uint8_t *bytes, size_t n)
{
	size_t used;
	FAB_AUTO(fab_faults_free_at) struct fab_faults *faults = NULL;
	FAB_AUTO(fab_fabric_free_at) struct fab_fabric *f = make_fabric(bytes, n, &used);
	FAB_AUTO(fab_kfat_free_at) struct fab_kfat *k = NULL;

	if (!f || is_refused(fab_kfat_recognize(f, &k, ERR)))
		return;
	faults = fab_faults_new(f);
	for (; used + 1 < n; used += 2)
		if (bytes[used] & 1)
			fab_faults_kill_switch(faults, bytes[used + 1] % f->n_switches);
		else if (f->n_switch_links)
			fab_faults_kill_cable(faults,
					      bytes[used + 1] % f->n_switch_links);
	for (size_t i = 0; i < fab_unicast_n_engines; i++)
		expect_sound(&(struct fab_unicast_problem){.f = f,
							   .faults = faults,
							   .kfat = k,
							   .max_vls = 1 + bytes[0] % 3,
							   .n_threads = 1},
			     fab_unicast_engines[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	if (n && (bytes[0] == 'F' || bytes[0] == 'P'))
		with_file(bytes + 1, n - 1, bytes[0] == 'F' ? try_faults : try_flows);
	else if (n >= 6)
		try_fabric(bytes, n);
	return 0;
}
