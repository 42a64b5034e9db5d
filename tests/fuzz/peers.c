/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of peers: the first byte says how many processes there are. */
#include "fuzz.h"
#include "launch/exchange.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	FAB_AUTO(fab_arena_free) struct fab_arena memory = FAB_ARENA_INIT;
	struct fab_peers p;

	if (!n || is_refused_at(fab_peers_parse(&memory, "input", (const char *)bytes + 1,
						n - 1, bytes[0] / 8 + 1u,
						bytes[0] % 8 + 1u, &p, ERR)))
		return 0;
	for (uint32_t r = 0; r < p.n; r++)
		for (uint32_t i = 0; i < fab_peers_degree(&p, r); i++) {
			uint32_t peer = fab_peers_at(&p, r, i);

			NEVER(peer >= p.n || peer == r ||
			      (i && peer <= fab_peers_at(&p, r, i - 1)));
		}
	return 0;
}
