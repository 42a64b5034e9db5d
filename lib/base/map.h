/* SPDX-License-Identifier: BSD-2-Clause */
/* Hash maps: 64-bit keys or byte strings to 32-bit ids. */
#pragma once

#include "base/mem.h"

#include <stdbool.h>

#include "base/macros.h"

/* Open addressing, linear probing; seeded, so that input cannot choose its collisions. */
struct fab_map64;

/* Instead of an id: several have the key. Beyond every id. */
#define FAB_SHARED (FAB_NONE - 1)

struct fab_map64 *fab_map64_new(size_t expected);
void fab_map64_free(struct fab_map64 *map);
FAB_AUTO_POINTER(fab_map64)
/* The value of `key`, FAB_NONE when absent. O(1). */
uint32_t fab_map64_get(const struct fab_map64 *map, uint64_t key);
/* Insert unless present; returns the value now stored (the old one if it was there). */
uint32_t fab_map64_put(struct fab_map64 *map, uint64_t key, uint32_t value);
/* Insert or overwrite. */
void fab_map64_set(struct fab_map64 *map, uint64_t key, uint32_t value);

/* Map of byte strings; keys are copied. */
struct fab_strmap;

struct fab_strmap *fab_strmap_new(size_t expected);
void fab_strmap_free(struct fab_strmap *map);
FAB_AUTO_POINTER(fab_strmap)
uint32_t fab_strmap_get(const struct fab_strmap *map, const char *key, size_t len);
uint32_t fab_strmap_put(struct fab_strmap *map, const char *key, size_t len,
			uint32_t value);
void fab_strmap_set(struct fab_strmap *map, const char *key, size_t len, uint32_t value);
