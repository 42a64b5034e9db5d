/* SPDX-License-Identifier: BSD-2-Clause */
/* Host lists, then trees of switches as Slurm has them: topology.conf for topology/tree
 * and topology/block, and topology.yaml. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/sets.h"
#include "base/text.h"
#include "export/slurm.h"
#include "fabric/label.h"
#include "fabric/ranks.h"

/* ---- host lists ---- */

enum {
	MAX_DIGITS = 6, /* of a number at the end; more are no count but an identifier */
	GUID_DIGITS = 12,  /* hexadecimal digits at the end: an identifier, too */
	MAX_RANGE = 32768, /* names in one range; Slurm refuses more than 65536 */
};

struct item {
	char *prefix;
	const char *digits; /* within the name, "" without a number */
	size_t n_digits;
	unsigned long value;
};

static int by_number(const void *x, const void *y)
{
	const struct item *a = x, *b = y;
	int order = fab_text_natural_cmp(a->prefix, b->prefix);

	if (order)
		return order;
	FAB_ORDER_BY(a, b, n_digits);
	return (a->value > b->value) - (a->value < b->value);
}

/* 9 and 10, 09 and 10, but not 009 and 10. */
static bool follows(const struct item *a, const struct item *b)
{
	if (b->value != a->value + 1)
		return false;
	return a->n_digits == b->n_digits || (a->n_digits + 1 == b->n_digits &&
					      a->digits[0] != '0' && b->digits[0] != '0');
}

/* The items of one prefix: plain when there is one, else in brackets. */
static void put_group(FILE *out, const struct item *item, size_t n)
{
	fputs(item->prefix, out);
	if (n == 1) {
		fputs(item->digits, out);
		return;
	}
	putc('[', out);
	for (size_t i = 0, end; i < n; i = end) {
		end = i + 1;
		while (end < n && end - i < MAX_RANGE &&
		       follows(&item[end - 1], &item[end]))
			end++;
		fprintf(out, "%s%s", i ? "," : "", item[i].digits);
		if (end - i > 1)
			fprintf(out, "-%s", item[end - 1].digits);
	}
	putc(']', out);
}

char *fab_hostlist_fold(const char *const *names, size_t n)
{
	FAB_AUTOFREE struct item *items = FAB_NEW(n, struct item);
	char *text;
	size_t n_text;
	FILE *out = fab_text_stream(&text, &n_text);

	for (size_t i = 0; i < n; i++) {
		const char *name = names[i];
		size_t len = strlen(name), count = 0, n_hex = 0;
		while (count < len && name[len - count - 1] >= '0' &&
		       name[len - count - 1] <= '9')
			count++;
		while (n_hex < len && strchr("0123456789abcdef", name[len - n_hex - 1]))
			n_hex++;
		if (count > MAX_DIGITS || n_hex >= GUID_DIGITS)
			count = 0;
		items[i] = (struct item){.prefix = fab_strndup(name, len - count),
					 .digits = name + len - count,
					 .n_digits = count,
					 .value = strtoul(name + len - count, NULL, 10)};
	}
	qsort(items, n, sizeof(*items), by_number);
	for (size_t i = 0, len; i < n; i += len) {
		const struct item *item = &items[i];

		/* How many items from the first on can share brackets. */
		len = 1;
		while (item[0].n_digits && len < (n - i) && item[len].n_digits &&
		       !strcmp(item[0].prefix, item[len].prefix))
			len++;
		if (i)
			putc(',', out);
		put_group(out, &items[i], len);
	}
	for (size_t i = 0; i < n; i++)
		free(items[i].prefix);
	fclose(out);
	return text;
}

/* ---- topology.conf ---- */

enum { MAX_TIER = 12 }; /* Slurm follows a tree 20 levels deep; join all above this one */

/* A switch of the topology.conf: a leaf with hosts or a group of others. */
struct branch {
	const char *name;
	uint32_t sw; /* any switch within, whose set has the others */
	bool is_leaf;
	FAB_VEC(const char *) members; /* hosts or branches */
	FAB_VEC(uint32_t) below;       /* branches: their places */
};

/* A port of a host's adapter that is cabled to a switch. */
struct attachment {
	uint32_t node, port, sw;
};

