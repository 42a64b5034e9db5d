/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fabric, and every engine of every command on it, verified. The first bytes of an
 * input choose faults, groups, servers and so on; what follows is the fabric.
 */
#include "engines.h"

enum { SWITCHES_MAX = 40 };

static void try_on(const struct fab_fabric *f, struct fuzz_draw *d)
{
	if (f->n_switches > SWITCHES_MAX)
		return;
	fuzz_topo(f);
	fuzz_mcast(f, d);
	d->at = FUZZ_CHOICES / 4;
	fuzz_unicast(f, d);
	d->at = FUZZ_CHOICES / 4 * 3;
	fuzz_boot(f, d);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	return fuzz_on_small(bytes, n, try_on);
}
