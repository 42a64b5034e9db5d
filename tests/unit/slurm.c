/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/slurm.h"

#include "source/source.h"
#include "support/test.h"
#include "support/topology_conf.h"

#include <limits.h>
#include <unistd.h>

static void expect_fold(const char *const *names, size_t n, const char *wanted)
{
	OWN_HEAP char *got = fab_hostlist_fold(names, n);

	cr_assert_str_eq(got, wanted);
}

#define EXPECT_FOLD(wanted, ...)                                                         \
	do {                                                                             \
		const char *const names[] = {__VA_ARGS__};                               \
                                                                                         \
		expect_fold(names, FAB_COUNT(names), wanted);                            \
	} while (0)

Test(slurm, host_lists_fold)
{
	EXPECT_FOLD("n[1-3]", "n3", "n1", "n2");
	EXPECT_FOLD("n[001-002,004]", "n004", "n001", "n002");
	EXPECT_FOLD("n[8-11]", "n8", "n9", "n10", "n11");
	EXPECT_FOLD("n[08-11]", "n08", "n09", "n10", "n11");
	EXPECT_FOLD("n[9,009-010]", "n009", "n9", "n010");
	EXPECT_FOLD("n[9,09-11]", "n9", "n10", "n09", "n11");
	EXPECT_FOLD("n[99,099-101]", "n099", "n99", "n100", "n101");
	EXPECT_FOLD("n,n1", "n1", "n");
	EXPECT_FOLD("alone", "alone");
	EXPECT_FOLD("r2n1,r10n[1-2]", "r10n1", "r2n1", "r10n2");
	EXPECT_FOLD("n1-ib,n2-ib", "n2-ib", "n1-ib");
	EXPECT_FOLD("[1-3]", "1", "2", "3");
	EXPECT_FOLD("x1000000,x1000001", "x1000001", "x1000000");
	EXPECT_FOLD("x[999998-999999],x1000000", "x1000000", "x999999", "x999998");
	EXPECT_FOLD("H-003048c74ebf0001,H-003048c74ebf0002", "H-003048c74ebf0002",
		    "H-003048c74ebf0001");
	expect_fold(NULL, 0, "");
}

/* Whatever is folded unfolds to the same names. */
Test(slurm, folded_lists_unfold_to_the_same_names)
{
	struct fab_rng rng = test_rng(3);

	for (int round = 0; round < 200; round++) {
		const char *names[60];
		bool seen[3][130] = {{false}};
		size_t n = 0;
		FAB_AUTO(conf_free) struct conf conf;
		OWN_HEAP char *list = NULL, *line = NULL;

		while (n < 1 + (size_t)round % 60) {
			size_t kind = fab_rng_below(&rng, 3);
			unsigned i = test_below(&rng, 130);

			if (seen[kind][i] || (kind == 1 && i > 99))
				continue;
			seen[kind][i] = true;
			names[n++] = kind == 0	 ? fab_format("a%u", i)
				     : kind == 1 ? fab_format("a%03u", i)
						 : fab_format("b-%02u", i);
		}
		list = fab_hostlist_fold(names, n);
		line = fab_format("SwitchName=s Nodes=%s\n", list);
		conf = conf_read(line);
		cr_assert_eq(conf.hosts.n, n, "%s", line);
		for (size_t i = 0; i < n; i++) {
			bool found = false;

			for (size_t k = 0; k < n && !found; k++)
				found = !strcmp(conf.hosts.v[k], names[i]);
			cr_assert(found, "%s is not in %s", names[i], list);
			free((char *)(uintptr_t)names[i]);
		}
	}
}

static char *export_text(const struct fab_fabric *f, struct fab_slurm_notes *notes)
{
	return TEXT_BY(out, MUST(fab_export_slurm(out, f, notes, ERR)));
}

/* The lines without comments. */
static const char *body(const char *text)
{
	while (*text == '#')
		text = strchr(text, '\n') + 1;
	return text;
}

