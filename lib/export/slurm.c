/* SPDX-License-Identifier: BSD-2-Clause */
/* Host lists and topology.conf as Slurm has them. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
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

char *fab_hostlist_fold(const char *const *names, size_t n)
{
	struct item *items = FAB_NEW(n, struct item);
	struct text text = {0};

	put(&text, "", 0);
	for (size_t i = 0; i < n; i++) {
		const char *name = names[i];
		size_t len = strlen(name), count = 0, n_hex = 0;
		struct item item;

		while (count < len && name[len - count - 1] >= '0' &&
		       name[len - count - 1] <= '9')
			count++;
		while (n_hex < len && strchr("0123456789abcdef", name[len - n_hex - 1]))
			n_hex++;
		if (count > MAX_DIGITS || n_hex >= GUID_DIGITS)
			count = 0;
		item.digits = name + len - count;
		item.n_digits = count;
		item.value = strtoul(item.digits, NULL, 10);
		item.prefix = fab_strndup(name, len - count);
		items[i] = item;
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
	const char *name;
	uint32_t sw; /* any switch within, whose set has the others */
	bool is_leaf;
	FAB_VEC(const char *) members; /* hosts or branches */
};

struct tree {
	const struct fab_fabric *f;
	struct fab_arena arena;
	struct fab_plain_names names;
	struct fab_ranks ranks;
	uint32_t *set;	   /* [n_switches] union-find, parent pointers */
	uint32_t *by_name; /* [n_switches] in the order of their names */
	bool *is_named;	   /* [n_switches] its name is in the file */
	FAB_VEC(struct branch) branches;
	FAB_VEC(uint32_t) tops; /* branches without a parent so far */
	uint32_t next_invented;
	struct fab_slurm_notes notes;
};

/* The switch of the host's first adapter by name, as people count, that has a cable to
 * one; FAB_NONE. */
static uint32_t host_switch(const struct fab_fabric *f, uint32_t host, bool *is_split)
{
	uint32_t leaf = FAB_NONE, first = FAB_NONE;

	*is_split = false;
	for (uint32_t i = f->host_first_adapter[host];
	     i < f->host_first_adapter[host + 1]; i++) {
		uint32_t node = f->host_adapter[i], s = FAB_NONE;
		int order;

		for (uint32_t p = f->node_first_port[node];
		     p < f->node_first_port[node + 1] && s == FAB_NONE; p++)
			s = fab_port_switch(f, p);
		if (s == FAB_NONE)
			continue;
		*is_split |= leaf != FAB_NONE && s != leaf;
		order = first == FAB_NONE ? -1
					  : fab_text_natural_cmp(fab_node_name(f, node),
								 fab_node_name(f, first));
		if (order < 0 || (order == 0 && node < first)) {
			first = node;
			leaf = s;
		}
	}
	return leaf;
}

static uint32_t add_branch(struct tree *t, const char *name, uint32_t sw, bool is_leaf)
{
	struct branch b = {.name = name, .sw = sw, .is_leaf = is_leaf};

	FAB_PUSH(&t->branches, b);
	return (uint32_t)(t->branches.n - 1);
}

/* Put the tops that are now in one set under a branch of their own, which has the name of
 * the first switch by name of this rank in the set. */