struct tree {
	const struct fab_fabric *f;
	struct fab_arena arena;
	struct fab_plain_names names;
	struct fab_ranks ranks;
	struct fab_shape *shape;
	uint32_t *first, n_rails;      /* [n_hosts + 1] into attachment */
	struct attachment *attachment; /* of each host, by name of adapter and port */
	uint32_t *leaf;		       /* [n_hosts] switch on this rail, FAB_NONE */
	uint32_t *set;		       /* [n_switches] union-find, parent pointers */
	uint32_t *by_name;	       /* [n_switches] in the order of their names */
	bool *is_named;		       /* [n_switches] its name is in the file */
	FAB_VEC(struct branch) branches;
	FAB_VEC(uint32_t) tops; /* branches without a parent so far */
	uint32_t next_invented;
	struct fab_slurm_notes notes;
};

static int by_adapter(const void *x, const void *y, void *fabric)
{
	const struct attachment *a = x, *b = y;
	const struct fab_fabric *f = fabric;
	int order = fab_text_natural_cmp(fab_node_name(f, a->node),
					 fab_node_name(f, b->node));

	if (order)
		return order;
	FAB_ORDER_BY(a, b, node);
	return (a->port > b->port) - (a->port < b->port);
}

/* Where hosts are attached; a host's first attachment is its first rail, and so on. */
static void find_attachments(struct tree *t)
{
	const struct fab_fabric *f = t->f;
	uint32_t n = 0;

	t->first = FAB_ARENA_NEW(&t->arena, f->n_hosts + 1, uint32_t);
	t->leaf = FAB_ARENA_NEW(&t->arena, f->n_hosts, uint32_t);
	t->attachment = FAB_ARENA_NEW(&t->arena, f->n_host_links, struct attachment);
	for (uint32_t h = 0; h < f->n_hosts; h++) {
		struct attachment *own = t->attachment + n;
		uint32_t n_own = 0, n_switches = 0;

		t->first[h] = n;
		FAB_EACH_HOST_PORT(f, h, p)
			if (fab_port_switch(f, p) != FAB_NONE)
				own[n_own++] = (struct attachment){f->port_node[p], p,
								   fab_port_switch(f, p)};
		if (n_own)
			qsort_r(own, n_own, sizeof(*own), by_adapter,
				(void *)(uintptr_t)f);
		/* other ports of an adapter are rails as well, but do not split a host */
		for (uint32_t i = 1; i < n_own; i++)
			n_switches +=
				own[i].sw != own[0].sw && own[i].node != own[i - 1].node;
		t->notes.n_split += n_switches > 0;
		t->notes.n_hosts += n_own > 0;
		t->notes.n_unattached += !n_own;
		t->n_rails = n_own > t->n_rails ? n_own : t->n_rails;
		n += n_own;
	}
	t->first[f->n_hosts] = n;
}

/* The leaf of each host on a rail. */
static void choose_rail(struct tree *t, uint32_t rail)
{
	for (uint32_t h = 0; h < t->f->n_hosts; h++)
		t->leaf[h] = t->first[h] + rail < t->first[h + 1]
				     ? t->attachment[t->first[h] + rail].sw
				     : FAB_NONE;
}

static uint32_t add_branch(struct tree *t, const char *name, uint32_t sw, bool is_leaf)
{
	FAB_PUSH(&t->branches,
		 ((struct branch){.name = name, .sw = sw, .is_leaf = is_leaf}));
	return (uint32_t)(t->branches.n - 1);
}

/* Put the tops that are now in one set under a branch of their own, which has the name of
 * the first switch by name of this rank in the set. */
static void group_tops(struct tree *t, uint32_t rank)
{
	uint32_t n_switches = t->f->n_switches;
	FAB_AUTOFREE uint32_t *giver = fab_none_new(n_switches);
	FAB_AUTOFREE uint32_t *n_in = FAB_NEW0(n_switches, uint32_t);
	FAB_AUTOFREE uint32_t *group = fab_none_new(n_switches);
	size_t kept = 0, n = t->tops.n;

	for (uint32_t i = 0; i < n_switches; i++) {
		uint32_t s = t->by_name[i], root = fab_sets_root(t->set, s);

		if (t->ranks.rank[s] == rank && !t->is_named[s] &&
		    giver[root] == FAB_NONE)
			giver[root] = s;
	}
	for (size_t i = 0; i < n; i++)
		n_in[fab_sets_root(t->set, t->branches.v[t->tops.v[i]].sw)]++;
	for (size_t i = 0; i < n; i++) {
		uint32_t top = t->tops.v[i], sw = t->branches.v[top].sw;
		uint32_t root = fab_sets_root(t->set, sw);

		if (n_in[root] == 1) {
			t->tops.v[kept++] = top;
			continue;
		}
		if (group[root] == FAB_NONE) {
			const char *name;

			if (giver[root] == FAB_NONE) {
				char *own = fab_plain_names_invent(
					&t->names, t->f, "group", &t->next_invented);

				fab_arena_own(&t->arena, free, own);
				name = own;
			} else {
				name = t->names.of_switch[giver[root]];
				t->is_named[giver[root]] = true;
			}
			group[root] = add_branch(t, name, sw, false);
			t->tops.v[kept++] = group[root];
		}
		FAB_PUSH(&t->branches.v[group[root]].members, t->branches.v[top].name);
		FAB_PUSH(&t->branches.v[group[root]].below, top);
	}
	t->tops.n = kept;
}