static void expect_body(struct plan plan, const char *wanted)
{
	OWN(fab_fabric) *f = plan_build(&plan, 0);
	struct fab_slurm_notes notes;
	OWN_HEAP char *text = export_text(f, &notes);
	FAB_AUTO(conf_free) struct conf conf = conf_read(text);

	cr_assert_str_eq(body(text), wanted);
	cr_assert_eq(conf.hosts.n, notes.n_hosts);
	cr_assert_eq(conf.n_roots, notes.n_roots);
	plan_free(&plan);
}

Test(slurm, two_levels)
{
	expect_body(plan_tree(3, 2, 4), "SwitchName=leaf1 Nodes=node[001-004]\n"
					"SwitchName=leaf2 Nodes=node[005-008]\n"
					"SwitchName=leaf3 Nodes=node[009-012]\n"
					"SwitchName=spine1 Switches=leaf[1-3]\n");
}

Test(slurm, one_switch_is_the_root)
{
	struct plan plan = plan_tree(1, 1, 2);

	plan.nodes.v[1].is_gone = true;
	expect_body(plan, "SwitchName=leaf1 Nodes=node[001-002]\n");
}

Test(slurm, pods_under_a_core)
{
	struct plan plan = {0};

	/* Two pods of two leaves and two spines, joined by one core. */
	plan_switches(&plan, 4, "leaf", 8);
	plan_switches(&plan, 4, "spine", 8);
	plan_switch(&plan, "core", 8);
	for (uint32_t i = 0; i < 4; i++) {
		plan_host(&plan, i, "n%u HCA-1", i + 1);
		for (uint32_t k = 0; k < 2; k++)
			plan_join(&plan, i, 4 + i / 2 * 2 + k);
		plan_join(&plan, 4 + i, 8);
	}
	expect_body(plan, "SwitchName=leaf1 Nodes=n1\n"
			  "SwitchName=leaf2 Nodes=n2\n"
			  "SwitchName=leaf3 Nodes=n3\n"
			  "SwitchName=leaf4 Nodes=n4\n"
			  "SwitchName=spine1 Switches=leaf[1-2]\n"
			  "SwitchName=spine3 Switches=leaf[3-4]\n"
			  "SwitchName=core Switches=spine[1,3]\n");
}

Test(slurm, switches_without_a_common_one_above)
{
	struct plan plan = {0};

	plan_switch(&plan, "group1", 4);
	plan_switch(&plan, "b", 4);
	plan_join(&plan, 0, 1);
	plan_host(&plan, 0, "x HCA-1");
	plan_host(&plan, 1, "y HCA-1");
	expect_body(plan, "SwitchName=b Nodes=y\n"
			  "SwitchName=group1 Nodes=x\n"
			  "SwitchName=group2 Switches=b,group1\n");
}

Test(slurm, names_that_slurm_takes)
{
	struct plan plan = plan_tree(2, 1, 3);

	strcpy(plan.nodes.v[0].name, "MF0;ib leaf#1:MQM8700/U1");
	strcpy(plan.nodes.v[1].name, "MF0;core:MCS8500/L16/U2");
	strcpy(plan.nodes.v[2].name, "MF0;core:MCS8500/S3/U1");
	strcpy(plan.nodes.v[3].name, "a b,c[1]");
	strcpy(plan.nodes.v[4].name, "MT4129 ConnectX7   Mellanox Technologies");
	strcpy(plan.nodes.v[5].name, "\xff\x1b[31m");
	memset(plan.nodes.v[6].name, 'x', 65);
	strcpy(plan.nodes.v[7].name, "x=y");
	strcpy(plan.nodes.v[8].name, "x y");
	expect_body(plan,
		    "SwitchName=core-L16-U2 "
		    "Nodes=H-0000000000100600,H-0000000000100700,H-0000000000100800\n"
		    "SwitchName=ib-leaf-1 Nodes=31m,H-0000000000100400,a-b-c-1\n"
		    "SwitchName=core-S3-U1 Switches=core-L16-U2,ib-leaf-1\n");
}

