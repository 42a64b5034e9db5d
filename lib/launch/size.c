/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Size of the contribution of a node, counted from the layout; and, as an independent
 * second computation, the bytes themselves.
 */
#include "launch/size.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

enum {
	FIRST_PRINTABLE = '!',
	N_PRINTABLE = '~' - '!' + 1,
	INFO_BYTES = 1,
	INFO_COLLECT = 1,      /* data is collected */
	INFO_TABLE = 2,	       /* keys are indexes */
	TYPE_UINT64 = 15,      /* PMIX_UINT64: the type of a packed size */
	TYPE_BYTE_OBJECT = 27, /* PMIX_BYTE_OBJECT */
};

static const struct fab_choice opts[] = {
	{"addr", "addresses of UCX of 51 bytes take 21",
	 "Addresses of UCX, which every value of 51 bytes is taken for, take 21.", true},
	{"procid", "a process is its rank, not namespace and rank", NULL, true},
	{"keyindex", "names of keys once a node",
	 "Names of keys once a node, then their index, if that pays for the last key.",
	 true},
	{"leb128", "integers in base 128",
	 "Integers of a byte for each 7 bits (LEB128) instead of 2, 4 or 8, sizes without the type in front of them.",
	 true},
};
FAB_CHOICES(fab_size_opts, "optimisation", opts);

static const struct fab_choice layouts[] = {
	[FAB_SIZE_2_1] = {"2.1", "PMIx 2.1: none of the optimisations", NULL, true},
	[FAB_SIZE_4_2] = {"4.2", "PMIx 4.2: procid, keyindex, leb128", NULL, true},
};
FAB_CHOICES(fab_size_layouts, "layout", layouts);

static const struct fab_choice scopes[] = {
	[FAB_SCOPE_GLOBAL] = {"global", "read by all processes (the default)", NULL,
			      true},
	[FAB_SCOPE_REMOTE] = {"remote", "read on other nodes only", NULL, true},
	[FAB_SCOPE_NODE] = {"node", "read on the own node only, no fence", NULL, true},
	[FAB_SCOPE_PROCESS] = {"process", "read by the process itself, no fence", NULL,
			       true},
	[FAB_SCOPE_NODE_LEVEL] = {"node-level",
				  "of its node, by one process (PMI-2), no fence", NULL,
				  true},
};
FAB_CHOICES(fab_key_scopes, "scope", scopes);

unsigned fab_size_version_opts(enum fab_size_version version)
{
	return version == FAB_SIZE_2_1 ? 0 : FAB_SIZE_LIBRARY;
}

/* A field up to ':' or the end of the entry; *at moves past it. */
static bool take_field(const char **at, uint64_t min, uint64_t max, uint64_t *out)
{
	size_t len = strcspn(*at, ":,");
	bool ok = fab_parse_u64(*at, len, min, max, out);

	*at += len;
	return ok;
}

static int take_put(const char **at, struct fab_put *put, struct fab_err *err)
{
	const char *start = *at;
	int shown = (int)strcspn(start, ",");
	uint64_t chars, bytes, count = 1;
	uint32_t scope = FAB_SCOPE_GLOBAL;

	if (!take_field(at, 1, UINT32_MAX, &chars) || **at != ':' || (++*at, false) ||
	    !take_field(at, 0, FAB_PUT_MAX_BYTES, &bytes) ||
	    (**at == ':' && strchr("0123456789", (*at)[1]) &&
	     (++*at, !take_field(at, 1, FAB_KEYS_MAX, &count))) ||
	    (**at && !strchr(",:", **at)) || (**at == ':' && !(*at)[1]))
		return fab_fail(
			err, EINVAL,
			"'%.*s' is no key: expected LENGTH:BYTES[:COUNT][:SCOPE] as 14:51 or 9:8:4:node, up to %d keys of up to 2^31 bytes",
			shown < 60 ? shown : 60, start, FAB_KEYS_MAX);
	if (chars > FAB_KEY_MAX_CHARS)
		return fab_fail(err, EINVAL,
				"a key of %llu characters: PMIx takes up to %d",
				(unsigned long long)chars, FAB_KEY_MAX_CHARS);
	if (**at == ':') {
		size_t len = strcspn(++*at, ",");

		scope = fab_choices_find(&fab_key_scopes, *at, len);
		if (scope == FAB_NONE)
			return fab_choices_refuse(&fab_key_scopes, *at, len, NULL, err);
		*at += len;
	}
	*put = (struct fab_put){.chars = (uint32_t)chars,
				.count = (uint32_t)count,
				.bytes = bytes,
				.scope = scope};
	return 0;
}

