/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/mem.h"
#include "base/rng.h"

/* A value of FAB_NONE marks a free slot: it is never stored. */
struct fab_map64 {
	uint64_t seed;
	size_t mask, used;
	uint64_t *key;
	uint32_t *value;
};

struct fab_strmap {
	uint64_t seed;
	size_t mask, used;
	uint64_t *hash;
	uint32_t *value;
	size_t *offset, *len; /* of the key in `keys` */
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

static uint32_t *free_values(size_t slots)
{
	uint32_t *value = FAB_NEW(slots, uint32_t);

	memset(value, 0xff, slots * sizeof(*value));
	return value;
}

struct fab_map64 *fab_map64_new(size_t expected)
{
	struct fab_map64 *map = FAB_NEW0(1, struct fab_map64);
	size_t slots = slots_for(expected);

	map->seed = random_seed();
	map->mask = slots - 1;
	map->key = FAB_NEW(slots, uint64_t);
	map->value = free_values(slots);
	return map;
}

void fab_map64_free(struct fab_map64 *map)
{
	if (!map)
		return;
	free(map->key);
	free(map->value);
	free(map);
}

/* The slot of `key`, or the free one where it would go. */
static size_t slot64(const struct fab_map64 *map, uint64_t key)
{
	size_t i = fab_mix64(key ^ map->seed) & map->mask;

	while (map->value[i] != FAB_NONE && map->key[i] != key)
		i = (i + 1) & map->mask;
	return i;
}

uint32_t fab_map64_get(const struct fab_map64 *map, uint64_t key)
{
	return map->value[slot64(map, key)];
}

static void grow64(struct fab_map64 *map)
{
	struct fab_map64 old = *map;
	size_t slots = (old.mask + 1) * 2, i;

	map->mask = slots - 1;
	map->key = FAB_NEW(slots, uint64_t);
	map->value = free_values(slots);
	for (i = 0; i <= old.mask; i++) {
		size_t s;

		if (old.value[i] == FAB_NONE)
			continue;
		s = slot64(map, old.key[i]);
		map->key[s] = old.key[i];
		map->value[s] = old.value[i];
	}
	free(old.key);
	free(old.value);
}

/* The slot that now holds `key`, inserted with FAB_NONE still to be replaced if new. */
static size_t insert64(struct fab_map64 *map, uint64_t key)
{
	size_t s = slot64(map, key);

	if (map->value[s] != FAB_NONE)
		return s;
	if (++map->used * 2 > map->mask + 1) {
		grow64(map);
		s = slot64(map, key);
	}
	map->key[s] = key;
	return s;
}

uint32_t fab_map64_put(struct fab_map64 *map, uint64_t key, uint32_t value)
{
	size_t s = insert64(map, key);

	if (map->value[s] == FAB_NONE)
		map->value[s] = value;
	return map->value[s];
}

void fab_map64_set(struct fab_map64 *map, uint64_t key, uint32_t value)
{
	size_t s = insert64(map, key); /* may move the arrays */

	map->value[s] = value;
}

struct fab_strmap *fab_strmap_new(size_t expected)
{
	struct fab_strmap *map = FAB_NEW0(1, struct fab_strmap);
	size_t slots = slots_for(expected);

	map->seed = random_seed();
	map->mask = slots - 1;
	map->hash = FAB_NEW(slots, uint64_t);
	map->offset = FAB_NEW(slots, size_t);
	map->len = FAB_NEW(slots, size_t);
	map->value = free_values(slots);
	return map;
}

void fab_strmap_free(struct fab_strmap *map)
{
	if (!map)
		return;
	free(map->hash);
	free(map->offset);
	free(map->len);
	free(map->value);
	free(map->keys.v);
	free(map);
}

static size_t str_slot(const struct fab_strmap *map, uint64_t hash, const char *key,
		       size_t len)
{
	size_t i = hash & map->mask;

	while (map->value[i] != FAB_NONE &&
	       !(map->hash[i] == hash && map->len[i] == len &&
		 (!len || !memcmp(map->keys.v + map->offset[i], key, len))))
		i = (i + 1) & map->mask;
	return i;
}

uint32_t fab_strmap_get(const struct fab_strmap *map, const char *key, size_t len)
{
	return map->value[str_slot(map, fab_hash_bytes(key, len, map->seed), key, len)];
}

static void str_grow(struct fab_strmap *map)
{
	struct fab_strmap old = *map;
	size_t slots = (old.mask + 1) * 2, i, s;

	map->mask = slots - 1;
	map->hash = FAB_NEW(slots, uint64_t);
	map->offset = FAB_NEW(slots, size_t);
	map->len = FAB_NEW(slots, size_t);
	map->value = free_values(slots);
	for (i = 0; i <= old.mask; i++) {
		if (old.value[i] == FAB_NONE)
			continue;
		for (s = old.hash[i] & map->mask; map->value[s] != FAB_NONE;)
			s = (s + 1) & map->mask;
		map->hash[s] = old.hash[i];
		map->offset[s] = old.offset[i];
		map->len[s] = old.len[i];
		map->value[s] = old.value[i];
	}
	free(old.hash);
	free(old.offset);
	free(old.len);
	free(old.value);
}

static size_t str_insert(struct fab_strmap *map, const char *key, size_t len)
{
	uint64_t hash = fab_hash_bytes(key, len, map->seed);
	size_t s = str_slot(map, hash, key, len);

	if (map->value[s] != FAB_NONE)
		return s;
	if (++map->used * 2 > map->mask + 1) {
		str_grow(map);
		s = str_slot(map, hash, key, len);
	}
	map->hash[s] = hash;
	map->len[s] = len;
	map->offset[s] = map->keys.n;
	FAB_RESERVE(&map->keys, len);
	if (len)
		memcpy(map->keys.v + map->keys.n, key, len);
	map->keys.n += len;
	return s;
}

uint32_t fab_strmap_put(struct fab_strmap *map, const char *key, size_t len,
			uint32_t value)
{
	size_t s = str_insert(map, key, len);

	if (map->value[s] == FAB_NONE)
		map->value[s] = value;
	return map->value[s];
}

void fab_strmap_set(struct fab_strmap *map, const char *key, size_t len, uint32_t value)
{
	size_t s = str_insert(map, key, len); /* may move the arrays */

	map->value[s] = value;
}
