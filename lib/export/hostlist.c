/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/hostlist.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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
