/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/slurm.h"
#include "support/test.h"
#include "support/topology_conf.h"

Test(slurm, host_lists_fold)
{
	static const char *const cases[][2] = {
		{"n3 n1 n2", "n[1-3]"},
		{"n009 n9 n010", "n[9,009-010]"},
		{"n099 n99 n100 n101", "n[99,099-101]"},
		{"n1 n", "n,n1"},
		{"r10n1 r2n1 r10n2", "r2n1,r10n[1-2]"},
		{"n2-ib n1-ib", "n1-ib,n2-ib"},
		{"1 2 3", "[1-3]"},
		{"x1000000 x999999 x999998", "x[999998-999999],x1000000"},
		{"", ""},
	};

	for (size_t i = 0; i < FAB_COUNT(cases); i++) {
		OWN_HEAP char *copy = fab_strdup(cases[i][0]), *got = NULL;
		const char *names[8];
		size_t n = 0;

		for (char *name = strtok(copy, " "); name; name = strtok(NULL, " "))
			names[n++] = name;
		got = fab_hostlist_fold(names, n);
		cr_expect_str_eq(got, cases[i][1]);
	}
}

/* Whatever is folded unfolds to the same names. */
Test(slurm, folded_lists_unfold_to_the_same_names)
{
	struct fab_rng rng = test_rng(3);

	for (uint32_t round = 0; round < 200; round++) {
		char *names[390];
		size_t n = 0;
		FAB_AUTO(conf_free) struct conf conf;
		OWN_HEAP char *list = NULL, *line = NULL;

		for (unsigned i = 0; i < FAB_COUNT(names); i++) {
			unsigned kind = i * 77 % 3, number = i * 77 % 390 / 3;

			if (fab_rng_below(&rng, 2 + round % 20) ||
			    (kind == 1 && number > 99))
				continue;
			names[n++] = kind == 0	 ? fab_format("a%u", number)
				     : kind == 1 ? fab_format("a%03u", number)
						 : fab_format("b-%02u", number);
		}
		list = fab_hostlist_fold((const char *const *)names, n);
		line = fab_format("SwitchName=s Nodes=%s\n", list);
		conf = conf_read(line);
		qsort(names, n, sizeof(*names), conf_by_text);
		cr_assert_eq(conf.hosts.n, n, "%s", line);
		for (size_t i = 0; i < n; i++) {
			cr_assert_str_eq(conf.hosts.v[i], names[i], "%s", line);
			free(names[i]);
		}
	}
}

typedef int exporter(FILE *out, const struct fab_fabric *f, struct fab_slurm_notes *notes,
		     struct fab_err *err);

static char *export_by(exporter *export, const struct fab_fabric *f,
		       struct fab_slurm_notes *notes)
{
	return TEXT_BY(out, MUST(export(out, f, notes, ERR)));
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
	OWN(fab_fabric) *f = plan_end(&plan);
	struct fab_slurm_notes notes;
	OWN_HEAP char *text = export_by(fab_export_slurm, f, &notes);
	FAB_AUTO(conf_free) struct conf conf = conf_read(text);

	cr_assert_str_eq(body(text), wanted);
	cr_assert_eq(conf.hosts.n, notes.n_hosts);
	cr_assert_eq(conf.n_roots, notes.n_roots);
}

