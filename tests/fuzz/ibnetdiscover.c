/* SPDX-License-Identifier: BSD-2-Clause */
/* Reader of ibnetdiscover dumps and ibsim net files. */
#include "source.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	return fuzz_read(fab_ibnetdiscover_read, bytes, n);
}