static int by_name(const void *x, const void *y, void *names)
{
	const struct fab_plain_names *n = names;

	return fab_text_natural_cmp(n->of_switch[*(const uint32_t *)x],
				    n->of_switch[*(const uint32_t *)y]);
}

/* Leaves and their hosts, by name. */
static void add_leaves(struct tree *t)
{
	const struct fab_fabric *f = t->f;
	const uint32_t *leaf = t->leaf;
	uint32_t *branch = FAB_ARENA_NEW(&t->arena, f->n_switches, uint32_t);

	for (uint32_t h = 0; h < f->n_hosts; h++)
		if (leaf[h] != FAB_NONE)
			t->is_named[leaf[h]] = true;
	for (uint32_t i = 0; i < f->n_switches; i++) {
		uint32_t s = t->by_name[i];

		if (!t->is_named[s])
			continue;
		branch[s] = add_branch(t, t->names.of_switch[s], s, true);
		FAB_PUSH(&t->tops, branch[s]);
	}
	for (uint32_t h = 0; h < f->n_hosts; h++)
		if (leaf[h] != FAB_NONE)
			FAB_PUSH(&t->branches.v[branch[leaf[h]]].members,
				 (const char *)t->names.of_host[h]);
	t->notes.n_leaves = (uint32_t)t->branches.n;
}

static void clear(struct tree *t)
{
	for (size_t i = 0; i < t->branches.n; i++)
		FAB_FREE_ALL(t->branches.v[i].members.v, t->branches.v[i].below.v);
	t->branches.n = t->tops.n = 0;
}

static void fini(struct tree *t)
{
	clear(t);
	FAB_FREE_ALL(t->branches.v, t->tops.v);
	fab_plain_names_fini(&t->names);
	fab_ranks_fini(&t->ranks);
	fab_shape_free(t->shape);
	fab_arena_free(&t->arena);
}

/* The branches of the rail that was chosen, leaves first. */
static void build(struct tree *t)
{
	const struct fab_fabric *f = t->f;
	const uint32_t *of = t->shape->group, *rank_of = t->ranks.rank;

	clear(t);
	t->next_invented = 1;
	for (uint32_t s = 0; s < f->n_switches; s++) {
		t->set[s] = s;
		t->is_named[s] = false;
	}
	add_leaves(t);
	/* the groups of a dragonfly first */
	for (uint32_t s = 0; s < f->n_switches && of; s++)
		FAB_EACH_PEER(f, s, k)
			if (of[f->peer[k]] == of[s])
				fab_sets_unite(t->set, f->peer[k], s);
	if (of)
		group_tops(t, 0);
	/* join the neighbours of which the higher one is of a rank (or above, at the
	 * last), rank by rank */
	for (uint32_t rank = 0;
	     rank < t->ranks.n_ranks && rank <= MAX_TIER && t->tops.n > 1; rank++) {
		bool is_last = rank == MAX_TIER;

		for (uint32_t s = 0; s < f->n_switches; s++)
			FAB_EACH_PEER(f, s, k)
				if (rank_of[s] != FAB_NONE &&
				    (is_last ||
				     (rank_of[s] <= rank && rank_of[f->peer[k]] <= rank)))
					fab_sets_unite(t->set, f->peer[k], s);
		group_tops(t, rank);
	}
	t->notes.n_roots = (uint32_t)t->tops.n;
}

/* The comments at the top. */
static void put_head(FILE *out, const struct tree *t, const char *what)
{
	const struct fab_slurm_notes *n = &t->notes;
	const struct {
		uint32_t n;
		const char *before, *after;
	} remarks[] = {
		{n->n_topologies ? 0 : n->n_split,
		 "hosts with adapters on several switches: ",
		 ", each listed under that of its first adapter by name"},
		{n->n_unnamed,
		 "hosts without a name that Slurm takes: ", ", called H-<GUID>"},
		{n->n_unattached, "hosts without a cable to a switch: ", ", left out"},
		{n->n_roots > 1 && !n->n_topologies ? n->n_roots : 0, "",
		 " parts that no cable joins: no job spans two of them"},
	};
	char source[512];

	fprintf(out, "# %s\n# fabric: %s\n# hosts: %u, switches with hosts: %u\n", what,
		fab_text_safe(t->f->source, source, sizeof(source)), n->n_hosts,
		n->n_leaves);
	for (size_t i = 0; i < FAB_COUNT(remarks); i++)
		if (remarks[i].n)
			fprintf(out, "# %s%u%s\n", remarks[i].before, remarks[i].n,
				remarks[i].after);
}

