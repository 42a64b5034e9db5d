/* SPDX-License-Identifier: BSD-2-Clause */
/* Unicast routing algorithms: one table, one file each. */
#pragma once

#include "base/choice.h"
#include "base/err.h"
#include "base/lookup.h"
#include "fabric/fabric.h"
#include "fabric/kfat.h"
#include "unicast/path.h"
#include "unicast/routes.h"

struct fab_unicast_problem;

/* How the OpenSM that is installed is run: the head of the struct of peer/opensm.h. */
struct fab_unicast_outside {
	/* As fab_unicast_route(), by OpenSM's `engine`. */
	int (*route)(const struct fab_unicast_outside *self,
		     const struct fab_unicast_problem *problem, const char *engine,
		     struct fab_routes **out, struct fab_err *err);
};

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
	const struct fab_unicast_outside *opensm; /* NULL: nothing runs it */
};

struct fab_segments;
struct fab_segment_plan;
/* Fills the plan of one destination leaf (unicast/kfat/segments.h). */
typedef void fab_segment_planner(const struct fab_segments *segments, uint32_t to,
				 struct fab_segment_plan *plan);

struct fab_unicast_engine {
	const char *name;
	const char *summary;
	const char *manual; /* as struct fab_choice has it */
	const char *caveat; /* what its verdicts do not promise; NULL: nothing */
	bool needs_kfat;
	bool treats_planes_alike; /* unicast/kfat/segments.h: a fold gives its tables */
	bool imitates_opensm;	  /* by rules of OpenSM, whose own tables may differ */
	bool is_outside;	  /* another program makes the tables, in seconds */
	uint32_t n_dims;	  /* of the kfats that it is for; 0: any */
	/* Other conditions; NULL: none. EINVAL: not met, with the reason. */
	int (*fits)(const struct fab_unicast_engine *self,
		    const struct fab_unicast_problem *problem, struct fab_err *err);
	int (*route)(const struct fab_unicast_engine *self, /* fab_unicast_route() */
		     const struct fab_unicast_problem *problem, struct fab_routes **out,
		     struct fab_err *err);
	/* of fab_segments_route(): the plan of each destination */
	fab_segment_planner *plan;
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
 * Tables of a problem that fits: for the sound leaf switches of a kfat, or by LID for
 * everything alive. Unreachable destinations have no entry. The caller frees *out; NULL
 * after an error. EINVAL: a kfat of other dimensions than the engine is for. Other errors
 * and time of each engine.
 */
int fab_unicast_route(const struct fab_unicast_engine *engine,
		      const struct fab_unicast_problem *problem, struct fab_routes **out,
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
	ROW(intermediate)                                                                \
	ROW(minhop)                                                                      \
	ROW(updn)                                                                        \
	ROW(dor)                                                                         \
	ROW(dor_up)                                                                      \
	ROW(dmodk)                                                                       \
	ROW(opensm_minhop)                                                               \
	ROW(opensm_updn)                                                                 \
	ROW(opensm_dnup)                                                                 \
	ROW(opensm_ftree)                                                                \
	ROW(opensm_lash)                                                                 \
	ROW(opensm_dor)                                                                  \
	ROW(opensm_torus_2qos)                                                           \
	ROW(opensm_sssp)                                                                 \
	ROW(opensm_dfsssp)                                                               \
	ROW(opensm_nue)

#define FAB_DECLARE(row) extern const struct fab_unicast_engine fab_unicast_##row;
FAB_UNICAST_ENGINES(FAB_DECLARE)
#undef FAB_DECLARE

/* Caveat of engines that imitate OpenSM's. */
#define FAB_CAVEAT_OPENSM                                                                \
	"the verdict is that of the tables that --lfts-out writes; OpenSM's own tables " \
	"may differ: dump them and give --lfts"

/* Memory and time that an algorithm's tables of a fabric take, before they are made. */

struct fab_effort {
	uint64_t destinations; /* columns: LIDs of what is alive, or leaf switches */
	uint64_t table_bytes;  /* at most; equal columns are kept once */
	double cpu_seconds;    /* of one core, for the tables and fab_analyse() of them; a
				  rough figure, a factor of three off at most on the
				  machines that it was measured on */
};

/* Of tables by `engine`. O(ports). */
struct fab_effort fab_unicast_effort(const struct fab_unicast_engine *engine,
				     const struct fab_unicast_problem *problem);

/* The LIDs of a fabric that tables lead to, in the order in which OpenSM routes them. */

struct fab_destination {
	uint32_t port, sw; /* end port; the switch at which packets leave */
	uint32_t offset;   /* LID counted from the port's first */
	uint32_t column;   /* by port, then offset: what tables by LID have */
};

/*
 * All LIDs of live ends: port 0 of switches, and ports of adapters whose cable and switch
 * are alive. First the first LID of each port, then the second of each that has several:
 * ports of adapters by switch (most of them first, then by GUID as it lies on the wire),
 * then by port number; switches by GUID. Source: OpenSM 3.3, its unicast manager. The
 * caller frees *out. Returns how many. O(ports log ports).
 */
uint32_t fab_destinations(const struct fab_fabric *f, const struct fab_faults *faults,
			  struct fab_destination **out);

/*
 * Destinations of engines with a column a switch: sound leaf switches of a kfat, or
 * without one the sound switches with hosts, ascending; sw_of[n_switches]. Returns how
 * many. O(switches + cables).
 */
struct fab_kfat;
uint32_t fab_destination_switches(const struct fab_fabric *f,
				  const struct fab_faults *faults,
				  const struct fab_kfat *kfat, uint32_t *sw_of);

/* Roots of up/down paths by a list, as OpenSM's root_guid_file is one. */

/*
 * Append the switches that a file names (`-`: standard input), a line each: a GUID from
 * 0x on, the rest of the line ignored, as fabric-topo --to=root-guids writes them; or
 * names as fab_lookup_list() has them. EINVAL, ENOENT: file, line and what was wrong; or
 * there are none. The caller frees out->of.v. O(nodes + bytes + matches).
 */
int fab_root_list_read(const struct fab_fabric *f, const char *path, struct fab_ids *out,
		       struct fab_err *err) FAB_MUST_CHECK;

/*
 * Service levels for paths that change lanes: a switch chooses the lane by service level,
 * in-port and out-port (SL2VL, IBA 1.3 section 7.6.6), so that two paths can share a
 * level where they agree in all entries that they use.
 */

enum { FAB_SLS_MAX = 16 };

struct fab_sl_packer;

/* For FAB_LANES_TABLE tables of `routes`: all switches, n_levels service levels (1 ..
 * FAB_SLS_MAX), nothing fixed yet. The caller frees. Fails with ERANGE when the tables
 * would take more than 1 GiB. */
int fab_sl_packer_new(struct fab_routes *routes, unsigned n_levels,
		      struct fab_sl_packer **out, struct fab_err *err) FAB_MUST_CHECK;
void fab_sl_packer_free(struct fab_sl_packer *packer);

/*
 * The lowest service level >= first whose entries agree with lane[i] at hop[i], which are
 * then fixed; FAB_SL_NONE when none of the levels does. O(levels * hops).
 */
unsigned fab_sl_packer_add(struct fab_sl_packer *packer, const struct fab_hop *hops,
			   const uint8_t *lanes, uint32_t n, unsigned first);

/* Do the entries of a service level agree with that? O(hops). */
bool fab_sl_packer_fits(const struct fab_sl_packer *packer, const struct fab_hop *hops,
			const uint8_t *lanes, uint32_t n, unsigned sl);

/* Fix the entry of a hop for a service level, whatever it was. O(1). */
void fab_sl_packer_set(struct fab_sl_packer *packer, const struct fab_hop *hop,
		       unsigned sl, uint8_t lane);

/* Entries fixed by add since a mark can be undone; recording starts with the first mark.
 */
size_t fab_sl_packer_mark(struct fab_sl_packer *packer);
void fab_sl_packer_back(struct fab_sl_packer *packer, size_t mark);

/* Hand the tables over to the routes: lanes, vl_first, sl2vl; free entries are lane 0. */
void fab_sl_packer_finish(struct fab_sl_packer *packer);

/* Roots of up/down paths: the ranks they give, and the pairs that have no path then. */

/*
 * For each part of what is alive where no switch has a rank (FAB_NONE) the one with the
 * fewest hops to all hosts together, of several the first: from one root all pairs have a
 * path, and none of them loops. Appends to roots[n], with room for all switches; returns
 * how many there are then. O(switches * cables).
 */
uint32_t fab_updn_fill_roots(const struct fab_fabric *f, const struct fab_faults *faults,
			     const uint32_t *rank, uint32_t *roots, uint32_t n);

/* Ordered pairs of ports of host adapters, those that --hca left out, too, that live
 * cables join. */
struct fab_updn_loss {
	uint64_t all, pairs; /* pairs: without a path up, then down */
	uint32_t from, to;   /* adapters of the first of them, or the switch of one that
				--hca left out; FAB_NONE: there is no such pair */
};

/*
 * Search the paths of updn from these roots (each once), as its engine does, to every
 * switch that has hosts. Faults NULL: nothing is dead. The same for any number of
 * threads. O(switches with hosts * cables).
 */
struct fab_updn_loss fab_updn_try_roots(const struct fab_fabric *f,
					const struct fab_faults *faults,
					const uint32_t *roots, uint32_t n_roots,
					int n_threads);
