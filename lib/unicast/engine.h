/* SPDX-License-Identifier: BSD-2-Clause */
/* Unicast routing algorithms: one table, one file each. */
#pragma once

#include "base/choice.h"
#include "fabric/kfat.h"
#include "unicast/routes.h"

struct fab_unicast_problem {
	const struct fab_fabric *f;
	const struct fab_faults *faults;
	const struct fab_kfat *kfat; /* NULL: an engine that needs none only */
	unsigned max_vls;	     /* lanes that may be used, 1 .. 15 */
	unsigned max_sls;	     /* service levels, 1 .. 16; 0: 16 */
	int n_threads;
	uint32_t n_roots; /* switches from which updn ranks; 0: those that it finds */
	const uint32_t *roots;
	bool fills_roots; /* updn takes the top rank, or a switch where it is no use */
};

struct fab_unicast_engine {
	const char *name;
	const char *summary;
	const char *manual; /* as struct fab_choice has it */
	const char *caveat; /* what its verdicts do not promise; NULL: nothing */
	bool needs_kfat;
	bool imitates_opensm; /* by rules of OpenSM, whose own tables may differ */
	uint32_t n_dims;      /* of the kfats that it is for; 0: any */
	/* Other conditions; NULL: none. EINVAL: not met, with the reason. */
	int (*fits)(const struct fab_unicast_problem *problem, struct fab_err *err);
	/* Tables for the sound leaf switches of a kfat, or by LID for everything alive.
	 * What cannot be reached has no entry. The caller frees *out. */
	int (*route)(const struct fab_unicast_problem *problem, struct fab_routes **out,
		     struct fab_err *err);
};

extern const struct fab_unicast_engine *const fab_unicast_engines[];
extern const size_t fab_unicast_n_engines;
extern const struct fab_choices fab_unicast_choices; /* the same, by name */
/* By its name of `len` bytes; NULL: none has it. O(engines). */
const struct fab_unicast_engine *fab_unicast_engine_find(const char *name, size_t len);
/* Can it route what the problem describes? EINVAL: why not. O(1), for dor and d-mod-k
 * fab_shape_recognize(). */
int fab_unicast_fits(const struct fab_unicast_engine *engine,
		     const struct fab_unicast_problem *problem,
		     struct fab_err *err) FAB_MUST_CHECK;
/*
 * EINVAL with the whole sentence for one that cannot: why not, why the fabric `source` is
 * no kfat if it would need one (`no_kfat`), and which ones can. O(engines) of
 * fab_unicast_fits().
 */
int fab_unicast_refuse(const char *source, const struct fab_unicast_engine *engine,
		       const struct fab_unicast_problem *problem,
		       const struct fab_err *no_kfat, struct fab_err *err);

/* A file adds its row here; in the order in which they are documented. */
#define FAB_UNICAST_ENGINES(ROW)                                                         \
	ROW(xy)                                                                          \
	ROW(algorithm_a)                                                                 \
	ROW(vtftr)                                                                       \
	ROW(vtftr_ib)                                                                    \
	ROW(minhop)                                                                      \
	ROW(updn)                                                                        \
	ROW(dor)                                                                         \
	ROW(dor_up)                                                                      \
	ROW(dmodk)

#define FAB_DECLARE(row) extern const struct fab_unicast_engine fab_unicast_##row;
FAB_UNICAST_ENGINES(FAB_DECLARE)
#undef FAB_DECLARE

/* The caveat of engines that stand for OpenSM's. */
#define FAB_CAVEAT_OPENSM                                                                \
	"the verdict is that of the tables that --lfts-out writes; OpenSM's own tables " \
	"may differ: dump them and give --lfts"
