/* SPDX-License-Identifier: BSD-2-Clause */
/* Host lists and topology.conf as Slurm has them. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
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

struct text {
	char *v;
	size_t n, cap;
};

static void put(struct text *t, const char *s, size_t len)
{
	FAB_RESERVE(t, len + 1);
	memcpy(t->v + t->n, s, len);
	t->n += len;
	t->v[t->n] = '\0';
}

static bool ends_in_guid(const char *name, size_t len)
{
	size_t n = 0;

	while (n < len && strchr("0123456789abcdef", name[len - n - 1]))
		n++;
	return n >= GUID_DIGITS;
}

static struct item split(const char *name)
{
	size_t len = strlen(name), n = 0;
	struct item item;

	while (n < len && name[len - n - 1] >= '0' && name[len - n - 1] <= '9')
		n++;
	if (n > MAX_DIGITS || ends_in_guid(name, len))
		n = 0;
	item.digits = name + len - n;
	item.n_digits = n;
	item.value = strtoul(item.digits, NULL, 10);
	item.prefix = fab_strndup(name, len - n);
	return item;
}

static int by_number(const void *x, const void *y)
{
	const struct item *a = x, *b = y;
	int order = fab_text_natural_cmp(a->prefix, b->prefix);

	if (order)
		return order;
	if (a->n_digits != b->n_digits)
		return a->n_digits < b->n_digits ? -1 : 1;
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
static void put_group(struct text *t, const struct item *item, size_t n)
{
	put(t, item->prefix, strlen(item->prefix));
	if (n == 1) {
		put(t, item->digits, item->n_digits);
		return;
	}
	put(t, "[", 1);
	for (size_t i = 0, end; i < n; i = end) {
		end = i + 1;
		while (end < n && end - i < MAX_RANGE &&
		       follows(&item[end - 1], &item[end]))
			end++;
		if (i)
			put(t, ",", 1);
		put(t, item[i].digits, item[i].n_digits);
		if (end - i > 1) {
			put(t, "-", 1);
			put(t, item[end - 1].digits, item[end - 1].n_digits);
		}
	}
	put(t, "]", 1);
}

/* How many items from the first on can share brackets. */
static size_t group_len(const struct item *item, size_t n)
{
	size_t len = 1;

	while (item[0].n_digits && len < n && item[len].n_digits &&
	       !strcmp(item[0].prefix, item[len].prefix))
		len++;
	return len;
}

char *fab_hostlist_fold(const char *const *names, size_t n)
{
	struct item *items = FAB_NEW(n, struct item);
	struct text text = {0};

	put(&text, "", 0);
	for (size_t i = 0; i < n; i++)
		items[i] = split(names[i]);
	qsort(items, n, sizeof(*items), by_number);
	for (size_t i = 0, len; i < n; i += len) {
		len = group_len(&items[i], n - i);
		if (i)
			put(&text, ",", 1);
		put_group(&text, &items[i], len);
	}
	for (size_t i = 0; i < n; i++)
		free(items[i].prefix);
	free(items);
	return text.v;
}

/* ---- topology.conf ---- */

enum { MAX_TIER = 12 }; /* Slurm follows a tree 20 levels deep; join all above this one */

/* A switch of the topology.conf: a leaf with hosts or a group of others. */
struct branch {
	char *name;
	uint32_t sw;	 /* any switch within: its set tells what is joined */
	uint32_t parent; /* branch, FAB_NONE */
	bool is_leaf;
};

struct tree {
	const struct fab_fabric *f;
	struct fab_plain_names names;
	struct fab_ranks ranks;
	uint32_t *set;	   /* [n_switches] union-find, parent pointers */
	uint32_t *by_name; /* [n_switches] in the order of their names */
	bool *is_named;	   /* [n_switches] its name stands in the file */
	FAB_VEC(struct branch) branches;
	FAB_VEC(uint32_t) tops; /* branches without a parent so far */
	uint32_t *host_leaf;	/* [n_hosts] switch, FAB_NONE: no cable */
	uint32_t *leaf_branch;	/* [n_switches] */
	uint32_t next_invented;
	struct fab_slurm_notes notes;
};

