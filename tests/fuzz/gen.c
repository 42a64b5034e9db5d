/* SPDX-License-Identifier: BSD-2-Clause */
/* Specs of generated fabrics: what follows `gen:`. */
#include "fuzz.h"

#include "base/mem.h"
#include "source/reader.h"

#include <stdlib.h>
#include <string.h>

/* Has a tree more than three levels? */
static bool is_deep(const char *spec)
{
	static const char *const keys[] = {"levels=", "h="};

	for (size_t i = 0; i < FAB_COUNT(keys); i++) {
		const char *at = strstr(spec, keys[i]);

		if (at && atoi(at + strlen(keys[i])) > 3)
			return true;
	}
	return false;
}

/* Fabrics of millions of hosts are legal and take minutes under sanitizers: numbers have
 * at most two digits, in deep trees one. */
static bool has_large_number(const char *spec)
{
	size_t n_digits = 0, most = is_deep(spec) ? 1 : 2;

	for (; *spec && n_digits <= most; spec++)
		n_digits = *spec >= '0' && *spec <= '9' ? n_digits + 1 : 0;
	return n_digits > most;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	FAB_AUTOFREE char *spec = fab_strndup((const char *)bytes, n);
	struct fab_builder *b = fab_builder_new();

	if (has_large_number(spec)) {
		fab_builder_free(b);
		return -1;
	}
	(void)is_refused(fab_gen_fill(b, spec, ERR));
	fab_builder_free(b);
	return 0;
}