Test(slurm, same_names_are_told_apart_by_guid)
{
	struct plan plan = plan_tree(2, 1, 1);

	strcpy(plan.nodes.v[0].name, "Voltaire 4036");
	strcpy(plan.nodes.v[1].name, "Voltaire 4036");
	/* leaf 0's fallback is taken */
	strcpy(plan.nodes.v[2].name, "S-0000000000100000");
	expect_body(plan, "SwitchName=S-0000000000100000.2 Nodes=node001\n"
			  "SwitchName=S-0000000000100100 Nodes=node002\n"
			  "SwitchName=S-0000000000100000 "
			  "Switches=S-0000000000100000.2,S-0000000000100100\n");
}

Test(slurm, rails_unattached_hosts_and_parts)
{
	FAB_AUTO(plan_free) struct plan plan = plan_tree(2, 1, 1);
	uint32_t far = plan_switch(&plan, "far", 4);
	struct fab_slurm_notes notes;
	OWN(fab_fabric) *f = NULL;
	OWN_HEAP char *text = NULL;

	/* node002: HCA-1 on leaf2, HCA-0 on leaf1, which is the first by name. */
	plan.nodes.v[0].n_ports = 9;
	plan_cable(&plan, 0, 9, plan_adapter(&plan, "node002 HCA-0"), 1);
	plan_cable(&plan, far, 2, plan_adapter(&plan, "node001 HCA-10"), 1);
	plan_adapter(&plan, "node001 HCA-0"); /* no cable */
	plan_cable(&plan, far, 1, plan_adapter(&plan, "island HCA-1"), 1);
	plan_adapter(&plan, "adrift HCA-1");
	f = plan_build(&plan, 0);
	text = export_text(f, &notes);
	cr_assert_str_eq(body(text), "SwitchName=far Nodes=island\n"
				     "SwitchName=leaf1 Nodes=node[001-002]\n");
	cr_assert_eq(notes.n_hosts, 3);
	cr_assert_eq(notes.n_leaves, 2);
	cr_assert_eq(notes.n_roots, 2);
	cr_assert_eq(notes.n_split, 2);
	cr_assert_eq(notes.n_unattached, 1);
	cr_assert_eq(notes.n_unnamed, 0);
}

Test(slurm, long_chains_stay_below_the_depth_that_slurm_follows)
{
	enum { LENGTH = 40 };
	uint32_t ends[LENGTH];
	FAB_AUTO(plan_free) struct plan plan = {0};
	OWN(fab_fabric) *f = NULL;
	FAB_AUTO(conf_free) struct conf conf;
	OWN_HEAP char *text = NULL;

	/* A comb: hosts only at the ends of teeth that grow longer. */
	for (uint32_t i = 0, last = 0; i < LENGTH; i++) {
		OWN_HEAP char *name = fab_format("tooth%u-", i);
		uint32_t top = plan_switch(&plan, "top", 8);
		uint32_t tooth = plan_switches(&plan, i + 1, name, 8);

		snprintf(plan.nodes.v[top].name, sizeof(plan.nodes.v[top].name), "top%u",
			 i);
		if (i)
			plan_join(&plan, top, last);
		for (uint32_t k = 0; k <= i; k++)
			plan_join(&plan, k ? tooth + k - 1 : top, tooth + k);
		ends[i] = tooth + i;
		last = top;
	}
	for (uint32_t i = 0; i < LENGTH; i++)
		plan_host(&plan, ends[i], "h%u HCA-1", i);
	f = plan_build(&plan, 0);
	text = export_text(f, NULL);
	conf = conf_read(text);
	cr_assert_eq(conf.hosts.n, LENGTH);
	cr_assert_eq(conf.n_roots, 1);
}

