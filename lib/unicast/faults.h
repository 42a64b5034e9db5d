/* SPDX-License-Identifier: BSD-2-Clause */
/* Dead parts: named, from a file, drawn at random, or every set. */
#pragma once

#include "base/choice.h"
#include "base/mem.h"
#include "event/stream.h"
#include "fabric/resolver.h"
#include "unicast/routes.h"

/* Nothing dead yet. The caller frees; the fabric is borrowed. O(switches + cables). */
struct fab_faults *fab_faults_new(const struct fab_fabric *f);
/* NULL is allowed. O(size). */
void fab_faults_free(struct fab_faults *faults);
FAB_AUTO_POINTER(fab_faults)
/* Nothing dead again. O(ports of what was dead). */
void fab_faults_clear(struct fab_faults *faults);

/* Let a switch and all its cables, or a cable, die. Twice is once. O(ports). */
void fab_faults_kill_switch(struct fab_faults *faults, uint32_t sw);
void fab_faults_kill_cable(struct fab_faults *faults, uint32_t cable);
void fab_faults_kill(struct fab_faults *faults, struct fab_fault fault);

/*
 * Hops from every switch to `to` over what is alive: dist[n_switches], FAB_NONE where
 * there is no path; order[n_switches] gets those with one by distance. Returns how many:
 * 0, `to` is dead. faults NULL: nothing is dead. O(arcs).
 */
uint32_t fab_faults_search(const struct fab_fabric *f, const struct fab_faults *faults,
			   uint32_t to, uint32_t *dist, uint32_t *order);

/* The switch that a port is of, or of an adapter's port the one that it is cabled to;
 * FAB_NONE: none, or the switch or that cable is dead. O(1). */
uint32_t fab_faults_port_switch(const struct fab_fabric *f,
				const struct fab_faults *faults, uint32_t port);

/* Names of the fabric's switches and cables; `faults` keeps it. O(nodes + ports) at the
 * first call. */
const struct fab_resolver *fab_faults_resolver(struct fab_faults *faults);

/*
 * Switches by any name that fabric/resolver.h knows, lists of them, host lists and
 * patterns (base/lookup.h). ENOENT, EINVAL: a name is unknown, ambiguous, or no switch;
 * then those before it are dead. Matches of lists are added to faults->matches. O(len +
 * matches).
 */
int fab_faults_add_switches(struct fab_faults *faults, const char *text,
			    struct fab_err *err) FAB_MUST_CHECK;
/* Cables alike, as SWITCH:PORT or HOST/PORT; PORT may be [1-4], or * in a pattern. O(len
 * + matches). */
int fab_faults_add_cables(struct fab_faults *faults, const char *text,
			  struct fab_err *err) FAB_MUST_CHECK;
/*
 * A file of them, `-`: standard input. A line: switches as above, or the word `link`
 * and cables; empty lines and those that begin with # do not count. Errors name file
 * and line. O(bytes + matches).
 */
int fab_faults_add_file(struct fab_faults *faults, const char *path,
			struct fab_err *err) FAB_MUST_CHECK;

/* Parts that may die at random. */
enum fab_fault_kind {
	FAB_FAULT_LEAVES, /* switches with hosts */
	FAB_FAULT_ROOTS,  /* switches without */
	FAB_FAULT_LINKS,  /* cables between switches */
	FAB_FAULT_ANY,	  /* all of these */
};
/* Their names, "leaves", "roots", "links", "any", by number. */
extern const struct fab_choices fab_fault_kind_choices;

struct fab_fault_list {
	FAB_VEC(struct fab_fault) of;
};

/* All that are of a kind and are not dead in `faults` (NULL: nothing is). The caller
 * frees out->of.v. O(ports). */
void fab_faults_candidates(const struct fab_fabric *f, enum fab_fault_kind kind,
			   const struct fab_faults *faults, struct fab_fault_list *out);
/*
 * Kill k different ones of the list, each set as likely. k <= n. The list is changed on
 * the path and then in its first order: the draw depends on the list and the stream only.
 * O(k + ports of what dies).
 */
void fab_faults_draw(struct fab_faults *faults, struct fab_fault_list *candidates,
		     size_t k, struct fab_stream *stream);

/*
 * A dead part in words for people and scripts: the switch's name, or `NAME:PORT` of the
 * cable's first end. On the heap; as the fabric has it, not escaped. O(len).
 */
char *fab_fault_text(const struct fab_fabric *f, struct fab_fault fault);
/* Those of all that is dead by name, "" for nothing; on the heap. O(len). */
char *fab_faults_text(const struct fab_faults *faults, const char *separator);

/*
 * Numbered sets of faults: drawn at random, or all. The parts of a set follow from its
 * number alone, so that sets can be made in any order and by several threads.
 */

struct fab_fault_sets {
	const struct fab_faults *always;  /* dead in every set */
	struct fab_fault_list candidates; /* what else may die */
	uint32_t k;			  /* number of parts in a set */
	bool is_exhaustive;		  /* every combination; else at random */
	uint64_t n;			  /* sets */
	uint64_t seed;			  /* of random sets */
};

/*
 * Sets of k more parts of a kind: `always` (borrowed), k and is_exhaustive are set
 * before; of random sets n and seed, too; n of all is UINT64_MAX when they are more. The
 * caller frees by fab_fault_sets_fini(). EINVAL: there are fewer than k. O(ports).
 */
int fab_fault_sets_init(struct fab_fault_sets *sets, enum fab_fault_kind kind,
			struct fab_err *err) FAB_MUST_CHECK;
void fab_fault_sets_fini(struct fab_fault_sets *sets);

/* Working memory of a thread that makes sets. */
struct fab_fault_maker {
	const struct fab_fault_sets *sets;
	struct fab_faults *faults; /* the set that was made last */
	struct fab_fault_list list;
	size_t *pick;
};
struct fab_fault_maker *fab_fault_maker_new(const struct fab_fault_sets *sets);
void fab_fault_maker_free(struct fab_fault_maker *m);
/* Set `number`, 0 .. n-1, into m->faults, which is valid until the next call. O(k +
 * ports of what dies), of all sets O(candidates). */
void fab_fault_maker_make(struct fab_fault_maker *m, uint64_t number);

/* n choose k, or UINT64_MAX when it is more. O(k). */
uint64_t fab_faults_combinations(uint64_t n, uint64_t k);
/* Combination `number` of k indices below n, in lexicographic order: pick[0 .. k-1]
 * ascending. O(n). */
void fab_faults_combination(uint64_t number, size_t k, size_t n, size_t *pick);

/* The live part of a fabric. */

/*
 * A new fabric without the dead parts: GUIDs, LIDs, names and port numbers stay, ids are
 * new. Adapters, aggregation nodes and routers that lost their last cable go, too;
 * switches stay, cabled or not. Dead parts are those of `faults`, NULL: none. The caller
 * frees *out. EINVAL: no switch has a cable left. O(ports).
 */
int fab_fabric_without(const struct fab_fabric *f, const struct fab_faults *faults,
		       struct fab_fabric **out, struct fab_err *err) FAB_MUST_CHECK;
