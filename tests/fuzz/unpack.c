/* SPDX-License-Identifier: BSD-2-Clause */
/* Unpacking of gzip and zstd. */
#include "source/unpack.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	FAB_AUTO(fab_input_fini) struct fab_input in = {0};

	if (is_refused(fab_input_unpack("input", bytes, n, &in, ERR)))
		return 0;
	NEVER(in.heap &&
	      (in.n > n * FAB_INPUT_MAX_RATIO + FAB_INPUT_SLACK || in.bytes[in.n]));
	return 0;
}
