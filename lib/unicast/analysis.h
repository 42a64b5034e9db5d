/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Analysis of tables from any source: reachability, hops, lanes, and the exact channel
 * dependency graph (Dally, Seitz 1987: deadlock-free if it has no cycle). A channel is a
 * lane of one direction of a cable between switches. Packets that never arrive make no
 * dependencies.
 */
#pragma once

#include "base/choice.h"
#include "base/mem.h"
#include "fabric/kfat.h"
#include "traffic/traffic.h"
#include "unicast/engine.h"
#include "unicast/routes.h"

/*
 * Ends of pairs, all alive. A port with several LIDs is that many targets and one
 * source; a LID without a column is a target that nothing reaches. Where columns are
 * switches without alternatives, the column serves all ends on its switch.
 */
enum fab_ends {
	/*
	 * Leaf switches, of the tables or of their columns. Where hosts have columns of
	 * their own, the path to a leaf is that to the first host behind it (or the
	 * first alternative); lanes, dependencies and pairs on cycles are those of all.
	 * Of tables by LID that name no leaves: the switches with hosts, at their own
	 * LIDs.
	 */
	FAB_ENDS_LEAVES,
	FAB_ENDS_HOSTS,	   /* end ports of host adapters */
	FAB_ENDS_ADAPTERS, /* aggregation nodes and routers, too */
	FAB_ENDS_ALL,	   /* switches' management ports, too */
};
/* Their names, "leaves", "hosts", "adapters", "all", by number. */
extern const struct fab_choices fab_ends_choices;

struct fab_analysis_options {
	enum fab_ends ends;
	bool with_load; /* fill load and destinations */
	bool only_load; /* fill load, ends and pairs, and nothing else */
	int n_threads;
	const struct fab_planes *planes; /* of the fabric; NULL: they are computed */
};

struct fab_channel {
	uint32_t sw, arc; /* leaves sw by this arc (counted from arc_first[sw]) */
	uint8_t vl;
};

enum { FAB_PAIRS_MAX = 64 };

/* Pairs of ends on two switches. */
struct fab_pairs {
	uint32_t at; /* where, for the first of them */
	uint32_t from, to;
	uint64_t pairs;
};

/* The first FAB_PAIRS_MAX, in the order of the switches to, then from. */
struct fab_pair_list {
	struct fab_pairs *v;
	size_t n, cap;
};

/* Gaps of tables that were read. */
enum fab_gap_kind {
	FAB_GAP_LID,   /* a port that is an end and a LID of it: no column */
	FAB_GAP_TABLE, /* a live switch with live cables: no table, or part of one */
	FAB_GAP_SL,    /* a connected pair: no service level */
	FAB_GAP_LANE,  /* a path through a switch that is used: no lane */
	FAB_GAP_STRANGE_LID,	/* a LID of the tables: no port of the fabric has it */
	FAB_GAP_STRANGE_SWITCH, /* a switch of the tables that the fabric lacks */
	FAB_GAP_KINDS,
};

enum { FAB_GAPS_NAMED = 8 };

struct fab_gap {
	enum fab_gap_kind kind;
	uint32_t from; /* node: the one that lacks, the source, the switch; FAB_NONE */
	uint16_t port; /* its number; of a lane: in-port, 0: the switch itself */
	uint32_t to;   /* node: the target of a pair; FAB_NONE */
	uint16_t out;  /* port number of a lane */
	uint16_t lid;  /* of LID and pair; 0: the port has none */
	uint8_t sl;    /* of a lane */
	uint64_t guid; /* of a strange switch */
};

struct fab_gaps {
	uint64_t n[FAB_GAP_KINDS];
	FAB_VEC(struct fab_gap) first; /* the first FAB_GAPS_NAMED of each kind */
};

struct fab_analysis {
	enum fab_ends between; /* as asked for */
	uint64_t ends;	       /* sources; each sends pairs / ends packets, on average */
	uint64_t pairs, connected, unreachable;
	uint64_t pairs_across_planes; /* not among these: ends on two planes */
	uint64_t connected_in_graph;  /* pairs that the live graph connects at all */
	uint64_t hops[256];	      /* connected pairs by switch-to-switch hops of their
					 path; the last: 255 and more */
	uint32_t max_hops;
	uint64_t minimal;  /* pairs whose path is as short as the live graph allows */
	unsigned vls, sls; /* that are used between switches; by connected pairs */
	/* Certainly: no cycle and nothing missing that could close one (is_unknown). */
	bool deadlock_free;
	/*
	 * No cycle in what is known, but tables, levels or lanes are missing; or levels
	 * or lanes are assumed, and they, or all on one lane, have a cycle, which is the
	 * one below.
	 */
	bool is_unknown;
	/* Tables were read without levels, without lanes: one lane is assumed without
	 * both, else level 0 or lanes equal to the levels. */
	bool assumes_sls, assumes_lanes;
	struct fab_gaps gaps;	  /* of tables that were read; else nothing */
	uint64_t cycle_channels;  /* in strongly connected parts of two and more */
	uint64_t pairs_on_cycles; /* whose path has a dependency that is on a cycle */
	FAB_VEC(struct fab_channel) cycle; /* one shortest cycle, in order */
	/* Pairs whose path goes up again after it went down, by fabric/ranks.h of the
	 * whole fabric. */
	uint64_t valley_pairs;
	/* at: where the path turns up */
	struct fab_pair_list valleys;
	/* at: the switch that stops packets, to which packets come back, or where
	 * they have no service level; FAB_NONE: there is no column */
	struct fab_pair_list unreached;
	uint64_t *load;	   /* [n arcs] pairs over each cable direction; NULL */
	uint64_t max_load; /* 0 without load */
	/* [n arcs] columns that a switch sends by an arc, used or not; NULL without load
	 */
	uint32_t *destinations;
};

