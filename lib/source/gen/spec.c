/* SPDX-License-Identifier: BSD-2-Clause */
#include "source/gen/spec.h"

#include "base/num.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* How much of a bad word an error message shows. */
#define SHOWN(len) ((int)((len) < 40 ? (len) : 40))

static int fail_unknown(const char *name, const struct fab_gen_key *keys, size_t n_keys,
			const char *word, size_t len, struct fab_err *err)
{
	char known[256];
	size_t at = 0;

	known[0] = '\0';
	for (size_t i = 0; i < n_keys && at < sizeof(known); i++)
		at += (size_t)snprintf(known + at, sizeof(known) - at, " %s",
				       keys[i].name);
	return fab_fail(err, EINVAL, "gen:%s: there is no key '%.*s'; the keys are:%s",
			name, SHOWN(len), word, known);
}

static int fail_value(const char *name, const struct fab_gen_key *key, const char *value,
		      size_t len, struct fab_err *err)
{
	if (key->type == FAB_GEN_LIST)
		return fab_fail(err, EINVAL,
				"gen:%s: %s=%.*s: 1 to %d numbers from %" PRIu64
				" to %" PRIu64 " separated by '%c' are needed (%s)",
				name, key->name, SHOWN(len), value, FAB_GEN_LIST_MAX,
				key->min, key->max, key->separator, key->help);
	return fab_fail(err, EINVAL,
			"gen:%s: %s=%.*s: a number from %" PRIu64 " to %" PRIu64
			" is needed (%s)",
			name, key->name, SHOWN(len), value, key->min, key->max,
			key->help);
}

static bool parse_list(const struct fab_gen_key *key, const char *text, size_t len,
		       struct fab_gen_value *value)
{
	const char *end = text + len;

	value->list.n = 0;
	for (;;) {
		const char *stop = memchr(text, key->separator, (size_t)(end - text));
		size_t n = (size_t)((stop ? stop : end) - text);
		uint64_t number;

		/* A leading 0 is no hexadecimal mark here: in 0x4 the x separates. */
		if (value->list.n == FAB_GEN_LIST_MAX ||
		    !fab_parse_u64(text, n, key->min, key->max, &number))
			return false;
		value->list.v[value->list.n++] = (uint32_t)number;
		if (!stop)
			return true;
		text = stop + 1;
	}
}

static bool parse_value(const struct fab_gen_key *key, const char *text, size_t len,
			struct fab_gen_value *value)
{
	value->is_given = true;
	switch (key->type) {
	case FAB_GEN_NUMBER:
		return fab_parse_u64(text, len, key->min, key->max, &value->number);
	case FAB_GEN_LIST:
		return parse_list(key, text, len, value);
	case FAB_GEN_WORD:
		value->word = text;
		value->word_len = len;
		return true;
	}
	return false;
}

static size_t find_key(const struct fab_gen_key *keys, size_t n_keys, const char *word,
		       size_t len)
{
	size_t i = 0;

	while (i < n_keys &&
	       (strlen(keys[i].name) != len || memcmp(keys[i].name, word, len)))
		i++;
	return i;
}

/* One `key=value` of `len` bytes. */
static int parse_pair(const char *name, const struct fab_gen_key *keys, size_t n_keys,
		      const char *pair, size_t len, struct fab_gen_value *values,
		      struct fab_err *err)
{
	const char *equals = memchr(pair, '=', len);
	size_t word = equals ? (size_t)(equals - pair) : len;
	size_t i = find_key(keys, n_keys, pair, word);

	if (i == n_keys)
		return fail_unknown(name, keys, n_keys, pair, word, err);
	if (!equals)
		return fab_fail(err, EINVAL, "gen:%s: key %s has no value: %s=... (%s)",
				name, keys[i].name, keys[i].name, keys[i].help);
	if (values[i].is_given)
		return fab_fail(err, EINVAL, "gen:%s: key %s is given twice", name,
				keys[i].name);
	if (!parse_value(&keys[i], equals + 1, len - word - 1, &values[i]))
		return fail_value(name, &keys[i], equals + 1, len - word - 1, err);
	return 0;
}

int fab_gen_parse(const char *name, const struct fab_gen_key *keys, size_t n_keys,
		  const char *params, struct fab_gen_value *values, struct fab_err *err)
{
	for (size_t i = 0; i < n_keys; i++)
		values[i] = (struct fab_gen_value){.number = keys[i].fallback};
	while (*params) {
		size_t len = strcspn(params, ",");
		int rc = parse_pair(name, keys, n_keys, params, len, values, err);

		if (rc)
			return rc;
		params += len;
		if (*params == ',' && !*++params)
			return fab_fail(err, EINVAL,
					"gen:%s: nothing follows the last comma", name);
	}
	for (size_t i = 0; i < n_keys; i++)
		if (keys[i].is_required && !values[i].is_given)
			return fab_fail(err, EINVAL, "gen:%s: key %s is missing (%s)",
					name, keys[i].name, keys[i].help);
	return 0;
}
