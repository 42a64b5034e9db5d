/* SPDX-License-Identifier: BSD-2-Clause */
#include "traffic/pattern.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/num.h"

enum { MAX_PPN = 4096 };

#define ADDRESS(row) &fab_pattern_##row,
const struct fab_pattern_kind *const fab_pattern_kinds[] = {FAB_PATTERN_KINDS(ADDRESS)};

static struct fab_choice choice_at(size_t i)
{
	return (struct fab_choice){fab_pattern_kinds[i]->form,
				   fab_pattern_kinds[i]->summary,
				   fab_pattern_kinds[i]->manual, true};
}

const struct fab_choices fab_pattern_choices = {"pattern", FAB_COUNT(fab_pattern_kinds),
						choice_at};

int fab_pattern_bad(const struct fab_pattern *p, const char *what, size_t len,
		    const char *rule, struct fab_err *err)
{
	return fab_fail(err, EINVAL, "--pattern %s: '%.*s' %s", p->spec, (int)len, what,
			rule);
}

bool fab_pattern_is_word(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && !memcmp(text, word, len);
}

int fab_pattern_number(const struct fab_pattern *p, const char *want, const char *key,
		       size_t key_len, const char *value, size_t len, uint64_t min,
		       uint64_t max, uint64_t *out, struct fab_err *err)
{
	if (!fab_pattern_is_word(key, key_len, want))
		return 1;
	if (fab_parse_u64(value, len, min, max, out))
		return 0;
	return fab_fail(err, EINVAL,
			"--pattern %s: '%s=%.*s' is not a number from %llu to %llu",
			p->spec, want, (int)len, value, (unsigned long long)min,
			(unsigned long long)max);
}

static int parse_order(struct fab_pattern *p, const char *value, size_t len,
		       struct fab_err *err)
{
	static const char *const orders[] = {"fabric", "name", "lid", "random"};

	for (size_t i = 0; i < FAB_COUNT(orders); i++)
		if (fab_pattern_is_word(value, len, orders[i])) {
			p->order = (enum fab_pattern_order)i;
			return 0;
		}
	return fab_pattern_bad(p, value, len,
			       "is no order: expected fabric, name, lid or random", err);
}

static int parse_parameter(struct fab_pattern *p, const char *text, size_t len,
			   struct fab_err *err)
{
	const char *equals = memchr(text, '=', len), *value;
	size_t key_len, n;
	int rc;

	if (!equals)
		return fab_pattern_bad(p, text, len,
				       "is no parameter: expected KEY=VALUE", err);
	key_len = (size_t)(equals - text);
	value = equals + 1;
	n = len - key_len - 1;
	if (fab_pattern_is_word(text, key_len, "order"))
		return parse_order(p, value, n, err);
	if (fab_pattern_is_word(text, key_len, "per")) {
		p->per_host = fab_pattern_is_word(value, n, "host");
		if (p->per_host || fab_pattern_is_word(value, n, "adapter"))
			return 0;
		return fab_pattern_bad(p, value, n,
				       "is no endpoint: expected adapter or host", err);
	}
	rc = fab_pattern_number(p, "seed", text, key_len, value, n, 0, UINT64_MAX,
				&p->seed, err);
	if (rc > 0)
		rc = fab_pattern_number(p, "ppn", text, key_len, value, n, 1, MAX_PPN,
					&p->ppn, err);
	if (rc > 0)
		rc = p->kind->parse(p, text, key_len, value, n, err);
	if (rc > 0) {
		char rule[200];

		snprintf(rule, sizeof(rule), "is unknown: %s", p->kind->takes);
		rc = fab_pattern_bad(p, text, key_len, rule, err);
	}
	return rc;
}

static int parse_all(struct fab_pattern *p, const char *parameters, struct fab_err *err)
{
	for (const char *at = parameters; *at || at == parameters;) {
		size_t len = strcspn(at, ",");
		int rc = at == parameters && p->kind->first_is_bare
				 ? p->kind->parse(p, NULL, 0, at, len, err)
				 : parse_parameter(p, at, len, err);

		if (rc)
			return rc;
		at += len + (at[len] != '\0');
	}
	return p->kind->check ? p->kind->check(p, err) : 0;
}

int fab_pattern_parse(const char *spec, uint64_t seed, struct fab_pattern *out,
		      struct fab_err *err)
{
	size_t len = fab_choice_name_len(spec);
	uint32_t i =
		spec[len] ? fab_choices_find(&fab_pattern_choices, spec, len) : FAB_NONE;

	if (i == FAB_NONE) {
		char *forms = fab_choices_text(&fab_pattern_choices, "or");
		int rc = fab_fail(err, EINVAL, "--pattern '%s' is unknown: expected %s",
				  spec, forms);

		free(forms);
		return rc;
	}
	*out = (struct fab_pattern){
		.spec = spec, .kind = fab_pattern_kinds[i], .ppn = 1, .seed = seed};
	return parse_all(out, spec + len + 1, err);
}
