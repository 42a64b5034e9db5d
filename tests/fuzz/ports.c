/* SPDX-License-Identifier: BSD-2-Clause */
/* Reader of port lists of ibnetdiscover -p. */
#include "fuzz.h"
#include "source.h"

#include "source/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct fab_builder *b = fab_builder_new();
	struct fab_err err = {""};

	/* Past the recognition of formats, too. */
	if (fab_ibnetdiscover_ports_read(b, "input", (const char *)bytes, n, &err) &&
	    !*err.text)
		abort();
	fab_builder_free(b);
	fuzz_source(bytes, n);
	return 0;
}
