/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory and time that an algorithm's tables of a fabric take, before they are made. */
#pragma once

#include "unicast/engine.h"

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
