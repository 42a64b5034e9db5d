/* SPDX-License-Identifier: BSD-2-Clause */
/* Reader of port lists of ibnetdiscover -p. */
#include "source.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	return fuzz_read(fab_ibnetdiscover_ports_read, bytes, n);
}
