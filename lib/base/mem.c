/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/mem.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { HUGE_PAGE = 2 << 20, BIG = 1 << 20, CACHE_LINE = 64 };

static _Thread_local void (*oom_handler)(size_t bytes);

void fab_oom_handle(void (*handler)(size_t bytes))
{
	oom_handler = handler;
}

_Noreturn void fab_oom(size_t bytes)
{
	if (oom_handler)
		oom_handler(bytes);
	fprintf(stderr, "fabkit: out of memory (%zu bytes wanted)\n", bytes);
	exit(3);
}

static size_t product(size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		fab_oom(SIZE_MAX);
	return bytes ? bytes : 1;
}

void *fab_alloc(size_t n, size_t size)
{
	size_t bytes = product(n, size);
	void *p = malloc(bytes);

	if (!p)
		fab_oom(bytes);
	return p;
}

void *fab_zalloc(size_t n, size_t size)
{
	void *p = calloc(1, product(n, size));

	if (!p)
		fab_oom(n * size);
	return p;
}

void *fab_realloc(void *old, size_t n, size_t size)
{
	size_t bytes = product(n, size);
	void *p = realloc(old, bytes);

	if (!p)
		fab_oom(bytes);
	return p;
}

void *fab_alloc_huge(size_t bytes)
{
	size_t align = bytes < BIG ? CACHE_LINE : HUGE_PAGE, rounded;
	void *p;

	if (__builtin_add_overflow(bytes ? bytes : 1, align - 1, &rounded))
		fab_oom(bytes);
	rounded -= rounded % align;
	p = aligned_alloc(align, rounded);
	if (!p)
		fab_oom(rounded);
	/* Only advice: without huge pages the block serves as well, just slower. */
	if (align == HUGE_PAGE)
		(void)madvise(p, rounded, MADV_HUGEPAGE);
	return p;
}

void *fab_grow_huge(void *p, size_t old, size_t n, size_t size)
{
	size_t bytes;
	void *v;

	if (__builtin_mul_overflow(n, size, &bytes))
		fab_oom(SIZE_MAX);
	v = fab_alloc_huge(bytes);
	if (old)
		memcpy(v, p, old * size);
	free(p);
	return v;
}

/* Does a block of this size have pages of its own? */
static bool has_pages(size_t bytes)
{
	return bytes >= BIG;
}

void *fab_resize_big(void *p, size_t old, size_t n, size_t size)
{
	size_t before = product(old, size), bytes = product(n, size);
	void *pages;

	if (!has_pages(bytes))
		return fab_realloc(p, n, size);
	if (p && has_pages(before)) {
		pages = mremap(p, before, bytes, MREMAP_MAYMOVE);
	} else {
		pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (pages != MAP_FAILED && p)
			memcpy(pages, p, before);
		if (pages != MAP_FAILED)
			free(p);
	}
	if (pages == MAP_FAILED)
		fab_oom(bytes);
	return pages;
}

void fab_free_big(void *p, size_t n, size_t size)
{
	size_t bytes = product(n, size);

	if (p && has_pages(bytes))
		(void)munmap(p, bytes);
	else
		free(p);
}

uint64_t fab_memory_bytes(void)
{
	static const int limits[] = {RLIMIT_AS, RLIMIT_DATA};
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	uint64_t bytes = UINT64_MAX;

	if (pages > 0 && page > 0)
		bytes = (uint64_t)pages * (uint64_t)page;
	for (size_t i = 0; i < FAB_COUNT(limits); i++) {
		struct rlimit limit;

		if (!getrlimit(limits[i], &limit) && limit.rlim_cur != RLIM_INFINITY &&
		    limit.rlim_cur < bytes)
			bytes = limit.rlim_cur;
	}
	return bytes;
}

char *fab_strndup(const char *text, size_t n)
{
	char *copy;

	if (n == SIZE_MAX)
		fab_oom(n);
	copy = fab_alloc(n + 1, 1);
	memcpy(copy, text, n);
	copy[n] = '\0';
	return copy;
}

char *fab_strdup(const char *text)
{
	return fab_strndup(text, strlen(text));
}

static char *format_all(const char *format, va_list values)
{
	char *text = NULL;

	if (vasprintf(&text, format, values) < 0)
		fab_oom(0);
	return text;
}

char *fab_format(const char *format, ...)
{
	va_list values;
	char *text;

	va_start(values, format);
	text = format_all(format, values);
	va_end(values);
	return text;
}

/* Of a text stream. */
struct stream {
	char **text;
	size_t *n, room;
};

static ssize_t stream_write(void *cookie, const char *bytes, size_t n)
{
	struct stream *s = cookie;

	if (*s->n + n + 1 > s->room) {
		s->room = 2 * (*s->n + n + 1);
		*s->text = fab_realloc(*s->text, s->room, 1);
	}
	memcpy(*s->text + *s->n, bytes, n);
	*s->n += n;
	(*s->text)[*s->n] = '\0';
	return (ssize_t)n;
}

static int stream_close(void *cookie)
{
	free(cookie);
	return 0;
}

FILE *fab_text_stream(char **text, size_t *n)
{
	struct stream *s = FAB_NEW(1, struct stream);
	FILE *file;

	*s = (struct stream){text, n, 1};
	*text = fab_strdup("");
	*n = 0;
	file = fopencookie(
		s, "w",
		(cookie_io_functions_t){.write = stream_write, .close = stream_close});
	if (!file)
		fab_oom(sizeof(*file));
	return file;
}

void fab_append(char **text, const char *separator, const char *format, ...)
{
	size_t len = *text ? strlen(*text) : 0, gap = len ? strlen(separator) : 0;
	va_list values;
	FAB_AUTOFREE char *more = NULL;

	va_start(values, format);
	more = format_all(format, values);
	va_end(values);
	*text = fab_realloc(*text, len + gap + strlen(more) + 1, 1);
	memcpy(*text + len, separator, gap);
	strcpy(*text + len + gap, more);
}

size_t fab_grow(size_t cap, size_t need)
{
	size_t more = cap + cap / 2 + 16;

	return more > need ? more : need;
}

void fab_append_rest(char **text, uint64_t n, uint64_t shown)
{
	if (n > shown)
		fab_append(text, "", " and %" PRIu64 " more", n - shown);
}