/* Every kind of generated fabric gives a tree of all its hosts that Slurm would take. */
Test(slurm, generated_fabrics)
{
	static const struct {
		const char *spec;
		unsigned n_hosts, max_depth, n_groups;
	} cases[] = {
		{"fattree:radix=8,levels=2", 32, 1, 1},
		{"fattree:radix=8,levels=3", 128, 2, 9},
		{"torus:dims=4x4x2,hosts=2", 64, 1, 1},
		{"mesh:dims=3x3,hosts=1", 9, 1, 1},
		{"dragonfly:a=4,p=2,h=2", 72, 2, 10},
		{"kfat:dims=4x4,hosts=3", 48, 1, 1},
		{"hyperx:dims=4x4,hosts=2", 32, 1, 1},
		{"random:switches=20,degree=4,hosts=2,seed=1", 40, 1, 1},
		{"bluelight", 8704, 2, 35},
	};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		OWN(fab_fabric) *f = test_gen_raw(cases[i].spec);
		OWN_HEAP char *text = export_text(f, NULL);
		FAB_AUTO(conf_free) struct conf conf = conf_read(text);
		unsigned n_groups = 0;

		for (size_t k = 0; k < conf.switches.n; k++)
			n_groups += conf.switches.v[k].switches.n > 0;
		cr_expect_eq(conf.hosts.n, cases[i].n_hosts, "%s: %zu hosts",
			     cases[i].spec, conf.hosts.n);
		cr_expect_eq(conf.max_depth, cases[i].max_depth, "%s: depth %u",
			     cases[i].spec, conf.max_depth);
		cr_expect_eq(n_groups, cases[i].n_groups, "%s: %u groups", cases[i].spec,
			     n_groups);
		cr_expect_eq(conf.n_roots, 1, "%s", cases[i].spec);
	}
}

/* Every host of every real dump exactly once, on a switch that it has a cable to. */
Test(slurm, real_dumps)
{
	for (const char *const *dump = data_dumps; *dump; dump++) {
		OWN(fab_fabric) *f = data_open(*dump);
		struct fab_slurm_notes notes;
		OWN_HEAP char *text = export_text(f, &notes);
		FAB_AUTO(conf_free) struct conf conf = conf_read(text);

		cr_assert_eq(conf.hosts.n, f->n_hosts, "%s", *dump);
		cr_assert_eq(conf.n_roots, 1, "%s", *dump);
		cr_assert_eq(notes.n_unattached, 0);
	}
}

/* The same file whatever the order of the input. */
Test(slurm, the_order_of_nodes_does_not_count)
{
	for (const char *const *dump = data_dumps; *dump; dump++) {
		OWN(fab_fabric) *f = data_open(*dump);
		OWN(plan) plan = plan_from_fabric(f);
		OWN(fab_fabric) *a = plan_build(&plan, 0), *b = plan_build(&plan, 5);
		OWN_HEAP char *text_a = export_text(a, NULL),
			      *text_b = export_text(b, NULL);

		cr_assert_str_eq(text_a, text_b, "%s", *dump);
	}
}

/* The leaf of a host, by its name. */
static const char *leaf_of(const struct conf *conf, const char *host)
{
	for (size_t s = 0; s < conf->switches.n; s++)
		for (size_t k = 0; k < conf->switches.v[s].nodes.n; k++)
			if (!strcmp(conf->switches.v[s].nodes.v[k], host))
				return conf->switches.v[s].name;
	return NULL;
}

/* Hosts share a leaf here exactly when they do in the file that the owners made by hand.
 */
