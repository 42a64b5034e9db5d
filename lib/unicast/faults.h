/* SPDX-License-Identifier: BSD-2-Clause */
/* What is dead: named, from a file, drawn by chance, or every set there is. */
#pragma once

#include "base/choice.h"
#include "event/stream.h"
#include "fabric/resolver.h"
#include "unicast/routes.h"

/* Nothing dead yet. The caller frees; the fabric is borrowed. O(switches + cables). */
struct fab_faults *fab_faults_new(const struct fab_fabric *f);
/* NULL is allowed. O(size). */
void fab_faults_free(struct fab_faults *faults);
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

/* Names of the fabric's switches and cables; `faults` keeps it. O(nodes + ports) at the
 * first call. */
const struct fab_resolver *fab_faults_resolver(struct fab_faults *faults);

/*
 * Switches by any name that fabric/resolver.h knows, lists of them, host lists and
 * patterns (base/lookup.h). ENOENT, EINVAL: one is none, several, or no switch; then
 * those before it are dead. What lists stood for is added to faults->matches. O(len +
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

/* What may die by chance. */
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
 * the path and then as it was: what is drawn depends on the list and the stream only.
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
