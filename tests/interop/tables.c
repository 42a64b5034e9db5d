/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usage: tables fdbs FABRIC                 unicast tables in OpenSM's dump format: every
 *                                           LID by the lowest port of fewest hops
 *        tables loop|cut FABRIC FILE        the multicast tables of FILE with one fault
 * in the first MLID: more cables, or one less
 */
#include "mcast/tables.h"
#include "fabric/dist.h"
#include "source/source.h"
#include "source/unpack.h"

static int fail(const struct fab_err *err)
{
	fprintf(stderr, "%s\n", err->text);
	return 3;
}

/* The port of `sw` towards the switch `to`, or to what hangs on it by `last`. */
static unsigned port_to(const struct fab_fabric *f, const struct fab_dist *dist,
			uint32_t sw, uint32_t to, unsigned last)
{
	const uint8_t *row = fab_dist_row(dist, to);

	if (sw == to)
		return last;
	for (uint32_t a = f->arc_first[sw]; a < f->arc_first[sw + 1]; a++) {
		uint32_t c = f->arc_cable[a], end = f->cable_a[c];

		if (row[f->arc_peer[a]] + 1 == row[sw])
			return f->port_num[f->port_node[end] == sw ? end : f->cable_b[c]];
	}
	return 0;
}

static void print_row(const struct fab_fabric *f, const struct fab_dist *dist,
		      uint32_t sw)
{
	printf("dump_ucast_routes: Switch 0x%016llx\nLID    : Port : Hops : Optimal\n",
	       (unsigned long long)f->node_guid[sw]);
	for (uint32_t p = 0; p < f->n_ports; p++) {
		bool is_switch = fab_node_is_switch(f, f->port_node[p]);
		uint32_t to = f->port_lid[p] ? fab_port_switch(f, p) : FAB_NONE;

		if (to == FAB_NONE || (is_switch && f->port_num[p]))
			continue;
		printf("0x%04X : %03u  : %02u   : yes\n", f->port_lid[p],
		       port_to(f, dist, sw, to,
			       is_switch ? 0 : f->port_num[fab_port_peer(f, p)]),
		       fab_dist_row(dist, to)[sw] + !is_switch);
	}
	putchar('\n');
}

static int print_fdbs(const struct fab_fabric *f)
{
	FAB_AUTO(fab_dist_free_at) struct fab_dist *dist = NULL;
	struct fab_err err;

	if (fab_dist_new(f, 1, &dist, &err))
		return fail(&err);
	for (uint32_t s = 0; s < f->n_switches; s++)
		print_row(f, dist, s);
	return 0;
}

/* What the first MLID has: switches and ports. */
struct first {
	const struct fab_fabric *f;
	bool *has_switch; /* [n_switches] */
	bool *has_port;	  /* [n_ports] */
};

static bool set(struct first *t, uint32_t cable, bool value)
{
	t->has_port[t->f->cable_a[cable]] = t->has_port[t->f->cable_b[cable]] = value;
	return true;
}

/* The first cable of the tree goes, or one that closes a loop comes. */
static bool turn_one(struct first *t, bool is_in)
{
	const struct fab_fabric *f = t->f;

	for (uint32_t c = 0; c < f->n_switch_links; c++)
		if (t->has_switch[f->port_node[f->cable_a[c]]] &&
		    t->has_switch[f->port_node[f->cable_b[c]]] &&
		    t->has_port[f->cable_a[c]] == is_in)
			return set(t, c, !is_in);
	return false;
}

/* One more cable in the tree, by another switch if need be. False: there is none. */
static bool plant_loop(struct first *t)
{
	const struct fab_fabric *f = t->f;

	if (turn_one(t, false))
		return true;
	for (uint32_t s = 0; s < f->n_switches; s++) {
		uint32_t first = FAB_NONE;

		for (uint32_t a = f->arc_first[s]; a < f->arc_first[s + 1]; a++) {
			if (t->has_switch[s] || !t->has_switch[f->arc_peer[a]])
				continue;
			if (first != FAB_NONE)
				return set(t, first, true) &&
				       set(t, f->arc_cable[a], true);
			first = f->arc_cable[a];
		}
	}
	return false;
}

static void print_tables(const struct first *t, const struct fab_mft *mft)
{
	const struct fab_fabric *f = t->f;

	for (uint32_t s = 0; s < f->n_switches; s++) {
		printf("\nSwitch 0x%016llx\nLID    : Out Port(s)\n0x%04X :",
		       (unsigned long long)f->node_guid[s], mft->mlid[0]);
		for (uint32_t p = f->node_first_port[s]; p < f->node_first_port[s + 1];
		     p++)
			if (t->has_port[p])
				printf(" 0x%03X ", f->port_num[p]);
		for (uint64_t row = 1; row < mft->n; row++) {
			printf("\n0x%04X :", mft->mlid[row]);
			for (uint64_t e = mft->first[row]; e < mft->first[row + 1]; e++)
				if (mft->sw[e] == s)
					printf(" 0x%03X ", mft->num[e]);
		}
		putchar('\n');
	}
}

static int plant(const struct fab_fabric *f, const char *fault, const char *path)
{
	FAB_AUTOFREE bool *has_switch = FAB_NEW0(f->n_switches, bool);
	FAB_AUTOFREE bool *has_port = FAB_NEW0(f->n_ports, bool);
	struct first t = {f, has_switch, has_port};
	FAB_AUTO(fab_input_fini) struct fab_input in = {0};
	struct fab_mft *mft;
	struct fab_err err;
	bool is_planted;

	if (fab_input_read(path, &in, &err) ||
	    fab_mcfdbs_read(f, path, in.bytes, in.n, false, &mft, &err))
		return fail(&err);
	for (uint64_t e = 0; mft->n && e < mft->first[1]; e++) {
		has_switch[mft->sw[e]] = true;
		has_port[mft->port[e]] = true;
	}
	is_planted = !strcmp(fault, "loop") ? plant_loop(&t) : turn_one(&t, true);
	if (is_planted)
		print_tables(&t, mft);
	fab_mft_free(mft);
	return !is_planted;
}

int main(int argc, char **argv)
{
	FAB_AUTO(fab_fabric_free_at) struct fab_fabric *f = NULL;
	struct fab_err err;

	if (argc < 3 || argc != 3 + (strcmp(argv[1], "fdbs") != 0))
		return 2;
	if (fab_source_open(argv[2], NULL, &f, &err))
		return fail(&err);
	return argc == 3 ? print_fdbs(f) : plant(f, argv[1], argv[3]);
}
