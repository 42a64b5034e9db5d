/* SPDX-License-Identifier: BSD-2-Clause */
/* Every placement of failures, one of those that turn into each other. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "launch/detector.h"

#define PLACEMENTS_MAX ((uint64_t)1 << 24)

/* Gaps between failures, from each to the next, the last one to the first. */
static bool is_least(const uint32_t *gap, uint32_t f)
{
	for (uint32_t turn = 1; turn < f; turn++)
		for (uint32_t i = 0; i < f; i++) {
			uint32_t other = gap[(turn + i) % f];

			if (other != gap[i]) {
				if (other < gap[i])
					return false;
				break;
			}
		}
	return true;
}

/* More placements than can be followed, with one failure at node 0? */
static bool is_too_many(uint32_t n, uint32_t f)
{
	double n_all = 1;

	for (uint32_t i = 1; i < f; i++)
		n_all = n_all * (n - i) / i;
	return n_all > (double)PLACEMENTS_MAX * f;
}

/* The next list of f - 1 places behind 0, ascending; false after the last one. */
static bool next(uint32_t *place, uint32_t n, uint32_t f)
{
	uint32_t i = f;

	while (i > 1 && place[i - 1] == n - f + i - 1)
		i--;
	if (i <= 1)
		return false;
	place[i - 1]++;
	for (; i < f; i++)
		place[i] = place[i - 1] + 1;
	return true;
}

static int follow(const struct fab_detector *d, const uint32_t *place, uint32_t f,
		  struct fab_failure *failures, struct fab_detector_worst *out,
		  struct fab_err *err)
{
	struct fab_detection x;
	int rc;

	for (uint32_t i = 0; i < f; i++)
		failures[i] = (struct fab_failure){.node = place[i]};
	rc = fab_detector_run(d, failures, f, &x, err);
	if (rc)
		return rc;
	out->n_beyond += !x.is_within;
	if (!out->n_placements++ || x.stable_us > out->worst.stable_us) {
		out->worst = x;
		memcpy(out->failures, failures, f * sizeof(*failures));
	}
	return 0;
}

int fab_detector_worst(const struct fab_detector *d, uint32_t f,
		       struct fab_detector_worst *out, struct fab_err *err)
{
	struct fab_failure *failures;
	uint32_t *place, *gap;
	int rc = fab_detector_check(d, err);

	*out = (struct fab_detector_worst){0};
	if (rc)
		return rc;
	if (!f || f >= d->n)
		return fab_fail(err, EINVAL, "%u failures of %u nodes: expected 1 to %u",
				f, d->n, d->n - 1);
	if (is_too_many(d->n, f))
		return fab_fail(err, ERANGE,
				"%u failures of %u nodes: more than %llu placements", f,
				d->n, (unsigned long long)PLACEMENTS_MAX);
	failures = FAB_NEW(f, struct fab_failure);
	out->failures = FAB_NEW0(f, struct fab_failure);
	place = FAB_NEW(2 * (size_t)f, uint32_t);
	gap = place + f;
	for (uint32_t i = 0; i < f; i++)
		place[i] = i;
	do {
		for (uint32_t i = 0; i < f; i++)
			gap[i] = (i + 1 < f ? place[i + 1] : d->n) - place[i];
		if (is_least(gap, f))
			rc = follow(d, place, f, failures, out, err);
	} while (!rc && next(place, d->n, f));
	free(place);
	free(failures);
	if (rc) {
		free(out->failures);
		out->failures = NULL;
	}
	return rc;
}
