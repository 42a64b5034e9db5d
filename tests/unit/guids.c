/* SPDX-License-Identifier: BSD-2-Clause */
/* Two nodes of one GUID: what names nodes by GUID is neither written nor believed. */
#include "base/map.h"
#include "export/fabrics.h"
#include "export/tables.h"
#include "mcast/route.h"
#include "mcast/tables.h"
#include "support/routed.h"
#include "support/test.h"
#include "support/unicast_check.h"
#include "unicast/lfts.h"

enum { FIRST = 1, SECOND = 4 };

Test(guids, ids_of_guids)
{
	OWN(fab_fabric) *f = test_gen("kfat:dims=3x3,hosts=2");
	FAB_AUTO(fab_map64_free_at) struct fab_map64 *map = NULL;

	map = fab_guids_new(f, f->n_nodes);
	for (uint32_t i = 0; i < f->n_nodes; i++)
		cr_expect_eq(fab_map64_get(map, f->node_guid[i]), i);
	fab_map64_free(map);
	MUST(fab_guids_differ(f, f->n_nodes, "x", ERR));
	/* the last adapter is as the first: no matter for what names switches only */
	f->node_guid[f->n_nodes - 1] = f->node_guid[f->n_switches];
	MUST(fab_guids_differ(f, f->n_switches, "x", ERR));
	MUST(fab_guids_differ(f, f->n_nodes - 1, "x", ERR));
	FAILS(fab_guids_differ(f, f->n_nodes, "all of them", ERR), -EINVAL,
	      fab_node_name(f, f->n_nodes - 1));
	HAS(test_err.text, fab_node_name(f, f->n_switches));
	HAS(test_err.text, "all of them");
	/* GUID 0 is one as any other */
	f->node_guid[FIRST] = f->node_guid[SECOND] = 0;
	cr_expect_eq(fab_guids_differ(f, f->n_switches, "x", ERR), -EINVAL);
	map = fab_guids_new(f, f->n_switches);
	cr_expect_eq(fab_map64_get(map, 0), FAB_SHARED);
	cr_expect_eq(fab_map64_get(map, f->node_guid[0]), 0);
}

/* Every file that names nodes by GUID. */
enum kind { DUMP, LIST, LFTS, SLS, LANES, MCFDBS, N_KINDS };

struct world {
	struct routed groups; /* owns the fabric */
	struct fab_fabric *f;
	struct fab_faults *faults;
	struct fab_routes *routes;
	struct fab_mcast_result results[ROUTED_MAX_ENGINES];
	struct fab_efi efi[ROUTED_MAX_ENGINES];
	char *text[N_KINDS];
};

static int write_kind(const struct world *w, enum kind kind, FILE *out,
		      struct fab_err *err)
{
	uint16_t mlid[8];

	switch (kind) {
	case DUMP:
		return fab_export_ibnetdiscover(out, w->f, err);
	case LIST:
		return fab_export_subnet_lst(out, w->f, err);
	case LFTS:
		return fab_export_lfts(out, w->routes, err);
	case SLS:
		return fab_export_path_sl(out, w->routes, err);
	case LANES:
		return fab_export_sl2vl(out, w->routes, err);
	default:
		cr_assert_eq(fab_groups_give_mlids(w->groups.groups, mlid, err), 0);
		return fab_export_mcfdbs(out, &w->groups.problem, &w->results[0], mlid,
					 err);
	}
}

/* NULL: refused, with the sentence in test_err and nothing written. */
static char *write_text(const struct world *w, enum kind kind)
{
	int rc = 0;
	char *text = TEXT_BY(out, rc = write_kind(w, kind, out, ERR));

	if (!rc)
		return text;
	cr_expect_eq(rc, -EINVAL);
	cr_expect_str_empty(text);
	free(text);
	return NULL;
}

static int read_kind(const struct world *w, enum kind kind)
{
	OWN(fab_routes) *r = NULL;
	struct fab_mft *mft = NULL;
	const char *text = w->text[kind], *lfts = w->text[LFTS];
	size_t n = strlen(text);
	int rc;

	if (kind == MCFDBS)
		rc = fab_mcfdbs_read(w->f, "t", text, n, true, &mft, ERR);
	else
		rc = fab_routes_from_lfts(w->f, NULL, "t", lfts, strlen(lfts), &r, ERR);
	if (!rc && kind == SLS)
		rc = fab_routes_add_path_sl(r, "t", text, n, ERR);
	if (!rc && kind == LANES)
		rc = fab_routes_add_sl2vl(r, "t", text, n, ERR);
	fab_mft_free(mft);
	return rc;
}