/* The switch of an adapter's first port with a cable to one, FAB_NONE. */
static uint32_t adapter_switch(const struct fab_fabric *f, uint32_t node)
{
	for (uint32_t p = f->node_first_port[node]; p < f->node_first_port[node + 1];
	     p++) {
		uint32_t s = fab_port_switch(f, p);

		if (s != FAB_NONE)
			return s;
	}
	return FAB_NONE;
}

/* Does adapter a come before adapter b: by name as people count, then by number? */
static bool comes_before(const struct fab_fabric *f, uint32_t a, uint32_t b)
{
	int order = fab_text_natural_cmp(fab_node_name(f, a), fab_node_name(f, b));

	return order < 0 || (order == 0 && a < b);
}

/* The switch of the host's first adapter by name that has a cable to one. */
static uint32_t host_switch(const struct fab_fabric *f, uint32_t host, bool *is_split)
{
	uint32_t leaf = FAB_NONE, first = FAB_NONE;

	*is_split = false;
	for (uint32_t i = f->host_first_adapter[host];
	     i < f->host_first_adapter[host + 1]; i++) {
		uint32_t adapter = f->host_adapter[i], s = adapter_switch(f, adapter);

		if (s == FAB_NONE)
			continue;
		*is_split |= leaf != FAB_NONE && s != leaf;
		if (first == FAB_NONE || comes_before(f, adapter, first)) {
			first = adapter;
			leaf = s;
		}
	}
	return leaf;
}

static void place_hosts(struct tree *t)
{
	for (uint32_t h = 0; h < t->f->n_hosts; h++) {
		bool is_split;
		uint32_t leaf = host_switch(t->f, h, &is_split);

		t->host_leaf[h] = leaf;
		t->notes.n_split += is_split;
		t->notes.n_hosts += leaf != FAB_NONE;
		t->notes.n_unattached += leaf == FAB_NONE;
	}
}

static uint32_t add_branch(struct tree *t, char *name, uint32_t sw, bool is_leaf)
{
	struct branch b = {
		.name = name, .sw = sw, .parent = FAB_NONE, .is_leaf = is_leaf};

	FAB_PUSH(&t->branches, b);
	return (uint32_t)(t->branches.n - 1);
}

static void add_leaves(struct tree *t)
{
	for (uint32_t h = 0; h < t->f->n_hosts; h++)
		if (t->host_leaf[h] != FAB_NONE)
			t->is_named[t->host_leaf[h]] = true;
	for (uint32_t i = 0; i < t->f->n_switches; i++) {
		uint32_t s = t->by_name[i];

		if (!t->is_named[s])
			continue;
		t->leaf_branch[s] =
			add_branch(t, fab_strdup(t->names.of_switch[s]), s, true);
		FAB_PUSH(&t->tops, t->leaf_branch[s]);
	}
	t->notes.n_leaves = (uint32_t)t->branches.n;
}

/* Join the neighbours of which the higher one is of this rank (or above, at the last). */
static void join_rank(struct tree *t, uint32_t rank)
{
	const struct fab_fabric *f = t->f;

	for (uint32_t s = 0; s < f->n_switches; s++) {
		if (t->ranks.rank[s] == FAB_NONE ||
		    (t->ranks.rank[s] > rank && rank < MAX_TIER))
			continue;
		for (uint32_t k = f->peer_first[s]; k < f->peer_first[s + 1]; k++) {
			uint32_t peer = f->peer[k];

			if (t->ranks.rank[peer] <= rank || rank == MAX_TIER)
				fab_sets_unite(t->set, peer, s);
		}
	}
}

/* The groups of a dragonfly. */
static void join_dragonfly(struct tree *t, const struct fab_shape *shape)
{
	const struct fab_fabric *f = t->f;

	for (uint32_t s = 0; s < f->n_switches; s++)
		for (uint32_t k = f->peer_first[s]; k < f->peer_first[s + 1]; k++)
			if (shape->group[f->peer[k]] == shape->group[s])
				fab_sets_unite(t->set, f->peer[k], s);
}

