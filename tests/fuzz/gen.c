/* SPDX-License-Identifier: BSD-2-Clause */
/* Specs of generated fabrics: what follows `gen:`. */
#include "fuzz.h"

#include "base/mem.h"
#include "source/reader.h"

#include <stdlib.h>

/* Fabrics of millions of hosts are legal and take minutes under sanitizers. */
static bool has_large_number(const uint8_t *bytes, size_t n)
{
	size_t n_digits = 0;

	for (size_t i = 0; i < n && n_digits < 3; i++)
		n_digits = bytes[i] >= '0' && bytes[i] <= '9' ? n_digits + 1 : 0;
	return n_digits >= 3;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	FAB_AUTOFREE char *spec = fab_strndup((const char *)bytes, n);
	struct fab_builder *b = fab_builder_new();

	if (has_large_number(bytes, n)) {
		fab_builder_free(b);
		return -1;
	}
	(void)is_refused(fab_gen_fill(b, spec, ERR));
	fab_builder_free(b);
	return 0;
}