/* Number of names of this length, at most FAB_KEYS_MAX. */
static uint64_t names_of(uint32_t chars)
{
	uint64_t n = 1;

	for (uint32_t i = 0; i < chars && n < FAB_KEYS_MAX; i++)
		n *= N_PRINTABLE;
	return n;
}

/* Keys of this length before entry `end`. */
static uint64_t keys_like(const struct fab_puts *puts, uint32_t chars, size_t end)
{
	uint64_t n = 0;

	for (size_t i = 0; i < end; i++)
		n += puts->of.v[i].chars == chars ? puts->of.v[i].count : 0;
	return n;
}

int fab_puts_parse(const char *text, struct fab_puts *out, struct fab_err *err)
{
	for (const char *at = text;; at++) {
		struct fab_put put;
		int rc = take_put(&at, &put, err);

		if (rc)
			return rc;
		FAB_PUSH(&out->of, put);
		if (fab_puts_keys(out) > FAB_KEYS_MAX)
			return fab_fail(err, EINVAL, "more than %d keys", FAB_KEYS_MAX);
		if (fab_puts_bytes(out) > FAB_PUT_MAX_BYTES)
			return fab_fail(
				err, EINVAL,
				"the values of a process are more than 2^31 bytes");
		if (keys_like(out, put.chars, out->of.n) > names_of(put.chars))
			return fab_fail(
				err, EINVAL,
				"there are only %llu different keys of %u characters",
				(unsigned long long)names_of(put.chars), put.chars);
		if (!*at)
			return 0;
	}
}

void fab_puts_exchanged(const struct fab_puts *puts, struct fab_puts *out)
{
	for (size_t i = 0; i < puts->of.n; i++)
		if (fab_put_is_exchanged(&puts->of.v[i]))
			FAB_PUSH(&out->of, puts->of.v[i]);
}

uint64_t fab_puts_keys(const struct fab_puts *puts)
{
	uint64_t n = 0;

	for (size_t i = 0; i < puts->of.n; i++)
		n += puts->of.v[i].count;
	return n;
}

uint64_t fab_puts_bytes(const struct fab_puts *puts)
{
	uint64_t n = 0;

	for (size_t i = 0; i < puts->of.n; i++)
		n += puts->of.v[i].count * puts->of.v[i].bytes;
	return n;
}

/* Bytes of an integer in base 128; the ninth byte is full. */
static uint32_t leb(uint64_t value)
{
	uint32_t n = 1;

	while (value >= 128 && n < 9) {
		value >>= 7;
		n++;
	}
	return n;
}

static bool has(const struct fab_size_layout *l, unsigned opt)
{
	return l->opts & opt;
}

/* Sizes of packed values: signed and unsigned 32-bit integers; a string with its length
 * and the NUL; a byte object with its size, in front of which is its type without LEB128;
 * the number of values in front of a single value. */
static uint64_t of_int(const struct fab_size_layout *l, uint32_t value)
{
	return has(l, FAB_SIZE_LEB128) ? leb(2 * (uint64_t)value) : 4;
}

static uint64_t of_uint(const struct fab_size_layout *l, uint64_t value)
{
	return has(l, FAB_SIZE_LEB128) ? leb(value) : 4;
}

static uint64_t of_string(const struct fab_size_layout *l, uint32_t chars)
{
	return of_int(l, chars + 1) + chars + 1;
}

static uint64_t of_object(const struct fab_size_layout *l, uint64_t bytes)
{
	return (has(l, FAB_SIZE_LEB128) ? leb(bytes) : 2 + 8) + bytes;
}

static uint64_t of_one(const struct fab_size_layout *l)
{
	return of_int(l, 1);
}

bool fab_size_has_table(const struct fab_puts *puts, const struct fab_size_layout *l,
			uint32_t ppn)
{
	uint64_t last = fab_puts_keys(puts) - 1;
	uint64_t name, index;

	if (!has(l, FAB_SIZE_KEYINDEX) || !puts->of.n)
		return false;
	name = of_one(l) + of_string(l, puts->of.v[puts->of.n - 1].chars);
	index = of_one(l) + of_uint(l, last);
	return name * ppn > name + index * ppn;
}

