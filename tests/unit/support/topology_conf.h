/* SPDX-License-Identifier: BSD-2-Clause */
/* A strict reader of topology.conf, written against Slurm's manual, not our writer. */
#pragma once

#include "base/mem.h"

typedef FAB_VEC(char *) conf_names;

struct conf_switch {
	char *name;
	conf_names nodes, switches; /* expanded */
	int n_parents;
};

struct conf {
	FAB_VEC(struct conf_switch) switches;
	conf_names hosts; /* all nodes of all switches, sorted */
	unsigned n_roots, max_depth;
};

/*
 * Read and check: only comments and lines `SwitchName=X Nodes=L` or `SwitchName=X
 * Switches=L`; names of at most 64 letters, digits, `.`, `_`, `-`; each switch defined
 * once; each child defined and under one parent; each node under one switch; no cycle.
 * Fails the test, naming the line, when something is not so.
 */
struct conf conf_read(const char *text);
void conf_free(struct conf *conf);
/* For qsort() of texts. */
int conf_by_text(const void *x, const void *y);
