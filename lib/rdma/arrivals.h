/* SPDX-License-Identifier: BSD-2-Clause */
/* Lists of packets in the order of their arrival, as people write them. */
#pragma once

#include "base/err.h"
#include "base/mem.h"

enum { FAB_RDMA_ARRIVALS_MAX = 1000000 };

struct fab_rdma_arrivals {
	FAB_VEC(uint32_t) number;
};

/*
 * "2,1,0,4,3": numbers from 0 to 2^32-2 and ranges ("8-11") between commas. EINVAL: what
 * is none, or more than FAB_RDMA_ARRIVALS_MAX. The caller frees out->number.v, also after
 * an error. O(numbers).
 */
int fab_rdma_arrivals_parse(const char *text, struct fab_rdma_arrivals *out,
			    struct fab_err *err) FAB_MUST_CHECK;
