/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fabric, and every engine of every command on it, verified. The first bytes of an
 * input choose faults, groups, servers and so on; what follows is the fabric.
 */
#include "engines.h"

#include "base/mem.h"
#include "fuzz.h"

enum { NODES_MAX = 160, SWITCHES_MAX = 40, CABLES_MAX = 400 };

uint32_t *fuzz_pieces(const struct fab_fabric *f)
{
	uint32_t *piece = FAB_NEW(f->n_switches, uint32_t);
	bool changed = true;

	for (uint32_t s = 0; s < f->n_switches; s++)
		piece[s] = s;
	while (changed) {
		changed = false;
		for (uint32_t s = 0; s < f->n_switches; s++)
			for (uint32_t i = f->peer_first[s]; i < f->peer_first[s + 1]; i++)
				if (piece[f->peer[i]] < piece[s]) {
					piece[s] = piece[f->peer[i]];
					changed = true;
				}
	}
	return piece;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	size_t n_choices = n < FUZZ_CHOICES ? n : FUZZ_CHOICES;
	struct fuzz_draw draw = {.at = 0};
	struct fab_fabric *f;

	memcpy(draw.byte, bytes, n_choices);
	f = fuzz_engines_fabric(bytes + n_choices, n - n_choices);
	if (!f)
		return 0;
	if (f->n_nodes <= NODES_MAX && f->n_switches <= SWITCHES_MAX &&
	    f->n_cables <= CABLES_MAX) {
		fuzz_topo(f);
		fuzz_mcast(f, &draw);
		draw.at = FUZZ_CHOICES / 4;
		fuzz_unicast(f, &draw);
		draw.at = FUZZ_CHOICES / 4 * 3;
		fuzz_boot(f, &draw);
	}
	fab_fabric_free(f);
	return 0;
}
