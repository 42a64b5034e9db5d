/* SPDX-License-Identifier: BSD-2-Clause */
/* Connection matrices of htsim: the first byte says how many endpoints there are. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "traffic/connection_matrix.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct fab_connection_matrix m;
	struct fab_err err = {""};
	uint32_t n_ends;

	if (!n)
		return 0;
	n_ends = 2 + bytes[0];
	if (fab_connection_matrix_parse(n_ends, "input", (const char *)bytes + 1, n - 1,
					&m, &err)) {
		if (strncmp(err.text, "input:", 6) != 0)
			abort();
		return 0;
	}
	if (!m.of.n)
		abort();
	for (size_t i = 0; i < m.of.n; i++) {
		const struct fab_connection *c = &m.of.v[i];

		if (c->from >= n_ends || c->to >= n_ends || c->from == c->to ||
		    !c->bytes || c->bytes > FAB_CONNECTION_MAX_BYTES ||
		    c->start_ps > FAB_CONNECTION_MAX_PS)
			abort();
	}
	free(m.of.v);
	return 0;
}
