/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Comparison of OpenSM's multicast tables with the trees that it was given, and what to
 * do about differences. OpenSM takes into its tables what a switch replies to a Set:
 * after a late reply, or where a switch refuses, they hold another tree than the one
 * written. Nothing in here knows OpenSM; times are those of fab_now().
 */
#pragma once

#include "base/mem.h"
#include "opensm/keeper.h"

/* Trees that the tables are to hold, copied so that no lock of the keeper is needed while
 * they are compared. */
struct fab_audit_entry {
	uint64_t guid; /* of a switch */
	uint8_t port;
};
struct fab_audit_ends {
	uint32_t group;
	size_t end; /* its entries begin where those of the group before end */
};
struct fab_audit_trees {
	FAB_VEC(struct fab_audit_entry) entries;
	FAB_VEC(struct fab_audit_ends) groups;
};

/* Add the tree of a group, if it has one. O(tree). */
void fab_audit_add(const struct fab_keeper *k, uint32_t group, struct fab_audit_trees *t);
/* Add those of the groups from .. end-1, until there are n_entries or more. Returns the
 * first group that was not looked at. O(entries + groups). */
uint32_t fab_audit_add_part(const struct fab_keeper *k, uint32_t from, uint32_t end,
			    uint32_t n_entries, struct fab_audit_trees *t);
void fab_audit_trees_fini(struct fab_audit_trees *t);

/* OpenSM's multicast tables, by functions of the caller. */
struct fab_audit_tables {
	bool (*exists)(void *context, uint32_t group);	  /* it has members */
	size_t (*n_ports)(void *context, uint32_t group); /* in all switches */
	bool (*has_port)(void *context, uint32_t group, uint64_t guid, uint8_t port);
	void *context;
};

/* Do the tables hold the i-th tree and nothing else for its group, or has the group gone?
 * O(as n_ports + entries * has_port). */
bool fab_audit_is_held(const struct fab_audit_tables *tables,
		       const struct fab_audit_trees *t, size_t i);

/* When to compare, and how often to ask for a repetition. All zero: nothing to do. */
struct fab_audit {
	bool is_due;  /* tables were written since they were compared, */
	double since; /* the first time */
	double at;    /* not before */
	unsigned n_failed;
	double failed_at;
};

/* Tables are written now. O(1). */
void fab_audit_written(struct fab_audit *a, double now);

struct fab_audit_found {
	bool is_quiet;	/* no reply was outstanding, and no tree written meanwhile */
	bool has_error; /* OpenSM knows of a message that failed */
	size_t n_wrong; /* trees that are not held */
};

enum fab_audit_verdict {
	FAB_AUDIT_AGAIN,     /* compare again soon: nothing is known */
	FAB_AUDIT_HELD,	     /* all trees */
	FAB_AUDIT_RECOVERED, /* the same, after attempts that failed */
	FAB_AUDIT_ASK_PASS,  /* have these groups written once more */
	FAB_AUDIT_ASK_SWEEP, /* have OpenSM configure all again */
	FAB_AUDIT_LEFT,	     /* attempts are used up: until the next sweep */
	FAB_AUDIT_SILENT,    /* the same, said before */
};
enum { FAB_AUDIT_ATTEMPTS = 6 };

/* Verdict on a comparison that began at `now`. Where a repetition is asked for, the next
 * comparison is due after 1, 2, 4 .. seconds. O(1). */
enum fab_audit_verdict fab_audit_judge(struct fab_audit *a,
				       const struct fab_audit_found *found, double now);