/* The first switch by name of this rank in each set gives the set's group its name. */
static uint32_t *name_givers(struct tree *t, uint32_t rank)
{
	uint32_t *giver = FAB_NEW(t->f->n_switches, uint32_t);

	memset(giver, 0xff, t->f->n_switches * sizeof(*giver));
	for (uint32_t i = 0; i < t->f->n_switches; i++) {
		uint32_t s = t->by_name[i], root = fab_sets_root(t->set, s);

		if (t->ranks.rank[s] == rank && !t->is_named[s] &&
		    giver[root] == FAB_NONE)
			giver[root] = s;
	}
	return giver;
}

static uint32_t new_group(struct tree *t, uint32_t giver, uint32_t sw)
{
	if (giver == FAB_NONE)
		return add_branch(t,
				  fab_plain_names_invent(&t->names, t->f, "group",
							 &t->next_invented),
				  sw, false);
	t->is_named[giver] = true;
	return add_branch(t, fab_strdup(t->names.of_switch[giver]), sw, false);
}

/* Put the tops that are now in one set under a branch of their own. */
static void group_tops(struct tree *t, uint32_t rank)
{
	uint32_t n_switches = t->f->n_switches;
	uint32_t *giver = name_givers(t, rank);
	uint32_t *n_in = FAB_NEW0(n_switches, uint32_t);
	uint32_t *group = FAB_NEW(n_switches, uint32_t);
	size_t kept = 0, n = t->tops.n;

	memset(group, 0xff, n_switches * sizeof(*group));
	for (size_t i = 0; i < n; i++)
		n_in[fab_sets_root(t->set, t->branches.v[t->tops.v[i]].sw)]++;
	for (size_t i = 0; i < n; i++) {
		uint32_t top = t->tops.v[i],
			 root = fab_sets_root(t->set, t->branches.v[top].sw);

		if (n_in[root] == 1) {
			t->tops.v[kept++] = top;
			continue;
		}
		if (group[root] == FAB_NONE) {
			group[root] = new_group(t, giver[root], t->branches.v[top].sw);
			t->tops.v[kept++] = group[root];
		}
		t->branches.v[top].parent = group[root];
	}
	t->tops.n = kept;
	free(giver);
	free(n_in);
	free(group);
}

static int by_name(const void *x, const void *y, void *names)
{
	const struct fab_plain_names *n = names;

	return fab_text_natural_cmp(n->of_switch[*(const uint32_t *)x],
				    n->of_switch[*(const uint32_t *)y]);
}

static void build(struct tree *t)
{
	struct fab_shape *shape = fab_shape_recognize(t->f);

	fab_ranks_init(&t->ranks, t->f, shape);
	for (uint32_t s = 0; s < t->f->n_switches; s++)
		t->set[s] = t->by_name[s] = s;
	qsort_r(t->by_name, t->f->n_switches, sizeof(*t->by_name), by_name, &t->names);
	place_hosts(t);
	add_leaves(t);
	if (shape->group) {
		join_dragonfly(t, shape);
		group_tops(t, 0);
	}
	for (uint32_t rank = 0;
	     rank < t->ranks.n_ranks && rank <= MAX_TIER && t->tops.n > 1; rank++) {
		join_rank(t, rank);
		group_tops(t, rank);
	}
	t->notes.n_roots = (uint32_t)t->tops.n;
	t->notes.n_unnamed = t->names.n_unnamed;
	fab_shape_free(shape);
}

/* Lists of members in compressed rows: the hosts of leaves, the children of groups. */
struct members {
	uint32_t *first; /* [branches + 1] */
	const char **name;
};

static uint32_t owner(const struct tree *t, bool of_hosts, uint32_t i)
{
	if (!of_hosts)
		return t->branches.v[i].parent;
	return t->host_leaf[i] == FAB_NONE ? FAB_NONE : t->leaf_branch[t->host_leaf[i]];
}

