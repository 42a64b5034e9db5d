/* SPDX-License-Identifier: BSD-2-Clause */
#include "unicast/fault_sets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

uint64_t fab_faults_combinations(uint64_t n, uint64_t k)
{
	wide c = 1;

	if (k > n)
		return 0;
	if (k > n - k)
		k = n - k;
	for (uint64_t i = 1; i <= k; i++) {
		c = c * (n - k + i) / i;
		if (c > UINT64_MAX)
			return UINT64_MAX;
	}
	return (uint64_t)c;
}

void fab_faults_combination(uint64_t number, size_t k, size_t n, size_t *pick)
{
	size_t at = 0;

	/* with_at: combinations of the rest that begin with `at` */
	for (size_t i = 0; i < k; i++, at++) {
		uint64_t left = n - at - 1, more = k - i - 1;
		wide with_at = fab_faults_combinations(left, more);

		for (; number >= with_at; at++, left--) {
			number -= (uint64_t)with_at;
			with_at = with_at * (left - more) / left;
		}
		pick[i] = at;
	}
}

static int init(const struct fab_fabric *f, const struct fab_faults *always,
		enum fab_fault_kind kind, struct fab_fault_sets *sets,
		struct fab_err *err)
{
	int rc = 0;

	sets->always = always;
	fab_faults_candidates(f, kind, always, &sets->candidates);
	if (sets->candidates.of.n < sets->k) {
		rc = fab_fail(err, EINVAL, "%u faults are asked for, of %zu %s", sets->k,
			      sets->candidates.of.n, fab_fault_kind_choices.names[kind]);
		fab_fault_sets_fini(sets);
	}
	return rc;
}

int fab_fault_sets_random(const struct fab_fabric *f, const struct fab_faults *always,
			  enum fab_fault_kind kind, uint32_t k, uint64_t n, uint64_t seed,
			  struct fab_fault_sets *out, struct fab_err *err)
{
	*out = (struct fab_fault_sets){.k = k, .n = n, .seed = seed};
	return init(f, always, kind, out, err);
}

int fab_fault_sets_all(const struct fab_fabric *f, const struct fab_faults *always,
		       enum fab_fault_kind kind, uint32_t k, struct fab_fault_sets *out,
		       struct fab_err *err)
{
	int rc;

	*out = (struct fab_fault_sets){.k = k, .is_exhaustive = true};
	rc = init(f, always, kind, out, err);
	if (!rc)
		out->n = fab_faults_combinations(out->candidates.of.n, k);
	return rc;
}

void fab_fault_sets_fini(struct fab_fault_sets *sets)
{
	free(sets->candidates.of.v);
	*sets = (struct fab_fault_sets){0};
}

void fab_fault_maker_init(struct fab_fault_maker *m, const struct fab_fault_sets *sets)
{
	const struct fab_fault_list *from = &sets->candidates;

	*m = (struct fab_fault_maker){.sets = sets,
				      .faults = fab_faults_new(sets->always->f),
				      .pick = FAB_NEW(sets->k + 1, size_t)};
	FAB_RESERVE(&m->list.of, from->of.n + 1);
	m->list.of.n = from->of.n;
	if (from->of.n)
		memcpy(m->list.of.v, from->of.v, from->of.n * sizeof(*from->of.v));
}

void fab_fault_maker_fini(struct fab_fault_maker *m)
{
	fab_faults_free(m->faults);
	free(m->list.of.v);
	free(m->pick);
}

void fab_fault_maker_make(struct fab_fault_maker *m, uint64_t number)
{
	const struct fab_fault_sets *sets = m->sets;
	struct fab_stream stream = fab_stream_of(sets->seed, number);

	fab_faults_clear(m->faults);
	for (size_t i = 0; i < sets->always->named.n; i++)
		fab_faults_kill(m->faults, sets->always->named.v[i]);
	if (!sets->is_exhaustive) {
		fab_faults_draw(m->faults, &m->list, sets->k, &stream);
		return;
	}
	fab_faults_combination(number, sets->k, m->list.of.n, m->pick);
	for (size_t i = 0; i < sets->k; i++)
		fab_faults_kill(m->faults, m->list.of.v[m->pick[i]]);
}
