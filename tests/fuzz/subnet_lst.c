/* SPDX-License-Identifier: BSD-2-Clause */
/* Reader of opensm-subnet.lst. */
#include "source.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	return fuzz_read(fab_subnet_lst_read, bytes, n);
}
