/* SPDX-License-Identifier: BSD-2-Clause */
/* Names that Slurm takes, each once. */
#pragma once

#include "fabric/fabric.h"

struct fab_plain_names {
	char **of_switch; /* [n_switches] */
	char **of_host;	  /* [n_hosts] */
	uint32_t n_unnamed;
};

void fab_plain_names_init(struct fab_plain_names *names, const struct fab_fabric *f);
void fab_plain_names_fini(struct fab_plain_names *names, const struct fab_fabric *f);

/* `stem` and the lowest number from *next on that no switch is called; the caller frees.
 */
char *fab_plain_names_invent(const struct fab_plain_names *names,
			     const struct fab_fabric *f, const char *stem,
			     uint32_t *next);