Test(slurm, the_owners_tree_of_a_real_fabric)
{
	OWN_HEAP char *dump = data_path("ibnetdiscover/psmn-x5-qdr.txt");
	OWN_HEAP char *map = data_path("cabling/psmn-x5-guid-host.map");
	OWN_HEAP char *owners = data_path("slurm/psmn-x5-topology.conf");
	struct fab_source_options options = {.node_name_map = map};
	char line[4096], leaf[64], nodes[4000];
	OWN_HEAP char *text = NULL;
	OWN(fab_fabric) *f = NULL;
	FAB_AUTO(conf_free) struct conf ours;
	size_t n_leaves = 0, n_hosts = 0;
	FILE *in = fopen(owners, "r");

	cr_assert_not_null(in);
	MUST(fab_source_open(dump, &options, &f, ERR));
	text = export_text(f, NULL);
	ours = conf_read(text);
	while (fgets(line, sizeof(line), in)) {
		FAB_AUTO(conf_free) struct conf leaves = {0};

		if (sscanf(line, "SwitchName=%63s Nodes=%3999s", leaf, nodes) != 2)
			continue;
		n_leaves++;
		leaves = conf_read(line);
		for (size_t k = 0; k < leaves.hosts.n; k++, n_hosts++) {
			const char *is = leaf_of(&ours, leaves.hosts.v[k]);

			cr_assert_not_null(is, "%s", leaves.hosts.v[k]);
			cr_assert_str_eq(is, leaf_of(&ours, leaves.hosts.v[0]));
		}
	}
	fclose(in);
	cr_assert_eq(n_leaves, 6);
	cr_assert_eq(n_hosts, f->n_hosts);
}

Test(slurm, nothing_to_list_is_an_error)
{
	FAB_AUTO(plan_free) struct plan plan = plan_tree(2, 1, 1);
	OWN(fab_fabric) *f = NULL;

	plan.nodes.v[3].is_gone = plan.nodes.v[4].is_gone = true;
	f = plan_build(&plan, 0);
	FAILS_AS(fab_export_slurm(stdout, f, NULL, ERR), -EINVAL,
		 "plan: no host with a cable to a switch");
}

/* ---- topology.yaml and topology/block ---- */

typedef int exporter(FILE *out, const struct fab_fabric *f, struct fab_slurm_notes *notes,
		     struct fab_err *err);

static char *export_by(exporter *export, const struct fab_fabric *f)
{
	return TEXT_BY(out, MUST(export(out, f, NULL, ERR)));
}

