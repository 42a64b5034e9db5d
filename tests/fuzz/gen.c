/* SPDX-License-Identifier: BSD-2-Clause */
/* Specs of generated fabrics: what follows `gen:`. */
#include "fuzz.h"

#include "base/mem.h"
#include "source/gen.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *spec = fab_strndup((const char *)bytes, n);
	struct fab_builder *b = fab_builder_new();
	struct fab_err err = {""};

	/* A refusal says why. */
	if (fab_gen_fill(b, spec, &err) && !*err.text)
		abort();
	fab_builder_free(b);
	free(spec);
	return 0;
}
