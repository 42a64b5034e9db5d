/* SPDX-License-Identifier: BSD-2-Clause */
/* A ring of daemons that does not mend itself. */
#include <errno.h>
#include <stdlib.h>

#include "launch/detector.h"

int fab_mpd_parts(uint32_t n, const uint32_t *failed, uint32_t f,
		  struct fab_ring_parts *out, struct fab_err *err)
{
	bool *is_dead = FAB_NEW0((size_t)n + 1, bool);
	uint32_t start = FAB_NONE; /* one behind a failed one */
	int rc = 0;

	*out = (struct fab_ring_parts){0};
	for (uint32_t i = 0; i < f && !rc; i++) {
		if (failed[i] >= n)
			rc = fab_fail(err, EINVAL, "node %u: there are %u", failed[i], n);
		else if (is_dead[failed[i]])
			rc = fab_fail(err, EINVAL, "node %u fails twice", failed[i]);
		else
			is_dead[failed[i]] = true;
	}
	for (uint32_t i = 0; i < n && start == FAB_NONE && !rc; i++)
		if (!is_dead[i] && is_dead[i ? i - 1 : n - 1])
			start = i;
	if (start == FAB_NONE && n && !f && !rc)
		FAB_PUSH(&out->of, ((struct fab_ring_part){0, n - 1, n}));
	for (uint32_t i = 0; start != FAB_NONE && i < n; i++) {
		uint32_t at = (start + i) % n;
		bool begins = !is_dead[at] && is_dead[at ? at - 1 : n - 1];

		if (begins)
			FAB_PUSH(&out->of, ((struct fab_ring_part){at, at, 0}));
		if (!is_dead[at]) {
			out->of.v[out->of.n - 1].last = at;
			out->of.v[out->of.n - 1].n++;
		}
	}
	free(is_dead);
	return rc;
}