/* Of n_nodes nodes, the first of which begins with first_rank. */
static uint64_t of_nodes(const struct fab_puts *puts, const struct fab_size_layout *l,
			 uint32_t first_rank, uint32_t n_nodes, uint32_t ppn)
{
	bool has_table = fab_size_has_table(puts, l, ppn);
	uint64_t n = fab_puts_keys(puts);
	uint64_t head = of_one(l) + INFO_BYTES; /* and the table of keys */
	uint64_t process = of_one(l); /* id, keys and values, without the rank */
	uint64_t bytes = 0;

	if (!n)
		return 0;
	if (!has(l, FAB_SIZE_PROCID))
		process += of_string(l, l->namespace_chars);
	if (has_table)
		head += of_one(l) + of_uint(l, n) + of_int(l, (uint32_t)n);
	/* integers of base 128 are longer from each power of 128 on */
	for (uint64_t from = 0, to = 128; has_table && from < n; from = to, to *= 128)
		process += ((to < n ? to : n) - from) * (of_uint(l, from) + of_one(l));
	for (size_t i = 0; i < puts->of.n; i++) {
		const struct fab_put *put = &puts->of.v[i];
		bool is_short =
			has(l, FAB_SIZE_ADDR) && put->bytes == FAB_SIZE_OLD_ADDRESS;
		uint64_t value = is_short ? FAB_SIZE_NEW_ADDRESS : put->bytes;
		uint64_t type = has(l, FAB_SIZE_LEB128) ? leb(TYPE_BYTE_OBJECT) : 2;

		process += put->count * (of_one(l) + type + of_object(l, value));
		*(has_table ? &head : &process) += put->count * of_string(l, put->chars);
	}
	for (uint32_t i = 0; i < n_nodes; i++, first_rank += ppn) {
		uint64_t end = (uint64_t)first_rank + ppn, inner = head;

		for (uint64_t from = 0, to = 128; from < end; from = to, to *= 128) {
			uint64_t a = from > first_rank ? from : first_rank;
			uint64_t b = to < end ? to : end;

			if (a < b)
				inner += (b - a) *
					 (of_one(l) +
					  of_object(l, process + of_uint(l, from)));
		}
		bytes += of_one(l) + of_object(l, inner);
	}
	return bytes;
}

uint64_t fab_size_node(const struct fab_puts *puts, const struct fab_size_layout *l,
		       uint32_t first_rank, uint32_t ppn)
{
	return of_nodes(puts, l, first_rank, 1, ppn);
}

uint64_t fab_size_job(const struct fab_puts *puts, const struct fab_size_layout *l,
		      uint32_t n_nodes, uint32_t ppn)
{
	return of_nodes(puts, l, 0, n_nodes, ppn);
}

const struct fab_put *fab_puts_name(const struct fab_puts *puts, uint64_t i, char *out)
{
	const struct fab_put *put = puts->of.v;

	for (; i >= put->count; put++)
		i -= put->count;
	i += keys_like(puts, put->chars, (size_t)(put - puts->of.v));
	for (uint32_t at = put->chars; at-- > 0; i /= N_PRINTABLE)
		out[at] = (char)(FIRST_PRINTABLE + i % N_PRINTABLE);
	out[put->chars] = '\0';
	return put;
}

/* The second computation: the packed bytes. Nothing above is used. */

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

/* Base 128, the lowest bits first; or big endian in `width` bytes. */
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

/* One byte object with the contents of `inner`, which is emptied. */
static void put_object(struct bytes *b, struct bytes *inner)
{
	put_int(b, 1);
	put_size(b, inner->of.n);
	put_raw(b, inner->of.v, inner->of.n);
	inner->of.n = 0;
}

static void put_process(struct bytes *b, const struct fab_puts *puts, uint32_t rank,
			bool has_table)
{
	uint64_t n = fab_puts_keys(puts), value;
	char name[FAB_KEY_MAX_CHARS + 1];

	put_int(b, 1);
	if (!(b->layout->opts & FAB_SIZE_PROCID)) {
		FAB_AUTOFREE char *nspace = fab_alloc(b->layout->namespace_chars + 1, 1);

		memset(nspace, 'n', b->layout->namespace_chars);
		nspace[b->layout->namespace_chars] = '\0';
		put_string(b, nspace);
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
		value = put->bytes;
		if (value == FAB_SIZE_OLD_ADDRESS && b->layout->opts & FAB_SIZE_ADDR)
			value = FAB_SIZE_NEW_ADDRESS;
		put_integer(b, TYPE_BYTE_OBJECT, 2);
		put_size(b, value);
		FAB_RESERVE(&b->of, value);
		if (value)
			memset(b->of.v + b->of.n, FAB_SIZE_FILLER, value);
		b->of.n += value;
	}
}

/* True if a table is shorter than names in line, by packing the last name. */
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
	uint32_t n_keys = (uint32_t)fab_puts_keys(puts);
	char name[FAB_KEY_MAX_CHARS + 1];
	unsigned char info = INFO_COLLECT | (has_table ? INFO_TABLE : 0);

	put_int(&node, 1);
	put_raw(&node, &info, 1);
	if (has_table) {
		put_int(&node, 1);
		put_integer(&node, n_keys, 4);
		put_int(&node, n_keys);
	}
	for (uint32_t i = 0; has_table && i < n_keys; i++) {
		fab_puts_name(puts, i, name);
		put_string(&node, name);
	}
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