static void group_tops(struct tree *t, uint32_t rank)
{
	uint32_t n_switches = t->f->n_switches;
	uint32_t *giver = FAB_NEW(n_switches, uint32_t);
	uint32_t *n_in = FAB_NEW0(n_switches, uint32_t);
	uint32_t *group = FAB_NEW(n_switches, uint32_t);
	size_t kept = 0, n = t->tops.n;

	memset(giver, 0xff, n_switches * sizeof(*giver));
	memset(group, 0xff, n_switches * sizeof(*group));
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

/* Leaves and their hosts, by name. */
static void add_leaves(struct tree *t)
{
	const struct fab_fabric *f = t->f;
	uint32_t *leaf = FAB_ARENA_NEW(&t->arena, f->n_hosts, uint32_t);
	uint32_t *branch = FAB_ARENA_NEW(&t->arena, f->n_switches, uint32_t);

	for (uint32_t h = 0; h < f->n_hosts; h++) {
		bool is_split;

		leaf[h] = host_switch(f, h, &is_split);
		t->notes.n_split += is_split;
		t->notes.n_hosts += leaf[h] != FAB_NONE;
		t->notes.n_unattached += leaf[h] == FAB_NONE;
		if (leaf[h] != FAB_NONE)
			t->is_named[leaf[h]] = true;
	}
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

static void build(struct tree *t)
{
	const struct fab_fabric *f = t->f;
	struct fab_shape *shape = fab_shape_recognize(f);
	const uint32_t *of = shape->group, *rank_of;

	fab_ranks_init(&t->ranks, f, shape);
	rank_of = t->ranks.rank;
	t->set = FAB_ARENA_NEW(&t->arena, f->n_switches, uint32_t);
	t->by_name = FAB_ARENA_NEW(&t->arena, f->n_switches, uint32_t);
	t->is_named = FAB_ARENA_NEW0(&t->arena, f->n_switches, bool);
	for (uint32_t s = 0; s < f->n_switches; s++)
		t->set[s] = t->by_name[s] = s;
	qsort_r(t->by_name, f->n_switches, sizeof(*t->by_name), by_name, &t->names);
	add_leaves(t);
	/* the groups of a dragonfly first */
	for (uint32_t s = 0; s < f->n_switches && of; s++)
		for (uint32_t k = f->peer_first[s]; k < f->peer_first[s + 1]; k++)
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
			for (uint32_t k = f->peer_first[s]; k < f->peer_first[s + 1]; k++)
				if (rank_of[s] != FAB_NONE &&
				    (is_last ||
				     (rank_of[s] <= rank && rank_of[f->peer[k]] <= rank)))
					fab_sets_unite(t->set, f->peer[k], s);
		group_tops(t, rank);
	}
	t->notes.n_roots = (uint32_t)t->tops.n;
	t->notes.n_unnamed = t->names.n_unnamed;
	fab_shape_free(shape);
}

int fab_export_slurm(FILE *out, const struct fab_fabric *f, struct fab_slurm_notes *notes,
		     struct fab_err *err)
{
	struct tree t = {.f = f, .next_invented = 1};
	const struct fab_slurm_notes *n = &t.notes;
	const struct {
		const uint32_t *n;
		const char *before, *after;
	} remarks[] = {
		{&n->n_split, "hosts with adapters on several switches: ",
		 ", each listed under that of its first adapter by name"},
		{&n->n_unnamed,
		 "hosts without a name that Slurm takes: ", ", called H-<GUID>"},
		{&n->n_unattached, "hosts without a cable to a switch: ", ", left out"},
		{&n->n_roots, "", " parts that no cable joins: no job spans two of them"},
	};
	char source[512];
	int rc = 0;

	fab_plain_names_init(&t.names, f);
	build(&t);
	if (!n->n_hosts)
		rc = fab_fail(err, EINVAL, "%s: no host with a cable to a switch",
			      f->source);
	if (!rc)
		fprintf(out,
			"# topology.conf for TopologyPlugin=topology/tree\n# fabric: %s\n# hosts: %u, switches with hosts: %u\n",
			fab_text_safe(f->source, source, sizeof(source)), n->n_hosts,
			n->n_leaves);
	for (size_t i = 0; i < FAB_COUNT(remarks) && !rc; i++)
		if (*remarks[i].n > (remarks[i].n == &n->n_roots))
			fprintf(out, "# %s%u%s\n", remarks[i].before, *remarks[i].n,
				remarks[i].after);
	/* leaves come before groups */
	for (size_t i = 0; i < t.branches.n && !rc; i++) {
		const struct branch *b = &t.branches.v[i];
		char *list = fab_hostlist_fold(b->members.v, b->members.n);

		fprintf(out, "SwitchName=%s %s=%s\n", b->name,
			b->is_leaf ? "Nodes" : "Switches", list);
		free(list);
	}
	if (!rc && notes)
		*notes = t.notes;
	for (size_t i = 0; i < t.branches.n; i++)
		free(t.branches.v[i].members.v);
	free(t.branches.v);
	free(t.tops.v);
	fab_plain_names_fini(&t.names);
	fab_ranks_fini(&t.ranks);
	fab_arena_free(&t.arena);
	return rc;
}
