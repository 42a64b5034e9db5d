/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory. Running out of it is handled in one place: fab_oom() prints one line and exits
 * with status 3. Sizes that come from input are bounded by their readers before they get
 * here; products are checked for overflow here.
 */
#pragma once

#include "base/macros.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void fab_oom(size_t bytes);
/*
 * For a program that must go on: `handler` is called first in this thread when memory
 * runs out there, and leaves by longjmp(); what the interrupted work held is lost. NULL:
 * none. O(1).
 */
void fab_oom_handle(void (*handler)(size_t bytes));

/* n objects of `size` bytes, uninitialised / zeroed. Never NULL. Freed by free().
 * fab_alloc: O(1), fab_zalloc: O(n). */
void *fab_alloc(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
void *fab_zalloc(size_t n, size_t size) __attribute__((malloc, returns_nonnull));

/* Resize to n objects of `size` bytes. Never NULL. O(n). */
void *fab_realloc(void *old, size_t n, size_t size) __attribute__((returns_nonnull));

/*
 * An uninitialised block, aligned to 64 bytes; from 1 MiB on aligned to 2 MiB and advised
 * to use huge pages (first touch of 4 KiB pages costs more than most searches). Freed by
 * free(). O(1).
 */
void *fab_alloc_huge(size_t bytes) __attribute__((returns_nonnull));
/* Such a block of n objects with the `old` first ones of `p`, which is freed (NULL, 0:
 * there is none). O(old). */
void *fab_grow_huge(void *p, size_t old, size_t n, size_t size)
	__attribute__((returns_nonnull));

/*
 * A block that grows to very many objects: from 1 MiB on it has pages of its own, which
 * move without a copy and leave no holes in the heap. From `old` to n objects of `size`
 * bytes, from 0 with NULL. Freed by fab_free_big() with the same n and size. Never NULL.
 * O(1), O(old) up to that size.
 */
void *fab_resize_big(void *p, size_t old, size_t n, size_t size)
	__attribute__((returns_nonnull));
void fab_free_big(void *p, size_t n, size_t size);

/*
 * Bytes that this process may take: the memory of the machine, less where a limit
 * (`ulimit -v`, `-d`) is set. O(1).
 */
uint64_t fab_memory_bytes(void);

/* A copy on the heap; the caller frees. The program ends when there is no memory. O(len).
 */
char *fab_strdup(const char *text) __attribute__((malloc, returns_nonnull));
char *fab_strndup(const char *text, size_t n) __attribute__((malloc, returns_nonnull));
/* Formatted text on the heap. O(len). */
char *fab_format(const char *format, ...) FAB_PRINTF(1, 2)
	__attribute__((returns_nonnull));

/*
 * A stream whose text is *text, on the heap, with a NUL behind its *n bytes; both hold
 * what was flushed. Unlike open_memstream(), which drops text without an error when
 * memory is short, it ends the program then. The caller closes it, then frees the text.
 */
FILE *fab_text_stream(char **text, size_t *n) __attribute__((returns_nonnull));

/* Append to *text (on the heap or NULL), after `separator` if *text is not
 * empty. O(len). */
void fab_append(char **text, const char *separator, const char *format, ...)
	FAB_PRINTF(3, 4);
/* Append what follows the `shown` first of n names: " and 5 more". O(len). */
void fab_append_rest(char **text, uint64_t n, uint64_t shown);

/* Typed short forms: FAB_NEW(n, struct x), FAB_NEW0(n, uint32_t). */
#define FAB_NEW(n, type) ((type *)fab_alloc((n), sizeof(type)))
#define FAB_NEW0(n, type) ((type *)fab_zalloc((n), sizeof(type)))

/* n numbers, all FAB_NONE; the caller frees. O(n). */
static inline uint32_t *fab_none_new(size_t n)
{
	return (uint32_t *)memset(FAB_NEW(n, uint32_t), 0xff, n * sizeof(uint32_t));
}

/*
 * Local variables that are released at the end of their block, by whatever way it is
 * left: a block of the heap, and an object with the function that releases it.
 *   FAB_AUTOFREE uint32_t *rank = FAB_NEW(n, uint32_t);
 *   FAB_AUTO(fab_arena_free) struct fab_arena a = FAB_ARENA_INIT;
 *   FAB_AUTO(fab_shape_free_at) struct fab_shape *shape = fab_shape_new(f);
 * FAB_AUTO_POINTER(noun) defines noun_free_at() from noun_free().
 */
#define FAB_AUTO(release) __attribute__((cleanup(release)))
#define FAB_AUTOFREE FAB_AUTO(fab_free_at)
#define FAB_AUTO_POINTER(noun)                                                           \
	static inline void noun##_free_at(struct noun **x)                               \
	{                                                                                \
		noun##_free(*x);                                                         \
	}
static inline void fab_free_at(void *pointer)
{
	void *block;

	memcpy(&block, pointer, sizeof(block));
	free(block);
}

/* Free the blocks, NULL among them: FAB_FREE_ALL(x->first, x->peer, x->names.v). O(n). */
#define FAB_FREE_ALL(...)                                                                \
	fab_free_all((void *[]){__VA_ARGS__},                                            \
		     sizeof((void *[]){__VA_ARGS__}) / sizeof(void *))
static inline void fab_free_all(void *const *block, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(block[i]);
}

/*
 * A growable array: struct { type *v; size_t n, cap; } list = {0};
 *   FAB_PUSH(&list, value);   free(list.v);
 * FAB_AUTOFREE frees a local one: its block is its first member.
 */
#define FAB_VEC(type)                                                                    \
	struct {                                                                         \
		type *v;                                                                 \
		size_t n, cap;                                                           \
	}
#define FAB_RESERVE(vec, more)                                                           \
	do {                                                                             \
		if ((vec)->n + (more) > (vec)->cap) {                                    \
			(vec)->cap = fab_grow((vec)->cap, (vec)->n + (more));            \
			(vec)->v = fab_realloc((vec)->v, (vec)->cap, sizeof(*(vec)->v)); \
		}                                                                        \
	} while (0)
/* FAB_RESERVE() with a block of fab_resize_big(); fab_free_big(list.v, list.cap, ...). */
#define FAB_RESERVE_BIG(vec, more)                                                       \
	do {                                                                             \
		if ((vec)->n + (more) > (vec)->cap) {                                    \
			size_t fab_old = (vec)->cap;                                     \
			(vec)->cap = fab_grow(fab_old, (vec)->n + (more));               \
			(vec)->v = fab_resize_big((vec)->v, fab_old, (vec)->cap,         \
						  sizeof(*(vec)->v));                    \
		}                                                                        \
	} while (0)
#define FAB_PUSH(vec, value)                                                             \
	do {                                                                             \
		FAB_RESERVE(vec, 1);                                                     \
		(vec)->v[(vec)->n++] = (value);                                          \
	} while (0)

/* The capacity to take when `cap` must become at least `need`: half as much again. O(1).
 */
size_t fab_grow(size_t cap, size_t need);
