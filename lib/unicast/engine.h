/* SPDX-License-Identifier: BSD-2-Clause */
/* Unicast routing algorithms: one table, one file each. */
#pragma once

#include "fabric/shape.h"
#include "unicast/routes.h"

/* A high-dimension fat tree with its coordinates, dead parts included. */
struct fab_kfat {
	const struct fab_fabric *f;
	uint32_t n_dims, dims[FAB_SHAPE_DIMS_MAX];
	uint32_t n_leaves;
	uint32_t *leaf;	       /* [n_leaves] switch ids, ascending */
	uint32_t *leaf_of;     /* [n_switches] index in leaf, FAB_NONE for others */
	uint32_t *coord;       /* [n_leaves * n_dims] */
	uint32_t n_lines;      /* lines of all dimensions */
	uint32_t *line_of;     /* [n_leaves * n_dims] line of a leaf in a dimension */
	uint8_t *line_dim;     /* [n_lines] */
	uint32_t *switch_line; /* [n_switches] line a root switch belongs to, FAB_NONE
				  leaf */
	uint32_t n_planes;   /* root switches that join a leaf in each dimension, most */
	bool has_deep_lines; /* lines of more than one level of switches */
};

/* Leaf coordinates of a kfat, by the graph, parts may be missing. EINVAL: one line that
 * names the first contradiction. O(cables * dims). */
int fab_kfat_recognize(const struct fab_fabric *f, struct fab_kfat **out,
		       struct fab_err *err) FAB_MUST_CHECK;
void fab_kfat_free(struct fab_kfat *k);

struct fab_unicast_problem {
	const struct fab_fabric *f;
	const struct fab_faults *faults;
	const struct fab_kfat *kfat; /* NULL: an engine that needs none only */
	unsigned max_vls;	     /* lanes that may be used, 1 .. 15 */
	int n_threads;
};

struct fab_unicast_engine {
	const char *name; /* xy algorithm-a vtftr vtftr-ib minhop updn */
	const char *summary;
	bool needs_kfat;
	bool is_in_all;
	/* Tables for the sound leaf switches (kfat) or switches with hosts. What cannot
	 * be reached has no entry. The caller frees *out. */
	int (*route)(const struct fab_unicast_problem *problem, struct fab_routes **out,
		     struct fab_err *err);
};

extern const struct fab_unicast_engine *const fab_unicast_engines[];
extern const size_t fab_unicast_n_engines;
const struct fab_unicast_engine *fab_unicast_engine_find(const char *name, size_t len);

extern const struct fab_unicast_engine fab_unicast_xy, fab_unicast_algorithm_a;
extern const struct fab_unicast_engine fab_unicast_vtftr, fab_unicast_vtftr_ib;
extern const struct fab_unicast_engine fab_unicast_minhop, fab_unicast_updn;
