/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/rng.h"

/* A value of FAB_NONE marks a free slot: it is never stored. */
struct fab_map64 {
	uint64_t seed;
	size_t mask, used;
	uint64_t *key;
	uint32_t *value;
};

/* Entry of a byte string. */
struct entry {
	size_t offset, len; /* in `keys` */
	uint32_t value;
};

/* Slots by hash; several strings may have one. */
struct fab_strmap {
	struct fab_map64 slots; /* hash to entry */
	FAB_VEC(struct entry) entries;
	FAB_VEC(char) keys;
};

/*
 * Neither map is ever walked in slot order, so that a seed from the system changes no
 * result: it only keeps input from choosing its collisions.
 */
static uint64_t random_seed(void)
{
	static const uint64_t fallback = 0x9e3779b97f4a7c15u;
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
		seed = fallback;
	return seed;
}

static size_t slots_for(size_t expected)
{
	size_t slots = 16;

	while (slots / 2 < expected)
		slots *= 2;
	return slots;
}

static void init(struct fab_map64 *map, size_t slots)
{
	uint32_t *value;

	map->mask = slots - 1;
	map->key = FAB_NEW(slots, uint64_t);
	value = FAB_NEW(slots, uint32_t);
	memset(value, 0xff, slots * sizeof(*value));
	map->value = value;
}

static size_t first_slot(const struct fab_map64 *map, uint64_t key)
{
	return fab_mix64(key ^ map->seed) & map->mask;
}

struct fab_map64 *fab_map64_new(size_t expected)
{
	struct fab_map64 *map = FAB_NEW0(1, struct fab_map64);

	map->seed = random_seed();
	init(map, slots_for(expected));
	return map;
}

void fab_map64_free(struct fab_map64 *map)
{
	if (!map)
		return;
	FAB_FREE_ALL(map->key, map->value, map);
}

/* A byte string that is looked up, of which the key is the hash. */
struct query {
	const struct fab_strmap *of;
	const char *text;
	size_t len;
};

static bool is_asked_for(const struct query *q, uint32_t id)
{
	const struct entry *e = &q->of->entries.v[id];

	return e->len == q->len &&
	       (!q->len || !memcmp(q->of->keys.v + e->offset, q->text, q->len));
}

/* The slot of `key`, or the free one where it would go; q NULL: the key is all. */
static inline size_t slot_of(const struct fab_map64 *map, uint64_t key,
			     const struct query *q)
{
	size_t i = first_slot(map, key);

	while (map->value[i] != FAB_NONE &&
	       !(map->key[i] == key && (!q || is_asked_for(q, map->value[i]))))
		i = (i + 1) & map->mask;
	return i;
}

/* The slot that now holds it, inserted with FAB_NONE still to be replaced if new. */
static inline size_t insert(struct fab_map64 *map, uint64_t key, const struct query *q)
{
	size_t s = slot_of(map, key, q);

	if (map->value[s] != FAB_NONE)
		return s;
	if (++map->used * 2 > map->mask + 1) {
		struct fab_map64 old = *map;

		/* Twice the slots. Keys in the old ones differ, whatever a hash says. */
		init(map, (old.mask + 1) * 2);
		for (size_t i = 0; i <= old.mask; i++) {
			size_t sw;

			if (old.value[i] == FAB_NONE)
				continue;
			sw = first_slot(map, old.key[i]);
			while (map->value[sw] != FAB_NONE)
				sw = (sw + 1) & map->mask;
			map->key[sw] = old.key[i];
			map->value[sw] = old.value[i];
		}
		free(old.key);
		free(old.value);
		s = slot_of(map, key, q);
	}
	map->key[s] = key;
	return s;
}

uint32_t fab_map64_get(const struct fab_map64 *map, uint64_t key)
{
	return map->value[slot_of(map, key, NULL)];
}

uint32_t fab_map64_put(struct fab_map64 *map, uint64_t key, uint32_t value)
{
	size_t s = insert(map, key, NULL);

	if (map->value[s] == FAB_NONE)
		map->value[s] = value;
	return map->value[s];
}

void fab_map64_set(struct fab_map64 *map, uint64_t key, uint32_t value)
{
	size_t s = insert(map, key, NULL); /* may move the arrays */

	map->value[s] = value;
}

struct fab_strmap *fab_strmap_new(size_t expected)
{
	struct fab_strmap *map = FAB_NEW0(1, struct fab_strmap);

	map->slots.seed = random_seed();
	init(&map->slots, slots_for(expected));
	return map;
}

void fab_strmap_free(struct fab_strmap *map)
{
	if (!map)
		return;
	FAB_FREE_ALL(map->slots.key, map->slots.value, map->entries.v, map->keys.v, map);
}

uint32_t fab_strmap_get(const struct fab_strmap *map, const char *key, size_t len)
{
	const struct query q = {map, key, len};
	uint64_t hash = fab_hash_bytes(key, len, map->slots.seed);
	uint32_t id = map->slots.value[slot_of(&map->slots, hash, &q)];

	return id == FAB_NONE ? FAB_NONE : map->entries.v[id].value;
}

/* The entry of `key`, which gets `value` when it is new. */
static struct entry *str_insert(struct fab_strmap *map, const char *key, size_t len,
				uint32_t value)
{
	const struct query q = {map, key, len};
	struct entry e = {.offset = map->keys.n, .len = len, .value = value};
	size_t s = insert(&map->slots, fab_hash_bytes(key, len, map->slots.seed), &q);

	if (map->slots.value[s] == FAB_NONE) {
		map->slots.value[s] = (uint32_t)map->entries.n;
		FAB_PUSH(&map->entries, e);
		FAB_RESERVE(&map->keys, len);
		if (len)
			memcpy(map->keys.v + map->keys.n, key, len);
		map->keys.n += len;
	}
	return &map->entries.v[map->slots.value[s]];
}

uint32_t fab_strmap_put(struct fab_strmap *map, const char *key, size_t len,
			uint32_t value)
{
	return str_insert(map, key, len, value)->value;
}

void fab_strmap_set(struct fab_strmap *map, const char *key, size_t len, uint32_t value)
{
	str_insert(map, key, len, value)->value = value;
}
