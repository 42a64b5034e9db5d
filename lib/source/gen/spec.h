/* SPDX-License-Identifier: BSD-2-Clause */
/* The grammar of generated fabrics: KIND:key=value,... against a family's table of keys.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"

struct fab_gen_net;

enum {
	FAB_GEN_LIST_MAX = 16, /* dimensions, levels */
	FAB_GEN_KEYS_MAX = 12, /* keys of a family, the common ones included */
};

enum fab_gen_type {
	FAB_GEN_NUMBER, /* .number */
	FAB_GEN_LIST,	/* .list, numbers separated by fab_gen_key.separator */
	FAB_GEN_WORD,	/* .word */
};

/* One key of a family. Numbers, also those in lists, must lie in min .. max. */
struct fab_gen_key {
	const char *name;
	enum fab_gen_type type;
	char separator;
	bool is_required;
	uint64_t min, max;
	uint64_t fallback; /* of a number that is not required */
	const char *help;  /* what the value is, a noun phrase */
};

struct fab_gen_value {
	bool is_given;
	uint64_t number;
	struct {
		uint32_t n;
		uint32_t v[FAB_GEN_LIST_MAX];
	} list;
	const char *word; /* word_len bytes of the spec, borrowed */
	size_t word_len;
};

/*
 * A family of fabrics. `build` gets the values in the order of `keys`, checks what the
 * table cannot say, and fills the net.
 */
struct fab_gen_family {
	const char *name;
	const struct fab_gen_key *keys;
	size_t n_keys;
	int (*build)(struct fab_gen_net *net, const struct fab_gen_value *values,
		     struct fab_err *err);
};

/*
 * Split `params` (key=value,...; may be empty) by the table; fills values[0 .. n_keys-1],
 * fallbacks included. EINVAL: a key that is unknown, repeated or missing, a value out of
 * range; the sentence begins with `gen:NAME: `. O(length * keys).
 */
int fab_gen_parse(const char *name, const struct fab_gen_key *keys, size_t n_keys,
		  const char *params, struct fab_gen_value *values,
		  struct fab_err *err) FAB_MUST_CHECK;
