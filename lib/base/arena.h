/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that is released all at once: data that lives as long as a run of a command or
 * an item of a sweep. Blocks are cut from chunks in order; none is released by itself. An
 * arena belongs to one thread at a time.
 */
#pragma once

#include "base/mem.h"

struct fab_arena {
	struct fab_arena_chunk *chunks; /* the last one first */
	struct fab_arena_owned *owned;	/* the last one first */
	size_t used, size;		/* bytes of the first chunk */
};

/* Start with FAB_ARENA_INIT; fab_arena_free() releases all blocks and leaves an empty
 * arena that can be used again. Owned objects are released first, the last one added
 * first. O(n). */
#define FAB_ARENA_INIT                                                                   \
	{                                                                                \
		NULL, NULL, 0, 0                                                         \
	}
void fab_arena_free(struct fab_arena *a);

/* n objects of `size` bytes, uninitialised / zeroed, aligned for any type. Never NULL;
 * memory that runs out ends in fab_oom(). Large blocks have a chunk of their own. O(1),
 * O(n). */
void *fab_arena_alloc(struct fab_arena *a, size_t n, size_t size)
	__attribute__((returns_nonnull));
void *fab_arena_zalloc(struct fab_arena *a, size_t n, size_t size)
	__attribute__((returns_nonnull));
/* A copy of a text; a formatted text. O(len). */
char *fab_arena_strdup(struct fab_arena *a, const char *text)
	__attribute__((returns_nonnull));
char *fab_arena_format(struct fab_arena *a, const char *format, ...) FAB_PRINTF(2, 3)
	__attribute__((returns_nonnull));

/* fab_arena_free() will call release(object): for growing arrays (release = free) and
 * objects with a destructor. O(1). */
void fab_arena_own(struct fab_arena *a, void (*release)(void *object), void *object);

/* Typed short forms, as FAB_NEW and FAB_NEW0. */
#define FAB_ARENA_NEW(a, n, type) ((type *)fab_arena_alloc((a), (n), sizeof(type)))
#define FAB_ARENA_NEW0(a, n, type) ((type *)fab_arena_zalloc((a), (n), sizeof(type)))

/* The numbers 0 .. n-1, sorted by order(&i, &j, context) as qsort_r() calls it.
 * O(n log n). */
uint32_t *fab_arena_sorted(struct fab_arena *a, uint32_t n,
			   int (*order)(const void *, const void *, void *),
			   void *context) __attribute__((returns_nonnull));

/* n numbers, all FAB_NONE. O(n). */
static inline uint32_t *fab_arena_none(struct fab_arena *a, size_t n)
{
	return (uint32_t *)memset(FAB_ARENA_NEW(a, n, uint32_t), 0xff,
				  n * sizeof(uint32_t));
}
