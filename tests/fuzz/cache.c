/* SPDX-License-Identifier: BSD-2-Clause */
/* Reader of caches of libibnetdisc. */
#include "source.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	return fuzz_read(fab_cache_read, bytes, n);
}