/*
 * Analyse. The caller frees *out. Equal for any number of threads. EINVAL: packets on
 * lane 15, which is no lane for data, or a service level above 15; ERANGE: more than
 * 65533 switches. O(columns * (switches + cables) + dependencies); memory: the tables, a
 * bit for each two arcs that follow each other and two lanes, 200 bytes a switch and
 * thread. After 2^26 steps of the search for the shortest cycle, the shortest one so far
 * is given.
 */
int fab_analyse(const struct fab_routes *routes,
		const struct fab_analysis_options *options, struct fab_analysis *out,
		struct fab_err *err) FAB_MUST_CHECK;
/*
 * Add one more set of faults to the sum, zeroed before the first: counts are added,
 * maxima taken; lists are those of the first set, the cycle that of the first set with
 * one; no loads. Takes lists from *j, which remains to be ended. O(1).
 */
void fab_analysis_add(struct fab_analysis *sum, struct fab_analysis *j, bool is_first);
/* A load in what one of `ends` sends when they send `pairs` packets together; NaN: none.
 * O(1).
 */
double fab_load_per_host(uint64_t load, uint64_t pairs, uint64_t ends);
/*
 * The load of the fullest direction of a cable when every host sends a packet to every
 * other one: fab_load_per_host(). Tables by leaf switch are completed. Errors and time as
 * fab_analyse().
 */
int fab_uniform_load(const struct fab_routes *routes, int n_threads, double *out,
		     struct fab_err *err) FAB_MUST_CHECK;
/* Free its lists; a zeroed one is allowed. O(size). */
void fab_analysis_fini(struct fab_analysis *j);

/* "lid", "table", "service-level", "lane", "strange-lid", "strange-switch". */
const char *fab_gap_kind_name(enum fab_gap_kind kind);

/*
 * One sentence for a kind of gaps, with the first of them by name: "1 LID of the fabric
 * is not in the tables: h2 HCA-1 port 1 (LID 9)". NULL: no gap. The caller frees.
 */
char *fab_gaps_text(const struct fab_fabric *f, const struct fab_gaps *gaps,
		    enum fab_gap_kind kind);

/*
 * Why freedom of deadlock is not known, in one sentence; NULL: it is. The caller frees.
 */
char *fab_analysis_why_unknown(const struct fab_analysis *j);

/*
 * Walk every pair of the analysis's ends, collect the dependencies of channels one by
 * one, take away what nothing leads to until nothing is left; compare with the analysis.
 * EINVAL: the first difference, in one sentence. O(ends * columns * hops).
 */
int fab_unicast_verify(const struct fab_routes *routes, enum fab_ends ends,
		       const struct fab_analysis *analysis,
		       struct fab_err *err) FAB_MUST_CHECK;

/* Losses that no routing can repair: ends cut off by dead parts. */

struct fab_lost {
	uint64_t hosts;	     /* with no port left of those that they had */
	uint64_t rail_hosts; /* that lose a port and keep another one */
	uint64_t adapters;   /* ports of host adapters: rails of hosts */
	uint64_t pairs;	     /* ordered, of ends of which at least one is cut off */
};

/* Against the fabric without faults; leaf switches are those of `kfat`, or with NULL the
 * switches with hosts; planes of the fabric, NULL: they are computed. O(ports). */
struct fab_lost fab_lost_count(const struct fab_faults *faults,
			       const struct fab_kfat *kfat, enum fab_ends ends,
			       const struct fab_planes *planes);

/* A port of a host's adapter that is cut off. */
struct fab_lost_port {
	uint32_t port;
	bool is_host; /* and so is its host: no port of it is left */
};
struct fab_lost_ports {
	FAB_VEC(struct fab_lost_port) of;
};

/* All of them: first those of hosts that are cut off, then rails; by port. The caller
 * frees out->of.v. O(ports). */
void fab_lost_ports(const struct fab_faults *faults, struct fab_lost_ports *out);

/* Static load: how many flows share a direction of a cable between switches. */

struct fab_flow_load {
	uint64_t flows, lost; /* between different switches or not; without a path */
	uint64_t max;	      /* flows on the fullest direction of a cable */
	double mean;	      /* over the directions of live cables between switches */
};
/* Walk every flow. O(flows * hops). */
void fab_permutation_load(const struct fab_routes *routes,
			  const struct fab_flow_ends *ends, const uint32_t *to,
			  struct fab_flow_load *out);