/* Prepare the first rail; EINVAL: there is no host to list. */
static int begin(struct tree *t, struct fab_err *err)
{
	const struct fab_fabric *f = t->f;

	fab_plain_names_init(&t->names, f);
	t->shape = fab_shape_recognize(f);
	fab_ranks_init(&t->ranks, f, t->shape);
	t->set = FAB_ARENA_NEW(&t->arena, f->n_switches, uint32_t);
	t->by_name = fab_arena_sorted(&t->arena, f->n_switches, by_name, &t->names);
	t->is_named = FAB_ARENA_NEW(&t->arena, f->n_switches, bool);

	find_attachments(t);
	t->notes.n_unnamed = t->names.n_unnamed;
	if (!t->notes.n_hosts)
		return fab_fail(err, EINVAL, "%s: no host with a cable to a switch",
				t->f->source);
	choose_rail(t, 0);
	build(t);
	return 0;
}

int fab_export_slurm(FILE *out, const struct fab_fabric *f, struct fab_slurm_notes *notes,
		     struct fab_err *err)
{
	FAB_AUTO(fini) struct tree t = {.f = f};
	int rc = begin(&t, err);

	if (rc)
		return rc;
	put_head(out, &t, "topology.conf for TopologyPlugin=topology/tree");
	/* leaves come before groups */
	for (size_t i = 0; i < t.branches.n; i++) {
		const struct branch *b = &t.branches.v[i];
		FAB_AUTOFREE char *list = fab_hostlist_fold(b->members.v, b->members.n);

		fprintf(out, "SwitchName=%s %s=%s\n", b->name,
			b->is_leaf ? "Nodes" : "Switches", list);
	}
	if (notes)
		*notes = t.notes;
	return 0;
}

/* ---- topology.yaml: a topology for each rail ---- */

/* The first rail on which every host that is on this one has the same leaf. */
static uint32_t first_alike(const struct tree *t, uint32_t rail)
{
	for (uint32_t r = 0; r < rail; r++) {
		bool is_alike = true;

		for (uint32_t h = 0; h < t->f->n_hosts && is_alike; h++)
			if (t->first[h] + rail < t->first[h + 1])
				is_alike = t->attachment[t->first[h] + r].sw ==
					   t->attachment[t->first[h] + rail].sw;
		if (is_alike)
			return r;
	}
	return rail;
}

int fab_export_slurm_yaml(FILE *out, const struct fab_fabric *f,
			  struct fab_slurm_notes *notes, struct fab_err *err)
{
	FAB_AUTO(fini) struct tree t = {.f = f};
	int rc = begin(&t, err);

	if (rc)
		return rc;
	for (uint32_t rail = 0; rail < t.n_rails; rail++)
		t.notes.n_topologies += first_alike(&t, rail) == rail;
	put_head(out, &t, "topology.yaml for Slurm 25.05 and later, topology/tree");
	if (t.notes.n_topologies > 1)
		fprintf(out,
			"# rails: %u, by the order of each host's adapters; Topology=rail2 in the line of a partition chooses one\n",
			t.notes.n_topologies);
	fputs("---\n", out);
	for (uint32_t rail = 0; rail < t.n_rails; rail++) {
		uint32_t n_without = 0;

		if (first_alike(&t, rail) != rail)
			continue;
		choose_rail(&t, rail);
		build(&t);
		for (uint32_t h = 0; h < f->n_hosts; h++)
			n_without += t.first[h] < t.first[h + 1] && t.leaf[h] == FAB_NONE;
		if (n_without)
			fprintf(out, "# hosts that have no such rail: %u\n", n_without);
		if (t.notes.n_roots > 1)
			fprintf(out,
				"# %u parts that no cable joins: no job spans two of them\n",
				t.notes.n_roots);
		fprintf(out,
			"- topology: \"rail%u\"\n  cluster_default: %s\n  tree:\n    switches:\n",
			rail + 1, rail ? "false" : "true");
		for (size_t i = 0; i < t.branches.n; i++) {
			const struct branch *b = &t.branches.v[i];
			FAB_AUTOFREE char *list =
				fab_hostlist_fold(b->members.v, b->members.n);

			fprintf(out, "      - switch: \"%s\"\n        %s: \"%s\"\n",
				b->name, b->is_leaf ? "nodes" : "children", list);
		}
	}
	if (notes)
		*notes = t.notes;
	return 0;
}

