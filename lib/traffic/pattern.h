/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Groups that a parallel program would make (fabric-topologies(7), "Group patterns"). One
 * table, one file each. After the parameters of its kind a pattern takes
 * per=adapter|host (the first connected adapter of a host by name), ppn=N,
 * order=fabric|name|lid|random and seed=S.
 */
#pragma once

#include "base/choice.h"
#include "fabric/fabric.h"

enum fab_pattern_order {
	FAB_ORDER_FABRIC,
	FAB_ORDER_NAME,
	FAB_ORDER_LID,
	FAB_ORDER_RANDOM,
};

enum { FAB_PATTERN_NUMBERS = 8 };

struct fab_pattern {
	const char *spec; /* borrowed */
	const struct fab_pattern_kind *kind;
	uint64_t number[FAB_PATTERN_NUMBERS]; /* the kind's own; 0: not given */
	unsigned n_numbers;		      /* of them, where their number varies */
	uint64_t ppn, seed;
	bool per_host;
	enum fab_pattern_order order;
};

/* Who takes the groups. */
struct fab_pattern_sink {
	void (*begin)(void *context, const char *name, size_t len);
	/* An endpoint of the group begun last: a port with a cable to a switch; perhaps
	 * one that is in it already. */
	void (*add)(void *context, uint32_t port);
	void *context;
};

/* Process i sits at endpoint i / ppn in the order of the pattern. */
struct fab_seating {
	const struct fab_pattern_sink *sink;
	const uint32_t *port; /* [n_processes / ppn] */
	uint64_t ppn, n_processes;
};

struct fab_pattern_kind {
	const char *form; /* "random:groups=N,size=K" */
	const char *summary;
	const char *manual; /* as struct fab_choice has it */
	const char *takes;  /* for sentences: "random takes groups, size, seed, ..." */
	/*
	 * A parameter KEY=VALUE of the kind; key NULL: the first one, which has none. 1:
	 * it is none of this kind's; else 0 or EINVAL. first_is_bare: it is so called.
	 */
	int (*parse)(struct fab_pattern *p, const char *key, size_t key_len,
		     const char *value, size_t len, struct fab_err *err);
	bool first_is_bare;
	/* What is missing or does not fit: EINVAL; NULL: nothing can be. */
	int (*check)(const struct fab_pattern *p, struct fab_err *err);
	/* Processes that it needs at least. */
	uint64_t (*needs)(const struct fab_pattern *p);
	void (*make)(const struct fab_pattern *p, const struct fab_seating *seating);
};

extern const struct fab_pattern_kind *const fab_pattern_kinds[];
extern const struct fab_choices fab_pattern_choices;
/* A file adds its row here; in the order in which they are documented. */
#define FAB_PATTERN_KINDS(ROW)                                                           \
	ROW(grid)                                                                        \
	ROW(random)                                                                      \
	ROW(tree)

#define FAB_DECLARE(row) extern const struct fab_pattern_kind fab_pattern_##row;
FAB_PATTERN_KINDS(FAB_DECLARE)
#undef FAB_DECLARE

/* Read a spec; `seed` serves where it names none. EINVAL with a sentence. O(spec). */
int fab_pattern_parse(const char *spec, uint64_t seed, struct fab_pattern *out,
		      struct fab_err *err) FAB_MUST_CHECK;

/*
 * Give the groups to a sink. EINVAL when the pattern needs more processes than the fabric
 * has; then there is none. O(endpoints log endpoints + members).
 */
int fab_pattern_make(const struct fab_pattern *p, const struct fab_fabric *f,
		     const struct fab_pattern_sink *sink,
		     struct fab_err *err) FAB_MUST_CHECK;

/* For kinds: EINVAL and "--pattern SPEC: 'WHAT' RULE". O(len). */
int fab_pattern_bad(const struct fab_pattern *p, const char *what, size_t len,
		    const char *rule, struct fab_err *err);
/* KEY=VALUE as a number from min to max: 0, EINVAL, or 1: it is another key. O(len). */
int fab_pattern_number(const struct fab_pattern *p, const char *want, const char *key,
		       size_t key_len, const char *value, size_t len, uint64_t min,
		       uint64_t max, uint64_t *out, struct fab_err *err);
bool fab_pattern_is_word(const char *text, size_t len, const char *word);
/* Begin the group "WORD-A-B"; add a process to it. O(1). */
void fab_seating_begin(const struct fab_seating *s, const char *word, uint64_t a,
		       uint64_t b);
void fab_seating_add(const struct fab_seating *s, uint64_t process);
