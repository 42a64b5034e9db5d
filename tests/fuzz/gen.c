/* SPDX-License-Identifier: BSD-2-Clause */
/* Specs of generated fabrics: what follows `gen:`. */
#include "fuzz.h"
#include "source/reader.h"

enum { MANY = 200000 }; /* switches, or nearly */

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

/* Fabrics of millions of hosts are legal and take minutes under sanitizers. */
static bool is_large(const char *spec)
{
	unsigned long most = is_deep(spec) ? 9 : 99, product = 1;

	while (*spec && product < MANY) {
		char *end;
		unsigned long n =
			*spec >= '0' && *spec <= '9' ? strtoul(spec, &end, 10) : 0;

		spec = n ? end : spec + 1;
		product *= n > most ? MANY : n ? n : 1;
	}
	return product >= MANY;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	FAB_AUTOFREE char *spec = fab_strndup((const char *)bytes, n);
	struct fab_builder *b;

	if (is_large(spec))
		return -1;
	b = fab_builder_new();
	(void)is_refused(fab_gen_fill(b, spec, ERR));
	fab_builder_free(b);
	return 0;
}
