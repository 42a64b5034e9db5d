/* SPDX-License-Identifier: BSD-2-Clause */
/* Two nodes of one GUID: what names nodes by GUID is neither written nor believed. Trees
 * are in tests/golden/shared-guids. */
#include "export/fabrics.h"
#include "export/tables.h"
#include "support/test.h"
#include "support/unicast_check.h"
#include "unicast/lfts.h"

enum kind { DUMP, LIST, LFTS, SLS, LANES, N_KINDS };

/* NULL: refused, with the sentence in test_err and nothing written. */
static char *write_text(const struct fab_routes *r, enum kind kind)
{
	int rc = 0;
	char *text =
		TEXT_BY(out, rc = kind == DUMP ? fab_export_ibnetdiscover(out, r->f, ERR)
				  : kind == LIST ? fab_export_subnet_lst(out, r->f, ERR)
				  : kind == LFTS ? fab_export_lfts(out, r, ERR)
				  : kind == SLS	 ? fab_export_path_sl(out, r, ERR)
						 : fab_export_sl2vl(out, r, ERR));

	if (!rc)
		return text;
	cr_expect_eq(rc, -EINVAL);
	cr_expect_str_empty(text);
	free(text);
	return NULL;
}

static int read_lfts(const struct fab_fabric *f, const char *text, struct fab_routes **r)
{
	return fab_routes_from_lfts(f, NULL, "t", text, strlen(text), r, ERR);
}

static int read_kind(const struct fab_fabric *f, char *const *text, enum kind kind)
{
	OWN(fab_routes) *r = NULL;
	int rc = read_lfts(f, text[LFTS], &r);

	if (!rc && kind == SLS)
		rc = fab_routes_add_path_sl(r, "t", text[kind], strlen(text[kind]), ERR);
	if (!rc && kind == LANES)
		rc = fab_routes_add_sl2vl(r, "t", text[kind], strlen(text[kind]), ERR);
	return rc;
}

/* Tables name switches only; an adapter's port they name beside its LID. */
Test(guids, nodes_of_one_guid)
{
	for (int of_adapters = 0; of_adapters < 2; of_adapters++) {
		OWN(fab_fabric) *f = test_gen("kfat:dims=3x3,hosts=2");
		OWN(fab_faults) *faults = fab_faults_new(f);
		OWN(fab_routes) *r = test_tables(f, faults, "minhop", 1);
		char *text[N_KINDS];

		for (int i = 0; i < N_KINDS; i++) {
			text[i] = write_text(r, (enum kind)i);
			cr_assert(text[i], "%s", test_err.text);
			if (i >= LFTS)
				MUST(read_kind(f, text, (enum kind)i));
		}
		if (of_adapters)
			f->node_guid[f->n_nodes - 1] = f->node_guid[f->n_switches];
		else
			f->node_guid[4] = f->node_guid[1];
		for (int i = 0; i < N_KINDS; i++) {
			bool is_told = of_adapters && i == LFTS;
			OWN_HEAP char *again = write_text(r, (enum kind)i);

			cr_expect_eq(!again, !is_told, "kind %d", i);
			if (!again)
				HAS(test_err.text, "expected each to have its own");
			if (i < LFTS)
				continue;
			cr_expect_eq(read_kind(f, text, (enum kind)i),
				     is_told ? 0 : -EINVAL, "kind %d: %s", i,
				     test_err.text);
			if (!is_told)
				HAS(test_err.text, "the fabric has two ");
		}
		for (int i = 0; i < N_KINDS; i++)
			free(text[i]);
	}
}

/* Ports of one GUID are told apart by the LIDs that they have in the fabric. */
Test(guids, ports_of_one_guid)
{
	OWN(fab_fabric) *f = test_gen("kfat:dims=3x3,hosts=2");
	OWN(fab_faults) *faults = fab_faults_new(f);
	OWN(fab_routes) *all = test_tables(f, faults, "minhop", 1), *r = NULL,
			*less = NULL;
	const uint32_t a = fab_node_first_connected_port(f, f->n_switches);
	const uint32_t b = fab_node_first_connected_port(f, f->n_nodes - 1);
	OWN_HEAP char *text = NULL;
	OWN(fab_analysis) j;

	f->port_guid[b] = f->port_guid[a];
	text = write_text(all, LFTS);
	cr_assert(text, "%s", test_err.text);
	MUST(read_lfts(f, text, &r));
	cr_expect_eq(r->files->strange_lids.n, 0);
	j = test_analysis(r, FAB_ENDS_ADAPTERS);
	cr_expect(j.connected == j.pairs && j.unreachable == 0);
	/* a LID that neither has is left out */
	f->port_lid[b] = 4000;
	MUST(read_lfts(f, text, &less));
	cr_expect_eq(less->files->strange_lids.n, 1);
}