static struct members list_members(const struct tree *t, bool of_hosts)
{
	uint32_t n_branches = (uint32_t)t->branches.n;
	uint32_t n = of_hosts ? t->f->n_hosts : n_branches;
	struct members m = {FAB_NEW0(n_branches + 2, uint32_t), FAB_NEW(n, const char *)};

	for (uint32_t i = 0; i < n; i++)
		if (owner(t, of_hosts, i) != FAB_NONE)
			m.first[owner(t, of_hosts, i) + 2]++;
	for (uint32_t b = 0; b < n_branches; b++)
		m.first[b + 2] += m.first[b + 1];
	for (uint32_t i = 0; i < n; i++)
		if (owner(t, of_hosts, i) != FAB_NONE)
			m.name[m.first[owner(t, of_hosts, i) + 1]++] =
				of_hosts ? t->names.of_host[i] : t->branches.v[i].name;
	return m;
}

static void print_branches(FILE *out, const struct tree *t, bool leaves)
{
	struct members m = list_members(t, leaves);

	for (uint32_t i = 0; i < t->branches.n; i++) {
		const struct branch *b = &t->branches.v[i];
		char *list;

		if (b->is_leaf != leaves)
			continue;
		list = fab_hostlist_fold(m.name + m.first[i],
					 m.first[i + 1] - m.first[i]);
		fprintf(out, "SwitchName=%s %s=%s\n", b->name,
			leaves ? "Nodes" : "Switches", list);
		free(list);
	}
	free(m.first);
	free(m.name);
}

static void print_notes(FILE *out, const struct tree *t)
{
	const struct fab_slurm_notes *n = &t->notes;
	char source[512];

	fprintf(out, "# topology.conf for TopologyPlugin=topology/tree\n");
	fprintf(out, "# fabric: %s\n",
		fab_text_safe(t->f->source, source, sizeof(source)));
	fprintf(out, "# hosts: %u, switches with hosts: %u\n", n->n_hosts, n->n_leaves);
	if (n->n_split)
		fprintf(out,
			"# hosts with adapters on several switches: %u, each listed under that of its first adapter by name\n",
			n->n_split);
	if (n->n_unnamed)
		fprintf(out,
			"# hosts without a name that Slurm takes: %u, called H-<GUID>\n",
			n->n_unnamed);
	if (n->n_unattached)
		fprintf(out, "# hosts without a cable to a switch: %u, left out\n",
			n->n_unattached);
	if (n->n_roots > 1)
		fprintf(out, "# %u parts that no cable joins: no job spans two of them\n",
			n->n_roots);
}

int fab_export_slurm(FILE *out, const struct fab_fabric *f, struct fab_slurm_notes *notes,
		     struct fab_err *err)
{
	struct tree t = {.f = f,
			 .set = FAB_NEW(f->n_switches, uint32_t),
			 .by_name = FAB_NEW(f->n_switches, uint32_t),
			 .is_named = FAB_NEW0(f->n_switches, bool),
			 .host_leaf = FAB_NEW(f->n_hosts, uint32_t),
			 .leaf_branch = FAB_NEW(f->n_switches, uint32_t),
			 .next_invented = 1};
	int rc = 0;

	fab_plain_names_init(&t.names, f);
	build(&t);
	if (!t.notes.n_hosts) {
		rc = fab_fail(err, EINVAL, "%s: no host with a cable to a switch",
			      f->source);
	} else {
		print_notes(out, &t);
		print_branches(out, &t, true);
		print_branches(out, &t, false);
	}
	if (!rc && notes)
		*notes = t.notes;
	for (size_t i = 0; i < t.branches.n; i++)
		free(t.branches.v[i].name);
	fab_plain_names_fini(&t.names, f);
	free(t.branches.v);
	free(t.tops.v);
	fab_ranks_fini(&t.ranks);
	free(t.set);
	free(t.by_name);
	free(t.is_named);
	free(t.host_leaf);
	free(t.leaf_branch);
	return rc;
}
