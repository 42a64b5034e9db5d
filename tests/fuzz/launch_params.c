/* SPDX-License-Identifier: BSD-2-Clause */
/* Parameter files and lists of keys: the first byte says which. */
#include "fuzz.h"
#include "launch/params.h"
#include "launch/size.h"

static void try_params(const char *text, size_t n)
{
	struct fab_launch_params p;

	fab_launch_params_init(&p);
	(void)is_refused_at(fab_launch_params_read(&p, "input", text, n, ERR));
	for (size_t i = 0; i < FAB_N_LAUNCH_CONSTANTS; i++)
		NEVER(p.of[i].origin >= FAB_N_ORIGINS);
}

/* The count is what is encoded. */
static void try_keys(const char *bytes, size_t n)
{
	static const struct fab_size_layout layouts[] = {{0, 21}, {FAB_SIZE_LIBRARY, 21}};
	FAB_AUTOFREE char *text = fab_strndup(bytes, n);
	struct fab_puts puts = {0};

	if (!is_refused(fab_puts_parse(text, &puts, ERR)) &&
	    fab_puts_keys(&puts) < 1000 && fab_puts_bytes(&puts) < 100000)
		for (size_t i = 0; i < 2; i++) {
			size_t size;

			free(fab_size_encode(&puts, &layouts[i], 127, 2, &size));
			NEVER(size != fab_size_node(&puts, &layouts[i], 127, 2));
		}
	free(puts.of.v);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	if (n)
		(bytes[0] & 1 ? try_params : try_keys)((const char *)bytes + 1, n - 1);
	return 0;
}
