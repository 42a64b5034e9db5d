/* SPDX-License-Identifier: BSD-2-Clause */
/* The contribution of a node byte by byte, as it is packed; counts nothing itself. */
#include <stdlib.h>
#include <string.h>

#include "launch/size.h"

enum {
	INFO_COLLECT = 1, /* data is collected */
	INFO_TABLE = 2,	  /* keys are indexes */
	TYPE_UINT64 = 15, /* PMIX_UINT64: what a size is packed as */
	TYPE_BYTE_OBJECT = 27,
};

struct bytes {
	FAB_VEC(unsigned char) of;
	const struct fab_size_layout *layout;
};

static void put_raw(struct bytes *b, const void *from, size_t n)
{
	FAB_RESERVE(&b->of, n);
	if (n)
		memcpy(b->of.v + b->of.n, from, n);
	b->of.n += n;
}

/* Base 128, the lowest bits first; or big endian in so many bytes. */
static void put_integer(struct bytes *b, uint64_t value, unsigned width)
{
	if (!(b->layout->opts & FAB_SIZE_LEB128)) {
		for (unsigned i = width; i-- > 0;)
			FAB_PUSH(&b->of, (unsigned char)(value >> (8 * i)));
		return;
	}
	for (unsigned i = 0; value >= 128 && i < 8; i++, value >>= 7)
		FAB_PUSH(&b->of, (unsigned char)(value | 128));
	FAB_PUSH(&b->of, (unsigned char)value);
}

/* A signed integer of 32 bits: in base 128 its sign is the lowest bit. */
static void put_int(struct bytes *b, uint32_t value)
{
	bool is_leb = b->layout->opts & FAB_SIZE_LEB128;

	put_integer(b, is_leb ? 2 * (uint64_t)value : value, 4);
}

static void put_string(struct bytes *b, const char *text)
{
	size_t n = strlen(text) + 1;

	put_int(b, (uint32_t)n);
	put_raw(b, text, n);
}

static void put_size(struct bytes *b, uint64_t n)
{
	if (!(b->layout->opts & FAB_SIZE_LEB128))
		put_integer(b, TYPE_UINT64, 2);
	put_integer(b, n, 8);
}

/* One byte object, taken from `inner`, which is emptied. */
static void put_object(struct bytes *b, struct bytes *inner)
{
	put_int(b, 1);
	put_size(b, inner->of.n);
	put_raw(b, inner->of.v, inner->of.n);
	inner->of.n = 0;
}

static void put_value(struct bytes *b, uint64_t n)
{
	bool is_address = n == FAB_SIZE_OLD_ADDRESS && b->layout->opts & FAB_SIZE_ADDR;

	if (is_address)
		n = FAB_SIZE_NEW_ADDRESS;
	put_integer(b, TYPE_BYTE_OBJECT, 2);
	put_size(b, n);
	FAB_RESERVE(&b->of, n);
	if (n)
		memset(b->of.v + b->of.n, FAB_SIZE_FILLER, n);
	b->of.n += n;
}

static void put_process(struct bytes *b, const struct fab_puts *puts, uint32_t rank,
			bool has_table)
{
	uint64_t n = fab_puts_keys(puts);
	char name[FAB_KEY_MAX_CHARS + 1];

	put_int(b, 1);
	if (!(b->layout->opts & FAB_SIZE_PROCID)) {
		char *nspace = fab_alloc(b->layout->namespace_chars + 1, 1);

		memset(nspace, 'n', b->layout->namespace_chars);
		nspace[b->layout->namespace_chars] = '\0';
		put_string(b, nspace);
		free(nspace);
	}
	put_integer(b, rank, 4);
	for (uint64_t i = 0; i < n; i++) {
		const struct fab_put *put = fab_puts_name(puts, i, name);

		put_int(b, 1);
		if (has_table) {
			put_integer(b, i, 4);
			put_int(b, 1);
		} else {
			put_string(b, name);
		}
		put_value(b, put->bytes);
	}
}

static void put_table(struct bytes *b, const struct fab_puts *puts)
{
	uint32_t n = (uint32_t)fab_puts_keys(puts);
	char name[FAB_KEY_MAX_CHARS + 1];

	put_int(b, 1);
	put_integer(b, n, 4);
	put_int(b, n);
	for (uint32_t i = 0; i < n; i++) {
		fab_puts_name(puts, i, name);
		put_string(b, name);
	}
}

/* What a name costs in line and in a table, by packing the last one. */
static bool pays_table(const struct fab_puts *puts, const struct fab_size_layout *layout,
		       uint32_t ppn)
{
	struct bytes name = {.layout = layout}, index = {.layout = layout};
	uint64_t last = fab_puts_keys(puts) - 1;
	char text[FAB_KEY_MAX_CHARS + 1];
	bool pays;

	fab_puts_name(puts, last, text);
	put_int(&name, 1);
	put_string(&name, text);
	put_int(&index, 1);
	put_integer(&index, last, 4);
	pays = name.of.n * ppn > name.of.n + index.of.n * ppn;
	free(name.of.v);
	free(index.of.v);
	return pays && layout->opts & FAB_SIZE_KEYINDEX;
}

unsigned char *fab_size_encode(const struct fab_puts *puts,
			       const struct fab_size_layout *layout, uint32_t first_rank,
			       uint32_t ppn, size_t *n)
{
	struct bytes out = {.layout = layout}, node = {.layout = layout};
	struct bytes process = {.layout = layout};
	bool has_table = pays_table(puts, layout, ppn);
	unsigned char info = INFO_COLLECT | (has_table ? INFO_TABLE : 0);

	put_int(&node, 1);
	put_raw(&node, &info, 1);
	if (has_table)
		put_table(&node, puts);
	for (uint32_t i = 0; i < ppn; i++) {
		put_process(&process, puts, first_rank + i, has_table);
		put_object(&node, &process);
	}
	put_object(&out, &node);
	free(node.of.v);
	free(process.of.v);
	*n = out.of.n;
	return out.of.v;
}