Test(slurm, names_that_slurm_takes)
{
	char names[] =
		"MF0;ib leaf#1:MQM8700/U1|MF0;core:MCS8500/L16/U2|"
		"MF0;core:MCS8500/S3/U1|a b,c[1]|"
		"MT4129 ConnectX7   Mellanox Technologies|\xff\x1b[31m|"
		"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx|x=y|x y";
	struct plan_node *node;
	struct plan plan = plan_tree(2, 1, 3), pair = {0};

	node = plan.nodes.v;
	for (char *name, *rest = names; (name = strsep(&rest, "|"));)
		strcpy(node++->name, name);
	expect_body(plan,
		    "SwitchName=core-L16-U2 "
		    "Nodes=H-0000000000100600,H-0000000000100700,H-0000000000100800\n"
		    "SwitchName=ib-leaf-1 Nodes=31m,H-0000000000100400,a-b-c-1\n"
		    "SwitchName=core-S3-U1 Switches=core-L16-U2,ib-leaf-1\n");
	plan = plan_tree(2, 1, 1);
	strcpy(plan.nodes.v[0].name, "Voltaire 4036");
	strcpy(plan.nodes.v[1].name, "Voltaire 4036");
	/* leaf 0's fallback is taken */
	strcpy(plan.nodes.v[2].name, "S-0000000000100000");
	expect_body(plan, "SwitchName=S-0000000000100000.2 Nodes=node001\n"
			  "SwitchName=S-0000000000100100 Nodes=node002\n"
			  "SwitchName=S-0000000000100000 "
			  "Switches=S-0000000000100000.2,S-0000000000100100\n");
	/* switches without a common one above get one, by another name than theirs */
	plan_switch(&pair, "group1", 4);
	plan_switch(&pair, "b", 4);
	plan_join(&pair, 0, 1);
	plan_host(&pair, 0, "x HCA-1");
	plan_host(&pair, 1, "y HCA-1");
	expect_body(pair, "SwitchName=b Nodes=y\nSwitchName=group1 Nodes=x\n"
			  "SwitchName=group2 Switches=b,group1\n");
}

Test(slurm, rails_unattached_hosts_and_parts)
{
	static const struct fab_slurm_notes wanted = {.n_hosts = 3,
						      .n_leaves = 2,
						      .n_roots = 2,
						      .n_split = 2,
						      .n_unattached = 1};
	struct plan plan = plan_tree(2, 1, 1);
	uint32_t far = plan_switch(&plan, "far", 4);
	struct fab_slurm_notes notes;
	OWN(fab_fabric) *f = NULL;
	OWN_HEAP char *text = NULL;

	/* node002: HCA-1 on leaf2, HCA-0 on leaf1, which is the first by name. */
	plan.nodes.v[0].n_ports = 9;
	plan_host(&plan, 0, "node002 HCA-0");
	plan_host(&plan, far, "node001 HCA-10");
	plan_adapter(&plan, "node001 HCA-0"); /* no cable */
	plan_host(&plan, far, "island HCA-1");
	plan_adapter(&plan, "adrift HCA-1");
	f = plan_end(&plan);
	text = export_by(fab_export_slurm, f, &notes);
	cr_assert_str_eq(body(text), "SwitchName=far Nodes=island\n"
				     "SwitchName=leaf1 Nodes=node[001-002]\n");
	cr_assert_arr_eq(&notes, &wanted, sizeof(notes));
}

/* A comb: hosts only at the ends of teeth that grow longer. */
Test(slurm, long_chains_stay_below_the_depth_that_slurm_follows)
{
	enum { LENGTH = 40 };
	struct plan plan = {0};
	OWN(fab_fabric) *f = NULL;
	FAB_AUTO(conf_free) struct conf conf;
	OWN_HEAP char *text = NULL;

	for (uint32_t i = 0, last = 0; i < LENGTH; i++) {
		OWN_HEAP char *name = fab_format("tooth%u-", i);
		uint32_t top = plan_switches(&plan, i + 2, name, 8);

		if (i)
			plan_join(&plan, top, last);
		for (uint32_t k = top; k <= top + i; k++)
			plan_join(&plan, k, k + 1);
		plan_host(&plan, top + i + 1, "h%u HCA-1", i);
		last = top;
	}
	f = plan_end(&plan);
	text = export_by(fab_export_slurm, f, NULL);
	conf = conf_read(text);
	cr_assert_eq(conf.hosts.n, LENGTH);
	cr_assert_eq(conf.n_roots, 1);
}

Test(slurm, nothing_to_list_is_an_error)
{
	struct plan plan = plan_tree(2, 1, 0);
	OWN(fab_fabric) *f = NULL;

	plan_adapter(&plan, "adrift HCA-1");
	f = plan_end(&plan);
	FAILS_AS(fab_export_slurm(stdout, f, NULL, ERR), -EINVAL,
		 "plan: no host with a cable to a switch");
}

/* ---- topology.yaml and topology/block ---- */