/* The topology number `nth` of a topology.yaml as a topology.conf; NULL: it has fewer. */
static char *conf_of_yaml(const char *text, int nth)
{
	char *conf = NULL, *copy = fab_strdup(text), *save = NULL, name[80] = "";
	int at = -1;

	for (char *line = strtok_r(copy, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		char key[16], value[2048];

		if (*line == '#' || !strcmp(line, "---"))
			continue;
		if (!strncmp(line, "- topology: \"rail", 17)) {
			at++;
			continue;
		}
		if (!strcmp(line,
			    at ? "  cluster_default: false" : "  cluster_default: true"))
			continue;
		if (!strcmp(line, "  tree:") || !strcmp(line, "    switches:"))
			continue;
		if (sscanf(line, "      - switch: \"%79[^\"]\"", name) == 1)
			continue;
		cr_assert_eq(sscanf(line, "        %15[a-z]: \"%2047[^\"]\"", key, value),
			     2, "%s", line);
		cr_assert(!strcmp(key, "nodes") || !strcmp(key, "children"), "%s", line);
		if (at == nth)
			fab_append(&conf, "", "SwitchName=%s %s=%s\n", name,
				   *key == 'n' ? "Nodes" : "Switches", value);
	}
	free(copy);
	return conf;
}

/* The first topology is that of topology.conf; each is a tree with the hosts of its rail;
 * as many as the hosts have cables, where these lead to different switches. */
Test(slurm, topologies_of_rails)
{
	OWN(fab_fabric) *two = NULL, *one = test_gen("fattree:radix=8,levels=2");
	struct plan plan = plan_tree(4, 2, 0);
	OWN_HEAP char *text = NULL, *conf = NULL, *same = NULL;

	for (uint32_t h = 0; h < 6; h++) /* n1 .. n6: the second adapter two leaves on */
		for (uint32_t k = 0; k < 2; k++)
			plan_host(&plan, h % 2 + 2 * k, "n%u mlx5_%u", h + 1, k);
	for (uint32_t i = 0; i < 4; i++)
		plan.nodes.v[i].n_ports = 36;
	two = plan_end(&plan);
	text = export_by(fab_export_slurm_yaml, two);
	conf = conf_of_yaml(text, 1);
	cr_assert_str_eq(conf, "SwitchName=leaf3 Nodes=n[1,3,5]\n"
			       "SwitchName=leaf4 Nodes=n[2,4,6]\n"
			       "SwitchName=spine1 Switches=leaf[3-4]\n");
	cr_assert_null(conf_of_yaml(text, 2));
	free(text);
	text = export_by(fab_export_slurm_yaml, one);
	free(conf);
	conf = conf_of_yaml(text, 0);
	same = export_by(fab_export_slurm, one);
	cr_assert_str_eq(conf, body(same));
	cr_assert_null(conf_of_yaml(text, 1));
}

Test(slurm, topologies_of_real_dumps)
{
	for (const char *const *dump = data_dumps; *dump; dump++) {
		OWN(fab_fabric) *f = data_open(*dump);
		OWN_HEAP char *text = export_by(fab_export_slurm_yaml, f);
		OWN_HEAP char *same = export_by(fab_export_slurm, f);
		char *conf;
		int n = 0;

		for (; (conf = conf_of_yaml(text, n)); n++) {
			FAB_AUTO(conf_free) struct conf read = conf_read(conf);

			cr_expect_leq(read.hosts.n, f->n_hosts);
			cr_expect(n || !strcmp(conf, body(same)), "%s", *dump);
			free(conf);
		}
		cr_assert_geq(n, 1, "%s", *dump);
	}
}

/* Names of the blocks in order, and BlockSizes. */
struct blocks {
	FAB_VEC(char *) name;
	unsigned size[16], n_sizes, least;
};

static struct blocks blocks_read(const char *text)
{
	struct blocks b = {.least = UINT_MAX};
	OWN_HEAP char *copy = fab_strdup(text), *conf = NULL;
	struct conf read;
	char *save = NULL;

	for (char *line = strtok_r(copy, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		char name[80], list[4096];

		if (*line == '#')
			continue;
		if (sscanf(line, "BlockName=%79s Nodes=%4095s", name, list) == 2) {
			FAB_PUSH(&b.name, fab_strdup(name));
			fab_append(&conf, "", "SwitchName=%s Nodes=%s\n", name, list);
			continue;
		}
		cr_assert(!strncmp(line, "BlockSizes=", 11), "%s", line);
		for (char *at = line + 10; at; at = strchr(at + 1, ','))
			b.size[b.n_sizes++] = (unsigned)strtoul(at + 1, NULL, 10);
	}
	read = conf_read(conf); /* names differ, no host is in two blocks */
	for (size_t i = 0; i < read.switches.n; i++)
		if (read.switches.v[i].nodes.n < b.least)
			b.least = (unsigned)read.switches.v[i].nodes.n;
	conf_free(&read);
	return b;
}

/* Is the leaf `name` below the switch `above`, or that? */
static bool is_below(const struct conf *tree, const char *name, const char *above)
{
	while (name && strcmp(name, above) != 0) {
		const char *parent = NULL;

		for (size_t s = 0; s < tree->switches.n; s++)
			for (size_t k = 0; k < tree->switches.v[s].switches.n; k++)
				if (!strcmp(tree->switches.v[s].switches.v[k], name))
					parent = tree->switches.v[s].name;
		name = parent;
	}
	return name;
}

/* As block_record.c of Slurm checks them: BlockSizes are the first one times a power of
 * two. No run of blocks is cut by a switch of the tree of topology.conf. */
static void check_blocks(const struct fab_fabric *f)
{
	OWN_HEAP char *text = export_by(fab_export_slurm_block, f);
	OWN_HEAP char *tree = export_by(fab_export_slurm, f);
	struct blocks b = blocks_read(text);
	FAB_AUTO(conf_free) struct conf conf = conf_read(tree);

	cr_assert_eq(b.size[0], b.least, "%s", f->source);
	cr_assert_geq(b.size[b.n_sizes - 1], b.least * b.name.n, "%s", f->source);
	for (unsigned k = 1; k < b.n_sizes; k++) {
		unsigned n = b.size[k] / b.size[0];

		cr_assert_eq(b.size[k] % b.size[0], 0);
		cr_assert_eq(n & (n - 1), 0);
		cr_assert_gt(b.size[k], b.size[k - 1]);
		for (size_t s = 0; s < conf.switches.n; s++)
			for (size_t from = 0; from < b.name.n; from += n) {
				size_t end = from + n < b.name.n ? from + n : b.name.n;
				size_t in = 0, all = 0;

				for (size_t i = 0; i < b.name.n; i++) {
					bool is_in = is_below(&conf, b.name.v[i],
							      conf.switches.v[s].name);

					all += is_in;
					in += is_in && i >= from && i < end;
				}
				cr_assert(!in || in == all || in == end - from,
					  "%s: %u blocks are cut by %s", f->source, n,
					  conf.switches.v[s].name);
			}
	}
	for (size_t i = 0; i < b.name.n; i++)
		free(b.name.v[i]);
	free(b.name.v);
}

Test(slurm, blocks_are_those_of_the_tree)
{
	static const char *const specs[] = {
		"fattree:radix=8,levels=2",
		"fattree:radix=8,levels=3",
		"pgft:h=3,m=4/3/2,w=1/2/3,p=1/1/1",
		"pgft:h=3,m=4/6/3,w=1/2/3,p=1/1/1",
		"dragonfly:a=4,p=2,h=2",
		"torus:dims=3x3,hosts=1",
		"fattree:radix=6,levels=1",
	};

	for (size_t i = 0; i < FAB_COUNT(specs); i++) {
		OWN(fab_fabric) *f = test_gen(specs[i]);

		check_blocks(f);
	}
	for (const char *const *dump = data_dumps; *dump; dump++) {
		OWN(fab_fabric) *f = data_open(*dump);

		if (f->n_switches < 100)
			check_blocks(f);
	}
}

/* Three leaves and one below two switches, whose run of two would cut the three. */
Test(slurm, blocks_of_uneven_parts)
{
	struct plan plan = {0};
	uint32_t root = plan_switch(&plan, "root", 8),
		 part = plan_switches(&plan, 2, "part", 8);
	uint32_t leaf = plan_switches(&plan, 4, "leaf", 8);
	OWN(fab_fabric) *f = NULL;

	for (uint32_t i = 0; i < 2; i++)
		plan_join(&plan, root, part + i);
	for (uint32_t i = 0; i < 4; i++) {
		plan_join(&plan, part + i / 3, leaf + i);
		plan_host(&plan, leaf + i, "n%u HCA-1", i);
	}
	f = plan_end(&plan);
	check_blocks(f);
}

/* Two adapters of each host on one leaf: the second rail is as the first. */
Test(slurm, rails_that_are_alike_are_one)
{
	struct plan plan = plan_tree(2, 1, 0);
	OWN(fab_fabric) *f = NULL;
	OWN_HEAP char *text = NULL;

	for (uint32_t i = 0; i < 8; i++) {
		plan.nodes.v[i / 4].n_ports = 16;
		plan_host(&plan, i / 4, "n%u mlx5_%u", i / 2, i % 2);
	}
	f = plan_end(&plan);
	text = export_by(fab_export_slurm_yaml, f);
	cr_assert_null(conf_of_yaml(text, 1));
}
