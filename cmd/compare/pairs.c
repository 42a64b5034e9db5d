/* SPDX-License-Identifier: BSD-2-Clause */
/* Which results are compared with each other. */
#include <string.h>

#include "compare.h"

/* Does the item have this result: all of its run, or only those of one name? */
static bool has(const struct compare_item *item, const struct fab_store_result *r)
{
	return !item->algorithm || !strcmp(item->algorithm, r->algorithm);
}

static size_t count_of(const struct compare_item *item)
{
	size_t n = 0;

	for (size_t i = 0; i < item->run->n_results; i++)
		n += has(item, &item->run->results[i]);
	return n;
}

/* The first result of this name, or NULL. */
static const struct fab_store_result *find(const struct compare_item *item,
					   const char *algorithm)
{
	for (size_t i = 0; i < item->run->n_results; i++)
		if (has(item, &item->run->results[i]) &&
		    !strcmp(item->run->results[i].algorithm, algorithm))
			return &item->run->results[i];
	return NULL;
}

static bool have_name_in_common(const struct compare_item *a,
				const struct compare_item *b)
{
	for (size_t i = 0; i < a->run->n_results; i++)
		if (has(a, &a->run->results[i]) && find(b, a->run->results[i].algorithm))
			return true;
	return false;
}

static void add(struct compare_pairs *pairs, const struct compare_item *base_item,
		const struct fab_store_result *base, const struct compare_item *item,
		const struct fab_store_result *other)
{
	FAB_PUSH(pairs, ((struct compare_pair){base_item, item, base, other}));
}

/* Every result of one with every result of the other. */
static void add_all(struct compare_pairs *pairs, const struct compare_item *base,
		    const struct compare_item *item)
{
	for (size_t i = 0; i < item->run->n_results; i++)
		for (size_t k = 0; k < base->run->n_results; k++)
			if (has(item, &item->run->results[i]) &&
			    has(base, &base->run->results[k]))
				add(pairs, base, &base->run->results[k], item,
				    &item->run->results[i]);
}

/* Those of one name; what only one of the two has stands alone. */
static void add_by_name(struct compare_pairs *pairs, const struct compare_item *base,
			const struct compare_item *item)
{
	for (size_t i = 0; i < item->run->n_results; i++) {
		const struct fab_store_result *other = &item->run->results[i];

		/* of a name that comes twice the first counts */
		if (has(item, other) && find(item, other->algorithm) == other)
			add(pairs, base, find(base, other->algorithm), item, other);
	}
	for (size_t i = 0; i < base->run->n_results; i++) {
		const struct fab_store_result *r = &base->run->results[i];

		if (has(base, r) && find(base, r->algorithm) == r &&
		    !find(item, r->algorithm))
			add(pairs, base, r, item, NULL);
	}
}

void compare_pair_up(const struct compare_item *items, size_t n_items,
		     struct compare_pairs *pairs)
{
	const struct compare_item *base = &items[0];

	for (size_t i = 1; i < n_items; i++) {
		bool is_single = count_of(base) == 1 || count_of(&items[i]) == 1;

		if (base->algorithm ||
		    (is_single && !have_name_in_common(base, &items[i])))
			add_all(pairs, base, &items[i]);
		else
			add_by_name(pairs, base, &items[i]);
	}
}
