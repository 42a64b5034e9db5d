/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast tables: read, turned into groups, analysed. */
#include "fuzz.h"

#include "fabric/builder.h"
#include "mcast/tables.h"

#include <stdlib.h>
#include <string.h>

enum { N_SWITCHES = 4, N_PORTS = 8 };

static uint32_t add(struct fab_builder *b, enum fab_node_kind kind, uint64_t guid)
{
	struct fab_node_spec spec = {.kind = kind,
				     .guid = guid,
				     .n_ports = kind == FAB_SWITCH ? N_PORTS : 1,
				     .name = "n",
				     .name_len = 1};

	return fab_builder_add_node(b, &spec);
}

/* Switches 1 to 4 in a ring by ports 1 and 2, 1 to 2 twice, one self-loop; two adapters
 * on each but the last, by ports 5 and 6. */
static struct fab_fabric *small_fabric(void)
{
	struct fab_builder *b = fab_builder_new();
	struct fab_fabric *f = NULL;
	uint32_t sw[N_SWITCHES];

	for (uint32_t i = 0; i < N_SWITCHES; i++)
		sw[i] = add(b, FAB_SWITCH, i + 1);
	for (uint32_t i = 0; i < N_SWITCHES; i++)
		fab_builder_add_cable(b, sw[i], 1, sw[(i + 1) % N_SWITCHES], 2, 4,
				      FAB_HDR);
	fab_builder_add_cable(b, sw[0], 3, sw[1], 3, 4, FAB_HDR);
	fab_builder_add_cable(b, sw[2], 3, sw[2], 4, 4, FAB_HDR);
	for (uint32_t i = 0; i + 1 < N_SWITCHES; i++)
		for (uint16_t p = 5; p <= 6; p++)
			fab_builder_add_cable(b, add(b, FAB_ADAPTER, 16 * i + p), 1,
					      sw[i], p, 4, FAB_HDR);
	NEVER(fab_builder_finish(b, "test", "generated", NULL, &f, NULL));
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
	struct fab_groups_builder *b;
	struct fab_groups *g;
	struct fab_mft *mft;

	if (is_refused(fab_mcfdbs_read(f, "input", text, n, lenient, &mft, ERR)))
		return;
	for (uint64_t e = 0; e < mft->first[mft->n]; e++)
		NEVER(mft->sw[e] >= f->n_switches || mft->num[e] > N_PORTS);
	b = fab_groups_builder_new(f);
	fab_groups_add_mft(b, mft);
	if (!fab_groups_builder_finish(b, lenient, &g, ERR)) {
		analyse(f, g, mft);
		fab_groups_free(g);
	}
	fab_mft_free(mft);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static struct fab_fabric *f;

	if (!f)
		f = small_fabric();
	fab_is_mcfdbs((const char *)bytes, n);
	try_one(f, (const char *)bytes, n, false);
	try_one(f, (const char *)bytes, n, true);
	return 0;
}
