/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast tables: read, turned into groups, analysed. */
#include "mcast/tables.h"
#include "small.h"

enum { N_SWITCHES = 4, N_PORTS = 8 };

/* Switches 1 to 4 in a ring by ports 1 and 2, 1 to 2 twice, one self-loop; two adapters
 * on each but the last, by ports 5 and 6. */
static struct fab_fabric *small_fabric(void)
{
	struct fab_builder *b = fab_builder_new();
	struct fab_fabric *f = NULL;

	for (uint32_t i = 0; i < N_SWITCHES; i++)
		fuzz_add(b, FAB_SWITCH, i + 1, N_PORTS, "n");
	for (uint32_t i = 0; i < N_SWITCHES; i++)
		fab_builder_add_cable(b, i, 1, (i + 1) % N_SWITCHES, 2, 4, FAB_HDR);
	fab_builder_add_cable(b, 0, 3, 1, 3, 4, FAB_HDR);
	fab_builder_add_cable(b, 2, 3, 2, 4, 4, FAB_HDR);
	for (uint32_t i = 0; i + 1 < N_SWITCHES; i++)
		for (uint16_t p = 5; p <= 6; p++)
			fab_builder_add_cable(
				b, fuzz_add(b, FAB_ADAPTER, 16 * i + p, 1, "n"), 1, i, p,
				4, FAB_HDR);
	OK(fab_builder_finish(b, "test", "generated", NULL, &f, ERR));
	return f;
}

/* Loads and faults stay within what the groups and the fabric allow. */
static void analyse(const struct fab_fabric *f, const struct fab_groups *g,
		    const struct fab_mft *mft)
{
	FAB_AUTOFREE uint16_t *mlid = FAB_NEW(g->n, uint16_t);
	FAB_AUTO(fab_loaded_fini) struct fab_loaded loaded;

	NEVER(fab_groups_mlids(g, mlid, NULL));
	fab_loaded_of(f, g, mlid, mft, NULL, &loaded);
	NEVER(loaded.n_broken > g->n || loaded.broken.n < loaded.n_broken ||
	      loaded.max_height >= f->n_switches);
	for (uint32_t c = 0; c < f->n_switch_links; c++)
		NEVER(loaded.load[c] > g->n);
	for (size_t i = 0; i < loaded.broken.n; i++)
		NEVER(!loaded.broken.v[i].count || loaded.broken.v[i].group >= g->n ||
		      loaded.broken.v[i].sw >= f->n_switches);
}

static void try_one(const struct fab_fabric *f, const char *text, size_t n, bool lenient)
{
	FAB_AUTO(fab_groups_free_at) struct fab_groups *g = NULL;
	struct fab_groups_builder *b;
	struct fab_mft *mft;

	if (is_refused(fab_mcfdbs_read(f, "input", text, n, lenient, &mft, ERR)))
		return;
	for (uint64_t e = 0; e < mft->first[mft->n]; e++)
		NEVER(mft->sw[e] >= f->n_switches || mft->num[e] > N_PORTS);
	b = fab_groups_builder_new(f);
	fab_groups_add_mft(b, mft);
	if (!is_refused(fab_groups_builder_finish(b, lenient, &g, ERR)))
		analyse(f, g, mft);
	fab_mft_free(mft);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static struct fab_fabric *f;

	f = f ? f : small_fabric();
	fab_is_mcfdbs((const char *)bytes, n);
	for (int lenient = 0; lenient < 2; lenient++)
		try_one(f, (const char *)bytes, n, lenient);
	return 0;
}