/* The topology number `nth` of a topology.yaml as a topology.conf; NULL: it has fewer. */
static char *conf_of_yaml(const char *text, int nth)
{
	OWN_HEAP char *copy = fab_strdup(text);
	char *conf = NULL, *save = NULL, name[80], key[16], value[2048];

	for (char *line = strtok_r(copy, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		nth -= !strncmp(line, "- topology: \"rail", 17);
		sscanf(line, "      - switch: \"%79[^\"]\"", name);
		if (nth == -1 &&
		    sscanf(line, "        %15[a-z]: \"%2047[^\"]\"", key, value) == 2)
			fab_append(&conf, "", "SwitchName=%s %s=%s\n", name,
				   *key == 'n' ? "Nodes" : "Switches", value);
	}
	return conf;
}

/* Each topology has the hosts of its rail; one for each way in which hosts have cables to
 * different switches. */
Test(slurm, topologies_of_rails)
{
	OWN(fab_fabric) *f = NULL;
	struct plan plan = plan_tree(4, 2, 0);
	OWN_HEAP char *text = NULL, *conf = NULL;

	/* n1 .. n6: the second adapter two leaves on, the third where the second is */
	for (uint32_t i = 0; i < 4; i++)
		plan.nodes.v[i].n_ports = 36;
	for (uint32_t i = 0; i < 18; i++)
		plan_host(&plan, i % 2 + (i < 6 ? 0 : 2), "n%u mlx5_%u", i % 6 + 1,
			  i / 6);
	f = plan_end(&plan);
	text = export_by(fab_export_slurm_yaml, f, NULL);
	conf = conf_of_yaml(text, 1);
	cr_assert_str_eq(conf, "SwitchName=leaf3 Nodes=n[1,3,5]\n"
			       "SwitchName=leaf4 Nodes=n[2,4,6]\n"
			       "SwitchName=spine1 Switches=leaf[3-4]\n");
	cr_assert_null(conf_of_yaml(text, 2));
}

/* Is the leaf below the switch, or that? */
static bool is_below(const struct conf *tree, const struct conf_switch *s,
		     const char *leaf)
{
	if (!strcmp(s->name, leaf))
		return true;
	for (size_t i = 0; i < tree->switches.n; i++)
		for (size_t k = 0; k < s->switches.n; k++)
			if (!strcmp(tree->switches.v[i].name, s->switches.v[k]) &&
			    is_below(tree, &tree->switches.v[i], leaf))
				return true;
	return false;
}

/* How many of the blocks from .. end - 1 are below the switch? */
static size_t count_below(const struct conf *tree, const struct conf_switch *s,
			  const struct conf *blocks, size_t from, size_t end)
{
	size_t n = 0;

	for (size_t i = from; i < end; i++)
		n += is_below(tree, s, blocks->switches.v[i].name);
	return n;
}

/* No run of n blocks is cut by a switch of the tree of topology.conf. */
static void check_runs(const struct conf *tree, const struct conf *blocks, size_t n)
{
	size_t n_blocks = blocks->switches.n;

	for (const struct conf_switch *s = tree->switches.v;
	     s < tree->switches.v + tree->switches.n; s++)
		for (size_t from = 0; from < n_blocks; from += n) {
			size_t end = from + n < n_blocks ? from + n : n_blocks;
			size_t n_in = count_below(tree, s, blocks, from, end);

			cr_assert(
				!n_in || n_in == end - from ||
					n_in == count_below(tree, s, blocks, 0, n_blocks),
				"%zu blocks are cut by %s", n, s->name);
		}
}

/* As block_record.c of Slurm checks them: BlockSizes are the least number of hosts of a
 * block times powers of two. */
static void check_blocks(const struct fab_fabric *f)
{
	OWN_HEAP char *text = export_by(fab_export_slurm_block, f, NULL);
	OWN_HEAP char *tree = export_by(fab_export_slurm, f, NULL), *lines = NULL;
	const char *sizes = strstr(text, "\nBlockSizes=");
	size_t least = SIZE_MAX, last = 0;
	FAB_AUTO(conf_free) struct conf conf = conf_read(tree), blocks;

	for (const char *at = text; (at = strstr(at, "\nBlockName=")); at++)
		fab_append(&lines, "", "SwitchName=%.*s\n", (int)strcspn(at + 11, "\n"),
			   at + 11);
	blocks = conf_read(lines); /* names differ, no host is in two blocks */
	for (size_t i = 0; i < blocks.switches.n; i++)
		if (blocks.switches.v[i].nodes.n < least)
			least = blocks.switches.v[i].nodes.n;
	cr_assert_not_null(sizes);
	cr_assert_eq(strtoul(sizes + 12, NULL, 10), least, "%s", f->source);
	for (const char *at = sizes + 11; at; at = strchr(at + 1, ',')) {
		size_t size = strtoul(at + 1, NULL, 10), n = size / least;

		cr_assert_eq(size % least, 0);
		cr_assert_eq(n & (n - 1), 0);
		cr_assert_gt(size, last);
		last = size;
		check_runs(&conf, &blocks, n);
	}
	cr_assert_geq(last, least * blocks.switches.n, "%s", f->source);
}

/* Every kind of generated fabric gives a tree of all its hosts that Slurm would take. */
Test(slurm, generated_fabrics)
{
	static const struct {
		const char *spec;
		unsigned n_hosts, max_depth, n_groups;
	} cases[] = {
		{"fattree:radix=6,levels=1", 6, 0, 0},
		{"fattree:radix=8,levels=2", 32, 1, 1},
		{"fattree:radix=8,levels=3", 128, 2, 9},
		{"pgft:h=3,m=4/3/2,w=1/2/3,p=1/1/1", 24, 2, 3},
		{"pgft:h=3,m=4/6/3,w=1/2/3,p=1/1/1", 72, 2, 4},
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
		OWN_HEAP char *text = export_by(fab_export_slurm, f, NULL);
		FAB_AUTO(conf_free) struct conf conf = conf_read(text);
		unsigned n_groups = 0;

		for (size_t k = 0; k < conf.switches.n; k++)
			n_groups += conf.switches.v[k].switches.n > 0;
		cr_expect_eq(conf.hosts.n, cases[i].n_hosts, "%s", cases[i].spec);
		cr_expect_eq(conf.max_depth, cases[i].max_depth, "%s", cases[i].spec);
		cr_expect_eq(n_groups, cases[i].n_groups, "%s", cases[i].spec);
		cr_expect_eq(conf.n_roots, 1, "%s", cases[i].spec);
		if (f->n_switches < 100)
			check_blocks(f);
	}
}

/* Three leaves and one below two switches: a run of two blocks would cut the three. */
Test(slurm, blocks_of_uneven_parts)
{
	struct plan plan = {0};
	OWN(fab_fabric) *f = NULL;

	plan_switches(&plan, 7, "s", 8);
	for (uint32_t i = 0; i < 2; i++)
		plan_join(&plan, 0, 1 + i);
	for (uint32_t i = 0; i < 4; i++) {
		plan_join(&plan, 1 + i / 3, 3 + i);
		plan_host(&plan, 3 + i, "n%u HCA-1", i);
	}
	f = plan_end(&plan);
	check_blocks(f);
}

/* Every host of every real dump exactly once, on a switch that it has a cable to; the
 * same file whatever the order of the input. The first topology of the YAML file is that
 * of topology.conf; each is a tree. */
Test(slurm, real_dumps)
{
	for (const char *const *dump = data_dumps; *dump; dump++) {
		OWN(fab_fabric) *f = data_open(*dump);
		OWN(plan) plan = plan_from_fabric(f);
		OWN(fab_fabric) *a = plan_build(&plan, 0), *b = plan_build(&plan, 5);
		struct fab_slurm_notes notes;
		OWN_HEAP char *text = export_by(fab_export_slurm, f, &notes);
		OWN_HEAP char *text_a = export_by(fab_export_slurm, a, NULL);
		OWN_HEAP char *text_b = export_by(fab_export_slurm, b, NULL);
		OWN_HEAP char *yaml = export_by(fab_export_slurm_yaml, f, NULL);
		FAB_AUTO(conf_free) struct conf conf = conf_read(text);
		char *rail = conf_of_yaml(yaml, 0);

		cr_expect_eq(conf.hosts.n, f->n_hosts, "%s", *dump);
		cr_expect_eq(conf.n_roots, 1, "%s", *dump);
		cr_expect_eq(notes.n_unattached, 0);
		cr_expect_str_eq(text_a, text_b, "%s", *dump);
		cr_expect_str_eq(rail, body(text), "%s", *dump);
		if (f->n_switches < 100)
			check_blocks(f);
		for (int n = 1; rail; rail = conf_of_yaml(yaml, n++)) {
			FAB_AUTO(conf_free) struct conf read = conf_read(rail);

			cr_expect_leq(read.hosts.n, f->n_hosts);
			free(rail);
		}
	}
}