/* A fabric, tables and trees of it, and all of it written. */
static void begin(struct world *w)
{
	*w = (struct world){.f = test_gen("kfat:dims=3x3,hosts=2")};
	routed_init(&w->groups, w->f, 8, 4, 1);
	routed_all(&w->groups, w->results, w->efi);
	w->faults = fab_faults_new(w->f);
	w->routes = test_tables(w->f, w->faults, "minhop", 1);
	for (int i = 0; i < N_KINDS; i++) {
		w->text[i] = write_text(w, (enum kind)i);
		cr_assert(w->text[i], "%s", test_err.text);
	}
}

static void end(struct world *w)
{
	for (int i = 0; i < N_KINDS; i++)
		free(w->text[i]);
	fab_routes_free(w->routes);
	fab_faults_free(w->faults);
	routed_end(w->results);
	routed_fini(&w->groups);
}

OWN_VALUE(world, end)

static void expect_written(const struct world *w, enum kind kind, bool is_written)
{
	OWN_HEAP char *text = write_text(w, kind);

	cr_expect_eq(!text, !is_written, "kind %d", kind);
	if (!text)
		HAS(test_err.text, "expected each to have its own");
}

static void expect_read(const struct world *w, enum kind kind, bool is_read)
{
	cr_expect_eq(read_kind(w, kind), is_read ? 0 : -EINVAL, "kind %d: %s", kind,
		     test_err.text);
	if (!is_read) {
		HAS(test_err.text, "t:");
		HAS(test_err.text, "the fabric has two ");
	}
}

Test(guids, switches_of_one_guid)
{
	OWN(world) w;

	begin(&w);
	for (int i = LFTS; i < N_KINDS; i++)
		expect_read(&w, (enum kind)i, true);
	w.f->node_guid[SECOND] = w.f->node_guid[FIRST];
	for (int i = 0; i < N_KINDS; i++)
		expect_written(&w, (enum kind)i, false);
	for (int i = LFTS; i < N_KINDS; i++)
		expect_read(&w, (enum kind)i, false);
}

/* Tables name switches only; an adapter's port they name beside its LID. */
Test(guids, adapters_of_one_guid)
{
	OWN(world) w;

	begin(&w);
	w.f->node_guid[w.f->n_nodes - 1] = w.f->node_guid[w.f->n_switches];
	for (int i = 0; i < N_KINDS; i++) {
		bool is_table = i == LFTS || i == MCFDBS;

		expect_written(&w, (enum kind)i, is_table);
		if (i >= LFTS)
			expect_read(&w, (enum kind)i, is_table);
	}
}

/* Ports of one GUID are told apart by the LIDs that they have in the fabric. */
Test(guids, ports_of_one_guid)
{
	OWN(fab_routes) *r = NULL;
	OWN(fab_analysis) j = {0};
	OWN(world) w;
	uint32_t a, b;
	OWN_HEAP char *text = NULL;

	begin(&w);
	a = fab_node_first_connected_port(w.f, w.f->n_switches);
	b = fab_node_first_connected_port(w.f, w.f->n_nodes - 1);
	w.f->port_guid[b] = w.f->port_guid[a];
	text = write_text(&w, LFTS);
	cr_assert(text, "%s", test_err.text);
	MUST(fab_routes_from_lfts(w.f, NULL, "t", text, strlen(text), &r, ERR));
	cr_expect_eq(r->files->strange_lids.n, 0);
	j = test_analysis(r, FAB_ENDS_ADAPTERS);
	cr_expect_eq(j.connected, j.pairs);
	cr_expect_eq(j.unreachable, 0);
	fab_routes_free(r);
	/* a LID that neither has is left out */
	w.f->port_lid[b] = 4000;
	MUST(fab_routes_from_lfts(w.f, NULL, "t", text, strlen(text), &r, ERR));
	cr_expect_eq(r->files->strange_lids.n, 1);
}
