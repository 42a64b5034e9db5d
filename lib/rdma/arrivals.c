/* SPDX-License-Identifier: BSD-2-Clause */
#include "rdma/arrivals.h"

#include <errno.h>
#include <string.h>

#include "base/num.h"

/* One number, or a range up or down. */
static int take_one(const char *text, size_t len, struct fab_rdma_arrivals *out,
		    struct fab_err *err)
{
	const char *dash = memchr(text, '-', len);
	size_t first_len = dash ? (size_t)(dash - text) : len;
	uint64_t first, last, n;

	if (!fab_parse_u64(text, first_len, 0, UINT32_MAX - 1, &first))
		goto bad;
	last = first;
	if (dash &&
	    !fab_parse_u64(dash + 1, len - first_len - 1, 0, UINT32_MAX - 1, &last))
		goto bad;
	n = (first < last ? last - first : first - last) + 1;
	if (n > FAB_RDMA_ARRIVALS_MAX - out->number.n)
		return fab_fail(err, EINVAL, "more than %d arrivals",
				FAB_RDMA_ARRIVALS_MAX);
	FAB_RESERVE(&out->number, n);
	for (uint64_t i = 0; i < n; i++)
		FAB_PUSH(&out->number, (uint32_t)(first < last ? first + i : first - i));
	return 0;
bad:
	return fab_fail(err, EINVAL,
			"'%.*s' is no packet: expected numbers from 0 on and ranges as "
			"2,1,0,4-6",
			(int)(len < 60 ? len : 60), text);
}

int fab_rdma_arrivals_parse(const char *text, struct fab_rdma_arrivals *out,
			    struct fab_err *err)
{
	out->number.n = 0;
	for (const char *at = text;; at++) {
		size_t len = strcspn(at, ",");
		int rc = take_one(at, len, out, err);

		if (rc)
			return rc;
		at += len;
		if (!*at)
			return 0;
	}
}
