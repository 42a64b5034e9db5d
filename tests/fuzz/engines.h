/* SPDX-License-Identifier: BSD-2-Clause */
/* For the target engines: what is drawn from an input, and what is tried on a fabric. */
#pragma once

#include "mcast/events.h"
#include "mcast/live.h"
#include "mcast/route.h"
#include "source.h"
#include "unicast/analysis.h"
#include "unicast/engine.h"
#include "unicast/faults.h"

enum { FUZZ_CHOICES = 64 };

/* The bytes of an input that choose; read round and round. */
struct fuzz_draw {
	uint8_t byte[FUZZ_CHOICES];
	size_t at;
};

static inline uint32_t fuzz_byte(struct fuzz_draw *d)
{
	return d->byte[d->at++ % FUZZ_CHOICES];
}

/* 0 .. n - 1 */
static inline uint32_t fuzz_below(struct fuzz_draw *d, uint32_t n)
{
	uint32_t value = fuzz_byte(d);

	if (n > 256)
		value = value << 8 | fuzz_byte(d);
	return n ? value % n : 0;
}

static inline int fuzz_analyse_hosts(const struct fab_routes *r, struct fab_analysis *out)
{
	const struct fab_analysis_options options = {.ends = FAB_ENDS_HOSTS,
						     .n_threads = 1};

	return fab_analyse(r, &options, out, ERR);
}

/* The fabric of an input, a text in any format or made by its bytes, if it is small: to
 * `try_on`. The first bytes are for its draws. Returns 0. */
int fuzz_on_small(const uint8_t *bytes, size_t n,
		  void (*try_on)(const struct fab_fabric *f, struct fuzz_draw *d));

/* piece[switch]: number of what cables between switches join; freed by the caller. */
uint32_t *fuzz_pieces(const struct fab_fabric *f);

/* The tables of an engine; NULL: it cannot. */
struct fab_routes *fuzz_tables(const struct fab_unicast_problem *problem,
			       const struct fab_unicast_engine *engine);

/* All that fabric-topo, -mcroute, -faults, -bootplan would do with it. */
void fuzz_topo(const struct fab_fabric *f);
void fuzz_mcast(const struct fab_fabric *f, struct fuzz_draw *d);
void fuzz_unicast(const struct fab_fabric *f, struct fuzz_draw *d);
/* Whatever is requested, what is left in the end is sound. */
void fuzz_replay(const struct fab_fabric *f, const struct fab_dist *dist,
		 const struct fab_events *e, const struct fab_mcast_engine *engine,
		 const struct fab_lifecycle_options *options);
/* Every path through tables without faults, and what uses each cable. */
void fuzz_trace(const struct fab_routes *r);
void fuzz_boot(const struct fab_fabric *f, struct fuzz_draw *d);