/* ---- topology.conf of topology/block: a block for each leaf ---- */

enum { MAX_LEVEL = 15 }; /* Slurm takes 2^15 blocks in one at most */

/* Leaves in the order of the tree, and the branches above them as ranges of it. */
struct order {
	uint32_t *leaf, n;   /* places of branches that are blocks */
	uint32_t *from, *to; /* [n_branches] */
};

static void put_in_order(const struct tree *t, uint32_t branch, uint32_t least,
			 struct order *order)
{
	const struct branch *b = &t->branches.v[branch];

	order->from[branch] = order->n;
	if (b->is_leaf && b->members.n >= least)
		order->leaf[order->n++] = branch;
	for (size_t i = 0; i < b->below.n; i++)
		put_in_order(t, b->below.v[i], least, order);
	order->to[branch] = order->n;
}

/* Does every run of `size` blocks lie within a branch, or hold all of it? */
static bool fits_tree(const struct tree *t, const struct order *order, uint32_t size)
{
	for (size_t i = 0; i < t->branches.n; i++) {
		uint32_t from = order->from[i], to = order->to[i];
		bool is_cut_at_start = from % size && to > from - from % size + size;
		bool is_cut_at_end = to % size && to < order->n && from < to - to % size;

		if (is_cut_at_start || is_cut_at_end)
			return false;
	}
	return true;
}

static uint32_t median_block(const struct tree *t)
{
	FAB_AUTOFREE FAB_VEC(uint32_t) sizes = {0};

	for (size_t i = 0; i < t->branches.n; i++)
		if (t->branches.v[i].is_leaf)
			FAB_PUSH(&sizes, (uint32_t)t->branches.v[i].members.n);
	FAB_SORT(&sizes, fab_cmp_u32);
	return sizes.n ? sizes.v[sizes.n / 2] : 0;
}

int fab_export_slurm_block(FILE *out, const struct fab_fabric *f,
			   struct fab_slurm_notes *notes, struct fab_err *err)
{
	FAB_AUTO(fini) struct tree t = {.f = f};
	struct order order = {0};
	uint32_t least, base = UINT32_MAX;
	int rc = begin(&t, err);

	if (rc)
		return rc;
	/* A block has at least BlockSizes hosts: leaves with less than half of the usual
	 * are not blocks. */
	least = (median_block(&t) + 1) / 2;
	order.leaf = FAB_ARENA_NEW(&t.arena, t.branches.n, uint32_t);
	order.from = FAB_ARENA_NEW(&t.arena, t.branches.n, uint32_t);
	order.to = FAB_ARENA_NEW(&t.arena, t.branches.n, uint32_t);
	for (size_t i = 0; i < t.tops.n; i++)
		put_in_order(&t, t.tops.v[i], least, &order);
	for (uint32_t i = 0; i < order.n; i++)
		if (t.branches.v[order.leaf[i]].members.n < base)
			base = (uint32_t)t.branches.v[order.leaf[i]].members.n;
	put_head(out, &t, "topology.conf for TopologyPlugin=topology/block");
	for (size_t i = 0; i < t.branches.n; i++) {
		const struct branch *b = &t.branches.v[i];
		FAB_AUTOFREE char *list = NULL;

		if (!b->is_leaf || b->members.n >= least)
			continue;
		list = fab_hostlist_fold(b->members.v, b->members.n);
		t.notes.n_blockless += (uint32_t)b->members.n;
		fprintf(out, "# too few for a block of %u: %s on %s\n", base, list,
			b->name);
	}
	for (uint32_t i = 0; i < order.n; i++) {
		const struct branch *b = &t.branches.v[order.leaf[i]];
		FAB_AUTOFREE char *list = fab_hostlist_fold(b->members.v, b->members.n);

		fprintf(out, "BlockName=%s Nodes=%s\n", b->name, list);
	}
	fprintf(out, "BlockSizes=%u", base);
	for (uint32_t level = 1; level <= MAX_LEVEL && 1u << (level - 1) < order.n;
	     level++)
		if (1u << level >= order.n || fits_tree(&t, &order, 1u << level))
			fprintf(out, ",%u", base << level);
	fputs("\n", out);
	if (notes)
		*notes = t.notes;
	return 0;
}
