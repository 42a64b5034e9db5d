/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the first chunk, and of others. The first is small, as malloc returns large
 * chunks to the system and asks for them again when arenas come and go. With
 * AddressSanitizer every block has a chunk of its own, so that an access beyond its end
 * is found. */
#ifdef __SANITIZE_ADDRESS__
enum { FIRST_BYTES = 0, CHUNK_BYTES = 0 };
#else
enum { FIRST_BYTES = 4 << 10, CHUNK_BYTES = 64 << 10 };
#endif

struct fab_arena_chunk {
	struct fab_arena_chunk *next;
	alignas(max_align_t) char bytes[];
};

struct fab_arena_owned {
	struct fab_arena_owned *next;
	void (*release)(void *object);
	void *object;
};

void fab_arena_free(struct fab_arena *a)
{
	for (struct fab_arena_owned *o = a->owned; o; o = o->next)
		o->release(o->object);
	while (a->chunks) {
		struct fab_arena_chunk *next = a->chunks->next;

		free(a->chunks);
		a->chunks = next;
	}
	*a = (struct fab_arena)FAB_ARENA_INIT;
}

/* A chunk for `size` bytes; `zeroed` by the allocator, without a touch of its pages. */
static struct fab_arena_chunk *chunk_new(size_t size, bool zeroed)
{
	size_t bytes;

	if (__builtin_add_overflow(size, sizeof(struct fab_arena_chunk), &bytes))
		fab_oom(SIZE_MAX);
	return zeroed ? fab_zalloc(1, bytes) : fab_alloc(1, bytes);
}

static void *take(struct fab_arena *a, size_t n, size_t size, bool zeroed)
{
	size_t chunk_bytes = a->chunks ? CHUNK_BYTES : FIRST_BYTES, bytes;
	struct fab_arena_chunk *chunk;
	void *p;

	if (__builtin_mul_overflow(n, size, &bytes) ||
	    __builtin_add_overflow(bytes, alignof(max_align_t) - 1, &bytes))
		fab_oom(SIZE_MAX);
	bytes -= bytes % alignof(max_align_t);
	if (!bytes)
		bytes = alignof(max_align_t);
	if (bytes > chunk_bytes / 4) {
		chunk = chunk_new(bytes, zeroed);
		if (a->chunks) { /* behind the chunk that is in use */
			chunk->next = a->chunks->next;
			a->chunks->next = chunk;
		} else {
			chunk->next = NULL;
			a->chunks = chunk;
			a->used = a->size = bytes;
		}
		return chunk->bytes;
	}
	if (a->size - a->used < bytes) {
		chunk = chunk_new(chunk_bytes, false);
		chunk->next = a->chunks;
		a->chunks = chunk;
		a->used = 0;
		a->size = chunk_bytes;
	}
	p = a->chunks->bytes + a->used;
	a->used += bytes;
	return zeroed ? memset(p, 0, bytes) : p;
}

void *fab_arena_alloc(struct fab_arena *a, size_t n, size_t size)
{
	return take(a, n, size, false);
}

void *fab_arena_zalloc(struct fab_arena *a, size_t n, size_t size)
{
	return take(a, n, size, true);
}

char *fab_arena_strdup(struct fab_arena *a, const char *text)
{
	size_t size = strlen(text) + 1;

	return memcpy(fab_arena_alloc(a, size, 1), text, size);
}

char *fab_arena_format(struct fab_arena *a, const char *format, ...)
{
	va_list values, again;
	int len;
	char *text;

	va_start(values, format);
	va_copy(again, values);
	len = vsnprintf(NULL, 0, format, values);
	va_end(values);
	if (len < 0)
		fab_oom(0);
	text = fab_arena_alloc(a, (size_t)len + 1, 1);
	vsnprintf(text, (size_t)len + 1, format, again);
	va_end(again);
	return text;
}

void fab_arena_own(struct fab_arena *a, void (*release)(void *object), void *object)
{
	struct fab_arena_owned *o = FAB_ARENA_NEW(a, 1, struct fab_arena_owned);

	*o = (struct fab_arena_owned){a->owned, release, object};
	a->owned = o;
}

uint32_t *fab_arena_sorted(struct fab_arena *a, uint32_t n,
			   int (*order)(const void *, const void *, void *),
			   void *context)
{
	uint32_t *v = FAB_ARENA_NEW(a, n, uint32_t);

	for (uint32_t i = 0; i < n; i++)
		v[i] = i;
	qsort_r(v, n, sizeof(*v), order, context);
	return v;
}
